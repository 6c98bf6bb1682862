//! Everything that is summed and counted over some of the rows.

use super::bins::{ErrorBins, SigmaBins};
use super::course::Stretch;
use crate::score::accumulate::{Accumulator, Terms};
use crate::score::block::{BLOCK, Sum, weighted_sum};
use crate::score::bootstrap::{Block, Dealing, Units};

/// Levels at which the largest deviation from a uniform distribution is looked for.
pub(super) const LEVELS: usize = 1 << 16;

/// Sums and counts over some of the rows.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) scores: Accumulator,
    /// Scaled errors weighed by sigma, in units of `unit`, for the decomposition of CRPS.
    pub(super) by_sigma: ErrorBins,
    pub(super) sigma: Sum,
    pub(super) sigma_squared: Sum,
    unit: f64,
    pub(super) z: Sum,
    pub(super) errors: ErrorBins,
    pub(super) sigmas: SigmaBins,
    /// The weight inside each central interval, where units do not have it.
    inside: Vec<Sum>,
    /// The weight at each level of probability; none where that of fine counts will do.
    pub(super) levels: Vec<f64>,
    pub(super) plain: Option<Plain>,
    pub(super) units: Option<Units>,
    /// Of the block at hand.
    terms: Terms,
}

/// What rows have whose law is no Gaussian.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    pub(super) error: Sum,
    pub(super) absolute: Sum,
    /// Squares of errors of all sizes, in one bin.
    pub(super) sizes: SigmaBins,
    pub(super) crps: Sum,
    pub(super) nlpd: Sum,
    /// Of each central interval.
    pub(super) widths: Vec<Sum>,
    pub(super) errors: ErrorBins,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            error: Sum::default(),
            absolute: Sum::default(),
            sizes: SigmaBins::new(0),
            crps: Sum::default(),
            nlpd: Sum::default(),
            widths: vec![],
            errors: ErrorBins::default(),
        }
    }
}

/// Rows of a block, with the widths of their central intervals where those are not the Gaussian's.
pub(super) struct Rows<'a> {
    pub(super) block: Block<'a>,
    pub(super) widths: Vec<&'a [f64]>,
}

impl Part {
    /// `unit` is about the size of sigma.
    pub(super) fn new(
        dealing: Option<&Dealing>,
        half_widths: usize,
        unit: f64,
        fine: bool,
    ) -> Self {
        Self {
            scores: Accumulator::default(),
            by_sigma: ErrorBins::default(),
            sigma: Sum::default(),
            sigma_squared: Sum::default(),
            unit,
            z: Sum::default(),
            errors: ErrorBins::default(),
            sigmas: SigmaBins::new(if fine { 10 } else { 8 }),
            inside: vec![Sum::default(); half_widths],
            levels: vec![0.0; if fine { LEVELS } else { 0 }],
            plain: None,
            units: dealing.map(Dealing::units),
            terms: Terms::default(),
        }
    }

