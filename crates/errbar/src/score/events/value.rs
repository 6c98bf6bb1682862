//! Is it worth acting on probabilities?

use serde::Serialize;

use super::brier::Block;
use super::sorted::Sorted;

/// The relative economic value to users who can act at a cost C, and lose L where they did not and the event happens.
///
/// With $a = C/L$ and the base rate $\bar o$, the expense in units of L is $a$ each time one acts and 1 each time the event
/// finds one idle. Those who know the base rate alone act always or never, and spend $\min(a, \bar o)$; those who know what
/// comes spend $a \bar o$; between them is the value of a forecast (Richardson, [2000](https://doi.org/10.1002/qj.49712656313)):
///
/// $$V(a) = \frac{\min(a, \bar o) - a P(\text{act}) - P(\text{event, not act})}{\min(a, \bar o) - a \bar o}.$$
///
/// 1 is perfect, 0 no better than the base rate, and it may fall below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValuePoint {
    /// The cost over the loss.
    pub cost_loss: f64,
    /// The value to those who take the probabilities at their word: they act where these are at least `cost_loss`.
    pub value: f64,
    /// The value to those who act where the probabilities, recalibrated, are at least that: what they would be worth
    /// if they were reliable.
    pub recalibrated: f64,
}

/// What comes of a warning wherever the probability is so large.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Warning {
    /// The probability at which one warns.
    pub at: f64,
    /// The share of all rows in which one does.
    pub warned: f64,
    /// The share of the events that are caught. NaN where there are none.
    pub caught: f64,
    /// The share of the warnings after which nothing happened. NaN where there are none.
    pub false_alarms: f64,
    /// The value to those for whom the cost of acting is `at` times the loss.
    pub value: f64,
}

/// Ratios of cost to loss: each hundredth, and smaller ones for rare events.
pub(super) fn curve(sorted: &Sorted, blocks: &[Block]) -> Vec<ValuePoint> {
    let small = [0.001, 0.002, 0.005];
    let ratios = small.into_iter().chain((1..100).map(|nth| f64::from(nth) / 100.0));
    let acting = Acting::of(sorted);
    let point = |cost_loss: f64| {
        let (acts, idle) = acting.at(cost_loss);
        let (mut would_act, mut would_lose) = (0.0, 0.0);
        for block in blocks {
            match block.frequency >= cost_loss {
                true => would_act += block.share,
                false => would_lose += block.share * block.frequency,
            }
        }
        ValuePoint {
            cost_loss,
            value: value(cost_loss, sorted.base_rate(), acts, idle),
            recalibrated: value(cost_loss, sorted.base_rate(), would_act, would_lose),
        }
    };
    ratios.map(point).collect()
}

/// Warnings at probabilities that people warn at.
pub(super) fn warnings(sorted: &Sorted) -> Vec<Warning> {
    let acting = Acting::of(sorted);
    let (base, events) = (sorted.base_rate(), sorted.events);
    let warning = |at: f64| {
        let (warned, idle) = acting.at(at);
        let caught = base - idle;
        Warning {
            at,
            warned,
            caught: if events > 0.0 { (caught / base).clamp(0.0, 1.0) } else { f64::NAN },
            false_alarms: match warned > 0.0 {
                true => (1.0 - caught / warned).clamp(0.0, 1.0),
                false => f64::NAN,
            },
            value: value(at, base, warned, idle),
        }
    };
    [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9].into_iter().map(warning).collect()
}

fn value(cost_loss: f64, base: f64, acts: f64, idle: f64) -> f64 {
    if base <= 0.0 || base >= 1.0 {
        return f64::NAN;
    }
    let climate = cost_loss.min(base);
    (climate - cost_loss * acts - idle) / (climate - cost_loss * base)
}

/// How often one acts, and how often the event finds one idle, for each probability to act at.
struct Acting<'a> {
    sorted: &'a Sorted,
    /// The weight below each tie, and that of its events.
    below: Vec<(f64, f64)>,
}

impl<'a> Acting<'a> {
    fn of(sorted: &'a Sorted) -> Self {
        let mut below = vec![(0.0, 0.0)];
        for tie in &sorted.ties {
            let (weight, events) = below[below.len() - 1];
            below.push((weight + tie.weight, events + tie.events));
        }
        Self { sorted, below }
    }

    /// Shares of all weight: one acts, and the event finds one idle.
    fn at(&self, probability: f64) -> (f64, f64) {
        let place = self.sorted.ties.partition_point(|tie| tie.probability < probability);
        let (weight, events) = self.below[place];
        let total = self.sorted.weight;
        ((1.0 - weight / total).max(0.0), events / total)
    }
}
