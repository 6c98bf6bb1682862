//! A network forwards and backwards, sixteen rows at a time.
//!
//! Rows stand in tiles of sixteen, in which every unit has its sixteen numbers side by side. So all
//! the work is on short arrays of a fixed length, which stay in registers: several units at once forwards, so that
//! sums do not wait for each other, and backwards several weights at once over several tiles, so that a gradient
//! is fetched and put back once for all of them.

use rayon::prelude::*;

use super::super::train::Parametric;
use super::{Activation, Output, Shape};
use crate::math::{Arithmetic, Kernel, dispatch, exp_kernel, tanh_near_kernel};

const LANES: usize = 16;
type Lanes = [f64; LANES];

/// Gradients are summed in half as many lanes: more of them stay in registers.
const HALF: usize = LANES / 2;
type Half = [f64; HALF];

/// Tiles whose slopes are found before gradients are summed over them: they stay in the nearest cache.
const TILES_AT_ONCE: usize = 8;

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
    /// The gradient in every parameter, eight rows apart.
    gradient: Vec<Half>,
    /// The slope of the cost in every unit of some tiles.
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
                    gradient: vec![[0.0; HALF]; shape.parameters()],
                    delta: vec![[0.0; LANES]; units * TILES_AT_ONCE],
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

/// The sums of some neighbouring units of one tile, from their weights, each unit's bias last.
#[inline(always)]
fn sums<A: Arithmetic, const UNITS: usize>(own: &[f64], before: &[Lanes]) -> [Lanes; UNITS] {
    let each = before.len() + 1;
    let own: [&[f64]; UNITS] = std::array::from_fn(|unit| &own[unit * each..(unit + 1) * each]);
    let mut sums: [Lanes; UNITS] = std::array::from_fn(|unit| [own[unit][each - 1]; LANES]);
    for (k, input) in before.iter().enumerate() {
        for (sum, own) in sums.iter_mut().zip(own) {
            *sum = multiply_add::<A>(&[own[k]; LANES], input, *sum);
        }
    }
    sums
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
                let (own, rest) = parameters.split_at(units * (inputs + 1));
                parameters = rest;
                let (four, others) = after.as_chunks_mut::<4>();
                let (of_four, of_others) = own.split_at(4 * four.len() * (inputs + 1));
                for (out, own) in four.iter_mut().zip(of_four.chunks_exact(4 * (inputs + 1))) {
                    *out = sums::<A, 4>(own, before);
                }
                for (out, own) in others.iter_mut().zip(of_others.chunks_exact(inputs + 1)) {
                    [*out] = sums::<A, 1>(own, before);
                }
                match self.shape.hidden.get(layer).map(|layer| layer.activation) {
                    Some(Activation::Tanh) => {
                        for value in after.as_flattened_mut() {
                            *value = tanh_near_kernel::<A>(*value);
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

/// A layer, and where what belongs to it stands.
#[derive(Clone, Copy)]
struct Place {
    inputs: usize,
    units: usize,
    /// Of its inputs among the values of a tile; its units follow.
    from: usize,
    /// Of its parameters.
    start: usize,
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
        gradient.fill([0.0; HALF]);
        let tiles = values.chunks(per_tile * TILES_AT_ONCE);
        let ends = sigma.chunks(TILES_AT_ONCE).zip(slope.chunks(TILES_AT_ONCE));
        for (values, (sigma, slope)) in tiles.zip(ends) {
            let tiles = values.chunks_exact(per_tile).zip(sigma.iter().zip(slope));
            for (delta, (values, (sigma, slope))) in delta.chunks_exact_mut(per_tile).zip(tiles) {
                let n = values[per_tile - 1];
                for l in 0..LANES {
                    delta[per_tile - 1][l] = slope[l]
                        * match self.shape.output {
                            Output::ExpMinusSquare => -2.0 * n[l] * sigma[l],
                            Output::LogSigma => sigma[l],
                        };
                }
                // Inputs of the network itself have no slope to pass on.
                let (mut to, mut end) = (per_tile, self.parameters.len());
                for layer in (1..=self.shape.hidden.len()).rev() {
                    let units = self.shape.hidden.get(layer).map_or(1, |l| l.units);
                    let before = self.shape.hidden[layer - 1];
                    let inputs = before.units;
                    let (from, start) = (to - units - inputs, end - units * (inputs + 1));
                    let (input_delta, unit_delta) = delta[from..to].split_at_mut(inputs);
                    let weights = &self.parameters[start..end];
                    passed_on::<A>(weights, unit_delta, input_delta);
                    let input = values[from..from + inputs].as_flattened();
                    let pairs = input_delta.as_flattened_mut().iter_mut().zip(input);
                    match before.activation {
                        Activation::Tanh => pairs.for_each(|(d, a)| *d *= 1.0 - a * a),
                        Activation::Clamp => {
                            pairs.for_each(|(d, a)| *d = if a.abs() < 1.0 { *d } else { 0.0 });
                        }
                    }
                    (to, end) = (to - units, start);
                }
            }
            let (mut from, mut start) = (0, 0);
            for (inputs, units) in self.shape.layers() {
                let place = Place { inputs, units, from, start };
                add_gradients::<A>(place, (values, delta, per_tile), gradient);
                (from, start) = (from + inputs, start + units * (inputs + 1));
            }
        }
    }
}

/// The slope in each input of a layer in one tile, from that in its units.
#[inline(always)]
fn passed_on<A: Arithmetic>(weights: &[f64], unit_delta: &[Lanes], input_delta: &mut [Lanes]) {
    let each = input_delta.len() + 1;
    let (four, others) = input_delta.as_chunks_mut::<4>();
    let of_others = 4 * four.len();
    for (k, input_delta) in four.iter_mut().enumerate() {
        let mut sums = [[0.0; LANES]; 4];
        for (weights, delta) in weights.chunks_exact(each).zip(unit_delta) {
            let own = &weights[4 * k..4 * k + 4];
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum = multiply_add::<A>(&[*own; LANES], delta, *sum);
            }
        }
        *input_delta = sums;
    }
    for (k, input_delta) in others.iter_mut().enumerate() {
        let mut sum = [0.0; LANES];
        for (weights, delta) in weights.chunks_exact(each).zip(unit_delta) {
            sum = multiply_add::<A>(&[weights[of_others + k]; LANES], delta, sum);
        }
        *input_delta = sum;
    }
}

/// Adds to the gradient of a layer what some tiles say.
#[inline(always)]
fn add_gradients<A: Arithmetic>(
    place: Place,
    tiles: (&[Lanes], &[Lanes], usize),
    gradient: &mut [Half],
) {
    let Place { inputs, units, .. } = place;
    for unit in (0..units - units % 2).step_by(2) {
        for input in (0..inputs - inputs % 4).step_by(4) {
            add_block::<A, 2, 4>(place, (unit, input), tiles, gradient);
        }
        for input in inputs - inputs % 4..inputs {
            add_block::<A, 2, 1>(place, (unit, input), tiles, gradient);
        }
    }
    for unit in units - units % 2..units {
        for input in (0..inputs - inputs % 4).step_by(4) {
            add_block::<A, 1, 4>(place, (unit, input), tiles, gradient);
        }
        for input in inputs - inputs % 4..inputs {
            add_block::<A, 1, 1>(place, (unit, input), tiles, gradient);
        }
    }
    let (values, deltas, per_tile) = tiles;
    for unit in 0..units {
        let bias = &mut gradient[place.start + unit * (inputs + 1) + inputs];
        let of_tiles = deltas.chunks_exact(per_tile).take(values.len() / per_tile);
        for delta in of_tiles {
            for half in delta[place.from + inputs + unit].as_chunks::<HALF>().0 {
                bias.iter_mut().zip(half).for_each(|(bias, delta)| *bias += delta);
            }
        }
    }
}

/// The same for the weights of some units for some inputs.
#[inline(always)]
fn add_block<A: Arithmetic, const UNITS: usize, const INPUTS: usize>(
    Place { inputs, from, start, .. }: Place,
    (unit, input): (usize, usize),
    (values, deltas, per_tile): (&[Lanes], &[Lanes], usize),
    gradient: &mut [Half],
) {
    let mut sums = [[[0.0; HALF]; INPUTS]; UNITS];
    for (values, deltas) in values.chunks_exact(per_tile).zip(deltas.chunks_exact(per_tile)) {
        let values = &values[from + input..from + input + INPUTS];
        let deltas = &deltas[from + inputs + unit..from + inputs + unit + UNITS];
        for half in 0..2 {
            for (sums, delta) in sums.iter_mut().zip(deltas) {
                let delta = &delta.as_chunks::<HALF>().0[half];
                for (sum, value) in sums.iter_mut().zip(values) {
                    let value = &value.as_chunks::<HALF>().0[half];
                    for l in 0..HALF {
                        sum[l] = A::mul_add(delta[l], value[l], sum[l]);
                    }
                }
            }
        }
    }
    for (u, sums) in sums.iter().enumerate() {
        let own = start + (unit + u) * (inputs + 1) + input;
        for (gradient, sum) in gradient[own..own + INPUTS].iter_mut().zip(sums) {
            gradient.iter_mut().zip(sum).for_each(|(gradient, sum)| *gradient += sum);
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
