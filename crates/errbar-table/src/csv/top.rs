//! What stands at the top of a text before its rows: comments, lines above the header, the header, units under it.

use std::ops::Range;

use super::header::{SEPARATORS, counts, fields};
use super::layout::{Layout, content, text};
use super::units::is_unit;
use super::{blanks, number};
use crate::source::Form;
use crate::words::shown;
use crate::{Format, Separator};

/// Lines that are looked at.
const LOOKED_AT: usize = 64;

/// Lines after a header that must be like it.
const LIKE_IT: usize = 6;

/// What stands at the top.
#[derive(Debug, Default)]
pub(super) struct Top {
    /// Where the line of the header begins, or that of the first row if the header is a comment.
    pub(super) begin: usize,
    /// Whether fields lie between blanks.
    pub(super) blanks: bool,
    /// The header, where it is a comment, without its mark.
    pub(super) comment: Option<Range<usize>>,
    /// How many lines above the header are left out, and the first of them.
    pub(super) above: Option<(usize, String)>,
}

/// How the fields of a line lie.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cut {
    At(u8),
    Blanks,
}

impl Cut {
    /// What the fields of a line say.
    fn fields(self, line: &[u8]) -> Vec<Vec<u8>> {
        let cut = |line: &[u8], separator| -> Vec<Vec<u8>> {
            let layout = Layout { separator, terminator: b'\n', decimal_comma: false };
            let places = fields(line, &layout).into_iter();
            places.map(|place| content(line.get(place).unwrap_or_default()).into_owned()).collect()
        };
        match self {
            Self::At(separator) => cut(line, separator),
            Self::Blanks => cut(&blanks::with_tabs(line), b'\t'),
        }
    }
}

/// Looks at the first lines of a text.
pub(super) fn look(head: &[u8], format: &Format, form: Form, ended: bool) -> Top {
    let mut top = Top::default();
    if form == Form::Json {
        return top;
    }
    let start = if head.starts_with(super::header::BOM) { super::header::BOM.len() } else { 0 };
    let all = lines(head, start, ended);
    let comment = |line: &&Range<usize>| {
        let mark = format.comment.unwrap_or(b'#');
        slice(head, line).trim_ascii_start().first() == Some(&mark) && form == Form::Plain
    };
    let comments = all.iter().take_while(comment).count();
    let is_quoted =
        |line: &&Range<usize>| slice(head, line).iter().filter(|b| **b == b'"').count() % 2 == 1;
    // In quotes a line may end, and then these are no lines.
    let plain: Vec<Range<usize>> = all
        .iter()
        .skip(comments)
        .take_while(|line| !is_quoted(line))
        .filter(|line| !comment(line))
        .cloned()
        .collect();
    let here: Vec<&[u8]> = plain.iter().map(|line| slice(head, line)).collect();
    let first = all.get(comments).map_or(head.len(), |line| line.start);
    top.begin = if comments > 0 { first } else { 0 };
    let blank = format.separator == Some(Separator::Blanks);

    // The last comment may be the header of what follows.
    if let (Some(line), Some(row)) = (all.get(comments.wrapping_sub(1)), here.first()) {
        let whole = slice(head, line);
        let inside = whole.trim_ascii_start();
        let inside = inside.get(1..).unwrap_or_default();
        let cut = cut_of(row, &here, format);
        let row = cut.fields(row);
        let is_name = |name: &Vec<u8>| !name.is_empty() && !is_number(name, format);
        if row.iter().any(|field| is_number(field, format)) {
            let names = cut.fields(inside);
            if names.len() == row.len() && names.iter().all(is_name) {
                let place = line.end - inside.len()..line.end;
                (top.blanks, top.comment) = (matches!(cut, Cut::Blanks), Some(place));
                return top;
            }
            // A column may be called #.
            if cut.fields(whole).len() == row.len() {
                (top.blanks, top.begin) = (matches!(cut, Cut::Blanks), line.start);
                return top;
            }
        }
    }
    if let Some(above) = above_header(&here, format).filter(|above| *above > 0) {
        let said = here.iter().map(|line| trimmed(line)).find(|line| !line.is_empty());
        top.above = Some((above, said.unwrap_or_default()));
        top.begin = plain.get(above).map_or(top.begin, |line| line.start);
        top.blanks = matches!(
            here.get(above).map(|line| cut_of(line, here.get(above..).unwrap_or_default(), format)),
            Some(Cut::Blanks)
        );
        return top;
    }
    top.blanks = blank
        || here.first().is_some_and(|line| matches!(cut_of(line, &here, format), Cut::Blanks));
    if top.blanks {
        top.begin = first;
    }
    top
}

