//! Newly observed rows, taken into the memory of a model.

use super::SeriesRows;
use super::follow::{Followed, Purpose, follow_for};
use super::kept::Kept;
use super::told::{Laws, as_fitted};
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::series::{Before, Clock, Followers, Memory, Past, Series};

/// What became of a model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Updated {
    /// What the model remembers now.
    pub series: Series,
    /// How many rows were taken.
    pub taken: usize,
    /// Observed rows that were not: of moments that had passed.
    pub late: Vec<(usize, Late)>,
    /// How error bars have changed.
    pub state: State,
    /// What became of guaranteed intervals, at each level that is [promised](Fitted::promise).
    pub kept: Vec<Kept>,
}

/// Why a row that was observed is not taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Late {
    /// It is known, with this very error.
    Known,
    /// It is known with another error; taken with `replace`.
    Corrected,
    /// Its moment has passed without it; taken with `replace`.
    Missed,
    /// It is before all that can be corrected.
    TooOld,
}

/// How error bars have changed since the model was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct State {
    /// The factor of their width.
    pub factor: f64,
    /// By how many sigmas errors are off their law in the mean.
    pub shift: f64,
    /// Rows that say so.
    pub rows: u64,
    /// The least and the largest factor of groups.
    pub range: (f64, f64),
}

/// Factors and shifts within which error bars are fine, and beyond which the model should be fitted again.
const FINE: (f64, f64) = (1.15, 0.15);
const WRONG: (f64, f64) = (2.0, 1.0);
/// As many rows must say so.
const ENOUGH: u64 = 30;

impl State {
    /// Of all groups of a series, each by the rows that it has learned from lately.
    #[must_use]
    pub fn of(fitted: &Fitted, series: &Series) -> Self {
        let laws = as_fitted(fitted);
        let laws = Laws::of(fitted, &laws, series);
        Self::after(laws.latest_states(series), &laws, series)
    }

    fn after(groups: Vec<Followers>, laws: &Laws, series: &Series) -> Self {
        let (mut log, mut shift, mut weight) = (0.0f64, 0.0, 0.0);
        let mut range = (f64::INFINITY, 0.0f64);
        let law = &laws.laws[0][0];
        for Followers { laws: [mut state, _], .. } in groups {
            state.know(f64::INFINITY, law);
            let rows = state.state().learned().min(2000) as f64;
            if rows > 0.0 {
                let (factor, moved) = state.bend().width_and_shift(law);
                log += rows * factor.ln();
                shift += rows * moved;
                weight += rows;
                range = (range.0.min(factor), range.1.max(factor));
            }
        }
        let rows = series.learned();
        match weight > 0.0 {
            true => Self { factor: (log / weight).exp(), shift: shift / weight, rows, range },
            false => Self { factor: 1.0, shift: 0.0, rows, range: (1.0, 1.0) },
        }
    }

    /// Whether error bars are about as they were fitted.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        self.within(FINE)
    }

    /// Whether the model should be fitted again.
    #[must_use]
    pub fn needs_a_fit(&self) -> bool {
        self.rows >= ENOUGH && !self.within(WRONG)
    }

    fn within(&self, (factor, shift): (f64, f64)) -> bool {
        self.factor.ln().abs() <= factor.ln() && self.shift.abs() <= shift
    }
}

/// Takes newly observed rows into what a model remembers. Rows of moments that have passed are left out, or,
/// if they are to `replace` what is known, taken in its place. Of more than 65,536 rows of a group only so many of
/// the latest move its error bars: what earlier ones would say is forgotten by then.
///
/// # Errors
/// As [`follow`](super::follow), or a model without a series.
pub fn update(fitted: &Fitted, rows: &SeriesRows, replace: bool) -> Result<Updated> {
    let series = fitted.series().ok_or(Error::NoSeries)?;
    let laws = as_fitted(fitted);
    let followed = follow_for(Purpose::Memory, fitted, &laws, series, rows)?;
    let mut after = followed.series.clone();
    let late: Vec<(usize, Late)> =
        followed.passed.iter().map(|&row| (row, late(series, rows, &followed, row))).collect();
    let seen = followed.pasts.iter().filter(|past| !past.error.is_nan());
    let mut taken = seen.count() - late.len();
    let mut left = Vec::new();
    for (row, why) in late {
        match why {
            Late::Corrected | Late::Missed if replace => {
                correct(&mut after, rows, &followed, row, series);
                taken += 1;
            }
            why => left.push((row, why)),
        }
    }
    let changed =
        after.groups.iter().filter(|(label, memory)| series.groups.get(*label) != Some(memory));
    let groups = changed.map(|(label, _)| (label.clone(), series.groups.get(label).cloned()));
    let groups: std::collections::BTreeMap<String, Option<Memory>> = groups.collect();
    // An update of nothing leaves the last one to be undone.
    if !groups.is_empty() {
        after.before = Some(Box::new(Before { moments: series.moments.clone(), groups }));
    }
    let told = Laws::of(fitted, &laws, &after);
    let groups = told.latest_states(&after);
    let kept = Kept::of_groups(&groups, &told, &after);
    let state = State::after(groups, &told, &after);
    drop(told);
    Ok(Updated { series: after, taken, late: left, state, kept })
}

/// What was remembered before the last update; `None` where there was none.
#[must_use]
pub fn undo(series: &Series) -> Option<Series> {
    let mut series = series.clone();
    let before = series.before.take()?;
    series.moments = before.moments;
    for (label, memory) in before.groups {
        match memory {
            Some(memory) => series.groups.insert(label, memory),
            None => series.groups.remove(&label),
        };
    }
    Some(series)
}

fn memory<'a>(series: &'a Series, rows: &SeriesRows, row: usize) -> Option<&'a Memory> {
    series.groups.get(rows.label(rows.group_of(row)))
}

fn late(series: &Series, rows: &SeriesRows, followed: &Followed, row: usize) -> Late {
    let (time, error) = (rows.time[row], followed.pasts[row].error);
    let Some(memory) = memory(series, rows, row) else { return Late::TooOld };
    let mut at = memory.latest.iter().filter(|past| past.time == time).peekable();
    let oldest = memory.latest.first().map_or(f64::INFINITY, |past| past.time);
    match at.peek() {
        _ if time < oldest => Late::TooOld,
        None => Late::Missed,
        Some(_) => {
            let near = |past: &Past| (past.error - error).abs() <= 1e-9 * error.abs().max(1e-300);
            let mut nothing = true;
            for past in at {
                if near(past) {
                    return Late::Known;
                }
                nothing &= past.error.is_nan();
            }
            if nothing { Late::Missed } else { Late::Corrected }
        }
    }
}

/// Puts a row in the place of the one that is remembered of its moment.
fn correct(
    after: &mut Series,
    rows: &SeriesRows,
    followed: &Followed,
    row: usize,
    before: &Series,
) {
    let label = rows.label(rows.group_of(row)).to_string();
    let known = before.groups.values().flat_map(|memory| &memory.latest).map(|past| past.time);
    let clock = Clock::new(before.delay, before.moments.iter().copied().chain(known));
    let Some(memory) = after.groups.get_mut(&label) else { return };
    let new = followed.pasts[row];
    let place = memory.latest.partition_point(|past| past.time < new.time);
    match memory.latest.get_mut(place) {
        Some(past) if past.time == new.time => *past = Past { known: past.known, ..new },
        _ => memory.latest.insert(place, Past { known: clock.known(new.time), ..new }),
    }
}
