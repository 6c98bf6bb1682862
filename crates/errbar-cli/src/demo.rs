//! `errbar demo`: the main job on data the project ships.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use errbar::Data;
use errbar::fit::{Fitted, Known};
use errbar::words::significant;
use errbar_report::{Axis, Band, Color, Figure, Line, Panel, Scatter, color};

use crate::console::Console;
use crate::{model_file, output, report, stop};

/// See it work: error bars for measurements after a motorcycle impact.
///
/// Runs the commands one would type for one's own table, on 133 published measurements that errbar
/// ships, and says what they show. Takes a second or two.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to write to; it is made if it is not there.
    #[arg(long, default_value = "errbar-demo", value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    console: Console,
}

/// A link to the file in examples/data: a crate must have all its files in its own folder.
const DATA: &str = include_str!("motorcycle.csv");

/// The 90% interval is what people look at.
const LEVEL: f64 = 0.9;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    let (folder, console) = (&arguments.out, arguments.console);
    output::make_folder(folder)?;
    let path = |name: &str| folder.join(name);
    let (x, y) = measurements()?;
    output::write(&path("motorcycle.csv"), DATA.as_bytes())?;
    let (low, high) =
        (x.iter().fold(f64::INFINITY, |a, b| a.min(*b)), x.iter().fold(0.0, |a: f64, b| a.max(*b)));
    let grid: Vec<f64> = (0..=200).map(|i| low + (high - low) * f64::from(i) / 200.0).collect();
    let times: String = grid.iter().map(|t| format!("{t:.2}\n")).collect();
    output::write(&path("times.csv"), format!("time_ms\n{times}").as_bytes())?;

    console.result(
        "133 measurements of the head's acceleration after a simulated motorcycle impact (Silverman\n\
         1985). There is no forecaster, so errbar makes one: a Gaussian process. Then it learns how\n\
         large the errors are as a function of time.\n\n",
    )?;
    let typed = |arguments: &[&str]| typed(console, arguments);
    let shown = |name: &str| path(name).display().to_string();
    let (data, model, times, bars) =
        (shown("motorcycle.csv"), shown("model.json"), shown("times.csv"), shown("error-bars.csv"));
    typed(&[
        "fit",
        &data,
        "--inputs",
        "time_ms",
        "--observation",
        "acceleration_g",
        "--fit-mean",
        "gp",
        "-o",
        &model,
    ])?;
    typed(&["predict", &times, "--model", &model, "--interval", "0.9", "-o", &bars])?;

    let fitted = model_file::read(Path::new(&model))?;
    let lines = Lines::of(&fitted, &grid)?;
    console.result(&lines.table(&fitted, &x, &y)?)?;
    let figure = lines.figure(&x, &y);
    let failed = "cannot draw the figure";
    output::write(&path("error-bars.svg"), figure.svg().context(failed)?.as_bytes())?;
    output::write(&path("error-bars.png"), &figure.png(2.0).context(failed)?)?;
    console.result("\nCan these error bars be trusted?\n")?;
    let page = shown("report.html");
    typed(&[
        "report",
        &data,
        "--model",
        &model,
        "--observation",
        "acceleration_g",
        "--title",
        "Motorcycle impact",
        "-o",
        &page,
    ])?;
    console.result(&format!(
        "In {}: the data, the model, the error bars for 201 times, a picture of them (error-bars.png),\n\
         and a page that shows whether they can be trusted: open {page} in a browser.\n\
         Now with your own table: errbar fit --help\n",
        folder.display()
    ))
}

/// Runs a command of the program as if it had been typed.
fn typed(console: Console, arguments: &[&str]) -> anyhow::Result<()> {
    let words: Vec<String> = arguments.iter().map(|word| report::quoted(word)).collect();
    console.result(&format!("$ errbar {}\n", words.join(" ")))?;
    let quiet = if console.quiet { &["--quiet"][..] } else { &[] };
    let all = ["errbar"].iter().chain(arguments).chain(quiet);
    crate::dispatch(&<crate::Arguments as clap::Parser>::try_parse_from(all)?)?;
    console.result("\n")
}

