//! Why texts are no column of times.

use super::{DateFormat, Layout};

/// Why texts are no column of times, in the words that all programs share.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("\"{text}\" {why}")]
pub struct NotDates {
    /// The place among the texts of the first that is wrong.
    pub place: usize,
    /// That text, shortened where it is long.
    pub text: String,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a text among times.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Why {
    /// It is a time in no layout.
    #[error("is no time")]
    NoDate,

    /// It is no time in the layout that all before it have.
    #[error("is no time written {0}, as those before it are")]
    OtherLayout(Layout),

    /// It is no time in the format that was given.
    #[error("does not fit the format \"{0}\"")]
    OtherFormat(DateFormat),

    /// It has an offset from UTC where those before have none, or the other way round.
    #[error(
        "{} an offset from UTC and earlier times {}: give all of them one, or none",
        if *has { "has" } else { "has not" },
        if *has { "have none" } else { "have" }
    )]
    Offset {
        /// Whether this one has.
        has: bool,
    },

    /// All texts are times in two layouts, which mean different moments.
    #[error(
        "is {} if that is {}, or {} if it is {}, and no other value tells",
        written[0], layouts[0], written[1], layouts[1]
    )]
    TwoReadings {
        /// The two layouts.
        layouts: [Layout; 2],
        /// The moment that this text is in either, as in 2024-01-31 18:00.
        written: [String; 2],
    },
}
