//! Grows a symmetric tree: the questions whose answers, all together, lower a cost most.

use rayon::prelude::*;

use super::bins::{Bins, Codes};
use super::slopes::{Pair, Slopes};
use super::symmetric::{MOST_SPLITS, Split, Symmetric};

/// How large a tree may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most questions.
    pub(crate) depth: usize,
    /// Every leaf counts as if so many rows more, of the mean curvature, wanted no step: a few rows say little.
    pub(crate) prior_rows: f64,
}

/// What trees are grown on.
pub(crate) struct Grower<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) codes: &'a Codes,
    pub(crate) limits: Limits,
}

/// The sums of the slopes of some rows by column and code, `W` for each column.
type Histogram<const W: usize> = Vec<[i64; W]>;

/// From this many rows on, a histogram is shared out to threads.
const PARALLEL_FROM: usize = 1 << 16;
/// Rows that one thread then takes at a time.
const CHUNK: usize = 1 << 14;
/// Columns whose sums fit the nearest cache together.
const COLUMNS_AT_ONCE: usize = 32;

/// Rows that have given the same answers so far.
struct Leaf<'r, const W: usize> {
    rows: &'r mut [u32],
    sums: Histogram<W>,
    total: Pair,
}

/// Where to ask.
#[derive(Clone, Copy)]
struct Place {
    gain: f64,
    split: Split,
}

