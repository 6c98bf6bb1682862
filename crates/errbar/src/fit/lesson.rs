//! Some rows to learn from, and what all kinds of models share there.
//!
//! CRPS has the units of the error, so a row of small sigma hardly counts: at a fixed $z$ its slope in
//! $\ln\sigma$ is in proportion to $\sigma$. After a first look at sigma, $s\_0(x)$, the cost can be applied to
//! $\varepsilon/s\_0(x)$ with $\sigma(x)/s\_0(x)$ instead, where all rows count alike. A first look at the same
//! errors would give too much weight to those that happen to be small; so each row's $s\_0$ is that of the
//! likeliest polynomials that have not seen it, and it has a floor.

use std::borrow::Cow;

use super::{Kind, LEAST_ROWS, Options, some_rows};
use crate::data::Data;
use crate::error::Result;
use crate::loss::LossKind;
use crate::monitor::{Monitor, check, task};
use crate::sigma::polynomial::{self, Likeliest, Problem};
use crate::sigma::supported::{Ground, least_told};
use crate::sigma::{Model, Supported, constant, network, smooth, trees};

/// A unit is at least this share of the mean size of all errors.
pub(super) const FLOOR: f64 = 0.1;

/// Rows to learn from.
pub(super) struct Lesson<'a> {
    data: Cow<'a, Data<'a>>,
    /// The unit of each row, where errors are counted in units of their own.
    unit: Option<Vec<f64>>,
    /// The likeliest polynomials, where they are asked for.
    likeliest: Option<(Problem, Likeliest)>,
    /// What holds the sigma of any model of these rows.
    ground: Option<Ground>,
}

impl<'a> Lesson<'a> {
    /// Of data, for some kinds of models.
    pub(super) fn new(
        data: &'a Data<'a>,
        kinds: &[Kind],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        check(monitor)?;
        let varies = kinds.iter().any(|kind| *kind != Kind::Constant);
        if !varies {
            let data = Cow::Borrowed(data);
            return Ok(Self { data, unit: None, likeliest: None, ground: None });
        }
        let ground = {
            let _task = task(monitor, "support", None);
            Some(Ground::of(data, options.seed))
        };
        let data = off_zero(data).map_or(Cow::Borrowed(data), Cow::Owned);
        let mut lesson = Self { data, unit: None, likeliest: None, ground };
        let counts_units = |kind: &Kind| {
            matches!(kind, Kind::Polynomial | Kind::Network | Kind::Ensemble | Kind::Trees)
        };
        let in_units = options.local_units
            && options.loss != LossKind::Nlpd
            && lesson.data.rows() >= 2 * LEAST_ROWS
            && kinds.iter().any(counts_units);
        if in_units || kinds.contains(&Kind::Polynomial) {
            let _task = task(monitor, "first look", None);
            let own = polynomial(options);
            // Of many rows some are enough for a look, and the others are new to it.
            let rows = lesson.data.rows();
            let some = (rows > LOOK_AT_MOST)
                .then(|| some_rows(rows, &Options { most_rows: LOOK_AT_MOST / 2, ..*options }));
            let chosen = some.as_ref().map(|some| lesson.data.pick(some));
            let looked_at = chosen.as_ref().unwrap_or(&lesson.data);
            let (problem, likeliest) = polynomial::likeliest(looked_at, &own, FOLDS, monitor)?;
            if let Some(unit) = polynomial::held_out(&problem, &likeliest).filter(|_| in_units) {
                lesson.unit = Some(match &some {
                    None => lesson.held(unit),
                    Some(some) => lesson.units_beside(&problem, &likeliest, some, &unit)?,
                });
            }
            lesson.likeliest = some.is_none().then_some((problem, likeliest));
        }
        Ok(lesson)
    }

    /// A first look that ran off somewhere would make the rows there count for nothing.
    fn held(&self, mut unit: Vec<f64>) -> Vec<f64> {
        let error = self.data.error();
        let mean = error.iter().map(|e| e.abs() / error.len() as f64).sum::<f64>();
        let largest = error.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        unit.iter_mut().for_each(|unit| *unit = unit.clamp(FLOOR * mean, largest));
        unit
    }

    /// The rows, each in its unit if there are units.
    fn in_units(&self) -> Cow<'_, Data<'a>> {
        match &self.unit {
            Some(unit) => Cow::Owned(self.data.as_ref().clone().in_units(unit.clone())),
            None => Cow::Borrowed(self.data.as_ref()),
        }
    }

