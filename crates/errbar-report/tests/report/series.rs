use errbar::Silent;
use errbar::law::judge::ErrorLaws;
use errbar::law::{Base, ErrorLaw, Law};
use errbar_report::Cell;
use errbar_report::report::{Column, Groups, Order, Origin, Report, ReportFigure, Subject};

use super::Example;
use super::markup::tags;

/// 2017-01-01.
const NEW_YEAR: f64 = 1_483_228_800.0;
const HOUR: f64 = 3_600.0;

fn report(subject: &Subject<'_>) -> Report {
    Report::new(subject, &Silent).unwrap()
}

fn figure<'r>(report: &'r Report, name: &str) -> &'r ReportFigure {
    report.figures().iter().find(|figure| figure.name == name).unwrap()
}

fn names(report: &Report) -> Vec<&str> {
    report.figures().iter().map(|figure| figure.name.as_str()).collect()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) | Cell::Share(value) | Cell::Time(value) => *value,
        Cell::Count(count) => *count as f64,
        Cell::Text(text) => panic!("{text} is no number"),
    }
}

fn hours(rows: usize) -> Vec<f64> {
    (0..rows).map(|i| NEW_YEAR + HOUR * i as f64).collect()
}

fn dates(values: &[f64]) -> Order<'_> {
    Order::Time { name: "when", values, dates: true }
}

