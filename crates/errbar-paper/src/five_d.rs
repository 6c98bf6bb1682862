//! The five-dimensional test: 10,000 training points, and sigma known everywhere.

use errbar::fit::{self, Kind};
use errbar::loss::LossKind;
use errbar::score::{Sample, crps, nlpd, reliability};
use errbar::sigma::constant;
use errbar::sigma::network::{self, Network};
use errbar::{Data, Silent};
use rayon::prelude::*;

use crate::data_set::DataSet;

/// A model of sigma for five inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FiveDMethod {
    /// One sigma for all.
    Constant,
    /// The paper's network with its regularisation of 20%, which leaves a constant here.
    PaperNetwork,
    /// The paper's network with a regularisation of 0.2%.
    PaperNetworkLight,
    /// errbar's general network.
    GeneralNetwork,
    /// The same in local units, as `errbar fit --model network` trains it.
    LocalNetwork,
    /// The same by likelihood.
    LikelihoodNetwork,
    /// More networks, of a size chosen on held-out rows, in local units.
    Ensemble,
    /// What `errbar fit` does unless told otherwise.
    Auto,
}

impl FiveDMethod {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 8] = [
        Self::Constant,
        Self::PaperNetwork,
        Self::PaperNetworkLight,
        Self::GeneralNetwork,
        Self::LocalNetwork,
        Self::LikelihoodNetwork,
        Self::Ensemble,
        Self::Auto,
    ];

    /// The name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "one constant sigma",
            Self::PaperNetwork => "AR-NN",
            Self::PaperNetworkLight => "AR-NN with a penalty of 0.2%",
            Self::GeneralNetwork => "network, general",
            Self::LocalNetwork => "network, local units",
            Self::LikelihoodNetwork => "network, by likelihood",
            Self::Ensemble => "ensemble, local units",
            Self::Auto => "auto",
        }
    }
}

/// How one method did in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiveDOutcome {
    /// The method.
    pub method: FiveDMethod,
    /// The number of the run.
    pub run: u64,
    /// The mean negative log predictive density on the test points.
    pub nlpd: f64,
    /// The same with the true sigma.
    pub oracle: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The Reliability Score.
    pub rs: f64,
    /// The root mean square of estimated minus true sigma.
    pub sigma_rmse: f64,
    /// The correlation of estimated and true sigma; 0 for a constant.
    pub correlation: f64,
}

const TRAINING: usize = 10_000;
const TEST: usize = 10_000;

/// Runs every method, in parallel over runs. `done` is told after each fit and says whether to stop,
/// in which case there is no result.
pub fn run_five_d(
    runs: u64,
    seed: u64,
    done: impl Fn() -> bool + Sync,
) -> errbar::Result<Option<Vec<FiveDOutcome>>> {
    let jobs: Vec<(u64, FiveDMethod)> =
        (0..runs).flat_map(|run| FiveDMethod::ALL.map(|method| (run, method))).collect();
    jobs.into_par_iter()
        .map(|(run, method)| {
            let result = one(run, seed, method)?;
            Ok((!done()).then_some(result))
        })
        .collect()
}

/// The general network of run 0, for the density of predicted against true sigma.
pub fn general_network(seed: u64) -> errbar::Result<Network> {
    let set = DataSet::FiveD;
    let train = set.draw(TRAINING, &mut set.stream(seed, 0));
    network::fit(&train.x, 5, &train.y, &network::Options { seed, ..network::Options::general() })
}

fn one(run: u64, seed: u64, method: FiveDMethod) -> errbar::Result<FiveDOutcome> {
    let set = DataSet::FiveD;
    let mut rng = set.stream(seed, run);
    let train = set.draw(TRAINING, &mut rng);
    let test = set.draw(TEST, &mut rng);
    // The true mean is zero, so observations are errors.
    let seed = seed.wrapping_add(run);
    let by_network = |options: network::Options| -> errbar::Result<Vec<f64>> {
        network::fit(&train.x, 5, &train.y, &network::Options { seed, ..options })?.predict(&test.x)
    };
    let by_fit = |kind: Kind, loss: LossKind| -> errbar::Result<Vec<f64>> {
        let mut options = fit::Options::default().kind(kind).loss(loss).seed(seed);
        // Rows are held out only where there is something to choose.
        if kind != Kind::Auto {
            options.validation = 0.0;
        }
        let names: Vec<String> = (1..=5).map(|i| format!("x{i}")).collect();
        let data = Data::new(&train.x, 5, &train.y)?;
        Ok(fit::fit(&data, &names, &options, &Silent)?.fitted.predict(&test.x)?.into_sigma())
    };
    let light = network::Options { regularisation: vec![0.002], ..network::Options::paper() };
    let sigma = match method {
        FiveDMethod::Constant => {
            vec![constant::fit(5, &train.y, None, LossKind::default())?.sigma; TEST]
        }
        FiveDMethod::PaperNetwork => by_network(network::Options::paper())?,
        FiveDMethod::PaperNetworkLight => by_network(light)?,
        FiveDMethod::GeneralNetwork => by_network(network::Options::general())?,
        FiveDMethod::LocalNetwork => by_fit(Kind::Network, LossKind::default())?,
        FiveDMethod::LikelihoodNetwork => by_fit(Kind::Network, LossKind::Nlpd)?,
        FiveDMethod::Ensemble => by_fit(Kind::Ensemble, LossKind::default())?,
        FiveDMethod::Auto => by_fit(Kind::Auto, LossKind::default())?,
    };
    let truth: Vec<f64> = test.x.chunks_exact(5).map(|x| set.sigma(x)).collect();
    let sample = Sample::new(&test.y, &sigma)?;
    let squares = sigma.iter().zip(&truth).map(|(s, t)| (s - t).powi(2));
    Ok(FiveDOutcome {
        method,
        run,
        nlpd: nlpd::mean(&sample),
        oracle: nlpd::mean(&Sample::new(&test.y, &truth)?),
        crps: crps::mean(&sample),
        rs: reliability::reliability(&sample),
        sigma_rmse: (squares.sum::<f64>() / TEST as f64).sqrt(),
        correlation: correlation(&sigma, &truth),
    })
}

/// Pearson's correlation; 0 where one side does not vary.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        ab += (a - ma) * (b - mb);
        aa += (a - ma).powi(2);
        bb += (b - mb).powi(2);
    }
    if aa > 1e-20 * ma * ma * a.len() as f64 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}
