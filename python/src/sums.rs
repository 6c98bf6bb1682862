//! Sums that scores are made of, counted part by part and merged.

use errbar::score::accumulate::{Accumulator, Merged};
use errbar::score::{Options, Sample};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::arrays::{Column, maybe, refused};
use crate::scores::{beta_of, parts};
use crate::threads::in_task;

/// Sums and fine counts of some rows.
#[pyclass(module = "errbar._errbar")]
#[derive(Default)]
pub(crate) struct Sums {
    sums: Accumulator,
}

/// How to look at them, as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SumsOptions<'py> {
    beta: Bound<'py, PyAny>,
    levels: Vec<f64>,
    pit_bins: usize,
    diagram_levels: usize,
    confidence: f64,
}

#[pymethods]
impl Sums {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Counts some rows.
    fn add(
        &mut self,
        py: Python<'_>,
        error: Column<'_>,
        sigma: Column<'_>,
        weight: Option<Column<'_>>,
    ) -> PyResult<()> {
        let (error, sigma, weight) =
            (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
        let sums = &mut self.sums;
        let added = in_task(py, 1, || {
            let sample = Sample::new(error, sigma)?;
            let length = error.len();
            // A part of the data may have no other rows than such.
            if weight.is_some_and(|w| w.len() == length && w.iter().all(|&w| w == 0.0)) {
                sums.add_without_weight(&sample);
                return Ok(());
            }
            sums.add(&sample.maybe_weighted(weight)?)
        })?;
        added.map_err(refused)
    }

    /// Adds what others have counted.
    fn merge(&mut self, other: &Self) {
        self.sums.merge(&other.sums);
    }

    /// How many rows were counted.
    #[getter]
    fn rows(&self) -> u64 {
        self.sums.rows()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.sums.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Self { sums: Accumulator::from_bytes(bytes).map_err(refused)? })
    }

    /// The scores as dictionaries, for the front to make classes of.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        wanted: SumsOptions<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = Options::default()
            .beta(beta_of(&wanted.beta)?)
            .coverage_levels(wanted.levels)
            .pit_bins(wanted.pit_bins)
            .diagram_levels(wanted.diagram_levels)
            .confidence(wanted.confidence);
        told(py, &self.sums.scores_with(&options).map_err(refused)?)
    }
}

fn told<'py>(py: Python<'py>, merged: &Merged) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    /// Fields into a dictionary under their own names.
    macro_rules! put {
        ($to:expr, $from:expr, $($field:ident)*) => {
            $($to.set_item(stringify!($field), $from.$field)?;)*
        };
    }
    put!(dict, merged, rows effective_rows bias mae rmse mean_sigma rms_z crps nlpd rs rs_bound);
    dict.set_item("ar", parts(merged.ar))?;
    let pit = PyDict::new(py);
    pit.set_item("frequency", merged.pit.frequency.clone().into_pyarray(py))?;
    put!(pit, merged.pit, low high confidence);
    dict.set_item("pit", pit)?;
    let diagram = PyDict::new(py);
    let from = &merged.diagram;
    for (name, values) in [
        ("nominal", &from.nominal),
        ("observed", &from.observed),
        ("low", &from.low),
        ("high", &from.high),
    ] {
        diagram.set_item(name, values.clone().into_pyarray(py))?;
    }
    put!(diagram, from, confidence largest_deviation p_value);
    dict.set_item("diagram", diagram)?;
    let coverage = PyList::empty(py);
    for one in &merged.coverage {
        let row = PyDict::new(py);
        put!(row, one, level observed mean_width low high);
        coverage.append(row)?;
    }
    dict.set_item("coverage", coverage)?;
    Ok(dict)
}
