//! sigma(x) as a polynomial, or as the exponential of one.

use serde::{Deserialize, Serialize};

use super::scaling::{Prepared, Scaling};
use super::train::{Objective, Parametric};
use crate::error::Result;
use crate::math::exp_slice;
use crate::math::linear::{axpy, dot};
use crate::optimize::Options as Minimise;
use crate::score::{Beta, LossKind, nlpd};

/// What the polynomial stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Sigma itself, as in the paper. Parameters that make a sigma zero or negative are infeasible.
    Sigma,
    /// The logarithm of sigma, which any polynomial may be.
    LogSigma,
}

/// How the order is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The paper's Algorithm 1: the first order that changes the cost by less than this.
    FirstSmallStep(f64),
    /// All orders, averaged by the likelihood that each gives to rows left out, over this many folds.
    /// (An average of logarithms of sigma is again a polynomial.)
    CrossValidated {
        /// Folds.
        folds: usize,
    },
    /// This order.
    Fixed,
}

/// How to fit a polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// What the polynomial stands for.
    pub link: Link,
    /// The largest total degree.
    pub largest_order: usize,
    /// How the order is chosen.
    pub order: Order,
    /// The loss.
    pub loss: LossKind,
    /// Whether errors are brought to a mean absolute value of one first, so that units do not matter.
    pub own_scale: bool,
}

impl Options {
    /// The paper's settings: sigma itself, up to order 10, until the cost changes by less than 1e-4
    /// (the paper gives no tolerance), in raw units.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            link: Link::Sigma,
            largest_order: 10,
            order: Order::FirstSmallStep(1e-4),
            loss: LossKind::Ar(Beta::Heuristic),
            own_scale: false,
        }
    }

    /// The general settings: the logarithm of sigma, the order chosen on rows left out, in the
    /// errors' own scale.
    #[must_use]
    pub fn general() -> Self {
        Self {
            link: Link::LogSigma,
            largest_order: 10,
            order: Order::CrossValidated { folds: 10 },
            loss: LossKind::Ar(Beta::Heuristic),
            own_scale: true,
        }
    }
}

/// A fitted polynomial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    link: Link,
    scaling: Scaling,
    /// Exponents of each term, one per input.
    terms: Vec<Vec<u8>>,
    /// One for each term, in products of Chebyshev polynomials of the scaled inputs.
    coefficients: Vec<f64>,
    /// No prediction is below this. A polynomial of sigma itself may dip towards zero at a row whose
    /// error happens to be small: the least tenth of its values on the training rows is not believed.
    floor: f64,
}

