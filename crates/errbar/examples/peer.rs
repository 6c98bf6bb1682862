//! Times errbar on the data that `benches/peers.py` writes, and prints one JSON object for it.
//!
//! `peer DIR REPEAT` reads raw little-endian doubles from DIR and takes the best of REPEAT runs.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use errbar::score::{AccuracyReliability, Beta, Sample, crps};
use serde_json::{Map, Value, json};

fn read(dir: &Path, name: &str) -> Option<Vec<f64>> {
    let bytes = fs::read(dir.join(name).with_extension("f64")).ok()?;
    let (values, _) = bytes.as_chunks::<8>();
    Some(values.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// The shortest of `repeat` runs, in seconds, and the last result.
fn best<T>(repeat: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut shortest = f64::INFINITY;
    loop_times(repeat, || {
        let start = Instant::now();
        let result = black_box(run());
        shortest = shortest.min(start.elapsed().as_secs_f64());
        result
    })
    .map(|result| (shortest, result))
    .expect("at least one run")
}

fn loop_times<T>(times: usize, mut run: impl FnMut() -> T) -> Option<T> {
    (0..times.max(1)).map(|_| run()).last()
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
    println!("{}", Value::Object(out));
    Ok(())
}
