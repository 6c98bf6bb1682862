//! Fits the paper's networks on the data that `benches/fit_peers.py` writes, and prints one JSON
//! object for it.
//!
//! `fit_peer DIR G REPEAT` reads raw little-endian doubles from DIR, fits with a penalty of G and
//! takes the best time of REPEAT fits. Beside the fit it gives what another program needs to do the
//! same work: the split, the five random starts, and the weights after one iteration. `network::fit`
//! does not say how many iterations it took, so the method is written here once more with a plain
//! network around errbar's own BFGS and cost, and its iterations and evaluations are counted.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use errbar::loss::{Loss, LossKind};
use errbar::optimize::{self, Minimum, bfgs_with};
use errbar::sigma::Scaling;
use errbar::sigma::network::{self, Network, Options};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const SIZES: [usize; 3] = [20, 5, 1];

fn read(dir: &Path, name: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = fs::read(dir.join(name).with_extension("f64"))?;
    let (values, _) = bytes.as_chunks::<8>();
    Ok(values.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// The random stream that `network::fit` has for each network and purpose.
fn stream(seed: u64, number: u64, purpose: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed), u128::from(number) << 8 | u128::from(purpose))
}

/// The start that `network::fit` draws for network `number`; the output's bias is the same for all.
fn start(columns: usize, bias: f64, seed: u64, number: u64) -> Vec<f64> {
    let mut rng = stream(seed, number, 1);
    let mut weights = Vec::new();
    let mut inputs = columns;
    for units in SIZES {
        let (last, reach) = (units == 1, (3.0 / inputs as f64).sqrt());
        for _ in 0..units {
            for _ in 0..inputs {
                weights.push(rng.random_range(-reach..reach) * if last { 0.3 } else { 1.0 });
            }
            weights.push(if last { bias } else { rng.random_range(-1.0..1.0) });
        }
        inputs = units;
    }
    weights
}

/// One row: activations of all units, inputs first. The last is n of sigma = exp(-n²).
fn forward(weights: &[f64], inputs: usize, values: &mut [f64]) {
    let (mut from, mut inputs, mut weights) = (0, inputs, weights);
    for (layer, units) in SIZES.into_iter().enumerate() {
        for unit in 0..units {
            let (own, rest) = weights.split_at(inputs + 1);
            weights = rest;
            let sum = (0..inputs).fold(own[inputs], |sum, k| sum + own[k] * values[from + k]);
            values[from + inputs + unit] = match layer {
                0 => errbar::math::tanh(sum),
                1 => sum.clamp(-1.0, 1.0),
                _ => sum,
            };
        }
        (from, inputs) = (from + inputs, units);
    }
}

/// Adds one row's part of the gradient; `delta` is for the slope in every unit, the last one given.
fn backward(
    weights: &[f64],
    inputs: usize,
    values: &[f64],
    delta: &mut [f64],
    gradient: &mut [f64],
) {
    let (mut to, mut end) = (values.len(), weights.len());
    for layer in (0..SIZES.len()).rev() {
        let (units, inputs) = (SIZES[layer], if layer == 0 { inputs } else { SIZES[layer - 1] });
        let (from, first) = (to - units - inputs, end - units * (inputs + 1));
        delta[from..from + inputs].fill(0.0);
        for unit in 0..units {
            let (d, at) = (delta[to - units + unit], first + unit * (inputs + 1));
            for k in 0..inputs {
                gradient[at + k] += d * values[from + k];
                delta[from + k] += d * weights[at + k];
            }
            gradient[at + inputs] += d;
        }
        for (d, a) in delta[from..from + inputs].iter_mut().zip(&values[from..]) {
            match layer {
                2 if a.abs() >= 1.0 => *d = 0.0,
                1 => *d *= 1.0 - a * a,
                _ => {}
            }
        }
        (to, end) = (to - units, first);
    }
}

/// Some rows with their cost.
struct Rows<'a> {
    columns: usize,
    /// For each row its scaled inputs and room for every unit.
    values: Vec<f64>,
    loss: Box<dyn Loss + Send + 'a>,
}

impl<'a> Rows<'a> {
    fn new(inputs: &[Vec<f64>], error: &'a [f64], loss: LossKind) -> errbar::Result<Self> {
        let columns = inputs[0].len();
        let rest = [0.0; 26];
        let values = inputs.iter().flat_map(|row| row.iter().chain(&rest)).copied().collect();
        Ok(Self { columns, values, loss: loss.on(error, None)? })
    }

    fn sigma(&mut self, weights: &[f64]) -> Vec<f64> {
        let sigma = |row: &mut [f64]| {
            forward(weights, self.columns, row);
            row.last().map_or(0.0, |n| (-n * n).exp())
        };
        self.values.chunks_exact_mut(self.columns + 26).map(sigma).collect()
    }

    /// The loss alone.
    fn value(&mut self, weights: &[f64]) -> f64 {
        let sigma = self.sigma(weights);
        self.loss.value(&sigma).unwrap_or(f64::INFINITY)
    }

