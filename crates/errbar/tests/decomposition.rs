//! The decomposition of CRPS against quadrature, pair sums and simulation.

use errbar::score::Sample;
use errbar::score::decomposition::{Decomposition, decompose};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use std::f64::consts::{PI, SQRT_2};

/// A small sample, and how often each row is written when it is weighted.
const ERROR: [f64; 12] = [-2.3, -1.1, -0.9, -0.4, -0.1, 0.2, 0.5, 0.6, 1.3, 1.7, 2.6, 0.3];
const SIGMA: [f64; 12] = [1.0, 0.5, 2.0, 1.5, 0.7, 0.9, 1.2, 0.4, 1.1, 2.5, 1.0, 0.6];
const TIMES: [f64; 12] = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0];

/// Errors `factor` times as large as sigma says, biased by `bias`, with some ties and some weights
/// that are zero.
fn draw(seed: u64, n: usize, factor: f64, bias: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut sigma: Vec<f64> = (0..n).map(|_| rng.random_range(0.2..3.0)).collect();
    let mut error: Vec<f64> =
        sigma.iter().map(|s| bias + factor * s * rng.sample::<f64, _>(StandardNormal)).collect();
    for i in (3..n).step_by(4) {
        (error[i], sigma[i]) = (error[i - 1], sigma[i - 1]);
    }
    let weight =
        (0..n).map(|i| if i % 5 == 4 { 0.0 } else { rng.random_range(0.1..3.0) }).collect();
    (error, sigma, weight)
}

fn decomposed(error: &[f64], sigma: &[f64], weight: &[f64]) -> Decomposition {
    decompose(&Sample::new(error, sigma).unwrap().weighted(weight).unwrap())
}

/// The samples of most tests: calibrated, too narrow, too wide, biased; tiny and larger.
fn cases() -> impl Iterator<Item = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    let shapes = [(1.0, 0.0), (2.5, 0.0), (0.3, 0.0), (1.0, 4.0)];
    let sizes = [1, 2, 7, 60];
    let all = shapes.into_iter().flat_map(move |shape| sizes.into_iter().map(move |n| (shape, n)));
    all.zip(1..).flat_map(|(((factor, bias), n), seed)| {
        let (error, sigma, weight) = draw(seed, n, factor, bias);
        let ones = vec![1.0; n];
        [(error.clone(), sigma.clone(), ones), (error, sigma, weight)]
    })
}

fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got:e}, not {want:e}");
}

#[test]
fn reliability_and_potential_are_the_integrals_over_probability() {
    // scipy.integrate.quad of mean(sigma) (p - o)² q'(p) and mean(sigma) o (1 - o) q'(p), piece by
    // piece between the jumps of o, with q' = 1/norm.pdf(norm.ppf(p)).
    let plain = (0.034_165_766_974_907_97, 0.700_497_512_437_811_1);
    let weighted = (0.038_760_634_461_326_44, 0.656_253_569_388_920_7);
    for (weight, (reliability, potential)) in [([1.0; 12], plain), (TIMES, weighted)] {
        let got = decomposed(&ERROR, &SIGMA, &weight);
        near(got.reliability, reliability, 1e-15);
        near(got.potential, potential, 1e-15);
        near(got.crps, reliability + potential, 1e-15);
    }
}

