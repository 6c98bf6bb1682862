//! Numbers for categories: how much larger errors are at each level, shrunk by how few rows say so.
//!
//! The square roots of the sizes of errors, $s_i = \sqrt{|\varepsilon_i|}$, are taken as a product of a level of all rows
//! and a ratio for each level of each category and for each of a few ranges of each number, found in turn. What a level
//! says, once everything else is taken off, is the mean $r$ of $s_i/m_i$ over its $n$ rows, of variance $c^2/n$. Ratios are
//! spread around 1 with a variance $\tau^2$, as the spread of all levels tells beyond what chance makes of it
//! (DerSimonian and Laird 1986); so
//!
//! $$\hat r = 1 + k\\,(r - 1), \qquad k = \frac{\tau^2}{\tau^2 + c^2/n}, \qquad
//!   x = 2\ln\hat r + 3\ln\Bigl(1 + \frac{\tau^2(1-k)}{\hat r^2}\Bigr),$$
//!
//! where $x$ is the number that stands for the level: the logarithm of the root mean square of sigma, given a log-normal
//! ratio of this mean and what is left of its variance. A level of many rows has $2\ln r$. A level that was never seen has
//! $k = 0$ and $3\ln(1+\tau^2)$: the sigma of an average level, and somewhat more, as it may be any of them.
//!
//! Rows that are learned from have numbers that the others tell: they are held out in tenths (in time, in blocks; groups
//! whole), so that many rare levels cannot be learned by heart.
//!
//! Where forecasts are moved by their bias, levels have a part in that too: the mean error at a level, shrunk in the same
//! way, if rows held out are nearer to it than to none.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::fitted::Fitted;
use super::training_rows::TrainingRows;
use super::validation::HeldOut;
use super::{Fit, Options, Worth, debias, fit_rows};
use crate::categories::Category;
use crate::data::{Data, Split};
use crate::diagnose::{Summary, standard_error};
use crate::error::Result;
use crate::folds::Order;
use crate::math::quantile;
use crate::mean::bias;
use crate::monitor::Monitor;

/// The categories among the inputs of a model, and the numbers that stand for their levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Categories(Vec<Levels>);

/// A category among the inputs of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    column: usize,
    levels: Vec<String>,
    /// For each level how many rows had it.
    rows: Vec<usize>,
    /// For each level the number that stands for it.
    size: Vec<f64>,
    unseen: f64,
    /// What stands for a missing value, and how many rows had none.
    missing: (f64, usize),
    /// What is added to forecasts at each level, where that is learned; nothing elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mean: Vec<f64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    mean_of_missing: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// What a code of a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Known(usize),
    Missing,
    Unseen,
}

impl Levels {
    /// Which of the inputs it is, counted from 0.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// Its values.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.levels
    }

    /// For each level how many rows of the fit had it.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The number that stands for each level in models of sigma: about the logarithm of how much larger errors are there.
    #[must_use]
    pub fn sizes(&self) -> &[f64] {
        &self.size
    }

    /// The number that stands for a level that was not seen.
    #[must_use]
    pub fn unseen(&self) -> f64 {
        self.unseen
    }

    /// The number that stands for a missing value.
    #[must_use]
    pub fn missing(&self) -> f64 {
        self.missing.0
    }

    /// Whether rows of the fit had a missing value.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        self.missing.1 > 0
    }

    /// What is added to the forecast at each level; nothing where that is not learned.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.mean
    }

    /// What is added to the forecast where the value is missing.
    #[must_use]
    pub fn mean_of_missing(&self) -> f64 {
        self.mean_of_missing
    }

    /// What a code is called.
    #[must_use]
    pub fn name_of(&self, code: f64) -> &str {
        match self.level(code) {
            Level::Known(place) => &self.levels[place],
            Level::Missing => "(missing)",
            Level::Unseen => "(not seen)",
        }
    }

    fn level(&self, code: f64) -> Level {
        match code {
            code if code.is_nan() => Level::Missing,
            code if code >= 0.0 && code.fract() == 0.0 && code < self.levels.len() as f64 => {
                Level::Known(code as usize)
            }
            _ => Level::Unseen,
        }
    }

    fn number(&self, code: f64) -> f64 {
        match self.level(code) {
            Level::Known(place) => self.size[place],
            Level::Missing => self.missing.0,
            Level::Unseen => self.unseen,
        }
    }

    fn mean(&self, code: f64) -> f64 {
        match self.level(code) {
            Level::Known(place) => self.mean.get(place).copied().unwrap_or(0.0),
            Level::Missing => self.mean_of_missing,
            Level::Unseen => 0.0,
        }
    }

    /// Whether the rows of the fit had this.
    fn has_seen(&self, code: f64) -> bool {
        match self.level(code) {
            Level::Known(place) => self.rows[place] > 0,
            Level::Missing => self.missing.1 > 0,
            Level::Unseen => false,
        }
    }

    fn check(&self, columns: usize) -> bool {
        let count = self.levels.len();
        let numbers = self.size.iter().chain(&self.mean).chain([
            &self.unseen,
            &self.missing.0,
            &self.mean_of_missing,
        ]);
        self.column < columns
            && self.rows.len() == count
            && self.size.len() == count
            && (self.mean.is_empty() || self.mean.len() == count)
            // Sums of them must be numbers too.
            && numbers.into_iter().all(|x| x.abs() < 1e300)
    }
}

