//! Forecasts that are no law, judged as those that are.
//!
//! Where an observation falls among members or quantiles says between which probabilities it lies. It is spread over
//! these, and the error that a Gaussian would have there takes its place: what is true of the reliability of such errors is
//! true of the members or quantiles. What they say of the CRPS and of the error of their middle is kept as it is.

use super::bootstrap::{Prepared, RowScores};
use super::constant;
use super::decomposition::Decomposition;
use super::ensemble::Ensemble;
use super::quantiles::{Quantiles, place};
use super::sample::Sample;
use super::scores::{Options, Scores};
use super::winkler::CentralIntervals;
use super::{Ar, several::Several};
use crate::checks::errors_of;
use crate::error::Result;
use crate::math::{at_place, erfcinv};

/// A number in (0, 1), spread evenly over rows whichever they are.
pub(crate) fn spread(row: usize) -> f64 {
    // The golden ratio, the number that is farthest from all fractions.
    ((row as f64 + 0.5) * 0.618_033_988_749_894_9).fract().clamp(1e-9, 1.0 - 1e-9)
}

/// What stands in the place of errors and sigmas.
pub(crate) struct Ranked {
    /// Of the middle of the forecast.
    error: Vec<f64>,
    /// About the standard deviation of the forecast.
    sigma: Vec<f64>,
    /// The errors of a Gaussian that are as improbable.
    equal: Vec<f64>,
    /// NaN where it is not known.
    crps: Vec<f64>,
    /// The levels of central intervals that can be read off, with their mean widths row by row.
    widths: Vec<(f64, Vec<f64>)>,
}

