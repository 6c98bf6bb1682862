//! Tables aligned by blanks: a tab takes the place of each run of them.

use std::io::{self, BufRead, BufReader, Read};

use crate::remade::{Maker, Remade};

/// A text with tabs.
pub(super) fn with_tabs(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    State::default().convert(text, &mut out);
    out
}

/// A reader of the same with tabs.
pub(super) fn reader(inner: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    let inner = BufReader::with_capacity(256 << 10, inner);
    Box::new(Remade::new(Blanks { inner, state: State::default() }, vec![]))
}

/// Where in a line the conversion is.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Whether a field of this line was seen, and blanks since.
    has_field: bool,
    has_blanks: bool,
    /// Within a field, between its quotes, or behind a quote that closed.
    in_field: bool,
    in_quotes: bool,
    closed: bool,
}

impl State {
    fn convert(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for &byte in text {
            if self.in_quotes {
                (self.in_quotes, self.closed) = (byte != b'"', byte == b'"');
                out.push(byte);
                continue;
            }
            match byte {
                b' ' | b'\t' => {
                    (self.has_blanks, self.in_field, self.closed) = (true, false, false)
                }
                b'\n' | b'\r' => {
                    *self = Self::default();
                    out.push(byte);
                }
                _ => {
                    if self.has_blanks && self.has_field {
                        out.push(b'\t');
                    }
                    // A doubled quote closes and opens again.
                    self.in_quotes = byte == b'"' && (!self.in_field || self.closed);
                    (self.has_field, self.has_blanks) = (true, false);
                    (self.in_field, self.closed) = (true, false);
                    out.push(byte);
                }
            }
        }
    }
}

struct Blanks<R> {
    inner: BufReader<R>,
    state: State,
}

impl<R: Read> Maker for Blanks<R> {
    fn make(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        while text.is_empty() {
            let bytes = self.inner.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.state.convert(bytes, text);
            let length = bytes.len();
            self.inner.consume(length);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_blanks_are_one_tab() {
        for (text, expected) in [
            ("x mu  y\n", "x\tmu\ty\n"),
            ("  1 \t2   3  \r\n 4 5 6", "1\t2\t3\r\n4\t5\t6"),
            ("\"New  York\" 1\n", "\"New  York\"\t1\n"),
            ("\"say \"\"hi\"\" \" 2 5\" 3", "\"say \"\"hi\"\" \"\t2\t5\"\t3"),
            ("   \n\n a", "\n\na"),
        ] {
            assert_eq!(String::from_utf8(with_tabs(text.as_bytes())).unwrap(), expected);
            // In pieces of any length it is the same.
            for length in 1..5 {
                let mut state = State::default();
                let mut out = vec![];
                text.as_bytes().chunks(length).for_each(|part| state.convert(part, &mut out));
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }
}
