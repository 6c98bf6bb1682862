//! Geometry, read back from the SVG.

use errbar_report::{
    Axis, Band, Dash, Density, Error, ErrorBars, Figure, Histogram, Isolines, Legend, Line, Panel,
    Rule, Scatter, Text, color,
};
use roxmltree::{Document, Node};

use super::{one, with};

/// The numbers of a path.
fn numbers(path: Node<'_, '_>) -> Vec<f64> {
    let data = path.attribute("d").expect("a path has data");
    data.split(|c: char| c.is_ascii_alphabetic() || c == ' ')
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().expect("a number"))
        .collect()
}

fn paths<'a>(document: &'a Document<'_>, color: &str) -> Vec<Node<'a, 'a>> {
    let drawn = |n: &Node<'_, '_>| {
        n.has_tag_name("path")
            && [n.attribute("stroke"), n.attribute("fill")].contains(&Some(color))
    };
    document.descendants().filter(drawn).collect()
}

/// Left, top, right and bottom of each panel: the inner drawings that clip the data.
fn frames(document: &Document<'_>) -> Vec<[f64; 4]> {
    document
        .descendants()
        .filter(|n| n.has_tag_name("svg") && n.has_attribute("overflow"))
        .map(|n| ["x", "y", "width", "height"].map(|a| n.attribute(a).unwrap().parse().unwrap()))
        .map(|[x, y, w, h]: [f64; 4]| [x, y, x + w, y + h])
        .collect()
}

/// Every text with its place.
fn texts(document: &Document<'_>) -> Vec<(String, f64, f64)> {
    let at = |n: &Node<'_, '_>, a: &str| n.attribute(a).unwrap().parse().unwrap();
    document
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .map(|n| {
            let text = n.descendants().filter(|d| d.is_text()).filter_map(|d| d.text()).collect();
            (text, at(&n, "x"), at(&n, "y"))
        })
        .collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.02
}

#[test]
fn a_line_goes_where_its_values_are() {
    let axis = || Axis::new("").range(0.0, 10.0);
    let line = Line::new([0.0, 5.0, 10.0], [0.0, 10.0, 2.5]).color(color::TRUTH);
    let svg = one(Panel::new(axis(), axis()).with(line.dash(Dash::Dashed))).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let [left, top, right, bottom] = frames(&document)[0];
    let path = paths(&document, "#d55e00")[0];
    let expected = [left, bottom, (left + right) / 2.0, top, right, bottom - 0.25 * (bottom - top)];
    for (found, expected) in numbers(path).into_iter().zip(expected) {
        assert!(near(found, expected), "{found} {expected}");
    }
    assert!(path.has_attribute("stroke-dasharray"));
}

#[test]
fn nan_interrupts_a_line_and_a_band() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, f64::NAN, 2.0, 1.0]);
    let svg = with(Line::new(x, y).color(color::TRUTH)).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let data = paths(&document, "#d55e00")[0].attribute("d").unwrap();
    assert_eq!(data.matches('M').count(), 2);

    let svg = with(Band::new(x, [0.0; 5], y).color(color::TRUTH)).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(paths(&document, "#d55e00")[0].attribute("d").unwrap().matches('Z').count(), 2);
}

#[test]
fn bars_stand_on_zero_and_are_as_high_as_their_counts() {
    let panel = Panel::new("", Axis::new("").range(0.0, 8.0))
        .with(Histogram::new([0.0, 1.0, 2.0, 4.0], [4.0, 0.0, 6.0]).color(color::BLUE));
    let svg = one(panel).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let [left, top, right, bottom] = frames(&document)[0];
    let numbers = numbers(paths(&document, "#0072b2")[0]);
    assert_eq!(numbers.len(), 2 * 8, "two bars, since one is empty");
    let (x, y): (Vec<f64>, Vec<f64>) = numbers.chunks(2).map(|p| (p[0], p[1])).unzip();
    let (width, height) = (right - left, bottom - top);
    let most = |v: &[f64]| v.iter().copied().fold(f64::MIN, f64::max);
    let least = |v: &[f64]| v.iter().copied().fold(f64::MAX, f64::min);
    assert!(near(most(&y), bottom));
    assert!(near(least(&y[..4]), bottom - height / 2.0));
    assert!(near(least(&y[4..]), bottom - height * 0.75));
    assert!(near(least(&x[..4]), left) && near(most(&x[..4]), left + width / 4.0));
    assert!(near(least(&x[4..]), left + width / 2.0) && near(most(&x[4..]), right));
}

