//! What a fitted polynomial is made of, for those who write it in another form.

use super::{Link, Polynomial};
use crate::sigma::Scaling;

impl Polynomial {
    /// What the polynomial stands for.
    #[must_use]
    pub fn link(&self) -> Link {
        self.link
    }

    /// The ranges of the inputs in the training rows.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Each term: its exponents, one per input, and its coefficient. A term is the product of the
    /// Chebyshev polynomials of these orders of the scaled inputs.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> + Clone {
        self.terms.iter().map(Vec::as_slice).zip(self.coefficients.iter().copied())
    }

    /// The least sigma that it predicts; always positive.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor.max(f64::MIN_POSITIVE)
    }
}
