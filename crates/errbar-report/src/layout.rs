//! Where the panels of a figure go, and what is written around them.

use crate::axis::{Axis, Extent, Frame, Map, Room};
use crate::color::{INK, TWO_SD};
use crate::figure::Figure;
use crate::layer::{Key, color_strip};
use crate::legend::Legend;
use crate::occupancy::Occupancy;
use crate::panel::Panel;
use crate::scene::{Anchor, Mark, Point, Rect, Scene, Stroke, Words};
use crate::text;
use crate::ticks::{self, Ticks};

const EDGE: f64 = 8.0;
const TITLE: f64 = 15.0;
const PANEL_TITLE: f64 = 13.0;
const LABEL: f64 = 13.0;
const NUMBER: f64 = 11.5;
const TICK: f64 = 5.0;
const MINOR_TICK: f64 = 3.0;
/// From the end of a tick to its number.
const TICK_GAP: f64 = 4.0;
const BETWEEN_ROWS: f64 = 14.0;
const BETWEEN_COLUMNS: f64 = 16.0;
const KEY_GAP: f64 = 12.0;
const KEY_WIDTH: f64 = 12.0;

/// A panel with its place.
struct Placed {
    frame: Frame,
    x_ticks: Ticks,
    y_ticks: Ticks,
    /// Whether the numbers and the label of x are written.
    shows_x: bool,
    /// Where the labels of y and of the colour key are centred.
    label_x: f64,
    key_label_x: f64,
}

pub(crate) fn scene(figure: &Figure) -> Scene {
    let mut marks = Vec::new();
    if !figure.title.is_empty() {
        let at = (figure.width / 2.0, EDGE + TITLE);
        let fitting = figure.width - 2.0 * EDGE;
        marks.push(label(at, &figure.title, TITLE, Anchor::Middle, 0.0, fitting));
    }
    // A legend that finds no free place goes above its panel, which moves everything: begin again.
    // One that went there stays there, so this ends.
    let mut above = vec![None; figure.panels.len()];
    'again: loop {
        let placed = place(figure, &above);
        let mut drawn = Vec::new();
        for (i, (panel, place)) in figure.panels.iter().zip(&placed).enumerate() {
            let rect = place.frame.rect;
            let data = panel.draw(&place.frame);
            let entries = panel.entries();
            let mut inside = None;
            if panel.legend != Legend::Hidden && !entries.is_empty() && above[i].is_none() {
                let mut taken = Occupancy::new(rect);
                data.iter().for_each(|mark| taken.add(mark));
                inside = entries.find_inside(panel.legend, rect, &taken);
                if inside.is_none() {
                    above[i] = Some(entries.height_above(rect.width()));
                    continue 'again;
                }
            }
            drawn.push(Mark::Clip(Some(rect)));
            drawn.extend(grid(panel, place));
            drawn.extend(data);
            drawn.push(Mark::Clip(None));
            draw_axes(panel, place, &mut drawn);
            match inside {
                Some(rect) => entries.draw_inside(rect, &mut drawn),
                None if above[i].is_some() => {
                    entries.draw_above(rect, rect.top - title_height(panel), &mut drawn)
                }
                None => {}
            }
        }
        marks.extend(drawn);
        return Scene {
            width: figure.width,
            height: figure.height,
            title: figure.title.clone(),
            description: figure.description.clone(),
            marks,
            frames: placed.into_iter().map(|place| place.frame).collect(),
        };
    }
}

