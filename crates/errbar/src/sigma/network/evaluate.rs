//! A network forwards and backwards, sixteen rows at a time.
//!
//! Rows stand in tiles of sixteen, in which every unit has its sixteen numbers side by side. So all
//! the work is on short arrays of a fixed length, which stay in registers.

use rayon::prelude::*;

use super::super::train::Parametric;
use super::{Activation, Output, Shape};
use crate::math::{Arithmetic, Kernel, dispatch, exp_kernel, tanh_kernel};

const LANES: usize = 16;
type Lanes = [f64; LANES];

/// Parts that the tiles are cut into: their gradients are added in order, so that the bits do not
/// depend on the number of threads.
const PARTS: usize = 16;

/// From this many tiles on, parts are shared out to threads.
const PARALLEL_FROM: usize = 256;

/// A network's value and gradient on given rows.
pub(crate) struct Evaluator {
    shape: Shape,
    rows: usize,
    parts: Vec<TileBlock>,
    tiles_per_part: usize,
    pub(crate) regularisation: f64,
}

/// Some tiles with all the memory they need.
struct TileBlock {
    /// Inputs and activations of every tile: inputs, hidden layers, output before its function.
    values: Vec<Lanes>,
    sigma: Vec<Lanes>,
    slope: Vec<Lanes>,
    /// The gradient in every parameter, sixteen rows apart.
    gradient: Vec<Lanes>,
    /// The slope of the cost in every unit of one tile.
    delta: Vec<Lanes>,
}

impl Evaluator {
    /// For the rows `chosen` out of columns of `rows` values.
    pub(crate) fn new(shape: &Shape, columns: &[f64], rows: usize, chosen: &[usize]) -> Self {
        let tiles = chosen.len().div_ceil(LANES);
        let tiles_per_part = tiles.div_ceil(PARTS).max(1);
        let units = units(shape);
        let parts = (0..tiles)
            .step_by(tiles_per_part)
            .map(|first| {
                let tiles = tiles_per_part.min(tiles - first);
                let mut values = vec![[0.0; LANES]; tiles * units];
                for (tile, values) in values.chunks_exact_mut(units).enumerate() {
                    let from = (first + tile) * LANES;
                    for (lane, &row) in chosen.iter().skip(from).take(LANES).enumerate() {
                        for (c, value) in values.iter_mut().take(shape.inputs).enumerate() {
                            value[lane] = columns[c * rows + row];
                        }
                    }
                }
                TileBlock {
                    values,
                    sigma: vec![[0.0; LANES]; tiles],
                    slope: vec![[0.0; LANES]; tiles],
                    gradient: vec![[0.0; LANES]; shape.parameters()],
                    delta: vec![[0.0; LANES]; units],
                }
            })
            .collect();
        Self {
            shape: shape.clone(),
            rows: chosen.len(),
            parts,
            tiles_per_part,
            regularisation: 0.0,
        }
    }

    fn each_part(&mut self, run: impl Fn(&Shape, &mut TileBlock) + Sync) {
        let tiles = self.parts.len() * self.tiles_per_part;
        let shape = &self.shape;
        if tiles >= PARALLEL_FROM && rayon::current_num_threads() > 1 {
            self.parts.par_iter_mut().for_each(|part| run(shape, part));
        } else {
            self.parts.iter_mut().for_each(|part| run(shape, part));
        }
    }
}

/// Inputs, hidden units and the output of one tile.
fn units(shape: &Shape) -> usize {
    shape.inputs + shape.hidden.iter().map(|layer| layer.units).sum::<usize>() + 1
}

impl Parametric for Evaluator {
    fn forward(&mut self, parameters: &[f64], sigma: &mut [f64]) -> bool {
        self.each_part(|shape, part| dispatch(Forward { shape, parameters, part }));
        let per_part = self.tiles_per_part * LANES;
        for (part, sigma) in self.parts.iter().zip(sigma[..self.rows].chunks_mut(per_part)) {
            sigma.copy_from_slice(&part.sigma.as_flattened()[..sigma.len()]);
        }
        sigma.iter().all(|s| *s > 0.0 && s.is_finite())
    }

