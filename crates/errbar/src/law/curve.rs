//! A law of any shape: what a standard Gaussian is, bent.

use serde::{Deserialize, Serialize};

use super::{Base, Bounds};
use crate::math::ln;

const GAUSSIAN: Base = Base::Normal;

/// A law whose quantiles are those of a standard Gaussian, bent: a value `z` of the law for each of some
/// values `q` of the Gaussian, straight lines between them and beyond.
///
/// Between two knots it so is a Gaussian of its own, $F(y) = \Phi(q(y))$ with
/// $q(y) = q_k + \frac{y - z_k}{b_k}$, and everything about it is exact: with
/// $S(q) = \int_{-\infty}^q \Phi^2$, for instance, $\int_{z_k}^y F^2 = b_k \big(S(q(y)) - S(q_k)\big)$, of which
/// the CRPS is made.
///
/// ```
/// use errbar::law::Curve;
/// // Two Gaussians of half the size side by side: few values in the middle.
/// let curve = Curve::new(&[-2.0, -0.1, 0.1, 2.0], &[-1.7, -0.8, 0.8, 1.7]).unwrap();
/// assert!(curve.density(0.0) < curve.density(0.9));
/// assert!((curve.cdf(curve.quantile(0.3)) - 0.3).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Curve {
    q: Vec<f64>,
    z: Vec<f64>,
    /// $\int_{-\infty}^{z_k} F^2$ and $\int_{z_k}^\infty (1 - F)^2$ of each knot.
    squares: Vec<[f64; 2]>,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Saved {
    q: Vec<f64>,
    z: Vec<f64>,
}

impl From<Curve> for Saved {
    fn from(Curve { q, z, .. }: Curve) -> Self {
        Self { q, z }
    }
}

impl TryFrom<Saved> for Curve {
    type Error = &'static str;

    fn try_from(Saved { q, z }: Saved) -> Result<Self, Self::Error> {
        Self::new(&q, &z).ok_or("the curve of its law does not rise")
    }
}

impl Curve {
    /// Through these knots; `None` unless there are two or more of them that rise and are finite.
    #[must_use]
    pub fn new(q: &[f64], z: &[f64]) -> Option<Self> {
        if !Self::can_be(q, z) {
            return None;
        }
        let mut curve = Self { q: q.to_vec(), z: z.to_vec(), squares: vec![[0.0; 2]; q.len()] };
        let last = q.len() - 1;
        curve.squares[0][0] = curve.slope(0) * GAUSSIAN.squares(q[0]);
        curve.squares[last][1] = curve.slope(last - 1) * GAUSSIAN.squares(-q[last]);
        for k in 0..last {
            let (slope, up) = (curve.slope(k), last - 1 - k);
            let below = slope * (GAUSSIAN.squares(q[k + 1]) - GAUSSIAN.squares(q[k]));
            curve.squares[k + 1][0] = curve.squares[k][0] + below;
            let above = GAUSSIAN.squares(-q[up]) - GAUSSIAN.squares(-q[up + 1]);
            curve.squares[up][1] = curve.squares[up + 1][1] + curve.slope(up) * above;
        }
        Some(curve)
    }

    /// Whether there is a curve through these knots.
    pub(crate) fn can_be(q: &[f64], z: &[f64]) -> bool {
        let rise = |x: &[f64]| x.windows(2).all(|x| x[0] < x[1] && (x[1] - x[0]).is_finite());
        q.len() == z.len() && q.len() >= 2 && rise(q) && rise(z)
    }

    /// The same in another unit, of which there are so many in the old one.
    pub(crate) fn times(&self, factor: f64) -> Option<Self> {
        Self::new(&self.q, &self.z.iter().map(|z| z * factor).collect::<Vec<f64>>())
    }

    /// The knots: values of a standard Gaussian, and what they are in this law.
    #[must_use]
    pub fn knots(&self) -> (&[f64], &[f64]) {
        (&self.q, &self.z)
    }

    fn slope(&self, k: usize) -> f64 {
        (self.z[k + 1] - self.z[k]) / (self.q[k + 1] - self.q[k])
    }

    /// The line that a place among increasing numbers belongs to.
    fn line(among: &[f64], at: f64) -> usize {
        among[1..among.len() - 1].partition_point(|knot| *knot <= at)
    }

    /// The value of a standard Gaussian that is as improbable, $\Phi^{-1}(F(y))$.
    #[must_use]
    pub fn gaussian_quantile_of(&self, y: f64) -> f64 {
        Self::gaussian_among(&self.q, &self.z, y)
    }

