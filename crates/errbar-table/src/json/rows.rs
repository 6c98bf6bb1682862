//! Objects as lines of a CSV with tabs.

use std::collections::HashMap;
use std::io::{self, Read};

use super::LONGEST;
use super::objects::{self, Broken, Field, Seen};
use crate::csv::write::push_text;
use crate::remade::{Maker, Remade};
use crate::words::{Told, shown};

/// Bytes that are read at once.
const CHUNK: u64 = 256 << 10;

/// What makes a CSV of objects. Its failures are [`Told`]s.
pub(super) struct Rows {
    name: String,
    source: Box<dyn Read + Send>,
    names: Vec<Vec<u8>>,
    /// Where each name stands in the header, as it is written in the text.
    places: HashMap<Vec<u8>, usize>,
    decimal_comma: bool,
    /// What was read, and how much of it was made rows.
    bytes: Vec<u8>,
    at: usize,
    ended: bool,
    /// Rows that were made.
    rows: u64,
    seen: Seen,
    /// Where the fields of the object at hand are.
    fields: Vec<Option<usize>>,
}

impl Rows {
    pub(super) fn new(
        name: &str,
        names: Vec<Vec<u8>>,
        decimal_comma: bool,
        source: Box<dyn Read + Send>,
    ) -> Remade<Self> {
        let mut ready = vec![];
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                ready.push(b'\t');
            }
            push_text(&mut ready, name, b'\t');
        }
        ready.push(b'\n');
        let fields = vec![None; names.len()];
        let rows = Self {
            name: name.to_string(),
            source,
            names,
            places: HashMap::new(),
            decimal_comma,
            bytes: vec![],
            at: 0,
            ended: false,
            rows: 0,
            seen: Seen::default(),
            fields,
        };
        Remade::new(rows, ready)
    }

    /// Makes rows of all objects that are there.
    fn make_rows(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let row = self.rows + 1;
            let Self { bytes, seen, .. } = self;
            match objects::next(bytes, self.at, self.ended, row, seen) {
                Ok(Some(next)) => {
                    self.make_row(row, text)?;
                    (self.at, self.rows) = (next, row);
                }
                Ok(None) => {
                    self.at = self.bytes.len();
                    return Ok(());
                }
                Err(Broken::Unfinished) if !self.ended => return Ok(()),
                Err(broken) => return Err(self.failed(broken.words(row))),
            }
        }
    }

    fn make_row(&mut self, row: u64, out: &mut Vec<u8>) -> io::Result<()> {
        self.place_fields(row)?;
        let begin = out.len();
        for (place, field) in self.fields.iter().enumerate() {
            if place > 0 {
                out.push(b'\t');
            }
            if let Some((_, field)) = field.and_then(|nth| self.seen.fields.get(nth)) {
                self.push_field(field, out);
            }
        }
        // A line of nothing is no row.
        if self.names.len() == 1 && out.len() == begin {
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
        Ok(())
    }

    /// Finds where in the row each field of the object goes.
    fn place_fields(&mut self, row: u64) -> io::Result<()> {
        self.fields.fill(None);
        for (nth, (name, _)) in self.seen.fields.iter().enumerate() {
            let raw = self.bytes.get(name.clone()).unwrap_or_default();
            let refused = |before: &str, after: &str| {
                let (file, name) = (&self.name, shown(&objects::text(raw)));
                Told::error(format!("{file}, row {row} has {before} {name:?}{after}"))
            };
            // Most objects have their fields in the order of the first one.
            let expected = self.names.get(nth).is_some_and(|name| name.as_slice() == raw);
            let known = if expected { Some(nth) } else { self.places.get(raw).copied() };
            let place = match known {
                Some(place) => place,
                None => {
                    let text = objects::text(raw);
                    let place = self.names.iter().position(|name| *name == text).ok_or_else(|| {
                        refused(
                            "a field",
                            " that no row near the beginning has: give the first row all fields, those it has not \
                             as null",
                        )
                    })?;
                    self.places.insert(raw.to_vec(), place);
                    place
                }
            };
            let field = self.fields.get_mut(place);
            if field.is_some_and(|field| field.replace(nth).is_some()) {
                return Err(refused("the field", " twice"));
            }
        }
        Ok(())
    }

    fn push_field(&self, field: &Field, out: &mut Vec<u8>) {
        match field {
            Field::Null => {}
            Field::Flag(true) => out.extend_from_slice(b"true"),
            Field::Flag(false) => out.extend_from_slice(b"false"),
            Field::Number(digits) => {
                let start = out.len();
                out.extend_from_slice(self.bytes.get(digits.clone()).unwrap_or_default());
                if self.decimal_comma {
                    let digits = out.get_mut(start..).unwrap_or_default();
                    digits.iter_mut().filter(|b| **b == b'.').for_each(|b| *b = b',');
                }
            }
            Field::Text(raw) => {
                let raw = self.bytes.get(raw.clone()).unwrap_or_default();
                match memchr::memchr(b'\\', raw) {
                    None => push_text(out, raw, b'\t'),
                    Some(_) => push_text(out, &objects::text(raw), b'\t'),
                }
            }
        }
    }

    fn failed(&self, why: String) -> io::Error {
        Told::error(format!("{}{why}", self.name))
    }
}

impl Maker for Rows {
    fn make(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        while text.is_empty() && !(self.ended && self.at == self.bytes.len()) {
            self.bytes.drain(..self.at);
            self.at = 0;
            if self.bytes.len() > LONGEST {
                let (row, most) = (self.rows + 1, LONGEST >> 20);
                return Err(self.failed(format!(", row {row} is longer than {most} MB")));
            }
            let more = CHUNK.max(self.bytes.len() as u64);
            let source = self.source.by_ref();
            let read = source.take(more).read_to_end(&mut self.bytes)?;
            self.ended = (read as u64) < more;
            self.make_rows(text)?;
        }
        Ok(())
    }
}
