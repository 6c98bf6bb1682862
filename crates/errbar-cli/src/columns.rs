//! Columns of a table by what they mean: read, rows with gaps left out, the rest checked.
//!
//! A command asks a [`Request`] for the columns it needs, each with a role ("observation", "sigma",
//! "input", …) that messages use, and gets an id for it. [`Request::read`] reads them all at once,
//! leaves out the rows in which one of them is missing (and counts them), refuses infinities and
//! values out of range by file, row and column, and remembers which rows of the file were kept.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use errbar::Monitor;
use errbar_table::{Format, NumberColumn, Numbers, Odd, Table, Texts};

use crate::advice;
use crate::arguments::{Missing, TableArguments};
use crate::console::Console;
use crate::fill_values;
use crate::stop;
use crate::time::parse_times;

/// The columns a command wants from a table that has been opened.
pub(crate) struct Request {
    path: PathBuf,
    format: Format,
    missing: Option<Missing>,
    table: Table,
    numbers: Vec<RequestedColumn>,
    texts: Vec<usize>,
    time: Option<RequestedColumn>,
}

/// A column of numbers that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberId(usize);

/// A column of text that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextId(usize);

/// Which numbers a column may hold, besides being finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    Any,
    /// More than 0: sigmas.
    Positive,
    /// 0 or more: weights.
    NotNegative,
}

/// A column, and what it was asked for as.
#[derive(Debug, Clone)]
struct RequestedColumn {
    role: String,
    name: String,
    column: usize,
    range: Range,
    required: bool,
    /// Whether a gap leaves the row in, as NaN.
    may_have_gaps: bool,
    may_be_infinite: bool,
}

impl RequestedColumn {
    fn new(role: String, name: String, column: usize, range: Range, required: bool) -> Self {
        let (may_have_gaps, may_be_infinite) = (false, false);
        Self { role, name, column, range, required, may_have_gaps, may_be_infinite }
    }
}

