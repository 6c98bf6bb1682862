//! Error bars that follow what has been observed.
//!
//! A law that was right when it was fitted need not stay so: forecasters are changed, seasons turn, errors
//! grow. Each observation says how it compares with its law: the value $q = \Phi^{-1}(F(y))$ of a standard
//! Gaussian that is as improbable. While the law holds, these are standard normal. An [`Adaptive`] state
//! follows their mean, their size and their quantiles, and bends the next law accordingly.
//!
//! How fast to follow is not known beforehand, so that several speeds do, from a memory of some twenty rows
//! to one of two thousand, beside the law as it was. Each says what it expects of every row before that
//! is observed, and counts as much as it has been right (exponential weights of the log score, forgotten
//! themselves in time). A row far beyond expectation counts as one four times as large as usual: outliers pass
//! and leave little. With nothing observed the law is as it was, and widths are finite and positive always.
//!
//! ```
//! use errbar::adapt::{Adaptive, Delay};
//! use errbar::law::ErrorLaw;
//!
//! let mut state = Adaptive::new(Delay::Moments(1));
//! let law = ErrorLaw::default();
//! for day in 0..300 {
//!     // Errors are about twice as large as they were.
//!     let error = 3.0 * (f64::from(day) * 2.4).sin();
//!     state.observe(f64::from(day), law.gaussian_quantile_of(error));
//! }
//! let (low, high) = state.bent(&law, 300.0).interval(0.9);
//! let (least, most) = law.interval(0.9);
//! assert!(high - low > 1.5 * (most - least));
//! ```

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::law::{Base, Curve, ErrorLaw};

/// Rows after which each speed has forgotten half of what it knew.
const MEMORY: [f64; 5] = [20.0, 60.0, 200.0, 600.0, 2000.0];
/// Beside the speeds, the law as it was.
const FOLLOWED: usize = MEMORY.len() + 1;
/// So many rows as the next slower speed expects them, the slowest as the law does, count beside a speed's own.
const PRIOR: f64 = 20.0;
/// An observation counts as at most so many times its usual size.
const OUTLIER: f64 = 4.0;
/// How much of the log score of a row counts in the weights of speeds, the most of it, and the rows after
/// which half of that is forgotten.
const LEARNING: f64 = 0.3;
const WORST: f64 = 6.0;
const TRUST: f64 = 1000.0;
/// Gaussian values whose shares are followed, by the speed of this memory, beside so many rows as expected.
const KNOTS: [f64; 7] = [-2.575_829, -1.644_854, -0.674_49, 0.0, 0.674_49, 1.644_854, 2.575_829];
const KNOTS_MEMORY: f64 = 600.0;
const KNOTS_PRIOR: f64 = 300.0;
/// As far as a Gaussian value can be from 0.
const FARTHEST: f64 = 8.0;

/// When an observation becomes known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delay {
    /// So many distinct moments later.
    Moments(u32),
    /// So many units of time later.
    Time(f64),
}

/// What has been observed so far, as far as the next error bars need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    delay: Delay,
    speeds: [Speed; MEMORY.len()],
    /// The logarithms of the weights of the speeds, and of the law as it was.
    trust: [f64; FOLLOWED],
    /// Of [`KNOTS`]: the weighted number of standardised values up to each, and of all.
    shares: [f64; KNOTS.len()],
    counted: f64,
    /// Rows that are observed, but were not known yet to the latest moment.
    waiting: VecDeque<Row>,
    /// The number of the latest moment, and when it was.
    moment: u64,
    latest: Option<f64>,
    learned: u64,
}

/// What one speed knows: weighted sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Speed {
    weight: f64,
    sum: f64,
    squares: f64,
}

