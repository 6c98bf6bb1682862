//! Columns from the pieces of CSV blocks, which are parsed side by side and put together in order.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::blocks::Block;
use super::layout::{Layout, content, text};
use super::number;
use super::records::{Ended, Visit, walk};
use crate::dictionary::{All, Few};
use crate::words::shown;
use crate::{Mark, Na, NumberColumn, Numbers, Odd, Texts};

/// Rows of a piece after which a column that mostly holds no numbers is given up.
const ENOUGH: u64 = 4096;

/// What to take from each record.
pub(crate) struct Plan {
    pub(crate) layout: Layout,
    /// Fields in a record.
    columns: usize,
    /// Whether to keep where each record lies.
    keep_records: bool,
    /// The columns to look at, rising; one that is used twice is here twice.
    wanted: Vec<usize>,
    /// What each of them is used for.
    uses: Vec<Use>,
    /// Which of those asked for it is; texts come after numbers.
    order: Vec<usize>,
    /// What stands for a missing value too.
    na: Na,
    /// Buffers of numbers, used again: fresh memory costs more than what is written to it.
    spare: Mutex<Vec<Vec<f64>>>,
}

/// What a column is used for.
#[derive(Debug, Clone, Copy)]
enum Use {
    Number {
        required: bool,
    },
    Text,
    /// For numbers no more, as some values were none.
    Nothing,
    /// The same, and numbers there must be.
    Refused,
}

impl Plan {
    pub(crate) fn new(
        layout: Layout,
        columns: usize,
        numbers: &[NumberColumn],
        texts: &[usize],
        keep_records: bool,
        na: &Na,
    ) -> Self {
        let number =
            |number: &NumberColumn| (number.column, Use::Number { required: number.required });
        let text = |column: &usize| (*column, Use::Text);
        let uses = numbers.iter().map(number).chain(texts.iter().map(text));
        let mut uses: Vec<(usize, (usize, Use))> = uses.enumerate().collect();
        uses.sort_by_key(|(_, (column, _))| *column);
        let (order, uses): (_, Vec<_>) = uses.into_iter().unzip();
        let (wanted, uses) = uses.into_iter().unzip();
        let (na, spare) = (na.clone(), Mutex::default());
        Self { layout, columns, keep_records, wanted, uses, order, na, spare }
    }

    /// The column that is looked at in a slot.
    pub(crate) fn column(&self, slot: usize) -> usize {
        self.wanted.get(slot).copied().unwrap_or_default()
    }

