//! How a model does on rows it has not seen.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::importance::Importance;
use super::lesson::Lesson;
use super::shape::{self, Chosen, Held, LawKind, Shape, part_of};
use super::{Kind, LEAST_ROWS, Options, categories, stacking};
use crate::data::{Data, Split};
use crate::diagnose::standard_error_in;
use crate::error::Result;
use crate::folds::{Fold, Order};
use crate::law::judge::ErrorLaws;
use crate::law::{self, Bounds, ErrorLaw};
use crate::loss::LossKind;
use crate::monitor::{Monitor, SideBySide, Stage, task};
use crate::score::bootstrap::Dependence;
use crate::score::{Sample, calibration, crps, deterministic, nlpd, reliability};
use crate::sigma::{Model, Supported, stack, trees};

/// Held-out rows and the sigmas given to them by models that never saw them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HeldOut {
    /// Which rows (of those with a weight above zero), in their order.
    pub rows: Vec<usize>,
    /// Their errors.
    pub error: Vec<f64>,
    /// Their weights.
    pub weight: Option<Vec<f64>>,
    /// Sigma of the chosen kind of model.
    pub sigma: Vec<f64>,
    /// The law around each forecast, in units of that sigma, as other held-out rows tell it.
    pub laws: Vec<ErrorLaw>,
    /// The bounds of each error, where observations keep to some.
    pub bounds: Option<Vec<Bounds>>,
    /// One constant sigma for all rows, fitted to the same training rows.
    pub constant_sigma: Vec<f64>,
}

/// A model that was tried, and its CRPS on the held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Which.
    pub kind: Kind,
    /// Its mean CRPS.
    #[serde(with = "crate::score::json::number")]
    pub crps: f64,
    /// Its mean negative log predictive density.
    #[serde(with = "crate::score::json::number")]
    pub nlpd: f64,
}

/// What the held-out rows say, as it is kept in the saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Validation {
    /// Rows held out.
    pub rows: usize,
    /// How often some were held out while models learned from the others.
    #[serde(default = "once")]
    pub turns: usize,
    /// Whether rows of one group were held out together.
    #[serde(default)]
    pub whole_groups: bool,
    /// Whether neighbours were held out together, and how alike they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependence: Option<Dependence>,
    /// Inputs that were not used: what they say of sigma did not carry over to rows held out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Kinds of models that the budget had no room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tried: Vec<Kind>,
    /// The mean CRPS.
    #[serde(with = "crate::score::json::number")]
    pub crps: f64,
    /// That of one constant sigma fitted to the same rows as the model.
    #[serde(with = "crate::score::json::number")]
    pub constant_crps: f64,
    /// $1 - \mathrm{CRPS}/\mathrm{CRPS}\_{\text{constant}}$
    #[serde(with = "crate::score::json::number")]
    pub crps_skill: f64,
    /// The standard error of the skill, from batches of consecutive rows.
    #[serde(with = "crate::score::json::number")]
    pub skill_standard_error: f64,
    /// The mean negative log predictive density.
    #[serde(with = "crate::score::json::number")]
    pub nlpd: f64,
    /// The Reliability Score.
    #[serde(with = "crate::score::json::number")]
    pub rs: f64,
    /// The root mean square of errors over sigma.
    #[serde(with = "crate::score::json::number")]
    pub rms_z: f64,
    /// The share of observations inside the central 90% intervals.
    #[serde(with = "crate::score::json::number")]
    pub coverage_90: f64,
    /// Of many rows, so many are those that kinds of models were compared on and inputs weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// Every model that was tried. (The best of several on the same rows looks a little better than
    /// it is.)
    pub candidates: Vec<Candidate>,
    /// What each input is worth, the most telling first.
    pub importance: Vec<Importance>,
}

impl Validation {
    /// The same with the scores of another, of the same rows.
    pub(super) fn scored_as(self, own: Self) -> Self {
        Self {
            turns: self.turns,
            whole_groups: self.whole_groups,
            dependence: self.dependence,
            left_out: self.left_out,
            not_tried: self.not_tried,
            sample: self.sample,
            candidates: self.candidates,
            importance: self.importance,
            ..own
        }
    }
}

fn once() -> usize {
    1
}

