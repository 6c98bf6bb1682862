//! Intervals with a promise: conformal prediction, normalised by sigma(x).
//!
//! A model of sigma says how errors differ from row to row; how wide an interval must be is then read
//! off errors that the model has not seen, in units of its sigma. Whatever the errors' distribution
//! and however wrong the model, the interval holds a new observation with the promised probability, as
//! long as the new row and those rows are *exchangeable*: drawn from the same source, in no special
//! order. A drift, or a time series with a memory, breaks that; nothing here can mend it.
//!
//! - [`Method::Split`] keeps some rows from the model. With $n$ of them the interval of level $p$
//!   reaches to the $\lceil (n+1) p \rceil$-th smallest $|\varepsilon|/\sigma$: it holds a new
//!   observation with a probability of at least $p$, and below $p + 1/(n+1)$ when no two errors tie.
//! - [`Method::Cross`] learns from all rows: models of some of them judge the others. The promise is
//!   weaker, $2p - 1$ less a term of the order of $\sqrt{2/n}$ (Barber et al. 2021, Theorem 4); in
//!   practice it holds about $p$, with narrower intervals.
//!
//! With groups (and the split), the errors of each group are counted on their own, and the promise
//! holds for each.

use serde::{Deserialize, Serialize};

use super::{Fit, Kind, LEAST_ROWS, Options, fit_rows};
use crate::data::{Data, Split, shuffled};
use crate::error::{Error, Result};
use crate::mean::bias::without;
use crate::monitor::{Monitor, Part as Share};
use crate::named::by_name;
use crate::order::{Held, Order};
use crate::sigma::Supported;

/// How the promise is made: see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Some rows are kept from the model.
    Split,
    /// Models of some rows judge the others.
    Cross,
}

impl std::str::FromStr for Method {
    type Err = Error;

    /// `split` or `cross`.
    fn from_str(name: &str) -> Result<Self> {
        by_name("guarantee", name)
    }
}

/// What the promise is read off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    method: Method,
    /// What rows are grouped by, and the groups.
    group: Option<(String, Vec<String>)>,
    /// One part for split, one for each fold for cross.
    parts: Vec<Part>,
}

/// Errors in units of a sigma that had not seen them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    /// Whose sigma it is; `None` is the fitted model itself.
    model: Option<Supported>,
    /// For each row its size and its group.
    scores: Vec<(f64, u32)>,
}

/// The share of rows that a split keeps from the model, and the most of them: more would hardly make
/// the promise sharper.
const SHARE: f64 = 0.5;
const MOST: usize = 2000;

/// Folds of the cross method.
const FOLDS: usize = 5;

/// The least number of rows for which a level can be promised.
#[must_use]
pub fn rows_needed(level: f64) -> usize {
    ((level / (1.0 - level)) - 1e-9).ceil().max(1.0) as usize
}

/// The place, counted from one, of the score that an interval of this level reaches to, among `n`.
fn place(level: f64, n: usize) -> usize {
    (((n + 1) as f64 * level) - 1e-9).ceil().max(1.0) as usize
}

