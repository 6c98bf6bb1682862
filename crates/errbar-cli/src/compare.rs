//! `errbar compare`: which of several forecasts is better?

mod any;
mod words;

use std::path::PathBuf;

use anyhow::{Context, bail};
use errbar::fit::Fitted;
use errbar::law::judge::ErrorLaws;
use errbar::law::{self, Bounds, ErrorLaw, Transform};
use errbar::score::bootstrap::{Candidate, Dependence};
use errbar::score::{self, Beta, Judging};
use serde::Serialize;

use crate::arguments::{
    DateArguments, TableArguments, Threads, parse_beta, parse_column, parse_probability,
};
use crate::columns::{FileRows, Request};
use crate::console::Console;
use crate::files::FileArguments;
use crate::forms::{FormArguments, KeyArguments};
use crate::resampling::{self, ResamplingArguments};
use crate::samples::{Names, ScoreRows};
use crate::{model_file, stop};

/// Compare several sigmas, or several forecasts of any form, on the same rows.
///
/// Says in words which is better and whether the rows at hand can show it. Two scores computed on
/// the same rows go up and down together, so that their difference is known better than either: each
/// difference has an interval of its own, from the same draws of rows. "Better" means a lower CRPS
/// (accuracy and sharpness, in the units of the observation); the differences of NLPD (which weighs
/// misses by a small sigma most) and RS (reliability alone) stand beside it.
///
/// Members (an ensemble), quantiles and intervals are compared too, with each other and with sigmas: each option given again
/// is one more forecast. They may stand in two files, whose rows are put beside each other by --key. Intervals tell no CRPS and
/// are compared by the interval score; --event compares the probabilities of an event by the Brier score.
///
/// A row counts only where none of the columns is missing (but for members), so that all are judged by the same rows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar compare out.csv --forecast mu --observation y --sigma old,new
  errbar compare out.csv --forecast gfs,ecmwf --observation t2m --sigma gfs_sigma,ecmwf_sigma
  errbar compare out.csv --error e --sigma a,b,c --against b --time date
  errbar compare out.csv --sigma old_sigma,sigma --model old.json,new.json
  errbar compare out.csv --observation y --forecast mu --sigma s --members 'm*' --quantile-columns 'q*'
  errbar compare out.csv --members 'gefs_*' --members 'ens_*' --observation t2m --event '> 30'
  errbar compare mine.csv theirs.csv --key time,station --sigma sigma --quantile-columns 'q*'

Columns named forecast and observation (or mu and y) need not be named.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FileArguments,

    /// The column with the forecast, or one for each sigma.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    forecast: Vec<String>,

    /// The column with what was then observed.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    observation: Option<String>,

    /// The column with the error, observation minus forecast, or one for each sigma.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column, conflicts_with_all = ["forecast", "observation"])]
    error: Vec<String>,

    /// The columns with the sigmas to compare.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column, required_unless_present_any = ["members", "quantile_columns", "interval_columns"])]
    sigma: Vec<String>,

    /// The models that made the sigmas, one for each (- for none): each is judged by the law of its model
    /// instead of a Gaussian, on the column "debiased" where the model moves forecasts.
    #[arg(long, short, value_name = "FILES", value_delimiter = ',')]
    model: Vec<PathBuf>,

    /// The one that the others are compared with, by the name of its sigma or forecast [default: the
    /// first].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,

    /// The column with the weight of each row; only ratios of weights matter.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    weight: Option<String>,

    /// The column with the time of each row, to put the rows in order: numbers, or dates and times
    /// as people write them.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    time: Option<String>,

    #[command(flatten)]
    dates: DateArguments,

    /// Levels of the central intervals whose coverage is counted.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_values = ["0.5", "0.8", "0.9", "0.95", "0.99"], allow_negative_numbers = true, value_parser = parse_probability)]
    levels: Vec<f64>,

    /// How much accuracy counts beside reliability in AR: heuristic, printed (as in the paper) or a
    /// number from 0 to 1.
    #[arg(long, value_name = "BETA", default_value = "heuristic", allow_negative_numbers = true, value_parser = parse_beta)]
    beta: Beta,

    /// Print everything as one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    forms: FormArguments,

    #[command(flatten)]
    key: KeyArguments,

    #[command(flatten)]
    resampling: ResamplingArguments,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

/// One of those compared.
#[derive(Serialize)]
struct Contender {
    name: String,
    /// Whether it is better than the one compared with, in words; nothing for that one.
    text: Option<String>,
    verdict: String,
    verdict_word: &'static str,
    #[serde(flatten)]
    candidate: Candidate,
}

/// Everything there is to say.
#[derive(Serialize)]
struct Report {
    file: String,
    /// Those that are one table here; none where there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileRows>,
    rows: usize,
    rows_in_file: usize,
    /// What was missing in rows that were left out, and in how many.
    left_out: Vec<(String, usize)>,
    against: String,
    candidates: Vec<Contender>,
    dependence: Option<Dependence>,
    notes: Vec<String>,
    warnings: Vec<String>,
    /// Whether all have the same errors, and differ in sigma only.
    #[serde(skip)]
    same_errors: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    let pool = arguments.threads.pool()?;
    let any =
        arguments.forms.any() || !arguments.forms.event.is_empty() || !arguments.key.key.is_empty();
    let interval = arguments.resampling.interval_in_words();
    let (notes, warnings, text) = pool.install(|| -> anyhow::Result<_> {
        Ok(match any {
            true => {
                let report = any::compare(arguments)?;
                let text = if arguments.json { json(&report)? } else { report.in_words(&interval) };
                (report.notes, report.warnings, text)
            }
            false => {
                let report = arguments.report()?;
                let text = if arguments.json { json(&report)? } else { report.in_words(&interval) };
                (report.notes, report.warnings, text)
            }
        })
    })?;
    stop::check()?;
    let console = arguments.console;
    notes.iter().for_each(|note| console.note(note));
    warnings.iter().for_each(|warning| console.warn(warning));
    console.result(&text)
}

