//! sigma(x) as a small neural network.

mod evaluate;
mod export_view;
mod refined;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::evaluate::Evaluator;
pub use self::export_view::LayerView;
use super::constant;
use super::scaling::{Prepared, Scaling, in_local_units};
use super::train::{Objective, Parametric};
use crate::data::{Data, Split};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::monitor::{Monitor, Silent, Steps, check};
use crate::optimize::Options as Minimise;
use crate::score::Beta;

/// What a hidden unit does to the sum of its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// $\tanh$.
    Tanh,
    /// Held between -1 and 1 ("symmetric saturating linear").
    Clamp,
}

/// What the last unit does to the sum n of its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// $\sigma = e^{-n^2}$, as in the paper: never above 1.
    ExpMinusSquare,
    /// $\sigma = e^n$.
    LogSigma,
}

/// A hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Its number of units.
    pub units: usize,
    /// What they do.
    pub activation: Activation,
}

/// How to fit a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Shapes to choose from on the validation rows, each the hidden layers from the inputs on.
    pub shapes: Vec<Vec<Layer>>,
    /// The output.
    pub output: Output,
    /// Shares g of the penalty in the cost $(1-g) \mathrm{loss} + g \overline{w^2}$ to choose from
    /// on the validation rows.
    pub regularisation: Vec<f64>,
    /// The share of rows that training does not see.
    pub validation: f64,
    /// How these rows are chosen.
    pub split: Split,
    /// Iterations without progress on the validation rows before stopping.
    pub patience: usize,
    /// Iterations at most.
    pub iterations: usize,
    /// Networks trained from different random weights, for each regularisation.
    pub starts: usize,
    /// Whether the better half of the networks of the best regularisation is averaged (in log sigma),
    /// each trained with a split of its own, or the best one is kept.
    pub average: bool,
    /// The loss.
    pub loss: LossKind,
    /// Whether errors are brought to a mean absolute value of one first, so that units do not matter.
    pub own_scale: bool,
    /// The seed of the split and the weights.
    pub seed: u64,
}

impl Options {
    /// The paper's settings: 20 tanh and 5 clamped units, $e^{-n^2}$, a penalty of 20%, 70% of the
    /// rows for training, stop after 10 iterations without progress, the best of five networks.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            shapes: vec![vec![
                Layer { units: 20, activation: Activation::Tanh },
                Layer { units: 5, activation: Activation::Clamp },
            ]],
            output: Output::ExpMinusSquare,
            regularisation: vec![0.2],
            validation: 0.3,
            split: Split::Random,
            patience: 10,
            iterations: 1000,
            starts: 5,
            average: false,
            loss: LossKind::Ar(Beta::Heuristic),
            own_scale: false,
            seed: 0,
        }
    }

    /// The general settings: log sigma in the errors' own scale, the penalty chosen on validation
    /// rows.
    #[must_use]
    pub fn general() -> Self {
        Self {
            shapes: vec![tanh([12, 6])],
            output: Output::LogSigma,
            regularisation: vec![0.01, 0.001, 0.0001],
            patience: 60,
            starts: 6,
            average: true,
            own_scale: true,
            ..Self::paper()
        }
    }

    /// More of the same: shapes to choose from, and twice the networks to average.
    #[must_use]
    pub fn ensemble() -> Self {
        Self { shapes: vec![tanh([12, 6]), tanh([24, 12])], starts: 16, ..Self::general() }
    }
}

fn tanh<const N: usize>(units: [usize; N]) -> Vec<Layer> {
    units.map(|units| Layer { units, activation: Activation::Tanh }).to_vec()
}

/// The shape of a network: everything but its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    inputs: usize,
    hidden: Vec<Layer>,
    output: Output,
}

impl Shape {
    /// Inputs and units of each layer, the output last.
    fn layers(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let sizes = || self.hidden.iter().map(|layer| layer.units);
        std::iter::once(self.inputs).chain(sizes()).zip(sizes().chain([1]))
    }

    /// The number of weights and biases.
    fn parameters(&self) -> usize {
        self.layers().map(|(inputs, units)| units * (inputs + 1)).sum()
    }
}

