//! `errbar predict`: error bars for new forecasts, row by row.

mod columns;
mod error_bars;
mod in_time;
mod promise;
mod tally;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::bail;
use errbar::Monitor;
use errbar::fit::Fitted;
use errbar::law::Bounds;
use errbar::sigma::Model;
use errbar_table::dates::DateFormat;
use errbar_table::{Format, Na, NewColumn, Sink, Stream, Table};

use self::columns::Columns;
use self::error_bars::ErrorBars;
use self::in_time::InTime;
use self::promise::Promise;
use self::tally::Tally;
use crate::arguments::{Threads, parse_finite, parse_probability};
use crate::console::Console;
use crate::{arguments, model_file, output, stop, with_columns};

/// Put error bars on new forecasts.
///
/// Copies a table and adds sigma, the size of the error to expect in each row, and whatever else is
/// asked for: intervals, quantiles, probabilities of exceeding a threshold. Every row is kept, in
/// order; where an input is infinite, the new fields are empty, and where one is missing that never was
/// in training the row counts as outside. The column "support" says how near the rows are that the model was trained
/// on, in all inputs together (1: as near as they are to each other; 0.5: twice as far), "outside"
/// whether that is less than 0.5, and "outside_input" which input takes the row there. As support runs
/// out sigma is held by that of the nearest training rows, and deserves less trust.
///
/// A model that was fitted with --time follows what was observed: what errbar update took, and, with --lag or
/// --observation, what rows of the table itself hold, as soon as it was known. The table must have the model's
/// column of times then.
///
/// The table is read as a stream, whatever its size.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar predict tomorrow.csv --model model.json -o with-sigma.csv
  errbar predict tomorrow.csv --model model.json --interval 0.5,0.9 -o out.parquet
  errbar predict rain.csv --model rain.json --quantiles 0.1,0.5,0.9 --exceed 30 --lower 0 -o out.csv
  zcat archive.csv.gz | errbar predict - --model model.json | gzip > out.csv.gz

New columns: sigma, support, outside, outside_input; lower_90 and upper_90 for --interval 0.9; quantile_0.1 for --quantiles
0.1; exceed_30 for --exceed 30; sigma_lower_90 and sigma_upper_90 for --sigma-band 0.9;
guaranteed_lower_90 and guaranteed_upper_90 for --guarantee 0.9, and with a model fitted with --group
guaranteed_by_90, the group that the promise is made to: the row's own, \"small groups together\" for
one with too few errors on its own, or nothing (then there is no interval) for one that the model has
not seen; forecast, when the model makes the forecast itself (--fit-mean); debiased, the forecast moved
by its bias, when that was learned (--debias).")]
pub(crate) struct Arguments {
    /// The table with the inputs: CSV (also gzipped) or Parquet; - is standard input.
    file: PathBuf,

    /// The model file that errbar fit wrote.
    #[arg(long, short, value_name = "FILE")]
    model: PathBuf,

    /// Where to write: .csv, .csv.gz or .parquet (or .tsv, from a table with tabs); - is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Central intervals that hold the observation with these probabilities.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_probability)]
    interval: Vec<f64>,

    /// Intervals that hold the observation with these probabilities whatever the distribution of
    /// errors, as long as rows are exchangeable (for a model fitted with --guarantee). With groups the
    /// promise holds in each, in small ones together; rows of other groups get none.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_probability)]
    guarantee: Vec<f64>,

    /// A band that holds sigma itself with this probability (smooth models only): it is learned from
    /// some rows, and not known exactly.
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = parse_probability)]
    sigma_band: Option<f64>,

    /// Quantiles of the observation.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_probability)]
    quantiles: Vec<f64>,

    /// The probability that the observation exceeds each of these thresholds.
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_finite)]
    exceed: Vec<f64>,

    /// The observation cannot be below this: what would lie there counts as this value.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite)]
    lower: Option<f64>,

    /// The observation cannot be above this.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite)]
    upper: Option<f64>,

    /// The column with the forecast, which intervals, quantiles and thresholds need [default: the
    /// one the model was fitted with].
    #[arg(long, value_name = "COLUMN", value_parser = arguments::parse_column)]
    forecast: Option<String>,

    /// The column with what was observed, in rows of which that is known already: later rows then know about
    /// it, after the --delay of the fit (for a model fitted with --time) [default: none, or with --lag the one
    /// the model was fitted with, if the table has it].
    #[arg(long, value_name = "COLUMN", value_parser = arguments::parse_column, conflicts_with = "as_fitted")]
    observation: Option<String>,

    /// How the times are written, where that is not as in the table the model was fitted to (as in errbar fit
    /// --date-format).
    #[arg(long, value_name = "FORMAT", value_parser = arguments::parse_date_format)]
    date_format: Option<DateFormat>,

    /// Error bars as they were fitted, whatever errbar update has taken since, and whatever rows of the table
    /// have been observed.
    #[arg(long)]
    as_fitted: bool,

    /// What the names of the new columns begin with.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,

    /// The separator of a CSV file [default: the one its header has].
    #[arg(long, value_name = "CHARACTER", value_parser = arguments::parse_separator)]
    separator: Option<u8>,

    /// Numbers are written 3,14 instead of 3.14.
    #[arg(long)]
    decimal_comma: bool,

    /// What stands for a missing value besides empty fields, NA, -- and their like: texts or numbers,
    /// as in --na -999,M.
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true, value_parser = arguments::parse_na)]
    na: Vec<String>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    arguments::bounds(arguments.lower, arguments.upper)?;
    if arguments.file.as_os_str() == "-" && arguments.model.as_os_str() == "-" {
        bail!("the table and the model cannot both come from standard input: name a file for one");
    }
    with_columns::check_name(&arguments.output)?;
    let fitted = model_file::read(&arguments.model)?;
    if arguments.sigma_band.is_some() && !matches!(fitted.model(), Model::Smooth(_)) {
        bail!(
            "{} has no band on sigma (--sigma-band): a smooth model has one; fit it with --model smooth",
            arguments.model.display()
        );
    }
    // Those of the model, where no others are given.
    let known = fitted.options().bounds;
    let bounds = arguments::bounds(
        arguments.lower.or(Some(known.lower())),
        arguments.upper.or(Some(known.upper())),
    )?;
    let pool = arguments.threads.pool()?;
    pool.install(|| predict(arguments, &fitted, bounds))
}

