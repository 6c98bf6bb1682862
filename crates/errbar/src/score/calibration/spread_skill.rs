//! Spread against skill: are errors larger where sigma is?

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::score::block::Sum;
use crate::score::ranking::Ranking;
use crate::score::sample::Sample;

/// Rows of like sigma, and the errors they had.
///
/// Spread and skill agree in every bin when sigma is right where it is small and where it is large.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpreadSkillBin {
    /// The number of rows.
    pub rows: usize,
    /// The smallest sigma.
    pub sigma_from: f64,
    /// The largest sigma.
    pub sigma_to: f64,
    /// The root mean square of sigma.
    pub spread: f64,
    /// The root mean squared error.
    pub skill: f64,
}

/// The sample cut by sigma into at most `bins` bins of like weight, from small to large sigma.
///
/// Rows of equal sigma stay together, so that one constant sigma makes one bin. Rows of weight zero
/// are left out.
///
/// # Errors
/// Zero bins.
pub fn spread_skill(sample: &Sample, bins: usize) -> Result<Vec<SpreadSkillBin>> {
    if bins == 0 {
        return Err(Error::BadBins {
            what: "spread and skill",
            bins,
            allowed: "at least 1 is needed",
        });
    }
    if sample.len() >= MANY && sample.weight().is_none() {
        return Ok(of_many(sample, bins));
    }
    let (error, sigma) = (sample.error(), sample.sigma());
    let weight = |row: usize| sample.weight().map_or(1.0, |w| w[row]);
    let mut ranking = Ranking::default();
    ranking.sort(sigma);

    // Where each bin begins and ends in the order of sigma.
    let mut ranges: Vec<(usize, Range<usize>)> = Vec::new();
    let mut before = 0.0;
    for run in ranking.runs(sigma) {
        let mass: f64 = (run.from..run.to).map(|position| weight(ranking.row(position))).sum();
        if mass == 0.0 {
            continue;
        }
        let middle = (before + 0.5 * mass) / sample.total_weight();
        let number = ((middle * bins as f64) as usize).min(bins - 1);
        before += mass;
        match ranges.last_mut() {
            Some((last, range)) if *last == number => range.end = run.to,
            _ => ranges.push((number, run.from..run.to)),
        }
    }
    let bin = |(_, range): (usize, Range<usize>)| {
        let rows = range.map(|position| ranking.row(position)).filter(|&row| weight(row) > 0.0);
        let rows: Vec<usize> = rows.collect();
        let root_mean_square = |values: &[f64]| {
            // Relative to the largest, so that squares do not overflow.
            let largest = rows.iter().fold(0.0, |m: f64, &row| m.max(values[row].abs()));
            let (mut squares, mut total) = (Sum::default(), Sum::default());
            for &row in rows.iter().filter(|_| largest > 0.0) {
                squares.add(weight(row) * (values[row] / largest).powi(2));
                total.add(weight(row));
            }
            if largest > 0.0 { largest * (squares.value() / total.value()).sqrt() } else { 0.0 }
        };
        SpreadSkillBin {
            rows: rows.len(),
            sigma_from: rows.first().map_or(0.0, |&row| sigma[row]),
            sigma_to: rows.last().map_or(0.0, |&row| sigma[row]),
            spread: root_mean_square(sigma),
            skill: root_mean_square(error),
        }
    };
    Ok(ranges.into_iter().map(bin).collect())
}

/// From this many rows on, bins are found without putting all rows in order.
const MANY: usize = 500_000;

/// [`spread_skill`] of many rows without weights: the same bins, found by their edges.
fn of_many(sample: &Sample, bins: usize) -> Vec<SpreadSkillBin> {
    let (error, sigma, n) = (sample.error(), sample.sigma(), sample.len());
    let below = |k: usize| ((k * n) as f64 / bins as f64 - 0.5).ceil() as usize;
    // The sigma at the first place that belongs to bin k, were there no ties.
    let mut rest = sigma.to_vec();
    let mut rest = &mut rest[..];
    let mut gone = 0;
    let mut edges: Vec<f64> = Vec::new();
    for k in 1..bins {
        let place = below(k).min(n - 1);
        let (_, edge, _) = rest.select_nth_unstable_by(place - gone, f64::total_cmp);
        edges.push(*edge);
        rest = &mut rest[place - gone..];
        gone = place;
    }
    // Rows of equal sigma go together to where the middle of them belongs.
    let mut counts = vec![(0usize, 0usize); edges.len()];
    for s in sigma {
        for (edge, (less, equal)) in edges.iter().zip(&mut counts) {
            *less += usize::from(s < edge);
            *equal += usize::from(s == edge);
        }
    }
    let first = |((k, edge), (less, equal)): ((usize, &f64), &(usize, usize))| {
        let middle = (*less as f64 + 0.5 * *equal as f64) / n as f64;
        // The smallest sigma of bin k + 1.
        if middle * bins as f64 >= (k + 1) as f64 { *edge } else { edge.next_up() }
    };
    let firsts: Vec<f64> = edges.iter().enumerate().zip(&counts).map(first).collect();

    // Relative to the largest, so that squares do not overflow.
    let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let units = (largest(sigma), largest(error));
    let mut sums = vec![(0usize, f64::INFINITY, 0.0f64, Sum::default(), Sum::default()); bins];
    for (e, s) in error.iter().zip(sigma) {
        let bin = firsts.iter().filter(|first| s >= *first).count();
        let (rows, from, to, spread, skill) = &mut sums[bin];
        *rows += 1;
        *from = from.min(*s);
        *to = to.max(*s);
        spread.add((s / units.0).powi(2));
        skill.add(if units.1 > 0.0 { (e / units.1).powi(2) } else { 0.0 });
    }
    let bin = |(rows, sigma_from, sigma_to, spread, skill): &(usize, f64, f64, Sum, Sum)| {
        let root = |sum: Sum, unit: f64| unit * (sum.value() / *rows as f64).sqrt();
        SpreadSkillBin {
            rows: *rows,
            sigma_from: *sigma_from,
            sigma_to: *sigma_to,
            spread: root(*spread, units.0),
            skill: root(*skill, units.1),
        }
    };
    sums.iter().filter(|(rows, ..)| *rows > 0).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ties at the edges of bins, all values equal, and none.
    #[test]
    fn bins_by_edges_are_those_by_order() {
        for (rows, different) in [(1000, 1000), (1000, 7), (997, 23), (1000, 1), (10, 10), (3, 3)] {
            let sigma: Vec<f64> =
                (0..rows).map(|i| 1.0 + ((i * 7919) % different) as f64 / 7.0).collect();
            let error: Vec<f64> = (0..rows).map(|i| ((i * 31) % 17) as f64 - 8.0).collect();
            let sample = Sample::new(&error, &sigma).unwrap();
            for bins in [1, 2, 3, 10] {
                let (exact, fast) = (spread_skill(&sample, bins).unwrap(), of_many(&sample, bins));
                assert_eq!(exact.len(), fast.len(), "{rows} {different} {bins}");
                for (a, b) in exact.iter().zip(&fast) {
                    assert_eq!(
                        (a.rows, a.sigma_from, a.sigma_to),
                        (b.rows, b.sigma_from, b.sigma_to)
                    );
                    assert!((a.spread - b.spread).abs() < 1e-12 * a.spread);
                    assert!((a.skill - b.skill).abs() <= 1e-12 * a.skill);
                }
            }
        }
    }
}
