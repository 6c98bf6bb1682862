//! Scores of more data than fits in memory, or of parts on several machines, in one pass.
//!
//! ```
//! use errbar::score::{accumulate::Accumulator, Sample};
//!
//! let mut here = Accumulator::default();
//! here.add(&Sample::new(&[0.3, -1.2], &[1.0, 1.0])?)?;
//! let mut there = Accumulator::default();
//! there.add(&Sample::new(&[0.7], &[0.5])?)?;
//! let sent: Vec<u8> = there.to_bytes();
//! here.merge(&Accumulator::from_bytes(&sent)?);
//!
//! let merged = here.scores()?;
//! assert_eq!(merged.rows, 3);
//! let exact = errbar::score::reliability::reliability(
//!     &Sample::new(&[0.3, -1.2, 0.7], &[1.0, 1.0, 0.5])?);
//! assert!((merged.rs - exact).abs() <= merged.rs_bound);
//! # Ok::<(), errbar::Error>(())
//! ```

mod bytes;

use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::accuracy_reliability::Ar;
use super::block::{BLOCK, Sum, weighted_sum};
use super::calibration::{Coverage, PitCounts, PitHistogram, ReliabilityDiagram};
use super::crps::{FRAC_1_SQRT_PI, SQRT_2_OVER_PI};
use super::eta_counts::EtaCounts;
use super::nlpd::Nlpd;
use super::reliability::CONSTANT;
use super::rows::RowScore;
use super::sample::Sample;
use super::scores::Options;
use crate::error::{Error, Result};
use crate::math::{Arithmetic, Kernel, dispatch, erf_exp_kernel, erfc_kernel};

/// Running sums and fine counts of everything that can be merged.
///
/// Scores that are means (CRPS, NLPD, …) come out as exact as from the whole sample. Frequencies
/// (PIT, reliability diagram, coverage) are exact at multiples of 1/18,000. The Reliability Score
/// needs the order of all scaled errors; here they are ordered bin by bin, and [`Merged::rs_bound`]
/// says how far that can be from the exact score: about 6e-8 for a calibrated forecast of many rows.
///
/// How the data are cut into parts does not change a bit: rows are summed in blocks of a fixed
/// length, and those of an unfinished block wait. (Merging two accumulators finishes theirs.)
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    rows: u64,
    counted: u64,
    sums: [Sum; SUMS],
    pit: PitCounts,
    eta: EtaCounts,
    waiting: Waiting,
}

/// Rows of an unfinished block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Waiting {
    error: Vec<f64>,
    sigma: Vec<f64>,
    weight: Vec<f64>,
}

/// The sums kept, in this order.
const SUMS: usize = 12;
const WEIGHT: usize = 0;
const WEIGHT_SQUARED: usize = 1;
const ERROR: usize = 2;
const ABSOLUTE: usize = 3;
const SQUARED: usize = 4;
const SIGMA: usize = 5;
const CRPS: usize = 6;
const NLPD: usize = 7;
const Z_SQUARED: usize = 8;
/// $g(\eta) = \eta \operatorname{erf}\eta + e^{-\eta^2}/\sqrt\pi$, the part of RS that knows no
/// order.
const ORDERLESS: usize = 9;
/// Squares of errors too large or too small to be squared as they are, in units of [`FAR`].
const LARGE_SQUARED: usize = 10;
const SMALL_SQUARED: usize = 11;

/// $2^{600}$: errors beyond $2^{\pm 500}$ are brought nearer by it before they are squared.
const FAR: f64 = 4.149_515_568_880_993e180;
/// $2^{500}$
const LARGE: f64 = 3.273_390_607_896_142e150;

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
    /// The root mean square of $z = \varepsilon/\sigma$: 1 when sigma has the right size.
    pub rms_z: f64,
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
    /// Coverage and width of central intervals: exact where both ends are multiples of 1/18,000 in
    /// probability, as for the usual levels; interpolated elsewhere.
    pub coverage: Vec<Coverage>,
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("rows", &self.rows)
            .field("counted", &self.counted)
            .field("sums", &self.sums)
            .finish_non_exhaustive()
    }
}

