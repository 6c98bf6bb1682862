//! `errbar fit`: learn the size of the error from a table of what was forecast and observed.

mod training;
mod words;

use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use errbar::diagnose::{self, Finding};
use errbar::fit::{self, ErrorSource, Fit, Kind, LawKind, guarantee};
use errbar::law::{self, Transform};
use errbar::score::{Beta, Judging, Sample};
use errbar::{Data, Silent, Split};

use self::training::Training;
use self::words::FitSummary;
use crate::arguments::{
    DateArguments, LossName, TableArguments, Threads, parse_beta, parse_column, parse_finite,
    parse_seed,
};
use crate::console::Console;
use crate::{model_file, output, stop};

/// Learn how large the error will be, as a function of the inputs.
///
/// Reads a table of what was forecast and what was then observed, learns sigma(x), the size of the
/// error as a function of the inputs, and writes a model that `errbar predict` puts on new forecasts.
/// Rows are held out, in turn, to choose among models and to judge them honestly; the model is then
/// fitted to all rows, or to as many as --most-rows, --budget and --guarantee leave it.
///
/// The errors should be those of forecasts made without knowing the observation, as they will be in
/// use. Errors of a forecaster on the very rows it was fitted to are too small (--errors in-sample).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar fit train.csv --inputs season,hour,mu --forecast mu --observation y -o model.json
  errbar fit train.csv --forecast mu --observation y --time date        every other number is an input
  errbar fit errors.parquet --error e --model polynomial --loss crps
  errbar fit motorcycle.csv --inputs time_ms --observation acceleration_g --fit-mean gp

Columns named forecast and observation (or mu and y) need not be named.
Then: errbar predict tomorrow.csv --model model.json -o with-sigma.csv")]
pub(crate) struct Arguments {
    /// The table: CSV (also gzipped) or Parquet; - is standard input.
    file: PathBuf,

    /// The columns that sigma may depend on, the forecast itself among them if you like [default:
    /// every other column of numbers].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    inputs: Vec<String>,

    /// The column with the forecast.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    forecast: Option<String>,

    /// The column with what was then observed.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    observation: Option<String>,

    /// The column with the error, observation minus forecast, instead of both.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, conflicts_with_all = ["forecast", "observation", "fit_mean"])]
    error: Option<String>,

    /// The column with the weight of each row; only ratios of weights matter.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    weight: Option<String>,

    /// The column with the time of each row, numbers or dates as people write them: models are judged by rows later than those they learn
    /// from, since rows held out at random would be known from their neighbours.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    time: Option<String>,

    #[command(flatten)]
    dates: DateArguments,

    /// The model of sigma.
    #[arg(long, value_enum, default_value_t)]
    model: ModelName,

    /// What the model is trained by.
    #[arg(long, value_enum, default_value_t)]
    loss: LossName,

    /// How much accuracy counts beside reliability: heuristic, printed (as in the paper) or a number
    /// from 0 to 1.
    #[arg(long, value_name = "BETA", default_value = "heuristic", allow_negative_numbers = true, value_parser = parse_beta)]
    beta: Beta,

    /// Whether each row counts in the units of its own sigma (after a first fit); otherwise rows
    /// with small errors hardly count.
    #[arg(long, value_name = "true|false", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set, hide_possible_values = true)]
    local_units: bool,

    /// The share of rows that is held out at a time to judge models by: in small tables in turn,
    /// until each row has been held out once.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, allow_negative_numbers = true, value_parser = parse_share)]
    validation: f64,

    /// The most rows a model is trained on: of more, this many are chosen. All are used to judge.
    #[arg(long, value_name = "ROWS", default_value_t = 10_000, allow_negative_numbers = true, value_parser = parse_rows)]
    most_rows: usize,

