//! The figures of a report: each with what it shows, how to read it, and its numbers.

mod calibration;
mod cloud;
mod conditions;
mod curve;
mod events;
mod forecast;
mod frame;
mod groups;
mod inputs;
mod lags;
mod levels;
mod map;
mod order;
mod periods;
mod series;
mod shape;
mod spread;

use errbar::score::{Sample, Scores};
use errbar::words::significant;

use super::each::Each;
use super::{Curve, JudgedEvent, Order, Subject};
use crate::axis::Axis;
use crate::color::Color;
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::table::{Cell, Table};

/// A figure of a report.
#[derive(Debug, Clone)]
pub struct ReportFigure {
    /// A short name for files and links.
    pub name: String,
    /// A few words.
    pub title: String,
    /// What it shows here, in a sentence.
    pub message: String,
    /// How to read it, and what was thinned or left out.
    pub reading: String,
    /// The drawing.
    pub figure: Figure,
    /// The numbers behind it.
    pub table: Table,
    /// The same drawing for narrow screens, where the first is broad.
    pub(super) narrow: Option<Figure>,
    /// Where the rows of the table are on the drawing.
    pub(super) spots: Vec<Spot>,
    /// The part of the page it belongs to.
    pub(super) section: Section,
    /// Whether the table is shown at once.
    pub(super) open: bool,
}

/// A row of the table at a place on a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) row: usize,
    pub(super) panel: usize,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The parts of the page, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Curve,
    Size,
    Events,
    Inputs,
    Series,
    Order,
    Groups,
}

impl ReportFigure {
    /// The spots in pixels of a drawing.
    pub(super) fn places(&self, drawing: &Drawing) -> Vec<(usize, f64, f64)> {
        let place = |spot: &Spot| {
            let (x, y) = drawing.place(spot.panel, spot.x, spot.y)?;
            Some((spot.row, x, y))
        };
        self.spots.iter().filter_map(place).collect()
    }
}

/// What the figures are made from.
pub(super) struct FigureData<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) sample: &'a Sample<'a>,
    /// The errors as they would be if every law were a Gaussian of the same sigma.
    pub(super) equal: &'a Sample<'a>,
    pub(super) scores: &'a Scores,
    pub(super) each: &'a Each,
    pub(super) events: &'a [JudgedEvent],
}

impl FigureData<'_> {
    /// The ends of the interval in the middle at each place of a curve, in units of sigma.
    fn intervals(&self, curve: &Curve, level: f64) -> Vec<(f64, f64)> {
        if curve.laws.len() == curve.x.len() {
            return curve.laws.iter().map(|law| law.interval(level)).collect();
        }
        let law = self.subject.laws.as_ref().and_then(|laws| laws.first()).cloned();
        vec![law.unwrap_or_default().interval(level); curve.x.len()]
    }
}

/// The usual size: two of them side by side span the page.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 360.0;
/// Across the whole page.
const BROAD: f64 = 976.0;

/// A band of what is claimed: an interval.
const CLAIMED: Color = Color::hex(0xC6DCEC);
/// A wider one around it.
const CLAIMED_WIDE: Color = Color::hex(0xE4EFF7);
/// Where chance alone would put what is observed.
const CHANCE: Color = Color::hex(0xD0D0D0);
/// Single observations.
const POINTS: Color = Color::hex(0x6B6B6B);

/// Every figure that the subject has data for.
pub(super) fn all(seen: &FigureData<'_>) -> Result<Vec<ReportFigure>> {
    let mut out = Vec::new();
    out.extend(curve::figure(seen));
    out.extend(curve::sigma(seen));
    out.extend(forecast::figure(seen));
    out.push(calibration::reliability(seen));
    out.push(calibration::pit(seen));
    out.push(calibration::coverage(seen));
    out.push(spread::figure(seen));
    out.push(shape::quantiles(seen));
    out.push(shape::sharpness(seen));
    out.extend(events::figures(seen.events, seen.subject.observation.name));
    out.extend(inputs::figures(seen));
    out.extend(series::figures(seen));
    out.push(order::figure(seen));
    out.extend(periods::figure(seen));
    out.extend(lags::figure(seen));
    out.extend(conditions::figures(seen));
    out.extend(groups::figure(seen));
    out.extend(map::figure(seen));
    for figure in &mut out {
        let words = format!("{}. {}", figure.title, figure.message);
        figure.figure =
            std::mem::replace(&mut figure.figure, Figure::new(WIDTH, HEIGHT)).describe(&words);
        figure.narrow = figure.narrow.take().map(|narrow| narrow.describe(&words));
    }
    Ok(out)
}

/// The first and the last time, in words.
pub(super) fn span(subject: &Subject<'_>) -> Option<(String, String)> {
    let Order::Time { values, dates, .. } = subject.order else { return None };
    let shown = |value: &f64| time(*value, dates).shown();
    Some((shown(values.first()?), shown(values.last()?)))
}

/// A time as a cell.
fn time(value: f64, dates: bool) -> Cell {
    if dates { Cell::Time(value) } else { Cell::Number(value) }
}

/// A range with a little more on either side, for points at its ends.
fn with_room((low, high): (f64, f64)) -> (f64, f64) {
    let room = 0.015 * (high - low);
    (low - room, high + room)
}

/// An axis of times within a range.
fn time_axis(name: &str, dates: bool, (low, high): (f64, f64)) -> Axis {
    let axis = Axis::new(name).range(low, high);
    if dates { axis.dates() } else { axis }
}

/// "1 of 19 bins" or "none of the 19 bins", "all 19 bins".
fn of_all(count: usize, all: usize, what: &str) -> String {
    match (count, all) {
        (0, _) => format!("none of the {all} {what}"),
        (1, 1) => format!("the only one of the {what}"),
        (2, 2) => format!("both {what}"),
        (n, all) if n == all => format!("all {all} {what}"),
        (n, all) => format!("{n} of {all} {what}"),
    }
}

/// A number in a sentence: three digits, and a minus sign as wide as a plus.
fn short(value: f64) -> String {
    significant(value, 3).replace('-', "−")
}
