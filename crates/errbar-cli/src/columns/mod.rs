//! Columns of a table by what they mean: read, rows with gaps left out, the rest checked.
//!
//! A command asks a [`Request`] for the columns it needs, each in a [`Role`], which says what it may
//! be called and may hold, and gets an id for it. [`Request::read`] reads them all at once,
//! leaves out the rows in which one of them is missing (and counts them), refuses infinities and
//! values out of range by file, row and column, and remembers which rows of the file were kept.

mod categories;
mod kept;
mod members;
mod passing;
mod reader;
mod role;
mod times;
mod words;

use std::path::PathBuf;

use errbar_table::dates::DateFormat;
use errbar_table::files::Files;
use errbar_table::{Na, NumberColumn, Tables};

use self::categories::WantedCategory;
pub(crate) use self::kept::{Columns, FileRows, retain};
pub(crate) use self::members::Sources;
use self::members::{Made, Making};
pub(crate) use self::passing::{HELD, Passing, Surprise};
use self::reader::{Reader, Wanted, WantedTime};
pub(crate) use self::role::Role;
use self::times::RequestedTimes;
use crate::advice;
use crate::arguments::{Missing, TableArguments};
use crate::console::Console;
use crate::training::listed;

/// The columns a command wants from files that have been opened, and are one table.
pub(crate) struct Request {
    na: Na,
    missing: Option<Missing>,
    tables: Tables,
    /// The names of all columns that all files have, and of those that are made.
    header: Vec<String>,
    /// What is made of members of an ensemble.
    made: Option<Made>,
    numbers: Vec<RequestedColumn>,
    texts: Vec<usize>,
    categories: Vec<WantedCategory>,
    time: Option<RequestedTimes>,
    /// What was taken without being named.
    notes: Vec<String>,
}

/// A column of numbers that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberId(usize);

/// A column of text that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextId(usize);

/// A column, and what it was asked for as.
#[derive(Debug, Clone)]
struct RequestedColumn {
    role: Role,
    name: String,
    column: usize,
    required: bool,
    /// Whether a gap leaves the row in, as NaN.
    may_have_gaps: bool,
    may_be_infinite: bool,
}

impl RequestedColumn {
    fn new(role: Role, name: &str, column: usize, required: bool) -> Self {
        let (may_have_gaps, may_be_infinite) = (false, false);
        Self { role, name: name.into(), column, required, may_have_gaps, may_be_infinite }
    }
}

impl Request {
    /// Opens the files that paths stand for, as one table; `-` is standard input.
    pub(crate) fn open(given: &[PathBuf], arguments: &TableArguments) -> anyhow::Result<Self> {
        let Files { paths, left_out } = Files::of(given)?;
        let format = arguments.format.format();
        let tables = Tables::open(&paths, &format)?;
        let left_out =
            left_out.iter().map(|what| format!("no tables by their names, and not read: {what}"));
        let notes: Vec<String> = left_out.chain(tables.notes().map(advice::on_note)).collect();
        Ok(Self {
            na: format.na,
            missing: arguments.missing,
            header: tables.header().to_vec(),
            made: None,
            tables,
            numbers: Vec::new(),
            texts: Vec::new(),
            categories: Vec::new(),
            time: None,
            notes,
        })
    }

    /// The names of all columns that all files have, and of those that are made of members.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// What messages call the table.
    pub(crate) fn name(&self) -> String {
        self.tables.name()
    }

    /// "a.csv has", or "a.csv and b.csv have".
    fn have(&self) -> String {
        let have = if self.tables.len() == 1 { "has" } else { "have" };
        format!("{} {have}", self.tables.name())
    }

    /// Columns that not all files have, in words.
    pub(crate) fn not_in_all(&self) -> Option<String> {
        let some = self.tables.not_in_all();
        let each = |(name, with, without): &(&str, &str, &str)| {
            format!("\"{name}\" ({with} has it, {without} has not)")
        };
        let each: Vec<String> = some.iter().map(each).collect();
        let each: Vec<&str> = each.iter().map(String::as_str).collect();
        (!each.is_empty()).then(|| format!("not in all files, and not used: {}", listed(&each)))
    }

    /// Says something beside what is said of the columns.
    pub(crate) fn note(&mut self, words: &str) {
        self.notes.push(words.into());
    }

