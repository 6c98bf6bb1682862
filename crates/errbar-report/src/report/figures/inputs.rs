//! Sigma against the most telling inputs, beside the errors.

use errbar::fit::twins;

use super::cloud::cloud;
use super::frame::frame;
use super::levels;
use super::{CHANCE, FigureData, HEIGHT, ReportFigure, Section, Spot, WIDTH, of_all, short};
use crate::axis::Axis;
use crate::color::{FORECAST, TRUTH};
use crate::figure::Figure;
use crate::layer::{Band, Edge, Line, Scatter};
use crate::legend::Legend;
use crate::names;
use crate::panel::Panel;
use crate::report::Column;
use crate::report::bins::{self, BinSummary, Stretch};
use crate::scene::Dash;
use crate::table::{Cell, Table};

/// At most so many inputs are shown.
const MOST_INPUTS: usize = 6;
/// The rows that the order of inputs is found from.
const ROWS_TO_RANK: usize = 50_000;
/// The rows that tell which inputs stand in for one another.
const ROWS_TO_COMPARE: usize = 2000;

pub(super) fn figures(seen: &FigureData<'_>) -> Vec<ReportFigure> {
    let inputs = &seen.subject.inputs;
    let mut chosen: Vec<usize> = (0..inputs.len()).filter(|&i| varies(&inputs[i])).collect();
    if !seen.subject.ranked && chosen.len() > 1 {
        let mut worth: Vec<(f64, usize)> =
            chosen.iter().map(|&i| (telling(seen, &inputs[i]), i)).collect();
        worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        chosen = worth.into_iter().map(|(_, i)| i).collect();
    }
    let all = chosen.len();
    chosen.truncate(MOST_INPUTS);
    let shown = chosen.len();
    let twins = twins_of(inputs);
    chosen
        .into_iter()
        .enumerate()
        .filter_map(|(nth, i)| {
            let levels = seen.subject.levels.iter().find(|(place, _)| *place == i);
            if let Some((_, levels)) = levels {
                return levels::figure(seen, &inputs[i], levels, nth);
            }
            figure(seen, &inputs[i], nth, (all > shown).then_some((shown, all)), &twins[i])
        })
        .collect()
}

/// For each input the names of those that stand in for it.
fn twins_of(inputs: &[Column<'_>]) -> Vec<Vec<String>> {
    let columns = inputs.len();
    let rows = inputs.first().map_or(0, |input| input.values.len());
    let step = rows.div_ceil(ROWS_TO_COMPARE).max(1);
    let some: Vec<f64> = (0..rows)
        .step_by(step)
        .flat_map(|row| inputs.iter().map(move |input| input.values[row]))
        .collect();
    let mut out = vec![Vec::new(); columns];
    for together in twins(&some, columns, 0) {
        for &own in &together {
            let others = together.iter().filter(|other| **other != own);
            out[own] = others.map(|&i| names::shown(inputs[i].name, names::IN_TEXT)).collect();
        }
    }
    out
}

fn varies(input: &Column<'_>) -> bool {
    input.values.iter().any(|x| Some(x) != input.values.first())
}

/// How much of the variation of sigma, and of the size of errors, bins of the input explain.
fn telling(seen: &FigureData<'_>, input: &Column<'_>) -> f64 {
    let step = input.values.len().div_ceil(ROWS_TO_RANK).max(1);
    let some = |values: &[f64]| -> Vec<f64> { values.iter().step_by(step).copied().collect() };
    let bins = bins::by_value(&some(input.values), 10, 10);
    let size: Vec<f64> = some(seen.sample.error()).iter().map(|e| e.abs()).collect();
    explained(&some(seen.sample.sigma()), &bins) + explained(&size, &bins)
}

/// The share of the variance that lies between bins, less what chance puts there.
fn explained(values: &[f64], bins: &[Vec<u32>]) -> f64 {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / largest).sum::<f64>() / n;
    let total: f64 = values.iter().map(|v| (v / largest - mean).powi(2)).sum();
    let between: f64 = bins
        .iter()
        .map(|bin| {
            let sum: f64 = bin.iter().map(|&row| values[row as usize] / largest).sum();
            bin.len() as f64 * (sum / bin.len() as f64 - mean).powi(2)
        })
        .sum();
    if total <= 0.0 { 0.0 } else { between / total - (bins.len() as f64 - 1.0) / n }
}

/// How far apart points of an input with few different values may be put: a part of the least
/// distance of two values. 0 where there are many.
fn apart(x: &[f64]) -> f64 {
    const FEW: usize = 12;
    let mut values: Vec<f64> = Vec::new();
    for &value in x {
        if !values.contains(&value) {
            values.push(value);
        }
        if values.len() > FEW {
            return 0.0;
        }
    }
    values.sort_by(f64::total_cmp);
    let least = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    if least.is_finite() { 0.15 * least } else { 0.0 }
}

