//! Flat objects in a text, one after the other.

use std::ops::Range;

use crate::words::shown;

/// What a field holds; places are in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Null,
    Flag(bool),
    /// Digits as they stand, or NaN, Infinity, -Infinity, as Python writes them.
    Number(Range<usize>),
    /// What stands between the quotes.
    Text(Range<usize>),
}

/// An object: its fields in order, the place of each name between its quotes.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) fields: Vec<(Range<usize>, Field)>,
}

/// Why there is no further object.
#[derive(Debug)]
pub(super) enum Broken {
    /// It ends beyond what is there.
    Unfinished,
    /// This is no JSON.
    Not(String),
    /// A list or an object in the field of this name.
    Nested { name: Vec<u8>, what: &'static str },
}

impl Broken {
    /// What follows the name of the file in a sentence.
    pub(super) fn words(&self, row: u64) -> String {
        match self {
            Self::Unfinished => format!(", row {row}: the JSON ends within an object"),
            Self::Not(what) => format!(", row {row} is no object of JSON: {what}"),
            Self::Nested { name, what } => format!(
                ", row {row}, column {:?} holds {what}: write one flat object for each row, as \
                 {{\"x\": 1, \"y\": 2}} (in pandas: to_json(path, orient=\"records\", lines=True))",
                shown(name)
            ),
        }
    }
}

/// Reads the object at or after a place, and gives the place behind it; none at the end.
pub(super) fn next(
    bytes: &[u8],
    from: usize,
    ended: bool,
    row: u64,
    seen: &mut Seen,
) -> Result<Option<usize>, Broken> {
    seen.fields.clear();
    let mut text = Cut { bytes, at: from };
    // A list of objects is as good as one a line.
    loop {
        text.skip_space();
        match text.peek() {
            None => return Ok(None),
            Some(b'{') => break,
            Some(b',') | Some(b']') if row > 1 => text.at += 1,
            Some(b'[' | b']') if row == 1 => text.at += 1,
            Some(_) => return Err(Broken::Not(text.here("an object in braces", ended))),
        }
    }
    text.at += 1;
    text.skip_space();
    if text.peek() == Some(b'}') {
        return Ok(Some(text.at + 1));
    }
    loop {
        text.skip_space();
        let name = match text.peek().ok_or(Broken::Unfinished)? {
            b'"' => text.string()?,
            _ => return Err(Broken::Not(text.here("the name of a field in quotes", ended))),
        };
        text.skip_space();
        match text.peek().ok_or(Broken::Unfinished)? {
            b':' => text.at += 1,
            _ => return Err(Broken::Not(text.here("a colon", ended))),
        }
        text.skip_space();
        let field = text.value(&name, ended)?;
        seen.fields.push((name, field));
        text.skip_space();
        match text.peek().ok_or(Broken::Unfinished)? {
            b',' => text.at += 1,
            b'}' => return Ok(Some(text.at + 1)),
            _ => return Err(Broken::Not(text.here("a comma or a brace", ended))),
        }
    }
}

struct Cut<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cut<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The text in quotes that begins here, without them.
    fn string(&mut self) -> Result<Range<usize>, Broken> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            let rest = self.bytes.get(at..).ok_or(Broken::Unfinished)?;
            at += memchr::memchr2(b'"', b'\\', rest).ok_or(Broken::Unfinished)?;
            if self.bytes.get(at) == Some(&b'"') {
                self.at = at + 1;
                return Ok(start..at);
            }
            at += 2;
        }
    }

    fn value(&mut self, name: &Range<usize>, ended: bool) -> Result<Field, Broken> {
        let nested = |what| {
            let name = text(self.bytes.get(name.clone()).unwrap_or_default());
            Err(Broken::Nested { name, what })
        };
        match self.peek().ok_or(Broken::Unfinished)? {
            b'"' => return Ok(Field::Text(self.string()?)),
            b'{' => return nested("an object"),
            b'[' => return nested("a list"),
            _ => {}
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        let length = rest.iter().position(is_end).ok_or(Broken::Unfinished)?;
        let place = self.at..self.at + length;
        let word = rest.get(..length).unwrap_or_default();
        let is_number = matches!(word, [b'-' | b'0'..=b'9', ..])
            && word.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
            && word.last().is_some_and(u8::is_ascii_digit);
        let field = match word {
            b"null" => Field::Null,
            b"true" => Field::Flag(true),
            b"false" => Field::Flag(false),
            b"NaN" | b"Infinity" | b"-Infinity" => Field::Number(place.clone()),
            _ if is_number => Field::Number(place.clone()),
            _ => return Err(Broken::Not(self.here("a value", ended))),
        };
        self.at = place.end;
        Ok(field)
    }

    /// That something else stands here than there must be.
    fn here(&self, wanted: &str, ended: bool) -> String {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let found = rest.get(..line.min(24)).unwrap_or_default();
        match found.is_empty() && ended {
            true => format!("{wanted} must follow"),
            false => format!("{wanted} must stand where {:?} stands", shown(found)),
        }
    }
}

/// What a text between quotes says.
pub(super) fn text(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    push_text(raw, &mut text);
    text
}

fn push_text(mut raw: &[u8], text: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'\\', raw) {
        let (plain, escape) = raw.split_at(at);
        text.extend_from_slice(plain);
        let (letter, rest) = match escape.get(1) {
            Some(letter) => (*letter, escape.get(2..).unwrap_or_default()),
            None => return,
        };
        raw = rest;
        match letter {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'u' => {
                let first = unit(raw);
                raw = raw.get(4..).unwrap_or_default();
                // What lies beyond the first 65536 characters is written as two.
                let second = match raw {
                    [b'\\', b'u', rest @ ..] => unit(rest),
                    _ => None,
                };
                let pair = first.zip(second).map(|(first, second)| [first, second]);
                let both = pair.and_then(|pair| char::decode_utf16(pair).next()?.ok());
                let one = first.and_then(|first| char::from_u32(u32::from(first)));
                if one.is_none() && both.is_some() {
                    raw = raw.get(6..).unwrap_or_default();
                }
                let letter = one.or(both).unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => text.push(other),
        }
    }
    text.extend_from_slice(raw);
}

/// Four digits to the base of sixteen.
fn unit(digits: &[u8]) -> Option<u16> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_escapes() {
        for (raw, expected) in [
            (r"plain", "plain"),
            (r#"a\"b\\c\/d"#, "a\"b\\c/d"),
            (r"\u00e9\u65e5\ud83d\ude00!", "é日😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\n\t\r", "\n\t\r"),
            (r"\u12", "\u{fffd}"),
        ] {
            assert_eq!(String::from_utf8(text(raw.as_bytes())).unwrap(), expected, "{raw}");
        }
    }
}
