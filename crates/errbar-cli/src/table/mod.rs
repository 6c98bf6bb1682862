//! Tables in files: CSV (also gzipped) and Parquet, read whole or as a stream, written whole or not
//! at all.
//!
//! Rows are counted from 1, the header of a CSV file not included; messages name the file, the row
//! and the column. A missing value (an empty field, NA, NaN, null, …) is NaN in memory.

mod blocks;
mod calendar;
mod csv;
mod csv_kinds;
mod csv_write;
pub(crate) mod fuzzing;
mod header;
mod layout;
mod marks;
mod number;
mod odd;
mod parquet_file;
mod parquet_leaf;
mod parquet_pages;
mod parquet_read;
mod parquet_values;
mod parquet_write;
mod pieces;
mod records;
mod source;
#[cfg(test)]
mod tests;
mod texts;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;

use crate::output::{self, Pending};
use csv::{Csv, CsvStream};
use csv_kinds::Kind;
use csv_write::{CsvSink, Style};
use layout::Layout;
pub(crate) use odd::{Mark, Na, Odd};
use parquet_file::Parquet;
use parquet_leaf::Leaf;
use parquet_read::ParquetStream;
use parquet_values::Meaning;
use parquet_write::ParquetSink;

/// Whether a text usually stands for a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    number::is_missing(text.trim().as_bytes())
}

/// How to read and write files of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Format {
    /// The separator of a CSV file; guessed from its header when left out.
    pub(crate) separator: Option<u8>,
    /// Whether 3,14 stands for 3.14.
    pub(crate) decimal_comma: bool,
    /// What stands for a missing value too.
    pub(crate) na: Na,
}

/// An opened table whose header has been read.
pub(crate) struct Table(Opened, Na);

enum Opened {
    Csv(Csv),
    Parquet(Parquet),
}

/// A column to read as numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberColumn {
    /// Its place in the header.
    pub(crate) column: usize,
    /// Whether a value that is no number is a failure; otherwise the column is given up.
    pub(crate) required: bool,
}

/// What a column of numbers turned out to be.
pub(crate) enum Numbers {
    /// Numbers; NaN where missing.
    Values(Vec<f64>),
    /// Not a column of numbers: the first value that is none, and its row.
    NotNumbers {
        /// The value.
        value: String,
        /// Its row, counted from 1.
        row: u64,
    },
}

/// A column of text, each different value once. Only an empty field is missing: NA may be a name.
pub(crate) struct Texts {
    /// The different values, in order of appearance; empty text where missing.
    pub(crate) values: Vec<String>,
    /// For each row its place in `values`.
    pub(crate) rows: Vec<u32>,
}

/// Chosen columns of a whole table, in the order asked for.
pub(crate) struct Columns {
    /// Rows in the table.
    pub(crate) rows: usize,
    pub(crate) numbers: Vec<Numbers>,
    /// For each of them the cells that hold no number.
    pub(crate) odd: Vec<Odd>,
    pub(crate) texts: Vec<Texts>,
}

/// Some rows of a table that is read as a stream.
pub(crate) struct Batch {
    /// How many.
    pub(crate) rows: usize,
    /// The first of them, counted from 1 in the table.
    pub(crate) first_row: u64,
    /// The numbers of the columns asked for; NaN where missing.
    pub(crate) numbers: Vec<Vec<f64>>,
    /// For each of them the cells that hold no number.
    pub(crate) odd: Vec<Odd>,
    /// The texts of the columns asked for.
    pub(crate) texts: Vec<Texts>,
    /// All columns, for a sink.
    kept: Kept,
}

/// The rows of a batch as they were in the file.
enum Kept {
    Csv {
        bytes: blocks::Buffer,
        /// Where each record lies in the bytes, without its line end.
        records: Vec<Range<u32>>,
    },
    /// Every column as it is stored.
    Parquet(Vec<Leaf>),
}

/// A table that is read batch by batch.
pub(crate) struct Stream(Streamed, Na);

enum Streamed {
    Csv(CsvStream),
    Parquet(ParquetStream),
}

/// A column that is added to a table.
pub(crate) struct NewColumn {
    pub(crate) name: String,
    pub(crate) kind: NewKind,
}

/// What an added column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewKind {
    Number,
    Flag,
    Text,
}

/// The values of an added column for one batch.
pub(crate) enum NewValues {
    /// NaN is written as missing.
    Numbers(Vec<f64>),
    /// None is written as missing.
    Flags(Vec<Option<bool>>),
    /// The different texts, and for each row its place among them; None is written as missing.
    Texts(Arc<[String]>, Vec<Option<u32>>),
}

/// A file that is being written: the rows of a stream with further columns.
pub(crate) struct Sink {
    /// What each further column holds.
    kinds: Vec<NewKind>,
    file: Written,
}

enum Written {
    Csv {
        sink: CsvSink,
        /// Where the columns of a Parquet file are stored; empty for a CSV file.
        places: Vec<(usize, Meaning)>,
    },
    Parquet {
        sink: Box<ParquetSink>,
        /// How a CSV file is laid out, and what its columns hold.
        source: Option<(String, Layout, Vec<Kind>)>,
    },
}

