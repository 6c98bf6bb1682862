use super::{Draw, increasing, same_length};
use crate::axis::{Extents, Frame, Room};
use crate::color::{Color, WHITE};
use crate::error::Result;
use crate::geometry::clip_polygon;
use crate::occupancy::Occupancy;
use crate::scene::{Mark, Point, Rect, Stroke};

/// Bars between edges, standing on zero (on a logarithmic axis, on the floor of the panel).
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    counts: Vec<f64>,
    color: Color,
    label: String,
}

impl Histogram {
    /// Bars of a soft blue: one count fewer than there are edges, which must increase.
    pub fn new(edges: impl Into<Vec<f64>>, counts: impl Into<Vec<f64>>) -> Self {
        Histogram {
            edges: edges.into(),
            counts: counts.into(),
            color: Color::hex(0x8FB3CC),
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

impl Draw for Histogram {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        increasing(name, "the edges", &self.edges)?;
        same_length(name, "counts", self.counts.len(), self.edges.len().saturating_sub(1))
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for (edges, &count) in self.edges.windows(2).zip(&self.counts) {
            for &x in edges {
                extents.add((x, 0.0), Room::Never, Room::Never);
                let room = if count == 0.0 { Room::Any } else { Room::Wanted };
                extents.add((x, count), Room::Never, room);
            }
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let floor = frame.y.pixel(0.0).unwrap_or(frame.reach().bottom);
        let bars: Vec<Vec<Point>> = self
            .edges
            .windows(2)
            .zip(&self.counts)
            .filter_map(|(edges, &count)| {
                let top = frame.y.pixel(count).filter(|_| count != 0.0)?;
                let (left, right) = (frame.x.pixel(edges[0])?, frame.x.pixel(edges[1])?);
                let bar = Rect { left, right, top, bottom: floor };
                Some(clip_polygon(&bar.corners(), frame.reach()))
            })
            .filter(|bar| !bar.is_empty())
            .collect();
        if bars.is_empty() {
            return;
        }
        // A hairline parts the bars, where they are wide enough to have one.
        let wide = frame.rect.width() > 4.0 * self.counts.len() as f64;
        marks.push(Mark::Path {
            lines: bars,
            closed: true,
            fill: Some(self.color),
            stroke: wide.then(|| Stroke::solid(WHITE, 0.7)),
        });
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(Mark::filled(vec![place.corners()], self.color));
    }
}
