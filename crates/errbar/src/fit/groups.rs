//! Whether groups decide which rows are held out.

use std::collections::HashSet;

use crate::data::{Group, Split};
use crate::folds::LEAST_GROUPS;

/// Why whole groups are not held out to judge models by, though rows belong to groups: a sentence, or
/// `None` when they are, or when there are no groups.
#[must_use]
pub fn groups_not_held_out(group: Option<&Group>, split: Split) -> Option<String> {
    let groups = group?.rows.iter().collect::<HashSet<_>>().len();
    match split {
        Split::InOrder => Some("rows are held out in the order of time, not whole groups".into()),
        Split::Random if groups < LEAST_GROUPS => Some(format!(
            "{groups} groups are fewer than {LEAST_GROUPS}: they are taken as categories that new rows \
             belong to as well, and rows are held out whatever their group, not whole groups"
        )),
        Split::Random => None,
    }
}
