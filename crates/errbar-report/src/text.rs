//! Labels: plain text, with `_{…}` for a subscript and `^{…}` for a superscript. A backslash before
//! `_`, `^` or another backslash makes them plain.

use crate::font;

/// Where a piece of text stands relative to its line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shift {
    Base,
    Sub,
    Super,
}

impl Shift {
    /// The size of the letters, as a part of that of the line.
    pub(crate) fn size(self) -> f64 {
        if self == Shift::Base { 1.0 } else { 0.72 }
    }

    /// How far below the line they stand, in em of the line.
    pub(crate) fn drop(self) -> f64 {
        match self {
            Shift::Base => 0.0,
            Shift::Sub => 0.22,
            Shift::Super => -0.38,
        }
    }
}

/// Splits a label into pieces. Braces that do not close, and braces without `_` or `^` before them,
/// are text. Line breaks become spaces, and what XML cannot hold becomes U+FFFD.
pub(crate) fn pieces(label: &str) -> Vec<(Shift, String)> {
    let mut out: Vec<(Shift, String)> = Vec::new();
    let mut rest = label;
    let mut plain = String::new();
    while let Some(first) = rest.chars().next() {
        let second = rest[first.len_utf8()..].chars().next();
        if let ('\\', Some(second @ ('_' | '^' | '\\'))) = (first, second) {
            plain.push(second);
            rest = &rest[2..];
            continue;
        }
        let shift = match first {
            '_' => Shift::Sub,
            '^' => Shift::Super,
            _ => Shift::Base,
        };
        let inner = rest[first.len_utf8()..].strip_prefix('{').and_then(|r| r.split_once('}'));
        if let (Shift::Sub | Shift::Super, Some((inner, after))) = (shift, inner) {
            if !plain.is_empty() {
                out.push((Shift::Base, std::mem::take(&mut plain)));
            }
            out.push((shift, inner.chars().map(printable).collect()));
            rest = after;
        } else {
            plain.push(printable(first));
            rest = &rest[first.len_utf8()..];
        }
    }
    if !plain.is_empty() {
        out.push((Shift::Base, plain));
    }
    out
}

/// Text whose every character is meant as it is, as a label: names of columns, say.
pub fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '_' | '^' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn printable(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => '\u{FFFD}',
        c => c,
    }
}

/// The width of a label in pixels, when an em has `size` of them.
pub(crate) fn width(label: &str, size: f64) -> f64 {
    pieces(label)
        .iter()
        .map(|(shift, text)| size * shift.size() * text.chars().map(font::advance).sum::<f64>())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_braces_shift() {
        let base = |s: &str| (Shift::Base, s.to_string());
        assert_eq!(pieces("column_a"), [base("column_a")]);
        assert_eq!(pieces("a_{b"), [base("a_{b")]);
        assert_eq!(pieces("{a}"), [base("{a}")]);
        assert_eq!(
            pieces("σ_{min} (m^{2})"),
            [
                base("σ"),
                (Shift::Sub, "min".into()),
                base(" (m"),
                (Shift::Super, "2".into()),
                base(")")
            ]
        );
        assert_eq!(pieces("a\nb\u{1b}"), [base("a b\u{FFFD}")]);
        assert!(pieces("").is_empty());
        for text in ["a_{b}^{c}", r"\_{x}\\", r"C:\new_{1}"] {
            assert_eq!(pieces(&literal(text)), [base(text)]);
        }
    }

    #[test]
    fn widths_add_up() {
        // Two digits of 1139 units and one of 72% size, of 2048 units an em.
        let expected = 1139.0 / 2048.0 * (2.0 + 0.72) * 10.0;
        assert!((width("10^{2}", 10.0) - expected).abs() < 1e-9);
    }
}
