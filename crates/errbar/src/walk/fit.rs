//! Learning from rows in time, with errors of earlier rows as inputs where they help.

use std::collections::HashMap;

use super::SeriesRows;
use super::calendar::{self, Wide};
use super::follow::with_lags;
use super::told::{Laws, as_fitted};
use crate::adapt::promise::{Promise, USUAL_LEVELS};
use crate::categories::Category;
use crate::cycles::Cycle;
use crate::data::Data;
use crate::diagnose::standard_error;
use crate::error::{Error, Result};
use crate::fit::guarantee::{Guarantee, Method, rows_needed};
use crate::fit::{self, Fit, Fitted, HeldOut, LEAST_ROWS, Worth};
use crate::law;
use crate::monitor::{Monitor, Stage};
use crate::series::{Clock, Memory, Past, Series, Side, Span};

/// What is learned from, and how. Rows that were not observed are moments only.
#[derive(Debug, Clone, Copy)]
pub struct Learning<'a> {
    /// The rows.
    pub rows: SeriesRows<'a>,
    /// The names of their inputs.
    pub names: &'a [String],
    /// Which of the inputs are categories.
    pub categories: &'a [Category],
    /// The weight of each row.
    pub weight: Option<&'a [f64]>,
    /// How models are fitted.
    pub options: fit::Options,
    /// Whether forecasts are moved by their bias where rows held out gain by it.
    pub debias_if_it_pays: bool,
    /// Whether error bars follow the rows that were held out, as if those had been forecast; otherwise they are as
    /// fitted until something new is observed.
    pub follow_held_out: bool,
    /// The levels of guaranteed intervals whose share is kept right as rows are observed; where none are given,
    /// those of [`USUAL_LEVELS`] that can be promised. They need [`Method::Split`].
    pub promised: &'a [f64],
}

impl Learning<'_> {
    /// Whether forecasts are moved by their bias if that pays.
    pub(super) fn may_debias(&self) -> bool {
        self.debias_if_it_pays && self.rows.forecast.is_some()
    }
}

/// What was learned.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Learned {
    /// The model.
    pub fit: Fit,
    /// The rows of the model, by their places among those given: all, or those whose lagged errors are known.
    pub rows: Vec<usize>,
    /// What moving forecasts is worth.
    pub debiasing: Option<Worth>,
    /// What the [calendar](Fitted::calendar) is worth, where some of it is an input: the share by which the CRPS of later
    /// rows falls.
    pub calendar: Option<Worth>,
    /// What lagged errors are worth, where there are some: the share by which CRPS falls. They are used where
    /// that is two standard errors or more.
    pub lags: Option<Worth>,
}

/// What the inputs are called that are errors of earlier rows.
fn lag_name(lag: &Span) -> String {
    format!("error_lag_{lag}")
}

