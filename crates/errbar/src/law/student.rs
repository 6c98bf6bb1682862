//! The tail of Student's t, from few degrees of freedom to infinitely many, which is the Gaussian.
//!
//! With $u = z^2/\nu$ and $c = \frac{\Gamma((\nu+1)/2)}{\Gamma(\nu/2)\sqrt{\pi\nu}}$ the density is
//! $f = c (1 + u)^{-(\nu+1)/2}$. Beyond about two scales its integrals are hypergeometric functions of
//! $-1/u$ (the transformations of Pfaff put them so),
//!
//! $$S(z) = \int_z^\infty f = f \frac{\nu + z^2}{\nu z} \phi_{1/2}, \qquad
//! G(z) = \int_z^\infty S = f \frac{(\nu + z^2)^2}{\nu (\nu - 1) z^2} \phi_{3/2}, \qquad
//! \phi_a = {}\_2F\_1\big(a, 1; \tfrac\nu2 + 1; -\tfrac1u\big),$$
//!
//! and $\phi_a$ is a continued fraction of positive terms, which loses no digits for any $\nu$ and
//! tends to that of Mills' ratio. In the middle $\int_0^z f$ is a series of positive terms. The
//! derivatives in $\nu$ go through the same recurrences.

use std::f64::consts::PI;

use super::special::{
    FRAC_1_SQRT_2PI, gamma_step, gauss, gaussian_tail_quantile_of_log, log_gamma_step_slope,
    log1p_excess,
};
use crate::math::{exp, ln};

/// The standard law with some degrees of freedom; every `z` is at least 0.
#[derive(Clone, Copy)]
pub(super) struct Student {
    nu: f64,
    /// The density at 0.
    peak: f64,
}

/// A number and its derivative in nu.
#[derive(Clone, Copy)]
struct InNu {
    value: f64,
    slope: f64,
}

impl Student {
    pub(super) fn new(nu: f64) -> Self {
        let nu = if nu > 0.0 { nu } else { f64::NAN };
        Self { nu, peak: FRAC_1_SQRT_2PI * gamma_step(0.5 * nu) }
    }

    /// $\nu/(\nu - 1)$, and NaN without a mean.
    fn mean_factor(&self) -> f64 {
        if self.nu > 1.0 { 1.0 / (1.0 - 1.0 / self.nu) } else { f64::NAN }
    }

    /// Half of the expected distance of two draws.
    pub(super) fn half_mean_difference(&self) -> f64 {
        let (nu, step) = (self.nu, self.peak / FRAC_1_SQRT_2PI);
        let root = (PI * (1.0 - 0.5 / nu)).sqrt();
        self.mean_factor() * step * step / (root * gamma_step(nu - 0.5))
    }

    /// Its derivative in nu.
    pub(super) fn half_mean_difference_slope(&self) -> f64 {
        let nu = self.nu;
        // 3/(2 nu) - 1/(nu - 1) - 1/(2 nu - 1) in one fraction.
        let rational = (3.0 / nu - 5.0) / (2.0 * (nu - 1.0) * (2.0 * nu - 1.0));
        let gammas = log_gamma_step_slope(0.5 * nu) - log_gamma_step_slope(nu - 0.5);
        self.half_mean_difference() * (rational + gammas)
    }

    /// $G(0)$: half of the mean distance from 0.
    pub(super) fn half_mean_distance(&self) -> f64 {
        self.peak * self.mean_factor()
    }

    /// Its derivative in nu.
    pub(super) fn half_mean_distance_slope(&self) -> f64 {
        self.half_mean_distance() * (self.log_peak_slope() - 1.0 / (self.nu * (self.nu - 1.0)))
    }

    fn log_peak_slope(&self) -> f64 {
        0.5 * log_gamma_step_slope(0.5 * self.nu)
    }

    /// $\sqrt{1 + u}$, also where $z^2$ overflows.
    fn stretch(&self, z: f64) -> f64 {
        let u = z * z / self.nu;
        if u < 1e16 { (1.0 + u).sqrt() } else { z / self.nu.sqrt() }
    }

    /// $\sqrt{1 + u}/z$
    fn slant(&self, z: f64) -> f64 {
        (1.0 / (z * z) + 1.0 / self.nu).sqrt()
    }

