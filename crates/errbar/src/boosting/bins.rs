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
    tally: Tally,
}

/// For each column, how many rows have each code or a lower one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tally {
    rows: u64,
    up_to: Vec<Vec<u64>>,
}

impl Bins {
    /// Bins of row-major inputs and their weights. A column of few distinct values has a bin
    /// for each of them, any other has bins of about equal weight.
    pub(crate) fn of(inputs: &[f64], columns: usize, weight: Option<&[f64]>, most: usize) -> Self {
        let weight = |row: usize, _: usize, _: f64| weight.map_or(1.0, |weight| weight[row]);
        Self::by_weight(inputs, columns, weight, most)
    }

    /// Bins that are narrower where more was asked for: half of the cuts as those of [`Bins::of`], and half by how
    /// much the answers told at each cut of these bins, column after column.
    pub(crate) fn finer(
        &self,
        told: &[Vec<f64>],
        inputs: &[f64],
        weight: Option<&[f64]>,
        most: usize,
    ) -> Self {
        let columns = self.columns();
        let codes = self.encode(inputs);
        let shares: Vec<Vec<f64>> = (told.iter().zip(codes.tally().shares()))
            .map(|(told, share)| {
                let all: f64 = told.iter().sum();
                let of = |bin: usize| {
                    // What a cut tells is told of the bins on both sides.
                    let before = bin.checked_sub(1).and_then(|cut| told.get(cut)).unwrap_or(&0.0);
                    let here = 0.5 * (before + told.get(bin).unwrap_or(&0.0));
                    if all > 0.0 && share[bin] > 0.0 { 1.0 + here / all / share[bin] } else { 1.0 }
                };
                (0..share.len()).map(of).collect()
            })
            .collect();
        let weight = |row: usize, column: usize, x: f64| {
            let own = weight.map_or(1.0, |weight| weight[row]);
            own * shares[column][usize::from(self.code(column, x))]
        };
        Self::by_weight(inputs, columns, weight, most)
    }

    /// Bins of about equal weight, which is given for a row, a column and the value there.
    fn by_weight(
        inputs: &[f64],
        columns: usize,
        weight: impl Fn(usize, usize, f64) -> f64 + Sync,
        most: usize,
    ) -> Self {
        let step = (inputs.len() / columns).div_ceil(MOST_ROWS).max(1);
        let cuts = |column: usize| {
            let mut values: Vec<(f64, f64)> = (inputs.chunks_exact(columns).enumerate())
                .step_by(step)
                .filter(|(_, row)| !row[column].is_nan())
                .map(|(i, row)| (row[column], weight(i, column, row[column])))
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
        let most = self.most();
        let tally = Tally::of(by_column.par_chunks_exact(rows.max(1)), rows, most);
        Codes { columns, rows, most, by_row, by_column, tally }
    }

    /// The largest code there can be.
    pub(crate) fn most(&self) -> usize {
        (0..self.columns()).map(|column| self.count(column)).max().unwrap_or(0)
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

    /// How many rows have each code.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
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

impl Tally {
    fn of<'c>(
        columns: impl IndexedParallelIterator<Item = &'c [u8]>,
        rows: usize,
        most: usize,
    ) -> Self {
        let up_to = |codes: &[u8]| {
            let mut counts = vec![0; most + 1];
            codes.iter().for_each(|code| counts[usize::from(*code)] += 1);
            (1..counts.len()).for_each(|code| counts[code] += counts[code - 1]);
            counts
        };
        Self { rows: rows as u64, up_to: columns.map(up_to).collect() }
    }

    /// How many rows have each code, column after column.
    pub(crate) fn counts(&self) -> Vec<i64> {
        let of = |up_to: &Vec<u64>| {
            let before = std::iter::once(0).chain(up_to.iter().copied());
            up_to.iter().zip(before).map(|(up_to, before)| (up_to - before) as i64).collect()
        };
        self.up_to.iter().flat_map(|up_to| -> Vec<i64> { of(up_to) }).collect()
    }

    /// The share of rows that have each code, for each column.
    fn shares(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let rows = self.rows as f64;
        self.up_to.iter().map(move |up_to| {
            let before = std::iter::once(0).chain(up_to.iter().copied());
            up_to.iter().zip(before).map(|(up_to, before)| (up_to - before) as f64 / rows).collect()
        })
    }

    /// Of how many rows have each code, column after column.
    pub(crate) fn of_counts(counts: &[i64], columns: usize) -> Self {
        let of = |counts: &[i64]| {
            let sum = |sum: &mut u64, count: &i64| {
                *sum += *count as u64;
                Some(*sum)
            };
            counts.iter().scan(0, sum).collect()
        };
        let up_to: Vec<Vec<u64>> = counts.chunks(counts.len() / columns).map(of).collect();
        let rows = up_to.first().and_then(|codes| codes.last()).copied().unwrap_or(0);
        Self { rows, up_to }
    }

    /// Whether most rows have a code of a column or a lower one.
    pub(super) fn most_are_up_to(&self, column: usize, code: u8) -> bool {
        2 * self.up_to[column][usize::from(code)] >= self.rows
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
