//! sigma(x) as a smooth function of any shape: a Gaussian process for its logarithm.
//!
//! The paper ends with a wish for the Accuracy-Reliability cost in a non-parametric Bayesian method;
//! this is one. The logarithm of sigma is a level, a straight line in each input, and a Gaussian
//! process with the squared-exponential covariance and a length scale per input. The coefficients
//! minimise the cost with that prior (see `combination`).
//!
//! The length scales and the size of the process maximise their evidence under the Gaussian
//! likelihood (Laplace's approximation with the expected curvature), with a weak prior of their own.
//! What is given back is $\sigma = e^{\hat g + \operatorname{var} g}$: the root of the expected
//! variance, since $g = \ln\sigma$ is not known exactly (but by no more than a
//! variance of 0.5). Far from the data the process is back at its prior: sigma returns to the overall
//! level and the band on it widens.

mod basis;
mod formula;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::basis::Basis;
pub use self::formula::Formula;
use super::combination::{Combination, Dense, ENOUGH_STEPS, variance};
use super::scaling::{Prepared, Scaling};
use crate::data::Data;
use crate::data::chosen_rows;
use crate::error::{Error, Result};
use crate::gaussian::inducing_points::Process;
use crate::gaussian::process::{
    self as gaussian_process, GaussianProcess, LengthScales, NoiseScale,
};
use crate::loss::LossKind;
use crate::math::cholesky::{Cholesky, LARGEST, largest_solution};
use crate::math::linear::dot;
use crate::monitor::{Monitor, check};
use crate::score::Beta;

/// How to fit a smooth function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The loss.
    pub loss: LossKind,
    /// Whether each row's error counts in units of the sigma there. Otherwise rows of small sigma
    /// hardly count, since CRPS has the units of the error.
    pub local_units: bool,
    /// The most functions that the process is made of.
    pub most_functions: usize,
    /// The most functions, and the most rows, that length scales are learned from.
    pub most_functions_for_lengths: usize,
    /// See `most_functions_for_lengths`.
    pub most_rows_for_lengths: usize,
    /// Of the choice of those rows.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            loss: LossKind::Ar(Beta::Heuristic),
            local_units: true,
            most_functions: 200,
            most_functions_for_lengths: 100,
            most_rows_for_lengths: 300,
            seed: 0,
        }
    }
}

/// A fitted smooth function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Smooth {
    scaling: Scaling,
    basis: Basis,
    coefficients: Vec<f64>,
    /// The triangular factor of the inverse of the coefficients' covariance.
    precision: Vec<Vec<f64>>,
    /// Sigma is the exponential times this.
    unit: f64,
}

/// Where the prior of the log of the process's deviation and of its length scale (in halves of the
/// inputs' range) lie, and how wide they are.
const DEVIATION: (f64, f64) = (0.0, 1.0);
const LENGTH: (f64, f64) = (0.0, 0.4);

/// How well the likeliest coefficients need be known to compare length scales.
const ROUGHLY: f64 = 1e-3;

