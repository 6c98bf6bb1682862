//! A fit as rounds over parts of the rows.
//!
//! Rows may be too many for one memory, or lie on many machines. What a fit asks of them is little: counts of scaled
//! errors (for the ranks that reliability is about), sums of slopes by bin of each input (for trees), values and slopes
//! of the cost. So a fit is a series of rounds: the same question goes to every part of the rows, whole numbers and
//! sums come back; sums are added in the order of the parts, and whole numbers wherever several parts are together. The bits of the result depend on the parts, and not on who
//! held them: one process ([`Local`]), many, or other machines.
//!
//! ```
//! use errbar::rounds::{Answers, Ask, Local, Part, Workers, trees};
//! use errbar::sigma::trees::Options;
//! use errbar::Silent;
//!
//! // Errors of size 1 up to x = 0.5, of size 3 beyond, in four parts.
//! let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 4000.0).collect();
//! let error: Vec<f64> = x.iter().enumerate().map(|(i, x)| if *x < 0.5 { 1.0 } else { 3.0 } * (i as f64 * 2.4).sin()).collect();
//! let sample: Vec<f64> = x.iter().step_by(10).copied().collect();
//! let parts = |_: ()| -> errbar::Result<Vec<Part>> {
//!     let part = |nth: usize| {
//!         let rows = 1000 * nth..1000 * (nth + 1);
//!         Part::new(nth as u64, x[rows.clone()].to_vec(), 1, &error[rows], &[1.0; 1000])
//!     };
//!     (0..4).map(part).collect()
//! };
//!
//! let here = trees(&mut Local::new(parts(())?), (&sample, 1), &Options::default(), &Silent)?;
//!
//! /// As it would be elsewhere: bytes go out, bytes come back.
//! struct Elsewhere(Vec<Local>);
//!
//! impl Workers for Elsewhere {
//!     fn ask(&mut self, ask: &Ask) -> errbar::Result<Vec<Answers>> {
//!         let bytes = ask.to_bytes()?;
//!         let answer = |worker: &mut Local| worker.answer(&Ask::from_bytes(&bytes)?)?.to_bytes();
//!         self.0.iter_mut().map(|worker| Answers::from_bytes(&answer(worker)?)).collect()
//!     }
//! }
//!
//! let mut first = parts(())?;
//! let others = first.split_off(1);
//! let workers = vec![Local::new(others), Local::new(first)];
//! let there = trees(&mut Elsewhere(workers), (&sample, 1), &Options::default(), &Silent)?;
//! assert_eq!(here.model.predict(&[0.4, 0.6])?, there.model.predict(&[0.4, 0.6])?);
//! # Ok::<(), errbar::Error>(())
//! ```

mod message;
mod parameters;
mod part;
mod ranks;
mod spread;
mod trees;

use rayon::prelude::*;

pub(crate) use self::message::Message;
pub use self::message::{Answer, Answers, Ask};
pub(crate) use self::parameters::{least, refine};
pub use self::part::Part;
pub(crate) use self::part::{drawn, held_together, is_held};
pub(crate) use self::spread::{Spread, constant};
pub(crate) use self::trees::{HELD, further};
pub use self::trees::{Learned, trees};
use crate::error::{Error, Result};

/// Those who hold the parts of the rows.
pub trait Workers {
    /// Asks every part the same; their answers in any order.
    ///
    /// # Errors
    /// What a part says that it cannot answer, or that it cannot be reached.
    fn ask(&mut self, ask: &Ask) -> Result<Vec<Answers>>;
}

/// Parts in this process, shared out to its threads.
#[derive(Default)]
pub struct Local {
    parts: Vec<Part>,
}

impl Local {
    /// Of parts, each of a number of its own.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// One more.
    pub(crate) fn add(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// What its parts say to a question.
    ///
    /// # Errors
    /// A question that does not fit what was asked before.
    pub fn answer(&mut self, ask: &Ask) -> Result<Answers> {
        let answer = |part: &mut Part| {
            let number = part.number();
            let answer = part.answer(ask).map_err(|error| in_part(number, error))?;
            Ok(Answers::of(number, answer))
        };
        let parts = self.parts.par_iter_mut().map(answer);
        parts.try_reduce(Answers::default, Answers::and)?.in_order()
    }
}

impl Workers for Local {
    fn ask(&mut self, ask: &Ask) -> Result<Vec<Answers>> {
        Ok(vec![self.answer(ask)?])
    }
}

/// An error, and the part it is in.
pub(crate) fn in_part(number: u64, error: Error) -> Error {
    Error::InPart { number: number as usize, error: Box::new(error) }
}

/// Asks every part.
fn all_of(workers: &mut dyn Workers, ask: &Ask) -> Result<Answers> {
    let answers = workers.ask(ask)?.into_iter();
    answers.map(Ok).reduce(|all, other| all?.and(other?)).unwrap_or_else(|| Ok(Answers::default()))
}

/// Asks every part, and adds up what they say.
fn sum_of(workers: &mut dyn Workers, ask: &Ask) -> Result<Answer> {
    all_of(workers, ask)?.total()
}
