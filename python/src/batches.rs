//! Batches of rows, in tasks of engines: their error bars, with the columns and names that `errbar predict` writes.

use std::sync::Arc;

use errbar::Error;
use errbar::fit::guarantee::Category;
use errbar::fit::{self, Rows};
use errbar::law::Bounds;
use errbar::sigma::Model;
use errbar_cli::numbers::{Asked, Numbers};
use numpy::{IntoPyArray, PyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::arrays::{Column, maybe, refused};
use crate::fitted::{self, Fitted, Inputs, TOGETHER};
use crate::threads::in_task;

/// Rows that one thread takes at a time.
const CHUNK: usize = 2048;

/// What is asked for, as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    has_forecast: bool,
    sigma_band: Option<f64>,
    guarantee: Vec<f64>,
    interval: Vec<f64>,
    quantiles: Vec<f64>,
    exceed: Vec<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// A model and what it is asked for.
#[pyclass(frozen, module = "errbar._errbar")]
pub(crate) struct Columns {
    fitted: Arc<fit::Fitted>,
    numbers: Numbers,
    bounds: Bounds,
    /// For each guaranteed level what each group is promised, where there are groups.
    promised: Vec<Vec<Category>>,
    made_to: Vec<String>,
}

/// Numbers column by column; for each guarantee and row who it is made to; whether a row is outside, and by which input. Nothing is -1.
type Told<'py> = (
    Vec<fitted::Numbers<'py>>,
    Vec<Bound<'py, PyArray1<i32>>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
);

#[pymethods]
impl Columns {
    #[new]
    fn new(model: &Fitted, wanted: Wanted) -> PyResult<Self> {
        let known = &model.fitted;
        if wanted.sigma_band.is_some() && !matches!(known.model(), Model::Smooth(_)) {
            return Err(PyValueError::new_err(
                "this model has no band on sigma (sigma_band): a smooth model has one; fit it with model=\"smooth\"",
            ));
        }
        let own = known.options().bounds;
        let (lower, upper) =
            (wanted.lower.unwrap_or(own.lower()), wanted.upper.unwrap_or(own.upper()));
        let Some(bounds) = Bounds::new(Some(lower), Some(upper)) else {
            return Err(PyValueError::new_err(
                "lower is not below upper: swap them, or leave one out",
            ));
        };
        let (mut promised, mut made_to) = (Vec::new(), Vec::new());
        if !wanted.guarantee.is_empty() {
            let guarantee = known.guarantee().ok_or(Error::NoGuarantee).map_err(refused)?;
            for level in &wanted.guarantee {
                guarantee.check_level(*level).map_err(refused)?;
            }
            if guarantee.grouped_by().is_some() {
                promised =
                    wanted.guarantee.iter().map(|&level| guarantee.categories(level)).collect();
                let named = |(label, _): (&str, usize)| match label {
                    "" => String::from("(empty)"),
                    label => label.to_string(),
                };
                made_to = guarantee.groups().into_iter().map(named).collect();
                made_to.push(TOGETHER.to_string());
            }
        }
        let asked = Asked {
            has_forecast: wanted.has_forecast,
            sigma_band: wanted.sigma_band,
            guarantee: wanted.guarantee,
            interval: wanted.interval,
            quantiles: wanted.quantiles,
            exceed: wanted.exceed,
        };
        let numbers = Numbers::of_model(&asked, known, !promised.is_empty());
        Ok(Self { fitted: Arc::new(known.clone()), numbers, bounds, promised, made_to })
    }

    /// Names and kinds of the columns to add, in their order.
    #[getter]
    fn names(&self) -> Vec<(String, &'static str)> {
        let numbers = self.numbers.names().map(|name| (name.to_string(), "number")).collect();
        let by = self.numbers.by().map(|name| (name.to_string(), "made_to")).collect();
        let last = [("outside", "flag"), ("outside_input", "input")];
        let last = last.map(|(name, kind)| (name.to_string(), kind));
        self.numbers.in_order(numbers, by).into_iter().chain(last).collect()
    }

    /// Who guarantees are made to.
    #[getter]
    fn made_to(&self) -> Vec<String> {
        self.made_to.clone()
    }

    /// What inputs are called that take rows outside.
    #[getter]
    fn called(&self) -> Vec<String> {
        self.fitted.called()
    }

