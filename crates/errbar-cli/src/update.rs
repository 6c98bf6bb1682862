//! `errbar update`: what was observed since, taken into a model.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use errbar::fit::{Fitted, Rows};
use errbar::series::Series;
use errbar::walk::{self, Kept, Late, State, Updated};
use errbar::words::{percent, significant};
use errbar_table::dates::DateFormat;
use serde_json::json;

use crate::arguments::{TableArguments, Threads, parse_column, parse_date_format};
use crate::console::Console;
use crate::series::{Asked, Observations, SeriesTable, when};
use crate::text_table::wrapped;
use crate::{kept, model_file, stop};

/// Take what was observed since into a model.
///
/// A model that was fitted with --time follows what is observed: `errbar update` takes newly observed rows,
/// moves location, width and shape of its error bars accordingly, remembers the latest errors for --lag, and
/// writes the model, whole or not at all. It is not a fit: it takes milliseconds. `errbar predict` then
/// gives error bars that know about yesterday.
///
/// Rows must be later than those that the model knows; what is not observed yet may be left empty. Late and
/// corrected rows are named, and taken with --replace as long as they are recent.
///
/// Says whether error bars are fine as they were fitted, were rescaled (and by how much), or whether the model
/// should be fitted again.
///
/// Of a model that was fitted with --guarantee, says too what share of observations guaranteed intervals have
/// held, which share is proven of as many rows whatever the errors do (the rows that --delay holds back are
/// counted), and whether the next intervals are unbounded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar update model.json yesterday.csv
  errbar update model.json archive.csv --prometheus > /var/lib/node_exporter/errbar.prom
  errbar update model.json --undo

Exit status: 0 when error bars are fine or rescaled, 3 when the model should be fitted again.")]
pub(crate) struct Arguments {
    /// The model file, which is written anew.
    model: PathBuf,

    /// The table with what was observed: CSV (also gzipped) or Parquet; - is standard input. Several files, the tables in
    /// a folder, or what a pattern in quotes matches are one table.
    #[arg(required_unless_present = "undo", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The column with the forecast [default: the one the model was fitted with].
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    forecast: Option<String>,

    /// The column with what was observed [default: the one the model was fitted with].
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    observation: Option<String>,

    /// How the times are written, where that is not as in the table the model was fitted to (as in errbar fit
    /// --date-format).
    #[arg(long, value_name = "FORMAT", value_parser = parse_date_format)]
    date_format: Option<DateFormat>,

    /// Take late and corrected rows too, in the place of what is known.
    #[arg(long)]
    replace: bool,

    /// Take the last update back.
    #[arg(long, conflicts_with_all = ["files", "replace", "forecast", "observation"])]
    undo: bool,

    /// Where to write the model [default: where it was].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,

    /// Print what was found as text for Prometheus.
    #[arg(long, conflicts_with = "json")]
    prometheus: bool,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    console: Console,
}

/// The exit status of a model that should be fitted again.
const REFIT: u8 = 3;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    stop::listen();
    let output = arguments.output.as_ref().unwrap_or(&arguments.model);
    if output.as_os_str() == "-" {
        bail!("a model is not written to standard output: name a file with --output");
    }
    if arguments.undo {
        return undo(arguments, output);
    }
    Threads::worth(&arguments.files).pool()?.install(|| update(arguments, output))
}

fn undo(arguments: &Arguments, output: &Path) -> anyhow::Result<u8> {
    let (fitted, text) = model_file::read_with_text(&arguments.model)?;
    let Some(before) = walk::undo(series_of(&fitted, arguments)?) else {
        bail!("{} has no update that could be undone", arguments.model.display());
    };
    let latest = before.latest().map(|time| when(&before, time));
    model_file::write_after(output, (fitted, &text), before)?;
    arguments.console.note(&match latest {
        Some(latest) => format!("took the last update back; the model knows rows up to {latest}"),
        None => String::from("took the last update back"),
    });
    Ok(0)
}

/// The series that a model is of.
fn series_of<'a>(fitted: &'a Fitted, arguments: &Arguments) -> anyhow::Result<&'a Series> {
    fitted.series().ok_or_else(|| {
        anyhow!(
            "{} knows no time: fit it with --time, and it follows what is observed",
            arguments.model.display()
        )
    })
}

