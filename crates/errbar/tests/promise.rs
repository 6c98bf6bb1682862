//! Guaranteed intervals whose share is kept right: what is proven of them holds against whoever makes the errors.

use errbar::adapt::promise::{Keeping, Promise};
use errbar::fit::guarantee::Method;
use errbar::fit::{Fitted, Kind, LawKind, Options, Rows};
use errbar::series::{Series, Span};
use errbar::walk::{self, Backtest, Kept, Refit};
use errbar::{Error, Group, Silent};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::walk::{Table, learn_with, learning, options};

/// Sizes 1, 2, ..., 99.
fn reach(level: f64) -> f64 {
    match (100.0 * level - 1e-9).ceil() {
        size if size <= 0.0 => 0.0,
        size if size > 99.0 => f64::INFINITY,
        size => size,
    }
}

/// Whoever chooses errors, knowing the interval and the level that it is read off.
#[derive(Debug, Clone, Copy)]
enum Adversary {
    /// Just outside, whenever there is an outside.
    Misses,
    /// Always inside.
    Holds,
    /// Inside until the level is as low as it gets, outside until it is as high, and so on.
    Swings,
    /// Outside with some probability, which changes now and then.
    Random,
}

/// Rows of one moment each, or of several, known so many moments later.
struct Course {
    adversary: Adversary,
    rows: usize,
    per_moment: usize,
    delay: usize,
    seed: u64,
}

/// Looks at the keeping after every row.
fn run(promise: &Promise, course: &Course, mut look: impl FnMut(&Keeping)) {
    let mut rng = Pcg64::seed_from_u64(course.seed);
    let mut keeping = Keeping::new(promise);
    let (mut down, mut share) = (true, 0.3);
    for row in 0..course.rows {
        let moment = row / course.per_moment;
        keeping.know(moment as f64 - course.delay as f64);
        let level = keeping.reads(promise, 0);
        let size = reach(level);
        let outside = match course.adversary {
            Adversary::Misses => true,
            Adversary::Holds => false,
            Adversary::Swings => {
                down = if down { level > 0.0 } else { level >= 1.0 };
                !down
            }
            Adversary::Random => {
                if rng.random::<f64>() < 0.01 {
                    share = rng.random();
                }
                rng.random::<f64>() < share
            }
        };
        // Not the middle itself, which intervals of no size hold.
        let q = if outside && size.is_finite() { size + 0.5 } else { 1e-9 };
        keeping.observe(promise, moment as f64, q, |_, level| reach(level));
        look(&keeping);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The level stays where it is proven to stay, and the share with it, after every single row.
    #[test]
    fn no_adversary_breaks_what_is_proven(
        level in 0.02f64..0.995,
        usual in 0usize..60,
        adversary in prop_oneof![
            Just(Adversary::Misses), Just(Adversary::Holds), Just(Adversary::Swings), Just(Adversary::Random)
        ],
        rows in 1usize..2500,
        per_moment in 1usize..6,
        delay in 1usize..40,
        seed in 0u64..1000,
    ) {
        let promise = Promise::new(&[level], usual).unwrap();
        let course = Course { adversary, rows, per_moment, delay, seed };
        // Those of earlier moments that are not known yet, and those of its own before it.
        let most = (delay * per_moment - 1) as u64;
        let step = (1.0 - level) / (20.0 + usual as f64);
        let mut after = 0;
        run(&promise, &course, |keeping| {
            after += 1;
            let waited = keeping.waited();
            assert!(waited <= most.min(after));
            let reads = keeping.reads(&promise, 0);
            let (down, up) = ((waited + 1) as f64 * (1.0 - level), (waited + 1) as f64 * level);
            assert!(-step * down < reads + 1e-9 && reads < 1.0 + step * up + 1e-9, "{reads}");
            // As if the walk ended here.
            let mut ended = keeping.clone();
            ended.know(f64::INFINITY);
            let rows = ended.rows(0);
            assert_eq!(rows, after);
            let share = ended.held(0) as f64 / rows as f64;
            let (least, most) =
                (promise.at_least(0, rows, waited), promise.at_most(0, rows, waited));
            assert!((least - 1e-12..=most + 1e-12).contains(&share), "{share} of {rows}");
        });
    }
}

/// The recursion of the paper, with each outcome applied when it is known.
#[test]
fn the_level_is_that_of_the_paper() {
    for (seed, delay) in [(1, 1), (2, 7), (3, 30)] {
        let promise = Promise::new(&[0.9, 0.6], delay - 1).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed);
        let (mut keeping, mut alpha) = (Keeping::new(&promise), [0.4, 0.1]);
        let mut missed: Vec<[f64; 2]> = Vec::new();
        for row in 0..2000usize {
            if let Some(known) = row.checked_sub(delay) {
                let gamma = [0.4, 0.1].map(|target| target / (19.0 + delay as f64));
                alpha = [0, 1].map(|k| alpha[k] + gamma[k] * ([0.4, 0.1][k] - missed[known][k]));
            }
            keeping.know(row as f64 - delay as f64);
            for (k, alpha) in alpha.iter().enumerate() {
                assert!((1.0 - alpha - keeping.reads(&promise, k)).abs() < 1e-9, "{row}");
            }
            let size = 60.0 * (1.0 + (row as f64 / 150.0).sin()) * rng.random::<f64>() + 1.0;
            let miss = |alpha: f64| f64::from(size > reach(1.0 - alpha));
            missed.push(alpha.map(miss));
            keeping.observe(&promise, row as f64, -size, |_, level| reach(level));
        }
    }
}

