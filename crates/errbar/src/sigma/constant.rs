//! One sigma for all.

use serde::{Deserialize, Serialize};

use crate::data::rows_with_missing;
use crate::error::{Error, Result};
use crate::loss::LossKind;

/// One sigma, whatever the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// The sigma.
    pub sigma: f64,
    /// The number of input columns it was fitted beside; they do not matter.
    pub columns: usize,
}

impl Constant {
    /// The same sigma for each row of row-major inputs.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        Ok(vec![self.sigma; rows_with_missing(inputs, self.columns)?])
    }

    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        match self.sigma > 0.0 && self.sigma.is_finite() && self.columns > 0 {
            true => Ok(()),
            false => Err("its sigma or its number of columns is not positive"),
        }
    }
}

/// The one sigma of least loss, by golden section in its logarithm.
///
/// # Errors
/// What the loss refuses in errors and weights, or errors that are all zero: they have no scale.
pub fn fit(
    columns: usize,
    error: &[f64],
    weight: Option<&[f64]>,
    loss: LossKind,
) -> Result<Constant> {
    let mut loss = loss.on(error, weight)?;
    let largest = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    if largest == 0.0 {
        return Err(Error::NoErrors { rows: error.len() });
    }
    let mut sigma = vec![0.0; error.len()];
    let mut cost = |t: f64| {
        sigma.fill(t.exp());
        // A sigma beyond the range of doubles costs more than any other.
        loss.value(&sigma).unwrap_or(f64::INFINITY)
    };
    // The minimum lies below a few times the largest error (1.85 times for AR when all errors are
    // equal; with reliability alone it may be at infinity, and the end of the bracket stands for it).
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (largest.ln() - 40.0, largest.ln() + 3.0);
    let mut left = high - ratio * (high - low);
    let mut right = low + ratio * (high - low);
    let (mut at_left, mut at_right) = (cost(left), cost(right));
    while high - low > 1e-9 {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = cost(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = cost(right);
        }
    }
    Ok(Constant { sigma: (0.5 * (low + high)).exp(), columns })
}
