//! Forecasts by one interval: the interval score, coverage, what lies on either side.

use serde::Serialize;

use super::bootstrap::{self, Draws, Interval};
use super::calibration::check_probability;
use super::sample::Sample;
use crate::checks::{check_finite, check_length, check_rows};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Intervals of one level and the observations that followed, checked once.
#[derive(Debug, Clone, Copy)]
pub struct CentralIntervals<'a> {
    low: &'a [f64],
    high: &'a [f64],
    level: f64,
    observation: &'a [f64],
}

/// How good intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IntervalScores {
    /// The number of rows.
    pub rows: usize,
    /// The share of observations that they are to hold.
    pub level: f64,
    /// The mean interval score (Winkler's),
    ///
    /// $$(u - l) + \tfrac2\alpha (l - y)\_+ + \tfrac2\alpha (y - u)\_+, \quad \alpha = 1 - \text{level},$$
    ///
    /// the width, and a fine for what it misses: least on average for the interval whose ends are the quantiles
    /// $\alpha/2$ and $1 - \alpha/2$ (Gneiting and Raftery, [2007](https://doi.org/10.1198/016214506000001437)).
    pub score: f64,
    /// The share of observations inside.
    pub coverage: f64,
    /// The share below.
    pub below: f64,
    /// The share above.
    pub above: f64,
    /// The mean width.
    pub mean_width: f64,
    /// The interval of the score,
    pub score_interval: Interval,
    /// of the coverage,
    pub coverage_interval: Interval,
    /// of the share below,
    pub below_interval: Interval,
    /// and of that above.
    pub above_interval: Interval,
    /// Rows that were drawn together for them.
    pub block: usize,
}

impl<'a> CentralIntervals<'a> {
    /// From where the intervals begin and end, their level and the observations.
    ///
    /// # Errors
    /// No rows, different lengths, a value that is not finite, a level that is no probability, or an interval that ends
    /// below where it begins.
    pub fn new(
        low: &'a [f64],
        high: &'a [f64],
        level: f64,
        observation: &'a [f64],
    ) -> Result<Self> {
        check_rows(observation.len())?;
        check_length("low", low.len(), "observation", observation.len())?;
        check_length("high", high.len(), "observation", observation.len())?;
        check_finite("observation", observation)?;
        check_finite("the low end of an interval", low)?;
        check_finite("the high end of an interval", high)?;
        check_probability("the level of an interval", level)?;
        let turned = |&(_, (low, high)): &(usize, (&f64, &f64))| high < low;
        match low.iter().zip(high).enumerate().find(turned) {
            Some((index, (&low, &high))) => Err(Error::IntervalTurned { index, low, high }),
            None => Ok(Self { low, high, level, observation }),
        }
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.observation.len()
    }

    /// The share of observations that they are to hold.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Their ends.
    #[must_use]
    pub fn ends(&self) -> (&'a [f64], &'a [f64]) {
        (self.low, self.high)
    }

    /// The observations.
    #[must_use]
    pub fn observation(&self) -> &'a [f64] {
        self.observation
    }

    /// The interval score of each row.
    #[must_use]
    pub fn scores(&self) -> Vec<f64> {
        let ends = self.low.iter().zip(self.high);
        let fine = 2.0 / (1.0 - self.level);
        let one = |((l, u), y): ((&f64, &f64), &f64)| {
            (u - l) + fine * (l - y).max(0.0) + fine * (y - u).max(0.0)
        };
        ends.zip(self.observation).map(one).collect()
    }

    /// Everything about them; with a weight for each row, if there are some.
    ///
    /// # Errors
    /// Weights that are none, an option out of its range, or the monitor stopped it.
    pub fn judge(
        &self,
        weight: Option<&[f64]>,
        options: &bootstrap::Options,
        monitor: &dyn Monitor,
    ) -> Result<IntervalScores> {
        // How rows go together is told by where observations fall, in half widths.
        let middle = |row: usize| 0.5 * self.low[row] + 0.5 * self.high[row];
        let error: Vec<f64> = (0..self.len())
            .map(|row| (self.observation[row] - middle(row)).clamp(f64::MIN, f64::MAX))
            .collect();
        let half = |row: usize| 0.5 * self.high[row] - 0.5 * self.low[row];
        let halves: Vec<f64> = (0..self.len()).map(half).collect();
        let mean = halves.iter().map(|half| half / self.len() as f64).sum::<f64>();
        let floor = if mean > 0.0 { (1e-6 * mean).max(f64::MIN_POSITIVE) } else { 1.0 };
        let halves: Vec<f64> = halves.iter().map(|half| half.max(floor)).collect();
        let sample = Sample::new(&error, &halves)?.maybe_weighted(weight)?;
        let weights: Vec<f64> = match sample.weight() {
            Some(weight) => weight.to_vec(),
            None => vec![1.0; self.len()],
        };
        let rows = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let one = |row: usize| if weights[row] > 0.0 { weights[row] * of(row) } else { 0.0 };
            (0..self.len()).map(one).collect()
        };
        let scores = self.scores();
        let (y, one) = (self.observation, |is: bool| f64::from(u8::from(is)));
        let columns = [
            weights.clone(),
            rows(&|row| scores[row]),
            rows(&|row| one(y[row] < self.low[row])),
            rows(&|row| one(y[row] > self.high[row])),
            rows(&|row| self.high[row] - self.low[row]),
        ];
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let draws = Draws::of(
            &columns,
            std::slice::from_ref(&sample),
            options,
            |sums| sums[0] > 0.0,
            monitor,
        )?;
        let total: f64 = weights.iter().sum();
        let mean = |which: usize| columns[which].iter().sum::<f64>() / total;
        let (below, above) = (mean(2), mean(3));
        let share = |value: f64, of: &dyn Fn(&[f64]) -> f64| {
            draws.share(value, sample.effective_rows(), of)
        };
        Ok(IntervalScores {
            rows: self.len(),
            level: self.level,
            score: mean(1),
            coverage: 1.0 - below - above,
            below,
            above,
            mean_width: mean(4),
            score_interval: draws.interval(|sums| sums[1] / sums[0]),
            coverage_interval: share(1.0 - below - above, &|s| 1.0 - (s[2] + s[3]) / s[0]),
            below_interval: share(below, &|sums| sums[2] / sums[0]),
            above_interval: share(above, &|sums| sums[3] / sums[0]),
            block: draws.drawn.0,
        })
    }
}
