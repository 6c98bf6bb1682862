//! Which inputs say of sigma what still holds later.
//!
//! What an input said about the size of errors may have been true of a time only: prices were high
//! when markets were nervous, and then they stayed high. Rows held out in time show it. Small trees of
//! the earlier rows are tried with and without each input (inputs that stand in for one another
//! together), and what does better without, by more than chance, is left out.

use super::lesson::Lesson;
use super::{Kind, LEAST_ROWS, Options, twins};
use crate::data::Data;
use crate::diagnose::standard_error;
use crate::error::Result;
use crate::folds::{Fold, Order};
use crate::monitor::Monitor;
use crate::score::{Sample, crps};

/// Rows from which on a share of them tells.
const LEAST: usize = 200;
/// Rows that each trial learns from at most.
const MOST: usize = 5_000;
/// With more inputs than this none is tried: chance would find some.
const MOST_INPUTS: usize = 30;
/// What must be gained: this share of the CRPS, and so many standard errors.
const LEAST_GAIN: f64 = 0.01;
const SURE: f64 = 2.0;

/// Whether each input is kept.
pub(super) fn inputs(
    data: &Data,
    order: &Order,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Vec<bool>> {
    let columns = data.columns();
    let mut kept = vec![true; columns];
    let share = options.validation;
    if !(2..=MOST_INPUTS).contains(&columns) || data.rows() < LEAST || share == 0.0 {
        return Ok(kept);
    }
    let Fold { held, others } = super::validation::last(data.rows(), share, order, options.split);
    if held.len() < LEAST_ROWS || others.len() < LEAST {
        return Ok(kept);
    }
    let (held, others) = (data.pick(&held), data.pick(&others));
    let trial = Options { most_rows: options.most_rows.min(MOST), local_units: false, ..*options };
    let each = |kept: &[bool]| -> Result<Vec<f64>> {
        let others = others.with_inputs(kept);
        let lesson = Lesson::new(&others, &[Kind::Trees], &trial, monitor)?;
        let model = lesson.hold(lesson.model(Kind::Trees, None, &trial, monitor)?.0)?;
        let sigma = model.predict(held.inputs())?;
        Ok(crps::each(&Sample::new(held.error(), &sigma)?))
    };
    let mean = |values: &[f64]| values.iter().map(|x| x / values.len() as f64).sum::<f64>();
    let mut groups = twins::of_data(data, options.seed);
    let mut now = each(&kept)?;
    while groups.len() > 1 {
        let mut best: Option<(usize, Vec<f64>, Vec<bool>)> = None;
        for (i, group) in groups.iter().enumerate() {
            let mut without = kept.clone();
            group.iter().for_each(|&column| without[column] = false);
            let then = each(&without)?;
            if best.as_ref().is_none_or(|(_, least, _)| mean(&then) < mean(least)) {
                best = Some((i, then, without));
            }
        }
        let Some((i, then, without)) = best else { break };
        let gain: Vec<f64> = now.iter().zip(&then).map(|(now, then)| now - then).collect();
        let noise = standard_error(&gain, None);
        if mean(&gain) < (SURE * noise).max(LEAST_GAIN * mean(&now)) {
            break;
        }
        groups.remove(i);
        (now, kept) = (then, without);
    }
    Ok(kept)
}
