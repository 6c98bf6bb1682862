//! Central intervals: how often they hold the observation, and how wide they are.

use std::f64::consts::SQRT_2;

use serde::{Deserialize, Serialize};

use super::chance::frequency_band;
use crate::error::Result;
use crate::math::erfinv;
use crate::score::block::{BLOCK, sum_blocks, weighted_sum};
use crate::score::deterministic::mean_sigma;
use crate::score::sample::Sample;

/// What became of one central interval, $\mu \pm q\,\sigma$.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The probability the interval claims.
    pub level: f64,
    /// The share of observations inside it.
    pub observed: f64,
    /// Its mean width, in the units of the observation.
    pub mean_width: f64,
    /// The lower end of the range that chance leaves to a calibrated forecast.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Coverage {
    pub(crate) fn new(
        level: f64,
        observed: f64,
        mean_sigma: f64,
        rows: f64,
        confidence: f64,
    ) -> Result<Self> {
        super::check_probability("the level of an interval", level)?;
        super::check_probability("the confidence of a coverage", confidence)?;
        let (low, high) = frequency_band(rows, level, confidence);
        let mean_width = 2.0 * half_width(level) * mean_sigma;
        Ok(Self { level, observed, mean_width, low, high })
    }
}

/// Half the width of a central interval in sigmas, $\sqrt2\,\mathrm{erf}^{-1}(\text{level})$.
pub(crate) fn half_width(level: f64) -> f64 {
    SQRT_2 * erfinv(level)
}

/// Coverage and mean width of the central intervals at the given levels.
///
/// # Errors
/// A level or a confidence outside (0, 1).
pub fn coverage(sample: &Sample, levels: &[f64], confidence: f64) -> Result<Vec<Coverage>> {
    let mean_sigma = mean_sigma(sample);
    let rows = sample.effective_rows();
    let one = |&level: &f64| {
        super::check_probability("the level of an interval", level)?;
        let observed = share_within(sample, half_width(level));
        Coverage::new(level, observed, mean_sigma, rows, confidence)
    };
    levels.iter().map(one).collect()
}

/// The share of the weight with $|\varepsilon| \le q\,\sigma$.
fn share_within(sample: &Sample, q: f64) -> f64 {
    let (error, sigma) = (sample.error(), sample.sigma());
    let [inside] = sum_blocks(sample.len(), |rows| {
        let mut buffer = [0.0; BLOCK];
        let inside = &mut buffer[..rows.len()];
        let pairs = error[rows.clone()].iter().zip(&sigma[rows.clone()]);
        for (inside, (error, sigma)) in inside.iter_mut().zip(pairs) {
            *inside = f64::from(u8::from(error.abs() <= q * sigma));
        }
        [weighted_sum(inside, sample.weight().map(|w| &w[rows]))]
    });
    inside.value() / sample.total_weight()
}
