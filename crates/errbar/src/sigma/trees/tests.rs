//! Trees against the definition, and what only this module can be asked: missing values.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::*;
use crate::boosting::{Grower, Limits, Slopes};
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
    let data = Data::with_missing(inputs, columns, error)?.maybe_weighted(weight)?;
    fit_to(&data, options, &Silent)
}

/// The step of each row in the tree of the definition: question after question, the one after which the sum of
/// g²/(h + prior) over all sets of equal answers is greatest, over all columns, all places between values and both
/// ways for missing ones, each summed anew.
fn steps_by_definition(
    inputs: &[f64],
    columns: usize,
    slopes: &[(f64, f64)],
    depth: usize,
    prior: f64,
) -> Vec<f64> {
    let rows = slopes.len();
    let mut answers = vec![0usize; rows];
    let sums = |answers: &[usize]| {
        let mut sums = vec![(0.0, 0.0); 1 << depth];
        for (&answer, (gradient, curvature)) in answers.iter().zip(slopes) {
            sums[answer].0 += gradient;
            sums[answer].1 += curvature;
        }
        sums
    };
    let fall = |answers: &[usize]| -> f64 {
        let falls =
            sums(answers).into_iter().map(|(g, h)| if h > 0.0 { g * g / (h + prior) } else { 0.0 });
        falls.sum()
    };
    for question in 0..depth {
        let mut best = (fall(&answers), None);
        for column in 0..columns {
            for at in 0..rows {
                for missing_left in [false, true] {
                    let goes_right = |i: usize| {
                        let x = inputs[i * columns + column];
                        let there = inputs[at * columns + column];
                        if x.is_nan() { !missing_left } else { x > there || there.is_nan() }
                    };
                    let asked: Vec<usize> = (0..rows)
                        .map(|i| answers[i] | usize::from(goes_right(i)) << question)
                        .collect();
                    let fall = fall(&asked);
                    if fall > best.0 + 1e-9 * best.0.abs() {
                        best = (fall, Some(asked));
                    }
                }
            }
        }
        let Some(asked) = best.1 else { break };
        answers = asked;
    }
    let sums = sums(&answers);
    answers.iter().map(|answer| -sums[*answer].0 / (sums[*answer].1 + prior)).collect()
}

/// The step of each row.
fn steps(bins: &Bins, tree: &Symmetric, inputs: &[f64]) -> Vec<f64> {
    boosting::sums(bins, &[], std::slice::from_ref(tree), inputs)
}

#[test]
fn a_tree_is_that_of_the_definition() {
    for seed in 0..60 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (rows, columns) = (rng.random_range(2..40), rng.random_range(1..4));
        let inputs = table(&mut rng, rows, columns);
        let slopes: Vec<(f64, f64)> =
            (0..rows).map(|_| (rng.sample(StandardNormal), rng.random_range(0.1..2.0))).collect();
        let limits =
            Limits { depth: rng.random_range(0..5), prior_rows: f64::from(rng.random_range(0..3)) };
        let bins = Bins::of(&inputs, columns, None, 255);
        let codes = bins.encode(&inputs);
        let grower = Grower { bins: &bins, codes: &codes, limits };
        let places: Vec<u32> = (0..rows as u32).collect();
        let (gradient, curvature): (Vec<f64>, Vec<f64>) = slopes.iter().copied().unzip();
        let mut summed = Slopes::none(rows);
        summed.set(&places, &gradient, &curvature);
        let tree = grower.grow(&mut places.clone(), &summed);
        let prior = limits.prior_rows * curvature.iter().sum::<f64>() / rows as f64;
        let expected = steps_by_definition(&inputs, columns, &slopes, limits.depth, prior);
        for (row, (step, expected)) in
            steps(&bins, &tree, &inputs).iter().zip(&expected).enumerate()
        {
            // Steps are kept with 24 bits, and sums of slopes with 31.
            let tolerance = 1e-6 * expected.abs().max(1.0);
            assert!((step - expected).abs() < tolerance, "{seed}, row {row}: {step} {expected}");
        }
    }
}

