//! `errbar fit`: learn the size of the error from a table of what was forecast and observed.

mod pass;
mod words;

use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use errbar::diagnose::{self, Finding};
use errbar::ensemble::Ensemble;
use errbar::fit::{self, ErrorSource, Fit, Worth, guarantee};
use errbar::law;
use errbar::score::{Judging, Sample, judge_without_intervals};
use errbar::series::Series;
use errbar::walk::{self, Learned, Learning, SeriesRows};
use errbar::words::significant;
use errbar::{Data, Group, Monitor, Silent, Split};

use self::words::FitSummary;
use crate::arguments::{LossName, TableArguments, Threads, parse_probability};
use crate::columns::{Columns, HELD, Read, Request, retain};
use crate::console::Console;
use crate::files::FileArguments;
use crate::learning::{ColumnArguments, Debias, LearningArguments};
use crate::training::{Asking, Source, Training};
use crate::{model_file, output, stop};

/// Learn how large the error will be, as a function of the inputs.
///
/// Reads a table of what was forecast and what was then observed, learns sigma(x), the size of the
/// error as a function of the inputs, and writes a model that `errbar predict` puts on new forecasts.
/// Rows are held out, in turn, to choose among models and to judge them honestly; the model is then
/// fitted to all rows, or to as many as --most-rows, --budget and --guarantee leave it.
///
/// From 100,000 rows on all kinds of models learn from 50,000 of them, and trees of all rows refine what these say. Files of
/// more than 2,000,000 rows are read twice rather than held (but for those in time, or with options that need all rows at once).
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
    #[command(flatten)]
    files: FileArguments,

    #[command(flatten)]
    columns: ColumnArguments,

    #[command(flatten)]
    learning: LearningArguments,

    /// Take the rows as independent, even where neighbouring errors resemble each other; otherwise
    /// neighbours are then held out together, in blocks.
    #[arg(long, conflicts_with = "time")]
    independent: bool,

    /// Where the errors come from: rows the forecaster had not seen, or those it was fitted to.
    #[arg(long, value_enum, default_value_t, conflicts_with = "fit_mean")]
    errors: Errors,

    /// Make the forecast too, for those who have none; its errors are leave-one-out ones.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with_all = ["forecast", "error", "debias", "members", "prior_sigma"])]
    fit_mean: Option<Mean>,

    /// Have intervals with a promise, whatever the distribution of errors (errbar predict
    /// --guarantee 0.9). With --time the latest rows are kept for it, and errbar update keeps the share right.
    #[arg(long, value_enum, value_name = "METHOD", num_args = 0..=1, default_missing_value = "split", conflicts_with = "fit_mean")]
    guarantee: Option<GuaranteeName>,

    /// With --guarantee and --time: the levels whose share errbar update keeps right as rows are observed,
    /// whatever the errors do [default: those of 0.5,0.8,0.9,0.95,0.99 that there are rows enough for].
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', requires_all = ["guarantee", "time"], allow_negative_numbers = true, value_parser = parse_probability)]
    guarantee_levels: Vec<f64>,

    /// Where to write the model.
    #[arg(long, short, value_name = "FILE", default_value = "model.json")]
    output: PathBuf,

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
        let told = arguments.learn()?;
        stop::check()?;
        model_file::write(&arguments.output, &told.fit.fitted)?;
        told.say(arguments.console, arguments.json)
    })
}

impl Arguments {
    /// Learns from rows that are held, or, where they are too many for that, as they pass.
    fn learn(&self) -> anyhow::Result<FitSummary> {
        let source = self.source();
        let mut request = Request::open(source.files, source.table)?;
        let asking = Asking::of(&source, &mut request)?;
        let options = self.options()?;
        // Where rows cannot be read twice, or all are needed at once.
        let by_category = request.has_categories();
        let hold = self.files.has_stdin()
            || self.fit_mean.is_some()
            || self.columns.prior_sigma.is_some()
            || !options.can_pass()
            || by_category;
        let kept = match hold {
            true => request.read(self.console)?,
            false => match request.read_up_to(HELD, self.console)? {
                Read::All(kept) => *kept,
                Read::More(passing) => match self.pass(&asking, &options, *passing)? {
                    Ok(told) => return Ok(told),
                    Err((passing, why)) => passing.read_again(why, self.console)?,
                },
            },
        };
        let (many, could) = (kept.rows() > HELD, options.can_pass());
        let mut training = asking.training(&source, kept)?;
        if many && could && !training.categories.is_empty() {
            training
                .notes
                .push("all rows are held in memory, since some inputs are categories".into());
        }
        training.fit(self)
    }

