use rayon::ThreadPoolBuilder;

use super::*;
use crate::protocol::{GRID, Method, Run, run_all};

/// A run whose methods all say `sigma`.
fn run(number: u64, set: DataSet, sigma: impl Fn(usize) -> f64) -> Run {
    let on_grid: Vec<f64> = (0..GRID).map(sigma).collect();
    let methods = [Method::ArNetwork, Method::ArPolynomial];
    let sigma_on_grid = methods.map(|method| (method, on_grid.clone())).to_vec();
    Run { set, run: number, oracle: 0.0, outcomes: Vec::new(), sigma_on_grid }
}

fn valid(figure: &Figure) -> String {
    let svg = figure.svg().unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "a number cannot be drawn");
    svg
}

/// Off by a factor that depends on the inputs.
fn nearly(x: &[f64]) -> errbar::Result<Vec<f64>> {
    let off = |x: &[f64]| 1.0 + 0.2 * (9.0 * x[0]).sin();
    Ok(x.chunks_exact(5).map(|x| off(x) * DataSet::FiveD.sigma(x)).collect())
}

#[test]
fn there_are_nine_figures_named_after_their_numbers() {
    let mut figures = vec![crps_isolines()];
    figures.extend(regressions(0).unwrap());
    figures.push(sigma_distribution(10_000, 0));
    figures.extend(sigma_estimates(&[]));
    let density = sigma_density(10_000, 0, nearly, |_| false).unwrap().unwrap();
    figures.push(density.figure("a made-up function"));
    assert_eq!(figures.len(), 9);
    for (i, figure) in figures.iter().enumerate() {
        assert_eq!(figure.number, i + 1);
        assert!(figure.name.starts_with(&format!("figure-{:02}-", i + 1)), "{}", figure.name);
        assert!(figure.caption.ends_with('.'));
        valid(&figure.figure);
    }
}

#[test]
fn estimates_are_drawn_for_any_number_of_runs() {
    for count in [0, 1, 2, 10] {
        for set in DataSet::ONE_DIMENSIONAL {
            let runs: Vec<Run> =
                (0..count).map(|i| run(i, set, |j| 0.5 + (i + j as u64) as f64 / 200.0)).collect();
            for figure in sigma_estimates(&runs) {
                valid(&figure.figure);
            }
        }
    }
}

#[test]
fn sigmas_that_are_not_finite_are_left_out() {
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, f64::MAX];
    let set = DataSet::G;
    let runs: Vec<Run> = (0..5).map(|i| run(i, set, |j| wild[(i as usize + j) % 5])).collect();
    valid(&sigma_estimates(&runs)[0].figure);

    let mut runs: Vec<Run> = (0..4).map(|i| run(i, set, |_| 0.5 + i as f64 / 10.0)).collect();
    let without = sigma_estimates(&runs)[0].figure.svg().unwrap();
    runs.push(run(4, set, |_| f64::NAN));
    assert_eq!(without, valid(&sigma_estimates(&runs)[0].figure));
}

/// Against statistics worked out by hand: 1, 2, 6 has mean 3 and variance (4 + 1 + 9)/2.
#[test]
fn means_and_deviations_are_the_samples() {
    let (mean, deviation) = mean_and_deviation([1.0, f64::NAN, 2.0, 6.0].into_iter());
    assert_eq!(mean, 3.0);
    assert!((deviation - 7f64.sqrt()).abs() < 1e-15);
    assert_eq!(mean_and_deviation([4.0].into_iter()), (4.0, 0.0));
    assert!(mean_and_deviation([].into_iter()).0.is_nan());
}

#[test]
fn a_perfect_prediction_lies_on_the_diagonal() {
    let truth =
        |x: &[f64]| Ok(x.chunks_exact(5).map(|x| DataSet::FiveD.sigma(x)).collect::<Vec<f64>>());
    let density = sigma_density(150_001, 3, truth, |_| false).unwrap().unwrap();
    assert!((density.correlation - 1.0).abs() < 1e-9);
    assert!(density.sigma_rmse < 1e-7);
    assert_eq!(density.nlpd, density.oracle);
    // The oracle's expected NLPD of 5D, from method.md.
    assert!((density.oracle - 0.549).abs() < 0.01, "{}", density.oracle);
    assert_eq!(density.counts.iter().sum::<u64>(), 150_001);
    let columns = density.edges.len() - 1;
    let diagonal = |(i, count): (usize, &u64)| i / columns == i % columns || *count == 0;
    assert!(density.counts.iter().enumerate().all(diagonal));
}

