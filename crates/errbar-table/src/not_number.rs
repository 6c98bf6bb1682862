//! A text where there must be a number, and why it is none.

use crate::Odd;

/// A text where there must be a number.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{file}, row {row}, column {column:?}: {text:?} is not a number")]
pub struct NotNumber {
    /// What messages call the file.
    pub file: String,
    /// The first row that has such a text, counted from 1.
    pub row: u64,
    /// The name of the column.
    pub column: String,
    /// The text, shortened where it is long.
    pub text: String,
    /// Why it is no number, where the text itself tells.
    pub cause: Option<Cause>,
    /// All cells of the column that hold no number; none where it was not read to the end.
    pub odd: Odd,
}

/// Why a text is no number, as far as the text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It has the shape of a date.
    Date,
    /// It has a point, where numbers have a decimal comma.
    Point,
    /// It would be a number if numbers had a decimal comma.
    Comma,
}

impl Cause {
    pub(crate) fn of(text: &str, decimal_comma: bool) -> Option<Self> {
        let with_point = text.replacen(',', ".", 1);
        if looks_like_date(text) {
            Some(Self::Date)
        } else if decimal_comma && text.contains('.') {
            Some(Self::Point)
        } else if !decimal_comma && text.contains(',') && with_point.parse::<f64>().is_ok() {
            Some(Self::Comma)
        } else {
            None
        }
    }
}

/// Whether a text has the shape of a date: 2024-01-31, 31.1.2024, 01/31/2024, with or without a time.
fn looks_like_date(value: &str) -> bool {
    let day = value.split([' ', 'T']).next().unwrap_or_default();
    ['-', '/', '.'].into_iter().any(|mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        let digits = |part: &&str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        };
        match parts.as_slice() {
            [a, b, c] => digits(a, 4) && digits(b, 2) && digits(c, 4) && day.len() >= 6,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_why_they_are_no_numbers() {
        for date in ["2024-01-31", "31.1.2024", "01/31/2024 18:00", "2024-1-31T00:00"] {
            assert_eq!(Cause::of(date, false), Some(Cause::Date), "{date}");
        }
        assert_eq!(Cause::of("1.234", true), Some(Cause::Point));
        assert_eq!(Cause::of("3,14", false), Some(Cause::Comma));
        for other in ["M", "1,234,567", "1-2", ""] {
            assert_eq!(Cause::of(other, false), None, "{other}");
        }
    }
}