    /// $-\frac\nu2 \ln(1 + u)$
    fn log_power(&self, z: f64) -> f64 {
        let u = z * z / self.nu;
        if self.nu == f64::INFINITY {
            -0.5 * z * z
        } else if u < 1e16 {
            -0.5 * self.nu * libm::log1p(u)
        } else {
            -self.nu * ln(z / self.nu.sqrt())
        }
    }

    /// $(1 + u)^{(k - \nu)/2}$
    fn power(&self, z: f64, k: f64) -> f64 {
        if self.nu == f64::INFINITY || z == f64::INFINITY {
            return gauss(z);
        }
        let stretch = self.stretch(z);
        // The power magnifies the rounding of its base, the exponential that of the logarithm.
        match self.nu < 50.0 && z * z > self.nu {
            true => pxfm::f_pow(stretch, k - self.nu),
            false => exp(self.log_power(z) + k * ln(stretch)),
        }
    }

    /// Whether the fractions are for it, rather than the series.
    fn is_far(&self, z: f64) -> bool {
        z * z >= 4.0 / (1.0 + 4.0 / self.nu)
    }

    pub(super) fn density(&self, z: f64) -> f64 {
        self.peak * self.power(z, -1.0)
    }

    pub(super) fn log_density(&self, z: f64) -> f64 {
        if z == f64::INFINITY {
            return -z;
        }
        ln(self.peak) + self.log_power(z) - ln(self.stretch(z))
    }

    /// Minus the derivative of the log density.
    pub(super) fn log_density_fall(&self, z: f64) -> f64 {
        if z == f64::INFINITY {
            return if self.nu == f64::INFINITY { z } else { 0.0 };
        }
        (1.0 + 1.0 / self.nu) * (z / self.stretch(z)) / self.stretch(z)
    }

    /// The derivative of the log density in nu.
    pub(super) fn log_density_slope(&self, z: f64) -> f64 {
        self.log_peak_slope() + self.log_power_slope(z) - self.log_stretch_slope(z)
    }

    fn log_power_slope(&self, z: f64) -> f64 {
        let u = z * z / self.nu;
        match u < 1e16 {
            true => -0.5 * log1p_excess(u),
            false => 0.5 - ln(z / self.nu.sqrt()),
        }
    }

    fn log_stretch_slope(&self, z: f64) -> f64 {
        let u = z * z / self.nu;
        let share = if u < 1e16 { u / (1.0 + u) } else { 1.0 };
        -0.5 * share / self.nu
    }

    /// $\int_0^z f$ with its derivative in nu: $z f {}\_2F\_1(1, \frac{\nu+1}2; \frac32; \frac{u}{1+u})$.
    fn middle(&self, z: f64) -> InNu {
        let (square, inverse) = (z * z, 1.0 / self.nu);
        let over = 1.0 / (1.0 + square * inverse);
        let (mut term, mut slope) = (1.0, 0.0);
        let (mut sum, mut slopes) = (1.0, 0.0);
        let mut odd = 1.0;
        while term > 1e-17 * sum && odd < 1000.0 {
            let grown = 1.0 + odd * inverse;
            let ratio = square * grown * over / (odd + 2.0);
            slope += (square - odd) * inverse * inverse * over / grown;
            term *= ratio;
            sum += term;
            slopes += term * slope;
            odd += 2.0;
        }
        let density = z * self.density(z);
        InNu { value: density * sum, slope: density * (sum * self.log_density_slope(z) + slopes) }
    }

    /// The probability beyond.
    pub(super) fn tail(&self, z: f64) -> f64 {
        match self.is_far(z) {
            true => {
                self.peak
                    * self.power(z, 0.0)
                    * self.slant(z)
                    * self.fraction::<false>(0.5, z).value
            }
            false => 0.5 - self.middle(z).value,
        }
    }

    /// The logarithm of the probability beyond.
    pub(super) fn log_tail(&self, z: f64) -> f64 {
        if !self.is_far(z) {
            return ln(self.tail(z));
        }
        self.log_power(z) + ln(self.peak * self.slant(z) * self.fraction::<false>(0.5, z).value)
    }

