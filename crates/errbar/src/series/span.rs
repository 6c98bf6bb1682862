//! How much later, or before.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// So many distinct moments, or so much time in seconds.
///
/// ```
/// use errbar::series::Span;
///
/// assert_eq!("24".parse(), Ok(Span::Moments(24)));
/// assert_eq!("48h".parse(), Ok(Span::Time(48.0 * 3600.0)));
/// assert_eq!(Span::Time(172_800.0).to_string(), "2d");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// So many distinct moments.
    Moments(u32),
    /// So many seconds.
    Time(f64),
}

/// Units of time, the largest first.
const UNITS: [(&str, f64); 5] =
    [("w", 604_800.0), ("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0)];
/// As many moments, or as much time, as anybody waits: a thousand years.
const MOST_MOMENTS: u32 = 1_000_000;
const LONGEST: f64 = 3.2e10;

impl Span {
    /// Whether it is longer than nothing, and not beyond all measure.
    #[must_use]
    pub fn is_sane(self) -> bool {
        match self {
            Self::Moments(moments) => (1..=MOST_MOMENTS).contains(&moments),
            Self::Time(seconds) => seconds > 0.0 && seconds <= LONGEST,
        }
    }

    /// Whether it is surely shorter than another; `None` where one counts moments and the other time.
    #[must_use]
    pub fn is_shorter_than(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Moments(one), Self::Moments(other)) => Some(one < other),
            (Self::Time(one), Self::Time(other)) => Some(one < other),
            _ => None,
        }
    }
}

impl FromStr for Span {
    type Err = Error;

    /// As in `24` (moments), `48h`, `30min`, `7d` or `1w`.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
        let span = match unit {
            Some((unit, seconds)) => {
                let number = text[..text.len() - unit.len()].trim().parse::<f64>();
                number.ok().map(|number| Self::Time(number * seconds))
            }
            None => text.parse().ok().map(Self::Moments),
        };
        let sane = span.filter(|span| span.is_sane());
        sane.ok_or_else(|| Error::BadSpan { text: text.into() })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Moments(moments) => write!(f, "{moments}"),
            Self::Time(seconds) => {
                let whole = |unit: &&(&str, f64)| seconds % unit.1 == 0.0;
                let (name, unit) = UNITS.iter().find(whole).unwrap_or(&UNITS[4]);
                write!(f, "{}{name}", seconds / unit)
            }
        }
    }
}
