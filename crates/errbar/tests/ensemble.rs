//! Members against definitions in quadratic time.

use errbar::Silent;
use errbar::law::{Candidate, compare_any, judge_any};
use errbar::score::ensemble::{Ensemble, EnsembleSums};
use errbar::score::events::Event;
use errbar::score::{Judging, Sample, Several};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// The fair CRPS and that of the members as they are, by their definitions.
fn by_definition(members: &[f64], y: f64) -> (f64, f64) {
    let x: Vec<f64> = members.iter().copied().filter(|x| !x.is_nan()).collect();
    let m = x.len() as f64;
    let absolute = x.iter().map(|x| (x - y).abs()).sum::<f64>() / m;
    let pairs: f64 = x.iter().map(|a| x.iter().map(|b| (a - b).abs()).sum::<f64>()).sum();
    (absolute - pairs / (2.0 * (m * (m - 1.0)).max(1.0)), absolute - pairs / (2.0 * m * m))
}

fn random(i: usize, by: f64) -> f64 {
    ((i as f64 + 0.5) * by).fract()
}

/// Standard Gaussians.
fn gaussians(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut random)).collect()
}

#[test]
fn both_layouts_and_all_sizes() {
    for members in [1usize, 2, 3, 11, 16, 51, 65, 100, 513] {
        for rows in [1usize, 15, 16, 17, 300] {
            let value = |r: usize, m: usize| {
                1e6 + 10.0 * random(r * 1009 + m * 17, 0.618_033_988_749_894_9)
            };
            let by_row: Vec<f64> =
                (0..rows).flat_map(|r| (0..members).map(move |m| value(r, m))).collect();
            let by_column: Vec<f64> =
                (0..members).flat_map(|m| (0..rows).map(move |r| value(r, m))).collect();
            let y: Vec<f64> = (0..rows).map(|r| 1e6 + 12.0 * random(r, 2f64.sqrt())).collect();
            let a = Ensemble::new(Several::by_row(&by_row, members).unwrap(), &y).unwrap();
            let b = Ensemble::new(Several::by_column(&by_column, members).unwrap(), &y).unwrap();
            assert_eq!((a.fair_crps(), a.crps()), (b.fair_crps(), b.crps()));
            for (row, x) in by_row.chunks(members).enumerate() {
                let (fair, as_is) = by_definition(x, y[row]);
                // Numbers of size a million have ten digits left behind the point; the definition rounds as well.
                assert!((a.fair_crps()[row] - fair).abs() < 1e-8, "{members} {rows} {row}");
                assert!((a.crps()[row] - as_is).abs() < 1e-8, "{members} {rows} {row}");
            }
        }
    }
}

#[test]
fn extremes() {
    let nan = f64::NAN;
    fn several(values: &[f64]) -> Several<'_> {
        Several::by_row(values, 2).unwrap()
    }
    let big = [1e308, -1e308, 1e300, 1e300];
    let found = Ensemble::new(several(&big), &[0.0, -1e300]).unwrap().crps();
    // Mean distance 1e308, pairs 2e308 over 4 twice; 2e300 and no pairs.
    assert!((found[0] / 0.5e308 - 1.0).abs() < 1e-12 && (found[1] / 2e300 - 1.0).abs() < 1e-12);
    let refused =
        |values: &[f64], y: &[f64]| Ensemble::new(several(values), y).unwrap_err().to_string();
    assert!(refused(&[1.0, 2.0, nan, nan], &[0.0; 2]).contains("no member at row 1"));
    assert!(refused(&[1.0, f64::INFINITY], &[0.0]).contains("a member at row 0 is inf"));
    assert!(refused(&[1.0, 2.0], &[nan]).contains("observation at row 0 is NaN"));
    assert!(refused(&[1.0, 2.0], &[0.0; 2]).contains("observation has 2 values"));
    assert!(Several::by_row(&[1.0, 2.0, 3.0], 2).is_err() && Several::by_row(&[], 2).is_err());
    assert!(Several::by_column(&[], 0).is_err());
}

