//! Several sigmas, or several forecasts, on the same rows: which is better?

use serde::Serialize;

use super::interval::{Interval, Rule};
use super::replicates::{CRPS, NLPD, RS, Subject, replicate};
use super::resample::Plan;
use super::sums::RowScores;
use super::{Intervals, without_chance};
use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage};
use crate::score::judge::{Judgement, Judging};
use crate::score::sample::Sample;
use crate::score::scores::Scores;
use crate::score::verdict::Verdict;

/// Candidates scored on the same rows, and how each differs from one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The candidate that the others are compared with, counted from 0.
    pub against: usize,
    /// All of them, in the order given.
    pub candidates: Vec<Candidate>,
}

/// One of the candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// What is to be said of it alone.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// How it differs from the one compared with; none for that one itself.
    pub difference: Option<Difference>,
}

/// Scores of a candidate minus those of the one it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Of the mean CRPS.
    pub crps: Paired,
    /// Of the mean CRPS, as a share of the CRPS of the one compared with.
    pub crps_relative: Paired,
    /// Of the mean negative log predictive density.
    pub nlpd: Paired,
    /// Of the Reliability Score; the interval is for endless rows.
    pub rs: Paired,
}

/// A difference of two scores on the same rows. Below zero the candidate is better.
///
/// Both are computed on the same resamples: rows that are hard for both add nothing to the interval,
/// which is why it is narrower than those of the two scores suggest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Paired {
    /// The candidate's score minus the other's.
    pub value: f64,
    /// Its confidence interval.
    pub interval: Interval,
    /// The share of resamples in which the candidate is better, ties by half.
    pub better: f64,
    /// The two-sided p-value of no difference: twice the smaller share of resamples on either side
    /// of zero, each counted with one more, so that it is never 0.
    pub p_value: f64,
}

impl Paired {
    /// Whether the interval leaves zero out.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.interval.is_known() && !self.interval.contains(0.0)
    }

    pub(super) fn new(value: f64, interval: Interval, shift: f64, replicates: &[f64]) -> Self {
        let count = |keep: &dyn Fn(f64) -> bool| {
            replicates.iter().filter(|r| keep(**r + shift)).count() as f64
        };
        let all = replicates.len() as f64;
        let (below, above) = (count(&|d| d < 0.0), count(&|d| d > 0.0));
        let tail = |side: f64| (all - side + 1.0) / (all + 1.0); // not on that side
        let p_value = (2.0 * tail(below).min(tail(above))).min(1.0);
        Self { value, interval, better: (below + 0.5 * (all - below - above)) / all, p_value }
    }
}

/// Compares samples that hold the same rows: the same observations and weights in the same order,
/// with other sigmas or other forecasts.
///
/// # Errors
/// No samples, another number of rows or other weights, a candidate `against` that is not there, an option out
/// of its range, or the monitor stopped it.
pub fn compare(
    samples: &[Sample],
    against: usize,
    judging: &Judging,
    monitor: &dyn Monitor,
) -> Result<Comparison> {
    let prepared: Result<Vec<Prepared>> = (samples.iter())
        .map(|sample| {
            let scores = Scores::with(sample, &judging.scores)?;
            Ok(Prepared { sample: sample.clone(), own: None, as_gaussian: None, scores })
        })
        .collect();
    compare_prepared(&prepared?, against, judging, monitor)
}

/// One to be compared: a sample, and where its law is no Gaussian the scores of its rows. The sample then
/// holds what errors would be if it were.
pub(crate) struct Prepared<'a> {
    pub(crate) sample: Sample<'a>,
    pub(crate) own: Option<RowScores>,
    /// The scores of the sample as it is, which the verdict is read off.
    pub(crate) as_gaussian: Option<Scores>,
    pub(crate) scores: Scores,
}

impl Prepared<'_> {
    /// What is to be said of it alone, with these intervals.
    pub(crate) fn judgement(&self, intervals: Intervals) -> Judgement {
        let read_off = self.as_gaussian.as_ref().unwrap_or(&self.scores);
        let verdict = Verdict::with(read_off, Some(&intervals));
        Judgement { scores: self.scores.clone(), intervals, verdict }
    }
}

/// [`compare`] for any laws.
pub(crate) fn compare_prepared(
    prepared: &[Prepared],
    against: usize,
    judging: &Judging,
    monitor: &dyn Monitor,
) -> Result<Comparison> {
    let options = &judging.drawing;
    options.check()?;
    let samples: Vec<Sample> = prepared.iter().map(|one| one.sample.clone()).collect();
    let first = samples.first().ok_or(Error::Empty)?;
    if against >= samples.len() {
        return Err(Error::BadNumber {
            what: "the sample to compare with",
            value: against,
            allowed: "it must be one of those given, counted from 0",
        });
    }
    for (index, sample) in samples.iter().enumerate() {
        check_length("a sample", sample.len(), "the first one", first.len())?;
        if sample.weight() != first.weight() {
            return Err(Error::OtherWeights { index });
        }
    }
    let drawn = options.drawn(&samples);
    let plan = Plan::new(first.len(), drawn.0, options.seed);
    let prepare =
        |one: &Prepared| Subject::new(&one.sample, one.own.as_ref(), &one.scores, &plan, monitor);
    let subjects: Result<Vec<Subject>> = prepared.iter().map(prepare).collect();
    let drawing = Stage { whole: monitor, from: 0.1, to: 1.0 };
    let replicates = replicate(&plan, &subjects?, options, &drawing)?;

    let rule = Rule::new(options.confidence, plan.pieces());
    let (of, mine) = (&prepared[against].scores, &replicates[against]);
    let difference = |index: usize, scores: &Scores| {
        let pairs = |which: usize| replicates[index][which].iter().zip(&mine[which]);
        let minus = |which: usize| pairs(which).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let plain = |value: f64, replicates: Vec<f64>| {
            let interval = rule.percentile(replicates.clone(), 0.0);
            Paired::new(value, interval, 0.0, &replicates)
        };
        // Chance makes both RS larger, but not quite equally.
        let (rs, rs_value) = (minus(RS), scores.rs - of.rs);
        let bias = super::interval::mean(&rs) - rs_value;
        let rs_interval = without_chance(&rule, &rs, rs_value);
        let share = |a: f64, b: f64| if b > 0.0 { a / b - 1.0 } else { 0.0 };
        let relative = pairs(CRPS).map(|(&a, &b)| share(a, b)).collect();
        Difference {
            crps: plain(scores.crps - of.crps, minus(CRPS)),
            crps_relative: plain(share(scores.crps, of.crps), relative),
            nlpd: plain(scores.nlpd - of.nlpd, minus(NLPD)),
            rs: Paired::new(rs_value, rs_interval, -2.0 * bias, &rs),
        }
    };
    let candidates = prepared.iter().enumerate().map(|(index, one)| {
        let intervals =
            Intervals::from_replicates(&one.scores, &replicates[index], &plan, options, drawn);
        let difference = (index != against).then(|| difference(index, &one.scores));
        Candidate { judgement: one.judgement(intervals), difference }
    });
    Ok(Comparison { against, candidates: candidates.collect() })
}
