//! Forecasts by quantiles: pinball losses, CRPS and what bounds it, calibration.
//!
//! ```
//! use errbar::score::{Several, quantiles::Quantiles};
//!
//! let values = [1.0, 2.0, 4.0];
//! let quantiles = Quantiles::new(Several::by_row(&values, 3)?, &[0.1, 0.5, 0.9], &[3.0])?;
//! // 0.1 (3 - 1), 0.5 (3 - 2), 0.1 (4 - 3)
//! let losses = quantiles.pinball(None);
//! assert!(losses.iter().zip([0.2, 0.5, 0.1]).all(|(a, b)| (a - b).abs() < 1e-15));
//! let crps = quantiles.crps();
//! assert!(crps[0].least <= crps[0].value && crps[0].value <= crps[0].most);
//! # Ok::<(), errbar::Error>(())
//! ```

use serde::Serialize;

use super::sample::Sample;
use super::several::Several;
use crate::checks::{check_finite, check_length};
use crate::error::{Error, Result};

/// Quantiles of each row and the observations that followed, checked once.
#[derive(Debug, Clone)]
pub struct Quantiles<'a> {
    values: Several<'a>,
    observation: &'a [f64],
    /// Ascending,
    levels: Vec<f64>,
    /// with the column of each.
    order: Vec<usize>,
    crossings: Crossings,
}

/// Rows in which a quantile is below one of a smaller level. Their quantiles are put in order before they are judged,
/// which never makes a pinball loss larger on average (Chernozhukov et al., [2010](https://doi.org/10.3982/ECTA7880)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Crossings {
    /// How many rows.
    pub rows: usize,
    /// The first of them, counted from 0.
    pub first: Option<usize>,
    /// The levels of a pair that crosses there.
    pub levels: Option<(f64, f64)>,
    /// By how much at most a quantile is below one of a smaller level.
    pub largest: f64,
}

/// The CRPS of a row of quantiles, as far as they tell it.
///
/// CRPS is twice the integral of the pinball loss over all levels, and quantiles are given at some. `value` is that of the
/// law which goes straight from each quantile to the next and does not reach beyond the outermost ones, at which it has
/// the probability that they leave out: an integral in closed form. `least` and `most` are the least and the largest CRPS of
/// *any* law that has these quantiles and does not reach beyond the outermost ones; `least` is that of any law that has
/// them, whatever its tails. A law with longer tails may have more than `most`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileCrps {
    /// That of straight lines between the quantiles.
    pub value: f64,
    /// The least that any law with these quantiles has.
    pub least: f64,
    /// The most that a law with these quantiles has that does not reach beyond them.
    pub most: f64,
}

/// What is said of quantiles beside what is said of every forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileScores {
    /// The levels, ascending.
    pub levels: Vec<f64>,
    /// The mean pinball loss at each level,
    pub pinball: Vec<f64>,
    /// and the mean of these.
    pub mean_pinball: f64,
    /// The share of observations at or below each quantile, which is its level when calibrated.
    pub shares_below: Vec<f64>,
    /// The least mean CRPS of any law with these quantiles,
    pub crps_least: f64,
    /// and the most of one that does not reach beyond the outermost ([`QuantileCrps`]).
    pub crps_most: f64,
    /// Rows whose quantiles are not in order.
    pub crossings: Crossings,
}

/// $\int\_a^b \tau d\tau$ and $\int\_a^b (1 - \tau) d\tau$.
fn integrals(a: f64, b: f64) -> (f64, f64) {
    let below = 0.5 * (b - a) * (b + a);
    (below, (b - a) - below)
}

