//! The hyperparameters of greatest likelihood: where to start, and within which bounds.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::likelihood::{Covariance, Problem, Variance, Workspace};
use super::{LengthScales, Options};
use crate::monitor::Monitor;
use crate::optimize::{self, bfgs};

/// Length scales, in ranges of the inputs: from unresolvable to indistinguishable from a line.
const LENGTHS: Bounds = Bounds { low: -9.210_340_371_976_182, high: 6.907_755_278_982_137 };
/// The logit of the share of noise, from 1e-10 to 1 - 1e-10: duplicated inputs and data without
/// noise still have a covariance matrix that can be factored.
const SHARE: Bounds = Bounds { low: -23.025_850_929_940_457, high: 23.025_850_929_940_457 };
/// The log of the signal variance, in variances of the observations, when the noise is known.
const SIGNAL: Bounds = Bounds { low: -23.025_850_929_940_457, high: 23.025_850_929_940_457 };

/// Where the prior of the log of one length scale lies, half the range of one input, and how wide it
/// is: the same as that of the length scale of sigma.
const PRIOR: (f64, f64) = (-std::f64::consts::LN_2, 0.4);

/// Beyond this many rows, a first search looks at [`FEW`] of them.
const MANY: usize = 600;
const FEW: usize = 250;

/// An interval reached by a smooth function of the whole line, so that the minimiser needs to know
/// nothing of bounds: $x = m + h\tanh((t - m)/h)$ with its middle $m$ and half its width $h$.
struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    fn middle_and_half(&self) -> (f64, f64) {
        (0.5 * (self.low + self.high), 0.5 * (self.high - self.low))
    }

    /// The value and its derivative.
    fn value(&self, t: f64) -> (f64, f64) {
        let (middle, half) = self.middle_and_half();
        let tanh = ((t - middle) / half).tanh();
        (middle + half * tanh, 1.0 - tanh * tanh)
    }

    fn inverse(&self, x: f64) -> f64 {
        let (middle, half) = self.middle_and_half();
        // At the bounds themselves there is no way back.
        let share = ((x - middle) / half).clamp(-0.999, 0.999);
        middle + half * share.atanh()
    }
}

/// Distances between random points grow as the square root of the number of inputs.
fn spread(columns: usize) -> f64 {
    0.5 * (columns as f64).ln()
}

/// Minus the log of the prior of one length scale, given by its log in ranges of the inputs, and its
/// derivative.
pub(super) fn length_prior(log_length: f64, columns: usize) -> (f64, f64) {
    let (middle, width) = PRIOR;
    let off = (log_length - middle - spread(columns)) / width;
    (0.5 * off * off, off / width)
}

/// The problem as a function of unbounded parameters: the amplitude, then the length scales.
struct Objective<'a> {
    problem: &'a Problem,
    monitor: &'a dyn Monitor,
    work: Workspace,
    lengths: LengthScales,
    /// Whether there is a prior on the length scale.
    prior: bool,
    at: Covariance,
    gradient: Covariance,
}

impl<'a> Objective<'a> {
    fn new(problem: &'a Problem, options: &Options, monitor: &'a dyn Monitor) -> Self {
        let columns = problem.points.columns().len();
        let at = Covariance { amplitude: 0.0, log_lengths: vec![0.0; columns] };
        let gradient = at.clone();
        let (lengths, work) = (options.length_scales, Workspace::new(problem));
        let prior = options.length_prior && lengths == LengthScales::One;
        Self { problem, monitor, work, lengths, prior, at, gradient }
    }

    fn parameters(&self) -> usize {
        match self.lengths {
            LengthScales::One => 2,
            LengthScales::PerInput => 1 + self.at.log_lengths.len(),
        }
    }

    fn amplitude_bounds(&self) -> Bounds {
        match self.problem.variance {
            Variance::Free => SHARE,
            Variance::KnownNoise(_) => SIGNAL,
        }
    }

    fn go_to(&mut self, x: &[f64]) {
        self.at.amplitude = self.amplitude_bounds().value(x[0]).0;
        for (d, log_length) in self.at.log_lengths.iter_mut().enumerate() {
            *log_length = LENGTHS.value(x[(1 + d).min(x.len() - 1)]).0;
        }
    }

    /// Minus the log of the prior of the length scale, and its derivative.
    fn prior(&self) -> (f64, f64) {
        match self.prior {
            true => length_prior(self.at.log_lengths[0], self.at.log_lengths.len()),
            false => (0.0, 0.0),
        }
    }