/// The outcome of judging all candidates.
#[derive(Clone)]
pub(super) struct Outcome {
    /// The chosen one.
    pub(super) kind: Kind,
    /// Rows that were held out together, and the chosen model fitted to the others.
    pub(super) turns: Vec<(Vec<usize>, Supported)>,
    pub(super) held_out: HeldOut,
    candidates: Vec<Candidate>,
    whole_groups: bool,
    /// Models of all rows, which were made on the way.
    pub(super) whole: Vec<Model>,
    /// All rows, with those held out as their models saw them, where numbers for categories were found anew.
    pub(super) encoded: Option<Data<'static>>,
}

/// Independent rows that, held out, tell enough: no further ones are held out in turn.
const ENOUGH: f64 = 500.0;

/// Up to so many rows, trees of ten bags of all rows are better than those of the turns together, and take next to
/// no time.
const TREES_AGAIN: usize = 10_000;

/// Rows to hold out, one set after another, each with the rows to learn from meanwhile.
fn turns(data: &Data, order: &Order, kinds: &[Kind], options: &Options) -> Vec<Fold> {
    let (rows, share) = (data.rows(), options.validation);
    let held = held_at_once(rows, share);
    if share == 0.0 || rows < held + LEAST_ROWS / 2 {
        return Vec::new();
    }
    // In time, what comes later must not be known: half of the rows are there to learn from first.
    let most = match options.split {
        Split::Random => rows.div_ceil(held),
        Split::InOrder => (rows / 2) / held,
    };
    let work = options.work(kinds, rows);
    let affordable = ((options.budget - work.once) / work.turn).clamp(0.0, most as f64) as usize;
    // Rows that resemble their neighbours tell less.
    let told = held as f64 * stacking::worth(data.error()) / rows as f64;
    // And one stretch of time is like itself.
    let least = if options.split == Split::InOrder { 2.0 } else { 1.0 };
    let turns = affordable.min((ENOUGH / told).max(least).ceil() as usize).max(1);
    let turn = |turn: usize| match options.split {
        Split::Random => order.held(turn * held, ((turn + 1) * held).min(rows)),
        Split::InOrder => {
            let from = order.end(rows - (turn + 1) * held);
            let to = order.end(rows - turn * held);
            Fold { held: (from..to).collect(), others: (0..from).collect() }
        }
    };
    let learns = |Fold { held, others }: &Fold| {
        held.len() > 1
            && others.len() >= LEAST_ROWS / 2
            && others.iter().any(|&row| data.error()[row] != 0.0)
    };
    (0..turns).map(turn).filter(learns).collect()
}

/// A share of the rows to hold out once, the last where they are in the order of time.
pub(super) fn last(rows: usize, share: f64, order: &Order, split: Split) -> Fold {
    let held = (rows as f64 * share).round() as usize;
    match split {
        Split::Random => order.held(0, held),
        Split::InOrder => order.held(rows - held, rows),
    }
}

