//! A standard law put around a forecast, with a scale of its own on each side.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::base::{Base, log_complement};
use super::special::{gaussian_hazard, gaussian_tail_quantile_of_log};
use super::{Bounds, Censored, Gradient};
use crate::math::ln;

/// A law with its mode at a location and a scale for each side of it.
///
/// With $s_1$ on the left, $s_2$ on the right and the distribution function $F_0$ of a [`Base`],
///
/// $$F(y) = \frac{2 s_1}{s_1 + s_2} F_0\Big(\frac{y - \mu}{s_1}\Big) \text{ for } y \le \mu, \qquad
/// 1 - F(y) = \frac{2 s_2}{s_1 + s_2} F_0\Big(\frac{\mu - y}{s_2}\Big) \text{ beyond:}$$
///
/// two halves of the base, each stretched, with one density at the mode. Two equal scales are the plain
/// base. The halves of the Gaussian are the two-piece normal law, those of Laplace's the asymmetric
/// Laplace law.
///
/// ```
/// use errbar::law::{Base, Law};
/// let rain = Law::new(Base::StudentT { nu: 5.0 }, 10.0, 1.0, 3.0);
/// assert!((rain.cdf(10.0) - 0.25).abs() < 1e-15);
/// assert!(rain.mean() > rain.median() && rain.median() > 10.0);
/// let (low, high) = rain.interval(0.9);
/// assert!((rain.cdf(high) - rain.cdf(low) - 0.9).abs() < 1e-14);
/// ```
///
/// A scale of 0 puts the probability of its side at the location; negative scales and NaN give NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// What its halves are of.
    pub base: Base,
    /// The mode.
    pub location: f64,
    /// The scale of the side below the mode.
    pub left: f64,
    /// The scale of the side above.
    pub right: f64,
}

/// A value as seen from the mode.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Whether it lies above.
    pub(super) upper: bool,
    /// Its distance, in scales of its side.
    pub(super) z: f64,
    /// The scale of its side.
    pub(super) own: f64,
    /// That of the other side.
    pub(super) other: f64,
    /// The mean of both scales.
    pub(super) half: f64,
    /// Twice the probability of its side.
    pub(super) weight: f64,
}

impl Law {
    /// A law with a scale for each side.
    #[must_use]
    pub fn new(base: Base, location: f64, left: f64, right: f64) -> Self {
        Self { base, location, left, right }
    }

    /// A law with one scale.
    #[must_use]
    pub fn symmetric(base: Base, location: f64, scale: f64) -> Self {
        Self::new(base, location, scale, scale)
    }

    /// The Gaussian of a mean and a standard deviation.
    #[must_use]
    pub fn normal(location: f64, scale: f64) -> Self {
        Self::symmetric(Base::Normal, location, scale)
    }

    /// A law in units of sigma, put around a forecast.
    #[must_use]
    pub fn around(&self, forecast: f64, sigma: f64) -> Self {
        let location = forecast + sigma * self.location;
        Self::new(self.base, location, sigma * self.left, sigma * self.right)
    }

    /// The law moved so that its mean is here.
    #[must_use]
    pub fn with_mean(self, mean: f64) -> Self {
        let law = Self { location: 0.0, ..self };
        Self { location: mean - law.mean(), ..self }
    }

    /// The law moved so that its median is here.
    #[must_use]
    pub fn with_median(self, median: f64) -> Self {
        let law = Self { location: 0.0, ..self };
        Self { location: median - law.median(), ..self }
    }

