//! The natural logarithm.
//!
//! $x = 2^k (1 + f)$ with $\sqrt{1/2} \le 1 + f < \sqrt 2$ and, with $s = f/(2 + f)$,
//! $\ln(1 + f) = 2 \operatorname{artanh} s = f - (\tfrac12 f^2 - s (\tfrac12 f^2 + s^2 P(s^2)))$,
//! the arrangement of fdlibm's `log`, in which $f$ is exact and all the rest is small.

use super::dispatch::Arithmetic;
use super::exp::{LN2_HIGH, LN2_LOW};
use super::polynomial::polynomial;

/// $(2 \operatorname{artanh} s - 2 s)/s^3$ in $s^2$, printed by `tools/coefficients.py`.
const TAIL: [f64; 7] = [
    0.6666666666666734,
    0.39999999999414343,
    0.28571428742471283,
    0.22222198563743284,
    0.18183564858533457,
    0.15314035917812444,
    0.14796105779095006,
];

/// $\ln x$; minus infinity at 0, NaN below.
#[inline(always)]
pub(crate) fn ln_kernel<A: Arithmetic>(x: f64) -> f64 {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;

    let subnormal = x < f64::MIN_POSITIVE;
    let scaled = if subnormal { x * TWO_TO_52 } else { x };
    let bias = if subnormal { TWO_TO_52 + 1023.0 + 52.0 } else { TWO_TO_52 + 1023.0 };
    let bits = scaled.to_bits().wrapping_add(ONE - SQRT_HALF);
    // The exponent becomes the lowest bits of a number near 2^52.
    let k = f64::from_bits((bits >> 52) | TWO_TO_52.to_bits()) - bias;
    let f = f64::from_bits((bits & FRACTION) + SQRT_HALF) - 1.0;

    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let inner = A::mul_add(z, polynomial::<A, 7>(z, TAIL), half);
    let small = half - A::mul_add(s, inner, k * LN2_LOW);
    let ln = A::mul_add(k, LN2_HIGH, f - small);

    // Infinity and NaN give themselves, 0 minus infinity, the negative numbers NaN.
    let ln = if x < f64::INFINITY { ln } else { x };
    let ln = if x > 0.0 { ln } else { f64::NEG_INFINITY };
    if x < 0.0 || x.is_nan() { f64::NAN } else { ln }
}