impl Categories {
    /// Each of them.
    #[must_use]
    pub fn each(&self) -> &[Levels] {
        &self.0
    }

    /// The category that an input is, if it is one.
    #[must_use]
    pub fn of_input(&self, column: usize) -> Option<&Levels> {
        self.0.iter().find(|levels| levels.column == column)
    }

    /// As they are told to [`Data`].
    #[must_use]
    pub fn to_data(&self) -> Vec<Category> {
        let one = |own: &Levels| Category { column: own.column, levels: own.levels.clone() };
        self.0.iter().map(one).collect()
    }

    /// Row-major inputs with numbers for codes.
    pub(super) fn encode(&self, inputs: &[f64], columns: usize) -> Vec<f64> {
        let mut inputs = inputs.to_vec();
        for row in inputs.chunks_exact_mut(columns) {
            self.0.iter().for_each(|own| row[own.column] = own.number(row[own.column]));
        }
        inputs
    }

    /// What levels add to the forecasts of rows of codes, where they add something.
    pub(super) fn means(&self, inputs: &[f64], columns: usize) -> Option<Vec<f64>> {
        if self.0.iter().all(|own| own.mean.is_empty()) {
            return None;
        }
        let of_row = |row: &[f64]| self.0.iter().map(|own| own.mean(row[own.column])).sum();
        Some(inputs.chunks_exact(columns).map(of_row).collect())
    }

    /// A category of a row that the fit had not seen.
    pub(super) fn unlike(&self, row: &[f64]) -> Option<usize> {
        self.0.iter().find(|own| !own.has_seen(row[own.column])).map(Levels::column)
    }

    /// What the rows of the fit may have for their categories, and a new row too, as inputs of models: some rows.
    fn corners(&self, row: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        for own in &self.0 {
            for number in own.size.iter().chain([&own.unseen, &own.missing.0]) {
                let mut row = row.to_vec();
                row[own.column] = *number;
                all.extend(row);
            }
        }
        all
    }

    fn forget_means(&mut self) {
        for own in &mut self.0 {
            (own.mean, own.mean_of_missing) = (Vec::new(), 0.0);
        }
    }

    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), String> {
        let each_once = (1..self.0.len())
            .all(|nth| self.0[..nth].iter().all(|before| before.column != self.0[nth].column));
        match each_once && self.0.iter().all(|own| own.check(columns)) {
            true => Ok(()),
            false => Err("its categories do not fit its inputs".into()),
        }
    }
}

/// Row-major inputs with numbers for codes, where there are categories.
pub(super) fn encoded<'a>(
    categories: Option<&Categories>,
    inputs: &'a [f64],
    columns: usize,
) -> Cow<'a, [f64]> {
    categories.map_or(Cow::Borrowed(inputs), |own| Cow::Owned(own.encode(inputs, columns)))
}

/// Tenths of the rows are held out.
const FOLDS: usize = 10;

/// How often the levels of each category are found anew, given all others.
const SWEEPS: usize = 3;

/// Ranges of a number, each with as many rows.
const RANGES: usize = 16;

/// With more inputs than these, numbers are not taken off first.
const MOST_NUMBERS: usize = 60;

/// Errors count for no more than so many sigmas where means are found.
const FARTHEST: f64 = 5.0;

