//! Whether learning what a forecaster gets wrong on average is worth it, and doing so.
//!
//! A bias of earlier rows need not be one of later rows. Where rows are in the order of time, later
//! rows say whether the bias of those before them carries over; if it does not, forecasts stay as they
//! are.

use super::{LEAST_ROWS, MANY, Options, SAMPLE, apart, categories, many, some_rows};
use crate::data::{Data, Split};
use crate::error::Result;
use crate::folds::Order;
use crate::mean::bias::{self, Bias, CrossFitted, MEMBERS, Parts};
use crate::monitor::Monitor;
use crate::score::{Sample, crps};
use crate::sigma::constant;

/// The bias of the forecaster, and that of each row from rows without it.
pub(super) fn learn(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<CrossFitted> {
    // Trees are quick: they may see more rows than other models.
    let options = &Options { most_rows: options.most_rows.saturating_mul(5), ..*options };
    let chosen = some_rows(data.rows(), options);
    let some = (chosen.len() < data.rows()).then(|| data.pick(&chosen));
    let learn_from = some.as_ref().unwrap_or(data);
    let learned = match options.split {
        Split::Random => bias::fit(learn_from, options.split, options.seed, monitor)?,
        Split::InOrder => {
            let later = later(learn_from, options, monitor)?;
            let worth = later.as_ref().map(|later| later.gain(options)).transpose()?.flatten();
            if worth.is_some_and(|worth| worth.gain <= 0.0) {
                let bias = Bias::none(data.columns());
                return Ok(CrossFitted { bias, held_out: vec![0.0; data.rows()] });
            }
            in_time(learn_from, later, options, monitor)?
        }
    };
    if some.is_none() {
        return Ok(learned);
    }
    // Rows that were not chosen are new to it.
    let mut held_out = learned.bias.predict(data.inputs())?;
    chosen.iter().zip(&learned.held_out).for_each(|(&row, bias)| held_out[row] = *bias);
    Ok(CrossFitted { held_out, ..learned })
}

/// What moving forecasts by their bias is worth and, where it pays, the bias: learned once for both. `None` of
/// data whose worth is told by some of the rows.
pub(super) fn where_it_pays(
    data: &Data,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<(Option<Worth>, Option<CrossFitted>)>> {
    if data.rows() > options.most_rows || data.rows() >= MANY {
        return Ok(None);
    }
    if data.rows() < LEAST_ROWS {
        return Ok(Some((None, None)));
    }
    let pays = |worth: &Option<Worth>| worth.is_some_and(|worth| worth.pays());
    Ok(Some(match options.split {
        Split::Random => {
            let learned = bias::fit(data, options.split, options.seed, monitor)?;
            let worth = gain(data, &bias::without(data.error(), &learned.held_out), options)?;
            (worth, pays(&worth).then_some(learned))
        }
        Split::InOrder => {
            let later = later(data, options, monitor)?;
            let worth = later.as_ref().map(|later| later.gain(options)).transpose()?.flatten();
            let learned = pays(&worth).then(|| in_time(data, later, options, monitor));
            (worth, learned.transpose()?)
        }
    }))
}

/// The bias of rows in the order of time, its parts weighed by what they were worth to later rows.
fn in_time(
    data: &Data,
    later: Option<Later>,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<CrossFitted> {
    let parts = Parts::fit(data, options.split, options.seed, monitor)?;
    let Some(later) = later else { return Ok(parts.weighed_by(data)) };
    let mut learned = parts.weighed(later.shares);
    // What the rows before them say is what new rows will have to do with.
    let honest = later.places.iter().zip(&later.bias);
    honest.for_each(|(&row, bias)| learned.held_out[row] = *bias);
    Ok(learned)
}

/// What something is worth, such as moving forecasts by their bias.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Worth {
    /// The share by which the CRPS falls on rows held out.
    pub gain: f64,
    /// How uncertain that is.
    pub standard_error: f64,
}

impl Worth {
    /// A gain and how uncertain it is.
    #[must_use]
    pub fn new(gain: f64, standard_error: f64) -> Self {
        Self { gain, standard_error }
    }

    /// Whether it should be done: a gain below a hundredth, or within the noise, is no reason.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.gain >= 0.01 && self.gain >= 2.0 * self.standard_error
    }
}

/// The share by which the mean CRPS of one constant sigma would fall if the bias were learned from
/// the inputs and taken off, with its standard error: what [`Options::debias`] is worth, on rows that
/// were held out. `None` with too few rows to tell.
///
/// # Errors
/// A monitor that asked to stop.
pub fn worth_of_debiasing(
    data: &Data,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<Worth>> {
    let options = &options.on(data);
    let (apart, _) = apart(data, options)?;
    let data = apart.as_ref().unwrap_or(data);
    if data.is_coded() {
        return categories::encode(data, options, true).worth_of_debiasing(options, monitor);
    }
    let thinned = if data.rows() >= MANY && options.most_rows >= SAMPLE {
        // Those that all kinds of models learn from.
        Some(many::sample(data, options).0)
    } else {
        let some = || data.pick(&some_rows(data.rows(), options));
        (data.rows() > options.most_rows).then(some)
    };
    worth(thinned.as_ref().unwrap_or(data), options, monitor)
}

/// The same for rows all of which are looked at.
pub(super) fn worth(
    data: &Data,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<Worth>> {
    if data.rows() < LEAST_ROWS {
        return Ok(None);
    }
    match options.split {
        Split::Random => {
            let learned = bias::fit(data, options.split, options.seed, monitor)?;
            gain(data, &bias::without(data.error(), &learned.held_out), options)
        }
        Split::InOrder => match later(data, options, monitor)? {
            Some(later) => later.gain(options),
            None => Ok(None),
        },
    }
}

/// Later rows, and what is left of their errors without the bias of the rows before them.
struct Later {
    places: Vec<usize>,
    rows: Data<'static>,
    bias: Vec<f64>,
    left: Vec<f64>,
    shares: [f64; MEMBERS],
}

impl Later {
    fn gain(&self, options: &Options) -> Result<Option<Worth>> {
        gain(&self.rows, &self.left, options)
    }
}

/// What a bias is worth to later rows, whose errors also say how much each part of it counts.
fn later(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Option<Later>> {
    let order = Order::of(data, options.split, options.seed);
    let ends: Vec<usize> = (0..=PARTS).map(|part| order.end(part * data.rows() / PARTS)).collect();
    let mut rows = Vec::new();
    let mut said: [Vec<f64>; MEMBERS] = Default::default();
    for part in FIRST_JUDGED..PARTS {
        let earlier = data.pick(&(0..ends[part]).collect::<Vec<usize>>());
        let held: Vec<usize> = (ends[part]..ends[part + 1]).collect();
        if earlier.rows() < LEAST_ROWS || held.is_empty() {
            continue;
        }
        let parts = Parts::fit(&earlier, options.split, options.seed, monitor)?;
        let new = parts.predict(data.pick(&held).inputs())?;
        said.iter_mut().zip(new).for_each(|(said, new)| said.extend(new));
        rows.extend(held);
    }
    if rows.len() < LEAST_ROWS {
        return Ok(None);
    }
    let (places, rows) = (rows.clone(), data.pick(&rows));
    let shares = bias::shares(rows.error(), rows.weight(), &said);
    let bias = bias::together(&said, shares);
    let left = bias::without(rows.error(), &bias);
    Ok(Some(Later { places, rows, bias, left, shares }))
}

/// The share by which the mean CRPS of one constant sigma falls when errors become what is left of
/// them, and its standard error.
pub(super) fn gain(judged: &Data, left: &[f64], options: &Options) -> Result<Option<Worth>> {
    let each = |error: &[f64]| -> Result<Option<Vec<f64>>> {
        if error.iter().all(|e| *e == 0.0) {
            return Ok(None);
        }
        let sigma = constant::fit(judged.columns(), error, judged.weight(), options.loss)?.sigma;
        let sigmas = vec![sigma; error.len()];
        Ok(Some(crps::each(&Sample::new(error, &sigmas)?)))
    };
    let (Some(before), Some(after)) = (each(judged.error())?, each(left)?) else {
        return Ok(None);
    };
    let ones = vec![1.0; before.len()];
    let rows = Sample::new(judged.error(), &ones)?.maybe_weighted(judged.weight())?;
    let gain: Vec<f64> = before.iter().zip(&after).map(|(before, after)| before - after).collect();
    let whole = rows.mean(&before);
    let noise = crate::diagnose::standard_error(&gain, judged.weight());
    Ok((whole > 0.0)
        .then(|| Worth { gain: rows.mean(&gain) / whole, standard_error: noise / whole }))
}

/// In time, parts of the rows, and the first that is judged by a bias of all before it.
const PARTS: usize = 5;
const FIRST_JUDGED: usize = 2;
