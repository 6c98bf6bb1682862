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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::data::Data;
    use crate::monitor::Silent;
    use crate::rounds::{Local, Part};
    use crate::sigma::refined::refined;
    use crate::sigma::{Model, network, polynomial};

    const ROWS: usize = 48_000;

    /// Inputs, errors and units; both models are of the first tenth of the rows.
    fn drawn() -> (Vec<f64>, Vec<f64>, Vec<f64>, [Model; 2]) {
        let mut rng = Pcg64::seed_from_u64(1);
        let x: Vec<f64> = (0..2 * ROWS).map(|_| rng.random_range(-1.0..1.0)).collect();
        let sigma = |x: &[f64]| (x[0] + 0.5 * x[1] * x[1]).exp();
        let error = x.chunks_exact(2).map(|x| sigma(x) * rng.sample::<f64, _>(StandardNormal));
        let error: Vec<f64> = error.collect();
        let unit = x.chunks_exact(2).map(|x| sigma(x) * (0.3 * x[0]).exp()).collect();
        let some = Data::new(&x[..ROWS / 5], 2, &error[..ROWS / 10]).unwrap();
        let own = network::Options { starts: 4, iterations: 30, ..network::Options::general() };
        let polynomial = polynomial::fit_to(&some, &polynomial::Options::general(), &Silent);
        let network = network::fit_to(&some, &own, &Silent).unwrap();
        (x, error, unit, [polynomial.unwrap().into(), network.into()])
    }

    fn workers(model: &Model, (x, error, unit): (&[f64], &[f64], &[f64]), parts: usize) -> Local {
        let each = ROWS / parts;
        let part = |number: usize| {
            let rows = number * each..(number + 1) * each;
            let inputs = x[2 * rows.start..2 * rows.end].to_vec();
            let (error, unit) = (&error[rows.clone()], &unit[rows]);
            let part = Part::new(number as u64, inputs, 2, error, unit).unwrap();
            let logs = unit.iter().map(|unit| unit.ln()).collect();
            part.of_model(refined(model).unwrap(), logs).unwrap()
        };
        Local::new((0..parts).map(part).collect())
    }

    /// Counts put a row somewhere in the rank that it has alone, $2/n$, so that the mean over $n$ rows is off by about
    /// $n^{-3/2}$, $10^{-7}$, which shows over short steps; errors are rounded to $6\cdot10^{-8}$.
    #[test]
    fn the_cost_is_that_of_all_rows_and_the_gradient_is_its_own() {
        let (x, error, unit, models) = drawn();
        let of_unit = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&unit).map(|(value, unit)| value / unit).collect()
        };
        for model in &models {
            // Somewhat away from the least cost, where slopes are small.
            let own = refined(model).unwrap();
            let off = |(nth, w): (usize, &f64)| w + 0.1 * (7.0 * nth as f64).sin();
            let parameters: Vec<f64> = own.parameters().iter().enumerate().map(off).collect();
            let model = &own.with_parameters(&parameters, f64::NEG_INFINITY);
            let mut workers = workers(model, (&x, &error, &unit), 3);
            let (learned, held) = hold(&mut workers, 0.0, 0).unwrap();
            assert_eq!((learned.rows, held.rows), (ROWS as u64, 0));
            let plain = of_unit(&error);
            let sigma = of_unit(&model.predict(&x).unwrap());
            for (loss, off, step, tolerance) in [
                (LossKind::default(), 1e-6, 1e-2, 1e-2),
                (LossKind::Crps, 1e-6, 1e-4, 1e-6),
                (LossKind::Nlpd, 1e-6, 1e-4, 1e-6),
            ] {
                let (cost, gradient) = value(&mut workers, &learned, loss, &parameters).unwrap();
                let exact = loss.on(&plain, None).unwrap().value(&sigma).unwrap();
                // The likelihood leaves out what is the same for any sigma.
                let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
                let constant = if loss == LossKind::Nlpd { 0.5 * ln_two_pi } else { 0.0 };
                assert!((cost + constant - exact).abs() < off, "{loss:?}: {cost} {exact}");
                let largest = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
                for nth in (0..parameters.len()).step_by(7) {
                    let mut at = |step: f64| {
                        let mut moved = parameters.clone();
                        moved[nth] += step;
                        value(&mut workers, &learned, loss, &moved).unwrap().0
                    };
                    let slope = (at(step) - at(-step)) / (2.0 * step);
                    let off = (slope - gradient[nth]).abs();
                    assert!(
                        off < tolerance * largest.max(0.01),
                        "{loss:?} {nth}: {slope} {}",
                        gradient[nth]
                    );
                }
            }
        }
    }

    #[test]
    fn all_rows_are_better_whatever_their_parts() {
        let (x, error, unit, models) = drawn();
        for model in &models {
            let own = refined(model).unwrap();
            let found = [1, 16].map(|parts| {
                let mut workers = workers(model, (&x, &error, &unit), parts);
                let (mut parameters, loss) = (own.parameters(), LossKind::default());
                let cost = refine(&mut workers, &mut parameters, (0.0, 0), loss, &Silent).unwrap();
                assert!(cost.1 < cost.0, "{cost:?}");
                let least = least(&mut workers, &parameters).unwrap();
                let sigma = own.with_parameters(&parameters, least).predict(&x).unwrap();
                let lowest = sigma.iter().copied().fold(f64::INFINITY, f64::min);
                assert!((least.exp() / lowest - 1.0).abs() < 1e-9);
                sigma
            });
            for (one, many) in found[0].iter().zip(&found[1]) {
                assert!((one / many - 1.0).abs() < 1e-6, "{one} {many}");
            }
        }
    }
}
