//! The names of columns: none twice, found with a word on the nearest, and listed.

use std::collections::HashSet;

use crate::Error;
use crate::csv::header::SEPARATORS;
use crate::words::shown;

/// No column has the name that was asked for. The sentence has the nearest name and those there are.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{sentence}")]
pub struct NoColumn {
    sentence: String,
    /// See [`crate::Table::is_uncut`].
    pub is_uncut: bool,
}

/// A name that stands twice cannot be asked for.
pub(crate) fn check_distinct(file: &str, names: &[String]) -> crate::Result<()> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => {
            let why = format!("{file} has two columns named {name:?}; rename one of them");
            Err(Error::Content(why))
        }
        None => Ok(()),
    }
}

/// The place of a column. `why` follows the name in the sentence and says what it is wanted for.
pub(crate) fn find(
    file: &str,
    names: &[String],
    wanted: &str,
    why: &str,
) -> Result<usize, NoColumn> {
    // A longer name is not mistyped but pasted, and comparing two long ones takes much memory.
    const LONGEST: usize = 200;
    let wanted = wanted.trim();
    if let Some(place) = names.iter().position(|name| name == wanted) {
        return Ok(place);
    }
    let length = |name: &str| name.chars().count();
    let nearest = names
        .iter()
        .filter(|name| name.len() <= LONGEST && wanted.len() <= LONGEST)
        .map(|name| {
            (strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase()), name)
        })
        .min_by_key(|(distance, _)| *distance)
        // Two names without a letter in common are not near.
        .filter(|(distance, name)| {
            *distance <= 1 + length(name) / 3 && *distance < length(name).max(length(wanted))
        })
        .map_or(String::new(), |(_, name)| format!("; did you mean {name:?}?"));
    let stop = if nearest.is_empty() { "." } else { "" };
    let wanted = shown(wanted.as_bytes());
    let listing = listing(names);
    let sentence = format!("{file} has no column {wanted:?}{why}{nearest}{stop} {listing}");
    Err(NoColumn { sentence, is_uncut: is_uncut(names) })
}

/// "It has: x, mu, y", not too many names of them, and not too long.
pub(crate) fn listing(names: &[String]) -> String {
    const LISTED: usize = 20;
    let listed: Vec<String> =
        names.iter().take(LISTED).map(|name| shown(name.as_bytes())).collect();
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names {
        [only] if is_uncut(names) => format!("Its only column is {:?}", shown(only.as_bytes())),
        _ => format!("It has: {}{more}", listed.join(", ")),
    }
}

/// See [`crate::Table::is_uncut`].
pub(crate) fn is_uncut(names: &[String]) -> bool {
    matches!(names, [only] if only.bytes().any(|byte| SEPARATORS.contains(&byte)))
}
