//! Any fitted model, and its saved form.

use serde::{Deserialize, Serialize};

use super::constant::Constant;
use super::network::Network;
use super::polynomial::Polynomial;
use super::smooth::Smooth;
use super::stack::Stack;
use super::trees::Trees;
use crate::error::{Error, Result};

/// A fitted model of sigma(x), whatever its kind.
///
/// ```
/// use errbar::sigma::{polynomial, Model};
///
/// let x: Vec<f64> = (0..50).map(|i| f64::from(i) / 50.0).collect();
/// let error: Vec<f64> = x.iter().enumerate().map(|(i, x)| (x + 0.1) * [1.0, -1.0][i % 2]).collect();
/// let model = Model::from(polynomial::fit(&x, 1, &error, &polynomial::Options::general())?);
/// let saved = model.to_json()?;
/// let loaded = Model::from_json(&saved)?;
/// assert_eq!(loaded.predict(&[0.3])?, model.predict(&[0.3])?);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// The version of the saved form; older programs refuse newer forms.
const FORMAT: u32 = 1;

/// The envelope of the saved form.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Says what this is to whoever opens the file.
    errbar_sigma_model: u32,
    /// The version of errbar that wrote it.
    version: String,
    model: Model,
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

    /// The saved form: versioned JSON that holds every digit.
    ///
    /// # Errors
    /// None in practice; what the writer reports is passed on.
    pub fn to_json(&self) -> Result<String> {
        let saved = Saved {
            errbar_sigma_model: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            model: self.clone(),
        };
        serde_json::to_string_pretty(&saved)
            .map_err(|error| Error::BadModel { why: error.to_string() })
    }

    /// Reads the saved form and checks everything in it.
    ///
    /// # Errors
    /// Text that is no such model, a form newer than this version knows, or numbers that do not fit
    /// together.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |why: String| Error::BadModel { why };
        // The version first: a newer form may look different altogether.
        #[derive(Deserialize)]
        struct Version {
            errbar_sigma_model: u32,
        }
        let version: Version = serde_json::from_str(text)
            .map_err(|error| bad(format!("it is no saved model of errbar ({error})")))?;
        if version.errbar_sigma_model > FORMAT {
            return Err(bad(format!(
                "it has form {}, and this version of errbar reads up to {FORMAT}; use a newer one",
                version.errbar_sigma_model
            )));
        }
        let saved: Saved = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        saved.model.check().map_err(|why| bad(why.into()))?;
        Ok(saved.model)
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
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
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
