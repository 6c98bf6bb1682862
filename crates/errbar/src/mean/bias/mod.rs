//! What a forecaster gets wrong on average, as a function of the inputs: b(x).
//!
//! Real forecasters are biased here and there. The errors that are left when b(x) is taken off are
//! smaller, and so are the sigmas they need. b(x) is a weighted sum of small trees, which find jumps, of a
//! ridge polynomial, which finds slopes, and of a smooth function, which finds bends, for the squared error. Each part of the rows is
//! left out in turn: it says when the trees stop and how stiff the polynomial is, it weighs them
//! (with less than one together where the rows say so), and every row gets a b(x) that has not seen it
//! ("cross-fitting"), so that what is left of its error is honest.

mod boosted;
mod ridge;

use serde::{Deserialize, Serialize};

use self::boosted::{Boosted, Problem};
pub use self::ridge::Polynomial;
use self::ridge::Ridge;
use crate::boosting::{self, Bins, NodeView, Symmetric, Tree};
use crate::data::{Data, Split, rows_with_missing};
use crate::error::{Error, Result};
use crate::folds::{Fold, Order};
use crate::monitor::Monitor;

/// A bias learned from errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bias {
    bins: Bins,
    /// The bias is the level, the steps of all trees and the [slopes](Bias::slopes), times the unit.
    unit: f64,
    level: f64,
    /// Of earlier versions, whose trees were free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trees: Vec<Tree>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    symmetric: Vec<Symmetric>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    polynomial: Option<Polynomial>,
    /// One with bumps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    smooth: Option<Polynomial>,
}

/// A bias, and what it is for rows that it had not seen.
#[derive(Debug, Clone)]
pub struct CrossFitted {
    /// Learned from all rows.
    pub bias: Bias,
    /// For each row the bias learned without it.
    pub held_out: Vec<f64>,
}

/// Parts of the rows that are left out in turn.
const FOLDS: usize = 10;
const BINS: usize = 64;

/// Learns b(x) from data.
///
/// # Errors
/// Fewer than two rows, or a monitor that asked to stop.
pub fn fit(data: &Data, split: Split, seed: u64, monitor: &dyn Monitor) -> Result<CrossFitted> {
    Ok(Parts::fit(data, split, seed, monitor)?.weighed_by(data))
}

/// The parts of a bias, before it is known how much each counts.
pub(crate) struct Parts {
    bins: Bins,
    unit: f64,
    boosted: Boosted,
    ridge: Ridge,
    smooth: Ridge,
}

/// As many parts there are: trees, a polynomial, a smooth function.
pub(crate) const MEMBERS: usize = 3;

impl Parts {
    pub(crate) fn fit(data: &Data, split: Split, seed: u64, monitor: &dyn Monitor) -> Result<Self> {
        let (rows, error) = (data.rows(), data.error());
        if rows < 2 {
            return Err(Error::TooFewRows { rows, needed: 2 });
        }
        // In units of the largest, so that squares stay in the range of doubles.
        let unit = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let error: Vec<f64> = error.iter().map(|e| e / unit).collect();
        let folds: Vec<Fold> =
            Order::of(data, split, seed ^ 0xb1a5).parts(FOLDS.min(rows)).collect();
        let bins = Bins::of(data.inputs(), data.columns(), data.weight(), BINS);
        let codes = bins.encode(data.inputs());
        let problem = Problem { bins: &bins, codes: &codes, error: &error, weight: data.weight() };
        let boosted = boosted::fit(&problem, &folds, monitor)?;
        let ridge = ridge::polynomial(data, &error, &folds)?;
        let smooth = ridge::smooth(data, &error, &folds)?;
        monitor.progress(1.0);
        Ok(Self { bins, unit, boosted, ridge, smooth })
    }

    /// What each part says of each row, learned without it.
    fn held_out(&self) -> [Vec<f64>; MEMBERS] {
        [&self.boosted.held_out, &self.ridge.held_out, &self.smooth.held_out]
            .map(|of| of.iter().map(|b| self.unit * b).collect())
    }

