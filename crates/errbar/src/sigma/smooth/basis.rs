//! The functions that log sigma is made of: a constant, the inputs themselves, and bumps whose sum
//! has the covariance of a Gaussian process.

use serde::{Deserialize, Serialize};

use crate::math::exp;
use crate::math::linear::dot;

/// The prior standard deviation of the constant: any level of sigma is as good as another.
const LEVEL: f64 = 10.0;
/// The prior standard deviation of log sigma's change over half the range of an input.
const SLOPE: f64 = 1.0;
/// Of the variance of the process, what may be left out at any row.
const LEFT_OUT: f64 = 1e-6;

/// Length scales (in halves of the inputs' ranges) and standard deviation of the process.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Process {
    pub(super) lengths: Vec<f64>,
    pub(super) deviation: f64,
}

/// The functions, each with a standard normal prior on its coefficient.
///
/// The bumps come from a Cholesky factorisation of the process's covariance that takes the row of
/// largest remaining variance next, and ends when nothing is left: a handful for a smooth function,
/// whatever the number of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Basis {
    inverse_lengths: Vec<f64>,
    deviation: f64,
    /// The rows chosen, one after the other.
    pivots: Vec<f64>,
    /// For each of them its row of the triangular factor, up to the diagonal.
    factor: Vec<Vec<f64>>,
}

impl Basis {
    /// For rows of scaled inputs, with at most so many bumps; also the value of every function at
    /// every row, row by row.
    pub(super) fn new(rows: &[f64], process: &Process, most: usize) -> (Self, Vec<f64>) {
        let columns = process.lengths.len();
        let mut basis = Self {
            inverse_lengths: process.lengths.iter().map(|l| 1.0 / l).collect(),
            deviation: process.deviation,
            pivots: Vec::new(),
            factor: Vec::new(),
        };
        let count = rows.len() / columns;
        let row = |i: usize| &rows[i * columns..(i + 1) * columns];
        let mut left = vec![1.0; count];
        let mut bumps: Vec<Vec<f64>> = Vec::new();
        while bumps.len() < most.min(count) {
            let largest = |best: (usize, f64), (i, &left): (usize, &f64)| {
                if left > best.1 { (i, left) } else { best }
            };
            let (pivot, variance) = left.iter().enumerate().fold((0, 0.0), largest);
            if variance < LEFT_OUT {
                break;
            }
            let root = variance.sqrt();
            let mut bump: Vec<f64> =
                (0..count).map(|i| basis.covariance(row(i), row(pivot))).collect();
            for other in &bumps {
                let there = other[pivot];
                bump.iter_mut().zip(other).for_each(|(b, o)| *b -= there * o);
            }
            bump.iter_mut().zip(&mut left).for_each(|(b, left)| {
                *b /= root;
                *left -= *b * *b;
            });
            left[pivot] = 0.0;
            basis.pivots.extend_from_slice(row(pivot));
            bumps.push(bump);
            basis.factor.push(bumps.iter().map(|bump| bump[pivot]).collect());
        }
        let size = basis.size();
        let mut design = vec![0.0; count * size];
        for (i, out) in design.chunks_exact_mut(size).enumerate() {
            basis.linear(row(i), out);
            let own = out[1 + columns..].iter_mut().zip(&bumps);
            own.for_each(|(out, bump)| *out = basis.deviation * bump[i]);
        }
        (basis, design)
    }

    /// The number of functions.
    pub(super) fn size(&self) -> usize {
        1 + self.inverse_lengths.len() + self.factor.len()
    }

    /// The number of bumps.
    pub(super) fn bumps(&self) -> usize {
        self.factor.len()
    }

    /// The functions at one row of scaled inputs, and the variance of the process that none of them
    /// explains: far from all rows, that is all of it.
    pub(super) fn at(&self, x: &[f64], out: &mut [f64]) -> f64 {
        self.linear(x, out);
        let columns = self.inverse_lengths.len();
        let bumps = &mut out[1 + columns..];
        let mut left = 1.0;
        for (j, (factor, pivot)) in
            self.factor.iter().zip(self.pivots.chunks_exact(columns)).enumerate()
        {
            let known = dot(&factor[..j], &bumps[..j]);
            bumps[j] = (self.covariance(x, pivot) - known) / factor[j];
            left -= bumps[j] * bumps[j];
        }
        bumps.iter_mut().for_each(|b| *b *= self.deviation);
        self.deviation * self.deviation * left.max(0.0)
    }

    /// Beyond their range the inputs themselves count as its ends: a straight line would run off.
    fn linear(&self, x: &[f64], out: &mut [f64]) {
        out[0] = LEVEL;
        for (out, x) in out[1..].iter_mut().zip(x) {
            *out = SLOPE * x.clamp(-1.0, 1.0);
        }
    }

    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let squares = a.iter().zip(b).zip(&self.inverse_lengths);
        let sum: f64 = squares.map(|((a, b), l)| ((a - b) * l).powi(2)).sum();
        exp(-0.5 * sum)
    }

    /// The coefficient of the constant for a level of sigma.
    pub(super) fn level(sigma: f64) -> f64 {
        sigma.ln() / LEVEL
    }

    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        let lengths = &self.inverse_lengths;
        // An input that does not matter has an inverse length of zero.
        if lengths.len() != columns || !lengths.iter().all(|l| *l >= 0.0 && l.is_finite()) {
            return Err("its length scales do not fit its inputs");
        }
        let whole = self.pivots.len() == columns * self.factor.len()
            && self.factor.iter().enumerate().all(|(j, row)| row.len() == j + 1)
            && self.factor.iter().all(|row| row.last().is_some_and(positive));
        let finite = self.pivots.iter().chain(self.factor.iter().flatten()).all(|x| x.is_finite());
        match whole && finite && self.deviation >= 0.0 && self.deviation.is_finite() {
            true => Ok(()),
            false => Err("its chosen rows and their factor do not fit together"),
        }
    }
}
