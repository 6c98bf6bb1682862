//! Forecasts of any form, judged and compared: sigma, a law, members, quantiles, one interval.

use super::ErrorLaw;
use super::judge::{self, ErrorLaws};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::score::bootstrap::{Comparison, Intervals, Prepared, compare_prepared};
use crate::score::calibration::half_width;
use crate::score::ensemble::Ensemble;
use crate::score::events::{Event, Side};
use crate::score::of_rank::{Ranked, ends_of_members, straight};
use crate::score::quantiles::Quantiles;
use crate::score::verdict::Finding;
use crate::score::winkler::CentralIntervals;
use crate::score::{Judgement, Judging, Sample, Several, judge_with};

/// A forecast of any form, with the observations that followed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Candidate<'a> {
    /// Errors with sigma, and the law of each, or a Gaussian one.
    Sigma(Sample<'a>, Option<ErrorLaws<'a>>),
    /// Members.
    Members(Ensemble<'a>),
    /// Quantiles.
    Quantiles(Quantiles<'a>),
    /// One interval, which tells no CRPS.
    Interval(CentralIntervals<'a>),
}

impl Candidate<'_> {
    /// What its scores need beside it, where it is no law.
    fn ranked(&self, judging: &Judging) -> Result<Option<Ranked>> {
        let levels = &judging.scores.coverage_levels;
        Ok(match self {
            Self::Sigma(..) => None,
            Self::Members(ensemble) => Some(Ranked::of_members(ensemble, levels)?),
            Self::Quantiles(quantiles) => Some(Ranked::of_quantiles(quantiles)?),
            Self::Interval(intervals) => Some(Ranked::of_intervals(intervals)?),
        })
    }

    /// Whether its CRPS is known.
    #[must_use]
    pub fn has_crps(&self) -> bool {
        !matches!(self, Self::Interval(_))
    }

    /// The probability that it gives to an event in each row; of a sigma the observations are needed.
    ///
    /// Of members it is the share of them that are in the event; of quantiles it is read off straight lines between them
    /// and exponential tails ([`Quantiles::cdf`]), and so for an interval, of whose ends these are the quantiles.
    ///
    /// # Errors
    /// Not one law for each row.
    pub fn probabilities(&self, event: &Event, observation: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Sigma(sample, laws) => judge::probabilities(sample, *laws, event, observation),
            Self::Members(ensemble) => {
                let members = ensemble.members();
                let share = |row: usize| {
                    let present = || members.row(row).filter(|x| !x.is_nan());
                    let inside = present().filter(|&x| event.is(x)).count();
                    inside as f64 / present().count() as f64
                };
                Ok((0..ensemble.len()).map(share).collect())
            }
            Self::Quantiles(quantiles) => Ok(by_quantiles(quantiles, event)),
            Self::Interval(intervals) => {
                let (low, high) = intervals.ends();
                let outside = 0.5 * (1.0 - intervals.level());
                let both = [low, high].concat();
                let values = Several::by_column(&both, 2)?;
                let levels = [outside, 1.0 - outside];
                let quantiles = Quantiles::new(values, &levels, intervals.observation())?;
                Ok(by_quantiles(&quantiles, event))
            }
        }
    }

    /// The ends of the central interval of a level in each row: of members the quantiles where the i-th of M has
    /// probability i/(M + 1), of quantiles and intervals straight between them, and none beyond the outermost. Of a sigma
    /// the observations are needed.
    ///
    /// # Errors
    /// Not one law for each row.
    pub fn interval(&self, level: f64, observation: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let levels = [0.5 * (1.0 - level), 0.5 * (1.0 + level)];
        Ok(match self {
            Self::Sigma(sample, laws) => {
                let gaussian;
                let laws = match laws {
                    Some(laws) => *laws,
                    None => {
                        gaussian = vec![ErrorLaw::default(); sample.len()];
                        ErrorLaws::new(&gaussian)
                    }
                };
                let ends = judge::intervals(sample, laws, level)?;
                let forecast = observation.iter().zip(sample.error()).map(|(y, e)| y - e);
                ends.iter().zip(forecast).map(|((a, b), mu)| (mu + a, mu + b)).unzip()
            }
            Self::Members(ensemble) => {
                let (members, mut sorted) = (ensemble.members(), Vec::new());
                let ends = |row: usize| {
                    sorted.clear();
                    sorted.extend(members.row(row).filter(|x| !x.is_nan()));
                    sorted.sort_unstable_by(f64::total_cmp);
                    ends_of_members(&sorted, level)
                };
                (0..ensemble.len()).map(ends).unzip()
            }
            Self::Quantiles(quantiles) => {
                let mut row = Vec::new();
                let ends = |index: usize| {
                    quantiles.row(index, &mut row);
                    let at = |level: f64| straight(&row, quantiles.levels(), level);
                    (at(levels[0]), at(levels[1]))
                };
                (0..quantiles.len()).map(ends).unzip()
            }
            Self::Interval(intervals) => {
                let (low, high) = intervals.ends();
                (low.to_vec(), high.to_vec())
            }
        })
    }
}

fn by_quantiles(quantiles: &Quantiles, event: &Event) -> Vec<f64> {
    let one = |row: usize| {
        let p = match event.side {
            Side::Above => 1.0 - quantiles.cdf(row, event.threshold),
            Side::AtLeast => 1.0 - quantiles.below(row, event.threshold),
            Side::Below => quantiles.below(row, event.threshold),
            Side::AtMost => quantiles.cdf(row, event.threshold),
        };
        p.clamp(0.0, 1.0)
    };
    (0..quantiles.len()).map(one).collect()
}

