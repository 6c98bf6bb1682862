//! What a resample needs to know of each unit: sums over its rows.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use rayon::prelude::*;

use super::resample::Plan;
use crate::error::Result;
use crate::math::{Arithmetic, Kernel, dispatch, erf_exp_kernel};
use crate::monitor::{self, Monitor};
use crate::score::block::BLOCK;
use crate::score::calibration::half_width;
use crate::score::crps::{Crps, FRAC_1_SQRT_PI, SQRT_2_OVER_PI};
use crate::score::nlpd::Nlpd;
use crate::score::rows::RowScore;
use crate::score::sample::Sample;

/// The sums kept, in this order; the weight inside each central interval follows, then the weight up
/// to each node of [`super::reliability::Nodes`].
pub(super) const FIXED: usize = 11;
pub(super) const WEIGHT: usize = 0;
pub(super) const ERROR: usize = 1;
pub(super) const ABSOLUTE: usize = 2;
/// In units of [`UnitSums::scale`], which keeps squares in the range of doubles.
pub(super) const SQUARED: usize = 3;
pub(super) const SIGMA: usize = 4;
pub(super) const Z: usize = 5;
pub(super) const Z_SQUARED: usize = 6;
pub(super) const CRPS: usize = 7;
/// CRPS with the best constant sigma of the whole sample.
pub(super) const CONSTANT: usize = 8;
pub(super) const NLPD: usize = 9;
/// $\eta \operatorname{erf}\eta + e^{-\eta^2}/\sqrt\pi$, the part of RS that knows no order.
pub(super) const ORDERLESS: usize = 10;

/// Numbers that are added at once.
const LANES: usize = 8;

/// Resamples that are summed at once, so that the table of sums is read from memory once for all.
pub(super) const TOGETHER: usize = 4;

/// Parts of the rows that may be summed at the same time, each into a table of its own. Their number
/// is fixed, so that the bits do not depend on the number of threads.
const PARTS: usize = 8;

/// Sums over the rows of each unit.
pub(super) struct UnitSums {
    /// Unit by unit, filled up to whole lanes.
    table: Vec<[f64; LANES]>,
    lanes: usize,
    pub(super) levels: usize,
    /// The unit of errors in squares.
    pub(super) scale: f64,
}

/// What the rows are summed up to.
pub(super) struct Terms<'a> {
    /// The levels of central intervals.
    pub(super) levels: &'a [f64],
    /// The best constant sigma.
    pub(super) constant: f64,
    /// The unit of errors in squares.
    pub(super) scale: f64,
    /// Where the distribution of $\eta$ is looked at; empty when it is not.
    pub(super) nodes: &'a [f64],
    /// What rows have in place of a Gaussian's scores.
    pub(super) own: Option<&'a RowScores>,
}

/// Errors and scores of rows whose law is no Gaussian: the sample then holds what their errors would be if
/// it were.
#[derive(Debug, Clone)]
pub(crate) struct RowScores {
    pub(crate) error: Vec<f64>,
    pub(crate) crps: Vec<f64>,
    pub(crate) nlpd: Vec<f64>,
}

impl RowScores {
    /// Puts the weighted terms of some rows in the place of those of a Gaussian.
    fn put(
        &self,
        rows: Range<usize>,
        weight: Option<&[f64]>,
        terms: &Terms,
        columns: &mut [[f64; BLOCK]],
    ) {
        for (j, row) in rows.enumerate() {
            let error = self.error[row];
            let constant = crate::score::crps::crps(error, terms.constant.max(f64::MIN_POSITIVE));
            let weight = weight.map_or(1.0, |weight| weight[row]);
            for (which, term) in [
                (ERROR, error),
                (ABSOLUTE, error.abs()),
                (SQUARED, (error / terms.scale).powi(2)),
                (CRPS, self.crps[row]),
                (CONSTANT, constant),
                (NLPD, self.nlpd[row]),
            ] {
                columns[which][j] = if weight > 0.0 { weight * term } else { 0.0 };
            }
        }
    }
}

