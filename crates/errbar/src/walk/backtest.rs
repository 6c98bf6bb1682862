//! What a model would have said, row by row, had it been there at the time.

use super::follow::follow;
use super::kept::{Kept, Period};
use super::{Learning, SeriesRows, fit};
use crate::error::{Error, Result};
use crate::fit::guarantee::Method;
use crate::fit::{Fitted, Forecasts, LEAST_ROWS};
use crate::law::ErrorLaw;
use crate::monitor::{Monitor, Stage, check};
use crate::series::{Clock, Series};
use crate::sigma::constant;

/// When a model is fitted again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refit {
    /// Never: only its error bars follow what is observed.
    Never,
    /// When so many more rows are known.
    Rows(usize),
    /// When so much time has passed, in seconds.
    Time(f64),
    /// When the rows that are known have grown by this share.
    Growth(f64),
}

/// How to walk.
#[derive(Debug, Clone, Copy)]
pub struct Backtest<'a> {
    /// Rows before this time are there to learn from, later ones are forecast.
    pub start: f64,
    /// When the model is fitted again.
    pub refit: Refit,
    /// The central intervals to give.
    pub levels: &'a [f64],
    /// The levels of guaranteed intervals to give, whose share is kept right as rows are observed
    /// ([`adapt::promise`](crate::adapt::promise)): with some, rows are kept from each model to read them off.
    pub guarantee: &'a [f64],
}

/// What was said of one row, and what came of it; NaN where that is not known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Walked {
    /// Its place among the rows given.
    pub row: usize,
    /// The forecast, moved by its bias where that was learned.
    pub forecast: f64,
    /// Sigma, the standard deviation of its law.
    pub sigma: f64,
    /// Lower and upper ends of each interval.
    pub intervals: Vec<(f64, f64)>,
    /// Lower and upper ends of each guaranteed interval, infinite where it is unbounded, and those that its fit had
    /// promised and nothing was kept right of.
    pub guaranteed: Vec<(f64, f64)>,
    /// See `guaranteed`.
    pub still_guaranteed: Vec<(f64, f64)>,
    /// The law in units of sigma.
    pub law: ErrorLaw,
    /// Sigma and law of the same model, had it followed nothing.
    pub still_sigma: f64,
    /// See `still_sigma`.
    pub still_law: ErrorLaw,
    /// One sigma for all rows that were known to the fit.
    pub constant_sigma: f64,
    /// The probability of less than was observed, and that of the model which follows nothing.
    pub pit: [f64; 2],
    /// The continuous ranked probability score: followed, of the model which follows nothing, and of one
    /// constant sigma around the forecast as it was given.
    pub crps: [f64; 3],
    /// Whether lagged errors, where the model has some, were known.
    pub lagged: bool,
    /// Which fit it is of.
    pub fit: usize,
}

/// What came of a walk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Walk {
    /// Every row from the start on, in the order of time.
    pub rows: Vec<Walked>,
    /// When each model was fitted, to how many rows, and whether lags helped it, where there are some.
    pub fits: Vec<(f64, usize, Option<bool>)>,
    /// What became of guaranteed intervals, at each level. Each fit begins anew, so that what is proven of all
    /// rows is less with more fits.
    pub kept: Vec<Kept>,
    /// The last model, with what it remembers.
    pub fitted: Fitted,
}

