//! Ends of intervals that follow how often they were passed: adaptive conformal inference
//! (Gibbs and Candès 2021, [arXiv:2106.00170](https://arxiv.org/abs/2106.00170)), its form of several steps
//! DtACI (2024, [arXiv:2208.08401](https://arxiv.org/abs/2208.08401)), and conformal PID control
//! (Angelopoulos, Candès and Tibshirani 2023, [arXiv:2307.16895](https://arxiv.org/abs/2307.16895)).

use std::collections::VecDeque;

use errbar::law::ErrorLaw;

/// An end above which a share of scores should be.
pub trait Tail {
    fn say(&mut self) -> f64;
    /// Learns from the oldest row that was said and not learned from.
    fn learn(&mut self, score: f64);
}

/// Two ends for each level: scores are errors, and minus errors.
pub struct Tails<T> {
    ends: Vec<[T; 2]>,
    waiting: VecDeque<(f64, f64)>,
}

impl<T: Tail> Tails<T> {
    pub fn new(levels: [f64; 3], tail: impl Fn(f64) -> T) -> Self {
        let both = |level: f64| [0, 1].map(|_| tail(0.5 * (1.0 - level)));
        Self { ends: levels.map(both).into(), waiting: VecDeque::new() }
    }

    pub fn interval(&mut self, level: usize) -> (f64, f64) {
        let [low, high] = &mut self.ends[level];
        (-low.say(), high.say())
    }

    pub fn wait(&mut self, row: f64, error: f64) {
        self.waiting.push_back((row, error));
    }

    pub fn learn(&mut self, until: f64) {
        while self.waiting.front().is_some_and(|(row, _)| *row <= until) {
            let Some((_, error)) = self.waiting.pop_front() else { return };
            for [low, high] in &mut self.ends {
                low.learn(-error);
                high.learn(error);
            }
        }
    }
}

/// The latest scores; as many of the law itself before there are any.
struct Latest(VecDeque<f64>);

impl Latest {
    /// All laws here are symmetric, so that scores of both ends are alike. In an order that has no trend.
    fn of(law: &ErrorLaw, rows: usize) -> Self {
        let place = |k: usize| ((k * 7919) % rows) as f64;
        Self((0..rows).map(|k| law.quantile((place(k) + 0.5) / rows as f64)).collect())
    }

    fn push(&mut self, score: f64) {
        self.0.pop_front();
        self.0.push_back(score);
    }
}

/// The steps of DtACI.
pub const STEPS: [f64; 8] = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128];
/// Rows whose scores are ranked, and for whose length the weights of steps are meant.
pub const CALIBRATION: usize = 500;

/// With one step, ACI. With several the mean of what each says, by weights of their quantile losses.
pub struct Aci {
    target: f64,
    steps: Vec<f64>,
    alphas: Vec<f64>,
    weights: Vec<f64>,
    sorted: Vec<f64>,
    latest: Latest,
    said: VecDeque<Vec<f64>>,
}

impl Aci {
    pub fn new(law: &ErrorLaw, target: f64, steps: &[f64]) -> Self {
        let latest = Latest::of(law, CALIBRATION);
        let mut sorted: Vec<f64> = latest.0.iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (alphas, weights) = (vec![target; steps.len()], vec![1.0; steps.len()]);
        Self { target, steps: steps.into(), alphas, weights, sorted, latest, said: VecDeque::new() }
    }
}

impl Tail for Aci {
    fn say(&mut self) -> f64 {
        self.said.push_back(self.alphas.clone());
        let each = self.alphas.iter().zip(&self.weights);
        let alpha = each.map(|(a, w)| a * w).sum::<f64>() / self.weights.iter().sum::<f64>();
        match (alpha * CALIBRATION as f64).ceil() {
            beyond if beyond <= 0.0 => f64::INFINITY,
            beyond => self
                .sorted
                .get(CALIBRATION.wrapping_sub(beyond as usize))
                .copied()
                .unwrap_or(f64::NEG_INFINITY),
        }
    }

    fn learn(&mut self, score: f64) {
        let Some(said) = self.said.pop_front() else { return };
        let (rows, steps, a) = (CALIBRATION as f64, self.steps.len() as f64, self.target);
        // The largest share for which the end would not have been passed.
        let share = 1.0 - self.sorted.partition_point(|s| *s < score) as f64 / rows;
        let spread = (1.0 - a).powi(2) * a.powi(3) + a.powi(2) * (1.0 - a).powi(3);
        let rate = (3.0 / rows * ((rows * steps).ln() + 2.0) / spread).sqrt();
        for (k, alpha) in said.into_iter().enumerate() {
            let loss = a * (share - alpha) - (share - alpha).min(0.0);
            self.weights[k] *= (-rate * loss).exp();
            self.alphas[k] += self.steps[k] * (a - f64::from(alpha > share));
        }
        let total: f64 = self.weights.iter().sum();
        let mixed = 1.0 / (2.0 * rows);
        self.weights.iter_mut().for_each(|w| *w = (1.0 - mixed) * *w / total + mixed / steps);
        let oldest = self.latest.0[0];
        self.sorted.remove(self.sorted.partition_point(|s| *s < oldest));
        self.sorted.insert(self.sorted.partition_point(|s| *s < score), score);
        self.latest.push(score);
    }
}

/// Rows whose scores give the unit of steps, and before which nothing is integrated.
const BURN_IN: usize = 100;
/// The limit of the integral of misses, and its gain in ranges of scores. Papers choose both for each series;
/// tighter limits did worse here.
const SATURATION: f64 = 5.0;
const GAIN: f64 = 2.0;

/// A quantile that moves with each row, by a share of the range of scores, and the integral of its misses, which
/// saturates; without a forecast of scores.
pub struct Pid {
    target: f64,
    quantile: f64,
    misses: f64,
    learned: usize,
    step: f64,
    latest: Latest,
    said: VecDeque<f64>,
}

impl Pid {
    pub fn new(law: &ErrorLaw, target: f64, step: f64) -> Self {
        Self {
            target,
            quantile: law.upper_quantile(target),
            misses: 0.0,
            learned: 0,
            step,
            latest: Latest::of(law, BURN_IN),
            said: VecDeque::new(),
        }
    }

    fn range(&self) -> f64 {
        let all = || self.latest.0.iter().copied();
        all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
    }
}

impl Tail for Pid {
    fn say(&mut self) -> f64 {
        let rows = (self.learned + 1) as f64;
        let angle = self.misses * rows.ln() / (rows * SATURATION);
        let integral = match angle.abs() < std::f64::consts::FRAC_PI_2 {
            _ if self.learned <= BURN_IN => 0.0,
            true => GAIN * self.range() * angle.tan(),
            false => angle.signum() * f64::INFINITY,
        };
        self.said.push_back(self.quantile + integral);
        self.quantile + integral
    }

    fn learn(&mut self, score: f64) {
        let Some(said) = self.said.pop_front() else { return };
        let miss = f64::from(score > said) - self.target;
        self.quantile += self.step * self.range() * miss;
        self.misses += miss;
        self.learned += 1;
        self.latest.push(score);
    }
}
