//! How good is a probabilistic forecast?
//!
//! Everything here takes a [`Sample`]: errors (or observations and forecasts), the sigmas given to
//! them, and optional weights, checked once. [`judge()`] says everything at once: [`Scores`], how far
//! they can be trusted, and a verdict; the modules hold each idea by itself.
//!
//! | question | here |
//! |---|---|
//! | how close and how sharp? | [`crps`], [`nlpd`], [`deterministic`] |
//! | are the error bars of the right size? | [`reliability`], [`calibration`] |
//! | both in one cost, with its gradient | [`accuracy_reliability`], [`loss`](crate::loss) |
//! | better than one constant sigma? | [`constant`] |
//! | how much is lost to miscalibration? | [`decomposition`] |
//! | all of it in words | [`verdict`] |
//! | how far can a score be trusted, and which of two is better? | [`bootstrap`] |
//! | how good are members, quantiles or intervals? | [`ensemble`], [`quantiles`], [`winkler`] |
//! | how good are probabilities of an event? | [`events`] |
//! | more data than memory, or several machines | [`accumulate`], [`one_pass`] |
//!
//! Weights: only their ratios matter. Writing a row twice is the same as giving it weight 2.

pub mod accumulate;
pub mod accuracy_reliability;
pub(crate) mod block;
pub mod bootstrap;
pub mod calibration;
pub mod constant;
pub mod crps;
pub mod decomposition;
pub mod deterministic;
pub mod ensemble;
pub(crate) mod eta_counts;
pub mod events;
pub(crate) mod json;
mod judge;
pub mod nlpd;
pub(crate) mod of_rank;
pub mod one_pass;
pub mod quantiles;
pub(crate) mod ranking;
pub mod reliability;
pub(crate) mod rows;
pub(crate) mod sample;
mod scores;
mod several;
pub mod verdict;
pub mod winkler;

pub use accuracy_reliability::{AccuracyReliability, Ar, Beta};
pub use judge::{Judgement, Judging, judge, judge_with, judge_without_intervals};
pub use sample::Sample;
pub use several::Several;

pub use crate::checks::errors_of;
pub use scores::{Options, Scores};
