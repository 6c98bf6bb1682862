//! The log score of a law: minus the log density of what happened.

use super::{Gradient, Law};

impl Law {
    /// Minus the log of the density that the law gave to what happened,
    /// $\ln\frac{s_1 + s_2}{2} - \ln f_0(z)$ with $z$ in scales of the side of `y`. Smaller is better.
    #[must_use]
    pub fn log_score(&self, y: f64) -> f64 {
        -self.log_density(y)
    }

    /// [`Law::log_score`] with its derivatives.
    #[must_use]
    pub fn log_score_and_gradient(&self, y: f64) -> (f64, Gradient) {
        let place = self.place(y);
        let fall = self.base.log_density_fall(place.z) / place.own;
        let location = if place.upper { -fall } else { fall };
        let other = 0.5 / place.half;
        // At the mode z is 0, whatever the scale.
        let own = other - if place.z > 0.0 { place.z * fall } else { 0.0 };
        let shape = self.base.student().map_or(0.0, |t| -t.log_density_slope(place.z));
        (self.log_score(y), Gradient::of_sides(place.upper, location, own, other, shape))
    }
}
