//! Rows that are judged as they pass, where they are too many to be held.

use std::collections::HashMap;

use errbar::diagnose::{self, Summary};
use errbar::fit::Fitted;
use errbar::law::{Bounds, Judged, OnePass};
use errbar::words::significant;
use rayon::prelude::*;

use super::{Answer, Arguments, Assessment, Group, Question, groups};
use crate::columns::{Columns, Passing, Surprise};
use crate::console::Progress;
use crate::samples::ScoreRows;

/// That rows were judged as they passed.
pub(super) fn note(all: &Assessment) -> Option<String> {
    let bound = significant(all.rs_bound?, 2);
    Some(format!(
        "more than 2,000,000 rows are judged as they pass: RS is that of all in order to within {bound} (--exact \
         holds them in memory, about 110 bytes each)"
    ))
}

/// Rows of a value of the column to group by.
struct Rows {
    value: String,
    rows: OnePass,
    /// Whether any of them has a weight.
    counts: bool,
}

/// What comes of rows that pass.
type Passed = Result<Answer, (Passing, Surprise)>;

impl Arguments {
    /// Judges rows as they pass; gives them back where that cannot be done.
    pub(super) fn pass(&self, question: &Question, mut passing: Passing) -> anyhow::Result<Passed> {
        let progress = self.console.progress("Scoring");
        // Of laws that differ from row to row rows are held: see `Question::has_laws`.
        let law = question.judge().and_then(Fitted::shape).map(|shape| shape.law().clone());
        let new = || {
            let rows = OnePass::new(&question.judging).by_law(law.clone());
            if self.no_intervals { rows.without_intervals() } else { rows }
        };
        let mut all = Rows { value: String::new(), rows: new(), counts: false };
        let mut by: Vec<Rows> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut next = passing.next(&progress)?;
        while let Some(some) = next {
            let mut kept = match some {
                Ok(kept) => kept,
                Err(why) => return Ok(Err((passing, why))),
            };
            let mut groups = None;
            if let Some(id) = question.by {
                let texts = kept.texts(id);
                let mut place = |value: &String| {
                    *places.entry(value.clone()).or_insert_with(|| {
                        let (value, rows) = (value.clone(), new().of_group());
                        by.push(Rows { value, rows, counts: false });
                        by.len() - 1
                    })
                };
                let known: Vec<usize> = texts.values.iter().map(&mut place).collect();
                let rows = texts.rows.iter().map(|&value| known[value as usize]);
                groups = Some(rows.collect::<Vec<usize>>());
            }
            // The next rows are read while these are judged.
            let (following, judged) = rayon::join(
                || passing.next(&progress),
                || take(question, &mut kept, &mut all, groups.as_deref().map(|of| (of, &mut by))),
            );
            if let Err(error) = judged? {
                match error {
                    errbar::Error::WeightsOutOfRange => {
                        return Ok(Err((passing, Surprise::Weights)));
                    }
                    error => return Err(kept.refused(error)),
                }
            }
            let groups = by.iter().filter(|group| group.rows.rows() > 0).count();
            groups::check_count(groups, self.by.as_deref().unwrap_or(""), kept.file())?;
            next = following?;
        }
        let kept = passing.finish()?;
        if !all.counts {
            anyhow::bail!("{}: all weights are 0, and at least one row must count", kept.file());
        }
        self.answer(kept, all, by, &progress).map(Ok)
    }

    /// What is to be said of rows that have passed.
    fn answer(
        &self,
        kept: Columns,
        all: Rows,
        by: Vec<Rows>,
        progress: &Progress,
    ) -> anyhow::Result<Answer> {
        let judged = all.rows.finish(progress).map_err(|error| kept.refused(error))?;
        let Judged { scores, intervals, verdict, rs_bound, dependence, course, .. } = judged;
        let now = course.as_ref().filter(|_| self.model.is_some());
        let now = now.map(|course| Summary::of_course(course, &scores));
        let drifts = course.as_ref().filter(|_| self.time.is_some()).map(diagnose::drifts);
        let all = Assessment::of(scores, intervals, verdict, rs_bound);
        let mut found: Vec<(String, Rows)> =
            by.into_iter().map(|group| (group.value.clone(), group)).collect();
        found.retain(|(_, group)| group.rows.rows() > 0);
        let mut judged = Vec::new();
        for (value, group) in groups::in_order(found) {
            crate::stop::check()?;
            let rows = group.rows.rows();
            let of_group = match group.counts {
                true => {
                    let found = group.rows.finish(&errbar::Silent);
                    let found = found.map_err(|error| kept.refused(error))?;
                    let Judged { scores, intervals, verdict, rs_bound, .. } = found;
                    Some(Assessment::of(scores, intervals, verdict, rs_bound))
                }
                false => None,
            };
            judged.push(Group { value, rows, judged: of_group });
        }
        let notes = kept.notes();
        Ok(Answer {
            kept,
            all,
            groups: judged,
            dependence,
            now,
            drifts: drifts.unwrap_or_default(),
            notes,
        })
    }
}

/// Judges rows that were read: with all others, and with those of their group.
fn take(
    question: &Question,
    kept: &mut Columns,
    all: &mut Rows,
    by: Option<(&[usize], &mut Vec<Rows>)>,
) -> anyhow::Result<errbar::Result<()>> {
    if kept.rows() == 0 {
        return Ok(Ok(()));
    }
    let rows = question.asked.clone().some_rows(kept, question.scale)?;
    let (error, _, _) = rows.columns(0);
    let bounds = question.judge().zip(rows.observation());
    let bounds = bounds.and_then(|(model, y)| model.bounds_of(error, y));
    if let Err(error) = all.add(&rows, bounds.as_deref()) {
        return Ok(Err(error));
    }
    let Some((of, by)) = by else { return Ok(Ok(())) };
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); by.len()];
    of.iter().enumerate().for_each(|(row, &group)| places[group].push(row));
    let groups = by.par_iter_mut().zip(&places).filter(|(_, places)| !places.is_empty());
    Ok(groups.try_for_each(|(group, places)| {
        let bounds: Option<Vec<Bounds>> =
            bounds.as_ref().map(|bounds| places.iter().map(|&row| bounds[row]).collect());
        group.add(&rows.part(places), bounds.as_deref())
    }))
}

impl Rows {
    fn add(&mut self, rows: &ScoreRows, bounds: Option<&[Bounds]>) -> errbar::Result<()> {
        let (error, sigma, weight) = rows.columns(0);
        self.counts |= rows.counts();
        self.rows.add(error, sigma, weight, bounds)
    }
}