/// Errors of 1 with a sigma of 1 but for one week, in which they are 3.
#[test]
fn the_worst_week_is_found_and_the_end_shown() {
    let time = hours(2_000);
    let forecast: Vec<f64> = (0..2_000).map(|i| f64::from(i) / 100.0).collect();
    let observation: Vec<f64> = (0..2_000)
        .map(|i| {
            let size = if (700..868).contains(&i) { 3.0 } else { 1.0 };
            forecast[i] + size * if i % 2 == 0 { 1.0 } else { -1.0 }
        })
        .collect();
    let subject = Subject {
        observation: Column { name: "y", values: &observation },
        forecast: Column { name: "mu", values: &forecast },
        sigma: &[1.0; 2_000],
        order: dates(&time),
        ..Subject::default()
    };
    let report = report(&subject);
    let worst = figure(&report, "worst");
    assert_eq!(worst.title, "The worst week");
    assert_eq!(worst.table.rows.len(), 168);
    assert_eq!(worst.table.rows[0][0], Cell::Time(time[700]));
    assert_eq!(worst.table.rows[167][0], Cell::Time(time[867]));
    // 700 hours after the new year, and 867; CRPS of a standard normal at 3: 2 phi(3) + 3 (2 Phi(3) - 1)
    // - 1/sqrt(pi) = 2.43662, from Python's math.erf.
    let said = "From 2017-01-30 04:00 to 2017-02-06 03:00, all 168 observations lie outside the 90% \
                interval, where about 17 would be expected. The mean CRPS is 2.44,";
    assert!(worst.message.starts_with(said), "{}", worst.message);
    let series = figure(&report, "series");
    assert_eq!(series.title, "The end of the series");
    assert_eq!(series.table.rows.len(), 150);
    let last: Vec<f64> = series.table.rows[149].iter().map(number).collect();
    // 1.6448536 sigma either way.
    let expected = [time[1_999], 18.99, 19.99, 1.0, 18.345_146_4, 21.634_853_6];
    assert!(last.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{last:?}");
    assert!(series.message.contains("none of the 150 observations lie outside"));
    let page = report.html("t", &Origin::default()).unwrap();
    assert!(page.contains("<h2>How did it go?</h2>"));
}

/// Short series are shown whole; what has no time is no series.
#[test]
fn without_a_time_there_is_no_series() {
    let made = Example::new(400, 1.0);
    let time = hours(400);
    let mut subject = made.subject();
    for name in ["series", "worst", "periods", "lags"] {
        assert!(!names(&report(&subject)).contains(&name), "{name}");
    }
    subject.order = dates(&time);
    let report_of_all = report(&subject);
    assert_eq!(figure(&report_of_all, "worst").title, "The worst day");
    let made = Example::new(60, 1.0);
    let subject = Subject { order: dates(&time[..60]), ..made.subject() };
    let short = report(&subject);
    assert_eq!(figure(&short, "series").title, "The series");
    assert!(!names(&short).contains(&"worst"));
}

/// A two-piece law has more room above: the ends are its quantiles, and not those of a Gaussian.
#[test]
fn intervals_are_those_of_the_law() {
    let made = Example::new(60, 1.0);
    let time = hours(60);
    let law = Law::new(Base::Laplace, 0.0, 0.5, 1.5);
    let laws = vec![ErrorLaw::from(law); 60];
    let subject =
        Subject { order: dates(&time), laws: Some(ErrorLaws::new(&laws)), ..made.subject() };
    let report = report(&subject);
    for (i, row) in figure(&report, "series").table.rows.iter().enumerate() {
        let (mu, sigma) = (made.forecast[i], made.sigma[i]);
        for (p, end) in [(0.05, &row[4]), (0.95, &row[5])] {
            let own = law.cdf((number(end) - mu) / sigma);
            assert!((own - p).abs() < 1e-9, "{own}");
        }
    }
    // Outside in the table are as many as the words say.
    let out = figure(&report, "series").table.rows.iter().filter(|row| {
        let [y, low, high] = [1, 4, 5].map(|column| number(&row[column]));
        y < low || y > high
    });
    let said = format!("{} of 60 observations", out.count());
    assert!(figure(&report, "series").message.contains(&said), "{said}");
}

/// Two years of half days, month by month, against sums in a map of months by hand.
#[test]
fn months_are_summed_by_themselves() {
    let made = Example::new(1_460, 0.8);
    let time: Vec<f64> = (0..1_460).map(|i| NEW_YEAR + 12.0 * HOUR * f64::from(i)).collect();
    let weight: Vec<f64> = (0..1_460).map(|i| f64::from(i % 4)).collect();
    let subject = Subject { order: dates(&time), weight: Some(&weight), ..made.subject() };
    let report = report(&subject);
    let table = &figure(&report, "periods").table;
    assert_eq!(table.heads[0], "month");
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut from = 0;
    for (month, row) in table.rows.iter().enumerate() {
        let to = from + 2 * lengths[month % 12];
        let label = format!("{}-{:02}", 2017 + month / 12, 1 + month % 12);
        assert_eq!(row[0], Cell::Text(label));
        assert_eq!(row[1], Cell::Count(to - from));
        let total: f64 = weight[from..to].iter().sum();
        let mean =
            |of: &dyn Fn(usize) -> f64| (from..to).map(|i| weight[i] * of(i)).sum::<f64>() / total;
        let error = |i: usize| made.observation[i] - made.forecast[i];
        let crps = |i: usize| {
            // By its definition as an integral, with the trapezoidal rule; 1e-5 is its error.
            let (sigma, e) = (made.sigma[i], error(i));
            let law = Law::normal(0.0, sigma);
            let step = 2e-3 * sigma;
            let reach = 8.0 * sigma + e.abs();
            let at = |x: f64| (law.cdf(x) - f64::from(u8::from(x >= e))).powi(2);
            (0..(2.0 * reach / step) as usize).map(|k| at(-reach + k as f64 * step) * step).sum()
        };
        let found: Vec<f64> = row[2..].iter().map(number).collect();
        if month % 6 == 0 {
            assert!((found[0] - mean(&crps)).abs() < 2e-3, "{} {}", found[0], mean(&crps));
        }
        assert!((found[2] - mean(&error)).abs() < 1e-12, "bias");
        let width = mean(&|i| 2.0 * 1.644_853_626_951_472_7 * made.sigma[i]);
        assert!((found[3] - width).abs() < 1e-9, "width");
        let held = |i: usize| {
            f64::from(u8::from(error(i).abs() <= 1.644_853_626_951_472_7 * made.sigma[i]))
        };
        assert!((found[4] - mean(&held)).abs() < 1e-12, "coverage");
        from = to;
    }
    assert_eq!((from, table.rows.len()), (1_460, 24));
}

/// The widths below the errors over time are means of the same parts.
#[test]
fn widths_over_time() {
    let made = Example::new(480, 1.0);
    let report = report(&made.subject());
    let order = figure(&report, "order");
    assert_eq!(order.table.heads[10], "90% width");
    for (part, row) in order.table.rows.iter().enumerate() {
        let sigma: f64 = made.sigma[20 * part..20 * (part + 1)].iter().sum::<f64>() / 20.0;
        assert!((number(&row[10]) - 2.0 * 1.644_853_626_951_472_7 * sigma).abs() < 1e-9);
    }
}

/// Errors of an autoregression, whose sigma swings from row to row.
struct Chain {
    observation: Vec<f64>,
    forecast: Vec<f64>,
    sigma: Vec<f64>,
}

fn chain(rows: usize) -> Chain {
    let noise = Example::new(rows, 1.0);
    let mut z = 0.0;
    let (mut observation, mut sigma) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let fresh = (noise.observation[i] - noise.forecast[i]) / noise.sigma[i];
        z = 0.8 * z + 0.6 * fresh;
        sigma.push(if i % 3 == 0 { 10.0 } else { 0.1 });
        observation.push(noise.forecast[i] + sigma[i] * z);
    }
    Chain { observation, forecast: noise.forecast, sigma }
}

