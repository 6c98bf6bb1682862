//! Tables in files: CSV and its like (also compressed), JSON lines, Parquet and spreadsheets, read whole or as a stream,
//! written whole or not at all.
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
mod json;
mod names;
mod not_number;
mod note;
mod odd;
pub mod output;
mod packed;
mod parquet;
mod refused;
mod remade;
mod sheets;
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
pub use note::Note;
pub use odd::{Mark, Na, Odd};
pub use sink::{NewColumn, NewKind, NewValues, Sink};
pub use stream::{Batch, Stream};
pub use table::{Columns, NumberColumn, Numbers, Reading, Table, Texts};
pub use tables::Tables;

/// How to read and write files of a table.
#[derive(Debug, Clone, Default)]
pub struct Format {
    /// What lies between the fields of a text; guessed from its first lines when left out.
    pub separator: Option<Separator>,
    /// Whether 3,14 stands for 3.14.
    pub decimal_comma: bool,
    /// What stands for a missing value too.
    pub na: Na,
    /// The sheet of a spreadsheet: its name, or its number, counted from 1; the first that holds a table when left out.
    pub sheet: Option<String>,
    /// What begins a line that is a comment; without it `#` does, but only above the header.
    pub comment: Option<u8>,
}

/// What lies between the fields of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// This character.
    Byte(u8),
    /// Any number of blanks.
    Blanks,
}

/// Whether a text usually stands for a missing value.
#[must_use]
pub fn is_missing(text: &str) -> bool {
    csv::number::is_missing(text.trim().as_bytes())
}