#[test]
fn isolines_carry_their_value() {
    let axis: Vec<f64> = (0..21).map(|i| f64::from(i) / 10.0).collect();
    let values: Vec<f64> = axis.iter().flat_map(|_| axis.iter().copied()).collect();
    let layer = Isolines::new(axis.clone(), axis, values).levels([0.5, 1.0]).color(color::TRUTH);
    let svg = with(layer).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let [left, top, right, bottom] = frames(&document)[0];
    for (label, part) in [("0.5", 0.25), ("1.0", 0.5)] {
        let x = left + part * (right - left);
        // An upright line in two parts, and its label in the gap between.
        let place = |&(ref text, tx, ty): &(String, f64, f64)| {
            text == label && (tx - x).abs() < 8.0 && ty > top && ty < bottom
        };
        assert!(texts(&document).iter().any(place), "{label}");
    }
    let data = paths(&document, "#d55e00")[0].attribute("d").unwrap();
    assert_eq!(data.matches('M').count(), 4);
}

#[test]
fn stacked_panels_share_x() {
    let panel = |to: f64| Panel::new("time", "y").with(Line::new([0.0, to], [0.0, 1.0]));
    let figure = Figure::new(400.0, 500.0).share_x().with(panel(1.0)).with(panel(2.0));
    let svg = figure.svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let frames = frames(&document);
    assert_eq!((frames[0][0], frames[0][2]), (frames[1][0], frames[1][2]));
    assert!(frames[0][3] < frames[1][1]);
    let texts = texts(&document);
    assert_eq!(texts.iter().filter(|t| t.0 == "time").count(), 1);
    assert_eq!(texts.iter().filter(|t| t.0 == "y").count(), 2);
    // The upper line ends half way.
    let upper = numbers(paths(&document, "#000000")[0]);
    assert!(near(upper[2], (frames[0][0] + frames[0][2]) / 2.0));
}

#[test]
fn legends_keep_clear_of_the_data() {
    let label = |svg: &str| {
        let document = Document::parse(svg).unwrap();
        let at = texts(&document).into_iter().find(|t| t.0 == "data").unwrap();
        (frames(&document)[0], at.1, at.2)
    };
    // A rising line leaves the upper left corner free, a falling one the upper right.
    let line = |y: [f64; 2]| with(Line::new([0.0, 1.0], y).label("data")).svg().unwrap();
    let ([left, top, right, bottom], x, y) = label(&line([0.0, 1.0]));
    assert!(x < (left + right) / 2.0 && y < (top + bottom) / 2.0 && y > top);
    let ([left, _, right, _], x, _) = label(&line([1.0, 0.0]));
    assert!(x > (left + right) / 2.0);
    // A heat map leaves no place inside.
    let full = Panel::new("", "")
        .with(Density::new([0.0, 1.0], [0.0, 1.0], [1.0]))
        .with(Rule::diagonal().label("data"));
    let ([_, top, ..], _, y) = label(&one(full.clone()).svg().unwrap());
    assert!(y < top);
    let hidden = one(full.legend(Legend::Hidden)).svg().unwrap();
    assert!(!hidden.contains("data</text>"));
}

#[test]
fn room_is_left_around_points_but_not_around_lines() {
    let points = with(Scatter::new([0.0, 1.0], [0.0, 1.0])).svg().unwrap();
    let document = Document::parse(&points).unwrap();
    let [left, _, right, _] = frames(&document)[0];
    for circle in document.descendants().filter(|n| n.has_tag_name("circle")) {
        let x: f64 = circle.attribute("cx").unwrap().parse().unwrap();
        assert!(x > left + 3.0 && x < right - 3.0);
    }
}

#[test]
fn many_points_make_no_large_file() {
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let y: Vec<f64> = (0..n).map(|i| f64::from(i % 1009)).collect();
    let panel = Panel::new("x", "y")
        .with(Line::new(x.clone(), y.clone()))
        .with(Band::new(x.clone(), y.clone(), y.clone()))
        .with(Scatter::new(x, y));
    let svg = one(panel).svg().unwrap();
    assert!(svg.len() < 3_000_000, "{}", svg.len());
}

