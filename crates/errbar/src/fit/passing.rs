//! A fit to rows that pass twice, where they are too many to be held.
//!
//! The first time some of them are chosen, from which all kinds of models learn; the second time all of them refine
//! that ([`many`](super::many)). What comes of it has the bits of a fit to rows that are held.
//!
//! ```no_run
//! use errbar::fit::{Options, Sampling};
//! use errbar::{Data, Silent};
//!
//! # fn parts() -> Vec<(Vec<f64>, Vec<f64>)> { Vec::new() }
//! let mut sampling = Sampling::new(2, &Options::default())?;
//! for (inputs, error) in parts() {
//!     sampling.add(&Data::new(&inputs, 2, &error)?)?;
//! }
//! let (mut passing, _) = sampling.learn(&["hour".into(), "wind".into()], false, &Silent)?;
//! for (inputs, error) in parts() {
//!     passing.add(&Data::new(&inputs, 2, &error)?)?;
//! }
//! let fitted = passing.finish(&Silent)?.fitted;
//! # Ok::<(), errbar::Error>(())
//! ```

use std::collections::BinaryHeap;

use super::many::{AT_ONCE, Refining, drawn_for};
use super::neighbours::{self, Course};
use super::{Fit, MANY, Options, SAMPLE, Worth, check_names, debias};
use crate::checks::check_length;
use crate::data::{Data, Group, Split};
use crate::error::{Error, Result};
use crate::monitor::{Forward, Monitor, task};
use crate::score::bootstrap::Dependence;

/// Rows that pass for the first time.
///
/// Of each it keeps the error, its weight and its group; of some the inputs.
pub struct Sampling {
    options: Options,
    columns: usize,
    course: Course,
    known: Known,
    /// The rows drawn so far, the last of them first: what was drawn, the row, and where its inputs are.
    drawn: BinaryHeap<(u64, usize, usize)>,
    inputs: Vec<f64>,
}

/// What is kept of every row that counts.
#[derive(Default)]
struct Known {
    error: Vec<f64>,
    weight: Option<Vec<f64>>,
    group: Option<Group>,
}

/// Rows that pass for the second time.
pub struct Passing {
    refining: Refining,
    columns: usize,
    known: Known,
    dependence: Option<Dependence>,
    /// Rows that have passed on, and the inputs of those that wait to be looked at together.
    passed: usize,
    waiting: Vec<f64>,
}

impl Options {
    /// Why rows cannot be taken as they pass, whatever they are.
    fn must_hold(&self) -> Option<&'static str> {
        if self.split == Split::InOrder {
            Some("they are in the order of time")
        } else if self.guarantee.is_some() {
            Some("a guarantee is read off some of them")
        } else if self.most_rows != usize::MAX || !self.refines() {
            Some("what is asked for is learned from some of them alone")
        } else {
            None
        }
    }

    /// Whether so many rows could be learned from as they pass.
    #[must_use]
    pub fn can_pass(&self) -> bool {
        self.must_hold().is_none()
    }
}

impl Sampling {
    /// For rows of so many inputs.
    ///
    /// # Errors
    /// An option out of its range, or one that needs all rows at once ([`Options::can_pass`]).
    pub fn new(columns: usize, options: &Options) -> Result<Self> {
        options.check()?;
        if let Some(what) = options.must_hold() {
            return Err(Error::CannotPass { what });
        }
        Ok(Self {
            options: *options,
            columns,
            course: Course::new(columns),
            known: Known::default(),
            drawn: BinaryHeap::with_capacity(SAMPLE + 1),
            inputs: Vec::new(),
        })
    }

    /// Further rows; those of weight zero are passed over.
    ///
    /// # Errors
    /// Another number of inputs, rows in time, or weights or groups where other rows have none.
    pub fn add(&mut self, data: &Data) -> Result<()> {
        let counted = counted(data, self.columns)?;
        let data = counted.as_ref().unwrap_or(data);
        let from = self.known.error.len();
        self.known.add(data)?;
        self.course.add(data.inputs());
        for (row, inputs) in (from..).zip(data.inputs().chunks_exact(self.columns)) {
            let drawn = drawn_for(row, self.options.seed);
            if self.drawn.len() < SAMPLE {
                self.drawn.push((drawn, row, self.drawn.len()));
                self.inputs.extend(inputs);
            } else if let Some(mut last) = self.drawn.peek_mut()
                && (drawn, row) < (last.0, last.1)
            {
                let place = last.2;
                self.inputs[place * self.columns..][..self.columns].copy_from_slice(inputs);
                *last = (drawn, row, place);
            }
        }
        Ok(())
    }

