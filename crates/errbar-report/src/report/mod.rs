//! The report: one page that shows whether error bars can be trusted.
//!
//! A [`Subject`] is a table in memory: what was forecast, what was observed, the sigma given to each
//! row, and whatever sigma may depend on. [`Report::new`] judges it; [`Report::html`] is the page,
//! [`Report::figures`] the figures alone.
//!
//! ```
//! use errbar_report::report::{Column, Origin, Report, Subject};
//!
//! let forecast: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
//! let observation: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0 + (2.4 * f64::from(i)).sin()).collect();
//! let subject = Subject {
//!     observation: Column { name: "y", values: &observation },
//!     forecast: Column { name: "mu", values: &forecast },
//!     sigma: &[0.2; 200],
//!     ..Subject::default()
//! };
//! let report = Report::new(&subject, &errbar::Silent)?;
//! assert!(report.headline()[0].starts_with("Overconfident"));
//! let page = report.html("My forecast", &Origin::default())?;
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), errbar_report::Error>(())
//! ```

mod advice;
mod bins;
mod each;
mod figures;
mod headline;
mod html;
mod stretch;
mod tracks;

use errbar::Monitor;
use errbar::diagnose::{self, Finding};
use errbar::law::judge::ErrorLaws;
use errbar::law::{self, ErrorLaw};
use errbar::score::bootstrap::{self, Intervals};
use errbar::score::events::{self, Event, EventSample, EventScores};
use errbar::score::verdict::{Finding as Cause, Verdict};
use errbar::score::{
    Judgement, Judging, Options, Sample, Scores, constant, crps, errors_of, judge_with,
};

pub use figures::ReportFigure;

use self::each::Each;
use crate::error::{Error, Result};

/// A column and what it is called.
#[derive(Debug, Clone, Copy, Default)]
pub struct Column<'a> {
    /// Its name, whatever that is: it is shown as text.
    pub name: &'a str,
    /// One value for each row.
    pub values: &'a [f64],
}

/// The order that rows come in.
#[derive(Debug, Clone, Copy, Default)]
pub enum Order<'a> {
    /// That of the file, which may mean nothing.
    #[default]
    Rows,
    /// That of time. The rows are sorted by it.
    Time {
        /// What it is called.
        name: &'a str,
        /// The time of each row, in order.
        values: &'a [f64],
        /// Whether times are seconds since 1970.
        dates: bool,
    },
}

/// Rows that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    /// What they are grouped by.
    pub name: &'a str,
    /// The groups.
    pub labels: &'a [String],
    /// For each row its place in `labels`.
    pub rows: &'a [u32],
}

/// Where rows are, in degrees. What is no place on Earth (a gap, a latitude beyond 90, a longitude beyond
/// 360) is not on the map.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// Degrees north.
    pub latitude: Column<'a>,
    /// Degrees east, from −180 or from 0.
    pub longitude: Column<'a>,
}

/// Forecast and sigma over the range of the one input, for a smooth picture.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    /// The input, in order.
    pub x: Vec<f64>,
    /// The forecast there.
    pub forecast: Vec<f64>,
    /// Sigma there.
    pub sigma: Vec<f64>,
    /// The law there in units of sigma; nothing where all rows have the same.
    pub laws: Vec<ErrorLaw>,
    /// The band that holds sigma itself with a probability of 90%, where the model has one.
    pub band: Option<(Vec<f64>, Vec<f64>)>,
}

/// What is judged: a table in memory.
#[derive(Debug, Clone, Default)]
pub struct Subject<'a> {
    /// What was observed.
    pub observation: Column<'a>,
    /// What had been forecast.
    pub forecast: Column<'a>,
    /// The sigma given to each row.
    pub sigma: &'a [f64],
    /// The law around each forecast, in units of sigma; none where all are Gaussian.
    pub laws: Option<ErrorLaws<'a>>,
    /// Whether these differ with the inputs.
    pub turns: bool,
    /// Whether forecasts were moved already by a bias that was learned.
    pub moved: bool,
    /// The weight of each row.
    pub weight: Option<&'a [f64]>,
    /// What sigma may depend on.
    pub inputs: Vec<Column<'a>>,
    /// Which of them are categories, by their places: the names of the levels that their values are places among.
    pub levels: Vec<(usize, &'a [String])>,
    /// Whether the inputs come with the most telling first; otherwise their order is found here.
    pub ranked: bool,
    /// The order of the rows.
    pub order: Order<'a>,
    /// Groups to be compared.
    pub groups: Option<Groups<'a>>,
    /// How long before its time each row was forecast.
    pub lead: Option<Groups<'a>>,
    /// Where each row is.
    pub places: Option<Places<'a>>,
    /// Events whose probabilities are judged, each with what it is called: "> 50".
    pub events: Vec<(String, Event)>,
    /// The picture of forecast and sigma over the input, where there is one input.
    pub curve: Option<Curve>,
}

