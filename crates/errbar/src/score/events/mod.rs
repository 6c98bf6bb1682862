//! Events: how good are the probabilities that a threshold is passed?
//!
//! A warning service lives by them. An [`Event`] is an observation on one side of a threshold, `> 50`; a forecast gives it
//! a probability in each row, and [`judge`] says how good these are.
//!
//! | question | here |
//! |---|---|
//! | how far are they from what happened? | [`Brier`]: the score, its skill and its three parts |
//! | does what is said to happen in 30% of cases happen in 30%? | [`EventBin`], with the range that chance leaves |
//! | do they tell events from the rest? | [`Roc`] |
//! | is it worth acting on them? | [`ValuePoint`], over the ratio of cost to loss |
//!
//! ```
//! use errbar::score::events::{Event, EventSample, judge};
//!
//! let event: Event = "> 50".parse()?;
//! let observation = [12.0, 55.0, 48.0, 71.0];
//! let happened = event.happened(&observation);
//! let sample = EventSample::new(&[0.1, 0.6, 0.4, 0.8], &happened)?;
//! let scores = judge(&sample, &Default::default(), &errbar::Silent)?;
//! assert_eq!(scores.base_rate, 0.5);
//! assert_eq!(scores.roc.area, 1.0);
//! assert!((scores.brier.score - (0.01 + 0.16 + 0.16 + 0.04) / 4.0).abs() < 1e-15);
//! # Ok::<(), errbar::Error>(())
//! ```

mod brier;
mod compare;
mod diagram;
mod event;
mod judge;
mod roc;
mod sample;
mod sorted;
mod value;

pub use brier::{Block, Brier};
pub use compare::{EventDifference, compare};
pub use diagram::EventBin;
pub use event::{Event, Side};
pub use judge::{Calibration, EventIntervals, EventScores, Options, judge};
pub use roc::{Roc, RocPoint};
pub use sample::EventSample;
pub use value::{ValuePoint, Warning};
