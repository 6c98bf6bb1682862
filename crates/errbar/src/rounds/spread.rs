//! How large errors are, in whole numbers: enough for the one sigma of least cost.
//!
//! Errors stand in fine bins; for each bin it is known how much weight it has and where in the bin the mean of its
//! errors is. What is done to the cost by taking each error for that mean is of the order of the square of the width of
//! a bin, $2^{-20}$ beside the size of errors. Whole numbers can be added in any order.

use super::message::{Ask, Question, differently};
use super::ranks::Cost;
use super::{Workers, sum_of};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::score::eta_counts::{BINS, begin_of, bin_of};
use crate::sigma::constant::least_slope;

/// Weights, and places within bins, are counted in this part of their unit.
const PART: f64 = 1_048_576.0;

/// Errors in bins: first the weight of each, then that times the mean place within the bin.
pub(crate) struct Spread {
    counts: Vec<i64>,
}

impl Spread {
    /// Of errors in units of about their size, and their weights, if there are some, in units of about theirs.
    pub(crate) fn of(error: &[f64], unit: f64, weight: Option<(&[f64], f64)>) -> Self {
        let mut counts = vec![0; 2 * BINS];
        let (weights, places) = counts.split_at_mut(BINS);
        for (row, error) in error.iter().enumerate() {
            let scaled = error / unit;
            let bin = bin_of(scaled);
            let own = weight.map_or(1.0, |(weight, unit)| weight[row] / unit);
            let own = (own * PART).round();
            let (begin, width) = place_of(bin);
            let place = if width > 0.0 { ((scaled - begin) / width).clamp(0.0, 1.0) } else { 0.0 };
            // What is too heavy for whole numbers weighs as much as they can say.
            weights[bin] = own.saturating_into(weights[bin]);
            places[bin] = (own * place).round().saturating_into(places[bin]);
        }
        Self { counts }
    }

    pub(crate) fn counts(&self) -> Vec<i64> {
        self.counts.clone()
    }
}

trait Saturating {
    fn saturating_into(self, sum: i64) -> i64;
}

impl Saturating for f64 {
    fn saturating_into(self, sum: i64) -> i64 {
        sum.saturating_add(self as i64)
    }
}

/// Where a bin begins, and how wide it is; the last on either side is all in one place.
fn place_of(bin: usize) -> (f64, f64) {
    match bin {
        0 => (begin_of(1), 0.0),
        _ if bin + 1 == BINS => (begin_of(bin), 0.0),
        _ => (begin_of(bin), begin_of(bin + 1) - begin_of(bin)),
    }
}

/// The one sigma of least cost of all rows, of which so many count; errors were counted in this unit.
///
/// # Errors
/// Errors that are all zero, or what the parts refuse.
pub(crate) fn constant(
    workers: &mut dyn Workers,
    (rows, unit): (usize, f64),
    loss: LossKind,
) -> Result<f64> {
    let counts = sum_of(workers, &Ask::of(Question::Sizes))?.whole;
    if counts.len() != 2 * BINS {
        return Err(differently());
    }
    let (weights, places) = counts.split_at(BINS);
    let (mut error, mut weight) = (Vec::new(), Vec::new());
    for (bin, (own, place)) in weights.iter().zip(places).enumerate().filter(|(_, (w, _))| **w > 0)
    {
        let (begin, width) = place_of(bin);
        error.push((begin + width * (*place as f64 / *own as f64)) * unit);
        weight.push(*own as f64 / PART);
    }
    let total: f64 = weight.iter().sum();
    let mean = error.iter().zip(&weight).map(|(e, w)| e.abs() * (w / total)).sum::<f64>();
    let largest = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    if mean.is_nan() || mean <= 0.0 {
        return Err(Error::NoErrors { rows });
    }
    let cost = Cost::of(loss, rows, total, mean)?;
    // Where each bin stands among all, whatever sigma is: half of its own weight lies below its middle.
    let mut below = 0.0;
    let end = |own: &f64| {
        let end = (2.0 * below + own) / total - 1.0;
        below += own;
        end
    };
    let ends: Vec<f64> = weight.iter().map(end).collect();
    let mut slope_at = |log: f64| -> f64 {
        let sigma = log.exp();
        let each = error.iter().zip(&ends).zip(&weight);
        each.map(|((error, end), weight)| weight * cost.slope(*error, sigma, *end)).sum()
    };
    // As where all errors are known.
    let (least, most) = (largest.ln() - 40.0, largest.ln() + 3.0);
    let log = least_slope(&mut slope_at, mean.ln().clamp(least, most), (least, most));
    Ok(log.exp())
}
