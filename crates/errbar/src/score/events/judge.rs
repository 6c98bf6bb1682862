//! Everything about an event at once.

use rand::RngExt;
use rand_pcg::Pcg64;
use serde::Serialize;

use super::brier::{Block, Brier, recalibrated};
use super::diagram::{EventBin, bins};
use super::roc::Roc;
use super::sample::EventSample;
use super::sorted::Sorted;
use super::value::{ValuePoint, Warning, curve, warnings};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::score::bootstrap::{self, Draws, Interval};
use crate::score::sample::Sample;

/// How to judge the probabilities of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// How rows are drawn anew for the intervals, whose confidence is that of the consistency bands too.
    pub drawing: bootstrap::Options,
    /// Whether to leave the intervals out.
    pub without_intervals: bool,
}

/// How good the probabilities of an event are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventScores {
    /// The number of rows.
    pub rows: usize,
    /// In how many of those that count it happened.
    pub events: usize,
    /// The share of rows in which it happened.
    pub base_rate: f64,
    /// The mean probability.
    pub mean_probability: f64,
    /// The Brier score, its skill and its parts.
    pub brier: Brier,
    /// What recalibration says, from small probabilities to large ones.
    pub recalibrated: Vec<Block>,
    /// Whether the probabilities are right.
    pub calibration: Calibration,
    /// The reliability diagram.
    pub diagram: Vec<EventBin>,
    /// Whether they tell events from the rest.
    pub roc: Roc,
    /// The relative economic value, from small ratios of cost to loss to large ones.
    pub value: Vec<ValuePoint>,
    /// What warnings at some probabilities are like.
    pub warnings: Vec<Warning>,
    /// Intervals of scores; none where they were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<EventIntervals>,
    /// Whether the event happened, or did not, in fewer than ten rows, which tell little.
    pub few: bool,
}

/// Whether the probabilities are right, as far as independent rows can tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// What the reliability part of the Brier score would be on average if they were: chance alone makes it greater than 0.
    pub reliability_by_chance: f64,
    /// The probability that chance alone makes it as large as it is, by drawing what happens anew from the probabilities.
    pub p_value: f64,
    /// The slope of what happened on the probabilities: 1 when right, below 1 where they go too far from the base rate. NaN
    /// where they do not vary.
    pub slope: f64,
}

/// Confidence intervals of an event's scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventIntervals {
    /// Of the Brier score.
    pub brier: Interval,
    /// Of its skill.
    pub brier_skill: Interval,
    /// Of the area under the ROC curve, by how much each row moves it (as DeLong's variance).
    pub area: Interval,
    /// Rows that were drawn together.
    pub block: usize,
}

/// Fewer events, or rows without one, than this tell little.
const FEW: usize = 10;

