//! Spread against skill: are errors larger where sigma is?

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

    let mut out: Vec<SpreadSkillBin> = Vec::with_capacity(bins);
    let mut open: Option<(usize, Bin)> = None;
    let mut before = 0.0;
    for run in ranking.runs(sigma) {
        let rows = (run.from..run.to).map(|position| ranking.row(position));
        let mass: f64 = rows.clone().map(weight).sum();
        if mass == 0.0 {
            continue;
        }
        let middle = (before + 0.5 * mass) / sample.total_weight();
        let number = ((middle * bins as f64) as usize).min(bins - 1);
        before += mass;
        match &mut open {
            Some((at, bin)) if *at == number => bin.add(error, rows, run.value, weight),
            _ => {
                out.extend(open.take().map(|(_, bin)| bin.close()));
                let mut bin = Bin { from: run.value, ..Bin::default() };
                bin.add(error, rows, run.value, weight);
                open = Some((number, bin));
            }
        }
    }
    out.extend(open.map(|(_, bin)| bin.close()));
    Ok(out)
}

/// A bin being filled. Squares are taken relative to a first sigma, so that they do not overflow.
#[derive(Default)]
struct Bin {
    rows: usize,
    from: f64,
    to: f64,
    weight: Sum,
    sigma: Sum,
    error: Sum,
}

impl Bin {
    fn add(
        &mut self,
        error: &[f64],
        rows: impl Iterator<Item = usize>,
        sigma: f64,
        weight: impl Fn(usize) -> f64,
    ) {
        self.to = sigma;
        for row in rows {
            let w = weight(row);
            self.rows += usize::from(w > 0.0);
            self.weight.add(w);
            self.sigma.add(w * (sigma / self.from).powi(2));
            self.error.add(w * (error[row] / self.from).powi(2));
        }
    }

    fn close(self) -> SpreadSkillBin {
        let root = |sum: Sum| self.from * (sum.value() / self.weight.value()).sqrt();
        SpreadSkillBin {
            rows: self.rows,
            sigma_from: self.from,
            sigma_to: self.to,
            spread: root(self.sigma),
            skill: root(self.error),
        }
    }
}
