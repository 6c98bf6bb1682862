use super::{Draw, same_length};
use crate::axis::{Extents, Frame, Map};
use crate::color::{Color, GREY};
use crate::error::Result;
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect};

/// What lies beyond the axes: a small arrowhead at the edge for each point outside, at the place nearest
/// to it, and nothing for points inside. The axes do not grow for it, and points whose arrowheads would
/// lie on each other share one.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    x: Vec<f64>,
    y: Vec<f64>,
    color: Color,
    label: String,
}

/// From the base of an arrowhead to its point, in pixels.
const LENGTH: f64 = 7.0;
/// Half of its base.
const HALF: f64 = 4.0;
/// Points that are closer share an arrowhead.
const CELL: f64 = 5.0;

impl Edge {
    /// Grey arrowheads.
    pub fn new(x: impl Into<Vec<f64>>, y: impl Into<Vec<f64>>) -> Self {
        Edge { x: x.into(), y: y.into(), color: GREY, label: String::new() }
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

/// An arrowhead that points from `at` into a direction.
fn head((x, y): Point, (dx, dy): Point) -> Vec<Point> {
    let base = (x - LENGTH * dx, y - LENGTH * dy);
    vec![(x, y), (base.0 - HALF * dy, base.1 + HALF * dx), (base.0 + HALF * dy, base.1 - HALF * dx)]
}

/// The pixel nearest to a value, and whether it lies before (−1) or after (1) what is shown; none of what
/// is no number.
fn nearest(map: &Map, value: f64, low: f64, high: f64) -> Option<(f64, f64)> {
    let (first, last) = (map.value(low), map.value(high));
    let (before, after) = (first.min(last), first.max(last));
    let pixel = if first <= last { (low, high) } else { (high, low) };
    match value {
        v if v.is_nan() => None,
        v if v < before => Some((pixel.0, (pixel.0 - pixel.1).signum())),
        v if v > after => Some((pixel.1, (pixel.1 - pixel.0).signum())),
        v => Some((map.pixel(v)?.clamp(low, high), 0.0)),
    }
}

impl Draw for Edge {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        same_length(name, "y", self.y.len(), self.x.len())
    }

    fn extend(&self, _: &mut Extents<'_>) {}

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let Rect { left, right, top, bottom } = frame.rect;
        let mut seen = std::collections::HashSet::new();
        let heads: Vec<Vec<Point>> = (self.x.iter().zip(&self.y))
            .filter_map(|(&x, &y)| {
                let (x, dx) = nearest(&frame.x, x, left, right)?;
                let (y, dy) = nearest(&frame.y, y, top, bottom)?;
                let direction = match (dx, dy) {
                    (0.0, 0.0) => return None,
                    (_, 0.0) => (dx, 0.0),
                    _ => (0.0, dy),
                };
                let cell = ((x / CELL).round() as i64, (y / CELL).round() as i64);
                // A point of the border is where the frame itself is drawn.
                seen.insert(cell).then(|| head((x - 1.5 * dx, y - 1.5 * dy), direction))
            })
            .collect();
        if !heads.is_empty() {
            marks.push(Mark::filled(heads, self.color));
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        let at =
            ((place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0 - LENGTH / 2.0);
        marks.push(Mark::filled(vec![head(at, (0.0, -1.0))], self.color));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    #[test]
    fn what_is_beyond_is_marked_where_it_is_nearest() {
        let rect = Rect { left: 10.0, top: 20.0, right: 110.0, bottom: 220.0 };
        let axis = Axis::new("");
        let frame = Frame {
            rect,
            x: Map::new(&axis, (0.0, 1.0), rect.left, rect.right),
            y: Map::new(&axis, (0.0, 1.0), rect.bottom, rect.top),
        };
        let drawn = |x: f64, y: f64| {
            let mut marks = Vec::new();
            Edge::new([x], [y]).draw(&frame, &Occupancy::new(rect), &mut marks);
            marks.pop().map(|mark| match mark {
                Mark::Path { lines, .. } => lines[0][0],
                _ => panic!("no path"),
            })
        };
        assert_eq!(drawn(0.5, 0.5), None);
        assert_eq!(drawn(0.0, 1.0), None);
        assert_eq!(drawn(f64::NAN, 5.0), None);
        // Above, below, on both sides, and beyond both axes; whatever the size.
        assert_eq!(drawn(0.5, 1e300), Some((60.0, 21.5)));
        assert_eq!(drawn(0.5, f64::NEG_INFINITY), Some((60.0, 218.5)));
        assert_eq!(drawn(-1e308, 0.5), Some((11.5, 120.0)));
        assert_eq!(drawn(2.0, 0.5), Some((108.5, 120.0)));
        assert_eq!(drawn(2.0, 2.0), Some((108.5, 21.5)));
        let mut marks = Vec::new();
        let many = Edge::new(vec![0.5; 1000], vec![2.0; 1000]);
        many.draw(&frame, &Occupancy::new(rect), &mut marks);
        assert!(matches!(&marks[..], [Mark::Path { lines, .. }] if lines.len() == 1));
    }
}
