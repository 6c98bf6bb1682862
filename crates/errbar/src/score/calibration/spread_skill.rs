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
