//! Functions of one error and its sigma, over arrays of any shape. The library uses one thread for them:
//! they need no pool, and are quick for single numbers.

use errbar::math;
use errbar::score::{Sample, calibration, crps as score_crps, nlpd as score_nlpd};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::arrays::{Column, Values, refused_at};

/// What every function of a row gives back: flat, in the order of the rows.
type Flat<'py> = PyResult<Bound<'py, PyArray1<f64>>>;

#[pyfunction]
pub(crate) fn crps<'py>(py: Python<'py>, error: Values<'py>, sigma: Values<'py>) -> Flat<'py> {
    each(py, &error, &sigma, score_crps::each)
}

#[pyfunction]
pub(crate) fn crps_gradient<'py>(
    py: Python<'py>,
    error: Values<'py>,
    sigma: Values<'py>,
) -> Flat<'py> {
    each(py, &error, &sigma, score_crps::each_dsigma)
}

#[pyfunction]
pub(crate) fn nlpd<'py>(py: Python<'py>, error: Values<'py>, sigma: Values<'py>) -> Flat<'py> {
    each(py, &error, &sigma, score_nlpd::each)
}

#[pyfunction]
pub(crate) fn pit<'py>(py: Python<'py>, error: Values<'py>, sigma: Values<'py>) -> Flat<'py> {
    each(py, &error, &sigma, calibration::each_pit)
}

fn each<'py>(
    py: Python<'py>,
    error: &Values<'py>,
    sigma: &Values<'py>,
    of: impl FnOnce(&Sample<'_>) -> Vec<f64> + Send,
) -> Flat<'py> {
    let (e, s) = (error.as_slice()?, sigma.as_slice()?);
    let values = py.detach(|| Sample::new(e, s).map(|sample| of(&sample)));
    Ok(values.map_err(|refusal| refused_at(refusal, error))?.into_pyarray(py))
}

#[pyfunction]
pub(crate) fn erf<'py>(py: Python<'py>, x: Column<'py>) -> Flat<'py> {
    map(py, &x, math::erf_slice)
}

#[pyfunction]
pub(crate) fn erfc<'py>(py: Python<'py>, x: Column<'py>) -> Flat<'py> {
    map(py, &x, math::erfc_slice)
}

#[pyfunction]
pub(crate) fn erfinv<'py>(py: Python<'py>, p: Column<'py>) -> Flat<'py> {
    map(py, &p, |p, out| out.iter_mut().zip(p).for_each(|(x, &p)| *x = math::erfinv(p)))
}

#[pyfunction]
pub(crate) fn erfcinv<'py>(py: Python<'py>, q: Column<'py>) -> Flat<'py> {
    map(py, &q, |q, out| out.iter_mut().zip(q).for_each(|(x, &q)| *x = math::erfcinv(q)))
}

fn map<'py>(
    py: Python<'py>,
    x: &Column<'py>,
    of: impl FnOnce(&[f64], &mut [f64]) + Send,
) -> Flat<'py> {
    let x = x.as_slice()?;
    let values = py.detach(|| {
        let mut out = vec![0.0; x.len()];
        of(x, &mut out);
        out
    });
    Ok(values.into_pyarray(py))
}
