//! CSV files: the records as they were, with further fields.

use std::io::Write;
use std::ops::Range;

use rayon::prelude::*;

use super::header::fields;
use super::layout::{Layout, content};
use super::pieces::slice;
use crate::output::Pending;
use crate::packed::Packing;
use crate::parquet::leaf::Leaf;
use crate::parquet::values::{Meaning, Value};
use crate::{NewColumn, NewValues};

/// Bytes of records that are made into text at once, about. Also the members of a compressed file, so
/// the same whatever the number of threads.
const PIECE: usize = 512 << 10;

/// How fields are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) separator: u8,
    pub(crate) line_end: &'static str,
    pub(crate) decimal_comma: bool,
    pub(crate) packing: Option<Packing>,
    /// Whether rows are written as soon as they are there, for standard output.
    pub(crate) at_once: bool,
}

/// A CSV file that is being written.
pub(crate) struct CsvSink {
    file: Pending,
    style: Style,
    /// What is ready to be written; it is while the next rows are made into text.
    ready: Vec<Vec<u8>>,
}

impl CsvSink {
    /// Begins with the header as it was and the names of further columns.
    pub(crate) fn new(
        file: Pending,
        style: Style,
        header: &[u8],
        columns: &[NewColumn],
    ) -> crate::Result<Self> {
        let mut line = header.to_vec();
        for column in columns {
            line.push(style.separator);
            push_text(&mut line, column.name.as_bytes(), style.separator);
        }
        line.extend_from_slice(style.line_end.as_bytes());
        let mut sink = Self { file, style, ready: vec![style.pack(line)] };
        sink.put()?;
        Ok(sink)
    }

    /// Records of a CSV file with further fields.
    pub(crate) fn write_records(
        &mut self,
        bytes: &[u8],
        records: &[Range<u32>],
        values: &[NewValues],
    ) -> crate::Result<()> {
        let length = bytes.len() / records.len().max(1);
        self.write_rows(records.len(), length, values, |rows| {
            let mut records = records.get(rows).unwrap_or_default().iter();
            move |out: &mut Vec<u8>| {
                if let Some(record) = records.next() {
                    out.extend_from_slice(slice(bytes, record));
                }
            }
        })
    }

    /// Whether fields lie between these.
    pub(crate) fn has_separator(&self, separator: u8) -> bool {
        self.style.separator == separator
    }

    /// Records of another CSV file than the one that said how, field by field: in this order, if that is another.
    pub(crate) fn write_fields(
        &mut self,
        bytes: &[u8],
        records: &[Range<u32>],
        layout: &Layout,
        order: Option<&[usize]>,
        values: &[NewValues],
    ) -> crate::Result<()> {
        let length = bytes.len() / records.len().max(1);
        let style = self.style;
        self.write_rows(records.len(), length, values, |rows| {
            let mut records = records.get(rows).unwrap_or_default().iter();
            move |out: &mut Vec<u8>| {
                let Some(record) = records.next() else { return };
                let record = slice(bytes, record);
                let fields = fields(record, layout);
                let mut push = |nth: usize, at: usize| {
                    if nth > 0 {
                        out.push(style.separator);
                    }
                    let place = fields.get(at).cloned().unwrap_or_default();
                    let raw = record.get(place).unwrap_or_default();
                    match style.separator == layout.separator {
                        true => out.extend_from_slice(raw),
                        false => push_text(out, &content(raw), style.separator),
                    }
                };
                match order {
                    Some(order) => order.iter().enumerate().for_each(|(nth, at)| push(nth, *at)),
                    None => (0..fields.len()).for_each(|nth| push(nth, nth)),
                }
            }
        })
    }

