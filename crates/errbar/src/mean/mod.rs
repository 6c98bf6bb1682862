//! Forecasters for those who have none.
//!
//! The rest of the crate takes forecasts from elsewhere. Where there are only inputs and
//! observations, [`gaussian_process`] learns a mean, with leave-one-out errors to learn sigma from;
//! [`sparse`] does so for any number of rows, and [`heteroscedastic`] learns mean and sigma together.
//! [`bias`] learns what a forecaster gets wrong on average, as a function of the inputs.

pub mod bias;
pub mod heteroscedastic;
#[expect(clippy::module_inception, reason = "the mean is what the module is about")]
mod mean;
pub mod sparse;

pub use self::mean::{Forecast, Mean};
pub use crate::gaussian::process as gaussian_process;
