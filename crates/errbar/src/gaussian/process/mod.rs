//! A Gaussian process: a smooth function through noisy observations, with its uncertainty.
//!
//! The observations are a constant, plus a random function with the squared-exponential covariance,
//! plus independent noise:
//!
//! $$y = m + f(x) + \varepsilon,\qquad
//! \operatorname{cov}(f(x), f(x')) =
//! \sigma\_f^2 \exp\Big(-\frac12\sum\_k \frac{(x\_k - x'\_k)^2}{\ell\_k^2}\Big),\qquad
//! \operatorname{var}\varepsilon = \sigma\_n^2.$$
//!
//! $m$ is the mean of the observations. $\sigma\_f$, the length scales $\ell\_k$ and $\sigma\_n$
//! maximise the log marginal likelihood (Rasmussen and Williams 2006, *Gaussian Processes for
//! Machine Learning*, chapters 2 and 5).
//!
//! ```
//! use errbar::mean::gaussian_process::{GaussianProcess, Options};
//!
//! let x: Vec<f64> = (0..40).map(|i| i as f64 / 40.0).collect();
//! let y: Vec<f64> = x.iter().enumerate()
//!     .map(|(i, x)| (6.0 * x).sin() + 0.1 * (1000.0 * i as f64).sin())
//!     .collect();
//! let process = GaussianProcess::fit(&x, 1, &y, &Options::default())?;
//! let at = process.predict(&[0.512])?;
//! assert!((at.mean[0] - (6.0_f64 * 0.512).sin()).abs() < 0.1);
//! assert!(at.latent_variance[0] < at.predictive_variance[0]);
//!
//! // Errors as if each observation had been forecast from all the others.
//! let errors = process.leave_one_out().error;
//! # assert_eq!(errors.len(), 40);
//! # Ok::<(), errbar::Error>(())
//! ```
//!
//! Inputs are scaled to their range and observations to their standard deviation before the search,
//! so that units do not matter; everything said and given back is in the original ones. A fit takes
//! $O(n^3)$ time and $O(n^2)$ memory; for more rows there is [`sparse`](crate::mean::sparse).

mod average;
mod correlation;
mod data;
mod fit;
mod hyperparameters;
mod likelihood;
mod panels;
mod saved;
mod search;

use serde::{Deserialize, Serialize};

pub use fit::{LengthScales, NoiseScale, Options};
pub(crate) use fit::{check_spread, spread_of};
pub use hyperparameters::Hyperparameters;

use crate::data::rows_of;
use crate::error::{Error, Result};
use correlation::{Points, correlation, cross_correlation};
use data::Data;
use likelihood::factor_with_jitter;
use panels::{
    Lane, Panels, WIDTH, backward_vector, forward, forward_vector, invert_factor, padded,
};

/// A Gaussian process conditioned on observations. See the [module](self).
///
/// It is saved as its data and hyperparameters; loading checks them and factors the matrix again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "saved::Saved", into = "saved::Saved")]
pub struct GaussianProcess {
    data: Data,
    hyperparameters: Hyperparameters,
    log_marginal_likelihood: f64,
    /// With these hyperparameters, and others that predictions are averaged over; none when all
    /// observations are equal and there is no noise.
    sets: Vec<Conditioned>,
}

/// What predictions need, with one set of hyperparameters.
#[derive(Clone, Debug)]
struct Conditioned {
    /// How much it counts, relative to the first.
    weight: f64,
    signal_variance: f64,
    length_scales: Vec<f64>,
    points: Points,
    /// The variance $v$ in units of which the rest is: signal and mean noise together.
    scale: f64,
    /// The signal variance.
    signal: f64,
    /// The upper triangular U of $U^TU = K$.
    factor: Panels,
    /// $\alpha = K^{-1}(y - m)$
    alpha: Vec<f64>,
}

/// Predictions at some inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The mean, $m + k^TK^{-1}(y - m)$ with $k$ the covariances with the observations.
    pub mean: Vec<f64>,
    /// The variance of the function itself, $\sigma\_f^2 - k^TK^{-1}k$.
    pub latent_variance: Vec<f64>,
    /// The variance of a new observation: the latent one plus
    /// [`noise_variance`](Hyperparameters::noise_variance).
    pub predictive_variance: Vec<f64>,
}

