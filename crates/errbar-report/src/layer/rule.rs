use super::{Draw, sample_line};
use crate::axis::{Extents, Frame, Room};
use crate::color::{Color, GREY};
use crate::error::Result;
use crate::geometry::clip_line;
use crate::occupancy::Occupancy;
use crate::scene::{Dash, Mark, Point, Rect, Stroke};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    Horizontal(f64),
    Vertical(f64),
    Diagonal,
}

/// A line right across the panel: level, upright, or where y equals x.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    course: Course,
    stroke: Stroke,
    label: String,
}

impl Rule {
    fn new(course: Course) -> Self {
        Rule { course, stroke: Stroke::solid(GREY, 1.2), label: String::new() }
    }

    /// A thin grey line at this y.
    pub fn horizontal(y: f64) -> Self {
        Rule::new(Course::Horizontal(y))
    }

    /// A thin grey line at this x.
    pub fn vertical(x: f64) -> Self {
        Rule::new(Course::Vertical(x))
    }

    /// A thin grey line where y equals x.
    pub fn diagonal() -> Self {
        Rule::new(Course::Diagonal)
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.stroke.color = color;
        self
    }

    /// The width in pixels; 1.2 if not set.
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

    fn points(&self, frame: &Frame) -> Option<Vec<Point>> {
        let rect = frame.reach();
        Some(match self.course {
            Course::Horizontal(y) => {
                let y = frame.y.pixel(y)?;
                vec![(rect.left, y), (rect.right, y)]
            }
            Course::Vertical(x) => {
                let x = frame.x.pixel(x)?;
                vec![(x, rect.bottom), (x, rect.top)]
            }
            // Pixel by pixel, since it is curved where one axis alone is logarithmic.
            Course::Diagonal => (0..=rect.width() as usize)
                .filter_map(|step| {
                    let x = rect.left + step as f64;
                    Some((x, frame.y.pixel(frame.x.value(x))?))
                })
                .collect(),
        })
    }
}

impl Draw for Rule {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, _: &dyn Fn() -> String) -> Result<()> {
        Ok(())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        match self.course {
            Course::Horizontal(y) if extents.y_axis.shows(y) => extents.y.add(y, Room::Wanted),
            Course::Vertical(x) if extents.x_axis.shows(x) => extents.x.add(x, Room::Wanted),
            _ => {}
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let mut lines = self.points(frame).map_or(Vec::new(), |p| clip_line(&p, frame.reach()));
        // On two linear axes the diagonal is straight: its ends suffice.
        for line in &mut lines {
            if let [first, .., last] = line[..] {
                let bend = |&(x, y): &Point| {
                    let part = (x - first.0) / (last.0 - first.0);
                    (first.1 + part * (last.1 - first.1) - y).abs() > 0.05
                };
                if !line.iter().any(bend) {
                    *line = vec![first, last];
                }
            }
        }
        if !lines.is_empty() {
            marks.push(Mark::stroked(lines, self.stroke));
        }
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(sample_line(place, self.stroke));
    }
}