impl UnitSums {
    pub(super) fn new(
        sample: &Sample,
        plan: &Plan,
        terms: &Terms,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let columns = FIXED + terms.levels.len() + terms.nodes.len();
        let lanes = columns.div_ceil(LANES);
        let parts = if plan.row_by_row() { 1 } else { PARTS };
        let rows_of_part = plan.rows.div_ceil(parts).next_multiple_of(BLOCK);
        let part = |part: usize| {
            let rows =
                (part * rows_of_part).min(plan.rows)..((part + 1) * rows_of_part).min(plan.rows);
            sums_of(sample, plan, terms, rows, lanes, monitor)
        };
        let tables: Result<Vec<_>> = (0..parts).into_par_iter().map(part).collect();
        let mut tables = tables?.into_iter();
        let mut table = tables.next().unwrap_or_default();
        for other in tables {
            let numbers = table.as_flattened_mut().iter_mut();
            numbers.zip(other.as_flattened()).for_each(|(sum, part)| *sum += part);
        }
        // From the weight between nodes to the weight up to each.
        let first = FIXED + terms.levels.len();
        for unit in table.chunks_exact_mut(lanes) {
            let mut below = 0.0;
            for weight in &mut unit.as_flattened_mut()[first..columns] {
                below += *weight;
                *weight = below;
            }
        }
        Ok(Self { table, lanes, levels: terms.levels.len(), scale: terms.scale })
    }

    /// Of units that were summed already, each over so many columns.
    pub(super) fn of_rows(
        units: impl Iterator<Item = Vec<f64>>,
        columns: usize,
        levels: usize,
        scale: f64,
    ) -> Self {
        let lanes = columns.div_ceil(LANES);
        let mut table = vec![];
        for mut unit in units {
            unit.resize(lanes * LANES, 0.0);
            table.extend_from_slice(unit.as_chunks::<LANES>().0);
        }
        Self { table, lanes, levels, scale }
    }

    /// The sums of some resamples, given how often each holds each unit.
    pub(super) fn of_resamples(&self, counts: &[[f64; TOGETHER]]) -> [Vec<f64>; TOGETHER] {
        let mut sums = [const { Vec::new() }; TOGETHER];
        sums.fill_with(|| vec![[0.0; LANES]; self.lanes]);
        dispatch(Weigh { table: &self.table, lanes: self.lanes, counts, sums: &mut sums });
        sums.map(|sums| sums.into_flattened())
    }

    /// The sums of the whole sample.
    pub(super) fn of_all(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.lanes * LANES];
        for unit in self.table.chunks_exact(self.lanes) {
            sums.iter_mut().zip(unit.as_flattened()).for_each(|(sum, part)| *sum += part);
        }
        sums
    }
}

/// The table of one part of the rows.
fn sums_of(
    sample: &Sample,
    plan: &Plan,
    terms: &Terms,
    rows: Range<usize>,
    lanes: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<[f64; LANES]>> {
    /// Rows between two looks at the monitor.
    const OFTEN: usize = BLOCK << 10;
    let mut table = vec![[0.0; LANES]; plan.units * lanes];
    let mut columns = vec![[0.0; BLOCK]; FIXED + terms.levels.len()];
    let mut eta = [0.0; BLOCK];
    let half_widths: Vec<f64> = terms.levels.iter().map(|&level| half_width(level)).collect();
    let first_node = columns.len();
    for from in rows.clone().step_by(BLOCK) {
        if (from - rows.start).is_multiple_of(OFTEN) {
            monitor::check(monitor)?;
        }
        let block = from..rows.end.min(from + BLOCK);
        let length = block.len();
        dispatch(BlockTerms {
            error: &sample.error()[block.clone()],
            sigma: &sample.sigma()[block.clone()],
            weight: sample.weight().map(|w| &w[block.clone()]),
            constant: terms.constant.max(f64::MIN_POSITIVE),
            per_scale: 1.0 / terms.scale,
            half_widths: &half_widths,
            columns: &mut columns,
            eta: &mut eta,
        });
        if let Some(own) = terms.own {
            own.put(block, sample.weight(), terms, &mut columns);
        }
        for (j, &eta) in eta.iter().enumerate().take(length) {
            let unit = plan.unit_of(from + j);
            let sums = table[unit * lanes..(unit + 1) * lanes].as_flattened_mut();
            for (sum, column) in sums.iter_mut().zip(&columns) {
                *sum += column[j];
            }
            if !terms.nodes.is_empty() {
                // Beyond the last node nothing is kept.
                let place = terms.nodes.partition_point(|node| *node < eta);
                if place < terms.nodes.len() {
                    sums[first_node + place] += columns[WEIGHT][j];
                }
            }
        }
    }
    Ok(table)
}

/// The weighted terms of a block of rows, column by column, and its scaled errors.
struct BlockTerms<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    weight: Option<&'a [f64]>,
    constant: f64,
    per_scale: f64,
    half_widths: &'a [f64],
    columns: &'a mut [[f64; BLOCK]],
    eta: &'a mut [f64; BLOCK],
}

