//! Columns of a table by what they mean: read, rows with gaps left out, the rest checked.
//!
//! A command asks a [`Request`] for the columns it needs, each in a [`Role`], which says what it may
//! be called and may hold, and gets an id for it. [`Request::read`] reads them all at once,
//! leaves out the rows in which one of them is missing (and counts them), refuses infinities and
//! values out of range by file, row and column, and remembers which rows of the file were kept.

mod kept;
mod role;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use errbar::Monitor;
use errbar_table::{Format, NumberColumn, Numbers, Table, Texts};

pub(crate) use self::kept::{Columns, retain};
pub(crate) use self::role::Role;
use crate::arguments::{Missing, TableArguments};
use crate::console::Console;
use crate::time::parse_times;
use crate::{advice, stop};

/// The columns a command wants from a table that has been opened.
pub(crate) struct Request {
    path: PathBuf,
    format: Format,
    missing: Option<Missing>,
    table: Table,
    numbers: Vec<RequestedColumn>,
    texts: Vec<usize>,
    time: Option<RequestedColumn>,
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

    /// The column of times, where there is one, as numbers or as dates in text; a row without one is
    /// left out. The rows are then kept in order of time.
    pub(crate) fn time(&mut self, name: Option<&str>) -> anyhow::Result<()> {
        if let Some(name) = name {
            let column = self.table.column(name)?;
            self.time = Some(RequestedColumn::new(Role::Time, name, column, false));
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
        let time_place = self.time.as_ref().map(&mut place);
        // Standard input cannot be read again, should its times turn out to be text.
        let mut texts = self.texts.clone();
        let time_text = self.time.as_ref().filter(|_| from_input).map(|time| {
            texts.push(time.column);
            texts.len() - 1
        });
        let read = read_table(self.table, &columns, &texts, console)?;
        let (mut found, mut found_texts) = (read.numbers, read.texts);

        let time = match (&self.time, time_place.map(|at| &found[at])) {
            (Some(asked), Some(Numbers::NotNumbers { .. })) => {
                let texts = match time_text {
                    Some(_) => found_texts.pop(),
                    None => {
                        let table = Table::open(&self.path, &self.format)?;
                        let column = table.column(&asked.name)?;
                        read_table(table, &[], &[column], console)?.texts.pop()
                    }
                };
                let Some(mut texts) = texts else { bail!("{file} has changed while it was read") };
                for value in &mut texts.values {
                    if errbar_table::is_missing(value) || self.format.na.is_text(value.as_bytes()) {
                        value.clear();
                    }
                }
                let times = parse_times(&texts.values).with_context(|| {
                    format!("{file}, row {}, column \"{}\"", row_of_first_wrong(&texts), asked.name)
                })?;
                Some(texts.rows.iter().map(|&value| times[value as usize]).collect())
            }
            (Some(_), Some(Numbers::Values(values))) => Some(values.clone()),
            _ => None,
        };
        found_texts.truncate(self.texts.len());
        if time.as_ref().is_some_and(|time: &Vec<f64>| time.len() != read.rows) {
            bail!("{file} has changed while it was read");
        }

        let dates = matches!(time_place.map(|at| &found[at]), Some(Numbers::NotNumbers { .. }));
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
            dates,
            time,
            left_out: Vec::new(),
            notes: self.notes,
        };
        kept.give_up_empty_columns();
        kept.leave_out(self.missing, self.time.as_ref())?;
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

/// The row of the first text, among some that are not all times, with which they are not.
fn row_of_first_wrong(texts: &Texts) -> usize {
    let (mut good, mut wrong) = (0, texts.values.len());
    while wrong - good > 1 {
        let middle = good.midpoint(wrong);
        match parse_times(&texts.values[..middle]) {
            Ok(_) => good = middle,
            Err(_) => wrong = middle,
        }
    }
    texts.rows.iter().position(|&value| value as usize == good).map_or(1, |row| row + 1)
}

fn copy(numbers: &Numbers) -> Numbers {
    match numbers {
        Numbers::Values(values) => Numbers::Values(values.clone()),
        Numbers::NotNumbers { value, row } => {
            Numbers::NotNumbers { value: value.clone(), row: *row }
        }
    }
}
