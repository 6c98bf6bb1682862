//! Figures of what only some tables have: lead times, places, outliers.

use errbar::Silent;
use errbar_report::report::{Column, Groups, Order, Places, Report, ReportFigure, Subject};
use errbar_report::{Cell, Figure, Panel, Scatter, Table};

use super::Example;

fn report(subject: &Subject<'_>) -> Report {
    Report::new(subject, &Silent).unwrap()
}

fn figure<'r>(report: &'r Report, name: &str) -> &'r ReportFigure {
    report.figures().iter().find(|figure| figure.name == name).unwrap()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) | Cell::Share(value) | Cell::Time(value) => *value,
        Cell::Count(count) => *count as f64,
        Cell::Text(text) => panic!("{text} is no number"),
    }
}

fn column(table: &Table, head: &str) -> Vec<f64> {
    let at = table.heads.iter().position(|own| own == head).unwrap();
    table.rows.iter().map(|row| number(&row[at])).collect()
}

/// Observations that are half of what is forecast, and a little noise.
#[test]
fn a_forecast_that_goes_too_far_is_seen_bin_by_bin() {
    let forecast: Vec<f64> = (0..1_000).map(|i| f64::from(i % 100) - 50.0).collect();
    let noise = |i: usize| (i as f64 * 0.618_034).fract() - 0.5;
    let observation: Vec<f64> = (0..1_000).map(|i| 0.5 * forecast[i] + noise(i)).collect();
    let subject = Subject {
        observation: Column { name: "y", values: &observation },
        forecast: Column { name: "mu", values: &forecast },
        sigma: &[10.0; 1_000],
        ..Subject::default()
    };
    let report = report(&subject);
    let seen = figure(&report, "forecast");
    let [from, to, mean, observed, off, reach] =
        ["forecast from", "to", "mean forecast", "mean observed", "off by", "±"]
            .map(|head| column(&seen.table, head));
    for bin in 0..from.len() {
        let own: Vec<usize> =
            (0..1_000).filter(|&i| forecast[i] >= from[bin] && forecast[i] <= to[bin]).collect();
        let of = |values: &[f64]| own.iter().map(|&i| values[i]).sum::<f64>() / own.len() as f64;
        assert!((mean[bin] - of(&forecast)).abs() < 1e-9);
        assert!((observed[bin] - of(&observation)).abs() < 1e-9);
        assert!((off[bin] + 0.5 * mean[bin]).abs() < 0.3 && reach[bin] > 0.0 && reach[bin] < 1.0);
    }
    assert!(
        seen.message.contains("by more than its error in") && seen.message.contains("most near")
    );
    assert_eq!(column(&seen.table, "rows").iter().sum::<f64>(), 1_000.0);
}

/// Means by lead against sums by hand; the CRPS of a Gaussian from its definition.
#[test]
fn leads_are_summed_by_themselves() {
    let made = Example::new(900, 0.7);
    let labels = ["24", "6", "120"].map(String::from);
    let rows: Vec<u32> = (0..900).map(|i| i / 10 % 3).collect();
    let lead = Groups { name: "lead_h", labels: &labels, rows: &rows };
    let report = report(&Subject { lead: Some(lead), ..made.subject() });
    let leads = figure(&report, "leads");
    let listed: Vec<String> = leads.table.rows.iter().map(|row| row[0].shown()).collect();
    assert_eq!(listed, ["6", "24", "120"]);
    for (place, label) in [1, 0, 2].into_iter().enumerate() {
        let own: Vec<usize> = (0..900).filter(|&i| rows[i] == label).collect();
        let mean = |of: &dyn Fn(usize) -> f64| own.iter().map(|&i| of(i)).sum::<f64>() / 300.0;
        let error = |i: usize| made.observation[i] - made.forecast[i];
        // ∫ (Φ(z) − 1{z ≥ e/σ})² dz, by the midpoint rule.
        let crps = |i: usize| {
            let (z, step) = (error(i) / made.sigma[i], 0.01);
            let part = |k: i32| {
                let x = (f64::from(k) + 0.5) * step;
                let below = errbar::law::Law::normal(0.0, 1.0).cdf(x);
                (below - if x >= z { 1.0 } else { 0.0 }).powi(2) * step
            };
            made.sigma[i] * (-1_200..1_200).map(part).sum::<f64>()
        };
        let near = |head: &str, value: f64| {
            let told = column(&leads.table, head)[place];
            assert!((told / value - 1.0).abs() < 2e-3, "{head}: {told} {value}");
        };
        near("CRPS", mean(&crps));
        near("error", mean(&|i| error(i).powi(2)).sqrt());
        near("sigma", mean(&|i| made.sigma[i].powi(2)).sqrt());
        let inside = mean(&|i| f64::from(error(i).abs() <= 1.644_853_6 * made.sigma[i]));
        near("inside 90%", inside);
    }
    // No lead, no figure; and one lead is none to compare with.
    let one = Groups { rows: &[0; 900], ..lead };
    let report = self::report(&Subject { lead: Some(one), ..made.subject() });
    assert!(report.figures().iter().all(|figure| figure.name != "leads"));
}