/// Fits a polynomial of the inputs (row-major) to the sizes of the errors.
///
/// # Errors
/// Inputs or errors that are empty, of different lengths or not finite; errors that are all zero.
pub fn fit(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Result<Polynomial> {
    let Prepared { scaling, columns: scaled, error, unit } =
        Prepared::new(inputs, columns, error, options.own_scale)?;
    let start = super::constant::fit(columns, &error, None, LossKind::Crps)?.sigma;
    let terms = terms(columns, options.largest_order);
    let basis = Basis::new(&scaled, columns, &terms);

    let fits = fit_orders(&basis, &terms, &error, start, options)?;
    let mut coefficients = match options.order {
        Order::CrossValidated { folds } => {
            let weights = weights_of_orders(&basis, &terms, &error, start, options, folds)?;
            let mut sum = vec![0.0; fits.last().map_or(0, Vec::len)];
            for (fit, weight) in fits.iter().zip(weights) {
                sum.iter_mut().zip(fit).for_each(|(s, c)| *s += weight * c);
            }
            sum
        }
        Order::FirstSmallStep(_) | Order::Fixed => fits[fits.len() - 1].clone(),
    };
    // Back to the units of the errors.
    match options.link {
        Link::Sigma => coefficients.iter_mut().for_each(|c| *c *= unit),
        Link::LogSigma => coefficients[0] += unit.ln(),
    }
    let mut model = Polynomial {
        link: options.link,
        scaling,
        terms: terms[..coefficients.len()].to_vec(),
        coefficients,
        floor: 0.0,
    };
    let sigma = model.predict(inputs)?;
    model.floor = match options.link {
        Link::Sigma => quantile(sigma, 0.1),
        Link::LogSigma => 0.0,
    };
    Ok(model)
}

impl Polynomial {
    /// Sigma for each row; inputs beyond the range of the training rows count as its ends.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.scaling.columns();
        let basis = Basis::new(&self.scaling.columns_of(inputs)?, columns, &self.terms);
        let mut sigma = vec![0.0; inputs.len() / columns];
        basis.combine(&self.coefficients, &mut sigma);
        if self.link == Link::LogSigma {
            let log = sigma.clone();
            exp_slice(&log, &mut sigma);
        }
        let least = self.floor.max(f64::MIN_POSITIVE);
        sigma.iter_mut().for_each(|s| *s = s.clamp(least, f64::MAX));
        Ok(sigma)
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let of = match self.link {
            Link::Sigma => "sigma",
            Link::LogSigma => "log sigma",
        };
        let inputs = self.scaling.columns();
        let word = if inputs == 1 { "input" } else { "inputs" };
        format!("{of} is a polynomial of order {} in {inputs} {word}", self.order())
    }

    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        self.scaling.check()?;
        let columns = self.scaling.columns();
        let whole = !self.terms.is_empty()
            && self.terms.len() == self.coefficients.len()
            && self.terms.iter().all(|term| term.len() == columns);
        if !whole {
            return Err("its coefficients do not fit its terms, or its terms its inputs");
        }
        let finite = self.coefficients.iter().all(|c| c.is_finite());
        let positive = match self.link {
            Link::Sigma => self.floor > 0.0,
            Link::LogSigma => self.floor >= 0.0,
        };
        match finite && positive && self.floor.is_finite() {
            true => Ok(()),
            false => Err("a coefficient is not finite, or its least sigma not positive"),
        }
    }

    /// The total degree.
    #[must_use]
    pub fn order(&self) -> usize {
        let degree = |term: &Vec<u8>| term.iter().map(|&e| usize::from(e)).sum();
        self.terms.iter().map(degree).max().unwrap_or(0)
    }

    /// For one input, the coefficients of 1, x, x², … of the polynomial (of sigma, or of its
    /// logarithm). `None` for several inputs.
    #[must_use]
    pub fn powers_of_x(&self) -> Option<Vec<f64>> {
        if self.scaling.columns() != 1 {
            return None;
        }
        let (low, high) = self.scaling.range(0);
        let half = 0.5 * high - 0.5 * low;
        // u = a + b x
        let (a, b) =
            if half > 0.0 { (-(0.5 * low + 0.5 * high) / half, 1.0 / half) } else { (0.0, 0.0) };
        let n = self.coefficients.len();
        let mut powers = vec![0.0; n];
        // Chebyshev's recurrence T_(k+1) = 2 u T_k - T_(k-1), in powers of x.
        let (mut last, mut this) = (vec![0.0; n], vec![0.0; n]);
        this[0] = 1.0;
        for (k, c) in self.coefficients.iter().enumerate() {
            for (power, t) in powers.iter_mut().zip(&this) {
                *power += c * t;
            }
            let factor = if k == 0 { 1.0 } else { 2.0 };
            let mut next: Vec<f64> =
                this.iter().zip(&last).map(|(t, l)| factor * a * t - l).collect();
            for i in 1..n {
                next[i] += factor * b * this[i - 1];
            }
            (last, this) = (this, next);
        }
        Some(powers)
    }
}

/// The value below which this share of the values lies.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    let place = ((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1));
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Fits order after order, each from the last solution and zeros, and returns all of them.
fn fit_orders(
    basis: &Basis,
    terms: &[Vec<u8>],
    error: &[f64],
    start: f64,
    options: &Options,
) -> Result<Vec<Vec<f64>>> {
    let mut loss = options.loss.on(error, None)?;
    let mut fits: Vec<Vec<f64>> = Vec::new();
    let mut last = f64::INFINITY;
    let mut coefficients = vec![match options.link {
        Link::Sigma => start,
        Link::LogSigma => start.ln(),
    }];
    let minimise =
        Minimise { iterations: 500, gradient: 1e-7, decrease: 1e-6, ..Minimise::default() };
    for order in 0..=options.largest_order {
        let size = terms.iter().take_while(|t| degree(t) <= order).count();
        if size > error.len() {
            break; // more parameters than rows
        }
        coefficients.resize(size, 0.0);
        let mut model = Combination { basis, link: options.link, sigma: Vec::new() };
        let found =
            Objective::new(&mut model, &mut *loss)
                .minimise(&mut coefficients, &minimise, |_| false);
        fits.push(coefficients.clone());
        if let Order::FirstSmallStep(tolerance) = options.order
            && (last - found.value).abs() < tolerance
        {
            break;
        }
        last = found.value;
    }
    Ok(fits)
}

