//! The saved form of a Gaussian process.

use serde::{Deserialize, Serialize};

use super::data::Data;
use super::fit::mean as mean_of;
use super::{Conditioned, GaussianProcess, Hyperparameters};
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
    /// What predictions are averaged over as well; the first files had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<Other>,
}

/// Hyperparameters that count as much as their weight, relative to the likeliest ones.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    weight: f64,
    signal_variance: f64,
    length_scales: Vec<Option<f64>>,
}

/// More would only cost time.
const MOST_OTHERS: usize = 8;

fn save(length_scales: Vec<f64>) -> Vec<Option<f64>> {
    length_scales.into_iter().map(|length| length.is_finite().then_some(length)).collect()
}

fn read(length_scales: Vec<Option<f64>>) -> Vec<f64> {
    length_scales.into_iter().map(|length| length.unwrap_or(f64::INFINITY)).collect()
}

impl From<GaussianProcess> for Saved {
    fn from(process: GaussianProcess) -> Self {
        let Data { columns, inputs, y, noise } = process.data;
        let Hyperparameters { mean, signal_variance, length_scales, noise_variance } =
            process.hyperparameters;
        let others = process.sets.into_iter().skip(1).map(|set| Other {
            weight: set.weight,
            signal_variance: set.signal_variance,
            length_scales: save(set.length_scales),
        });
        Self {
            columns,
            inputs,
            y,
            noise,
            mean,
            signal_variance,
            length_scales: save(length_scales),
            noise_variance,
            others: others.collect(),
        }
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
            others,
        } = saved;
        let length_scales = read(length_scales);
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
        let mut process = Self::condition(data, hyperparameters)?;
        let most = if process.sets.is_empty() { 0 } else { MOST_OTHERS };
        let bad = |(i, other): (usize, &Other)| {
            i >= most || !other.weight.is_normal() || other.weight < 0.0
        };
        if let Some((index, other)) = others.iter().enumerate().find(|&other| bad(other)) {
            return Err(Error::BadHyperparameter { what: "weight", index, value: other.weight });
        }
        for Other { weight, signal_variance, length_scales } in others {
            let length_scales = read(length_scales);
            let other = Hyperparameters { mean, signal_variance, length_scales, noise_variance };
            other.check(columns)?;
            let (set, _) = Conditioned::new(&process.data, &other)?;
            process.sets.push(Conditioned { weight, ..set });
        }
        Ok(process)
    }
}
