//! The elementary functions against 60-digit references, at every level the processor has.

use std::sync::OnceLock;

use errbar::math::{
    Function, Level, erf, erf_exp_slice_at, erf_slice, erfc, erfc_slice, erfcinv, erfinv, exp,
    exp_slice, ln, ln_slice, slice_at, tanh, tanh_slice,
};
use proptest::prelude::*;

/// One row of `math_vectors.csv`, which `tools/math_vectors.py` writes.
struct Vector {
    function: &'static str,
    x: f64,
    /// The nearest double.
    reference: f64,
    /// What it lacks to the exact value, in ulp.
    residual: f64,
}

impl Vector {
    /// The distance of `value` from the exact value, in units in the last place of the reference.
    fn error(&self, value: f64) -> f64 {
        ((value - self.reference) / ulp(self.reference) - self.residual).abs()
    }
}

fn ulp(x: f64) -> f64 {
    let x = x.abs();
    f64::from_bits(x.to_bits() + 1) - x
}

fn vectors(function: &str) -> impl Iterator<Item = &'static Vector> {
    static VECTORS: OnceLock<Vec<Vector>> = OnceLock::new();
    let all = VECTORS.get_or_init(|| {
        let number = |hex| f64::from_bits(u64::from_str_radix(hex, 16).expect("16 digits"));
        include_str!("math_vectors.csv")
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<&'static str> = line.split(',').collect();
                Vector {
                    function: cells[0],
                    x: number(cells[1]),
                    reference: number(cells[2]),
                    residual: cells[3].parse().expect("a number"),
                }
            })
            .collect()
    });
    all.iter().filter(move |v| v.function == function)
}

/// Each function with a bound on its error in ulp, slightly above the largest error found that the
/// documentation of `errbar::math` states: with fused multiply-add and without.
const BOUNDS: [(Function, &str, f64, f64); 6] = [
    (Function::Exp, "exp", 0.80, 0.80),
    (Function::Ln, "ln", 0.88, 0.88),
    (Function::Erf, "erf", 0.98, 1.15),
    (Function::ExpMinusSquare, "exp_minus_square", 0.80, 0.80),
    (Function::Erfc, "erfc", 2.80, 3.20),
    (Function::Tanh, "tanh", 1.40, 1.40),
];

