//! The header of a CSV file: its separator, its line end and the names of its columns.

use std::io::{Cursor, Read};
use std::ops::Range;

use super::layout::{Layout, content, text};
use super::records::{Ended, Visit, walk};
use super::top::{self, Cut, Top};
use super::{blanks, comments, number};
use crate::names::check_distinct;
use crate::source::{Form, Text, not_read};
use crate::{Error, Format, Note, Separator};

/// The separators that are looked for, the likeliest first.
pub(crate) const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A header longer than this is none.
const LONGEST: usize = 64 << 20;

/// Bytes in which comments, titles and units are looked for.
const TOP: usize = 64 << 10;

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// What the first line of a CSV file says.
pub(crate) struct Header {
    pub(crate) layout: Layout,
    pub(crate) names: Vec<String>,
    /// The line as it stands, without its end, with the byte order mark where there is one.
    pub(crate) raw: Vec<u8>,
    pub(crate) line_end: &'static str,
    /// Whether the tabs between fields are not those of the file, which has blanks or is no text.
    pub(crate) remade: bool,
    /// Whether fields lie between blanks.
    pub(crate) blanks: bool,
    pub(crate) notes: Vec<Note>,
}

/// Reads the header; gives back what follows it, in two parts.
pub(crate) fn read(
    name: &str,
    format: &Format,
    text: Text,
) -> crate::Result<(Header, Vec<u8>, Box<dyn Read + Send>)> {
    check_separator(format)?;
    let Text { mut head, mut rest, form, mut notes } = text;
    let tab = Format { separator: Some(Separator::Byte(b'\t')), ..format.clone() };
    let format = if form == Form::Plain { format } else { &tab };
    let mut ended = false;
    let mut fill = |head: &mut Vec<u8>, more: usize| -> crate::Result<bool> {
        let read = rest.by_ref().take(more as u64).read_to_end(head);
        Ok(read.map_err(|error| not_read(name, error))? < more)
    };
    if head.len() < TOP {
        let more = TOP - head.len();
        ended = fill(&mut head, more)?;
    }
    let top = top::look(&head, format, form, ended);
    let separators: &[u8] = match format.separator {
        Some(Separator::Byte(byte)) => &[byte],
        _ if top.blanks => b" \t",
        _ => &SEPARATORS,
    };
    let mut find = |head: &mut Vec<u8>, separators: &[u8]| loop {
        if let Some(line) = first_line(head, top.begin, separators, ended) {
            return Ok(line);
        }
        if ended {
            let why = format!("{name}, header: a quote is opened and never closed");
            return Err(Error::Content(why));
        }
        if head.len() > LONGEST {
            let most = LONGEST >> 20;
            let why = format!("{name} has no line end in its first {most} MB; is it a CSV file?");
            return Err(Error::Content(why));
        }
        ended = fill(head, head.len().max(4096))?;
    };
    let mut line = find(&mut head, separators)?;
    let body = head.get(line.begin..line.end).unwrap_or_default();
    if body
        .iter()
        .all(|byte| byte.is_ascii_whitespace() && (top.blanks || !separators.contains(byte)))
    {
        let why = format!("{name} is empty; a header with the names of the columns is needed");
        return Err(Error::Content(why));
    }
    let separator = match format.separator {
        Some(Separator::Byte(byte)) => byte,
        _ if top.blanks => b'\t',
        _ => guess(body, format.decimal_comma),
    };
    if !top.blanks {
        // Which quotes open a name, and so where the line ends, is known only now.
        line = find(&mut head, &[separator])?;
    }
    let layout =
        Layout { separator, terminator: line.terminator, decimal_comma: format.decimal_comma };
    let mut next = line.next.min(head.len());
    let mut raw = head.get(line.begin..line.end).unwrap_or_default().to_vec();
    if let Some(comment) = &top.comment {
        // The line that was found is the first row.
        raw = head.get(comment.clone()).unwrap_or_default().trim_ascii().to_vec();
        next = line.begin;
    }
    // A file that was put behind a comment brings its mark along.
    if raw.starts_with(BOM) {
        raw.drain(..BOM.len());
    }
    if top.blanks {
        raw = blanks::with_tabs(&raw);
    }
    let names = names(name, &raw, &layout)?;
    notes.extend(said(name, &top, &names));
    let cut = if top.blanks { Cut::Blanks } else { Cut::At(separator) };
    let units = match form {
        Form::Json => None,
        _ => top::units(head.get(next..).unwrap_or_default(), cut, format, ended),
    };
    if let Some((end, units)) = units {
        notes.push(Note::Units { file: name.to_string(), units });
        next += end;
    }
    if head.starts_with(BOM) && !top.blanks {
        raw.splice(..0, BOM.iter().copied());
    }
    let mut carry = head.split_off(next.min(head.len()));
    if let Some(mark) = format.comment.filter(|_| form == Form::Plain) {
        rest = comments::without(Cursor::new(std::mem::take(&mut carry)).chain(rest), mark);
    }
    if top.blanks {
        rest = blanks::reader(Cursor::new(std::mem::take(&mut carry)).chain(rest));
    }
    let remade = top.blanks || form != Form::Plain;
    let (blanks, line_end) = (top.blanks, line.line_end);
    Ok((Header { layout, names, raw, line_end, remade, blanks, notes }, carry, rest))
}

