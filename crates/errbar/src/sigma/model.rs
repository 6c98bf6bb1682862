//! Any fitted model.

use serde::Serialize;

use super::constant::Constant;
use super::network::Network;
use super::polynomial::Polynomial;
use super::smooth::Smooth;
use super::stack::Stack;
use super::trees::Trees;
use crate::error::Result;

/// A fitted model of sigma(x), whatever its kind; [`Fitted::of`](crate::fit::Fitted::of) makes a file
/// of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Model {
    /// One sigma.
    Constant(Constant),
    /// A polynomial.
    Polynomial(Polynomial),
    /// A smooth function.
    Smooth(Smooth),
    /// A network, or several averaged.
    Network(Network),
    /// A sum of trees.
    Trees(Trees),
    /// Several models, averaged.
    Stack(Stack),
}

impl Model {
    /// Sigma for each row of row-major inputs.
    ///
    /// # Errors
    /// Another number of columns than the model was fitted to, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Constant(model) => model.predict(inputs),
            Self::Polynomial(model) => model.predict(inputs),
            Self::Smooth(model) => model.predict(inputs),
            Self::Network(model) => model.predict(inputs),
            Self::Trees(model) => model.predict(inputs),
            Self::Stack(model) => model.predict(inputs),
        }
    }

    /// What kind it is, in one word: that of the saved form.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::Polynomial(_) => "polynomial",
            Self::Smooth(_) => "smooth",
            Self::Network(_) => "network",
            Self::Trees(_) => "trees",
            Self::Stack(_) => "stack",
        }
    }

    /// What the model is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Constant(model) => {
                format!("one sigma, {}", crate::words::significant(model.sigma, 4))
            }
            Self::Polynomial(model) => model.explain(),
            Self::Smooth(model) => model.explain(),
            Self::Network(model) => model.explain(),
            Self::Trees(model) => model.explain(),
            Self::Stack(model) => model.explain(),
        }
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Constant(model) => model.columns,
            Self::Polynomial(model) => model.columns(),
            Self::Smooth(model) => model.columns(),
            Self::Network(model) => model.columns(),
            Self::Trees(model) => model.columns(),
            Self::Stack(model) => model.columns(),
        }
    }

    /// Whether an input may be missing (NaN). A constant and trees know what to make of that; other
    /// models do when they were fitted to some such rows.
    #[must_use]
    pub fn takes_missing(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Trees(_) => true,
            Self::Polynomial(model) => model.scaling().missing().is_some(),
            Self::Smooth(model) => model.scaling().missing().is_some(),
            Self::Network(model) => model.scaling().missing().is_some(),
            Self::Stack(model) => model.members().iter().all(|member| member.model.takes_missing()),
        }
    }

    /// Whether a model that was read can be used.
    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        match self {
            Self::Constant(model) => model.check(),
            Self::Polynomial(model) => model.check(),
            Self::Smooth(model) => model.check(),
            Self::Network(model) => model.check(),
            Self::Trees(model) => model.check(),
            Self::Stack(model) => model.check(),
        }
    }
}

impl From<Constant> for Model {
    fn from(model: Constant) -> Self {
        Self::Constant(model)
    }
}

impl From<Polynomial> for Model {
    fn from(model: Polynomial) -> Self {
        Self::Polynomial(model)
    }
}

impl From<Network> for Model {
    fn from(model: Network) -> Self {
        Self::Network(model)
    }
}

impl From<Smooth> for Model {
    fn from(model: Smooth) -> Self {
        Self::Smooth(model)
    }
}

impl From<Stack> for Model {
    fn from(model: Stack) -> Self {
        Self::Stack(model)
    }
}

impl From<Trees> for Model {
    fn from(model: Trees) -> Self {
        Self::Trees(model)
    }
}
