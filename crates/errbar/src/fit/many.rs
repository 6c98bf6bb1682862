//! Many rows: all kinds of models learn from some of them, and trees of all rows from what is left.
//!
//! What a simple sigma of some rows, a polynomial, gets wrong is in the errors of all rows in units of it. Trees learn
//! that from every row, some rows at a time ([`rounds`](crate::rounds)): of each row they keep two bytes for each input
//! and a few numbers. Rows held out weigh the two, multiplied, and the mean of all kinds of models of some rows.

use super::lesson::{self, Lesson};
use super::opening::{Judges, Opening, Rows, Way};
use super::validation::{HeldOut, Validation};
use super::{Fit, Fitted, Kind, Options, fit_rows, some_rows, stacking};
use crate::boosting::Bins;
use crate::data::{Data, Split};
use crate::diagnose::Summary;
use crate::error::Result;
use crate::law::ErrorLaw;
use crate::loss::LossKind;
use crate::mean::bias::{self, Bias};
use crate::monitor::{Monitor, Stage, task};
use crate::rounds::{self, HELD, Local, Part, Workers, drawn};
use crate::sigma::constant::Constant;
use crate::sigma::refined::refined;
use crate::sigma::stack::{self, Member, Stack};
use crate::sigma::supported::Ground;
use crate::sigma::trees::{self, Trees};
use crate::sigma::{Model, Scaling, Supported, constant, in_own_scale};

/// So many rows are there for all kinds of models.
pub const SAMPLE: usize = 50_000;

/// From so many rows on, all of them refine what was learned from a sample.
pub const MANY: usize = 2 * SAMPLE;

/// Rows that are looked at together.
pub(super) const AT_ONCE: usize = 1 << 16;

/// Of rows held out, so many judge.
pub(super) const JUDGES: usize = 100_000;

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

/// A fit to some rows, and what the others need to know of it.
pub(super) struct Begun {
    pub(super) fit: Fit,
    pub(super) opening: Opening,
    /// What trees start from, and where sigma is held.
    start: Model,
    ground: Option<Ground>,
}

/// What is known of all rows without asking them.
pub(super) struct Gathered {
    /// Rows that count.
    pub(super) rows: usize,
    pub(super) ranges: Scaling,
    pub(super) training: Summary,
    /// Of the errors that their bias leaves, and the one sigma for them.
    pub(super) left: Summary,
    pub(super) constant: Constant,
    pub(super) judges: Judges,
}

impl Begun {
    /// Fits to some of so many rows.
    ///
    /// # Errors
    /// As [`fit_rows`].
    pub(super) fn new(
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
        let left = sample.clone().with_error(left_by(fit.fitted.bias.as_ref(), sample)?);
        let used = fit.fitted.used();
        let fewer = used.contains(&false).then(|| left.with_inputs(&used));
        let data = fewer.as_ref().unwrap_or(&left);
        let (way, start, ground) = match options.kind {
            // Trees alone start from one sigma.
            Kind::Trees => Self::trees(data, Kind::Constant, &options, monitor)?,
            Kind::Auto | Kind::Stack => Self::trees(data, Kind::Polynomial, &options, monitor)?,
            _ => {
                let model = fit.fitted.model.model().clone();
                match refined(&model) {
                    Some(_) => (Way::Parameters, model, Some(Ground::of(data, options.seed))),
                    None => (Way::Level, model, None),
                }
            }
        };
        let mean = |weight: &[f64]| weight.iter().map(|w| w / weight.len() as f64).sum();
        let opening = Opening {
            rows,
            sample: chosen,
            bias: fit.fitted.bias.clone(),
            of_some: fit.fitted.model.clone(),
            way,
            used,
            scale: in_own_scale(data.error(), data.weight()).1,
            weight: sample.weight().map(mean),
            by_group: Opening::holds_groups(sample, options.split),
            options,
        };
        Ok(Self { fit, opening, start, ground })
    }

