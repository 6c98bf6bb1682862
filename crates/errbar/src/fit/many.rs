//! Many rows: all kinds of models learn from some of them, and trees of all rows from what is left.
//!
//! What a simple sigma of some rows, a polynomial, gets wrong is in the errors of all rows in units of it. Trees learn
//! that from every row, some rows at a time ([`rounds`](crate::rounds)): of each row they keep two bytes for each input
//! and a few numbers. Rows held out weigh the two, multiplied, and the mean of all kinds of models of some rows.

use std::iter::Peekable;

use super::lesson::{self, Lesson};
use super::validation::{HeldOut, Validation};
use super::{Fit, Fitted, Kind, Options, fit_rows, some_rows, stacking};
use crate::boosting::Bins;
use crate::data::{Data, Split};
use crate::diagnose::Summary;
use crate::error::Result;
use crate::folds::LEAST_GROUPS;
use crate::law::ErrorLaw;
use crate::loss::LossKind;
use crate::mean::bias;
use crate::monitor::{Monitor, Stage, task};
use crate::rounds::{self, HELD, Local, Part, drawn, held_together, is_held};
use crate::sigma::stack::{self, Member, Stack};
use crate::sigma::supported::Ground;
use crate::sigma::trees::{self, Trees};
use crate::sigma::{Model, Scaling, Supported, constant};

/// So many rows are there for all kinds of models.
pub const SAMPLE: usize = 50_000;

/// From so many rows on, all of them refine what was learned from a sample.
pub const MANY: usize = 2 * SAMPLE;

/// Rows that are looked at together.
pub(super) const AT_ONCE: usize = 1 << 16;

/// Of rows held out, so many judge.
const JUDGES: usize = 100_000;

/// Bins of an input: of many rows each still holds many.
const BINS: usize = 255;

/// Whether trees of all rows refine what some say.
pub(super) fn are_many(data: &Data, options: &Options) -> bool {
    let may = data.prior().is_none() && options.refines();
    data.rows() >= MANY && options.most_rows >= data.rows() && may
}

impl Options {
    /// Whether trees of all rows refine what some of many say.
    pub(super) fn refines(&self) -> bool {
        let kind = matches!(self.kind, Kind::Auto | Kind::Stack | Kind::Trees);
        let by_gaussian = !self.by_law && !matches!(self.loss, LossKind::OfLaw(..));
        // With less work somebody has asked for less; and beyond bounds nobody knows the errors.
        let free = self.bounds.are_none() && self.validation > 0.0;
        kind && by_gaussian && free && self.budget == f64::MAX
    }
}

/// Some of many rows, and which they are: in time every so many, else any of them, each as likely, however many
/// come after it.
pub(super) fn sample(data: &Data, options: &Options) -> (Data<'static>, Vec<usize>) {
    let chosen = match options.split {
        Split::InOrder => some_rows(data.rows(), &Options { most_rows: SAMPLE, ..*options }),
        Split::Random => {
            let draw = |row: usize| (drawn_for(row, options.seed), row);
            let mut drawn: Vec<(u64, usize)> = (0..data.rows()).map(draw).collect();
            if data.rows() > SAMPLE {
                drawn.select_nth_unstable(SAMPLE);
                drawn.truncate(SAMPLE);
            }
            let mut rows: Vec<usize> = drawn.into_iter().map(|(_, row)| row).collect();
            rows.sort_unstable();
            rows
        }
    };
    // What all rows tell of categories is better than what some do.
    (data.pick(&chosen).alone().encoded_for_good(), chosen)
}

/// What is drawn for a row: those with the least are the sample.
pub(super) fn drawn_for(row: usize, seed: u64) -> u64 {
    drawn(seed, u64::MAX - 1, row as u64)
}

