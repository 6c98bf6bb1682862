//! Tree after tree, each for the steps that the last ones left to be made.

use rayon::prelude::*;

use super::Options;
use crate::boosting::{self, Bins, Codes, Grower, Limits, Slopes, Symmetric};
use crate::error::Result;
use crate::folds::{Fold, Order};
use crate::math::exp_slice;
use crate::monitor::{Monitor, check};
use crate::sigma::constant;

/// Rounds between two looks at the rows held out.
const ROUNDS_AT_ONCE: usize = 10;

/// What is fitted to: codes, errors in their own scale, weights of mean one.
pub(super) struct TrainingSet<'a> {
    pub(super) bins: &'a Bins,
    pub(super) codes: &'a Codes,
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    /// The unit that each row's error is counted in, if rows have their own.
    pub(super) unit: Option<&'a [f64]>,
    /// The order in which they are held out.
    pub(super) order: &'a Order,
}

/// What was learned: log sigma is the level plus the steps of all trees.
pub(super) struct Boosted {
    pub(super) trees: Vec<Symmetric>,
    pub(super) level: f64,
    pub(super) bags: usize,
    /// For each row the logarithm of the sigma of a bag that has not seen it, where there is one.
    pub(super) held_out: Vec<f64>,
}

/// A part of the rows with its own trees, which the other rows judge.
struct Bag {
    training: Vec<u32>,
    held: Vec<u32>,
    trees: Vec<Symmetric>,
    /// Of all rows, in their units.
    log_sigma: Vec<f64>,
    /// Of the rows held out, for each of the last rounds.
    latest: Vec<Vec<f64>>,
}

