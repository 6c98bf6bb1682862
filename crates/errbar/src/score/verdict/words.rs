//! Verdicts as sentences.

use std::fmt;

use super::{BIAS_IS_MOST, BIAS_MATTERS, Finding, Verdict};
use crate::score::calibration::Coverage;
use crate::words::{self, percent};

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holds = self.coverage.map(|c| {
            format!(
                "{}% intervals hold {}",
                words::significant(100.0 * c.level, 4),
                percent(c.observed)
            )
        });
        let and_hold = holds.as_ref().map(|h| format!(", and {h} of the observations"));
        let and_hold = and_hold.unwrap_or_default();
        match self.finding {
            Finding::Reliable => {
                write!(f, "Reliable: {}.", self.reliable_in_words(holds))?;
            }
            Finding::TooFewRows => {
                let (rows, worth) = (self.rows, self.worth.round().max(1.0));
                write!(f, "Too few rows to tell: ")?;
                match rows {
                    1 => write!(f, "1 row is")?,
                    _ if worth < 0.9 * rows as f64 => {
                        let ones = if worth == 1.0 { "one" } else { "ones" };
                        write!(f, "{rows} rows, worth about {worth} independent {ones}, are")?;
                    }
                    _ => write!(f, "{rows} rows are")?,
                }
                write!(f, " not enough to see whether sigma is right")?;
                match (holds, self.coverage) {
                    (Some(holds), Some(c)) => {
                        let (low, high) = ends(c);
                        write!(f, "; {holds} (chance alone: {low} to {high}).")?;
                    }
                    _ => f.write_str(".")?,
                }
            }
            Finding::Overconfident { factor } if !factor.is_finite() => {
                write!(f, "Overconfident: some errors are endlessly many sigmas{and_hold}.")?;
            }
            Finding::Overconfident { factor } => {
                let size = two_digits(factor);
                let more = three_digits(factor);
                write!(
                    f,
                    "Overconfident: the errors are {more} times as large as sigma says{and_hold}. \
                     Multiply sigma by about {size}."
                )?;
            }
            Finding::Underconfident { factor: 0.0 } => {
                f.write_str("Underconfident: there are no errors at all.")?;
            }
            Finding::Underconfident { factor } => {
                let (size, less) = (two_digits(factor), three_digits(factor));
                write!(
                    f,
                    "Underconfident: the errors are only {less} times as large as sigma \
                     says{and_hold}. Multiply sigma by about {size}."
                )?;
            }
            Finding::Biased { spread_z, .. } => {
                let outliers = self.also.iter().any(|f| matches!(f, Finding::WrongShape { .. }));
                write!(f, "Biased: {}{and_hold}.", self.finding.bias_in_words(outliers))?;
                // Of outliers neither sizes nor means tell anything in units of sigma.
                if !outliers {
                    let left = three_digits(spread_z);
                    write!(f, " Without the bias the errors would be {left} times sigma.")?;
                }
                f.write_str(" Correct the forecast first.")?;
            }
            Finding::Uneven { small, small_to, large, large_from } => {
                let whole = match self.also.iter().any(Finding::is_of_size) {
                    true => "Not right everywhere",
                    false => "Right on the whole, but not everywhere",
                };
                write!(
                    f,
                    "{whole}: where sigma is small (up to {}) the errors are {} times as large as it \
                     says, where it is large (from {}) {} times. ",
                    three_digits(small_to),
                    three_digits(small),
                    three_digits(large_from),
                    three_digits(large)
                )?;
                f.write_str(match small > large {
                    true => "Sigma varies more than the errors do.",
                    false => "Sigma varies less than the errors do.",
                })?;
            }
            Finding::WrongShape { heavy_tails, factor, narrow, wide } => {
                let held = |(level, observed): (f64, f64)| {
                    format!(
                        "{}% intervals hold {}",
                        words::significant(100.0 * level, 4),
                        percent(observed)
                    )
                };
                let mut both = held(narrow);
                if wide.0 != narrow.0 {
                    both += &format!(" and {}", held(wide));
                }
                let size = three_digits(factor);
                write!(
                    f,
                    "Not Gaussian: {both}, with errors {size} times sigma in root mean square. "
                )?;
                f.write_str(match heavy_tails {
                    true => "Large errors are more frequent than sigma says: there are outliers, or sigma should vary more.",
                    false => "Large errors are rarer than sigma says.",
                })?;
            }
        }
        self.also.iter().try_for_each(|finding| match *finding {
            Finding::Biased { .. } => {
                let words = finding.bias_in_words(false).replacen("forecasts are", "Forecasts are also", 1);
                write!(f, " {words}.")
            }
            Finding::Overconfident { factor } | Finding::Underconfident { factor } => {
                write!(f, " On the whole the errors are {} times sigma.", three_digits(factor))
            }
            Finding::WrongShape { heavy_tails: true, .. } => {
                f.write_str(" Large errors are more frequent than sigma says.")
            }
            Finding::Uneven { small, large, .. } => {
                let (small, large) = (three_digits(small), three_digits(large));
                write!(f, " It is not the same everywhere: the errors are {small} times sigma where it is small, {large} times where it is large.")
            }
            _ => Ok(()),
        })
    }
}

