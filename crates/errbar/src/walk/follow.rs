//! The laws of rows in time, and what is remembered after them.

use rayon::prelude::*;

use super::told::{AsFitted, Laws, as_fitted};
use super::{SeriesRows, errors};
use crate::adapt::Bend;
use crate::adapt::promise::Promise;
use crate::error::{Error, Result};
use crate::fit::{Fitted, Forecasts, Rows};
use crate::series::{Clock, Lagged, Memory, Past, Series, Side, Told, lagged};

/// What is said of rows in time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Followed {
    /// The inputs of the model, row-major: those of the table, of the calendar, then lagged errors (NaN where unknown).
    pub inputs: Vec<f64>,
    /// Whether all lagged errors of a row are known: it is then a row of the model, else of that without lags.
    pub whole: Vec<bool>,
    /// What becomes of the law of each row.
    pub bends: Vec<Bend>,
    /// For each row the levels that its guaranteed intervals are read off, of those that are
    /// [promised](Fitted::promise); nothing where none are.
    pub levels: Vec<f64>,
    /// What is remembered after these rows.
    pub series: Series,
    /// Rows that were observed at a moment which the series had passed already.
    pub(super) passed: Vec<usize>,
    /// What is remembered of each row.
    pub(super) pasts: Vec<Past>,
}

/// Rows that one thread takes at a time.
const CHUNK: usize = 2048;

impl Followed {
    /// What the models say of the rows that are theirs: those of the model itself, then those of which lagged
    /// errors are not known. `said` gets the places of rows, their forecasts as fitted, and as they follow what was
    /// observed. Rows of which an input is missing that the model needs are in neither.
    ///
    /// # Errors
    /// As [`Fitted::predict`], and what `said` returns.
    pub fn each_model(
        &self,
        fitted: &Fitted,
        rows: &SeriesRows,
        mut said: impl FnMut(&[usize], &Forecasts, &Forecasts) -> Result<()>,
    ) -> Result<()> {
        let without = fitted.without_lags().unwrap_or(fitted);
        let inputs = Wide { inputs: &self.inputs, width: fitted.names().len() };
        for (model, with_lags) in [(fitted, true), (without, false)] {
            let whole = |row: &usize| self.whole[*row] == with_lags && takes(fitted, rows, *row);
            let chosen: Vec<usize> = (0..rows.len()).filter(whole).collect();
            let asked = Asked::of(model, inputs, rows, &chosen).grouped(model, rows, &chosen);
            let still = model.predict(asked.rows())?;
            let bends: Vec<Bend> = chosen.iter().map(|&row| self.bends[row]).collect();
            let mut followed = still.clone().bent(&bends)?;
            if let Some(promise) = fitted.promise() {
                let count = promise.levels().len();
                let of = |&row: &usize| &self.levels[row * count..(row + 1) * count];
                let levels: Vec<f64> = chosen.iter().flat_map(of).copied().collect();
                followed = followed.promised(promise, levels)?;
            }
            said(&chosen, &still, &followed)?;
        }
        Ok(())
    }
}

/// Whether the inputs of a row are such as the model takes.
fn takes(fitted: &Fitted, rows: &SeriesRows, row: usize) -> bool {
    let width = fitted.table_names().len();
    let inputs = &rows.inputs[row * width..(row + 1) * width];
    inputs.iter().all(|x| x.is_finite() || (x.is_nan() && fitted.takes_missing()))
}

/// Row-major inputs of a model, of which those without lagged errors are the first.
#[derive(Clone, Copy)]
struct Wide<'a> {
    inputs: &'a [f64],
    width: usize,
}

/// Some rows, as a model is asked for them.
struct Asked {
    inputs: Vec<f64>,
    forecast: Option<Vec<f64>>,
    /// The group that a guarantee counts them to, where it has groups.
    group: Option<Vec<Option<u32>>>,
    /// The sigma that each row has already.
    prior: Option<Vec<f64>>,
}

impl Asked {
    fn of(model: &Fitted, wide: Wide, rows: &SeriesRows, chosen: &[usize]) -> Self {
        let own = |row: usize| &wide.inputs[row * wide.width..][..model.names().len()];
        let each = chosen.iter().flat_map(|&row| own(row));
        Self {
            group: None,
            prior: rows.prior.map(|(_, prior)| chosen.iter().map(|&row| prior[row]).collect()),
            inputs: each.copied().collect(),
            forecast: match (rows.forecast, model.mean()) {
                (Some(forecast), _) => Some(chosen.iter().map(|&row| forecast[row]).collect()),
                (None, Some(_)) => None,
                // The errors themselves are what is observed.
                (None, None) => Some(vec![0.0; chosen.len()]),
            },
        }
    }

