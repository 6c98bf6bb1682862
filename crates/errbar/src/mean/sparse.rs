//! A Gaussian process on inducing points: for more rows than an exact one can hold.
//!
//! The function is a sum of $M$ bumps around as many of the rows, with standard normal coefficients $w$
//! ([`SparseProcess::points`]), so that $y = m + \varphi(x)\cdot w + \varepsilon$ with noise of variance
//! $d(x)$. That is a linear regression, with
//!
//! $$A = 1 + \Phi^TD^{-1}\Phi,\qquad w = A^{-1}\Phi^TD^{-1}(y - m),\qquad
//! \operatorname{var} f(x) = \varphi A^{-1}\varphi^T + s^2 - |\varphi|^2,$$
//!
//! where the last two terms are the variance that no bump explains: far from all the rows it is all of
//! $s^2$, as in the [exact process](super::gaussian_process). Each row forecast from all the others is
//! in closed form too: with $h = \varphi A^{-1}\varphi^T/d$ its error is $r/(1-h)$, where $r$ is the
//! residual, and the variance of that error $d/(1-h)$ and what no bump explains.
//!
//! The length scales, one for each input, and the sizes of signal and noise are those of an exact process
//! through some of the rows. The time of a fit grows in proportion to the rows.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Forecast;
use super::gaussian_process::{
    GaussianProcess, LeaveOneOut, LengthScales, NoiseScale, Options, check_spread, spread_of,
};
use crate::checks::{check_finite, check_length};
use crate::data::{chosen_rows, rows_of};
use crate::error::{Error, Result};
use crate::gaussian::inducing_points::{Bumps, Limits, Process};
use crate::math::cholesky::{
    Cholesky, GROUP, LARGEST, Squares, largest_solution, solve_lower_group,
};
use crate::monitor::{Monitor, Stage, check};
use crate::sigma::Scaling;
use crate::sigma::smooth::Smooth;

/// Rows that the length scales and the sizes of signal and noise are learned from.
const LEARNED_FROM: usize = 800;
/// Rows that inducing points are chosen from.
const CHOSEN_FROM: usize = 10_000;
/// How many bumps, and how much of the signal's variance they may leave out.
const LIMITS: Limits = Limits { most: 400, left_out: 1e-8 };
/// Rows taken at once; fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 32 * GROUP;
/// The least variance of the noise, in variances of the observations: less could not be told from
/// rounding.
const LEAST_NOISE: f64 = 1e-8;

/// A Gaussian process on inducing points, conditioned on observations. See the [module](self).
///
/// It does not keep the observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseProcess {
    scaling: Scaling,
    bumps: Bumps,
    /// $m$
    mean: f64,
    /// Everything but the mean and the noise is in units of this, the deviation of the observations.
    unit: f64,
    noise: Noise,
    coefficients: Vec<f64>,
    /// The triangular factor of $A$.
    precision: Vec<Vec<f64>>,
    fitted_to: Fingerprint,
}

/// The standard deviation of the noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Noise {
    /// The same everywhere.
    One(f64),
    Smooth(Smooth),
}

impl Noise {
    /// The variance at each row, in a unit.
    fn variance(&self, inputs: &[f64], rows: usize, unit: f64) -> Result<Vec<f64>> {
        let deviation = match self {
            Self::One(deviation) => vec![*deviation; rows],
            Self::Smooth(smooth) => smooth.most_likely(inputs)?,
        };
        let variance = |s: f64| (s / unit).powi(2).clamp(LEAST_NOISE, 1.0 / LEAST_NOISE);
        Ok(deviation.into_iter().map(variance).collect())
    }
}

/// Which rows a process was fitted to, without keeping them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Fingerprint {
    number: usize,
    /// Of the bits of inputs and observations.
    checksum: u64,
}

