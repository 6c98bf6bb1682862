//! Rows in bins, and what chance would do in each of them.

use errbar::math::erfinv;
use errbar::means::Mean;
use errbar::score::Sample;
use errbar::score::calibration::{binomial_interval, half_width};

use super::each::Each;
use super::{CONFIDENCE, LEVEL};

/// Rows in the order of a value, cut into at most `most` parts of like size and at least `least`
/// rows; rows of equal value stay together.
pub(super) fn by_value(values: &[f64], most: usize, least: usize) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let bins = most.min(values.len() / least.max(1)).max(1);
    let size = values.len().div_ceil(bins).max(1);
    let mut out: Vec<Vec<u32>> = Vec::new();
    let mut from = 0;
    while from < order.len() {
        let mut to = (from + size).min(order.len());
        let last = values[order[to - 1] as usize];
        // To the end of the run of equal values, or back to its beginning where that is nearer.
        let same = |&&row: &&u32| values[row as usize] == last;
        let after = to + order[to..].iter().take_while(same).count();
        let before = to - order[from..to].iter().rev().take_while(same).count();
        to = if before > from && to - before < after - to { before } else { after };
        out.push(order[from..to].to_vec());
        from = to;
    }
    // A rest too small to say anything joins its neighbour.
    if let [.., last] = &out[..]
        && last.len() < least.min(size)
        && out.len() > 2
        && let Some(rest) = out.pop()
        && let Some(neighbour) = out.last_mut()
    {
        neighbour.extend(rest);
    }
    out
}

/// Consecutive rows, cut into at most `most` parts of like size and at least `least` rows.
pub(super) fn in_order(rows: usize, most: usize, least: usize) -> Vec<Vec<u32>> {
    let bins = most.min(rows / least.max(1)).max(1);
    (0..bins)
        .map(|bin| ((bin * rows / bins) as u32..((bin + 1) * rows / bins) as u32).collect())
        .collect()
}

/// What some rows have in common, beside what chance alone would make of a right sigma.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BinSummary {
    pub(super) rows: usize,
    /// Root mean squares of sigma and of the error.
    pub(super) sigma: f64,
    pub(super) error: f64,
    /// The range of chance of the latter.
    pub(super) error_range: (f64, f64),
    /// The mean error.
    pub(super) bias: f64,
    /// Its range of chance, which is this far from 0 either way.
    pub(super) bias_reach: f64,
    /// The share of observations inside the central interval.
    pub(super) inside: f64,
    pub(super) inside_range: (f64, f64),
}

/// The part that these rows are; nothing for rows without any weight.
pub(super) fn part(sample: &Sample<'_>, rows: &[u32]) -> Option<BinSummary> {
    let weight = |row: usize| sample.weight().map_or(1.0, |w| w[row]);
    let (error, sigma) = (sample.error(), sample.sigma());
    // Relative to the largest that counts, so that squares neither overflow nor vanish.
    let largest = |values: &[f64]| {
        let counted = rows.iter().map(|&row| row as usize).filter(|&row| weight(row) > 0.0);
        counted.fold(0.0, |m: f64, row| m.max(values[row].abs())).max(f64::MIN_POSITIVE)
    };
    let (error_scale, sigma_scale) = (largest(error), largest(sigma));
    let reach = half_width(LEVEL);
    let (mut total, mut squares) = (0.0, 0.0);
    let (mut variance, mut fourth, mut spread) = (0.0, 0.0, 0.0);
    let (mut error_square, mut sum, mut inside) = (0.0, 0.0, 0.0);
    for row in rows.iter().map(|&row| row as usize) {
        let (w, e, s) = (weight(row), error[row] / error_scale, sigma[row] / sigma_scale);
        if w == 0.0 {
            continue;
        }
        total += w;
        squares += w * w;
        variance += w * s * s;
        fourth += w * w * s.powi(4);
        spread += w * w * s * s;
        error_square += w * e * e;
        sum += w * e;
        inside += if error[row].abs() <= reach * sigma[row] { w } else { 0.0 };
    }
    if !(total > 0.0 && variance > 0.0) {
        return None;
    }
    let rms = |scale: f64, sum: f64| scale * (sum / total).sqrt();
    let sigma_of_rows = rms(sigma_scale, variance);
    let (low, high) = mean_square_range(variance * variance / fourth);
    let counted = (total * total / squares).round().max(1.0);
    let (least, most) = binomial_interval(counted as u64, LEVEL, CONFIDENCE);
    Some(BinSummary {
        rows: rows.len(),
        sigma: sigma_of_rows,
        error: rms(error_scale, error_square),
        error_range: (sigma_of_rows * low.sqrt(), sigma_of_rows * high.sqrt()),
        bias: error_scale * sum / total,
        bias_reach: normal_reach() * sigma_scale * spread.sqrt() / total,
        inside: inside / total,
        inside_range: (least as f64 / counted, most as f64 / counted),
    })
}

