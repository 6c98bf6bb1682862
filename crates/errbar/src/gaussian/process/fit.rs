//! Fitting: from data in any units to hyperparameters and back.

use super::correlation::Points;
use super::data::Data;
use super::likelihood::{Problem, Variance, Workspace};
use super::panels::padded;
use super::search::search;
use super::{GaussianProcess, Hyperparameters};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Silent, check};

/// How many length scales to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LengthScales {
    /// One, in units of each input's range.
    #[default]
    One,
    /// One for each input.
    PerInput,
}

/// What to do with noise variances that are known for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseScale {
    /// Take them as they are.
    AsGiven,
    /// Only their ratios are known: learn a common factor.
    Learned,
}

/// How to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many length scales to learn.
    pub length_scales: LengthScales,
    /// How many searches, from different places: the likelihood may have several maxima. At least
    /// one is done.
    pub starts: usize,
    /// Of the random ones among the places to start from.
    pub seed: u64,
    /// Whether one length scale near half the range of the inputs is taken as likelier beforehand.
    /// The likelihood of few rows hardly tells a short one from a long one, and the short one follows
    /// the noise. One for each input has no such prior: it must be free to leave inputs out.
    pub length_prior: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { length_scales: LengthScales::One, starts: 2, seed: 0, length_prior: false }
    }
}

/// Ranges and standard deviations must lie between this and its inverse, so that squares and
/// multiples of them stay within the doubles.
const SMALLEST: f64 = 1e-140;

impl GaussianProcess {
    /// Learns the hyperparameters from observations `y` at `inputs`, row by row with `columns`
    /// values each.
    ///
    /// Observations that are all equal give that constant, with no variance.
    ///
    /// # Errors
    /// No rows or columns, lengths that do not fit, values that are not finite, or data so spread
    /// out or so close together that their variance is beyond the range of doubles.
    pub fn fit(inputs: &[f64], columns: usize, y: &[f64], options: &Options) -> Result<Self> {
        Self::fit_watched(inputs, columns, y, options, &Silent)
    }

    /// [`GaussianProcess::fit`] that a monitor can stop.
    ///
    /// # Errors
    /// As [`GaussianProcess::fit`], and when the monitor asked to stop.
    pub fn fit_watched(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let data = Data::new(inputs, columns, y, None)?;
        let noise = vec![1.0; y.len()];
        fit(data, noise, Variance::Free, options, monitor)
    }

    /// [`GaussianProcess::fit`] with a noise variance for each row.
    ///
    /// The predictive variance then has the average noise added: where the noise at the predicted
    /// place is known, add it to the latent variance instead.
    ///
    /// # Errors
    /// As [`GaussianProcess::fit`], and a noise variance that is negative or not finite.
    pub fn fit_with_noise(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        noise: &[f64],
        scale: NoiseScale,
        options: &Options,
    ) -> Result<Self> {
        Self::fit_with_noise_watched(inputs, columns, y, noise, scale, options, &Silent)
    }

    pub(crate) fn fit_with_noise_watched(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        noise: &[f64],
        scale: NoiseScale,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let data = Data::new(inputs, columns, y, Some(noise))?;
        let mean = mean(noise);
        if mean != 0.0 {
            check_spread("the noise variance", mean)?;
        }
        let relative = noise.iter().map(|noise| if mean > 0.0 { noise / mean } else { 0.0 });
        let variance = match scale {
            NoiseScale::Learned if mean > 0.0 => Variance::Free,
            _ => Variance::KnownNoise(mean),
        };
        fit(data, relative.collect(), variance, options, monitor)
    }
}

/// `noise` is relative, 1 on average; a known one is in the original units.
fn fit(
    mut data: Data,
    noise: Vec<f64>,
    variance: Variance,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<GaussianProcess> {
    let (low, high) = (data.low(), data.high());
    let mut range: Vec<f64> = high.iter().zip(&low).map(|(high, low)| high - low).collect();
    for range in &mut range {
        match *range {
            // A constant column: as if its length scale were infinite.
            0.0 => *range = f64::INFINITY,
            range => check_spread("an input", range)?,
        }
    }
    let mean = mean(&data.y);
    let deviation = deviation(&data.y, mean);
    let scale = match variance {
        Variance::KnownNoise(noise) if deviation == 0.0 => noise.sqrt(),
        _ => deviation,
    };
    if scale == 0.0 {
        data.noise = None;
        // The observation itself: a mean may be rounded.
        let mean = data.y.first().copied().unwrap_or(mean);
        let length_scales = vec![f64::INFINITY; data.columns];
        let nothing =
            Hyperparameters { mean, signal_variance: 0.0, length_scales, noise_variance: 0.0 };
        return GaussianProcess::condition(data, nothing);
    }
    check_spread("y", scale)?;
    let mut y: Vec<f64> = data.y.iter().map(|y| (y - mean) / scale).collect();
    y.resize(padded(y.len()), 0.0);
    let problem = Problem {
        points: Points::scaled(&data.inputs, &low, &range),
        y,
        noise,
        variance: match variance {
            Variance::Free => Variance::Free,
            Variance::KnownNoise(noise) => Variance::KnownNoise(noise / (scale * scale)),
        },
    };
    let failed = Error::NotPositiveDefinite { rows: data.y.len() };
    let covariance = search(&problem, options, monitor);
    check(monitor)?;
    let covariance = covariance.ok_or_else(|| failed.clone())?;
    let value = problem.value(&covariance, &mut Workspace::new(&problem)).ok_or(failed)?;
    let lengths = covariance.log_lengths.iter().zip(&range);
    let hyperparameters = Hyperparameters {
        mean,
        signal_variance: value.signal * scale * scale,
        length_scales: lengths.map(|(log_length, range)| log_length.exp() * range).collect(),
        noise_variance: value.noise * scale * scale,
    };
    if let (Some(rows), Variance::Free) = (&mut data.noise, variance) {
        let rows_and_noise = rows.iter_mut().zip(&problem.noise);
        rows_and_noise.for_each(|(row, noise)| *row = noise * hyperparameters.noise_variance);
    }
    GaussianProcess::condition(data, hyperparameters)
}

pub(crate) fn check_spread(what: &'static str, spread: f64) -> Result<()> {
    if (SMALLEST..=1.0 / SMALLEST).contains(&spread) {
        Ok(())
    } else {
        Err(Error::SpreadOutOfRange { what, spread })
    }
}

/// The mean and the standard deviation; the deviation of equal values is exactly 0.
pub(crate) fn spread_of(values: &[f64]) -> (f64, f64) {
    let mean = mean(values);
    match deviation(values, mean) {
        // The value itself: a mean may be rounded.
        0.0 => (values.first().copied().unwrap_or(mean), 0.0),
        deviation => (mean, deviation),
    }
}

/// Divides before it adds: no sum overflows.
pub(super) fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    values.iter().map(|value| value / n).sum()
}

/// The standard deviation, exactly 0 when all values are equal.
fn deviation(values: &[f64], mean: f64) -> f64 {
    if values.iter().all(|value| Some(value) == values.first()) {
        return 0.0;
    }
    let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    let squares: f64 = values.iter().map(|value| ((value - mean) / largest).powi(2)).sum();
    largest * (squares / values.len() as f64).sqrt()
}
