//! Rows in time: fitting, following, updating and walking.

use errbar::series::{Series, Span};
use errbar::walk::{self, Backtest, Kept, Late, Learning, Refit, SeriesRows, Walked};
use errbar::{Error, Group, fit};
use numpy::{IntoPyArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Column, refused};
use crate::fitted::{FitOptions, Fitted, Groups, Inputs, Numbers, categories_of, refused_input};
use crate::threads::{detached, threads_of, watched};

/// Rows in time, as the front gives them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TimedRows<'py> {
    inputs: Inputs<'py>,
    time: Column<'py>,
    group: Option<Groups<'py>>,
    forecast: Option<Column<'py>>,
    observation: Column<'py>,
    prior: Option<(String, Column<'py>)>,
}

/// The same, on their own.
struct Owned {
    time: Vec<f64>,
    group: Option<Group>,
    inputs: Vec<f64>,
    columns: usize,
    forecast: Option<Vec<f64>>,
    observation: Vec<f64>,
    prior: Option<(String, Vec<f64>)>,
}

impl TimedRows<'_> {
    fn owned(&self) -> PyResult<Owned> {
        let of = |column: &Column<'_>| -> PyResult<Vec<f64>> { Ok(column.as_slice()?.to_vec()) };
        Ok(Owned {
            time: of(&self.time)?,
            group: match &self.group {
                Some((name, labels, rows)) => Some(Group {
                    name: name.clone(),
                    labels: labels.clone(),
                    rows: rows.as_slice()?.to_vec(),
                }),
                None => None,
            },
            inputs: self.inputs.as_slice()?.to_vec(),
            columns: self.inputs.shape()[1],
            forecast: self.forecast.as_ref().map(of).transpose()?,
            observation: of(&self.observation)?,
            prior: match &self.prior {
                Some((name, prior)) => Some((name.clone(), of(prior)?)),
                None => None,
            },
        })
    }
}

impl Owned {
    fn rows(&self) -> SeriesRows<'_> {
        SeriesRows {
            time: &self.time,
            group: self.group.as_ref(),
            inputs: &self.inputs,
            forecast: self.forecast.as_deref(),
            observation: &self.observation,
            prior: self.prior.as_ref().map(|(name, prior)| (name.as_str(), prior.as_slice())),
        }
    }

    /// As many inputs as the model has.
    fn check(&self, fitted: &fit::Fitted) -> PyResult<()> {
        let needed = fitted.table_names().len();
        match self.columns == needed {
            true => Ok(()),
            false => Err(PyValueError::new_err(format!(
                "X has {} columns, but the model was fitted to {needed}",
                self.columns
            ))),
        }
    }
}

/// The series, as the front describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SeriesOptions {
    time: String,
    dates: bool,
    offset: Option<bool>,
    delay: String,
    lag: Vec<String>,
    debias_if_it_pays: bool,
    /// Which inputs are categories, and their levels.
    categories: Vec<(usize, Vec<String>)>,
    /// The levels of a guarantee.
    promised: Vec<f64>,
}

impl SeriesOptions {
    fn series(&self) -> PyResult<Series> {
        let span = |text: &String| text.parse::<Span>().map_err(refused);
        let lags: Vec<Span> = self.lag.iter().map(span).collect::<PyResult<_>>()?;
        let mut series = Series::new(&self.time, span(&self.delay)?, &lags);
        series.dates = self.dates;
        series.offset = self.offset;
        Ok(series)
    }
}

/// Fits a model of a series.
#[pyfunction]
pub(crate) fn fit_series(
    py: Python<'_>,
    rows: TimedRows<'_>,
    names: Vec<String>,
    weight: Option<Column<'_>>,
    wanted: FitOptions<'_>,
    of: SeriesOptions,
) -> PyResult<Fitted> {
    let (owned, options, mut series) = (rows.owned()?, wanted.options()?, of.series()?);
    series.group = owned.group.as_ref().map(|group| group.name.clone());
    let weight = weight.map(|weight| weight.as_slice().map(<[f64]>::to_vec)).transpose()?;
    let threads = threads_of(wanted.n_jobs)?;
    let (asked, categories) = (names.clone(), categories_of(of.categories.clone()));
    let learned = watched(py, threads, wanted.progress.as_ref(), move |monitor| {
        let learning = Learning {
            rows: owned.rows(),
            names: &asked,
            categories: &categories,
            weight: weight.as_deref(),
            options,
            debias_if_it_pays: of.debias_if_it_pays,
            follow_held_out: false,
            promised: &of.promised,
        };
        walk::fit(&learning, &series, monitor)
    })?
    .map_err(|error| refused_input(error, &names))?;
    Ok(Fitted { fitted: learned.fit.fitted })
}

