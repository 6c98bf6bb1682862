//! From a table to error bars.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use errbar::fit::{Fitted, Kind, LawKind, Options, fit};
use errbar::sigma::Model;
use errbar::{Data, Error, Group, Monitor, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Two inputs in [0, 1], of which only the second tells the size of the error.
fn draw(seed: u64, rows: usize, sigma: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let inputs: Vec<f64> = (0..2 * rows).map(|_| rng.random::<f64>()).collect();
    let error = inputs
        .chunks(2)
        .map(|row| {
            let z: f64 = StandardNormal.sample(&mut rng);
            sigma(row[1]) * z
        })
        .collect();
    (inputs, error)
}

fn names() -> Vec<String> {
    vec!["noise".into(), "size".into()]
}

fn steep(x: f64) -> f64 {
    (2.0 * x - 1.0).exp()
}

#[test]
fn auto_follows_sigma_and_names_the_input_that_tells_it() {
    let (inputs, error) = draw(1, 1500, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fit = fit(&data, &names(), &Options::default(), &Silent).unwrap();
    for x in [0.1, 0.5, 0.9] {
        let sigma = fit.fitted.predict(&[0.5, x]).unwrap().sigma()[0];
        assert!((sigma / steep(x)).ln().abs() < 0.2, "at {x}: {sigma}, not {}", steep(x));
    }
    let validation = fit.fitted.validation().unwrap();
    // A fifth at a time, until five hundred have been held out.
    assert_eq!((validation.rows, validation.turns), (600, 2));
    assert_eq!(validation.importance[0].name, "size");
    assert!(validation.importance[0].crps_share > 0.05, "{:?}", validation.importance);
    assert!(validation.importance[1].crps_share < 0.01, "{:?}", validation.importance);
    // The mean CRPS of an error of standard deviation a with sigma s is sqrt(2/pi) sqrt(a² + s²) -
    // s/sqrt(pi). Over x, the true sigma has 0.66304 and the best constant 0.71008: 6.62% more.
    let from_truth = validation.crps_skill - 0.0662;
    assert!(from_truth.abs() < 4.0 * validation.skill_standard_error, "{validation:?}");
}

#[test]
fn auto_keeps_one_sigma_where_there_is_nothing_to_learn() {
    let (inputs, error) = draw(2, 1500, |_| 2.0);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fit = fit(&data, &names(), &Options::default(), &Silent).unwrap();
    let Model::Constant(model) = fit.fitted.model() else { panic!("{:?}", fit.fitted.model()) };
    // The standard error of a standard deviation of n errors is sigma / sqrt(2n).
    assert!((model.sigma - 2.0).abs() < 4.0 * 2.0 / 3000f64.sqrt(), "{}", model.sigma);
}

#[test]
fn rows_without_weight_are_not_seen() {
    let (inputs, error) = draw(3, 300, steep);
    for kind in [Kind::Constant, Kind::Polynomial, Kind::Network, Kind::Trees] {
        let options = Options::default().kind(kind);
        let equal = vec![4.0; error.len()];
        let plain = Data::new(&inputs, 2, &error).unwrap().maybe_weighted(Some(&equal)).unwrap();
        let plain = fit(&plain, &names(), &options, &Silent).unwrap();
        // Wild rows among them, of weight zero.
        let (mut more_inputs, mut more_error, mut weight) = (Vec::new(), Vec::new(), Vec::new());
        for (row, e) in inputs.chunks(2).zip(&error) {
            more_inputs.extend_from_slice(row);
            more_error.push(*e);
            weight.push(4.0);
            more_inputs.extend_from_slice(&[1e6, -1e6]);
            more_error.push(1e9);
            weight.push(0.0);
        }
        let more = Data::new(&more_inputs, 2, &more_error).unwrap();
        let more = more.maybe_weighted(Some(&weight)).unwrap();
        let more = fit(&more, &names(), &options, &Silent).unwrap();
        assert_eq!(plain.fitted.predict(&inputs), more.fitted.predict(&inputs), "{kind:?}");
        assert!(more.fitted.predict(&[1e6, -1e6]).unwrap().outside()[0], "{kind:?}");
    }
}

#[test]
fn heavier_rows_count_more() {
    // Small errors for the first half of the rows, large ones for the second, whatever the inputs.
    let (inputs, mut error) = draw(4, 400, |_| 1.0);
    error.iter_mut().skip(200).for_each(|e| *e *= 10.0);
    let sigma = |weight: &[f64], kind: Kind| {
        let data = Data::new(&inputs, 2, &error).unwrap().maybe_weighted(Some(weight)).unwrap();
        let fit = fit(&data, &names(), &Options::default().kind(kind), &Silent).unwrap();
        fit.fitted.predict(&[0.5, 0.5]).unwrap().sigma()[0]
    };
    let weight = |first: f64, second: f64| -> Vec<f64> {
        (0..400).map(|row| if row < 200 { first } else { second }).collect()
    };
    for kind in [Kind::Constant, Kind::Polynomial, Kind::Network, Kind::Trees] {
        let (small, large) = (sigma(&weight(1.0, 1e-6), kind), sigma(&weight(1e-6, 1.0), kind));
        assert!((0.7..1.5).contains(&small), "{kind:?}: {small}");
        assert!((7.0..15.0).contains(&large), "{kind:?}: {large}");
    }
}

#[test]
fn the_units_of_the_error_do_not_matter() {
    let (inputs, error) = draw(5, 200, steep);
    let kinds = [Kind::Constant, Kind::Polynomial, Kind::Network, Kind::Trees];
    for (kind, recalibrate) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let sigma = |factor: f64| {
            let scaled: Vec<f64> = error.iter().map(|e| factor * e).collect();
            let data = Data::new(&inputs, 2, &scaled).unwrap();
            let law = if recalibrate { LawKind::Auto } else { LawKind::Normal };
            let options = Options::default().kind(kind).law(law).recalibrate(recalibrate);
            let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
            fitted.predict(&inputs).unwrap().into_sigma()
        };
        let one = sigma(1.0);
        // Networks of a part of the rows may take another path after another rounding, and held-out rows
        // then ask for a slightly other size.
        let off = if kind == Kind::Network && recalibrate { 1e-2 } else { 1e-6 };
        for factor in [1e-6, 1e6] {
            for (a, b) in one.iter().zip(sigma(factor)) {
                assert!((a * factor / b - 1.0).abs() < off, "{kind:?} {factor}: {a} {b}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (inputs, error) = draw(6, 400, steep);
    let json = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let data = Data::new(&inputs, 2, &error).unwrap();
            fit(&data, &names(), &Options::default(), &Silent).unwrap().fitted.to_json().unwrap()
        })
    };
    assert!(json(1) == json(2));
}

#[test]
fn in_order_rows_are_judged_by_models_of_the_rows_before_them() {
    let (inputs, error) = draw(7, 100, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let options = Options::default().kind(Kind::Polynomial).split(Split::InOrder).validation(0.2);
    let options = options.law(LawKind::Normal).recalibrate(false);
    let fit = fit(&data, &names(), &options, &Silent).unwrap();
    let held_out = fit.held_out.unwrap();
    assert_eq!(held_out.rows, (60..100).collect::<Vec<usize>>());
    assert_eq!(held_out.error, &error[60..]);
    for from in [60, 80] {
        let before = Data::new(&inputs[..2 * from], 2, &error[..from]).unwrap();
        let options = options.validation(0.0);
        let model = fitted_to(&before, &options);
        let sigma = model.predict(&inputs[2 * from..2 * from + 40]).unwrap().into_sigma();
        assert_eq!(held_out.sigma[from - 60..from - 40], sigma);
    }
}

fn fitted_to(data: &Data, options: &Options) -> Fitted {
    fit(data, &names(), options, &Silent).unwrap().fitted
}

#[test]
fn each_row_of_a_small_table_is_held_out_once() {
    let (inputs, error) = draw(8, 100, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let options = Options::default().kind(Kind::Polynomial);
    let fit = fit(&data, &names(), &options, &Silent).unwrap();
    let held_out = fit.held_out.unwrap();
    assert_eq!(held_out.rows, (0..100).collect::<Vec<usize>>());
    assert_eq!(held_out.error, error);
    assert_eq!(fit.fitted.validation().unwrap().turns, 5);
    // By models of the others: five different constants, each that of eighty errors.
    let mut constants = held_out.constant_sigma.clone();
    constants.sort_by(f64::total_cmp);
    constants.dedup();
    assert_eq!(constants.len(), 5);
}

#[test]
fn a_small_budget_is_kept() {
    let (inputs, error) = draw(9, 400, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fit_with = |budget: f64| fitted_to(&data, &Options::default().budget(budget));
    // One fit of all kinds takes about 7,750 evaluations of each row.
    let once = 7_750.0 * 400.0;
    assert_eq!(fit_with(1e9).validation().unwrap().turns, 5);
    assert_eq!(fit_with(2.7 * once).validation().unwrap().turns, 2);
    assert_eq!(fit_with(1.9 * once).validation().unwrap().turns, 1);
    // A polynomial takes 200 evaluations: twice, with 90 rows of 400, is what this allows for.
    let less = Options::default().kind(Kind::Polynomial).budget(36_000.0);
    let fitted = fitted_to(&data, &less);
    assert_eq!((fitted.validation().unwrap().turns, fitted.rows()), (1, (400, 90)));
    for budget in [0.0, -1.0, f64::NAN] {
        let refused = fit(&data, &names(), &Options::default().budget(budget), &Silent);
        assert!(matches!(refused, Err(Error::BadBudget { .. })));
    }
}

#[test]
fn whole_groups_are_held_out() {
    // Twenty groups, in each of which all errors are of one size: the group is known from its rows,
    // and from nothing else.
    let size = |group: u32| if group.is_multiple_of(2) { 0.2 } else { 2.0 };
    let (_, z) = draw(10, 600, |_| 1.0);
    let group: Vec<u32> = (0..600).map(|row| row % 20).collect();
    let inputs: Vec<f64> = group.iter().flat_map(|&g| [f64::from(g), f64::from(g * g)]).collect();
    let error: Vec<f64> = z.iter().zip(&group).map(|(z, &g)| size(g) * z).collect();
    let data = Data::new(&inputs, 2, &error).unwrap();
    let labels = (0..20).map(|g| g.to_string()).collect();
    let grouped =
        data.clone().grouped(Group { name: "station".into(), labels, rows: group }).unwrap();
    let skill = |data: &Data| {
        // A law that is not Gaussian would have a skill of its own: errors are of two sizes.
        let options = Options::default().kind(Kind::Trees).law(LawKind::Normal).recalibrate(false);
        let fitted = fitted_to(data, &options);
        let validation = fitted.validation().unwrap();
        (validation.whole_groups, validation.crps_skill)
    };
    let (whole, of_rows) = skill(&data);
    assert!(!whole && of_rows > 0.1, "{of_rows}");
    // New groups are another matter.
    let (whole, of_groups) = skill(&grouped);
    assert!(whole && of_groups < 0.03, "{of_groups}");
}

#[test]
fn missing_inputs_are_learned_from() {
    // Errors are three times as large where the second input is missing.
    let (mut inputs, mut error) = draw(11, 600, |_| 1.0);
    for row in (0..600).step_by(3) {
        inputs[2 * row + 1] = f64::NAN;
        error[row] *= 3.0;
    }
    let kinds =
        [Kind::Constant, Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees, Kind::Auto];
    for kind in kinds {
        let data = Data::with_missing(&inputs, 2, &error).unwrap();
        let options = Options::default().kind(kind).debias(kind == Kind::Trees);
        let fitted = fitted_to(&data, &options);
        let again = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
        assert!(again.takes_missing(), "{kind:?}");
        let sigma = again.predict(&[0.5, f64::NAN, 0.5, 0.4]).unwrap().into_sigma();
        assert!(sigma.iter().all(|s| *s > 0.0), "{kind:?} {sigma:?}");
        if matches!(kind, Kind::Trees | Kind::Auto) {
            assert!((2.2..4.0).contains(&(sigma[0] / sigma[1])), "{kind:?} {sigma:?}");
        }
    }
    assert!(matches!(Data::new(&inputs, 2, &error), Err(Error::InputNotFinite { row: 0, .. })));
    // A model that never saw a missing value does not know what to make of one, and says so.
    let (inputs, error) = draw(12, 100, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let fitted = fitted_to(&data, &Options::default().kind(Kind::Trees));
    let predicted = fitted.predict(&[0.5, f64::NAN, 0.5, 0.5]).unwrap();
    assert!(predicted.sigma()[0] > 0.0 && predicted.support().unwrap() == [0.0, 1.0]);
    assert_eq!(
        (predicted.outside(), predicted.outside_input()),
        (&[true, false][..], &[Some(1), None][..])
    );
}

/// Remembers the shares it was told, and stops after some.
struct Watch {
    shares: Mutex<Vec<f64>>,
    asked: AtomicUsize,
    stop_after: usize,
}

impl Watch {
    fn new(stop_after: usize) -> Self {
        Self { shares: Mutex::default(), asked: AtomicUsize::new(0), stop_after }
    }
}

impl Monitor for Watch {
    fn progress(&self, share: f64) {
        self.shares.lock().unwrap().push(share);
    }

    fn should_stop(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.stop_after
    }
}

#[test]
fn a_monitor_sees_the_progress_and_can_stop_it() {
    let (inputs, error) = draw(8, 200, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let watch = Watch::new(usize::MAX);
    fit(&data, &names(), &Options::default(), &watch).unwrap();
    let shares = watch.shares.into_inner().unwrap();
    assert!(shares.len() > 30, "{shares:?}");
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert_eq!(shares.last(), Some(&1.0));
    for stop_after in [0, 10, 500] {
        let watch = Watch::new(stop_after);
        let stopped = fit(&data, &names(), &Options::default(), &watch);
        assert_eq!(stopped.unwrap_err(), Error::Stopped, "{stop_after}");
    }
}

#[test]
fn saved_and_loaded_it_predicts_the_same_bits() {
    let (inputs, error) = draw(9, 150, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    for kind in [Kind::Constant, Kind::Polynomial, Kind::Network, Kind::Trees] {
        let fit = fit(&data, &names(), &Options::default().kind(kind), &Silent).unwrap();
        let text = fit.fitted.to_json().unwrap();
        let loaded = Fitted::from_json(&text).unwrap();
        assert_eq!(loaded.predict(&inputs).unwrap(), fit.fitted.predict(&inputs).unwrap());
        assert_eq!(loaded.to_json().unwrap(), text);
        assert_eq!(loaded.names(), names());
    }
}

#[test]
fn bad_requests_are_refused_in_words() {
    let (inputs, error) = draw(10, 30, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        options
    };
    let refused = |data: &Data, names: &[String], options: &Options| {
        fit(data, names, options, &Silent).unwrap_err()
    };
    let usual = Options::default();
    assert_eq!(refused(&data, &names()[..1], &usual), Error::WrongNames { names: 1, columns: 2 });
    let too_much = with(|o| o.validation = 0.95);
    assert_eq!(refused(&data, &names(), &too_much), Error::BadValidation { value: 0.95 });
    let nothing = with(|o| o.validation = 0.0);
    assert_eq!(refused(&data, &names(), &nothing), Error::NothingHeldOut);
    let none = with(|o| o.most_rows = 0);
    assert_eq!(refused(&data, &names(), &none), Error::BadMostRows { value: 0, least: 20 });
    let zero = Data::new(&inputs[..20], 2, &[0.0; 10]).unwrap();
    assert_eq!(refused(&zero, &names(), &usual), Error::NoErrors { rows: 10 });
    for text in ["", "{}", "[1]", "{\"errbar_model\": 99}", "{\"errbar_model\": 1}", "nonsense"] {
        assert!(matches!(Fitted::from_json(text), Err(Error::BadModel { .. })), "{text}");
    }
}

#[test]
fn few_rows_are_one_sigma_whatever_the_model() {
    let (inputs, error) = draw(11, 60, steep);
    let kinds = [
        Kind::Auto,
        Kind::Polynomial,
        Kind::Smooth,
        Kind::Network,
        Kind::Ensemble,
        Kind::Trees,
        Kind::Stack,
    ];
    let few = Data::new(&inputs[..38], 2, &error[..19]).unwrap();
    for kind in kinds {
        let fitted = fit(&few, &names(), &Options::default().kind(kind), &Silent).unwrap().fitted;
        assert!(matches!(fitted.model(), Model::Constant(_)), "{kind:?}");
        assert_eq!(fitted.kind(), Kind::Constant);
        assert!(fitted.too_few_rows());
        assert_eq!(Fitted::from_json(&fitted.to_json().unwrap()).unwrap().kind(), Kind::Constant);
    }
    let asked =
        fit(&few, &names(), &Options::default().kind(Kind::Constant), &Silent).unwrap().fitted;
    assert!(!asked.too_few_rows());
    let enough = Data::new(&inputs[..40], 2, &error[..20]).unwrap();
    let fitted =
        fit(&enough, &names(), &Options::default().kind(Kind::Trees), &Silent).unwrap().fitted;
    assert_eq!(fitted.kind(), Kind::Trees);
}

#[test]
fn hard_tables_get_an_answer() {
    let (inputs, error) = draw(11, 60, steep);
    let fits = |name: &str, inputs: &[f64], columns: usize, error: &[f64]| {
        let names: Vec<String> = (0..columns).map(|c| c.to_string()).collect();
        let data = Data::new(inputs, columns, error).unwrap();
        let fit = fit(&data, &names, &Options::default(), &Silent).unwrap();
        let sigma = fit.fitted.predict(inputs).unwrap().into_sigma();
        assert!(sigma.iter().all(|s| *s > 0.0 && s.is_finite()), "{name}");
        Fitted::from_json(&fit.fitted.to_json().unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
    };
    fits("one row", &[1.0, 2.0], 2, &[0.5]);
    fits("ten rows", &inputs[..20], 2, &error[..10]);
    fits("constant inputs", &vec![3.0; 120], 2, &error);
    fits("equal errors", &inputs, 2, &[0.7; 60]);
    let mostly_zero: Vec<f64> = (0..60).map(|i| if i == 7 { 1.0 } else { 0.0 }).collect();
    fits("one error that is not zero", &inputs, 2, &mostly_zero);
    let huge: Vec<f64> = error.iter().map(|e| e * 1e300).collect();
    fits("1e300", &inputs, 2, &huge);
    let tiny: Vec<f64> = error.iter().map(|e| e * 1e-300).collect();
    fits("1e-300", &inputs, 2, &tiny);
    let wide: Vec<f64> = inputs.iter().map(|x| (x - 0.5) * 1.7e308 * 2.0).collect();
    fits("inputs across all doubles", &wide, 2, &error);
    let mut outlier = error.clone();
    outlier[0] = 1e12;
    fits("an outlier", &inputs, 2, &outlier);
    let mut rng = Pcg64::seed_from_u64(12);
    let many: Vec<f64> = (0..60 * 500).map(|_| rng.random::<f64>()).collect();
    fits("five hundred inputs", &many, 500, &error);
}

/// The mean distance of log sigma from the truth, over the whole range.
fn distance(fitted: &Fitted, truth: impl Fn(f64) -> f64) -> f64 {
    let x: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
    let inputs: Vec<f64> = x.iter().flat_map(|&x| [0.5, x]).collect();
    let sigma = fitted.predict(&inputs).unwrap().into_sigma();
    x.iter().zip(sigma).map(|(&x, s)| (s / truth(x)).ln().abs() / 200.0).sum()
}

/// Where sigma dips, rows of small sigma hardly count unless each is in its own units.
#[test]
fn local_units_learn_small_sigmas() {
    // The sigma of the data set W of the paper.
    let truth = |x: f64| f64::hypot(0.1, 0.5 * (1.0 - (2.5 * std::f64::consts::PI * x).sin()));
    for kind in [Kind::Polynomial, Kind::Smooth, Kind::Network] {
        let [plain, local] = [false, true].map(|local_units| {
            let mut sum = 0.0;
            for seed in 0..6 {
                let (inputs, error) = draw(40 + seed, 300, truth);
                let data = Data::new(&inputs, 2, &error).unwrap();
                let options =
                    Options::default().kind(kind).local_units(local_units).validation(0.0);
                sum += distance(&fit(&data, &names(), &options, &Silent).unwrap().fitted, truth);
            }
            sum / 6.0
        });
        assert!(local < plain, "{kind:?}: {local} in local units, {plain} without");
        assert!(local < 0.25, "{kind:?}: {local}");
    }
}

/// What is chosen to be small by chance must not count more: fitted sigmas are as large as the
/// errors are, on rows never seen.
#[test]
fn local_units_do_not_make_sigma_too_small() {
    for kind in [Kind::Polynomial, Kind::Smooth, Kind::Network] {
        let mut squares = 0.0;
        for seed in 0..4 {
            let (inputs, error) = draw(60 + seed, 150, steep);
            let data = Data::new(&inputs, 2, &error).unwrap();
            let options = Options::default().kind(kind).validation(0.0);
            let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
            let (inputs, error) = draw(160 + seed, 2000, steep);
            let sigma = fitted.predict(&inputs).unwrap().into_sigma();
            squares += error.iter().zip(sigma).map(|(e, s)| (e / s).powi(2)).sum::<f64>() / 8000.0;
        }
        assert!((0.8..1.25).contains(&squares.sqrt()), "{kind:?}: {}", squares.sqrt());
    }
}

#[test]
fn a_smooth_model_has_a_band_that_widens_away_from_the_rows() {
    let (inputs, error) = draw(80, 400, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let options = Options::default().kind(Kind::Smooth);
    let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
    let at = [0.5, 0.5, 0.5, 4.0];
    let (low, high) = fitted.predict(&at).unwrap().sigma_band(0.9).unwrap().unwrap();
    let sigma = fitted.predict(&at).unwrap().into_sigma();
    assert!(low[0] < sigma[0] && sigma[0] < high[0]);
    assert!(high[1] / low[1] > 2.0 * high[0] / low[0], "{low:?} {high:?}");
    let (inner_low, inner_high) = fitted.predict(&at).unwrap().sigma_band(0.5).unwrap().unwrap();
    assert!(inner_low[0] > low[0] && inner_high[0] < high[0]);
    assert!(matches!(
        fitted.predict(&at).unwrap().sigma_band(1.0),
        Err(Error::NotAProbability { .. })
    ));
    let options = Options::default().kind(Kind::Polynomial);
    let polynomial = fit(&data, &names(), &options, &Silent).unwrap().fitted;
    assert!(polynomial.predict(&at).unwrap().sigma_band(0.9).unwrap().is_none());
}

#[test]
fn an_ensemble_is_more_networks_and_follows_sigma() {
    let (inputs, error) = draw(90, 200, steep);
    let data = Data::new(&inputs, 2, &error).unwrap();
    let options = Options::default().kind(Kind::Ensemble).validation(0.0);
    let fitted = fit(&data, &names(), &options, &Silent).unwrap().fitted;
    assert!(fitted.model().explain().starts_with("8 networks, averaged"));
    assert!(distance(&fitted, steep) < 0.25, "{}", distance(&fitted, steep));
}