/// Fits a model of a series, which has the latest rows in its memory then.
///
/// With lags two models are fitted, one with them and one without; where rows held out do not gain two standard
/// errors by lags, the one without is all there is.
///
/// # Errors
/// As [`fit::fit`]; lags shorter than the delay, or lagged errors that hardly any row has.
pub fn fit(learning: &Learning, series: &Series, monitor: &dyn Monitor) -> Result<Learned> {
    let Learning { rows, names, .. } = learning;
    rows.check(names.len())?;
    check_lags(series)?;
    check_promised(learning)?;
    let OnScale { observation, forecast, error } = OnScale::of(learning)?;
    let seen = |row: usize| {
        let forecast = forecast.as_ref().is_none_or(|forecast| forecast[row].is_finite());
        observation[row].is_finite() && forecast
    };
    if let Some(index) = (0..rows.len()).find(|&row| seen(row) && !error[row].is_finite()) {
        let (observation, forecast) =
            (observation[index], forecast.as_ref().map_or(0.0, |at| at[index]));
        return Err(Error::ErrorOverflow { index, observation, forecast });
    }
    let clock = Clock::new(series.delay, rows.time.iter().copied());
    // In the order of time, as held-out rows are counted, and without those that do not count.
    let counts =
        |row: &usize| seen(*row) && learning.weight.is_none_or(|weight| weight[*row] > 0.0);
    let mut every: Vec<usize> = (0..rows.len()).filter(counts).collect();
    every.sort_by(|a, b| rows.time[*a].total_cmp(&rows.time[*b]));
    for &level in learning.promised {
        let (rows, needed) = (every.len() / 2, rows_needed(level));
        if rows < needed {
            return Err(Error::TooFewForLevel { level, rows, needed });
        }
    }
    let waiting = waiting(rows, &every, &clock);
    let (cycles, of_calendar) =
        calendar::chosen(learning, series, &every, (&error, &observation), monitor)?;
    let wide = Wide::of(learning, &cycles);
    let learning = &wide.learning(learning);
    let Learning { rows, names, .. } = learning;
    let calendar = (names.len() - 2 * cycles.len(), &cycles[..]);
    // What their dates are written in matters to nothing else.
    let series = &Series { offset: series.offset.filter(|_| !cycles.is_empty()), ..series.clone() };
    let part = if series.lags.is_empty() { 1.0 } else { 0.5 };
    let first = Stage { whole: monitor, from: 0.0, to: part };
    let plain =
        learn(learning, (rows.inputs, names, calendar), &every, (&error, &observation), &first)?;
    if series.lags.is_empty() {
        let q = held_values(learning, [(&plain, &every), (&plain, &[])])?;
        let learned = Learned { rows: every, calendar: of_calendar, lags: None, ..plain };
        let series = promised(learning, &learned.fit.fitted, series, waiting)?;
        return Ok(learned.remember(&series, rows, &error, &q, &clock));
    }
    let (inputs, whole) = with_lags(series, rows, &error, &clock);
    let known: Vec<usize> = every.iter().copied().filter(|&row| whole[row]).collect();
    if known.len() < LEAST_ROWS || 10 * known.len() < rows.len() {
        return Err(Error::NoLags { known: known.len(), rows: rows.len() });
    }
    let all: Vec<String> = names.iter().cloned().chain(series.lags.iter().map(lag_name)).collect();
    let last = Stage { whole: monitor, from: part, to: 1.0 };
    let with = learn(learning, (&inputs, &all, calendar), &known, (&error, &observation), &last)?;
    let worth = worth(&plain, &every, &with, &known)?;
    let helps = worth.is_some_and(helps);
    let q = match helps {
        true => held_values(learning, [(&with, &known), (&plain, &every)])?,
        false => held_values(learning, [(&plain, &every), (&plain, &[])])?,
    };
    let none = Series { lags: Vec::new(), ..series.clone() };
    let (learned, series) = match helps {
        true => {
            let fitted = with.fit.fitted.clone().beside(plain.fit.fitted);
            (Learned { rows: known, fit: Fit { fitted, ..with.fit }, ..with }, series)
        }
        false => (Learned { rows: every, ..plain }, &none),
    };
    let series = promised(learning, &learned.fit.fitted, series, waiting)?;
    Ok(Learned { calendar: of_calendar, lags: worth, ..learned }
        .remember(&series, rows, &error, &q, &clock))
}

/// What was observed, forecast and missed, on the scale that errors are learned on; NaN where it is not known.
struct OnScale {
    observation: Vec<f64>,
    forecast: Option<Vec<f64>>,
    error: Vec<f64>,
}

impl OnScale {
    fn of(learning: &Learning) -> Result<Self> {
        let (rows, transform) = (&learning.rows, learning.options.transform);
        let observation = transform.all("observation", rows.observation)?;
        let forecast = rows.forecast.map(|at| transform.all("forecast", at)).transpose()?;
        // Without a forecast the errors themselves are what is observed.
        let error = match &forecast {
            Some(forecast) => observation.iter().zip(forecast).map(|(y, at)| y - at).collect(),
            None => observation.clone(),
        };
        Ok(Self { observation, forecast, error })
    }
}

/// Whether lags are used. They leave the user's forecast as it is, so that any gain that is no chance is one.
fn helps(worth: Worth) -> bool {
    worth.gain > 0.0 && worth.gain >= 2.0 * worth.standard_error
}

/// Lags must be known when they are needed.
fn check_lags(series: &Series) -> Result<()> {
    for lag in &series.lags {
        if lag.is_shorter_than(series.delay) == Some(true) {
            let (lag, delay) = (lag.to_string(), series.delay.to_string());
            return Err(Error::LagWithinDelay { lag, delay });
        }
    }
    Ok(())
}

/// Levels must be such as can be kept at all.
fn check_promised(learning: &Learning) -> Result<()> {
    match learning.options.guarantee {
        _ if learning.promised.is_empty() => Ok(()),
        Some(Method::Split) => Promise::new(learning.promised, 0).map(|_| ()),
        _ => Err(Error::GuaranteeWithoutSplit),
    }
}

