//! Scores of many rows.

use errbar::score::bootstrap::{self, Interval, Intervals};
use errbar::score::verdict::Verdict;
use errbar::score::{
    self, AccuracyReliability, Ar, Beta, Judging, Options, Sample, Scores, calibration, judge_with,
    judge_without_intervals, reliability,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{Column, maybe, refused};
use crate::threads::{detached, watched};

/// Value, beta, CRPS, RS.
pub(crate) type Parts = (f64, f64, f64, f64);

pub(crate) fn parts(ar: Ar) -> Parts {
    (ar.value, ar.beta, ar.crps, ar.rs)
}

/// A beta as Python gives it: its name, or a number.
pub(crate) fn beta_of(beta: &Bound<'_, PyAny>) -> PyResult<Beta> {
    if let Ok(name) = beta.extract::<String>() {
        return name.parse().map_err(refused);
    }
    match beta.extract::<f64>() {
        Ok(value) => Ok(Beta::Fixed(value)),
        Err(_) => Err(PyValueError::new_err(format!(
            "beta is {}: give \"heuristic\", \"printed\" or a number from 0 to 1",
            beta.repr()?
        ))),
    }
}

#[pyfunction]
pub(crate) fn reliability_score(
    py: Python<'_>,
    error: Column<'_>,
    sigma: Column<'_>,
    weight: Option<Column<'_>>,
) -> PyResult<f64> {
    let (error, sigma, weight) = (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
    let rs = || {
        let sample = Sample::new(error, sigma)?.maybe_weighted(weight)?;
        Ok(reliability::reliability(&sample))
    };
    detached(py, rs)?.map_err(refused)
}

#[pyfunction]
pub(crate) fn reliability_score_min(n: usize) -> f64 {
    reliability::rs_min(n)
}

#[pyfunction]
pub(crate) fn accuracy_reliability(
    py: Python<'_>,
    error: Column<'_>,
    sigma: Column<'_>,
    beta: &Bound<'_, PyAny>,
    weight: Option<Column<'_>>,
) -> PyResult<Parts> {
    let beta = beta_of(beta)?;
    let (error, sigma, weight) = (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
    let ar = || {
        let sample = Sample::new(error, sigma)?.maybe_weighted(weight)?;
        score::accuracy_reliability::accuracy_reliability(&sample, beta)
    };
    detached(py, ar)?.map(parts).map_err(refused)
}

#[pyfunction]
pub(crate) fn accuracy_reliability_gradient<'py>(
    py: Python<'py>,
    error: Column<'py>,
    sigma: Column<'py>,
    beta: &Bound<'py, PyAny>,
    weight: Option<Column<'py>>,
) -> PyResult<(Parts, Bound<'py, PyArray1<f64>>)> {
    let beta = beta_of(beta)?;
    let (error, sigma, weight) = (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
    let both = || {
        let mut gradient = vec![0.0; error.len()];
        let mut cost = AccuracyReliability::new(error, weight, beta)?;
        let ar = cost.value_and_gradient(sigma, &mut gradient)?;
        Ok((ar, gradient))
    };
    let (ar, gradient) = detached(py, both)?.map_err(refused)?;
    Ok((parts(ar), gradient.into_pyarray(py)))
}

/// The share of observations inside the central interval of each level.
#[pyfunction]
pub(crate) fn coverage<'py>(
    py: Python<'py>,
    error: Column<'py>,
    sigma: Column<'py>,
    levels: Column<'py>,
    weight: Option<Column<'py>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (error, sigma, weight) = (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
    let levels = levels.as_slice()?;
    let observed = || {
        let sample = Sample::new(error, sigma)?.maybe_weighted(weight)?;
        let coverage = calibration::coverage(&sample, levels, 0.95)?;
        Ok(coverage.iter().map(|one| one.observed).collect::<Vec<f64>>())
    };
    Ok(detached(py, observed)?.map_err(refused)?.into_pyarray(py))
}

/// Observation minus forecast.
#[pyfunction]
pub(crate) fn errors_of<'py>(
    py: Python<'py>,
    observation: Column<'py>,
    forecast: Column<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (y, mu) = (observation.as_slice()?, forecast.as_slice()?);
    let error = py.detach(|| score::errors_of(y, mu));
    Ok(error.map_err(refused)?.into_pyarray(py))
}

/// What [`scores`] should look at, as the front gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ScoreOptions<'py> {
    beta: Bound<'py, PyAny>,
    levels: Vec<f64>,
    pit_bins: usize,
    diagram_levels: usize,
    spread_skill_bins: usize,
    confidence: f64,
    intervals: bool,
    replicates: usize,
    block: Option<usize>,
    seed: u64,
}

impl ScoreOptions<'_> {
    /// As the library takes them.
    pub(crate) fn judging(&self) -> PyResult<Judging> {
        let options = Options::default()
            .beta(beta_of(&self.beta)?)
            .coverage_levels(self.levels.clone())
            .pit_bins(self.pit_bins)
            .diagram_levels(self.diagram_levels)
            .spread_skill_bins(self.spread_skill_bins)
            .confidence(self.confidence);
        let drawing = bootstrap::Options::default()
            .replicates(self.replicates)
            .confidence(self.confidence)
            .block(self.block)
            .seed(self.seed);
        Ok(Judging::default().scores(options).drawing(drawing))
    }

    /// Whether intervals are wanted.
    pub(crate) fn intervals(&self) -> bool {
        self.intervals
    }
}