/// Whole numbers have one sum: neither the number of threads nor the order of rows changes a tree.
#[test]
fn a_tree_of_many_rows_is_the_same_in_any_order() {
    let rows = 70_000;
    let mut rng = Pcg64::seed_from_u64(3);
    let inputs = table(&mut rng, rows, 3);
    let gradient: Vec<f64> = (0..rows).map(|_| rng.sample(StandardNormal)).collect();
    let curvature = vec![1.0; rows];
    let bins = Bins::of(&inputs, 3, None, 63);
    let codes = bins.encode(&inputs);
    let grower =
        Grower { bins: &bins, codes: &codes, limits: Limits { depth: 6, prior_rows: 1.0 } };
    let mut slopes = Slopes::none(rows);
    let mut places: Vec<u32> = (0..rows as u32).collect();
    slopes.set(&places, &gradient, &curvature);
    let tree = grower.grow(&mut places, &slopes);
    let mut backwards: Vec<u32> = (0..rows as u32).rev().collect();
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one_thread.install(|| grower.grow(&mut backwards, &slopes)), tree);
    assert_eq!(tree.columns().count(), 6);
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
    // By the likelihood, to which small errors tell as much as large ones.
    let options = Options { loss: LossKind::Nlpd, ..Options::default() };
    let trees = fit_some(&x, 1, &error, None, &options).unwrap();
    let sigma = trees.predict(&[0.4, 0.95, f64::NAN]).unwrap();
    // 240 to 2,000 errors tell sigma to 2 to 5%.
    for (sigma, truth) in sigma.iter().zip([0.5, 2.0, 2.0]) {
        assert!((sigma / truth - 1.0).abs() < 0.15, "{sigma} for {truth}");
    }
    // A column of nothing but missing values says nothing.
    let nothing: Vec<f64> = x.iter().flat_map(|&x| [f64::NAN, x]).collect();
    let two = fit_some(&nothing, 2, &error, None, &options).unwrap();
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
        let options =
            Options { loss, bags: Some(1), rounds: 20, prior_rows: 0.0, ..Options::default() };
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
    (trees.level() + trees.trees().into_iter().map(step).sum::<f64>()).exp() * trees.unit()
}

#[test]
fn the_parts_say_what_the_trees_say() {
    let mut rng = Pcg64::seed_from_u64(9);
    let inputs = table(&mut rng, 300, 3);
    let error: Vec<f64> = (0..300).map(|_| rng.sample(StandardNormal)).collect();
    let options = Options { bags: Some(1), rounds: 10, ..Options::default() };
    let mut fitted = fit_some(&inputs, 3, &error, None, &options).unwrap();
    // A split after the last bin: only missing values go right; and a free tree of an older version.
    fitted.symmetric.push(serde_json::from_str("\"1:6 0:2? 0.5 -2 1 3\"").unwrap());
    fitted.trees.push(serde_json::from_str("\"1:6 0.5 -2\"").unwrap());
    assert_eq!(fitted.bins.count(1), 7);
    fitted.check().unwrap();
    let splits = fitted.trees().into_iter().flatten().filter_map(|node| match node {
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
        seed: u64, rows in 1usize..60, columns in 1usize..4, depth in 0usize..8,
    ) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let inputs = table(&mut rng, rows, columns);
        let gradient: Vec<f64> = (0..rows).map(|_| rng.sample(StandardNormal)).collect();
        let mut places: Vec<u32> = (0..rows as u32).collect();
        let mut slopes = Slopes::none(rows);
        slopes.set(&places, &gradient, &vec![1.0; rows]);
        let bins = Bins::of(&inputs, columns, None, 63);
        let codes = bins.encode(&inputs);
        let limits = Limits { depth, prior_rows: 1.0 };
        let tree = Grower { bins: &bins, codes: &codes, limits }.grow(&mut places, &slopes);
        let text = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Symmetric>(&text).unwrap(), tree);
    }

    #[test]
    fn no_text_breaks_a_tree(text in "[0-9:? .e-]{0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        let bins = Bins::of(&[0.0, 1.0, 2.0, 5.0], 2, None, 64);
        let tree = serde_json::from_str::<Tree>(&json);
        if let Some(tree) = tree.ok().filter(|tree| tree.fits(&bins)) {
            tree.step(&bins, &[0, 2]);
        }
        let tree = serde_json::from_str::<Symmetric>(&json);
        if let Some(tree) = tree.ok().filter(|tree| tree.fits(&bins)) {
            steps(&bins, &tree, &[0.5, f64::NAN, 9.0, -9.0]);
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
        assert!(serde_json::from_str::<Symmetric>(&json).is_err(), "'{text}'");
    }
    // So many questions that there is no place for the answers, and a question among the steps.
    for text in ["0:1 0:1 0:1 0:1 0:1 0:1 0:1 0:1 0:1 1", "0:1 2.0 0:1 3.0"] {
        let json = serde_json::to_string(text).unwrap();
        assert!(serde_json::from_str::<Symmetric>(&json).is_err(), "'{text}'");
    }
}
