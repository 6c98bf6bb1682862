//! log sigma(x) as the sum of many small trees.
//!
//! Trees find jumps, do not care how an input is scaled, and leave out inputs that say nothing: they
//! suit tables with many columns. Each tree is one step of Newton's kind for the cost, as a function
//! that is constant on boxes of inputs ("gradient boosting"). The bags are trained beside each other,
//! each without another part of the rows; those rows say when to stop, and the bags are averaged.

mod boost;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::boost::{Boosted, Part, Said, TrainingSet};
use super::scaling::{in_own_scale, local_in_scale};
pub use crate::boosting::NodeView;
use crate::boosting::{self, Bins, Symmetric, Tree};
use crate::data::{Data, Split, rows_with_missing};
use crate::error::Result;
use crate::folds::{Fold, Order};
use crate::loss::LossKind;
use crate::monitor::{Monitor, Silent};

/// How to fit trees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The loss.
    pub loss: LossKind,
    /// Bags, each with trees of its own and another part of the rows held out. One bag learns from
    /// all rows and makes as many rounds as it may. `None`: ten, and five for more than 10,000 rows.
    pub bags: Option<usize>,
    /// Rounds at most: trees of each bag.
    pub rounds: usize,
    /// Rounds without progress on the rows held out before stopping.
    pub patience: usize,
    /// The part of each step that is made. `None`: a fifth, and a tenth for more than 10,000 rows.
    pub rate: Option<f64>,
    /// Questions of a tree. `None`: four, and six for more than 5,000 rows.
    pub depth: Option<usize>,
    /// Every leaf counts as if so many rows more wanted no step.
    pub prior_rows: f64,
    /// The most bins of an input, up to 255, each with about as many rows. `None`: 63, which from 10,000 rows on are
    /// narrow where a first look finds most.
    pub bins: Option<usize>,
    /// How rows are held out.
    pub split: Split,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            loss: LossKind::default(),
            bags: None,
            rounds: 3000,
            patience: 30,
            rate: None,
            depth: None,
            prior_rows: 3.0,
            bins: None,
            split: Split::Random,
            seed: 0,
        }
    }
}

impl Options {
    fn bags(&self, rows: usize) -> usize {
        self.bags.unwrap_or(if rows > 10_000 { 5 } else { 10 }).clamp(1, rows)
    }

    pub(crate) fn depth(&self, rows: usize) -> usize {
        self.depth.unwrap_or(if rows > 5_000 { 6 } else { 4 })
    }

    pub(crate) fn rate(&self, rows: usize) -> f64 {
        self.rate.unwrap_or(if rows > 10_000 { 0.1 } else { 0.2 })
    }
}

/// Fitted trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trees {
    bins: Bins,
    /// log sigma is this plus the steps of all trees.
    level: f64,
    /// Sigma is its exponential times this.
    unit: f64,
    /// The bags the trees come from; nothing in prediction depends on it.
    bags: usize,
    /// Of earlier versions, whose trees were free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trees: Vec<Tree>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    symmetric: Vec<Symmetric>,
}

/// Fits trees of the inputs (row-major) to the sizes of the errors.
///
/// ```
/// use errbar::sigma::trees;
///
/// // Errors of size 1 up to x = 0.5, of size 3 beyond.
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// let size = |x: f64| if x < 0.5 { 1.0 } else { 3.0 };
/// let error: Vec<f64> = x.iter().enumerate().map(|(i, &x)| size(x) * (i as f64 * 2.4).sin()).collect();
/// let trees = trees::fit(&x, 1, &error, &trees::Options::default())?;
/// let sigma = trees.predict(&[0.45, 0.55])?;
/// assert!(sigma[1] > 2.0 * sigma[0]);
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// Inputs or errors that are empty, of different lengths or not finite; errors that are all zero.
pub fn fit(inputs: &[f64], columns: usize, error: &[f64], options: &Options) -> Result<Trees> {
    fit_to(&Data::new(inputs, columns, error)?, options, &Silent)
}

/// [`fit`] to data that may have weights, watched by a monitor.
///
/// # Errors
/// Errors that are all zero, or a monitor that asked to stop.
pub fn fit_to(data: &Data, options: &Options, monitor: &dyn Monitor) -> Result<Trees> {
    let picked = counted(data);
    let data = picked.as_ref().unwrap_or(data);
    let order = Order::of(data, options.split, options.seed);
    let rows = data.rows();
    let bags = options.bags(rows);
    let part = |i: usize| {
        // One bag has all rows to learn from, and none to be judged by.
        let (start, end) =
            if bags == 1 { (0, 0) } else { (i * rows / bags, (i + 1) * rows / bags) };
        let Fold { held, others } = order.held(start, end);
        Folded { held, others, unit: data.unit().map(Cow::Borrowed) }
    };
    let parts: Vec<Folded> = (0..bags).map(part).collect();
    Ok(boosted(data, &parts, false, options, monitor)?.whole)
}

