//! Any text, any numbers.

use errbar_report::{
    Axis, Band, Dash, Density, ErrorBars, Figure, Histogram, Isolines, Layer, Legend, Line, Panel,
    Rule, Scatter, Text,
};
use proptest::prelude::*;
use roxmltree::Document;

use super::one;

/// Parses, and checks that only our own elements and attributes are there, with finite numbers.
fn check(svg: &str) {
    let document = Document::parse(svg).expect("well-formed XML");
    for node in document.descendants().filter(|n| n.is_element()) {
        let name = node.tag_name().name();
        let known = ["svg", "title", "rect", "path", "g", "circle", "text", "tspan", "image"];
        assert!(known.contains(&name), "{name}");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "id", "{name}");
            if name != "href" && name != "font-family" {
                assert!(!value.contains("NaN") && !value.contains("inf"), "{name} {value}");
            }
        }
    }
}

#[test]
fn labels_come_out_as_text() {
    let hostile = [
        "<b>&\"'",
        "</text><script>alert(1)</script>",
        "]]> <!-- &amp; &#0;",
        "\u{0}\u{1b}\u{FFFE}\u{85}",
        "_{^{}}_{",
        "雨 \u{202e} e\u{301}",
        "",
    ];
    for text in hostile {
        let panel = Panel::new(text, text)
            .title(text)
            .with(Line::new([0.0, 1.0], [0.0, 1.0]).label(text))
            .with(Text::new(0.5, 0.5, text))
            .with(Density::new([0.0, 1.0], [0.0, 1.0], [1.0]).key(text));
        let figure = one(panel).title(text);
        let svg = figure.svg().unwrap();
        check(&svg);
        assert!(figure.png(1.0).is_ok());
    }
    let svg = one(Panel::new("<b>&\"'", "")).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let is_label = |n: roxmltree::Node<'_, '_>| n.text() == Some("<b>&\"'");
    assert!(document.descendants().any(is_label));
}

#[test]
fn nothing_and_next_to_nothing() {
    let none: [f64; 0] = [];
    for layer in [
        Layer::from(Line::new(none, none)),
        Scatter::new(none, none).into(),
        Band::new(none, none, none).into(),
        ErrorBars::new(none, none, none).into(),
        Histogram::new(none, none).into(),
        Histogram::new([1.0], none).into(),
        Isolines::new(none, none, none).into(),
        Isolines::new([1.0], [1.0], [1.0]).into(),
        Density::new(none, none, none).into(),
        Density::new([1.0], none, none).key("").into(),
        Line::new([1.0], [1.0]).label("one").into(),
        Scatter::new([f64::NAN], [1.0]).into(),
        Band::new([1.0], [0.0], [2.0]).into(),
        Rule::horizontal(f64::NAN).into(),
        Rule::vertical(f64::INFINITY).into(),
        Text::new(f64::NAN, 0.0, "lost").into(),
    ] {
        for log in [false, true] {
            let axis = || if log { Axis::new("a").log() } else { Axis::new("a") };
            let figure = one(Panel::new(axis(), axis()).with(layer.clone()));
            check(&figure.svg().unwrap());
            assert!(figure.png(1.0).is_ok());
        }
    }
    check(&Figure::new(60.0, 60.0).svg().unwrap());
    // Far too small for what is on it.
    let crowded = (0..12).fold(Figure::new(60.0, 60.0).title("A long title").columns(3), |f, i| {
        let line = Line::new([0.0, 1e6], [1e-9, 1e9]).label(format!("line {i}"));
        f.with(Panel::new("a long label", "another").title("title").with(line))
    });
    check(&crowded.svg().unwrap());
    assert!(crowded.png(1.0).is_ok());
}

#[test]
fn a_point_alone_is_seen() {
    let svg = one(Panel::new("x", "y").with(Line::new([2.0], [3.0]))).svg().unwrap();
    assert!(svg.contains("<circle"));
}

/// Numbers of all sizes, among them those that break things.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0..3.0,
        1 => prop::num::f64::ANY,
        2 => prop::sample::select(vec![
            0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, f64::MAX,
            f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e-300, 1e15, 1.0 + f64::EPSILON,
        ]),
    ]
}

fn column() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(number(), 12)
}

fn increasing(mut values: Vec<f64>) -> Vec<f64> {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn axis() -> impl Strategy<Value = Axis> {
    (any::<bool>(), prop::option::of((number(), number()))).prop_map(|(log, range)| {
        let axis = Axis::new("axis");
        let axis = if log { axis.log() } else { axis };
        range.map_or(axis.clone(), |(from, to)| axis.range(from, to))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_numbers(
        columns in prop::collection::vec(column(), 3),
        x_axis in axis(),
        y_axis in axis(),
        values in prop::collection::vec(number(), 144),
        levels in prop::option::of(prop::collection::vec(number(), 0..6)),
        share in any::<bool>(),
    ) {
        let [x, y, z] = [0, 1, 2].map(|i| columns[i].clone());
        let (across, up) = (increasing(x.clone()), increasing(y.clone()));
        let cells = |n: usize| values[..n].to_vec();
        let (nx, ny) = (across.len(), up.len());
        let inner = nx.saturating_sub(1) * ny.saturating_sub(1);
        let isolines = Isolines::new(across.clone(), up.clone(), cells(nx * ny));
        let isolines = match levels {
            Some(levels) => isolines.levels(levels),
            None => isolines,
        };
        let panel = Panel::new(x_axis, y_axis)
            .with(Band::new(x.clone(), y.clone(), z.clone()).label("band"))
            .with(Line::new(x.clone(), y.clone()).dash(Dash::Dotted).label("line"))
            .with(Scatter::new(x.clone(), z.clone()))
            .with(ErrorBars::new(x.clone(), y.clone(), z.clone()))
            .with(Rule::horizontal(x[0]))
            .with(Rule::diagonal())
            .with(Text::new(x[1], y[1], "text"))
            .with(isolines);
        let map = Panel::new("x", "y")
            .legend(Legend::BottomRight)
            .with(Density::new(across.clone(), up, cells(inner)).range(x[2], y[2]).key("key"))
            .with(Histogram::new(across, cells(nx.saturating_sub(1))).label("bars"));
        let figure = Figure::new(300.0, 300.0).with(panel).with(map);
        let figure = if share { figure.share_x() } else { figure };
        check(&figure.svg().unwrap());
        prop_assert!(figure.png(0.5).is_ok());
    }

    #[test]
    fn any_text(text in any::<String>()) {
        let panel = Panel::new(text.clone(), "y").with(Text::new(0.0, 0.0, text.clone()));
        check(&one(panel.title(text)).svg().unwrap());
    }
}
