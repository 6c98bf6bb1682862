//! CSV tables: opened, read whole, or read as a stream.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;

use super::blocks::{Block, Blocks, Broken, Sizes};
use super::header::{self, Header};
use super::layout::text;
use super::number;
use super::pieces::{Failure, Piece, Plan};
use super::source::{Progress, not_read};
use super::texts::All;
use super::{Batch, Columns, Format, Kept, NumberColumn, Numbers};
use crate::stop::Stopped;

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

    fn plan(&self, numbers: &[NumberColumn], texts: &[usize], keep_records: bool) -> Plan {
        Plan::new(self.header.layout, self.header.names.len(), numbers, texts, keep_records)
    }

    /// See [`super::Table::read`].
    pub(super) fn read(
        mut self,
        numbers: &[NumberColumn],
        texts: &[usize],
        done: &mut dyn FnMut(f64) -> bool,
    ) -> anyhow::Result<Columns> {
        let mut plan = self.plan(numbers, texts, false);
        let mut columns: Vec<Numbers> = numbers.iter().map(|_| Numbers::Values(vec![])).collect();
        let mut all_texts: Vec<All> = texts.iter().map(|_| All::new()).collect();
        let mut rows = 0;
        let mut block = self.blocks.next();
        while let Some(current) = block.map_err(|broken| explain(&self.name, broken, rows))? {
            let blocks = &mut self.blocks;
            let (next, pieces) = rayon::join(|| blocks.next(), || plan.parse(&current));
            for piece in pieces {
                let in_piece = piece.rows;
                if let Some(failure) = &piece.failure {
                    return Err(refuse(
                        &self.name,
                        &self.header,
                        &plan,
                        rows + in_piece + 1,
                        failure,
                    ));
                }
                append(piece, rows, &mut columns, &mut all_texts, &mut plan)?;
                rows += in_piece;
            }
            if done(self.progress.share().unwrap_or(0.0)) {
                return Err(Stopped.into());
            }
            block = next;
        }
        Ok(Columns {
            rows: rows as usize,
            numbers: columns,
            texts: all_texts.into_iter().map(|all| all.texts).collect(),
        })
    }

    pub(super) fn stream(mut self, numbers: &[usize]) -> CsvStream {
        let required = |&column| NumberColumn { column, required: true };
        let numbers: Vec<NumberColumn> = numbers.iter().map(required).collect();
        let plan = self.plan(&numbers, &[], true);
        // Several blocks, their numbers and what is written of them are in memory at once.
        self.blocks.set_sizes(Sizes { block: 4 << 20, ..Sizes::default() });
        let Self { name, path, header, blocks, progress } = self;
        let blocks = Mutex::new(blocks);
        CsvStream { name, path, header, blocks, progress, plan, ahead: None, rows: 0 }
    }
}

/// Adds the rows of a piece to those before it.
fn append(
    piece: Piece<'_>,
    rows: u64,
    columns: &mut [Numbers],
    all_texts: &mut [All],
    plan: &mut Plan,
) -> anyhow::Result<()> {
    for ((column, given_up), numbers) in
        columns.iter_mut().zip(&mut plan.given_up).zip(piece.numbers)
    {
        match (&mut *column, numbers.other) {
            (Numbers::Values(values), None) => values.extend_from_slice(&numbers.values),
            (Numbers::Values(_), Some((value, before))) => {
                *column = Numbers::NotNumbers { value, row: rows + before + 1 };
                *given_up = true;
            }
            (Numbers::NotNumbers { .. }, _) => {}
        }
    }
    for (all, few) in all_texts.iter_mut().zip(piece.texts) {
        few.append_to(all, text)?;
    }
    Ok(())
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
            let room = || Vec::with_capacity(total as usize);
            let mut numbers: Vec<Vec<f64>> = self.plan.numbers.iter().map(|_| room()).collect();
            let mut records = Vec::with_capacity(total as usize);
            let first_row = self.rows + 1;
            for piece in pieces {
                self.rows += piece.rows;
                if let Some(failure) = &piece.failure {
                    let row = self.rows + 1;
                    return Err(refuse(&self.name, &self.header, &self.plan, row, failure));
                }
                for (all, part) in numbers.iter_mut().zip(&piece.numbers) {
                    all.extend_from_slice(&part.values);
                }
                records.extend(piece.records);
            }
            // A block of blank lines holds no rows.
            if total > 0 {
                let kept = Kept::Csv { bytes: block.bytes, records };
                return Ok(Some(Batch { rows: total as usize, first_row, numbers, kept }));
            }
        }
    }
}

/// Why reading broke off after some rows, as a sentence.
fn explain(name: &str, broken: Broken, rows: u64) -> anyhow::Error {
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
        Failure::Uneven { found } => {
            let expected = header.names.len();
            let fields = if *found == 1 { "field" } else { "fields" };
            anyhow!(
                "{name}, row {row} has {found} {fields}, the header has {expected}; the separator is \
                 {:?}, and a text that holds it must be in quotes",
                char::from(header.layout.separator)
            )
        }
        Failure::NotNumber { number, value } => {
            let column = plan.numbers.get(*number).map_or(0, |number| number.column);
            let column = header.names.get(column).map_or("", String::as_str);
            let advice = number::advice(value, header.layout.decimal_comma);
            anyhow!("{name}, row {row}, column {column:?}: {value:?} is not a number; {advice}")
        }
    }
}
