//! Intervals with a promise: conformal prediction, normalised by sigma(x).
//!
//! A model of sigma says how errors differ from row to row; how wide an interval must be is then read
//! off errors that the model has not seen, in units of its sigma. Whatever the errors' distribution
//! and however wrong the model, the interval holds a new observation with the promised probability, as
//! long as the new row and those rows are *exchangeable*: drawn from the same source, in no special
//! order. A drift, or a time series with a memory, breaks that. What can be promised then is the share of rows
//! in the long run, by intervals that move as rows are observed: see [`adapt::promise`](crate::adapt::promise).
//! Of rows in time the latest are kept from the model, of each group its own.
//!
//! - [`Method::Split`] keeps some rows from the model. With $n$ of them the interval of level $p$
//!   reaches to the $\lceil (n+1) p \rceil$-th smallest $|\Phi^{-1}(F(\varepsilon))|$, with $F$ the law
//!   of the errors, so that it has the shape of the law (for a Gaussian these are
//!   $|\varepsilon|/\sigma$): it holds a new observation with a probability of at least $p$, and below
//!   $p + 1/(n+1)$ when no two errors tie.
//! - [`Method::Cross`] learns from all rows: models of some of them judge the others. The promise is
//!   weaker, $2p - 1$ less a term of the order of $\sqrt{2/n}$ (Barber et al. 2021, Theorem 4); in
//!   practice it holds about $p$, with narrower intervals.
//!
//! # Groups
//! With groups (and the split), a share of each group's own rows is kept, and the promise holds in each
//! group. A group with too few errors for a level is put together with all others like it: the promise
//! then holds for a new row of any of them, in the mix in which their rows were kept (half of each
//! group's, up to a limit that only groups too large to be put together at usual levels reach), and
//! says nothing about one of them alone. Which groups these are follows from the numbers of rows and the
//! level, never from the errors. A group that was never seen is promised nothing.
//!
//! Rows of different groups are not exchangeable with one another, so groups together have a proof of
//! their own, which takes rows to be independent. Let $\tau$ be the $k$-th smallest of $n$ independent
//! scores $s_i$, each with a law of its own, and $s'\_i$ another draw from the $i$-th law. $\tau$ is no
//! less than the $(k-1)$-th smallest of all but $s_i$; hence $P(s'\_i \le \tau)$ is no less than the
//! probability that $s_i$ is among the $k - 1$ smallest. These sum to $k - 1$: a new row whose group is
//! that of any of the rows kept lies within $\tau$ with a probability of at least $(k-1)/n$, and
//! $k = \lceil np \rceil + 1$ promises $p$.

mod ladder;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::ladder::{Ladders, Whose};
use super::categories::{self, Categories};
use super::{Fit, Fitted, Kind, LEAST_ROWS, Options, fit_rows};
use crate::checks::check_length;
use crate::choices::by_name;
use crate::data::{Data, Split, shuffled};
use crate::error::{Error, Result};
use crate::folds::{Fold, Order};
use crate::law::ErrorLaw;
use crate::mean::bias::without;
use crate::monitor::{Monitor, Stage};
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
#[serde(try_from = "Saved")]
pub struct Guarantee {
    method: Method,
    /// What rows are grouped by, and the groups.
    group: Option<(String, Vec<String>)>,
    /// One part for split, one for each fold for cross.
    parts: Vec<Calibration>,
    /// The law in units of sigma that sizes are counted by, where rows share one; a Gaussian, even around the
    /// forecast, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<ErrorLaw>,
}

/// Errors in units of a sigma that had not seen them.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Calibration {
    /// Whose sigma it is; `None` is the fitted model itself.
    model: Option<Supported>,
    /// The numbers that stand for categories there.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Categories>,
    /// The sizes of each group's, in order; without groups there is one of them.
    by_group: Vec<Vec<f64>>,
}

/// The saved form, which was another one before.
#[derive(Deserialize)]
struct Saved {
    method: Method,
    group: Option<(String, Vec<String>)>,
    parts: Vec<SavedCalibration>,
    #[serde(default)]
    law: Option<ErrorLaw>,
}

