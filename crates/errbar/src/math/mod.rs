//! Elementary functions, fast on slices: $e^x$, $\ln x$, $\operatorname{erf} x$,
//! $\operatorname{erfc} x$, $\tanh x$, and the inverses of the error functions; and quantiles of values.
//!
//! A score evaluates an error function and an exponential for every error, a network a hyperbolic
//! tangent for every neuron: that is where the time goes. The C library computes them one number at
//! a time, through branches that depend on the data. Here each is a straight line of arithmetic,
//! with selections in place of branches, so that the compiler turns a loop over a slice into vector
//! instructions: eight numbers at a time with AVX-512, four with AVX2, two elsewhere. Which one is
//! found out when the program runs; a program built for any x86-64 uses what the processor has.
//!
//! ```
//! let x = [-1.0, 0.0, 0.5, f64::INFINITY];
//! let mut y = [0.0; 4];
//! errbar::math::erf_slice(&x, &mut y);
//! assert_eq!(y[0], errbar::math::erf(-1.0));
//! assert_eq!(y[3], 1.0);
//! ```
//!
//! # Accuracy
//!
//! The largest error found, in units in the last place (half a unit is the least possible):
//!
//! | function | with fused multiply-add | without |
//! |---|---|---|
//! | [`exp()`] | 0.77 | 0.77 |
//! | [`ln()`] | 0.84 | 0.86 |
//! | [`erf()`] | 0.95 | 1.12 |
//! | $e^{-x^2}$, the companion of erf | 0.77 | 0.77 |
//! | [`erfc()`] | 2.72 | 3.11 |
//! | [`tanh()`] | 1.38 | 1.38 |
//! | [`erfinv`] | 0.89 | 0.89 |
//! | [`erfcinv`] | 0.92 | 0.92 |
//!
//! Measured against MPFR at over a million random points for each function (some ten thousand for
//! the inverses), spread over the whole range and then crowded where the errors are largest. The
//! worst of them are among the reference values of the tests, which hold every function to a bound
//! slightly above these numbers. Results in the subnormal range are included, where a unit is
//! $2^{-1074}$. Infinities, signed zeros and NaN are as in the C standard.
//!
//! # The same bits
//!
//! A number gives the same bits alone, at any place of a slice, and at every level that has fused
//! multiply-add (AVX-512, AVX2 with FMA, aarch64). The plain x86-64 level may differ in the last
//! places.

pub(crate) mod cholesky;
pub(crate) mod dispatch;
mod erf;
mod erfc;
mod exp;
mod inverse;
pub(crate) mod linear;
mod ln;
mod polynomial;
mod quantile;
mod slices;
mod tanh;

pub(crate) use dispatch::{Arithmetic, Kernel, dispatch};
pub(crate) use erf::erf_exp_kernel;
pub(crate) use erfc::erfc_kernel;
pub(crate) use exp::exp_kernel;
pub(crate) use ln::ln_kernel;
pub(crate) use polynomial::polynomial;
pub(crate) use tanh::{tanh_kernel, tanh_near_kernel};

pub use inverse::{erfcinv, erfinv};
pub use quantile::{at_place, quantile};
pub use slices::{
    erf, erf_slice, erfc, erfc_slice, exp, exp_slice, ln, ln_slice, tanh, tanh_slice,
};

#[doc(hidden)]
pub use dispatch::Level;
#[doc(hidden)]
pub use slices::{Function, erf_exp_slice_at, slice_at};
