//! Laws of observations with bounds: what lies beyond counts as the bound.

use super::special::integral;
use super::two_piece::Place;
use super::{Bounds, Gradient, Law};

/// A law whose values beyond the bounds count as the bound, so that the bounds themselves have a
/// probability: that of no rain, or of a station at full power.
///
/// ```
/// use errbar::law::{Bounds, Law};
/// let bounds = Bounds::new(Some(0.0), None).unwrap_or_default();
/// let rain = Law::normal(1.0, 2.0).within(bounds);
/// assert!((rain.mass_at_lower() - 0.308537538725987).abs() < 1e-14);
/// assert_eq!(rain.quantile(0.2), 0.0);
/// assert!(rain.crps(0.0) < Law::normal(1.0, 2.0).crps(0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Censored {
    /// The law before the bounds.
    pub law: Law,
    /// The bounds.
    pub bounds: Bounds,
}

impl Censored {
    /// The probability of values up to `y`: all of it from the upper bound on.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() => 0.0,
            y if y >= self.bounds.upper() => 1.0,
            y => self.law.cdf(y),
        }
    }

    /// The probability of values above `y`.
    #[must_use]
    pub fn exceed(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() => 1.0,
            y if y >= self.bounds.upper() => 0.0,
            y => self.law.exceed(y),
        }
    }

    /// The logarithm of [`Censored::cdf`].
    #[must_use]
    pub fn log_cdf(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() => f64::NEG_INFINITY,
            y if y >= self.bounds.upper() => 0.0,
            y => self.law.log_cdf(y),
        }
    }

    /// The logarithm of [`Censored::exceed`].
    #[must_use]
    pub fn log_exceed(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() => 0.0,
            y if y >= self.bounds.upper() => f64::NEG_INFINITY,
            y => self.law.log_exceed(y),
        }
    }

    /// The density between the bounds, and at a bound its probability: what likelihoods are made of.
    #[must_use]
    pub fn density(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() || y > self.bounds.upper() => 0.0,
            y if y == self.bounds.lower() => self.mass_at_lower(),
            y if y == self.bounds.upper() => self.mass_at_upper(),
            y => self.law.density(y),
        }
    }

    /// The logarithm of [`Censored::density`].
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        -self.log_score(y)
    }

    /// The probability of the lower bound.
    #[must_use]
    pub fn mass_at_lower(&self) -> f64 {
        self.law.cdf(self.bounds.lower())
    }

    /// The probability of the upper bound.
    #[must_use]
    pub fn mass_at_upper(&self) -> f64 {
        self.law.exceed(self.bounds.upper())
    }

    /// The value that is not exceeded with probability `p`; NaN outside of [0, 1].
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        self.bounds.clamp(self.law.quantile(p))
    }

    /// The value that is exceeded with probability `q`.
    #[must_use]
    pub fn upper_quantile(&self, q: f64) -> f64 {
        self.bounds.clamp(self.law.upper_quantile(q))
    }

    /// The ends of the interval in the middle that holds a share of the probability, or more where an end
    /// is a bound.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let (low, high) = self.law.interval(level);
        (self.bounds.clamp(low), self.bounds.clamp(high))
    }

    /// The median.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.bounds.clamp(self.law.median())
    }

    /// The quantile of a number drawn evenly from (0, 1): a draw.
    #[must_use]
    pub fn sample(&self, uniform: f64) -> f64 {
        self.quantile(uniform)
    }

    /// The CRPS when `y` is then observed: of [`Law::crps`]'s integral the part between the bounds,
    ///
    /// $$\int_a^y F^2 + \int_y^b (1 - F)^2.$$
    ///
    /// An observation beyond a bound, which should not be, adds its distance from it.
    #[must_use]
    pub fn crps(&self, y: f64) -> f64 {
        let Bounds { lower, upper } = self.bounds;
        if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            return self.law.crps(y);
        }
        let inside = self.bounds.clamp(y);
        let distance = if y == inside { 0.0 } else { (y - inside).abs() };
        // Two integrals, neither of which is negative, so that a small score keeps its digits.
        let below = self.law.squares_between(lower, inside);
        let above = self.law.mirrored().squares_between(-upper, -inside);
        distance + below + above
    }

    /// [`Censored::crps`] with its derivatives.
    #[must_use]
    pub fn crps_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let Bounds { lower, upper } = self.bounds;
        if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            return self.law.crps_and_gradient(y);
        }
        let inside = self.bounds.clamp(y);
        let (law, mirrored) = (self.law, self.law.mirrored());
        let below = law.squares_below_gradient(inside) - law.squares_below_gradient(lower);
        let above =
            mirrored.squares_below_gradient(-inside) - mirrored.squares_below_gradient(-upper);
        (self.crps(y), below + above.mirrored())
    }

    /// Minus the log of the density that the law gave to what happened, or of the probability where that is
    /// a bound; infinite beyond.
    #[must_use]
    pub fn log_score(&self, y: f64) -> f64 {
        match y {
            y if y < self.bounds.lower() || y > self.bounds.upper() => f64::INFINITY,
            y if y == self.bounds.lower() => -self.law.log_cdf(y),
            y if y == self.bounds.upper() => -self.law.log_exceed(y),
            y => self.law.log_score(y),
        }
    }

    /// [`Censored::log_score`] of a value in a unit, counted where that is one: a probability has none.
    pub(crate) fn log_score_in(&self, y: f64, unit: f64) -> f64 {
        let at_bound = y == self.bounds.lower() || y == self.bounds.upper();
        self.log_score(y) + if at_bound { 0.0 } else { unit.ln() }
    }

    /// [`Censored::log_score`] with its derivatives.
    #[must_use]
    pub fn log_score_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let negative = |(value, gradient): (f64, Gradient)| (-value, gradient * -1.0);
        match y {
            y if y < self.bounds.lower() || y > self.bounds.upper() => {
                (f64::INFINITY, Gradient::default())
            }
            y if y == self.bounds.lower() => negative(self.law.log_cdf_and_gradient(y)),
            y if y == self.bounds.upper() => negative(self.law.log_exceed_and_gradient(y)),
            y => self.law.log_score_and_gradient(y),
        }
    }

    /// The probability integral transform, with the middle of the jump at a bound: for a cost, which must
    /// not draw lots.
    #[must_use]
    pub fn middle_pit(&self, y: f64) -> f64 {
        self.random_pit(y, 0.5)
    }

    /// The probability integral transform, with a place in the jump at a bound that a number drawn evenly
    /// from (0, 1) decides: even in (0, 1) when calibrated (Czado, Gneiting and Held,
    /// [2009](https://doi.org/10.1111/j.1541-0420.2009.01191.x)).
    #[must_use]
    pub fn random_pit(&self, y: f64, uniform: f64) -> f64 {
        let before = match y {
            y if y <= self.bounds.lower() => 0.0,
            y if y > self.bounds.upper() => 1.0,
            y => self.law.cdf(y),
        };
        before + uniform * (self.cdf(y) - before)
    }
}

