//! From a table to error bars: choose a model of sigma, train it, judge it on rows it has not seen.
//!
//! ```
//! use errbar::fit::{self, fit};
//! use errbar::{Data, Silent};
//!
//! // One input; the errors grow with it.
//! let x: Vec<f64> = (0..300).map(|i| f64::from(i) / 300.0).collect();
//! let error: Vec<f64> =
//!     (0..300).map(|i| (0.1 + x[i as usize]) * (f64::from(i) * 2.4).sin()).collect();
//!
//! let data = Data::new(&x, 1, &error)?;
//! let fit = fit(&data, &["x".into()], &fit::Options::default(), &Silent)?;
//! let tomorrow = fit.fitted.predict(&[0.1, 0.9, 7.0])?;
//! assert!(tomorrow.sigma()[1] > 2.0 * tomorrow.sigma()[0]);
//! assert_eq!(tomorrow.outside(), [false, false, true]);
//! assert!(fit.fitted.validation().unwrap().crps_skill > 0.05);
//! # Ok::<(), errbar::Error>(())
//! ```

mod by_law;
pub(crate) mod calendar;
mod carried_over;
mod categories;
mod curve;
mod debias;
mod elsewhere;
mod fitted;
mod forecasts;
mod groups;
pub mod guarantee;
mod importance;
mod latent;
mod lesson;
mod many;
mod neighbours;
mod opening;
mod passing;
mod saved;
mod shape;
mod stacking;
mod training_rows;
mod turning;
mod twins;
mod validation;
mod with_mean;

use serde::{Deserialize, Serialize};

pub use self::categories::{Categories, Levels, TooMany, too_many};
pub use self::debias::{Worth, worth_of_debiasing};
pub use self::elsewhere::{Elsewhere, PartRows, Parts, candidates};
pub use self::fitted::{ErrorSource, Fitted};
pub use self::forecasts::{Forecasts, Rows};
pub use self::groups::groups_not_held_out;
pub use self::importance::Importance;
use self::lesson::Lesson;
pub use self::many::{MANY, SAMPLE};
pub use self::passing::{Passing, Sampling};
pub use self::shape::{LawKind, Shape};
pub use self::training_rows::Known;
use self::training_rows::TrainingRows;
pub use self::turning::Turning;
pub use self::twins::twins;
use self::validation::Outcome;
pub use self::validation::{Candidate, HeldOut, Validation};
pub use self::with_mean::{fit_with_mean, learn_mean};
use crate::choices::{by_name, setters};
pub use crate::data::LEAST_ROWS;
use crate::data::{Data, Split, chosen_rows};
use crate::error::{Error, Result};
use crate::folds::Order;
use crate::law::{Bounds, Transform};
use crate::loss::LossKind;
use crate::mean::bias::{self, CrossFitted};
use crate::monitor::{Forward, Monitor, Stage, task};
use crate::score::bootstrap::Dependence;
use crate::sigma::stack::{Member, Stack};
use crate::sigma::{Model, Scaling, Supported, smooth};

/// Which model of sigma to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// [`Kind::Stack`], or one constant sigma where that does better on held-out rows.
    #[default]
    Auto,
    /// One sigma for all rows.
    Constant,
    /// The exponential of a polynomial.
    Polynomial,
    /// A smooth function of any shape: a Gaussian process for the logarithm of sigma.
    Smooth,
    /// An average of small neural networks.
    Network,
    /// An average of more neural networks, of a size chosen on held-out rows.
    Ensemble,
    /// A sum of small trees, for jumps and for many inputs.
    Trees,
    /// A mean of all kinds, with weights that held-out rows choose.
    Stack,
}

impl Kind {
    /// The kind of a model.
    fn of(model: &Model) -> Self {
        match model {
            Model::Constant(_) => Self::Constant,
            Model::Polynomial(_) => Self::Polynomial,
            Model::Smooth(_) => Self::Smooth,
            Model::Network(_) => Self::Network,
            Model::Trees(_) => Self::Trees,
            Model::Stack(_) => Self::Stack,
        }
    }

