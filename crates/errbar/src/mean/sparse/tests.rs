//! Against the exact process and against fits without a row, with everything in sight.

use super::*;
use crate::Silent;
use crate::data::Data;
use crate::sigma::smooth;

/// A wave over two inputs, with noise that grows along the first.
fn draw(rows: usize) -> (Vec<f64>, Vec<f64>) {
    let spread = |i: usize, root: f64| (i as f64 * root).fract();
    let x: Vec<f64> =
        (0..rows).flat_map(|i| [spread(i + 1, 2f64.sqrt()), spread(i + 1, 3f64.sqrt())]).collect();
    let noise = |i: usize| (0.02 + 0.2 * x[2 * i]) * 1.4 * (1e3 * i as f64).sin();
    let y = (0..rows).map(|i| (4.0 * x[2 * i]).sin() + x[2 * i + 1].powi(2) + noise(i)).collect();
    (x, y)
}

fn with_smooth_noise(x: &[f64], y: &[f64]) -> (SparseProcess, Smooth) {
    let first = SparseProcess::fit(x, 2, y, &Options::default(), &Silent).unwrap();
    let error = first.leave_one_out(x, y).unwrap().unwrap().error;
    let data = Data::new(x, 2, &error).unwrap();
    let sigma = smooth::fit_to(&data, &smooth::Options::default(), &Silent).unwrap();
    let process =
        SparseProcess::fit_with_noise(x, 2, y, sigma.clone(), &Options::default(), &Silent);
    (process.unwrap(), sigma)
}

#[test]
fn the_exact_process_with_the_same_noise_says_the_same() {
    let (x, y) = draw(300);
    let (sparse, sigma) = with_smooth_noise(&x, &y);
    let sigma = sigma.most_likely(&x).unwrap();
    let noise: Vec<f64> = sigma.iter().map(|s| s * s).collect();
    let own = Options { length_scales: LengthScales::PerInput, ..Options::default() };
    let exact =
        GaussianProcess::fit_with_noise(&x, 2, &y, &noise, NoiseScale::AsGiven, &own).unwrap();
    let (few, all) = (sparse.predict(&x).unwrap(), exact.predict(&x).unwrap());
    let (few_left, all_left) =
        (sparse.leave_one_out(&x, &y).unwrap().unwrap(), exact.leave_one_out());
    for (i, sigma) in sigma.iter().enumerate() {
        let near = |what: &str, a: f64, b: f64, scale: f64| {
            assert!((a - b).abs() < 1e-3 * scale, "{what} of row {i}: {a}, not {b}");
        };
        near("the mean", few.mean[i], all.mean[i], *sigma);
        near("the variance", few.latent_variance[i], all.latent_variance[i], noise[i]);
        near("the error", few_left.error[i], all_left.error[i], *sigma);
        near("the error's variance", few_left.variance[i], all_left.variance[i], noise[i]);
    }
}

#[test]
fn each_row_is_forecast_from_all_the_others() {
    let (x, y) = draw(70);
    let (process, _) = with_smooth_noise(&x, &y);
    let left = process.leave_one_out(&x, &y).unwrap().unwrap();
    let noise = process.noise.variance(&x, 70, process.unit).unwrap();
    for i in 0..70 {
        let without = |values: &[f64], width: usize| -> Vec<f64> {
            [&values[..i * width], &values[(i + 1) * width..]].concat()
        };
        let others: Vec<f64> = y.iter().map(|y| (y - process.mean) / process.unit).collect();
        let others = without(&others, 1);
        let (coefficients, precision) = condition(
            &process.bumps,
            &process.scaling,
            &without(&x, 2),
            &without(&noise, 1),
            |row| others[row],
            &Silent,
        )
        .unwrap();
        let refitted =
            SparseProcess { coefficients, precision: precision.triangle(), ..process.clone() };
        let at = refitted.predict(&x[2 * i..2 * i + 2]).unwrap();
        let variance = at.latent_variance[0] + noise[i] * process.unit.powi(2);
        assert!((left.mean[i] - at.mean[0]).abs() < 1e-9, "row {i}");
        assert!((left.error[i] - (y[i] - at.mean[0])).abs() < 1e-9, "row {i}");
        assert!((left.variance[i] / variance - 1.0).abs() < 1e-9, "row {i}");
    }
}

/// Blocks, groups and rows that fill none of them: the sums are those of the formula.
#[test]
fn the_coefficients_solve_the_regression() {
    let (x, y) = draw(BLOCK + GROUP + 5);
    let process = SparseProcess::fit(&x, 2, &y, &Options::default(), &Silent).unwrap();
    let noise = process.noise.variance(&x, y.len(), process.unit).unwrap();
    // The slope of |(y - φw)/√d|² + |w|² vanishes.
    let mut slope = process.coefficients.clone();
    let mut functions = vec![0.0; process.bumps.len()];
    for (i, row) in x.chunks(2).enumerate() {
        process.bumps.at(&scaled(&process.scaling, row), &mut functions);
        let forecast: f64 = functions.iter().zip(&process.coefficients).map(|(f, w)| f * w).sum();
        let residual = (y[i] - process.mean) / process.unit - forecast;
        slope.iter_mut().zip(&functions).for_each(|(s, f)| *s -= f * residual / noise[i]);
    }
    let largest = slope.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
    assert!(largest < 1e-6, "{largest}");
}

#[test]
fn what_cannot_be_used_is_refused() {
    let (x, y) = draw(70);
    let (process, _) = with_smooth_noise(&x, &y);
    assert!(process.check().is_ok());
    let one = |change: &dyn Fn(&mut SparseProcess)| {
        let mut process = process.clone();
        change(&mut process);
        process.check().unwrap_err()
    };
    let fit = "the coefficients of its mean do not fit its inducing points";
    assert_eq!(one(&|p| p.coefficients.truncate(1)), fit);
    assert_eq!(one(&|p| p.precision[3].truncate(1)), fit);
    let range = "a number of its mean is out of range";
    assert_eq!(one(&|p| p.coefficients[0] = f64::NAN), range);
    assert_eq!(one(&|p| p.precision[3][3] = 0.0), range);
    assert_eq!(one(&|p| p.unit = 0.0), range);
    assert_eq!(one(&|p| p.mean = f64::INFINITY), range);
    assert_eq!(one(&|p| p.noise = Noise::One(-1.0)), range);
}
