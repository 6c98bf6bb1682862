//! Intervals whose long-run share is kept right, whatever the errors do: adaptive conformal inference
//! (Gibbs and Candès 2021, [arXiv:2106.00170](https://arxiv.org/abs/2106.00170)).
//!
//! An interval of level $p$ is read off sizes of errors that a model had not seen
//! ([`guarantee`](crate::fit::guarantee)): it reaches to such a size that the share $p$ of them is no larger. That
//! holds new observations while nothing changes. Here the level that is *read off* moves: when an observation
//! becomes known that its interval missed, later ones are read off a higher level, and a lower one when it was
//! held. Read off 1 or more an interval is *unbounded*, as it is where so high a level is more than the sizes can
//! tell; read off 0 or less it is the middle of the law alone, which counts as a miss.
//!
//! Sizes are Gaussian values in the law of a row *as it follows* what was observed ([`Bend`](super::Bend)), which
//! before anything is observed is the law as it was fitted. What is proven does not ask how intervals are made; but
//! where errors grow the law grows with them, and far fewer intervals are unbounded than with levels alone.
//!
//! # What is proven
//! Let $\alpha = 1 - p$, and $m_k = 1$ where the interval of row $k$ missed, else 0. Of $n$ rows that are known
//! the level read off is $1 - A_n$ with
//!
//! $$ A_n = \alpha + \gamma \sum_{k=1}^{n} (\alpha - m_k). $$
//!
//! Row $k$ is read off $A_{k-1-d_k}$, with $d_k \le D$ rows before it that were not known yet. A row can miss
//! only if $A_{k-1-d_k} > 0$, and then $A_k \ge A_{k-1-d_k} - (d_k + 1) \gamma (1 - \alpha)$, since no step down is
//! longer than $\gamma (1 - \alpha)$. Steps up only raise it. So, whatever the errors are,
//! $A_n > -(D + 1) \gamma (1 - \alpha)$ for all $n$; likewise a row can be held only if $A_{k-1-d_k} < 1$, so that
//! $A_n < 1 + (D + 1) \gamma \alpha$. Since $\sum m_k = T \alpha + (\alpha - A_T) / \gamma$, the share of $T$ rows
//! that intervals missed is
//!
//! $$ -\frac{(1 - \alpha) / \gamma + (D + 1) \alpha}{T} < \frac 1 T \sum_{k=1}^{T} m_k - \alpha
//!    < \frac{\alpha / \gamma + (D + 1) (1 - \alpha)}{T}. $$
//!
//! No distribution, no independence: an adversary who knows everything cannot break it. It says nothing about one
//! row, or about some stretch of rows: that is what wide steps are for.
//!
//! # The step
//! $\gamma = \alpha / M$ with one memory $M$ for all levels, so that the share held of $T$ rows is at least
//! $p - (M + (D + 1) p) / T$ at each of them, and $M / p$ misses in a row make any interval unbounded. A short
//! memory means a bound that says something early, and widths that jump. $M$ is 20 rows, and as many more as a row
//! has to wait until it is known: feedback that comes late makes short memories swing from far too narrow to
//! unbounded. Chosen on training rows of the series that [`adapt`](super) names; half as long a memory is hardly worse
//! where rows are known at once, and on prices that are known two days later leaves many intervals unbounded.
//!
//! Levels are kept one by one. Where the errors of a series are of another shape than those it was calibrated on,
//! the interval of a level may for some rows be narrower than that of a lower one.
//!
//! ```
//! use errbar::adapt::promise::{Keeping, Promise};
//!
//! let promise = Promise::new(&[0.9], 0)?;
//! // The sizes 1, 2, ..., 99 of errors that a model had not seen.
//! let reach = |_, level: f64| if level >= 0.99 { f64::INFINITY } else { (100.0 * level).ceil().max(0.0) };
//! let mut keeping = Keeping::new(&promise);
//! for row in 0..1000 {
//!     let row = f64::from(row);
//!     keeping.know(row - 1.0);
//!     // Errors grow twice as large.
//!     keeping.observe(&promise, row, 100.0 * (1.0 + row / 1000.0) * (row * 2.4).sin().abs(), reach);
//! }
//! keeping.know(999.0);
//! let share = keeping.held(0) as f64 / keeping.rows(0) as f64;
//! assert!(share >= promise.at_least(0, 1000, keeping.waited()) && share > 0.87);
//! # Ok::<(), errbar::Error>(())
//! ```

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::score::calibration::check_probability;

