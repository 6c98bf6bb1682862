//! What may be wrong with errors before any model is fitted to them, in words.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::checks::check_length;
use crate::error::Result;
use crate::score::bootstrap::dependence;
use crate::score::deterministic as point;
use crate::score::one_pass::{Course, Stretch};
use crate::score::{Sample, Scores, errors_of};
use crate::words::significant;

/// Errors in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The mean error, observation minus forecast.
    #[serde(with = "crate::score::json::number")]
    pub bias: f64,
    /// The standard error of the bias, from batches of consecutive rows.
    #[serde(with = "crate::score::json::number")]
    pub bias_standard_error: f64,
    /// The mean absolute error.
    #[serde(with = "crate::score::json::number")]
    pub mean_absolute_error: f64,
    /// Its standard error, likewise.
    #[serde(with = "crate::score::json::number")]
    pub mean_absolute_standard_error: f64,
    /// The root mean squared error.
    #[serde(with = "crate::score::json::number")]
    pub root_mean_squared_error: f64,
}

impl Summary {
    /// Of errors and optional weights that have been checked; zeros for none at all.
    #[must_use]
    pub fn of(error: &[f64], weight: Option<&[f64]>) -> Self {
        let ones = vec![1.0; error.len()];
        let sample = Sample::new(error, &ones).and_then(|s| s.maybe_weighted(weight));
        let Ok(sample) = sample else {
            let nothing = 0.0;
            return Self {
                bias: nothing,
                bias_standard_error: nothing,
                mean_absolute_error: nothing,
                mean_absolute_standard_error: nothing,
                root_mean_squared_error: nothing,
            };
        };
        Self {
            bias: point::bias(&sample),
            bias_standard_error: standard_error(error, weight),
            mean_absolute_error: point::mean_absolute_error(&sample),
            mean_absolute_standard_error: standard_error(
                &point::each_absolute_error(&sample),
                weight,
            ),
            root_mean_squared_error: point::root_mean_squared_error(&sample),
        }
    }
}

impl Summary {
    /// Of errors that were judged as they came.
    #[must_use]
    pub fn of_course(course: &Course, scores: &Scores) -> Self {
        let Scores { bias, mae, rmse, .. } = *scores;
        Self { root_mean_squared_error: rmse, ..Self::of_part(course, 0..course.rows(), bias, mae) }
    }

    /// Of consecutive rows, whose squares are not known.
    fn of_part(course: &Course, rows: Range<usize>, bias: f64, mae: f64) -> Self {
        let parts = course.parts(rows.clone(), batches(rows.len()));
        let of = |sum: fn(&Stretch) -> f64| {
            of_sums(parts.iter().map(|part| (part.weight, sum(part))).collect())
        };
        Self {
            bias,
            bias_standard_error: of(|part| part.error),
            mean_absolute_error: mae,
            mean_absolute_standard_error: of(|part| part.absolute),
            root_mean_squared_error: f64::NAN,
        }
    }
}

/// Changes in the course of errors that were judged as they came, in the order of time: those that [`diagnose`] finds
/// between the first and the last quarter of rows.
#[must_use]
pub fn drifts(course: &Course) -> Vec<Finding> {
    let (rows, quarter) = (course.rows(), course.rows() / 4);
    let whole = course.parts(0..rows, 1)[0];
    let parts = [0..quarter, rows - quarter..rows].map(|rows| {
        let sums = course.parts(rows.clone(), 1)[0];
        let (bias, mae) = (sums.error / sums.weight, sums.absolute / sums.weight);
        Summary::of_part(course, rows, bias, mae)
    });
    if quarter < 20 { Vec::new() } else { drift_between(parts, whole.absolute / whole.weight) }
}

/// How errors have changed since a model was fitted. Prints as a sentence or two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Since {
    /// The errors it was fitted to.
    pub training: Summary,
    /// The errors now.
    pub now: Summary,
}

impl Since {
    /// Whether the mean error has changed by more than chance (two standard errors).
    #[must_use]
    pub fn bias_drifted(&self) -> bool {
        let noise = self.training.bias_standard_error.hypot(self.now.bias_standard_error);
        (self.now.bias - self.training.bias).abs() > 2.0 * noise
    }

