//! The kernels as functions of one number and of a slice.

use std::marker::PhantomData;

use super::dispatch::{Arithmetic, Kernel, Level, dispatch, dispatch_at};
use super::{erf_exp_kernel, erfc_kernel, exp_kernel, ln_kernel, tanh_kernel};

/// A function of one number.
trait Element {
    fn value<A: Arithmetic>(x: f64) -> f64;
}

/// An [`Element`] at one number.
struct One<E>(f64, PhantomData<E>);

impl<E: Element> Kernel for One<E> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        E::value::<A>(self.0)
    }
}

/// An [`Element`] at each number of a slice.
struct Each<'a, E> {
    x: &'a [f64],
    out: &'a mut [f64],
    element: PhantomData<E>,
}

impl<E: Element> Kernel for Each<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = E::value::<A>(x);
        }
    }
}

fn each<'a, E: Element>(x: &'a [f64], out: &'a mut [f64]) -> Each<'a, E> {
    assert_eq!(x.len(), out.len(), "the input and the output have different lengths");
    Each { x, out, element: PhantomData }
}

macro_rules! functions {
    ($($element:ident, $scalar:ident, $slice:ident, $kernel:expr, $what:literal;)*) => {
        $(
            struct $element;

            impl Element for $element {
                #[inline(always)]
                fn value<A: Arithmetic>(x: f64) -> f64 {
                    $kernel(x)
                }
            }

            #[doc = $what]
            #[must_use]
            pub fn $scalar(x: f64) -> f64 {
                dispatch(One::<$element>(x, PhantomData))
            }

            #[doc = $what]
            ///
            /// The function of each number of a slice, with the same bits as the function of one
            /// number.
            ///
            /// # Panics
            /// If the two slices differ in length.
            pub fn $slice(x: &[f64], out: &mut [f64]) {
                dispatch(each::<$element>(x, out));
            }
        )*
    };
}

functions! {
    Exp, exp, exp_slice, exp_kernel::<A>, r"$e^x$";
    Ln, ln, ln_slice, ln_kernel::<A>, r"$\ln x$: minus infinity at 0, NaN below.";
    Erf, erf, erf_slice, |x| erf_exp_kernel::<A>(x).0,
        r"$\operatorname{erf} x = \frac{2}{\sqrt\pi} \int_0^x e^{-s^2} ds$, the error function.";
    Erfc, erfc, erfc_slice, erfc_kernel::<A>,
        r"$\operatorname{erfc} x = 1 - \operatorname{erf} x$, accurate in its whole tail.";
    Tanh, tanh, tanh_slice, tanh_kernel::<A>, r"$\tanh x$";
}

struct ExpMinusSquare;

impl Element for ExpMinusSquare {
    #[inline(always)]
    fn value<A: Arithmetic>(x: f64) -> f64 {
        erf_exp_kernel::<A>(x).1
    }
}

/// The functions by name, for the tests only.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Exp,
    Ln,
    Erf,
    /// $e^{-x^2}$, the second result of the kernel of erf.
    ExpMinusSquare,
    Erfc,
    Tanh,
}

/// A function of each number at a given level, for the tests only.
///
/// # Panics
/// If the two slices differ in length.
#[doc(hidden)]
pub fn slice_at(level: Level, function: Function, x: &[f64], out: &mut [f64]) {
    match function {
        Function::Exp => dispatch_at(level, each::<Exp>(x, out)),
        Function::Ln => dispatch_at(level, each::<Ln>(x, out)),
        Function::Erf => dispatch_at(level, each::<Erf>(x, out)),
        Function::ExpMinusSquare => dispatch_at(level, each::<ExpMinusSquare>(x, out)),
        Function::Erfc => dispatch_at(level, each::<Erfc>(x, out)),
        Function::Tanh => dispatch_at(level, each::<Tanh>(x, out)),
    }
}

/// The kernel of erf with both its results, for the tests only.
#[doc(hidden)]
pub fn erf_exp_slice_at(level: Level, x: &[f64], erf: &mut [f64], exp: &mut [f64]) {
    struct Both<'a>(&'a [f64], &'a mut [f64], &'a mut [f64]);

    impl Kernel for Both<'_> {
        type Output = ();

        #[inline(always)]
        fn run<A: Arithmetic>(self) {
            for ((&x, erf), exp) in self.0.iter().zip(self.1).zip(self.2) {
                (*erf, *exp) = erf_exp_kernel::<A>(x);
            }
        }
    }

    dispatch_at(level, Both(x, erf, exp));
}
