//! A fit to rows that are read twice, where they are too many to be held.

use std::collections::HashMap;

use anyhow::bail;
use errbar::diagnose::{self, Finding};
use errbar::fit::{self, MANY, Sampling};
use errbar::{Data, Group};

use super::{Arguments, FitSummary};
use crate::columns::{Columns, NumberId, Passing, Surprise, retain};
use crate::learning::Debias;
use crate::training::{Asking, InputSeen};

/// What comes of rows that pass.
type Passed = Result<FitSummary, (Passing, Surprise)>;

/// Some rows that count, with what is known of them.
struct Rows {
    inputs: Vec<f64>,
    error: Vec<f64>,
    observation: Option<Vec<f64>>,
    weight: Option<Vec<f64>>,
    group: Option<Vec<u32>>,
}

/// The values of the column to group by, in the order in which they come.
#[derive(Default)]
struct Labels {
    places: HashMap<String, u32>,
    labels: Vec<String>,
}

impl Arguments {
    /// Learns from rows as they pass; gives them back where that cannot be done.
    pub(super) fn pass(
        &self,
        asking: &Asking,
        options: &fit::Options,
        mut passing: Passing,
    ) -> anyhow::Result<Passed> {
        let inputs = asking.inputs_so_far(&mut passing);
        if inputs.is_empty() {
            return Ok(Err((passing, Surprise::Inputs)));
        }
        let names: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
        let ids: Vec<NumberId> = inputs.iter().map(|(_, id)| *id).collect();
        let mut sampling = Sampling::new(ids.len(), options)?;
        let mut seen = vec![InputSeen::default(); ids.len()];
        let (mut observation, mut labels) = (None, Labels::default());
        let progress = self.console.progress("Reading");
        let mut next = passing.next(&progress)?;
        while let Some(some) = next {
            let mut kept = match some {
                Ok(kept) if passing.is_as_told(&kept) => kept,
                Ok(_) => return Ok(Err((passing, Surprise::Inputs))),
                Err(why) => return Ok(Err((passing, why))),
            };
            // The next rows are read while these are looked at.
            let (following, looked) = rayon::join(
                || passing.next(&progress),
                || -> anyhow::Result<()> {
                    ids.iter().zip(&mut seen).for_each(|(id, seen)| seen.look(kept.numbers(*id)));
                    let rows = self.rows(asking, &ids, &mut kept, &mut labels)?;
                    let Some(rows) = rows else { return Ok(()) };
                    let data = rows.data(ids.len(), self.columns.group.as_deref(), &labels);
                    let add = data.and_then(|data| sampling.add(&data));
                    add.map_err(|error| kept.refused(error))?;
                    if let Some(more) = rows.observation {
                        observation.get_or_insert_with(Vec::new).extend(more);
                    }
                    Ok(())
                },
            );
            looked?;
            next = following?;
        }
        drop(progress);
        if sampling.error().len() < MANY {
            return Ok(Err((passing, Surprise::Few)));
        }
        let (kept, mut again) = passing.finish_and_pass_again()?;
        let mut notes = asking.clone().inputs_in_words(&self.source(), &kept)?;
        notes.extend(names.iter().zip(&seen).flat_map(|(name, seen)| seen.in_words(name)));
        notes.push("more than 2,000,000 rows are read twice, and learned from as they pass".into());
        notes.extend(self.groups_not_held_out(sampling.group()));
        let context = diagnose::Context {
            weight: sampling.weight(),
            observation: observation.as_deref(),
            in_time_order: false,
            inputs: names.len(),
        };
        let refused = |error| kept.refused(error);
        let findings: Vec<Finding> =
            diagnose::diagnose(sampling.error(), &context).map_err(refused)?;
        drop(observation);

        let progress = self.console.progress("Fitting");
        let may = asking.forecast().is_some() && self.learning.debias == Debias::Auto;
        // To say what it would be worth.
        let asks = self.learning.debias != Debias::Yes && !may;
        let told = asks.then(|| sampling.worth_of_debiasing(&progress)).transpose();
        let told = told.map_err(refused)?.flatten();
        let (mut learning, worth) = sampling.learn(&names, may, &progress).map_err(refused)?;
        {
            let reading = self.console.progress("Reading");
            let mut next = again.next(&reading)?;
            while let Some(some) = next {
                let Ok(mut some) = some else { bail!(changed(&kept)) };
                let (following, looked) = rayon::join(
                    || again.next(&reading),
                    || -> anyhow::Result<()> {
                        let rows = self.rows(asking, &ids, &mut some, &mut Labels::default())?;
                        let Some(rows) = rows else { return Ok(()) };
                        let data = Data::with_missing(&rows.inputs, ids.len(), &rows.error);
                        match data.and_then(|data| learning.add(&data)) {
                            Err(errbar::Error::Changed { .. }) => bail!(changed(&kept)),
                            other => other.map_err(|error| some.refused(error)),
                        }
                    },
                );
                looked?;
                next = following?;
            }
        }
        let fit = match learning.finish(&progress) {
            Err(errbar::Error::Changed { .. }) => bail!(changed(&kept)),
            other => other.map_err(refused)?,
        };
        drop(progress);
        let fit = self.with_errors(fit, asking.forecast(), asking.ensemble.clone());
        Ok(Ok(self.told(fit, worth.or(told), findings, notes, &kept)?))
    }

