//! `errbar predict`: error bars for new forecasts, row by row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use errbar::fit::Fitted;
use errbar::fit::guarantee::Category;
use errbar::math::{erfc, erfcinv, erfinv};
use errbar::sigma::Model;
use errbar::words::significant;
use errbar_table::{Batch, Format, Na, NewColumn, NewKind, NewValues, Odd, Sink, Stream, Table};
use rayon::prelude::*;

use crate::arguments::{Threads, parse_probability};
use crate::voice::Voice;
use crate::{arguments, fill_values, model_file, output, promise, stop};

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
    voice: Voice,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    if let (Some(lower), Some(upper)) = (arguments.lower, arguments.upper)
        && lower >= upper
    {
        bail!("--lower {lower} is not below --upper {upper}: swap them, or leave one out");
    }
    if arguments.file.as_os_str() == "-" && arguments.model.as_os_str() == "-" {
        bail!("the table and the model cannot both come from standard input: name a file for one");
    }
    output::check_ending(
        &arguments.output,
        &TABLES,
        "tables are written to files that end in .csv, .csv.gz or .parquet (or .tsv, where fields are \
         separated by tabs)",
    )?;
    let fitted = model_file::read(&arguments.model)?;
    if arguments.sigma_band.is_some() && !matches!(fitted.model(), Model::Smooth(_)) {
        bail!(
            "{} has no band on sigma (--sigma-band): a smooth model has one; fit it with --model smooth",
            arguments.model.display()
        );
    }
    let pool = arguments.threads.pool()?;
    pool.install(|| predict(arguments, &fitted))
}

