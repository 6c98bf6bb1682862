//! Forecasters for those who have none.
//!
//! The rest of the crate takes forecasts from elsewhere. Where there are only inputs and
//! observations, [`gaussian_process`] learns a mean, with leave-one-out errors to learn sigma from;
//! [`sparse`] does so for any number of rows, and [`in_turn`] learns mean and sigma together.
//! [`bias`] learns what a forecaster gets wrong on average, as a function of the inputs.

pub mod bias;
mod either;
pub mod gaussian_process;
pub mod in_turn;
pub mod sparse;

pub use either::{Forecast, Mean};
