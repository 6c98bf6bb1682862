//! `errbar backtest`: what error bars would have been, row by row, and whether they could be trusted.

mod page;
mod words;

use std::path::PathBuf;

use anyhow::{Context, bail};
use errbar::Split;
use errbar::walk::{self, Learning, Refit, Walk};
use errbar_table::dates;
use errbar_table::{NewColumn, NewKind, NewValues};

use self::words::Summary;
use crate::arguments::{TableArguments, Threads, parse_probability};
use crate::console::Console;
use crate::files::FileArguments;
use crate::learning::{ColumnArguments, Debias, LearningArguments};
use crate::training::{Source, Training};
use crate::{output, stop, with_columns};

/// Walk through the past: fit, forecast, observe, and fit again.
///
/// Says what the error bars of a series would have been, had errbar been there: a model is learned from
/// the rows before --start; every later row gets its error bars from what was known by then (--delay) and
/// from nothing else; what is then observed is followed, so that error bars grow and shrink with the errors,
/// and now and then the model is fitted again (--refit). Then says whether these error bars could be trusted,
/// month by month and group by group, beside those that follow nothing and one constant sigma.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar backtest prices.csv --time hour --forecast mu --observation price --delay 48 -o walked.csv
  errbar backtest river.csv --time date --forecast sim --observation flow --lag 1,2 --start 2010-01-01
  errbar backtest stations.csv --time date --group station --refit never

Writes the table with new columns, empty before the start: sigma, lower_90 and upper_90 for --interval 0.9,
guaranteed_lower_90 and guaranteed_upper_90 for --guarantee 0.9 (-inf and inf where unbounded), pit (the
probability that the law gave to less than was observed), crps; debiased, the forecast moved by its bias, where
that was learned.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FileArguments,

    #[command(flatten)]
    columns: ColumnArguments,

    /// Where the walk begins: the share of rows before it, or a time as in the column of times.
    #[arg(long, value_name = "SHARE|TIME", default_value = "0.7", allow_hyphen_values = true)]
    start: String,

    /// When the model is fitted again: after a time (30d), when so many more rows are known (500), when they
    /// have grown by a share (10%), or never.
    #[arg(long, value_name = "WHEN", default_value = "10%", value_parser = parse_refit)]
    refit: Refit,

    /// Central intervals that hold the observation with these probabilities.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0.5,0.9,0.99", allow_negative_numbers = true, value_parser = parse_probability)]
    interval: Vec<f64>,

    /// Guaranteed intervals of these levels, too: read off rows that are kept from the model (as in errbar fit
    /// --guarantee), and moved as rows are observed so that they hold their share in the long run whatever the
    /// errors do. They may be unbounded.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_probability)]
    guarantee: Vec<f64>,

    /// Where to write the table: .csv, .tsv, .jsonl (also .gz or .zst) or .parquet; - is standard output [default: nowhere].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a page that shows the walk, too, .html: as errbar report does, with the series, its worst week,
    /// and coverage and scores over time.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    learning: LearningArguments,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

fn parse_refit(text: &str) -> Result<Refit, String> {
    let wrong =
        || String::from("give a time (30d), a number of rows (500), a share (10%) or never");
    if text == "never" {
        return Ok(Refit::Never);
    }
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.trim().parse::<f64>() {
            Ok(percent) if percent >= 0.1 && percent.is_finite() => {
                Ok(Refit::Growth(percent / 100.0))
            }
            _ => Err(wrong()),
        };
    }
    match text.parse() {
        Ok(errbar::series::Span::Moments(rows)) => Ok(Refit::Rows(rows as usize)),
        Ok(errbar::series::Span::Time(seconds)) => Ok(Refit::Time(seconds)),
        Err(_) => Err(wrong()),
    }
}

