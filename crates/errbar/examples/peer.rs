//! Times errbar on the data that `benches/peers.py` writes, and prints one JSON object for it.
//!
//! `peer DIR REPEAT` reads raw little-endian doubles from DIR and takes the best of REPEAT runs.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use errbar::score::{
    AccuracyReliability, Beta, Sample, Scores, calibration, crps, deterministic, nlpd,
};
use serde_json::{Map, Value, json};

fn read(dir: &Path, name: &str) -> Option<Vec<f64>> {
    let bytes = fs::read(dir.join(name).with_extension("f64")).ok()?;
    let (values, _) = bytes.as_chunks::<8>();
    Some(values.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// The shortest of `repeat` runs, in seconds, and the last result.
fn best<T>(repeat: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut once = || {
        let start = Instant::now();
        let result = black_box(run());
        (start.elapsed().as_secs_f64(), result)
    };
    let first = once();
    (1..repeat).map(|_| once()).fold(first, |best, next| (best.0.min(next.0), next.1))
}

/// Observed frequencies of 100 central intervals at levels from 0 to 1, as uncertainty-toolbox has
/// them, less the levels themselves.
fn interval_gaps(sample: &Sample) -> errbar::Result<Vec<f64>> {
    let levels: Vec<f64> = (1..99).map(|k| f64::from(k) / 99.0).collect();
    let inner = calibration::coverage(sample, &levels, 0.95)?;
    let gaps = inner.iter().map(|c| c.observed - c.level);
    Ok(std::iter::once(0.0).chain(gaps).chain([0.0]).collect())
}

/// The area between the broken line through the gaps and zero.
fn area(gaps: &[f64]) -> f64 {
    let piece = |pair: &[f64]| {
        let (a, b) = (pair[0], pair[1]);
        if a * b >= 0.0 { 0.5 * (a + b).abs() } else { 0.5 * (a * a + b * b) / (a - b).abs() }
    };
    gaps.windows(2).map(piece).sum::<f64>() / (gaps.len() - 1) as f64
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(repeat)) = (args.next(), args.next()) else {
        return Err("usage: peer DIR REPEAT".into());
    };
    let (dir, repeat) = (Path::new(&dir), repeat.parse::<usize>()?);
    let mut out = Map::new();

    if let (Some(error), Some(sigma)) = (read(dir, "crps_error"), read(dir, "crps_sigma")) {
        let (seconds, value) =
            best(repeat, || Sample::new(&error, &sigma).map(|sample| crps::mean(&sample)));
        out.insert("crps_mean".into(), json!({"seconds": seconds, "value": value?}));
    }

    for n in [1_000, 10_000, 1_000_000] {
        let names = (format!("ar_{n}_error"), format!("ar_{n}_sigma"));
        let (Some(error), Some(sigma)) = (read(dir, &names.0), read(dir, &names.1)) else {
            continue;
        };
        let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic)?;
        let mut gradient = vec![0.0; error.len()];
        let runs = repeat * (1_000_000 / n).clamp(1, 100);
        let (seconds, ar) = best(runs, || {
            cost.forget_order();
            cost.value_and_gradient(&sigma, &mut gradient)
        });
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let row = json!({"seconds": seconds, "value": ar?.value, "gradient_norm": norm});
        out.insert(format!("ar_cold_{n}"), row);
    }

    if let (Some(error), Some(sigmas)) = (read(dir, "fit_error"), read(dir, "fit_sigma")) {
        let n = error.len();
        let mut gradient = vec![0.0; n];
        for (name, warm) in [("ar_fit", true), ("ar_fit_cold", false)] {
            let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic)?;
            let (seconds, values) = best(repeat, || {
                cost.forget_order();
                let step = |sigma: &[f64]| {
                    if !warm {
                        cost.forget_order();
                    }
                    cost.value_and_gradient(sigma, &mut gradient).map(|ar| ar.value)
                };
                sigmas.chunks_exact(n).map(step).collect::<Result<Vec<f64>, _>>()
            });
            let values = values?;
            let seconds = seconds / values.len() as f64;
            out.insert(name.into(), json!({"seconds_per_evaluation": seconds, "values": values}));
        }
    }

    let columns = (read(dir, "uct_observation"), read(dir, "uct_forecast"), read(dir, "uct_sigma"));
    if let (Some(observation), Some(forecast), Some(sigma)) = columns {
        // From three columns to a number, checks included: what a person waits for.
        let sample = || Sample::from_forecasts(&observation, &forecast, &sigma);
        type Metric = fn(&Sample) -> errbar::Result<f64>;
        let metrics: [(&str, Metric); 8] = [
            ("mae", |s| Ok(deterministic::mean_absolute_error(s))),
            ("rmse", |s| Ok(deterministic::root_mean_squared_error(s))),
            ("sharpness", |s| Ok(deterministic::root_mean_square_sigma(s))),
            ("nll", |s| Ok(nlpd::mean(s))),
            ("crps", |s| Ok(crps::mean(s))),
            ("ma_cal", |s| Ok(mean(interval_gaps(s)?.iter().map(|gap| gap.abs())))),
            ("rms_cal", |s| Ok(mean(interval_gaps(s)?.iter().map(|gap| gap * gap)).sqrt())),
            ("miscal_area", |s| Ok(area(&interval_gaps(s)?))),
        ];
        let mut rows = Map::new();
        for (name, metric) in metrics {
            let (seconds, value) = best(10 * repeat, || metric(&sample()?));
            rows.insert(name.into(), json!({"seconds": seconds, "value": value?}));
        }
        out.insert("uct".into(), Value::Object(rows));
        let (seconds, scores) = best(repeat, || Scores::of(&sample()?));
        scores?;
        out.insert("all_scores".into(), json!({"seconds": seconds}));
    }
    let level = errbar::math::Level::available().last().map(|level| format!("{level:?}"));
    out.insert("cpu".into(), json!(level));
    println!("{}", Value::Object(out));
    Ok(())
}
