//! The functions that log sigma is made of: a constant, the inputs themselves, and bumps whose sum
//! has the covariance of a Gaussian process.

use serde::{Deserialize, Serialize};

use crate::gaussian::inducing_points::{Bumps, Limits, Process};

/// The prior standard deviation of the constant: any level of sigma is as good as another.
pub(super) const LEVEL: f64 = 10.0;
/// The prior standard deviation of log sigma's change over half the range of an input.
pub(super) const SLOPE: f64 = 1.0;
/// Of the variance of the process, what may be left out at any row.
const LEFT_OUT: f64 = 1e-6;

/// The functions, each with a standard normal prior on its coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Basis {
    bumps: Bumps,
}

impl Basis {
    /// For rows of scaled inputs, with at most so many bumps; also the value of every function at
    /// every row, row by row.
    pub(super) fn new(rows: &[f64], process: &Process, most: usize) -> (Self, Vec<f64>) {
        let (bumps, values) = Bumps::new(rows, process, Limits { most, left_out: LEFT_OUT });
        let basis = Self { bumps };
        let (size, columns) = (basis.size(), basis.bumps.columns());
        let mut design = vec![0.0; rows.len() / columns * size];
        for (i, out) in design.chunks_exact_mut(size).enumerate() {
            linear(&rows[i * columns..(i + 1) * columns], out);
            let own = out[1 + columns..].iter_mut().zip(&values);
            own.for_each(|(out, bump)| *out = basis.bumps.deviation() * bump[i]);
        }
        (basis, design)
    }

    /// The process that they are of.
    pub(super) fn process(&self) -> Process {
        let lengths = self.bumps.inverse_lengths().iter().map(|inverse| 1.0 / inverse).collect();
        Process { lengths, deviation: self.bumps.deviation() }
    }

    /// The number of functions.
    pub(super) fn size(&self) -> usize {
        1 + self.bumps.columns() + self.bumps.len()
    }

    /// The bumps among them.
    pub(super) fn bumps(&self) -> &Bumps {
        &self.bumps
    }

    /// The functions at one row of scaled inputs, and the variance of the process that none of them
    /// explains.
    pub(super) fn at(&self, x: &[f64], out: &mut [f64]) -> f64 {
        linear(x, out);
        self.bumps.at(x, &mut out[1 + x.len()..])
    }

    /// The coefficient of the constant for a level of sigma.
    pub(super) fn level(sigma: f64) -> f64 {
        sigma.ln() / LEVEL
    }

    /// What each function can reach anywhere; `None` as for [`Bumps::largest`].
    pub(super) fn largest(&self) -> Option<Vec<f64>> {
        let bumps = self.bumps.largest()?;
        let linear = std::iter::repeat_n(SLOPE, self.bumps.columns());
        Some(std::iter::once(LEVEL).chain(linear).chain(bumps).collect())
    }

    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        self.bumps.check(columns)
    }
}

/// Beyond their range the inputs themselves count as its ends: a straight line would run off.
fn linear(x: &[f64], out: &mut [f64]) {
    out[0] = LEVEL;
    for (out, x) in out[1..].iter_mut().zip(x) {
        *out = SLOPE * x.clamp(-1.0, 1.0);
    }
}
