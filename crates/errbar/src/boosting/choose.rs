//! Which question lowers a cost most, from nothing but sums over rows.

use super::bins::{Bins, Tally};
use super::slopes::{Pair, Scale};
use super::symmetric::{MOST_SPLITS, Split, Symmetric};

/// How large a tree may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most questions.
    pub(crate) depth: usize,
    /// Every leaf counts as if so many rows more, of the mean curvature, wanted no step: a few rows say little.
    pub(crate) prior_rows: f64,
}

/// The sums of the slopes of some rows by column and code, `W` for each column.
pub(crate) type Histogram<const W: usize> = Vec<[i64; W]>;

/// What is known of the rows that have given the same answers so far.
pub(crate) struct LeafSums<const W: usize> {
    pub(crate) sums: Histogram<W>,
    pub(crate) total: Pair,
}

/// Chooses questions.
#[derive(Clone, Copy)]
pub(crate) struct Chooser<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) tally: &'a Tally,
    pub(crate) limits: Limits,
    pub(crate) scale: Scale,
}

/// A tree whose leaves have no steps yet.
pub(crate) struct Sketch<const W: usize> {
    splits: Vec<Split>,
    pub(crate) leaves: Vec<LeafSums<W>>,
}

/// What comes after a question.
pub(crate) enum Next {
    /// The leaves are to be parted by it.
    Part(Split),
    /// It was the last one, or there is none that helps: the tree is whole.
    Whole(Symmetric),
}

/// Where to ask.
#[derive(Clone, Copy)]
struct Place {
    gain: f64,
    split: Split,
}

impl<const W: usize> Sketch<W> {
    /// Of all rows together.
    pub(crate) fn new(root: LeafSums<W>) -> Self {
        Self { splits: Vec::new(), leaves: vec![root] }
    }

    /// Asks a further question.
    pub(crate) fn ask(&mut self, chooser: &Chooser) -> Next {
        let prior = chooser.prior();
        let depth = chooser.limits.depth.min(MOST_SPLITS);
        let split = match self.splits.len() < depth {
            true => chooser.place(&self.leaves, prior),
            false => None,
        };
        let Some(split) = split else {
            return self.whole(self.leaves.iter().map(|leaf| leaf.total), prior);
        };
        self.splits.push(split);
        if self.splits.len() < depth {
            return Next::Part(split);
        }
        // The sums of the last leaves are never asked for: those of the leaves before tell their steps.
        let sides = self.leaves.iter().map(|leaf| chooser.sides(leaf, split));
        let (left, right): (Vec<Pair>, Vec<Pair>) = sides.unzip();
        self.whole(left.into_iter().chain(right), prior)
    }

    fn whole(&self, totals: impl Iterator<Item = Pair>, prior: f64) -> Next {
        let step = |total: Pair| {
            let held = total.curvature + prior;
            if held > 0.0 { (-total.gradient / held) as f32 } else { 0.0 }
        };
        Next::Whole(Symmetric::new(self.splits.clone(), totals.map(step).collect()))
    }
}

impl<const W: usize> LeafSums<W> {
    pub(crate) fn of(sums: Histogram<W>, scale: &Scale) -> Self {
        // Every row is in one bin of the first column.
        let total = scale.read(sums[0].iter().sum());
        Self { sums, total }
    }

    /// Parts the sums, those of one side being known: the other is the rest.
    pub(crate) fn part(
        self,
        of_one: Histogram<W>,
        one_is_left: bool,
        scale: &Scale,
    ) -> (Self, Self) {
        let mut other = self.sums;
        let pairs = other.as_flattened_mut().iter_mut().zip(of_one.as_flattened());
        pairs.for_each(|(whole, part)| *whole -= part);
        let (left, right) = if one_is_left { (of_one, other) } else { (other, of_one) };
        (Self::of(left, scale), Self::of(right, scale))
    }
}

impl Chooser<'_> {
    /// What every leaf counts for beside its rows.
    fn prior(&self) -> f64 {
        self.limits.prior_rows * self.scale.mean_curvature()
    }

    /// Both sides of a leaf.
    pub(crate) fn sides<const W: usize>(&self, leaf: &LeafSums<W>, split: Split) -> (Pair, Pair) {
        let sums = &leaf.sums[split.column as usize];
        let (first, count) = split.beyond(self.bins);
        let beyond = |code: &usize| (*code as u8).wrapping_sub(first) < count;
        let right = self.scale.read((0..W).filter(beyond).map(|code| sums[code]).sum());
        (leaf.total.minus(right), right)
    }

    /// The question that lowers the cost most, if any does.
    fn place<const W: usize>(&self, leaves: &[LeafSums<W>], prior: f64) -> Option<Split> {
        let whole: f64 = leaves.iter().map(|leaf| leaf.total.fall(prior)).sum();
        // Differences of sums carry some rounding.
        let least = 1e-9 * whole;
        let mut best: Option<Place> = None;
        for column in 0..self.bins.columns() {
            let count = self.bins.count(column);
            let missing: i64 = leaves.iter().map(|leaf| leaf.sums[column][count]).sum();
            let some_missing = missing != 0;
            for missing_left in [false, true] {
                if missing_left && !some_missing {
                    continue;
                }
                let falls = self.falls(leaves, column, missing_left, prior);
                for (bin, fall) in falls[..count].iter().enumerate() {
                    let gain = fall - whole;
                    // A bin without rows gains as much as the one before it, but for rounding.
                    if gain > best.map_or(least, |best| best.gain * (1.0 + 1e-9)) {
                        let (column, bin) = (column as u32, bin as u8);
                        let split = Split { column, bin, missing_left };
                        best = Some(Place { gain, split });
                    }
                }
            }
        }
        let Place { mut split, .. } = best?;
        // What was never missing goes, if it is missing later, with most rows.
        let column = split.column as usize;
        if leaves.iter().all(|leaf| leaf.sums[column][self.bins.count(column)] == 0) {
            split.missing_left = self.tally.most_are_up_to(column, split.bin);
        }
        Some(split)
    }

    /// For each bin of a column, what all leaves together fall by when they are parted after it.
    fn falls<const W: usize>(
        &self,
        leaves: &[LeafSums<W>],
        column: usize,
        missing_left: bool,
        prior: f64,
    ) -> [f64; W] {
        let count = self.bins.count(column);
        let mut falls = [0.0; W];
        for leaf in leaves.iter().filter(|leaf| !leaf.total.is_nothing()) {
            let sums = &leaf.sums[column];
            let mut word = if missing_left { sums[count] } else { 0 };
            let fall = |word: i64| {
                let left = self.scale.read(word);
                left.fall(prior) + leaf.total.minus(left).fall(prior)
            };
            let mut last = fall(word);
            for (falls, sum) in falls[..count].iter_mut().zip(sums) {
                // Few rows fill few bins.
                if *sum != 0 {
                    word += sum;
                    last = fall(word);
                }
                *falls += last;
            }
        }
        falls
    }
}

impl Pair {
    /// Whether no row that counts is there.
    fn is_nothing(self) -> bool {
        self.gradient == 0.0 && self.curvature == 0.0
    }

    fn minus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            curvature: (self.curvature - other.curvature).max(0.0),
        }
    }

    /// Twice what the best step lowers the cost by.
    fn fall(self, prior: f64) -> f64 {
        let held = self.curvature + prior;
        if held > 0.0 { self.gradient * self.gradient / held } else { 0.0 }
    }
}
