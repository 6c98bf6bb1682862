//! The general polynomial: of log sigma, all orders averaged by what each says of rows left out.
//!
//! For each order the likeliest coefficients are found, from all rows and from all but one part of them, in
//! turn; the rows left out say how much each order counts. What is left of it then is to minimise the cost,
//! which starts from there.

use std::ops::Range;

use rayon::prelude::*;

use super::{Polynomial, Problem, degree};
use crate::data::Split;
use crate::error::Result;
use crate::loss::LossKind;
use crate::math::cholesky::Cholesky;
use crate::monitor::{Monitor, check};
use crate::sigma::combination::{Combination, ENOUGH_STEPS, Functions};

/// The prior standard deviation of log sigma's level, and of the coefficient of any other term.
const LEVEL: f64 = 10.0;
const SLOPE: f64 = 3.0;

/// Of more rows than this, one of Newton's steps takes the rows of a part out.
const EXACT_UP_TO: usize = 5_000;
const STEPS_WITHOUT: usize = 8;

/// An order that counts less than this is left out.
const LEAST_SHARE: f64 = 0.01;

/// Terms of scaled inputs, in units of their prior deviations.
pub(super) struct Terms<'a> {
    /// Scaled inputs, column after column.
    pub(super) inputs: &'a [f64],
    pub(super) rows: usize,
    pub(super) terms: &'a [Vec<u8>],
    /// Their values, row after row, where they are kept.
    kept: Option<Vec<f64>>,
}

/// So many values at most are kept.
const MOST_KEPT: usize = 8_000_000;

fn prior(term: &[u8]) -> f64 {
    if degree(term) == 0 { LEVEL } else { SLOPE }
}

impl Functions for Terms<'_> {
    fn at<'a>(&'a self, rows: Range<usize>, memory: &'a mut Vec<f64>) -> &'a [f64] {
        if let Some(kept) = &self.kept {
            return &kept[rows.start * self.terms.len()..rows.end * self.terms.len()];
        }
        let (count, size, inputs) = (rows.len(), self.terms.len(), self.inputs.len() / self.rows);
        // Chebyshev's polynomials of each input, order after order.
        let most = self.terms.iter().flatten().copied().max().map_or(1, usize::from);
        let orders = most.max(1) + 1;
        memory.clear();
        memory.resize(count * (size + inputs * orders + 1), 0.0);
        let (out, rest) = memory.split_at_mut(count * size);
        let (product, tables) = rest.split_at_mut(count);
        for (input, table) in tables.chunks_exact_mut(orders * count).enumerate() {
            let x = &self.inputs[input * self.rows..][rows.clone()];
            table[..count].fill(1.0);
            table[count..2 * count].copy_from_slice(x);
            for order in 2..orders {
                let (before, own) = table.split_at_mut(order * count);
                let (last, this) = before[(order - 2) * count..].split_at(count);
                for (own, (x, (this, last))) in
                    own.iter_mut().zip(x.iter().zip(this.iter().zip(last)))
                {
                    *own = 2.0 * x * this - last;
                }
            }
        }
        for (nth, term) in self.terms.iter().enumerate() {
            product.fill(prior(term));
            for (input, &order) in term.iter().enumerate().filter(|(_, order)| **order > 0) {
                let table = &tables[(input * orders + usize::from(order)) * count..][..count];
                product.iter_mut().zip(table).for_each(|(product, value)| *product *= value);
            }
            out.iter_mut().skip(nth).step_by(size).zip(&*product).for_each(|(out, x)| *out = *x);
        }
        &memory[..count * size]
    }
}

/// The likeliest polynomials of one set of rows.
pub(crate) struct Likeliest {
    /// For each order that counts its share, the likeliest coefficients in units of their prior deviations, and
    /// the curvature there.
    orders: Vec<Order>,
    /// For each row log sigma by polynomials that have not seen it; `None` of too few rows.
    pub(super) held_out: Option<Vec<f64>>,
}

struct Order {
    share: f64,
    size: usize,
    coefficients: Vec<f64>,
    curvature: Cholesky,
}

