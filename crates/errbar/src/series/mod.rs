//! Rows in time: when an observation is known, the errors of earlier rows, and what a model remembers of them.
//!
//! Three words. A *moment* is one of the distinct times of a table. The *delay* says when an observation
//! becomes known: so many moments of the table later, or so much time. A *lag* is an earlier error of
//! the row's own group that is an input: so many moments of that group before, or so much time before. What
//! is not known yet, or was never observed, is missing: it is not replaced by an older one.

mod clock;
mod followers;
mod lags;
mod memory;
mod span;

pub use self::clock::Clock;
pub(crate) use self::followers::{AsFitted, Followers, Promised, Told};
pub use self::lags::{Lagged, lagged};
pub(crate) use self::memory::Before;
pub use self::memory::{Memory, Past, Series, Side};
pub use self::span::Span;