/// Fits with a promise.
pub(super) fn fit(
    data: &Data,
    names: &[String],
    method: Method,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Fit> {
    if let Some(weight) = data.weight() {
        let mut counted = weight.iter().filter(|w| **w > 0.0);
        let first = counted.next();
        if counted.any(|w| Some(w) != first) {
            return Err(Error::WeightedGuarantee);
        }
    }
    if method == Method::Cross && options.debias {
        return Err(Error::CrossDebias);
    }
    if method == Method::Cross && data.group().is_some() {
        return Err(Error::CrossGroups);
    }
    match method {
        Method::Split => split(data, names, options, monitor),
        Method::Cross => cross(data, names, options, monitor),
    }
}

fn split(data: &Data, names: &[String], options: &Options, monitor: &dyn Monitor) -> Result<Fit> {
    let rows = data.rows();
    let kept = ((rows as f64 * SHARE) as usize).min(MOST);
    if kept == 0 {
        return Err(Error::TooFewRows { rows, needed: 2 });
    }
    let order = match options.split {
        Split::Random => shuffled(rows, options.seed ^ 0xca1),
        Split::InOrder => (0..rows).collect(),
    };
    let (mut training, mut calibration) =
        (order[..rows - kept].to_vec(), order[rows - kept..].to_vec());
    training.sort_unstable();
    calibration.sort_unstable();
    let mut fit = fit_rows(&data.pick(&training), names, options, monitor)?;
    let held = data.pick(&calibration);
    let predicted = fit.fitted.predict(held.inputs())?;
    let left = match &predicted.bias {
        Some(bias) => held.clone().with_error(without(held.error(), bias)),
        None => held,
    };
    let all: Vec<usize> = (0..left.rows()).collect();
    let part = Part { model: None, scores: scores(&left, &all, &predicted.sigma) };
    let group = data.group().map(|group| (group.name.clone(), group.labels.clone()));
    fit.fitted.guarantee = Some(Guarantee { method: Method::Split, group, parts: vec![part] });
    Ok(fit)
}

fn cross(data: &Data, names: &[String], options: &Options, monitor: &dyn Monitor) -> Result<Fit> {
    let rows = data.rows();
    let whole = Share { whole: monitor, from: 0.0, to: 0.2 };
    let mut fit = fit_rows(data, names, options, &whole)?;
    let folds = FOLDS.min(rows);
    let order = Order::of(data, options.split, options.seed ^ 0xca1);
    let mut parts = Vec::new();
    for (fold, Held { held, others }) in order.parts(folds).enumerate() {
        let share = |fold: usize| 0.2 + 0.8 * fold as f64 / folds as f64;
        let part = Share { whole: monitor, from: share(fold), to: share(fold + 1) };
        // The kind and its weights are chosen anew: rows that had a say in them would not be new.
        let kind = if others.len() < LEAST_ROWS { Kind::Constant } else { options.kind };
        let own = Options { kind, ..*options };
        let model = fit_rows(&data.pick(&others), names, &own, &part)?.fitted.model;
        let sigma = model.predict(data.pick(&held).inputs())?;
        parts.push(Part { scores: scores(data, &held, &sigma), model: Some(model) });
    }
    fit.fitted.guarantee = Some(Guarantee { method: Method::Cross, group: None, parts });
    Ok(fit)
}

/// The size of the errors of some rows in units of sigma. Rows without weight do not count.
fn scores(data: &Data, rows: &[usize], sigma: &[f64]) -> Vec<(f64, u32)> {
    let counts = |row: usize| data.weight().is_none_or(|weight| weight[row] > 0.0);
    (rows.iter().zip(sigma))
        .filter(|(row, _)| counts(**row))
        .map(|(&row, sigma)| {
            let group = data.group().map_or(0, |group| group.rows[row]);
            ((data.error()[row].abs() / sigma).min(f64::MAX), group)
        })
        .collect()
}

impl Guarantee {
    /// How the promise is made.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// What rows are grouped by, if they are.
    #[must_use]
    pub fn grouped_by(&self) -> Option<&str> {
        self.group.as_ref().map(|(name, _)| name.as_str())
    }

    /// The groups, and how many errors the promise of each is read off.
    #[must_use]
    pub fn groups(&self) -> Vec<(&str, usize)> {
        let labels = self.group.iter().flat_map(|(_, labels)| labels);
        labels.enumerate().map(|(i, label)| (label.as_str(), self.rows(Some(i as u32)))).collect()
    }

    /// How many errors the promise is read off: all of them, or those of one group.
    #[must_use]
    pub fn rows(&self, group: Option<u32>) -> usize {
        let scores = self.parts.iter().flat_map(|part| &part.scores);
        scores.filter(|(_, own)| group.is_none_or(|group| group == *own)).count()
    }

    /// The number of a group.
    #[must_use]
    pub fn group(&self, label: &str) -> Option<u32> {
        let (_, labels) = self.group.as_ref()?;
        labels.iter().position(|own| own == label).map(|place| place as u32)
    }

    /// The probabilities between which a new observation falls inside an interval of this level,
    /// when rows are exchangeable, no errors tie, and the promise is read off `rows` errors. With
    /// [`Method::Cross`] there is no upper end that holds always.
    #[must_use]
    pub fn bounds(&self, level: f64, rows: usize) -> (f64, f64) {
        let n = rows as f64;
        match self.method {
            Method::Split => (level, (place(level, rows) as f64 / (n + 1.0)).min(1.0)),
            Method::Cross => {
                // Barber et al. (2021), Theorem 4.
                let folds = self.parts.len() as f64;
                let slack = (2.0 * (1.0 - 1.0 / folds) / (n / folds + 1.0))
                    .min((1.0 - folds / n) / (folds + 1.0));
                ((2.0 * level - 1.0 - slack).max(0.0), 1.0)
            }
        }
    }

    /// Whether a guarantee that was read can be used beside a model of so many columns.
    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), String> {
        let labels = self.group.as_ref().map_or(1, |(_, labels)| labels.len());
        let scores = || self.parts.iter().flat_map(|part| &part.scores);
        if !scores()
            .all(|(size, group)| *size >= 0.0 && size.is_finite() && (*group as usize) < labels)
        {
            return Err("an error of its guarantee is not a number, or of no group".into());
        }
        for part in &self.parts {
            let alone = part.model.is_none() == (self.method == Method::Split);
            let fits = part.model.as_ref().is_none_or(|model| model.model().columns() == columns);
            if !alone || !fits {
                return Err("its guarantee does not fit its model".into());
            }
            part.model.as_ref().map_or(Ok(()), Supported::check)?;
        }
        Ok(())
    }

    /// How far the interval of each row reaches to either side of the forecast. `sigma` is that of the
    /// fitted model; `group` the number of each row's group.
    ///
    /// A row of no known group is promised what all rows together are.
    ///
    /// # Errors
    /// A level outside (0, 1), or more than the number of errors can promise.
    pub(super) fn reach(
        &self,
        inputs: &[f64],
        sigma: &[f64],
        level: f64,
        group: Option<&[Option<u32>]>,
    ) -> Result<Vec<f64>> {
        crate::score::calibration::check_probability("the level of a guarantee", level)?;
        let by_part: Vec<Vec<f64>> = (self.parts.iter())
            .map(|part| {
                part.model.as_ref().map_or(Ok(sigma.to_vec()), |model| model.predict(inputs))
            })
            .collect::<Result<_>>()?;
        // Each group's scores in order, made once.
        let groups = self.group.as_ref().map_or(0, |(_, labels)| labels.len());
        let mut of: Vec<Option<Vec<Vec<f64>>>> = vec![None; groups + 1];
        let mut out = Vec::with_capacity(sigma.len());
        let mut all = Vec::new();
        for row in 0..sigma.len() {
            let own = group.and_then(|group| group[row]).filter(|&g| (g as usize) < groups);
            let rows = self.rows(own);
            let at = place(level, rows);
            if at > rows {
                let group = own.and_then(|g| Some(self.group.as_ref()?.1[g as usize].clone()));
                return Err(Error::TooFewForLevel {
                    level,
                    rows,
                    needed: rows_needed(level),
                    group,
                });
            }
            let scores = of[own.map_or(groups, |g| g as usize)].get_or_insert_with(|| {
                let one = |part: &Part| {
                    let mut scores: Vec<f64> = (part.scores.iter())
                        .filter(|(_, group)| own.is_none_or(|own| own == *group))
                        .map(|(size, _)| *size)
                        .collect();
                    scores.sort_by(f64::total_cmp);
                    scores
                };
                self.parts.iter().map(one).collect()
            });
            out.push(match &scores[..] {
                [only] => only[at - 1] * by_part[0][row],
                _ => {
                    all.clear();
                    for (scores, sigma) in scores.iter().zip(&by_part) {
                        all.extend(scores.iter().map(|score| score * sigma[row]));
                    }
                    *all.select_nth_unstable_by(at - 1, f64::total_cmp).1
                }
            });
        }
        Ok(out)
    }
}
