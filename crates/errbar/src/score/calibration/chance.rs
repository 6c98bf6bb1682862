//! What chance alone would do: the consistency bands.

use crate::math::erfinv;

/// The central interval of a binomial count: the smallest k with $P(X \le k) \ge (1-c)/2$, and the
/// smallest with $P(X \le k) \ge (1+c)/2$, for n draws of probability p.
///
/// Summed exactly up to a variance of a million, by the normal approximation beyond.
#[must_use]
pub fn binomial_interval(n: u64, p: f64, confidence: f64) -> (u64, u64) {
    if n == 0 || p.is_nan() || p <= 0.0 {
        return (0, 0);
    }
    if p >= 1.0 {
        return (n, n);
    }
    let tail = 0.5 * (1.0 - confidence);
    let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
    if variance > 1e6 {
        let reach = std::f64::consts::SQRT_2 * erfinv(confidence) * variance.sqrt();
        let bound = |x: f64| x.round().clamp(0.0, n as f64) as u64;
        return (bound(mean - reach), bound(mean + reach));
    }
    // Probabilities in units of the most likely count's, which needs no factorials.
    let mode = (((n as f64 + 1.0) * p) as u64).min(n);
    let odds = p / (1.0 - p);
    let negligible = 1e-20;
    let up = |k: u64| odds * (n - k) as f64 / (k + 1) as f64; // probability of k + 1 over that of k
    let (mut lowest, mut probability, mut below) = (mode, 1.0, 0.0);
    while lowest > 0 && probability > negligible {
        probability /= up(lowest - 1);
        lowest -= 1;
        below += probability;
    }
    let first = probability;
    let (mut k, mut probability, mut above) = (mode, 1.0, 0.0);
    while k < n && probability > negligible {
        probability *= up(k);
        k += 1;
        above += probability;
    }
    let highest = k;
    let total = below + 1.0 + above;
    let quantile = |q: f64| {
        let (mut k, mut probability, mut sum) = (lowest, first, first);
        while k < highest && sum < q * total {
            probability *= up(k);
            k += 1;
            sum += probability;
        }
        k
    };
    (quantile(tail), quantile(1.0 - tail))
}

/// The probability that chance alone would make the largest distance between a uniform distribution
/// and the empirical one of `rows` draws at least `deviation` (Kolmogorov, with Stephens' correction
/// for small samples).
#[must_use]
pub fn kolmogorov_p_value(deviation: f64, rows: f64) -> f64 {
    let root = rows.sqrt();
    let x = (root + 0.12 + 0.11 / root) * deviation;
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    // Two series for the same function, each fast where the other is slow.
    let p = if x < 1.18 {
        let y = std::f64::consts::PI.powi(2) / (8.0 * x * x);
        let sum: f64 = [1.0f64, 9.0, 25.0, 49.0].iter().map(|k| (-k * y).exp()).sum();
        1.0 - (2.0 * std::f64::consts::PI).sqrt() / x * sum
    } else {
        let terms = (1..=4).map(|k| {
            let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
            sign * (-2.0 * f64::from(k * k) * x * x).exp()
        });
        terms.sum()
    };
    p.clamp(0.0, 1.0)
}

/// The band for a frequency: [`binomial_interval`] as fractions of an effective number of rows.
pub(crate) fn frequency_band(rows: f64, p: f64, confidence: f64) -> (f64, f64) {
    let n = rows.round().max(1.0);
    let (low, high) = binomial_interval(n as u64, p, confidence);
    (low as f64 / n, high as f64 / n)
}
