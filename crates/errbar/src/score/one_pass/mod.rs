//! Rows judged as they come, with memory that does not grow with their number.
//!
//! [`Accumulator`](super::accumulate::Accumulator) sums and counts, and with it what it leaves out. Of all the scores those that
//! need an order of the rows, or all of them at once, are found from bins:
//!
//! | score | from | off by |
//! |---|---|---|
//! | means, coverage, PIT, reliability diagram | sums and counts | rounding |
//! | RS, AR | scaled errors in bins of 1/1024 and, beyond 4, of 1/64 of a doubling | the bound that comes with it, about 6e-8 |
//! | best constant sigma, skill | errors in 256 bins to a doubling, each with its mean and variance | about 1e-8 of it |
//! | loss to miscalibration | scaled errors, weighed by sigma, in such bins | about 1e-7 of CRPS |
//! | spread and skill | sigmas in 1024 bins to a doubling (256 in groups), whose rows stay together | edges that differ by a bin |
//! | largest deviation | transforms at 65,536 levels (18,000 in groups) | 1.5e-5 (5.6e-5) |
//!
//! Intervals come from sums over about two thousand units of rows, as those of larger samples always do
//! ([`bootstrap`](super::bootstrap)): single rows are dealt to the very same units; where errors of neighbours go together, by
//! the first rows, a unit is a stretch of consecutive rows, which doubles in length as they come.
//!
//! Rows are summed in segments of a fixed length, which are shared out to parts whose number is fixed, and these are put
//! together in order: the bits depend neither on threads nor on how the rows were cut into portions.

mod bins;
mod course;
mod part;

use std::ops::Range;

use rayon::prelude::*;

pub(crate) use self::bins::Coarse;
pub use self::course::Course;
pub(crate) use self::course::Stretch;
use self::part::{LEVELS, Part, Rows};
use super::Ar;
use super::accumulate::Merged;
use super::block::BLOCK;
use super::bootstrap::{Block, Dealing, Dependence, Intervals, OwnRows, UNITS};
use super::calibration::{Coverage, PitCounts, ReliabilityDiagram, half_width};
use super::constant::{self, Constant};
use super::decomposition::Decomposition;
use super::judge::Judging;
use super::reliability::{rs_expected, rs_min};
use super::sample::Sample;
use super::scores::Scores;
use super::verdict::Verdict;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows that one part takes at a time.
const SEGMENT: usize = 32 * BLOCK;

/// Parts that may be summed at the same time.
const PARTS: usize = 8;

/// How much is kept of rows: of a whole table, or of one of many groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Table,
    Group,
}

/// Some rows, checked. Errors of a law that is no Gaussian are those in the place of a Gaussian's, and what they really are,
/// with the scores by their law and the width of each central interval, is their own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) sample: &'a Sample<'a>,
    /// As given: portions must share one scale.
    pub(crate) weight: Option<&'a [f64]>,
    pub(crate) own: Option<&'a Own>,
}

/// What rows have whose law is no Gaussian.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    pub(crate) error: Vec<f64>,
    pub(crate) crps: Vec<f64>,
    pub(crate) nlpd: Vec<f64>,
    pub(crate) widths: Vec<Vec<f64>>,
}

/// What is to be said of rows that were judged as they came.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) scores: Scores,
    /// None where none were wanted.
    pub(crate) intervals: Option<Intervals>,
    pub(crate) verdict: Verdict,
    /// The most that RS can differ from that of all rows in order.
    pub(crate) rs_bound: f64,
    pub(crate) dependence: Option<Dependence>,
    /// Of the errors as they are.
    pub(crate) course: Course,
}

/// Judges rows as they come.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    judging: Judging,
    dealing: Option<Dealing>,
    dependence: Option<Dependence>,
    half_widths: Vec<f64>,
    parts: Vec<Part>,
    course: Course,
    /// Segments that were summed.
    segments: usize,
    waiting: Waiting,
}

/// Rows of a segment that is not whole yet.
#[derive(Debug, Clone, Default)]
struct Waiting {
    error: Vec<f64>,
    sigma: Vec<f64>,
    /// Empty where there are none.
    weight: Vec<f64>,
    own: Option<Own>,
}

