use super::{Draw, increasing, runs, same_length, sample_line};
use crate::axis::{Extents, Frame, Room};
use crate::color::{Color, INK};
use crate::contour::{self, Grid};
use crate::error::Result;
use crate::geometry::{clip_line, thin_line};
use crate::occupancy::{Occupancy, text_samples};
use crate::scene::{Anchor, Dash, Mark, Point, Rect, Stroke, Words};
use crate::{text, ticks};

/// The size of the labels on the lines.
const SIZE: f64 = 10.5;
/// The gap between a line and its label.
const GAP: f64 = 3.0;
/// More labels than this would be a crowd: only the longest lines have one.
const MOST_LABELS: usize = 100;

/// Lines of equal value of a function on a grid, with the value written on each line.
///
/// The lines are found by marching squares with linear interpolation; around a value that is not a
/// number there are none. A label stands where its line is straightest and free of other lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Isolines {
    x: Vec<f64>,
    y: Vec<f64>,
    values: Vec<f64>,
    levels: Option<Vec<f64>>,
    stroke: Stroke,
    label: String,
}

impl Isolines {
    /// `values[j * x.len() + i]` is the value at `(x[i], y[j])`; `x` and `y` must increase.
    pub fn new(
        x: impl Into<Vec<f64>>,
        y: impl Into<Vec<f64>>,
        values: impl Into<Vec<f64>>,
    ) -> Self {
        Isolines {
            x: x.into(),
            y: y.into(),
            values: values.into(),
            levels: None,
            stroke: Stroke::solid(Color::hex(0x4A78A0), 1.2),
            label: String::new(),
        }
    }

    /// The values to draw lines for; about ten round ones if not set.
    pub fn levels(mut self, levels: impl Into<Vec<f64>>) -> Self {
        self.levels = Some(levels.into());
        self
    }

    /// The colour of the lines.
    pub fn color(mut self, color: Color) -> Self {
        self.stroke.color = color;
        self
    }

    /// The width of the lines in pixels; 1.2 if not set.
    pub fn width(mut self, width: f64) -> Self {
        self.stroke.width = width;
        self
    }

    /// How the lines are broken.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.stroke.dash = dash;
        self
    }

    /// The text in the legend.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn chosen_levels(&self) -> Vec<f64> {
        if let Some(levels) = &self.levels {
            return levels.clone();
        }
        let finite = || self.values.iter().copied().filter(|v| v.is_finite() && v.abs() <= 1e300);
        let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (f64::min(low, v), f64::max(high, v))
        });
        if low < high {
            ticks::linear(low, high, 12).major.into_iter().map(|tick| tick.0).collect()
        } else {
            Vec::new()
        }
    }
}

impl Draw for Isolines {
    fn label(&self) -> &str {
        &self.label
    }

    fn check(&self, name: &dyn Fn() -> String) -> Result<()> {
        increasing(name, "x", &self.x)?;
        increasing(name, "y", &self.y)?;
        same_length(name, "the grid", self.values.len(), self.x.len() * self.y.len())
    }

    fn extend(&self, extents: &mut Extents<'_>) {
        for &y in &self.y {
            for &x in &self.x {
                extents.add((x, y), Room::Never, Room::Never);
            }
        }
    }

    fn draw(&self, frame: &Frame, taken: &Occupancy, marks: &mut Vec<Mark>) {
        let grid = Grid { x: &self.x, y: &self.y, values: &self.values };
        let levels = self.chosen_levels();
        let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
        for (&level, label) in levels.iter().zip(ticks::alike(&levels)) {
            for line in contour::isolines(grid, level) {
                for run in runs(line.into_iter().map(|point| frame.pixel(point))) {
                    let parts = clip_line(&thin_line(run), frame.rect);
                    lines.extend(parts.into_iter().map(|part| (label.clone(), part)));
                }
            }
        }
        // The longest lines choose a place for their label first.
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|&a, &b| length(&lines[b].1).total_cmp(&length(&lines[a].1)));
        let mut taken = taken.clone();
        for (owner, (_, line)) in (1..).zip(&lines) {
            taken.add_line_of(owner, line);
        }
        let mut labels = vec![None; lines.len()];
        for i in order.into_iter().take(MOST_LABELS) {
            let (label, line) = &lines[i];
            labels[i] = place_label(line, label, frame.rect, &taken, i as u32 + 1);
            if let Some(place) = &labels[i] {
                taken.add_line(&text_samples(&place.words));
            }
        }
        let mut drawn = Vec::new();
        let mut texts = Vec::new();
        for ((_, line), place) in lines.into_iter().zip(labels) {
            let Some(Place { words, cut: (from, to) }) = place else {
                drawn.push(line);
                continue;
            };
            drawn.extend([between(&line, 0.0, from), between(&line, to, f64::INFINITY)]);
            texts.push(Mark::Text(words));
        }
        drawn.retain(|line| line.len() > 1);
        if !drawn.is_empty() {
            marks.push(Mark::stroked(drawn, self.stroke));
        }
        marks.extend(texts);
    }

    fn sample(&self, place: Rect, marks: &mut Vec<Mark>) {
        marks.push(sample_line(place, self.stroke));
    }
}