/// Heights first, since the numbers beside the y axes depend on them; then the widths that these
/// numbers leave.
fn place(figure: &Figure, above: &[Option<f64>]) -> Vec<Placed> {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns);
    let shows_x: Vec<bool> = (0..figure.panels.len())
        .map(|i| !figure.share_x || i + columns >= figure.panels.len())
        .collect();
    let most = |f: &dyn Fn(usize) -> f64, chosen: &dyn Fn(usize) -> bool| {
        (0..figure.panels.len()).filter(|&i| chosen(i)).map(f).fold(0.0, f64::max)
    };

    let head = |i: usize| title_height(&figure.panels[i]) + above[i].unwrap_or(0.0);
    let foot = |i: usize| match (shows_x[i], figure.panels[i].x.label.is_empty()) {
        (false, _) => 0.0,
        (true, true) => TICK + TICK_GAP + NUMBER,
        (true, false) => TICK + TICK_GAP + NUMBER + 6.0 + LABEL,
    };
    let heads: Vec<f64> = (0..rows).map(|r| most(&head, &|i| i / columns == r)).collect();
    let feet: Vec<f64> = (0..rows).map(|r| most(&foot, &|i| i / columns == r)).collect();
    let title = if figure.title.is_empty() { 0.0 } else { TITLE + 10.0 };
    let used: f64 = heads.iter().chain(&feet).sum::<f64>()
        + title
        + 2.0 * EDGE
        + BETWEEN_ROWS * rows.saturating_sub(1) as f64;
    let height = ((figure.height - used) / rows.max(1) as f64).floor().max(10.0);

    let x_ranges = x_ranges(figure, columns);
    let y_ranges: Vec<_> =
        figure.panels.iter().zip(&x_ranges).map(|(panel, &x)| panel.y_range(x)).collect();
    let y_ticks: Vec<Ticks> = figure
        .panels
        .iter()
        .zip(&y_ranges)
        .map(|(panel, &range)| panel.y.ticks(range, (height / 32.0).clamp(2.0, 9.0) as usize))
        .collect();

    let numbers = |i: usize| widest(&y_ticks[i]) + TICK + TICK_GAP;
    let label_room = |label: &str| if label.is_empty() { 0.0 } else { LABEL + 7.0 };
    let left = |i: usize| numbers(i) + label_room(&figure.panels[i].y.label);
    let right = |i: usize| {
        let panel = &figure.panels[i];
        // Half of the last number of x may stand out.
        let number = widest(&panel.x.ticks(x_ranges[i], 8)) / 2.0 - EDGE + 2.0;
        panel.key().map_or(number.clamp(6.0, 40.0), |key| {
            let numbers = widest(&key_ticks(&key, height));
            KEY_GAP + KEY_WIDTH + TICK + TICK_GAP + numbers + label_room(key.label)
        })
    };
    let lefts: Vec<f64> = (0..columns).map(|c| most(&left, &|i| i % columns == c)).collect();
    let rights: Vec<f64> = (0..columns).map(|c| most(&right, &|i| i % columns == c)).collect();
    let used: f64 = lefts.iter().chain(&rights).sum::<f64>()
        + 2.0 * EDGE
        + BETWEEN_COLUMNS * (columns - 1) as f64;
    let width = ((figure.width - used) / columns as f64).floor().max(10.0);

    let mut placed = Vec::new();
    for (i, panel) in figure.panels.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let before = |lengths: &[f64], n: usize| lengths[..n].iter().sum::<f64>();
        let x0 = EDGE
            + before(&lefts, column)
            + before(&rights, column)
            + column as f64 * (width + BETWEEN_COLUMNS);
        let y0 = EDGE
            + title
            + before(&heads, row)
            + before(&feet, row)
            + row as f64 * (height + BETWEEN_ROWS);
        // On half pixels, so that thin lines are sharp.
        let (x, y) = ((x0 + lefts[column]).ceil() + 0.5, (y0 + heads[row]).ceil() + 0.5);
        let rect = Rect { left: x, top: y, right: x + width - 1.0, bottom: y + height - 1.0 };
        let (x_range, y_range) = in_proportion(panel, rect, x_ranges[i], y_ranges[i]);
        let frame = Frame {
            rect,
            x: Map::new(&panel.x, x_range, rect.left, rect.right),
            y: Map::new(&panel.y, y_range, rect.bottom, rect.top),
        };
        placed.push(Placed {
            x_ticks: fitting_ticks(&panel.x, x_range, rect.width()),
            y_ticks: match panel.aspect {
                Some(_) => panel.y.ticks(y_range, (height / 32.0).clamp(2.0, 9.0) as usize),
                None => y_ticks[i].clone(),
            },
            shows_x: shows_x[i],
            label_x: x0 + 0.8 * LABEL,
            key_label_x: rect.right + rights[column] - 0.2 * LABEL,
            frame,
        });
    }
    placed
}

