//! The Gaussian likelihood with the prior: its maximum, its evidence and its curvature.
//!
//! The errors are $\varepsilon\_i \sim \mathcal N(0, \sigma(x\_i)^2 + v\_i)$ with a variance
//! $v\_i$ that is known besides, and $\ln\sigma$ is a combination of functions with coefficients
//! $w \sim \mathcal N(0, 1)$. The evidence for a length scale and a deviation of the process is
//! Laplace's approximation, with the expected curvature $2r\_i^2$,
//! $r\_i = \sigma\_i^2/(\sigma\_i^2 + v\_i)$, which no accidentally small error can spoil.

use crate::math::linear::{axpy, dot};

/// Errors with their weights (one on average) and the variance known besides.
pub(super) struct Errors<'a> {
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    pub(super) known: Option<&'a [f64]>,
}

/// Log sigma stays within this, far beyond any data in the errors' own scale.
pub(super) const FAR: f64 = 300.0;

impl Errors<'_> {
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |w| w[row])
    }

    pub(super) fn known(&self, row: usize) -> f64 {
        self.known.map_or(0.0, |v| v[row])
    }

    /// $\sigma^2$ and $\sigma^2 + v$.
    pub(super) fn variance(&self, row: usize, log_sigma: f64) -> (f64, f64) {
        let own = (2.0 * log_sigma.clamp(-FAR, FAR)).exp();
        (own, own + self.known(row))
    }

    /// Minus the logarithm of likelihood times prior.
    fn cost(&self, design: &[f64], w: &[f64]) -> f64 {
        let mut cost = 0.5 * dot(w, w);
        for (row, functions) in design.chunks_exact(w.len()).enumerate() {
            let (_, total) = self.variance(row, dot(functions, w));
            let e = self.error[row];
            cost += self.weight(row) * 0.5 * (total.ln() + e * e / total);
        }
        cost
    }

    /// The most likely coefficients, by Newton's method from `w`; the cost there.
    pub(super) fn maximise(&self, design: &[f64], w: &mut [f64]) -> f64 {
        const STEPS: usize = 60;
        let size = w.len();
        let mut cost = self.cost(design, w);
        let mut matrix = Cholesky::new(size);
        for _ in 0..STEPS {
            let mut gradient = w.to_vec();
            matrix.reset();
            for (row, functions) in design.chunks_exact(size).enumerate() {
                let (own, total) = self.variance(row, dot(functions, w));
                let share = own / total;
                let q = self.error[row] * self.error[row] / total;
                axpy(self.weight(row) * share * (1.0 - q), functions, &mut gradient);
                // Between the expected and the actual curvature, and positive.
                let curvature = 2.0 * share * share * q.clamp(1.0, 10.0);
                matrix.add(self.weight(row) * curvature, functions);
            }
            matrix.factor();
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

    /// The expected curvature at some coefficients, factored.
    pub(super) fn curvature(&self, design: &[f64], w: &[f64]) -> Cholesky {
        let mut matrix = Cholesky::new(w.len());
        for (row, functions) in design.chunks_exact(w.len()).enumerate() {
            let (own, total) = self.variance(row, dot(functions, w));
            matrix.add(self.weight(row) * 2.0 * (own / total).powi(2), functions);
        }
        matrix.factor();
        matrix
    }
}

/// A symmetric positive definite matrix, one plus a sum of squares, and its triangular factor.
pub(super) struct Cholesky {
    size: usize,
    /// The lower triangle, row by row in full rows.
    rows: Vec<f64>,
}

impl Cholesky {
    fn new(size: usize) -> Self {
        let mut matrix = Self { size, rows: vec![0.0; size * size] };
        matrix.reset();
        matrix
    }

    fn reset(&mut self) {
        self.rows.fill(0.0);
        (0..self.size).for_each(|i| self.rows[i * self.size + i] = 1.0);
    }

    /// Adds `c` times the square of a vector.
    fn add(&mut self, c: f64, vector: &[f64]) {
        for (k, row) in self.rows.chunks_exact_mut(self.size).enumerate() {
            axpy(c * vector[k], &vector[..=k], &mut row[..=k]);
        }
    }

    fn factor(&mut self) {
        let n = self.size;
        for i in 0..n {
            let (above, rest) = self.rows.split_at_mut(i * n);
            let own = &mut rest[..n];
            for j in 0..i {
                let other = &above[j * n..j * n + n];
                own[j] = (own[j] - dot(&own[..j], &other[..j])) / other[j];
            }
            // One is added to a sum of squares: rounding alone can bring it near zero.
            own[i] = (own[i] - dot(&own[..i], &own[..i])).max(1e-12).sqrt();
        }
    }

    /// Half the logarithm of the determinant.
    pub(super) fn half_log_determinant(&self) -> f64 {
        (0..self.size).map(|i| self.rows[i * self.size + i].ln()).sum()
    }

    /// Solves with the lower triangle alone: the squared length of the result is the variance in the
    /// direction of `b`.
    pub(super) fn solve_lower(&self, b: &mut [f64]) {
        for (i, row) in self.rows.chunks_exact(self.size).enumerate() {
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
    }

    fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        for i in (0..self.size).rev() {
            let row = &self.rows[i * self.size..(i + 1) * self.size];
            b[i] /= row[i];
            let there = b[i];
            axpy(-there, &row[..i], &mut b[..i]);
        }
    }

    /// The factor, row by row up to the diagonal.
    pub(super) fn triangle(&self) -> Vec<Vec<f64>> {
        let row = |(i, row): (usize, &[f64])| row[..=i].to_vec();
        self.rows.chunks_exact(self.size).enumerate().map(row).collect()
    }

    pub(super) fn from_triangle(triangle: &[Vec<f64>]) -> Self {
        let size = triangle.len();
        let mut rows = vec![0.0; size * size];
        for (out, row) in rows.chunks_exact_mut(size.max(1)).zip(triangle) {
            out[..row.len()].copy_from_slice(row);
        }
        Self { size, rows }
    }
}
