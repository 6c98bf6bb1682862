//! Arrays of Python as slices, and errors of the library as Python's.

use errbar::Error;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

/// One value for each row.
pub(crate) type Column<'py> = PyReadonlyArray1<'py, f64>;

/// Values of any shape.
pub(crate) type Values<'py> = PyReadonlyArrayDyn<'py, f64>;

/// A column that may be left out, as a slice.
pub(crate) fn maybe<'a>(column: Option<&'a Column<'_>>) -> PyResult<Option<&'a [f64]>> {
    Ok(match column {
        Some(column) => Some(column.as_slice()?),
        None => None,
    })
}

/// A refusal as a `ValueError` with the library's sentence. Rows count from 0 in both languages.
pub(crate) fn refused(error: Error) -> PyErr {
    match error {
        // Python has set its own interrupt already; this one is for callers without one.
        Error::Stopped => PyKeyboardInterrupt::new_err(()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// [`refused`] where values have a shape: a place in it is named in place of a row.
pub(crate) fn refused_at(error: Error, values: &Values<'_>) -> PyErr {
    let shape = values.shape();
    let (Error::NotFinite { index, .. } | Error::SigmaNotPositive { index, .. }) = error else {
        return refused(error);
    };
    if shape.len() == 1 {
        return refused(error);
    }
    let mut rest = index;
    let mut place: Vec<String> = shape
        .iter()
        .rev()
        .map(|length| {
            let here = rest % length;
            rest /= length;
            here.to_string()
        })
        .collect();
    place.reverse();
    // One number alone has no place.
    let words =
        if place.is_empty() { String::new() } else { format!(" at ({})", place.join(", ")) };
    PyValueError::new_err(error.to_string().replacen(&format!(" at row {index}"), &words, 1))
}