impl Fingerprint {
    fn of(inputs: &[f64], y: &[f64]) -> Self {
        let mix = |hash: u64, x: &f64| {
            (hash.rotate_left(23) ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let checksum = inputs.iter().chain(y).fold(y.len() as u64, mix);
        Self { number: y.len(), checksum }
    }
}

impl SparseProcess {
    /// Learns from observations `y` at `inputs`, row by row with `columns` values each; the noise is the
    /// same everywhere.
    ///
    /// # Errors
    /// As [`GaussianProcess::fit`], and when the monitor asked to stop.
    pub fn fit(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        fit(inputs, columns, y, None, options, monitor)
    }

    /// [`SparseProcess::fit`] with a noise whose standard deviation is a function of the inputs.
    ///
    /// # Errors
    /// As [`SparseProcess::fit`], or a function of another number of inputs.
    pub fn fit_with_noise(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        sigma: Smooth,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        fit(inputs, columns, y, Some(sigma), options, monitor)
    }

    /// The forecast at `inputs`, row by row.
    ///
    /// # Errors
    /// Inputs that are not whole rows, or not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Forecast> {
        rows_of(inputs, self.columns())?;
        let (mean, latent_variance) = self
            .at(inputs)
            .into_iter()
            .map(|at| {
                let mean = self.mean + self.unit * at.mean;
                (mean, self.unit * self.unit * (at.variance + at.unexplained))
            })
            .unzip();
        Ok(Forecast { mean, latent_variance })
    }

    /// What each of the observations it was fitted to would have been forecast as from all the others;
    /// `None` when these are not those observations.
    ///
    /// # Errors
    /// As [`SparseProcess::predict`], or another number of observations than rows.
    pub fn leave_one_out(&self, inputs: &[f64], y: &[f64]) -> Result<Option<LeaveOneOut>> {
        let rows = rows_of(inputs, self.columns())?;
        check_length("y", y.len(), "inputs", rows)?;
        if Fingerprint::of(inputs, y) != self.fitted_to {
            return Ok(None);
        }
        let noise = self.noise.variance(inputs, rows, self.unit)?;
        let mut left = LeaveOneOut { mean: vec![], variance: vec![], error: vec![] };
        for ((y, d), at) in y.iter().zip(noise).zip(self.at(inputs)) {
            let residual = (y - self.mean) - self.unit * at.mean;
            // Never less than the prior leaves, except by rounding.
            let share = (1.0 - at.variance / d).max(d / (d + at.prior));
            let error = residual / share;
            left.error.push(error);
            left.mean.push(y - error);
            left.variance.push(self.unit * self.unit * (d / share + at.unexplained));
        }
        Ok(Some(left))
    }

    /// The number of values in a row of inputs.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.scaling.columns()
    }

    /// The number of inducing points.
    #[must_use]
    pub fn points(&self) -> usize {
        self.bumps.len()
    }

    /// The number of rows it was fitted to.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.fitted_to.number
    }

    /// What is known at each row.
    fn at(&self, inputs: &[f64]) -> Vec<At> {
        let columns = self.columns();
        let group = |rows: &[f64]| {
            let mut bumps = vec![[0.0; GROUP]; self.bumps.len()];
            let unexplained = self.bumps.at_group(&scaled(&self.scaling, rows), &mut bumps);
            let sums = |of: &dyn Fn(usize, f64) -> f64| {
                let mut sums = [0.0; GROUP];
                for (j, bump) in bumps.iter().enumerate() {
                    sums.iter_mut().zip(bump).for_each(|(sum, b)| *sum += of(j, *b));
                }
                sums
            };
            let mean = sums(&|j, b| self.coefficients[j] * b);
            let prior = sums(&|_, b| b * b);
            solve_lower_group(self.precision.iter().map(Vec::as_slice), &mut bumps);
            let mut variance = [0.0; GROUP];
            for bump in &bumps {
                variance.iter_mut().zip(bump).for_each(|(sum, b)| *sum += b * b);
            }
            (0..rows.len() / columns)
                .map(|i| At {
                    mean: mean[i],
                    prior: prior[i],
                    variance: variance[i],
                    unexplained: unexplained[i],
                })
                .collect::<Vec<At>>()
        };
        let groups: Vec<Vec<At>> = inputs.par_chunks(GROUP * columns).map(group).collect();
        groups.into_iter().flatten().collect()
    }

    /// Whether a process that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        self.scaling.check()?;
        self.bumps.check(self.columns())?;
        let size = self.bumps.len();
        let whole = self.coefficients.len() == size
            && self.precision.len() == size
            && self.precision.iter().enumerate().all(|(i, row)| row.len() == i + 1);
        if !whole {
            return Err("the coefficients of its mean do not fit its inducing points");
        }
        let noise = match &self.noise {
            Noise::One(deviation) => *deviation >= 0.0 && deviation.is_finite(),
            Noise::Smooth(smooth) => {
                smooth.check()?;
                smooth.columns() == self.columns()
            }
        };
        let diagonal = self.precision.iter().all(|row| row.last().is_some_and(|d| *d > 0.0));
        // Nowhere may the mean be NaN, or what is not known of it.
        let held = self.coefficients.iter().all(|c| c.abs() <= LARGEST);
        let largest = self.bumps.largest().filter(|_| held && diagonal);
        let deviations = largest.as_ref().and_then(|b| largest_solution(&self.precision, b));
        let reach = |b: Vec<f64>| b.iter().zip(&self.coefficients).map(|(b, c)| b * c.abs()).sum();
        let reach: f64 = largest.map_or(f64::INFINITY, reach);
        let finite = self.mean.is_finite()
            && (self.mean.abs() + self.unit * reach).is_finite()
            && (self.unit * self.unit).is_finite()
            && deviations.is_some();
        match noise && diagonal && finite && self.unit > 0.0 {
            true => Ok(()),
            false => Err("a number of its mean is out of range"),
        }
    }
}

/// What is known at one row, in the unit of the process.
struct At {
    mean: f64,
    /// $|\varphi|^2$
    prior: f64,
    /// $\varphi A^{-1}\varphi^T$
    variance: f64,
    unexplained: f64,
}

