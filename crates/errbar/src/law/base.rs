//! Standard laws: symmetric about 0, of scale 1. All others are made of these.

use std::f64::consts::{LN_2, PI, SQRT_2};

use serde::{Deserialize, Serialize};

use super::special::{
    FRAC_1_SQRT_2PI, gauss, gaussian_hazard, gaussian_log_tail, gaussian_tail,
    gaussian_tail_integral_ratio, log1p_excess,
};
use super::student::Student;
use crate::math::{erfcinv, exp, ln};
use crate::score::crps::FRAC_1_SQRT_PI;
use crate::score::nlpd::HALF_LN_2PI;

/// A law that is symmetric about 0, in the units in which its formula is simplest. Both tails of every
/// function keep their digits.
///
/// | | density | $\int_{-\infty}^0 F$ | half mean difference | standard deviation |
/// |---|---|---|---|---|
/// | normal | $e^{-z^2/2}/\sqrt{2\pi}$ | $1/\sqrt{2\pi}$ | $1/\sqrt\pi$ | 1 |
/// | logistic | $1/(2 \cosh(z/2))^2$ | $\ln 2$ | 1 | $\pi/\sqrt3$ |
/// | Laplace | $e^{-\|z\|}/2$ | 1/2 | 3/4 | $\sqrt2$ |
/// | Student's t | $\propto (1 + z^2/\nu)^{-(\nu+1)/2}$ | | | $\sqrt{\nu/(\nu-2)}$ |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// The Gaussian.
    Normal,
    /// Tails of an exponential, a round top.
    Logistic,
    /// Tails of an exponential, a sharp top.
    Laplace,
    /// Tails of a power.
    StudentT {
        /// The degrees of freedom: more than 1 for a mean and a CRPS, more than 2 for a variance. The
        /// normal law is the limit, and what infinity gives.
        nu: f64,
    },
}

/// The logarithm of one minus a probability.
pub(super) fn log_complement(p: f64) -> f64 {
    libm::log1p(-p)
}

impl Base {
    /// $F(z)$, the probability of values up to `z`.
    #[must_use]
    pub fn cdf(self, z: f64) -> f64 {
        if z > 0.0 { 1.0 - self.tail(z) } else { self.tail(-z) }
    }

    /// $1 - F(z)$, the probability of values above `z`.
    #[must_use]
    pub fn exceed(self, z: f64) -> f64 {
        self.cdf(-z)
    }

    /// $\ln F(z)$, finite where $F$ is too small for a number.
    #[must_use]
    pub fn log_cdf(self, z: f64) -> f64 {
        if z > 0.0 { log_complement(self.tail(z)) } else { self.log_tail(-z) }
    }

    /// $\ln(1 - F(z))$
    #[must_use]
    pub fn log_exceed(self, z: f64) -> f64 {
        self.log_cdf(-z)
    }

    /// The density.
    #[must_use]
    pub fn density(self, z: f64) -> f64 {
        let z = z.abs();
        match self {
            Base::Normal => FRAC_1_SQRT_2PI * gauss(z),
            Base::Logistic => {
                let q = exp(-z);
                q / ((1.0 + q) * (1.0 + q))
            }
            Base::Laplace => 0.5 * exp(-z),
            Base::StudentT { nu } => Student::new(nu).density(z),
        }
    }

    /// Its logarithm.
    #[must_use]
    pub fn log_density(self, z: f64) -> f64 {
        let z = z.abs();
        match self {
            Base::Normal => -0.5 * z * z - HALF_LN_2PI,
            Base::Logistic => -z - 2.0 * libm::log1p(exp(-z)),
            Base::Laplace => -z - LN_2,
            Base::StudentT { nu } => Student::new(nu).log_density(z),
        }
    }

    /// The value that is not exceeded with probability `p`; NaN outside of [0, 1].
    #[must_use]
    pub fn quantile(self, p: f64) -> f64 {
        if p > 0.5 { self.tail_quantile(1.0 - p) } else { -self.tail_quantile(p) }
    }

    /// The value that is exceeded with probability `q`: the way to the upper tail, where $p = 1 - q$ has
    /// no digits left.
    #[must_use]
    pub fn upper_quantile(self, q: f64) -> f64 {
        -self.quantile(q)
    }

    /// $\int_{-\infty}^z F$, the expected shortfall below `z`.
    #[must_use]
    pub fn integral(self, z: f64) -> f64 {
        // G(z) - G(-z) = z
        if z > 0.0 { z + self.tail_integral(z) } else { self.tail_integral(-z) }
    }

    /// $\int_{-\infty}^z F^2$
    #[must_use]
    pub fn squares(self, z: f64) -> f64 {
        if z > 0.0 {
            let tails = 2.0 * self.tail_integral(z) - self.tail_squares(z);
            z - self.half_mean_difference() + tails
        } else if z == 0.0 {
            self.half_mean_distance() - 0.5 * self.half_mean_difference()
        } else {
            self.tail_squares(-z)
        }
    }

    /// $\int F (1 - F)$, half of the expected distance of two draws.
    #[must_use]
    pub fn half_mean_difference(self) -> f64 {
        match self {
            Base::Normal => FRAC_1_SQRT_PI,
            Base::Logistic => 1.0,
            Base::Laplace => 0.75,
            Base::StudentT { nu } => Student::new(nu).half_mean_difference(),
        }
    }