    /// About how often a fit evaluates the cost, whatever the rows.
    fn evaluations(self) -> f64 {
        match self {
            Self::Auto | Self::Stack | Self::Constant => 50.0,
            Self::Polynomial => 200.0,
            Self::Smooth => 500.0,
            Self::Network => 5_000.0,
            Self::Ensemble => 15_000.0,
            Self::Trees => 2_000.0,
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Constant => "constant",
            Self::Polynomial => "polynomial",
            Self::Smooth => "smooth",
            Self::Network => "network",
            Self::Ensemble => "ensemble",
            Self::Trees => "trees",
            Self::Stack => "stack",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = Error;

    /// By its [`Kind::name`].
    fn from_str(name: &str) -> Result<Self> {
        by_name("model", name)
    }
}

/// How to fit: `Options::default().kind(Kind::Smooth).debias(true)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Options {
    /// Which model.
    pub kind: Kind,
    /// What it is trained by.
    pub loss: LossKind,
    /// The share of rows that is held out at a time to judge models by: in small tables in turn, until
    /// each row has been held out once. The model itself is then fitted to all rows. 0 judges nothing.
    pub validation: f64,
    /// How rows are held out.
    pub split: Split,
    /// The seed of everything random.
    pub seed: u64,
    /// The most rows a model is trained on: of more, this many are chosen. All are used to judge. Smooth
    /// functions and networks learn from 10,000 rows at most.
    pub most_rows: usize,
    /// How much work may be done, in evaluations of the cost of one row: it decides how often rows are
    /// held out in turn, then which kinds of models are tried, and where not even one can be afforded
    /// on how many rows it is trained. More rows never mean that fewer are trained on.
    #[serde(default = "usual_budget")]
    pub budget: f64,
    /// Whether every input is used, even where rows held out in time say that what it tells about
    /// sigma does not carry over to later rows.
    #[serde(default)]
    pub keep_inputs: bool,
    /// Whether neighbouring rows are taken as independent even where their errors resemble each other.
    /// Otherwise blocks of them are held out together.
    #[serde(default)]
    pub independent: bool,
    /// Whether each row's error counts in units of the sigma there, after a first fit; otherwise
    /// rows of small sigma hardly count.
    #[serde(default)]
    pub local_units: bool,
    /// Whether the bias of the forecaster is learned as well, and forecasts are moved by it.
    #[serde(default)]
    pub debias: bool,
    /// The law of the errors; models of earlier versions have a Gaussian one.
    #[serde(default = "gaussian")]
    pub law: LawKind,
    /// Whether models are trained a second time, by the cost of the law that the errors of the first
    /// have, and the better of both are kept: those of less CRPS on held-out rows. Of a fitted model,
    /// whether it is one of the second.
    #[serde(default)]
    pub by_law: bool,
    /// Whether size and location of that law follow the errors of held-out rows.
    #[serde(default)]
    pub recalibrate: bool,
    /// The least and the most that an observation can be, on the user's scale: the law is censored there,
    /// and data must know their observations.
    #[serde(default)]
    pub bounds: Bounds,
    /// The scale that errors and observations of the data are on ([`Transform::all`]); what the model says
    /// is brought back to the user's.
    #[serde(default)]
    pub transform: Transform,
    /// Whether, and how, intervals are to come with a promise.
    #[serde(default)]
    pub guarantee: Option<guarantee::Method>,
    /// Whether what comes round in the calendar (hour of day, day of week, season) is an input of rows in time
    /// ([`walk::fit`](crate::walk::fit())) whose times are dates, where rows held out gain by it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub calendar: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: Kind::Auto,
            loss: LossKind::default(),
            validation: 0.2,
            split: Split::Random,
            seed: 0,
            most_rows: usize::MAX,
            budget: usual_budget(),
            keep_inputs: false,
            independent: false,
            local_units: true,
            debias: false,
            law: LawKind::Auto,
            by_law: false,
            recalibrate: true,
            bounds: Bounds::default(),
            transform: Transform::None,
            guarantee: None,
            calendar: true,
        }
    }
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn gaussian() -> LawKind {
    LawKind::Normal
}

/// As much as it takes.
fn usual_budget() -> f64 {
    f64::MAX
}

/// The most rows that smooth functions and networks learn from.
const MOST_ROWS: usize = 10_000;

/// What judging and fitting take, in evaluations of the cost of one row.
struct Work {
    /// To fit to all rows.
    once: f64,
    /// Each time that rows are held out.
    turn: f64,
}

impl Options {
    setters! {
        kind: Kind,
        loss: LossKind,
        validation: f64,
        split: Split,
        seed: u64,
        most_rows: usize,
        budget: f64,
        keep_inputs: bool,
        independent: bool,
        local_units: bool,
        debias: bool,
        law: LawKind,
        by_law: bool,
        recalibrate: bool,
        bounds: Bounds,
        transform: Transform,
        guarantee: Option<guarantee::Method>,
        calendar: bool,
    }

