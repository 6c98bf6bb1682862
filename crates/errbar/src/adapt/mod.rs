//! Error bars that follow what has been observed.
//!
//! A law that was right when it was fitted need not stay so: forecasters are changed, seasons turn, errors
//! grow. Each observation says how it compares with its law: the value $q = \Phi^{-1}(F(y))$ of a standard
//! Gaussian that is as improbable. While the law holds, these are standard normal. An [`Adaptive`] state
//! follows their mean, their size and their quantiles, and bends the next law accordingly.
//!
//! How fast to follow is not known beforehand, so that several speeds do, from a memory of five rows to one of
//! two thousand, beside the law as it was. Each says what it expects of every row before that is observed, and
//! counts as much as it has been right (exponential weights of the log score, forgotten themselves in time),
//! slower ones more before anything is known. Where they disagree, error bars are wider. A row far beyond
//! expectation counts as one four times as large as usual: outliers pass and leave little. With nothing
//! observed the law is as it was, and widths are finite and positive always.
//!
//! ```
//! use errbar::adapt::{Following, Quantiles};
//! use errbar::law::ErrorLaw;
//!
//! let mut state = Following::default();
//! let law = ErrorLaw::default();
//! let told = Quantiles::of(&law);
//! for day in 0..300 {
//!     let day = f64::from(day);
//!     // What was observed by the day before is known.
//!     state.know(day - 1.0, &told);
//!     // Errors are about twice as large as they were.
//!     state.observe(day, law.gaussian_quantile_of(3.0 * (day * 2.4).sin()));
//! }
//! state.know(299.0, &told);
//! let (low, high) = state.bend().of(&told).interval(0.9);
//! let (least, most) = law.interval(0.9);
//! assert!(high - low > 1.5 * (most - least));
//! ```
//!
//! Such laws are always finite, and promise nothing. [`promise`] keeps the share right that intervals hold in the long
//! run, and says "unbounded" where it must.

pub mod promise;

use std::collections::VecDeque;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::law::{Base, Curve, ErrorLaw};

// Chosen by CRPS on series of prices, runoff, rain and geomagnetic storms, each followed from a fit to the rows
// before, and on simulated ones (examples/series); scores change little around these values.

/// Rows after which each speed has forgotten half of what it knew. The fastest is for errors that resemble
/// those just before, and is hardly heard where there are none.
const MEMORY: [f64; 5] = [5.0, 20.0, 100.0, 500.0, 2000.0];
/// Beside the speeds, the law as it was.
const FOLLOWED: usize = MEMORY.len() + 1;
/// So many rows as the next slower speed expects them, the slowest as the law does, count beside a speed's own:
/// more of them, and the fastest cannot follow.
const PRIOR: f64 = 5.0;
/// An observation counts as at most so many times its usual size.
const OUTLIER: f64 = 4.0;
/// How much of the log score of a row counts in the weights of speeds, the most of it, and the rows after
/// which half of that is forgotten. Little counts, since neighbouring rows resemble each other.
const LEARNING: f64 = 0.2;
const WORST: f64 = 6.0;
const TRUST: f64 = 1000.0;
/// The logarithm of how much more the next slower one is trusted than scores say: what fast ones take from the
/// first rows is mostly chance.
const DOUBT: f64 = 0.5;
/// Gaussian values whose shares are followed, by the speed of this memory, beside so many rows as expected.
const KNOTS: [f64; 7] = [-2.575_829, -1.644_854, -0.674_49, 0.0, 0.674_49, 1.644_854, 2.575_829];
const KNOTS_MEMORY: f64 = 600.0;
const KNOTS_PRIOR: f64 = 300.0;
/// As far as a Gaussian value can be from 0.
const FARTHEST: f64 = 8.0;
/// The Gaussian value at which a law that is as much wider as Gaussian values are is as wide as they say. Of errors
/// with heavy tails that have doubled, Gaussian values grow by more near the middle and by less far out; here by
/// what their deviation does.
const MATCHED: f64 = 1.4;
/// Steps between Gaussian values at which a law is looked up.
const STEPS: f64 = 16.0;
/// Gaussian values between which a bent law is a straight line.
const PLACES: usize = 65;

/// What has been learned from observations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    speeds: [Speed; MEMORY.len()],
    /// The logarithms of the weights of the speeds, and of the law as it was, but for [`DOUBT`].
    trust: [f64; FOLLOWED],
    /// Of [`KNOTS`]: the weighted number of standardised values up to each, and of all.
    shares: [f64; KNOTS.len()],
    counted: f64,
    learned: u64,
}

