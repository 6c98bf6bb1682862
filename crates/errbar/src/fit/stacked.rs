//! Several kinds of models at once, with weights that held-out rows choose.

use super::local_units::FLOOR;
use super::{Kind, Options, train};
use crate::data::Data;
use crate::error::Result;
use crate::monitor::{Monitor, Part};
use crate::score::LossKind;
use crate::sigma::stack::{Member, Stack, mean};
use crate::sigma::{Model, in_own_scale};

/// Parts of the weights: first some for every model by what it costs alone, then some, one after
/// another, for whichever lowers the cost of all together. Few, so that chance has little to choose
/// from.
const BY_ITSELF: f64 = 5.0;
const TOGETHER: usize = 10;

/// The weight of each model in a mean of their log sigmas, by its score on rows that none of them has
/// seen: CRPS, `local` in units of the mean of all models but the first, or NLPD for models trained by
/// that.
///
/// By itself a model has a weight that falls by a factor of e for every unit that it costs more than
/// the best, over all rows. Then part after part goes to the model that lowers the cost most (ensemble
/// selection; Caruana and others 2004, doi:10.1145/1015330.1015432). Also whether all together do
/// better than the first.
pub(super) fn weights(
    sigmas: &[Vec<f64>],
    error: &[f64],
    weight: Option<&[f64]>,
    loss: LossKind,
    local: bool,
) -> Result<(Vec<f64>, bool)> {
    let (error, scale) = in_own_scale(error, weight);
    let unit = match local {
        true => units(&sigmas[1..], scale),
        false => vec![1.0; error.len()],
    };
    let error: Vec<f64> = error.iter().zip(&unit).map(|(error, unit)| error / unit).collect();
    let mut loss = match loss {
        LossKind::Nlpd => LossKind::Nlpd,
        // Reliability is a matter of all rows together: of few, it is mostly chance.
        LossKind::Ar(_) | LossKind::Crps => LossKind::Crps,
    }
    .on(&error, weight)?;
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
    let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
    let rows = error.len() as f64;
    let mut parts: Vec<f64> = alone.iter().map(|cost| (rows * (least - cost)).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part *= BY_ITSELF / total);
    let mut sum: Vec<f64> = (0..error.len())
        .map(|row| parts.iter().zip(&log).map(|(part, log)| part * log[row]).sum())
        .collect();
    for given in 0..TOGETHER {
        let count = BY_ITSELF + given as f64 + 1.0;
        let mut next = (f64::INFINITY, 0);
        for (model, log) in log.iter().enumerate() {
            let cost = cost(&sum, log, count)?;
            if cost < next.0 {
                next = (cost, model);
            }
        }
        parts[next.1] += 1.0;
        sum.iter_mut().zip(&log[next.1]).for_each(|(sum, log)| *sum += log);
    }
    // What hardly counts is not worth its time.
    let total: f64 = parts.iter().sum();
    parts.iter_mut().filter(|part| **part < LEAST_SHARE * total).for_each(|part| *part = 0.0);
    let total: f64 = parts.iter().sum();
    let shares: Vec<f64> = parts.iter().map(|part| part / total).collect();
    let together: Vec<f64> = (0..error.len())
        .map(|row| shares.iter().zip(&log).map(|(share, log)| share * log[row]).sum())
        .collect();
    let better = cost(&none, &together, 1.0)? < alone[0];
    Ok((shares, better))
}

/// The least share of a model that is kept.
const LEAST_SHARE: f64 = 0.02;

/// The unit of each row: a sigma that no model is preferred by, over the scale of errors.
fn units(sigmas: &[Vec<f64>], scale: f64) -> Vec<f64> {
    let equal = vec![1.0 / sigmas.len() as f64; sigmas.len()];
    mean(sigmas, &equal).iter().map(|sigma| (sigma / scale).max(FLOOR)).collect()
}

/// Models with these weights; the only one that has any stays what it is.
pub(super) fn stack(models: impl Iterator<Item = Model>, shares: &[f64]) -> Model {
    let member = |(model, &share): (Model, &f64)| Member { share, model };
    let mut members: Vec<Member> =
        models.zip(shares).map(member).filter(|member| member.share > 0.0).collect();
    match members.len() {
        1 => members.remove(0).model,
        _ => Stack::new(members).into(),
    }
}

/// Trains every member of a stack again, on these rows; the most rows one of them was trained on.
pub(super) fn train_again(
    data: &Data,
    stack: &Stack,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<(Model, usize)> {
    let count = stack.members().len();
    let mut trained_on = 0;
    let mut members = Vec::new();
    for (i, Member { share, model }) in stack.members().iter().enumerate() {
        let at = |i: usize| i as f64 / count as f64;
        let part = Part { whole: monitor, from: at(i), to: at(i + 1) };
        let (model, rows) = train(data, Kind::of(model), Some(model), options, &part)?;
        trained_on = trained_on.max(rows);
        members.push(Member { share: *share, model });
    }
    Ok((Stack::new(members).into(), trained_on))
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
        let (right, wrong) = (vec![0.8; 300], vec![50.0; 300]);
        let sigmas = [wrong.clone(), right, wrong];
        for local in [false, true] {
            let found = weights(&sigmas, &error, None, LossKind::Crps, local).unwrap();
            assert_eq!(found, (vec![0.0, 1.0, 0.0], true));
        }
    }
}
