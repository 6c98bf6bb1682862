//! Do values that follow each other in time resemble each other?

/// The correlation of values so many places apart, for each of some lags, all series together:
///
/// $$ r_k = \frac{\sum_s\sum_t (v_{s,t}-\bar v_s)(v_{s,t+k}-\bar v_s)}{\sum_s\sum_t (v_{s,t}-\bar v_s)^2} $$
///
/// Values of different series are never paired, and each series has its own mean: a constant
/// difference between them is no resemblance in time. Of `n` independent values 95% of the
/// correlations lie within $\pm 1.96/\sqrt n$. None without variation.
#[must_use]
pub fn correlations(series: &[Vec<f64>], lags: &[usize]) -> Option<Vec<f64>> {
    // Relative to the largest, so that neither sums nor squares overflow.
    let largest = series.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    let centred: Vec<Vec<f64>> = series
        .iter()
        .map(|values| {
            let mean = values.iter().map(|v| v / largest).sum::<f64>() / values.len() as f64;
            values.iter().map(|v| v / largest - mean).collect()
        })
        .collect();
    // What is left of a constant by rounding is no variation.
    let deviation = centred.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    if deviation < 1e-12 {
        return None;
    }
    let sum = |lag: usize| -> f64 {
        let pairs = |values: &Vec<f64>| -> f64 {
            let later = values.get(lag..).unwrap_or_default();
            values.iter().zip(later).map(|(a, b)| a / deviation * (b / deviation)).sum()
        };
        centred.iter().map(pairs).sum()
    };
    let all = sum(0);
    Some(lags.iter().map(|&lag| sum(lag) / all).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1, 2, 3, 6 has mean 3 and deviations -2, -1, 0, 3, whose squares are 14 together; one
    /// apart (2 + 0 + 0) and two apart (0 - 3). With -1, 1 as a second series (squares 2, product -1).
    #[test]
    fn correlations_by_hand() {
        let one = correlations(&[vec![1.0, 2.0, 3.0, 6.0]], &[0, 1, 2, 9]).unwrap();
        let expected = [1.0, 2.0 / 14.0, -3.0 / 14.0, 0.0];
        assert!(one.iter().zip(expected).all(|(r, e)| (r - e).abs() < 1e-15), "{one:?}");
        let both = [vec![1.0, 2.0, 3.0, 6.0], vec![99.0, 101.0]];
        let both = correlations(&both, &[1]).unwrap();
        assert!((both[0] - 1.0 / 16.0).abs() < 1e-12, "{both:?}");
    }

    #[test]
    fn any_size_of_values_and_none_that_vary() {
        let huge = correlations(&[vec![1e308, -1e308, 1e308, -1e308]], &[1]).unwrap();
        assert!((huge[0] + 0.75).abs() < 1e-15, "{huge:?}");
        let tiny = correlations(&[vec![5e-324, 0.0, 5e-324, 0.0]], &[1]).unwrap();
        assert!((tiny[0] + 0.75).abs() < 1e-15, "{tiny:?}");
        for none in [vec![], vec![0.1; 7], vec![0.0; 3], vec![f64::INFINITY, 1.0]] {
            assert_eq!(correlations(&[none, vec![2.0]], &[1]), None);
        }
        assert_eq!(correlations(&[], &[1]), None);
    }
}
