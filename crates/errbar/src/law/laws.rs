//! The laws of many rows, scored at the speed of vector instructions.

use std::f64::consts::FRAC_1_SQRT_2;

use super::crps::{Laplace, Logistic, Normal, Standard, two_piece};
use super::special::{ERFC_BELOW, gaussian_tail};
use super::two_piece::Place;
use super::{Base, Gradient, Law};
use crate::checks::check_length;
use crate::error::Result;
use crate::math::{Arithmetic, Kernel, dispatch, erfc_slice};

/// Laws of one base around many forecasts: parallel slices.
///
/// Results have the same bits as those of each [`Law`] alone.
///
/// ```
/// use errbar::law::{Base, Law, Laws};
/// let laws = Laws {
///     base: Base::Laplace,
///     location: &[20.0, 30.0],
///     left: &[1.0, 2.0],
///     right: &[1.5, 2.0],
/// };
/// let mut scores = [0.0; 2];
/// laws.crps(&[21.0, 27.0], &mut scores)?;
/// assert_eq!(scores[0], Law::new(Base::Laplace, 20.0, 1.0, 1.5).crps(21.0));
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Laws<'a> {
    /// What the halves of all are of.
    pub base: Base,
    /// The modes.
    pub location: &'a [f64],
    /// The scales of the sides below.
    pub left: &'a [f64],
    /// The scales of the sides above.
    pub right: &'a [f64],
}

impl Laws<'_> {
    /// [`Law::crps`] of each. Student's t is computed one by one.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn crps(&self, y: &[f64], scores: &mut [f64]) -> Result<()> {
        self.run(y, scores, None)
    }

    /// [`Law::crps_and_gradient`] of each.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn crps_and_gradient(
        &self,
        y: &[f64],
        scores: &mut [f64],
        gradients: &mut [Gradient],
    ) -> Result<()> {
        check_length("gradients", gradients.len(), "y", y.len())?;
        self.run(y, scores, Some(gradients))
    }

    /// [`Law::cdf`] of each.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn cdf(&self, y: &[f64], out: &mut [f64]) -> Result<()> {
        self.probabilities(y, out, false)
    }

    /// [`Law::exceed`] of each.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn exceed(&self, y: &[f64], out: &mut [f64]) -> Result<()> {
        self.probabilities(y, out, true)
    }

    /// [`Law::quantile`] of each, of one probability for each law. Those that come again cost little
    /// where the law has one scale: intervals of one level, or a few levels in turn.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn quantile(&self, p: &[f64], out: &mut [f64]) -> Result<()> {
        self.quantiles(p, out, Law::quantile)
    }

    /// [`Law::upper_quantile`] of each, likewise.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn upper_quantile(&self, q: &[f64], out: &mut [f64]) -> Result<()> {
        self.quantiles(q, out, Law::upper_quantile)
    }

    fn law(&self, i: usize) -> Law {
        Law::new(self.base, self.location[i], self.left[i], self.right[i])
    }

    fn check_lengths(&self, what: &'static str, argument: &[f64], out: &[f64]) -> Result<()> {
        let columns = [("location", self.location), ("left", self.left), ("right", self.right)];
        for (column, values) in columns {
            check_length(column, values.len(), what, argument.len())?;
        }
        check_length("out", out.len(), what, argument.len())
    }

    fn probabilities(&self, y: &[f64], out: &mut [f64], above: bool) -> Result<()> {
        self.check_lengths("y", y, out)?;
        if self.base != Base::Normal {
            for (i, (out, y)) in out.iter_mut().zip(y).enumerate() {
                let law = self.law(i);
                *out = if above { law.exceed(*y) } else { law.cdf(*y) };
            }
            return Ok(());
        }
        let (mut x, mut tails) = ([0.0; BLOCK], [0.0; BLOCK]);
        for (block, (out, y)) in out.chunks_mut(BLOCK).zip(y.chunks(BLOCK)).enumerate() {
            let place = |i: usize| self.law(block * BLOCK + i).place(y[i]);
            for (i, x) in x[..y.len()].iter_mut().enumerate() {
                *x = place(i).z * FRAC_1_SQRT_2;
            }
            erfc_slice(&x[..y.len()], &mut tails[..y.len()]);
            for (i, out) in out.iter_mut().enumerate() {
                let Place { upper, z, weight, .. } = place(i);
                let tail = if z < ERFC_BELOW { 0.5 * tails[i] } else { gaussian_tail(z) };
                let beyond = weight * tail;
                *out = if upper == above { beyond } else { 1.0 - beyond };
            }
        }
        Ok(())
    }

    fn quantiles(&self, p: &[f64], out: &mut [f64], of: fn(&Law, f64) -> f64) -> Result<()> {
        self.check_lengths("p", p, out)?;
        let standard = Law::symmetric(self.base, 0.0, 1.0);
        // What was asked before, at places that its bits decide: so many that few have to share one.
        let mut known = [(f64::NAN, f64::NAN); 1024];
        for (i, (out, &p)) in out.iter_mut().zip(p).enumerate() {
            let law = self.law(i);
            // One scale, whose half is exact.
            *out = if law.left == law.right && law.left > f64::MIN_POSITIVE {
                let slot = (p.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
                if known[slot].0 != p {
                    known[slot] = (p, of(&standard, p));
                }
                law.location + law.left * known[slot].1
            } else {
                of(&law, p)
            };
        }
        Ok(())
    }

    fn run(&self, y: &[f64], scores: &mut [f64], gradients: Option<&mut [Gradient]>) -> Result<()> {
        self.check_lengths("y", y, scores)?;
        match self.base {
            Base::Normal => dispatch(Each { laws: *self, y, scores, gradients, base: Normal }),
            Base::Logistic => dispatch(Each { laws: *self, y, scores, gradients, base: Logistic }),
            Base::Laplace => dispatch(Each { laws: *self, y, scores, gradients, base: Laplace }),
            Base::StudentT { .. } => match gradients {
                None => {
                    let rows = scores.iter_mut().zip(y).enumerate();
                    rows.for_each(|(i, (score, y))| *score = self.law(i).crps(*y));
                }
                Some(gradients) => {
                    let rows = scores.iter_mut().zip(gradients).zip(y).enumerate();
                    rows.for_each(|(i, ((score, gradient), y))| {
                        (*score, *gradient) = self.law(i).crps_and_gradient(*y);
                    });
                }
            },
        }
        Ok(())
    }
}

