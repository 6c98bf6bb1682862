//! The error function together with $e^{-x^2}$: the normal distribution and its density.
//!
//! Below 1, $\operatorname{erf} x = x + x P(x^2 - \tfrac12)$; above,
//! $\operatorname{erf} x = 1 - e^{-x^2} Q(t)$ with $t = \frac{x - 2.5}{x + 3}$, a map that makes
//! $e^{x^2} \operatorname{erfc} x$ close to a polynomial. Both are always computed and one is
//! selected, which is faster than a branch that the data decide. The shift by
//! $\tfrac12$ keeps the terms of $P$ small, and so their rounding errors.

use super::dispatch::Arithmetic;
use super::exp::ExpMinusSquare;
use super::polynomial::polynomial;

/// $\operatorname{erf}(x)/x - 1$ in $x^2 - 1/2$ up to $x = 1$, printed by `tools/coefficients.py`.
const SMALL: [f64; 12] = [
    -0.0345312613301327,
    -0.2810721780454343,
    0.07940998675593686,
    -0.01828388448915131,
    0.003480274496570732,
    -0.000561189422151786,
    7.829649687735733e-05,
    -9.61480835920806e-06,
    1.0536324135622242e-06,
    -1.0420500613298063e-07,
    9.432272957486954e-09,
    -7.77944891324782e-10,
];

/// $e^{x^2} \operatorname{erfc} x$ in $t$ from $x = 1$, printed by `tools/coefficients.py`.
const LARGE: [f64; 12] = [
    0.21080636406114311,
    -0.4089104073437115,
    0.3454640045325869,
    -0.23142268953556466,
    0.11792238557913806,
    -0.04105646689388908,
    0.006200418504760584,
    0.0021137920002532967,
    -0.001217866796370401,
    -2.2258081275514235e-05,
    0.0002098071957829503,
    3.977399568190343e-05,
];

/// $(\operatorname{erf} x, e^{-x^2})$, sharing the exponential.
#[inline(always)]
pub(crate) fn erf_exp_kernel<A: Arithmetic>(x: f64) -> (f64, f64) {
    let a = x.abs();
    // e^(-x^2) is 0 from here; the comparison lets NaN through.
    let a = if a > 27.3 { 27.3 } else { a };
    let e = ExpMinusSquare::of::<A>(a);
    let exponential = e.scale(e.mantissa);

    let small = A::mul_add(a, polynomial::<A, 12>(A::mul_add(a, a, -0.5), SMALL), a);
    let t = (a - 2.5) / (a + 3.0);
    let large = A::mul_add(-exponential, polynomial::<A, 12>(t, LARGE), 1.0);
    let erf = if a < 1.0 { small } else { large };
    (erf.copysign(x), exponential)
}
