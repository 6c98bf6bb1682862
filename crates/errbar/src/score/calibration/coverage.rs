//! Central intervals: how often they hold the observation, and how wide they are.

use std::f64::consts::SQRT_2;

use serde::{Deserialize, Serialize};

use super::chance::frequency_band;
use crate::error::Result;
use crate::math::{Arithmetic, Kernel, dispatch, erfinv};
use crate::score::block::{BLOCK, Sum, lane_sum, rows_of};
use crate::score::deterministic::mean_sigma;
use crate::score::sample::Sample;

/// What became of one central interval, $\mu \pm q \sigma$.
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

/// Half the width of a central interval in sigmas, $\sqrt2 \operatorname{erf}^{-1}(\text{level})$.
///
/// ```
/// assert!((errbar::score::calibration::half_width(0.95) - 1.959964).abs() < 1e-6);
/// ```
#[must_use]
pub fn half_width(level: f64) -> f64 {
    SQRT_2 * erfinv(level)
}

/// Coverage and mean width of the central intervals at the given levels.
///
/// # Errors
/// A level or a confidence outside (0, 1).
pub fn coverage(sample: &Sample, levels: &[f64], confidence: f64) -> Result<Vec<Coverage>> {
    for &level in levels {
        super::check_probability("the level of an interval", level)?;
    }
    let (mean_sigma, rows) = (mean_sigma(sample), sample.effective_rows());
    let half_widths: Vec<f64> = levels.iter().map(|&level| half_width(level)).collect();
    let mut inside = vec![Sum::default(); levels.len()];
    dispatch(Inside { sample, half_widths: &half_widths, inside: &mut inside });
    let one = |(&level, inside): (&f64, Sum)| {
        let observed = inside.value() / sample.total_weight();
        Coverage::new(level, observed, mean_sigma, rows, confidence)
    };
    levels.iter().zip(inside).map(one).collect()
}

/// The weight with $|\varepsilon| \le q \sigma$ for each q; block by block, so that a block is read
/// from memory once for all of them.
struct Inside<'a> {
    sample: &'a Sample<'a>,
    half_widths: &'a [f64],
    inside: &'a mut [Sum],
}

impl Kernel for Inside<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for block in 0..self.sample.len().div_ceil(BLOCK) {
            let rows = rows_of(block, self.sample.len());
            let error = &self.sample.error()[rows.clone()];
            let sigma = &self.sample.sigma()[rows.clone()];
            let pairs = error.iter().zip(sigma);
            for (inside, &q) in self.inside.iter_mut().zip(self.half_widths) {
                inside.add(match self.sample.weight() {
                    None => {
                        let within = |(e, s): (&f64, &f64)| u64::from(e.abs() <= q * s);
                        pairs.clone().map(within).sum::<u64>() as f64
                    }
                    Some(weight) => {
                        let mut buffer = [0.0; BLOCK];
                        for ((buffer, (e, s)), &w) in
                            buffer.iter_mut().zip(pairs.clone()).zip(&weight[rows.clone()])
                        {
                            *buffer = if e.abs() <= q * s { w } else { 0.0 };
                        }
                        lane_sum(&buffer[..error.len()])
                    }
                });
            }
        }
    }
}
