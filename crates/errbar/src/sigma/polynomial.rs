//! sigma(x) as a polynomial, or as the exponential of one.

mod averaged;
mod export_view;
mod refined;

use serde::{Deserialize, Serialize};

pub(crate) use self::averaged::Likeliest;
use super::combination::FAR;
use super::scaling::{Prepared, Scaling};
use super::train::{Objective, Parametric};
use crate::data::{Data, Split};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::math::linear::{axpy, dot};
use crate::math::{exp_slice, quantile};
use crate::monitor::{Monitor, Silent, check};
use crate::optimize::Options as Minimise;
use crate::score::Beta;

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
    /// (An average of logarithms of sigma is again a polynomial: of log sigma, whatever the link says.)
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
    /// The most terms: with several inputs, an order that has more is not tried.
    pub most_terms: usize,
    /// How the order is chosen.
    pub order: Order,
    /// How rows are left out where the order is chosen on them.
    pub split: Split,
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
            most_terms: 2000,
            order: Order::FirstSmallStep(1e-4),
            split: Split::Random,
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
            most_terms: 150,
            order: Order::CrossValidated { folds: 10 },
            split: Split::Random,
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
    fit_to(&Data::new(inputs, columns, error)?, options, &Silent)
}

/// [`fit`] to data that may have weights, watched by a monitor.
///
/// # Errors
/// Errors that are all zero, or a monitor that asked to stop.
pub fn fit_to(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Polynomial> {
    match options.order {
        Order::CrossValidated { folds } => {
            let (problem, likeliest) = likeliest(data, options, folds, monitor)?;
            least_cost(&problem, &likeliest, data, options.loss, monitor)
        }
        Order::FirstSmallStep(_) | Order::Fixed => fit_in_order(data, options, monitor),
    }
}

/// The likeliest polynomials of log sigma, from which those of least cost can be had.
pub(crate) fn likeliest(
    data: &Data,
    options: &Options,
    folds: usize,
    monitor: &dyn Monitor,
) -> Result<(Problem, Likeliest)> {
    let problem = Problem::of(data, options)?;
    let folds = folds.clamp(2, data.rows().max(2));
    let likeliest = Likeliest::learn(&problem, folds, monitor)?;
    Ok((problem, likeliest))
}

/// The sigma of each row by likeliest polynomials that have not seen it.
pub(crate) fn held_out(problem: &Problem, likeliest: &Likeliest) -> Option<Vec<f64>> {
    let sigma = |log: &f64| log.clamp(-FAR, FAR).exp() * problem.unit;
    likeliest.held_out.as_ref().map(|logs| logs.iter().map(sigma).collect())
}

/// The likeliest polynomial.
pub(crate) fn most_likely(problem: &Problem, likeliest: &Likeliest) -> Polynomial {
    Polynomial::of_log_sigma(problem, likeliest.coefficients(problem))
}

/// The polynomial of least cost, each error counted in the unit that the data give it.
pub(crate) fn least_cost(
    problem: &Problem,
    likeliest: &Likeliest,
    data: &Data,
    loss: LossKind,
    monitor: &dyn Monitor,
) -> Result<Polynomial> {
    let unit: Vec<f64> = match data.unit() {
        Some(local) => local.iter().map(|unit| unit / problem.unit).collect(),
        // The deviation of a Gaussian whose errors are of size one.
        None => vec![1.0 / std::f64::consts::FRAC_2_PI.sqrt(); problem.error.len()],
    };
    let coefficients = likeliest.least_cost(problem, loss, &unit, monitor)?;
    Ok(Polynomial::of_log_sigma(problem, coefficients))
}

/// Raises the order, each from the last solution.
fn fit_in_order(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Polynomial> {
    let Prepared { scaling, columns: scaled, error, local, unit } =
        Prepared::new(data, options.own_scale)?;
    let (columns, weight) = (data.columns(), data.weight());
    let start = super::constant::fit(columns, &error, weight, LossKind::Crps)?.sigma;
    let terms = terms(columns, options.largest_order, options.most_terms);
    let basis = Basis::new(&scaled, columns, &terms);
    let mut loss_error = error;
    if let Some(local) = &local {
        loss_error.iter_mut().zip(local).for_each(|(error, unit)| *error /= unit);
    }
    let rows = Rows { basis, terms: &terms, error: loss_error, weight, local: local.as_deref() };
    let fits = fit_orders(&rows, start, options, monitor)?;
    let mut coefficients = fits[fits.len() - 1].clone();
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
    let mut sigma = model.predict(data.inputs())?;
    model.floor = match options.link {
        Link::Sigma => quantile(&mut sigma, 0.1),
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

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.scaling.columns()
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

/// What the general polynomial is fitted to.
pub(crate) struct Problem {
    scaling: Scaling,
    /// Scaled inputs, column after column.
    columns: Vec<f64>,
    terms: Vec<Vec<u8>>,
    largest_order: usize,
    /// In their own scale.
    error: Vec<f64>,
    /// The errors are these times the unit.
    unit: f64,
    /// One on average.
    weight: Option<Vec<f64>>,
    split: Split,
    /// Rows that are left out together have the same number.
    together: Option<Vec<u32>>,
}

impl Problem {
    fn of(data: &Data, options: &Options) -> Result<Self> {
        let Prepared { scaling, columns, error, unit, .. } =
            Prepared::new(data, options.own_scale)?;
        if error.iter().all(|e| *e == 0.0) {
            return Err(Error::NoErrors { rows: error.len() });
        }
        let mean_one = |weight: &[f64]| {
            let mean = weight.iter().map(|w| w / weight.len() as f64).sum::<f64>();
            weight.iter().map(|w| w / mean).collect()
        };
        Ok(Self {
            scaling,
            columns,
            terms: terms(data.columns(), options.largest_order, options.most_terms),
            largest_order: options.largest_order,
            error,
            unit,
            weight: data.weight().map(mean_one),
            split: options.split,
            together: data.together().map(<[u32]>::to_vec),
        })
    }

    /// The number of terms up to an order.
    fn size(&self, order: usize) -> usize {
        size(&self.terms, order)
    }
}

/// What the paper's polynomial is fitted to: scaled rows, term by term.
struct Rows<'a> {
    basis: Basis,
    terms: &'a [Vec<u8>],
    /// In local units, where there are some.
    error: Vec<f64>,
    weight: Option<&'a [f64]>,
    local: Option<&'a [f64]>,
}

/// The number of terms up to an order.
fn size(terms: &[Vec<u8>], order: usize) -> usize {
    terms.iter().take_while(|term| degree(term) <= order).count()
}

/// Fits order after order, each from the last solution and zeros, and returns all of them.
fn fit_orders(
    rows: &Rows,
    start: f64,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<f64>>> {
    let mut loss = options.loss.on(&rows.error, rows.weight)?;
    let mut fits: Vec<Vec<f64>> = Vec::new();
    let mut last = f64::INFINITY;
    let mut coefficients = vec![match options.link {
        Link::Sigma => start,
        Link::LogSigma => start.ln(),
    }];
    let minimise =
        Minimise { iterations: 500, gradient: 1e-7, decrease: 1e-6, ..Minimise::default() };
    for order in 0..=options.largest_order {
        let size = size(rows.terms, order);
        // More parameters than rows, or no further terms.
        if size > rows.error.len() || (order > 0 && size == coefficients.len()) {
            break;
        }
        coefficients.resize(size, 0.0);
        let mut model = Combination { basis: &rows.basis, link: options.link, sigma: Vec::new() };
        let found = Objective::new(&mut model, &mut *loss).in_units(rows.local).minimise(
            &mut coefficients,
            &minimise,
            |_| monitor.should_stop(),
        );
        check(monitor)?;
        fits.push(coefficients.clone());
        monitor.progress((order + 1) as f64 / (options.largest_order + 1) as f64);
        if let Order::FirstSmallStep(tolerance) = options.order
            && (last - found.value).abs() < tolerance
        {
            break;
        }
        last = found.value;
    }
    Ok(fits)
}

fn degree(term: &[u8]) -> usize {
    term.iter().map(|&e| usize::from(e)).sum()
}

/// All exponents of total degree up to `order`, by degree, as long as there are at most `most`. The
/// linear terms are always there.
fn terms(columns: usize, order: usize, most: usize) -> Vec<Vec<u8>> {
    let mut out = vec![vec![0; columns]];
    let mut last = out.clone();
    for degree in 1..=order {
        // The number of terms up to a degree is (columns + degree) over degree.
        let count: f64 = (1..=degree).map(|k| (columns + k) as f64 / k as f64).product();
        if degree > 1 && count > most as f64 {
            break;
        }
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
