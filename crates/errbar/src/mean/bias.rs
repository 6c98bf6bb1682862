//! What a forecaster gets wrong on average, as a function of the inputs: b(x).
//!
//! Real forecasters are biased here and there. The errors that are left when b(x) is taken off are
//! smaller, and so are the sigmas they need. b(x) is a sum of small trees for the squared error, in
//! bags that each leave out another part of the rows: those rows say when to stop, and give every row
//! a b(x) that has not seen it ("cross-fitting"), so that what is left of its error is honest.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Split, rows_with_missing};
use crate::error::{Error, Result};
use crate::folds::{Fold, Order};
use crate::monitor::{Monitor, check};
use crate::sigma::trees::{Bins, Codes, Grower, Limits, NodeView, Slope, Tree};

/// A bias learned from errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bias {
    bins: Bins,
    /// The bias is the level and the steps of all trees, times the unit.
    unit: f64,
    level: f64,
    trees: Vec<Tree>,
}

/// A bias, and what it is for rows that it had not seen.
#[derive(Debug, Clone)]
pub struct CrossFitted {
    /// Learned from all rows.
    pub bias: Bias,
    /// For each row the bias learned without it.
    pub held_out: Vec<f64>,
}

/// Bags: as many as there are parts of the rows to leave out.
const BAGS: usize = 10;
/// Rounds at most, and those without progress before stopping.
const ROUNDS: usize = 1000;
const PATIENCE: usize = 30;
/// The part of each step that is made.
const RATE: f64 = 0.1;
const BINS: usize = 64;
const LIMITS: Limits = Limits { leaves: 8, depth: 4, least: 5.0, least_gain: 0.0 };

/// Some rows with trees of their own, and those that judge them.
struct Bag {
    training: Vec<u32>,
    held: Vec<u32>,
    level: f64,
    trees: Vec<Tree>,
    /// Of all rows.
    fitted: Vec<f64>,
}

/// Learns b(x) from data.
///
/// # Errors
/// Fewer than two rows, or a monitor that asked to stop.
pub fn fit(data: &Data, split: Split, seed: u64, monitor: &dyn Monitor) -> Result<CrossFitted> {
    let (rows, error) = (data.rows(), data.error());
    if rows < 2 {
        return Err(Error::TooFewRows { rows, needed: 2 });
    }
    // In units of the largest, so that squares stay in the range of doubles.
    let unit = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let error: Vec<f64> = error.iter().map(|e| e / unit).collect();
    let bins = Bins::of(data.inputs(), data.columns(), data.weight(), BINS);
    let codes = bins.encode(data.inputs());
    let problem = Problem { bins: &bins, codes: &codes, error: &error, weight: data.weight() };
    let mut bags = problem.bags(&Order::of(data, split, seed ^ 0xb1a5));
    let mut held_out = vec![0.0; rows];
    let judge = |bags: &[Bag], held_out: &mut [f64]| {
        let mut cost = 0.0;
        for bag in bags {
            for &row in &bag.held {
                let row = row as usize;
                held_out[row] = bag.fitted[row];
                cost += problem.weight(row) * (error[row] - bag.fitted[row]).powi(2);
            }
        }
        cost
    };
    let mut best = (judge(&bags, &mut held_out), 0, held_out.clone());
    for round in 1..=ROUNDS {
        bags.par_iter_mut().for_each(|bag| problem.one_more(bag));
        check(monitor)?;
        let cost = judge(&bags, &mut held_out);
        if cost < best.0 {
            best = (cost, round, held_out.clone());
        }
        if round >= best.1 + PATIENCE {
            break;
        }
        monitor.progress(round as f64 / (round as f64 + 100.0));
    }
    monitor.progress(1.0);
    let share = 1.0 / bags.len() as f64;
    let level = bags.iter().map(|bag| share * bag.level).sum::<f64>();
    let trees = bags.iter_mut().flat_map(|bag| bag.trees.drain(..).take(best.1));
    let trees = trees.map(|tree| tree.times(share * RATE)).collect();
    let held_out = best.2.iter().map(|b| unit * b).collect();
    Ok(CrossFitted { bias: Bias { bins, unit, level, trees }, held_out })
}

/// What is left of errors when their bias is taken off.
pub(crate) fn without(error: &[f64], bias: &[f64]) -> Vec<f64> {
    let left = error.iter().zip(bias).map(|(error, bias)| error - bias);
    left.map(|left| left.clamp(f64::MIN, f64::MAX)).collect()
}

struct Problem<'a> {
    bins: &'a Bins,
    codes: &'a Codes,
    error: &'a [f64],
    weight: Option<&'a [f64]>,
}

impl Problem<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row])
    }

    fn bags(&self, order: &Order) -> Vec<Bag> {
        let rows = self.error.len();
        let bag = |Fold { held, others: training }: Fold| {
            let sum = |value: &dyn Fn(usize) -> f64| -> f64 {
                training.iter().map(|&row| value(row)).sum()
            };
            let total = sum(&|row| self.weight(row));
            let level = match total > 0.0 {
                true => sum(&|row| self.weight(row) * self.error[row] / total),
                false => 0.0,
            };
            let short = |rows: &[usize]| rows.iter().map(|&row| row as u32).collect();
            let (training, held) = (short(&training), short(&held));
            Bag { training, held, level, trees: Vec::new(), fitted: vec![level; rows] }
        };
        order.parts(BAGS.min(rows)).map(bag).collect()
    }

    /// A further tree.
    fn one_more(&self, bag: &mut Bag) {
        let mut slopes = vec![Slope::default(); self.error.len()];
        for &row in &bag.training {
            let row = row as usize;
            let weight = self.weight(row);
            let gradient = weight * (bag.fitted[row] - self.error[row]);
            slopes[row] = Slope { gradient, curvature: weight, weight };
        }
        let grower = Grower { bins: self.bins, codes: self.codes, limits: LIMITS };
        let tree = grower.grow(&mut bag.training.clone(), &slopes);
        for (row, fitted) in bag.fitted.iter_mut().enumerate() {
            *fitted += RATE * tree.step(self.bins, self.codes.row(row));
        }
        bag.trees.push(tree);
    }
}

impl Bias {
    /// No bias anywhere.
    pub(crate) fn none(columns: usize) -> Self {
        let bins = Bins::of(&vec![0.0; columns], columns, None, BINS);
        Self { bins, unit: 1.0, level: 0.0, trees: Vec::new() }
    }

    /// Whether it moves nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.level == 0.0 && self.trees.is_empty()
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
            self.unit * (self.level + steps.sum::<f64>())
        };
        Ok(inputs.chunks_exact(columns).map(one).collect())
    }

    /// The nodes of each tree, its root first.
    pub fn trees(&self) -> impl ExactSizeIterator<Item = Vec<NodeView>> {
        self.trees.iter().map(|tree| tree.parts(&self.bins))
    }

    /// The bias is this plus the steps of all trees, times the [unit](Bias::unit).
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
        let reach = self.level.abs() + self.trees.iter().map(Tree::largest).sum::<f64>();
        let finite = reach.is_finite() && self.unit > 0.0 && (self.unit * reach).is_finite();
        match finite && self.trees.iter().all(|tree| tree.fits(&self.bins)) {
            true => Ok(()),
            false => Err("its bias does not fit its inputs, or is not finite"),
        }
    }
}
