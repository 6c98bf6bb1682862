//! What a Gaussian process learns.

use crate::error::{Error, Result};

/// The constants of the [covariance](super), in the units of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameters {
    /// The constant $m$ that the function varies around.
    pub mean: f64,
    /// $\sigma\_f^2$, the variance of the function.
    pub signal_variance: f64,
    /// $\ell\_k$, for each input the distance over which the function changes. Infinite for an input
    /// that does not matter; a fit says so of inputs that were constant.
    pub length_scales: Vec<f64>,
    /// $\sigma\_n^2$, the variance of the noise; the average, where each row has its own.
    pub noise_variance: f64,
}

impl Hyperparameters {
    /// Refuses what no covariance can be made of.
    pub(super) fn check(&self, columns: usize) -> Result<()> {
        let bad = |what, index, value| Err(Error::BadHyperparameter { what, index, value });
        let Self { mean, signal_variance, length_scales, noise_variance } = self;
        if !mean.is_finite() {
            return bad("mean", 0, *mean);
        }
        let variances = [("signal variance", signal_variance), ("noise variance", noise_variance)];
        for (what, &value) in variances {
            if !(value >= 0.0 && value.is_finite()) {
                return bad(what, 0, value);
            }
        }
        if !(signal_variance + noise_variance).is_finite() {
            return bad("noise variance", 0, *noise_variance);
        }
        let length = length_scales.len();
        if length != columns {
            let (what, other) = ("length_scales", "a row of inputs");
            return Err(Error::LengthMismatch { what, length, other, expected: columns });
        }
        match length_scales.iter().position(|&length| length.is_nan() || length <= 0.0) {
            Some(index) => bad("length scale", index, length_scales[index]),
            None => Ok(()),
        }
    }
}
