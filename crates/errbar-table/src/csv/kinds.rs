//! CSV columns with a type, for Parquet files: integers, numbers or text, whichever holds all values.

use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{LogicalType, Type as Stored};
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::schema::types::TypePtr;
use rayon::prelude::*;

use super::blocks::{Block, Blocks};
use super::header::Header;
use super::layout::{Layout, content, text};
use super::number;
use super::records::{Ended, Visit, walk};
use super::{explain, uneven};
use crate::Error;
use crate::parquet::leaf::{Leaf, Values};
use crate::parquet::values::Meaning;
use crate::parquet::write::optional;

/// Rows that are converted at once.
const ROWS: usize = 4096;

/// What all values of a column are, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// No value at all.
    Missing,
    Int,
    Double,
    Text,
}

impl Kind {
    /// The kind of a column with this field and those before.
    fn with(self, bytes: &[u8], place: Range<usize>, decimal_comma: bool) -> Self {
        let raw = bytes.get(place.clone()).unwrap_or_default();
        let kind = match number::parse(bytes, place, decimal_comma) {
            None => Self::Text,
            Some(value) if value.is_nan() => Self::Missing,
            Some(value) if value.fract() != 0.0 => Self::Double,
            Some(_) if simple_int(raw).is_some() || int(raw).is_some() => Self::Int,
            Some(_) if is_code(&content(raw)) => Self::Text,
            Some(_) => Self::Double,
        };
        kind.max(self)
    }

    /// What such a column holds once it is converted.
    pub(crate) fn meaning(self) -> Meaning {
        match self {
            Self::Int => Meaning::Signed,
            Self::Double | Self::Missing => Meaning::Float,
            Self::Text => Meaning::Text,
        }
    }

    /// A column of a Parquet file.
    pub(crate) fn column(self, name: &str) -> Result<TypePtr> {
        match self {
            Self::Int => optional(name, Stored::INT64, None),
            Self::Double | Self::Missing => optional(name, Stored::DOUBLE, None),
            Self::Text => optional(name, Stored::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }
}

/// An integer of up to eighteen digits with nothing around it.
fn simple_int(raw: &[u8]) -> Option<i64> {
    let (sign, digits) = match raw.split_first() {
        Some((b'-', digits)) => (-1, digits),
        _ => (1, raw),
    };
    let begins = digits.first().is_some_and(|first| *first != b'0' || digits.len() == 1);
    let add =
        |sum: i64, digit: &u8| digit.is_ascii_digit().then(|| 10 * sum + i64::from(digit - b'0'));
    if !begins || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, add).map(|value| sign * value)
}

/// Any integer that can be stored, but no code.
fn int(raw: &[u8]) -> Option<i64> {
    let field = content(raw);
    let value = std::str::from_utf8(&field).ok()?.parse().ok()?;
    (!is_code(&field)).then_some(value)
}

/// 007 is a code, not a seven.
fn is_code(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    digits.len() > 1 && digits.starts_with(b"0") && digits.iter().all(u8::is_ascii_digit)
}

/// The kinds of all columns, from all records. `stop` says whether to give up.
pub(crate) fn find(
    name: &str,
    header: &Header,
    mut blocks: Blocks,
    stop: &dyn Fn() -> bool,
) -> crate::Result<Vec<Kind>> {
    let mut kinds = vec![Kind::Missing; header.names.len()];
    let mut rows = 0;
    let mut block = blocks.next();
    while let Some(current) = block.map_err(|broken| explain(name, broken, rows))? {
        if stop() {
            return Err(Error::Stopped);
        }
        let (next, pieces) = rayon::join(|| blocks.next(), || find_in(&current, header, &kinds));
        for piece in pieces {
            rows += piece.rows;
            if let Some(found) = piece.uneven {
                return Err(uneven(name, header, rows + 1, found));
            }
            for (kind, found) in kinds.iter_mut().zip(piece.kinds) {
                *kind = found.max(*kind);
            }
        }
        block = next;
    }
    Ok(kinds)
}

/// What the records of a piece hold.
struct Piece {
    kinds: Vec<Kind>,
    rows: u64,
    uneven: Option<usize>,
}

fn find_in(block: &Block, header: &Header, known: &[Kind]) -> Vec<Piece> {
    // What is text stays text.
    let open = |(column, kind): (usize, &Kind)| (*kind != Kind::Text).then_some(column);
    let wanted: Vec<usize> = known.iter().enumerate().filter_map(open).collect();
    let find = |place: &Range<usize>| {
        let bytes = block.bytes.get(place.clone()).unwrap_or_default();
        let kinds = known.to_vec();
        let decimal_comma = header.layout.decimal_comma;
        let mut look = Look { bytes, wanted: &wanted, decimal_comma, kinds, rows: 0 };
        let ended = walk(bytes, &header.layout, known.len(), &wanted, &mut look);
        let uneven = match ended {
            Ended::Uneven { found } => Some(found),
            _ => None,
        };
        Piece { kinds: look.kinds, rows: look.rows, uneven }
    };
    block.pieces.par_iter().map(find).collect()
}

struct Look<'a> {
    bytes: &'a [u8],
    wanted: &'a [usize],
    decimal_comma: bool,
    kinds: Vec<Kind>,
    rows: u64,
}