/// Fits every candidate to a part of the rows and judges it on the others, once or in turn; `None`
/// when there are too few rows for that.
pub(super) fn judge(
    data: &Data,
    lesson: &Lesson,
    kinds: &[Kind],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Option<Outcome>> {
    let order = Order::of(data, options.split, options.seed ^ 0x5eed);
    let whole_groups = order.by_group();
    let turns = turns(data, &order, kinds, options);
    if turns.is_empty() {
        return Ok(None);
    }
    // One sigma is the measure of all others, and tried first.
    let tried: Vec<Kind> = std::iter::once(Kind::Constant)
        .chain(kinds.iter().copied().filter(|kind| *kind != Kind::Constant))
        .collect();
    let parts = |turn: &Fold| {
        let (others, held) = (data.pick(&turn.others), data.pick(&turn.held));
        match data.can_be_encoded_again() {
            // Rows held out must have no part in the numbers that stand for categories.
            true => categories::again(&others, &held, options),
            false => (others, held),
        }
    };
    let (others, held): (Vec<Data>, Vec<Data>) = turns.par_iter().map(parts).unzip();
    let looks = Stage { whole: monitor, from: 0.0, to: 0.05 };
    let lessons: Vec<Lesson> = (others.par_iter())
        .map(|others| Lesson::new(others, &tried, options, &looks))
        .collect::<Result<_>>()?;
    let jobs = (0..turns.len()).flat_map(|turn| tried.iter().map(move |&kind| (turn, kind)));
    let jobs: Vec<(usize, Kind)> = jobs.collect();
    let models = Stage { whole: monitor, from: 0.05, to: 1.0 };
    let parts = SideBySide::new(&models, jobs.iter().map(|(_, kind)| kind.evaluations()));
    let mut whole = Vec::new();
    let trees = match options.split {
        Split::Random
            if tried.contains(&Kind::Trees)
                && options.most_rows >= data.rows()
                && !data.can_be_encoded_again() =>
        {
            let at = tried.iter().position(|kind| *kind == Kind::Trees).unwrap_or(0);
            let parts = parts.part(at);
            Some(trees_in_turn(data, lesson, (&turns, &lessons), &order, options, &parts)?)
        }
        _ => None,
    };
    let run = |(i, (turn, kind)): (usize, &(usize, Kind)), known: Option<&Model>| {
        let part = parts.part(i);
        let model = match &trees {
            Some(trees) if *kind == Kind::Trees => trees.each[*turn].clone().into(),
            _ => lessons[*turn].model(*kind, known, options, &part)?.0,
        };
        part.progress(1.0);
        let _task = task(monitor, "prediction", Some(kind.name()));
        let model = lessons[*turn].hold(model)?;
        let sigma = model.predict(held[*turn].inputs())?;
        Ok((model.into_model(), sigma))
    };
    // What a model had to choose in the first turn need not be chosen again.
    let first = tried.len();
    let mut outcomes: Vec<(Model, Vec<f64>)> =
        (jobs[..first].par_iter().enumerate()).map(|job| run(job, None)).collect::<Result<_>>()?;
    let later: Vec<(Model, Vec<f64>)> = (jobs[first..].par_iter().enumerate())
        .map(|(i, job)| run((first + i, job), Some(&outcomes[i % first].0)))
        .collect::<Result<_>>()?;
    outcomes.extend(later);
    let enough = trees.filter(|_| data.rows() > TREES_AGAIN);
    whole.extend(enough.map(|trees| trees.whole.into()));

    // For each candidate the sigma of every row that was held out, in the order of rows.
    let mut rows: Vec<usize> = turns.iter().flat_map(|turn| turn.held.iter().copied()).collect();
    rows.sort_unstable();
    let sigmas: Vec<Vec<f64>> = (0..tried.len())
        .map(|kind| {
            let mut sigma = vec![0.0; data.rows()];
            for (turn, outcomes) in turns.iter().zip(outcomes.chunks_exact(tried.len())) {
                turn.held.iter().zip(&outcomes[kind].1).for_each(|(&row, s)| sigma[row] = *s);
            }
            rows.iter().map(|&row| sigma[row]).collect()
        })
        .collect();
    let encoded = data.can_be_encoded_again().then(|| {
        let each = turns.iter().zip(&held).flat_map(|(turn, held)| {
            turn.held.iter().enumerate().map(|(place, &row)| (row, held.row(place)))
        });
        data.with_rows(each)
    });
    let test = data.pick(&rows);
    let whole_error = test.whole_error();
    let score = |kind: Kind, sigma: &[f64]| -> Result<Candidate> {
        let sigma: Cow<[f64]> = match test.prior() {
            Some(prior) => sigma.iter().zip(prior).map(|(sigma, prior)| sigma * prior).collect(),
            None => Cow::Borrowed(sigma),
        };
        let sample = Sample::new(&whole_error, &sigma)?.maybe_weighted(test.weight())?;
        Ok(Candidate { kind, crps: crps::mean(&sample), nlpd: nlpd::mean(&sample) })
    };
    let mut candidates: Vec<Candidate> = (tried.iter().zip(&sigmas))
        .filter(|(kind, _)| kinds.contains(kind))
        .map(|(&kind, sigma)| score(kind, sigma))
        .collect::<Result<_>>()?;

    let alone = |only: Kind| tried.iter().map(|kind| f64::from(*kind == only)).collect();
    let shares: Vec<f64> = match kinds {
        [only] => alone(*only),
        _ => {
            let _task = task(monitor, "stacking", None);
            let local = options.local_units && options.loss != LossKind::Nlpd;
            let (shares, better) =
                stacking::weights(&sigmas, test.error(), test.weight(), options.loss, local)?;
            // Models that held-out rows do not speak for are not worth their while.
            if better || options.kind == Kind::Stack { shares } else { alone(Kind::Constant) }
        }
    };
    let sigma = stack::mean(&sigmas, &shares);
    let in_stack = shares.iter().filter(|share| **share > 0.0).count();
    if in_stack > 1 {
        candidates.push(score(Kind::Stack, &sigma)?);
    }
    let mut outcomes = outcomes.into_iter();
    let models = lessons.iter().map(|lesson| {
        let models = outcomes.by_ref().take(tried.len()).map(|(model, _)| model).collect();
        stacking::stack(models, &shares, lesson)
    });
    let models: Vec<Supported> = models.collect::<Result<_>>()?;
    let kind = match tried.iter().zip(&shares).find(|(_, share)| **share == 1.0) {
        Some((kind, _)) => *kind,
        None => Kind::Stack,
    };
    Ok(Some(Outcome {
        kind,
        turns: turns.into_iter().map(|turn| turn.held).zip(models).collect(),
        held_out: HeldOut {
            rows,
            error: test.error().to_vec(),
            weight: test.weight().map(<[f64]>::to_vec),
            laws: vec![ErrorLaw::default(); sigma.len()],
            bounds: None,
            sigma,
            constant_sigma: sigmas.into_iter().next().unwrap_or_default(),
        },
        candidates,
        whole_groups,
        whole,
        encoded,
    }))
}

/// Trees of the rows that each turn learns from; where turns do not hold out every row, of those that further ones
/// would learn from too, so that all of them, averaged, are trees of all rows.
fn trees_in_turn(
    data: &Data,
    lesson: &Lesson,
    (turns, lessons): (&[Fold], &[Lesson]),
    order: &Order,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<trees::Parts> {
    let _task = task(monitor, "training", Some(Kind::Trees.name()));
    let rows = data.rows();
    // Of many rows, those held out have next to no part in the units of all.
    let units = |(turn, own): (&Fold, &Lesson)| match own.units_of(data, &turn.others)? {
        None => Ok(lesson.units().map(Cow::Borrowed)),
        own => Ok(own.map(Cow::Owned)),
    };
    let known: Vec<Option<Cow<[f64]>>> =
        turns.iter().zip(lessons).map(units).collect::<Result<_>>()?;
    let mut parts: Vec<trees::Folded> = (turns.iter().zip(known))
        .map(|(Fold { held, others }, unit)| trees::Folded {
            held: held.clone(),
            others: others.clone(),
            unit,
        })
        .collect();
    let held = held_at_once(rows, options.validation);
    for turn in turns.len()..rows.div_ceil(held) {
        let Fold { held, others } = order.held(turn * held, ((turn + 1) * held).min(rows));
        if !held.is_empty() {
            parts.push(trees::Folded { held, others, unit: lesson.units().map(Cow::Borrowed) });
        }
    }
    trees::boosted(lesson.data(), &parts, true, &super::lesson::trees(options), monitor)
}

/// Rows to hold out at a time: fewer than five tell nothing.
fn held_at_once(rows: usize, share: f64) -> usize {
    ((rows as f64 * share).round() as usize).max(5)
}

impl HeldOut {
    /// The held-out rows as a sample to score.
    ///
    /// # Errors
    /// None for one that [`super::fit`] made.
    pub fn sample(&self) -> Result<Sample<'_>> {
        Sample::new(&self.error, &self.sigma)?.maybe_weighted(self.weight.as_deref())
    }

    /// The law of each row.
    #[must_use]
    pub fn error_laws(&self) -> ErrorLaws<'_> {
        ErrorLaws::new(&self.laws).within(self.bounds.as_deref())
    }
}

