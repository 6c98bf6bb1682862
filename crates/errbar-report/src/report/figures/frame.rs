//! How much of an axis is shown: what one outlier cannot squash.

use super::cloud::range;
use crate::report::bins;
use crate::report::headline::grouped;

/// The middle nine tenths of the values, and this many times their range on either side.
const ROOM: f64 = 3.0;
/// Of fewer values none is an outlier.
const FEWEST: usize = 5;

/// The range of all values that are not far from the others: farther than three times the range of the
/// middle nine tenths. (Of values most of which are the same, of the others; of one value beside a few,
/// farther than ten times its size.)
pub(super) fn frame(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let room = |value: f64| if value == 0.0 { f64::INFINITY } else { 10.0 * value.abs() };
    near(values.into_iter().collect(), room)
}

/// [`frame`] of positive values on a scale of factors.
pub(super) fn frame_of_factors(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let positive: Vec<f64> = values.into_iter().filter(|v| *v > 0.0 && *v <= 1e300).collect();
    let (low, high) = near(positive.iter().map(|v| v.ln()).collect(), |_| 1e3_f64.ln());
    let shown = positive.into_iter().filter(|v| v.ln() >= low && v.ln() <= high);
    let ends = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
    let (low, high) = shown.fold((f64::INFINITY, 0.0), ends);
    if low <= high { (low, high) } else { (1.0, 1.0) }
}

/// The range of the values near the middle; `around` is the room around a value that nearly all are.
fn near(mut values: Vec<f64>, around: impl Fn(f64) -> f64) -> (f64, f64) {
    values.retain(|v| v.abs() <= 1e300);
    if values.is_empty() {
        return (0.0, 1.0);
    }
    let (low, high) = middle(&values);
    let room = if low < high { ROOM * (high - low) } else { around(low) };
    values.retain(|value| *value >= low - room && *value <= high + room);
    range(&values)
}

/// A frame with a little room around it.
pub(super) fn roomy((low, high): (f64, f64)) -> (f64, f64) {
    let room = 0.04 * (high - low);
    (low - room, high + room)
}

/// The range of the values in the middle, at least one left out at each end.
fn middle(values: &[f64]) -> (f64, f64) {
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    if values.len() < FEWEST {
        return all;
    }
    let tail = (1.0 / (values.len() - 1) as f64).max(0.05);
    let (low, high) = bins::quantile_range(values, 1.0 - 2.0 * tail);
    if low < high {
        return (low, high);
    }
    let others: Vec<f64> = values.iter().copied().filter(|v| *v != low).collect();
    if others.len() < FEWEST {
        return (low, high);
    }
    let (least, most) = middle(&others);
    (least.min(low), most.max(high))
}

/// "3 rows lie beyond the frame, and are marked at its edge."; nothing where none do.
pub(super) fn beyond_in_words(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("One {one} lies beyond the frame, and is marked at its edge."),
        n => format!("{} {many} lie beyond the frame, and are marked at its edge.", grouped(n)),
    }
}

/// A sentence that follows another; nothing for none.
pub(super) fn spaced(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" {words}") }
}

/// Whether a value is not within a frame.
pub(super) fn is_beyond(value: f64, (low, high): (f64, f64)) -> bool {
    value < low || value > high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_squash_what_is_near() {
        let even = || (0..=100).map(f64::from);
        assert_eq!(frame(even()), (0.0, 100.0));
        assert_eq!(frame(even().chain([1e6, -1e300])), (0.0, 100.0));
        // From 5 to 95, and three times 90 beyond.
        assert_eq!(frame(even().chain([364.0])).1, 364.0);
        assert_eq!(frame(even().chain([370.0])).1, 100.0);
        // A few values: the ends of them are left out for the middle.
        assert_eq!(frame([1.0, 2.0, 3.0, 4.0, 100.0]), (1.0, 4.0));
        assert_eq!(frame([1.0, 2.0, 100.0]), (1.0, 100.0));
        // Rain: most of it is none.
        let rain = vec![0.0; 900].into_iter().chain((1..=30).map(f64::from)).chain([1e5]);
        assert_eq!(frame(rain), (0.0, 30.0));
        // One value that differs is all there is to see, unless it is far too large.
        assert_eq!(frame([7.0, 7.0, 7.0, 7.0, 7.0, 9.0]), (7.0, 9.0));
        assert!(frame([7.0, 7.0, 7.0, 7.0, 7.0, 1e9]).1 < 11.0);
        assert_eq!(frame([0.0, 0.0, 0.0, 0.0, 0.0, 1e9]), (0.0, 1e9));
        let (low, high) = frame([7.0; 9]);
        assert!(low < 7.0 && high > 7.0);
        assert_eq!(frame([f64::NAN, f64::INFINITY]), (0.0, 1.0));
    }

    #[test]
    fn factors_are_framed_as_factors() {
        let (low, high) = frame_of_factors([0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 0.0]);
        assert!((low / 0.001 - 1.0).abs() < 1e-9 && (high / 1000.0 - 1.0).abs() < 1e-9);
        let (_, high) = frame_of_factors((0..100).map(|i| 1.0 + f64::from(i) / 100.0).chain([1e9]));
        assert!(high < 2.0, "{high}");
        let ones = [1.0; 30].into_iter();
        assert_eq!(frame_of_factors(ones.clone().chain([1e9])), (1.0, 1.0));
        assert_eq!(frame_of_factors(ones.chain([50.0])), (1.0, 50.0));
    }
}
