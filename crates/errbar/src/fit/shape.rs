//! The law of the errors: its shape, chosen on rows that were held out.
//!
//! A model says how large errors are, not how they are distributed. The errors of held-out rows in
//! units of their sigma tell that: whether tails are heavier than a Gaussian's, whether one side is
//! longer, whether sigma is too small by a factor, and whether the forecast is off by a part of sigma.
//! Each [`LawKind`] is fitted to them by likelihood; priors hold scale and location where few rows, or
//! rows that resemble each other, say little. Which kind it is, is decided by rows that its fit has not
//! seen: of those whose CRPS cannot be told from the least by a standard error, the one of the best log
//! score, and of those that cannot be told from that one the simplest. A [`curve`] may then bend that law
//! to the shape of the errors, where rows that it has not seen speak for it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::curve;
use super::turning::{self, Learned, Turning};
use crate::choices::by_name;
use crate::data::Data;
use crate::diagnose::standard_error_in;
use crate::error::{Error, Result};
use crate::law::{Base, Bounds, ErrorLaw, Gradient, Law};
use crate::optimize::{self, bfgs};
use crate::score::Sample;
use crate::score::bootstrap::dependence;

/// Which law errors are to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LawKind {
    /// The one that held-out rows choose.
    #[default]
    Auto,
    /// The Gaussian.
    Normal,
    /// Tails of an exponential, a round top.
    Logistic,
    /// Tails of an exponential, a sharp top.
    Laplace,
    /// Student's t: tails of a power.
    T,
    /// A Gaussian with a scale for each side.
    TwoPieceNormal,
    /// The asymmetric Laplace law.
    TwoPieceLaplace,
    /// Student's t with a scale for each side.
    TwoPieceT,
}

impl LawKind {
    /// All that can be chosen, the simplest first.
    const ALL: [Self; 7] = [
        Self::Normal,
        Self::Logistic,
        Self::T,
        Self::Laplace,
        Self::TwoPieceNormal,
        Self::TwoPieceLaplace,
        Self::TwoPieceT,
    ];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Normal => "normal",
            Self::Logistic => "logistic",
            Self::Laplace => "laplace",
            Self::T => "t",
            Self::TwoPieceNormal => "two-piece-normal",
            Self::TwoPieceLaplace => "two-piece-laplace",
            Self::TwoPieceT => "two-piece-t",
        }
    }

    /// As many independent rows must speak for it.
    fn least_rows(self) -> f64 {
        match self {
            Self::Auto | Self::Normal => 0.0,
            Self::Logistic | Self::Laplace => 40.0,
            Self::T => 60.0,
            Self::TwoPieceNormal | Self::TwoPieceLaplace => 80.0,
            Self::TwoPieceT => 150.0,
        }
    }

    fn bases(self) -> &'static [Base] {
        const DEGREES: [Base; 6] = [
            Base::StudentT { nu: 3.0 },
            Base::StudentT { nu: 4.0 },
            Base::StudentT { nu: 5.0 },
            Base::StudentT { nu: 7.0 },
            Base::StudentT { nu: 10.0 },
            Base::StudentT { nu: 20.0 },
        ];
        match self {
            Self::Auto | Self::Normal | Self::TwoPieceNormal => &[Base::Normal],
            Self::Logistic => &[Base::Logistic],
            Self::Laplace | Self::TwoPieceLaplace => &[Base::Laplace],
            Self::T | Self::TwoPieceT => &DEGREES,
        }
    }

    fn is_skewed(self) -> bool {
        matches!(self, Self::TwoPieceNormal | Self::TwoPieceLaplace | Self::TwoPieceT)
    }
}

impl std::str::FromStr for LawKind {
    type Err = Error;

    /// By its [`LawKind::name`].
    fn from_str(name: &str) -> Result<Self> {
        by_name("law", name)
    }
}

