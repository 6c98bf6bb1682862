//! Functions whose sum has the covariance of a Gaussian process: one bump for each inducing point.
//!
//! With a standard normal coefficient for each, the bumps sum to a function of the squared-exponential
//! covariance $s^2\exp(-\frac12\sum\_k (x\_k - x'\_k)^2/\ell\_k^2)$, wherever the inducing points are near
//! enough. What they leave out of the variance at a place is known, and given with them.

use serde::{Deserialize, Serialize};

use crate::math::cholesky::{GROUP, Group, LARGEST, largest_solution, solve_lower_group};
use crate::math::linear::dot;
use crate::math::{Arithmetic, Kernel, dispatch, exp, exp_kernel};

/// Length scales (in halves of the inputs' ranges) and standard deviation of the process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Process {
    pub(crate) lengths: Vec<f64>,
    pub(crate) deviation: f64,
}

/// The bumps. They come from a Cholesky factorisation of the process's covariance that takes the row
/// of largest remaining variance next, and ends when nothing is left: a handful for a smooth function,
/// whatever the number of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bumps {
    inverse_lengths: Vec<f64>,
    deviation: f64,
    /// The rows chosen, one after the other.
    pivots: Vec<f64>,
    /// For each of them its row of the triangular factor, up to the diagonal.
    factor: Vec<Vec<f64>>,
}

/// How many bumps there may be, and what share of the variance they may leave out at any row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) most: usize,
    pub(crate) left_out: f64,
}

impl Bumps {
    /// For rows of scaled inputs; also each bump's value at every row, before the deviation.
    pub(crate) fn new(rows: &[f64], process: &Process, limits: Limits) -> (Self, Vec<Vec<f64>>) {
        let columns = process.lengths.len();
        let mut chosen = Self {
            inverse_lengths: process.lengths.iter().map(|l| 1.0 / l).collect(),
            deviation: process.deviation,
            pivots: Vec::new(),
            factor: Vec::new(),
        };
        let count = rows.len() / columns;
        let row = |i: usize| &rows[i * columns..(i + 1) * columns];
        let mut left = vec![1.0; count];
        let mut bumps: Vec<Vec<f64>> = Vec::new();
        while bumps.len() < limits.most.min(count) {
            let largest = |best: (usize, f64), (i, &left): (usize, &f64)| {
                if left > best.1 { (i, left) } else { best }
            };
            let (pivot, variance) = left.iter().enumerate().fold((0, 0.0), largest);
            if variance < limits.left_out {
                break;
            }
            let root = variance.sqrt();
            let mut bump: Vec<f64> =
                (0..count).map(|i| chosen.covariance(row(i), row(pivot))).collect();
            for other in &bumps {
                let there = other[pivot];
                bump.iter_mut().zip(other).for_each(|(b, o)| *b -= there * o);
            }
            bump.iter_mut().zip(&mut left).for_each(|(b, left)| {
                *b /= root;
                *left -= *b * *b;
            });
            left[pivot] = 0.0;
            chosen.pivots.extend_from_slice(row(pivot));
            bumps.push(bump);
            chosen.factor.push(bumps.iter().map(|bump| bump[pivot]).collect());
        }
        (chosen, bumps)
    }

    /// The number of bumps.
    pub(crate) fn len(&self) -> usize {
        self.factor.len()
    }

    /// The number of inputs.
    pub(crate) fn columns(&self) -> usize {
        self.inverse_lengths.len()
    }

    /// The standard deviation of the process.
    pub(crate) fn deviation(&self) -> f64 {
        self.deviation
    }

    /// One over the length scale of each input.
    pub(crate) fn inverse_lengths(&self) -> &[f64] {
        &self.inverse_lengths
    }

    /// The inducing points, one after the other.
    pub(crate) fn points(&self) -> &[f64] {
        &self.pivots
    }

    /// The triangular factor of the points' correlations, row by row up to the diagonal.
    pub(crate) fn factor(&self) -> &[Vec<f64>] {
        &self.factor
    }

    /// The bumps at one row of scaled inputs, and the variance of the process that none of them
    /// explains: far from all rows, that is all of it.
    pub(crate) fn at(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let mut left = 1.0;
        let points = self.pivots.chunks_exact(self.columns());
        for (j, (factor, point)) in self.factor.iter().zip(points).enumerate() {
            let known = dot(&factor[..j], &out[..j]);
            out[j] = (self.covariance(x, point) - known) / factor[j];
            left -= out[j] * out[j];
        }
        out.iter_mut().for_each(|b| *b *= self.deviation);
        self.deviation * self.deviation * left.max(0.0)
    }