#[test]
fn ranks_are_shared_exactly() {
    // One clear place, a tie with both members, and a row with one member: places 0, all three, the upper half.
    let members = [1.0, 2.0, 5.0, 5.0, 3.0, f64::NAN];
    let ensemble = Ensemble::new(Several::by_row(&members, 2).unwrap(), &[0.0, 5.0, 4.0]).unwrap();
    let mut sums = EnsembleSums::of(2);
    sums.add(&ensemble, None).unwrap();
    let scores = sums.scores(0.95).unwrap();
    let want = [1.0 + 1.0 / 3.0, 1.0 / 3.0 + 1.0 / 3.0, 1.0 / 3.0 + 2.0 / 3.0];
    for (found, want) in scores.ranks.frequency.iter().zip(want) {
        assert!((found - want / 3.0).abs() < 1e-15, "{:?}", scores.ranks);
    }
    assert_eq!((scores.missing, scores.single, scores.members), (1, 1, 2));
    // Variances 0.5, 0 and 0; errors of the mean -1.5, 0 and 1.
    assert!((scores.spread_skill.spread - (0.5f64 / 3.0).sqrt()).abs() < 1e-15);
    assert!((scores.spread_skill.rmse - (3.25f64 / 3.0).sqrt()).abs() < 1e-15);
    let ratio = (1.5 * 0.5 / 3.0f64).sqrt() / (3.25f64 / 3.0).sqrt();
    assert!((scores.spread_skill.ratio - ratio).abs() < 1e-15);
    assert!(sums.merge(&EnsembleSums::of(3)).is_err());
    assert!(EnsembleSums::of(3).scores(0.9).is_err() && sums.scores(1.0).is_err());
}

/// Members like the observation are reliable, those too close together are not, and the fair CRPS is on average that of the
/// law they come from.
#[test]
fn verdicts() {
    let (rows, members) = (3000, 11);
    let numbers = |spread: f64| -> Vec<f64> {
        gaussians(rows * members, 1).iter().map(|x| spread * x).collect()
    };
    let y = gaussians(rows, 2);
    let judged = |values: &[f64]| {
        let ensemble = Ensemble::new(Several::by_row(values, members).unwrap(), &y).unwrap();
        judge_any(&Candidate::Members(ensemble), None, &Judging::default(), &Silent).unwrap()
    };
    let (good, close, far) = (judged(&numbers(1.0)), judged(&numbers(0.4)), judged(&numbers(2.5)));
    assert_eq!(good.verdict.word(), "reliable", "{:?}", good.verdict);
    assert_eq!(close.verdict.word(), "overconfident");
    assert_eq!(far.verdict.word(), "underconfident");
    // A Gaussian's mean CRPS is 1/sqrt(pi); that of so many rows has a standard error of about 1.3%.
    let expected = 1.0 / std::f64::consts::PI.sqrt();
    assert!((good.scores.crps / expected - 1.0).abs() < 0.05, "{}", good.scores.crps);
    assert!(good.scores.nlpd.is_nan() && good.intervals.crps.contains(good.scores.crps));
    // What lies beyond the outermost members cannot be read off: (11 - 1)/(11 + 1).
    assert!(good.scores.coverage.iter().all(|c| c.level <= 10.0 / 12.0));
    let text = close.verdict.in_words_of("members", Some(0.4));
    assert!(
        text.starts_with("Overconfident, they are too close together: 80% intervals"),
        "{text}"
    );
    assert!(text.ends_with("about 2.5 times as far apart."), "{text}");
}

