//! `errbar score`: how good are the error bars in a table?

mod form;
mod groups;
mod pass;
mod words;

use std::path::PathBuf;

use anyhow::{Context, bail};
use errbar::diagnose::{self, Finding, Since, Summary};
use errbar::fit::Fitted;
use errbar::law::judge::ErrorLaws;
use errbar::law::{Bounds, Candidate, Transform};
use errbar::score::bootstrap::{self, Dependence, Intervals};
use errbar::score::events::Event;
use errbar::score::verdict::Verdict;
use errbar::score::{self, Beta, Judging, Sample, Scores, judge_with, judge_without_intervals};
use serde::Serialize;

use crate::arguments::{
    DateArguments, TableArguments, Threads, parse_beta, parse_column, parse_probability,
};
use crate::columns::{Columns, FileRows, HELD, Read, Request, TextId};
use crate::console::Console;
use crate::files::FileArguments;
use crate::forms::{EventJudged, FormArguments, Given, judge_events};
use crate::resampling::{self, ResamplingArguments};
use crate::samples::{Names, ScoreColumns, ScoreRows};
use crate::{advice, model_file, stop};

/// Score error bars: are they of the right size, and do they help?
///
/// Reads a table with a forecast, what was then observed, and sigma, the standard deviation that was
/// given to the error of each row. Says first, in words, whether these error bars can be trusted,
/// then gives the scores behind it: CRPS (accuracy, in the units of the observation, smaller is
/// better), RS (reliability, 0 is perfect), how often central intervals held the observation, and
/// whether errors were larger where sigma was.
///
/// Every score comes with a confidence interval, from drawing the rows anew a thousand times: in
/// blocks where errors of neighbouring rows go together, as in a time series, which is then said.
/// Give --time if the rows are not in order.
///
/// A forecast need not be a sigma: members, quantiles and intervals are judged too, each by what it says (see "Forecasts of
/// other forms"), and so are the probabilities of events (--event).
///
/// Deviations that chance explains, or that are too small to matter (2 points of coverage, 5% of
/// sigma), are not held against a forecast.
///
/// Of more than 2,000,000 rows, all are judged as they pass, in one reading and in about 150 MB of memory however many they are (and
/// 2 MB more for each group of --by): RS then comes with a bound on what it can be off, about 6e-8, and the other scores and
/// intervals are those of --exact but for a few that are read off fine bins (docs/method.md).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar score out.csv --forecast mu --observation y --sigma s
  errbar score out.csv --error e --sigma s --by lead_time
  errbar score out.parquet --time date --levels 0.5,0.9,0.99
  errbar score out.csv --model model.json                have the errors drifted since training?
  errbar score 'out-2024-*.csv' archive/ --by lead_time  several files, a folder
  errbar score out.csv --json | jq .intervals.crps
  errbar score out.csv --event '> 50' --event '> 80'     the probabilities of events
  errbar score ens.csv --observation y --members 'm*'    an ensemble: fair CRPS, ranks, spread and skill
  errbar score q.csv --observation y --quantile-columns 'q*'
  errbar score bands.csv --observation y --interval-columns low,high --interval-level 0.9

Columns named forecast, observation and sigma (or mu, y and sigma) need not be named.
To see which of several sigmas is better: errbar compare.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FileArguments,

    /// The column with the forecast.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    forecast: Option<String>,

    /// The column with what was then observed.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    observation: Option<String>,

    /// The column with the error, observation minus forecast, instead of both.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, conflicts_with_all = ["forecast", "observation"])]
    error: Option<String>,

    /// The column with sigma, the standard deviation given to the error.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    sigma: Option<String>,

    /// The column with the skew of each row's law, which errbar predict adds for a --model whose skew varies
    /// with the inputs [default: skew, with what is before "sigma" in the name of sigma].
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, requires = "model")]
    skew: Option<String>,

    /// The model that sigma comes from: says whether the errors have drifted since it was fitted.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// The column with the weight of each row; only ratios of weights matter.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    weight: Option<String>,

    /// Score each value of this column by itself too: a lead time, a station, a season.
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    by: Option<String>,

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

    /// Leave the confidence intervals out.
    #[arg(long)]
    no_intervals: bool,

    /// Hold all rows in memory (about 110 bytes each), however many there are, and find RS to the last digit.
    #[arg(long)]
    exact: bool,

    /// Print everything as one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    forms: FormArguments,

    #[command(flatten)]
    resampling: ResamplingArguments,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    console: Console,
}

