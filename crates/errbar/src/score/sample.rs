//! The checked input of every score.

use std::borrow::Cow;

use super::block::{lane_sum, sum_blocks};
use super::deterministic::mean_of;
use crate::checks::{check_finite, check_length, check_rows, check_sigma, errors_of};
use crate::error::{Error, Result};

/// Errors, the sigmas given to them and optional weights, checked once.
///
/// Holding a `Sample` means: at least one row, equal lengths, every value finite, every
/// $\sigma > 0$, every weight $\ge 0$ and not all of them zero. So no score has to check again.
///
/// ```
/// use errbar::score::{crps, Sample};
///
/// let sample = Sample::new(&[0.3, -1.2, 0.7], &[1.0, 1.0, 0.5])?.weighted(&[1.0, 2.0, 1.0])?;
/// assert!(crps::mean(&sample) > 0.0);
///
/// let bad = Sample::new(&[0.3, -1.2], &[1.0, 0.0]).unwrap_err();
/// assert_eq!(
///     bad.to_string(),
///     "sigma at row 1 is 0: a standard deviation must be greater than 0"
/// );
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sample<'a> {
    errors: Errors<'a>,
    sigma: &'a [f64],
}

/// Errors and optional weights, checked: what a sample and a cost have in common.
#[derive(Debug, Clone)]
pub(crate) struct Errors<'a> {
    pub(crate) error: Cow<'a, [f64]>,
    pub(crate) weight: Option<Cow<'a, [f64]>>,
    /// The sum of the weights.
    pub(crate) total: f64,
    /// Rows with a weight above zero.
    pub(crate) counted: usize,
    /// Whether the sum of the weights as given is well inside the range of doubles.
    pub(crate) in_range: bool,
    /// The weights as given are those held here times two to this power.
    pub(crate) exponent: i32,
}

impl<'a> Errors<'a> {
    pub(crate) fn new(error: Cow<'a, [f64]>) -> Result<Self> {
        check_rows(error.len())?;
        check_finite("error", &error)?;
        let counted = error.len();
        Ok(Self {
            error,
            weight: None,
            total: counted as f64,
            counted,
            in_range: true,
            exponent: 0,
        })
    }

    pub(crate) fn weighted(self, weight: Option<&'a [f64]>) -> Result<Self> {
        let Some(weight) = weight else { return Ok(self) };
        check_length("weight", weight.len(), "error", self.error.len())?;
        check_finite("weight", weight)?;
        if let Some(index) = weight.iter().position(|&w| w < 0.0) {
            return Err(Error::NegativeWeight { index, value: weight[index] });
        }
        let counted = weight.iter().filter(|&&w| w > 0.0).count();
        if counted == 0 {
            return Err(Error::AllWeightsZero { rows: weight.len() });
        }
        let in_range = (1e-60..1e60).contains(&total_of(weight));
        // Near one, so that weights times scores stay in the range of doubles; by a power of two,
        // which rounds nothing.
        let largest = weight.iter().copied().fold(0.0, f64::max);
        let exponent = libm::ilogb(largest);
        let (weight, exponent) = if exponent.abs() < 10 {
            (Cow::Borrowed(weight), 0)
        } else {
            (weight.iter().map(|&w| libm::scalbn(w, -exponent)).collect(), exponent)
        };
        let total = total_of(&weight);
        Ok(Self { weight: Some(weight), total, counted, in_range, exponent, ..self })
    }

    pub(crate) fn borrow(&self) -> Errors<'_> {
        Errors {
            error: Cow::Borrowed(&self.error),
            weight: self.weight.as_deref().map(Cow::Borrowed),
            ..*self
        }
    }

    pub(crate) fn into_owned(self) -> Errors<'static> {
        Errors {
            error: Cow::Owned(self.error.into_owned()),
            weight: self.weight.map(|w| Cow::Owned(w.into_owned())),
            total: self.total,
            counted: self.counted,
            in_range: self.in_range,
            exponent: self.exponent,
        }
    }

    pub(crate) fn mean_absolute(&self) -> f64 {
        mean_of(self, &self.error, f64::abs)
    }
}

