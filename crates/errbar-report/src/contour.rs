//! Lines of equal value of a gridded function, by marching squares.

use std::collections::BTreeMap;

/// A function on a grid: `values[j * x.len() + i]` is its value at `(x[i], y[j])`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    pub(crate) values: &'a [f64],
}

const NONE: usize = usize::MAX;

/// The lines on which the linearly interpolated function has the value `level`, each as long as it
/// goes: open ones end at the border of the grid or beside values that are not numbers, closed ones
/// end where they began.
///
/// A saddle (two opposite corners above, two below) is decided by the mean of the four corners.
pub(crate) fn isolines(grid: Grid<'_>, level: f64) -> Vec<Vec<(f64, f64)>> {
    let (nx, ny) = (grid.x.len(), grid.y.len());
    if grid.values.len() != nx * ny {
        return Vec::new();
    }
    // An edge of the grid is named by its lower left node and its direction; a line crosses it once,
    // so it joins at most two pieces, one from the cell on each side.
    let mut links: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    let mut link = |a: usize, b: usize| {
        for (from, to) in [(a, b), (b, a)] {
            let ends = links.entry(from).or_insert([NONE; 2]);
            if ends[0] == NONE {
                ends[0] = to;
            } else {
                ends[1] = to;
            }
        }
    };
    for j in 0..ny.saturating_sub(1) {
        for i in 0..nx.saturating_sub(1) {
            let node = j * nx + i;
            let corners = [node, node + 1, node + nx + 1, node + nx].map(|n| grid.values[n]);
            if corners.iter().any(|v| !v.is_finite()) {
                continue;
            }
            let [bottom, right, top, left] =
                [2 * node, 2 * (node + 1) + 1, 2 * (node + nx), 2 * node + 1];
            let above = corners.map(|v| v >= level);
            let mut crossed = Vec::with_capacity(4);
            for (edge, ends) in [(bottom, [0, 1]), (right, [1, 2]), (top, [2, 3]), (left, [3, 0])] {
                if above[ends[0]] != above[ends[1]] {
                    crossed.push(edge);
                }
            }
            match crossed[..] {
                [a, b] => link(a, b),
                [..] if crossed.len() == 4 => {
                    let centre = corners.iter().map(|v| v / 4.0).sum::<f64>() >= level;
                    // The two corners unlike the centre are cut off.
                    if above[0] != centre {
                        link(bottom, left);
                        link(right, top);
                    } else {
                        link(bottom, right);
                        link(top, left);
                    }
                }
                _ => {}
            }
        }
    }
    trace(&mut links).into_iter().map(|line| positions(grid, level, &line)).collect()
}

/// Follows the links: first from the open ends, then around the closed lines.
fn trace(links: &mut BTreeMap<usize, [usize; 2]>) -> Vec<Vec<usize>> {
    let open: Vec<usize> = links.iter().filter(|(_, e)| e[1] == NONE).map(|(&k, _)| k).collect();
    let all: Vec<usize> = links.keys().copied().collect();
    let mut lines = Vec::new();
    for start in open.into_iter().chain(all) {
        let Some(first) = links.remove(&start) else { continue };
        let mut line = vec![start];
        let mut next = first[0];
        let mut last = start;
        while let Some(ends) = links.remove(&next) {
            line.push(next);
            let onward = if ends[0] == last { ends[1] } else { ends[0] };
            last = next;
            next = onward;
        }
        if next == start {
            line.push(start);
        }
        lines.push(line);
    }
    lines
}

fn positions(grid: Grid<'_>, level: f64, line: &[usize]) -> Vec<(f64, f64)> {
    let nx = grid.x.len();
    let position = |&edge: &usize| {
        let node = edge / 2;
        let (i, j) = (node % nx, node / nx);
        let other = if edge % 2 == 0 { node + 1 } else { node + nx };
        let (a, b) = (grid.values[node], grid.values[other]);
        // Halves, since b - a may overflow.
        let t = (level / 2.0 - a / 2.0) / (b / 2.0 - a / 2.0);
        let t = if t.is_nan() { 0.5 } else { t.clamp(0.0, 1.0) };
        let between = |from: f64, to: f64| from * (1.0 - t) + to * t;
        match edge % 2 {
            0 => (between(grid.x[i], grid.x[i + 1]), grid.y[j]),
            _ => (grid.x[i], between(grid.y[j], grid.y[j + 1])),
        }
    };
    line.iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|i| low + (high - low) * i as f64 / (n - 1) as f64).collect()
    }

    fn on_grid(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        y.iter().flat_map(|&y| x.iter().map(move |&x| (x, y))).map(|(x, y)| f(x, y)).collect()
    }

    fn length(line: &[(f64, f64)]) -> f64 {
        line.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum()
    }

    #[test]
    fn a_plane_has_one_straight_line() {
        let (x, y) = (axis(7, 0.0, 3.0), axis(5, -1.0, 1.0));
        let values = on_grid(&x, &y, |x, y| 2.0 * x + y);
        let lines = isolines(Grid { x: &x, y: &y, values: &values }, 3.1);
        assert_eq!(lines.len(), 1);
        // A linear function is interpolated without error.
        for &(x, y) in &lines[0] {
            assert!((2.0 * x + y - 3.1).abs() < 1e-12);
        }
        // From (2.05, -1) to (1.05, 1).
        assert!((length(&lines[0]) - 5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_circle_closes() {
        let axis = axis(101, -1.5, 1.5);
        let values = on_grid(&axis, &axis, |x, y| x * x + y * y);
        let lines = isolines(Grid { x: &axis, y: &axis, values: &values }, 1.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        // Interpolating x² over a spacing h is wrong by at most h²/4 in x² + y², half that in r.
        let h = 0.03_f64;
        for &(x, y) in &lines[0] {
            assert!((x.hypot(y) - 1.0).abs() < h * h / 4.0);
        }
        assert!((length(&lines[0]) - std::f64::consts::TAU).abs() < 1e-2);
    }

    #[test]
    fn a_saddle_does_not_cross_itself() {
        let axis = [-1.0, 1.0];
        // xy: corners 1, -1, 1, -1, centre 0. A level above the centre cuts off the high corners.
        let values = on_grid(&axis, &axis, |x, y| x * y);
        for level in [0.5, -0.5] {
            let lines = isolines(Grid { x: &axis, y: &axis, values: &values }, level);
            assert_eq!(lines.len(), 2);
            for line in &lines {
                assert_eq!(line.len(), 2);
                let middle = ((line[0].0 + line[1].0) / 2.0, (line[0].1 + line[1].1) / 2.0);
                assert!(middle.0 * middle.1 * level > 0.0, "{level}: {line:?}");
            }
        }
    }

    #[test]
    fn holes_and_odd_levels() {
        let axis = axis(11, 0.0, 1.0);
        let mut values = on_grid(&axis, &axis, |x, _| x);
        values[5 * 11 + 5] = f64::NAN;
        // The line x = 0.55 is interrupted by the hole at (0.5, 0.5).
        let grid = Grid { x: &axis, y: &axis, values: &values };
        assert_eq!(isolines(grid, 0.55).len(), 2);
        assert!(isolines(grid, 2.0).is_empty());
        assert!(isolines(grid, f64::NAN).is_empty());
        // A level met exactly on nodes gives one line all the same.
        assert_eq!(isolines(grid, axis[2]).len(), 1);
        assert!(isolines(Grid { x: &[], y: &[], values: &[] }, 0.0).is_empty());
        assert!(isolines(Grid { x: &[1.0], y: &[1.0], values: &[1.0] }, 1.0).is_empty());
    }
}