    fn backward(&mut self, parameters: &[f64], slope: &[f64], gradient: &mut [f64]) {
        let per_part = self.tiles_per_part * LANES;
        for (part, slope) in self.parts.iter_mut().zip(slope[..self.rows].chunks(per_part)) {
            part.slope.as_flattened_mut()[..slope.len()].copy_from_slice(slope);
        }
        self.each_part(|shape, part| dispatch(Backward { shape, parameters, part }));
        gradient.fill(0.0);
        for part in &self.parts {
            for (gradient, lanes) in gradient.iter_mut().zip(&part.gradient) {
                *gradient += lanes.iter().sum::<f64>();
            }
        }
    }

    /// $(1-g) \mathrm{loss} + g \overline{w^2}$
    fn penalise(&self, parameters: &[f64], cost: f64, gradient: &mut [f64]) -> f64 {
        let g = self.regularisation;
        let n = parameters.len() as f64;
        let squares: f64 = parameters.iter().map(|w| w * w).sum();
        for (gradient, w) in gradient.iter_mut().zip(parameters) {
            *gradient = (1.0 - g) * *gradient + 2.0 * g * w / n;
        }
        (1.0 - g) * cost + g * squares / n
    }
}

/// a b + c, lane by lane.
#[inline(always)]
fn multiply_add<A: Arithmetic>(a: &Lanes, b: &Lanes, mut c: Lanes) -> Lanes {
    for l in 0..LANES {
        c[l] = A::mul_add(a[l], b[l], c[l]);
    }
    c
}

struct Forward<'a> {
    shape: &'a Shape,
    parameters: &'a [f64],
    part: &'a mut TileBlock,
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let per_tile = units(self.shape);
        let tiles = self.part.values.chunks_exact_mut(per_tile);
        for (values, sigma) in tiles.zip(&mut self.part.sigma) {
            let (mut from, mut parameters) = (0, self.parameters);
            for (layer, (inputs, units)) in self.shape.layers().enumerate() {
                let (before, after) = values.split_at_mut(from + inputs);
                let (before, after) = (&before[from..], &mut after[..units]);
                for out in after.iter_mut() {
                    let (own, rest) = parameters.split_at(inputs + 1);
                    parameters = rest;
                    let mut sum = [own[inputs]; LANES];
                    for (weight, input) in own.iter().zip(before) {
                        sum = multiply_add::<A>(&[*weight; LANES], input, sum);
                    }
                    *out = sum;
                }
                match self.shape.hidden.get(layer).map(|layer| layer.activation) {
                    Some(Activation::Tanh) => {
                        for value in after.as_flattened_mut() {
                            *value = tanh_kernel::<A>(*value);
                        }
                    }
                    Some(Activation::Clamp) => {
                        for value in after.as_flattened_mut() {
                            *value = value.clamp(-1.0, 1.0);
                        }
                    }
                    None => {}
                }
                from += inputs;
            }
            let n = values[per_tile - 1];
            for l in 0..LANES {
                sigma[l] = match self.shape.output {
                    Output::ExpMinusSquare => exp_kernel::<A>(-n[l] * n[l]),
                    Output::LogSigma => exp_kernel::<A>(n[l]),
                };
            }
        }
    }
}

