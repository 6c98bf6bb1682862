//! Error bars that follow a series, where the law that it was drawn from is known.
//!
//! ```sh
//! cargo run --release -p errbar --example series -- 20
//! ```
//!
//! The number is that of series of each kind, 3000 rows each. All methods begin with the law of the first row.
//! Those that give intervals alone follow each end by itself. Prints a table in Markdown.

mod conformal;

use conformal::{Aci, Pid, Tail, Tails};
use errbar::adapt::promise::{Keeping, Promise};
use errbar::adapt::{Following, Quantiles};
use errbar::law::{Base, ErrorLaw, Law};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const LEVELS: [f64; 3] = [0.5, 0.9, 0.99];
const ROWS: usize = 3000;
/// Rows before this one are not judged.
const FROM: usize = 200;
/// Rows over which coverage is local.
const WINDOW: usize = 200;
const DELAYS: [usize; 2] = [1, 24];

/// Mean and size of the errors of a row.
type Change = fn(f64) -> (f64, f64);

struct Kind {
    name: &'static str,
    change: Change,
    /// How alike the errors of neighbouring rows are.
    correlation: f64,
}

const STILL: Kind = Kind { name: "no change", change: |_| (0.0, 1.0), correlation: 0.0 };
const JUMP: Kind = Kind {
    name: "size jumps to 2 and back",
    change: |row| (0.0, if (1000.0..2000.0).contains(&row) { 2.0 } else { 1.0 }),
    ..STILL
};
const SIZE: Kind =
    Kind { name: "size drifts to 2", change: |row| (0.0, 1.0 + row / ROWS as f64), ..STILL };
const BIAS: Kind =
    Kind { name: "bias drifts to 1", change: |row| (row / ROWS as f64, 1.0), ..STILL };
const SEASON: Kind = Kind {
    name: "season of 365 rows",
    change: |row| {
        let angle = std::f64::consts::TAU * row / 365.0;
        (0.5 * angle.sin(), (0.5 * angle.cos()).exp())
    },
    ..STILL
};
const ALIKE: Kind = Kind { name: "neighbours alike", correlation: 0.8, ..STILL };

type Intervals = [(f64, f64); LEVELS.len()];

/// What puts error bars on one row after another.
trait Bars {
    /// Learns from rows up to this one.
    fn know(&mut self, _until: f64) {}
    fn say(&mut self, row: f64) -> Intervals;
    /// The CRPS of the row that was said, for laws.
    fn crps(&self, _error: f64) -> f64 {
        f64::NAN
    }
    /// Takes the error of the row that was said, which is known later.
    fn observe(&mut self, _row: f64, _error: f64) {}
}

fn intervals(law: &ErrorLaw) -> Intervals {
    LEVELS.map(|level| law.interval(level))
}

/// The law as it was, around a mean and in units of a size that are known.
struct Known {
    law: ErrorLaw,
    change: Change,
    now: (f64, f64),
}

impl Bars for Known {
    fn say(&mut self, row: f64) -> Intervals {
        self.now = (self.change)(row);
        let (mean, size) = self.now;
        intervals(&self.law).map(|(low, high)| (mean + size * low, mean + size * high))
    }

    fn crps(&self, error: f64) -> f64 {
        let (mean, size) = self.now;
        size * self.law.crps((error - mean) / size)
    }
}

struct Followed {
    law: ErrorLaw,
    told: Quantiles,
    state: Following,
    now: ErrorLaw,
}

impl Bars for Followed {
    fn know(&mut self, until: f64) {
        self.state.know(until, &self.told);
    }

    fn say(&mut self, _: f64) -> Intervals {
        self.now = self.state.bend().of(&self.told);
        intervals(&self.now)
    }

    fn crps(&self, error: f64) -> f64 {
        self.now.crps(error)
    }

    fn observe(&mut self, row: f64, error: f64) {
        self.state.observe(row, self.law.gaussian_quantile_of(error));
    }
}

/// The intervals of the law that follows, reaching so far that their share is kept right.
struct Kept {
    followed: Followed,
    promise: Promise,
    keeping: Keeping,
    /// Of errors that the model had not seen, in order, as Gaussian values.
    sizes: Vec<f64>,
}

