//! Parts of Parquet files decoded, and files read as a stream with all of their columns.

use std::sync::Arc;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use rayon::prelude::*;

use super::file::{Parquet, guard};
use super::leaf::Leaf;
use super::values::Meaning;
use crate::dictionary::{All, Few};
use crate::stream::{Arranged, RawRows};
use crate::words::shown;
use crate::{Batch, NumberColumn, Numbers, Odd};

/// Rows that are decoded at once.
pub(super) const ROWS: usize = 64 << 10;

/// Bytes of a batch that is kept for a sink, about.
const BATCH: usize = 12 << 20;

impl Parquet {
    /// Where the numbers of a column are stored, or what it holds instead.
    pub(super) fn numbers_of(
        &self,
        wanted: &NumberColumn,
    ) -> crate::Result<Result<(usize, Meaning), Numbers>> {
        let Some((leaf, meaning)) = self.places.get(wanted.column).copied().flatten() else {
            if wanted.required {
                return Err(self.nested(wanted.column));
            }
            let value = "a list or structure".to_string();
            return Ok(Err(Numbers::NotNumbers { value, row: 1 }));
        };
        self.check_packing(leaf)?;
        if meaning.is_number() {
            return Ok(Ok((leaf, meaning)));
        }
        let first = guard(|| self.first(leaf, meaning)).map_err(|error| self.failed(&error))?;
        match first {
            Some((value, row)) if wanted.required => {
                Err(self.not_numbers(wanted.column, &value, row))
            }
            Some((value, row)) => Ok(Err(Numbers::NotNumbers { value, row })),
            // Where all is missing, nothing is wrong with it.
            None => Ok(Err(Numbers::Values(vec![]))),
        }
    }

