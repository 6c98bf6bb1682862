//! Guaranteed intervals hold what they promise, on errors of a known distribution.

use errbar::fit::guarantee::{Category, Method, rows_needed, rows_needed_together};
use errbar::fit::{Fitted, Kind, LawKind, Options, Rows, fit};
use errbar::{Data, Error, Group, Silent, Split};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The scale of the errors of a group at x: the model does not know about the groups.
fn scale(x: f64, group: u32) -> f64 {
    (0.3 + 2.0 * x) * if group == 0 { 1.0 } else { 4.0 }
}

/// Inputs, errors (Laplace's distribution: heavier tails than the model believes) and groups.
fn draw(rng: &mut Pcg64, rows: usize, groups: u32) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    let (mut x, mut error, mut group) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let (at, u): (f64, f64) = (rng.random(), rng.random::<f64>() - 0.5);
        let own = row as u32 % groups;
        x.push(at);
        error.push(-scale(at, own) * u.signum() * (1.0 - 2.0 * u.abs()).ln());
        group.push(own);
    }
    (x, error, group)
}

/// How far intervals reach above the forecast, as far as below where nothing says how errors are shaped.
fn reach_of(
    fitted: &Fitted,
    inputs: &[f64],
    level: f64,
    group: Option<&[Option<u32>]>,
) -> errbar::Result<Vec<f64>> {
    let rows = Rows::new(inputs);
    let rows = group.map_or(rows, |group| rows.with_group(group));
    let (low, high) = fitted.predict(rows)?.guaranteed_errors(level)?;
    let is_even = fitted.shape().is_none() || fitted.options().guarantee == Some(Method::Cross);
    assert!(!is_even || low.iter().zip(&high).all(|(a, b)| a.is_nan() || -a == *b));
    Ok(high)
}

/// The promise holds for skewed errors, with intervals that are as skewed: as many observations lie below
/// as above. Even ones hold all that are too low, and miss twice as many above.
#[test]
fn intervals_have_the_shape_of_the_law() {
    let exponential = |rng: &mut Pcg64| -(1.0 - rng.random::<f64>()).ln() - 1.0;
    let (mut covered, mut below) = ([0.0; 2], [0.0; 2]);
    let repetitions = 40;
    for seed in 0..repetitions {
        let mut rng = Pcg64::new(u128::from(seed), 77);
        let x: Vec<f64> = (0..800).map(|_| rng.random::<f64>()).collect();
        let error: Vec<f64> = x.iter().map(|x| (0.5 + x) * exponential(&mut rng)).collect();
        let data = Data::new(&x, 1, &error).unwrap();
        let new: Vec<f64> = (0..2000).map(|_| rng.random::<f64>()).collect();
        let later: Vec<f64> = new.iter().map(|x| (0.5 + x) * exponential(&mut rng)).collect();
        let options =
            Options::default().kind(Kind::Polynomial).guarantee(Some(Method::Split)).seed(seed);
        let even = options.law(LawKind::Normal).recalibrate(false);
        for (nth, options) in [options, even].iter().enumerate() {
            let fitted = fit(&data, &["x".into()], options, &Silent).unwrap().fitted;
            let fitted = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
            let (low, high) = fitted.predict(&new).unwrap().guaranteed_errors(0.9).unwrap();
            let inside = (0..2000).filter(|&i| (low[i]..=high[i]).contains(&later[i])).count();
            covered[nth] += inside as f64 / 2000.0 / repetitions as f64;
            let missed = (0..2000).filter(|&i| later[i] < low[i]).count();
            below[nth] += missed as f64 / 2000.0 / repetitions as f64;
        }
    }
    println!("hold {covered:.4?}, {below:.4?} are below");
    // 361/401 on average; the standard error of 40 repetitions is about 0.003.
    assert!(covered.iter().all(|share| (0.89..0.911).contains(share)), "{covered:?}");
    assert!((0.03..0.07).contains(&below[0]) && below[1] < 0.01, "{below:?}");
}

/// The probability that a new error of a group lies inside its interval, over all x.
fn coverage(fitted: &Fitted, level: f64, group: u32, grouped: bool) -> f64 {
    let x: Vec<f64> = (0..100).map(|i| (f64::from(i) + 0.5) / 100.0).collect();
    let groups = vec![Some(group); x.len()];
    let reach = reach_of(fitted, &x, level, grouped.then_some(&groups[..])).unwrap();
    let inside = |(x, reach): (&f64, f64)| 1.0 - (-reach / scale(*x, group)).exp();
    x.iter().zip(reach).map(inside).sum::<f64>() / 100.0
}

