//! Sigma at the levels of an input that is a category, beside the errors.

use super::{CHANCE, FigureData, ReportFigure, Section, Spot, WIDTH, of_all, short};
use crate::axis::Axis;
use crate::color::{FORECAST, TRUTH};
use crate::figure::Figure;
use crate::layer::{ErrorBars, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::Column;
use crate::report::bins::{self, BinSummary};
use crate::table::{Cell, Table};

/// The levels of most rows are drawn.
const DRAWN: usize = 20;
/// Levels in the table.
const LISTED: usize = 200;

/// A figure of an input whose values are places among levels; the `nth` that is shown.
pub(super) fn figure(
    seen: &FigureData<'_>,
    input: &Column<'_>,
    levels: &[String],
    nth: usize,
) -> Option<ReportFigure> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); levels.len() + 2];
    for (row, &code) in (0u32..).zip(input.values) {
        let place = match code {
            code if code.is_nan() => levels.len(),
            code if code >= 0.0 && code < levels.len() as f64 => code as usize,
            _ => levels.len() + 1,
        };
        rows[place].push(row);
    }
    let name = |place: usize| match levels.get(place) {
        Some(level) => level.as_str(),
        None if place == levels.len() => "(missing)",
        None => "(not seen in training)",
    };
    let mut order: Vec<usize> = (0..rows.len()).filter(|&place| !rows[place].is_empty()).collect();
    let all = order.len();
    order.sort_by_key(|&place| std::cmp::Reverse(rows[place].len()));
    order.truncate(LISTED);
    let mut found: Vec<(&str, BinSummary)> = (order.iter())
        .filter_map(|&place| Some((name(place), bins::part(seen.sample, &rows[place])?)))
        .collect();
    let drawn = found.len().min(DRAWN);
    let by_sigma = |a: &(&str, BinSummary), b: &(&str, BinSummary)| b.1.sigma.total_cmp(&a.1.sigma);
    found[..drawn].sort_by(by_sigma);
    let (most, least) = (found.first()?, found.get(drawn.checked_sub(1)?)?);
    let at = |(name, part): &(&str, BinSummary)| {
        format!("{} for {}", short(part.sigma), names::shown(name, names::ON_FIGURES))
    };
    let out = |(_, part): &&(&str, BinSummary)| {
        part.error < part.error_range.0 || part.error > part.error_range.1
    };
    let outside = found[..drawn].iter().filter(out).count();
    let shown = names::shown(input.name, names::IN_TEXT);
    let mut table =
        Table::new(&[&shown, "rows", "sigma", "error", "by chance from", "by chance to"]);
    let mut spots = Vec::new();
    for (row, (name, part)) in found.iter().enumerate() {
        let (low, high) = part.error_range;
        let number = Cell::Number;
        table.rows.push(vec![
            Cell::Text((*name).to_string()),
            Cell::Count(part.rows),
            number(part.sigma),
            number(part.error),
            number(low),
            number(high),
        ]);
        if row < drawn {
            spots.push(Spot { row, panel: 0, x: part.error, y: (drawn - 1 - row) as f64 });
        }
    }
    let mut reading = String::from(
        "Rows by the value of the input, that of the largest sigma first. Root mean squared errors belong on sigma, and within \
         the range of chance around it.",
    );
    if all > drawn {
        reading += &format!(" The {drawn} values of most rows are drawn, of {all}.");
    }
    Some(ReportFigure {
        name: format!("input-{}", nth + 1),
        title: format!("Sigma by {shown}"),
        message: format!(
            "Sigma is {} and {}; errors leave the range of chance in {}.",
            at(least),
            at(most),
            of_all(outside, drawn, "values")
        ),
        reading,
        figure: draw(&found[..drawn]),
        narrow: None,
        table,
        spots,
        section: Section::Inputs,
        open: false,
    })
}

fn draw(levels: &[(&str, BinSummary)]) -> Figure {
    let n = levels.len();
    let y: Vec<f64> = (0..n).rev().map(|i| i as f64).collect();
    let column =
        |of: fn(&BinSummary) -> f64| levels.iter().map(|(_, part)| of(part)).collect::<Vec<f64>>();
    let names: Vec<String> = levels.iter().rev().map(|(name, _)| names::label(name)).collect();
    let (low, high) = (column(|p| p.error_range.0), column(|p| p.error_range.1));
    let panel = Panel::new(Axis::new("size of the error"), Axis::new("").names(names))
        .legend(Legend::Above)
        .with(
            ErrorBars::new(y.clone(), low, high)
                .level()
                .color(CHANCE)
                .width(9.0)
                .label("range of chance (95%)"),
        )
        .with(
            Scatter::new(column(|p| p.sigma), y.clone())
                .color(FORECAST)
                .filled()
                .radius(4.5)
                .label("sigma"),
        )
        .with(
            Scatter::new(column(|p| p.error), y)
                .color(TRUTH)
                .filled()
                .radius(3.0)
                .label("root mean squared error"),
        );
    Figure::new(WIDTH, 110.0 + 26.0 * n.max(2) as f64).with(panel)
}
