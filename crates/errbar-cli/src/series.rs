//! The rows of a table in time, as a model of a series knows them: what `predict` and `update` read.

use std::path::PathBuf;

use anyhow::bail;
use errbar::Group;
use errbar::fit::Fitted;
use errbar::series::Series;
use errbar::walk::SeriesRows;
use errbar_table::dates::DateFormat;

use crate::arguments::TableArguments;
use crate::columns::{Columns, Request, Role};
use crate::console::Console;

/// Rows in the order of time.
pub(crate) struct SeriesTable {
    pub(crate) kept: Columns,
    inputs: Vec<f64>,
    forecast: Option<Vec<f64>>,
    pub(crate) observation: Vec<f64>,
    group: Option<Group>,
    prior: Option<(String, Vec<f64>)>,
}

/// Which columns are asked for, beyond those that the model names.
pub(crate) struct Asked<'a> {
    /// The files that are one table.
    pub(crate) files: &'a [PathBuf],
    pub(crate) table: &'a TableArguments,
    pub(crate) console: Console,
    /// Other names than those of the model.
    pub(crate) forecast: Option<&'a str>,
    pub(crate) observation: Option<&'a str>,
    pub(crate) date_format: Option<&'a DateFormat>,
    pub(crate) observations: Observations,
}

/// Whether what was observed is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Observations {
    Needed,
    IfThere,
    None,
}

impl SeriesTable {
    pub(crate) fn read(fitted: &Fitted, series: &Series, asked: &Asked) -> anyhow::Result<Self> {
        let mut request = Request::open(asked.files, asked.table)?;
        request.with_ensemble(fitted.ensemble())?;
        let what = |what: &str| format!(", the {what} of the model");
        let check = |request: &Request, name: &str, role: &str| match request.has(name) {
            true => Ok(()),
            false => Err(request.lacks(name, &what(role))),
        };
        check(&request, &series.time, "time")?;
        let known: Option<DateFormat> =
            series.date_format.as_ref().map(|format| format.parse()).transpose()?;
        request.time(Some(&series.time), asked.date_format.or(known.as_ref()))?;
        let mut inputs = Vec::new();
        for (column, name) in fitted.table_names().iter().enumerate() {
            check(&request, name, "inputs")?;
            let id = request.input(fitted, column)?;
            request.keep_gaps(id);
            request.keep_infinite(id);
            inputs.push(id);
        }
        let forecast = match (asked.forecast.or(fitted.forecast()), fitted.mean()) {
            (Some(name), _) => {
                check(&request, name, "forecast")?;
                let id = request.number(Role::Forecast, name)?;
                request.keep_gaps(id);
                Some(id)
            }
            _ => None,
        };
        let needed = asked.observations == Observations::Needed;
        let observation = match asked.observation.or(series.observation.as_deref()) {
            _ if asked.observations == Observations::None => None,
            Some(name) if needed || request.has(name) => {
                check(&request, name, "observation")?;
                let id = request.number(Role::Observation, name)?;
                request.keep_gaps(id);
                Some(id)
            }
            None if needed => bail!("name the column of the observation with --observation"),
            _ => None,
        };
        let group = match &series.group {
            Some(name) => {
                check(&request, name, "group")?;
                Some((request.text(name)?, name.clone()))
            }
            None => None,
        };
        let prior = match fitted.prior() {
            Some(name) => {
                check(&request, name, "prior sigma")?;
                Some((name.to_string(), request.number(Role::PriorSigma, name)?))
            }
            None => None,
        };
        let mut kept = request.read(asked.console)?;
        check_dates(fitted, series, &kept, &series.time)?;
        let rows = kept.rows();
        Ok(Self {
            inputs: kept.row_major(inputs),
            prior: prior.map(|(name, id)| (name, kept.take(id))),
            forecast: forecast.map(|id| kept.take(id)),
            observation: observation.map_or_else(|| vec![f64::NAN; rows], |id| kept.take(id)),
            group: group.map(|(id, name)| {
                let texts = kept.texts(id);
                Group { name, labels: texts.values.clone(), rows: texts.rows.clone() }
            }),
            kept,
        })
    }

    pub(crate) fn rows(&self) -> SeriesRows<'_> {
        SeriesRows {
            time: self.kept.time().unwrap_or(&[]),
            group: self.group.as_ref(),
            inputs: &self.inputs,
            forecast: self.forecast.as_deref(),
            observation: &self.observation,
            prior: self.prior.as_ref().map(|(name, prior)| (name.as_str(), prior.as_slice())),
        }
    }

    /// The group of a row, in words; nothing without groups.
    pub(crate) fn group_of(&self, row: usize) -> Option<&str> {
        self.group.as_ref().map(|group| group.labels[group.rows[row] as usize].as_str())
    }
}

/// That the times of a table, in a column of this name, are such as the model knows.
pub(crate) fn check_dates(
    fitted: &Fitted,
    series: &Series,
    kept: &Columns,
    name: &str,
) -> anyhow::Result<()> {
    let are = |dates: bool| if dates { "dates" } else { "numbers" };
    if series.dates != kept.time_is_dates() {
        bail!(
            "{}: the times in column \"{name}\" are {}, and those that the model knows are {}",
            kept.file(),
            are(kept.time_is_dates()),
            are(series.dates)
        );
    }
    // Where hours and days are inputs, those of another place are other ones.
    if !fitted.calendar().is_empty()
        && let (Some(told), Some(offset)) = (series.offset, kept.time_has_offset())
        && told != offset
    {
        let some = |offset: bool| if offset { "an offset" } else { "no offset" };
        bail!(
            "{}: the times in column \"{name}\" have {} from UTC, and those that the model learned {} of have {}: \
             write both alike",
            kept.file(),
            some(offset),
            words_of(fitted),
            some(told)
        );
    }
    Ok(())
}

/// What of the calendar a model takes: "hour of day and season".
pub(crate) fn words_of(fitted: &Fitted) -> String {
    let names: Vec<&str> = fitted.calendar().iter().map(|cycle| cycle.name()).collect();
    errbar::words::and(&names)
}

/// A time in words: a date, with its time of day if it has one, or the number.
pub(crate) fn when(series: &Series, time: f64) -> String {
    if !series.dates {
        return errbar::words::significant(time, 8);
    }
    let days = (time / 86_400.0).floor();
    let (year, month, day) = errbar::calendar::date(days as i64);
    let minutes = ((time - days * 86_400.0) / 60.0).floor() as u32;
    match minutes {
        0 => format!("{year:04}-{month:02}-{day:02}"),
        m => format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", m / 60, m % 60),
    }
}
