//! Some rows of one column of a Parquet file, with everything needed to write them again.

use std::ops::Range;

use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::values::{Meaning, Value};
use crate::dictionary::Few;

/// The values that are there, and the levels that say which are missing and, in nested columns, what
/// they belong to.
pub(crate) struct Leaf {
    pub(crate) values: Values,
    /// Empty where nothing can be missing.
    pub(crate) definition: Vec<i16>,
    /// Empty where nothing repeats.
    pub(crate) repetition: Vec<i16>,
    /// The definition level of a value that is there.
    full: i16,
    /// The highest repetition level.
    deepest: i16,
}

/// Values as they are stored.
pub(crate) enum Values {
    Flag(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Flag(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Int96(values) => values.len(),
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Bytes(values) => values.len(),
            Self::Fixed(values) => values.len(),
        }
    }

    fn get(&self, place: usize) -> Option<Value<'_>> {
        Some(match self {
            Self::Flag(values) => Value::Flag(*values.get(place)?),
            Self::Int32(values) => Value::Int(i64::from(*values.get(place)?)),
            Self::Int64(values) => Value::Int(*values.get(place)?),
            Self::Int96(values) => Value::Int96(values.get(place)?),
            Self::Single(values) => Value::Single(*values.get(place)?),
            Self::Double(values) => Value::Double(*values.get(place)?),
            Self::Bytes(values) => Value::Bytes(values.get(place)?.data()),
            Self::Fixed(values) => Value::Bytes(values.get(place)?.data()),
        })
    }
}

fn mismatch() -> ParquetError {
    ParquetError::General("a column has another type than the schema says".to_string())
}

impl Leaf {
    pub(crate) fn new(column: &ColumnDescriptor) -> Self {
        let values = match column.physical_type() {
            Type::BOOLEAN => Values::Flag(vec![]),
            Type::INT32 => Values::Int32(vec![]),
            Type::INT64 => Values::Int64(vec![]),
            Type::INT96 => Values::Int96(vec![]),
            Type::FLOAT => Values::Single(vec![]),
            Type::DOUBLE => Values::Double(vec![]),
            Type::BYTE_ARRAY => Values::Bytes(vec![]),
            Type::FIXED_LEN_BYTE_ARRAY => Values::Fixed(vec![]),
        };
        Self {
            values,
            definition: vec![],
            repetition: vec![],
            full: column.max_def_level(),
            deepest: column.max_rep_level(),
        }
    }

    /// A column whose values may be missing.
    pub(crate) fn optional(values: Values, definition: Vec<i16>) -> Self {
        Self { values, definition, repetition: vec![], full: 1, deepest: 0 }
    }