#[derive(Deserialize)]
struct SavedCalibration {
    model: Option<Supported>,
    #[serde(default)]
    categories: Option<Categories>,
    #[serde(default)]
    by_group: Vec<Vec<f64>>,
    /// For each row its size and its group: the form of old.
    #[serde(default)]
    scores: Vec<(f64, u32)>,
}

impl TryFrom<Saved> for Guarantee {
    type Error = String;

    fn try_from(Saved { method, group, parts, law }: Saved) -> std::result::Result<Self, String> {
        let groups = group.as_ref().map_or(1, |(_, labels)| labels.len());
        let part = |saved: SavedCalibration| {
            let SavedCalibration { model, categories, mut by_group, scores } = saved;
            if by_group.len() > groups {
                return Err("its guarantee has errors of no group");
            }
            by_group.resize(groups, Vec::new());
            for (size, group) in scores {
                let of = by_group.get_mut(group as usize);
                of.ok_or("its guarantee has errors of no group")?.push(size);
            }
            by_group.iter_mut().for_each(|sizes| sizes.sort_by(f64::total_cmp));
            Ok(Calibration { model, categories, by_group })
        };
        let parts = parts.into_iter().map(part).collect::<std::result::Result<_, _>>()?;
        Ok(Self { method, group, parts, law })
    }
}

/// What the rows of a group are promised at some level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The group has enough errors of its own.
    Own,
    /// The group is too small: it is promised something together with all others that are.
    Together,
    /// Too few errors even so.
    Nothing,
}

/// The share of rows that a split keeps from the model, and the most of them: more would hardly make
/// the promise sharper.
const SHARE: f64 = 0.5;
const MOST: usize = 2000;

/// With groups each may keep this many, however many groups there are: enough for a level of 0.995.
const MOST_OF_A_GROUP: usize = 200;

/// Folds of the cross method.
const FOLDS: usize = 5;

/// The least number of rows for which a level can be promised.
#[must_use]
pub fn rows_needed(level: f64) -> usize {
    // What rounding adds must not count as a row.
    ((level / (1.0 - level)) * (1.0 - 1e-9)).ceil().max(1.0) as usize
}

/// The least number of rows of groups that are put together for which a level can be promised.
#[must_use]
pub fn rows_needed_together(level: f64) -> usize {
    rows_needed(level) + 1
}

/// The place, counted from one, of the score that an interval of this level reaches to, among `n`.
fn place(level: f64, n: usize) -> usize {
    (((n + 1) as f64 * level) - 1e-9).ceil().max(1.0) as usize
}

/// The same where the errors are of several groups: see [Groups](self#groups).
fn place_together(level: f64, n: usize) -> usize {
    ((n as f64 * level) - 1e-9).ceil().max(1.0) as usize + 1
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
    let groups = rows_by_group(data, options);
    let calibration = calibration(&groups, options);
    if calibration.is_empty() {
        return Err(Error::TooFewRows { rows, needed: 2 });
    }
    let training = others(&calibration, rows);
    let mut fit = fit_rows(&data.pick(&training), names, options, None, monitor)?;
    let held = data.pick(&calibration.iter().map(|(row, _)| *row).collect::<Vec<usize>>());
    let predicted = fit.fitted.predict(held.inputs())?;
    let left = match predicted.bias() {
        Some(bias) => without(held.error(), bias),
        None => held.error().to_vec(),
    };
    let mut by_group = vec![Vec::new(); groups.len()];
    let law = fit.fitted.shape.as_ref().map(|shape| shape.law().clone());
    let sizes = sizes(&left, predicted.sigma(), law.as_ref().map(|_| |row| predicted.law_of(row)));
    for (size, (_, group)) in sizes.zip(&calibration) {
        by_group[*group].push(size);
    }
    by_group.iter_mut().for_each(|sizes| sizes.sort_by(f64::total_cmp));
    let group = data.group().map(|group| {
        let label = |rows: &Vec<usize>| group.labels[group.rows[rows[0]] as usize].clone();
        (group.name.clone(), groups.iter().map(label).collect())
    });
    let parts = vec![Calibration { model: None, categories: None, by_group }];
    fit.fitted.guarantee = Some(Guarantee { method: Method::Split, group, parts, law });
    Ok(fit)
}

