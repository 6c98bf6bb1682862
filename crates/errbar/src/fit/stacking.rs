//! Several kinds of models at once, with weights that held-out rows choose.

use super::lesson::{FLOOR, Lesson};
use crate::diagnose::standard_error;
use crate::error::Result;
use crate::loss::LossKind;
use crate::score::bootstrap::dependence;
use crate::score::{Sample, crps};
use crate::sigma::stack::{Member, Stack, mean};
use crate::sigma::{Model, Supported, in_own_scale};

/// Parts of the weights: first some for every model by what it costs alone, then some, one after
/// another, for whichever lowers the cost of all together. Few, so that chance has little to choose
/// from.
const BY_ITSELF: f64 = 5.0;
const TOGETHER: usize = 10;

/// By how much the cost of one row in units of its sigma differs between models that are both good.
const ONE_ROW: f64 = 0.1;

/// The weight of each model in a mean of their log sigmas, by its score on rows that none of them has
/// seen: CRPS, `local` in units of the mean of all models but the first, or NLPD for models trained by
/// that.
///
/// A model that costs more than the first, in units of all errors or in local ones, gets none: one
/// that ran off must not be let in by what it does to the units.
///
/// By itself a model has a weight that falls by a factor of e for every unit that it costs more than
/// the best, over all rows (neighbours that resemble each other count as fewer). Then part after part goes to the model that lowers the cost most (ensemble
/// selection; Caruana and others 2004, doi:10.1145/1015330.1015432). Also whether all together do
/// better than the first, by more than the best of several would by chance.
pub(super) fn weights(
    sigmas: &[Vec<f64>],
    error: &[f64],
    weight: Option<&[f64]>,
    loss: LossKind,
    local: bool,
) -> Result<(Vec<f64>, bool)> {
    let kind = loss.of_single_rows();
    let mut plain = kind.on(error, weight)?;
    let plain_costs: Vec<f64> =
        sigmas.iter().map(|sigma| plain.value(sigma)).collect::<Result<_>>()?;
    let good: Vec<bool> = plain_costs.iter().map(|cost| *cost <= plain_costs[0]).collect();
    let only_first = || (0..sigmas.len()).map(|i| f64::from(i == 0)).collect::<Vec<f64>>();
    if !good[1..].contains(&true) {
        return Ok((only_first(), false));
    }
    let (error, scale) = in_own_scale(error, weight);
    let unit = match local {
        true => {
            let good = sigmas.iter().zip(&good).skip(1).filter(|(_, good)| **good);
            units(&good.map(|(sigma, _)| &sigma[..]).collect::<Vec<_>>(), scale)
        }
        false => vec![1.0; error.len()],
    };
    let error: Vec<f64> = error.iter().zip(&unit).map(|(error, unit)| error / unit).collect();
    let mut loss = kind.on(&error, weight)?;
    let log = |sigma: &Vec<f64>| -> Vec<f64> {
        sigma.iter().zip(&unit).map(|(sigma, unit)| (sigma / scale / unit).ln()).collect()
    };
    let log: Vec<Vec<f64>> = sigmas.iter().map(log).collect();
    let mut sigma = vec![0.0; error.len()];
    // The cost of a mean of log sigmas: of a sum and one more, so many together.
    let mut cost = |sum: &[f64], log: &[f64], count: f64| -> Result<f64> {
        for (sigma, (sum, log)) in sigma.iter_mut().zip(sum.iter().zip(log)) {
            *sigma = ((sum + log) / count).exp().clamp(f64::MIN_POSITIVE, f64::MAX);
        }
        loss.value(&sigma)
    };
    let none = vec![0.0; error.len()];
    let alone: Vec<f64> = log.iter().map(|log| cost(&none, log, 1.0)).collect::<Result<_>>()?;
    let good: Vec<bool> =
        alone.iter().zip(&good).map(|(cost, good)| *good && *cost <= alone[0]).collect();
    let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
    let rows = worth(&error);
    let part =
        |(cost, good): (&f64, &bool)| if *good { (rows * (least - cost)).exp() } else { 0.0 };
    let mut parts: Vec<f64> = alone.iter().zip(&good).map(part).collect();
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part *= BY_ITSELF / total);
    let mut sum: Vec<f64> = (0..error.len())
        .map(|row| parts.iter().zip(&log).map(|(part, log)| part * log[row]).sum())
        .collect();
    // Of independent rows the difference is told by all of them.
    let told_apart = ONE_ROW * (1.0 / rows - 1.0 / error.len() as f64);
    for given in 0..TOGETHER {
        let count = BY_ITSELF + given as f64 + 1.0;
        let costs: Vec<f64> = (log.iter().zip(&good))
            .map(|(log, good)| if *good { cost(&sum, log, count) } else { Ok(f64::INFINITY) })
            .collect::<Result<_>>()?;
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        // Among those that cannot be told apart, the one that has least so far; one sigma for all must
        // be the best.
        let next = (0..costs.len())
            .filter(|&model| costs[model] <= least + if model == 0 { 0.0 } else { told_apart })
            .min_by(|&a, &b| parts[a].total_cmp(&parts[b]).then(costs[a].total_cmp(&costs[b])));
        let Some(next) = next else { break };
        parts[next] += 1.0;
        sum.iter_mut().zip(&log[next]).for_each(|(sum, log)| *sum += log);
    }
    // What hardly counts is not worth its time.
    let total: f64 = parts.iter().sum();
    parts.iter_mut().filter(|part| **part < LEAST_SHARE * total).for_each(|part| *part = 0.0);
    let total: f64 = parts.iter().sum();
    let shares: Vec<f64> = parts.iter().map(|part| part / total).collect();
    let together: Vec<f64> = (0..error.len())
        .map(|row| shares.iter().zip(&log).map(|(share, log)| share * log[row]).sum())
        .collect();
    // Trees that make no split are one sigma too.
    let beside: Vec<f64> = together.iter().zip(&log[0]).map(|(all, first)| all - first).collect();
    let most = beside.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let varies = most - beside.iter().copied().fold(f64::INFINITY, f64::min) > LEAST_VARIATION;
    let gain = alone[0] - cost(&none, &together, 1.0)?;
    let noise = match kind {
        LossKind::Nlpd => 0.0,
        _ => {
            let each = |log: &[f64]| -> Result<Vec<f64>> {
                let sigma: Vec<f64> =
                    log.iter().map(|log| log.exp().clamp(f64::MIN_POSITIVE, f64::MAX)).collect();
                Ok(crps::each(&Sample::new(&error, &sigma)?))
            };
            let (first, all) = (each(&log[0])?, each(&together)?);
            let gains: Vec<f64> = first.iter().zip(&all).map(|(a, b)| a - b).collect();
            standard_error(&gains, weight)
        }
    };
    let together: Vec<f64> =
        together.iter().zip(&unit).map(|(log, unit)| log.exp() * unit * scale).collect();
    Ok((shares, varies && gain > SURE * noise && plain.value(&together)? < plain_costs[0]))
}

