//! Figure 9: predicted against true sigma of 5D, from millions of points.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicU64, Ordering};

use errbar_report::{Axis, Density, Figure, Panel, Rule, color};
use rayon::prelude::*;

use super::{BLOCK, FIRST_STREAM, PaperFigure, between, inputs, thousands};
use crate::data_set::DataSet;

/// Cells each way, of one hundredth.
const CELLS: usize = 120;
/// The axes go from zero to this.
const LARGEST: f64 = 1.2;
/// Rows predicted at once: what a model needs for them should stay in a processor's cache.
const ROWS: usize = 4096;

/// How often each pair of predicted and true sigma came up on new points of 5D, and how good the
/// predictions are.
#[derive(Debug, Clone, PartialEq)]
pub struct SigmaDensity {
    /// The edges of the cells, the same both ways.
    pub edges: Vec<f64>,
    /// Points in each cell, for each step of the true sigma one row of steps of the predicted one.
    pub counts: Vec<u64>,
    /// All points.
    pub points: u64,
    /// The correlation of predicted and true sigma; 0 where the prediction does not vary.
    pub correlation: f64,
    /// The root mean square of predicted minus true sigma.
    pub sigma_rmse: f64,
    /// The NLPD of the predicted sigma around the true mean, in expectation over the noise at each
    /// point: $\tfrac12\ln 2\pi + \ln s + \sigma^2/(2 s^2)$ for a predicted s.
    pub nlpd: f64,
    /// The same of the true sigma.
    pub oracle: f64,
}

/// Sums over points, from which everything else follows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    predicted: f64,
    truth: f64,
    predicted_squared: f64,
    truth_squared: f64,
    product: f64,
    nlpd: f64,
    oracle: f64,
}

/// Predicts sigma at so many new points of 5D, in parallel. `progress` is told the number of points
/// done and says whether to stop, in which case there is no result. The answer does not depend on
/// threads: every block of points has its own random stream.
///
/// # Errors
/// What `predict` refuses.
pub fn sigma_density(
    points: u64,
    seed: u64,
    predict: impl Fn(&[f64]) -> errbar::Result<Vec<f64>> + Sync,
    progress: impl Fn(u64) -> bool + Sync,
) -> errbar::Result<Option<SigmaDensity>> {
    let done = AtomicU64::new(0);
    let blocks: Option<Vec<(Vec<u32>, Sums)>> = (0..points.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let rows = BLOCK.min(points - block * BLOCK);
            let result = one_block(block, rows as usize, seed, &predict)?;
            let done = done.fetch_add(rows, Ordering::Relaxed) + rows;
            Ok((!progress(done)).then_some(result))
        })
        .collect::<errbar::Result<_>>()?;
    Ok(blocks.map(|blocks| SigmaDensity::new(points, &blocks)))
}

fn one_block(
    block: u64,
    rows: usize,
    seed: u64,
    predict: &impl Fn(&[f64]) -> errbar::Result<Vec<f64>>,
) -> errbar::Result<(Vec<u32>, Sums)> {
    let set = DataSet::FiveD;
    let x = inputs(rows, &mut set.stream(seed, FIRST_STREAM + block));
    let mut counts = vec![0; CELLS * CELLS];
    let mut sums = Sums::default();
    let half_ln_2_pi = 0.5 * (2.0 * PI).ln();
    for x in x.chunks(ROWS * set.columns()) {
        for (x, &predicted) in x.chunks_exact(set.columns()).zip(&predict(x)?) {
            let truth = set.sigma(x);
            if let (Some(i), Some(j)) = (cell(predicted), cell(truth)) {
                counts[j * CELLS + i] += 1;
            }
            let ratio = truth / predicted;
            sums.predicted += predicted;
            sums.truth += truth;
            sums.predicted_squared += predicted * predicted;
            sums.truth_squared += truth * truth;
            sums.product += predicted * truth;
            sums.nlpd += half_ln_2_pi + predicted.ln() + 0.5 * ratio * ratio;
            sums.oracle += half_ln_2_pi + truth.ln() + 0.5;
        }
    }
    Ok((counts, sums))
}

