//! The ways in which people write a day, and how a text is read in one of them.

use std::fmt;

use errbar::calendar;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::Moment;
use super::scan::Scan;

/// How days are written in a column.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// 2024-01-31, 2024-01, and whatever else is ISO 8601.
    Iso,
    /// 2024-031: the day of the year.
    DayOfYear,
    /// 2024/01/31, or with another mark.
    YearMonthDay(char),
    /// 31.01.2024, or with another mark.
    DayMonthYear(char),
    /// 01/31/2024, or with another mark.
    MonthDayYear(char),
    /// 31 Jan 2024, 31-JAN-2024.
    DayNameYear,
    /// Jan 31, 2024.
    NameDayYear,
    /// 2024 Jan 31.
    YearNameDay,
    /// 20240131.
    Digits,
    /// 2024013118: the 18th hour of that day.
    DigitsAndHour,
}

/// Numbers are dates only if their years are these; people mean few others.
const YEARS: std::ops::RangeInclusive<i64> = 1800..=2200;

/// Days of each month in a year that is no leap year.
const DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

impl Layout {
    /// All of them; where several read a column alike, the first is named.
    ///
    /// With points the day comes first everywhere, and so there is no month.day.year.
    pub const ALL: [Self; 14] = [
        // Before the standard, which has it too, so that texts are called what numbers are.
        Self::Digits,
        Self::Iso,
        Self::DayOfYear,
        Self::YearMonthDay('/'),
        Self::YearMonthDay('.'),
        Self::DayMonthYear('.'),
        Self::DayMonthYear('/'),
        Self::DayMonthYear('-'),
        Self::MonthDayYear('/'),
        Self::MonthDayYear('-'),
        Self::DayNameYear,
        Self::NameDayYear,
        Self::YearNameDay,
        Self::DigitsAndHour,
    ];

    /// The moment that a text is, with nothing around it.
    pub(super) fn moment(self, text: &str) -> Option<Moment> {
        let scanned = self.scan(text);
        match self {
            // Seconds of 60, zones in brackets, 20240131T1800: rare, but ISO 8601.
            Self::Iso => scanned.or_else(|| by_jiff(text)),
            _ => scanned,
        }
    }

    /// A number whose digits are those of a date.
    pub(super) fn of_number(self, value: f64) -> Option<Moment> {
        if value.fract() != 0.0 || !(0.0..1e10).contains(&value) {
            return None;
        }
        let value = value as i64;
        let (day, hour) = match self {
            Self::DigitsAndHour => (value / 100, value % 100),
            _ => (value, 0),
        };
        let midnight = in_digits(day)?;
        (hour <= 24).then(|| Moment {
            microseconds: (midnight * 24 + hour) * 3_600_000_000,
            has_offset: false,
        })
    }

    fn scan(self, text: &str) -> Option<Moment> {
        let mut scan = Scan::new(text);
        let day = match self {
            Self::Iso => {
                let year = scan.digits(4, 4)?;
                scan.mark('-')?;
                let month = scan.digits(1, 2)?;
                // A month is its first day.
                if scan.is_done() {
                    day(year, month, 1)?
                } else {
                    scan.mark('-')?;
                    day(year, month, scan.digits(1, 2)?)?
                }
            }
            Self::DayOfYear => {
                let year = scan.digits(4, 4)?;
                scan.mark('-')?;
                let of_year = scan.digits(3, 3)?;
                let first = day(year, 1, 1)?;
                let days = 365 + i64::from(is_leap(year));
                (1..=days).contains(&of_year).then_some(first + of_year - 1)?
            }
            Self::YearMonthDay(mark) => {
                let year = scan.digits(4, 4)?;
                scan.mark(mark)?;
                let month = scan.digits(1, 2)?;
                scan.mark(mark)?;
                day(year, month, scan.digits(1, 2)?)?
            }
            Self::DayMonthYear(mark) | Self::MonthDayYear(mark) => {
                let one = scan.digits(1, 2)?;
                scan.mark(mark)?;
                let two = scan.digits(1, 2)?;
                scan.mark(mark)?;
                let year = scan.digits(4, 4)?;
                match self {
                    Self::MonthDayYear(_) => day(year, one, two)?,
                    _ => day(year, two, one)?,
                }
            }
            Self::DayNameYear => {
                let of_month = scan.digits(1, 2)?;
                scan.between();
                let month = scan.month()?;
                scan.between();
                day(scan.digits(4, 4)?, month, of_month)?
            }
            Self::NameDayYear => {
                let month = scan.month()?;
                scan.between();
                let of_month = scan.digits(1, 2)?;
                scan.between();
                day(scan.digits(4, 4)?, month, of_month)?
            }
            Self::YearNameDay => {
                let year = scan.digits(4, 4)?;
                scan.between();
                let month = scan.month()?;
                scan.between();
                day(year, month, scan.digits(1, 2)?)?
            }
            Self::Digits => in_digits(scan.digits(8, 8)?)?,
            Self::DigitsAndHour => {
                let all = scan.digits(10, 10)?;
                return self.of_number(all as f64).filter(|_| scan.is_done());
            }
        };
        let time = scan.time_of_day()?;
        // Four digits of a year and an offset of a day cannot overflow.
        let microseconds = day * 86_400_000_000 + time.microseconds - time.offset.unwrap_or(0);
        Some(Moment { microseconds, has_offset: time.offset.is_some() })
    }
}

/// What a layout is called, in messages and by whoever names one.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iso => f.write_str("year-month-day"),
            Self::DayOfYear => f.write_str("year-day of the year"),
            Self::YearMonthDay(mark) => write!(f, "year{mark}month{mark}day"),
            Self::DayMonthYear(mark) => write!(f, "day{mark}month{mark}year"),
            Self::MonthDayYear(mark) => write!(f, "month{mark}day{mark}year"),
            Self::DayNameYear => f.write_str("day month year"),
            Self::NameDayYear => f.write_str("month day, year"),
            Self::YearNameDay => f.write_str("year month day"),
            Self::Digits => f.write_str("year, month, day"),
            Self::DigitsAndHour => f.write_str("year, month, day, hour"),
        }
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The day, counted from 1970, if the calendar has it.
fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    let place = usize::try_from(month - 1).ok()?;
    let days = DAYS.get(place)? + i64::from(month == 2 && is_leap(year));
    (1..=days).contains(&day).then(|| calendar::day(year, month, day))
}

/// The day of 20240131.
fn in_digits(digits: i64) -> Option<i64> {
    let (year, month, of_month) = (digits / 10_000, digits / 100 % 100, digits % 100);
    YEARS.contains(&year).then(|| day(year, month, of_month))?
}

fn by_jiff(text: &str) -> Option<Moment> {
    let of =
        |time: Timestamp, has_offset| Moment { microseconds: time.as_microsecond(), has_offset };
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(of(time, true));
    }
    let civil = text.parse::<DateTime>().ok().or_else(|| {
        format!("{text}-01").parse::<Date>().ok().map(|day| day.to_datetime(Time::midnight()))
    })?;
    let time = TimeZone::UTC.to_timestamp(civil).ok()?;
    Some(of(time, false))
}
