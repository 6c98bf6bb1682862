//! Rows that resemble their neighbours, in a table that does not say so.

use crate::data::Data;
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
    let groups = data.group().map_or(0, |group| group.labels.len());
    if data.together().is_some() || groups >= LEAST_GROUPS {
        return None;
    }
    let mean = data.error().iter().map(|e| e.abs() / data.rows() as f64).sum::<f64>();
    let sigma = vec![mean.max(f64::MIN_POSITIVE); data.rows()];
    let found = dependence(&Sample::new(data.error(), &sigma).ok()?)?;
    (!found.of_sizes || !in_order_of_an_input(data)).then_some(found)
}

fn in_order_of_an_input(data: &Data) -> bool {
    let columns = data.columns();
    (0..columns).any(|column| {
        let values = || data.inputs().iter().skip(column).step_by(columns);
        let ordered = |sign: f64| {
            values()
                .zip(values().skip(1))
                .all(|(a, b)| a.is_nan() || b.is_nan() || sign * a <= sign * b)
        };
        let varies = values().any(|x| Some(x) != values().next());
        varies && (ordered(1.0) || ordered(-1.0))
    })
}

/// For each row the block of so many that it belongs to.
pub(super) fn blocks(rows: usize, block: usize) -> Vec<u32> {
    (0..rows).map(|row| (row / block.max(1)) as u32).collect()
}
