//! Quantiles and intervals against definitions, quadrature and numbers by hand.

use errbar::Silent;
use errbar::law::{Candidate, compare_any, judge_any};
use errbar::score::bootstrap::compare_means;
use errbar::score::quantiles::Quantiles;
use errbar::score::winkler::CentralIntervals;
use errbar::score::{Judging, Several};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Standard Gaussians.
fn gaussians(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut random)).collect()
}

fn gaussian(u: f64) -> f64 {
    std::f64::consts::SQRT_2 * errbar::math::erfinv(2.0 * u - 1.0)
}

fn pinball(y: f64, q: f64, level: f64) -> f64 {
    if y >= q { level * (y - q) } else { (1.0 - level) * (q - y) }
}

/// Twice the integral of the loss over all levels, by the midpoint rule.
fn integral(y: f64, quantile: impl Fn(f64) -> f64) -> f64 {
    let pieces = 200_000;
    let at = |k: i32| (f64::from(k) + 0.5) / f64::from(pieces);
    2.0 * (0..pieces).map(|k| pinball(y, quantile(at(k)), at(k))).sum::<f64>() / f64::from(pieces)
}

/// The quantile that goes straight between those given, and not beyond.
fn straight(values: &[f64], levels: &[f64], level: f64) -> f64 {
    match levels.iter().position(|l| *l >= level) {
        Some(0) => values[0],
        None => values[values.len() - 1],
        Some(k) => {
            let share = (level - levels[k - 1]) / (levels[k] - levels[k - 1]);
            values[k - 1] + share * (values[k] - values[k - 1])
        }
    }
}

#[test]
fn crps_is_the_integral_of_straight_lines() {
    let levels = [0.05, 0.25, 0.5, 0.9];
    let values = [-1.0, 0.0, 0.0, 4.0];
    for y in [-3.0, -1.0, -0.5, 0.0, 1.0, 4.0, 9.0] {
        let observation = [y];
        let several = Several::by_row(&values, 4).unwrap();
        let quantiles = Quantiles::new(several, &levels, &observation).unwrap();
        let found = quantiles.crps()[0];
        let want = integral(y, |level| straight(&values, &levels, level));
        // The midpoint rule errs by the square of its step, times the kinks.
        assert!((found.value - want).abs() < 1e-8, "{y}: {found:?} {want}");
        assert!(found.least <= found.value && found.value <= found.most);
    }
}

/// The bounds are reached: by laws that are all at the end of a stretch, and by one that is at the observation.
#[test]
fn bounds_are_reached() {
    let (levels, values, y) = ([0.2, 0.7], [1.0, 3.0], [2.2]);
    let found =
        Quantiles::new(Several::by_row(&values, 2).unwrap(), &levels, &y).unwrap().crps()[0];
    let step = |inside: f64| {
        integral(y[0], move |level| {
            if level < 0.2 {
                1.0
            } else if level > 0.7 {
                3.0
            } else {
                inside
            }
        })
    };
    assert!((found.least - step(2.2)).abs() < 1e-4 * found.least, "{found:?}");
    assert!((found.most - step(1.0).max(step(3.0))).abs() < 1e-4, "{found:?}");
}

#[test]
fn crossings_are_noticed_and_named() {
    let values = [1.0, 2.0, 3.0, 1.0, 0.5, 3.0, 2.0, 1.0, 0.0];
    let quantiles =
        Quantiles::new(Several::by_row(&values, 3).unwrap(), &[0.1, 0.5, 0.9], &[1.0; 3]).unwrap();
    let crossings = quantiles.crossings();
    assert_eq!((crossings.rows, crossings.first, crossings.largest), (2, Some(1), 1.0));
    assert_eq!(crossings.levels, Some((0.1, 0.5)));
    // Put in order, the third row is that of 0, 1 and 2.
    assert_eq!(quantiles.pinball_at(0)[2], 0.1);
    // The order of the columns is that of their levels.
    let other =
        Quantiles::new(Several::by_row(&[3.0, 1.0, 2.0], 3).unwrap(), &[0.9, 0.1, 0.5], &[3.0])
            .unwrap();
    assert_eq!((other.levels(), other.crossings().rows), (&[0.1, 0.5, 0.9][..], 0));
    let refused = |levels: &[f64]| {
        Quantiles::new(Several::by_row(&values, 3).unwrap(), levels, &[1.0; 3])
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&[0.1, 0.5]).contains("2 levels were given for 3 columns"));
    assert!(refused(&[0.1, 0.5, 1.0]).contains("the level of a quantile is 1"));
    assert!(refused(&[0.1, 0.5, 0.5]).contains("the level 0.5 is given twice"));
}

