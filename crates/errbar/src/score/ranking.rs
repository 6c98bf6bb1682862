//! The rank of every scaled error among all of them.
//!
//! This is the only part of the cost that sees all rows at once, and the dearest. Values become 32-bit
//! keys by a monotone map onto which they fall about evenly; key and row share one 64-bit word, and
//! words are sorted:
//!
//! - *warm*: the last order with the new keys, put right by insertion. Along a fit the order hardly
//!   moves from one step to the next.
//! - *cold*: since keys are even, counting sends each word straight to about its place (in two steps
//!   when there are many), and insertion does the rest.
//! - a plain sort, when insertion has moved too much (values in clumps).
//!
//! Words with equal keys are then put in order by value. So every way leads to the one order that is
//! sorted by value and, among equal values, by row: the answer does not depend on the way, nor on
//! what was ranked before.

use super::block::Sum;
use crate::math::{Arithmetic, Kernel, dispatch, quantile};

/// Buckets of the first step when there are two: few enough for their ends to stay in cache.
const FIRST_BITS: u32 = 10;

/// Parts of the second step that may run on threads of their own.
const PARTS: usize = 16;

/// From this many rows on, counting takes two steps. (Below, 16 bits hold every count.)
const TWO_STEPS_FROM: usize = 1 << 16;

/// Leading bits of a key that rough ranks are counted by.
const ROUGH_BITS: u32 = 12;
const ROUGH_SHIFT: u32 = 32 - ROUGH_BITS;

/// Reusable memory for ranking, and the order it found last.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ranking {
    /// Key in the upper half, row in the lower, in sorted order.
    words: Vec<u64>,
    /// The key of every row.
    keys: Vec<u32>,
    scratch: Vec<u64>,
    counts: Vec<u16>,
    /// The same for each part of the second step, since parts may run at the same time.
    counts_of_parts: Vec<Vec<u16>>,
    probe: Vec<f64>,
    scale: Scale,
}

