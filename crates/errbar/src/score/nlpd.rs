//! The Negative Log Predictive Density of a Gaussian forecast.

use super::block::{BLOCK, sum_blocks, weighted_sum};
use super::sample::Sample;
use crate::math;
use crate::math::{Arithmetic, Kernel, dispatch, ln_kernel};

/// $\tfrac12\ln 2\pi$
pub(crate) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// Minus the log of the density the forecast gave to what happened,
///
/// $$\mathrm{NLPD}(\varepsilon, \sigma) = \tfrac12 z^2 + \ln\sigma + \tfrac12\ln 2\pi, \qquad
/// z = \varepsilon/\sigma.$$
///
/// Smaller is better. Beyond $|z| \approx 10^{154}$ it is infinite in double precision.
#[must_use]
pub fn nlpd(error: f64, sigma: f64) -> f64 {
    let z = error / sigma;
    0.5 * z * z + (math::ln(sigma) + HALF_LN_2PI)
}

/// The derivative of [`nlpd`] with respect to sigma, $(1 - z^2)/\sigma$.
#[must_use]
pub fn dnlpd_dsigma(error: f64, sigma: f64) -> f64 {
    let z = error / sigma;
    (1.0 - z) * (1.0 + z) / sigma
}

/// The derivative of [`nlpd`] with respect to the forecast, $-z/\sigma$.
#[must_use]
pub fn dnlpd_dforecast(error: f64, sigma: f64) -> f64 {
    -(error / sigma) / sigma
}

/// The sigma of least NLPD for a given error, $|\varepsilon|$.
#[must_use]
pub fn sigma_min(error: f64) -> f64 {
    error.abs()
}

/// The mean NLPD over a sample.
#[must_use]
pub fn mean(sample: &Sample) -> f64 {
    let (error, sigma, weight) = (sample.error(), sample.sigma(), sample.weight());
    let [sum] = sum_blocks(error.len(), |rows| {
        let weight = weight.map(|w| &w[rows.clone()]);
        [dispatch(SumBlock { error: &error[rows.clone()], sigma: &sigma[rows], weight })]
    });
    sum.value() / sample.total_weight() + HALF_LN_2PI
}

/// The NLPD of every row, in order (weights play no part).
#[must_use]
pub fn each(sample: &Sample) -> Vec<f64> {
    sample.error().iter().zip(sample.sigma()).map(|(&e, &s)| nlpd(e, s)).collect()
}

/// NLPD at one point and its derivative with respect to sigma.
#[inline(always)]
pub(super) fn point_kernel<A: Arithmetic>(error: f64, sigma: f64) -> (f64, f64) {
    let z = error / sigma;
    let value = A::mul_add(0.5 * z, z, ln_kernel::<A>(sigma)) + HALF_LN_2PI;
    (value, (1.0 - z) * (1.0 + z) / sigma)
}

/// The weighted sum of $\tfrac12 z^2 + \ln\sigma$ over one block.
struct SumBlock<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    weight: Option<&'a [f64]>,
}

impl Kernel for SumBlock<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let mut buffer = [0.0; BLOCK];
        let nlpd = &mut buffer[..self.error.len()];
        for ((nlpd, &error), &sigma) in nlpd.iter_mut().zip(self.error).zip(self.sigma) {
            let z = error / sigma;
            *nlpd = A::mul_add(0.5 * z, z, ln_kernel::<A>(sigma));
        }
        weighted_sum(nlpd, self.weight)
    }
}
