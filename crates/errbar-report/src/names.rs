//! Names that people gave to files, columns and groups, made fit to be shown.

use crate::text::literal;

/// The most characters of a name in the run of a text.
pub(crate) const IN_TEXT: usize = 80;
/// The most characters of a name on a figure.
pub(crate) const ON_FIGURES: usize = 32;

/// A name with at most so many characters, the middle left out (…) where there are more. Control
/// characters, those of writing direction among them, become U+FFFD.
pub(crate) fn shown(name: &str, most: usize) -> String {
    let clean = |character: char| match character {
        '\t' | '\n' | '\r' => ' ',
        '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    // Count no further than needed: a name may be a book.
    if name.chars().nth(most).is_none() {
        let shown: String = name.chars().map(clean).collect();
        return if shown.trim().is_empty() { String::from("(no name)") } else { shown };
    }
    let (head, tail) = ((2 * most).div_ceil(3), most / 3 - 1);
    let end: Vec<char> = name.chars().rev().take(tail).collect();
    let start = name.chars().take(head).map(clean);
    start.chain(['…']).chain(end.into_iter().rev().map(clean)).collect()
}

/// Whether every character is written from left to right, so that nothing around it can turn.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| {
        matches!(u32::from(c), 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
    })
}

/// A name as a label of a figure.
pub(crate) fn label(name: &str) -> String {
    let shown = shown(name, ON_FIGURES);
    match is_plain(&shown) {
        true => literal(&shown),
        // Isolated, since a drawing has no element for it.
        false => format!("\u{2068}{}\u{2069}", literal(&shown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_to_be_shown() {
        assert_eq!(shown("season", 32), "season");
        assert_eq!(shown("", 32), "(no name)");
        assert_eq!(shown("a\u{202E}b\u{0}c\nd", 32), "a\u{FFFD}b\u{FFFD}c d");
        let long = shown(&format!("begin{}end", "x".repeat(10_000)), 32);
        assert!(
            long.chars().count() == 32 && long.starts_with("begin") && long.ends_with("end"),
            "{long}"
        );
        assert!(long.contains('…'));
        assert_eq!(label("a_{b}"), r"a\_{b}");
        assert!(label("طول").starts_with('\u{2068}') && is_plain("σ, 雨"));
    }
}
