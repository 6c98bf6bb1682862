//! Fields as numbers: what counts as one, and what counts as missing.

use std::ops::Range;

use super::decimal;
use super::layout::content;

/// What stands for a missing value, besides nothing at all and one of [`RUNS`] again and again. Letters
/// in either case.
const MISSING: [&str; 26] = [
    "na", "n/a", "#n/a", "<na>", "n.a.", "n.a", "nan", "-nan", "nat", "null", "(null)", "<null>",
    "none", "nil", "missing", "nodata", "no data", "no_data", "\\n",
    // What spreadsheets show where there is no value.
    "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#data!",
];

/// --, ..., ***, ???, ####: nobody writes a value that way.
const RUNS: &[u8] = b"-.?*#";

/// The number in a field, NaN where it is missing, `None` where it is something else.
#[inline]
pub(crate) fn parse(bytes: &[u8], place: Range<usize>, decimal_comma: bool) -> Option<f64> {
    match parse_short(bytes, &place).or_else(|| parse_long(bytes, &place)) {
        Some(value) if !decimal_comma || !bytes.get(place.clone())?.contains(&b'.') => Some(value),
        _ => parse_any(bytes.get(place)?, decimal_comma),
    }
}

/// A number of up to eight digits before the point and as many behind it, which is how most tables
/// have them. `None` for all others.
///
/// Eight digits are read in one step each. The digits together are an integer below 2⁵³ and the
/// power of ten is exact too, so that the quotient is the nearest number there is.
#[inline]
fn parse_short(bytes: &[u8], place: &Range<usize>) -> Option<f64> {
    const POWERS: [u64; 9] =
        [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    const EXACT: [f64; 9] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
    let negative = usize::from(*bytes.get(place.start)? == b'-');
    let start = place.start + negative;
    let length = place.end.checked_sub(start)?;
    // Digits become 0 to 9, whatever else is there larger.
    let first = u64::from_le_bytes(*bytes.get(start..)?.first_chunk()?) ^ each(b'0');
    let last = u64::from_le_bytes(*bytes.get(..place.end)?.last_chunk()?) ^ each(b'0');

    // The lowest bit that is set marks the first point; eight when there is none.
    let points = first ^ each(b'.' ^ b'0');
    let points = points.wrapping_sub(each(1)) & !points & each(0x80);
    let point = (points.trailing_zeros() / 8) as usize;
    let whole = point.min(length);
    let decimals = length.saturating_sub(point + 1);
    if !(1..=8).contains(&whole) || decimals > 8 || (point == 8 && length > 8) {
        return None;
    }
    let whole = first << (8 * (8 - whole));
    // Shifted out and in again, in two steps each as all eight may have to go.
    let away = 4 * (8 - decimals);
    let fraction = last >> away >> away << away << away;
    let other = whole | fraction | whole.wrapping_add(NINES) | fraction.wrapping_add(NINES);
    let power = POWERS.get(decimals).copied()?;
    let digits = eight_digits(whole) * power + eight_digits(fraction);
    if other & each(0x80) != 0 || digits > 1 << 53 {
        return None;
    }
    let value = digits as f64 / EXACT.get(decimals).copied()?;
    // No branch: signs are often as good as random.
    Some(f64::from_bits(value.to_bits() | (negative as u64) << 63))
}

/// A number of up to nineteen digits with a point among the first sixteen, as doubles are written in full, or an
/// integer of as many. `None` for all others.
#[inline]
fn parse_long(bytes: &[u8], place: &Range<usize>) -> Option<f64> {
    const POWERS: [u64; decimal::MOST + 1] = {
        let mut powers = [1; decimal::MOST + 1];
        let mut k = 1;
        while k < powers.len() {
            powers[k] = 10 * powers[k - 1];
            k += 1;
        }
        powers
    };
    let negative = usize::from(*bytes.get(place.start)? == b'-');
    let start = place.start + negative;
    let field = bytes.get(start..place.end)?;
    let (first, rest) = (field.first_chunk()?, field.get(8..)?);
    let point = match point_in(*first) {
        8 => match rest.first_chunk() {
            Some(second) => 8 + point_in(*second),
            None => rest.iter().position(|byte| *byte == b'.').map_or(field.len(), |at| 8 + at),
        },
        point => point,
    };
    let point = if point == 16 { field.len() } else { point };
    let decimals = field.len().saturating_sub(point + 1);
    // A point at either end is for others to judge.
    if point == 0 || point + decimals > decimal::MOST || point + 1 == field.len() {
        return None;
    }
    let mut other = 0;
    let whole = digits_before(bytes, start + point, point, &mut other)?;
    let fraction = digits_before(bytes, place.end, decimals, &mut other)?;
    if other & each(0x80) != 0 {
        return None;
    }
    let value = decimal::nearest(whole * POWERS.get(decimals)? + fraction, decimals)?;
    Some(f64::from_bits(value.to_bits() | (negative as u64) << 63))
}

/// The place of the first point; eight when there is none.
#[inline]
fn point_in(word: [u8; 8]) -> usize {
    let points = u64::from_le_bytes(word) ^ each(b'.');
    let points = points.wrapping_sub(each(1)) & !points & each(0x80);
    (points.trailing_zeros() / 8) as usize
}

/// The number that so many digits stand for, at most nineteen, which end before a place. What is none marks a highest bit
/// of `other`.
#[inline]
fn digits_before(bytes: &[u8], end: usize, count: usize, other: &mut u64) -> Option<u64> {
    let mut word = |end: usize, count: usize| {
        let word = u64::from_le_bytes(*bytes.get(..end)?.last_chunk()?) ^ each(b'0');
        // Shifted out and in again, in two steps each as all eight may have to go.
        let away = 4 * (8 - count);
        let digits = word >> away >> away << away << away;
        *other |= digits | digits.wrapping_add(NINES);
        Some(eight_digits(digits))
    };
    match count {
        0 => Some(0),
        1..=8 => word(end, count),
        9..=16 => Some(word(end - 8, count - 8)? * 100_000_000 + word(end, 8)?),
        _ => {
            let first = word(end - 16, count - 16)? * 100_000_000 + word(end - 8, 8)?;
            Some(first * 100_000_000 + word(end, 8)?)
        }
    }
}

/// Added to a byte, this sets its highest bit where it is no digit.
const NINES: u64 = each(0x7f - 9);

/// Eight times the same byte.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The number that eight digits stand for, the first of them in the lowest byte: pairs, then fours,
/// then all.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let odd = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let even = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    odd.wrapping_add(even) >> 32
}

/// The number in a field that stands alone.
pub(crate) fn parse_any(raw: &[u8], decimal_comma: bool) -> Option<f64> {
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
pub(crate) fn is_missing(field: &[u8]) -> bool {
    match field {
        [] => true,
        [first, rest @ ..] if RUNS.contains(first) && rest.iter().all(|byte| byte == first) => true,
        _ => MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing.as_bytes())),
    }
}