/// Errors that are twice as large at noon.
#[test]
fn hours_and_months_come_from_dates() {
    let mut made = Example::new(26_000, 1.0);
    let time: Vec<f64> = (0..26_000).map(|i| 1_483_228_800.0 + 3_600.0 * f64::from(i)).collect();
    for i in (12..26_000).step_by(24) {
        made.observation[i] += made.observation[i] - made.forecast[i];
    }
    let order = Order::Time { name: "when", values: &time, dates: true };
    let three_years = report(&Subject { order, ..made.subject() });
    let hours = &figure(&three_years, "hours").table;
    assert_eq!(hours.rows.len(), 24);
    let (error, sigma) = (column(hours, "error"), column(hours, "sigma"));
    let outlying: Vec<usize> = (0..24).filter(|&h| error[h] > 1.7 * sigma[h]).collect();
    assert_eq!(outlying, [12]);
    assert!(figure(&three_years, "hours").message.contains("at 12:00"));
    let months = &figure(&three_years, "months").table;
    let named: Vec<String> = months.rows.iter().map(|row| row[0].shown()).collect();
    assert_eq!((named.len(), &named[0][..], &named[11][..]), (12, "Jan", "Dec"));
    // Three Januaries of 31 days, less none.
    assert_eq!(column(months, "rows")[0], 3.0 * 31.0 * 24.0 - 0.0);
}

#[test]
fn places_are_on_a_map_and_what_is_none_is_not() {
    let made = Example::new(600, 1.0);
    // Three places around the date line, one of which has errors that are always too low.
    let longitude: Vec<f64> = (0..600).map(|i| [179.0, -179.0, 181.5][i % 3]).collect();
    let mut latitude: Vec<f64> = (0..600).map(|i| [-17.0, -18.0, -19.0][i % 3]).collect();
    (latitude[0], latitude[3]) = (f64::NAN, 1e300);
    let mut observation = made.observation.clone();
    observation.iter_mut().skip(1).step_by(3).for_each(|y| *y += 5.0);
    let places = |latitude| Places {
        latitude: Column { name: "lat", values: latitude },
        longitude: Column { name: "lon", values: &longitude },
    };
    let subject = Subject {
        observation: Column { name: "y", values: &observation },
        places: Some(places(&latitude[..])),
        ..made.subject()
    };
    let report = report(&subject);
    let map = figure(&report, "map");
    assert_eq!(column(&map.table, "rows").iter().sum::<f64>(), 598.0);
    assert!(map.reading.contains("2 rows have no place on Earth"), "{}", map.reading);
    // The worst first; longitudes are said from −180 to 180.
    assert_eq!(column(&map.table, "latitude")[0], -18.0);
    assert_eq!(column(&map.table, "longitude")[0], -179.0);
    assert!((column(&map.table, "bias")[0] - 5.0).abs() < 0.3);
    assert!(map.message.contains("18°S 179°W"), "{}", map.message);
    let svg = map.figure.svg().unwrap();
    assert!(svg.contains("°S") && svg.contains("°W") && svg.contains("180°"));
    // One place is no map.
    let one = vec![7.0; 600];
    let subject = Subject { places: Some(places(&one[..])), ..subject };
    assert!(self::report(&subject).figures().iter().any(|f| f.name == "map"), "three longitudes");
    let longitude = Column { name: "lon", values: &one };
    let subject = Subject { places: Some(Places { longitude, ..places(&one) }), ..subject };
    assert!(self::report(&subject).figures().iter().all(|figure| figure.name != "map"));
}

