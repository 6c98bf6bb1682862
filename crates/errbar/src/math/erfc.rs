//! The complementary error function, with a small relative error down to the last subnormal number.
//!
//! Between -1/2 and 1/2, $\operatorname{erfc} x = 1 - x - x P(x^2)$. Beyond,
//! $\operatorname{erfc} |x| = e^{-x^2} \frac{Q(t)}{1 + 2 |x|}$ with $t = \frac{|x| - 4}{|x| + 4}$,
//! which holds the whole tail in one polynomial that hardly varies, and
//! $\operatorname{erfc}(-|x|) = 2 - \operatorname{erfc} |x|$.

use super::dispatch::Arithmetic;
use super::exp::ExpMinusSquare;
use super::polynomial::polynomial;

/// $\operatorname{erf}(x)/x - 1$ in $x^2$ up to 1/4, printed by `tools/coefficients.py`.
const SMALL: [f64; 9] = [
    0.12837916709551256,
    -0.37612638903183465,
    0.11283791670924812,
    -0.026866170632715184,
    0.005223977370314709,
    -0.0008548297523262518,
    0.00012053324254985254,
    -1.4845582193401054e-05,
    1.4723199079849021e-06,
];

/// $(1 + 2 x) e^{x^2} \operatorname{erfc} x$ in $t$ from $x = 1/2$ to 28, its constant apart from
/// the rest; printed by `tools/coefficients.py`.
const CONSTANT: f64 = 1.2329951186255526;
const TAIL: [f64; 21] = [
    -0.1396211168405625,
    0.015379652102618914,
    0.0680970542546897,
    -0.10103906603624625,
    0.09373283499847572,
    -0.0663303658137959,
    0.03716751553499919,
    -0.016197734035890282,
    0.005031970005360226,
    -0.0007577734656240434,
    -0.00019925688039504265,
    0.0001506225679618187,
    -2.439839584919025e-05,
    -1.1224924364825194e-05,
    5.707333677646725e-06,
    2.998619893226899e-07,
    -8.207702241009311e-07,
    6.675961364659258e-08,
    1.0430974469674477e-07,
    -1.212644443464942e-08,
    -1.0026278011351859e-08,
];

/// $\operatorname{erfc} x$
#[inline(always)]
pub(crate) fn erfc_kernel<A: Arithmetic>(x: f64) -> f64 {
    let a = x.abs();
    // erfc is 0 from here; the comparison lets NaN through.
    let a = if a > 27.3 { 27.3 } else { a };

    let small = A::mul_add(-x, polynomial::<A, 9>(x * x, SMALL), 1.0 - x);

    let e = ExpMinusSquare::of::<A>(a);
    let t = (a - 4.0) / (a + 4.0);
    // The product of the exponential and Q with the rounding errors of both.
    let rest = t * polynomial::<A, 21>(t, TAIL);
    let q = CONSTANT + rest;
    let q_low = (CONSTANT - q) + rest;
    let low = A::mul_add(e.mantissa, q_low, e.residual * q);
    let product = A::mul_add(e.mantissa, q, low);
    let tail = e.scale(product / A::mul_add(2.0, a, 1.0));
    let large = if x < 0.0 { 2.0 - tail } else { tail };
    if a < 0.5 { small } else { large }
}