impl Table {
    /// Opens a file and reads its header; `-` is standard input. The format is known by content
    /// (gzip and Parquet have their marks), not by name.
    pub(crate) fn open(path: &Path, format: &Format) -> anyhow::Result<Self> {
        let source = source::open(path)?;
        match source.kind {
            source::Kind::Text(head, rest) => {
                let csv = Csv::open(source.name, source.path, source.progress, format, head, rest)?;
                Ok(Self(Opened::Csv(csv), format.na.clone()))
            }
            source::Kind::Parquet(file) => {
                let parquet = Parquet::open(source.name, format, file)?;
                Ok(Self(Opened::Parquet(parquet), format.na.clone()))
            }
        }
    }

    /// What messages call it: the path as given, or "standard input".
    pub(crate) fn name(&self) -> &str {
        match &self.0 {
            Opened::Csv(csv) => &csv.name,
            Opened::Parquet(parquet) => &parquet.name,
        }
    }

    /// What lies between the fields of a CSV file.
    pub(crate) fn separator(&self) -> Option<u8> {
        match &self.0 {
            Opened::Csv(csv) => Some(csv.header.layout.separator),
            Opened::Parquet(_) => None,
        }
    }

    /// The names of all columns, none of them twice.
    pub(crate) fn header(&self) -> &[String] {
        match &self.0 {
            Opened::Csv(csv) => &csv.header.names,
            Opened::Parquet(parquet) => &parquet.names,
        }
    }

    /// The place of a column, or a sentence that names the file, the column asked for, those there
    /// are, and the nearest of them.
    pub(crate) fn column(&self, name: &str) -> anyhow::Result<usize> {
        self.column_for(name, "")
    }

    /// As [`Self::column`]; `why` follows the name in the sentence and says what it is wanted for.
    pub(crate) fn column_for(&self, name: &str, why: &str) -> anyhow::Result<usize> {
        header::find(self.name(), self.header(), name, why)
    }

    /// "It has: x, mu, y".
    pub(crate) fn listing(&self) -> String {
        header::listing(self.header())
    }

    /// Reads the chosen columns of all rows. `done` is told the share that was read and says
    /// whether to stop.
    pub(crate) fn read(
        self,
        numbers: &[NumberColumn],
        texts: &[usize],
        done: &mut dyn FnMut(f64) -> bool,
    ) -> anyhow::Result<Columns> {
        self.check_places(numbers.iter().map(|number| &number.column).chain(texts))?;
        let mut read = match self.0 {
            Opened::Csv(csv) => csv.read(numbers, texts, done, &self.1),
            Opened::Parquet(parquet) => parquet.read(numbers, texts, done),
        }?;
        for (numbers, odd) in read.numbers.iter_mut().zip(&mut read.odd) {
            if let Numbers::Values(values) = numbers {
                self.1.take_out(values, 0, odd);
            }
        }
        Ok(read)
    }

    /// Reads batch by batch, keeping every column for a [`Sink`].
    pub(crate) fn stream(self, numbers: &[usize], texts: &[usize]) -> anyhow::Result<Stream> {
        self.check_places(numbers.iter().chain(texts))?;
        match self.0 {
            Opened::Csv(csv) => {
                Ok(Stream(Streamed::Csv(csv.stream(numbers, texts, &self.1)), self.1))
            }
            Opened::Parquet(parquet) => {
                Ok(Stream(Streamed::Parquet(parquet.stream(numbers, texts)?), self.1))
            }
        }
    }

    fn check_places<'a>(&self, places: impl IntoIterator<Item = &'a usize>) -> anyhow::Result<()> {
        let columns = self.header().len();
        match places.into_iter().find(|&&place| place >= columns) {
            Some(place) => bail!("{} has no column {}, only {columns}", self.name(), place + 1),
            None => Ok(()),
        }
    }
}

impl Stream {
    /// The next rows; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> anyhow::Result<Option<Batch>> {
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
    pub(crate) fn share_read(&self) -> Option<f64> {
        match &self.0 {
            Streamed::Csv(csv) => csv.progress.share(),
            Streamed::Parquet(parquet) => Some(parquet.share_read()),
        }
    }

    fn header(&self) -> &[String] {
        match &self.0 {
            Streamed::Csv(csv) => &csv.header.names,
            Streamed::Parquet(parquet) => &parquet.table.names,
        }
    }
}

