//! Inputs that stand in for one another.

use crate::data::{Data, chosen_rows};

/// From this rank correlation on, of either sign, two inputs stand in for each other.
const CORRELATION: f64 = 0.9;

/// From this value of [`follows`] on an input follows from another, monotonically or not: two Gaussian
/// inputs with a correlation of 0.95 have it.
const FOLLOWS: f64 = 0.7;

/// Numbers that may be looked at for all pairs of inputs.
const BUDGET: usize = 100_000_000;

/// The columns of row-major inputs, those that nearly follow from one another together (however many
/// lie between), in order.
#[must_use]
pub fn twins(inputs: &[f64], columns: usize, seed: u64) -> Vec<Vec<usize>> {
    let rows = inputs.len() / columns.max(1);
    let most = (BUDGET / (columns * columns).max(1)).clamp(50, 1000).min(rows);
    let chosen = chosen_rows(rows, most, seed);
    let values = |column: usize| chosen.iter().map(move |row| inputs[row * columns + column]);
    let ranked: Vec<Ranked> =
        (0..columns).map(|column| Ranked::of(&values(column).collect::<Vec<f64>>())).collect();
    let mut group: Vec<usize> = (0..columns).collect();
    for a in 0..columns {
        for b in 0..a {
            if group[a] != group[b] && are_twins(&ranked[a], &ranked[b]) {
                let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
                group.iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
            }
        }
    }
    let together = |of: usize| (0..columns).filter(|&c| group[c] == of).collect::<Vec<usize>>();
    (0..columns).map(together).filter(|columns| !columns.is_empty()).collect()
}

/// [`twins`] of data, in which both parts of a cycle of the calendar are one.
pub(super) fn of_data(data: &Data, seed: u64) -> Vec<Vec<usize>> {
    let mut groups = twins(data.inputs(), data.columns(), seed);
    for &(first, _) in data.cycles() {
        let at = |groups: &[Vec<usize>], column: usize| {
            groups.iter().position(|group| group.contains(&column))
        };
        let (Some(to), Some(from)) = (at(&groups, first), at(&groups, first + 1)) else { continue };
        if to != from {
            let joined = groups[from].clone();
            groups[to].extend(joined);
            groups[to].sort_unstable();
            groups.remove(from);
        }
    }
    groups.sort_unstable();
    groups
}

/// The values of one input by their places among all.
struct Ranked {
    /// For each row the mean place of its value, less that of all rows.
    rank: Vec<f64>,
    /// For each row how many values are no larger.
    up_to: Vec<usize>,
    /// The rows by value, those of equal values in an order that means nothing.
    order: Vec<usize>,
    /// The sum of squares of the ranks.
    spread: f64,
    /// The expected sum of [`follows`] for an input that tells nothing.
    chance: f64,
}

impl Ranked {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mut order: Vec<usize> = (0..n).collect();
        // What is missing is a value of its own. Neighbours in a file may resemble each other.
        let key = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(key(a).cmp(&key(b))));
        let (mut rank, mut up_to, mut chance) = (vec![0.0; n], vec![0; n], 0.0);
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        let mut from = 0;
        while from < n {
            let first = values[order[from]];
            let run = order[from..].iter().take_while(|&&row| same(values[row], first)).count();
            for &row in &order[from..from + run] {
                rank[row] = from as f64 + 0.5 * (run as f64 - n as f64);
                up_to[row] = from + run;
            }
            // Values at least as large, and those smaller.
            chance += run as f64 * (n - from) as f64 * from as f64;
            from += run;
        }
        let spread = rank.iter().map(|rank| rank * rank).sum();
        Self { rank, up_to, order, spread, chance: 2.0 * chance / n as f64 }
    }
}

fn are_twins(a: &Ranked, b: &Ranked) -> bool {
    if a.spread == 0.0 || b.spread == 0.0 {
        return false;
    }
    let product: f64 = a.rank.iter().zip(&b.rank).map(|(a, b)| a * b).sum();
    product.abs() >= CORRELATION * (a.spread * b.spread).sqrt()
        || follows(a, b) >= FOLLOWS
        || follows(b, a) >= FOLLOWS
}

/// How nearly one input is a function of another, of whatever shape: Chatterjee's coefficient (2021),
/// about 0 if it is not at all, and 1 if it is.
fn follows(from: &Ranked, to: &Ranked) -> f64 {
    let steps = from.order.windows(2).map(|pair| to.up_to[pair[0]].abs_diff(to.up_to[pair[1]]));
    1.0 - steps.sum::<usize>() as f64 / to.chance
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn found(rows: usize, row: impl Fn(&mut Pcg64) -> Vec<f64>) -> Vec<Vec<usize>> {
        let mut random = Pcg64::seed_from_u64(1);
        let inputs: Vec<Vec<f64>> = (0..rows).map(|_| row(&mut random)).collect();
        twins(&inputs.concat(), inputs[0].len(), 3)
    }

    #[test]
    fn inputs_that_follow_from_one_another_are_together() {
        // A line with a little noise, a parabola, a day and its season, and two that are their own.
        let all = found(2000, |random| {
            let mut next = || random.random::<f64>() - 0.5;
            let (x, day, other) = (next(), next(), next());
            let season = (day * std::f64::consts::TAU).sin_cos();
            vec![x, day, 3.0 - x + 0.1 * next(), season.0, other, x * x, season.1, next()]
        });
        assert_eq!(all, [vec![0, 2, 5], vec![1, 3, 6], vec![4], vec![7]]);
    }

    #[test]
    fn what_is_merely_related_is_not() {
        // A correlation of 0.7; a flag that is on more often where x is large; sine and cosine; an
        // hour; a constant; something that is mostly missing.
        let all = found(2000, |random| {
            let mut next = || random.random::<f64>();
            let x = next();
            let flag = f64::from(u8::from(next() < x));
            let (sin, cos) = (next() * std::f64::consts::TAU).sin_cos();
            let rare = if next() < 0.9 { f64::NAN } else { next() };
            vec![x, x + next(), flag, sin, cos, (24.0 * next()).floor(), 1.0, rare]
        });
        assert!(all.iter().all(|together| together.len() == 1), "{all:?}");
        // Nor are few rows of many inputs, though some pairs of 40 look alike by chance.
        let many = found(60, |random| (0..40).map(|_| random.random()).collect());
        assert_eq!(many.len(), 40);
    }
}
