//! Trees against the definition, and what only this module can be asked: missing values.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::*;
use crate::boosting::{Grower, Limits, Slope};
use crate::loss::LossKind;
use crate::score::Beta;

/// A table with few distinct values, of which some are missing.
fn table(rng: &mut Pcg64, rows: usize, columns: usize) -> Vec<f64> {
    let value = |rng: &mut Pcg64| match rng.random_range(0..6) {
        0 => f64::NAN,
        _ => f64::from(rng.random_range(-3..4)) * 0.7,
    };
    (0..rows * columns).map(|_| value(rng)).collect()
}

fn fit_some(
    inputs: &[f64],
    columns: usize,
    error: &[f64],
    weight: Option<&[f64]>,
    options: &Options,
) -> Result<Trees> {
    let data = Data::with_missing(inputs, columns, error)?;
    let order = Order::of(&data, options.split, options.seed);
    fit_rows(inputs, columns, error, weight, &order, options, &Silent)
}

/// One split by the definition: the greatest gain over all columns, all places between values and
/// both ways for missing ones, each summed anew. Gives the rows of both sides.
fn best_split(
    rows: &[usize],
    inputs: &[f64],
    columns: usize,
    slopes: &[Slope],
    least: f64,
) -> Option<(f64, Vec<usize>, Vec<usize>)> {
    let sum = |rows: &[usize], of: fn(&Slope) -> f64| rows.iter().map(|&i| of(&slopes[i])).sum();
    let fall = |rows: &[usize]| {
        let gradient: f64 = sum(rows, |s| s.gradient);
        gradient * gradient / sum(rows, |s| s.curvature)
    };
    let mut best: Option<(f64, Vec<usize>, Vec<usize>)> = None;
    for column in 0..columns {
        for &at in rows {
            for missing_left in [false, true] {
                let goes_left = |i: &usize| {
                    let x = inputs[i * columns + column];
                    if x.is_nan() { missing_left } else { x <= inputs[at * columns + column] }
                };
                let (left, right): (Vec<usize>, Vec<usize>) =
                    rows.iter().partition(|i| goes_left(i));
                let enough = |rows: &[usize]| sum(rows, |s| s.weight) >= least;
                if left.is_empty() || right.is_empty() || !enough(&left) || !enough(&right) {
                    continue;
                }
                let gain = fall(&left) + fall(&right) - fall(rows);
                if best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                    best = Some((gain, left, right));
                }
            }
        }
    }
    best
}

/// The step of each row in the tree of the definition, leaf of greatest gain first.
fn steps_by_definition(
    inputs: &[f64],
    columns: usize,
    slopes: &[Slope],
    limits: Limits,
) -> Vec<f64> {
    let mut leaves: Vec<(usize, Vec<usize>)> = vec![(0, (0..slopes.len()).collect())];
    while leaves.len() < limits.leaves {
        let splits = leaves.iter().enumerate().filter(|(_, (depth, _))| *depth < limits.depth);
        let best = splits
            .filter_map(|(at, (_, rows))| {
                let split = best_split(rows, inputs, columns, slopes, limits.least)?;
                Some((at, split))
            })
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        // What one row gains on average, were its slope noise.
        let squares: f64 = slopes.iter().map(|s| s.gradient * s.gradient / s.weight).sum();
        let chance = squares / slopes.iter().map(|s| s.curvature).sum::<f64>();
        let enough = |(_, split): &(usize, (f64, _, _))| split.0 > limits.least_gain * chance;
        let Some((at, (_, left, right))) = best.filter(enough) else { break };
        let depth = leaves.swap_remove(at).0 + 1;
        leaves.extend([(depth, left), (depth, right)]);
    }
    let mut steps = vec![0.0; slopes.len()];
    for (_, rows) in &leaves {
        let gradient: f64 = rows.iter().map(|&i| slopes[i].gradient).sum();
        let curvature: f64 = rows.iter().map(|&i| slopes[i].curvature).sum();
        rows.iter().for_each(|&i| steps[i] = -gradient / curvature);
    }
    steps
}

#[test]
fn a_tree_is_that_of_the_definition() {
    for seed in 0..60 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (rows, columns) = (rng.random_range(2..40), rng.random_range(1..4));
        let inputs = table(&mut rng, rows, columns);
        let slopes: Vec<Slope> = (0..rows)
            .map(|_| Slope {
                gradient: rng.sample(StandardNormal),
                curvature: rng.random_range(0.1..2.0),
                weight: rng.random_range(0.5..1.5),
            })
            .collect();
        let limits = Limits {
            leaves: rng.random_range(1..9),
            depth: rng.random_range(1..5),
            least: f64::from(rng.random_range(0..4)) + 0.25,
            least_gain: f64::from(rng.random_range(0..3)) * 0.4,
        };
        let bins = Bins::of(&inputs, columns, None, 255);
        let codes = bins.encode(&inputs);
        let grower = Grower { bins: &bins, codes: &codes, limits };
        let tree = grower.grow(&mut (0..rows as u32).collect::<Vec<u32>>(), &slopes);
        let expected = steps_by_definition(&inputs, columns, &slopes, limits);
        for (row, expected) in expected.iter().enumerate() {
            let step = tree.step(&bins, codes.row(row));
            // A leaf keeps its step with 24 bits.
            let tolerance = 1e-6 * expected.abs().max(1e-3);
            assert!((step - expected).abs() < tolerance, "{seed}, row {row}: {step} {expected}");
        }
    }
}