fn cell(sigma: f64) -> Option<usize> {
    let place = sigma * (CELLS as f64 / LARGEST);
    (0.0..CELLS as f64).contains(&place).then_some(place as usize)
}

impl SigmaDensity {
    fn new(points: u64, blocks: &[(Vec<u32>, Sums)]) -> Self {
        let mut counts = vec![0; CELLS * CELLS];
        for (block, _) in blocks {
            counts.iter_mut().zip(block).for_each(|(sum, &count)| *sum += u64::from(count));
        }
        let mean = |of: fn(&Sums) -> f64| {
            blocks.iter().map(|(_, sums)| of(sums)).sum::<f64>() / points as f64
        };
        let (predicted, truth) = (mean(|s| s.predicted), mean(|s| s.truth));
        let (squared, truth_squared) = (mean(|s| s.predicted_squared), mean(|s| s.truth_squared));
        let product = mean(|s| s.product);
        let variance = squared - predicted * predicted;
        let truth_variance = truth_squared - truth * truth;
        let varies = variance.is_nan() || variance > 1e-12 * squared;
        let covariance = if varies { product - predicted * truth } else { 0.0 };
        let spread = if varies { variance * truth_variance } else { 1.0 };
        Self {
            edges: between(0.0, LARGEST, CELLS + 1),
            counts,
            points,
            correlation: covariance / spread.sqrt(),
            sigma_rmse: (squared - 2.0 * product + truth_squared).max(0.0).sqrt(),
            nlpd: mean(|s| s.nlpd),
            oracle: mean(|s| s.oracle),
        }
    }

    /// The counts with each column, that is each step of the predicted sigma, scaled to a maximum of
    /// one. Columns of less than one point in 100,000 are blank (NaN): so few points have no
    /// distribution to show.
    #[must_use]
    pub fn columns_scaled(&self) -> Vec<f64> {
        let columns = self.edges.len() - 1;
        let mut values = vec![f64::NAN; self.counts.len()];
        for i in 0..columns {
            let column = || (i..self.counts.len()).step_by(columns);
            let total: u64 = column().map(|at| self.counts[at]).sum();
            if total == 0 || (total as f64) < 1e-5 * self.points as f64 {
                continue;
            }
            let most = column().map(|at| self.counts[at]).max().unwrap_or(0);
            column().for_each(|at| values[at] = self.counts[at] as f64 / most as f64);
        }
        values
    }

    /// Figure 9. `model` says in a few words what predicted sigma, and ends the first sentence of
    /// the caption: `"a network trained on 10,000 points"`.
    #[must_use]
    pub fn figure(&self, model: &str) -> PaperFigure {
        let density = Density::new(self.edges.clone(), self.edges.clone(), self.columns_scaled())
            .range(0.0, 1.0)
            .key("density, each column scaled to a maximum of one");
        let axis = |label: &str| Axis::new(label).range(0.0, LARGEST);
        let panel = Panel::new(axis("predicted σ"), axis("true σ"))
            .with(density)
            .with(Rule::diagonal().color(color::TRUTH).width(2.0).label("predicted = true"));
        let hidden = 1.0 - self.counts.iter().sum::<u64>() as f64 / self.points as f64;
        let beyond = match hidden > 5e-4 {
            true => format!(" {:.1}% of the predictions lie beyond the axis.", 100.0 * hidden),
            false => String::new(),
        };
        PaperFigure {
            number: 9,
            name: "figure-09-density-5d",
            caption: format!(
                "Density of predicted against true σ for {} new points of the data set 5D, each column scaled \
                 to a maximum of one, with the line of perfect prediction (red); predicted by {model}. \
                 Their correlation is {:.3}, and the NLPD expected with the predicted σ is {:.3}, with the \
                 true one {:.3}.{beyond}",
                thousands(self.points),
                self.correlation,
                self.nlpd,
                self.oracle
            ),
            figure: Figure::new(580.0, 500.0).with(panel),
        }
    }
}
