use errbar::Silent;
use errbar_report::report::{Column, Groups, Order, Origin, Report, Subject};
use errbar_report::{Error, Figure};
use proptest::prelude::*;

use super::Example;
use super::markup::{drawings, tags};

/// Names that would do harm as markup, and some that would only look bad.
fn names() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".into(),
        "\"><img src=x onerror=alert(1)>".into(),
        "' onmouseover='alert(1)".into(),
        "</title></style></script><!--".into(),
        "&lt;b&gt; &amp; ]]>".into(),
        "x".repeat(10_000),
        "درجة الحرارة \u{202E}gnp.exe".into(),
        "a_{b}^{c}\\".into(),
        "line\nbreak\ttab\u{0}nul\u{2028}".into(),
        String::new(),
    ]
}

#[test]
fn names_come_out_as_text() {
    let made = Example::new(60, 1.0);
    let time: Vec<f64> = (0..60).map(f64::from).collect();
    for name in names() {
        let labels: Vec<String> = names();
        let rows: Vec<u32> = (0..60).map(|i| i % labels.len() as u32).collect();
        let subject = Subject {
            observation: Column { name: &name, values: &made.observation },
            forecast: Column { name: &name, values: &made.forecast },
            inputs: vec![Column { name: &name, values: &made.x }],
            order: Order::Time { name: &name, values: &time, dates: false },
            groups: Some(Groups { name: &name, labels: &labels, rows: &rows }),
            ..made.subject()
        };
        let report = Report::new(&subject, &Silent).unwrap();
        let origin = Origin {
            facts: vec![(name.clone(), name.clone())],
            command: format!("errbar report {name}"),
            warnings: vec![name.clone()],
            notes: vec![name.clone()],
        };
        let page = report.html(&name, &origin).unwrap();
        for tag in tags(&page) {
            let ours =
                ["html", "head", "meta", "title", "link", "style", "body", "a", "main", "h1"];
            let also = ["h2", "h3", "p", "b", "ul", "li", "span", "div", "figure", "figcaption"];
            let tables = ["table", "thead", "tbody", "tr", "th", "td", "details", "summary", "bdi"];
            let rest = ["button", "dl", "dt", "dd", "pre", "code", "script"];
            let drawn = ["svg", "rect", "path", "g", "circle", "text", "tspan", "image"];
            let known = [&ours[..], &also, &tables, &rest, &drawn].concat();
            assert!(known.contains(&tag.name.as_str()), "<{}> from {name:.40}", tag.name);
            for (attribute, _) in &tag.attributes {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ':';
                assert!(attribute.chars().all(plain), "{attribute} from {name:.40}");
                assert!(!attribute.starts_with("on"), "{attribute} from {name:.40}");
                assert!(attribute != "style" && attribute != "src", "{attribute} from {name:.40}");
            }
        }
        assert_eq!(page.matches("<script").count(), 1, "{name:.40}");
        assert_eq!(drawings(&page).len(), 14 + 6);
        for figure in report.figures() {
            assert!(figure.title.chars().count() < 100, "{}", figure.title);
            assert!(figure.figure.png(1.0).is_ok());
        }
        // The whole name is in the command alone, so that it can be typed again.
        let most = if name.len() > 1000 { 1 } else { usize::MAX };
        assert!(page.matches(&"x".repeat(500)).count() / 20 <= most, "{name:.40}");
    }
}

#[test]
fn directions_are_kept_apart() {
    let made = Example::new(60, 1.0);
    let name = "طول\u{202E}\u{2066}";
    let subject =
        Subject { observation: Column { name, values: &made.observation }, ..made.subject() };
    let page = Report::new(&subject, &Silent).unwrap().html("t", &Origin::default()).unwrap();
    assert!(page.contains("<bdi>طول\u{FFFD}\u{FFFD}</bdi>"));
    assert!(!page.contains('\u{202E}'));
}

