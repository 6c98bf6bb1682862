//! The rank of every scaled error among all of them.
//!
//! This is the only part of the cost that sees all rows at once, and the dearest. Three ways, all
//! leading to the one order that is sorted by value and, among equal values, by row:
//!
//! - *warm*: the last order with the new values, put right by insertion. Along a fit the order
//!   hardly moves from one step to the next.
//! - *cold*: each row goes straight to about its place, through buckets on a smooth monotone map of
//!   the value, and insertion does the rest.
//! - a plain sort, when insertion has moved too much (values in clumps, or a wild start).
//!
//! So the answer does not depend on the way, nor on what was ranked before.

use super::block::Sum;

/// A value with the row it came from.
#[derive(Debug, Clone, Copy)]
struct Item {
    value: f64,
    row: u32,
}

impl Item {
    #[inline(always)]
    fn after(&self, other: &Self) -> bool {
        self.value > other.value || (self.value == other.value && self.row > other.row)
    }
}

/// Moves that insertion may spend per row before it gives up.
const MOVES_PER_ROW: usize = 6;

/// Rows in a bucket on average: few enough for insertion, enough to keep the counters in cache.
const ROWS_PER_BUCKET: usize = 2;

/// Reusable memory for ranking, and the order it found last.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ranking {
    items: Vec<Item>,
    bucket: Vec<u32>,
    start: Vec<u32>,
    probe: Vec<f64>,
}

/// A run of equal values in sorted order: positions `from..to`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) value: f64,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Ranking {
    /// Sorts `values` (no NaN), starting from the order of the last call if it fits.
    pub(crate) fn sort(&mut self, values: &[f64]) {
        if self.items.len() == values.len() {
            for item in &mut self.items {
                item.value = values[item.row as usize] + 0.0; // -0 and 0 are one value
            }
            if insertion(&mut self.items) {
                return;
            }
        }
        self.sort_cold(values);
    }

    /// Forgets the last order.
    pub(crate) fn forget(&mut self) {
        self.items.clear();
    }

    fn sort_cold(&mut self, values: &[f64]) {
        self.scatter(values);
        if !insertion(&mut self.items) {
            self.items.sort_unstable_by(|a, b| {
                a.value.total_cmp(&b.value).then_with(|| a.row.cmp(&b.row))
            });
        }
    }

    /// Puts every row near its place: a counting sort on buckets of the map
    /// $v \mapsto (v - m)/(s + |v - m|)$, with m and s the median and the median distance from it.
    fn scatter(&mut self, values: &[f64]) {
        let rows = values.len();
        let (middle, spread) = self.middle_and_spread(values);
        let buckets = (rows / ROWS_PER_BUCKET).max(1);
        // Rounding to the nearest integer by adding 1.5·2^52 vectorises where a cast does not.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let half = 0.5 * (buckets - 1) as f64;
        self.bucket.clear();
        self.bucket.extend(values.iter().map(|&value| {
            let distance = value - middle;
            let place = distance / (spread + distance.abs());
            // An infinite value has no place by division; it belongs at the end.
            let place = if distance.abs() < f64::MAX { place } else { 1f64.copysign(distance) };
            (place * half + half + ROUND).to_bits() as u32
        }));
        self.start.clear();
        self.start.resize(buckets + 1, 0);
        for &bucket in &self.bucket {
            self.start[bucket as usize + 1] += 1;
        }
        let mut total = 0;
        for start in &mut self.start {
            total += *start;
            *start = total;
        }
        self.items.clear();
        self.items.resize(rows, Item { value: 0.0, row: 0 });
        for ((&bucket, &value), row) in self.bucket.iter().zip(values).zip(0u32..) {
            let place = &mut self.start[bucket as usize];
            self.items[*place as usize] = Item { value: value + 0.0, row };
            *place += 1;
        }
    }

    /// The median and the median distance from it, of at most a few hundred rows spread evenly.
    fn middle_and_spread(&mut self, values: &[f64]) -> (f64, f64) {
        const PROBES: usize = 255;
        let step = values.len().div_ceil(PROBES);
        self.probe.clear();
        self.probe.extend(values.iter().step_by(step));
        let middle = median(&mut self.probe);
        let middle = if middle.is_finite() { middle } else { 0.0 };
        for value in &mut self.probe {
            *value = (*value - middle).abs();
        }
        let spread = median(&mut self.probe);
        (middle, spread.clamp(f64::MIN_POSITIVE, f64::MAX / 4.0))
    }

    /// The runs of equal values, from the smallest on.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let items = &self.items;
        let mut from = 0;
        std::iter::from_fn(move || {
            let value = items.get(from)?.value;
            let mut to = from + 1;
            while to < items.len() && items[to].value == value {
                to += 1;
            }
            let run = Run { value, from, to };
            from = to;
            Some(run)
        })
    }

    /// The row at a position of the sorted order.
    pub(crate) fn row(&self, position: usize) -> usize {
        self.items[position].row as usize
    }

    /// Writes, for every row, the mean of $2i - 1$ over the ranks i of its run of equal values:
    /// first plus last rank minus one.
    pub(crate) fn twice_mid_ranks(&self, out: &mut [u32]) {
        for run in self.runs() {
            for item in &self.items[run.from..run.to] {
                out[item.row as usize] = (run.from + run.to) as u32;
            }
        }
    }

    /// The same with weights, as a share of the total: the running weight before its run of equal
    /// values plus the running weight after it.
    pub(crate) fn weighted_mid_ranks(&self, weight: &[f64], out: &mut [f64]) {
        let add_run = |mut sum: Sum, run: Run| {
            for item in &self.items[run.from..run.to] {
                sum.add(weight[item.row as usize]);
            }
            sum
        };
        let total = self.runs().fold(Sum::default(), add_run).value();
        let mut before = Sum::default();
        for run in self.runs() {
            let after = add_run(before, run);
            let share = (before.value() + after.value()) / total;
            for item in &self.items[run.from..run.to] {
                out[item.row as usize] = share;
            }
            before = after;
        }
    }
}