    /// With the groups that a guarantee counts them to.
    fn grouped(self, model: &Fitted, rows: &SeriesRows, chosen: &[usize]) -> Self {
        let guarantee = model.guarantee().filter(|guarantee| guarantee.grouped_by().is_some());
        let group = guarantee.zip(rows.group).map(|(guarantee, group)| {
            let numbers = guarantee.numbers_of(&group.labels);
            chosen.iter().map(|&row| numbers[group.rows[row] as usize]).collect()
        });
        Self { group, ..self }
    }

    fn rows(&self) -> Rows<'_> {
        let rows = Rows::new(&self.inputs);
        let rows = self.forecast.as_ref().map_or(rows, |forecast| rows.with_forecast(forecast));
        let rows = self.prior.as_ref().map_or(rows, |prior| rows.with_prior(prior));
        self.group.as_ref().map_or(rows, |group| rows.with_group(group))
    }
}

/// Follows rows with a model, from what a series remembers.
///
/// What is observed in the rows counts for later ones, as soon as it is known. Rows of moments that the series
/// has passed already are not taken twice.
///
/// # Errors
/// Columns of different lengths or of another model, or a time that is not finite.
pub fn follow(fitted: &Fitted, series: &Series, rows: &SeriesRows) -> Result<Followed> {
    follow_for(Purpose::Laws, fitted, &as_fitted(fitted), series, rows)
}

/// What rows are followed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The laws of each, and the memory after them.
    Laws,
    /// The memory alone.
    Memory,
}

/// Rows of a group beyond these are forgotten: of the slowest speed, half after every two thousand.
const REMEMBERED: usize = 1 << 16;

pub(super) fn follow_for(
    purpose: Purpose,
    fitted: &Fitted,
    laws: &AsFitted,
    series: &Series,
    rows: &SeriesRows,
) -> Result<Followed> {
    let columns = fitted.table_names().len();
    rows.check(columns)?;
    let error = errors(fitted, rows)?;
    let clock = Clock::new(series.delay, series.moments.iter().chain(rows.time).copied());
    let beside = rows.with_calendar(fitted.calendar());
    let (inputs, whole) =
        with_lags(series, &SeriesRows { inputs: &beside, ..*rows }, &error, &clock);
    drop(beside);
    let mut place: Vec<Vec<usize>> = vec![Vec::new(); rows.groups()];
    (0..rows.len()).for_each(|row| place[rows.group_of(row) as usize].push(row));
    place.iter_mut().for_each(|rows_of| {
        rows_of.sort_by(|a, b| rows.time[*a].total_cmp(&rows.time[*b]));
    });
    let passed: Vec<bool> = (0..rows.len())
        .map(|row| {
            let memory = series.groups.get(rows.label(rows.group_of(row)));
            let last = memory.and_then(|memory| memory.latest.last().map(|past| past.time));
            last.is_some_and(|last| rows.time[row] <= last)
        })
        .collect();
    let observed = |row: usize| !error[row].is_nan();
    let mut wanted: Vec<bool> = (0..rows.len()).map(observed).collect();
    if purpose == Purpose::Memory {
        for of_group in place.iter().filter(|of_group| of_group.len() > REMEMBERED) {
            of_group[..of_group.len() - REMEMBERED].iter().for_each(|&row| wanted[row] = false);
        }
    }
    let standing = standing(fitted, rows, &inputs, &whole, &|row| wanted[row])?;
    let pasts: Vec<Past> = (standing.into_iter().enumerate())
        .map(|(row, Standing { q, z, side, rung })| {
            let time = rows.time[row];
            Past { time, known: clock.known(time), error: error[row], q, z, side, rung }
        })
        .collect();
    let laws = Laws::of(fitted, laws, series);
    let groups_in_all = series.groups.len().max(rows.groups());
    let course = Course { purpose, series, pasts: &pasts, whole: &whole, passed: &passed };
    let groups: Vec<OfGroup> = (place.par_iter().enumerate())
        .map(|(group, of_group)| {
            let label = rows.label(group as u32);
            laws.told(label, |told| course.of_group((label, of_group), told, groups_in_all))
        })
        .collect();
    let mut bends = vec![Bend::default(); rows.len()];
    let count = series.promise().map_or(0, |promise| promise.levels().len());
    let mut levels = vec![f64::NAN; rows.len() * count];
    let mut after = series.clone();
    for (group, (of_group, said)) in place.iter().zip(groups).enumerate() {
        for (nth, (&row, bend)) in of_group.iter().zip(said.bends).enumerate() {
            bends[row] = bend;
            let own = &said.levels[nth * count..(nth + 1) * count];
            levels[row * count..(row + 1) * count].copy_from_slice(own);
        }
        if let Some(memory) = said.memory {
            after.groups.insert(rows.label(group as u32).to_string(), memory);
        }
    }
    let seen = (0..rows.len()).filter(|&row| observed(row)).map(|row| rows.time[row]);
    let seen = Clock::new(series.delay, series.moments.iter().copied().chain(seen.clone()));
    let last = seen.latest().last().copied();
    // Moments without any observation count as well, up to the last that has one.
    let until = |time: &f64| last.is_some_and(|last| *time <= last);
    let times = series.moments.iter().chain(rows.time.iter().filter(|time| until(time)));
    after.moments = Clock::new(series.delay, times.copied()).latest().to_vec();
    let passed = (0..rows.len()).filter(|&row| passed[row] && observed(row)).collect();
    Ok(Followed { inputs, whole, bends, levels, series: after, passed, pasts })
}

