//! A mean of either kind, and its saved form.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::gaussian_process::{GaussianProcess, LeaveOneOut};
use super::sparse::SparseProcess;
use crate::error::Result;

/// A mean that was learned: a Gaussian process through all the rows, or on inducing points.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a model has one")]
pub enum Mean {
    /// Through all the rows.
    Exact(GaussianProcess),
    /// On inducing points, for many rows.
    Sparse(SparseProcess),
}

/// The forecast at some inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The mean.
    pub mean: Vec<f64>,
    /// Its variance: how well the function is known, noise not included.
    pub latent_variance: Vec<f64>,
}

impl Mean {
    /// The forecast at `inputs`, row by row.
    ///
    /// # Errors
    /// Inputs that are not whole rows, or not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Forecast> {
        match self {
            Self::Exact(process) => {
                let at = process.predict(inputs)?;
                Ok(Forecast { mean: at.mean, latent_variance: at.latent_variance })
            }
            Self::Sparse(process) => process.predict(inputs),
        }
    }

    /// What each of the observations it was fitted to would have been forecast as from all the others;
    /// `None` when these are not those observations.
    ///
    /// # Errors
    /// As [`Mean::predict`], or another number of observations than rows.
    pub fn leave_one_out(&self, inputs: &[f64], y: &[f64]) -> Result<Option<LeaveOneOut>> {
        match self {
            Self::Exact(process) => {
                Ok(process.is_fitted_to(inputs, y).then(|| process.leave_one_out()))
            }
            Self::Sparse(process) => process.leave_one_out(inputs, y),
        }
    }

    /// The number of values in a row of inputs.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Exact(process) => process.columns(),
            Self::Sparse(process) => process.columns(),
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Exact(process) => format!("a Gaussian process through {} rows", process.rows()),
            Self::Sparse(process) => format!(
                "a Gaussian process on {} inducing points, fitted to {} rows",
                process.points(),
                process.rows()
            ),
        }
    }

    /// Whether a mean that was read can be used; an exact one is checked while it is read.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        match self {
            Self::Exact(_) => Ok(()),
            Self::Sparse(process) => process.check(),
        }
    }
}

impl From<GaussianProcess> for Mean {
    fn from(process: GaussianProcess) -> Self {
        Self::Exact(process)
    }
}

impl From<SparseProcess> for Mean {
    fn from(process: SparseProcess) -> Self {
        Self::Sparse(process)
    }
}

/// Told apart by what they hold, so that either's own complaint is heard; the first files had exact
/// ones only.
impl<'de> Deserialize<'de> for Mean {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(from)?;
        let read = match value.get("bumps") {
            Some(_) => serde_json::from_value(value).map(Self::Sparse),
            None => serde_json::from_value(value).map(Self::Exact),
        };
        read.map_err(D::Error::custom)
    }
}
