//! Grows a symmetric tree: the questions whose answers, all together, lower a cost most.

use rayon::prelude::*;

use super::bins::{Bins, Codes};
use super::choose::{Chooser, Histogram, LeafSums, Limits, Next, Sketch};
use super::slopes::Slopes;
use super::symmetric::{Split, Symmetric};

/// What trees are grown on.
pub(crate) struct Grower<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) codes: &'a Codes,
    pub(crate) limits: Limits,
}

/// From this many rows on, a histogram is shared out to threads.
const PARALLEL_FROM: usize = 1 << 16;
/// Rows that one thread then takes at a time.
const CHUNK: usize = 1 << 14;
/// Columns whose sums fit the nearest cache together.
const COLUMNS_AT_ONCE: usize = 32;

impl Grower<'_> {
    /// A tree for some of the rows, which are put into another order, with the slopes of all rows.
    pub(crate) fn grow(&self, rows: &mut [u32], slopes: &Slopes) -> Symmetric {
        match width(self.codes.most()) {
            64 => self.grow_of::<64>(rows, slopes),
            128 => self.grow_of::<128>(rows, slopes),
            _ => self.grow_of::<256>(rows, slopes),
        }
    }

    fn grow_of<const W: usize>(&self, rows: &mut [u32], slopes: &Slopes) -> Symmetric {
        let (scale, limits) = (slopes.scale(), self.limits);
        let chooser = Chooser { bins: self.bins, tally: self.codes.tally(), limits, scale };
        let root = LeafSums::of(self.histogram::<W>(rows, slopes), &scale);
        let mut sketch = Sketch::new(root);
        let mut of_leaves = vec![rows];
        loop {
            match sketch.ask(&chooser) {
                Next::Whole(tree) => return tree,
                Next::Part(split) => {
                    (of_leaves, sketch.leaves) =
                        self.split(of_leaves, std::mem::take(&mut sketch.leaves), split, slopes);
                }
            }
        }
    }

    fn histogram<const W: usize>(&self, rows: &[u32], slopes: &Slopes) -> Histogram<W> {
        let none = || vec![[0; W]; self.bins.columns()];
        if rows.len() < PARALLEL_FROM || rayon::current_num_threads() == 1 {
            let mut sums = none();
            add(self.codes, rows, slopes, &mut sums);
            return sums;
        }
        let chunk = |mut sums: Histogram<W>, rows: &[u32]| {
            add(self.codes, rows, slopes, &mut sums);
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

    /// Parts every leaf: first all of those that answer no, then those that answer yes.
    #[allow(clippy::type_complexity)] // rows and sums, side by side
    fn split<'r, const W: usize>(
        &self,
        rows: Vec<&'r mut [u32]>,
        leaves: Vec<LeafSums<W>>,
        split: Split,
        slopes: &Slopes,
    ) -> (Vec<&'r mut [u32]>, Vec<LeafSums<W>>) {
        let codes = self.codes.column(split.column as usize);
        let (beyond, scale) = (split.beyond(self.bins), slopes.scale());
        // Of few rows, all by one thread.
        let at_once = if self.codes.rows() < PARALLEL_FROM { leaves.len() } else { 1 };
        let both = rows.into_par_iter().zip(leaves).with_min_len(at_once);
        let sides = both.map(|(rows, leaf)| {
            let middle = partition(rows, codes, beyond);
            let (left, right) = rows.split_at_mut(middle);
            let left_is_smaller = left.len() <= right.len();
            let smaller = self.histogram::<W>(if left_is_smaller { left } else { right }, slopes);
            let (of_left, of_right) = leaf.part(smaller, left_is_smaller, &scale);
            ((left, of_left), (right, of_right))
        });
        let (left, right): (Vec<_>, Vec<_>) = sides.unzip();
        left.into_iter().chain(right).unzip()
    }
}

/// How many codes a histogram has room for, where there are codes up to this one.
pub(crate) fn width(most: usize) -> usize {
    match most {
        0..64 => 64,
        64..128 => 128,
        _ => 256,
    }
}

/// Adds rows to a histogram.
pub(crate) fn add<const W: usize>(
    codes: &Codes,
    rows: &[u32],
    slopes: &Slopes,
    sums: &mut [[i64; W]],
) {
    for (nth, sums) in sums.chunks_mut(COLUMNS_AT_ONCE).enumerate() {
        let from = nth * COLUMNS_AT_ONCE;
        for &row in rows {
            let word = slopes.word(row);
            let codes = &codes.row(row as usize)[from..from + sums.len()];
            for (sums, code) in sums.iter_mut().zip(codes) {
                sums[usize::from(*code) & (W - 1)] += word;
            }
        }
    }
}

/// Moves the rows whose code lies beyond to the end, and says how many come before them. Both sides keep their
/// order.
pub(crate) fn partition(rows: &mut [u32], codes: &[u8], (first, count): (u8, u8)) -> usize {
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