fn update(arguments: &Arguments, output: &Path) -> anyhow::Result<u8> {
    let (fitted, text) = model_file::read_with_text(&arguments.model)?;
    let series = series_of(&fitted, arguments)?;
    let asked = Asked {
        files: &arguments.files,
        table: &arguments.table,
        console: arguments.console,
        forecast: arguments.forecast.as_deref(),
        observation: arguments.observation.as_deref(),
        date_format: arguments.date_format.as_ref(),
        observations: Observations::Needed,
    };
    let table = SeriesTable::read(&fitted, series, &asked)?;
    table.kept.notes().iter().for_each(|note| arguments.console.note(note));
    let updated = walk::update(&fitted, &table.rows(), arguments.replace)
        .map_err(|error| table.kept.refused(error))?;
    stop::check()?;
    let said = Said::of(&table, &fitted, &updated, output.display().to_string())?;
    let late = in_words(&table, &updated, arguments.replace);
    model_file::write_after(output, (fitted, &text), updated.series)?;
    late.iter().for_each(|(is_wrong, text)| match is_wrong {
        true => arguments.console.warn(text),
        false => arguments.console.note(text),
    });
    if arguments.json {
        arguments.console.result(&format!("{}\n", serde_json::to_string_pretty(&said.json())?))?;
    } else if arguments.prometheus {
        arguments.console.result(&said.prometheus())?;
    } else if !arguments.console.quiet {
        arguments.console.result(&said.words())?;
    }
    Ok(if said.state.needs_a_fit() { REFIT } else { 0 })
}

/// What is to be said.
struct Said {
    output: String,
    taken: usize,
    latest: Option<String>,
    /// The latest moment as a number.
    time: Option<f64>,
    state: State,
    kept: Vec<Kept>,
    ahead: Option<Ahead>,
    learned: u64,
    late: usize,
}

/// What can be said of rows that are not observed yet.
struct Ahead {
    rows: usize,
    outside: f64,
    /// The mean absolute error to expect, and that of training.
    expected: f64,
    training: f64,
}

impl Said {
    fn of(
        table: &SeriesTable,
        fitted: &Fitted,
        updated: &Updated,
        output: String,
    ) -> anyhow::Result<Self> {
        let series = &updated.series;
        Ok(Self {
            output,
            taken: updated.taken,
            latest: series.latest().map(|time| when(series, time)),
            time: series.latest(),
            state: updated.state,
            kept: updated.kept.clone(),
            ahead: ahead(table, fitted, updated)?,
            learned: series.learned(),
            late: updated.late.iter().filter(|(_, why)| *why != Late::Known).count(),
        })
    }

    fn word(&self) -> &'static str {
        match self.state {
            state if state.needs_a_fit() => "refit",
            state if state.is_fine() => "fine",
            _ => "rescaled",
        }
    }

    fn words(&self) -> String {
        let State { factor, shift, range, .. } = self.state;
        let rows = if self.taken == 1 { "1 row".into() } else { format!("{} rows", self.taken) };
        let mut text = format!("Took {rows} into {}", self.output);
        if let Some(latest) = &self.latest {
            text += &format!(", which knows up to {latest}");
        }
        text += ".\n";
        let width = match factor {
            f if f >= 1.0 => format!("{} times as wide as fitted", significant(f, 3)),
            f => format!("{} times as narrow as fitted", significant(1.0 / f, 3)),
        };
        let moved = match shift.abs() {
            s if s < 0.05 => String::new(),
            s => format!(
                ", and centred {} sigma {}",
                significant(s, 2),
                if shift > 0.0 { "higher" } else { "lower" }
            ),
        };
        let groups = match range.1 / range.0 > 1.2 {
            true => {
                format!(" (groups: {} to {})", significant(range.0, 3), significant(range.1, 3))
            }
            false => String::new(),
        };
        let verdict = match self.word() {
            _ if self.learned == 0 => {
                "Nothing has been observed yet: error bars are as fitted.".into()
            }
            "fine" => {
                format!("Fine: error bars are about as fitted (factor {}).", significant(factor, 3))
            }
            "rescaled" => format!("Rescaled: error bars are now {width}{moved}{groups}."),
            _ => format!(
                "Refit: error bars are now {width}{moved}{groups}. That is too far from what was learned: fit \
                 the model again, with recent rows."
            ),
        };
        text += &wrapped(&verdict, 96);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if let Some(Ahead { rows, outside, expected, training }) = self.ahead {
            let line = format!(
                "{rows} rows are not observed yet: {} of them lie where there were hardly any training rows, \
                 and the mean absolute error to expect is {} ({} in training).",
                percent(outside),
                significant(expected, 3),
                significant(training, 3)
            );
            text += &wrapped(&line, 96);
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        text + &kept::words(&self.kept)
    }

    fn json(&self) -> serde_json::Value {
        let ahead = self.ahead.as_ref().map(|ahead| {
            json!({
                "rows": ahead.rows,
                "share_outside": ahead.outside,
                "expected_absolute_error": ahead.expected,
                "training_absolute_error": ahead.training,
            })
        });
        json!({
            "model_file": self.output,
            "state": self.word(),
            "factor": self.state.factor,
            "shift": self.state.shift,
            "groups": {"least_factor": self.state.range.0, "largest_factor": self.state.range.1},
            "rows_taken": self.taken,
            "rows_not_taken": self.late,
            "rows_followed": self.learned,
            "latest": self.latest,
            "not_observed_yet": ahead,
            "guarantee": kept::json(&self.kept),
        })
    }

    fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, value: f64| {
            text += &format!(
                "# HELP errbar_{name} {help}\n# TYPE errbar_{name} gauge\nerrbar_{name} {value}\n"
            );
        };
        gauge("width_factor", "Width of error bars over that of the fit.", self.state.factor);
        gauge("shift_sigmas", "Shift of error bars in sigmas.", self.state.shift);
        let refit = f64::from(u8::from(self.state.needs_a_fit()));
        gauge("refit", "1 when the model should be fitted again.", refit);
        gauge("rows_taken", "Observed rows taken by the last update.", self.taken as f64);
        gauge("rows_late", "Late or corrected rows that were not taken.", self.late as f64);
        gauge("rows_followed", "Observed rows that error bars follow.", self.learned as f64);
        if let Some(time) = self.time {
            gauge("latest_time", "The latest moment observed.", time);
        }
        if let Some(ahead) = &self.ahead {
            gauge("ahead_share_outside", "Share of coming rows unlike training.", ahead.outside);
            gauge("ahead_absolute_error", "Mean absolute error to expect of them.", ahead.expected);
        }
        text + &kept::prometheus(&self.kept)
    }
}