/// The law of errors in units of sigma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// In units of sigma: its standard deviation is 1.
    law: ErrorLaw,
    /// Sigma is that of the model times this.
    factor: f64,
    /// The laws that rows have instead, where their skew turns with the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turning: Option<Turning>,
}

impl Shape {
    /// The law in units of sigma; its standard deviation is 1. Where the skew [turns](Shape::turning) it is that of
    /// the average skew, and of no row in particular: see [`Shape::law_at`].
    #[must_use]
    pub fn law(&self) -> &ErrorLaw {
        &self.law
    }

    /// The law at a row of inputs.
    #[must_use]
    pub fn law_at(&self, row: &[f64]) -> &ErrorLaw {
        match &self.turning {
            Some(turning) => &turning.laws().0[turning.rung(row)],
            None => &self.law,
        }
    }

    /// How the skew turns with the inputs, where it does.
    #[must_use]
    pub fn turning(&self) -> Option<&Turning> {
        self.turning.as_ref()
    }

    /// Sigma is what the model says times this.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// From the law of errors over what the model says, with its scale and location kept, or taken
    /// off.
    fn of(law: Law, recalibrate: bool) -> Self {
        let deviation = law.standard_deviation();
        let (left, right) = (law.left / deviation, law.right / deviation);
        let unit = Law { location: law.location / deviation, left, right, ..law };
        match recalibrate {
            true => Self { law: unit.into(), factor: deviation, turning: None },
            false => Self { law: unit.with_mean(0.0).into(), factor: 1.0, turning: None },
        }
    }

    /// With a skew that turns.
    fn turned(Learned { law, turning }: Learned) -> Self {
        Self { turning: Some(turning), ..Self::of(law, true) }
    }

    /// The same, bent to errors over what the model says.
    fn bent(&self, errors: &Errors) -> Self {
        let law = self.law.law().around(0.0, self.factor);
        let bent = || {
            let curve = curve::bend(&law, &errors.z, &errors.weight)?;
            let factor = curve.mean_and_deviation().1;
            let law = ErrorLaw::bent(law, curve).times(1.0 / factor);
            Some(Self { law, factor, turning: None })
        };
        bent().unwrap_or_else(|| self.clone())
    }

    /// Whether one that was read can be used beside so many inputs.
    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        self.turning.as_ref().map_or(Ok(()), |turning| turning.check(columns))?;
        match self.law.is_unit() && (1e-3..1e3).contains(&self.factor) {
            true => Ok(()),
            false => Err("the law of its errors cannot be used"),
        }
    }

    /// What the law is, in a few words, with the names of the inputs.
    #[must_use]
    pub fn explain_with(&self, names: &[String]) -> String {
        let own = self.explain();
        self.turning
            .as_ref()
            .map_or(own.clone(), |turning| format!("{own}: {}", turning.explain(names)))
    }

    /// What the law is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let Law { base, left, right, .. } = *self.law.law();
        let skewed = left != right || self.turning.is_some();
        let name = match (base, skewed) {
            (Base::Normal, false) => "a Gaussian".to_string(),
            (Base::Normal, true) => "a two-piece Gaussian".into(),
            (Base::Logistic, _) => "the logistic law".into(),
            (Base::Laplace, false) => "the Laplace law".into(),
            (Base::Laplace, true) => "the asymmetric Laplace law".into(),
            (Base::StudentT { nu }, false) => format!("Student's t, {nu} degrees of freedom"),
            (Base::StudentT { nu }, true) => {
                format!("a two-piece Student's t, {nu} degrees of freedom")
            }
        };
        let short = |value: f64| crate::words::significant(value, 3);
        let width = |level: f64| {
            let ends = [self.law.interval(level), Law::normal(0.0, 1.0).interval(level)];
            let [own, gaussian] = ends.map(|(low, high)| high - low);
            short(own / gaussian)
        };
        if self.law.curve().is_some() {
            return format!(
                "of a shape of its own, which held-out errors tell, around {name}; 50% intervals are {} \
                 times as wide as a Gaussian's, 99% intervals {} times",
                width(0.5),
                width(0.99)
            );
        }
        let mut text = match base {
            Base::Normal => name,
            _ => format!("heavier tails than a Gaussian: {name}"),
        };
        if self.turning.is_some() {
            return text + ", whose skew turns with the inputs";
        }
        if skewed {
            let (side, ratio) =
                if right > left { ("above", right / left) } else { ("below", left / right) };
            text += &format!(
                "; errors reach {} times as far {side} as on the other side",
                short(ratio)
            );
        }
        if base != Base::Normal || skewed {
            text += &format!("; 99% intervals are {} times as wide as a Gaussian's", width(0.99));
        }
        text
    }
}