/// The weight of each order: in proportion to the likelihood it gives to rows left out, and falling
/// with the number of its coefficients. Every
/// `folds`-th row in the order of the first input makes a fold, so that each covers the whole range.
fn weights_of_orders(
    basis: &Basis,
    terms: &[Vec<u8>],
    error: &[f64],
    start: f64,
    options: &Options,
    folds: usize,
) -> Result<Vec<f64>> {
    let rows = error.len();
    let folds = folds.clamp(2, rows.max(2));
    if rows < 2 * folds {
        return Ok(vec![1.0]);
    }
    let mut by_input: Vec<usize> = (0..rows).collect();
    let key = |row: usize| basis.columns.get(1).map_or(0.0, |c| c[row]);
    by_input.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let mut scores: Vec<f64> = Vec::new();
    for fold in 0..folds {
        let held = |i: &usize| i % folds == fold;
        let split = |keep: &dyn Fn(&usize) -> bool| -> Vec<usize> {
            (0..rows).filter(|i| keep(i)).map(|i| by_input[i]).collect()
        };
        let (train, test) = (split(&|i| !held(i)), split(&held));
        let pick = |rows: &[usize]| rows.iter().map(|&i| error[i]).collect::<Vec<f64>>();
        let (train_error, test_error) = (pick(&train), pick(&test));
        let fits = fit_orders(&basis.rows(&train), terms, &train_error, start, options)?;
        let test_basis = basis.rows(&test);
        let mut sigma = vec![0.0; test.len()];
        scores.resize(scores.len().max(fits.len()), 0.0);
        scores.truncate(fits.len());
        for (score, coefficients) in scores.iter_mut().zip(&fits) {
            test_basis.combine(coefficients, &mut sigma);
            for (&e, s) in test_error.iter().zip(&sigma) {
                let s = match options.link {
                    Link::Sigma => s.max(1e-3 * start),
                    Link::LogSigma => s.clamp(-600.0, 600.0).exp(),
                };
                *score += nlpd::nlpd(e, s);
            }
        }
    }
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
    // Rows left out judge an order already; a prior of one nat per coefficient steadies the choice.
    let weight = |(order, score): (usize, &f64)| {
        let size = terms.iter().take_while(|term| degree(term) <= order).count();
        (best - score - (size as f64 - 1.0)).exp()
    };
    let weights: Vec<f64> = scores.iter().enumerate().map(weight).collect();
    let total: f64 = weights.iter().sum();
    Ok(weights.iter().map(|w| w / total).collect())
}

fn degree(term: &[u8]) -> usize {
    term.iter().map(|&e| usize::from(e)).sum()
}

/// All exponents of total degree up to `order`, by degree.
fn terms(columns: usize, order: usize) -> Vec<Vec<u8>> {
    let mut out = vec![vec![0; columns]];
    let mut last = out.clone();
    for _ in 0..order {
        let mut next = Vec::new();
        for term in &last {
            // Raising only from the last raised input on makes every term once.
            let from = term.iter().rposition(|&e| e > 0).unwrap_or(0);
            for c in from..columns {
                let mut raised = term.clone();
                raised[c] += 1;
                next.push(raised);
            }
        }
        // Many inputs have too many terms of high degree to be of use.
        if out.len() + next.len() > 2000 {
            break;
        }
        out.extend(next.iter().cloned());
        last = next;
    }
    out
}

/// The value of every term at every row, term by term.
struct Basis {
    columns: Vec<Vec<f64>>,
}

impl Basis {
    fn new(inputs: &[f64], columns: usize, terms: &[Vec<u8>]) -> Self {
        let rows = inputs.len() / columns;
        let value = |term: &Vec<u8>| {
            let mut out = vec![1.0; rows];
            for (c, &exponent) in term.iter().enumerate().filter(|(_, e)| **e > 0) {
                for (out, &u) in out.iter_mut().zip(&inputs[c * rows..(c + 1) * rows]) {
                    *out *= chebyshev(exponent, u);
                }
            }
            out
        };
        Self { columns: terms.iter().map(value).collect() }
    }

    fn rows(&self, rows: &[usize]) -> Self {
        let pick = |column: &Vec<f64>| rows.iter().map(|&i| column[i]).collect();
        Self { columns: self.columns.iter().map(pick).collect() }
    }

    fn combine(&self, coefficients: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, &c) in self.columns.iter().zip(coefficients) {
            axpy(c, column, out);
        }
    }
}

/// Chebyshev's polynomial of the first kind on [-1, 1].
fn chebyshev(order: u8, u: f64) -> f64 {
    let (mut last, mut this) = (1.0, u);
    for _ in 1..order {
        (last, this) = (this, 2.0 * u * this - last);
    }
    if order == 0 { 1.0 } else { this }
}

/// The model that is trained: a linear combination, or the exponential of one.
struct Combination<'a> {
    basis: &'a Basis,
    link: Link,
    sigma: Vec<f64>,
}

impl Parametric for Combination<'_> {
    fn forward(&mut self, parameters: &[f64], sigma: &mut [f64]) -> bool {
        self.basis.combine(parameters, sigma);
        if self.link == Link::LogSigma {
            self.sigma.clear();
            self.sigma.extend_from_slice(sigma);
            exp_slice(&self.sigma, sigma);
            self.sigma.copy_from_slice(sigma);
        }
        sigma.iter().all(|s| *s > 0.0 && s.is_finite())
    }

    fn backward(&mut self, parameters: &[f64], slope: &[f64], gradient: &mut [f64]) {
        debug_assert_eq!(parameters.len(), gradient.len());
        match self.link {
            Link::Sigma => {
                for (g, column) in gradient.iter_mut().zip(&self.basis.columns) {
                    *g = dot(column, slope);
                }
            }
            Link::LogSigma => {
                self.sigma.iter_mut().zip(slope).for_each(|(s, slope)| *s *= slope);
                for (g, column) in gradient.iter_mut().zip(&self.basis.columns) {
                    *g = dot(column, &self.sigma);
                }
            }
        }
    }
}
