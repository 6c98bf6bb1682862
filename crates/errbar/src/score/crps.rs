//! The Continuous Ranked Probability Score of a Gaussian forecast: accuracy.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

use super::rows::{self, At, Dforecast, Dsigma, RowScore, Value};
use super::sample::Sample;
use crate::math::{Arithmetic, erf_exp_kernel};

/// $\sqrt{2/\pi}$
pub(crate) const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
/// $1/\sqrt\pi$
pub(crate) const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// The CRPS of one Gaussian forecast (the paper's Eq. CRPS),
///
/// $$\mathrm{CRPS}(\varepsilon, \sigma) = \sigma\Big[z \operatorname{erf}\big(z/\sqrt2\big) +
/// \sqrt{2/\pi} e^{-z^2/2} - 1/\sqrt\pi\Big], \qquad z = \varepsilon/\sigma.$$
///
/// It has the units of the observation and tends to $|\varepsilon|$ as $\sigma \to 0$; for
/// $\varepsilon = 0$ it is $\sigma(\sqrt2 - 1)/\sqrt\pi$. Smaller is better.
///
/// ```
/// use errbar::score::crps::crps;
/// assert!((crps(1.0, 1e-9) - 1.0).abs() < 1e-9);
/// assert!((crps(0.0, 1.0) - (2f64.sqrt() - 1.0) / std::f64::consts::PI.sqrt()).abs() < 1e-15);
/// ```
#[must_use]
pub fn crps(error: f64, sigma: f64) -> f64 {
    rows::one::<Crps>(error, sigma).value
}

/// The derivative of [`crps`] with respect to sigma,
/// $\sqrt{2/\pi} e^{-z^2/2} - 1/\sqrt\pi$.
///
/// Between $-1/\sqrt\pi$ (sigma far too small) and $(\sqrt2-1)/\sqrt\pi$ (far too large).
#[must_use]
pub fn dcrps_dsigma(error: f64, sigma: f64) -> f64 {
    rows::one::<Crps>(error, sigma).dsigma
}

/// The derivative of [`crps`] with respect to the forecast, $-\operatorname{erf}(z/\sqrt2)$.
#[must_use]
pub fn dcrps_dforecast(error: f64, sigma: f64) -> f64 {
    rows::one::<Crps>(error, sigma).dforecast
}

/// The sigma of least CRPS for a given error, $|\varepsilon|/\sqrt{\ln 2}$
/// (the paper's Eq. sigma_min, where the absolute value is missing).
#[must_use]
pub fn sigma_min(error: f64) -> f64 {
    error.abs() / LN_2.sqrt()
}

/// The least mean CRPS that any sigmas can reach for errors of a given mean absolute value,
/// $\operatorname{erf}\big(\tfrac12\sqrt{\ln 4}\big) \overline{|\varepsilon|}$.
///
/// The paper prints $\tfrac12\sqrt{\ln 4}$ where its error function belongs: 0.58870 for 0.59490.
#[must_use]
pub fn crps_min(mean_absolute_error: f64) -> f64 {
    0.594_904_033_566_975_2 * mean_absolute_error
}

/// [`crps_min`] as printed in the paper, $\tfrac12\sqrt{\ln 4} \overline{|\varepsilon|}$.
#[must_use]
pub fn crps_min_as_printed(mean_absolute_error: f64) -> f64 {
    0.588_705_011_257_737_3 * mean_absolute_error
}

/// The mean CRPS over a sample. (The paper prints the sum without $1/N$.)
#[must_use]
pub fn mean(sample: &Sample) -> f64 {
    rows::mean::<Crps>(sample)
}

/// The CRPS of every row, in order (weights play no part).
#[must_use]
pub fn each(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Value::<Crps>::default())
}

/// The derivative of each row's CRPS with respect to its sigma.
#[must_use]
pub fn each_dsigma(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Dsigma::<Crps>::default())
}

/// The derivative of each row's CRPS with respect to its forecast.
#[must_use]
pub fn each_dforecast(sample: &Sample) -> Vec<f64> {
    rows::each(sample, Dforecast::<Crps>::default())
}

/// CRPS of one row; value and derivatives share their transcendental functions.
pub(crate) struct Crps;

impl RowScore for Crps {
    #[inline(always)]
    fn at<A: Arithmetic>(error: f64, sigma: f64) -> At {
        let (erf, exp) = erf_exp_kernel::<A>(error / sigma * FRAC_1_SQRT_2);
        let dsigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
        // error * erf rather than sigma * z * erf: z may overflow where the score does not.
        At { value: A::mul_add(error, erf, sigma * dsigma), dsigma, dforecast: -erf }
    }
}
