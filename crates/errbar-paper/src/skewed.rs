//! The paper's next step: errors that are skewed, heavy-tailed or mixed.
//!
//! Sets of errors whose law is known exactly, so that what a fitted law lacks is known as well: its
//! regret is its mean score on new rows less that of the true law on the same rows, for CRPS as a share
//! of the latter. Two questions are put to them: which law errors should be given, and which cost sigma
//! should be learned by.

mod costs;
mod figures;
mod laws;
mod set;
mod truth;

use std::sync::atomic::{AtomicBool, Ordering};

use errbar::fit::{self, Forecasts, fit};
use errbar::law::{ErrorLaw, judge};
use errbar::score::{Sample, reliability};
use errbar::{Data, Silent};
use rayon::prelude::*;

pub use self::costs::{CostRow, OUTLIERS};
pub use self::laws::{Goal, LawRow};
use self::set::Errors;
pub use self::set::SkewedSet;
use crate::claims::Claim;

/// New rows that laws and sigmas are judged on.
const NEW: usize = 5_000;

/// What fits have to say on all sets.
#[derive(Debug, Clone)]
pub struct Skewed {
    /// Laws: all kinds on the first set, then on the next.
    pub laws: Vec<LawRow>,
    /// Costs: all of them on the first set, then on the next.
    pub costs: Vec<CostRow>,
    /// Runs of each set.
    pub runs: usize,
    /// Training rows of each.
    pub training: usize,
    /// The sets.
    sets: Vec<SkewedSet>,
    /// What was fitted in the first run: see [`figures`].
    shown: Vec<figures::Shown>,
}

/// How often [`run_skewed`] tells `done` that it made a step.
#[must_use]
pub fn skewed_steps(runs: u64) -> u64 {
    runs * (SkewedSet::ALL.len() * (laws::KINDS.len() + costs::cases().len())) as u64
}