    /// Whether the size of the errors has.
    #[must_use]
    pub fn size_drifted(&self) -> bool {
        let (before, now) = (&self.training, &self.now);
        let noise = before.mean_absolute_standard_error.hypot(now.mean_absolute_standard_error);
        (now.mean_absolute_error - before.mean_absolute_error).abs() > 2.0 * noise
    }
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, now) = (&self.training, &self.now);
        let noise = before.bias_standard_error.hypot(now.bias_standard_error);
        let bias = format!(
            "their mean was {} in training and is {} here (standard error of the difference {})",
            short(before.bias),
            short(now.bias),
            short(noise)
        );
        let (a, b) = (before.mean_absolute_error, now.mean_absolute_error);
        let size = match a > 0.0 && b > 0.0 {
            true => format!(
                "their mean size went from {} to {} ({:+.0}%)",
                short(a),
                short(b),
                100.0 * (b / a - 1.0)
            ),
            false => format!("their mean size went from {} to {}", short(a), short(b)),
        };
        match (self.bias_drifted(), self.size_drifted()) {
            (false, false) => write!(
                f,
                "The errors have not drifted since the model was fitted, beyond chance: {bias}; {size}."
            ),
            (true, false) => write!(
                f,
                "The errors have drifted since the model was fitted: {bias}; {size}, which may be \
                 chance. Correct the forecast, or fit again with recent rows."
            ),
            (false, true) => write!(
                f,
                "The errors have changed in size since the model was fitted: {size}; {bias}. Fit again \
                 with recent rows."
            ),
            (true, true) => write!(
                f,
                "The errors have drifted since the model was fitted: {bias}, and {size}. Correct the \
                 forecast, or fit again with recent rows."
            ),
        }
    }
}

/// What is known about errors besides themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The weight of each row.
    pub weight: Option<&'a [f64]>,
    /// The observations.
    pub observation: Option<&'a [f64]>,
    /// Whether the rows are known to be in the order of time.
    pub in_time_order: bool,
    /// The number of inputs that sigma is to be learned from.
    pub inputs: usize,
}

/// Something to be warned of. Prints as a sentence or two that say what to do.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// The mean error is not zero.
    Biased {
        /// The mean error.
        bias: f64,
        /// Its standard error.
        standard_error: f64,
        /// The mean absolute error.
        mean_absolute_error: f64,
    },
    /// Errors of neighbouring rows resemble each other.
    Autocorrelated {
        /// The correlation of neighbours.
        correlation: f64,
        /// The number of rows.
        rows: usize,
        /// The number of independent rows that would tell as much.
        worth: usize,
        /// Whether the rows are known to be in the order of time.
        in_time_order: bool,
    },
    /// The mean error changes with time.
    DriftingBias {
        /// In the first quarter of the rows.
        first: f64,
        /// In the last.
        last: f64,
        /// The standard error of the difference.
        standard_error: f64,
    },
    /// The size of the errors changes with time.
    DriftingSize {
        /// The mean absolute error in the first quarter of the rows.
        first: f64,
        /// In the last.
        last: f64,
    },
    /// Nearly all errors have the same sign.
    OneSided {
        /// The share of errors above zero.
        positive: f64,
    },
    /// Many observations are exactly the least, or the greatest, of all.
    Bounded {
        /// That value.
        at: f64,
        /// Whether it is the least.
        below: bool,
        /// The share of observations there.
        share: f64,
    },
    /// The errors are tiny beside the variation of the observations, or often exactly zero.
    Interpolates {
        /// The root mean squared error over the standard deviation of the observations.
        ratio: f64,
        /// The share of errors that are exactly zero.
        zero: f64,
    },
    /// Errors far beyond sigma are too many for a Gaussian.
    HeavyTails {
        /// The share beyond three sigmas.
        share: f64,
        /// Rows beyond three sigmas.
        rows: usize,
    },
    /// Few rows for as many inputs.
    FewRows {
        /// The rows.
        rows: usize,
        /// The inputs.
        inputs: usize,
    },
}

/// Standard errors from which on a difference is no accident: a warning that cries wolf is ignored.
const SURE: f64 = 4.0;

/// The share of a Gaussian beyond three sigmas.
const BEYOND_THREE: f64 = 0.002_699_796_063_260_19;

