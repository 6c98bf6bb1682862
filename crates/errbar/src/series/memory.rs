//! What a model remembers of the series that it is of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Span;
use super::followers::{Followers, Told};
use crate::adapt::Following;
use crate::adapt::promise::{Keeping, Promise};

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
    /// Whether dates have an offset from UTC, where inputs of the calendar ask for it and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<bool>,
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
    /// The levels of guaranteed intervals whose share is kept right, where there is a guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) promise: Option<Promise>,
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
    /// What became of their guaranteed intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keeping: Option<Keeping>,
    /// The last of these rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<f64>,
    /// The latest rows, in the order of time.
    pub(crate) latest: Vec<Past>,
}

/// A row that has been observed, or should have been.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Vec<Option<f64>>", into = "Vec<Option<f64>>")]
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
    /// The error in units of sigma as fitted, likewise, where guaranteed intervals are kept; else NaN.
    pub z: [f64; 2],
    /// Whether the observation lies at a bound.
    pub side: Side,
    /// Which of the laws as fitted is that of its row, likewise: the first where they have one skew.
    pub rung: [u32; 2],
}

/// At which bound an observation lies: there it stands for all that the law has beyond.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Side {
    /// At none.
    #[default]
    Between,
    /// At the least that it can be.
    Lower,
    /// At the most.
    Upper,
}

impl Side {
    /// The Gaussian value nearest to the middle that an observation of this one stands for.
    pub(crate) fn nearest(self, q: f64) -> f64 {
        match self {
            Self::Between => q,
            Self::Lower => q.min(0.0),
            Self::Upper => q.max(0.0),
        }
    }
}

/// What is missing in both is the same.
impl PartialEq for Past {
    fn eq(&self, other: &Self) -> bool {
        let [own, others] = [self, other]
            .map(|of| [of.time, of.known, of.error, of.q[0], of.q[1], of.z[0], of.z[1]]);
        let same = own.iter().zip(others).all(|(a, b)| *a == b || (a.is_nan() && b.is_nan()));
        same && self.side == other.side && self.rung == other.rung
    }
}

/// Numbers, and nothing where there is none: three more where guaranteed intervals are kept, and then two where the
/// skew turns with the inputs.
impl TryFrom<Vec<Option<f64>>> for Past {
    type Error = &'static str;

    fn try_from(saved: Vec<Option<f64>>) -> Result<Self, Self::Error> {
        let (&[Some(time), known, ..], 5 | 8 | 10) = (&saved[..], saved.len()) else {
            return Err("a row that it remembers has other numbers than rows have");
        };
        let number = |place: usize| saved.get(place).copied().flatten().unwrap_or(f64::NAN);
        let side = match saved.get(7).copied().flatten() {
            None => Side::Between,
            Some(side) if side < 0.0 => Side::Lower,
            Some(_) => Side::Upper,
        };
        let (q, z) = ([number(3), number(4)], [number(5), number(6)]);
        let known = known.unwrap_or(f64::NEG_INFINITY);
        let rung = [8, 9].map(|place| saved.get(place).copied().flatten().map_or(0, |x| x as u32));
        Ok(Self { time, known, error: number(2), q, z, side, rung })
    }
}

impl From<Past> for Vec<Option<f64>> {
    fn from(past: Past) -> Self {
        let Past { time, known, error, q, z, side, rung } = past;
        let side = match side {
            Side::Between => f64::NAN,
            Side::Lower => -1.0,
            Side::Upper => 1.0,
        };
        let kept = match z.iter().all(|z| z.is_nan()) {
            true => 5,
            false if rung == [0, 0] => 8,
            false => 10,
        };
        let rung = rung.map(f64::from);
        let numbers = [time, known, error, q[0], q[1], z[0], z[1], side, rung[0], rung[1]];
        numbers[..kept].iter().map(|x| x.is_finite().then_some(*x)).collect()
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
    pub(crate) fn followers(&self, promise: Option<&Promise>) -> Followers {
        Followers {
            laws: [self.learned.clone(), self.without.clone().unwrap_or_default()],
            keeping: promise
                .map(|promise| self.keeping.clone().unwrap_or_else(|| Keeping::new(promise))),
        }
    }

    /// Learns from rows that are so old that neither lags nor corrections will ask for them.
    pub(crate) fn forget(&mut self, lags: &[Span], groups: usize, told: &Told) {
        let correctable = (CORRECTABLE_IN_ALL / groups.max(1)).clamp(5, CORRECTABLE);
        let kept = kept(&self.latest, lags).max(correctable);
        // Now and then, not with each row: the latest are replayed whenever a law is asked for.
        if self.latest.len() <= 2 * kept {
            return;
        }
        let mut states = self.followers(told.promise.map(|promised| promised.promise));
        let gone = self.latest.len() - kept;
        self.latest.drain(..gone).for_each(|past| {
            states.step(&past, told);
            self.until = Some(past.time);
        });
        let Followers { laws: [learned, without], keeping } = states;
        (self.learned, self.without) = (learned, (!lags.is_empty()).then_some(without));
        self.keeping = keeping;
    }

    /// Keeps what lags may ask for, of rows that tell nothing about laws.
    pub(crate) fn keep_errors(&mut self, lags: &[Span]) {
        if self.latest.iter().all(|past| past.q[0].is_nan() && past.q[1].is_nan()) {
            let gone = self.latest.len() - kept(&self.latest, lags).max(1).min(self.latest.len());
            self.latest.drain(..gone);
        }
    }

    fn check(&self, promise: Option<&Promise>) -> Result<(), &'static str> {
        self.learned.check()?;
        self.without.as_ref().map_or(Ok(()), Following::check)?;
        match (&self.keeping, promise) {
            (None, _) => {}
            (Some(keeping), Some(promise)) => keeping.check(promise)?,
            (Some(_), None) => {
                return Err("it keeps guaranteed intervals that it does not promise");
            }
        }
        let in_order = self.latest.windows(2).all(|two| two[0].time <= two[1].time);
        let sane = |past: &Past| past.time.is_finite() && past.known <= past.time;
        match in_order && self.latest.iter().all(sane) {
            true => Ok(()),
            false => Err("the latest rows that it remembers are not in the order of time"),
        }
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
            offset: None,
            observation: None,
            group: None,
            delay,
            lags: lags.to_vec(),
            promise: None,
            moments: Vec::new(),
            groups: BTreeMap::new(),
            before: None,
        }
    }

    /// What is promised of its rows, where there is a guarantee whose intervals move with what is observed.
    #[must_use]
    pub fn promise(&self) -> Option<&Promise> {
        self.promise.as_ref()
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
        let promise = self.promise.as_ref();
        promise.map_or(Ok(()), Promise::check)?;
        let before = self.before.iter().flat_map(|before| before.groups.values().flatten());
        self.groups.values().chain(before).try_for_each(|memory| memory.check(promise))
    }
}
