//! Means of values that follow each other, and how well they are known.

use crate::diagnose::of_batches;
use crate::law::Base;

/// A weighted mean with its standard error. Values that follow each other may resemble each other: the
/// error is that of the means of some $\sqrt n$ batches of consecutive values (of at least 12, and of each
/// value by itself where there are no more), so that neighbours do not count as independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// $\sum_i w_i x_i / \sum_i w_i$
    pub value: f64,
    /// Of the mean; NaN of one value.
    pub standard_error: f64,
    /// Of the standard error: the batches but one.
    pub freedom: f64,
}

impl Mean {
    /// The mean of some values in their order; `None` without any weight.
    ///
    /// ```
    /// use errbar::means::Mean;
    ///
    /// // A deviation of 1, 4 values, 3 degrees of freedom: 3.18 times 1/√4 either way.
    /// let mean = Mean::of(&[1.0, 3.0, 3.0, 1.0], None).unwrap();
    /// assert_eq!((mean.value, mean.freedom), (2.0, 3.0));
    /// assert!((mean.reach(0.95) - 3.182_446 * (4.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-6);
    /// ```
    #[must_use]
    pub fn of(values: &[f64], weight: Option<&[f64]>) -> Option<Self> {
        let of_row = |row: usize| weight.map_or(1.0, |weight| weight[row]);
        let counted = || (0..values.len()).filter(|&row| of_row(row) > 0.0);
        let total: f64 = counted().map(of_row).sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        // Shares rather than a sum that is divided, so that nothing overflows.
        let value = counted().map(|row| of_row(row) / total * values[row]).sum();
        let several = counted().nth(1).is_some();
        let batches = ((values.len() as f64).sqrt() as usize).clamp(12, 200).min(values.len());
        let standard_error = if several { of_batches(values, weight, batches) } else { f64::NAN };
        let freedom = batches.saturating_sub(1) as f64;
        Some(Self { value, standard_error, freedom })
    }

    /// How far the interval that holds the true mean with this probability reaches either way (Student's
    /// t); NaN of one value.
    #[must_use]
    pub fn reach(&self, confidence: f64) -> f64 {
        let law = Base::StudentT { nu: self.freedom };
        law.upper_quantile(0.5 * (1.0 - confidence)) * self.standard_error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sizes_and_single_values() {
        let mean = Mean::of(&[2.0, 5.0, 1e9], Some(&[1.0, 3.0, 0.0])).unwrap();
        assert_eq!(mean.value, 4.25);
        assert!(Mean::of(&[7.0], None).unwrap().reach(0.95).is_nan());
        assert!(Mean::of(&[7.0, 8.0], Some(&[0.0, 1.0])).unwrap().reach(0.95).is_nan());
        assert_eq!(Mean::of(&[1.0], Some(&[0.0])), None);
        assert_eq!(Mean::of(&[], None), None);
        assert_eq!(Mean::of(&[3.0; 40], None).unwrap().reach(0.95), 0.0);
        assert_eq!(Mean::of(&[1e308; 3], None).unwrap().value, 1e308);
    }

    /// Ninety-five of a hundred intervals hold the mean, of rows that are independent and of rows each of
    /// which is there four times.
    #[test]
    fn intervals_hold_what_they_say() {
        for (rows, times) in [(12, 1), (60, 1), (400, 1), (400, 4)] {
            let runs = 2_000;
            let mut state = 1u64;
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let held = (0..runs).filter(|_| {
                let values: Vec<f64> = (0..rows / times)
                    .map(|_| uniform() + uniform() + uniform())
                    .flat_map(|value| vec![value; times])
                    .collect();
                let mean = Mean::of(&values, None).unwrap();
                mean.value.abs() <= mean.reach(0.95)
            });
            let share = held.count() as f64 / f64::from(runs);
            // Two thousand runs: 0.005 is one standard error.
            assert!((share - 0.95).abs() < 0.02, "{rows} rows, {times} times: {share}");
        }
    }
}