impl Accumulator {
    /// Counts a part of the data.
    ///
    /// # Errors
    /// Weights whose sum is beyond the range of doubles: they would have to be rescaled, and parts
    /// must share one scale.
    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        if !sample.errors().in_range {
            return Err(Error::WeightsOutOfRange);
        }
        self.rows += sample.len() as u64;
        self.counted += sample.counted() as u64;
        // As given: parts must share one scale.
        let unit = 2f64.powi(sample.errors().exponent);
        self.count(sample.error(), sample.sigma(), sample.weight(), unit);
        Ok(())
    }

    /// Counts rows whose weights are all zero, of which a part of the data may have no others; weights of the sample do
    /// not matter.
    pub fn add_without_weight(&mut self, sample: &Sample) {
        self.rows += sample.len() as u64;
        let none = vec![0.0; sample.len()];
        self.count(sample.error(), sample.sigma(), Some(&none), 1.0);
    }

    /// Counts rows block by block, with weights in this unit.
    fn count(&mut self, error: &[f64], sigma: &[f64], weight: Option<&[f64]>, unit: f64) {
        let (mut from, mut terms) = (0, Terms::default());
        while from < error.len() {
            let room = BLOCK - self.waiting.error.len();
            let rows = from..error.len().min(from + room);
            let (error, sigma) = (&error[rows.clone()], &sigma[rows.clone()]);
            let weights = weight.map(|w| &w[rows.clone()]);
            let mut scaled = [0.0; BLOCK];
            let weights = weights.map(|weights| {
                scaled.iter_mut().zip(weights).for_each(|(to, weight)| *to = weight * unit);
                &scaled[..weights.len()]
            });
            self.count_and_sum(error, sigma, weights, &mut terms);
            from = rows.end;
        }
    }

    /// Counts a block of rows, or fewer at the end of all, and leaves their terms behind.
    pub(crate) fn add_block(
        &mut self,
        error: &[f64],
        sigma: &[f64],
        weight: Option<&[f64]>,
        terms: &mut Terms,
    ) {
        self.rows += error.len() as u64;
        self.counted += match weight {
            None => error.len() as u64,
            Some(weight) => weight.iter().filter(|&&w| w > 0.0).count() as u64,
        };
        self.count_and_sum(error, sigma, weight, terms);
    }

    /// Counts rows of one block at once, and sums the block when it is full.
    fn count_and_sum(
        &mut self,
        error: &[f64],
        sigma: &[f64],
        weight: Option<&[f64]>,
        terms: &mut Terms,
    ) {
        terms.fill(error, sigma);
        for j in 0..error.len() {
            let weight = weight.map_or(1.0, |weight| weight[j]);
            self.pit.add(terms.pit[j], weight);
            self.eta.add(terms.eta[j], weight);
        }
        if self.waiting.error.is_empty() && error.len() == BLOCK {
            return self.add_sums(dispatch(SumBlock { error, sigma, weight, terms }));
        }
        self.waiting.error.extend_from_slice(error);
        self.waiting.sigma.extend_from_slice(sigma);
        match weight {
            Some(weight) => self.waiting.weight.extend_from_slice(weight),
            None => self.waiting.weight.resize(self.waiting.error.len(), 1.0),
        }
        if self.waiting.error.len() == BLOCK {
            self.finish_block();
        }
    }

    /// Sums the rows that wait.
    fn finish_block(&mut self) {
        let Waiting { error, sigma, weight } = &self.waiting;
        let mut terms = Terms::default();
        terms.fill(error, sigma);
        let sums = dispatch(SumBlock { error, sigma, weight: Some(weight), terms: &terms });
        self.add_sums(sums);
        self.waiting.error.clear();
        self.waiting.sigma.clear();
        self.waiting.weight.clear();
    }

    fn add_sums(&mut self, sums: [f64; SUMS]) {
        self.sums.iter_mut().zip(sums).for_each(|(total, sum)| total.add(sum));
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of the weights.
    pub(crate) fn weight(&self) -> f64 {
        let waiting: f64 = self.waiting.weight.iter().sum();
        self.sums[WEIGHT].value() + waiting
    }

    /// Rows with a weight above zero.
    pub(crate) fn counted(&self) -> usize {
        self.counted as usize
    }

    /// The counts of transforms.
    pub(crate) fn transforms(&self) -> &PitCounts {
        &self.pit
    }

    /// Adds what another accumulator has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            self.clone_from(other);
            return;
        }
        self.rows += other.rows;
        self.counted += other.counted;
        let mut other = other.clone();
        self.finish_block();
        other.finish_block();
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
        if !self.waiting.error.is_empty() {
            let mut whole = self.clone();
            whole.finish_block();
            return whole.scores_with(options);
        }
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
        // A scaled error beyond the range of doubles makes the score infinite, in bins as elsewhere.
        let finite = |score: f64| if pairs.is_finite() { score } else { f64::INFINITY };
        let (rs, rs_without_constant) = (finite(rs), finite(rs_without_constant));
        let rs_bound = finite(rs_bound);
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
            // Of the three, those that matter are of like size or zero.
            rmse: (mean(LARGE_SQUARED).sqrt() * FAR)
                .hypot(mean(SQUARED).sqrt())
                .hypot(mean(SMALL_SQUARED).sqrt() / FAR),
            mean_sigma,
            rms_z: mean(Z_SQUARED).sqrt(),
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