/// The scores of some rows, and what is to be said of them.
#[derive(Serialize)]
struct Assessment {
    verdict: WordedVerdict,
    scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Intervals>,
    /// The most that RS can be off, where rows were judged as they passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    rs_bound: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventJudged>,
}

/// A verdict in words, and what errbar has against the fault that it names: the bias of a forecast that
/// was moved already has changed since.
pub(crate) fn with_remedy(verdict: &Verdict, moved: bool) -> String {
    const ADVICE: &str = "Correct the forecast first.";
    verdict.to_string().replacen(
        ADVICE,
        match moved {
            false => "Correct the forecast first: errbar fit --debias learns how.",
            true => "The bias that was learned is not that of these rows: fit again often, with recent ones.",
        },
        1,
    )
}

/// A verdict with its words.
#[derive(Serialize)]
struct WordedVerdict {
    word: &'static str,
    text: String,
    #[serde(flatten)]
    verdict: Verdict,
}

/// The scores of one value of the column to group by.
#[derive(Serialize)]
struct Group {
    /// The value, as text; empty where it is missing.
    value: String,
    rows: usize,
    /// None where no row has any weight.
    #[serde(flatten)]
    judged: Option<Assessment>,
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
    #[serde(flatten)]
    all: Assessment,
    dependence: Option<Dependence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_training: Option<Since>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Group>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen();
    let pool = arguments.threads.pool()?;
    let said = pool.install(|| match arguments.forms.any() {
        true => form::judge(arguments)?.said(arguments),
        false => arguments.report()?.said(arguments),
    })?;
    stop::check()?;
    let console = arguments.console;
    said.notes.iter().for_each(|note| console.note(note));
    said.warnings.iter().for_each(|warning| console.warn(warning));
    console.result(&said.text)
}

/// What is printed.
struct Said {
    notes: Vec<String>,
    warnings: Vec<String>,
    text: String,
}

impl Report {
    fn said(self, arguments: &Arguments) -> anyhow::Result<Said> {
        let text = match arguments.json {
            true => json(&self)?,
            false => self.in_words(&arguments.resampling.interval_in_words()),
        };
        Ok(Said { notes: self.notes, warnings: self.warnings, text })
    }
}

fn json(report: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string_pretty(report).context("cannot write JSON")?;
    Ok(format!("{json}\n"))
}

/// Whether the forecast that is scored has been moved by the bias that a model has learned.
enum Moved {
    Yes,
    /// No: its column, and the one to score instead.
    No {
        forecast: String,
        instead: String,
    },
    /// Errors were given, and may be either's.
    Unknown,
}

impl Moved {
    /// `None` for a model that moves nothing. The column that `errbar predict` adds is called debiased,
    /// whatever its prefix; another beside the model's own forecast has been moved as well.
    fn of(model: &Fitted, asked: &ScoreColumns, request: &Request) -> Option<Self> {
        model.bias()?;
        let Some(scored) = asked.forecast() else { return Some(Self::Unknown) };
        let is_own = model.forecast() == Some(scored);
        if !is_own
            && (scored.ends_with("debiased")
                || model.forecast().is_some_and(|name| request.has(name)))
        {
            return Some(Self::Yes);
        }
        let found = request.header().iter().find(|column| column.ends_with("debiased"));
        let instead = found.map_or("debiased", String::as_str).to_string();
        Some(Self::No { forecast: scored.to_string(), instead })
    }

    /// Whether what is scored is the forecast that the sigmas of a model belong to.
    fn is_scored(moved: Option<&Self>) -> bool {
        matches!(moved, None | Some(Self::Yes))
    }