#[test]
fn members_beside_a_sigma() {
    let (rows, members) = (500, 5);
    let (values, y) = (gaussians(rows * members, 3), gaussians(rows, 4));
    let ensemble = Ensemble::new(Several::by_row(&values, members).unwrap(), &y).unwrap();
    let sigma = vec![3.0; rows];
    let candidates =
        [Candidate::Members(ensemble), Candidate::Sigma(Sample::new(&y, &sigma).unwrap(), None)];
    let judging = Judging::default();
    let found = compare_any(&candidates, None, 0, &judging, &Silent).unwrap();
    let difference = found.candidates[1].difference.unwrap();
    let [a, b] = [0, 1].map(|nth| found.candidates[nth].judgement.scores.crps);
    let mean = |v: Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
    assert!((a - mean(ensemble.fair_crps())).abs() < 1e-12);
    assert!((difference.crps.value - (b - a)).abs() < 1e-15 && difference.crps.is_significant());
    assert!(!difference.nlpd.interval.is_known() && difference.nlpd.value.is_nan());
    let event: Event = "> 0.5".parse().unwrap();
    let p = candidates[0].probabilities(&event, &y).unwrap();
    let first = values[..members].iter().filter(|x| **x > 0.5).count();
    assert_eq!(p[0], first as f64 / members as f64);
    // 1 - Phi(0.5/3), from tables.
    let p = candidates[1].probabilities(&event, &y).unwrap();
    assert!((p[0] - 0.433_816_167_389_091).abs() < 1e-12);
    let (low, high) = candidates[1].interval(0.9, &y).unwrap();
    assert!((high[0] - 3.0 * 1.644_853_626_951_472_7).abs() < 1e-12 && low[0] == -high[0]);
    // Five members: probabilities 1/6 to 5/6, so that two thirds are what they hold.
    let (low, high) = candidates[0].interval(2.0 / 3.0, &y).unwrap();
    let (least, most) = values[..members]
        .iter()
        .fold((f64::INFINITY, -f64::INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    assert!((low[0] - least).abs() < 1e-12 && (high[0] - most).abs() < 1e-12);
}

fn member() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -5.0..5.0f64, 2 => (-2..3i8).prop_map(f64::from), 1 => Just(f64::NAN)]
}

proptest! {
    #[test]
    fn definitions(rows in proptest::collection::vec((proptest::collection::vec(member(), 4), -3..4i8, 0..3u8), 1..40)) {
        let mut values = vec![];
        let (mut y, mut weight) = (vec![], vec![]);
        for (x, observed, w) in rows.iter().filter(|row| row.0.iter().any(|x| !x.is_nan())) {
            values.extend(x);
            y.push(f64::from(*observed));
            weight.push(f64::from(*w));
        }
        prop_assume!(weight.iter().any(|w| *w > 0.0));
        let ensemble = Ensemble::new(Several::by_row(&values, 4).unwrap(), &y).unwrap();
        for (row, x) in values.chunks(4).enumerate() {
            let (fair, as_is) = by_definition(x, y[row]);
            prop_assert!((ensemble.fair_crps()[row] - fair).abs() < 1e-13);
            prop_assert!((ensemble.crps()[row] - as_is).abs() < 1e-13);
        }
        // In one go, and in two parts merged.
        let mut whole = EnsembleSums::of(4);
        whole.add(&ensemble, Some(&weight)).unwrap();
        let whole = whole.scores(0.9).unwrap();
        let total: f64 = weight.iter().sum();
        let mean = |v: &[f64]| v.iter().zip(&weight).map(|(v, w)| v * w).sum::<f64>() / total;
        prop_assert!((whole.fair_crps - mean(&ensemble.fair_crps())).abs() < 1e-12);
        prop_assert!((whole.crps - mean(&ensemble.crps())).abs() < 1e-12);
        prop_assert!((whole.ranks.frequency.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let half = y.len() / 2;
        if half > 0 {
            let mut parts = EnsembleSums::of(4);
            for range in [0..half, half..y.len()] {
                let part = Ensemble::new(Several::by_row(&values[4 * range.start..4 * range.end], 4).unwrap(), &y[range.clone()]).unwrap();
                let mut sums = EnsembleSums::of(4);
                sums.add(&part, Some(&weight[range])).unwrap();
                parts.merge(&sums).unwrap();
            }
            let parts = parts.scores(0.9).unwrap();
            prop_assert!((parts.fair_crps - whole.fair_crps).abs() < 1e-13);
            let same = parts.ranks.frequency.iter().zip(&whole.ranks.frequency);
            prop_assert!(same.into_iter().all(|(a, b)| (a - b).abs() < 1e-13));
            prop_assert_eq!((parts.missing, parts.single, parts.rows), (whole.missing, whole.single, whole.rows));
        }
        // Members in another order are the same ensemble.
        let turned: Vec<f64> = values.chunks(4).flat_map(|x| [x[2], x[0], x[3], x[1]]).collect();
        let turned = Ensemble::new(Several::by_row(&turned, 4).unwrap(), &y).unwrap();
        for (a, b) in ensemble.fair_crps().iter().zip(turned.fair_crps()) {
            prop_assert!((a - b).abs() < 1e-13);
        }
        let judged = judge_any(&Candidate::Members(ensemble), Some(&weight), &Judging::default(), &Silent).unwrap();
        prop_assert!((judged.scores.crps - whole.fair_crps).abs() < 1e-12);
    }
}
