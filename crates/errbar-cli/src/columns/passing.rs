//! Rows of a table that are read: all of them, or as they pass.

use std::collections::VecDeque;

use anyhow::bail;
use errbar_table::{Joined, Numbers};

use super::reader::{Part, Reader};
use super::times::{Times, Way};
use super::{Asked, Columns, FileRows, NumberId};
use crate::console::{Console, Progress};
use crate::files::is_stdin;
use crate::fill_values::FillValues;

/// Rows up to which all are held in memory.
pub(crate) const HELD: usize = 2_000_000;

/// A table whose rows pass, some at a time; what is to be said of all of them is kept.
pub(crate) struct Passing {
    pub(super) asked: Asked,
    pub(super) reader: Reader,
    /// For each column of numbers asked for its place among those that are read.
    places: Vec<usize>,
    /// What was read and has not passed yet.
    pub(super) waiting: VecDeque<Part>,
    /// Without rows, but with their number and what is to be said of them.
    passed: Columns,
    /// Of each file the cells that hold no number, joined when it ends.
    odd: Joined,
    /// The file that passes, and how its times are written.
    way: Option<(usize, Option<Way>)>,
    /// Whether times have an offset from UTC.
    offset: Option<bool>,
    /// The time of the last row, and whether times are dates.
    last: Option<(f64, bool)>,
}

/// Why rows cannot be taken as they pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surprise {
    /// They are not in the order of time.
    Order,
    /// How times are written is not told by the first rows.
    Times,
    /// Their weights are too large or too small.
    Weights,
    /// Which columns hold numbers is not told by the first rows.
    Inputs,
    /// Hardly any can be used.
    Few,
}

impl Passing {
    pub(super) fn new(asked: Asked, reader: Reader, places: Vec<usize>) -> Self {
        let nothing = |_: &_| Numbers::Values(Vec::new());
        let passed = Columns {
            file: reader.tables().name(),
            files: Vec::new(),
            before: 0,
            total_rows: 0,
            rows: 0,
            numbers_of_rows: None,
            numbers: asked.numbers.iter().map(nothing).collect(),
            odd: Vec::new(),
            asked: asked.numbers.clone(),
            texts: Vec::new(),
            levels: Vec::new(),
            dates: false,
            time_written: None,
            time_offset: None,
            time: None,
            left_out: Vec::new(),
            notes: asked.notes.clone(),
            fill: Some(vec![FillValues::default(); asked.numbers.len()]),
        };
        let (waiting, odd) = (VecDeque::new(), Joined::default());
        Self { asked, reader, places, waiting, passed, odd, way: None, offset: None, last: None }
    }

    /// Reads all rows.
    pub(super) fn read_all(mut self, console: Console) -> anyhow::Result<Columns> {
        let progress = console.progress("Reading");
        let mut parts = VecDeque::new();
        while let Some(part) = self.reader.next(u64::MAX, &progress)? {
            parts.push_back(part);
        }
        self.join(parts, &progress)
    }

    /// Reads all rows anew, after a surprise.
    pub(crate) fn read_again(mut self, why: Surprise, console: Console) -> anyhow::Result<Columns> {
        let tables = self.reader.tables();
        let (what, way_out) = match why {
            Surprise::Order => ("the rows are not in the order of time", "sort them, "),
            Surprise::Times => {
                ("the first rows do not tell how times are written", "say --date-format, ")
            }
            Surprise::Weights => {
                ("weights are beyond what can be summed as it comes", "rescale them, ")
            }
            Surprise::Inputs => (
                "the first rows do not tell which columns hold numbers",
                "name them with --inputs, ",
            ),
            Surprise::Few => ("hardly any of the rows can be used", ""),
        };
        let is_input = |file: &usize| is_stdin(tables.path(*file));
        if (0..tables.len()).any(|file| is_input(&file)) {
            bail!(
                "standard input: {what}, and so many cannot be read again: {way_out}name a file, or say --exact"
            );
        }
        self.reader.restart();
        self.asked.notes.push(format!("{what}: all of them are held in memory"));
        self.read_all(console)
    }