    /// What it gives to values beyond bounds counted as the bound.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Censored {
        Censored { law: self, bounds }
    }

    /// The probability of values up to `y`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        let place = self.place(y);
        let beyond = self.beyond(&place);
        if place.upper { 1.0 - beyond } else { beyond }
    }

    /// The probability of values above `y`.
    #[must_use]
    pub fn exceed(&self, y: f64) -> f64 {
        let place = self.place(y);
        let beyond = self.beyond(&place);
        if place.upper { beyond } else { 1.0 - beyond }
    }

    /// The logarithm of [`Law::cdf`], finite where that is too small for a number.
    #[must_use]
    pub fn log_cdf(&self, y: f64) -> f64 {
        let place = self.place(y);
        match place.upper {
            true => log_complement(self.beyond(&place)),
            false => self.log_beyond(&place),
        }
    }

    /// The logarithm of [`Law::exceed`].
    #[must_use]
    pub fn log_exceed(&self, y: f64) -> f64 {
        let place = self.place(y);
        match place.upper {
            true => self.log_beyond(&place),
            false => log_complement(self.beyond(&place)),
        }
    }

    /// The density, $\frac{2}{s_1 + s_2} f_0(z)$ with $z$ in scales of the side of `y`.
    #[must_use]
    pub fn density(&self, y: f64) -> f64 {
        let place = self.place(y);
        if place.z == f64::INFINITY { 0.0 } else { self.base.density(place.z) / place.half }
    }

    /// The logarithm of the density.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        let place = self.place(y);
        match place.z {
            f64::INFINITY => f64::NEG_INFINITY,
            z => self.base.log_density(z) - ln(place.half),
        }
    }

    /// The value that is not exceeded with probability `p`; NaN outside of [0, 1].
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        // Each side is asked for its own small probability.
        let place = self.place(self.location);
        if p <= 0.5 * place.weight {
            self.location - self.left * self.side_quantile(p, place.weight)
        } else {
            self.location + self.right * self.side_quantile(1.0 - p, 2.0 - place.weight)
        }
    }

    /// The value that is exceeded with probability `q`: the way to the upper tail, where $p = 1 - q$ has
    /// no digits left.
    #[must_use]
    pub fn upper_quantile(&self, q: f64) -> f64 {
        let mirrored = self.mirrored();
        -mirrored.quantile(q)
    }

    /// The ends of the interval in the middle that holds a share of the probability.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let outside = 0.5 * (1.0 - level);
        (self.quantile(outside), self.upper_quantile(outside))
    }

    /// The quantile of a number drawn evenly from (0, 1): a draw from the law.
    #[must_use]
    pub fn sample(&self, uniform: f64) -> f64 {
        self.quantile(uniform)
    }

    /// The mean, $\mu + 2 A (s_2 - s_1)$ with $A = \int_{-\infty}^0 F_0$.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let skew = self.right - self.left;
        // Where there is no skew there need be no moment, but then the mode is the middle.
        match self.base {
            Base::StudentT { nu } if nu.is_nan() || nu <= 1.0 => f64::NAN,
            _ => self.location + 2.0 * self.base.half_mean_distance() * skew,
        }
    }

    /// The median.
    #[must_use]
    pub fn median(&self) -> f64 {
        if self.left == self.right { self.location } else { self.quantile(0.5) }
    }

    /// The variance, $m_2 (s_1^2 - s_1 s_2 + s_2^2) - 4 A^2 (s_2 - s_1)^2$ with the variance $m_2$ of the
    /// base.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let (skew, product) = (self.right - self.left, self.left * self.right);
        let shift = 2.0 * self.base.half_mean_distance();
        match self.base.variance() {
            f64::INFINITY => f64::INFINITY,
            variance => variance * product + (variance - shift * shift) * skew * skew,
        }
    }

    /// The standard deviation.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        // In units of the larger scale, whose square may be too large or too small for a number.
        let unit = self.left.max(self.right);
        let law = Self { left: self.left / unit, right: self.right / unit, ..*self };
        if unit > 0.0 { unit * law.variance().sqrt() } else { self.variance().sqrt() }
    }

    /// The value of a standard Gaussian that is as improbable, $\Phi^{-1}(F(y))$: for a Gaussian the
    /// scaled error, and calibrated when it is standard normal whatever the law. Far tails go through
    /// logarithms.
    #[must_use]
    pub fn gaussian_quantile_of(&self, y: f64) -> f64 {
        let place = self.place(y);
        let sign = if place.upper { 1.0 } else { -1.0 };
        if self.base == Base::Normal && self.left == self.right {
            return sign * place.z;
        }
        // The smaller tail, which may be that of the other side.
        let log = self.log_beyond(&place);
        match log > -LN_2 {
            true => -sign * gaussian_tail_quantile_of_log(log_complement(self.beyond(&place))),
            false => sign * gaussian_tail_quantile_of_log(log),
        }
    }

    /// The value whose [`Law::gaussian_quantile_of`] this is.
    #[must_use]
    pub fn quantile_of_gaussian(&self, q: f64) -> f64 {
        if self.base == Base::Normal && self.left == self.right {
            return self.location + q * self.left;
        }
        // The least probability there is, where that of a Gaussian is none.
        let tail = |q: f64| Law::normal(0.0, 1.0).cdf(-q.abs()).max(f64::MIN_POSITIVE);
        match q {
            q if q.is_nan() => q,
            q if q < 0.0 => self.quantile(tail(q)),
            q => self.upper_quantile(tail(q)),
        }
    }

    /// [`Law::cdf`] with its derivatives.
    #[must_use]
    pub fn cdf_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let place = self.place(y);
        let beyond = self.beyond(&place);
        let gradient = self.log_beyond_gradient(&place);
        match place.upper {
            true => (1.0 - beyond, gradient * -beyond),
            false => (beyond, gradient * beyond),
        }
    }

    /// [`Law::log_cdf`] with its derivatives.
    #[must_use]
    pub fn log_cdf_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let place = self.place(y);
        let gradient = self.log_beyond_gradient(&place);
        if place.upper {
            let beyond = self.beyond(&place);
            (log_complement(beyond), gradient * (-beyond / (1.0 - beyond)))
        } else {
            (self.log_beyond(&place), gradient)
        }
    }

    /// [`Law::log_exceed`] with its derivatives.
    #[must_use]
    pub fn log_exceed_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let (value, gradient) = self.mirrored().log_cdf_and_gradient(-y);
        (value, gradient.mirrored())
    }

    /// [`Law::gaussian_quantile_of`] with its derivatives, $\frac{dF}{\varphi(q)}$, without the numbers
    /// that vanish in the tails.
    #[must_use]
    pub fn gaussian_quantile_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let q = self.gaussian_quantile_of(y);
        // Of the smaller tail: dq = d(ln F) F/phi(q), and F/phi is Mills' ratio.
        match q < 0.0 {
            true => (q, self.log_cdf_and_gradient(y).1 * (1.0 / gaussian_hazard(-q))),
            false => (q, self.log_exceed_and_gradient(y).1 * (-1.0 / gaussian_hazard(q))),
        }
    }

    /// The law seen in a mirror at 0.
    pub(super) fn mirrored(&self) -> Self {
        Self { base: self.base, location: -self.location, left: self.right, right: self.left }
    }

    pub(super) fn place(&self, y: f64) -> Place {
        let error = y - self.location;
        let upper = error > 0.0;
        let (own, other) = if upper { (self.right, self.left) } else { (self.left, self.right) };
        let half = 0.5 * own + 0.5 * other;
        let (z, weight) = match own >= 0.0 && other >= 0.0 {
            true => (
                if error == 0.0 { 0.0 } else { error.abs() / own },
                if half > 0.0 { own / half } else { 1.0 },
            ),
            false => (f64::NAN, f64::NAN),
        };
        Place { upper, z, own, other, half, weight }
    }

    /// The distance from the mode, in scales, with a probability beyond on a side of some weight.
    fn side_quantile(&self, beyond: f64, weight: f64) -> f64 {
        let share = beyond / weight;
        // Rounding may lead past the middle; NaN stays NaN.
        self.base.tail_quantile(if share > 0.5 && beyond < 1.0 { 0.5 } else { share })
    }

    /// The probability further out on the side of a value.
    fn beyond(&self, place: &Place) -> f64 {
        place.weight * self.base.tail(place.z)
    }

    fn log_beyond(&self, place: &Place) -> f64 {
        ln(place.weight) + self.base.log_tail(place.z)
    }

    /// The derivatives of the logarithm of [`Law::beyond`].
    fn log_beyond_gradient(&self, place: &Place) -> Gradient {
        let Place { upper, z, own, other, half, .. } = *place;
        let hazard = self.base.hazard(z);
        let location = if upper { hazard / own } else { -hazard / own };
        let own = (0.5 * other / half + if z > 0.0 { z * hazard } else { 0.0 }) / own;
        let shape = self.base.student().map_or(0.0, |t| t.log_tail_slope(z));
        Gradient::of_sides(upper, location, own, -0.5 / half, shape)
    }
}
