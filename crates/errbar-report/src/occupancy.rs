//! Where on a panel something has been drawn, so that labels and legends go elsewhere.

use crate::scene::{Anchor, Mark, Point, Rect, Words};
use crate::text;

/// The side of a cell in pixels.
const CELL: f64 = 4.0;

const NOBODY: u32 = 0;
const SEVERAL: u32 = u32::MAX;

/// A coarse picture of a panel: which cells have ink, and whose.
#[derive(Debug, Clone)]
pub(crate) struct Occupancy {
    area: Rect,
    columns: usize,
    rows: usize,
    /// Nobody, one owner, or several.
    inked: Vec<u32>,
}

impl Occupancy {
    pub(crate) fn new(area: Rect) -> Self {
        let cells = |length: f64| (length / CELL).ceil().max(1.0) as usize;
        let (columns, rows) = (cells(area.width()), cells(area.height()));
        Occupancy { area, columns, rows, inked: vec![NOBODY; columns * rows] }
    }

    pub(crate) fn add(&mut self, mark: &Mark) {
        match mark {
            Mark::Path { lines, fill, stroke, .. } => {
                for line in lines {
                    if stroke.is_some() {
                        self.add_line(line);
                    }
                    if fill.is_some() {
                        self.add_polygon(line);
                    }
                }
            }
            Mark::Circles { centers, radius, .. } => {
                for &(x, y) in centers {
                    let point = Rect { left: x, top: y, right: x, bottom: y };
                    self.add_rect(point.grown(*radius));
                }
            }
            Mark::Text(words) => self.add_line(&text_samples(words)),
            Mark::Image(image) => self.add_rect(image.place),
            Mark::Clip(_) => {}
        }
    }

    pub(crate) fn add_line(&mut self, line: &[Point]) {
        self.add_line_of(SEVERAL, line);
    }

    /// A line that belongs to an owner, who is not in its own way.
    pub(crate) fn add_line_of(&mut self, owner: u32, line: &[Point]) {
        for pair in line.windows(2) {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            let steps = ((bx - ax).hypot(by - ay) / (CELL / 2.0)).ceil().clamp(1.0, 1e4);
            for step in 0..=steps as usize {
                let t = step as f64 / steps;
                if let Some(cell) = self.cell((ax + t * (bx - ax), ay + t * (by - ay))) {
                    let before = self.inked[cell];
                    let alone = before == NOBODY || before == owner;
                    self.inked[cell] = if alone { owner } else { SEVERAL };
                }
            }
        }
    }

    /// The cells whose centre is inside, row by row (even-odd rule).
    fn add_polygon(&mut self, polygon: &[Point]) {
        for row in 0..self.rows {
            let y = self.area.top + (row as f64 + 0.5) * CELL;
            let mut crossings: Vec<f64> = (0..polygon.len())
                .map(|i| (polygon[i], polygon[(i + 1) % polygon.len()]))
                .filter(|(a, b)| (a.1 <= y) != (b.1 <= y))
                .map(|(a, b)| a.0 + (y - a.1) / (b.1 - a.1) * (b.0 - a.0))
                .collect();
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                self.add_rect(Rect { left: pair[0], right: pair[1], top: y, bottom: y });
            }
        }
    }

    pub(crate) fn add_rect(&mut self, rect: Rect) {
        let columns = self.columns;
        for (row, from, to) in self.cells(rect) {
            self.inked[row * columns + from..row * columns + to].fill(SEVERAL);
        }
    }

    /// How many cells that touch the rectangle have ink.
    pub(crate) fn count(&self, rect: Rect) -> usize {
        self.cells(rect)
            .map(|(row, from, to)| {
                let row = &self.inked[row * self.columns + from..row * self.columns + to];
                row.iter().filter(|&&owner| owner != NOBODY).count()
            })
            .sum()
    }

    /// Whether there is ink of anyone but this owner.
    pub(crate) fn is_taken(&self, owner: u32, point: Point) -> bool {
        let taken = |cell: usize| self.inked[cell] != NOBODY && self.inked[cell] != owner;
        self.cell(point).is_some_and(taken)
    }

    fn cell(&self, point: Point) -> Option<usize> {
        if !self.area.contains(point) {
            return None;
        }
        let column = ((point.0 - self.area.left) / CELL) as usize;
        let row = ((point.1 - self.area.top) / CELL) as usize;
        Some(row.min(self.rows - 1) * self.columns + column.min(self.columns - 1))
    }

    /// The rows that a rectangle touches, each with its first and past its last column.
    fn cells(&self, rect: Rect) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let span = |low: f64, high: f64, start: f64, count: usize| {
            let from = ((low - start) / CELL).floor().clamp(0.0, count as f64) as usize;
            let to = ((high - start) / CELL).floor() + 1.0;
            (from, (to.clamp(0.0, count as f64) as usize).max(from))
        };
        let (from, to) = span(rect.left, rect.right, self.area.left, self.columns);
        let (top, bottom) = span(rect.top, rect.bottom, self.area.top, self.rows);
        (top..bottom).map(move |row| (row, from, to))
    }
}

/// A line to and fro over the area that a text takes, as a stand-in for its letters.
pub(crate) fn text_samples(words: &Words) -> Vec<Point> {
    let width = text::width(&words.text, words.size);
    let start = match words.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let (sin, cos) = words.angle.to_radians().sin_cos();
    let place = |x: f64, y: f64| (words.at.0 + cos * x - sin * y, words.at.1 + sin * x + cos * y);
    // From below the line to the top of the capitals.
    let heights = [0.15, -0.25, -0.5, -0.75];
    heights
        .iter()
        .flat_map(|h| [place(start, h * words.size), place(start + width, h * words.size)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::BLACK;
    use crate::scene::Stroke;

    const AREA: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 60.0 };

    #[test]
    fn ink_is_found_where_it_is() {
        let mut occupancy = Occupancy::new(AREA);
        let line = vec![vec![(0.0, 30.0), (100.0, 30.0)]];
        occupancy.add(&Mark::stroked(line, Stroke::solid(BLACK, 1.0)));
        // A row of 25 cells.
        assert_eq!(occupancy.count(AREA), 25);
        assert!(occupancy.is_taken(1, (50.0, 30.0)) && !occupancy.is_taken(1, (50.0, 50.0)));
        occupancy.add_line_of(1, &[(0.0, 50.0), (100.0, 50.0)]);
        assert!(occupancy.is_taken(2, (50.0, 50.0)) && !occupancy.is_taken(1, (50.0, 50.0)));
        assert_eq!(occupancy.count(Rect { top: 54.0, ..AREA }), 0);
        // The lower left triangle covers half of the panel.
        let triangle = vec![vec![(0.0, 0.0), (0.0, 60.0), (100.0, 60.0)]];
        occupancy.add(&Mark::filled(triangle, BLACK));
        let part = occupancy.count(AREA) as f64 / (25.0 * 15.0);
        assert!((part - 0.5).abs() < 0.1, "{part}");
        assert_eq!(occupancy.count(AREA.grown(1e300)), occupancy.count(AREA));
    }
}