#[test]
fn missing_values_go_where_they_belong() {
    // Errors are large where the input is missing, and above 0.8.
    let mut rng = Pcg64::seed_from_u64(5);
    let x: Vec<f64> = (0..3000)
        .map(|_| if rng.random_range(0..5) == 0 { f64::NAN } else { rng.random_range(0.0..1.0) })
        .collect();
    let size = |x: f64| if x <= 0.8 { 0.5 } else { 2.0 };
    let error: Vec<f64> =
        x.iter().map(|&x| size(x) * rng.sample::<f64, _>(StandardNormal)).collect();
    let trees = fit_some(&x, 1, &error, None, &Options::default()).unwrap();
    let sigma = trees.predict(&[0.4, 0.95, f64::NAN]).unwrap();
    // 240 to 2,000 errors tell sigma to 2 to 5%.
    for (sigma, truth) in sigma.iter().zip([0.5, 2.0, 2.0]) {
        assert!((sigma / truth - 1.0).abs() < 0.15, "{sigma} for {truth}");
    }
    // A column of nothing but missing values says nothing.
    let nothing: Vec<f64> = x.iter().flat_map(|&x| [f64::NAN, x]).collect();
    let two = fit_some(&nothing, 2, &error, None, &Options::default()).unwrap();
    assert_eq!(two.predict(&[f64::NAN, 0.4]).unwrap(), [sigma[0]]);
    assert_eq!(two.predict(&[3.0, 0.4]).unwrap(), [sigma[0]]);
}

#[test]
fn what_was_never_missing_goes_with_most_rows() {
    let x: Vec<f64> = (0..500).map(|i| f64::from(i) / 500.0).collect();
    let error: Vec<f64> =
        (0..500).map(|i| if i < 400 { 1.0 } else { 9.0 } * [1.0, -1.0][i % 2]).collect();
    let trees = fit_some(&x, 1, &error, None, &Options::default()).unwrap();
    let sigma = trees.predict(&[0.4, f64::NAN, 0.9]).unwrap();
    assert!(sigma[1] < 1.3 * sigma[0] && sigma[2] > 5.0 * sigma[1], "{sigma:?}");
}

#[test]
fn a_weight_of_two_is_two_rows() {
    let mut rng = Pcg64::seed_from_u64(8);
    let rows = 200;
    let inputs = table(&mut rng, rows, 2);
    let error: Vec<f64> = (0..rows).map(|_| rng.sample(StandardNormal)).collect();
    let copies: Vec<usize> = (0..rows).map(|_| rng.random_range(1..4)).collect();
    let total: usize = copies.iter().sum();
    let weight: Vec<f64> = copies.iter().map(|c| *c as f64 * rows as f64 / total as f64).collect();
    let often = |row: usize| std::iter::repeat_n(row, copies[row]);
    let repeated: Vec<usize> = (0..rows).flat_map(often).collect();
    let inputs_of = |row: &usize| inputs[2 * row..2 * row + 2].to_vec();
    let repeated_inputs: Vec<f64> = repeated.iter().flat_map(inputs_of).collect();
    let repeated_error: Vec<f64> = repeated.iter().map(|&row| error[row]).collect();
    for loss in [LossKind::Ar(Beta::Fixed(0.4)), LossKind::Crps, LossKind::Nlpd] {
        // Rows held out or drawn at random would not be the same.
        let options = Options {
            loss,
            bags: Some(1),
            share: 1.0,
            rounds: 20,
            least_rows: 0,
            ..Options::default()
        };
        let once = fit_some(&inputs, 2, &error, Some(&weight), &options).unwrap();
        let twice = fit_some(&repeated_inputs, 2, &repeated_error, None, &options).unwrap();
        let (once, twice) = (once.predict(&inputs).unwrap(), twice.predict(&inputs).unwrap());
        for (once, twice) in once.iter().zip(&twice) {
            assert!((once / twice - 1.0).abs() < 1e-4, "{loss:?}: {once} {twice}");
        }
    }
}

#[test]
fn bins_hold_equal_weights_and_split_no_value() {
    // 1,000 values, of which one has a third of the weight.
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut weight = vec![1.0; 1000];
    weight[500] = 500.0;
    let bins = Bins::of(&x, 1, Some(&weight), 15);
    let codes = bins.encode(&x);
    let mut held = vec![0.0; bins.count(0)];
    for (&code, weight) in codes.column(0).iter().zip(&weight) {
        held[usize::from(code)] += weight;
    }
    assert!(held.len() <= 15, "{held:?}");
    // 1,499 over 15 is 100, and the heavy value is in a bin of 500 or a little more.
    for held in &held {
        assert!((90.0..=101.0).contains(held) || (500.0..=601.0).contains(held), "{held}");
    }
}

