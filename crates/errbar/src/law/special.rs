//! Functions that the laws need and no library at hand has in the accuracy wanted.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::math::dispatch::{Arithmetic, Plain};
use crate::math::{erfc, erfcinv, exp, ln};
use crate::score::crps::SQRT_2_OVER_PI;

/// $1/\sqrt{2\pi}$
pub(super) const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// From here on few terms of the series of Stirling's kind have all digits.
const LARGE: f64 = 20.0;

/// $\frac{\Gamma(x + 1/2)}{\Gamma(x) \sqrt x}$ for $x > 0$, which tends to 1.
pub(super) fn gamma_step(x: f64) -> f64 {
    // Upwards by $\Gamma(x + 1) = x \Gamma(x)$.
    let (mut at, mut above, mut below) = (x, 1.0, 1.0);
    while at < LARGE {
        above *= at;
        below *= at + 0.5;
        at += 1.0;
    }
    // Only odd powers are left.
    let w = 1.0 / (at * at);
    let series = [-31.0 / 18432.0, 17.0 / 14336.0, -1.0 / 640.0, 1.0 / 192.0, -1.0 / 8.0];
    let step = exp(series.iter().fold(0.0, |sum, c| sum * w + c) / at);
    if at > x { step * above / below * (at / x).sqrt() } else { step }
}

/// The derivative of the logarithm of [`gamma_step`],
/// $\psi(x + \tfrac12) - \psi(x) - \frac1{2x}$.
pub(super) fn log_gamma_step_slope(x: f64) -> f64 {
    let (mut at, mut sum) = (x, 0.0);
    while at < LARGE {
        sum += 0.5 / (at * (at + 0.5));
        at += 1.0;
    }
    let w = 1.0 / (at * at);
    let series = [9.0 * 31.0 / 18432.0, -7.0 * 17.0 / 14336.0, 1.0 / 128.0, -1.0 / 64.0, 1.0 / 8.0];
    let step = series.iter().fold(0.0, |sum, c| sum * w + c) * w;
    if at > x { sum + (0.5 / at - 0.5 / x) + step } else { step }
}

/// $\ln(1 + u) - \frac{u}{1 + u}$ for $u \ge 0$, about $u^2/2$ where that is small.
pub(super) fn log1p_excess(u: f64) -> f64 {
    if u < 0.1 {
        // The sum of (-1)^k (k - 1)/k u^k from k = 2.
        return u * u * (2..18).rev().map(f64::from).fold(0.0, |sum, k| (k - 1.0) / k - u * sum);
    }
    libm::log1p(u) - (1.0 - 1.0 / (1.0 + u))
}

/// $e^{-z^2/2}$ with the rounding error of the square put right.
pub(super) fn gauss(z: f64) -> f64 {
    let square = z * z;
    let low = if square < 1e300 { Plain::square_residual(z, square) } else { 0.0 };
    exp(-0.5 * square) * (1.0 - 0.5 * low)
}

/// Below this the Gaussian's tail is half of erfc, which further out would magnify the rounding of its
/// argument.
pub(super) const ERFC_BELOW: f64 = 3.0;

/// The Gaussian's probability beyond $z \ge 0$.
pub(super) fn gaussian_tail(z: f64) -> f64 {
    let x = z * FRAC_1_SQRT_2;
    if z < ERFC_BELOW { 0.5 * erfc(x) } else { 0.5 * gauss(z) * pxfm::f_erfcx(x) }
}

/// Its logarithm.
pub(super) fn gaussian_log_tail(z: f64) -> f64 {
    let x = z * FRAC_1_SQRT_2;
    if z < 3.0 { ln(0.5 * erfc(x)) } else { ln(0.5 * pxfm::f_erfcx(x)) - 0.5 * z * z }
}

/// The Gaussian density over the probability beyond $z \ge 0$.
pub(super) fn gaussian_hazard(z: f64) -> f64 {
    // erfcx ends in 0 where the hazard is z to all digits.
    if z > 1e8 { z } else { SQRT_2_OVER_PI / pxfm::f_erfcx(z * FRAC_1_SQRT_2) }
}

/// $\int_z^\infty (1 - \Phi)$ over the density, $1 - z \frac{1 - \Phi(z)}{\varphi(z)}$: from $1/z^2$ on
/// what is left of the difference, up to 10.
pub(super) fn gaussian_tail_integral_ratio(z: f64) -> f64 {
    1.0 - z / gaussian_hazard(z)
}

/// The $z \ge 0$ that a Gaussian exceeds with a probability of at most one half, given its logarithm.
pub(super) fn gaussian_tail_quantile_of_log(log: f64) -> f64 {
    if log > -700.0 {
        return std::f64::consts::SQRT_2 * erfcinv(2.0 * exp(log)).max(0.0);
    }
    if log == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    // Newton's method on the logarithm, which is almost a parabola.
    let mut z = (-2.0 * log).sqrt();
    for _ in 0..4 {
        z += (gaussian_log_tail(z) - log) / gaussian_hazard(z);
    }
    z
}

/// The integral of a function over an interval in which it hardly bends, by the rule of Gauss and Legendre
/// with eight points: the differences of closed forms over short intervals lose digits, this does not.
pub(super) fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    const RULE: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
    ];
    let (middle, half) = (0.5 * from + 0.5 * to, 0.5 * (to - from));
    half * RULE.iter().map(|(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
}
