//! The Reliability Score and its minimum, against values obtained another way.

use errbar::Error;
use errbar::math::erfinv;
use errbar::score::reliability::{
    gradient as rs_gradient, reliability, rs_expected, rs_min, rs_min_without_constant, sigma_min,
};
use errbar::score::{AccuracyReliability, Beta, Sample};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Errors with some ties, sigmas and weights with some zeros.
fn draw(seed: u64, n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut error: Vec<f64> = (0..n).map(|_| 1.5 * rng.sample::<f64, _>(StandardNormal)).collect();
    let mut sigma: Vec<f64> = (0..n).map(|_| rng.random_range(0.3..2.0)).collect();
    let weight =
        (0..n).map(|i| if i % 5 == 4 { 0.0 } else { rng.random_range(0.1..3.0) }).collect();
    for i in (3..n).step_by(4) {
        (error[i], sigma[i]) = (error[i - 1], sigma[i - 1]);
    }
    (error, sigma, weight)
}

fn scaled(error: &[f64], sigma: &[f64]) -> Vec<f64> {
    error.iter().zip(sigma).map(|(e, s)| e / (2f64.sqrt() * s)).collect()
}

/// Simpson's rule on a fine grid of each piece between jumps of the empirical distribution.
fn by_quadrature(eta: &[f64], weight: &[f64]) -> f64 {
    let total: f64 = weight.iter().sum();
    let mut cuts: Vec<f64> = eta.to_vec();
    cuts.extend([-9.0, 9.0]);
    cuts.sort_by(f64::total_cmp);
    let mut integral = 0.0;
    for cut in cuts.windows(2) {
        let (a, b) = (cut[0], cut[1]);
        let below: f64 =
            eta.iter().zip(weight).filter(|(e, _)| **e <= a).map(|(_, w)| w / total).sum();
        let f = |x: f64| (0.5 * (libm::erf(x) + 1.0) - below).powi(2);
        let pieces = 2000;
        let h = (b - a) / f64::from(pieces);
        for k in 0..pieces {
            let x = a + h * f64::from(k);
            integral += h / 6.0 * (f(x) + 4.0 * f(x + 0.5 * h) + f(x + h));
        }
    }
    integral
}

/// The Cramér distance from N(0, 1/2): E|eta - X| - E|eta - eta'|/2 - E|X - X'|/2, halved weights
/// written out pair by pair. E|t - X| = t erf(t) + exp(-t²)/sqrt(pi); E|X - X'| = sqrt(2/pi).
fn by_pairs(eta: &[f64], weight: &[f64]) -> f64 {
    let total: f64 = weight.iter().sum();
    let to_normal = |t: f64| t * libm::erf(t) + (-t * t).exp() / std::f64::consts::PI.sqrt();
    let first: f64 = eta.iter().zip(weight).map(|(t, w)| w / total * to_normal(*t)).sum();
    let mut second = 0.0;
    for (a, u) in eta.iter().zip(weight) {
        for (b, v) in eta.iter().zip(weight) {
            second += u * v * (a - b).abs();
        }
    }
    first - 0.5 * second / (total * total) - 0.5 * (2.0 / std::f64::consts::PI).sqrt()
}

#[test]
fn the_closed_form_is_the_integral_and_the_energy_distance() {
    for (seed, n) in [(1, 1), (2, 2), (3, 7), (4, 60)] {
        let (error, sigma, weight) = draw(seed, n);
        let eta = scaled(&error, &sigma);
        let plain = reliability(&Sample::new(&error, &sigma).unwrap());
        let ones = vec![1.0; n];
        assert!((plain - by_quadrature(&eta, &ones)).abs() < 1e-11, "n = {n}");
        assert!((plain - by_pairs(&eta, &ones)).abs() < 1e-14, "n = {n}");

        let sample = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
        let weighted = reliability(&sample);
        assert!((weighted - by_quadrature(&eta, &weight)).abs() < 1e-11, "n = {n}, weighted");
        assert!((weighted - by_pairs(&eta, &weight)).abs() < 1e-14, "n = {n}, weighted");
    }
}

