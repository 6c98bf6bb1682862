//! What comes round in the calendar, beside the inputs of rows in time.

use std::borrow::Cow;

use super::fit::data_of;
use super::{Learning, SeriesRows};
use crate::cycles::{self, Cycle};
use crate::error::Result;
use crate::fit::{self, Worth};
use crate::monitor::{Monitor, task};
use crate::series::Series;

/// The cycles that later rows gain by, and what they are worth together. `every` are the rows that count, in the order
/// of time.
pub(super) fn chosen(
    learning: &Learning,
    series: &Series,
    every: &[usize],
    (error, observation): (&[f64], &[f64]),
    monitor: &dyn Monitor,
) -> Result<(Vec<Cycle>, Option<Worth>)> {
    let is_new = |cycle: &Cycle| cycle.inputs().iter().all(|name| !learning.names.contains(name));
    // Times that are no dates have no calendar.
    let asked = series.dates && learning.options.calendar && !every.is_empty();
    let asked: Vec<Cycle> = Cycle::ALL.into_iter().filter(|cycle| asked && is_new(cycle)).collect();
    if asked.is_empty() {
        return Ok((asked, None));
    }
    let _task = task(monitor, "calendar", None);
    let wide = Wide::of(learning, &asked);
    let inputs = (&wide.inputs[..], wide.names.len());
    let data = data_of(learning, inputs, every, (error, observation))?;
    let data = data.with_cycles(learning.names.len(), &asked);
    let time: Vec<f64> = every.iter().map(|&row| learning.rows.time[row]).collect();
    let moves = learning.options.debias || learning.may_debias();
    fit::calendar::judged(&data, &time, moves, &learning.options, monitor)
}

/// The inputs of rows, with some of the calendar after those of the table.
pub(super) struct Wide {
    inputs: Vec<f64>,
    names: Vec<String>,
}

impl Wide {
    pub(super) fn of(learning: &Learning, cycles: &[Cycle]) -> Self {
        let names = cycles.iter().flat_map(|cycle| cycle.inputs());
        Self {
            inputs: learning.rows.with_calendar(cycles).into_owned(),
            names: learning.names.iter().cloned().chain(names).collect(),
        }
    }

    /// The same that is learned, with these inputs.
    pub(super) fn learning<'a>(&'a self, whole: &Learning<'a>) -> Learning<'a> {
        let rows = SeriesRows { inputs: &self.inputs, ..whole.rows };
        Learning { rows, names: &self.names, ..*whole }
    }
}

impl<'a> SeriesRows<'a> {
    /// Row-major inputs with cycles of the calendar after those of the table.
    pub(super) fn with_calendar(&self, cycles: &[Cycle]) -> Cow<'a, [f64]> {
        match cycles.is_empty() {
            true => Cow::Borrowed(self.inputs),
            false => Cow::Owned(cycles::beside(self.inputs, self.time, cycles)),
        }
    }
}
