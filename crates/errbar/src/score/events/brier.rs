//! The Brier score and its parts.

use serde::Serialize;

use super::sorted::{Sorted, Tie};

/// The Brier score, the mean square of probability minus what happened (1 or 0),
///
/// $$\mathrm{BS} = \frac{\sum w\_i (p\_i - o\_i)^2}{\sum w\_i},$$
///
/// and its parts, $\mathrm{BS} = \text{reliability} - \text{resolution} + \text{uncertainty}$.
///
/// The parts compare three forecasts of the same rows: the one at hand; the one *recalibrated*, which says $r\_i$, the
/// best that can be had from the probabilities by a rule that says no less where they say more (the isotonic
/// regression of what happened on them); and the *base rate* $\bar o$, which says the same in each row:
///
/// - reliability $= \mathrm{BS}(p) - \mathrm{BS}(r)$, what recalibration would gain: 0 is perfect;
/// - resolution $= \mathrm{BS}(\bar o) - \mathrm{BS}(r)$, what the recalibrated one gains on the base rate;
/// - uncertainty $= \mathrm{BS}(\bar o) = \bar o (1 - \bar o)$.
///
/// So they add up whatever the probabilities are. The bins are those within which $r$ is constant ([`Block`]), and within
/// each of which it is the share of events: no choice of bins decides what comes out, as it does where bins of equal width
/// are taken (and where the parts add up only if all probabilities of a bin are the same). This is the decomposition of
/// Dimitriadis, Gneiting and Jordan ([2021](https://doi.org/10.1073/pnas.2016191118)), who call the parts miscalibration,
/// discrimination and uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Brier {
    /// The score: 0 is perfect.
    pub score: f64,
    /// $1 - \mathrm{BS}/(\bar o(1 - \bar o))$, against the base rate of the same rows: 1 is perfect, 0 no better than to say
    /// it each time. NaN where the event happens always or never.
    pub skill: f64,
    /// What recalibration would gain.
    pub reliability: f64,
    /// What the probabilities, recalibrated, gain on the base rate.
    pub resolution: f64,
    /// The score of the base rate.
    pub uncertainty: f64,
}

/// Neighbouring probabilities that recalibration makes one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Block {
    /// The smallest probability in it.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// Its share of all weight.
    pub share: f64,
    /// The share of events in it, which is what recalibration says.
    pub frequency: f64,
}

impl Brier {
    pub(super) fn of(sorted: &Sorted, blocks: &[Block]) -> Self {
        let base = sorted.base_rate();
        let score = sorted.ties.iter().map(square).sum::<f64>() / sorted.weight;
        let uncertainty = base * (1.0 - base);
        let squares = blocks.iter().map(|b| b.share * (b.frequency - base).powi(2));
        let resolution: f64 = squares.sum();
        // By rounding it may fall below 0.
        let reliability = (score - uncertainty + resolution).max(0.0);
        let skill = if uncertainty > 0.0 { 1.0 - score / uncertainty } else { f64::NAN };
        Self { score, skill, reliability, resolution, uncertainty }
    }
}

/// The sum of squares of a tie.
fn square(tie: &Tie) -> f64 {
    let Tie { probability: p, weight, events } = *tie;
    events * (1.0 - p) * (1.0 - p) + (weight - events) * p * p
}

/// The isotonic regression, by pooling neighbours that are out of order.
pub(super) fn recalibrated(sorted: &Sorted) -> Vec<Block> {
    let mut pools: Vec<(Tie, f64)> = Vec::new();
    for tie in &sorted.ties {
        let (mut pool, mut to) = (*tie, tie.probability);
        // Equal frequencies are one block.
        while let Some((last, _)) = pools.last()
            && last.events * pool.weight >= pool.events * last.weight
        {
            pool = Tie {
                probability: last.probability,
                weight: last.weight + pool.weight,
                events: last.events + pool.events,
            };
            to = to.max(tie.probability);
            pools.pop();
        }
        pools.push((pool, to));
    }
    let block = |(pool, to): (Tie, f64)| Block {
        from: pool.probability,
        to,
        share: pool.weight / sorted.weight,
        frequency: pool.events / pool.weight,
    };
    pools.into_iter().map(block).collect()
}