/// Errors of held-out rows, and the sigmas of models that had not seen them.
pub(super) struct Held<'a> {
    pub(super) error: &'a [f64],
    pub(super) sigma: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    /// Of each error, where observations keep to some.
    pub(super) bounds: Option<&'a [Bounds]>,
    /// These rows, with the inputs that the skew may turn with.
    pub(super) data: &'a Data<'a>,
}

/// What was chosen, and for each row what other rows would have chosen.
pub(super) struct Chosen {
    pub(super) shape: Shape,
    /// One for each part of the rows, in their order, learned from the others.
    pub(super) without: Vec<Shape>,
}

/// Parts of the held-out rows that judge laws of the others.
const PARTS: usize = 5;
/// In units of sigma, as far as any error need be: nothing is known of rarer ones.
pub(super) const FARTHEST: f64 = 1e3;
/// How far mean, logarithm of the standard deviation and logarithm of the ratio of the two sides may be
/// from 0 before rows speak for it.
const LOCATION: f64 = 0.1;
const SCALE: f64 = 0.2;
pub(super) const SKEW: f64 = 1.0;
/// Of more rows, as many that lie evenly among them choose the law.
const MOST_JUDGES: usize = 20_000;
/// Of more rows than this without bounds, neighbours in size are taken together to fit laws to: so many to a unit
/// of a Gaussian, which leaves all digits that matter.
const ONE_BY_ONE: usize = 1_000;
const PER_UNIT: f64 = 60.0;
/// As many independent rows must speak for a curve, and for a skew that turns.
const CURVE_ROWS: f64 = 300.0;
const TURNING_ROWS: f64 = 300.0;

/// Which part a row belongs to.
pub(super) fn part_of(row: usize, rows: usize) -> usize {
    (row * PARTS / rows.max(1)).min(PARTS - 1)
}

