//! One run of the paper's protocol: 100 training points, 900 test points, every method on both.

use errbar::mean::gaussian_process::{self, GaussianProcess};
use errbar::score::{Sample, crps, nlpd, reliability};
use errbar::sigma::{network, polynomial};
use rayon::prelude::*;

use crate::data_set::{DataSet, Draw, PaperRow};

/// A method of Table 1, or one beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A standard Gaussian process with its own predictive standard deviation.
    Gp,
    /// The same with the predictive *variance* in the place of the standard deviation: a slip that
    /// reproduces the paper's column.
    GpVariance,
    /// The paper's network, on the Gaussian process's in-sample errors.
    ArNetwork,
    /// The paper's polynomial, on the same errors.
    ArPolynomial,
    /// errbar's general network, on leave-one-out errors.
    GeneralNetwork,
    /// errbar's general polynomial, on leave-one-out errors.
    GeneralPolynomial,
}

impl Method {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Gp,
        Self::GpVariance,
        Self::ArNetwork,
        Self::ArPolynomial,
        Self::GeneralNetwork,
        Self::GeneralPolynomial,
    ];

    /// The name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gp => "GP",
            Self::GpVariance => "GP, variance as deviation",
            Self::ArNetwork => "AR-NN",
            Self::ArPolynomial => "AR-Poly",
            Self::GeneralNetwork => "network, general",
            Self::GeneralPolynomial => "polynomial, general",
        }
    }

    /// What the paper's Table 1 prints, where it has the method.
    #[must_use]
    pub fn paper(self, set: DataSet) -> Option<PaperRow> {
        match (self, set) {
            (Self::Gp, DataSet::G) => Some([1.22, 1.28, 1.37]),
            (Self::Gp, DataSet::Y) => Some([1.23, 1.56, 2.16]),
            (Self::Gp, DataSet::W) => Some([1.15, 1.68, 3.18]),
            (Self::ArNetwork, DataSet::G) => Some([1.21, 1.26, 1.33]),
            (Self::ArNetwork, DataSet::Y) => Some([0.49, 0.57, 0.65]),
            (Self::ArNetwork, DataSet::W) => Some([-0.15, -0.03, 0.09]),
            (Self::ArPolynomial, DataSet::G) => Some([1.15, 1.17, 1.21]),
            (Self::ArPolynomial, DataSet::Y) => Some([0.40, 0.44, 0.51]),
            (Self::ArPolynomial, DataSet::W) => Some([0.06, 0.17, 0.37]),
            _ => None,
        }
    }
}

/// How one method did in one run, on the test points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The method.
    pub method: Method,
    /// The mean negative log predictive density.
    pub nlpd: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The Reliability Score.
    pub rs: f64,
    /// The root mean square of estimated minus true sigma.
    pub sigma_rmse: f64,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The data set.
    pub set: DataSet,
    /// The number of the run.
    pub run: u64,
    /// The NLPD of the true mean and sigma on the same test points.
    pub oracle: f64,
    /// One for each method.
    pub outcomes: Vec<Outcome>,
    /// Sigma estimated by each method on a grid over the range of the inputs.
    pub sigma_on_grid: Vec<(Method, Vec<f64>)>,
}

/// Points of the grid that sigma is estimated on.
pub const GRID: usize = 101;

/// Training and test points of a run.
pub(crate) const TRAINING: usize = 100;
pub(crate) const TEST: usize = 900;

/// Runs every method on every data set, in parallel. `done` is told after each run and says whether
/// to stop, in which case there is no result.
pub fn run_all(
    sets: &[DataSet],
    runs: u64,
    seed: u64,
    methods: &[Method],
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Vec<Run>>> {
    let jobs: Vec<(DataSet, u64)> =
        sets.iter().flat_map(|&set| (0..runs).map(move |run| (set, run))).collect();
    jobs.into_par_iter()
        .map(|(set, run)| {
            let result = one(set, run, seed, methods)?;
            Ok((!done()).then_some(result))
        })
        .collect()
}

/// The grid over the range of a one-dimensional data set.
#[must_use]
pub fn grid(set: DataSet) -> Vec<f64> {
    (0..GRID).map(|i| set.range() * i as f64 / (GRID - 1) as f64).collect()
}

/// One run of a one-dimensional data set.
fn one(set: DataSet, run: u64, seed: u64, methods: &[Method]) -> errbar::Result<Run> {
    let mut rng = set.stream(seed, run);
    let train = set.draw(TRAINING, &mut rng);
    let test = set.draw(TEST, &mut rng);
    let gp = GaussianProcess::fit(&train.x, 1, &train.y, &gaussian_process::Options::default())?;
    let in_sample = difference(&train.y, &gp.predict(&train.x)?.mean);
    let left_out = gp.leave_one_out().error;
    let at_test = gp.predict(&test.x)?;
    let test_error = difference(&test.y, &at_test.mean);
    let grid = grid(set);

    let mut outcomes = Vec::new();
    let mut sigma_on_grid = Vec::new();
    for &method in methods {
        let (sigma, on_grid) = match method {
            Method::Gp | Method::GpVariance => {
                let root = |variance: &f64| match method {
                    Method::Gp => variance.sqrt(),
                    _ => *variance,
                };
                let of = |p: gaussian_process::Prediction| -> Vec<f64> {
                    p.predictive_variance.iter().map(root).collect()
                };
                (of(at_test.clone()), of(gp.predict(&grid)?))
            }
            Method::ArPolynomial | Method::GeneralPolynomial => {
                let (error, options) = match method {
                    Method::ArPolynomial => (&in_sample, polynomial::Options::paper()),
                    _ => (&left_out, polynomial::Options::general()),
                };
                let model = polynomial::fit(&train.x, 1, error, &options)?;
                (model.predict(&test.x)?, model.predict(&grid)?)
            }
            Method::ArNetwork | Method::GeneralNetwork => {
                let (error, mut options) = match method {
                    Method::ArNetwork => (&in_sample, network::Options::paper()),
                    _ => (&left_out, network::Options::general()),
                };
                options.seed = seed.wrapping_mul(1_000_003).wrapping_add(run);
                let model = network::fit(&train.x, 1, error, &options)?;
                (model.predict(&test.x)?, model.predict(&grid)?)
            }
        };
        outcomes.push(judge(set, method, &test, &test_error, &sigma)?);
        sigma_on_grid.push((method, on_grid));
    }
    let truth: Vec<f64> = test.x.iter().map(|&x| set.sigma(&[x])).collect();
    let means: Vec<f64> = test.x.iter().map(|&x| set.mean(&[x])).collect();
    let oracle = nlpd::mean(&Sample::new(&difference(&test.y, &means), &truth)?);
    Ok(Run { set, run, oracle, outcomes, sigma_on_grid })
}

fn judge(
    set: DataSet,
    method: Method,
    test: &Draw,
    error: &[f64],
    sigma: &[f64],
) -> errbar::Result<Outcome> {
    let sample = Sample::new(error, sigma)?;
    let squares =
        test.x.chunks_exact(set.columns()).zip(sigma).map(|(x, s)| (s - set.sigma(x)).powi(2));
    let sigma_rmse = (squares.sum::<f64>() / sigma.len() as f64).sqrt();
    Ok(Outcome {
        method,
        nlpd: nlpd::mean(&sample),
        crps: crps::mean(&sample),
        rs: reliability::reliability(&sample),
        sigma_rmse,
    })
}

pub(crate) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