/// The rows that a model with a guarantee may learn from: all that it is not read off.
pub(super) fn training(data: &Data, options: &Options) -> Vec<usize> {
    let calibration = match options.guarantee {
        Some(Method::Split) => calibration(&rows_by_group(data, options), options),
        _ => Vec::new(),
    };
    others(&calibration, data.rows())
}

/// The rows that are kept from the model, each with its group.
fn calibration(groups: &[Vec<usize>], options: &Options) -> Vec<(usize, usize)> {
    let kept = kept(groups, options.seed);
    (groups.iter().zip(&kept).enumerate())
        .flat_map(|(group, (rows, kept))| {
            rows[rows.len() - kept..].iter().map(move |row| (*row, group))
        })
        .collect()
}

fn others(calibration: &[(usize, usize)], rows: usize) -> Vec<usize> {
    let mut is_kept = vec![false; rows];
    calibration.iter().for_each(|(row, _)| is_kept[*row] = true);
    (0..rows).filter(|&row| !is_kept[row]).collect()
}

/// The rows of each group that has any, or all of them as one: in time, or else in a random order.
fn rows_by_group(data: &Data, options: &Options) -> Vec<Vec<usize>> {
    let order = match options.split {
        Split::Random => shuffled(data.rows(), options.seed ^ 0xca1),
        Split::InOrder => (0..data.rows()).collect(),
    };
    let Some(group) = data.group() else { return vec![order] };
    let mut rows = vec![Vec::new(); group.labels.len()];
    order.into_iter().for_each(|row| rows[group.rows[row] as usize].push(row));
    rows.retain(|rows| !rows.is_empty());
    rows
}

/// How many rows of each group are kept from the model: half of them, and of odd numbers now a row
/// more, now one less, so that groups of one row are among them too.
fn kept(groups: &[Vec<usize>], seed: u64) -> Vec<usize> {
    let most = match groups.len() {
        1 => MOST,
        many => (MOST / many).max(MOST_OF_A_GROUP),
    };
    let mut kept = vec![0; groups.len()];
    let mut rest = 0.0;
    for group in shuffled(groups.len(), seed ^ 0xca2) {
        let share = groups[group].len() as f64 * SHARE + rest;
        rest = share.fract();
        kept[group] = (share as usize).min(most);
    }
    kept
}

fn cross(data: &Data, names: &[String], options: &Options, monitor: &dyn Monitor) -> Result<Fit> {
    let rows = data.rows();
    let whole = Stage { whole: monitor, from: 0.0, to: 0.2 };
    let mut fit = fit_rows(data, names, options, None, &whole)?;
    let folds = FOLDS.min(rows);
    let order = Order::of(data, options.split, options.seed ^ 0xca1);
    let mut parts = Vec::new();
    for (fold, Fold { held, others }) in order.parts(folds).enumerate() {
        let share = |fold: usize| 0.2 + 0.8 * fold as f64 / folds as f64;
        let part = Stage { whole: monitor, from: share(fold), to: share(fold + 1) };
        // The kind and its weights are chosen anew: rows that had a say in them would not be new.
        let kind = if others.len() < LEAST_ROWS { Kind::Constant } else { options.kind };
        let own = Options { kind, ..*options };
        let Fitted { model, categories, .. } =
            fit_rows(&data.pick(&others), names, &own, None, &part)?.fitted;
        let held_inputs =
            categories::encoded(categories.as_ref(), data.pick(&held).inputs(), names.len())
                .into_owned();
        let sigma = model.predict(&held_inputs)?;
        let mut sizes: Vec<f64> =
            sizes(data.pick(&held).error(), &sigma, None::<fn(usize) -> &'static ErrorLaw>)
                .collect();
        sizes.sort_by(f64::total_cmp);
        parts.push(Calibration { by_group: vec![sizes], model: Some(model), categories });
    }
    fit.fitted.guarantee = Some(Guarantee { method: Method::Cross, group: None, parts, law: None });
    Ok(fit)
}

/// The sizes of errors in units of sigma, or what these would be if the law of each were a Gaussian.
fn sizes<'a>(
    error: &[f64],
    sigma: &[f64],
    law: Option<impl Fn(usize) -> &'a ErrorLaw>,
) -> impl Iterator<Item = f64> {
    error.iter().zip(sigma).enumerate().map(move |(row, (error, sigma))| {
        let size = match &law {
            Some(law) => law(row).gaussian_quantile_of(error / sigma).abs(),
            None => error.abs() / sigma,
        };
        size.min(f64::MAX)
    })
}