/// Walks through rows in time: fits a model to what is known at the start, forecasts row by row, follows what is
/// observed as it becomes known, and fits again now and then. What is said of a row depends on nothing that
/// was not known at its time.
///
/// # Errors
/// As [`fit()`]; a start that leaves nothing to learn from, or nothing to forecast.
pub fn backtest(
    learning: &Learning,
    series: &Series,
    options: &Backtest,
    monitor: &dyn Monitor,
) -> Result<Walk> {
    let rows = &learning.rows;
    rows.check(learning.names.len())?;
    let clock = Clock::new(series.delay, rows.time.iter().copied());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows.time[*a].total_cmp(&rows.time[*b]));
    let first = order.partition_point(|&row| rows.time[row] < options.start);
    let is_observed = |row: &usize| {
        let forecast = rows.forecast.is_none_or(|forecast| forecast[*row].is_finite());
        forecast && rows.observation[*row].is_finite()
    };
    let known_at = |time: f64| -> Vec<usize> {
        let known = clock.known(time);
        let end = order.partition_point(|&row| rows.time[row] <= known);
        order[..end].iter().copied().filter(is_observed).collect()
    };
    // How many rows are known is asked at every moment.
    let counts: Vec<usize> = std::iter::once(0)
        .chain(order.iter().scan(0, |sum, row| {
            *sum += usize::from(is_observed(row));
            Some(*sum)
        }))
        .collect();
    let count_at = |time: f64| {
        let known = clock.known(time);
        counts[order.partition_point(|&row| rows.time[row] <= known)]
    };
    let after = order.len() - first;
    let before = if after > 0 { count_at(rows.time[order[first]]) } else { first };
    if before < LEAST_ROWS || after == 0 {
        return Err(Error::NothingToWalk { before, after, least: LEAST_ROWS });
    }
    let periods = periods(&order[first..], rows, options.refit, &count_at);
    // A fit takes as long as its rows are many.
    let shares: Vec<f64> =
        periods.iter().map(|period| count_at(rows.time[period[0]]) as f64).collect();
    let whole: f64 = shares.iter().sum();
    let mut done = 0.0;
    let mut out = Vec::with_capacity(after);
    let mut fits = Vec::with_capacity(periods.len());
    let mut last: Option<Fitted> = None;
    let mut kept: Vec<Period> = Vec::new();
    let fit_options = match options.guarantee {
        [] => learning.options,
        _ => learning.options.guarantee(Some(Method::Split)),
    };
    for (nth, period) in periods.iter().enumerate() {
        check(monitor)?;
        let start = rows.time[period[0]];
        let known = known_at(start);
        let stage = Stage { whole: monitor, from: done / whole, to: (done + shares[nth]) / whole };
        done += shares[nth];
        let part = Part::of(rows, learning.weight, &known);
        // A new model follows what it would have said of the rows it was judged by: what an earlier one has
        // learned is about its own laws.
        let told = Learning {
            follow_held_out: nth > 0,
            options: fit_options,
            promised: options.guarantee,
            ..part.learning(learning)
        };
        let learned = fit(&told, series, &stage)?;
        let fitted = learned.fit.fitted;
        fits.push((start, known.len(), learned.lags.map(|_| !fitted.lags().is_empty())));
        let raw = super::errors(&fitted, &part.rows())?;
        let constant = constant::fit(1, &raw, part.weight.as_deref(), learning.options.loss)?.sigma;
        let Some(fresh) = fitted.series() else { return Err(Error::NoSeries) };
        let before: Vec<usize> =
            order.iter().copied().take_while(|&row| rows.time[row] < start).collect();
        // Rows that were not known yet to the fit will be.
        let waiting: Vec<usize> =
            before.iter().copied().filter(|&row| rows.time[row] > clock.known(start)).collect();
        let waiting = Part::of(rows, None, &waiting);
        let from = follow(&fitted, fresh, &waiting.rows())?.series;
        let part = Part::of(rows, None, period);
        let followed = follow(&fitted, &from, &part.rows())?;
        said(&fitted, &followed, &part, options, (nth, constant), &mut out)?;
        if !options.guarantee.is_empty() {
            kept.extend(Period::of(&fitted, &from, &followed.series));
        }
        last = Some(fitted.with_series(followed.series));
    }
    let Some(fitted) = last else { return Err(Error::NoSeries) };
    monitor.progress(1.0);
    Ok(Walk { rows: out, fits, kept: Period::together(&kept), fitted })
}

/// The rows after the start, in the parts that one fit forecasts.
fn periods(
    order: &[usize],
    rows: &SeriesRows,
    refit: Refit,
    known: &dyn Fn(f64) -> usize,
) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    let mut fitted = (f64::NEG_INFINITY, 0);
    for moment in order.chunk_by(|a, b| rows.time[*a] == rows.time[*b]) {
        let time = rows.time[moment[0]];
        let due = match refit {
            _ if out.is_empty() => true,
            Refit::Never => false,
            Refit::Time(seconds) => time - fitted.0 >= seconds,
            Refit::Rows(more) => known(time) >= fitted.1 + more.max(1),
            Refit::Growth(share) => known(time) as f64 >= (1.0 + share.max(1e-3)) * fitted.1 as f64,
        };
        match out.last_mut() {
            Some(last) if !due => last.extend(moment),
            _ => {
                fitted = (time, known(time));
                out.push(moment.to_vec());
            }
        }
    }
    out
}

/// Some of the rows, on their own.
struct Part {
    places: Vec<usize>,
    time: Vec<f64>,
    group: Option<crate::data::Group>,
    inputs: Vec<f64>,
    forecast: Option<Vec<f64>>,
    observation: Vec<f64>,
    prior: Option<(String, Vec<f64>)>,
    weight: Option<Vec<f64>>,
}

