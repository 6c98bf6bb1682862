//! What comes round in the calendar, as inputs where later rows gain by it.
//!
//! Trees of earlier rows are tried with and without each cycle, as they are in
//! [`carried_over`](super::carried_over), with and without a bias taken off before. Rows later than those they learn
//! from judge: a cycle that does not come round again, or that other inputs tell already, gains nothing there.

use super::debias::Worth;
use super::lesson::Lesson;
use super::{Kind, LEAST_ROWS, Options, categories, guarantee};
use crate::cycles::Cycle;
use crate::data::{Data, chosen_rows};
use crate::diagnose::{standard_error, standard_error_of_batches};
use crate::error::Result;
use crate::folds::Order;
use crate::mean::bias;
use crate::monitor::{Monitor, check};
use crate::score::{Sample, crps};

/// In time, parts of the rows, and the first that is judged by all before it.
const PARTS: usize = 5;
const FIRST_JUDGED: usize = 3;
/// Rows that each trial learns from at least, and at most.
const LEAST: usize = 200;
const MOST: usize = 5_000;
/// Rows of a part that judge at most.
const JUDGES: usize = 10_000;
/// Weather lasts for weeks: with so few batches each is long.
const LONG_BATCHES: usize = 12;

/// Cycles that lower the CRPS of later rows, of those that data in time have as inputs beside others, and what they are
/// worth together. `time` is that of each row; `moves` says whether forecasts may be moved by their bias.
pub(crate) fn judged(
    data: &Data,
    time: &[f64],
    moves: bool,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<(Vec<Cycle>, Option<Worth>)> {
    let nothing = (Vec::new(), None);
    let options = options.on(data);
    let encoded = data.is_coded().then(|| categories::encode(data, &options, false).data);
    let data = encoded.as_ref().unwrap_or(data);
    let is_one_sigma = options.kind == Kind::Constant && !moves;
    if data.cycles().is_empty() || options.validation == 0.0 || is_one_sigma {
        return Ok(nothing);
    }
    // Rows that a guarantee is read off choose nothing.
    let rows = guarantee::training(data, &options);
    let time: Vec<f64> = rows.iter().map(|&row| time[row]).collect();
    let learned = &time[..FIRST_JUDGED * rows.len() / PARTS];
    let cycles = data.cycles().iter().map(|(_, cycle)| *cycle);
    let told: Vec<Cycle> = cycles.filter(|cycle| cycle.is_told(&time, learned)).collect();
    if told.is_empty() {
        return Ok(nothing);
    }
    let turns = Turns::of(&data.pick(&rows), &options);
    if turns.earlier.is_empty() {
        return Ok(nothing);
    }
    let trial = Options { most_rows: MOST, local_units: false, ..options };
    let try_with = |taken: &[Cycle]| turns.crps(taken, moves, &trial, monitor);
    let first = try_with(&[])?;
    let (mut now, mut taken): (Vec<f64>, Vec<Cycle>) = (first.clone(), Vec::new());
    while taken.len() < told.len() {
        let mut best: Option<(Worth, Vec<f64>, Cycle)> = None;
        for &cycle in told.iter().filter(|cycle| !taken.contains(cycle)) {
            let then = try_with(&[&taken[..], &[cycle]].concat())?;
            let Some(worth) = turns.worth(&now, &then) else { continue };
            if best.as_ref().is_none_or(|(known, ..)| worth.gain > known.gain) {
                best = Some((worth, then, cycle));
            }
        }
        let Some((_, then, cycle)) = best.filter(|(worth, ..)| worth.pays()) else { break };
        now = then;
        taken.push(cycle);
    }
    taken.sort_unstable();
    let worth = turns.worth(&first, &now).filter(|_| !taken.is_empty());
    Ok((taken, worth))
}

/// Rows to learn from, each time with the rows after them.
struct Turns {
    earlier: Vec<Data<'static>>,
    held: Vec<Data<'static>>,
    weight: Option<Vec<f64>>,
}

impl Turns {
    fn of(data: &Data, options: &Options) -> Self {
        let order = Order::of(data, options.split, options.seed);
        let end = |part: usize| order.end(part * data.rows() / PARTS);
        let mut turns = Self { earlier: Vec::new(), held: Vec::new(), weight: None };
        // Any of them: every so many might be of the same hour.
        let some = |from: usize, to: usize, most: usize| {
            let chosen = chosen_rows(to - from, most.min(to - from), options.seed);
            data.pick(&chosen.into_iter().map(|row| from + row).collect::<Vec<usize>>())
        };
        for part in FIRST_JUDGED..PARTS {
            let (from, to) = (end(part), end(part + 1));
            let earlier = some(0, from, MOST);
            let is_told = earlier.error().iter().any(|error| *error != 0.0);
            if from < LEAST || to - from < LEAST_ROWS || !is_told {
                continue;
            }
            turns.earlier.push(earlier);
            turns.held.push(some(from, to, JUDGES));
        }
        let weights: Option<Vec<&[f64]>> = turns.held.iter().map(Data::weight).collect();
        turns.weight = weights.map(|weights| weights.concat());
        turns
    }

    /// The CRPS of each later row, with these cycles.
    fn crps(
        &self,
        taken: &[Cycle],
        moves: bool,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> Result<Vec<f64>> {
        let each = |moves: bool| -> Result<Vec<f64>> {
            let mut out = Vec::new();
            for (earlier, held) in self.earlier.iter().zip(&self.held) {
                check(monitor)?;
                out.extend(one(&with(earlier, taken), held, moves, options, monitor)?);
            }
            Ok(out)
        };
        let still = each(false)?;
        let moved = if moves { Some(each(true)?) } else { None };
        // A bias that does not carry over is not taken off.
        Ok(moved.filter(|moved| self.mean(moved) < self.mean(&still)).unwrap_or(still))
    }

    fn mean(&self, values: &[f64]) -> f64 {
        let weight = |row: usize| self.weight.as_ref().map_or(1.0, |weight| weight[row]);
        let (sum, all) = values.iter().enumerate().fold((0.0, 0.0), |(sum, all), (row, value)| {
            (sum + weight(row) * value, all + weight(row))
        });
        sum / all
    }

    /// The share by which the mean falls.
    fn worth(&self, before: &[f64], after: &[f64]) -> Option<Worth> {
        let gain: Vec<f64> =
            before.iter().zip(after).map(|(before, after)| before - after).collect();
        let weight = self.weight.as_deref();
        let noise = standard_error(&gain, weight);
        let noise = noise.max(standard_error_of_batches(&gain, weight, LONG_BATCHES));
        let whole = self.mean(before);
        (whole > 0.0).then(|| Worth::new(self.mean(&gain) / whole, noise / whole))
    }
}

/// The same data of which all other cycles say nothing.
fn with(data: &Data, taken: &[Cycle]) -> Data<'static> {
    let mut counts = vec![true; data.columns()];
    for (first, _) in data.cycles().iter().filter(|(_, cycle)| !taken.contains(cycle)) {
        counts[*first..first + 2].fill(false);
    }
    data.with_inputs(&counts)
}

/// The CRPS of each of some rows by trees of others, around the forecast or where its bias moves it.
fn one(
    earlier: &Data,
    held: &Data,
    moves: bool,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>> {
    let (mut error, mut left) = (held.error().to_vec(), None);
    if moves {
        let learned = bias::fit(earlier, options.split, options.seed, monitor)?;
        error = bias::without(&error, &learned.bias.predict(held.inputs())?);
        let own = bias::without(earlier.error(), &learned.held_out);
        left = Some(earlier.clone().with_error(own));
    }
    let earlier = left.as_ref().unwrap_or(earlier);
    let kind = if options.kind == Kind::Constant { Kind::Constant } else { Kind::Trees };
    let lesson = Lesson::new(earlier, &[kind], options, monitor)?;
    let model = lesson.hold(lesson.model(kind, None, options, monitor)?.0)?;
    let sigma = model.predict(held.inputs())?;
    Ok(crps::each(&Sample::new(&error, &sigma)?))
}