/// The rows in which nothing is missing.
pub(crate) struct Columns {
    file: String,
    /// Rows in the file.
    total_rows: usize,
    rows: usize,
    /// The number in the file of each row, counted from 1; none when they are all there and in
    /// order.
    numbers_of_rows: Option<Vec<u64>>,
    asked: Vec<RequestedColumn>,
    numbers: Vec<Numbers>,
    /// The cells of each that hold no number.
    odd: Vec<Odd>,
    texts: Vec<Texts>,
    time: Option<Vec<f64>>,
    /// Whether the times were dates in text.
    dates: bool,
    /// What was missing, and in how many rows it was the first thing missing.
    left_out: Vec<(String, usize)>,
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
        })
    }

    /// The names of all columns.
    pub(crate) fn header(&self) -> &[String] {
        self.table.header()
    }

    /// What messages call the file.
    pub(crate) fn file(&self) -> &str {
        self.table.name()
    }

    /// "It has: x, mu, y".
    pub(crate) fn listing(&self) -> String {
        advice::listing(&self.table)
    }

    /// The first of these names that is a column.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<String> {
        names.iter().find(|name| self.header().iter().any(|h| h == *name)).map(ToString::to_string)
    }

    /// A column that must hold numbers of some range; a row without one is left out.
    pub(crate) fn number(
        &mut self,
        role: &str,
        name: &str,
        range: Range,
    ) -> anyhow::Result<NumberId> {
        self.ask(role, name, range, true)
    }

    /// A column that is used if it holds numbers (see [`Columns::maybe`]); a row without one is left
    /// out. It is given up when a value is no number, or when all are missing.
    pub(crate) fn maybe_number(&mut self, role: &str, name: &str) -> anyhow::Result<NumberId> {
        self.ask(role, name, Range::Any, false)
    }

    /// A column that is used if it holds numbers, and whose gaps (and infinities) cost no row: they
    /// are for the caller to see.
    pub(crate) fn number_with_gaps(&mut self, role: &str, name: &str) -> anyhow::Result<NumberId> {
        let id = self.ask(role, name, Range::Any, false)?;
        self.numbers[id.0].may_have_gaps = true;
        self.numbers[id.0].may_be_infinite = true;
        Ok(id)
    }

    /// A gap in a column that was asked for costs no row: it is NaN. (With `--missing error` it is
    /// refused all the same.)
    pub(crate) fn keep_gaps(&mut self, id: NumberId) {
        self.numbers[id.0].may_have_gaps = self.missing != Some(Missing::Error);
    }

    fn ask(
        &mut self,
        role: &str,
        name: &str,
        range: Range,
        required: bool,
    ) -> anyhow::Result<NumberId> {
        let column = self.table.column(name)?;
        let (role, name) = (role.into(), name.into());
        self.numbers.push(RequestedColumn::new(role, name, column, range, required));
        Ok(NumberId(self.numbers.len() - 1))
    }

    /// A column of text; a row without one is kept, with empty text.
    pub(crate) fn text(&mut self, name: &str) -> anyhow::Result<TextId> {
        self.texts.push(self.table.column(name)?);
        Ok(TextId(self.texts.len() - 1))
    }

    /// The column of times, as numbers or as dates in text; a row without one is left out. The rows
    /// are then kept in order of time.
    pub(crate) fn time(&mut self, name: &str) -> anyhow::Result<()> {
        let column = self.table.column(name)?;
        self.time =
            Some(RequestedColumn::new("time".into(), name.into(), column, Range::Any, false));
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

impl Columns {
    /// The number of rows kept.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of rows in the file.
    pub(crate) fn total_rows(&self) -> usize {
        self.total_rows
    }

    /// What messages call the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The number in the file, counted from 1, of a kept row, counted from 0.
    pub(crate) fn row_in_file(&self, row: usize) -> u64 {
        match &self.numbers_of_rows {
            Some(numbers) => numbers[row],
            None => row as u64 + 1,
        }
    }

    /// A column of numbers. (Empty if the column was only tried and holds none.)
    pub(crate) fn numbers(&self, id: NumberId) -> &[f64] {
        self.maybe(id).unwrap_or(&[])
    }

    /// A column of numbers, if it holds some.
    pub(crate) fn maybe(&self, id: NumberId) -> Option<&[f64]> {
        match &self.numbers[id.0] {
            Numbers::Values(values) => Some(values),
            Numbers::NotNumbers { .. } => None,
        }
    }

    /// Takes a column of numbers out; it is empty from then on.
    pub(crate) fn take(&mut self, id: NumberId) -> Vec<f64> {
        match &mut self.numbers[id.0] {
            Numbers::Values(values) => std::mem::take(values),
            Numbers::NotNumbers { .. } => Vec::new(),
        }
    }

    /// Why a column that was tried holds no numbers: the first value that is none, and its row.
    pub(crate) fn not_numbers(&self, id: NumberId) -> Option<(&str, u64)> {
        match &self.numbers[id.0] {
            Numbers::Values(_) => None,
            Numbers::NotNumbers { value, row } => Some((value, *row)),
        }
    }

    /// A column of text.
    pub(crate) fn texts(&self, id: TextId) -> &Texts {
        &self.texts[id.0]
    }

    /// The times, in order: numbers as they are in the file, or seconds since 1970.
    pub(crate) fn time(&self) -> Option<&[f64]> {
        self.time.as_deref()
    }

    /// Whether the times are seconds since 1970.
    pub(crate) fn time_is_dates(&self) -> bool {
        self.dates
    }

    /// What to do about the few cells of a column that was tried that are no numbers, where nearly all
    /// are.
    pub(crate) fn few_texts(&self, id: NumberId) -> Option<String> {
        self.not_numbers(id).and_then(|_| advice::few_marks(&self.odd[id.0]))
    }

    /// "taken as missing: "--" (1 cell of "x"), "NA" (3 cells of "y")"; nothing when no mark was met.
    pub(crate) fn marks_in_words(&self) -> Option<String> {
        const NAMED: usize = 12;
        let mut all: Vec<String> = Vec::new();
        for (nth, (asked, odd)) in self.asked.iter().zip(&self.odd).enumerate() {
            // Of a column that is not used nobody needs to know.
            if matches!(self.numbers[nth], Numbers::NotNumbers { .. }) {
                continue;
            }
            for mark in odd.marks.iter().filter(|mark| mark.missing) {
                let cells = if mark.count == 1 { "cell" } else { "cells" };
                let one =
                    format!("\"{}\" ({} {cells} of \"{}\")", mark.text, mark.count, asked.name);
                // A column may have been asked for twice.
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        all.truncate(NAMED);
        (!all.is_empty()).then(|| format!("taken as missing: {}{more}", all.join(", ")))
    }

    /// A warning for each column with values that look like marks for missing ones.
    pub(crate) fn fill_values_in_words(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for (asked, numbers) in self.asked.iter().zip(&self.numbers) {
            let Numbers::Values(values) = numbers else { continue };
            // Weights and columns that are only shown are no data.
            if asked.range == Range::NotNegative || asked.may_be_infinite {
                continue;
            }
            let found = fill_values::find(values);
            if let Some(said) = fill_values::in_words(&asked.role, &asked.name, &found)
                && !all.contains(&said)
            {
                all.push(said);
            }
        }
        all
    }

    /// "12 of 1460 rows were left out: 10 have no observation, 2 no sigma"; nothing when none was.
    pub(crate) fn left_out_in_words(&self) -> Option<String> {
        let out: usize = self.left_out.iter().map(|(_, rows)| rows).sum();
        if out == 0 {
            return None;
        }
        let mut text = if out == 1 {
            format!("1 of {} rows was left out: ", self.total_rows)
        } else {
            format!("{out} of {} rows were left out: ", self.total_rows)
        };
        text.push_str(&self.gaps_in_words());
        Some(text)
    }

    /// What was missing, and in how many rows it was the first thing missing.
    pub(crate) fn left_out(&self) -> &[(String, usize)] {
        &self.left_out
    }

    fn gaps_in_words(&self) -> String {
        const NAMED: usize = 5;
        let mut text = String::new();
        for (nth, (what, rows)) in self.left_out.iter().take(NAMED).enumerate() {
            let verb = match (nth, rows) {
                (0, 1) => "has ",
                (0, _) => "have ",
                _ => "",
            };
            let comma = if nth > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{rows} {verb}no {what}");
        }
        if self.left_out.len() > NAMED {
            let rows: usize = self.left_out[NAMED..].iter().map(|(_, rows)| rows).sum();
            let _ = write!(text, ", {rows} lack other columns");
        }
        text
    }

    /// A sentence for what the library refused, with the row's number in the file.
    pub(crate) fn refused(&self, error: errbar::Error) -> anyhow::Error {
        use errbar::Error;
        let place = |row: usize| format!("{}, row {}", self.file, self.row_in_file(row));
        match error {
            Error::Stopped => stop::Stopped.into(),
            Error::ErrorOverflow { index, observation, forecast } => anyhow::anyhow!(
                "{}: observation {observation:e} minus forecast {forecast:e} overflows; rescale the data",
                place(index)
            ),
            Error::NotFinite { what, index, value } => {
                anyhow::anyhow!("{}: {what} is {value}", place(index))
            }
            Error::SigmaNotPositive { index, value } => {
                anyhow::anyhow!("{}: sigma is {value}, but must be greater than 0", place(index))
            }
            Error::NegativeWeight { index, value } => {
                anyhow::anyhow!("{}: the weight is {value}, but must be 0 or more", place(index))
            }
            Error::InputNotFinite { row, value, .. } => {
                anyhow::anyhow!("{}: an input is {value}", place(row))
            }
            other => anyhow::anyhow!("{}: {other}", self.file),
        }
    }

    /// A column that was only tried and holds nothing at all says nothing, and must not cost all rows.
    fn give_up_empty_columns(&mut self) {
        for (asked, numbers) in self.asked.iter().zip(&mut self.numbers) {
            let Numbers::Values(values) = numbers else { continue };
            if !asked.required && values.iter().all(|value| value.is_nan()) {
                *numbers = Numbers::NotNumbers { value: String::new(), row: 1 };
            }
        }
    }

    fn leave_out(
        &mut self,
        missing: Option<Missing>,
        time: Option<&RequestedColumn>,
    ) -> anyhow::Result<()> {
        if self.rows == 0 {
            bail!("{} has a header but no rows below it", self.file);
        }
        let mut keep: Vec<bool> = Vec::new(); // empty while nothing is missing
        let columns =
            self.asked.iter().zip(&self.numbers).filter_map(|(asked, numbers)| match numbers {
                Numbers::Values(values) => Some((asked, values)),
                Numbers::NotNumbers { .. } => None,
            });
        let columns = columns.filter(|(asked, _)| !asked.may_have_gaps);
        let times = time.zip(self.time.as_ref());
        for (asked, values) in columns.chain(times) {
            let Some(first) = values.iter().position(|value| value.is_nan()) else { continue };
            if missing == Some(Missing::Error) {
                bail!(
                    "{}, row {}, column \"{}\": the {} is missing; fill it in, or leave such rows out \
                     with --missing drop",
                    self.file,
                    first + 1,
                    asked.name,
                    asked.role
                );
            }
            keep.resize(self.rows, true);
            let mut lost = 0;
            for (keep, _) in keep.iter_mut().zip(values).filter(|(_, value)| value.is_nan()) {
                lost += usize::from(std::mem::replace(keep, false));
            }
            if lost > 0 {
                self.left_out.push((self.called(asked), lost));
            }
        }
        if keep.is_empty() {
            return Ok(());
        }
        let rows: Vec<u64> =
            (1..).zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row).collect();
        if rows.is_empty() {
            bail!(
                "{}: no row is complete; of {} rows {}",
                self.file,
                self.total_rows,
                self.gaps_in_words()
            );
        }
        self.keep(&keep, rows);
        Ok(())
    }

    /// Keeps only some of the rows, for a reason that the caller gives.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let numbers = (0..self.rows).filter(|&row| keep[row]).map(|row| self.row_in_file(row));
        let numbers: Vec<u64> = numbers.collect();
        self.keep(keep, numbers);
    }

    /// Keeps some rows, which have these numbers in the file.
    fn keep(&mut self, keep: &[bool], rows: Vec<u64>) {
        for numbers in &mut self.numbers {
            if let Numbers::Values(values) = numbers {
                retain(values, keep);
            }
        }
        self.texts.iter_mut().for_each(|texts| retain(&mut texts.rows, keep));
        self.time.iter_mut().for_each(|time| retain(time, keep));
        self.rows = rows.len();
        self.numbers_of_rows = Some(rows);
    }

    /// A column by its role, or by its name where several have that role.
    fn called(&self, asked: &RequestedColumn) -> String {
        let same = self.asked.iter().filter(|other| other.role == asked.role).count();
        if same > 1 { format!("\"{}\"", asked.name) } else { asked.role.clone() }
    }

    fn check(&self) -> anyhow::Result<()> {
        for (asked, numbers) in self.asked.iter().zip(&self.numbers) {
            let Numbers::Values(values) = numbers else { continue };
            if asked.may_be_infinite {
                continue;
            }
            let wrong = |value: &f64| match asked.range {
                Range::Any => value.is_infinite(),
                Range::Positive => value.is_infinite() || *value <= 0.0,
                Range::NotNegative => value.is_infinite() || *value < 0.0,
            };
            let Some(row) = values.iter().position(wrong) else { continue };
            let place =
                format!("{}, row {}, column \"{}\"", self.file, self.row_in_file(row), asked.name);
            match values[row] {
                value if value.is_infinite() => bail!(
                    "{place} is infinite or too large for a number; correct it, or leave the field empty"
                ),
                value if asked.range == Range::Positive => {
                    bail!("{place} is {value}, but {} must be greater than 0", asked.role)
                }
                value => bail!("{place} is {value}, but {} must be 0 or more", asked.role),
            }
        }
        let infinite = |time: &Vec<f64>| time.iter().position(|t| t.is_infinite());
        if let Some(row) = self.time.as_ref().and_then(infinite) {
            bail!(
                "{}, row {}: the time is infinite; correct it, or leave the field empty",
                self.file,
                self.row_in_file(row)
            );
        }
        Ok(())
    }

    /// Rows of the same time stay in the order of the file.
    fn sort_by_time(&mut self) {
        let Some(time) = &self.time else { return };
        if time.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|&a, &b| time[a].total_cmp(&time[b]));
        self.numbers_of_rows = Some(order.iter().map(|&row| self.row_in_file(row)).collect());
        for numbers in &mut self.numbers {
            if let Numbers::Values(values) = numbers {
                reorder(values, &order);
            }
        }
        self.texts.iter_mut().for_each(|texts| reorder(&mut texts.rows, &order));
        self.time.iter_mut().for_each(|time| reorder(time, &order));
    }
}

pub(crate) fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_none_or(|keep| *keep));
    values.shrink_to_fit();
}

fn reorder<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    *values = order.iter().map(|&row| values[row]).collect();
}
