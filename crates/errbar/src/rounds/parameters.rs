//! The parameters of a model of sigma, refined by rounds: counts of scaled errors, then the cost and its gradient.

use super::message::{Ask, Question, differently};
use super::trees::{Rows, hold};
use super::{Workers, all_of, sum_of};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::monitor::{Monitor, check};
use crate::optimize::{Minimum, Options as Minimise, Step, bfgs_with, lbfgs_with};
use crate::score::eta_counts::BINS;

/// From this many parameters on a dense matrix is wasteful.
const DENSE_UP_TO: usize = 1000;

/// Steps at most, each of which asks twice or more.
const STEPS: usize = 100;

/// A step that lowers the cost by a smaller share is the last: counts tell no more.
const LEAST_DECREASE: f64 = 1e-7;

/// Parameters of least cost, from where they are; of the rows that are left when a share is held out. Also the cost
/// before and after.
pub(crate) fn refine(
    workers: &mut dyn Workers,
    parameters: &mut [f64],
    (share, seed): (f64, u64),
    loss: LossKind,
    monitor: &dyn Monitor,
) -> Result<(f64, f64)> {
    let (learned, held) = hold(workers, share, seed)?;
    if learned.total <= 0.0 || learned.mean == 0.0 {
        return Err(Error::NoErrors { rows: (learned.rows + held.rows) as usize });
    }
    let (mut failed, mut first) = (None, None);
    let objective = |at: &[f64], gradient: &mut [f64]| match value(workers, &learned, loss, at) {
        Ok((value, own)) if own.len() == gradient.len() => {
            gradient.copy_from_slice(&own);
            first.get_or_insert(value);
            Some(value)
        }
        Ok(_) => None,
        Err(error) => {
            failed.get_or_insert(error);
            None
        }
    };
    let options = Minimise {
        iterations: STEPS,
        gradient: 1e-7,
        decrease: LEAST_DECREASE,
        ..Minimise::default()
    };
    let watch = |step: &Step| {
        monitor.progress(step.iteration as f64 / (step.iteration as f64 + 20.0));
        monitor.should_stop()
    };
    let Minimum { value, .. } = match parameters.len() <= DENSE_UP_TO {
        true => bfgs_with(parameters, &options, objective, watch),
        false => lbfgs_with(parameters, &options, objective, watch),
    };
    check(monitor)?;
    match failed {
        Some(error) => Err(error),
        None => Ok((first.unwrap_or(value), value)),
    }
}

/// The cost of the rows that learn, and its gradient.
fn value(
    workers: &mut dyn Workers,
    learned: &Rows,
    loss: LossKind,
    parameters: &[f64],
) -> Result<(f64, Vec<f64>)> {
    let ask = Ask { question: Question::CountAt, numbers: parameters.to_vec() };
    let mut numbers = sum_of(workers, &ask)?.into_counts();
    if numbers.len() != BINS {
        return Err(differently());
    }
    numbers.extend(parameters);
    let cost = learned.cost(loss)?;
    let sums = sum_of(workers, &Ask { question: Question::SlopesAt { cost }, numbers })?.sums;
    match sums.split_first_chunk::<2>() {
        Some((parts, gradient)) => Ok((cost.value(*parts), gradient.to_vec())),
        None => Err(differently()),
    }
}

/// The least log sigma of all rows with these parameters.
pub(crate) fn least(workers: &mut dyn Workers, parameters: &[f64]) -> Result<f64> {
    let ask = Ask { question: Question::LeastAt, numbers: parameters.to_vec() };
    Ok(all_of(workers, &ask)?.each().flatten().copied().fold(f64::INFINITY, f64::min))
}
