//! What a minimiser is told, and what it says.

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Iterations at most.
    pub iterations: usize,
    /// Evaluations of the objective at most.
    pub evaluations: usize,
    /// Stop when no component of the gradient is larger than this.
    pub gradient: f64,
    /// Stop when an iteration lowers the value by no more than this share of it.
    pub decrease: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { iterations: 1000, evaluations: 10_000, gradient: 1e-8, decrease: 0.0 }
    }
}

/// Why a minimiser stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The gradient is as small as asked.
    Gradient,
    /// The value no longer falls by as much as asked.
    Decrease,
    /// No step along the search direction lowers the value any more: as far as rounding allows.
    Precision,
    /// The monitor asked for it.
    Monitor,
    /// The iterations or evaluations allowed were used up.
    Budget,
    /// The start itself is infeasible, or its value or gradient is not finite.
    Infeasible,
}

/// The end of a minimisation; the point itself is in the slice that held the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minimum {
    /// The objective there.
    pub value: f64,
    /// The largest component of the gradient there.
    pub gradient: f64,
    /// Iterations done.
    pub iterations: usize,
    /// Evaluations of the objective.
    pub evaluations: usize,
    /// Why it ended.
    pub stop: Stop,
}

impl Minimum {
    /// Whether it ended at a minimum, as far as was asked or rounding allows.
    #[must_use]
    pub fn converged(&self) -> bool {
        matches!(self.stop, Stop::Gradient | Stop::Decrease | Stop::Precision)
    }
}

/// Where a minimiser is after an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The iteration, counted from 1.
    pub iteration: usize,
    /// The objective.
    pub value: f64,
    /// The point.
    pub x: &'a [f64],
}

/// The largest absolute component; NaN if there is one.
pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, v| if v.abs() <= largest { largest } else { v.abs() })
}
