//! Polylines and polygons in pixels: cutting them to a rectangle, and thinning them.

use crate::scene::{Point, Rect};

/// More vertices than this are thinned: no figure has room for them.
pub(crate) const MOST_VERTICES: usize = 20_000;

/// The parts of a polyline within `rect` (Liang and Barsky 1984), so that a value of 1e300 neither
/// reaches the file nor bends the lines that lead to it.
pub(crate) fn clip_line(line: &[Point], rect: Rect) -> Vec<Vec<Point>> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    for pair in line.windows(2) {
        let Some((from, to)) = clip_segment(pair[0], pair[1], rect) else { continue };
        match out.last_mut() {
            Some(last) if last.last() == Some(&from) => last.push(to),
            _ => out.push(vec![from, to]),
        }
    }
    out
}

fn clip_segment(from: Point, to: Point, rect: Rect) -> Option<(Point, Point)> {
    // Measured from the nearer end: beside 1e300 the place of a crossing would be lost in rounding.
    let swap = size(from) > size(to);
    let (a, b) = if swap { (to, from) } else { (from, to) };
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (p, q) in [
        (-dx, a.0 - rect.left),
        (dx, rect.right - a.0),
        (-dy, a.1 - rect.top),
        (dy, rect.bottom - a.1),
    ] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            enter = enter.max(q / p);
        } else {
            leave = leave.min(q / p);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |t: f64| {
        let (x, y) = (a.0 + t * dx, a.1 + t * dy);
        (x.clamp(rect.left, rect.right), y.clamp(rect.top, rect.bottom))
    };
    let start = if enter > 0.0 { at(enter) } else { a };
    let end = if leave < 1.0 { at(leave) } else { b };
    Some(if swap { (end, start) } else { (start, end) })
}

fn size(point: Point) -> f64 {
    point.0.abs().max(point.1.abs())
}

/// The part of a polygon within `rect` (Sutherland and Hodgman 1974).
pub(crate) fn clip_polygon(polygon: &[Point], rect: Rect) -> Vec<Point> {
    let by_x = |polygon: &[Point], bound: f64, sign: f64| {
        clip_side(polygon, |p| sign * (p.0 - bound), |p| (bound, p.1))
    };
    let by_y = |polygon: &[Point], bound: f64, sign: f64| {
        clip_side(polygon, |p| sign * (p.1 - bound), |p| (p.0, bound))
    };
    let polygon = by_x(polygon, rect.left, 1.0);
    let polygon = by_x(&polygon, rect.right, -1.0);
    let polygon = by_y(&polygon, rect.top, 1.0);
    by_y(&polygon, rect.bottom, -1.0)
}

/// What is left of a polygon on the side where `inside` is not negative; `snap` puts a point on the
/// border.
fn clip_side(
    polygon: &[Point],
    inside: impl Fn(Point) -> f64,
    snap: impl Fn(Point) -> Point,
) -> Vec<Point> {
    let mut out = Vec::with_capacity(polygon.len() + 4);
    for (i, &b) in polygon.iter().enumerate() {
        let a = polygon[(i + polygon.len() - 1) % polygon.len()];
        if (inside(a) < 0.0) != (inside(b) < 0.0) {
            // From the nearer end, as above.
            let (near, far) = if inside(a).abs() < inside(b).abs() { (a, b) } else { (b, a) };
            let t = inside(near) / (inside(near) - inside(far));
            let (dx, dy) = (far.0 - near.0, far.1 - near.1);
            out.push(snap((near.0 + t * dx, near.1 + t * dy)));
        }
        if inside(b) >= 0.0 {
            out.push(b);
        }
    }
    out
}

/// Thins a polyline of more than [`MOST_VERTICES`] points. Of consecutive points in the same half
/// pixel of x only the first, lowest, highest and last stay, which leaves the picture as it was; if
/// that is not enough, the same is done to as many equal runs of points as there is room for.
pub(crate) fn thin_line(line: Vec<Point>) -> Vec<Point> {
    if line.len() <= MOST_VERTICES {
        return line;
    }
    let thinned = keep_extremes(&line, |_, p| (2.0 * p.0).floor());
    if thinned.len() <= MOST_VERTICES {
        return thinned;
    }
    let run = thinned.len().div_ceil(MOST_VERTICES / 4);
    keep_extremes(&thinned, |index, _| (index / run) as f64)
}

fn keep_extremes(line: &[Point], group: impl Fn(usize, Point) -> f64) -> Vec<Point> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < line.len() {
        let key = group(start, line[start]);
        let mut end = start + 1;
        let (mut low, mut high) = (start, start);
        while end < line.len() && group(end, line[end]) == key {
            if line[end].1 < line[low].1 {
                low = end;
            }
            if line[end].1 > line[high].1 {
                high = end;
            }
            end += 1;
        }
        let mut kept = [start, low.min(high), low.max(high), end - 1].to_vec();
        kept.dedup();
        out.extend(kept.into_iter().map(|i| line[i]));
        start = end;
    }
    out
}