/// Walks through rows: what was said of each, column by column, the fits, and the last model.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the front gives them by name")]
pub(crate) fn backtest<'py>(
    py: Python<'py>,
    rows: TimedRows<'py>,
    names: Vec<String>,
    weight: Option<Column<'py>>,
    wanted: FitOptions<'py>,
    of: SeriesOptions,
    start: f64,
    refit: (String, f64),
    levels: Vec<f64>,
) -> PyResult<(Bound<'py, PyDict>, Fitted)> {
    let (owned, options, mut series) = (rows.owned()?, wanted.options()?, of.series()?);
    series.group = owned.group.as_ref().map(|group| group.name.clone());
    let weight = weight.map(|weight| weight.as_slice().map(<[f64]>::to_vec)).transpose()?;
    let threads = threads_of(wanted.n_jobs)?;
    let refit = match (refit.0.as_str(), refit.1) {
        ("never", _) => Refit::Never,
        ("rows", rows) => Refit::Rows(rows as usize),
        ("time", seconds) => Refit::Time(seconds),
        (_, share) => Refit::Growth(share),
    };
    let (asked, sought, promised) = (names.clone(), levels.clone(), of.promised.len());
    let categories = categories_of(of.categories.clone());
    let walked = watched(py, threads, wanted.progress.as_ref(), move |monitor| {
        let learning = Learning {
            rows: owned.rows(),
            names: &asked,
            categories: &categories,
            weight: weight.as_deref(),
            options,
            debias_if_it_pays: of.debias_if_it_pays,
            follow_held_out: false,
            promised: &[],
        };
        let how = Backtest { start, refit, levels: &sought, guarantee: &of.promised };
        walk::backtest(&learning, &series, &how, monitor)
    })?
    .map_err(|error| refused_input(error, &names))?;
    let dict = PyDict::new(py);
    let numbers = |of: &dyn Fn(&Walked) -> f64| -> Numbers<'py> {
        walked.rows.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    let places: Vec<usize> = walked.rows.iter().map(|row| row.row).collect();
    dict.set_item("row", places.into_pyarray(py))?;
    dict.set_item("forecast", numbers(&|row| row.forecast))?;
    dict.set_item("sigma", numbers(&|row| row.sigma))?;
    let ends =
        |nth: usize| (numbers(&|row| row.intervals[nth].0), numbers(&|row| row.intervals[nth].1));
    dict.set_item("intervals", (0..levels.len()).map(ends).collect::<Vec<_>>())?;
    let ends =
        |nth: usize| (numbers(&|row| row.guaranteed[nth].0), numbers(&|row| row.guaranteed[nth].1));
    dict.set_item("guaranteed", (0..promised).map(ends).collect::<Vec<_>>())?;
    dict.set_item("kept", kept(&walked.kept))?;
    dict.set_item("pit", numbers(&|row| row.pit[0]))?;
    dict.set_item("crps", numbers(&|row| row.crps[0]))?;
    dict.set_item("pit_as_fitted", numbers(&|row| row.pit[1]))?;
    dict.set_item("crps_as_fitted", numbers(&|row| row.crps[1]))?;
    dict.set_item("crps_constant", numbers(&|row| row.crps[2]))?;
    dict.set_item("fits", walked.fits.clone())?;
    Ok((dict, Fitted { fitted: walked.fitted }))
}

