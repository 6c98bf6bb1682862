//! Mean and sigma in turn: a Gaussian process whose noise is as large as the errors are there.
//!
//! A Gaussian process with one noise level follows the noise where it is large and misses detail
//! where it is small. So its mean and sigma(x) are fitted in turn: the errors of each observation
//! when it is forecast from all the others give a smooth sigma(x) ([`crate::sigma::smooth`]), its
//! square is the noise of the next process, and so on until sigma no longer changes. The fixed
//! point is close to the maximum of the joint likelihood: the slope of the process's marginal
//! likelihood in the noise of one row is that of its leave-one-out error.

use super::gaussian_process::{GaussianProcess, NoiseScale, Options};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Part, check};
use crate::score::LossKind;
use crate::sigma::smooth;

/// Turns at most.
const TURNS: usize = 6;

/// Sigma has settled when it changes by less than this share.
const SETTLED: f64 = 0.02;

/// A Gaussian process through observations `y` at row-major inputs, with its noise as a function of
/// the inputs, learned by the given cost. With fewer than 20 rows, or no errors at all, one noise level is all there is.
///
/// # Errors
/// As [`GaussianProcess::fit`], or a monitor that asked to stop.
pub fn fit(
    inputs: &[f64],
    columns: usize,
    y: &[f64],
    loss: LossKind,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<GaussianProcess> {
    let mut process = GaussianProcess::fit_watched(inputs, columns, y, options, monitor)?;
    if y.len() < crate::fit::LEAST_ROWS {
        return Ok(process);
    }
    let mut last: Option<Vec<f64>> = None;
    for turn in 0..TURNS {
        check(monitor)?;
        let share = |turn: usize| (turn + 1) as f64 / (TURNS + 1) as f64;
        let part = Part { whole: monitor, from: share(turn), to: share(turn + 1) };
        let error = process.leave_one_out().error;
        let own = smooth::Options { loss, seed: options.seed, ..Default::default() };
        let sigma = match smooth::fit_to(&Data::new(inputs, columns, &error)?, &own, &part) {
            Err(Error::NoErrors { .. }) => break,
            sigma => sigma?.most_likely(inputs)?,
        };
        if last.as_ref().is_some_and(|last| apart(last, &sigma) < SETTLED) {
            break;
        }
        let noise: Vec<f64> = sigma.iter().map(|s| s * s).collect();
        let refitted = GaussianProcess::fit_with_noise_watched(
            inputs,
            columns,
            y,
            &noise,
            NoiseScale::AsGiven,
            options,
            monitor,
        );
        match refitted {
            Ok(next) => process = next,
            Err(Error::Stopped) => return Err(Error::Stopped),
            // Noise beyond what doubles can square: the process before is the best there is.
            Err(_) => break,
        }
        last = Some(sigma);
    }
    Ok(process)
}

/// The root mean square of the change of log sigma.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a / b).ln().powi(2)).sum();
    (squares / a.len() as f64).sqrt()
}
