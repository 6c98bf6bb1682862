//! Ranks by counts: where each scaled error stands among those of all parts.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::{J, LossKind, R};
use crate::math::{Arithmetic, Kernel, dispatch, erf, erf_exp_kernel, exp_slice};
use crate::score::block::{BLOCK, Sum, weighted_sum};
use crate::score::eta_counts::{BINS, begin_of, bin_of};

const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;
/// $1/\sqrt{2\pi}$
pub(super) const CONSTANT: f64 = 0.398_942_280_401_432_7;

/// A cost of rows of this total weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// The weights of its two parts.
    pub(super) accuracy: f64,
    pub(super) reliability: f64,
    /// The likelihood instead.
    pub(super) likelihood: bool,
    pub(super) total: f64,
}

impl Cost {
    /// The cost of so many rows that count, of this weight and mean absolute error.
    pub(super) fn of(loss: LossKind, rows: usize, total: f64, mean_absolute: f64) -> Result<Self> {
        let likelihood = loss == LossKind::Nlpd;
        let (accuracy, reliability) = match loss {
            LossKind::Ar(beta) => {
                let split = beta.split(mean_absolute, rows)?;
                (split.accuracy, split.reliability)
            }
            LossKind::Crps | LossKind::Nlpd => (1.0, 0.0),
            LossKind::OfLaw(..) => return Err(Error::NoRoundsByLaw),
        };
        Ok(Self { accuracy, reliability, likelihood, total })
    }

    /// The weight of reliability.
    pub(super) fn reliability(&self) -> f64 {
        self.reliability
    }

    /// Its slope in the log sigma of one row that weighs one, up to the weight of all; `end` as in [`Table`].
    pub(super) fn slope(&self, error: f64, sigma: f64, end: f64) -> f64 {
        let eta = error / sigma * FRAC_1_SQRT_2;
        if self.likelihood {
            return 1.0 - 2.0 * eta * eta;
        }
        let by_sigma = SQRT_2_OVER_PI * (-eta * eta).exp() - FRAC_1_SQRT_PI;
        self.accuracy * by_sigma * sigma - self.reliability * eta * (erf(eta) - end)
    }

    /// Its value, of the sums that [`Steps`] gives.
    pub(super) fn value(&self, [accuracy, reliability]: [f64; 2]) -> f64 {
        let rs = if self.reliability > 0.0 { reliability / self.total } else { 0.0 };
        self.accuracy * accuracy / self.total + self.reliability * rs
    }
}

/// Counts scaled errors, by weight.
pub(super) fn count(scaled: &[f64], log: &[f64], weight: Option<&[f64]>, counts: &mut [f64]) {
    let mut sigma = [0.0; BLOCK];
    for (nth, (scaled, log)) in scaled.chunks(BLOCK).zip(log.chunks(BLOCK)).enumerate() {
        let sigma = &mut sigma[..log.len()];
        exp_slice(log, sigma);
        for (at, (error, sigma)) in scaled.iter().zip(sigma).enumerate() {
            let eta = error / *sigma * FRAC_1_SQRT_2;
            counts[bin_of(eta)] += weight.map_or(1.0, |weight| weight[nth * BLOCK + at]);
        }
    }
}

/// What $\operatorname{erf}\eta$ would be if reliability were perfect, from counts.
pub(super) struct Table {
    /// For each bin its value where the bin begins, and how it rises.
    bins: Vec<[f64; 3]>,
}

impl Table {
    pub(super) fn of(counts: &[f64]) -> Result<Self> {
        if counts.len() != BINS {
            return Err(Error::BadMessage { reason: "it has another number of counts".into() });
        }
        let total: f64 = counts.iter().sum();
        let per = if total > 0.0 { 2.0 / total } else { 0.0 };
        let mut below = 0.0;
        let bin = |(bin, count): (usize, &f64)| {
            let (begin, end) =
                (begin_of(bin), if bin + 1 < BINS { begin_of(bin + 1) } else { f64::INFINITY });
            let (start, rise) = (below * per - 1.0, count * per);
            below += count;
            match begin.is_finite() && end.is_finite() {
                // Spread evenly over the bin.
                true => [start, rise / (end - begin), begin],
                false => [start + 0.5 * rise, 0.0, 0.0],
            }
        };
        Ok(Self { bins: counts.iter().enumerate().map(bin).collect() })
    }