impl Guarantee {
    /// How the promise is made.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Whether intervals have the shape of a law.
    pub(super) fn has_law(&self) -> bool {
        self.law.is_some()
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
        let of = |part: &Calibration| match group {
            Some(group) => part.by_group.get(group as usize).map_or(0, Vec::len),
            None => part.by_group.iter().map(Vec::len).sum(),
        };
        self.parts.iter().map(of).sum()
    }

    /// What each group is promised at a level.
    #[must_use]
    pub fn categories(&self, level: f64) -> Vec<Category> {
        let groups = self.groups();
        let is_small = |rows: usize| rows < rows_needed(level);
        let together: usize = groups.iter().map(|(_, rows)| *rows).filter(|r| is_small(*r)).sum();
        let enough = together >= rows_needed_together(level);
        let category = |(_, rows): &(&str, usize)| match (is_small(*rows), enough) {
            (false, _) => Category::Own,
            (true, true) => Category::Together,
            (true, false) => Category::Nothing,
        };
        groups.iter().map(category).collect()
    }

    /// Whether a level is more than the errors can promise to any row.
    ///
    /// # Errors
    /// That it is, or a level outside (0, 1).
    pub fn check_level(&self, level: f64) -> Result<()> {
        crate::score::calibration::check_probability("the level of a guarantee", level)?;
        let rows = self.rows(None);
        let (enough, needed) = match self.group {
            Some(_) => (
                self.categories(level).iter().any(|category| *category != Category::Nothing),
                rows_needed_together(level),
            ),
            None => (rows >= rows_needed(level), rows_needed(level)),
        };
        if enough { Ok(()) } else { Err(Error::TooFewForLevel { level, rows, needed }) }
    }

    /// The number of a group.
    #[must_use]
    pub fn group(&self, label: &str) -> Option<u32> {
        let (_, labels) = self.group.as_ref()?;
        labels.iter().position(|own| own == label).map(|place| place as u32)
    }

    /// The numbers of some groups; `None` for those that it does not know.
    #[must_use]
    pub fn numbers_of(&self, labels: &[String]) -> Vec<Option<u32>> {
        let own = self.group.iter().flat_map(|(_, labels)| labels).zip(0..);
        let own: HashMap<&str, u32> = own.map(|(label, number)| (label.as_str(), number)).collect();
        labels.iter().map(|label| own.get(label.as_str()).copied()).collect()
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
        let mut sizes = self.parts.iter().flat_map(|part| &part.by_group).flatten();
        if !sizes.all(|size| *size >= 0.0 && size.is_finite()) {
            return Err("an error of its guarantee is not a number".into());
        }
        let one = self.group.is_some() || self.method == Method::Split;
        if one && (self.parts.len() != 1 || self.method != Method::Split) {
            return Err("its guarantee is in more parts than its method has".into());
        }
        for part in &self.parts {
            let alone = part.model.is_none() == (self.method == Method::Split);
            let fits = part.model.as_ref().is_none_or(|model| model.model().columns() == columns);
            if !alone || !fits {
                return Err("its guarantee does not fit its model".into());
            }
            part.model.as_ref().map_or(Ok(()), Supported::check)?;
            part.categories.as_ref().map_or(Ok(()), |own| own.check(columns))?;
        }
        if self.law.as_ref().is_some_and(|law| !law.is_unit() || self.method == Method::Cross) {
            return Err("the law of its guarantee cannot be used".into());
        }
        Ok(())
    }

