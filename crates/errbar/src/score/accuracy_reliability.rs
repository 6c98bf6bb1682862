//! The Accuracy-Reliability cost: accuracy and reliability in one number, with its gradient.

use std::borrow::Cow;
use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::block::{BLOCK, PARALLEL_FROM, Sum, fill_blocks, rows_of, share_out, weighted_sum};
use super::crps::{FRAC_1_SQRT_PI, SQRT_2_OVER_PI, crps_min, crps_min_as_printed};
use super::ranking::Ranking;
use super::reliability::{CONSTANT, rs_min_without_constant};
use super::sample::{Errors, Sample};
use crate::checks::{check_length, check_sigma};
use crate::error::{Error, Result};
use crate::math::{self, Arithmetic, Kernel, dispatch, erf_exp_kernel};

/// How accuracy is weighed against reliability.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beta {
    /// The paper's heuristic with the exact least CRPS,
    /// $\beta = \mathrm{RS}\_{\min}/(\mathrm{CRPS}\_{\min} + \mathrm{RS}\_{\min})$.
    #[default]
    Heuristic,
    /// The same with $\mathrm{CRPS}\_{\min}$ as printed in the paper (1% smaller).
    AsPrinted,
    /// A fixed weight of accuracy from 0 (reliability only) to 1 (accuracy only).
    Fixed(f64),
}

impl Beta {
    /// The number itself for errors of the given mean absolute value among `n` that count.
    ///
    /// # Errors
    /// A fixed beta that is not between 0 and 1.
    pub fn value(self, mean_absolute_error: f64, n: usize) -> Result<f64> {
        self.split(mean_absolute_error, n).map(|split| split.accuracy)
    }

    /// Beta and 1 - beta, each with all its digits: one of them may be tiny.
    pub(crate) fn split(self, mean_absolute_error: f64, n: usize) -> Result<Split> {
        let crps_min = match self {
            Self::Fixed(beta) if (0.0..=1.0).contains(&beta) => return Ok(Split::new(beta)),
            Self::Fixed(value) => return Err(Error::BetaOutOfRange { value }),
            Self::Heuristic => crps_min(mean_absolute_error),
            Self::AsPrinted => crps_min_as_printed(mean_absolute_error),
        };
        let rs_min = rs_min_without_constant(n);
        let sum = crps_min + rs_min;
        Ok(Split { accuracy: rs_min / sum, reliability: crps_min / sum })
    }
}

impl std::str::FromStr for Beta {
    type Err = Error;

    /// `heuristic`, `printed` (as in the paper) or a number from 0 to 1.
    fn from_str(text: &str) -> Result<Self> {
        match (text, text.parse()) {
            ("heuristic", _) => Ok(Self::Heuristic),
            ("printed", _) => Ok(Self::AsPrinted),
            (_, Ok(value)) if (0.0..=1.0).contains(&value) => Ok(Self::Fixed(value)),
            (_, Ok(value)) => Err(Error::BetaOutOfRange { value }),
            _ => Err(Error::UnknownName {
                what: "beta",
                name: text.into(),
                known: "heuristic, printed, a number from 0 to 1".into(),
            }),
        }
    }
}

/// The weights of the two parts of the cost, which add up to one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    pub(crate) accuracy: f64,
    pub(crate) reliability: f64,
}

impl Split {
    pub(crate) fn new(beta: f64) -> Self {
        Self { accuracy: beta, reliability: 1.0 - beta }
    }

    /// The cost made of its two parts, RS without its constant.
    pub(crate) fn cost(self, crps: f64, rs_without_constant: f64) -> f64 {
        // A part that does not count must not count even where it is infinite.
        let part = |share: f64, score: f64| if share > 0.0 { share * score } else { 0.0 };
        part(self.accuracy, crps) + part(self.reliability, rs_without_constant)
    }
}

/// The value of the Accuracy-Reliability cost and its parts.
///
/// `value` = `beta`·`crps` + (1 - `beta`)·(`rs` + $1/\sqrt{2\pi}$): the cost leaves out the constant
/// that makes a *reported* RS zero at best.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ar {
    /// The cost.
    pub value: f64,
    /// The weight of accuracy.
    pub beta: f64,
    /// The mean CRPS.
    pub crps: f64,
    /// The Reliability Score as reported: 0 is perfect.
    pub rs: f64,
}

impl Ar {
    /// Of its parts.
    pub(crate) fn of(beta: f64, crps: f64, rs: f64) -> Self {
        Self { value: Split::new(beta).cost(crps, rs + CONSTANT.0), beta, crps, rs }
    }
}

