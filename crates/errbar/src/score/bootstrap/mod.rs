//! How far can a score be trusted? Confidence intervals by the bootstrap, and paired comparisons.
//!
//! The rows at hand are drawn again, as many as there are and each as often as it falls, and every
//! score is computed anew; how much it varies from one such resample to the next is how much it
//! would vary from one data set to the next (Efron and Tibshirani, 1993).
//!
//! ```
//! use errbar::score::{Sample, Scores, bootstrap::Intervals};
//!
//! let error: Vec<f64> = (0..200).map(|i| (i as f64 * 1.7).sin()).collect();
//! let sigma = vec![0.7; 200];
//! let sample = Sample::new(&error, &sigma)?;
//! let scores = Scores::of(&sample)?;
//! let intervals = Intervals::of(&sample, &scores)?;
//! assert!(intervals.crps.contains(scores.crps));
//! # Ok::<(), errbar::Error>(())
//! ```
//!
//! # What is drawn
//!
//! Single rows, which takes them to be independent, or *blocks* of consecutive rows, which keeps
//! what neighbours have in common. Unless [`Options::block`] says otherwise the rows decide: where
//! errors of neighbours go together by the measure of [`dependence()`], blocks of the length that it
//! finds are drawn, about twice the number of rows after which errors have forgotten each other;
//! elsewhere single rows. Blocks begin at any row and the last row is followed by
//! the first: the circular block bootstrap of Politis and Romano (1992), which unlike the moving
//! blocks of Künsch (1989) draws the first and last rows as often as the others, so that the mean
//! of a resample is that of the sample on average.
//!
//! Beyond 16,384 rows the rows are first summed up in about 2,000 units, which are then drawn in
//! place of rows. Independent rows are dealt to the units at random; with blocks, a unit is a stretch of
//! consecutive rows, and a block is a whole number of units: never shorter than asked for, and up
//! to 1/2,000 of the rows longer. So the time does not grow with the rows but for one pass
//! over them.
//!
//! # Which interval
//!
//! | score | interval |
//! |---|---|
//! | means and what is made of them | percentiles of the resamples, widened for few rows as Student's (Hesterberg, 2015) |
//! | coverage | Wilson's, with the number of independent rows that the resamples tell (Korn and Graubard, 1998), so that 50 of 50 is not a certainty |
//! | RS, AR | percentiles, moved down by twice the bias that the resamples show, and not below 0 |
//!
//! RS is a squared distance, which chance only makes larger: the RS of a sample exceeds that of
//! endless rows by about [`rs_expected`](super::reliability::rs_expected), and that of a
//! resample exceeds it by as much again. The interval is for the RS of *endless* rows. It may lie below
//! the RS of the sample, begins at 0 for a calibrated forecast, and in simulations holds the truth in 93 to
//! 100% of cases at 95% confidence.
//!
//! The best constant sigma, against which skill is measured, stays that of the whole sample: at a
//! minimum, a small change of sigma does not change the CRPS to first order (the envelope theorem).
//! Beta of AR stays that of the sample too.
//!
//! # The same bits
//!
//! Each resample has random numbers of its own, made from the seed and its number. So the result does not
//! depend on the number of threads.
//!
//! # References
//!
//! - Efron, Tibshirani (1993), *An Introduction to the Bootstrap*, Chapman & Hall.
//! - Künsch (1989), Ann. Statist. 17, 1217-1241, [doi:10.1214/aos/1176347265](https://doi.org/10.1214/aos/1176347265).
//! - Politis, Romano (1992), A circular block-resampling procedure for stationary data, in
//!   *Exploring the Limits of Bootstrap*, Wiley, 263-270.
//! - Hesterberg (2015), Am. Stat. 69, 371-386, [doi:10.1080/00031305.2015.1089789](https://doi.org/10.1080/00031305.2015.1089789).
//! - Korn, Graubard (1998), Surv. Methodol. 24, 193-201.