/// Without rows that do not count, if there are some.
fn counted(data: &Data) -> Option<Data<'static>> {
    let counts = |&row: &usize| data.weight().is_none_or(|weight| weight[row] > 0.0);
    let counted: Vec<usize> = (0..data.rows()).filter(counts).collect();
    (counted.len() < data.rows()).then(|| data.pick(&counted))
}

/// Rows held out, others to learn from, and the unit of every row of the data there, if rows have their own.
pub(crate) struct Folded<'a> {
    pub(crate) held: Vec<usize>,
    pub(crate) others: Vec<usize>,
    pub(crate) unit: Option<Cow<'a, [f64]>>,
}

/// Trees of several parts of the rows.
pub(crate) struct Parts {
    /// Those of each part alone, where they are judged apart.
    pub(crate) each: Vec<Trees>,
    /// All of them, averaged.
    pub(crate) whole: Trees,
}

/// Trees of each part of some data, all of whose rows count; the rows held out of all parts together say how many,
/// and for trees of one part that are judged `apart` those held out of the others.
pub(crate) fn boosted(
    data: &Data,
    parts: &[Folded],
    apart: bool,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Parts> {
    let (error, unit) = in_own_scale(data.error(), data.weight());
    let mut weight = data.weight().map(<[f64]>::to_vec);
    if let Some(weight) = &mut weight {
        // Only ratios of weights matter: of mean one they count as rows do.
        let largest = weight.iter().copied().fold(0.0, f64::max);
        let mean = weight.iter().map(|w| w / largest / error.len() as f64).sum::<f64>();
        weight.iter_mut().for_each(|w| *w = *w / largest / mean);
    }
    let short = |rows: &[usize]| rows.iter().map(|&row| row as u32).collect();
    let in_scale = |own: &[f64]| Cow::Owned(local_in_scale(own, unit));
    let part = |part: &Folded| Part {
        training: short(&part.others),
        held: short(&part.held),
        unit: part.unit.as_deref().map(in_scale),
    };
    let parts: Vec<Part> = parts.iter().map(part).collect();
    let bins = match options.bins {
        None if data.rows() >= LOOK_FROM => look(data, options)?.finer_bins(data, BINS),
        most => Bins::of(data.inputs(), data.columns(), weight.as_deref(), most.unwrap_or(BINS)),
    };
    let codes = bins.encode(data.inputs());
    let rows = TrainingSet { bins: &bins, codes: &codes, error: &error, weight: weight.as_deref() };
    let Boosted { trees, together, apart } = rows.boost(&parts, apart, options, monitor)?;
    let of = |bags: usize, level: f64, symmetric: Vec<Symmetric>| Trees {
        bins: bins.clone(),
        level,
        unit,
        bags,
        trees: Vec::new(),
        symmetric,
    };
    let share = 1.0 / trees.len() as f64;
    let first = |trees: &[Symmetric], rounds: usize, share: f64| {
        trees[..rounds].iter().map(|tree| tree.clone().times(share)).collect::<Vec<_>>()
    };
    let whole = trees.iter().flat_map(|trees| first(trees, together.rounds, share)).collect();
    let alone =
        |(trees, said): (&Vec<Symmetric>, &Said)| of(1, said.level, first(trees, said.rounds, 1.0));
    Ok(Parts {
        whole: of(trees.len(), together.level, whole),
        each: trees.iter().zip(&apart).map(alone).collect(),
    })
}

/// A first look at which values matter.
pub(crate) fn look(data: &Data, options: &Options) -> Result<Trees> {
    let rows = data.rows();
    let some: Vec<usize> = (0..rows).step_by(rows.div_ceil(LOOK_AT)).collect();
    let own = Options {
        bags: Some(1),
        rounds: LOOKS,
        bins: Some(LOOK_BINS),
        rate: Some(0.2),
        ..*options
    };
    fit_to(&data.pick(&some), &own, &Silent)
}

/// Bins of an input; from so many rows on they are narrow where a first look finds most.
const BINS: usize = 63;
const LOOK_FROM: usize = 10_000;

/// Rows that are looked at, trees, and bins for it.
const LOOK_AT: usize = 50_000;
const LOOKS: usize = 60;
const LOOK_BINS: usize = 255;

impl Trees {
    /// Of trees whose steps are made whole.
    pub(crate) fn of_steps(bins: Bins, level: f64, symmetric: Vec<Symmetric>) -> Self {
        Self { bins, level, unit: 1.0, bags: 1, trees: Vec::new(), symmetric }
    }

    /// The same, every log sigma multiplied.
    pub(crate) fn times(self, share: f64) -> Self {
        let symmetric = self.symmetric.into_iter().map(|tree| tree.times(share)).collect();
        debug_assert!(self.trees.is_empty(), "no fit makes free trees");
        Self { level: self.level * share, unit: self.unit.powf(share), symmetric, ..self }
    }

    /// Bins of the same inputs that are narrow where these trees asked for much.
    pub(crate) fn finer_bins(&self, data: &Data, most: usize) -> Bins {
        let cuts = |column: usize| vec![0.0; self.bins.count(column) - 1];
        let mut told: Vec<Vec<f64>> = (0..self.columns()).map(cuts).collect();
        self.symmetric.iter().for_each(|tree| tree.add_told(&mut told));
        self.bins.finer(&told, data.inputs(), data.weight(), most)
    }

    /// How many trees each bag has.
    pub(crate) fn rounds(&self) -> usize {
        (self.trees.len() + self.symmetric.len()) / self.bags.max(1)
    }

    /// The same trees on the level of others.
    pub(crate) fn with_level_of(self, other: &Self) -> Self {
        Self { level: other.level, ..self }
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.bins.columns()
    }

    /// Whether it has trees that split all rows of a level alike, which earlier versions cannot read.
    pub(crate) fn has_symmetric(&self) -> bool {
        !self.symmetric.is_empty()
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn explain(&self) -> String {
        let inputs = self.columns();
        let mut used = vec![false; inputs];
        let symmetric = self.symmetric.iter().flat_map(Symmetric::columns);
        let columns = self.trees.iter().flat_map(Tree::columns).chain(symmetric);
        columns.for_each(|column| used[column] = true);
        let used = used.iter().filter(|used| **used).count();
        if used == 0 {
            return String::from("one sigma for all rows: no tree did better");
        }
        let rounds = self.rounds();
        let averaged = match self.bags {
            1 => String::new(),
            bags => format!(" averaged over {bags} bags,"),
        };
        format!(
            "log sigma is the sum of {rounds} small trees,{averaged} which use {used} of {inputs} \
             inputs"
        )
    }

    pub(in crate::sigma) fn check(&self) -> std::result::Result<(), &'static str> {
        self.bins.check()?;
        let fit = self.symmetric.iter().all(|tree| tree.fits(&self.bins));
        if !(fit && self.trees.iter().all(|tree| tree.fits(&self.bins))) {
            return Err("a tree does not fit its inputs, or a step is not finite");
        }
        // No sum of steps may overflow, or two that have would make NaN.
        let largest = self.symmetric.iter().map(Symmetric::largest).sum::<f64>();
        let reach = self.level.abs() + largest + self.trees.iter().map(Tree::largest).sum::<f64>();
        match reach.is_finite() && self.unit > 0.0 && self.unit.is_finite() {
            true => Ok(()),
            false => Err("its level is not finite, or its unit not positive"),
        }
    }

    /// Sigma for each row. A value that is missing (NaN) goes where missing values went in training;
    /// beyond the range of the training rows inputs count as its ends.
    ///
    /// # Errors
    /// Another number of columns, or an infinite value.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.columns();
        rows_with_missing(inputs, columns)?;
        let sums = boosting::sums(&self.bins, &self.trees, &self.symmetric, inputs);
        let sigma = |sum: f64| {
            let sigma = (self.level + sum).exp() * self.unit;
            sigma.clamp(f64::MIN_POSITIVE, f64::MAX)
        };
        Ok(sums.into_iter().map(sigma).collect())
    }
}

/// What they are made of, for those who write them in another form.
impl Trees {
    /// The nodes of each tree, its root first.
    #[must_use]
    pub fn trees(&self) -> Vec<Vec<NodeView>> {
        let symmetric = self.symmetric.iter().map(|tree| tree.parts(&self.bins));
        symmetric.chain(self.trees.iter().map(|tree| tree.parts(&self.bins))).collect()
    }

    /// log sigma is this plus the steps of all trees.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Sigma is the exponential times this.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }
}
