//! Evaluation of a polynomial, constant coefficient first.

use super::dispatch::Arithmetic;

/// Horner's rule on the even and the odd coefficients apart: two chains of half the length hide the
/// latency of the additions, at the price of one multiplication.
#[inline(always)]
pub(crate) fn polynomial<A: Arithmetic, const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let square = x * x;
    let (mut last, mut other) = (coefficients[N - 1], coefficients[N - 2]);
    let mut i = N - 2;
    // `last` belongs to the power N - 1, `other` to the power N - 2.
    while i >= 2 {
        last = A::mul_add(last, square, coefficients[i - 1]);
        other = A::mul_add(other, square, coefficients[i - 2]);
        i -= 2;
    }
    if i == 1 {
        last = A::mul_add(last, square, coefficients[0]);
        A::mul_add(other, x, last)
    } else {
        A::mul_add(last, x, other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch::Plain;
    use super::*;

    #[test]
    fn the_powers_are_in_their_places() {
        // Small integers: no rounding.
        assert_eq!(polynomial::<Plain, 2>(10.0, [1.0, 2.0]), 21.0);
        assert_eq!(polynomial::<Plain, 3>(10.0, [1.0, 2.0, 3.0]), 321.0);
        assert_eq!(polynomial::<Plain, 4>(10.0, [1.0, 2.0, 3.0, 4.0]), 4321.0);
        assert_eq!(polynomial::<Plain, 7>(10.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), 7_654_321.0);
    }
}