/// The same series with the promise of a model, where it has a guarantee that can be kept.
fn promised(
    learning: &Learning,
    fitted: &Fitted,
    series: &Series,
    waiting: usize,
) -> Result<Series> {
    let models = [Some(fitted), fitted.without_lags()];
    let guarantees: Vec<&Guarantee> =
        models.into_iter().flatten().flat_map(Fitted::guarantee).collect();
    let check = |level: f64| guarantees.iter().try_for_each(|own| own.check_level(level));
    let levels = match learning.options.guarantee {
        Some(Method::Split) if learning.promised.is_empty() => {
            USUAL_LEVELS.into_iter().filter(|level| check(*level).is_ok()).collect()
        }
        Some(Method::Split) => learning.promised.to_vec(),
        _ => Vec::new(),
    };
    levels.iter().try_for_each(|level| check(*level))?;
    let promise = (!levels.is_empty()).then(|| Promise::new(&levels, waiting)).transpose()?;
    Ok(Series { promise, ..series.clone() })
}

/// The most rows of a group that were not known yet when another one was forecast, of rows in the order of time.
fn waiting(rows: &SeriesRows, in_order: &[usize], clock: &Clock) -> usize {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); rows.groups()];
    let mut most = 0;
    for &row in in_order {
        let (time, of_group) = (rows.time[row], &mut times[rows.group_of(row) as usize]);
        let known = clock.known(time);
        most = most.max(of_group.len() - of_group.partition_point(|before| *before <= known));
        of_group.push(time);
    }
    most
}

/// What the error of the latest row that is known would be worth as an input: the share by which the CRPS of one
/// constant sigma falls when the bias that it tells is taken off, beyond that of the inputs. `None` where few
/// rows have one.
///
/// # Errors
/// As [`fit()`].
pub fn worth_of_a_lag(
    learning: &Learning,
    series: &Series,
    monitor: &dyn Monitor,
) -> Result<Option<Worth>> {
    let Learning { rows, names, options, .. } = learning;
    rows.check(names.len())?;
    let OnScale { observation, error, .. } = OnScale::of(learning)?;
    let clock = Clock::new(series.delay, rows.time.iter().copied());
    let series = Series { lags: vec![series.delay], ..series.clone() };
    let (inputs, whole) = with_lags(&series, rows, &error, &clock);
    let known: Vec<usize> =
        (0..rows.len()).filter(|&row| whole[row] && error[row].is_finite()).collect();
    if 2 * known.len() < rows.len() || known.len() < LEAST_ROWS {
        return Ok(None);
    }
    let wide = names.len() + 1;
    let worth = |inputs: &[f64], width: usize| {
        let data = data_of(learning, (inputs, width), &known, (&error, &observation))?;
        fit::worth_of_debiasing(&data, options, monitor)
    };
    let (Some(with), Some(without)) = (worth(&inputs, wide)?, worth(rows.inputs, names.len())?)
    else {
        return Ok(None);
    };
    let before = without.gain.clamp(0.0, 0.99);
    let gain = (with.gain - before) / (1.0 - before);
    Ok(Some(Worth::new(gain, with.standard_error / (1.0 - before))))
}

/// Some of the rows as data in time.
pub(super) fn data_of(
    learning: &Learning,
    (inputs, width): (&[f64], usize),
    chosen: &[usize],
    (error, observation): (&[f64], &[f64]),
) -> Result<Data<'static>> {
    let pick = |of: &[f64]| chosen.iter().map(|&row| of[row]).collect::<Vec<f64>>();
    let inputs: Vec<f64> =
        chosen.iter().flat_map(|&row| &inputs[row * width..(row + 1) * width]).copied().collect();
    let (error, observation) = (pick(error), pick(observation));
    let weight = learning.weight.map(pick);
    let mut data = Data::with_missing(&inputs, width, &error)?.maybe_weighted(weight.as_deref())?;
    if learning.rows.forecast.is_some() {
        data = data.maybe_observed(Some(&observation))?;
    }
    if let Some((name, prior)) = learning.rows.prior {
        data = data.with_prior(name, &pick(prior))?;
    }
    if let Some(group) = learning.rows.group {
        let rows = chosen.iter().map(|&row| group.rows[row]).collect();
        data = data.grouped(crate::data::Group { rows, ..group.clone() })?;
    }
    let data = data.with_categories(learning.categories.to_vec())?;
    let data = data.in_time(&pick(learning.rows.time))?;
    Ok(data.pick(&(0..data.rows()).collect::<Vec<usize>>()))
}

