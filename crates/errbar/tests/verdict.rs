//! Verdicts on samples made to deserve them.

use errbar::score::bootstrap::{Intervals, Options};
use errbar::score::verdict::{Finding, Verdict};
use errbar::score::{self, Sample, Scores};
use errbar::{Silent, math};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

fn normal(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..rows).map(|_| StandardNormal.sample(&mut random)).collect()
}

/// Errors with exactly the distribution of a standard normal: its quantiles, out of order.
fn ideal(rows: usize) -> Vec<f64> {
    let quantile = |i: usize| {
        let p = ((i * 7919) % rows) as f64 / rows as f64 + 0.5 / rows as f64;
        std::f64::consts::SQRT_2 * math::erfinv(2.0 * p - 1.0)
    };
    (0..rows).map(quantile).collect()
}

fn verdict(error: &[f64], sigma: &[f64]) -> Verdict {
    Verdict::of(&Scores::of(&Sample::new(error, sigma).unwrap()).unwrap())
}

fn constant(error: &[f64], sigma: f64) -> Verdict {
    verdict(error, &vec![sigma; error.len()])
}

#[test]
fn right_is_reliable() {
    let found = constant(&ideal(1000), 1.0);
    assert_eq!(found.finding, Finding::Reliable);
    assert_eq!(
        found.to_string(),
        "Reliable: 90% intervals hold 90.0% of the observations (chance alone: 88.1% to 91.8%)."
    );
}

/// A calibrated forecast is blamed in a few of a hundred cases: several questions at 1% each.
#[test]
fn chance_is_rarely_blamed() {
    for rows in [40, 200, 2000] {
        let runs = 400;
        let blamed = (0..runs)
            .filter(|run| {
                let sigma: Vec<f64> =
                    normal(rows, 50_000 + run).iter().map(|x| (0.5 * x).exp()).collect();
                let z = normal(rows, *run);
                let error: Vec<f64> = z.iter().zip(&sigma).map(|(z, s)| z * s).collect();
                verdict(&error, &sigma).finding != Finding::Reliable
            })
            .count();
        println!("{rows} rows: {blamed} of {runs} blamed");
        // About 4%, and four standard deviations of 1%.
        assert!(blamed <= 32, "{rows} rows: {blamed} of {runs}");
    }
}

#[test]
fn too_small_and_too_large() {
    let error = ideal(1000);
    let found = constant(&error, 1.0 / 1.42);
    let Finding::Overconfident { factor } = found.finding else { panic!("{found:?}") };
    assert!((factor - 1.42).abs() < 0.01);
    // 2 Phi(1.645/1.42) - 1 = 0.753.
    assert_eq!(
        found.to_string(),
        "Overconfident: the errors are 1.42 times as large as sigma says, and 90% intervals hold \
         75.4% of the observations. Multiply sigma by about 1.4."
    );
    let found = constant(&error, 1.0 / 0.7);
    assert_eq!(
        found.to_string(),
        "Underconfident: the errors are only 0.7 times as large as sigma says, and 90% intervals \
         hold 98.2% of the observations. Multiply sigma by about 0.7."
    );
}

/// Coverage says nothing more once it is 0 or 1.
#[test]
fn far_too_small_and_far_too_large() {
    let error = ideal(1000);
    for (sigma, word) in
        [(0.001, "overconfident"), (20.0, "underconfident"), (1e6, "underconfident")]
    {
        assert_eq!(constant(&error, sigma).word(), word, "{sigma}");
    }
}

/// With many rows everything is significant, and little of it matters.
#[test]
fn what_is_too_little_to_matter_is_no_fault() {
    let rows = 100_000;
    let found = constant(&ideal(rows), 1.0 / 1.02);
    assert_eq!(found.word(), "reliable", "{found}");
    assert!(found.to_string().contains("points off"), "{found}");
    assert_eq!(constant(&ideal(rows), 1.0 / 1.08).word(), "overconfident");
}

#[test]
fn a_bias_is_not_blamed_on_sigma() {
    let error: Vec<f64> = ideal(500).iter().map(|z| z + 0.8).collect();
    let found = constant(&error, 1.0);
    assert!(matches!(found.finding, Finding::Biased { .. }), "{found:?}");
    let text = found.to_string();
    assert!(
        text.starts_with("Biased: forecasts are too low by 0.8 sigma on average (mean error +0.8)")
    );
    assert!(text.contains("Without the bias the errors would be 0.99"), "{text}");
    let high: Vec<f64> = error.iter().map(|e| -e).collect();
    assert!(
        constant(&high, 1.0)
            .to_string()
            .contains("too high by 0.8 sigma on average (mean error -0.8)")
    );
    // A sigma that is far too small besides is the worse fault.
    let found = constant(&error, 0.3);
    assert_eq!(found.word(), "overconfident");
    assert!(found.to_string().contains("Forecasts are also too low by 2.67 sigma"), "{found}");
}