    /// How much work may be done, in evaluations of the cost of one row: the same on every machine.
    /// It decides how often rows are held out, then which models are tried; more rows never mean that
    /// fewer are trained on.
    #[arg(long, value_name = "EVALUATIONS", default_value = "4e8", allow_negative_numbers = true, value_parser = parse_budget)]
    budget: f64,

    /// Use every input, even where rows held out in time say that what it tells about sigma does not
    /// carry over to later rows.
    #[arg(long)]
    keep_inputs: bool,

    /// Take the rows as independent, even where neighbouring errors resemble each other; otherwise
    /// neighbours are then held out together, in blocks.
    #[arg(long, conflicts_with = "time")]
    independent: bool,

    /// Where the errors come from: rows the forecaster had not seen, or those it was fitted to.
    #[arg(long, value_enum, default_value_t, conflicts_with = "fit_mean")]
    errors: Errors,

    /// Make the forecast too, for those who have none; its errors are leave-one-out ones.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "forecast")]
    fit_mean: Option<Mean>,

    /// Learn the bias of the forecaster as a function of the inputs too, and move forecasts by it (the
    /// column "debiased" of errbar predict): yes, no, or auto, where rows held out gain by it: at least
    /// 1% of CRPS, and two standard errors.
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_value = "auto", default_missing_value = "yes", conflicts_with = "fit_mean")]
    debias: Debias,

    /// The law of the errors: auto chooses by rows held out, and may bend it to a shape of their own; normal is
    /// the Gaussian. Two-piece laws have a scale for each side.
    #[arg(long, value_name = "LAW", default_value = "auto", value_parser = parse_law)]
    law: LawKind,

    /// The least that an observation can be (rain: 0): the law of the errors ends there, and what it would
    /// have below counts as this value.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite, conflicts_with = "error")]
    lower: Option<f64>,

    /// The most that an observation can be, likewise.
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = parse_finite, conflicts_with = "error")]
    upper: Option<f64>,

    /// Learn on the scale of square roots (sqrt: counts, amounts) or logarithms (log: what is positive and
    /// off by factors); intervals, quantiles and exceedances are on yours, sigma on that scale.
    #[arg(long, value_name = "SCALE", default_value = "none", value_parser = parse_transform, conflicts_with = "error")]
    transform: Transform,

    /// Let size and location of the error bars follow the errors of rows held out: yes or no. With
    /// --law normal --recalibrate no they are the paper's.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "yes")]
    recalibrate: YesNo,

    /// Have intervals with a promise, whatever the distribution of errors (errbar predict
    /// --guarantee 0.9).
    #[arg(long, value_enum, value_name = "METHOD", num_args = 0..=1, default_missing_value = "split", conflicts_with = "fit_mean")]
    guarantee: Option<GuaranteeName>,

    /// The column with the group of each row (a station, a patient, a storm): with ten groups or more,
    /// whole groups are held out to judge models by (with --time rows are held out in time instead).
    /// The promise of --guarantee holds in each group, for those with too few rows over all of them
    /// together.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    group: Option<String>,

    /// Where to write the model.
    #[arg(long, short, value_name = "FILE", default_value = "model.json")]
    output: PathBuf,

    /// The seed of everything random.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = parse_seed)]
    seed: u64,

    /// Print what was learned as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

fn parse_law(text: &str) -> Result<LawKind, String> {
    text.parse().map_err(|error: errbar::Error| error.to_string())
}

