use errbar::Silent;
use errbar_report::Cell;
use errbar_report::report::{Column, Groups, Order, Origin, Report, Subject};

use super::Example;
use super::markup::{drawings, tags};

fn report(subject: &Subject<'_>) -> Report {
    Report::new(subject, &Silent).unwrap()
}

#[test]
fn an_overconfident_forecast_is_called_so() {
    let made = Example::new(1000, 0.4);
    let report = report(&made.subject());
    assert!(report.headline()[0].starts_with("Overconfident"), "{:?}", report.headline());
    // By about 1 / 0.4.
    assert!(report.advice()[0].starts_with("Multiply sigma by 2.4"), "{:?}", report.advice());
    let page = report.html("Too sure", &Origin::default()).unwrap();
    assert!(page.contains("<p class=\"lead\"><b>Overconfident:</b>"));
}

/// Like rain that is forecast far too often: sigma was widened to cover the bias, and is too large even
/// for that.
#[test]
fn a_bias_comes_before_a_sigma_that_covers_it() {
    let mut made = Example::new(1000, 1.5);
    made.observation.iter_mut().zip(&made.x).for_each(|(y, x)| *y -= 0.8 * (0.5 + x));
    let biased = report(&made.subject());
    assert!(
        biased.headline()[0].starts_with("Biased: forecasts are too high"),
        "{:?}",
        biased.headline()
    );
    let advice = biased.advice();
    assert!(advice[0].starts_with("The forecast is biased: observations lie 0."), "{advice:?}");
    assert!(advice[0].contains("errbar fit --debias"), "{advice:?}");
    // Where a bias has been learned, learning one is no advice.
    let again = &report(&Subject { moved: true, ..made.subject() }).advice()[0];
    assert!(!again.contains("--debias") && again.contains("errbar update"), "{again}");
    assert!(advice[0].contains("errbar fit --debias"), "{advice:?}");
    assert!(!advice.iter().any(|words| words.contains("Multiply")), "{advice:?}");
}

/// Errors that are three times as large in the end as in the beginning: a new factor for all rows is
/// less than half of what is wrong.
#[test]
fn a_drift_comes_before_a_factor() {
    let mut made = Example::new(1000, 1.0);
    let time: Vec<f64> = (0..1000).map(f64::from).collect();
    for ((y, mu), t) in made.observation.iter_mut().zip(&made.forecast).zip(&time) {
        *y = mu + (*y - mu) * 0.6 * (t / 500.0).exp2();
    }
    let mut subject = made.subject();
    subject.order = Order::Time { name: "t", values: &time, dates: false };
    let drifting = report(&subject);
    let advice = drifting.advice();
    assert!(
        advice[0].contains("size of the errors drifts") && advice[0].contains("Fit again"),
        "{advice:?}"
    );
    assert!(advice.iter().any(|words| words.starts_with("Multiply sigma")), "{advice:?}");
}

#[test]
fn a_right_sigma_is_reliable_and_needs_nothing() {
    let made = Example::new(2000, 1.0);
    let report = report(&made.subject());
    assert!(report.headline()[0].starts_with("Reliable"), "{:?}", report.headline());
    assert!(report.advice().is_empty(), "{:?}", report.advice());
    // The mean width of 90% intervals is 3.2897 sigma, and sigma is 1 on average.
    assert!(report.headline()[1].contains("3.29 wide"), "{:?}", report.headline());
    let page = report.html("Right", &Origin::default()).unwrap();
    assert!(page.contains("class=\"lead good\"") && !page.contains("What to do"));
}

