//! The checked input of every score of an event.

use crate::checks::{check_length, check_rows};
use crate::error::{Error, Result};
use crate::score::sample::Sample;

/// Probabilities given to an event, whether it then happened, and optional weights, checked once.
#[derive(Debug, Clone, Copy)]
pub struct EventSample<'a> {
    pub(super) probability: &'a [f64],
    pub(super) happened: &'a [bool],
    pub(super) weight: Option<&'a [f64]>,
}

impl<'a> EventSample<'a> {
    /// From probabilities and what happened.
    ///
    /// # Errors
    /// No rows, different lengths, or a probability outside 0 to 1.
    pub fn new(probability: &'a [f64], happened: &'a [bool]) -> Result<Self> {
        check_rows(probability.len())?;
        check_length("happened", happened.len(), "probability", probability.len())?;
        let wrong = probability.iter().position(|p| !(0.0..=1.0).contains(p));
        match wrong {
            Some(index) => Err(Error::NoProbability { index, value: probability[index] }),
            None => Ok(Self { probability, happened, weight: None }),
        }
    }

    /// With a weight for each row, if there are some; only their ratios matter.
    ///
    /// # Errors
    /// A different length, a weight that is negative or not finite, or all weights zero.
    pub fn maybe_weighted(self, weight: Option<&'a [f64]>) -> Result<Self> {
        // The checks are those of any sample.
        Sample::new(self.probability, &vec![1.0; self.len()])?.maybe_weighted(weight)?;
        Ok(Self { weight, ..self })
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a sample is never empty
    pub fn len(&self) -> usize {
        self.probability.len()
    }

    pub(super) fn weight_of(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row])
    }

    /// Each row's weight over the largest, so that sums stay in range.
    pub(super) fn weights(&self) -> Vec<f64> {
        let largest = self.weight.map_or(1.0, |w| w.iter().copied().fold(0.0, f64::max));
        (0..self.len()).map(|row| self.weight_of(row) / largest).collect()
    }
}
