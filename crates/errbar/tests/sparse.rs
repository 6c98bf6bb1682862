//! A Gaussian process on inducing points.

use std::sync::atomic::{AtomicUsize, Ordering};

use errbar::fit::{Fitted, Kind, fit};
use errbar::loss::LossKind;
use errbar::mean::gaussian_process::{GaussianProcess, Options};
use errbar::mean::sparse::SparseProcess;
use errbar::mean::{Mean, heteroscedastic};
use errbar::{Data, Error, Monitor, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// One input in [0, 3], a sine, and noise that grows from 0.05 to 0.5.
fn draw(seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let x: Vec<f64> = (0..rows).map(|_| rng.random_range(0.0..3.0)).collect();
    let y = x.iter().map(|x| (2.0 * x).sin() + sigma(*x) * rng.sample::<f64, _>(StandardNormal));
    let y = y.collect();
    (x, y)
}

fn sigma(x: f64) -> f64 {
    0.05 + 0.15 * x
}

fn sparse(x: &[f64], columns: usize, y: &[f64]) -> Result<SparseProcess, Error> {
    SparseProcess::fit(x, columns, y, &Options::default(), &Silent)
}

/// Both learn from all 400 rows; the inducing points leave out 1e-8 of the signal's variance.
#[test]
fn it_agrees_with_the_exact_process_where_the_points_suffice() {
    let (x, y) = draw(1, 400);
    let few = sparse(&x, 1, &y).unwrap();
    let exact = GaussianProcess::fit(&x, 1, &y, &Options::default()).unwrap();
    assert!(few.points() < 30, "{}", few.points());
    // Beyond the rows as well, up to where nothing is known.
    let at: Vec<f64> = (0..=300).map(|i| f64::from(i) * 0.05 - 6.0).collect();
    let (a, b) = (few.predict(&at).unwrap(), exact.predict(&at).unwrap());
    let noise = exact.hyperparameters().noise_variance;
    for (i, x) in at.iter().enumerate() {
        assert!((a.mean[i] - b.mean[i]).abs() < 1e-3 * noise.sqrt(), "the mean at {x}");
        let apart = (a.latent_variance[i] - b.latent_variance[i]).abs();
        assert!(apart < 1e-3 * noise, "the variance at {x}: {apart}");
    }
    let (a, b) = (few.leave_one_out(&x, &y).unwrap().unwrap(), exact.leave_one_out());
    for i in 0..y.len() {
        assert!((a.error[i] - b.error[i]).abs() < 1e-3 * noise.sqrt(), "row {i}");
        assert!((a.variance[i] - b.variance[i]).abs() < 1e-3 * noise, "row {i}");
    }
}

#[test]
fn constants_duplicates_and_columns_that_never_vary() {
    // The last digit of a mean may be rounded; the observation is not.
    let (x, _) = draw(2, 2000);
    let process = sparse(&x, 1, &vec![0.1; 2000]).unwrap();
    let at = process.predict(&[1.0, 50.0]).unwrap();
    assert_eq!((at.mean, at.latent_variance), (vec![0.1; 2], vec![0.0; 2]));
    let left = process.leave_one_out(&x, &vec![0.1; 2000]).unwrap().unwrap();
    assert!(left.error.iter().all(|e| *e == 0.0));

    // Five places, 400 times each: their averages, to a standard error of 0.1/20.
    let mut rng = Pcg64::seed_from_u64(3);
    let x: Vec<f64> = (0..2000).map(|i| f64::from(i % 5)).collect();
    let level = [1.0, -2.0, 0.5, 4.0, 3.0];
    let y: Vec<f64> =
        (0..2000).map(|i| level[i % 5] + 0.1 * rng.sample::<f64, _>(StandardNormal)).collect();
    let at = sparse(&x, 1, &y).unwrap().predict(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    for (mean, level) in at.mean.iter().zip(level) {
        assert!((mean - level).abs() < 0.025, "{mean}, not {level}");
    }

    let (x, y) = draw(4, 2000);
    let still: Vec<f64> = x.iter().flat_map(|x| [7.0, *x]).collect();
    let (a, b) = (sparse(&x, 1, &y).unwrap(), sparse(&still, 2, &y).unwrap());
    let (a, b) = (a.predict(&[1.2]).unwrap(), b.predict(&[7.0, 1.2]).unwrap());
    assert!((a.mean[0] - b.mean[0]).abs() < 1e-3, "{} and {}", a.mean[0], b.mean[0]);
}

#[test]
fn units_do_not_matter() {
    let (x, y) = draw(5, 2000);
    let here = sparse(&x, 1, &y).unwrap().predict(&[0.3, 1.2, 2.5]).unwrap();
    for (a, b) in [(1e-6, 1e6), (1e300, 1e-100), (1e-300, 1e100)] {
        let of = |values: &[f64], unit: f64| values.iter().map(|v| v * unit).collect::<Vec<f64>>();
        let there = sparse(&of(&x, a), 1, &of(&y, b)).unwrap();
        let there = there.predict(&of(&[0.3, 1.2, 2.5], a)).unwrap();
        for i in 0..3 {
            assert!((there.mean[i] / b - here.mean[i]).abs() < 1e-6, "{a:e} {b:e}");
            let ratio = there.latent_variance[i] / b / b / here.latent_variance[i];
            assert!((ratio - 1.0).abs() < 1e-3, "{a:e} {b:e}: {ratio}");
        }
    }
}

#[test]
fn bad_input_gets_a_sentence() {
    let (x, y) = draw(6, 2000);
    let fail = |x: &[f64], columns, y: &[f64]| sparse(x, columns, y).unwrap_err().to_string();
    assert!(fail(&[], 1, &[]).contains("no rows"), "{}", fail(&[], 1, &[]));
    assert!(fail(&x, 0, &y).contains("no input columns"));
    assert!(fail(&x, 3, &y).contains("not a whole number of rows of 3 columns"));
    assert_eq!(fail(&x, 2, &y), "y has 2000 values but inputs has 1000: give one value per row");
    let mut hole = x.clone();
    hole[77] = f64::NAN;
    assert!(fail(&hole, 1, &y).starts_with("input column 0 at row 77 is NaN"));
    let mut hole = y.clone();
    hole[78] = f64::INFINITY;
    assert!(fail(&x, 1, &hole).contains("y at row 78 is inf"), "{}", fail(&x, 1, &hole));
    let wide: Vec<f64> = y.iter().map(|y| y * 1e300).collect();
    assert!(fail(&x, 1, &wide).contains("rescale it"), "{}", fail(&x, 1, &wide));
    let widest: Vec<f64> = (0..2000).map(|i| [f64::MAX, -f64::MAX][i % 2]).collect();
    assert!(fail(&x, 1, &widest).contains("rescale it"));

    let process = sparse(&x, 1, &y).unwrap();
    assert!(process.predict(&[f64::NAN]).is_err());
    assert!(process.leave_one_out(&x, &y[1..]).is_err());
    assert!(process.predict(&[]).unwrap().mean.is_empty());
    // As far as doubles go: back at the mean of all, with finite variance.
    let far = process.predict(&[f64::MAX, -f64::MAX]).unwrap();
    let mean = y.iter().sum::<f64>() / 2000.0;
    assert!((far.mean[0] - mean).abs() < 1e-9 && far.latent_variance[1].is_finite());
}

/// Counts how often it is asked, and stops the work at some point.
struct Stop {
    asked: AtomicUsize,
    after: usize,
}

impl Monitor for Stop {
    fn should_stop(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.after
    }
}

#[test]
fn it_can_be_stopped_at_any_point() {
    let (x, y) = draw(7, 6000);
    let run = |after: usize| {
        let stop = Stop { asked: 0.into(), after };
        let options = Options::default();
        let end = heteroscedastic::fit(&x, 1, &y, LossKind::default(), &options, &stop);
        (end.map(|_| ()), stop.asked.load(Ordering::Relaxed))
    };
    let (end, all) = run(usize::MAX);
    assert_eq!(end, Ok(()));
    for share in [0, 3, 9] {
        assert_eq!(run(all * share / 10).0, Err(Error::Stopped), "{share} tenths of {all}");
    }
}

/// A model with a mean on inducing points, and the rows it was fitted to.
fn fitted() -> (Fitted, Vec<f64>, Vec<f64>) {
    let (x, y) = draw(8, 6000);
    let mean =
        heteroscedastic::fit(&x, 1, &y, LossKind::default(), &Options::default(), &Silent).unwrap();
    assert!(matches!(mean, Mean::Sparse(_)));
    let error = mean.leave_one_out(&x, &y).unwrap().unwrap().error;
    let options = errbar::fit::Options::default().kind(Kind::Smooth);
    let data = Data::new(&x, 1, &error).unwrap();
    let fit = fit(&data, &["x".into()], &options, &Silent).unwrap();
    (fit.fitted.with_mean(mean), x, y)
}

#[test]
fn mean_and_sigma_in_turn_and_their_saved_form() {
    let (fitted, x, y) = fitted();
    let at = [0.2, 0.9, 1.5, 2.2, 2.9];
    let said = fitted.predict(&at).unwrap();
    for (i, x) in at.iter().enumerate() {
        let off = (said.forecast().as_ref().unwrap()[i] - (2.0 * x).sin()) / sigma(*x);
        assert!(off.abs() < 0.2, "the mean at {x} is off by {off} sigma");
        let off = (said.sigma()[i] / sigma(*x)).ln();
        assert!(off.abs() < 0.1, "log sigma at {x} is off by {off}");
    }
    let text = fitted.to_json().unwrap();
    let loaded = Fitted::from_json(&text).unwrap();
    assert_eq!(loaded.to_json().unwrap(), text);
    assert_eq!(loaded.predict(&at).unwrap(), said);
    assert_eq!(
        loaded.predict(&at).unwrap().sigma_band(0.9).unwrap(),
        fitted.predict(&at).unwrap().sigma_band(0.9).unwrap()
    );
    // It knows its own rows, and no others.
    let left = |fitted: &Fitted| fitted.mean().unwrap().leave_one_out(&x, &y).unwrap();
    assert_eq!(left(&loaded), left(&fitted));
    assert!(left(&loaded).is_some());
    let mut others = y.clone();
    others[5000] += 1e-12;
    assert_eq!(loaded.mean().unwrap().leave_one_out(&x, &others).unwrap(), None);

    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["fitted"]["mean"]["coefficients"].as_array_mut().unwrap().pop();
    let why = Fitted::from_json(&value.to_string()).unwrap_err().to_string();
    assert!(why.contains("do not fit its inducing points"), "{why}");
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["fitted"]["mean"]["unit"] = "three".into();
    let why = Fitted::from_json(&value.to_string()).unwrap_err().to_string();
    assert!(why.contains("three"), "{why}");
}

/// The first model files held nothing but the fields of the exact process.
#[test]
fn exact_processes_are_saved_as_they_were() {
    let (x, y) = draw(9, 60);
    let process = GaussianProcess::fit(&x, 1, &y, &Options::default()).unwrap();
    let plain = serde_json::to_value(&process).unwrap();
    let mean = Mean::from(process.clone());
    assert_eq!(serde_json::to_value(&mean).unwrap(), plain);
    let read: Mean = serde_json::from_value(plain.clone()).unwrap();
    assert!(matches!(read, Mean::Exact(_)));
    assert_eq!(read.predict(&[0.7]).unwrap(), mean.predict(&[0.7]).unwrap());
    let mut bad = plain;
    bad["signal_variance"] = (-1.0).into();
    let why = serde_json::from_value::<Mean>(bad).unwrap_err().to_string();
    assert!(why.contains("signal variance 0 is -1"), "{why}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let (x, y) = draw(10, 6000);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = Options::default();
            let mean =
                heteroscedastic::fit(&x, 1, &y, LossKind::default(), &options, &Silent).unwrap();
            serde_json::to_string(&mean).unwrap()
        })
    };
    assert_eq!(run(1), run(3));
}