/// The monotone map from values to keys: $t = |v - m|/s$ goes to $\pm(1 - 1/(1 + t))$. Each step of
/// it is one correctly rounded operation, so that it is monotone in floating point too.
#[derive(Debug, Default, Clone, Copy)]
struct Scale {
    middle: f64,
    per_spread: f64,
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
        self.sort_words(values);
        let mut from = 0;
        while from < self.words.len() {
            from = self.order_equal_keys(from, values);
        }
    }

    /// Sorts `values` and writes, for every row, the mean of $2i - 1$ over the ranks i of its run of
    /// equal values: first plus last rank minus one.
    pub(crate) fn twice_mid_ranks(&mut self, values: &[f64], out: &mut [u32]) {
        self.sort_words(values);
        let mut from = 0;
        while from < self.words.len() {
            // Almost always the next key is another one, and no value needs to be looked at.
            let words = &self.words[from..];
            for pair in words.windows(2).take_while(|pair| key(pair[0]) != key(pair[1])) {
                out[pair[0] as u32 as usize] = (2 * from + 1) as u32;
                from += 1;
            }
            let to = self.order_equal_keys(from, values);
            while from < to {
                let run = self.run_at(from, values);
                for &word in &self.words[run.from..run.to] {
                    out[word as u32 as usize] = (run.from + run.to) as u32;
                }
                from = run.to;
            }
        }
    }

    /// [`Ranking::twice_mid_ranks`] about: values are counted by the leading bits of their keys, and spread evenly
    /// over each bucket. Of 5,000 rows and more the ranks are off by less than a thousandth of them.
    pub(crate) fn twice_ranks_roughly(&mut self, values: &[f64], out: &mut [u32]) {
        self.keys_of(values);
        let mut counts = [0u32; 1 << ROUGH_BITS];
        for key in &self.keys {
            counts[(key >> ROUGH_SHIFT) as usize] += 1;
        }
        let mut below = 0;
        let buckets = counts.map(|count| {
            below += count;
            (2 * (below - count), 2 * count)
        });
        for (out, key) in out.iter_mut().zip(&self.keys) {
            let (before, twice) = buckets[(key >> ROUGH_SHIFT) as usize];
            let part = u64::from(key & ((1 << ROUGH_SHIFT) - 1)) * u64::from(twice);
            *out = before + (part >> ROUGH_SHIFT) as u32;
        }
    }

    /// [`Ranking::weighted_mid_ranks`] about, likewise.
    pub(crate) fn weighted_ranks_roughly(
        &mut self,
        values: &[f64],
        weight: &[f64],
        out: &mut [f64],
    ) {
        self.keys_of(values);
        let mut sums = vec![0.0; 1 << ROUGH_BITS];
        for (key, weight) in self.keys.iter().zip(weight) {
            sums[(key >> ROUGH_SHIFT) as usize] += weight;
        }
        let total: f64 = sums.iter().sum();
        let mut below = 0.0;
        let buckets: Vec<(f64, f64)> = (sums.into_iter())
            .map(|sum| {
                below += sum;
                (2.0 * (below - sum) / total, 2.0 * sum / total)
            })
            .collect();
        for (out, key) in out.iter_mut().zip(&self.keys) {
            let (before, twice) = buckets[(key >> ROUGH_SHIFT) as usize];
            let part = f64::from(key & ((1 << ROUGH_SHIFT) - 1)) / f64::from(1u32 << ROUGH_SHIFT);
            let share = before + part * twice;
            *out = if share > 1.0 { (share - 2.0).min(-0.0) } else { share };
        }
    }

    /// The key of every value.
    fn keys_of(&mut self, values: &[f64]) {
        self.keys.resize(values.len(), 0);
        self.scale = self.scale_of(values);
        dispatch(Keys { values, scale: self.scale, keys: &mut self.keys });
    }

    /// Sorts by key, then row.
    fn sort_words(&mut self, values: &[f64]) {
        self.keys.resize(values.len(), 0);
        if self.words.len() == values.len() {
            dispatch(Keys { values, scale: self.scale, keys: &mut self.keys });
            if rekey(&mut self.words, &self.keys) && insertion(&mut self.words) {
                return;
            }
        }
        self.scale = self.scale_of(values);
        dispatch(Keys { values, scale: self.scale, keys: &mut self.keys });
        self.words.resize(values.len(), 0);
        if values.len() < TWO_STEPS_FROM {
            self.count_once();
            sort_nearly_sorted(&mut self.words);
        } else {
            self.count_twice();
        }
    }

    /// Forgets the last order.
    pub(crate) fn forget(&mut self) {
        self.words.clear();
    }

    /// One counting step, to one or two words per bucket.
    fn count_once(&mut self) {
        let shift = 32 - bits_for(self.keys.len());
        let bucket = |key: u32| (key >> shift) as usize;
        self.counts.clear();
        self.counts.resize(1 << (32 - shift), 0);
        // Local slices: through `self` the compiler would reload them after every write.
        let (keys, words, counts) = (&self.keys[..], &mut self.words[..], &mut self.counts[..]);
        for &key in keys {
            counts[bucket(key)] += 1;
        }
        counts_to_starts(counts);
        for (&key, row) in keys.iter().zip(0..) {
            let place = &mut counts[bucket(key)];
            words[usize::from(*place)] = join(key, row);
            *place += 1;
        }
    }

    /// A first step to 1024 buckets, then each of them, which fits the nearest cache, by itself.
    fn count_twice(&mut self) {
        let bucket = |key: u32| (key >> (32 - FIRST_BITS)) as usize;
        let mut ends = [0u32; 1 << FIRST_BITS];
        for &key in &self.keys {
            ends[bucket(key)] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        self.scratch.resize(self.keys.len(), 0);
        let scratch = &mut self.scratch[..];
        for (&key, row) in self.keys.iter().zip(0..) {
            let place = &mut ends[bucket(key)]; // moves from the bucket's start to its end
            scratch[*place as usize] = join(key, row);
            *place += 1;
        }
        // Room for the largest bucket there can be: later calls, with other clumps, allocate nothing.
        self.counts_of_parts.resize_with(PARTS, || Vec::with_capacity(TWO_STEPS_FROM));
        sort_buckets(&ends, 0, &self.scratch, &mut self.words, &mut self.counts_of_parts);
    }

    /// Puts the words with the key of the one at `from` in order of value, then row, and says where
    /// they end.
    #[inline(always)]
    fn order_equal_keys(&mut self, from: usize, values: &[f64]) -> usize {
        let first = key(self.words[from]);
        match self.words.get(from + 1) {
            Some(&next) if key(next) == first => self.order_clump(from, values),
            _ => from + 1,
        }
    }

    #[cold]
    fn order_clump(&mut self, from: usize, values: &[f64]) -> usize {
        let first = key(self.words[from]);
        let to = from + self.words[from..].iter().take_while(|word| key(**word) == first).count();
        self.words[from..to].sort_unstable_by(|&a, &b| {
            let (a, b) = (a as u32, b as u32);
            let by_value = (values[a as usize] + 0.0).total_cmp(&(values[b as usize] + 0.0));
            by_value.then_with(|| a.cmp(&b))
        });
        to
    }

    /// The median and the median distance from it, of at most a few hundred rows spread evenly.
    fn scale_of(&mut self, values: &[f64]) -> Scale {
        const PROBES: usize = 255;
        let step = values.len().div_ceil(PROBES);
        self.probe.clear();
        self.probe.extend(values.iter().step_by(step));
        let middle = quantile(&mut self.probe, 0.5);
        let middle = if middle.is_finite() { middle } else { 0.0 };
        for value in &mut self.probe {
            *value = (*value - middle).abs();
        }
        // Where more than half the values are equal, the spread is that of the others.
        self.probe.retain(|distance| *distance > 0.0);
        let spread = match self.probe.is_empty() {
            true => 1.0,
            false => quantile(&mut self.probe, 0.5).clamp(1e-300, 1e300),
        };
        Scale { middle, per_spread: 1.0 / spread }
    }

    /// The run of equal values that begins at a position of the sorted order.
    fn run_at(&self, from: usize, values: &[f64]) -> Run {
        let words = &self.words;
        let value = values[self.row(from)];
        let mut to = from + 1;
        // Only equal keys can have equal values.
        while to < words.len()
            && key(words[to]) == key(words[from])
            && values[self.row(to)] == value
        {
            to += 1;
        }
        Run { value, from, to }
    }

    /// The runs of equal values, from the smallest on, after [`Ranking::sort`].
    pub(crate) fn runs<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = Run> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            (from < self.words.len()).then(|| {
                let run = self.run_at(from, values);
                from = run.to;
                run
            })
        })
    }

    /// The row at a position of the sorted order.
    pub(crate) fn row(&self, position: usize) -> usize {
        self.words[position] as u32 as usize
    }

    /// The same with weights, as a share of the total: the running weight before its run of equal
    /// values plus the running weight after it, counted from the nearer end: above 0 from below,
    /// down from 0 from above.
    pub(crate) fn weighted_mid_ranks(&mut self, values: &[f64], weight: &[f64], out: &mut [f64]) {
        self.sort(values);
        let add_run = |mut sum: Sum, run: Run| {
            (run.from..run.to).for_each(|position| sum.add(weight[self.row(position)]));
            sum
        };
        let total = self.runs(values).fold(Sum::default(), add_run);
        let mut before = Sum::default();
        for run in self.runs(values) {
            let after = add_run(before, run);
            let mut from_below = before;
            from_below.merge(after);
            let mut near = from_below.value();
            if near > total.value() {
                // Minus what lies above, before it is rounded away.
                from_below.merge(total.negated());
                from_below.merge(total.negated());
                near = from_below.value().min(-0.0);
            }
            let share = near / total.value();
            (run.from..run.to).for_each(|position| out[self.row(position)] = share);
            before = after;
        }
    }
}