impl Outcome {
    /// The held-out rows as they were observed, within bounds if there are some.
    pub(super) fn observe(&mut self, data: &Data, bounds: Option<&[Bounds]>) {
        let rows = &self.held_out.rows;
        self.held_out.error = rows.iter().map(|&row| data.error()[row]).collect();
        self.held_out.bounds = bounds.map(|bounds| rows.iter().map(|&row| bounds[row]).collect());
    }

    /// The law of the held-out errors, rows of these data. From here on each is judged by the law that others tell.
    pub(super) fn learn_shape(&mut self, data: &Data, options: &Options) -> Result<Option<Shape>> {
        let held = self.encoded.as_ref().unwrap_or(data).pick(&self.held_out.rows);
        self.held_out.learn_shape(&held, options)
    }

    pub(super) fn validation(&self, importance: Vec<Importance>) -> Result<Validation> {
        Ok(Validation {
            turns: self.turns.len(),
            whole_groups: self.whole_groups,
            candidates: self.candidates.clone(),
            importance,
            ..self.held_out.validation()?
        })
    }
}

impl HeldOut {
    /// See [`Outcome::learn_shape`]; of the rows that were held out.
    pub(super) fn learn_shape(&mut self, data: &Data, options: &Options) -> Result<Option<Shape>> {
        if options.law == LawKind::Normal && !options.recalibrate {
            return Ok(None);
        }
        let Self { error, sigma, weight, bounds, .. } = &*self;
        let (weight, bounds) = (weight.as_deref(), bounds.as_deref());
        let held = Held { error, sigma, weight, bounds, data };
        let Chosen { shape, without } = shape::choose(&held, options.law, options.recalibrate)?;
        let rows = self.rows.len();
        let of = |row: usize| &without[part_of(row, rows)];
        self.laws = (0..rows).map(|row| of(row).law_at(data.row(row)).clone()).collect();
        self.sigma.iter_mut().enumerate().for_each(|(row, sigma)| {
            *sigma = (*sigma * of(row).factor()).clamp(f64::MIN_POSITIVE, f64::MAX);
        });
        Ok(Some(shape))
    }