/// The mean coverage over repetitions, and its standard error.
fn over_repetitions(
    rows: usize,
    repetitions: u64,
    method: Method,
    groups: u32,
    judged: u32,
) -> (f64, f64) {
    let covered: Vec<f64> = (0..repetitions)
        .map(|repetition| {
            let mut rng = Pcg64::new(u128::from(repetition), rows as u128);
            let (x, error, group) = draw(&mut rng, rows, groups);
            let mut data = Data::new(&x, 1, &error).unwrap();
            if groups > 1 {
                let labels = (0..groups).map(|g| format!("group {g}")).collect();
                data = data.grouped(Group { name: "g".into(), labels, rows: group }).unwrap();
            }
            let options = Options::default()
                .kind(Kind::Polynomial)
                .guarantee(Some(method))
                .validation(0.0)
                .seed(repetition);
            let fitted = fit(&data, &["x".into()], &options, &Silent).unwrap().fitted;
            coverage(&fitted, 0.9, judged, groups > 1)
        })
        .collect();
    let n = covered.len() as f64;
    let mean = covered.iter().sum::<f64>() / n;
    let variance = covered.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[test]
fn a_split_promises_at_least_its_level_and_not_much_more() {
    for rows in [50, 200, 1000] {
        let (mean, noise) = over_repetitions(rows, 200, Method::Split, 1, 0);
        let n = (rows / 2) as f64;
        // The expected coverage is exactly ceil((n+1) 0.9) / (n+1) for continuous errors.
        let expected = ((n + 1.0) * 0.9).ceil() / (n + 1.0);
        println!("{rows} rows: {mean:.4} (standard error {noise:.4}), expected {expected:.4}");
        assert!((0.89..expected + 3.5 * noise).contains(&mean), "{rows}: {mean}");
        assert!((mean - expected).abs() < 3.5 * noise, "{rows}: {mean}, not {expected}");
    }
}

#[test]
fn the_promise_holds_in_each_group() {
    for group in [0, 1] {
        let (mean, noise) = over_repetitions(200, 200, Method::Split, 2, group);
        println!("group {group}: {mean:.4} (standard error {noise:.4})");
        // Some 50 of the 100 calibration rows belong to it.
        assert!((0.89..0.9 + 1.0 / 40.0 + 3.5 * noise).contains(&mean), "{group}: {mean}");
    }
}

/// Two groups of many rows, and forty of one to nine, each with errors of its own size.
struct Stations {
    x: Vec<f64>,
    error: Vec<f64>,
    group: Vec<u32>,
}

const LARGE: u32 = 2;
const SMALL: u32 = 40;

impl Stations {
    fn rows_of(group: u32) -> usize {
        if group < LARGE { 500 } else { 1 + (group % 9) as usize }
    }

    fn size(group: u32) -> f64 {
        if group < LARGE { 1.0 + 4.0 * f64::from(group) } else { 0.5 + 0.2 * f64::from(group) }
    }

    fn draw(rng: &mut Pcg64) -> Self {
        let (mut x, mut error, mut group) = (Vec::new(), Vec::new(), Vec::new());
        for own in 0..LARGE + SMALL {
            for _ in 0..Self::rows_of(own) {
                let (at, u): (f64, f64) = (rng.random(), rng.random::<f64>() - 0.5);
                x.push(at);
                error.push(-Self::size(own) * u.signum() * (1.0 - 2.0 * u.abs()).ln());
                group.push(own);
            }
        }
        Self { x, error, group }
    }

    fn fit(&self, split: Split, seed: u64) -> Fitted {
        let labels = (0..LARGE + SMALL).map(|g| format!("station {g}")).collect();
        let group = Group { name: "station".into(), labels, rows: self.group.clone() };
        let data = Data::new(&self.x, 1, &self.error).unwrap().grouped(group).unwrap();
        let options = Options::default()
            .kind(Kind::Constant)
            .guarantee(Some(Method::Split))
            .validation(0.0)
            .split(split)
            .seed(seed);
        fit(&data, &["x".into()], &options, &Silent).unwrap().fitted
    }
}

#[test]
fn large_groups_are_promised_on_their_own_and_small_ones_together() {
    let (repetitions, level) = (300, 0.9);
    for split in [Split::Random, Split::InOrder] {
        let mut covered = vec![Vec::new(); 3];
        for repetition in 0..repetitions {
            let mut rng = Pcg64::new(repetition, 14);
            let fitted = Stations::draw(&mut rng).fit(split, repetition as u64);
            let guarantee = fitted.guarantee().unwrap();
            // A fair share each: half of the rows, up to 200 where there are many groups.
            assert_eq!([guarantee.rows(Some(0)), guarantee.rows(Some(1))], [200, 200]);
            let categories = guarantee.categories(level);
            assert!(categories[..2].iter().all(|c| *c == Category::Own));
            assert!(categories[2..].iter().all(|c| *c == Category::Together));
            let groups: Vec<Option<u32>> = (0..LARGE + SMALL).map(Some).collect();
            let x = vec![0.5; groups.len()];
            let reach = reach_of(&fitted, &x, level, Some(&groups)).unwrap();
            let inside = |group: u32| 1.0 - (-reach[group as usize] / Stations::size(group)).exp();
            covered[0].push(inside(0));
            covered[1].push(inside(1));
            // Over the rows of all small groups, each as often as it has rows.
            let rows = |group: u32| Stations::rows_of(group) as f64;
            let all: f64 = (LARGE..LARGE + SMALL).map(rows).sum();
            covered[2].push((LARGE..LARGE + SMALL).map(|g| rows(g) / all * inside(g)).sum());
        }
        for (which, covered) in ["first", "second", "small together"].iter().zip(&covered) {
            let n = covered.len() as f64;
            let mean = covered.iter().sum::<f64>() / n;
            let variance = covered.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let noise = (variance / n).sqrt();
            println!("{which}: {mean:.4} (standard error {noise:.4})");
            // Some 98 errors of small groups: the further place that they need costs 1/98.
            let most = level + if *which == "small together" { 2.0 / 98.0 } else { 1.0 / 201.0 };
            assert!(mean > level - 3.5 * noise, "{which}: {mean}");
            assert!(mean < most + 3.5 * noise, "{which}: {mean}");
        }
    }
}

#[test]
fn groups_never_seen_are_promised_nothing() {
    let fitted = Stations::draw(&mut Pcg64::seed_from_u64(4)).fit(Split::Random, 0);
    let guarantee = fitted.guarantee().unwrap();
    let known = ["station 0", "station 7", "elsewhere"].map(|label| guarantee.group(label));
    assert_eq!(known[2], None);
    let reach = reach_of(&fitted, &[0.5; 3], 0.9, Some(&known)).unwrap();
    assert!(reach[0] > 0.0 && reach[1] > 0.0 && reach[2].is_nan(), "{reach:?}");
}

/// The two large groups have 200 errors each, the small ones about 98.
#[test]
fn what_is_promised_depends_on_the_level_and_the_numbers_of_rows() {
    let fitted = Stations::draw(&mut Pcg64::seed_from_u64(4)).fit(Split::Random, 0);
    let guarantee = fitted.guarantee().unwrap();
    let small = guarantee.rows(None) - 400;
    assert!((96..=100).contains(&small), "{small}");
    let groups = [Some(0), Some(7)];
    // 200 are needed together: the small ones are promised nothing, and the others are not refused.
    assert_eq!([rows_needed(0.995), rows_needed_together(0.995)], [199, 200]);
    let reach = reach_of(&fitted, &[0.5; 2], 0.995, Some(&groups)).unwrap();
    assert!(reach[0] > 0.0 && reach[1].is_nan(), "{reach:?}");
    assert_eq!(guarantee.categories(0.995)[7], Category::Nothing);
    // At 0.997 no group is large enough, and all of them are put together.
    let reach = reach_of(&fitted, &[0.5; 2], 0.997, Some(&groups)).unwrap();
    assert!(reach[0] > 0.0 && reach[0] == reach[1], "{reach:?}");
    // Beyond what all errors can promise nothing is left.
    let refused = reach_of(&fitted, &[0.5; 2], 0.999, Some(&groups)).unwrap_err();
    assert!(matches!(refused, Error::TooFewForLevel { needed: 1000, .. }), "{refused}");
}

#[test]
fn guarantees_saved_in_the_form_of_old_are_read() {
    let fitted = Stations::draw(&mut Pcg64::seed_from_u64(4)).fit(Split::Random, 0);
    let mut json: serde_json::Value = serde_json::from_str(&fitted.to_json().unwrap()).unwrap();
    let part = &mut json["fitted"]["guarantee"]["parts"][0];
    let by_group = part["by_group"].as_array().unwrap().clone();
    let pairs: Vec<(serde_json::Value, usize)> = (by_group.iter().enumerate())
        .flat_map(|(group, sizes)| {
            sizes.as_array().unwrap().iter().map(move |s| (s.clone(), group))
        })
        .collect();
    part.as_object_mut().unwrap().remove("by_group");
    part["scores"] = serde_json::json!(pairs);
    let old = Fitted::from_json(&json.to_string()).unwrap();
    assert_eq!(old.guarantee(), fitted.guarantee());
    json["fitted"]["guarantee"]["parts"][0]["scores"][0][1] = serde_json::json!(4_000_000_000_u32);
    assert!(matches!(Fitted::from_json(&json.to_string()), Err(Error::BadModel { .. })));
}

#[test]
fn one_promise_for_all_is_broken_in_a_group_of_larger_errors() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (x, error, _) = draw(&mut rng, 2000, 2);
    let data = Data::new(&x, 1, &error).unwrap();
    let options = Options::default().kind(Kind::Polynomial).guarantee(Some(Method::Split));
    let fitted = fit(&data, &["x".into()], &options, &Silent).unwrap().fitted;
    assert!(coverage(&fitted, 0.9, 1, false) < 0.86);
    assert!(coverage(&fitted, 0.9, 0, false) > 0.95);
}