fn fit(
    inputs: &[f64],
    columns: usize,
    y: &[f64],
    sigma: Option<Smooth>,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<SparseProcess> {
    if y.is_empty() {
        return Err(Error::Empty);
    }
    let rows = rows_of(inputs, columns)?;
    check_length("y", y.len(), "inputs", rows)?;
    check_finite("y", y)?;
    let scaling = Scaling::of(inputs, columns)?;
    let (mean, deviation) = spread_of(y);
    let unit = match deviation {
        0.0 => 1.0,
        deviation => {
            check_spread("y", deviation)?;
            deviation
        }
    };
    let noise = match &sigma {
        Some(smooth) => Noise::Smooth(smooth.clone()).variance(inputs, rows, unit)?,
        None => vec![],
    };
    let chosen = chosen_rows(rows, LEARNED_FROM, options.seed);
    let pick = |values: &[f64]| chosen.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let own = Options { length_scales: LengthScales::PerInput, ..*options };
    let some = scaled_rows(&scaling, inputs, &chosen);
    let some_y: Vec<f64> = chosen.iter().map(|&i| (y[i] - mean) / unit).collect();
    let process = match &sigma {
        None => GaussianProcess::fit_watched(&some, columns, &some_y, &own, monitor),
        Some(_) => GaussianProcess::fit_with_noise_watched(
            &some,
            columns,
            &some_y,
            &pick(&noise),
            NoiseScale::AsGiven,
            &own,
            monitor,
        ),
    }?;
    check(monitor)?;
    monitor.progress(0.3);
    let learned = process.hyperparameters();
    let (noise, sigma) = match sigma {
        Some(smooth) => (noise, Noise::Smooth(smooth)),
        None => {
            let one = Noise::One(learned.noise_variance.sqrt() * unit);
            (one.variance(inputs, rows, unit)?, one)
        }
    };
    let process = Process {
        lengths: learned.length_scales.clone(),
        deviation: learned.signal_variance.sqrt(),
    };
    let candidates = chosen_rows(rows, CHOSEN_FROM, options.seed);
    let (bumps, _) = Bumps::new(&scaled_rows(&scaling, inputs, &candidates), &process, LIMITS);
    let part = Stage { whole: monitor, from: 0.5, to: 1.0 };
    let centred = |i: usize| (y[i] - mean) / unit;
    let (coefficients, precision) = condition(&bumps, &scaling, inputs, &noise, centred, &part)?;
    Ok(SparseProcess {
        scaling,
        bumps,
        mean,
        unit,
        noise: sigma,
        coefficients,
        precision: precision.triangle(),
        fitted_to: Fingerprint::of(inputs, y),
    })
}

/// The coefficients and the factor of $A$, from inputs, the noise of each row and its observation.
fn condition(
    bumps: &Bumps,
    scaling: &Scaling,
    inputs: &[f64],
    noise: &[f64],
    y: impl Fn(usize) -> f64,
    monitor: &dyn Monitor,
) -> Result<(Vec<f64>, Cholesky)> {
    let columns = scaling.columns();
    let mut squares = Squares::new(bumps.len());
    let width = squares.width();
    let mut sums = vec![0.0; bumps.len()];
    let mut block = vec![[0.0; GROUP]; BLOCK * width];
    for (number, rows) in inputs.chunks(BLOCK * columns).enumerate() {
        check(monitor)?;
        let first = number * BLOCK;
        if width > 0 {
            let groups = block.par_chunks_mut(GROUP * width);
            groups.zip(rows.par_chunks(GROUP * columns)).for_each(|(out, rows)| {
                let mut values = vec![[0.0; GROUP]; bumps.len()];
                bumps.at_group(&scaled(scaling, rows), &mut values);
                for (j, value) in values.iter().enumerate() {
                    for (row, value) in out.chunks_exact_mut(width).zip(value) {
                        row[j / GROUP][j % GROUP] = *value;
                    }
                }
            });
        }
        let count = rows.len() / columns;
        let weights: Vec<f64> = noise[first..first + count].iter().map(|d| 1.0 / d).collect();
        squares.add(&weights, &block[..count * width]);
        for (i, weight) in weights.iter().enumerate() {
            let row = block[i * width..(i + 1) * width].as_flattened();
            crate::math::linear::axpy(weight * y(first + i), row, &mut sums);
        }
        monitor.progress((first + count) as f64 * columns as f64 / inputs.len() as f64);
    }
    let precision = squares.one_plus_factored();
    precision.solve(&mut sums);
    Ok((sums, precision))
}

/// Some rows of inputs, scaled.
fn scaled_rows(scaling: &Scaling, inputs: &[f64], rows: &[usize]) -> Vec<f64> {
    let columns = scaling.columns();
    let row = |&i: &usize| scaled(scaling, &inputs[i * columns..(i + 1) * columns]);
    rows.iter().flat_map(row).collect()
}

fn scaled(scaling: &Scaling, rows: &[f64]) -> Vec<f64> {
    let columns = scaling.columns();
    rows.iter().enumerate().map(|(i, &x)| scaling.unclamped(i % columns, x)).collect()
}

#[cfg(test)]
mod tests;
