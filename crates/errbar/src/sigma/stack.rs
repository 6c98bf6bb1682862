//! Several models at once: a weighted mean of their log sigmas.
//!
//! What one kind of model gets wrong, another often gets right: their mean is better than the best of
//! them, and no single choice has to be trusted.

use serde::{Deserialize, Serialize};

use super::Model;
use super::trees::Trees;
use crate::error::Result;

/// A weighted mean of log sigma over models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    members: Vec<Member>,
    /// What that mean is still to be multiplied by: trees of more rows than its members learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refinement: Option<Trees>,
}

/// A model and its share in the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The share; all of them add up to one.
    pub share: f64,
    /// The model.
    pub model: Model,
}

impl Stack {
    /// A stack of one or more models whose shares add up to one.
    pub(crate) fn new(members: Vec<Member>) -> Self {
        Self { members, refinement: None }
    }

    /// The same, its sigma multiplied by what trees say.
    pub(crate) fn refined_by(self, trees: Trees) -> Self {
        Self { refinement: Some(trees), ..self }
    }

    /// Trees whose sigma the mean of the models is multiplied by, where rows were many.
    #[must_use]
    pub fn refinement(&self) -> Option<&Trees> {
        self.refinement.as_ref()
    }

    /// The models and their shares.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.members.first().map_or(0, |member| member.model.columns())
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let member = |member: &Member| {
            let percent = 100.0 * member.share;
            format!("{percent:.0}% {} ({})", member.model.name(), member.model.explain())
        };
        let members: Vec<String> = self.members.iter().map(member).collect();
        let members = members.join("; ");
        match &self.refinement {
            None => format!("a weighted mean of models: {members}"),
            Some(trees) => {
                format!("{members}; times what trees of all rows say: {}", trees.explain())
            }
        }
    }

    /// Sigma for each row.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let sigmas: Vec<Vec<f64>> = self
            .members
            .iter()
            .map(|member| member.model.predict(inputs))
            .collect::<Result<_>>()?;
        let shares: Vec<f64> = self.members.iter().map(|member| member.share).collect();
        let mut sigma = mean(&sigmas, &shares);
        if let Some(trees) = &self.refinement {
            let times = trees.predict(inputs)?;
            sigma.iter_mut().zip(times).for_each(|(sigma, times)| {
                *sigma = (*sigma * times).clamp(f64::MIN_POSITIVE, f64::MAX);
            });
        }
        Ok(sigma)
    }

    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        for Member { share, model } in &self.members {
            if matches!(model, Model::Stack(_)) {
                return Err("a member of its stack is a stack itself");
            }
            if model.columns() != self.columns() {
                return Err("the members of its stack have different numbers of inputs");
            }
            if !(*share > 0.0 && *share <= 1.0) {
                return Err("a share of its stack does not lie between 0 and 1");
            }
        }
        if let Some(trees) = &self.refinement {
            if trees.columns() != self.columns() {
                return Err("its refinement has another number of inputs");
            }
            trees.check()?;
        }
        let total: f64 = self.members.iter().map(|member| member.share).sum();
        match (total - 1.0).abs() < 1e-9 {
            true => Ok(()),
            false => Err("the shares of its stack do not add up to one"),
        }
    }
}

/// The mean of models' log sigmas with these shares, as sigma.
pub(crate) fn mean<S: AsRef<[f64]>>(sigmas: &[S], shares: &[f64]) -> Vec<f64> {
    // One that counts alone stays what it is, to the last bit.
    if let Some(only) = shares.iter().position(|share| *share == 1.0) {
        return sigmas[only].as_ref().to_vec();
    }
    let row = |row: usize| {
        let log: f64 =
            sigmas.iter().zip(shares).map(|(s, share)| share * s.as_ref()[row].ln()).sum();
        log.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
    };
    (0..sigmas[0].as_ref().len()).map(row).collect()
}