/// Fits one model to some of the rows, with inputs of the calendar from a column on.
fn learn(
    learning: &Learning,
    (inputs, names, (from, cycles)): (&[f64], &[String], (usize, &[Cycle])),
    chosen: &[usize],
    (error, observation): (&[f64], &[f64]),
    monitor: &dyn Monitor,
) -> Result<Learned> {
    let data = data_of(learning, (inputs, names.len()), chosen, (error, observation))?;
    let data = data.with_cycles(from, cycles);
    let options = &learning.options;
    let if_it_pays = learning.may_debias();
    let learned = match if_it_pays {
        true => fit::fit_debiased_where_it_pays(&data, names, options, monitor),
        false => fit::fit(&data, names, options, monitor).map(|fit| (fit, None)),
    };
    let (fit, debiasing) = learned.map_err(|error| match error {
        // By its place among the rows that were given.
        Error::BeyondBound { index, value, bound } => {
            Error::BeyondBound { index: chosen[index], value, bound }
        }
        error => error,
    })?;
    Ok(Learned { fit, rows: Vec::new(), debiasing, calendar: None, lags: None })
}

/// The share by which the CRPS of rows falls that both models had held out.
fn worth(
    plain: &Learned,
    every: &[usize],
    with: &Learned,
    known: &[usize],
) -> Result<Option<Worth>> {
    let scores = |learned: &Learned, rows: &[usize]| -> Result<Vec<(usize, f64)>> {
        let Some(held_out) = &learned.fit.held_out else { return Ok(Vec::new()) };
        let each = law::judge::scores(&held_out.sample()?, held_out.error_laws())?.0;
        Ok(held_out.rows.iter().map(|&row| rows[row]).zip(each).collect())
    };
    let before: HashMap<usize, f64> = scores(plain, every)?.into_iter().collect();
    let both = scores(with, known)?.into_iter();
    let both = both.filter_map(|(row, after)| before.get(&row).map(|before| (before, after)));
    let (gains, all): (Vec<f64>, Vec<f64>) = both.map(|(b, a)| (b - a, *b)).unzip();
    let whole: f64 = all.iter().sum();
    if gains.len() < LEAST_ROWS || whole <= 0.0 {
        return Ok(None);
    }
    let (count, noise) = (gains.len() as f64, standard_error(&gains, None));
    let gain = gains.iter().sum::<f64>() / whole;
    Ok(Some(Worth::new(gain, noise * count / whole)))
}

/// The Gaussian values of rows that two models had held out, in the laws that other rows told; nothing where they
/// are not to be followed.
fn held_values(
    learning: &Learning,
    models: [(&Learned, &[usize]); 2],
) -> Result<HashMap<usize, [f64; 2]>> {
    let mut values: HashMap<usize, [f64; 2]> = HashMap::new();
    for (nth, (learned, rows)) in models.into_iter().enumerate() {
        let Some(held_out) = learned.fit.held_out.as_ref().filter(|_| learning.follow_held_out)
        else {
            continue;
        };
        let equal = law::judge::as_gaussian(&held_out.sample()?, held_out.error_laws())?;
        for ((row, equal), sigma) in held_out.rows.iter().zip(equal).zip(&held_out.sigma) {
            if let Some(row) = rows.get(*row) {
                values.entry(*row).or_insert([f64::NAN; 2])[nth] = equal / sigma;
            }
        }
    }
    Ok(values)
}

impl Learned {
    /// The same, with the latest rows in the memory of the model.
    fn remember(
        self,
        series: &Series,
        rows: &SeriesRows,
        error: &[f64],
        q: &HashMap<usize, [f64; 2]>,
        clock: &Clock,
    ) -> Self {
        let mut series = Series { moments: clock.latest().to_vec(), ..series.clone() };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| rows.time[*a].total_cmp(&rows.time[*b]));
        let mut of_group: Vec<Vec<Past>> = vec![Vec::new(); rows.groups()];
        for row in order {
            let time = rows.time[row];
            let q = q.get(&row).copied().unwrap_or([f64::NAN; 2]);
            let (known, z, side) = (clock.known(time), [f64::NAN; 2], Side::Between);
            let past = Past { time, known, error: error[row], q, z, side, rung: [0; 2] };
            of_group[rows.group_of(row) as usize].push(past);
        }
        let laws = as_fitted(&self.fit.fitted);
        let laws = Laws::of(&self.fit.fitted, &laws, &series);
        let remembered = of_group.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
        let groups = remembered.map(|(group, latest)| {
            let label = rows.label(group as u32);
            let mut memory = Memory { latest, ..Memory::default() };
            memory.keep_errors(&series.lags);
            laws.told(label, |told| memory.forget(&series.lags, rows.groups(), told));
            (label.to_string(), memory)
        });
        series.groups = groups.collect();
        let fitted: Fitted = self.fit.fitted.with_series(series);
        let held_out: Option<HeldOut> = self.fit.held_out;
        Self { fit: Fit { fitted, held_out }, ..self }
    }
}