/// The textbook's formula, term by term.
fn naive(values: &[f64], lag: usize) -> f64 {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut top = 0.0;
    for t in 0..n - lag {
        top += (values[t] - mean) * (values[t + lag] - mean);
    }
    top / values.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
}

#[test]
fn correlations_before_and_after_the_law() {
    let made = chain(1_000);
    let time: Vec<f64> = (0..1_000).map(f64::from).collect();
    let subject = Subject {
        observation: Column { name: "y", values: &made.observation },
        forecast: Column { name: "mu", values: &made.forecast },
        sigma: &made.sigma,
        order: Order::Time { name: "t", values: &time, dates: false },
        ..Subject::default()
    };
    let made_report = report(&subject);
    let lags = figure(&made_report, "lags");
    assert_eq!(lags.table.rows.len(), 40);
    let error: Vec<f64> = (0..1_000).map(|i| made.observation[i] - made.forecast[i]).collect();
    let scaled: Vec<f64> = error.iter().zip(&made.sigma).map(|(e, s)| e / s).collect();
    for (i, row) in lags.table.rows.iter().enumerate() {
        let [lag, before, after, reach] = [0, 1, 2, 3].map(|column| number(&row[column]));
        assert_eq!(lag, i as f64 + 1.0);
        assert!((before - naive(&error, i + 1)).abs() < 1e-10);
        assert!((after - naive(&scaled, i + 1)).abs() < 1e-10);
        // 1.959964 over the root of a thousand.
        assert!((reach - 0.061_979_5).abs() < 1e-6);
    }
    // The correlation that was put in, hidden before by sigmas that swing.
    let first: Vec<f64> = lags.table.rows[0].iter().map(number).collect();
    assert!((first[2] - 0.8).abs() < 0.06 && first[1] < 0.3, "{first:?}");

    // Rows without weight are not there, wherever they are.
    let weight: Vec<f64> = (0..1_000).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
    let report = report(&Subject { weight: Some(&weight), ..subject });
    let half: Vec<f64> = scaled.iter().copied().step_by(2).collect();
    let after = number(&figure(&report, "lags").table.rows[0][2]);
    assert!((after - naive(&half, 1)).abs() < 1e-10, "{after}");
}

/// Two stations at each moment, one of which is bad in the end: each is a series.
#[test]
fn several_series_are_kept_apart() {
    let made = chain(1_000);
    let time: Vec<f64> = hours(500).into_iter().flat_map(|t| [t, t]).collect();
    // The places change within a moment, as in tables that were merged.
    let rows: Vec<u32> = (0..1_000).map(|i| u32::from((i % 2 == 1) != (i % 6 > 3))).collect();
    let labels = ["north".to_string(), "south".to_string()];
    let mut observation = made.observation.clone();
    for (i, y) in observation.iter_mut().enumerate() {
        if rows[i] == 1 && i > 800 {
            *y += 100.0;
        }
    }
    let mut subject = Subject {
        observation: Column { name: "y", values: &observation },
        forecast: Column { name: "mu", values: &made.forecast },
        sigma: &made.sigma,
        order: dates(&time),
        groups: Some(Groups { name: "station", labels: &labels, rows: &rows }),
        ..Subject::default()
    };
    let apart = report(&subject);
    let series = figure(&apart, "series");
    assert_eq!(series.title, "The end of the series: station south");
    assert!(series.reading.contains("one of 2 series is drawn: station south"));
    let seen: Vec<f64> = series.table.rows.iter().map(|row| number(&row[1])).collect();
    let south: Vec<f64> = (0..1_000).filter(|&i| rows[i] == 1).map(|i| observation[i]).collect();
    assert_eq!(seen, south[350..]);
    // Products of neighbours of the same station over all squares.
    let (mut top, mut all) = (0.0, 0.0);
    for station in 0..2 {
        let own: Vec<f64> = (0..1_000)
            .filter(|&i| rows[i] == station)
            .map(|i| observation[i] - made.forecast[i])
            .collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        top += own.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>();
        all += own.iter().map(|e| (e - mean).powi(2)).sum::<f64>();
    }
    let lags = figure(&apart, "lags");
    assert!((number(&lags.table.rows[0][1]) - top / all).abs() < 1e-10);
    assert!(lags.reading.contains("2 series together"));
    // Without what tells them apart nothing is drawn, and moments are averaged.
    subject.groups = None;
    let mixed = report(&subject);
    assert!(!names(&mixed).contains(&"series"));
    let lags = figure(&mixed, "lags");
    assert!(lags.reading.contains("Rows of one moment are averaged"));
    let means: Vec<f64> = (0..500)
        .map(|i| [2 * i, 2 * i + 1].map(|i| observation[i] - made.forecast[i]).iter().sum::<f64>())
        .collect();
    assert!((number(&lags.table.rows[2][1]) - naive(&means, 3)).abs() < 1e-10);
}

