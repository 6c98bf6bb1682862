//! Can these error bars be trusted? Scores two sets of them on real measurements.
//!
//! `cargo run --release -p errbar --example scores`
//!
//! The data are 133 measurements of head acceleration after a simulated motorcycle impact
//! (Silverman 1985). The forecast at each time is a smooth curve through the *other* measurements,
//! so the errors are those of honest forecasts. Its errors get error bars in two ways: one constant
//! sigma, and a sigma(x) that is simply the size of the other errors nearby.

use std::fmt::Write as _;
use std::io::Write as _;

use errbar::score::{Sample, Scores, calibration, crps, errors_of};

const DATA: &str = include_str!("../../../examples/data/motorcycle.csv");

/// The mean of `value` around each time, the row itself left out; weights fall off as a bell of the
/// given width, in milliseconds.
fn smooth_of_others(time: &[f64], value: &[f64], width: f64) -> Vec<f64> {
    let at = |i: usize| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (j, (t, v)) in time.iter().zip(value).enumerate() {
            let weight = errbar::math::exp(-0.5 * ((t - time[i]) / width).powi(2));
            if j != i {
                (sum, total) = (sum + weight * v, total + weight);
            }
        }
        sum / total
    };
    (0..time.len()).map(at).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = String::new();
    let (mut time, mut observation) = (Vec::new(), Vec::new());
    for line in DATA.lines().skip(1) {
        let (t, y) = line.split_once(',').ok_or("a line has no comma")?;
        time.push(t.trim().parse::<f64>()?);
        observation.push(y.trim().parse::<f64>()?);
    }
    let forecast = smooth_of_others(&time, &observation, 1.2);
    let error = errors_of(&observation, &forecast)?;
    let squares: Vec<f64> = error.iter().map(|e| e * e).collect();
    let mean_square = squares.iter().sum::<f64>() / squares.len() as f64;
    let constant = vec![mean_square.sqrt(); error.len()];
    let local: Vec<f64> = smooth_of_others(&time, &squares, 2.5)
        .iter()
        .map(|square| (square + 0.001 * mean_square).sqrt())
        .collect();

    writeln!(
        out,
        "Head acceleration after an impact, in g: 133 measurements and honest forecasts of them."
    )?;
    writeln!(out, "Two ways to put error bars on the same forecasts:\n")?;
    for (name, sigma) in
        [("One constant sigma", &constant), ("sigma(x), the size of the errors nearby", &local)]
    {
        let scores = Scores::of(&Sample::new(&error, sigma)?)?;
        writeln!(out, "{name}\n{}\n{scores}", "-".repeat(name.len()))?;
    }

    writeln!(out, "What the totals hide: 90% intervals, by time of the measurement\n")?;
    writeln!(out, "{:>12}{:>6}{:>28}{:>28}", "", "", "one constant sigma", "sigma(x)")?;
    writeln!(
        out,
        "{:>12}{:>6}{:>10}{:>9}{:>9}{:>10}{:>9}{:>9}",
        "time", "rows", "hold", "width", "CRPS", "hold", "width", "CRPS"
    )?;
    for (from, to) in [(0.0, 14.0), (14.0, 28.0), (28.0, 60.0)] {
        let rows: Vec<usize> =
            (0..time.len()).filter(|&i| time[i] >= from && time[i] < to).collect();
        let pick = |column: &[f64]| rows.iter().map(|&i| column[i]).collect::<Vec<f64>>();
        write!(out, "{:>9} ms{:>6}", format!("{from}-{to}"), rows.len())?;
        for sigma in [&constant, &local] {
            let (error, sigma) = (pick(&error), pick(sigma));
            let sample = Sample::new(&error, &sigma)?;
            let interval = &calibration::coverage(&sample, &[0.9], 0.95)?[0];
            let (hold, width) = (100.0 * interval.observed, interval.mean_width);
            write!(out, "{hold:>9.0}%{width:>9.1}{:>9.2}", crps::mean(&sample))?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nIn the first milliseconds one constant sigma is absurdly wide, late on it is too narrow;\n\
         sigma(x) says when the forecast can be trusted. Learning sigma(x) well is what errbar is for."
    )?;
    match std::io::stdout().write_all(out.as_bytes()) {
        // Whoever reads may have seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