/// Where everything comes from, so that somebody else can do it again.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Facts in order: "data", "model", "seed" and so on, each with what is to be said.
    pub facts: Vec<(String, String)>,
    /// The exact command.
    pub command: String,
    /// What the reader must know before trusting the rest: that a model has seen these rows, say.
    pub warnings: Vec<String>,
    /// Smaller remarks: rows left out, columns chosen.
    pub notes: Vec<String>,
}

/// An event, and how good its probabilities are.
#[derive(Debug, Clone)]
pub struct JudgedEvent {
    /// What it is called: "> 50".
    pub words: String,
    /// Its scores.
    pub scores: EventScores,
}

/// The probability of every range of chance and every interval.
const CONFIDENCE: f64 = 0.95;
/// The central interval that people look at.
const LEVEL: f64 = 0.9;

/// Everything there is to say about a subject.
#[derive(Debug, Clone)]
pub struct Report {
    scores: Scores,
    intervals: Intervals,
    verdict: Verdict,
    findings: Vec<Finding>,
    figures: Vec<ReportFigure>,
    events: Vec<JudgedEvent>,
    /// What remedies would gain.
    gains: advice::Gains,
    /// Whether a bias was learned before.
    moved: bool,
    /// The names of observation and forecast.
    names: [String; 2],
    /// The first and the last time, in words.
    span: Option<(String, String)>,
    /// The range of sigma in nine of ten rows.
    sigma_range: (f64, f64),
    /// What multiplying sigma would do, where it is too small or too large.
    rescaled: Option<Rescaled>,
}

/// All sigmas multiplied by one factor.
#[derive(Debug, Clone, Copy)]
struct Rescaled {
    factor: f64,
    crps: f64,
    /// Against the same constant sigma.
    skill: f64,
}

impl Report {
    /// Judges a table and draws its figures.
    ///
    /// # Errors
    /// Columns of different lengths, values that are not finite, a sigma that is not positive, or a
    /// monitor that asked to stop.
    pub fn new(subject: &Subject<'_>, monitor: &dyn Monitor) -> Result<Self> {
        let error = errors_of(subject.observation.values, subject.forecast.values)?;
        let sample = Sample::new(&error, subject.sigma)?.maybe_weighted(subject.weight)?;
        check(subject)?;
        // Twenty bins of few rows show nothing but chance.
        let pit_bins = if sample.effective_rows() < 300.0 { 10 } else { 20 };
        let judging = Judging::default()
            .scores(Options::default().pit_bins(pit_bins))
            .drawing(bootstrap::Options::default().confidence(CONFIDENCE));
        let Judgement { scores, intervals, verdict, .. } = match subject.laws {
            Some(laws) => law::judge::judge(&sample, laws, &judging, monitor)?,
            None => judge_with(&sample, &judging, monitor)?,
        };
        let context = diagnose::Context {
            weight: subject.weight,
            observation: Some(subject.observation.values),
            in_time_order: matches!(subject.order, Order::Time { .. }),
            inputs: 0,
        };
        let mut findings = diagnose::diagnose(&error, &context)?;
        // A law need not be centred at the forecast; whether its own place is right, the verdict says.
        findings.retain(|f| subject.laws.is_none() || !matches!(f, Finding::Biased { .. }));
        // Laws that end at a bound know of it.
        let known = subject.laws.map(|laws| laws.bounds(0)).unwrap_or_default();
        findings.retain(|finding| match finding {
            Finding::Bounded { below: true, .. } => known.lower().is_infinite(),
            Finding::Bounded { below: false, .. } => known.upper().is_infinite(),
            _ => true,
        });
        let equal = match subject.laws {
            Some(laws) => law::judge::as_gaussian(&sample, laws)?,
            None => error.clone(),
        };
        let equal = Sample::new(&equal, subject.sigma)?.maybe_weighted(subject.weight)?;
        findings.extend(diagnose::heavy_tails(&equal));
        let events = judged_events(subject, &intervals, monitor)?;
        let gains = advice::Gains::of(subject, &sample, (&verdict, &findings), monitor)?;
        let figures = figures::all(&figures::FigureData {
            subject,
            sample: &sample,
            equal: &equal,
            scores: &scores,
            each: &Each::of(subject, &sample, &scores)?,
            events: &events,
        })?;
        let name = |column: &Column<'_>| column.name.to_string();
        Ok(Self {
            findings,
            figures,
            events,
            gains,
            names: [name(&subject.observation), name(&subject.forecast)],
            span: figures::span(subject),
            moved: subject.moved,
            rescaled: rescaled(&verdict, &sample, subject.laws, &scores),
            sigma_range: bins::quantile_range(subject.sigma, LEVEL),
            verdict,
            scores,
            intervals,
        })
    }

