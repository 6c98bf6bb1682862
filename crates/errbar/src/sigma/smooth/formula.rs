//! A smooth function as one formula, for whoever computes it elsewhere.

use super::basis::{LEVEL, SLOPE};
use super::{MOST_UNKNOWN, Scaling, Smooth};
use crate::math::cholesky::inverse;

/// Everything in the formula of sigma. With $z$ the inputs scaled to [-1, 1] over the range of the
/// training rows and held within $\pm$[`FARTHEST`](Scaling::FARTHEST) of these units,
///
/// $$k\_j = \exp\Big(-\tfrac12\sum\_c \big((z\_c - p\_{jc})\lambda\_c\big)^2\Big),\qquad b = Bk,\qquad
/// f = (a, s\bar z, d b),$$
/// $$\ln\sigma = \ln u + w\cdot f + \min(M, |Vf|^2 + d^2 \max(0, 1 - |b|^2)),$$
///
/// where $\bar z$ is $z$ held within [-1, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct Formula<'a> {
    /// The ranges that make $z$ of the inputs.
    pub scaling: &'a Scaling,
    /// The inducing points $p$, one after the other.
    pub points: &'a [f64],
    /// $\lambda$, one for each input.
    pub inverse_lengths: &'a [f64],
    /// $B$, row by row, as many rows as points.
    pub to_bumps: Vec<f64>,
    /// $a$
    pub level: f64,
    /// $s$
    pub slope: f64,
    /// $d$
    pub deviation: f64,
    /// $w$
    pub coefficients: &'a [f64],
    /// $V$, row by row, as many rows as coefficients.
    pub to_deviations: Vec<f64>,
    /// $u$
    pub unit: f64,
    /// $M$
    pub most_unknown: f64,
}

impl Smooth {
    /// The ranges of the inputs in the training rows.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Its formula, with the matrices inverted.
    #[must_use]
    pub fn formula(&self) -> Formula<'_> {
        let bumps = self.basis.bumps();
        Formula {
            scaling: &self.scaling,
            points: bumps.points(),
            inverse_lengths: bumps.inverse_lengths(),
            to_bumps: inverse(bumps.factor()),
            level: LEVEL,
            slope: SLOPE,
            deviation: bumps.deviation(),
            coefficients: &self.coefficients,
            to_deviations: inverse(&self.precision),
            unit: self.unit,
            most_unknown: MOST_UNKNOWN,
        }
    }
}
