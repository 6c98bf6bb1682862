//! Observations that cannot lie just anywhere: rain is not negative, a share is at most one.

use serde::{Deserialize, Serialize};

/// The least and the most that an observation can be. What a law gives to values beyond a bound counts
/// as the bound itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Bounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }
}

/// As they are written: JSON has no infinity.
#[derive(Serialize, Deserialize)]
struct Saved {
    lower: Option<f64>,
    upper: Option<f64>,
}

impl From<Bounds> for Saved {
    fn from(bounds: Bounds) -> Self {
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        Self { lower: finite(bounds.lower), upper: finite(bounds.upper) }
    }
}

impl TryFrom<Saved> for Bounds {
    type Error = &'static str;

    fn try_from(saved: Saved) -> Result<Self, Self::Error> {
        Self::new(saved.lower, saved.upper).ok_or("its bounds leave nothing between them")
    }
}

impl Bounds {
    /// From the least to the most; `None` where there is no bound, or for both when they leave nothing
    /// between them.
    #[must_use]
    pub fn new(lower: Option<f64>, upper: Option<f64>) -> Option<Self> {
        let lower = lower.unwrap_or(f64::NEG_INFINITY);
        let upper = upper.unwrap_or(f64::INFINITY);
        (lower < upper).then_some(Self { lower, upper })
    }

    /// The least.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The most.
    #[must_use]
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// Whether there is none.
    #[must_use]
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// The bounds of an error whose observation is known: as far from it as those of the observation.
    pub(crate) fn of_error(&self, error: f64, observation: f64) -> Self {
        Self {
            lower: error - (observation - self.lower),
            upper: error + (self.upper - observation),
        }
    }

    /// The bounds of an error in units of sigma, where that was brought nearer to `z`: they are still as
    /// far from it.
    pub(crate) fn of_far(&self, error: f64, sigma: f64, z: f64) -> Self {
        let (lower, upper) = (error - self.lower, self.upper - error);
        Self { lower: z - lower / sigma, upper: z + upper / sigma }
    }

    /// The bounds of the error of a forecast.
    pub(crate) fn around(&self, forecast: f64) -> Self {
        Self { lower: self.lower - forecast, upper: self.upper - forecast }
    }

    /// The bounds in another unit.
    pub(crate) fn over(&self, unit: f64) -> Self {
        Self { lower: self.lower / unit, upper: self.upper / unit }
    }

    /// Whether an observation can be this.
    #[must_use]
    pub fn hold(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// The value, or the bound that it lies beyond; NaN stays NaN.
    #[must_use]
    pub fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.lower, self.upper)
    }
}
