//! Probability integral transforms and their histogram.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use super::chance::frequency_band;
use super::counts::PitCounts;
use crate::error::Result;
use crate::math::{self, Arithmetic, Kernel, dispatch, erfc_kernel};
use crate::score::sample::Sample;

/// The probability integral transform: the probability that the forecast gave to values up to the
/// observation,
///
/// $$u = \Phi(z) = \tfrac12 \operatorname{erfc}\big(-\varepsilon/\sqrt2\sigma\big).$$
///
/// Uniform on [0, 1] when the forecast is calibrated. Tails keep their relative accuracy.
#[must_use]
pub fn pit(error: f64, sigma: f64) -> f64 {
    0.5 * math::erfc(-(error / sigma) * FRAC_1_SQRT_2)
}

/// The transform of every row, in order.
#[must_use]
pub fn each_pit(sample: &Sample) -> Vec<f64> {
    let mut out = vec![0.0; sample.len()];
    dispatch(Pits { error: sample.error(), sigma: sample.sigma(), out: &mut out });
    out
}

struct Pits<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Pits<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for ((out, &error), &sigma) in self.out.iter_mut().zip(self.error).zip(self.sigma) {
            *out = 0.5 * erfc_kernel::<A>(-(error / sigma) * FRAC_1_SQRT_2);
        }
    }
}

/// How often the transforms fall in each of equal bins of [0, 1].
///
/// Flat when calibrated; a U says that sigma is too small, a hump that it is too large, a slope that
/// the forecast is biased.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PitHistogram {
    /// The share of the weight in each bin; they add up to 1.
    pub frequency: Vec<f64>,
    /// The lower end of the range that chance leaves to each bin of a calibrated forecast.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The probability of that range, bin by bin.
    pub confidence: f64,
}

impl PitHistogram {
    pub(crate) fn of_counts(
        counts: &PitCounts,
        bins: usize,
        rows: f64,
        confidence: f64,
    ) -> Result<Self> {
        super::check_probability("the confidence of a PIT histogram", confidence)?;
        let total = counts.total();
        let frequency = counts.histogram(bins)?.iter().map(|count| count / total).collect();
        let (low, high) = frequency_band(rows, 1.0 / bins as f64, confidence);
        Ok(Self { frequency, low, high, confidence })
    }
}

/// The histogram of the transforms in `bins` equal bins.
///
/// # Errors
/// A number of bins that does not divide [`PitCounts::FINE`], or a confidence outside (0, 1).
pub fn pit_histogram(sample: &Sample, bins: usize, confidence: f64) -> Result<PitHistogram> {
    let counts = PitCounts::of(&each_pit(sample), sample.weight());
    PitHistogram::of_counts(&counts, bins, sample.effective_rows(), confidence)
}