    /// The least and the most error that the interval of each row holds. `sigma` and `law`, with its number among
    /// those that rows share, are those of the fitted model; `group` the number of each row's group. NaN where nothing can be promised: for rows
    /// of no known group, and of groups that are too small even together. Without `group`, all groups are
    /// promised something together.
    ///
    /// # Errors
    /// A level outside (0, 1), or more than the number of errors can promise to any row.
    pub(super) fn reach<'a>(
        &self,
        inputs: &[f64],
        (sigma, law): (&[f64], &dyn Fn(usize) -> (u32, &'a ErrorLaw)),
        level: f64,
        group: Option<&[Option<u32>]>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let sizes = self.sizes_of_rows(inputs, sigma, level, group)?;
        if self.law.is_none() {
            return Ok((sizes.iter().map(|size| -size).collect(), sizes));
        }
        // The same for rows of a group that share a law, and slow.
        let mut known: HashMap<(u64, u32), [f64; 2]> = HashMap::new();
        let mut ends = |(row, (size, sigma)): (usize, (&f64, &f64))| {
            let (number, law) = law(row);
            let ends = known
                .entry((size.to_bits(), number))
                .or_insert_with(|| [-size, *size].map(|size| law.quantile_of_gaussian(size)));
            ends.map(|z| z * sigma).into()
        };
        Ok(sizes.iter().zip(sigma).enumerate().map(&mut ends).unzip())
    }

    /// The size that the interval of each row reaches to: in units of sigma as the law counts them, or,
    /// without one, of the error itself.
    fn sizes_of_rows(
        &self,
        inputs: &[f64],
        sigma: &[f64],
        level: f64,
        group: Option<&[Option<u32>]>,
    ) -> Result<Vec<f64>> {
        let unit = |sigma: &f64| if self.law.is_some() { 1.0 } else { *sigma };
        self.check_level(level)?;
        if self.group.is_some() {
            let by_group = &self.parts[0].by_group;
            let Some(group) = group else {
                let size = size_together(by_group.iter(), level);
                if size.is_nan() {
                    let (rows, needed) = (self.rows(None), rows_needed_together(level));
                    return Err(Error::TooFewForLevel { level, rows, needed });
                }
                return Ok(sigma.iter().map(|sigma| size * unit(sigma)).collect());
            };
            check_length("group", group.len(), "inputs", sigma.len())?;
            let sizes = self.sizes_of_groups(level);
            let size = |group: &Option<u32>| group.and_then(|g| sizes.get(g as usize).copied());
            let reach = |(group, sigma)| size(group).map_or(f64::NAN, |size| size * unit(sigma));
            return Ok(group.iter().zip(sigma).map(reach).collect());
        }
        let at = place(level, self.rows(None));
        if let [Calibration { model: None, by_group, .. }] = &self.parts[..] {
            return Ok(sigma.iter().map(|sigma| by_group[0][at - 1] * unit(sigma)).collect());
        }
        let by_part: Vec<Vec<f64>> = (self.parts.iter())
            .map(|part| {
                let of = |model: &Supported| {
                    let columns = model.model().columns();
                    model.predict(&categories::encoded(part.categories.as_ref(), inputs, columns))
                };
                part.model.as_ref().map_or(Ok(sigma.to_vec()), of)
            })
            .collect::<Result<_>>()?;
        let mut all = Vec::new();
        let reach = |row: usize| {
            all.clear();
            for (part, sigma) in self.parts.iter().zip(&by_part) {
                all.extend(part.by_group.iter().flatten().map(|size| size * sigma[row]));
            }
            *all.select_nth_unstable_by(at - 1, f64::total_cmp).1
        };
        Ok((0..sigma.len()).map(reach).collect())
    }

    /// The size in units of sigma that intervals of each group reach to; NaN for nothing.
    fn sizes_of_groups(&self, level: f64) -> Vec<f64> {
        let (by_group, categories) = (&self.parts[0].by_group, self.categories(level));
        let small = by_group.iter().zip(&categories).filter(|(_, c)| **c == Category::Together);
        let together = size_together(small.map(|(sizes, _)| sizes), level);
        let size = |(sizes, category): (&Vec<f64>, &Category)| match category {
            Category::Own => sizes[place(level, sizes.len()) - 1],
            Category::Together => together,
            Category::Nothing => f64::NAN,
        };
        by_group.iter().zip(&categories).map(size).collect()
    }
}

/// The size that intervals of several groups together reach to; NaN when there are too few.
fn size_together<'a>(groups: impl Iterator<Item = &'a Vec<f64>>, level: f64) -> f64 {
    let sizes = together_in_order(groups);
    sizes.get(place_together(level, sizes.len()) - 1).copied().unwrap_or(f64::NAN)
}

/// The sizes of several groups as one.
fn together_in_order<'a>(groups: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut sizes: Vec<f64> = groups.flatten().copied().collect();
    sizes.sort_by(f64::total_cmp);
    sizes
}
