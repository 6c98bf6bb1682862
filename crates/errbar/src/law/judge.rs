//! Error bars of any law, judged as those of a Gaussian are.

use super::Law;
use crate::checks::check_length;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::score::bootstrap::Interval;
use crate::score::{Judgement, Judging, Sample, constant, judge_with};

/// For each row the error that would be as improbable if its law were the Gaussian of the same sigma,
/// $\sigma\Phi^{-1}(F(y))$; laws are in units of sigma. What is true of the reliability of these is true
/// of the rows, and for the Gaussian they are the errors themselves.
///
/// # Errors
/// Not one law for each row.
pub fn as_gaussian(sample: &Sample, laws: &[Law]) -> Result<Vec<f64>> {
    check_length("laws", laws.len(), "error", sample.len())?;
    let gaussian = Law::normal(0.0, 1.0);
    let one = |((error, sigma), law): ((&f64, &f64), &Law)| match *law == gaussian {
        true => *error,
        false => (sigma * law.gaussian_quantile_of(error / sigma)).clamp(f64::MIN, f64::MAX),
    };
    Ok(sample.error().iter().zip(sample.sigma()).zip(laws).map(one).collect())
}

/// CRPS and negative log density of each of some errors whose laws, in units of their sigma,
/// are given.
#[must_use]
pub fn scores(sample: &Sample, laws: &[Law]) -> (Vec<f64>, Vec<f64>) {
    let rows = sample.error().iter().zip(sample.sigma()).zip(laws);
    rows.map(|((error, sigma), law)| {
        let z = error / sigma;
        (sigma * law.crps(z), law.log_score(z) + sigma.ln())
    })
    .unzip()
}

/// The mean CRPS of errors whose laws, in units of their sigma, are given.
#[must_use]
pub fn crps(sample: &Sample, laws: &[Law]) -> f64 {
    mean(sample, &scores(sample, laws).0)
}

fn mean(sample: &Sample, values: &[f64]) -> f64 {
    let weight = |row: usize| sample.weight().map_or(1.0, |weight| weight[row]);
    let total = sample.total_weight();
    values.iter().enumerate().map(|(row, value)| weight(row) / total * value).sum()
}

/// [`judge_with`] for laws in units of sigma: reliability by how probable each observation was, CRPS
/// and NLPD by the law, and errors as they are.
///
/// # Errors
/// As [`judge_with`], or not one law for each row.
pub fn judge(
    sample: &Sample,
    laws: &[Law],
    options: &Judging,
    monitor: &dyn Monitor,
) -> Result<Judgement> {
    let equal = as_gaussian(sample, laws)?;
    let plain = judge_with(sample, options, monitor)?;
    if equal == sample.error() {
        return Ok(plain);
    }
    let equal = Sample::new(&equal, sample.sigma())?.maybe_weighted(sample.weight())?;
    let mut judged = judge_with(&equal, options, monitor)?;
    let (crps, log_scores) = scores(sample, laws);
    let (crps, nlpd) = (mean(sample, &crps), mean(sample, &log_scores));
    let of = &mut judged.scores;
    for coverage in &mut of.coverage {
        let mut last = (laws[0], f64::NAN);
        let width = |(sigma, law): (&f64, &Law)| {
            // Neighbours share a law.
            if *law != last.0 || last.1.is_nan() {
                let (low, high) = law.interval(coverage.level);
                last = (*law, high - low);
            }
            sigma * last.1
        };
        let widths: Vec<f64> = sample.sigma().iter().zip(laws).map(width).collect();
        coverage.mean_width = mean(sample, &widths);
    }
    (of.bias, of.mae, of.rmse) = (plain.scores.bias, plain.scores.mae, plain.scores.rmse);
    // How much a score varies from draw to draw is about the same with either law.
    let moved = |interval: &mut Interval, by: f64| {
        interval.low += by;
        interval.high += by;
    };
    let intervals = &mut judged.intervals;
    moved(&mut intervals.crps, crps - of.crps);
    moved(&mut intervals.nlpd, nlpd - of.nlpd);
    let skill = constant::skill(crps, plain.scores.constant);
    moved(&mut intervals.crps_skill, skill - of.crps_skill);
    (intervals.bias, intervals.mae, intervals.rmse) =
        (plain.intervals.bias, plain.intervals.mae, plain.intervals.rmse);
    (of.crps, of.nlpd, of.crps_skill, of.constant) = (crps, nlpd, skill, plain.scores.constant);
    Ok(judged)
}
