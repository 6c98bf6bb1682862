//! Tree after tree, each for the steps that the last ones left to be made.

use rand::RngExt;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::Options;
use crate::boosting::{Bins, Codes, Grower, Limits, Slope, Tree};
use crate::error::Result;
use crate::folds::{Fold, Order};
use crate::loss::Loss;
use crate::monitor::{Monitor, Stage, check};
use crate::sigma::constant;

/// Rounds between two looks at the rows held out.
const ROUNDS_AT_ONCE: usize = 10;

/// What is fitted to: codes, errors in their own scale, weights of mean one.
pub(super) struct TrainingSet<'a> {
    pub(super) bins: &'a Bins,
    pub(super) codes: &'a Codes,
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    /// The order in which they are held out.
    pub(super) order: &'a Order,
}

/// What was learned: log sigma is the level plus the steps of all trees.
pub(super) struct Boosted {
    pub(super) trees: Vec<Tree>,
    pub(super) level: f64,
    pub(super) bags: usize,
}

/// A part of the rows with its own trees, which the other rows judge.
struct Bag {
    training: Vec<u32>,
    held: Vec<u32>,
    trees: Vec<Tree>,
    /// Of all rows.
    log_sigma: Vec<f64>,
    /// Of the rows held out, for each of the last rounds.
    latest: Vec<Vec<f64>>,
    rng: Pcg64,
}

