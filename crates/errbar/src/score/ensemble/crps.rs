//! CRPS of members.

use rayon::prelude::*;

use super::Ensemble;
use super::network::{LANES, Lanes, MOST, pairs, sort};
use crate::math::{Arithmetic, Kernel, dispatch};
use crate::score::block::{BLOCK, PARALLEL_FROM, rows_of};
use crate::score::several::Several;

/// Which CRPS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Fair,
    AsIs,
}

impl Of {
    /// What the sum over pairs is divided by.
    fn pairs(self, members: usize) -> f64 {
        let m = members as f64;
        match self {
            // One member has no pair.
            Self::Fair => (m * (m - 1.0)).max(1.0),
            Self::AsIs => m * m,
        }
    }
}

impl Ensemble<'_> {
    /// The CRPS of the distribution that has a step at each member,
    ///
    /// $$\frac1M \sum\_i |x\_i - y| - \frac1{2M^2} \sum\_{i,j} |x\_i - x\_j|,$$
    ///
    /// row by row. It is the larger the fewer the members: it judges them as if there never were more.
    #[must_use]
    pub fn crps(&self) -> Vec<f64> {
        self.each(Of::AsIs)
    }

    /// The fair CRPS (Ferro, [2014](https://doi.org/10.1002/qj.2270)), which is on average that of endlessly many members
    /// drawn from where these come from,
    ///
    /// $$\frac1M \sum\_i |x\_i - y| - \frac1{2M(M-1)} \sum\_{i,j} |x\_i - x\_j|,$$
    ///
    /// row by row. It may be negative in a row. A row of a single member gets its distance from the observation, since one
    /// member knows no spread.
    #[must_use]
    pub fn fair_crps(&self) -> Vec<f64> {
        self.each(Of::Fair)
    }

    fn each(&self, of: Of) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        let members = self.members.columns();
        let pairs = if (FEW + 1..=MOST).contains(&members) { pairs(members) } else { Vec::new() };
        let block = |(block, out): (usize, &mut [f64])| {
            let first = rows_of(block, self.len()).start;
            self.block(first, &pairs, of, out);
        };
        // Enough rows at a time that scratch is made seldom.
        if self.len() * members >= PARALLEL_FROM && rayon::current_num_threads() > 1 {
            out.par_chunks_mut(BLOCK).enumerate().for_each(block);
        } else {
            out.chunks_mut(BLOCK).enumerate().for_each(block);
        }
        out
    }

    /// The rows from `first` on.
    pub(super) fn fill(&self, first: usize, fair: bool, pairs: &[(usize, usize)], out: &mut [f64]) {
        self.block(first, pairs, if fair { Of::Fair } else { Of::AsIs }, out);
    }

    fn block(&self, first: usize, pairs: &[(usize, usize)], of: Of, out: &mut [f64]) {
        let members = self.members.columns();
        if members <= MOST {
            let per_pair = 1.0 / of.pairs(members);
            let observation = &self.observation[first..first + out.len()];
            dispatch(SideBySide {
                members: self.members,
                observation,
                first,
                pairs,
                per_pair,
                out,
            });
        } else {
            out.fill(f64::NAN);
        }
        // Rows with a gap, or beyond the range of doubles on the way; and those too long for a network.
        for (nth, out) in out.iter_mut().enumerate().filter(|(_, out)| !out.is_finite()) {
            *out = self.alone(first + nth, of);
        }
    }

    /// One row by itself.
    fn alone(&self, row: usize, of: Of) -> f64 {
        let y = self.observation[row];
        // A power of two keeps sums in range, and rounds nothing but what is tiny beside the rest.
        let largest =
            self.members.row(row).filter(|x| !x.is_nan()).fold(y.abs(), |a, x| a.max(x.abs()));
        let unit = if largest > 1e280 { 2f64.powi(-80) } else { 1.0 };
        let present = self.members.row(row).filter(|x| !x.is_nan());
        let mut away: Vec<f64> = present.map(|x| x * unit - y * unit).collect();
        away.sort_unstable_by(f64::total_cmp);
        let m = away.len();
        let absolute: f64 = away.iter().map(|d| d.abs()).sum();
        let rank = |i: usize| 2.0 * i as f64 + 1.0 - m as f64;
        let pairs: f64 = away.iter().enumerate().map(|(i, d)| rank(i) * d).sum();
        (absolute / m as f64 - pairs / of.pairs(m)) / unit
    }
}