    /// Rows of a Parquet file with further fields.
    pub(crate) fn write_leaves(
        &mut self,
        rows: usize,
        leaves: &[(&Leaf, Meaning)],
        values: &[NewValues],
    ) -> crate::Result<()> {
        let style = self.style;
        self.write_rows(rows, 16 * leaves.len(), values, |rows| {
            let mut columns = Vec::with_capacity(leaves.len());
            for (leaf, meaning) in leaves {
                columns.push((leaf.rows_in(rows.clone()), *meaning));
            }
            move |out: &mut Vec<u8>| {
                for (i, (values, meaning)) in columns.iter_mut().enumerate() {
                    if i > 0 {
                        out.push(style.separator);
                    }
                    if let Some(value) = values.next().flatten() {
                        style.push_value(out, *meaning, value);
                    }
                }
            }
        })
    }

    /// Rows of `length` bytes, about. `records` gives for some rows what writes one after the other.
    fn write_rows<W: FnMut(&mut Vec<u8>)>(
        &mut self,
        rows: usize,
        length: usize,
        values: &[NewValues],
        records: impl Fn(Range<usize>) -> W + Sync,
    ) -> crate::Result<()> {
        let style = self.style;
        let at_once = (PIECE / length.max(1)).max(1);
        let piece = |i: usize| {
            let rows = i * at_once..rows.min((i + 1) * at_once);
            let mut out = Vec::with_capacity(rows.len() * (length + 24 * values.len()));
            let mut record = records(rows.clone());
            for row in rows {
                record(&mut out);
                style.push_values(&mut out, values, row);
                out.extend_from_slice(style.line_end.as_bytes());
            }
            style.pack(out)
        };
        let pieces = 0..rows.div_ceil(at_once);
        let (written, pieces) =
            rayon::join(|| self.put(), || pieces.into_par_iter().map(piece).collect());
        written?;
        self.ready = pieces;
        // Whoever reads along gets what there is.
        if style.at_once { self.put() } else { Ok(()) }
    }

    /// Writes what is ready.
    fn put(&mut self) -> crate::Result<()> {
        for bytes in self.ready.drain(..) {
            self.file.write_all(&bytes).map_err(|error| self.file.failed(error))?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> crate::Result<()> {
        self.put()?;
        self.file.finish()
    }
}

impl Style {
    /// A line of names, without its end.
    pub(crate) fn header(&self, names: &[String]) -> Vec<u8> {
        let mut line = vec![];
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                line.push(self.separator);
            }
            push_text(&mut line, name.as_bytes(), self.separator);
        }
        line
    }

    /// Compresses where asked to. A compressed file may be a row of compressed pieces.
    pub(crate) fn pack(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.packing {
            Some(packing) => packing.pack(&bytes),
            None => bytes,
        }
    }

    /// The further fields of one row, each after a separator.
    pub(crate) fn push_values(&self, out: &mut Vec<u8>, values: &[NewValues], row: usize) {
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
                NewValues::Texts(texts, rows) => {
                    let place = rows.get(row).copied().flatten();
                    if let Some(text) = place.and_then(|place| texts.get(place as usize)) {
                        push_text(out, text.as_bytes(), self.separator);
                    }
                }
            }
        }
    }

    /// A value of a Parquet file as a field.
    fn push_value(&self, out: &mut Vec<u8>, meaning: Meaning, value: Value<'_>) {
        // Most columns by far, without a text of their own for each value.
        match (meaning, value) {
            (Meaning::Float, Value::Double(value)) => return self.push_number(out, value),
            (Meaning::Signed, Value::Int(value)) => {
                // Writing to memory does not fail.
                let _ = write!(out, "{value}");
                return;
            }
            _ => {}
        }
        let text = meaning.text(value);
        let has_point = matches!(meaning, Meaning::Float | Meaning::Half | Meaning::Decimal { .. });
        if self.decimal_comma && has_point {
            push_text(out, text.replace('.', ",").as_bytes(), self.separator);
        } else {
            push_text(out, text.as_bytes(), self.separator);
        }
    }

    /// The shortest digits that give the same number back; nothing for NaN.
    pub(crate) fn push_number(&self, out: &mut Vec<u8>, value: f64) {
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
pub(crate) fn push_text(out: &mut Vec<u8>, text: &[u8], separator: u8) {
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
