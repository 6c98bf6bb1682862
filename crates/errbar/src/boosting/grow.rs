//! Grows a tree: the steps, constant on boxes, that lower a cost most.

use std::ops::Range;

use super::bins::{Bins, Codes};
use super::tree::{Node, Tree};

/// What a row, or the rows of a bin or a leaf together, say about the step they want.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Slope {
    /// The slope of the cost.
    pub(crate) gradient: f64,
    /// A bound on its curvature.
    pub(crate) curvature: f64,
    /// The weight, as a number of rows.
    pub(crate) weight: f64,
}

impl Slope {
    fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.curvature += other.curvature;
        self.weight += other.weight;
    }

    fn minus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            curvature: self.curvature - other.curvature,
            weight: self.weight - other.weight,
        }
    }

    /// The best step, $-g/h$.
    fn step(self) -> f64 {
        if self.curvature > 0.0 { -self.gradient / self.curvature } else { 0.0 }
    }

    /// Twice what the best step lowers the cost by, $g^2/h$.
    fn fall(self) -> f64 {
        -self.gradient * self.step()
    }
}

/// How large a tree may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most leaves.
    pub(crate) leaves: usize,
    /// The most splits from the root to a leaf.
    pub(crate) depth: usize,
    /// The least weight of a leaf, as a number of rows.
    pub(crate) least: f64,
    /// What a split must gain, in units of what one of a few rows at random does.
    pub(crate) least_gain: f64,
}

/// What trees are grown on.
pub(crate) struct Grower<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) codes: &'a Codes,
    pub(crate) limits: Limits,
}

/// Where to split a leaf.
#[derive(Debug, Clone, Copy)]
struct Place {
    gain: f64,
    column: usize,
    bin: u8,
    missing_left: bool,
}

/// A part of the rows: a leaf, or a split with its two parts.
struct GrowingNode {
    /// A range of all rows, in their present order.
    rows: Range<usize>,
    depth: usize,
    total: Slope,
    /// The sums of every bin, column after column; only a leaf needs them.
    sums: Vec<Slope>,
    /// The best split of a leaf, if there is one.
    place: Option<Place>,
    /// The split it became, and its left part; the right one comes next.
    split: Option<(Place, usize)>,
}

