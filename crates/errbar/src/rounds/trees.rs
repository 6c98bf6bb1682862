//! Trees by rounds: counts of scaled errors, then for each tree sums of slopes by bin, one level after another.

use super::message::{Answer, Ask, Question, Which, differently};
use super::ranks::{CONSTANT, Cost};
use super::{Workers, sum_of};
use crate::boosting::{
    Bins, Chooser, Histogram, LeafSums, Limits, Next, Scale, Size, Sketch, Symmetric, Tally, width,
};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::monitor::{Monitor, check};
use crate::score::eta_counts::BINS;
use crate::sigma::constant::least_slope;
use crate::sigma::trees::{Options, Trees};

/// What rounds have learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Learned {
    /// Of the sigma in units of the one that rows came with.
    pub model: Trees,
    /// Rows that it learned from.
    pub rows: u64,
    /// Rows that said when to stop.
    pub held_out: u64,
    /// The cost of rows held out, in units of the sigma before, without trees and with them.
    pub cost: (f64, f64),
}

/// Bins of an input where nothing else is said.
const CUT_INTO: usize = 255;

/// The share of rows that says when to stop.
pub(crate) const HELD: f64 = 0.1;

/// Trees of log sigma in units of the sigma that the rows came with. Where columns are cut into bins is decided by
/// some rows, given as row-major inputs and their number of columns.
///
/// # Errors
/// What the parts refuse, errors that are all zero, or a monitor that asked to stop.
pub fn trees(
    workers: &mut dyn Workers,
    (some, columns): (&[f64], usize),
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Learned> {
    crate::data::rows_with_missing(some, columns)?;
    let bins = Bins::of(some, columns, None, options.bins.unwrap_or(CUT_INTO));
    further(workers, &bins, HELD, options, monitor)
}

/// Trees on bins that are there, with a share of the rows that may say when to stop.
pub(crate) fn further(
    workers: &mut dyn Workers,
    bins: &Bins,
    share: f64,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Learned> {
    match width(bins.most()) {
        64 => boost::<64>(workers, bins, share, options, monitor),
        128 => boost::<128>(workers, bins, share, options, monitor),
        _ => boost::<256>(workers, bins, share, options, monitor),
    }
}

/// Rows, their weight and mean absolute error.
pub(super) struct Rows {
    pub(super) rows: u64,
    pub(super) total: f64,
    pub(super) mean: f64,
}

impl Rows {
    pub(super) fn cost(&self, loss: LossKind) -> Result<Cost> {
        Cost::of(loss, self.rows as usize, self.total, self.mean)
    }
}

/// Holds out a share of the rows that may be: rows that learn, and those that are held out.
pub(super) fn hold(workers: &mut dyn Workers, share: f64, seed: u64) -> Result<(Rows, Rows)> {
    let hold = Ask::of(Question::Hold { share, seed });
    let Answer { whole, sums } = sum_of(workers, &hold)?;
    let (&[learned, held], &[a, b, c, d]) = (&whole[..], &sums[..]) else {
        return Err(differently());
    };
    let rows = |rows: i64, total: f64, sum: f64| Rows {
        rows: rows as u64,
        total,
        mean: if total > 0.0 { sum / total } else { 0.0 },
    };
    Ok((rows(learned, a, b), rows(held, c, d)))
}

fn boost<const W: usize>(
    workers: &mut dyn Workers,
    bins: &Bins,
    share: f64,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Learned> {
    let ask = Ask::of(Question::Bin { bins: bins.clone() });
    let tally = Tally::of_counts(&sum_of(workers, &ask)?.whole, bins.columns());
    let (learned, held) = hold(workers, share, options.seed)?;
    if learned.total <= 0.0 || learned.mean == 0.0 {
        return Err(Error::NoErrors { rows: (learned.rows + held.rows) as usize });
    }
    let judged = held.rows > 0 && held.mean > 0.0;
    let cost_of_held = if judged { held.cost(options.loss)? } else { Cost::default() };
    let cost = learned.cost(options.loss)?;
    let all_rows = (learned.rows + held.rows) as usize;
    let limits = Limits { depth: options.depth(all_rows), prior_rows: options.prior_rows };
    let rate = options.rate(all_rows);

    let mut trees: Vec<Symmetric> = Vec::new();
    let (mut first, mut best, mut best_rounds) = (f64::INFINITY, f64::INFINITY, 0);
    let mut scale = Scale::default();
    loop {
        check(monitor)?;
        let ask = Ask::of(Question::Count { tree: trees.last().cloned(), rate });
        let counts = sum_of(workers, &ask)?.into_counts();
        let slopes = |scale: Scale| Ask {
            question: Question::Slopes { learned: cost, held: cost_of_held, scale },
            numbers: counts.clone(),
        };
        let mut answer = Slopes::read(sum_of(workers, &slopes(scale))?)?;
        if !scale.has_room_for(answer.size) {
            // A little more than is needed now: the slopes of the next trees will mostly fit as well.
            scale = Scale::of(answer.size.and_a_half());
            answer = Slopes::read(sum_of(workers, &slopes(scale))?)?;
        }
        if judged {
            let cost = cost_of_held.value(answer.held);
            if trees.is_empty() {
                first = cost;
            }
            if cost < best {
                (best, best_rounds) = (cost, trees.len());
                sum_of(workers, &Ask::of(Question::Keep))?;
            }
        } else {
            best_rounds = trees.len();
        }
        let done = trees.len();
        monitor.progress(done as f64 / (done as f64 + 200.0));
        if done >= options.rounds || (judged && done >= best_rounds + options.patience) {
            break;
        }
        let chooser = Chooser { bins, tally: &tally, limits, scale };
        trees.push(grow::<W>(workers, &chooser, &answer.histogram)?);
    }
    trees.truncate(best_rounds);
    // On rows it learned from a sigma looks better than it is: rows held out say the level.
    let of = if judged {
        (Which::Held, cost_of_held, held.mean)
    } else {
        (Which::Learned, cost, learned.mean)
    };
    let level = level(workers, of)?;
    let trees = trees.into_iter().map(|tree| tree.times(rate)).collect();
    monitor.progress(1.0);
    Ok(Learned {
        model: Trees::of_steps(bins.clone(), level, trees),
        rows: learned.rows,
        held_out: held.rows,
        cost: (first + shift(cost_of_held), best + shift(cost_of_held)),
    })
}

/// What the cost leaves out: a constant, so that nothing is perfect.
fn shift(cost: Cost) -> f64 {
    -cost.reliability() * CONSTANT
}

/// What parts say of slopes.
struct Slopes {
    size: Size,
    held: [f64; 2],
    histogram: Vec<i64>,
}

impl Slopes {
    fn read(Answer { whole, sums }: Answer) -> Result<Self> {
        let (&[rows, counted, ..], &[_, _, first, second, gradients, curvatures]) =
            (&whole[..], &sums[..])
        else {
            return Err(differently());
        };
        let size = Size { gradients, curvatures, rows: rows as u64, counted: counted as u64 };
        Ok(Self { size, held: [first, second], histogram: whole[2..].to_vec() })
    }
}

/// A tree, whose leaves are summed elsewhere.
fn grow<const W: usize>(
    workers: &mut dyn Workers,
    chooser: &Chooser,
    root: &[i64],
) -> Result<Symmetric> {
    let columns = chooser.bins.columns();
    let histograms = |words: &[i64]| -> Result<Vec<Histogram<W>>> {
        let (words, rest) = words.as_chunks::<W>();
        if !rest.is_empty() || words.is_empty() || words.len() % columns != 0 {
            return Err(differently());
        }
        Ok(words.chunks(columns).map(<[_]>::to_vec).collect())
    };
    let root = histograms(root)?.swap_remove(0);
    let mut sketch = Sketch::new(LeafSums::of(root, &chooser.scale));
    loop {
        let split = match sketch.ask(chooser) {
            Next::Whole(tree) => return Ok(tree),
            Next::Part(split) => split,
        };
        // The side of less curvature has fewer rows, more or less.
        let left: Vec<bool> = (sketch.leaves.iter())
            .map(|leaf| {
                let (left, right) = chooser.sides(leaf, split);
                left.curvature <= right.curvature
            })
            .collect();
        let answer = sum_of(workers, &Ask::of(Question::Part { split, left: left.clone() }))?;
        let of_one = histograms(&answer.whole)?;
        if of_one.len() != left.len() {
            return Err(differently());
        }
        let leaves = std::mem::take(&mut sketch.leaves).into_iter().zip(of_one).zip(left);
        let sides = leaves.map(|((leaf, of_one), left)| leaf.part(of_one, left, &chooser.scale));
        let (no, yes): (Vec<_>, Vec<_>) = sides.unzip();
        sketch.leaves = no.into_iter().chain(yes).collect();
    }
}

/// The logarithm of the factor of least cost.
fn level(workers: &mut dyn Workers, (rows, cost, mean): (Which, Cost, f64)) -> Result<f64> {
    let mut failed = None;
    let mut slope = |log: f64| -> f64 {
        let mut ask = || -> Result<f64> {
            let ask = Ask::of(Question::CountTimes { rows, log });
            let counts = sum_of(workers, &ask)?.into_counts();
            if counts.len() != BINS {
                return Err(differently());
            }
            let question = Question::SlopeTimes { rows, log, cost };
            let sums = sum_of(workers, &Ask { question, numbers: counts })?.sums;
            Ok(sums.first().copied().unwrap_or(f64::NAN))
        };
        match ask() {
            Ok(slope) => slope,
            Err(error) => {
                failed.get_or_insert(error);
                f64::NAN
            }
        }
    };
    let start = mean.ln().clamp(-40.0, 40.0);
    let level = least_slope(&mut slope, start, (start - 40.0, start + 40.0));
    match failed {
        Some(error) => Err(error),
        None => Ok(level),
    }
}
