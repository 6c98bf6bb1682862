//! A part of the rows, and what it answers.

use rayon::prelude::*;

use super::message::{Answer, Ask, Question, Which};
use super::ranks::{self, Cost, Steps, Table};
use super::spread::Spread;
use crate::boosting::{
    self, Bins, Codes, Scale, Size, Slopes, Split, Symmetric, add_slopes, partition, width,
};
use crate::checks::{check_finite, check_length, check_sigma};
use crate::data::rows_with_missing;
use crate::error::{Error, Result};
use crate::score::eta_counts::BINS;
use crate::sigma::refined::Refined;

/// A part of the rows. It holds them, and what fits have made of them so far; see [`rounds`](super).
pub struct Part {
    /// Tells its rows from those of other parts.
    number: u64,
    columns: usize,
    /// Row-major; given up when bins are enough.
    inputs: Vec<f64>,
    /// Errors in units of the sigma that they were given.
    scaled: Vec<f64>,
    weight: Option<Vec<f64>>,
    /// Rows that something was learned from already: none of them says when to stop.
    seen: Vec<bool>,
    /// Rows of the same number, here and in other parts, are held out together.
    together: Option<Vec<u32>>,
    learned: Vec<u32>,
    held: Vec<u32>,
    /// Of all rows, log sigma in units of the one before.
    log: Vec<f64>,
    /// That of rows held out, where they cost least.
    kept: Vec<f64>,
    binned: Option<Binned>,
    /// How large errors are, if somebody will ask.
    sizes: Option<Spread>,
    /// A model whose parameters are to be refined, and the logarithm of the sigma that each row came with.
    model: Option<Box<dyn Refined>>,
    unit: Vec<f64>,
}

/// Rows in bins, and a tree that grows on them.
struct Binned {
    bins: Bins,
    codes: Codes,
    slopes: Slopes,
    /// The rows that learn, leaf after leaf.
    order: Vec<u32>,
    /// Where each leaf ends.
    ends: Vec<usize>,
}

impl Part {
    /// Rows of row-major inputs (NaN where missing) with their errors and a first sigma of each, which errors are
    /// counted in units of; the number of the part, from 0, tells its rows from others.
    ///
    /// # Errors
    /// Lengths that do not fit, no rows, an error that is not finite, or a sigma that is not positive.
    pub fn new(
        number: u64,
        inputs: Vec<f64>,
        columns: usize,
        error: &[f64],
        sigma: &[f64],
    ) -> Result<Self> {
        let rows = rows_with_missing(&inputs, columns)?;
        if rows == 0 {
            return Err(Error::Empty);
        }
        if u32::try_from(rows).is_err() {
            return Err(Error::PartTooLarge { rows });
        }
        check_length("error", error.len(), "inputs", rows)?;
        check_length("sigma", sigma.len(), "inputs", rows)?;
        check_finite("error", error)?;
        check_sigma(sigma)?;
        Ok(Self {
            number,
            columns,
            inputs,
            // Rounded: the last bit, which other units of the observation change, would send trees another way.
            scaled: error.iter().zip(sigma).map(|(e, s)| f64::from((e / s) as f32)).collect(),
            weight: None,
            seen: Vec::new(),
            together: None,
            learned: Vec::new(),
            held: Vec::new(),
            log: vec![0.0; rows],
            kept: Vec::new(),
            binned: None,
            sizes: None,
            model: None,
            unit: Vec::new(),
        })
    }

    /// The same with weights.
    ///
    /// # Errors
    /// A different length, or a weight that is negative or not finite.
    pub fn weighted(self, weight: Vec<f64>) -> Result<Self> {
        check_length("weight", weight.len(), "error", self.scaled.len())?;
        check_finite("weight", &weight)?;
        if let Some(index) = weight.iter().position(|w| *w < 0.0) {
            return Err(Error::NegativeWeight { index, value: weight[index] });
        }
        Ok(Self { weight: Some(weight), ..self })
    }

