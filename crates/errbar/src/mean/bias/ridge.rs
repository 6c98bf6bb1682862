//! A bias as a polynomial of the inputs, or as a line and bumps that bend it smoothly, by ridge regression.

use serde::{Deserialize, Serialize};

use crate::data::Data;
use crate::error::Result;
use crate::folds::Fold;
use crate::gaussian::inducing_points::{Bumps, Limits, Process};
use crate::math::cholesky::Cholesky;
use crate::math::exp;
use crate::math::linear::{axpy, dot};
use crate::sigma::Scaling;

/// A polynomial of order one or two in inputs scaled to [-1, 1], and held there; or one of order one with
/// bumps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    scaling: Scaling,
    level: f64,
    /// Of each input; then, with order two, of each product of two inputs: 00, 01, 11, 02, 12, 22, ...; or of
    /// each bump.
    slopes: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round: Option<Round>,
}

/// Bumps $\exp(-\frac12 |z - p_j|^2/\ell^2)$ of scaled inputs $z$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Round {
    /// $p$, one after the other.
    points: Vec<f64>,
    /// $1/\ell$
    inverse_length: f64,
}

/// What the terms of a row are.
#[derive(Clone, Copy)]
enum Terms<'a> {
    Polynomial,
    Round(&'a Round),
}

/// A polynomial, and what it is for rows that it had not seen.
pub(super) struct Ridge {
    pub(super) polynomial: Polynomial,
    pub(super) held_out: Vec<f64>,
}

