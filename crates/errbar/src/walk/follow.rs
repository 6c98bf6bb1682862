//! The laws of rows in time, and what is remembered after them.

use rayon::prelude::*;

use super::{SeriesRows, errors};
use crate::adapt::{Bend, Quantiles};
use crate::error::{Error, Result};
use crate::fit::{Fitted, Forecasts, Rows};
use crate::law::ErrorLaw;
use crate::series::{Clock, Lagged, Past, Series, lagged, step};

/// What is said of rows in time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Followed {
    /// The inputs of the model, row-major: those of the table, then lagged errors (NaN where unknown).
    pub inputs: Vec<f64>,
    /// Whether all lagged errors of a row are known: it is then a row of the model, else of that without lags.
    pub whole: Vec<bool>,
    /// What becomes of the law of each row.
    pub bends: Vec<Bend>,
    /// What is remembered after these rows.
    pub series: Series,
    /// Rows that were observed at a moment which the series had passed already.
    pub(super) passed: Vec<usize>,
    /// Observation minus forecast, and the Gaussian values of it, of each row.
    pub(super) error: Vec<f64>,
    pub(super) q: Vec<[f64; 2]>,
}

/// Rows that one thread takes at a time.
const CHUNK: usize = 2048;

impl Followed {
    /// What the models say of the rows that are theirs: those of the model itself, then those of which lagged
    /// errors are not known. `said` gets the places of rows, their forecasts as fitted, and what becomes of
    /// their laws. Rows of which an input is missing that the model needs are in neither.
    ///
    /// # Errors
    /// As [`Fitted::predict`], and what `said` returns.
    pub fn each_model(
        &self,
        fitted: &Fitted,
        rows: &SeriesRows,
        mut said: impl FnMut(&[usize], &Forecasts, &[Bend]) -> Result<()>,
    ) -> Result<()> {
        let without = fitted.without_lags().unwrap_or(fitted);
        let models = [(fitted, &self.inputs[..], true), (without, rows.inputs, false)];
        for (model, inputs, with_lags) in models {
            let whole = |row: &usize| self.whole[*row] == with_lags && takes(fitted, rows, *row);
            let chosen: Vec<usize> = (0..rows.len()).filter(whole).collect();
            let asked = Asked::of(model, inputs, rows, &chosen);
            let bends: Vec<Bend> = chosen.iter().map(|&row| self.bends[row]).collect();
            said(&chosen, &model.predict(asked.rows())?, &bends)?;
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

/// Some rows, as a model is asked for them.
struct Asked {
    inputs: Vec<f64>,
    forecast: Option<Vec<f64>>,
}

impl Asked {
    fn of(model: &Fitted, inputs: &[f64], rows: &SeriesRows, chosen: &[usize]) -> Self {
        let width = model.names().len();
        let each = chosen.iter().flat_map(|&row| &inputs[row * width..(row + 1) * width]);
        Self {
            inputs: each.copied().collect(),
            forecast: match (rows.forecast, model.mean()) {
                (Some(forecast), _) => Some(chosen.iter().map(|&row| forecast[row]).collect()),
                (None, Some(_)) => None,
                // The errors themselves are what is observed.
                (None, None) => Some(vec![0.0; chosen.len()]),
            },
        }
    }

    fn rows(&self) -> Rows<'_> {
        let rows = Rows::new(&self.inputs);
        self.forecast.as_ref().map_or(rows, |forecast| rows.with_forecast(forecast))
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
    follow_for(Purpose::Laws, fitted, series, rows)
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
    series: &Series,
    rows: &SeriesRows,
) -> Result<Followed> {
    let columns = fitted.table_names().len();
    rows.check(columns)?;
    let error = errors(fitted, rows)?;
    let clock = Clock::new(series.delay, series.moments.iter().chain(rows.time).copied());
    let (inputs, whole) = with_lags(series, rows, &error, &clock);
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
    let q = gaussian_values(fitted, rows, &inputs, &whole, &|row| wanted[row])?;
    let laws = laws(fitted);
    let groups_in_all = series.groups.len().max(rows.groups());
    let groups: Vec<(Vec<Bend>, Option<crate::series::Memory>)> = (place.par_iter().enumerate())
        .map(|(group, of_group)| {
            let known = series.groups.get(rows.label(group as u32));
            let memory = known.cloned().unwrap_or_default();
            let mut states = memory.following();
            let mut bends = Vec::with_capacity(of_group.len());
            let mut latest = memory.latest.iter().peekable();
            // Rows that are not observed, but before one that is, are moments too.
            let end = of_group.iter().rposition(|&row| observed(row) && !passed[row]);
            let mut new: Vec<Past> = Vec::new();
            for (nth, &row) in of_group.iter().enumerate() {
                let (time, known) = (rows.time[row], clock.known(rows.time[row]));
                let is_new = !passed[row] && end.is_some_and(|end| nth <= end);
                let past = Past { time, known, error: error[row], q: q[row] };
                if purpose == Purpose::Memory {
                    new.extend(is_new.then_some(past));
                    continue;
                }
                while let Some(past) = latest.next_if(|past| past.time < time) {
                    step(&mut states, past, &laws);
                }
                let before = memory.until.is_some_and(|until| time <= until);
                states.iter_mut().zip(&laws).for_each(|(state, law)| state.know(known, law));
                let state = &states[usize::from(!whole[row] && !series.lags.is_empty())];
                bends.push(if before { Bend::default() } else { state.bend() });
                if is_new {
                    step(&mut states, &past, &laws);
                    new.push(past);
                }
            }
            let changed = (!new.is_empty()).then(|| {
                let mut memory = memory;
                memory.latest.extend(new);
                memory.forget(&series.lags, groups_in_all, &laws);
                memory
            });
            (bends, changed)
        })
        .collect();
    let mut bends = vec![Bend::default(); rows.len()];
    let mut after = series.clone();
    for (group, (of_group, (said, changed))) in place.iter().zip(groups).enumerate() {
        of_group.iter().zip(said).for_each(|(&row, bend)| bends[row] = bend);
        if let Some(memory) = changed {
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
    Ok(Followed { inputs, whole, bends, series: after, passed, error, q })
}

/// The laws of a model and of that without lags, as they were fitted.
pub(super) fn laws(fitted: &Fitted) -> [Quantiles; 2] {
    let law = |model: &Fitted| {
        let law = model.shape().map_or(ErrorLaw::default(), |shape| shape.law().clone());
        Quantiles::of(&law)
    };
    let own = law(fitted);
    [own.clone(), fitted.without_lags().map_or(own, law)]
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

/// The Gaussian values of what was observed in some rows, in their laws as fitted: with lags, and without.
fn gaussian_values(
    fitted: &Fitted,
    rows: &SeriesRows,
    inputs: &[f64],
    whole: &[bool],
    wanted: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Vec<[f64; 2]>> {
    let mut out = vec![[f64::NAN; 2]; rows.len()];
    let chosen: Vec<usize> = (0..rows.len()).filter(|&row| wanted(row)).collect();
    let of = |model: &Fitted, inputs: &[f64], chosen: &[usize]| -> Result<Vec<f64>> {
        let chunk = |chosen: &[usize]| {
            let asked = Asked::of(model, inputs, rows, chosen);
            let seen: Vec<f64> = chosen.iter().map(|&row| rows.observation[row]).collect();
            let spread: Vec<f64> = chosen.iter().map(|&row| spread(rows.time[row])).collect();
            model.predict(asked.rows())?.gaussian_values(&seen, &spread)
        };
        let chunks: Vec<Vec<f64>> = chosen.par_chunks(CHUNK).map(chunk).collect::<Result<_>>()?;
        Ok(chunks.concat())
    };
    let can = |row: &usize| takes(fitted, rows, *row);
    let with: Vec<usize> = chosen.iter().copied().filter(|row| whole[*row] && can(row)).collect();
    with.iter().zip(of(fitted, inputs, &with)?).for_each(|(&row, q)| out[row][0] = q);
    if let Some(without) = fitted.without_lags() {
        let can: Vec<usize> = chosen.into_iter().filter(can).collect();
        can.iter().zip(of(without, rows.inputs, &can)?).for_each(|(&row, q)| out[row][1] = q);
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