/// Data with numbers for its categories, and what they are.
pub(super) struct Encoded {
    pub(super) data: Data<'static>,
    pub(super) categories: Categories,
    /// What the levels of the others add to the forecast of each row, where that pays.
    pub(super) means: Option<Vec<f64>>,
}

/// Learns the numbers that stand for categories, and finds those of the rows themselves from the others; also the means
/// of levels, if they are asked for and rows held out gain by them.
pub(super) fn encode(coded: &Data, options: &Options, with_means: bool) -> Encoded {
    let (data, unit) = &in_units(coded);
    let factors = Factors::of(data);
    let order = Order::of(data, options.split, options.seed ^ 0xca7e);
    let all: Vec<usize> = (0..data.rows()).collect();
    let whole = factors.sizes(data, &all);
    let count = data.categories().len();
    let mut held: Vec<Vec<f64>> = vec![vec![0.0; data.rows()]; count];
    let mut held_means = vec![0.0; data.rows()];
    for fold in order.parts(FOLDS.min(data.rows())) {
        if fold.held.is_empty() {
            continue;
        }
        let found = factors.sizes(data, &fold.others);
        for (nth, held) in held.iter_mut().enumerate() {
            let own = &factors.categories[nth];
            let said = found.ratios[nth].numbers();
            fold.held.iter().for_each(|&row| held[row] = said[own.of_rows[row]]);
        }
        if with_means {
            // In time, later rows are not known.
            let first = fold.held[0];
            let earlier: Option<Vec<usize>> = (options.split == Split::InOrder)
                .then(|| fold.others.iter().copied().take_while(|&row| row < first).collect());
            let means = factors.means(data, &found, earlier.as_ref().unwrap_or(&fold.others));
            for &row in &fold.held {
                held_means[row] = factors.mean_of(&means, row);
            }
        }
    }
    let means = with_means.then(|| factors.means(data, &whole, &all));
    let pays = with_means && factors.means_pay(data, &whole, &held_means);
    let of_category = |(nth, category): (usize, &Category)| {
        let (own, ratios) = (&factors.categories[nth], &whole.ratios[nth]);
        let numbers = ratios.numbers();
        let levels = category.levels.len();
        let mut rows = vec![0; levels + 1];
        own.of_rows.iter().for_each(|&level| rows[level] += 1);
        let mean = means.as_ref().filter(|_| pays);
        let mean = mean.map(|means| means[nth].iter().map(|x| x * unit).collect::<Vec<f64>>());
        Levels {
            column: category.column,
            levels: category.levels.clone(),
            size: numbers[..levels].to_vec(),
            unseen: ratios.unseen(),
            missing: (numbers[levels], rows[levels]),
            rows: rows[..levels].to_vec(),
            mean_of_missing: mean.as_ref().map_or(0.0, |mean| mean[levels]),
            mean: mean.map_or(Vec::new(), |mean| mean[..levels].to_vec()),
        }
    };
    let categories = Categories(data.categories().iter().enumerate().map(of_category).collect());
    held_means.iter_mut().for_each(|mean| *mean *= unit);
    Encoded { data: coded.encoded(&held), categories, means: pays.then_some(held_means) }
}

impl Encoded {
    /// Fits to it; `coded` is the same with codes.
    pub(super) fn fit(
        self,
        coded: &Data,
        names: &[String],
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Fit> {
        let (data, categories) = self.parted(options.debias);
        let fit = fit_rows(&data, names, options, None, monitor)?;
        let fitted = fit.fitted.of_categories(categories, coded, fit.held_out.as_ref());
        Ok(Fit { fitted, ..fit })
    }

    /// Data to fit to, without the means of levels where these pay and are asked for, and the categories.
    pub(super) fn parted(self, debias: bool) -> (Data<'static>, Categories) {
        let left = if debias { self.left() } else { None };
        let Self { data, mut categories, .. } = self;
        if left.is_none() {
            categories.forget_means();
        }
        (left.unwrap_or(data), categories)
    }

    /// The same data with what is left of errors when the means of levels are taken off, where that pays.
    fn left(&self) -> Option<Data<'static>> {
        let means = self.means.as_ref()?;
        let left = bias::without(self.data.error(), means);
        Some(self.data.clone().with_error(left))
    }