/// The Accuracy-Reliability cost of given errors, as a function of sigma: a reusable workspace.
///
/// $$\mathrm{AR}(\sigma) = \beta \overline{\mathrm{CRPS}} + (1-\beta) \mathrm{RS}$$
///
/// (the paper's Eq. AR). Value and gradient come from one fused pass. After its first use the
/// workspace allocates nothing (called inside a rayon pool, or for less than 65,536 rows; from
/// outside, handing work to the pool may allocate), and it starts each ranking from the last order;
/// neither that nor the number of threads changes a bit of the result.
///
/// ```
/// use errbar::score::{AccuracyReliability, Beta};
///
/// let error = [0.3, -1.2, 0.7, 0.1];
/// let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic)?;
/// let mut gradient = [0.0; 4];
/// let wide = cost.value_and_gradient(&[9.0; 4], &mut gradient)?;
/// assert!(gradient.iter().all(|g| *g > 0.0)); // every sigma is too large
/// let better = cost.value(&[0.8; 4])?;
/// assert!(better.value < wide.value);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AccuracyReliability<'a> {
    errors: Errors<'a>,
    split: Split,
    /// Scaled errors.
    eta: Vec<f64>,
    ranking: Ranking,
    ranks: Ranks,
    /// Whether ranks need be known only roughly.
    rough: bool,
    /// Sums of CRPS and RS terms of each block.
    sums: Vec<[f64; 2]>,
}

/// What ranking gives each row: twice its mid-rank, or with weights the signed distance of
/// [`weighted_side`].
#[derive(Debug, Clone)]
enum Ranks {
    Plain(Vec<u32>),
    Weighted(Vec<f64>),
}

impl<'a> AccuracyReliability<'a> {
    /// The cost of `error` with optional weights.
    ///
    /// # Errors
    /// What [`Sample::new`] and [`Sample::weighted`] refuse in errors and weights, or a fixed beta
    /// outside [0, 1].
    pub fn new(error: &'a [f64], weight: Option<&'a [f64]>, beta: Beta) -> Result<Self> {
        let errors = Errors::new(Cow::Borrowed(error))?.weighted(weight)?;
        let split = beta.split(errors.mean_absolute(), errors.counted)?;
        Ok(Self::with(errors, split))
    }