/// The ranges of x and y, one of them widened about its middle so that both have the scale that the panel
/// asks for.
fn in_proportion(
    panel: &Panel,
    rect: Rect,
    x: (f64, f64),
    y: (f64, f64),
) -> ((f64, f64), (f64, f64)) {
    let Some(aspect) = panel.aspect else { return (x, y) };
    // In units of x for each pixel.
    let (by_x, by_y) = ((x.1 - x.0) / rect.width(), aspect * (y.1 - y.0) / rect.height());
    let widened = |(low, high): (f64, f64), factor: f64| {
        let (middle, half) = (0.5 * low + 0.5 * high, 0.5 * factor * (high - low));
        (middle - half, middle + half)
    };
    match by_x < by_y {
        true => (widened(x, by_y / by_x), y),
        false => (x, widened(y, by_x / by_y)),
    }
}

/// Thin lines at the ticks, where a panel wants them.
fn grid(panel: &Panel, place: &Placed) -> Option<Mark> {
    let (frame, rect) = (&place.frame, place.frame.rect);
    let across = place.y_ticks.major.iter().filter_map(|(y, _)| frame.y.pixel(*y));
    let up = place.x_ticks.major.iter().filter_map(|(x, _)| frame.x.pixel(*x));
    let lines: Vec<Vec<Point>> = (across.map(|y| vec![(rect.left, y), (rect.right, y)]))
        .chain(up.map(|x| vec![(x, rect.bottom), (x, rect.top)]))
        .collect();
    let drawn = panel.grid && !lines.is_empty();
    drawn.then(|| Mark::stroked(lines, Stroke::solid(TWO_SD, 1.0)))
}

fn title_height(panel: &Panel) -> f64 {
    if panel.title.is_empty() { 0.0 } else { PANEL_TITLE + 6.0 }
}

/// The range of x of each panel.
fn x_ranges(figure: &Figure, columns: usize) -> Vec<(f64, f64)> {
    let alone = |panel: &Panel| panel.x.resolve(&panel.x_extent());
    if !figure.share_x {
        return figure.panels.iter().map(alone).collect();
    }
    let shared = |column: usize| {
        let mut all = Extent::empty();
        for panel in figure.panels.iter().skip(column).step_by(columns) {
            let (low, high) = alone(panel);
            if panel.x.range.is_some() || !panel.x_extent().is_empty() {
                all.add(low, Room::Any);
                all.add(high, Room::Any);
            }
        }
        all
    };
    let by_column: Vec<Extent> = (0..columns).map(shared).collect();
    (0..figure.panels.len())
        .map(|i| {
            // What was given for one panel holds for all that share it.
            let axis = Axis { range: None, ..figure.panels[i].x.clone() };
            axis.resolve(&by_column[i % columns])
        })
        .collect()
}

/// As many ticks as there is room for their numbers side by side.
fn fitting_ticks(axis: &Axis, range: (f64, f64), width: f64) -> Ticks {
    let mut most = (width / 45.0).clamp(2.0, 11.0) as usize;
    loop {
        let ticks = axis.ticks(range, most);
        let room = width / ticks.major.len().max(1) as f64;
        if most <= 2 || widest(&ticks) + 16.0 <= room {
            return ticks;
        }
        most -= 1;
    }
}

fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|(_, label)| text::width(label, NUMBER)).fold(0.0, f64::max)
}

fn key_ticks(key: &Key<'_>, height: f64) -> Ticks {
    ticks::linear(key.range.0, key.range.1, (height / 32.0).clamp(2.0, 7.0) as usize)
}

