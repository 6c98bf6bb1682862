//! The report: one page that shows whether error bars can be trusted.

use std::path::PathBuf;

use errbar::Error;
use errbar::score::events::Event;
use errbar_report::report::{self as page, Groups, Order, Origin, Places, Report, Subject};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Column, refused};
use crate::scores::told;
use crate::threads::{detached, watched};

/// A column and what it is called.
type Named<'py> = (String, Column<'py>);

/// What is judged, as the front gives it: rows in the order of time, where there is a time.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReportRows<'py> {
    observation: Named<'py>,
    forecast: Named<'py>,
    sigma: Column<'py>,
    weight: Option<Column<'py>>,
    inputs: Vec<Named<'py>>,
    /// And whether it is in seconds since 1970.
    time: Option<(String, Column<'py>, bool)>,
    /// The name, the groups, and for each row its place among them.
    by: Option<(String, Vec<String>, PyReadonlyArray1<'py, u32>)>,
    lead: Option<(String, Vec<String>, PyReadonlyArray1<'py, u32>)>,
    /// Latitude and longitude.
    places: Option<(Named<'py>, Named<'py>)>,
    /// As "> 50".
    events: Vec<String>,
    title: String,
    facts: Vec<(String, String)>,
}

/// The page, its headline and advice, its figures as SVG, and all scores.
#[pyfunction]
pub(crate) fn report<'py>(
    py: Python<'py>,
    judged: ReportRows<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = |(name, values): &Named<'_>| -> PyResult<(String, Vec<f64>)> {
        Ok((name.clone(), values.as_slice()?.to_vec()))
    };
    let (observation, forecast) = (own(&judged.observation)?, own(&judged.forecast)?);
    let sigma = judged.sigma.as_slice()?.to_vec();
    let weight = match &judged.weight {
        Some(weight) => Some(weight.as_slice()?.to_vec()),
        None => None,
    };
    let inputs = judged.inputs.iter().map(own).collect::<PyResult<Vec<_>>>()?;
    let time = match &judged.time {
        Some((name, values, dates)) => Some((name.clone(), values.as_slice()?.to_vec(), *dates)),
        None => None,
    };
    let by = match judged.by {
        Some((name, labels, rows)) => Some((name, labels, rows.as_slice()?.to_vec())),
        None => None,
    };
    let lead = match judged.lead {
        Some((name, labels, rows)) => Some((name, labels, rows.as_slice()?.to_vec())),
        None => None,
    };
    let places = match &judged.places {
        Some((latitude, longitude)) => Some((own(latitude)?, own(longitude)?)),
        None => None,
    };
    let event = |words: String| -> PyResult<(String, Event)> {
        let event: Event = words.parse().map_err(refused)?;
        Ok((event.to_string(), event))
    };
    let events = judged.events.into_iter().map(event).collect::<PyResult<Vec<_>>>()?;
    let report = watched(py, 0, None, move |monitor| {
        let subject = Subject {
            observation: column(&observation),
            forecast: column(&forecast),
            sigma: &sigma,
            weight: weight.as_deref(),
            inputs: inputs.iter().map(column).collect(),
            order: match &time {
                Some((name, values, dates)) => Order::Time { name, values, dates: *dates },
                None => Order::Rows,
            },
            groups: by.as_ref().map(|(name, labels, rows)| Groups { name, labels, rows }),
            lead: lead.as_ref().map(|(name, labels, rows)| Groups { name, labels, rows }),
            places: places.as_ref().map(|(latitude, longitude)| Places {
                latitude: column(latitude),
                longitude: column(longitude),
            }),
            events,
            ..Subject::default()
        };
        Report::new(&subject, monitor)
    })?;
    let report = report.map_err(refused_report)?;
    let origin = Origin { facts: judged.facts, ..Origin::default() };
    let html = detached(py, || report.html(&judged.title, &origin))?.map_err(refused_report)?;
    let figures = PyDict::new(py);
    for figure in report.figures() {
        let svg = detached(py, || figure.figure.svg())?;
        figures.set_item(&figure.name, svg.map_err(refused_report)?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("html", html)?;
    dict.set_item("headline", report.headline())?;
    dict.set_item("advice", report.advice())?;
    dict.set_item("figures", figures)?;
    dict.set_item(
        "scores",
        told(py, report.scores(), report.verdict(), Some(report.intervals()))?,
    )?;
    Ok(dict)
}

fn column((name, values): &(String, Vec<f64>)) -> page::Column<'_> {
    page::Column { name, values }
}

fn refused_report(error: errbar_report::Error) -> PyErr {
    match error {
        errbar_report::Error::Scores(error @ Error::Stopped) => refused(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Writes a file, whole or not at all.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    detached(py, || errbar_cli::write_file(&path, text.as_bytes()))?
        .map_err(|error| PyOSError::new_err(format!("{error:#}")))
}
