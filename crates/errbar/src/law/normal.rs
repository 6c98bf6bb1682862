//! The Gaussian law.

use std::f64::consts::SQRT_2;

use super::{Base, Bounds, Law};
use crate::math::erfinv;
use crate::score::crps::crps;

/// A Gaussian around a forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    /// Its mean: the forecast.
    pub location: f64,
    /// Its standard deviation: sigma.
    pub scale: f64,
}

impl Normal {
    /// The probability of values up to `y`. Both tails keep their accuracy.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        Base::Normal.cdf(self.z(y))
    }

    /// The probability of values above `y`.
    #[must_use]
    pub fn exceed(&self, y: f64) -> f64 {
        Base::Normal.exceed(self.z(y))
    }

    /// The value that is not exceeded with probability `p`; NaN outside of [0, 1].
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        self.location + Self::standard_quantile(p) * self.scale
    }

    /// The ends of the interval in the middle that holds a share of the probability.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = SQRT_2 * erfinv(level) * self.scale;
        (self.location - half, self.location + half)
    }

    /// The continuous ranked probability score when `y` is then observed.
    #[must_use]
    pub fn crps(&self, y: f64) -> f64 {
        crps(y - self.location, self.scale)
    }

    /// [`Normal::crps`] where values beyond the bounds count as the bound: the part of the integral
    /// beyond them is left out.
    #[must_use]
    pub fn crps_within(&self, bounds: &Bounds, y: f64) -> f64 {
        Law::normal(self.location, self.scale).within(*bounds).crps(y)
    }

    /// The quantile of the standard Gaussian.
    pub(crate) fn standard_quantile(p: f64) -> f64 {
        Base::Normal.quantile(p)
    }

    fn z(&self, y: f64) -> f64 {
        (y - self.location) / self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Normal = Normal { location: 2.0, scale: 3.0 };

    #[test]
    fn quantiles_and_probabilities_are_inverse() {
        for p in [1e-300, 1e-12, 0.025, 0.3, 0.5, 0.9, 1.0 - 1e-12] {
            let y = LAW.quantile(p);
            assert!((LAW.cdf(y) / p - 1.0).abs() < 1e-10, "{p} {y}");
            assert!((LAW.cdf(y) + LAW.exceed(y) - 1.0).abs() < 1e-15);
        }
        let (low, high) = LAW.interval(0.9);
        assert!((LAW.cdf(high) - LAW.cdf(low) - 0.9).abs() < 1e-14);
        assert!((low + high - 2.0 * LAW.location).abs() < 1e-14);
        assert!(LAW.quantile(1.5).is_nan());
    }

    /// The integral of the squared difference of distribution functions, by Simpson's rule.
    fn by_quadrature(bounds: &Bounds, y: f64) -> f64 {
        let from = bounds.lower().max(LAW.location - 40.0);
        let to = bounds.upper().min(LAW.location + 40.0);
        let part = |a: f64, b: f64, f: &dyn Fn(f64) -> f64| {
            let steps = 20_000;
            let width = (b - a) / f64::from(steps);
            let sum: f64 = (0..=steps)
                .map(|i| {
                    let weight = match i {
                        0 => 1.0,
                        i if i == steps => 1.0,
                        i if i % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    weight * f(a + f64::from(i) * width)
                })
                .sum();
            sum * width / 3.0
        };
        part(from, y, &|x| LAW.cdf(x).powi(2)) + part(y, to, &|x| LAW.exceed(x).powi(2))
    }

    #[test]
    fn crps_within_bounds_is_the_integral() {
        let cases = [
            (None, None, 1.0),
            (Some(0.0), None, 0.0),
            (Some(0.0), None, 5.0),
            (Some(1.5), Some(4.0), 3.0),
            (None, Some(-1.0), -2.0),
            (Some(6.0), None, 6.0),
        ];
        for (lower, upper, y) in cases {
            let bounds = Bounds::new(lower, upper).unwrap();
            let (own, other) = (LAW.crps_within(&bounds, y), by_quadrature(&bounds, y));
            assert!((own - other).abs() < 1e-9, "{lower:?} {upper:?} {y}: {own} {other}");
        }
    }
}