    fn check(&self) -> Result<()> {
        if !(0.0..=0.9).contains(&self.validation) {
            return Err(Error::BadValidation { value: self.validation });
        }
        if self.budget.is_nan() || self.budget <= 0.0 {
            return Err(Error::BadBudget { value: self.budget });
        }
        if self.most_rows < LEAST_ROWS {
            return Err(Error::BadMostRows { value: self.most_rows, least: LEAST_ROWS });
        }
        Ok(())
    }

    /// The same for these data: in the order of time, if they are.
    fn on(&self, data: &Data) -> Self {
        let split = if data.is_in_time() { Split::InOrder } else { self.split };
        Self { split, ..*self }
    }

    /// The most rows that a kind of model is trained on.
    fn most_rows_of(&self, kind: Kind) -> usize {
        match kind {
            Kind::Constant => usize::MAX,
            Kind::Smooth | Kind::Network | Kind::Ensemble => self.most_rows.min(MOST_ROWS),
            _ => self.most_rows,
        }
    }

    fn work(&self, kinds: &[Kind], rows: usize) -> Work {
        let all = |rows: f64| {
            let one = |kind: &Kind| match kind {
                // One sigma is there in no time.
                Kind::Constant => 0.0,
                kind => kind.evaluations() * rows.min(self.most_rows_of(*kind) as f64),
            };
            kinds.iter().map(one).sum()
        };
        Work { once: all(rows as f64), turn: all(rows as f64 * (1.0 - self.validation)) }
    }

    /// As many of the kinds as can be judged once and fitted within the budget, the costliest given up
    /// first; and where the last one cannot, the same options with fewer rows for it. That number does
    /// not depend on the rows there are: more of them never mean that fewer are trained on.
    fn within_budget(&self, kinds: &[Kind], rows: usize) -> (Vec<Kind>, Self) {
        let mut kinds = kinds.to_vec();
        let cost = |options: &Self, kinds: &[Kind]| {
            let Work { once, turn } = options.work(kinds, rows);
            once + turn
        };
        while cost(self, &kinds) > self.budget {
            let most = |kind: &Kind| cost(self, &[*kind]);
            let left = kinds.iter().filter(|kind| **kind != Kind::Constant).count();
            let costliest =
                (0..kinds.len()).max_by(|&a, &b| most(&kinds[a]).total_cmp(&most(&kinds[b])));
            let Some(costliest) = costliest.filter(|_| left > 1) else { break };
            kinds.remove(costliest);
        }
        if cost(self, &kinds) <= self.budget {
            return (kinds, *self);
        }
        let one_row = Self { most_rows: 1, ..*self };
        let per_row = |kind: &Kind| kind.evaluations() * one_row.most_rows_of(*kind) as f64;
        let tried = kinds.iter().filter(|kind| **kind != Kind::Constant);
        // Once to judge it, once to keep.
        let most_rows = (self.budget / (2.0 * tried.map(per_row).sum::<f64>())) as usize;
        (kinds, Self { most_rows: most_rows.clamp(LEAST_ROWS, self.most_rows), ..*self })
    }
}

/// A fitted model, and how it did on the rows held out.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model, fitted to all rows.
    pub fitted: Fitted,
    /// The held-out rows, with the sigma of a model fitted to the others; `None` when too few rows
    /// could be held out.
    pub held_out: Option<HeldOut>,
}

/// With more inputs than this, networks are not tried.
const MOST_INPUTS_OF_A_NETWORK: usize = 200;

/// Fits a model of sigma to data whose input columns have these names.
///
/// # Errors
/// Names that are not one per column, an option out of its range, errors that are all zero, or a
/// monitor that asked to stop.
pub fn fit(data: &Data, names: &[String], options: &Options, monitor: &dyn Monitor) -> Result<Fit> {
    Ok(fit_or_debias(data, names, options, false, monitor)?.0)
}

