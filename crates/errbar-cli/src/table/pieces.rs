//! Columns from the pieces of CSV blocks, which are parsed side by side and put together in order.

use std::ops::Range;

use rayon::prelude::*;

use super::NumberColumn;
use super::blocks::Block;
use super::layout::{Layout, content};
use super::number;
use super::records::{Ended, Visit, walk};
use super::texts::Few;

/// What to take from each record.
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// Fields in a record.
    pub(super) columns: usize,
    pub(super) numbers: Vec<NumberColumn>,
    /// Whether a column of numbers was given up, so that no further time is spent on it.
    pub(super) given_up: Vec<bool>,
    pub(super) texts: usize,
    /// Whether to keep where each record lies.
    pub(super) keep_records: bool,
    /// The columns to look at, rising.
    wanted: Vec<usize>,
    /// What each of them is used for.
    uses: Vec<Vec<Use>>,
}

#[derive(Clone, Copy)]
enum Use {
    Number(usize),
    Text(usize),
}

impl Plan {
    pub(super) fn new(
        layout: Layout,
        columns: usize,
        numbers: &[NumberColumn],
        texts: &[usize],
        keep_records: bool,
    ) -> Self {
        let number = |(i, number): (usize, &NumberColumn)| (number.column, Use::Number(i));
        let text = |(i, column): (usize, &usize)| (*column, Use::Text(i));
        let mut uses: Vec<(usize, Use)> = numbers.iter().enumerate().map(number).collect();
        uses.extend(texts.iter().enumerate().map(text));
        uses.sort_by_key(|(column, _)| *column);
        let groups = || uses.chunk_by(|a, b| a.0 == b.0);
        Self {
            layout,
            columns,
            numbers: numbers.to_vec(),
            given_up: vec![false; numbers.len()],
            texts: texts.len(),
            keep_records,
            wanted: groups().filter_map(|group| Some(group.first()?.0)).collect(),
            uses: groups().map(|group| group.iter().map(|(_, what)| *what).collect()).collect(),
        }
    }

    /// Parses all pieces of a block.
    pub(super) fn parse<'a>(&self, block: &'a Block) -> Vec<Piece<'a>> {
        block.pieces.par_iter().map(|place| self.parse_piece(block, place)).collect()
    }

    fn parse_piece<'a>(&self, block: &'a Block, place: &Range<usize>) -> Piece<'a> {
        let bytes = block.bytes.get(place.clone()).unwrap_or_default();
        // Room for records of average length, counted on the first few; a guess too low costs little.
        let sample = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
        let lines = memchr::memchr_iter(self.layout.terminator, sample).count() + 1;
        let room = bytes.len() / (sample.len() / lines).max(1) * 9 / 8;
        let mut visit = Parse {
            plan: self,
            offset: place.start,
            piece: Piece {
                rows: 0,
                numbers: self.given_up.iter().map(|up| PieceNumbers::new(*up, room)).collect(),
                texts: (0..self.texts).map(|_| Few::new()).collect(),
                records: Vec::with_capacity(if self.keep_records { room } else { 0 }),
                failure: None,
            },
        };
        let ended = walk(bytes, &self.layout, self.columns, &self.wanted, &mut visit);
        let mut piece = visit.piece;
        if let Ended::Uneven { found } = ended {
            piece.failure = Some(Failure::Uneven { found });
        }
        piece
    }
}

/// What was found in a piece of a block.
pub(super) struct Piece<'a> {
    /// Whole records; a failure is in the one after them.
    pub(super) rows: u64,
    pub(super) numbers: Vec<PieceNumbers>,
    pub(super) texts: Vec<Few<'a, [u8]>>,
    /// Where records lie in the block.
    pub(super) records: Vec<Range<u32>>,
    pub(super) failure: Option<Failure>,
}

/// Numbers of a piece.
pub(super) struct PieceNumbers {
    pub(super) values: Vec<f64>,
    /// The first value that is no number, and the rows before it.
    pub(super) other: Option<(String, u64)>,
    given_up: bool,
}

impl PieceNumbers {
    fn new(given_up: bool, room: usize) -> Self {
        let values = Vec::with_capacity(if given_up { 0 } else { room });
        Self { values, other: None, given_up }
    }
}

/// What is wrong with a record.
#[derive(Debug)]
pub(super) enum Failure {
    Uneven {
        found: usize,
    },
    /// A value that is no number in a required column, which is given by its place in the plan.
    NotNumber {
        number: usize,
        value: String,
    },
}

struct Parse<'p, 'a> {
    plan: &'p Plan,
    /// Where the piece begins in its block.
    offset: usize,
    piece: Piece<'a>,
}

impl<'a> Visit<'a> for Parse<'_, 'a> {
    #[inline]
    fn field(&mut self, slot: usize, raw: &'a [u8]) -> bool {
        let Some(uses) = self.plan.uses.get(slot) else { return true };
        uses.iter().all(|what| match *what {
            Use::Number(i) => self.number(i, raw),
            Use::Text(i) => {
                if let Some(texts) = self.piece.texts.get_mut(i) {
                    texts.push(content(raw));
                }
                true
            }
        })
    }

    #[inline]
    fn record(&mut self, place: Range<usize>) {
        self.piece.rows += 1;
        if self.plan.keep_records {
            // A block is far shorter than 4 GB.
            let place = (self.offset + place.start) as u32..(self.offset + place.end) as u32;
            self.piece.records.push(place);
        }
    }
}

impl Parse<'_, '_> {
    #[inline]
    fn number(&mut self, i: usize, raw: &[u8]) -> bool {
        let Some(numbers) = self.piece.numbers.get_mut(i) else { return true };
        if numbers.given_up {
            return true;
        }
        if let Some(value) = number::parse(raw, self.plan.layout.decimal_comma) {
            numbers.values.push(value);
            return true;
        }
        let value = number::shown(&content(raw));
        if self.plan.numbers.get(i).is_some_and(|number| number.required) {
            self.piece.failure = Some(Failure::NotNumber { number: i, value });
            return false;
        }
        numbers.other = Some((value, self.piece.rows));
        numbers.given_up = true;
        true
    }
}

/// The bytes of records, for those that copy them.
pub(super) fn slice<'a>(bytes: &'a [u8], place: &Range<u32>) -> &'a [u8] {
    bytes.get(place.start as usize..place.end as usize).unwrap_or_default()
}
