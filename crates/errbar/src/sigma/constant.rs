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

/// The one sigma of least loss: where its derivative in the logarithm is zero.
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
    let (mut sigma, mut gradient) = (vec![0.0; error.len()], vec![0.0; error.len()]);
    let mut slope = |t: f64| {
        sigma.fill(t.exp());
        // A sigma beyond the range of doubles costs more than any other.
        match loss.value_and_gradient(&sigma, &mut gradient) {
            Ok(_) => gradient.iter().sum::<f64>() * t.exp(),
            Err(_) => f64::INFINITY,
        }
    };
    // The minimum lies below a few times the largest error (1.85 times for AR when all errors are
    // equal; with reliability alone it may be at infinity, and the end of the range stands for it).
    let (least, most) = (largest.ln() - 40.0, largest.ln() + 3.0);
    let mean = error.iter().map(|e| e.abs() / error.len() as f64).sum::<f64>();
    let start = mean.ln().clamp(least, most);
    Ok(Constant { sigma: least_slope(&mut slope, start, (least, most)).exp(), columns })
}

/// Where a slope that rises is zero, or the end of the range that is nearest to that.
pub(crate) fn least_slope(
    slope: &mut dyn FnMut(f64) -> f64,
    start: f64,
    (least, most): (f64, f64),
) -> f64 {
    let at_start = slope(start);
    // Downhill in growing steps, until it goes up.
    let (mut near, mut far) = ((start, at_start), (start, at_start));
    let mut step = if at_start > 0.0 { -0.5 } else { 0.5 };
    while far.1 * at_start > 0.0 {
        if far.0 == least || far.0 == most {
            return far.0;
        }
        near = far;
        let next = (far.0 + step).clamp(least, most);
        far = (next, slope(next));
        step *= 2.0;
    }
    // Between the two by secants; an end that stays counts for half, or it would stay for ever
    // (the Illinois method).
    while far.1 != 0.0 && (far.0 - near.0).abs() > 1e-10 {
        let next = far.0 - far.1 * (far.0 - near.0) / (far.1 - near.1);
        // Where a slope is infinite, or rounding leaves no room, half of the way.
        let inside = (next - near.0) * (next - far.0) < 0.0;
        let next = if inside { next } else { 0.5 * (near.0 + far.0) };
        let at_next = slope(next);
        match at_next * far.1 > 0.0 {
            true => near.1 *= 0.5,
            false => near = far,
        }
        let moved = (next - far.0).abs();
        far = (next, at_next);
        if moved < 1e-10 {
            break;
        }
    }
    far.0
}
