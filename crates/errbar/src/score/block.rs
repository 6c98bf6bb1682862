//! Sums over rows, block by block, merged in a fixed order.
//!
//! A block has a fixed number of rows whatever the number of threads, and every sum inside it runs
//! over the same lanes on every machine, so the bits of a result depend on the data alone.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::json::Number;

/// Rows in a block: a handful of columns of it fit the first-level cache.
pub(crate) const BLOCK: usize = 256;

/// From this many rows on, blocks are shared out to threads.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// Independent running sums inside a block: enough for two 512-bit or four 256-bit registers.
const LANES: usize = 16;

/// A sum kept as an unevaluated pair, so that adding up millions of blocks rounds about once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "(Number, Number)", into = "(Number, Number)")]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl From<(Number, Number)> for Sum {
    fn from((high, low): (Number, Number)) -> Self {
        Self { high: high.into(), low: low.into() }
    }
}

impl From<Sum> for (Number, Number) {
    fn from(sum: Sum) -> Self {
        (sum.high.into(), sum.low.into())
    }
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let (high, low) = two_sum(self.high, value);
        self.high = high;
        // Beyond the largest double the residual is NaN; the sum itself says what happened.
        if high.is_finite() {
            self.low += low;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.high);
        self.add(other.low);
    }

    pub(crate) fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The pair, to be sent elsewhere.
    pub(crate) fn parts(self) -> (f64, f64) {
        (self.high, self.low)
    }

    /// A pair that came from elsewhere.
    pub(crate) fn of_parts(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// $(\text{sum} - c d)$ for a constant given as a pair, with one rounding where it cancels.
    pub(crate) fn minus_product(self, c: (f64, f64), d: f64) -> f64 {
        let product = c.0 * d;
        let residual = c.0.mul_add(d, -product) + c.1 * d;
        (self.high - product) + (self.low - residual)
    }
}

/// a + b exactly, as the rounded sum and what was rounded away (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The sum of a short run of values over fixed lanes.
#[inline(always)]
pub(crate) fn lane_sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += value;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// The weighted sum of a short run of terms, which it overwrites. A row of weight zero does not
/// count even where its term is infinite.
#[inline(always)]
pub(crate) fn weighted_sum(terms: &mut [f64], weight: Option<&[f64]>) -> f64 {
    if let Some(weight) = weight {
        for (term, &weight) in terms.iter_mut().zip(weight) {
            *term = if weight > 0.0 { *term * weight } else { 0.0 };
        }
    }
    lane_sum(terms)
}

/// The rows of block number `block` out of `rows`.
pub(crate) fn rows_of(block: usize, rows: usize) -> Range<usize> {
    block * BLOCK..rows.min((block + 1) * BLOCK)
}

/// Adds up, in order, the K sums that `of_block` gives for each block of rows.
pub(crate) fn sum_blocks<const K: usize>(
    rows: usize,
    of_block: impl Fn(Range<usize>) -> [f64; K] + Sync,
) -> [Sum; K] {
    let blocks = rows.div_ceil(BLOCK);
    let mut total = [Sum::default(); K];
    let mut add = |sums: [f64; K]| {
        for (total, sum) in total.iter_mut().zip(sums) {
            total.add(sum);
        }
    };
    if rows < PARALLEL_FROM || rayon::current_num_threads() == 1 {
        (0..blocks).for_each(|block| add(of_block(rows_of(block, rows))));
    } else {
        let sums: Vec<[f64; K]> =
            (0..blocks).into_par_iter().map(|block| of_block(rows_of(block, rows))).collect();
        sums.into_iter().for_each(add);
    }
    total
}

/// The mean of terms over a total weight. `of_block` gives the sum of a block's terms times a part:
/// all of them, or a tiny one where the sum overflows and the mean does not.
pub(crate) fn mean_blocks(
    rows: usize,
    total: f64,
    of_block: impl Fn(Range<usize>, f64) -> f64 + Sync,
) -> f64 {
    let [sum] = sum_blocks(rows, |rows| [of_block(rows, 1.0)]);
    let mean = sum.value() / total;
    if mean.is_finite() {
        return mean;
    }
    let part = 2f64.powi(-100);
    let [sum] = sum_blocks(rows, |rows| [of_block(rows, part)]);
    sum.value() / total / part
}

/// Fills `sums` with what `of_block` gives for each block, which also fills its part of `column`.
pub(crate) fn fill_blocks<const K: usize>(
    rows: usize,
    sums: &mut [[f64; K]],
    column: Option<&mut [f64]>,
    of_block: impl Fn(usize, Option<&mut [f64]>) -> [f64; K] + Sync,
) {
    let parallel = rows >= PARALLEL_FROM && rayon::current_num_threads() > 1;
    match (column, parallel) {
        (None, false) => {
            sums.iter_mut().enumerate().for_each(|(b, s)| *s = of_block(b, None));
        }
        (None, true) => {
            sums.par_iter_mut().enumerate().for_each(|(b, s)| *s = of_block(b, None));
        }
        (Some(column), false) => sums
            .iter_mut()
            .zip(column.chunks_mut(BLOCK))
            .enumerate()
            .for_each(|(b, (s, part))| *s = of_block(b, Some(part))),
        (Some(column), true) => sums
            .par_iter_mut()
            .zip(column.par_chunks_mut(BLOCK))
            .enumerate()
            .for_each(|(b, (s, part))| *s = of_block(b, Some(part))),
    }
}

/// Writes row by row `slope` times the row's share of the total weight.
#[inline(always)]
pub(crate) fn share_out(slope: &[f64], weight: Option<&[f64]>, per_weight: f64, out: &mut [f64]) {
    match weight {
        None => {
            for (out, slope) in out.iter_mut().zip(slope) {
                *out = slope * per_weight;
            }
        }
        Some(weight) => {
            for ((out, slope), &w) in out.iter_mut().zip(slope).zip(weight) {
                let share = w * per_weight;
                *out = if share > 0.0 { slope * share } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_keeps_what_doubles_lose() {
        let mut sum = Sum::default();
        for value in [1e16, 1.0, -1e16, 1e-3] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 1.001);
    }

    #[test]
    fn lanes_add_every_value_once() {
        for n in 0..100 {
            let values: Vec<f64> = (0..n).map(|i| (i + 1) as f64).collect();
            assert_eq!(lane_sum(&values), (n * (n + 1) / 2) as f64, "n = {n}");
        }
    }

    #[test]
    fn threads_do_not_change_the_bits() {
        let values: Vec<f64> = (0..200_000).map(|i| (i as f64 * 0.7).sin()).collect();
        let total = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sum_blocks(values.len(), |rows| [lane_sum(&values[rows])])[0])
        };
        assert_eq!(total(1), total(2));
        assert_eq!(total(1), total(5));
    }
}
