//! Rows in the order of their probabilities, those of the same probability together.

use super::sample::EventSample;

/// Rows of one probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tie {
    pub(super) probability: f64,
    /// The weight of its rows,
    pub(super) weight: f64,
    /// and of those in which the event happened.
    pub(super) events: f64,
}

/// Rows in the order of their probabilities.
pub(super) struct Sorted {
    /// From the smallest probability to the largest; rows without weight are left out.
    pub(super) ties: Vec<Tie>,
    /// The tie of each row; none where it has no weight.
    pub(super) tie_of: Vec<u32>,
    pub(super) weight: f64,
    pub(super) events: f64,
}

impl Sorted {
    pub(super) fn of(sample: &EventSample, weights: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..sample.len() as u32).collect();
        order.retain(|&row| weights[row as usize] > 0.0);
        // The row decides among equals, so that sums are added up in one order.
        order.sort_unstable_by(|&a, &b| {
            let by = sample.probability[a as usize].total_cmp(&sample.probability[b as usize]);
            by.then(a.cmp(&b))
        });
        let mut ties: Vec<Tie> = Vec::new();
        let mut tie_of = vec![u32::MAX; sample.len()];
        for &row in &order {
            let row = row as usize;
            // Minus zero is zero.
            let probability = sample.probability[row] + 0.0;
            if ties.last().is_none_or(|tie| tie.probability != probability) {
                ties.push(Tie { probability, weight: 0.0, events: 0.0 });
            }
            tie_of[row] = (ties.len() - 1) as u32;
            if let Some(tie) = ties.last_mut() {
                tie.weight += weights[row];
                tie.events += if sample.happened[row] { weights[row] } else { 0.0 };
            }
        }
        let weight = ties.iter().map(|tie| tie.weight).sum();
        let events = ties.iter().map(|tie| tie.events).sum();
        Self { ties, tie_of, weight, events }
    }

    pub(super) fn base_rate(&self) -> f64 {
        self.events / self.weight
    }
}
