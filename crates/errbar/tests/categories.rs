//! Inputs that are categories, against sigmas that are known and formulas by hand.

use errbar::fit::guarantee::Method;
use errbar::fit::{self, Fit, Fitted, Kind, LawKind, Options, too_many};
use errbar::{Category, Data, Error, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Standard normal numbers.
fn normal(random: &mut Pcg64) -> f64 {
    StandardNormal.sample(random)
}

fn levels(count: usize) -> Vec<String> {
    (0..count).map(|level| format!("l{level}")).collect()
}

/// Rows of a number, a category, and an error.
struct Rows {
    inputs: Vec<f64>,
    error: Vec<f64>,
    levels: usize,
}

impl Rows {
    /// A number from 0 to 1 and any level, with errors of a given mean and sigma.
    fn of(rows: usize, levels: usize, seed: u64, law: impl Fn(f64, usize) -> (f64, f64)) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let (mut inputs, mut error) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let (x, level) = (random.random::<f64>(), random.random_range(0..levels));
            let (mean, sigma) = law(x, level);
            inputs.extend([x, level as f64]);
            error.push(mean + sigma * normal(&mut random));
        }
        Self { inputs, error, levels }
    }

    fn data(&self) -> Data<'_> {
        let category = Category { column: 1, levels: levels(self.levels) };
        Data::new(&self.inputs, 2, &self.error).unwrap().with_categories(vec![category]).unwrap()
    }

    fn fit(&self, options: &Options) -> Fit {
        fit::fit(&self.data(), &names(), options, &Silent).unwrap()
    }
}

fn names() -> [String; 2] {
    ["x".into(), "carrier".into()]
}

fn gaussian() -> Options {
    Options::default().law(LawKind::Normal)
}

/// Sigma at the middle of the number, at each level.
fn by_level(fitted: &Fitted, levels: usize) -> Vec<f64> {
    let rows: Vec<f64> = (0..levels).flat_map(|level| [0.5, level as f64]).collect();
    fitted.predict(&rows).unwrap().sigma().to_vec()
}

const SIGMA: [f64; 6] = [0.5, 3.0, 1.0, 2.0, 0.7, 1.4];

#[test]
fn sigma_of_each_level_is_found_by_every_kind() {
    // In no order of their codes.
    let rows = Rows::of(3000, SIGMA.len(), 1, |x, level| (0.0, SIGMA[level] * (0.8 + 0.4 * x)));
    for kind in [Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees, Kind::Auto] {
        let fitted = rows.fit(&gaussian().kind(kind)).fitted;
        for (sigma, true_sigma) in by_level(&fitted, SIGMA.len()).iter().zip(SIGMA) {
            // Of 500 rows a level's sigma is known to 3%; models of it to a few times that.
            let off = (sigma / true_sigma).ln();
            assert!(off.abs() < 0.15, "{}: {sigma} for {true_sigma}", kind.name());
        }
    }
}

#[test]
fn the_numbers_of_levels_are_those_of_the_formula() {
    let counts = [60, 12, 3, 25];
    let mut random = Pcg64::seed_from_u64(3);
    let (mut codes, mut error) = (Vec::new(), Vec::new());
    for (level, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            codes.push(level as f64);
            error.push(SIGMA[level] * normal(&mut random));
        }
    }
    let category = Category { column: 0, levels: levels(5) };
    let data = Data::new(&codes, 1, &error).unwrap().with_categories(vec![category]).unwrap();
    let fitted =
        fit::fit(&data, &["c".into()], &gaussian().independent(true), &Silent).unwrap().fitted;

    // By hand: means of the roots, their variance, that of levels by moments.
    let root: Vec<f64> = error.iter().map(|e| e.abs().sqrt()).collect();
    let n = root.len() as f64;
    let all = root.iter().sum::<f64>() / n;
    let of = |level: usize| {
        let first: usize = counts[..level].iter().sum();
        root[first..first + counts[level]].iter().map(|s| s / all).collect::<Vec<f64>>()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = (0..4).map(|level| mean(&of(level))).collect();
    let within: f64 =
        (0..4).map(|level| of(level).iter().map(|s| (s - means[level]).powi(2)).sum::<f64>()).sum();
    let c2 = within / (n - 4.0);
    let between: f64 = (0..4).map(|l| counts[l] as f64 * (means[l] - 1.0).powi(2)).sum();
    let squares: f64 = counts.iter().map(|&count| (count * count) as f64).sum();
    let tau2 = (between - 3.0 * c2) / (n - squares / n);
    assert!(tau2 > 0.0);
    let own = &fitted.categories()[0];
    for level in 0..4 {
        let k = tau2 / (tau2 + c2 / counts[level] as f64);
        let ratio = 1.0 + k * (means[level] - 1.0);
        let x = 2.0 * ratio.ln() + 3.0 * (1.0 + tau2 * (1.0 - k) / (ratio * ratio)).ln();
        assert!((own.sizes()[level] - x).abs() < 1e-9, "{level}: {} {x}", own.sizes()[level]);
    }
    // The fifth never came: it is as one that was not seen.
    assert!((own.unseen() - 3.0 * (1.0 + tau2).ln()).abs() < 1e-9);
    assert_eq!(own.sizes()[4], own.unseen());
    assert_eq!(own.rows(), [60, 12, 3, 25, 0]);
}

