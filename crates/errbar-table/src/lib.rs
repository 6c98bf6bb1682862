//! Tables in files: CSV (also gzipped) and Parquet, read whole or as a stream, written whole or not
//! at all.
//!
//! A [`Table`] is opened, its columns are found by name, and then it is read: whole, as [`Columns`],
//! or as a [`Stream`] of [`Batch`]es, which a [`Sink`] writes to a file again with further columns.
//!
//! Rows are counted from 1, the header of a CSV file not included; messages name the file, the row
//! and the column. A missing value (an empty field, NA, NaN, null, …) is NaN in memory.
//!
//! Nothing is printed, and no message knows the options of a program. Where a program can say more of
//! what to do, the [`Error`] holds what it needs: [`NotNumber`] and [`NoColumn`].

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod csv;
pub mod dates;
mod dictionary;
mod error;
pub mod files;
#[doc(hidden)]
pub mod fuzzing;
mod joined;
mod names;
mod not_number;
mod odd;
pub mod output;
mod parquet;
mod sink;
mod source;
mod stream;
mod table;
mod tables;
#[cfg(test)]
mod tests;
pub mod words;

pub use error::{Error, Result};
pub use joined::Joined;
pub use names::NoColumn;
pub use not_number::{Cause, NotNumber};
pub use odd::{Mark, Na, Odd};
pub use sink::{NewColumn, NewKind, NewValues, Sink};
pub use stream::{Batch, Stream};
pub use table::{Columns, NumberColumn, Numbers, Reading, Table, Texts};
pub use tables::Tables;

/// How to read and write files of a table.
#[derive(Debug, Clone, Default)]
pub struct Format {
    /// The separator of a CSV file; guessed from its header when left out.
    pub separator: Option<u8>,
    /// Whether 3,14 stands for 3.14.
    pub decimal_comma: bool,
    /// What stands for a missing value too.
    pub na: Na,
}

/// Whether a text usually stands for a missing value.
#[must_use]
pub fn is_missing(text: &str) -> bool {
    csv::number::is_missing(text.trim().as_bytes())
}
