//! Error bars of any law, judged as those of a Gaussian are.

use rayon::prelude::*;

use super::{Bounds, ErrorLaw, Law};
use crate::checks::check_length;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::score::bootstrap::{Comparison, Intervals, Prepared, RowScores, compare_prepared};
use crate::score::events::Event;
use crate::score::of_rank::spread;
use crate::score::{Ar, Judgement, Judging, Sample, Scores, constant};

/// The law of each of some errors, in units of their sigma, and the bounds of the errors where there are
/// some.
#[derive(Debug, Clone, Copy)]
pub struct ErrorLaws<'a> {
    laws: &'a [ErrorLaw],
    bounds: Option<&'a [Bounds]>,
}

impl<'a> ErrorLaws<'a> {
    /// Of errors that may be anything.
    #[must_use]
    pub fn new(laws: &'a [ErrorLaw]) -> Self {
        Self { laws, bounds: None }
    }

    /// Of errors that keep to these bounds, one for each, if there are some.
    #[must_use]
    pub fn within(self, bounds: Option<&'a [Bounds]>) -> Self {
        Self { bounds, ..self }
    }

    /// The law of the first row: those of others are the same, or learned from nearly the same rows.
    #[must_use]
    pub fn first(&self) -> Option<&'a ErrorLaw> {
        self.laws.first()
    }

    /// The law of a row, in units of its sigma.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&'a ErrorLaw> {
        self.laws.get(row)
    }

    /// The bounds of the error of a row, those that leave everything open where there are none.
    #[must_use]
    pub fn bounds(&self, row: usize) -> Bounds {
        self.bounds.and_then(|bounds| bounds.get(row).copied()).unwrap_or_default()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        check_length("laws", self.laws.len(), "error", sample.len())?;
        let Some(bounds) = self.bounds else { return Ok(()) };
        check_length("bounds", bounds.len(), "error", sample.len())
    }

    /// The law of a row and its bounds, in units of its sigma.
    fn of(&self, row: usize, sigma: f64) -> (&ErrorLaw, Bounds) {
        let none = Bounds::default();
        (&self.laws[row], self.bounds.map_or(none, |bounds| bounds[row].over(sigma)))
    }
}

impl<'a, T: AsRef<[ErrorLaw]> + ?Sized> From<&'a T> for ErrorLaws<'a> {
    fn from(laws: &'a T) -> Self {
        Self::new(laws.as_ref())
    }
}

/// For each row the error that would be as improbable if its law were the Gaussian of the same sigma,
/// $\sigma\Phi^{-1}(F(y))$. What is true of the reliability of these is true of the rows, and for the
/// Gaussian they are the errors themselves. At a bound, which has a probability of its own, they are
/// spread over that.
///
/// # Errors
/// Not one law for each row.
pub fn as_gaussian<'a>(sample: &Sample, laws: impl Into<ErrorLaws<'a>>) -> Result<Vec<f64>> {
    let laws = laws.into();
    laws.check(sample)?;
    let one = |row: usize| {
        let (error, sigma) = (sample.error()[row], sample.sigma()[row]);
        let (own, bounds) = laws.of(row, sigma);
        one_as_gaussian(row, (error, sigma), own, bounds)
    };
    Ok((0..sample.len()).into_par_iter().with_min_len(AT_ONCE).map(one).collect())
}

/// Rows that one thread takes at a time, at least.
pub(super) const AT_ONCE: usize = 2048;

/// [`as_gaussian`] of one row, by its law and its bounds in units of its sigma.
pub(super) fn one_as_gaussian(
    row: usize,
    (error, sigma): (f64, f64),
    own: &ErrorLaw,
    bounds: Bounds,
) -> f64 {
    let gaussian = Law::normal(0.0, 1.0);
    let z = error / sigma;
    let z = if z <= bounds.lower() {
        gaussian.quantile(spread(row) * own.cdf(bounds.lower()))
    } else if z >= bounds.upper() {
        gaussian.upper_quantile(spread(row) * own.exceed(bounds.upper()))
    } else if own.is_gaussian() {
        return error;
    } else {
        own.gaussian_quantile_of(z)
    };
    (sigma * z).clamp(f64::MIN, f64::MAX)
}

/// The least and the most error of each row in the interval in the middle that holds a share of the
/// probability.
///
/// # Errors
/// Not one law for each row.
pub fn intervals<'a>(
    sample: &Sample,
    laws: impl Into<ErrorLaws<'a>>,
    level: f64,
) -> Result<Vec<(f64, f64)>> {
    let laws = laws.into();
    laws.check(sample)?;
    let mut last: Option<(&ErrorLaw, (f64, f64))> = None;
    let ends = |(row, sigma): (usize, &f64)| {
        let (own, bounds) = laws.of(row, *sigma);
        // Neighbours share a law.
        let known = last.filter(|(law, _)| *law == own).map(|(_, ends)| ends);
        let (low, high) = known.unwrap_or_else(|| own.interval(level));
        last = Some((own, (low, high)));
        (sigma * bounds.clamp(low), sigma * bounds.clamp(high))
    };
    Ok(sample.sigma().iter().enumerate().map(ends).collect())
}

/// CRPS and negative log density of each of some errors whose laws, in units of their sigma,
/// are given.
///
/// # Errors
/// Not one law for each row.
pub fn scores<'a>(sample: &Sample, laws: impl Into<ErrorLaws<'a>>) -> Result<(Vec<f64>, Vec<f64>)> {
    let laws = laws.into();
    laws.check(sample)?;
    let one = |row: usize| {
        let (error, sigma) = (sample.error()[row], sample.sigma()[row]);
        let (own, bounds) = laws.of(row, sigma);
        one_scores((error, sigma), own, bounds)
    };
    Ok((0..sample.len()).into_par_iter().with_min_len(AT_ONCE).map(one).unzip())
}