fn predict(arguments: &Arguments, fitted: &Fitted) -> anyhow::Result<()> {
    let Arguments { separator, decimal_comma, na, .. } = arguments;
    let (separator, decimal_comma) = (*separator, *decimal_comma);
    let format = Format { separator, decimal_comma, na: Na::new(na) };
    let table = Table::open(&arguments.file, &format)?;
    check_tabs(&arguments.output, &table)?;
    let file = table.name().to_string();
    let input = |name: &String| {
        table.column_for(name, &format!(", an input of {}", arguments.model.display()))
    };
    let mut columns: Vec<usize> = fitted.names().iter().map(input).collect::<Result<_, _>>()?;
    let around = Around::of(arguments, fitted, &table)?;
    if let Around::Column(column) = around {
        columns.push(column);
    }
    let promise = Promise::of(arguments, fitted, &table)?;
    let new = New::of(arguments, fitted, &promise);
    let added = new.columns(&arguments.prefix);
    check_names(&table, &added)?;
    let mut stream = table.stream(&columns, &promise.column())?;
    let mut sink = Sink::create(&arguments.output, &stream, added, &stop::asked)?;
    let written = copy(arguments, fitted, (&around, &promise), &new, &mut stream, &mut sink);
    match written.and_then(|seen| sink.finish().map(|()| seen)) {
        Ok(seen) => {
            seen.say(arguments.voice, &file, fitted.names(), arguments);
            seen.say_missing(arguments.voice, fitted);
            Ok(())
        }
        // A reader that has seen enough is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// How the names of tables may end: besides Parquet, what is plain text to whoever opens it.
const TABLES: [&str; 8] = ["csv", "csv.gz", "parquet", "tsv", "tsv.gz", "txt", "dat", "gz"];

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
    (around, promise): (&Around, &Promise),
    new: &New,
    stream: &mut Stream,
    sink: &mut Sink,
) -> anyhow::Result<Seen> {
    let bar = arguments.voice.bar("Rows", 1000);
    let mut seen = Seen::default();
    while let Some(batch) = stream.next_batch()? {
        stop::check()?;
        let rows = Predicted::of(fitted, around, promise, arguments, &batch)?;
        seen.count(&rows, promise);
        seen.look(&batch, fitted);
        sink.write(&batch, &new.values(&rows, arguments))?;
        bar.set_position((1000.0 * stream.share_read().unwrap_or(0.0)) as u64);
    }
    bar.finish_and_clear();
    Ok(seen)
}

/// Where the forecast that error bars are put around comes from.
enum Around {
    /// A column of the table, read after the inputs.
    Column(usize),
    /// The model's own.
    Model,
    /// Nowhere, and nobody needs it.
    Nothing,
}

impl Around {
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

/// Rows with their error bars; NaN where something is missing.
struct Predicted {
    forecast: Vec<f64>,
    sigma: Vec<f64>,
    /// The ends of the band on sigma; empty when it was not asked for.
    band: (Vec<f64>, Vec<f64>),
    /// For each level how far the guaranteed interval reaches.
    reach: Vec<Vec<f64>>,
    /// For each level who the promise is made to, by its place among [`Promise::names`].
    by: Vec<Vec<Option<u32>>>,
    /// Rows that could have an interval, but whose groups the guarantee does not know.
    strangers: u64,
    support: Vec<f64>,
    outside: Vec<Option<bool>>,
    /// For rows outside, which input takes them there.
    outside_input: Vec<Option<u32>>,
}

/// Rows that one thread takes at a time.
const CHUNK: usize = 2048;

impl Predicted {
    fn of(
        fitted: &Fitted,
        around: &Around,
        promise: &Promise,
        arguments: &Arguments,
        batch: &Batch,
    ) -> anyhow::Result<Self> {
        let groups = promise.groups(fitted, batch);
        let (inputs, takes_missing) = (fitted.names().len(), fitted.takes_missing());
        let missing = || vec![f64::NAN; batch.rows];
        let mut out = Self {
            forecast: missing(),
            sigma: missing(),
            band: (missing(), missing()),
            reach: vec![missing(); arguments.guarantee.len()],
            by: Vec::new(),
            strangers: 0,
            support: missing(),
            outside: vec![None; batch.rows],
            outside_input: vec![None; batch.rows],
        };
        let chunks = out.forecast.par_chunks_mut(CHUNK).zip(out.sigma.par_chunks_mut(CHUNK));
        let ends = out.band.0.par_chunks_mut(CHUNK).zip(out.band.1.par_chunks_mut(CHUNK));
        let trust = out.support.par_chunks_mut(CHUNK).zip(out.outside_input.par_chunks_mut(CHUNK));
        let trust = out.outside.par_chunks_mut(CHUNK).zip(trust);
        chunks.zip(trust).zip(ends).enumerate().try_for_each(
            |(chunk, (((forecast, sigma), (outside, (support, input))), (low, high)))| -> anyhow::Result<()> {
                let from = chunk * CHUNK;
                let mut known: Vec<usize> = Vec::with_capacity(sigma.len());
                let mut rows: Vec<f64> = Vec::with_capacity(sigma.len() * inputs);
                for i in 0..sigma.len() {
                    let row = batch.numbers[..inputs].iter().map(|column| column[from + i]);
                    if row.clone().all(|x| x.is_finite() || (x.is_nan() && takes_missing)) {
                        known.push(i);
                        rows.extend(row);
                    }
                }
                let predicted = fitted.predict(&rows)?;
                for (k, &i) in known.iter().enumerate() {
                    sigma[i] = predicted.sigma[k];
                    outside[i] = Some(predicted.outside[k]);
                    input[i] = predicted.outside_input[k].map(|input| input as u32);
                    if let Some(known) = &predicted.support {
                        support[i] = known[k];
                    }
                }
                let ends = match arguments.sigma_band {
                    Some(level) => fitted.band(&rows, level)?,
                    None => None,
                };
                if let Some(ends) = ends {
                    for (k, &i) in known.iter().enumerate() {
                        (low[i], high[i]) = (ends.0[k], ends.1[k]);
                    }
                }
                match around {
                    Around::Column(_) => {
                        forecast.copy_from_slice(&batch.numbers[inputs][from..][..sigma.len()]);
                    }
                    Around::Model => {
                        let own = predicted.forecast.unwrap_or_default();
                        known.iter().zip(own).for_each(|(&i, own)| forecast[i] = own);
                    }
                    Around::Nothing => {}
                }
                for (k, bias) in predicted.bias.iter().flatten().enumerate() {
                    forecast[known[k]] += bias;
                }
                Ok(())
            },
        )?;
        let known: Vec<usize> = (0..batch.rows).filter(|&i| out.has_interval(i)).collect();
        let own: Option<Vec<Option<u32>>> =
            groups.map(|groups| known.iter().map(|&i| groups[i]).collect());
        if let Some(own) = &own {
            out.strangers = own.iter().filter(|group| group.is_none()).count() as u64;
            out.by = vec![vec![None; batch.rows]; promise.levels.len()];
            for (by, categories) in out.by.iter_mut().zip(&promise.levels) {
                for (&i, &group) in known.iter().zip(own) {
                    by[i] = group.and_then(|group| promise.made_to(categories, group));
                }
            }
        }
        if !arguments.guarantee.is_empty() && !known.is_empty() {
            let rows: Vec<f64> = known
                .iter()
                .flat_map(|&i| batch.numbers[..inputs].iter().map(move |column| column[i]))
                .collect();
            for (reach, &level) in out.reach.iter_mut().zip(&arguments.guarantee) {
                let found = fitted.guaranteed(&rows, level, own.as_deref())?;
                known.iter().zip(found).for_each(|(&i, found)| reach[i] = found);
            }
        }
        Ok(out)
    }

    /// Whether a row has what an interval is made of.
    fn has_interval(&self, row: usize) -> bool {
        !self.sigma[row].is_nan() && !self.forecast[row].is_nan()
    }
}

/// What guaranteed intervals are grouped by, and who is promised what.
struct Promise {
    group: Option<usize>,
    /// Who a promise can be made to: each group, then the small ones together.
    names: Arc<[String]>,
    /// For each level what each group is promised.
    levels: Vec<Vec<Category>>,
}

impl Promise {
    fn of(arguments: &Arguments, fitted: &Fitted, table: &Table) -> anyhow::Result<Self> {
        if arguments.guarantee.is_empty() {
            return Ok(Self { group: None, names: Arc::new([]), levels: vec![] });
        }
        let Some(guarantee) = fitted.guarantee() else {
            bail!(
                "{} has no guarantee (--guarantee): fit the model with errbar fit --guarantee split",
                arguments.model.display()
            );
        };
        for &level in &arguments.guarantee {
            // Now, not after half the rows.
            if let Err(errbar::Error::TooFewForLevel { rows, needed, .. }) =
                guarantee.check_level(level)
            {
                let of_all = match guarantee.grouped_by() {
                    Some(_) => " in all groups together",
                    None => "",
                };
                bail!(
                    "--guarantee {level} needs {needed} errors that the model has not seen, and {} \
                     has {rows}{of_all}: ask for a lower level, or fit with more rows",
                    arguments.model.display()
                );
            }
        }
        let group = match guarantee.grouped_by() {
            Some(name) => Some(table.column_for(
                name,
                &format!(", which the guarantee of {} is grouped by", arguments.model.display()),
            )?),
            None => None,
        };
        let named = |(label, _): (&str, usize)| match label {
            "" => String::from("(empty)"),
            label => label.to_string(),
        };
        let names =
            guarantee.groups().into_iter().map(named).chain([promise::TOGETHER.to_string()]);
        let levels = arguments.guarantee.iter().map(|&level| guarantee.categories(level));
        Ok(Self { group, names: names.collect(), levels: levels.collect() })
    }

    /// Who the promise for a row of this group is made to, by its place among the names.
    fn made_to(&self, categories: &[Category], group: u32) -> Option<u32> {
        match categories.get(group as usize)? {
            Category::Own => Some(group),
            Category::Together => Some(self.together()),
            Category::Nothing => None,
        }
    }

    /// The place of the small groups together, the last of all.
    fn together(&self) -> u32 {
        self.names.len() as u32 - 1
    }

    fn column(&self) -> Vec<usize> {
        self.group.into_iter().collect()
    }

    /// The number of each row's group; `None` within for one that the model does not know.
    fn groups(&self, fitted: &Fitted, batch: &Batch) -> Option<Vec<Option<u32>>> {
        let (guarantee, texts) = (fitted.guarantee()?, batch.texts.first()?);
        let numbers: Vec<Option<u32>> =
            texts.values.iter().map(|value| guarantee.group(value)).collect();
        Some(texts.rows.iter().map(|&row| numbers[row as usize]).collect())
    }
}

/// The columns to add.
struct New {
    /// The names of the model's inputs.
    inputs: Arc<[String]>,
    forecast: bool,
    /// The forecast, moved by its bias.
    debiased: bool,
    /// The percentage of the band on sigma.
    band: Option<f64>,
    /// The percentages of guaranteed intervals.
    guaranteed: Vec<f64>,
    /// Who they are promised to, where that differs from row to row.
    by: Option<Arc<[String]>>,
    /// Names and probabilities of quantiles, ends of intervals among them.
    quantiles: Vec<(String, f64)>,
    exceed: Vec<f64>,
}

impl New {
    fn of(arguments: &Arguments, fitted: &Fitted, promise: &Promise) -> Self {
        let mut quantiles = Vec::new();
        for &level in &arguments.interval {
            let percent = round(100.0 * level);
            quantiles.push((format!("lower_{percent}"), 0.5 - 0.5 * level));
            quantiles.push((format!("upper_{percent}"), 0.5 + 0.5 * level));
        }
        for &level in &arguments.quantiles {
            quantiles.push((format!("quantile_{level}"), level));
        }
        let forecast = fitted.mean().is_some() && arguments.forecast.is_none();
        let band = arguments.sigma_band.map(|level| round(100.0 * level));
        let guaranteed = arguments.guarantee.iter().map(|level| round(100.0 * level)).collect();
        Self {
            inputs: fitted.names().into(),
            forecast,
            debiased: fitted.bias().is_some(),
            band,
            guaranteed,
            by: promise.group.map(|_| promise.names.clone()),
            quantiles,
            exceed: arguments.exceed.clone(),
        }
    }

    fn columns(&self, prefix: &str) -> Vec<NewColumn> {
        let column = |name: &str, kind| NewColumn { name: format!("{prefix}{name}"), kind };
        let mut out = Vec::new();
        if self.forecast {
            out.push(column("forecast", NewKind::Number));
        }
        if self.debiased {
            out.push(column("debiased", NewKind::Number));
        }
        out.push(column("sigma", NewKind::Number));
        if let Some(percent) = self.band {
            out.push(column(&format!("sigma_lower_{percent}"), NewKind::Number));
            out.push(column(&format!("sigma_upper_{percent}"), NewKind::Number));
        }
        let names = self.quantiles.iter().map(|(name, _)| name.clone());
        for percent in &self.guaranteed {
            out.push(column(&format!("guaranteed_lower_{percent}"), NewKind::Number));
            out.push(column(&format!("guaranteed_upper_{percent}"), NewKind::Number));
            if self.by.is_some() {
                out.push(column(&format!("guaranteed_by_{percent}"), NewKind::Text));
            }
        }
        let exceed = self.exceed.iter().map(|threshold| format!("exceed_{threshold}"));
        out.extend(names.chain(exceed).map(|name| column(&name, NewKind::Number)));
        out.push(column("support", NewKind::Number));
        out.push(column("outside", NewKind::Flag));
        out.push(column("outside_input", NewKind::Text));
        out
    }

    fn values(&self, rows: &Predicted, arguments: &Arguments) -> Vec<NewValues> {
        let lower = arguments.lower.unwrap_or(f64::NEG_INFINITY);
        let upper = arguments.upper.unwrap_or(f64::INFINITY);
        let each = |value: &(dyn Fn(f64, f64) -> f64 + Sync)| {
            let pairs = rows.forecast.par_iter().zip(&rows.sigma);
            NewValues::Numbers(pairs.map(|(&mu, &sigma)| value(mu, sigma)).collect())
        };
        let mut out = Vec::new();
        if self.forecast || self.debiased {
            out.push(NewValues::Numbers(rows.forecast.clone()));
        }
        out.push(NewValues::Numbers(rows.sigma.clone()));
        if self.band.is_some() {
            out.push(NewValues::Numbers(rows.band.0.clone()));
            out.push(NewValues::Numbers(rows.band.1.clone()));
        }
        for (level, reach) in rows.reach.iter().enumerate() {
            for sign in [-1.0, 1.0] {
                let ends = rows.forecast.iter().zip(reach).map(|(mu, reach)| {
                    let end = mu + sign * reach;
                    // NaN must pass.
                    if end.is_nan() { end } else { end.max(lower).min(upper) }
                });
                out.push(NewValues::Numbers(ends.collect()));
            }
            if let Some(names) = &self.by {
                let by = rows.by.get(level).cloned();
                let by = by.unwrap_or_else(|| vec![None; rows.sigma.len()]);
                out.push(NewValues::Texts(names.clone(), by));
            }
        }
        for &(_, level) in &self.quantiles {
            // 2p - 1 loses the digits of a small p; the other tail has them all.
            let reach = match level < 0.5 {
                true => -std::f64::consts::SQRT_2 * erfcinv(2.0 * level),
                false => std::f64::consts::SQRT_2 * erfinv(2.0 * level - 1.0),
            };
            // NaN, for a row without an answer, passes through max and min only by hand.
            out.push(each(&|mu, sigma| match mu + reach * sigma {
                end if end.is_nan() => end,
                end => end.max(lower).min(upper),
            }));
        }
        for &threshold in &self.exceed {
            out.push(each(&|mu, sigma| {
                let eta = (threshold - mu) / sigma * std::f64::consts::FRAC_1_SQRT_2;
                match 0.5 * erfc(eta) {
                    p if p.is_nan() => p,
                    _ if threshold < lower => 1.0,
                    _ if threshold >= upper => 0.0,
                    p => p,
                }
            }));
        }
        out.push(NewValues::Numbers(rows.support.clone()));
        out.push(NewValues::Flags(rows.outside.clone()));
        out.push(NewValues::Texts(self.inputs.clone(), rows.outside_input.clone()));
        out
    }
}

/// 90, not 90.00000000000001, for what was typed as 0.9 or 90%.
fn round(percent: f64) -> f64 {
    (percent * 1e9).round() / 1e9
}

/// What went by, for a word at the end.
#[derive(Default)]
struct Seen {
    rows: u64,
    without: u64,
    outside: u64,
    /// For each input the rows that it takes outside.
    outside_by: Vec<u64>,
    strangers: u64,
    /// For each level the rows that are promised it with others, and those that are not at all.
    together: Vec<u64>,
    nothing: Vec<u64>,
    smallest: Option<f64>,
    largest: f64,
    /// What stood for missing values, by column.
    marks: Vec<Odd>,
    /// Inputs that look like marks for missing values, by column.
    fill: Vec<Vec<(f64, usize)>>,
}

impl Seen {
    /// Counts what is no number, and what looks like a mark for a missing value: far outside of the range
    /// that the model knows.
    fn look(&mut self, batch: &Batch, fitted: &Fitted) {
        const MOST: usize = 8;
        let inputs = fitted.names().len();
        self.marks.resize_with(inputs, Odd::default);
        self.fill.resize_with(inputs, Vec::new);
        for (seen, odd) in self.marks.iter_mut().zip(&batch.odd) {
            seen.append(odd.clone());
        }
        for (c, (seen, column)) in self.fill.iter_mut().zip(&batch.numbers).enumerate() {
            let Some((low, high)) = fitted.range(c) else { continue };
            for &value in column.iter().filter(|&&v| fill_values::is_far(v, 2, low, high)) {
                let is_new = !seen.iter().any(|(known, _)| *known == value);
                if is_new && seen.len() < MOST && fill_values::is_usual(value) {
                    seen.push((value, 0));
                }
                seen.iter_mut().filter(|(known, _)| *known == value).for_each(|(_, n)| *n += 1);
            }
        }
    }

    fn count(&mut self, rows: &Predicted, promise: &Promise) {
        self.rows += rows.sigma.len() as u64;
        self.strangers += rows.strangers;
        let known = (0..rows.sigma.len()).filter(|&i| rows.has_interval(i)).count() as u64;
        for (level, by) in rows.by.iter().enumerate() {
            self.together.resize(rows.by.len(), 0);
            self.nothing.resize(rows.by.len(), 0);
            let together = by.iter().filter(|by| **by == Some(promise.together())).count();
            self.together[level] += together as u64;
            self.nothing[level] += known - by.iter().flatten().count() as u64 - rows.strangers;
        }
        self.outside += rows.outside.iter().filter(|o| **o == Some(true)).count() as u64;
        for &input in rows.outside_input.iter().flatten() {
            let input = input as usize;
            self.outside_by.resize(self.outside_by.len().max(input + 1), 0);
            self.outside_by[input] += 1;
        }
        for &sigma in rows.sigma.iter() {
            if sigma.is_nan() {
                self.without += 1;
            } else {
                self.smallest = Some(self.smallest.map_or(sigma, |s| s.min(sigma)));
                self.largest = self.largest.max(sigma);
            }
        }
    }

    fn say(&self, voice: Voice, file: &str, names: &[String], arguments: &Arguments) {
        let rows = |n: u64| format!("{n} {}", if n == 1 { "row" } else { "rows" });
        let mut text = format!("{file}: {}", rows(self.rows));
        if let Some(smallest) = self.smallest {
            text += &format!(
                "; sigma from {} to {}",
                significant(smallest, 4),
                significant(self.largest, 4)
            );
        }
        if arguments.output.as_os_str() != "-" {
            text += &format!("; wrote {}", arguments.output.display());
        }
        voice.note(&text);
        if self.without > 0 {
            voice.warn(&format!(
                "{} of {} without sigma: an input is missing or infinite",
                rows(self.without),
                self.rows
            ));
        }
        if self.strangers > 0 {
            voice.warn(&format!(
                "{} of {} belong to no group that the guarantee knows: they are promised nothing, and \
                 their guaranteed intervals are empty",
                rows(self.strangers),
                self.rows
            ));
        }
        for (level, (&together, &nothing)) in
            arguments.guarantee.iter().zip(self.together.iter().zip(&self.nothing))
        {
            if together > 0 {
                voice.note(&format!(
                    "{} of {} belong to groups with too few errors to be promised {level} on their own: \
                     they are promised it together (column {}guaranteed_by_{})",
                    rows(together),
                    self.rows,
                    arguments.prefix,
                    round(100.0 * level)
                ));
            }
            if nothing > 0 {
                voice.warn(&format!(
                    "{} of {} belong to groups with too few errors to be promised {level} even together: \
                     their guaranteed intervals are empty",
                    rows(nothing),
                    self.rows
                ));
            }
        }
        if self.outside > 0 {
            let mut by: Vec<(u64, &String)> = self.outside_by.iter().copied().zip(names).collect();
            by.retain(|(count, _)| *count > 0);
            by.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let by: Vec<String> =
                by.iter().take(3).map(|(count, name)| format!("{count} by \"{name}\"")).collect();
            voice.warn(&format!(
                "{} of {} where there were hardly any training rows ({}): there sigma deserves less \
                 trust (columns {prefix}support and {prefix}outside)",
                rows(self.outside),
                self.rows,
                by.join(", "),
                prefix = arguments.prefix
            ));
        }
    }
}

impl Seen {
    fn say_missing(&self, voice: Voice, fitted: &Fitted) {
        let marks = fitted.names().iter().zip(&self.marks).flat_map(|(name, odd)| {
            odd.marks.iter().map(move |mark| {
                let cells = if mark.count == 1 { "cell" } else { "cells" };
                format!("\"{}\" ({} {cells} of \"{name}\")", mark.text, mark.count)
            })
        });
        let marks: Vec<String> = marks.collect();
        if !marks.is_empty() {
            voice.note(&format!("taken as missing: {}", marks.join(", ")));
        }
        for (c, (name, found)) in fitted.names().iter().zip(&self.fill).enumerate() {
            let Some((low, high)) = fitted.range(c) else { continue };
            let far =
                |&&(value, count): &&(f64, usize)| fill_values::is_far(value, count, low, high);
            let found: Vec<(f64, usize)> = found.iter().filter(far).copied().collect();
            if let Some(said) = fill_values::in_words("input", name, &found) {
                voice.warn(&said);
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
    };
    error.chain().any(|cause| io(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

fn parse_finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(String::from("give a number")),
    }
}
