//! The Negative Log Predictive Density of a Gaussian forecast.

use super::rows::{self, At, Dforecast, Dsigma, RowScore, Value};
use super::sample::Sample;
use crate::math::{Arithmetic, ln_kernel};

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
    rows::one::<Nlpd>(error, sigma).value
}

/// The derivative of [`nlpd`] with respect to sigma, $(1 - z^2)/\sigma$.
#[must_use]
pub fn dnlpd_dsigma(error: f64, sigma: f64) -> f64 {
    rows::one::<Nlpd>(error, sigma).dsigma
}

/// The derivative of [`nlpd`] with respect to the forecast, $-z/\sigma$.
#[must_use]
pub fn dnlpd_dforecast(error: f64, sigma: f64) -> f64 {
    rows::one::<Nlpd>(error, sigma).dforecast
}

/// The sigma of least NLPD for a given error, $|\varepsilon|$.
#[must_use]
pub fn sigma_min(error: f64) -> f64 {
    error.abs()
}

/// The mean NLPD over a sample.
#[must_use]
pub fn mean(sample: &Sample) -> f64 {
    rows::mean::<Nlpd>(sample)
}

/// The NLPD of every row, in order (weights play no part).
#[must_use]
pub fn each(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Value::<Nlpd>::default())
}

/// The derivative of each row's NLPD with respect to its sigma.
#[must_use]
pub fn each_dsigma(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Dsigma::<Nlpd>::default())
}

/// The derivative of each row's NLPD with respect to its forecast.
#[must_use]
pub fn each_dforecast(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Dforecast::<Nlpd>::default())
}

/// NLPD of one row.
pub(crate) struct Nlpd;

impl RowScore for Nlpd {
    #[inline(always)]
    fn at<A: Arithmetic>(error: f64, sigma: f64) -> At {
        let z = error / sigma;
        At {
            value: A::mul_add(0.5 * z, z, ln_kernel::<A>(sigma) + HALF_LN_2PI),
            dsigma: (1.0 - z) * (1.0 + z) / sigma,
            dforecast: -z / sigma,
        }
    }
}