    /// The columns of whole files, put together.
    pub(super) fn join(
        self,
        parts: VecDeque<Part>,
        progress: &Progress,
    ) -> anyhow::Result<Columns> {
        let Self { asked, reader, places, .. } = self;
        let tables = reader.tables();
        let (mut joined, mut raw, mut files) = (Joined::default(), Vec::new(), Vec::new());
        let mut parts = parts.into_iter().peekable();
        while let Some(first) = parts.next() {
            let file = first.file;
            let mut of_file = vec![first];
            while let Some(part) = parts.next_if(|part| part.file == file) {
                of_file.push(part);
            }
            let Some(mut part) = Part::joined(of_file)? else { continue };
            let name = tables.file(file);
            raw.extend(reader.times_of_file(&mut part, progress)?.map(|times| (name, times)));
            files.push(FileRows { file: name.to_string(), rows: part.columns.rows });
            let mut columns = part.columns;
            columns.texts.truncate(asked.texts);
            joined.add(columns)?;
        }
        let Some(read) = joined.into_columns() else { bail!("{} has no rows", tables.name()) };
        let times: Option<Times> =
            asked.time.as_ref().map(|time| time.of_files(raw, &asked.na)).transpose()?;
        if times.as_ref().is_some_and(|times| times.values.len() != read.rows) {
            bail!("{} has changed while it was read", tables.name());
        }
        let mut kept = Columns {
            file: tables.name(),
            files,
            before: 0,
            total_rows: read.rows,
            rows: read.rows,
            numbers_of_rows: None,
            numbers: as_asked(read.numbers, &places),
            odd: places.iter().map(|&at| read.odd[at].clone()).collect(),
            asked: asked.numbers,
            texts: read.texts,
            levels: Vec::new(),
            dates: times.as_ref().is_some_and(|times| times.are_dates),
            time_written: times.as_ref().and_then(|times| times.written.clone()),
            time_offset: times.as_ref().and_then(|times| times.has_offset),
            time: times.map(|times| times.values),
            left_out: Vec::new(),
            notes: asked.notes,
            fill: None,
        };
        kept.code_categories(&asked.categories, &asked.na);
        kept.give_up_empty_columns();
        kept.leave_out(asked.missing, asked.time.as_ref().map(|time| &time.column))?;
        kept.check()?;
        kept.sort_by_time();
        Ok(kept)
    }

    /// The next rows in which nothing is missing, in order of time if there is one; there may be none among those that were
    /// read. Nothing at the end.
    pub(crate) fn next(
        &mut self,
        progress: &Progress,
    ) -> anyhow::Result<Option<Result<Columns, Surprise>>> {
        let part = match self.waiting.pop_front() {
            Some(part) => Some(part),
            None => self.reader.next(1, progress)?,
        };
        let Some(mut part) = part else { return Ok(None) };
        let (file, before) = (part.file, part.before);
        let name = self.reader.tables().file(file).to_string();
        let raw = self.reader.times(&mut part)?;
        let read = part.columns;
        let is_text = |at: &usize| matches!(read.numbers[*at], Numbers::NotNumbers { .. });
        let mut asked = self.asked.numbers.iter().zip(&self.places);
        if asked.any(|(asked, at)| asked.required && is_text(at)) {
            // What is to be said of them is known at the end of the file.
            while self.reader.next(1, progress)?.is_some() {}
            bail!("{name} has changed while it was read");
        }
        let mut time = None;
        if let (Some(asked), Some(raw)) = (&self.asked.time, raw) {
            if self.way.is_none_or(|(of, _)| of != file) {
                self.way = Some((file, None));
            }
            let mut way = self.way.and_then(|(_, way)| way);
            let found = asked.of_some(&name, before, raw, &self.asked.na, &mut way)?;
            let Some((values, are_dates)) = found else { return Ok(Some(Err(Surprise::Times))) };
            self.way = Some((file, way));
            let offset = way.and_then(|way| way.has_offset);
            if offset.is_some() && self.offset.is_some_and(|known| Some(known) != offset) {
                return Ok(Some(Err(Surprise::Times)));
            }
            self.offset = self.offset.or(offset);
            if !self.is_next_in_time(&values, are_dates) {
                return Ok(Some(Err(Surprise::Order)));
            }
            time = Some(values);
        }
        self.note_file(&name, before, read.rows, &read.odd)?;
        let mut kept = Columns {
            file: self.passed.file.clone(),
            files: vec![FileRows { file: name, rows: usize::MAX }],
            before,
            total_rows: read.rows,
            rows: read.rows,
            numbers_of_rows: None,
            numbers: as_asked(read.numbers, &self.places),
            odd: Vec::new(),
            asked: self.asked.numbers.clone(),
            texts: read.texts,
            levels: Vec::new(),
            dates: false,
            time_written: None,
            time_offset: None,
            time,
            left_out: Vec::new(),
            notes: Vec::new(),
            fill: None,
        };
        kept.texts.truncate(self.asked.texts);
        kept.code_categories(&self.asked.categories, &self.asked.na);
        let asked_time = self.asked.time.as_ref().map(|time| &time.column);
        kept.drop_gaps(self.asked.missing, asked_time)?;
        kept.check()?;
        self.passed.take_note(&kept);
        Ok(Some(Ok(kept)))
    }

    /// Whether times go on from those that passed.
    fn is_next_in_time(&mut self, values: &[f64], are_dates: bool) -> bool {
        for value in values.iter().filter(|value| !value.is_nan()) {
            match self.last {
                Some((last, dates)) if *value < last || dates != are_dates => return false,
                _ => self.last = Some((*value, are_dates)),
            }
        }
        true
    }