#[test]
fn names_of_rows_tell_nothing_and_are_noticed() {
    let law = |x: f64, _: usize| (0.0, 0.5 + x);
    let (rows, fresh) = (Rows::of(1200, 400, 5, law), Rows::of(4000, 400, 6, law));
    let found = too_many(&rows.data(), &Options::default());
    assert_eq!(found.iter().map(|own| own.column).collect::<Vec<usize>>(), [1]);
    assert!(found[0].to_string().contains("rows held out gain nothing"), "{}", found[0]);
    // Nearly one for each row.
    let each = Rows::of(300, 4000, 7, law);
    let found = too_many(&each.data(), &Options::default());
    assert!(found[0].to_string().contains("look like names"), "{}", found[0]);
    // As many that do tell something are kept.
    let telling = Rows::of(1200, 400, 5, |_, level| (0.0, if level % 2 == 0 { 0.2 } else { 3.0 }));
    assert_eq!(too_many(&telling.data(), &Options::default()), []);
    // Learned from all the same, they are not learned by heart.
    let crps = |fitted: &Fitted, inputs: &[f64]| {
        let zeros = vec![0.0; fresh.error.len()];
        let said = fitted.predict(fit::Rows::new(inputs).with_forecast(&zeros)).unwrap();
        let each = said.crps(&fresh.error).unwrap();
        each.iter().sum::<f64>() / each.len() as f64
    };
    let with = rows.fit(&gaussian());
    let x: Vec<f64> = rows.inputs.iter().step_by(2).copied().collect();
    let alone = Data::new(&x, 1, &rows.error).unwrap();
    let without = fit::fit(&alone, &["x".into()], &gaussian(), &Silent).unwrap();
    let of_x: Vec<f64> = fresh.inputs.iter().step_by(2).copied().collect();
    let lost = crps(&with.fitted, &fresh.inputs) / crps(&without.fitted, &of_x) - 1.0;
    assert!(lost < 0.01, "{lost}");
    // Nor do rows held out say otherwise.
    let claimed = with.fitted.validation().unwrap().crps;
    let honest = without.fitted.validation().unwrap().crps;
    assert!((claimed / honest - 1.0).abs() < 0.01, "{claimed} {honest}");
}