impl Engine {
    /// Decides by the first rows how all are to be taken, and takes these.
    pub(crate) fn new(
        judging: &Judging,
        first: Chunk,
        size: Size,
        intervals: bool,
    ) -> Result<Self> {
        let levels = &judging.scores.coverage_levels;
        let plain = first.own.map_or(first.sample.error(), |own| &own.error);
        let units = if size == Size::Table { UNITS } else { UNITS / 4 };
        let every = if size == Size::Table { 2 } else { 4 };
        let dealing = Dealing::new(first.sample, plain, levels, &judging.drawing, (units, every))?;
        let dependence = dealing.dependence();
        // The verdict on rows that depend on each other needs intervals all the same.
        let needed = intervals || dealing.in_blocks() || first.own.is_some();
        let dealing = needed.then_some(dealing);
        let sigma = first.sample.sigma();
        let some = &sigma[..sigma.len().min(1024)];
        let middle = some.iter().map(|s| s.ln() / some.len() as f64).sum::<f64>().exp();
        let parts = if size == Size::Table { PARTS } else { 1 };
        let part = || Part::new(dealing.as_ref(), levels.len(), middle, size == Size::Table);
        let mut engine = Self {
            judging: judging.clone(),
            dependence,
            half_widths: levels.iter().map(|&level| half_width(level)).collect(),
            parts: (0..parts).map(|_| part()).collect(),
            dealing,
            course: Course::default(),
            segments: 0,
            waiting: Waiting::default(),
        };
        engine.add(first);
        Ok(engine)
    }

    /// Takes further rows.
    pub(crate) fn add(&mut self, chunk: Chunk) {
        // Not all of them at once, as they are copied.
        const AT_ONCE: usize = 16 * SEGMENT;
        let rows = chunk.sample.len();
        for from in (0..rows).step_by(AT_ONCE) {
            self.waiting.take(chunk, from..rows.min(from + AT_ONCE));
            self.sum_whole_segments();
        }
    }

    fn sum_whole_segments(&mut self) {
        while self.waiting.error.len() >= SEGMENT {
            let mut segments = self.waiting.error.len() / SEGMENT;
            if let Some((dealing, units)) = self.dealing.as_ref().zip(self.parts[0].units.as_ref())
                && let Some(room) = dealing.room(units)
            {
                let room = room / SEGMENT - self.segments;
                if room == 0 {
                    self.double();
                    continue;
                }
                segments = segments.min(room);
            }
            self.sum(segments, SEGMENT);
            self.waiting.drop_first(segments * SEGMENT);
        }
    }

    /// Sums so many segments of this length, each in the part whose turn it is.
    fn sum(&mut self, segments: usize, length: usize) {
        let Self { dealing, half_widths, parts, waiting, .. } = self;
        let (begun, dealing, count) = (self.segments, dealing.as_ref(), parts.len());
        let (half_widths, waiting) = (half_widths.as_slice(), &*waiting);
        let sum = |(place, part): (usize, &mut Part)| -> Vec<(usize, Vec<(usize, Stretch)>)> {
            let first = (count + place - begun % count) % count;
            let mut found = vec![];
            for segment in (first..segments).step_by(count) {
                let mut sums = vec![];
                for from in (segment * length..(segment + 1) * length).step_by(BLOCK) {
                    let to = ((segment + 1) * length).min(from + BLOCK);
                    let number = begun * SEGMENT + from;
                    let rows = waiting.rows(from, to, number);
                    sums.push((to - from, part.add(&rows, dealing, half_widths)));
                }
                found.push((segment, sums));
            }
            found
        };
        let found: Vec<_> = match segments {
            1 => parts.iter_mut().enumerate().map(sum).collect(),
            _ => parts.par_iter_mut().enumerate().map(sum).collect(),
        };
        let mut found: Vec<(usize, Vec<(usize, Stretch)>)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(segment, _)| *segment);
        for (rows, sums) in found.into_iter().flat_map(|(_, sums)| sums) {
            self.course.add(rows, sums);
        }
        self.segments += segments;
    }

    fn double(&mut self) {
        let Some(dealing) = &self.dealing else { return };
        for units in self.parts.iter_mut().filter_map(|part| part.units.as_mut()) {
            dealing.double(units);
        }
    }

    /// What is to be said of all rows.
    ///
    /// # Errors
    /// An option out of its range, no rows that count, or the monitor stopped it.
    pub(crate) fn finish(mut self, intervals: bool, monitor: &dyn Monitor) -> Result<Found> {
        let left = self.waiting.error.len();
        if left > 0 {
            if let Some((dealing, units)) = self.dealing.as_ref().zip(self.parts[0].units.as_ref())
                && dealing.room(units).is_some_and(|room| room / SEGMENT == self.segments)
            {
                self.double();
            }
            self.sum(1, left);
        }
        let mut parts = self.parts.into_iter();
        let Some(mut all) = parts.next() else { return Err(Error::Empty) };
        parts.for_each(|part| all.merge(&part, self.dealing.as_ref()));
        let merged = all.scores.scores_with(&self.judging.scores)?;
        let inside = all.inside(self.dealing.as_ref());
        let gaussian = all.scores(&merged, inside, &self.judging)?;
        let scores = all.by_law(&gaussian, &self.judging);
        let found = match (&self.dealing, &all.units) {
            (Some(dealing), Some(units)) => Some(dealing.intervals(units, &scores, monitor)?),
            _ => None,
        };
        let verdict = Verdict::with(&gaussian, found.as_ref());
        Ok(Found {
            scores,
            intervals: found.filter(|_| intervals),
            verdict,
            rs_bound: merged.rs_bound,
            dependence: self.dependence,
            course: self.course,
        })
    }
}

