//! Sigma where there were hardly any rows, and what is held out so that one can see it.

use errbar::fit::{Fitted, Kind, Options, fit};
use errbar::score::{Sample, crps};
use errbar::{Data, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

fn names(columns: usize) -> Vec<String> {
    (0..columns).map(|c| format!("x{c}")).collect()
}

fn fitted(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Fitted {
    let data = Data::with_missing(inputs, columns, error).unwrap();
    fit(&data, &names(columns), options, &Silent).unwrap().fitted
}

fn normal(random: &mut Pcg64) -> f64 {
    StandardNormal.sample(random)
}

fn largest(error: &[f64]) -> f64 {
    error.iter().fold(0.0, |m: f64, e| m.max(e.abs()))
}

fn mean_crps(error: &[f64], sigma: &[f64]) -> f64 {
    crps::mean(&Sample::new(error, sigma).unwrap())
}

/// Two inputs that nearly agree, with a few far rows that hold the box open: the row (2, -2) lies
/// inside of each range, but nowhere near a row.
#[test]
fn a_box_held_open_is_no_support() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut inputs, mut error) = (Vec::new(), Vec::new());
    for row in 0..800 {
        let x = if row % 200 == 0 {
            4.0 * f64::from(row / 200 % 2 * 2 - 1)
        } else {
            normal(&mut random)
        };
        inputs.extend([x, x + 0.05 * normal(&mut random)]);
        error.push((0.3 * x).exp() * normal(&mut random));
    }
    for kind in [Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees, Kind::Stack] {
        let model = fitted(&inputs, 2, &error, &Options::default().kind(kind));
        let told = model.predict(&[0.0, 0.0, 2.0, -2.0, 30.0, 30.0]).unwrap();
        assert_eq!(told.outside(), [false, true, true], "{kind:?} {told:?}");
        assert!(told.outside_input()[0].is_none() && told.outside_input()[1].is_some());
        let support = told.support().unwrap();
        assert!(support[0] == 1.0 && support[1] < 0.5 && support[2] < 0.5, "{support:?}");
        assert!(told.sigma().iter().all(|s| *s <= largest(&error)), "{kind:?} {:?}", told.sigma());
        let again = Fitted::from_json(&model.to_json().unwrap()).unwrap();
        assert_eq!(again.predict(&[2.0, -2.0]).unwrap().sigma()[0], told.sigma()[1], "{kind:?}");
    }
}

/// Collinear, partly missing, heavy-tailed inputs.
#[test]
fn a_smooth_sigma_does_not_run_off() {
    let mut random = Pcg64::seed_from_u64(2);
    let (mut inputs, mut error) = (Vec::new(), Vec::new());
    for _ in 0..3000 {
        let size = normal(&mut random) / random.random::<f64>().powf(0.7);
        let gone = random.random::<f64>() < 0.3;
        inputs.extend([if gone { f64::NAN } else { size }, size]);
        error.push(10.0 * normal(&mut random) / random.random::<f64>().powf(0.2));
    }
    let model = fitted(&inputs, 2, &error, &Options::default().kind(Kind::Smooth));
    let found = model.validation().unwrap();
    assert!(found.crps < 1.01 * found.constant_crps, "{found:?}");
    let sigma = model.predict(&inputs).unwrap().into_sigma();
    assert!(largest(&sigma) <= largest(&error), "{}", largest(&sigma));
}

/// Counts, prices in whole units, dry days.
#[test]
fn errors_of_exactly_zero_are_everyday_data() {
    let mut random = Pcg64::seed_from_u64(3);
    let inputs: Vec<f64> = (0..2400).map(|_| random.random()).collect();
    let rounded = |row: &[f64], random: &mut Pcg64| ((0.1 + 1.5 * row[0]) * normal(random)).round();
    let error: Vec<f64> = inputs.chunks(4).map(|row| rounded(row, &mut random)).collect();
    let later: Vec<f64> = inputs.chunks(4).map(|row| rounded(row, &mut random)).collect();
    assert!(error.iter().filter(|e| **e == 0.0).count() > 200);
    for kind in [Kind::Auto, Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees] {
        let model = fitted(&inputs, 4, &error, &Options::default().kind(kind));
        let sigma = model.predict(&inputs).unwrap().into_sigma();
        let constant = fitted(&inputs, 4, &error, &Options::default().kind(Kind::Constant));
        let one = constant.predict(&inputs).unwrap().into_sigma();
        let ratio = mean_crps(&later, &sigma) / mean_crps(&later, &one);
        assert!(ratio < 0.98, "{kind:?} {ratio}");
        // The least error that is not zero is 1: rounding leaves a deviation of 1/sqrt(12).
        assert!(sigma.iter().all(|s| *s >= 0.288), "{kind:?}");
    }
}

