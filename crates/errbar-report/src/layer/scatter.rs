use super::{Draw, middle, same_length};
use crate::axis::{Extents, Frame, Room};
use crate::color::{BLUE, Color};
use crate::error::Result;
use crate::geometry::thin_marks;
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect, Stroke};

/// Points, as open circles or as dots. More than 20,000 are thinned to at most one in each cell of a
/// fine grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    x: Vec<f64>,
    y: Vec<f64>,
    color: Color,
    radius: f64,
    filled: bool,
    label: String,
}

impl Scatter {
    /// Open blue circles.
    pub fn new(x: impl Into<Vec<f64>>, y: impl Into<Vec<f64>>) -> Self {
        Scatter {
            x: x.into(),
            y: y.into(),
            color: BLUE,
            radius: 3.0,
            filled: false,
            label: String::new(),
        }
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }

    /// The radius in pixels; 3 if not set.
    pub fn radius(mut self, radius: f64) -> Self {
        self.radius = radius;
        self
    }

    /// Dots instead of circles.
    pub fn filled(mut self) -> Self {
        self.filled = true;
        self
    }

    /// The text in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn marks(&self, centers: Vec<Point>) -> Mark {
        let (fill, stroke) = match self.filled {
            true => (Some(self.color), None),
            false => (None, Some(Stroke::solid(self.color, 1.1))),
        };
        Mark::Circles { centers, radius: self.radius, fill, stroke }
    }
}

impl Draw for Scatter {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        same_length(name, "y", self.y.len(), self.x.len())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for point in self.x.iter().copied().zip(self.y.iter().copied()) {
            extents.add(point, Room::Wanted, Room::Wanted);
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let points: Vec<Point> = self
            .x
            .iter()
            .zip(&self.y)
            .filter_map(|(&x, &y)| frame.pixel((x, y)))
            .filter(|&point| frame.reach().contains(point))
            .collect();
        let centers: Vec<Point> = thin_marks(&points).into_iter().map(|i| points[i]).collect();
        if !centers.is_empty() {
            marks.push(self.marks(centers));
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(self.marks(vec![((place.left + place.right) / 2.0, middle(place))]));
    }
}