    /// Takes note of further rows of a file, and of all of its cells so far that hold no number.
    fn note_file(
        &mut self,
        name: &str,
        before: u64,
        rows: usize,
        odd: &[errbar_table::Odd],
    ) -> anyhow::Result<()> {
        if before == 0 {
            self.join_odd()?;
            self.passed.files.push(FileRows { file: name.to_string(), rows: 0 });
        }
        self.passed.odd = self.places.iter().map(|&at| odd[at].clone()).collect();
        if let Some(file) = self.passed.files.last_mut() {
            file.rows += rows;
        }
        Ok(())
    }

    /// Joins what was noted of the cells of the last file with that of those before.
    fn join_odd(&mut self) -> anyhow::Result<()> {
        let Some(file) = self.passed.files.last() else { return Ok(()) };
        let odd = std::mem::take(&mut self.passed.odd);
        let numbers = odd.iter().map(|_| Numbers::Values(Vec::new())).collect();
        let columns = errbar_table::Columns { rows: file.rows, numbers, odd, texts: Vec::new() };
        Ok(self.odd.add(columns)?)
    }

    /// Gives up a column that holds no numbers, as far as the rows tell that were read before any passed.
    pub(crate) fn gives_up(&mut self, id: NumberId) -> bool {
        let mut given_up = Some((String::new(), 1));
        for part in &self.waiting {
            match &part.columns.numbers[self.places[id.0]] {
                Numbers::NotNumbers { value, row } => {
                    given_up = Some((value.clone(), *row));
                    break;
                }
                Numbers::Values(values) if values.iter().any(|x| !x.is_nan()) => given_up = None,
                Numbers::Values(_) => {}
            }
        }
        let Some((value, row)) = given_up else { return false };
        self.passed.numbers[id.0] = Numbers::NotNumbers { value, row };
        // It must not cost a row.
        for asked in [&mut self.asked.numbers[id.0], &mut self.passed.asked[id.0]] {
            (asked.may_have_gaps, asked.may_be_infinite) = (true, true);
        }
        true
    }

    /// Whether some rows are as the first ones told: a column that was given up may be text, but not empty first
    /// and numbers then, and one that holds numbers is no text.
    pub(crate) fn is_as_told(&self, kept: &Columns) -> bool {
        let mut told = self.passed.numbers.iter().zip(&kept.numbers).zip(&self.asked.numbers);
        told.all(|((told, now), asked)| match (told, now) {
            (Numbers::NotNumbers { value, .. }, Numbers::Values(values)) => {
                !value.is_empty() || values.iter().all(|x| x.is_nan())
            }
            (Numbers::Values(_), Numbers::NotNumbers { .. }) => asked.required,
            _ => true,
        })
    }

    /// What is to be said of all rows that have passed, and the same table once more.
    pub(crate) fn finish_and_pass_again(mut self) -> anyhow::Result<(Columns, Self)> {
        self.join_odd()?;
        let Self { asked, mut reader, places, mut passed, odd, .. } = self;
        passed.odd = odd.into_columns().map_or_else(Vec::new, |columns| columns.odd);
        passed.check_rows()?;
        reader.restart();
        Ok((passed, Self::new(asked, reader, places)))
    }

    /// What is to be said of all rows that have passed; it holds none of them.
    pub(crate) fn finish(self) -> anyhow::Result<Columns> {
        Ok(self.finish_and_pass_again()?.0)
    }
}

impl Columns {
    /// Takes note of rows that pass.
    fn take_note(&mut self, kept: &Self) {
        self.total_rows += kept.total_rows;
        self.rows += kept.rows;
        for (what, rows) in &kept.left_out {
            match self.left_out.iter_mut().find(|(known, _)| known == what) {
                Some((_, known)) => *known += rows,
                None => self.left_out.push((what.clone(), *rows)),
            }
        }
        // What is missing first is told first, as in a table that is held.
        let order: Vec<String> = self.asked.iter().map(|asked| self.called(asked)).collect();
        let place = |what: &String| order.iter().position(|known| known == what);
        self.left_out.sort_by_key(|(what, _)| place(what).unwrap_or(order.len()));
        for (fill, numbers) in self.fill.iter_mut().flatten().zip(&kept.numbers) {
            if let Numbers::Values(values) = numbers {
                fill.look(values);
            }
        }
    }
}

/// Columns in the order they were asked for. One that is used twice is copied; almost always each is used once and moved.
fn as_asked(mut found: Vec<Numbers>, places: &[usize]) -> Vec<Numbers> {
    let mut last_use = vec![0; found.len()];
    places.iter().enumerate().for_each(|(id, &at)| last_use[at] = id);
    let numbers = places.iter().enumerate().map(|(id, &at)| {
        let nothing = Numbers::Values(Vec::new());
        match last_use[at] == id {
            true => std::mem::replace(&mut found[at], nothing),
            false => copy(&found[at]),
        }
    });
    numbers.collect()
}

fn copy(numbers: &Numbers) -> Numbers {
    match numbers {
        Numbers::Values(values) => Numbers::Values(values.clone()),
        Numbers::NotNumbers { value, row } => {
            Numbers::NotNumbers { value: value.clone(), row: *row }
        }
    }
}