    /// What each part says of new rows.
    pub(crate) fn predict(&self, inputs: &[f64]) -> Result<[Vec<f64>; MEMBERS]> {
        let alone = |part: usize| {
            let shares = std::array::from_fn(|other| f64::from(other == part));
            self.bias(shares).predict(inputs)
        };
        Ok([alone(0)?, alone(1)?, alone(2)?])
    }

    fn bias(&self, [of_trees, of_ridge, of_smooth]: [f64; MEMBERS]) -> Bias {
        let trees = self.boosted.trees.iter().filter(|_| of_trees > 0.0);
        Bias {
            bins: self.bins.clone(),
            unit: self.unit,
            level: of_trees * self.boosted.level,
            trees: Vec::new(),
            symmetric: trees.map(|tree| tree.clone().times(of_trees)).collect(),
            polynomial: (of_ridge > 0.0).then(|| self.ridge.polynomial.clone().times(of_ridge)),
            smooth: (of_smooth > 0.0).then(|| self.smooth.polynomial.clone().times(of_smooth)),
        }
    }

    /// Weighed by the rows that they were fitted to, each while it was left out.
    pub(crate) fn weighed_by(&self, data: &Data) -> CrossFitted {
        self.weighed(shares(data.error(), data.weight(), &self.held_out()))
    }

    pub(crate) fn weighed(&self, shares: [f64; MEMBERS]) -> CrossFitted {
        CrossFitted { bias: self.bias(shares), held_out: together(&self.held_out(), shares) }
    }
}

/// The sum of parts, each with its share.
pub(crate) fn together(parts: &[Vec<f64>; MEMBERS], shares: [f64; MEMBERS]) -> Vec<f64> {
    let one = |row: usize| parts.iter().zip(shares).map(|(part, share)| share * part[row]).sum();
    (0..parts[0].len()).map(one).collect()
}

/// How much biases count together, each at least nothing and all at most one: the least squares that are
/// left of errors none of them has seen.
pub(crate) fn shares(
    error: &[f64],
    weight: Option<&[f64]>,
    parts: &[Vec<f64>; MEMBERS],
) -> [f64; MEMBERS] {
    // In units of the largest, so that squares stay in the range of doubles.
    let all = error.iter().chain(parts.iter().flatten());
    let unit = all.fold(f64::MIN_POSITIVE, |m: f64, x| m.max(x.abs()));
    let sum = |one: &[f64], other: &[f64]| -> f64 {
        let weight = |row: usize| weight.map_or(1.0, |weight| weight[row]);
        one.iter()
            .zip(other)
            .enumerate()
            .map(|(row, (x, y))| weight(row) * (x / unit) * (y / unit))
            .sum()
    };
    let squares: [[f64; MEMBERS]; MEMBERS] =
        std::array::from_fn(|i| std::array::from_fn(|j| sum(&parts[i], &parts[j])));
    let with_error: [f64; MEMBERS] = std::array::from_fn(|i| sum(&parts[i], error));
    let cost = |shares: &[f64; MEMBERS]| -> f64 {
        let bent = (0..MEMBERS).map(|i| -> f64 {
            let products = squares[i].iter().zip(shares).map(|(square, share)| square * share);
            shares[i] * (products.sum::<f64>() - 2.0 * with_error[i])
        });
        bent.sum()
    };
    // The least of a parabola lies inside, on a face, on an edge or at a corner: some of the parts count, and
    // all of them together less than one or just that.
    let candidates = (0..1 << MEMBERS).flat_map(|some: u32| {
        let counts: Vec<usize> = (0..MEMBERS).filter(|part| some >> part & 1 == 1).collect();
        [false, true].map(|just_one| {
            let size = counts.len() + usize::from(just_one);
            let entry = |i: usize, j: usize| match (counts.get(i), counts.get(j)) {
                (Some(&i), Some(&j)) => squares[i][j],
                (None, None) => 0.0,
                _ => 1.0,
            };
            let right = |i: usize| counts.get(i).map_or(1.0, |&i| with_error[i]);
            let rows =
                (0..size).map(|i| (0..size).map(|j| entry(i, j)).chain([right(i)]).collect());
            let solved = solve(rows.collect());
            let mut shares = [0.0; MEMBERS];
            counts.iter().zip(solved).for_each(|(&part, share)| shares[part] = share);
            shares
        })
    });
    let allowed = |shares: &[f64; MEMBERS]| {
        shares.iter().all(|share| *share >= 0.0) && shares.iter().sum::<f64>() <= 1.0 + 1e-12
    };
    let best = candidates.filter(allowed).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.unwrap_or_default()
}

