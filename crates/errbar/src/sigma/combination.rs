//! The logarithm of sigma as a sum of functions, each with a coefficient that is standard normal before
//! errors speak.
//!
//! First come the likeliest coefficients, by Newton's method: the likelihood of Gaussian errors is convex in
//! them, and knows no units. From there the cost is minimised,
//!
//! $$\frac{\kappa N}{\beta}\mathrm{AR} + \tfrac12 |w|^2,$$
//!
//! in coordinates in which the expected curvature of the likelihood is one. CRPS in units of the local sigma
//! has expected curvature $J = 1/(2\sqrt\pi)$ in $\ln\sigma$, and its slope the variance
//! $V = \frac{2}{\pi\sqrt3} - \frac1\pi$; so $\kappa = J/V$ makes the cost weigh against the prior as much as
//! the information $J^2/V$ that it carries (1.6 per row, where the likelihood has 2).

use std::ops::Range;

use rayon::prelude::*;

use crate::error::Result;
use crate::loss::LossKind;
use crate::math::cholesky::{Cholesky, Squares};
use crate::math::linear::{axpy, dot};
use crate::monitor::{Monitor, check};
use crate::optimize::{self, bfgs_with};

/// Functions of the inputs, known at some rows.
pub(crate) trait Functions: Sync {
    /// Their values at some rows, row after row: there already, or written to the memory that is given.
    fn at<'a>(&'a self, rows: Range<usize>, memory: &'a mut Vec<f64>) -> &'a [f64];
}

/// Functions whose values at all rows are kept, row after row.
pub(crate) struct Dense<'a> {
    pub(crate) count: usize,
    pub(crate) values: &'a [f64],
}

impl Functions for Dense<'_> {
    fn at<'a>(&'a self, rows: Range<usize>, _: &'a mut Vec<f64>) -> &'a [f64] {
        &self.values[rows.start * self.count..rows.end * self.count]
    }
}

/// Errors, with weights of one on average, and the functions that are to say how large they are.
#[derive(Clone, Copy)]
pub(crate) struct Combination<'a, F> {
    pub(crate) functions: &'a F,
    pub(crate) error: &'a [f64],
    pub(crate) weight: Option<&'a [f64]>,
}

/// Log sigma stays within this, far beyond any data in the errors' own scale.
pub(crate) const FAR: f64 = 300.0;

/// A slope, in coordinates in which the likelihood bends by one, below which rows do not tell a coefficient from
/// the best one: it is a third of what they leave open.
const ENOUGH: f64 = 0.3;

/// Newton's steps at most.
pub(crate) const ENOUGH_STEPS: usize = 60;

/// Rows whose values are made at once.
const BLOCK: usize = 64;
/// Parts that many rows are cut into, which threads share: their sums are added in order, so that the bits do
/// not depend on the number of threads.
const PARTS: usize = 16;
const PARALLEL_FROM: usize = 4096;

/// $J/V$ of the CRPS in local units.
const KAPPA: f64 = 5.728_660_900_197_736;

/// $\sigma^2$.
pub(crate) fn variance(log_sigma: f64) -> f64 {
    (2.0 * log_sigma.clamp(-FAR, FAR)).exp()
}

