//! What the values of a Parquet column stand for: as numbers, as text.

use std::borrow::Cow;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::Int96;
use parquet::schema::types::ColumnDescriptor;

use super::calendar;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Flag,
    Signed,
    Unsigned,
    Float,
    /// Two bytes.
    Half,
    /// An integer times a negative power of ten.
    Decimal {
        scale: u32,
    },
    Date,
    /// Parts of a second since midnight.
    Time {
        per_second: i64,
    },
    /// Parts of a second since 1970.
    Moment {
        per_second: i64,
        utc: bool,
    },
    Text,
    Uuid,
    Bytes,
}

/// One value as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Flag(bool),
    Int(i64),
    Single(f32),
    Double(f64),
    Int96(&'a Int96),
    Bytes(&'a [u8]),
}

impl Meaning {
    pub(crate) fn of(column: &ColumnDescriptor) -> Self {
        // No type has more than 76 digits; a damaged file may say anything.
        let scale = |scale: i32| Self::Decimal { scale: scale.clamp(0, 1000) as u32 };
        let per_second = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        };
        match column.logical_type_ref() {
            Some(LogicalType::Decimal(decimal)) => return scale(decimal.scale),
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Time(time)) => {
                return Self::Time { per_second: per_second(&time.unit) };
            }
            Some(LogicalType::Timestamp(time)) => {
                let utc = time.is_adjusted_to_u_t_c;
                return Self::Moment { per_second: per_second(&time.unit), utc };
            }
            Some(LogicalType::Integer(int)) if !int.is_signed => return Self::Unsigned,
            Some(LogicalType::Uuid) => return Self::Uuid,
            Some(LogicalType::Float16) => return Self::Half,
            _ => {}
        }
        // Older files have only these.
        match column.converted_type() {
            ConvertedType::DECIMAL => return scale(column.type_scale()),
            ConvertedType::DATE => return Self::Date,
            ConvertedType::TIME_MILLIS => return Self::Time { per_second: 1_000 },
            ConvertedType::TIME_MICROS => return Self::Time { per_second: 1_000_000 },
            ConvertedType::TIMESTAMP_MILLIS => {
                return Self::Moment { per_second: 1_000, utc: true };
            }
            ConvertedType::TIMESTAMP_MICROS => {
                return Self::Moment { per_second: 1_000_000, utc: true };
            }
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => return Self::Unsigned,
            _ => {}
        }
        match column.physical_type() {
            Type::BOOLEAN => Self::Flag,
            Type::INT32 | Type::INT64 => Self::Signed,
            Type::FLOAT | Type::DOUBLE => Self::Float,
            Type::INT96 => Self::Moment { per_second: 1_000_000_000, utc: false },
            Type::BYTE_ARRAY => Self::Text,
            Type::FIXED_LEN_BYTE_ARRAY => Self::Bytes,
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Flag
                | Self::Signed
                | Self::Unsigned
                | Self::Float
                | Self::Half
                | Self::Decimal { .. }
        )
    }

    /// The value as a number; NaN for what is none.
    pub(crate) fn number(self, value: Value<'_>) -> f64 {
        match (self, value) {
            (Self::Decimal { scale }, Value::Int(int)) => decimal_number(i128::from(int), scale),
            (Self::Decimal { scale }, Value::Bytes(bytes)) => match big_endian(bytes) {
                Some(int) => decimal_number(int, scale),
                None => large_number(bytes) / 10f64.powi(scale as i32),
            },
            (Self::Unsigned, Value::Int(int)) => int as u64 as f64,
            (Self::Half, Value::Bytes(bytes)) => {
                bytes.first_chunk().map_or(f64::NAN, |two| half(u16::from_le_bytes(*two)))
            }
            (_, Value::Flag(flag)) => f64::from(u8::from(flag)),
            (_, Value::Int(int)) => int as f64,
            (_, Value::Single(value)) => f64::from(value),
            (_, Value::Double(value)) => value,
            (_, Value::Int96(_) | Value::Bytes(_)) => f64::NAN,
        }
    }

    /// The value as text; empty for NaN.
    pub(crate) fn text(self, value: Value<'_>) -> Cow<'_, str> {
        let digits = |value: f64| match value.is_nan() {
            true => String::new(),
            false => zmij::Buffer::new().format(value).to_string(),
        };
        Cow::Owned(match (self, value) {
            (Self::Flag, Value::Flag(flag)) => {
                return Cow::from(if flag { "true" } else { "false" });
            }
            (Self::Unsigned, Value::Int(int)) => (int as u64).to_string(),
            (Self::Date, Value::Int(days)) => calendar::date(days),
            (Self::Time { per_second }, Value::Int(count)) => {
                let parts = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
                calendar::time(count.div_euclid(per_second), parts)
            }
            (Self::Moment { per_second, utc }, Value::Int(count)) => {
                let text = calendar::timestamp(i128::from(count), per_second);
                if utc { text + "Z" } else { text }
            }
            (Self::Moment { .. }, Value::Int96(value)) => {
                // Nanoseconds of the day, and the Julian day.
                let [low, high, day] = <[u32; 3]>::try_from(value.data()).unwrap_or_default();
                let nanoseconds = i128::from(high) << 32 | i128::from(low);
                let days = i128::from(day) - 2_440_588;
                calendar::timestamp(days * 86_400_000_000_000 + nanoseconds, 1_000_000_000)
            }
            (Self::Decimal { scale }, Value::Int(int)) => decimal_text(i128::from(int), scale),
            (Self::Decimal { scale }, Value::Bytes(bytes)) => match big_endian(bytes) {
                Some(int) => decimal_text(int, scale),
                None => digits(self.number(value)),
            },
            (Self::Text, Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => return Cow::Borrowed(text),
                Err(_) => hexadecimal(bytes),
            },
            (Self::Uuid, Value::Bytes(bytes)) if bytes.len() == 16 => {
                let mut text = hexadecimal(bytes);
                for place in [20, 16, 12, 8] {
                    text.insert(place, '-');
                }
                text
            }
            (Self::Half, Value::Bytes(_)) => digits(self.number(value)),
            (_, Value::Flag(flag)) => flag.to_string(),
            (_, Value::Int(int)) => int.to_string(),
            // A single has fewer digits than the double of the same value.
            (_, Value::Single(value)) if value.is_nan() => String::new(),
            (_, Value::Single(value)) => zmij::Buffer::new().format(value).to_string(),
            (_, Value::Double(value)) => digits(value),
            (_, Value::Bytes(bytes)) => hexadecimal(bytes),
            (_, Value::Int96(value)) => format!("{:?}", value.data()),
        })
    }
}

