//! Trees, by ONNX's own operator for them.
//!
//! `TreeEnsembleRegressor` compares doubles with doubles, but gives floats, which have 7 digits. So the
//! steps of the leaves are cut into pieces of few bits, and each piece is summed by itself: a whole
//! number that a float holds exactly, whatever the runtime adds in. Doubles put the sums together.
//! (The operator that gives doubles, `TreeEnsemble` of 2024, is known to few runtimes yet.)

use errbar::mean::bias::{Bias, Polynomial};
use errbar::sigma::trees::{NodeView, Trees};

use super::graph::{Builder, TREES, Value, doubles, int, ints, strings};
use super::messages::{Attribute, DOUBLE};
use super::onnx::{Inputs, correlations, held, scaled};

/// Whole numbers of so many bits are exact in a float.
const FLOAT_BITS: u32 = 24;

/// Sigma of trees, as a column.
pub(super) fn trees(graph: &mut Builder, model: &Trees, inputs: &Inputs) -> Value {
    let log = sum(graph, model.trees(), model.level(), inputs);
    let exponential = graph.node("exponential", "Exp", &[&log]);
    let unit = graph.doubles("unit", &[], &[model.unit()]);
    let sigma = graph.node("with_unit", "Mul", &[&exponential, &unit]);
    held(graph, &sigma, f64::MIN_POSITIVE)
}

/// A bias, as a column, or one for all rows.
pub(super) fn bias(graph: &mut Builder, bias: &Bias, inputs: &Inputs) -> Value {
    let mut sum = sum(graph, bias.trees(), bias.level(), inputs);
    for (part, name) in [(bias.polynomial(), "polynomial"), (bias.smooth(), "smooth")] {
        let Some(part) = part else { continue };
        let slopes = graph.part(&format!("{name}_"), |graph| slopes(graph, part, inputs));
        sum = graph.node(&format!("with_{name}"), "Add", &[&sum, &slopes]);
    }
    let unit = graph.doubles("unit", &[], &[bias.unit()]);
    graph.node("with_unit", "Mul", &[&sum, &unit])
}

/// The polynomial of a bias, as a column: level + z·a + (z·B)·z, or with bumps for (z·B)·z.
pub(super) fn slopes(graph: &mut Builder, polynomial: &Polynomial, inputs: &Inputs) -> Value {
    let columns = polynomial.columns();
    let z = scaled(graph, polynomial.scaling(), inputs);
    let level = graph.doubles("level", &[], &[polynomial.level()]);
    let linear = graph.doubles("linear", &[columns, 1], polynomial.linear());
    let linear = graph.node("slopes", "MatMul", &[&z, &linear]);
    let sum = graph.node("line", "Add", &[&linear, &level]);
    if let Some((points, inverse_length, coefficients)) = polynomial.bumps() {
        let near = correlations(graph, &z, points, &vec![inverse_length; columns]);
        let coefficients = graph.doubles("coefficients", &[coefficients.len(), 1], coefficients);
        let bumps = graph.node("bumps", "MatMul", &[&near, &coefficients]);
        return graph.node("bent", "Add", &[&sum, &bumps]);
    }
    if polynomial.quadratic().is_empty() {
        return sum;
    }
    let mut square = vec![0.0; columns * columns];
    let pairs = (0..columns).flat_map(|j| (0..=j).map(move |i| (i, j)));
    pairs.zip(polynomial.quadratic()).for_each(|((i, j), c)| square[i * columns + j] = *c);
    let square = graph.doubles("quadratic", &[columns, columns], &square);
    let half = graph.node("times_once", "MatMul", &[&z, &square]);
    let products = graph.node("times_twice", "Mul", &[&half, &z]);
    let products = graph.node("products", "ReduceSum", &[&products, &inputs.across]);
    graph.node("curve", "Add", &[&sum, &products])
}

/// A level and the steps of all trees, as a column; the level alone where there are no steps.
fn sum(graph: &mut Builder, trees: Vec<Vec<NodeView>>, level: f64, inputs: &Inputs) -> Value {
    let count = trees.len();
    let nodes = Nodes::of(trees);
    let pieces = Pieces::of(&nodes.steps, count);
    let level = graph.doubles("level", &[], &[level]);
    match pieces.units.len() {
        // No trees, or none that makes a step.
        0 => level,
        count => {
            let attributes = nodes.attributes(&pieces);
            let sums = graph.node_of(
                TREES,
                "sums",
                "TreeEnsembleRegressor",
                &[&inputs.values],
                attributes,
            );
            let to_double = vec![int("to", DOUBLE.into())];
            let sums = graph.node_with("exact_sums", "Cast", &[&sums], to_double);
            let units = graph.doubles("units", &[count, 1], &pieces.units);
            let steps = graph.node("sum_of_steps", "MatMul", &[&sums, &units]);
            graph.node("sum", "Add", &[&steps, &level])
        }
    }
}