    /// How models are fitted.
    fn options(&self) -> anyhow::Result<fit::Options> {
        let in_order = self.columns.time.is_some();
        Ok(self
            .learning
            .options()?
            .split(if in_order { Split::InOrder } else { Split::Random })
            .independent(self.independent)
            .guarantee(self.guarantee.map(|name| match name {
                GuaranteeName::Split => guarantee::Method::Split,
                GuaranteeName::Cross => guarantee::Method::Cross,
            })))
    }

    fn source(&self) -> Source<'_> {
        Source {
            files: self.files.given(),
            columns: &self.columns,
            learning: &self.learning,
            table: &self.table,
            console: self.console,
            fit_mean: self.fit_mean.is_some(),
            // With lags they are moments of the series, which others count.
            unobserved: !self.columns.lag.is_empty(),
        }
    }
}

impl ColumnArguments {
    /// The series that rows with times are of.
    pub(crate) fn series(&self, training: &Training) -> Option<Series> {
        let mut series = Series::new(self.time.as_ref()?, self.delay, &self.lag);
        series.observation = Some(training.observed.clone());
        series.group = self.group.clone();
        series.dates = training.kept.time_is_dates();
        series.offset = training.kept.time_has_offset();
        // As it was said, or as it was found.
        let found = training.kept.time_written().and_then(|written| written.split_once(": "));
        let told = self.dates.date_format.as_ref().map(ToString::to_string);
        series.date_format = told.or(found.map(|(_, layout)| layout.to_string()));
        Some(series)
    }
}