/// Direct sums in interval arithmetic of 260 bits, rounded to 20 digits.
#[allow(clippy::excessive_precision)] // all the digits that are known
const RS_MIN: [(usize, f64); 13] = [
    (1, 1.652_473_031_463_236_090_1e-1),
    (2, 5.046_165_849_287_095_585_8e-2),
    (3, 2.468_263_997_318_943_318_8e-2),
    (7, 5.340_158_808_863_975_250_9e-3),
    (10, 2.772_116_628_299_304_045_8e-3),
    (100, 3.654_193_335_723_788_907_6e-5),
    (333, 3.654_469_554_869_272_567_2e-6),
    (1000, 4.389_216_432_248_737_064_7e-7),
    (10_000, 5.029_815_991_301_914_398_3e-9),
    (100_000, 5.604_098_661_388_660_312_5e-11),
    (1_000_000, 6.128_741_434_780_745_253_3e-13),
    (1_000_000_000, 7.496_974_190_837_528_387e-19),
    (1_000_000_000_000, 8.660_260_245_515_405_589e-25),
];

#[test]
fn the_minimum_is_right_to_the_last_digits_for_every_n() {
    for (n, want) in RS_MIN {
        let got = rs_min(n);
        assert!((got / want - 1.0).abs() < 2e-14, "n = {n}: {got:e}, not {want:e}");
    }
    assert_eq!(rs_min(0), 0.0);
}

#[test]
fn the_minimum_agrees_with_the_sum_it_stands_for() {
    for n in (2..300).chain([1000, 4321]) {
        let term = |i: usize| {
            let side = (2.0 * i as f64 - 1.0 - n as f64) / n as f64;
            (-erfinv(side).powi(2)).exp()
        };
        let direct = (1..=n).map(term).sum::<f64>() / (std::f64::consts::PI.sqrt() * n as f64);
        let got = rs_min_without_constant(n);
        assert!((got - direct).abs() < 2e-15, "n = {n}: {got}, not {direct}");
    }
}

#[test]
fn sigmas_of_least_rs_reach_the_minimum() {
    let n = 50;
    let signs = |i: usize| if 2 * i < n + 1 { -1.0 } else { 1.0 };
    let error: Vec<f64> = (1..=n).map(|i| signs(i) * (1.0 + (i as f64).sin().abs())).collect();
    let sigma: Vec<f64> =
        (1..=n).map(|i| sigma_min(error[i - 1], i, n).unwrap().unwrap()).collect();
    let rs = reliability(&Sample::new(&error, &sigma).unwrap());
    assert!((rs - rs_min(n)).abs() < 1e-15);
    assert_eq!(sigma_min(1.0, 1, n).unwrap(), None, "the smallest of 50 cannot be positive");
    assert_eq!(sigma_min(1.0, 0, n), Err(Error::RankOutOfRange { rank: 0, n }));
    assert_eq!(sigma_min(1.0, 51, n), Err(Error::RankOutOfRange { rank: 51, n }));
    assert!(sigma_min(f64::NAN, 1, n).is_err());
}

#[test]
fn a_calibrated_forecast_has_the_expected_score() {
    // 4,000 samples of 30: the mean is known to about 1%.
    let mut rng = Pcg64::seed_from_u64(7);
    let (runs, n) = (4000, 30);
    let sigma = vec![1.0; n];
    let mean = (0..runs)
        .map(|_| {
            let error: Vec<f64> = (0..n).map(|_| rng.sample(StandardNormal)).collect();
            reliability(&Sample::new(&error, &sigma).unwrap())
        })
        .sum::<f64>()
        / f64::from(runs);
    assert!((mean / rs_expected(n as f64) - 1.0).abs() < 0.05, "mean RS {mean}");
}

#[test]
fn the_gradient_is_that_of_the_value() {
    for weighted in [false, true] {
        let (mut error, mut sigma, weight) = draw(11, 40);
        // Without ties, where the value has a derivative in each sigma by itself.
        for i in (3..40).step_by(4) {
            (error[i], sigma[i]) = (error[i] + 0.21, sigma[i] * 1.17);
        }
        let weight = weighted.then_some(&weight[..]);
        let of = |sigma: &[f64]| {
            reliability(&Sample::new(&error, sigma).unwrap().maybe_weighted(weight).unwrap())
        };
        let gradient =
            rs_gradient(&Sample::new(&error, &sigma).unwrap().maybe_weighted(weight).unwrap());
        for i in 0..error.len() {
            let h = 1e-6;
            let mut moved = sigma.clone();
            moved[i] = sigma[i] + h;
            let up = of(&moved);
            moved[i] = sigma[i] - h;
            let down = of(&moved);
            assert!((gradient[i] - (up - down) / (2.0 * h)).abs() < 1e-9, "row {i}");
        }
    }
}