#[test]
fn every_figure_has_words_numbers_and_places() {
    let made = Example::new(500, 1.0);
    let labels = ["north".to_string(), "south".to_string()];
    let rows: Vec<u32> = (0..500).map(|i| i % 2).collect();
    let time: Vec<f64> = (0..500).map(|i| 1.5e9 + 3600.0 * f64::from(i)).collect();
    let mut subject = made.subject();
    subject.groups = Some(Groups { name: "station", labels: &labels, rows: &rows });
    subject.order = Order::Time { name: "when", values: &time, dates: true };
    let report = report(&subject);
    let names: Vec<&str> = report.figures().iter().map(|f| f.name.as_str()).collect();
    let expected = [
        "curve",
        "forecast",
        "reliability",
        "pit",
        "coverage",
        "spread-skill",
        "quantiles",
        "sharpness",
        "input-1",
        "series",
        "worst",
        "order",
        "periods",
        "lags",
        "hours",
        "groups",
    ];
    assert_eq!(names, expected);
    for figure in report.figures() {
        assert!(figure.message.ends_with('.') && figure.reading.ends_with('.'), "{}", figure.name);
        assert!(!figure.table.rows.is_empty(), "{}", figure.name);
        for row in &figure.table.rows {
            assert_eq!(row.len(), figure.table.heads.len(), "{}", figure.name);
        }
        assert_eq!(figure.table.csv().lines().count(), figure.table.rows.len() + 1);
        let svg = figure.figure.svg().unwrap();
        assert!(svg.contains(&format!("aria-label=\"{}. ", figure.title)), "{}", figure.name);
        assert!(figure.figure.png(1.0).is_ok());
    }
    let page = report.html("Everything", &Origin::default()).unwrap();
    let tags = tags(&page);
    let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
    assert_eq!((count("figure"), count("script"), count("style"), count("h1")), (16, 1, 1, 1));
    // Eight broad figures have a second drawing for narrow screens.
    let drawn = drawings(&page);
    assert_eq!(drawn.len(), 16 + 8);
    let plots: Vec<_> = tags.iter().filter(|tag| tag.has("data-spots")).collect();
    assert_eq!(plots.len(), drawn.len(), "every drawing reads its values out");
    assert!(plots.iter().all(|plot| plot.has("tabindex")));
    assert!(page.contains("<html lang=\"en\">") && page.contains("2017-07-14"));
    assert_eq!(page, report.html("Everything", &Origin::default()).unwrap());
}

/// Rows of a table as numbers, by hand.
#[test]
fn groups_are_compared_with_one_constant_sigma() {
    // Two groups with errors of one size each: the constant that minimises the CRPS of all lies
    // between, and a sigma of the right size is better for both.
    let mut forecast = vec![0.0; 40];
    let observation: Vec<f64> = (0..40)
        .map(|i| if i < 20 { 1.0 } else { 3.0 } * if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    forecast[0] = 0.0;
    let sigma: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 3.0 }).collect();
    let labels = ["small".to_string(), "large".to_string()];
    let rows: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
    let subject = Subject {
        observation: Column { name: "y", values: &observation },
        forecast: Column { name: "mu", values: &forecast },
        sigma: &sigma,
        groups: Some(Groups { name: "size", labels: &labels, rows: &rows }),
        ..Subject::default()
    };
    let report = report(&subject);
    let groups = report.figures().iter().find(|f| f.name == "groups").unwrap();
    let small = groups.table.rows.iter().find(|r| r[0] == Cell::Text("small".into())).unwrap();
    let [_, Cell::Count(20), Cell::Number(crps), Cell::Share(skill), ..] = small[..] else {
        panic!("{small:?}")
    };
    // CRPS of a standard normal at 1: 2 phi(1) + 2 Phi(1) - 1 - 1/sqrt(pi), from Python's math.erf.
    assert!((crps - 0.602_441_357_627_616_3).abs() < 1e-12, "{crps}");
    assert!(skill > 0.0);
    // 1.645 sigma holds every error of one sigma.
    assert_eq!(small[8], Cell::Share(1.0));
}

#[test]
fn inputs_come_with_the_most_telling_first() {
    let made = Example::new(3000, 1.0);
    let noise: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 0.414_213_56).fract()).collect();
    let flat = vec![7.0; 3000];
    let mut subject = made.subject();
    subject.inputs = vec![
        Column { name: "noise", values: &noise },
        Column { name: "flat", values: &flat },
        Column { name: "x", values: &made.x },
    ];
    let titles: Vec<String> = report(&subject)
        .figures()
        .iter()
        .filter(|f| f.name.starts_with("input-"))
        .map(|f| f.title.clone())
        .collect();
    assert_eq!(titles, ["Sigma against x", "Sigma against noise"]);
    subject.ranked = true;
    assert_eq!(report(&subject).figures()[7].title, "Sigma against noise");
}
