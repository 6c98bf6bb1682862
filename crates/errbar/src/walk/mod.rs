//! Through time: models that follow what is observed, and what they would have said, row by row.
//!
//! [`fit()`] learns from rows in time, with errors of earlier rows as inputs if they help. [`follow`] gives the
//! laws of later rows, bent to what was known at the moment of each ([`adapt`](crate::adapt)), and what the
//! model remembers after them. [`backtest()`] walks through a table: it fits, follows and fits again with what
//! was known at the time, and nothing else.

mod backtest;
mod calendar;
mod fit;
mod follow;
mod kept;
mod told;
mod update;

pub use self::backtest::{Backtest, Refit, Walk, Walked, backtest};
pub use self::fit::{Learned, Learning, fit, worth_of_a_lag};
pub use self::follow::{Followed, follow};
pub use self::kept::Kept;
pub use self::update::{Late, State, Updated, undo, update};

use crate::checks::check_length;
use crate::data::Group;
use crate::error::{Error, Result};
use crate::fit::Fitted;

/// Rows in time. Columns are parallel; rows may come in any order.
#[derive(Debug, Clone, Copy)]
pub struct SeriesRows<'a> {
    /// When each row is, in seconds where they are dates.
    pub time: &'a [f64],
    /// The group of each row.
    pub group: Option<&'a Group>,
    /// Row-major inputs, without lagged errors; NaN where missing.
    pub inputs: &'a [f64],
    /// What was forecast; NaN where nothing was. A model that makes the forecast itself needs none.
    pub forecast: Option<&'a [f64]>,
    /// What was then observed; NaN where nothing was, or not yet.
    pub observation: &'a [f64],
    /// What the sigma is called that each row has already, and that models correct, and that sigma, greater than 0.
    pub prior: Option<(&'a str, &'a [f64])>,
}

impl SeriesRows<'_> {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Checks lengths and times.
    fn check(&self, columns: usize) -> Result<()> {
        let rows = self.len();
        check_length("inputs", self.inputs.len(), "times columns", rows * columns)?;
        check_length("observation", self.observation.len(), "time", rows)?;
        if let Some(forecast) = self.forecast {
            check_length("forecast", forecast.len(), "time", rows)?;
        }
        if let Some((_, prior)) = self.prior {
            check_length("prior sigma", prior.len(), "time", rows)?;
        }
        if let Some(group) = self.group {
            check_length("group", group.rows.len(), "time", rows)?;
            if let Some(row) = group.rows.iter().position(|&g| g as usize >= group.labels.len()) {
                return Err(Error::NoSuchGroup { row, groups: group.labels.len() });
            }
        }
        if let Some(index) = self.time.iter().position(|time| !time.is_finite()) {
            return Err(Error::NotFinite { what: "time", index, value: self.time[index] });
        }
        Ok(())
    }

    /// The number of each row's group, and their labels; without groups all are of "".
    fn group_of(&self, row: usize) -> u32 {
        self.group.map_or(0, |group| group.rows[row])
    }

    fn label(&self, group: u32) -> &str {
        self.group.map_or("", |all| &all.labels[group as usize])
    }

    fn groups(&self) -> usize {
        self.group.map_or(1, |group| group.labels.len())
    }
}

/// Observation minus forecast, on the scale of the model's errors, before any bias is taken off; NaN where
/// one of them is missing.
fn errors(fitted: &Fitted, rows: &SeriesRows) -> Result<Vec<f64>> {
    let transform = fitted.options().transform;
    let own = match (rows.forecast, fitted.mean()) {
        (None, Some(mean)) => Some(mean.predict(rows.inputs)?.mean),
        _ => None,
    };
    let forecast = |row: usize| match (&own, rows.forecast) {
        (Some(own), _) => own[row],
        (None, Some(forecast)) => transform.forward(forecast[row]),
        // The errors themselves are what is observed.
        (None, None) => 0.0,
    };
    let error = |(row, y): (usize, &f64)| {
        let error = transform.forward(*y) - forecast(row);
        if error.is_finite() { error } else { f64::NAN }
    };
    Ok(rows.observation.iter().enumerate().map(error).collect())
}