/// An order of more terms than this is not tried.
const MOST_TERMS: usize = 150;
/// Penalties that are tried, beside a variance of one of every term.
const STIFFNESS: [f64; 5] = [1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// Weighted sums over some rows, from which least squares are solved.
#[derive(Clone)]
struct Sums {
    weight: f64,
    error: f64,
    terms: Vec<f64>,
    products: Vec<f64>,
    with_error: Vec<f64>,
}

/// How wide bumps are, in halves of the range of an input where there is one.
const LENGTHS: [f64; 3] = [0.3, 0.6, 1.2];
/// As many bumps there are at most, and what share of a function of that smoothness they may leave out.
const BUMPS: Limits = Limits { most: 50, left_out: 0.01 };
/// Their places are chosen among so many rows.
const PLACES: usize = 1000;

/// Bumps of each width, where rows are.
fn round(data: &Data, scaling: &Scaling) -> Vec<Round> {
    let (columns, every) = (data.columns(), data.rows().div_ceil(PLACES));
    let rows: Vec<f64> = (data.inputs().chunks_exact(columns).step_by(every))
        .flat_map(|row| row.iter().enumerate().map(|(column, x)| scaling.scaled(column, *x)))
        .collect();
    // Distances grow with the number of inputs.
    let lengths = LENGTHS.map(|length| length * (columns as f64).sqrt());
    let one = |length: f64| {
        let process = Process { lengths: vec![length; columns], deviation: 1.0 };
        let points = Bumps::new(&rows, &process, BUMPS).0.points().to_vec();
        Round { points, inverse_length: 1.0 / length }
    };
    lengths.map(one).to_vec()
}

/// A polynomial of order one or two, as rows that were left out say.
pub(super) fn polynomial(data: &Data, error: &[f64], folds: &[Fold]) -> Result<Ridge> {
    let columns = data.columns();
    let orders = [columns, columns + columns * (columns + 1) / 2].map(|n| (n, Terms::Polynomial));
    Ok(best(data, &Scaling::of_data(data)?, error, folds, &orders))
}

/// A line with bumps, as wide as rows that were left out say.
pub(super) fn smooth(data: &Data, error: &[f64], folds: &[Fold]) -> Result<Ridge> {
    let (columns, scaling) = (data.columns(), Scaling::of_data(data)?);
    if columns > MOST_TERMS {
        return Ok(best(data, &scaling, error, folds, &[]));
    }
    let rounds = round(data, &scaling);
    let bumps = rounds.iter().map(|of| (columns + of.points.len() / columns, Terms::Round(of)));
    Ok(best(data, &scaling, error, folds, &bumps.collect::<Vec<_>>()))
}

/// The best of some, each with its number of terms, as stiff as rows that were left out say.
fn best(
    data: &Data,
    scaling: &Scaling,
    error: &[f64],
    folds: &[Fold],
    tried: &[(usize, Terms)],
) -> Ridge {
    let columns = data.columns();
    let mut best: Option<(f64, Ridge)> = None;
    for &(terms, kind) in tried.iter().filter(|(n, _)| *n <= MOST_TERMS) {
        let mut row = vec![0.0; terms];
        let term = |at: usize, row: &mut [f64]| {
            terms_of(scaling, kind, &data.inputs()[at * columns..(at + 1) * columns], row);
        };
        let weight = |at: usize| data.weight().map_or(1.0, |weight| weight[at]);
        let mut sums: Vec<Sums> = Vec::with_capacity(folds.len());
        for fold in folds {
            let mut sum = Sums::new(terms);
            for &at in &fold.held {
                term(at, &mut row);
                sum.add(weight(at), &row, error[at]);
            }
            sums.push(sum);
        }
        let all = Sums::together(&sums, None, terms);
        for stiffness in STIFFNESS {
            let mut held_out = vec![0.0; error.len()];
            let mut cost = 0.0;
            for (nth, fold) in folds.iter().enumerate() {
                let others = Sums::together(&sums, Some(nth), terms);
                let (level, slopes) = others.solve(stiffness);
                for &at in &fold.held {
                    term(at, &mut row);
                    held_out[at] = level + dot(&slopes, &row);
                    cost += weight(at) * (error[at] - held_out[at]).powi(2);
                }
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let (level, slopes) = all.solve(stiffness);
                let round = match kind {
                    Terms::Polynomial => None,
                    Terms::Round(round) => Some(round.clone()),
                };
                let polynomial = Polynomial { scaling: scaling.clone(), level, slopes, round };
                best = Some((cost, Ridge { polynomial, held_out }));
            }
        }
    }
    let nothing = || Ridge {
        polynomial: Polynomial {
            scaling: scaling.clone(),
            level: 0.0,
            slopes: vec![0.0; columns],
            round: None,
        },
        held_out: vec![0.0; error.len()],
    };
    best.map_or_else(nothing, |(_, ridge)| ridge)
}

/// The terms of a row but the level.
fn terms_of(scaling: &Scaling, kind: Terms, row: &[f64], out: &mut [f64]) {
    let columns = scaling.columns();
    for (column, (x, out)) in row.iter().zip(&mut *out).enumerate() {
        *out = scaling.scaled(column, *x);
    }
    let (own, products) = out.split_at_mut(columns);
    if let Terms::Round(Round { points, inverse_length }) = kind {
        for (out, point) in products.iter_mut().zip(points.chunks_exact(columns)) {
            let squares = own.iter().zip(point).map(|(z, p)| ((z - p) * inverse_length).powi(2));
            *out = exp(-0.5 * squares.sum::<f64>());
        }
        return;
    }
    let pairs = (0..columns).flat_map(|j| (0..=j).map(move |i| (i, j)));
    products.iter_mut().zip(pairs).for_each(|(out, (i, j))| *out = own[i] * own[j]);
}

impl Sums {
    fn new(terms: usize) -> Self {
        let zeros = |length: usize| vec![0.0; length];
        Self {
            weight: 0.0,
            error: 0.0,
            terms: zeros(terms),
            products: zeros(terms * terms),
            with_error: zeros(terms),
        }
    }

    fn add(&mut self, weight: f64, terms: &[f64], error: f64) {
        self.weight += weight;
        self.error += weight * error;
        axpy(weight, terms, &mut self.terms);
        axpy(weight * error, terms, &mut self.with_error);
        for (k, row) in self.products.chunks_exact_mut(terms.len()).enumerate() {
            axpy(weight * terms[k], &terms[..=k], &mut row[..=k]);
        }
    }

    /// Of all parts but one.
    fn together(parts: &[Self], but: Option<usize>, terms: usize) -> Self {
        let mut all = Self::new(terms);
        for (_, part) in parts.iter().enumerate().filter(|(nth, _)| Some(*nth) != but) {
            all.weight += part.weight;
            all.error += part.error;
            axpy(1.0, &part.terms, &mut all.terms);
            axpy(1.0, &part.products, &mut all.products);
            axpy(1.0, &part.with_error, &mut all.with_error);
        }
        all
    }

    /// The level and the slopes, with terms brought to a variance of one before they are held small.
    fn solve(&self, stiffness: f64) -> (f64, Vec<f64>) {
        let terms = self.terms.len();
        if self.weight <= 0.0 {
            return (0.0, vec![0.0; terms]);
        }
        let mean: Vec<f64> = self.terms.iter().map(|sum| sum / self.weight).collect();
        let level = self.error / self.weight;
        let covariance =
            |i: usize, j: usize| self.products[i * terms + j] / self.weight - mean[i] * mean[j];
        // What never varies has no slope.
        let per_deviation: Vec<f64> = (0..terms)
            .map(|i| covariance(i, i))
            .map(|variance| if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 })
            .collect();
        let mut matrix = vec![0.0; terms * terms];
        for i in 0..terms {
            for j in 0..=i {
                matrix[i * terms + j] =
                    covariance(i, j) * per_deviation[i] * per_deviation[j] / stiffness;
            }
        }
        let mut slopes: Vec<f64> = (0..terms)
            .map(|i| (self.with_error[i] / self.weight - mean[i] * level) * per_deviation[i])
            .map(|slope| slope / stiffness)
            .collect();
        Cholesky::one_plus(terms, matrix).solve(&mut slopes);
        slopes.iter_mut().zip(&per_deviation).for_each(|(slope, per)| *slope *= per);
        (level - dot(&slopes, &mean), slopes)
    }
}

