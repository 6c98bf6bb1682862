//! The costs a model of sigma can be trained by, behind one small interface.

mod of_law;

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::checks::{check_length, check_sigma};
use crate::choices::by_name;
use crate::error::Result;
use crate::law::Law;
use crate::math::{Arithmetic, Kernel, dispatch};
use crate::score::accuracy_reliability::{AccuracyReliability, Beta, Split};
use crate::score::block::{BLOCK, Sum, fill_blocks, rows_of, share_out, weighted_sum};
use crate::score::crps::{Crps, FRAC_1_SQRT_PI};
use crate::score::nlpd::Nlpd;
use crate::score::rows::RowScore;
use crate::score::sample::Errors;

/// A cost of the sigmas given to fixed errors: smaller is better.
///
/// It holds the errors, their weights and whatever memory it reuses. Everything that trains a model
/// of sigma needs no more than this. It cannot be implemented elsewhere, so that it may grow;
/// [`LossKind::on`] makes one.
pub trait Loss: sealed::Sealed {
    /// The number of rows, and so of sigmas.
    fn rows(&self) -> usize;

    /// The cost at `sigma`.
    ///
    /// # Errors
    /// A different number of sigmas, or one that is not finite and positive: a line search takes
    /// that as "infeasible" and backs off.
    fn value(&mut self, sigma: &[f64]) -> Result<f64>;

    /// The cost at `sigma`, and its derivative with respect to each sigma, in one pass.
    ///
    /// # Errors
    /// As [`Loss::value`], or a gradient of another length.
    fn value_and_gradient(&mut self, sigma: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// About the second derivative with respect to each $\ln\sigma\_i$ at `sigma`, for steps of Newton's kind:
    /// for the scores that are bounded in the error what it is on average where sigma is right (steps of
    /// Fisher's kind), for the likelihood at least that. Positive wherever the row counts.
    ///
    /// For the Accuracy-Reliability cost it is nearly that of accuracy alone, since at calibration reliability
    /// is nearly flat; it is no statement about the uncertainty of sigma.
    ///
    /// # Errors
    /// As [`Loss::value_and_gradient`].
    fn curvature(&mut self, sigma: &[f64], curvature: &mut [f64]) -> Result<()>;

    /// From now on ranks, if the cost has any, are known to a thousandth of the rows, which is faster: for
    /// steps of many rows.
    fn rank_roughly(&mut self) {}
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::AccuracyReliability<'_> {}
    impl Sealed for super::of_law::OfLaw<'_> {}
    impl<S> Sealed for super::PerRow<'_, S> {}
}

/// Which cost to train by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// The Accuracy-Reliability cost.
    Ar(Beta),
    /// The mean CRPS alone.
    Crps,
    /// The mean negative log predictive density.
    Nlpd,
    /// The Accuracy-Reliability cost of a law in units of sigma, which the errors are to have.
    #[serde(skip)]
    OfLaw(Beta, Law),
}

impl Default for LossKind {
    fn default() -> Self {
        Self::Ar(Beta::Heuristic)
    }
}

impl LossKind {
    /// The cost of this name: ar, crps or nlpd. Beta matters to the first alone.
    ///
    /// # Errors
    /// Any other name.
    pub fn named(name: &str, beta: Beta) -> Result<Self> {
        if name == "ar" { Ok(Self::Ar(beta)) } else { by_name("loss", name) }
    }

    /// What of it each row has alone: reliability is a matter of all rows together, and of few mostly chance.
    pub(crate) fn of_single_rows(self) -> Self {
        match self {
            Self::Nlpd => Self::Nlpd,
            Self::Ar(_) | Self::Crps => Self::Crps,
            Self::OfLaw(_, law) => Self::OfLaw(Beta::Fixed(1.0), law),
        }
    }

    /// The loss for given errors and optional weights.
    ///
    /// # Errors
    /// What [`AccuracyReliability::new`] refuses.
    pub fn on<'a>(
        self,
        error: &'a [f64],
        weight: Option<&'a [f64]>,
    ) -> Result<Box<dyn Loss + Send + 'a>> {
        Ok(match self {
            Self::Ar(beta) => Box::new(AccuracyReliability::new(error, weight, beta)?),
            Self::Crps => Box::new(PerRow::<Crps>::new(error, weight)?),
            Self::Nlpd => Box::new(PerRow::<Nlpd>::new(error, weight)?),
            Self::OfLaw(beta, law) => Box::new(of_law::OfLaw::new(error, weight, beta, &law)?),
        })
    }
}

impl Loss for AccuracyReliability<'_> {
    fn rows(&self) -> usize {
        self.error().len()
    }

    fn rank_roughly(&mut self) {
        self.rank_roughly();
    }

    fn value(&mut self, sigma: &[f64]) -> Result<f64> {
        self.value(sigma).map(|ar| ar.value)
    }

    fn value_and_gradient(&mut self, sigma: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.value_and_gradient(sigma, gradient).map(|ar| ar.value)
    }

    /// $\frac wW\lbrace\beta J\sigma + (1-\beta) R\rbrace$
    fn curvature(&mut self, sigma: &[f64], curvature: &mut [f64]) -> Result<()> {
        check_length("sigma", sigma.len(), "error", self.error().len())?;
        check_length("curvature", curvature.len(), "error", self.error().len())?;
        check_sigma(sigma)?;
        let (split, total) = (self.split(), self.total());
        for (row, (out, sigma)) in curvature.iter_mut().zip(sigma).enumerate() {
            let share = self.weight().map_or(1.0, |weight| weight[row]) / total;
            *out = share * mean_curvature(split, J, *sigma);
        }
        Ok(())
    }
}