    /// Of rows whose first inputs are those of the table, and then those of the calendar.
    #[pyo3(signature = (inputs, forecast, prior, group, threads))]
    fn of<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'py>,
        forecast: Option<Column<'py>>,
        prior: Option<Column<'py>>,
        group: Option<Vec<String>>,
        threads: usize,
    ) -> PyResult<Told<'py>> {
        let rows = inputs.shape()[0];
        let given = Given {
            inputs: inputs.as_slice()?,
            width: inputs.shape()[1],
            forecast: maybe(forecast.as_ref())?,
            prior: maybe(prior.as_ref())?,
            group: group.as_ref().map(|labels| {
                let guarantee = self.fitted.guarantee();
                labels.iter().map(|label| guarantee?.group(label)).collect()
            }),
        };
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let all = in_task(py, threads, || {
            let chunk = |&from: &usize| self.chunk(&given, from..(from + CHUNK).min(rows));
            starts.par_iter().map(chunk).collect::<errbar::Result<Vec<Chunk>>>()
        })?;
        let mut out = Chunk {
            numbers: vec![Vec::with_capacity(rows); self.numbers.len()],
            by: vec![Vec::with_capacity(rows); self.promised.len()],
            ..Chunk::default()
        };
        for chunk in all.map_err(refused)? {
            out.numbers.iter_mut().zip(chunk.numbers).for_each(|(to, from)| to.extend(from));
            out.by.iter_mut().zip(chunk.by).for_each(|(to, from)| to.extend(from));
            out.outside.extend(chunk.outside);
            out.outside_input.extend(chunk.outside_input);
        }
        let array = |values: Vec<i32>| values.into_pyarray(py);
        Ok((
            out.numbers.into_iter().map(|column| column.into_pyarray(py)).collect(),
            out.by.into_iter().map(array).collect(),
            array(out.outside),
            array(out.outside_input),
        ))
    }
}

/// The rows of a batch.
struct Given<'a> {
    inputs: &'a [f64],
    width: usize,
    forecast: Option<&'a [f64]>,
    prior: Option<&'a [f64]>,
    group: Option<Vec<Option<u32>>>,
}

/// What is told of some neighbours.
#[derive(Default)]
struct Chunk {
    numbers: Vec<Vec<f64>>,
    by: Vec<Vec<i32>>,
    outside: Vec<i32>,
    outside_input: Vec<i32>,
}

impl Columns {
    fn chunk(&self, given: &Given<'_>, rows: std::ops::Range<usize>) -> errbar::Result<Chunk> {
        let (fitted, count) = (&*self.fitted, rows.len());
        let takes_missing = fitted.takes_missing();
        let of_table = fitted.table_names().len();
        let all = given.inputs.chunks_exact(given.width.max(1)).take(rows.end).skip(rows.start);
        // A row whose input is infinite, or missing where none may be, is told nothing.
        let can = |row: &[f64]| {
            let mut of_table = row.iter().take(of_table);
            of_table.all(|x| x.is_finite() || (x.is_nan() && takes_missing))
        };
        let priors = |row: usize| given.prior.and_then(|prior| prior.get(row).copied());
        let known: Vec<(usize, &[f64])> = rows
            .clone()
            .zip(all)
            .filter(|(row, inputs)| {
                can(inputs) && priors(*row).is_none_or(|s| s > 0.0 && s.is_finite())
            })
            .collect();
        let inputs: Vec<f64> =
            known.iter().flat_map(|(_, inputs)| inputs.iter().copied()).collect();
        let of_known = |column: &[f64]| -> Vec<f64> {
            known.iter().filter_map(|(row, _)| column.get(*row).copied()).collect()
        };
        let (forecast, prior) = (given.forecast.map(of_known), given.prior.map(of_known));
        let group: Option<Vec<Option<u32>>> = given
            .group
            .as_ref()
            .map(|group| known.iter().map(|(row, _)| group.get(*row).copied().flatten()).collect());
        let mut asked = Rows::new(&inputs);
        if let Some(prior) = &prior {
            asked = asked.with_prior(prior);
        }
        if let Some(forecast) = &forecast {
            asked = asked.with_forecast(forecast);
        }
        if let Some(group) = &group {
            asked = asked.with_group(group);
        }
        let said = fitted.predict(asked)?.within(self.bounds);
        let spread = |values: Vec<f64>| {
            let mut out = vec![f64::NAN; count];
            for ((row, _), value) in known.iter().zip(values) {
                out[row - rows.start] = value;
            }
            out
        };
        let mut told = Chunk {
            numbers: self.numbers.of(&said)?.into_iter().map(spread).collect(),
            by: vec![vec![-1; count]; self.promised.len()],
            outside: vec![-1; count],
            outside_input: vec![-1; count],
        };
        let ends = said.outside().iter().zip(said.outside_input());
        for (nth, ((row, _), (outside, input))) in known.iter().zip(ends).enumerate() {
            let place = row - rows.start;
            told.outside[place] = i32::from(*outside);
            told.outside_input[place] = input.map_or(-1, |input| input as i32);
            let whole = said.forecast().is_some_and(|forecast| !forecast[nth].is_nan());
            let of_row = group.as_ref().and_then(|group| group[nth]).filter(|_| whole);
            let Some(own) = of_row else { continue };
            for (by, categories) in told.by.iter_mut().zip(&self.promised) {
                by[place] = match categories.get(own as usize) {
                    Some(Category::Own) => own as i32,
                    Some(Category::Together) => self.made_to.len() as i32 - 1,
                    _ => -1,
                };
            }
        }
        Ok(told)
    }
}
