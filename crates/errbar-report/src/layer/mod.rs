//! What can be drawn on a panel.

mod band;
mod density;
mod edge;
mod error_bars;
mod histogram;
mod isolines;
mod line;
mod note;
mod rule;
mod scatter;

pub use band::Band;
pub use density::Density;
pub use edge::Edge;
pub use error_bars::ErrorBars;
pub use histogram::Histogram;
pub use isolines::Isolines;
pub use line::Line;
pub use note::Text;
pub use rule::Rule;
pub use scatter::Scatter;

pub(crate) use density::{Key, color_strip};

use crate::axis::{Extents, Frame};
use crate::error::{Error, Result};
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect, Stroke};

/// One thing on a panel. Made from any of the kinds of this module by `into()`, which
/// [`Panel::with`](crate::Panel::with) does by itself.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // Each variant is described at the type it holds.
pub enum Layer {
    Line(Line),
    Scatter(Scatter),
    Band(Band),
    Edge(Edge),
    ErrorBars(ErrorBars),
    Isolines(Isolines),
    Density(Density),
    Histogram(Histogram),
    Rule(Rule),
    Text(Text),
}

/// What every layer can do.
pub(crate) trait Draw {
    /// What the layer is called in the legend; nothing for none.
    fn label(&self) -> &str {
        ""
    }

    /// Whether the columns fit each other. `name` says which layer this is.
    fn check(&self, name: &dyn Fn() -> String) -> Result<()>;

    /// Which values the axes should show.
    fn extend(&self, extents: &mut Extents<'_>);

    /// Draws, all in pixels. `taken` is where other layers are, for labels to keep clear of.
    fn draw(&self, frame: &Frame, taken: &Occupancy, marks: &mut Vec<Mark>);

    /// Draws a sample for the legend, as wide as the rectangle.
    fn sample(&self, _place: Rect, _marks: &mut Vec<Mark>) {}
}

impl Layer {
    pub(crate) fn as_draw(&self) -> &dyn Draw {
        match self {
            Layer::Line(layer) => layer,
            Layer::Scatter(layer) => layer,
            Layer::Band(layer) => layer,
            Layer::Edge(layer) => layer,
            Layer::ErrorBars(layer) => layer,
            Layer::Isolines(layer) => layer,
            Layer::Density(layer) => layer,
            Layer::Histogram(layer) => layer,
            Layer::Rule(layer) => layer,
            Layer::Text(layer) => layer,
        }
    }

    /// Heat maps lie below all else, whatever the order of the layers.
    pub(crate) fn depth(&self) -> usize {
        if matches!(self, Layer::Density(_)) { 0 } else { 1 }
    }
}

macro_rules! from_kind {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Layer {
            fn from(layer: $kind) -> Self {
                Layer::$kind(layer)
            }
        }
    )*};
}
from_kind!(Line, Scatter, Band, Edge, ErrorBars, Isolines, Density, Histogram, Rule, Text);

fn same_length(
    name: &dyn Fn() -> String,
    what: &'static str,
    length: usize,
    expected: usize,
) -> Result<()> {
    match length == expected {
        true => Ok(()),
        false => Err(Error::Length { layer: name(), what, length, expected }),
    }
}

fn increasing(name: &dyn Fn() -> String, what: &'static str, values: &[f64]) -> Result<()> {
    let wrong = (0..values.len())
        .find(|&i| !values[i].is_finite() || (i > 0 && values[i] <= values[i - 1]));
    match wrong {
        None => Ok(()),
        Some(index) => {
            Err(Error::NotIncreasing { layer: name(), what, index, value: values[index] })
        }
    }
}

/// The points in pixels, as runs without the points that cannot be shown.
fn runs(points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut runs = vec![Vec::new()];
    for point in points {
        match (point, runs.last_mut()) {
            (Some(point), Some(run)) => run.push(point),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// A line for the legend, as long as whole dashes fill.
fn sample_line(place: Rect, stroke: Stroke) -> Mark {
    let mut length = place.width();
    if let Some([dash, gap]) = stroke.pattern() {
        let whole = ((length + gap) / (dash + gap)).floor();
        length = whole.max(1.0) * (dash + gap) - gap;
    }
    let (x, y) = ((place.left + place.right) / 2.0, middle(place));
    Mark::stroked(vec![vec![(x - length / 2.0, y), (x + length / 2.0, y)]], stroke)
}

fn middle(place: Rect) -> f64 {
    (place.top + place.bottom) / 2.0
}
