//! Columns of a table by what they mean: read, rows with gaps left out, the rest checked.
//!
//! A command asks a [`Request`] for the columns it needs, each in a [`Role`], which says what it may
//! be called and may hold, and gets an id for it. [`Request::read`] reads them all at once,
//! leaves out the rows in which one of them is missing (and counts them), refuses infinities and
//! values out of range by file, row and column, and remembers which rows of the file were kept.

mod kept;
mod role;
mod times;
mod words;

use std::path::{Path, PathBuf};

use anyhow::bail;
use errbar::Monitor;
use errbar_table::dates::DateFormat;
use errbar_table::{Format, NumberColumn, Numbers, Table};

pub(crate) use self::kept::{Columns, retain};
pub(crate) use self::role::Role;
use self::times::{RequestedTimes, Times};
use crate::arguments::{Missing, TableArguments};
use crate::console::Console;
use crate::{advice, stop};

/// The columns a command wants from a table that has been opened.
pub(crate) struct Request {
    path: PathBuf,
    format: Format,
    missing: Option<Missing>,
    table: Table,
    numbers: Vec<RequestedColumn>,
    texts: Vec<usize>,
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
    /// Opens a table; `-` is standard input.
    pub(crate) fn open(path: &Path, arguments: &TableArguments) -> anyhow::Result<Self> {
        let table = arguments.open(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            format: arguments.format(),
            missing: arguments.missing,
            table,
            numbers: Vec::new(),
            texts: Vec::new(),
            time: None,
            notes: Vec::new(),
        })
    }

    /// The names of all columns.
    pub(crate) fn header(&self) -> &[String] {
        self.table.header()
    }

    /// Whether a column has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header().iter().any(|column| column == name)
    }

    /// "It has: x, mu, y".
    pub(crate) fn listing(&self) -> String {
        advice::listing(&self.table)
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
        let column = self.table.column(name)?;
        self.numbers.push(RequestedColumn::new(role, name, column, required));
        Ok(NumberId(self.numbers.len() - 1))
    }

    /// A column of text; a row without one is kept, with empty text.
    pub(crate) fn text(&mut self, name: &str) -> anyhow::Result<TextId> {
        self.texts.push(self.table.column(name)?);
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
            let column = self.table.column(name)?;
            let column = RequestedColumn::new(Role::Time, name, column, false);
            self.time = Some(RequestedTimes { column, format: format.cloned() });
        }
        Ok(())
    }

    /// Reads everything that was asked for.
    pub(crate) fn read(self, console: Console) -> anyhow::Result<Columns> {
        let file = self.table.name().to_string();
        let from_input = self.path.as_os_str() == "-";
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
        let places: Vec<usize> = self.numbers.iter().map(&mut place).collect();
        let must_be_text = self.time.as_ref().is_some_and(RequestedTimes::must_be_text);
        let time_place =
            self.time.as_ref().filter(|_| !must_be_text).map(|time| place(&time.column));
        // Standard input cannot be read again, should its times turn out to be text.
        let mut texts = self.texts.clone();
        let time_text = self.time.as_ref().filter(|_| from_input || must_be_text);
        texts.extend(time_text.map(|time| time.column.column));
        let has_time_text = time_text.is_some();
        let read = read_table(self.table, &columns, &texts, console)?;
        let (mut found, mut found_texts) = (read.numbers, read.texts);

        let times: Option<Times> = match (&self.time, time_place.map(|at| &found[at])) {
            (Some(asked), Some(Numbers::Values(values))) => Some(asked.of_numbers(values)),
            (Some(asked), numbers) => {
                let texts = match has_time_text {
                    true => found_texts.pop(),
                    false => {
                        let table = Table::open(&self.path, &self.format)?;
                        let column = table.column(&asked.column.name)?;
                        read_table(table, &[], &[column], console)?.texts.pop()
                    }
                };
                let Some(texts) = texts else { bail!("{file} has changed while it was read") };
                Some(asked.of_texts(texts, numbers, &self.format.na, &file)?)
            }
            (None, _) => None,
        };
        found_texts.truncate(self.texts.len());
        if times.as_ref().is_some_and(|times| times.values.len() != read.rows) {
            bail!("{file} has changed while it was read");
        }

        // A column used twice is copied; almost always each is used once and moved.
        let mut last_use = vec![0; found.len()];
        places.iter().enumerate().for_each(|(id, &at)| last_use[at] = id);
        let numbers = places.iter().enumerate().map(|(id, &at)| {
            let nothing = Numbers::Values(Vec::new());
            if last_use[at] == id {
                std::mem::replace(&mut found[at], nothing)
            } else {
                copy(&found[at])
            }
        });
        let mut kept = Columns {
            file,
            total_rows: read.rows,
            rows: read.rows,
            numbers_of_rows: None,
            numbers: numbers.collect(),
            odd: places.iter().map(|&at| read.odd[at].clone()).collect(),
            asked: self.numbers,
            texts: found_texts,
            dates: times.as_ref().is_some_and(|times| times.are_dates),
            time_written: times.as_ref().and_then(|times| times.written.clone()),
            time: times.map(|times| times.values),
            left_out: Vec::new(),
            notes: self.notes,
        };
        kept.give_up_empty_columns();
        kept.leave_out(self.missing, self.time.as_ref().map(|time| &time.column))?;
        kept.check()?;
        kept.sort_by_time();
        Ok(kept)
    }
}

fn read_table(
    table: Table,
    numbers: &[NumberColumn],
    texts: &[usize],
    console: Console,
) -> anyhow::Result<errbar_table::Columns> {
    let progress = console.progress("Reading");
    let read = table.read(numbers, texts, &mut |share: f64| {
        progress.progress(share);
        progress.should_stop()
    });
    stop::check()?;
    Ok(read?)
}

fn copy(numbers: &Numbers) -> Numbers {
    match numbers {
        Numbers::Values(values) => Numbers::Values(values.clone()),
        Numbers::NotNumbers { value, row } => {
            Numbers::NotNumbers { value: value.clone(), row: *row }
        }
    }
}
