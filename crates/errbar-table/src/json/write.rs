//! JSON lines: one object a row. Numbers have the digits that give the same number back; what is missing is null.

use std::io::Write;

use rayon::prelude::*;

use crate::output::Pending;
use crate::packed::Packing;
use crate::parquet::leaf::Leaf;
use crate::parquet::values::{Meaning, Value};

/// Rows that are made text at once; also the members of a compressed file, so the same whatever the number of threads.
const PIECE: usize = 1 << 14;

/// A file of JSON lines that is being written.
pub(crate) struct JsonSink {
    file: Pending,
    packing: Option<Packing>,
    /// What stands before the value of each column: a brace or a comma, and the name.
    names: Vec<Vec<u8>>,
}

/// Some rows of a column: its parts, one behind the other, and what it holds.
pub(crate) type JsonColumn<'a> = (Vec<&'a Leaf>, Meaning);

impl JsonSink {
    pub(crate) fn new(file: Pending, packing: Option<Packing>, names: &[String]) -> Self {
        let name = |(i, name): (usize, &String)| {
            let mut text = vec![if i == 0 { b'{' } else { b',' }];
            push_string(&mut text, name);
            text.push(b':');
            text
        };
        Self { file, packing, names: names.iter().enumerate().map(name).collect() }
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, rows: usize, columns: &[JsonColumn<'_>]) -> crate::Result<()> {
        let piece = |i: usize| {
            let from = i * PIECE;
            let count = PIECE.min(rows - from);
            let mut values: Vec<_> = columns
                .iter()
                .map(|(parts, meaning)| {
                    let rows = parts.iter().flat_map(|leaf| leaf.rows());
                    (rows.skip(from).take(count), *meaning)
                })
                .collect();
            let mut out = Vec::with_capacity(count * columns.len() * 24);
            for _ in 0..count {
                for (name, (values, meaning)) in self.names.iter().zip(&mut values) {
                    out.extend_from_slice(name);
                    push_value(&mut out, values.next().flatten(), *meaning);
                }
                out.extend_from_slice(b"}\n");
            }
            match self.packing {
                Some(packing) => packing.pack(&out),
                None => out,
            }
        };
        let pieces: Vec<Vec<u8>> = (0..rows.div_ceil(PIECE)).into_par_iter().map(piece).collect();
        for bytes in pieces {
            self.file.write_all(&bytes).map_err(|error| self.file.failed(error))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> crate::Result<()> {
        self.file.finish()
    }
}

fn push_value(out: &mut Vec<u8>, value: Option<Value<'_>>, meaning: Meaning) {
    let Some(value) = value else { return out.extend_from_slice(b"null") };
    match (meaning, value) {
        (_, Value::Flag(value)) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        (Meaning::Float, Value::Double(value)) if value.is_finite() => {
            out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        }
        (meaning, value) if meaning.is_number() => match meaning.number(value) {
            number if number.is_nan() => out.extend_from_slice(b"null"),
            // JSON has no infinity; what is too large is read as one.
            f64::INFINITY => out.extend_from_slice(b"1e999"),
            f64::NEG_INFINITY => out.extend_from_slice(b"-1e999"),
            _ => out.extend_from_slice(meaning.text(value).as_bytes()),
        },
        (meaning, value) => push_string(out, &meaning.text(value)),
    }
}

/// A text between quotes.
fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                // Writing to memory does not fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
            byte => out.push(byte),
        }
    }
    out.push(b'"');
}