impl Part {
    fn of(rows: &SeriesRows, weight: Option<&[f64]>, places: &[usize]) -> Self {
        let width = rows.inputs.len() / rows.len().max(1);
        let pick = |of: &[f64]| places.iter().map(|&row| of[row]).collect::<Vec<f64>>();
        let inputs = places.iter().flat_map(|&row| &rows.inputs[row * width..(row + 1) * width]);
        Self {
            time: pick(rows.time),
            group: rows.group.map(|group| crate::data::Group {
                rows: places.iter().map(|&row| group.rows[row]).collect(),
                ..group.clone()
            }),
            inputs: inputs.copied().collect(),
            forecast: rows.forecast.map(pick),
            observation: pick(rows.observation),
            prior: rows.prior.map(|(name, prior)| (name.to_string(), pick(prior))),
            weight: weight.map(pick),
            places: places.to_vec(),
        }
    }

    fn rows(&self) -> SeriesRows<'_> {
        SeriesRows {
            time: &self.time,
            group: self.group.as_ref(),
            inputs: &self.inputs,
            forecast: self.forecast.as_deref(),
            observation: &self.observation,
            prior: self.prior.as_ref().map(|(name, prior)| (name.as_str(), prior.as_slice())),
        }
    }

    fn learning<'a>(&'a self, whole: &Learning<'a>) -> Learning<'a> {
        Learning { rows: self.rows(), weight: self.weight.as_deref(), ..*whole }
    }
}

/// What a model says of the rows of a part.
fn said(
    fitted: &Fitted,
    followed: &super::Followed,
    part: &Part,
    options: &Backtest,
    (fit, constant_sigma): (usize, f64),
    out: &mut Vec<Walked>,
) -> Result<()> {
    let count = part.places.len();
    let none = |levels: &[f64]| vec![(f64::NAN, f64::NAN); levels.len()];
    let nothing = |row: usize| Walked {
        row: part.places[row],
        forecast: f64::NAN,
        sigma: f64::NAN,
        intervals: none(options.levels),
        guaranteed: none(options.guarantee),
        still_guaranteed: none(options.guarantee),
        law: ErrorLaw::default(),
        still_sigma: f64::NAN,
        still_law: ErrorLaw::default(),
        constant_sigma,
        pit: [f64::NAN; 2],
        crps: [f64::NAN; 3],
        lagged: false,
        fit,
    };
    let mut walked: Vec<Walked> = (0..count).map(nothing).collect();
    followed.each_model(fitted, &part.rows(), |chosen, still, bent| {
        let pick = |of: &[f64]| chosen.iter().map(|&row| of[row]).collect::<Vec<f64>>();
        let forecast = part.forecast.as_deref().map_or_else(|| vec![0.0; chosen.len()], pick);
        let observation = pick(&part.observation);
        type Ends = (Vec<f64>, Vec<f64>);
        let intervals: Vec<Ends> =
            options.levels.iter().map(|level| bent.interval(*level)).collect::<Result<_>>()?;
        let guaranteed = |said: &Forecasts| -> Result<Vec<Ends>> {
            options.guarantee.iter().map(|level| said.guaranteed(*level)).collect()
        };
        let [guaranteed, still_guaranteed] = match chosen.is_empty() {
            true => [Vec::new(), Vec::new()],
            false => [guaranteed(bent)?, guaranteed(still)?],
        };
        let ends =
            |of: &[Ends], row: usize| of.iter().map(|(low, high)| (low[row], high[row])).collect();
        // Of a row that was not observed no score is kept.
        let seen: Vec<f64> = (observation.iter().zip(&forecast))
            .map(|(y, at)| if y.is_nan() { at.max(f64::MIN_POSITIVE) } else { *y })
            .collect();
        let crps = [bent.crps(&seen)?, still.crps(&seen)?];
        let transform = fitted.options().transform;
        let one = |(y, at): (&f64, &f64)| {
            let error = transform.forward(*y) - transform.forward(*at);
            constant_sigma * ErrorLaw::default().crps(error / constant_sigma)
        };
        let constant: Vec<f64> = seen.iter().zip(&forecast).map(one).collect();
        let pit = [bent.pit(&observation)?, still.pit(&observation)?];
        for (k, &row) in chosen.iter().enumerate() {
            let observed = |x: f64| if observation[k].is_nan() { f64::NAN } else { x };
            walked[row] = Walked {
                forecast: bent.forecast().map_or(f64::NAN, |forecast| forecast[k]),
                sigma: bent.sigma()[k],
                intervals: ends(&intervals, k),
                guaranteed: ends(&guaranteed, k),
                still_guaranteed: ends(&still_guaranteed, k),
                law: bent.law_of(k).clone(),
                still_sigma: still.sigma()[k],
                still_law: still.law_of(k).clone(),
                pit: [observed(pit[0][k]), observed(pit[1][k])],
                crps: [crps[0][k], crps[1][k], constant[k]].map(observed),
                lagged: followed.whole[row],
                ..nothing(row)
            };
        }
        Ok(())
    })?;
    out.extend(walked);
    Ok(())
}