#[test]
fn probabilities_of_thresholds() {
    let (levels, values) = ([0.1, 0.5, 0.9], [0.0, 0.0, 4.0]);
    let quantiles = Quantiles::new(Several::by_row(&values, 3).unwrap(), &levels, &[1.0]).unwrap();
    // Half of the probability up to 0, none below; straight to 4, then falling from the density 0.1 of the last piece.
    assert_eq!(
        (quantiles.cdf(0, 0.0), quantiles.below(0, 0.0), quantiles.cdf(0, -1.0)),
        (0.5, 0.0, 0.0)
    );
    assert!((quantiles.cdf(0, 1.0) - 0.6).abs() < 1e-15);
    assert!((quantiles.cdf(0, 4.0) - 0.9).abs() < 1e-15);
    assert!((1.0 - quantiles.cdf(0, 5.0) - 0.1 * (-1.0f64).exp()).abs() < 1e-15);
    let candidate = Candidate::Quantiles(quantiles);
    let p = |event: &str| candidate.probabilities(&event.parse().unwrap(), &[1.0]).unwrap()[0];
    assert_eq!((p("> 0"), p(">= 0"), p("< 0"), p("<= 0")), (0.5, 1.0, 0.0, 0.5));
}

/// The quantiles of the right Gaussian are reliable, those of one half as wide are not.
#[test]
fn verdicts() {
    let rows = 4000;
    let levels: Vec<f64> = (1..20).map(|k| 0.05 * f64::from(k)).collect();
    let y = gaussians(rows, 1);
    let judged = |wide: f64, add: f64| {
        let values: Vec<f64> =
            (0..rows).flat_map(|_| levels.iter().map(move |l| add + wide * gaussian(*l))).collect();
        let quantiles =
            Quantiles::new(Several::by_row(&values, levels.len()).unwrap(), &levels, &y).unwrap();
        let shares = quantiles.shares_below(None);
        (
            judge_any(&Candidate::Quantiles(quantiles), None, &Judging::default(), &Silent)
                .unwrap(),
            shares,
        )
    };
    let (good, shares) = judged(1.0, 0.0);
    assert_eq!(good.verdict.word(), "reliable", "{:?}", good.verdict);
    // Three standard errors of a share of 4,000 are 0.024 at most.
    assert!(shares.iter().zip(&levels).all(|(a, b)| (a - b).abs() < 0.024), "{shares:?}");
    assert_eq!(judged(0.4, 0.0).0.verdict.word(), "overconfident");
    assert_eq!(judged(3.0, 0.0).0.verdict.word(), "underconfident");
    assert_eq!(judged(1.0, 1.5).0.verdict.word(), "biased");
    // The pairs of levels give these intervals.
    let held: Vec<f64> = good.scores.coverage.iter().map(|c| c.level).collect();
    assert!(held.len() == 9 && (held[8] - 0.9).abs() < 1e-12, "{held:?}");
    assert!((good.scores.coverage[8].mean_width - 2.0 * 1.644_853_626_951_472_7).abs() < 1e-9);
    // Beside that of the Gaussian itself for the same observations; straight lines and cut tails make it a little more.
    let expected = y.iter().map(|y| errbar::score::crps::crps(*y, 1.0)).sum::<f64>() / rows as f64;
    assert!(
        good.scores.crps > expected && good.scores.crps < 1.01 * expected,
        "{}",
        good.scores.crps
    );
}

