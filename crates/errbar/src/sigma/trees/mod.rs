//! log sigma(x) as the sum of many small trees.
//!
//! Trees find jumps, do not care how an input is scaled, and leave out inputs that say nothing: they
//! suit tables with many columns. Each tree is one step of Newton's kind for the cost, as a function
//! that is constant on boxes of inputs ("gradient boosting"). The bags are trained beside each other,
//! each without another part of the rows; those rows say when to stop, and the bags are averaged.

mod boost;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::boost::{Boosted, TrainingSet};
use super::scaling::in_own_scale;
pub use crate::boosting::NodeView;
use crate::boosting::{Bins, Tree};
use crate::data::{Data, Split, rows_with_missing};
use crate::error::Result;
use crate::folds::Order;
use crate::loss::LossKind;
use crate::monitor::{Monitor, Silent};

/// How to fit trees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The loss.
    pub loss: LossKind,
    /// Bags, each with trees of its own and another part of the rows held out. One bag learns from
    /// all rows and makes as many rounds as it may. `None`: ten, and five for more than 10,000 rows.
    pub bags: Option<usize>,
    /// Rounds at most: trees of each bag.
    pub rounds: usize,
    /// Rounds without progress on the rows held out before stopping.
    pub patience: usize,
    /// The part of each step that is made.
    pub rate: f64,
    /// The share of a bag's rows that each tree is grown on.
    pub share: f64,
    /// The most leaves of a tree. `None`: one for every 60 rows, from 12 to 80.
    pub leaves: Option<usize>,
    /// The most splits from its root to a leaf.
    pub depth: usize,
    /// The fewest rows of a leaf.
    pub least_rows: usize,
    /// What a split must gain, in units of what a split at random does. `None`: 0 (trees that follow
    /// faint traces) or 8 (trees that make no split without need), whichever does better on the rows
    /// held out.
    pub least_gain: Option<f64>,
    /// The most bins of an input, up to 255.
    pub bins: usize,
    /// How rows are held out.
    pub split: Split,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            loss: LossKind::default(),
            bags: None,
            rounds: 1000,
            patience: 20,
            rate: 0.6,
            share: 0.85,
            leaves: None,
            depth: 10,
            least_rows: 5,
            least_gain: None,
            bins: 64,
            split: Split::Random,
            seed: 0,
        }
    }
}

impl Options {
    fn bags(&self, rows: usize) -> usize {
        self.bags.unwrap_or(if rows > 10_000 { 5 } else { 10 }).clamp(1, rows)
    }

    fn leaves(&self, rows: usize) -> usize {
        self.leaves.unwrap_or((rows / 60).clamp(12, 80))
    }
}

/// Fitted trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trees {
    bins: Bins,
    /// log sigma is this plus the steps of all trees.
    level: f64,
    /// Sigma is its exponential times this.
    unit: f64,
    /// The bags the trees come from; nothing in prediction depends on it.
    bags: usize,
    trees: Vec<Tree>,
}