/// What was not taken, and whether that is a warning.
fn in_words(table: &SeriesTable, updated: &Updated, replace: bool) -> Vec<(bool, String)> {
    let mut said = Vec::new();
    let known = updated.late.iter().filter(|(_, why)| *why == Late::Known).count();
    let old = updated.late.iter().filter(|(_, why)| *why == Late::TooOld).count();
    if known + old > 0 {
        let or = if old > 0 { ", or are older than what the model remembers" } else { "" };
        said.push((false, format!("{} of the rows were known already{or}", known + old)));
    }
    let kinds = [
        (Late::Corrected, "known with another error"),
        (Late::Missed, "of a moment that has passed"),
    ];
    for (why, what) in kinds {
        let of = updated.late.iter().filter(|(_, of)| *of == why).map(|(row, _)| *row);
        let rows: Vec<usize> = of.collect();
        let Some(&first) = rows.first() else { continue };
        let group = table.group_of(first).map_or(String::new(), |group| format!(", {group}"));
        let time = table.rows().time[first];
        let text = format!(
            "{} {what} and not taken, the first in {} ({}{group}){}",
            if rows.len() == 1 { "1 row is".into() } else { format!("{} rows are", rows.len()) },
            match table.kept.files().is_empty() {
                true => format!("row {}", table.kept.row_in_table(first)),
                false => table.kept.place(first),
            },
            when(&updated.series, time),
            if replace { "" } else { "; --replace takes them" }
        );
        said.push((true, text));
    }
    said
}

/// What can be said before observations arrive.
fn ahead(table: &SeriesTable, fitted: &Fitted, updated: &Updated) -> anyhow::Result<Option<Ahead>> {
    let rows = table.rows();
    let open: Vec<usize> = (0..rows.len()).filter(|&row| rows.observation[row].is_nan()).collect();
    let last = updated.series.latest().unwrap_or(f64::NEG_INFINITY);
    let open: Vec<usize> = open.into_iter().filter(|&row| rows.time[row] > last).collect();
    let model = fitted.without_lags().unwrap_or(fitted);
    let width = model.names().len();
    let all = model.with_calendar(rows.inputs, rows.time)?;
    let takes = |row: &usize| {
        let inputs = &all[row * width..(row + 1) * width];
        inputs.iter().all(|x| x.is_finite() || (x.is_nan() && model.takes_missing()))
    };
    let open: Vec<usize> = open.into_iter().filter(takes).collect();
    if open.is_empty() {
        return Ok(None);
    }
    let inputs: Vec<f64> =
        open.iter().flat_map(|&row| &all[row * width..(row + 1) * width]).copied().collect();
    let said = model.predict(Rows::new(&inputs))?;
    let outside = said.outside().iter().filter(|outside| **outside).count() as f64;
    let count = open.len() as f64;
    // The mean distance of a law from zero, by its quantiles.
    let mean = said.of_laws(|law| {
        (1..200).map(|k| law.quantile(f64::from(k) / 200.0).abs()).sum::<f64>() / 199.0
    });
    let sizes = said.sigma().iter().enumerate().map(|(row, sigma)| mean(row) * sigma);
    let expected = updated.state.factor * sizes.sum::<f64>() / count;
    let training = model.debiased().unwrap_or(model.training()).mean_absolute_error;
    Ok(Some(Ahead { rows: open.len(), outside: outside / count, expected, training }))
}
