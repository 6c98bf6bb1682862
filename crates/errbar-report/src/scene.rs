//! What is on the paper: a flat list of marks in pixels, from which SVG and PNG are written alike.

use crate::axis::Frame;
use crate::color::Color;

/// Pixels to the right of and below the upper left corner.
pub(crate) type Point = (f64, f64);

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Larger by `by` on every side.
    pub(crate) fn grown(&self, by: f64) -> Rect {
        Rect {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }

    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }

    pub(crate) fn corners(&self) -> Vec<Point> {
        vec![
            (self.left, self.top),
            (self.right, self.top),
            (self.right, self.bottom),
            (self.left, self.bottom),
        ]
    }
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dash {
    /// Not at all.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Color,
    pub(crate) width: f64,
    pub(crate) dash: Dash,
}

impl Stroke {
    pub(crate) fn solid(color: Color, width: f64) -> Self {
        Stroke { color, width, dash: Dash::Solid }
    }

    /// The lengths of dash and gap in pixels, `None` for a solid line.
    pub(crate) fn pattern(&self) -> Option<[f64; 2]> {
        let unit = self.width.max(1.0);
        match self.dash {
            Dash::Solid => None,
            Dash::Dashed => Some([4.5 * unit, 2.8 * unit]),
            Dash::Dotted => Some([1.2 * unit, 2.2 * unit]),
        }
    }
}

/// The side of a text at which it is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The text begins at its place.
    #[default]
    Start,
    /// The text is centred.
    Middle,
    /// The text ends at its place.
    End,
}

/// One thing to draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    Path {
        lines: Vec<Vec<Point>>,
        closed: bool,
        fill: Option<Color>,
        stroke: Option<Stroke>,
    },
    Circles {
        centers: Vec<Point>,
        radius: f64,
        fill: Option<Color>,
        stroke: Option<Stroke>,
    },
    Text(Words),
    Image(Image),
    /// Only what lies within the rectangle is drawn, until the next `Clip`.
    Clip(Option<Rect>),
}

impl Mark {
    pub(crate) fn stroked(lines: Vec<Vec<Point>>, stroke: Stroke) -> Self {
        Mark::Path { lines, closed: false, fill: None, stroke: Some(stroke) }
    }

    pub(crate) fn filled(lines: Vec<Vec<Point>>, fill: Color) -> Self {
        Mark::Path { lines, closed: true, fill: Some(fill), stroke: None }
    }
}

/// A label, possibly turned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    pub(crate) at: Point,
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    /// Degrees, clockwise, about `at`.
    pub(crate) angle: f64,
    pub(crate) color: Color,
}

/// A picture of 256 colours: index 0 is transparent, 1 to 255 run through the colour map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) place: Rect,
    /// Greys instead of blues.
    pub(crate) grey: bool,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) indices: Vec<u8>,
}

/// The whole drawing.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Read aloud to those who cannot see the figure.
    pub(crate) title: String,
    /// The same, but not shown when a pointer rests on the figure.
    pub(crate) description: String,
    pub(crate) marks: Vec<Mark>,
    /// Where each panel has its data.
    pub(crate) frames: Vec<Frame>,
}