/// The number of independent rows that would tell as much.
pub(super) fn worth(error: &[f64]) -> f64 {
    let rows = error.len() as f64;
    // Errors in units of sigma, or of their mean size.
    let found =
        Sample::new(error, &vec![1.0; error.len()]).ok().and_then(|sample| dependence(&sample));
    let alike = found.map_or(0.0, |found| found.autocorrelation.min(0.99));
    rows * (1.0 - alike) / (1.0 + alike)
}

/// A log sigma that differs by less than this between any two rows is one sigma.
const LEAST_VARIATION: f64 = 0.02;

/// Standard errors by which a stack must beat one sigma: chance alone is no gain. One would be too many
/// for 100 rows of the paper's set G, whose median regret it takes from 0.018 to 0.028.
const SURE: f64 = 0.5;

/// The least share of a model that is kept.
const LEAST_SHARE: f64 = 0.02;

/// The unit of each row: a sigma that no model is preferred by, over the scale of errors.
fn units(sigmas: &[&[f64]], scale: f64) -> Vec<f64> {
    let equal = vec![1.0 / sigmas.len() as f64; sigmas.len()];
    mean(sigmas, &equal).iter().map(|sigma| (sigma / scale).max(FLOOR)).collect()
}

/// Models with these weights; the only one that has any stays what it is.
pub(super) fn stack(models: Vec<Model>, shares: &[f64], lesson: &Lesson) -> Result<Supported> {
    let mut models: Vec<(Model, f64)> =
        models.into_iter().zip(shares.iter().copied()).filter(|(_, share)| *share > 0.0).collect();
    if models.len() == 1 {
        return lesson.hold(models.remove(0).0);
    }
    let member = |(model, share)| Member { share, model };
    lesson.hold(Stack::new(models.into_iter().map(member).collect()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Beta;

    /// The cost of a mean of two log sigmas.
    fn cost(share: f64, sigmas: &[Vec<f64>], error: &[f64], loss: LossKind) -> f64 {
        let sigma: Vec<f64> = (sigmas[0].iter().zip(&sigmas[1]))
            .map(|(a, b)| a.powf(share) * b.powf(1.0 - share))
            .collect();
        loss.on(error, None).unwrap().value(&sigma).unwrap()
    }

    #[test]
    fn the_weights_are_those_of_least_cost() {
        // Errors of sizes 1 and 3; one model is right about the one half, one about the other.
        let error: Vec<f64> =
            (0..400).map(|i| [1.0, 3.0][i % 2] * (f64::from(i as u32) * 2.4).sin()).collect();
        let first: Vec<f64> = (0..400).map(|i| [0.7, 1.0][i % 2]).collect();
        let second: Vec<f64> = (0..400).map(|i| [1.6, 2.4][i % 2]).collect();
        let sigmas = [first, second];
        for loss in [LossKind::Crps, LossKind::Nlpd, LossKind::Ar(Beta::Heuristic)] {
            let (found, better) = weights(&sigmas, &error, None, loss, false).unwrap();
            assert!(better);
            assert!((found[0] + found[1] - 1.0).abs() < 1e-12);
            // Of all tenths none is better.
            let own = cost(found[0], &sigmas, &error, loss);
            let least = (0..=10)
                .map(|tenths| cost(f64::from(tenths) / 10.0, &sigmas, &error, loss))
                .fold(f64::INFINITY, f64::min);
            assert!(
                own <= least + 1e-3 * least.abs(),
                "{loss:?}: {found:?} costs {own}, not {least}"
            );
        }
    }

    #[test]
    fn a_model_that_is_right_gets_all() {
        let error: Vec<f64> = (0..300).map(|i| (f64::from(i) * 2.4).sin()).collect();
        // A sigma that is the same everywhere is no model.
        let right: Vec<f64> = (0..300).map(|i| 0.8 + 0.02 * f64::from(i % 2)).collect();
        let wrong = vec![50.0; 300];
        let sigmas = [wrong.clone(), right, wrong];
        for local in [false, true] {
            let found = weights(&sigmas, &error, None, LossKind::Crps, local).unwrap();
            assert_eq!(found, (vec![0.0, 1.0, 0.0], true));
        }
    }
}