#[test]
fn right_on_the_whole_but_not_everywhere() {
    let rows = 3000;
    let truth: Vec<f64> = (0..rows).map(|i| 0.5 + 2.0 * (i as f64 / rows as f64)).collect();
    let error: Vec<f64> = ideal(rows).iter().zip(&truth).map(|(z, s)| z * s).collect();
    // Varies as the square of what it should.
    let sigma: Vec<f64> = truth.iter().map(|s| 0.8 * s * s).collect();
    let found = verdict(&error, &sigma);
    let shown = found.to_string();
    assert!(shown.contains("where it is large"), "{shown}");
    // A sigma that hardly varies, of the right size on the whole.
    let sigma: Vec<f64> = truth.iter().map(|s| 1.6 * (s / 1.5).powf(0.2)).collect();
    let found = verdict(&error, &sigma);
    assert_eq!(found.word(), "uneven", "{found}");
    assert!(found.to_string().contains("Sigma varies less than the errors do."), "{found}");
}

#[test]
fn outliers_are_not_a_wrong_size() {
    let mut error = ideal(2000);
    (0..6).for_each(|i| error[i * 300] = 15.0 * if i % 2 == 0 { 1.0 } else { -1.0 });
    let found = constant(&error, 1.0);
    assert_eq!(found.word(), "not Gaussian", "{found}");
    assert!(found.to_string().contains("Large errors are more frequent"), "{found}");
    // Also where they cost some coverage: the rest needs no larger sigma.
    (0..60).for_each(|i| error[i * 33] = 20.0);
    let found = constant(&error, 1.0);
    assert_eq!(found.word(), "not Gaussian", "{found}");
    // Laplace errors with the variance that sigma says: |z| is exponential.
    let laplace: Vec<f64> = (0..4000)
        .map(|i| {
            let p = ((i * 7919) % 4000) as f64 / 4000.0 + 0.5 / 4000.0;
            let size = -(1.0 - (2.0 * p - 1.0).abs()).ln() / std::f64::consts::SQRT_2;
            size.copysign(p - 0.5)
        })
        .collect();
    let found = constant(&laplace, 1.0);
    assert_eq!(found.word(), "not Gaussian", "{found}");
    // 1 - exp(-0.6745 sqrt 2) and 1 - exp(-2.5758 sqrt 2).
    assert!(
        found.to_string().contains("50% intervals hold 61.5% and 99% intervals hold 97.4%"),
        "{found}"
    );
}

/// Twenty heavy and twenty light.
const WEIGHTS: [f64; 40] = {
    let mut weights = [9.0; 40];
    let mut row = 0;
    while row < 40 {
        weights[row] = 1.0;
        row += 2;
    }
    weights
};

#[test]
fn few_rows_tell_nothing_unless_it_is_plain() {
    let found = constant(&ideal(12), 1.0);
    assert_eq!(found.word(), "too few rows");
    assert!(found.to_string().starts_with("Too few rows to tell: 12 rows"), "{found}");
    assert_eq!(constant(&ideal(12), 0.1).word(), "overconfident");
    assert!(constant(&[0.5], 1.0).to_string().contains("1 row is"));
    assert_eq!(constant(&[0.0], 1.0).word(), "too few rows");
    let (error, sigma) = (ideal(40), [1.0; 40]);
    let sample = Sample::new(&error, &sigma).unwrap().weighted(&WEIGHTS).unwrap();
    let found = Verdict::of(&Scores::of(&sample).unwrap()).to_string();
    // Kish: (20 + 20/9)² / (20 + 20/81) = 24.4.
    assert!(found.contains("40 rows, worth about 24 independent ones, are not enough"), "{found}");
}

#[test]
fn extremes_are_put_in_words_too() {
    assert!(constant(&[0.0; 50], 1.0).to_string().contains("no errors at all"));
    let wild = constant(&[1e200, -1e200, 1e200], 1e-200);
    assert_eq!(wild.word(), "overconfident");
    assert!(!wild.to_string().contains("Multiply"), "{wild}");
    // Without any interval the size alone is judged.
    let error = ideal(400);
    let options = score::Options::default().coverage_levels(Vec::new());
    let of = |sigma: f64| {
        let sigma = vec![sigma; 400];
        let sample = Sample::new(&error, &sigma).unwrap();
        Verdict::of(&Scores::with(&sample, &options).unwrap()).to_string()
    };
    assert_eq!(of(1.0), "Reliable: the errors are as large as sigma says.");
    assert!(of(0.5).starts_with("Overconfident: the errors are 2 times"), "{}", of(0.5));
}

