//! CSV tables: opened, read whole, or read as a stream.

use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{anyhow, bail};

use super::blocks::{Block, Blocks, Broken, Sizes};
use super::csv_kinds::{self, Kind};
use super::header::{self, Header};
use super::number;
use super::pieces::{Failure, Plan, Refused};
use super::source::{self, Progress, Source, not_read};
use super::{Batch, Columns, Format, Kept, Mark, Na, NumberColumn, Numbers};
use crate::stop::Stopped;

/// Bytes of a block of a stream. Several blocks, their numbers and what is written of them are in
/// memory at once.
const STREAMED: usize = 4 << 20;

/// An opened CSV file.
pub(super) struct Csv {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) header: Header,
    pub(super) blocks: Blocks,
    pub(super) progress: Progress,
}

impl Csv {
    pub(super) fn open(
        name: String,
        path: Option<PathBuf>,
        progress: Progress,
        format: &Format,
        head: Vec<u8>,
        mut rest: Box<dyn Read + Send>,
    ) -> anyhow::Result<Self> {
        let (header, carry) = header::read(&name, format, head, rest.as_mut())?;
        let blocks = Blocks::new(carry, rest, header.layout, Sizes::default());
        Ok(Self { name, path, header, blocks, progress })
    }

    fn plan(&self, numbers: &[NumberColumn], texts: &[usize], keep_records: bool, na: &Na) -> Plan {
        let columns = self.header.names.len();
        Plan::new(self.header.layout, columns, numbers, texts, keep_records, na)
    }

    /// See [`super::Table::read`].
    pub(super) fn read(
        mut self,
        numbers: &[NumberColumn],
        texts: &[usize],
        done: &mut dyn FnMut(f64) -> bool,
        na: &Na,
    ) -> anyhow::Result<Columns> {
        let mut plan = self.plan(numbers, texts, false, na);
        let mut found = plan.nothing_yet(0);
        let mut rows = 0;
        let mut block = self.blocks.next();
        while let Some(current) = block.map_err(|broken| explain(&self.name, broken, rows))? {
            let blocks = &mut self.blocks;
            let (next, pieces) = rayon::join(|| blocks.next(), || plan.parse(&current));
            let before = rows;
            for piece in &pieces {
                rows += piece.rows;
                if let Some(failure) = &piece.failure {
                    return Err(refuse(&self.name, &self.header, &plan, rows + 1, failure));
                }
            }
            plan.append(pieces, before, &mut found)?;
            if let Some(refused) = plan.refused(&found, false) {
                return Err(not_number(&self.name, &self.header, &plan, &refused));
            }
            if done(self.progress.share().unwrap_or(0.0)) {
                return Err(Stopped.into());
            }
            block = next;
        }
        if let Some(refused) = plan.refused(&found, true) {
            return Err(not_number(&self.name, &self.header, &plan, &refused));
        }
        let (numbers, texts) = plan.in_order(found);
        let (numbers, odd) = numbers.into_iter().unzip();
        Ok(Columns { rows: rows as usize, numbers, odd, texts })
    }

    pub(super) fn stream(mut self, numbers: &[usize], texts: &[usize], na: &Na) -> CsvStream {
        let required = |&column| NumberColumn { column, required: true };
        let numbers: Vec<NumberColumn> = numbers.iter().map(required).collect();
        let plan = self.plan(&numbers, texts, true, na);
        self.blocks.set_sizes(Sizes { block: STREAMED, ..Sizes::default() });
        let Self { name, path, header, blocks, progress } = self;
        let blocks = Mutex::new(blocks);
        CsvStream { name, path, header, blocks, progress, plan, ahead: None, rows: 0 }
    }
}

/// A CSV file that is read batch by batch.
pub(super) struct CsvStream {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) header: Header,
    /// Behind a lock, since a sink may have to look at all rows before the first batch.
    pub(super) blocks: Mutex<Blocks>,
    pub(super) progress: Progress,
    plan: Plan,
    /// The next block, read while the one before was parsed.
    ahead: Option<Result<Option<Block>, Broken>>,
    /// Rows delivered.
    rows: u64,
}