#[inline(always)]
fn join(key: u32, row: u32) -> u64 {
    u64::from(key) << 32 | u64::from(row)
}

#[inline(always)]
fn key(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Bits that number half as many buckets as there are rows, or up to as many.
fn bits_for(rows: usize) -> u32 {
    rows.max(2).ilog2()
}

fn counts_to_starts(counts: &mut [u16]) {
    let mut total = 0;
    for count in counts {
        total += std::mem::replace(count, total);
    }
}

/// The second step: sorts each bucket of `scratch` into its place in `words`. `ends` are the ends of
/// the buckets, counted from `start` words before these slices begin.
fn sort_buckets(
    ends: &[u32],
    start: usize,
    scratch: &[u64],
    words: &mut [u64],
    counts: &mut [Vec<u16>],
) {
    let half = counts.len() / 2;
    if half > 0 && rayon::current_num_threads() > 1 {
        let middle = ends.len() / 2;
        let at = ends[middle - 1] as usize - start;
        let (left, right) = words.split_at_mut(at);
        let (left_counts, right_counts) = counts.split_at_mut(half);
        rayon::join(
            || sort_buckets(&ends[..middle], start, &scratch[..at], left, left_counts),
            || sort_buckets(&ends[middle..], start + at, &scratch[at..], right, right_counts),
        );
        return;
    }
    let [counts, ..] = counts else { return };
    let mut from = 0;
    for &end in ends {
        let to = end as usize - start;
        let (source, target) = (&scratch[from..to], &mut words[from..to]);
        from = to;
        if source.len() >= TWO_STEPS_FROM {
            target.copy_from_slice(source); // a clump
            target.sort_unstable();
            continue;
        }
        let bits = bits_for(source.len());
        let bucket = |word: u64| ((word << FIRST_BITS) >> (64 - bits)) as usize;
        counts.clear();
        counts.resize(1 << bits, 0);
        let counts = &mut counts[..];
        for &word in source {
            counts[bucket(word)] += 1;
        }
        counts_to_starts(counts);
        for &word in source {
            let place = &mut counts[bucket(word)];
            target[usize::from(*place)] = word;
            *place += 1;
        }
        sort_nearly_sorted(target);
    }
}

/// Sorts words that counting has put near their places, and any others too.
fn sort_nearly_sorted(words: &mut [u64]) {
    dispatch(NearlySort(words));
    if !insertion(words) {
        words.sort_unstable();
    }
}

/// Gives the words, in the order they have, their rows' new keys; false as soon as so many neighbours
/// are in the wrong order that counting is faster than mending. All rows are still there then.
fn rekey(words: &mut [u64], keys: &[u32]) -> bool {
    const CHUNK: usize = 256;
    let (mut last, mut descents, mut allowed) = (0, 0, 0);
    for chunk in words.chunks_mut(CHUNK) {
        for word in chunk {
            let row = *word as u32;
            *word = join(keys[row as usize], row);
            descents += usize::from(*word < last);
            last = *word;
        }
        allowed += CHUNK / 8;
        if descents > allowed {
            return false;
        }
    }
    true
}
/// Sorts by insertion; false, with all words still there, as soon as it takes too many moves.
fn insertion(words: &mut [u64]) -> bool {
    let mut moves = 0;
    for i in 1..words.len() {
        let word = words[i];
        if words[i - 1] <= word {
            continue;
        }
        let mut hole = i;
        while hole > 0 && words[hole - 1] > word {
            words[hole] = words[hole - 1];
            hole -= 1;
        }
        words[hole] = word;
        moves += i - hole;
        // Counted along the way, so that a hopeless order is given up early.
        if moves > 2 * i + 64 {
            return false;
        }
    }
    true
}

/// A few rounds of comparing neighbours, without branches: what is nearly sorted becomes so, but for
/// a few words that insertion then finds with well-predicted branches.
struct NearlySort<'a>(&'a mut [u64]);

impl Kernel for NearlySort<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for offset in [0, 1, 0, 1] {
            if let Some(words) = self.0.get_mut(offset..) {
                for pair in words.as_chunks_mut::<2>().0 {
                    *pair = [pair[0].min(pair[1]), pair[0].max(pair[1])];
                }
            }
        }
    }
}

/// Values to keys.
struct Keys<'a> {
    values: &'a [f64],
    scale: Scale,
    keys: &'a mut [u32],
}

impl Kernel for Keys<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        const HALF: f64 = 2_147_483_648.0;
        // Adding 2^52 rounds to an integer and leaves it in the low bits: a cast that vectorises.
        const ROUND: f64 = 4_503_599_627_370_496.0;
        for (key, &value) in self.keys.iter_mut().zip(self.values) {
            let distance = value - self.scale.middle;
            let place = 1.0 - 1.0 / (1.0 + distance.abs() * self.scale.per_spread);
            let place = (1.0 + place.copysign(distance)) * HALF;
            let place = if place < 2.0 * HALF - 1.0 { place } else { 2.0 * HALF - 1.0 };
            *key = (place + ROUND).to_bits() as u32;
        }
    }
}

#[cfg(test)]
mod tests;
