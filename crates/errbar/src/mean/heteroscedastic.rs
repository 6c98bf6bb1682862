//! Mean and sigma in turn: a Gaussian process whose noise is as large as the errors are there.
//!
//! A Gaussian process with one noise level follows the noise where it is large and misses detail
//! where it is small. So its mean and sigma(x) are fitted in turn: the errors of each observation
//! when it is forecast from all the others give a smooth sigma(x) ([`crate::sigma::smooth`]), its
//! square is the noise of the next process, and so on until sigma no longer changes. The fixed
//! point is close to the maximum of the joint likelihood: the slope of the process's marginal
//! likelihood in the noise of one row is that of its leave-one-out error.

use super::Mean;
use super::gaussian_process::{GaussianProcess, LengthScales, NoiseScale, Options};
use super::sparse::SparseProcess;
use crate::checks::check_length;
use crate::data::{Data, LEAST_ROWS, chosen_rows, rows_of};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::monitor::{Monitor, Stage, check};
use crate::sigma::smooth::{self, Smooth};

/// Turns at most.
const TURNS: usize = 6;

/// Sigma has settled when it changes by less than this share.
const SETTLED: f64 = 0.02;

/// The most rows of an exact process: its time grows with their cube.
pub const EXACT_ROWS: usize = 1_500;

/// The most rows that take turns; the last process sees all of them.
const ROWS_IN_TURN: usize = 5_000;

/// A Gaussian process through observations `y` at row-major inputs, with its noise as a function of
/// the inputs, learned by the given cost. With fewer than 20 rows, or no errors at all, one noise level
/// is all there is; with more than [`EXACT_ROWS`] the process is one on inducing points.
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
) -> Result<Mean> {
    let sigma = smooth::Options { loss, seed: options.seed, ..Default::default() };
    if y.len() > EXACT_ROWS {
        return sparse(inputs, columns, y, &sigma, options, monitor).map(Mean::Sparse);
    }
    // A mean that follows the noise costs twice: by itself, and by the errors that sigma sees.
    let options = &Options { length_prior: true, ..*options };
    let first = GaussianProcess::fit_watched(inputs, columns, y, options, monitor)?;
    let errors = |process: &GaussianProcess| Ok(process.leave_one_out().error);
    let refit = |sigma: &Smooth, _: &Stage| {
        let noise: Vec<f64> = sigma.most_likely(inputs)?.iter().map(|s| s * s).collect();
        let scale = NoiseScale::AsGiven;
        GaussianProcess::fit_with_noise_watched(inputs, columns, y, &noise, scale, options, monitor)
    };
    let (process, noise) = turns(first, inputs, columns, &sigma, monitor, errors, refit)?;
    // Only one length scale has a prior, and only known noise stays as it is.
    let average = noise.is_some() && options.length_scales == LengthScales::One;
    Ok(if average { process.averaged() } else { process }.into())
}

/// On inducing points. Of very many rows, some take turns.
fn sparse(
    inputs: &[f64],
    columns: usize,
    y: &[f64],
    sigma: &smooth::Options,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<SparseProcess> {
    check_length("y", y.len(), "inputs", rows_of(inputs, columns)?)?;
    let chosen = chosen_rows(y.len(), ROWS_IN_TURN, options.seed);
    let some: Vec<f64> =
        chosen.iter().flat_map(|&i| &inputs[i * columns..(i + 1) * columns]).copied().collect();
    let some_y: Vec<f64> = chosen.iter().map(|&i| y[i]).collect();
    let all = y.len() > chosen.len();
    let in_turn = Stage { whole: monitor, from: 0.0, to: if all { 0.7 } else { 1.0 } };
    let own = Stage { whole: &in_turn, from: 0.0, to: 1.0 / (TURNS + 1) as f64 };
    let first = SparseProcess::fit(&some, columns, &some_y, options, &own)?;
    let errors = |process: &SparseProcess| {
        let left = process.leave_one_out(&some, &some_y)?;
        Ok(left.map(|left| left.error).unwrap_or_default())
    };
    let refit = |sigma: &Smooth, part: &Stage| {
        SparseProcess::fit_with_noise(&some, columns, &some_y, sigma.clone(), options, part)
    };
    let (process, sigma) = turns(first, &some, columns, sigma, &in_turn, errors, refit)?;
    let last = Stage { whole: monitor, from: 0.7, to: 1.0 };
    match sigma {
        _ if !all => Ok(process),
        Some(sigma) => SparseProcess::fit_with_noise(inputs, columns, y, sigma, options, &last),
        None => SparseProcess::fit(inputs, columns, y, options, &last),
    }
}

/// Sigma and the process in turn, from a first process; also the sigma that its noise is made of, if
/// there was any to learn.
fn turns<P>(
    first: P,
    inputs: &[f64],
    columns: usize,
    options: &smooth::Options,
    monitor: &dyn Monitor,
    errors: impl Fn(&P) -> Result<Vec<f64>>,
    refit: impl Fn(&Smooth, &Stage) -> Result<P>,
) -> Result<(P, Option<Smooth>)> {
    let mut process = first;
    let mut last: Option<(Smooth, Vec<f64>)> = None;
    if inputs.len() / columns < LEAST_ROWS {
        return Ok((process, None));
    }
    for turn in 0..TURNS {
        check(monitor)?;
        let share = |turn: f64| (turn + 1.0) / (TURNS + 1) as f64;
        let part = |from: f64, to: f64| Stage {
            whole: monitor,
            from: share(turn as f64 + from),
            to: share(turn as f64 + to),
        };
        let error = errors(&process)?;
        let data = Data::new(inputs, columns, &error)?;
        let smooth = match smooth::fit_to(&data, options, &part(0.0, 0.7)) {
            Err(Error::NoErrors { .. }) => break,
            smooth => smooth?,
        };
        let sigma = smooth.most_likely(inputs)?;
        if last.as_ref().is_some_and(|(_, last)| apart(last, &sigma) < SETTLED) {
            break;
        }
        match refit(&smooth, &part(0.7, 1.0)) {
            Ok(next) => process = next,
            Err(Error::Stopped) => return Err(Error::Stopped),
            // Noise beyond what doubles can square: the process before is the best there is.
            Err(_) => break,
        }
        last = Some((smooth, sigma));
    }
    Ok((process, last.map(|(smooth, _)| smooth)))
}

/// The root mean square of the change of log sigma.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a / b).ln().powi(2)).sum();
    (squares / a.len() as f64).sqrt()
}
