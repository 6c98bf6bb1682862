//! Probabilities of the same event by several forecasts: which are better?

use serde::Serialize;

use super::judge::{Prepared, SUMS, area_of, brier_of, draws};
use super::sample::EventSample;
use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::score::bootstrap::{self, Paired};

/// Scores of some probabilities minus those of the ones they are compared with, from the same draws of rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventDifference {
    /// Of the Brier score: below 0 is better.
    pub brier: Paired,
    /// Of the area under the ROC curve: above 0 is better.
    pub area: Paired,
}

/// How the probabilities of each sample differ from those of one of them; none for that one itself.
///
/// # Errors
/// No samples, other rows or weights, a sample `against` that is not there, an option out of its range, or the
/// monitor stopped it.
pub fn compare(
    samples: &[EventSample],
    against: usize,
    options: &bootstrap::Options,
    monitor: &dyn Monitor,
) -> Result<Vec<Option<EventDifference>>> {
    let first = samples.first().ok_or(Error::Empty)?;
    if against >= samples.len() {
        return Err(Error::BadNumber {
            what: "the sample to compare with",
            value: against,
            allowed: "it must be one of those given, counted from 0",
        });
    }
    for (index, sample) in samples.iter().enumerate() {
        check_length("a sample", sample.len(), "the first one", first.len())?;
        if sample.weight != first.weight || sample.happened != first.happened {
            return Err(Error::OtherWeights { index });
        }
    }
    let prepared: Vec<Prepared> = samples.iter().map(Prepared::of).collect();
    let columns: Vec<[Vec<f64>; SUMS]> =
        prepared.iter().zip(samples).map(|(one, sample)| one.columns(sample)).collect();
    let columns: Vec<&[f64]> = columns.iter().flatten().map(Vec::as_slice).collect();
    let draws = draws(samples, &columns, options, monitor)?;
    let sums_of = |nth: usize| nth * SUMS..(nth + 1) * SUMS;
    let of = &prepared[against];
    let difference = |(nth, one): (usize, &Prepared)| {
        (nth != against).then(|| EventDifference {
            brier: draws.paired(one.brier.score - of.brier.score, |sums| {
                brier_of(&sums[sums_of(nth)]) - brier_of(&sums[sums_of(against)])
            }),
            area: {
                let area = draws.paired(one.roc.area - of.roc.area, |sums| {
                    area_of(&sums[sums_of(nth)], one.roc.area)
                        - area_of(&sums[sums_of(against)], of.roc.area)
                });
                // More is better.
                Paired { better: 1.0 - area.better, ..area }
            },
        })
    };
    Ok(prepared.iter().enumerate().map(difference).collect())
}
