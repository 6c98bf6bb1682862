//! Every bad input is an error that names the place and the value, and nothing panics.

use errbar::Error;
use errbar::loss::LossKind;
use errbar::score::{AccuracyReliability, Beta, Sample, Scores, errors_of};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// Refused with this sentence.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: errbar::Result<T>, sentence: &str) {
    assert_eq!(result.unwrap_err().to_string(), sentence);
}

#[test]
fn samples() {
    let new = Sample::new;
    refused(new(&[], &[]), "there are no rows: at least one is needed");
    refused(new(&[1.0, 2.0], &[1.0]), "sigma has 1 values but error has 2: give one value per row");
    let finite = "every value must be finite; leave the row out or fill it in";
    refused(new(&[1.0, NAN], &[1.0, 1.0]), &format!("error at row 1 is NaN: {finite}"));
    refused(new(&[-INF, 1.0], &[1.0, 1.0]), &format!("error at row 0 is -inf: {finite}"));
    refused(new(&[1.0], &[NAN]), &format!("sigma at row 0 is NaN: {finite}"));
    refused(new(&[1.0], &[INF]), &format!("sigma at row 0 is inf: {finite}"));
    let positive = "a standard deviation must be greater than 0";
    refused(new(&[1.0, 1.0], &[1.0, 0.0]), &format!("sigma at row 1 is 0: {positive}"));
    refused(new(&[1.0, 1.0], &[-0.0, 1.0]), &format!("sigma at row 0 is -0: {positive}"));
    refused(new(&[1.0, 1.0], &[1.0, -2.5]), &format!("sigma at row 1 is -2.5: {positive}"));

    let from = Sample::from_forecasts;
    refused(from(&[], &[], &[]), "there are no rows: at least one is needed");
    refused(
        from(&[1.0], &[1.0, 2.0], &[1.0]),
        "forecast has 2 values but observation has 1: give one value per row",
    );
    refused(
        from(&[1.0], &[1.0], &[1.0, 1.0]),
        "sigma has 2 values but observation has 1: give one value per row",
    );
    refused(from(&[NAN], &[1.0], &[1.0]), &format!("observation at row 0 is NaN: {finite}"));
    refused(from(&[1.0], &[INF], &[1.0]), &format!("forecast at row 0 is inf: {finite}"));
    refused(
        from(&[0.0, 1.5e308], &[0.0, -1.5e308], &[1.0, 1.0]),
        "observation 1.5e308 minus forecast -1.5e308 at row 1 overflows: rescale the data",
    );
    assert!(errors_of(&[1.0, 2.0], &[0.5, NAN]).is_err());
}

#[test]
fn weights() {
    let sample = || Sample::new(&[1.0, 2.0], &[1.0, 1.0]).unwrap();
    refused(
        sample().weighted(&[1.0]),
        "weight has 1 values but error has 2: give one value per row",
    );
    refused(sample().weighted(&[1.0, -0.5]), "weight at row 1 is -0.5: weights must be 0 or more");
    refused(
        sample().weighted(&[NAN, 1.0]),
        "weight at row 0 is NaN: every value must be finite; leave the row out or fill it in",
    );
    refused(sample().weighted(&[0.0, 0.0]), "all 2 weights are 0: at least one row must count");
    assert!(sample().maybe_weighted(None).unwrap().weight().is_none());
}

#[test]
fn weights_of_any_size_count_by_their_ratios() {
    let (error, sigma) = ([100.0, -3.0, 50.0], [30.0, 2.0, 40.0]);
    let scores = |weight: [f64; 3]| {
        Scores::of(&Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap()).unwrap()
    };
    let plain = scores([1.0, 2.0, 4.0]);
    // Powers of two, so that the ratios are exact: down to the smallest double, up to the largest.
    for power in [-1074, -1000, -200, 200, 900, 1021] {
        let unit = 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
        let scaled = scores([unit, 2.0 * unit, 4.0 * unit]);
        assert!((scaled.crps / plain.crps - 1.0).abs() < 1e-14, "unit {unit:e}");
        assert!((scaled.rs - plain.rs).abs() < 1e-14, "unit {unit:e}");
        assert!((scaled.ar.value - plain.ar.value).abs() < 1e-14, "unit {unit:e}");
    }
}

#[test]
fn costs() {
    let new = |error, beta| AccuracyReliability::new(error, None, beta);
    refused(
        new(&[1.0], Beta::Fixed(1.5)).map(|c| c.beta()),
        "beta is 1.5: it must lie between 0 (reliability only) and 1 (accuracy only)",
    );
    assert!(new(&[1.0], Beta::Fixed(NAN)).is_err());
    assert_eq!(new(&[], Beta::Heuristic).unwrap_err(), Error::Empty);
    let mut cost = new(&[1.0, 2.0], Beta::Heuristic).unwrap();
    assert_eq!(cost.value(&[1.0, 0.0]), Err(Error::SigmaNotPositive { index: 1, value: 0.0 }));
    refused(
        cost.value_and_gradient(&[1.0, 1.0], &mut [0.0]),
        "gradient has 1 values but error has 2: give one value per row",
    );
    for kind in [LossKind::Ar(Beta::Heuristic), LossKind::Crps, LossKind::Nlpd] {
        assert!(kind.on(&[NAN], None).is_err());
        assert!(kind.on(&[1.0], Some(&[-1.0])).is_err());
        let mut loss = kind.on(&[1.0, 2.0], None).unwrap();
        assert!(loss.value(&[1.0]).is_err());
        assert!(loss.value(&[1.0, NAN]).is_err());
        assert!(loss.value_and_gradient(&[1.0, 1.0], &mut [0.0]).is_err());
        assert!(loss.curvature(&[1.0, 1.0], &mut [0.0]).is_err());
        assert!(loss.curvature(&[1.0, 0.0], &mut [0.0; 2]).is_err());
        assert!(loss.value(&[1.0, 1.0]).is_ok(), "an error leaves the loss usable");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any doubles at all: an answer or an error, never a panic, and no NaN from finite input.
    #[test]
    fn nothing_panics(
        rows in proptest::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..40),
        weighted in any::<bool>()
    ) {
        let error: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let sigma: Vec<f64> = rows.iter().map(|r| r.1.abs()).collect();
        let weight: Vec<f64> = rows.iter().map(|r| r.2.abs()).collect();
        let weight = weighted.then_some(&weight[..]);
        if let Ok(sample) = Sample::new(&error, &sigma).and_then(|s| s.maybe_weighted(weight)) {
            let scores = Scores::of(&sample).unwrap();
            for score in [
                scores.crps, scores.mae, scores.rmse, scores.nlpd, scores.rs, scores.rms_z,
                scores.crps_skill, scores.ar.value, scores.ar.beta,
                scores.decomposition.reliability, scores.decomposition.potential,
            ] {
                prop_assert!(!score.is_nan(), "{:?}", scores);
            }
            prop_assert!(!scores.to_string().contains("NaN"), "{}", scores);
            let mut cost = AccuracyReliability::new(&error, weight, Beta::Heuristic).unwrap();
            let mut gradient = vec![0.0; error.len()];
            let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
            prop_assert!(!ar.value.is_nan() && gradient.iter().all(|g| !g.is_nan()));
            for beta in [0.0, 1.0] {
                let mut cost = AccuracyReliability::new(&error, weight, Beta::Fixed(beta)).unwrap();
                let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
                prop_assert!(!ar.value.is_nan() && gradient.iter().all(|g| !g.is_nan()));
            }
        }
    }
}