    fn warning(&self, model: &str) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::No { forecast, instead } => Some(format!(
                "the sigmas of {model} belong to the forecast moved by the bias that it has learned, and \
                 \"{forecast}\" is not moved: score the column that errbar predict adds, with \
                 --forecast {instead}"
            )),
            Self::Unknown => Some(format!(
                "the sigmas of {model} belong to errors of the forecast moved by the bias that it has \
                 learned: these are taken as errors before that, and compared with such"
            )),
        }
    }
}

/// What a table is judged by.
struct Question {
    model: Option<Fitted>,
    asked: ScoreColumns,
    moved: Option<Moved>,
    /// A column with a forecast that was moved, beside the one that is scored.
    beside: Option<String>,
    by: Option<TextId>,
    scale: Transform,
    judging: Judging,
}

/// What was found of the rows.
struct Answer {
    /// Without what is no longer needed of it.
    kept: Columns,
    all: Assessment,
    groups: Vec<Group>,
    dependence: Option<Dependence>,
    /// The errors as a model knows those of its training.
    now: Option<Summary>,
    drifts: Vec<Finding>,
    notes: Vec<String>,
}

impl Question {
    /// The law and the bounds of the model, where the forecast is the one that it belongs to.
    fn judge(&self) -> Option<&Fitted> {
        self.model.as_ref().filter(|_| Moved::is_scored(self.moved.as_ref()))
    }

    /// Whether each row has a law of its own, so that rows cannot be judged as they pass.
    fn has_laws(&self) -> bool {
        let shape = self.judge().and_then(Fitted::shape);
        shape.is_some_and(|shape| shape.turning().is_some())
    }
}

impl Arguments {
    fn report(&self) -> anyhow::Result<Report> {
        let model = self.model.as_deref().map(model_file::read).transpose()?;
        let mut request = Request::open(self.files.given(), &self.table)?;
        let one = |name: &Option<String>| name.iter().cloned().collect::<Vec<String>>();
        let (forecast, error, sigma) = (one(&self.forecast), one(&self.error), one(&self.sigma));
        let names = Names {
            forecast: &forecast,
            observation: self.observation.as_deref(),
            error: &error,
            sigma: &sigma,
            weight: self.weight.as_deref(),
        };
        let mut asked = names.ask(&mut request)?;
        let moved = model.as_ref().and_then(|model| Moved::of(model, &asked, &request));
        if let Some(model) = model.as_ref().filter(|_| Moved::is_scored(moved.as_ref())) {
            asked.with_skew(0, model, self.skew.as_deref(), &mut request)?;
        }
        let is_moved = |name: &String| name.ends_with("debiased");
        let beside = (request.header().iter())
            .find(|name| is_moved(name) && model.is_none() && error.is_empty())
            .filter(|_| !self.forecast.as_ref().is_some_and(is_moved))
            .cloned();
        let by = self.by.as_ref().map(|name| request.text(name)).transpose()?;
        request.time(self.time.as_deref(), self.dates.date_format.as_ref())?;
        let scale = model.as_ref().map_or(Transform::None, |model| model.options().transform);
        let scores = score::Options::default()
            .beta(self.beta)
            .coverage_levels(self.levels.clone())
            .confidence(self.resampling.confidence);
        let judging = Judging::default().scores(scores).drawing(self.resampling.options());
        let question = Question { model, asked, moved, beside, by, scale, judging };
        if !self.forms.event.is_empty() && self.error.is_some() {
            bail!(
                "an event is about the observation: give --forecast and --observation instead of --error"
            );
        }
        let held = self.exact || question.has_laws() || !self.forms.event.is_empty();
        let answer = match held {
            true => self.hold(&question, request.read(self.console)?)?,
            false => match request.read_up_to(HELD, self.console)? {
                Read::All(kept) => self.hold(&question, *kept)?,
                Read::More(passing) => match self.pass(&question, *passing)? {
                    Ok(answer) => answer,
                    Err((passing, why)) => {
                        self.hold(&question, passing.read_again(why, self.console)?)?
                    }
                },
            },
        };
        Ok(self.assemble(&question, answer))
    }