#[test]
fn intervals_by_hand() {
    let (low, high) = ([0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 1.0, 1.0]);
    let intervals = CentralIntervals::new(&low, &high, 0.8, &[0.5, -1.0, 3.0, 1.0]).unwrap();
    // Widths, and ten times the distance that is missed.
    let scores = intervals.scores();
    assert!(
        scores.iter().zip([1.0, 12.0, 21.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12),
        "{scores:?}"
    );
    let drawing = errbar::score::bootstrap::Options::default();
    let judged = intervals.judge(None, &drawing, &Silent).unwrap();
    assert!((judged.score - 35.0 / 4.0).abs() < 1e-12);
    assert_eq!(
        (judged.coverage, judged.below, judged.above, judged.mean_width),
        (0.5, 0.25, 0.25, 1.25)
    );
    assert!(judged.coverage_interval.low < 0.5 && judged.coverage_interval.high > 0.5);
    let weighted = intervals.judge(Some(&[0.0, 1.0, 0.0, 3.0]), &drawing, &Silent).unwrap();
    assert!((weighted.score - 15.0 / 4.0).abs() < 1e-12 && weighted.below == 0.25);
    let turned = CentralIntervals::new(&high, &low, 0.8, &[0.0; 4]).unwrap_err().to_string();
    assert!(
        turned.contains("the interval at row 0 ends at 0, below where it begins, 1"),
        "{turned}"
    );
    assert!(CentralIntervals::new(&low, &high, 1.0, &[0.0; 4]).is_err());
}

#[test]
fn intervals_have_verdicts_and_no_crps() {
    let rows = 2000;
    let y = gaussians(rows, 1);
    let ends = |half: f64| (vec![-half; rows], vec![half; rows]);
    let (right, narrow) = (ends(1.644_853_626_951_472_7), ends(0.8));
    let candidates = [&right, &narrow]
        .map(|(low, high)| Candidate::Interval(CentralIntervals::new(low, high, 0.9, &y).unwrap()));
    let found = compare_any(&candidates, None, 0, &Judging::default(), &Silent).unwrap();
    let words: Vec<&str> = found.candidates.iter().map(|c| c.judgement.verdict.word()).collect();
    assert_eq!(words, ["reliable", "overconfident"]);
    assert!(found.candidates[0].judgement.scores.crps.is_nan() && !candidates[0].has_crps());
    let scores: Vec<Vec<f64>> = candidates
        .iter()
        .map(|c| match c {
            Candidate::Interval(i) => i.scores(),
            _ => unreachable!(),
        })
        .collect();
    let columns: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
    let options = errbar::score::bootstrap::Options::default();
    let differences = compare_means(&columns, None, 0, &options, &Silent).unwrap();
    let difference = differences[1].unwrap();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    assert!((difference.value - (mean(columns[1]) - mean(columns[0]))).abs() < 1e-12);
    // Independent rows: the standard error of the mean of the differences.
    let each: Vec<f64> = columns[1].iter().zip(columns[0]).map(|(a, b)| a - b).collect();
    let m = mean(&each);
    let variance = each.iter().map(|d| (d - m).powi(2)).sum::<f64>() / (rows as f64 - 1.0);
    let error = (variance / rows as f64).sqrt();
    // A thousand resamples know it to 2.2%: four of these.
    assert!((difference.interval.standard_error / error - 1.0).abs() < 0.09);
    assert!(
        difference.is_significant() && compare_means(&columns, None, 2, &options, &Silent).is_err()
    );
}

proptest! {
    /// Any law with the quantiles has a CRPS of at least `least`, and of at most `most` where it keeps to them.
    #[test]
    fn bounds_hold(
        mut values in proptest::collection::vec(-5.0..5.0f64, 3),
        inner in proptest::collection::vec(0.0..1.0f64, 2),
        tail in 0.0..3.0f64,
        y in -8.0..8.0f64,
    ) {
        values.sort_by(f64::total_cmp);
        let levels = [0.1, 0.4, 0.8];
        let found = Quantiles::new(Several::by_row(&values, 3).unwrap(), &levels, &[y]).unwrap().crps()[0];
        // Steps somewhere inside each stretch, and tails that reach so far.
        let law = |tail: f64| {
            let (values, inner) = (values.clone(), inner.clone());
            move |level: f64| match level {
                l if l <= 0.1 => values[0] - tail * (0.1 - l),
                l if l > 0.8 => values[2] + tail * (l - 0.8),
                l if l <= 0.4 => if l < 0.1 + 0.3 * inner[0] { values[0] } else { values[1] },
                l => if l < 0.4 + 0.4 * inner[1] { values[1] } else { values[2] },
            }
        };
        let slack = 1e-4;
        let (kept, reached) = (integral(y, law(0.0)), integral(y, law(tail)));
        prop_assert!(kept >= found.least - slack && kept <= found.most + slack, "{found:?} {kept}");
        prop_assert!(reached >= found.least - slack, "{found:?} {reached}");
        prop_assert!(found.least <= found.value + 1e-12 && found.value <= found.most + 1e-12);
    }
}
