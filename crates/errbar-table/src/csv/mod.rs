//! CSV tables: opened, read whole, or read as a stream.

mod blanks;
pub(crate) mod blocks;
mod comments;
mod decimal;
pub(crate) mod header;
pub(crate) mod kinds;
pub(crate) mod layout;
mod marks;
pub(crate) mod number;
pub(crate) mod pieces;
pub(crate) mod reading;
mod records;
mod top;
mod units;
pub(crate) mod write;

use std::io::Seek;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::{self, Progress, Source, Text, not_read};
use crate::stream::{Arranged, RawRows};
use crate::{Batch, Cause, Error, Format, Mark, Na, NotNumber, NumberColumn, Numbers, Odd};
use blocks::{Block, Blocks, Broken, Sizes};
use header::Header;
use kinds::Kind;
use pieces::{Failure, Plan, Refused};

/// Bytes of a block of a stream. Several blocks, their numbers and what is written of them are in
/// memory at once.
const STREAMED: usize = 4 << 20;

/// An opened CSV file.
pub(crate) struct Csv {
    pub(crate) name: String,
    pub(crate) path: Option<PathBuf>,
    pub(crate) header: Header,
    pub(crate) blocks: Blocks,
    pub(crate) progress: Progress,
    format: Format,
}

impl Csv {
    pub(crate) fn open(
        name: String,
        path: Option<PathBuf>,
        progress: Progress,
        format: &Format,
        text: Text,
    ) -> crate::Result<Self> {
        let (header, carry, rest) = header::read(&name, format, text)?;
        let blocks = Blocks::new(carry, rest, header.layout, Sizes::default());
        Ok(Self { name, path, header, blocks, progress, format: format.clone() })
    }

    fn plan(&self, numbers: &[NumberColumn], texts: &[usize], keep_records: bool, na: &Na) -> Plan {
        let columns = self.header.names.len();
        Plan::new(self.header.layout, columns, numbers, texts, keep_records, na)
    }

    pub(crate) fn stream(mut self, numbers: &[usize], texts: &[usize], na: &Na) -> CsvStream {
        let required = |&column| NumberColumn { column, required: true };
        let numbers: Vec<NumberColumn> = numbers.iter().map(required).collect();
        let plan = self.plan(&numbers, texts, true, na);
        self.blocks.set_sizes(Sizes { block: STREAMED, ..Sizes::default() });
        let Self { name, path, header, blocks, progress, format } = self;
        let blocks = Mutex::new(blocks);
        CsvStream { name, path, header, blocks, progress, format, plan, ahead: None, rows: 0 }
    }
}

/// A CSV file that is read batch by batch.
pub(crate) struct CsvStream {
    pub(crate) name: String,
    pub(crate) path: Option<PathBuf>,
    pub(crate) header: Header,
    /// Behind a lock, since a sink may have to look at all rows before the first batch.
    pub(crate) blocks: Mutex<Blocks>,
    pub(crate) progress: Progress,
    format: Format,
    plan: Plan,
    /// The next block, read while the one before was parsed.
    ahead: Option<Result<Option<Block>, Broken>>,
    /// Rows delivered.
    rows: u64,
}

impl CsvStream {
    /// See [`crate::Stream::next_batch`].
    pub(crate) fn next_batch(&mut self, arranged: &Arc<Arranged>) -> crate::Result<Option<Batch>> {
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
                let kept = RawRows::Csv { bytes: block.bytes, records };
                let rows = total as usize;
                let (arranged, file) = (arranged.clone(), 0);
                let batch = Batch { rows, first_row, file, numbers, odd, texts, kept, arranged };
                return Ok(Some(batch));
            }
        }
    }
}

impl CsvStream {
    /// The kinds of all columns, from a first pass over all rows. What comes from a pipe is copied to
    /// a temporary file, as it is needed twice. `stop` says whether to give up.
    pub(crate) fn kinds(&self, stop: &dyn Fn() -> bool) -> crate::Result<Vec<Kind>> {
        let layout = self.header.layout;
        let sizes = Sizes { block: STREAMED, ..Sizes::default() };
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.rows > 0 || self.ahead.is_some() {
            let why = format!("{} was read before its output was begun", self.name);
            return Err(Error::Usage(why));
        }
        if let Some(path) = &self.path {
            let Source { name, path, progress, kind } = source::open(path, &self.format)?;
            let changed = || Error::Content(format!("{} has changed while it was read", self.name));
            let source::Kind::Text(text) = kind else { return Err(changed()) };
            let again = Csv::open(name, path, progress, &self.format, text)?;
            if again.header.names != self.header.names {
                return Err(changed());
            }
            return kinds::find(&self.name, &self.header, again.blocks, stop);
        }
        let nothing = Blocks::new(vec![], Box::new(std::io::empty()), layout, sizes);
        let mut copy = source::spool(std::mem::replace(&mut *blocks, nothing).into_rest())?;
        let failed = |error| not_read(&self.name, error);
        let again = copy.try_clone().map_err(failed)?;
        let again = Blocks::new(vec![], Box::new(again), layout, sizes);
        let kinds = kinds::find(&self.name, &self.header, again, stop)?;
        copy.rewind().map_err(failed)?;
        *blocks = Blocks::new(vec![], Box::new(copy), layout, sizes);
        Ok(kinds)
    }
}

/// Why reading broke off after some rows, as a sentence.
pub(crate) fn explain(name: &str, broken: Broken, rows: u64) -> Error {
    let row = rows + 1;
    let why = match broken {
        Broken::Io(error) => return not_read(name, error),
        Broken::OpenQuote => ": a quote is opened and never closed",
        Broken::TooLong => " is longer than 256 MB; is a quote opened and never closed?",
    };
    Error::Content(format!("{name}, row {row}{why}"))
}

/// What is wrong with a record.
fn refuse(name: &str, header: &Header, plan: &Plan, row: u64, failure: &Failure) -> Error {
    match failure {
        Failure::Uneven { found } => uneven(name, header, row, *found),
        Failure::NotNumber { slot, value } => {
            not_number(name, header, plan.column(*slot), row, value, Odd::default())
        }
    }
}

/// A text where there must be a number.
fn refuse_text(name: &str, header: &Header, plan: &Plan, refused: &Refused) -> Error {
    let Refused { slot, mark: Mark { text, row, .. }, odd } = refused;
    not_number(name, header, plan.column(*slot), *row, text, (*odd).clone())
}

fn not_number(name: &str, header: &Header, column: usize, row: u64, text: &str, odd: Odd) -> Error {
    let column = header.names.get(column).cloned().unwrap_or_default();
    let cause = Cause::of(text, header.layout.decimal_comma);
    let (file, text) = (name.to_string(), text.to_string());
    Box::new(NotNumber { file, row, column, text, cause, odd }).into()
}

/// A record with another number of fields than the header, as a sentence.
pub(crate) fn uneven(name: &str, header: &Header, row: u64, found: usize) -> Error {
    let expected = header.names.len();
    let fields = if found == 1 { "field" } else { "fields" };
    let separator = match header.blanks {
        true => String::from(
            "fields lie between blanks: a text that holds blanks must be in quotes, and what is missing needs a \
             mark such as NA",
        ),
        false => format!(
            "the separator is {:?}, and a text that holds it must be in quotes",
            char::from(header.layout.separator)
        ),
    };
    Error::Content(format!(
        "{name}, row {row} has {found} {fields}, the header has {expected}; {separator}"
    ))
}
