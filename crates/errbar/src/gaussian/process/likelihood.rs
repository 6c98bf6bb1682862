//! The log marginal likelihood and its gradient.
//!
//! With $n$ centred observations $y$ and the covariance matrix $K$,
//!
//! $$\ln p(y) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln|K| - \tfrac n2 \ln 2\pi,\qquad
//! \frac{\partial \ln p}{\partial\theta} =
//! \tfrac12\operatorname{tr}\Big((\alpha\alpha^T - K^{-1})\frac{\partial K}{\partial\theta}\Big),
//! \quad \alpha = K^{-1}y$$
//!
//! (Rasmussen and Williams 2006, equations 5.8 and 5.9).

use super::correlation::{Points, correlation, traces};
use super::panels::{Panels, backward_vector, factor, forward_vector, gram, invert_factor, padded};

/// The covariance matrix has no Cholesky factor, even with the largest jitter.
pub(super) struct NotPositiveDefinite;

/// What to add to the diagonal, as a share of the variance, when the factorisation fails.
const JITTER: [f64; 8] = [0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7];

/// The Cholesky factor of $sR + \operatorname{diag}(d)$ for `rows` rows, with jitter only as needed.
pub(super) fn factor_with_jitter(
    r: &Panels,
    s: f64,
    d: &[f64],
    u: &mut Panels,
) -> Result<(), NotPositiveDefinite> {
    let rows = d.len();
    let mut diagonal = vec![1.0; r.rows()];
    let variance = s + d.iter().sum::<f64>() / rows as f64;
    for jitter in JITTER {
        for (out, d) in diagonal.iter_mut().zip(d) {
            *out = d + jitter * variance;
        }
        if factor(r, s, &diagonal, u) {
            return Ok(());
        }
    }
    Err(NotPositiveDefinite)
}

/// How the covariance depends on the first parameter. $R$ is the correlation matrix and $D$ the
/// diagonal one of the relative noise variances, 1 on average.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variance {
    /// $K = v((1-q)R + qD)$ for a share $q$ of noise, its logit the parameter. The variance $v$ is
    /// the one that maximises the likelihood, $\frac1n y^T((1-q)R + qD)^{-1}y$.
    Free,
    /// $K = fR + gD$ with $g$ given, $\ln f$ the parameter.
    KnownNoise(f64),
}

/// The data of a fit, in scaled units.
pub(super) struct Problem {
    /// Inputs from 0 to 1; constant columns are 0.
    pub points: Points,
    /// Centred observations, of standard deviation 1, padded.
    pub y: Vec<f64>,
    /// Relative noise variances, 1 on average.
    pub noise: Vec<f64>,
    pub variance: Variance,
}

/// Parameters of the covariance in scaled units.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    /// The logit of the share of noise, or the log of the signal variance.
    pub amplitude: f64,
    /// One for each column.
    pub log_lengths: Vec<f64>,
}

/// Signal and noise variances, before the factor $v$.
fn shares(variance: Variance, amplitude: f64) -> (f64, f64) {
    match variance {
        // Each from its own side, so that neither cancels.
        Variance::Free => (1.0 / (1.0 + amplitude.exp()), 1.0 / (1.0 + (-amplitude).exp())),
        Variance::KnownNoise(g) => (amplitude.exp(), g),
    }
}

/// The matrices an evaluation needs, kept from one to the next.
pub(super) struct Workspace {
    points: Points,
    correlation: Panels,
    factor: Panels,
    inverse: Panels,
    alpha: Vec<f64>,
    diagonal: Vec<f64>,
    column: Vec<f64>,
}

impl Workspace {
    pub(super) fn new(problem: &Problem) -> Self {
        let (n, columns) = (problem.points.rows(), problem.points.columns().len());
        Self {
            points: problem.points.clone(),
            correlation: Panels::zeros(n),
            factor: Panels::zeros(n),
            inverse: Panels::zeros(n),
            alpha: vec![0.0; padded(n)],
            diagonal: vec![0.0; n],
            column: vec![0.0; columns],
        }
    }
}

/// The likelihood somewhere.
pub(super) struct Value {
    /// Minus the log marginal likelihood of the scaled observations.
    pub minus_log: f64,
    /// The variances of the signal and of the noise.
    pub signal: f64,
    pub noise: f64,
    /// The factor $v$.
    v: f64,
}