fn predict(arguments: &Arguments, fitted: &Fitted, bounds: Bounds) -> anyhow::Result<()> {
    let Arguments { separator, decimal_comma, na, .. } = arguments;
    let (separator, decimal_comma) = (*separator, *decimal_comma);
    let format = Format { separator, decimal_comma, na: Na::new(na) };
    let table = Table::open(&arguments.file, &format)?;
    check_tabs(&arguments.output, &table)?;
    let file = table.name().to_string();
    let input = |name: &String| {
        table.column_for(name, &format!(", an input of {}", arguments.model.display()))
    };
    let mut columns: Vec<usize> =
        fitted.table_names().iter().map(input).collect::<Result<_, _>>()?;
    let around = ForecastSource::of(arguments, fitted, &table)?;
    if let ForecastSource::Column(column) = around {
        columns.push(column);
    }
    let promise = Promise::of(arguments, fitted, &table)?;
    let walk = InTime::of(arguments, fitted)?;
    let new = Columns::of_arguments(arguments, fitted, &promise, bounds);
    let added = new.new_columns(&arguments.prefix);
    check_names(&table, &added)?;
    let mut stream = table.stream(&columns, &promise.column())?;
    let mut sink = Sink::create(&arguments.output, &stream, added, &stop::asked)?;
    let written =
        copy(arguments, fitted, (&around, &promise, walk.as_ref()), &new, &mut stream, &mut sink);
    match written.and_then(|tally| Ok(sink.finish().map(|()| tally)?)) {
        Ok(tally) => {
            tally.say(arguments.console, &file, fitted.names(), arguments);
            tally.say_missing(arguments.console, fitted);
            Ok(())
        }
        // A reader that has seen enough is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The rows of a CSV file are copied as they are, so that a file whose name promises tabs needs them in
/// the table that was read.
fn check_tabs(output: &Path, table: &Table) -> anyhow::Result<()> {
    let promised = matches!(output::ending(output).as_deref(), Some("tsv" | "tsv.gz"));
    match table.separator() {
        Some(separator) if promised && separator != b'\t' => bail!(
            "cannot write {} with tabs: rows are copied as they are, and {} has {:?} between its \
             fields; write to a file that ends in .csv, .csv.gz or .parquet",
            output.display(),
            table.name(),
            char::from(separator)
        ),
        _ => Ok(()),
    }
}

/// A name can stand once only.
fn check_names(table: &Table, added: &[NewColumn]) -> anyhow::Result<()> {
    for (nth, NewColumn { name, .. }) in added.iter().enumerate() {
        if table.header().contains(name) {
            bail!(
                "{} has a column \"{name}\" already; have the names of new ones begin with something \
                 else, as in --prefix new_",
                table.name()
            );
        }
        if added[..nth].iter().any(|other| other.name == *name) {
            bail!(
                "the new column \"{name}\" is asked for twice; give each level or threshold once"
            );
        }
    }
    Ok(())
}

/// Reads, adds and writes until the table ends.
fn copy(
    arguments: &Arguments,
    fitted: &Fitted,
    (around, promise, walk): (&ForecastSource, &Promise, Option<&InTime>),
    new: &Columns,
    stream: &mut Stream,
    sink: &mut Sink,
) -> anyhow::Result<Tally> {
    let progress = arguments.console.progress("Rows");
    let mut tally = Tally::default();
    while let Some(batch) = stream.next_batch()? {
        stop::check()?;
        let rows = ErrorBars::of(fitted, around, promise, walk, new, &batch)?;
        tally.count(&rows, promise, new);
        tally.look(&batch, fitted);
        sink.write(&batch, &new.values(rows))?;
        progress.progress(stream.share_read().unwrap_or(0.0));
    }
    Ok(tally)
}

/// Where the forecast that error bars are put around comes from.
enum ForecastSource {
    /// A column of the table, read after the inputs.
    Column(usize),
    /// The model's own.
    Model,
    /// Nowhere, and nobody needs it.
    Nothing,
}

impl ForecastSource {
    fn of(arguments: &Arguments, fitted: &Fitted, table: &Table) -> anyhow::Result<Self> {
        if let Some(name) = &arguments.forecast {
            return Ok(Self::Column(table.column(name)?));
        }
        if fitted.mean().is_some() {
            return Ok(Self::Model);
        }
        let needed =
            [&arguments.interval, &arguments.quantiles, &arguments.exceed, &arguments.guarantee]
                .iter()
                .any(|asked| !asked.is_empty())
                || fitted.bias().is_some();
        match fitted.forecast() {
            Some(name) if needed => Ok(Self::Column(table.column_for(
                name,
                ", the forecast, which intervals, quantiles, thresholds and debiasing need; name its \
                 column with --forecast",
            )?)),
            None if needed => bail!(
                "intervals, quantiles and thresholds need the forecast: name its column with --forecast"
            ),
            _ => Ok(Self::Nothing),
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(errbar_table::Error::Write { error, .. }) => error.kind() == ErrorKind::BrokenPipe,
        _ => false,
    }
}
