//! A model that is held by its [support](super::support).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Model;
use super::stack::{Member, mean};
use super::support::Support;
use crate::data::Data;
use crate::error::Result;

/// A model that knows where it was trained, and by how large errors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Supported {
    #[serde(flatten)]
    model: Model,
    /// Absent in files of older versions, and where sigma does not depend on inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    backing: Option<Backing>,
}

/// What holds a model's sigma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backing {
    support: Support,
    /// For each model of a stack, or the only one, its log sigma at every landmark.
    logs: Vec<Vec<f64>>,
    /// The least and the most that sigma may be.
    limits: (f64, f64),
}

/// Sigma of some rows, and how well each is supported.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeldSigma {
    pub(crate) sigma: Vec<f64>,
    /// From 0 to 1; `None` where the model does not know.
    pub(crate) support: Option<Vec<f64>>,
    /// For rows of little support the input that takes them from the training rows.
    pub(crate) input: Vec<Option<usize>>,
}

/// Rows that one thread looks up at a time.
const ROWS_AT_ONCE: usize = 1024;

/// A row of less support than this lies outside: more than twice as far from the training rows as
/// nearly all of them are from each other.
pub const OUTSIDE: f64 = 0.5;

impl From<Model> for Supported {
    /// A model whose training rows nobody knows.
    fn from(model: Model) -> Self {
        Self { model, backing: None }
    }
}

impl Supported {
    /// One that was read.
    pub(super) fn held_by(model: Model, backing: Option<Backing>) -> Self {
        Self { model, backing }
    }
}

/// What models of the same rows have in common.
pub(crate) struct Ground {
    support: Support,
    landmarks: Data<'static>,
    limits: (f64, f64),
}

impl Ground {
    /// Of data.
    pub(crate) fn of(data: &Data, seed: u64) -> Self {
        let (support, landmarks) = Support::of(data, seed);
        Self { support, landmarks: data.pick(&landmarks), limits: limits(data.error()) }
    }
}

/// The least and the most that sigma may be after such errors: nothing is known beyond the largest.
/// An error of zero has been rounded, by up to half of the least that is not zero: the standard
/// deviation of that is the least that can be told.
fn limits(error: &[f64]) -> (f64, f64) {
    let largest = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    let most = if largest > 0.0 { largest } else { f64::MAX };
    (least_told(error).clamp(f64::MIN_POSITIVE, most), most)
}

/// The size of error below which it can as well be zero: see [`limits`].
pub(crate) fn least_told(error: &[f64]) -> f64 {
    let mean = error.iter().map(|e| e.abs() / error.len() as f64).sum::<f64>();
    // What rounding in the last digits leaves is no error.
    let told = error.iter().map(|e| e.abs()).filter(|e| *e > NOTHING * mean);
    let least = told.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least / 12f64.sqrt() } else { 0.0 }
}

/// The share of the mean size of errors that rounding in the last digits of observations may be.
const NOTHING: f64 = 1e-9;

impl Supported {
    /// A model trained on some ground.
    pub(crate) fn new(model: Model, ground: &Ground) -> Result<Self> {
        if matches!(model, Model::Constant(_)) {
            return Ok(Self { model, backing: None });
        }
        let limits = ground.limits;
        let log = |model: &Model| -> Result<Vec<f64>> {
            let sigma = model.predict(ground.landmarks.inputs())?;
            Ok(sigma.into_iter().map(|s| held(s, limits).ln()).collect())
        };
        let logs = members(&model).map(log).collect::<Result<_>>()?;
        let backing = Backing { support: ground.support.clone(), logs, limits };
        Ok(Self { model, backing: Some(backing) })
    }

    /// The model itself, which knows nothing of support.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether trees of many rows refine it, which earlier versions do not know.
    pub(crate) fn is_refined(&self) -> bool {
        matches!(&self.model, Model::Stack(stack) if stack.refinement().is_some())
    }

    /// Whether it has symmetric trees, which earlier versions cannot read.
    pub(crate) fn has_symmetric_trees(&self) -> bool {
        members(&self.model)
            .any(|model| matches!(model, Model::Trees(trees) if trees.has_symmetric()))
    }

    /// The model itself, alone.
    pub(crate) fn into_model(self) -> Model {
        self.model
    }

    /// What holds its sigma, where it is known.
    #[must_use]
    pub fn backing(&self) -> Option<&Backing> {
        self.backing.as_ref()
    }