/// At one number, through the code that a slice of several vectors takes.
fn at(level: Level, function: Function, x: f64) -> f64 {
    let mut out = [0.0; 16];
    slice_at(level, function, &[x; 16], &mut out);
    out[0]
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

/// To two decimals, never below the value: what the documentation states.
fn rounded_up(error: f64) -> f64 {
    (100.0 * error).ceil() / 100.0
}

#[test]
fn errors_are_close_to_the_documented_ones() {
    for level in Level::available() {
        for (function, name, fused, plain) in BOUNDS {
            let bound = if level.is_fused() { fused } else { plain };
            let x: Vec<f64> = vectors(name).map(|v| v.x).collect();
            let mut out = vec![0.0; x.len()];
            slice_at(level, function, &x, &mut out);
            assert!(x.len() > 500, "{name} has only {} vectors", x.len());
            let mut largest = 0f64;
            for (vector, value) in vectors(name).zip(out) {
                let error = vector.error(value);
                assert!(
                    error <= bound,
                    "{level:?} {name}({:e}) = {value:e}: {error:.3} ulp from {:e}",
                    vector.x,
                    vector.reference
                );
                largest = largest.max(error);
            }
            println!("{level:?} {name}: at most {:.2} ulp", rounded_up(largest));
        }
    }
}

#[test]
fn inverse_functions_round_to_a_neighbour() {
    for (name, function) in [("erfinv", erfinv as fn(f64) -> f64), ("erfcinv", erfcinv)] {
        let mut largest = 0f64;
        for vector in vectors(name) {
            let value = function(vector.x);
            let error = vector.error(value);
            assert!(error <= 1.0, "{name}({:e}) = {value:e}: {error:.3} ulp", vector.x);
            largest = largest.max(error);
        }
        println!("{name}: at most {:.2} ulp", rounded_up(largest));
    }
}

#[test]
fn special_values() {
    const INF: f64 = f64::INFINITY;
    let cases = [
        (Function::Exp, 0.0, 1.0),
        (Function::Exp, -0.0, 1.0),
        (Function::Exp, INF, INF),
        (Function::Exp, -INF, 0.0),
        (Function::Exp, 709.782_712_893_384_1, INF),
        (Function::Exp, f64::MAX, INF),
        (Function::Exp, -745.2, 0.0),
        (Function::Exp, -f64::MAX, 0.0),
        (Function::Ln, 1.0, 0.0),
        (Function::Ln, 0.0, -INF),
        (Function::Ln, -0.0, -INF),
        (Function::Ln, INF, INF),
        (Function::Erf, 0.0, 0.0),
        (Function::Erf, -0.0, -0.0),
        (Function::Erf, INF, 1.0),
        (Function::Erf, -INF, -1.0),
        (Function::ExpMinusSquare, 0.0, 1.0),
        (Function::ExpMinusSquare, -0.0, 1.0),
        (Function::ExpMinusSquare, INF, 0.0),
        (Function::ExpMinusSquare, -INF, 0.0),
        (Function::Erfc, 0.0, 1.0),
        (Function::Erfc, -0.0, 1.0),
        (Function::Erfc, INF, 0.0),
        (Function::Erfc, -INF, 2.0),
        (Function::Tanh, 0.0, 0.0),
        (Function::Tanh, -0.0, -0.0),
        (Function::Tanh, INF, 1.0),
        (Function::Tanh, -INF, -1.0),
    ];
    for level in Level::available() {
        for (function, x, expected) in cases {
            let value = at(level, function, x);
            assert!(same(value, expected), "{level:?} {function:?}({x:e}) = {value:e}");
        }
        for x in [-INF, -1.0, -f64::MIN_POSITIVE, -5e-324] {
            assert!(at(level, Function::Ln, x).is_nan(), "{level:?} ln({x:e})");
        }
        // Quiet NaN with and without sign, and one with all bits set.
        for x in [f64::NAN, -f64::NAN, f64::from_bits(u64::MAX)] {
            for (function, ..) in BOUNDS {
                assert!(at(level, function, x).is_nan(), "{level:?} {function:?}(NaN)");
            }
        }
    }
}

#[test]
fn special_values_of_the_inverse_functions() {
    assert!(same(erfinv(0.0), 0.0) && same(erfinv(-0.0), -0.0));
    assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
    assert_eq!((erfcinv(0.0), erfcinv(1.0), erfcinv(2.0)), (f64::INFINITY, 0.0, f64::NEG_INFINITY));
    for p in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5, 1.0 + f64::EPSILON] {
        assert!(erfinv(p).is_nan(), "erfinv({p})");
    }
    for q in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -5e-324, 2.0 + 2.0 * f64::EPSILON] {
        assert!(erfcinv(q).is_nan(), "erfcinv({q})");
    }
}

/// Numbers of every kind: a sweep of the sizes at which the functions vary, then arbitrary bits.
fn assorted() -> Vec<f64> {
    let mut state = 1_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    (0..30_000)
        .map(|i| match i % 4 {
            0 => f64::from_bits(random()),
            1 => random() as i64 as f64 / 2_f64.powi(63),
            2 => random() as i64 as f64 / 2_f64.powi(58),
            _ => random() as i64 as f64 / 2_f64.powi(53),
        })
        .collect()
}

#[test]
fn fused_levels_agree_to_the_last_bit() {
    let levels: Vec<Level> = Level::available().into_iter().filter(|l| l.is_fused()).collect();
    let x = assorted();
    for (function, ..) in BOUNDS {
        let results: Vec<Vec<f64>> = levels
            .iter()
            .map(|&level| {
                let mut out = vec![0.0; x.len()];
                slice_at(level, function, &x, &mut out);
                out
            })
            .collect();
        for pair in results.windows(2) {
            for ((&x, &a), &b) in x.iter().zip(&pair[0]).zip(&pair[1]) {
                assert!(
                    same(a, b) || (a.is_nan() && b.is_nan()),
                    "{function:?}({x:e}): {a:e}, {b:e}"
                );
            }
        }
    }
}

#[test]
fn both_results_of_the_shared_kernel_are_those_of_the_single_functions() {
    let x = assorted();
    let (mut both_erf, mut both_exp) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let mut single = vec![0.0; x.len()];
    for level in Level::available() {
        erf_exp_slice_at(level, &x, &mut both_erf, &mut both_exp);
        for (function, both) in [(Function::Erf, &both_erf), (Function::ExpMinusSquare, &both_exp)]
        {
            slice_at(level, function, &x, &mut single);
            for ((&x, &a), &b) in x.iter().zip(both).zip(&single) {
                assert!(same(a, b) || (a.is_nan() && b.is_nan()), "{level:?} {function:?}({x:e})");
            }
        }
    }
}

type Scalar = fn(f64) -> f64;
type Slice = fn(&[f64], &mut [f64]);