impl Verdict {
    /// The verdict on `what` is no sigma: "members", "quantiles" or "intervals". For members spread over skill says by how
    /// much they would have to be farther apart.
    #[must_use]
    pub fn in_words_of(&self, what: &str, spread_over_skill: Option<f64>) -> String {
        let holds = self.coverage.map(|c| {
            let (low, high) = ends(c);
            format!(
                "{}% intervals{} hold {} of the observations (chance alone: {low} to {high})",
                words::significant(100.0 * c.level, 4),
                if what == "intervals" { String::new() } else { format!(" read off the {what}") },
                percent(c.observed)
            )
        });
        let and = |text: &str| match &holds {
            Some(holds) => format!("{text}: {holds}."),
            None => format!("{text}."),
        };
        let by =
            spread_over_skill.filter(|ratio| *ratio > 0.0).map(|ratio| two_digits(1.0 / ratio));
        let also = self.also.iter().map(|finding| finding.of(what)).filter(|text| !text.is_empty());
        let mut text = match self.finding {
            Finding::Reliable => and("Reliable"),
            Finding::TooFewRows => {
                let rows = match self.rows {
                    1 => String::from("1 row is"),
                    rows => format!("{rows} rows are"),
                };
                let seen = holds.as_ref().map(|holds| format!("; {holds}")).unwrap_or_default();
                let whether = format!("not enough to see whether the {what} are right");
                format!("Too few rows to tell: {rows} {whether}{seen}.")
            }
            Finding::Overconfident { factor } => {
                let more = match (what, &by) {
                    ("intervals", _) if factor.is_finite() => {
                        let factor = two_digits(factor);
                        format!(" Make them about {factor} times as wide, if errors are Gaussian.")
                    }
                    ("members", Some(by)) if spread_over_skill.is_some_and(|ratio| ratio < 1.0) => {
                        format!(" They should be about {by} times as far apart.")
                    }
                    _ => String::new(),
                };
                let close = match what {
                    "intervals" => "the intervals are too narrow",
                    _ => "they are too close together",
                };
                format!("{}{more}", and(&format!("Overconfident, {close}")))
            }
            Finding::Underconfident { factor } => {
                let less = match (what, &by) {
                    ("intervals", _) if factor.is_finite() && factor > 0.0 => {
                        let factor = two_digits(factor);
                        format!(" Make them about {factor} times as wide, if errors are Gaussian.")
                    }
                    ("members", Some(by)) if spread_over_skill.is_some_and(|ratio| ratio > 1.0) => {
                        format!(" They should be about {by} times as far apart.")
                    }
                    _ => String::new(),
                };
                let far = match what {
                    "intervals" => "the intervals are too wide",
                    _ => "they are too far apart",
                };
                format!("{}{less}", and(&format!("Underconfident, {far}")))
            }
            Finding::Biased { mean_z, .. } => {
                let side = if mean_z > 0.0 { "low" } else { "high" };
                let biased = and(&format!("Biased, the {what} are too {side}"));
                format!("{biased} Correct the forecast first.")
            }
            Finding::Uneven { .. } => {
                and(&format!("Not right everywhere, {}", self.finding.of(what)))
            }
            Finding::WrongShape { .. } => {
                and(&format!("Not the right shape, {}", self.finding.of(what)))
            }
        };
        for more in also {
            text += &format!(" Also: {more}.");
        }
        text
    }

