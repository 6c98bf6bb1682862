//! Spread and skill: are errors larger where sigma is?

use errbar::words::significant;

use super::frame::{beyond_in_words, frame_of_factors, is_beyond, spaced};
use super::{CHANCE, FigureData, HEIGHT, ReportFigure, Section, Spot, WIDTH, of_all};
use crate::axis::Axis;
use crate::color::TRUTH;
use crate::figure::Figure;
use crate::layer::{Edge, ErrorBars, Line, Rule, Scatter};
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary, Stretch};
use crate::table::{Cell, Table};

/// Sigma over a larger range than this is shown on logarithmic axes.
const MANY_TIMES: f64 = 8.0;

pub(super) fn figure(seen: &FigureData<'_>) -> ReportFigure {
    let sigma = seen.sample.sigma();
    let parts = bins::stretches(seen.sample, sigma, &bins::by_value(sigma, 12, 10));
    let column = |of: fn(&BinSummary) -> f64| bins::column(&parts, of);
    let (spread, skill) = (column(|p| p.sigma), column(|p| p.error));
    let (low, high) = (column(|p| p.error_range.0), column(|p| p.error_range.1));
    let all = spread.iter().chain(&skill).chain(&high).copied();
    let (_, most) = frame_of_factors(all);
    let (least, _) = frame_of_factors(spread.iter().chain(&skill).copied());
    let log = most > MANY_TIMES * least;
    let axis = |label: &str| match log {
        true => Axis::new(label).log().range(0.8 * least, 1.25 * most),
        false => Axis::new(label).range(0.0, 1.06 * most),
    };
    let panel = Panel::new(axis("sigma (root mean square)"), axis("error (root mean square)"))
        .with(
            ErrorBars::new(spread.clone(), low, high)
                .color(CHANCE)
                .width(9.0)
                .label("range of chance (95%)"),
        )
        .with(Rule::diagonal().label("error as large as sigma"))
        .with(Line::new(spread.clone(), skill.clone()).color(TRUTH))
        .with(Edge::new(spread.clone(), skill.clone()).color(TRUTH))
        .with(
            Scatter::new(spread.clone(), skill.clone())
                .color(TRUTH)
                .filled()
                .radius(3.5)
                .label("observed"),
        );
    let mut table = Table::new(&[
        "sigma from",
        "sigma to",
        "rows",
        "sigma",
        "error",
        "by chance from",
        "by chance to",
    ]);
    let mut spots = Vec::new();
    let mut out = 0;
    for (i, Stretch { part, from, to, .. }) in parts.iter().enumerate() {
        let (low, high) = part.error_range;
        let number = Cell::Number;
        table.rows.push(vec![
            number(*from),
            number(*to),
            Cell::Count(part.rows),
            number(part.sigma),
            number(part.error),
            number(low),
            number(high),
        ]);
        spots.push(Spot { row: i, panel: 0, x: part.sigma, y: part.error });
        out += usize::from(part.error < low || part.error > high);
    }
    let ends = if log { (0.8 * least, 1.25 * most) } else { (0.0, 1.06 * most) };
    let far =
        (spread.iter().zip(&skill)).filter(|(a, b)| is_beyond(**a, ends) || is_beyond(**b, ends));
    let far = spaced(&beyond_in_words(far.count(), "bin", "bins"));
    let message = match parts.len() {
        0 | 1 => String::from("Sigma is the same for all rows, so there is nothing to compare."),
        n => {
            let times = |values: &[f64]| {
                let (first, last) = (values[0], values[n - 1]);
                significant(last / first, 2)
            };
            format!(
                "From the smallest to the largest sigma, sigma grows {} times and the error {} times; \
                 the error leaves the range of chance in {}.",
                times(&spread),
                times(&skill),
                of_all(out, n, "bins")
            )
        }
    };
    ReportFigure {
        name: "spread-skill".into(),
        title: "Spread and skill".into(),
        message,
        reading: format!(
            "Rows in bins of like sigma: how large sigma says the errors are, and how large they were. \
             Points belong on the line; flatter than the line, sigma varies too much; steeper, too \
             little.{far}"
        ),
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Size,
        open: false,
    }
}