fn measurements() -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let pair = |line: &str| -> Option<(f64, f64)> {
        let (x, y) = line.split_once(',')?;
        Some((x.trim().parse().ok()?, y.trim().parse().ok()?))
    };
    let pairs: Option<Vec<(f64, f64)>> = DATA.lines().skip(1).map(pair).collect();
    Ok(pairs.context("the shipped data cannot be read")?.into_iter().unzip())
}

/// Forecast and error bars over time.
struct Lines {
    time: Vec<f64>,
    forecast: Vec<f64>,
    sigma: Vec<f64>,
    /// The ends of the intervals.
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Lines {
    fn of(fitted: &Fitted, time: &[f64]) -> anyhow::Result<Self> {
        let predicted = fitted.predict(time)?;
        let forecast = predicted.forecast().context("the model makes no forecast")?.to_vec();
        let (low, high) = predicted.interval(LEVEL)?;
        Ok(Self { time: time.to_vec(), forecast, sigma: predicted.into_sigma(), low, high })
    }

    /// How wide, and how often right, by time. Each measurement is forecast from all the others, with
    /// the sigma that it was given while it was held out.
    fn table(&self, fitted: &Fitted, x: &[f64], y: &[f64]) -> anyhow::Result<String> {
        let mut text = String::from(
            "How sure is the forecast? 90% intervals by time:\n\n\
             \x20    time   forecast   90% interval          sigma   hold the measurement\n",
        );
        let mean = fitted.mean().context("the model makes no forecast")?;
        let left = mean.leave_one_out(x, y)?.context("the model was fitted to other rows")?;
        let error = left.error;
        let own = fitted.predict(x)?;
        // Of models that had not seen the row.
        let held: Vec<bool> = (fitted.known(&Data::new(x, 1, &error)?).iter().enumerate())
            .map(|(row, known)| match known {
                Known::HeldOut { sigma, law, .. } => (*sigma, law.clone()),
                _ => (own.sigma()[row], own.law_of(row).clone()),
            })
            .zip(&error)
            .map(|((sigma, law), error)| {
                let (low, high) = law.interval(LEVEL);
                (low * sigma..=high * sigma).contains(error)
            })
            .collect();
        for part in [0.0..10.0, 10.0..15.0, 15.0..20.0, 20.0..30.0, 30.0..40.0, 40.0..60.0] {
            let middle = 0.5 * (part.start + part.end);
            let near = self.time.partition_point(|t| *t < middle).min(self.time.len() - 1);
            let (mu, there) = (self.forecast[near], self.sigma[near]);
            let here = || (0..x.len()).filter(|&i| part.contains(&x[i]));
            let _ = writeln!(
                text,
                "{:>6} ms {:>10} {:>8} to {:>6} {:>12} {:>12} of {}",
                middle,
                significant(mu, 3),
                significant(self.low[near], 3),
                significant(self.high[near], 3),
                significant(there, 3),
                here().filter(|&i| held[i]).count(),
                here().count()
            );
        }
        Ok(text)
    }

    fn figure(&self, x: &[f64], y: &[f64]) -> Figure {
        let panel = Panel::new(Axis::new("time after the impact (ms)"), "head acceleration (g)")
            .with(
                Band::new(self.time.clone(), self.low.clone(), self.high.clone())
                    .label("90% interval"),
            )
            .with(Scatter::new(x, y).color(Color::hex(0x6B6B6B)).label("measurements"))
            .with(
                Line::new(self.time.clone(), self.forecast.clone())
                    .color(color::FORECAST)
                    .width(2.0)
                    .label("forecast"),
            );
        Figure::new(600.0, 420.0).with(panel)
    }
}