/// Chooses the law of held-out errors.
pub(super) fn choose(held: &Held, wanted: LawKind, recalibrate: bool) -> Result<Chosen> {
    let rows = held.error.len();
    let judges: Vec<usize> = (0..rows).step_by(rows.div_ceil(MOST_JUDGES).max(1)).collect();
    let z: Vec<f64> = held
        .error
        .iter()
        .zip(held.sigma)
        .map(|(e, s)| (e / s).clamp(-FARTHEST, FARTHEST))
        .collect();
    let ones = vec![1.0; rows];
    let sample = Sample::new(&z, &ones)?.maybe_weighted(held.weight)?;
    let alike = dependence(&sample).map_or(0.0, |found| found.autocorrelation.clamp(0.0, 0.99));
    let worth = sample.effective_rows() * (1.0 - alike) / (1.0 + alike);
    let bounds: Option<Vec<Bounds>> = held.bounds.map(|bounds| {
        let far = |row: usize| bounds[row].of_far(held.error[row], held.sigma[row], z[row]);
        (0..rows).map(far).collect()
    });
    let within = |row: usize| bounds.as_ref().map_or(Bounds::default(), |bounds| bounds[row]);
    let learn = |but: Option<usize>| Errors::of(&z, &within, held.weight, worth, but);
    let all = learn(None);
    let others: Vec<Errors> = (0..PARTS).map(|part| learn(Some(part))).collect();
    let kinds: Vec<LawKind> = match wanted {
        LawKind::Auto => {
            LawKind::ALL.into_iter().filter(|kind| kind.least_rows() <= worth).collect()
        }
        kind => vec![kind],
    };
    let judge = |shape: Shape, without: Vec<Shape>| {
        let one = |row: usize| {
            let shape = &without[part_of(row, rows)];
            let (law, factor) = (shape.law_at(held.data.row(row)), shape.factor);
            let (z, sigma) = (z[row] / factor, factor * held.sigma[row]);
            let bounds = within(row).over(factor);
            (sigma * law.crps_within(z, bounds), law.log_score_within(z, bounds, sigma))
        };
        let (crps, log_score) = judges.iter().map(|&row| one(row)).unzip();
        Tried { shape, without, crps, log_score }
    };
    let mut tried = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let law = all.fit(kind, kind.bases(), None);
        let near = around(kind.bases(), law.base);
        let without: Vec<Shape> = (others.iter())
            .map(|others| Shape::of(others.fit(kind, near, Some(law)), recalibrate))
            .collect();
        tried.push(judge(Shape::of(law, recalibrate), without));
    }
    let of_judges = |of: &[f64]| judges.iter().map(|&row| of[row]).collect::<Vec<f64>>();
    let (error, sigma) = (of_judges(held.error), of_judges(held.sigma));
    let weight = held.weight.map(of_judges);
    let scored = Sample::new(&error, &sigma)?.maybe_weighted(weight.as_deref())?;
    // The best, and those that cannot be told from it; the simplest first.
    let best = |among: &[usize], scores: &[&Vec<f64>]| -> (usize, Vec<usize>) {
        let order =
            |a: &&usize, b: &&usize| scored.mean(scores[**a]).total_cmp(&scored.mean(scores[**b]));
        let best = among.iter().min_by(order).copied().unwrap_or(0);
        let close = |one: &usize| {
            let gap: Vec<f64> = scores[*one].iter().zip(scores[best]).map(|(a, b)| a - b).collect();
            scored.mean(&gap) <= standard_error_in(&gap, &scored)
        };
        (best, among.iter().copied().filter(close).collect())
    };
    let every: Vec<usize> = (0..tried.len()).collect();
    let (crps, log_scores): (Vec<_>, Vec<_>) =
        tried.iter().map(|one| (&one.crps, &one.log_score)).unzip();
    let (sharpest, sharp) = best(&every, &crps);
    let (likeliest, alike) = best(&sharp, &log_scores);
    let chosen = alike.first().copied().unwrap_or(likeliest);
    let straight = &tried[chosen];
    // Who asks for a law gets that one; and at a bound there are no quantiles to bend it by.
    let bends = wanted == LawKind::Auto && recalibrate && held.bounds.is_none();
    let bent = (bends && worth >= CURVE_ROWS).then(|| {
        let without = straight.without.iter().zip(&others);
        judge(straight.shape.bent(&all), without.map(|(shape, rows)| shape.bent(rows)).collect())
    });
    // What rows that it has not seen gain in CRPS and in log score, in standard errors.
    let gains = |other: &Tried, straight: &Tried| {
        let gain = |straight: &[f64], other: &[f64]| {
            let gap: Vec<f64> = straight.iter().zip(other).map(|(a, b)| a - b).collect();
            scored.mean(&gap) / standard_error_in(&gap, &scored).max(f64::MIN_POSITIVE)
        };
        [gain(&straight.crps, &other.crps), gain(&straight.log_score, &other.log_score)]
    };
    // They must speak for a curve in the CRPS, and not against it in the log score.
    let speaks = |[crps, log_score]: [f64; 2]| crps > 2.0 && log_score > -1.0;
    let bent =
        bent.filter(|bent| bent.shape.law.curve().is_some() && speaks(gains(bent, straight)));
    let turns = (wanted == LawKind::Auto || wanted.is_skewed()) && recalibrate;
    let turned = match turns && held.bounds.is_none() && worth >= TURNING_ROWS {
        true => {
            let lesson = turning::Lesson::new(held.data, &z, held.weight, worth)?;
            let found = turned(&lesson, straight, wanted, rows);
            found.map(|(shape, without)| judge(shape, without))
        }
        false => None,
    };
    // The log score sees a skew that turns in half as many rows. It counts as well where the CRPS has no loss; and
    // laws of one skew must all have less, so that it is the turning that rows speak for.
    let turned = turned.filter(|turned| {
        let speaks_for = |gained: [f64; 2]| speaks(gained) || (gained[1] > 2.0 && gained[0] > 0.0);
        let others = [straight, &tried[sharpest], &tried[likeliest]];
        others.iter().all(|other| speaks_for(gains(turned, other)))
    });
    let found = match (bent, turned) {
        (Some(bent), Some(turned)) if scored.mean(&bent.crps) < scored.mean(&turned.crps) => {
            Some(bent)
        }
        (bent, turned) => turned.or(bent),
    };
    let Tried { shape, without, .. } = found.unwrap_or_else(|| tried.swap_remove(chosen));
    Ok(Chosen { shape, without })
}