/// What was found above the header.
fn said(file: &str, top: &Top, names: &[String]) -> Option<Note> {
    let file = file.to_string();
    if top.comment.is_some() {
        let first = names.first().cloned().unwrap_or_default();
        return Some(Note::CommentedHeader { file, first });
    }
    let (lines, first) = top.above.clone()?;
    Some(Note::Above { file, lines, first })
}

/// A separator that could be part of a number or a quote makes no sense.
fn check_separator(format: &Format) -> crate::Result<()> {
    match format.separator {
        Some(Separator::Byte(byte))
            if !byte.is_ascii()
                || byte.is_ascii_alphanumeric()
                || b"\"\n\r\0+-.".contains(&byte) =>
        {
            let byte = char::from(byte);
            Err(Error::Usage(format!("{byte:?} cannot separate fields; use , ; | or a tab")))
        }
        _ => Ok(()),
    }
}

/// The first line that is not blank.
struct Line {
    begin: usize,
    end: usize,
    /// Where the next line begins.
    next: usize,
    terminator: u8,
    line_end: &'static str,
}

/// Finds the first line outside of quotes from a place on; `None` when its end is not in sight.
fn first_line(bytes: &[u8], from: usize, separators: &[u8], ended: bool) -> Option<Line> {
    let after_mark = match from {
        0 if bytes.starts_with(BOM) => BOM.len(),
        from => from,
    };
    let blank = |byte: &u8| byte.is_ascii_whitespace() && !separators.contains(byte);
    let spaces = bytes.iter().skip(after_mark).take_while(|byte| blank(byte)).count();
    // Spaces before the first name belong to the line; line ends do not.
    let begin = bytes
        .get(..after_mark + spaces)?
        .iter()
        .rposition(|byte| matches!(byte, b'\n' | b'\r'))
        .map_or(after_mark, |place| place + 1);
    let mut quotes = Quotes::new(separators);
    let mut at = begin;
    while let Some(&byte) = bytes.get(at) {
        if quotes.pass(byte) && matches!(byte, b'\n' | b'\r') {
            return line_at(bytes, begin, at, ended);
        }
        at += 1;
    }
    let end = bytes.len();
    (ended && !quotes.inside).then_some(Line {
        begin,
        end,
        next: end,
        terminator: b'\n',
        line_end: "\n",
    })
}

/// Whether a place in a header lies inside of quotes. Only a quote at the start of a name opens one:
/// 5" is a length.
struct Quotes<'a> {
    separators: &'a [u8],
    at_start: bool,
    inside: bool,
    closed: bool,
}

impl<'a> Quotes<'a> {
    fn new(separators: &'a [u8]) -> Self {
        Self { separators, at_start: true, inside: false, closed: false }
    }

