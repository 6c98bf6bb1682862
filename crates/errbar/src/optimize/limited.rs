//! L-BFGS: the same idea with the last few steps in place of a matrix.

use std::collections::VecDeque;

use super::dense::State;
use super::minimum::{Minimum, Options, Step, Stop, largest};
use crate::math::linear::{axpy, dot};

/// Steps remembered.
const MEMORY: usize = 12;

/// Minimises `objective` from `x`, which ends at the minimum. See [`lbfgs_with`].
pub fn lbfgs(
    x: &mut [f64],
    options: &Options,
    objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
) -> Minimum {
    lbfgs_with(x, options, objective, |_| false)
}

/// [`bfgs_with`](super::bfgs_with) for many parameters: an iteration costs $O(n)$, by the two-loop
/// recursion over the last 12 steps (Nocedal and Wright 2006, Algorithms 7.4 and 7.5).
pub fn lbfgs_with(
    x: &mut [f64],
    options: &Options,
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Option<f64>,
    mut monitor: impl FnMut(&Step) -> bool,
) -> Minimum {
    let mut state = State::new(x, &mut objective);
    let mut memory: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
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
            state.direction.copy_from_slice(&state.gradient);
            newton_direction(&mut memory, &mut state.direction);
            let before = state.value;
            if !state.search(memory.is_empty()) {
                if memory.is_empty() {
                    break Stop::Precision;
                }
                memory.clear();
                continue;
            }
            remember(&mut memory, &state.step, &state.gradient, &state.last_gradient);
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

/// A step and the change of the gradient over it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    curvature: f64,
    share: f64,
}

/// Turns the gradient into minus the approximate inverse Hessian times it.
fn newton_direction(memory: &mut VecDeque<Pair>, direction: &mut [f64]) {
    for pair in memory.iter_mut().rev() {
        pair.share = dot(&pair.step, direction) / pair.curvature;
        axpy(-pair.share, &pair.change, direction);
    }
    if let Some(last) = memory.back() {
        let scale = last.curvature / dot(&last.change, &last.change);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for pair in memory.iter() {
        let share = dot(&pair.change, direction) / pair.curvature;
        axpy(pair.share - share, &pair.step, direction);
    }
    direction.iter_mut().for_each(|d| *d = -*d);
}

/// Adds a step, in the memory of the oldest one when there is no room.
fn remember(memory: &mut VecDeque<Pair>, step: &[f64], gradient: &[f64], last: &[f64]) {
    let mut pair = match memory.len() {
        MEMORY => memory.pop_front(),
        _ => None,
    }
    .unwrap_or_else(|| Pair {
        step: vec![0.0; step.len()],
        change: vec![0.0; step.len()],
        curvature: 0.0,
        share: 0.0,
    });
    pair.step.copy_from_slice(step);
    for ((change, new), old) in pair.change.iter_mut().zip(gradient).zip(last) {
        *change = new - old;
    }
    pair.curvature = dot(&pair.step, &pair.change);
    let sizes = dot(&pair.step, &pair.step).sqrt() * dot(&pair.change, &pair.change).sqrt();
    if pair.curvature > 1e-10 * sizes {
        memory.push_back(pair);
    }
}
