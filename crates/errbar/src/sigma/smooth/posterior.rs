//! The Gaussian likelihood with the prior: its maximum, its evidence and its curvature.
//!
//! The errors are $\varepsilon\_i \sim \mathcal N(0, \sigma(x\_i)^2)$, and $\ln\sigma$ is a
//! combination of functions with coefficients $w \sim \mathcal N(0, 1)$. The evidence for a length
//! scale and a deviation of the process is Laplace's approximation, with the expected curvature, 2 for
//! each error, which no accidentally small error can spoil.

use crate::math::cholesky::Cholesky;
use crate::math::linear::{axpy, dot};
use crate::monitor::Monitor;

/// Errors with their weights (one on average).
pub(super) struct Errors<'a> {
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
}

/// Log sigma stays within this, far beyond any data in the errors' own scale.
pub(super) const FAR: f64 = 300.0;

/// $\sigma^2$.
pub(super) fn variance(log_sigma: f64) -> f64 {
    (2.0 * log_sigma.clamp(-FAR, FAR)).exp()
}

impl Errors<'_> {
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |w| w[row])
    }

    /// Minus the logarithm of likelihood times prior.
    fn cost(&self, design: &[f64], w: &[f64]) -> f64 {
        let mut cost = 0.5 * dot(w, w);
        for (row, functions) in design.chunks_exact(w.len()).enumerate() {
            let variance = variance(dot(functions, w));
            let e = self.error[row];
            cost += self.weight(row) * 0.5 * (variance.ln() + e * e / variance);
        }
        cost
    }

    /// The most likely coefficients, by Newton's method from `w`; the cost there. Ends early when the
    /// work should stop.
    pub(super) fn maximise(&self, design: &[f64], w: &mut [f64], monitor: &dyn Monitor) -> f64 {
        const STEPS: usize = 60;
        let size = w.len();
        let mut cost = self.cost(design, w);
        let mut curvature = vec![0.0; self.error.len()];
        for _ in 0..STEPS {
            if monitor.should_stop() {
                break;
            }
            let mut gradient = w.to_vec();
            for (row, functions) in design.chunks_exact(size).enumerate() {
                let q = self.error[row] * self.error[row] / variance(dot(functions, w));
                axpy(self.weight(row) * (1.0 - q), functions, &mut gradient);
                // Between the expected and the actual curvature, and positive.
                curvature[row] = self.weight(row) * 2.0 * q.clamp(1.0, 10.0);
            }
            let matrix = Cholesky::one_plus_squares(size, &curvature, design);
            let mut step = gradient.clone();
            matrix.solve(&mut step);
            let slope = dot(&step, &gradient);
            if slope < 1e-6 {
                break;
            }
            let mut length = 1.0;
            let (next, lower) = loop {
                let mut next = w.to_vec();
                axpy(-length, &step, &mut next);
                let there = self.cost(design, &next);
                if there <= cost - 1e-4 * length * slope {
                    break (next, there);
                }
                length *= 0.5;
                if length < 1e-6 {
                    return cost;
                }
            };
            w.copy_from_slice(&next);
            cost = lower;
        }
        cost
    }

    /// The expected curvature, the same at all coefficients (`size` of them), factored.
    pub(super) fn curvature(&self, design: &[f64], size: usize) -> Cholesky {
        let curvature: Vec<f64> = (0..self.error.len()).map(|row| 2.0 * self.weight(row)).collect();
        Cholesky::one_plus_squares(size, &curvature, design)
    }
}
