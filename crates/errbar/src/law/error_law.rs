//! The law of errors in units of their sigma.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Base, Bounds, Curve, Law};

/// The law of errors in units of sigma: one of a few parameters, or a [`Curve`] that was learned around
/// such a one and takes its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct ErrorLaw {
    law: Law,
    curve: Option<Arc<Curve>>,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(flatten)]
    law: Law,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
}

impl From<Saved> for ErrorLaw {
    fn from(Saved { law, curve }: Saved) -> Self {
        Self { law, curve: curve.map(Arc::new) }
    }
}

impl From<ErrorLaw> for Saved {
    fn from(ErrorLaw { law, curve }: ErrorLaw) -> Self {
        Self { law, curve: curve.map(Arc::unwrap_or_clone) }
    }
}

impl From<Law> for ErrorLaw {
    fn from(law: Law) -> Self {
        Self { law, curve: None }
    }
}

impl Default for ErrorLaw {
    /// The standard Gaussian.
    fn default() -> Self {
        Law::normal(0.0, 1.0).into()
    }
}

/// A function of the curve where there is one, else of the law.
macro_rules! either {
    ($($(#[$doc:meta])* $name:ident($argument:ident);)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(&self, $argument: f64) -> f64 {
            match &self.curve {
                Some(curve) => curve.$name($argument),
                None => self.law.$name($argument),
            }
        })*
    };
}

impl ErrorLaw {
    /// A curve, and the law that it was learned around.
    #[must_use]
    pub fn bent(law: Law, curve: Curve) -> Self {
        Self { law, curve: Some(Arc::new(curve)) }
    }

    /// The same in another unit, of which there are so many in the old one.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let curve = self.curve().and_then(|curve| curve.times(factor)).map(Arc::new);
        Self { law: self.law.around(0.0, factor), curve }
    }

    /// The law of few parameters: that of errors, unless a curve takes its place.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// The curve, where there is one.
    #[must_use]
    pub fn curve(&self) -> Option<&Curve> {
        self.curve.as_deref()
    }

    /// Whether it is the standard Gaussian.
    #[must_use]
    pub fn is_gaussian(&self) -> bool {
        self.curve.is_none() && self.law == Law::normal(0.0, 1.0)
    }

    either! {
        /// The probability of values up to `z`.
        cdf(z);
        /// The probability of values above `z`.
        exceed(z);
        /// The density.
        density(z);
        /// Minus the logarithm of the density.
        log_score(z);
        /// The value that is not exceeded with probability `p`.
        quantile(p);
        /// The value that is exceeded with probability `q`.
        upper_quantile(q);
        /// The value of a standard Gaussian that is as improbable.
        gaussian_quantile_of(z);
        /// The value whose [`ErrorLaw::gaussian_quantile_of`] this is.
        quantile_of_gaussian(q);
    }

    /// The ends of the interval in the middle that holds a share of the probability.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let outside = 0.5 * (1.0 - level);
        (self.quantile(outside), self.upper_quantile(outside))
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.curve().map_or_else(|| self.law.mean(), |curve| curve.mean_and_deviation().0)
    }

    /// The standard deviation.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        match self.curve() {
            Some(curve) => curve.mean_and_deviation().1,
            None => self.law.standard_deviation(),
        }
    }

    /// The CRPS when `z` is then observed.
    #[must_use]
    pub fn crps(&self, z: f64) -> f64 {
        self.crps_within(z, Bounds::default())
    }

    /// The same where what lies beyond bounds counts as the bound.
    #[must_use]
    pub fn crps_within(&self, z: f64, bounds: Bounds) -> f64 {
        match self.curve() {
            Some(curve) => curve.crps_within(z, bounds),
            None => self.law.within(bounds).crps(z),
        }
    }

    /// Minus the logarithm of the density of what was observed, where sigma is one; at a bound that of its
    /// probability, which has no unit.
    pub(crate) fn log_score_within(&self, z: f64, bounds: Bounds, sigma: f64) -> f64 {
        let Some(curve) = self.curve() else {
            return self.law.within(bounds).log_score_in(z, sigma);
        };
        match z {
            z if z < bounds.lower() || z > bounds.upper() => f64::INFINITY,
            z if z == bounds.lower() => -curve.log_cdf(z),
            z if z == bounds.upper() => -curve.log_exceed(z),
            z => curve.log_score(z) + sigma.ln(),
        }
    }

    /// Whether it is one of errors in units of sigma.
    pub(crate) fn is_unit(&self) -> bool {
        let law = &self.law;
        let degrees = !matches!(law.base, Base::StudentT { nu } if nu.is_nan() || nu <= 2.0);
        let scales = [law.left, law.right].iter().all(|scale| (1e-3..1e3).contains(scale));
        let deviation = self.standard_deviation();
        degrees && scales && law.location.abs() < 1e3 && (deviation - 1.0).abs() < 1e-9
    }
}