    /// Judges rows that are all held in memory.
    fn hold(&self, question: &Question, mut kept: Columns) -> anyhow::Result<Answer> {
        let notes = kept.notes();
        kept.look_for_fill_values();
        let groups = question.by.zip(self.by.as_ref());
        let groups = groups.map(|(id, name)| groups::split(kept.texts(id), name, kept.file()));
        let groups = groups.transpose()?.unwrap_or_default();
        let rows = question.asked.clone().rows(&mut kept, question.scale)?;
        let sample = rows.sample(0, &kept)?;
        let mut drifts = Vec::new();
        if self.time.is_some() {
            let context = diagnose::Context {
                weight: sample.weight(),
                in_time_order: true,
                ..Default::default()
            };
            let findings = diagnose::diagnose(sample.error(), &context);
            drifts = findings.map_err(|error| kept.refused(error))?;
            drifts.retain(|finding| {
                matches!(finding, Finding::DriftingBias { .. } | Finding::DriftingSize { .. })
            });
        }
        let now = self.model.as_ref().map(|_| Summary::of(sample.error(), sample.weight()));
        let progress = self.console.progress("Scoring");
        let all = self.judge(&rows, question, &kept, &progress)?;
        drop(progress);
        let groups = self.judge_groups(&rows, groups, question, &kept)?;
        let dependence = bootstrap::dependence(&sample);
        Ok(Answer { kept, all, groups, dependence, now, drifts, notes })
    }

    /// Everything there is to say.
    fn assemble(&self, question: &Question, answer: Answer) -> Report {
        let Answer { kept, all, groups, dependence, now, drifts, mut notes } = answer;
        let Question { model, asked, moved, beside, scale, .. } = question;
        if *scale != Transform::None {
            let name = scale.name();
            notes.push(match asked.forecast() {
                Some(_) => format!(
                    "scores are on the scale of --transform {name}, as the model's sigma is"
                ),
                None => format!("errors are taken as those on the scale of --transform {name}"),
            });
        }
        let warning = self.resampling.warning(kept.rows()).filter(|_| !self.no_intervals);
        let mut warnings: Vec<String> = warning.into_iter().collect();
        warnings.extend(kept.fill_values_in_words());
        warnings.extend(beside.as_ref().map(|name| {
            format!(
                "there is a column \"{name}\", which errbar predict adds where a bias was learned: its \
                 sigma belongs to that forecast; score it with --forecast {name}"
            )
        }));
        warnings.extend(drifts.iter().map(advice::on_errors));
        if let (Some(moved), Some(path)) = (moved, &self.model) {
            warnings.extend(moved.warning(&path.display().to_string()));
        }
        let training = model.as_ref().and_then(|model| match moved {
            Some(Moved::Yes) => model.debiased(),
            _ => Some(model.training()),
        });
        if let (Some(Moved::Yes), Some(path), None) = (moved, &self.model, training) {
            notes.push(format!(
                "{} does not say what errors were left when it was fitted, as an earlier version wrote \
                 it: whether they have drifted cannot be told; fit it again",
                path.display()
            ));
        }
        let since_training =
            training.zip(now).map(|(training, now)| Since { training: *training, now });
        if let Some(shape) = question.judge().and_then(Fitted::shape) {
            let names = question.model.as_ref().map_or(Vec::new(), Fitted::names_of_numbers);
            notes.push(format!("judged by the law of the model: {}", shape.explain_with(&names)));
        }
        notes.extend(all.intervals.as_ref().and_then(resampling::note));
        notes.extend(pass::note(&all));
        Report {
            file: kept.file().to_string(),
            files: kept.files(),
            rows: kept.rows(),
            rows_in_file: kept.total_rows(),
            left_out: kept.left_out().to_vec(),
            all,
            dependence,
            since_training,
            by: self.by.clone(),
            groups,
            notes,
            warnings,
        }
    }

