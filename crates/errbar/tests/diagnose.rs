//! Warnings about errors: each is given where it should be, and none where all is well.

use errbar::diagnose::{Context, Finding, autocorrelation, diagnose, heavy_tails};
use errbar::score::Sample;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

fn gaussian(seed: u64, rows: usize) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..rows).map(|_| StandardNormal.sample(&mut rng)).collect()
}

fn findings(error: &[f64], context: Context) -> Vec<Finding> {
    diagnose(error, &Context { inputs: 1, ..context }).unwrap()
}

#[test]
fn gaussian_errors_raise_no_warning() {
    for seed in 0..50 {
        let (error, forecast) = (gaussian(seed, 1000), gaussian(100 + seed, 1000));
        let observation: Vec<f64> = error.iter().zip(&forecast).map(|(e, f)| 3.0 * f + e).collect();
        let context =
            Context { observation: Some(&observation), in_time_order: true, ..Context::default() };
        assert_eq!(findings(&error, context), [], "seed {seed}");
        assert_eq!(heavy_tails(&Sample::new(&error, &[1.0; 1000]).unwrap()), None, "seed {seed}");
    }
}

#[test]
fn a_bias_is_measured() {
    let error: Vec<f64> = gaussian(1, 2000).iter().map(|e| e - 0.3).collect();
    let found = findings(&error, Context::default());
    let [Finding::Biased { bias, standard_error, .. }] = found[..] else { panic!("{found:?}") };
    let mean = error.iter().sum::<f64>() / 2000.0;
    assert!((bias - mean).abs() < 1e-14);
    // Of independent errors: 1/sqrt(2000), itself known to about one part in sqrt(2 x 44).
    assert!((standard_error * 2000f64.sqrt() - 1.0).abs() < 0.45, "{standard_error}");
    assert!(found[0].to_string().contains("below the forecast"), "{}", found[0]);
}

#[test]
fn a_weighted_bias_is_that_of_the_heavy_rows() {
    let error: Vec<f64> =
        gaussian(2, 400).iter().enumerate().map(|(i, e)| e + [5.0, -5.0][i % 2]).collect();
    let weight: Vec<f64> = (0..400).map(|i| [1.0, 0.0][i % 2]).collect();
    let found = findings(&error, Context { weight: Some(&weight), ..Context::default() });
    let bias = found.iter().find_map(|f| match f {
        Finding::Biased { bias, .. } => Some(*bias),
        _ => None,
    });
    assert!((bias.unwrap() - 5.0).abs() < 0.3, "{found:?}");
}

/// A first-order autoregressive series has exactly this correlation of neighbours.
#[test]
fn neighbours_that_resemble_each_other_are_told() {
    let mut error = gaussian(3, 5000);
    for i in 1..error.len() {
        error[i] += 0.6 * error[i - 1];
    }
    let found = findings(&error, Context::default());
    let [Finding::Autocorrelated { correlation, worth, rows, .. }] = found[..] else {
        panic!("{found:?}")
    };
    // Standard error sqrt((1 - 0.36) / 5000) = 0.011.
    assert!((correlation - 0.6).abs() < 0.05, "{correlation}");
    assert_eq!(rows, 5000);
    assert!((1000..1600).contains(&worth), "{worth}"); // (1 - 0.6) / (1 + 0.6) = 1/4
    assert_eq!(autocorrelation(&[1.0, 1.0], 1.0, 1), None);
    assert_eq!(autocorrelation(&[1.0, -1.0, 1.0, -1.0], 0.0, 1), Some(-0.75));
}

#[test]
fn drift_is_seen_in_time_only() {
    let error: Vec<f64> =
        gaussian(4, 2000).iter().enumerate().map(|(i, e)| e + i as f64 / 1000.0 - 1.0).collect();
    let drifts = |in_time_order: bool| {
        let found = findings(&error, Context { in_time_order, ..Context::default() });
        found.into_iter().any(|f| matches!(f, Finding::DriftingBias { .. }))
    };
    assert!(drifts(true) && !drifts(false));
    let error: Vec<f64> =
        gaussian(5, 2000).iter().enumerate().map(|(i, e)| e * (1.0 + i as f64 / 2000.0)).collect();
    let found = findings(&error, Context { in_time_order: true, ..Context::default() });
    let [Finding::DriftingSize { first, last }] = found[..] else { panic!("{found:?}") };
    assert!(last / first > 1.4 && last / first < 2.0, "{first} {last}");
}

#[test]
fn bounds_are_seen() {
    let error: Vec<f64> = gaussian(6, 500).iter().map(|e| e.abs()).collect();
    let found = findings(&error, Context::default());
    assert!(found.contains(&Finding::OneSided { positive: 1.0 }), "{found:?}");
    let error = gaussian(7, 500);
    let rain: Vec<f64> = gaussian(8, 500).iter().map(|r| r.max(0.0)).collect();
    let found = findings(&error, Context { observation: Some(&rain), ..Context::default() });
    let [Finding::Bounded { at, below, share }] = found[..] else { panic!("{found:?}") };
    assert!(at == 0.0 && below && (share - 0.5).abs() < 0.1, "{found:?}");
    assert!(found[0].to_string().contains("exactly 0, their least value"), "{}", found[0]);
}

#[test]
fn interpolation_is_suspected() {
    let observation = gaussian(9, 300);
    let error: Vec<f64> = gaussian(10, 300).iter().map(|e| 1e-4 * e).collect();
    let context = Context { observation: Some(&observation), ..Context::default() };
    let found = findings(&error, context);
    assert!(
        matches!(found[..], [Finding::Interpolates { ratio, .. }] if ratio < 2e-4),
        "{found:?}"
    );
    let half: Vec<f64> = gaussian(11, 300)
        .iter()
        .enumerate()
        .map(|(i, e)| if i % 2 == 0 { 0.0 } else { *e })
        .collect();
    let found = findings(&half, context);
    assert!(matches!(found[..], [Finding::Interpolates { zero, .. }] if zero == 0.5), "{found:?}");
}

#[test]
fn heavy_tails_and_few_rows_are_told() {
    // Student's t with three degrees of freedom.
    let (z, a, b, c) =
        (gaussian(12, 2000), gaussian(13, 2000), gaussian(14, 2000), gaussian(15, 2000));
    let error: Vec<f64> = (0..2000)
        .map(|i| z[i] / ((a[i].powi(2) + b[i].powi(2) + c[i].powi(2)) / 3.0).sqrt())
        .collect();
    let sigma = vec![1.2; 2000];
    let found = heavy_tails(&Sample::new(&error, &sigma).unwrap());
    assert!(matches!(found, Some(Finding::HeavyTails { share, .. }) if share > 0.02), "{found:?}");
    let found = findings(&gaussian(16, 20), Context::default());
    assert_eq!(found, [Finding::FewRows { rows: 20, inputs: 1 }]);
}