/// sqrt(2) mean(sigma) ∫ f(Phi(eta), C(eta)) d eta, C the distribution of eta with weights w sigma:
/// Simpson's rule between its jumps.
fn over_eta(
    error: &[f64],
    sigma: &[f64],
    weight: &[f64],
    f: impl Fn(f64, f64) -> f64, // of distribution function and frequency
) -> f64 {
    let s: Vec<f64> = sigma.iter().zip(weight).map(|(s, w)| s * w).collect();
    let (total, total_weight) = (s.iter().sum::<f64>(), weight.iter().sum::<f64>());
    let eta: Vec<f64> = error.iter().zip(sigma).map(|(e, s)| e / (SQRT_2 * s)).collect();
    let reach = eta.iter().fold(9f64, |m, e| m.max(e.abs()));
    let mut cuts = eta.clone();
    cuts.extend([-reach, -3.0, 0.0, 3.0, reach]);
    cuts.sort_by(f64::total_cmp);
    let mut integral = 0.0;
    for cut in cuts.windows(2) {
        let below = (0..s.len()).filter(|&i| eta[i] <= cut[0]).map(|i| s[i]).sum::<f64>() / total;
        let at = |x: f64| f(0.5 * libm::erfc(-x), below);
        let pieces = 600;
        let h = (cut[1] - cut[0]) / f64::from(pieces);
        for k in 0..pieces {
            let x = cut[0] + h * f64::from(k);
            integral += h / 6.0 * (at(x) + 4.0 * at(x + 0.5 * h) + at(x + h));
        }
    }
    SQRT_2 * total / total_weight * integral
}

