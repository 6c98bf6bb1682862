//! The exponential, and $e^{-x^2}$.
//!
//! $e^x = 2^k e^r$ with $k$ the integer nearest to $x/\ln 2$, so that $|r| \le \frac12 \ln 2$, and
//! $e^r = 1 + r + r^2 P(r)$ with a minimax polynomial. For $e^{-x^2}$ the rounding error of $x^2$,
//! which would be magnified up to 700 times, is computed exactly and folded into $r$.

use super::dispatch::Arithmetic;
use super::polynomial::polynomial;

/// Adding this rounds to an integer, and leaves the integer in the lowest bits: neither needs a
/// conversion between floating point and integers, which AVX2 lacks for 64 bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// ln 2 with its last 21 bits zero, so that its product with $k$ is exact, and the rest.
pub(super) const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
pub(super) const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// $(e^r - 1 - r)/r^2$, printed by `tools/coefficients.py`.
const TAIL: [f64; 10] = [
    0.5000000000000011,
    0.16666666666666413,
    0.041666666666530155,
    0.008333333333494399,
    0.0013888888943631085,
    0.00019841269506688846,
    2.4801493097828538e-05,
    2.755758629088442e-06,
    2.763024879588082e-07,
    2.500008442577437e-08,
];

/// $r^2 P(r) = e^r - 1 - r$
#[inline(always)]
pub(super) fn exp_tail<A: Arithmetic>(r: f64) -> f64 {
    r * r * polynomial::<A, 10>(r, TAIL)
}

/// $e^{r + l}$ for a reduced $r$ and a tiny $l$, as a sum of a large and a small part.
///
/// $1 + r$ is rounded first and its error kept, so that the only rounding that counts is that of
/// the final sum.
#[inline(always)]
fn reduced<A: Arithmetic>(r: f64, l: f64) -> (f64, f64) {
    let high = 1.0 + r;
    let low = (1.0 - high) + r;
    (high, exp_tail::<A>(r) + (low + l))
}

/// $e^x$; 0 below the last subnormal number, infinity above the largest finite one.
#[inline(always)]
pub(crate) fn exp_kernel<A: Arithmetic>(x: f64) -> f64 {
    const BIAS: f64 = ROUND + 2046.0;
    // Comparisons in this order let NaN through.
    let x = if x < -746.0 { -746.0 } else { x };
    let x = if x > 710.0 { 710.0 } else { x };
    let shifted = A::mul_add(x, std::f64::consts::LOG2_E, BIAS);
    let k = shifted - BIAS;
    let high = A::mul_add(k, -LN2_HIGH, x);
    let r = A::mul_add(k, -LN2_LOW, high);
    let l = A::mul_add(k, -LN2_LOW, high - r);
    // 2^k in two factors, since k may be beyond the exponents of normal numbers.
    let n = shifted.to_bits() & 0xfff;
    let half = n >> 1;
    let scale = |n: u64| f64::from_bits(n << 52);
    let (high, low) = reduced::<A>(r, l);
    (high + low) * scale(half) * scale(n - half)
}

/// $e^{-x^2}$ as a mantissa between 0.7 and 1.5 and a power of two, to be joined by
/// [`ExpMinusSquare::scale`].
#[derive(Clone, Copy)]
pub(super) struct ExpMinusSquare {
    pub(super) mantissa: f64,
    /// What the mantissa lost by rounding.
    pub(super) residual: f64,
    power: f64,
}

impl ExpMinusSquare {
    /// For $0 \le x \le 27.3$, or NaN.
    #[inline(always)]
    pub(super) fn of<A: Arithmetic>(x: f64) -> Self {
        const BIAS: f64 = ROUND + (1023 + 64) as f64;
        let square = x * x;
        let residual = A::square_residual(x, square);
        let shifted = A::mul_add(square, -std::f64::consts::LOG2_E, BIAS);
        let k = shifted - BIAS;
        let high = A::mul_add(k, -LN2_HIGH, -square);
        let low = A::mul_add(k, -LN2_LOW, -residual);
        let r = high + low;
        let l = (high - r) + low;
        let (high, low) = reduced::<A>(r, l);
        let mantissa = high + low;
        ExpMinusSquare {
            mantissa,
            residual: (high - mantissa) + low,
            power: f64::from_bits(shifted.to_bits() << 52),
        }
    }

    /// `factor` times the power of two. The power is kept 2^64 times too large, so that it is a
    /// normal number and a subnormal result is rounded once.
    #[inline(always)]
    pub(super) fn scale(self, factor: f64) -> f64 {
        const TWO_TO_MINUS_64: f64 = 1.0 / 18_446_744_073_709_551_616.0;
        factor * self.power * TWO_TO_MINUS_64
    }
}