/// A fitted network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    shape: Shape,
    scaling: Scaling,
    /// For each network, for each unit of each layer its weights, then its bias.
    members: Vec<Vec<f64>>,
    /// Sigma is the output times this.
    unit: f64,
    /// The share of the penalty that was chosen; nothing in prediction depends on it.
    #[serde(default)]
    regularisation: f64,
    /// The least sigma it gives.
    #[serde(default = "least_sigma")]
    floor: f64,
}

fn least_sigma() -> f64 {
    f64::MIN_POSITIVE
}

/// Fits a network of the inputs (row-major) to the sizes of the errors.
///
/// # Errors
/// Inputs or errors that are empty, of different lengths or not finite; errors that are all zero.
pub fn fit(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Result<Network> {
    fit_to(&Data::new(inputs, columns, error)?, options, &Silent)
}

/// [`fit`] to data that may have weights, watched by a monitor.
///
/// # Errors
/// Errors that are all zero, or a monitor that asked to stop.
pub fn fit_to(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Network> {
    let Prepared { scaling, columns: scaled, error, local, unit } =
        Prepared::new(data, options.own_scale)?;
    let (columns, weight) = (data.columns(), data.weight());
    let sigma = constant::fit(columns, &error, weight, options.loss)?.sigma;
    let shape = |hidden: &Vec<Layer>| Shape {
        inputs: columns,
        hidden: hidden.clone(),
        output: options.output,
    };
    let settings: Vec<(Shape, f64)> = (options.shapes.iter())
        .flat_map(|hidden| options.regularisation.iter().map(move |&share| (shape(hidden), share)))
        .collect();
    let rows = TrainingSet {
        columns: &scaled,
        error: &error,
        weight,
        local: local.as_deref(),
        together: data.together(),
    };
    let starts = options.starts.max(1);
    // Half of the starts, where they are to be averaged, tell which setting is best.
    let first = if options.average { starts.div_ceil(2) } else { starts };
    let steps = Steps::new(monitor, first * settings.len() + starts - first);
    let train = |(setting, number): (usize, usize)| -> Result<(f64, Vec<f64>)> {
        let (shape, regularisation) = &settings[setting];
        let one = rows.train_one(shape, *regularisation, number as u64, sigma, options, monitor);
        steps.done();
        one
    };
    let jobs: Vec<(usize, usize)> =
        (0..settings.len()).flat_map(|i| (0..first).map(move |number| (i, number))).collect();
    let all: Vec<(f64, Vec<f64>)> = jobs.into_par_iter().map(train).collect::<Result<_>>()?;
    // The better half of those to be averaged: some starts end on a plateau.
    let better = |members: &mut Vec<(f64, Vec<f64>)>| {
        members.sort_by(|a, b| a.0.total_cmp(&b.0));
        members.truncate(if options.average { members.len().div_ceil(2) } else { 1 });
    };
    let loss = |members: &[(f64, Vec<f64>)]| {
        let mut members = members.to_vec();
        better(&mut members);
        members.iter().map(|(loss, _)| loss / members.len() as f64).sum::<f64>()
    };
    let best = (all.chunks(first).enumerate())
        .min_by(|(_, a), (_, b)| loss(a).total_cmp(&loss(b)))
        .ok_or(Error::NothingToChooseFrom)?;
    let mut members = best.1.to_vec();
    let others: Vec<(usize, usize)> = (first..starts).map(|number| (best.0, number)).collect();
    members.extend(others.into_par_iter().map(train).collect::<Result<Vec<_>>>()?);
    better(&mut members);
    let (shape, regularisation) = settings[best.0].clone();
    let members = members.into_iter().map(|(_, weights)| weights).collect();
    let floor = least_sigma();
    let mut network = Network { shape, scaling, members, unit, regularisation, floor };
    if options.average {
        // In a gap between rows, where no error says otherwise, sigma may run to next to nothing.
        let on_rows = network.predict(data.inputs())?;
        network.floor = on_rows.into_iter().fold(f64::MAX, f64::min);
    }
    Ok(network)
}

/// What every network of a fit is trained on.
struct TrainingSet<'a> {
    columns: &'a [f64],
    error: &'a [f64],
    weight: Option<&'a [f64]>,
    local: Option<&'a [f64]>,
    together: Option<&'a [u32]>,
}

impl TrainingSet<'_> {
    /// Trains one network; its validation loss and its weights.
    fn train_one(
        &self,
        shape: &Shape,
        regularisation: f64,
        number: u64,
        sigma: f64,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<(f64, Vec<f64>)> {
        check(monitor)?;
        let rows = self.error.len();
        let order = self.order(number, options);
        let held =
            ((rows as f64 * options.validation).round() as usize).min(rows.saturating_sub(1));
        let (validation, training) = order.split_at(self.end(&order, held));
        // With nothing held out, or nothing that counts, progress is judged on the training rows.
        let counts =
            |rows: &[usize]| rows.iter().any(|&row| self.weight.is_none_or(|w| w[row] > 0.0));
        let (judged, training) = match (counts(validation), counts(training)) {
            (true, true) => (validation, training),
            _ => (&order[..], &order[..]),
        };
        let pick = |values: &[f64], of: &[usize]| -> Vec<f64> {
            of.iter().map(|&row| values[row]).collect()
        };
        let of = |rows: &[usize]| Subset {
            model: Evaluator::new(shape, self.columns, self.error.len(), rows),
            error: pick(self.error, rows),
            weight: self.weight.map(|weight| pick(weight, rows)),
            unit: self.local.map(|local| pick(local, rows)),
        };
        let (mut train, mut judge) = (of(training), of(judged));
        train.model.regularisation = regularisation;
        let mut weights = random_weights(shape, sigma, &mut stream(options.seed, number, 1));
        // In local units the cost is nearly flat far from its minimum; the likelihood leads there.
        let mut found = f64::INFINITY;
        if self.local.is_some() {
            found =
                descend(LossKind::Nlpd, &mut train, &mut judge, &mut weights, options, monitor)?;
        }
        if self.local.is_none() || options.loss != LossKind::Nlpd {
            let loss =
                descend(options.loss, &mut train, &mut judge, &mut weights, options, monitor)?;
            found = match self.local {
                None => loss,
                Some(_) => judge.loss_at(LossKind::Nlpd, &weights)?,
            };
        }
        check(monitor)?;
        Ok((found, weights))
    }

    /// The first place from here on where rows in this order can be parted.
    fn end(&self, order: &[usize], place: usize) -> usize {
        let Some(ids) = self.together else { return place };
        let parted = |at: usize| at == 0 || ids[order[at - 1]] != ids[order[at]];
        (place..order.len()).find(|&at| parted(at)).unwrap_or(place)
    }

    /// The rows, those to be held out first. Networks to be averaged have splits of their own, those
    /// to choose from share one.
    fn order(&self, number: u64, options: &Options) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.error.len()).collect();
        match options.split {
            Split::Random => {
                let split = if options.average { number + 1 } else { 0 };
                let mut random = stream(options.seed, split, 0);
                match self.together {
                    None => order.shuffle(&mut random),
                    Some(ids) => {
                        let alike = |a: &usize, b: &usize| ids[*a] == ids[*b];
                        let mut blocks: Vec<&[usize]> = order.chunk_by(alike).collect();
                        blocks.shuffle(&mut random);
                        order = blocks.concat();
                    }
                }
            }
            Split::InOrder => {
                // One after the other through time; the only one at its end.
                let held = (order.len() as f64 * options.validation).round() as usize;
                let last = order.len().saturating_sub(held);
                let first = match options.average {
                    true => last * number as usize / (options.starts.max(2) - 1),
                    false => last,
                };
                let first = self.end(&order, first.min(last));
                order.rotate_left(first);
            }
        }
        order
    }
}

