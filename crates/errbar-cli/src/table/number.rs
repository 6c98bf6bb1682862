//! Fields as numbers: what counts as one, what counts as missing, and what to say of the rest.

use super::layout::{content, text};

/// What stands for a missing value, besides nothing at all. Letters in either case.
const MISSING: [&str; 11] =
    ["na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "-", ".", "?"];

/// The number in a field, NaN where it is missing, `None` where it is something else.
#[inline]
pub(super) fn parse(raw: &[u8], decimal_comma: bool) -> Option<f64> {
    if !decimal_comma && let Ok(value) = fast_float2::parse(raw) {
        return Some(value);
    }
    parse_slowly(raw, decimal_comma)
}

/// Spaces, quotes, decimal commas and missing values.
fn parse_slowly(raw: &[u8], decimal_comma: bool) -> Option<f64> {
    let field = content(raw);
    if is_missing(&field) {
        return Some(f64::NAN);
    }
    if !decimal_comma {
        return fast_float2::parse(&field).ok();
    }
    // A point could be a mark of thousands: 1.234 must not silently become a thousandth of itself.
    if field.contains(&b'.') {
        return None;
    }
    let mut buffer = [0; 64];
    let buffer = buffer.get_mut(..field.len())?;
    for (to, from) in buffer.iter_mut().zip(field.iter()) {
        *to = if *from == b',' { b'.' } else { *from };
    }
    fast_float2::parse(buffer).ok()
}

/// Whether the text of a field stands for a missing value.
pub(super) fn is_missing(field: &[u8]) -> bool {
    field.is_empty() || MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing.as_bytes()))
}

/// What to do about a text that is no number, as the second half of a sentence.
pub(super) fn advice(value: &str, decimal_comma: bool) -> String {
    let with_points = value.replacen(',', ".", 1);
    if looks_like_date(value) {
        "it looks like a date: turn it into a number, such as the day of the year, or leave the column \
         out (errbar fit takes dates as --time)"
            .to_string()
    } else if decimal_comma && value.contains('.') {
        "with --decimal-comma, numbers are written as 3,14".to_string()
    } else if !decimal_comma && value.contains(',') && with_points.parse::<f64>().is_ok() {
        "if that is a decimal comma, use --decimal-comma".to_string()
    } else {
        "write a number, or leave the field empty where the value is missing".to_string()
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

/// The text of a field for a message, shortened where it is long.
pub(super) fn shown(field: &[u8]) -> String {
    const MOST: usize = 40;
    let text = text(field);
    match text.char_indices().nth(MOST) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
