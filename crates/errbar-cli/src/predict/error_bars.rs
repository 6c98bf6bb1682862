//! The rows of a batch with their error bars.

use errbar::adapt::Bend;
use errbar::adapt::promise::Promise as Promised;
use errbar::fit::{Fitted, Forecasts, Rows};
use errbar_table::Batch;
use rayon::prelude::*;

use super::ForecastSource;
use super::columns::Columns;
use super::in_time::InTime;
use super::promise::Promise;

/// What is added to the rows of a batch; NaN or nothing where something is missing.
pub(super) struct ErrorBars {
    pub(super) sigma: Vec<f64>,
    /// The numbers to add, column by column.
    pub(super) numbers: Vec<Vec<f64>>,
    /// For each level who the promise is made to, by its place among [`Promise::names`].
    pub(super) by: Vec<Vec<Option<u32>>>,
    /// Rows that could have an interval, and those of them whose groups the guarantee does not know.
    pub(super) whole: u64,
    pub(super) strangers: u64,
    pub(super) outside: Vec<Option<bool>>,
    /// For rows outside, which input takes them there.
    pub(super) outside_input: Vec<Option<u32>>,
}

/// Rows that one thread takes at a time.
const CHUNK: usize = 2048;

impl ErrorBars {
    pub(super) fn of(
        fitted: &Fitted,
        around: &ForecastSource,
        promise: &Promise,
        walk: Option<&InTime>,
        columns: &Columns,
        batch: &Batch,
    ) -> anyhow::Result<Self> {
        let groups = promise.groups(fitted, batch);
        let of_without = fitted.without_lags().and_then(|model| promise.groups(model, batch));
        let starts: Vec<usize> = (0..batch.rows).step_by(CHUNK).collect();
        // Rows whose lagged errors are not known are of a model of their own.
        let models = [Some((fitted, true)), fitted.without_lags().map(|model| (model, false))];
        let models: Vec<(&Fitted, bool)> = models.into_iter().flatten().collect();
        let asked: Vec<(usize, (&Fitted, bool))> = starts
            .iter()
            .flat_map(|&from| models.iter().map(move |&model| (from, model)))
            .collect();
        let chunks = asked
            .par_iter()
            .map(|&(from, model)| {
                let rows = from..(from + CHUNK).min(batch.rows);
                Chunk::of(
                    (model.0, model.1, models.len() == 1),
                    around,
                    (walk, fitted.promise()),
                    columns,
                    batch,
                    if model.1 { &groups } else { &of_without }.as_deref(),
                    rows,
                )
            })
            .collect::<anyhow::Result<Vec<Chunk>>>()?;
        let missing = || vec![f64::NAN; batch.rows];
        let mut out = Self {
            sigma: missing(),
            numbers: vec![missing(); columns.numbers()],
            by: match groups {
                Some(_) => vec![vec![None; batch.rows]; promise.levels.len()],
                None => Vec::new(),
            },
            whole: 0,
            strangers: 0,
            outside: vec![None; batch.rows],
            outside_input: vec![None; batch.rows],
        };
        for chunk in chunks {
            for (k, &row) in chunk.rows.iter().enumerate() {
                out.sigma[row] = chunk.sigma[k];
                (out.outside[row], out.outside_input[row]) = chunk.outside[k];
                for (to, from) in out.numbers.iter_mut().zip(&chunk.numbers) {
                    to[row] = from[k];
                }
                if !chunk.whole[k] {
                    continue;
                }
                out.whole += 1;
                let Some(groups) = &groups else { continue };
                out.strangers += u64::from(groups[row].is_none());
                for (by, categories) in out.by.iter_mut().zip(&promise.levels) {
                    by[row] = groups[row].and_then(|group| promise.made_to(categories, group));
                }
            }
        }
        Ok(out)
    }
}

/// What the model says about some neighbours.
struct Chunk {
    /// Those that have all inputs.
    rows: Vec<usize>,
    sigma: Vec<f64>,
    numbers: Vec<Vec<f64>>,
    outside: Vec<(Option<bool>, Option<u32>)>,
    /// Whether a row has what an interval is made of.
    whole: Vec<bool>,
}

impl Chunk {
    fn of(
        (fitted, with_lags, alone): (&Fitted, bool, bool),
        around: &ForecastSource,
        (walk, promise): (Option<&InTime>, Option<&Promised>),
        columns: &Columns,
        batch: &Batch,
        groups: Option<&[Option<u32>]>,
        rows: std::ops::Range<usize>,
    ) -> anyhow::Result<Self> {
        let takes_missing = fitted.takes_missing();
        let (width, all) = (fitted.table_names().len(), fitted.names().len());
        let mut inputs: Vec<f64> = Vec::with_capacity(rows.len() * all);
        let mut known: Vec<usize> = Vec::with_capacity(rows.len());
        // It comes last.
        let prior = fitted.prior().and_then(|_| batch.numbers.last());
        let mut priors: Vec<f64> = Vec::new();
        let mut bends: Vec<Bend> = Vec::new();
        let promise = promise.filter(|_| walk.is_some_and(InTime::keeps));
        let mut levels: Vec<f64> = Vec::new();
        for i in rows {
            let said = walk.and_then(|walk| walk.of_row(batch.first_row, i));
            // Without a time lags are not known.
            let whole = said.as_ref().map_or(alone, |said| said.whole);
            let row = batch.numbers[..width].iter().map(|column| column[i]);
            let can = row.clone().all(|x| x.is_finite() || (x.is_nan() && takes_missing))
                && prior.is_none_or(|prior| prior[i] > 0.0 && prior[i].is_finite());
            if can && (whole == with_lags) {
                known.push(i);
                priors.extend(prior.map(|prior| prior[i]));
                inputs.extend(row);
                match &said {
                    Some(said) => inputs.extend(&said.inputs[width..all]),
                    // Nobody knows the hour of a row without a time.
                    None => inputs.extend(std::iter::repeat_n(f64::NAN, all - width)),
                }
                if let Some(promise) = promise {
                    levels.extend(said.as_ref().map_or(promise.levels(), |said| said.levels));
                }
                bends.push(said.map_or(Bend::default(), |said| said.bend));
            }
        }
        let forecast: Option<Vec<f64>> = match around {
            ForecastSource::Column => {
                Some(known.iter().map(|&i| batch.numbers[width][i]).collect())
            }
            ForecastSource::Model | ForecastSource::Nothing => None,
        };
        let groups: Option<Vec<Option<u32>>> =
            groups.map(|groups| known.iter().map(|&i| groups[i]).collect());
        let mut asked = Rows::new(&inputs);
        if prior.is_some() {
            asked = asked.with_prior(&priors);
        }
        if let Some(forecast) = &forecast {
            asked = asked.with_forecast(forecast);
        }
        if let Some(groups) = &groups {
            asked = asked.with_group(groups);
        }
        let mut said: Forecasts = fitted.predict(asked)?.within(columns.bounds).bent(&bends)?;
        if let Some(promise) = promise {
            said = said.promised(promise, levels)?;
        }
        let outside = said.outside().iter().zip(said.outside_input());
        Ok(Self {
            sigma: said.sigma().to_vec(),
            numbers: columns.of(&said)?,
            outside: outside
                .map(|(&o, input)| (Some(o), input.map(|input| input as u32)))
                .collect(),
            whole: match said.forecast() {
                Some(forecast) => forecast.iter().map(|mu| !mu.is_nan()).collect(),
                None => vec![false; known.len()],
            },
            rows: known,
        })
    }
}
