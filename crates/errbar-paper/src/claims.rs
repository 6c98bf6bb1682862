//! What the paper claims about its cost, as experiments: a small table and a figure each.
//!
//! All of them use one model, the logarithm of sigma as a polynomial of fixed order, on the errors of
//! a known mean, so that nothing but the cost differs. (On W this polynomial is too stiff for the true
//! sigma: the case of a model that cannot be right.)

mod costs;
mod trade_off;
mod wrong_mean;

use std::sync::atomic::{AtomicBool, Ordering};

use errbar::loss::LossKind;
use errbar::score::{Sample, crps, nlpd, reliability};
use errbar::sigma::polynomial::{self, Link, Order, Polynomial};
use errbar_report::Figure;
use rayon::prelude::*;

use crate::data_set::DataSet;
use crate::table::quantile;

/// A question put to an experiment, most often about something the paper claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The stem of its file: `claim-1-trade-off`.
    pub name: &'static str,
    /// The question.
    pub title: String,
    /// What the numbers say: paragraphs of Markdown.
    pub text: String,
    /// Headings and rows.
    pub table: Option<(Vec<String>, Vec<Vec<String>>)>,
    /// A figure.
    pub figure: Option<Figure>,
}

/// The order of the polynomial.
const ORDER: usize = 6;
/// Training and test points, as in the protocol.
const TRAINING: usize = 100;
const TEST: usize = 900;
/// How many claims there are.
const CLAIMS: u64 = 3;

/// How often [`claims`] tells `done` that it made a step.
#[must_use]
pub fn claim_steps(runs: u64) -> u64 {
    CLAIMS * DataSet::ONE_DIMENSIONAL.len() as u64 * runs
}

/// The paper's claims, each from so many runs on G, Y and W, in parallel. `done` is told after each
/// step and says whether to stop, in which case there is no result.
///
/// # Errors
/// What fitting refuses.
pub fn claims(
    runs: u64,
    seed: u64,
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Vec<Claim>>> {
    let stop = AtomicBool::new(false);
    let context = Context { runs, seed, done: &done, stop: &stop };
    let mut out = Vec::new();
    for claim in [trade_off::claim, costs::claim, wrong_mean::claim] {
        match claim(&context)? {
            Some(claim) => out.push(claim),
            None => return Ok(None),
        }
    }
    Ok(Some(out))
}

/// What an experiment needs to know.
struct Context<'a> {
    runs: u64,
    seed: u64,
    done: &'a (dyn Fn() -> bool + Sync),
    stop: &'a AtomicBool,
}

impl Context<'_> {
    /// Something for every run of a data set, in the order of runs.
    fn over_runs<T: Send>(
        &self,
        one: impl Fn(u64) -> errbar::Result<T> + Sync,
    ) -> errbar::Result<Option<Vec<T>>> {
        (0..self.runs)
            .into_par_iter()
            .map(|run| {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let result = one(run)?;
                let stop = (self.done)();
                self.stop.fetch_or(stop, Ordering::Relaxed);
                Ok((!stop).then_some(result))
            })
            .collect()
    }
}

/// Training and test rows of a run, with their errors.
struct TrainAndTest {
    x: Vec<f64>,
    error: Vec<f64>,
    test_x: Vec<f64>,
    test_error: Vec<f64>,
    /// The true sigma of the test rows.
    test_truth: Vec<f64>,
}

impl TrainAndTest {
    /// The errors of a forecast that is the true mean plus `offset` of x.
    fn new(
        set: DataSet,
        training: usize,
        mut rng: rand_pcg::Pcg64,
        offset: impl Fn(f64) -> f64,
    ) -> Self {
        let errors = |draw: &crate::Draw| -> Vec<f64> {
            draw.x.iter().zip(&draw.y).map(|(&x, y)| y - set.mean(&[x]) - offset(x)).collect()
        };
        let (train, test) = (set.draw(training, &mut rng), set.draw(TEST, &mut rng));
        let (error, test_error) = (errors(&train), errors(&test));
        let test_truth = test.x.iter().map(|&x| set.sigma(&[x])).collect();
        Self { x: train.x, error, test_x: test.x, test_error, test_truth }
    }

    fn fit(&self, loss: LossKind) -> errbar::Result<Polynomial> {
        fit(&self.x, &self.error, loss)
    }

    /// The scores of a model's sigma at the test points.
    fn on_test(&self, model: &Polynomial) -> errbar::Result<Scores> {
        Scores::of(&self.test_error, &model.predict(&self.test_x)?)
    }

    /// The scores of the true sigma at the test points.
    fn oracle(&self) -> errbar::Result<Scores> {
        Scores::of(&self.test_error, &self.test_truth)
    }
}

/// The model of all claims.
fn fit(x: &[f64], error: &[f64], loss: LossKind) -> errbar::Result<Polynomial> {
    let options = polynomial::Options {
        link: Link::LogSigma,
        largest_order: ORDER,
        order: Order::Fixed,
        loss,
        ..polynomial::Options::general()
    };
    polynomial::fit(x, 1, error, &options)
}

/// How good a sigma is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scores {
    nlpd: f64,
    crps: f64,
    rs: f64,
}

impl Scores {
    fn of(error: &[f64], sigma: &[f64]) -> errbar::Result<Self> {
        // A cost that does not mind lets a sigma run away to zero or infinity.
        let sigma: Vec<f64> = sigma.iter().map(|s| s.clamp(f64::MIN_POSITIVE, f64::MAX)).collect();
        let sample = Sample::new(error, &sigma)?;
        let (nlpd, crps) = (nlpd::mean(&sample), crps::mean(&sample));
        Ok(Self { nlpd, crps, rs: reliability::reliability(&sample) })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    quantile(values.collect(), 0.5)
}

/// The mean of the middle half of the values: a few runs gone wild do not change it.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let quarter = values.len() / 4;
    mean(values[quarter..values.len() - quarter].iter().copied())
}

/// A number with so many decimals, or as a power of ten where it is beyond all measure.
fn number(value: f64, decimals: usize) -> String {
    if value.abs() < 1e4 || !value.is_finite() {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.0e}")
    }
}

pub(crate) fn strings<const N: usize>(values: [&str; N]) -> Vec<String> {
    values.map(str::to_string).to_vec()
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed(words: impl IntoIterator<Item = String>) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} and {last}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests;
