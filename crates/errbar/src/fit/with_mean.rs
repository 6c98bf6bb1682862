//! Forecast and error bars from observations alone.

use super::{Fit, Kind, LEAST_ROWS, Options, fit};
use crate::data::Data;
use crate::error::Result;
use crate::mean::{Mean, gaussian_process, heteroscedastic};
use crate::monitor::{Monitor, Stage};

/// Learns a mean of observations at row-major inputs, and the error of each observation when it is
/// forecast from all the others.
///
/// # Errors
/// As [`heteroscedastic::fit`].
pub fn learn_mean(
    inputs: &[f64],
    columns: usize,
    observation: &[f64],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<(Mean, Vec<f64>)> {
    let own = gaussian_process::Options { seed: options.seed, ..Default::default() };
    let mean = heteroscedastic::fit(inputs, columns, observation, options.loss, &own, monitor)?;
    let left = mean.leave_one_out(inputs, observation)?;
    Ok((mean, left.map(|left| left.error).unwrap_or_default()))
}

/// A model that makes the forecast itself, by a mean of the observations, and knows its error.
///
/// ```
/// use errbar::Silent;
/// use errbar::fit::{Options, fit_with_mean};
///
/// let x: Vec<f64> = (0..60).map(|i| i as f64 / 10.0).collect();
/// let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x.sin() + 0.1 * (i as f64 * 2.4).sin()).collect();
/// let fitted = fit_with_mean(&x, 1, &y, &["x".into()], &Options::default(), &Silent)?.fitted;
/// let (low, high) = fitted.predict(&[1.5])?.interval(0.9)?;
/// assert!(low[0] < 1.0 && 1.0 < high[0]);
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// As [`learn_mean`] and [`fit()`].
pub fn fit_with_mean(
    inputs: &[f64],
    columns: usize,
    observation: &[f64],
    names: &[String],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Fit> {
    let first = Stage { whole: monitor, from: 0.0, to: 0.7 };
    let (mean, error) = learn_mean(inputs, columns, observation, options, &first)?;
    let then = Stage { whole: monitor, from: 0.7, to: 1.0 };
    let options = options.beside_a_mean(observation.len());
    let data = Data::new(inputs, columns, &error)?.maybe_observed(Some(observation))?;
    let Fit { fitted, held_out } = fit(&data, names, &options, &then)?;
    Ok(Fit { fitted: fitted.with_mean(mean), held_out })
}

impl Options {
    /// The same for errors of a mean that errbar has learned: it was made with a smooth sigma, which has
    /// a band of its own.
    #[must_use]
    pub fn beside_a_mean(&self, rows: usize) -> Self {
        match self.kind {
            Kind::Auto if rows >= LEAST_ROWS => Self { kind: Kind::Smooth, ..*self },
            _ => *self,
        }
    }
}