/// What is proven is nearly reached: with less than that an adversary would win.
#[test]
fn what_is_proven_is_tight() {
    for (level, delay) in [(0.9, 1), (0.9, 20), (0.5, 5), (0.8, 3)] {
        let promise = Promise::new(&[level], 0).unwrap();
        let course =
            Course { adversary: Adversary::Misses, rows: 3000, per_moment: 1, delay, seed: 0 };
        let mut short = 0.0f64;
        run(&promise, &course, |keeping| {
            let (rows, held) = (keeping.rows(0) as f64, keeping.held(0) as f64);
            short = short.max(level * rows - held);
        });
        // 20 rows of memory, and the rows that wait; sizes end at 0.99 already.
        let proven = 20.0 + delay as f64 * level;
        assert!(short <= proven && short > proven - 3.0, "{level} {delay}: {short} of {proven}");
    }
}

/// Levels that cannot be kept are refused, and those that are not kept are named.
#[test]
fn levels_are_checked() {
    assert!(matches!(Promise::new(&[0.9, 1.0], 0), Err(Error::NotAProbability { .. })));
    assert!(matches!(Promise::new(&[0.9, 0.5, 0.9], 0), Err(Error::LevelTwice { .. })));
    assert!(Promise::new(&[], 0).is_err());
    let promise = Promise::new(&[0.9, 0.5], 0).unwrap();
    assert_eq!((promise.levels(), promise.place(0.9)), (&[0.5, 0.9][..], Ok(1)));
    let error = promise.place(0.8).unwrap_err().to_string();
    assert!(error.contains("at 0.8") && error.contains("0.5, 0.9"), "{error}");
    let table = Table::draw(1, 100, 0, 0.0, 0.0);
    let names = ["x".to_string()];
    let series = Series::new("time", Span::Moments(1), &[]);
    for (method, levels, needed) in [(None, &[0.5][..], 0), (Some(Method::Split), &[0.5, 0.99], 99)]
    {
        let options = options().guarantee(method);
        let learning = walk::Learning { promised: levels, ..learning(&table, &names, options) };
        match walk::fit(&learning, &series, &Silent) {
            Err(Error::GuaranteeWithoutSplit) => assert_eq!(needed, 0),
            Err(Error::TooFewForLevel { needed: rows, .. }) => assert_eq!(rows, needed),
            other => panic!("{other:?}"),
        }
    }
    // Of the usual levels those that can be.
    let fitted = learn_with(&table, &series, options().guarantee(Some(Method::Split)));
    assert_eq!(fitted.promise().unwrap().levels(), [0.5, 0.8, 0.9, 0.95]);
    let cross = learn_with(&table, &series, options().guarantee(Some(Method::Cross)));
    assert!(cross.promise().is_none());
}