/// The expected curvature of CRPS in units of sigma, $1/(2\sqrt\pi)$.
pub(crate) const J: f64 = 0.5 * FRAC_1_SQRT_PI;
/// What is put for that of reliability, so that something is where accuracy does not count.
pub(crate) const R: f64 = 0.02;

/// The expected curvature of a cost in $\ln\sigma$, when that of CRPS in units of sigma is known.
fn mean_curvature(split: Split, of_crps: f64, sigma: f64) -> f64 {
    split.accuracy * of_crps * sigma + split.reliability * R
}

/// What [`Loss::curvature`] puts for a score of one row.
trait Curvature {
    fn curvature(error: f64, sigma: f64) -> f64;
}

impl Curvature for Crps {
    /// $J\sigma$
    fn curvature(_: f64, sigma: f64) -> f64 {
        J * sigma
    }
}

impl Curvature for Nlpd {
    /// The second derivative in $\ln\sigma$ is $2z^2$, and 2 on average: never less than that.
    fn curvature(error: f64, sigma: f64) -> f64 {
        2.0 * (error / sigma).powi(2).max(1.0)
    }
}

/// The weighted mean of a score over rows.
struct PerRow<'a, S> {
    errors: Errors<'a>,
    sums: Vec<[f64; 1]>,
    score: PhantomData<S>,
}

impl<'a, S: RowScore + Sync> PerRow<'a, S> {
    fn new(error: &'a [f64], weight: Option<&'a [f64]>) -> Result<Self> {
        let errors = Errors::new(Cow::Borrowed(error))?.weighted(weight)?;
        let sums = vec![[0.0]; error.len().div_ceil(BLOCK)];
        Ok(Self { errors, sums, score: PhantomData })
    }

    fn evaluate(&mut self, sigma: &[f64], gradient: Option<&mut [f64]>) -> Result<f64> {
        check_length("sigma", sigma.len(), "error", self.errors.error.len())?;
        check_sigma(sigma)?;
        let (errors, per_weight) = (&self.errors, 1.0 / self.errors.total);
        fill_blocks(sigma.len(), &mut self.sums, gradient, |block, gradient| {
            let rows = rows_of(block, sigma.len());
            [dispatch(RowBlock::<S> {
                error: &errors.error[rows.clone()],
                weight: errors.weight.as_ref().map(|w| &w[rows.clone()]),
                sigma: &sigma[rows],
                per_weight,
                gradient,
                score: PhantomData,
            })]
        });
        let mut sum = Sum::default();
        self.sums.iter().for_each(|s| sum.add(s[0]));
        Ok(sum.value() / errors.total)
    }
}

impl<S: RowScore + Curvature + Sync> Loss for PerRow<'_, S> {
    fn rows(&self) -> usize {
        self.errors.error.len()
    }

    fn value(&mut self, sigma: &[f64]) -> Result<f64> {
        self.evaluate(sigma, None)
    }

    fn value_and_gradient(&mut self, sigma: &[f64], gradient: &mut [f64]) -> Result<f64> {
        check_length("gradient", gradient.len(), "error", self.errors.error.len())?;
        self.evaluate(sigma, Some(gradient))
    }

    fn curvature(&mut self, sigma: &[f64], curvature: &mut [f64]) -> Result<()> {
        check_length("sigma", sigma.len(), "error", self.errors.error.len())?;
        check_length("curvature", curvature.len(), "error", self.errors.error.len())?;
        check_sigma(sigma)?;
        let per_weight = 1.0 / self.errors.total;
        for (row, (out, (&error, &sigma))) in
            curvature.iter_mut().zip(self.errors.error.iter().zip(sigma)).enumerate()
        {
            let share = self.errors.weight.as_ref().map_or(1.0, |w| w[row]) * per_weight;
            *out = if share > 0.0 { S::curvature(error, sigma) * share } else { 0.0 };
        }
        Ok(())
    }
}

/// One block of a [`PerRow`] loss.
struct RowBlock<'a, S> {
    error: &'a [f64],
    sigma: &'a [f64],
    weight: Option<&'a [f64]>,
    per_weight: f64,
    gradient: Option<&'a mut [f64]>,
    score: PhantomData<S>,
}

impl<S: RowScore> Kernel for RowBlock<'_, S> {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let n = self.error.len().min(self.sigma.len()).min(BLOCK);
        let (mut value, mut slope) = ([0.0; BLOCK], [0.0; BLOCK]);
        for j in 0..n {
            let at = S::at::<A>(self.error[j], self.sigma[j]);
            (value[j], slope[j]) = (at.value, at.dsigma);
        }
        if let Some(gradient) = self.gradient {
            share_out(&slope[..n], self.weight, self.per_weight, gradient);
        }
        weighted_sum(&mut value[..n], self.weight)
    }
}
