//! Observations that cannot lie just anywhere: rain is not negative, a share is at most one.

/// The least and the most that an observation can be. What a law gives to values beyond a bound counts
/// as the bound itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY }
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
