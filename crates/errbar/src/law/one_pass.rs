//! Rows judged as they come: exactly while they are few, in one pass when they are many.

use rayon::prelude::*;

use super::judge::{self, AT_ONCE, ErrorLaws, one_as_gaussian, one_scores};
use super::{Bounds, ErrorLaw};
use crate::checks::{check_finite, check_length};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::score::bootstrap::{Dependence, Intervals, dependence};
use crate::score::one_pass::{Chunk, Course, Engine, Own, Size};
use crate::score::verdict::Verdict;
use crate::score::{Judging, Sample, Scores, judge_with, judge_without_intervals};

/// Judges rows as they come, with memory that does not grow with their number; see [`score::one_pass`](crate::score::one_pass).
///
/// ```
/// use errbar::law::OnePass;
/// use errbar::score::Judging;
///
/// let mut rows = OnePass::new(&Judging::default());
/// for part in 0..10 {
///     let error: Vec<f64> = (0..1000).map(|i| ((1000 * part + i) as f64 * 1.7).sin()).collect();
///     rows.add(&error, &[0.7; 1000], None, None)?;
/// }
/// let judged = rows.finish(&errbar::Silent)?;
/// assert_eq!(judged.scores.rows, 10_000);
/// // So few are judged all together.
/// assert_eq!(judged.rs_bound, None);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnePass {
    judging: Judging,
    law: Option<ErrorLaw>,
    intervals: bool,
    size: Size,
    /// Rows as long as they are few.
    kept: Kept,
    engine: Option<Engine>,
    rows: usize,
}

/// Rows that are held.
#[derive(Debug, Clone, Default)]
struct Kept {
    error: Vec<f64>,
    sigma: Vec<f64>,
    /// Empty where there are none.
    weight: Vec<f64>,
    bounds: Vec<Bounds>,
}

/// What is to be said of rows that were judged as they came.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Judged {
    /// Every score.
    pub scores: Scores,
    /// A confidence interval for each, unless none were wanted.
    pub intervals: Option<Intervals>,
    /// Whether the error bars can be trusted.
    pub verdict: Verdict,
    /// The most that RS can differ from that of all rows in order; none where they were few, and judged so.
    pub rs_bound: Option<f64>,
    /// Why blocks of rows were drawn, where they were.
    pub dependence: Option<Dependence>,
    /// The course of the errors, where they were many.
    pub course: Option<Course>,
}

impl OnePass {
    /// Up to so many rows are held, and judged all together.
    pub const EXACT: usize = 1 << 20;

    /// The same of one of many groups.
    pub const EXACT_IN_GROUP: usize = 1 << 15;

    /// For the rows of a whole table.
    #[must_use]
    pub fn new(judging: &Judging) -> Self {
        Self {
            judging: judging.clone(),
            law: None,
            intervals: true,
            size: Size::Table,
            kept: Kept::default(),
            engine: None,
            rows: 0,
        }
    }

    /// For the rows of one of many groups: in about 2 MB, with units of rows that are a quarter as many.
    #[must_use]
    pub fn of_group(self) -> Self {
        Self { size: Size::Group, ..self }
    }

    /// By this law of errors in units of their sigma.
    #[must_use]
    pub fn by_law(self, law: Option<ErrorLaw>) -> Self {
        Self { law, ..self }
    }

    /// Without intervals; rows that depend on each other are drawn for the verdict all the same.
    #[must_use]
    pub fn without_intervals(self) -> Self {
        Self { intervals: false, ..self }
    }

    /// How many rows there are so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds errors (observation minus forecast) with their sigmas; weights, where there are some, as all other rows have
    /// them; bounds of each error, in its units, where there are some.
    ///
    /// # Errors
    /// Columns of different lengths, what [`Sample::new`] and [`Sample::weighted`] refuse (but here no row needs to count), or
    /// weights whose sum is beyond the range of doubles.
    pub fn add(
        &mut self,
        error: &[f64],
        sigma: &[f64],
        weight: Option<&[f64]>,
        bounds: Option<&[Bounds]>,
    ) -> Result<()> {
        if error.is_empty() {
            return Ok(());
        }
        let sample = Sample::new(error, sigma)?;
        if let Some(weight) = weight {
            check_weights(weight, error.len())?;
        }
        if let Some(bounds) = bounds {
            check_length("bounds", bounds.len(), "error", error.len())?;
        }
        let before = self.rows;
        self.rows += error.len();
        if self.engine.is_some() {
            return self.pass(&sample, weight, bounds, before);
        }
        // The same rows decide how all are taken, whatever the portions.
        let most = if self.size == Size::Table { Self::EXACT } else { Self::EXACT_IN_GROUP };
        let held = error.len().min(most - before);
        self.kept.take(&sample, weight, bounds, held);
        if held == error.len() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        self.pass(&Sample::new(&kept.error, &kept.sigma)?, kept.weight(), kept.bounds(), 0)?;
        let rest = Sample::new(&error[held..], &sigma[held..])?;
        let weight = weight.map(|weight| &weight[held..]);
        self.pass(&rest, weight, bounds.map(|bounds| &bounds[held..]), most)
    }