/// What is expected of a row before it is observed: mean and size of its Gaussian value, by each speed, by
/// the law as it was, and by all together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    each: [(f64, f64); FOLLOWED],
    together: (f64, f64),
}

/// What becomes of a law: the mean and the size of its Gaussian values, and how their quantiles move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend {
    mean: f64,
    deviation: f64,
    moved: [f64; KNOTS.len()],
}

/// A bent law: Gaussian values, and what they are in it.
struct Knots {
    to: [f64; PLACES],
    values: [f64; PLACES],
}

/// A law of errors in units of sigma, looked up at Gaussian values.
#[derive(Debug, Clone)]
pub struct Quantiles {
    law: ErrorLaw,
    /// Each found when it is first asked for: it can take long, and few rows ask for few of them.
    values: Vec<OnceLock<f64>>,
}

/// Whatever of it was asked for.
impl PartialEq for Quantiles {
    fn eq(&self, other: &Self) -> bool {
        self.law == other.law
    }
}

/// A law moved, and stretched on each side.
struct Stretched<'a> {
    of: &'a Quantiles,
    centre: f64,
    median: f64,
    below: f64,
    above: f64,
}

impl Quantiles {
    /// Of a law.
    #[must_use]
    pub fn of(law: &ErrorLaw) -> Self {
        let last = (2.0 * FARTHEST * STEPS) as usize;
        Self { law: law.clone(), values: vec![OnceLock::new(); last + 1] }
    }

    fn at(&self, k: usize) -> f64 {
        *self.values[k].get_or_init(|| self.law.quantile_of_gaussian(k as f64 / STEPS - FARTHEST))
    }

    /// The value of the law at a Gaussian value.
    fn value(&self, q: f64) -> f64 {
        let place = (q.clamp(-FARTHEST, FARTHEST) + FARTHEST) * STEPS;
        let k = (place as usize).min(self.values.len() - 2);
        let (low, high) = (self.at(k), self.at(k + 1));
        low + (place - k as f64) * (high - low)
    }

    /// The Gaussian value of a value.
    fn gaussian(&self, value: f64) -> f64 {
        // The last that is no larger, or the first.
        let (mut k, mut beyond) = (0, self.values.len() - 1);
        while beyond - k > 1 {
            let middle = k.midpoint(beyond);
            if self.at(middle) <= value { k = middle } else { beyond = middle }
        }
        let (low, high) = (self.at(k), self.at(k + 1));
        let at = if high > low { (value - low) / (high - low) } else { 0.0 };
        ((k as f64 + at) / STEPS - FARTHEST).clamp(-FARTHEST, FARTHEST)
    }

    /// The law of errors whose Gaussian values have this mean and deviation: a copy of it, moved and stretched, so
    /// that its tails stay what they are.
    fn stretched(&self, (mean, deviation): (f64, f64)) -> Stretched<'_> {
        let (centre, median) = (self.value(mean), self.value(0.0));
        let side = |to: f64| {
            let (wide, usual) =
                (self.value(mean + deviation * to) - centre, self.value(to) - median);
            (wide / usual).clamp(1e-3, 1e3)
        };
        Stretched { of: self, centre, median, below: side(-MATCHED), above: side(MATCHED) }
    }
}

impl Stretched<'_> {
    /// Its value at a Gaussian value.
    fn value(&self, q: f64) -> f64 {
        let side = if q < 0.0 { self.below } else { self.above };
        self.centre + side * (self.of.value(q) - self.median)
    }

    /// The Gaussian value of one that has another in the law itself.
    fn gaussian(&self, q: f64) -> f64 {
        let from = self.of.value(q) - self.centre;
        let side = if from < 0.0 { self.below } else { self.above };
        self.of.gaussian(self.median + from / side)
    }
}

/// A state that learns from each row when it becomes known, by what was expected of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Following {
    state: Adaptive,
    /// Rows that are observed, but not known yet: when, their Gaussian values, and what was expected.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    waiting: VecDeque<(f64, f64, Expected)>,
}

/// What one speed knows: weighted sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Speed {
    weight: f64,
    sum: f64,
    squares: f64,
}

impl Speed {
    /// The mean and the deviation that it expects, beside those of a slower one.
    fn expects(&self, (mean, deviation): (f64, f64)) -> (f64, f64) {
        let rows = self.weight + PRIOR;
        let square = PRIOR * (mean * mean + deviation * deviation);
        let mean = (self.sum + PRIOR * mean) / rows;
        (mean, ((self.squares + square) / rows - mean * mean).max(1e-4).sqrt())
    }

