//! The inverses of the error function and of its complement, one number at a time.

use super::dispatch::{Arithmetic, Plain};
use super::ln;

/// The $x$ with $\operatorname{erf} x = p$: infinite at $\pm 1$, NaN beyond.
///
/// ```
/// # use errbar::math::{erf, erfinv};
/// assert!((erfinv(erf(0.3)) - 0.3).abs() < 1e-15);
/// ```
#[must_use]
pub fn erfinv(p: f64) -> f64 {
    // The sign is pxfm's but for -0.
    pxfm::f_erfinv(p).copysign(p)
}

/// The $x$ with $\operatorname{erfc} x = q$: infinite at 0, minus infinite at 2, NaN outside.
///
/// It keeps its accuracy down to the smallest $q$, where $\operatorname{erfinv}(1 - q)$ has none
/// left.
///
/// ```
/// # use errbar::math::{erfc, erfcinv};
/// assert!((erfcinv(erfc(20.0)) - 20.0).abs() < 1e-14);
/// ```
#[must_use]
pub fn erfcinv(q: f64) -> f64 {
    let x = pxfm::f_erfcinv(q);
    // Down to about 1e-16 pxfm rounds correctly; from there it slowly loses half of the digits.
    if q > 0.0 && q < 1e-15 { refine(x, q) } else { x }
}

/// One step of Newton's method on $\ln \operatorname{erfc} x = \ln q$, which is almost a parabola:
/// it squares an error of $10^{-8}$, and works as well for subnormal $q$.
fn refine(x: f64, q: f64) -> f64 {
    const HALF_SQRT_PI: f64 = 0.886_226_925_452_758;
    let scaled = pxfm::f_erfcx(x); // e^(x^2) erfc(x)
    let square = x * x;
    let low = Plain::square_residual(x, square);
    // The two large terms cancel without rounding.
    let residual = (ln(scaled) - low) - (ln(q) + square);
    x + residual * scaled * HALF_SQRT_PI
}