/// Rows whose results are kept in arrays of their own, so that the compiler knows that nothing overlaps.
const BLOCK: usize = 64;

/// The formula for every row.
struct Each<'a, S> {
    laws: Laws<'a>,
    y: &'a [f64],
    scores: &'a mut [f64],
    gradients: Option<&'a mut [Gradient]>,
    base: S,
}

impl<S: Standard> Kernel for Each<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (base, constants) = (self.base, self.base.constants());
        let Laws { location, left, right, .. } = self.laws;
        let columns = location.chunks(BLOCK).zip(left.chunks(BLOCK)).zip(right.chunks(BLOCK));
        let rows = columns.zip(self.y.chunks(BLOCK)).map(|(((location, left), right), y)| {
            y.iter().zip(location).zip(left).zip(right).map(
                move |(((y, location), left), right)| {
                    two_piece::<A>(constants, |z| base.core::<A>(z), y - location, *left, *right)
                },
            )
        });
        let scores = self.scores.chunks_mut(BLOCK);
        let Some(gradients) = self.gradients else {
            for (scores, block) in scores.zip(rows) {
                let mut values = [0.0; BLOCK];
                values.iter_mut().zip(block).for_each(|(value, row)| *value = row.0);
                scores.copy_from_slice(&values[..scores.len()]);
            }
            return;
        };
        for ((scores, gradients), block) in scores.zip(gradients.chunks_mut(BLOCK)).zip(rows) {
            let mut values = [0.0; BLOCK];
            let (mut location, mut left, mut right) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
            let slopes = location.iter_mut().zip(&mut left).zip(&mut right);
            for ((value, ((location, left), right)), row) in
                values.iter_mut().zip(slopes).zip(block)
            {
                *value = row.0;
                (*location, *left, *right) = (row.1.location, row.1.left, row.1.right);
            }
            scores.copy_from_slice(&values[..scores.len()]);
            let slopes = location.iter().zip(&left).zip(&right);
            for (gradient, ((&location, &left), &right)) in gradients.iter_mut().zip(slopes) {
                *gradient = Gradient { location, left, right, shape: 0.0 };
            }
        }
    }
}