impl Kernel for BlockTerms<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.error.len().min(self.sigma.len()).min(BLOCK);
        let mut fixed = [[0.0; BLOCK]; FIXED];
        let mut etas = [0.0; BLOCK];
        #[allow(clippy::needless_range_loop)] // j runs over eleven columns at once
        for j in 0..n {
            let (error, sigma) = (self.error[j], self.sigma[j]);
            let z = error / sigma;
            let eta = z * FRAC_1_SQRT_2;
            let (erf, exp) = erf_exp_kernel::<A>(eta);
            let dsigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
            let scaled = error * self.per_scale;
            etas[j] = eta;
            fixed[WEIGHT][j] = 1.0;
            fixed[ERROR][j] = error;
            fixed[ABSOLUTE][j] = error.abs();
            fixed[SQUARED][j] = scaled * scaled;
            fixed[SIGMA][j] = sigma;
            fixed[Z][j] = z;
            fixed[Z_SQUARED][j] = z * z;
            fixed[CRPS][j] = A::mul_add(error, erf, sigma * dsigma);
            fixed[CONSTANT][j] = Crps::at::<A>(error, self.constant).value;
            fixed[NLPD][j] = Nlpd::at::<A>(error, sigma).value;
            fixed[ORDERLESS][j] = A::mul_add(eta, erf, FRAC_1_SQRT_PI * exp);
        }
        *self.eta = etas;
        let (columns, inside) = self.columns.split_at_mut(FIXED);
        columns.copy_from_slice(&fixed);
        for (inside, &q) in inside.iter_mut().zip(self.half_widths) {
            let rows = self.error.iter().zip(self.sigma);
            for (inside, (error, sigma)) in inside.iter_mut().zip(rows) {
                *inside = if error.abs() <= q * sigma { 1.0 } else { 0.0 };
            }
        }
        if let Some(weight) = self.weight {
            for column in self.columns {
                for (term, &weight) in column.iter_mut().zip(weight) {
                    // A row without weight does not count even where its term is infinite.
                    *term = if weight > 0.0 { *term * weight } else { 0.0 };
                }
            }
        }
    }
}

/// Adds up the units as often as each resample holds them.
struct Weigh<'a> {
    table: &'a [[f64; LANES]],
    lanes: usize,
    counts: &'a [[f64; TOGETHER]],
    sums: &'a mut [Vec<[f64; LANES]>; TOGETHER],
}

impl Kernel for Weigh<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (unit, counts) in self.table.chunks_exact(self.lanes).zip(self.counts) {
            for (sums, &count) in self.sums.iter_mut().zip(counts) {
                for (sum, part) in sums.iter_mut().zip(unit) {
                    for lane in 0..LANES {
                        sum[lane] = A::mul_add(count, part[lane], sum[lane]);
                    }
                }
            }
        }
    }
}