/// The shape of errors whose skew turns, and for each part what the others say; `None` where none of the inputs has
/// a say in it, of all rows or without one of the parts.
fn turned(
    lesson: &turning::Lesson,
    straight: &Tried,
    wanted: LawKind,
    rows: usize,
) -> Option<(Shape, Vec<Shape>)> {
    let law_of = |Shape { law, factor, .. }: &Shape| law.law().around(0.0, *factor);
    if !lesson.may_turn(&law_of(&straight.shape)) {
        return None;
    }
    let bases: Vec<Base> = match wanted {
        LawKind::Auto => LawKind::ALL[..4].iter().flat_map(|kind| kind.bases()).copied().collect(),
        kind => kind.bases().to_vec(),
    };
    let learn = |law: &Law, counts: &dyn Fn(usize) -> bool| {
        lesson.learn(law, &bases, counts).map(Shape::turned)
    };
    let without: Option<Vec<Shape>> = (straight.without.par_iter().enumerate())
        .map(|(part, straight)| learn(&law_of(straight), &|row| part_of(row, rows) != part))
        .collect();
    Some((learn(&law_of(&straight.shape), &|_| true)?, without?))
}

/// The likeliest Gaussian of errors in units of their sigma, within bounds.
pub(super) fn likeliest_gaussian(
    error: &[f64],
    sigma: &[f64],
    weight: Option<&[f64]>,
    bounds: &[Bounds],
) -> Law {
    let z = |row: usize| (error[row] / sigma[row]).clamp(-FARTHEST, FARTHEST);
    let within = |row: usize| bounds[row].of_far(error[row], sigma[row], z(row));
    let z: Vec<f64> = (0..error.len()).map(z).collect();
    let errors = Errors::of(&z, &within, weight, error.len() as f64, None);
    errors.fit(LawKind::Normal, LawKind::Normal.bases(), None)
}

/// A kind of law, fitted and judged.
struct Tried {
    shape: Shape,
    without: Vec<Shape>,
    crps: Vec<f64>,
    log_score: Vec<f64>,
}

/// The log score of a law and its slope. The top of Laplace's law is rounded off: its edge would leave
/// the search at one of the errors, whichever it meets first.
pub(super) fn log_score(law: &Law, z: f64, bounds: Bounds) -> (f64, Gradient) {
    const ROUND: f64 = 0.1;
    let at_bound = z <= bounds.lower() || z >= bounds.upper();
    if law.base != Base::Laplace || at_bound {
        return law.within(bounds).log_score_and_gradient(z);
    }
    let (both, above) = (law.left + law.right, z > law.location);
    let own = if above { law.right } else { law.left };
    let u = (z - law.location) / own;
    let distance = u.hypot(ROUND);
    let stretch = -u * u / distance / own;
    let (left, right) = if above { (0.0, stretch) } else { (stretch, 0.0) };
    let gradient = Gradient {
        location: -u / distance / own,
        left: left + 1.0 / both,
        right: right + 1.0 / both,
        ..Gradient::default()
    };
    (both.ln() + distance, gradient)
}