/// A number from −½ to ½ for each row, evenly spread: multiples of the golden ratio.
fn scattered(row: usize) -> f64 {
    (row as f64 * 0.618_033_988_749_894_9).fract() - 0.5
}

fn figure(
    seen: &FigureData<'_>,
    input: &Column<'_>,
    nth: usize,
    left_out: Option<(usize, usize)>,
    twins: &[String],
) -> Option<ReportFigure> {
    let (x, error) = (input.values, seen.sample.error());
    let parts = bins::stretches(seen.sample, x, &bins::by_value(x, 20, 12));
    let column = |of: fn(&BinSummary) -> f64| bins::column(&parts, of);
    let middle: Vec<f64> = parts.iter().map(|stretch| stretch.middle).collect();
    let (sigma, size) = (column(|p| p.sigma), column(|p| p.error));
    let (low, high) = (column(|p| p.error_range.0), column(|p| p.error_range.1));
    let sizes = || error.iter().map(|e| e.abs());
    let usual = frame(sizes()).1.min(bins::quantile(sizes(), 0.995));
    let drawn = high.iter().chain(&size).chain(&sigma).copied();
    let top = 1.08 * frame(drawn).1.max(usual);
    if !(top.is_finite() && top > 0.0) {
        return None;
    }
    let x_range = frame(x.iter().copied());
    let apart = apart(x);
    let cloud = cloud(
        &|i| x[i] + apart * scattered(i),
        &|i| error[i].abs(),
        x.len(),
        x_range,
        (0.0, top),
        "absolute errors",
        false,
    );
    let (from, to) = x_range;
    let room = if cloud.is_density { 0.0 } else { (0.03 * (to - from)).max(0.5 * apart) };
    let label = names::label(input.name);
    let mut panel = Panel::new(
        Axis::new(label).range(from - room, to + room),
        Axis::new("size of the error").range(0.0, top),
    )
    .legend(Legend::Above);
    let chance = "range of chance (95%)";
    panel = match cloud.is_density {
        false => panel
            .with(Band::new(middle.clone(), low, high).color(CHANCE).label(chance))
            .with(cloud.layer),
        // A band would not be seen on it.
        true => {
            let edge = |y: Vec<f64>| Line::new(middle.clone(), y).width(1.0).dash(Dash::Dashed);
            panel.with(cloud.layer).with(edge(low)).with(edge(high).label(chance))
        }
    };
    let panel = panel
        .with(cloud.edge)
        .with(Edge::new(middle.clone(), size.clone()).color(TRUTH))
        .with(Line::new(middle.clone(), sigma.clone()).color(FORECAST).width(2.2).label("sigma"))
        .with(Line::new(middle.clone(), size.clone()).color(TRUTH).width(1.4))
        .with(
            Scatter::new(middle.clone(), size.clone())
                .color(TRUTH)
                .filled()
                .radius(3.0)
                .label("root mean squared error"),
        );
    let shown = names::shown(input.name, names::IN_TEXT);
    let mut table =
        Table::new(&["from", "to", "rows", "sigma", "error", "by chance from", "by chance to"]);
    let mut spots = Vec::new();
    let mut out = 0;
    for (i, Stretch { part, from, middle, to }) in parts.iter().enumerate() {
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
        spots.push(Spot { row: i, panel: 0, x: *middle, y: part.error });
        out += usize::from(part.error < low || part.error > high);
    }
    let extreme = |best: fn(f64, f64) -> bool| {
        (0..sigma.len()).reduce(|a, b| if best(sigma[b], sigma[a]) { b } else { a }).unwrap_or(0)
    };
    let (least, most) = (extreme(|b, a| b < a), extreme(|b, a| b > a));
    let at = |i: usize| format!("{} near {}", short(sigma[i]), short(middle[i]));
    let mut reading = String::from(
        "Rows in bins of like values of the input. Root mean squared errors belong on the line of \
         sigma, and within the range of chance around it.",
    );
    if let Some((first, others)) = twins.split_first() {
        let and_more = match others.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        reading += &format!(
            " This input and {first}{and_more} nearly follow from one another: whose effect it is, \
             these rows do not tell."
        );
    }
    if !cloud.words.is_empty() {
        reading = format!("{reading} {}", cloud.words);
    }
    if apart > 0.0 {
        reading += " Points are moved sideways a little, so that they can be told apart.";
    }
    if let (0, Some((shown, all))) = (nth, left_out) {
        reading += &format!(" The {shown} most telling of {all} inputs are shown.");
    }
    Some(ReportFigure {
        name: format!("input-{}", nth + 1),
        title: format!("Sigma against {shown}"),
        message: format!(
            "Sigma is {} and {}; errors leave the range of chance in {}.",
            at(least),
            at(most),
            of_all(out, parts.len(), "bins")
        ),
        reading,
        figure: Figure::new(WIDTH, HEIGHT).with(panel),
        narrow: None,
        table,
        spots,
        section: Section::Inputs,
        open: false,
    })
}