#[test]
fn a_level_that_was_not_seen_has_an_honest_sigma_and_a_flag() {
    // Many levels whose sigma is log-normal, and new ones of the same kind.
    let mut random = Pcg64::seed_from_u64(8);
    let sigma: Vec<f64> = (0..120).map(|_| (0.5 * normal(&mut random)).exp()).collect();
    let rows = Rows::of(6000, 60, 9, |_, level| (0.0, sigma[level]));
    let fitted = rows.fit(&gaussian()).fitted;
    let new = [0.5, -1.0, 0.5, 60.0, 0.5, 1e9, 0.5, 3.0, 0.5, f64::NAN];
    let said = fitted.predict(&new).unwrap();
    assert_eq!(said.outside(), [true, true, true, false, true]);
    assert_eq!(said.outside_input()[0], Some(1));
    assert_eq!(said.support().unwrap()[0], 0.0);
    assert_eq!(said.sigma()[0].to_bits(), said.sigma()[2].to_bits());
    // 90% intervals hold nine in ten observations at new levels.
    let at = said.sigma()[0];
    let (mut inside, mut count) = (0, 0);
    for own in &sigma[60..] {
        for _ in 0..200 {
            inside += usize::from((own * normal(&mut random)).abs() < 1.6449 * at);
            count += 1;
        }
    }
    let share = f64::from(inside as u32) / f64::from(count);
    assert!((0.85..0.95).contains(&share), "{share}");
}

#[test]
fn missing_values_are_a_level_where_some_were_missing() {
    let mut rows = Rows::of(2000, 4, 10, |_, level| (0.0, [1.0, 1.0, 1.0, 4.0][level]));
    rows.inputs
        .iter_mut()
        .skip(1)
        .step_by(2)
        .filter(|code| **code == 3.0)
        .for_each(|c| *c = f64::NAN);
    let category = Category { column: 1, levels: levels(4) };
    let data = Data::with_missing(&rows.inputs, 2, &rows.error).unwrap();
    let data = data.with_categories(vec![category]).unwrap();
    let fitted = fit::fit(&data, &names(), &gaussian(), &Silent).unwrap().fitted;
    let said = fitted.predict(&[0.5, f64::NAN, 0.5, 0.0, 0.5, 3.0]).unwrap();
    assert!((said.sigma()[0] / 4.0).ln().abs() < 0.15, "{:?}", said.sigma());
    assert!(said.sigma()[1].ln().abs() < 0.15, "{:?}", said.sigma());
    // The level of which no row was left was not seen.
    assert_eq!(said.outside(), [false, false, true]);
}

#[test]
fn means_of_levels_are_a_part_of_the_bias() {
    let mean = [-1.0, 0.0, 2.0, 0.5];
    let rows = Rows::of(2000, 4, 11, |_, level| (mean[level], 1.0));
    let (fit, worth) =
        fit::fit_debiased_where_it_pays(&rows.data(), &names(), &gaussian(), &Silent).unwrap();
    assert!(worth.unwrap().pays());
    let inputs: Vec<f64> = (0..4).flat_map(|level| [0.5, f64::from(level)]).collect();
    let said = fit.fitted.predict(&inputs).unwrap();
    for (bias, mean) in said.bias().unwrap().iter().zip(mean) {
        // Of 500 rows a mean is known to 0.045.
        assert!((bias - mean).abs() < 0.2, "{bias} {mean}");
    }
    assert!(said.sigma().iter().all(|sigma| sigma.ln().abs() < 0.1), "{:?}", said.sigma());
    // Summaries are of the errors as they were given.
    assert!((fit.fitted.training().bias - 0.375).abs() < 0.2);
    // Where there is none, nothing is added.
    let none = Rows::of(2000, 4, 12, |_, level| (0.0, SIGMA[level]));
    let fit = none.fit(&gaussian().debias(true));
    assert!(!fit.fitted.moves_by_level());
}

