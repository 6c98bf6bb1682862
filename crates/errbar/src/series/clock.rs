//! What is known when.

use super::Span;

/// The moments of a table, and when what is observed at them becomes known.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    delay: Span,
    /// Distinct times, in order.
    moments: Vec<f64>,
}

impl Clock {
    /// Of all the times there are, in any order.
    #[must_use]
    pub fn new(delay: Span, times: impl IntoIterator<Item = f64>) -> Self {
        let mut moments: Vec<f64> = times.into_iter().filter(|time| time.is_finite()).collect();
        moments.sort_unstable_by(f64::total_cmp);
        moments.dedup();
        Self { delay, moments }
    }

    /// The latest time whose observations are known at a moment.
    #[must_use]
    pub fn known(&self, time: f64) -> f64 {
        match self.delay {
            Span::Time(delay) => time - delay,
            Span::Moments(delay) => {
                let place = self.moments.partition_point(|moment| *moment < time);
                match place.checked_sub(delay as usize) {
                    Some(known) => self.moments[known],
                    None => f64::NEG_INFINITY,
                }
            }
        }
    }

    /// The latest moments, as many as those that come next may have to count back.
    pub(crate) fn latest(&self) -> &[f64] {
        let kept = match self.delay {
            Span::Time(_) => 1,
            Span::Moments(delay) => delay as usize + 1,
        };
        &self.moments[self.moments.len().saturating_sub(kept)..]
    }
}