/// What each observation would have been predicted as from all the others, with the hyperparameters
/// and the constant $m$ as they are (Rasmussen and Williams 2006, equation 5.12).
#[derive(Clone, Debug, PartialEq)]
pub struct LeaveOneOut {
    /// $\mu\_i = y\_i - [K^{-1}(y - m)]\_i / [K^{-1}]\_{ii}$
    pub mean: Vec<f64>,
    /// The predictive variance, noise included: $1/[K^{-1}]\_{ii}$
    pub variance: Vec<f64>,
    /// $y\_i - \mu\_i$
    pub error: Vec<f64>,
}

impl GaussianProcess {
    /// The process with these hyperparameters, conditioned on observations `y` at `inputs`, row by
    /// row with `columns` values each.
    ///
    /// # Errors
    /// As [`GaussianProcess::fit`]; hyperparameters that are negative, not finite or of the wrong
    /// number (a length scale may be infinite); or a covariance matrix that cannot be factored.
    pub fn with_hyperparameters(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        hyperparameters: Hyperparameters,
    ) -> Result<Self> {
        Self::condition(Data::new(inputs, columns, y, None)?, hyperparameters)
    }

    fn condition(data: Data, hyperparameters: Hyperparameters) -> Result<Self> {
        hyperparameters.check(data.columns)?;
        let Hyperparameters { mean, signal_variance, noise_variance, .. } = hyperparameters;
        if signal_variance + noise_variance == 0.0 {
            // Without any variance, only observations equal to the mean are possible.
            return match data.y.iter().position(|y| *y != mean) {
                Some(index) => Err(Error::NoVariance { index, value: data.y[index] }),
                None => Ok(Self {
                    data,
                    hyperparameters,
                    log_marginal_likelihood: f64::INFINITY,
                    sets: Vec::new(),
                }),
            };
        }
        let (set, log_marginal_likelihood) = Conditioned::new(&data, &hyperparameters)?;
        Ok(Self { data, hyperparameters, log_marginal_likelihood, sets: vec![set] })
    }

    /// Predictions at `inputs`, row by row.
    ///
    /// # Errors
    /// Inputs that are not whole rows, or not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Prediction> {
        let rows = rows_of(inputs, self.data.columns)?;
        let Hyperparameters { mean, noise_variance, .. } = self.hyperparameters;
        let mut prediction = Prediction {
            mean: vec![mean; rows],
            latent_variance: vec![0.0; rows],
            predictive_variance: vec![noise_variance; rows],
        };
        if rows == 0 {
            return Ok(prediction);
        }
        let mut average = Average::new(rows);
        for set in &self.sets {
            average.add(set.weight, &set.predict(inputs, &self.data.low()));
        }
        let predicted = prediction.mean.iter_mut().zip(&average.mean);
        predicted.for_each(|(mean, more)| *mean += more);
        let predicted = prediction.predictive_variance.iter_mut().zip(&average.variance);
        predicted.for_each(|(variance, more)| *variance += more);
        prediction.latent_variance = average.variance;
        Ok(prediction)
    }

    /// Leave-one-out predictions of the observations, in closed form.
    #[must_use]
    pub fn leave_one_out(&self) -> LeaveOneOut {
        let n = self.data.y.len();
        let mut average = Average::new(n);
        for set in &self.sets {
            average.add(set.weight, &set.leave_one_out(n));
        }
        let Average { mean: error, variance, .. } = average;
        let mean = self.data.y.iter().zip(&error).map(|(y, error)| y - error).collect();
        LeaveOneOut { mean, variance, error }
    }

    /// What was learned, in the original units.
    #[must_use]
    pub fn hyperparameters(&self) -> &Hyperparameters {
        &self.hyperparameters
    }

    /// The log of the probability density of the observations; infinite when they are all equal, and
    /// without noise.
    #[must_use]
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_marginal_likelihood
    }

    /// The number of rows it was fitted to.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.data.y.len()
    }

    /// Whether these are the observations it was fitted to.
    #[must_use]
    pub fn is_fitted_to(&self, inputs: &[f64], y: &[f64]) -> bool {
        self.data.inputs == inputs && self.data.y == y
    }

    /// The number of values in a row of inputs.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.data.columns
    }
}