impl Training {
    /// The rows of a series.
    pub(crate) fn series_rows(&self) -> Option<SeriesRows<'_>> {
        let raw = self.raw.as_ref()?;
        Some(SeriesRows {
            time: self.kept.time()?,
            group: self.group.as_ref(),
            inputs: &self.inputs,
            forecast: raw.forecast.as_deref(),
            observation: &raw.observation,
            prior: self.prior.as_ref().map(|(name, prior)| (name.as_str(), prior.as_slice())),
        })
    }

    /// Learns from rows in time, with the errors of earlier ones if that is wanted.
    fn learn_series(
        &self,
        arguments: &Arguments,
        options: &fit::Options,
        debias_if_it_pays: bool,
        progress: &dyn Monitor,
    ) -> anyhow::Result<Option<Learned>> {
        let Some((rows, series)) = self.series_rows().zip(arguments.columns.series(self)) else {
            return Ok(None);
        };
        let (names, weight, options) = (&self.names, self.weight.as_deref(), *options);
        let learning = Learning {
            rows,
            names,
            categories: &self.categories,
            weight,
            options,
            debias_if_it_pays,
            follow_held_out: false,
            promised: &arguments.guarantee_levels,
        };
        let learned = walk::fit(&learning, &series, progress);
        Ok(Some(learned.map_err(|error| self.kept.refused(error))?))
    }

    /// What the error of the latest row that is known would save as an input, in words: where neighbouring errors
    /// resemble each other, and lags were not asked for.
    fn suggest_a_lag(
        &self,
        arguments: &Arguments,
        options: &fit::Options,
        progress: &dyn Monitor,
    ) -> anyhow::Result<Option<String>> {
        let Some((rows, series)) = self.series_rows().zip(arguments.columns.series(self)) else {
            return Ok(None);
        };
        if !series.lags.is_empty() || !self.resembles_itself() {
            return Ok(None);
        }
        let (names, weight, options) = (&self.names, self.weight.as_deref(), *options);
        let (debias_if_it_pays, follow_held_out) = (false, false);
        let (promised, categories) = (&[], &self.categories[..]);
        let learning = Learning {
            rows,
            names,
            categories,
            weight,
            options,
            debias_if_it_pays,
            follow_held_out,
            promised,
        };
        let worth = walk::worth_of_a_lag(&learning, &series, progress);
        let worth = worth.map_err(|error| self.kept.refused(error))?;
        Ok(worth.filter(fit::Worth::pays).map(|worth| {
            format!(
                "errors of earlier rows tell those of later ones: with --lag {} the CRPS would be lower by about \
                 {}% (standard error {}%), if observations are known by then (--delay)",
                series.delay,
                significant(100.0 * worth.gain, 2),
                significant(100.0 * worth.standard_error, 2)
            )
        }))
    }

    /// Whether neighbouring errors resemble each other enough to ask.
    fn resembles_itself(&self) -> bool {
        let errors: Vec<f64> =
            self.error.iter().copied().filter(|error| error.is_finite()).collect();
        diagnose::diagnose(&errors, &diagnose::Context::default()).is_ok_and(|findings| {
            findings.iter().any(|finding| matches!(finding, Finding::Autocorrelated { .. }))
        })
    }

    /// The rows that were observed.
    fn seen(mut self) -> Self {
        let seen: Vec<bool> = self.error.iter().map(|error| !error.is_nan()).collect();
        if seen.iter().all(|seen| *seen) {
            return self;
        }
        let width = self.names.len();
        let whole: Vec<bool> =
            seen.iter().flat_map(|seen| std::iter::repeat_n(*seen, width)).collect();
        retain(&mut self.inputs, &whole);
        retain(&mut self.error, &seen);
        [&mut self.observation, &mut self.weight]
            .into_iter()
            .flatten()
            .for_each(|of| retain(of, &seen));
        self.prior.iter_mut().for_each(|(_, prior)| retain(prior, &seen));
        self.group.iter_mut().for_each(|group| retain(&mut group.rows, &seen));
        self.kept.retain(&seen);
        self
    }

    fn fit(self, arguments: &Arguments) -> anyhow::Result<FitSummary> {
        if arguments.guarantee.is_some() && arguments.errors == Errors::InSample {
            bail!(
                "--guarantee needs errors of rows that the forecaster had not seen: it cannot hold \
                 with --errors in-sample"
            );
        }
        if !arguments.guarantee_levels.is_empty()
            && arguments.guarantee == Some(GuaranteeName::Cross)
        {
            bail!(
                "--guarantee-levels are kept for --guarantee split alone, and cross was asked for"
            );
        }
        let in_order = arguments.columns.time.is_some();
        let options = arguments.options()?;
        let options = match &self.mean {
            // The process knows the inputs of the table alone.
            Some(_) => options.beside_a_mean(self.error.len()).calendar(false),
            None => options,
        };
        // Without a forecast there is nothing to move, and the cross method promises nothing of it.
        let can = self.forecast.is_some() && options.guarantee != Some(guarantee::Method::Cross);
        let may = can && arguments.learning.debias == Debias::Auto;
        let progress = arguments.console.progress("Fitting");
        let learned = self.learn_series(arguments, &options, may, &progress)?;
        let suggested = self.suggest_a_lag(arguments, &options, &progress)?;
        let Self {
            kept,
            names,
            inputs,
            categories,
            error,
            observation,
            weight,
            prior,
            group,
            forecast,
            ensemble,
            mean,
            mut notes,
            ..
        } = self.seen();
        let refused = |error| kept.refused(error);
        let data = Data::with_missing(&inputs, names.len(), &error)
            .and_then(|data| data.with_categories(categories))
            .and_then(|data| data.maybe_observed(observation.as_deref()))
            .and_then(|data| data.maybe_weighted(weight.as_deref()))
            .and_then(|data| match &prior {
                Some((name, prior)) => data.with_prior(name, prior),
                None => Ok(data),
            })
            .and_then(|data| match group {
                Some(group) => data.grouped(group),
                None => Ok(data),
            })
            .and_then(|data| match kept.time() {
                Some(time) => data.in_time(time),
                None => Ok(data),
            })
            .map_err(refused)?;
        notes.extend(arguments.groups_not_held_out(data.group()));
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
        let known = learned.as_ref().and_then(|learned| learned.debiasing);
        let asks = mean.is_none() && known.is_none() && arguments.learning.debias != Debias::Yes;
        let (mut calendar, mut lags) = (None, None);
        let (fit, worth) = match learned {
            Some(learned) => {
                (calendar, lags) = (learned.calendar, learned.lags);
                (learned.fit, known)
            }
            None if asks && may => {
                fit::fit_debiased_where_it_pays(&data, &names, &options, &progress)
                    .map_err(refused)?
            }
            None => {
                // To say what it would be worth.
                let worth = match asks {
                    true => fit::worth_of_debiasing(&data, &options, &progress).map_err(refused)?,
                    false => known,
                };
                (fit::fit(&data, &names, &options, &progress).map_err(refused)?, worth)
            }
        };
        drop(progress);
        let fit = match mean {
            Some(mean) => Fit { fitted: fit.fitted.with_mean(mean), ..fit },
            None => arguments.with_errors(fit, forecast, ensemble),
        };
        let told = arguments.told(fit, worth, findings, notes, &kept)?;
        let prior = match &prior {
            Some((_, prior)) => {
                let sample =
                    Sample::new(&error, prior).and_then(|s| s.maybe_weighted(weight.as_deref()));
                let sample = sample.map_err(refused)?;
                let judged = judge_without_intervals(&sample, &Judging::default(), &Silent);
                Some(judged.map_err(refused)?.0)
            }
            None => None,
        };
        Ok(FitSummary { calendar, lags, suggested, prior, ..told })
    }
}

