//! The records of some whole lines of CSV: which fields were asked for, and where each record lies.

use std::ops::Range;

use super::layout::{Layout, closing_quote};
use super::marks::Marks;

/// What is done with the fields asked for.
pub(crate) trait Visit {
    /// Where a field lies, its quotes included; `slot` is its place in the list of columns asked
    /// for. False ends the walk.
    fn field(&mut self, slot: usize, place: Range<usize>) -> bool;

    /// The end of a record and where its bytes lie, without the line end.
    fn record(&mut self, place: Range<usize>);
}

/// How a walk over records ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// At the end.
    Whole,
    /// By the visitor.
    Stopped,
    /// At a record with another number of fields than the header.
    Uneven {
        /// Fields in the record.
        found: usize,
    },
}

/// Walks over records of `columns` fields each and shows the fields of the `wanted` columns, which
/// rise and may repeat. Blank lines are no records.
pub(crate) fn walk(
    bytes: &[u8],
    layout: &Layout,
    columns: usize,
    wanted: &[usize],
    visit: &mut impl Visit,
) -> Ended {
    // Nearly all tables of numbers have no quotes, and then need no look at the first byte of each
    // field.
    if memchr::memchr(b'"', bytes).is_none() {
        walk_plain(bytes, layout, columns, wanted, visit)
    } else {
        walk_quoted(bytes, layout, columns, wanted, visit)
    }
}

fn walk_plain(
    bytes: &[u8],
    layout: &Layout,
    columns: usize,
    wanted: &[usize],
    visit: &mut impl Visit,
) -> Ended {
    let mut marks = Marks::new(bytes, layout.separator, layout.terminator);
    let mut start = 0;
    while start < bytes.len() {
        if is_blank(bytes, start, layout) {
            start = marks.finish(0).1 + 1;
            continue;
        }
        // The field that was looked at last, how many were passed, and the end of the record once it
        // is known.
        let mut field = start..start;
        let mut passed = 0;
        let mut end = None;
        for (slot, &next) in wanted.iter().enumerate() {
            if next >= passed {
                let mut begin = if passed == 0 { start } else { field.end + 1 };
                if next > passed {
                    match marks.skip(next - passed) {
                        Ok(place) => begin = place + 1,
                        Err((more, _)) => return Ended::Uneven { found: passed + more + 1 },
                    }
                }
                let (place, is_end) = marks.next();
                if is_end && next + 1 < columns {
                    return Ended::Uneven { found: next + 1 };
                }
                field = begin..place;
                passed = next + 1;
                end = is_end.then_some(place);
            }
            if !visit.field(slot, field.clone()) {
                return Ended::Stopped;
            }
        }
        let end = match end {
            Some(end) => end,
            None => {
                let (more, end) = marks.finish(columns.saturating_sub(passed + 1));
                if passed + more + 1 != columns {
                    return Ended::Uneven { found: passed + more + 1 };
                }
                end
            }
        };
        visit.record(start..without_return(bytes, start, end));
        start = end + 1;
    }
    Ended::Whole
}

fn walk_quoted(
    bytes: &[u8],
    layout: &Layout,
    columns: usize,
    wanted: &[usize],
    visit: &mut impl Visit,
) -> Ended {
    let mut marks = Marks::new(bytes, layout.separator, layout.terminator);
    let mut start = 0;
    while start < bytes.len() {
        if is_blank(bytes, start, layout) {
            start = marks.finish(0).1 + 1;
            continue;
        }
        let mut wanted = wanted.iter().enumerate().peekable();
        let mut field = start;
        let mut column = 0;
        let end = loop {
            let rest = bytes.get(field..).unwrap_or_default();
            let padding = rest.iter().take_while(|&&byte| layout.is_padding(byte)).count();
            if rest.get(padding) == Some(&b'"') {
                let inside = field + padding + 1;
                let close = closing_quote(bytes, inside, true).unwrap_or(bytes.len());
                marks.seek(close);
            }
            let (place, is_end) = marks.next();
            if is_end && column + 1 != columns {
                return Ended::Uneven { found: column + 1 };
            }
            while let Some((slot, _)) = wanted.next_if(|(_, next)| **next == column) {
                if !visit.field(slot, field..place) {
                    return Ended::Stopped;
                }
            }
            if is_end {
                break place;
            }
            column += 1;
            field = place + 1;
        };
        visit.record(start..without_return(bytes, start, end));
        start = end + 1;
    }
    Ended::Whole
}

/// Whether the line that begins at `start` holds nothing but spaces.
#[inline]
fn is_blank(bytes: &[u8], start: usize, layout: &Layout) -> bool {
    // One look decides for nearly all lines.
    if bytes.get(start).is_some_and(|&byte| byte > b' ' || byte == layout.separator) {
        return false;
    }
    let line = bytes.get(start..).unwrap_or_default();
    line.iter()
        .find(|&&byte| !(layout.is_padding(byte) || byte == b'\r') || byte == layout.terminator)
        .is_none_or(|&byte| byte == layout.terminator)
}

/// The end of a record before a carriage return that belongs to the line end.
#[inline]
fn without_return(bytes: &[u8], start: usize, end: usize) -> usize {
    if end > start && bytes.get(end - 1) == Some(&b'\r') { end - 1 } else { end }
}