/// What a row adds to the sums, for each row of a block.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) z: [f64; BLOCK],
    /// Scaled errors.
    pub(crate) eta: [f64; BLOCK],
    /// Probability integral transforms.
    pub(crate) pit: [f64; BLOCK],
    pub(crate) crps: [f64; BLOCK],
    pub(crate) nlpd: [f64; BLOCK],
    /// See [`ORDERLESS`].
    pub(crate) orderless: [f64; BLOCK],
}

impl Default for Terms {
    fn default() -> Self {
        let zero = [0.0; BLOCK];
        Self { z: zero, eta: zero, pit: zero, crps: zero, nlpd: zero, orderless: zero }
    }
}

impl Terms {
    fn fill(&mut self, error: &[f64], sigma: &[f64]) {
        dispatch(FillTerms { error, sigma, terms: self });
    }
}

struct FillTerms<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    terms: &'a mut Terms,
}

impl Kernel for FillTerms<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.error.len().min(self.sigma.len()).min(BLOCK);
        let (error, sigma) = (&self.error[..n], &self.sigma[..n]);
        let mut of = Terms::default();
        for j in 0..n {
            let (error, sigma) = (error[j], sigma[j]);
            let z = error / sigma;
            let eta = z * FRAC_1_SQRT_2;
            let (erf, exp) = erf_exp_kernel::<A>(eta);
            of.z[j] = z;
            of.eta[j] = eta;
            of.pit[j] = 0.5 * erfc_kernel::<A>(-eta);
            // As in Crps and Nlpd, with their functions shared.
            let dsigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
            of.crps[j] = A::mul_add(error, erf, sigma * dsigma);
            of.nlpd[j] = Nlpd::at::<A>(error, sigma).value;
            of.orderless[j] = A::mul_add(eta, erf, FRAC_1_SQRT_PI * exp);
        }
        *self.terms = of;
    }
}

/// All sums of one block.
struct SumBlock<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    weight: Option<&'a [f64]>,
    terms: &'a Terms,
}

impl Kernel for SumBlock<'_> {
    type Output = [f64; SUMS];
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [f64; SUMS] {
        let n = self.error.len().min(BLOCK);
        let (error, sigma) = (&self.error[..n], &self.sigma[..n]);
        let terms = self.terms;
        let mut columns = [[0.0; BLOCK]; SUMS];
        #[allow(clippy::needless_range_loop)] // j runs over ten columns at once
        for j in 0..n {
            let size = error[j].abs();
            let square = |part: f64, there: bool| if there { part * part } else { 0.0 };
            columns[WEIGHT][j] = 1.0;
            columns[ERROR][j] = error[j];
            columns[ABSOLUTE][j] = size;
            columns[SQUARED][j] = square(size, (1.0 / LARGE..=LARGE).contains(&size));
            columns[LARGE_SQUARED][j] = square(size / FAR, size > LARGE);
            columns[SMALL_SQUARED][j] = square(size * FAR, size < 1.0 / LARGE);
            columns[SIGMA][j] = sigma[j];
            columns[Z_SQUARED][j] = terms.z[j] * terms.z[j];
        }
        match self.weight {
            Some(weight) => columns[WEIGHT_SQUARED][..n].copy_from_slice(&weight[..n]),
            None => columns[WEIGHT_SQUARED][..n].fill(1.0),
        }
        columns[CRPS] = terms.crps;
        columns[NLPD] = terms.nlpd;
        columns[ORDERLESS] = terms.orderless;
        columns.map(|mut column| weighted_sum(&mut column[..n], self.weight))
    }
}