    /// What it is worth to move forecasts by their bias, that of levels included.
    pub(super) fn worth_of_debiasing(
        &self,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Option<Worth>> {
        let Some(left) = self.left() else {
            return debias::worth_of_debiasing(&self.data, options, monitor);
        };
        let levels = debias::gain(&self.data, left.error(), options)?;
        let further = debias::worth_of_debiasing(&left, options, monitor)?;
        let (Some(levels), Some(further)) = (levels, further) else {
            return Ok(levels.or(further));
        };
        // What else there is to gain may be nothing.
        let further = if further.gain > 0.0 { further } else { Worth::new(0.0, 0.0) };
        let share = 1.0 - levels.gain;
        let noise = levels.standard_error.hypot(share * further.standard_error);
        Ok(Some(Worth::new(levels.gain + share * further.gain, noise)))
    }
}

/// The same data with errors in units of their mean size, and that.
fn in_units<'a>(data: &Data<'a>) -> (Data<'a>, f64) {
    let rows = data.rows() as f64;
    let unit = data.error().iter().map(|error| error.abs() / rows).sum::<f64>();
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let error = data.error().iter().map(|error| error / unit).collect();
    (data.clone().with_error(error), unit)
}

/// Some of the rows of encoded data as if there were no others, and the inputs of others by what they tell.
pub(super) fn again(
    others: &Data,
    held: &Data,
    options: &Options,
) -> (Data<'static>, Data<'static>) {
    let Encoded { data, categories, .. } = encode(others, options, false);
    let numbers: Vec<Vec<f64>> = (categories.0.iter().enumerate())
        .map(|(nth, own)| held.codes(nth).into_iter().map(|code| own.number(code)).collect())
        .collect();
    (data, held.encoded(&numbers))
}

/// What rows are put into: levels of categories, ranges of numbers.
struct Factors {
    categories: Vec<Factor>,
    numbers: Vec<Factor>,
}

/// A level for each row.
struct Factor {
    of_rows: Vec<usize>,
    levels: usize,
}

/// What the levels of a factor say.
struct Ratios {
    /// The mean of each level in units of what is expected there, 1 on average, and its rows.
    levels: Vec<(f64, f64)>,
    /// The variance of one row, and that of ratios.
    of_row: f64,
    spread: f64,
}

/// The ratios of all factors, categories first, and how large errors are then expected to be: the root of their size.
struct Found {
    ratios: Vec<Ratios>,
    root: Vec<f64>,
}

impl Ratios {
    fn share(&self, rows: f64) -> f64 {
        match self.spread {
            spread if spread > 0.0 && rows > 0.0 => spread / (spread + self.of_row / rows),
            _ => 0.0,
        }
    }

    /// The ratio of a level, shrunk.
    fn ratio(&self, level: usize) -> f64 {
        let (ratio, rows) = self.levels[level];
        (1.0 + self.share(rows) * (ratio - 1.0)).max(LEAST)
    }

    fn numbers(&self) -> Vec<f64> {
        let number = |(level, (_, rows)): (usize, &(f64, f64))| {
            let ratio = self.ratio(level);
            let left = self.spread * (1.0 - self.share(*rows)) / (ratio * ratio);
            2.0 * ratio.ln() + 3.0 * left.ln_1p()
        };
        self.levels.iter().enumerate().map(number).collect()
    }

    fn unseen(&self) -> f64 {
        3.0 * self.spread.ln_1p()
    }
}

/// A level has at least this share of the square root of the size that is expected.
const LEAST: f64 = 0.02;

impl Factors {
    fn of(data: &Data) -> Self {
        let categories = data.categories().iter().enumerate().map(|(nth, category)| {
            // The last one is of missing values.
            let missing = category.levels.len();
            let level = |code: f64| if code.is_nan() { missing } else { code as usize };
            Factor {
                of_rows: data.codes(nth).into_iter().map(level).collect(),
                levels: missing + 1,
            }
        });
        let is_number = |column: &usize| data.categories().iter().all(|own| own.column != *column);
        let columns = if data.columns() > MOST_NUMBERS { 0 } else { data.columns() };
        let numbers = (0..columns).filter(is_number).map(|column| ranges(data, column)).collect();
        Self { categories: categories.collect(), numbers }
    }

    /// All of them, categories first.
    fn all(&self) -> impl Iterator<Item = &Factor> {
        self.categories.iter().chain(&self.numbers)
    }

