//! Rows that follow each other in time: all of them, or those of each group where several rows share a
//! moment.

use super::{Order, Subject};

/// The rows of one series, in the order of time.
pub(super) struct Track<'a> {
    /// The group that it is; none where all rows are one series.
    pub(super) name: Option<&'a str>,
    pub(super) rows: Vec<u32>,
}

/// Every series of a table.
pub(super) struct Tracks<'a> {
    pub(super) all: Vec<Track<'a>>,
    /// Whether rows of one series share moments nevertheless.
    pub(super) crowded: bool,
}

/// Whether more than a tenth of some rows share their moment with another: a clock that is set back once
/// a year makes no second series.
fn is_crowded(moments: usize, rows: usize) -> bool {
    10 * moments < 9 * rows
}

impl<'a> Tracks<'a> {
    /// The series of rows that count, where there is a time.
    pub(super) fn of(subject: &Subject<'a>) -> Option<Self> {
        let Order::Time { values: time, .. } = subject.order else { return None };
        let counts = |&row: &u32| subject.weight.is_none_or(|weight| weight[row as usize] > 0.0);
        let rows: Vec<u32> = (0..time.len() as u32).filter(counts).collect();
        let moments = moments(&rows, time).count();
        let groups = subject.groups.filter(|_| is_crowded(moments, rows.len()));
        let Some(groups) = groups else {
            let crowded = is_crowded(moments, rows.len());
            return Some(Self { all: vec![Track { name: None, rows }], crowded });
        };
        let mut all: Vec<Track<'a>> = groups
            .labels
            .iter()
            .map(|label| Track { name: Some(label), rows: Vec::new() })
            .collect();
        let count = rows.len();
        for row in rows {
            all[groups.rows[row as usize] as usize].rows.push(row);
        }
        all.retain(|track| !track.rows.is_empty());
        let apart = all.iter().map(|track| self::moments(&track.rows, time).count()).sum();
        Some(Self { all, crowded: is_crowded(apart, count) })
    }
}

/// Rows of the same time together.
pub(super) fn moments<'r>(rows: &'r [u32], time: &[f64]) -> impl Iterator<Item = &'r [u32]> {
    rows.chunk_by(|&a, &b| time[a as usize] == time[b as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Groups;

    #[test]
    fn groups_are_series_where_rows_share_moments() {
        let labels = ["a".to_string(), "b".to_string(), "none".to_string()];
        let (time, rows) = ([1.0, 1.0, 2.0, 2.0, 3.0], [0, 1, 1, 0, 0]);
        let groups = Groups { name: "g", labels: &labels, rows: &rows };
        let order = |values| Order::Time { name: "t", values, dates: false };
        let of = |subject: &Subject<'_>| -> (Vec<Vec<u32>>, bool) {
            let tracks = Tracks::of(subject).unwrap();
            (tracks.all.into_iter().map(|track| track.rows).collect(), tracks.crowded)
        };
        let mut subject =
            Subject { order: order(&time), groups: Some(groups), ..Subject::default() };
        assert_eq!(of(&subject), (vec![vec![0, 3, 4], vec![1, 2]], false));
        subject.weight = Some(&[1.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!(of(&subject), (vec![vec![0, 3, 4], vec![2]], false));
        (subject.weight, subject.groups) = (None, None);
        assert_eq!(of(&subject), (vec![vec![0, 1, 2, 3, 4]], true));
        (subject.order, subject.groups) = (order(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(groups));
        assert_eq!(of(&subject), (vec![vec![0, 1, 2, 3, 4]], false));
        assert!(Tracks::of(&Subject::default()).is_none());
    }
}