    /// The same, where the first sigma was learned from some of the rows: none of these says when to stop.
    ///
    /// # Errors
    /// A different length.
    pub fn that_has_seen(self, seen: Vec<bool>) -> Result<Self> {
        check_length("seen", seen.len(), "error", self.scaled.len())?;
        Ok(Self { seen, ..self })
    }

    /// The same, where rows of the same number are held out together, here and in all other parts.
    ///
    /// # Errors
    /// A different length.
    pub fn held_together(self, together: Vec<u32>) -> Result<Self> {
        check_length("together", together.len(), "error", self.scaled.len())?;
        Ok(Self { together: Some(together), ..self })
    }

    /// The same, its inputs known by their bins alone.
    pub(crate) fn in_bins(mut self, bins: &Bins) -> Result<Self> {
        self.bin(bins)?;
        Ok(self)
    }

    /// The same, which can say how large its errors are.
    pub(crate) fn of_sizes(self, sizes: Spread) -> Self {
        Self { sizes: Some(sizes), ..self }
    }

    /// The same, where the parameters of a model of sigma are to be refined. The logarithm of the sigma of each row
    /// comes again, since errors alone are kept in units of it.
    pub(crate) fn of_model(mut self, model: Box<dyn Refined>, unit: Vec<f64>) -> Result<Self> {
        check_length("unit", unit.len(), "error", self.scaled.len())?;
        self.inputs = model.prepared(&self.inputs)?;
        Ok(Self { model: Some(model), unit, ..self })
    }