impl TrainingSet<'_> {
    /// Trains trees in several bags. Each bag leaves out another part of the rows; after every round
    /// all rows together, each with the sigma of the bag that has not seen it, give one value of the
    /// cost. The rounds are those of its minimum, for all bags.
    pub(super) fn boost(&self, options: &Options, monitor: &dyn Monitor) -> Result<Boosted> {
        let (rows, weight) = (self.error.len(), self.weight);
        let in_units: Option<Vec<f64>> =
            self.unit.map(|unit| self.error.iter().zip(unit).map(|(e, u)| e / u).collect());
        let error = in_units.as_deref().unwrap_or(self.error);
        // All start from one sigma, whatever the units.
        let start = constant::fit(1, self.error, weight, options.loss)?.sigma.ln();
        let from: Vec<f64> = match self.unit {
            Some(unit) => unit.iter().map(|unit| start - unit.ln()).collect(),
            None => vec![start; rows],
        };
        let mut bags = self.bags(&from, options);
        let held: Vec<u32> = bags.iter().flat_map(|bag| bag.held.iter().copied()).collect();
        let judge = Judge::of(error, weight, &held);
        let mut loss = match held.is_empty() {
            true => None,
            false => Some(options.loss.on(&judge.error, judge.weight.as_deref())?),
        };
        let mut log: Vec<f64> = held.iter().map(|&row| from[row as usize]).collect();
        let mut sigma = vec![0.0; log.len()];
        exp_slice(&log, &mut sigma);
        let mut best = Best { cost: f64::INFINITY, rounds: 0, log: log.clone() };
        if let Some(loss) = &mut loss {
            best.cost = loss.value(&sigma)?;
        }
        let limits =
            Limits { depth: options.depth(rows), prior_rows: options.prior_rows };
        let rate = options.rate(rows);
        let mut rounds = 0;
        while rounds < options.rounds && (held.is_empty() || rounds < best.rounds + options.patience) {
            let more = ROUNDS_AT_ONCE.min(options.rounds - rounds);
            bags.par_iter_mut()
                .try_for_each(|bag| self.train(bag, error, more, limits, rate, options, monitor))?;
            for round in 0..more {
                rounds += 1;
                let Some(loss) = &mut loss else { continue };
                log.clear();
                bags.iter().for_each(|bag| log.extend(&bag.latest[round]));
                exp_slice(&log, &mut sigma);
                let cost = loss.value(&sigma)?;
                if cost < best.cost {
                    best = Best { cost, rounds, log: log.clone() };
                }
            }
            // How many rounds it will take is not known: 50 are called half of the way.
            monitor.progress(rounds as f64 / (rounds as f64 + 50.0));
        }
        monitor.progress(1.0);
        let keep = if held.is_empty() { rounds } else { best.rounds };
        // On rows it learned from a sigma looks better than it is. One factor makes up for that: the
        // one sigma of the scaled errors of rows that were held out.
        let mut level = start;
        let mut held_out = vec![f64::NAN; rows];
        if !held.is_empty() {
            exp_slice(&best.log, &mut sigma);
            let scaled: Vec<f64> = judge.error.iter().zip(&sigma).map(|(e, s)| e / s).collect();
            let factor = constant::fit(1, &scaled, judge.weight.as_deref(), options.loss)?.sigma.ln();
            level += factor;
            for (&row, log) in held.iter().zip(&best.log) {
                let unit = self.unit.map_or(0.0, |unit| unit[row as usize].ln());
                held_out[row as usize] = log + unit + factor;
            }
        }
        let share = rate / bags.len() as f64;
        let trees = bags.iter_mut().flat_map(|bag| bag.trees.drain(..).take(keep));
        let trees = trees.map(|tree| tree.times(share)).collect();
        Ok(Boosted { trees, level, bags: bags.len(), held_out })
    }

    fn bags(&self, from: &[f64], options: &Options) -> Vec<Bag> {
        let rows = self.error.len();
        let count = options.bags(rows);
        let bag = |i: usize| {
            // One bag has all rows to learn from, and none to be judged by.
            let (start, end) =
                if count == 1 { (0, 0) } else { (i * rows / count, (i + 1) * rows / count) };
            let Fold { held, others } = self.order.held(start, end);
            let short = |rows: &[usize]| rows.iter().map(|&row| row as u32).collect();
            Bag {
                training: short(&others),
                held: short(&held),
                trees: Vec::new(),
                log_sigma: from.to_vec(),
                latest: Vec::new(),
            }
        };
        (0..count).map(bag).collect()
    }

    /// Some more rounds of one bag.
    #[expect(clippy::too_many_arguments)]
    fn train(
        &self,
        bag: &mut Bag,
        error: &[f64],
        rounds: usize,
        limits: Limits,
        rate: f64,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let own = Judge::of(error, self.weight, &bag.training);
        let mut loss = options.loss.on(&own.error, own.weight.as_deref())?;
        let grower = Grower { bins: self.bins, codes: self.codes, limits };
        let mut slopes = Slopes::none(self.error.len());
        let count = bag.training.len();
        let (mut log, mut sigma) = (vec![0.0; count], vec![0.0; count]);
        let (mut gradient, mut curvature) = (vec![0.0; count], vec![0.0; count]);
        let mut rows = bag.training.clone();
        bag.latest.clear();
        for _ in 0..rounds {
            check(monitor)?;
            for (log, &row) in log.iter_mut().zip(&bag.training) {
                *log = bag.log_sigma[row as usize];
            }
            exp_slice(&log, &mut sigma);
            loss.value_and_gradient(&sigma, &mut gradient)?;
            loss.curvature(&sigma, &mut curvature)?;
            gradient.iter_mut().zip(&sigma).for_each(|(gradient, sigma)| *gradient *= sigma);
            slopes.set(&bag.training, &gradient, &curvature);
            rows.copy_from_slice(&bag.training);
            let tree = grower.grow(&mut rows, &slopes);
            boosting::add(self.bins, &tree, self.codes, rate, &mut bag.log_sigma);
            bag.trees.push(tree);
            bag.latest.push(bag.held.iter().map(|&row| bag.log_sigma[row as usize]).collect());
        }
        Ok(())
    }
}

/// Errors and weights of some rows.
struct Judge {
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl Judge {
    fn of(error: &[f64], weight: Option<&[f64]>, rows: &[u32]) -> Self {
        let of = |values: &[f64]| rows.iter().map(|&row| values[row as usize]).collect();
        Self { error: of(error), weight: weight.map(of) }
    }
}

/// The least cost on rows held out so far.
struct Best {
    cost: f64,
    rounds: usize,
    log: Vec<f64>,
}