impl Likeliest {
    /// Of the rows of a problem, with weights of one on average, in so many parts.
    pub(super) fn learn(problem: &Problem, folds: usize, monitor: &dyn Monitor) -> Result<Self> {
        let rows = problem.error.len();
        let squares: f64 = problem.error.iter().map(|e| e * e).sum();
        let level = 0.5 * (squares / rows as f64).max(f64::MIN_POSITIVE).ln();
        let mut orders: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut start = vec![level / LEVEL];
        for order in 0..=problem.largest_order {
            let size = problem.size(order);
            // More parameters than rows, or no further terms.
            if size > rows || (order > 0 && size == start.len()) {
                break;
            }
            start.resize(size, 0.0);
            let terms = problem.terms_up_to(size);
            problem.combination(&terms, None).likeliest(&mut start, ENOUGH_STEPS, 1e-6, monitor);
            check(monitor)?;
            orders.push((size, start.clone()));
            monitor.progress(0.3 * (order + 1) as f64 / (problem.largest_order + 1) as f64);
        }
        let parts = (rows >= 2 * folds).then(|| problem.parts(folds));
        let (shares, held_out) = match parts {
            None => (vec![1.0], None),
            Some(parts) => {
                let each: Vec<Vec<f64>> = (orders.par_iter())
                    .map(|(size, w)| problem.held_out(*size, w, &parts, folds, monitor))
                    .collect();
                check(monitor)?;
                let sizes: Vec<usize> = orders.iter().map(|(size, _)| *size).collect();
                let shares = problem.shares(&sizes, &each);
                let together = |row: usize| {
                    shares.iter().zip(&each).map(|(share, logs)| share * logs[row]).sum::<f64>()
                };
                let together: Vec<f64> = (0..rows).map(together).collect();
                (shares, Some(together))
            }
        };
        monitor.progress(0.7);
        let counted = orders.into_iter().zip(shares).filter(|(_, share)| *share > LEAST_SHARE);
        let orders = counted.map(|((size, coefficients), share)| {
            let terms = problem.terms_up_to(size);
            let curvature = problem.combination(&terms, None).curvature(size);
            Order { share, size, coefficients, curvature }
        });
        Ok(Self { orders: orders.collect(), held_out })
    }

    /// The coefficients of least cost, in the errors' own scale, each error counted in its unit.
    pub(super) fn least_cost(
        &self,
        problem: &Problem,
        loss: LossKind,
        unit: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<Vec<f64>> {
        let each: Vec<Vec<f64>> = (self.orders.par_iter())
            .map(|order| {
                let mut w = order.coefficients.clone();
                let terms = problem.terms_up_to(order.size);
                let errors = problem.combination(&terms, None);
                errors.least_cost(&mut w, loss, unit, &order.curvature, monitor)?;
                Ok(w)
            })
            .collect::<Result<_>>()?;
        Ok(self.together(problem, &each))
    }

    /// The likeliest coefficients, in the errors' own scale.
    pub(super) fn coefficients(&self, problem: &Problem) -> Vec<f64> {
        let each: Vec<&[f64]> = self.orders.iter().map(|order| &order.coefficients[..]).collect();
        self.together(problem, &each)
    }

    /// Those of each order with its share.
    fn together<W: AsRef<[f64]>>(&self, problem: &Problem, each: &[W]) -> Vec<f64> {
        let total: f64 = self.orders.iter().map(|order| order.share).sum();
        let mut sum = vec![0.0; self.orders.iter().map(|order| order.size).max().unwrap_or(1)];
        for (order, w) in self.orders.iter().zip(each) {
            let share = order.share / total;
            for ((sum, w), term) in sum.iter_mut().zip(w.as_ref()).zip(&problem.terms) {
                *sum += share * w * prior(term);
            }
        }
        sum
    }
}

impl Problem {
    /// The terms of an order, of which there are so many: kept where they are few numbers, made anew each time
    /// where they are many.
    fn terms_up_to(&self, size: usize) -> Terms<'_> {
        let rows = self.error.len();
        let terms = Terms { inputs: &self.columns, rows, terms: &self.terms[..size], kept: None };
        if rows * size > MOST_KEPT {
            return terms;
        }
        let mut kept = Vec::with_capacity(rows * size);
        let mut memory = Vec::new();
        for from in (0..rows).step_by(64) {
            kept.extend_from_slice(terms.at(from..(from + 64).min(rows), &mut memory));
        }
        Terms { kept: Some(kept), ..terms }
    }