#[test]
fn a_million_rows_stay_a_small_page() {
    let made = Example::new(1_000_000, 1.0);
    let labels: Vec<String> = (0..1000).map(|i| format!("station {i}")).collect();
    let rows: Vec<u32> = (0..1_000_000).map(|i| i % 1000).collect();
    let mut subject = made.subject();
    subject.groups = Some(Groups { name: "station", labels: &labels, rows: &rows });
    subject.inputs = vec![Column { name: "x", values: &made.x }; 7];
    let start = std::time::Instant::now();
    let report = Report::new(&subject, &Silent).unwrap();
    let page = report.html("Many", &Origin::default()).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("1,000,000 rows are drawn as a density"));
    assert!(
        page.contains("The 6 most telling of 7 inputs")
            && page.contains("20 worst of 1,000 groups")
    );
    eprintln!("a million rows: {} kB in {:.1?}", page.len() / 1000, start.elapsed());
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let made = Example::new(10, 1.0);
    let short = [1.0, 2.0];
    let mut subject = made.subject();
    subject.inputs = vec![Column { name: "humidity", values: &short }];
    let error = Report::new(&subject, &Silent).unwrap_err().to_string();
    assert!(error.contains("humidity") && error.contains('2') && error.contains("10"), "{error}");
    let gaps: Vec<f64> = (0..10).map(|i| if i == 3 { f64::NAN } else { 1.0 }).collect();
    subject.inputs = vec![Column { name: "humidity", values: &gaps }];
    let error = Report::new(&subject, &Silent).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 3, .. }), "{error}");
    subject.inputs.clear();
    subject.groups = Some(Groups { name: "g", labels: &[], rows: &[0; 10] });
    assert!(matches!(Report::new(&subject, &Silent), Err(Error::UnknownGroup { .. })));
    subject.groups = None;
    let zero = [0.0; 10];
    subject.sigma = &zero;
    assert!(matches!(Report::new(&subject, &Silent), Err(Error::Scores(_))));
}

/// Numbers of all sizes that a table may hold.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0..3.0,
        1 => prop::sample::select(vec![0.0, 1.0, -1.0, 1e150, -1e150, 1e-300, 5e-324, 1e15]),
    ]
}

/// A row of observation, forecast, input, sigma and weight.
type Row = (f64, f64, f64, f64, f64);

/// Makes a page of these rows, which must hold drawings that can be read and no number that is none.
fn page_of(rows: &[Row], same_sigma: bool) {
    let column = |of: fn(&Row) -> f64| -> Vec<f64> { rows.iter().map(of).collect() };
    let (observation, forecast, x) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
    let sigma = match same_sigma {
        true => vec![1.0; rows.len()],
        false => column(|r| r.3.abs().max(5e-324)),
    };
    let mut weight = column(|r| (r.4 - 0.5).max(0.0));
    weight[0] = 1.0;
    let mut time = x.clone();
    time.sort_by(f64::total_cmp);
    let labels = ["a".to_string(), "b".to_string()];
    let groups: Vec<u32> = (0..rows.len() as u32).map(|i| i % 2).collect();
    let subject = Subject {
        observation: Column { name: "y", values: &observation },
        forecast: Column { name: "mu", values: &forecast },
        sigma: &sigma,
        weight: Some(&weight),
        inputs: vec![Column { name: "x", values: &x }],
        order: Order::Time { name: "t", values: &time, dates: same_sigma },
        groups: Some(Groups { name: "g", labels: &labels, rows: &groups }),
        ..Subject::default()
    };
    let report = Report::new(&subject, &Silent).unwrap();
    let page = report.html("Any", &Origin::default()).unwrap();
    for wrong in ["NaN", "inf%"] {
        let at = page.find(wrong).map(|at| page[at.saturating_sub(300)..].chars().take(400));
        assert!(at.is_none(), "{wrong}: {}", at.unwrap().collect::<String>());
    }
    tags(&page);
    assert!(drawings(&page).len() >= 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the numbers, there is a page.
    #[test]
    fn any_numbers_make_a_page(
        rows in prop::collection::vec((number(), number(), number(), number(), 0.0..2.0f64), 1..70),
        same_sigma in any::<bool>(),
    ) {
        page_of(&rows, same_sigma);
    }
}

/// No errors, a sigma next to nothing, and one that does not count.
#[test]
fn sigmas_far_apart_without_errors_make_a_page() {
    let rows = [
        (0.0, 0.0, 0.0, 1e-300, 0.0),
        (0.0, 0.0, 0.051_288_898_076_297_49, 0.201_127_638_292_321_7, 0.0),
    ];
    page_of(&rows, false);
}

#[test]
fn a_drawing_says_where_values_are() {
    use errbar_report::{Axis, Line, Panel};
    let axis = || Axis::new("").range(0.0, 10.0);
    let panel = Panel::new(axis(), axis()).with(Line::new([0.0, 10.0], [0.0, 10.0]));
    let drawing = Figure::new(300.0, 200.0).with(panel).drawing().unwrap();
    let (low, high) = (drawing.place(0, 0.0, 0.0).unwrap(), drawing.place(0, 10.0, 10.0).unwrap());
    let middle = drawing.place(0, 5.0, 5.0).unwrap();
    assert!((middle.0 - (low.0 + high.0) / 2.0).abs() < 1e-9);
    assert!(low.0 < high.0 && low.1 > high.1 && high.1 > 0.0 && low.1 < 200.0);
    assert!(drawing.place(0, 11.0, 5.0).is_none() && drawing.place(1, 5.0, 5.0).is_none());
}
