//! Error bars you can trust on any forecast.
//!
//! A deterministic forecaster says one number $\mu$; later the observation $y$ comes in. This crate
//! is about $\sigma(x)$, the size of the error $\varepsilon = y - \mu$ as a function of the inputs:
//! how to learn it ([`fit`]), how to judge it ([`score`]) and the cost that makes it both *accurate*
//! and *reliable*, the Accuracy-Reliability cost of [Camporeale (2018)](https://arxiv.org/abs/1803.04475).
//!
//! Fit sigma to errors, predict, and ask the distributions:
//!
//! ```
//! use errbar::fit::{Options, Rows, fit};
//! use errbar::{Data, Silent};
//!
//! // One input; the errors grow with it.
//! let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
//! let error: Vec<f64> = x.iter().enumerate().map(|(i, x)| (0.1 + x) * (i as f64 * 2.4).sin()).collect();
//! let data = Data::new(&x, 1, &error)?;
//! let fitted = fit(&data, &["x".into()], &Options::default(), &Silent)?.fitted;
//!
//! let forecasts = fitted.predict(Rows::new(&[0.1, 0.9]).with_forecast(&[20.0, 30.0]))?;
//! let (low, high) = forecasts.interval(0.9)?;
//! assert!(low[0] < 20.0 && 20.0 < high[0] && high[1] - low[1] > high[0] - low[0]);
//! # Ok::<(), errbar::Error>(())
//! ```
//!
//! The crate takes numbers and gives numbers: it opens no files and prints nothing. Every input is
//! checked once, at the border, and a bad one is an [`Error`] that names the row and the value.
//! Results do not depend on the number of threads, nor on whether a workspace was used before.
//!
//! # Words
//!
//! | word | symbol | meaning |
//! |---|---|---|
//! | observation | $y$ | what was then observed |
//! | forecast | $\mu$ | what the forecaster said |
//! | error | $\varepsilon = y - \mu$ | |
//! | sigma | $\sigma > 0$ | the standard deviation given to that error |
//! | scaled error | $\eta = \varepsilon / (\sqrt2 \sigma)$ | $\mathcal N(0, \tfrac12)$ when calibrated |
//! | accuracy | CRPS | how close and how sharp |
//! | reliability | RS | whether the scaled errors have the distribution they claim |
//! | accuracy-reliability | AR | $\beta \mathrm{CRPS} + (1-\beta) \mathrm{RS}$ |

// The library neither prints nor panics.
#![warn(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod adapt;
mod boosting;
pub mod calendar;
pub mod categories;
mod checks;
mod choices;
pub mod cycles;
mod data;
pub mod diagnose;
pub mod ensemble;
mod error;
pub mod fit;
mod folds;
mod gaussian;
pub mod lags;
pub mod law;
pub mod loss;
pub mod math;
pub mod mean;
pub mod means;
mod monitor;
#[doc(hidden)]
pub mod optimize;
pub mod remedies;
pub mod rounds;
pub mod score;
pub mod series;
pub mod sigma;
pub mod walk;
pub mod words;

pub use categories::Category;
pub use data::{Data, Group, Split};
pub use error::{Error, Result};
pub use monitor::{Monitor, Silent, Task};

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