#[test]
fn names_stand_beside_level_bars() {
    let axis = Axis::new("").names(["a_b", "second"]);
    let bars = ErrorBars::new([0.0, 1.0], [2.0, 4.0], [6.0, 8.0]).level().color(color::TRUTH);
    let panel = Panel::new(Axis::new("").range(0.0, 10.0), axis).with(bars);
    let svg = one(panel).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let [left, top, right, bottom] = frames(&document)[0];
    // The range is from -1/2 to 3/2: the two stand at a quarter and three quarters of the height.
    let (width, height) = (right - left, bottom - top);
    let numbers = numbers(paths(&document, "#d55e00")[0]);
    let expected = [0.2, 0.75, 0.6, 0.75, 0.4, 0.25, 0.8, 0.25];
    for (i, part) in expected.into_iter().enumerate() {
        let place = if i % 2 == 0 { left + part * width } else { top + part * height };
        assert!((numbers[i] - place).abs() < 0.02, "{numbers:?}");
    }
    let texts = texts(&document);
    for (name, part) in [("a_b", 0.75), ("second", 0.25)] {
        let (_, x, y) = texts.iter().find(|t| t.0 == name).unwrap();
        assert!(*x < left && (y - (top + part * height)).abs() < 6.0, "{name}");
    }
}

#[test]
fn values_are_written_as_percentages_dates_and_whole_numbers() {
    let written = |axis: Axis, from: f64, to: f64| -> Vec<String> {
        let panel = Panel::new(axis.range(from, to), Axis::new("").names([""]));
        let svg = one(panel).svg().unwrap();
        let document = Document::parse(&svg).unwrap();
        texts(&document).into_iter().map(|t| t.0).collect()
    };
    assert!(written(Axis::new("").percent(), 0.0, 1.0).contains(&"20%".to_string()));
    assert!(written(Axis::new("").counts(), 0.0, 2e6).contains(&"1,000,000".to_string()));
    // 2017 and 2018, from `date -u -d 2017-01-01 +%s`.
    let dates = written(Axis::new("").dates(), 1_483_228_800.0, 1_546_300_799.0);
    assert!(
        dates.contains(&"2018-01".to_string()) || dates.contains(&"2018".to_string()),
        "{dates:?}"
    );
}

#[test]
fn many_dots_are_one_path_with_a_place_for_each() {
    let x: Vec<f64> = (0..500).map(f64::from).collect();
    let svg = with(Scatter::new(x.clone(), x).color(color::TRUTH).filled()).svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let path = paths(&document, "#d55e00")[0];
    assert_eq!(path.attribute("d").unwrap().matches("h0").count(), 500);
    assert_eq!(path.attribute("stroke-linecap"), Some("round"));
    assert!(!svg.contains("<circle"));
}

#[test]
fn errors_name_the_layer() {
    let error = with(Line::new([1.0, 2.0], [1.0]).label("truth")).svg().unwrap_err();
    assert_eq!(error.to_string(), "panel 1, layer 1 (truth): y has 1 values where 2 are needed");
    let wrong = [
        with(Scatter::new([1.0], [])),
        with(Band::new([1.0], [1.0], [])),
        with(Histogram::new([0.0, 1.0], [1.0, 2.0])),
        with(Isolines::new([0.0, 1.0], [0.0, 1.0], [1.0])),
        with(Density::new([0.0, 1.0], [0.0, 1.0], [])),
    ];
    for figure in wrong {
        assert!(matches!(figure.svg(), Err(Error::Length { .. })), "{figure:?}");
    }
    let edges = with(Histogram::new([0.0, 0.0], [1.0])).svg();
    assert!(matches!(edges, Err(Error::NotIncreasing { index: 1, .. })), "{edges:?}");
    let edges = with(Density::new([0.0, f64::NAN], [0.0, 1.0], [1.0])).png(1.0);
    assert!(matches!(edges, Err(Error::NotIncreasing { index: 1, .. })), "{edges:?}");

    for (width, height) in [(0.0, 100.0), (100.0, f64::NAN), (1e9, 100.0)] {
        assert!(matches!(Figure::new(width, height).svg(), Err(Error::Size { .. })));
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e3] {
        let figure = with(Text::new(0.0, 0.0, "here"));
        assert!(matches!(figure.png(scale), Err(Error::Scale { .. })), "{scale}");
    }
}
