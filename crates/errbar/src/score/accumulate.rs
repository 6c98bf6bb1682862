//! Scores of more data than fits in memory, or of parts on several machines, in one pass.
//!
//! ```
//! use errbar::score::{accumulate::Accumulator, Sample};
//!
//! let mut here = Accumulator::default();
//! here.add(&Sample::new(&[0.3, -1.2], &[1.0, 1.0])?)?;
//! let mut there = Accumulator::default();
//! there.add(&Sample::new(&[0.7], &[0.5])?)?;
//! here.merge(&there);
//!
//! let merged = here.scores()?;
//! assert_eq!(merged.rows, 3);
//! let exact = errbar::score::reliability::reliability(
//!     &Sample::new(&[0.3, -1.2, 0.7], &[1.0, 1.0, 0.5])?);
//! assert!((merged.rs - exact).abs() <= merged.rs_bound);
//! # Ok::<(), errbar::Error>(())
//! ```

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use super::accuracy_reliability::Ar;
use super::block::{BLOCK, Sum, rows_of, weighted_sum};
use super::calibration::{Coverage, PitCounts, PitHistogram, ReliabilityDiagram, each_pit};
use super::crps::{self, FRAC_1_SQRT_PI};
use super::eta_counts::EtaCounts;
use super::nlpd;
use super::reliability::CONSTANT;
use super::sample::Sample;
use super::scores::Options;
use crate::error::{Error, Result};
use crate::math::{Arithmetic, Kernel, dispatch, erf_exp_kernel};

/// Running sums and fine counts of everything that can be merged.
///
/// Scores that are means (CRPS, NLPD, …) come out as exact as from the whole sample. Frequencies
/// (PIT, reliability diagram, coverage) are exact at multiples of 1/18,000. The Reliability Score
/// needs the order of all scaled errors; here they are ordered bin by bin, and [`Merged::rs_bound`]
/// says how far that can be from the exact score: about 6e-8 for a calibrated forecast of many rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    rows: u64,
    counted: u64,
    sums: [Sum; SUMS],
    pit: PitCounts,
    eta: EtaCounts,
}

/// The sums kept, in this order.
const SUMS: usize = 9;
const WEIGHT: usize = 0;
const WEIGHT_SQUARED: usize = 1;
const ERROR: usize = 2;
const ABSOLUTE: usize = 3;
const SQUARED: usize = 4;
const SIGMA: usize = 5;
const CRPS: usize = 6;
const NLPD: usize = 7;
/// $g(\eta) = \eta\,\mathrm{erf}\,\eta + e^{-\eta^2}/\sqrt\pi$, the part of RS that knows no order.
const ORDERLESS: usize = 8;

/// The scores of everything that was accumulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    /// The number of rows.
    pub rows: u64,
    /// The number of equally weighted rows that would be as informative.
    pub effective_rows: f64,
    /// The mean error.
    pub bias: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The root mean squared error.
    pub rmse: f64,
    /// The mean sigma.
    pub mean_sigma: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The mean negative log predictive density.
    pub nlpd: f64,
    /// The Reliability Score, to within `rs_bound`.
    pub rs: f64,
    /// The largest possible distance of `rs` from the score of the whole sample (rounding, about
    /// 1e-15, included).
    pub rs_bound: f64,
    /// The Accuracy-Reliability cost made of these.
    pub ar: Ar,
    /// The histogram of probability integral transforms.
    pub pit: PitHistogram,
    /// The reliability diagram. Its largest deviation is looked for at 18,000 levels, and the true
    /// one may be larger by up to 1/18,000.
    pub diagram: ReliabilityDiagram,
    /// Coverage and width of central intervals.
    pub coverage: Vec<Coverage>,
}

