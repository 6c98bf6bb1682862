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

/// The places of the columns that patterns stand for, in the order of the table, none of them twice: a name stands for
/// itself, and `*` in one for any characters. `why` follows what no column matches and says what it is wanted for.
pub(crate) fn matching(
    file: &str,
    names: &[String],
    patterns: &[String],
    why: &str,
) -> Result<Vec<usize>, NoColumn> {
    let mut chosen = vec![false; names.len()];
    for pattern in patterns {
        let mut found = false;
        for (name, chosen) in names.iter().zip(&mut chosen) {
            let is_meant = name == pattern.trim() || is_like(name, pattern.trim());
            found |= is_meant;
            *chosen |= is_meant;
        }
        if !found {
            return Err(find(file, names, pattern, why).err().unwrap_or(NoColumn {
                sentence: format!("{file} has no column {pattern:?}{why}"),
                is_uncut: false,
            }));
        }
    }
    Ok((0..names.len()).filter(|place| chosen[*place]).collect())
}

/// Whether a name is what a pattern stands for, in which `*` is any characters, or none.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(first) = pieces.next() else { return false };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    // The earliest place of each piece leaves most to those that follow.
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_characters() {
        for (name, pattern) in [
            ("rainfc.1", "rainfc.*"),
            ("rainfc.", "rainfc.*"),
            ("q05", "q*"),
            ("m_1_t", "m*t"),
            ("m1t2t", "m*t*t"),
            ("x", "*"),
            ("x", "x"),
        ] {
            assert!(is_like(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in
            [("rainfc", "rainfc.*"), ("xq05", "q*"), ("mt", "m*t*t"), ("aba", "ab*ba"), ("x", "")]
        {
            assert!(!is_like(name, pattern), "{name} {pattern}");
        }
    }

    #[test]
    fn columns_of_patterns_are_in_the_order_of_the_table_and_none_twice() {
        let names = ["y", "m2", "m1", "x*"].map(String::from);
        let all = matching("t.csv", &names, &["m1".into(), "m*".into(), "x*".into()], "");
        assert_eq!(all.expect("all match"), [1, 2, 3]);
        let none = matching("t.csv", &names, &["m*".into(), "k*".into()], ", the members");
        let sentence = none.expect_err("no k").to_string();
        assert!(sentence.starts_with("t.csv has no column \"k*\", the members"), "{sentence}");
    }
}
