//! Parquet files: columns are encoded side by side and put together as row groups.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Stored};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr,
};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use rayon::prelude::*;

use super::file::{Parquet, guard};
use super::leaf::{Leaf, Values};
use crate::csv::kinds::Kind;
use crate::output::Pending;
use crate::{NewColumn, NewKind, NewValues};

/// Bytes of values in a row group, about. All of them are in memory until the group is written.
const GROUP: usize = 48 << 20;

/// Rows in a row group.
const GROUP_ROWS: usize = 1 << 20;

/// A Parquet file that is being written.
pub(crate) struct ParquetSink {
    name: String,
    file: SerializedFileWriter<Pending>,
    properties: WriterPropertiesPtr,
    columns: Vec<Column>,
    /// Rows and bytes in the row group so far.
    rows: usize,
    bytes: usize,
}

/// One column of the row group that is being written.
struct Column {
    description: ColumnDescPtr,
    /// `None` before the first rows.
    writer: Option<(ColumnWriter<'static>, Pages)>,
}

impl ParquetSink {
    /// A file with the columns of another one and further ones.
    pub(crate) fn like(
        name: String,
        file: Pending,
        source: &Parquet,
        columns: &[NewColumn],
    ) -> crate::Result<Self> {
        let metadata = source.metadata.file_metadata();
        let mut properties = properties();
        if let Some(group) = source.metadata.row_groups().first() {
            for chunk in group.columns() {
                let path = chunk.column_path().clone();
                let packing = match chunk.compression() {
                    Compression::LZO | Compression::BROTLI(_) => Compression::SNAPPY,
                    Compression::LZ4 => Compression::LZ4_RAW,
                    other => other,
                };
                let dictionary = chunk.dictionary_page_offset().is_some();
                properties = properties
                    .set_column_compression(path.clone(), packing)
                    .set_column_dictionary_enabled(path, dictionary);
            }
        }
        // Arrow's own schema would contradict the new columns; readers do without it.
        let kept = metadata.key_value_metadata().map(|pairs| {
            pairs
                .iter()
                .filter(|pair| pair.key != "ARROW:schema")
                .cloned()
                .collect::<Vec<KeyValue>>()
        });
        let properties = properties.set_key_value_metadata(kept);
        let schema = metadata.schema_descr().root_schema();
        Self::new(name, file, schema.name(), schema.get_fields().to_vec(), properties, columns)
    }

    /// A file with columns of these kinds and further ones.
    pub(crate) fn typed(
        name: String,
        file: Pending,
        names: &[String],
        kinds: &[Kind],
        columns: &[NewColumn],
    ) -> crate::Result<Self> {
        let fields = names.iter().zip(kinds).map(|(name, kind)| kind.column(name));
        let fields = fields.collect::<Result<_>>().map_err(|error| not_written(&name, error))?;
        Self::new(name, file, "schema", fields, properties(), columns)
    }

    fn new(
        name: String,
        file: Pending,
        schema: &str,
        mut fields: Vec<TypePtr>,
        mut properties: WriterPropertiesBuilder,
        columns: &[NewColumn],
    ) -> crate::Result<Self> {
        let begin = || {
            for column in columns {
                let (stored, logical) = match column.kind {
                    NewKind::Number => (Stored::DOUBLE, None),
                    NewKind::Flag => (Stored::BOOLEAN, None),
                    NewKind::Text => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
                };
                fields.push(optional(&column.name, stored, logical)?);
                // Numbers that were computed hardly repeat.
                let repeats = column.kind == NewKind::Text;
                properties =
                    properties.set_column_dictionary_enabled(column.name.as_str().into(), repeats);
            }
            let schema = Type::group_type_builder(schema).with_fields(fields).build()?;
            let properties = Arc::new(properties.build());
            let file = SerializedFileWriter::new(file, Arc::new(schema), properties.clone())?;
            Ok((file, properties))
        };
        let begin: Result<_> = begin();
        let (file, properties) = begin.map_err(|error| not_written(&name, error))?;
        let column =
            |description: &ColumnDescPtr| Column { description: description.clone(), writer: None };
        let columns = file.schema_descr().columns().iter().map(column).collect();
        Ok(Self { name, file, properties, columns, rows: 0, bytes: 0 })
    }

