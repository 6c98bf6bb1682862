//! Inputs as small whole numbers: a tree need know no more of a value than which cuts it lies beyond.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The most bins of a column; one more code stands for values that are missing.
const MOST_BINS: usize = 255;
/// Of more rows, as many that lie evenly among them decide where columns are cut.
const MOST_ROWS: usize = 200_000;

/// Where each column is cut into bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bins {
    /// For each column, rising: bin k holds the values above cut k - 1, up to cut k.
    cuts: Vec<Vec<f64>>,
}

/// The codes of many rows.
pub(crate) struct Codes {
    columns: usize,
    rows: usize,
    /// The largest code there can be.
    most: usize,
    by_row: Vec<u8>,
    by_column: Vec<u8>,
    /// For each column, how many rows have each code or a lower one.
    up_to: Vec<Vec<u32>>,
}

impl Bins {
    /// Bins of row-major inputs and their weights. A column of few distinct values has a bin
    /// for each of them, any other has bins of about equal weight.
    pub(crate) fn of(inputs: &[f64], columns: usize, weight: Option<&[f64]>, most: usize) -> Self {
        let step = (inputs.len() / columns).div_ceil(MOST_ROWS).max(1);
        let cuts = |column: usize| {
            let mut values: Vec<(f64, f64)> = (inputs.chunks_exact(columns).enumerate())
                .step_by(step)
                .map(|(i, row)| (row[column], weight.map_or(1.0, |weight| weight[i])))
                .filter(|(x, _)| !x.is_nan())
                .collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            values.dedup_by(|next, kept| {
                let equal = next.0 == kept.0;
                if equal {
                    kept.1 += next.1;
                }
                equal
            });
            cuts_between(&values, most.clamp(2, MOST_BINS))
        };
        Self { cuts: (0..columns).into_par_iter().map(cuts).collect() }
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.cuts.len()
    }

    /// The bins of a column, without the code of missing values.
    pub(crate) fn count(&self, column: usize) -> usize {
        self.cuts[column].len() + 1
    }

    /// The largest value of a bin; the last one has none.
    pub(crate) fn end(&self, column: usize, bin: u8) -> Option<f64> {
        self.cuts[column].get(usize::from(bin)).copied()
    }

    /// The code of a value: its bin, or for a missing value the number after the last bin.
    fn code(&self, column: usize, x: f64) -> u8 {
        let bin = if x.is_nan() {
            self.count(column)
        } else {
            self.cuts[column].partition_point(|cut| *cut < x)
        };
        bin as u8
    }

    /// On which side of a split a value lies.
    #[inline]
    pub(crate) fn goes_left(&self, column: usize, code: u8, bin: u8, missing_left: bool) -> bool {
        if usize::from(code) == self.count(column) { missing_left } else { code <= bin }
    }

    /// Writes the codes of one row.
    pub(crate) fn encode_row(&self, row: &[f64], codes: &mut [u8]) {
        for (column, (code, &x)) in codes.iter_mut().zip(row).enumerate() {
            *code = self.code(column, x);
        }
    }

    /// The codes of row-major inputs.
    pub(crate) fn encode(&self, inputs: &[f64]) -> Codes {
        let columns = self.columns();
        let rows = inputs.len() / columns;
        let mut by_row = vec![0; inputs.len()];
        let pairs = by_row.par_chunks_exact_mut(columns).zip(inputs.par_chunks_exact(columns));
        pairs.with_min_len(1024).for_each(|(codes, row)| self.encode_row(row, codes));
        let mut by_column = vec![0; inputs.len()];
        by_column.par_chunks_exact_mut(rows.max(1)).enumerate().for_each(|(column, codes)| {
            let own = by_row.iter().skip(column).step_by(columns);
            codes.iter_mut().zip(own).for_each(|(code, own)| *code = *own);
        });
        let most = (0..columns).map(|column| self.count(column)).max().unwrap_or(0);
        let up_to = |codes: &[u8]| {
            let mut counts = vec![0; most + 1];
            codes.iter().for_each(|code| counts[usize::from(*code)] += 1);
            (1..counts.len()).for_each(|code| counts[code] += counts[code - 1]);
            counts
        };
        let up_to = by_column.par_chunks_exact(rows.max(1)).map(up_to).collect();
        Codes { columns, rows, most, by_row, by_column, up_to }
    }

    /// Whether bins that were read can be used.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let rising = |cuts: &Vec<f64>| {
            cuts.len() < MOST_BINS
                && cuts.iter().all(|cut| cut.is_finite())
                && cuts.windows(2).all(|pair| pair[0] < pair[1])
        };
        match !self.cuts.is_empty() && self.cuts.iter().all(rising) {
            true => Ok(()),
            false => Err("the cuts of its inputs are not in order"),
        }
    }
}

impl Codes {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether most rows have a code of a column or a lower one.
    pub(crate) fn most_are_up_to(&self, column: usize, code: u8) -> bool {
        2 * self.up_to[column][usize::from(code)] as usize >= self.rows
    }

    /// The largest code there can be: that of missing values in the column of most bins.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The codes of one row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.by_row[row * self.columns..(row + 1) * self.columns]
    }

    /// The codes of one column.
    pub(crate) fn column(&self, column: usize) -> &[u8] {
        &self.by_column[column * self.rows..(column + 1) * self.rows]
    }
}

/// Cuts between distinct values, which rise, each with its weight.
fn cuts_between(values: &[(f64, f64)], most: usize) -> Vec<f64> {
    let share = values.iter().map(|(_, weight)| weight).sum::<f64>() / most as f64;
    let mut cuts = Vec::new();
    let mut below = 0.0;
    for pair in values.windows(2) {
        let [(low, weight), (high, _)] = [pair[0], pair[1]];
        below += weight;
        if values.len() > most {
            // A cut after each share of the weight; a value of much weight uses up several.
            if below < share {
                continue;
            }
            below %= share;
        }
        // Halves first: the sum may overflow. Of two doubles without one between them, the lower.
        let middle = 0.5 * low + 0.5 * high;
        cuts.push(if middle < high { middle } else { low });
    }
    cuts.truncate(most - 1);
    cuts
}
