//! A fit as rounds over parts of the rows.
//!
//! Rows may be too many for one memory, or lie on many machines. What a fit asks of them is little: counts of scaled
//! errors (for the ranks that reliability is about), sums of slopes by bin of each input (for trees), values and slopes
//! of the cost. So a fit is a series of rounds: the same question goes to every part of the rows, whole numbers and
//! sums come back, and are added in the order of the parts. The bits of the result depend on the parts, and not on who
//! held them: one process ([`Local`]), many, or other machines.
//!
//! ```
//! use errbar::rounds::{Answer, Ask, Local, Part, Workers, trees};
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
//! struct Elsewhere(Vec<Part>);
//!
//! impl Workers for Elsewhere {
//!     fn ask(&mut self, ask: &Ask) -> errbar::Result<Vec<Answer>> {
//!         let bytes = ask.to_bytes()?;
//!         let answer = |part: &mut Part| part.answer(&Ask::from_bytes(&bytes)?);
//!         self.0.iter_mut().map(|part| Answer::from_bytes(&answer(part)?.to_bytes())).collect()
//!     }
//! }
//!
//! let there = trees(&mut Elsewhere(parts(())?), (&sample, 1), &Options::default(), &Silent)?;
//! assert_eq!(here.model.predict(&[0.4, 0.6])?, there.model.predict(&[0.4, 0.6])?);
//! # Ok::<(), errbar::Error>(())
//! ```

mod message;
mod part;
mod ranks;
mod trees;

use rayon::prelude::*;

pub use self::message::{Answer, Ask};
pub use self::part::Part;
pub(crate) use self::part::{drawn, held_together, is_held};
pub(crate) use self::trees::{HELD, further};
pub use self::trees::{Learned, trees};
use crate::error::{Error, Result};

/// Those who hold the parts of the rows.
pub trait Workers {
    /// Asks every part the same; their answers in the order of the parts.
    ///
    /// # Errors
    /// What a part says that it cannot answer, or that it cannot be reached.
    fn ask(&mut self, ask: &Ask) -> Result<Vec<Answer>>;
}

/// Parts in this process, shared out to its threads.
pub struct Local {
    parts: Vec<Part>,
}

impl Local {
    /// Of parts, whose order matters.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }
}

impl Workers for Local {
    fn ask(&mut self, ask: &Ask) -> Result<Vec<Answer>> {
        let answer = |(number, part): (usize, &mut Part)| {
            part.answer(ask).map_err(|error| Error::InPart { number, error: Box::new(error) })
        };
        self.parts.par_iter_mut().enumerate().map(answer).collect()
    }
}

/// Asks every part, and adds up what they say.
fn sum_of(workers: &mut dyn Workers, ask: &Ask) -> Result<Answer> {
    Answer::sum(workers.ask(ask)?)
}