impl Arguments {
    /// Why groups do not decide which rows are held out, in words.
    fn groups_not_held_out(&self, group: Option<&Group>) -> Option<String> {
        let split = if self.columns.time.is_some() { Split::InOrder } else { Split::Random };
        let why = fit::groups_not_held_out(group, split)?;
        let still = match self.guarantee {
            Some(_) => " (the promise of --guarantee is by group all the same)",
            None => "",
        };
        Some(format!("--group does not decide which rows are held out: {why}{still}"))
    }

    /// A fit that knows where its errors come from.
    fn with_errors(&self, fit: Fit, forecast: Option<String>, ensemble: Option<Ensemble>) -> Fit {
        let source = match self.errors {
            Errors::HeldOut => ErrorSource::HeldOut,
            Errors::InSample => ErrorSource::InSample,
        };
        let fitted = fit.fitted.with_errors(source, forecast).with_ensemble(ensemble);
        Fit { fitted, ..fit }
    }

    /// What there is to say about a fit to rows of a table.
    fn told(
        &self,
        fit: Fit,
        worth: Option<Worth>,
        mut findings: Vec<Finding>,
        mut notes: Vec<String>,
        kept: &Columns,
    ) -> anyhow::Result<FitSummary> {
        let Fit { fitted, held_out } = &fit;
        // Learned, it is no longer in the way.
        let moved = fitted.bias().is_some();
        findings.retain(|finding| !moved || !matches!(finding, Finding::Biased { .. }));
        if self.learning.loss == LossName::Law && !fitted.options().by_law {
            notes.push(
                "models trained by the law of the errors do no better on rows held out, or that law is \
                 a Gaussian: those trained by the Gaussian's cost are kept"
                    .into(),
            );
        }
        let (held_out_scores, verdict) = match held_out {
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
            fit,
            held_out_scores,
            verdict,
            findings,
            worth,
            calendar: None,
            lags: None,
            suggested: None,
            prior: None,
            notes,
            time_written: kept.time_written().map(String::from),
            file: kept.file().to_string(),
            files: kept.files(),
            output: self.output.clone(),
            in_order: self.columns.time.is_some(),
        })
    }
}
