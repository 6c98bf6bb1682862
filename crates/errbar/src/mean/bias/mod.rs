//! What a forecaster gets wrong on average, as a function of the inputs: b(x).
//!
//! Real forecasters are biased here and there. The errors that are left when b(x) is taken off are
//! smaller, and so are the sigmas they need. b(x) is a weighted sum of small trees, which find jumps,
//! and of a ridge polynomial, which finds slopes, both for the squared error. Each part of the rows is
//! left out in turn: it says when the trees stop and how stiff the polynomial is, it weighs the two
//! (with less than one together where the rows say so), and every row gets a b(x) that has not seen it
//! ("cross-fitting"), so that what is left of its error is honest.

mod boosted;
mod ridge;

use serde::{Deserialize, Serialize};

use self::boosted::{Boosted, Problem};
pub use self::ridge::Polynomial;
use self::ridge::Ridge;
use crate::boosting::{Bins, NodeView, Tree};
use crate::data::{Data, Split, rows_with_missing};
use crate::error::{Error, Result};
use crate::folds::{Fold, Order};
use crate::monitor::Monitor;

/// A bias learned from errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bias {
    bins: Bins,
    /// The bias is the level, the steps of all trees and the polynomial, times the unit.
    unit: f64,
    level: f64,
    trees: Vec<Tree>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    polynomial: Option<Polynomial>,
}

/// A bias, and what it is for rows that it had not seen.
#[derive(Debug, Clone)]
pub struct CrossFitted {
    /// Learned from all rows.
    pub bias: Bias,
    /// For each row the bias learned without it.
    pub held_out: Vec<f64>,
}

/// Parts of the rows that are left out in turn.
const FOLDS: usize = 10;
const BINS: usize = 64;

/// Learns b(x) from data.
///
/// # Errors
/// Fewer than two rows, or a monitor that asked to stop.
pub fn fit(data: &Data, split: Split, seed: u64, monitor: &dyn Monitor) -> Result<CrossFitted> {
    Ok(Parts::fit(data, split, seed, monitor)?.weighed_by(data))
}

/// The two parts of a bias, before it is known how much each counts.
pub(crate) struct Parts {
    bins: Bins,
    unit: f64,
    boosted: Boosted,
    ridge: Ridge,
}

impl Parts {
    pub(crate) fn fit(data: &Data, split: Split, seed: u64, monitor: &dyn Monitor) -> Result<Self> {
        let (rows, error) = (data.rows(), data.error());
        if rows < 2 {
            return Err(Error::TooFewRows { rows, needed: 2 });
        }
        // In units of the largest, so that squares stay in the range of doubles.
        let unit = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let error: Vec<f64> = error.iter().map(|e| e / unit).collect();
        let folds: Vec<Fold> =
            Order::of(data, split, seed ^ 0xb1a5).parts(FOLDS.min(rows)).collect();
        let bins = Bins::of(data.inputs(), data.columns(), data.weight(), BINS);
        let codes = bins.encode(data.inputs());
        let problem = Problem { bins: &bins, codes: &codes, error: &error, weight: data.weight() };
        let boosted = boosted::fit(&problem, &folds, monitor)?;
        let ridge = ridge::fit(data, &error, &folds)?;
        monitor.progress(1.0);
        Ok(Self { bins, unit, boosted, ridge })
    }

    /// What trees and polynomial say of each row, learned without it.
    fn held_out(&self) -> [Vec<f64>; 2] {
        let times = |of: &[f64]| of.iter().map(|b| self.unit * b).collect();
        [times(&self.boosted.held_out), times(&self.ridge.held_out)]
    }

    /// What trees and polynomial say of new rows.
    pub(crate) fn predict(&self, inputs: &[f64]) -> Result<[Vec<f64>; 2]> {
        Ok([self.bias([1.0, 0.0]).predict(inputs)?, self.bias([0.0, 1.0]).predict(inputs)?])
    }

    fn bias(&self, [of_trees, of_ridge]: [f64; 2]) -> Bias {
        let trees = self.boosted.trees.iter().filter(|_| of_trees > 0.0);
        Bias {
            bins: self.bins.clone(),
            unit: self.unit,
            level: of_trees * self.boosted.level,
            trees: trees.map(|tree| tree.clone().times(of_trees)).collect(),
            polynomial: (of_ridge > 0.0).then(|| self.ridge.polynomial.clone().times(of_ridge)),
        }
    }

    /// Weighed by the rows that they were fitted to, each while it was left out.
    pub(crate) fn weighed_by(&self, data: &Data) -> CrossFitted {
        let [a, b] = self.held_out();
        self.weighed(shares(data.error(), data.weight(), [&a, &b]))
    }

