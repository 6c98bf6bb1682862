//! How much of the CRPS is lost to miscalibration?

use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

use super::accuracy_reliability::{AccuracyReliability, Split};
use super::block::Sum;
use super::crps;
use super::deterministic::mean_sigma;
use super::ranking::Ranking;
use super::reliability::rs_expected;
use super::sample::Sample;

/// Hersbach's (2000) decomposition of the mean CRPS, for continuous Gaussian forecasts:
/// CRPS = `reliability` + `potential`, and `potential` = `uncertainty` - `resolution`.
///
/// With $p = F\_i(y)$ as the variable of integration,
///
/// $$\overline{\mathrm{CRPS}} = \bar\sigma\int\_0^1\Big[(p - o(p))^2 + o(p) (1 - o(p))\Big] q^\prime(p) dp,
/// \qquad o(p) = \frac{\sum\_i w\_i\sigma\_i [u\_i \le p]}{\sum\_i w\_i\sigma\_i},$$
///
/// where $q$ is the standard normal quantile and $u\_i$ the probability integral transform. The first
/// part is $\sqrt2 \bar\sigma \mathrm{RS}\_\sigma$, the paper's reliability score with weights
/// proportional to sigma: RS is Hersbach's reliability, counted in each forecast's own units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The mean CRPS.
    pub crps: f64,
    /// What is lost to miscalibration: 0 is best.
    pub reliability: f64,
    /// The part of `reliability` that a calibrated forecast would have by chance, on average.
    pub reliability_by_chance: f64,
    /// The CRPS that is left when miscalibration is taken away.
    pub potential: f64,
    /// The CRPS of always forecasting the distribution that the errors have over the whole sample.
    pub uncertainty: f64,
    /// What knowing which sigma goes with which row gains over that: more is better.
    pub resolution: f64,
}

/// The decomposition of a sample's mean CRPS.
#[must_use]
pub fn decompose(sample: &Sample) -> Decomposition {
    Parts::of(sample).decompose(sample, crps::mean(sample))
}

/// What takes time in a decomposition: two orders of the rows.
pub(crate) struct Parts {
    rs: f64,
    rows: f64,
    uncertainty: f64,
}

impl Parts {
    pub(crate) fn of(sample: &Sample) -> Self {
        let weight = weight_by_sigma(sample);
        // A row that counts has a sigma above zero, so these weights cannot be refused.
        let (rs, rows) = match sample.clone().weighted(&weight) {
            Ok(by_sigma) => {
                let mut cost =
                    AccuracyReliability::with(by_sigma.errors().borrow(), Split::new(0.0));
                (cost.evaluate(by_sigma.sigma(), None).rs, by_sigma.effective_rows())
            }
            Err(_) => (0.0, 1.0),
        };
        Self { rs, rows, uncertainty: half_mean_difference(sample.error(), sample.weight()) }
    }

    /// The decomposition of a mean CRPS that is known.
    pub(crate) fn decompose(self, sample: &Sample, crps: f64) -> Decomposition {
        let Self { rs, rows, uncertainty } = self;
        let unit = SQRT_2 * mean_sigma(sample);
        // Never more than the whole: in the limit of sigmas far too small, all of it is lost.
        let reliability = (unit * rs).min(crps);
        let reliability = if reliability.is_nan() { crps } else { reliability };
        let potential = crps - reliability;
        Decomposition {
            crps,
            reliability,
            reliability_by_chance: unit * rs_expected(rows),
            potential,
            uncertainty,
            resolution: uncertainty - potential,
        }
    }
}

/// Sigma times weight, relative to the largest sigma that counts so that nothing overflows.
fn weight_by_sigma(sample: &Sample) -> Vec<f64> {
    let sigma = sample.sigma();
    match sample.weight() {
        None => {
            let largest = sigma.iter().copied().fold(0.0, f64::max);
            sigma.iter().map(|s| s / largest).collect()
        }
        Some(weight) => {
            let counted = sigma.iter().zip(weight).filter(|(_, w)| **w > 0.0);
            let largest = counted.map(|(s, _)| *s).fold(0.0, f64::max);
            sigma.iter().zip(weight).map(|(s, w)| (s / largest).min(1.0) * w).collect()
        }
    }
}

/// $\tfrac12 E|\varepsilon - \varepsilon^\prime|$ over the sample: the CRPS of the errors' own distribution.
fn half_mean_difference(error: &[f64], weight: Option<&[f64]>) -> f64 {
    let mut ranking = Ranking::default();
    let mut sum = Sum::default();
    let mut total = Sum::default();
    match weight {
        None => {
            ranking.sort(error);
            let n = error.len() as f64;
            for run in ranking.runs(error) {
                let side = (run.from + run.to) as f64 / n - 1.0;
                sum.add(run.value / n * side * (run.to - run.from) as f64);
            }
            total.add(1.0);
        }
        Some(weight) => {
            let mut near = vec![0.0; error.len()];
            ranking.weighted_mid_ranks(error, weight, &mut near);
            for ((error, near), &w) in error.iter().zip(near).zip(weight) {
                let side = if near > 0.0 { near - 1.0 } else { near + 1.0 };
                sum.add(error * side * w);
                total.add(w);
            }
        }
    }
    (sum.value() / total.value()).max(0.0)
}