/// How much lower the CRPS of some rows is than with one constant sigma.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skill {
    pub(super) value: f64,
    /// How far its interval reaches either way; NaN of one row.
    pub(super) reach: f64,
}

/// The skill of some rows: a ratio of means, its error to first order, neighbours not taken as independent.
/// Nothing without any weight.
pub(super) fn skill(each: &Each, sample: &Sample<'_>, rows: &[u32]) -> Option<Skill> {
    let of_rows = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        rows.iter().map(|&row| of(row as usize)).collect()
    };
    let weight = sample.weight().map(|weight| of_rows(&|row| weight[row]));
    let crps = mean(sample, rows, |row| each.crps[row])?;
    let constant = mean(sample, rows, |row| each.constant[row])?;
    if constant.is_nan() || constant <= 0.0 {
        return Some(Skill { value: 0.0, reach: f64::NAN });
    }
    let value = 1.0 - crps / constant;
    let share = |of: &[f64], row: usize| of[row] / constant;
    let linear =
        of_rows(&|row| (1.0 - value) * share(&each.constant, row) - share(&each.crps, row));
    let reach = Mean::of(&linear, weight.as_deref())?.reach(CONFIDENCE);
    Some(Skill { value, reach })
}

/// The weighted mean of a value of some rows; nothing for rows without any weight.
pub(super) fn mean(sample: &Sample<'_>, rows: &[u32], of: impl Fn(usize) -> f64) -> Option<f64> {
    let weight = |row: usize| sample.weight().map_or(1.0, |w| w[row]);
    let counted = || rows.iter().map(|&row| row as usize).filter(|&row| weight(row) > 0.0);
    let total: f64 = counted().map(weight).sum();
    // Shares rather than a sum that is divided, so that nothing overflows.
    (total > 0.0).then(|| counted().map(|row| weight(row) / total * of(row)).sum())
}

/// A part, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) part: BinSummary,
    /// The value of its first row, that of the row in its middle and that of its last.
    pub(super) from: f64,
    pub(super) middle: f64,
    pub(super) to: f64,
}

/// The parts of a sample in bins of rows that are in the order of `x`.
pub(super) fn stretches(sample: &Sample<'_>, x: &[f64], bins: &[Vec<u32>]) -> Vec<Stretch> {
    let stretch = |rows: &Vec<u32>| {
        let at = |place: usize| rows.get(place).map(|&row| x[row as usize]);
        let (from, middle) = (at(0)?, at(rows.len() / 2)?);
        let (part, to) = (part(sample, rows)?, at(rows.len() - 1)?);
        Some(Stretch { part, from, middle, to })
    };
    bins.iter().filter_map(stretch).collect()
}

/// One number of each part.
pub(super) fn column(stretches: &[Stretch], of: impl Fn(&BinSummary) -> f64) -> Vec<f64> {
    stretches.iter().map(|stretch| of(&stretch.part)).collect()
}

