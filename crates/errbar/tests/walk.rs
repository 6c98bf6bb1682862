//! Walking forward: nothing is known before its time, and what is remembered is what was seen.

use errbar::fit::guarantee::Method;
use errbar::fit::{Fitted, Kind, LawKind, Options};
use errbar::series::{Clock, Lagged, Series, Span, lagged};
use errbar::walk::{self, Backtest, Kept, Late, Learning, Refit, SeriesRows, Walked};
use errbar::{Group, Silent};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A table in time, some of it unobserved.
#[derive(Debug, Clone)]
pub struct Table {
    pub time: Vec<f64>,
    pub group: Option<Group>,
    pub x: Vec<f64>,
    pub forecast: Vec<f64>,
    pub observation: Vec<f64>,
}

impl Table {
    pub fn draw(seed: u64, rows: usize, groups: usize, ties: f64, gaps: f64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut time = 0.0;
        let mut last = vec![0.0; groups.max(1)];
        let mut table =
            Self { time: vec![], group: None, x: vec![], forecast: vec![], observation: vec![] };
        let mut of_rows = Vec::new();
        for _ in 0..rows {
            if rng.random::<f64>() >= ties {
                time += f64::from(rng.random_range(1..3));
            }
            let group = rng.random_range(0..groups.max(1));
            let x: f64 = rng.random_range(0.0..1.0);
            let error = 0.7 * last[group] + (0.2 + x) * rng.random_range(-1.0..1.0);
            last[group] = error;
            let forecast = rng.random_range(-5.0..5.0);
            let seen = rng.random::<f64>() >= gaps;
            table.time.push(time);
            table.x.push(x);
            table.forecast.push(forecast);
            table.observation.push(if seen { forecast + error } else { f64::NAN });
            of_rows.push(group as u32);
        }
        let labels = (0..groups).map(|group| format!("station {group}")).collect();
        table.group = (groups > 0).then(|| Group { name: "station".into(), labels, rows: of_rows });
        table
    }

    pub fn rows(&self) -> SeriesRows<'_> {
        SeriesRows {
            time: &self.time,
            group: self.group.as_ref(),
            inputs: &self.x,
            forecast: Some(&self.forecast),
            observation: &self.observation,
            prior: None,
        }
    }

    /// Some of the rows.
    pub fn pick(&self, which: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.time.len()).filter(|&row| which(row)).collect();
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        Self {
            time: of(&self.time),
            group: self.group.clone().map(|group| Group {
                rows: rows.iter().map(|&row| group.rows[row]).collect(),
                ..group
            }),
            x: of(&self.x),
            forecast: of(&self.forecast),
            observation: of(&self.observation),
        }
    }
}

pub fn options() -> Options {
    Options::default().kind(Kind::Polynomial).law(LawKind::Normal)
}

/// What is learned from a table.
pub fn learning<'a>(table: &'a Table, names: &'a [String], options: Options) -> Learning<'a> {
    let (rows, weight, promised) = (table.rows(), None, &[]);
    let (debias_if_it_pays, follow_held_out) = (true, false);
    let categories = &[];
    Learning {
        rows,
        names,
        categories,
        weight,
        options,
        debias_if_it_pays,
        follow_held_out,
        promised,
    }
}

fn walk(
    table: &Table,
    series: &Series,
    (start, refit): (f64, Refit),
    guarantee: &[f64],
) -> errbar::Result<Vec<Walked>> {
    let names = ["x".to_string()];
    let learning = learning(table, &names, options());
    let how = Backtest { start, refit, levels: &[0.5, 0.9], guarantee };
    Ok(walk::backtest(&learning, series, &how, &Silent)?.rows)
}

fn learn(table: &Table, series: &Series) -> Fitted {
    learn_with(table, series, options())
}

pub fn learn_with(table: &Table, series: &Series, options: Options) -> Fitted {
    let names = ["x".to_string()];
    let learning = learning(table, &names, options);
    walk::fit(&learning, series, &Silent).unwrap().fit.fitted
}

/// What was said of a row before anything of it was observed, to the bit.
fn said(walked: &Walked) -> Vec<u64> {
    let Walked { forecast, sigma, intervals, guaranteed, still_guaranteed, still_sigma, .. } =
        walked;
    let ends = [intervals, guaranteed, still_guaranteed];
    let ends = ends.into_iter().flatten().flat_map(|(low, high)| [*low, *high]);
    [*forecast, *sigma, *still_sigma].into_iter().chain(ends).map(f64::to_bits).collect()
}

