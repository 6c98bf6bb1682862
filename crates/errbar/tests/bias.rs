//! The bias of a forecaster, learned and taken off.

use errbar::fit::guarantee::Method;
use errbar::fit::{Fitted, Kind, Options, fit, worth_of_debiasing};
use errbar::{Data, Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Two inputs; the bias jumps with the first, sigma is one.
fn bias(x: &[f64]) -> f64 {
    if x[0] < 0.4 { -1.0 } else { 2.0 }
}

fn draw(seed: u64, rows: usize, bias: impl Fn(&[f64]) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let inputs: Vec<f64> = (0..2 * rows).map(|_| rng.random::<f64>()).collect();
    let error = inputs.chunks(2).map(|x| {
        let z: f64 = StandardNormal.sample(&mut rng);
        bias(x) + z
    });
    let error = error.collect();
    (inputs, error)
}

fn names() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

fn debiased(kind: Kind, data: &Data) -> Fitted {
    let options = Options::default().kind(kind).debias(true);
    fit(data, &names(), &options, &Silent).unwrap().fitted
}

#[test]
fn it_is_found_and_sigma_is_that_of_what_is_left() {
    let (inputs, error) = draw(1, 1000, bias);
    let fitted = debiased(Kind::Constant, &Data::new(&inputs, 2, &error).unwrap());
    let at = [0.1, 0.5, 0.3, 0.9, 0.6, 0.2, 0.9, 0.7];
    let predicted = fitted.predict(&at).unwrap();
    for (row, found) in at.chunks(2).zip(predicted.bias().unwrap()) {
        // The mean of some hundred errors of standard deviation 1 on either side.
        assert!((found - bias(row)).abs() < 0.3, "{row:?}: {found}");
    }
    assert!((predicted.sigma()[0] - 1.0).abs() < 0.1, "{}", predicted.sigma()[0]);
    // One sigma for the raw errors would have to cover the bias: its variance is 0.4 0.6 3².
    let options = Options::default().kind(Kind::Constant);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let raw = fit(&data, &names(), &options, &Silent).unwrap().fitted;
    let raw = raw.predict(&at).unwrap();
    assert!(raw.bias().is_none() && raw.sigma()[0] > 1.5, "{raw:?}");
}

/// The mean CRPS of a normal error of mean square v with sigma = sqrt(v) is sqrt(v/pi). From
/// v = 1 + 0.4 1² + 0.6 2² to 1 it falls by 49% (a little less, as the raw errors are not normal).
#[test]
fn what_it_is_worth_is_known_beforehand() {
    let (inputs, error) = draw(2, 2000, bias);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let worth = worth_of_debiasing(&data, &Options::default(), &Silent).unwrap().unwrap();
    let (gain, noise) = (worth.gain, worth.standard_error);
    assert!(worth.pays());
    assert!((0.44..0.50).contains(&gain) && noise < 0.02, "{gain} {noise}");
    // Where there is none, nothing is to be had.
    let (inputs, error) = draw(3, 2000, |_| 0.0);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let worth = worth_of_debiasing(&data, &Options::default(), &Silent).unwrap().unwrap();
    let (gain, noise) = (worth.gain, worth.standard_error);
    assert!(!worth.pays() && gain > -0.01, "{gain} {noise}");
}

/// Six terms of 1,000 rows of sigma one are known to about sqrt(6 / 1,000) = 0.08 at a row; three of that
/// are allowed. Away from the rows it stays where it was at their edge.
#[test]
fn slopes_are_found_by_a_polynomial() {
    let slope = |x: &[f64]| 1.5 * x[0] - 2.0 * x[1] + 3.0 * x[0] * x[1];
    let (inputs, error) = draw(9, 1000, slope);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fitted = debiased(Kind::Constant, &data);
    assert!(fitted.bias().unwrap().polynomial().is_some());
    let at = [0.1, 0.5, 0.3, 0.9, 0.6, 0.2, 0.9, 0.7];
    let off = |found: &[f64]| {
        let off = at.chunks(2).zip(found).map(|(row, found)| (found - slope(row)).abs());
        off.fold(0.0, f64::max)
    };
    let found = fitted.predict(&at).unwrap().bias().unwrap().to_vec();
    assert!(off(&found) < 0.23, "{found:?}");
    let far = fitted.predict(&[1e9, -1e9]).unwrap().bias().unwrap()[0];
    let edge = fitted.predict(&[1.0, 0.0]).unwrap().bias().unwrap()[0];
    assert!((far - edge).abs() < 0.05, "{far} {edge}");
    // And a program that does not know of polynomials is told so.
    let text = fitted.to_json().unwrap();
    assert!(text.contains("\"polynomial bias\""));
    let again = Fitted::from_json(&text).unwrap().predict(&at).unwrap().bias().unwrap().to_vec();
    assert_eq!(again, found);
}

/// What bends is found by a smooth function: about 30 of its terms count, which 1,500 rows of sigma one tell to
/// sqrt(30 / 1,500) = 0.14 at a row. Trees alone, or a polynomial of order two, are off by more than 0.5.
#[test]
fn bends_are_found_by_a_smooth_function() {
    let wave = |x: &[f64]| 2.0 * (5.0 * x[0]).sin() * (3.0 * x[1]).cos();
    let (inputs, error) = draw(10, 1500, wave);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fitted = debiased(Kind::Constant, &data);
    let smooth = fitted.bias().unwrap().smooth().unwrap();
    assert!(smooth.bumps().is_some() && smooth.quadratic().is_empty());
    let at: Vec<f64> = (0..200).map(|i| 0.05 + 0.9 * (f64::from(i) * 0.618).fract()).collect();
    let found = fitted.predict(&at).unwrap().bias().unwrap().to_vec();
    let squares = at.chunks(2).zip(&found).map(|(row, found)| (found - wave(row)).powi(2));
    let off = (squares.sum::<f64>() / 100.0).sqrt();
    println!("a wave is known to {off:.3}");
    assert!(off < 0.3, "{off}");
    let text = fitted.to_json().unwrap();
    assert!(text.contains("\"smooth bias\""));
    let again = Fitted::from_json(&text).unwrap().predict(&at).unwrap().bias().unwrap().to_vec();
    assert_eq!(again, found);
}

#[test]
fn units_and_extremes_do_not_matter() {
    let (inputs, error) = draw(4, 200, bias);
    let plain = debiased(Kind::Constant, &Data::new(&inputs, 2, &error).unwrap());
    let at = [0.1, 0.5, 0.9, 0.5];
    let found = plain.predict(&at).unwrap().bias().unwrap().to_vec();
    for scale in [1e-200, 1e200] {
        let scaled: Vec<f64> = error.iter().map(|e| e * scale).collect();
        let fitted = debiased(Kind::Constant, &Data::new(&inputs, 2, &scaled).unwrap());
        for (a, b) in fitted.predict(&at).unwrap().bias().unwrap().to_vec().iter().zip(&found) {
            assert!((a / scale / b - 1.0).abs() < 1e-6, "{a} {b}");
        }
    }
}

#[test]
fn it_is_saved_with_the_model() {
    let (inputs, error) = draw(5, 300, bias);
    let fitted = debiased(Kind::Polynomial, &Data::new(&inputs, 2, &error).unwrap());
    let again = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
    assert_eq!(again.predict(&inputs).unwrap(), fitted.predict(&inputs).unwrap());
}

#[test]
fn a_guarantee_holds_around_the_moved_forecast() {
    let mut covered = 0.0;
    for seed in 0..40 {
        let (inputs, error) = draw(100 + seed, 200, bias);
        let options = Options::default()
            .kind(Kind::Constant)
            .debias(true)
            .guarantee(Some(Method::Split))
            .seed(seed);
        let data = Data::new(&inputs, 2, &error).unwrap();
        let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
        let (inputs, error) = draw(1000 + seed, 500, bias);
        let moved = fitted.predict(&inputs).unwrap().bias().unwrap().to_vec();
        let (low, high) = fitted.predict(&inputs).unwrap().guaranteed_errors(0.9).unwrap();
        let inside =
            (0..500).filter(|&i| (low[i]..=high[i]).contains(&(error[i] - moved[i]))).count();
        covered += inside as f64 / 500.0 / 40.0;
    }
    // 91/101 on average; the standard error of 40 repetitions is about 0.005.
    assert!((0.885..0.92).contains(&covered), "{covered}");
    let (inputs, error) = draw(6, 200, bias);
    let options = Options::default().debias(true).guarantee(Some(Method::Cross));
    let data = Data::new(&inputs, 2, &error).unwrap();
    assert!(matches!(fit(&data, &names(), &options, &Silent), Err(Error::CrossDebias)));
}
