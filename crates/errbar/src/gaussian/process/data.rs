//! The observations of a Gaussian process, checked once.

use crate::checks::{check_finite, check_length};
use crate::data::rows_of;
use crate::error::{Error, Result};

/// Three matrices of this many rows and columns are about 10 GB.
const MAX_ROWS: usize = 20_000;

/// Inputs, observations and, where known, the noise variance of each, as given.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub columns: usize,
    pub inputs: Vec<f64>,
    pub y: Vec<f64>,
    pub noise: Option<Vec<f64>>,
}

impl Data {
    pub(super) fn new(
        inputs: &[f64],
        columns: usize,
        y: &[f64],
        noise: Option<&[f64]>,
    ) -> Result<Self> {
        let rows = y.len();
        if rows == 0 {
            return Err(Error::Empty);
        }
        if rows > MAX_ROWS {
            return Err(Error::TooManyRowsForMatrix { rows, limit: MAX_ROWS });
        }
        let given = rows_of(inputs, columns)?;
        check_length("y", rows, "inputs", given)?;
        check_finite("y", y)?;
        if let Some(noise) = noise {
            check_length("noise", noise.len(), "y", rows)?;
            check_finite("noise", noise)?;
            if let Some(index) = noise.iter().position(|&noise| noise < 0.0) {
                return Err(Error::NegativeNoise { index, value: noise[index] });
            }
        }
        let (inputs, y) = (inputs.to_vec(), y.to_vec());
        Ok(Self { columns, inputs, y, noise: noise.map(<[f64]>::to_vec) })
    }

    /// The least value of each column.
    pub(super) fn low(&self) -> Vec<f64> {
        self.fold(f64::INFINITY, f64::min)
    }

    /// The greatest value of each column.
    pub(super) fn high(&self) -> Vec<f64> {
        self.fold(f64::NEG_INFINITY, f64::max)
    }

    fn fold(&self, start: f64, choose: fn(f64, f64) -> f64) -> Vec<f64> {
        let mut result = vec![start; self.columns];
        for row in self.inputs.chunks_exact(self.columns) {
            result.iter_mut().zip(row).for_each(|(r, x)| *r = choose(*r, *x));
        }
        result
    }
}
