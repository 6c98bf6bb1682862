//! What the rows of each group are told by.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::adapt::Quantiles;
use crate::adapt::promise::Promise;
use crate::fit::Fitted;
use crate::fit::guarantee::{Guarantee, Ladders, Whose};
use crate::law::ErrorLaw;
pub(super) use crate::series::AsFitted;
use crate::series::{Followers, Memory, Promised, Series, Told};

/// The laws of a model and of that without lags, as they were fitted, and what they promise.
pub(super) struct Laws<'a> {
    pub(super) laws: &'a AsFitted,
    promised: Option<(&'a Promise, [Guaranteed<'a>; 2])>,
}

/// What the intervals of a model are read off, and the numbers of its groups.
struct Guaranteed<'a> {
    ladders: Ladders<'a>,
    groups: HashMap<&'a str, u32>,
}

impl<'a> Guaranteed<'a> {
    fn of(guarantee: &'a Guarantee, promise: &Promise) -> Self {
        let groups = guarantee.groups().into_iter().zip(0..);
        Self {
            ladders: guarantee.ladders(promise.levels()),
            groups: groups.map(|((label, _), number)| (label, number)).collect(),
        }
    }
}

/// The laws of a model and of that without lags, as they were fitted.
pub(super) fn as_fitted(fitted: &Fitted) -> AsFitted {
    let laws = |model: &Fitted| {
        let Some(shape) = model.shape() else { return vec![Quantiles::of(&ErrorLaw::default())] };
        let turned = shape.turning().into_iter().flat_map(|turning| turning.laws().0);
        std::iter::once(shape.law()).chain(turned).map(Quantiles::of).collect()
    };
    let own: Vec<Quantiles> = laws(fitted);
    [own.clone(), fitted.without_lags().map_or(own, laws)]
}

impl<'a> Laws<'a> {
    pub(super) fn of(fitted: &'a Fitted, laws: &'a AsFitted, series: &'a Series) -> Self {
        let without = fitted.without_lags();
        let promised = series.promise().and_then(|promise| {
            let of = |model: &'a Fitted| Some(Guaranteed::of(model.guarantee()?, promise));
            Some((promise, [of(fitted)?, of(without.unwrap_or(fitted))?]))
        });
        Self { laws, promised }
    }

    /// What a group is told by.
    pub(super) fn told<T>(&self, label: &str, with: impl FnOnce(&Told) -> T) -> T {
        let Some((promise, models)) = &self.promised else {
            return with(&Told { laws: self.laws, promise: None });
        };
        let group = models.each_ref().map(|model| model.groups.get(label).copied());
        let reach = |model: usize, level: usize, read_off: f64| {
            models[model].ladders.reach(level, Whose::Group(group[model]), read_off)
        };
        with(&Told { laws: self.laws, promise: Some(Promised { promise, reach: &reach }) })
    }

    /// The states of each group after all rows that it remembers; the latest of these wait to be known.
    pub(super) fn latest_states(&self, series: &Series) -> Vec<Followers> {
        let one = |(label, memory): (&String, &Memory)| {
            self.told(label, |told| {
                let mut states = memory.followers(series.promise());
                memory.latest.iter().for_each(|past| states.step(past, told));
                states
            })
        };
        series.groups.par_iter().map(one).collect()
    }
}
