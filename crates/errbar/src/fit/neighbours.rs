//! Rows that resemble their neighbours, in a table that does not say so.

use crate::data::{Data, Group};
use crate::folds::LEAST_GROUPS;
use crate::score::Sample;
use crate::score::bootstrap::{Dependence, dependence};

/// Whether neighbouring errors resemble each other, by the measure that scores are drawn by too: then
/// rows held out one by one would be known from their neighbours before they are judged. `None` where
/// they look independent, and where it is said already what belongs together.
///
/// Where the rows are in the order of an input, sizes that go together may be what that input says
/// about sigma.
pub(super) fn dependent(data: &Data) -> Option<Dependence> {
    if data.together().is_some() || data.group().is_some_and(are_apart) {
        return None;
    }
    let mut course = Course::new(data.columns());
    course.add(data.inputs());
    of_errors(data.error(), &course)
}

/// Whether groups say what belongs together.
pub(super) fn are_apart(group: &Group) -> bool {
    group.labels.len() >= LEAST_GROUPS
}

/// The same for errors of rows whose inputs went by.
pub(super) fn of_errors(error: &[f64], course: &Course) -> Option<Dependence> {
    let mean = error.iter().map(|e| e.abs() / error.len() as f64).sum::<f64>();
    let sigma = vec![mean.max(f64::MIN_POSITIVE); error.len()];
    let found = dependence(&Sample::new(error, &sigma).ok()?)?;
    (!found.of_sizes || !course.is_in_order_of_an_input()).then_some(found)
}

/// What is known of the order of rows whose inputs go by.
pub(super) struct Course {
    columns: Vec<Seen>,
}

/// The values of an input that have gone by.
#[derive(Clone)]
struct Seen {
    first: f64,
    last: f64,
    varies: bool,
    rises: bool,
    falls: bool,
}

impl Course {
    pub(super) fn new(columns: usize) -> Self {
        let none =
            Seen { first: f64::NAN, last: f64::NAN, varies: false, rises: true, falls: true };
        Self { columns: vec![none; columns] }
    }

    /// Further rows.
    pub(super) fn add(&mut self, inputs: &[f64]) {
        let count = self.columns.len();
        for (column, seen) in self.columns.iter_mut().enumerate() {
            for &x in inputs.iter().skip(column).step_by(count) {
                if seen.first.is_nan() {
                    seen.first = x;
                }
                seen.varies |= x.is_nan() || x != seen.first;
                // A gap comes neither before nor after another value.
                let gap = x.is_nan() || seen.last.is_nan();
                seen.rises &= gap || x >= seen.last;
                seen.falls &= gap || x <= seen.last;
                seen.last = x;
            }
        }
    }

    fn is_in_order_of_an_input(&self) -> bool {
        self.columns.iter().any(|seen| seen.varies && (seen.rises || seen.falls))
    }
}

/// For each row the block of so many that it belongs to.
pub(super) fn blocks(rows: usize, block: usize) -> Vec<u32> {
    (0..rows).map(|row| (row / block.max(1)) as u32).collect()
}