    /// What some rows say of the sizes of errors.
    fn sizes(&self, data: &Data, rows: &[usize]) -> Found {
        let weight = |row: usize| data.weight().map_or(1.0, |weight| weight[row]);
        let root = |row: usize| data.error()[row].abs().sqrt();
        let total: f64 = rows.iter().map(|&row| weight(row)).sum();
        let base = rows.iter().map(|&row| weight(row) * root(row) / total).sum::<f64>();
        let base = if base > 0.0 { base } else { 1.0 };
        // The root of the size that is expected, of all rows.
        let mut expected = vec![base; data.rows()];
        let none = |factor: &Factor| Ratios {
            levels: vec![(1.0, 0.0); factor.levels],
            of_row: 0.0,
            spread: 0.0,
        };
        let mut ratios: Vec<Ratios> = self.all().map(none).collect();
        let count = self.categories.len();
        for _ in 0..SWEEPS {
            // Numbers first: what they explain is not said of levels.
            let order = (count..ratios.len()).chain(0..count);
            for nth in order {
                let Some(factor) = self.all().nth(nth) else { continue };
                let before: Vec<f64> = (0..factor.levels).map(|l| ratios[nth].ratio(l)).collect();
                let alone = |row: usize| expected[row] / before[factor.of_rows[row]];
                let (found, middle) = ratios_of(factor, rows, weight, |row| root(row) / alone(row));
                let now: Vec<f64> = (0..factor.levels).map(|l| found.ratio(l) * middle).collect();
                for (expected, &level) in expected.iter_mut().zip(&factor.of_rows) {
                    *expected *= now[level] / before[level];
                }
                ratios[nth] = found;
            }
        }
        Found { ratios, root: expected }
    }

    /// What some rows say of the mean error at each level of each category.
    fn means(&self, data: &Data, found: &Found, rows: &[usize]) -> Vec<Vec<f64>> {
        let weight = |row: usize| data.weight().map_or(1.0, |weight| weight[row]);
        let mut means: Vec<Vec<f64>> =
            self.categories.iter().map(|f| vec![0.0; f.levels]).collect();
        for _ in 0..SWEEPS {
            for (nth, factor) in self.categories.iter().enumerate() {
                let left = |row: usize| {
                    clipped(data.error()[row], found.root[row]) - self.mean_of(&means, row)
                        + means[nth][factor.of_rows[row]]
                };
                means[nth] = means_of(factor, rows, weight, left, |row| found.root[row].powi(4));
            }
        }
        means
    }

    /// What the levels of a row add.
    fn mean_of(&self, means: &[Vec<f64>], row: usize) -> f64 {
        self.categories.iter().zip(means).map(|(factor, means)| means[factor.of_rows[row]]).sum()
    }

    /// Whether errors are nearer to the means that others tell than to none, by more than chance.
    fn means_pay(&self, data: &Data, found: &Found, held: &[f64]) -> bool {
        let variance = |row: usize| found.root[row].powi(4);
        let rows = 0..data.rows();
        let weight = |row: usize| data.weight().map_or(1.0, |weight| weight[row]);
        let precision = |row: usize| weight(row) / variance(row);
        let total: f64 = rows.clone().map(precision).sum();
        let error = |row: usize| clipped(data.error()[row], found.root[row]);
        let middle = rows.clone().map(|row| precision(row) * error(row)).sum::<f64>() / total;
        let gain = |row: usize| {
            let left = error(row) - middle;
            precision(row) * (left * left - (left - held[row]).powi(2))
        };
        let gains: Vec<f64> = rows.map(gain).collect();
        let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        gains.len() > 1 && mean > 2.0 * standard_error(&gains, None)
    }
}

/// An error, but no more than a few times what is expected there.
fn clipped(error: f64, root: f64) -> f64 {
    let most = FARTHEST * root * root;
    error.clamp(-most, most)
}

/// A number's ranges of about as many rows each; missing values are the last.
fn ranges(data: &Data, column: usize) -> Factor {
    let values = || data.inputs().iter().skip(column).step_by(data.columns()).copied();
    let mut known: Vec<f64> = values().filter(|x| !x.is_nan()).collect();
    let mut ends: Vec<f64> = Vec::new();
    if !known.is_empty() {
        let at = |nth: usize| nth as f64 / RANGES as f64;
        ends = (1..RANGES).map(|nth| quantile(&mut known, at(nth))).collect();
        ends.dedup();
    }
    let missing = ends.len() + 1;
    let range = |x: f64| if x.is_nan() { missing } else { ends.partition_point(|end| *end < x) };
    Factor { of_rows: values().map(range).collect(), levels: missing + 1 }
}