/// As [`fit`], without the bias of the forecaster where taking it off [pays](Worth::pays) on rows held out; also
/// what that is worth, as [`worth_of_debiasing`] says.
///
/// # Errors
/// As [`fit`].
pub fn fit_debiased_where_it_pays(
    data: &Data,
    names: &[String],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<(Fit, Option<Worth>)> {
    fit_or_debias(data, names, options, true, monitor)
}

fn fit_or_debias(
    data: &Data,
    names: &[String],
    options: &Options,
    if_it_pays: bool,
    monitor: &dyn Monitor,
) -> Result<(Fit, Option<Worth>)> {
    check_names(names, data.columns())?;
    options.check()?;
    let mut options = options.on(data);
    // Rows that do not count must not be seen, not even in a range.
    let counted: Option<Data> = data.weight().filter(|w| w.contains(&0.0)).map(|weight| {
        data.pick(&(0..data.rows()).filter(|&row| weight[row] > 0.0).collect::<Vec<usize>>())
    });
    let data = counted.as_ref().unwrap_or(data);
    if data.error().iter().all(|e| *e == 0.0) {
        return Err(Error::NoErrors { rows: data.rows() });
    }
    bounds_of_errors(data, &options)?;
    let (apart, dependence) = apart(data, &options)?;
    let data = apart.as_ref().unwrap_or(data);
    if data.is_coded() {
        return fit_coded(data, names, &options, (if_it_pays, dependence), monitor);
    }
    let (mut worth, mut biased) = (None, None);
    if if_it_pays && !options.debias {
        let _task = task(monitor, "bias", None);
        let judged = match options.guarantee {
            // Of some of the rows it is learned anew.
            Some(_) => None,
            None => debias::where_it_pays(data, &options, monitor)?,
        };
        (worth, biased) = match judged {
            Some(known) => known,
            None => (worth_of_debiasing(data, &options, monitor)?, None),
        };
        options.debias = worth.is_some_and(|worth| worth.pays());
    }
    let options = &options;
    let mut fit = match options.guarantee {
        Some(method) => guarantee::fit(data, names, method, options, monitor)?,
        None => fit_rows(data, names, options, biased, monitor)?,
    };
    if let Some(validation) = &mut fit.fitted.validation {
        validation.dependence = dependence;
    }
    Ok((fit, worth))
}

fn check_names(names: &[String], columns: usize) -> Result<()> {
    if names.len() != columns {
        return Err(Error::WrongNames { names: names.len(), columns });
    }
    Ok(())
}

/// The bounds of each error, where observations keep to some.
fn bounds_of_errors(data: &Data, options: &Options) -> Result<Option<Vec<Bounds>>> {
    let bounds = options.transform.bounds(options.bounds);
    if bounds.are_none() {
        return Ok(None);
    }
    let Some(observation) = data.observation() else {
        return Err(Error::BoundsWithoutObservations);
    };
    // In units of what is there already.
    let unit = |row: usize| data.prior().map_or(1.0, |prior| prior[row]);
    let of_row = |row: usize| bounds.over(unit(row));
    if let Some(index) = (0..data.rows()).find(|&row| !of_row(row).hold(observation[row])) {
        let value = observation[index] * unit(index);
        let bound = if value < bounds.lower() { bounds.lower() } else { bounds.upper() };
        let [value, bound] = [value, bound].map(|x| options.transform.back(x));
        return Err(Error::BeyondBound { index, value, bound });
    }
    let rows = data.error().iter().zip(observation).enumerate();
    let one = |(row, (error, y)): (usize, (&f64, &f64))| of_row(row).of_error(*error, *y);
    Ok(Some(rows.map(one).collect()))
}

/// The same data with neighbours held out together, where they resemble each other and nothing else
/// is said about their order.
fn apart<'a>(data: &Data<'a>, options: &Options) -> Result<(Option<Data<'a>>, Option<Dependence>)> {
    if options.split == Split::InOrder || options.independent {
        return Ok((None, None));
    }
    let Some(found) = neighbours::dependent(data) else { return Ok((None, None)) };
    let blocks = neighbours::blocks(data.rows(), found.block);
    Ok((Some(data.clone().held_together(blocks)?), Some(found)))
}

/// [`fit_or_debias`] of data with categories, whose numbers are learned first.
fn fit_coded(
    data: &Data,
    names: &[String],
    options: &Options,
    (if_it_pays, dependence): (bool, Option<Dependence>),
    monitor: &dyn Monitor,
) -> Result<(Fit, Option<Worth>)> {
    let mut options = *options;
    let encoded = {
        let _task = task(monitor, "categories", None);
        categories::encode(data, &options, options.debias || if_it_pays)
    };
    let mut worth = None;
    if if_it_pays && !options.debias {
        let _task = task(monitor, "bias", None);
        worth = encoded.worth_of_debiasing(&options, monitor)?;
        options.debias = worth.is_some_and(|worth| worth.pays());
    }
    let mut fit = match options.guarantee {
        // Of some of the rows they are learned anew.
        Some(method) => guarantee::fit(data, names, method, &options, monitor)?,
        None => encoded.fit(data, names, &options, monitor)?,
    };
    if let Some(validation) = &mut fit.fitted.validation {
        validation.dependence = dependence;
    }
    Ok((fit, worth))
}

