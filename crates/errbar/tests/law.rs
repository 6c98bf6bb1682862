//! Laws against quadrature with 40 digits (`tools/law_vectors.py`), finite differences and themselves seen
//! in a mirror.

use std::collections::BTreeMap;

use errbar::law::{AccuracyReliability, Base, Bounds, Gradient, Law, Laws, LogNormal};
use errbar::loss::LossKind;
use errbar::score::{self, Beta};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The rows of `law_vectors.csv` of one kind: the law and the numbers that follow.
fn vectors(kind: &str) -> Vec<(Law, Vec<f64>)> {
    include_str!("law_vectors.csv")
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix(','))
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let numbers: Vec<f64> =
                cells[1..].iter().map(|cell| cell.parse().expect("a number")).collect();
            let base = match cells[0] {
                "logistic" => Base::Logistic,
                "laplace" => Base::Laplace,
                "t" => Base::StudentT { nu: numbers[0] },
                _ => Base::Normal,
            };
            (Law::new(base, numbers[1], numbers[2], numbers[3]), numbers[4..].to_vec())
        })
        .collect()
}

/// The largest relative errors by what was compared, which are printed, and held to a bound.
#[derive(Default)]
struct Worst(BTreeMap<&'static str, (f64, String)>);

impl Worst {
    fn compare(
        &mut self,
        what: &'static str,
        own: f64,
        reference: f64,
        case: impl std::fmt::Debug,
    ) {
        if reference.is_nan() {
            return;
        }
        // Subnormal numbers have fewer digits.
        let error = match own == reference {
            true => 0.0,
            false => (own - reference).abs() / (reference.abs() + 1e-290),
        };
        let worst = self.0.entry(what).or_default();
        if error >= worst.0 || error.is_nan() {
            *worst = (error, format!("{case:?}: {own:e} for {reference:e}"));
        }
    }

    fn hold(self, bounds: &[(&str, f64)]) {
        for (what, (error, case)) in &self.0 {
            println!("{what}: {error:.1e} at {case}");
        }
        assert_eq!(self.0.len(), bounds.len());
        for (what, bound) in bounds {
            let (error, case) = &self.0[what];
            assert!(error <= bound, "{what}: {error:e} at {case}");
        }
    }
}

#[test]
fn points_are_those_of_quadrature() {
    let mut worst = Worst::default();
    let rows = vectors("point");
    assert_eq!(rows.len(), 297);
    for (law, n) in rows {
        let y = n[0];
        let case = (law, y);
        worst.compare("cdf", law.cdf(y), n[1], case);
        worst.compare("exceed", law.exceed(y), n[2], case);
        worst.compare("log cdf", law.log_cdf(y), n[3], case);
        worst.compare("log exceed", law.log_exceed(y), n[4], case);
        worst.compare("log density", law.log_density(y), n[5], case);
        worst.compare("density", law.density(y), n[5].exp(), case);
        worst.compare("crps", law.crps(y), n[6], case);
        // Where the quantile passes 0 its absolute error counts.
        let quantile = law.gaussian_quantile_of(y);
        let one = 1_f64.copysign(n[7]);
        worst.compare("gaussian quantile", one + quantile, one + n[7], case);
        let (cdf, dcdf) = law.cdf_and_gradient(y);
        assert_eq!(cdf, law.cdf(y));
        worst.compare("dcdf/dnu", dcdf.shape, n[8], case);
        let (crps, dcrps) = law.crps_and_gradient(y);
        assert_eq!(crps, law.crps(y));
        worst.compare("dcrps/dnu", dcrps.shape, n[9], case);
    }
    worst.hold(&[
        ("cdf", 1e-13),
        ("exceed", 1e-13),
        ("log cdf", 1e-13),
        ("log exceed", 1e-13),
        ("log density", 1e-13),
        // The exponential of a reference rounds its last place, which counts 700 times.
        ("density", 4e-13),
        ("crps", 1e-13),
        ("gaussian quantile", 1e-14),
        ("dcdf/dnu", 1e-10),
        ("dcrps/dnu", 1e-10),
    ]);
}

#[test]
fn moments_are_those_of_quadrature() {
    let mut worst = Worst::default();
    for (law, n) in vectors("moments") {
        worst.compare("mean", 10.0 + law.mean(), 10.0 + n[0], law);
        worst.compare("variance", law.variance(), n[1], law);
        assert!(n[1].is_finite() || law.variance() == f64::INFINITY);
        worst.compare("standard deviation", law.standard_deviation(), n[1].sqrt(), law);
        // Also where squares are no numbers.
        for unit in [1e-200, 1e200] {
            let law = Law { left: unit * law.left, right: unit * law.right, ..law };
            worst.compare("standard deviation", law.standard_deviation() / unit, n[1].sqrt(), law);
        }
        // An anchor that is not the mode.
        assert!((law.with_mean(7.0).mean() - 7.0).abs() < 1e-14);
        assert!((law.with_median(7.0).cdf(7.0) - 0.5).abs() < 1e-14);
    }
    worst.hold(&[("mean", 1e-14), ("variance", 1e-13), ("standard deviation", 1e-13)]);
}

#[test]
fn integrals_are_those_of_quadrature() {
    let mut worst = Worst::default();
    for (law, n) in vectors("integrals") {
        let case = (law.base, n[0]);
        worst.compare("integral", law.base.integral(n[0]), n[1], case);
        worst.compare("squares", law.base.squares(n[0]), n[2], case);
    }
    worst.hold(&[("integral", 1e-13), ("squares", 1e-13)]);
}

fn between(lower: f64, upper: f64) -> Bounds {
    Bounds::new(Some(lower), Some(upper)).expect("ordered")
}

#[test]
fn censored_scores_are_those_of_quadrature() {
    let mut worst = Worst::default();
    let rows = vectors("censored");
    assert_eq!(rows.len(), 315);
    for (law, n) in rows {
        let censored = law.within(between(n[0], n[1]));
        worst.compare("crps", censored.crps(n[2]), n[3], (law, &n));
        worst.compare("log score", censored.log_score(n[2]), n[4], (law, &n));
    }
    worst.hold(&[("crps", 1e-13), ("log score", 1e-13)]);
}

#[test]
fn log_normal_scores_are_those_of_quadrature() {
    let mut worst = Worst::default();
    for (law, n) in vectors("log_normal") {
        let law = LogNormal { mu: law.location, sigma: law.left };
        let y = n[0];
        worst.compare("cdf", law.cdf(y), n[1], (law, y));
        worst.compare("exceed", law.exceed(y), n[2], (law, y));
        worst.compare("log score", law.log_score(y), n[3], (law, y));
        worst.compare("crps", law.crps(y), n[4], (law, y));
        let (p, q) = (law.cdf(y), law.exceed(y));
        for (p, inverse) in [(p, law.quantile(p)), (q, law.upper_quantile(q))] {
            // Digits of a probability near 1 or 0 are few.
            assert!(!(1e-300..0.9).contains(&p) || (inverse / y - 1.0).abs() < 1e-13);
        }
    }
    // The rounding of ln y - mu over a sigma of 0.001.
    worst.hold(&[("cdf", 2e-13), ("exceed", 2e-13), ("log score", 1e-13), ("crps", 2e-13)]);
}

const BASES: [Base; 7] = [
    Base::Normal,
    Base::Logistic,
    Base::Laplace,
    Base::StudentT { nu: 1.5 },
    Base::StudentT { nu: 4.0 },
    Base::StudentT { nu: 60.0 },
    Base::StudentT { nu: f64::INFINITY },
];

fn laws() -> impl Iterator<Item = Law> + Clone {
    BASES.into_iter().flat_map(|base| {
        [(0.0, 1.0, 1.0), (2.0, 0.5, 3.0), (-1.0, 4.0, 0.25)]
            .map(|(location, left, right)| Law::new(base, location, left, right))
    })
}

/// Errors of all sizes on both sides.
const ERRORS: [f64; 10] = [-40.0, -7.0, -1.9, -0.6, -0.01, 0.02, 0.5, 1.7, 6.0, 30.0];

/// Derivatives by differences of four values, which leave the fifth power of the step.
fn by_differences(law: Law, f: &dyn Fn(Law) -> f64) -> Gradient {
    let difference = |at: f64, change: &dyn Fn(f64) -> Law| {
        let h = 2e-3 * at.abs().clamp(0.05, 1.0);
        let near = f(change(at + h)) - f(change(at - h));
        let far = f(change(at + 2.0 * h)) - f(change(at - 2.0 * h));
        (8.0 * near - far) / (12.0 * h)
    };
    let shape = match law.base {
        Base::StudentT { nu } if nu.is_finite() => {
            difference(nu, &|nu| Law { base: Base::StudentT { nu }, ..law })
        }
        _ => 0.0,
    };
    Gradient {
        location: difference(law.location, &|location| Law { location, ..law }),
        left: difference(law.left, &|left| Law { left, ..law }),
        right: difference(law.right, &|right| Law { right, ..law }),
        shape,
    }
}

fn assert_slopes(what: &str, law: Law, y: f64, own: (f64, Gradient), f: &dyn Fn(Law) -> f64) {
    assert_eq!(own.0, f(law), "{what} {law:?} {y}");
    let other = by_differences(law, f);
    let pairs = [
        (own.1.location, other.location),
        (own.1.left, other.left),
        (own.1.right, other.right),
        (own.1.shape, other.shape),
    ];
    // The steps leave some 1e-9 of a derivative's own size, and the value's rounding over the step.
    let size = pairs.iter().fold(1e-2 * own.0.abs().min(1e3), |size, pair| size.max(pair.1.abs()));
    for (parameter, (a, b)) in pairs.into_iter().enumerate() {
        assert!((a - b).abs() <= 3e-8 * size + 1e-11, "{what} {law:?} {y}, {parameter}: {a} {b}");
    }
}

#[test]
fn gradients_are_differences() {
    for law in laws() {
        for error in ERRORS {
            // Steps of the differences must not cross the mode, where Laplace's density has a corner.
            let y = law.location + error;
            assert_slopes("crps", law, y, law.crps_and_gradient(y), &|l| l.crps(y));
            assert_slopes("cdf", law, y, law.cdf_and_gradient(y), &|l| l.cdf(y));
            let own = law.log_score_and_gradient(y);
            assert_slopes("log score", law, y, own, &|l| l.log_score(y));
            assert_slopes("log cdf", law, y, law.log_cdf_and_gradient(y), &|l| l.log_cdf(y));
            let own = law.log_exceed_and_gradient(y);
            assert_slopes("log exceed", law, y, own, &|l| l.log_exceed(y));
            let own = law.gaussian_quantile_and_gradient(y);
            assert_slopes("quantile", law, y, own, &|l| l.gaussian_quantile_of(y));
        }
    }
}

#[test]
fn gradients_of_censored_scores_are_differences() {
    let bounds = [
        between(0.1, f64::INFINITY),
        between(f64::NEG_INFINITY, 3.0),
        between(-1.5, 2.5),
        between(4.0, 9.0),
    ];
    for law in laws() {
        for bounds in bounds {
            for y in [bounds.lower(), bounds.upper(), 1.0, 5.0, -0.4] {
                if !y.is_finite() || !bounds.hold(y) {
                    continue;
                }
                let censored = law.within(bounds);
                let own = censored.crps_and_gradient(y);
                assert_slopes("crps", law, y, own, &|l| l.within(bounds).crps(y));
                let own = censored.log_score_and_gradient(y);
                assert_slopes("log score", law, y, own, &|l| l.within(bounds).log_score(y));
            }
        }
    }
}

#[test]
fn gradients_of_the_log_normal_are_differences() {
    for (mu, sigma) in [(0.0, 1.0), (-2.0, 0.25), (3.0, 2.0)] {
        let law = LogNormal { mu, sigma };
        for y in [0.1, 1.0, 4.0, 50.0] {
            let h = 1e-5;
            let difference = |f: &dyn Fn(LogNormal) -> f64| {
                let (more, less) = (|x| x + h, |x| x - h);
                let slope = |a: LogNormal, b: LogNormal| (f(a) - f(b)) / (2.0 * h);
                [
                    slope(LogNormal { mu: more(mu), ..law }, LogNormal { mu: less(mu), ..law }),
                    slope(
                        LogNormal { sigma: more(sigma), ..law },
                        LogNormal { sigma: less(sigma), ..law },
                    ),
                ]
            };
            let crps = (law.crps_and_gradient(y).1, difference(&|l| l.crps(y)));
            let log = (law.log_score_and_gradient(y).1, difference(&|l| l.log_score(y)));
            for (own, other) in [crps, log] {
                for (a, b) in own.into_iter().zip(other) {
                    assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{law:?} {y}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn quantiles_are_inverse_in_both_tails() {
    for law in laws() {
        for p in [1e-300, 1e-80, 1e-16, 1e-7, 0.01, 0.2, 0.4999999, 0.5, 0.50000001, 0.87, 0.999] {
            let (low, high) = (law.quantile(p), law.upper_quantile(p));
            // What one rounding of the quantile does to the probability, and the rounding of the location.
            let tolerance = |y: f64, p: f64| {
                let size = y.abs() + law.location.abs();
                1e-13 + 4.0 * f64::EPSILON * size * law.density(y) / p
            };
            let error = (law.cdf(low) / p - 1.0).abs();
            assert!(error < tolerance(low, p), "{law:?} {p}: {low} {error:e}");
            let error = (law.exceed(high) / p - 1.0).abs();
            assert!(error < tolerance(high, p), "{law:?} {p}: {high} {error:e}");
            assert_eq!(law.sample(p), low);
        }
        assert_eq!(law.quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(law.quantile(1.0), f64::INFINITY);
        assert!(law.quantile(-0.1).is_nan() && law.quantile(1.1).is_nan());
        let (low, high) = law.interval(0.8);
        assert!((law.cdf(low) - 0.1).abs() < 1e-15 && (law.exceed(high) - 0.1).abs() < 1e-15);
    }
    // Near the middle the quantile itself is small, and keeps its digits.
    for base in BASES {
        let p = 0.5 + 1e-9;
        let expected = (p - 0.5) / base.density(0.0);
        assert!((base.quantile(p) / expected - 1.0).abs() < 1e-8);
    }
}

#[test]
fn a_mirror_swaps_the_sides() {
    for law in laws() {
        let other = Law::new(law.base, -law.location, law.right, law.left);
        for error in ERRORS {
            let y = law.location + error;
            assert_eq!(law.cdf(y), other.exceed(-y));
            assert_eq!(law.log_cdf(y), other.log_exceed(-y));
            assert_eq!(law.density(y), other.density(-y));
            assert_eq!(law.crps(y), other.crps(-y));
            let quantiles = (law.gaussian_quantile_of(y), other.gaussian_quantile_of(-y));
            assert!((quantiles.0 + quantiles.1).abs() < 1e-15);
            let bounds = (between(-1.5, 2.5), between(-2.5, 1.5));
            let scores = (law.within(bounds.0).crps(y), other.within(bounds.1).crps(-y));
            assert!((scores.0 / scores.1 - 1.0).abs() < 1e-14, "{law:?} {y}: {scores:?}");
        }
        assert_eq!(law.quantile(0.3), -other.upper_quantile(0.3));
        assert_eq!(law.variance(), other.variance());
    }
}

#[test]
fn equal_scales_are_the_plain_law() {
    for error in ERRORS {
        // The operations are those of the score, to the last bit.
        assert_eq!(Law::normal(0.0, 1.3).crps(error), errbar::score::crps::crps(error, 1.3));
        assert_eq!(Law::normal(0.0, 1.3).gaussian_quantile_of(error), error / 1.3);
        for base in BASES {
            let law = Law::symmetric(base, 0.0, 2.0);
            assert_eq!(law.cdf(error), base.cdf(error / 2.0));
            // The definition for a symmetric base: |z| + 2 G(-|z|) - g
            let z = (error / 2.0).abs();
            let plain = z + 2.0 * base.integral(-z) - base.half_mean_difference();
            assert!((law.crps(error) / (2.0 * plain) - 1.0).abs() < 1e-14, "{base:?} {error}");
            // Slopes of both sides together are the slope in one scale.
            let slope = 2.0 * (base.integral(z) - z * base.cdf(z)) - base.half_mean_difference();
            let gradient = law.crps_and_gradient(error).1;
            assert!((gradient.left + gradient.right - slope).abs() < 1e-14);
            assert!((gradient.location - (1.0 - 2.0 * base.cdf(error / 2.0))).abs() < 1e-15);
        }
    }
}

#[test]
fn many_degrees_of_freedom_are_the_normal_law() {
    // The difference falls as z^4/nu.
    for (nu, bound) in [(1e6, 3e-6), (1e10, 3e-10), (1e300, 1e-13), (f64::INFINITY, 1e-13)] {
        for z in [0.0, 0.3, 1.5, 1.99, 2.01, 4.0, 9.0, 25.0] {
            let t = Base::StudentT { nu };
            let relative = |a: f64, b: f64| (a / b - 1.0).abs() / (1.0 + z * z * z * z);
            let pairs = [
                (t.exceed(z), Base::Normal.exceed(z)),
                (t.density(z), Base::Normal.density(z)),
                (t.integral(-z), Base::Normal.integral(-z)),
                (t.squares(-z), Base::Normal.squares(-z)),
                (1.0 + t.quantile(0.3), 1.0 + Base::Normal.quantile(0.3)),
            ];
            for (a, b) in pairs {
                assert!(relative(a, b) < bound, "{nu} {z}: {a:e} {b:e}");
            }
        }
    }
}

#[test]
fn bounds_far_away_change_nothing() {
    for law in laws() {
        for error in ERRORS {
            let y = law.location + error;
            let free = law.within(Bounds::default());
            assert_eq!(free.crps_and_gradient(y), law.crps_and_gradient(y));
            assert_eq!(free.log_score(y), law.log_score(y));
            assert_eq!(free.cdf(y), law.cdf(y));
            assert_eq!(free.middle_pit(y), law.cdf(y));
            // One-sided, by the other formula.
            let half = law.within(between(-1e6, f64::INFINITY)).crps(y);
            let beyond = if matches!(law.base, Base::StudentT { nu: 1.5 }) { 1e-4 } else { 1e-13 };
            assert!((half / law.crps(y) - 1.0).abs() < beyond, "{law:?} {y}");
        }
    }
}

#[test]
fn bounds_have_a_probability() {
    for law in laws() {
        let censored = law.within(between(-0.5, 2.5));
        let inside = law.cdf(2.5) - law.cdf(-0.5);
        let total = censored.mass_at_lower() + inside + censored.mass_at_upper();
        assert!((total - 1.0).abs() < 1e-15);
        assert_eq!(censored.cdf(-0.6), 0.0);
        assert_eq!(censored.cdf(-0.5), censored.mass_at_lower());
        assert_eq!(censored.exceed(2.5), 0.0);
        assert!(censored.exceed(2.4999) > censored.mass_at_upper() * (1.0 - 1e-15));
        assert_eq!(censored.quantile(0.5 * censored.mass_at_lower()), -0.5);
        assert_eq!(censored.upper_quantile(0.5 * censored.mass_at_upper()), 2.5);
        assert_eq!(censored.interval(1.0), (-0.5, 2.5));
        assert_eq!(censored.middle_pit(-0.5), 0.5 * law.cdf(-0.5));
        assert_eq!(censored.random_pit(-0.5, 0.25), 0.25 * law.cdf(-0.5));
        let top = 1.0 - 0.25 * censored.mass_at_upper();
        assert!((censored.random_pit(2.5, 0.75) - top).abs() < 1e-15);
        assert_eq!(censored.random_pit(1.0, 0.75), law.cdf(1.0));
        // What should not be observed: its distance counts, and its density is none.
        assert_eq!(censored.crps(-2.0), 1.5 + censored.crps(-0.5));
        assert_eq!(censored.log_score(3.0), f64::INFINITY);
        // The bounds have a probability, and what lies between a density: together they are all.
        let between = -0.5..=2.5;
        let steps = 20_000;
        let width = 3.0 / f64::from(steps);
        let middles = (0..steps).map(|i| -0.5 + (f64::from(i) + 0.5) * width);
        let density: f64 = middles.map(|y| censored.density(y) * width).sum();
        let bounds = censored.density(*between.start()) + censored.density(*between.end());
        assert!((density + bounds - 1.0).abs() < 1e-6, "{law:?} {density} {bounds}");
        for y in [-0.6, -0.5, 0.3, 2.5, 2.6] {
            let density = censored.log_density(y).exp();
            assert!((density - censored.density(y)).abs() < 1e-14, "{law:?} {y}");
            assert_eq!(density > 0.0, between.contains(&y));
            assert!((censored.log_cdf(y).exp() - censored.cdf(y)).abs() < 1e-14);
            assert!((censored.log_exceed(y).exp() - censored.exceed(y)).abs() < 1e-14);
        }
    }
}

#[test]
fn slices_have_the_same_bits() {
    for base in BASES {
        let laws: Vec<Law> = laws().filter(|law| law.base == base).cycle().take(100).collect();
        let column = |f: fn(&Law) -> f64| laws.iter().map(f).collect::<Vec<f64>>();
        let (location, left, right) =
            (column(|l| l.location), column(|l| l.left), column(|l| l.right));
        let y: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.37 - 20.0).collect();
        let (mut scores, mut again) = (vec![0.0; 100], vec![0.0; 100]);
        let mut gradients = vec![Gradient::default(); 100];
        let many = Laws { base, location: &location, left: &left, right: &right };
        many.crps(&y, &mut scores).expect("equal lengths");
        many.crps_and_gradient(&y, &mut again, &mut gradients).expect("equal lengths");
        for (i, (law, y)) in laws.iter().zip(&y).enumerate() {
            assert_eq!(scores[i], law.crps(*y));
            assert_eq!((again[i], gradients[i]), law.crps_and_gradient(*y));
        }
        let p: Vec<f64> = (0..100).map(|i| [0.0, 0.05, 0.5, 0.7, 1.0, 1.5][i % 6]).collect();
        type Many = fn(&Laws<'_>, &[f64], &mut [f64]) -> errbar::Result<()>;
        type One = fn(&Law, f64) -> f64;
        let others: [(Many, One, &[f64]); 4] = [
            (|laws, y, out| laws.cdf(y, out), Law::cdf, &y),
            (|laws, y, out| laws.exceed(y, out), Law::exceed, &y),
            (|laws, y, out| laws.quantile(y, out), Law::quantile, &p),
            (|laws, y, out| laws.upper_quantile(y, out), Law::upper_quantile, &p),
        ];
        for (of_many, of_one, argument) in others {
            of_many(&many, argument, &mut scores).expect("equal lengths");
            for ((value, law), argument) in scores.iter().zip(&laws).zip(argument) {
                let alone = of_one(law, *argument);
                assert!(*value == alone || value.is_nan() && alone.is_nan(), "{law:?} {argument}");
            }
            assert!(of_many(&many, &argument[1..], &mut scores).is_err());
        }
        assert!(many.crps(&y[1..], &mut scores).is_err());
        assert!(many.crps_and_gradient(&y, &mut scores, &mut gradients[1..]).is_err());
    }
}

#[test]
fn extremes_are_limits_or_nan() {
    for base in BASES {
        let law = Law::new(base, 1.0, 2.0, 3.0);
        for y in [f64::NEG_INFINITY, f64::INFINITY] {
            assert_eq!(law.cdf(y), if y > 0.0 { 1.0 } else { 0.0 });
            assert_eq!(law.exceed(y), if y > 0.0 { 0.0 } else { 1.0 });
            assert_eq!(law.density(y), 0.0);
            assert_eq!(law.crps(y), f64::INFINITY);
            assert_eq!(law.log_score(y), f64::INFINITY);
            assert_eq!(law.gaussian_quantile_of(y), y);
        }
        for y in [-1e300, 1e300] {
            assert!((law.crps(y) / 1e300 - 1.0).abs() < 1e-15, "{base:?}");
            assert!(!law.log_cdf(y).is_nan() && !law.gaussian_quantile_of(y).is_nan());
        }
        // A point.
        let point = Law::symmetric(base, 1.0, 0.0);
        assert_eq!((point.cdf(0.9), point.cdf(1.1)), (0.0, 1.0));
        assert_eq!((point.crps(3.0), point.crps(1.0)), (2.0, 0.0));
        assert_eq!((point.density(0.9), point.log_score(0.9)), (0.0, f64::INFINITY));
        // One side only.
        let side = Law::new(base, 1.0, 0.0, 2.0);
        assert_eq!(side.cdf(0.9), 0.0);
        assert!((side.quantile(0.5) - (1.0 + 2.0 * base.quantile(0.75))).abs() < 1e-14);
        assert!(side.crps(1.0).is_finite() && side.crps(0.0) > side.crps(1.0));
        // Not a law.
        let bad = [
            Law::normal(f64::NAN, 1.0),
            Law::new(base, 0.0, -1.0, 2.0),
            Law::new(base, 0.0, 1.0, f64::NAN),
            Law::symmetric(Base::StudentT { nu: f64::NAN }, 0.0, 1.0),
        ];
        for law in bad {
            assert!(law.cdf(1.0).is_nan() && law.crps(1.0).is_nan() && law.log_score(1.0).is_nan());
            assert!(
                law.quantile(0.3).is_nan() && law.gaussian_quantile_of(1.0).is_nan(),
                "{law:?}"
            );
        }
        let nan = f64::NAN;
        assert!(law.cdf(nan).is_nan() && law.crps(nan).is_nan() && law.quantile(nan).is_nan());
        let censored = law.within(between(0.0, 5.0));
        assert!(censored.cdf(nan).is_nan() && censored.crps(nan).is_nan());
        assert!(censored.log_score(nan).is_nan() && censored.random_pit(nan, 0.5).is_nan());
    }
    // Without a mean there is no CRPS.
    let cauchy = Law::symmetric(Base::StudentT { nu: 1.0 }, 0.0, 1.0);
    assert!((cauchy.cdf(1.0) - 0.75).abs() < 1e-15 && cauchy.crps(1.0).is_nan());
    assert!((cauchy.quantile(0.75) - 1.0).abs() < 1e-15);
}

/// The cost of any law: for Gaussian laws that of 2018, and derivatives against differences.
#[test]
fn the_cost_of_any_law() {
    let mut rng = Pcg64::seed_from_u64(8);
    let rows = 60;
    let error: Vec<f64> = (0..rows).map(|_| 3.0 * (rng.random::<f64>() - 0.4)).collect();
    let sigma: Vec<f64> = (0..rows).map(|_| 0.5 + rng.random::<f64>()).collect();
    let weight: Vec<f64> = (0..rows).map(|_| f64::from(rng.random_range(0..3))).collect();
    for weight in [None, Some(&weight[..])] {
        let mut any = AccuracyReliability::new(&error, weight, Beta::Heuristic).unwrap();
        let mut gaussian =
            score::AccuracyReliability::new(&error, weight, Beta::Heuristic).unwrap();
        let laws: Vec<Law> = sigma.iter().map(|sigma| Law::normal(0.0, *sigma)).collect();
        let (mut by_law, mut by_sigma) = (vec![Gradient::default(); rows], vec![0.0; rows]);
        let one = any.value_and_gradient(&laws, &mut by_law).unwrap();
        let other = gaussian.value_and_gradient(&sigma, &mut by_sigma).unwrap();
        assert_eq!(any.beta(), gaussian.beta());
        for (a, b) in [(one.value, other.value), (one.crps, other.crps), (one.rs, other.rs)] {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        for (of, slope) in by_law.iter().zip(&by_sigma) {
            assert!((of.left + of.right - slope).abs() < 1e-14);
        }
        for base in [Base::Logistic, Base::Laplace, Base::StudentT { nu: 4.0 }, Base::Normal] {
            let laws: Vec<Law> =
                sigma.iter().map(|s| Law::new(base, 0.1 * s, 0.6 * s, 1.3 * s)).collect();
            let mut gradient = vec![Gradient::default(); rows];
            let at = any.value_and_gradient(&laws, &mut gradient).unwrap();
            assert_eq!(any.value(&laws).unwrap().value, at.value);
            let step = 1e-6;
            // Ranks do not change in so small a step.
            for row in 0..8 {
                let mut moved = |change: &dyn Fn(&mut Law, f64)| {
                    let mut ends = [step, -step].map(|step| {
                        let mut laws = laws.clone();
                        change(&mut laws[row], step);
                        any.value(&laws).unwrap().value
                    });
                    ends.reverse();
                    (ends[1] - ends[0]) / (2.0 * step)
                };
                for (found, expected) in [
                    (gradient[row].location, moved(&|law, step| law.location += step)),
                    (gradient[row].left, moved(&|law, step| law.left += step)),
                    (gradient[row].right, moved(&|law, step| law.right += step)),
                ] {
                    assert!((found - expected).abs() < 1e-8, "{base:?}: {found} {expected}");
                }
            }
        }
        assert!(any.value(&laws[1..]).is_err());
    }
}

/// The cost that models of sigma are trained by, read off a table, is that of the law to eight digits, and its
/// slopes are differences.
#[test]
fn sigma_can_be_trained_by_a_law() {
    let mut rng = Pcg64::seed_from_u64(8);
    let error: Vec<f64> = (0..200).map(|_| 3.0 * rng.random::<f64>() - 1.2).collect();
    let sigma: Vec<f64> = (0..200).map(|_| 0.3 + rng.random::<f64>()).collect();
    let weight: Vec<f64> = (0..200).map(|row| f64::from(row % 4)).collect();
    let value = |loss: LossKind, sigma: &[f64]| {
        loss.on(&error, Some(&weight)).unwrap().value(sigma).unwrap()
    };
    let gaussian = LossKind::OfLaw(Beta::Heuristic, Law::normal(0.0, 1.0));
    let plain = value(LossKind::default(), &sigma);
    assert!((value(gaussian, &sigma) / plain - 1.0).abs() < 1e-8);
    for law in [
        Law::new(Base::StudentT { nu: 4.0 }, 0.1, 0.5, 0.9),
        Law::new(Base::Normal, -0.3, 0.4, 1.3),
        Law::symmetric(Base::Logistic, 0.0, 0.55),
    ] {
        let loss = LossKind::OfLaw(Beta::Heuristic, law);
        let mut own = loss.on(&error, Some(&weight)).unwrap();
        let (mut slope, mut curvature) = (vec![0.0; 200], vec![0.0; 200]);
        let at = own.value_and_gradient(&sigma, &mut slope).unwrap();
        assert!((at / value(loss, &sigma) - 1.0).abs() < 1e-14);
        let laws: Vec<Law> = sigma.iter().map(|sigma| law.around(0.0, *sigma)).collect();
        let exact = AccuracyReliability::new(&error, Some(&weight), Beta::Heuristic)
            .and_then(|mut cost| cost.value(&laws));
        assert!((at / exact.unwrap().value - 1.0).abs() < 1e-8);
        own.curvature(&sigma, &mut curvature).unwrap();
        for row in (0..200).step_by(7) {
            let step = 1e-6 * sigma[row];
            let beside = |step: f64| {
                let mut sigma = sigma.clone();
                sigma[row] += step;
                value(loss, &sigma)
            };
            let difference = (beside(step) - beside(-step)) / (2.0 * step);
            assert!((slope[row] - difference).abs() < 1e-8, "{row}: {} {difference}", slope[row]);
            assert_eq!(curvature[row] > 0.0, weight[row] > 0.0);
        }
        assert!(own.value(&sigma[1..]).is_err() && own.value(&[0.0; 200]).is_err());
    }
}
