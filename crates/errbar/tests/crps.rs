//! CRPS and NLPD against their definitions.

use errbar::score::{Sample, crps, deterministic, nlpd};
use proptest::prelude::*;

/// The definition: the integral of (F(y) - H(y - observation))², by Simpson's rule on both sides.
fn by_quadrature(error: f64, sigma: f64) -> f64 {
    let cdf = |y: f64| 0.5 * libm::erfc(-y / (sigma * 2f64.sqrt()));
    let simpson = |a: f64, b: f64, f: &dyn Fn(f64) -> f64| {
        let pieces = 20_000;
        let h = (b - a) / f64::from(pieces);
        (0..pieces)
            .map(|k| a + h * f64::from(k))
            .map(|x| h / 6.0 * (f(x) + 4.0 * f(x + 0.5 * h) + f(x + h)))
            .sum::<f64>()
    };
    let reach = 12.0 * sigma + error.abs();
    simpson(-reach, error, &|y| cdf(y).powi(2)) + simpson(error, reach, &|y| cdf(-y).powi(2))
}

#[test]
fn the_closed_form_is_the_integral() {
    for (error, sigma) in [(0.0, 1.0), (0.7, 1.0), (-2.0, 0.5), (3.0, 4.0), (-8.0, 1.5)] {
        let (got, want) = (crps::crps(error, sigma), by_quadrature(error, sigma));
        assert!((got / want - 1.0).abs() < 1e-10, "error {error}, sigma {sigma}: {got}, {want}");
    }
}

/// A central difference with a step fit for the cube root of the rounding error.
fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 6e-6 * x.abs().max(1e-3);
    (f(x + h) - f(x - h)) / (2.0 * h)
}

proptest! {
    #[test]
    fn derivatives_are_those_of_the_values(error in -5.0..5.0f64, sigma in 0.2..5.0f64) {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + a.abs());
        let forecast = 1.7;
        let observation = forecast + error;
        prop_assert!(near(crps::dcrps_dsigma(error, sigma), slope(|s| crps::crps(error, s), sigma)));
        prop_assert!(near(
            crps::dcrps_dforecast(error, sigma),
            slope(|mu| crps::crps(observation - mu, sigma), forecast)
        ));
        prop_assert!(near(nlpd::dnlpd_dsigma(error, sigma), slope(|s| nlpd::nlpd(error, s), sigma)));
        prop_assert!(near(
            nlpd::dnlpd_dforecast(error, sigma),
            slope(|mu| nlpd::nlpd(observation - mu, sigma), forecast)
        ));
    }

    #[test]
    fn crps_tends_to_the_absolute_error(error in -1e6..1e6f64, power in -12i32..-6) {
        let sigma = error.abs().max(1e-9) * 10f64.powi(power);
        let left = error.abs() - crps::crps(error, sigma);
        // The rest is sigma / sqrt(pi).
        prop_assert!((left - sigma * 0.564_189_583_547_756_3).abs() <= 4e-16 * error.abs());
    }

    #[test]
    fn no_sigma_beats_the_minimiser(error in -1e3..1e3f64, factor in 0.1..10.0f64) {
        prop_assume!(error.abs() > 1e-6);
        let best = crps::crps(error, crps::sigma_min(error));
        let other = crps::crps(error, factor * crps::sigma_min(error));
        prop_assert!(best <= other * (1.0 + 1e-15));
        prop_assert!((best / crps::crps_min(error.abs()) - 1.0).abs() < 1e-14);
        let best = nlpd::nlpd(error, nlpd::sigma_min(error));
        prop_assert!(best <= nlpd::nlpd(error, factor * nlpd::sigma_min(error)) + 1e-14);
    }

    #[test]
    fn crps_is_symmetric_and_has_the_units_of_the_error(
        error in -1e3..1e3f64, sigma in 1e-3..1e3f64, power in -150i32..150
    ) {
        let unit = 10f64.powi(power);
        let value = crps::crps(error, sigma);
        prop_assert_eq!(value, crps::crps(-error, sigma));
        prop_assert!((crps::crps(unit * error, unit * sigma) / (unit * value) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn means_are_weighted_means_of_the_rows(
        rows in proptest::collection::vec((-5.0..5.0f64, 0.1..5.0f64, 0.0..3.0f64), 1..600)
    ) {
        let error: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let sigma: Vec<f64> = rows.iter().map(|r| r.1).collect();
        let weight: Vec<f64> = rows.iter().map(|r| r.2 + 1e-3).collect();
        let sample = Sample::new(&error, &sigma).unwrap();
        let weighted = sample.clone().weighted(&weight).unwrap();
        let mean = |values: &[f64], w: &[f64]| {
            let sum: f64 = values.iter().zip(w).map(|(v, w)| v * w).sum();
            sum / w.iter().sum::<f64>()
        };
        let ones = vec![1.0; rows.len()];
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (1.0 + b.abs());
        let (crps_rows, nlpd_rows) = (crps::each(&sample), nlpd::each(&sample));
        prop_assert!(near(crps::mean(&sample), mean(&crps_rows, &ones)));
        prop_assert!(near(crps::mean(&weighted), mean(&crps_rows, &weight)));
        prop_assert!(near(nlpd::mean(&sample), mean(&nlpd_rows, &ones)));
        prop_assert!(near(nlpd::mean(&weighted), mean(&nlpd_rows, &weight)));
        for (i, (&e, &s)) in error.iter().zip(&sigma).enumerate() {
            prop_assert_eq!(crps_rows[i], crps::crps(e, s));
            prop_assert_eq!(crps::each_dsigma(&sample)[i], crps::dcrps_dsigma(e, s));
            prop_assert_eq!(crps::each_dforecast(&sample)[i], crps::dcrps_dforecast(e, s));
        }
        let squares: Vec<f64> = error.iter().map(|e| e * e).collect();
        let sizes: Vec<f64> = error.iter().map(|e| e.abs()).collect();
        prop_assert!(near(deterministic::mean_squared_error(&weighted), mean(&squares, &weight)));
        prop_assert!(near(deterministic::mean_absolute_error(&weighted), mean(&sizes, &weight)));
        prop_assert!(near(deterministic::bias(&weighted), mean(&error, &weight)));
    }
}

#[test]
fn extreme_magnitudes_give_the_limits() {
    assert_eq!(crps::crps(1e300, 1e-300), 1e300);
    assert_eq!(crps::crps(-1e300, 1e-300), 1e300);
    assert!((crps::crps(1e-300, 1e300) / (1e300 * crps::crps(0.0, 1.0)) - 1.0).abs() < 1e-15);
    assert_eq!(crps::dcrps_dsigma(1e300, 1e-300), -0.564_189_583_547_756_3);
    assert_eq!(nlpd::nlpd(1e300, 1e-300), f64::INFINITY);
    let (error, sigma) = ([3e200, -4e200], [1e200, 1e200]);
    let sample = Sample::new(&error, &sigma).unwrap();
    let rmse = deterministic::root_mean_squared_error(&sample);
    assert!((rmse / (12.5f64.sqrt() * 1e200) - 1.0).abs() < 1e-15);
    let (error, sigma) = ([3e-200, -4e-200], [1e-200, 1e-200]);
    let sample = Sample::new(&error, &sigma).unwrap();
    let rmse = deterministic::root_mean_squared_error(&sample);
    assert!((rmse / (12.5f64.sqrt() * 1e-200) - 1.0).abs() < 1e-15);
}