    /// The same of a curve that is nothing but its knots.
    pub(crate) fn gaussian_among(q: &[f64], z: &[f64], y: f64) -> f64 {
        let k = Self::line(z, y);
        q[k] + (y - z[k]) / ((z[k + 1] - z[k]) / (q[k + 1] - q[k]))
    }

    /// The value whose [`Curve::gaussian_quantile_of`] this is.
    #[must_use]
    pub fn quantile_of_gaussian(&self, q: f64) -> f64 {
        let k = Self::line(&self.q, q);
        self.z[k] + (q - self.q[k]) * self.slope(k)
    }

    /// The probability of values up to `y`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        GAUSSIAN.cdf(self.gaussian_quantile_of(y))
    }

    /// The probability of values above `y`.
    #[must_use]
    pub fn exceed(&self, y: f64) -> f64 {
        GAUSSIAN.cdf(-self.gaussian_quantile_of(y))
    }

    /// The logarithm of [`Curve::cdf`].
    #[must_use]
    pub fn log_cdf(&self, y: f64) -> f64 {
        GAUSSIAN.log_cdf(self.gaussian_quantile_of(y))
    }

    /// The logarithm of [`Curve::exceed`].
    #[must_use]
    pub fn log_exceed(&self, y: f64) -> f64 {
        GAUSSIAN.log_exceed(self.gaussian_quantile_of(y))
    }

    /// The density, which has a step at each knot.
    #[must_use]
    pub fn density(&self, y: f64) -> f64 {
        let slope = self.slope(Self::line(&self.z, y));
        GAUSSIAN.density(self.gaussian_quantile_of(y)) / slope
    }

    /// Minus the logarithm of the density.
    #[must_use]
    pub fn log_score(&self, y: f64) -> f64 {
        let slope = self.slope(Self::line(&self.z, y));
        ln(slope) - GAUSSIAN.log_density(self.gaussian_quantile_of(y))
    }

    /// The value that is not exceeded with probability `p`.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        self.quantile_of_gaussian(GAUSSIAN.quantile(p))
    }

    /// The value that is exceeded with probability `q`.
    #[must_use]
    pub fn upper_quantile(&self, q: f64) -> f64 {
        self.quantile_of_gaussian(GAUSSIAN.upper_quantile(q))
    }

    /// The mean and the standard deviation.
    #[must_use]
    pub fn mean_and_deviation(&self) -> (f64, f64) {
        // On each line y = a + b q, of a part of the Gaussian with a mass, a first and a second moment.
        let parts = self.q.len() - 1;
        let line = |k: usize| {
            let slope = self.slope(k);
            let [from, to] = [
                if k == 0 { f64::NEG_INFINITY } else { self.q[k] },
                if k + 1 == parts { f64::INFINITY } else { self.q[k + 1] },
            ];
            let end = |q: f64| {
                let density = GAUSSIAN.density(q);
                (density, if q.is_finite() { q * density } else { 0.0 })
            };
            let ((low, low_first), (high, high_first)) = (end(from), end(to));
            let mass = match from > 0.0 {
                true => GAUSSIAN.cdf(-from) - GAUSSIAN.cdf(-to),
                false => GAUSSIAN.cdf(to) - GAUSSIAN.cdf(from),
            };
            let (first, second) = (low - high, mass + low_first - high_first);
            (self.z[k] - slope * self.q[k], slope, [mass, first, second])
        };
        let mean: f64 = (0..parts).map(line).map(|(a, b, of)| a * of[0] + b * of[1]).sum();
        let variance = (0..parts).map(line).map(|(a, b, of)| {
            let a = a - mean;
            a * a * of[0] + 2.0 * a * b * of[1] + b * b * of[2]
        });
        (mean, variance.sum::<f64>().sqrt())
    }

    /// The CRPS when `y` is then observed, of a law that [`Bounds`] cut off:
    /// $\int_a^y F^2 + \int_y^b (1 - F)^2$ between them, and the distance where it lies beyond.
    #[must_use]
    pub fn crps_within(&self, y: f64, bounds: Bounds) -> f64 {
        let inside = bounds.clamp(y);
        let distance = if y == inside { 0.0 } else { (y - inside).abs() };
        let below = self.squares_below(inside) - self.squares_below(bounds.lower());
        let above = self.squares_above(inside) - self.squares_above(bounds.upper());
        distance + below.max(0.0) + above.max(0.0)
    }

    /// $\int_{-\infty}^y F^2$
    fn squares_below(&self, y: f64) -> f64 {
        if y == f64::NEG_INFINITY {
            return 0.0;
        }
        let (k, q) = (Self::line(&self.z, y), self.gaussian_quantile_of(y));
        self.squares[k][0] + self.slope(k) * (GAUSSIAN.squares(q) - GAUSSIAN.squares(self.q[k]))
    }

    /// $\int_y^\infty (1 - F)^2$
    fn squares_above(&self, y: f64) -> f64 {
        if y == f64::INFINITY {
            return 0.0;
        }
        let (k, q) = (Self::line(&self.z, y), self.gaussian_quantile_of(y));
        let from = GAUSSIAN.squares(-self.q[k + 1]);
        self.squares[k + 1][1] + self.slope(k) * (GAUSSIAN.squares(-q) - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;
    use crate::law::special::integral;

    fn bent() -> Curve {
        Curve::new(&[-3.0, -1.0, -0.2, 0.1, 1.5, 4.0], &[-5.0, -1.2, -0.9, 0.6, 1.4, 9.0]).unwrap()
    }

    /// The integral between two places, knots and Gaussian tails taken one by one.
    fn summed(curve: &Curve, from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
        let mut ends: Vec<f64> = vec![from, to];
        ends.extend((0..400).map(|i| from + (to - from) * f64::from(i) / 400.0));
        ends.extend(curve.z.iter().filter(|z| (from..to).contains(z)));
        ends.sort_by(f64::total_cmp);
        ends.windows(2).map(|end| integral(end[0], end[1], &f)).sum()
    }

    #[test]
    fn a_straight_curve_is_the_gaussian() {
        let curve = Curve::new(&[-1.0, 0.5, 2.0], &[-1.7, 1.3, 4.3]).unwrap();
        let law = Law::normal(0.3, 2.0);
        for y in [-40.0, -3.0, 0.0, 0.3, 1.3, 2.0, 9.0, 60.0] {
            let near = |a: f64, b: f64| (a - b).abs() <= 3e-14 * b.abs();
            assert!(near(curve.cdf(y), law.cdf(y)) && near(curve.exceed(y), law.exceed(y)));
            assert!(near(curve.density(y), law.density(y)), "{y}");
            assert!(near(curve.log_score(y), law.log_score(y)));
            assert!(near(curve.log_cdf(y), law.log_cdf(y)));
            let bounds = Bounds::new(Some(-1.0), Some(5.0)).unwrap();
            assert!(near(curve.crps_within(y, Bounds::default()), law.crps(y)), "{y}");
            let (own, of) = (curve.crps_within(y, bounds), law.within(bounds).crps(y));
            assert!((own - of).abs() < 1e-14 * of.max(1.0), "{y}: {own} {of}");
        }
        let (mean, deviation) = curve.mean_and_deviation();
        assert!((mean - 0.3).abs() < 1e-15 && (deviation - 2.0).abs() < 1e-14);
    }

    #[test]
    fn scores_and_moments_are_the_integrals() {
        let curve = bent();
        let (from, to) = (-30.0, 60.0);
        let mean = summed(&curve, from, to, |y| y * curve.density(y));
        let square = summed(&curve, from, to, |y| (y - mean).powi(2) * curve.density(y));
        let (own, deviation) = curve.mean_and_deviation();
        assert!((own - mean).abs() < 1e-12, "{own} {mean}");
        assert!((deviation - square.sqrt()).abs() < 1e-12, "{deviation} {square}");
        for y in [-8.0, -5.0, -1.0, 0.0, 0.6, 3.0, 20.0] {
            for bounds in [Bounds::default(), Bounds::new(Some(-1.1), Some(2.0)).unwrap()] {
                let inside = bounds.clamp(y);
                let below = summed(&curve, bounds.lower().max(from), inside, |y| {
                    curve.cdf(y) * curve.cdf(y)
                });
                let above = summed(&curve, inside, bounds.upper().min(to), |y| {
                    curve.exceed(y) * curve.exceed(y)
                });
                let score = (y - inside).abs() + below + above;
                let own = curve.crps_within(y, bounds);
                assert!((own - score).abs() < 1e-13 * score.max(1.0), "{y}: {own} {score}");
            }
        }
    }

    #[test]
    fn what_does_not_rise_is_refused() {
        let ok = Curve::new(&[0.0, 1.0], &[0.0, 1.0]).unwrap();
        assert_eq!(
            serde_json::from_str::<Curve>(&serde_json::to_string(&ok).unwrap()).unwrap(),
            ok
        );
        for z in [vec![0.0], vec![0.0, 0.0], vec![1.0, f64::NAN], vec![-1e308, 1e308]] {
            assert!(Curve::new(&[0.0, 1.0][..z.len()], &z).is_none());
        }
        assert!(serde_json::from_str::<Curve>(r#"{"q":[0,1],"z":[1,0]}"#).is_err());
    }
}
