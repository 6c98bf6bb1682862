//! `errbar predict`: error bars for new forecasts, row by row.

mod categories;
mod columns;
mod error_bars;
mod in_time;
pub mod numbers;
mod outputs;
mod promise;
mod tally;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use errbar::Monitor;
use errbar::fit::Fitted;
use errbar::law::Bounds;
use errbar::sigma::Model;
use errbar_table::dates::DateFormat;
use errbar_table::files::Files;
use errbar_table::{Batch, NewColumn, NewKind, NewValues, Sink, Stream, Tables};

use self::categories::Categories;
use self::columns::Columns;
use self::error_bars::ErrorBars;
use self::in_time::InTime;
use self::outputs::Outputs;
use self::promise::Promise;
use self::tally::Tally;
use crate::arguments::{FormatArguments, Threads, parse_finite, parse_probability};
use crate::columns::Sources;
use crate::console::Console;
use crate::files::FileArguments;
use crate::series::words_of;
use crate::{advice, arguments, model_file, stop};

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
/// column of times then, as it must for one that takes hour of day, day of week or season from it.
///
/// The table is read as a stream, whatever its size, and several files as one table, whose columns the first file has in
/// its order; files with other columns are refused, or get a file each in a folder (-o FOLDER/).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar predict tomorrow.csv --model model.json -o with-sigma.csv
  errbar predict tomorrow.csv --model model.json --interval 0.5,0.9 -o out.parquet
  errbar predict rain.csv --model rain.json --quantiles 0.1,0.5,0.9 --exceed 30 --lower 0 -o out.csv
  zcat archive.csv.gz | errbar predict - --model model.json | gzip > out.csv.gz
  errbar predict '2024-*.csv' --model model.json -o 2024.parquet --source-column file
  errbar predict archive --model model.json -o with-sigma/         a file for each in the folder archive

New columns: sigma, support, outside, outside_input; skew, the logarithm of how much farther errors reach above
than below, where that varies with the inputs; lower_90 and upper_90 for --interval 0.9; quantile_0.1 for --quantiles
0.1; exceed_30 for --exceed 30; sigma_lower_90 and sigma_upper_90 for --sigma-band 0.9;
guaranteed_lower_90 and guaranteed_upper_90 for --guarantee 0.9, and with a model fitted with --group
guaranteed_by_90, the group that the promise is made to: the row's own, \"small groups together\" for
one with too few errors on its own, or nothing (then there is no interval) for one that the model has
not seen; forecast, when the model makes the forecast itself (--fit-mean) or of members (--members); debiased, the forecast moved
by its bias, when that was learned (--debias): with --lower or --upper the centre of the law before it ends there, which may lie
beyond.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FileArguments,

    /// The model file that errbar fit wrote.
    #[arg(long, short, value_name = "FILE")]
    model: PathBuf,

    /// Where to write: .csv, .tsv, .jsonl (also .gz or .zst) or .parquet; - is standard output. A folder (with / at its end, or one that is there) takes a file of its own for each that is read, of the same name and kind.
    #[arg(long, short, value_name = "FILE|FOLDER/", default_value = "-")]
    output: PathBuf,

    /// Add a column of this name with the file that each row is from.
    #[arg(long, value_name = "NAME", value_parser = arguments::parse_column)]
    source_column: Option<String>,

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

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    arguments::bounds(arguments.lower, arguments.upper)?;
    if arguments.files.has_stdin() && arguments.model.as_os_str() == "-" {
        bail!("the table and the model cannot both come from standard input: name a file for one");
    }
    Outputs::check_name(&arguments.output)?;
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
    let format = arguments.format.format();
    let files = Files::of(arguments.files.given())?;
    let tables = Tables::open(&files.paths, &format)?;
    for what in &files.left_out {
        arguments.console.note(&format!("no tables by their names, and not read: {what}"));
    }
    tables.notes().for_each(|note| arguments.console.note(&advice::on_note(note)));
    let model = arguments.model.display().to_string();
    let why = format!(", an input of {model}");
    let mut columns = Sources::new(fitted.ensemble(), &tables, &model)?;
    for (column, name) in fitted.table_names().iter().enumerate() {
        if fitted.category(column).is_none() {
            columns.ask(&tables, name, &why)?;
        }
    }
    let categories = Categories::of(fitted, &tables, format.na.clone(), &why)?;
    let around = ForecastSource::of(arguments, fitted, &tables, &mut columns)?;
    if let Some(name) = fitted.prior() {
        columns.ask(&tables, name, &format!(", the prior sigma of {model}"))?;
    }
    let promise = Promise::of(arguments, fitted, &tables)?;
    let outputs = Outputs::of(&arguments.output, &tables)?;
    let walk = InTime::of(arguments, fitted)?;
    let new = Columns::of_arguments(arguments, fitted, &promise, bounds);
    check_names(&tables, &arguments.new_columns(&new))?;
    let sources = (0..tables.len()).map(|file| tables.file(file).to_string()).collect();
    let name = tables.name();
    let work = Work { arguments, fitted, around, promise, walk, categories, new, columns, sources };
    let written = match outputs {
        Outputs::One(path) => {
            let stream = tables.stream(&work.columns.columns, &work.texts())?;
            let mut tally = Tally::default();
            work.copy(stream, &path, (0, 1), &mut tally).map(|_| tally)
        }
        Outputs::Each { folder, paths } => work.copy_each(tables, &folder, &paths),
    };
    match written {
        Ok(tally) => {
            tally.say(arguments.console, &name, &fitted.called(), arguments);
            work.say_without_time();
            tally.say_missing(arguments.console, fitted);
            Ok(())
        }
        // A reader that has seen enough is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Arguments {
    /// The columns to add, as they are written.
    fn new_columns(&self, new: &Columns) -> Vec<NewColumn> {
        let mut all = new.new_columns(&self.prefix);
        let source = self.source_column.iter();
        all.extend(source.map(|name| NewColumn { name: name.clone(), kind: NewKind::Text }));
        all
    }
}

