//! What goes along with the rows of a group: laws that follow them, and what keeps their promise.

use super::Past;
use crate::adapt::promise::{Keeping, Promise};
use crate::adapt::{Following, Quantiles};

/// States that know what was known at the moment of a row: of the model and of that without lags, and of the
/// promise, whichever of them a row is of.
#[derive(Debug, Clone)]
pub(crate) struct Followers {
    pub(crate) laws: [Following; 2],
    pub(crate) keeping: Option<Keeping>,
}

/// The laws of a model as they were fitted, and of that without lags: that of the average skew, which states
/// standardise by, then those of each [rung](crate::fit::Turning) where it turns.
pub(crate) type AsFitted = [Vec<Quantiles>; 2];

/// What a group is told by: its laws as they were fitted, and what is promised.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) laws: &'a AsFitted,
    pub(crate) promise: Option<Promised<'a>>,
}

/// Levels, and the size that an interval of this group reaches to: by the place of its model and of its level, and by
/// the level that it is read off.
#[derive(Clone, Copy)]
pub(crate) struct Promised<'a> {
    pub(crate) promise: &'a Promise,
    pub(crate) reach: &'a dyn Fn(usize, usize, f64) -> f64,
}

impl Followers {
    /// Learns from what was observed up to a moment.
    pub(crate) fn know(&mut self, until: f64, laws: &AsFitted) {
        self.laws.iter_mut().zip(laws).for_each(|(state, laws)| state.know(until, &laws[0]));
        self.keeping.iter_mut().for_each(|keeping| keeping.know(until));
    }

    /// A row that is observed, after what was known then.
    pub(crate) fn step(&mut self, past: &Past, told: &Told) {
        self.know(past.known, told.laws);
        if let Some((keeping, Promised { promise, reach })) =
            self.keeping.as_mut().zip(told.promise)
        {
            // A row of which lagged errors are not known is of the model without them.
            let model = usize::from(past.z[0].is_nan());
            let bend = self.laws[model].bend();
            // A row of another fit, whose rungs were others, is of the average.
            let laws = &told.laws[model];
            let law = laws.get(past.rung[model] as usize).unwrap_or(&laws[0]);
            let q = past.side.nearest(bend.gaussian_quantile_of(law, past.z[model]));
            let reach = |level: usize, read_off: f64| reach(model, level, read_off);
            keeping.observe(promise, past.time, q, reach);
        }
        for (state, q) in self.laws.iter_mut().zip(past.q) {
            state.observe(past.time, q);
        }
    }

    /// The levels that the intervals of the next row are read off; nothing without a promise.
    pub(crate) fn reads(&self, promise: Option<&Promise>) -> Vec<f64> {
        let Some((keeping, promise)) = self.keeping.as_ref().zip(promise) else { return vec![] };
        (0..promise.levels().len()).map(|place| keeping.reads(promise, place)).collect()
    }
}