impl<'a> Quantiles<'a> {
    /// From the quantiles of each row, the level of each column, in any order, and the observations.
    ///
    /// # Errors
    /// Different lengths, a value that is not finite, not one level for each column, or a level that is no probability or
    /// given twice.
    pub fn new(values: Several<'a>, levels: &[f64], observation: &'a [f64]) -> Result<Self> {
        check_length("observation", observation.len(), "quantiles", values.rows())?;
        check_finite("observation", observation)?;
        if levels.len() != values.columns() {
            return Err(Error::WrongLevels { levels: levels.len(), columns: values.columns() });
        }
        for &level in levels {
            super::calibration::check_probability("the level of a quantile", level)?;
        }
        if let Some(place) = values.values().iter().position(|value| !value.is_finite()) {
            let (index, value) = (values.row_of(place), values.values()[place]);
            return Err(Error::NotFinite { what: "a quantile", index, value });
        }
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| levels[a].total_cmp(&levels[b]));
        let levels: Vec<f64> = order.iter().map(|&column| levels[column]).collect();
        if let Some(pair) = levels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::LevelTwice { level: pair[0] });
        }
        let mut crossings = Crossings { rows: 0, first: None, levels: None, largest: 0.0 };
        for row in 0..values.rows() {
            let mut crosses = false;
            for (k, pair) in order.windows(2).enumerate() {
                let (low, high) = (values.get(row, pair[0]), values.get(row, pair[1]));
                if high < low {
                    crosses = true;
                    crossings.largest = crossings.largest.max(low - high);
                    if crossings.first.is_none() {
                        crossings.first = Some(row);
                        crossings.levels = Some((levels[k], levels[k + 1]));
                    }
                }
            }
            crossings.rows += usize::from(crosses);
        }
        Ok(Self { values, observation, levels, order, crossings })
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.observation.len()
    }

    /// The levels, ascending.
    #[must_use]
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The observations.
    #[must_use]
    pub fn observation(&self) -> &'a [f64] {
        self.observation
    }

    /// Rows whose quantiles are not in order.
    #[must_use]
    pub fn crossings(&self) -> Crossings {
        self.crossings
    }

    /// The quantiles of a row, ascending.
    pub(crate) fn row(&self, row: usize, into: &mut Vec<f64>) {
        into.clear();
        into.extend(self.order.iter().map(|&column| self.values.get(row, column)));
        if self.crossings.rows > 0 && !into.is_sorted() {
            into.sort_unstable_by(f64::total_cmp);
        }
    }

    /// The pinball loss of each row at one of the levels, counted from the smallest,
    ///
    /// $$\rho\_\tau(y, q) = \tau (y - q) \text{ above } q, \quad (1 - \tau)(q - y) \text{ below}.$$
    #[must_use]
    pub fn pinball_at(&self, nth: usize) -> Vec<f64> {
        let (mut row, level) = (Vec::new(), self.levels[nth]);
        let one = |index: usize| {
            self.row(index, &mut row);
            pinball(self.observation[index], row[nth], level)
        };
        (0..self.len()).map(one).collect()
    }

    /// The mean pinball loss at each level.
    #[must_use]
    pub fn pinball(&self, weight: Option<&[f64]>) -> Vec<f64> {
        self.means(weight, pinball)
    }

    /// The share of observations at or below each quantile, which is its level when calibrated.
    #[must_use]
    pub fn shares_below(&self, weight: Option<&[f64]>) -> Vec<f64> {
        self.means(weight, |y, q, _| if y <= q { 1.0 } else { 0.0 })
    }

    /// Everything about them alone.
    ///
    /// # Errors
    /// Weights that are none.
    pub fn scores(&self, weight: Option<&[f64]>) -> Result<QuantileScores> {
        let pinball = self.pinball(weight);
        let crps = self.crps();
        let ones = vec![1.0; self.len()];
        let sample = Sample::new(self.observation, &ones)?.maybe_weighted(weight)?;
        let mean =
            |of: fn(&QuantileCrps) -> f64| sample.mean(&crps.iter().map(of).collect::<Vec<f64>>());
        Ok(QuantileScores {
            levels: self.levels.clone(),
            mean_pinball: pinball.iter().sum::<f64>() / pinball.len() as f64,
            pinball,
            shares_below: self.shares_below(weight),
            crps_least: mean(|crps| crps.least),
            crps_most: mean(|crps| crps.most),
            crossings: self.crossings,
        })
    }

    fn means(&self, weight: Option<&[f64]>, of: impl Fn(f64, f64, f64) -> f64) -> Vec<f64> {
        let (mut row, mut total) = (Vec::new(), 0.0);
        let mut sums = vec![0.0; self.levels.len()];
        for (index, &y) in self.observation.iter().enumerate() {
            let weight = weight.map_or(1.0, |weight| weight[index]);
            if weight <= 0.0 {
                continue;
            }
            total += weight;
            self.row(index, &mut row);
            for ((sum, &q), &level) in sums.iter_mut().zip(&row).zip(&self.levels) {
                *sum += weight * of(y, q, level);
            }
        }
        sums.iter().map(|sum| sum / total).collect()
    }

    /// The CRPS of each row, and what bounds it.
    #[must_use]
    pub fn crps(&self) -> Vec<QuantileCrps> {
        let mut row = Vec::new();
        let one = |(index, &y): (usize, &f64)| {
            self.row(index, &mut row);
            crps(y, &row, &self.levels)
        };
        self.observation.iter().enumerate().map(one).collect()
    }

    /// The probability of values up to `x` in a row: straight between the quantiles, and beyond the outermost ones
    /// exponential tails that begin with the density of the outermost piece. With one quantile alone, or where the outermost
    /// two are equal, nothing lies beyond.
    #[must_use]
    pub fn cdf(&self, row: usize, x: f64) -> f64 {
        let mut values = Vec::new();
        self.row(row, &mut values);
        cdf(x, &values, &self.levels, false)
    }

    /// The probability of values below `x` in a row: less than [`Quantiles::cdf`] where several quantiles are `x`.
    #[must_use]
    pub fn below(&self, row: usize, x: f64) -> f64 {
        let mut values = Vec::new();
        self.row(row, &mut values);
        cdf(x, &values, &self.levels, true)
    }
}