/// Before anything is observed guaranteed intervals are those that were promised, to the bit.
#[test]
fn nothing_moves_before_anything_is_observed() {
    for groups in [0, 3] {
        let table = Table::draw(5, 400, groups, 0.3, 0.0);
        let series = Series::new("time", Span::Moments(2), &[]);
        for law in [LawKind::Auto, LawKind::Normal] {
            let options = options().law(law).guarantee(Some(Method::Split));
            let fitted = learn_with(&table, &series, options);
            let fitted = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
            let mut next = table.pick(|row| row >= 380);
            next.time.iter_mut().for_each(|time| *time += 1e4);
            next.observation.fill(f64::NAN);
            let followed = fitted.follow(&next.rows()).unwrap();
            for level in fitted.promise().unwrap().levels() {
                followed
                    .each_model(&fitted, &next.rows(), |_, still, kept| {
                        assert_eq!(still.guaranteed(*level)?, kept.guaranteed(*level)?);
                        Ok(())
                    })
                    .unwrap();
            }
        }
    }
}

/// Of rows in time the latest of each group are kept from the model: errors grow tenfold in the second half,
/// so that intervals read off any others would be too narrow.
#[test]
fn calibration_takes_the_latest_rows_of_each_group() {
    let mut table = Table::draw(6, 400, 2, 0.0, 0.0);
    let mut rng = Pcg64::seed_from_u64(1);
    let labels = table.group.as_ref().unwrap().rows.clone();
    let count = |group: u32, to: usize| labels[..to].iter().filter(|own| **own == group).count();
    for (row, &group) in labels.iter().enumerate() {
        let late = 2 * count(group, row) >= count(group, 400);
        let size = if late { 10.0 } else { 1.0 };
        table.observation[row] = table.forecast[row] + size * rng.random_range(-1.0..1.0);
    }
    // As they come in a file.
    let mut order: Vec<usize> = (0..400).collect();
    order.sort_by_key(|row| (row * 7919) % 400);
    let of = |values: &[f64]| order.iter().map(|&row| values[row]).collect::<Vec<f64>>();
    let shuffled = Table {
        time: of(&table.time),
        group: table
            .group
            .clone()
            .map(|group| Group { rows: order.iter().map(|&row| labels[row]).collect(), ..group }),
        x: of(&table.x),
        forecast: of(&table.forecast),
        observation: of(&table.observation),
    };
    let options = options().kind(Kind::Constant).guarantee(Some(Method::Split));
    let fitted = learn_with(&shuffled, &Series::new("time", Span::Moments(1), &[]), options);
    for group in [0, 1] {
        let groups = [Some(group)];
        let said = fitted.predict(Rows::new(&[0.5]).with_group(&groups)).unwrap();
        let (low, high) = said.guaranteed_errors(0.9).unwrap();
        assert!(said.sigma()[0] < 1.0, "{:?}", said.sigma());
        assert!(
            (7.0..10.5).contains(&high[0]) && (-10.5..-7.0).contains(&low[0]),
            "{low:?} {high:?}"
        );
    }
}