    /// Reads further records; how many there were.
    pub(crate) fn read(&mut self, reader: &mut ColumnReader, records: usize) -> Result<usize> {
        let known = (self.definition.len(), self.repetition.len());
        let definition = Some(&mut self.definition);
        let repetition = Some(&mut self.repetition);
        use ColumnReader as R;
        let (records, _, _) = match (reader, &mut self.values) {
            (R::BoolColumnReader(r), Values::Flag(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::Int32ColumnReader(r), Values::Int32(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::Int64ColumnReader(r), Values::Int64(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::Int96ColumnReader(r), Values::Int96(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::FloatColumnReader(r), Values::Single(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::DoubleColumnReader(r), Values::Double(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::ByteArrayColumnReader(r), Values::Bytes(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            (R::FixedLenByteArrayColumnReader(r), Values::Fixed(v)) => {
                r.read_records(records, definition, repetition, v)
            }
            _ => Err(mismatch()),
        }?;
        // Levels of a damaged file may be anything that fits their bits.
        let within = |levels: &[i16], known, most| {
            levels.get(known..).unwrap_or_default().iter().all(|level| (0..=most).contains(level))
        };
        if !within(&self.definition, known.0, self.full)
            || !within(&self.repetition, known.1, self.deepest)
        {
            return Err(ParquetError::General("a level is too high".to_string()));
        }
        Ok(records)
    }

    /// Writes all values and levels.
    pub(crate) fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let definition = Some(self.definition.as_slice()).filter(|levels| !levels.is_empty());
        let repetition = Some(self.repetition.as_slice()).filter(|levels| !levels.is_empty());
        use ColumnWriter as W;
        match (writer, &self.values) {
            (W::BoolColumnWriter(w), Values::Flag(v)) => w.write_batch(v, definition, repetition),
            (W::Int32ColumnWriter(w), Values::Int32(v)) => w.write_batch(v, definition, repetition),
            (W::Int64ColumnWriter(w), Values::Int64(v)) => w.write_batch(v, definition, repetition),
            (W::Int96ColumnWriter(w), Values::Int96(v)) => w.write_batch(v, definition, repetition),
            (W::FloatColumnWriter(w), Values::Single(v)) => {
                w.write_batch(v, definition, repetition)
            }
            (W::DoubleColumnWriter(w), Values::Double(v)) => {
                w.write_batch(v, definition, repetition)
            }
            (W::ByteArrayColumnWriter(w), Values::Bytes(v)) => {
                w.write_batch(v, definition, repetition)
            }
            (W::FixedLenByteArrayColumnWriter(w), Values::Fixed(v)) => {
                w.write_batch(v, definition, repetition)
            }
            _ => Err(mismatch()),
        }?;
        Ok(())
    }

    /// Bytes of the values and levels, about.
    pub(crate) fn size(&self) -> usize {
        let bytes = match &self.values {
            Values::Flag(values) => values.len(),
            Values::Int32(values) => 4 * values.len(),
            Values::Single(values) => 4 * values.len(),
            Values::Int64(values) => 8 * values.len(),
            Values::Double(values) => 8 * values.len(),
            Values::Int96(values) => 12 * values.len(),
            Values::Bytes(values) => values.iter().map(|value| 4 + value.len()).sum(),
            Values::Fixed(values) => values.iter().map(|value| value.len()).sum(),
        };
        bytes + (self.definition.len() + self.repetition.len()) / 4
    }

    /// The rows of a column that is not nested; `None` where a value is missing.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Option<Value<'_>>> {
        let required = self.definition.is_empty();
        self.rows_in(0..if required { self.values.len() } else { self.definition.len() })
    }

    /// Some of them.
    pub(crate) fn rows_in(&self, rows: Range<usize>) -> impl Iterator<Item = Option<Value<'_>>> {
        let required = self.definition.is_empty();
        let is_there = |level: &&i16| **level == self.full;
        let before = self.definition.get(..rows.start).unwrap_or_default();
        let mut next = if required { rows.start } else { before.iter().filter(is_there).count() };
        rows.map(move |row| {
            if !required && self.definition.get(row) != Some(&self.full) {
                return None;
            }
            next += 1;
            self.values.get(next - 1)
        })
    }

    /// The rows as numbers, NaN where missing; false where there are not as many.
    pub(crate) fn numbers(&self, meaning: Meaning, numbers: &mut [f64]) -> bool {
        match &self.values {
            Values::Double(values) if values.len() == numbers.len() => {
                numbers.copy_from_slice(values);
                true
            }
            _ => {
                let rows = self.rows().map(|value| value.map_or(f64::NAN, |v| meaning.number(v)));
                let mut count = 0;
                for (number, value) in numbers.iter_mut().zip(rows) {
                    *number = value;
                    count += 1;
                }
                count == numbers.len()
            }
        }
    }

    /// The rows as text, empty where missing.
    pub(crate) fn texts(&self, meaning: Meaning, texts: &mut Few<'static, str>) {
        for value in self.rows() {
            match value {
                Some(value) => texts.push_owned(&meaning.text(value)),
                None => texts.push_owned(""),
            }
        }
    }

    /// Forgets the rows but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.definition.clear();
        self.repetition.clear();
        match &mut self.values {
            Values::Flag(values) => values.clear(),
            Values::Int32(values) => values.clear(),
            Values::Int64(values) => values.clear(),
            Values::Int96(values) => values.clear(),
            Values::Single(values) => values.clear(),
            Values::Double(values) => values.clear(),
            Values::Bytes(values) => values.clear(),
            Values::Fixed(values) => values.clear(),
        }
    }
}