    /// The derivative of [`Student::log_tail`] in nu.
    pub(super) fn log_tail_slope(&self, z: f64) -> f64 {
        if !self.is_far(z) {
            let middle = self.middle(z);
            return -middle.slope / (0.5 - middle.value);
        }
        let fraction = self.fraction::<true>(0.5, z);
        self.log_peak_slope()
            + self.log_power_slope(z)
            + self.log_stretch_slope(z)
            + fraction.slope / fraction.value
    }

    /// The density over the probability beyond.
    pub(super) fn hazard(&self, z: f64) -> f64 {
        match self.is_far(z) {
            true => 1.0 / (self.stretch(z) * self.slant(z) * self.fraction::<false>(0.5, z).value),
            false => self.density(z) / self.tail(z),
        }
    }

    /// $\int_z^\infty t f(t) dt = f \frac{\nu + z^2}{\nu - 1}$
    pub(super) fn partial_mean(&self, z: f64) -> f64 {
        self.peak * self.power(z, 1.0) * self.mean_factor()
    }

    /// $G(z)$
    pub(super) fn tail_integral(&self, z: f64) -> f64 {
        if !self.is_far(z) {
            return self.partial_mean(z) - z * self.tail(z);
        }
        if z == f64::INFINITY {
            return 0.0;
        }
        let slant = self.slant(z);
        let factor = self.mean_factor() * self.fraction::<false>(1.5, z).value;
        self.peak * self.power(z, 1.0) * slant * slant * factor
    }

    /// The derivative of [`Student::tail_integral`] in nu.
    pub(super) fn tail_integral_slope(&self, z: f64) -> f64 {
        let nu = self.nu;
        if !self.is_far(z) {
            let log = -(1.0 + z * z) / ((nu + z * z) * (nu - 1.0)) + self.log_density_slope(z);
            return self.partial_mean(z) * log + z * self.middle(z).slope;
        }
        let fraction = self.fraction::<true>(1.5, z);
        let log = self.log_peak_slope() + self.log_power_slope(z) + 3.0 * self.log_stretch_slope(z)
            - 1.0 / (nu * (nu - 1.0))
            + fraction.slope / fraction.value;
        if z == f64::INFINITY { 0.0 } else { self.tail_integral(z) * log }
    }

    /// The law whose tail $\int f^2 (\nu + z^2)$ leads to, and the place in it.
    fn doubled(&self, z: f64) -> (Student, f64) {
        (Student::new(2.0 * self.nu - 1.0), z * (2.0 - 1.0 / self.nu).sqrt())
    }

    /// $\int_z^\infty S^2$. By parts, with $m = \frac{\nu + z^2}{\nu - 1}$ and primes for
    /// $\nu' = 2\nu - 1$ at $z' = z \sqrt{\nu'/\nu}$,
    ///
    /// $$2 m f S - z S^2 - 2 m f^2 \sqrt{\nu/\nu'} \frac{S'}{f'} =
    /// \frac{f^2}{z} \Big[\frac{2 \nu}{\nu'} m \frac{G'}{f'} - \frac{G^2}{f^2}\Big];$$
    ///
    /// far out only the second form keeps its digits.
    pub(super) fn tail_squares(&self, z: f64) -> f64 {
        if z == f64::INFINITY {
            return 0.0;
        }
        let (other, there) = self.doubled(z);
        let half = 2.0 - 1.0 / self.nu;
        let mean_factor = self.mean_factor();
        if !self.is_far(z) {
            let (density, tail) = (self.density(z), self.tail(z));
            let last = density / (other.hazard(there) * half.sqrt());
            return 2.0 * self.partial_mean(z) * (tail - last) - z * tail * tail;
        }
        let slant = self.slant(z);
        let own = slant * slant * mean_factor * self.fraction::<false>(1.5, z).value;
        let others =
            slant * slant / half * other.mean_factor() * other.fraction::<false>(1.5, there).value;
        let power = self.peak * self.power(z, 0.5);
        power * power * slant * (2.0 * mean_factor / half * others - own * own)
    }