/// The CRPS of rows, a handful side by side. Of few members all pairs are added up; many are sorted by a network, after
/// which $\sum\_{i<j} |x\_i - x\_j| = \sum\_i (2i - M - 1) x\_{(i)}$.
struct SideBySide<'a> {
    members: Several<'a>,
    observation: &'a [f64],
    first: usize,
    pairs: &'a [(usize, usize)],
    /// One over what the sum over pairs is divided by.
    per_pair: f64,
    out: &'a mut [f64],
}

impl Kernel for SideBySide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let m = self.members.columns();
        let per_member = 1.0 / m as f64;
        let few = &mut [[0.0; LANES]; FEW];
        let mut many = vec![[0.0; LANES]; if m > FEW { m } else { 0 }];
        let lanes: &mut [Lanes] = if m > FEW { &mut many } else { &mut few[..m] };
        let rows = self.observation.chunks(LANES).zip(self.out.chunks_mut(LANES));
        for (nth, (observation, out)) in rows.enumerate() {
            let first = self.first + nth * LANES;
            let mut y = [0.0; LANES];
            y[..observation.len()].copy_from_slice(observation);
            load(&self.members, first, observation.len(), lanes);
            let mut absolute = [0.0; LANES];
            for member in lanes.iter_mut() {
                for lane in 0..LANES {
                    member[lane] -= y[lane];
                    // Before they are sorted: a gap must show.
                    absolute[lane] += member[lane].abs();
                }
            }
            let mut apart = [0.0; LANES];
            if m <= FEW {
                all_pairs(lanes, &mut apart);
            } else {
                sort(lanes, self.pairs);
                for (i, member) in lanes.iter().enumerate() {
                    let rank = 2.0 * i as f64 + 1.0 - m as f64;
                    for lane in 0..LANES {
                        apart[lane] = A::mul_add(rank, member[lane], apart[lane]);
                    }
                }
            }
            let mut crps = [0.0; LANES];
            for lane in 0..LANES {
                crps[lane] = absolute[lane] * per_member - apart[lane] * self.per_pair;
            }
            out.copy_from_slice(&crps[..out.len()]);
        }
    }
}

/// Up to this many members all pairs are added up, side by side in registers: many short sums, but none waits for another, as
/// the steps of a network do.
const FEW: usize = 64;

/// The sum over pairs of how far apart they are.
#[inline(always)]
fn all_pairs(members: &[Lanes], apart: &mut Lanes) {
    let mut sum = [0.0; LANES];
    for (i, a) in members.iter().enumerate() {
        let a = *a;
        for b in &members[i + 1..] {
            for lane in 0..LANES {
                sum[lane] += (a[lane] - b[lane]).abs();
            }
        }
    }
    *apart = sum;
}

/// The members of some rows, side by side.
#[inline(always)]
fn load(members: &Several, first: usize, rows: usize, lanes: &mut [Lanes]) {
    let (values, columns) = (members.values(), members.columns());
    if members.is_by_row() {
        let block = &values[first * columns..(first + rows) * columns];
        if let (LANES, Some(_)) = (rows, block.first()) {
            for (member, lane) in lanes.iter_mut().enumerate() {
                for (nth, value) in lane.iter_mut().enumerate() {
                    *value = block[nth * columns + member];
                }
            }
            return;
        }
        for (nth, row) in block.chunks_exact(columns).enumerate() {
            for (lane, &value) in lanes.iter_mut().zip(row) {
                lane[nth] = value;
            }
        }
    } else {
        for (member, lane) in lanes.iter_mut().enumerate() {
            let from = member * members.rows() + first;
            lane[..rows].copy_from_slice(&values[from..from + rows]);
        }
    }
}
