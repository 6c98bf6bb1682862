use super::{Draw, runs, same_length};
use crate::axis::{Extents, Frame, Room};
use crate::color::{Color, ONE_SD};
use crate::error::Result;
use crate::geometry::{clip_polygon, thin_line};
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect};

/// The area between two lines over the same x. Values that cannot be shown interrupt it.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    x: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    color: Color,
    label: String,
}

impl Band {
    /// A grey band.
    pub fn new(
        x: impl Into<Vec<f64>>,
        low: impl Into<Vec<f64>>,
        high: impl Into<Vec<f64>>,
    ) -> Self {
        Band {
            x: x.into(),
            low: low.into(),
            high: high.into(),
            color: ONE_SD,
            label: String::new(),
        }
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }

    /// The text in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
}

impl Draw for Band {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        same_length(name, "low", self.low.len(), self.x.len())?;
        same_length(name, "high", self.high.len(), self.x.len())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for (i, &x) in self.x.iter().enumerate() {
            extents.add((x, self.low[i]), Room::Any, Room::Wanted);
            extents.add((x, self.high[i]), Room::Any, Room::Wanted);
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        // Both edges at once, so that they are interrupted together.
        let edge = |values: &[f64]| {
            let points = (0..self.x.len()).map(|i| {
                frame.y.pixel(self.low[i])?;
                frame.y.pixel(self.high[i])?;
                frame.pixel((self.x[i], values[i]))
            });
            runs(points)
        };
        let mut polygons = Vec::new();
        for (low, high) in edge(&self.low).into_iter().zip(edge(&self.high)) {
            let polygon: Vec<Point> = match (low[..].as_ref(), high[..].as_ref()) {
                // One x alone: a bar of two pixels.
                ([low], [high]) => {
                    vec![
                        (low.0 - 1.0, low.1),
                        (low.0 + 1.0, low.1),
                        (high.0 + 1.0, high.1),
                        (high.0 - 1.0, high.1),
                    ]
                }
                _ => {
                    let back = thin_line(high).into_iter().rev();
                    thin_line(low).into_iter().chain(back).collect()
                }
            };
            let polygon = clip_polygon(&polygon, frame.reach());
            if !polygon.is_empty() {
                polygons.push(polygon);
            }
        }
        if !polygons.is_empty() {
            marks.push(Mark::filled(polygons, self.color));
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(Mark::filled(vec![place.corners()], self.color));
    }
}
