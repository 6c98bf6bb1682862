//! Are the error bars of the right size? Reliability diagram, PIT histogram, coverage.

use errbar::words::significant;

use super::{CHANCE, FigureData, HEIGHT, ReportFigure, Section, Spot, WIDTH, of_all};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Band, ErrorBars, Histogram, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::panel::Panel;
use crate::scene::Dash;
use crate::table::{Cell, Table, percent};

pub(super) fn reliability(seen: &FigureData<'_>) -> ReportFigure {
    let diagram = &seen.scores.diagram;
    let with_ends = |values: &[f64]| [&[0.0], values, &[1.0]].concat();
    let nominal = with_ends(&diagram.nominal);
    let share = |label: &str| Axis::new(label).percent().range(0.0, 1.0);
    let panel = Panel::new(share("claimed probability"), share("observed frequency"))
        .with(
            Band::new(nominal.clone(), with_ends(&diagram.low), with_ends(&diagram.high))
                .color(CHANCE)
                .label("range of chance (95%)"),
        )
        .with(Rule::diagonal())
        .with(
            Line::new(nominal, with_ends(&diagram.observed))
                .color(TRUTH)
                .width(2.0)
                .label("observed"),
        )
        .with(
            Scatter::new(diagram.nominal.clone(), diagram.observed.clone())
                .color(TRUTH)
                .filled()
                .radius(2.5),
        );
    let mut table = Table::new(&["claimed", "observed", "by chance from", "by chance to"]);
    let mut spots = Vec::new();
    let mut out = 0;
    for (i, (&claimed, &observed)) in diagram.nominal.iter().zip(&diagram.observed).enumerate() {
        let (low, high) = (diagram.low[i], diagram.high[i]);
        out += usize::from(observed < low || observed > high);
        table.rows.push([claimed, observed, low, high].map(Cell::Share).to_vec());
        spots.push(Spot { row: i, panel: 0, x: claimed, y: observed });
    }
    let levels = diagram.nominal.len();
    let probability = match diagram.p_value {
        p if p < 0.001 => String::from("below 0.001"),
        p => significant(p, 2),
    };
    ReportFigure {
        name: "reliability".into(),
        title: "Reliability diagram".into(),
        message: format!(
            "The curve leaves the range of chance at {}. Its largest distance from the diagonal is {}; \
             chance alone makes one so large with probability {probability}.",
            of_all(out, levels, "levels"),
            percent(diagram.largest_deviation),
        ),
        reading: "How often observations fall below each quantile of the forecast, against how often \
            they should. On the diagonal all is well; above it on the left and below it on the right, \
            sigma is too small; the other way round, too large; all on one side, the forecast is \
            biased."
            .into(),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: false,
    }
}

pub(super) fn pit(seen: &FigureData<'_>) -> ReportFigure {
    let pit = &seen.scores.pit;
    let bins = pit.frequency.len();
    let edge = |i: usize| i as f64 / bins as f64;
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let flat = 1.0 / bins as f64;
    let top = pit.frequency.iter().copied().fold(pit.high, f64::max) * 1.12;
    let panel = Panel::new(
        Axis::new("place of the observation in its forecast distribution")
            .percent()
            .range(0.0, 1.0),
        Axis::new("share of the observations").percent().range(0.0, top),
    )
    .legend(Legend::Above)
    .with(
        Band::new([0.0, 1.0], [pit.low; 2], [pit.high; 2])
            .color(CHANCE)
            .label("range of chance (95%)"),
    )
    .with(Histogram::new(edges, pit.frequency.clone()).label("observed"))
    .with(Rule::horizontal(pit.low).dash(Dash::Dashed))
    .with(Rule::horizontal(pit.high).dash(Dash::Dashed));
    let mut table = Table::new(&["from", "to", "observed", "by chance from", "by chance to"]);
    let mut spots = Vec::new();
    for (i, &frequency) in pit.frequency.iter().enumerate() {
        let row = [edge(i), edge(i + 1), frequency, pit.low, pit.high];
        table.rows.push(row.map(Cell::Share).to_vec());
        spots.push(Spot { row: i, panel: 0, x: edge(i) + 0.5 * flat, y: frequency });
    }
    let out = pit.frequency.iter().filter(|&&f| f < pit.low || f > pit.high).count();
    ReportFigure {
        name: "pit".into(),
        title: "PIT histogram".into(),
        message: format!(
            "{} leave the range of chance, where about {} would by chance alone.",
            capital(&of_all(out, bins, "bars")),
            significant((1.0 - pit.confidence) * bins as f64, 1),
        ),
        reading: "Where in its own forecast distribution each observation fell (probability integral \
            transform). Flat is right; a U says that sigma is too small, a hump that it is too large, \
            a slope that the forecast is biased."
            .into(),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: false,
    }
}

pub(super) fn coverage(seen: &FigureData<'_>) -> ReportFigure {
    let coverage = &seen.scores.coverage;
    let names = coverage.iter().map(|c| format!("{}%", significant(100.0 * c.level, 4)));
    let place: Vec<f64> = (0..coverage.len()).map(|i| i as f64).collect();
    // In percentage points from what is claimed, since 99.0% and 99.5% would look alike.
    let points = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..coverage.len()).map(|i| 100.0 * (of(i) - coverage[i].level)).collect()
    };
    let observed = points(&|i| coverage[i].observed);
    let (low, high) = (points(&|i| coverage[i].low), points(&|i| coverage[i].high));
    let panel = Panel::new(
        Axis::new("central interval").names(names),
        Axis::new("observed − claimed (percentage points)"),
    )
    .legend(Legend::Above)
    .with(
        ErrorBars::new(place.clone(), low, high)
            .color(CHANCE)
            .width(18.0)
            .label("range of chance (95%)"),
    )
    .with(Rule::horizontal(0.0))
    .with(
        Scatter::new(place.clone(), observed.clone())
            .color(TRUTH)
            .filled()
            .radius(4.0)
            .label("observed"),
    );
    let mut table =
        Table::new(&["claimed", "observed", "by chance from", "by chance to", "mean width"]);
    let mut spots = Vec::new();
    let mut out = 0;
    for (i, c) in coverage.iter().enumerate() {
        let mut row = [c.level, c.observed, c.low, c.high].map(Cell::Share).to_vec();
        row.push(Cell::Number(c.mean_width));
        table.rows.push(row);
        spots.push(Spot { row: i, panel: 0, x: place[i], y: observed[i] });
        out += usize::from(c.observed < c.low || c.observed > c.high);
    }
    ReportFigure {
        name: "coverage".into(),
        title: "Coverage of central intervals".into(),
        message: format!(
            "The share of observations held leaves the range of chance at {}.",
            of_all(out, coverage.len(), "levels")
        ),
        reading:
            "How many more (or fewer) observations each interval holds than it claims. Below 0, \
            intervals are too narrow; above, too wide. Width is what this reliability costs."
                .into(),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: true,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
