//! Tree after tree, each for the steps that the last ones left to be made.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::Options;
use crate::boosting::{self, Bins, Codes, Grower, Limits, Slopes, Symmetric};
use crate::error::Result;
use crate::loss::{Loss, LossKind};
use crate::math::exp_slice;
use crate::monitor::{Monitor, check};
use crate::sigma::constant;

/// Rounds between two looks at the rows held out.
const ROUNDS_AT_ONCE: usize = 10;

/// Of so many rows, ranks are counted.
const ROUGHLY_FROM: usize = 5_000;

/// What is fitted to: codes, errors in their own scale, weights of mean one.
pub(super) struct TrainingSet<'a> {
    pub(super) bins: &'a Bins,
    pub(super) codes: &'a Codes,
    pub(super) error: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
}

/// Rows to learn from, and others to judge by.
pub(super) struct Part<'a> {
    pub(super) training: Vec<u32>,
    pub(super) held: Vec<u32>,
    /// For every row there is the unit that its error is counted in, if rows have their own.
    pub(super) unit: Option<Cow<'a, [f64]>>,
}

/// What was learned: log sigma is a level plus the steps of trees.
pub(super) struct Boosted {
    /// All trees of each part.
    pub(super) trees: Vec<Vec<Symmetric>>,
    /// What rows held out say of all parts together.
    pub(super) together: Said,
    /// For each part, what the rows held out of the others say: no row has a say in what it is judged by.
    pub(super) apart: Vec<Said>,
}

/// How many trees there should be, and where they start from.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) rounds: usize,
    pub(super) level: f64,
}

/// A part of the rows with its own trees, which the other rows judge.
struct Bag<'a> {
    part: &'a Part<'a>,
    /// In their units.
    training: Errors,
    trees: Vec<Symmetric>,
    /// Of all rows, in their units.
    log_sigma: Vec<f64>,
    /// Of the rows held out, for each of the last rounds.
    latest: Vec<Vec<f64>>,
}

