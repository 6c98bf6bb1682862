use super::{Draw, increasing, same_length};
use crate::axis::{Axis, Extents, Frame, Room};
use crate::error::Result;
use crate::occupancy::Occupancy;
use crate::scene::{Image, Mark, Rect};

/// Pixels of the picture for each pixel of the figure, so that it stays sharp in print.
const SHARPNESS: f64 = 2.0;

/// A heat map: cells coloured by their value, from white at the lowest to dark blue at the highest,
/// in steps that look equal. Cells whose value is not a number are left blank.
#[derive(Debug, Clone, PartialEq)]
pub struct Density {
    x_edges: Vec<f64>,
    y_edges: Vec<f64>,
    values: Vec<f64>,
    range: Option<(f64, f64)>,
    key: Option<String>,
    grey: bool,
}

/// The colour key of a heat map.
pub(crate) struct Key<'a> {
    pub(crate) label: &'a str,
    pub(crate) range: (f64, f64),
}

impl Density {
    /// `values[j * columns + i]` is the value of the cell between `x_edges[i]`, `x_edges[i + 1]`,
    /// `y_edges[j]` and `y_edges[j + 1]`; there is one column fewer than edges of x.
    pub fn new(
        x_edges: impl Into<Vec<f64>>,
        y_edges: impl Into<Vec<f64>>,
        values: impl Into<Vec<f64>>,
    ) -> Self {
        Density {
            x_edges: x_edges.into(),
            y_edges: y_edges.into(),
            values: values.into(),
            range: None,
            key: None,
            grey: false,
        }
    }

    /// Greys instead of blues, for what is to stay in the background. (The colour key stays blue.)
    pub fn grey(mut self) -> Self {
        self.grey = true;
        self
    }

    /// The values that are white and darkest; from 0 (or less) to the largest value if not set.
    pub fn range(mut self, white: f64, dark: f64) -> Self {
        self.range = Some((white, dark));
        self
    }

    /// Puts a key of the colours beside the panel, with this label.
    pub fn key(mut self, label: impl Into<String>) -> Self {
        self.key = Some(label.into());
        self
    }

    fn colors(&self) -> (f64, f64) {
        let finite = || self.values.iter().copied().filter(|v| v.is_finite() && v.abs() <= 1e300);
        let data = (finite().fold(0.0, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let axis = Axis::default();
        match self.range {
            Some((low, high)) if axis.shows(low) && axis.shows(high) && low < high => (low, high),
            _ if data.0 < data.1 => data,
            _ => (0.0, 1.0),
        }
    }

    pub(crate) fn color_key(&self) -> Option<Key<'_>> {
        self.key.as_deref().map(|label| Key { label, range: self.colors() })
    }
}

/// The colour, 1 to 255, of a value.
fn index((low, high): (f64, f64), value: f64) -> u8 {
    let part = (value - low) / (high - low);
    if part.is_nan() { 0 } else { 1 + (part.clamp(0.0, 1.0) * 254.0).round() as u8 }
}

/// The cell between whose edges a value lies.
fn cell(edges: &[f64], value: f64) -> Option<usize> {
    let after = edges.partition_point(|&edge| edge <= value);
    match after {
        0 => None,
        // The last edge belongs to the last cell.
        n if n == edges.len() => (edges.last() == Some(&value)).then(|| n.saturating_sub(2)),
        n => Some(n - 1),
    }
}

/// A strip of all colours, the highest at the top.
pub(crate) fn color_strip(place: Rect) -> Mark {
    let indices = (1..=255).rev().collect();
    Mark::Image(Image { place, grey: false, columns: 1, rows: 255, indices })
}

impl Draw for Density {
    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        increasing(name, "the edges of x", &self.x_edges)?;
        increasing(name, "the edges of y", &self.y_edges)?;
        let cells = |edges: &[f64]| edges.len().saturating_sub(1);
        let expected = cells(&self.x_edges) * cells(&self.y_edges);
        same_length(name, "the grid", self.values.len(), expected)
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for &y in &self.y_edges {
            for &x in &self.x_edges {
                extents.add((x, y), Room::Never, Room::Never);
            }
        }
    }

    fn draw(&self, frame: &Frame, _: &Occupancy, marks: &mut Vec<Mark>) {
        let place = frame.rect;
        let pixels = |length: f64| (length * SHARPNESS).round().max(1.0) as usize;
        let (columns, rows) = (pixels(place.width()), pixels(place.height()));
        // The cell of each column and row of pixels: this serves uneven cells and logarithmic axes.
        let middle = |start: f64, length: f64, i: usize, n: usize| {
            start + length * (i as f64 + 0.5) / n as f64
        };
        let cells_x: Vec<_> = (0..columns)
            .map(|i| frame.x.value(middle(place.left, place.width(), i, columns)))
            .map(|x| cell(&self.x_edges, x))
            .collect();
        let range = self.colors();
        let width = self.x_edges.len().saturating_sub(1);
        let mut indices = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            let y = frame.y.value(middle(place.top, place.height(), row, rows));
            let cell_y = cell(&self.y_edges, y);
            indices.extend(cells_x.iter().map(|cell_x| match (cell_x, cell_y) {
                (Some(i), Some(j)) => {
                    self.values.get(j * width + i).map_or(0, |&value| index(range, value))
                }
                _ => 0,
            }));
        }
        if indices.iter().any(|&index| index > 0) {
            marks.push(Mark::Image(Image { place, grey: self.grey, columns, rows, indices }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_find_their_cells() {
        let edges = [0.0, 1.0, 3.0];
        for (value, expected) in [
            (-0.1, None),
            (0.0, Some(0)),
            (0.9, Some(0)),
            (1.0, Some(1)),
            (3.0, Some(1)),
            (3.1, None),
            (f64::NAN, None),
        ] {
            assert_eq!(cell(&edges, value), expected, "{value}");
        }
        assert_eq!(cell(&[], 0.0), None);
    }

    #[test]
    fn colours_span_the_range() {
        assert_eq!(index((0.0, 2.0), 0.0), 1);
        assert_eq!(index((0.0, 2.0), 1.0), 128);
        assert_eq!(index((0.0, 2.0), 5.0), 255);
        assert_eq!(index((0.0, 2.0), f64::NAN), 0);
        let flat = Density::new([0.0, 1.0], [0.0, 1.0], [0.0]);
        assert_eq!(flat.colors(), (0.0, 1.0));
    }
}
