use super::Draw;
use crate::axis::{Extents, Frame, Room};
use crate::color::{Color, INK};
use crate::error::Result;
use crate::occupancy::Occupancy;
use crate::scene::{Anchor, Mark, Words};

/// A few words at a place on the panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    x: f64,
    y: f64,
    text: String,
    anchor: Anchor,
    color: Color,
}

impl Text {
    /// Words that begin at `(x, y)` and are centred upright on it.
    pub fn new(x: f64, y: f64, text: impl Into<String>) -> Self {
        Text { x, y, text: text.into(), anchor: Anchor::Start, color: INK }
    }

    /// Which side of the words is at the place.
    pub fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// The colour.
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }
}

impl Draw for Text {
    fn check(&self, _: &dyn Fn() -> String) -> Result<()> {
        Ok(())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        extents.add((self.x, self.y), Room::Wanted, Room::Wanted);
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let Some((x, y)) = frame.pixel((self.x, self.y)) else { return };
        if !frame.reach().contains((x, y)) {
            return;
        }
        let size = 12.0;
        marks.push(Mark::Text(Words {
            at: (x, y + 0.35 * size),
            text: self.text.clone(),
            size,
            anchor: self.anchor,
            angle: 0.0,
            color: self.color,
        }));
    }
}