/// Lead times come as numbers go, however good each is; names come with the worst first.
#[test]
fn groups_that_are_numbers_are_in_their_order() {
    let made = Example::new(1_200, 1.0);
    let order = |labels: &[&str], rows: &[u32]| -> (Vec<String>, Vec<f64>, String) {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let groups = Groups { name: "lead", labels: &labels, rows };
        let report = report(&Subject { groups: Some(groups), ..made.subject() });
        let groups = figure(&report, "groups");
        let listed = groups.table.rows.iter().map(|row| row[0].shown()).collect();
        let skill = groups.table.rows.iter().map(|row| number(&row[3])).collect();
        (listed, skill, groups.reading.clone())
    };
    // Rows by their size of sigma.
    let by_sigma: Vec<u32> = made.x.iter().map(|x| (4.0 * x) as u32).collect();
    let (listed, skill, _) = order(&["12", "2", "1", "24"], &by_sigma);
    assert_eq!(listed, ["1", "2", "12", "24"]);
    assert!(!skill.is_sorted(), "else this would show nothing: {skill:?}");
    assert_eq!(order(&["12h", "6h", "102h", "48h"], &by_sigma).0, ["6h", "12h", "48h", "102h"]);
    assert_eq!(order(&["12", "", "1", "24"], &by_sigma).0[3], "");
    let (_, skill, _) = order(&["b", "a", "c", "d"], &by_sigma);
    assert!(skill.is_sorted(), "{skill:?}");
    // Of many the worst are drawn: numbers of stations, say. One that is bad is found among 60.
    let labels: Vec<String> = (1..=60).rev().map(|station| station.to_string()).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let rows: Vec<u32> = (0..1_200).map(|i| i % 60).collect();
    let mut made = Example::new(1_200, 1.0);
    made.sigma.iter_mut().zip(&rows).filter(|(_, row)| **row == 7).for_each(|(s, _)| *s *= 9.0);
    let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let groups = Groups { name: "station", labels: &labels, rows: &rows };
    let report = report(&Subject { groups: Some(groups), ..made.subject() });
    let groups = figure(&report, "groups");
    assert_eq!(groups.table.rows.len(), 60);
    assert_eq!(groups.table.rows[0][0].shown(), labels[7]);
    assert!(groups.reading.contains("The 20 worst of 60 groups are drawn"), "{}", groups.reading);
    assert!(groups.message.contains("53 is worse than each of the others"), "{}", groups.message);
}

/// Groups of the same kind cannot be told apart, and that is said; one that is worse is.
#[test]
fn ties_of_groups_are_said() {
    let mut made = Example::new(1_200, 1.0);
    let labels = ["north", "south", "west"].map(String::from);
    let rows: Vec<u32> = (0..1_200).map(|i| i / 5 % 3).collect();
    let message = |made: &Example| {
        let groups = Groups { name: "station", labels: &labels, rows: &rows };
        figure(&report(&Subject { groups: Some(groups), ..made.subject() }), "groups")
            .message
            .clone()
    };
    let said = message(&made);
    assert!(said.ends_with("these three cannot be told apart."), "{said}");
    for (row, sigma) in made.sigma.iter_mut().enumerate() {
        *sigma *= if row / 5 % 3 == 1 { 1.0 } else { 6.0 };
    }
    let said = message(&made);
    let two = ["; north and west cannot be told apart.", "; west and north cannot be told apart."];
    assert!(two.iter().any(|two| said.ends_with(two)), "{said}");
}