/// A random stream for each network and purpose.
fn stream(seed: u64, number: u64, purpose: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed), u128::from(number) << 8 | u128::from(purpose))
}

/// Some of the rows, and the network on them.
struct Subset {
    model: Evaluator,
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
    unit: Option<Vec<f64>>,
}

impl Subset {
    /// The loss of a network with these weights, whatever the units.
    fn loss_at(&mut self, loss: LossKind, weights: &[f64]) -> Result<f64> {
        let mut loss = loss.on(&self.error, self.weight.as_deref())?;
        Objective::new(&mut self.model, &mut *loss).loss_at(weights)
    }
}

/// Trains until the loss on the judging rows stops falling; leaves the best weights and returns
/// their loss there.
fn descend(
    loss: LossKind,
    train: &mut Subset,
    judge: &mut Subset,
    weights: &mut [f64],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<f64> {
    let train_error = in_local_units(train.error.clone(), train.unit.as_deref());
    let judge_error = in_local_units(judge.error.clone(), judge.unit.as_deref());
    let mut train_loss = loss.on(&train_error, train.weight.as_deref())?;
    let mut judge_loss = loss.on(&judge_error, judge.weight.as_deref())?;
    let mut objective =
        Objective::new(&mut train.model, &mut *train_loss).in_units(train.unit.as_deref());
    let mut judge =
        Objective::new(&mut judge.model, &mut *judge_loss).in_units(judge.unit.as_deref());
    let mut best = (judge.loss_at(weights).unwrap_or(f64::INFINITY), weights.to_vec());
    let mut idle = 0;
    let minimise =
        Minimise { iterations: options.iterations, gradient: 1e-6, ..Minimise::default() };
    objective.minimise(weights, &minimise, |step| {
        let loss = judge.loss_at(step.x).unwrap_or(f64::INFINITY);
        if loss < best.0 {
            best.0 = loss;
            best.1.copy_from_slice(step.x);
            idle = 0;
        } else {
            idle += 1;
        }
        idle >= options.patience || monitor.should_stop()
    });
    weights.copy_from_slice(&best.1);
    Ok(best.0)
}

/// Random weights; the output's bias starts at the constant sigma.
fn random_weights(shape: &Shape, sigma: f64, rng: &mut impl Rng) -> Vec<f64> {
    let mut weights = Vec::with_capacity(shape.parameters());
    let last = shape.hidden.len();
    for (layer, (inputs, units)) in shape.layers().enumerate() {
        let reach = (3.0 / inputs as f64).sqrt();
        for _ in 0..units {
            for _ in 0..inputs {
                weights
                    .push(rng.random_range(-reach..reach) * if layer == last { 0.3 } else { 1.0 });
            }
            weights.push(match (layer == last, shape.output) {
                (false, _) => rng.random_range(-1.0..1.0),
                (true, Output::LogSigma) => sigma.ln(),
                (true, Output::ExpMinusSquare) => (-sigma.min(0.9).ln()).sqrt(),
            });
        }
    }
    weights
}

impl Network {
    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.scaling.columns()
    }

    /// The share of the penalty that was chosen.
    #[must_use]
    pub fn regularisation(&self) -> f64 {
        self.regularisation
    }

    /// Its hidden layers, from the inputs on.
    #[must_use]
    pub fn hidden(&self) -> &[Layer] {
        &self.shape.hidden
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let sizes: Vec<String> =
            self.shape.layers().map(|(inputs, _)| inputs.to_string()).collect();
        let networks = match self.members.len() {
            1 => String::from("a network"),
            n => format!("{n} networks, averaged,"),
        };
        format!("{networks} of {}-1 units", sizes.join("-"))
    }

    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        self.scaling.check()?;
        let parameters = self.shape.parameters();
        let sizes = self.shape.inputs == self.scaling.columns()
            && self.shape.hidden.iter().all(|layer| layer.units > 0);
        if !sizes || self.members.is_empty() || self.members.iter().any(|m| m.len() != parameters) {
            return Err("its weights do not fit its layers, or its layers its inputs");
        }
        let finite = self.members.iter().flatten().all(|w| w.is_finite());
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match finite && positive(self.unit) && positive(self.floor) {
            true => Ok(()),
            false => Err("a weight is not finite, or its least sigma or its unit not positive"),
        }
    }

    /// Sigma for each row; inputs beyond the range of the training rows count as its ends.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let scaled = self.scaling.columns_of(inputs)?;
        let rows = inputs.len() / self.scaling.columns();
        let all: Vec<usize> = (0..rows).collect();
        let mut evaluator = Evaluator::new(&self.shape, &scaled, rows, &all);
        let (mut log, mut sigma) = (vec![0.0; rows], vec![0.0; rows]);
        for member in &self.members {
            evaluator.forward(member, &mut sigma);
            let share = 1.0 / self.members.len() as f64;
            // A sigma is never zero, even where the output underflows.
            log.iter_mut().zip(&sigma).for_each(|(log, s)| *log += share * s.max(1e-300).ln());
        }
        for (sigma, log) in sigma.iter_mut().zip(&log) {
            *sigma = (log.exp() * self.unit).clamp(self.floor, f64::MAX);
        }
        Ok(sigma)
    }
}
