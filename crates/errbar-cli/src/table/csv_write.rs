//! CSV files: the records as they were, with further fields.

use std::io::Write;
use std::ops::Range;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::pieces::slice;
use super::{NewColumn, NewValues};
use crate::output::Pending;

/// Bytes of records that are made into text at once, about. Also the members of a gzipped file, so
/// the same whatever the number of threads.
const PIECE: usize = 512 << 10;

/// How fields are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) separator: u8,
    pub(super) line_end: &'static str,
    pub(super) decimal_comma: bool,
    pub(super) gzip: bool,
}

/// A CSV file that is being written.
pub(super) struct CsvSink {
    file: Pending,
    style: Style,
}

impl CsvSink {
    /// Begins with the header as it was and the names of further columns.
    pub(super) fn new(
        file: Pending,
        style: Style,
        header: &[u8],
        columns: &[NewColumn],
    ) -> anyhow::Result<Self> {
        let mut line = header.to_vec();
        for column in columns {
            line.push(style.separator);
            push_text(&mut line, column.name.as_bytes(), style.separator);
        }
        line.extend_from_slice(style.line_end.as_bytes());
        let mut sink = Self { file, style };
        let line = sink.style.pack(line);
        sink.put(&line)?;
        Ok(sink)
    }

    /// Records with further fields.
    pub(super) fn write(
        &mut self,
        bytes: &[u8],
        records: &[Range<u32>],
        values: &[NewValues],
    ) -> anyhow::Result<()> {
        let style = self.style;
        let length = (bytes.len() / records.len().max(1)).max(1);
        let rows = (PIECE / length).max(1);
        let pieces: Vec<Vec<u8>> = records
            .par_chunks(rows)
            .enumerate()
            .map(|(i, records)| {
                let mut out = Vec::with_capacity(records.len() * (length + 24 * values.len()));
                for (row, record) in (i * rows..).zip(records) {
                    out.extend_from_slice(slice(bytes, record));
                    style.push_values(&mut out, values, row);
                    out.extend_from_slice(style.line_end.as_bytes());
                }
                style.pack(out)
            })
            .collect();
        pieces.iter().try_for_each(|piece| self.put(piece))
    }

    fn put(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).map_err(|error| self.file.failed(error))
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.file.finish()
    }
}

impl Style {
    /// Compresses where asked to. A gzipped file may be a row of gzipped pieces.
    pub(super) fn pack(&self, bytes: Vec<u8>) -> Vec<u8> {
        if !self.gzip {
            return bytes;
        }
        let mut encoder =
            GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
        // Writing to memory does not fail.
        let _ = encoder.write_all(&bytes);
        encoder.finish().unwrap_or_default()
    }

    /// The further fields of one row, each after a separator.
    pub(super) fn push_values(&self, out: &mut Vec<u8>, values: &[NewValues], row: usize) {
        for column in values {
            out.push(self.separator);
            match column {
                NewValues::Numbers(values) => {
                    self.push_number(out, values.get(row).copied().unwrap_or(f64::NAN));
                }
                NewValues::Flags(values) => match values.get(row).copied().flatten() {
                    Some(true) => out.extend_from_slice(b"true"),
                    Some(false) => out.extend_from_slice(b"false"),
                    None => {}
                },
            }
        }
    }

    /// The shortest digits that give the same number back; nothing for NaN.
    pub(super) fn push_number(&self, out: &mut Vec<u8>, value: f64) {
        if value.is_nan() {
            return;
        }
        let mut buffer = zmij::Buffer::new();
        let digits = buffer.format(value);
        if !self.decimal_comma {
            out.extend_from_slice(digits.as_bytes());
            return;
        }
        let digits = digits.replace('.', ",");
        push_text(out, digits.as_bytes(), self.separator);
    }
}

/// A text as a field, in quotes where it needs them.
pub(super) fn push_text(out: &mut Vec<u8>, text: &[u8], separator: u8) {
    let is_plain = |byte: &u8| !(*byte == separator || matches!(byte, b'"' | b'\n' | b'\r'));
    // Spaces around a text would be lost without quotes.
    if text.iter().all(is_plain) && text.trim_ascii().len() == text.len() {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for byte in text {
        out.push(*byte);
        if *byte == b'"' {
            out.push(b'"');
        }
    }
    out.push(b'"');
}