/// Everything worth a warning about errors, in the order of importance.
///
/// # Errors
/// Errors, weights or observations that are not finite or of different lengths.
pub fn diagnose(error: &[f64], context: &Context) -> Result<Vec<Finding>> {
    let ones = vec![1.0; error.len()];
    let sample = Sample::new(error, &ones)?.maybe_weighted(context.weight)?;
    let rows = error.len();
    let mut findings = Vec::new();
    if rows < 30 + 20 * context.inputs {
        findings.push(Finding::FewRows { rows, inputs: context.inputs });
    }
    if let Some(observation) = context.observation {
        check_length("observation", observation.len(), "error", rows)?;
        findings.extend(interpolates(&sample, observation)?);
    }
    let summary = Summary::of(error, context.weight);
    let Summary { bias, bias_standard_error: standard_error, mean_absolute_error, .. } = summary;
    if bias.abs() > SURE * standard_error && bias.abs() > 0.05 * mean_absolute_error {
        findings.push(Finding::Biased { bias, standard_error, mean_absolute_error });
    }
    if context.in_time_order {
        findings.extend(drift(error, context.weight, mean_absolute_error));
    }
    findings.extend(one_sided(error));
    findings.extend(context.observation.into_iter().flat_map(bounded));
    findings.extend(autocorrelated(error, bias, context.in_time_order));
    Ok(findings)
}

/// Whether the errors of rows that a model has not seen are too often far beyond its sigma.
#[must_use]
pub fn heavy_tails(sample: &Sample) -> Option<Finding> {
    let beyond = sample.error().iter().zip(sample.sigma()).filter(|(e, s)| e.abs() > 3.0 * **s);
    let (beyond, rows) = (beyond.count(), sample.len() as f64);
    let expected = BEYOND_THREE * rows;
    let share = beyond as f64 / rows;
    (beyond >= 5 && share > 0.008 && beyond as f64 > expected + 4.0 * expected.sqrt())
        .then_some(Finding::HeavyTails { share, rows: beyond })
}

fn interpolates(sample: &Sample, observation: &[f64]) -> Result<Option<Finding>> {
    let rows = sample.len();
    let mean = observation.iter().map(|y| y / rows as f64).sum::<f64>();
    let ones = vec![1.0; rows];
    let around = errors_of(observation, &vec![mean; rows])?;
    let around = Sample::new(&around, &ones)?.maybe_weighted(sample.weight())?;
    let (error, spread) =
        (point::root_mean_squared_error(sample), point::root_mean_squared_error(&around));
    let zero = sample.error().iter().filter(|e| **e == 0.0).count() as f64 / rows as f64;
    let ratio = if spread > 0.0 { error / spread } else { 1.0 };
    Ok((ratio < 0.01 || zero > 0.2).then_some(Finding::Interpolates { ratio, zero }))
}

fn one_sided(error: &[f64]) -> Option<Finding> {
    let positive = error.iter().filter(|e| **e > 0.0).count() as f64;
    let negative = error.iter().filter(|e| **e < 0.0).count() as f64;
    let share = positive / (positive + negative);
    (positive + negative >= 30.0 && !(0.02..=0.98).contains(&share))
        .then_some(Finding::OneSided { positive: share })
}

/// Observations that pile up at their least or greatest value, such as rain at 0.
fn bounded(observation: &[f64]) -> Vec<Finding> {
    let mut different = observation.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    // Few values altogether, such as counts or classes, say nothing about a bound.
    if different.len() < 20 {
        return Vec::new();
    }
    let ends = [(different.first(), true), (different.last(), false)];
    let find = |(at, below): (Option<&f64>, bool)| {
        let at = *at?;
        let there = observation.iter().filter(|y| **y == at).count();
        let share = there as f64 / observation.len() as f64;
        (there >= 10 && share > 0.03).then_some(Finding::Bounded { at, below, share })
    };
    ends.into_iter().filter_map(find).collect()
}

fn autocorrelated(error: &[f64], mean: f64, in_time_order: bool) -> Option<Finding> {
    let rows = error.len();
    let correlation = autocorrelation(error, mean, 1)?;
    let worth = rows as f64 * (1.0 - correlation) / (1.0 + correlation);
    (rows >= 30 && correlation > 0.2 && correlation > 4.0 / (rows as f64).sqrt()).then_some(
        Finding::Autocorrelated { correlation, rows, worth: worth as usize, in_time_order },
    )
}

/// The correlation of values `lag` rows apart around a given mean; `None` without variation.
#[must_use]
pub fn autocorrelation(values: &[f64], mean: f64, lag: usize) -> Option<f64> {
    let largest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() || lag >= values.len() {
        return None;
    }
    let apart: f64 = (values.iter().zip(&values[lag..]))
        .map(|(a, b)| (a - mean) / largest * ((b - mean) / largest))
        .sum();
    let variance: f64 = values.iter().map(|v| ((v - mean) / largest).powi(2)).sum();
    Some(apart / variance)
}