    fn combination<'a>(
        &'a self,
        functions: &'a Terms<'a>,
        weight: Option<&'a [f64]>,
    ) -> Combination<'a, Terms<'a>> {
        Combination { functions, error: &self.error, weight: weight.or(self.weight.as_deref()) }
    }

    /// Which part each row is in. Every so-and-so-many-th row in the order of the first input makes a part, so
    /// that each covers the whole range; in time, consecutive rows do.
    fn parts(&self, folds: usize) -> Vec<usize> {
        let rows = self.error.len();
        match (self.split, &self.together) {
            (Split::Random, None) => {
                let mut order: Vec<usize> = (0..rows).collect();
                order.sort_by(|&a, &b| self.columns[a].total_cmp(&self.columns[b]));
                let mut parts = vec![0; rows];
                order.iter().enumerate().for_each(|(place, &row)| parts[row] = place % folds);
                parts
            }
            (Split::Random, Some(ids)) => ids.iter().map(|id| *id as usize % folds).collect(),
            (Split::InOrder, together) => {
                // Rows that are left out together go where the first of them does.
                let mut begin: Vec<usize> = (0..rows).collect();
                if let Some(ids) = together {
                    let alike = |row: &usize| ids[*row] == ids[row - 1];
                    (1..rows).filter(alike).for_each(|row| begin[row] = begin[row - 1]);
                }
                begin.into_iter().map(|first| first * folds / rows).collect()
            }
        }
    }

    /// Log sigma of each row by coefficients from the rows of other parts.
    fn held_out(
        &self,
        size: usize,
        w: &[f64],
        parts: &[usize],
        folds: usize,
        monitor: &dyn Monitor,
    ) -> Vec<f64> {
        let rows = self.error.len();
        let terms = self.terms_up_to(size);
        if rows > EXACT_UP_TO {
            // So many rows hardly change when a part of them is taken out: one of Newton's steps tells how.
            return self.combination(&terms, None).held_out_in_one_step(w, parts, folds);
        }
        let part = |part: usize| {
            let weight = |row: usize| match parts[row] == part {
                true => 0.0,
                false => self.weight.as_ref().map_or(1.0, |weight| weight[row]),
            };
            let weight: Vec<f64> = (0..rows).map(weight).collect();
            let mut w = w.to_vec();
            let others = self.combination(&terms, Some(&weight));
            others.likeliest(&mut w, STEPS_WITHOUT, 1e-3, monitor);
            others.log_sigma(&w)
        };
        let logs: Vec<Vec<f64>> = (0..folds).into_par_iter().map(part).collect();
        parts.iter().enumerate().map(|(row, part)| logs[*part][row]).collect()
    }

    /// The share of each order: in proportion to the likelihood it gives to rows left out, and falling with
    /// the number of its coefficients: rows left out judge an order already, a prior of one nat per
    /// coefficient steadies the choice.
    fn shares(&self, sizes: &[usize], held_out: &[Vec<f64>]) -> Vec<f64> {
        let score = |logs: &Vec<f64>| -> f64 {
            let each = logs.iter().zip(&self.error).enumerate().map(|(row, (log, e))| {
                let log = log.clamp(-FAR, FAR);
                let weight = self.weight.as_ref().map_or(1.0, |weight| weight[row]);
                weight * (log + 0.5 * (e * (-log).exp()).powi(2))
            });
            each.sum()
        };
        let scores: Vec<f64> = held_out.iter().map(score).collect();
        let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let share = |(size, score): (&usize, &f64)| (best - score - (*size as f64 - 1.0)).exp();
        let shares: Vec<f64> = sizes.iter().zip(&scores).map(share).collect();
        let total: f64 = shares.iter().sum();
        shares.iter().map(|share| share / total).collect()
    }
}

/// As far as the log of sigma is believed of a row left out.
const FAR: f64 = 600.0;

impl Polynomial {
    /// Of log sigma, from coefficients in the errors' own scale.
    pub(super) fn of_log_sigma(problem: &Problem, mut coefficients: Vec<f64>) -> Self {
        coefficients[0] += problem.unit.ln();
        Self {
            link: super::Link::LogSigma,
            scaling: problem.scaling.clone(),
            terms: problem.terms[..coefficients.len()].to_vec(),
            coefficients,
            floor: 0.0,
        }
    }
}
