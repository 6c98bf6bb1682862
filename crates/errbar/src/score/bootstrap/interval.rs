//! From replicates to an interval.

use serde::{Deserialize, Serialize};

use crate::math::{at_place, erf, erfcinv};

/// A confidence interval and a standard error. All three are NaN (null in JSON) where they cannot be
/// had: fewer than two blocks of rows, or scores beyond the range of doubles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The standard error of the score.
    pub standard_error: f64,
}

impl Interval {
    pub(super) const UNKNOWN: Self =
        Self { low: f64::NAN, high: f64::NAN, standard_error: f64::NAN };

    /// Whether a value lies inside. Nothing lies inside an unknown interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether there is an interval at all.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.low.is_nan() && !self.high.is_nan()
    }
}

/// What every interval of one bootstrap shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// The probability left out at each end, for percentiles.
    tail: f64,
    /// How many standard errors a normal interval reaches.
    reach: f64,
    /// What makes the variance of a resample that of a sample.
    inflation: f64,
    known: bool,
}

impl Rule {
    /// For a resample of this many independent pieces.
    ///
    /// Percentiles of a resample are those of a distribution with variance $(k-1)/k$ too small, and
    /// take that variance as known. Both are put right by going further into the tails, to
    /// $\Phi\big(-\sqrt{k/(k-1)} t\_{k-1}\big)$ (Hesterberg's expanded percentiles), which makes the
    /// interval of a mean that of Student.
    pub(super) fn new(confidence: f64, pieces: f64) -> Self {
        let known = pieces >= 2.0;
        let inflation = if known { pieces / (pieces - 1.0) } else { f64::NAN };
        let reach = student_quantile(0.5 * (1.0 - confidence), (pieces - 1.0).max(1.0));
        Self { tail: normal_tail(inflation.sqrt() * reach), reach, inflation, known }
    }

    /// The percentile interval, moved by `shift`.
    pub(super) fn percentile(&self, mut replicates: Vec<f64>, shift: f64) -> Interval {
        if !self.known || replicates.iter().any(|r| r.is_nan()) || replicates.is_empty() {
            return Interval::UNKNOWN;
        }
        let standard_error = self.standard_error(&replicates);
        replicates.sort_unstable_by(f64::total_cmp);
        // The (B + 1) p-th of B replicates.
        let gaps = (replicates.len() + 1) as f64;
        let at = |p: f64| at_place(&replicates, p * gaps - 1.0) + shift;
        Interval { low: at(self.tail), high: at(1.0 - self.tail), standard_error }
    }

    /// The standard deviation of the replicates, as that of a sample.
    pub(super) fn standard_error(&self, replicates: &[f64]) -> f64 {
        let n = replicates.len() as f64;
        let mean = mean(replicates);
        let squares: f64 = replicates.iter().map(|r| (r - mean) * (r - mean)).sum();
        (self.inflation * squares / (n - 1.0).max(1.0)).sqrt()
    }

