//! A family of functions, a loss, and BFGS between them.

use crate::error::Result;
use crate::loss::Loss;
use crate::optimize::{Minimum, Options, Step, bfgs_with, lbfgs_with};

/// A function of parameters that gives every row its sigma.
pub(crate) trait Parametric {
    /// Writes sigma for every row; false where a parameter gives a sigma that is not positive.
    fn forward(&mut self, parameters: &[f64], sigma: &mut [f64]) -> bool;

    /// Writes the gradient in the parameters from the slope of the cost in each sigma, at the
    /// parameters of the last [`Parametric::forward`].
    fn backward(&mut self, parameters: &[f64], slope: &[f64], gradient: &mut [f64]);

    /// Adds a penalty to the cost and its gradient.
    fn penalise(&self, _parameters: &[f64], cost: f64, _gradient: &mut [f64]) -> f64 {
        cost
    }
}

/// From this many parameters on a dense matrix is wasteful.
const DENSE_UP_TO: usize = 1000;

/// The cost and its gradient as a function of the parameters.
pub(crate) struct Objective<'a, M> {
    pub(crate) model: &'a mut M,
    loss: &'a mut (dyn Loss + Send + 'a),
    unit: Option<&'a [f64]>,
    sigma: Vec<f64>,
    slope: Vec<f64>,
}

impl<'a, M: Parametric> Objective<'a, M> {
    pub(crate) fn new(model: &'a mut M, loss: &'a mut (dyn Loss + Send + 'a)) -> Self {
        let rows = loss.rows();
        Self { model, loss, unit: None, sigma: vec![0.0; rows], slope: vec![0.0; rows] }
    }

    /// The loss is one of errors in these units: sigmas are brought to them first.
    pub(crate) fn in_units(self, unit: Option<&'a [f64]>) -> Self {
        Self { unit, ..self }
    }

    fn forward(&mut self, parameters: &[f64]) -> bool {
        let positive = self.model.forward(parameters, &mut self.sigma);
        if let Some(unit) = self.unit {
            self.sigma.iter_mut().zip(unit).for_each(|(sigma, unit)| *sigma /= unit);
        }
        positive
    }

    /// `None` where a sigma is not positive.
    pub(crate) fn at(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Option<f64> {
        if !self.forward(parameters) {
            return None;
        }
        let cost = self.loss.value_and_gradient(&self.sigma, &mut self.slope).ok()?;
        if let Some(unit) = self.unit {
            self.slope.iter_mut().zip(unit).for_each(|(slope, unit)| *slope /= unit);
        }
        self.model.backward(parameters, &self.slope, gradient);
        Some(self.model.penalise(parameters, cost, gradient))
    }

    /// The loss alone, without penalty.
    pub(crate) fn loss_at(&mut self, parameters: &[f64]) -> Result<f64> {
        if !self.forward(parameters) {
            return Ok(f64::INFINITY);
        }
        self.loss.value(&self.sigma)
    }

    pub(crate) fn minimise(
        &mut self,
        parameters: &mut [f64],
        options: &Options,
        monitor: impl FnMut(&Step) -> bool,
    ) -> Minimum {
        let dense = parameters.len() <= DENSE_UP_TO;
        let objective = |x: &[f64], gradient: &mut [f64]| self.at(x, gradient);
        if dense {
            bfgs_with(parameters, options, objective, monitor)
        } else {
            lbfgs_with(parameters, options, objective, monitor)
        }
    }
}