#[test]
fn the_cross_method_keeps_about_its_level_and_never_less_than_proven() {
    for rows in [50, 200] {
        let (mean, noise) = over_repetitions(rows, 100, Method::Cross, 1, 0);
        println!("{rows} rows, cross: {mean:.4} (standard error {noise:.4})");
        assert!((0.87..0.95).contains(&mean), "{rows}: {mean}");
    }
}

#[test]
fn too_few_errors_promise_nothing() {
    assert_eq!([0.5, 0.9, 0.95, 0.99].map(rows_needed), [1, 9, 19, 99]);
    let mut rng = Pcg64::seed_from_u64(1);
    let (x, error, _) = draw(&mut rng, 60, 1);
    let data = Data::new(&x, 1, &error).unwrap();
    let of = |guarantee| {
        let options = Options::default().kind(Kind::Constant).guarantee(guarantee);
        fit(&data, &["x".into()], &options, &Silent).unwrap().fitted
    };
    let fitted = of(Some(Method::Split));
    assert!(reach_of(&fitted, &[0.5], 0.95, None).is_ok());
    let refused = reach_of(&fitted, &[0.5], 0.99, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "30 errors cannot promise an interval of 0.99: at least 99 are needed"
    );
    assert!(matches!(reach_of(&of(None), &[0.5], 0.9, None), Err(Error::NoGuarantee)));
}

