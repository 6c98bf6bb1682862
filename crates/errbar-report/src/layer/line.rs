use super::{Draw, runs, same_length, sample_line};
use crate::axis::{Extents, Frame, Room};
use crate::color::{BLACK, Color};
use crate::error::Result;
use crate::geometry::{clip_line, thin_line};
use crate::occupancy::Occupancy;
use crate::scene::{Dash, Mark, Rect, Stroke};

/// A line through points, in the order given. Values that cannot be shown interrupt it; a point
/// alone between two of them is a dot. More than 20,000 points are thinned: of those within the same
/// half pixel of x, the first, lowest, highest and last stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    x: Vec<f64>,
    y: Vec<f64>,
    stroke: Stroke,
    label: String,
}

impl Line {
    /// A solid black line.
    pub fn new(x: impl Into<Vec<f64>>, y: impl Into<Vec<f64>>) -> Self {
        Line { x: x.into(), y: y.into(), stroke: Stroke::solid(BLACK, 1.6), label: String::new() }
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.stroke.color = color;
        self
    }

    /// The width in pixels; 1.6 if not set.
    pub fn width(mut self, width: f64) -> Self {
        self.stroke.width = width;
        self
    }

    /// How the line is broken.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.stroke.dash = dash;
        self
    }

    /// The text in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
}

impl Draw for Line {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        same_length(name, "y", self.y.len(), self.x.len())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for point in self.x.iter().copied().zip(self.y.iter().copied()) {
            extents.add(point, Room::Any, Room::Wanted);
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let points = self.x.iter().zip(&self.y).map(|(&x, &y)| frame.pixel((x, y)));
        let (alone, lines): (Vec<_>, Vec<_>) =
            runs(points).into_iter().partition(|run| run.len() == 1);
        let lines: Vec<_> =
            lines.into_iter().flat_map(|run| clip_line(&thin_line(run), frame.reach())).collect();
        if !lines.is_empty() {
            marks.push(Mark::stroked(lines, self.stroke));
        }
        let centers: Vec<_> =
            alone.into_iter().flatten().filter(|&point| frame.rect.contains(point)).collect();
        if !centers.is_empty() {
            marks.push(Mark::Circles {
                centers,
                radius: self.stroke.width,
                fill: Some(self.stroke.color),
                stroke: None,
            });
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(sample_line(place, self.stroke));
    }
}
