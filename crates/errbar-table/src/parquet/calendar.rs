//! Dates and times of Parquet files as ISO text.

use errbar::calendar;

/// Days since 1970-01-01 as a date in the Gregorian calendar, 2024-01-31.
pub(crate) fn date(days: i64) -> String {
    let (year, month, day) = calendar::date(days);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{}{:06}-{month:02}-{day:02}", sign(year), year.unsigned_abs()),
    }
}

fn sign(year: i64) -> char {
    if year < 0 { '-' } else { '+' }
}

/// A time of day, 18:00:00 or 18:00:00.25.
pub(crate) fn time(seconds: i64, nanoseconds: i64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if nanoseconds == 0 {
        return text;
    }
    let fraction = format!("{nanoseconds:09}");
    format!("{text}.{}", fraction.trim_end_matches('0'))
}

/// A moment counted from 1970 in parts of a second, 2024-01-31T18:00:00.
pub(crate) fn timestamp(count: i128, per_second: i64) -> String {
    let per_second = i128::from(per_second.max(1));
    let (seconds, part) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let (days, seconds) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let nanoseconds = part * (1_000_000_000 / per_second);
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    format!("{}T{}", date(days), time(seconds as i64, nanoseconds as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar() {
        // Against jiff, over all years with four digits and their neighbours.
        let first = jiff::civil::date(1970, 1, 1);
        for days in (-719_528..2_932_896).step_by(17) {
            let expected = first.checked_add(jiff::Span::new().days(days)).unwrap();
            assert_eq!(date(days), expected.to_string(), "{days}");
        }
        assert_eq!(date(2_932_897), "+010000-01-01");
        assert_eq!(date(-719_529), "-000001-12-31");
        assert!(!date(i64::MIN).is_empty() && !date(i64::MAX).is_empty());
    }

    #[test]
    fn moments() {
        assert_eq!(timestamp(0, 1000), "1970-01-01T00:00:00");
        assert_eq!(timestamp(1_706_724_000_250, 1000), "2024-01-31T18:00:00.25");
        assert_eq!(timestamp(-1, 1_000_000_000), "1969-12-31T23:59:59.999999999");
    }
}
