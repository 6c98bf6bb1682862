//! Draws one figure of each kind that the paper has, from made-up numbers, into a folder:
//!
//! ```sh
//! cargo run --release -p errbar-report --example gallery -- FOLDER
//! ```

use std::error::Error;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};
use std::path::Path;

use errbar_report::{
    Anchor, Axis, Band, Dash, Density, ErrorBars, Figure, Histogram, Isolines, Legend, Line, Panel,
    Rule, Scatter, Text, color,
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder to draw into")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let figures = [
        ("01-crps-isolines", crps_isolines()),
        ("02-regression", regression()),
        ("05-histogram", histogram()),
        ("06-sigma-bands", sigma_bands()),
        ("09-density", density()),
        ("10-error-bars", error_bars()),
        ("11-logarithmic", logarithmic()),
        ("12-side-by-side", side_by_side()),
        ("13-hostile", hostile()),
    ];
    for (name, figure) in figures {
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg()?)?;
        std::fs::write(folder.join(format!("{name}.png")), figure.png(2.0)?)?;
    }
    Ok(())
}

fn axis(n: usize, low: f64, high: f64) -> Vec<f64> {
    (0..n).map(|i| low + (high - low) * i as f64 / (n - 1) as f64).collect()
}

fn map(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|&x| f(x)).collect()
}

fn normal(rng: &mut Pcg64) -> f64 {
    rng.sample(StandardNormal)
}

/// Good to 1e-3, which a picture does not show (Abramowitz and Stegun 7.1.25 in one line more).
fn erf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.47047 * x.abs());
    let tail = t * (0.3480242 - t * (0.0958798 - t * 0.7478556)) * (-x * x).exp();
    (1.0 - tail).copysign(x)
}

