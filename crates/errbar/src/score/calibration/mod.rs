//! Are the error bars of the right size? What a forecaster looks at.
//!
//! | question | here |
//! |---|---|
//! | where in its own distribution did each observation fall? | [`pit`], [`PitHistogram`] |
//! | does what is said to happen with probability p happen that often? | [`ReliabilityDiagram`] |
//! | do 90% intervals hold 90%, and how wide are they? | [`Coverage`] |
//! | are errors larger where sigma is? | [`SpreadSkillBin`] |
//!
//! Each comes with the range that a perfectly calibrated forecast would show by chance, so that a
//! small sample is not blamed for being small. Those ranges take the rows to be independent.

mod chance;
mod counts;
mod coverage;
mod diagram;
mod pit;
mod spread_skill;

pub use chance::{binomial_interval, kolmogorov_p_value};
pub use counts::PitCounts;
pub use coverage::{Coverage, coverage, half_width};
pub(crate) use diagram::largest_deviation;
pub use diagram::{ReliabilityDiagram, reliability_diagram};
pub use pit::{PitHistogram, each_pit, pit, pit_histogram};
pub use spread_skill::{SpreadSkillBin, spread_skill};

use crate::error::{Error, Result};

/// Refuses what is not strictly between 0 and 1 (NaN included).
pub(crate) fn check_probability(what: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(Error::NotAProbability { what, value }) }
}