impl Kept {
    fn new(followed: Followed, delay: usize) -> Result<Self, errbar::Error> {
        let promise = Promise::new(&LEVELS, delay - 1)?;
        // As many as others rank, of the law itself.
        let rows = conformal::CALIBRATION;
        let size = |k: usize| Base::Normal.quantile(0.5 + 0.5 * (k as f64 + 0.5) / rows as f64);
        let keeping = Keeping::new(&promise);
        Ok(Self { followed, promise, keeping, sizes: (0..rows).map(size).collect() })
    }
}

/// The size that an interval reaches to.
fn reach(sizes: &[f64], level: f64) -> f64 {
    match ((sizes.len() + 1) as f64 * level - 1e-9).ceil() {
        place if place <= 0.0 => 0.0,
        place => sizes.get(place as usize - 1).copied().unwrap_or(f64::INFINITY),
    }
}

impl Bars for Kept {
    fn know(&mut self, until: f64) {
        self.followed.know(until);
        self.keeping.know(until);
    }

    fn say(&mut self, row: f64) -> Intervals {
        self.followed.say(row);
        std::array::from_fn(|level| {
            let size = reach(&self.sizes, self.keeping.reads(&self.promise, level));
            let end =
                |q: f64| if q.is_finite() { self.followed.now.quantile_of_gaussian(q) } else { q };
            (end(-size), end(size))
        })
    }

    fn observe(&mut self, row: f64, error: f64) {
        let q = self.followed.now.gaussian_quantile_of(error);
        self.keeping.observe(&self.promise, row, q, |_, level| reach(&self.sizes, level));
        self.followed.observe(row, error);
    }
}

impl<T: Tail> Bars for Tails<T> {
    fn know(&mut self, until: f64) {
        self.learn(until);
    }

    fn say(&mut self, _: f64) -> Intervals {
        std::array::from_fn(|level| self.interval(level))
    }

    fn observe(&mut self, row: f64, error: f64) {
        self.wait(row, error);
    }
}

const METHODS: [&str; 8] =
    ["truth", "as fitted", "followed", "kept right", "ACI", "DtACI", "PID 0.1", "PID 0.02"];

fn method(
    name: &str,
    law: &ErrorLaw,
    change: Change,
    delay: usize,
) -> Result<Box<dyn Bars>, errbar::Error> {
    let (law, now) = (law.clone(), (0.0, 1.0));
    let followed = |law: ErrorLaw| Followed {
        now: law.clone(),
        told: Quantiles::of(&law),
        law,
        state: Following::default(),
    };
    Ok(match name {
        "truth" => Box::new(Known { law, change, now }),
        "as fitted" => Box::new(Known { law, change: STILL.change, now }),
        "followed" => Box::new(followed(law)),
        "kept right" => Box::new(Kept::new(followed(law), delay)?),
        "ACI" => Box::new(Tails::new(LEVELS, |tail| Aci::new(&law, tail, &[0.005]))),
        "DtACI" => Box::new(Tails::new(LEVELS, |tail| Aci::new(&law, tail, &conformal::STEPS))),
        // The step that papers take, and one that bears a delay.
        "PID 0.1" => Box::new(Tails::new(LEVELS, |tail| Pid::new(&law, tail, 0.1))),
        _ => Box::new(Tails::new(LEVELS, |tail| Pid::new(&law, tail, 0.02))),
    })
}

/// Sums over rows, of each level where there are several.
#[derive(Clone, Copy, Default)]
struct Judged {
    held: [f64; 3],
    /// How far coverage is from its level in windows.
    off: [f64; 3],
    score: [f64; 3],
    infinite: [f64; 3],
    crps: f64,
}

impl Judged {
    fn add(&mut self, of: &Self, share: f64) {
        let add = |to: &mut [f64; 3], of: [f64; 3]| {
            to.iter_mut().zip(of).for_each(|(to, of)| *to += share * of);
        };
        add(&mut self.held, of.held);
        add(&mut self.off, of.off);
        add(&mut self.score, of.score);
        add(&mut self.infinite, of.infinite);
        self.crps += share * of.crps;
    }
}

