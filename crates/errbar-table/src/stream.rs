//! Tables read batch by batch, with every column kept for a [`crate::Sink`].

use std::ops::Range;

use crate::csv::{CsvStream, blocks};
use crate::parquet::leaf::Leaf;
use crate::parquet::read::ParquetStream;
use crate::{Na, Odd, Texts};

/// Some rows of a table that is read as a stream.
pub struct Batch {
    /// How many.
    pub rows: usize,
    /// The first of them, counted from 1 in the table.
    pub first_row: u64,
    /// The numbers of the columns asked for; NaN where missing.
    pub numbers: Vec<Vec<f64>>,
    /// For each of them the cells that hold no number.
    pub odd: Vec<Odd>,
    /// The texts of the columns asked for.
    pub texts: Vec<Texts>,
    /// All columns, for a sink.
    pub(crate) kept: RawRows,
}

/// The rows of a batch as they were in the file.
pub(crate) enum RawRows {
    Csv {
        bytes: blocks::Buffer,
        /// Where each record lies in the bytes, without its line end.
        records: Vec<Range<u32>>,
    },
    /// Every column as it is stored.
    Parquet(Vec<Leaf>),
}

/// A table that is read batch by batch.
pub struct Stream(pub(crate) Streamed, pub(crate) Na);

pub(crate) enum Streamed {
    Csv(CsvStream),
    Parquet(ParquetStream),
}

impl Stream {
    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the file, and where; [`crate::NotNumber`] for a text in a column of numbers.
    pub fn next_batch(&mut self) -> crate::Result<Option<Batch>> {
        let mut batch = match &mut self.0 {
            Streamed::Csv(csv) => csv.next_batch(),
            Streamed::Parquet(parquet) => parquet.next_batch(),
        }?;
        if let Some(Batch { numbers, odd, first_row, .. }) = &mut batch {
            for (values, odd) in numbers.iter_mut().zip(odd) {
                self.1.take_out(values, *first_row - 1, odd);
            }
        }
        Ok(batch)
    }

    /// The share of the table that was read, where it is known.
    #[must_use]
    pub fn share_read(&self) -> Option<f64> {
        match &self.0 {
            Streamed::Csv(csv) => csv.progress.share(),
            Streamed::Parquet(parquet) => Some(parquet.share_read()),
        }
    }

    pub(crate) fn header(&self) -> &[String] {
        match &self.0 {
            Streamed::Csv(csv) => &csv.header.names,
            Streamed::Parquet(parquet) => &parquet.table.names,
        }
    }
}
