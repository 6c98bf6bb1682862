//! The best single sigma: what a forecaster without sigma(x) could do.

use serde::{Deserialize, Serialize};

use super::block::{BLOCK, mean_blocks, sum_blocks, weighted_sum};
use super::crps::Crps;
use super::deterministic::{mean_absolute_error, mean_of};
use super::rows::RowScore;
use super::sample::Sample;
use crate::math::{Arithmetic, Kernel, dispatch, exp_kernel};

/// One sigma for all rows, and the mean CRPS it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// The sigma of least mean CRPS; 0 when more than $1/\sqrt2$ of the weight has no error at all.
    pub sigma: f64,
    /// The mean CRPS with that sigma on every row.
    pub crps: f64,
}

/// The one sigma of least mean CRPS on these very errors, and that CRPS.
///
/// It solves $\overline{\exp(-\varepsilon^2/2\sigma^2)} = 1/\sqrt2$, which has one root since the
/// left side grows with sigma. A fair and strict baseline: no constant does better here.
#[must_use]
pub fn best_constant(sample: &Sample) -> Constant {
    let scale = mean_absolute_error(sample);
    let zero = mean_of(sample.errors(), sample.error(), |e| f64::from(u8::from(e == 0.0)));
    if scale == 0.0 || zero >= std::f64::consts::FRAC_1_SQRT_2 {
        return Constant { sigma: 0.0, crps: scale };
    }
    let sizes = || sample.error().iter().map(|e| e.abs()).filter(|e| *e > 0.0);
    let extremes = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let sigma = solve(scale, extremes, |sigma| mean_exponential(sample, sigma));
    Constant { sigma, crps: mean_crps_with(sample, sigma) }
}

/// The sigma of least mean CRPS of errors, given the mean of their sizes, the least and the largest of them (zeros left
/// out) and what [`mean_exponential`] is for one sigma.
pub(crate) fn solve(
    scale: f64,
    (least, largest): (f64, f64),
    mean_exponential: impl Fn(f64) -> (f64, f64),
) -> f64 {
    // Newton in log sigma, kept inside a bracket that every step tightens. It begins at the largest
    // error, and far enough below the smallest for any share of zeros that doubles can express.
    let mut low = least.ln() - scale.ln() - 3.0;
    let mut high = largest.ln() - scale.ln() + 1.0;
    // In units of the mean absolute error, so that all digits are at hand for sigma; 1.25 of it is
    // the answer for Gaussian errors.
    let sigma_at = |t: f64| (scale * t.exp()).max(f64::MIN_POSITIVE);
    let mut t = 1.25f64.ln().clamp(low, high);
    for _ in 0..200 {
        let (value, slope) = mean_exponential(sigma_at(t));
        let excess = value - std::f64::consts::FRAC_1_SQRT_2;
        if excess > 0.0 {
            high = high.min(t);
        } else {
            low = low.max(t);
        }
        let newton = t - excess / slope;
        // Newton only ever helps inside the bracket, and halving it is never far from enough.
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if excess == 0.0 {
            break;
        }
        let moved = (next - t).abs();
        t = next;
        if moved <= 1e-15 {
            break;
        }
    }
    sigma_at(t)
}

/// $1 - \mathrm{CRPS}/\mathrm{CRPS}\_{\text{constant}}$: 0 is no better than one constant sigma, 1 is
/// perfect, below 0 is worse. 0 when all errors are zero.
#[must_use]
pub fn skill(crps: f64, constant: Constant) -> f64 {
    if constant.crps > 0.0 { 1.0 - crps / constant.crps } else { 0.0 }
}

/// The mean CRPS of a sample's errors with one given sigma on every row.
#[must_use]
pub fn mean_crps_with(sample: &Sample, sigma: f64) -> f64 {
    let (error, weight) = (sample.error(), sample.weight());
    mean_blocks(error.len(), sample.total_weight(), |rows, part| {
        let weight = weight.map(|w| &w[rows.clone()]);
        dispatch(CrpsBlock { error: &error[rows], sigma, weight, part })
    })
}

struct CrpsBlock<'a> {
    error: &'a [f64],
    sigma: f64,
    weight: Option<&'a [f64]>,
    part: f64,
}

impl Kernel for CrpsBlock<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let mut buffer = [0.0; BLOCK];
        let crps = &mut buffer[..self.error.len()];
        for (crps, &error) in crps.iter_mut().zip(self.error) {
            *crps = self.part * Crps::at::<A>(error, self.sigma).value;
        }
        weighted_sum(crps, self.weight)
    }
}

/// The mean of $e^{-z^2/2}$ over the errors and its derivative in $\ln\sigma$, the mean of
/// $z^2 e^{-z^2/2}$.
fn mean_exponential(sample: &Sample, sigma: f64) -> (f64, f64) {
    let (error, weight) = (sample.error(), sample.weight());
    let [value, slope] = sum_blocks(error.len(), |rows| {
        let weight = weight.map(|w| &w[rows.clone()]);
        dispatch(ExponentialBlock { error: &error[rows], sigma, weight })
    });
    let total = sample.total_weight();
    (value.value() / total, slope.value() / total)
}

struct ExponentialBlock<'a> {
    error: &'a [f64],
    sigma: f64,
    weight: Option<&'a [f64]>,
}

impl Kernel for ExponentialBlock<'_> {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [f64; 2] {
        let (mut value, mut slope) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (value, slope) = (&mut value[..self.error.len()], &mut slope[..self.error.len()]);
        for ((value, slope), &error) in value.iter_mut().zip(slope.iter_mut()).zip(self.error) {
            // 40 standard deviations leave nothing, and keep the square finite.
            let z = (error / self.sigma).clamp(-40.0, 40.0);
            *value = exp_kernel::<A>(-0.5 * z * z);
            *slope = z * z * *value;
        }
        [weighted_sum(value, self.weight), weighted_sum(slope, self.weight)]
    }
}
