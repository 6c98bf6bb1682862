//! One call that judges error bars: every score, how far each can be trusted, and a verdict.

use serde::Serialize;

use super::bootstrap::{self, Intervals};
use super::sample::Sample;
use super::scores::{self, Scores};
use super::verdict::Verdict;
use crate::choices::setters;
use crate::error::Result;
use crate::monitor::{Monitor, Silent};

/// How to judge. The default is how every front end of errbar does.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Judging {
    /// Which scores.
    pub scores: scores::Options,
    /// How rows are drawn anew for the intervals: unless said otherwise in blocks where neighbours
    /// depend on each other.
    pub drawing: bootstrap::Options,
}

impl Judging {
    setters! { scores: scores::Options, drawing: bootstrap::Options }
}

/// What is to be said of some error bars.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Judgement {
    /// Every score.
    pub scores: Scores,
    /// A confidence interval for each.
    pub intervals: Intervals,
    /// Whether the error bars can be trusted.
    #[serde(skip)]
    pub verdict: Verdict,
}

impl Judgement {
    pub(super) fn of(scores: Scores, intervals: Intervals) -> Self {
        let verdict = Verdict::with(&scores, Some(&intervals));
        Self { scores, intervals, verdict }
    }
}

/// Judges error bars in the usual way.
///
/// ```
/// use errbar::score::{Sample, judge};
///
/// let error: Vec<f64> = (0..200).map(|i| (i as f64 * 1.7).sin()).collect();
/// let judgement = judge(&Sample::new(&error, &[2.0; 200])?)?;
/// assert_eq!(judgement.verdict.word(), "underconfident");
/// assert!(judgement.intervals.crps.contains(judgement.scores.crps));
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// As [`Scores::of`].
pub fn judge(sample: &Sample) -> Result<Judgement> {
    judge_with(sample, &Judging::default(), &Silent)
}

/// Judges error bars.
///
/// # Errors
/// As [`Scores::with`] and [`Intervals::with`].
pub fn judge_with(sample: &Sample, options: &Judging, monitor: &dyn Monitor) -> Result<Judgement> {
    let scores = Scores::with(sample, &options.scores)?;
    let intervals = Intervals::with(sample, &scores, &options.drawing, monitor)?;
    Ok(Judgement::of(scores, intervals))
}

/// The scores and the verdict of [`judge_with`] for those who do not want intervals: rows that depend
/// on each other are drawn anew for the verdict all the same, so that it is no other than with them.
///
/// # Errors
/// As [`judge_with`].
pub fn judge_without_intervals(
    sample: &Sample,
    options: &Judging,
    monitor: &dyn Monitor,
) -> Result<(Scores, Verdict)> {
    if options.drawing.block_for(sample) > 1 {
        let Judgement { scores, verdict, .. } = judge_with(sample, options, monitor)?;
        return Ok((scores, verdict));
    }
    let scores = Scores::with(sample, &options.scores)?;
    let verdict = Verdict::of(&scores);
    Ok((scores, verdict))
}