/// Sums over the rows of each level.
#[derive(Clone, Copy, Default)]
struct Sums {
    weight: f64,
    squares: f64,
    value: f64,
}

/// The ratios of a factor, 1 on average, and that average.
fn ratios_of(
    factor: &Factor,
    rows: &[usize],
    weight: impl Fn(usize) -> f64,
    value: impl Fn(usize) -> f64,
) -> (Ratios, f64) {
    let mut sums = vec![Sums::default(); factor.levels];
    for &row in rows {
        let (own, weight) = (&mut sums[factor.of_rows[row]], weight(row));
        own.weight += weight;
        own.squares += weight * weight;
        own.value += weight * value(row);
    }
    let mean = |sums: &Sums| if sums.weight > 0.0 { sums.value / sums.weight } else { 1.0 };
    // As many rows as would tell as much if all weighed the same.
    let counts = |sums: &Sums| match sums.squares {
        squares if squares > 0.0 => sums.weight * sums.weight / squares,
        _ => 0.0,
    };
    let means: Vec<f64> = sums.iter().map(mean).collect();
    let count: Vec<f64> = sums.iter().map(counts).collect();
    let weights: f64 = sums.iter().map(|sums| sums.weight).sum();
    let within: f64 = (rows.iter())
        .map(|&row| weight(row) * (value(row) - means[factor.of_rows[row]]).powi(2))
        .sum();
    let there = count.iter().filter(|rows| **rows > 0.0).count() as f64;
    let all: f64 = count.iter().sum();
    let of_row = if all > there { within / weights * all / (all - there) } else { f64::INFINITY };
    let middle = count.iter().zip(&means).map(|(n, r)| n * r).sum::<f64>() / all.max(1.0);
    let middle = if middle > 0.0 { middle } else { 1.0 };
    let spread = match of_row.is_finite() {
        true => spread(&count, &means, middle, of_row),
        false => 0.0,
    };
    let levels = count.iter().zip(&means).map(|(n, r)| (r / middle, *n)).collect();
    let unit = middle * middle;
    (Ratios { levels, of_row: of_row / unit, spread: spread / unit }, middle)
}

/// The variance of what levels say beyond that of chance: by moments.
fn spread(count: &[f64], means: &[f64], middle: f64, of_row: f64) -> f64 {
    let all: f64 = count.iter().sum();
    let there = count.iter().filter(|rows| **rows > 0.0).count() as f64;
    let squares: f64 = count.iter().map(|n| n * n).sum();
    let between: f64 = count.iter().zip(means).map(|(n, r)| n * (r - middle).powi(2)).sum();
    let free = all - squares / all;
    if free > 0.0 { ((between - (there - 1.0) * of_row) / free).max(0.0) } else { 0.0 }
}

/// The mean of each level of a factor, less that of all, shrunk; rows count by how precise they are.
fn means_of(
    factor: &Factor,
    rows: &[usize],
    weight: impl Fn(usize) -> f64,
    value: impl Fn(usize) -> f64,
    variance: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut sums = vec![Sums::default(); factor.levels];
    let precision = |row: usize| weight(row) / variance(row).max(f64::MIN_POSITIVE);
    for &row in rows {
        let (own, precision) = (&mut sums[factor.of_rows[row]], precision(row));
        own.weight += precision;
        own.squares += precision * precision;
        own.value += precision * value(row);
    }
    let means: Vec<f64> = sums
        .iter()
        .map(|own| if own.weight > 0.0 { own.value / own.weight } else { 0.0 })
        .collect();
    let total: f64 = sums.iter().map(|own| own.weight).sum();
    let middle = sums.iter().map(|own| own.value).sum::<f64>() / total;
    let there = sums.iter().filter(|own| own.weight > 0.0).count();
    if !(total > 0.0 && total.is_finite() && middle.is_finite()) || rows.len() <= there {
        return vec![0.0; factor.levels];
    }
    let within: f64 = (rows.iter())
        .map(|&row| precision(row) * (value(row) - means[factor.of_rows[row]]).powi(2))
        .sum();
    // The variance of a row in units of what its precision says.
    let unit = within / (rows.len() - there) as f64;
    let count: Vec<f64> = sums.iter().map(|own| own.weight).collect();
    let spread = spread(&count, &means, middle, unit);
    let shrunk = |(count, mean): (&f64, &f64)| match spread > 0.0 && *count > 0.0 {
        true => (mean - middle) * spread / (spread + unit / count),
        false => 0.0,
    };
    count.iter().zip(&means).map(shrunk).collect()
}

