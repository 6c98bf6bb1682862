//! What goes beyond the paper, in the paper's own protocol: how far each method is from the truth.

use std::time::Instant;

use errbar::fit::{self, Kind, fit};
use errbar::loss::LossKind;
use errbar::mean::{gaussian_process, heteroscedastic};
use errbar::score::{Sample, nlpd};
use errbar::sigma::Model;
use errbar::{Data, Silent};
use rand::RngExt;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::data_set::{DataSet, Draw};
use crate::protocol::{TEST, TRAINING, difference};
use crate::table::quantile;

/// A model of sigma, what it is trained by, and whose errors it sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeyondMethod {
    /// The model.
    pub kind: Kind,
    /// By likelihood instead of by the Accuracy-Reliability cost.
    pub likelihood: bool,
    /// Whether rows count in local units.
    pub local_units: bool,
    /// Whether the mean is given; otherwise it is learned from the same 100 points, in turn with
    /// sigma.
    pub true_mean: bool,
}

impl BeyondMethod {
    /// All of them, in the order of the table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let of = |true_mean, kind, local_units| {
            [false, true].map(|likelihood| Self { kind, likelihood, local_units, true_mean })
        };
        let given = [Kind::Smooth, Kind::Polynomial, Kind::Network].map(|kind| {
            let [ar, likelihood] = of(true, kind, true);
            [ar, Self { local_units: false, ..ar }, likelihood]
        });
        let rest = [Kind::Trees, Kind::Auto].map(|kind| of(true, kind, true)[0]);
        let given = given.into_iter().flatten().chain(rest);
        of(false, Kind::Smooth, true).into_iter().chain(given).collect()
    }

    /// Whose mean it is.
    #[must_use]
    pub fn mean(&self) -> &'static str {
        if self.true_mean { "given" } else { "learned in turn" }
    }

    /// What it is trained by.
    #[must_use]
    pub fn cost(&self) -> &'static str {
        match (self.likelihood, self.local_units) {
            (true, _) => "likelihood",
            (false, true) => "AR, local units",
            (false, false) => "AR",
        }
    }

    fn options(&self, seed: u64) -> fit::Options {
        fit::Options::default()
            .kind(self.kind)
            .loss(if self.likelihood { LossKind::Nlpd } else { LossKind::default() })
            .local_units(self.local_units)
            // Rows are held out only where there is something to choose.
            .validation(match self.kind {
                Kind::Auto => fit::Options::default().validation,
                _ => 0.0,
            })
            .seed(seed)
    }
}

/// One method in one run.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Its NLPD minus that of the true mean and sigma on the same test points.
    regret: f64,
    /// The share of test points where the 90% band on sigma holds the true one, if it has a band.
    band: Option<f64>,
    seconds: f64,
}

/// One method on one data set, over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeyondRow {
    /// The data set.
    pub set: DataSet,
    /// The method.
    pub method: BeyondMethod,
    /// The number of runs.
    pub runs: usize,
    /// The median of the regret.
    pub regret: f64,
    /// Its 95% interval by bootstrap over runs.
    pub interval: (f64, f64),
    /// The mean coverage of the true sigma by a band of 90%, where there is one.
    pub band: Option<f64>,
    /// The median time of a fit.
    pub seconds: f64,
}