    /// The least and the most that sigma may be.
    #[must_use]
    pub fn limits(&self) -> (f64, f64) {
        self.backing.as_ref().map_or((f64::MIN_POSITIVE, f64::MAX), |backing| backing.limits)
    }

    /// Sigma for each row of row-major inputs.
    ///
    /// # Errors
    /// Another number of columns than the model was fitted to, or a value that is not finite (or
    /// missing).
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        Ok(self.give(inputs)?.sigma)
    }

    /// [`Supported::predict`], and how well each row is supported.
    pub(crate) fn give(&self, inputs: &[f64]) -> Result<HeldSigma> {
        let Some(Backing { support, logs, limits }) = &self.backing else {
            let sigma = self.model.predict(inputs)?;
            return Ok(HeldSigma { input: vec![None; sigma.len()], support: None, sigma });
        };
        let mut sigmas: Vec<Vec<f64>> =
            members(&self.model).map(|model| model.predict(inputs)).collect::<Result<_>>()?;
        type Around = (f64, Option<usize>, Vec<(f64, f64)>);
        let block = |rows: &[f64]| {
            let mut surroundings = support.surroundings();
            let around = |row: &[f64]| {
                let near = surroundings.near(row);
                let ranges = logs.iter().map(|logs| near.range(logs)).collect();
                let input = (near.support < OUTSIDE).then(|| support.farthest(row, &near));
                (near.support, input.flatten(), ranges)
            };
            rows.chunks_exact(support.columns()).map(around).collect::<Vec<Around>>()
        };
        let near: Vec<Around> =
            inputs.par_chunks(ROWS_AT_ONCE * support.columns()).flat_map_iter(block).collect();
        for (member, (sigmas, model)) in sigmas.iter_mut().zip(members(&self.model)).enumerate() {
            // One sigma for all rows is the same everywhere.
            if matches!(model, Model::Constant(_)) {
                continue;
            }
            for (sigma, (_, _, ranges)) in sigmas.iter_mut().zip(&near) {
                let (low, high) = ranges[member];
                let log = held(*sigma, *limits).ln();
                // What lies in the range stays as it is, to the last bit.
                if log < low || log > high {
                    *sigma = log.clamp(low, high).exp();
                }
                *sigma = held(*sigma, *limits);
            }
        }
        let sigma = match &self.model {
            Model::Stack(stack) => {
                let shares: Vec<f64> = stack.members().iter().map(|m| m.share).collect();
                // Rounding must not lift the mean of equal sigmas above the most.
                let mut sigma = mean(&sigmas, &shares);
                if let Some(trees) = stack.refinement() {
                    let times = trees.predict(inputs)?;
                    sigma.iter_mut().zip(times).for_each(|(sigma, times)| *sigma *= times);
                }
                sigma.into_iter().map(|sigma| held(sigma, *limits)).collect()
            }
            _ => sigmas.remove(0),
        };
        Ok(HeldSigma {
            sigma,
            support: Some(near.iter().map(|near| near.0).collect()),
            input: near.into_iter().map(|near| near.1).collect(),
        })
    }

    /// Whether a model that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        let Some(Backing { support, logs, limits: (least, most) }) = &self.backing else {
            return Ok(());
        };
        support.check(self.model.columns())?;
        let fits = logs.len() == members(&self.model).count()
            && logs.iter().all(|logs| logs.len() == support.len());
        let good = logs.iter().flatten().all(|log| log.abs() < 1e3);
        match fits && good && *least > 0.0 && least <= most && most.is_finite() {
            true => Ok(()),
            false => Err("what holds its sigma does not fit its landmarks"),
        }
    }
}

impl Backing {
    /// Where the training rows were.
    #[must_use]
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// For each model of a stack, or the only one, its log sigma at every landmark.
    #[must_use]
    pub fn logs(&self) -> &[Vec<f64>] {
        &self.logs
    }

    /// The least and the most that sigma may be.
    #[must_use]
    pub fn limits(&self) -> (f64, f64) {
        self.limits
    }
}

fn held(sigma: f64, (least, most): (f64, f64)) -> f64 {
    sigma.clamp(least, most)
}

/// The models of a stack, or the only one.
fn members(model: &Model) -> impl Iterator<Item = &Model> {
    let (stack, alone): (&[Member], _) = match model {
        Model::Stack(stack) => (stack.members(), None),
        model => (&[], Some(model)),
    };
    stack.iter().map(|member| &member.model).chain(alone)
}