mod comparison;
mod dependence;
mod growing;
mod interval;
mod means;
mod reliability;
mod replicates;
mod resample;
mod sums;

pub use comparison::{Candidate, Comparison, Difference, Paired, compare};
pub(crate) use comparison::{Prepared, compare_prepared};
pub use dependence::{Dependence, dependence};
pub(crate) use growing::{Block, Dealing, OwnRows, Units};
pub use interval::Interval;
pub(crate) use means::Draws;
pub use means::compare_means;
pub(crate) use resample::UNITS;
pub(crate) use sums::RowScores;

use serde::{Deserialize, Serialize};

use self::interval::Rule;
use self::replicates::{
    AR, BIAS, COVERAGE, CRPS, CRPS_SKILL, MAE, MEAN_SIGMA, MEAN_Z, NLPD, RMS_Z, RMSE, RS, Subject,
    replicate,
};
use self::resample::Plan;
use super::calibration::check_probability;
use super::sample::Sample;
use super::scores::Scores;
use crate::checks::check_length;
use crate::choices::setters;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Silent, Stage};
use crate::words::significant;

/// How to resample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// How many resamples.
    pub replicates: usize,
    /// The probability with which an interval should hold the truth.
    pub confidence: f64,
    /// Rows that are drawn together: 1 takes them as independent. When left out, as many as
    /// [`dependence()`] finds to go together.
    pub block: Option<usize>,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { replicates: 1000, confidence: 0.95, block: None, seed: 0 }
    }
}

impl Options {
    setters! { replicates: usize, confidence: f64, block: Option<usize>, seed: u64 }

    fn check(&self) -> Result<()> {
        check_probability("the confidence of an interval", self.confidence)?;
        let number = |what, value, allowed| Err(Error::BadNumber { what, value, allowed });
        match (self.replicates, self.block) {
            (value, _) if !(20..=10_000_000).contains(&value) => {
                number("the number of replicates", value, "it must lie between 20 and 10,000,000")
            }
            (_, Some(0)) => number("the number of rows in a block", 0, "it must be at least 1"),
            _ => Ok(()),
        }
    }

    /// The number of rows of this sample that are drawn together.
    #[must_use]
    pub fn block_for(&self, sample: &Sample) -> usize {
        self.drawn(std::slice::from_ref(sample)).0
    }

    /// How samples of the same rows are to be drawn: as asked, or as the one needs whose errors go
    /// together longest.
    fn drawn(&self, samples: &[Sample]) -> (usize, Option<Dependence>) {
        if let Some(block) = self.block {
            return (block, None);
        }
        let found = samples.iter().filter_map(dependence).max_by_key(|found| found.block);
        (found.map_or(1, |found| found.block), found)
    }
}

/// A confidence interval for each score of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Intervals {
    /// How they were to be made.
    pub options: Options,
    /// Rows that were drawn together.
    #[serde(default = "one")]
    pub block: usize,
    /// Why, where that was left to the rows and more than one was drawn.
    #[serde(default)]
    pub dependence: Option<Dependence>,
    /// Of the mean error.
    pub bias: Interval,
    /// Of the mean absolute error.
    pub mae: Interval,
    /// Of the root mean squared error.
    pub rmse: Interval,
    /// Of the mean sigma.
    pub mean_sigma: Interval,
    /// Of the mean of $z$.
    pub mean_z: Interval,
    /// Of the root mean square of $z$.
    pub rms_z: Interval,
    /// Of the mean CRPS.
    pub crps: Interval,
    /// Of the skill against the best constant sigma.
    pub crps_skill: Interval,
    /// Of the mean negative log predictive density.
    pub nlpd: Interval,
    /// Of the Reliability Score that endless rows would have.
    pub rs: Interval,
    /// Of the Accuracy-Reliability cost that endless rows would have with the same beta.
    pub ar: Interval,
    /// Of the observed coverage at each level of the scores.
    pub coverage: Vec<Interval>,
}