    /// The same without borrowing.
    #[must_use]
    pub fn into_owned(self) -> AccuracyReliability<'static> {
        AccuracyReliability { errors: self.errors.into_owned(), ..self }
    }

    pub(crate) fn with(errors: Errors<'a>, split: Split) -> Self {
        let rows = errors.error.len();
        let ranks = match errors.weight {
            None => Ranks::Plain(vec![0; rows]),
            Some(_) => Ranks::Weighted(vec![0.0; rows]),
        };
        Self {
            errors,
            split,
            eta: vec![0.0; rows],
            ranking: Ranking::default(),
            ranks,
            rough: false,
            sums: vec![[0.0; 2]; rows.div_ceil(BLOCK)],
        }
    }

    /// The errors.
    #[must_use]
    pub fn error(&self) -> &[f64] {
        &self.errors.error
    }

    /// The weights, if there are any.
    #[must_use]
    pub fn weight(&self) -> Option<&[f64]> {
        self.errors.weight.as_deref()
    }

    /// The sum of the weights.
    pub(crate) fn total(&self) -> f64 {
        self.errors.total
    }

    /// The weight of accuracy.
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.split.accuracy
    }

    pub(crate) fn split(&self) -> Split {
        self.split
    }

    /// The cost at `sigma`.
    ///
    /// # Errors
    /// A different number of sigmas, or one that is not finite and positive.
    pub fn value(&mut self, sigma: &[f64]) -> Result<Ar> {
        self.check(sigma)?;
        Ok(self.evaluate(sigma, None))
    }

    /// The cost at `sigma`, and its derivative with respect to each of them,
    ///
    /// $$\frac{\partial\mathrm{AR}}{\partial\sigma\_i} = \frac{w\_i}W\Big\lbrace
    /// \beta\Big[\sqrt{\tfrac2\pi} e^{-\eta\_i^2} - \tfrac1{\sqrt\pi}\Big] + (1-\beta)
    /// \frac{\eta\_i}{\sigma\_i}\Big[\frac{W\_i + W\_{i-1}}W - \operatorname{erf}\eta\_i - 1\Big]\Big\rbrace.$$
    ///
    /// # Errors
    /// As [`AccuracyReliability::value`], or a gradient of another length.
    pub fn value_and_gradient(&mut self, sigma: &[f64], gradient: &mut [f64]) -> Result<Ar> {
        check_length("gradient", gradient.len(), "error", self.errors.error.len())?;
        self.check(sigma)?;
        Ok(self.evaluate(sigma, Some(gradient)))
    }

    /// Calls `f` with row, $\eta$, its gap and its share of the weight, at a sigma that was just
    /// evaluated.
    pub(crate) fn for_each_ranked(&self, mut f: impl FnMut(usize, f64, f64, f64)) {
        let per_weight = 1.0 / self.errors.total;
        for (row, &eta) in self.eta.iter().enumerate() {
            let (end, near) = match &self.ranks {
                Ranks::Plain(twice) => plain_side(twice[row], self.errors.total, per_weight),
                Ranks::Weighted(near) => weighted_side(near[row]),
            };
            let share = self.errors.weight.as_ref().map_or(1.0, |w| w[row]) * per_weight;
            f(row, eta, (math::erf(eta) - end) - near, share);
        }
    }

    /// Forgets the order of the last evaluation (the next one starts cold, with the same result).
    pub fn forget_order(&mut self) {
        self.ranking.forget();
    }

    fn check(&self, sigma: &[f64]) -> Result<()> {
        check_length("sigma", sigma.len(), "error", self.errors.error.len())?;
        check_sigma(sigma)
    }

    /// The cost for sigmas that have been checked.
    pub(crate) fn evaluate(&mut self, sigma: &[f64], gradient: Option<&mut [f64]>) -> Ar {
        self.rank(sigma);
        let total = self.errors.total;
        let pass = Pass {
            error: &self.errors.error,
            sigma,
            eta: &self.eta,
            weight: self.errors.weight.as_deref(),
            ranks: &self.ranks,
            split: self.split,
            per_weight: 1.0 / total,
        };
        fill_blocks(sigma.len(), &mut self.sums, gradient, |block, gradient| {
            dispatch(FusedBlock { pass, block, gradient })
        });
        let (mut crps, mut rs) = (Sum::default(), Sum::default());
        for sum in &self.sums {
            crps.add(sum[0]);
            rs.add(sum[1]);
        }
        let crps = crps.value() / total;
        let rs_without_constant = rs.value() / total;
        let rs = rs.minus_product(CONSTANT, total) / total;
        let value = self.split.cost(crps, rs_without_constant);
        Ar { value, beta: self.split.accuracy, crps, rs }
    }

    /// Scales the errors and ranks them.
    fn rank(&mut self, sigma: &[f64]) {
        /// Rows that one thread scales at a time.
        const CHUNK: usize = 1 << 14;
        if sigma.len() >= PARALLEL_FROM && rayon::current_num_threads() > 1 {
            self.eta
                .par_chunks_mut(CHUNK)
                .zip(self.errors.error.par_chunks(CHUNK).zip(sigma.par_chunks(CHUNK)))
                .for_each(|(eta, (error, sigma))| dispatch(Scale { error, sigma, eta }));
        } else {
            dispatch(Scale { error: &self.errors.error, sigma, eta: &mut self.eta });
        }
        self.rank_scaled();
    }

    /// Ranks scaled errors that were found in another way.
    pub(crate) fn rank_eta(&mut self, eta: &[f64]) {
        self.eta.copy_from_slice(eta);
        self.rank_scaled();
    }

    /// From now on ranks are those of counts in fine bins, which is faster: for steps, not for scores.
    pub(crate) fn rank_roughly(&mut self) {
        self.rough = true;
    }

    fn rank_scaled(&mut self) {
        if self.rough {
            match (&mut self.ranks, self.errors.weight.as_deref()) {
                (Ranks::Weighted(near), Some(weight)) => {
                    self.ranking.weighted_ranks_roughly(&self.eta, weight, near);
                }
                (Ranks::Plain(twice), _) => self.ranking.twice_ranks_roughly(&self.eta, twice),
                (Ranks::Weighted(_), None) => {}
            }
            return;
        }
        match (&mut self.ranks, self.errors.weight.as_deref()) {
            (Ranks::Weighted(near), Some(weight)) => {
                self.ranking.weighted_mid_ranks(&self.eta, weight, near);
            }
            (Ranks::Plain(twice), _) => self.ranking.twice_mid_ranks(&self.eta, twice),
            (Ranks::Weighted(_), None) => {}
        }
    }
}

/// $\eta = \varepsilon/(\sqrt2 \sigma)$
struct Scale<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    eta: &'a mut [f64],
}

impl Kernel for Scale<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for ((eta, error), sigma) in self.eta.iter_mut().zip(self.error).zip(self.sigma) {
            *eta = error / sigma * FRAC_1_SQRT_2;
        }
    }
}

/// Everything a block of the fused pass reads.
#[derive(Clone, Copy)]
struct Pass<'a> {
    error: &'a [f64],
    sigma: &'a [f64],
    eta: &'a [f64],
    weight: Option<&'a [f64]>,
    ranks: &'a Ranks,
    split: Split,
    per_weight: f64,
}

