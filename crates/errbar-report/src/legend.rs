//! Legends, which keep clear of the data.

use crate::color::{INK, WHITE};
use crate::layer::Draw;
use crate::occupancy::Occupancy;
use crate::scene::{Anchor, Mark, Point, Rect, Words};
use crate::text;

/// Where the legend of a panel goes. A panel none of whose layers has a label has no legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// Inside, in a corner or at a side where nothing is drawn; above the panel if there is none.
    #[default]
    Auto,
    /// Above the panel, in rows.
    Above,
    /// Inside, upper left.
    TopLeft,
    /// Inside, upper right.
    TopRight,
    /// Inside, lower left.
    BottomLeft,
    /// Inside, lower right.
    BottomRight,
    /// Nowhere.
    Hidden,
}

const SIZE: f64 = 12.0;
const ROW: f64 = 18.0;
const SAMPLE: f64 = 24.0;
const GAP: f64 = 7.0;
/// Between the entries of a row.
const APART: f64 = 18.0;
/// Between the box and the frame.
const MARGIN: f64 = 7.0;
const PADDING: f64 = 4.0;

/// The labelled layers of a panel.
pub(crate) struct Entries<'a>(Vec<&'a dyn Draw>);

impl<'a> Entries<'a> {
    pub(crate) fn new(layers: impl Iterator<Item = &'a dyn Draw>) -> Self {
        Entries(layers.filter(|layer| !layer.label().is_empty()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn widths(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|layer| SAMPLE + GAP + text::width(layer.label(), SIZE))
    }

    /// The places of the entries relative to the upper left corner, in rows of at most `width`.
    fn rows(&self, width: f64) -> Vec<Point> {
        let (mut x, mut y) = (0.0, 0.0);
        let place = |entry: f64| {
            if x > 0.0 && x + entry > width {
                (x, y) = (0.0, y + ROW);
            }
            let at = (x, y);
            x += entry + APART;
            at
        };
        self.widths().map(place).collect()
    }

    /// How high the rows above a panel of this width are.
    pub(crate) fn height_above(&self, width: f64) -> f64 {
        self.rows(width).last().map_or(0.0, |last| last.1 + ROW + 4.0)
    }

    /// Rows as wide as the frame, that end at `bottom`.
    pub(crate) fn draw_above(&self, frame: Rect, bottom: f64, marks: &mut Vec<Mark>) {
        let top = bottom - self.height_above(frame.width());
        let rows = self.rows(frame.width());
        self.draw(rows.into_iter().map(|(x, y)| (frame.left + x, top + y)), marks);
    }

    /// The box inside a frame, if one of the allowed places fits and is free.
    pub(crate) fn find_inside(
        &self,
        legend: Legend,
        frame: Rect,
        taken: &Occupancy,
    ) -> Option<Rect> {
        let width = self.widths().fold(0.0, f64::max) + 2.0 * PADDING;
        let height = ROW * self.0.len() as f64 + 2.0 * PADDING;
        let inner = frame.grown(-MARGIN);
        let centre = (inner.left + inner.right - width) / 2.0;
        let (right, bottom) = (inner.right - width, inner.bottom - height);
        let corner =
            |left: f64, top: f64| Rect { left, top, right: left + width, bottom: top + height };
        let fits = inner.width() >= width && inner.height() >= height;
        let places = match legend {
            Legend::Above | Legend::Hidden => return None,
            Legend::TopLeft => return Some(corner(inner.left, inner.top)),
            Legend::TopRight => return Some(corner(right, inner.top)),
            Legend::BottomLeft => return Some(corner(inner.left, bottom)),
            Legend::BottomRight => return Some(corner(right, bottom)),
            Legend::Auto => [
                corner(right, inner.top),
                corner(inner.left, inner.top),
                corner(right, bottom),
                corner(inner.left, bottom),
                corner(centre, inner.top),
                corner(centre, bottom),
            ],
        };
        places.into_iter().find(|&place| fits && taken.count(place) == 0)
    }

    pub(crate) fn draw_inside(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(Mark::filled(vec![place.corners()], WHITE.opacity(0.85)));
        let rows =
            (0..self.0.len()).map(|i| (place.left + PADDING, place.top + PADDING + ROW * i as f64));
        self.draw(rows, marks);
    }

    fn draw(&self, places: impl Iterator<Item = Point>, marks: &mut Vec<Mark>) {
        for (layer, (x, y)) in self.0.iter().zip(places) {
            let sample = Rect { left: x, right: x + SAMPLE, top: y + 3.5, bottom: y + ROW - 3.5 };
            layer.sample(sample, marks);
            marks.push(Mark::Text(Words {
                at: (x + SAMPLE + GAP, y + ROW / 2.0 + 0.35 * SIZE),
                text: layer.label().to_string(),
                size: SIZE,
                anchor: Anchor::Start,
                angle: 0.0,
                color: INK,
            }));
        }
    }
}
