//! Empirical quantiles: one of the values, or between two of them.

/// The value below which this share of the values lies, one of them: of $n$ in order, counted from 0,
/// that at $(n - 1)p$ rounded, so that the median of an even number is the upper one of the two in the
/// middle. NaN where there are none. The values are left in another order.
#[must_use]
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = (last as f64 * share).round() as usize;
    *values.select_nth_unstable_by(place.min(last), f64::total_cmp).1
}

/// Of sorted values that at a place, counted from 0, which need not be whole: by linear interpolation
/// between neighbours. NaN where there are none.
///
/// $(n - 1)p$ is NumPy's default, for the quantile of a table of numbers. $(n + 1)p - 1$ is for the
/// bootstrap: of the $n + 1$ gaps that its $n$ replicates leave, each is as likely to hold the next.
#[must_use]
pub fn at_place(sorted: &[f64], place: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = place.clamp(0.0, last as f64);
    let below = place as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let part = place - below as f64;
    if part == 0.0 || low == high { low } else { low + part * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        let of = |values: &[f64], share| quantile(&mut values.to_vec(), share);
        assert_eq!(
            [0.0, 0.3, 0.5, 1.0].map(|p| of(&[3.0, 1.0, 2.0, 10.0], p)),
            [1.0, 2.0, 3.0, 10.0]
        );
        assert_eq!(of(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert!(of(&[], 0.5).is_nan() && at_place(&[], 0.0).is_nan());
        // numpy.quantile([3, 1, 2, 10], [0.25, 0.5, 0.75]), and with method="weibull".
        let at = |place| at_place(&[1.0, 2.0, 3.0, 10.0], place);
        assert_eq!([0.25, 0.5, 0.75].map(|p| at(3.0 * p)), [1.75, 2.5, 4.75]);
        assert_eq!([0.25, 0.5, 0.75].map(|p| at(5.0 * p - 1.0)), [1.25, 2.5, 8.25]);
        assert_eq!([at(-1.0), at(9.0)], [1.0, 10.0]);
    }
}
