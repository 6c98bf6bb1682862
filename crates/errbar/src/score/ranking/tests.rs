//! Every way of ranking against the definition.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::*;

/// The definition, in quadratic time: twice the rank less one, averaged over equal values.
fn by_counting(values: &[f64]) -> Vec<u32> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|u| *u < v).count();
        let equal = values.iter().filter(|u| *u == v).count();
        (2 * below + equal) as u32
    };
    values.iter().map(rank).collect()
}

fn ranks(ranking: &mut Ranking, values: &[f64]) -> Vec<u32> {
    let mut out = vec![0; values.len()];
    ranking.twice_mid_ranks(values, &mut out);
    out
}

fn any_values() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        -3.0..3.0f64,
        (-4..4i32).prop_map(f64::from),
        Just(-0.0),
        any::<f64>().prop_filter("not NaN", |v| !v.is_nan()),
    ];
    proptest::collection::vec(value, 1..300)
}

proptest! {
    #[test]
    fn every_way_gives_the_ranks_of_the_definition(
        (first, second) in any_values().prop_flat_map(|v| {
            let n = v.len();
            (Just(v), proptest::collection::vec(-1e3..1e3f64, n..=n))
        })
    ) {
        let mut ranking = Ranking::default();
        prop_assert_eq!(ranks(&mut ranking, &first), by_counting(&first));
        prop_assert_eq!(ranks(&mut ranking, &second), by_counting(&second));
        prop_assert_eq!(ranks(&mut ranking, &first), by_counting(&first));
        let equal_weights = vec![0.25; first.len()];
        let mut shares = vec![0.0; first.len()];
        ranking.weighted_mid_ranks(&first, &equal_weights, &mut shares);
        for (share, twice) in shares.iter().zip(by_counting(&first)) {
            let plain = f64::from(twice) / first.len() as f64;
            let near = if plain > 1.0 { plain - 2.0 } else { plain };
            prop_assert!((share - near).abs() < 1e-14);
        }
    }
}

/// Sizes and shapes that take each way: buckets that fit, clumps, one clump, a reversal.
#[test]
fn large_samples_of_every_shape() {
    let n = 100_000; // two steps
    let wave = |i: usize| (i as f64 * 0.618_033_988_75).fract();
    type Shape = Box<dyn Fn(usize) -> f64>;
    let shapes: [(&str, Shape); 6] = [
        ("uniform", Box::new(wave)),
        ("heavy tails", Box::new(move |i| 1.0 / (wave(i) - 0.5))),
        ("two clumps", Box::new(move |i| 1e9 * (i % 2) as f64 + wave(i))),
        ("all equal", Box::new(|_| 7.0)),
        ("reversed", Box::new(|i| -(i as f64))),
        ("six decades", Box::new(move |i| 10f64.powf(6.0 * wave(i)))),
    ];
    let mut ranking = Ranking::default();
    for (name, shape) in &shapes {
        let values: Vec<f64> = (0..n).map(shape).collect();
        ranking.sort(&values);
        let in_order = |i: usize| {
            let (a, b) = (ranking.row(i - 1), ranking.row(i));
            values[a] < values[b] || (values[a] == values[b] && a < b)
        };
        assert!((1..n).all(in_order), "{name}: not in order");
        let mut rows: Vec<usize> = (0..n).map(|i| ranking.row(i)).collect();
        rows.sort_unstable();
        assert!(rows.iter().zip(0..).all(|(&row, i)| row == i), "{name}: rows lost");
    }
}

#[test]
fn rough_ranks_are_near() {
    let mut random = Pcg64::seed_from_u64(5);
    for rows in [5_000, 100_000] {
        for heavy in [false, true] {
            let value = |random: &mut Pcg64| -> f64 {
                let z: f64 = random.sample(StandardNormal);
                if heavy { z / random.random::<f64>() } else { z }
            };
            let values: Vec<f64> = (0..rows).map(|_| value(&mut random)).collect();
            let weight: Vec<f64> = (0..rows).map(|_| random.random_range(0.5..1.5)).collect();
            let (mut exact, mut rough) = (vec![0; rows], vec![0; rows]);
            let mut ranking = Ranking::default();
            ranking.twice_mid_ranks(&values, &mut exact);
            ranking.twice_ranks_roughly(&values, &mut rough);
            let off = |a: &u32, b: &u32| f64::from(a.abs_diff(*b)) / (2.0 * rows as f64);
            let most = exact.iter().zip(&rough).map(|(a, b)| off(a, b)).fold(0.0, f64::max);
            assert!(most < 1e-3, "{rows} {heavy}: {most}");
            let (mut exact, mut rough) = (vec![0.0; rows], vec![0.0; rows]);
            ranking.weighted_mid_ranks(&values, &weight, &mut exact);
            ranking.weighted_ranks_roughly(&values, &weight, &mut rough);
            // Both count from the nearer end.
            let share = |near: f64| if near > 0.0 { near } else { 2.0 + near };
            let off = |a: &f64, b: &f64| (share(*a) - share(*b)).abs() / 2.0;
            let most = exact.iter().zip(&rough).map(|(a, b)| off(a, b)).fold(0.0, f64::max);
            assert!(most < 1e-3, "{rows} {heavy}, weighted: {most}");
        }
    }
}
