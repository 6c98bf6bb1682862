//! The hyperbolic tangent, $\tanh x = \frac{m}{m + 2}$ with $m = e^{2|x|} - 1$ computed without
//! cancellation.
//!
//! With $e^{2|x|} = 2^k e^r$ as in the exponential, $m = (2^k - 1) + 2^k (e^r - 1)$: for small
//! $x$ it is $k = 0$ and $m = r + r^2 P(r)$, so that one polynomial serves all $x$.

use super::dispatch::Arithmetic;
use super::exp::{LN2_HIGH, LN2_LOW, ROUND, exp_tail};

/// $\tanh x$ to a few units in the last place, with one division: for networks, whose weights are found by
/// iteration.
#[inline(always)]
pub(crate) fn tanh_near_kernel<A: Arithmetic>(x: f64) -> f64 {
    const BIAS: f64 = ROUND + 1023.0;
    let a = x.abs();
    let double = if a > 22.0 { 44.0 } else { 2.0 * a };
    let shifted = A::mul_add(double, std::f64::consts::LOG2_E, BIAS);
    let k = shifted - BIAS;
    let r = A::mul_add(k, -LN2_LOW, A::mul_add(k, -LN2_HIGH, double));
    let scale = f64::from_bits(shifted.to_bits() << 52);
    // For small x the scale is 1, and nothing is lost.
    let m = A::mul_add(scale, r + exp_tail::<A>(r), scale - 1.0);
    (m / (m + 2.0)).copysign(x)
}

/// $\tanh x$
#[inline(always)]
pub(crate) fn tanh_kernel<A: Arithmetic>(x: f64) -> f64 {
    const BIAS: f64 = ROUND + 1023.0;
    let a = x.abs();
    // tanh is 1 from 19.1; the comparison lets NaN through.
    let double = if a > 22.0 { 44.0 } else { 2.0 * a };
    let shifted = A::mul_add(double, std::f64::consts::LOG2_E, BIAS);
    let k = shifted - BIAS;
    let high = A::mul_add(k, -LN2_HIGH, double);
    let r = A::mul_add(k, -LN2_LOW, high);
    let l = A::mul_add(k, -LN2_LOW, high - r);
    // The larger parts of m are added first and their rounding error kept.
    let scale = f64::from_bits(shifted.to_bits() << 52);
    let p = scale - 1.0;
    let sum = A::mul_add(scale, r, p);
    let low = A::mul_add(scale, r, p - sum);
    let rest = A::mul_add(scale, exp_tail::<A>(r) + l, low);
    // m and m + 2 with what they lost by rounding, which then corrects the quotient.
    let m = sum + rest;
    let m_low = (sum - m) + rest;
    let d = m + 2.0;
    let d_low = m - (d - 2.0) + m_low;
    let quotient = m / d;
    let tanh = A::mul_add(A::mul_add(-quotient, d_low, m_low), 1.0 / d, quotient);
    tanh.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::dispatch::{Kernel, dispatch};

    struct Pair(f64);

    impl Kernel for Pair {
        type Output = [f64; 2];
        fn run<A: Arithmetic>(self) -> [f64; 2] {
            [tanh_near_kernel::<A>(self.0), tanh_kernel::<A>(self.0)]
        }
    }

    /// Where tanh is and where it is flat, both signs, and down to where it is its argument.
    #[test]
    fn the_near_one_is_near() {
        let mut worst = 0.0_f64;
        let arguments = (-200_000..200_000).map(|i| f64::from(i) * 1.1e-4);
        let small = (0..1000).map(|i| 2.0_f64.powf(-f64::from(i) / 3.0));
        for x in arguments.chain(small) {
            let [near, exact] = dispatch(Pair(x));
            if exact != 0.0 {
                worst = worst.max(((near - exact) / exact).abs());
            }
        }
        assert!(worst <= 4.0 * f64::EPSILON, "{worst}");
        for (x, at) in [(0.0, 0.0), (30.0, 1.0), (f64::INFINITY, 1.0), (f64::NEG_INFINITY, -1.0)] {
            assert_eq!(dispatch(Pair(x))[0], at);
        }
        assert!(dispatch(Pair(f64::NAN))[0].is_nan());
    }
}
