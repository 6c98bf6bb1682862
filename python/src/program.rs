//! The program `errbar`, carried by the package.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

use crate::threads::detached;

/// Runs the program on these arguments, the first of which is its name; its exit status.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    detached(py, || {
        let status = errbar_cli::status(arguments);
        // What a program of Rust's own does at its end. A closed pipe is no failure.
        let _ = std::io::stdout().flush();
        status
    })
}