/// Takes newly observed rows: the model that knows them, and what is to be said of it.
#[pyfunction]
pub(crate) fn update<'py>(
    py: Python<'py>,
    model: &Fitted,
    rows: TimedRows<'py>,
    replace: bool,
) -> PyResult<(Fitted, Bound<'py, PyDict>)> {
    let owned = rows.owned()?;
    owned.check(&model.fitted)?;
    let updated = detached(py, || walk::update(&model.fitted, &owned.rows(), replace))?;
    let updated = updated.map_err(|error| refused_input(error, model.fitted.names()))?;
    let dict = PyDict::new(py);
    dict.set_item("rows", updated.taken)?;
    let late = updated.late.iter().filter(|(_, why)| *why != Late::Known).map(|(row, _)| *row);
    dict.set_item("late", late.collect::<Vec<usize>>())?;
    let state = updated.state;
    dict.set_item(
        "state",
        match state {
            state if state.needs_a_fit() => "refit",
            state if state.is_fine() => "fine",
            _ => "rescaled",
        },
    )?;
    dict.set_item("factor", state.factor)?;
    dict.set_item("shift", state.shift)?;
    dict.set_item("guarantee", kept(&updated.kept))?;
    Ok((Fitted { fitted: model.fitted.clone().with_series(updated.series) }, dict))
}

/// Sigma of each row by what was known at its time, and the values that it does not exceed with these
/// probabilities.
#[pyfunction]
pub(crate) fn followed<'py>(
    py: Python<'py>,
    model: &Fitted,
    rows: TimedRows<'py>,
    probabilities: Vec<f64>,
) -> PyResult<(Numbers<'py>, Vec<Numbers<'py>>)> {
    let owned = rows.owned()?;
    owned.check(&model.fitted)?;
    let said = detached(py, || {
        let rows = owned.rows();
        let followed = model.fitted.follow(&rows)?;
        let mut sigma = vec![f64::NAN; rows.len()];
        let mut columns = vec![vec![f64::NAN; rows.len()]; probabilities.len()];
        followed.each_model(&model.fitted, &rows, |chosen, _, bent| {
            chosen.iter().zip(bent.sigma()).for_each(|(&row, s)| sigma[row] = *s);
            for (column, p) in columns.iter_mut().zip(&probabilities) {
                let values = bent.quantile(*p)?;
                chosen.iter().zip(values).for_each(|(&row, value)| column[row] = value);
            }
            Ok(())
        })?;
        Ok::<_, Error>((sigma, columns))
    })?;
    let (sigma, columns) = said.map_err(|error| refused_input(error, model.fitted.names()))?;
    Ok((sigma.into_pyarray(py), columns.into_iter().map(|c| c.into_pyarray(py)).collect()))
}

/// The least and the most error that the guaranteed interval of each row holds, by what was known at its time.
#[pyfunction]
pub(crate) fn guaranteed_in_time<'py>(
    py: Python<'py>,
    model: &Fitted,
    rows: TimedRows<'py>,
    level: f64,
) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let owned = rows.owned()?;
    owned.check(&model.fitted)?;
    let said = detached(py, || {
        let rows = owned.rows();
        let followed = model.fitted.follow(&rows)?;
        let is_new = model.fitted.series().is_none_or(|series| series.learned() == 0);
        let (mut low, mut high) = (vec![f64::NAN; rows.len()], vec![f64::NAN; rows.len()]);
        followed.each_model(&model.fitted, &rows, |chosen, still, kept| {
            // With nothing observed it is what it was, at any level.
            let said = if is_new { still } else { kept };
            if chosen.is_empty() {
                return Ok(());
            }
            let (least, most) = said.guaranteed_errors(level)?;
            for ((&row, least), most) in chosen.iter().zip(least).zip(most) {
                (low[row], high[row]) = (least, most);
            }
            Ok(())
        })?;
        Ok::<_, Error>((low, high))
    })?;
    let (low, high) = said.map_err(|error| refused_input(error, model.fitted.names()))?;
    Ok((low.into_pyarray(py), high.into_pyarray(py)))
}

/// Level, rows, share held, the shares proven, unbounded rows, groups of which the next interval is unbounded.
type KeptAsTuple = (f64, u64, f64, f64, f64, u64, usize);

/// What became of guaranteed intervals, as the front takes it.
fn kept(all: &[Kept]) -> Vec<KeptAsTuple> {
    let one = |kept: &Kept| {
        let Kept { level, rows, proven: (least, most), unbounded, unbounded_now, .. } = *kept;
        (level, rows, kept.share(), least, most, unbounded, unbounded_now)
    };
    all.iter().map(one).collect()
}