/// Fits to some of the rows, then to what is left of all of them.
pub(super) fn fit(
    data: &Data,
    names: &[String],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Fit> {
    let (some, chosen) = sample(data, options);
    let mut refining = Refining::begin(&some, chosen, data.rows(), names, options, monitor)?;
    drop(some);
    {
        let _task = task(monitor, "rows into bins", None);
        for from in (0..data.rows()).step_by(AT_ONCE) {
            let rows: Vec<usize> = (from..(from + AT_ONCE).min(data.rows())).collect();
            refining.add(&data.pick(&rows))?;
        }
    }
    refining.finish(monitor)
}

/// A fit to some rows that is being refined by all of them, as they pass.
pub(super) struct Refining {
    fit: Fit,
    options: Options,
    /// All rows that are to pass, and those of the sample that have not passed yet.
    rows: usize,
    sample: Peekable<std::vec::IntoIter<usize>>,
    /// What trees start from, and where sigma is held.
    start: Model,
    ground: Option<Ground>,
    held_start: Supported,
    bins: Bins,
    /// Inputs that are used.
    used: Vec<bool>,
    parts: Vec<Part>,
    passed: usize,
    ranges: Scaling,
    error: Vec<f64>,
    left: Vec<f64>,
    weight: Option<Vec<f64>>,
    judges: Judges,
}

/// Rows that are held out, to judge by.
#[derive(Default)]
struct Judges {
    /// How many were held out so far.
    held: usize,
    /// Whether they are as good as independent.
    independent: bool,
    rows: Vec<usize>,
    inputs: Vec<f64>,
    error: Vec<f64>,
    /// Of the fit to some rows, and of what trees start from.
    sigma: [Vec<f64>; 2],
    weight: Vec<f64>,
}

impl Refining {
    /// Fits to some of so many rows.
    ///
    /// # Errors
    /// As [`fit_rows`].
    pub(super) fn begin(
        sample: &Data,
        chosen: Vec<usize>,
        rows: usize,
        names: &[String],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let first = Stage { whole: monitor, from: 0.0, to: 0.4 };
        let mut fit = fit_rows(sample, names, options, None, &first)?;
        if let Some(held_out) = &mut fit.held_out {
            held_out.rows.iter_mut().for_each(|row| *row = chosen[*row]);
        }
        let options = options.on(sample);
        let left = sample.clone().with_error(left(&fit.fitted, sample)?);
        let used = fit.fitted.used();
        let fewer = used.contains(&false).then(|| left.with_inputs(&used));
        let data = fewer.as_ref().unwrap_or(&left);
        // Trees alone start from one sigma.
        let kind = match options.kind {
            Kind::Trees => Kind::Constant,
            _ => Kind::Polynomial,
        };
        let lesson = Lesson::new(data, &[kind], &options, monitor)?;
        let (start, _) = lesson.model(kind, None, &options, monitor)?;
        let bins = trees::look(data, &lesson::trees(&options))?.finer_bins(data, BINS);
        Ok(Self {
            held_start: lesson.hold(start.clone())?,
            ground: match kind {
                Kind::Constant => Some(Ground::of(data, options.seed)),
                _ => lesson.into_ground(),
            },
            start,
            bins,
            ranges: fit.fitted.ranges.clone(),
            fit,
            options,
            rows,
            sample: chosen.into_iter().peekable(),
            used,
            parts: Vec::new(),
            passed: 0,
            error: Vec::new(),
            left: Vec::new(),
            weight: None,
            judges: Judges::default(),
        })
    }

    /// Some more rows, all of them in their order; those that the fit has seen do not say when trees stop.
    ///
    /// # Errors
    /// Another number of inputs, or values that the fit does not take.
    pub(super) fn add(&mut self, data: &Data) -> Result<()> {
        let sigma = self.held_start.predict(data.inputs())?;
        let left = left(&self.fit.fitted, data)?;
        self.ranges.stretch(data.inputs());
        let number = self.parts.len() as u64;
        let together = self.together(data);
        let in_time = self.options.split == Split::InOrder;
        // In time the last of all rows say when to stop, and none before them.
        let first_judge = if in_time { (self.rows as f64 * (1.0 - HELD)) as usize } else { 0 };
        let seen: Vec<bool> = (self.passed..self.passed + data.rows())
            .map(|row| self.sample.next_if_eq(&row).is_some() || row < first_judge)
            .collect();
        let is_held = |row: &usize| {
            let alone = || is_held(HELD, self.options.seed, number, *row as u64);
            !seen[*row]
                && (in_time
                    || together
                        .as_ref()
                        .map_or_else(alone, |of| held_together(HELD, self.options.seed, of[*row])))
        };
        let held: Vec<usize> = (0..data.rows()).filter(is_held).collect();
        self.judges.independent = !in_time && together.is_none();
        // Evenly among all that are held out.
        let every = (self.rows as f64 * HELD / JUDGES as f64).ceil().max(1.0) as usize;
        let first = self.judges.held.next_multiple_of(every) - self.judges.held;
        self.judges.held += held.len();
        let judges: Vec<usize> = held.into_iter().skip(first).step_by(every).collect();
        self.judges.add(&data.pick(&judges), &self.fit.fitted)?;
        self.judges.rows.extend(judges.iter().map(|row| self.passed + row));
        self.judges.error.extend(judges.iter().map(|row| left[*row]));
        self.judges.sigma[1].extend(judges.iter().map(|row| sigma[*row]));

        let fewer = self.used.contains(&false).then(|| data.with_inputs(&self.used));
        let inputs = fewer.as_ref().unwrap_or(data).inputs().to_vec();
        let mut part = Part::new(number, inputs, data.columns(), &left, &sigma)?;
        if let Some(weight) = data.weight() {
            part = part.weighted(weight.to_vec())?;
            self.weight.get_or_insert_default().extend(weight);
        }
        if let Some(together) = together {
            part = part.held_together(together)?;
        }
        self.parts.push(part.that_has_seen(seen)?.in_bins(&self.bins)?);
        self.passed += data.rows();
        self.error.extend(data.error());
        self.left.extend(left);
        Ok(())
    }

    /// Rows that are to be held out together, by number.
    fn together(&self, data: &Data) -> Option<Vec<u32>> {
        let groups = data.group().filter(|group| group.labels.len() >= LEAST_GROUPS);
        match self.options.split {
            Split::InOrder => None,
            Split::Random => {
                groups.map(|group| &group.rows[..]).or(data.together()).map(<[u32]>::to_vec)
            }
        }
    }

    /// The fit, refined where rows held out gain by that.
    ///
    /// # Errors
    /// Errors that are all zero, or a monitor that asked to stop.
    pub(super) fn finish(mut self, monitor: &dyn Monitor) -> Result<Fit> {
        let monitor = &Stage { whole: monitor, from: 0.4, to: 1.0 };
        let parts = std::mem::take(&mut self.parts);
        let trees = {
            let _task = task(monitor, "training", Some("trees of all rows"));
            let part = Stage { whole: monitor, from: 0.0, to: 0.95 };
            self.trees(parts, &part)?
        };
        let _task = task(monitor, "law", None);
        let Self { fit: Fit { mut fitted, mut held_out }, options, judges, .. } = self;
        let weight = self.weight.as_deref();
        fitted.rows = self.passed;
        fitted.ranges = self.ranges;
        fitted.training = Summary::of(&self.error, weight);
        fitted.debiased = fitted.bias.as_ref().map(|_| Summary::of(&self.left, weight));
        let constant = constant::fit(fitted.names.len(), &self.left, weight, options.loss)?;
        let [of_some, start] = judges.sigma;
        let (least, most) = fitted.model.limits();
        let times = |(sigma, times): (&f64, f64)| (sigma * times).clamp(least, most);
        let refined = start.iter().zip(trees.predict(&judges.inputs)?).map(times).collect();
        let sigmas = [vec![constant.sigma; judges.rows.len()], of_some, refined];
        let judging = weight.map(|_| &judges.weight[..]);
        let local = options.local_units && options.loss != LossKind::Nlpd;
        let (shares, better) =
            stacking::weights(&sigmas, &judges.error, judging, options.loss, local)?;
        if better && shares[2] > 0.0 {
            let members = together(&shares, constant.into(), fitted.model.model(), self.start);
            let stack = Stack::new(members).refined_by(trees.times(shares[2]));
            fitted.model = match &self.ground {
                Some(ground) => Supported::new(stack.into(), ground)?,
                None => Model::from(stack).into(),
            };
            let of_some = std::mem::replace(&mut fitted.trained_on, self.passed);
            if let Some(validation) = &mut fitted.validation {
                validation.sample = Some(of_some);
            }
            if judges.independent {
                let rows = judges.rows.len();
                let mut held = HeldOut {
                    sigma: stack::mean(&sigmas, &shares),
                    weight: judging.map(<[f64]>::to_vec),
                    laws: vec![ErrorLaw::default(); rows],
                    bounds: None,
                    constant_sigma: vec![constant.sigma; rows],
                    rows: judges.rows,
                    error: judges.error,
                };
                let judging = Data::with_missing(&judges.inputs, fitted.names.len(), &held.error)?;
                let used = judging.with_inputs(&fitted.used());
                fitted.shape = held.learn_shape(&used, &options)?;
                let own = held.validation()?;
                fitted.validation = Some(match fitted.validation.take() {
                    Some(before) => Validation {
                        left_out: before.left_out,
                        not_tried: before.not_tried,
                        candidates: before.candidates,
                        importance: before.importance,
                        sample: Some(of_some),
                        ..own
                    },
                    None => own,
                });
                held_out = Some(held);
            }
        }
        monitor.progress(1.0);
        Ok(Fit { fitted, held_out })
    }

    /// Trees of what all rows say of the sigma that they start from.
    fn trees(&self, parts: Vec<Part>, monitor: &dyn Monitor) -> Result<Trees> {
        let own = lesson::trees(&self.options);
        let mut workers = Local::new(parts);
        if self.options.split == Split::Random {
            return Ok(rounds::further(&mut workers, &self.bins, HELD, &own, monitor)?.model);
        }
        let part = Stage { whole: monitor, from: 0.0, to: 0.5 };
        let early = rounds::further(&mut workers, &self.bins, 1.0, &own, &part)?.model;
        // The last rows are those most like tomorrow's: as many trees, of all rows.
        let own = trees::Options { rounds: early.rounds(), ..own };
        let part = Stage { whole: monitor, from: 0.5, to: 1.0 };
        let all = rounds::further(&mut workers, &self.bins, 0.0, &own, &part)?.model;
        Ok(all.with_level_of(&early))
    }
}

impl Judges {
    /// What the fit to some rows says of more of them.
    fn add(&mut self, data: &Data, fitted: &Fitted) -> Result<()> {
        if data.rows() > 0 {
            self.sigma[0].extend(fitted.model.predict(data.inputs())?);
            self.inputs.extend(data.inputs());
            self.weight.extend(data.weight().unwrap_or_default());
        }
        Ok(())
    }
}

/// The errors of some rows that the bias of a fit leaves.
fn left(fitted: &Fitted, data: &Data) -> Result<Vec<f64>> {
    Ok(match &fitted.bias {
        Some(bias) => bias::without(data.error(), &bias.predict(data.inputs())?),
        None => data.error().to_vec(),
    })
}

/// One sigma, the models of some rows and what trees start from, each with its share.
fn together(shares: &[f64], constant: Model, of_some: &Model, start: Model) -> Vec<Member> {
    let mut members = vec![Member { share: shares[0], model: constant }];
    match of_some {
        Model::Stack(stack) => members.extend(
            stack
                .members()
                .iter()
                .cloned()
                .map(|member| Member { share: shares[1] * member.share, ..member }),
        ),
        model => members.push(Member { share: shares[1], model: model.clone() }),
    }
    members.push(Member { share: shares[2], model: start });
    members.retain(|member| member.share > 0.0);
    members
}

impl Fitted {
    /// Which inputs it uses.
    fn used(&self) -> Vec<bool> {
        let left_out = self.validation.as_ref().map_or(&[][..], |own| &own.left_out);
        self.names.iter().map(|name| !left_out.contains(name)).collect()
    }
}