    /// The same in units of the observations, of rows whose errors and sigmas are in those of a sigma that each row has already.
    pub(super) fn in_units_of(&mut self, prior: &[f64]) {
        for (place, row) in self.rows.iter().enumerate() {
            let unit = prior[*row];
            for values in [&mut self.error, &mut self.sigma, &mut self.constant_sigma] {
                values[place] = (values[place] * unit).clamp(-f64::MAX, f64::MAX);
            }
            if let Some(bounds) = &mut self.bounds {
                bounds[place] = bounds[place].over(1.0 / unit);
            }
        }
    }

    /// What these rows say, held out once.
    pub(super) fn validation(&self) -> Result<Validation> {
        let own = self.sample()?;
        let as_gaussian = law::judge::as_gaussian(&own, self.error_laws())?;
        let weight = self.weight.as_deref();
        let sample = Sample::new(&as_gaussian, &self.sigma)?.maybe_weighted(weight)?;
        let constant = Sample::new(&self.error, &self.constant_sigma)?.maybe_weighted(weight)?;
        let (each, log_scores) = law::judge::scores(&own, self.error_laws())?;
        let (crps_mean, constant_mean) = (own.mean(&each), crps::mean(&constant));
        let gain: Vec<f64> = (crps::each(&constant).iter().zip(each))
            .map(|(constant, crps)| constant - crps)
            .collect();
        let noise = standard_error_in(&gain, &sample);
        let relative = |x: f64| if constant_mean > 0.0 { x / constant_mean } else { 0.0 };
        let coverage = calibration::coverage(&sample, &[0.9], 0.95)?;
        Ok(Validation {
            rows: self.rows.len(),
            turns: 1,
            whole_groups: false,
            dependence: None,
            left_out: Vec::new(),
            not_tried: Vec::new(),
            sample: None,
            crps: crps_mean,
            constant_crps: constant_mean,
            crps_skill: relative(constant_mean - crps_mean),
            skill_standard_error: relative(noise),
            nlpd: own.mean(&log_scores),
            rs: reliability::reliability(&sample),
            rms_z: deterministic::root_mean_square_z(&sample),
            coverage_90: coverage.first().map_or(0.0, |c| c.observed),
            candidates: Vec::new(),
            importance: Vec::new(),
        })
    }
}