    /// All scores.
    #[must_use]
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// The intervals of the scores.
    #[must_use]
    pub fn intervals(&self) -> &Intervals {
        &self.intervals
    }

    /// The events that were asked for, in their order.
    #[must_use]
    pub fn events(&self) -> &[JudgedEvent] {
        &self.events
    }

    /// Whether the error bars can be trusted.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The verdict first, then how wide, how reliable and how much better than one constant sigma.
    #[must_use]
    pub fn headline(&self) -> Vec<String> {
        headline::sentences(self)
    }

    /// What is wrong and what to do about it, that first which would gain most; empty when nothing is.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        advice::advice(self)
    }

    /// The figures, in the order of the page.
    #[must_use]
    pub fn figures(&self) -> &[ReportFigure] {
        &self.figures
    }

    /// The page: one file that loads nothing.
    ///
    /// # Errors
    /// A figure that cannot be drawn; none for a report that [`Report::new`] made.
    pub fn html(&self, title: &str, origin: &Origin) -> Result<String> {
        html::page(self, title, origin)
    }
}

/// How good the probabilities of events are, by the law of each row. Rows are drawn in the blocks of the other scores.
fn judged_events(
    subject: &Subject<'_>,
    intervals: &Intervals,
    monitor: &dyn Monitor,
) -> Result<Vec<JudgedEvent>> {
    let (gaussian, rows) = (ErrorLaw::default(), subject.sigma.len());
    let one = |(words, event): &(String, Event)| {
        let probability: Vec<f64> = (0..rows)
            .map(|row| {
                let law = subject.laws.and_then(|laws| laws.get(row)).unwrap_or(&gaussian);
                let bounds = subject.laws.map(|laws| laws.bounds(row)).unwrap_or_default();
                event.probability(subject.forecast.values[row], subject.sigma[row], law, bounds)
            })
            .collect();
        let happened = event.happened(subject.observation.values);
        let sample = EventSample::new(&probability, &happened)?.maybe_weighted(subject.weight)?;
        let drawing =
            bootstrap::Options::default().confidence(CONFIDENCE).block(Some(intervals.block));
        let options = events::Options { drawing, without_intervals: false };
        let scores = events::judge(&sample, &options, monitor)?;
        Ok(JudgedEvent { words: words.clone(), scores })
    };
    subject.events.iter().map(one).collect()
}

/// The right size for sigma, if that is what is wrong.
fn rescaled(
    verdict: &Verdict,
    sample: &Sample<'_>,
    laws: Option<ErrorLaws<'_>>,
    scores: &Scores,
) -> Option<Rescaled> {
    let (Cause::Overconfident { factor } | Cause::Underconfident { factor }) = verdict.finding
    else {
        return None;
    };
    let sigma: Vec<f64> = sample.sigma().iter().map(|sigma| factor * sigma).collect();
    let sample = Sample::new(sample.error(), &sigma).ok()?.maybe_weighted(sample.weight()).ok()?;
    let crps = match laws {
        Some(laws) => law::judge::crps(&sample, laws).ok()?,
        None => crps::mean(&sample),
    };
    Some(Rescaled { factor, crps, skill: constant::skill(crps, scores.constant) })
}

fn check(subject: &Subject<'_>) -> Result<()> {
    let rows = subject.sigma.len();
    let same = |column: &str, length: usize| match length == rows {
        true => Ok(()),
        false => Err(Error::Rows { column: column.to_string(), length, expected: rows }),
    };
    for (place, input) in subject.inputs.iter().enumerate() {
        same(input.name, input.values.len())?;
        let is_level = subject.levels.iter().any(|(own, _)| *own == place);
        if let Some(row) = input.values.iter().position(|x| !x.is_finite() && !is_level) {
            let (column, value) = (input.name.to_string(), input.values[row]);
            return Err(Error::NotFinite { column, row, value });
        }
    }
    if let Some(Places { latitude, longitude }) = subject.places {
        same(latitude.name, latitude.values.len())?;
        same(longitude.name, longitude.values.len())?;
    }
    if let Order::Time { name, values, .. } = subject.order {
        same(name, values.len())?;
        if let Some(row) = values.iter().position(|t| !t.is_finite()) {
            return Err(Error::NotFinite { column: name.to_string(), row, value: values[row] });
        }
    }
    for groups in [subject.groups, subject.lead].into_iter().flatten() {
        same(groups.name, groups.rows.len())?;
        if groups.rows.iter().any(|&row| row as usize >= groups.labels.len()) {
            return Err(Error::UnknownGroup { column: groups.name.to_string() });
        }
    }
    Ok(())
}
