//! Parts of messages.

use std::io;

use crate::csv::layout::text;

/// What the system says of a failure, without its number.
#[must_use]
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_string(),
        None => text,
    }
}

/// The text of a field for a message: on one line, and shortened where it is long.
pub(crate) fn shown(field: &[u8]) -> String {
    const MOST: usize = 40;
    let text = text(field).replace(char::is_control, " ");
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// What is wrong with what is read, in a sentence that names the file, on its way through readers that know nothing but
/// failures of the system.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Told(String);

impl Told {
    pub(crate) fn error(sentence: String) -> io::Error {
        io::Error::other(Self(sentence))
    }

    /// The sentence, where a failure is one.
    pub(crate) fn of(error: &io::Error) -> Option<String> {
        error.get_ref()?.downcast_ref().map(|Self(sentence)| sentence.clone())
    }
}