    /// (1-g) loss + g mean(w²) and its gradient.
    fn cost(&mut self, weights: &[f64], g: f64, gradient: &mut [f64]) -> Option<f64> {
        let sigma = self.sigma(weights);
        let mut slope = vec![0.0; sigma.len()];
        let loss = self.loss.value_and_gradient(&sigma, &mut slope).ok()?;
        gradient.fill(0.0);
        let units = self.columns + 26;
        let mut delta = vec![0.0; units];
        for ((values, sigma), slope) in self.values.chunks_exact(units).zip(&sigma).zip(&slope) {
            delta[units - 1] = -2.0 * slope * values[units - 1] * sigma;
            backward(weights, self.columns, values, &mut delta, gradient);
        }
        let n = weights.len() as f64;
        gradient.iter_mut().zip(weights).for_each(|(d, w)| *d = (1.0 - g) * *d + 2.0 * g * w / n);
        Some((1.0 - g) * loss + g * weights.iter().map(|w| w * w).sum::<f64>() / n)
    }
}

/// Trains one network as `network::fit` does: the least validation loss, its weights, the counts.
fn train(
    training: &mut Rows,
    validation: &mut Rows,
    start: &[f64],
    options: &Options,
) -> (f64, Vec<f64>, Minimum) {
    let (mut best, mut idle) = ((validation.value(start), start.to_vec()), 0);
    let minimise = optimize::Options {
        iterations: options.iterations,
        gradient: 1e-6,
        ..optimize::Options::default()
    };
    let g = options.regularisation[0];
    let cost = |w: &[f64], gradient: &mut [f64]| training.cost(w, g, gradient);
    let minimum = bfgs_with(&mut start.to_vec(), &minimise, cost, |step| {
        let loss = validation.value(step.x);
        if loss < best.0 {
            (best, idle) = ((loss, step.x.to_vec()), 0);
        } else {
            idle += 1;
        }
        idle >= options.patience
    });
    (best.0, best.1, minimum)
}

/// The weights of a fitted network, out of its JSON form.
fn weights_of(network: &Network) -> Result<Vec<f64>, Box<dyn Error>> {
    Ok(serde_json::from_value(serde_json::to_value(network)?["members"][0].clone())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(g), Some(repeat)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: fit_peer DIR G REPEAT".into());
    };
    let (dir, repeat) = (Path::new(&dir), repeat.parse::<usize>()?);
    let (inputs, error) = (read(dir, "inputs")?, read(dir, "error")?);
    let (test_inputs, random) = (read(dir, "test_inputs")?, read(dir, "weights")?);
    let columns = inputs.len() / error.len();
    let options = Options { regularisation: vec![g.parse()?], ..Options::paper() };

    let mut seconds = Vec::new();
    let mut fitted = None;
    for _ in 0..repeat.max(1) {
        let begin = Instant::now();
        fitted = Some(black_box(network::fit(&inputs, columns, &error, &options)?));
        seconds.push(begin.elapsed().as_secs_f64());
    }
    let fitted = fitted.ok_or("no fit")?;

    // Sigma at weights given from outside.
    let mut form = serde_json::to_value(&fitted)?;
    form["members"] = json!([random]);
    let sigma_at_random = serde_json::from_value::<Network>(form)?.predict(&inputs)?;

    // The first network alone, before and after its first iteration.
    let after = |iterations: usize| -> Result<Vec<f64>, Box<dyn Error>> {
        let options = Options { starts: 1, iterations, ..options.clone() };
        weights_of(&network::fit(&inputs, columns, &error, &options)?)
    };

    // The same split and starts here.
    let mut order: Vec<usize> = (0..error.len()).collect();
    order.shuffle(&mut stream(options.seed, 0, 0));
    let (held, rest) = order.split_at((error.len() as f64 * options.validation).round() as usize);
    let first = after(0)?;
    let bias = *first.last().ok_or("no weights")?;
    let starts: Vec<Vec<f64>> = (0..options.starts as u64)
        .map(|number| start(columns, bias, options.seed, number))
        .collect();
    if first != starts[0] {
        return Err("the starts are no longer those of network::fit".into());
    }
    let scaling = Scaling::of(&inputs, columns)?;
    let pick = |of: &[usize]| -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |i: usize| &inputs[i * columns..(i + 1) * columns];
        let scaled =
            |&i: &usize| row(i).iter().enumerate().map(|(c, x)| scaling.scaled(c, *x)).collect();
        (of.iter().map(scaled).collect(), of.iter().map(|&i| error[i]).collect())
    };
    let ((train_inputs, train_error), (held_inputs, held_error)) = (pick(rest), pick(held));
    let mut counts = Vec::new();
    let mut least = f64::INFINITY;
    for start in &starts {
        let mut training = Rows::new(&train_inputs, &train_error, options.loss)?;
        let mut validation = Rows::new(&held_inputs, &held_error, options.loss)?;
        let (loss, _, minimum) = train(&mut training, &mut validation, start, &options);
        least = least.min(loss);
        counts.push(json!({
            "iterations": minimum.iterations,
            "evaluations": minimum.evaluations,
            "stop": format!("{:?}", minimum.stop).to_lowercase(),
        }));
    }

    let out: Value = json!({
        "seconds": seconds,
        "sigma": fitted.predict(&inputs)?,
        "test_sigma": fitted.predict(&test_inputs)?,
        "sigma_at_random": sigma_at_random,
        "validation": held,
        "training": rest,
        "starts": starts,
        "first_step": after(1)?,
        "counts": counts,
        "counted_validation_loss": least,
        "cpu": errbar::math::Level::available().last().map(|level| format!("{level:?}")),
    });
    println!("{out}");
    Ok(())
}