/// How many lines stand above the header; none where the first line is one, or nothing looks like one.
fn above_header(lines: &[&[u8]], format: &Format) -> Option<usize> {
    (0..lines.len().min(LOOKED_AT / 2)).find(|at| {
        let (above, rest) = lines.split_at(*at);
        let Some((header, after)) = rest.split_first() else { return false };
        let cut = cut_of(header, rest, format);
        let names = cut.fields(header);
        let there = names.iter().filter(|name| !name.is_empty()).count();
        let after = after.get(..after.len().min(LIKE_IT)).unwrap_or_default();
        let rows: Vec<Vec<Vec<u8>>> = after.iter().map(|line| cut.fields(line)).collect();
        let has_number = |row: &Vec<Vec<u8>>| row.iter().any(|field| is_number(field, format));
        let looks_so = there >= 2
            && 2 * there > names.len()
            && !has_number(&names)
            && !rows.is_empty()
            && rows.iter().all(|row| row.len() == names.len())
            && rows.iter().take(2).any(has_number);
        looks_so
            && above.iter().all(|line| {
                let fields = cut.fields(line);
                let there = fields.iter().filter(|field| !field.is_empty()).count();
                let few = match cut {
                    // Words are no fields.
                    Cut::Blanks => fields.len() != names.len(),
                    Cut::At(_) => there <= (names.len() / 2).max(1),
                };
                few && (there == 0
                    || !fields.iter().all(|field| field.is_empty() || is_number(field, format)))
            })
    })
}

/// How the fields of a line lie that may be a header, and those of the lines that follow it (it is the first of `lines`).
fn cut_of(line: &[u8], lines: &[&[u8]], format: &Format) -> Cut {
    match format.separator {
        Some(Separator::Byte(byte)) => return Cut::At(byte),
        Some(Separator::Blanks) => return Cut::Blanks,
        None => {}
    }
    if counts(line).iter().any(|count| *count > 0) {
        return Cut::At(super::header::guess(line, format.decimal_comma));
    }
    let names = Cut::Blanks.fields(line).len();
    let mut after = lines.iter().skip(1).take(LIKE_IT);
    let alike = |line: &&[u8]| {
        let has_other = |separator: &u8| match separator {
            // A decimal comma.
            b',' => false,
            other => {
                counts(line).get(SEPARATORS.iter().position(|s| s == other).unwrap_or(0))
                    != Some(&0)
            }
        };
        Cut::Blanks.fields(line).len() == names
            && !SEPARATORS.iter().any(|s| *s != b'\t' && has_other(s))
    };
    match names > 1 && lines.len() > 1 && after.all(alike) {
        true => Cut::Blanks,
        false => Cut::At(super::header::guess(line, format.decimal_comma)),
    }
}

/// Whether the first of these lines holds units of the columns: where it ends, and some of them.
pub(super) fn units(
    rows: &[u8],
    cut: Cut,
    format: &Format,
    ended: bool,
) -> Option<(usize, Vec<String>)> {
    let lines = lines(rows, 0, ended);
    let (first, after) = lines.split_first()?;
    let cells = cut.fields(slice(rows, first));
    let after: Vec<Vec<Vec<u8>>> =
        after.iter().take(2 * LIKE_IT).map(|line| cut.fields(slice(rows, line))).collect();
    let mut units: Vec<String> = vec![];
    let (mut there, mut known) = (0, 0);
    for (column, cell) in cells.iter().enumerate() {
        let below = || after.iter().filter_map(|row| row.get(column));
        let is_number = |field: &Vec<u8>| is_number(field, format);
        let is_number_or_gap = |field: &Vec<u8>| is_number(field) || number::is_missing(field);
        if !below().any(is_number) || !below().all(is_number_or_gap) {
            continue;
        }
        // 1 is what has no unit.
        if is_number(cell) && cell != b"1" {
            return None;
        }
        if number::is_missing(cell) || is_number(cell) {
            continue;
        }
        there += 1;
        let cell = text(cell);
        if is_unit(&cell) {
            known += 1;
            let cell = cell.into_owned();
            if !units.contains(&cell) && units.len() < 4 {
                units.push(cell);
            }
        }
    }
    (known > 0 && 2 * known >= there).then_some((first.end, units))
}

/// The first lines that are not blank, without their ends.
fn lines(bytes: &[u8], start: usize, ended: bool) -> Vec<Range<usize>> {
    let mut lines = vec![];
    let mut at = start;
    while lines.len() < LOOKED_AT {
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let end = match memchr::memchr2(b'\n', b'\r', rest) {
            Some(end) => at + end,
            None if ended => bytes.len(),
            None => break,
        };
        if !bytes.get(at..end).unwrap_or_default().trim_ascii().is_empty() {
            lines.push(at..end);
        }
        at = end + 1;
    }
    lines
}

fn is_number(field: &[u8], format: &Format) -> bool {
    number::parse_any(field, format.decimal_comma).is_some_and(|value| !value.is_nan())
}

/// A line for a message, without separators at its end.
fn trimmed(line: &[u8]) -> String {
    let end = line.iter().rposition(|b| !(SEPARATORS.contains(b) || b.is_ascii_whitespace()));
    shown(line.get(..end.map_or(0, |end| end + 1)).unwrap_or_default().trim_ascii())
}

fn slice<'a>(bytes: &'a [u8], place: &Range<usize>) -> &'a [u8] {
    bytes.get(place.clone()).unwrap_or_default()
}
