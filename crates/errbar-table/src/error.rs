//! Why a table was not read or written.

use std::io;
use std::path::PathBuf;

use crate::words::plain;
use crate::{NoColumn, NotNumber};

/// The result of everything in this crate that touches a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a table was not read or written, in one sentence that names the file and the place in it.
/// What the system said is part of the sentence, and so no `source`.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("cannot read {file}: {}", plain(error))]
    Read {
        /// What messages call it.
        file: String,
        /// Why.
        error: io::Error,
    },

    /// A file cannot be written. A reader that has seen enough is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write {file}: {}", plain(error))]
    Write {
        /// What messages call it.
        file: String,
        /// Why.
        error: io::Error,
    },

    /// What comes from a pipe and is needed twice cannot be kept.
    #[error("cannot keep a temporary copy in {}: {}", folder.display(), plain(error))]
    Copy {
        /// Where temporary files are.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },

    /// A file is no table, is damaged, or holds what cannot be read.
    #[error("{0}")]
    Content(String),

    /// There is no column of the name that was asked for.
    #[error(transparent)]
    NoColumn(#[from] NoColumn),

    /// A text stands where there must be a number.
    #[error(transparent)]
    NotNumber(#[from] Box<NotNumber>),

    /// What was asked for makes no sense, whatever the file holds.
    #[error("{0}")]
    Usage(String),

    /// The work was stopped from outside, as whoever asked for it wanted.
    #[error("stopped")]
    Stopped,
}