impl<F: Functions> Combination<'_, F> {
    fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |w| w[row])
    }

    /// What is summed over all rows: `add` takes the values of a block of them, one part after another.
    fn sum<T: Send>(
        &self,
        start: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, usize, &[f64]) + Sync,
        merge: impl Fn(&mut T, T),
    ) -> T {
        let rows = self.error.len();
        let parts = if rows < PARALLEL_FROM { 1 } else { PARTS };
        let part = |part: usize| {
            let (from, to) = (part * rows / parts, (part + 1) * rows / parts);
            let (mut sum, mut memory) = (start(), Vec::new());
            for from in (from..to).step_by(BLOCK) {
                let values = self.functions.at(from..(from + BLOCK).min(to), &mut memory);
                add(&mut sum, from, values);
            }
            sum
        };
        let sums: Vec<T> = match parts {
            1 => vec![part(0)],
            parts => (0..parts).into_par_iter().map(part).collect(),
        };
        let mut sums = sums.into_iter();
        let mut whole = sums.next().unwrap_or_else(&start);
        sums.for_each(|sum| merge(&mut whole, sum));
        whole
    }

    /// Log sigma of each row.
    pub(crate) fn log_sigma(&self, w: &[f64]) -> Vec<f64> {
        let block = |logs: &mut Vec<f64>, _: usize, values: &[f64]| {
            logs.extend(values.chunks_exact(w.len()).map(|values| dot(values, w)));
        };
        self.sum(Vec::new, block, |all, mut part| all.append(&mut part))
    }

    /// Minus the logarithm of likelihood times prior, where log sigma is this.
    fn likelihood(&self, logs: &[f64], w: &[f64]) -> f64 {
        let mut cost = 0.5 * dot(w, w);
        for (row, (log, e)) in logs.iter().zip(self.error).enumerate() {
            let log = log.clamp(-FAR, FAR);
            cost += self.weight(row) * (log + 0.5 * (e * (-log).exp()).powi(2));
        }
        cost
    }

    /// The likeliest coefficients, by so many of Newton's steps from `w` or until one is to lower the cost by less
    /// than is `enough`; the cost there, which is minus the logarithm of likelihood times prior. Ends early when
    /// the work should stop.
    pub(crate) fn likeliest(
        &self,
        w: &mut [f64],
        steps: usize,
        enough: f64,
        monitor: &dyn Monitor,
    ) -> f64 {
        let size = w.len();
        let mut logs = self.log_sigma(w);
        let mut cost = self.likelihood(&logs, w);
        for _ in 0..steps {
            if monitor.should_stop() {
                break;
            }
            let (mut slope, mut curvature) = (logs.clone(), logs.clone());
            for (row, log) in logs.iter().enumerate() {
                (slope[row], curvature[row]) = self.slope_and_curvature(row, *log);
            }
            let gradient = self.gradient(&slope, w);
            let mut step = gradient.clone();
            self.squares(&curvature, size).solve(&mut step);
            let fall = dot(&step, &gradient);
            if fall < enough {
                break;
            }
            let mut length = 1.0;
            let (next, at_next, lower) = loop {
                let mut next = w.to_vec();
                axpy(-length, &step, &mut next);
                let there = self.log_sigma(&next);
                let lower = self.likelihood(&there, &next);
                if lower <= cost - 1e-4 * length * fall {
                    break (next, there, lower);
                }
                length *= 0.5;
                if length < 1e-6 {
                    return cost;
                }
            };
            w.copy_from_slice(&next);
            (logs, cost) = (at_next, lower);
        }
        cost
    }

    /// Log sigma of each row by coefficients that its part has no say in: by one of Newton's steps from the
    /// likeliest coefficients of all rows.
    pub(crate) fn held_out_in_one_step(&self, w: &[f64], part: &[usize], parts: usize) -> Vec<f64> {
        let (size, rows) = (w.len(), self.error.len());
        let (mut slope, mut curvature) = (vec![0.0; rows], vec![0.0; rows]);
        for (row, log) in self.log_sigma(w).into_iter().enumerate() {
            (slope[row], curvature[row]) = self.slope_and_curvature(row, log);
        }
        // The sums of each part, all in one pass.
        let start = || (0..parts).map(|_| (vec![0.0; size], Squares::new(size))).collect();
        let block = |sums: &mut Vec<(Vec<f64>, Squares)>, from: usize, values: &[f64]| {
            for (nth, values) in values.chunks_exact(size).enumerate() {
                let row = from + nth;
                let (gradient, squares) = &mut sums[part[row]];
                axpy(slope[row], values, gradient);
                squares.wait(curvature[row], values);
            }
        };
        let merge = |sums: &mut Vec<(Vec<f64>, Squares)>, others: Vec<(Vec<f64>, Squares)>| {
            for ((gradient, squares), (other, others)) in sums.iter_mut().zip(others) {
                axpy(1.0, &other, gradient);
                squares.merge(others);
            }
        };
        let mut sums: Vec<(Vec<f64>, Squares)> = self.sum(start, block, merge);
        sums.iter_mut().for_each(|(_, squares)| squares.settle());
        let without = |own: usize| {
            let mut gradient = w.to_vec();
            let mut squares = Squares::new(size);
            for (other, (of_other, squares_of_other)) in sums.iter().enumerate() {
                if other != own {
                    axpy(1.0, of_other, &mut gradient);
                    squares.add_all(squares_of_other);
                }
            }
            squares.one_plus_factored().solve(&mut gradient);
            let mut without = w.to_vec();
            axpy(-1.0, &gradient, &mut without);
            without
        };
        let without: Vec<Vec<f64>> = (0..parts).into_par_iter().map(without).collect();
        let block = |logs: &mut Vec<f64>, from: usize, values: &[f64]| {
            let each = values.chunks_exact(size).enumerate();
            logs.extend(each.map(|(nth, values)| dot(values, &without[part[from + nth]])));
        };
        self.sum(Vec::new, block, |all, mut part| all.append(&mut part))
    }

    /// The slope of a row's likelihood in its log sigma, and its curvature: between the expected and the actual
    /// one, and positive.
    fn slope_and_curvature(&self, row: usize, log: f64) -> (f64, f64) {
        let q = (self.error[row] * (-log.clamp(-FAR, FAR)).exp()).powi(2);
        (self.weight(row) * (1.0 - q), self.weight(row) * 2.0 * q.clamp(1.0, 10.0))
    }

    /// The slope in the coefficients: that of the prior, and the slope of each row times its values.
    fn gradient(&self, slope: &[f64], w: &[f64]) -> Vec<f64> {
        let block = |sum: &mut Vec<f64>, from: usize, values: &[f64]| {
            for (values, slope) in values.chunks_exact(w.len()).zip(&slope[from..]) {
                axpy(*slope, values, sum);
            }
        };
        let merge = |sum: &mut Vec<f64>, part: Vec<f64>| axpy(1.0, &part, sum);
        let mut sum = self.sum(|| vec![0.0; w.len()], block, merge);
        axpy(1.0, w, &mut sum);
        sum
    }

    /// One plus the squares of the values of each row, so many times, factored.
    fn squares(&self, curvature: &[f64], size: usize) -> Cholesky {
        let block = |sum: &mut Squares, from: usize, values: &[f64]| {
            sum.add_rows(&curvature[from..from + values.len() / size], values);
        };
        self.sum(|| Squares::new(size), block, Squares::merge).one_plus_factored()
    }

    /// The expected curvature of the likelihood, the same at all coefficients (`size` of them), factored.
    pub(crate) fn curvature(&self, size: usize) -> Cholesky {
        let curvature: Vec<f64> = (0..self.error.len()).map(|row| 2.0 * self.weight(row)).collect();
        self.squares(&curvature, size)
    }

    /// Goes from the likeliest coefficients to those of least cost, the error of each row counted in its unit.
    /// What is called `curvature` is [`Combination::curvature`].
    ///
    /// # Errors
    /// What the loss refuses, or a monitor that asked to stop.
    pub(crate) fn least_cost(
        &self,
        w: &mut [f64],
        loss: LossKind,
        unit: &[f64],
        curvature: &Cholesky,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        if loss == LossKind::Nlpd {
            return Ok(());
        }
        let rows = self.error.len();
        let local: Vec<f64> = self.error.iter().zip(unit).map(|(e, u)| e / u).collect();
        let beta = match loss {
            LossKind::Ar(beta) | LossKind::OfLaw(beta, _) => {
                let mean = local.iter().map(|e| e.abs() / rows as f64).sum();
                beta.split(mean, rows)?.accuracy.max(0.1)
            }
            _ => 1.0,
        };
        let mut loss = loss.on(&local, self.weight)?;
        let scale = KAPPA * rows as f64 / beta;
        let (mut sigma, mut slope) = (vec![0.0; rows], vec![0.0; rows]);
        let own = w.len();
        let options = optimize::Options { iterations: 200, gradient: ENOUGH, ..Default::default() };
        // Coordinates v with w = w0 + L⁻ᵀ v, in which the likelihood bends by one in every direction.
        let start = w.to_vec();
        let at = |v: &[f64]| {
            let mut w = v.to_vec();
            curvature.solve_upper(&mut w);
            axpy(1.0, &start, &mut w);
            w
        };
        let objective = |v: &[f64], gradient: &mut [f64]| {
            let w = at(v);
            let logs = self.log_sigma(&w);
            if logs.iter().any(|log| log.is_nan() || log.abs() > FAR) {
                return None;
            }
            for ((sigma, log), unit) in sigma.iter_mut().zip(&logs).zip(unit) {
                *sigma = log.exp() / unit;
            }
            let value = loss.value_and_gradient(&sigma, &mut slope).ok()?;
            slope.iter_mut().zip(&sigma).for_each(|(slope, sigma)| *slope *= scale * sigma);
            gradient.copy_from_slice(&self.gradient(&slope, &w));
            curvature.solve_lower(gradient);
            Some(scale * value + 0.5 * dot(&w, &w))
        };
        let mut v = vec![0.0; own];
        bfgs_with(&mut v, &options, objective, |_| monitor.should_stop());
        w.copy_from_slice(&at(&v));
        check(monitor)
    }
}
