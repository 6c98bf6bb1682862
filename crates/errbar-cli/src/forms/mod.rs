//! Forecasts of any form, for those who judge them: columns of quantiles, of members, of the ends of an interval, beside
//! those of a sigma; and events.

mod arguments;
mod ask;
mod join;
mod judged;
mod levels;
mod words;

pub(crate) use self::arguments::FormArguments;
pub(crate) use self::ask::{Form, SigmaColumns, Spec};
pub(crate) use self::join::{Beside, Joined, KeyArguments, read};
pub(crate) use self::judged::{EventJudged, Extra, Given, judge_events};
pub(crate) use self::words::{event_sentences, event_table, extra_words, warning_tables};
