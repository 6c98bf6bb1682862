//! The course of errors: their sums over consecutive rows.

use std::ops::Range;

use crate::score::block::BLOCK;

/// Stretches of rows that are kept: from so many to twice as many.
const STRETCHES: usize = 4096;

/// The course of errors whose number was not known beforehand: sums over stretches of consecutive rows, which double in length
/// each time that there are too many of them. What [`diagnose`](crate::diagnose) wants to know of changes with time
/// can be read off them.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Rows of a stretch; the last may have fewer.
    stretch: usize,
    rows: usize,
    /// Of the stretch that is not full yet, how many rows are missing.
    missing: usize,
    sums: Vec<Stretch>,
}

/// Sums over consecutive rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) weight: f64,
    pub(crate) error: f64,
    pub(crate) absolute: f64,
}

impl Default for Course {
    fn default() -> Self {
        Self { stretch: BLOCK, rows: 0, missing: 0, sums: Vec::new() }
    }
}

impl Course {
    /// Adds the sums over the next rows, a block of them or, in the end, fewer.
    pub(crate) fn add(&mut self, rows: usize, sums: Stretch) {
        if self.missing == 0 {
            if self.sums.len() == 2 * STRETCHES {
                self.double();
            }
            self.sums.push(Stretch::default());
            self.missing = self.stretch;
        }
        if let Some(last) = self.sums.last_mut() {
            last.add(&sums);
        }
        self.missing -= rows.min(self.missing);
        self.rows += rows;
    }

    fn double(&mut self) {
        for place in 0..STRETCHES {
            let [mut first, second] = [self.sums[2 * place], self.sums[2 * place + 1]];
            first.add(&second);
            self.sums[place] = first;
        }
        self.sums.truncate(STRETCHES);
        self.stretch *= 2;
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The sums over some of the rows, to within a stretch, in so many parts.
    pub(crate) fn parts(&self, rows: Range<usize>, parts: usize) -> Vec<Stretch> {
        let mut found = vec![Stretch::default(); parts];
        for (place, sums) in self.sums.iter().enumerate() {
            // By where its middle is.
            let from = place * self.stretch;
            let middle = (from + self.rows.min(from + self.stretch)) / 2;
            if rows.contains(&middle) {
                let part = (middle - rows.start) as u128 * parts as u128 / rows.len() as u128;
                found[part as usize].add(sums);
            }
        }
        found
    }
}

impl Stretch {
    pub(crate) fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.error += other.error;
        self.absolute += other.absolute;
    }
}