#[test]
fn tied_rows_have_equal_derivatives_in_any_order() {
    let error = [0.5, -1.0, 0.5, 0.5, 2.0, -1.0];
    let sigma = [1.0, 0.7, 1.0, 1.0, 1.0, 0.7];
    let gradient = rs_gradient(&Sample::new(&error, &sigma).unwrap());
    assert_eq!((gradient[0], gradient[0]), (gradient[2], gradient[3]));
    assert_eq!(gradient[1], gradient[5]);
    // Moving all tied sigmas together, the value has a derivative: the sum of theirs.
    let of = |s: f64| {
        let sigma = [s, 0.7, s, s, 1.0, 0.7];
        reliability(&Sample::new(&error, &sigma).unwrap())
    };
    let h = 1e-6;
    let slope = (of(1.0 + h) - of(1.0 - h)) / (2.0 * h);
    assert!((slope - 3.0 * gradient[0]).abs() < 1e-9);
}

fn rows() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let error = prop_oneof![-5.0..5.0f64, Just(0.0), Just(1.0)];
    let sigma = prop_oneof![0.05..5.0f64, Just(1.0)];
    let weight = prop_oneof![0.0..3.0f64, Just(1.0), Just(0.0)];
    proptest::collection::vec((error, sigma, weight), 1..60)
        .prop_filter("some weight", |rows| rows.iter().any(|row| row.2 > 0.0))
}

fn columns(rows: &[(f64, f64, f64)]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    (
        rows.iter().map(|r| r.0).collect(),
        rows.iter().map(|r| r.1).collect(),
        rows.iter().map(|r| r.2).collect(),
    )
}

proptest! {
    #[test]
    fn never_below_the_minimum(rows in rows()) {
        let (error, sigma, _) = columns(&rows);
        let rs = reliability(&Sample::new(&error, &sigma).unwrap());
        prop_assert!(rs >= rs_min(rows.len()) - 1e-15);
    }

    #[test]
    fn the_order_of_rows_does_not_matter(rows in rows(), turn in 0usize..60) {
        let (error, sigma, weight) = columns(&rows);
        let mut turned = rows.clone();
        turned.rotate_left(turn % rows.len());
        let (error2, sigma2, weight2) = columns(&turned);
        let a = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
        let b = Sample::new(&error2, &sigma2).unwrap().weighted(&weight2).unwrap();
        prop_assert!((reliability(&a) - reliability(&b)).abs() < 1e-14);
        let mut gradient = rs_gradient(&a);
        gradient.rotate_left(turn % rows.len());
        for (g, h) in gradient.iter().zip(rs_gradient(&b)) {
            prop_assert!((g - h).abs() <= 1e-13 * (1.0 + g.abs()));
        }
    }

    #[test]
    fn units_do_not_matter(rows in rows(), power in -9i32..9) {
        let (error, sigma, _) = columns(&rows);
        let unit = 10f64.powi(power);
        let scale = |v: &[f64]| v.iter().map(|x| x * unit).collect::<Vec<_>>();
        let a = reliability(&Sample::new(&error, &sigma).unwrap());
        let b = reliability(&Sample::new(&scale(&error), &scale(&sigma)).unwrap());
        prop_assert!((a - b).abs() <= 1e-12 * (1.0 + a));
    }

    #[test]
    fn writing_a_row_twice_is_weight_two(rows in rows()) {
        let (mut error, mut sigma, _) = columns(&rows);
        let weight: Vec<f64> = (0..rows.len()).map(|i| if i == 0 { 2.0 } else { 1.0 }).collect();
        let (e, s) = (error.clone(), sigma.clone());
        let weighted = Sample::new(&e, &s).unwrap().weighted(&weight).unwrap();
        let mut cost = AccuracyReliability::new(&e, Some(&weight), Beta::Fixed(0.4)).unwrap();
        let ar = cost.value(&s).unwrap();
        error.push(error[0]);
        sigma.push(sigma[0]);
        let twice = Sample::new(&error, &sigma).unwrap();
        prop_assert!((reliability(&weighted) - reliability(&twice)).abs() < 1e-14);
        let mut cost = AccuracyReliability::new(&error, None, Beta::Fixed(0.4)).unwrap();
        prop_assert!((ar.value - cost.value(&sigma).unwrap().value).abs() < 1e-14);
    }
}

#[test]
fn reported_and_minimised_differ_by_the_constant_only() {
    let (error, sigma, weight) = draw(5, 30);
    let mut cost = AccuracyReliability::new(&error, Some(&weight), Beta::Heuristic).unwrap();
    let ar = cost.value(&sigma).unwrap();
    let constant = 1.0 / (2.0 * std::f64::consts::PI).sqrt();
    let rebuilt = ar.beta * ar.crps + (1.0 - ar.beta) * (ar.rs + constant);
    assert!((ar.value - rebuilt).abs() < 1e-15);
}
