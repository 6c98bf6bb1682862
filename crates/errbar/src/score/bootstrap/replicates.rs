//! The scores of many resamples.

use rayon::prelude::*;

use super::Options;
use super::reliability::{Nodes, Reliability, Sorted};
use super::resample::Plan;
use super::sums::{self, FIXED, RowScores, TOGETHER, Terms, UnitSums};
use crate::error::Result;
use crate::monitor::{self, Monitor, Steps};
use crate::score::accuracy_reliability::Split;
use crate::score::reliability::CONSTANT;
use crate::score::sample::Sample;
use crate::score::scores::Scores;

/// The scores of a resample, in this order; coverages follow.
pub(super) const BIAS: usize = 0;
pub(super) const MAE: usize = 1;
pub(super) const RMSE: usize = 2;
pub(super) const MEAN_SIGMA: usize = 3;
pub(super) const MEAN_Z: usize = 4;
pub(super) const RMS_Z: usize = 5;
pub(super) const CRPS: usize = 6;
pub(super) const CRPS_SKILL: usize = 7;
pub(super) const NLPD: usize = 8;
pub(super) const RS: usize = 9;
pub(super) const AR: usize = 10;
pub(super) const COVERAGE: usize = 11;

/// A sample, prepared for being resampled.
pub(super) struct Subject {
    sums: UnitSums,
    reliability: Reliability,
    split: Split,
    /// Where CRPS with the best constant sigma is summed: the best one may be 0, and CRPS with it the
    /// size of the error.
    constant: usize,
}

impl Subject {
    pub(super) fn new(
        sample: &Sample,
        own: Option<&RowScores>,
        scores: &Scores,
        plan: &Plan,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let levels: Vec<f64> = scores.coverage.iter().map(|c| c.level).collect();
        let mut reliability = if plan.row_by_row() {
            Reliability::Sorted(Sorted::new(sample, plan))
        } else {
            Reliability::Nodes(Nodes::new(sample, plan))
        };
        let nodes = match &reliability {
            Reliability::Sorted(_) => &[][..],
            Reliability::Nodes(nodes) => &nodes.eta,
        };
        let scale = if scores.rmse > 0.0 { scores.rmse } else { 1.0 };
        let terms = Terms { levels: &levels, constant: scores.constant.sigma, scale, nodes, own };
        let sums = UnitSums::new(sample, plan, &terms, monitor)?;
        if let Reliability::Nodes(nodes) = &mut reliability {
            nodes.compare_with(&sums, scores.rs);
        }
        let constant = if scores.constant.sigma > 0.0 { sums::CONSTANT } else { sums::ABSOLUTE };
        Ok(Self { sums, reliability, split: Split::new(scores.ar.beta), constant })
    }

    /// Of sums that were made as the rows came.
    pub(super) fn of_units(sums: UnitSums, mut nodes: Nodes, scores: &Scores) -> Self {
        nodes.compare_with(&sums, scores.rs);
        let reliability = Reliability::Nodes(nodes);
        let constant = if scores.constant.sigma > 0.0 { sums::CONSTANT } else { sums::ABSOLUTE };
        Self { sums, reliability, split: Split::new(scores.ar.beta), constant }
    }

    fn scores(&self, sums: &[f64], counts: &[u32]) -> Vec<f64> {
        let mean = |which: usize| sums[which] / sums[sums::WEIGHT];
        let (crps, constant) = (mean(sums::CRPS), mean(self.constant));
        let rs = self.reliability.of_resample(sums, self.sums.levels, counts);
        let mut scores = vec![0.0; COVERAGE];
        scores[BIAS] = mean(sums::ERROR);
        scores[MAE] = mean(sums::ABSOLUTE);
        scores[RMSE] = self.sums.scale * mean(sums::SQUARED).sqrt();
        scores[MEAN_SIGMA] = mean(sums::SIGMA);
        scores[MEAN_Z] = mean(sums::Z);
        scores[RMS_Z] = mean(sums::Z_SQUARED).sqrt();
        scores[CRPS] = crps;
        scores[CRPS_SKILL] = if constant > 0.0 { 1.0 - crps / constant } else { 0.0 };
        scores[NLPD] = mean(sums::NLPD);
        scores[RS] = rs;
        scores[AR] = self.split.cost(crps, rs + CONSTANT.0);
        scores.extend((0..self.sums.levels).map(|level| mean(FIXED + level)));
        scores
    }
}

/// The scores of all resamples: for each subject, for each score, one value per resample. All
/// subjects see the same resamples.
pub(super) fn replicate(
    plan: &Plan,
    subjects: &[Subject],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Vec<f64>>>> {
    let chunks = options.replicates.div_ceil(TOGETHER);
    let steps = Steps::new(monitor, chunks);
    let chunk = |chunk: usize| {
        monitor::check(monitor)?;
        let first = chunk * TOGETHER;
        let wanted = (options.replicates - first).min(TOGETHER);
        let mut counts = [const { Vec::new() }; TOGETHER];
        let mut by_unit = vec![[0.0; TOGETHER]; plan.units];
        for (nth, counts) in counts.iter_mut().enumerate().take(wanted) {
            *counts = vec![0; plan.units];
            plan.draw(&mut plan.random(first + nth), counts);
            by_unit.iter_mut().zip(counts).for_each(|(unit, c)| unit[nth] = f64::from(*c));
        }
        let of_subject = |subject: &Subject| -> Vec<Vec<f64>> {
            let sums = subject.sums.of_resamples(&by_unit);
            let resamples = sums.iter().zip(&counts).take(wanted);
            // A resample of rows without weight says nothing.
            let heavy = resamples.filter(|(sums, _)| sums[sums::WEIGHT] > 0.0);
            heavy.map(|(sums, counts)| subject.scores(sums, counts)).collect()
        };
        let scores: Vec<_> = subjects.iter().map(of_subject).collect();
        steps.done();
        Ok(scores)
    };
    let chunks: Result<Vec<Vec<Vec<Vec<f64>>>>> = (0..chunks).into_par_iter().map(chunk).collect();
    let chunks = chunks?;
    let of_subject = |subject: usize| {
        let width = COVERAGE + subjects[subject].sums.levels;
        let column = |score: usize| {
            chunks
                .iter()
                .flat_map(|chunk| chunk[subject].iter().map(|scores| scores[score]))
                .collect()
        };
        (0..width).map(column).collect()
    };
    Ok((0..subjects.len()).map(of_subject).collect())
}