/// Fits every law and every cost to every set, so many runs with each seed and so many training rows
/// each, in parallel. `done` is told after each fit and says whether to stop, in which case there is no
/// result.
///
/// # Errors
/// What fitting refuses.
pub fn run_skewed(
    runs: u64,
    training: usize,
    seeds: &[u64],
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Skewed>> {
    run_on(&SkewedSet::ALL, runs, training, seeds, done)
}

fn run_on(
    sets: &[SkewedSet],
    runs: u64,
    training: usize,
    seeds: &[u64],
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Skewed>> {
    let jobs: Vec<(SkewedSet, u64, u64)> = sets
        .iter()
        .flat_map(|&set| {
            seeds.iter().flat_map(move |&seed| (0..runs).map(move |run| (set, seed, run)))
        })
        .collect();
    let stop = AtomicBool::new(false);
    // Whether to go on.
    let step = || {
        stop.fetch_or(done(), Ordering::Relaxed);
        !stop.load(Ordering::Relaxed)
    };
    let all: Option<Vec<Run>> = jobs
        .into_par_iter()
        .map(|(set, seed, run)| match stop.load(Ordering::Relaxed) {
            true => Ok(None),
            false => Run::new(set, seed, run, training, &step),
        })
        .collect::<errbar::Result<_>>()?;
    Ok(all.map(|all| {
        let runs = (all.len() / sets.len()).max(1);
        let each: Vec<&[Run]> = all.chunks(runs).collect();
        Skewed {
            laws: each.iter().flat_map(|runs| laws::rows(runs)).collect(),
            costs: each.iter().flat_map(|runs| costs::rows(runs)).collect(),
            runs,
            training,
            sets: sets.to_vec(),
            shown: each.iter().map(|runs| figures::Shown::new(&runs[0])).collect(),
        }
    }))
}

impl Skewed {
    /// How many runs, in words.
    fn in_words(&self) -> String {
        if self.runs == 1 { "1 run".into() } else { format!("{} runs", self.runs) }
    }

    /// The questions, each with its table and figure.
    #[must_use]
    pub fn claims(&self) -> Vec<Claim> {
        vec![laws::by_crps(self), laws::by_nlpd(self), costs::claim(self)]
    }

    /// Every mean of every law, as comma-separated values.
    #[must_use]
    pub fn laws_csv(&self) -> String {
        laws::csv(&self.laws)
    }

    /// Every mean of every cost, as comma-separated values.
    #[must_use]
    pub fn costs_csv(&self) -> String {
        costs::csv(&self.costs)
    }
}

/// All fits to one draw.
struct Run {
    set: SkewedSet,
    /// One for each of [`laws::KINDS`]: how it did, and its law at [`figures::PLACE`] in units of the
    /// true sigma.
    laws: Vec<(Regret, ErrorLaw)>,
    /// One for each of [`costs::cases`].
    costs: Vec<Regret>,
}

impl Run {
    /// `None` when a step said to stop.
    fn new(
        set: SkewedSet,
        seed: u64,
        run: u64,
        training: usize,
        step: &dyn Fn() -> bool,
    ) -> errbar::Result<Option<Self>> {
        let mut rng = set.stream(seed, run);
        let train = set.draw(training, &mut rng);
        let new = NewRows::new(set, set.draw_evenly(NEW, &mut rng));
        let own_seed = seed.wrapping_mul(1_000_003).wrapping_add(run);
        let names: Vec<String> = (0..set.columns()).map(|column| format!("x{column}")).collect();
        let fitted = |error: &[f64], options: fit::Options| {
            let data = Data::new(&train.x, set.columns(), error)?;
            Ok(fit(&data, &names, &options.seed(own_seed), &Silent)?.fitted)
        };
        let (mut laws, mut costs) = (Vec::new(), Vec::new());
        let place = &figures::PLACE[..set.columns()];
        for kind in laws::KINDS {
            let fitted = fitted(&train.error, laws::options(kind))?;
            let at = fitted.predict(place)?;
            let law = at.law_of(0).times(at.sigma()[0] / set.sigma(place));
            laws.push((new.regret(&fitted.predict(&new.rows.x)?)?, law));
            if !step() {
                return Ok(None);
            }
        }
        let outliers = costs::Outliers::new(training, &mut rng);
        for case in costs::cases() {
            let error = outliers.among(&train.error, case.outliers);
            let fitted = fitted(&error, case.options())?;
            costs.push(new.regret(&fitted.predict(&new.rows.x)?)?);
            if !step() {
                return Ok(None);
            }
        }
        Ok(Some(Self { set, laws, costs }))
    }
}

/// What error bars lack on new rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Regret {
    /// The mean CRPS over that of the true law, less 1.
    crps: f64,
    /// The mean negative log density less that of the true law.
    nlpd: f64,
    /// The Reliability Score.
    rs: f64,
    /// The share of rows that intervals of 90% hold.
    coverage: f64,
}

/// Rows that no fit has seen, with the mean scores of their true laws.
struct NewRows {
    rows: Errors,
    crps: f64,
    nlpd: f64,
}

impl NewRows {
    fn new(set: SkewedSet, rows: Errors) -> Self {
        let each = rows.x.chunks_exact(set.columns()).zip(&rows.error);
        let scores = each.map(|(x, error)| {
            let (truth, sigma) = (set.truth(x), set.sigma(x));
            let z = error / sigma;
            (sigma * truth.crps(z), truth.log_score(z) + sigma.ln())
        });
        let sum = scores.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let count = rows.error.len() as f64;
        Self { crps: sum.0 / count, nlpd: sum.1 / count, rows }
    }

    fn regret(&self, at: &Forecasts) -> errbar::Result<Regret> {
        let sample = Sample::new(&self.rows.error, at.sigma())?;
        let laws = at.error_laws();
        let (crps, nlpd) = judge::scores(&sample, &laws)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let equal = judge::as_gaussian(&sample, &laws)?;
        let ends = judge::intervals(&sample, &laws, 0.9)?;
        let held = self.rows.error.iter().zip(ends);
        let held = held.filter(|(error, (low, high))| (low..=high).contains(error)).count();
        Ok(Regret {
            crps: mean(&crps) / self.crps - 1.0,
            nlpd: mean(&nlpd) - self.nlpd,
            rs: reliability::reliability(&Sample::new(&equal, at.sigma())?),
            coverage: held as f64 / sample.len() as f64,
        })
    }
}

/// The mean of some values, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

#[cfg(test)]
mod tests;