/// An observation, and what was expected of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Row {
    moment: u64,
    time: f64,
    q: f64,
    expected: [(f64, f64); FOLLOWED],
    together: (f64, f64),
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
    /// With nothing observed.
    #[must_use]
    pub fn new(delay: Delay) -> Self {
        Self {
            delay,
            speeds: Default::default(),
            trust: [0.0; FOLLOWED],
            shares: [0.0; KNOTS.len()],
            counted: 0.0,
            waiting: VecDeque::new(),
            moment: 0,
            latest: None,
            learned: 0,
        }
    }

    /// How many rows it has learned from.
    #[must_use]
    pub fn learned(&self) -> u64 {
        self.learned
    }

    /// When the latest observation was.
    #[must_use]
    pub fn latest(&self) -> Option<f64> {
        self.latest
    }

    /// Takes an observation of a moment that is none before the latest: the Gaussian value
    /// ([`ErrorLaw::gaussian_quantile_of`]) of it in the law of its row as that was fitted. It bends the laws of
    /// moments from when it is known on. What is no number is left out.
    pub fn observe(&mut self, time: f64, q: f64) {
        if q.is_nan() || time.is_nan() {
            return;
        }
        self.advance(time);
        let expected = self.expected();
        let row = Row {
            moment: self.moment,
            time,
            q: q.clamp(-FARTHEST, FARTHEST),
            expected,
            together: self.together(&expected),
        };
        self.waiting.push_back(row);
    }

    /// The law of errors in units of sigma at a moment, as what is known then bends it.
    #[must_use]
    pub fn bent(&self, law: &ErrorLaw, time: f64) -> ErrorLaw {
        let mut known = self.clone();
        known.advance(time);
        known.bend(law)
    }

    /// The same for many laws of one moment or of the same knowledge: the mean and the size of Gaussian values
    /// that are expected at a moment.
    #[must_use]
    pub fn expects(&self, time: f64) -> (f64, f64) {
        let mut known = self.clone();
        known.advance(time);
        known.together(&known.expected())
    }

    /// To a moment: learns from what is known by then.
    fn advance(&mut self, time: f64) {
        if self.latest.is_none_or(|latest| time > latest) {
            self.moment += u64::from(self.latest.is_some());
            self.latest = Some(time);
        }
        let is_known = |row: &Row| match self.delay {
            Delay::Moments(moments) => row.moment + u64::from(moments) <= self.moment,
            Delay::Time(delay) => row.time + delay <= time,
        };
        let known: Vec<Row> =
            self.waiting.iter().take_while(|row| is_known(row)).copied().collect();
        self.waiting.drain(..known.len());
        known.iter().for_each(|row| self.learn(row));
    }

    fn learn(&mut self, row: &Row) {
        let scores = row.expected.map(|(mean, deviation)| {
            let z = (row.q - mean) / deviation;
            (0.5 * z * z + deviation.ln()).min(WORST)
        });
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let kept = 0.5f64.powf(1.0 / TRUST);
        for (trust, score) in self.trust.iter_mut().zip(scores) {
            *trust = *trust * kept - LEARNING * (score - least);
        }
        let expected = self.expected();
        for ((speed, memory), expected) in self.speeds.iter_mut().zip(MEMORY).zip(expected) {
            speed.learn(row.q, memory, expected);
        }
        let (mean, deviation) = row.together;
        let (z, kept) = ((row.q - mean) / deviation, 0.5f64.powf(1.0 / KNOTS_MEMORY));
        for (share, knot) in self.shares.iter_mut().zip(KNOTS) {
            *share = *share * kept + f64::from(z <= knot);
        }
        self.counted = self.counted * kept + 1.0;
        self.learned += 1;
    }

    fn expected(&self) -> [(f64, f64); FOLLOWED] {
        let mut expected = [(0.0, 1.0); FOLLOWED];
        for (i, speed) in self.speeds.iter().enumerate().rev() {
            expected[i] = speed.expects(expected[i + 1]);
        }
        expected
    }

    /// What all speeds expect, each with its weight.
    fn together(&self, expected: &[(f64, f64); FOLLOWED]) -> (f64, f64) {
        let most = self.trust.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = self.trust.map(|trust| (trust - most).exp());
        let total: f64 = weights.iter().sum();
        let each = || weights.iter().zip(expected);
        let mean = each().map(|(weight, (mean, _))| weight * mean).sum::<f64>() / total;
        let log =
            each().map(|(weight, (_, deviation))| weight * deviation.ln()).sum::<f64>() / total;
        (mean, log.exp())
    }

    /// The law bent to what is expected. Where the shares of standardised values say $\Phi^{-1}(s)$ instead of
    /// a knot $k$, the value $m + d k$ of the law as it was is the one that is $\Phi^{-1}(s)$ in the new law.
    fn bend(&self, law: &ErrorLaw) -> ErrorLaw {
        if self.learned == 0 {
            return law.clone();
        }
        let (mean, deviation) = self.together(&self.expected());
        let share = |k: usize| {
            let expected = Base::Normal.cdf(KNOTS[k]);
            (self.shares[k] + KNOTS_PRIOR * expected) / (self.counted + KNOTS_PRIOR)
        };
        let moved: [f64; KNOTS.len()] =
            std::array::from_fn(|k| Base::Normal.quantile(share(k)) - KNOTS[k]);
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
        // As far as the law itself can be told.
        let told = |q: &f64| (mean + deviation * q).abs() <= FARTHEST;
        let places: Vec<f64> = (-32..=32).map(|i| f64::from(i) * 0.25).filter(told).collect();
        let mut to: Vec<f64> = places.iter().map(|q| q + moved(*q)).collect();
        for k in 1..to.len() {
            to[k] = to[k].max(to[k - 1] + 0.01);
        }
        let values: Vec<f64> =
            places.iter().map(|q| law.quantile_of_gaussian(mean + deviation * q)).collect();
        match Curve::new(&to, &values) {
            Some(curve) => ErrorLaw::bent(*law.law(), curve),
            None => law.clone(),
        }
    }
}
