//! The files that a command reads as one table.

use std::path::{Path, PathBuf};

use crate::report::quoted;

/// The files that a command reads as one table.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FileArguments {
    /// The table: CSV or its like, aligned by blanks, JSON lines (all also compressed: gzip, zstd, xz, bzip2), Parquet or a
    /// spreadsheet (.xlsx, .ods), known by what is in it; - is standard input. Several files are one table, their
    /// columns matched by name; a folder stands for the tables in it, a pattern in quotes ('2024-*.csv') for what it
    /// matches, both in the order of names.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl FileArguments {
    /// As they were given.
    pub(crate) fn given(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether one of them is standard input.
    pub(crate) fn has_stdin(&self) -> bool {
        self.files.iter().any(|path| is_stdin(path))
    }

    /// As they are typed, in a shell.
    pub(crate) fn quoted(&self) -> String {
        let words = self.files.iter().map(|path| quoted(&path.display().to_string()));
        words.collect::<Vec<String>>().join(" ")
    }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