impl Grower<'_> {
    /// A tree for some of the rows, which are put into another order, with the slopes of all rows.
    pub(crate) fn grow(&self, rows: &mut [u32], slopes: &Slopes) -> Symmetric {
        match self.codes.most() {
            0..64 => self.grow_of::<64>(rows, slopes),
            64..128 => self.grow_of::<128>(rows, slopes),
            _ => self.grow_of::<256>(rows, slopes),
        }
    }

    fn grow_of<const W: usize>(&self, rows: &mut [u32], slopes: &Slopes) -> Symmetric {
        let prior = self.limits.prior_rows * slopes.mean_curvature();
        let mut splits = Vec::new();
        let sums = self.histogram::<W>(rows, slopes);
        let mut leaves = vec![Leaf::of(rows, sums, slopes)];
        let depth = self.limits.depth.min(MOST_SPLITS);
        // The sums of the last leaves are never asked for: those of the leaves before tell their steps.
        let mut steps = None;
        while splits.len() < depth && steps.is_none() {
            let Some(Place { split, .. }) = self.place(&leaves, slopes, prior) else { break };
            splits.push(split);
            if splits.len() == depth {
                let sides = leaves.iter().map(|leaf| self.sides(leaf, split, slopes));
                let (left, right): (Vec<Pair>, Vec<Pair>) = sides.unzip();
                steps = Some([left, right].concat());
                break;
            }
            leaves = self.split(leaves, split, slopes);
        }
        let totals =
            steps.unwrap_or_else(|| leaves.iter().map(|leaf| leaf.total).collect::<Vec<Pair>>());
        let step = |total: &Pair| {
            let held = total.curvature + prior;
            if held > 0.0 { (-total.gradient / held) as f32 } else { 0.0 }
        };
        Symmetric::new(splits, totals.iter().map(step).collect())
    }

    fn histogram<const W: usize>(&self, rows: &[u32], slopes: &Slopes) -> Histogram<W> {
        let none = || vec![[0; W]; self.bins.columns()];
        if rows.len() < PARALLEL_FROM || rayon::current_num_threads() == 1 {
            let mut sums = none();
            self.add(rows, slopes, &mut sums);
            return sums;
        }
        let chunk = |mut sums: Histogram<W>, rows: &[u32]| {
            self.add(rows, slopes, &mut sums);
            sums
        };
        // Whole numbers: however they are added, the sums are the same.
        let merge = |mut sums: Histogram<W>, others: Histogram<W>| {
            let pairs = sums.as_flattened_mut().iter_mut().zip(others.as_flattened());
            pairs.for_each(|(sum, other)| *sum += other);
            sums
        };
        rows.par_chunks(CHUNK).fold(none, chunk).reduce(none, merge)
    }

    /// Adds rows to a histogram.
    fn add<const W: usize>(&self, rows: &[u32], slopes: &Slopes, sums: &mut [[i64; W]]) {
        for (nth, sums) in sums.chunks_mut(COLUMNS_AT_ONCE).enumerate() {
            let from = nth * COLUMNS_AT_ONCE;
            for &row in rows {
                let word = slopes.word(row);
                let codes = &self.codes.row(row as usize)[from..from + sums.len()];
                for (sums, code) in sums.iter_mut().zip(codes) {
                    sums[usize::from(*code) & (W - 1)] += word;
                }
            }
        }
    }

    /// Parts every leaf: first all of those that answer no, then those that answer yes.
    fn split<'r, const W: usize>(
        &self,
        leaves: Vec<Leaf<'r, W>>,
        split: Split,
        slopes: &Slopes,
    ) -> Vec<Leaf<'r, W>> {
        let codes = self.codes.column(split.column as usize);
        let beyond = split.beyond(self.bins);
        // Of few rows, all by one thread.
        let at_once = if self.codes.rows() < PARALLEL_FROM { leaves.len() } else { 1 };
        let sides = leaves.into_par_iter().with_min_len(at_once).map(|leaf| {
            let Leaf { rows, sums: mut larger, .. } = leaf;
            let middle = partition(rows, codes, beyond);
            let (left, right) = rows.split_at_mut(middle);
            let left_is_smaller = left.len() <= right.len();
            let smaller = self.histogram::<W>(if left_is_smaller { left } else { right }, slopes);
            // The larger side is the rest.
            let pairs = larger.as_flattened_mut().iter_mut().zip(smaller.as_flattened());
            pairs.for_each(|(whole, part)| *whole -= part);
            let (of_left, of_right) =
                if left_is_smaller { (smaller, larger) } else { (larger, smaller) };
            (Leaf::of(left, of_left, slopes), Leaf::of(right, of_right, slopes))
        });
        let (left, right): (Vec<Leaf<W>>, Vec<Leaf<W>>) = sides.unzip();
        left.into_iter().chain(right).collect()
    }

    /// Both sides of a leaf.
    fn sides<const W: usize>(&self, leaf: &Leaf<W>, split: Split, slopes: &Slopes) -> (Pair, Pair) {
        let sums = &leaf.sums[split.column as usize];
        let (first, count) = split.beyond(self.bins);
        let beyond = |code: &usize| (*code as u8).wrapping_sub(first) < count;
        let right = slopes.read((0..W).filter(beyond).map(|code| sums[code]).sum());
        (leaf.total.minus(right), right)
    }

    /// The question that lowers the cost most, if any does.
    fn place<const W: usize>(
        &self,
        leaves: &[Leaf<W>],
        slopes: &Slopes,
        prior: f64,
    ) -> Option<Place> {
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
                let falls = self.falls(leaves, column, missing_left, slopes, prior);
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
        let mut best = best?;
        // What was never missing goes, if it is missing later, with most rows.
        let column = best.split.column as usize;
        if leaves.iter().all(|leaf| leaf.sums[column][self.bins.count(column)] == 0) {
            best.split.missing_left = self.codes.most_are_up_to(column, best.split.bin);
        }
        Some(best)
    }

    /// For each bin of a column, what all leaves together fall by when they are parted after it.
    fn falls<const W: usize>(
        &self,
        leaves: &[Leaf<W>],
        column: usize,
        missing_left: bool,
        slopes: &Slopes,
        prior: f64,
    ) -> [f64; W] {
        let count = self.bins.count(column);
        let mut falls = [0.0; W];
        for leaf in leaves.iter().filter(|leaf| !leaf.rows.is_empty()) {
            let sums = &leaf.sums[column];
            let mut word = if missing_left { sums[count] } else { 0 };
            let fall = |word: i64| {
                let left = slopes.read(word);
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

impl<'r, const W: usize> Leaf<'r, W> {
    fn of(rows: &'r mut [u32], sums: Histogram<W>, slopes: &Slopes) -> Self {
        // Every row is in one bin of the first column.
        let total = slopes.read(sums[0].iter().sum());
        Self { rows, sums, total }
    }
}

impl Pair {
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

/// Moves the rows whose code lies beyond to the end, and says how many come before them. Both sides keep their
/// order.
fn partition(rows: &mut [u32], codes: &[u8], (first, count): (u8, u8)) -> usize {
    let mut beyond = vec![0; rows.len()];
    let (mut kept, mut moved) = (0, 0);
    // No branch: which way a row goes, no processor can guess.
    for at in 0..rows.len() {
        let row = rows[at];
        let goes = codes[row as usize].wrapping_sub(first) < count;
        (rows[kept], beyond[moved]) = (row, row);
        kept += usize::from(!goes);
        moved += usize::from(goes);
    }
    rows[kept..].copy_from_slice(&beyond[..moved]);
    kept
}