    /// Adds rows: for each column its parts, one behind the other.
    pub(crate) fn write(&mut self, rows: usize, parts: &[Vec<&Leaf>]) -> crate::Result<()> {
        let properties = &self.properties;
        let write = |(column, parts): (&mut Column, &Vec<&Leaf>)| {
            let (writer, _) = column.writer(properties);
            guard(|| parts.iter().try_for_each(|part| part.write(writer)))
        };
        let written = self.columns.par_iter_mut().zip(parts).try_for_each(write);
        written.map_err(|error| not_written(&self.name, error))?;
        self.rows += rows;
        self.bytes += parts.iter().flatten().map(|part| part.size()).sum::<usize>();
        if self.bytes >= GROUP || self.rows >= GROUP_ROWS {
            self.end_group().map_err(|error| not_written(&self.name, error))?;
        }
        Ok(())
    }

    /// Writes the row group.
    fn end_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let properties = &self.properties;
        let close = |column: &mut Column| column.close(properties);
        let closed: Vec<_> = self.columns.par_iter_mut().map(close).collect::<Result<_>>()?;
        let mut group = self.file.next_row_group()?;
        for (bytes, closed) in closed {
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> crate::Result<()> {
        let ended = self.end_group().and_then(|()| self.file.into_inner());
        ended.map_err(|error| not_written(&self.name, error))?.finish()
    }
}

impl Column {
    fn writer(&mut self, properties: &WriterPropertiesPtr) -> &mut (ColumnWriter<'static>, Pages) {
        self.writer.get_or_insert_with(|| {
            let pages = Pages::default();
            let sink = PagesWriter(TrackedWrite::new(pages.clone()));
            let description = self.description.clone();
            (get_column_writer(description, properties.clone(), Box::new(sink)), pages)
        })
    }

    fn close(&mut self, properties: &WriterPropertiesPtr) -> Result<(Bytes, ColumnCloseResult)> {
        self.writer(properties);
        let Some((writer, pages)) = self.writer.take() else {
            return Err(ParquetError::General("a column was closed twice".to_string()));
        };
        let closed = writer.close()?;
        let bytes = std::mem::take(&mut *pages.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((bytes.into(), closed))
    }
}

/// The encoded pages of a column, in memory.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<Vec<u8>>>);

impl Write for Pages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts pages into memory, for as long as a column is open.
struct PagesWriter(TrackedWrite<Pages>);

impl PageWriter for PagesWriter {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        SerializedPageWriter::new(&mut self.0).write_page(page)
    }

    fn close(&mut self) -> Result<()> {
        Ok(self.0.flush()?)
    }
}

/// How files are written, where no other file says how.
fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(concat!("errbar ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
}

/// A column whose values may be missing.
pub(crate) fn optional(
    name: &str,
    stored: Stored,
    logical: Option<LogicalType>,
) -> Result<TypePtr> {
    let column = Type::primitive_type_builder(name, stored)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(column))
}

/// New values as a column.
pub(crate) fn leaf_of(values: &NewValues) -> Leaf {
    match values {
        NewValues::Numbers(values) => {
            let definition = values.iter().map(|value| i16::from(!value.is_nan())).collect();
            let values = values.iter().copied().filter(|value| !value.is_nan()).collect();
            Leaf::optional(Values::Double(values), definition)
        }
        NewValues::Flags(values) => {
            let definition = values.iter().map(|value| i16::from(value.is_some())).collect();
            let values = values.iter().copied().flatten().collect();
            Leaf::optional(Values::Flag(values), definition)
        }
        NewValues::Texts(texts, rows) => {
            let text = |place: &Option<u32>| texts.get((*place)? as usize);
            let definition = rows.iter().map(|place| i16::from(text(place).is_some())).collect();
            let known: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
            let values = rows.iter().flatten().filter_map(|place| known.get(*place as usize));
            Leaf::optional(Values::Bytes(values.cloned().collect()), definition)
        }
    }
}

/// A failure to write; what the system said stays what it is.
fn not_written(name: &str, error: ParquetError) -> crate::Error {
    let error = match error {
        ParquetError::External(error) => {
            error.downcast().map_or_else(io::Error::other, |error| *error)
        }
        error => io::Error::other(error),
    };
    crate::Error::Write { file: name.to_string(), error }
}