impl Accumulator {
    /// Counts a part of the data.
    ///
    /// # Errors
    /// Weights whose sum is beyond the range of doubles: they would have to be rescaled, and parts
    /// must share one scale.
    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        if sample.errors().rescaled {
            return Err(Error::WeightsOutOfRange);
        }
        self.rows += sample.len() as u64;
        self.counted += sample.counted() as u64;
        for block in 0..sample.len().div_ceil(BLOCK) {
            let rows = rows_of(block, sample.len());
            let sums = dispatch(SumBlock {
                error: &sample.error()[rows.clone()],
                sigma: &sample.sigma()[rows.clone()],
                weight: sample.weight().map(|w| &w[rows]),
            });
            for (total, sum) in self.sums.iter_mut().zip(sums) {
                total.add(sum);
            }
        }
        let weight = |row: usize| sample.weight().map_or(1.0, |w| w[row]);
        for (row, pit) in each_pit(sample).into_iter().enumerate() {
            let eta = sample.error()[row] / sample.sigma()[row] * FRAC_1_SQRT_2;
            self.pit.add(pit, weight(row));
            self.eta.add(eta, weight(row));
        }
        Ok(())
    }

    /// Adds what another accumulator has counted.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.counted += other.counted;
        for (total, sum) in self.sums.iter_mut().zip(other.sums) {
            total.merge(sum);
        }
        self.pit.merge(&other.pit);
        self.eta.merge(&other.eta);
    }

    /// The scores of everything counted so far.
    ///
    /// # Errors
    /// Nothing was counted.
    pub fn scores(&self) -> Result<Merged> {
        self.scores_with(&Options::default())
    }

    /// [`Accumulator::scores`] with other bins, levels or beta.
    ///
    /// # Errors
    /// Nothing was counted, or an option is out of its range.
    pub fn scores_with(&self, options: &Options) -> Result<Merged> {
        let total = self.sums[WEIGHT].value();
        if self.counted == 0 || total <= 0.0 {
            return Err(Error::Empty);
        }
        let mean = |which: usize| self.sums[which].value() / total;
        let rows = total * (total / self.sums[WEIGHT_SQUARED].value());
        let (crps, mae, mean_sigma) = (mean(CRPS), mean(ABSOLUTE), mean(SIGMA));

        let (pairs, slack) = self.eta.half_mean_difference(total);
        let rs_without_constant = mean(ORDERLESS) - pairs;
        let rs = self.sums[ORDERLESS].minus_product(CONSTANT, total) / total - pairs;
        let rs_bound = slack + 8.0 * f64::EPSILON * (mean(ORDERLESS) + pairs);
        let split = options.beta.split(mae, self.counted as usize)?;
        let value = split.cost(crps, rs_without_constant);

        let fine = self.pit.histogram(PitCounts::FINE)?;
        let mut below = 0.0;
        let mut deviation = 0f64;
        for (k, count) in fine.iter().enumerate() {
            below += count;
            let level = (k + 1) as f64 / PitCounts::FINE as f64;
            deviation = deviation.max((below / total - level).abs());
        }
        let coverage = |&level: &f64| {
            let inside = self.pit.up_to(0.5 + 0.5 * level) - self.pit.up_to(0.5 - 0.5 * level);
            Coverage::new(level, inside / total, mean_sigma, rows, options.confidence)
        };
        let confidence = options.confidence;
        Ok(Merged {
            rows: self.rows,
            effective_rows: rows,
            bias: mean(ERROR),
            mae,
            rmse: mean(SQUARED).sqrt(),
            mean_sigma,
            crps,
            nlpd: mean(NLPD),
            rs,
            rs_bound,
            ar: Ar { value, beta: split.accuracy, crps, rs },
            pit: PitHistogram::of_counts(&self.pit, options.pit_bins, rows, confidence)?,
            diagram: ReliabilityDiagram::of_counts(
                &self.pit,
                options.diagram_levels,
                rows,
                confidence,
                deviation,
            )?,
            coverage: options.coverage_levels.iter().map(coverage).collect::<Result<_>>()?,
        })
    }
}

/// All sums of one block.
struct SumBlock<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    weight: Option<&'a [f64]>,
}

impl Kernel for SumBlock<'_> {
    type Output = [f64; SUMS];
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [f64; SUMS] {
        let n = self.error.len().min(BLOCK);
        let mut columns = [[0.0; BLOCK]; SUMS];
        #[allow(clippy::needless_range_loop)] // j runs over nine columns at once
        for j in 0..n {
            let (error, sigma) = (self.error[j], self.sigma[j]);
            let point = crps::point_kernel::<A>(error, sigma);
            let (score, _) = nlpd::point_kernel::<A>(error, sigma);
            let eta = error / sigma * FRAC_1_SQRT_2;
            let (erf, exp) = erf_exp_kernel::<A>(eta);
            columns[WEIGHT][j] = 1.0;
            columns[ERROR][j] = error;
            columns[ABSOLUTE][j] = error.abs();
            columns[SQUARED][j] = error * error;
            columns[SIGMA][j] = sigma;
            columns[CRPS][j] = point.crps;
            columns[NLPD][j] = score;
            columns[ORDERLESS][j] = A::mul_add(eta, erf, FRAC_1_SQRT_PI * exp);
        }
        match self.weight {
            None => columns[WEIGHT_SQUARED][..n].fill(1.0),
            Some(weight) => columns[WEIGHT_SQUARED][..n].copy_from_slice(&weight[..n]),
        }
        columns.map(|mut column| weighted_sum(&mut column[..n], self.weight))
    }
}