/// Probabilities of an event from the law of each row; its numbers by hand.
#[test]
fn events_are_judged_by_the_law_of_each_row() {
    let made = Example::new(2_000, 1.0);
    let event = |words: &str| (words.to_string(), words.parse().unwrap());
    let subject = Subject { events: vec![event("> 5"), event("> 1e6")], ..made.subject() };
    let judged = report(&subject);
    let happened = made.observation.iter().filter(|y| **y > 5.0).count();
    let first = figure(&judged, "event-1");
    assert_eq!(first.title, "y > 5");
    assert_eq!(column(&first.table, "events").iter().sum::<f64>(), happened as f64);
    assert!(first.message.contains(" of 2,000 rows (70.0%)"), "{}", first.message);
    let normal = errbar::law::Law::normal(0.0, 1.0);
    let probability = |i: usize| normal.exceed((5.0 - made.forecast[i]) / made.sigma[i]);
    let [from, to, mean, frequency] = ["probability from", "to", "mean probability", "frequency"]
        .map(|h| column(&first.table, h));
    for bin in 0..from.len() {
        let own: Vec<usize> = (0..2_000)
            .filter(|&i| {
                probability(i) >= from[bin] && (probability(i) < to[bin] || to[bin] == 1.0)
            })
            .collect();
        let of =
            |of: &dyn Fn(usize) -> f64| own.iter().map(|&i| of(i)).sum::<f64>() / own.len() as f64;
        assert!((mean[bin] - of(&probability)).abs() < 1e-9);
        assert!((frequency[bin] - of(&|i| f64::from(made.observation[i] > 5.0))).abs() < 1e-9);
    }
    let brier = (0..2_000).map(|i| (probability(i) - f64::from(made.observation[i] > 5.0)).powi(2));
    let brier = brier.sum::<f64>() / 2_000.0;
    assert!((judged.events()[0].scores.brier.score - brier).abs() < 1e-12);
    assert!(first.figure.svg().unwrap().contains("area 0.9"));
    let never = figure(&judged, "event-2");
    assert!(
        never.message.starts_with("It happened in none of the 2,000 rows"),
        "{}",
        never.message
    );
    assert!(!never.figure.svg().unwrap().contains("NaN"));
    let page = judged.html("t", &errbar_report::report::Origin::default()).unwrap();
    assert!(
        page.contains("<h2>Are the probabilities of events right?</h2>") && !page.contains("NaN")
    );
}

/// What gains most comes first, with its number; what has none comes last.
#[test]
fn advice_comes_with_what_it_would_gain() {
    let mut made = Example::new(1_500, 0.3);
    // A bias that the forecast tells, beside a sigma that is far too small.
    for (y, mu) in made.observation.iter_mut().zip(&made.forecast) {
        *y -= 0.3 * mu;
    }
    let advice = report(&made.subject()).advice();
    let gain = |words: &str| -> Option<f64> {
        let after = words.split("would lower the CRPS by ").nth(1)?;
        after.split('%').next()?.parse().ok()
    };
    let gains: Vec<Option<f64>> = advice.iter().map(|words| gain(words)).collect();
    assert!(gains.iter().flatten().count() >= 2, "{advice:?}");
    let known: Vec<f64> = gains.iter().flatten().copied().collect();
    assert!(known.is_sorted_by(|a, b| a >= b), "{advice:?}");
    let first_unknown = gains.iter().position(Option::is_none).unwrap_or(gains.len());
    assert!(gains[first_unknown..].iter().all(Option::is_none), "{advice:?}");
}

/// The labels of a drawing.
fn texts(figure: &Figure) -> String {
    let svg = figure.svg().unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let words = document.descendants().filter(|node| node.is_text());
    words.filter_map(|node| node.text()).collect::<Vec<&str>>().join("|")
}

/// One observation, one forecast, one input or one sigma that is a million times all others.
#[test]
fn one_outlier_squashes_no_figure() {
    let squashed = Panel::new("", "").with(Scatter::new([1.0, 2.0], [0.0, 1e7]));
    assert!(texts(&Figure::new(400.0, 300.0).with(squashed)).contains("×10|7"), "what to look for");
    let time: Vec<f64> = (0..600).map(|i| f64::from(i) * 3_600.0).collect();
    for outlier in 0..4 {
        let mut made = Example::new(600, 1.0);
        match outlier {
            0 => made.observation[77] = 1e7,
            1 => made.forecast[77] = -1e7,
            2 => made.x[77] = 1e7,
            _ => made.sigma[77] = 1e7,
        }
        let order = Order::Time { name: "t", values: &time, dates: false };
        let subject = Subject { order, ..made.subject() };
        let mut marked = 0;
        for figure in report(&subject).figures() {
            // Its week, and the correlation of its errors, are its own.
            if ["series", "worst", "lags", "periods"].contains(&figure.name.as_str()) {
                continue;
            }
            let texts = texts(&figure.figure);
            // Times go to two million.
            let own = if figure.name == "order" { "×10|7" } else { "×10" };
            assert!(!texts.contains(own), "{outlier} {}: {texts}", figure.name);
            marked += usize::from(figure.reading.contains("beyond the frame"))
                + usize::from(figure.reading.contains("far from all others"));
        }
        assert!(marked > 0, "{outlier}: counted in words");
    }
}
