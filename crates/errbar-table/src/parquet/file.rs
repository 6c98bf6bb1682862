//! Opened Parquet files: their schema, checked before anything trusts it, and their columns.

use std::any::Any;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length;
use parquet::schema::types::ColumnDescPtr;

use super::pages::{Pages, Shared};
use super::values::Meaning;
use crate::names::check_distinct;
use crate::source::not_read;
use crate::words::plain;
use crate::{Cause, Error, Format, NotNumber, Odd};

/// An opened Parquet file.
pub(crate) struct Parquet {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) metadata: ParquetMetaData,
    /// The names of the columns, a nested one counting once.
    pub(crate) names: Vec<String>,
    /// Where each column is stored, and what it holds; `None` for nested ones.
    pub(crate) places: Vec<Option<(usize, Meaning)>>,
    file: Shared,
}

impl Parquet {
    pub(crate) fn open(name: String, format: &Format, file: File) -> crate::Result<Self> {
        let file = Shared::new(file).map_err(|error| not_read(&name, error))?;
        let metadata = guard(|| ParquetMetaDataReader::new().parse_and_finish(&file))
            .map_err(|error| damaged(&name, &error))?;
        check(&metadata, file.len()).map_err(|error| damaged(&name, &error))?;

        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        if fields.is_empty() {
            return Err(Error::Content(format!("{name} has no columns")));
        }
        let mut places = vec![None; fields.len()];
        for (leaf, column) in schema.columns().iter().enumerate() {
            if column.path().parts().len() == 1
                && column.max_rep_level() == 0
                && let Some(place) = places.get_mut(schema.get_column_root_idx(leaf))
            {
                *place = Some((leaf, Meaning::of(column)));
            }
        }
        let names = fields.iter().enumerate().map(|(i, field)| match field.name().trim() {
            "" => format!("column {}", i + 1),
            name => name.to_string(),
        });
        let names: Vec<String> = names.collect();
        check_distinct(&name, &names)?;
        Ok(Self { name, format: format.clone(), metadata, names, places, file })
    }

    /// All columns as they are stored.
    pub(crate) fn leaves(&self) -> &[ColumnDescPtr] {
        self.metadata.file_metadata().schema_descr().columns()
    }

    /// What each column holds, in words that differ where that differs.
    pub(crate) fn types(&self) -> Vec<String> {
        let schema = self.metadata.file_metadata().schema_descr();
        let mut types = vec![String::new(); self.names.len()];
        for (leaf, column) in schema.columns().iter().enumerate() {
            let Some(text) = types.get_mut(schema.get_column_root_idx(leaf)) else { continue };
            let stored = column.self_type().get_basic_info();
            *text += &format!(
                "{:?} {} {} {} {:?} {:?};",
                column.physical_type(),
                column.type_length(),
                column.max_def_level(),
                column.max_rep_level(),
                stored.logical_type_ref(),
                stored.converted_type(),
            );
            // What a list holds is called differently by those who write it.
            *text += &column.path().parts().get(1..).unwrap_or_default().join(".");
        }
        types
    }

    /// Where the stored columns of each named one lie.
    pub(crate) fn leaves_of(&self, column: usize) -> Vec<usize> {
        let schema = self.metadata.file_metadata().schema_descr();
        let is_of = |leaf: &usize| schema.get_column_root_idx(*leaf) == column;
        (0..schema.num_columns()).filter(is_of).collect()
    }

    pub(crate) fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows in a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        // Groups and their counts were checked when the file was opened.
        self.metadata.row_groups().get(group).map_or(0, |group| group.num_rows() as usize)
    }

    pub(crate) fn all_rows(&self) -> u64 {
        (0..self.groups()).map(|group| self.rows(group) as u64).sum()
    }

    /// A reader of one stored column in one row group.
    pub(crate) fn reader(&self, group: usize, leaf: usize) -> Result<ColumnReader> {
        let missing = || ParquetError::General("a column is not there".to_string());
        let rows = self.rows(group);
        let group = self.metadata.row_groups().get(group).ok_or_else(missing)?;
        let chunk = group.columns().get(leaf).ok_or_else(missing)?;
        let column = self.leaves().get(leaf).ok_or_else(missing)?;
        let pages = Pages::new(&self.file, chunk, rows)?;
        Ok(get_column_reader(column.clone(), Box::new(pages)))
    }

    /// A failure to read, as a sentence.
    pub(crate) fn failed(&self, error: &ParquetError) -> Error {
        damaged(&self.name, error)
    }

    /// Refuses to read a stored column that is packed in a way that cannot be unpacked here.
    pub(crate) fn check_packing(&self, leaf: usize) -> crate::Result<()> {
        for group in self.metadata.row_groups() {
            let packing = match group.columns().get(leaf).map(|chunk| chunk.compression()) {
                Some(Compression::BROTLI(_)) => "Brotli",
                Some(Compression::LZO) => "LZO",
                _ => continue,
            };
            let column = self.leaves().get(leaf).map_or("", |column| column.name());
            return Err(Error::Content(format!(
                "{}: column {column:?} is compressed with {packing}; save the file with Snappy, \
                 Zstandard, gzip, LZ4 or no compression",
                self.name
            )));
        }
        Ok(())
    }

    /// Why a column cannot be read as numbers, given its first value and that value's row.
    pub(crate) fn not_numbers(&self, column: usize, value: &str, row: u64) -> Error {
        let column = self.names.get(column).cloned().unwrap_or_default();
        let (cause, odd) = (Cause::of(value, false), Odd::default());
        let (file, text) = (self.name.clone(), value.to_string());
        Box::new(NotNumber { file, row, column, text, cause, odd }).into()
    }

    pub(crate) fn too_many_rows(&self, rows: usize) -> Error {
        let why = format!("{} says that it has {rows} rows, too many for the memory", self.name);
        Error::Content(why)
    }

    pub(crate) fn nested(&self, column: usize) -> Error {
        let (name, column) = (&self.name, self.names.get(column).map_or("", String::as_str));
        Error::Content(format!(
            "{name}: column {column:?} holds lists or structures; only plain columns can be used"
        ))
    }
}

/// Sizes and places that would make a reader fall over.
fn check(metadata: &ParquetMetaData, length: u64) -> Result<()> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let wrong = |what: &str| Err(ParquetError::General(what.to_string()));
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        rows = rows.saturating_add(group.num_rows().max(0));
        if group.num_rows() < 0 || rows == i64::MAX || group.columns().len() != columns {
            return wrong("a row group does not fit the schema");
        }
        for chunk in group.columns() {
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let end = start.checked_add(chunk.compressed_size());
            if start < 0 || chunk.compressed_size() < 0 || end.is_none_or(|end| end as u64 > length)
            {
                return wrong("a column lies outside of the file");
            }
        }
    }
    Ok(())
}

fn damaged(name: &str, error: &ParquetError) -> Error {
    let text = match error {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        ParquetError::External(error) => match error.downcast_ref::<io::Error>() {
            Some(error) => plain(error),
            None => error.to_string(),
        },
        error => error.to_string(),
    };
    Error::Content(format!("cannot read {name}: the Parquet file is damaged or cut short ({text})"))
}

/// A failure for what would else end the program: damaged files can break assumptions of the reader.
pub(crate) fn guard<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let said = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        ParquetError::General(text.unwrap_or("its structure makes no sense").to_string())
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| Err(said(panic)))
}
