//! Trees of log sigma: jumps are found, useless inputs are left out, and no data break them.

use errbar::loss::LossKind;
use errbar::score::{Sample, crps};
use errbar::sigma::{Model, constant, polynomial, trees};
use errbar::{Data, Error, Monitor, Silent};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use serde::Deserialize;

/// Rows of uniform inputs, and errors whose sigma is known.
fn draw(
    seed: u64,
    rows: usize,
    columns: usize,
    sigma: impl Fn(&[f64]) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..rows * columns).map(|_| rng.random_range(0.0..1.0)).collect();
    let error = x
        .chunks_exact(columns)
        .map(|row| sigma(row) * rng.sample::<f64, _>(StandardNormal))
        .collect();
    (x, error)
}

/// The root mean square of log sigma less the logarithm of the truth.
fn log_distance(model: &Model, x: &[f64], truth: impl Fn(&[f64]) -> f64) -> f64 {
    let sigma = model.predict(x).unwrap();
    let squares = x
        .chunks_exact(model.columns())
        .zip(&sigma)
        .map(|(row, sigma)| (sigma / truth(row)).ln().powi(2));
    (squares.sum::<f64>() / sigma.len() as f64).sqrt()
}

fn fit(x: &[f64], columns: usize, error: &[f64]) -> Model {
    trees::fit(x, columns, error, &trees::Options::default()).unwrap().into()
}

#[test]
fn jumps_are_found_better_than_by_a_polynomial() {
    // A checkerboard of four sigmas.
    let truth = |x: &[f64]| if (x[0] < 0.4) == (x[1] < 0.7) { 0.3 } else { 1.5 };
    let (x, error) = draw(1, 3000, 2, truth);
    let (new, _) = draw(2, 2000, 2, truth);
    let trees = log_distance(&fit(&x, 2, &error), &new, truth);
    let smooth = polynomial::fit(&x, 2, &error, &polynomial::Options::general()).unwrap();
    let smooth = log_distance(&smooth.into(), &new, truth);
    // Each of the four levels alone could be known to 3%; where the jumps are is found as well.
    assert!(trees < 0.3 && trees < 0.7 * smooth, "trees {trees}, polynomial {smooth}");
}

#[test]
fn useless_columns_change_little() {
    let truth = |x: &[f64]| if x[0] < 0.5 { 0.5 } else { 2.0 };
    let (x, error) = draw(3, 1000, 40, truth);
    let (new, _) = draw(4, 1000, 40, truth);
    let distance = log_distance(&fit(&x, 40, &error), &new, truth);
    // One sigma for all is ln 2 = 0.69 away.
    assert!(distance < 0.2, "{distance}");
}

#[test]
fn one_sigma_stays_one() {
    let (x, error) = draw(5, 1000, 5, |_| 1.0);
    let distance = log_distance(&fit(&x, 5, &error), &x, |_| 1.0);
    // 1,000 errors tell one sigma to 2%.
    assert!(distance < 0.1, "{distance}");
}

#[test]
fn each_loss_learns() {
    let truth = |x: &[f64]| if x[0] < 0.5 { 0.4 } else { 1.6 };
    let (x, error) = draw(6, 2000, 3, truth);
    for loss in [LossKind::default(), LossKind::Crps, LossKind::Nlpd] {
        let options = trees::Options { loss, ..Default::default() };
        let model = trees::fit(&x, 3, &error, &options).unwrap().into();
        let distance = log_distance(&model, &x, truth);
        // One sigma for all is ln 2 = 0.69 away.
        assert!(distance < 0.2, "{loss:?}: {distance}");
    }
}

#[test]
fn scaled_errors_are_calibrated() {
    let truth = |x: &[f64]| (2.0 * x[0] - x[1]).exp();
    let (x, error) = draw(7, 500, 6, truth);
    let (new, new_error) = draw(8, 4000, 6, truth);
    let sigma = fit(&x, 6, &error).predict(&new).unwrap();
    let inside = new_error.iter().zip(&sigma).filter(|(e, s)| e.abs() < 1.6449 * **s).count();
    // 4,000 rows tell a share to 0.5%, 500 errors a sigma to 3% and so coverage to 1%.
    let coverage = inside as f64 / 4000.0;
    assert!((0.86..0.94).contains(&coverage), "{coverage}");
}

