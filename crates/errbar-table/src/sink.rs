//! Files that are written: the rows of a stream with further columns.

use std::path::Path;
use std::sync::Arc;

use crate::csv::kinds::{self, Kind};
use crate::csv::layout::Layout;
use crate::csv::write::{CsvSink, Style};
use crate::output::{self, Pending};
use crate::parquet::leaf::Leaf;
use crate::parquet::values::Meaning;
use crate::parquet::write::{self, ParquetSink};
use crate::stream::{RawRows, Streamed};
use crate::{Batch, Error, Result, Stream};

/// A column that is added to a table.
pub struct NewColumn {
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub kind: NewKind,
}

/// What an added column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewKind {
    /// Numbers.
    Number,
    /// True or false.
    Flag,
    /// Text.
    Text,
}

/// The values of an added column for one batch.
pub enum NewValues {
    /// NaN is written as missing.
    Numbers(Vec<f64>),
    /// None is written as missing.
    Flags(Vec<Option<bool>>),
    /// The different texts, and for each row its place among them; None is written as missing.
    Texts(Arc<[String]>, Vec<Option<u32>>),
}

/// A file that is being written: the rows of a stream with further columns.
pub struct Sink {
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

impl Sink {
    /// Begins a file beside `path`, which takes its place in the end; `-` is standard output. A name
    /// that ends in .parquet makes a Parquet file, .gz a gzipped CSV, any other a CSV with the
    /// separator of the table that was read, or of a Parquet file commas (tabs for .tsv).
    ///
    /// A sink comes before the first batch of its stream. For a Parquet file of a CSV table it looks at
    /// all rows; `stop` says whether to give that up.
    ///
    /// # Errors
    /// A name that is taken, a place that cannot be written to, a table that cannot be read, or
    /// [`Error::Stopped`].
    pub fn create(
        path: &Path,
        stream: &Stream,
        columns: Vec<NewColumn>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let mut names = stream.header().to_vec();
        for column in &columns {
            if names.contains(&column.name) {
                return Err(Error::Usage(format!(
                    "the table has a column {:?} already; give the new one another name",
                    column.name
                )));
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
                let places = places.collect::<Result<_>>()?;
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
                let kinds = csv.kinds(stop)?;
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
    ///
    /// # Errors
    /// Values that do not fit the batch, or a failure to write.
    pub fn write(&mut self, batch: &Batch, values: &[NewValues]) -> Result<()> {
        let fits = |(kind, values): (&NewKind, &NewValues)| match (kind, values) {
            (NewKind::Number, NewValues::Numbers(values)) => values.len() == batch.rows,
            (NewKind::Flag, NewValues::Flags(values)) => values.len() == batch.rows,
            (NewKind::Text, NewValues::Texts(_, rows)) => rows.len() == batch.rows,
            _ => false,
        };
        if values.len() != self.kinds.len() || !self.kinds.iter().zip(values).all(fits) {
            let why = "the new values do not fit the rows and columns of the table";
            return Err(Error::Usage(why.into()));
        }
        let new: Vec<Leaf> = match self.file {
            Written::Csv { .. } => vec![],
            Written::Parquet { .. } => values.iter().map(write::leaf_of).collect(),
        };
        match (&mut self.file, &batch.kept) {
            (Written::Csv { sink, .. }, RawRows::Csv { bytes, records }) => {
                sink.write_records(bytes, records, values)
            }
            (Written::Csv { sink, places }, RawRows::Parquet(leaves)) => {
                let leaf =
                    |(leaf, meaning): &(usize, Meaning)| Some((leaves.get(*leaf)?, *meaning));
                let leaves: Vec<_> = places.iter().filter_map(leaf).collect();
                sink.write_leaves(batch.rows, &leaves, values)
            }
            (Written::Parquet { sink, .. }, RawRows::Parquet(leaves)) => {
                let parts: Vec<_> = leaves.iter().chain(&new).map(|leaf| vec![leaf]).collect();
                sink.write(batch.rows, &parts)
            }
            (Written::Parquet { sink, source: Some(source) }, RawRows::Csv { bytes, records }) => {
                let (name, layout, kinds) = source;
                let Some(old) = kinds::convert(bytes, records, layout, kinds) else {
                    return Err(Error::Content(format!("{name} has changed while it was read")));
                };
                let old = old.iter().map(|parts| parts.iter().collect());
                let parts: Vec<Vec<&Leaf>> = old.chain(new.iter().map(|leaf| vec![leaf])).collect();
                sink.write(batch.rows, &parts)
            }
            _ => Err(Error::Usage("a batch of one table cannot be written with another".into())),
        }
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// A failure to write.
    pub fn finish(self) -> Result<()> {
        match self.file {
            Written::Csv { sink, .. } => sink.finish(),
            Written::Parquet { sink, .. } => sink.finish(),
        }
    }
}
