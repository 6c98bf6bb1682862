//! BFGS with a dense inverse Hessian, updated in place.

use super::cubic_line_search::{Line, Point, search};
use super::minimum::{Minimum, Options, Step, Stop, largest};
use crate::math::linear::{axpy, dot, symmetric_rank_two, symmetric_times};

/// Minimises `objective` from `x`, which ends at the minimum. See [`bfgs_with`].
pub fn bfgs(
    x: &mut [f64],
    options: &Options,
    objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
) -> Minimum {
    bfgs_with(x, options, objective, |_| false)
}

/// Minimises `objective` from `x`, which ends at the best point found.
///
/// `objective` writes the gradient and returns the value, or `None` where it is not defined.
/// `monitor` is shown every iteration, and stops the search by returning true.
///
/// Broyden-Fletcher-Goldfarb-Shanno with the inverse Hessian H as a full symmetric matrix
/// (Nocedal and Wright 2006, Algorithm 6.1); each iteration is $O(n^2)$:
///
/// $$H \leftarrow H + \frac{(s^Ty + y^THy) ss^T}{(s^Ty)^2} - \frac{Hy s^T + s y^TH}{s^Ty}.$$
///
/// Steps without positive curvature $s^Ty$ leave H as it is. Before its first update H is scaled by
/// $s^Ty/y^Ty$.
pub fn bfgs_with(
    x: &mut [f64],
    options: &Options,
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
    mut monitor: impl FnMut(&Step) -> bool,
) -> Minimum {
    let n = x.len();
    let mut state = State::new(x, &mut objective);
    let mut inverse = vec![0.0; n * n];
    identity(&mut inverse, n, 1.0);
    let (mut change, mut moved) = (vec![0.0; n], vec![0.0; n]);
    let mut fresh = true;
    let stop = 'search: {
        if !state.feasible() {
            break 'search Stop::Infeasible;
        }
        loop {
            if largest(&state.gradient) <= options.gradient {
                break Stop::Gradient;
            }
            if state.iterations >= options.iterations || state.evaluations >= options.evaluations {
                break Stop::Budget;
            }
            symmetric_times(&inverse, &state.gradient, &mut state.direction);
            state.direction.iter_mut().for_each(|d| *d = -*d);
            let before = state.value;
            if !state.search(fresh) {
                // A bad approximation is thrown away once before giving up.
                if fresh {
                    break Stop::Precision;
                }
                identity(&mut inverse, n, 1.0);
                fresh = true;
                continue;
            }
            // y, the change of the gradient, and Hy.
            for ((change, new), old) in
                change.iter_mut().zip(&state.gradient).zip(&state.last_gradient)
            {
                *change = new - old;
            }
            let curvature = dot(&state.step, &change);
            let squared = dot(&change, &change);
            if curvature > 1e-10 * squared.sqrt() * dot(&state.step, &state.step).sqrt() {
                if fresh {
                    identity(&mut inverse, n, curvature / squared);
                    fresh = false;
                }
                symmetric_times(&inverse, &change, &mut moved);
                let scale = (curvature + dot(&change, &moved)) / (curvature * curvature);
                symmetric_rank_two(&mut inverse, scale, &state.step, -1.0 / curvature, &moved);
            }
            if monitor(&Step { iteration: state.iterations, value: state.value, x: &state.x }) {
                break Stop::Monitor;
            }
            if options.decrease > 0.0 && before - state.value <= options.decrease * before.abs() {
                break Stop::Decrease;
            }
        }
    };
    state.finish(x, stop)
}

fn identity(matrix: &mut [f64], n: usize, scale: f64) {
    matrix.fill(0.0);
    matrix.iter_mut().step_by(n + 1).for_each(|d| *d = scale);
}

/// The point, its gradient and the last step: what both methods share.
pub(super) struct State<'f, F> {
    objective: &'f mut F,
    pub x: Vec<f64>,
    pub gradient: Vec<f64>,
    pub direction: Vec<f64>,
    /// The last step, and the gradient before it.
    pub step: Vec<f64>,
    pub last_gradient: Vec<f64>,
    trial: Vec<f64>,
    trial_gradient: Vec<f64>,
    pub value: f64,
    pub iterations: usize,
    pub evaluations: usize,
}

impl<'f, F: FnMut(&[f64], &mut [f64]) -> Option<f64>> State<'f, F> {
    pub(super) fn new(x: &[f64], objective: &'f mut F) -> Self {
        let zeros = || vec![0.0; x.len()];
        let mut gradient = zeros();
        let value = objective(x, &mut gradient).unwrap_or(f64::NAN);
        Self {
            objective,
            x: x.to_vec(),
            gradient,
            direction: zeros(),
            step: zeros(),
            last_gradient: zeros(),
            trial: zeros(),
            trial_gradient: zeros(),
            value,
            iterations: 0,
            evaluations: 1,
        }
    }

    pub(super) fn feasible(&self) -> bool {
        self.value.is_finite() && largest(&self.gradient).is_finite()
    }

    /// Takes a step along `direction`; false when none lowers the value. `fresh`: nothing is known
    /// about the scale of the step yet.
    pub(super) fn search(&mut self, fresh: bool) -> bool {
        let slope = dot(&self.gradient, &self.direction);
        if slope.is_nan() || slope >= 0.0 {
            return false;
        }
        let start = Point { step: 0.0, value: self.value, slope };
        let first = if fresh { (1.0 / largest(&self.gradient)).min(1.0) } else { 1.0 };
        let Some(point) = search(self, start, first) else { return false };
        for (step, direction) in self.step.iter_mut().zip(&self.direction) {
            *step = point.step * direction;
        }
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.last_gradient, &mut self.gradient);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.value = point.value;
        self.iterations += 1;
        true
    }

    pub(super) fn finish(self, x: &mut [f64], stop: Stop) -> Minimum {
        x.copy_from_slice(&self.x);
        Minimum {
            value: self.value,
            gradient: largest(&self.gradient),
            iterations: self.iterations,
            evaluations: self.evaluations,
            stop,
        }
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> Option<f64>> Line for State<'_, F> {
    fn at(&mut self, step: f64) -> Option<Point> {
        self.trial.copy_from_slice(&self.x);
        axpy(step, &self.direction, &mut self.trial);
        self.evaluations += 1;
        let value = (self.objective)(&self.trial, &mut self.trial_gradient)?;
        let slope = dot(&self.trial_gradient, &self.direction);
        // Where the value or the slope is not a number, the objective is not defined.
        (value.is_finite() && slope.is_finite()).then_some(Point { step, value, slope })
    }
}
