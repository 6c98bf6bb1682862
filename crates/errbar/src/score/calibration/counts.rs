//! Fine counts of probability integral transforms, which can be merged.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::score::json;

/// The weight in each of [`PitCounts::FINE`] equal bins of [0, 1], closed on the right.
///
/// Everything that looks at frequencies at round levels can be read off these counts exactly, and
/// counts of parts of the data add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PitCounts {
    #[serde(deserialize_with = "json::exactly::<_, _, { PitCounts::FINE }>")]
    counts: Vec<f64>,
}

impl Default for PitCounts {
    fn default() -> Self {
        Self { counts: vec![0.0; Self::FINE] }
    }
}

impl PitCounts {
    /// The number of fine bins: 2⁴·3²·5³, so that most numbers of bins a person asks for divide it.
    pub const FINE: usize = 18_000;

    pub(crate) fn of(pit: &[f64], weight: Option<&[f64]>) -> Self {
        let mut counts = Self::default();
        match weight {
            None => pit.iter().for_each(|&u| counts.add(u, 1.0)),
            Some(weight) => pit.iter().zip(weight).for_each(|(&u, &w)| counts.add(u, w)),
        }
        counts
    }

    /// Counts one transform.
    pub(crate) fn add(&mut self, pit: f64, weight: f64) {
        let bin = (pit * Self::FINE as f64).ceil() - 1.0;
        self.counts[(bin.max(0.0) as usize).min(Self::FINE - 1)] += weight;
    }

    /// The weight in each bin.
    pub(crate) fn bins(&self) -> &[f64] {
        &self.counts
    }

    pub(crate) fn bins_mut(&mut self) -> &mut [f64] {
        &mut self.counts
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
    }

    /// The weight counted so far.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The weight in each of `bins` equal bins.
    ///
    /// # Errors
    /// A number of bins that does not divide [`PitCounts::FINE`].
    pub fn histogram(&self, bins: usize) -> Result<Vec<f64>> {
        if bins == 0 || !Self::FINE.is_multiple_of(bins) {
            return Err(Error::BadBins {
                what: "probability integral transforms",
                bins,
                allowed: "the number must divide 18,000: 10, 12, 15, 20, 25, 30, 40, 50 or 100, say",
            });
        }
        Ok(self.counts.chunks_exact(Self::FINE / bins).map(|bin| bin.iter().sum()).collect())
    }

    /// The weight of transforms up to `p`: exact where `p` is a multiple of 1/18,000, interpolated
    /// inside a fine bin elsewhere.
    #[must_use]
    pub fn up_to(&self, p: f64) -> f64 {
        let place = (p.clamp(0.0, 1.0)) * Self::FINE as f64;
        // A level such as 0.95 is not a double: do not let its rounding cost a bin.
        let near = place.round();
        let place = if (place - near).abs() < 1e-9 * Self::FINE as f64 { near } else { place };
        let whole = (place as usize).min(Self::FINE);
        let below: f64 = self.counts[..whole].iter().sum();
        let part = self.counts.get(whole).map_or(0.0, |count| count * (place - whole as f64));
        below + part
    }
}
