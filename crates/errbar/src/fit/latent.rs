//! Errors of observations at a bound: all that is known of what they would have been without it is that
//! they lie beyond.
//!
//! Models of sigma learn from errors, whatever their law. So each error at a bound is replaced by one
//! that the law before censoring could have had there: its quantile at a place, spread evenly from row to
//! row, in the part of the law beyond the bound. Law and errors are learned in turn. (One draw of what
//! statisticians call multiple imputation, with even draws instead of random ones.)

use super::shape;
use super::{Options, bounds_of_errors, debias, some_rows};
use crate::data::Data;
use crate::error::Result;
use crate::law::Bounds;
use crate::mean::bias::CrossFitted;
use crate::monitor::{Monitor, Silent, check, task};
use crate::score::of_rank::spread;
use crate::sigma::polynomial;

/// What a forecaster gets wrong on average before what it says of errors at a bound is cut off there: the bias of errors
/// beyond their bounds, as far as a first bias tells those. (One step of expectation and maximisation, as for Tobit's model: where nearly all
/// observations are at the bound, further ones run off with bias and sigma, of which only the ratio is known there.)
/// Without it forecasts would be moved to the mean of what was observed, which no law with a share beyond the bound is about.
pub(super) fn bias_beyond_bounds(
    left: &Data,
    biased: CrossFitted,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<CrossFitted> {
    let Some(bounds) = bounds_of_errors(left, options)? else { return Ok(biased) };
    let Some(beyond) = beyond_bounds(left, &bounds, options, monitor)? else { return Ok(biased) };
    let error = beyond.error().iter().zip(&biased.held_out).map(|(error, bias)| error + bias);
    let error = error.collect();
    let _task = task(monitor, "bias", None);
    debias::learn(&beyond.with_error(error), options, monitor)
}

/// How often law and errors are learned from each other.
const ROUNDS: usize = 3;
/// Rows enough for a first look at sigma.
const MOST_ROWS: usize = 2_000;

/// The same data with errors beyond their bounds instead of at them; `None` where there are none.
pub(super) fn beyond_bounds<'a>(
    data: &Data<'a>,
    bounds: &[Bounds],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<Data<'a>>> {
    let at_lower = |row: usize| data.error()[row] <= bounds[row].lower();
    let at_upper = |row: usize| data.error()[row] >= bounds[row].upper();
    let at_bound: Vec<usize> =
        (0..data.rows()).filter(|&row| at_lower(row) || at_upper(row)).collect();
    if at_bound.is_empty() || at_bound.len() == data.rows() || data.rows() < super::LEAST_ROWS {
        return Ok(None);
    }
    let own = polynomial::Options {
        loss: options.loss,
        split: options.split,
        ..polynomial::Options::general()
    };
    let some = some_rows(data.rows(), &Options { most_rows: MOST_ROWS, ..*options });
    let mut latent = data.clone();
    for _ in 0..ROUNDS {
        check(monitor)?;
        let learn_from = latent.pick(&some);
        let learn_from = super::lesson::off_zero(&learn_from).unwrap_or(learn_from);
        let sigma = polynomial::fit_to(&learn_from, &own, &Silent)?.predict(data.inputs())?;
        let law = shape::likeliest_gaussian(data.error(), &sigma, data.weight(), bounds);
        let mut error = data.error().to_vec();
        for &row in &at_bound {
            let own = law.within(bounds[row].over(sigma[row]));
            let z = match at_lower(row) {
                true => own.law.quantile(spread(row) * own.mass_at_lower()),
                false => own.law.upper_quantile(spread(row) * own.mass_at_upper()),
            };
            if z.is_finite() {
                error[row] = sigma[row] * z.clamp(-shape::FARTHEST, shape::FARTHEST);
            }
        }
        latent = latent.with_error(error);
    }
    Ok(Some(latent))
}