/// Fits trees of the inputs (row-major) to the sizes of the errors.
///
/// ```
/// use errbar::sigma::trees;
///
/// // Errors of size 1 up to x = 0.5, of size 3 beyond.
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// let size = |x: f64| if x < 0.5 { 1.0 } else { 3.0 };
/// let error: Vec<f64> = x.iter().enumerate().map(|(i, &x)| size(x) * (i as f64 * 2.4).sin()).collect();
/// let trees = trees::fit(&x, 1, &error, &trees::Options::default())?;
/// let sigma = trees.predict(&[0.45, 0.55])?;
/// assert!(sigma[1] > 2.0 * sigma[0]);
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// Inputs or errors that are empty, of different lengths or not finite; errors that are all zero.
pub fn fit(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Result<Trees> {
    fit_to(&Data::new(inputs, columns, error)?, options, &Silent)
}

/// [`fit`] to data that may have weights, watched by a monitor.
///
/// # Errors
/// Errors that are all zero, or a monitor that asked to stop.
pub fn fit_to(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Trees> {
    let counts = |&row: &usize| data.weight().is_none_or(|weight| weight[row] > 0.0);
    let counted: Vec<usize> = (0..data.rows()).filter(counts).collect();
    let picked = (counted.len() < data.rows()).then(|| data.pick(&counted));
    let data = picked.as_ref().unwrap_or(data);
    let (error, unit) = in_own_scale(data.error(), data.weight());
    let mut weight = data.weight().map(<[f64]>::to_vec);
    if let Some(weight) = &mut weight {
        // Only ratios of weights matter: of mean one they count as rows do.
        let largest = weight.iter().copied().fold(0.0, f64::max);
        let mean = weight.iter().map(|w| w / largest / error.len() as f64).sum::<f64>();
        weight.iter_mut().for_each(|w| *w = *w / largest / mean);
    }
    let order = Order::of(data, options.split, options.seed);
    fit_rows(data.inputs(), data.columns(), &error, weight.as_deref(), &order, options, monitor)
        .map(|trees| Trees { unit, ..trees })
}

/// Fits to inputs of which some may be missing (NaN), errors in their own scale, and weights of mean
/// one.
fn fit_rows(
    inputs: &[f64],
    columns: usize,
    error: &[f64],
    weight: Option<&[f64]>,
    order: &Order,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Trees> {
    let bins = Bins::of(inputs, columns, weight, options.bins);
    let codes = bins.encode(inputs);
    let rows = TrainingSet { bins: &bins, codes: &codes, error, weight, order };
    let Boosted { trees, level, bags } = rows.boost(options, monitor)?;
    Ok(Trees { bins, level, unit: 1.0, bags, trees })
}

impl Trees {
    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.bins.columns()
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let inputs = self.columns();
        let mut used = vec![false; inputs];
        self.trees.iter().flat_map(Tree::columns).for_each(|column| used[column] = true);
        let used = used.iter().filter(|used| **used).count();
        if used == 0 {
            return String::from("one sigma for all rows: no tree did better");
        }
        let rounds = self.trees.len() / self.bags.max(1);
        format!(
            "log sigma is the sum of {rounds} small trees, averaged over {} bags, which use {used} of \
             {inputs} inputs",
            self.bags
        )
    }

    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        self.bins.check()?;
        if !self.trees.iter().all(|tree| tree.fits(&self.bins)) {
            return Err("a tree does not fit its inputs, or a step is not finite");
        }
        // No sum of steps may overflow, or two that have would make NaN.
        let reach = self.level.abs() + self.trees.iter().map(Tree::largest).sum::<f64>();
        match reach.is_finite() && self.unit > 0.0 && self.unit.is_finite() {
            true => Ok(()),
            false => Err("its level is not finite, or its unit not positive"),
        }
    }

    /// Sigma for each row. A value that is missing (NaN) goes where missing values went in training;
    /// beyond the range of the training rows inputs count as its ends.
    ///
    /// # Errors
    /// Another number of columns, or an infinite value.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.columns();
        rows_with_missing(inputs, columns)?;
        const ROWS: usize = 256;
        let block = |rows: &[f64]| {
            let mut codes = vec![0; columns];
            let one = |row: &[f64]| {
                self.bins.encode_row(row, &mut codes);
                let steps = self.trees.iter().map(|tree| tree.step(&self.bins, &codes));
                let sigma = (self.level + steps.sum::<f64>()).exp() * self.unit;
                sigma.clamp(f64::MIN_POSITIVE, f64::MAX)
            };
            rows.chunks_exact(columns).map(one).collect::<Vec<f64>>()
        };
        Ok(inputs.par_chunks(ROWS * columns).flat_map_iter(block).collect())
    }
}

/// What they are made of, for those who write them in another form.
impl Trees {
    /// The nodes of each tree, its root first.
    pub fn trees(&self) -> impl ExactSizeIterator<Item = Vec<NodeView>> {
        self.trees.iter().map(|tree| tree.parts(&self.bins))
    }

    /// log sigma is this plus the steps of all trees.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Sigma is the exponential times this.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }
}
