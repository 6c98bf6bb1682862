//! `cargo bench -p errbar --bench fits`: how long fits take, on one thread.
//!
//! Machines differ and are shared: read the figures as ratios of one run.

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use errbar::fit;
use errbar::loss::LossKind;
use errbar::mean::{gaussian_process, heteroscedastic};
use errbar::sigma::smooth;
use errbar::{Data, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Rows of inputs in [0, 3] and their observations; as in the paper's data set W, sigma falls to 0.01.
struct Rows {
    columns: usize,
    inputs: Vec<f64>,
    error: Vec<f64>,
    observation: Vec<f64>,
}

fn draw(rows: usize, columns: usize) -> Rows {
    let mut rng = Pcg64::seed_from_u64(0);
    let inputs: Vec<f64> = (0..rows * columns).map(|_| rng.random_range(0.0..3.0)).collect();
    let sigma = |x: f64| 0.01 + 0.25 * (1.0 - (2.5 * x).sin()).powi(2);
    let error: Vec<f64> = inputs
        .chunks_exact(columns)
        .map(|x| sigma(x[0]) * rng.sample::<f64, _>(StandardNormal))
        .collect();
    let mean = |x: f64| (2.5 * x).sin() * (1.5 * x).sin();
    let observation =
        inputs.chunks_exact(columns).zip(&error).map(|(x, e)| mean(x[0]) + e).collect();
    Rows { columns, inputs, error, observation }
}

fn smooth_fit(rows: &Rows) -> smooth::Smooth {
    let data = Data::new(&rows.inputs, rows.columns, &rows.error).expect("valid");
    smooth::fit_to(&data, &smooth::Options::default(), &Silent).expect("fits")
}

fn auto_fit(rows: &Rows) -> fit::Fit {
    let data = Data::new(&rows.inputs, rows.columns, &rows.error).expect("valid");
    let names: Vec<String> = (0..rows.columns).map(|i| format!("x{i}")).collect();
    fit::fit(&data, &names, &fit::Options::default(), &Silent).expect("fits")
}

fn fits(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut group = c.benchmark_group("fits");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let few = draw(100, 1);
    group.bench_function("smooth, 100 rows", |b| {
        b.iter(|| pool.install(|| black_box(smooth_fit(&few))));
    });
    let options = gaussian_process::Options::default();
    for rows in [100, 10_000] {
        let rows = draw(rows, 1);
        group.bench_function(format!("mean and sigma in turn, {} rows", rows.error.len()), |b| {
            let Rows { columns, inputs, observation, .. } = &rows;
            let loss = LossKind::default();
            let fit =
                || heteroscedastic::fit(inputs, *columns, observation, loss, &options, &Silent);
            b.iter(|| pool.install(|| black_box(fit().expect("fits"))));
        });
    }
    let many = draw(10_000, 5);
    group.bench_function("smooth, 10,000 rows of 5 inputs", |b| {
        b.iter(|| pool.install(|| black_box(smooth_fit(&many))));
    });
    // The default of program and Python, on all cores.
    for rows in [few, many] {
        let name = format!("auto, {} rows of {} inputs, all cores", rows.error.len(), rows.columns);
        group.bench_function(name, |b| b.iter(|| black_box(auto_fit(&rows))));
    }
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