    /// Which part it is.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.scaled.len()
    }

    /// What it says to a question.
    ///
    /// # Errors
    /// A question that does not fit what was asked before.
    pub fn answer(&mut self, ask: &Ask) -> Result<Answer> {
        let numbers = &ask.numbers;
        match &ask.question {
            Question::Bin { bins } => self.bin(bins),
            Question::Hold { share, seed } => Ok(self.hold(*share, *seed)),
            Question::Count { tree, rate } => self.count(tree.as_ref(), *rate),
            Question::Slopes { learned, held, scale } => {
                let (of_learned, of_held) =
                    numbers.split_at_checked(BINS).ok_or_else(out_of_turn)?;
                self.slopes(
                    (*learned, &Table::of(of_learned)?),
                    (*held, &Table::of(of_held)?),
                    *scale,
                )
            }
            Question::Keep => {
                self.kept = pick(&self.log, &self.held);
                Ok(Answer::default())
            }
            Question::Part { split, left } => self.part(*split, left),
            Question::CountTimes { rows, log } => {
                let (scaled, logs, weight) = self.times(*rows, *log);
                let mut counts = vec![0.0; BINS];
                ranks::count(&scaled, &logs, weight.as_deref(), &mut counts);
                Ok(Answer::counts(counts, self.weight.is_some()))
            }
            Question::SlopeTimes { rows, log, cost } => {
                let (scaled, log, weight) = self.times(*rows, *log);
                let table = &Table::of(numbers)?;
                let (mut slope, mut bend) = (vec![0.0; log.len()], vec![0.0; log.len()]);
                let weight = weight.as_deref();
                let steps = Steps { scaled: &scaled, log: &log, weight, table, cost: *cost };
                let [first, second] = steps.write(&mut slope, &mut bend);
                Ok(Answer { sums: vec![slope.iter().sum(), first, second], ..Answer::default() })
            }
            Question::Sizes => match &self.sizes {
                Some(sizes) => Ok(Answer { whole: sizes.counts(), ..Answer::default() }),
                None => Err(out_of_turn()),
            },
            Question::CountAt => self.count_at(numbers),
            Question::SlopesAt { cost } => {
                let (counts, parameters) =
                    numbers.split_at_checked(BINS).ok_or_else(out_of_turn)?;
                self.slopes_at(parameters, &Table::of(counts)?, *cost)
            }
            Question::LeastAt => {
                let logs = self.logs_at(numbers)?.into_iter();
                let least = logs.zip(&self.unit).map(|(log, unit)| log + unit);
                Ok(Answer { sums: vec![least.fold(f64::INFINITY, f64::min)], ..Answer::default() })
            }
        }
    }

    fn bin(&mut self, bins: &Bins) -> Result<Answer> {
        if let Some(binned) = self.binned.as_mut().filter(|binned| binned.bins == *bins) {
            let whole = binned.codes.tally().counts();
            return Ok(Answer { whole, ..Answer::default() });
        }
        if bins.columns() != self.columns || self.inputs.is_empty() {
            return Err(out_of_turn());
        }
        let codes = bins.encode(&std::mem::take(&mut self.inputs));
        let whole = codes.tally().counts();
        let slopes = Slopes::none(self.rows());
        let (bins, order, ends) = (bins.clone(), Vec::new(), Vec::new());
        self.binned = Some(Binned { bins, codes, slopes, order, ends });
        Ok(Answer { whole, ..Answer::default() })
    }

    fn hold(&mut self, share: f64, seed: u64) -> Answer {
        (self.learned, self.held, self.kept) = (Vec::new(), Vec::new(), Vec::new());
        self.log.fill(0.0);
        for row in 0..self.rows() {
            if self.weight.as_ref().is_some_and(|weight| weight[row] == 0.0) {
                continue;
            }
            let seen = self.seen.get(row).is_some_and(|seen| *seen);
            let is_held = || match &self.together {
                Some(together) => held_together(share, seed, together[row]),
                None => is_held(share, seed, self.number, row as u64),
            };
            let held = !seen && is_held();
            let to = if held { &mut self.held } else { &mut self.learned };
            to.push(row as u32);
        }
        let sums = |rows: &[u32]| {
            let mut sums = [crate::score::block::Sum::default(); 2];
            for &row in rows {
                let weight = self.weight.as_ref().map_or(1.0, |weight| weight[row as usize]);
                sums[0].add(weight);
                sums[1].add(weight * self.scaled[row as usize].abs());
            }
            sums.map(|sum| sum.value())
        };
        let whole = vec![self.learned.len() as i64, self.held.len() as i64];
        let ([a, b], [c, d]) = (sums(&self.learned), sums(&self.held));
        Answer { whole, sums: vec![a, b, c, d] }
    }

    fn count(&mut self, tree: Option<&Symmetric>, rate: f64) -> Result<Answer> {
        let binned = self.binned.as_ref().ok_or_else(out_of_turn)?;
        if let Some(tree) = tree {
            if !tree.fits(&binned.bins) {
                return Err(out_of_turn());
            }
            boosting::add(&binned.bins, tree, &binned.codes, rate, &mut self.log);
        }
        let mut counts = vec![0.0; 2 * BINS];
        for (rows, counts) in [&self.learned, &self.held].into_iter().zip(counts.chunks_mut(BINS)) {
            for rows in rows.chunks(AT_ONCE) {
                let weight = self.weight.as_ref().map(|weight| pick(weight, rows));
                let (scaled, log) = (pick(&self.scaled, rows), pick(&self.log, rows));
                ranks::count(&scaled, &log, weight.as_deref(), counts);
            }
        }
        Ok(Answer::counts(counts, self.weight.is_some()))
    }

    fn slopes(
        &mut self,
        (cost, table): (Cost, &Table),
        (of_held, table_of_held): (Cost, &Table),
        scale: Scale,
    ) -> Result<Answer> {
        let binned = self.binned.as_mut().ok_or_else(out_of_turn)?;
        let mut sums = vec![0.0; 6];
        let mut size = Size::default();
        let (mut slope, mut bend) = (vec![0.0; AT_ONCE], vec![0.0; AT_ONCE]);
        let each =
            [(&self.learned, cost, table, true), (&self.held, of_held, table_of_held, false)];
        for (nth, (rows, cost, table, learns)) in each.into_iter().enumerate() {
            for rows in rows.chunks(AT_ONCE) {
                let weight = self.weight.as_ref().map(|weight| pick(weight, rows));
                let (scaled, log) = (&pick(&self.scaled, rows), &pick(&self.log, rows));
                let (slope, bend) = (&mut slope[..rows.len()], &mut bend[..rows.len()]);
                let steps = Steps { scaled, log, weight: weight.as_deref(), table, cost };
                let [first, second] = steps.write(slope, bend);
                sums[2 * nth] += first;
                sums[2 * nth + 1] += second;
                if learns {
                    size = size.and(Size::of(slope, bend));
                    binned.slopes.set_in(scale, rows, slope, bend);
                }
            }
        }
        (sums[4], sums[5]) = (size.gradients, size.curvatures);
        binned.order.clone_from(&self.learned);
        binned.ends = vec![binned.order.len()];
        let mut whole = vec![size.rows as i64, size.counted as i64];
        whole.extend(binned.histogram(0..binned.order.len()));
        Ok(Answer { whole, sums })
    }

    fn part(&mut self, split: Split, left: &[bool]) -> Result<Answer> {
        let binned = self.binned.as_mut().ok_or_else(out_of_turn)?;
        if left.len() != binned.ends.len() || !split.fits(&binned.bins) {
            return Err(out_of_turn());
        }
        let codes = binned.codes.column(split.column());
        let beyond = split.beyond(&binned.bins);
        let (mut begin, mut whole) = (0, Vec::new());
        let mut sides = (Vec::new(), Vec::new());
        for (end, left) in binned.ends.clone().into_iter().zip(left) {
            let middle = begin + partition(&mut binned.order[begin..end], codes, beyond);
            whole.extend(binned.histogram(if *left { begin..middle } else { middle..end }));
            sides.0.push(begin..middle);
            sides.1.push(middle..end);
            begin = end;
        }
        // First all leaves of those that answer no, then of those that answer yes.
        let order = std::mem::take(&mut binned.order);
        binned.order = Vec::with_capacity(order.len());
        binned.ends.clear();
        for side in sides.0.into_iter().chain(sides.1) {
            binned.order.extend_from_slice(&order[side]);
            binned.ends.push(binned.order.len());
        }
        Ok(Answer { whole, ..Answer::default() })
    }

    /// Log sigma of all rows with these parameters, in units of the sigma they came with.
    fn logs_at(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        let model =
            self.model.as_ref().filter(|model| model.parameters().len() == parameters.len());
        let model = model.ok_or_else(out_of_turn)?;
        let chunks = self.inputs.par_chunks(FEW * self.columns);
        let logs: Vec<Vec<f64>> =
            chunks.map(|inputs| model.log_sigma(parameters, inputs)).collect();
        let logs = logs.into_iter().flatten().zip(&self.unit);
        // Far from any error, where a search may look, too.
        Ok(logs.map(|(log, unit)| (log - unit).clamp(-FAR, FAR)).collect())
    }

    fn count_at(&mut self, parameters: &[f64]) -> Result<Answer> {
        self.log = self.logs_at(parameters)?;
        let mut counts = vec![0.0; BINS];
        for rows in self.learned.chunks(AT_ONCE) {
            let weight = self.weight.as_ref().map(|weight| pick(weight, rows));
            let (scaled, log) = (pick(&self.scaled, rows), pick(&self.log, rows));
            ranks::count(&scaled, &log, weight.as_deref(), &mut counts);
        }
        Ok(Answer::counts(counts, self.weight.is_some()))
    }

    fn slopes_at(&mut self, parameters: &[f64], table: &Table, cost: Cost) -> Result<Answer> {
        let model =
            self.model.as_ref().filter(|model| model.parameters().len() == parameters.len());
        let model = model.ok_or_else(out_of_turn)?;
        let mut slopes = vec![0.0; self.rows()];
        let mut sums = vec![0.0; 2 + parameters.len()];
        let (mut slope, mut bend) = (vec![0.0; AT_ONCE], vec![0.0; AT_ONCE]);
        for rows in self.learned.chunks(AT_ONCE) {
            let weight = self.weight.as_ref().map(|weight| pick(weight, rows));
            let (scaled, log) = (&pick(&self.scaled, rows), &pick(&self.log, rows));
            let (slope, bend) = (&mut slope[..rows.len()], &mut bend[..rows.len()]);
            let steps = Steps { scaled, log, weight: weight.as_deref(), table, cost };
            let [first, second] = steps.write(slope, bend);
            sums[0] += first;
            sums[1] += second;
            rows.iter().zip(slope).for_each(|(&row, slope)| slopes[row as usize] = *slope);
        }
        let chunks = self.inputs.par_chunks(FEW * self.columns);
        let of_chunk =
            |(inputs, slopes): (&[f64], &[f64])| model.gradient(parameters, inputs, slopes);
        let each: Vec<Vec<f64>> = chunks.zip(slopes.par_chunks(FEW)).map(of_chunk).collect();
        for gradient in each {
            sums[2..].iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
        }
        Ok(Answer { sums, ..Answer::default() })
    }

    /// Errors, log sigmas raised by so much, and weights of some rows.
    fn times(&self, rows: Which, log: f64) -> (Vec<f64>, Vec<f64>, Option<Vec<f64>>) {
        let (rows, mut logs) = match rows {
            Which::Learned => (&self.learned, pick(&self.log, &self.learned)),
            Which::Held if self.kept.len() == self.held.len() => (&self.held, self.kept.clone()),
            Which::Held => (&self.held, pick(&self.log, &self.held)),
        };
        logs.iter_mut().for_each(|own| *own += log);
        (pick(&self.scaled, rows), logs, self.weight.as_ref().map(|weight| pick(weight, rows)))
    }
}