#[test]
fn the_parts_are_the_integrals_over_scaled_errors_and_add_up_to_the_crps() {
    for (error, sigma, weight) in cases() {
        let got = decomposed(&error, &sigma, &weight);
        let reliability = over_eta(&error, &sigma, &weight, |p, o| (p - o).powi(2));
        let potential = over_eta(&error, &sigma, &weight, |_, o| o * (1.0 - o));
        let tolerance = 1e-11 * (1.0 + got.crps);
        near(got.reliability, reliability, tolerance);
        near(got.potential, potential, tolerance);
        let point = |i: usize| {
            let z = error[i] / sigma[i];
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            sigma[i] * (z * libm::erf(z / SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
        };
        let total: f64 = weight.iter().sum();
        let crps = (0..error.len()).map(|i| weight[i] * point(i)).sum::<f64>() / total;
        near(got.crps, crps, 2e-15 * (1.0 + crps));
        near(got.reliability + got.potential, got.crps, 1e-15 * (1.0 + crps));
        assert_eq!(got.resolution, got.uncertainty - got.potential);
    }
}

#[test]
fn potential_and_uncertainty_are_sums_over_pairs() {
    for (error, sigma, weight) in cases() {
        let got = decomposed(&error, &sigma, &weight);
        let s: Vec<f64> = sigma.iter().zip(&weight).map(|(s, w)| s * w).collect();
        let (total, total_s) = (weight.iter().sum::<f64>(), s.iter().sum::<f64>());
        let (mut potential, mut uncertainty) = (0.0, 0.0);
        for i in 0..error.len() {
            for j in 0..i {
                let z = (error[i] / sigma[i] - error[j] / sigma[j]).abs();
                potential += s[i] * s[j] * z / (total * total_s);
                uncertainty += weight[i] * weight[j] * (error[i] - error[j]).abs() / total.powi(2);
            }
        }
        near(got.potential, potential, 4e-15 * (1.0 + got.crps));
        near(got.uncertainty, uncertainty, 4e-15 * (1.0 + got.crps));
    }
}

#[test]
fn one_constant_sigma_has_no_resolution_whether_calibrated_or_not() {
    // s_i = w_i sigma and z_i = e_i / sigma: the pair sum of the potential is that of the uncertainty.
    for (error, _, weight) in cases() {
        for sigma in [0.1, 1.0, 30.0] {
            let got = decomposed(&error, &vec![sigma; error.len()], &weight);
            near(got.resolution, 0.0, 4e-15 * (got.uncertainty + got.crps));
        }
    }
    // It is gained by telling large errors from small ones: half the rows have ten times the sigma.
    // Uncertainty and potential of the mixture in closed form: E|e - e'|/2 over all pairs, with
    // E|e| = sigma sqrt(2/pi), and mean(sigma)/sqrt(pi).
    let mut rng = Pcg64::seed_from_u64(99);
    let n = 40_000;
    let sigma: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { 10.0 }).collect();
    let error: Vec<f64> = sigma.iter().map(|s| s * rng.sample::<f64, _>(StandardNormal)).collect();
    let got = decompose(&Sample::new(&error, &sigma).unwrap());
    let half = |variance: f64| 0.5 * (2.0 * variance / PI).sqrt();
    let uncertainty = 0.25 * half(2.0) + 0.25 * half(200.0) + 0.5 * half(101.0);
    let potential = 5.5 / PI.sqrt();
    // Both have a standard error of about 0.5%, and most of it in common.
    near(got.uncertainty, uncertainty, 0.02 * uncertainty);
    near(got.potential, potential, 0.02 * potential);
    near(got.resolution, uncertainty - potential, 0.03 * (uncertainty - potential));
}

#[test]
fn a_weight_is_the_number_of_times_a_row_is_written() {
    let rows = |i: usize| std::iter::repeat_n((ERROR[i], SIGMA[i]), TIMES[i] as usize);
    let (error, sigma): (Vec<f64>, Vec<f64>) = (0..12).flat_map(rows).unzip();
    let written = decompose(&Sample::new(&error, &sigma).unwrap());
    let weighted = decomposed(&ERROR, &SIGMA, &TIMES);
    for (a, b) in [
        (weighted.crps, written.crps),
        (weighted.reliability, written.reliability),
        (weighted.potential, written.potential),
        (weighted.uncertainty, written.uncertainty),
        (weighted.resolution, written.resolution),
    ] {
        near(a, b, 1e-15);
    }
    // Chance does differ: rows written twice are not independent, mean(sigma)/(sqrt(pi) n_eff).
    let by_chance = |weight: &[f64]| {
        let s = SIGMA.iter().zip(weight).map(|(s, w)| s * w);
        let squares: f64 = s.clone().map(|s| s * s).sum();
        squares / s.sum::<f64>() / weight.iter().sum::<f64>() / PI.sqrt()
    };
    near(weighted.reliability_by_chance, by_chance(&TIMES), 1e-16);
    near(
        decomposed(&ERROR, &SIGMA, &[1.0; 12]).reliability_by_chance,
        by_chance(&[1.0; 12]),
        1e-16,
    );
}

#[test]
fn every_part_has_the_units_of_the_error_at_any_magnitude() {
    let parts = |d: Decomposition| {
        [d.crps, d.reliability, d.reliability_by_chance, d.potential, d.uncertainty, d.resolution]
    };
    let want = parts(decomposed(&ERROR, &SIGMA, &TIMES));
    for unit in [1e-200, 1e200, 1e-6] {
        let (error, sigma) = (ERROR.map(|e| e * unit), SIGMA.map(|s| s * unit));
        let got = parts(decomposed(&error, &sigma, &TIMES));
        for (got, want) in got.into_iter().zip(want) {
            near(got / unit, want, 1e-15);
        }
    }
    // Only ratios of weights matter, also where weight times error is beyond the range of doubles.
    for unit in [1e-200, 1e200] {
        let (error, sigma) = (ERROR.map(|e| e * unit), SIGMA.map(|s| s * unit));
        let got = parts(decomposed(&error, &sigma, &TIMES.map(|w| w * unit)));
        for (got, want) in got.into_iter().zip(want) {
            near(got / unit, want, 1e-15);
        }
    }
}

#[test]
fn a_calibrated_forecast_has_the_reliability_said_to_be_chance_on_average() {
    let (runs, n) = (10_000, 24);
    let mut rng = Pcg64::seed_from_u64(12);
    let (_, sigma, weight) = draw(13, n, 1.0, 0.0);
    let (mut sum, mut sum_of_squares, mut by_chance) = (0.0, 0.0, 0.0);
    for _ in 0..runs {
        let error: Vec<f64> =
            sigma.iter().map(|s| s * rng.sample::<f64, _>(StandardNormal)).collect();
        let got = decomposed(&error, &sigma, &weight);
        sum += got.reliability;
        sum_of_squares += got.reliability.powi(2);
        by_chance = got.reliability_by_chance;
    }
    let mean = sum / f64::from(runs);
    let variance = sum_of_squares / f64::from(runs) - mean * mean;
    let standard_error = (variance / f64::from(runs)).sqrt();
    assert!(standard_error < 0.01 * by_chance);
    near(mean, by_chance, 4.0 * standard_error);
}
