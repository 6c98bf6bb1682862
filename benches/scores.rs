//! `cargo bench -p errbar`: the kernels, the scores and the cost, in time per row.
//!
//! Machines differ and are shared: read the figures as ratios of one run.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use errbar::score::{AccuracyReliability, Beta, Sample, Scores, accumulate, crps, nlpd};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Errors with a sigma that varies from row to row.
fn draw(rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(0);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let sigma: Vec<f64> = (0..rows).map(|_| (0.5 * normal()).exp()).collect();
    let error = sigma.iter().map(|s| s * normal()).collect();
    (error, sigma)
}

type Slice = fn(&[f64], &mut [f64]);

fn math(c: &mut Criterion) {
    let mut group = c.benchmark_group("math");
    let x: Vec<f64> = draw(4096).0;
    let mut out = vec![0.0; x.len()];
    group.throughput(Throughput::Elements(x.len() as u64));
    let functions: [(&str, Slice); 5] = [
        ("exp", errbar::math::exp_slice),
        ("ln", errbar::math::ln_slice),
        ("erf", errbar::math::erf_slice),
        ("erfc", errbar::math::erfc_slice),
        ("tanh", errbar::math::tanh_slice),
    ];
    for (name, function) in functions {
        group.bench_function(name, |b| b.iter(|| function(&x, &mut out)));
    }
    group.bench_function("libm erf", |b| {
        b.iter(|| out.iter_mut().zip(&x).for_each(|(out, x)| *out = libm::erf(*x)));
    });
    group.finish();
}

fn scores(c: &mut Criterion) {
    let mut group = c.benchmark_group("scores");
    for rows in [1_000, 100_000] {
        let (error, sigma) = draw(rows);
        let sample = Sample::new(&error, &sigma).expect("valid");
        group.throughput(Throughput::Elements(rows as u64));
        let id = |name: &str| BenchmarkId::new(name, rows);
        group.bench_function(id("check"), |b| b.iter(|| Sample::new(&error, &sigma)));
        group.bench_function(id("crps"), |b| b.iter(|| crps::mean(&sample)));
        group.bench_function(id("nlpd"), |b| b.iter(|| nlpd::mean(&sample)));
        group.bench_function(id("all scores"), |b| b.iter(|| Scores::of(&sample)));
        group.bench_function(id("accumulate"), |b| {
            let new = accumulate::Accumulator::default;
            b.iter_batched_ref(new, |sums| sums.add(&sample), BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn cost(c: &mut Criterion) {
    let mut group = c.benchmark_group("accuracy-reliability");
    for rows in [100, 1_000, 10_000, 1_000_000] {
        let (error, sigma) = draw(rows);
        let mut gradient = vec![0.0; rows];
        let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic).expect("valid");
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(BenchmarkId::new("cold", rows), |b| {
            b.iter(|| {
                cost.forget_order();
                cost.value_and_gradient(&sigma, &mut gradient)
            });
        });
        // Two sigmas as near to each other as those of the last steps of a fit.
        let moved: Vec<f64> = sigma.iter().map(|s| s * (1.0 + 1e-7 * s.sin())).collect();
        let mut turn = false;
        group.bench_function(BenchmarkId::new("warm", rows), |b| {
            b.iter(|| {
                turn = !turn;
                cost.value_and_gradient(if turn { &moved } else { &sigma }, &mut gradient)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, math, scores, cost);
criterion_main!(benches);
