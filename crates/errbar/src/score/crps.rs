//! The Continuous Ranked Probability Score of a Gaussian forecast: accuracy.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

use super::block::{BLOCK, sum_blocks, weighted_sum};
use super::sample::Sample;
use crate::math::{Arithmetic, Kernel, dispatch, erf_exp_kernel};

/// $\sqrt{2/\pi}$
pub(crate) const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
/// $1/\sqrt\pi$
pub(crate) const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// The CRPS of one Gaussian forecast (the paper's Eq. CRPS),
///
/// $$\mathrm{CRPS}(\varepsilon, \sigma) = \sigma\Big[z\,\mathrm{erf}\big(z/\sqrt2\big) +
/// \sqrt{2/\pi}\,e^{-z^2/2} - 1/\sqrt\pi\Big], \qquad z = \varepsilon/\sigma.$$
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
    point(error, sigma).crps
}

/// The derivative of [`crps`] with respect to sigma,
/// $\sqrt{2/\pi}\,e^{-z^2/2} - 1/\sqrt\pi$.
///
/// Between $-1/\sqrt\pi$ (sigma far too small) and $(\sqrt2-1)/\sqrt\pi$ (far too large).
#[must_use]
pub fn dcrps_dsigma(error: f64, sigma: f64) -> f64 {
    point(error, sigma).dsigma
}

/// The derivative of [`crps`] with respect to the forecast, $-\mathrm{erf}(z/\sqrt2)$.
#[must_use]
pub fn dcrps_dforecast(error: f64, sigma: f64) -> f64 {
    point(error, sigma).dforecast
}

/// The sigma of least CRPS for a given error, $|\varepsilon|/\sqrt{\ln 2}$
/// (the paper's Eq. sigma_min, where the absolute value is missing).
#[must_use]
pub fn sigma_min(error: f64) -> f64 {
    error.abs() / LN_2.sqrt()
}

/// The least mean CRPS that any sigmas can reach for errors of a given mean absolute value,
/// $\mathrm{erf}\big(\tfrac12\sqrt{\ln 4}\big)\,\overline{|\varepsilon|}$.
///
/// The paper prints $\tfrac12\sqrt{\ln 4}$ where its error function belongs: 0.58870 for 0.59490.
#[must_use]
pub fn crps_min(mean_absolute_error: f64) -> f64 {
    0.594_904_033_566_975_2 * mean_absolute_error
}

/// [`crps_min`] as printed in the paper, $\tfrac12\sqrt{\ln 4}\,\overline{|\varepsilon|}$.
#[must_use]
pub fn crps_min_as_printed(mean_absolute_error: f64) -> f64 {
    0.588_705_011_257_737_3 * mean_absolute_error
}

/// The mean CRPS over a sample. (The paper prints the sum without $1/N$.)
#[must_use]
pub fn mean(sample: &Sample) -> f64 {
    let (error, sigma, weight) = (sample.error(), sample.sigma(), sample.weight());
    let [sum] = sum_blocks(error.len(), |rows| {
        let weight = weight.map(|w| &w[rows.clone()]);
        [dispatch(SumBlock { error: &error[rows.clone()], sigma: &sigma[rows], weight })]
    });
    sum.value() / sample.total_weight()
}

/// The CRPS of every row, in order (weights play no part).
#[must_use]
pub fn each(sample: &Sample) -> Vec<f64> {
    map(sample, |p| p.crps)
}

/// The derivative of each row's CRPS with respect to its sigma.
#[must_use]
pub fn each_dsigma(sample: &Sample) -> Vec<f64> {
    map(sample, |p| p.dsigma)
}

/// The derivative of each row's CRPS with respect to its forecast.
#[must_use]
pub fn each_dforecast(sample: &Sample) -> Vec<f64> {
    map(sample, |p| p.dforecast)
}

/// CRPS at one point with both derivatives, which share their transcendental functions.
pub(super) struct Point {
    pub(super) crps: f64,
    pub(super) dsigma: f64,
    dforecast: f64,
}

#[inline(always)]
pub(super) fn point_kernel<A: Arithmetic>(error: f64, sigma: f64) -> Point {
    let (erf, exp) = erf_exp_kernel::<A>(error / sigma * FRAC_1_SQRT_2);
    let dsigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
    // error * erf rather than sigma * z * erf: z may overflow where the score does not.
    Point { crps: A::mul_add(error, erf, sigma * dsigma), dsigma, dforecast: -erf }
}

struct One {
    error: f64,
    sigma: f64,
}

impl Kernel for One {
    type Output = Point;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Point {
        point_kernel::<A>(self.error, self.sigma)
    }
}

fn point(error: f64, sigma: f64) -> Point {
    dispatch(One { error, sigma })
}

/// The weighted sum of the CRPS of one block.
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
        let crps = &mut buffer[..self.error.len()];
        for ((crps, &error), &sigma) in crps.iter_mut().zip(self.error).zip(self.sigma) {
            *crps = point_kernel::<A>(error, sigma).crps;
        }
        weighted_sum(crps, self.weight)
    }
}

struct MapRows<'a, F> {
    sample: &'a Sample<'a>,
    pick: F,
}

impl<F: Fn(Point) -> f64> Kernel for MapRows<'_, F> {
    type Output = Vec<f64>;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Vec<f64> {
        let (error, sigma) = (self.sample.error(), self.sample.sigma());
        let mut out = vec![0.0; error.len()];
        for ((out, &error), &sigma) in out.iter_mut().zip(error).zip(sigma) {
            *out = (self.pick)(point_kernel::<A>(error, sigma));
        }
        out
    }
}

fn map(sample: &Sample, pick: impl Fn(Point) -> f64) -> Vec<f64> {
    dispatch(MapRows { sample, pick })
}