impl CsvStream {
    /// See [`super::Stream::next_batch`].
    pub(super) fn next_batch(&mut self) -> anyhow::Result<Option<Batch>> {
        let blocks = self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner);
        loop {
            let block = self.ahead.take().unwrap_or_else(|| blocks.next());
            let Some(block) = block.map_err(|broken| explain(&self.name, broken, self.rows))?
            else {
                return Ok(None);
            };
            let (ahead, pieces) = rayon::join(|| blocks.next(), || self.plan.parse(&block));
            self.ahead = Some(ahead);
            let total: u64 = pieces.iter().map(|piece| piece.rows).sum();
            let mut found = self.plan.nothing_yet(total as usize);
            let mut records = Vec::with_capacity(total as usize);
            let first_row = self.rows + 1;
            for piece in &pieces {
                self.rows += piece.rows;
                if let Some(failure) = &piece.failure {
                    let row = self.rows + 1;
                    return Err(refuse(&self.name, &self.header, &self.plan, row, failure));
                }
                records.extend_from_slice(&piece.records);
            }
            self.plan.append(pieces, first_row - 1, &mut found)?;
            let (numbers, texts) = self.plan.in_order(found);
            let values = |(numbers, odd)| match numbers {
                Numbers::Values(values) => (values, odd),
                Numbers::NotNumbers { .. } => (vec![], odd),
            };
            let (numbers, odd) = numbers.into_iter().map(values).unzip();
            // A block of blank lines holds no rows.
            if total > 0 {
                let kept = Kept::Csv { bytes: block.bytes, records };
                let rows = total as usize;
                return Ok(Some(Batch { rows, first_row, numbers, odd, texts, kept }));
            }
        }
    }
}

impl CsvStream {
    /// The kinds of all columns, from a first pass over all rows. What comes from a pipe is copied to
    /// a temporary file, as it is needed twice.
    pub(super) fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        let layout = self.header.layout;
        let sizes = Sizes { block: STREAMED, ..Sizes::default() };
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.rows > 0 || self.ahead.is_some() {
            bail!("{} was read before its output was begun", self.name);
        }
        if let Some(path) = &self.path {
            let separator = Some(layout.separator);
            let decimal_comma = layout.decimal_comma;
            let format = Format { separator, decimal_comma, ..Format::default() };
            let Source { name, path, progress, kind } = source::open(path)?;
            let source::Kind::Text(head, rest) = kind else {
                bail!("{name} has changed while it was read");
            };
            let again = Csv::open(name, path, progress, &format, head, rest)?;
            return csv_kinds::find(&self.name, &self.header, again.blocks);
        }
        let nothing = Blocks::new(vec![], Box::new(std::io::empty()), layout, sizes);
        let mut copy = source::spool(std::mem::replace(&mut *blocks, nothing).into_rest())?;
        let failed = |error| not_read(&self.name, &error);
        let again = copy.try_clone().map_err(failed)?;
        let again = Blocks::new(vec![], Box::new(again), layout, sizes);
        let kinds = csv_kinds::find(&self.name, &self.header, again)?;
        copy.rewind().map_err(failed)?;
        *blocks = Blocks::new(vec![], Box::new(copy), layout, sizes);
        Ok(kinds)
    }
}

/// Why reading broke off after some rows, as a sentence.
pub(super) fn explain(name: &str, broken: Broken, rows: u64) -> anyhow::Error {
    let row = rows + 1;
    match broken {
        Broken::Io(error) => not_read(name, &error),
        Broken::OpenQuote => anyhow!("{name}, row {row}: a quote is opened and never closed"),
        Broken::TooLong => {
            anyhow!("{name}, row {row} is longer than 256 MB; is a quote opened and never closed?")
        }
    }
}

/// What is wrong with a record, as a sentence.
fn refuse(name: &str, header: &Header, plan: &Plan, row: u64, failure: &Failure) -> anyhow::Error {
    match failure {
        Failure::Uneven { found } => uneven(name, header, row, *found),
        Failure::NotNumber { slot, value } => {
            let column = header.names.get(plan.column(*slot)).map_or("", String::as_str);
            let advice = number::advice(value, header.layout.decimal_comma);
            anyhow!("{name}, row {row}, column {column:?}: {value:?} is not a number; {advice}")
        }
    }
}

/// A text where there must be a number, as a sentence.
fn not_number(name: &str, header: &Header, plan: &Plan, refused: &Refused) -> anyhow::Error {
    let Refused { slot, mark: Mark { text, row, .. }, odd } = refused;
    let column = header.names.get(plan.column(*slot)).map_or("", String::as_str);
    let advice = match odd.in_words() {
        Some(advice) if !number::has_cause(text, header.layout.decimal_comma) => {
            advice + "; otherwise write a number, or leave the field empty"
        }
        _ => number::advice(text, header.layout.decimal_comma),
    };
    anyhow!("{name}, row {row}, column {column:?}: {text:?} is not a number; {advice}")
}

/// A record with another number of fields than the header, as a sentence.
pub(super) fn uneven(name: &str, header: &Header, row: u64, found: usize) -> anyhow::Error {
    let expected = header.names.len();
    let fields = if found == 1 { "field" } else { "fields" };
    anyhow!(
        "{name}, row {row} has {found} {fields}, the header has {expected}; the separator is {:?}, \
         and a text that holds it must be in quotes",
        char::from(header.layout.separator)
    )
}