    /// `None` where there is no value, and when the work should stop.
    fn value(&mut self, x: &[f64]) -> Option<f64> {
        if self.monitor.should_stop() {
            return None;
        }
        self.go_to(x);
        Some(self.problem.value(&self.at, &mut self.work)?.minus_log + self.prior().0)
    }

    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> Option<f64> {
        if self.monitor.should_stop() {
            return None;
        }
        self.go_to(x);
        let Self { problem, work, at, gradient: by, .. } = self;
        let value = problem.value_and_gradient(at, work, by)?;
        gradient.fill(0.0);
        gradient[0] = by.amplitude * self.amplitude_bounds().value(x[0]).1;
        for (d, by) in self.gradient.log_lengths.iter().enumerate() {
            let parameter = (1 + d).min(x.len() - 1);
            gradient[parameter] += by * LENGTHS.value(x[parameter]).1;
        }
        let (prior, by) = self.prior();
        gradient[1] += by * LENGTHS.value(x[1]).1;
        Some(value.minus_log + prior)
    }

    /// From `x` to the nearest minimum.
    fn descend(&mut self, x: &mut [f64]) -> Option<f64> {
        let rows = self.problem.points.rows() as f64;
        let options = optimize::Options {
            iterations: 100,
            evaluations: 150,
            // Of the log-likelihood per row: far below what data can tell.
            gradient: 1e-6,
            decrease: 0.0,
        };
        // Per row, slopes and curvatures are of order 1: the minimiser's first steps are about right.
        let minimum = bfgs(x, &options, |x, gradient| {
            let value = self.value_and_gradient(x, gradient)?;
            gradient.iter_mut().for_each(|g| *g /= rows);
            Some(value / rows)
        });
        minimum.value.is_finite().then_some(minimum.value)
    }

    /// Places to start from: a grid over length scale and noise, and as many random ones as starts.
    fn candidates(&self, options: &Options) -> Vec<Vec<f64>> {
        let bounds = self.amplitude_bounds();
        let parameters = self.parameters();
        // The distance to the nearest of n points, which no function can be seen to vary within,
        // shrinks with n.
        let (columns, rows) = (self.at.log_lengths.len() as f64, self.problem.points.rows() as f64);
        let spread = spread(self.at.log_lengths.len());
        let nearest = -rows.ln() / columns;
        let amplitudes = match self.problem.variance {
            Variance::Free => [-4.0, -0.5],
            Variance::KnownNoise(_) => [-1.5, 1.0],
        };
        let mut candidates = Vec::new();
        let mut length = 0.0;
        while length > -3.5 || length > nearest {
            for amplitude in amplitudes {
                let mut x = vec![LENGTHS.inverse(length + spread); parameters];
                x[0] = bounds.inverse(amplitude);
                candidates.push(x);
            }
            length -= 1.1;
        }
        let mut random = Pcg64::seed_from_u64(options.seed);
        for _ in 0..options.starts {
            let mut draw = |low: f64, high: f64| random.random_range(low..high);
            let mut x = vec![bounds.inverse(draw(amplitudes[0] - 2.0, amplitudes[1] + 1.0))];
            while x.len() < parameters {
                x.push(LENGTHS.inverse(draw(-3.5, 1.0) + spread));
            }
            candidates.push(x);
        }
        candidates
    }

    /// The best of several descents, from the candidates of greatest likelihood.
    fn search(&mut self, options: &Options, first: Option<Vec<f64>>) -> Option<Vec<f64>> {
        let given = first.is_some();
        let mut candidates: Vec<(f64, Vec<f64>)> = first
            .into_iter()
            .chain(self.candidates(options))
            .filter_map(|x| Some((self.value(&x)?, x)))
            .collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        // A start found on some of the rows needs no company, unless another is better.
        let starts = if given { 1 } else { options.starts.max(1) };
        let mut taken: Vec<Vec<f64>> = Vec::new();
        let mut best: Option<(f64, Vec<f64>)> = None;
        for (_, x) in candidates {
            if taken.len() == starts {
                break;
            }
            // Starts of nearly the same length scales would end at the same place.
            let apart =
                |other: &Vec<f64>| other.iter().zip(&x).skip(1).any(|(a, b)| (a - b).abs() > 0.5);
            if !taken.iter().all(apart) {
                continue;
            }
            let mut end = x.clone();
            taken.push(x);
            if let Some(value) = self.descend(&mut end)
                && best.as_ref().is_none_or(|(least, _)| value < *least)
            {
                best = Some((value, end));
            }
        }
        Some(best?.1)
    }
}

/// The covariance of greatest likelihood, `None` if none could be evaluated.
pub(super) fn search(
    problem: &Problem,
    options: &Options,
    monitor: &dyn Monitor,
) -> Option<Covariance> {
    let rows = problem.points.rows();
    let first = if rows > MANY {
        let mut chosen: Vec<usize> = (0..rows).collect();
        let mut random = Pcg64::seed_from_u64(options.seed);
        for i in 0..FEW {
            chosen.swap(i, random.random_range(i..rows));
        }
        chosen.truncate(FEW);
        let some = problem.subset(&chosen);
        Objective::new(&some, options, monitor).search(options, None)
    } else {
        None
    };
    let mut objective = Objective::new(problem, options, monitor);
    let x = objective.search(options, first)?;
    objective.go_to(&x);
    Some(objective.at)
}