    /// The errors of the rows that count.
    #[must_use]
    pub fn error(&self) -> &[f64] {
        &self.known.error
    }

    /// Their weights, if they have some.
    #[must_use]
    pub fn weight(&self) -> Option<&[f64]> {
        self.known.weight.as_deref()
    }

    /// The groups of the rows that count, if they belong to some.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        self.known.group.as_ref()
    }

    /// What learning the bias of the forecaster is worth, as [`worth_of_debiasing`](super::worth_of_debiasing) says.
    ///
    /// # Errors
    /// A monitor that asked to stop.
    pub fn worth_of_debiasing(&self, monitor: &dyn Monitor) -> Result<Option<Worth>> {
        debias::worth(&self.sample(self.dependence())?.0, &self.options, monitor)
    }

    fn dependence(&self) -> Option<Dependence> {
        let apart = self.known.group.as_ref().is_some_and(neighbours::are_apart);
        match self.options.independent || apart {
            true => None,
            false => neighbours::of_errors(&self.known.error, &self.course),
        }
    }

    /// The rows that were drawn, and which they are.
    fn sample(&self, dependence: Option<Dependence>) -> Result<(Data<'static>, Vec<usize>)> {
        let mut drawn: Vec<&(u64, usize, usize)> = self.drawn.iter().collect();
        drawn.sort_unstable_by_key(|(_, row, _)| *row);
        let of = |place: usize| &self.inputs[place * self.columns..][..self.columns];
        let inputs: Vec<f64> = drawn.iter().flat_map(|drawn| of(drawn.2)).copied().collect();
        let rows: Vec<usize> = drawn.into_iter().map(|drawn| drawn.1).collect();
        let known = self.known.pick(&rows);
        let data = known.data(&inputs, self.columns, dependence, |at| rows[at])?;
        let all: Vec<usize> = (0..data.rows()).collect();
        Ok((data.pick(&all), rows))
    }

    /// Learns from some of the rows; without the bias of the forecaster, as is asked for, or where that
    /// [pays](Worth::pays), whose worth it then says.
    ///
    /// # Errors
    /// Fewer rows than [`MANY`], names that are not one per column, errors that are all zero, or a monitor that asked
    /// to stop.
    pub fn learn(
        self,
        names: &[String],
        if_it_pays: bool,
        monitor: &dyn Monitor,
    ) -> Result<(Passing, Option<Worth>)> {
        let rows = self.known.error.len();
        check_names(names, self.columns)?;
        if rows < MANY {
            return Err(Error::TooFewToPass { rows, least: MANY });
        }
        if self.known.error.iter().all(|e| *e == 0.0) {
            return Err(Error::NoErrors { rows });
        }
        let monitor = &Forward::new(monitor);
        let dependence = self.dependence();
        let (sample, chosen) = self.sample(dependence)?;
        let Self { mut options, columns, known, .. } = self;
        let mut worth = None;
        if if_it_pays && !options.debias {
            let _task = task(monitor, "bias", None);
            worth = debias::worth(&sample, &options, monitor)?;
            options.debias = worth.is_some_and(|worth| worth.pays());
        }
        let refining = Refining::begin(&sample, chosen, rows, names, &options, monitor)?;
        let (passed, waiting) = (0, Vec::new());
        Ok((Passing { refining, columns, known, dependence, passed, waiting }, worth))
    }
}