impl Binned {
    /// The sums of slopes of some of the rows, column after column.
    fn histogram(&self, rows: std::ops::Range<usize>) -> Vec<i64> {
        fn of<const W: usize>(own: &Binned, rows: std::ops::Range<usize>) -> Vec<i64> {
            let mut sums = vec![[0; W]; own.bins.columns()];
            add_slopes(&own.codes, &own.order[rows], &own.slopes, &mut sums);
            sums.into_flattened()
        }
        match width(self.codes.most()) {
            64 => of::<64>(self, rows),
            128 => of::<128>(self, rows),
            _ => of::<256>(self, rows),
        }
    }
}

/// Rows that are looked at together.
const AT_ONCE: usize = 1 << 14;

/// Rows whose log sigma is found together.
const FEW: usize = 1 << 10;

/// The logarithm of a sigma in units of another is held within this.
const FAR: f64 = 300.0;

fn pick(values: &[f64], rows: &[u32]) -> Vec<f64> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

fn out_of_turn() -> Error {
    Error::BadMessage { reason: "the question does not fit the rows, or comes out of turn".into() }
}

/// Whether a row of a part is among the share that is held out: all are equally likely to be.
pub(crate) fn is_held(share: f64, seed: u64, part: u64, row: u64) -> bool {
    drawn(seed, part, row) < (share * 2f64.powi(64)) as u64
}

/// The same for rows of one number, whatever part they are in.
pub(crate) fn held_together(share: f64, seed: u64, number: u32) -> bool {
    is_held(share, seed, u64::MAX, u64::from(number))
}

/// A number drawn for a row of a part.
pub(crate) fn drawn(seed: u64, part: u64, row: u64) -> u64 {
    // SplitMix64 thrice: what follows from one number to the next is mixed well.
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let step = 0x9e37_79b9_7f4a_7c15_u64;
    let part = mix(mix(seed.wrapping_add(step)).wrapping_add(part.wrapping_mul(step)));
    mix(part.wrapping_add(row.wrapping_mul(step)).wrapping_add(step))
}