    /// The first value of a column that is not missing, and its row.
    fn first(&self, leaf: usize, meaning: Meaning) -> Result<Option<(String, u64)>, ParquetError> {
        let mut before = 0;
        for group in 0..self.groups() {
            let mut found = None;
            self.each_part(group, leaf, |part, rows| {
                found = part.rows().enumerate().find_map(|(row, value)| {
                    let text = meaning.text(value?);
                    Some((shown(text.as_bytes()), before + row as u64 + 1))
                });
                before += rows as u64;
                found.is_none()
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Decodes a column of numbers in a row group.
    pub(super) fn fill(
        &self,
        group: usize,
        (leaf, meaning): (usize, Meaning),
        mut rest: &mut [f64],
    ) -> Result<(), ParquetError> {
        let mut fits = true;
        self.each_part(group, leaf, |part, rows| {
            let all = std::mem::take(&mut rest);
            let (here, later) = all.split_at_mut(rows.min(all.len()));
            rest = later;
            fits = here.len() == rows && part.numbers(meaning, here);
            fits
        })?;
        if fits && rest.is_empty() { Ok(()) } else { Err(too_few()) }
    }

    /// Decodes a column of texts in a row group.
    pub(super) fn texts(
        &self,
        group: usize,
        (leaf, meaning): (usize, Meaning),
    ) -> Result<Few<'static, str>, ParquetError> {
        let mut texts = Few::new();
        self.each_part(group, leaf, |part, _| {
            part.texts(meaning, &mut texts);
            true
        })?;
        Ok(texts)
    }

    /// Decodes a column of a row group part by part, until `take`, which is told the number of rows,
    /// says false.
    fn each_part(
        &self,
        group: usize,
        leaf: usize,
        mut take: impl FnMut(&Leaf, usize) -> bool,
    ) -> Result<(), ParquetError> {
        let mut reader = self.reader(group, leaf)?;
        let Some(column) = self.leaves().get(leaf) else { return Ok(()) };
        let mut part = Leaf::new(column);
        let mut left = self.rows(group);
        while left > 0 {
            part.clear();
            let rows = part.read(&mut reader, left.min(ROWS))?;
            if rows == 0 {
                return Err(too_few());
            }
            left = left.saturating_sub(rows);
            if !take(&part, rows) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn stream(self, numbers: &[usize], texts: &[usize]) -> crate::Result<ParquetStream> {
        let mut places = vec![];
        for &column in numbers {
            places.push(self.numbers_of(&NumberColumn { column, required: true })?.ok());
        }
        let place = |&column: &usize| {
            self.places.get(column).copied().flatten().ok_or_else(|| self.nested(column))
        };
        let texts = texts.iter().map(place).collect::<crate::Result<_>>()?;
        for leaf in 0..self.leaves().len() {
            self.check_packing(leaf)?;
        }
        let bytes: i64 =
            self.metadata.row_groups().iter().map(|g| g.total_byte_size().max(0)).sum();
        // In memory a text takes some more, and levels are not packed.
        let row = bytes as u64 / self.all_rows().max(1) + 16 * self.leaves().len() as u64;
        let batch = (BATCH as u64 / row.max(1)).clamp(256, ROWS as u64) as usize;
        Ok(ParquetStream {
            table: self,
            numbers: places,
            texts,
            batch,
            group: 0,
            readers: vec![],
            left: 0,
            rows: 0,
        })
    }
}

pub(super) fn too_few() -> ParquetError {
    ParquetError::General("a column has fewer rows than the file says".to_string())
}

/// A Parquet file that is read batch by batch.
pub(crate) struct ParquetStream {
    pub(crate) table: Parquet,
    /// The columns of numbers; `None` for one without any value.
    numbers: Vec<Option<(usize, Meaning)>>,
    texts: Vec<(usize, Meaning)>,
    /// Rows of a batch.
    batch: usize,
    /// The next row group.
    group: usize,
    /// Readers of all columns in the current row group, and the rows left in it.
    readers: Vec<ColumnReader>,
    left: usize,
    /// Rows delivered.
    rows: u64,
}

impl ParquetStream {
    /// See [`crate::Stream::next_batch`].
    pub(crate) fn next_batch(&mut self, arranged: &Arc<Arranged>) -> crate::Result<Option<Batch>> {
        let mut leaves: Vec<Leaf> =
            self.table.leaves().iter().map(|column| Leaf::new(column)).collect();
        let mut rows = 0;
        while rows < self.batch {
            if self.left == 0 {
                if self.group >= self.table.groups() {
                    break;
                }
                self.next_group().map_err(|error| self.table.failed(&error))?;
                continue;
            }
            let more = self.left.min(self.batch - rows);
            let read = |(reader, leaf): (&mut ColumnReader, &mut Leaf)| {
                guard(|| match leaf.read(reader, more)? {
                    read if read == more => Ok(()),
                    _ => Err(too_few()),
                })
            };
            self.readers
                .par_iter_mut()
                .zip(&mut leaves)
                .try_for_each(read)
                .map_err(|error| self.table.failed(&error))?;
            rows += more;
            self.left -= more;
        }
        if rows == 0 {
            return Ok(None);
        }
        let numbers = |place: &Option<(usize, Meaning)>| {
            let mut numbers = vec![f64::NAN; rows];
            match place.and_then(|(leaf, meaning)| Some((leaves.get(leaf)?, meaning))) {
                Some((leaf, meaning)) if !leaf.numbers(meaning, &mut numbers) => Err(too_few()),
                _ => Ok(numbers),
            }
        };
        let numbers = self.numbers.iter().map(numbers).collect::<Result<_, _>>();
        let numbers = numbers.map_err(|error| self.table.failed(&error))?;
        let texts = |&(leaf, meaning): &(usize, Meaning)| {
            let mut few = Few::new();
            if let Some(leaf) = leaves.get(leaf) {
                leaf.texts(meaning, &mut few);
            }
            let mut all = All::new();
            few.append_to(&mut all, |text: &str| text.into())?;
            Ok(all.texts)
        };
        let texts = self.texts.iter().map(texts).collect::<crate::Result<_>>()?;
        let first_row = self.rows + 1;
        self.rows += rows as u64;
        let odd = self.numbers.iter().map(|_| Odd::default()).collect();
        let (kept, arranged) = (RawRows::Parquet(leaves), arranged.clone());
        Ok(Some(Batch { rows, first_row, file: 0, numbers, odd, texts, kept, arranged }))
    }

    /// Opens all columns of the next row group.
    fn next_group(&mut self) -> Result<(), ParquetError> {
        let (table, group) = (&self.table, self.group);
        let columns = 0..table.leaves().len();
        self.readers =
            guard(|| columns.map(|leaf| table.reader(group, leaf)).collect::<Result<_, _>>())?;
        self.left = table.rows(group);
        self.group += 1;
        Ok(())
    }

    pub(crate) fn share_read(&self) -> f64 {
        self.rows as f64 / (self.table.all_rows() as f64).max(1.0)
    }
}