fn crps(sigma: f64, error: f64) -> f64 {
    let z = error / sigma;
    let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    sigma * (z * erf(z * FRAC_1_SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
}

fn crps_isolines() -> Figure {
    let (sigma, error) = (axis(160, 1e-3, 3.0), axis(161, -2.0, 2.0));
    let values: Vec<f64> =
        error.iter().flat_map(|&e| sigma.iter().map(move |&s| crps(s, e))).collect();
    // The sigma that minimises CRPS: error² = sigma² ln 2.
    let root = 2f64.ln().sqrt();
    Figure::new(560.0, 420.0).with(
        Panel::new(Axis::new("σ"), Axis::new("ε = y − μ"))
            .with(Isolines::new(sigma, error.clone(), values).label("CRPS"))
            .with(
                Line::new(map(&error, |e| e.abs() / root), error)
                    .dash(Dash::Dashed)
                    .label("σ_{min}(ε)"),
            ),
    )
}

fn regression() -> Figure {
    let mut rng = Pcg64::seed_from_u64(2);
    let x = axis(100, 0.0, 1.0);
    let mean = |x: f64| 2.0 * (2.0 * PI * x).sin();
    let y = map(&x, |x| mean(x) + (0.5 + x) * normal(&mut Pcg64::seed_from_u64((x * 1e6) as u64)));
    let fine = axis(300, 0.0, 1.0);
    let off = 0.2 * normal(&mut rng);
    Figure::new(560.0, 400.0).with(
        Panel::new("x", "y")
            .with(Scatter::new(x, y).color(color::FORECAST).label("data"))
            .with(
                Line::new(fine.clone(), map(&fine, mean))
                    .color(color::TRUTH)
                    .width(2.0)
                    .label("true mean"),
            )
            .with(
                Line::new(fine.clone(), map(&fine, |x| mean(x) * 0.92 + off))
                    .dash(Dash::Dashed)
                    .width(2.0)
                    .label("predicted mean"),
            ),
    )
}

fn histogram() -> Figure {
    let mut rng = Pcg64::seed_from_u64(5);
    let mut counts = vec![0.0; 50];
    for _ in 0..100_000 {
        let sum: f64 = (0..5).map(|_| rng.random::<f64>()).sum();
        let sigma = 0.45 * (1.0 + (PI * sum / 5.0).cos()) + 0.05;
        counts[((sigma * 50.0) as usize).min(49)] += 1.0;
    }
    Figure::new(560.0, 360.0)
        .with(Panel::new("true σ", "count").with(Histogram::new(axis(51, 0.0, 1.0), counts)))
}

fn sigma_bands() -> Figure {
    let x = axis(200, 0.0, 1.0);
    let truth = |x: f64| x + 0.5;
    let panel = |title: &str, wiggle: f64, legend: bool| {
        let mean = |x: f64| truth(x) - 0.04 + wiggle * (7.0 * x).sin();
        let sd = |x: f64| 0.08 + 0.15 * (x - 0.5).powi(2);
        let band = |n: f64| (map(&x, |x| mean(x) - n * sd(x)), map(&x, |x| mean(x) + n * sd(x)));
        let label = |text: &str| if legend { text.to_string() } else { String::new() };
        let ((low2, high2), (low1, high1)) = (band(2.0), band(1.0));
        Panel::new("x", "σ(x)")
            .title(title)
            .with(
                Band::new(x.clone(), low2, high2)
                    .color(color::TWO_SD)
                    .label(label("±2 standard deviations")),
            )
            .with(
                Band::new(x.clone(), low1, high1)
                    .color(color::ONE_SD)
                    .label(label("±1 standard deviation")),
            )
            .with(
                Line::new(x.clone(), map(&x, mean))
                    .color(color::ESTIMATE)
                    .label(label("mean estimate")),
            )
            .with(
                Line::new(x.clone(), map(&x, truth))
                    .color(color::TRUTH)
                    .dash(Dash::Dashed)
                    .label(label("truth")),
            )
    };
    Figure::new(560.0, 600.0).share_x().with(panel("Network", 0.05, true)).with(panel(
        "Polynomial",
        0.02,
        false,
    ))
}

fn density() -> Figure {
    let n = 80;
    let edges = axis(n + 1, 0.0, 1.0);
    let centre = |i: usize| (i as f64 + 0.5) / n as f64;
    let mut values = vec![f64::NAN; n * n];
    // The outermost columns are empty, as in real data.
    for i in 2..n - 2 {
        let (sigma, width) = (centre(i), 0.03 + 0.06 * centre(i));
        for j in 0..n {
            let z = (centre(j) - (0.04 + 0.92 * sigma)) / width;
            values[j * n + i] = (-z * z / 2.0).exp();
        }
    }
    Figure::new(520.0, 430.0).with(
        Panel::new("true σ", "predicted σ")
            .with(
                Density::new(edges.clone(), edges, values)
                    .key("density, each column scaled to one"),
            )
            .with(Rule::diagonal().color(color::TRUTH).width(1.8).label("predicted = true")),
    )
}

fn error_bars() -> Figure {
    let mut rng = Pcg64::seed_from_u64(10);
    let x = axis(25, 1.0, 25.0);
    let forecast = map(&x, |x| 12.0 + 4.0 * (x / 4.0).sin());
    let sigma = map(&x, |x| 0.6 + 0.08 * x);
    let observed: Vec<f64> =
        forecast.iter().zip(&sigma).map(|(f, s)| f + s * normal(&mut rng)).collect();
    let edge = |sign: f64| -> Vec<f64> {
        forecast.iter().zip(&sigma).map(|(f, s)| f + sign * 1.645 * s).collect()
    };
    Figure::new(560.0, 360.0).title("Forecasts with 90% intervals").with(
        Panel::new("lead time (h)", "wind speed (m s^{−1})")
            .with(
                ErrorBars::new(x.clone(), edge(-1.0), edge(1.0))
                    .color(color::FORECAST)
                    .width(1.4)
                    .label("90% interval"),
            )
            .with(
                Scatter::new(x.clone(), forecast).color(color::FORECAST).filled().label("forecast"),
            )
            .with(Scatter::new(x, observed).color(color::TRUTH).label("observation"))
            .with(Rule::vertical(12.0).dash(Dash::Dotted))
            .with(Text::new(12.2, 6.0, "noon").anchor(Anchor::Start)),
    )
}

fn logarithmic() -> Figure {
    let n = map(&axis(40, 1.0, 6.0), |k| 10f64.powf(k));
    Figure::new(560.0, 380.0).with(
        Panel::new(Axis::new("rows").log(), Axis::new("error of σ").log())
            .with(Line::new(n.clone(), map(&n, |n| 2.0 / n.sqrt())).label("n^{−1/2}"))
            .with(
                Line::new(n.clone(), map(&n, |n| 1.0 / n.powf(0.8) + 1e-4))
                    .color(color::FORECAST)
                    .dash(Dash::Dashed)
                    .label("network"),
            )
            .with(
                Line::new(n.clone(), map(&n, |n| SQRT_2 / n.powf(0.4)))
                    .color(color::GREEN)
                    .dash(Dash::Dotted)
                    .label("constant"),
            ),
    )
}

fn side_by_side() -> Figure {
    let mut rng = Pcg64::seed_from_u64(12);
    let wave = |k: f64| {
        let x = axis(400, -1.0, 1.0);
        let y = map(&x, |x| (k * PI * x).sin() * 1e5);
        Panel::new("x", "y").title(format!("k = {k}")).with(Line::new(x, y).label("full panel"))
    };
    let cloud: Vec<(f64, f64)> =
        (0..200_000).map(|_| (normal(&mut rng), normal(&mut rng))).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = cloud.into_iter().unzip();
    Figure::new(720.0, 560.0)
        .title("Two columns")
        .columns(2)
        .with(wave(1.0))
        .with(wave(9.0))
        .with(Panel::new("x", "y").title("200,000 points").with(Scatter::new(x, y).radius(1.0)))
        .with(Panel::new("nothing", "here").title("Empty"))
}

fn hostile() -> Figure {
    let x = [0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0];
    let y = [1e300, 2.0, f64::INFINITY, 1.0, 3.0, f64::NEG_INFINITY, 4.0];
    Figure::new(560.0, 320.0).title("<b>&\"'> 雨 \u{1b} σ_{a&b}").with(
        Panel::new("</text><script>alert(1)</script>", Axis::new("y ]]> &amp;").range(0.0, 5.0))
            .legend(Legend::Above)
            .with(Line::new(x, y).label("<tspan>"))
            .with(Scatter::new(x, y).label("a_b & c^d")),
    )
}