    /// [`Bumps::at`] for up to [`GROUP`] rows at once: each bump at all rows, and what they leave out.
    pub(crate) fn at_group(&self, rows: &[f64], out: &mut [Group]) -> Group {
        let columns = self.columns();
        // Rows in excess repeat the last one.
        let last = (rows.len() / columns).saturating_sub(1);
        let inputs: Vec<Group> = (0..columns)
            .map(|c| {
                std::array::from_fn(|i| rows[i.min(last) * columns + c] * self.inverse_lengths[c])
            })
            .collect();
        let points = self.pivots.chunks_exact(columns);
        for (out, point) in out.iter_mut().zip(points) {
            dispatch(Correlate { point, lengths: &self.inverse_lengths, inputs: &inputs, out });
        }
        solve_lower_group(self.factor.iter().map(Vec::as_slice), out);
        let mut left = [1.0; GROUP];
        for bump in out.iter_mut() {
            for (b, left) in bump.iter_mut().zip(&mut left) {
                *left -= *b * *b;
                *b *= self.deviation;
            }
        }
        left.map(|left| self.deviation * self.deviation * left.max(0.0))
    }

    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let squares = a.iter().zip(b).zip(&self.inverse_lengths);
        let sum: f64 = squares.map(|((a, b), l)| ((a - b) * l).powi(2)).sum();
        exp(-0.5 * sum)
    }

    pub(crate) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        let lengths = &self.inverse_lengths;
        // An input that does not matter has an inverse length of zero.
        if lengths.len() != columns || !lengths.iter().all(|l| *l >= 0.0 && l.is_finite()) {
            return Err("its length scales do not fit its inputs");
        }
        let whole = self.pivots.len() == columns * self.factor.len()
            && self.factor.iter().enumerate().all(|(j, row)| row.len() == j + 1)
            && self.factor.iter().all(|row| row.last().is_some_and(positive));
        let held = |x: &f64| x.abs() <= LARGEST;
        let in_range = self.pivots.iter().chain(lengths).all(held);
        match whole && in_range && self.deviation >= 0.0 && self.largest().is_some() {
            true => Ok(()),
            false => Err("its chosen rows and their factor do not fit together"),
        }
    }

    /// What each bump can reach anywhere; `None` for numbers that no fit makes, of which some row would
    /// make NaN.
    pub(crate) fn largest(&self) -> Option<Vec<f64>> {
        let mut largest = largest_solution(&self.factor, &vec![1.0; self.len()])?;
        largest.iter_mut().for_each(|b| *b *= self.deviation);
        let in_range = self.deviation <= LARGEST && largest.iter().all(|b| *b <= LARGEST);
        in_range.then_some(largest)
    }
}

/// The correlations of a group of rows, already divided by the length scales, with one point.
struct Correlate<'a> {
    point: &'a [f64],
    lengths: &'a [f64],
    inputs: &'a [Group],
    out: &'a mut Group,
}

impl Kernel for Correlate<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let mut sum = [0.0; GROUP];
        for ((inputs, x), l) in self.inputs.iter().zip(self.point).zip(self.lengths) {
            let x = x * l;
            for c in 0..GROUP {
                let difference = inputs[c] - x;
                sum[c] = A::mul_add(difference, difference, sum[c]);
            }
        }
        for (out, sum) in self.out.iter_mut().zip(sum) {
            *out = exp_kernel::<A>(-0.5 * sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in groups take another path than one row alone.
    #[test]
    fn groups_and_single_rows_agree() {
        let rows: Vec<f64> = (0..200).map(|i| (f64::from(i) * 0.618).fract() * 2.0 - 1.0).collect();
        let process = Process { lengths: vec![0.5, f64::INFINITY], deviation: 3.0 };
        let (bumps, _) = Bumps::new(&rows, &process, Limits { most: 40, left_out: 1e-8 });
        let mut group = vec![[0.0; GROUP]; bumps.len()];
        for count in [1, 7, GROUP] {
            let left = bumps.at_group(&rows[..2 * count], &mut group);
            for (i, row) in rows.chunks(2).take(count).enumerate() {
                let mut one = vec![0.0; bumps.len()];
                let alone = bumps.at(row, &mut one);
                assert!((left[i] - alone).abs() < 1e-11);
                for (group, one) in group.iter().zip(&one) {
                    assert!((group[i] - one).abs() < 1e-9, "{} and {one}", group[i]);
                }
            }
        }
    }
}