fn json(report: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string_pretty(report).context("cannot write JSON")?;
    Ok(format!("{json}\n"))
}

impl Arguments {
    fn report(&self) -> anyhow::Result<Report> {
        if self.sigma.len() < 2 {
            bail!("only one sigma was named: give two or more to compare, or use errbar score");
        }
        let mut request = Request::open(self.files.given(), &self.table)?;
        let names = Names {
            forecast: &self.forecast,
            observation: self.observation.as_deref(),
            error: &self.error,
            sigma: &self.sigma,
            weight: self.weight.as_deref(),
        };
        let models = self.models()?;
        let mut asked = names.ask(&mut request)?;
        for (nth, model) in models.iter().enumerate() {
            if let Some(model) = model {
                asked.with_skew(nth, model, None, &mut request)?;
            }
        }
        request.time(self.time.as_deref(), self.dates.date_format.as_ref())?;
        let mut kept = request.read(self.console)?;
        let mut notes = kept.notes();
        let mut warnings = kept.fill_values_in_words();
        let rows = asked.rows(&mut kept, Transform::None)?;
        let against = self.against(&rows)?;

        let samples: anyhow::Result<Vec<_>> =
            (0..rows.samples()).map(|nth| rows.sample(nth, &kept)).collect();
        let samples = samples?;
        warnings.extend(self.resampling.warning(kept.rows()));
        let scores = score::Options::default()
            .beta(self.beta)
            .coverage_levels(self.levels.clone())
            .confidence(self.resampling.confidence);
        let progress = self.console.progress("Scoring");
        let judging = Judging::default().scores(scores).drawing(self.resampling.options());
        let laws: Vec<(Vec<ErrorLaw>, Option<Vec<Bounds>>)> = (samples.iter().zip(&models))
            .enumerate()
            .map(|(nth, (sample, model))| {
                let shape = model.as_ref().and_then(Fitted::shape);
                let observed = model.as_ref().zip(rows.observation());
                let bounds = observed.and_then(|(model, y)| model.bounds_of(sample.error(), y));
                (rows.laws(nth, shape), bounds)
            })
            .collect();
        let laws = laws.iter().map(|(laws, bounds)| ErrorLaws::new(laws).within(bounds.as_deref()));
        let candidates: Vec<_> = (samples.into_iter().zip(laws).zip(&models))
            .map(|((sample, laws), model)| (sample, model.as_ref().map(|_| laws)))
            .collect();
        let comparison = law::judge::compare(&candidates, against, &judging, &progress)
            .map_err(|error| kept.refused(error))?;
        let drawn = &comparison.candidates[against].judgement.intervals;
        notes.extend(resampling::note(drawn));
        let dependence = drawn.dependence;
        let interval = self.resampling.interval_in_words();
        let other = rows.name(against);
        let named = comparison.candidates.into_iter().enumerate().map(|(nth, candidate)| {
            let verdict = &candidate.judgement.verdict;
            let name = rows.name(nth);
            let text = candidate.difference.map(|difference| {
                words::difference_in_words(&name, &other, &difference, kept.rows(), &interval)
            });
            let (verdict, verdict_word) = (verdict.to_string(), verdict.word());
            Contender { name, text, verdict, verdict_word, candidate }
        });
        Ok(Report {
            file: kept.file().to_string(),
            files: kept.files(),
            rows: kept.rows(),
            rows_in_file: kept.total_rows(),
            left_out: kept.left_out().to_vec(),
            against: other.clone(),
            candidates: named.collect(),
            dependence,
            notes,
            warnings,
            same_errors: rows.same_errors(),
        })
    }

    /// The model of each sigma, where there is one.
    fn models(&self) -> anyhow::Result<Vec<Option<Fitted>>> {
        if self.model.is_empty() {
            return Ok(self.sigma.iter().map(|_| None).collect());
        }
        if self.model.len() != self.sigma.len() {
            bail!(
                "{} models were named for {} sigmas: name one for each, or - where there is none",
                self.model.len(),
                self.sigma.len()
            );
        }
        let read = |path: &PathBuf| match path.as_os_str() == "-" {
            true => Ok(None),
            false => {
                let model = model_file::read(path)?;
                if model.options().transform != Transform::None {
                    bail!(
                        "{} was learned on another scale, on which its scores would not be those of the \
                         others: compare by errbar score",
                        path.display()
                    );
                }
                Ok(Some(model))
            }
        };
        self.model.iter().map(read).collect()
    }

    /// The place of the one to compare with.
    fn against(&self, rows: &ScoreRows) -> anyhow::Result<usize> {
        for nth in 0..rows.samples() {
            if (0..nth).any(|other| rows.name(other) == rows.name(nth)) {
                bail!("\"{}\" is named twice: each is compared once", rows.name(nth));
            }
        }
        let Some(name) = &self.against else { return Ok(0) };
        let found: Vec<usize> = rows.called(name).collect();
        match found[..] {
            [nth] => Ok(nth),
            [] => {
                let names: Vec<String> = (0..rows.samples()).map(|nth| rows.name(nth)).collect();
                bail!("--against {name}: there is no such one among {}", names.join(", "))
            }
            [first, ..] => bail!(
                "--against {name}: several have that name; say for instance \"{}\"",
                rows.name(first)
            ),
        }
    }
}