    #[inline]
    fn at(&self, eta: f64) -> f64 {
        let [start, rise, begin] = self.bins[bin_of(eta)];
        start + rise * (eta - begin)
    }
}

/// Slope and curvature of a cost in the log sigma of each row.
pub(super) struct Steps<'a> {
    /// In units of the sigma before.
    pub(super) scaled: &'a [f64],
    pub(super) log: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    pub(super) table: &'a Table,
    pub(super) cost: Cost,
}

impl Steps<'_> {
    /// Writes both, and gives the sums of the two parts of the cost.
    pub(super) fn write(&self, gradient: &mut [f64], curvature: &mut [f64]) -> [f64; 2] {
        let mut sums = [Sum::default(), Sum::default()];
        let mut end = [0.0; BLOCK];
        for from in (0..self.scaled.len()).step_by(BLOCK) {
            let rows = from..(from + BLOCK).min(self.scaled.len());
            let (error, log) = (&self.scaled[rows.clone()], &self.log[rows.clone()]);
            let mut sigma = [0.0; BLOCK];
            exp_slice(log, &mut sigma[..log.len()]);
            let mut eta = [0.0; BLOCK];
            for (at, error) in error.iter().enumerate() {
                // Beyond it, a pull would drown all others.
                eta[at] = (error / sigma[at] * FRAC_1_SQRT_2).clamp(-FARTHEST, FARTHEST);
                end[at] = self.table.at(eta[at]);
            }
            let block = StepsBlock {
                error,
                sigma: &sigma,
                eta: &eta,
                end: &end,
                weight: self.weight.map(|weight| &weight[rows.clone()]),
                cost: self.cost,
                gradient: &mut gradient[rows.clone()],
                curvature: &mut curvature[rows],
            };
            let block = dispatch(block);
            sums.iter_mut().zip(block).for_each(|(sum, block)| sum.add(block));
        }
        sums.map(Sum::value)
    }
}

const FARTHEST: f64 = 1e6;

struct StepsBlock<'a> {
    error: &'a [f64],
    sigma: &'a [f64; BLOCK],
    eta: &'a [f64; BLOCK],
    end: &'a [f64; BLOCK],
    weight: Option<&'a [f64]>,
    cost: Cost,
    gradient: &'a mut [f64],
    curvature: &'a mut [f64],
}

impl Kernel for StepsBlock<'_> {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [f64; 2] {
        let Self { error, sigma, eta, end, weight, cost, gradient, curvature } = self;
        let n = error.len();
        let (mut first, mut second) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut slope, mut bend) = ([0.0; BLOCK], [0.0; BLOCK]);
        let per = 1.0 / cost.total;
        if cost.likelihood {
            for j in 0..n {
                let z2 = 2.0 * eta[j] * eta[j];
                first[j] = sigma[j].ln() + 0.5 * z2;
                slope[j] = 1.0 - z2;
                bend[j] = 2.0 * if z2 > 1.0 { z2 } else { 1.0 };
            }
        } else {
            for j in 0..n {
                let (erf, exp) = erf_exp_kernel::<A>(eta[j]);
                let by_sigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
                let pull = eta[j] * (erf - end[j]);
                first[j] = A::mul_add(error[j], erf, sigma[j] * by_sigma);
                second[j] = A::mul_add(FRAC_1_SQRT_PI, exp, pull);
                slope[j] = cost.accuracy * by_sigma * sigma[j] - cost.reliability * pull;
                bend[j] = A::mul_add(cost.accuracy * J, sigma[j], cost.reliability * R);
            }
        }
        for j in 0..n {
            let share = weight.map_or(per, |weight| weight[j] * per);
            gradient[j] = share * slope[j];
            curvature[j] = share * bend[j];
        }
        [weighted_sum(&mut first[..n], weight), weighted_sum(&mut second[..n], weight)]
    }
}