impl Grower<'_> {
    /// A tree for some of the rows, which are put into another order, with the slopes of all rows.
    /// The leaf that gains most is split first.
    pub(crate) fn grow(&self, rows: &mut [u32], slopes: &[Slope]) -> Tree {
        let least_gain = self.limits.least_gain * chance(rows, slopes);
        let mut parts = vec![self.part(0..rows.len(), 0, self.sums(rows, slopes))];
        for _ in 1..self.limits.leaves {
            let gain = |part: &GrowingNode| part.place.map_or(0.0, |place| place.gain);
            let best = (0..parts.len())
                .fold(0, |best, at| if gain(&parts[at]) > gain(&parts[best]) { at } else { best });
            let next = parts.len();
            let part = &mut parts[best];
            let Some(place) = part.place.take().filter(|place| place.gain > least_gain) else {
                break;
            };
            part.split = Some((place, next));
            let whole = std::mem::take(&mut part.sums);
            let (range, depth) = (part.rows.clone(), part.depth + 1);
            let middle = range.start + self.partition(&mut rows[range.clone()], place);
            // The smaller side is summed, the larger one is the rest.
            let (left, right) = (range.start..middle, middle..range.end);
            let left_smaller = left.len() <= right.len();
            let smaller = if left_smaller { left.clone() } else { right.clone() };
            let one = self.sums(&rows[smaller], slopes);
            let rest = whole.iter().zip(&one).map(|(whole, one)| whole.minus(*one)).collect();
            let (left_sums, right_sums) = if left_smaller { (one, rest) } else { (rest, one) };
            parts.push(self.part(left, depth, left_sums));
            parts.push(self.part(right, depth, right_sums));
        }
        let mut nodes = Vec::with_capacity(parts.len());
        lay_out(&parts, 0, &mut nodes);
        Tree { nodes }
    }

    /// Places for the sums of one column: one for each bin, one for missing values.
    fn places(&self, column: usize) -> usize {
        self.bins.count(column) + 1
    }

    fn sums(&self, rows: &[u32], slopes: &[Slope]) -> Vec<Slope> {
        let columns = 0..self.bins.columns();
        let mut all = vec![Slope::default(); columns.clone().map(|c| self.places(c)).sum()];
        let slopes: Vec<Slope> = rows.iter().map(|&row| slopes[row as usize]).collect();
        let mut rest = &mut all[..];
        for column in columns {
            let (sums, others) = rest.split_at_mut(self.places(column));
            rest = others;
            let codes = self.codes.column(column);
            for (&row, slope) in rows.iter().zip(&slopes) {
                sums[usize::from(codes[row as usize])].add(*slope);
            }
        }
        all
    }

    /// Moves the rows that go left to the front, and says how many they are. Both sides keep their
    /// order, so that sums do not depend on how they came about.
    fn partition(&self, rows: &mut [u32], place: Place) -> usize {
        let codes = self.codes.column(place.column);
        let goes_left = |row: &u32| {
            self.bins.goes_left(place.column, codes[*row as usize], place.bin, place.missing_left)
        };
        let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| goes_left(row));
        rows[..left.len()].copy_from_slice(&left);
        rows[left.len()..].copy_from_slice(&right);
        left.len()
    }

    fn part(&self, rows: Range<usize>, depth: usize, sums: Vec<Slope>) -> GrowingNode {
        let mut total = Slope::default();
        sums[..self.places(0)].iter().for_each(|sum| total.add(*sum));
        let place = if depth < self.limits.depth { self.place(&sums, total) } else { None };
        GrowingNode { rows, depth, total, sums, place, split: None }
    }

    /// The split of greatest gain.
    fn place(&self, sums: &[Slope], total: Slope) -> Option<Place> {
        // Differences of sums carry some rounding.
        let least = self.limits.least.max(1e-6) * (1.0 - 1e-9);
        let whole = total.fall();
        let mut best: Option<Place> = None;
        let mut rest = sums;
        for column in 0..self.bins.columns() {
            let (sums, others) = rest.split_at(self.places(column));
            rest = others;
            let Some((missing, sums)) = sums.split_last() else { continue };
            let some_missing = missing.weight > 1e-6;
            for missing_first in [false, true] {
                if missing_first && !some_missing {
                    continue;
                }
                let mut left = if missing_first { *missing } else { Slope::default() };
                for (bin, sum) in sums.iter().enumerate() {
                    left.add(*sum);
                    let right = total.minus(left);
                    if left.weight < least || right.weight < least {
                        continue;
                    }
                    let gain = left.fall() + right.fall() - whole;
                    // A bin without rows gains as much as the one before it, but for rounding.
                    if gain > best.map_or(1e-12 * whole, |best| best.gain * (1.0 + 1e-9)) {
                        // What was never missing goes, if it is missing later, with most rows.
                        let missing_left =
                            if some_missing { missing_first } else { left.weight >= right.weight };
                        best = Some(Place { gain, column, bin: bin as u8, missing_left });
                    }
                }
            }
        }
        best
    }
}

/// What $g^2/h$ of a leaf would be on average if the slopes of its rows were noise.
fn chance(rows: &[u32], slopes: &[Slope]) -> f64 {
    let (mut squares, mut curvature) = (0.0, 0.0);
    for slope in rows.iter().map(|&row| slopes[row as usize]) {
        if slope.weight > 0.0 {
            squares += slope.gradient * slope.gradient / slope.weight;
            curvature += slope.curvature;
        }
    }
    if curvature > 0.0 { squares / curvature } else { 0.0 }
}

/// Parts as nodes: after a split its left side, then its right.
fn lay_out(parts: &[GrowingNode], at: usize, nodes: &mut Vec<Node>) {
    let Some((Place { column, bin, missing_left, .. }, left)) = parts[at].split else {
        nodes.push(Node::Leaf(parts[at].total.step() as f32));
        return;
    };
    let here = nodes.len();
    nodes.push(Node::Leaf(0.0)); // until the size of the left side is known
    lay_out(parts, left, nodes);
    let right = nodes.len() as u32;
    nodes[here] = Node::Split { column: column as u32, bin, missing_left, right };
    lay_out(parts, left + 1, nodes);
}