/// All scores as dictionaries, for the front to make classes of.
#[pyfunction]
pub(crate) fn scores<'py>(
    py: Python<'py>,
    error: Column<'py>,
    sigma: Column<'py>,
    weight: Option<Column<'py>>,
    wanted: ScoreOptions<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let judging = wanted.judging()?;
    let (error, sigma, weight) = (error.as_slice()?, sigma.as_slice()?, maybe(weight.as_ref())?);
    let with_intervals = wanted.intervals;
    let (error, sigma, weight) = (error.to_vec(), sigma.to_vec(), weight.map(<[f64]>::to_vec));
    let judged = watched(py, 0, None, move |monitor| {
        let sample = Sample::new(&error, &sigma)?.maybe_weighted(weight.as_deref())?;
        match with_intervals {
            true => judge_with(&sample, &judging, monitor)
                .map(|judged| (judged.scores, judged.verdict, Some(judged.intervals))),
            false => judge_without_intervals(&sample, &judging, monitor)
                .map(|(scores, verdict)| (scores, verdict, None)),
        }
    })?;
    let (scores, verdict, intervals) = judged.map_err(refused)?;
    told(py, &scores, &verdict, intervals.as_ref())
}

/// Scores with their verdict, as dictionaries.
pub(crate) fn told<'py>(
    py: Python<'py>,
    scores: &Scores,
    verdict: &Verdict,
    intervals: Option<&Intervals>,
) -> PyResult<Bound<'py, PyDict>> {
    let array = |values: &[f64]| values.to_vec().into_pyarray(py);
    let dict = PyDict::new(py);
    /// Fields into a dictionary under their own names.
    macro_rules! put {
        ($to:expr, $from:expr, $($field:ident)*) => {
            $($to.set_item(stringify!($field), $from.$field)?;)*
        };
    }
    put!(dict, scores, rows effective_rows bias mae rmse mean_sigma mean_z rms_z crps crps_skill
        nlpd rs rs_by_chance rs_min);
    dict.set_item("ar", parts(scores.ar))?;
    let constant = PyDict::new(py);
    put!(constant, scores.constant, sigma crps);
    dict.set_item("constant", constant)?;
    let parts = PyDict::new(py);
    put!(parts, scores.decomposition,
        crps reliability reliability_by_chance potential uncertainty resolution);
    dict.set_item("decomposition", parts)?;
    let coverage = PyList::empty(py);
    for one in &scores.coverage {
        let row = PyDict::new(py);
        put!(row, one, level observed mean_width low high);
        coverage.append(row)?;
    }
    dict.set_item("coverage", coverage)?;
    let pit = PyDict::new(py);
    pit.set_item("frequency", array(&scores.pit.frequency))?;
    put!(pit, scores.pit, low high confidence);
    dict.set_item("pit", pit)?;
    let diagram = PyDict::new(py);
    let from = &scores.diagram;
    for (name, values) in [
        ("nominal", &from.nominal),
        ("observed", &from.observed),
        ("low", &from.low),
        ("high", &from.high),
    ] {
        diagram.set_item(name, array(values))?;
    }
    put!(diagram, from, confidence largest_deviation p_value);
    dict.set_item("diagram", diagram)?;
    let bins = PyList::empty(py);
    for bin in &scores.spread_skill {
        let row = PyDict::new(py);
        put!(row, bin, rows sigma_from sigma_to spread skill);
        bins.append(row)?;
    }
    dict.set_item("spread_skill", bins)?;
    let told = intervals.map(|intervals| intervals_of(py, intervals)).transpose()?;
    dict.set_item("intervals", told)?;
    dict.set_item("verdict", (verdict.word(), verdict.to_string()))?;
    dict.set_item("table", scores.to_string())?;
    Ok(dict)
}

fn intervals_of<'py>(py: Python<'py>, from: &Intervals) -> PyResult<Bound<'py, PyDict>> {
    let ends = |one: Interval| (one.low, one.high, one.standard_error);
    let dict = PyDict::new(py);
    for (name, interval) in [
        ("bias", from.bias),
        ("mae", from.mae),
        ("rmse", from.rmse),
        ("mean_sigma", from.mean_sigma),
        ("mean_z", from.mean_z),
        ("rms_z", from.rms_z),
        ("crps", from.crps),
        ("crps_skill", from.crps_skill),
        ("nlpd", from.nlpd),
        ("rs", from.rs),
        ("ar", from.ar),
    ] {
        dict.set_item(name, ends(interval))?;
    }
    let coverage: Vec<_> = from.coverage.iter().map(|one| ends(*one)).collect();
    dict.set_item("coverage", coverage)?;
    dict.set_item("confidence", from.options.confidence)?;
    dict.set_item("block", from.block)?;
    dict.set_item("note", from.blocks_in_words())?;
    Ok(dict)
}