/// What is counted is what the intervals that were said held, in each kind of walk, and it is within what is
/// proven.
#[test]
fn what_is_counted_is_what_was_held() {
    let levels = [0.5, 0.8, 0.9];
    let cases: [(usize, Span, usize, Refit, bool); 6] = [
        (0, Span::Moments(1), 0, Refit::Never, false),
        (0, Span::Moments(12), 0, Refit::Never, false),
        (2, Span::Moments(2), 2, Refit::Never, false),
        (0, Span::Moments(1), 0, Refit::Never, true),
        (2, Span::Time(4.0), 0, Refit::Rows(150), false),
        (3, Span::Moments(1), 1, Refit::Growth(0.3), false),
    ];
    for (groups, delay, lags, refit, bounded) in cases {
        let mut table = Table::draw(11, 900, groups, 0.2, 0.1);
        for row in 0..900 {
            // Errors grow, and some observations lie at the least that there can be.
            let grown = 1.0 + 2.0 * (row as f64 / 900.0);
            let (y, at) = (table.observation[row], table.forecast[row]);
            table.observation[row] = at + grown * (y - at);
            if bounded && !y.is_nan() {
                table.observation[row] = table.observation[row].max(0.0);
            }
        }
        let lags: Vec<Span> = (0..lags).map(|k| Span::Moments(13 + k as u32)).collect();
        let series = Series::new("time", delay, &lags);
        let names = ["x".to_string()];
        let lower = bounded.then_some(0.0);
        let told = options().bounds(errbar::law::Bounds::new(lower, None).unwrap());
        let learning = learning(&table, &names, told);
        let start = table.time[400];
        let how = Backtest { start, refit, levels: &[], guarantee: &levels };
        let walked = walk::backtest(&learning, &series, &how, &Silent).unwrap();
        for (nth, kept) in walked.kept.iter().enumerate() {
            let ends =
                walked.rows.iter().map(|one| (table.observation[one.row], one.guaranteed[nth]));
            let seen: Vec<_> = ends.filter(|(y, (low, _))| !y.is_nan() && !low.is_nan()).collect();
            let held = seen.iter().filter(|(y, (low, high))| low <= y && y <= high).count();
            let unbounded = seen.iter().filter(|(_, (_, high))| high.is_infinite()).count();
            assert_eq!(
                (kept.level, kept.rows, kept.held, kept.unbounded),
                (levels[nth], seen.len() as u64, held as u64, unbounded as u64),
                "{groups} {delay} {refit:?} {bounded}"
            );
            let (least, most) = kept.proven;
            assert!((least..=most).contains(&kept.share()), "{kept:?}");
            assert_eq!(kept.groups, groups.max(1));
        }
    }
}

/// The same where the skew of errors turns with the input, so that rows have laws of their own; and of errors that
/// grow the share is kept where they lean to the left and where they lean to the right.
#[test]
fn what_is_counted_is_what_was_held_where_a_skew_turns() {
    let mut table = Table::draw(12, 5000, 0, 0.0, 0.0);
    let mut rng = Pcg64::seed_from_u64(5);
    let least = table.x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = table.x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for row in 0..5000 {
        let skew = 4.0 * (table.x[row] - least) / (most - least) - 2.0;
        let law = errbar::law::Law::new(errbar::law::Base::Normal, 0.0, 1.0, skew.exp());
        let law = law.with_mean(0.0).around(0.0, 1.0 / law.standard_deviation());
        let size = if row < 4200 { 1.0 } else { 2.0 };
        table.observation[row] = table.forecast[row] + size * law.quantile(rng.random());
    }
    let series = Series::new("time", Span::Moments(1), &[]);
    let options = options().kind(Kind::Constant).law(LawKind::Auto).guarantee(Some(Method::Split));
    let known = table.pick(|row| row < 4000);
    let fitted = learn_with(&known, &series, options);
    assert!(fitted.shape().unwrap().turning().is_some());
    let new = table.pick(|row| row >= 4000);
    let followed = fitted.follow(&new.rows()).unwrap();
    let mut held = [0; 3];
    let count = |rows: &[usize], _: &errbar::fit::Forecasts, kept: &errbar::fit::Forecasts| {
        let (low, high) = kept.guaranteed(0.8)?;
        for (k, row) in rows.iter().enumerate() {
            let y = new.observation[*row];
            held[0] += usize::from(low[k] <= y && y <= high[k]);
            held[1] += usize::from(y < low[k]);
            held[2] += usize::from(y > high[k]);
        }
        Ok(())
    };
    followed.each_model(&fitted, &new.rows(), count).unwrap();
    let knows = fitted.with_series(followed.series.clone());
    let again = Fitted::from_json(&knows.to_json().unwrap()).unwrap();
    for model in [&knows, &again] {
        let kept = Kept::of(model, model.series().unwrap());
        let kept = kept.iter().find(|kept| kept.level == 0.8).unwrap();
        assert_eq!((kept.rows, kept.held), (1000, held[0] as u64));
        assert!((kept.share() - 0.8).abs() < 0.02, "{}", kept.share());
    }
    assert!(held[1].abs_diff(held[2]) < 60, "{held:?}");
}