const PAIRS: [(Scalar, Slice); 5] =
    [(exp, exp_slice), (ln, ln_slice), (erf, erf_slice), (erfc, erfc_slice), (tanh, tanh_slice)];

#[test]
fn slices_of_any_length_have_the_bits_of_the_scalar_functions() {
    let all: Vec<f64> = assorted().into_iter().filter(|x| !x.is_nan()).collect();
    for (scalar, slice) in PAIRS {
        for length in 0..40 {
            let x = &all[length * 40..][..length];
            let mut out = vec![0.0; length];
            slice(x, &mut out);
            for (&x, &value) in x.iter().zip(&out) {
                let expected = scalar(x);
                assert!(same(value, expected) || (value.is_nan() && expected.is_nan()), "{x:e}");
            }
        }
    }
}

#[test]
fn slices_of_different_lengths_are_refused() {
    for (_, slice) in PAIRS {
        let refused = std::panic::catch_unwind(|| slice(&[1.0, 2.0], &mut [0.0]));
        assert!(refused.is_err());
    }
}

proptest! {
    #[test]
    fn odd_functions_are_odd_and_the_bell_is_even(any in any::<f64>(), x in -4.0..4.0_f64) {
        for level in Level::available() {
            for x in [any, x].into_iter().filter(|x| !x.is_nan()) {
                let [plus, minus] = [x, -x].map(|x| {
                    [Function::Erf, Function::Tanh, Function::ExpMinusSquare]
                        .map(|function| at(level, function, x))
                });
                prop_assert!(same(minus[0], -plus[0]), "erf {x:e}");
                prop_assert!(same(minus[1], -plus[1]), "tanh {x:e}");
                prop_assert!(same(minus[2], plus[2]), "exp(-x^2) {x:e}");
            }
        }
    }

    #[test]
    fn functions_stay_in_their_ranges(any in any::<f64>(), x in -40.0..40.0_f64) {
        for level in Level::available() {
            for x in [any, x].into_iter().filter(|x| !x.is_nan()) {
                prop_assert!((0.0..=f64::INFINITY).contains(&at(level, Function::Exp, x)));
                prop_assert!((0.0..=1.0).contains(&at(level, Function::ExpMinusSquare, x)));
                prop_assert!((-1.0..=1.0).contains(&at(level, Function::Erf, x)));
                prop_assert!((-1.0..=1.0).contains(&at(level, Function::Tanh, x)));
                prop_assert!((0.0..=2.0).contains(&at(level, Function::Erfc, x)));
            }
        }
    }

    /// A step of 16 ulp is larger than the errors, wherever the function has a slope.
    #[test]
    fn functions_are_monotone(x in -30.0..30.0_f64, exponent in -700.0..700.0_f64) {
        for level in Level::available() {
            for low in [x, exponent.exp(), -exponent.exp()] {
                let high = low + 16.0 * ulp(low);
                let rises = |f, low, high| at(level, f, low) <= at(level, f, high);
                prop_assert!(rises(Function::Exp, low, high), "exp {low:e}");
                prop_assert!(rises(Function::Erf, low, high), "erf {low:e}");
                prop_assert!(rises(Function::Tanh, low, high), "tanh {low:e}");
                prop_assert!(rises(Function::Erfc, high, low), "erfc {low:e}");
                prop_assert!(low < 0.0 || rises(Function::Ln, low, high), "ln {low:e}");
            }
        }
    }

    #[test]
    fn erf_and_erfc_add_up_to_one(x in -7.0..7.0_f64) {
        for level in Level::available() {
            let sum = at(level, Function::Erf, x) + at(level, Function::Erfc, x);
            prop_assert!((sum - 1.0).abs() <= 2.0 * f64::EPSILON, "{x}: {sum}");
        }
    }

    /// The relative error of exp becomes an absolute one of its logarithm.
    #[test]
    fn ln_undoes_exp(x in -700.0..700.0_f64) {
        prop_assert!((ln(exp(x)) - x).abs() <= 1.5 * ulp(x) + f64::EPSILON);
    }

    /// The error of erf becomes one of x through its slope, 2/sqrt(pi) e^(-x^2).
    #[test]
    fn erfinv_undoes_erf(x in -5.5..5.5_f64) {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        let p = erf(x);
        prop_assert!((erfinv(p) - x).abs() <= 2.0 * ulp(p) / slope + 2.0 * ulp(x));
    }

    #[test]
    fn erfcinv_undoes_erfc(x in -5.5..26.5_f64) {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        let q = erfc(x);
        prop_assert!((erfcinv(q) - x).abs() <= 4.0 * ulp(q) / slope + 2.0 * ulp(x));
    }
}