/// Judges the probabilities of an event.
///
/// # Errors
/// An option out of its range, or the monitor stopped it.
pub fn judge(
    sample: &EventSample,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<EventScores> {
    let prepared = Prepared::of(sample);
    let Prepared { weights, sorted, blocks, brier, roc, .. } = &prepared;
    let counted = weights.iter().filter(|&&weight| weight > 0.0).count();
    let of_those = |row: &usize| weights[*row] > 0.0 && sample.happened[*row];
    let events = (0..sample.len()).filter(of_those).count();
    let probability: f64 = sorted.ties.iter().map(|tie| tie.weight * tie.probability).sum();
    let intervals = match options.without_intervals {
        true => None,
        false => Some(prepared.intervals(sample, &options.drawing, monitor)?),
    };
    Ok(EventScores {
        rows: sample.len(),
        events,
        base_rate: sorted.base_rate(),
        mean_probability: probability / sorted.weight,
        brier: *brier,
        recalibrated: blocks.clone(),
        calibration: prepared.calibration(sample, options.drawing.seed),
        diagram: bins(sample, weights, options.drawing.confidence),
        roc: roc.clone(),
        value: curve(sorted, blocks),
        warnings: warnings(sorted),
        intervals,
        few: events.min(counted - events) < FEW,
    })
}

/// What judging and comparing begin with.
pub(super) struct Prepared {
    pub(super) weights: Vec<f64>,
    pub(super) sorted: Sorted,
    pub(super) blocks: Vec<Block>,
    pub(super) brier: Brier,
    pub(super) roc: Roc,
}

/// The sums that a resample's scores are made of, in this order.
pub(super) const SUMS: usize = 5;
const WEIGHT: usize = 0;
const EVENTS: usize = 1;
const SQUARE: usize = 2;
const ABOVE_OTHERS: usize = 3;
const BELOW_EVENTS: usize = 4;

impl Prepared {
    pub(super) fn of(sample: &EventSample) -> Self {
        let weights = sample.weights();
        let sorted = Sorted::of(sample, &weights);
        let blocks = recalibrated(&sorted);
        let brier = Brier::of(&sorted, &blocks);
        let roc = Roc::of(&sorted);
        Self { weights, sorted, blocks, brier, roc }
    }

    /// The columns whose sums a resample's scores are made of.
    pub(super) fn columns(&self, sample: &EventSample) -> [Vec<f64>; SUMS] {
        let placements = Roc::placements(&self.sorted);
        let mut columns = [const { Vec::new() }; SUMS];
        for (row, (&p, &weight)) in sample.probability.iter().zip(&self.weights).enumerate() {
            let event = if sample.happened[row] { 1.0 } else { 0.0 };
            let place = placements.get(self.sorted.tie_of[row] as usize);
            // Where all rows are alike there is no area.
            let (above, below) = place.map_or((0.0, 0.0), |&(above, below)| {
                (if above.is_nan() { 0.0 } else { above }, if below.is_nan() { 0.0 } else { below })
            });
            let terms =
                [1.0, event, (p - event) * (p - event), event * above, (1.0 - event) * below];
            columns.iter_mut().zip(terms).for_each(|(column, term)| column.push(weight * term));
        }
        columns
    }

    fn intervals(
        &self,
        sample: &EventSample,
        options: &bootstrap::Options,
        monitor: &dyn Monitor,
    ) -> Result<EventIntervals> {
        let columns = self.columns(sample);
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let draws = draws(&[*sample], &columns, options, monitor)?;
        Ok(EventIntervals {
            brier: draws.interval(brier_of),
            brier_skill: draws.interval(skill_of),
            area: draws.interval(|sums| area_of(sums, self.roc.area)),
            block: draws.drawn.0,
        })
    }

    fn calibration(&self, sample: &EventSample, seed: u64) -> Calibration {
        let Sorted { ties, weight, .. } = &self.sorted;
        let mean =
            |of: &dyn Fn(&super::sorted::Tie) -> f64| ties.iter().map(of).sum::<f64>() / weight;
        let (p, base) = (mean(&|tie| tie.weight * tie.probability), self.sorted.base_rate());
        let variance = mean(&|tie| tie.weight * (tie.probability - p).powi(2));
        let together = mean(&|tie| (tie.events - tie.weight * base) * (tie.probability - p));
        let slope = if variance > 0.0 { together / variance } else { f64::NAN };
        // As many draws as take a moment.
        let draws = (4_000_000 / sample.len()).clamp(39, 199);
        let mut reached = 0;
        let mut total = 0.0;
        for draw in 0..draws {
            let mut random = Pcg64::new(u128::from(seed) << 64 | draw as u128, 0xe7e7);
            let mut drawn = Sorted {
                ties: ties.iter().map(|tie| super::sorted::Tie { events: 0.0, ..*tie }).collect(),
                tie_of: Vec::new(),
                weight: *weight,
                events: 0.0,
            };
            for (row, &tie) in self.sorted.tie_of.iter().enumerate() {
                let Some(tie) = drawn.ties.get_mut(tie as usize) else { continue };
                if random.random::<f64>() < tie.probability {
                    tie.events += self.weights[row];
                }
            }
            drawn.events = drawn.ties.iter().map(|tie| tie.events).sum();
            let reliability = Brier::of(&drawn, &recalibrated(&drawn)).reliability;
            total += reliability;
            // Rounding decides nothing.
            reached += usize::from(reliability >= self.brier.reliability * (1.0 - 1e-9));
        }
        Calibration {
            reliability_by_chance: total / draws as f64,
            p_value: (reached + 1) as f64 / (draws + 1) as f64,
            slope,
        }
    }
}

/// Draws rows anew, as those of the event need it: those that go together are told by what happened beside what was said.
pub(super) fn draws(
    samples: &[EventSample],
    columns: &[&[f64]],
    options: &bootstrap::Options,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let of_event = |sample: &EventSample| -> Vec<f64> {
        let pairs = sample.probability.iter().zip(sample.happened);
        pairs.map(|(p, happened)| f64::from(u8::from(*happened)) - p).collect()
    };
    let errors: Vec<Vec<f64>> = samples.iter().map(of_event).collect();
    let ones = vec![1.0; samples.first().map_or(0, EventSample::len)];
    let errors: Result<Vec<Sample>> = errors.iter().map(|e| Sample::new(e, &ones)).collect();
    let both = |sums: &[f64]| sums[EVENTS] > 0.0 && sums[WEIGHT] > sums[EVENTS];
    let (weight, events) = columns.split_at(EVENTS);
    let total = |column: &[f64]| column.iter().sum::<f64>();
    // Where the event happens always or never no resample has both.
    let any = weight.first().zip(events.first());
    let has_both = any.is_some_and(|(w, e)| total(e) > 0.0 && total(w) > total(e));
    Draws::of(columns, &errors?, options, |sums| !has_both || both(sums), monitor)
}

pub(super) fn brier_of(sums: &[f64]) -> f64 {
    sums[SQUARE] / sums[WEIGHT]
}

pub(super) fn skill_of(sums: &[f64]) -> f64 {
    let base = sums[EVENTS] / sums[WEIGHT];
    let uncertainty = base * (1.0 - base);
    if uncertainty > 0.0 { 1.0 - brier_of(sums) / uncertainty } else { f64::NAN }
}

/// The area of a resample, to first order: it moves with the mean placements of its events and of its other rows.
pub(super) fn area_of(sums: &[f64], area: f64) -> f64 {
    let others = sums[WEIGHT] - sums[EVENTS];
    match sums[EVENTS] > 0.0 && others > 0.0 {
        true => sums[ABOVE_OTHERS] / sums[EVENTS] + sums[BELOW_EVENTS] / others - area,
        false => f64::NAN,
    }
}
