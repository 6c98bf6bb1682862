//! How a model does on rows it has not seen.

use serde::{Deserialize, Serialize};

use super::importance::Importance;
use super::{Kind, LEAST_ROWS, Options, train};
use crate::data::{Data, Split, shuffled};
use crate::diagnose::standard_error;
use crate::error::Result;
use crate::monitor::{Monitor, Part};
use crate::score::{Sample, calibration, crps, deterministic, nlpd, reliability};
use crate::sigma::Model;

/// Held-out rows and the sigmas given to them by models that never saw them.
#[derive(Debug, Clone)]
pub struct HeldOut {
    /// Which rows (of those with a weight above zero), in their order.
    pub rows: Vec<usize>,
    /// Their errors.
    pub error: Vec<f64>,
    /// Their weights.
    pub weight: Option<Vec<f64>>,
    /// Sigma of the chosen kind of model.
    pub sigma: Vec<f64>,
    /// The one constant sigma fitted to the same training rows.
    pub constant_sigma: f64,
}

/// A model that was tried, and its CRPS on the held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which.
    pub kind: Kind,
    /// Its mean CRPS.
    #[serde(with = "crate::score::json::number")]
    pub crps: f64,
    /// Its mean negative log predictive density.
    #[serde(with = "crate::score::json::number")]
    pub nlpd: f64,
}

/// What the held-out rows say, as it is kept in the saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Rows held out.
    pub rows: usize,
    /// The mean CRPS.
    #[serde(with = "crate::score::json::number")]
    pub crps: f64,
    /// That of one constant sigma fitted to the same rows as the model.
    #[serde(with = "crate::score::json::number")]
    pub constant_crps: f64,
    /// $1 - \mathrm{CRPS}/\mathrm{CRPS}\_{\text{constant}}$
    #[serde(with = "crate::score::json::number")]
    pub crps_skill: f64,
    /// The standard error of the skill, from batches of consecutive rows.
    #[serde(with = "crate::score::json::number")]
    pub skill_standard_error: f64,
    /// The mean negative log predictive density.
    #[serde(with = "crate::score::json::number")]
    pub nlpd: f64,
    /// The Reliability Score.
    #[serde(with = "crate::score::json::number")]
    pub rs: f64,
    /// The root mean square of errors over sigma.
    #[serde(with = "crate::score::json::number")]
    pub rms_z: f64,
    /// The share of observations inside the central 90% intervals.
    #[serde(with = "crate::score::json::number")]
    pub coverage_90: f64,
    /// Every model that was tried. (The best of several on the same rows looks a little better than
    /// it is.)
    pub candidates: Vec<Candidate>,
    /// What each input is worth, the most telling first.
    pub importance: Vec<Importance>,
}

/// The outcome of judging all candidates.
pub(super) struct Judged {
    /// The chosen one.
    pub(super) kind: Kind,
    /// It, fitted to the training rows.
    pub(super) model: Model,
    pub(super) held_out: HeldOut,
    candidates: Vec<Candidate>,
}

/// Fits every candidate to a part of the rows and judges it on the others; `None` when there are too
/// few rows for that.
pub(super) fn judge(
    data: &Data,
    kinds: &[Kind],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<Judged>> {
    let rows = data.rows();
    let held = (rows as f64 * options.validation).round() as usize;
    if held < 5 || rows - held < LEAST_ROWS / 2 {
        return Ok(None);
    }
    let order: Vec<usize> = match options.split {
        Split::Random => shuffled(rows, options.seed ^ 0x5eed),
        Split::InOrder => (0..rows).collect(),
    };
    let (mut training, mut held) = {
        let (training, held) = order.split_at(rows - held);
        (training.to_vec(), held.to_vec())
    };
    training.sort_unstable();
    held.sort_unstable();
    let (training, test) = (data.pick(&training), data.pick(&held));
    if training.error().iter().all(|e| *e == 0.0) {
        return Ok(None);
    }

    let (constant, _) = train(&training, Kind::Constant, None, options, monitor)?;
    let constant_sigma = constant.predict(&test.inputs()[..test.columns()])?[0];
    let constant_sigmas = vec![constant_sigma; held.len()];
    let constant_crps = crps::each(&Sample::new(test.error(), &constant_sigmas)?);
    let mut candidates = Vec::new();
    let mut best: Option<(f64, Kind, Model, Vec<f64>)> = None;
    for (i, &kind) in kinds.iter().enumerate() {
        let n = kinds.len() as f64;
        let part = Part { whole: monitor, from: i as f64 / n, to: (i + 1) as f64 / n };
        let (model, _) = train(&training, kind, None, options, &part)?;
        let sigma = model.predict(test.inputs())?;
        let sample = Sample::new(test.error(), &sigma)?.maybe_weighted(test.weight())?;
        let crps = crps::mean(&sample);
        candidates.push(Candidate { kind, crps, nlpd: nlpd::mean(&sample) });
        // Better than one constant sigma only if it is so beyond the noise.
        let noise = || {
            let gain: Vec<f64> = (crps::each(&sample).iter().zip(&constant_crps))
                .map(|(crps, constant)| constant - crps)
                .collect();
            standard_error(&gain, test.weight())
        };
        let better = match &best {
            None => true,
            Some((least, Kind::Constant, ..)) => crps < *least - noise(),
            Some((least, ..)) => crps < *least,
        };
        if better {
            best = Some((crps, kind, model, sigma));
        }
    }
    Ok(best.map(|(_, kind, model, sigma)| Judged {
        kind,
        model,
        held_out: HeldOut {
            rows: held,
            error: test.error().to_vec(),
            weight: test.weight().map(<[f64]>::to_vec),
            sigma,
            constant_sigma,
        },
        candidates,
    }))
}

impl HeldOut {
    /// The held-out rows as a sample to score.
    ///
    /// # Errors
    /// None for one that [`super::fit`] made.
    pub fn sample(&self) -> Result<Sample<'_>> {
        Sample::new(&self.error, &self.sigma)?.maybe_weighted(self.weight.as_deref())
    }
}

impl Judged {
    pub(super) fn validation(&self, importance: Vec<Importance>) -> Result<Validation> {
        let held_out = &self.held_out;
        let sample = held_out.sample()?;
        let constant = vec![held_out.constant_sigma; held_out.error.len()];
        let constant =
            Sample::new(&held_out.error, &constant)?.maybe_weighted(held_out.weight.as_deref())?;
        let (crps_mean, constant_mean) = (crps::mean(&sample), crps::mean(&constant));
        let gain: Vec<f64> = (crps::each(&constant).iter().zip(crps::each(&sample)))
            .map(|(constant, crps)| constant - crps)
            .collect();
        let noise = standard_error(&gain, held_out.weight.as_deref());
        let relative = |x: f64| if constant_mean > 0.0 { x / constant_mean } else { 0.0 };
        let coverage = calibration::coverage(&sample, &[0.9], 0.95)?;
        Ok(Validation {
            rows: held_out.rows.len(),
            crps: crps_mean,
            constant_crps: constant_mean,
            crps_skill: relative(constant_mean - crps_mean),
            skill_standard_error: relative(noise),
            nlpd: nlpd::mean(&sample),
            rs: reliability::reliability(&sample),
            rms_z: deterministic::root_mean_square_z(&sample),
            coverage_90: coverage.first().map_or(0.0, |c| c.observed),
            candidates: self.candidates.clone(),
            importance,
        })
    }
}
