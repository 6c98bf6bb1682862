//! Opened tables, and their columns read whole.

use std::path::Path;

use crate::csv::Csv;
use crate::csv::reading::CsvReading;
use crate::parquet::file::Parquet;
use crate::parquet::reading::ParquetReading;
use crate::stream::Stream;
use crate::{Error, Format, Na, Note, Odd, names, source};

/// An opened table whose header has been read.
pub struct Table(pub(crate) Opened, Na);

pub(crate) enum Opened {
    Csv(Csv),
    Parquet(Parquet),
}

/// A column to read as numbers.
#[derive(Debug, Clone, Copy)]
pub struct NumberColumn {
    /// Its place in the header.
    pub column: usize,
    /// Whether a value that is no number is a failure; otherwise the column is given up.
    pub required: bool,
}

/// What a column of numbers turned out to be.
pub enum Numbers {
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
pub struct Texts {
    /// The different values, in order of appearance; empty text where missing.
    pub values: Vec<String>,
    /// For each row its place in `values`.
    pub rows: Vec<u32>,
}

/// Chosen columns of a whole table, in the order asked for.
pub struct Columns {
    /// Rows in the table.
    pub rows: usize,
    /// The columns of numbers.
    pub numbers: Vec<Numbers>,
    /// For each of them the cells that hold no number.
    pub odd: Vec<Odd>,
    /// The columns of text.
    pub texts: Vec<Texts>,
}

/// A table of which chosen columns are read, some rows after the other. Only those columns are parsed.
pub struct Reading(Part);

enum Part {
    Csv(Box<CsvReading>),
    Parquet(Box<ParquetReading>),
}

impl Reading {
    /// Reads on until so many rows are there to be taken, and a few more, or the table ends, which it says. `done` is told
    /// the share of the table that was read and says whether to stop.
    ///
    /// # Errors
    /// As [`Table::read`]; a text in a column that must have numbers is told when there are many, or at the end.
    pub fn fill(&mut self, rows: u64, done: &mut dyn FnMut(f64) -> bool) -> crate::Result<bool> {
        match &mut self.0 {
            Part::Csv(csv) => csv.fill(rows, done),
            Part::Parquet(parquet) => parquet.fill(rows, done),
        }
    }

    /// Takes the rows that were read since the last time. Cells that hold no number are counted from the beginning of
    /// the table, different texts anew.
    pub fn take(&mut self) -> Columns {
        match &mut self.0 {
            Part::Csv(csv) => csv.take(),
            Part::Parquet(parquet) => parquet.take(),
        }
    }
}

impl Table {
    /// Opens a file and reads its header; `-` is standard input. The format is known by content
    /// (gzip, Parquet and spreadsheets have their marks), not by name.
    ///
    /// # Errors
    /// A file that is not there, or is no table: a sentence that says what it is instead.
    pub fn open(path: &Path, format: &Format) -> crate::Result<Self> {
        let source = source::open(path, format)?;
        match source.kind {
            source::Kind::Text(text) => {
                let csv = Csv::open(source.name, source.path, source.progress, format, text)?;
                Ok(Self(Opened::Csv(csv), format.na.clone()))
            }
            source::Kind::Parquet(file) => {
                let parquet = Parquet::open(source.name, format, file)?;
                Ok(Self(Opened::Parquet(parquet), format.na.clone()))
            }
        }
    }

    /// What messages call it: the path as given, or "standard input".
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Opened::Csv(csv) => &csv.name,
            Opened::Parquet(parquet) => &parquet.name,
        }
    }

    /// What is worth knowing of how it is read.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        match &self.0 {
            Opened::Csv(csv) => &csv.header.notes,
            Opened::Parquet(_) => &[],
        }
    }

    /// What the columns hold, where they have a type: one that reads alike is alike.
    pub(crate) fn types(&self) -> Option<Vec<String>> {
        match &self.0 {
            Opened::Csv(_) => None,
            Opened::Parquet(parquet) => Some(parquet.types()),
        }
    }

    /// The names of all columns, none of them twice.
    #[must_use]
    pub fn header(&self) -> &[String] {
        match &self.0 {
            Opened::Csv(csv) => &csv.header.names,
            Opened::Parquet(parquet) => &parquet.names,
        }
    }

    /// The place of a column.
    ///
    /// # Errors
    /// [`crate::NoColumn`]: a sentence that names the file, the column asked for, those there are, and
    /// the nearest of them.
    pub fn column(&self, name: &str) -> crate::Result<usize> {
        self.column_for(name, "")
    }

    /// As [`Self::column`]; `why` follows the name in the sentence and says what it is wanted for.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn column_for(&self, name: &str, why: &str) -> crate::Result<usize> {
        Ok(names::find(self.name(), self.header(), name, why)?)
    }

    /// The places of the columns that patterns stand for, in the order of the table: a name stands for itself, and `*` in
    /// one for any characters.
    ///
    /// # Errors
    /// As [`Self::column_for`], for a pattern that no column matches.
    pub fn matching(&self, patterns: &[String], why: &str) -> crate::Result<Vec<usize>> {
        Ok(names::matching(self.name(), self.header(), patterns, why)?)
    }

    /// "It has: x, mu, y".
    #[must_use]
    pub fn listing(&self) -> String {
        names::listing(self.header())
    }

    /// Whether its only column has a name that holds a separator: a header in one piece was probably
    /// read with the wrong one.
    #[must_use]
    pub fn is_uncut(&self) -> bool {
        names::is_uncut(self.header())
    }

    /// Reads the chosen columns of all rows. `done` is told the share that was read and says
    /// whether to stop.
    ///
    /// # Errors
    /// What is wrong with the file, and where; [`crate::NotNumber`] for a text in a column that must
    /// have numbers; [`Error::Stopped`].
    pub fn read(
        self,
        numbers: &[NumberColumn],
        texts: &[usize],
        done: &mut dyn FnMut(f64) -> bool,
    ) -> crate::Result<Columns> {
        let mut reading = self.reading(numbers, texts)?;
        reading.fill(u64::MAX, done)?;
        Ok(reading.take())
    }

    /// Begins to read the chosen columns, some rows after the other.
    ///
    /// # Errors
    /// A column that cannot be read as it is asked for.
    pub fn reading(self, numbers: &[NumberColumn], texts: &[usize]) -> crate::Result<Reading> {
        self.check_places(numbers.iter().map(|number| &number.column).chain(texts))?;
        Ok(Reading(match self.0 {
            Opened::Csv(csv) => Part::Csv(Box::new(csv.reading(numbers, texts, &self.1))),
            Opened::Parquet(parquet) => {
                Part::Parquet(Box::new(parquet.reading(numbers, texts, &self.1)?))
            }
        }))
    }

    /// Reads batch by batch, keeping every column for a [`crate::Sink`].
    ///
    /// # Errors
    /// A column that cannot be read as it is asked for.
    pub fn stream(self, numbers: &[usize], texts: &[usize]) -> crate::Result<Stream> {
        self.check_places(numbers.iter().chain(texts))?;
        Stream::of_table(self, numbers, texts)
    }

    pub(crate) fn into_parts(self) -> (Opened, Na) {
        (self.0, self.1)
    }

    fn check_places<'a>(&self, places: impl IntoIterator<Item = &'a usize>) -> crate::Result<()> {
        let columns = self.header().len();
        match places.into_iter().find(|&&place| place >= columns) {
            Some(place) => {
                let (name, place) = (self.name(), place + 1);
                Err(Error::Usage(format!("{name} has no column {place}, only {columns}")))
            }
            None => Ok(()),
        }
    }
}
