//! How times are written, when somebody says so.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;

use super::{Layout, Moment};

/// How times are written: a layout by its name, a count since 1970, or a pattern such as
/// `%d.%m.%Y %H:%M`, as the crate [`jiff`] understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Layout(Layout),
    Seconds,
    Milliseconds,
    Pattern(String),
}

/// The first of a month, so that a pattern without a day comes back as well: 2003-02-01T04:05:06Z.
const KNOWN: Timestamp = Timestamp::constant(1_044_072_306, 0);

/// A text that says of no time how it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFormat(String);

impl DateFormat {
    /// For times that are plain numbers since 1970, how many of them are a second.
    #[must_use]
    pub fn per_second(&self) -> Option<f64> {
        match self.0 {
            Kind::Seconds => Some(1.0),
            Kind::Milliseconds => Some(1000.0),
            _ => None,
        }
    }

    pub(super) fn moment(&self, text: &str) -> Option<Moment> {
        match &self.0 {
            Kind::Layout(layout) => layout.moment(text),
            Kind::Pattern(pattern) => by_pattern(pattern, text),
            Kind::Seconds | Kind::Milliseconds => {
                let count = text.parse::<f64>().ok()? / self.per_second()?;
                // Beyond that no calendar has a day.
                (count.abs() < 1e12).then(|| Moment {
                    microseconds: (count * 1e6).round() as i64,
                    has_offset: true,
                })
            }
        }
    }
}

fn by_pattern(pattern: &str, text: &str) -> Option<Moment> {
    let mut parts = BrokenDownTime::parse(pattern, text).ok()?;
    // A month is its first day, as in ISO 8601.
    if parts.month().is_some() && parts.day().is_none() {
        parts.set_day(Some(1)).ok()?;
    }
    let has_offset = parts.offset().is_some() || parts.timestamp().is_some();
    let time = match has_offset {
        true => parts.to_timestamp().ok()?,
        // There is no table of zones here, and to leave one out would move the time.
        false if parts.iana_time_zone().is_some() => return None,
        false => TimeZone::UTC.to_timestamp(parts.to_datetime().ok()?).ok()?,
    };
    Some(Moment { microseconds: time.as_microsecond(), has_offset })
}

impl FromStr for DateFormat {
    type Err = BadFormat;

    fn from_str(text: &str) -> Result<Self, BadFormat> {
        let text = text.trim();
        if let Some(layout) = Layout::ALL.into_iter().find(|layout| layout.to_string() == text) {
            return Ok(Self(Kind::Layout(layout)));
        }
        match text {
            "epoch" => return Ok(Self(Kind::Seconds)),
            "epoch-ms" => return Ok(Self(Kind::Milliseconds)),
            _ if !text.contains('%') => {
                return Err(BadFormat(String::from(
                    "give day/month/year, month/day/year, epoch, epoch-ms, or a pattern such as \
                     \"%d.%m.%Y %H:%M\"",
                )));
            }
            _ => {}
        }
        let written = strtime::format(text, KNOWN)
            .map_err(|error| BadFormat(format!("this is no pattern: {error}")))?;
        let comes_back = by_pattern(text, &written)
            .is_some_and(|moment| super::iso(moment.seconds()).starts_with("2003-02-01"));
        match comes_back {
            true => Ok(Self(Kind::Pattern(text.to_string()))),
            false => Err(BadFormat(String::from(
                "a pattern must tell year, month and day, as in \"%d.%m.%Y %H:%M\" or \"%Y%j\"",
            ))),
        }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Layout(layout) => layout.fmt(f),
            Kind::Seconds => f.write_str("epoch"),
            Kind::Milliseconds => f.write_str("epoch-ms"),
            Kind::Pattern(pattern) => f.write_str(pattern),
        }
    }
}
