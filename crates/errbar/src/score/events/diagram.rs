//! The reliability diagram of an event.

use serde::Serialize;

use super::sample::EventSample;
use crate::score::calibration::binomial_interval;

/// Rows whose probabilities are in one tenth of 0 to 1.
///
/// The range from `low` to `high` is what chance leaves to probabilities that are right (a consistency band, after Bröcker
/// and Smith, [2007](https://doi.org/10.1175/WAF993.1)): the binomial interval for as many independent rows, each of which
/// has the mean probability of the bin. Where the probabilities of a bin differ the count varies a little less than that.
/// With weights the rows count as $(\sum w)^2/\sum w^2$.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventBin {
    /// Where the bin begins,
    pub from: f64,
    /// and where it ends.
    pub to: f64,
    /// Its rows that count.
    pub rows: usize,
    /// Those among them in which the event happened.
    pub events: usize,
    /// The mean probability.
    pub mean_probability: f64,
    /// The share in which the event happened.
    pub frequency: f64,
    /// The least share that chance leaves to probabilities that are right,
    pub low: f64,
    /// and the largest.
    pub high: f64,
}

/// Tenths of 0 to 1, those without rows left out.
pub(super) fn bins(sample: &EventSample, weights: &[f64], confidence: f64) -> Vec<EventBin> {
    const BINS: usize = 10;
    #[derive(Clone, Copy, Default)]
    struct Sums {
        rows: usize,
        events: usize,
        weight: f64,
        squared: f64,
        probability: f64,
        happened: f64,
    }
    let mut sums = [Sums::default(); BINS];
    for (row, (&p, &weight)) in sample.probability.iter().zip(weights).enumerate() {
        if weight <= 0.0 {
            continue;
        }
        let sum = &mut sums[((p * BINS as f64) as usize).min(BINS - 1)];
        sum.rows += 1;
        sum.events += usize::from(sample.happened[row]);
        sum.weight += weight;
        sum.squared += weight * weight;
        sum.probability += weight * p;
        sum.happened += if sample.happened[row] { weight } else { 0.0 };
    }
    let bin = |(nth, sum): (usize, &Sums)| {
        let mean = (sum.probability / sum.weight).clamp(0.0, 1.0);
        let rows = (sum.weight * (sum.weight / sum.squared)).round().max(1.0);
        let (low, high) = binomial_interval(rows as u64, mean, confidence);
        EventBin {
            from: nth as f64 / BINS as f64,
            to: (nth + 1) as f64 / BINS as f64,
            rows: sum.rows,
            events: sum.events,
            mean_probability: mean,
            frequency: sum.happened / sum.weight,
            low: low as f64 / rows,
            high: high as f64 / rows,
        }
    };
    sums.iter().enumerate().filter(|(_, sum)| sum.rows > 0).map(bin).collect()
}