impl Arguments {
    /// When the model is fitted again, as it was typed.
    fn refit_text(&self) -> String {
        match self.refit {
            Refit::Never => "never".into(),
            Refit::Rows(rows) => rows.to_string(),
            Refit::Time(seconds) => errbar::series::Span::Time(seconds).to_string(),
            Refit::Growth(share) => format!("{}%", output::percent(share)),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    if let Some(page) = &arguments.report {
        let words = "the report is a page, and its file ends in .html";
        output::check_ending(page, &["html", "htm"], words)?;
        output::check_place(page)?;
    }
    if arguments.columns.time.is_none() {
        bail!("a walk needs the time of each row: name its column with --time");
    }
    if let Some(output) = &arguments.output {
        with_columns::check(output)?;
        if arguments.files.has_stdin() {
            bail!("the table is read twice: name a file instead of standard input");
        }
    }
    let pool = arguments.threads.pool()?;
    pool.install(|| {
        let source = Source {
            files: arguments.files.given(),
            columns: &arguments.columns,
            learning: &arguments.learning,
            table: &arguments.table,
            console: arguments.console,
            fit_mean: false,
            unobserved: true,
        };
        let training = Training::read(&source)?;
        let walked = walk(arguments, &training)?;
        stop::check()?;
        if let Some(output) = &arguments.output {
            write(arguments, output, &training, &walked)?;
        }
        let summary = Summary::of(arguments, &training, &walked)?;
        if let Some(page) = &arguments.report {
            page::write(arguments, page, &training, &walked, summary.facts())?;
        }
        summary.say(arguments.console, arguments.json)?;
        if let Some(output) = arguments.output.as_ref().filter(|path| path.as_os_str() != "-") {
            arguments.console.note(&format!("wrote {}", output.display()));
        }
        if let Some(page) = &arguments.report {
            arguments.console.note(&format!("wrote {}; open it in a browser", page.display()));
        }
        Ok(())
    })
}

fn walk(arguments: &Arguments, training: &Training) -> anyhow::Result<Walk> {
    let Some((rows, series)) = training.series_rows().zip(arguments.columns.series(training))
    else {
        bail!("a walk needs the time of each row: name its column with --time");
    };
    training.notes.iter().for_each(|note| arguments.console.note(note));
    let learning = Learning {
        rows,
        names: &training.names,
        categories: &training.categories,
        weight: training.weight.as_deref(),
        options: arguments.learning.options()?.split(Split::InOrder),
        debias_if_it_pays: arguments.learning.debias == Debias::Auto,
        follow_held_out: false,
        promised: &[],
    };
    // The followed law's own beside guaranteed ones.
    let levels: Vec<f64> = arguments.interval.iter().chain(&arguments.guarantee).copied().collect();
    let options = walk::Backtest {
        start: start(arguments, training, rows.time)?,
        refit: arguments.refit,
        levels: &levels,
        guarantee: &arguments.guarantee,
    };
    if matches!(options.refit, Refit::Time(_)) && !training.kept.time_is_dates() {
        bail!(
            "--refit by time needs dates, and the times are numbers: give rows, a share or never"
        );
    }
    let progress = arguments.console.progress("Walking");
    let walked = walk::backtest(&learning, &series, &options, &progress);
    drop(progress);
    stop::check()?;
    walked.map_err(|error| match error {
        errbar::Error::NothingToWalk { .. } => anyhow::anyhow!("{error} (--start)"),
        errbar::Error::TooFewForLevel { .. } | errbar::Error::LevelTwice { .. } => {
            anyhow::anyhow!("{error} (--guarantee)")
        }
        error => training.kept.refused(error),
    })
}

/// Where the walk begins.
fn start(arguments: &Arguments, training: &Training, time: &[f64]) -> anyhow::Result<f64> {
    let text = arguments.start.trim();
    let dates = training.kept.time_is_dates();
    if let Ok(share) = text.parse::<f64>()
        && (0.0..1.0).contains(&share)
        && (dates || share > 0.0)
    {
        let row = (share * time.len() as f64) as usize;
        // Rows are in the order of time.
        return Ok(time.get(row).copied().unwrap_or(f64::INFINITY));
    }
    if !dates {
        return text.parse().ok().filter(|start: &f64| start.is_finite()).with_context(|| {
            format!("--start {text:?} is neither a share of rows, from 0 to 1, nor a time")
        });
    }
    let texts = [text.to_string()];
    let format = arguments.columns.dates.date_format.as_ref();
    let told = format.and_then(|format| dates::read_as(&texts, format).ok());
    let found = told.or_else(|| dates::read(&texts).ok().map(|dates| dates.seconds));
    let found = found.and_then(|times| times.first().copied());
    found.filter(|time| time.is_finite()).with_context(|| {
        format!(
            "--start {text:?} is neither a share of rows, from 0 to 1, nor a date as in 2024-01-31"
        )
    })
}

/// The table with what was said of each row.
fn write(
    arguments: &Arguments,
    output: &std::path::Path,
    training: &Training,
    walked: &Walk,
) -> anyhow::Result<()> {
    let rows = training.kept.total_rows();
    let mut columns: Vec<(NewColumn, Vec<f64>)> = Vec::new();
    let mut add = |name: String, value: &dyn Fn(&walk::Walked) -> f64| {
        let mut values = vec![f64::NAN; rows];
        for row in &walked.rows {
            values[training.kept.row_in_table(row.row) as usize - 1] = value(row);
        }
        columns.push((NewColumn { name, kind: NewKind::Number }, values));
    };
    if let (Some(_), Some(raw)) = (&training.ensemble, training.raw.as_ref())
        && let Some(forecast) = &raw.forecast
    {
        add("forecast".into(), &|row| forecast[row.row]);
    }
    if walked.fitted.bias().is_some() || walked.fitted.without_lags().is_some() {
        add("debiased".into(), &|row| row.forecast);
    }
    add("sigma".into(), &|row| row.sigma);
    for (nth, level) in arguments.interval.iter().enumerate() {
        let percent = output::percent(*level);
        add(format!("lower_{percent}"), &|row| row.intervals[nth].0);
        add(format!("upper_{percent}"), &|row| row.intervals[nth].1);
    }
    for (nth, level) in arguments.guarantee.iter().enumerate() {
        let percent = output::percent(*level);
        add(format!("guaranteed_lower_{percent}"), &|row| row.guaranteed[nth].0);
        add(format!("guaranteed_upper_{percent}"), &|row| row.guaranteed[nth].1);
    }
    add("pit".into(), &|row| row.pit[0]);
    add("crps".into(), &|row| row.crps[0]);
    let (names, values): (Vec<NewColumn>, Vec<Vec<f64>>) = columns.into_iter().unzip();
    let values = |rows: std::ops::Range<usize>| {
        values.iter().map(|column| NewValues::Numbers(column[rows.clone()].to_vec())).collect()
    };
    let files = arguments.files.given();
    with_columns::write(files, &arguments.table.format.format(), output, names, &values)
}