/// Thins marks so that at most one stays in each cell of a square grid: cells of a quarter pixel, or
/// of twice that, and so on, until at most [`MOST_VERTICES`] stay. The first in each cell stays.
pub(crate) fn thin_marks(marks: &[Point]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..marks.len()).collect();
    let mut cell = 0.25;
    while kept.len() > MOST_VERTICES {
        let mut seen = std::collections::HashSet::new();
        kept.retain(|&i| {
            let (x, y) = marks[i];
            seen.insert(((x / cell).floor() as i64, (y / cell).floor() as i64))
        });
        cell *= 2.0;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn lines_are_cut_where_they_cross() {
        // In at (0, 5), out at (10, 5); then back in from above.
        let line = [(-5.0, 5.0), (15.0, 5.0), (5.0, -5.0), (5.0, 5.0)];
        let parts = clip_line(&line, SQUARE);
        assert_eq!(parts[0], [(0.0, 5.0), (10.0, 5.0)]);
        assert_eq!(parts.last().unwrap(), &[(5.0, 0.0), (5.0, 5.0)]);
        // A line that stays inside stays whole, one outside vanishes.
        assert_eq!(clip_line(&[(1.0, 1.0), (2.0, 3.0), (4.0, 4.0)], SQUARE).len(), 1);
        assert!(clip_line(&[(11.0, 0.0), (11.0, 10.0)], SQUARE).is_empty());
        assert!(clip_line(&[(1.0, 1.0)], SQUARE).is_empty());
        // From the middle towards (1e300, 1e300): out at the corner.
        let far = clip_line(&[(5.0, 5.0), (1e300, 1e300)], SQUARE);
        assert!((far[0][1].0 - 10.0).abs() < 1e-9 && (far[0][1].1 - 10.0).abs() < 1e-9);
        // And back, from high above (4, -1e200) to (5, 5): straight down.
        let back = clip_line(&[(4.0, -1e200), (5.0, 5.0)], SQUARE);
        assert_eq!(back, [[(5.0, 0.0), (5.0, 5.0)]]);
    }

    fn area(polygon: &[Point]) -> f64 {
        let n = polygon.len();
        (0..n)
            .map(|i| {
                let (a, b) = (polygon[i], polygon[(i + 1) % n]);
                (a.0 * b.1 - b.0 * a.1) / 2.0
            })
            .sum::<f64>()
            .abs()
    }

    #[test]
    fn polygons_keep_the_area_inside() {
        // The diamond |x - 10| + |y - 5| <= 5: its left half is inside, of area 25.
        let diamond = [(5.0, 5.0), (10.0, 0.0), (15.0, 5.0), (10.0, 10.0)];
        assert!((area(&clip_polygon(&diamond, SQUARE)) - 25.0).abs() < 1e-9);
        assert!(clip_polygon(&[(20.0, 20.0), (30.0, 20.0), (30.0, 30.0)], SQUARE).is_empty());
        assert!(clip_polygon(&[], SQUARE).is_empty());
        // A band that falls from far above: half of the square is under it.
        let spike = [(0.0, 10.0), (5.0, -1e200), (5.0, 10.0)];
        assert!((area(&clip_polygon(&spike, SQUARE)) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn thinning_keeps_the_extremes() {
        // A million points over 600 pixels, flat but for one spike.
        let mut line: Vec<Point> = (0..1_000_000).map(|i| (i as f64 * 6e-4, 1.0)).collect();
        line[777_777].1 = -50.0;
        let thinned = thin_line(line.clone());
        assert!(thinned.len() <= MOST_VERTICES);
        assert!(thinned.contains(&line[777_777]));
        assert_eq!((thinned[0], *thinned.last().unwrap()), (line[0], line[999_999]));
        // A line that goes to and fro cannot be thinned by x alone.
        let zigzag: Vec<Point> =
            (0..100_000).map(|i| (f64::from(i % 2) * 600.0, f64::from(i) * 4e-3)).collect();
        assert!(thin_line(zigzag).len() <= MOST_VERTICES);
    }

    #[test]
    fn marks_thin_to_the_limit() {
        let marks: Vec<Point> = (0..1_000_000)
            .map(|i| (f64::from(i % 1000) * 0.6, f64::from(i / 1000) * 0.4))
            .collect();
        let kept = thin_marks(&marks);
        assert!(kept.len() <= MOST_VERTICES && kept.len() > MOST_VERTICES / 8);
        assert_eq!(thin_marks(&marks[..100]).len(), 100);
    }
}
