//! A polynomial of log sigma that more rows refine.

use super::{Basis, Link, Polynomial};
use crate::error::Result;
use crate::math::linear::dot;
use crate::sigma::Model;
use crate::sigma::refined::{Refined, turned};

impl Polynomial {
    fn basis(&self, prepared: &[f64]) -> Basis {
        let columns = self.scaling.columns();
        Basis::new(&turned(prepared, columns), columns, &self.terms)
    }
}

impl Refined for Polynomial {
    fn parameters(&self) -> Vec<f64> {
        self.coefficients.clone()
    }

    fn with_parameters(&self, parameters: &[f64], _: f64) -> Model {
        Self { coefficients: parameters.to_vec(), ..self.clone() }.into()
    }

    fn prepared(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        self.scaling.rows_scaled(inputs)
    }

    fn log_sigma(&self, parameters: &[f64], prepared: &[f64]) -> Vec<f64> {
        debug_assert_eq!(self.link, Link::LogSigma);
        let mut log = vec![0.0; prepared.len() / self.scaling.columns()];
        self.basis(prepared).combine(parameters, &mut log);
        log
    }

    fn gradient(&self, _: &[f64], prepared: &[f64], slope: &[f64]) -> Vec<f64> {
        self.basis(prepared).columns.iter().map(|column| dot(column, slope)).collect()
    }
}