    /// Parses all pieces of a block.
    pub(crate) fn parse<'a>(&self, block: &'a Block) -> Vec<Piece<'a>> {
        block.pieces.par_iter().map(|place| self.parse_piece(block, place)).collect()
    }

    fn parse_piece<'a>(&self, block: &'a Block, place: &Range<usize>) -> Piece<'a> {
        let bytes = block.bytes.get(place.clone()).unwrap_or_default();
        let slot = |what: &Use| match what {
            Use::Number { .. } => Slot::Numbers(self.buffer(), Odd::default()),
            Use::Text => Slot::Texts(Few::new()),
            Use::Nothing | Use::Refused => Slot::Nothing,
        };
        let mut visit = Parse {
            bytes,
            decimal_comma: self.layout.decimal_comma,
            keep_records: self.keep_records,
            offset: place.start,
            na: &self.na,
            piece: Piece {
                rows: 0,
                slots: self.uses.iter().map(slot).collect(),
                records: Vec::new(),
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

    fn buffer(&self) -> Vec<f64> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    /// Puts the pieces of a block behind what was found before; each column on its own, since fresh
    /// memory takes the processor's time. `rows` is the number of rows before the block.
    pub(crate) fn append(
        &mut self,
        pieces: Vec<Piece<'_>>,
        mut rows: u64,
        found: &mut [Found],
    ) -> crate::Result<()> {
        let mut slots: Vec<Vec<(u64, Slot<'_>)>> = found.iter().map(|_| vec![]).collect();
        for piece in pieces {
            for (all, slot) in slots.iter_mut().zip(piece.slots) {
                all.push((rows, slot));
            }
            rows += piece.rows;
        }
        slots.into_par_iter().zip(found.par_iter_mut()).try_for_each(|(slots, found)| {
            slots.into_iter().try_for_each(|(rows, slot)| self.append_slot(slot, rows, found))
        })?;
        for (what, found) in self.uses.iter_mut().zip(found) {
            if let Found::Numbers(Numbers::NotNumbers { .. }, _) = found {
                *what = match what {
                    Use::Number { required: true } => Use::Refused,
                    _ => Use::Nothing,
                };
            }
        }
        Ok(())
    }

    fn append_slot(&self, slot: Slot<'_>, rows: u64, found: &mut Found) -> crate::Result<()> {
        match (slot, &mut *found) {
            (Slot::Numbers(mut values, mut more), Found::Numbers(numbers, odd)) => {
                if let Numbers::Values(all) = numbers {
                    all.extend_from_slice(&values);
                    more.numbers = values.iter().filter(|value| !value.is_nan()).count() as u64;
                    more.marks.iter_mut().for_each(|mark| mark.row += rows);
                    odd.append(more);
                    if odd.too_many() {
                        give_up(numbers, odd);
                    }
                }
                values.clear();
                self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(values);
            }
            (Slot::Other(mut more), Found::Numbers(numbers @ Numbers::Values(_), odd)) => {
                more.marks.iter_mut().for_each(|mark| mark.row += rows);
                odd.append(more);
                give_up(numbers, odd);
            }
            (Slot::Texts(few), Found::Texts(all)) => few.append_to(all, text)?,
            _ => {}
        }
        Ok(())
    }

    /// What was found, nothing at first.
    pub(crate) fn nothing_yet(&self, room: usize) -> Vec<Found> {
        let nothing = |what: &Use| match what {
            Use::Number { .. } => {
                Found::Numbers(Numbers::Values(Vec::with_capacity(room)), Odd::default())
            }
            _ => Found::Texts(All::new()),
        };
        self.uses.iter().map(nothing).collect()
    }

    /// The first text, by its row, in a column that must have numbers: its slot, and the text.
    pub(crate) fn refused<'f>(&self, found: &'f [Found], all_read: bool) -> Option<Refused<'f>> {
        let refused = |(slot, (what, found)): (usize, (&Use, &'f Found))| {
            let Found::Numbers(numbers, odd) = found else { return None };
            let given_up = matches!(numbers, Numbers::NotNumbers { .. });
            let is_required = matches!(what, Use::Number { required: true } | Use::Refused);
            let mark = odd.unknown().min_by_key(|mark| mark.row)?;
            (is_required && (given_up || all_read)).then_some(Refused { slot, mark, odd })
        };
        let all = self.uses.iter().zip(found).enumerate();
        all.filter_map(refused).min_by_key(|refused| refused.mark.row)
    }

    /// What was found, in the order it was asked for.
    pub(crate) fn in_order(&self, found: Vec<Found>) -> (Vec<(Numbers, Odd)>, Vec<Texts>) {
        let mut order: Vec<_> = self.order.iter().zip(found).collect();
        order.sort_by_key(|(place, _)| **place);
        let (mut numbers, mut texts) = (vec![], vec![]);
        for (_, found) in order {
            match found {
                Found::Numbers(mut found, mut odd) => {
                    if odd.unknown().next().is_some() && matches!(found, Numbers::Values(_)) {
                        let numbers = odd.numbers;
                        give_up(&mut found, &mut odd);
                        odd.numbers = numbers;
                    }
                    numbers.push((found, odd));
                }
                Found::Texts(found) => texts.push(found.texts),
            }
        }
        (numbers, texts)
    }
}

/// A text in a column that must have numbers.
pub(crate) struct Refused<'a> {
    pub(crate) slot: usize,
    /// The first.
    pub(crate) mark: &'a Mark,
    /// With all others.
    pub(crate) odd: &'a Odd,
}