#[test]
fn units_do_not_matter() {
    let (x, error) = draw(9, 300, 2, |x| 0.2 + x[0]);
    let sigma = fit(&x, 2, &error).predict(&x).unwrap();
    for unit in [1e-6, 1e6, 1e-200, 1e200] {
        let other: Vec<f64> = error.iter().map(|e| e * unit).collect();
        let other = fit(&x, 2, &other).predict(&x).unwrap();
        for (sigma, other) in sigma.iter().zip(&other) {
            assert!((other / unit / sigma - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn only_the_order_of_an_input_matters() {
    let (x, error) = draw(10, 400, 2, |x| 0.2 + x[1]);
    let bent: Vec<f64> = x.iter().map(|x| (20.0 * x).exp()).collect();
    assert_eq!(
        fit(&x, 2, &error).predict(&x).unwrap(),
        fit(&bent, 2, &error).predict(&bent).unwrap()
    );
}

#[test]
fn threads_and_time_change_nothing_but_the_seed_does() {
    let (x, error) = draw(11, 600, 3, |x| 0.2 + x[1]);
    let with = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = trees::Options { seed, ..Default::default() };
        let model = pool.install(|| trees::fit(&x, 3, &error, &options)).unwrap();
        serde_json::to_string(&Model::from(model)).unwrap()
    };
    let one = with(1, 0);
    assert_eq!(one, with(3, 0));
    assert_eq!(one, with(1, 0));
    assert_ne!(one, with(1, 1));
}

#[test]
fn what_is_saved_is_read_to_the_bit() {
    let (x, error) = draw(12, 500, 3, |x| 0.1 + x[2]);
    let model = fit(&x, 3, &error);
    let read: Model = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
    assert_eq!(read, model);
    assert_eq!(read.predict(&x).unwrap(), model.predict(&x).unwrap());
}

#[test]
fn a_model_that_does_not_fit_together_is_refused() {
    let (x, error) = draw(13, 200, 2, |x| if x[0] < 0.5 { 0.1 } else { 3.0 });
    let mut json = serde_json::to_value(fit(&x, 2, &error)).unwrap();
    let mut refused = |place: &str, value: serde_json::Value| {
        let old = std::mem::replace(json.pointer_mut(place).unwrap(), value);
        let read = Model::deserialize(&json);
        assert!(read.is_err(), "{place}: {read:?}");
        *json.pointer_mut(place).unwrap() = old;
    };
    refused("/symmetric/0", "2:0 1.0 2.0".into());
    refused("/symmetric/0", "0:200 1.0 2.0".into());
    refused("/symmetric/0", "0:1 1.0".into());
    refused("/symmetric/0", "inf".into());
    refused("/bins/cuts/0", serde_json::json!([0.5, 0.1]));
    refused("/bins/cuts", serde_json::json!([]));
    refused("/unit", (-1.0).into());
}

#[test]
fn few_and_odd_rows() {
    // One row, two rows, a constant input, one distinct error, giants.
    for rows in [1, 2, 3, 10, 11, 30] {
        let x: Vec<f64> = (0..rows).map(|i| if i % 2 == 0 { 1e300 } else { -1e300 }).collect();
        let error: Vec<f64> = (0..rows).map(|i| 1.0 + i as f64).collect();
        for x in [x, vec![3.0; rows]] {
            let sigma = fit(&x, 1, &error).predict(&x).unwrap();
            assert!(sigma.iter().all(|s| s.is_finite() && *s > 0.0), "{rows}: {sigma:?}");
        }
    }
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let sigma = fit(&x, 1, &[2.0; 50]).predict(&x).unwrap();
    assert!(sigma.iter().all(|s| *s > 1.0 && *s < 4.0), "{sigma:?}");
    // Errors of zero but for one.
    let mut error = vec![0.0; 50];
    error[7] = 1.0;
    let sigma = fit(&x, 1, &error).predict(&x).unwrap();
    assert!(sigma.iter().all(|s| s.is_finite() && *s > 0.0), "{sigma:?}");
    assert!(matches!(
        trees::fit(&x, 1, &[0.0; 50], &trees::Options::default()),
        Err(Error::NoErrors { rows: 50 })
    ));
}

#[test]
fn a_row_of_weight_zero_is_not_there() {
    let (x, error) = draw(14, 300, 2, |x| 0.1 + x[0]);
    let (mut more_x, mut more_error) = (x.clone(), error.clone());
    more_x.extend([9.0, -9.0]);
    more_error.push(1e9);
    let mut weight = vec![1.0; 300];
    let without = Data::new(&x, 2, &error).unwrap().maybe_weighted(Some(&weight)).unwrap();
    let without = trees::fit_to(&without, &trees::Options::default(), &Silent).unwrap();
    weight.push(0.0);
    let with = Data::new(&more_x, 2, &more_error).unwrap().maybe_weighted(Some(&weight)).unwrap();
    let with = trees::fit_to(&with, &trees::Options::default(), &Silent).unwrap();
    assert_eq!(with, without);
}

#[test]
fn many_rows_are_learned() {
    let truth = |x: &[f64]| if x[3] < 0.25 { 0.2 } else { 1.0 };
    let (x, error) = draw(15, 100_000, 5, truth);
    let options = trees::Options { bags: Some(2), rounds: 60, ..Default::default() };
    let model = trees::fit(&x, 5, &error, &options).unwrap().into();
    let distance = log_distance(&model, &x, truth);
    // One sigma for all is 0.70 away: half the logarithm of 5, unevenly shared.
    assert!(distance < 0.1, "{distance}");
}

#[test]
fn better_than_one_sigma_where_there_is_something_to_know() {
    let truth = |x: &[f64]| 0.2 + x[0] * x[1];
    let (x, error) = draw(16, 400, 4, truth);
    let (new, new_error) = draw(17, 4000, 4, truth);
    let score = |sigma: &[f64]| crps::mean(&Sample::new(&new_error, sigma).unwrap());
    let trees = score(&fit(&x, 4, &error).predict(&new).unwrap());
    let one = constant::fit(4, &error, None, LossKind::default()).unwrap();
    let one = score(&one.predict(&new).unwrap());
    let best = score(&new.chunks_exact(4).map(truth).collect::<Vec<f64>>());
    assert!(trees < one - 0.6 * (one - best), "{trees}: between {one} and {best}");
}

#[test]
fn the_work_can_be_given_up_and_reports() {
    struct GiveUp;
    impl Monitor for GiveUp {
        fn should_stop(&self) -> bool {
            true
        }
    }
    let (x, error) = draw(18, 100, 1, |x| x[0]);
    let data = Data::new(&x, 1, &error).unwrap();
    let stopped = trees::fit_to(&data, &trees::Options::default(), &GiveUp);
    assert!(matches!(stopped, Err(Error::Stopped)));

    struct Watch(std::sync::Mutex<Vec<f64>>);
    impl Monitor for Watch {
        fn progress(&self, share: f64) {
            self.0.lock().unwrap().push(share);
        }
    }
    let watch = Watch(Vec::new().into());
    trees::fit_to(&data, &trees::Options::default(), &watch).unwrap();
    let seen = watch.0.into_inner().unwrap();
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]) && seen.last() == Some(&1.0));
}

#[test]
fn a_wrong_question_gets_a_sentence() {
    let (x, error) = draw(19, 50, 2, |_| 1.0);
    let model = fit(&x, 2, &error);
    assert!(matches!(model.predict(&[1.0; 3]), Err(Error::NotWholeRows { .. })));
    assert!(matches!(
        model.predict(&[1.0, f64::INFINITY]),
        Err(Error::InputNotFinite { row: 0, column: 1, .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_data_break_them(
        columns in 1usize..4,
        values in prop::collection::vec(
            prop_oneof![-1e3..1e3, Just(0.0), Just(f64::MAX), Just(f64::MIN), Just(5e-324)], 4..160,
        ),
        rounds in 1usize..30,
    ) {
        let rows = values.len() / (columns + 1);
        let (x, rest) = values.split_at(rows * columns);
        let options = trees::Options { rounds, ..Default::default() };
        // Giant errors may be refused in a sentence; nothing panics.
        if let Ok(model) = trees::fit(x, columns, &rest[..rows], &options) {
            let sigma = model.predict(x).unwrap();
            prop_assert!(sigma.iter().all(|s| s.is_finite() && *s > 0.0));
        }
    }
}