impl Polynomial {
    /// Of order one or two, by its number of slopes.
    pub(crate) fn new(scaling: Scaling, level: f64, slopes: Vec<f64>) -> Self {
        Self { scaling, level, slopes, round: None }
    }

    /// The terms of a row without the level: the slopes of order one or two go with them.
    pub(crate) fn terms(scaling: &Scaling, row: &[f64], out: &mut [f64]) {
        terms_of(scaling, Terms::Polynomial, row, out);
    }

    /// Its value at one row.
    pub(crate) fn at(&self, row: &[f64]) -> f64 {
        let mut terms = vec![0.0; self.slopes.len()];
        let kind = self.round.as_ref().map_or(Terms::Polynomial, Terms::Round);
        terms_of(&self.scaling, kind, row, &mut terms);
        self.level + dot(&self.slopes, &terms)
    }

    pub(super) fn times(mut self, share: f64) -> Self {
        self.level *= share;
        self.slopes.iter_mut().for_each(|slope| *slope *= share);
        self
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.scaling.columns()
    }

    /// How inputs are scaled; beyond the range they are held at its ends.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// What is there without any input.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The slope of each scaled input.
    #[must_use]
    pub fn linear(&self) -> &[f64] {
        &self.slopes[..self.columns()]
    }

    /// The coefficient of each product of two scaled inputs, 00, 01, 11, 02, ...; none with order one.
    #[must_use]
    pub fn quadratic(&self) -> &[f64] {
        if self.round.is_some() { &[] } else { &self.slopes[self.columns()..] }
    }

    /// The places of bumps $\exp(-\frac12 \lambda^2 |z - p_j|^2)$ one after the other, $\lambda$, and the
    /// coefficient of each, where there are some.
    #[must_use]
    pub fn bumps(&self) -> Option<(&[f64], f64, &[f64])> {
        let Round { points, inverse_length } = self.round.as_ref()?;
        Some((points, *inverse_length, &self.slopes[self.columns()..]))
    }

    /// As large as it can be, if it can be used.
    pub(crate) fn check(&self) -> std::result::Result<f64, &'static str> {
        self.scaling.check()?;
        let (columns, terms) = (self.columns(), self.slopes.len());
        let right = match &self.round {
            None => terms == columns || terms == columns + columns * (columns + 1) / 2,
            Some(Round { points, inverse_length }) => {
                points.len() == columns * (terms - columns.min(terms))
                    && points.iter().chain([inverse_length]).all(|x| x.abs() <= 1e6)
            }
        };
        match right && terms >= columns {
            true => Ok(self.level.abs() + self.slopes.iter().map(|slope| slope.abs()).sum::<f64>()),
            false => Err("its bias has another number of slopes than its inputs"),
        }
    }
}