/// Rows of several groups, each of which goes its own way.
struct Course<'a> {
    purpose: Purpose,
    series: &'a Series,
    pasts: &'a [Past],
    whole: &'a [bool],
    /// Whether the series knows later rows of the group.
    passed: &'a [bool],
}

/// What is said of the rows of a group, and what is remembered after them where that is something new.
struct OfGroup {
    bends: Vec<Bend>,
    levels: Vec<f64>,
    memory: Option<Memory>,
}

impl Course<'_> {
    /// Some rows in the order of time, of one group of so many.
    fn of_group(&self, (label, rows): (&str, &[usize]), told: &Told, groups: usize) -> OfGroup {
        let Self { purpose, series, pasts, whole, passed } = *self;
        let known = series.groups.get(label);
        let mut memory = known.cloned().unwrap_or_default();
        let promise = series.promise();
        let mut states = memory.followers(promise);
        let as_fitted = promise.map_or(&[][..], Promise::levels);
        let (mut bends, mut levels, mut new) = (Vec::new(), Vec::new(), Vec::new());
        let mut latest = memory.latest.iter().peekable();
        // Rows that are not observed, but before one that is, are moments too.
        let end = rows.iter().rposition(|&row| !pasts[row].error.is_nan() && !passed[row]);
        for (nth, &row) in rows.iter().enumerate() {
            let past = &pasts[row];
            let is_new = !passed[row] && end.is_some_and(|end| nth <= end);
            new.extend(is_new.then_some(*past));
            if purpose == Purpose::Memory {
                continue;
            }
            while let Some(past) = latest.next_if(|known| known.time < past.time) {
                states.step(past, told);
            }
            states.know(past.known, told.laws);
            if memory.until.is_some_and(|until| past.time <= until) {
                bends.push(Bend::default());
                levels.extend(as_fitted);
            } else {
                let without = !whole[row] && !series.lags.is_empty();
                bends.push(states.laws[usize::from(without)].bend());
                levels.extend(states.reads(promise));
            }
            if is_new {
                states.step(past, told);
            }
        }
        let has_changed = !new.is_empty();
        if has_changed {
            memory.latest.extend(new);
            memory.forget(&series.lags, groups, told);
        }
        OfGroup { bends, levels, memory: has_changed.then_some(memory) }
    }
}