impl TrainingSet<'_> {
    /// Trains trees in several bags. Each bag leaves out another part of the rows; after every round
    /// all rows together, each with the sigma of the bag that has not seen it, give one value of the
    /// cost. The rounds are those of its minimum, for all bags.
    pub(super) fn boost(&self, options: &Options, monitor: &dyn Monitor) -> Result<Boosted> {
        let start = constant::fit(1, self.error, self.weight, options.loss)?.sigma.ln();
        if let Some(least_gain) = options.least_gain {
            return Ok(self.rounds(start, least_gain, options, monitor)?.1);
        }
        let first = Stage { whole: monitor, from: 0.0, to: 0.5 };
        let last = Stage { whole: monitor, from: 0.5, to: 1.0 };
        let eager = self.rounds(start, 0.0, options, &first)?;
        let strict = self.rounds(start, 8.0, options, &last)?;
        Ok(if strict.0 < eager.0 { strict.1 } else { eager.1 })
    }

    /// [`TrainingSet::boost`] with a given least gain; the cost on rows held out, and what was learned.
    fn rounds(
        &self,
        start: f64,
        least_gain: f64,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<(f64, Boosted)> {
        let (rows, weight) = (self.error.len(), self.weight);
        let mut bags = self.bags(start, options);
        let held_out = bags.iter().any(|bag| !bag.held.is_empty());
        let mut judge = options.loss.on(self.error, weight)?;
        let mut sigma = vec![start.exp(); rows];
        let mut best = Best { cost: judge.value(&sigma)?, rounds: 0, sigma: sigma.clone() };
        let limits = Limits {
            leaves: options.leaves(rows),
            depth: options.depth,
            least: options.least_rows as f64,
            least_gain,
        };
        let mut rounds = 0;
        while rounds < options.rounds && (!held_out || rounds < best.rounds + options.patience) {
            let more = ROUNDS_AT_ONCE.min(options.rounds - rounds);
            bags.par_iter_mut()
                .try_for_each(|bag| self.train(bag, more, limits, options, monitor))?;
            for round in 0..more {
                rounds += 1;
                for bag in &bags {
                    for (&row, log) in bag.held.iter().zip(&bag.latest[round]) {
                        sigma[row as usize] = log.exp();
                    }
                }
                let cost = judge.value(&sigma)?;
                if held_out && cost < best.cost {
                    best = Best { cost, rounds, sigma: sigma.clone() };
                }
            }
            // How many rounds it will take is not known: 50 are called half of the way.
            monitor.progress(rounds as f64 / (rounds as f64 + 50.0));
        }
        monitor.progress(1.0);
        let keep = if held_out { best.rounds } else { rounds };
        // On rows it learned from a sigma looks better than it is. One factor makes up for that: the
        // one sigma of the scaled errors of rows that were held out.
        let mut level = start;
        if held_out {
            let scaled: Vec<f64> =
                self.error.iter().zip(&best.sigma).map(|(e, sigma)| e / sigma).collect();
            level += constant::fit(1, &scaled, weight, options.loss)?.sigma.ln();
        }
        let share = options.rate / bags.len() as f64;
        let trees = bags.iter_mut().flat_map(|bag| bag.trees.drain(..).take(keep));
        let trees = trees.map(|tree| tree.times(share)).collect();
        Ok((best.cost, Boosted { trees, level, bags: bags.len() }))
    }

    fn bags(&self, start: f64, options: &Options) -> Vec<Bag> {
        let rows = self.error.len();
        let count = options.bags(rows);
        let bag = |i: usize| {
            // One bag has all rows to learn from, and none to be judged by.
            let (from, to) =
                if count == 1 { (0, 0) } else { (i * rows / count, (i + 1) * rows / count) };
            let Fold { held, others } = self.order.held(from, to);
            let short = |rows: &[usize]| rows.iter().map(|&row| row as u32).collect();
            Bag {
                training: short(&others),
                held: short(&held),
                trees: Vec::new(),
                log_sigma: vec![start; rows],
                latest: Vec::new(),
                rng: stream(options.seed, 1 + i as u64),
            }
        };
        (0..count).map(bag).collect()
    }

    /// Some more rounds of one bag.
    fn train(
        &self,
        bag: &mut Bag,
        rounds: usize,
        limits: Limits,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let of = |values: &[f64]| -> Vec<f64> {
            bag.training.iter().map(|&row| values[row as usize]).collect()
        };
        let (error, weight) = (of(self.error), self.weight.map(of));
        let mut loss = options.loss.on(&error, weight.as_deref())?;
        let grower = Grower { bins: self.bins, codes: self.codes, limits };
        let mut slopes = vec![Slope::default(); self.error.len()];
        bag.latest.clear();
        for _ in 0..rounds {
            check(monitor)?;
            self.slopes(bag, &mut *loss, &mut slopes)?;
            let mut drawn = bag.training.clone();
            if options.share < 1.0 {
                drawn.retain(|_| bag.rng.random_range(0.0..1.0) < options.share);
            }
            let tree = grower.grow(&mut drawn, &slopes);
            for (row, log) in bag.log_sigma.iter_mut().enumerate() {
                *log += options.rate * tree.step(self.bins, self.codes.row(row));
            }
            bag.trees.push(tree);
            bag.latest.push(bag.held.iter().map(|&row| bag.log_sigma[row as usize]).collect());
        }
        Ok(())
    }

    /// Slope and curvature of the cost in each log sigma of a bag's rows.
    fn slopes(&self, bag: &Bag, loss: &mut (dyn Loss + Send), slopes: &mut [Slope]) -> Result<()> {
        let sigma: Vec<f64> =
            bag.training.iter().map(|&row| bag.log_sigma[row as usize].exp()).collect();
        let (mut gradient, mut curvature) = (vec![0.0; sigma.len()], vec![0.0; sigma.len()]);
        loss.value_and_gradient(&sigma, &mut gradient)?;
        loss.curvature(&sigma, &mut curvature)?;
        let weight = |row: u32| self.weight.map_or(1.0, |weight| weight[row as usize]);
        let total: f64 = bag.training.iter().map(|&row| weight(row)).sum();
        for (i, &row) in bag.training.iter().enumerate() {
            // The cost is a mean; as a sum over rows it does not depend on their number.
            slopes[row as usize] = Slope {
                gradient: total * gradient[i] * sigma[i],
                curvature: total * curvature[i],
                weight: weight(row),
            };
        }
        Ok(())
    }
}

/// The least cost on rows held out so far.
struct Best {
    cost: f64,
    rounds: usize,
    sigma: Vec<f64>,
}

/// A random stream for each bag.
fn stream(seed: u64, number: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed), u128::from(number))
}