/// Why a category is not worth having: it has so many values that hardly any comes again, and those that do tell nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TooMany {
    /// Which of the inputs, counted from 0.
    pub column: usize,
    /// Its values.
    pub levels: usize,
    /// Rows that have one.
    pub rows: usize,
}

impl std::fmt::Display for TooMany {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { levels, rows, .. } = *self;
        match 2 * levels > rows {
            true => write!(f, "{levels} values in {rows} rows look like names of the rows"),
            false => write!(
                f,
                "its {levels} values come {:.1} times each, and rows held out gain nothing by them",
                rows as f64 / levels as f64
            ),
        }
    }
}

/// A category whose levels have fewer rows than this must show what it is worth.
const FEW_ROWS: f64 = 20.0;

/// Fewer levels than this are never too many.
const FEW_LEVELS: usize = 12;

/// The categories that have too many levels to be learned from: of nearly as many as there are rows, or of so many that
/// rows held out gain nothing by what the others say of their levels.
#[must_use]
pub fn too_many(data: &Data, options: &Options) -> Vec<TooMany> {
    let (data, _) = &in_units(data);
    let mut found = Vec::new();
    for nth in 0..data.categories().len() {
        let mut codes: Vec<f64> = data.codes(nth).into_iter().filter(|x| !x.is_nan()).collect();
        let rows = codes.len();
        codes.sort_by(f64::total_cmp);
        codes.dedup();
        let (levels, column) = (codes.len(), data.categories()[nth].column);
        let few = levels < FEW_LEVELS || rows as f64 >= FEW_ROWS * levels as f64;
        if !few && (2 * levels > rows || !tells(data, nth, options)) {
            found.push(TooMany { column, levels, rows });
        }
    }
    found
}

/// Whether rows held out gain by what the others say of their levels: of the size of the error, or of its mean.
fn tells(data: &Data, nth: usize, options: &Options) -> bool {
    let whole = Factors::of(data);
    let alone = Factors { categories: vec![], numbers: whole.numbers };
    let mut categories = whole.categories;
    let own = categories.swap_remove(nth);
    let factors = Factors { categories: vec![own], numbers: alone.numbers };
    let weight = |row: usize| data.weight().map_or(1.0, |weight| weight[row]);
    let order = Order::of(data, options.split, options.seed ^ 0xca7e);
    let (mut size, mut mean) = (Vec::new(), Vec::new());
    for fold in order.parts(FOLDS.min(data.rows())) {
        let found = factors.sizes(data, &fold.others);
        let means = factors.means(data, &found, &fold.others);
        for row in fold.held {
            let ratio = found.ratios[0].ratio(factors.categories[0].of_rows[row]);
            let error = data.error()[row];
            let without = found.root[row] / ratio;
            let root = error.abs().sqrt() / without;
            size.push(weight(row) * ((root - 1.0).powi(2) - (root - ratio).powi(2)));
            let (sigma, error) = (found.root[row].powi(2), clipped(error, found.root[row]));
            let left = error - factors.mean_of(&means, row);
            mean.push(weight(row) * (error * error - left * left) / (sigma * sigma));
        }
    }
    let gains = |gains: &[f64]| {
        let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        gains.len() > 1 && mean > 2.0 * standard_error(gains, None)
    };
    gains(&size) || gains(&mean)
}

impl Fitted {
    /// One that was fitted to encoded data, for rows of codes. `data` holds the codes, and the errors before anything was
    /// taken off.
    pub(super) fn of_categories(
        mut self,
        categories: Categories,
        data: &Data,
        held_out: Option<&HeldOut>,
    ) -> Self {
        if let Some(row) = data.rows().checked_sub(1).map(|_| data.row(0)) {
            self.ranges.stretch(&categories.corners(&categories.encode(row, data.columns())));
        }
        let debiased = self.bias.is_some();
        self.training = Summary::of(&data.whole_error(), data.weight());
        if self.known.is_some() {
            self.known = TrainingRows::of(data, held_out, debiased);
        }
        self.categories = Some(categories);
        self
    }
}