/// Integrals of $F^2$. With $z$ in scales of the side of $y$, $w_i = \frac{2 s_i}{s_1 + s_2}$, and the integrals
/// $G$ of the base's $1 - F_0$ and $Q_0$ of its square, from $z$ on,
///
/// $$\int_{-\infty}^y F^2 = w_1^2 s_1 Q_0(z) \text{ for } y \le \mu, \qquad
/// \int_\mu^y F^2 = y - \mu - 2 w_2 s_2 \big(G(0) - G(z)\big) + w_2^2 s_2 \big(Q_0(0) - Q_0(z)\big)
/// \text{ beyond.}$$
impl Law {
    /// $\int_a^b F^2$, nothing for $a \ge b$.
    fn squares_between(&self, a: f64, b: f64) -> f64 {
        let mode = self.location;
        if self.cdf(mode).is_nan() {
            return f64::NAN;
        }
        let below = if a < mode { self.squares_on_a_side(a, b.min(mode)) } else { 0.0 };
        let above = if b > mode { self.squares_on_a_side(a.max(mode), b) } else { 0.0 };
        below + above
    }

    /// The same where the mode is not between.
    fn squares_on_a_side(&self, a: f64, b: f64) -> f64 {
        let upper = b > self.location;
        let scale = if upper { self.right } else { self.left };
        let (near, far) = (a - self.location, b - self.location);
        // Tails bend within a scale over z.
        let reach = near.abs().max(far.abs()) / scale;
        if a >= b {
            return 0.0;
        } else if (b - a) / scale * (1.0 + reach) < 0.5 {
            return integral(a, b, |y| self.cdf(y) * self.cdf(y));
        }
        let half = 0.5 * self.left + 0.5 * self.right;
        let weight = if half > 0.0 { scale / half } else { 1.0 };
        let squares = |error: f64| match error == 0.0 {
            true => self.base.squares(0.0),
            false => self.base.squares(-error.abs() / scale),
        };
        let squares = weight * weight * scale * (squares(far) - squares(near));
        if !upper {
            return squares;
        }
        let integral = |error: f64| match error == 0.0 {
            true => self.base.half_mean_distance(),
            false => self.base.tail_integral(error / scale),
        };
        (b - a) + 2.0 * weight * scale * (integral(far) - integral(near)) - squares
    }

    fn squares_below_gradient(&self, y: f64) -> Gradient {
        let Place { upper, z, own, other, half, weight: w } = self.place(y);
        if y.is_infinite() {
            return Gradient::default();
        }
        let tail = self.base.tail(z);
        let squares = self.base.tail_squares(z);
        let student = self.base.student();
        let squares_slope = student.map_or(0.0, |t| t.tail_squares_slope(z));
        if !upper {
            let own_slope = w * w * ((3.0 - w) * squares + z * tail * tail);
            let shape = w * w * own * squares_slope;
            let location = -(w * tail) * (w * tail);
            return Gradient::of_sides(upper, location, own_slope, -w * w * w * squares, shape);
        }
        let at_mode = self.base.squares(0.0);
        let integral = self.base.half_mean_distance() - self.base.tail_integral(z);
        let v = other / half;
        let beyond = 1.0 - w * tail;
        let left = v * v * (3.0 - v) * at_mode + w * w * (integral - w * (at_mode - squares));
        let right = w * (2.0 * z * tail - (4.0 - w) * integral) - v * v * v * at_mode
            + w * w * ((3.0 - w) * (at_mode - squares) - z * tail * tail);
        let shape = student.map_or(0.0, |t| {
            let at_mode = t.half_mean_distance_slope() - 0.5 * t.half_mean_difference_slope();
            let integral = t.half_mean_distance_slope() - t.tail_integral_slope(z);
            v * v * other * at_mode + own * w * (w * (at_mode - squares_slope) - 2.0 * integral)
        });
        Gradient { location: -beyond * beyond, left, right, shape }
    }
}