/// An error with a memory, and inputs that tell where in time a row is: held out one by one, rows are
/// known from their neighbours.
#[test]
fn neighbours_that_resemble_each_other_are_held_out_together() {
    let mut random = Pcg64::seed_from_u64(4);
    let (mut inputs, mut error, mut last) = (Vec::new(), Vec::new(), 0.0);
    for row in 0..3000 {
        // A level of its own for every forty rows.
        let level = (f64::from(row / 40) * 0.618).fract();
        last = 0.97 * last + normal(&mut random);
        inputs.extend([level, normal(&mut random)]);
        error.push(last);
    }
    let data = Data::new(&inputs, 2, &error).unwrap();
    let usual = Options::default().kind(Kind::Trees);
    let found = fit(&data, &names(2), &usual, &Silent).unwrap().fitted;
    let dependence = found.validation().unwrap().dependence.unwrap();
    assert!(dependence.autocorrelation > 0.8 && dependence.block >= 20, "{dependence:?}");
    let single = usual.independent(true);
    let alone = fit(&data, &names(2), &single, &Silent).unwrap().fitted;
    assert!(alone.validation().unwrap().dependence.is_none());
    // What debiasing is said to be worth comes from the same.
    let worth = |options: &Options| {
        errbar::fit::worth_of_debiasing(&data, options, &Silent).unwrap().unwrap().gain
    };
    assert!(worth(&single) > 0.2 && worth(&usual) < 0.05, "{} {}", worth(&single), worth(&usual));
}

/// The size of errors went with the level of two twin inputs for a while; then the level stayed high.
#[test]
fn inputs_that_do_not_carry_over_are_left_out() {
    let mut random = Pcg64::seed_from_u64(5);
    let mut draw = |rows: usize, quiet_and_high: f64| {
        let (mut inputs, mut error) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let (spread, calm) =
                (0.5 + random.random::<f64>(), random.random::<f64>() < quiet_and_high);
            let up = random.random::<f64>();
            let level = if calm { 8.0 + up } else { 10.0 * up * up };
            inputs.extend([level, level + 0.02 * normal(&mut random), spread]);
            let size = if calm { 0.5 } else { 0.2 + 0.3 * level };
            error.push(size * spread * normal(&mut random));
        }
        (inputs, error)
    };
    let (mut inputs, mut error) = draw(2400, 0.0);
    let (more, errors) = draw(800, 0.9);
    inputs.extend(more);
    error.extend(errors);
    let data = Data::new(&inputs, 3, &error).unwrap();
    let options = Options::default().split(Split::InOrder);
    let found = fit(&data, &names(3), &options, &Silent).unwrap().fitted;
    assert_eq!(found.validation().unwrap().left_out, ["x0", "x1"]);
    let (later, then) = draw(2000, 1.0);
    let ratio = |model: &Fitted| {
        let constant = fitted(&inputs, 3, &error, &options.kind(Kind::Constant));
        mean_crps(&then, &model.predict(&later).unwrap().into_sigma())
            / mean_crps(&then, &constant.predict(&later).unwrap().into_sigma())
    };
    let kept = fit(&data, &names(3), &options.keep_inputs(true), &Silent).unwrap();
    assert!(kept.fitted.validation().unwrap().left_out.is_empty());
    let (with, without) = (ratio(&kept.fitted), ratio(&found));
    assert!(without < 1.01 && without < with, "{without} {with}");
}

#[test]
fn more_rows_never_mean_fewer_trained_on() {
    let mut random = Pcg64::seed_from_u64(6);
    let inputs: Vec<f64> = (0..6000).map(|_| random.random()).collect();
    let error: Vec<f64> = inputs.iter().map(|x| (0.2 + x) * normal(&mut random)).collect();
    for kind in [Kind::Auto, Kind::Trees, Kind::Polynomial] {
        let used = |rows: usize| {
            let options = Options::default().kind(kind).budget(1e6);
            fitted(&inputs[..rows], 1, &error[..rows], &options).rows().1
        };
        let used: Vec<usize> = [200, 1000, 6000].map(used).to_vec();
        assert!(used[0] <= used[1] && used[1] <= used[2], "{kind:?} {used:?}");
    }
}

/// A bias that turns round on the way is none of later rows; one that lasts is learned.
#[test]
fn a_bias_that_does_not_carry_over_is_not_learned() {
    let mut random = Pcg64::seed_from_u64(11);
    for lasts in [true, false] {
        let (mut inputs, mut error) = (Vec::new(), Vec::new());
        for row in 0..900 {
            let x = normal(&mut random);
            let bias = if lasts || row < 540 { x } else { -x };
            inputs.push(x);
            error.push(bias + 0.5 * normal(&mut random));
        }
        let options = Options::default().kind(Kind::Constant).split(Split::InOrder).debias(true);
        let model = fitted(&inputs, 1, &error, &options);
        assert_eq!(model.bias().unwrap().is_none(), !lasts);
        let moved = model.predict(&[1.0]).unwrap().bias().unwrap().to_vec()[0];
        assert!(if lasts { (moved - 1.0).abs() < 0.3 } else { moved == 0.0 }, "{moved}");
        let again = Fitted::from_json(&model.to_json().unwrap()).unwrap();
        assert_eq!(again.predict(&[1.0]).unwrap().bias().unwrap().to_vec()[0], moved);
    }
}
