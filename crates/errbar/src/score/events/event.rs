//! An event: an observation on one side of a threshold.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result};

/// On which side of its threshold an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// An observation on one side of a threshold: `> 50`, `>= 50`, `< 0`, `<= 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The side.
    pub side: Side,
    /// The threshold, a finite number.
    pub threshold: f64,
}

impl FromStr for Event {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let sides = [
            (">=", Side::AtLeast),
            ("<=", Side::AtMost),
            ("≥", Side::AtLeast),
            ("≤", Side::AtMost),
            (">", Side::Above),
            ("<", Side::Below),
        ];
        let given = text.trim();
        let found = sides.iter().find_map(|(sign, side)| Some((given.strip_prefix(sign)?, *side)));
        let threshold =
            |rest: &str| rest.trim().parse().ok().filter(|value: &f64| value.is_finite());
        match found.and_then(|(rest, side)| Some((threshold(rest)?, side))) {
            Some((threshold, side)) => Ok(Self { side, threshold }),
            None => Err(Error::BadEvent { text: text.to_string() }),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::Above => ">",
            Side::AtLeast => ">=",
            Side::Below => "<",
            Side::AtMost => "<=",
        };
        write!(f, "{sign} {}", self.threshold)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Event {
    /// Whether an observation is one.
    #[must_use]
    pub fn is(&self, observation: f64) -> bool {
        match self.side {
            Side::Above => observation > self.threshold,
            Side::AtLeast => observation >= self.threshold,
            Side::Below => observation < self.threshold,
            Side::AtMost => observation <= self.threshold,
        }
    }

    /// Which of some observations are.
    #[must_use]
    pub fn happened(&self, observation: &[f64]) -> Vec<bool> {
        observation.iter().map(|&y| self.is(y)).collect()
    }

    /// Whether it is what lies above the threshold.
    #[must_use]
    pub fn is_above(&self) -> bool {
        matches!(self.side, Side::Above | Side::AtLeast)
    }
}