/// The levels that are kept where no others are asked for.
pub const USUAL_LEVELS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];
/// Rows of memory, beside as many as wait to be known.
const MEMORY: f64 = 20.0;
/// The most levels.
const MOST_LEVELS: usize = 32;

/// What is promised of the rows of a series: levels, and the step by which they are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    levels: Vec<f64>,
    /// $M$.
    memory: f64,
}

impl Promise {
    /// These levels, of rows of which so many usually wait to be known.
    ///
    /// # Errors
    /// A level outside (0, 1) or given twice, none or very many.
    pub fn new(levels: &[f64], waiting: usize) -> Result<Self> {
        for (nth, level) in levels.iter().enumerate() {
            check_probability("the level of a guarantee", *level)?;
            if levels[..nth].contains(level) {
                return Err(Error::LevelTwice { level: *level });
            }
        }
        if !(1..=MOST_LEVELS).contains(&levels.len()) {
            let what = "the number of levels of a guarantee";
            let allowed = "one to 32 can be kept";
            return Err(Error::BadNumber { what, value: levels.len(), allowed });
        }
        let mut levels = levels.to_vec();
        levels.sort_by(f64::total_cmp);
        Ok(Self { levels, memory: MEMORY + waiting as f64 })
    }

    /// The levels, in order.
    #[must_use]
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The place of a level.
    ///
    /// # Errors
    /// That it is not among them.
    pub fn place(&self, level: f64) -> Result<usize> {
        let place = self.levels.iter().position(|own| (own - level).abs() < 1e-12);
        place.ok_or_else(|| Error::LevelNotKept { level, kept: self.levels.clone() })
    }

    /// How many rows usually wait to be known.
    #[must_use]
    pub fn usual_wait(&self) -> u64 {
        (self.memory - MEMORY) as u64
    }

    /// The least share that intervals of a level can hold of so many rows, of which at most so many were
    /// waiting to be known when one was said.
    #[must_use]
    pub fn at_least(&self, place: usize, rows: u64, waited: u64) -> f64 {
        (self.levels[place] - self.short(place, waited) / rows.max(1) as f64).max(0.0)
    }

    /// The most, unless the middle of a law is hit exactly.
    #[must_use]
    pub fn at_most(&self, place: usize, rows: u64, waited: u64) -> f64 {
        (self.levels[place] + self.beyond(place, waited) / rows.max(1) as f64).min(1.0)
    }

    /// By how many rows less than its share a level can hold, however many there are.
    pub(crate) fn short(&self, place: usize, waited: u64) -> f64 {
        self.memory + (waited + 1) as f64 * self.levels[place]
    }

    /// By how many more.
    pub(crate) fn beyond(&self, place: usize, waited: u64) -> f64 {
        let (level, alpha) = (self.levels[place], 1.0 - self.levels[place]);
        level * self.memory / alpha + (waited + 1) as f64 * alpha
    }

    /// Whether one that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        let rise = self.levels.windows(2).all(|two| two[0] < two[1]);
        let sane = Self::new(&self.levels, 0).is_ok() && (MEMORY..1e12).contains(&self.memory);
        if rise && sane { Ok(()) } else { Err("the levels of its guarantee cannot be kept") }
    }
}

/// What has become of the rows of a group, by which its levels are read off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Keeping {
    counts: Vec<Count>,
    /// The most rows that waited when one was said.
    waited: u64,
    /// Rows that are observed, but not known yet: when, the levels that something was promised at, and those
    /// whose intervals missed, bit by bit.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    waiting: VecDeque<(f64, u32, u32)>,
}

/// Of one level. Whole numbers, so that rows of one moment may come in any order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[u64; 4]", into = "[u64; 4]")]
struct Count {
    /// Rows that are known, and those of them that count as missed.
    known: u64,
    missed: u64,
    /// Rows that were held, and those whose interval was unbounded: of all that were observed.
    held: u64,
    unbounded: u64,
}

impl From<[u64; 4]> for Count {
    fn from([known, missed, held, unbounded]: [u64; 4]) -> Self {
        Self { known, missed, held, unbounded }
    }
}

impl From<Count> for [u64; 4] {
    fn from(Count { known, missed, held, unbounded }: Count) -> Self {
        [known, missed, held, unbounded]
    }
}