    /// $\int_{-\infty}^0 F$, half of the expected distance from 0.
    #[must_use]
    pub fn half_mean_distance(self) -> f64 {
        match self {
            Base::Normal => FRAC_1_SQRT_2PI,
            Base::Logistic => LN_2,
            Base::Laplace => 0.5,
            Base::StudentT { nu } => Student::new(nu).half_mean_distance(),
        }
    }

    /// The variance: infinite for a Student's t of at most 2 degrees of freedom, NaN for one of at most 1.
    #[must_use]
    pub fn variance(self) -> f64 {
        match self {
            Base::Normal => 1.0,
            Base::Logistic => PI * PI / 3.0,
            Base::Laplace => 2.0,
            Base::StudentT { nu } if nu > 2.0 => 1.0 / (1.0 - 2.0 / nu),
            Base::StudentT { nu } if nu > 1.0 => f64::INFINITY,
            Base::StudentT { .. } => f64::NAN,
        }
    }
}

/// One side, `z` from 0 on.
impl Base {
    /// The probability beyond.
    pub(super) fn tail(self, z: f64) -> f64 {
        match self {
            Base::Normal => gaussian_tail(z),
            Base::Logistic => {
                let q = exp(-z);
                q / (1.0 + q)
            }
            Base::Laplace => 0.5 * exp(-z),
            Base::StudentT { nu } => Student::new(nu).tail(z),
        }
    }

    pub(super) fn log_tail(self, z: f64) -> f64 {
        match self {
            Base::Normal => gaussian_log_tail(z),
            Base::Logistic => -z - libm::log1p(exp(-z)),
            Base::Laplace => -z - LN_2,
            Base::StudentT { nu } => Student::new(nu).log_tail(z),
        }
    }

    /// The density over the probability beyond.
    pub(super) fn hazard(self, z: f64) -> f64 {
        match self {
            Base::Normal => gaussian_hazard(z),
            Base::Logistic => 1.0 / (1.0 + exp(-z)),
            // NaN stays NaN.
            Base::Laplace => 1.0 + 0.0 * exp(-z),
            Base::StudentT { nu } => Student::new(nu).hazard(z),
        }
    }

    /// Minus the derivative of the log density.
    pub(super) fn log_density_fall(self, z: f64) -> f64 {
        match self {
            Base::Normal => z,
            Base::Logistic => crate::math::tanh(0.5 * z),
            Base::Laplace => self.hazard(z),
            Base::StudentT { nu } => Student::new(nu).log_density_fall(z),
        }
    }

    /// $\int_z^\infty (1 - F)$
    pub(super) fn tail_integral(self, z: f64) -> f64 {
        match self {
            Base::Normal if z < 10.0 => self.density(z) * gaussian_tail_integral_ratio(z),
            Base::Normal => Student::new(f64::INFINITY).tail_integral(z),
            Base::Logistic => libm::log1p(exp(-z)),
            Base::Laplace => 0.5 * exp(-z),
            Base::StudentT { nu } => Student::new(nu).tail_integral(z),
        }
    }

    /// $\int_z^\infty (1 - F)^2$
    pub(super) fn tail_squares(self, z: f64) -> f64 {
        match self {
            // As of Student's t.
            Base::Normal if z < 1.0 => {
                let (tail, last) = (gaussian_tail(z), gaussian_tail(SQRT_2 * z) * FRAC_1_SQRT_PI);
                tail * (2.0 * self.density(z) - z * tail) - last
            }
            Base::Normal if z < 7.0 => {
                let (density, ratio) = (self.density(z), gaussian_tail_integral_ratio(z));
                let last = gaussian_tail_integral_ratio(SQRT_2 * z);
                density * density / z * (last - ratio * ratio)
            }
            Base::Normal => Student::new(f64::INFINITY).tail_squares(z),
            Base::Logistic => log1p_excess(exp(-z)),
            Base::Laplace => exp(-2.0 * z) / 8.0,
            Base::StudentT { nu } => Student::new(nu).tail_squares(z),
        }
    }

    /// The place with a probability `q` of at most one half beyond.
    pub(super) fn tail_quantile(self, q: f64) -> f64 {
        if !(0.0..=0.5).contains(&q) {
            return f64::NAN;
        }
        match self {
            Base::Normal => SQRT_2 * erfcinv(2.0 * q),
            // 1 - 2q is exact where it is small.
            Base::Logistic if q > 0.1 => libm::log1p((1.0 - 2.0 * q) / q),
            Base::Logistic => log_complement(q) - ln(q),
            Base::Laplace if q > 0.25 => -libm::log1p(2.0 * q - 1.0),
            Base::Laplace => -ln(2.0 * q),
            Base::StudentT { nu: f64::INFINITY } => Base::Normal.tail_quantile(q),
            Base::StudentT { nu } => Student::new(nu).tail_quantile(q),
        }
    }

    /// Student's t, for what only it has: a shape.
    pub(super) fn student(self) -> Option<Student> {
        match self {
            Base::StudentT { nu } => Some(Student::new(nu)),
            _ => None,
        }
    }
}