/// Changes between the first and the last quarter of the rows.
fn drift(error: &[f64], weight: Option<&[f64]>, mean_absolute_error: f64) -> Vec<Finding> {
    let quarter = error.len() / 4;
    if quarter < 20 {
        return Vec::new();
    }
    let rows = [0..quarter, error.len() - quarter..error.len()];
    let parts = rows.map(|rows| Summary::of(&error[rows.clone()], weight.map(|w| &w[rows])));
    drift_between(parts, mean_absolute_error)
}

fn drift_between([first, last]: [Summary; 2], mean_absolute_error: f64) -> Vec<Finding> {
    let mut out = Vec::new();
    let standard_error = first.bias_standard_error.hypot(last.bias_standard_error);
    let moved = (last.bias - first.bias).abs();
    if moved > SURE * standard_error && moved > 0.1 * mean_absolute_error {
        out.push(Finding::DriftingBias { first: first.bias, last: last.bias, standard_error });
    }
    let (a, b) = (first.mean_absolute_error, last.mean_absolute_error);
    let noise = first.mean_absolute_standard_error.hypot(last.mean_absolute_standard_error);
    if (b - a).abs() > SURE * noise && a.max(b) > 1.15 * a.min(b) {
        out.push(Finding::DriftingSize { first: a, last: b });
    }
    out
}

/// The standard error of a weighted mean from means of batches of consecutive rows, so that
/// neighbours which resemble each other do not count as independent. 0 for fewer than two rows.
pub(crate) fn standard_error(values: &[f64], weight: Option<&[f64]>) -> f64 {
    of_batches(values, weight, batches(values.len()))
}

/// [`standard_error`] from at most so many batches.
pub(crate) fn standard_error_of_batches(
    values: &[f64],
    weight: Option<&[f64]>,
    most: usize,
) -> f64 {
    of_batches(values, weight, batches(values.len()).min(most))
}

/// How many batches rows are put into.
fn batches(rows: usize) -> usize {
    if rows < 16 { rows } else { ((rows as f64).sqrt() as usize).min(200) }
}

/// The same for a sample whose dependence can be measured, as scores are drawn: rows that look
/// independent count one by one, others in blocks.
pub(crate) fn standard_error_in(values: &[f64], sample: &Sample) -> f64 {
    let block = dependence(sample).map_or(1, |found| found.block.max(1));
    of_batches(values, sample.weight(), (values.len() / block).max(2).min(values.len()))
}

/// The standard error of a weighted mean from the means of so many batches of consecutive values; 0 for
/// fewer than two.
pub(crate) fn of_batches(values: &[f64], weight: Option<&[f64]>, batches: usize) -> f64 {
    let rows = values.len();
    if batches < 2 {
        return 0.0;
    }
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let sums: Vec<(f64, f64)> = (0..batches)
        .map(|batch| {
            let of = batch * rows / batches..(batch + 1) * rows / batches;
            let of_weight = |row: usize| weight.map_or(1.0, |w| w[row]);
            let sum = of.clone().map(|row| of_weight(row) * (values[row] / largest)).sum();
            (of.map(of_weight).sum(), sum)
        })
        .collect();
    largest * of_sums(sums)
}

/// Sums of errors by batches of all rows, as far as some of them go.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Batches {
    /// The first batch that has some of them.
    pub(crate) first: usize,
    /// From there on weight, and weighted sums of errors, of their sizes and of their squares, in a unit.
    pub(crate) sums: Vec<[f64; 4]>,
}

impl Batches {
    /// Of errors at these places, which rise, among so many rows; in units of about their size.
    pub(crate) fn of(
        error: &[f64],
        weight: Option<&[f64]>,
        unit: f64,
        places: &[usize],
        rows: usize,
    ) -> Self {
        let batches = batches(rows) as u128;
        // The batch that begins at or before a row, as `of_batches` has them.
        let batch =
            |place: usize| (((place as u128 + 1) * batches - 1) / (rows as u128).max(1)) as usize;
        let first = places.first().map_or(0, |place| batch(*place));
        let mut sums: Vec<[f64; 4]> = Vec::new();
        for (row, (error, place)) in error.iter().zip(places).enumerate() {
            let own = batch(*place) - first;
            if own >= sums.len() {
                sums.resize(own + 1, [0.0; 4]);
            }
            let (weight, error) = (weight.map_or(1.0, |weight| weight[row]), error / unit);
            let each = [1.0, error, error.abs(), error * error];
            sums[own].iter_mut().zip(each).for_each(|(sum, x)| *sum += weight * x);
        }
        Self { first, sums }
    }
}

