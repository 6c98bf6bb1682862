//! sigma(x) as a small neural network.

mod evaluate;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use self::evaluate::Evaluator;
use super::constant;
use super::scaling::Scaling;
use super::train::Objective;
use crate::error::{Error, Result};
use crate::optimize::Options as Minimise;
use crate::score::{Beta, LossKind};

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
    /// The hidden layers, from the inputs on.
    pub hidden: Vec<Layer>,
    /// The output.
    pub output: Output,
    /// Shares g of the penalty in the cost $(1-g) \mathrm{loss} + g \overline{w^2}$ to choose from
    /// on the validation rows.
    pub regularisation: Vec<f64>,
    /// The share of rows that training does not see.
    pub validation: f64,
    /// Iterations without progress on the validation rows before stopping.
    pub patience: usize,
    /// Iterations at most.
    pub iterations: usize,
    /// Networks trained from different random weights, for each regularisation.
    pub starts: usize,
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
            hidden: vec![
                Layer { units: 20, activation: Activation::Tanh },
                Layer { units: 5, activation: Activation::Clamp },
            ],
            output: Output::ExpMinusSquare,
            regularisation: vec![0.2],
            validation: 0.3,
            patience: 10,
            iterations: 1000,
            starts: 5,
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
            hidden: vec![
                Layer { units: 20, activation: Activation::Tanh },
                Layer { units: 5, activation: Activation::Tanh },
            ],
            output: Output::LogSigma,
            regularisation: vec![0.1, 0.03, 0.01, 0.003, 0.001],
            own_scale: true,
            ..Self::paper()
        }
    }
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
    /// For each unit of each layer its weights, then its bias.
    parameters: Vec<f64>,
    /// Sigma is the output times this.
    unit: f64,
}

/// Fits a network of the inputs (row-major) to the sizes of the errors.
///
/// # Errors
/// Inputs or errors that are empty, of different lengths or not finite; errors that are all zero.
pub fn fit(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Result<Network> {
    let scaling = Scaling::of(inputs, columns)?;
    let rows = inputs.len() / columns;
    if rows != error.len() {
        return Err(Error::LengthMismatch {
            what: "inputs",
            length: rows,
            other: "error",
            expected: error.len(),
        });
    }
    let start = constant::fit(error, None, options.loss)?.sigma;
    let unit =
        if options.own_scale { error.iter().map(|e| e.abs() / rows as f64).sum() } else { 1.0 };
    let shape = Shape { inputs: columns, hidden: options.hidden.clone(), output: options.output };
    let scaled = scaling.columns_of(inputs)?;

    let mut rng = Pcg64::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng);
    let held = ((rows as f64 * options.validation).round() as usize).min(rows.saturating_sub(1));
    let (validation, training) = order.split_at(held);
    let pick = |of: &[usize]| of.iter().map(|&i| error[i] / unit).collect::<Vec<f64>>();
    // With nothing held out, progress is judged on the training rows.
    let judged = if validation.is_empty() { training } else { validation };
    let (train_error, judge_error) = (pick(training), pick(judged));
    let mut loss = options.loss.on(&train_error, None)?;
    let mut judge_loss = options.loss.on(&judge_error, None)?;
    let mut model = Evaluator::new(&shape, &scaled, rows, training);
    let mut judge_model = Evaluator::new(&shape, &scaled, rows, judged);

    let mut best = (f64::INFINITY, vec![0.0; shape.parameters()]);
    for &regularisation in &options.regularisation {
        for _ in 0..options.starts.max(1) {
            let mut weights = random_weights(&shape, start / unit, &mut rng);
            model.regularisation = regularisation;
            let found = train(
                &mut Objective::new(&mut model, &mut *loss),
                &mut Objective::new(&mut judge_model, &mut *judge_loss),
                &mut weights,
                options,
            );
            if found < best.0 {
                best = (found, weights);
            }
        }
    }
    Ok(Network { shape, scaling, parameters: best.1, unit })
}

/// Trains until the loss on the judging rows stops falling; leaves the best weights and returns
/// their loss there.
fn train(
    objective: &mut Objective<Evaluator>,
    judge: &mut Objective<Evaluator>,
    weights: &mut [f64],
    options: &Options,
) -> f64 {
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
        idle >= options.patience
    });
    weights.copy_from_slice(&best.1);
    best.0
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
    /// Sigma for each row; inputs beyond the range of the training rows count as its ends.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let scaled = self.scaling.columns_of(inputs)?;
        let rows = inputs.len() / self.scaling.columns();
        let all: Vec<usize> = (0..rows).collect();
        let mut evaluator = Evaluator::new(&self.shape, &scaled, rows, &all);
        let mut sigma = vec![0.0; rows];
        super::train::Parametric::forward(&mut evaluator, &self.parameters, &mut sigma);
        // A sigma is never zero, even where the output underflows.
        sigma.iter_mut().for_each(|s| *s = (*s * self.unit).max(f64::MIN_POSITIVE));
        Ok(sigma)
    }
}