    /// The derivative of [`Student::tail_squares`] in nu, to digits of the density's square.
    pub(super) fn tail_squares_slope(&self, z: f64) -> f64 {
        let nu = self.nu;
        if z == f64::INFINITY || nu == f64::INFINITY {
            return 0.0;
        }
        let (other, there) = self.doubled(z);
        let (density, tail) = (self.density(z), self.tail(z));
        let (log_tail, log_density) = (self.log_tail_slope(z), self.log_density_slope(z));
        let partial = -(1.0 + z * z) / ((nu + z * z) * (nu - 1.0)) + log_density;
        let hazard = other.hazard(there);
        let twice = 2.0 * nu - 1.0;
        let last = density / (hazard * (twice / nu).sqrt());
        // S'/f' changes with nu' and with z'.
        let moved = there / (2.0 * nu * twice);
        let ratio = 2.0 * (other.log_tail_slope(there) - other.log_density_slope(there))
            + (other.log_density_fall(there) - hazard) * moved;
        let log_last = log_density + 0.5 / nu - 1.0 / twice + ratio;
        2.0 * self.partial_mean(z) * (tail * (partial + log_tail) - last * (partial + log_last))
            - 2.0 * z * tail * tail * log_tail
    }

    /// The z with a probability of at most one half beyond.
    pub(super) fn tail_quantile(&self, q: f64) -> f64 {
        let nu = self.nu;
        if q == 0.0 || nu.is_nan() {
            return f64::INFINITY * nu;
        }
        // Wallace's approximation, from the Gaussian; far out a power of q, which is always larger.
        let scaled = gaussian_tail_quantile_of_log(ln(q)) * (8.0 * nu + 3.0) / (8.0 * nu + 1.0);
        let near = (nu * libm::expm1(scaled * scaled / nu)).sqrt();
        let far = nu.sqrt() * exp(ln(self.peak / (nu.sqrt() * q)) / nu);
        let mut z = near.min(far);
        for _ in 0..60 {
            let next = if self.is_far(z) {
                // The logarithm is concave in ln z, so that steps from anywhere lead there.
                // The ratio keeps digits that the difference of two logarithms loses.
                let tail = self.tail(z);
                let (excess, hazard) = match tail > f64::MIN_POSITIVE {
                    true => (ln(tail / q), self.density(z) / tail),
                    false => (self.log_tail(z) - ln(q), self.hazard(z)),
                };
                z * exp((excess / (z * hazard)).clamp(-2.0, 2.0))
            } else {
                (z + ((0.5 - q) - self.middle(z).value) / self.density(z)).max(0.0)
            };
            let done = (next - z).abs() <= 4.0 * f64::EPSILON * next;
            z = next;
            if done || z.is_nan() {
                break;
            }
        }
        z
    }

    /// $\phi_a$ and, where wanted, its derivative in nu, by the continued fraction of Gauss from its far
    /// end.
    fn fraction<const SLOPE: bool>(&self, a: f64, z: f64) -> InNu {
        let (square, i) = (z * z, 2.0 / self.nu);
        // A term is above/(below z^2); the slope of its logarithm in 1/i is i^2 times the third.
        let term = |m: u32| {
            let k = f64::from(m / 2);
            let (front, shift, back) =
                if m % 2 == 1 { (a + k, k, 2.0 * k + 1.0) } else { (k, k - a, 2.0 * k - 1.0) };
            let (top, even, odd) = (1.0 + shift * i, 1.0 + 2.0 * k * i, 1.0 + back * i);
            let slope = match SLOPE {
                true => 2.0 * k / even + (back - shift) / (top * odd),
                false => 0.0,
            };
            (2.0 * front * top, even * odd * square, slope)
        };
        // As many as leave less than a rounding error, found by trial for nu from 0.05 to infinity.
        let terms = 10.0 + 330.0 / (square + 330.0 / (28.0 * self.nu.min(1e9).sqrt() + 4.0));
        let terms = if terms.is_nan() { 1 } else { terms as u32 };
        // The rest as if all further terms were equal.
        let (above, below, _) = term(terms + 1);
        let mut rest = 0.5 + (0.25 + above / below).sqrt();
        let mut rest_slope = 0.0;
        for m in (1..=terms).rev() {
            let (above, below, slope) = term(m);
            let part = above / (below * rest);
            if SLOPE {
                rest_slope = part * (slope - rest_slope / rest);
            }
            rest = 1.0 + part;
        }
        let value = 1.0 / rest;
        // d/dnu is half of d/d(1/i).
        InNu { value, slope: -0.5 * i * i * rest_slope * value * value }
    }
}