/// The nodes of all trees, as the lists that ONNX has them in.
#[derive(Default)]
struct Nodes {
    /// Of each node its tree, and its place there.
    trees: Vec<i64>,
    places: Vec<i64>,
    modes: Vec<&'static str>,
    columns: Vec<i64>,
    thresholds: Vec<f64>,
    left: Vec<i64>,
    right: Vec<i64>,
    missing_left: Vec<i64>,
    /// The nodes that are leaves, and their steps.
    leaves: Vec<usize>,
    steps: Vec<f64>,
}

impl Nodes {
    fn of(trees: Vec<Vec<NodeView>>) -> Self {
        let mut all = Self::default();
        for (tree, nodes) in trees.into_iter().enumerate() {
            for (place, node) in nodes.into_iter().enumerate() {
                // What a leaf has in the lists of splits does not matter.
                let (mut mode, mut split) = ("LEAF", (0, 0.0, false, 0));
                match node {
                    NodeView::Leaf(step) => {
                        all.leaves.push(all.modes.len());
                        all.steps.push(step);
                    }
                    NodeView::Split { column, threshold, missing_left, right } => {
                        (mode, split) = ("BRANCH_LEQ", (column, threshold, missing_left, right));
                    }
                }
                let (column, threshold, missing_left, right) = split;
                all.trees.push(tree as i64);
                all.places.push(place as i64);
                all.modes.push(mode);
                all.columns.push(column as i64);
                all.thresholds.push(threshold);
                all.left.push(if right == 0 { 0 } else { place as i64 + 1 });
                all.right.push(right as i64);
                all.missing_left.push(missing_left.into());
            }
        }
        all
    }

    fn attributes(&self, pieces: &Pieces) -> Vec<Attribute> {
        let (mut trees, mut places, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut weights = Vec::new();
        for (target, numbers) in pieces.numbers.iter().enumerate() {
            for (&leaf, &number) in self.leaves.iter().zip(numbers) {
                // Most small pieces are zero. Every leaf has the first.
                if target == 0 || number != 0.0 {
                    trees.push(self.trees[leaf]);
                    places.push(self.places[leaf]);
                    targets.push(target as i64);
                    weights.push(number);
                }
            }
        }
        vec![
            int("n_targets", pieces.units.len() as i64),
            ints("nodes_treeids", &self.trees),
            ints("nodes_nodeids", &self.places),
            strings("nodes_modes", &self.modes),
            ints("nodes_featureids", &self.columns),
            doubles("nodes_values_as_tensor", &self.thresholds),
            ints("nodes_truenodeids", &self.left),
            ints("nodes_falsenodeids", &self.right),
            ints("nodes_missing_value_tracks_true", &self.missing_left),
            ints("target_treeids", &trees),
            ints("target_nodeids", &places),
            ints("target_ids", &targets),
            doubles("target_weights_as_tensor", &weights),
        ]
    }
}

/// Steps as sums of whole numbers times units, exactly.
struct Pieces {
    /// Powers of two, falling.
    units: Vec<f64>,
    /// For each unit, the number of each step. Those of one leaf of every tree add up to fewer than
    /// 24 bits.
    numbers: Vec<Vec<f64>>,
}

impl Pieces {
    fn of(steps: &[f64], trees: usize) -> Self {
        let largest = steps.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
        let for_trees = usize::BITS - trees.leading_zeros();
        // (At least a bit, so that it ends, even for millions of trees.)
        let bits = FLOAT_BITS.saturating_sub(for_trees).max(1);
        let mut unit = (largest.log2().floor() + 1.0).exp2();
        let mut rest = steps.to_vec();
        let mut pieces = Self { units: Vec::new(), numbers: Vec::new() };
        while rest.iter().any(|rest| *rest != 0.0) {
            unit /= f64::from(1 << bits);
            let numbers: Vec<f64> = rest.iter().map(|rest| (rest / unit).round()).collect();
            rest.iter_mut().zip(&numbers).for_each(|(rest, number)| *rest -= number * unit);
            pieces.units.push(unit);
            pieces.numbers.push(numbers);
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;

    #[test]
    fn pieces_make_the_steps_and_their_sums_are_exact_floats() {
        let steps = [0.1, -0.3, 1.0, 1e-7, -1e-12, 0.0, 0.999_999_94, -1.0];
        let steps = steps.map(|step: f32| f64::from(step));
        let extremes = [f32::MAX, f32::MIN, f32::from_bits(1), 0.3].map(f64::from);
        for steps in [&steps[..], &extremes, &[2.0], &[-0.5]] {
            for trees in [1, 2, 3, 1000, 4096, 100_000] {
                let Pieces { units, numbers } = Pieces::of(steps, trees);
                let step =
                    |i: usize| units.iter().zip(&numbers).map(|(u, n)| u * n[i]).sum::<f64>();
                (0..steps.len()).for_each(|i| assert_eq!(step(i), steps[i]));
                let largest = numbers.iter().flatten().fold(0.0, |most: f64, n| most.max(n.abs()));
                assert!(largest * trees as f64 <= f64::from(1 << 24), "{largest} in {trees} trees");
            }
        }
        assert!(Pieces::of(&[], 0).units.is_empty());
        assert!(Pieces::of(&[0.0, -0.0], 2).units.is_empty());
        // Even then it ends.
        Pieces::of(&[0.1, f64::from(f32::MAX)], usize::MAX);
    }
}
