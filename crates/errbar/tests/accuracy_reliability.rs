//! The cost and its gradient: every way of computing it gives the same, and no input breaks it.

use errbar::law::{Base, Law};
use errbar::loss::LossKind;
use errbar::score::accuracy_reliability::{accuracy_reliability, accuracy_reliability_gradient};
use errbar::score::{AccuracyReliability, Beta, Sample, crps, nlpd};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

fn draw(seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let sigma: Vec<f64> = (0..rows).map(|_| rng.random_range(0.2..3.0)).collect();
    let error = sigma.iter().map(|s| 1.3 * s * rng.sample::<f64, _>(StandardNormal)).collect();
    let weight = (0..rows).map(|_| rng.random_range(0.0..2.0)).collect();
    (error, sigma, weight)
}

fn bits(value: f64, gradient: &[f64]) -> Vec<u64> {
    std::iter::once(value).chain(gradient.iter().copied()).map(f64::to_bits).collect()
}

/// Bits of the value and the gradient at `sigma`, on a pool of threads, from a cold start.
fn cold_bits(threads: usize, error: &[f64], weight: Option<&[f64]>, sigma: &[f64]) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut cost = AccuracyReliability::new(error, weight, Beta::Heuristic).unwrap();
        let mut gradient = vec![0.0; error.len()];
        let ar = cost.value_and_gradient(sigma, &mut gradient).unwrap();
        bits(ar.value, &gradient)
    })
}

#[test]
fn the_same_bits_with_any_number_of_threads_and_from_any_start() {
    // Sizes below and above the step to two counting steps and to several threads.
    for rows in [1, 2, 257, 5_000, 150_000] {
        let (error, sigma, weight) = draw(rows as u64, rows);
        for weight in [None, Some(&weight[..])] {
            if weight.is_some_and(|w| w.iter().sum::<f64>() == 0.0) {
                continue;
            }
            let expected = cold_bits(1, &error, weight, &sigma);
            for threads in [2, 3, 7] {
                assert!(
                    expected == cold_bits(threads, &error, weight, &sigma),
                    "{threads} threads"
                );
            }
            // Warm: from the order of sigmas near and far, and from its own.
            let mut cost = AccuracyReliability::new(&error, weight, Beta::Heuristic).unwrap();
            let mut gradient = vec![0.0; rows];
            for change in [1e-9, 1e-5, 1e-2, 3.0, 0.0] {
                let other: Vec<f64> = sigma
                    .iter()
                    .enumerate()
                    .map(|(i, s)| s * (change * (i as f64).sin()).exp())
                    .collect();
                cost.value(&other).unwrap();
                let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
                assert!(expected == bits(ar.value, &gradient), "{rows} rows after {change}");
                assert_eq!(ar.value, cost.value(&sigma).unwrap().value, "without a gradient");
            }
        }
    }
}

#[test]
fn the_functions_of_a_sample_are_the_workspace() {
    let (error, sigma, weight) = draw(3, 500);
    let sample = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
    let mut cost = AccuracyReliability::new(&error, Some(&weight), Beta::Heuristic).unwrap();
    let mut gradient = vec![0.0; 500];
    let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
    assert_eq!(accuracy_reliability(&sample, Beta::Heuristic).unwrap(), ar);
    assert_eq!(accuracy_reliability_gradient(&sample, Beta::Heuristic).unwrap(), (ar, gradient));
    assert!(accuracy_reliability(&sample, Beta::Fixed(1.5)).is_err());
}

#[test]
fn the_ends_of_beta_are_accuracy_and_reliability() {
    let (error, sigma, _) = draw(4, 300);
    let sample = Sample::new(&error, &sigma).unwrap();
    let at = |beta| accuracy_reliability(&sample, Beta::Fixed(beta)).unwrap();
    assert!((at(1.0).value - crps::mean(&sample)).abs() < 1e-15);
    let constant = 1.0 / (2.0 * std::f64::consts::PI).sqrt();
    assert!((at(0.0).value - at(0.0).rs - constant).abs() < 1e-15);
    let half = 0.5 * (at(0.0).value + at(1.0).value);
    assert!((at(0.5).value - half).abs() < 1e-15);
}

/// Scaled errors well apart: a step across a tie would meet the kink that the gradient has there.
fn spread_rows() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    let rows = (1u64..1_000_000, 2usize..40).prop_map(|(seed, rows)| draw(seed, rows));
    rows.prop_filter("apart", |(error, sigma, _)| {
        let mut z: Vec<f64> = error.iter().zip(sigma).map(|(e, s)| e / s).collect();
        z.sort_by(f64::total_cmp);
        z.windows(2).all(|pair| pair[1] - pair[0] > 1e-3 * pair[1].abs().max(pair[0].abs()))
    })
}

