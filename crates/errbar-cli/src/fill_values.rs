//! Numbers that stand for missing values: -999, 9999, 1e20, -32768 and their like.

/// A number that programs write where there is none: nines alone, two of them or more, whatever the
/// point (99, -999, 9999.9); the ends of integers of two and four bytes; powers of ten from 1e15 on;
/// and what NetCDF, GrADS and singles have for it.
pub(crate) fn is_usual(value: f64) -> bool {
    const ENDS: [f64; 8] = [
        32767.0,
        32768.0,
        65535.0,
        2_147_483_647.0,
        2_147_483_648.0,
        4_294_967_295.0,
        9.999e20,
        f32::MAX as f64,
    ];
    let size = value.abs();
    // 9.969209968386869e36, often shortened.
    if ENDS.contains(&size) || (size / 9.969_21e36 - 1.0).abs() < 1e-5 {
        return true;
    }
    if size >= 1e15 {
        return size.is_finite() && format!("{size:e}").starts_with("1e");
    }
    let text = size.to_string();
    text.len() > 1 && text.bytes().all(|byte| byte == b'9' || byte == b'.') && text != "9."
}

/// Values of a column that look like marks for missing ones, and how often they stand there.
///
/// Such a value is a usual one ([`is_usual`]) and lies away from all that are not by half of their
/// range at least if it is there twice or more, by ten times their range if it is there once. No more
/// than half of the cells hold such values: else the column consists of them. Data that reach 99
/// or 999 by themselves have neighbours nearby, and are left alone.
pub(crate) fn find(values: &[f64]) -> Vec<(f64, usize)> {
    let mut seen = FillValues::default();
    seen.look(values);
    seen.find()
}

/// What is known of the values of a column that go by, to tell in the end which of them look like marks for missing ones.
#[derive(Debug, Clone)]
pub(crate) struct FillValues {
    /// The least and the largest ordinary value.
    low: f64,
    high: f64,
    /// Usual marks that lay outside of those before them, and how often they were there; rising.
    outside: Vec<(f64, usize)>,
    /// Values that are not missing.
    cells: usize,
}

impl Default for FillValues {
    fn default() -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, outside: Vec::new(), cells: 0 }
    }
}

impl FillValues {
    /// Looks at further values.
    pub(crate) fn look(&mut self, values: &[f64]) {
        for &value in values {
            self.cells += usize::from(!value.is_nan());
            // What lies among ordinary values is none of these, and will be none.
            if value < self.low || value > self.high {
                self.look_outside(value);
            }
        }
    }

    #[cold]
    fn look_outside(&mut self, value: f64) {
        match self.outside.binary_search_by(|(known, _)| known.total_cmp(&value)) {
            Ok(place) => self.outside[place].1 += 1,
            Err(place) if is_usual(value) => self.outside.insert(place, (value, 1)),
            Err(_) => {
                (self.low, self.high) = (self.low.min(value), self.high.max(value));
                let (low, high) = (self.low, self.high);
                self.outside.retain(|&(mark, _)| mark < low || mark > high);
            }
        }
    }

    /// See [`find()`].
    pub(crate) fn find(&self) -> Vec<(f64, usize)> {
        const MOST: usize = 12;
        let Self { low, high, ref outside, cells } = *self;
        // A column of nothing else consists of them.
        if low > high || outside.len() > MOST {
            return Vec::new();
        }
        // From the ends inwards.
        let below = outside.iter().filter(|(value, _)| *value < low);
        let above = outside.iter().rev().filter(|(value, _)| *value > high);
        let far = below.chain(above).copied();
        let far: Vec<(f64, usize)> =
            far.filter(|&(value, count)| is_far(value, count, low, high)).collect();
        let marked: usize = far.iter().map(|(_, count)| count).sum();
        if 2 * marked > cells { Vec::new() } else { far }
    }
}

/// Whether a value is far from others that lie between two, given how often it is there.
pub(crate) fn is_far(value: f64, count: usize, low: f64, high: f64) -> bool {
    let away = (value - high).max(low - value);
    away > 0.0 && away >= (if count > 1 { 0.5 } else { 10.0 }) * (high - low)
}

/// "the observation "y" is -999 in 3 rows, far from all others: …"; nothing where nothing was found.
pub(crate) fn in_words(role: &str, name: &str, found: &[(f64, usize)]) -> Option<String> {
    let rows = |count| if count == 1 { "row" } else { "rows" };
    let each: Vec<String> =
        found.iter().map(|&(value, n)| format!("{} in {n} {}", shown(value), rows(n))).collect();
    let values: Vec<String> = found.iter().map(|(value, _)| shown(*value)).collect();
    (!found.is_empty()).then(|| {
        format!(
            "the {role} \"{name}\" is {}, far from all others: if that marks a missing value, use --na {}",
            each.join(" and "),
            values.join(",")
        )
    })
}

/// 1e20, not a hundred quintillion.
fn shown(value: f64) -> String {
    if value.abs() >= 1e15 { format!("{value:e}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_ones() {
        for yes in [
            -999.0,
            9999.0,
            -9999.0,
            99.0,
            -99.9,
            999.9,
            99999.0,
            9.99,
            1e20,
            -1e30,
            -32768.0,
            65535.0,
            9.96921e36,
            9.969209968386869e36,
            3.4028234663852886e38,
        ] {
            assert!(is_usual(yes), "{yes}");
        }
        for no in [
            0.0,
            9.0,
            -9.0,
            1.0,
            98.0,
            990.0,
            1999.0,
            1e14,
            2e20,
            0.99 + 0.001,
            1.5e33,
            f64::INFINITY,
        ] {
            assert!(!is_usual(no), "{no}");
        }
    }

    #[test]
    fn found_among_ordinary_values() {
        let plain: Vec<f64> = (0..300).map(|i| f64::from(i % 60) - 30.0).collect();
        let with = |more: &[f64]| [&plain[..], more].concat();
        assert_eq!(find(&with(&[-999.0, -999.0, -999.0])), [(-999.0, 3)]);
        assert_eq!(find(&with(&[-99.0, -99.0])), [(-99.0, 2)]);
        assert_eq!(find(&with(&[-999.0, 9999.0, 9999.0])), [(-999.0, 1), (9999.0, 2)]);
        assert_eq!(find(&with(&[1e20, f64::NAN])), [(1e20, 1)]);
    }

    #[test]
    fn ordinary_values_are_left_alone() {
        let percent: Vec<f64> = (0..1000).map(|i| f64::from(i % 100)).collect();
        let pressure: Vec<f64> = (0..1000).map(|i| 950.0 + f64::from(i % 100)).collect();
        // Heavy tails reach 999 and 9999 by themselves.
        let tails: Vec<f64> = (1..2000).map(|i| (2e5 / f64::from(i)).floor()).collect();
        let counts: Vec<f64> = (0..1000).map(|i| f64::from(i % 7)).collect();
        let one = vec![99.0; 50];
        let two = [vec![99.0; 50], vec![1.0; 20]].concat();
        let once = [counts.clone(), vec![99.0]].concat();
        for values in [percent, pressure, tails, counts, one, two, vec![], vec![f64::NAN]] {
            assert!(find(&values).is_empty(), "{:?}", find(&values));
        }
        // Once, and not that far.
        assert_eq!(find(&once), [(99.0, 1)]);
        let near = [(0..100).map(f64::from).collect::<Vec<_>>(), vec![999.0]].concat();
        assert!(find(&near).is_empty());
    }
}