/// Errors that double: intervals as they were promised hold too few, those that are kept right hold their share,
/// and those of a level that is not kept are refused.
#[test]
fn the_share_is_kept_where_errors_grow() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut table = Table::draw(8, 3000, 0, 0.0, 0.0);
    for row in 0..3000 {
        let size = if row < 1000 { 1.0 } else { 2.0 };
        let q = errbar::law::Base::Normal.quantile(rng.random_range(1e-9..1.0));
        table.observation[row] = table.forecast[row] + size * q;
    }
    let known = table.pick(|row| row < 1000);
    let series = Series::new("time", Span::Moments(1), &[]);
    let options = options().kind(Kind::Constant).guarantee(Some(Method::Split));
    let fitted = learn_with(&known, &series, options);
    let new = table.pick(|row| row >= 1000);
    let still = fitted.predict(Rows::new(&new.x).with_forecast(&new.forecast)).unwrap();
    let (low, high) = still.guaranteed(0.9).unwrap();
    let held = (0..2000).filter(|&k| low[k] <= new.observation[k] && new.observation[k] <= high[k]);
    // 2 times the size of 1.645 holds what 0.82 holds.
    assert!((0.54..0.64).contains(&(held.count() as f64 / 2000.0)));
    let updated = walk::update(&fitted, &new.rows(), false).unwrap();
    let at = |level: f64| updated.kept.iter().find(|kept| kept.level == level).unwrap();
    assert!((at(0.9).share() - 0.9).abs() < 0.005 && at(0.9).rows == 2000, "{:?}", at(0.9));
    assert!((at(0.5).share() - 0.5).abs() < 0.01);
    assert_eq!(at(0.9).proven.0, 0.9 - 20.9 / 2000.0);
    let knows = fitted.clone().with_series(updated.series);
    assert_eq!(Kept::of(&knows, knows.series().unwrap()), updated.kept);
    let next = Table { time: vec![1e6], ..new.pick(|row| row == 0) };
    let followed = knows.follow(&next.rows()).unwrap();
    let mut asked = Vec::new();
    let each = |_: &[usize], _: &errbar::fit::Forecasts, kept: &errbar::fit::Forecasts| {
        if !kept.is_empty() {
            asked.push((kept.guaranteed(0.9), kept.guaranteed(0.7)));
        }
        Ok(())
    };
    followed.each_model(&knows, &next.rows(), each).unwrap();
    let (kept, other) = &asked[0];
    let (low, high) = kept.as_ref().unwrap();
    assert!((5.0..8.5).contains(&(high[0] - low[0])), "{low:?} {high:?}");
    assert!(matches!(other, Err(Error::LevelNotKept { .. })));
}