impl Keeping {
    /// Before anything is observed.
    #[must_use]
    pub fn new(promise: &Promise) -> Self {
        let counts = vec![Count::default(); promise.levels.len()];
        Self { counts, waited: 0, waiting: VecDeque::new() }
    }

    /// The level that the next interval is read off, $1 - A_n$, for the level at this place.
    #[must_use]
    pub fn reads(&self, promise: &Promise, place: usize) -> f64 {
        let (level, Count { known, missed, .. }) = (promise.levels[place], self.counts[place]);
        let alpha = 1.0 - level;
        level + alpha / promise.memory * (missed as f64 - alpha * known as f64)
    }

    /// Takes an observation, of a moment that is none before the latest, by the Gaussian value that it has in the
    /// law of its row. `reach` says to which size the interval of a level goes that is read off another: infinite
    /// where it is unbounded, NaN where nothing is promised. What is no number is left out.
    pub fn observe(
        &mut self,
        promise: &Promise,
        time: f64,
        q: f64,
        reach: impl Fn(usize, f64) -> f64,
    ) {
        if q.is_nan() {
            return;
        }
        let (mut promised, mut missed) = (0, 0);
        for place in 0..self.counts.len() {
            let reads = self.reads(promise, place);
            let size = reach(place, reads);
            if size.is_nan() {
                continue;
            }
            let is_held = q.abs() <= size;
            promised |= 1 << place;
            missed |= u32::from(!is_held || reads <= 0.0) << place;
            self.counts[place].held += u64::from(is_held);
            self.counts[place].unbounded += u64::from(size.is_infinite());
        }
        self.waited = self.waited.max(self.waiting.len() as u64);
        self.waiting.push_back((time, promised, missed));
    }

    /// Learns what was observed up to a moment.
    pub fn know(&mut self, until: f64) {
        while self.waiting.front().is_some_and(|(time, ..)| *time <= until) {
            let Some((_, promised, missed)) = self.waiting.pop_front() else { return };
            for (place, count) in self.counts.iter_mut().enumerate() {
                count.known += u64::from(promised >> place & 1);
                count.missed += u64::from(missed >> place & 1);
            }
        }
    }

    /// How many rows were promised something at this place, those that are not known yet among them.
    #[must_use]
    pub fn rows(&self, place: usize) -> u64 {
        let waiting = self.waiting.iter().filter(|(_, promised, _)| promised >> place & 1 == 1);
        self.counts[place].known + waiting.count() as u64
    }

    /// How many of them their intervals held.
    #[must_use]
    pub fn held(&self, place: usize) -> u64 {
        self.counts[place].held
    }

    /// How many of them had an unbounded interval.
    #[must_use]
    pub fn unbounded(&self, place: usize) -> u64 {
        self.counts[place].unbounded
    }

    /// The most rows that were waiting to be known when one was said.
    #[must_use]
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// Whether one that was read can be used: no rows can take the levels where they are not proven to be.
    pub(crate) fn check(&self, promise: &Promise) -> std::result::Result<(), &'static str> {
        let bad = Err("what it counted of its guaranteed intervals does not fit together");
        let times = self.waiting.iter().map(|(time, ..)| *time);
        let in_order = times.clone().all(f64::is_finite) && times.is_sorted();
        if self.counts.len() != promise.levels.len() || !in_order {
            return bad;
        }
        let all = |mask: u32| u64::from(mask) < 1 << self.counts.len();
        let masks = self
            .waiting
            .iter()
            .all(|(_, promised, missed)| all(*promised) && missed & !promised == 0);
        let count = |(place, count): (usize, &Count)| {
            let rows = self.rows(place);
            let (reads, waited) = (self.reads(promise, place), self.waited);
            let alpha = 1.0 - promise.levels[place];
            let step = alpha / promise.memory;
            let most = 1.0 + step * (waited + 1) as f64 * (1.0 - alpha);
            let least = -step * (waited + 1) as f64 * alpha;
            count.known < 1 << 53
                && count.missed <= count.known
                && count.held <= rows
                && count.unbounded <= count.held
                // Of what is held only the middle of a law can count as missed.
                && count.known - count.missed <= count.held
                && (least - 1e-6..=most + 1e-6).contains(&reads)
        };
        let waits = self.waiting.len() as u64 <= self.waited.saturating_add(1);
        match masks && waits && self.counts.iter().enumerate().all(count) {
            true => Ok(()),
            false => bad,
        }
    }
}
