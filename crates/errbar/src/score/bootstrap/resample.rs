//! How rows become units that are drawn, and how a resample is drawn from them.

use rand::Rng;
use rand_pcg::Pcg64;

/// Up to this many rows, each is a unit of its own.
pub(super) const ROWS_AS_UNITS: usize = 1 << 14;

/// Units of larger samples. The standard error from u of them is itself uncertain by
/// $1/\sqrt{2u}$, 1.6% here: more would cost time and show nothing.
pub(crate) const UNITS: usize = 1 << 11;

/// The units of a sample and the way they are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) rows: usize,
    pub(super) units: usize,
    deal: Deal,
    /// Consecutive units that are drawn together.
    run: usize,
    seed: u64,
}

/// Which rows share a unit.
#[derive(Debug, Clone, Copy)]
enum Deal {
    /// This many consecutive rows.
    Stretch(usize),
    /// Rows dealt at random. For independent rows any way of dealing will do; at random, an order
    /// that means something (sorted by lead time, say) does not make the units unlike each other.
    Random,
}

impl Plan {
    pub(super) fn new(rows: usize, block: usize, seed: u64) -> Self {
        let block = block.clamp(1, rows);
        if rows > ROWS_AS_UNITS && block == 1 {
            return Self { rows, units: UNITS, deal: Deal::Random, run: 1, seed };
        }
        let stretch = if rows > ROWS_AS_UNITS { rows.div_ceil(UNITS) } else { 1 };
        let units = rows.div_ceil(stretch);
        let run = block.div_ceil(stretch);
        Self { rows, units, deal: Deal::Stretch(stretch), run, seed }
    }

    /// So many rows, dealt one by one to this many units.
    pub(super) fn dealt(rows: usize, units: usize, seed: u64) -> Self {
        Self { rows, units, deal: Deal::Random, run: 1, seed }
    }

    /// So many rows in stretches of this length, of which blocks of rows are a whole number.
    pub(super) fn stretches(rows: usize, stretch: usize, block: usize, seed: u64) -> Self {
        let run = block.div_ceil(stretch);
        Self { rows, units: rows.div_ceil(stretch), deal: Deal::Stretch(stretch), run, seed }
    }

    /// Whether each row is a unit of its own.
    pub(super) fn row_by_row(&self) -> bool {
        matches!(self.deal, Deal::Stretch(1))
    }

    /// The unit of a row.
    #[inline(always)]
    pub(super) fn unit_of(&self, row: usize) -> usize {
        match self.deal {
            Deal::Stretch(rows) => row / rows,
            Deal::Random => {
                let mixed = mix((row as u64).wrapping_add(mix(self.seed)));
                ((u128::from(mixed) * self.units as u128) >> 64) as usize
            }
        }
    }

    /// How many independent pieces a resample is made of.
    pub(super) fn pieces(&self) -> f64 {
        self.units as f64 / self.run as f64
    }

    /// The random numbers of one replicate: they depend on the seed and its number alone.
    pub(super) fn random(&self, replicate: usize) -> Pcg64 {
        let replicate = replicate as u128;
        Pcg64::new(u128::from(self.seed) << 64 | replicate, 0xb007 << 64 | replicate)
    }

    /// How often a resample holds each unit.
    ///
    /// Runs of consecutive units begin anywhere and go on from the last unit to the first (the
    /// circular block bootstrap), so that every unit is drawn equally often on average. The last
    /// run is cut short where the units do not make a whole number of runs.
    pub(super) fn draw(&self, random: &mut Pcg64, counts: &mut [u32]) {
        counts.fill(0);
        let units = self.units;
        let mut left = units;
        let mut begin = |from: u32| {
            let length = left.min(self.run);
            left -= length;
            let from = from as usize;
            if self.run == 1 {
                counts[from] += 1;
                return;
            }
            // As differences, to be added up at the end; they may go below zero, and wrap.
            let to = from + length;
            counts[from] = counts[from].wrapping_add(1);
            if to > units {
                counts[0] = counts[0].wrapping_add(1);
                counts[to - units] = counts[to - units].wrapping_sub(1);
            } else if to < units {
                counts[to] = counts[to].wrapping_sub(1);
            }
        };
        let runs = units.div_ceil(self.run);
        let place = |half: u64| ((half * units as u64) >> 32) as u32;
        for pair in 0..runs.div_ceil(2) {
            let bits = random.next_u64();
            begin(place(bits >> 32));
            if 2 * pair + 1 < runs {
                begin(place(bits & 0xffff_ffff));
            }
        }
        if self.run > 1 {
            let mut total = 0u32;
            for count in counts {
                total = total.wrapping_add(*count);
                *count = total;
            }
        }
    }
}

/// SplitMix64: numbers in sequence to numbers without one.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resample_holds_as_many_units_as_there_are() {
        for (rows, block) in
            [(1, 1), (7, 1), (7, 3), (7, 7), (100, 13), (100_000, 1), (100_000, 70)]
        {
            let plan = Plan::new(rows, block, 3);
            let mut counts = vec![0; plan.units];
            for replicate in 0..50 {
                plan.draw(&mut plan.random(replicate), &mut counts);
                let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
                assert_eq!(total, plan.units as u64, "{rows} rows, block {block}");
            }
        }
    }

    /// The mean count is 1 with a variance of 1 - 1/n for rows drawn one by one, and about run times
    /// that many for the sum over a run when runs are drawn together.
    #[test]
    fn units_are_drawn_equally_often() {
        let replicates = 20_000;
        for block in [1, 3, 10] {
            let plan = Plan::new(20, block, 5);
            let mut counts = vec![0; plan.units];
            let mut sum = vec![0.0; plan.units];
            for replicate in 0..replicates {
                plan.draw(&mut plan.random(replicate), &mut counts);
                sum.iter_mut().zip(&counts).for_each(|(sum, &count)| *sum += f64::from(count));
            }
            for sum in sum {
                // Counts have a variance of at most 1: five standard errors.
                let mean = sum / replicates as f64;
                assert!((mean - 1.0).abs() < 5.0 / (replicates as f64).sqrt(), "{block}: {mean}");
            }
        }
    }

    #[test]
    fn rows_drawn_together_are_neighbours() {
        let plan = Plan::new(30, 10, 1);
        let mut counts = vec![0; 30];
        plan.draw(&mut plan.random(0), &mut counts);
        // Three runs leave at most six places where the count changes around the circle.
        let changes = (0..30).filter(|&i| counts[i] != counts[(i + 1) % 30]).count();
        assert!(changes <= 6, "{counts:?}");
    }

    #[test]
    fn rows_are_dealt_evenly_at_random() {
        let plan = Plan::new(1_000_000, 1, 9);
        let mut sizes = vec![0.0; plan.units];
        (0..plan.rows).for_each(|row| sizes[plan.unit_of(row)] += 1.0);
        let expected = plan.rows as f64 / plan.units as f64;
        let chi: f64 = sizes.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum();
        // Chi-squared with units - 1 degrees of freedom: within five standard deviations.
        let freedom = plan.units as f64 - 1.0;
        assert!((chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi}");
    }
}
