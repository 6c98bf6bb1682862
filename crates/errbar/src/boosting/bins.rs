//! Inputs as small whole numbers: a tree need know no more of a value than which cuts it lies beyond.

use serde::{Deserialize, Serialize};

/// The most bins of a column; one more code stands for values that are missing.
const MOST_BINS: usize = 255;

/// Where each column is cut into bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bins {
    /// For each column, rising: bin k holds the values above cut k - 1, up to cut k.
    cuts: Vec<Vec<f64>>,
}

/// The codes of many rows.
pub(crate) struct Codes {
    columns: usize,
    by_row: Vec<u8>,
    by_column: Vec<u8>,
}

impl Bins {
    /// Bins of row-major inputs and their weights. A column of few distinct values has a bin
    /// for each of them, any other has bins of about equal weight.
    pub(crate) fn of(inputs: &[f64], columns: usize, weight: Option<&[f64]>, most: usize) -> Self {
        let cuts = |column: usize| {
            let mut values: Vec<(f64, f64)> = (inputs.chunks_exact(columns).enumerate())
                .map(|(i, row)| (row[column], weight.map_or(1.0, |weight| weight[i])))
                .filter(|(x, _)| !x.is_nan())
                .collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            values.dedup_by(|next, kept| {
                let equal = next.0 == kept.0;
                if equal {
                    kept.1 += next.1;
                }
                equal
            });
            cuts_between(&values, most.clamp(2, MOST_BINS))
        };
        Self { cuts: (0..columns).map(cuts).collect() }
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
        let mut by_column = vec![0; inputs.len()];
        for (i, codes) in by_row.chunks_exact_mut(columns).enumerate() {
            self.encode_row(&inputs[i * columns..(i + 1) * columns], codes);
            for (column, &code) in codes.iter().enumerate() {
                by_column[column * rows + i] = code;
            }
        }
        Codes { columns, by_row, by_column }
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
    /// The codes of one row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.by_row[row * self.columns..(row + 1) * self.columns]
    }

    /// The codes of one column.
    pub(crate) fn column(&self, column: usize) -> &[u8] {
        let rows = self.by_column.len() / self.columns;
        &self.by_column[column * rows..(column + 1) * rows]
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
