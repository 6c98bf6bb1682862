//! The Accuracy-Reliability cost of any law.

use std::f64::consts::FRAC_1_SQRT_2;

use super::{Gradient, Law};
use crate::checks::check_length;
use crate::error::Result;
use crate::math;
use crate::score::accuracy_reliability::{AccuracyReliability as Gaussian, Ar, Beta, Split};
use crate::score::crps::FRAC_1_SQRT_PI;
use crate::score::reliability::CONSTANT;

/// The Accuracy-Reliability cost of errors as a function of their laws: the mean CRPS of the laws, and the
/// Reliability Score of $\eta\_i = \Phi^{-1}(F\_i(\varepsilon\_i))/\sqrt2$, which for Gaussian laws is the
/// [cost of 2018](Gaussian). Beta is that of the Gaussian for every law, so that the costs of
/// different laws can be compared.
///
/// ```
/// use errbar::law::{AccuracyReliability, Base, Law};
/// use errbar::score::Beta;
///
/// let error = [0.3, -0.2, 2.7, 0.1];
/// let mut cost = AccuracyReliability::new(&error, None, Beta::Heuristic)?;
/// let even = cost.value(&[Law::normal(0.0, 1.0); 4])?;
/// let skewed = cost.value(&[Law::new(Base::Normal, 0.0, 0.3, 1.5); 4])?;
/// assert!(skewed.value < even.value);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AccuracyReliability<'a> {
    /// Of a Gaussian: errors, weights, beta, and what ranks.
    gaussian: Gaussian<'a>,
    slopes: Vec<Slopes>,
}

/// What the fused pass keeps of a row until all are ranked.
#[derive(Debug, Clone, Copy, Default)]
struct Slopes {
    crps: Gradient,
    quantile: Gradient,
}

/// As far as a scaled error need be from 0: its Gaussian tail is beyond the smallest double.
const FARTHEST: f64 = 1e150;

impl<'a> AccuracyReliability<'a> {
    /// The cost of `error` with optional weights.
    ///
    /// # Errors
    /// What [`Gaussian::new`] refuses.
    pub fn new(error: &'a [f64], weight: Option<&'a [f64]>, beta: Beta) -> Result<Self> {
        let gaussian = Gaussian::new(error, weight, beta)?;
        Ok(Self { gaussian, slopes: vec![Slopes::default(); error.len()] })
    }

    /// The weight of accuracy.
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.gaussian.beta()
    }

    /// The cost of the law of each error.
    ///
    /// # Errors
    /// Not one law for each error.
    pub fn value(&mut self, laws: &[Law]) -> Result<Ar> {
        check_length("laws", laws.len(), "error", self.gaussian.error().len())?;
        Ok(self.evaluate(|row| laws[row], None::<fn(usize, Gradient)>))
    }

    /// The cost, and its derivatives in the parameters of each law, in one pass.
    ///
    /// # Errors
    /// Not one law and one place for its derivatives for each error.
    pub fn value_and_gradient(&mut self, laws: &[Law], gradient: &mut [Gradient]) -> Result<Ar> {
        check_length("laws", laws.len(), "error", self.gaussian.error().len())?;
        check_length("gradient", gradient.len(), "error", laws.len())?;
        Ok(self.evaluate(|row| laws[row], Some(|row: usize, slope| gradient[row] = slope)))
    }

    pub(crate) fn error(&self) -> &[f64] {
        self.gaussian.error()
    }

    fn evaluate(
        &mut self,
        law: impl Fn(usize) -> Law,
        mut gradient: Option<impl FnMut(usize, Gradient)>,
    ) -> Ar {
        let wanted = gradient.is_some();
        let mut crps = vec![0.0; self.slopes.len()];
        let quantile: Vec<f64> = (0..crps.len())
            .map(|row| {
                let (law, error) = (law(row), self.gaussian.error()[row]);
                if !wanted {
                    crps[row] = law.crps(error);
                    return law.gaussian_quantile_of(error);
                }
                let (score, by_crps) = law.crps_and_gradient(error);
                let (quantile, by_quantile) = law.gaussian_quantile_and_gradient(error);
                self.slopes[row] = Slopes { crps: by_crps, quantile: by_quantile };
                crps[row] = score;
                quantile
            })
            .collect();
        let slopes = std::mem::take(&mut self.slopes);
        let ar = self.combine(&crps, &quantile, |row, by_crps, by_quantile| {
            let Some(gradient) = &mut gradient else { return };
            let Slopes { crps, quantile } = slopes[row];
            let accurate = if by_crps == 0.0 { Gradient::default() } else { crps * by_crps };
            match by_quantile == 0.0 {
                true => gradient(row, accurate),
                false => gradient(row, accurate + quantile * by_quantile),
            }
        });
        self.slopes = slopes;
        ar
    }

    /// The cost of rows with these CRPS and these Gaussian quantiles. For each row it is told how much the
    /// cost changes with either.
    pub(crate) fn combine(
        &mut self,
        crps: &[f64],
        quantile: &[f64],
        mut each: impl FnMut(usize, f64, f64),
    ) -> Ar {
        let far = |q: &f64| (q * FRAC_1_SQRT_2).clamp(-FARTHEST, FARTHEST);
        let eta: Vec<f64> = quantile.iter().map(far).collect();
        let split = self.gaussian.split();
        let (mut sum_crps, mut sum_rs) = (0.0, 0.0);
        self.gaussian.rank_eta(&eta);
        self.gaussian.for_each_ranked(|row, eta, gap, share| {
            if share == 0.0 {
                return each(row, 0.0, 0.0);
            }
            let bell = if eta.abs() < 30.0 { math::exp(-eta * eta) } else { 0.0 };
            let pull = if gap == 0.0 { 0.0 } else { eta * gap };
            sum_crps += share * crps[row];
            sum_rs += share * (pull + FRAC_1_SQRT_PI * bell);
            each(row, split.accuracy * share, split.reliability * gap * FRAC_1_SQRT_2 * share);
        });
        let value = split.cost(sum_crps, sum_rs);
        let (constant, rest) = CONSTANT;
        let rs = (sum_rs - constant) - rest;
        Ar { value, beta: split.accuracy, crps: sum_crps, rs }
    }

    /// See the cost of the Gaussian.
    pub(crate) fn rank_roughly(&mut self) {
        self.gaussian.rank_roughly();
    }

    /// The sum of the weights, and the weights, if there are any.
    pub(crate) fn weights(&self) -> (f64, Option<&[f64]>) {
        (self.gaussian.total(), self.gaussian.weight())
    }

    /// The weights of accuracy and of reliability.
    pub(crate) fn split(&self) -> Split {
        self.gaussian.split()
    }
}