    fn learn(&mut self, q: f64, memory: f64, (mean, deviation): (f64, f64)) {
        let held = mean + deviation * ((q - mean) / deviation).clamp(-OUTLIER, OUTLIER);
        let kept = 0.5f64.powf(1.0 / memory);
        self.weight = self.weight * kept + 1.0;
        self.sum = self.sum * kept + held;
        self.squares = self.squares * kept + held * held;
    }
}

impl Adaptive {
    /// How many rows it has learned from.
    #[must_use]
    pub fn learned(&self) -> u64 {
        self.learned
    }

    /// Learns from the Gaussian value of a row ([`ErrorLaw::gaussian_quantile_of`]) in its law as that was
    /// fitted, and from what was expected of it. What is no number is left out.
    pub fn learn(&mut self, q: f64, expected: &Expected, law: &Quantiles) {
        if q.is_nan() {
            return;
        }
        let q = q.clamp(-FARTHEST, FARTHEST);
        let scores = expected.each.map(|(mean, deviation)| {
            let z = (q - mean) / deviation;
            (0.5 * z * z + deviation.ln()).min(WORST)
        });
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let kept = 0.5f64.powf(1.0 / TRUST);
        for (trust, score) in self.trust.iter_mut().zip(scores) {
            *trust = *trust * kept - LEARNING * (score - least);
        }
        let now = self.each();
        for ((speed, memory), now) in self.speeds.iter_mut().zip(MEMORY).zip(now) {
            speed.learn(q, memory, now);
        }
        let z = law.stretched(expected.together).gaussian(q);
        let kept = 0.5f64.powf(1.0 / KNOTS_MEMORY);
        for (share, knot) in self.shares.iter_mut().zip(KNOTS) {
            *share = *share * kept + f64::from(z <= knot);
        }
        self.counted = self.counted * kept + 1.0;
        self.learned += 1;
    }

    /// What it expects of the next row.
    #[must_use]
    pub fn expected(&self) -> Expected {
        let each = self.each();
        Expected { each, together: self.together(&each) }
    }

    fn each(&self) -> [(f64, f64); FOLLOWED] {
        let mut expected = [(0.0, 1.0); FOLLOWED];
        for (i, speed) in self.speeds.iter().enumerate().rev() {
            expected[i] = speed.expects(expected[i + 1]);
        }
        expected
    }

    /// What all speeds expect, each with its weight: mean and deviation of their mixture.
    fn together(&self, expected: &[(f64, f64); FOLLOWED]) -> (f64, f64) {
        let trust: [f64; FOLLOWED] = std::array::from_fn(|i| self.trust[i] + DOUBT * i as f64);
        let most = trust.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = trust.map(|trust| (trust - most).exp());
        let total: f64 = weights.iter().sum();
        let each = || weights.iter().zip(expected);
        let mean = each().map(|(weight, (mean, _))| weight * mean).sum::<f64>() / total;
        let square = |(m, d): &(f64, f64)| d * d + (m - mean) * (m - mean);
        let squares = each().map(|(weight, expected)| weight * square(expected)).sum::<f64>();
        (mean, (squares / total).sqrt())
    }

    /// What becomes of the law of the next row: moved and stretched, and where the shares of values say
    /// $\Phi^{-1}(s)$ instead of a knot $k$, its value at $k$ becomes that at $\Phi^{-1}(s)$.
    #[must_use]
    pub fn bend(&self) -> Bend {
        let (mean, deviation) = self.together(&self.each());
        let moved = |k: usize| {
            let expected = Base::Normal.cdf(KNOTS[k]);
            let share = (self.shares[k] + KNOTS_PRIOR * expected) / (self.counted + KNOTS_PRIOR);
            Base::Normal.quantile(share) - KNOTS[k]
        };
        match self.learned {
            0 => Bend::default(),
            _ => Bend { mean, deviation, moved: std::array::from_fn(moved) },
        }
    }

    /// Whether one that was read can be used.
    fn check(&self) -> Result<(), &'static str> {
        let sums = |speed: &Speed| {
            let least = speed.sum * speed.sum / speed.weight.max(1.0);
            (0.0..1e6).contains(&speed.weight)
                && (0.0..1e9).contains(&speed.squares)
                && least <= speed.squares * (1.0 + 1e-9) + 1e-9
        };
        let shares = self.shares.iter().all(|share| (0.0..=self.counted).contains(share));
        let finite = self.trust.iter().all(|trust| trust.abs() < 1e9) && self.counted < 1e6;
        match self.speeds.iter().all(sums) && shares && finite {
            true => Ok(()),
            false => Err("what it has learned from observations does not fit together"),
        }
    }
}

