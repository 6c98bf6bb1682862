//! Hour of day, day of week and season are inputs where later rows gain by them, and nowhere else.

use errbar::cycles::Cycle;
use errbar::fit::guarantee::Method;
use errbar::fit::{Fitted, Kind, Options};
use errbar::series::{Series, Span};
use errbar::walk::{self, Backtest, Learned, Refit};
use errbar::{Error, Silent};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::walk::{Table, learning, options};

/// From 2022-01-01 on, a Saturday, so many seconds apart; errors are as large as `size` of the row and its time.
fn drawn(seed: u64, rows: usize, apart: f64, size: impl Fn(usize, f64) -> f64) -> Table {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut table =
        Table { time: vec![], group: None, x: vec![], forecast: vec![], observation: vec![] };
    for row in 0..rows {
        let time = 1_640_995_200.0 + apart * row as f64;
        // A sum of twelve is nearly a Gaussian.
        let noise: f64 = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum();
        let (x, forecast) = (rng.random_range(0.0..1.0), rng.random_range(-5.0..5.0));
        table.time.push(time);
        table.x.push(x);
        table.forecast.push(forecast);
        table.observation.push(forecast + (0.5 + x) * size(row, time) * noise);
    }
    table
}

const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;

/// Three times as large at noon as at midnight.
fn by_hour(_: usize, time: f64) -> f64 {
    2.0 - (std::f64::consts::TAU * time / DAY).cos()
}

fn dates(lags: &[Span]) -> Series {
    let mut series = Series::new("time", Span::Moments(1), lags);
    series.dates = true;
    series
}

fn learn(table: &Table, series: &Series, options: Options) -> Learned {
    let names = ["x".to_string()];
    walk::fit(&learning(table, &names, options), series, &Silent).unwrap()
}

fn taken(table: &Table, series: &Series, options: Options) -> Vec<Cycle> {
    learn(table, series, options).fit.fitted.calendar().to_vec()
}

#[test]
fn what_comes_round_is_found() {
    let week = |_: usize, time: f64| if Cycle::DayOfWeek.place(time) >= 5.0 { 2.5 } else { 1.0 };
    let year = |_: usize, time: f64| 2.0 + (std::f64::consts::TAU * time / (365.25 * DAY)).sin();
    for (table, expected) in [
        (drawn(1, 2000, HOUR, by_hour), vec![Cycle::HourOfDay]),
        (drawn(2, 1500, DAY, week), vec![Cycle::DayOfWeek]),
        (drawn(3, 1500, DAY, year), vec![Cycle::Season]),
        (
            drawn(4, 4000, HOUR, |row, time| by_hour(row, time) * week(row, time)),
            vec![Cycle::HourOfDay, Cycle::DayOfWeek],
        ),
    ] {
        let learned = learn(&table, &dates(&[]), options());
        let fitted = &learned.fit.fitted;
        assert_eq!(fitted.calendar(), expected);
        let worth = learned.calendar.unwrap();
        assert!(worth.gain > 0.01 && worth.gain > 2.0 * worth.standard_error, "{worth:?}");
        let named = fitted.validation().unwrap().importance.iter();
        let named: Vec<&str> = named.map(|one| one.name.as_str()).collect();
        assert!(expected.iter().all(|cycle| named.contains(&cycle.name())), "{named:?}");
        assert_eq!(fitted.table_names(), ["x"]);
        assert_eq!(fitted.called().len(), fitted.names().len());
    }
}

/// By the definition: at noon sigma is near three times that of midnight.
#[test]
fn sigma_follows_the_hour() {
    let table = drawn(1, 3000, HOUR, by_hour);
    let learned = learn(&table, &dates(&[]), options());
    let fitted = &learned.fit.fitted;
    let later = 1_640_995_200.0 + 3000.0 * HOUR;
    let inputs = fitted.with_calendar(&[0.5, 0.5], &[later, later + 12.0 * HOUR]).unwrap();
    let sigma = fitted.predict(&inputs).unwrap().into_sigma();
    assert!((sigma[1] / sigma[0] - 3.0).abs() < 0.6, "{sigma:?}");
    // Where the hour is largest, and where it is least.
    let hour = &fitted.validation().unwrap().importance;
    let hour = hour.iter().find(|one| one.name == "hour of day").unwrap();
    assert!((8.0..16.0).contains(&hour.largest.0), "{hour:?}");
    assert!(!(5.0..19.0).contains(&hour.smallest.0), "{hour:?}");
}

