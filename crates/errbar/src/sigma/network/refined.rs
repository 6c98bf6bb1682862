//! Networks that more rows refine, all those of a mean together.

use super::evaluate::Evaluator;
use super::{Network, least_sigma};
use crate::error::Result;
use crate::sigma::Model;
use crate::sigma::refined::{Refined, turned};
use crate::sigma::train::Parametric;

/// No output is smaller.
const LEAST: f64 = 1e-300;

impl Network {
    fn evaluator(&self, prepared: &[f64]) -> (Evaluator, usize) {
        let columns = self.scaling.columns();
        let rows = prepared.len() / columns;
        let all: Vec<usize> = (0..rows).collect();
        (Evaluator::new(&self.shape, &turned(prepared, columns), rows, &all), rows)
    }

    fn share(&self) -> f64 {
        1.0 / self.members.len() as f64
    }
}

impl Refined for Network {
    fn parameters(&self) -> Vec<f64> {
        self.members.concat()
    }

    fn with_parameters(&self, parameters: &[f64], least: f64) -> Model {
        let members = parameters.chunks_exact(self.shape.parameters()).map(<[f64]>::to_vec);
        let floor = least.exp().clamp(least_sigma(), f64::MAX);
        Self { members: members.collect(), floor, ..self.clone() }.into()
    }

    fn prepared(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        self.scaling.rows_scaled(inputs)
    }

    fn log_sigma(&self, parameters: &[f64], prepared: &[f64]) -> Vec<f64> {
        let (mut evaluator, rows) = self.evaluator(prepared);
        let (mut log, mut sigma) = (vec![self.unit.ln(); rows], vec![0.0; rows]);
        for member in parameters.chunks_exact(self.shape.parameters()) {
            evaluator.forward(member, &mut sigma);
            let each = log.iter_mut().zip(&sigma);
            each.for_each(|(log, s)| *log += self.share() * s.clamp(LEAST, f64::MAX).ln());
        }
        log
    }

    fn gradient(&self, parameters: &[f64], prepared: &[f64], slope: &[f64]) -> Vec<f64> {
        let (mut evaluator, rows) = self.evaluator(prepared);
        let (mut sigma, mut own) = (vec![0.0; rows], vec![0.0; rows]);
        let of_member = |member: &[f64]| {
            evaluator.forward(member, &mut sigma);
            for (own, (slope, sigma)) in own.iter_mut().zip(slope.iter().zip(&sigma)) {
                *own = slope * self.share() / sigma.clamp(LEAST, f64::MAX);
            }
            let mut gradient = vec![0.0; member.len()];
            evaluator.backward(member, &own, &mut gradient);
            gradient
        };
        parameters.chunks_exact(self.shape.parameters()).flat_map(of_member).collect()
    }
}
