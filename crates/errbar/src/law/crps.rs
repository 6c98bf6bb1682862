//! The CRPS of a two-piece law, with its derivatives.
//!
//! With $k$ the scale of the side of the observation and $j$ the other, $h = \frac{k + j}{2}$,
//! $w = k/h$, $z = |\varepsilon|/k$, $r = \frac{s_2 - s_1}{s_1 + s_2}$, the base's $A = \int_{-\infty}^0 F_0$,
//! $J = \int_{-\infty}^0 F_0^2$ and half mean difference $g_0 = 2 (A - J)$, and $\pm$ for an observation
//! at or below the mode and one above,
//!
//! $$\mathrm{CRPS} = |\varepsilon| \big(1 - 2 w F_0(-z)\big) + h \Big[2 w^2 \int_z^\infty t f_0(t) dt - g_0 -
//! 2 (A - 3 J) r^2 \pm 4 A r\Big].$$
//!
//! For equal scales $w = 1$ and $r = 0$, and these are the operations of
//! [`score::crps`](crate::score::crps::crps), to the last bit for the Gaussian.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, SQRT_2};

use super::student::Student;
use super::{Base, Gradient, Law};
use crate::math::{Arithmetic, Kernel, dispatch, erf_exp_kernel, exp_kernel, polynomial};
use crate::score::crps::{FRAC_1_SQRT_PI, SQRT_2_OVER_PI};

/// What the formula needs of a base.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    /// $g_0$
    half_mean_difference: f64,
    /// $A$
    half_mean_distance: f64,
    /// $A - 3 J$
    skew: f64,
    /// What the partial mean of [`Core`] is to be multiplied by to be $2 \int_z^\infty t f_0$.
    unit: f64,
}

impl Constants {
    fn new(half_mean_difference: f64, half_mean_distance: f64, unit: f64) -> Self {
        let skew = 1.5 * half_mean_difference - 2.0 * half_mean_distance;
        Self { half_mean_difference, half_mean_distance, skew, unit }
    }
}

/// What the formula needs of a base at one place.
#[derive(Clone, Copy)]
pub(super) struct Core {
    /// $1 - 2 F_0(-z)$
    inside: f64,
    partial_mean: f64,
    /// $\int_z^\infty (1 - F_0)$
    tail_integral: f64,
}

/// A base whose core is a straight line of arithmetic.
pub(super) trait Standard: Copy {
    /// What does not depend on the place.
    fn constants(&self) -> Constants;
    /// At one place.
    fn core<A: Arithmetic>(&self, z: f64) -> Core;
}

/// Beyond this the tails vanish; without it, infinity times 0 would be NaN.
const FAR: f64 = 1000.0;

#[derive(Clone, Copy)]
pub(super) struct Normal;
#[derive(Clone, Copy)]
pub(super) struct Logistic;
#[derive(Clone, Copy)]
pub(super) struct Laplace;

impl Standard for Normal {
    #[inline(always)]
    fn constants(&self) -> Constants {
        // (3/2 - sqrt 2)/sqrt pi is the difference of two numbers that are close.
        let skew = (1.5 - SQRT_2) * FRAC_1_SQRT_PI;
        let (g, a) = (FRAC_1_SQRT_PI, 0.5 * SQRT_2_OVER_PI);
        Constants { skew, ..Constants::new(g, a, SQRT_2_OVER_PI) }
    }

    #[inline(always)]
    fn core<A: Arithmetic>(&self, z: f64) -> Core {
        let (inside, partial_mean) = erf_exp_kernel::<A>(z * FRAC_1_SQRT_2);
        let near = if z > FAR { FAR } else { z };
        let tail_integral = 0.5 * (SQRT_2_OVER_PI * partial_mean - near * (1.0 - inside));
        Core { inside, partial_mean, tail_integral }
    }
}