impl Visit for Look<'_> {
    fn field(&mut self, slot: usize, place: Range<usize>) -> bool {
        if let Some(&column) = self.wanted.get(slot)
            && let Some(kind) = self.kinds.get_mut(column)
            && *kind != Kind::Text
        {
            *kind = kind.with(self.bytes, place, self.decimal_comma);
        }
        true
    }

    fn record(&mut self, _: Range<usize>) {
        self.rows += 1;
    }
}

/// Records as columns of the kinds that were found: for each column its parts, one behind the other.
/// `None` where a value is not of its kind, since the file has changed.
pub(crate) fn convert(
    bytes: &[u8],
    records: &[Range<u32>],
    layout: &Layout,
    kinds: &[Kind],
) -> Option<Vec<Vec<Leaf>>> {
    let all: Vec<usize> = (0..kinds.len()).collect();
    let convert = |records: &[Range<u32>]| {
        let (first, last) = (records.first()?, records.last()?);
        let bytes = bytes.get(first.start as usize..last.end as usize)?;
        let columns = kinds.iter().map(|kind| Building::new(*kind)).collect();
        let mut build = Build { bytes, decimal_comma: layout.decimal_comma, columns };
        let ended = walk(bytes, layout, kinds.len(), &all, &mut build);
        let done = |column: Building| column.finish();
        (ended == Ended::Whole).then(|| build.columns.into_iter().map(done).collect::<Vec<_>>())
    };
    let parts: Vec<Vec<Leaf>> = records.par_chunks(ROWS).map(convert).collect::<Option<_>>()?;
    let mut columns: Vec<Vec<Leaf>> = kinds.iter().map(|_| vec![]).collect();
    for part in parts {
        for (column, leaf) in columns.iter_mut().zip(part) {
            column.push(leaf);
        }
    }
    Some(columns)
}

struct Build<'a> {
    bytes: &'a [u8],
    decimal_comma: bool,
    columns: Vec<Building>,
}

/// A column that is being built.
struct Building {
    values: Values,
    definition: Vec<i16>,
    /// All texts in a row and where they end, so that they share one piece of memory.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Building {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Int => Values::Int64(vec![]),
            Kind::Double | Kind::Missing => Values::Double(vec![]),
            Kind::Text => Values::Bytes(vec![]),
        };
        Self { values, definition: vec![], text: vec![], ends: vec![] }
    }

    /// Adds a field; false where it is not of the column's kind.
    fn push(&mut self, bytes: &[u8], place: Range<usize>, decimal_comma: bool) -> bool {
        let raw = bytes.get(place.clone()).unwrap_or_default();
        let is_there = match &mut self.values {
            Values::Int64(values) => match simple_int(raw).or_else(|| int(raw)) {
                Some(value) => {
                    values.push(value);
                    true
                }
                None if number::is_missing(&content(raw)) => false,
                None => return false,
            },
            Values::Double(values) => match number::parse(bytes, place, decimal_comma) {
                Some(value) if value.is_nan() => false,
                Some(value) => {
                    values.push(value);
                    true
                }
                None => return false,
            },
            _ => {
                let field = content(raw);
                self.text.extend_from_slice(text(&field).as_bytes());
                if !field.is_empty() {
                    self.ends.push(self.text.len());
                }
                !field.is_empty()
            }
        };
        self.definition.push(i16::from(is_there));
        true
    }

    fn finish(self) -> Leaf {
        let Values::Bytes(mut values) = self.values else {
            return Leaf::optional(self.values, self.definition);
        };
        let text = Bytes::from(self.text);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        values.extend(
            starts.zip(&self.ends).map(|(start, end)| ByteArray::from(text.slice(start..*end))),
        );
        Leaf::optional(Values::Bytes(values), self.definition)
    }
}

impl Visit for Build<'_> {
    fn field(&mut self, slot: usize, place: Range<usize>) -> bool {
        let Some(column) = self.columns.get_mut(slot) else { return true };
        column.push(self.bytes, place, self.decimal_comma)
    }

    fn record(&mut self, _: Range<usize>) {}
}