    /// Lets rows pass, after so many.
    fn pass(
        &mut self,
        sample: &Sample,
        weight: Option<&[f64]>,
        bounds: Option<&[Bounds]>,
        before: usize,
    ) -> Result<()> {
        let (equal, own) = self.own(sample, bounds, before);
        let as_if = equal.as_ref().map(|equal| sample.with_errors(equal)).transpose()?;
        let sample = as_if.as_ref().unwrap_or(sample);
        let chunk = Chunk { sample, weight, own: own.as_ref() };
        match &mut self.engine {
            Some(engine) => engine.add(chunk),
            None => {
                let engine = Engine::new(&self.judging, chunk, self.size, self.intervals)?;
                self.engine = Some(engine);
            }
        }
        Ok(())
    }

    /// Errors in the place of a Gaussian's, and the scores by the law; nothing for a Gaussian without bounds.
    fn own(
        &self,
        sample: &Sample,
        bounds: Option<&[Bounds]>,
        before: usize,
    ) -> (Option<Vec<f64>>, Option<Own>) {
        if self.law.as_ref().is_none_or(ErrorLaw::is_gaussian) && bounds.is_none() {
            return (None, None);
        }
        let gaussian = ErrorLaw::default();
        let law = self.law.as_ref().unwrap_or(&gaussian);
        let within = |row: usize| {
            let none = Bounds::default();
            bounds.map_or(none, |bounds| bounds[row].over(sample.sigma()[row]))
        };
        let all = (0..sample.len()).into_par_iter().with_min_len(AT_ONCE);
        let row = |row: usize| {
            let at = (sample.error()[row], sample.sigma()[row]);
            let bounds = within(row);
            (one_as_gaussian(before + row, at, law, bounds), one_scores(at, law, bounds))
        };
        let (equal, (crps, nlpd)) = all.clone().map(row).unzip();
        let levels = self.judging.scores.coverage_levels.iter().map(|level| {
            let (low, high) = law.interval(*level);
            let width = |row: usize| {
                let (sigma, bounds) = (sample.sigma()[row], within(row));
                sigma * bounds.clamp(high) - sigma * bounds.clamp(low)
            };
            all.clone().map(width).collect()
        });
        let (error, widths) = (sample.error().to_vec(), levels.collect());
        (Some(equal), Some(Own { error, crps, nlpd, widths }))
    }

    /// What is to be said of all rows.
    ///
    /// # Errors
    /// No rows, an option out of its range, or the monitor stopped it.
    pub fn finish(self, monitor: &dyn Monitor) -> Result<Judged> {
        let Some(engine) = self.engine else { return self.all_together(monitor) };
        let found = engine.finish(self.intervals, monitor)?;
        Ok(Judged {
            scores: found.scores,
            intervals: found.intervals,
            verdict: found.verdict,
            rs_bound: Some(found.rs_bound),
            dependence: found.dependence,
            course: Some(found.course),
        })
    }

    /// Rows that are few.
    fn all_together(self, monitor: &dyn Monitor) -> Result<Judged> {
        let sample = Sample::new(&self.kept.error, &self.kept.sigma)?;
        let sample = sample.maybe_weighted(self.kept.weight())?;
        let bounds = self.kept.bounds();
        let (scores, intervals, verdict) = match (&self.law, bounds, self.intervals) {
            (None, None, false) => {
                let (scores, verdict) = judge_without_intervals(&sample, &self.judging, monitor)?;
                (scores, None, verdict)
            }
            (None, None, true) => {
                let judged = judge_with(&sample, &self.judging, monitor)?;
                (judged.scores, Some(judged.intervals), judged.verdict)
            }
            (law, bounds, wanted) => {
                let laws = vec![law.clone().unwrap_or_default(); sample.len()];
                let laws = ErrorLaws::new(&laws).within(bounds);
                let judged = judge::judge(&sample, laws, &self.judging, monitor)?;
                (judged.scores, wanted.then_some(judged.intervals), judged.verdict)
            }
        };
        let dependence = dependence(&sample);
        Ok(Judged { scores, intervals, verdict, rs_bound: None, dependence, course: None })
    }
}

impl Kept {
    /// The first of some rows, so many of them.
    fn take(
        &mut self,
        sample: &Sample,
        weight: Option<&[f64]>,
        bounds: Option<&[Bounds]>,
        rows: usize,
    ) {
        self.error.extend_from_slice(&sample.error()[..rows]);
        self.sigma.extend_from_slice(&sample.sigma()[..rows]);
        self.weight.extend_from_slice(weight.map_or(&[], |weight| &weight[..rows]));
        self.bounds.extend_from_slice(bounds.map_or(&[], |bounds| &bounds[..rows]));
    }

    fn weight(&self) -> Option<&[f64]> {
        (!self.weight.is_empty()).then_some(self.weight.as_slice())
    }

    fn bounds(&self) -> Option<&[Bounds]> {
        (!self.bounds.is_empty()).then_some(self.bounds.as_slice())
    }
}

/// Weights of rows of which, here, none needs to count; portions must share one scale.
fn check_weights(weight: &[f64], rows: usize) -> Result<()> {
    check_length("weight", weight.len(), "error", rows)?;
    check_finite("weight", weight)?;
    if let Some(index) = weight.iter().position(|&w| w < 0.0) {
        return Err(Error::NegativeWeight { index, value: weight[index] });
    }
    let sum: f64 = weight.iter().sum();
    let in_range = sum == 0.0 || (1e-60..1e60).contains(&sum);
    if in_range { Ok(()) } else { Err(Error::WeightsOutOfRange) }
}
