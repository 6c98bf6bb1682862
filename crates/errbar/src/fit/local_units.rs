//! Every row in the units of its own error.
//!
//! CRPS has the units of the error, so a row of small sigma hardly counts: at a fixed $z$ its slope
//! in $\ln\sigma$ is in proportion to $\sigma$. After a first fit $s\_0(x)$ the cost can be applied to
//! $\varepsilon/s\_0(x)$ with $\sigma(x)/s\_0(x)$ instead, where all rows count alike. A first fit to
//! the same errors would give too much weight to those that happen to be small; so each row's
//! $s\_0$ comes from a model that has not seen it, and it has a floor.

use super::{Effort, Kind, LEAST_ROWS, Options, train_in};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::folds::{Fold, Order};
use crate::loss::LossKind;
use crate::monitor::{Monitor, Stage};
use crate::sigma::Model;

/// Parts of the rows, each judged by a model of the others.
const FOLDS: usize = 4;

/// A unit is at least this share of the mean size of all errors.
pub(super) const FLOOR: f64 = 0.1;

/// The unit of each row, and a model of most of them; `None` where there are too few rows for a
/// first fit.
pub(super) fn units(
    data: &Data,
    kind: Kind,
    known: Option<&Model>,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<(Vec<f64>, Model)>> {
    let rows = data.rows();
    if rows - rows.div_ceil(FOLDS) < LEAST_ROWS {
        return Ok(None);
    }
    // The likelihood does not mind units, and is quick.
    let first = Options { loss: LossKind::Nlpd, ..*options };
    let order = Order::of(data, options.split, options.seed ^ 0xf01d);
    let mut unit = vec![0.0; rows];
    let mut last: Option<Model> = None;
    for (fold, Fold { held, others }) in order.parts(FOLDS).enumerate() {
        let share = |fold: usize| fold as f64 / FOLDS as f64;
        let part = Stage { whole: monitor, from: share(fold), to: share(fold + 1) };
        if held.is_empty() || others.len() < LEAST_ROWS {
            return Ok(None);
        }
        let (others, known) = (data.pick(&others), last.as_ref().or(known));
        let model = match train_in(&others, kind, Effort::First, known, &first, &part) {
            // All errors of the others are zero.
            Err(Error::NoErrors { .. }) => return Ok(None),
            model => model?,
        };
        let sigma = model.predict(data.pick(&held).inputs())?;
        held.iter().zip(sigma).for_each(|(&row, sigma)| unit[row] = sigma);
        last = Some(model);
    }
    let mean = data.error().iter().map(|e| e.abs() / rows as f64).sum::<f64>();
    // A first fit that ran off somewhere would make the rows there count for nothing.
    let largest = data.error().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    unit.iter_mut().for_each(|unit| *unit = unit.clamp(FLOOR * mean, largest));
    Ok(last.map(|model| (unit, model)))
}