impl TrainingSet<'_> {
    /// Trains trees on each part. After every round all rows that are held out together, each with the sigma
    /// of the part that has not seen it, give one value of the cost. The rounds are those of its minimum, for
    /// all parts together; parts that are judged `apart` may have other ones.
    pub(super) fn boost<'p>(
        &self,
        parts: &'p [Part<'p>],
        apart: bool,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Boosted> {
        let (rows, weight) = (self.error.len(), self.weight);
        // All start from one sigma, whatever the units.
        let start = constant::fit(1, self.error, weight, options.loss)?.sigma.ln();
        let bag = |part: &'p Part<'p>| {
            let log_sigma = match &part.unit {
                Some(unit) => unit.iter().map(|unit| start - unit.ln()).collect(),
                None => vec![start; rows],
            };
            let training = self.errors(&part.training, part);
            Bag { part, training, trees: Vec::new(), log_sigma, latest: Vec::new() }
        };
        let mut bags: Vec<Bag> = parts.iter().map(bag).collect();
        let held: Vec<(usize, u32)> = (parts.iter().enumerate())
            .flat_map(|(nth, part)| part.held.iter().map(move |&row| (nth, row)))
            .collect();
        let held_errors: Vec<Errors> =
            parts.iter().map(|part| self.errors(&part.held, part)).collect();
        let mut curves = match apart && !held.is_empty() {
            true => Curves::of(&held_errors, options.loss)?,
            false => Curves::default(),
        };
        let mut judged = Errors::default();
        held_errors.iter().for_each(|errors| judged.extend(errors));
        let mut loss = match held.is_empty() {
            true => None,
            false => Some(options.loss.on(&judged.error, judged.weight.as_deref())?),
        };
        if let Some(loss) = loss.as_mut().filter(|_| held.len() >= ROUGHLY_FROM) {
            loss.rank_roughly();
        }
        let logs = |bags: &[Bag], logs: &mut Vec<f64>| {
            logs.clear();
            logs.extend(held.iter().map(|(bag, row)| bags[*bag].log_sigma[*row as usize]));
        };
        let (mut log, mut sigma) = (Vec::new(), vec![0.0; held.len()]);
        logs(&bags, &mut log);
        exp_slice(&log, &mut sigma);
        let mut best = Best { cost: f64::INFINITY, rounds: 0, log: log.clone() };
        if let Some(loss) = &mut loss {
            best.cost = loss.value(&sigma)?;
            curves.add(&sigma)?;
        }
        let limits = Limits { depth: options.depth(rows), prior_rows: options.prior_rows };
        let steps = Steps { limits, rate: options.rate(rows), loss: options.loss };
        let mut rounds = 0;
        while rounds < options.rounds
            && (held.is_empty() || rounds < best.rounds + options.patience)
        {
            let more = ROUNDS_AT_ONCE.min(options.rounds - rounds);
            bags.par_iter_mut().try_for_each(|bag| self.train(bag, more, &steps, monitor))?;
            for round in 0..more {
                rounds += 1;
                let Some(loss) = &mut loss else { continue };
                log.clear();
                bags.iter().for_each(|bag| log.extend(&bag.latest[round]));
                exp_slice(&log, &mut sigma);
                let cost = loss.value(&sigma)?;
                curves.add(&sigma)?;
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
        let mut together = Said { rounds: keep, level: start };
        let mut apart = Vec::new();
        if !held.is_empty() {
            exp_slice(&best.log, &mut sigma);
            let scaled: Vec<f64> = judged.error.iter().zip(&sigma).map(|(e, s)| e / s).collect();
            let weight = judged.weight.as_deref();
            let level = |scaled: &[f64], weight: Option<&[f64]>| match scaled {
                [] => Ok(start),
                scaled => Ok(start + constant::fit(1, scaled, weight, options.loss)?.sigma.ln()),
            };
            together.level = level(&scaled, weight)?;
            let said = |(rounds, own): (usize, Range<usize>)| {
                let others = |all: &[f64]| [&all[..own.start], &all[own.end..]].concat();
                let others_weight = weight.map(others);
                // What is left may have no error.
                let level = level(&others(&scaled), others_weight.as_deref());
                Said { rounds, level: level.unwrap_or(together.level) }
            };
            apart = curves.least_of_others().into_iter().map(said).collect();
        }
        let trees = bags
            .into_iter()
            .map(|bag| bag.trees.into_iter().map(|tree| tree.times(steps.rate)).collect());
        Ok(Boosted { trees: trees.collect(), together, apart })
    }

    /// The errors of some rows, in the units of a part.
    fn errors(&self, rows: &[u32], part: &Part) -> Errors {
        let error = |&row: &u32| {
            let row = row as usize;
            part.unit.as_ref().map_or(self.error[row], |unit| self.error[row] / unit[row])
        };
        let of = |values: &[f64]| rows.iter().map(|&row| values[row as usize]).collect();
        Errors { error: rows.iter().map(error).collect(), weight: self.weight.map(of) }
    }

    /// Some more rounds of one bag.
    fn train(
        &self,
        bag: &mut Bag,
        rounds: usize,
        steps: &Steps,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let Part { training, held, .. } = bag.part;
        let mut loss = steps.loss.on(&bag.training.error, bag.training.weight.as_deref())?;
        if training.len() >= ROUGHLY_FROM {
            loss.rank_roughly();
        }
        let grower = Grower { bins: self.bins, codes: self.codes, limits: steps.limits };
        let mut slopes = Slopes::none(self.error.len());
        let count = training.len();
        let (mut log, mut sigma) = (vec![0.0; count], vec![0.0; count]);
        let (mut gradient, mut curvature) = (vec![0.0; count], vec![0.0; count]);
        let mut rows = training.clone();
        bag.latest.clear();
        for _ in 0..rounds {
            check(monitor)?;
            for (log, &row) in log.iter_mut().zip(training) {
                *log = bag.log_sigma[row as usize];
            }
            exp_slice(&log, &mut sigma);
            loss.value_and_gradient(&sigma, &mut gradient)?;
            loss.curvature(&sigma, &mut curvature)?;
            gradient.iter_mut().zip(&sigma).for_each(|(gradient, sigma)| *gradient *= sigma);
            slopes.set(training, &gradient, &curvature);
            rows.copy_from_slice(training);
            let tree = grower.grow(&mut rows, &slopes);
            boosting::add(self.bins, &tree, self.codes, steps.rate, &mut bag.log_sigma);
            bag.trees.push(tree);
            bag.latest.push(held.iter().map(|&row| bag.log_sigma[row as usize]).collect());
        }
        Ok(())
    }
}

/// How steps are made.
struct Steps {
    limits: Limits,
    rate: f64,
    loss: LossKind,
}

/// Errors and weights of some rows.
#[derive(Default)]
struct Errors {
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl Errors {
    fn extend(&mut self, other: &Self) {
        self.error.extend(&other.error);
        if let Some(weight) = &other.weight {
            self.weight.get_or_insert_default().extend(weight);
        }
    }
}

/// The least cost on rows held out so far.
struct Best {
    cost: f64,
    rounds: usize,
    log: Vec<f64>,
}

/// What the rows held out of each part cost, round after round.
#[derive(Default)]
struct Curves<'a> {
    parts: Vec<Curve<'a>>,
}

struct Curve<'a> {
    /// Its place among all rows held out.
    rows: Range<usize>,
    loss: Box<dyn Loss + Send + 'a>,
    /// What its rows count together.
    weight: f64,
    costs: Vec<f64>,
}

impl<'a> Curves<'a> {
    fn of(parts: &'a [Errors], loss: LossKind) -> Result<Self> {
        let mut end = 0;
        let curve = |part: &'a Errors| {
            let (start, rows) = (end, part.error.len());
            end += rows;
            Ok(Curve {
                rows: start..end,
                loss: loss.of_single_rows().on(&part.error, part.weight.as_deref())?,
                weight: part.weight.as_ref().map_or(rows as f64, |weight| weight.iter().sum()),
                costs: Vec::new(),
            })
        };
        Ok(Self { parts: parts.iter().map(curve).collect::<Result<_>>()? })
    }

    fn add(&mut self, sigma: &[f64]) -> Result<()> {
        let one = |part: &mut Curve| {
            part.costs.push(part.loss.value(&sigma[part.rows.clone()])?);
            Ok(())
        };
        self.parts.iter_mut().try_for_each(one)
    }

    /// For each part the rounds after which the rows held out of all others cost least, and its own rows.
    fn least_of_others(&self) -> Vec<(usize, Range<usize>)> {
        let of = |(nth, own): (usize, &Curve)| {
            let others = || self.parts.iter().enumerate().filter(move |(other, _)| *other != nth);
            let cost = |round: usize| -> f64 {
                others().map(|(_, part)| part.weight * part.costs[round]).sum()
            };
            let least = (0..own.costs.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
            (least.unwrap_or(0), own.rows.clone())
        };
        self.parts.iter().enumerate().map(of).collect()
    }
}