/// One block: the sums of its CRPS and RS terms, and its part of the gradient.
struct FusedBlock<'a> {
    pass: Pass<'a>,
    block: usize,
    gradient: Option<&'a mut [f64]>,
}

impl Kernel for FusedBlock<'_> {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [f64; 2] {
        let rows = rows_of(self.block, self.pass.error.len());
        let per_weight = self.pass.per_weight;
        match self.pass.ranks {
            Ranks::Plain(twice) => {
                let (twice, total) = (&twice[rows.clone()], self.pass.error.len() as f64);
                self.rows::<A>(rows, |j| plain_side(twice[j], total, per_weight))
            }
            Ranks::Weighted(near) => {
                let near = &near[rows.clone()];
                self.rows::<A>(rows, |j| weighted_side(near[j]))
            }
        }
    }
}

/// What $\operatorname{erf}\eta$ would be in a perfectly calibrated sample,
/// $s = (W\_i + W\_{i-1})/W - 1$, as the nearer end of [-1, 1] and the distance from it: the gap
/// $\operatorname{erf}\eta - s$ of an outlier is tiny, and must not lose its digits.
#[inline(always)]
fn plain_side(twice: u32, rows: f64, per_weight: f64) -> (f64, f64) {
    let twice = f64::from(twice);
    let (end, near) = if twice > rows { (1.0, twice - 2.0 * rows) } else { (-1.0, twice) };
    (end, near * per_weight)
}

/// The same from a signed distance: from -1 if positive, from 1 if not.
#[inline(always)]
fn weighted_side(near: f64) -> (f64, f64) {
    (if near > 0.0 { -1.0 } else { 1.0 }, near)
}

impl FusedBlock<'_> {
    #[inline(always)]
    fn rows<A: Arithmetic>(
        self,
        rows: Range<usize>,
        side: impl Fn(usize) -> (f64, f64),
    ) -> [f64; 2] {
        let Pass { split, per_weight, .. } = self.pass;
        let n = rows.len().min(BLOCK);
        let (error, sigma) = (&self.pass.error[rows.clone()], &self.pass.sigma[rows.clone()]);
        let eta = &self.pass.eta[rows.clone()];
        let weight = self.pass.weight.map(|w| &w[rows]);
        // Local columns, so that the compiler knows that nothing overlaps.
        let (mut crps, mut rs, mut slope) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for j in 0..n {
            let (erf, exp) = erf_exp_kernel::<A>(eta[j]);
            let dsigma = A::mul_add(SQRT_2_OVER_PI, exp, -FRAC_1_SQRT_PI);
            let (end, near) = side(j);
            let gap = (erf - end) - near;
            // Without a gap there is no pull, however infinite eta.
            let (eta, per_sigma) =
                if gap == 0.0 { (0.0, 0.0) } else { (eta[j], eta[j] / sigma[j]) };
            let pull = split.reliability * per_sigma * gap;
            let pull = if split.reliability > 0.0 { pull } else { 0.0 };
            crps[j] = A::mul_add(error[j], erf, sigma[j] * dsigma);
            rs[j] = A::mul_add(eta, gap, FRAC_1_SQRT_PI * exp);
            slope[j] = split.accuracy * dsigma - pull;
        }
        if let Some(gradient) = self.gradient {
            share_out(&slope[..n], weight, per_weight, gradient);
        }
        [weighted_sum(&mut crps[..n], weight), weighted_sum(&mut rs[..n], weight)]
    }
}

/// The Accuracy-Reliability cost of a sample.
///
/// # Errors
/// A fixed beta outside [0, 1].
pub fn accuracy_reliability(sample: &Sample, beta: Beta) -> Result<Ar> {
    let mut cost = AccuracyReliability::with(sample.errors().borrow(), split_of(sample, beta)?);
    Ok(cost.evaluate(sample.sigma(), None))
}

/// The Accuracy-Reliability cost of a sample and its derivative with respect to each sigma.
///
/// # Errors
/// A fixed beta outside [0, 1].
pub fn accuracy_reliability_gradient(sample: &Sample, beta: Beta) -> Result<(Ar, Vec<f64>)> {
    let mut cost = AccuracyReliability::with(sample.errors().borrow(), split_of(sample, beta)?);
    let mut gradient = vec![0.0; sample.len()];
    let ar = cost.evaluate(sample.sigma(), Some(&mut gradient));
    Ok((ar, gradient))
}

fn split_of(sample: &Sample, beta: Beta) -> Result<Split> {
    beta.split(sample.errors().mean_absolute(), sample.counted())
}
