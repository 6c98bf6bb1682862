//! What is worth knowing of how a table was read, and is no failure.

use std::fmt;

/// What is worth knowing of how a table was read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// One of several sheets of a spreadsheet was taken.
    Sheet {
        /// What messages call the file.
        file: String,
        /// The name of the sheet.
        taken: String,
        /// The names of all others.
        others: Vec<String>,
    },
    /// The line under the header holds units.
    Units {
        /// What messages call the file.
        file: String,
        /// Some of the units.
        units: Vec<String>,
    },
    /// Lines above the header were left out.
    Above {
        /// What messages call the file.
        file: String,
        /// How many.
        lines: usize,
        /// What the first of them says.
        first: String,
    },
    /// The header is a comment.
    CommentedHeader {
        /// What messages call the file.
        file: String,
        /// Its first name.
        first: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sheet { file, taken, others } => {
                const NAMED: usize = 5;
                let named: Vec<String> =
                    others.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
                let more = match others.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    f,
                    "{file}: the sheet {taken:?} is read, the first that holds a table; it also has {}{more}",
                    named.join(", ")
                )
            }
            Self::Units { file, units } => {
                let units = units.join(", ");
                write!(f, "{file}: the line under the header holds units ({units}) and is left out")
            }
            Self::Above { file, lines: 1, first } => {
                write!(f, "{file}: a line above the header is left out: {first:?}")
            }
            Self::Above { file, lines, first } => write!(
                f,
                "{file}: {lines} lines above the header are left out, the first of them {first:?}"
            ),
            Self::CommentedHeader { file, first } => write!(
                f,
                "{file}: the names of the columns are those of the comment above them, which begins with {first:?}"
            ),
        }
    }
}