/// How many standard errors the range of chance reaches either way.
pub(super) fn normal_reach() -> f64 {
    std::f64::consts::SQRT_2 * erfinv(CONFIDENCE)
}

/// The range of chance of a mean of squares with so many degrees of freedom, over its expectation:
/// quantiles of $\chi^2\_\nu/\nu$ by the cube of Wilson and Hilferty (1931).
fn mean_square_range(freedom: f64) -> (f64, f64) {
    let step = 2.0 / (9.0 * freedom);
    let at = |z: f64| (1.0 - step + z * step.sqrt()).max(0.0).powi(3);
    (at(-normal_reach()), at(normal_reach()))
}

/// The value below which this share of the values lies.
pub(super) fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    errbar::math::quantile(&mut values.collect::<Vec<f64>>(), share)
}

/// The range of this central share of the values.
pub(super) fn quantile_range(values: &[f64], share: f64) -> (f64, f64) {
    let tail = 0.5 - 0.5 * share;
    (quantile(values.iter().copied(), tail), quantile(values.iter().copied(), 1.0 - tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_stay_together() {
        let hours: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 12.0).collect();
        let bins = by_value(&hours, 20, 5);
        assert_eq!(bins.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50]);
        let bins = by_value(&(0..100).map(f64::from).collect::<Vec<_>>(), 8, 5);
        assert!(bins.len() == 8 && bins.iter().all(|bin| bin.len() >= 9), "{bins:?}");
        assert_eq!(by_value(&[1.0], 8, 5), [[0]]);
        assert!(by_value(&[], 8, 5).is_empty());
        assert_eq!(in_order(7, 3, 1), [vec![0, 1], vec![2, 3], vec![4, 5, 6]]);
    }

    /// Quantiles of chi-squared over its degrees of freedom from scipy.stats.chi2.ppf.
    #[test]
    fn ranges_of_chance_are_those_of_chi_squared() {
        for (freedom, low, high) in [(10.0, 0.324_697, 2.048_318), (100.0, 0.742_219, 1.295_612)] {
            let found = mean_square_range(freedom);
            assert!((found.0 - low).abs() < 0.004 && (found.1 - high).abs() < 0.004, "{found:?}");
        }
    }

    #[test]
    fn a_part_by_hand() {
        let sample = Sample::new(&[3.0, -4.0, 100.0], &[2.0, 2.0, 1.0]).unwrap();
        let part = part(&sample, &[0, 1]).unwrap();
        assert!((part.error - 12.5f64.sqrt()).abs() < 1e-12 && part.sigma == 2.0);
        assert!((part.bias + 0.5).abs() < 1e-12);
        // 1.96 sigma / sqrt(2); 1.645 sigma holds 3 but not 4.
        assert!((part.bias_reach - 1.959_964 * 2.0 / 2f64.sqrt()).abs() < 1e-5);
        assert_eq!(part.inside, 0.5);
    }

    #[test]
    fn a_mean_counts_weights_and_never_overflows() {
        let sample = Sample::new(&[0.0; 3], &[1.0; 3]).unwrap();
        assert_eq!(mean(&sample, &[0, 1], |row| [f64::MAX, f64::MAX, 0.0][row]), Some(f64::MAX));
        let sample = sample.weighted(&[1.0, 3.0, 0.0]).unwrap();
        assert_eq!(mean(&sample, &[0, 1, 2], |row| [4.0, 8.0, 1e9][row]), Some(7.0));
        assert_eq!(mean(&sample, &[2], |_| 1.0), None);
    }

    #[test]
    fn quantiles_are_values() {
        let values = || (0..101).map(f64::from);
        assert_eq!(quantile(values(), 0.95), 95.0);
        assert_eq!(quantile_range(&values().collect::<Vec<_>>(), 0.9), (5.0, 95.0));
        assert!(quantile(std::iter::empty(), 0.5).is_nan());
    }
}