/// The solution of a few equations, each with its right-hand side at the end; not finite where there is none.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for pivot in 0..size {
        let largest =
            (pivot..size).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()));
        rows.swap(pivot, largest.unwrap_or(pivot));
        let own = rows[pivot].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let factor = row[pivot] / own[pivot];
            row.iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
        }
    }
    rows.iter().enumerate().map(|(i, row)| row[size] / row[i]).collect()
}

/// What is left of errors when their bias is taken off.
pub(crate) fn without(error: &[f64], bias: &[f64]) -> Vec<f64> {
    let left = error.iter().zip(bias).map(|(error, bias)| error - bias);
    left.map(|left| left.clamp(f64::MIN, f64::MAX)).collect()
}

impl Bias {
    /// No bias anywhere.
    pub(crate) fn none(columns: usize) -> Self {
        let bins = Bins::of(&vec![0.0; columns], columns, None, BINS);
        Self {
            bins,
            unit: 1.0,
            level: 0.0,
            trees: Vec::new(),
            symmetric: Vec::new(),
            polynomial: None,
            smooth: None,
        }
    }

    /// Whether it moves nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.level == 0.0
            && self.trees.is_empty()
            && self.symmetric.is_empty()
            && self.slopes().next().is_none()
    }

    /// Whether it has trees that split all rows of a level alike, which earlier versions cannot read.
    pub(crate) fn has_symmetric_trees(&self) -> bool {
        !self.symmetric.is_empty()
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.bins.columns()
    }

    /// The bias of each row: what to add to its forecast.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.columns();
        rows_with_missing(inputs, columns)?;
        let sums = boosting::sums(&self.bins, &self.trees, &self.symmetric, inputs);
        let one = |(row, sum): (&[f64], f64)| {
            let slopes = self.slopes().map(|slopes| slopes.at(row));
            self.unit * (self.level + sum + slopes.sum::<f64>())
        };
        Ok(inputs.chunks_exact(columns).zip(sums).map(one).collect())
    }

    /// The nodes of each tree, its root first.
    #[must_use]
    pub fn trees(&self) -> Vec<Vec<NodeView>> {
        let symmetric = self.symmetric.iter().map(|tree| tree.parts(&self.bins));
        symmetric.chain(self.trees.iter().map(|tree| tree.parts(&self.bins))).collect()
    }

    /// The polynomial, where it has a share.
    #[must_use]
    pub fn polynomial(&self) -> Option<&Polynomial> {
        self.polynomial.as_ref()
    }

    /// The smooth function, where it has a share: a polynomial of order one with bumps.
    #[must_use]
    pub fn smooth(&self) -> Option<&Polynomial> {
        self.smooth.as_ref()
    }

    /// Both.
    pub fn slopes(&self) -> impl Iterator<Item = &Polynomial> {
        self.polynomial.iter().chain(&self.smooth)
    }

    /// The bias is this plus the steps of all trees and the polynomial, times the [unit](Bias::unit).
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The unit of the level and the steps.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Whether a bias that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        self.bins.check()?;
        let mut slopes = 0.0;
        for polynomial in self.slopes() {
            let fits = polynomial.columns() == self.columns();
            slopes += if fits { polynomial.check()? } else { f64::NAN };
        }
        let largest = self.symmetric.iter().map(Symmetric::largest).sum::<f64>()
            + self.trees.iter().map(Tree::largest).sum::<f64>();
        let reach = self.level.abs() + largest + slopes;
        let finite = reach.is_finite() && self.unit > 0.0 && (self.unit * reach).is_finite();
        let fit = self.symmetric.iter().all(|tree| tree.fits(&self.bins));
        match finite && fit && self.trees.iter().all(|tree| tree.fits(&self.bins)) {
            true => Ok(()),
            false => Err("its bias does not fit its inputs, or is not finite"),
        }
    }
}