fn delays() -> impl Strategy<Value = Span> {
    prop_oneof![(1u32..6).prop_map(Span::Moments), (0.5f64..6.0).prop_map(Span::Time)]
}

fn refits() -> impl Strategy<Value = Refit> {
    prop_oneof![
        Just(Refit::Never),
        (5usize..40).prop_map(Refit::Rows),
        (10.0f64..60.0).prop_map(Refit::Time),
        (0.1f64..0.5).prop_map(Refit::Growth),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The forecast columns of a row do not change with any observation that is known later than its time, nor
    /// with any column of later rows, nor when later rows are cut off.
    #[test]
    fn nothing_leaks_from_the_future(
        seed in 0u64..1000,
        groups in 0usize..3,
        ties in prop_oneof![Just(0.0), Just(0.5)],
        delay in delays(),
        lags in 0usize..3,
        refit in refits(),
        guarantee in prop_oneof![Just(&[][..]), Just(&[0.5, 0.8][..])],
        at in 0.05f64..0.95,
    ) {
        let table = Table::draw(seed, 150, groups, ties, 0.1);
        let lags: Vec<Span> = match delay {
            Span::Moments(moments) => (0..lags as u32).map(|k| Span::Moments(moments + k)).collect(),
            Span::Time(_) => (1..=lags as u32).map(|k| Span::Moments(3 + k)).collect(),
        };
        let series = Series::new("time", delay, &lags);
        let start = (table.time[90], refit);
        let Ok(whole) = walk(&table, &series, start, guarantee) else { return Ok(()) };
        let asked = whole[(at * whole.len() as f64) as usize].row;
        let now = table.time[asked];
        let known = Clock::new(delay, table.time.iter().copied()).known(now);
        let mut other = table.clone();
        for row in 0..table.time.len() {
            if table.time[row] > known {
                other.observation[row] = 3.0 * table.observation[row] - 7.0;
            }
            if table.time[row] > now {
                other.x[row] = 1.0 - table.x[row];
                other.forecast[row] += 2.0;
            }
        }
        let changed = walk(&other, &series, start, guarantee).unwrap();
        let cut = table.pick(|row| table.time[row] <= now);
        let cut = walk(&cut, &series, start, guarantee).unwrap();
        let mut compared = 0;
        for (k, before) in whole.iter().enumerate().filter(|(_, w)| table.time[w.row] <= now) {
            prop_assert_eq!(said(before), said(&changed[k]), "changed, row {}", before.row);
            prop_assert_eq!(said(before), said(&cut[k]), "cut, row {}", before.row);
            compared += 1;
        }
        prop_assert!(compared > 0);
    }

    /// Rows taken one by one, some at a time or all at once are remembered alike, and what is said of
    /// later rows is what a walk over all of them says.
    #[test]
    fn updates_are_remembered_however_they_come(
        seed in 0u64..1000,
        groups in 0usize..3,
        delay in delays(),
        lags in 0usize..2,
    ) {
        let table = Table::draw(seed, 420, groups, 0.2, 0.0);
        let lags = vec![Span::Moments(7); lags];
        let from = table.time[120];
        let fitted = learn_with(
            &table.pick(|row| table.time[row] < from),
            &Series::new("time", delay, &lags),
            options().guarantee(Some(Method::Split)),
        );
        let levels = fitted.promise().unwrap().levels().len();
        let new = table.pick(|row| table.time[row] >= from);
        let followed = fitted.follow(&new.rows()).unwrap();
        let one_by_one = {
            let mut fitted = fitted.clone();
            let mut row = 0;
            while row < new.time.len() {
                let now = new.time[row];
                // What is said now, of all rows of the moment.
                let moment = new.pick(|row| new.time[row] == now);
                let told = fitted.follow(&moment.rows()).unwrap();
                let (bends, next) = (told.bends, row + moment.time.len());
                prop_assert_eq!(&bends[..], &followed.bends[row..next]);
                prop_assert_eq!(&told.levels[..], &followed.levels[row * levels..next * levels]);
                let updated = walk::update(&fitted, &moment.rows(), false).unwrap();
                prop_assert_eq!(updated.taken, moment.time.len());
                prop_assert!(updated.late.is_empty());
                // Saved and read again, as the program does.
                fitted = fitted.with_series(updated.series);
                if row % 50 == 0 {
                    fitted = Fitted::from_json(&fitted.to_json().unwrap()).unwrap();
                }
                row += moment.time.len();
            }
            fitted
        };
        let end = new.time.last().unwrap() + 1.0;
        let next = Table { time: vec![end], ..new.pick(|row| row == 0) };
        let next = Table { observation: vec![f64::NAN], ..next };
        let at_once = walk::update(&fitted, &new.rows(), false).unwrap();
        let at_once = fitted.with_series(at_once.series);
        let [a, b] = [&one_by_one, &at_once].map(|fitted| fitted.follow(&next.rows()).unwrap());
        prop_assert_eq!((a.bends, a.levels), (b.bends, b.levels));
        let [a, b] = [&one_by_one, &at_once].map(|fitted| Kept::of(fitted, fitted.series().unwrap()));
        prop_assert_eq!(a, b);
        let [a, b] = [&one_by_one, &at_once].map(|fitted| fitted.follow(&next.rows()).unwrap());
        prop_assert_eq!(a.inputs.len(), b.inputs.len());
        prop_assert!(a.inputs.iter().zip(&b.inputs).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

/// Moments and delays, by hand.
#[test]
fn what_is_known_when() {
    let clock = Clock::new(Span::Moments(2), [5.0, 1.0, 3.0, 3.0, 8.0]);
    assert_eq!(
        [1.0, 3.0, 5.0, 8.0].map(|t| clock.known(t)),
        [f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0, 3.0]
    );
    let clock = Clock::new(Span::Time(2.5), [1.0, 3.0]);
    assert_eq!(clock.known(3.0), 0.5);
}

/// Lags, by hand: of the row's own group, as far as they are known, and missing where a moment is.
#[test]
fn earlier_errors_are_those_of_the_group() {
    let row = |group, time, error| Lagged { group, time, error };
    let rows = [
        row(0, 1.0, 10.0),
        row(1, 1.0, 20.0),
        row(0, 2.0, 11.0),
        row(1, 3.0, f64::NAN),
        row(0, 4.0, 13.0),
        row(0, 4.0, 15.0),
        row(1, 4.0, 23.0),
        row(0, 5.0, 0.0),
        row(1, 5.0, 0.0),
    ];
    let clock = |delay| Clock::new(delay, rows.iter().map(|row| row.time));
    let ask = |asked: &Lagged, lag, delay| lagged(&rows, &[*asked], &[lag], &clock(delay))[0];
    let one = Span::Moments(1);
    // Two errors of one moment count as their mean.
    assert_eq!(ask(&rows[7], one, one), 14.0);
    assert_eq!(ask(&rows[7], Span::Moments(2), one), 11.0);
    assert_eq!(ask(&rows[7], Span::Moments(3), one), 10.0);
    assert!(ask(&rows[7], Span::Moments(4), one).is_nan());
    assert_eq!(ask(&rows[8], one, one), 23.0);
    // Not observed: missing, and no older one takes its place.
    assert!(ask(&rows[8], Span::Moments(2), one).is_nan());
    assert_eq!(ask(&rows[8], Span::Moments(3), one), 20.0);
    // Clock time: there was no moment 3 in group 0.
    assert_eq!(ask(&rows[7], Span::Time(3.0), one), 11.0);
    assert!(ask(&rows[7], Span::Time(2.0), one).is_nan());
    // Known two moments of the table later: the last of the group is not.
    assert!(ask(&rows[7], one, Span::Moments(2)).is_nan());
    assert_eq!(ask(&rows[7], Span::Moments(2), Span::Moments(2)), 11.0);
    assert_eq!(ask(&rows[7], Span::Moments(2), Span::Time(3.0)), 11.0);
    assert!(ask(&rows[7], Span::Moments(2), Span::Time(3.5)).is_nan());
}

/// Errors that repeat are forecast from those before them, and lags that tell nothing are given up.
#[test]
fn lags_are_used_where_they_help() {
    let table = Table::draw(3, 600, 0, 0.0, 0.0);
    let one = Span::Moments(1);
    let fitted = learn(&table, &Series::new("time", one, &[one]));
    assert_eq!(fitted.names(), ["x", "error_lag_1"]);
    assert_eq!(fitted.table_names(), ["x"]);
    assert_eq!(fitted.without_lags().unwrap().names(), ["x"]);
    let mut alone = table.clone();
    let mut rng = Pcg64::seed_from_u64(5);
    for row in 0..600 {
        alone.observation[row] = alone.forecast[row] + alone.x[row] * rng.random_range(-1.0..1.0);
    }
    let fitted = learn(&alone, &Series::new("time", one, &[one]));
    assert!(fitted.lags().is_empty() && fitted.without_lags().is_none());
    // An error that is not known yet cannot be asked for.
    let names = ["x".to_string()];
    let learning = learning(&table, &names, options());
    let early = walk::fit(&learning, &Series::new("time", Span::Moments(3), &[one]), &Silent);
    assert!(matches!(early, Err(errbar::Error::LagWithinDelay { .. })));
}

/// Late and corrected rows: named, taken if they are to be, and then as if they had been right at once.
#[test]
fn late_rows_are_named_and_corrected() {
    let table = Table::draw(9, 300, 2, 0.0, 0.0);
    let one = Span::Moments(1);
    let fitted = learn_with(
        &table.pick(|row| row < 200),
        &Series::new("time", one, &[]),
        options().guarantee(Some(Method::Split)),
    );
    let new = table.pick(|row| row >= 200);
    let right = walk::update(&fitted, &new.rows(), false).unwrap();
    let mut wrong = new.clone();
    wrong.observation[60] += 4.0;
    let missing = wrong.pick(|row| row != 70);
    let updated = walk::update(&fitted, &missing.rows(), false).unwrap();
    let knows = fitted.clone().with_series(updated.series.clone());
    let again = walk::update(&knows, &new.rows(), false).unwrap();
    let of = |why| again.late.iter().filter(|(_, w)| *w == why).map(|(row, _)| *row).collect();
    let (corrected, missed): (Vec<usize>, Vec<usize>) = (of(Late::Corrected), of(Late::Missed));
    assert_eq!((corrected, missed, again.taken), (vec![60], vec![70], 0));
    assert_eq!(again.series, updated.series);
    let replaced = walk::update(&knows, &new.rows(), true).unwrap();
    assert_eq!(replaced.taken, 2);
    let next = Table { time: vec![1e6], ..new.pick(|row| row == 0) };
    let laws = |series: Series| {
        let fitted = fitted.clone().with_series(series);
        let followed = fitted.follow(&next.rows()).unwrap();
        (followed.bends, followed.levels, Kept::of(&fitted, fitted.series().unwrap()))
    };
    // The moment that was missed was none to the row after it, which is as it was.
    let corrected = walk::update(&fitted, &wrong.rows(), false).unwrap();
    let corrected = fitted.clone().with_series(corrected.series);
    let corrected = walk::update(&corrected, &new.rows(), true).unwrap();
    assert_eq!(corrected.taken, 1);
    assert_eq!(laws(corrected.series), laws(right.series.clone()));
    assert_ne!(laws(updated.series.clone()), laws(right.series));
    // Taken back, it is what it was.
    assert_eq!(laws(walk::undo(&replaced.series).unwrap()), laws(updated.series.clone()));
    let first = walk::undo(&updated.series).unwrap();
    assert_eq!(&first, fitted.series().unwrap());
    assert!(walk::undo(&first).is_none());
}

/// A file of which only the memory is written anew is the file that all of it makes.
#[test]
fn what_did_not_change_is_written_as_it_was() {
    let table = Table::draw(12, 400, 2, 0.1, 0.0);
    let one = Span::Moments(1);
    for lags in [vec![], vec![one]] {
        let guaranteed = options().guarantee(Some(Method::Split));
        let fitted =
            learn_with(&table.pick(|row| row < 250), &Series::new("time", one, &lags), guaranteed);
        assert_eq!(fitted.lags().len(), lags.len());
        let fresh = fitted.to_json().unwrap();
        let mut text = fresh.clone();
        let mut fitted = Fitted::from_json(&text).unwrap();
        // The first update adds a need, the last takes it away.
        for from in [250, 300, 350] {
            let new = table.pick(|row| (from..from + 50).contains(&row));
            let updated = walk::update(&fitted, &new.rows(), false).unwrap();
            let before = fitted.series().unwrap().clone();
            fitted = fitted.with_series(updated.series);
            text = fitted.to_json_after(&text, &before).unwrap();
            assert_eq!(text, fitted.to_json().unwrap());
            if from == 250 {
                let back = walk::undo(fitted.series().unwrap()).unwrap();
                let undone = fitted.clone().with_series(back);
                let again = undone.to_json_after(&text, fitted.series().unwrap()).unwrap();
                assert_eq!(again, fresh);
            }
        }
        // By another version, with more in it, or written by hand: read alike whatever is written anew.
        let before = fitted.series().unwrap().clone();
        for other in [
            text.replace("\"version\":\"", "\"version\":\"0.0.1-"),
            text.replace("{\"names\":", "{\"more\":[1.5],\"names\":"),
            format!(" {text}"),
        ] {
            let mut read = Fitted::from_json(&other).unwrap();
            read = read.with_series(before.clone());
            let written = read.to_json_after(&other, &before).unwrap();
            assert_eq!(Fitted::from_json(&written).unwrap().to_json().unwrap(), text);
        }
        // As files were written before it came last.
        let [names, series] = ["\"names\":", ",\"series\":"].map(|field| text.find(field).unwrap());
        let after_names = names + text[names..].find(']').unwrap() + 1;
        let first = format!(
            "{}{}{}}}}}\n",
            &text[..after_names],
            &text[series..text.len() - 3],
            &text[after_names..series],
        );
        let read = Fitted::from_json(&first).unwrap();
        assert_eq!(read.to_json().unwrap(), text);
        assert_eq!(read.to_json_after(&first, &before).unwrap(), first);
    }
}

/// What was tampered with is refused, and what is not observed is not learned.
#[test]
fn memories_are_checked() {
    let table = Table::draw(1, 260, 0, 0.0, 0.3);
    let fitted = learn_with(
        &table.pick(|row| row < 150),
        &Series::new("time", Span::Moments(2), &[]),
        options().guarantee(Some(Method::Split)),
    );
    let new = table.pick(|row| row >= 150);
    let updated = walk::update(&fitted, &new.rows(), false).unwrap();
    let seen = new.observation.iter().filter(|y| !y.is_nan()).count();
    assert_eq!((updated.taken, updated.series.learned()), (seen, seen as u64));
    let text = fitted.clone().with_series(updated.series).to_json().unwrap();
    assert!(text.contains("observations followed") && text.contains("guarantee in time"));
    assert!(Fitted::from_json(&text).is_ok());
    for (right, wrong) in [
        ("\"delay\":{\"moments\":2}", "\"delay\":{\"moments\":0}"),
        ("\"delay\":{\"moments\":2}", "\"delay\":{\"time\":-1.0}"),
        ("\"latest\":[[", "\"latest\":[[1e300,null,0.0,0.0,null],["),
        (
            "\"learned\":{\"state\":{\"speeds\":[{\"weight\":",
            "\"learned\":{\"state\":{\"speeds\":[{\"weight\":-1",
        ),
        ("\"latest\":[[", "\"latest\":[[0.0,null],["),
        ("\"promise\":{\"levels\":[0.5,", "\"promise\":{\"levels\":[0.5,0.5,"),
        ("\"promise\":{\"levels\":[0.5,", "\"promise\":{\"levels\":[0.5,0.999999,"),
        ("\"memory\":", "\"memory\":1e-9,\"other\":"),
        ("\"method\":\"split\"", "\"method\":\"cross\""),
    ] {
        assert!(text.contains(right), "{right}");
        let refused = Fitted::from_json(&text.replacen(right, wrong, 1));
        assert!(refused.is_err(), "{wrong}");
    }
    assert!(matches!(
        Fitted::from_json(&text)
            .unwrap()
            .follow(&SeriesRows { time: &[f64::NAN; 110], ..new.rows() }),
        Err(errbar::Error::NotFinite { .. })
    ));
}

/// Of very many rows only the latest are looked at, which changes nothing that could be told.
#[test]
fn what_is_forgotten_need_not_be_learned() {
    let one = Span::Moments(1);
    let names = ["x".to_string()];
    let table = Table::draw(4, 70_500, 0, 0.0, 0.0);
    let known = table.pick(|row| row < 500);
    let learning = learning(&known, &names, options().kind(Kind::Constant));
    let fitted = walk::fit(&learning, &Series::new("time", one, &[]), &Silent).unwrap().fit.fitted;
    let later = |from: usize, to: usize| table.pick(|row| (from..to).contains(&row));
    let at_once = walk::update(&fitted, &later(500, 70_500).rows(), false).unwrap();
    let first = walk::update(&fitted, &later(500, 40_000).rows(), false).unwrap();
    let second = fitted.clone().with_series(first.series);
    let second = walk::update(&second, &later(40_000, 70_500).rows(), false).unwrap();
    assert_eq!((at_once.taken, second.taken), (70_000, 30_500));
    let (a, b) = (at_once.state, second.state);
    assert!(
        (a.factor / b.factor - 1.0).abs() < 1e-6 && (a.shift - b.shift).abs() < 1e-6,
        "{a:?} {b:?}"
    );
    assert!((a.factor - 1.0).abs() > 1e-4, "{a:?}");
}
