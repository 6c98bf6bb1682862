//! Predictive laws: the distribution that is put around a forecast.
//!
//! A law has a location, where the forecast is, and a scale, which the inputs decide. What it says of
//! an observation (how probable values beyond a threshold are, what it exceeds with a given
//! probability, how well it did) is here and nowhere else.

mod bounds;
mod normal;

pub use bounds::Bounds;
pub use normal::Normal;
