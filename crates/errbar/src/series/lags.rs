//! Errors of earlier rows as inputs.

use std::collections::HashMap;

use super::{Clock, Span};

/// A row that has a place in time, and an error once it is observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lagged {
    /// The number of its group.
    pub group: u32,
    /// When it is.
    pub time: f64,
    /// Observation minus forecast; NaN where nothing was observed.
    pub error: f64,
}

/// The errors of one group: its moments, and the mean error at each (NaN where none was observed).
#[derive(Default)]
struct Errors {
    times: Vec<f64>,
    means: Vec<f64>,
}

impl Errors {
    fn of(mut rows: Vec<(f64, f64)>) -> Self {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut errors = Self::default();
        for moment in rows.chunk_by(|a, b| a.0 == b.0) {
            let observed = moment.iter().map(|(_, error)| *error).filter(|e| !e.is_nan());
            let (sum, count) = observed.fold((0.0, 0.0), |(sum, n), e| (sum + e, n + 1.0));
            errors.times.push(moment[0].0);
            errors.means.push(sum / count);
        }
        errors
    }

    /// The error so long before a moment, if it was known then.
    fn before(&self, time: f64, lag: Span, known: f64) -> f64 {
        let place = match lag {
            Span::Moments(moments) => {
                self.times.partition_point(|moment| *moment < time).checked_sub(moments as usize)
            }
            Span::Time(seconds) => {
                // Times of a calendar are whole seconds, or fractions that rounding may have moved.
                let (at, near) = (time - seconds, 1e-6 * seconds);
                let place = self.times.partition_point(|moment| *moment < at - near);
                self.times.get(place).filter(|moment| **moment <= at + near).map(|_| place)
            }
        };
        let known = place.filter(|&place| self.times[place] <= known);
        known.map_or(f64::NAN, |place| self.means[place])
    }
}

/// For each of some rows its lagged errors, one after another, as far as they were known at its time; NaN
/// where they were not. `rows` are all rows there are, the ones asked for among them.
#[must_use]
pub fn lagged(rows: &[Lagged], asked: &[Lagged], lags: &[Span], clock: &Clock) -> Vec<f64> {
    let mut groups: HashMap<u32, Vec<(f64, f64)>> = HashMap::new();
    for row in rows {
        groups.entry(row.group).or_default().push((row.time, row.error));
    }
    let groups: HashMap<u32, Errors> =
        groups.into_iter().map(|(group, rows)| (group, Errors::of(rows))).collect();
    let mut out = Vec::with_capacity(asked.len() * lags.len());
    for row in asked {
        let known = clock.known(row.time);
        let errors = groups.get(&row.group);
        out.extend(
            lags.iter()
                .map(|lag| errors.map_or(f64::NAN, |errors| errors.before(row.time, *lag, known))),
        );
    }
    out
}