/// [`fit`] to rows that all count, without a guarantee, and with what is known of the forecaster's bias.
fn fit_rows(
    data: &Data,
    names: &[String],
    options: &Options,
    biased: Option<CrossFitted>,
    monitor: &dyn Monitor,
) -> Result<Fit> {
    if data.is_coded() {
        return categories::encode(data, options, options.debias)
            .fit(data, names, options, monitor);
    }
    let monitor = &Forward::new(monitor);
    if many::are_many(data, options) {
        return many::fit(data, names, options, monitor);
    }
    let raw = data;
    let biased = match options.debias {
        true if biased.is_none() => {
            let _task = task(monitor, "bias", None);
            Some(debias::learn(data, options, monitor)?)
        }
        _ => biased,
    };
    let without = |b: &CrossFitted| raw.clone().with_error(bias::without(raw.error(), &b.held_out));
    let mut left = biased.as_ref().map(without);
    let biased = match (biased, &left) {
        (Some(biased), Some(now)) => {
            let again = latent::bias_beyond_bounds(now, biased, options, monitor)?;
            left = Some(without(&again));
            Some(again)
        }
        (biased, _) => biased,
    };
    let data = left.as_ref().unwrap_or(data);
    if data.error().iter().all(|e| *e == 0.0) {
        return Err(Error::NoErrors { rows: data.rows() });
    }
    let candidates: Vec<Kind> = match options.kind {
        // Fewer tell nothing but one sigma.
        _ if data.rows() < LEAST_ROWS => vec![Kind::Constant],
        Kind::Auto | Kind::Stack if data.columns() > MOST_INPUTS_OF_A_NETWORK => {
            vec![Kind::Constant, Kind::Polynomial, Kind::Trees]
        }
        Kind::Auto | Kind::Stack => {
            vec![Kind::Constant, Kind::Polynomial, Kind::Smooth, Kind::Network, Kind::Trees]
        }
        kind => vec![kind],
    };

    let bounds = bounds_of_errors(data, options)?;
    let beyond = match &bounds {
        Some(bounds) => latent::beyond_bounds(data, bounds, options, monitor)?,
        None => None,
    };
    let observed = data;
    let data = beyond.as_ref().unwrap_or(data);
    let given = options;
    let (tried, options) = options.within_budget(&candidates, data.rows());
    let not_tried = candidates.into_iter().filter(|kind| !tried.contains(kind)).collect();
    let (candidates, options) = (tried, &options);
    let in_time = options.split == Split::InOrder || data.together().is_some();
    let kept = match in_time && !options.keep_inputs && candidates != [Kind::Constant] {
        true => {
            let order = Order::of(data, options.split, options.seed ^ 0x5eed);
            let _task = task(monitor, "inputs that carry over", None);
            let part = Stage { whole: monitor, from: 0.0, to: 0.1 };
            carried_over::inputs(data, &order, options, &part)?
        }
        false => vec![true; data.columns()],
    };
    let left_out: Vec<String> =
        names.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(name, _)| name.clone()).collect();
    let fewer = (!left_out.is_empty()).then(|| data.with_inputs(&kept));
    let ranges = Scaling::of_data(data)?;
    let data = fewer.as_ref().unwrap_or(data);
    let first = Stage { whole: monitor, from: 0.1, to: 0.15 };
    let lesson = Lesson::new(data, &candidates, options, &first)?;
    // Judging takes longer than the last fit, which is one of fewer kinds.
    let share = 0.7;
    let first = if options.by_law { 0.3 } else { share };
    let judge = Stage { whole: monitor, from: 0.15, to: first };
    let mut judged = {
        let _task = task(monitor, "held out", None);
        validation::judge(data, &lesson, &candidates, options, &judge)?
    };
    let mut options = *options;
    if let Some(outcome) = judged.as_mut().filter(|_| options.by_law) {
        let judge = Stage { whole: monitor, from: first, to: share };
        let observe = |outcome: &mut Outcome| outcome.observe(observed, bounds.as_deref());
        let data = (data, &lesson);
        if let Some(better) = by_law::better(outcome, observe, data, &candidates, &options, &judge)?
        {
            (*outcome, options) = better;
        }
    }
    let options = &options;
    if candidates.len() > 1 && judged.is_none() {
        return Err(Error::NothingHeldOut);
    }
    let kind = judged.as_ref().map_or(candidates[0], |judged| judged.kind);
    let last = Stage { whole: monitor, from: share, to: 1.0 };
    let (model, trained_on) = {
        let _task = task(monitor, "all rows", None);
        finish(&lesson, kind, judged.as_ref(), options, &last)?
    };
    monitor.progress(1.0);
    let mut shape = None;
    let (held_out, validation) = match judged {
        Some(mut judged) => {
            judged.observe(observed, bounds.as_deref());
            let importance = {
                let _task = task(monitor, "importance", None);
                let data = judged.encoded.as_ref().unwrap_or(data);
                importance::importance(data, names, &judged, options.seed)?
            };
            shape = {
                let _task = task(monitor, "law", None);
                judged.learn_shape(data, options)?
            };
            let validation = judged.validation(importance)?;
            let validation = Validation { left_out, not_tried, ..validation };
            (Some(judged.held_out), Some(validation))
        }
        None => (None, None),
    };
    let (mut held_out, mut validation) = (held_out, validation);
    if let (Some(prior), Some(held)) = (raw.prior(), &mut held_out) {
        held.in_units_of(prior);
        let own = held.validation()?;
        validation = validation.map(|before| before.scored_as(own));
    }
    let known = TrainingRows::of(raw, held_out.as_ref(), options.debias);
    let fitted = Fitted {
        names: names.to_vec(),
        ranges,
        model,
        mean: None,
        forecast: None,
        error_source: ErrorSource::HeldOut,
        // What it was trained by, not what was asked for.
        options: Options { by_law: matches!(options.loss, LossKind::OfLaw(..)), ..*given },
        rows: data.rows(),
        trained_on,
        training: crate::diagnose::Summary::of(&raw.whole_error(), raw.weight()),
        validation,
        guarantee: None,
        bias: biased.map(|biased| biased.bias),
        categories: None,
        shape,
        known,
        debiased: left.as_ref().map(|d| crate::diagnose::Summary::of(&d.whole_error(), d.weight())),
        prior: raw.prior_name().map(String::from),
        ensemble: None,
        cycles: data.cycles().iter().map(|(_, cycle)| *cycle).collect(),
        series: None,
        without_lags: None,
    };
    Ok(Fit { fitted, held_out })
}