/// A name can stand once only.
fn check_names(tables: &Tables, added: &[NewColumn]) -> anyhow::Result<()> {
    for (nth, NewColumn { name, .. }) in added.iter().enumerate() {
        if let Some(file) = tables.with_column(name) {
            bail!(
                "{file} has a column \"{name}\" already; have the names of new ones begin with something \
                 else, as in --prefix new_"
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

/// Everything that is needed to put error bars on rows, wherever they come from and go.
struct Work<'a> {
    arguments: &'a Arguments,
    fitted: &'a Fitted,
    around: ForecastSource,
    promise: Promise,
    walk: Option<InTime>,
    categories: Categories<'a>,
    new: Columns,
    /// The columns of numbers to read, and what is made of them.
    columns: Sources,
    /// What messages call the files.
    sources: Arc<[String]>,
}

impl Work<'_> {
    /// The columns of text to read: of groups, and of categories.
    fn texts(&self) -> Vec<usize> {
        [&self.promise.column()[..], self.categories.columns()].concat()
    }

    /// Reads, adds and writes until the table ends: one of some. Says how many rows there were.
    fn copy(
        &self,
        mut stream: Stream,
        output: &std::path::Path,
        (nth, of): (usize, usize),
        tally: &mut Tally,
    ) -> anyhow::Result<u64> {
        let added = self.arguments.new_columns(&self.new);
        let mut sink = Sink::create(output, &stream, added, &stop::asked)?;
        let progress = self.arguments.console.progress("Rows");
        let mut count = 0;
        let mut next = stream.next_batch()?;
        while let Some(batch) = next {
            stop::check()?;
            count += batch.rows as u64;
            // The next rows are read while these are written.
            let write = || self.write(batch, &mut sink, tally);
            let (written, following) = rayon::join(write, || stream.next_batch());
            written?;
            next = following?;
            let share = stream.share_read().unwrap_or(0.0);
            progress.progress((nth as f64 + share) / of as f64);
        }
        sink.finish()?;
        Ok(count)
    }

    /// Adds error bars to some rows and writes them.
    fn write(&self, mut batch: Batch, sink: &mut Sink, tally: &mut Tally) -> anyhow::Result<()> {
        self.columns.arrange(&mut batch);
        self.categories.put_into(&mut batch);
        let (walk, new) = (self.walk.as_ref(), &self.new);
        let rows = ErrorBars::of(self.fitted, &self.around, &self.promise, walk, new, &batch)?;
        tally.count(&rows, &self.promise, new);
        tally.look(&batch, self.fitted);
        let mut values = new.values(rows);
        if self.arguments.source_column.is_some() {
            let source = vec![Some(batch.file as u32); batch.rows];
            values.push(NewValues::Texts(self.sources.clone(), source));
        }
        Ok(sink.write(&batch, &values)?)
    }

    /// Says how many rows have no time, where their place in the calendar is an input.
    fn say_without_time(&self) {
        let count = self.walk.as_ref().map_or(0, InTime::without_time);
        if count > 0 && !self.fitted.calendar().is_empty() {
            self.arguments.console.warn(&format!(
                "{count} {} no time, so that the {} of {} not known: {} as outside",
                if count == 1 { "row has" } else { "rows have" },
                words_of(self.fitted),
                if count == 1 { "it is" } else { "them is" },
                if count == 1 { "it counts" } else { "they count" },
            ));
        }
    }

    /// The same for each file by itself.
    fn copy_each(
        &self,
        mut tables: Tables,
        folder: &std::path::Path,
        paths: &[PathBuf],
    ) -> anyhow::Result<Tally> {
        crate::output::make_folder(folder)?;
        let (mut tally, mut before) = (Tally::default(), 0);
        for (file, path) in paths.iter().enumerate() {
            let stream = tables.stream_of(file, &self.columns.columns, &self.texts(), before)?;
            before += self.copy(stream, path, (file, paths.len()), &mut tally)?;
        }
        Ok(tally)
    }
}

/// Where the forecast that error bars are put around comes from.
enum ForecastSource {
    /// A column of the table, after the inputs.
    Column,
    /// The model's own.
    Model,
    /// Nowhere, and nobody needs it.
    Nothing,
}

impl ForecastSource {
    fn of(
        arguments: &Arguments,
        fitted: &Fitted,
        table: &Tables,
        columns: &mut Sources,
    ) -> anyhow::Result<Self> {
        if let Some(name) = &arguments.forecast {
            columns.ask(table, name, "")?;
            return Ok(Self::Column);
        }
        if fitted.mean().is_some() {
            return Ok(Self::Model);
        }
        let needed =
            [&arguments.interval, &arguments.quantiles, &arguments.exceed, &arguments.guarantee]
                .iter()
                .any(|asked| !asked.is_empty())
                || fitted.bias().is_some()
                || fitted.ensemble().is_some();
        match fitted.forecast() {
            Some(name) if needed => {
                let why = ", the forecast, which intervals, quantiles, thresholds and debiasing need; name its \
                           column with --forecast";
                columns.ask(table, name, why)?;
                Ok(Self::Column)
            }
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
