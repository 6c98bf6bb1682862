//! The log-normal law, for what is always positive.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use super::Base;
use super::special::integral;
use crate::math::{erf, exp, ln};
use crate::score::nlpd::HALF_LN_2PI;

/// The law of a number whose logarithm is Gaussian.
///
/// A forecast $f$ for its median gives $\mu = \ln f$, one for its mean $\mu = \ln f - \sigma^2/2$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    /// The mean of the logarithm.
    pub mu: f64,
    /// The standard deviation of the logarithm.
    pub sigma: f64,
}

impl LogNormal {
    /// The law with a median.
    #[must_use]
    pub fn with_median(median: f64, sigma: f64) -> Self {
        Self { mu: ln(median), sigma }
    }

    /// The law with a mean.
    #[must_use]
    pub fn with_mean(mean: f64, sigma: f64) -> Self {
        Self { mu: ln(mean) - 0.5 * sigma * sigma, sigma }
    }

    /// The probability of values up to `y`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        if y <= 0.0 { 0.0 } else { Base::Normal.cdf(self.z(y)) }
    }

    /// The probability of values above `y`.
    #[must_use]
    pub fn exceed(&self, y: f64) -> f64 {
        if y <= 0.0 { 1.0 } else { Base::Normal.exceed(self.z(y)) }
    }

    /// The density.
    #[must_use]
    pub fn density(&self, y: f64) -> f64 {
        if y <= 0.0 { 0.0 } else { Base::Normal.density(self.z(y)) / (y * self.sigma) }
    }

    /// The value that is not exceeded with probability `p`; NaN outside of [0, 1].
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        exp(self.mu + self.sigma * Base::Normal.quantile(p))
    }

    /// The value that is exceeded with probability `q`.
    #[must_use]
    pub fn upper_quantile(&self, q: f64) -> f64 {
        exp(self.mu - self.sigma * Base::Normal.quantile(q))
    }

    /// The ends of the interval in the middle that holds a share of the probability.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let outside = 0.5 * (1.0 - level);
        (self.quantile(outside), self.upper_quantile(outside))
    }

    /// The mean, $e^{\mu + \sigma^2/2}$.
    #[must_use]
    pub fn mean(&self) -> f64 {
        exp(self.mu + 0.5 * self.sigma * self.sigma)
    }

    /// The median, $e^\mu$.
    #[must_use]
    pub fn median(&self) -> f64 {
        exp(self.mu)
    }

    /// The CRPS when `y` is then observed, with $w = \frac{\ln y - \mu}{\sigma}$ and the mean $E$,
    ///
    /// $$y (2 \Phi(w) - 1) - 2 E \Big[\Phi(w - \sigma) + \Phi\Big(\frac{\sigma}{\sqrt2}\Big) - 1\Big].$$
    ///
    /// An observation that is not positive, which should not be, adds its distance from 0.
    #[must_use]
    pub fn crps(&self, y: f64) -> f64 {
        self.crps_and_gradient(y).0
    }

    /// [`LogNormal::crps`] with its derivatives in mu and sigma.
    #[must_use]
    pub fn crps_and_gradient(&self, y: f64) -> (f64, [f64; 2]) {
        let Self { sigma, .. } = *self;
        let mean = self.mean();
        let negative = y <= 0.0;
        let w = if negative { f64::NEG_INFINITY } else { self.z(y) };
        // Phi(w - sigma) + Phi(sigma/sqrt 2) - 1, of the tails that are small.
        let bracket = Base::Normal.cdf(w - sigma) - Base::Normal.exceed(sigma * FRAC_1_SQRT_2);
        let product = 2.0 * mean * bracket;
        let inside = 1.0 - 2.0 * Base::Normal.exceed(w);
        let dsigma = if negative { 0.0 } else { 2.0 * y * Base::Normal.density(w) }
            - sigma * product
            - SQRT_2 * mean * Base::Normal.density(sigma * FRAC_1_SQRT_2);
        let value = match negative || sigma > 0.25 {
            true => y * inside - product,
            false => mean * self.narrow_crps(w, inside),
        };
        (value, [-product, dsigma])
    }

    /// Minus the log of the density that the law gave to what happened; infinite where it gave none.
    #[must_use]
    pub fn log_score(&self, y: f64) -> f64 {
        self.log_score_and_gradient(y).0
    }

    /// [`LogNormal::log_score`] with its derivatives in mu and sigma.
    #[must_use]
    pub fn log_score_and_gradient(&self, y: f64) -> (f64, [f64; 2]) {
        if y <= 0.0 {
            return (f64::INFINITY, [0.0; 2]);
        }
        let w = self.z(y);
        let value = 0.5 * w * w + HALF_LN_2PI + ln(y) + ln(self.sigma);
        (value, [-w / self.sigma, (1.0 - w) * (1.0 + w) / self.sigma])
    }

    /// The CRPS over the mean for a small sigma, where the terms of the closed form are much larger than their
    /// sum: with $y = E e^d$,
    /// $(e^d - 1) (2 \Phi(w) - 1) + 2 (\Phi(w) - \Phi(w - \sigma)) - \operatorname{erf}(\sigma/2)$.
    fn narrow_crps(&self, w: f64, inside: f64) -> f64 {
        let sigma = self.sigma;
        let between = if sigma * (1.0 + w.abs()) < 0.5 {
            integral(w - sigma, w, |z| Base::Normal.density(z))
        } else if w > 0.0 {
            Base::Normal.exceed(w - sigma) - Base::Normal.exceed(w)
        } else {
            Base::Normal.cdf(w) - Base::Normal.cdf(w - sigma)
        };
        let shift = libm::expm1(sigma * (w - 0.5 * sigma));
        shift * inside + 2.0 * between - erf(0.5 * sigma)
    }

    fn z(&self, y: f64) -> f64 {
        (ln(y) - self.mu) / self.sigma
    }
}