impl Sink {
    /// Begins a file beside `path`, which takes its place in the end; `-` is standard output. A name
    /// that ends in .parquet makes a Parquet file, .gz a gzipped CSV, any other a CSV with the
    /// separator of the table that was read, or of a Parquet file commas (tabs for .tsv).
    ///
    /// A sink comes before the first batch of its stream.
    pub(crate) fn create(
        path: &Path,
        stream: &Stream,
        columns: Vec<NewColumn>,
    ) -> anyhow::Result<Self> {
        let mut names = stream.header().to_vec();
        for column in &columns {
            if names.contains(&column.name) {
                bail!(
                    "the table has a column {:?} already; give the new one another name",
                    column.name
                );
            }
            names.push(column.name.clone());
        }
        let ends_in =
            |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        let tabs = matches!(output::ending(path).as_deref(), Some("tsv" | "tsv.gz"));
        let kinds = columns.iter().map(|column| column.kind).collect();
        let file = match (&stream.0, ends_in("parquet")) {
            (Streamed::Csv(csv), false) => {
                let style = Style {
                    separator: csv.header.layout.separator,
                    line_end: csv.header.line_end,
                    decimal_comma: csv.header.layout.decimal_comma,
                    gzip: ends_in("gz"),
                    at_once: path.as_os_str() == "-",
                };
                let file = Pending::create(path)?;
                let sink = CsvSink::new(file, style, &csv.header.raw, &columns)?;
                Written::Csv { sink, places: vec![] }
            }
            (Streamed::Parquet(parquet), false) => {
                let table = &parquet.table;
                let style = Style {
                    separator: table.format.separator.unwrap_or(if tabs { b'\t' } else { b',' }),
                    line_end: "\n",
                    decimal_comma: table.format.decimal_comma,
                    gzip: ends_in("gz"),
                    at_once: path.as_os_str() == "-",
                };
                let place = |(i, place): (usize, &Option<_>)| place.ok_or_else(|| table.nested(i));
                let places = table.places.iter().enumerate().map(place);
                let places = places.collect::<anyhow::Result<_>>()?;
                let file = Pending::create(path)?;
                let sink = CsvSink::new(file, style, &style.header(&table.names), &columns)?;
                Written::Csv { sink, places }
            }
            (Streamed::Parquet(parquet), true) => {
                let name = path.display().to_string();
                let file = Pending::create(path)?;
                let sink = ParquetSink::like(name, file, &parquet.table, &columns)?;
                Written::Parquet { sink: Box::new(sink), source: None }
            }
            (Streamed::Csv(csv), true) => {
                let kinds = csv.kinds()?;
                let name = path.display().to_string();
                let file = Pending::create(path)?;
                let sink = ParquetSink::typed(name, file, &csv.header.names, &kinds, &columns)?;
                let source = Some((csv.name.clone(), csv.header.layout, kinds));
                Written::Parquet { sink: Box::new(sink), source }
            }
        };
        Ok(Self { kinds, file })
    }

    /// Adds the rows of a batch with their new values, one entry per new column.
    pub(crate) fn write(&mut self, batch: &Batch, values: &[NewValues]) -> anyhow::Result<()> {
        let fits = |(kind, values): (&NewKind, &NewValues)| match (kind, values) {
            (NewKind::Number, NewValues::Numbers(values)) => values.len() == batch.rows,
            (NewKind::Flag, NewValues::Flags(values)) => values.len() == batch.rows,
            (NewKind::Text, NewValues::Texts(_, rows)) => rows.len() == batch.rows,
            _ => false,
        };
        if values.len() != self.kinds.len() || !self.kinds.iter().zip(values).all(fits) {
            bail!("the new values do not fit the rows and columns of the table");
        }
        let new: Vec<Leaf> = match self.file {
            Written::Csv { .. } => vec![],
            Written::Parquet { .. } => values.iter().map(parquet_write::leaf_of).collect(),
        };
        match (&mut self.file, &batch.kept) {
            (Written::Csv { sink, .. }, Kept::Csv { bytes, records }) => {
                sink.write_records(bytes, records, values)
            }
            (Written::Csv { sink, places }, Kept::Parquet(leaves)) => {
                let leaf =
                    |(leaf, meaning): &(usize, Meaning)| Some((leaves.get(*leaf)?, *meaning));
                let leaves: Vec<_> = places.iter().filter_map(leaf).collect();
                sink.write_leaves(batch.rows, &leaves, values)
            }
            (Written::Parquet { sink, .. }, Kept::Parquet(leaves)) => {
                let parts: Vec<_> = leaves.iter().chain(&new).map(|leaf| vec![leaf]).collect();
                sink.write(batch.rows, &parts)
            }
            (Written::Parquet { sink, source: Some(source) }, Kept::Csv { bytes, records }) => {
                let (name, layout, kinds) = source;
                let Some(old) = csv_kinds::convert(bytes, records, layout, kinds) else {
                    bail!("{name} has changed while it was read");
                };
                let old = old.iter().map(|parts| parts.iter().collect());
                let parts: Vec<Vec<&Leaf>> = old.chain(new.iter().map(|leaf| vec![leaf])).collect();
                sink.write(batch.rows, &parts)
            }
            _ => bail!("a batch of one table cannot be written with another"),
        }
    }

    /// Completes the file and puts it in its place.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.file {
            Written::Csv { sink, .. } => sink.finish(),
            Written::Parquet { sink, .. } => sink.finish(),
        }
    }
}
