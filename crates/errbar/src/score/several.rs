//! Several numbers for each row: members, quantiles.

use crate::checks::check_rows;
use crate::error::{Error, Result};

/// Several numbers for each row, as they lie in memory: row by row, or column by column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Several<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
    /// How far apart neighbours of a row, and neighbours of a column are.
    steps: (usize, usize),
}

impl<'a> Several<'a> {
    /// Row by row, each of so many numbers.
    ///
    /// # Errors
    /// No numbers, or not a whole number of rows.
    pub fn by_row(values: &'a [f64], columns: usize) -> Result<Self> {
        let rows = Self::count(values.len(), columns)?;
        Ok(Self { values, rows, columns, steps: (1, columns) })
    }

    /// Column by column, so many of them.
    ///
    /// # Errors
    /// No numbers, or columns of unequal length.
    pub fn by_column(values: &'a [f64], columns: usize) -> Result<Self> {
        let rows = Self::count(values.len(), columns)?;
        Ok(Self { values, rows, columns, steps: (rows, 1) })
    }

    fn count(length: usize, columns: usize) -> Result<usize> {
        if columns == 0 || !length.is_multiple_of(columns) {
            return Err(Error::NotWholeRows { length, columns });
        }
        check_rows(length / columns)?;
        Ok(length / columns)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers each row has.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One of the numbers of a row.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.steps.1 + column * self.steps.0]
    }

    /// The numbers of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        let (step, first) = (self.steps.0, row * self.steps.1);
        (0..self.columns).map(move |column| self.values[first + column * step])
    }

    /// All of them, as they lie in memory.
    pub(crate) fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Whether rows lie one after the other.
    pub(crate) fn is_by_row(&self) -> bool {
        self.steps.0 == 1
    }

    /// The row of a place in memory.
    pub(crate) fn row_of(&self, place: usize) -> usize {
        if self.is_by_row() { place / self.columns } else { place % self.rows }
    }
}