/// The model of all rows: what was made of them already while judging, or what is made of them now, for each
/// kind of a stack. What models of a part of the rows had to choose need not be chosen again, but by smooth
/// functions whose length scales had fewer rows to learn from than they may have. Also how many rows it learned
/// from.
fn finish(
    lesson: &Lesson,
    kind: Kind,
    judged: Option<&Outcome>,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<(Supported, usize)> {
    let known = judged.map(|judged| judged.turns[0].1.model());
    let whole = |kind: Kind| {
        let whole = judged.iter().flat_map(|judged| &judged.whole);
        whole.into_iter().find(|model| Kind::of(model) == kind).cloned()
    };
    let others = judged.map_or(0, |judged| lesson.rows() - judged.turns[0].0.len());
    let as_many = others >= smooth::Options::default().most_rows_for_lengths;
    let one = |kind: Kind, known: Option<&Model>, monitor: &dyn Monitor| match whole(kind) {
        Some(model) => Ok((model, lesson.rows())),
        None => {
            let known = known.filter(|_| kind != Kind::Smooth || as_many);
            lesson.model(kind, known, options, monitor)
        }
    };
    let Some(Model::Stack(stack)) = known.filter(|_| kind == Kind::Stack) else {
        let (model, rows) = one(kind, known, monitor)?;
        return Ok((lesson.hold(model)?, rows));
    };
    let count = stack.members().len() as f64;
    let mut trained_on = 0;
    let mut members = Vec::new();
    for (i, Member { share, model }) in stack.members().iter().enumerate() {
        let part = Stage { whole: monitor, from: i as f64 / count, to: (i + 1) as f64 / count };
        let (model, rows) = one(Kind::of(model), Some(model), &part)?;
        trained_on = trained_on.max(rows);
        members.push(Member { share: *share, model });
    }
    Ok((lesson.hold(Stack::new(members).into())?, trained_on))
}

/// A part of many rows: any of them, or every so many in the order of time.
fn some_rows(rows: usize, options: &Options) -> Vec<usize> {
    let wanted = options.most_rows.clamp(1, rows);
    match options.split {
        Split::InOrder => (0..wanted).map(|i| i * rows / wanted).collect(),
        Split::Random => chosen_rows(rows, wanted, options.seed),
    }
}
