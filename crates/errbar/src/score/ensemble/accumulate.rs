//! Scores of an ensemble as rows come, or in parts that are merged.

use serde::Serialize;

use super::Ensemble;
use super::network::{MOST, pairs};
use super::ranks::{self, RankHistogram};
use super::spread::SpreadSkill;
use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::score::block::{BLOCK, Sum};

/// Running sums of an ensemble's scores: parts of the rows, on several machines, are merged.
///
/// ```
/// use errbar::score::{Several, ensemble::{Ensemble, EnsembleSums}};
///
/// let members = [1.0, 2.0, 4.0, 0.0, 1.0, 2.0];
/// let all = Ensemble::new(Several::by_row(&members, 3)?, &[2.0, 3.0])?;
/// let first = Ensemble::new(Several::by_row(&members[..3], 3)?, &[2.0])?;
/// let second = Ensemble::new(Several::by_row(&members[3..], 3)?, &[3.0])?;
///
/// let mut sums = EnsembleSums::of(3);
/// sums.add(&first, None)?;
/// let mut there = EnsembleSums::of(3);
/// there.add(&second, None)?;
/// sums.merge(&there)?;
/// let mut whole = EnsembleSums::of(3);
/// whole.add(&all, None)?;
/// assert_eq!(sums.scores(0.95)?, whole.scores(0.95)?);
/// # Ok::<(), errbar::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleSums {
    rows: usize,
    missing: usize,
    single: usize,
    sums: [Sum; 7],
    places: Vec<f64>,
}

const WEIGHT: usize = 0;
const WEIGHT_SQUARED: usize = 1;
const FAIR: usize = 2;
const AS_IS: usize = 3;
const VARIANCE: usize = 4;
const VARIANCE_WIDER: usize = 5;
const SQUARED_ERROR: usize = 6;

/// What is said of an ensemble beside what is said of every forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnsembleScores {
    /// The number of rows.
    pub rows: usize,
    /// How many members a full row has.
    pub members: usize,
    /// How many are missing, of all rows.
    pub missing: usize,
    /// Rows of a single member, which know no spread.
    pub single: usize,
    /// The mean fair CRPS.
    pub fair_crps: f64,
    /// The mean CRPS of the members as they are.
    pub crps: f64,
    /// Spread against skill.
    pub spread_skill: SpreadSkill,
    /// Where observations fell among the members.
    pub ranks: RankHistogram,
}

impl EnsembleSums {
    /// Of so many members.
    #[must_use]
    pub fn of(members: usize) -> Self {
        let sums = [Sum::default(); 7];
        Self { rows: 0, missing: 0, single: 0, sums, places: vec![0.0; members + 1] }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Another number of members, or not one weight for each row.
    pub fn add(&mut self, ensemble: &Ensemble, weight: Option<&[f64]>) -> Result<()> {
        self.check(ensemble.members.columns())?;
        if let Some(weight) = weight {
            check_length("weight", weight.len(), "observation", ensemble.len())?;
        }
        let members = ensemble.members.columns();
        let pairs = if members <= MOST { pairs(members) } else { Vec::new() };
        let (mut fair, mut as_is) = ([0.0; BLOCK], [0.0; BLOCK]);
        for first in (0..ensemble.len()).step_by(BLOCK) {
            let rows = BLOCK.min(ensemble.len() - first);
            ensemble.fill(first, true, &pairs, &mut fair[..rows]);
            ensemble.fill(first, false, &pairs, &mut as_is[..rows]);
            for nth in 0..rows {
                let row = ensemble.row(first + nth);
                let weight = weight.map_or(1.0, |weight| weight[first + nth]);
                self.single += usize::from(row.members == 1);
                if weight <= 0.0 {
                    continue;
                }
                let m = row.members as f64;
                let error = ensemble.observation[first + nth] - row.mean;
                let terms = [
                    1.0,
                    weight,
                    fair[nth],
                    as_is[nth],
                    row.variance,
                    row.variance * (m + 1.0) / m,
                    error * error,
                ];
                self.sums.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(weight * term));
                ranks::add(&mut self.places, &row, weight);
            }
        }
        self.rows += ensemble.len();
        self.missing += ensemble.missing;
        Ok(())
    }

    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// Another number of members.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.check(other.places.len() - 1)?;
        self.rows += other.rows;
        self.missing += other.missing;
        self.single += other.single;
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| sum.merge(more));
        self.places.iter_mut().zip(&other.places).for_each(|(place, more)| *place += more);
        Ok(())
    }

    fn check(&self, members: usize) -> Result<()> {
        check_length("a row of members", members, "an earlier one", self.places.len() - 1)
    }

    /// The scores of the rows so far; `confidence` is that of the ranges which chance leaves.
    ///
    /// # Errors
    /// No rows that count, or a confidence that is no probability.
    pub fn scores(&self, confidence: f64) -> Result<EnsembleScores> {
        crate::score::calibration::check_probability(
            "the confidence of a rank histogram",
            confidence,
        )?;
        let total = self.sums[WEIGHT].value();
        if total <= 0.0 || total.is_nan() {
            return Err(if self.rows == 0 {
                Error::Empty
            } else {
                Error::AllWeightsZero { rows: self.rows }
            });
        }
        let mean = |which: usize| self.sums[which].value() / total;
        let rmse = mean(SQUARED_ERROR).sqrt();
        let ratio = if rmse > 0.0 { mean(VARIANCE_WIDER).sqrt() / rmse } else { f64::NAN };
        let effective = total * (total / self.sums[WEIGHT_SQUARED].value());
        Ok(EnsembleScores {
            rows: self.rows,
            members: self.places.len() - 1,
            missing: self.missing,
            single: self.single,
            fair_crps: mean(FAIR),
            crps: mean(AS_IS),
            spread_skill: SpreadSkill { spread: mean(VARIANCE).sqrt(), rmse, ratio },
            ranks: RankHistogram::of(&self.places, effective, confidence),
        })
    }
}