#[test]
fn a_saved_model_says_the_same() {
    let rows = Rows::of(600, 4, 13, |_, level| (0.0, SIGMA[level]));
    for options in [gaussian(), gaussian().debias(true), gaussian().kind(Kind::Constant)] {
        let fitted = rows.fit(&options).fitted;
        let json = fitted.to_json().unwrap();
        assert!(
            json.contains(r#""needs":["categories""#) || json.contains(r#","categories"]"#),
            "{}",
            &json[..200]
        );
        let again = Fitted::from_json(&json).unwrap();
        let inputs = [0.1, 0.0, 0.9, 3.0, 0.5, 7.0, 0.5, f64::NAN];
        assert_eq!(again.predict(&inputs).unwrap(), fitted.predict(&inputs).unwrap());
        // Its rows are known again by their codes.
        let known = again.known(&rows.data());
        assert!(known.iter().all(|known| *known != fit::Known::New));
        // Numbers that do not fit together are refused.
        let broken = json.replacen(r#""column":1"#, r#""column":9"#, 1);
        assert!(Fitted::from_json(&broken).is_err());
    }
}

#[test]
fn guarantees_hold_with_categories() {
    let rows = Rows::of(2000, 6, 14, |_, level| (0.0, SIGMA[level]));
    let fresh = Rows::of(4000, 6, 15, |_, level| (0.0, SIGMA[level]));
    for method in [Method::Split, Method::Cross] {
        let options = gaussian().kind(Kind::Polynomial).guarantee(Some(method));
        let fitted = rows.fit(&options).fitted;
        let fitted = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
        let said = fitted.predict(&fresh.inputs).unwrap();
        let (low, high) = said.guaranteed_errors(0.9).unwrap();
        let ends = low.iter().zip(&high).zip(&fresh.error);
        let inside = ends.filter(|((low, high), e)| *low <= *e && *e <= *high).count();
        let share = inside as f64 / fresh.error.len() as f64;
        assert!((0.87..0.93).contains(&share), "{share}");
    }
}

#[test]
fn rows_in_time_have_numbers_that_other_times_tell() {
    let rows = Rows::of(1500, 5, 16, |_, level| (0.0, SIGMA[level]));
    let time: Vec<f64> = (0..1500).map(f64::from).collect();
    let data = rows.data().in_time(&time).unwrap();
    let options = gaussian().kind(Kind::Trees).split(Split::InOrder);
    let fit = fit::fit(&data, &names(), &options, &Silent).unwrap();
    let sigma = by_level(&fit.fitted, 5);
    assert!(sigma.iter().zip(SIGMA).all(|(s, t)| (s / t).ln().abs() < 0.25), "{sigma:?}");
    assert!(fit.fitted.validation().unwrap().crps_skill > 0.05);
}

#[test]
fn what_a_category_says_is_said_by_level() {
    let rows = Rows::of(2000, 5, 17, |_, level| (0.0, SIGMA[level]));
    let fitted = rows.fit(&gaussian()).fitted;
    let validation = fitted.validation().unwrap();
    let own = validation.importance.iter().find(|own| own.name == "carrier").unwrap();
    let name = |code: f64| fitted.category(1).unwrap().name_of(code).to_string();
    // 3 is the largest sigma, 0.5 the smallest.
    assert_eq!([name(own.largest.0), name(own.smallest.0)], ["l1", "l0"]);
    assert!((own.largest.1 / 3.0).ln().abs() < 0.2, "{own:?}");
}

#[test]
fn errors_far_apart_and_few_rows_are_taken() {
    for scale in [1e300, 1e-300] {
        let rows = Rows::of(200, 3, 18, |_, level| (0.0, scale * SIGMA[level]));
        let sigma = by_level(&rows.fit(&gaussian().debias(true)).fitted, 4);
        assert!(sigma.iter().all(|sigma| *sigma > 0.0 && sigma.is_finite()), "{sigma:?}");
    }
    for count in 1..6 {
        let rows = Rows::of(count, 3, 19, |_, _| (0.0, 1.0));
        assert!(by_level(&rows.fit(&gaussian().debias(count > 1)).fitted, 4)[3] > 0.0);
        assert!(too_many(&rows.data(), &Options::default()).is_empty());
    }
}

#[test]
fn what_is_no_category_is_refused() {
    let of = |column, levels: usize, code: f64| {
        let category = Category { column, levels: self::levels(levels) };
        let inputs = [0.0, code];
        let data = Data::with_missing(&inputs, 2, &[1.0]).unwrap();
        data.with_categories(vec![category]).map(|_| ())
    };
    assert_eq!(of(1, 3, 2.0), Ok(()));
    assert_eq!(of(1, 3, f64::NAN), Ok(()));
    for code in [3.0, 0.5] {
        assert_eq!(of(1, 3, code), Err(Error::NoSuchLevel { row: 0, column: 1, code, levels: 3 }));
    }
    assert_eq!(of(2, 3, 0.0), Err(Error::NoSuchCategory { column: 2, columns: 2 }));
}