fn parse_transform(text: &str) -> Result<Transform, String> {
    text.parse().map_err(|error: errbar::Error| error.to_string())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Debias {
    Auto,
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// A mean of all that do well on held-out rows, or one sigma where none does; with --fit-mean,
    /// smooth.
    #[default]
    Auto,
    /// One sigma for all rows.
    Constant,
    /// The exponential of a polynomial of the inputs.
    Polynomial,
    /// A smooth function of any shape, with a band on sigma itself.
    Smooth,
    /// An average of small neural networks.
    Network,
    /// An average of more neural networks, of a size chosen on held-out rows: slower.
    Ensemble,
    /// A sum of small trees, for jumps and for many inputs.
    Trees,
    /// As auto, whether or not it does better than one sigma.
    Stack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GuaranteeName {
    /// Half of the rows (at most 2,000; with --group half of each group's, at most 200 where there are
    /// ten groups or more) are kept from the model; the probability is at least what is asked for.
    Split,
    /// Five models of four fifths of the rows judge the others: narrower, and promises less (80% for
    /// 90%), though it usually keeps what was asked for.
    Cross,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Errors {
    /// The forecaster had not seen these observations.
    #[default]
    HeldOut,
    /// The forecaster was fitted to these observations.
    InSample,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mean {
    /// A Gaussian process of the inputs whose noise is sigma(x), both fitted in turn; of more than 1,500
    /// rows, one on inducing points.
    Gp,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    if arguments.output.is_dir() {
        bail!("{} is a folder: name a file to write with --output", arguments.output.display());
    }
    if arguments.output.as_os_str() == "-" {
        bail!("a model is not written to standard output: name a file with --output");
    }
    if output::ending(&arguments.output).as_deref() == Some("onnx") {
        bail!(
            "a model is not written to {} in the first place: write it to a file that ends in .json, \
             and make ONNX of that with errbar export",
            arguments.output.display()
        );
    }
    // Before hours of work, not after them.
    output::check_place(&arguments.output)?;
    let pool = arguments.threads.pool()?;
    pool.install(|| {
        let training = Training::read(arguments)?;
        let told = training.fit(arguments)?;
        stop::check()?;
        model_file::write(&arguments.output, &told.fit.fitted)?;
        told.say(arguments.console, arguments.json)
    })
}

impl Training {
    fn fit(self, arguments: &Arguments) -> anyhow::Result<FitSummary> {
        let Self {
            kept,
            names,
            inputs,
            error,
            observation,
            weight,
            group,
            forecast,
            mean,
            mut notes,
        } = self;
        if arguments.guarantee.is_some() && arguments.errors == Errors::InSample {
            bail!(
                "--guarantee needs errors of rows that the forecaster had not seen: it cannot hold \
                 with --errors in-sample"
            );
        }
        let in_order = arguments.time.is_some();
        let options = fit::Options::default()
            .kind(match arguments.model {
                ModelName::Auto => Kind::Auto,
                ModelName::Constant => Kind::Constant,
                ModelName::Polynomial => Kind::Polynomial,
                ModelName::Smooth => Kind::Smooth,
                ModelName::Network => Kind::Network,
                ModelName::Ensemble => Kind::Ensemble,
                ModelName::Trees => Kind::Trees,
                ModelName::Stack => Kind::Stack,
            })
            .loss(arguments.loss.with(arguments.beta))
            .by_law(arguments.loss == LossName::Law)
            .validation(arguments.validation)
            .split(if in_order { Split::InOrder } else { Split::Random })
            .seed(arguments.seed)
            .local_units(arguments.local_units)
            .most_rows(arguments.most_rows)
            .budget(arguments.budget)
            .keep_inputs(arguments.keep_inputs)
            .independent(arguments.independent)
            .debias(arguments.debias == Debias::Yes)
            .law(arguments.law)
            .recalibrate(arguments.recalibrate == YesNo::Yes)
            .bounds(crate::arguments::bounds(arguments.lower, arguments.upper)?)
            .transform(arguments.transform)
            .guarantee(arguments.guarantee.map(|name| match name {
                GuaranteeName::Split => guarantee::Method::Split,
                GuaranteeName::Cross => guarantee::Method::Cross,
            }));
        let options = match &mean {
            Some(_) => options.beside_a_mean(error.len()),
            None => options,
        };
        let refused = |error| kept.refused(error);
        let data = Data::with_missing(&inputs, names.len(), &error)
            .and_then(|data| data.maybe_observed(observation.as_deref()))
            .and_then(|data| data.maybe_weighted(weight.as_deref()))
            .and_then(|data| match group {
                Some(group) => data.grouped(group),
                None => Ok(data),
            })
            .and_then(|data| match kept.time() {
                Some(time) => data.in_time(time),
                None => Ok(data),
            })
            .map_err(refused)?;
        if let Some(why) = fit::groups_not_held_out(&data, options.split) {
            let still = match arguments.guarantee {
                Some(_) => " (the promise of --guarantee is by group all the same)",
                None => "",
            };
            notes.push(format!("--group does not decide which rows are held out: {why}{still}"));
        }
        let context = diagnose::Context {
            weight: weight.as_deref(),
            observation: observation.as_deref(),
            in_time_order: in_order,
            inputs: names.len(),
        };
        let mut findings = diagnose::diagnose(&error, &context).map_err(refused)?;
        let told = options.bounds;
        findings.retain(|finding| match finding {
            Finding::Bounded { below: true, .. } => !told.lower().is_finite(),
            Finding::Bounded { below: false, .. } => !told.upper().is_finite(),
            _ => true,
        });
        let progress = arguments.console.progress("Fitting");
        let worth = match mean.is_none() && arguments.debias != Debias::Yes {
            true => fit::worth_of_debiasing(&data, &options, &progress).map_err(refused)?,
            false => None,
        };
        // Without a forecast there is nothing to move, and the cross method promises nothing of it.
        let can = forecast.is_some() && options.guarantee != Some(guarantee::Method::Cross);
        let moves = can && arguments.debias == Debias::Auto && worth.is_some_and(|w| w.pays());
        let options = if moves { options.debias(true) } else { options };
        // Learned, it is no longer in the way.
        findings.retain(|finding| !options.debias || !matches!(finding, Finding::Biased { .. }));
        let Fit { fitted, held_out } =
            fit::fit(&data, &names, &options, &progress).map_err(refused)?;
        drop(progress);
        if arguments.loss == LossName::Law && !fitted.options().by_law {
            notes.push(
                "models trained by the law of the errors do no better on rows held out, or that law is \
                 a Gaussian: those trained by the Gaussian's cost are kept"
                    .into(),
            );
        }
        let fitted = match mean {
            Some(mean) => fitted.with_mean(mean),
            None => {
                let source = match arguments.errors {
                    Errors::HeldOut => ErrorSource::HeldOut,
                    Errors::InSample => ErrorSource::InSample,
                };
                fitted.with_errors(source, forecast)
            }
        };
        let (held_out_scores, verdict) = match &held_out {
            Some(held_out) => {
                let sample = held_out.sample()?;
                let laws = held_out.error_laws();
                let equal = law::judge::as_gaussian(&sample, laws)?;
                let equal = Sample::new(&equal, &held_out.sigma)?
                    .maybe_weighted(held_out.weight.as_deref())?;
                findings.extend(diagnose::heavy_tails(&equal));
                let judged = law::judge::judge(&sample, laws, &Judging::default(), &Silent)?;
                (Some(judged.scores), Some(judged.verdict))
            }
            None => (None, None),
        };
        Ok(FitSummary {
            fit: Fit { fitted, held_out },
            held_out_scores,
            verdict,
            findings,
            worth,
            notes,
            time_written: kept.time_written().map(String::from),
            file: kept.file().to_string(),
            output: arguments.output.clone(),
            in_order,
        })
    }
}

fn parse_rows(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(rows) if rows >= fit::LEAST_ROWS => Ok(rows),
        _ => Err(format!("give a number of rows, at least {}", fit::LEAST_ROWS)),
    }
}

fn parse_budget(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(budget) if budget > 0.0 => Ok(budget),
        _ => Err(String::from("give a number of evaluations, such as 1e8")),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=0.9).contains(&share) => Ok(share),
        _ => Err(String::from("give a share from 0 (hold out nothing) to 0.9")),
    }
}