impl Passing {
    /// Further rows, the same in the same order as before, in parts of any length.
    ///
    /// # Errors
    /// Rows whose errors are others than before.
    pub fn add(&mut self, data: &Data) -> Result<()> {
        let counted = counted(data, self.columns)?;
        let data = counted.as_ref().unwrap_or(data);
        let from = self.passed + self.waiting.len() / self.columns;
        let before = self.known.error.iter().skip(from).map(|error| error.to_bits());
        let now = data.error().iter().map(|error| error.to_bits());
        let same = before.zip(now).take_while(|(before, now)| before == now).count();
        if same < data.rows() {
            return Err(Error::Changed { row: from + same });
        }
        let mut inputs = data.inputs();
        while !inputs.is_empty() {
            let room = AT_ONCE * self.columns - self.waiting.len();
            let (now, later) = inputs.split_at(room.min(inputs.len()));
            self.waiting.extend(now);
            inputs = later;
            if self.waiting.len() == AT_ONCE * self.columns {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<()> {
        let rows = self.waiting.len() / self.columns;
        let from = self.passed;
        let known = self.known.slice(from, rows);
        let inputs = std::mem::take(&mut self.waiting);
        self.refining.add(&known.data(&inputs, self.columns, self.dependence, |at| from + at)?)?;
        self.passed += rows;
        self.waiting = inputs;
        self.waiting.clear();
        Ok(())
    }

    /// The fit to all of them.
    ///
    /// # Errors
    /// Rows that did not come again, errors that are all zero, or a monitor that asked to stop.
    pub fn finish(mut self, monitor: &dyn Monitor) -> Result<Fit> {
        if !self.waiting.is_empty() {
            self.pass_on()?;
        }
        if self.passed < self.known.error.len() {
            return Err(Error::Changed { row: self.passed });
        }
        drop((self.known, self.waiting));
        let mut fit = self.refining.finish(&Forward::new(monitor))?;
        if let Some(validation) = &mut fit.fitted.validation {
            validation.dependence = self.dependence;
        }
        Ok(fit)
    }
}

impl Known {
    fn add(&mut self, data: &Data) -> Result<()> {
        let first = self.error.is_empty();
        let rows = |what| check_length(what, 0, "error", data.rows());
        match (&mut self.weight, data.weight()) {
            (Some(known), Some(weight)) => known.extend(weight),
            (None, Some(weight)) if first => self.weight = Some(weight.to_vec()),
            (None, None) => {}
            _ => rows("weight")?,
        }
        match (&mut self.group, data.group()) {
            // Labels may become more.
            (Some(known), Some(group)) if group.labels.starts_with(&known.labels) => {
                known.labels.clone_from(&group.labels);
                known.rows.extend(&group.rows);
            }
            (None, Some(group)) if first => self.group = Some(group.clone()),
            (None, None) => {}
            _ => rows("group")?,
        }
        self.error.extend(data.error());
        Ok(())
    }

    fn pick(&self, rows: &[usize]) -> Self {
        let of = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        Self {
            error: of(&self.error),
            weight: self.weight.as_ref().map(of),
            group: self.group.as_ref().map(|group| Group {
                rows: rows.iter().map(|&row| group.rows[row]).collect(),
                ..group.clone()
            }),
        }
    }

    fn slice(&self, from: usize, rows: usize) -> Self {
        self.pick(&(from..from + rows).collect::<Vec<usize>>())
    }

    /// With the inputs of the same rows, held out together by their places among all.
    fn data<'a>(
        &'a self,
        inputs: &'a [f64],
        columns: usize,
        dependence: Option<Dependence>,
        place: impl Fn(usize) -> usize,
    ) -> Result<Data<'a>> {
        let data = Data::with_missing(inputs, columns, &self.error)?
            .maybe_weighted(self.weight.as_deref())?;
        let data = match &self.group {
            Some(group) => data.grouped(group.clone())?,
            None => data,
        };
        match dependence {
            Some(found) => {
                let block = |at| (place(at) / found.block.max(1)) as u32;
                data.held_together((0..self.error.len()).map(block).collect())
            }
            None => Ok(data),
        }
    }
}

/// The rows that count, where some do not.
fn counted(data: &Data, columns: usize) -> Result<Option<Data<'static>>> {
    check_length("a row", data.columns(), "the row before", columns)?;
    if data.is_coded() {
        return Err(Error::CannotPass { what: "some of their inputs are categories" });
    }
    if data.is_in_time() {
        return Err(Error::CannotPass { what: "they are in the order of time" });
    }
    let none = |weight: &&[f64]| weight.contains(&0.0);
    Ok(data.weight().filter(none).map(|weight| {
        data.pick(&(0..data.rows()).filter(|&row| weight[row] > 0.0).collect::<Vec<usize>>())
    }))
}