    /// Those of some rows that count, if there are any.
    fn rows(
        &self,
        asking: &Asking,
        ids: &[NumberId],
        kept: &mut Columns,
        labels: &mut Labels,
    ) -> anyhow::Result<Option<Rows>> {
        if kept.rows() == 0 {
            return Ok(None);
        }
        let mut inputs = kept.row_major(ids.iter().copied());
        let (mut error, mut observation) = asking.errors(&self.source(), kept)?;
        let mut weight = asking.weight.map(|id| kept.take(id));
        let mut group = asking.group.map(|id| {
            let texts = kept.texts(id);
            let places: Vec<u32> = texts.values.iter().map(|value| labels.place(value)).collect();
            texts.rows.iter().map(|value| places[*value as usize]).collect::<Vec<u32>>()
        });
        if let Some(weights) = weight.as_ref().filter(|weight| weight.contains(&0.0)) {
            let counts: Vec<bool> = weights.iter().map(|weight| *weight > 0.0).collect();
            let each = |counts: &bool| std::iter::repeat_n(*counts, ids.len());
            retain(&mut inputs, &counts.iter().flat_map(each).collect::<Vec<bool>>());
            retain(&mut error, &counts);
            group.iter_mut().for_each(|group| retain(group, &counts));
            [&mut observation, &mut weight]
                .into_iter()
                .flatten()
                .for_each(|values| retain(values, &counts));
        }
        Ok((!error.is_empty()).then_some(Rows { inputs, error, observation, weight, group }))
    }
}

impl Rows {
    fn data(&self, columns: usize, by: Option<&str>, labels: &Labels) -> errbar::Result<Data<'_>> {
        let data = Data::with_missing(&self.inputs, columns, &self.error)?
            .maybe_weighted(self.weight.as_deref())?;
        match self.group.clone().zip(by) {
            Some((rows, name)) => {
                data.grouped(Group { name: name.into(), labels: labels.labels.clone(), rows })
            }
            None => Ok(data),
        }
    }
}

impl Labels {
    fn place(&mut self, value: &str) -> u32 {
        if let Some(place) = self.places.get(value) {
            return *place;
        }
        let place = self.labels.len() as u32;
        self.places.insert(value.to_string(), place);
        self.labels.push(value.to_string());
        place
    }
}

fn changed(kept: &Columns) -> String {
    format!("{} has changed while it was read", kept.file())
}