/// A decimal as the nearest number: a quotient of exact numbers where it can be, else by its digits.
fn decimal_number(int: i128, scale: u32) -> f64 {
    if int.unsigned_abs() <= 1 << 53 && scale <= 22 {
        return int as f64 / 10f64.powi(scale as i32);
    }
    decimal_text(int, scale).parse().unwrap_or(f64::NAN)
}

/// A decimal with all of its digits, 12.50.
fn decimal_text(int: i128, scale: u32) -> String {
    let scale = scale as usize;
    let digits = format!("{:0width$}", int.unsigned_abs(), width = scale.saturating_add(1));
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if int < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}")
}

/// The integer in up to sixteen bytes, the highest first, negative with the first bit set.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let all = if negative { -1 } else { 0 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(all, |int, byte| int << 8 | i128::from(*byte)))
}

/// The same for any number of bytes, to within rounding.
fn large_number(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let start = if negative { -1.0 } else { 0.0 };
    bytes.iter().fold(start, |sum, byte| sum * 256.0 + f64::from(*byte))
}

/// A number of half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (int, scale, text, number) in [
            (1250, 2, "12.50", 12.5),
            (-5, 3, "-0.005", -0.005),
            (7, 0, "7", 7.0),
            (
                12345678901234567890123456789,
                10,
                "1234567890123456789.0123456789",
                1234567890123456789.0,
            ),
        ] {
            assert_eq!(decimal_text(int, scale), text);
            assert_eq!(decimal_number(int, scale), number);
        }
        assert_eq!(big_endian(&[0xff, 0x38]), Some(-200));
        assert_eq!(large_number(&[0xff, 0x38]), -200.0);
        assert_eq!(big_endian(&[0x01, 0x00]), Some(256));
    }

    #[test]
    fn halves() {
        for (bits, number) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960464477539063e-8),
            (0x3555, 0.333251953125),
        ] {
            assert_eq!(half(bits), number);
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
    }

    #[test]
    fn texts() {
        assert_eq!(Meaning::Float.text(Value::Single(0.1)), "0.1");
        assert_eq!(Meaning::Float.text(Value::Double(f64::NAN)), "");
        assert_eq!(Meaning::Unsigned.text(Value::Int(-1)), "18446744073709551615");
        let uuid = Meaning::Uuid.text(Value::Bytes(&[0x12; 16])).into_owned();
        assert_eq!(uuid, "12121212-1212-1212-1212-121212121212");
        assert_eq!(Meaning::Time { per_second: 1000 }.text(Value::Int(64_800_500)), "18:00:00.5");
        // 2024-01-31, six in the evening.
        let time = Int96::from(vec![0x6cfb4000, 0x3aef, 2_460_341]);
        let text = Meaning::Moment { per_second: 1, utc: false }.text(Value::Int96(&time));
        assert_eq!(text, "2024-01-31T18:00:00");
    }
}