/// CRPS and negative log density of one row, by its law and its bounds in units of its sigma.
pub(super) fn one_scores((error, sigma): (f64, f64), own: &ErrorLaw, bounds: Bounds) -> (f64, f64) {
    let z = error / sigma;
    (sigma * own.crps_within(z, bounds), own.log_score_within(z, bounds, sigma))
}

/// The probability of an event in each row, by the observations, the errors and their laws (Gaussian ones where there are
/// none).
///
/// # Errors
/// Not one law, or not one observation, for each row.
pub fn probabilities(
    sample: &Sample,
    laws: Option<ErrorLaws>,
    event: &Event,
    observation: &[f64],
) -> Result<Vec<f64>> {
    check_length("observation", observation.len(), "error", sample.len())?;
    laws.map_or(Ok(()), |laws| laws.check(sample))?;
    let gaussian = ErrorLaw::default();
    let one = |row: usize| {
        let (error, sigma) = (sample.error()[row], sample.sigma()[row]);
        let none = Bounds::default();
        let law = laws.map_or(&gaussian, |laws| &laws.laws[row]);
        let bounds = laws.and_then(|laws| laws.bounds).map_or(none, |bounds| bounds[row]);
        event.probability(observation[row] - error, sigma, law, bounds)
    };
    Ok((0..sample.len()).into_par_iter().with_min_len(AT_ONCE).map(one).collect())
}

/// The mean CRPS of errors whose laws, in units of their sigma, are given.
///
/// # Errors
/// Not one law for each row.
pub fn crps<'a>(sample: &Sample, laws: impl Into<ErrorLaws<'a>>) -> Result<f64> {
    Ok(sample.mean(&scores(sample, laws)?.0))
}

/// [`judge_with`](crate::score::judge_with) for laws in units of sigma: reliability by how probable each observation was, CRPS
/// and NLPD by the law, and errors as they are.
///
/// # Errors
/// As [`judge_with`](crate::score::judge_with), or not one law for each row.
pub fn judge<'a>(
    sample: &Sample,
    laws: impl Into<ErrorLaws<'a>>,
    options: &Judging,
    monitor: &dyn Monitor,
) -> Result<Judgement> {
    let laws = laws.into();
    let equal = as_gaussian(sample, laws)?;
    let prepared = prepare(sample, laws, &equal, options)?;
    let Prepared { sample, own, scores, .. } = &prepared;
    let intervals = Intervals::of_rows(sample, own.as_ref(), scores, &options.drawing, monitor)?;
    Ok(prepared.judgement(intervals))
}

/// [`bootstrap::compare`](crate::score::bootstrap::compare) for laws in units of sigma: samples that hold the same rows, each with its laws,
/// or with Gaussian ones where there are none.
///
/// # Errors
/// As [`bootstrap::compare`](crate::score::bootstrap::compare), or not one law for each row.
pub fn compare(
    candidates: &[(Sample, Option<ErrorLaws>)],
    against: usize,
    options: &Judging,
    monitor: &dyn Monitor,
) -> Result<Comparison> {
    let gaussian = vec![ErrorLaw::default(); candidates.first().map_or(0, |(s, _)| s.len())];
    let equal: Vec<Vec<f64>> = (candidates.iter())
        .map(|(sample, own)| match own {
            Some(own) => as_gaussian(sample, *own),
            None => Ok(sample.error().to_vec()),
        })
        .collect::<Result<_>>()?;
    let prepared: Vec<Prepared> = (candidates.iter().zip(&equal))
        .map(|((sample, own), equal)| {
            let laws = own.unwrap_or(ErrorLaws::new(&gaussian));
            prepare(sample, laws, equal, options)
        })
        .collect::<Result<_>>()?;
    compare_prepared(&prepared, against, options, monitor)
}

/// The scores of a sample by its laws; `equal` is [`as_gaussian`].
pub(super) fn prepare<'a>(
    sample: &Sample<'a>,
    laws: ErrorLaws,
    equal: &'a [f64],
    options: &Judging,
) -> Result<Prepared<'a>> {
    let plain = Scores::with(sample, &options.scores)?;
    if equal == sample.error() {
        return Ok(Prepared {
            sample: sample.clone(),
            own: None,
            as_gaussian: None,
            scores: plain,
        });
    }
    let as_if = sample.with_errors(equal)?;
    let gaussian = Scores::with(&as_if, &options.scores)?;
    let (each, log_scores) = scores(sample, laws)?;
    let crps = sample.mean(&each);
    let mut of = Scores {
        bias: plain.bias,
        mae: plain.mae,
        rmse: plain.rmse,
        crps,
        nlpd: sample.mean(&log_scores),
        crps_skill: constant::skill(crps, plain.constant),
        constant: plain.constant,
        // Beta is that of the Gaussian, which depends on the errors alone.
        ar: Ar::of(plain.ar.beta, crps, gaussian.rs),
        ..gaussian.clone()
    };
    for coverage in &mut of.coverage {
        let ends = intervals(sample, laws, coverage.level)?;
        let widths: Vec<f64> = ends.iter().map(|(least, most)| most - least).collect();
        coverage.mean_width = sample.mean(&widths);
    }
    let own = RowScores { error: sample.error().to_vec(), crps: each, nlpd: log_scores };
    Ok(Prepared { sample: as_if, own: Some(own), as_gaussian: Some(gaussian), scores: of })
}