impl<'a> Sample<'a> {
    /// From errors (observation minus forecast) and sigmas.
    ///
    /// # Errors
    /// No rows, different lengths, a value that is not finite, or a sigma that is not positive.
    pub fn new(error: &'a [f64], sigma: &'a [f64]) -> Result<Self> {
        let errors = Errors::new(Cow::Borrowed(error))?;
        check_length("sigma", sigma.len(), "error", error.len())?;
        check_sigma(sigma)?;
        Ok(Self { errors, sigma })
    }

    /// The same rows with other errors.
    pub(crate) fn with_errors(&self, error: &'a [f64]) -> Result<Self> {
        check_length("error", error.len(), "sigma", self.sigma.len())?;
        check_finite("error", error)?;
        let errors = Errors { error: Cow::Borrowed(error), ..self.errors.clone() };
        Ok(Self { errors, sigma: self.sigma })
    }

    /// From observations, forecasts and sigmas.
    ///
    /// # Errors
    /// As [`Sample::new`], and when observation minus forecast overflows.
    pub fn from_forecasts(observation: &[f64], forecast: &[f64], sigma: &'a [f64]) -> Result<Self> {
        let error = errors_of(observation, forecast)?;
        check_length("sigma", sigma.len(), "observation", observation.len())?;
        check_sigma(sigma)?;
        Ok(Self { errors: Errors::new(Cow::Owned(error))?, sigma })
    }

    /// The same sample with a weight for each row; only ratios of weights matter.
    ///
    /// # Errors
    /// A different length, a weight that is negative or not finite, or all weights zero.
    pub fn weighted(self, weight: &'a [f64]) -> Result<Self> {
        self.maybe_weighted(Some(weight))
    }

    /// [`Sample::weighted`] when there are weights, the sample as it is when there are none.
    ///
    /// # Errors
    /// As [`Sample::weighted`].
    pub fn maybe_weighted(self, weight: Option<&'a [f64]>) -> Result<Self> {
        Ok(Self { errors: self.errors.weighted(weight)?, ..self })
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a sample is never empty
    pub fn len(&self) -> usize {
        self.sigma.len()
    }

    /// The errors, observation minus forecast.
    #[must_use]
    pub fn error(&self) -> &[f64] {
        &self.errors.error
    }

    /// The sigmas.
    #[must_use]
    pub fn sigma(&self) -> &[f64] {
        self.sigma
    }

    /// The weights, if there are any. Very large or small ones are held in other units (a power of
    /// two): only their ratios matter.
    #[must_use]
    pub fn weight(&self) -> Option<&[f64]> {
        self.errors.weight.as_deref()
    }

    /// The number of rows with a weight above zero: the N of the heuristic beta.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.errors.counted
    }

    /// The sum of the weights as held (the number of rows when there are none).
    #[must_use]
    pub fn total_weight(&self) -> f64 {
        self.errors.total
    }

    /// The weighted mean of one value for each row.
    pub(crate) fn mean(&self, values: &[f64]) -> f64 {
        mean_of(&self.errors, values, |value| value)
    }

    /// The number of equally weighted rows that would be as informative,
    /// $(\sum w)^2 / \sum w^2$ (Kish).
    #[must_use]
    pub fn effective_rows(&self) -> f64 {
        match self.weight() {
            None => self.len() as f64,
            Some(weight) => {
                let total = self.total_weight();
                1.0 / mean_of(&self.errors, weight, |w| w / total)
            }
        }
    }

    pub(crate) fn errors(&self) -> &Errors<'a> {
        &self.errors
    }
}

fn total_of(weight: &[f64]) -> f64 {
    let [sum] = sum_blocks(weight.len(), |rows| [lane_sum(&weight[rows])]);
    sum.value()
}