/// A base and its neighbours in a list.
fn around(bases: &'static [Base], base: Base) -> &'static [Base] {
    let at = bases.iter().position(|other| *other == base).unwrap_or(0);
    &bases[at.saturating_sub(1)..(at + 2).min(bases.len())]
}

/// Scaled errors to fit laws to.
struct Errors {
    z: Vec<f64>,
    bounds: Vec<Bounds>,
    /// Their weights, whose sum is the number of independent rows.
    weight: Vec<f64>,
    /// The same with neighbours taken together, where they are many.
    together: Option<Box<Self>>,
}

impl Errors {
    /// All, or all but one part.
    fn of(
        z: &[f64],
        bounds: &dyn Fn(usize) -> Bounds,
        weight: Option<&[f64]>,
        worth: f64,
        but: Option<usize>,
    ) -> Self {
        let rows: Vec<usize> =
            (0..z.len()).filter(|&row| Some(part_of(row, z.len())) != but).collect();
        let weights: Vec<f64> =
            rows.iter().map(|&row| weight.map_or(1.0, |weight| weight[row])).collect();
        let total: f64 = weights.iter().sum();
        let left = if but.is_some() { 1.0 - 1.0 / PARTS as f64 } else { 1.0 };
        let scale = if total > 0.0 { worth * left / total } else { 0.0 };
        let all = Self {
            z: rows.iter().map(|&row| z[row]).collect(),
            bounds: rows.iter().map(|&row| bounds(row)).collect(),
            weight: weights.iter().map(|weight| weight * scale).collect(),
            together: None,
        };
        let bounded = all.bounds.iter().any(|bounds| !bounds.are_none());
        let together = (!bounded && rows.len() > ONE_BY_ONE).then(|| Box::new(all.together()));
        Self { together, ..all }
    }

    /// Neighbours in size taken together.
    fn together(&self) -> Self {
        let mut order: Vec<usize> = (0..self.z.len()).collect();
        order.sort_unstable_by(|&a, &b| self.z[a].total_cmp(&self.z[b]).then(a.cmp(&b)));
        let total: f64 = self.weight.iter().sum();
        let (mut z, mut weight) = (Vec::new(), Vec::new());
        let (mut sum, mut mass, mut below) = (0.0, 0.0, 0.0);
        let mut group = i64::MIN;
        for row in order {
            let share: f64 = (below + 0.5 * self.weight[row]) / total;
            let own = (PER_UNIT * Base::Normal.quantile(share.clamp(1e-12, 1.0 - 1e-12))) as i64;
            if own != group && mass > 0.0 {
                z.push(sum / mass);
                weight.push(mass);
                (sum, mass) = (0.0, 0.0);
            }
            group = own;
            sum += self.weight[row] * self.z[row];
            mass += self.weight[row];
            below += self.weight[row];
        }
        if mass > 0.0 {
            z.push(sum / mass);
            weight.push(mass);
        }
        let bounds = vec![Bounds::default(); z.len()];
        Self { z, bounds, weight, together: None }
    }

    /// The likeliest law of a kind.
    fn fit(&self, kind: LawKind, bases: &[Base], start: Option<Law>) -> Law {
        let fits = bases.iter().map(|&base| self.fit_base(base, kind.is_skewed(), start));
        let best = fits.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(Law::normal(0.0, 1.0), |(_, law)| law)
    }

    fn fit_base(&self, base: Base, skewed: bool, start: Option<Law>) -> (f64, Law) {
        if let Some(together) = &self.together {
            return together.fit_base(base, skewed, start);
        }
        let mut x = match start {
            Some(law) => {
                vec![law.mean(), law.standard_deviation().ln(), (law.right / law.left).ln()]
            }
            None => vec![0.0; 3],
        };
        x.truncate(if skewed { 3 } else { 2 });
        let prior = [LOCATION, SCALE, SKEW];
        let cost = |x: &[f64], gradient: &mut [f64]| -> Option<f64> {
            if x.iter().any(|x| x.is_nan() || x.abs() > 5.0) {
                return None;
            }
            let (law, by_skew) = law_of(base, x);
            let by_mean = 2.0 * base.half_mean_distance();
            gradient.fill(0.0);
            let mut sum = 0.0;
            for ((z, bounds), weight) in self.z.iter().zip(&self.bounds).zip(&self.weight) {
                let (score, slope) = log_score(&law, *z, *bounds);
                sum += weight * score;
                // With the mean held, the mode moves by this when a side grows.
                let left = law.left * (slope.left + by_mean * slope.location);
                let right = law.right * (slope.right - by_mean * slope.location);
                gradient[0] += weight * slope.location;
                gradient[1] += weight * (left + right);
                if let Some(skew) = gradient.get_mut(2) {
                    *skew += weight * (left * by_skew[0] + right * by_skew[1]);
                }
            }
            for ((x, gradient), width) in x.iter().zip(gradient).zip(prior) {
                sum += 0.5 * (x / width).powi(2);
                *gradient += x / (width * width);
            }
            Some(sum)
        };
        let options = optimize::Options { iterations: 60, gradient: 1e-5, ..Default::default() };
        let found = bfgs(&mut x, &options, cost);
        let value = if found.value.is_nan() { f64::INFINITY } else { found.value };
        (value, law_of(base, &x).0)
    }
}

/// The law of a mean, the logarithm of a standard deviation, and the logarithm $d$ of the ratio of its
/// sides, if they differ; and the slopes of the logarithms of both sides in $d$.
///
/// With $m_2$ and $A$ of the base, sides of $e^{-d/2}$ and $e^{d/2}$ have the variance
/// $c^2 = m_2(e^d - 1 + e^{-d}) - 4A^2(e^d - 2 + e^{-d})$.
pub(super) fn law_of(base: Base, x: &[f64]) -> (Law, [f64; 2]) {
    let d = x.get(2).copied().unwrap_or(0.0);
    let (variance, a) = (base.variance(), base.half_mean_distance());
    let (up, down) = (d.exp(), (-d).exp());
    let square = variance * (up - 1.0 + down) - 4.0 * a * a * (up - 2.0 + down);
    let own = 0.5 * (variance - 4.0 * a * a) * (up - down) / square;
    let unit = x[1] - 0.5 * square.ln();
    let (left, right) = ((unit - 0.5 * d).exp(), (unit + 0.5 * d).exp());
    let law = Law::new(base, x[0] - 2.0 * a * (right - left), left, right);
    (law, [-0.5 - own, 0.5 - own])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope that the search follows, against differences.
    #[test]
    fn slopes_are_those_of_the_cost() {
        for base in [Base::Normal, Base::Logistic, Base::Laplace, Base::StudentT { nu: 4.0 }] {
            let (law, by_skew) = law_of(base, &[0.3, -0.2, 0.7]);
            assert!((law.mean() - 0.3).abs() < 1e-14 && (law.right / law.left).ln() - 0.7 < 1e-14);
            assert!((law.standard_deviation().ln() + 0.2).abs() < 1e-14);
            let step = 1e-6;
            let [low, high] = [-step, step].map(|h| law_of(base, &[0.3, -0.2, 0.7 + h]).0);
            let left = (high.left / low.left).ln() / (2.0 * step);
            let right = (high.right / low.right).ln() / (2.0 * step);
            assert!((left - by_skew[0]).abs() < 1e-8 && (right - by_skew[1]).abs() < 1e-8);
        }
    }
}