/// Judges a forecast of any form; the weights are those of its rows where it is no sigma, whose sample has its own.
///
/// ```
/// use errbar::law::{Candidate, judge_any};
/// use errbar::score::{Several, ensemble::Ensemble};
///
/// // The observation is always far above all members.
/// let members: Vec<f64> = (0..200).flat_map(|i| [0.0, 1.0, 2.0].map(|m| m + f64::from(i))).collect();
/// let observation: Vec<f64> = (0..200).map(|i| f64::from(i) + 9.0).collect();
/// let ensemble = Ensemble::new(Several::by_row(&members, 3)?, &observation)?;
/// let judged = judge_any(&Candidate::Members(ensemble), None, &Default::default(), &errbar::Silent)?;
/// assert_eq!(judged.verdict.word(), "biased");
/// // Of distances 9, 8 and 7 the mean is 8, and that of the pairs 1, 1 and 2 over two is 2/3.
/// assert!((judged.scores.crps - (8.0 - 2.0 / 3.0)).abs() < 1e-12);
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// As [`judge_with`].
pub fn judge_any(
    candidate: &Candidate,
    weight: Option<&[f64]>,
    judging: &Judging,
    monitor: &dyn Monitor,
) -> Result<Judgement> {
    if let Candidate::Sigma(sample, laws) = candidate {
        return match laws {
            Some(laws) => judge::judge(sample, *laws, judging, monitor),
            None => judge_with(sample, judging, monitor),
        };
    }
    let Some(ranked) = candidate.ranked(judging)? else { return Err(crate::Error::Empty) };
    let prepared = ranked.prepare(weight, &judging.scores)?;
    let Prepared { sample, own, scores, .. } = &prepared;
    let intervals = Intervals::of_rows(sample, own.as_ref(), scores, &judging.drawing, monitor)?;
    Ok(put_right(candidate, prepared.judgement(intervals)))
}

/// Compares forecasts of any form for the same rows; the weights are those of the samples of sigmas as well.
///
/// # Errors
/// As [`bootstrap::compare`](crate::score::bootstrap::compare).
pub fn compare_any(
    candidates: &[Candidate],
    weight: Option<&[f64]>,
    against: usize,
    judging: &Judging,
    monitor: &dyn Monitor,
) -> Result<Comparison> {
    let ranked: Result<Vec<Option<Ranked>>> =
        candidates.iter().map(|candidate| candidate.ranked(judging)).collect();
    let ranked = ranked?;
    let equal: Result<Vec<Vec<f64>>> = (candidates.iter())
        .map(|candidate| match candidate {
            Candidate::Sigma(sample, Some(laws)) => judge::as_gaussian(sample, *laws),
            Candidate::Sigma(sample, None) => Ok(sample.error().to_vec()),
            _ => Ok(Vec::new()),
        })
        .collect();
    let equal = equal?;
    let rows = equal.iter().map(Vec::len).max().unwrap_or(0);
    let gaussian = vec![ErrorLaw::default(); rows];
    let prepared: Result<Vec<Prepared>> = (candidates.iter().zip(&ranked).zip(&equal))
        .map(|((candidate, ranked), equal)| match (candidate, ranked) {
            (_, Some(ranked)) => ranked.prepare(weight, &judging.scores),
            (Candidate::Sigma(sample, laws), None) => {
                let laws = laws.unwrap_or(ErrorLaws::new(&gaussian));
                judge::prepare(sample, laws, equal, judging)
            }
            _ => Err(crate::Error::Empty),
        })
        .collect();
    let mut comparison = compare_prepared(&prepared?, against, judging, monitor)?;
    for (candidate, compared) in candidates.iter().zip(&mut comparison.candidates) {
        compared.judgement = put_right(candidate, compared.judgement.clone());
    }
    Ok(comparison)
}

/// What a verdict by errors over sigma says that this form cannot know.
fn put_right(candidate: &Candidate, mut judgement: Judgement) -> Judgement {
    let few = judgement.verdict.worth < 30.0;
    let none = if few { Finding::TooFewRows } else { Finding::Reliable };
    match candidate {
        Candidate::Interval(_) => {}
        Candidate::Members(_) => {
            // By chance some rows of a few members have a smaller spread than others; there the observation is farther
            // out, in an ensemble that is as reliable as can be.
            let verdict = &mut judgement.verdict;
            let mut findings = vec![verdict.finding];
            findings.append(&mut verdict.also);
            findings.retain(|finding| !matches!(finding, Finding::Uneven { .. }));
            verdict.finding = if findings.is_empty() { none } else { findings.remove(0) };
            verdict.also = findings;
            return judgement;
        }
        _ => return judgement,
    }
    // One interval says nothing of what is inside it and outside: its verdict is its coverage.
    let verdict = &mut judgement.verdict;
    let Some(coverage) = verdict.coverage else { return judgement };
    verdict.also.clear();
    let off = coverage.observed - coverage.level;
    let error = (coverage.level * (1.0 - coverage.level) / verdict.worth.max(1.0)).sqrt();
    // As for every other form: more than chance, and enough to matter.
    let matters = off.abs() > 2.576 * error && off.abs() > 0.02;
    let edge = 0.5 / verdict.worth.max(1.0);
    let factor = half_width(coverage.level) / half_width(coverage.observed.clamp(edge, 1.0 - edge));
    verdict.finding = match (matters, off < 0.0) {
        (true, true) => Finding::Overconfident { factor },
        (true, false) => Finding::Underconfident { factor },
        (false, _) => none,
    };
    judgement
}