/// Means over the rows of a series.
fn judge(bars: &mut dyn Bars, errors: &[f64], delay: usize) -> Judged {
    // An end that is infinite is scored as the largest error there is: the least that covers as much.
    let farthest = errors.iter().fold(0.0, |most: f64, error| most.max(error.abs()));
    let share = 1.0 / (ROWS - FROM) as f64;
    let (mut all, mut held) = (Judged::default(), [0.0; 3]);
    for (row, &error) in errors.iter().enumerate() {
        let time = row as f64;
        bars.know(time - delay as f64);
        let said = bars.say(time);
        if row >= FROM {
            let mut one = Judged { crps: bars.crps(error), ..Judged::default() };
            for (k, (low, high)) in said.into_iter().enumerate() {
                let outside = 1.0 - LEVELS[k];
                one.held[k] = f64::from(low <= error && error <= high);
                one.infinite[k] = f64::from(low.is_infinite() || high.is_infinite());
                let (low, high) = (low.clamp(-farthest, farthest), high.clamp(-farthest, farthest));
                // Ends that follow by themselves can cross, and hold nothing then.
                let (low, high) = (low.min(high), high.max(low));
                let beyond = (low - error).max(error - high).max(0.0);
                one.score[k] = high - low + 2.0 / outside * beyond;
                held[k] += one.held[k] / WINDOW as f64;
            }
            if (row + 1 - FROM).is_multiple_of(WINDOW) {
                one.off = std::array::from_fn(|k| WINDOW as f64 * (held[k] - LEVELS[k]).abs());
                held = [0.0; 3];
            }
            all.add(&one, share);
        }
        bars.observe(time, error);
    }
    all
}

fn draw(law: &ErrorLaw, kind: &Kind, seed: u64) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut next = || ErrorLaw::default().quantile(rng.random_range(1e-9..1.0));
    let (alike, new) = (kind.correlation, (1.0 - kind.correlation.powi(2)).sqrt());
    let mut q = next();
    let error = |row: usize| {
        q = alike * q + new * next();
        let (mean, size) = (kind.change)(row as f64);
        mean + size * law.quantile_of_gaussian(q)
    };
    (0..ROWS).map(error).collect()
}

/// Three numbers in a cell.
fn cell(of: [f64; 3], digits: usize) -> String {
    of.map(|x| format!("{x:.digits$}")).join(" / ")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds: u64 = std::env::args().nth(1).ok_or("how many series of each kind?")?.parse()?;
    let t3 = Law::symmetric(Base::StudentT { nu: 3.0 }, 0.0, 3f64.sqrt().recip());
    println!(
        "| errors | delay | method | held of 50 / 90 / 99% | off in windows | interval score | infinite | CRPS |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|--:|");
    for (base, law, kinds) in [
        ("normal", ErrorLaw::default(), &[STILL, JUMP, SIZE, BIAS, SEASON, ALIKE][..]),
        ("t3", ErrorLaw::from(t3), &[STILL, JUMP][..]),
    ] {
        for (kind, delay) in kinds.iter().flat_map(|kind| DELAYS.map(|delay| (kind, delay))) {
            let mut judged = [Judged::default(); METHODS.len()];
            for seed in 0..seeds {
                let errors = draw(&law, kind, seed);
                for (judged, name) in judged.iter_mut().zip(METHODS) {
                    let one = judge(&mut *method(name, &law, kind.change, delay)?, &errors, delay);
                    judged.add(&one, 1.0 / seeds as f64);
                }
            }
            let best = judged[0];
            for (one, name) in judged.iter().zip(METHODS) {
                let ratio = |k: usize| one.score[k] / best.score[k];
                let crps = one.crps / best.crps;
                println!(
                    "| {base}, {} | {delay} | {name} | {} | {} | {} | {} | {} |",
                    kind.name,
                    cell(one.held.map(|x| 100.0 * x), 1),
                    cell(one.off.map(|x| 100.0 * x), 1),
                    cell(std::array::from_fn(ratio), 3),
                    match one.infinite.iter().all(|x| *x == 0.0) {
                        true => String::new(),
                        false => cell(one.infinite.map(|x| 100.0 * x), 1),
                    },
                    if crps.is_nan() { String::new() } else { format!("{crps:.4}") },
                );
            }
        }
    }
    Ok(())
}