    fn judge_groups(
        &self,
        rows: &ScoreRows,
        groups: Vec<(String, Vec<usize>)>,
        question: &Question,
        kept: &Columns,
    ) -> anyhow::Result<Vec<Group>> {
        let progress = self.console.progress("Groups");
        let count = groups.len();
        let mut judged = Vec::new();
        for (nth, (value, places)) in groups.into_iter().enumerate() {
            stop::check()?;
            let part = rows.part(&places);
            let group = match part.counts() {
                true => Some(self.judge(&part, question, kept, &errbar::Silent)?),
                false => None,
            };
            judged.push(Group { value, rows: places.len(), judged: group });
            errbar::Monitor::progress(&progress, (nth + 1) as f64 / count as f64);
        }
        Ok(judged)
    }

    fn judge(
        &self,
        rows: &ScoreRows,
        question: &Question,
        kept: &Columns,
        monitor: &dyn errbar::Monitor,
    ) -> anyhow::Result<Assessment> {
        let (model, judging) = (question.judge(), &question.judging);
        let sample = &rows.sample(0, kept)?;
        let bounds = model.zip(rows.observation());
        let bounds = bounds.and_then(|(model, y)| model.bounds_of(sample.error(), y));
        let shape = model.and_then(Fitted::shape);
        let judged = match (shape, self.no_intervals) {
            (shape, without) if shape.is_some() || bounds.is_some() => {
                let laws = rows.laws(0, shape);
                let laws = ErrorLaws::new(&laws).within(bounds.as_deref());
                errbar::law::judge::judge(sample, laws, judging, monitor).map(|judged| {
                    let intervals = (!without).then_some(judged.intervals);
                    (judged.scores, intervals, judged.verdict)
                })
            }
            (_, true) => judge_without_intervals(sample, judging, monitor)
                .map(|(scores, verdict)| (scores, None, verdict)),
            (_, false) => judge_with(sample, judging, monitor)
                .map(|judged| (judged.scores, Some(judged.intervals), judged.verdict)),
        };
        let (scores, intervals, verdict) = judged.map_err(|error| kept.refused(error))?;
        let events =
            self.events(rows, question, sample, bounds.as_deref(), intervals.as_ref(), monitor);
        let events = events.map_err(|error| kept.refused(error))?;
        Ok(Assessment { events, ..Assessment::of(scores, intervals, verdict, None) })
    }
}

impl Arguments {
    /// How good the probabilities of the events are.
    fn events(
        &self,
        rows: &ScoreRows,
        question: &Question,
        sample: &Sample,
        bounds: Option<&[Bounds]>,
        intervals: Option<&Intervals>,
        monitor: &dyn errbar::Monitor,
    ) -> errbar::Result<Vec<EventJudged>> {
        let Some(y) = rows.observation().filter(|_| !self.forms.event.is_empty()) else {
            return Ok(Vec::new());
        };
        // Thresholds are in the units of the table, errors on the scale of the model.
        let on_scale = |event: &Event| -> errbar::Result<Event> {
            let scaled = question.scale.all("the threshold of an event", &[event.threshold])?;
            Ok(Event { threshold: scaled.first().copied().unwrap_or(event.threshold), ..*event })
        };
        let scaled: errbar::Result<Vec<Event>> = self.forms.event.iter().map(on_scale).collect();
        let laws = question.judge().map(|model| rows.laws(0, model.shape()));
        let laws = laws.as_ref().map(|laws| ErrorLaws::new(laws).within(bounds));
        let given = Given {
            weight: sample.weight(),
            drawing: self.resampling.options(),
            without_intervals: self.no_intervals,
        };
        let candidate = Candidate::Sigma(sample.clone(), laws);
        let mut judged = judge_events(&candidate, &scaled?, y, &given, intervals, monitor)?;
        judged.iter_mut().zip(&self.forms.event).for_each(|(judged, event)| judged.event = *event);
        Ok(judged)
    }
}

impl Assessment {
    fn of(
        scores: Scores,
        intervals: Option<Intervals>,
        verdict: Verdict,
        rs_bound: Option<f64>,
    ) -> Self {
        let text = with_remedy(&verdict, false);
        let verdict = WordedVerdict { word: verdict.word(), text, verdict };
        Self { verdict, scores, intervals, rs_bound, events: Vec::new() }
    }
}
