//! A line search by cubic interpolation for the strong Wolfe conditions
//! (Nocedal and Wright 2006, Algorithms 3.5 and 3.6).

/// The objective along a line: step length to value and slope, or `None` where infeasible.
pub(super) trait Line {
    fn at(&mut self, step: f64) -> Option<Point>;
}

/// Value and slope at a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub step: f64,
    pub value: f64,
    pub slope: f64,
}

/// Sufficient decrease, and how much flatter the slope must become.
const DECREASE: f64 = 1e-4;
const FLATTER: f64 = 0.9;

/// Trials along one line at most.
const TRIALS: usize = 40;

/// Finds a step that satisfies the strong Wolfe conditions, or failing that one that lowers the
/// value. The last call of `line.at` was at the step returned. `None`: nothing lower was found.
pub(super) fn search(line: &mut impl Line, start: Point, first: f64) -> Option<Point> {
    let mut last = start;
    let mut step = first;
    // Beyond this step the line is known to be infeasible.
    let mut wall = f64::INFINITY;
    for trial in 0..TRIALS {
        let Some(point) = line.at(step) else {
            wall = step;
            step = last.step + 0.25 * (step - last.step);
            if step <= last.step {
                break;
            }
            continue;
        };
        if !enough(&start, &point) || (trial > 0 && point.value >= last.value) {
            return zoom(line, start, last, Some(point), step, TRIALS - trial);
        }
        if point.slope.abs() <= -FLATTER * start.slope {
            return Some(point);
        }
        if point.slope >= 0.0 {
            return zoom(line, start, point, Some(last), last.step, TRIALS - trial);
        }
        // Still going down: go further, by what the last two points suggest.
        let far = (10.0 * point.step).min(0.5 * (point.step + wall));
        let guess = cubic(&last, &point).filter(|s| *s > point.step).unwrap_or(far);
        let next = guess.max(2.0 * point.step).min(far);
        last = point;
        if next <= last.step || !next.is_finite() {
            break;
        }
        step = next;
    }
    settle(line, start, last)
}

/// Narrows an interval that holds a good step. `low` is the better end; the other has a point, or is
/// a place where the line is infeasible.
fn zoom(
    line: &mut impl Line,
    start: Point,
    mut low: Point,
    mut high: Option<Point>,
    mut high_step: f64,
    trials: usize,
) -> Option<Point> {
    for _ in 0..trials {
        let width = high_step - low.step;
        // A trial too near an end tells nothing new.
        let (near, far) = (low.step + 0.1 * width, low.step + 0.9 * width);
        let guess = high.and_then(|high| cubic(&low, &high)).unwrap_or(low.step + 0.5 * width);
        let step = guess.clamp(near.min(far), near.max(far));
        if step == low.step || step == high_step {
            break;
        }
        let Some(point) = line.at(step) else {
            (high, high_step) = (None, step);
            continue;
        };
        if !enough(&start, &point) || point.value >= low.value {
            (high, high_step) = (Some(point), step);
            continue;
        }
        if point.slope.abs() <= -FLATTER * start.slope {
            return Some(point);
        }
        if point.slope * width >= 0.0 {
            (high, high_step) = (Some(low), low.step);
        }
        low = point;
    }
    settle(line, start, low)
}

/// The best point known, evaluated once more so that it is the last one.
fn settle(line: &mut impl Line, start: Point, best: Point) -> Option<Point> {
    if best.step > 0.0 && best.value < start.value { line.at(best.step) } else { None }
}

fn enough(start: &Point, point: &Point) -> bool {
    point.value <= start.value + DECREASE * point.step * start.slope
}

/// The minimiser of the cubic through two points with their slopes (Nocedal and Wright, Eq. 3.59).
fn cubic(a: &Point, b: &Point) -> Option<f64> {
    let width = b.step - a.step;
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step);
    let discriminant = d1 * d1 - a.slope * b.slope;
    if discriminant < 0.0 {
        return None;
    }
    let d2 = discriminant.sqrt().copysign(width);
    let step = b.step - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
    step.is_finite().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Function<F>(F, usize);
    impl<F: Fn(f64) -> Option<(f64, f64)>> Line for Function<F> {
        fn at(&mut self, step: f64) -> Option<Point> {
            self.1 += 1;
            (self.0)(step).map(|(value, slope)| Point { step, value, slope })
        }
    }

    #[test]
    fn a_cubic_is_minimised_at_once() {
        // (t - 2)² (t + 5) has its minimum at 2, whatever the two points.
        let f = |t: f64| ((t - 2.0).powi(2) * (t + 5.0), (t - 2.0) * (3.0 * t + 8.0));
        let point = |t: f64| Point { step: t, value: f(t).0, slope: f(t).1 };
        for (a, b) in [(0.0, 1.0), (0.0, 7.0), (1.0, 3.0)] {
            assert!((cubic(&point(a), &point(b)).unwrap() - 2.0).abs() < 1e-12);
        }
    }

    #[test]
    fn wolfe_conditions_hold_from_any_first_step() {
        // Hard functions of Moré and Thuente (1994): flat, and with a sharp bend.
        let flat = |a: f64| Some((-a / (a * a + 2.0), (a * a - 2.0) / (a * a + 2.0).powi(2)));
        let bend = |a: f64| {
            let b = a + 0.004;
            Some((b.powi(5) - 2.0 * b.powi(4), 5.0 * b.powi(4) - 8.0 * b.powi(3)))
        };
        for first in [1e-3, 1e-1, 1.0, 10.0, 1e3] {
            for f in [&flat as &dyn Fn(f64) -> Option<(f64, f64)>, &bend] {
                let mut line = Function(f, 0);
                let start = line.at(0.0).unwrap();
                let point = search(&mut line, start, first).unwrap();
                assert!(enough(&start, &point));
                assert!(point.slope.abs() <= -FLATTER * start.slope);
                assert!(line.1 < 20, "{} trials from {first}", line.1);
            }
        }
    }

    #[test]
    fn it_backs_off_from_what_is_infeasible() {
        // -ln(1 - t) - 3t: minimum at 2/3, infeasible from 1 on.
        let f = |t: f64| (t < 1.0).then(|| (-(1.0 - t).ln() - 3.0 * t, 1.0 / (1.0 - t) - 3.0));
        for first in [1e-3, 1.0, 1e6] {
            let mut line = Function(f, 0);
            let start = line.at(0.0).unwrap();
            let point = search(&mut line, start, first).unwrap();
            assert!(point.value < start.value && point.step < 1.0, "from {first}: {point:?}");
        }
    }

    #[test]
    fn a_line_that_does_not_fall_has_no_step() {
        let mut line = Function(|t: f64| Some((t, -1.0)), 0); // the slope lies
        let start = line.at(0.0).unwrap();
        assert!(search(&mut line, start, 1.0).is_none());
        let mut line = Function(|t: f64| (t == 0.0).then_some((0.0, -1.0)), 0);
        let start = line.at(0.0).unwrap();
        assert!(search(&mut line, start, 1.0).is_none());
    }
}