impl Intervals {
    /// Intervals with the usual options, for the scores of this sample.
    ///
    /// # Errors
    /// Scores of a sample with another number of rows.
    pub fn of(sample: &Sample, scores: &Scores) -> Result<Self> {
        Self::with(sample, scores, &Options::default(), &Silent)
    }

    /// Intervals for the scores of this sample.
    ///
    /// # Errors
    /// As [`Intervals::of`], an option out of its range, or the monitor stopped it.
    pub fn with(
        sample: &Sample,
        scores: &Scores,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        Self::of_rows(sample, None, scores, options, monitor)
    }

    /// [`Intervals::with`], of rows that may have scores of their own.
    pub(crate) fn of_rows(
        sample: &Sample,
        own: Option<&RowScores>,
        scores: &Scores,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        options.check()?;
        check_length("scores", scores.rows, "sample", sample.len())?;
        let drawn = options.drawn(std::slice::from_ref(sample));
        let plan = Plan::new(sample.len(), drawn.0, options.seed);
        let subject = Subject::new(sample, own, scores, &plan, monitor)?;
        let drawing = Stage { whole: monitor, from: 0.1, to: 1.0 };
        let replicates = replicate(&plan, &[subject], options, &drawing)?.pop().unwrap_or_default();
        Ok(Self::from_replicates(scores, &replicates, &plan, options, drawn))
    }

    /// That blocks of rows were drawn and why; nothing where single rows were, or what was asked for.
    #[must_use]
    pub fn blocks_in_words(&self) -> Option<String> {
        let Dependence { autocorrelation, of_sizes, .. } = self.dependence?;
        Some(format!(
            "the intervals draw blocks of {} rows, since {} of neighbouring rows go together \
             (correlation {})",
            self.block,
            if of_sizes { "the sizes of errors" } else { "errors" },
            significant(autocorrelation, 2)
        ))
    }

    fn from_replicates(
        scores: &Scores,
        replicates: &[Vec<f64>],
        plan: &Plan,
        options: &Options,
        (block, dependence): (usize, Option<Dependence>),
    ) -> Self {
        let rule = Rule::new(options.confidence, plan.pieces());
        let plain = |which: usize| rule.percentile(replicates[which].clone(), 0.0);
        let share = |(level, coverage): (usize, &super::calibration::Coverage)| {
            let replicates = &replicates[COVERAGE + level];
            rule.share(coverage.observed, replicates, scores.effective_rows, block as f64)
        };
        let rs = without_chance(&rule, &replicates[RS], scores.rs);
        let ar = without_chance(&rule, &replicates[AR], scores.ar.value);
        Self {
            options: options.clone(),
            block,
            dependence,
            bias: plain(BIAS),
            mae: plain(MAE),
            rmse: plain(RMSE),
            mean_sigma: plain(MEAN_SIGMA),
            mean_z: plain(MEAN_Z),
            rms_z: plain(RMS_Z),
            crps: plain(CRPS),
            crps_skill: plain(CRPS_SKILL),
            nlpd: plain(NLPD),
            rs: Interval { low: at_least_0(rs.low), high: at_least_0(rs.high), ..rs },
            ar,
            coverage: scores.coverage.iter().enumerate().map(share).collect(),
        }
    }
}

/// Intervals that do not say how they were drawn are of single rows.
fn one() -> usize {
    1
}

/// NaN stays NaN.
fn at_least_0(value: f64) -> f64 {
    if value < 0.0 { 0.0 } else { value }
}

/// The percentile interval of a score that chance makes larger: the sample's is so by about as much as the
/// mean of the resamples exceeds it, and theirs by twice as much.
fn without_chance(rule: &Rule, replicates: &[f64], of_sample: f64) -> Interval {
    let bias = interval::mean(replicates) - of_sample;
    rule.percentile(replicates.to_vec(), -2.0 * bias)
}