/// A page with figures that can be drawn, of numbers that are numbers.
fn sound(subject: &Subject<'_>) -> Report {
    let report = report(subject);
    for figure in report.figures() {
        let svg = figure.figure.svg().unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", figure.name);
        if ["series", "worst", "periods", "lags"].contains(&figure.name.as_str()) {
            for cell in figure.table.rows.iter().flatten() {
                let finite = matches!(cell, Cell::Text(_)) || number(cell).is_finite();
                assert!(finite, "{}: {cell:?}", figure.name);
            }
            assert!(!figure.message.contains("NaN") && !figure.message.contains("inf"));
        }
    }
    let page = report.html("Any", &Origin::default()).unwrap();
    assert!(!page.contains("NaN"));
    tags(&page);
    report
}

#[test]
fn hostile_series_make_a_page() {
    let made = Example::new(300, 1.0);
    let part = |rows: usize| Subject {
        observation: Column { name: "y", values: &made.observation[..rows] },
        forecast: Column { name: "mu", values: &made.forecast[..rows] },
        sigma: &made.sigma[..rows],
        ..Subject::default()
    };
    let time = hours(300);
    for rows in [1, 2, 3, 4, 7, 20, 300] {
        sound(&Subject { order: dates(&time[..rows]), ..part(rows) });
        let same = vec![NEW_YEAR; rows];
        let report = sound(&Subject { order: dates(&same), ..part(rows) });
        assert!(!names(&report).contains(&"periods"), "one moment has no months");
        assert!(!names(&report).contains(&"lags"));
    }
    // Constant errors have no correlation; none at all have no CRPS to speak of.
    for shift in [2.0, 0.0] {
        let constant: Vec<f64> = made.forecast.iter().map(|mu| mu.round() + shift).collect();
        let round: Vec<f64> = made.forecast.iter().map(|mu| mu.round()).collect();
        let subject = Subject {
            observation: Column { name: "y", values: &constant },
            forecast: Column { name: "mu", values: &round },
            sigma: &[0.5; 300],
            order: dates(&time),
            ..Subject::default()
        };
        assert!(!names(&sound(&subject)).contains(&"lags"));
    }
    // Huge values, at huge times.
    let mut huge = made.observation.clone();
    (huge[0], huge[150], huge[299]) = (1e300, -1e300, 1e300);
    let mut wide = made.sigma.clone();
    (wide[150], wide[151]) = (1e300, 5e-324);
    let far: Vec<f64> = (0..300).map(|i| 1e298 * (f64::from(i) - 150.0)).collect();
    for order in [
        dates(&time),
        dates(&far),
        Order::Time { name: "t", values: &far, dates: false },
        Order::Time { name: "t", values: &time, dates: false },
    ] {
        let observation = Column { name: "y", values: &huge };
        sound(&Subject { observation, order, ..part(300) });
        sound(&Subject { sigma: &wide, order, ..part(300) });
    }
    // Weights that hardly count.
    let weight: Vec<f64> = (0..300).map(|i| if i % 50 == 0 { 1.0 } else { 1e-30 }).collect();
    sound(&Subject { weight: Some(&weight), order: dates(&time), ..part(300) });
}

#[test]
fn thousands_of_months_are_a_small_table() {
    let made = Example::new(24_000, 1.0);
    let time: Vec<f64> = (0..24_000).map(|i| 30.44 * 24.0 * HOUR * (f64::from(i) - 9e3)).collect();
    let report = sound(&Subject { order: dates(&time), ..made.subject() });
    let periods = figure(&report, "periods");
    assert_eq!((periods.table.rows.len(), periods.table.heads[0].as_str()), (12, "from"));
    assert!(periods.table.rows.iter().all(|row| row[1] == Cell::Count(2_000)));
    // Fifty years of days are counted in years.
    let time: Vec<f64> = (0..18_262).map(|i| 24.0 * HOUR * f64::from(i)).collect();
    let made = Example::new(18_262, 1.0);
    let report = sound(&Subject { order: dates(&time), ..made.subject() });
    let periods = figure(&report, "periods");
    assert_eq!((periods.table.rows.len(), periods.title.as_str()), (50, "By year"));
    assert_eq!(periods.table.rows[2][..2], [Cell::Text("1972".into()), Cell::Count(366)]);
}