/// Rows that depend on each other are fewer than they seem; the intervals know.
#[test]
fn rows_that_depend_on_each_other_prove_less() {
    let (rows, memory) = (400, 0.97f64);
    let mut wrong = [0, 0];
    for run in 0..60 {
        let noise = normal(rows, 300 + run);
        let mut last = noise[0];
        let error: Vec<f64> = noise
            .iter()
            .map(|x| {
                last = memory * last + (1.0 - memory * memory).sqrt() * x;
                last
            })
            .collect();
        let sigma = vec![1.0; rows];
        let sample = Sample::new(&error, &sigma).unwrap();
        let scores = Scores::of(&sample).unwrap();
        let options = Options::default().replicates(200).block(Some(60));
        let intervals = Intervals::with(&sample, &scores, &options, &Silent).unwrap();
        let blamed = |verdict: Verdict| {
            usize::from(!matches!(verdict.finding, Finding::Reliable | Finding::TooFewRows))
        };
        wrong[0] += blamed(Verdict::of(&scores));
        wrong[1] += blamed(Verdict::with(&scores, Some(&intervals)));
    }
    println!("blamed: {wrong:?} of 60");
    assert!(wrong[0] > 40 && wrong[1] < wrong[0] / 2, "{wrong:?}");
}

#[test]
fn a_verdict_is_written_to_json() {
    let found = constant(&ideal(1000), 0.5);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["finding"]["kind"], "overconfident");
    let back: Verdict = serde_json::from_value(json).unwrap();
    assert_eq!(back, found);
}

/// 90% intervals that hold too much, errors hardly smaller than sigma, and no outlier anywhere: too
/// wide, and not "outliers".
#[test]
fn too_wide_is_not_called_outliers() {
    // Every error is 1.2 or 0.6 sigma: 90% and 99% intervals hold all of them.
    let error: Vec<f64> = (0..200).map(|i| [1.2, -1.2, 0.6, -0.6][i % 4]).collect();
    let found = constant(&error, 1.0);
    assert_eq!(found.word(), "underconfident", "{found}");
}

/// Errors whose mean over sigma is `mean_z`, of size `spread` about it.
fn shifted(mean_z: f64, spread: f64) -> Verdict {
    let error: Vec<f64> = ideal(1000).iter().map(|z| spread * z + mean_z).collect();
    constant(&error, 1.0)
}

/// What is wrong most comes first: of a bias of m sigmas and errors f times sigma, that of the
/// larger of m²/2 and (f² - 1)/2 - ln f.
#[test]
fn the_largest_fault_is_named_first() {
    // f² = 0.7² + 0.5² = 0.74: 0.125 for the bias, 0.021 for the size.
    let found = shifted(-0.5, 0.7);
    assert_eq!(found.word(), "biased", "{found}");
    let text = found.to_string();
    assert!(
        text.contains("too high by 0.5 sigma") && text.ends_with("Correct the forecast first."),
        "{text}"
    );
    assert!(text.contains("Without the bias the errors would be 0.7 times"), "{text}");
    assert!(!text.contains("Multiply"), "{text}");
    // f = 0.43: 0.435 for the size, 0.011 for the bias.
    let found = shifted(0.15, 0.4);
    assert_eq!(found.word(), "underconfident", "{found}");
    assert!(found.to_string().contains("Forecasts are also too low by 0.15 sigma"), "{found}");
    // Where sigma is small errors are three times as large, where it is large a third, and a bias of a
    // fifth of sigma is the least of it.
    let sigma: Vec<f64> = (0..3000).map(|i| if i % 2 == 0 { 1.0 } else { 5.0 }).collect();
    let size = |s: f64| if s == 1.0 { 1.5 } else { 0.6 };
    let error: Vec<f64> =
        ideal(3000).iter().zip(&sigma).map(|(z, s)| s * (size(*s) * z + 0.2)).collect();
    let found = verdict(&error, &sigma);
    assert_eq!(found.word(), "uneven", "{found}");
    assert!(found.to_string().contains("Forecasts are also too low"), "{found}");
}

/// "Too high by 0.12 sigma (mean error +0.01)" is no sentence.
#[test]
fn a_mean_error_of_the_other_sign_is_explained() {
    let sigma: Vec<f64> = (0..2000).map(|i| if i % 2 == 0 { 0.1 } else { 10.0 }).collect();
    let shift = |s: f64| if s == 0.1 { -0.6 } else { 0.2 };
    let error: Vec<f64> =
        ideal(2000).iter().zip(&sigma).map(|(z, s)| s * (0.9 * z + shift(*s))).collect();
    let text = verdict(&error, &sigma).to_string();
    assert!(
        text.contains("orecasts are too high where sigma is small and too low where it is large"),
        "{text}"
    );
    assert!(text.contains("over sigma -0.2") && text.contains("of errors +0."), "{text}");
}

/// Two sigmas that are far too small must not hide that most of every error is a bias.
#[test]
fn a_bias_is_seen_beside_outliers() {
    let error: Vec<f64> = ideal(600).iter().map(|z| 2.0 * z - 3.0).collect();
    let mut sigma = vec![4.0; 600];
    (sigma[17], sigma[400]) = (0.002, 0.01);
    let found = verdict(&error, &sigma);
    assert_eq!(found.word(), "biased", "{found}");
    assert!(found.to_string().contains("forecasts are too high by 3"), "{found}");
}
