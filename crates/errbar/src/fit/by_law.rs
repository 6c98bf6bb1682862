//! Models trained again by the cost of the law that their errors have.
//!
//! The cost of a Gaussian sees the far errors of a heavy-tailed law as proof of a large sigma, and the long
//! side of a skewed one too; that of the law itself does not.

use super::lesson::Lesson;
use super::validation::{self, Outcome};
use super::{Kind, Options};
use crate::data::Data;
use crate::error::Result;
use crate::law::Base;
use crate::law::judge;
use crate::loss::LossKind;
use crate::monitor::Monitor;

/// The outcome of models trained by the law that is found with a first outcome, and the options for more of
/// them; `None` where that law is a Gaussian, or held-out rows do not speak for them.
pub(super) fn better(
    first: &Outcome,
    observe: impl Fn(&mut Outcome),
    (data, lesson): (&Data, &Lesson),
    kinds: &[Kind],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<(Outcome, Options)>> {
    let LossKind::Ar(beta) = options.loss else { return Ok(None) };
    // How an outcome does with the law that it asks for.
    let told = |outcome: &Outcome| {
        let mut outcome = outcome.clone();
        observe(&mut outcome);
        let shape = outcome.learn_shape(data, options)?;
        let held_out = &outcome.held_out;
        Ok((shape, judge::crps(&held_out.sample()?, held_out.error_laws())?))
    };
    let (Some(shape), crps) = told(first)? else { return Ok(None) };
    let law = shape.law().law();
    if law.base == Base::Normal && law.left == law.right {
        return Ok(None);
    }
    let law = law.around(0.0, 1.0 / law.standard_deviation());
    let options = Options { loss: LossKind::OfLaw(beta, law), ..*options };
    let Some(second) = validation::judge(data, lesson, kinds, &options, monitor)? else {
        return Ok(None);
    };
    Ok((told(&second)?.1 < crps).then_some((second, options)))
}