impl Waiting {
    fn take(&mut self, Chunk { sample, weight, own }: Chunk, rows: Range<usize>) {
        self.error.extend_from_slice(&sample.error()[rows.clone()]);
        self.sigma.extend_from_slice(&sample.sigma()[rows.clone()]);
        self.weight.extend_from_slice(weight.map_or(&[], |weight| &weight[rows.clone()]));
        if let Some(own) = own {
            let mine = self.own.get_or_insert_with(Own::default);
            mine.error.extend_from_slice(&own.error[rows.clone()]);
            mine.crps.extend_from_slice(&own.crps[rows.clone()]);
            mine.nlpd.extend_from_slice(&own.nlpd[rows.clone()]);
            mine.widths.resize(own.widths.len(), vec![]);
            for (mine, more) in mine.widths.iter_mut().zip(&own.widths) {
                mine.extend_from_slice(&more[rows.clone()]);
            }
        }
    }

    /// Rows from one to another, the first of which has this number.
    fn rows(&self, from: usize, to: usize, first: usize) -> Rows<'_> {
        let own = self.own.as_ref().map(|own| OwnRows {
            error: &own.error[from..to],
            crps: &own.crps[from..to],
            nlpd: &own.nlpd[from..to],
        });
        let widths = self
            .own
            .as_ref()
            .map_or(vec![], |own| own.widths.iter().map(|widths| &widths[from..to]).collect());
        let weight = (!self.weight.is_empty()).then(|| &self.weight[from..to]);
        let (error, sigma) = (&self.error[from..to], &self.sigma[from..to]);
        Rows { block: Block { first, error, sigma, weight, own }, widths }
    }

    fn drop_first(&mut self, rows: usize) {
        let columns = [&mut self.error, &mut self.sigma];
        let own = self.own.iter_mut().flat_map(|own| {
            [&mut own.error, &mut own.crps, &mut own.nlpd].into_iter().chain(&mut own.widths)
        });
        for column in columns.into_iter().chain(own) {
            column.drain(..rows);
        }
        if !self.weight.is_empty() {
            self.weight.drain(..rows);
        }
    }
}

