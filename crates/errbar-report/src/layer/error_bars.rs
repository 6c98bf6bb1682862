use super::{Draw, same_length};
use crate::axis::{Extents, Frame, Room};
use crate::color::{BLACK, Color};
use crate::error::Result;
use crate::geometry::{clip_line, thin_marks};
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect, Stroke};

/// Bars from low to high, upright or level, thinned as the points of a [`Scatter`](super::Scatter) are.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorBars {
    x: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    stroke: Stroke,
    label: String,
    level: bool,
}

impl ErrorBars {
    /// Thin black upright bars.
    pub fn new(
        x: impl Into<Vec<f64>>,
        low: impl Into<Vec<f64>>,
        high: impl Into<Vec<f64>>,
    ) -> Self {
        ErrorBars {
            x: x.into(),
            low: low.into(),
            high: high.into(),
            stroke: Stroke::solid(BLACK, 1.0),
            label: String::new(),
            level: false,
        }
    }

    /// Level bars: what was given as x is their height, low and high are values of x.
    pub fn level(mut self) -> Self {
        self.level = true;
        self
    }

    /// Both ends of a bar, as values.
    fn ends(&self, i: usize) -> [Point; 2] {
        match self.level {
            false => [(self.x[i], self.low[i]), (self.x[i], self.high[i])],
            true => [(self.low[i], self.x[i]), (self.high[i], self.x[i])],
        }
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.stroke.color = color;
        self
    }

    /// The width of a bar in pixels; 1 if not set.
    pub fn width(mut self, width: f64) -> Self {
        self.stroke.width = width;
        self
    }

    /// The text in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
}

impl Draw for ErrorBars {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        same_length(name, "low", self.low.len(), self.x.len())?;
        same_length(name, "high", self.high.len(), self.x.len())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for point in (0..self.x.len()).flat_map(|i| self.ends(i)) {
            extents.add(point, Room::Wanted, Room::Wanted);
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let bars: Vec<[Point; 2]> = (0..self.x.len())
            .filter_map(|i| {
                let [low, high] = self.ends(i);
                Some([frame.pixel(low)?, frame.pixel(high)?])
            })
            .collect();
        let tops: Vec<Point> = bars.iter().map(|bar| bar[1]).collect();
        let lines: Vec<_> = thin_marks(&tops)
            .into_iter()
            .flat_map(|i| clip_line(&bars[i], frame.reach()))
            .collect();
        if !lines.is_empty() {
            marks.push(Mark::stroked(lines, self.stroke));
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        let (x, y) = ((place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0);
        let line = match self.level {
            false => vec![(x, place.top), (x, place.bottom)],
            true => vec![(place.left, y), (place.right, y)],
        };
        marks.push(Mark::stroked(vec![line], self.stroke));
    }
}
