//! What a model remembers of the series that it is of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Span;
use crate::adapt::{Following, Quantiles};

/// The series that a model is of: its columns, and what has been observed lately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The column of times.
    pub time: String,
    /// Whether these are dates (seconds since 1970), and how they are written, where that was said.
    #[serde(default)]
    pub dates: bool,
    /// How dates are written, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// The column of what was observed, or of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<String>,
    /// The column of groups, each of which has a memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When an observation becomes known.
    pub delay: Span,
    /// The errors that are inputs, after those of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lags: Vec<Span>,
    /// The latest moments of the table, as many as a delay may count back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) moments: Vec<f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) groups: BTreeMap<String, Memory>,
    /// What was remembered before the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Box<Before>>,
}

/// What an update can be undone by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Before {
    pub(crate) moments: Vec<f64>,
    /// Groups that the update changed, as they were; nothing of those that it met first.
    pub(crate) groups: BTreeMap<String, Option<Memory>>,
}

/// What is remembered of one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// What was learned from rows before the latest: by the model, and by that without lags.
    pub(crate) learned: Following,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) without: Option<Following>,
    /// The last of these rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<f64>,
    /// The latest rows, in the order of time.
    pub(crate) latest: Vec<Past>,
}

/// A row that has been observed, or should have been.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Past {
    /// When.
    pub time: f64,
    /// Up to when observations were known then.
    pub known: f64,
    /// Observation minus forecast; NaN where nothing was observed.
    pub error: f64,
    /// The Gaussian value of the observation in the law of its row as fitted, with lags and without; NaN
    /// where there is none.
    pub q: [f64; 2],
}

/// What is missing in both is the same.
impl PartialEq for Past {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |of: &Self| [of.time, of.known, of.error, of.q[0], of.q[1]];
        numbers(self).iter().zip(numbers(other)).all(|(a, b)| *a == b || (a.is_nan() && b.is_nan()))
    }
}

/// Numbers, and nothing where there is none.
type Saved = (f64, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

impl From<Saved> for Past {
    fn from((time, known, error, q, without): Saved) -> Self {
        let [error, q, without] = [error, q, without].map(|x| x.unwrap_or(f64::NAN));
        Self { time, known: known.unwrap_or(f64::NEG_INFINITY), error, q: [q, without] }
    }
}

impl From<Past> for Saved {
    fn from(past: Past) -> Self {
        let maybe = |x: f64| x.is_finite().then_some(x);
        (past.time, maybe(past.known), maybe(past.error), maybe(past.q[0]), maybe(past.q[1]))
    }
}

/// So many of the latest rows of a group can be corrected, fewer where there are very many groups: the memory is
/// a part of a file.
const CORRECTABLE: usize = 100;
const CORRECTABLE_IN_ALL: usize = 100_000;

impl Memory {
    /// The latest row that was observed.
    #[must_use]
    pub fn latest(&self) -> Option<&Past> {
        self.latest.last()
    }

    /// States that go on from what was learned before the latest rows.
    pub(crate) fn following(&self) -> [Following; 2] {
        [self.learned.clone(), self.without.clone().unwrap_or_default()]
    }

    /// Learns from rows that are so old that neither lags nor corrections will ask for them.
    pub(crate) fn forget(&mut self, lags: &[Span], groups: usize, laws: &[Quantiles; 2]) {
        let correctable = (CORRECTABLE_IN_ALL / groups.max(1)).clamp(5, CORRECTABLE);
        let kept = kept(&self.latest, lags).max(correctable);
        // Now and then, not with each row: the latest are replayed whenever a law is asked for.
        if self.latest.len() <= 2 * kept {
            return;
        }
        let mut states = self.following();
        let gone = self.latest.len() - kept;
        self.latest.drain(..gone).for_each(|past| {
            step(&mut states, &past, laws);
            self.until = Some(past.time);
        });
        let [learned, without] = states;
        (self.learned, self.without) = (learned, (!lags.is_empty()).then_some(without));
    }

    /// Keeps what lags may ask for, of rows that tell nothing about laws.
    pub(crate) fn keep_errors(&mut self, lags: &[Span]) {
        if self.latest.iter().all(|past| past.q[0].is_nan() && past.q[1].is_nan()) {
            let gone = self.latest.len() - kept(&self.latest, lags).max(1).min(self.latest.len());
            self.latest.drain(..gone);
        }
    }

    pub(crate) fn check(&self) -> Result<(), &'static str> {
        self.learned.check()?;
        self.without.as_ref().map_or(Ok(()), Following::check)?;
        let in_order = self.latest.windows(2).all(|two| two[0].time <= two[1].time);
        let sane = |past: &Past| past.time.is_finite() && past.known <= past.time;
        match in_order && self.latest.iter().all(sane) {
            true => Ok(()),
            false => Err("the latest rows that it remembers are not in the order of time"),
        }
    }
}

/// A row that is observed, in states that know what was known then.
pub(crate) fn step(states: &mut [Following; 2], past: &Past, laws: &[Quantiles; 2]) {
    for ((state, q), law) in states.iter_mut().zip(past.q).zip(laws) {
        state.know(past.known, law);
        state.observe(past.time, q);
    }
}

/// How many of the latest rows lags may ask for.
fn kept(latest: &[Past], lags: &[Span]) -> usize {
    let Some(last) = latest.last() else { return 0 };
    let one = |lag: &Span| match *lag {
        Span::Moments(moments) => {
            let moments = latest.chunk_by(|a, b| a.time == b.time).rev().take(moments as usize + 1);
            moments.map(<[Past]>::len).sum()
        }
        Span::Time(seconds) => {
            latest.len() - latest.partition_point(|past| past.time < last.time - 1.01 * seconds)
        }
    };
    lags.iter().map(one).max().unwrap_or(0)
}

impl Series {
    /// Of a column of times, with nothing observed.
    #[must_use]
    pub fn new(time: impl Into<String>, delay: Span, lags: &[Span]) -> Self {
        Self {
            time: time.into(),
            dates: false,
            date_format: None,
            observation: None,
            group: None,
            delay,
            lags: lags.to_vec(),
            moments: Vec::new(),
            groups: BTreeMap::new(),
            before: None,
        }
    }

    /// What is remembered of a group; without groups, of "".
    #[must_use]
    pub fn memory(&self, group: &str) -> Option<&Memory> {
        self.groups.get(group)
    }

    /// How many rows have been learned from, in all groups.
    #[must_use]
    pub fn learned(&self) -> u64 {
        let latest =
            |memory: &Memory| memory.latest.iter().filter(|past| !past.q[0].is_nan()).count();
        self.groups.values().map(|memory| memory.learned.observed() + latest(memory) as u64).sum()
    }

    /// The latest moment of all.
    #[must_use]
    pub fn latest(&self) -> Option<f64> {
        self.moments.last().copied()
    }

    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if !(self.delay.is_sane() && self.lags.iter().all(|lag| lag.is_sane())) {
            return Err("the delay or the lags of its series are out of range");
        }
        if !self.moments.iter().all(|time| time.is_finite()) {
            return Err("the moments of its series are no times");
        }
        let before = self.before.iter().flat_map(|before| before.groups.values().flatten());
        self.groups.values().chain(before).try_for_each(Memory::check)
    }
}
