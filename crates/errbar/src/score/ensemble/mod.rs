//! Forecasts by members: CRPS, fair and as is, ranks, spread against skill.
//!
//! ```
//! use errbar::score::{Several, ensemble::Ensemble};
//!
//! // Two rows of three members, one of them missing.
//! let members = [1.0, 2.0, 4.0, 0.0, f64::NAN, 2.0];
//! let ensemble = Ensemble::new(Several::by_row(&members, 3)?, &[2.0, 3.0])?;
//! // Mean distance from the observation 1, of all pairs 2: fair 1 - 2/2.
//! assert_eq!(ensemble.fair_crps()[0], 0.0);
//! assert!((ensemble.crps()[0] - (1.0 - 6.0 / 9.0)).abs() < 1e-15);
//! // Distances 3 and 1, one pair of distance 2.
//! assert_eq!(ensemble.fair_crps()[1], 2.0 - 1.0);
//! # Ok::<(), errbar::Error>(())
//! ```
//!
//! A member that is missing is NaN, and the row is that of the others.

mod accumulate;
mod crps;
mod network;
mod ranks;
mod spread;

pub use accumulate::{EnsembleScores, EnsembleSums};
pub use ranks::RankHistogram;
pub use spread::SpreadSkill;

use super::several::Several;
use crate::checks::{check_finite, check_length, first_not_finite};
use crate::error::{Error, Result};

/// Members and the observations that followed, checked once.
#[derive(Debug, Clone, Copy)]
pub struct Ensemble<'a> {
    members: Several<'a>,
    observation: &'a [f64],
    missing: usize,
}

/// Of one row: its members that are not missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// How many,
    pub(crate) members: usize,
    /// their mean,
    pub(crate) mean: f64,
    /// their variance, by one less than they are; 0 of one.
    pub(crate) variance: f64,
    /// How many are below the observation,
    pub(crate) below: usize,
    /// and how many equal it.
    pub(crate) equal: usize,
}

impl<'a> Ensemble<'a> {
    /// From the members of each row and the observations.
    ///
    /// # Errors
    /// Different lengths, a value that is infinite, an observation that is missing, or a row without any member.
    pub fn new(members: Several<'a>, observation: &'a [f64]) -> Result<Self> {
        check_length("observation", observation.len(), "members", members.rows())?;
        check_finite("observation", observation)?;
        let odd = |value: &f64| !value.is_finite();
        let count = |part: &[f64]| part.iter().filter(|value| odd(value)).count();
        // Hardly ever there is anything to be counted.
        let missing = match first_not_finite(members.values()) {
            Some(_) => members.values().chunks(4096).map(count).sum(),
            None => 0,
        };
        if missing > 0 {
            let infinite = members.values().iter().position(|value| value.is_infinite());
            if let Some(place) = infinite {
                let (index, value) = (members.row_of(place), members.values()[place]);
                return Err(Error::NotFinite { what: "a member", index, value });
            }
            let empty = |row: &usize| members.row(*row).all(f64::is_nan);
            if let Some(index) = (0..members.rows()).find(empty) {
                return Err(Error::NoMembers { index });
            }
        }
        Ok(Self { members, observation, missing })
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.observation.len()
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> Several<'a> {
        self.members
    }

    /// The observations.
    #[must_use]
    pub fn observation(&self) -> &'a [f64] {
        self.observation
    }

    /// How many members are missing, of all rows.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.missing
    }

    pub(crate) fn row(&self, row: usize) -> Row {
        let y = self.observation[row];
        let (mut n, mut sum, mut below, mut equal) = (0, 0.0, 0, 0);
        // Around the observation, where digits matter, and halved, so that nothing overflows.
        let away = |x: f64| 0.5 * x - 0.5 * y;
        for x in self.members.row(row).filter(|x| !x.is_nan()) {
            n += 1;
            sum += away(x) / self.members.columns() as f64;
            below += usize::from(x < y);
            equal += usize::from(x == y);
        }
        let from_y = sum * (self.members.columns() as f64 / n as f64);
        let present = self.members.row(row).filter(|x| !x.is_nan());
        let squares: f64 = present.map(|x| (away(x) - from_y).powi(2)).sum();
        let variance = if n > 1 { 4.0 * squares / (n - 1) as f64 } else { 0.0 };
        Row { members: n, mean: 2.0 * (from_y + 0.5 * y), variance, below, equal }
    }
}