fn draw_axes(panel: &Panel, place: &Placed, marks: &mut Vec<Mark>) {
    let rect = place.frame.rect;
    let line = Stroke::solid(INK, 1.0);
    let x_of =
        |value: f64| place.frame.x.pixel(value).filter(|x| within(*x, rect.left, rect.right));
    let y_of =
        |value: f64| place.frame.y.pixel(value).filter(|y| within(*y, rect.top, rect.bottom));

    let mut lines = Vec::new();
    let down = |x: f64, length: f64| vec![(x, rect.bottom), (x, rect.bottom + length)];
    let out = |y: f64, length: f64| vec![(rect.left, y), (rect.left - length, y)];
    let major = |ticks: &Ticks| ticks.major.iter().map(|(v, _)| *v).collect::<Vec<f64>>();
    lines.extend(major(&place.x_ticks).into_iter().filter_map(x_of).map(|x| down(x, TICK)));
    lines.extend(place.x_ticks.minor.iter().copied().filter_map(x_of).map(|x| down(x, MINOR_TICK)));
    lines.extend(major(&place.y_ticks).into_iter().filter_map(y_of).map(|y| out(y, TICK)));
    lines.extend(place.y_ticks.minor.iter().copied().filter_map(y_of).map(|y| out(y, MINOR_TICK)));
    if !lines.is_empty() {
        marks.push(Mark::stroked(lines, line));
    }
    let closed = true;
    marks.push(Mark::Path { lines: vec![rect.corners()], closed, fill: None, stroke: Some(line) });

    if place.shows_x {
        let y = rect.bottom + TICK + TICK_GAP + 0.75 * NUMBER;
        for (value, text) in &place.x_ticks.major {
            if let Some(x) = x_of(*value) {
                marks.push(label((x, y), text, NUMBER, Anchor::Middle, 0.0, f64::INFINITY));
            }
        }
        let at = ((rect.left + rect.right) / 2.0, y + 0.25 * NUMBER + 4.0 + LABEL);
        push_label(marks, at, &panel.x.label, 0.0, rect.width());
    }
    for (value, text) in &place.y_ticks.major {
        if let Some(y) = y_of(*value) {
            let at = (rect.left - TICK - TICK_GAP, y + 0.36 * NUMBER);
            marks.push(label(at, text, NUMBER, Anchor::End, 0.0, f64::INFINITY));
        }
    }
    let middle = (rect.top + rect.bottom) / 2.0;
    push_label(marks, (place.label_x, middle), &panel.y.label, -90.0, rect.height());
    if !panel.title.is_empty() {
        let at = (rect.left, rect.top - 6.0);
        marks.push(label(at, &panel.title, PANEL_TITLE, Anchor::Start, 0.0, rect.width()));
    }
    if let Some(key) = panel.key() {
        draw_key(&key, place, marks);
    }
}

fn draw_key(key: &Key<'_>, place: &Placed, marks: &mut Vec<Mark>) {
    let Rect { top, bottom, right, .. } = place.frame.rect;
    let left = right + KEY_GAP;
    let strip = Rect { left, right: left + KEY_WIDTH, top, bottom };
    marks.push(color_strip(strip));
    let scale = Map::new(&Axis::default(), key.range, bottom, top);
    let line = Stroke::solid(INK, 1.0);
    let mut lines = Vec::new();
    for (value, text) in key_ticks(key, bottom - top).major {
        let Some(y) = scale.pixel(value).filter(|y| within(*y, top, bottom)) else { continue };
        lines.push(vec![(strip.right, y), (strip.right + TICK, y)]);
        let at = (strip.right + TICK + TICK_GAP, y + 0.36 * NUMBER);
        marks.push(label(at, &text, NUMBER, Anchor::Start, 0.0, f64::INFINITY));
    }
    if !lines.is_empty() {
        marks.push(Mark::stroked(lines, line));
    }
    let closed = true;
    marks.push(Mark::Path { lines: vec![strip.corners()], closed, fill: None, stroke: Some(line) });
    let at = (place.key_label_x, (top + bottom) / 2.0);
    push_label(marks, at, key.label, -90.0, bottom - top);
}

fn push_label(marks: &mut Vec<Mark>, at: Point, text: &str, angle: f64, fitting: f64) {
    if !text.is_empty() {
        marks.push(label(at, text, LABEL, Anchor::Middle, angle, fitting));
    }
}

/// A label, smaller where it would be longer than `fitting`.
fn label(at: Point, text: &str, size: f64, anchor: Anchor, angle: f64, fitting: f64) -> Mark {
    let size = (size * fitting / text::width(text, size).max(1e-9)).clamp(6.0_f64.min(size), size);
    Mark::Text(Words { at, text: text.to_string(), size, anchor, angle, color: INK })
}

fn within(value: f64, low: f64, high: f64) -> bool {
    value >= low - 0.01 && value <= high + 0.01
}