proptest! {
    #[test]
    fn gradients_and_curvature_are_those_of_the_value(
        (error, sigma, weight) in spread_rows(), which in 0usize..4, weighted in any::<bool>()
    ) {
        let kind = [
            LossKind::Ar(Beta::Heuristic), LossKind::Ar(Beta::Fixed(0.3)), LossKind::Crps, LossKind::Nlpd,
        ][which];
        let weight = weighted.then_some(&weight[..]);
        let mut loss = kind.on(&error, weight).unwrap();
        let rows = error.len();
        prop_assert_eq!(loss.rows(), rows);
        let (mut gradient, mut curvature) = (vec![0.0; rows], vec![0.0; rows]);
        let value = loss.value_and_gradient(&sigma, &mut gradient).unwrap();
        prop_assert_eq!(value, loss.value(&sigma).unwrap());
        loss.curvature(&sigma, &mut curvature).unwrap();
        for i in 0..rows {
            let mut moved = sigma.clone();
            let mut at = |step: f64| {
                moved[i] = sigma[i] * step.exp();
                loss.value(&moved).unwrap()
            };
            let h = 1e-5;
            let slope = (at(h) - at(-h)) / (2.0 * h);
            prop_assert!((slope - gradient[i] * sigma[i]).abs() < 1e-8, "row {}: {} {}", i, slope, gradient[i]);
            if weight.is_none_or(|w| w[i] > 0.0) {
                prop_assert!(curvature[i] > 0.0);
            }
            // What is put for the likelihood is a bound.
            if kind == LossKind::Nlpd {
                let h = 1e-3;
                let second = (at(h) - 2.0 * value + at(-h)) / (h * h);
                prop_assert!(second.abs() <= curvature[i] * (1.0 + 1e-4) + 1e-7);
            }
        }
    }
}

/// Against the second derivative of the value, averaged over the errors of the law itself.
#[test]
fn the_curvature_of_crps_is_what_is_expected_where_sigma_is_right() {
    let normal = Law::normal(0.0, 1.0);
    let skewed = Law::new(Base::StudentT { nu: 5.0 }, -0.4, 0.5, 1.1);
    for (loss, law) in [
        (LossKind::Crps, normal),
        (LossKind::Ar(Beta::Fixed(1.0)), normal),
        (LossKind::OfLaw(Beta::Fixed(1.0), skewed), skewed),
    ] {
        for sigma in [0.2, 1.0, 7.0] {
            let (mut mean, mut said) = (0.0, [0.0]);
            let count = 4000;
            for i in 0..count {
                let error = [sigma * law.quantile((f64::from(i) + 0.5) / f64::from(count))];
                let mut loss = loss.on(&error, None).unwrap();
                loss.curvature(&[sigma], &mut said).unwrap();
                let mut at = |step: f64| loss.value(&[sigma * step.exp()]).unwrap();
                let h = 1e-2;
                mean += (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h) / f64::from(count);
            }
            // The steps of differences and of the mean.
            assert!((said[0] / mean - 1.0).abs() < 2e-3, "{loss:?} {sigma}: {} {mean}", said[0]);
        }
    }
}

#[test]
fn losses_are_the_scores() {
    let (error, sigma, weight) = draw(9, 1000);
    let sample = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
    let value = |kind: LossKind| kind.on(&error, Some(&weight)).unwrap().value(&sigma).unwrap();
    assert!((value(LossKind::Crps) - crps::mean(&sample)).abs() < 1e-15);
    assert!((value(LossKind::Nlpd) - nlpd::mean(&sample)).abs() < 1e-14);
    assert!(matches!(LossKind::default(), LossKind::Ar(Beta::Heuristic)));
}

#[test]
fn extremes_stay_numbers_where_the_answer_is_one() {
    // One sigma far too small among others: RS is large and finite, the gradient points up.
    let error = [1.0, -0.5, 0.2, 1e-3];
    let sigma = [1e-100, 1.0, 1.0, 1.0];
    let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic).unwrap();
    let mut gradient = [0.0; 4];
    let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
    assert!(ar.value.is_finite() && ar.value > 1e90);
    assert!(gradient[0] < 0.0 && gradient.iter().all(|g| !g.is_nan()));
    // Beyond doubles: infinite, never NaN, weights of zero included.
    let weight = [0.0, 1.0, 1.0, 1.0];
    let mut cost =
        AccuracyReliability::new(&[1e300, -0.5, 0.2, 1e-3], Some(&weight), Beta::Heuristic)
            .unwrap();
    let ar = cost.value_and_gradient(&[1e-300, 1.0, 1.0, 1.0], &mut gradient).unwrap();
    assert!(ar.value.is_finite(), "a row of weight zero does not count: {ar:?}");
    assert_eq!(gradient[0], 0.0);
    assert!(gradient.iter().all(|g| g.is_finite()));
    let mut cost = AccuracyReliability::new(&[1e300, -0.5], None, Beta::Heuristic).unwrap();
    let ar = cost.value_and_gradient(&[1e-300, 1.0], &mut gradient[..2]).unwrap();
    assert!(ar.rs == f64::INFINITY && !ar.crps.is_nan());
    // All errors zero: nothing to be reliable about, and still an answer.
    let mut cost = AccuracyReliability::new(&[0.0; 3], None, Beta::Heuristic).unwrap();
    assert_eq!(cost.beta(), 1.0);
    assert!(cost.value(&[1.0; 3]).unwrap().value > 0.0);
}

#[test]
fn doubling_a_row_moves_the_heuristic_beta_as_little_as_the_method_says() {
    let (error, sigma, _) = draw(12, 100);
    let weight = vec![2.0; 100];
    let one = accuracy_reliability(&Sample::new(&error, &sigma).unwrap(), Beta::Heuristic).unwrap();
    let weighted = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
    let two = accuracy_reliability(&weighted, Beta::Heuristic).unwrap();
    assert_eq!(one.beta, two.beta, "only ratios of weights matter");
    let (error2, sigma2) = ([&error[..], &error[..]].concat(), [&sigma[..], &sigma[..]].concat());
    let twice =
        accuracy_reliability(&Sample::new(&error2, &sigma2).unwrap(), Beta::Heuristic).unwrap();
    assert!(one.beta != twice.beta && (one.beta - twice.beta).abs() < 0.4 / 100f64.powi(2));
}