/// Fits a smooth function to data.
///
/// # Errors
/// Errors that are all zero, or a monitor that asked to stop.
pub fn fit_to(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Smooth> {
    fit_near(data, None, options, monitor)
}

/// [`fit_to`], with the length scales searched for near those of a function that was fitted to similar rows.
pub(crate) fn fit_near(
    data: &Data,
    known: Option<&Smooth>,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Smooth> {
    let Prepared { scaling, columns, error, unit, .. } = Prepared::new(data, true)?;
    if error.iter().all(|e| *e == 0.0) {
        return Err(Error::NoErrors { rows: error.len() });
    }
    let (inputs, rows) = (data.columns(), data.rows());
    let scaled: Vec<f64> = (0..rows)
        .flat_map(|i| (0..inputs).map(move |c| (c, i)))
        .map(|(c, i)| columns[c * rows + i])
        .collect();
    let weight = data.weight().map(|weight| {
        let mean = weight.iter().map(|w| w / rows as f64).sum::<f64>();
        weight.iter().map(|w| w / mean).collect::<Vec<f64>>()
    });
    let all = TrainingSet { scaled, inputs, error, weight };
    let known = known.filter(|known| known.columns() == inputs).map(|known| known.basis.process());
    let process = all.process(known, options, monitor)?;
    monitor.progress(0.7);
    let (basis, design) = Basis::new(&all.scaled, &process, options.most_functions);
    let mut w = all.start(&basis);
    let functions = Dense { count: w.len(), values: &design };
    let errors = all.errors(&functions);
    errors.likeliest(&mut w, ENOUGH_STEPS, 1e-6, monitor);
    check(monitor)?;
    let local: Vec<f64> = match options.local_units {
        true => errors.log_sigma(&w).into_iter().map(|log| variance(log).sqrt()).collect(),
        false => vec![1.0 / std::f64::consts::FRAC_2_PI.sqrt(); data.rows()],
    };
    let curvature = errors.curvature(w.len());
    errors.least_cost(&mut w, options.loss, &local, &curvature, monitor)?;
    let precision = curvature.triangle();
    monitor.progress(1.0);
    Ok(Smooth { scaling, basis, coefficients: w, precision, unit })
}

/// What is fitted to: scaled inputs row by row, errors in their own scale.
struct TrainingSet {
    scaled: Vec<f64>,
    inputs: usize,
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl TrainingSet {
    fn errors<'a>(&'a self, functions: &'a Dense<'a>) -> Combination<'a, Dense<'a>> {
        Combination { functions, error: &self.error, weight: self.weight.as_deref() }
    }

    fn pick(&self, rows: &[usize]) -> Self {
        let of = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let row = |&i: &usize| &self.scaled[i * self.inputs..(i + 1) * self.inputs];
        Self {
            scaled: rows.iter().flat_map(row).copied().collect(),
            inputs: self.inputs,
            error: of(&self.error),
            weight: self.weight.as_deref().map(of),
        }
    }

    /// Coefficients of one constant sigma.
    fn start(&self, basis: &Basis) -> Vec<f64> {
        let mut w = vec![0.0; basis.size()];
        let squares: f64 = self.error.iter().map(|e| e * e).sum();
        w[0] = Basis::level((squares / self.error.len() as f64).sqrt());
        w
    }

    /// The process of greatest evidence, near one that is known to be good for similar rows.
    fn process(
        &self,
        known: Option<Process>,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Process> {
        let rows = self.error.len();
        if rows > options.most_rows_for_lengths {
            let chosen = chosen_rows(rows, options.most_rows_for_lengths, options.seed);
            return self.pick(&chosen).process(known, options, monitor);
        }
        let (relative, start) = match known {
            Some(known) => self.relative_to(&known),
            None => (self.relative_lengths(options, monitor)?, None),
        };
        let process = |(log_deviation, log_length): (f64, f64)| Process {
            lengths: relative.iter().map(|length| length * log_length.exp()).collect(),
            deviation: log_deviation.exp(),
        };
        let evidence = |&place: &(f64, f64)| {
            if monitor.should_stop() {
                return f64::INFINITY;
            }
            let most = options.most_functions.min(options.most_functions_for_lengths);
            let (basis, design) = Basis::new(&self.scaled, &process(place), most);
            let mut w = self.start(&basis);
            let functions = Dense { count: w.len(), values: &design };
            let errors = self.errors(&functions);
            let cost = errors.likeliest(&mut w, ENOUGH_STEPS, ROUGHLY, monitor);
            let prior = |x: f64, (at, width): (f64, f64)| 0.5 * ((x - at) / width).powi(2);
            cost + errors.curvature(w.len()).half_log_determinant()
                + prior(place.0, DEVIATION)
                + prior(place.1, LENGTH)
        };
        let best_of = |places: &[(f64, f64)]| {
            let costs: Vec<f64> = places.par_iter().map(evidence).collect();
            let first = (f64::INFINITY, (0.0, 0.0));
            let lower = |best: (f64, (f64, f64)), (cost, place): (f64, (f64, f64))| {
                if cost < best.0 { (cost, place) } else { best }
            };
            costs.into_iter().zip(places.iter().copied()).fold(first, lower)
        };
        let (grid, mut step) = match start {
            Some(start) => (vec![start], 0.3),
            None => {
                let of = |&d: &f64| [-2.5, -1.6, -0.8, 0.0].map(|l| (d, l));
                ([-2.0, -0.7, 0.3].iter().flat_map(of).collect(), 0.6)
            }
        };
        let (mut cost, mut at) = best_of(&grid);
        monitor.progress(0.4);
        // Then steps in four directions, halved when none goes down.
        while step > 0.1 {
            check(monitor)?;
            let around: Vec<(f64, f64)> = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
                .iter()
                .map(|(d, l)| (at.0 + d * step, at.1 + l * step))
                .filter(|(d, l)| *d > -4.0 && (-3.5..=1.5).contains(l))
                .collect();
            let (lower, place) = best_of(&around);
            if lower < cost - 1e-3 {
                (cost, at) = (lower, place);
            } else {
                step *= 0.5;
            }
        }
        check(monitor)?;
        Ok(process(at))
    }

    /// The length scale of each input beside the others, as another process has them, and the logarithms of its
    /// deviation and of its length.
    fn relative_to(&self, known: &Process) -> (Vec<f64>, Option<(f64, f64)>) {
        let shortest = known.lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let alike = known.lengths.iter().all(|length| *length == shortest);
        let unit = if alike { shortest / (self.inputs as f64).sqrt() } else { shortest };
        let relative = known.lengths.iter().map(|length| length / unit).collect();
        (relative, Some((known.deviation.ln(), unit.ln())))
    }

    /// One length scale for all inputs.
    fn all_alike(&self) -> Vec<f64> {
        vec![(self.inputs as f64).sqrt(); self.inputs]
    }

    /// The length scale of each input beside the others, from a Gaussian process through the
    /// logarithms of the errors: they are those of sigma plus noise of variance π²/8.
    fn relative_lengths(&self, options: &Options, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        if self.inputs == 1 || self.error.len() < 10 {
            return Ok(self.all_alike());
        }
        let noise = std::f64::consts::PI.powi(2) / 8.0;
        // An error of exactly zero says no more than a small one.
        let log: Vec<f64> = self.error.iter().map(|e| e.abs().max(1e-3).ln()).collect();
        let own = gaussian_process::Options {
            length_scales: LengthScales::PerInput,
            seed: options.seed,
            ..gaussian_process::Options::default()
        };
        let process = GaussianProcess::fit_with_noise_watched(
            &self.scaled,
            self.inputs,
            &log,
            &vec![noise; log.len()],
            NoiseScale::AsGiven,
            &own,
            monitor,
        );
        check(monitor)?;
        // Where that cannot be fitted, all inputs are alike.
        let Ok(process) = process else { return Ok(self.all_alike()) };
        let lengths: Vec<f64> =
            (process.hyperparameters().length_scales.iter()).map(|l| l.clamp(1e-3, 1e3)).collect();
        // As one length would be: the sum of inverse squares is kept.
        let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(lengths.iter().map(|l| l / shortest).collect())
    }
}

impl Smooth {
    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.scaling.columns()
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let inputs = self.columns();
        let word = if inputs == 1 { "input" } else { "inputs" };
        format!(
            "log sigma is a smooth function (a Gaussian process, {} functions) of {inputs} {word}",
            self.basis.bumps().len()
        )
    }

    /// The logarithm of sigma at each row and the variance of what is known about it.
    fn log_sigma(&self, inputs: &[f64]) -> Result<Vec<(f64, f64)>> {
        let precision = Cholesky::from_triangle(&self.precision);
        self.for_rows(inputs, |functions, unexplained| {
            let log = dot(functions, &self.coefficients);
            precision.solve_lower(functions);
            (log + self.unit.ln(), dot(functions, functions) + unexplained)
        })
    }

    /// Something about each row, made of the functions there and of what they leave unexplained.
    fn for_rows<T: Send>(
        &self,
        inputs: &[f64],
        of: impl Fn(&mut [f64], f64) -> T + Sync,
    ) -> Result<Vec<T>> {
        let columns = self.columns();
        self.scaling.rows_of(inputs)?;
        let one = |row: &[f64]| {
            let scaled: Vec<f64> =
                row.iter().enumerate().map(|(c, &x)| self.scaling.unclamped(c, x)).collect();
            let mut functions = vec![0.0; self.basis.size()];
            let unexplained = self.basis.at(&scaled, &mut functions);
            of(&mut functions, unexplained)
        };
        Ok(inputs.par_chunks_exact(columns).with_min_len(256).map(one).collect())
    }

    /// Sigma for each row. Beyond the range of the training rows it returns to the overall level.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let sigma =
            |(log, variance): (f64, f64)| in_range((log + variance.min(MOST_UNKNOWN)).exp());
        Ok(self.log_sigma(inputs)?.into_iter().map(sigma).collect())
    }

    /// The most likely sigma of each row, without what is not known about it.
    pub(crate) fn most_likely(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let level = self.unit.ln();
        self.for_rows(inputs, |functions, _| {
            in_range((dot(functions, &self.coefficients) + level).exp())
        })
    }

    /// The band that holds sigma itself with a given probability, row by row: sigma is learned from
    /// some rows only, and not known exactly.
    ///
    /// # Errors
    /// As [`Smooth::predict`], or a level outside (0, 1).
    pub fn band(&self, inputs: &[f64], level: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        crate::score::calibration::check_probability("the level of a band", level)?;
        let reach = crate::score::calibration::half_width(level);
        let ends = |(log, variance): (f64, f64)| {
            // The cost tells a little less than the likelihood, whose curvature this is.
            let deviation = WIDER * (variance / EFFICIENCY).sqrt();
            (in_range((log - reach * deviation).exp()), in_range((log + reach * deviation).exp()))
        };
        Ok(self.log_sigma(inputs)?.into_iter().map(ends).unzip())
    }

    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        self.scaling.check()?;
        self.basis.check(self.columns())?;
        let size = self.basis.size();
        let whole = self.coefficients.len() == size
            && self.precision.len() == size
            && self.precision.iter().enumerate().all(|(i, row)| row.len() == i + 1);
        if !whole {
            return Err("its coefficients do not fit its functions");
        }
        let diagonal = self.precision.iter().all(|row| row.last().is_some_and(|d| *d > 0.0));
        if !(diagonal && self.unit > 0.0 && self.unit.is_finite()) {
            return Err("its unit or the factor of its precision is not positive");
        }
        // Nowhere may sigma be NaN.
        let held = self.coefficients.iter().all(|c| c.abs() <= LARGEST);
        let deviations = self.basis.largest().and_then(|f| largest_solution(&self.precision, &f));
        match held && deviations.is_some() {
            true => Ok(()),
            false => Err("its coefficients or their precision are such as no fit makes"),
        }
    }
}

/// The information about log sigma in the CRPS over that in the likelihood, $J^2/(2V)$.
const EFFICIENCY: f64 = 0.808_012_701_892_218_9;

/// The size of the process and its length scale are taken as known, and are not: on G, Y and W (seeds
/// of 1000 and above) a band wider by this holds sigma nine times out of ten on average.
const WIDER: f64 = 1.1;

/// The most that is not known about log sigma, as a variance, that sigma is made larger for. Between
/// rows of a rough function it can be that of the prior, and the root of the expected variance would
/// be endlessly large for what may be.
pub(super) const MOST_UNKNOWN: f64 = 0.5;

fn in_range(sigma: f64) -> f64 {
    sigma.clamp(f64::MIN_POSITIVE, f64::MAX)
}