fn pinball(y: f64, q: f64, level: f64) -> f64 {
    if y >= q { level * (y - q) } else { (1.0 - level) * (q - y) }
}

fn crps(y: f64, quantiles: &[f64], levels: &[f64]) -> QuantileCrps {
    let (mut value, mut least, mut most) = (0.0, 0.0, 0.0);
    let mut add = |all: f64, low: f64, high: f64| {
        value += all;
        least += low;
        most += high;
    };
    // The loss of a stretch of levels at one value.
    let constant = |q: f64, a: f64, b: f64| {
        let (up, down) = integrals(a, b);
        if y >= q { up * (y - q) } else { down * (q - y) }
    };
    if let (Some(&q), Some(&level)) = (quantiles.first(), levels.first()) {
        // Below the lowest a law may reach the observation.
        let tail = constant(q, 0.0, level);
        add(tail, if y >= q { tail } else { 0.0 }, tail);
    }
    if let (Some(&q), Some(&level)) = (quantiles.last(), levels.last()) {
        let tail = constant(q, level, 1.0);
        add(tail, if y <= q { tail } else { 0.0 }, tail);
    }
    for (q, t) in quantiles.windows(2).zip(levels.windows(2)) {
        let (q0, q1, t0, t1) = (q[0], q[1], t[0], t[1]);
        let (up, down) = integrals(t0, t1);
        let low = constant(y.clamp(q0, q1), t0, t1);
        let high = if y <= q0 {
            down * (q1 - y)
        } else if y >= q1 {
            up * (y - q0)
        } else {
            (up * (y - q0)).max(down * (q1 - y))
        };
        add(straight(y, (q0, q1), (t0, t1)), low, high);
    }
    QuantileCrps { value: 2.0 * value, least: 2.0 * least, most: 2.0 * most }
}

/// The integral of the loss over levels from t0 to t1 between which the quantile goes straight from q0 to q1.
fn straight(y: f64, (q0, q1): (f64, f64), (t0, t1): (f64, f64)) -> f64 {
    // The loss is of degree two on either side of the observation, for which Simpson's rule is exact.
    let at = |share: f64| (q0 + share * (q1 - q0), t0 + share * (t1 - t0));
    let simpson = |a: f64, b: f64, loss: &dyn Fn(f64, f64) -> f64| {
        let f = |share: f64| {
            let (q, t) = at(share);
            loss(q, t)
        };
        (b - a) * (t1 - t0) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b))
    };
    let split = if q1 > q0 { ((y - q0) / (q1 - q0)).clamp(0.0, 1.0) } else { 0.0 };
    let split = if q1 <= q0 && y >= q0 { 1.0 } else { split };
    simpson(0.0, split, &|q, t| t * (y - q)) + simpson(split, 1.0, &|q, t| (1.0 - t) * (q - y))
}

fn cdf(x: f64, quantiles: &[f64], levels: &[f64], strict: bool) -> f64 {
    let k = quantiles.len();
    // How many are at or below it, or below.
    let below = quantiles.partition_point(|&q| if strict { q < x } else { q <= x });
    match below {
        0 => {
            let (gap, step) = outermost(quantiles, levels, 0);
            if gap > 0.0 {
                levels[0] * (-step * (quantiles[0] - x) / (gap * levels[0])).exp()
            } else {
                0.0
            }
        }
        _ if below == k => {
            let beyond = 1.0 - levels[k - 1];
            let (gap, step) = outermost(quantiles, levels, k.saturating_sub(2));
            let away = x - quantiles[k - 1];
            if gap > 0.0 { 1.0 - beyond * (-step * away / (gap * beyond)).exp() } else { 1.0 }
        }
        _ => {
            let (q0, q1) = (quantiles[below - 1], quantiles[below]);
            let share = (x - q0) / (q1 - q0);
            levels[below - 1] + share * (levels[below] - levels[below - 1])
        }
    }
}

/// How far apart two neighbours are, in values and levels; no values where there is one quantile alone.
fn outermost(quantiles: &[f64], levels: &[f64], first: usize) -> (f64, f64) {
    match quantiles.get(first + 1) {
        Some(next) => (next - quantiles[first], levels[first + 1] - levels[first]),
        None => (0.0, 0.0),
    }
}

/// Where an observation falls among the quantiles: probabilities that it is spread over.
pub(crate) fn place(y: f64, quantiles: &[f64], levels: &[f64]) -> (f64, f64) {
    let below = quantiles.partition_point(|&q| q < y);
    let up_to = quantiles.partition_point(|&q| q <= y);
    let level = |nth: usize| levels[nth];
    let k = levels.len();
    match up_to - below {
        // Between two of them.
        0 => (
            if below > 0 { level(below - 1) } else { 0.0 },
            if below < k { level(below) } else { 1.0 },
        ),
        // At one inside: exactly there. At several: a probability of its own, which at the ends has all beyond.
        _ => (
            if below == 0 { 0.0 } else { level(below) },
            if up_to == k { 1.0 } else { level(up_to - 1) },
        ),
    }
}