impl Problem {
    /// These rows only.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let mut y: Vec<f64> = rows.iter().map(|&row| self.y[row]).collect();
        y.resize(padded(rows.len()), 0.0);
        Self {
            points: self.points.subset(rows),
            y,
            noise: rows.iter().map(|&row| self.noise[row]).collect(),
            variance: self.variance,
        }
    }

    /// The likelihood, `None` where the covariance matrix cannot be factored.
    pub(super) fn value(&self, at: &Covariance, work: &mut Workspace) -> Option<Value> {
        let n = self.points.rows();
        let scaled = work.points.columns_mut().zip(self.points.columns());
        for ((scaled, column), log_length) in scaled.zip(&at.log_lengths) {
            let inverse = (-log_length).exp();
            scaled.iter_mut().zip(column).for_each(|(z, x)| *z = x * inverse);
        }
        correlation(&work.points, &mut work.correlation);
        let (f, g) = shares(self.variance, at.amplitude);
        work.diagonal.iter_mut().zip(&self.noise).for_each(|(d, noise)| *d = g * noise);
        factor_with_jitter(&work.correlation, f, &work.diagonal, &mut work.factor).ok()?;
        work.alpha.copy_from_slice(&self.y);
        forward_vector(&work.factor, &mut work.alpha);
        let square: f64 = work.alpha.iter().map(|a| a * a).sum();
        let half_log_determinant: f64 = work.factor.diagonal().map(f64::ln).sum();
        let n = n as f64;
        let v = match self.variance {
            Variance::Free => square / n,
            Variance::KnownNoise(_) => 1.0,
        };
        let minus_log = 0.5 * square / v
            + half_log_determinant
            + 0.5 * n * (std::f64::consts::TAU.ln() + v.ln());
        minus_log.is_finite().then_some(Value { minus_log, signal: f * v, noise: g * v, v })
    }

    /// [`Problem::value`], and the derivatives of `minus_log` by the parameters.
    pub(super) fn value_and_gradient(
        &self,
        at: &Covariance,
        work: &mut Workspace,
        gradient: &mut Covariance,
    ) -> Option<Value> {
        let value = self.value(at, work)?;
        backward_vector(&work.factor, &mut work.alpha);
        invert_factor(&work.factor, &mut work.inverse);
        // The factor has done its work: its place takes the inverse.
        gram(&work.inverse, &mut work.factor);
        let Workspace { points, correlation, factor: inverse, alpha, column, .. } = work;
        let with_r = traces(points, correlation, inverse, alpha, value.v, column);
        let (f, g) = shares(self.variance, at.amplitude);
        for (out, trace) in gradient.log_lengths.iter_mut().zip(column.iter()) {
            *out = 0.5 * f * trace;
        }
        gradient.amplitude = match self.variance {
            Variance::Free => {
                let diagonal = inverse.diagonal().zip(alpha.iter()).zip(&self.noise);
                let with_d: f64 = diagonal.map(|((s, a), d)| d * (s - a * a / value.v)).sum();
                0.5 * f * g * (with_d - with_r)
            }
            Variance::KnownNoise(_) => 0.5 * f * with_r,
        };
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs in two columns, observations and noise, by a formula without structure.
    fn problem(variance: Variance) -> Problem {
        let n = 21;
        let wave = |i: usize, a: f64| (a * (i * i + 3 * i + 1) as f64).sin();
        let inputs: Vec<f64> = (0..2 * n).map(|i| 0.5 + 0.5 * wave(i, 1.7)).collect();
        let mut y: Vec<f64> = (0..n).map(|i| wave(i, 0.9) + 2.0 * inputs[2 * i]).collect();
        let mean = y.iter().sum::<f64>() / n as f64;
        y.iter_mut().for_each(|y| *y -= mean);
        y.resize(padded(n), 0.0);
        let noise = (0..n).map(|i| 1.0 + 0.5 * wave(i, 2.1)).collect();
        Problem { points: Points::scaled(&inputs, &[0.0; 2], &[1.0; 2]), y, noise, variance }
    }

    /// Against central differences: their error is of order step² and rounding / step, 1e-9 both.
    #[test]
    fn the_gradient_is_the_derivative() {
        for variance in [Variance::Free, Variance::KnownNoise(0.3)] {
            let problem = problem(variance);
            let mut work = Workspace::new(&problem);
            for (amplitude, lengths) in [(-1.0, [-1.0, -2.0]), (2.0, [0.5, -0.7]), (-6.0, [0.0; 2])]
            {
                let at = Covariance { amplitude, log_lengths: lengths.to_vec() };
                let mut gradient = at.clone();
                problem.value_and_gradient(&at, &mut work, &mut gradient).unwrap();
                let mut difference = |change: &dyn Fn(&mut Covariance, f64)| {
                    let mut value = |step: f64| {
                        let mut at = at.clone();
                        change(&mut at, step);
                        problem.value(&at, &mut work).unwrap().minus_log
                    };
                    (value(1e-5) - value(-1e-5)) / 2e-5
                };
                let check = |what: &str, exact: f64, difference: f64| {
                    let error = (exact - difference).abs();
                    assert!(error < 1e-7 * (1.0 + exact.abs()), "{variance:?} {what}: {error:e}");
                };
                let by_amplitude = difference(&|at, step| at.amplitude += step);
                check("amplitude", gradient.amplitude, by_amplitude);
                for d in 0..2 {
                    let by_length = difference(&|at, step| at.log_lengths[d] += step);
                    check("length", gradient.log_lengths[d], by_length);
                }
            }
        }
    }
}
