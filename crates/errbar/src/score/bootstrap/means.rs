//! Scores that are made of sums over rows, drawn anew.

use rayon::prelude::*;

use super::comparison::Paired;
use super::interval::{Interval, Rule};
use super::resample::Plan;
use super::{Dependence, Options};
use crate::checks::check_length;
use crate::error::{Error, Result};
use crate::monitor::{self, Monitor, Steps};
use crate::score::sample::Sample;

/// Sums of columns over the rows of each resample.
pub(crate) struct Draws {
    sums: Vec<Vec<f64>>,
    rule: Rule,
    /// Rows that were drawn together, and why.
    pub(crate) drawn: (usize, Option<Dependence>),
}

impl Draws {
    /// Draws rows as asked, or as these samples of them need it. A resample in which `known` finds nothing to tell a
    /// score by is left out.
    pub(crate) fn of(
        columns: &[&[f64]],
        samples: &[Sample],
        options: &Options,
        known: impl Fn(&[f64]) -> bool + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        options.check()?;
        let drawn = options.drawn(samples);
        let rows = columns.first().map_or(0, |column| column.len());
        let plan = Plan::new(rows.max(1), drawn.0, options.seed);
        let width = columns.len();
        let mut table = vec![0.0; plan.units * width];
        for (nth, column) in columns.iter().enumerate() {
            for (row, value) in column.iter().enumerate() {
                table[plan.unit_of(row) * width + nth] += value;
            }
        }
        let steps = Steps::new(monitor, options.replicates);
        let one = |replicate: usize| -> Result<Vec<f64>> {
            monitor::check(monitor)?;
            let mut counts = vec![0; plan.units];
            plan.draw(&mut plan.random(replicate), &mut counts);
            let mut sums = vec![0.0; width];
            for (unit, &count) in table.chunks_exact(width.max(1)).zip(&counts) {
                let times = f64::from(count);
                sums.iter_mut().zip(unit).for_each(|(sum, value)| *sum += times * value);
            }
            steps.done();
            Ok(sums)
        };
        let sums: Result<Vec<Vec<f64>>> =
            (0..options.replicates).into_par_iter().map(one).collect();
        let sums = sums?.into_iter().filter(|sums| known(sums)).collect();
        Ok(Self { sums, rule: Rule::new(options.confidence, plan.pieces()), drawn })
    }

    /// A score of each resample.
    pub(crate) fn each(&self, score: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        self.sums.iter().map(|sums| score(sums)).collect()
    }

    /// The interval of a score.
    pub(crate) fn interval(&self, score: impl Fn(&[f64]) -> f64) -> Interval {
        self.rule.percentile(self.each(score), 0.0)
    }

    /// The interval of a share of the rows, of which there are so many.
    pub(crate) fn share(&self, share: f64, rows: f64, score: impl Fn(&[f64]) -> f64) -> Interval {
        self.rule.share(share, &self.each(score), rows, self.drawn.0 as f64)
    }

    /// A difference of two scores of the same rows.
    pub(crate) fn paired(&self, value: f64, difference: impl Fn(&[f64]) -> f64) -> Paired {
        let each = self.each(difference);
        let interval = self.rule.percentile(each.clone(), 0.0);
        Paired::new(value, interval, 0.0, &each)
    }
}

/// How the weighted mean of each column differs from that of one of them, from the same draws of rows: any score that
/// rows have. Blocks of rows are drawn where the options say so; left out, single rows are.
///
/// # Errors
/// No columns, different lengths, a column `against` that is not there, an option out of its range, or the monitor
/// stopped it.
pub fn compare_means(
    columns: &[&[f64]],
    weight: Option<&[f64]>,
    against: usize,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Vec<Option<Paired>>> {
    let first = columns.first().ok_or(Error::Empty)?;
    if against >= columns.len() {
        return Err(Error::BadNumber {
            what: "the scores to compare with",
            value: against,
            allowed: "they must be among those given, counted from 0",
        });
    }
    for column in columns {
        check_length("scores", column.len(), "the first ones", first.len())?;
    }
    let ones = vec![1.0; first.len()];
    let sample = Sample::new(&ones, &ones)?.maybe_weighted(weight)?;
    let weights = sample.weight().unwrap_or(&ones);
    let weighted = |column: &&[f64]| -> Vec<f64> {
        let one = |(value, weight): (&f64, &f64)| if *weight > 0.0 { value * weight } else { 0.0 };
        column.iter().zip(weights).map(one).collect()
    };
    let mut all = vec![weights.to_vec()];
    all.extend(columns.iter().map(weighted));
    let means: Vec<f64> =
        all.iter().map(|c| c.iter().sum::<f64>() / sample.total_weight()).collect();
    let all: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
    let draws = Draws::of(&all, &[], options, |sums| sums[0] > 0.0, monitor)?;
    let difference = |nth: usize| {
        let value = means[nth + 1] - means[against + 1];
        let of = |sums: &[f64]| (sums[nth + 1] - sums[against + 1]) / sums[0];
        (nth != against).then(|| draws.paired(value, of))
    };
    Ok((0..columns.len()).map(difference).collect())
}
