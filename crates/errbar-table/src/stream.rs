//! Tables read batch by batch, with every column kept for a [`crate::Sink`].

use std::ops::Range;
use std::sync::Arc;

use crate::csv::layout::Layout;
use crate::csv::{CsvStream, blocks};
use crate::parquet::leaf::Leaf;
use crate::parquet::read::ParquetStream;
use crate::parquet::values::Meaning;
use crate::table::Opened;
use crate::tables::Tables;
use crate::{Na, Odd, Result, Table, Texts};

/// Some rows of a table that is read as a stream.
pub struct Batch {
    /// How many.
    pub rows: usize,
    /// The first of them, counted from 1 in the table, or in all files together.
    pub first_row: u64,
    /// The file they are from, counted from 0.
    pub file: usize,
    /// The numbers of the columns asked for; NaN where missing.
    pub numbers: Vec<Vec<f64>>,
    /// For each of them the cells that hold no number.
    pub odd: Vec<Odd>,
    /// The texts of the columns asked for.
    pub texts: Vec<Texts>,
    /// All columns, for a sink.
    pub(crate) kept: RawRows,
    /// How they lie there.
    pub(crate) arranged: Arc<Arranged>,
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

/// How the rows of a file lie beside those of the first one.
pub(crate) enum Arranged {
    Csv {
        layout: Layout,
        /// For each column of the first file its place in this one; none where they are the same.
        order: Option<Vec<usize>>,
    },
    Parquet {
        /// For each column of the first file where it is stored and what it holds; `None` for nested ones.
        places: Vec<Option<(usize, Meaning)>>,
        /// The stored columns in the order of the first file; none where they are the same.
        order: Option<Vec<usize>>,
    },
}

/// A table, or several as one, that is read batch by batch.
pub struct Stream {
    pub(crate) now: Streamed,
    na: Na,
    pub(crate) arranged: Arc<Arranged>,
    /// Files still to come.
    pub(crate) more: Option<More>,
    /// The file that is read, counted from 0, and the rows before it.
    file: usize,
    before: u64,
    /// Rows delivered.
    rows: u64,
}

/// Files of which the first is being read.
pub(crate) struct More {
    pub(crate) tables: Tables,
    numbers: Vec<usize>,
    texts: Vec<usize>,
}

pub(crate) enum Streamed {
    Csv(CsvStream),
    Parquet(ParquetStream),
}

impl Streamed {
    pub(crate) fn new(table: Table, numbers: &[usize], texts: &[usize]) -> Result<(Self, Na)> {
        let (opened, na) = table.into_parts();
        Ok(match opened {
            Opened::Csv(csv) => (Self::Csv(csv.stream(numbers, texts, &na)), na),
            Opened::Parquet(parquet) => (Self::Parquet(parquet.stream(numbers, texts)?), na),
        })
    }

    pub(crate) fn header(&self) -> &[String] {
        match self {
            Self::Csv(csv) => &csv.header.names,
            Self::Parquet(parquet) => &parquet.table.names,
        }
    }

    /// How the columns of this file lie beside those of another one, given for each of that its place here.
    fn arranged(&self, places: Option<&[usize]>) -> Arranged {
        let order = places.filter(|places| !places.iter().enumerate().all(|(i, at)| i == *at));
        match self {
            Self::Csv(csv) => {
                Arranged::Csv { layout: csv.header.layout, order: order.map(<[usize]>::to_vec) }
            }
            Self::Parquet(parquet) => {
                let table = &parquet.table;
                let place = |at: &usize| table.places.get(*at).copied().flatten();
                Arranged::Parquet {
                    places: match places {
                        Some(places) => places.iter().map(place).collect(),
                        None => table.places.clone(),
                    },
                    order: order.map(|order| {
                        order.iter().flat_map(|column| table.leaves_of(*column)).collect()
                    }),
                }
            }
        }
    }
}

impl Stream {
    pub(crate) fn of_table(table: Table, numbers: &[usize], texts: &[usize]) -> Result<Self> {
        let (now, na) = Streamed::new(table, numbers, texts)?;
        let arranged = Arc::new(now.arranged(None));
        Ok(Self { now, na, arranged, more: None, file: 0, before: 0, rows: 0 })
    }