    pub(crate) fn weighed(&self, shares: [f64; 2]) -> CrossFitted {
        let [a, b] = self.held_out();
        let held_out = a.iter().zip(&b).map(|(a, b)| shares[0] * a + shares[1] * b).collect();
        CrossFitted { bias: self.bias(shares), held_out }
    }
}

/// How much two biases count together, each at least nothing and both at most one: the least squares
/// that are left of errors neither has seen.
pub(crate) fn shares(error: &[f64], weight: Option<&[f64]>, [a, b]: [&[f64]; 2]) -> [f64; 2] {
    // In units of the largest, so that squares stay in the range of doubles.
    let all = error.iter().chain(a).chain(b);
    let unit = all.fold(f64::MIN_POSITIVE, |m: f64, x| m.max(x.abs()));
    let sum = |one: &[f64], other: &[f64]| -> f64 {
        let weight = |row: usize| weight.map_or(1.0, |weight| weight[row]);
        one.iter()
            .zip(other)
            .enumerate()
            .map(|(row, (x, y))| weight(row) * (x / unit) * (y / unit))
            .sum()
    };
    let (aa, bb, ab) = (sum(a, a), sum(b, b), sum(a, b));
    let (ae, be) = (sum(a, error), sum(b, error));
    let apart = aa - 2.0 * ab + bb;
    // The least of a parabola lies inside, on an edge, or at a corner.
    let determinant = aa * bb - ab * ab;
    let within = |x: f64| if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.0 };
    let slope = within((ae - be - ab + bb) / apart);
    let candidates = [
        [0.0, 0.0],
        [within(ae / aa), 0.0],
        [0.0, within(be / bb)],
        [slope, 1.0 - slope],
        [(ae * bb - be * ab) / determinant, (be * aa - ae * ab) / determinant],
    ];
    let cost =
        |[x, y]: [f64; 2]| x * x * aa + y * y * bb + 2.0 * x * y * ab - 2.0 * x * ae - 2.0 * y * be;
    let allowed = |[x, y]: &[f64; 2]| *x >= 0.0 && *y >= 0.0 && x + y <= 1.0;
    let best = candidates.into_iter().filter(allowed);
    best.min_by(|x, y| cost(*x).total_cmp(&cost(*y))).unwrap_or_default()
}

/// What is left of errors when their bias is taken off.
pub(crate) fn without(error: &[f64], bias: &[f64]) -> Vec<f64> {
    let left = error.iter().zip(bias).map(|(error, bias)| error - bias);
    left.map(|left| left.clamp(f64::MIN, f64::MAX)).collect()
}

impl Bias {
    /// No bias anywhere.
    pub(crate) fn none(columns: usize) -> Self {
        let bins = Bins::of(&vec![0.0; columns], columns, None, BINS);
        Self { bins, unit: 1.0, level: 0.0, trees: Vec::new(), polynomial: None }
    }

    /// Whether it moves nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.level == 0.0 && self.trees.is_empty() && self.polynomial.is_none()
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.bins.columns()
    }

    /// The bias of each row: what to add to its forecast.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.columns();
        rows_with_missing(inputs, columns)?;
        let mut codes = vec![0; columns];
        let one = |row: &[f64]| {
            self.bins.encode_row(row, &mut codes);
            let steps = self.trees.iter().map(|tree| tree.step(&self.bins, &codes));
            let slopes = self.polynomial.as_ref().map_or(0.0, |polynomial| polynomial.at(row));
            self.unit * (self.level + steps.sum::<f64>() + slopes)
        };
        Ok(inputs.chunks_exact(columns).map(one).collect())
    }

    /// The nodes of each tree, its root first.
    pub fn trees(&self) -> impl ExactSizeIterator<Item = Vec<NodeView>> {
        self.trees.iter().map(|tree| tree.parts(&self.bins))
    }

    /// The polynomial, where it has a share.
    #[must_use]
    pub fn polynomial(&self) -> Option<&Polynomial> {
        self.polynomial.as_ref()
    }

    /// The bias is this plus the steps of all trees and the polynomial, times the [unit](Bias::unit).
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The unit of the level and the steps.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Whether a bias that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        self.bins.check()?;
        let slopes = match &self.polynomial {
            Some(polynomial) if polynomial.columns() != self.columns() => f64::NAN,
            Some(polynomial) => polynomial.check()?,
            None => 0.0,
        };
        let reach = self.level.abs() + self.trees.iter().map(Tree::largest).sum::<f64>() + slopes;
        let finite = reach.is_finite() && self.unit > 0.0 && (self.unit * reach).is_finite();
        match finite && self.trees.iter().all(|tree| tree.fits(&self.bins)) {
            true => Ok(()),
            false => Err("its bias does not fit its inputs, or is not finite"),
        }
    }
}
