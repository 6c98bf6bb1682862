//! Do probabilities tell events from the rest?

use serde::Serialize;

use super::sorted::Sorted;

/// The ROC curve: what warnings catch, and how often they are given for nothing, as the probability at which one warns
/// falls from 1 to 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Roc {
    /// The area under the curve, the probability that of an event and another row the event has the larger probability,
    /// where equal ones count by half (Mann and Whitney): 1 is perfect, 0.5 knows nothing. NaN where the event happens
    /// always or never.
    pub area: f64,
    /// The curve from (0, 0) to (1, 1): all of its corners, or some 200 of them where there are more. (The area is of all.)
    pub points: Vec<RocPoint>,
}

/// What comes of a warning wherever the probability is this or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RocPoint {
    /// The probability; none where there is no warning at all.
    pub at: Option<f64>,
    /// The share of the rows without the event in which there was a warning.
    pub false_alarm_rate: f64,
    /// The share of the events before which there was a warning.
    pub hit_rate: f64,
}

impl Roc {
    pub(super) fn of(sorted: &Sorted) -> Self {
        const POINTS: usize = 200;
        let others = sorted.weight - sorted.events;
        let (mut caught, mut false_alarms, mut area) = (0.0, 0.0, 0.0);
        let mut points = vec![RocPoint { at: None, false_alarm_rate: 0.0, hit_rate: 0.0 }];
        let every = sorted.ties.len().div_ceil(POINTS).max(1);
        for (nth, tie) in sorted.ties.iter().rev().enumerate() {
            let without = tie.weight - tie.events;
            area += without * (caught + 0.5 * tie.events);
            caught += tie.events;
            false_alarms += without;
            if nth % every == 0 || nth + 1 == sorted.ties.len() {
                points.push(RocPoint {
                    at: Some(tie.probability),
                    false_alarm_rate: share(false_alarms, others),
                    hit_rate: share(caught, sorted.events),
                });
            }
        }
        Self { area: share(area, sorted.events * others), points }
    }

    /// For each tie, the share of the other rows below it and of the events above it, ties by half: the means of these over
    /// the events and over the others are the area, and they are what the area of a resample moves by (DeLong).
    pub(super) fn placements(sorted: &Sorted) -> Vec<(f64, f64)> {
        let others = sorted.weight - sorted.events;
        let (mut below, mut events) = (0.0, 0.0);
        let place = |tie: &super::sorted::Tie| {
            let without = tie.weight - tie.events;
            let place = (
                share(below + 0.5 * without, others),
                share(sorted.events - events - 0.5 * tie.events, sorted.events),
            );
            below += without;
            events += tie.events;
            place
        };
        sorted.ties.iter().map(place).collect()
    }
}

/// A share of something; NaN of nothing.
fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { (part / of).clamp(0.0, 1.0) } else { f64::NAN }
}
