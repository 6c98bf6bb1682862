//! How the fields of a CSV file are set apart, and what a single field says.

use std::borrow::Cow;

/// The marks between fields and between records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Between fields.
    pub(crate) separator: u8,
    /// After a record: a line feed, or a carriage return in files of the old Macintosh. A carriage
    /// return before a line feed counts as white space at the end of the last field.
    pub(crate) terminator: u8,
    /// Whether 3,14 stands for 3.14.
    pub(crate) decimal_comma: bool,
}

impl Layout {
    /// Space that may stand between a separator and an opening quote.
    pub(crate) fn is_padding(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && byte != self.separator
    }

    /// Whether the quote at `quote` opens a field: only spaces lie between it and the field's start.
    pub(crate) fn opens(&self, bytes: &[u8], quote: usize) -> bool {
        let before = bytes.get(..quote).unwrap_or_default();
        match before.iter().rev().find(|&&byte| !self.is_padding(byte)) {
            None => true,
            Some(&byte) => byte == self.separator || byte == self.terminator,
        }
    }
}

/// Where the quote that closes a field stands, for one that opened just before `from`. A doubled
/// quote is a quote in the text. `None` when there is no end in sight; a quote that is the last
/// byte counts only if nothing follows (`ended`), as its twin may be in the next block.
pub(crate) fn closing_quote(bytes: &[u8], mut from: usize, ended: bool) -> Option<usize> {
    loop {
        let quote = from + memchr::memchr(b'"', bytes.get(from..)?)?;
        match bytes.get(quote + 1) {
            Some(b'"') => from = quote + 2,
            None if !ended => return None,
            _ => return Some(quote),
        }
    }
}

/// What a field says: without spaces around it and without its quotes.
pub(crate) fn content(raw: &[u8]) -> Cow<'_, [u8]> {
    let raw = raw.trim_ascii();
    let Some((b'"', rest)) = raw.split_first() else { return Cow::Borrowed(raw) };
    let close = closing_quote(rest, 0, true).unwrap_or(rest.len());
    let (inside, after) = rest.split_at(close);
    // What follows a closing quote belongs to the text, as other readers have it.
    let after = after.get(1..).unwrap_or_default();
    if after.is_empty() && memchr::memchr(b'"', inside).is_none() {
        return Cow::Borrowed(inside.trim_ascii());
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut bytes = inside.iter();
    while let Some(&byte) = bytes.next() {
        text.push(byte);
        if byte == b'"' {
            bytes.next(); // its twin
        }
    }
    text.extend_from_slice(after);
    Cow::Owned(text.trim_ascii().to_vec())
}

/// Bytes as text. What is not UTF-8 is taken as Latin-1, the likeliest other encoding, so that a
/// name with an accent can still be typed.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}