/// Sorts by insertion; false, with the rows still all there, when it takes too many moves.
fn insertion(items: &mut [Item]) -> bool {
    let mut budget = MOVES_PER_ROW * items.len() + 64;
    for i in 1..items.len() {
        let item = items[i];
        if !items[i - 1].after(&item) {
            continue;
        }
        let mut hole = i;
        while hole > 0 && items[hole - 1].after(&item) {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = item;
        match budget.checked_sub(i - hole) {
            Some(left) => budget = left,
            None => return false,
        }
    }
    true
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, in quadratic time: twice the rank less one, averaged over equal values.
    fn by_counting(values: &[f64]) -> Vec<u32> {
        let rank = |v: &f64| {
            let below = values.iter().filter(|u| *u < v).count();
            let equal = values.iter().filter(|u| *u == v).count();
            (2 * below + equal) as u32
        };
        values.iter().map(rank).collect()
    }

    fn ranks(ranking: &mut Ranking, values: &[f64]) -> Vec<u32> {
        ranking.sort(values);
        let mut out = vec![0; values.len()];
        ranking.twice_mid_ranks(&mut out);
        out
    }

    fn any_values() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            -3.0..3.0f64,
            (-4..4i32).prop_map(f64::from),
            Just(-0.0),
            any::<f64>().prop_filter("not NaN", |v| !v.is_nan()),
        ];
        proptest::collection::vec(value, 1..300)
    }

    proptest! {
        #[test]
        fn every_way_gives_the_ranks_of_the_definition(
            (first, second) in any_values().prop_flat_map(|v| {
                let n = v.len();
                (Just(v), proptest::collection::vec(-1e3..1e3f64, n..=n))
            })
        ) {
            let mut ranking = Ranking::default();
            prop_assert_eq!(ranks(&mut ranking, &first), by_counting(&first));
            prop_assert_eq!(ranks(&mut ranking, &second), by_counting(&second));
            prop_assert_eq!(ranks(&mut ranking, &first), by_counting(&first));
            let equal_weights = vec![0.25; first.len()];
            let mut shares = vec![0.0; first.len()];
            ranking.weighted_mid_ranks(&equal_weights, &mut shares);
            for (share, twice) in shares.iter().zip(by_counting(&first)) {
                prop_assert!((share - f64::from(twice) / first.len() as f64).abs() < 1e-14);
            }
        }
    }

    /// Sizes and shapes that take each way: buckets that fit, clumps, one clump, a reversal.
    #[test]
    fn large_samples_of_every_shape() {
        let n = 20_000;
        let wave = |i: usize| (i as f64 * 0.618_033_988_75).fract();
        let shapes: [(&str, Box<dyn Fn(usize) -> f64>); 6] = [
            ("uniform", Box::new(wave)),
            ("heavy tails", Box::new(move |i| 1.0 / (wave(i) - 0.5))),
            ("two clumps", Box::new(move |i| 1e9 * (i % 2) as f64 + wave(i))),
            ("all equal", Box::new(|_| 7.0)),
            ("reversed", Box::new(|i| -(i as f64))),
            ("six decades", Box::new(move |i| 10f64.powf(6.0 * wave(i)))),
        ];
        let mut ranking = Ranking::default();
        for (name, shape) in &shapes {
            let values: Vec<f64> = (0..n).map(shape).collect();
            ranking.sort(&values);
            assert!(
                (1..n).all(|i| ranking.items[i].after(&ranking.items[i - 1])),
                "{name}: not in order"
            );
            let mut rows: Vec<u32> = ranking.items.iter().map(|item| item.row).collect();
            rows.sort_unstable();
            assert!(rows.iter().zip(0..).all(|(&row, i)| row == i), "{name}: rows lost");
        }
    }
}