#[test]
fn it_is_saved_with_the_model() {
    let mut rng = Pcg64::seed_from_u64(2);
    let (x, error, _) = draw(&mut rng, 120, 1);
    let data = Data::new(&x, 1, &error).unwrap();
    for method in [Method::Split, Method::Cross] {
        let options = Options::default().kind(Kind::Polynomial).guarantee(Some(method));
        let fitted = fit(&data, &["x".into()], &options, &Silent).unwrap().fitted;
        let again = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
        let reach = |fitted: &Fitted| reach_of(fitted, &[0.1, 0.9], 0.8, None).unwrap();
        assert_eq!(reach(&again), reach(&fitted));
    }
}

#[test]
fn what_cannot_be_promised_is_refused() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (x, error, rows) = draw(&mut rng, 60, 2);
    let weight: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let try_fit = |data: &Data, method| {
        let options = Options::default().guarantee(Some(method)).kind(Kind::Constant);
        fit(data, &["x".into()], &options, &Silent).map(|_| ())
    };
    let data = Data::new(&x, 1, &error).unwrap();
    let weighted = data.clone().maybe_weighted(Some(&weight)).unwrap();
    assert!(matches!(try_fit(&weighted, Method::Split), Err(Error::WeightedGuarantee)));
    let labels = vec!["a".into(), "b".into()];
    let group = Group { name: "g".into(), labels, rows };
    let grouped = data.clone().grouped(group.clone()).unwrap();
    assert!(matches!(try_fit(&grouped, Method::Cross), Err(Error::CrossGroups)));
    let short = Group { rows: vec![0; 3], ..group.clone() };
    assert!(matches!(data.clone().grouped(short), Err(Error::LengthMismatch { .. })));
    let unknown = Group { rows: vec![7; 60], ..group };
    assert!(matches!(data.grouped(unknown), Err(Error::NoSuchGroup { row: 0, groups: 2 })));
}