/// A column with texts that nobody has explained is none of numbers.
fn give_up(numbers: &mut Numbers, odd: &mut Odd) {
    let first = odd.unknown().min_by_key(|mark| mark.row);
    let (value, row) = first.map_or((String::new(), 1), |mark| (mark.text.clone(), mark.row));
    *numbers = Numbers::NotNumbers { value, row };
    odd.numbers = 0;
}

/// The rows of a column that were read.
pub(crate) enum Found {
    Numbers(Numbers, Odd),
    Texts(All),
}

/// What was found in a piece of a block.
pub(crate) struct Piece<'a> {
    /// Whole records; a failure is in the one after them.
    pub(crate) rows: u64,
    /// The columns looked at.
    pub(crate) slots: Vec<Slot<'a>>,
    /// Where records lie in the block.
    pub(crate) records: Vec<Range<u32>>,
    pub(crate) failure: Option<Failure>,
}

/// A column in a piece of a block.
pub(crate) enum Slot<'a> {
    /// Rows of texts are counted from 1 in the piece.
    Numbers(Vec<f64>, Odd),
    /// No column of numbers.
    Other(Odd),
    Texts(Few<'a, [u8]>),
    Nothing,
}

/// What is wrong with a record.
#[derive(Debug)]
pub(crate) enum Failure {
    Uneven {
        found: usize,
    },
    /// A value that is no number in a column of a stream.
    NotNumber {
        slot: usize,
        value: String,
    },
}

struct Parse<'p, 'a> {
    bytes: &'a [u8],
    decimal_comma: bool,
    keep_records: bool,
    /// Where the piece begins in its block.
    offset: usize,
    na: &'p Na,
    piece: Piece<'a>,
}

impl Visit for Parse<'_, '_> {
    #[inline(always)]
    fn field(&mut self, slot: usize, place: Range<usize>) -> bool {
        match self.piece.slots.get_mut(slot) {
            Some(Slot::Numbers(values, _)) => {
                match number::parse(self.bytes, place.clone(), self.decimal_comma) {
                    Some(value) if !value.is_nan() => {
                        values.push(value);
                        true
                    }
                    found => self.other(slot, place, found.is_some()),
                }
            }
            Some(Slot::Texts(texts)) => {
                texts.push(content(self.bytes.get(place).unwrap_or_default()));
                true
            }
            _ => true,
        }
    }

    #[inline(always)]
    fn record(&mut self, place: Range<usize>) {
        self.piece.rows += 1;
        if self.keep_records {
            // A block is far shorter than 4 GB.
            let place = (self.offset + place.start) as u32..(self.offset + place.end) as u32;
            self.piece.records.push(place);
        }
    }
}

impl Parse<'_, '_> {
    /// A value that is no number; `missing` when it usually stands for none.
    #[cold]
    fn other(&mut self, slot: usize, place: Range<usize>, missing: bool) -> bool {
        let field = content(self.bytes.get(place).unwrap_or_default());
        let missing = missing || self.na.is_text(&field);
        // A stream writes what it has read: it stops at once.
        if !missing && self.keep_records {
            let value = shown(&field);
            self.piece.failure = Some(Failure::NotNumber { slot, value });
            return false;
        }
        let Some(Slot::Numbers(values, odd)) = self.piece.slots.get_mut(slot) else { return true };
        values.push(f64::NAN);
        // What is empty or NaN needs no mention.
        if field.is_empty() || field.eq_ignore_ascii_case(b"nan") {
            return true;
        }
        match odd.marks.iter_mut().find(|mark| mark.text.as_bytes() == &*field) {
            Some(known) => known.count += 1,
            None => {
                let text = shown(&field);
                odd.add(Mark { text, count: 1, row: self.piece.rows + 1, missing });
            }
        }
        let unknown: u64 = odd.unknown().map(|mark| mark.count).sum();
        if odd.too_many() || (unknown > ENOUGH && unknown > self.piece.rows / 16 * 15) {
            let odd = std::mem::take(odd);
            self.piece.slots[slot] = Slot::Other(odd);
        }
        true
    }
}

/// The bytes of a record.
pub(crate) fn slice<'a>(bytes: &'a [u8], place: &Range<u32>) -> &'a [u8] {
    bytes.get(place.start as usize..place.end as usize).unwrap_or_default()
}
