//! The program `errbar`, carried by the package.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

/// Runs the program on these arguments, the first of which is its name; its exit status.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = errbar_cli::status(arguments);
        // What a program of Rust's own does at its end. A closed pipe is no failure.
        let _ = std::io::stdout().flush();
        status
    })
}
