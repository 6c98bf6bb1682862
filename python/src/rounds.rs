//! Fits to rows that lie elsewhere: the one who asks, and those who hold parts of the rows.

use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use errbar::fit::{self, PartRows};
use errbar::rounds::{Answers, Ask, Workers};
use errbar::{Data, Error, Group, Split};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::{Column, maybe, refused};
use crate::fitted::{FitOptions, Fitted, Groups, Inputs, categories_of, refused_input};
use crate::threads::{Asking, asking, of_threads, threads_of, watched};

/// A fit to rows that lie elsewhere, by the one who asks.
#[pyclass(module = "errbar._errbar")]
pub(crate) struct Elsewhere {
    /// Nothing when it is finished.
    fit: Option<fit::Elsewhere>,
    names: Vec<String>,
    threads: usize,
    progress: Option<Py<PyAny>>,
}

/// Those who hold the parts, as Python asks them.
struct Asked<'a> {
    ask: Asking<'a>,
}

impl Workers for Asked<'_> {
    fn ask(&mut self, ask: &Ask) -> errbar::Result<Vec<Answers>> {
        // What was raised is raised again where it is heard.
        let answers = (self.ask)(ask.to_bytes()?).ok_or(Error::Stopped)?;
        answers.iter().map(|bytes| Answers::from_bytes(bytes)).collect()
    }
}

#[pymethods]
impl Elsewhere {
    /// The places, in a part of the rows, of those that may be in the sample.
    #[staticmethod]
    fn candidates(
        py: Python<'_>,
        first_row: usize,
        rows: usize,
        all_rows: usize,
        time_order: bool,
        seed: u64,
    ) -> Bound<'_, PyArray1<i64>> {
        let split = if time_order { Split::InOrder } else { Split::Random };
        let found = fit::candidates(first_row, rows, all_rows, split, seed);
        found.into_iter().map(|row| row as i64).collect::<Vec<i64>>().into_pyarray(py)
    }

    #[new]
    #[expect(clippy::too_many_arguments, reason = "the front gives them by name")]
    fn new(
        py: Python<'_>,
        inputs: Inputs<'_>,
        names: Vec<String>,
        categories: Vec<(usize, Vec<String>)>,
        errors: (Column<'_>, Option<Column<'_>>),
        weight: Option<Column<'_>>,
        group: Option<Groups<'_>>,
        wanted: FitOptions<'_>,
        rows: PyReadonlyArray1<'_, i64>,
        part_rows: Vec<usize>,
    ) -> PyResult<Self> {
        let options = wanted.options()?;
        if wanted.fit_mean {
            return Err(PyValueError::new_err(
                "a mean is not fitted to rows that lie elsewhere: give forecasts, or errors",
            ));
        }
        let threads = threads_of(wanted.n_jobs)?;
        let (x, columns) = (inputs.as_slice()?.to_vec(), inputs.shape()[1]);
        let error = errors.0.as_slice()?.to_vec();
        let weight = maybe(weight.as_ref())?.map(<[f64]>::to_vec);
        let group = match group {
            Some((name, labels, rows)) => {
                Some(Group { name, labels, rows: rows.as_slice()?.to_vec() })
            }
            None => None,
        };
        let rows =
            rows.as_slice()?.iter().map(|row| usize::try_from(*row)).collect::<Result<_, _>>();
        let rows: Vec<usize> =
            rows.map_err(|_| PyValueError::new_err("a row of the sample has a number below 0"))?;
        let given = names.clone();
        let (fit, said) = watched(py, threads, wanted.progress.as_ref(), move |monitor| {
            let mut data =
                Data::with_missing(&x, columns, &error)?.maybe_weighted(weight.as_deref())?;
            data = data.with_categories(categories_of(categories))?;
            if let Some(group) = group {
                data = data.grouped(group)?;
            }
            let said = crate::fitted::to_be_told(&data, &given, &options);
            let fit = fit::Elsewhere::begin(&data, &rows, &part_rows, &given, &options, monitor)?;
            Ok((fit, said))
        })?
        .map_err(|error| refused_input(error, &names))?;
        for words in said {
            let words = CString::new(words)?;
            // For whoever called the front.
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &words, 2)?;
        }
        let progress = wanted.progress.map(Bound::unbind);
        Ok(Self { fit: Some(fit), names, threads, progress })
    }

    /// What parts need to know.
    #[getter]
    fn opening<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let fit = self.fit.as_ref().ok_or_else(finished)?;
        Ok(PyBytes::new(py, fit.opening()))
    }

    /// The fit that all rows have refined. `ask` takes a question to all parts and gives the answers of all who hold some.
    fn finish(
        &mut self,
        py: Python<'_>,
        first: Vec<PyBackedBytes>,
        ask: Bound<'_, PyAny>,
    ) -> PyResult<Fitted> {
        let fit = self.fit.take().ok_or_else(finished)?;
        let progress = self.progress.as_ref().map(|progress| progress.bind(py).clone());
        let answer = |question: &[u8]| ask.call1((PyBytes::new(py, question),))?.extract();
        let fit = asking(py, self.threads, (progress.as_ref(), &answer), move |monitor, ask| {
            fit.finish(&first, &mut Asked { ask }, monitor)
        })?
        .map_err(|error| refused_input(error, &self.names))?;
        Ok(Fitted { fitted: fit.fitted })
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("this fit is finished: begin another")
}

/// Some parts of the rows, where they lie.
#[pyclass(frozen, module = "errbar._errbar")]
pub(crate) struct Parts {
    parts: Mutex<fit::Parts>,
}

impl Parts {
    fn locked(&self) -> std::sync::MutexGuard<'_, fit::Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Parts {
    #[new]
    fn new(opening: &[u8]) -> PyResult<Self> {
        Ok(Self { parts: Mutex::new(fit::Parts::new(opening).map_err(refused)?) })
    }

    /// One more part: what it says first.
    #[pyo3(signature = (number, first_row, inputs, error, weight=None, group=None))]
    #[expect(clippy::too_many_arguments, reason = "the front gives them by name")]
    fn open<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        first_row: usize,
        inputs: Inputs<'_>,
        error: Column<'_>,
        weight: Option<Column<'_>>,
        group: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let group = match &group {
            Some(group) => Some(group.as_slice()?),
            None => None,
        };
        let (inputs, error) = (inputs.as_slice()?, error.as_slice()?);
        let rows = PartRows { inputs, error, weight: maybe(weight.as_ref())?, group };
        let open = || self.locked().open(number, first_row, &rows);
        let first = of_threads(py, None, open)?.map_err(refused)?;
        Ok(PyBytes::new(py, &first))
    }

    /// What all parts here say to a question, as one message.
    #[pyo3(signature = (ask, n_jobs=None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        ask: &[u8],
        n_jobs: Option<isize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let answer = || self.locked().answer(&Ask::from_bytes(ask)?)?.to_bytes();
        let answers = of_threads(py, n_jobs, answer)?.map_err(refused)?;
        Ok(PyBytes::new(py, &answers))
    }

    /// How many questions were answered.
    #[getter]
    fn asked(&self) -> usize {
        self.locked().asked()
    }
}
