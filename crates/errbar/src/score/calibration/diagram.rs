//! The reliability diagram: nominal against observed frequency.

use serde::{Deserialize, Serialize};

use super::chance::{frequency_band, kolmogorov_p_value};
use super::counts::PitCounts;
use super::pit::each_pit;
use crate::error::Result;
use crate::score::block::Sum;
use crate::score::ranking::{Ranking, Run};
use crate::score::sample::Sample;

/// How often observations fall below the forecast's quantiles, against how often they should.
///
/// On the diagonal when calibrated. Above it on the left and below it on the right: sigma is too
/// small. The other way round: too large. All above: forecasts are too high.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityDiagram {
    /// Nominal probabilities, evenly spaced inside (0, 1).
    pub nominal: Vec<f64>,
    /// The share of observations at or below the quantile of each nominal probability.
    pub observed: Vec<f64>,
    /// The lower end of the range that chance leaves to a calibrated forecast, at each probability.
    pub low: Vec<f64>,
    /// Its upper end.
    pub high: Vec<f64>,
    /// The probability of that range at each single nominal probability.
    pub confidence: f64,
    /// The largest distance from the diagonal at any probability (Kolmogorov-Smirnov).
    pub largest_deviation: f64,
    /// The probability that chance alone makes a distance that large.
    pub p_value: f64,
}

impl ReliabilityDiagram {
    pub(crate) fn of_counts(
        counts: &PitCounts,
        levels: usize,
        rows: f64,
        confidence: f64,
        largest_deviation: f64,
    ) -> Result<Self> {
        super::check_probability("the confidence of a reliability diagram", confidence)?;
        let bins = counts.histogram(levels)?;
        let total = counts.total();
        let mut below = 0.0;
        let mut diagram = Self {
            nominal: Vec::new(),
            observed: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
            confidence,
            largest_deviation,
            p_value: kolmogorov_p_value(largest_deviation, rows),
        };
        for (k, count) in bins.iter().take(levels - 1).enumerate() {
            below += count;
            let nominal = (k + 1) as f64 / levels as f64;
            let (low, high) = frequency_band(rows, nominal, confidence);
            diagram.nominal.push(nominal);
            diagram.observed.push(below / total);
            diagram.low.push(low);
            diagram.high.push(high);
        }
        Ok(diagram)
    }
}

/// The diagram at the nominal probabilities 1/levels, 2/levels, … .
///
/// # Errors
/// A number of levels that does not divide [`PitCounts::FINE`], or a confidence outside (0, 1).
pub fn reliability_diagram(
    sample: &Sample,
    levels: usize,
    confidence: f64,
) -> Result<ReliabilityDiagram> {
    let pit = each_pit(sample);
    let counts = PitCounts::of(&pit, sample.weight());
    let deviation = largest_deviation(&pit, sample.weight());
    ReliabilityDiagram::of_counts(&counts, levels, sample.effective_rows(), confidence, deviation)
}

/// The largest distance between the distribution of `pit` and the uniform one, on either side of
/// every jump. From half a million rows on it is looked for at a million levels, and may be larger
/// by up to 1e-6.
pub(crate) fn largest_deviation(pit: &[f64], weight: Option<&[f64]>) -> f64 {
    if pit.len() >= MANY {
        return largest_of_levels(pit, weight);
    }
    let mut ranking = Ranking::default();
    ranking.sort(pit);
    let add_run = |mut sum: Sum, run: Run| {
        match weight {
            None => sum.add((run.to - run.from) as f64),
            Some(weight) => {
                (run.from..run.to).for_each(|position| sum.add(weight[ranking.row(position)]));
            }
        }
        sum
    };
    let total = ranking.runs(pit).fold(Sum::default(), add_run).value();
    let (mut before, mut largest) = (Sum::default(), 0f64);
    for run in ranking.runs(pit) {
        let after = add_run(before, run);
        let (low, high) = (before.value() / total, after.value() / total);
        largest = largest.max((run.value - low).abs()).max((run.value - high).abs());
        before = after;
    }
    largest
}

/// From this many rows on, putting them in order takes longer than it is worth.
const MANY: usize = 500_000;

fn largest_of_levels(pit: &[f64], weight: Option<&[f64]>) -> f64 {
    const LEVELS: usize = 1 << 20;
    let mut counts = vec![0.0; LEVELS];
    for (row, u) in pit.iter().enumerate() {
        let level = ((u * LEVELS as f64) as usize).min(LEVELS - 1);
        counts[level] += weight.map_or(1.0, |w| w[row]);
    }
    let total: f64 = counts.iter().sum();
    let (mut below, mut largest) = (0.0, 0f64);
    for (k, count) in counts.iter().enumerate() {
        below += count;
        largest = largest.max((below / total - (k + 1) as f64 / LEVELS as f64).abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_find_what_jumps_find() {
        let pit: Vec<f64> = (0..5000).map(|i| (f64::from(i) / 5000.0).powf(1.1)).collect();
        let weight: Vec<f64> = (0..5000).map(|i| f64::from(i % 3)).collect();
        for weight in [None, Some(&weight[..])] {
            let (jumps, levels) =
                (largest_deviation(&pit, weight), largest_of_levels(&pit, weight));
            // A jump is at most 2 in 5000.
            assert!(levels <= jumps + 1e-12 && jumps - levels < 1e-6 + 2.0 / 5000.0);
        }
    }
}