impl Default for Bend {
    /// None: the law stays as it was.
    fn default() -> Self {
        Self { mean: 0.0, deviation: 1.0, moved: [0.0; KNOTS.len()] }
    }
}

impl Bend {
    /// The factor by which 90% intervals are wider than those of the law as it was, and by how many sigmas the
    /// middle has moved.
    #[must_use]
    pub fn width_and_shift(&self, law: &Quantiles) -> (f64, f64) {
        let bent = self.of(law);
        let width = |law: &ErrorLaw| {
            let (low, high) = law.interval(0.9);
            high - low
        };
        (width(&bent) / width(&law.law), bent.quantile(0.5) - law.law.quantile(0.5))
    }

    /// Whether it leaves laws as they were.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The law of errors in units of sigma, bent.
    #[must_use]
    pub fn of(&self, law: &Quantiles) -> ErrorLaw {
        match self.knots(law).and_then(|Knots { to, values }| Curve::new(&to, &values)) {
            Some(curve) => ErrorLaw::bent(*law.law.law(), curve),
            None => law.law.clone(),
        }
    }

    /// [`ErrorLaw::gaussian_quantile_of`] of the law that it makes, without making it.
    #[must_use]
    pub fn gaussian_quantile_of(&self, law: &Quantiles, z: f64) -> f64 {
        match self.knots(law).filter(|Knots { to, values }| Curve::can_be(to, values)) {
            Some(Knots { to, values }) => Curve::gaussian_among(&to, &values, z),
            None => law.law.gaussian_quantile_of(z),
        }
    }

    /// The knots of the bent law; `None` for one that stays as it was.
    fn knots(&self, law: &Quantiles) -> Option<Knots> {
        if self.is_none() {
            return None;
        }
        let moved = self.moved;
        // Between knots the move is a straight line, beyond them what it is at the ends.
        let moved = |q: f64| {
            let after = KNOTS.partition_point(|knot| *knot < q);
            match after {
                0 => moved[0],
                after if after == KNOTS.len() => moved[after - 1],
                after => {
                    let (low, high) = (KNOTS[after - 1], KNOTS[after]);
                    let at = (q - low) / (high - low);
                    moved[after - 1] + at * (moved[after] - moved[after - 1])
                }
            }
        };
        let stretched = law.stretched((self.mean, self.deviation));
        let place = |k: usize| (k as f64 - 32.0) * 0.25;
        let mut to: [f64; PLACES] = std::array::from_fn(|k| place(k) + moved(place(k)));
        for k in 1..to.len() {
            to[k] = to[k].max(to[k - 1] + 0.01);
        }
        Some(Knots { to, values: std::array::from_fn(|k| stretched.value(place(k))) })
    }
}

impl Following {
    /// Takes an observation, of a moment that is none before the latest. It counts from when it is known on.
    /// What is no number is left out.
    pub fn observe(&mut self, time: f64, q: f64) {
        if !q.is_nan() {
            self.waiting.push_back((time, q, self.state.expected()));
        }
    }

    /// Learns from what was observed up to a moment, in units of this law.
    pub fn know(&mut self, until: f64, law: &Quantiles) {
        while self.waiting.front().is_some_and(|(time, ..)| *time <= until) {
            let Some((_, q, expected)) = self.waiting.pop_front() else { return };
            self.state.learn(q, &expected, law);
        }
    }

    /// What becomes of the law of the next row.
    #[must_use]
    pub fn bend(&self) -> Bend {
        self.state.bend()
    }

    /// How many rows it has taken, those that are not known yet among them.
    #[must_use]
    pub fn observed(&self) -> u64 {
        self.state.learned + self.waiting.len() as u64
    }

    /// What it has learned.
    #[must_use]
    pub fn state(&self) -> &Adaptive {
        &self.state
    }

    /// Whether one that was read can be used.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let sane =
            |(mean, deviation): &(f64, f64)| mean.abs() < 1e3 && (1e-3..1e3).contains(deviation);
        let row = |(time, q, expected): &(f64, f64, Expected)| {
            let Expected { each, together } = expected;
            time.is_finite() && q.is_finite() && each.iter().all(sane) && sane(together)
        };
        self.state.check()?;
        match self.waiting.iter().all(row) {
            true => Ok(()),
            false => Err("what it expected of its latest rows does not fit together"),
        }
    }
}
