//! The loop that BFGS and L-BFGS share.

use super::cubic_line_search::{Line, Point, search};
use super::minimum::{Minimum, Options, Step, Stop, largest};
use crate::math::linear::{axpy, dot};

/// What a quasi-Newton method knows of the curvature.
pub(super) trait Curvature {
    /// Writes minus the approximate inverse Hessian times the gradient.
    fn direction(&mut self, gradient: &[f64], direction: &mut [f64]);

    /// Learns from a step and the change of the gradient over it, which have positive curvature.
    fn learn(&mut self, step: &[f64], change: &[f64]);

    /// Whether nothing has been learned yet: then nothing is known about the scale of a step.
    fn fresh(&self) -> bool;

    /// Forgets everything.
    fn forget(&mut self);
}

/// Minimises `objective` from `x`, which ends at the best point found.
pub(super) fn descend<F: FnMut(&[f64], &mut [f64]) -> Option<f64>>(
    x: &mut [f64],
    options: &Options,
    objective: &mut F,
    curvature: &mut impl Curvature,
    mut monitor: impl FnMut(&Step) -> bool,
) -> Minimum {
    let mut state = State::new(x, objective);
    let stop = if state.value.is_finite() && largest(&state.gradient).is_finite() {
        loop {
            if largest(&state.gradient) <= options.gradient {
                break Stop::Gradient;
            }
            if state.iterations >= options.iterations || state.evaluations >= options.evaluations {
                break Stop::Budget;
            }
            curvature.direction(&state.gradient, &mut state.direction);
            let before = state.value;
            if !state.search(curvature.fresh()) {
                // A bad approximation is thrown away once before giving up.
                if curvature.fresh() {
                    break Stop::Precision;
                }
                curvature.forget();
                continue;
            }
            // Steps without positive curvature teach nothing.
            let sizes = dot(&state.step, &state.step) * dot(&state.change, &state.change);
            if dot(&state.step, &state.change) > 1e-10 * sizes.sqrt() {
                curvature.learn(&state.step, &state.change);
            }
            if monitor(&Step { iteration: state.iterations, value: state.value, x: &state.x }) {
                break Stop::Monitor;
            }
            if options.decrease > 0.0 && before - state.value <= options.decrease * before.abs() {
                break Stop::Decrease;
            }
        }
    } else {
        Stop::Infeasible
    };
    x.copy_from_slice(&state.x);
    Minimum {
        value: state.value,
        gradient: largest(&state.gradient),
        iterations: state.iterations,
        evaluations: state.evaluations,
        stop,
    }
}

/// The point, its gradient and the last step.
struct State<'f, F> {
    objective: &'f mut F,
    x: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// The last step, and the change of the gradient over it.
    step: Vec<f64>,
    change: Vec<f64>,
    trial: Vec<f64>,
    trial_gradient: Vec<f64>,
    value: f64,
    iterations: usize,
    evaluations: usize,
}

impl<'f, F: FnMut(&[f64], &mut [f64]) -> Option<f64>> State<'f, F> {
    fn new(x: &[f64], objective: &'f mut F) -> Self {
        let zeros = || vec![0.0; x.len()];
        let mut gradient = zeros();
        let value = objective(x, &mut gradient).unwrap_or(f64::NAN);
        Self {
            objective,
            x: x.to_vec(),
            gradient,
            direction: zeros(),
            step: zeros(),
            change: zeros(),
            trial: zeros(),
            trial_gradient: zeros(),
            value,
            iterations: 0,
            evaluations: 1,
        }
    }

    /// Takes a step along `direction`; false when none lowers the value.
    fn search(&mut self, fresh: bool) -> bool {
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
        let gradients = self.trial_gradient.iter().zip(&self.gradient);
        for (change, (new, old)) in self.change.iter_mut().zip(gradients) {
            *change = new - old;
        }
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.value = point.value;
        self.iterations += 1;
        true
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