#[test]
fn what_does_not_come_round_is_not() {
    for (seed, apart) in [(1, HOUR), (2, HOUR), (3, DAY), (4, DAY), (5, 7.0 * HOUR)] {
        let table = drawn(seed, 1500, apart, |_, _| 1.0);
        assert_eq!(taken(&table, &dates(&[]), options()), [], "{seed}");
    }
    // It did, in the first half only.
    let gone = |row: usize, time: f64| if row < 1000 { by_hour(row, time) } else { 2.0 };
    assert_eq!(taken(&drawn(6, 2000, HOUR, gone), &dates(&[]), options()), []);
}

/// Numbers have no calendar; those who want none get none, and the file that they got before.
#[test]
fn nothing_is_taken_where_it_is_not_wanted() {
    let table = drawn(1, 1000, HOUR, by_hour);
    assert_eq!(taken(&table, &dates(&[]), options()), [Cycle::HourOfDay]);
    assert_eq!(taken(&table, &dates(&[]), options().calendar(false)), []);
    assert_eq!(taken(&table, &dates(&[]), options().validation(0.0)), []);
    let numbers = Series::new("time", Span::Moments(1), &[]);
    let fitted = learn(&table, &numbers, options()).fit.fitted;
    assert_eq!(fitted.calendar(), []);
    assert!(!fitted.to_json().unwrap().contains("calendar"));
    // A table that has such an input already keeps its own.
    let names = ["hour_of_day_sin".to_string()];
    let learned = walk::fit(&learning(&table, &names, options()), &dates(&[]), &Silent).unwrap();
    assert_eq!(learned.fit.fitted.calendar(), []);
}

/// One sigma for all rows has no use for it, unless forecasts are moved.
#[test]
fn a_bias_by_the_hour_is_taken_off() {
    let mut table = drawn(1, 2000, HOUR, |_, _| 1.0);
    let moved = table.time.iter().map(|time| (std::f64::consts::TAU * time / DAY).sin());
    table.observation.iter_mut().zip(moved).for_each(|(y, moved)| *y += moved);
    let constant = options().kind(Kind::Constant);
    assert_eq!(taken(&table, &dates(&[]), constant), [Cycle::HourOfDay]);
    let names = ["x".to_string()];
    let still = walk::Learning { debias_if_it_pays: false, ..learning(&table, &names, constant) };
    let learned = walk::fit(&still, &dates(&[]), &Silent).unwrap();
    assert_eq!(learned.fit.fitted.calendar(), []);
}

#[test]
fn threads_choose_nothing() {
    let table = drawn(1, 1500, HOUR, by_hour);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn(&table, &dates(&[]), options()).fit.fitted.to_json().unwrap())
    };
    assert_eq!(with(1), with(4));
}

