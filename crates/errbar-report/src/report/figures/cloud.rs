//! Single rows on a panel: as points while they are few, as a density where they are many.

use crate::layer::{Density, Edge, Layer, Scatter};

use super::POINTS;
use super::frame::{beyond_in_words, is_beyond};
use crate::report::headline::grouped;

/// More rows than this are shown as a density.
const MOST_POINTS: usize = 3_000;

/// The layer, what lies beyond the frame, and a sentence about both.
pub(super) struct Cloud {
    pub(super) layer: Layer,
    pub(super) edge: Edge,
    pub(super) words: String,
    pub(super) is_density: bool,
}

/// Rows at (x, y) within a range of each. `what` names one of them: "absolute error".
pub(super) fn cloud(
    x: &dyn Fn(usize) -> f64,
    y: &dyn Fn(usize) -> f64,
    rows: usize,
    x_range: (f64, f64),
    y_range: (f64, f64),
    what: &str,
    broad: bool,
) -> Cloud {
    let is_out = |&row: &usize| is_beyond(x(row), x_range) || is_beyond(y(row), y_range);
    let out: Vec<usize> = (0..rows).filter(is_out).collect();
    let (far_x, far_y): (Vec<f64>, Vec<f64>) = out.iter().map(|&row| (x(row), y(row))).unzip();
    let edge = Edge::new(far_x, far_y).color(POINTS);
    let mut words = match rows > MOST_POINTS {
        true => {
            format!(
                "{} rows are drawn as a density: the stronger the shade, the more rows.",
                grouped(rows)
            )
        }
        false => String::new(),
    };
    if !out.is_empty() {
        let space = if words.is_empty() { "" } else { " " };
        words += &format!("{space}{}", beyond_in_words(out.len(), "row", "rows"));
    }
    if rows <= MOST_POINTS {
        let (x, y): (Vec<f64>, Vec<f64>) = (0..rows).map(|row| (x(row), y(row))).unzip();
        let radius = if rows > 400 { 1.2 } else { 2.0 };
        let layer =
            Scatter::new(x, y).color(POINTS.opacity(0.6)).radius(radius).filled().label(what);
        return Cloud { layer: layer.into(), edge, words, is_density: false };
    }
    // Coarser where rows are fewer, so that a cell holds some.
    let fine = (0.6 * (rows as f64).sqrt()).clamp(36.0, 80.0) as usize;
    let (columns, lines) = (if broad { 2 * fine } else { fine }, 2 * fine / 3);
    let mut counts = vec![0.0; columns * lines];
    let cell = |value: f64, (low, high): (f64, f64), cells: usize| {
        let part = (value - low) / (high - low);
        (0.0..=1.0).contains(&part).then(|| ((part * cells as f64) as usize).min(cells - 1))
    };
    for row in 0..rows {
        let place = cell(x(row), x_range, columns).zip(cell(y(row), y_range, lines));
        if let Some((i, j)) = place {
            counts[j * columns + i] += 1.0;
        }
    }
    // Logarithms, so that the few rows at the edges are seen beside the many in the middle.
    let shade = |count: f64| if count > 0.0 { (1.5 + count).ln() } else { f64::NAN };
    let values: Vec<f64> = counts.into_iter().map(shade).collect();
    let darkest = values.iter().copied().filter(|v| v.is_finite()).fold(1.0, f64::max);
    let edges = |(low, high): (f64, f64), cells: usize| -> Vec<f64> {
        (0..=cells).map(|i| low + (high - low) * i as f64 / cells as f64).collect()
    };
    // A part of the scale, so that lines stay legible on the darkest cells.
    let layer = Density::new(edges(x_range, columns), edges(y_range, lines), values)
        .range(0.0, 2.6 * darkest)
        .grey();
    Cloud { layer: layer.into(), edge, words, is_density: true }
}

/// The smallest and largest of some values, widened a little where they are equal.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match high - low > 1e-9 * low.abs().max(high.abs()) {
        true => (low, high),
        false => (low - 0.5 * low.abs().max(1e-9), high + 0.5 * high.abs().max(1e-9)),
    }
}