    /// Goes on by one byte, and says whether it is outside of quotes and none itself.
    fn pass(&mut self, byte: u8) -> bool {
        let is_outside = !self.inside && byte != b'"';
        (self.inside, self.closed) = match byte {
            b'"' if self.inside => (false, true),
            // A doubled quote closes and opens again.
            b'"' if self.at_start || self.closed => (true, false),
            _ => (self.inside, false),
        };
        let is_space = byte == b' ' || byte == b'\t';
        self.at_start = self.separators.contains(&byte) || (self.at_start && is_space);
        is_outside
    }
}

/// The line whose end is at `at`, where a line feed or a carriage return stands.
fn line_at(bytes: &[u8], begin: usize, at: usize, ended: bool) -> Option<Line> {
    let tail = bytes.get(at..).unwrap_or_default();
    let returns = tail.iter().take_while(|&&byte| byte == b'\r').count();
    if returns == tail.len() && !ended {
        return None;
    }
    let (terminator, line_end, next) = match (returns, tail.get(returns)) {
        (0, _) => (b'\n', "\n", at + 1),
        (_, Some(b'\n')) => (b'\n', "\r\n", at + returns + 1),
        _ => (b'\r', "\r", at + 1),
    };
    Some(Line { begin, end: at, next, terminator, line_end })
}

/// How often each separator stands outside of quotes.
pub(super) fn counts(line: &[u8]) -> [usize; SEPARATORS.len()] {
    let mut counts = [0; SEPARATORS.len()];
    let mut quotes = Quotes::new(&SEPARATORS);
    for byte in line {
        let is_outside = quotes.pass(*byte);
        if is_outside && let Some(i) = SEPARATORS.iter().position(|separator| separator == byte) {
            counts[i] += 1;
        }
    }
    counts
}

/// The separator that stands most often outside of quotes.
pub(super) fn guess(line: &[u8], decimal_comma: bool) -> u8 {
    let mut counts = counts(line);
    // A table whose numbers have commas is seldom separated by them.
    if decimal_comma && counts.iter().skip(1).any(|&count| count > 0) {
        counts[0] = 0;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    match counts.iter().position(|&count| count == most) {
        Some(place) if most > 0 => SEPARATORS[place],
        _ if decimal_comma => b';',
        _ => b',',
    }
}

/// The names in a header.
fn names(file: &str, line: &[u8], layout: &Layout) -> crate::Result<Vec<String>> {
    let content = |place| content(line.get(place).unwrap_or_default()).into_owned();
    let fields: Vec<Vec<u8>> = fields(line, layout).into_iter().map(content).collect();
    let is_number = |field: &Vec<u8>| {
        number::parse_any(field, layout.decimal_comma).is_some_and(|v| !v.is_nan())
    };
    if fields.iter().all(is_number) {
        let why = format!("{file}: the first line holds numbers; a header with names is needed");
        return Err(Error::Content(why));
    }
    let names = fields.iter().enumerate().map(|(i, field)| match field.as_slice() {
        b"" => format!("column {}", i + 1),
        field => text(field).into_owned(),
    });
    let names: Vec<String> = names.collect();
    check_distinct(file, &names)?;
    Ok(names)
}

/// Where the fields of one record lie.
pub(crate) fn fields(record: &[u8], layout: &Layout) -> Vec<Range<usize>> {
    struct Collect(Vec<Range<usize>>);
    impl Visit for Collect {
        fn field(&mut self, _: usize, place: Range<usize>) -> bool {
            self.0.push(place);
            true
        }
        fn record(&mut self, _: Range<usize>) {}
    }
    // How many there are is known only after a first walk.
    let mut visit = Collect(vec![]);
    let columns = match walk(record, layout, usize::MAX, &[], &mut visit) {
        Ended::Uneven { found } => found,
        _ => 0,
    };
    let wanted: Vec<usize> = (0..columns).collect();
    walk(record, layout, columns, &wanted, &mut visit);
    visit.0
}
