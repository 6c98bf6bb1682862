//! Every value of `score_vectors.json`, which was computed with 60 digits by another program.
//!
//! A value is met when its relative error is at most 1e-13 *or* it is within a few units of what
//! rounding the inputs alone would change (the conditioning limit). Each such limit is derived
//! where it is used.

use errbar::math::Level;
use errbar::score::{AccuracyReliability, Beta, Sample, calibration, crps, nlpd, reliability};
use serde_json::Value;

const RELATIVE: f64 = 1e-13;
const EPS: f64 = f64::EPSILON;

fn vectors(part: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("score_vectors.json")).unwrap();
    all[part].as_array().unwrap().clone()
}

/// A reference value: a decimal string of 25 digits, or a JSON number that is a double itself.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Fails unless `got` is `want` to 1e-13, or to `limit` in absolute terms.
#[track_caller]
fn meets(name: &str, got: f64, want: f64, limit: f64) {
    let error = (got - want).abs();
    assert!(
        error <= RELATIVE * want.abs() || error <= limit,
        "{name}: got {got:e}, want {want:e}, relative error {:e}, limit {limit:e}",
        error / want.abs()
    );
}

/// One test, since the level is that of the whole process.
#[test]
fn every_level_meets_every_value() {
    let levels = Level::available();
    assert!(levels.contains(&Level::Portable));
    for level in levels {
        level.put_in_use();
        points();
        sets();
        weighted();
    }
}

fn points() {
    let points = vectors("points");
    assert_eq!(points.len(), 73);
    for point in &points {
        let (error, sigma) = (number(&point["error"]), number(&point["sigma"]));
        let z = error / sigma;
        let name = |what| format!("{what} of error {error:e}, sigma {sigma:e}");
        meets(&name("crps"), crps::crps(error, sigma), number(&point["crps"]), 0.0);
        // The difference of two numbers below 0.8, each right to an ulp or so.
        let dsigma = crps::dcrps_dsigma(error, sigma);
        meets(&name("dcrps_dsigma"), dsigma, number(&point["dcrps_dsigma"]), 2.0 * EPS);
        let dforecast = crps::dcrps_dforecast(error, sigma);
        meets(&name("dcrps_dforecast"), dforecast, number(&point["dcrps_dforecast"]), 0.0);
        // z²/2 and ln sigma may cancel: the limit is an ulp of the larger.
        let parts = (0.5 * z * z).max(sigma.ln().abs());
        let got = nlpd::nlpd(error, sigma);
        meets(&name("nlpd"), got, number(&point["nlpd"]), 2.0 * EPS * parts);
        // In the tail d ln(pit) / d ln(z) = -z², so rounding z alone changes pit by z² ulps.
        let want = number(&point["pit"]); // below the smallest double it parses as 0
        let got = calibration::pit(error, sigma);
        meets(&name("pit"), got, want, 2.0 * EPS * z * z * want + f64::from_bits(1));
    }
}

fn sets() {
    let sets = vectors("sets");
    assert_eq!(sets.len(), 21);
    for set in &sets {
        let (error, sigma) = (numbers(&set["error"]), numbers(&set["sigma"]));
        let n = error.len();
        let name = |what| format!("{what} of a set of {n}");
        let sample = Sample::new(&error, &sigma).unwrap();
        let mean_absolute = errbar::score::deterministic::mean_absolute_error(&sample);
        meets(&name("mean_crps"), crps::mean(&sample), number(&set["mean_crps"]), 0.0);
        // The sum without the constant is right to an ulp or so; taking 0.399 away leaves that.
        let rs = reliability::reliability(&sample);
        let want = number(&set["rs_without_constant"]);
        meets(&name("rs"), rs, number(&set["rs"]), 2.0 * EPS * want);
        meets(&name("rs_min"), reliability::rs_min(n), number(&set["rs_min"]), 0.0);
        let got = reliability::rs_min_without_constant(n);
        meets(&name("rs_min_without_constant"), got, number(&set["rs_min_without_constant"]), 0.0);
        let got = crps::crps_min(mean_absolute);
        meets(&name("crps_min_exact"), got, number(&set["crps_min_exact"]), 0.0);
        let got = crps::crps_min_as_printed(mean_absolute);
        meets(&name("crps_min_as_printed"), got, number(&set["crps_min_as_printed"]), 0.0);

        for (beta, key) in [(Beta::Heuristic, "exact"), (Beta::AsPrinted, "as_printed")] {
            let mut cost = AccuracyReliability::new(&error, None, beta).unwrap();
            let mut gradient = vec![0.0; n];
            let ar = cost.value_and_gradient(&sigma, &mut gradient).unwrap();
            meets(&name("beta"), ar.beta, number(&set[format!("beta_{key}")]), 0.0);
            meets(&name("ar"), ar.value, number(&set[format!("ar_{key}")]), 0.0);
            meets(&name("crps in ar"), ar.crps, number(&set["mean_crps"]), 0.0);
            let rs_without = ar.rs + 1.0 / (2.0 * std::f64::consts::PI).sqrt();
            meets(&name("rs in ar"), rs_without, want, 0.0);
            if key == "exact" {
                let wanted = numbers(&set["dar_dsigma_exact"]);
                assert_eq!(wanted.len(), n);
                for (i, (got, want)) in gradient.iter().zip(wanted).enumerate() {
                    // Two differences that may cancel, each of terms right to an ulp or two.
                    let eta = error[i] / (2f64.sqrt() * sigma[i]);
                    let terms = ar.beta + (1.0 - ar.beta) * (eta / sigma[i]).abs();
                    let limit = 2.0 * EPS * terms / n as f64;
                    meets(&format!("gradient {i} of a set of {n}"), *got, want, limit);
                }
            }
        }
    }
}

fn weighted() {
    let sets = vectors("weighted");
    assert_eq!(sets.len(), 3);
    for set in &sets {
        let (error, sigma) = (numbers(&set["error"]), numbers(&set["sigma"]));
        let weight = numbers(&set["weight"]);
        let sample = Sample::new(&error, &sigma).unwrap().weighted(&weight).unwrap();
        meets("mean_crps", crps::mean(&sample), number(&set["mean_crps"]), 0.0);
        let want = number(&set["rs_without_constant"]);
        meets("rs", reliability::reliability(&sample), number(&set["rs"]), 2.0 * EPS * want);
    }
}
