//! Dates in the Gregorian calendar, also before it was introduced, from days and back.

/// Days from the first of March of the year 0, when Howard Hinnant's algorithm begins, to 1970.
const EPOCH: i64 = 719_468;

/// Year, month and day of a day counted from 1970-01-01.
///
/// ```
/// assert_eq!(errbar::calendar::date(19_782), (2024, 2, 29));
/// ```
#[must_use]
pub fn date(days: i64) -> (i64, i64, i64) {
    // Years begin in March and eras have 400 years, so that the leap day is the last day of a year and
    // all eras are alike.
    let days = days.saturating_add(EPOCH);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The day, counted from 1970-01-01, of a year, month and day: the inverse of [`date`].
#[must_use]
pub fn day(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `date -u -d @… +%F`.
    #[test]
    fn days_are_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (19_782, (2024, 2, 29)),
            (-1, (1969, 12, 31)),
            (-719_162, (1, 1, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
            assert_eq!(super::day(expected.0, expected.1, expected.2), days);
        }
        for days in (-800_000..800_000).step_by(997) {
            let (year, month, day) = date(days);
            assert_eq!(super::day(year, month, day), days);
        }
    }
}
