//! Times as text: ISO 8601, as numbers that sort.

use anyhow::bail;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Seconds since 1970 of each text, to within a microsecond; NaN where the text is empty.
///
/// Understood are dates (2024-01-31), times of day after a `T` or a space, with or without an
/// offset or `Z`, and months (2024-01, the first day of it). Times without an offset are taken as
/// they are: all of a column have one, or none has.
pub(crate) fn parse_times(values: &[String]) -> anyhow::Result<Vec<f64>> {
    let mut with_offset = None;
    let mut seconds = Vec::with_capacity(values.len());
    for value in values {
        let text = value.trim();
        if text.is_empty() {
            seconds.push(f64::NAN);
            continue;
        }
        let Some((time, offset)) = parse(text) else {
            bail!(
                "\"{text}\" is no time: give numbers, or dates and times as in 2024-01-31 or \
                 2024-01-31T18:00"
            );
        };
        if *with_offset.get_or_insert(offset) != offset {
            bail!(
                "\"{text}\" {} an offset from UTC and earlier times {}: give all of them one, or none",
                if offset { "has" } else { "has not" },
                if offset { "have none" } else { "have" },
            );
        }
        seconds.push(time);
    }
    Ok(seconds)
}

/// Seconds since 1970, and whether the text has an offset from UTC.
fn parse(text: &str) -> Option<(f64, bool)> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some((seconds_of(time), true));
    }
    let civil = text.parse::<DateTime>().ok().or_else(|| {
        format!("{text}-01")
            .parse::<Date>()
            .ok()
            .map(|d| d.to_datetime(jiff::civil::Time::midnight()))
    })?;
    let time = TimeZone::UTC.to_timestamp(civil).ok()?;
    Some((seconds_of(time), false))
}

fn seconds_of(time: Timestamp) -> f64 {
    time.as_microsecond() as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[&str]) -> anyhow::Result<Vec<f64>> {
        parse_times(&values.iter().map(|v| v.to_string()).collect::<Vec<_>>())
    }

    /// Against `date -u -d … +%s`.
    #[test]
    fn times_are_seconds_since_1970() {
        let civil =
            ["1970-01-01", "2024-01-31", "2024-01-31T18:00", "2024-01-31 18:00:00.5", "2024-02"];
        let expected = [0.0, 1_706_659_200.0, 1_706_724_000.0, 1_706_724_000.5, 1_706_745_600.0];
        assert_eq!(times(&civil).unwrap(), expected);
        let zoned = ["2024-01-31T18:00:00Z", "2024-01-31T19:00:00+01:00", "2024-01-31 18:00+00:00"];
        assert_eq!(times(&zoned).unwrap(), [1_706_724_000.0; 3]);
        assert!(times(&["2024-01-31", ""]).unwrap()[1].is_nan());
    }

    #[test]
    fn what_is_no_time_is_named() {
        for wrong in ["tomorrow", "2024-13-01", "31.01.2024", "2024-02-30"] {
            assert!(times(&[wrong]).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
        let mixed = times(&["2024-01-31T18:00", "2024-01-31T18:00Z"]).unwrap_err().to_string();
        assert!(mixed.contains("offset"), "{mixed}");
    }
}