    /// A model of one kind, and how many rows it learned from. What a model of other rows had to choose need
    /// not be chosen again.
    pub(super) fn model(
        &self,
        kind: Kind,
        known: Option<&Model>,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<(Model, usize)> {
        check(monitor)?;
        let _task = task(monitor, "training", Some(kind.name()));
        let most = options.most_rows_of(kind);
        let rows = self.data.rows();
        let thinned = (rows > most).then(|| {
            let chosen = some_rows(rows, &Options { most_rows: most, ..*options });
            self.in_units().pick(&chosen)
        });
        let data = match &thinned {
            Some(data) => Cow::Borrowed(data),
            None => self.in_units(),
        };
        let (data, loss, split, seed) = (data.as_ref(), options.loss, options.split, options.seed);
        let model = match kind {
            // A stack of nothing that is known yet is where it starts.
            Kind::Auto | Kind::Stack | Kind::Constant => {
                constant::fit(data.columns(), data.error(), data.weight(), loss)?.into()
            }
            Kind::Polynomial => match &self.likeliest {
                Some((problem, likeliest)) if thinned.is_none() => {
                    polynomial::least_cost(problem, likeliest, data, loss, monitor)?.into()
                }
                _ => polynomial::fit_to(data, &polynomial(options), monitor)?.into(),
            },
            Kind::Smooth => {
                let local_units = options.local_units;
                let own = smooth::Options { loss, local_units, seed, ..Default::default() };
                let known = match known {
                    Some(Model::Smooth(known)) => Some(known),
                    _ => None,
                };
                smooth::fit_near(data, known, &own, monitor)?.into()
            }
            Kind::Network | Kind::Ensemble => {
                let usual = match kind {
                    Kind::Ensemble => network::Options::ensemble(),
                    _ => network::Options::general(),
                };
                let mut own = network::Options { loss, split, seed, ..usual };
                // Of many rows, networks from different starts hardly differ.
                if kind == Kind::Network && data.rows() > MANY_FOR_NETWORKS {
                    own.starts = own.starts.min(4);
                }
                if let Some(Model::Network(known)) = known {
                    own.regularisation = vec![known.regularisation()];
                    own.shapes = vec![known.hidden().to_vec()];
                }
                network::fit_to(data, &own, monitor)?.into()
            }
            Kind::Trees => trees::fit_to(data, &trees(options), monitor)?.into(),
        };
        Ok((model, data.rows()))
    }

    /// The unit of each row of `data`, of which these are `own`, as far as these tell.
    pub(super) fn units_of(&self, data: &Data, own: &[usize]) -> Result<Option<Vec<f64>>> {
        let (Some(unit), Some((problem, likeliest))) = (&self.unit, &self.likeliest) else {
            return Ok(None);
        };
        let polynomial = polynomial::most_likely(problem, likeliest);
        let mut units = self.held(polynomial.predict(data.inputs())?);
        own.iter().zip(unit).for_each(|(&row, unit)| units[row] = *unit);
        Ok(Some(units))
    }

    /// The unit of each row, where that of some is known, of which the polynomials are.
    fn units_beside(
        &self,
        problem: &Problem,
        likeliest: &Likeliest,
        some: &[usize],
        unit: &[f64],
    ) -> Result<Vec<f64>> {
        let polynomial = polynomial::most_likely(problem, likeliest);
        let mut units = polynomial.predict(self.data.inputs())?;
        some.iter().zip(unit).for_each(|(&row, unit)| units[row] = *unit);
        Ok(self.held(units))
    }

    /// The rows, with errors of exactly zero a little off it.
    pub(super) fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.data.rows()
    }

    /// The unit of each row, where rows have their own.
    pub(super) fn units(&self) -> Option<&[f64]> {
        self.unit.as_deref()
    }

    /// What holds the sigma of any model of these rows.
    pub(super) fn into_ground(self) -> Option<Ground> {
        self.ground
    }

    /// A model of these rows, held where there were hardly any.
    pub(super) fn hold(&self, model: Model) -> Result<Supported> {
        match &self.ground {
            Some(ground) => Supported::new(model, ground),
            None => Ok(model.into()),
        }
    }
}

fn polynomial(options: &Options) -> polynomial::Options {
    let (loss, split) = (options.loss, options.split);
    polynomial::Options { loss, split, ..polynomial::Options::general() }
}

/// How trees are fitted.
pub(super) fn trees(options: &Options) -> trees::Options {
    let (loss, split, seed) = (options.loss, options.split, options.seed);
    trees::Options { loss, split, seed, ..trees::Options::default() }
}

/// Of more rows than this, fewer networks are averaged.
const MANY_FOR_NETWORKS: usize = 2_000;

/// Of more rows than this, half as many are looked at.
const LOOK_AT_MOST: usize = 20_000;

/// Parts of the rows, each looked at by polynomials of the others.
const FOLDS: usize = 10;

/// The same data with errors of zero as far from it as rounding may have been: to the likelihood, an
/// error of exactly nothing is proof that sigma is nothing. Every other one goes to the other side.
/// `None` where no error is zero.
pub(super) fn off_zero<'a>(data: &Data<'a>) -> Option<Data<'a>> {
    let least = least_told(data.error());
    if data.error().iter().all(|e| e.abs() >= least) {
        return None;
    }
    let mut side = -least;
    let off = |e: &f64| match e.abs() >= least {
        true => *e,
        false => {
            side = -side;
            side
        }
    };
    Some(data.clone().with_error(data.error().iter().map(off).collect()))
}