struct Backward<'a> {
    shape: &'a Shape,
    parameters: &'a [f64],
    part: &'a mut TileBlock,
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let TileBlock { values, sigma, slope, gradient, delta } = self.part;
        let per_tile = units(self.shape);
        gradient.fill([0.0; LANES]);
        for ((values, sigma), slope) in values.chunks_exact(per_tile).zip(sigma).zip(slope) {
            let n = values[per_tile - 1];
            for l in 0..LANES {
                delta[per_tile - 1][l] = slope[l]
                    * match self.shape.output {
                        Output::ExpMinusSquare => -2.0 * n[l] * sigma[l],
                        Output::LogSigma => sigma[l],
                    };
            }
            let (mut to, mut end) = (per_tile, self.parameters.len());
            for layer in (0..=self.shape.hidden.len()).rev() {
                let units = self.shape.hidden.get(layer).map_or(1, |l| l.units);
                let before = layer.checked_sub(1).map(|b| self.shape.hidden[b]);
                let inputs = before.map_or(self.shape.inputs, |l| l.units);
                let (from, start) = (to - units - inputs, end - units * (inputs + 1));
                let (input_delta, unit_delta) = delta[from..to].split_at_mut(inputs);
                let input = &values[from..from + inputs];
                let own = gradient[start..end].chunks_exact_mut(inputs + 1);
                let weights = self.parameters[start..end].chunks_exact(inputs + 1);
                // Inputs of the network itself have no slope to pass on.
                for (k, input_delta) in input_delta.iter_mut().enumerate().filter(|_| layer > 0) {
                    let mut sum = [0.0; LANES];
                    for (weights, delta) in weights.clone().zip(unit_delta.iter()) {
                        sum = multiply_add::<A>(&[weights[k]; LANES], delta, sum);
                    }
                    *input_delta = sum;
                }
                for (gradient, delta) in own.zip(unit_delta.iter()) {
                    // Copies in registers: through references the compiler would have to fear that
                    // one write changes the next read.
                    let delta = *delta;
                    let (of_weights, of_bias) = gradient.split_at_mut(inputs);
                    let pairs = of_weights.iter_mut().zip(input);
                    for (gradient, input) in pairs {
                        *gradient = multiply_add::<A>(&delta, input, *gradient);
                    }
                    for bias in of_bias {
                        *bias = multiply_add::<A>(&delta, &[1.0; LANES], *bias);
                    }
                }
                let pairs = input_delta.as_flattened_mut().iter_mut().zip(input.as_flattened());
                match before.map(|layer| layer.activation) {
                    Some(Activation::Tanh) => pairs.for_each(|(d, a)| *d *= 1.0 - a * a),
                    Some(Activation::Clamp) => {
                        pairs.for_each(|(d, a)| *d = if a.abs() < 1.0 { *d } else { 0.0 });
                    }
                    None => {}
                }
                (to, end) = (to - units, start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::loss::LossKind;
    use crate::score::Beta;
    use crate::sigma::network::Layer;
    use crate::sigma::train::Objective;

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
        for (output, second) in
            [(Output::ExpMinusSquare, Activation::Clamp), (Output::LogSigma, Activation::Tanh)]
        {
            let hidden = vec![
                Layer { units: 4, activation: Activation::Tanh },
                Layer { units: 3, activation: second },
            ];
            let shape = Shape { inputs: 2, hidden, output };
            let rows = 37; // two full tiles and a part of one
            let columns: Vec<f64> = (0..2 * rows).map(|_| rng.random_range(-1.0..1.0)).collect();
            let error: Vec<f64> = (0..rows).map(|_| rng.random_range(-2.0..2.0)).collect();
            let chosen: Vec<usize> = (0..rows).rev().collect();
            let mut loss = LossKind::Ar(Beta::Heuristic).on(&error, None).unwrap();
            let mut model = Evaluator::new(&shape, &columns, rows, &chosen);
            model.regularisation = 0.1;
            let mut objective = Objective::new(&mut model, &mut *loss);
            let weights: Vec<f64> =
                (0..shape.parameters()).map(|_| rng.random_range(-0.8..0.8)).collect();
            let (mut gradient, mut unused) = (weights.clone(), weights.clone());
            objective.at(&weights, &mut gradient).unwrap();
            for (i, gradient) in gradient.iter().enumerate() {
                let mut at = |step: f64| {
                    let mut moved = weights.clone();
                    moved[i] += step;
                    objective.at(&moved, &mut unused).unwrap()
                };
                let h = 1e-7; // short, so that ranks hardly change on the way
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!((slope - gradient).abs() < 2e-7, "{i}: {slope} {gradient}");
            }
        }
    }
}