/// $\frac{1}{2k + 1}$: the series of $\operatorname{artanh} s$ over $s$, in $s^2$.
const ODD: [f64; 16] = {
    let mut out = [1.0; 16];
    let mut k = 1;
    while k < 16 {
        out[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    out
};

impl Standard for Logistic {
    #[inline(always)]
    fn constants(&self) -> Constants {
        Constants::new(1.0, LN_2, 2.0)
    }

    #[inline(always)]
    fn core<A: Arithmetic>(&self, z: f64) -> Core {
        let near = if z > FAR { FAR } else { z };
        let q = exp_kernel::<A>(-near);
        let tail = q / (1.0 + q);
        // ln(1 + q) = 2 artanh s, to less than a rounding error for q up to 1.
        let s = q / (2.0 + q);
        let tail_integral = 2.0 * s * polynomial::<A, 16>(s * s, ODD);
        Core {
            inside: (1.0 - q) / (1.0 + q),
            partial_mean: A::mul_add(near, tail, tail_integral),
            tail_integral,
        }
    }
}

impl Standard for Laplace {
    #[inline(always)]
    fn constants(&self) -> Constants {
        Constants::new(0.75, 0.5, 1.0)
    }

    #[inline(always)]
    fn core<A: Arithmetic>(&self, z: f64) -> Core {
        let near = if z > FAR { FAR } else { z };
        let q = exp_kernel::<A>(-near);
        Core { inside: 1.0 - q, partial_mean: A::mul_add(near, q, q), tail_integral: 0.5 * q }
    }
}

/// The formula, and its derivatives, which cost nothing when nobody looks at them.
#[inline(always)]
pub(super) fn two_piece<A: Arithmetic>(
    constants: Constants,
    core: impl Fn(f64) -> Core,
    error: f64,
    left: f64,
    right: f64,
) -> (f64, Gradient) {
    let Constants { half_mean_difference: g, half_mean_distance: a, skew, unit } = constants;
    let below = error <= 0.0;
    let (own, other) = if below { (left, right) } else { (right, left) };
    let sign = if below { 1.0 } else { -1.0 };
    let half = 0.5 * left + 0.5 * right;
    // Two scales of 0: a point.
    let over = if half > 0.0 { half } else { 1.0 };
    let ratio = (0.5 * right - 0.5 * left) / over;
    let weight = if half > 0.0 { own / over } else { 1.0 };
    let z = if error == 0.0 { 0.0 } else { error.abs() / own };
    let core = core(z);

    let inside = A::mul_add(weight, core.inside, 1.0 - weight);
    let constant = g + ratio * (2.0 * skew * ratio - 4.0 * sign * a);
    let slope = A::mul_add(unit * weight * weight, core.partial_mean, -constant);
    let value = A::mul_add(error.abs(), inside, half * slope);

    let own = weight * A::mul_add(other / over, core.tail_integral, unit * core.partial_mean);
    let other = -weight * weight * core.tail_integral;
    let (left_part, right_part) = if below { (own, other) } else { (other, own) };
    let (twice, square) = (2.0 * ratio, ratio * ratio);
    let gradient = Gradient {
        location: sign * inside,
        left: left_part - 2.0 * sign * a - (0.5 * g - skew * (twice + square)),
        right: right_part + 2.0 * sign * a - (0.5 * g + skew * (twice - square)),
        shape: 0.0,
    };
    // A negative scale is no scale.
    let valid = left >= 0.0 && right >= 0.0;
    (if valid { value } else { f64::NAN }, gradient)
}

/// The formula for one law.
struct One<S> {
    error: f64,
    left: f64,
    right: f64,
    base: S,
}

impl<S: Standard> Kernel for One<S> {
    type Output = (f64, Gradient);
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> (f64, Gradient) {
        let core = |z| self.base.core::<A>(z);
        two_piece::<A>(self.base.constants(), core, self.error, self.left, self.right)
    }
}

impl Law {
    /// The continuous ranked probability score when `y` is then observed,
    /// $\int (F(x) - \mathbb 1\_{y \le x})^2 dx$. Smaller is better.
    #[must_use]
    pub fn crps(&self, y: f64) -> f64 {
        self.crps_and_gradient_but_shape(y).0
    }

    /// [`Law::crps`] with its derivatives.
    #[must_use]
    pub fn crps_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let (value, gradient) = self.crps_and_gradient_but_shape(y);
        let Some(t) = self.base.student() else {
            return (value, gradient);
        };
        let place = self.place(y);
        let (difference, distance) = (t.half_mean_difference_slope(), t.half_mean_distance_slope());
        let ratio = (0.5 * self.right - 0.5 * self.left) / place.half;
        let sign = if place.upper { -1.0 } else { 1.0 };
        let skew = 1.5 * difference - 2.0 * distance;
        let constant = difference + ratio * (2.0 * skew * ratio - 4.0 * sign * distance);
        let tail = 2.0 * place.weight * place.weight * t.tail_integral_slope(place.z);
        (value, Gradient { shape: place.half * (tail - constant), ..gradient })
    }

    fn crps_and_gradient_but_shape(&self, y: f64) -> (f64, Gradient) {
        let (error, left, right) = (y - self.location, self.left, self.right);
        match self.base {
            Base::Normal => dispatch(One { error, left, right, base: Normal }),
            Base::Logistic => dispatch(One { error, left, right, base: Logistic }),
            Base::Laplace => dispatch(One { error, left, right, base: Laplace }),
            Base::StudentT { nu } => {
                dispatch(OneStudent { t: Student::new(nu), error, left, right })
            }
        }
    }
}

/// Student's t, whose core has loops of its own.
struct OneStudent {
    t: Student,
    error: f64,
    left: f64,
    right: f64,
}

impl Kernel for OneStudent {
    type Output = (f64, Gradient);
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> (f64, Gradient) {
        let t = self.t;
        let (difference, distance) = (t.half_mean_difference(), t.half_mean_distance());
        let core = |z: f64| {
            let (tail, partial_mean) = (t.tail(z), t.partial_mean(z));
            let tail_integral = if z < f64::INFINITY { partial_mean - z * tail } else { 0.0 };
            Core { inside: 1.0 - 2.0 * tail, partial_mean, tail_integral }
        };
        let constants = Constants::new(difference, distance, 2.0);
        two_piece::<A>(constants, core, self.error, self.left, self.right)
    }
}