/// Read again, a model is the same, and one that was tampered with is refused.
#[test]
fn the_file_knows_its_calendar() {
    let table = drawn(1, 1000, HOUR, by_hour);
    for lags in [&[][..], &[Span::Moments(1)]] {
        let mut table = table.clone();
        // Earlier errors help.
        for row in 1..table.time.len() {
            table.observation[row] += 0.8 * (table.observation[row - 1] - table.forecast[row - 1]);
        }
        let fitted = learn(&table, &dates(lags), options()).fit.fitted;
        assert_eq!((fitted.calendar(), fitted.lags()), (&[Cycle::HourOfDay][..], lags));
        let json = fitted.to_json().unwrap();
        assert!(
            json.contains("\"calendar\"]") || json.contains("\"calendar\",\""),
            "{}",
            &json[..200]
        );
        let read = Fitted::from_json(&json).unwrap();
        assert_eq!(read.to_json().unwrap(), json);
        let (one, other) =
            (read.follow(&table.rows()).unwrap(), fitted.follow(&table.rows()).unwrap());
        assert_eq!(one.bends, other.bends);
        for (from, to) in [
            ("[\"hour_of_day\"]", "[\"season\"]"),
            ("[\"hour_of_day\"]", "[\"hour_of_day\",\"season\"]"),
            ("hour_of_day_cos", "hour_of_day_tan"),
        ] {
            let error = Fitted::from_json(&json.replacen(from, to, 1)).unwrap_err();
            assert!(matches!(error, Error::BadModel { .. }), "{error}");
        }
    }
}

/// What is said of rows as they come is what the model says of their times; what is told later moves it.
#[test]
fn rows_are_followed_with_their_times() {
    let table = drawn(1, 2000, HOUR, by_hour);
    let known = table.pick(|row| row < 1500);
    let later = table.pick(|row| row >= 1500);
    let fitted = learn(&known, &dates(&[]), options()).fit.fitted;
    let unseen = Table { observation: vec![f64::NAN; 500], ..later.clone() };
    let followed = fitted.follow(&unseen.rows()).unwrap();
    let inputs = fitted.with_calendar(&later.x, &later.time).unwrap();
    assert_eq!(followed.inputs, inputs);
    let sigma = fitted.predict(&inputs).unwrap().into_sigma();
    let mut said = vec![0.0; 500];
    let each = followed.each_model(&fitted, &unseen.rows(), |rows, _, bent| {
        rows.iter().zip(bent.sigma()).for_each(|(&row, sigma)| said[row] = *sigma);
        Ok(())
    });
    each.unwrap();
    assert_eq!(said, sigma);
    let updated = walk::update(&fitted, &later.rows(), false).unwrap();
    assert_eq!(updated.taken, 500);
    assert!(updated.state.is_fine(), "{:?}", updated.state);
    let error = fitted.with_calendar(&later.x, &later.time[1..]).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { .. }), "{error}");
}

/// Rows that a guarantee is read off choose nothing: the hour matters in them alone.
#[test]
fn a_guarantee_keeps_its_rows_to_itself() {
    let late = |row: usize, time: f64| if row >= 1000 { by_hour(row, time) } else { 2.0 };
    let table = drawn(1, 2000, HOUR, late);
    let guarantee = options().guarantee(Some(Method::Split));
    assert_eq!(taken(&table, &dates(&[]), guarantee), []);
    assert_eq!(taken(&drawn(1, 4000, HOUR, by_hour), &dates(&[]), guarantee), [Cycle::HourOfDay]);
}

/// A walk with the hour does better, and what it says of a row depends on nothing after it.
#[test]
fn a_walk_gains_and_looks_at_nothing_ahead() {
    let table = drawn(1, 1600, HOUR, by_hour);
    let names = ["x".to_string()];
    let how = Backtest {
        start: table.time[1200],
        refit: Refit::Rows(150),
        levels: &[0.9],
        guarantee: &[],
    };
    let walked = |table: &Table, options: Options| {
        walk::backtest(&learning(table, &names, options), &dates(&[]), &how, &Silent).unwrap()
    };
    let with = walked(&table, options());
    assert_eq!(with.fitted.calendar(), [Cycle::HourOfDay]);
    let mean = |walk: &walk::Walk| walk.rows.iter().map(|row| row.crps[0]).sum::<f64>();
    let without = walked(&table, options().calendar(false));
    assert!(mean(&with) < 0.98 * mean(&without));
    let cut = walked(&table.pick(|row| row < 1400), options());
    let same = |(one, other): (&walk::Walked, &walk::Walked)| {
        (one.sigma, one.forecast) == (other.sigma, other.forecast)
    };
    assert!(cut.rows.iter().zip(&with.rows).all(same));
}