    pub(crate) fn of_file(
        tables: &mut Tables,
        file: usize,
        numbers: &[usize],
        texts: &[usize],
        before: u64,
    ) -> Result<Self> {
        let places = |columns: &[usize]| -> Vec<usize> {
            columns.iter().filter_map(|column| tables.place(file, *column)).collect()
        };
        let (numbers, texts) = (places(numbers), places(texts));
        let stream = Self::of_table(tables.table(file)?, &numbers, &texts)?;
        Ok(Self { file, before, ..stream })
    }

    pub(crate) fn of_all(mut tables: Tables, numbers: &[usize], texts: &[usize]) -> Result<Self> {
        let first = Self::of_file(&mut tables, 0, numbers, texts, 0)?;
        if tables.len() == 1 {
            return Ok(first);
        }
        let (numbers, texts) = (numbers.to_vec(), texts.to_vec());
        Ok(Self { more: Some(More { tables, numbers, texts }), ..first })
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the file, and where; [`crate::NotNumber`] for a text in a column of numbers.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let batch = match &mut self.now {
                Streamed::Csv(csv) => csv.next_batch(&self.arranged),
                Streamed::Parquet(parquet) => parquet.next_batch(&self.arranged),
            }?;
            let Some(mut batch) = batch else {
                match self.next_file()? {
                    true => continue,
                    false => return Ok(None),
                }
            };
            for (values, odd) in batch.numbers.iter_mut().zip(&mut batch.odd) {
                self.na.take_out(values, batch.first_row - 1, odd);
            }
            batch.first_row += self.before;
            batch.file = self.file;
            self.rows += batch.rows as u64;
            return Ok(Some(batch));
        }
    }

    /// Goes on to the next file, if there is one.
    fn next_file(&mut self) -> Result<bool> {
        let Some(More { tables, numbers, texts }) = &mut self.more else { return Ok(false) };
        let file = self.file + 1;
        if file >= tables.len() {
            return Ok(false);
        }
        let before = self.before + self.rows;
        let Self { now, na, .. } = Self::of_file(tables, file, numbers, texts, before)?;
        let places = tables.beside_first(file);
        let arranged = now.arranged(Some(&places));
        if let (Arranged::Parquet { places, .. }, Streamed::Parquet(parquet)) = (&arranged, &now)
            && let Some(nested) = places.iter().position(Option::is_none)
            && self.is_text()
        {
            return Err(parquet.table.nested(nested));
        }
        (self.now, self.na, self.arranged) = (now, na, Arc::new(arranged));
        (self.file, self.before, self.rows) = (file, before, 0);
        Ok(true)
    }

    /// Whether the first file was a CSV file.
    fn is_text(&self) -> bool {
        let first = self.more.as_ref().and_then(|more| more.tables.files.first());
        first.is_some_and(|first| first.types.is_none())
    }

    /// The share of the table that was read, where it is known; of several files each counts as much.
    #[must_use]
    pub fn share_read(&self) -> Option<f64> {
        let share = match &self.now {
            Streamed::Csv(csv) => csv.progress.share(),
            Streamed::Parquet(parquet) => Some(parquet.share_read()),
        };
        match &self.more {
            None => share,
            Some(more) => {
                Some((self.file as f64 + share.unwrap_or(0.0)) / more.tables.len() as f64)
            }
        }
    }

    /// The names of the columns, those of the first file.
    pub(crate) fn header(&self) -> Vec<String> {
        match &self.more {
            None => self.now.header().to_vec(),
            Some(more) => more.tables.files.first().map_or(vec![], |file| file.header.clone()),
        }
    }
}