/// Runs every method with every seed on every data set, in parallel. `done` is told after each run
/// and says whether to stop, in which case there is no result.
///
/// # Errors
/// What fitting refuses.
pub fn run_beyond(
    sets: &[DataSet],
    runs: u64,
    seeds: &[u64],
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Vec<BeyondRow>>> {
    let methods = BeyondMethod::all();
    let mut rows = Vec::new();
    for &set in sets {
        let jobs: Vec<(u64, u64)> =
            seeds.iter().flat_map(|&seed| (0..runs).map(move |run| (seed, run))).collect();
        let outcomes: Option<Vec<Vec<Outcome>>> = jobs
            .into_par_iter()
            .map(|(seed, run)| {
                let outcomes = one(set, seed, run, &methods)?;
                Ok((!done()).then_some(outcomes))
            })
            .collect::<errbar::Result<_>>()?;
        let Some(outcomes) = outcomes else { return Ok(None) };
        for (i, &method) in methods.iter().enumerate() {
            let of: Vec<Outcome> = outcomes.iter().map(|outcomes| outcomes[i]).collect();
            rows.push(BeyondRow::new(set, method, &of));
        }
    }
    Ok(Some(rows))
}

impl BeyondRow {
    fn new(set: DataSet, method: BeyondMethod, outcomes: &[Outcome]) -> Self {
        let median = |values: Vec<f64>| quantile(values, 0.5);
        let regrets: Vec<f64> = outcomes.iter().map(|o| o.regret).collect();
        let bands: Option<Vec<f64>> = outcomes.iter().map(|o| o.band).collect();
        Self {
            set,
            method,
            runs: outcomes.len(),
            regret: median(regrets.clone()),
            interval: interval_of_median(&regrets),
            band: bands.map(|bands| bands.iter().sum::<f64>() / bands.len() as f64),
            seconds: median(outcomes.iter().map(|o| o.seconds).collect()),
        }
    }
}

/// The 95% interval of a median, by bootstrap over the values.
fn interval_of_median(values: &[f64]) -> (f64, f64) {
    const REPLICATES: usize = 2000;
    let mut random = Pcg64::new(1, 1);
    let medians: Vec<f64> = (0..REPLICATES)
        .map(|_| {
            let drawn = values.iter().map(|_| values[random.random_range(0..values.len())]);
            quantile(drawn.collect(), 0.5)
        })
        .collect();
    (quantile(medians.clone(), 0.025), quantile(medians, 0.975))
}

fn one(
    set: DataSet,
    seed: u64,
    run: u64,
    methods: &[BeyondMethod],
) -> errbar::Result<Vec<Outcome>> {
    let mut rng = set.stream(seed, run);
    let train = set.draw(TRAINING, &mut rng);
    let test = set.draw(TEST, &mut rng);
    let mean = |draw: &Draw| draw.x.iter().map(|&x| set.mean(&[x])).collect::<Vec<f64>>();
    let (given, true_error) = (mean(&train), difference(&test.y, &mean(&test)));
    let truth: Vec<f64> = test.x.iter().map(|&x| set.sigma(&[x])).collect();
    let oracle = nlpd::mean(&Sample::new(&true_error, &truth)?);
    let own_seed = seed.wrapping_mul(1_000_003).wrapping_add(run);
    let one = |method: &BeyondMethod| -> errbar::Result<Outcome> {
        let options = method.options(own_seed);
        let names = [String::from("x")];
        let start = Instant::now();
        let process = match method.true_mean {
            true => None,
            false => {
                let own = gaussian_process::Options::default();
                Some(heteroscedastic::fit(&train.x, 1, &train.y, options.loss, &own, &Silent)?)
            }
        };
        let error = match &process {
            None => difference(&train.y, &given),
            Some(process) => {
                let left = process.leave_one_out(&train.x, &train.y)?;
                left.map(|left| left.error).unwrap_or_default()
            }
        };
        let mut fitted = fit(&Data::new(&train.x, 1, &error)?, &names, &options, &Silent)?.fitted;
        if let Some(process) = process {
            fitted = fitted.with_mean(process);
        }
        let seconds = start.elapsed().as_secs_f64();
        let at = fitted.predict(&test.x)?;
        let error = match at.forecast() {
            None => true_error.clone(),
            Some(forecast) => difference(&test.y, forecast),
        };
        let band = match (fitted.model(), method.true_mean) {
            (Model::Smooth(smooth), true) => {
                let (low, high) = smooth.band(&test.x, 0.9)?;
                let held = (0..TEST).filter(|&i| low[i] <= truth[i] && truth[i] <= high[i]);
                Some(held.count() as f64 / TEST as f64)
            }
            _ => None,
        };
        let regret = nlpd::mean(&Sample::new(&error, at.sigma())?) - oracle;
        Ok(Outcome { regret, band, seconds })
    };
    methods.iter().map(one).collect()
}