    fn trees(
        data: &Data,
        kind: Kind,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<(Way, Model, Option<Ground>)> {
        let lesson = Lesson::new(data, &[kind], options, monitor)?;
        let (start, _) = lesson.model(kind, None, options, monitor)?;
        let bins = trees::look(data, &lesson::trees(options))?.finer_bins(data, BINS);
        let way = Way::Trees { start: Box::new(lesson.hold(start.clone())?), bins };
        let ground = match kind {
            Kind::Constant => Some(Ground::of(data, options.seed)),
            _ => lesson.into_ground(),
        };
        Ok((way, start, ground))
    }

    /// The fit, refined where rows held out gain by that.
    ///
    /// # Errors
    /// Errors that are all zero, what the parts refuse, or a monitor that asked to stop.
    pub(super) fn finish(
        self,
        workers: &mut dyn Workers,
        all: Gathered,
        monitor: &dyn Monitor,
    ) -> Result<Fit> {
        let Self { fit: Fit { mut fitted, mut held_out }, opening, start, ground } = self;
        let Gathered { rows, ranges, training, left, constant, mut judges } = all;
        let options = &opening.options;
        (fitted.rows, fitted.ranges, fitted.training) = (rows, ranges, training);
        fitted.debiased = fitted.bias.as_ref().map(|_| left);
        // What it knows of single rows it knows of some.
        fitted.known = None;
        let part = Stage { whole: monitor, from: 0.0, to: 0.95 };
        let of_judges = match &opening.way {
            // Nothing would say when to stop, or whether trees are any good.
            Way::Trees { .. } if judges.rows.is_empty() => None,
            Way::Trees { bins, .. } => {
                let trees = {
                    let _task = task(monitor, "training", Some("trees of all rows"));
                    opening.trees(bins, workers, &part)?
                };
                let [of_some, start_of_judges] = std::mem::take(&mut judges.sigma);
                let (least, most) = fitted.model.limits();
                let times = |(sigma, times): (&f64, f64)| (sigma * times).clamp(least, most);
                let said = trees.predict(&judges.inputs)?;
                let refined = start_of_judges.iter().zip(said).map(times).collect();
                let sigmas = [vec![constant.sigma; judges.rows.len()], of_some, refined];
                let judging = opening.weight.map(|_| &judges.weight[..]);
                let local = options.local_units && options.loss != LossKind::Nlpd;
                let (shares, better) =
                    stacking::weights(&sigmas, &judges.error, judging, options.loss, local)?;
                let gains = better && shares[2] > 0.0;
                if gains {
                    let model = fitted.model.model();
                    let members = together(&shares, constant.into(), model, start);
                    let stack = Stack::new(members).refined_by(trees.times(shares[2]));
                    fitted.model = match &ground {
                        Some(ground) => Supported::new(stack.into(), ground)?,
                        None => Model::from(stack).into(),
                    };
                }
                gains.then(|| stack::mean(&sigmas, &shares))
            }
            Way::Parameters => {
                let _task = task(monitor, "training", Some(options.kind.name()));
                let (model, of_judges) = opening.parameters(ground, &judges, workers, &part)?;
                fitted.model = model;
                Some(of_judges)
            }
            Way::Level => {
                fitted.model = Model::from(constant).into();
                Some(vec![constant.sigma; judges.rows.len()])
            }
        };
        let _task = task(monitor, "law", None);
        if let Some(sigma) = of_judges {
            let of_some = std::mem::replace(&mut fitted.trained_on, rows);
            if judges.independent && !judges.rows.is_empty() {
                held_out = Some(opening.judged(&mut fitted, judges, sigma, constant.sigma)?);
            }
            if let Some(validation) = &mut fitted.validation {
                validation.sample = Some(of_some);
            }
        }
        monitor.progress(1.0);
        Ok(Fit { fitted, held_out })
    }
}

impl Opening {
    /// Trees of what all rows say of the sigma that they start from.
    fn trees(
        &self,
        bins: &Bins,
        workers: &mut dyn Workers,
        monitor: &dyn Monitor,
    ) -> Result<Trees> {
        let own = lesson::trees(&self.options);
        if self.options.split == Split::Random {
            return Ok(rounds::further(workers, bins, HELD, &own, monitor)?.model);
        }
        let part = Stage { whole: monitor, from: 0.0, to: 0.5 };
        let early = rounds::further(workers, bins, 1.0, &own, &part)?.model;
        // The last rows are those most like tomorrow's: as many trees, of all rows.
        let own = trees::Options { rounds: early.rounds(), ..own };
        let part = Stage { whole: monitor, from: 0.5, to: 1.0 };
        let all = rounds::further(workers, bins, 0.0, &own, &part)?.model;
        Ok(all.with_level_of(&early))
    }

