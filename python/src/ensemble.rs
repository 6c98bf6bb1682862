//! What is made of the members of an ensemble.

use errbar::ensemble::{Center, Ensemble};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::refused;
use crate::fitted::Inputs;
use crate::threads::detached;

/// Forecast, spread and share of zeros of the members of each row, and what these are called.
#[pyfunction]
pub(crate) fn of_members<'py>(
    py: Python<'py>,
    members: Inputs<'py>,
    center: &str,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
    let ensemble = Ensemble::new(Vec::new(), center.parse::<Center>().map_err(refused)?);
    let (values, [rows, columns]) = (members.as_slice()?, [members.shape()[0], members.shape()[1]]);
    let made: Vec<f64> = detached(py, || {
        let mut row = vec![0.0; columns];
        let each = (0..rows).flat_map(|nth| {
            row.copy_from_slice(&values[nth * columns..(nth + 1) * columns]);
            ensemble.of_row(&mut row)
        });
        each.collect()
    })?;
    let made = made.into_pyarray(py).reshape([rows, 3])?;
    Ok((made, ensemble.inputs().to_vec()))
}