    /// Whether a column has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header().iter().any(|column| column == name)
    }

    /// "It has: x, mu, y".
    pub(crate) fn listing(&self) -> String {
        advice::listing(&self.tables)
    }

    /// That a column is not there; `why` says what it is wanted for.
    pub(crate) fn lacks(&self, name: &str, why: &str) -> anyhow::Error {
        match self.tables.column_for(name, why) {
            Err(error) => error.into(),
            Ok(_) => anyhow::anyhow!("{} no column \"{name}\"{why}", self.have()),
        }
    }

    /// The columns that patterns such as `m*` stand for; `why` says what they are wanted for.
    pub(crate) fn matching(&self, patterns: &[String], why: &str) -> anyhow::Result<Vec<String>> {
        Ok(self.tables.matching(patterns, why)?)
    }

    /// A column that must hold numbers that its role allows; a row without one is left out.
    pub(crate) fn number(&mut self, role: Role, name: &str) -> anyhow::Result<NumberId> {
        self.ask(role, name, true)
    }

    /// A column that is used if it holds numbers (see [`Columns::maybe`]); a row without one is left
    /// out. It is given up when a value is no number, or when all are missing.
    pub(crate) fn maybe_number(&mut self, role: Role, name: &str) -> anyhow::Result<NumberId> {
        self.ask(role, name, false)
    }

    /// A column that is used if it holds numbers, and whose gaps (and infinities) cost no row: they
    /// are for the caller to see.
    pub(crate) fn number_with_gaps(&mut self, role: Role, name: &str) -> anyhow::Result<NumberId> {
        let id = self.ask(role, name, false)?;
        self.numbers[id.0].may_have_gaps = true;
        self.numbers[id.0].may_be_infinite = true;
        Ok(id)
    }

    /// A gap in a column that was asked for costs no row: it is NaN. (With `--missing error` it is
    /// refused all the same.)
    pub(crate) fn keep_gaps(&mut self, id: NumberId) {
        self.numbers[id.0].may_have_gaps = self.missing != Some(Missing::Error);
    }

    /// Infinities in a column that was asked for are for the caller to see.
    pub(crate) fn keep_infinite(&mut self, id: NumberId) {
        self.numbers[id.0].may_be_infinite = true;
    }

    fn ask(&mut self, role: Role, name: &str, required: bool) -> anyhow::Result<NumberId> {
        let real = self.tables.header().len();
        let column = match self.header[real..].iter().position(|made| made == name) {
            Some(made) => real + made,
            None => self.tables.column(name)?,
        };
        self.numbers.push(RequestedColumn::new(role, name, column, required));
        Ok(NumberId(self.numbers.len() - 1))
    }

    /// A column of text; a row without one is kept, with empty text.
    pub(crate) fn text(&mut self, name: &str) -> anyhow::Result<TextId> {
        self.texts.push(self.tables.column(name)?);
        Ok(TextId(self.texts.len() - 1))
    }

    /// The column of times, where there is one, as numbers or as dates, written as told or as they
    /// are; a row without one is left out. The rows are then kept in order of time.
    pub(crate) fn time(
        &mut self,
        name: Option<&str>,
        format: Option<&DateFormat>,
    ) -> anyhow::Result<()> {
        if let Some(name) = name {
            let column = self.tables.column(name)?;
            let column = RequestedColumn::new(Role::Time, name, column, false);
            self.time = Some(RequestedTimes { column, format: format.cloned() });
        }
        Ok(())
    }

    /// Reads everything that was asked for.
    pub(crate) fn read(self, console: Console) -> anyhow::Result<Columns> {
        self.passing().read_all(console)
    }

    /// Reads everything that was asked for, unless that are more rows than so many: then what was read so far, and the
    /// rest to come.
    pub(crate) fn read_up_to(self, rows: usize, console: Console) -> anyhow::Result<Read> {
        let mut passing = self.passing();
        let progress = console.progress("Reading");
        let mut count = 0;
        while let Some(part) = passing.reader.next(1, &progress)? {
            count += part.columns.rows;
            passing.waiting.push_back(part);
            if count > rows {
                return Ok(Read::More(Box::new(passing)));
            }
        }
        let parts = std::mem::take(&mut passing.waiting);
        Ok(Read::All(Box::new(passing.join(parts, &progress)?)))
    }

    /// Splits what is wanted from where it comes from.
    fn passing(self) -> Passing {
        let Self { na, missing, tables, header: _, made, numbers, texts, categories, time, notes } =
            self;
        let real = tables.header().len();
        // Each column of the file once, whatever it is used as.
        let mut columns: Vec<NumberColumn> = Vec::new();
        let mut place = |asked: &RequestedColumn| {
            let RequestedColumn { column, required, .. } = *asked;
            if let Some(at) = columns.iter().position(|c| c.column == column) {
                columns[at].required |= required;
                return at;
            }
            columns.push(NumberColumn { column, required });
            columns.len() - 1
        };
        let are_read = |asked: &&RequestedColumn| asked.column < real;
        let read: Vec<usize> = numbers.iter().filter(are_read).map(&mut place).collect();
        let wanted_time = time.as_ref().map(|time| WantedTime::of(time, || place(&time.column)));
        // What is made comes after all that is read.
        let mut read = read.into_iter();
        let place = |asked: &RequestedColumn| match asked.column.checked_sub(real) {
            Some(made) => columns.len() + made,
            None => read.next().unwrap_or_default(),
        };
        let places: Vec<usize> = numbers.iter().map(place).collect();
        let making = made.map(|made| Making {
            members: made.members.iter().map(|id| places[id.0]).collect(),
            ensemble: made.ensemble,
        });
        let wanted = Wanted { numbers: columns, making, texts: texts.clone(), time: wanted_time };
        let reader = Reader::new(tables, wanted);
        Passing::new(
            Asked { na, missing, numbers, texts: texts.len(), categories, time, notes },
            reader,
            places,
        )
    }
}

/// What comes of reading up to so many rows.
pub(crate) enum Read {
    All(Box<Columns>),
    More(Box<Passing>),
}

/// What was asked of a table that is being read.
#[derive(Clone)]
struct Asked {
    na: Na,
    missing: Option<Missing>,
    numbers: Vec<RequestedColumn>,
    /// How many columns of text.
    texts: usize,
    categories: Vec<WantedCategory>,
    time: Option<RequestedTimes>,
    notes: Vec<String>,
}
