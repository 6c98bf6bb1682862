//! Which rows are held out together, while models of the others are judged by them.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::data::{Data, Group, Split, shuffled};

/// The order in which rows are held out, so many at a time.
///
/// In time the rows stay as they are. Otherwise the order is random, and where there are many groups
/// the rows of one stay together: they may resemble each other more than rows of other groups do, and
/// would be known before they are judged. So do rows that are to be held out together anyway.
pub(crate) struct Order {
    rows: Vec<usize>,
    /// Where groups end; without groups an end may be anywhere.
    ends: Option<Vec<usize>>,
    by_group: bool,
}

/// With fewer groups than this they are taken for categories, which new rows belong to as well: rows
/// of all of them are held out.
pub(crate) const LEAST_GROUPS: usize = 10;

impl Order {
    pub(crate) fn of(data: &Data, split: Split, seed: u64) -> Self {
        let rows = data.rows();
        let ends = |groups: &[Vec<usize>]| {
            let end = |end: &mut usize, group: &Vec<usize>| {
                *end += group.len();
                Some(*end)
            };
            Some(groups.iter().scan(0, end).collect())
        };
        if split == Split::InOrder {
            // Rows of one moment are neighbours already.
            let ends = data.together().and_then(|ids| ends(&runs(ids)));
            return Self { rows: (0..rows).collect(), ends, by_group: false };
        }
        let by_group = data.group().map(by_group).filter(|groups| groups.len() >= LEAST_GROUPS);
        let is_grouped = by_group.is_some();
        match by_group.or_else(|| data.together().map(runs)) {
            None => Self { rows: shuffled(rows, seed), ends: None, by_group: false },
            Some(mut groups) => {
                groups.shuffle(&mut Pcg64::seed_from_u64(seed));
                Self { rows: groups.concat(), ends: ends(&groups), by_group: is_grouped }
            }
        }
    }

    /// Whether rows of a group are held out together.
    pub(crate) fn by_group(&self) -> bool {
        self.by_group
    }

    /// The first place from here on where rows can be parted.
    pub(crate) fn end(&self, place: usize) -> usize {
        match &self.ends {
            Some(ends) if place > 0 => {
                ends.get(ends.partition_point(|end| *end < place)).copied().unwrap_or(place)
            }
            _ => place,
        }
    }

    /// The rows at some places (as whole groups where there are many), and all the others.
    pub(crate) fn held(&self, from: usize, to: usize) -> Fold {
        let (from, to) = (self.end(from), self.end(to));
        let mut held = self.rows[from..to].to_vec();
        let mut others = [&self.rows[..from], &self.rows[to..]].concat();
        held.sort_unstable();
        others.sort_unstable();
        Fold { held, others }
    }

    /// All rows in so many parts, each with the others. With groups a part may be empty.
    pub(crate) fn parts(&self, count: usize) -> impl Iterator<Item = Fold> {
        let rows = self.rows.len();
        (0..count).map(move |i| self.held(i * rows / count, (i + 1) * rows / count))
    }
}

/// Rows held out, and the others; both in their order.
pub(crate) struct Fold {
    pub(crate) held: Vec<usize>,
    pub(crate) others: Vec<usize>,
}

/// Neighbours with the same number.
fn runs(together: &[u32]) -> Vec<Vec<usize>> {
    let rows: Vec<usize> = (0..together.len()).collect();
    rows.chunk_by(|&a, &b| together[a] == together[b]).map(<[usize]>::to_vec).collect()
}

/// The rows of each group that has any.
fn by_group(group: &Group) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); group.labels.len()];
    group.rows.iter().enumerate().for_each(|(row, &group)| rows[group as usize].push(row));
    rows.retain(|rows| !rows.is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(groups: u32) -> Data<'static> {
        let x: Vec<f64> = (0..200).map(f64::from).collect();
        let data = Data::new(&x, 1, &x).unwrap().pick(&(0..200).collect::<Vec<usize>>());
        let group = Group {
            name: "g".into(),
            labels: (0..groups).map(|g| g.to_string()).collect(),
            rows: (0..200).map(|row| row * row % groups).collect(),
        };
        data.grouped(group).unwrap()
    }

    /// Every row once, and never beside the others.
    fn check(order: &Order, count: usize) -> Vec<Vec<usize>> {
        let mut all: Vec<usize> = Vec::new();
        let mut parts = Vec::new();
        for Fold { held, others } in order.parts(count) {
            assert!(held.iter().all(|row| others.binary_search(row).is_err()));
            assert_eq!(held.len() + others.len(), 200);
            all.extend(&held);
            parts.push(held);
        }
        all.sort_unstable();
        assert_eq!(all, (0..200).collect::<Vec<usize>>());
        parts
    }

    #[test]
    fn many_groups_are_held_out_whole() {
        let data = data(23);
        let order = Order::of(&data, Split::Random, 7);
        let group = &data.group().unwrap().rows;
        for part in check(&order, 5) {
            let inside = |row: &usize| part.binary_search(row).is_ok();
            for row in &part {
                assert!((0..200).filter(|&other| group[other] == group[*row]).all(|r| inside(&r)));
            }
        }
    }

    #[test]
    fn a_few_groups_are_in_every_part() {
        let data = data(3);
        let group = &data.group().unwrap().rows;
        for part in check(&Order::of(&data, Split::Random, 7), 5) {
            assert_eq!(part.len(), 40);
            let there = |label: u32| part.iter().any(|&row| group[row] == label);
            assert!(there(0) && there(1));
        }
    }

    #[test]
    fn in_time_neighbours_are_held_out_together() {
        let parts = check(&Order::of(&data(23), Split::InOrder, 7), 5);
        assert_eq!(parts[1], (40..80).collect::<Vec<usize>>());
    }
}
