//! Errors and intervals in the order of rows or of time: drift is seen at once.

use errbar::words::significant;

use super::cloud::{cloud, range};
use super::frame::{frame, roomy};
use super::{BROAD, CHANCE, CLAIMED, FigureData, ReportFigure, Section, Spot, WIDTH, of_all, time};
use crate::axis::Axis;
use crate::color::{FORECAST, TRUTH};
use crate::figure::Figure;
use crate::layer::{Band, Edge, Line, Rule, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::bins::{self, BinSummary, Stretch};
use crate::report::{LEVEL, Order};
use crate::table::{Cell, Table};

/// Up to so many rows have an interval each; more share them.
const INTERVALS: usize = 600;

pub(super) fn figure(seen: &FigureData<'_>) -> ReportFigure {
    let rows = seen.sample.len();
    let numbers: Vec<f64>;
    let (x, name, dates) = match seen.subject.order {
        Order::Time { name, values, dates } => (values, names::label(name), dates),
        Order::Rows => {
            numbers = (1..=rows).map(|row| row as f64).collect();
            (&numbers[..], String::from("row"), false)
        }
    };
    let mut parts = bins::stretches(seen.sample, x, &bins::in_order(rows, 24, 20));
    // Intervals are those of the law.
    let by_law = bins::stretches(seen.equal, x, &bins::in_order(rows, 24, 20));
    for (own, by_law) in parts.iter_mut().zip(by_law) {
        (own.part.inside, own.part.inside_range) = (by_law.part.inside, by_law.part.inside_range);
    }
    let width = |rows: &Vec<u32>| bins::mean(seen.sample, rows, |row| seen.each.width(row));
    let widths: Vec<f64> = bins::in_order(rows, 24, 20).iter().filter_map(width).collect();
    let draw = |broad: bool| panels(seen, x, (&parts, &widths), &name, dates, broad);
    let (figure, words) = draw(true);
    let (narrow, _) = draw(false);
    let level = format!("{}%", significant(100.0 * LEVEL, 3));
    let inside = format!("inside {level}");
    let wide = format!("{level} width");
    let mut table = Table::new(&[
        "from",
        "to",
        "rows",
        "mean error",
        "by chance ±",
        "error",
        "sigma",
        &inside,
        "by chance from",
        "by chance to",
        &wide,
    ]);
    let mut spots = Vec::new();
    let (mut biased, mut off) = (0, 0);
    for (i, Stretch { part, from, middle, to }) in parts.iter().enumerate() {
        let number = Cell::Number;
        let ends_of = |at: f64| match seen.subject.order {
            Order::Rows => Cell::Count(at as usize),
            Order::Time { .. } => time(at, dates),
        };
        table.rows.push(vec![
            ends_of(*from),
            ends_of(*to),
            Cell::Count(part.rows),
            number(part.bias),
            number(part.bias_reach),
            number(part.error),
            number(part.sigma),
            Cell::Share(part.inside),
            Cell::Share(part.inside_range.0),
            Cell::Share(part.inside_range.1),
            number(widths[i]),
        ]);
        spots.push(Spot { row: i, panel: 1, x: *middle, y: part.bias });
        biased += usize::from(part.bias.abs() > part.bias_reach);
        off += usize::from(part.inside < part.inside_range.0 || part.inside > part.inside_range.1);
    }
    let of_panel = |panel: usize, y: &dyn Fn(usize) -> f64| -> Vec<Spot> {
        spots.iter().map(|spot| Spot { panel, y: y(spot.row), ..*spot }).collect()
    };
    let held = of_panel(2, &|i| parts[i].part.inside);
    let wide = of_panel(3, &|i| widths[i]);
    spots.extend(held.into_iter().chain(wide));
    let (title, what) = match seen.subject.order {
        Order::Rows => ("In the order of rows", "rows"),
        Order::Time { .. } => ("In the order of time", "rows in time"),
    };
    ReportFigure {
        name: "order".into(),
        title: title.into(),
        message: format!(
            "The mean error leaves the range of chance in {}, the share inside the {level} intervals in {}.",
            of_all(biased, parts.len(), "parts"),
            of_all(off, parts.len(), "parts"),
        ),
        reading: format!(
            "Above, errors (observation minus forecast) and the {level} interval that sigma puts \
             around them; below, consecutive {what} in {} parts: their mean error, the share of \
             observations inside the intervals, and the mean width of these. A mean error that wanders \
             out of the range of chance is drift: expect it to go on. Where errors grow, intervals should \
             widen, so that the share inside stays.{}{words}",
            parts.len(),
            if words.is_empty() { "" } else { " " },
        ),
        figure,
        narrow: Some(narrow),
        table,
        spots,
        section: Section::Order,
        open: false,
    }
}

fn panels(
    seen: &FigureData<'_>,
    x: &[f64],
    (parts, widths): (&[Stretch], &[f64]),
    name: &str,
    dates: bool,
    broad: bool,
) -> (Figure, String) {
    let (rows, error) = (seen.sample.len(), seen.sample.error());
    let column = |of: fn(&BinSummary) -> f64| bins::column(parts, of);
    let middle: Vec<f64> = parts.iter().map(|stretch| stretch.middle).collect();

    // The interval: row by row, or of many short stretches.
    let ends = &seen.each.ends;
    let shared = |rows: &Vec<u32>| {
        let mean =
            |of: &dyn Fn((f64, f64)) -> f64| bins::mean(seen.sample, rows, |row| of(ends[row]));
        let here = x[*rows.get(rows.len() / 2)? as usize];
        Some((here, (mean(&|(least, _)| least)?, mean(&|(_, most)| most)?)))
    };
    let (at, ends): (Vec<f64>, Vec<(f64, f64)>) = match rows <= INTERVALS {
        true => (x.to_vec(), ends.clone()),
        false => bins::in_order(rows, 200, 1).iter().filter_map(shared).unzip(),
    };
    let (lower, edge): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    let size = |values: &[f64]| frame(values.iter().map(|e| e.abs())).1;
    let usual = size(error).min(bins::quantile(error.iter().map(|e| e.abs()), 0.995));
    let top = 1.05 * usual.max(size(&edge)).max(size(&lower)).max(f64::MIN_POSITIVE);
    let x_range = frame(x.iter().copied());
    let cloud = cloud(&|i| x[i], &|i| error[i], rows, x_range, (-top, top), "errors", broad);
    let x_axis = || {
        let axis = Axis::new(name).range(x_range.0, x_range.1);
        match (dates, seen.subject.order) {
            (true, _) => axis.dates(),
            (false, Order::Rows) => axis.counts(),
            _ => axis,
        }
    };
    let level = format!("{}% interval", significant(100.0 * LEVEL, 3));
    let mut errors =
        Panel::new(x_axis(), Axis::new("error").range(-top, top)).legend(Legend::Above);
    errors = match cloud.is_density {
        false => {
            errors.with(Band::new(at, lower, edge).color(CLAIMED).label(level)).with(cloud.layer)
        }
        true => errors
            .with(cloud.layer)
            .with(Line::new(at.clone(), lower).color(FORECAST).width(1.4))
            .with(Line::new(at, edge).color(FORECAST).width(1.4).label(level)),
    };
    errors = errors.with(cloud.edge).with(Rule::horizontal(0.0));

    let chance = "range of chance (95%)";
    let dots = |y: Vec<f64>| Scatter::new(middle.clone(), y).color(TRUTH).filled().radius(3.0);
    let line = |y: Vec<f64>| Line::new(middle.clone(), y).color(TRUTH).width(1.4);
    let bias = column(|p| p.bias);
    // Both sides of chance alike, and no more of either than nearly all parts need.
    let reach = column(|p| p.bias_reach);
    let most = size(&bias).max(size(&reach));
    let shown = bias.iter().chain(&reach).copied().filter(|v| v.abs() <= most);
    let shown = shown.chain(reach.iter().map(|reach| -reach).filter(|v| v.abs() <= most));
    let (least, most) = roomy(range(&shown.chain([0.0]).collect::<Vec<f64>>()));
    let far = |y: &[f64]| Edge::new(middle.clone(), y.to_vec()).color(TRUTH);
    let mean = Panel::new(x_axis(), Axis::new("mean error").range(least, most))
        .legend(Legend::Above)
        .with(
            Band::new(middle.clone(), column(|p| -p.bias_reach), column(|p| p.bias_reach))
                .color(CHANCE)
                .label(chance),
        )
        .with(Rule::horizontal(0.0))
        .with(line(bias.clone()))
        .with(far(&bias))
        .with(dots(bias).label("observed"));
    let inside = column(|p| p.inside);
    let least = column(|p| p.inside.min(p.inside_range.0)).into_iter().fold(LEVEL, f64::min);
    let most = column(|p| p.inside.max(p.inside_range.1)).into_iter().fold(LEVEL, f64::max);
    // Not so close that chance looks like drama.
    let room = (0.1 * (most - least)).max(0.01);
    let axis = Axis::new("inside").percent().range(least - room, most + room);
    let held = Panel::new(x_axis(), axis)
        .legend(Legend::Hidden)
        .with(
            Band::new(middle.clone(), column(|p| p.inside_range.0), column(|p| p.inside_range.1))
                .color(CHANCE),
        )
        .with(Rule::horizontal(LEVEL))
        .with(line(inside.clone()))
        .with(dots(inside));
    let widest = frame(widths.iter().copied()).1;
    let wide = Panel::new(x_axis(), Axis::new("width").range(0.0, 1.1 * widest))
        .legend(Legend::Hidden)
        .with(Edge::new(middle.clone(), widths).color(FORECAST))
        .with(Line::new(middle.clone(), widths).color(FORECAST).width(1.4))
        .with(Scatter::new(middle.clone(), widths).color(FORECAST).filled().radius(3.0));
    let figure = Figure::new(if broad { BROAD } else { WIDTH }, 740.0).share_x();
    let figure = figure.with(errors).with(mean).with(held).with(wide);
    (figure, cloud.words)
}
