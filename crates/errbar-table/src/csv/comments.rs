//! Lines that are comments, left out while a table is read.

use std::io::{self, BufRead, BufReader, Read};

use crate::remade::{Maker, Remade};

/// A reader of all lines but comments: those whose first letter is the mark, outside of quotes.
pub(super) fn without(inner: impl Read + Send + 'static, mark: u8) -> Box<dyn Read + Send> {
    let inner = BufReader::with_capacity(256 << 10, inner);
    Box::new(Remade::new(WithoutComments { inner, mark, state: State::Start }, vec![]))
}

struct WithoutComments<R> {
    inner: BufReader<R>,
    mark: u8,
    state: State,
}

/// Where in a text the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first letter of a line.
    Start,
    /// In a line; whether a quote is open.
    Line {
        quoted: bool,
    },
    Comment,
}

impl State {
    fn after(self, byte: u8, mark: u8) -> Self {
        let is_end = byte == b'\n' || byte == b'\r';
        match self {
            Self::Start if byte == mark => Self::Comment,
            Self::Start if is_end || byte == b' ' || byte == b'\t' => Self::Start,
            Self::Start => Self::Line { quoted: byte == b'"' },
            Self::Line { quoted } if byte == b'"' => Self::Line { quoted: !quoted },
            Self::Line { quoted: false } | Self::Comment if is_end => Self::Start,
            state => state,
        }
    }
}

impl<R: Read> Maker for WithoutComments<R> {
    fn make(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        while text.is_empty() {
            let bytes = self.inner.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            for &byte in bytes {
                self.state = self.state.after(byte, self.mark);
                if self.state != State::Comment {
                    text.push(byte);
                }
            }
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
    fn comments_go_and_quoted_lines_stay() {
        let text = "1,2\n# a, b\n  #c\n\"x\n# not a comment\",3\r\n#\r\n4,#5\n#end";
        let mut read = String::new();
        without(text.as_bytes(), b'#').read_to_string(&mut read).unwrap();
        let rows: Vec<&str> = read.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(rows, ["1,2", "\"x", "# not a comment\",3", "4,#5"]);
    }
}
