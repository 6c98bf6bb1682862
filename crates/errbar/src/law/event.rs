//! The probability of an event by a law.

use super::{Bounds, ErrorLaw};
use crate::score::events::{Event, Side};

impl Event {
    /// The probability of it around a forecast, by the law of the error in units of sigma; `bounds` are those of the
    /// error, at which the law has what lies beyond them.
    #[must_use]
    pub fn probability(&self, forecast: f64, sigma: f64, law: &ErrorLaw, bounds: Bounds) -> f64 {
        let error = self.threshold - forecast;
        // Where the threshold is at a bound or beyond, all is on one side.
        let (none, all) = match self.side {
            Side::Above => (error >= bounds.upper(), error < bounds.lower()),
            Side::AtLeast => (error > bounds.upper(), error <= bounds.lower()),
            Side::Below => (error <= bounds.lower(), error > bounds.upper()),
            Side::AtMost => (error < bounds.lower(), error >= bounds.upper()),
        };
        match (none, all, self.is_above()) {
            (true, ..) => 0.0,
            (_, true, _) => 1.0,
            (.., true) => law.exceed(error / sigma).clamp(0.0, 1.0),
            (.., false) => law.cdf(error / sigma).clamp(0.0, 1.0),
        }
    }
}