    /// The model of some rows with the parameters of least cost of all rows, and the sigma of the judges by those of the
    /// rows that are not held out.
    fn parameters(
        &self,
        ground: Option<Ground>,
        judges: &Judges,
        workers: &mut dyn Workers,
        monitor: &dyn Monitor,
    ) -> Result<(Supported, Vec<f64>)> {
        let (Some(model), Some(ground)) = (refined(self.of_some.model()), ground) else {
            return Ok((self.of_some.clone(), judges.sigma[0].clone()));
        };
        let mut parameters = model.parameters();
        let mut better = |share: f64, part: &Stage| -> Result<Supported> {
            let (loss, seed) = (self.options.loss, self.options.seed);
            rounds::refine(workers, &mut parameters, (share, seed), loss, part)?;
            let least = rounds::least(workers, &parameters)?;
            Supported::new(model.with_parameters(&parameters, least), &ground)
        };
        let mut of_judges = Vec::new();
        if !judges.rows.is_empty() {
            let share = if self.options.split == Split::Random { HELD } else { 1.0 };
            let part = Stage { whole: monitor, from: 0.0, to: 0.7 };
            of_judges = better(share, &part)?.predict(&judges.inputs)?;
        }
        let part = Stage { whole: monitor, from: 0.7, to: 1.0 };
        Ok((better(0.0, &part)?, of_judges))
    }

    /// What judges say of a fit by the sigma that it has for them: its law, and how good it is.
    fn judged(
        &self,
        fitted: &mut Fitted,
        judges: Judges,
        sigma: Vec<f64>,
        constant: f64,
    ) -> Result<HeldOut> {
        let rows = judges.rows.len();
        let mut held = HeldOut {
            sigma,
            weight: self.weight.map(|_| judges.weight),
            laws: vec![ErrorLaw::default(); rows],
            bounds: None,
            constant_sigma: vec![constant; rows],
            rows: judges.rows,
            error: judges.error,
        };
        let judging = Data::with_missing(&judges.inputs, fitted.names.len(), &held.error)?;
        let used = judging.with_inputs(&self.used);
        fitted.shape = held.learn_shape(&used, &self.options)?;
        let own = held.validation()?;
        fitted.validation = Some(match fitted.validation.take() {
            Some(before) => Validation {
                left_out: before.left_out,
                not_tried: before.not_tried,
                candidates: before.candidates,
                importance: before.importance,
                ..own
            },
            None => own,
        });
        Ok(held)
    }
}

/// A fit to some of the rows that is being refined by all of them, as they pass.
pub(super) struct Refining {
    begun: Begun,
    parts: Vec<Part>,
    passed: usize,
    ranges: Scaling,
    error: Vec<f64>,
    left: Vec<f64>,
    weight: Option<Vec<f64>>,
    judges: Judges,
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
        let begun = Begun::new(sample, chosen, rows, names, options, monitor)?;
        Ok(Self {
            ranges: begun.fit.fitted.ranges.clone(),
            begun,
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
        let places: Vec<usize> = (self.passed..self.passed + data.rows()).collect();
        let together = self.together(data);
        let rows = Rows { data, places: &places, whole_error: data.error(), together };
        let (first, part, left) = self.begun.opening.open(self.parts.len() as u64, rows)?;
        self.ranges.stretch(&first.ranges);
        self.judges.extend(first.judges);
        if let Some(weight) = data.weight() {
            self.weight.get_or_insert_default().extend(weight);
        }
        self.parts.push(part);
        self.passed += data.rows();
        self.error.extend(data.error());
        self.left.extend(left);
        Ok(())
    }

    /// Rows that are to be held out together, by number.
    fn together(&self, data: &Data) -> Option<Vec<u32>> {
        let split = self.begun.opening.options.split;
        let groups = data.group().filter(|_| Opening::holds_groups(data, split));
        match split {
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
    pub(super) fn finish(self, monitor: &dyn Monitor) -> Result<Fit> {
        let monitor = &Stage { whole: monitor, from: 0.4, to: 1.0 };
        let weight = self.weight.as_deref();
        let columns = self.begun.fit.fitted.names.len();
        let loss = self.begun.opening.options.loss;
        let all = Gathered {
            rows: self.passed,
            ranges: self.ranges,
            training: Summary::of(&self.error, weight),
            left: Summary::of(&self.left, weight),
            constant: constant::fit(columns, &self.left, weight, loss)?,
            judges: self.judges,
        };
        self.begun.finish(&mut Local::new(self.parts), all, monitor)
    }
}

/// The errors of some rows that a bias leaves.
pub(super) fn left_by(bias: Option<&Bias>, data: &Data) -> Result<Vec<f64>> {
    Ok(match bias {
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