/// Sigma of a row, walked through the parts.
fn sigma_by_parts(trees: &Trees, row: &[f64]) -> f64 {
    let step = |nodes: Vec<NodeView>| {
        let mut at = 0;
        loop {
            match nodes[at] {
                NodeView::Leaf(step) => return step,
                NodeView::Split { column, threshold, missing_left, right } => {
                    let x = row[column];
                    let left = if x.is_nan() { missing_left } else { x <= threshold };
                    at = if left { at + 1 } else { right };
                }
            }
        }
    };
    (trees.level() + trees.trees().map(step).sum::<f64>()).exp() * trees.unit()
}

#[test]
fn the_parts_say_what_the_trees_say() {
    let mut rng = Pcg64::seed_from_u64(9);
    let inputs = table(&mut rng, 300, 3);
    let error: Vec<f64> = (0..300).map(|_| rng.sample(StandardNormal)).collect();
    let options =
        Options { bags: Some(1), rounds: 10, least_gain: Some(0.0), ..Options::default() };
    let mut fitted = fit_some(&inputs, 3, &error, None, &options).unwrap();
    // A split after the last bin: only missing values go right.
    fitted.trees.push(serde_json::from_str("\"1:6 0.5 -2\"").unwrap());
    assert_eq!(fitted.bins.count(1), 7);
    fitted.check().unwrap();
    let splits = fitted.trees().flatten().filter_map(|node| match node {
        NodeView::Leaf(_) => None,
        NodeView::Split { column, threshold, .. } => Some((column, threshold)),
    });
    // Every threshold itself, its neighbours, missing values, and values beyond all of them.
    let mut asked = [inputs.clone(), vec![1e9; 3], vec![-1e9; 3], vec![f64::MAX; 3]].concat();
    for (column, threshold) in splits {
        for x in [threshold.next_down(), threshold, threshold.next_up().min(f64::MAX)] {
            let mut row = inputs[..3].to_vec();
            row[column] = x;
            asked.extend(row);
        }
    }
    assert!(asked.len() > 3 * 400, "{} splits", asked.len() / 9);
    let sigma = fitted.predict(&asked).unwrap();
    for (row, sigma) in asked.chunks_exact(3).zip(sigma) {
        assert_eq!(sigma_by_parts(&fitted, row), sigma, "{row:?}");
    }
}

#[test]
fn cuts_between_neighbours_and_giants() {
    let next = f64::from_bits(1.0f64.to_bits() + 1);
    for pair in [[1.0, next], [-1e300, 1e300], [f64::MIN, f64::MAX], [0.0, 5e-324]] {
        let bins = Bins::of(&pair, 1, None, 64);
        assert_eq!(bins.encode(&pair).column(0), [0, 1], "{pair:?}");
        bins.check().unwrap();
    }
    let zeros = Bins::of(&[0.0, -0.0], 1, None, 64);
    assert_eq!(zeros.count(0), 1);
}

proptest! {
    #[test]
    fn a_tree_is_read_as_it_was_written(
        seed: u64, rows in 1usize..60, columns in 1usize..4, leaves in 1usize..12,
    ) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let inputs = table(&mut rng, rows, columns);
        let slope = |_| Slope { gradient: rng.sample(StandardNormal), curvature: 1.0, weight: 1.0 };
        let slopes: Vec<Slope> = (0..rows).map(slope).collect();
        let bins = Bins::of(&inputs, columns, None, 64);
        let codes = bins.encode(&inputs);
        let grower = Grower {
            bins: &bins, codes: &codes, limits: Limits { leaves, depth: 6, least: 1.0, least_gain: 0.0 },
        };
        let tree = grower.grow(&mut (0..rows as u32).collect::<Vec<u32>>(), &slopes);
        let text = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), tree);
    }

    #[test]
    fn no_text_breaks_a_tree(text in "[0-9:? .e-]{0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        if let Ok(tree) = serde_json::from_str::<Tree>(&json) {
            let bins = Bins::of(&[0.0, 1.0, 2.0, 5.0], 2, None, 64);
            if tree.fits(&bins) {
                tree.step(&bins, &[0, 2]);
            }
        }
    }
}

#[test]
fn a_torn_tree_is_refused() {
    for text in
        ["", "0:1", "0:1 2.0", "0:1 2.0 3.0 4.0", "1.0 2.0", "0:1 0:0 1 2", "x 1", "0:999 1 2"]
    {
        let json = serde_json::to_string(text).unwrap();
        assert!(serde_json::from_str::<Tree>(&json).is_err(), "'{text}'");
    }
}