#[derive(Clone)]
struct Place {
    words: Words,
    /// The lengths along the line between which it makes room.
    cut: (f64, f64),
}

/// The best place on the line for its label, if there is a good one: where the line is straight and
/// well inside the panel, nothing else is near, and best in its middle.
fn place_label(
    line: &[Point],
    label: &str,
    area: Rect,
    taken: &Occupancy,
    owner: u32,
) -> Option<Place> {
    let total = length(line);
    let room = text::width(label, SIZE) + 2.0 * GAP;
    if total < 2.2 * room {
        return None;
    }
    let inner = area.grown(-4.0);
    let steps = 40;
    let mut best: Option<(f64, Place)> = None;
    for step in 0..=steps {
        let at = 0.6 * room + (total - 1.2 * room) * f64::from(step) / f64::from(steps);
        let (a, b) = (along(line, at - room / 2.0), along(line, at + room / 2.0));
        let straight = (b.0 - a.0).hypot(b.1 - a.1) / room;
        // Upright: turned by a quarter at most.
        let (a, b) = if b.0 >= a.0 { (a, b) } else { (b, a) };
        let angle = (b.1 - a.1).atan2(b.0 - a.0);
        let (sin, cos) = angle.sin_cos();
        // The middle between chord and line, from where half the height of the digits goes down.
        let on_line = along(line, at);
        let centre = ((a.0 + b.0) / 4.0 + on_line.0 / 2.0, (a.1 + b.1) / 4.0 + on_line.1 / 2.0);
        let drop = 0.36 * SIZE;
        let words = Words {
            at: (centre.0 - sin * drop, centre.1 + cos * drop),
            text: label.to_string(),
            size: SIZE,
            anchor: Anchor::Middle,
            angle: angle.to_degrees(),
            color: INK,
        };
        let samples = text_samples(&words);
        if straight < 0.9 || samples.iter().any(|&point| !inner.contains(point)) {
            continue;
        }
        let crossed = samples
            .chunks_exact(2)
            .flat_map(|pair| {
                (0..=8).map(move |i| {
                    let t = f64::from(i) / 8.0;
                    (pair[0].0 * (1.0 - t) + pair[1].0 * t, pair[0].1 * (1.0 - t) + pair[1].1 * t)
                })
            })
            .filter(|&point| taken.is_taken(owner, point))
            .count();
        if crossed > 3 {
            continue;
        }
        let off_middle = (at / total - 0.5).abs();
        let cost = 6.0 * (1.0 - straight) + 0.4 * off_middle + 0.3 * crossed as f64
            // Level text is easier to read than upright.
            + 0.15 * (angle.abs() / std::f64::consts::FRAC_PI_2);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, Place { words, cut: (at - room / 2.0, at + room / 2.0) }));
        }
    }
    best.map(|(_, place)| place)
}

fn length(line: &[Point]) -> f64 {
    line.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum()
}

/// The point so far along the line.
fn along(line: &[Point], distance: f64) -> Point {
    between(line, distance, distance).first().copied().unwrap_or((0.0, 0.0))
}

/// The part of a line between two distances from its start.
fn between(line: &[Point], from: f64, to: f64) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    let mut passed = 0.0;
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let step = (b.0 - a.0).hypot(b.1 - a.1);
        if step > 0.0 && passed + step >= from && passed <= to {
            let at = |distance: f64| {
                let t = ((distance - passed) / step).clamp(0.0, 1.0);
                (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
            };
            for point in [at(from), at(to)] {
                if out.last() != Some(&point) {
                    out.push(point);
                }
            }
        }
        passed += step;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_line() {
        let line = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        assert_eq!(length(&line), 20.0);
        assert_eq!(along(&line, 15.0), (10.0, 5.0));
        assert_eq!(between(&line, 0.0, 4.0), [(0.0, 0.0), (4.0, 0.0)]);
        assert_eq!(between(&line, 8.0, 12.0), [(8.0, 0.0), (10.0, 0.0), (10.0, 2.0)]);
        assert_eq!(between(&line, 18.0, f64::INFINITY), [(10.0, 8.0), (10.0, 10.0)]);
        assert!(between(&[(1.0, 1.0)], 0.0, 1.0).is_empty());
    }

    #[test]
    fn labels_keep_clear_of_other_lines() {
        let area = Rect { left: 0.0, top: 0.0, right: 300.0, bottom: 100.0 };
        let line = [(0.0, 50.0), (300.0, 50.0)];
        let free = Occupancy::new(area);
        let place = place_label(&line, "0.5", area, &free, 1).expect("there is room");
        assert!((place.words.at.0 - 150.0).abs() < 5.0 && place.words.angle == 0.0);
        let mut crossed = free.clone();
        crossed.add_line(&[(150.0, 0.0), (150.0, 100.0)]);
        let place = place_label(&line, "0.5", area, &crossed, 1).expect("there is room");
        assert!((place.words.at.0 - 150.0).abs() > 8.0);
        // No room on a short line.
        assert!(place_label(&line[..1], "0.5", area, &free, 1).is_none());
        let short = [(0.0, 50.0), (20.0, 50.0)];
        assert!(place_label(&short, "0.5", area, &free, 1).is_none());
    }
}