impl Ranked {
    /// Of members: the middle is their mean, the CRPS the fair one.
    pub(crate) fn of_members(ensemble: &Ensemble, levels: &[f64]) -> Result<Self> {
        let rows = ensemble.len();
        let members = ensemble.members().columns() as f64;
        let widest = (members - 1.0) / (members + 1.0);
        // What the members do not reach to cannot be read off them.
        let mut levels: Vec<f64> =
            levels.iter().copied().filter(|l| *l <= widest + 1e-12).collect();
        if levels.is_empty() && widest > 0.0 {
            levels.push(widest);
        }
        let mut widths: Vec<(f64, Vec<f64>)> =
            levels.into_iter().map(|level| (level, Vec::with_capacity(rows))).collect();
        let (mut middle, mut sigma) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut at, mut sorted) = (Vec::with_capacity(rows), Vec::new());
        for index in 0..rows {
            let row = ensemble.row(index);
            middle.push(row.mean);
            let m = row.members as f64;
            sigma.push((row.variance * (m + 1.0) / m).sqrt());
            at.push((row.below as f64 / (m + 1.0), (row.below + row.equal + 1) as f64 / (m + 1.0)));
            if widths.is_empty() {
                continue;
            }
            sorted.clear();
            sorted.extend(ensemble.members().row(index).filter(|x| !x.is_nan()));
            sorted.sort_unstable_by(f64::total_cmp);
            for (level, widths) in &mut widths {
                let (low, high) = ends_of_members(&sorted, *level);
                widths.push(high - low);
            }
        }
        let error = errors_of(ensemble.observation(), &middle)?;
        Ok(Self::new(error, sigma, &at, ensemble.fair_crps(), widths))
    }

    /// Of quantiles: the middle is their median, straight between those beside it.
    pub(crate) fn of_quantiles(quantiles: &Quantiles) -> Result<Self> {
        let levels = quantiles.levels();
        // Central intervals are those that have both of their ends among the quantiles.
        let other = |level: f64| levels.iter().position(|l| (l + level - 1.0).abs() < 1e-9);
        let pairs = levels.iter().enumerate().filter(|(_, level)| **level < 0.5 - 1e-9);
        let pairs = pairs.filter_map(|(low, level)| Some((low, other(*level)?)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        // From narrow to wide, as levels are given elsewhere.
        let mut widths: Vec<(f64, Vec<f64>)> =
            pairs.iter().rev().map(|&(low, high)| (levels[high] - levels[low], vec![])).collect();
        let unit = match levels {
            [first, .., last] => gaussian(*last) - gaussian(*first),
            _ => 1.0,
        };
        let (mut middle, mut sigma, mut at) = (Vec::new(), Vec::new(), Vec::new());
        let mut row = Vec::new();
        for (index, &y) in quantiles.observation().iter().enumerate() {
            quantiles.row(index, &mut row);
            middle.push(straight(&row, levels, 0.5));
            sigma.push((row[row.len() - 1] - row[0]) / unit);
            at.push(place(y, &row, levels));
            for (&(low, high), (_, widths)) in pairs.iter().rev().zip(&mut widths) {
                widths.push(row[high] - row[low]);
            }
        }
        let error = errors_of(quantiles.observation(), &middle)?;
        let crps = quantiles.crps().iter().map(|crps| crps.value).collect();
        Ok(Self::new(error, sigma, &at, crps, widths))
    }

    /// Of one interval, which tells no CRPS.
    pub(crate) fn of_intervals(intervals: &CentralIntervals) -> Result<Self> {
        let (low, high) = intervals.ends();
        let outside = 0.5 * (1.0 - intervals.level());
        let both = [low, high].concat();
        let quantiles = Quantiles::new(
            Several::by_column(&both, 2)?,
            &[outside, 1.0 - outside],
            intervals.observation(),
        )?;
        let ranked = Self::of_quantiles(&quantiles)?;
        Ok(Self { crps: vec![f64::NAN; intervals.len()], ..ranked })
    }

    fn new(
        error: Vec<f64>,
        mut sigma: Vec<f64>,
        at: &[(f64, f64)],
        crps: Vec<f64>,
        widths: Vec<(f64, Vec<f64>)>,
    ) -> Self {
        // Where a forecast has no width at all any small one will do, and beyond the range of doubles any large one: only
        // its rank counts.
        const WIDEST: f64 = 1e300;
        let rows = sigma.len() as f64;
        let mean: f64 = sigma.iter().map(|sigma| sigma.min(WIDEST) / rows).sum();
        let floor = if mean > 0.0 { (1e-6 * mean).clamp(f64::MIN_POSITIVE, WIDEST) } else { 1.0 };
        sigma.iter_mut().for_each(|sigma| *sigma = sigma.max(floor).min(WIDEST));
        let one = |(row, (&(from, to), sigma)): (usize, (&(f64, f64), &f64))| {
            (sigma * gaussian(from + (to - from) * spread(row))).clamp(f64::MIN, f64::MAX)
        };
        let equal = at.iter().zip(&sigma).enumerate().map(one).collect();
        Self { error, sigma, equal, crps, widths }
    }

    /// The scores of the rows, ready to be judged or compared.
    pub(crate) fn prepare<'a>(
        &'a self,
        weight: Option<&'a [f64]>,
        options: &Options,
    ) -> Result<Prepared<'a>> {
        let levels = self.widths.iter().map(|(level, _)| *level).collect();
        let options = options.clone().coverage_levels(levels);
        let sample = Sample::new(&self.error, &self.sigma)?.maybe_weighted(weight)?;
        let plain = Scores::with(&sample, &options)?;
        let as_if = sample.with_errors(&self.equal)?;
        let gaussian = Scores::with(&as_if, &options)?;
        let crps = sample.mean(&self.crps);
        let unknown = f64::NAN;
        let mut scores = Scores {
            bias: plain.bias,
            mae: plain.mae,
            rmse: plain.rmse,
            crps,
            // Steps and straight lines have no density to speak of.
            nlpd: unknown,
            crps_skill: constant::skill(crps, plain.constant),
            constant: plain.constant,
            ar: Ar::of(plain.ar.beta, crps, gaussian.rs),
            decomposition: Decomposition {
                crps,
                reliability: unknown,
                reliability_by_chance: unknown,
                potential: unknown,
                uncertainty: plain.decomposition.uncertainty,
                resolution: unknown,
            },
            ..gaussian.clone()
        };
        for (coverage, (_, widths)) in scores.coverage.iter_mut().zip(&self.widths) {
            coverage.mean_width = sample.mean(widths);
        }
        let own = RowScores {
            error: self.error.clone(),
            crps: self.crps.clone(),
            nlpd: vec![unknown; self.error.len()],
        };
        Ok(Prepared { sample: as_if, own: Some(own), as_gaussian: Some(gaussian), scores })
    }
}

/// The interval that a share of the probability is in by sorted members: their quantiles where the i-th of M has
/// probability $i/(M + 1)$, straight between them.
pub(crate) fn ends_of_members(sorted: &[f64], level: f64) -> (f64, f64) {
    let gaps = (sorted.len() + 1) as f64;
    let at = |p: f64| at_place(sorted, p * gaps - 1.0);
    (at(0.5 * (1.0 - level)), at(0.5 * (1.0 + level)))
}

/// The quantile at a level, straight between those beside it, and that of the nearest level beyond them.
pub(crate) fn straight(quantiles: &[f64], levels: &[f64], level: f64) -> f64 {
    let after = levels.partition_point(|l| *l < level);
    match after {
        0 => quantiles[0],
        _ if after == levels.len() => quantiles[after - 1],
        _ => {
            let share = (level - levels[after - 1]) / (levels[after] - levels[after - 1]);
            (1.0 - share) * quantiles[after - 1] + share * quantiles[after]
        }
    }
}

/// The quantile of a standard Gaussian, with its digits in both tails.
fn gaussian(p: f64) -> f64 {
    let p = p.clamp(1e-300, 1.0 - 1e-16);
    if p < 0.5 {
        -std::f64::consts::SQRT_2 * erfcinv(2.0 * p)
    } else {
        std::f64::consts::SQRT_2 * erfcinv(2.0 * (1.0 - p))
    }
}
