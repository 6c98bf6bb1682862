//! Where among the members did each observation fall?

use serde::Serialize;

use crate::score::calibration::binomial_interval;

/// How often observations fell below all members, between the lowest and the next, and so on up to above all.
///
/// Flat where observations are like the members; a U says that these are too close together, a hump that they are too far
/// apart, a slope that they are too high or too low. An observation that equals k members is shared out equally over the
/// k + 1 places that it might have had, and that of a row in which members are missing over the places of a full row that
/// its place stands for: exactly, and not at random.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankHistogram {
    /// The share of the weight at each of the places, one more than there are members; they add up to 1.
    pub frequency: Vec<f64>,
    /// The least share that chance leaves to each place of a calibrated ensemble,
    pub low: f64,
    /// and the largest.
    pub high: f64,
    /// The probability of that range, place by place.
    pub confidence: f64,
}

impl RankHistogram {
    pub(super) fn of(weights: &[f64], rows: f64, confidence: f64) -> Self {
        let total: f64 = weights.iter().sum();
        let n = rows.round().max(1.0);
        let (low, high) = binomial_interval(n as u64, 1.0 / weights.len() as f64, confidence);
        Self {
            frequency: weights.iter().map(|weight| weight / total).collect(),
            low: low as f64 / n,
            high: high as f64 / n,
            confidence,
        }
    }
}

/// Adds a row: where `below` of its `members` are below the observation and `equal` equal it.
pub(super) fn add(places: &mut [f64], row: &super::Row, weight: f64) {
    let super::Row { members, below, equal, .. } = *row;
    if members + 1 == places.len() {
        let share = weight / (equal + 1) as f64;
        places[below..=below + equal].iter_mut().for_each(|place| *place += share);
        return;
    }
    // The share of probability from below / (n + 1) to (below + equal + 1) / (n + 1), laid over the places of a full row.
    let (n, all) = ((members + 1) as f64, places.len() as f64);
    let (from, to) = (below as f64 / n * all, (below + equal + 1) as f64 / n * all);
    let first = from as usize;
    for (nth, place) in places.iter_mut().enumerate().skip(first) {
        let inside = to.min((nth + 1) as f64) - from.max(nth as f64);
        if inside <= 0.0 {
            break;
        }
        *place += weight * inside / (to - from);
    }
}
