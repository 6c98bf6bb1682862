//! Many trees at once: the sum of their steps for each of many rows.

use rayon::prelude::*;

use super::bins::{Bins, Codes};
use super::symmetric::Symmetric;
use super::tree::Tree;
use crate::math::{Arithmetic, Kernel, dispatch};

/// Rows that are asked at once: their codes stay in the nearest cache.
const ROWS: usize = 256;

/// The sum of the steps of all trees for each row of row-major inputs.
pub(crate) fn sums(bins: &Bins, free: &[Tree], trees: &[Symmetric], inputs: &[f64]) -> Vec<f64> {
    let columns = bins.columns();
    let block = |rows: &[f64]| {
        let count = rows.len() / columns;
        let mut by_row = vec![0; rows.len()];
        for (codes, row) in by_row.chunks_exact_mut(columns).zip(rows.chunks_exact(columns)) {
            bins.encode_row(row, codes);
        }
        let mut by_column = vec![0; rows.len()];
        for (column, codes) in by_column.chunks_exact_mut(count).enumerate() {
            let own = by_row.iter().skip(column).step_by(columns);
            codes.iter_mut().zip(own).for_each(|(code, own)| *code = *own);
        }
        let mut sums = vec![0.0; count];
        dispatch(Ask { bins, trees, codes: &by_column, factor: 1.0, sums: &mut sums });
        for (sum, codes) in sums.iter_mut().zip(by_row.chunks_exact(columns)) {
            free.iter().for_each(|tree| *sum += tree.step(bins, codes));
        }
        sums
    };
    inputs.par_chunks(ROWS * columns).flat_map_iter(block).collect()
}

/// Adds the step of one tree, times a factor, to each row.
pub(crate) fn add(bins: &Bins, tree: &Symmetric, codes: &Codes, factor: f64, sums: &mut [f64]) {
    let block = |(nth, sums): (usize, &mut [f64])| {
        let from = nth * CHUNK;
        let rows = from..from + sums.len();
        let mut places = [0; CHUNK];
        let places = &mut places[..sums.len()];
        dispatch(One { bins, tree, codes, rows, factor, places, sums });
    };
    const CHUNK: usize = 1024;
    match sums.len() {
        0..=65_536 => sums.chunks_mut(CHUNK).enumerate().for_each(block),
        _ => sums.par_chunks_mut(CHUNK).enumerate().for_each(block),
    }
}

/// All trees for a block of rows, whose codes lie column after column.
struct Ask<'a> {
    bins: &'a Bins,
    trees: &'a [Symmetric],
    codes: &'a [u8],
    factor: f64,
    sums: &'a mut [f64],
}

impl Kernel for Ask<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let rows = self.sums.len();
        let mut places = [0; ROWS];
        let places = &mut places[..rows];
        for tree in self.trees {
            let column = |column: usize| &self.codes[column * rows..(column + 1) * rows];
            tree.places(self.bins, column, places);
            tree.add_steps(places, self.factor, self.sums);
        }
    }
}

/// One tree for some of many rows.
struct One<'a> {
    bins: &'a Bins,
    tree: &'a Symmetric,
    codes: &'a Codes,
    rows: std::ops::Range<usize>,
    factor: f64,
    places: &'a mut [u8],
    sums: &'a mut [f64],
}

impl Kernel for One<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let column = |column: usize| &self.codes.column(column)[self.rows.clone()];
        self.tree.places(self.bins, column, self.places);
        self.tree.add_steps(self.places, self.factor, self.sums);
    }
}
