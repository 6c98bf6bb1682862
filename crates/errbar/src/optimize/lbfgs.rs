//! L-BFGS: the same idea with the last few steps in place of a matrix.

use std::collections::VecDeque;

use super::descent::{Curvature, descend};
use super::minimum::{Minimum, Options, Step};
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
    monitor: impl FnMut(&Step) -> bool,
) -> Minimum {
    descend(x, options, &mut objective, &mut Memory::default(), monitor)
}

/// The last steps, oldest first.
#[derive(Default)]
struct Memory(VecDeque<Pair>);

/// A step and the change of the gradient over it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    curvature: f64,
    share: f64,
}

impl Curvature for Memory {
    fn direction(&mut self, gradient: &[f64], direction: &mut [f64]) {
        direction.copy_from_slice(gradient);
        for pair in self.0.iter_mut().rev() {
            pair.share = dot(&pair.step, direction) / pair.curvature;
            axpy(-pair.share, &pair.change, direction);
        }
        if let Some(last) = self.0.back() {
            let scale = last.curvature / dot(&last.change, &last.change);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for pair in &self.0 {
            let share = dot(&pair.change, direction) / pair.curvature;
            axpy(pair.share - share, &pair.step, direction);
        }
        direction.iter_mut().for_each(|d| *d = -*d);
    }

    fn learn(&mut self, step: &[f64], change: &[f64]) {
        // The oldest step gives its memory to the newest.
        let oldest = if self.0.len() == MEMORY { self.0.pop_front() } else { None };
        let zeros = || vec![0.0; step.len()];
        let mut pair = oldest.unwrap_or_else(|| Pair {
            step: zeros(),
            change: zeros(),
            curvature: 0.0,
            share: 0.0,
        });
        pair.step.copy_from_slice(step);
        pair.change.copy_from_slice(change);
        pair.curvature = dot(step, change);
        self.0.push_back(pair);
    }

    fn fresh(&self) -> bool {
        self.0.is_empty()
    }

    fn forget(&mut self) {
        self.0.clear();
    }
}