    fn reliable_in_words(&self, holds: Option<String>) -> String {
        let (Some(holds), Some(c)) = (holds, self.coverage) else {
            return String::from("the errors are as large as sigma says");
        };
        let (low, high) = ends(c);
        if (c.low..=c.high).contains(&c.observed) {
            format!("{holds} of the observations (chance alone: {low} to {high})")
        } else {
            let off = three_digits(100.0 * (c.observed - c.level).abs());
            format!(
                "{holds} of the observations, {off} points off (chance alone: {low} to {high}), \
                 which is too little to matter or too little to be sure of"
            )
        }
    }
}

impl Finding {
    /// What is found of members, quantiles or intervals.
    fn of(&self, what: &str) -> String {
        match *self {
            Self::Overconfident { .. } => format!("the {what} are too close together"),
            Self::Underconfident { .. } => format!("the {what} are too far apart"),
            Self::Biased { mean_z, .. } => {
                format!("the {what} are too {}", if mean_z > 0.0 { "low" } else { "high" })
            }
            Self::Uneven { small, large, .. } if small > large => {
                String::from("the width of the forecast varies more than the errors do")
            }
            Self::Uneven { .. } => {
                String::from("the width of the forecast varies less than the errors do")
            }
            Self::WrongShape { heavy_tails: true, .. } => {
                format!("the observations are far from the {what} more often than these say")
            }
            Self::WrongShape { .. } => {
                format!("the observations are far from the {what} less often than these say")
            }
            _ => String::new(),
        }
    }

    fn bias_in_words(&self, outliers: bool) -> String {
        let Self::Biased { bias, mean_z, share, .. } = *self else { return String::new() };
        let signed = |value: f64| {
            let sign = if value > 0.0 { "+" } else { "" };
            format!("{sign}{}", three_digits(value))
        };
        let [side, other] = if mean_z > 0.0 { ["low", "high"] } else { ["high", "low"] };
        let agree = mean_z * bias >= 0.0 && mean_z.abs() > BIAS_MATTERS && !outliers;
        if !agree && share > BIAS_IS_MOST {
            return format!(
                "forecasts are too {} by {} on average, {} of the mean absolute error",
                if bias > 0.0 { "low" } else { "high" },
                three_digits(bias.abs()),
                percent(share)
            );
        }
        // Rows of small sigma count most in the mean of errors over sigma.
        if mean_z * bias < 0.0 {
            return format!(
                "forecasts are too {side} where sigma is small and too {other} where it is large (mean \
                 of errors over sigma {}, of errors {})",
                signed(mean_z),
                signed(bias)
            );
        }
        format!(
            "forecasts are too {side} by {} sigma on average (mean error {})",
            three_digits(mean_z.abs()),
            signed(bias)
        )
    }
}

/// The range that chance leaves, with decimals enough to tell its ends apart.
fn ends(coverage: Coverage) -> (String, String) {
    let decimals = match coverage.high - coverage.low {
        width if width < 0.0003 => 3,
        width if width < 0.003 => 2,
        _ => 1,
    };
    let end = |share: f64| format!("{:.decimals$}%", 100.0 * share);
    (end(coverage.low), end(coverage.high))
}

fn two_digits(value: f64) -> String {
    words::significant(value, 2)
}

fn three_digits(value: f64) -> String {
    words::significant(value, 3)
}