    /// Adds a block of rows, and gives their sums.
    pub(super) fn add(
        &mut self,
        rows: &Rows,
        dealing: Option<&Dealing>,
        half_widths: &[f64],
    ) -> Stretch {
        let Block { error, sigma, weight, own, .. } = rows.block;
        let terms = &mut self.terms;
        self.scores.add_block(error, sigma, weight, terms);
        let n = error.len();
        let (mut by_sigma, mut squares) = ([0.0; BLOCK], [0.0; BLOCK]);
        for j in 0..n {
            by_sigma[j] = sigma[j] / self.unit;
            squares[j] = by_sigma[j] * by_sigma[j] * weight.map_or(1.0, |weight| weight[j]);
        }
        for j in 0..n {
            let weight = weight.map_or(1.0, |weight| weight[j]);
            self.by_sigma.add(terms.eta[j], weight * by_sigma[j]);
            self.errors.add(error[j], weight);
            self.sigmas.add(error[j], sigma[j], weight);
        }
        if !self.levels.is_empty() {
            for j in 0..n {
                let level = ((terms.pit[j] * LEVELS as f64) as usize).min(LEVELS - 1);
                self.levels[level] += weight.map_or(1.0, |weight| weight[j]);
            }
        }
        let mut z = terms.z;
        self.z.add(weighted_sum(&mut z[..n], weight));
        self.sigma_squared.add(weighted_sum(&mut squares[..n], weight));
        self.sigma.add(weighted_sum(&mut by_sigma[..n], weight));
        match (&mut self.units, dealing) {
            // They have the weight inside each interval as well.
            (Some(units), Some(dealing)) => dealing.add(units, &rows.block, terms),
            _ => {
                for (inside, q) in self.inside.iter_mut().zip(half_widths) {
                    let mut within = [0.0; BLOCK];
                    for ((within, e), s) in within.iter_mut().zip(error).zip(sigma) {
                        *within = if e.abs() <= q * s { 1.0 } else { 0.0 };
                    }
                    inside.add(weighted_sum(&mut within[..n], weight));
                }
            }
        }
        let error = own.map_or(error, |own| own.error);
        let sum = |of: &dyn Fn(usize) -> f64| {
            let mut terms = [0.0; BLOCK];
            (0..n).for_each(|j| terms[j] = of(j));
            weighted_sum(&mut terms[..n], weight)
        };
        let sums = Stretch {
            weight: sum(&|_| 1.0),
            error: sum(&|j| error[j]),
            absolute: sum(&|j| error[j].abs()),
        };
        if let Some(own) = own {
            let plain = self.plain.get_or_insert_with(Plain::default);
            plain.error.add(sums.error);
            plain.absolute.add(sums.absolute);
            plain.crps.add(sum(&|j| own.crps[j]));
            plain.nlpd.add(sum(&|j| own.nlpd[j]));
            plain.widths.resize(rows.widths.len(), Sum::default());
            for (total, widths) in plain.widths.iter_mut().zip(&rows.widths) {
                total.add(sum(&|j| widths[j]));
            }
            for (j, error) in error.iter().enumerate() {
                let weight = weight.map_or(1.0, |weight| weight[j]);
                plain.errors.add(*error, weight);
                plain.sizes.add(*error, 1.0, weight);
            }
        }
        sums
    }

    /// The weight inside each central interval.
    pub(super) fn inside(&self, dealing: Option<&Dealing>) -> Vec<f64> {
        match self.units.as_ref().zip(dealing) {
            Some((units, dealing)) => dealing.inside(units),
            None => self.inside.iter().map(|sum| sum.value()).collect(),
        }
    }

    pub(super) fn merge(&mut self, other: &Self, dealing: Option<&Dealing>) {
        self.scores.merge(&other.scores);
        self.by_sigma.merge(&other.by_sigma);
        self.sigma.merge(other.sigma);
        self.sigma_squared.merge(other.sigma_squared);
        self.z.merge(other.z);
        self.errors.merge(&other.errors);
        self.sigmas.merge(&other.sigmas);
        self.inside.iter_mut().zip(&other.inside).for_each(|(sum, more)| sum.merge(*more));
        self.levels.iter_mut().zip(&other.levels).for_each(|(sum, more)| *sum += more);
        if let Some(more) = &other.plain {
            let plain = self.plain.get_or_insert_with(Plain::default);
            plain.error.merge(more.error);
            plain.absolute.merge(more.absolute);
            plain.sizes.merge(&more.sizes);
            plain.crps.merge(more.crps);
            plain.nlpd.merge(more.nlpd);
            plain.widths.resize(more.widths.len(), Sum::default());
            plain.widths.iter_mut().zip(&more.widths).for_each(|(sum, more)| sum.merge(*more));
            plain.errors.merge(&more.errors);
        }
        if let (Some(units), Some(more), Some(dealing)) = (&mut self.units, &other.units, dealing) {
            dealing.merge(units, more);
        }
    }
}