    /// The interval of a share p seen in `rows` independent rows (or their equivalent): Wilson's,
    /// which does not end where it began when p is 0 or 1,
    ///
    /// $$\frac{p + \frac{t^2}{2n} \pm t\sqrt{\frac{p(1-p)}n + \frac{t^2}{4n^2}}}{1 + \frac{t^2}n}.$$
    ///
    /// The replicates say to how many independent rows the sample is equivalent,
    /// $n = p(1-p)/\mathrm{SE}^2$ (Korn and Graubard). Where all rows agree they cannot, and a block
    /// counts as one row.
    pub(super) fn share(&self, p: f64, replicates: &[f64], rows: f64, block: f64) -> Interval {
        if !self.known || replicates.is_empty() {
            return Interval::UNKNOWN;
        }
        let standard_error = self.standard_error(replicates);
        let spread = p * (1.0 - p);
        let n = if spread > 1e-12 && standard_error > 0.0 {
            spread / (standard_error * standard_error)
        } else {
            rows / block
        };
        let t2 = self.reach * self.reach;
        let middle = p + t2 / (2.0 * n);
        let reach = self.reach * (spread.max(0.0) / n + t2 / (4.0 * n * n)).sqrt();
        let end = |value: f64| (value / (1.0 + t2 / n)).clamp(0.0, 1.0);
        Interval { low: end(middle - reach), high: end(middle + reach), standard_error }
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// $P(X > x)$ for a standard normal X, no smaller than doubles need it.
fn normal_tail(x: f64) -> f64 {
    0.5 * (1.0 - erf(x * std::f64::consts::FRAC_1_SQRT_2))
}

/// Where the upper tail of Student's distribution begins that has probability `tail`: exactly for one
/// and two degrees of freedom, elsewhere by four terms of the Cornish-Fisher expansion (within 0.2%
/// for 95% intervals from three on).
pub(super) fn student_quantile(tail: f64, freedom: f64) -> f64 {
    use std::f64::consts::{PI, SQRT_2};
    if freedom < 1.5 {
        return 1.0 / (PI * tail).tan();
    }
    if freedom < 2.5 {
        let a = 1.0 - 2.0 * tail;
        return a * (2.0 / (1.0 - a * a)).sqrt();
    }
    let z = SQRT_2 * erfcinv(2.0 * tail);
    let x = z * z;
    let terms = [
        z * (x + 1.0) / 4.0,
        z * (x * (x * 5.0 + 16.0) + 3.0) / 96.0,
        z * (x * (x * (x * 3.0 + 19.0) + 17.0) - 15.0) / 384.0,
        z * (x * (x * (x * (x * 79.0 + 776.0) + 1482.0) - 1920.0) - 945.0) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From scipy.stats.t.ppf.
    #[test]
    fn student_quantiles_are_those_of_scipy() {
        for (tail, freedom, expected, tolerance) in [
            (0.025, 1.0, 12.706_204_736, 1e-9),
            (0.025, 2.0, 4.302_652_730, 1e-9),
            (0.025, 3.0, 3.182_446_305, 2e-3),
            (0.025, 5.0, 2.570_581_836, 2e-4),
            (0.025, 30.0, 2.042_272_456, 1e-7),
            (0.005, 9.0, 3.249_835_542, 1e-3),
            (0.05, 1000.0, 1.646_378_818, 1e-9),
        ] {
            let found = student_quantile(tail, freedom);
            assert!((found / expected - 1.0).abs() < tolerance, "{tail} {freedom}: {found}");
        }
    }

    /// Wilson's interval of 8 in 10 as R's `prop.test(8, 10, correct = FALSE)` gives it; with so
    /// many pieces that Student is normal.
    #[test]
    fn wilson_is_that_of_r() {
        let rule = Rule::new(0.95, 1e9);
        // Replicates with a variance of p (1 - p) / 10, so that ten rows count as ten.
        let deviation = (0.016f64).sqrt();
        let replicates: Vec<f64> =
            (0..10_000).map(|i| 0.8 + if i % 2 == 0 { deviation } else { -deviation }).collect();
        let interval = rule.share(0.8, &replicates, 10.0, 1.0);
        assert!((interval.low - 0.490_162_5).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - 0.943_317_8).abs() < 1e-4, "{interval:?}");
        let sure = rule.share(1.0, &[1.0; 100], 10.0, 1.0);
        assert!((sure.low - 0.722_467_2).abs() < 1e-6 && sure.high == 1.0, "{sure:?}");
    }

    #[test]
    fn percentiles_of_the_numbers_to_999() {
        let rule = Rule::new(0.9, 1e12);
        let interval = rule.percentile((1..=999).map(f64::from).collect(), 0.0);
        // The (B + 1) p-th of 999 numbers is 1000 p.
        assert!((interval.low - 50.0).abs() < 1e-6 && (interval.high - 950.0).abs() < 1e-6);
        assert!(!Rule::new(0.9, 1.0).percentile(vec![1.0, 2.0], 0.0).is_known());
    }
}
