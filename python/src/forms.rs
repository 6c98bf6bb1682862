//! Forecasts of any form, and events.

use errbar::law::{Candidate, judge_any};
use errbar::score::ensemble::{Ensemble, EnsembleSums};
use errbar::score::events::{self, Event, EventSample};
use errbar::score::quantiles::Quantiles;
use errbar::score::winkler::CentralIntervals;
use errbar::score::{Sample, Several};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::{Column, maybe, refused};
use crate::scores::{ScoreOptions, told};
use crate::threads::{detached, watched};

/// The CRPS of each row's members, fair or as they are.
#[pyfunction]
pub(crate) fn crps_ensemble<'py>(
    py: Python<'py>,
    observation: Column<'py>,
    members: Column<'py>,
    columns: usize,
    fair: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (y, members) = (observation.as_slice()?, members.as_slice()?);
    let crps = || {
        let ensemble = Ensemble::new(Several::by_row(members, columns)?, y)?;
        Ok(if fair { ensemble.fair_crps() } else { ensemble.crps() })
    };
    Ok(detached(py, crps)?.map_err(refused)?.into_pyarray(py))
}

/// A forecast as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FormOfFront {
    /// sigma, members, quantiles or interval.
    form: String,
    /// How many columns the values have.
    columns: usize,
    /// Of quantiles, and of the interval.
    levels: Vec<f64>,
    /// As `> 50`.
    events: Vec<String>,
}

/// What a form has beside the scores of every forecast.
#[derive(Default, Serialize)]
struct Beside {
    members: Option<serde_json::Value>,
    quantiles: Option<serde_json::Value>,
    interval: Option<serde_json::Value>,
    events: Vec<serde_json::Value>,
}

/// All scores of a forecast of any form. `values` are row by row: the forecast and its sigma, members, quantiles, or the two
/// ends of an interval.
#[pyfunction]
pub(crate) fn scores_of_form<'py>(
    py: Python<'py>,
    observation: Column<'py>,
    values: Column<'py>,
    weight: Option<Column<'py>>,
    form: FormOfFront,
    wanted: ScoreOptions<'py>,
) -> PyResult<(Bound<'py, PyDict>, String)> {
    let judging = wanted.judging()?;
    let with_intervals = wanted.intervals();
    let weight = maybe(weight.as_ref())?.map(<[f64]>::to_vec);
    let (y, values) = (observation.as_slice()?.to_vec(), values.as_slice()?.to_vec());
    let asked: Result<Vec<Event>, errbar::Error> =
        form.events.iter().map(|event| event.parse()).collect();
    let asked = asked.map_err(refused)?;
    let name = form.form.clone();
    let judged = watched(py, 0, None, move |monitor| {
        let weight = weight.as_deref();
        let column = |nth: usize| -> Vec<f64> {
            values.chunks(form.columns.max(1)).filter_map(|row| row.get(nth).copied()).collect()
        };
        let (first, second) = match form.form.as_str() {
            "sigma" | "interval" => (column(0), column(1)),
            _ => (Vec::new(), Vec::new()),
        };
        let errors = match form.form.as_str() {
            "sigma" => errbar::score::errors_of(&y, &first)?,
            _ => Vec::new(),
        };
        let several = || Several::by_row(&values, form.columns);
        let level = form.levels.first().copied().unwrap_or(f64::NAN);
        let candidate = match form.form.as_str() {
            "sigma" => {
                Candidate::Sigma(Sample::new(&errors, &second)?.maybe_weighted(weight)?, None)
            }
            "members" => Candidate::Members(Ensemble::new(several()?, &y)?),
            "quantiles" => Candidate::Quantiles(Quantiles::new(several()?, &form.levels, &y)?),
            _ => Candidate::Interval(CentralIntervals::new(&first, &second, level, &y)?),
        };
        let judgement = judge_any(&candidate, weight, &judging, monitor)?;
        let mut drawing = judging.drawing.clone();
        drawing.block = drawing.block.or(Some(judgement.intervals.block));
        let mut beside = Beside::default();
        let mut ratio = None;
        match &candidate {
            Candidate::Members(ensemble) => {
                let mut sums = EnsembleSums::of(form.columns);
                sums.add(ensemble, weight)?;
                let scores = sums.scores(judging.scores.confidence)?;
                ratio = Some(scores.spread_skill.ratio);
                beside.members = as_json(&scores);
            }
            Candidate::Quantiles(quantiles) => {
                beside.quantiles = as_json(&quantiles.scores(weight)?)
            }
            Candidate::Interval(intervals) => {
                beside.interval = as_json(&intervals.judge(weight, &drawing, monitor)?);
            }
            _ => {}
        }
        for event in &asked {
            let probability = candidate.probabilities(event, &y)?;
            let happened = event.happened(&y);
            let sample = EventSample::new(&probability, &happened)?.maybe_weighted(weight)?;
            let drawing = drawing.clone();
            let options = events::Options { drawing, without_intervals: !with_intervals };
            let scores = events::judge(&sample, &options, monitor)?;
            let mut value = as_json(&scores).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("event".into(), event.to_string().into());
            }
            beside.events.push(value);
        }
        Ok((judgement, ratio, beside))
    })?;
    let (judgement, ratio, beside) = judged.map_err(refused)?;
    let intervals = with_intervals.then_some(&judgement.intervals);
    let dict = told(py, &judgement.scores, &judgement.verdict, intervals)?;
    let what = if name == "interval" { "intervals" } else { name.as_str() };
    if what != "sigma" {
        let text = judgement.verdict.in_words_of(what, ratio);
        dict.set_item("verdict", (judgement.verdict.word(), text))?;
    }
    let json = serde_json::to_string(&beside);
    Ok((dict, json.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

fn as_json(value: &impl Serialize) -> Option<serde_json::Value> {
    serde_json::to_value(value).ok()
}