impl Conditioned {
    /// Counting once; also the log marginal likelihood.
    fn new(data: &Data, hyperparameters: &Hyperparameters) -> Result<(Self, f64)> {
        let &Hyperparameters { mean, signal_variance, noise_variance, .. } = hyperparameters;
        let length_scales = hyperparameters.length_scales.clone();
        let n = data.y.len();
        let scale = signal_variance + noise_variance;
        let points = Points::scaled(&data.inputs, &data.low(), &length_scales);
        let mut r = Panels::zeros(n);
        correlation(&points, &mut r);
        let noise: Vec<f64> = match &data.noise {
            Some(noise) => noise.iter().map(|noise| noise / scale).collect(),
            None => vec![noise_variance / scale; n],
        };
        let signal = signal_variance / scale;
        let mut factor = Panels::zeros(n);
        factor_with_jitter(&r, signal, &noise, &mut factor)
            .map_err(|_| Error::NotPositiveDefinite { rows: n })?;
        let mut alpha: Vec<f64> = data.y.iter().map(|y| (y - mean) / scale.sqrt()).collect();
        alpha.resize(padded(n), 0.0);
        forward_vector(&factor, &mut alpha);
        let square: f64 = alpha.iter().map(|a| a * a).sum();
        backward_vector(&factor, &mut alpha);
        let half_log_determinant: f64 = factor.diagonal().map(f64::ln).sum();
        let log_marginal_likelihood = -0.5 * square
            - half_log_determinant
            - 0.5 * n as f64 * (std::f64::consts::TAU.ln() + scale.ln());
        if !log_marginal_likelihood.is_finite() {
            let spread = data.y.iter().map(|y| (y - mean).abs()).fold(0.0, f64::max);
            return Err(Error::SpreadOutOfRange { what: "y", spread });
        }
        let weight = 1.0;
        let set =
            Self { weight, signal_variance, length_scales, points, scale, signal, factor, alpha };
        Ok((set, log_marginal_likelihood))
    }

    /// How far the mean is from the constant $m$ at `inputs`, and the variance of the function.
    fn predict(&self, inputs: &[f64], low: &[f64]) -> Vec<(f64, f64)> {
        let at = Points::scaled(inputs, low, &self.length_scales);
        let mut predicted = Vec::with_capacity(at.rows());
        let mut covariance: Vec<Lane> = vec![[0.0; WIDTH]; self.factor.rows()];
        for panel in 0..at.rows().div_ceil(WIDTH) {
            cross_correlation(&self.points, &at, panel, &mut covariance);
            covariance.iter_mut().flatten().for_each(|k| *k *= self.signal);
            let mut sums = [0.0; WIDTH];
            for (k, alpha) in covariance.iter().zip(&self.alpha) {
                sums.iter_mut().zip(k).for_each(|(sum, k)| *sum += k * alpha);
            }
            // By substitution rather than with the inverse matrix, which would lose half the digits.
            forward(&self.factor, &mut covariance);
            let mut known = [0.0; WIDTH];
            for k in &covariance {
                known.iter_mut().zip(k).for_each(|(known, k)| *known += k * k);
            }
            predicted.extend(sums.iter().zip(known).map(|(sum, known)| {
                (self.scale.sqrt() * sum, self.scale * (self.signal - known).max(0.0))
            }));
        }
        predicted.truncate(at.rows());
        predicted
    }

    /// The error of each of the `n` observations and its variance.
    fn leave_one_out(&self, n: usize) -> Vec<(f64, f64)> {
        let mut inverse = Panels::zeros(n);
        invert_factor(&self.factor, &mut inverse);
        let mut precision = vec![0.0; inverse.rows()];
        for (p, (panel, out)) in inverse.iter().zip(precision.chunks_exact_mut(WIDTH)).enumerate() {
            for t in &panel[p * WIDTH..] {
                out.iter_mut().zip(t).for_each(|(out, t)| *out += t * t);
            }
        }
        (self.alpha.iter().zip(&precision).take(n))
            .map(|(alpha, precision)| {
                (self.scale.sqrt() * alpha / precision, self.scale / precision)
            })
            .collect()
    }
}

/// The mean and the variance of a mixture of normal distributions, row by row.
struct Average {
    weight: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl Average {
    fn new(rows: usize) -> Self {
        Self { weight: 0.0, mean: vec![0.0; rows], variance: vec![0.0; rows] }
    }

    /// One more: the variance grows by how far it is from the others, without cancellation.
    fn add(&mut self, weight: f64, more: &[(f64, f64)]) {
        self.weight += weight;
        let share = weight / self.weight;
        let rows = self.mean.iter_mut().zip(&mut self.variance);
        for ((mean, variance), (more, its_variance)) in rows.zip(more) {
            let away = more - *mean;
            *variance += share * (its_variance - *variance + (1.0 - share) * away * away);
            *mean += share * away;
        }
    }
}
