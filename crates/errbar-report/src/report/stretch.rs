//! The stretch of a series in which a forecast did worst.

use errbar::score::Sample;

use super::bins;

/// Fewer rows are no series.
pub(super) const FEWEST: usize = 3;
/// No stretch has more rows, however close they are.
const MOST: usize = 800;

const DAY: f64 = 86_400.0;

/// How long a stretch is: one that people have a name for, or some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Named { seconds: f64, name: &'static str },
    Rows(usize),
}

impl Length {
    /// A week where it has a readable number of rows and the series has several; else a day or four
    /// weeks, or a quarter of the rows where they are few.
    pub(super) fn of(step: f64, rows: usize, dates: bool) -> Self {
        let named = [("week", 7.0), ("day", 1.0), ("four weeks", 28.0)];
        let fits = |&(_, days): &(&str, f64)| {
            let inside = days * DAY / step;
            (14.0..=400.0).contains(&inside) && 3.0 * inside <= rows as f64
        };
        match named.into_iter().find(|named| dates && fits(named)) {
            Some((name, days)) => Self::Named { seconds: days * DAY, name },
            None => Self::Rows((rows / 4).clamp(FEWEST, 100)),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Named { name, .. } => name,
            Self::Rows(_) => "stretch",
        }
    }
}

/// Consecutive rows of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Their mean CRPS.
    pub(super) crps: f64,
}

/// The median distance of moments that follow each other.
pub(super) fn usual_step(rows: &[u32], time: &[f64]) -> f64 {
    let steps = rows.windows(2).map(|pair| time[pair[1] as usize] - time[pair[0] as usize]);
    bins::quantile(steps.filter(|step| *step > 0.0), 0.5)
}

/// The stretch of largest mean CRPS, given that of each row; none where none has enough rows.
pub(super) fn worst(
    sample: &Sample<'_>,
    crps: &[f64],
    time: &[f64],
    rows: &[u32],
    length: Length,
) -> Option<Stretch> {
    let at = |place: usize| time[rows[place] as usize];
    let weight = |place: usize| sample.weight().map_or(1.0, |w| w[rows[place] as usize]);
    let own = |place: usize| crps[rows[place] as usize];
    // Relative to the largest, so that sums do not overflow.
    let largest = (0..rows.len()).map(own).fold(f64::MIN_POSITIVE, f64::max);
    let most = (0..rows.len()).map(weight).fold(f64::MIN_POSITIVE, f64::max);
    let step = usual_step(rows, time);
    let fewest = match length {
        Length::Rows(n) => n,
        // A large error beside a gap is not the worst week.
        Length::Named { seconds, .. } => (0.8 * seconds / step).max(FEWEST as f64) as usize,
    };
    // Nor is what has only begun.
    let is_whole = |to: usize| match length {
        Length::Rows(_) => true,
        Length::Named { seconds, .. } => at(to - 1) - at(0) >= seconds - 1.5 * step,
    };
    let mut best: Option<(f64, usize, usize)> = None;
    let (mut from, mut sum, mut total) = (0, 0.0, 0.0);
    for to in 1..=rows.len() {
        sum += weight(to - 1) / most * (own(to - 1) / largest);
        total += weight(to - 1) / most;
        let too_long = |from: usize| match length {
            Length::Rows(n) => to - from > n,
            Length::Named { seconds, .. } => at(to - 1) - at(from) >= seconds || to - from > MOST,
        };
        while from + 1 < to && too_long(from) {
            sum -= weight(from) / most * (own(from) / largest);
            total -= weight(from) / most;
            from += 1;
        }
        // Of rows that hardly count rounding leaves nothing to divide by.
        let mean = if total > 1e-6 { sum / total } else { 0.0 };
        if to - from >= fewest && is_whole(to) && best.is_none_or(|(most, ..)| mean > most) {
            best = Some((mean, from, to));
        }
    }
    let (_, from, to) = best?;
    let crps = bins::mean(sample, &rows[from..to], |row| crps[row])?;
    Some(Stretch { from, to, crps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_a_name_where_they_are_readable() {
        let named = |step: f64, rows: usize| Length::of(step, rows, true).name();
        assert_eq!(named(3_600.0, 5_000), "week");
        assert_eq!(named(43_200.0, 1_460), "week");
        assert_eq!(named(600.0, 5_000), "day");
        assert_eq!(named(DAY, 5_000), "four weeks");
        // Less than three of them.
        assert_eq!(named(3_600.0, 400), "day");
        assert_eq!(Length::of(30.0 * DAY, 5_000, true), Length::Rows(100));
        assert_eq!(Length::of(3_600.0, 5_000, false), Length::Rows(100));
        assert_eq!(Length::of(f64::NAN, 40, true), Length::Rows(10));
    }

    /// Against every stretch there is, each summed by itself.
    #[test]
    fn the_worst_of_all_stretches() {
        let mut crps: Vec<f64> =
            (0..300).map(|i| (f64::from(i) * 0.618_034).fract().powi(4)).collect();
        // A beginning of twelve rows that is worse than any week.
        crps[..12].iter_mut().for_each(|crps| *crps += 1.0);
        let weights: Vec<f64> = (0..300).map(|i| 0.5 + (f64::from(i) * 0.414_21).fract()).collect();
        // Every half day, with a hole of five days in the middle.
        let time: Vec<f64> =
            (0..300).map(|i| 43_200.0 * f64::from(if i < 140 { i } else { i + 10 })).collect();
        let sample = Sample::new(&[0.0; 300], &[1.0; 300]).unwrap().weighted(&weights).unwrap();
        let rows: Vec<u32> = (0..300).collect();
        let mean = |from: usize, to: usize| {
            let total: f64 = weights[from..to].iter().sum();
            (from..to).map(|i| weights[i] * crps[i]).sum::<f64>() / total
        };
        let week = Length::of(43_200.0, 300, true);
        assert_eq!(week.name(), "week");
        for length in [week, Length::Rows(20)] {
            let found = worst(&sample, &crps, &time, &rows, length).unwrap();
            let mut best = f64::NEG_INFINITY;
            for to in 1..=300usize {
                let from = match length {
                    Length::Rows(n) => to.saturating_sub(n),
                    Length::Named { .. } => {
                        (0..to).find(|&i| time[to - 1] - time[i] < 7.0 * DAY).unwrap()
                    }
                };
                // Four fifths of the fourteen rows of a week are eleven, and the first week has fourteen.
                let fewest = if length == week { if to < 140 { 14 } else { 11 } } else { 20 };
                if to - from >= fewest {
                    best = best.max(mean(from, to));
                }
            }
            assert!((found.crps - best).abs() < 1e-12, "{found:?} {best}");
            assert!((mean(found.from, found.to) - best).abs() < 1e-12);
        }
    }

    #[test]
    fn huge_and_missing_scores() {
        let sample = Sample::new(&[0.0; 50], &[1.0; 50]).unwrap();
        let (time, rows): (Vec<f64>, Vec<u32>) = (0..50).map(|i| (f64::from(i), i)).unzip();
        let mut crps = vec![1e-300; 50];
        (crps[20], crps[21]) = (1e308, 1.7e308);
        let found = worst(&sample, &crps, &time, &rows, Length::Rows(5)).unwrap();
        assert!(found.from <= 20 && found.to > 21 && found.crps.is_finite(), "{found:?}");
        let none = Length::Named { seconds: 7.0, name: "week" };
        assert_eq!(worst(&sample, &crps, &time, &rows[..4], none), None);
    }
}