impl Part {
    /// All scores, as those of Gaussian errors.
    fn scores(&self, merged: &Merged, inside: Vec<f64>, judging: &Judging) -> Result<Scores> {
        let options = &judging.scores;
        if options.spread_skill_bins == 0 {
            return Err(Error::BadBins {
                what: "spread and skill",
                bins: 0,
                allowed: "at least 1 is needed",
            });
        }
        let total = self.scores.weight();
        let rows = merged.effective_rows;
        let constant = best_constant(&self.errors, merged.mae, total);
        let sigma = self.sigma.value();
        let coverage = |(&level, inside): (&f64, f64)| {
            Coverage::new(level, inside / total, merged.mean_sigma, rows, options.confidence)
        };
        let coverage = options.coverage_levels.iter().zip(inside).map(coverage);
        // CRPS over the mean sigma is the part of RS that knows no order, weighed by sigma.
        let pairs = self.by_sigma.half_mean_difference(sigma);
        let unit = std::f64::consts::SQRT_2 * merged.mean_sigma;
        let potential = (unit * pairs).min(merged.crps);
        let potential = if potential.is_nan() { 0.0 } else { potential };
        let by_sigma = sigma * (sigma / self.sigma_squared.value());
        let uncertainty = self.errors.half_mean_difference(total);
        Ok(Scores {
            rows: merged.rows as usize,
            effective_rows: rows,
            bias: merged.bias,
            mae: merged.mae,
            rmse: merged.rmse,
            mean_sigma: merged.mean_sigma,
            mean_z: self.z.value() / total,
            rms_z: merged.rms_z,
            crps: merged.crps,
            constant,
            crps_skill: constant::skill(merged.crps, constant),
            nlpd: merged.nlpd,
            rs: merged.rs,
            rs_by_chance: rs_expected(rows),
            rs_min: rs_min(self.scores.counted()),
            ar: merged.ar,
            decomposition: Decomposition {
                crps: merged.crps,
                reliability: merged.crps - potential,
                reliability_by_chance: unit * rs_expected(by_sigma),
                potential,
                uncertainty,
                resolution: uncertainty - potential,
            },
            coverage: coverage.collect::<Result<_>>()?,
            pit: merged.pit.clone(),
            diagram: self.diagram(merged, judging, total)?,
            spread_skill: self.sigmas.spread_skill(options.spread_skill_bins, total),
        })
    }

    fn diagram(
        &self,
        merged: &Merged,
        judging: &Judging,
        total: f64,
    ) -> Result<ReliabilityDiagram> {
        if self.levels.is_empty() {
            return Ok(merged.diagram.clone());
        }
        let (mut below, mut largest) = (0.0, 0f64);
        for (k, count) in self.levels.iter().enumerate() {
            below += count;
            largest = largest.max((below / total - (k + 1) as f64 / LEVELS as f64).abs());
        }
        // Fine counts have other edges.
        let fine = merged.diagram.largest_deviation;
        let counts: &PitCounts = self.scores.transforms();
        let (levels, rows) = (judging.scores.diagram_levels, merged.effective_rows);
        let confidence = judging.scores.confidence;
        ReliabilityDiagram::of_counts(counts, levels, rows, confidence, largest.max(fine))
    }

    /// The scores by the law of the errors, where that is no Gaussian.
    fn by_law(&self, gaussian: &Scores, judging: &Judging) -> Scores {
        let Some(plain) = &self.plain else { return gaussian.clone() };
        let total = self.scores.weight();
        let mean = |sum: &super::block::Sum| sum.value() / total;
        let (bias, mae, crps) = (mean(&plain.error), mean(&plain.absolute), mean(&plain.crps));
        let sizes = plain.sizes.spread_skill(1, total);
        let rmse = sizes.first().map_or(0.0, |all| all.skill);
        let constant = best_constant(&plain.errors, mae, total);
        // Beta is that of the Gaussian, which depends on the errors alone.
        let beta = judging.scores.beta.value(mae, self.scores.counted());
        let beta = beta.unwrap_or(gaussian.ar.beta);
        let mut scores = Scores {
            bias,
            mae,
            rmse,
            crps,
            nlpd: mean(&plain.nlpd),
            crps_skill: constant::skill(crps, constant),
            constant,
            ar: Ar::of(beta, crps, gaussian.rs),
            ..gaussian.clone()
        };
        for (coverage, width) in scores.coverage.iter_mut().zip(&plain.widths) {
            coverage.mean_width = mean(width);
        }
        scores
    }
}

/// [`constant::best_constant`] of errors in bins.
fn best_constant(errors: &bins::ErrorBins, mae: f64, total: f64) -> Constant {
    let (zero, least, largest) = errors.extremes(total);
    if mae == 0.0 || zero >= std::f64::consts::FRAC_1_SQRT_2 {
        return Constant { sigma: 0.0, crps: mae };
    }
    let sigma = constant::solve(mae, (least, largest), |s| errors.mean_exponential(s, total));
    Constant { sigma, crps: errors.mean_crps(sigma, total) }
}