/// Errors beyond all that the model was calibrated on: "unbounded" is said, and held.
#[test]
fn what_cannot_be_bounded_is_said() {
    let mut table = Table::draw(8, 400, 0, 0.0, 0.0);
    for row in 200..400 {
        // Each is ten times as large as the one before, until doubles end.
        table.observation[row] = table.forecast[row] + 10f64.powi((row - 200).min(290) as i32);
    }
    let series = Series::new("time", Span::Moments(1), &[]);
    let known = table.pick(|row| row < 200);
    let fitted = learn_with(&known, &series, options().guarantee(Some(Method::Split)));
    let updated = walk::update(&fitted, &table.pick(|row| row >= 200).rows(), false).unwrap();
    for kept in &updated.kept {
        assert!(kept.unbounded > 0 && kept.share() >= kept.proven.0, "{kept:?}");
        assert!(kept.unbounded as f64 >= 200.0 * kept.proven.0, "{kept:?}");
    }
    let text = fitted.with_series(updated.series).to_json().unwrap();
    assert!(Fitted::from_json(&text).is_ok());
    // No rows can have led to these numbers.
    let place = text.find("\"keeping\":{\"counts\":[[").unwrap() + 22;
    let end = place + text[place..].find(']').unwrap();
    let numbers: Vec<u64> = text[place..end].split(',').map(|n| n.parse().unwrap()).collect();
    let wrong: [fn(&mut Vec<u64>); 5] = [
        |n| n[1] = n[0] + 1,
        |n| n[1] = 0,
        |n| n[2] = n[0] + 1000,
        |n| n[3] = n[2] + 1,
        |n| n[0] = 1 << 60,
    ];
    for change in wrong {
        let mut numbers = numbers.clone();
        change(&mut numbers);
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let text = format!("{}{}{}", &text[..place], numbers.join(","), &text[end..]);
        let refused = Fitted::from_json(&text).unwrap_err().to_string();
        assert!(refused.contains("does not fit together"), "{refused}");
    }
}

/// A group that is new to the model is promised nothing, and does not count.
#[test]
fn strangers_are_promised_nothing() {
    let table = Table::draw(2, 500, 3, 0.2, 0.0);
    let group = table.group.clone().unwrap();
    let known = table.pick(|row| row < 300 && group.rows[row] < 2);
    let series = Series::new("time", Span::Moments(1), &[]);
    let fitted = learn_with(&known, &series, options().guarantee(Some(Method::Split)));
    let new = table.pick(|row| row >= 300);
    let updated = walk::update(&fitted, &new.rows(), false).unwrap();
    let of_known = (300..500).filter(|&row| group.rows[row] < 2).count();
    assert_eq!(updated.taken, 200);
    assert!(updated.kept.iter().all(|kept| kept.rows == of_known as u64 && kept.groups == 2));
    let knows = fitted.with_series(updated.series);
    let knows = Fitted::from_json(&knows.to_json().unwrap()).unwrap();
    let mut next = table.pick(|row| (490..500).contains(&row));
    next.time.iter_mut().for_each(|time| *time += 100.0);
    let asked = next.group.clone().unwrap();
    let followed = knows.follow(&next.rows()).unwrap();
    let check = |rows: &[usize], _: &errbar::fit::Forecasts, kept: &errbar::fit::Forecasts| {
        if !rows.is_empty() {
            let (low, _) = kept.guaranteed(0.8)?;
            for (row, low) in rows.iter().zip(low) {
                assert_eq!(low.is_nan(), asked.rows[*row] == 2);
            }
        }
        Ok(())
    };
    followed.each_model(&knows, &next.rows(), check).unwrap();
}

/// A model that no level can be promised of, for want of rows, keeps none.
#[test]
fn few_rows_keep_few_levels() {
    let table = Table::draw(2, 24, 0, 0.0, 0.0);
    let series = Series::new("time", Span::Moments(1), &[]);
    let options: Options = options().kind(Kind::Constant).guarantee(Some(Method::Split));
    let fitted = learn_with(&table, &series, options);
    assert_eq!(fitted.promise().unwrap().levels(), [0.5, 0.8, 0.9]);
}
