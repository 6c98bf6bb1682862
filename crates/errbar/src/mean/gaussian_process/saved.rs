//! The saved form of a Gaussian process.

use serde::{Deserialize, Serialize};

use super::data::Data;
use super::fit::mean as mean_of;
use super::{GaussianProcess, Hyperparameters};
use crate::error::Error;

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    columns: usize,
    inputs: Vec<f64>,
    y: Vec<f64>,
    noise: Option<Vec<f64>>,
    mean: f64,
    signal_variance: f64,
    /// Nothing stands for infinity, which JSON does not have.
    length_scales: Vec<Option<f64>>,
    noise_variance: f64,
}

impl From<GaussianProcess> for Saved {
    fn from(process: GaussianProcess) -> Self {
        let Data { columns, inputs, y, noise } = process.data;
        let Hyperparameters { mean, signal_variance, length_scales, noise_variance } =
            process.hyperparameters;
        let finite = |length: f64| length.is_finite().then_some(length);
        let length_scales = length_scales.into_iter().map(finite).collect();
        Self { columns, inputs, y, noise, mean, signal_variance, length_scales, noise_variance }
    }
}

impl TryFrom<Saved> for GaussianProcess {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let Saved {
            columns,
            inputs,
            y,
            noise,
            mean,
            signal_variance,
            length_scales,
            noise_variance,
        } = saved;
        let length_scales = length_scales.into_iter().map(|l| l.unwrap_or(f64::INFINITY)).collect();
        let hyperparameters =
            Hyperparameters { mean, signal_variance, length_scales, noise_variance };
        let data = Data::new(&inputs, columns, &y, noise.as_deref())?;
        if let Some(noise) = &data.noise {
            // The average and the rows say the same thing twice.
            let average = mean_of(noise);
            if (average - noise_variance).abs() > 1e-9 * average {
                let (what, index, value) = ("noise variance", 0, noise_variance);
                return Err(Error::BadHyperparameter { what, index, value });
            }
        }
        Self::condition(data, hyperparameters)
    }
}
