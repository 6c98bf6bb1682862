//! Models whose parameters can be refined by rows that are elsewhere.

use super::Model;
use crate::error::Result;

/// A model of log sigma with parameters.
pub(crate) trait Refined: Send + Sync {
    /// As they are.
    fn parameters(&self) -> Vec<f64>;

    /// The model with other parameters, whose least log sigma of all rows is known.
    fn with_parameters(&self, parameters: &[f64], least: f64) -> Model;

    /// Row-major inputs as it takes them.
    fn prepared(&self, inputs: &[f64]) -> Result<Vec<f64>>;

    /// Log sigma of some rows with these parameters.
    fn log_sigma(&self, parameters: &[f64], prepared: &[f64]) -> Vec<f64>;

    /// The gradient in the parameters, from the slope of the cost in the log sigma of each row.
    fn gradient(&self, parameters: &[f64], prepared: &[f64], slope: &[f64]) -> Vec<f64>;
}

/// A model as one that can be refined, if it can be.
pub(crate) fn refined(model: &Model) -> Option<Box<dyn Refined>> {
    match model {
        Model::Polynomial(model) => Some(Box::new(model.clone())),
        Model::Network(model) => Some(Box::new(model.clone())),
        _ => None,
    }
}

/// Row-major values as columns, one after the other.
pub(super) fn turned(rows: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|column| rows.iter().skip(column).step_by(columns)).copied().collect()
}