impl Summary {
    /// Of all rows, from what is known of some and others.
    pub(crate) fn of_batches<'a>(
        each: impl Iterator<Item = &'a Batches>,
        unit: f64,
        rows: usize,
    ) -> Self {
        let mut all = vec![[0.0; 4]; batches(rows)];
        for batches in each {
            for (all, own) in all.iter_mut().skip(batches.first).zip(&batches.sums) {
                all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
            }
        }
        let sum = |nth: usize| all.iter().map(|batch: &[f64; 4]| batch[nth]).sum::<f64>();
        let mean = |nth: usize| sum(nth) / sum(0);
        let noise = |nth: usize| of_sums(all.iter().map(|batch| (batch[0], batch[nth])).collect());
        Self {
            bias: unit * mean(1),
            bias_standard_error: unit * noise(1),
            mean_absolute_error: unit * mean(2),
            mean_absolute_standard_error: unit * noise(2),
            root_mean_squared_error: unit * mean(3).sqrt(),
        }
    }
}

/// The standard error of a mean, from the weight and the weighted sum of each of some batches.
fn of_sums(sums: Vec<(f64, f64)>) -> f64 {
    let total: f64 = sums.iter().map(|(weight, _)| weight).sum();
    let mean = sums.iter().map(|(_, sum)| sum).sum::<f64>() / total;
    let squares: f64 = sums.iter().map(|(weight, sum)| (sum - weight * mean).powi(2)).sum();
    let b = sums.len() as f64;
    if b < 2.0 { 0.0 } else { (squares * b / (b - 1.0)).sqrt() / total }
}

/// Three significant digits.
fn short(value: f64) -> String {
    significant(value, 3)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{}%", short(100.0 * share));
        match *self {
            Self::Biased { bias, standard_error, mean_absolute_error } => write!(
                f,
                "the errors are biased: observations lie {} {} the forecast on average (standard \
                 error {}), {} of the mean absolute error. Sigma is widened to cover it; correct \
                 the forecast first for narrower error bars, or have its bias learned",
                short(bias.abs()),
                if bias > 0.0 { "above" } else { "below" },
                short(standard_error),
                percent(bias.abs() / mean_absolute_error),
            ),
            Self::Autocorrelated { correlation, rows, worth, in_time_order } => write!(
                f,
                "neighbouring errors resemble each other (correlation {}): {rows} rows tell as much \
                 as about {worth} independent ones{}",
                short(correlation),
                match in_time_order {
                    true => "",
                    false => ". If the rows are a time series, judge sigma by its last rows",
                },
            ),
            Self::DriftingBias { first, last, standard_error } => write!(
                f,
                "the errors drift: their mean goes from {} in the first quarter of the rows to {} \
                 in the last (standard error of the difference {}). Expect it to go on: fit again \
                 often, or correct the forecast",
                short(first),
                short(last),
                short(standard_error),
            ),
            Self::DriftingSize { first, last } => write!(
                f,
                "the size of the errors drifts: the mean absolute error goes from {} in the first \
                 quarter of the rows to {} in the last. Fit again often, with recent rows",
                short(first),
                short(last),
            ),
            Self::OneSided { positive } => write!(
                f,
                "the errors are bounded on one side: {} of them are {}. A Gaussian has two sides: \
                 correct the forecast, or use the intervals with care",
                percent(positive.max(1.0 - positive)),
                if positive > 0.5 { "positive" } else { "negative" },
            ),
            Self::Bounded { at, below, share } => write!(
                f,
                "{} of the observations are exactly {}, their {} value: if they cannot lie {} it, \
                 nor should error bars",
                percent(share),
                short(at),
                if below { "least" } else { "greatest" },
                if below { "below" } else { "above" },
            ),
            Self::Interpolates { ratio, zero } => write!(
                f,
                "the forecast nearly interpolates the observations ({}): it looks as if the \
                 forecaster had seen them. Use errors of rows it has not seen, or sigma will be too \
                 small",
                match ratio < 0.01 {
                    true => format!("its error is {} of their variation", percent(ratio)),
                    false => format!("{} of the errors are exactly 0", percent(zero)),
                },
            ),
            Self::HeavyTails { share, rows } => write!(
                f,
                "the errors are heavy-tailed: {} of held-out errors ({rows} rows) lie beyond three \
                 sigmas, where a Gaussian has 0.27%. Do not rely on intervals beyond 95%",
                percent(share),
            ),
            Self::FewRows { rows, inputs } => write!(
                f,
                "{rows} rows are few for {inputs} {}: sigma will be rough, and so is the judgement \
                 of it",
                if inputs == 1 { "input" } else { "inputs" },
            ),
        }
    }
}