/// The inputs of rows with their lagged errors, and whether all of those are known.
pub(super) fn with_lags(
    series: &Series,
    rows: &SeriesRows,
    error: &[f64],
    clock: &Clock,
) -> (Vec<f64>, Vec<bool>) {
    let count = rows.len();
    if series.lags.is_empty() || count == 0 {
        return (rows.inputs.to_vec(), vec![true; count]);
    }
    let mut known = Vec::new();
    let mut remembered: Vec<&[Past]> = Vec::new();
    for group in 0..rows.groups() as u32 {
        let latest = series.groups.get(rows.label(group)).map_or(&[][..], |memory| &memory.latest);
        let past = |past: &Past| Lagged { group, time: past.time, error: past.error };
        known.extend(latest.iter().map(past));
        remembered.push(latest);
    }
    let row =
        |row: usize| Lagged { group: rows.group_of(row), time: rows.time[row], error: error[row] };
    let asked: Vec<Lagged> = (0..count).map(row).collect();
    // What is remembered counts once.
    known.extend(asked.iter().filter(|row| {
        let latest = remembered[row.group as usize];
        latest.binary_search_by(|past| past.time.total_cmp(&row.time)).is_err()
    }));
    let lags = lagged(&known, &asked, &series.lags, clock);
    let of_rows = lags.chunks_exact(series.lags.len());
    let whole = of_rows.clone().map(|lags| lags.iter().all(|lag| lag.is_finite())).collect();
    let inputs = rows.inputs.chunks_exact(rows.inputs.len() / count).zip(of_rows);
    (inputs.flat_map(|(row, lags)| row.iter().chain(lags)).copied().collect(), whole)
}

/// Where an observation lies in the law of its row as fitted, with lags and without: see [`Past`].
#[derive(Clone, Copy)]
struct Standing {
    q: [f64; 2],
    z: [f64; 2],
    side: Side,
    rung: [u32; 2],
}

/// Where what was observed in some rows lies in their laws; NaN in the others.
fn standing(
    fitted: &Fitted,
    rows: &SeriesRows,
    inputs: &[f64],
    whole: &[bool],
    wanted: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Vec<Standing>> {
    let nowhere =
        Standing { q: [f64::NAN; 2], z: [f64::NAN; 2], side: Side::Between, rung: [0; 2] };
    let mut out = vec![nowhere; rows.len()];
    let chosen: Vec<usize> = (0..rows.len()).filter(|&row| wanted(row)).collect();
    let promises = fitted.promise().is_some();
    let inputs = Wide { inputs, width: fitted.names().len() };
    let mut add = |nth: usize, model: &Fitted, chosen: &[usize]| -> Result<()> {
        let chunk = |chosen: &[usize]| {
            let asked = Asked::of(model, inputs, rows, chosen);
            let seen: Vec<f64> = chosen.iter().map(|&row| rows.observation[row]).collect();
            let spread: Vec<f64> = chosen.iter().map(|&row| spread(rows.time[row])).collect();
            let said = model.predict(asked.rows())?;
            let standing = if promises { said.standing(&seen)? } else { Vec::new() };
            let rungs: Vec<u32> = (0..chosen.len()).map(|row| said.rung(row)).collect();
            Ok((said.gaussian_values(&seen, &spread)?, standing, rungs))
        };
        let chunks = chosen.par_chunks(CHUNK).map(chunk).collect::<Result<Vec<_>>>()?;
        for (chosen, (q, standing, rungs)) in chosen.chunks(CHUNK).zip(chunks) {
            chosen.iter().zip(q).for_each(|(&row, q)| out[row].q[nth] = q);
            chosen.iter().zip(rungs).for_each(|(&row, rung)| out[row].rung[nth] = rung);
            for (&row, (z, side)) in chosen.iter().zip(standing) {
                (out[row].z[nth], out[row].side) = (z, side);
            }
        }
        Ok(())
    };
    let can = |row: &usize| takes(fitted, rows, *row);
    let with: Vec<usize> = chosen.iter().copied().filter(|row| whole[*row] && can(row)).collect();
    add(0, fitted, &with)?;
    if let Some(without) = fitted.without_lags() {
        let can: Vec<usize> = chosen.into_iter().filter(can).collect();
        add(1, without, &can)?;
    }
    Ok(out)
}

/// A number in (0, 1) that is the same for a moment whichever rows come with it.
fn spread(time: f64) -> f64 {
    let bits = (time + 0.0).to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

impl Fitted {
    /// [`follow`] from what the model remembers.
    ///
    /// # Errors
    /// As [`follow`], or a model without a series.
    pub fn follow(&self, rows: &SeriesRows) -> Result<Followed> {
        follow(self, self.series().ok_or(Error::NoSeries)?, rows)
    }
}
