//! A bias as a sum of small trees for the squared error.

use rayon::prelude::*;

use crate::boosting::{self, Bins, Codes, Grower, Limits, Slopes, Symmetric};
use crate::error::Result;
use crate::folds::Fold;
use crate::monitor::{Monitor, check};

/// Rounds at most, and those without progress before stopping.
const ROUNDS: usize = 1000;
const PATIENCE: usize = 30;
/// The part of each step that is made.
const RATE: f64 = 0.1;
const LIMITS: Limits = Limits { depth: 4, prior_rows: 3.0 };

/// Some rows with trees of their own, and those that judge them.
struct Bag {
    training: Vec<u32>,
    held: Vec<u32>,
    level: f64,
    trees: Vec<Symmetric>,
    /// Of all rows.
    fitted: Vec<f64>,
}

/// What was learned: the bias is the level and the steps of all trees.
pub(super) struct Boosted {
    pub(super) level: f64,
    pub(super) trees: Vec<Symmetric>,
    /// For each row the bias learned without it.
    pub(super) held_out: Vec<f64>,
}

/// Trees in bags that each leave out another part of the rows: those rows say when to stop.
pub(super) fn fit(problem: &Problem, folds: &[Fold], monitor: &dyn Monitor) -> Result<Boosted> {
    let mut bags = problem.bags(folds);
    let mut held_out = vec![0.0; problem.error.len()];
    let judge = |bags: &[Bag], held_out: &mut [f64]| {
        let mut cost = 0.0;
        for bag in bags {
            for &row in &bag.held {
                let row = row as usize;
                held_out[row] = bag.fitted[row];
                cost += problem.weight(row) * (problem.error[row] - bag.fitted[row]).powi(2);
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
    let share = 1.0 / bags.len() as f64;
    let level = bags.iter().map(|bag| share * bag.level).sum::<f64>();
    let trees = bags.iter_mut().flat_map(|bag| bag.trees.drain(..).take(best.1));
    let trees = trees.map(|tree| tree.times(share * RATE)).collect();
    Ok(Boosted { level, trees, held_out: best.2 })
}

pub(super) struct Problem<'a> {
    pub(super) bins: &'a Bins,
    pub(super) codes: &'a Codes,
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
}

impl Problem<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row])
    }

    fn bags(&self, folds: &[Fold]) -> Vec<Bag> {
        let rows = self.error.len();
        let bag = |Fold { held, others: training }: &Fold| {
            let sum = |value: &dyn Fn(usize) -> f64| -> f64 {
                training.iter().map(|&row| value(row)).sum()
            };
            let total = sum(&|row| self.weight(row));
            let level = match total > 0.0 {
                true => sum(&|row| self.weight(row) * self.error[row] / total),
                false => 0.0,
            };
            let short = |rows: &[usize]| rows.iter().map(|&row| row as u32).collect();
            let (training, held) = (short(training), short(held));
            Bag { training, held, level, trees: Vec::new(), fitted: vec![level; rows] }
        };
        folds.iter().map(bag).collect()
    }

    /// A further tree.
    fn one_more(&self, bag: &mut Bag) {
        let of = |row: &u32| {
            let row = *row as usize;
            let weight = self.weight(row);
            (weight * (bag.fitted[row] - self.error[row]), weight)
        };
        let (gradient, curvature): (Vec<f64>, Vec<f64>) = bag.training.iter().map(of).unzip();
        let mut slopes = Slopes::none(self.error.len());
        slopes.set(&bag.training, &gradient, &curvature);
        let grower = Grower { bins: self.bins, codes: self.codes, limits: LIMITS };
        let tree = grower.grow(&mut bag.training.clone(), &slopes);
        boosting::add(self.bins, &tree, self.codes, RATE, &mut bag.fitted);
        bag.trees.push(tree);
    }
}