/// Twice the true sigma costs ln 2 - 3/8 more, whatever the sigma.
#[test]
fn the_expected_nlpd_is_exact() {
    let twice = |x: &[f64]| Ok(x.chunks_exact(5).map(|x| 2.0 * DataSet::FiveD.sigma(x)).collect());
    let density = sigma_density(5_000, 3, twice, |_| false).unwrap().unwrap();
    assert!((density.nlpd - density.oracle - (2f64.ln() - 0.375)).abs() < 1e-12);
    assert!((density.correlation - 1.0).abs() < 1e-9);
}

#[test]
fn a_constant_prediction_has_no_correlation() {
    let constant = |x: &[f64]| Ok(vec![0.61; x.len() / 5]);
    let density = sigma_density(150_000, 3, constant, |_| false).unwrap().unwrap();
    assert_eq!(density.correlation, 0.0);
    valid(&density.figure("a constant").figure);
}

#[test]
fn predictions_beyond_the_axis_are_counted() {
    let large = |x: &[f64]| Ok(vec![3.0; x.len() / 5]);
    let density = sigma_density(1000, 3, large, |_| false).unwrap().unwrap();
    let figure = density.figure("a large constant");
    assert!(figure.caption.contains("100.0% of the predictions"), "{}", figure.caption);
    valid(&figure.figure);
    for odd in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300] {
        let predict = |x: &[f64]| Ok(vec![odd; x.len() / 5]);
        let density = sigma_density(1000, 3, predict, |_| false).unwrap().unwrap();
        valid(&density.figure("a bad function").figure);
    }
    assert!(valid(&sigma_distribution(0, 0).figure).len() > 100);
    sigma_density(0, 3, large, |_| false).unwrap().unwrap().figure("nothing").figure.svg().unwrap();
}

#[test]
fn every_column_of_the_density_has_a_maximum_of_one() {
    let density = sigma_density(200_000, 0, nearly, |_| false).unwrap().unwrap();
    let values = density.columns_scaled();
    let columns = density.edges.len() - 1;
    let mut shown = 0;
    for i in 0..columns {
        let column = || values.iter().skip(i).step_by(columns).copied();
        if column().all(f64::is_nan) {
            continue;
        }
        assert_eq!(column().fold(0.0, f64::max), 1.0);
        shown += 1;
    }
    assert!(shown > 80);
}

#[test]
fn threads_do_not_change_a_byte() {
    let with = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let density = sigma_density(250_000, 1, nearly, |_| false).unwrap().unwrap();
            let figure = density.figure("a made-up function");
            let histogram = sigma_distribution(250_000, 1);
            let methods = [Method::ArNetwork, Method::ArPolynomial];
            let runs = run_all(&[DataSet::G], 2, 0, &methods, || false).unwrap().unwrap();
            let estimates = sigma_estimates(&runs).remove(0);
            [figure, histogram, estimates].map(|f| (f.caption, f.figure.svg().unwrap()))
        })
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(1));
}

#[test]
fn a_stop_leaves_no_density() {
    let done = std::sync::atomic::AtomicU64::new(0);
    let stop = |points| {
        done.fetch_max(points, std::sync::atomic::Ordering::Relaxed);
        points >= 100_000
    };
    assert_eq!(sigma_density(300_000, 0, nearly, stop).unwrap(), None);
    assert!(done.into_inner() >= 100_000);
    let refused = sigma_density(10, 0, |_| Err(errbar::Error::Empty), |_| false);
    assert_eq!(refused.unwrap_err(), errbar::Error::Empty);
}

#[test]
fn thousands_have_commas() {
    let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (10_000_000, "10,000,000")];
    for (number, text) in cases {
        assert_eq!(thousands(number), text);
    }
}
