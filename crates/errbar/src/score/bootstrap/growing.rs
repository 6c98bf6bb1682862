//! Units of rows whose number is not known yet: the same table of sums that [`super::sums`] makes of a sample, filled as
//! the rows come.
//!
//! Independent rows are dealt to the same units as those of a sample that is held. With blocks a unit is a stretch of
//! consecutive rows, which doubles in length each time that there are too many of them.

use std::sync::Arc;

use super::dependence::Dependence;
use super::reliability::Nodes;
use super::replicates::{Subject, replicate};
use super::resample::Plan;
use super::sums::{self, FIXED, UnitSums};
use super::{Intervals, Options};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::score::accumulate::Terms;
use crate::score::block::BLOCK;
use crate::score::calibration::half_width;
use crate::score::eta_counts::{self, bin_of};
use crate::score::one_pass::Coarse;
use crate::score::sample::Sample;
use crate::score::scores::Scores;

/// Units of consecutive rows: from so many to twice as many.
pub(crate) const STRETCHES: usize = 2048;

/// Numbers that are kept of the sizes of errors in a unit.
const SIZES: usize = 3 * Coarse::BINS;

/// How rows become units, decided by the first of them.
#[derive(Debug, Clone)]
pub(crate) struct Dealing {
    options: Options,
    block: usize,
    dependence: Option<Dependence>,
    /// Units that single rows are dealt to.
    units: usize,
    /// For each bin of [`eta_counts`] the node at its end or after.
    node_of: Arc<[u16]>,
    nodes: Arc<[f64]>,
    half_widths: Vec<f64>,
    /// The unit of errors in squares.
    scale: f64,
    coarse: Coarse,
}

/// The sums of each unit over some of the rows, in three tables, as a row adds to a few places of two of them.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    /// Those that every row adds to.
    sums: Vec<f64>,
    /// The weight before each node.
    nodes: Vec<f64>,
    /// Sizes of errors: in each bin the weight, and the weighted sums of size and square.
    sizes: Vec<f64>,
    /// Rows of a unit, where they are consecutive.
    stretch: usize,
}

/// Some consecutive rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The number of the first row.
    pub(crate) first: usize,
    pub(crate) error: &'a [f64],
    pub(crate) sigma: &'a [f64],
    pub(crate) weight: Option<&'a [f64]>,
    /// What the rows have in place of a Gaussian's scores, from the first of them on.
    pub(crate) own: Option<OwnRows<'a>>,
}

/// Errors and scores of rows whose law is no Gaussian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnRows<'a> {
    pub(crate) error: &'a [f64],
    pub(crate) crps: &'a [f64],
    pub(crate) nlpd: &'a [f64],
}

impl Dealing {
    /// Decides by the first rows, of which there are enough for that. Errors beside `plain` are those in the place of a
    /// Gaussian's.
    pub(crate) fn new(
        first: &Sample,
        plain: &[f64],
        levels: &[f64],
        options: &Options,
        (units, every): (usize, usize),
    ) -> Result<Self> {
        options.check()?;
        let (block, dependence) = options.drawn(std::slice::from_ref(first));
        let size = plain.iter().map(|e| e.abs()).filter(|e| e.is_finite());
        let mean = size.clone().map(|e| e / plain.len() as f64).sum::<f64>();
        let largest = size.fold(0.0, f64::max);
        let squares = plain.iter().map(|e| if largest > 0.0 { (e / largest).powi(2) } else { 0.0 });
        let scale = largest * (squares.sum::<f64>() / plain.len() as f64).sqrt();
        let plan = Plan::new(first.len(), 1, options.seed);
        let nodes = nodes_for(first, &plan, every);
        let mut node_of = vec![nodes.len() as u16; eta_counts::BINS];
        for (bin, node) in node_of.iter_mut().enumerate().take(eta_counts::BINS - 1) {
            let end = eta_counts::begin_of(bin + 1);
            *node = nodes.partition_point(|node| *node < end) as u16;
        }
        Ok(Self {
            options: options.clone(),
            block,
            dependence,
            units,
            node_of: node_of.into(),
            nodes: nodes.into(),
            half_widths: levels.iter().map(|&level| half_width(level)).collect(),
            scale: if scale > 0.0 && scale.is_finite() { scale } else { 1.0 },
            coarse: Coarse::around(mean),
        })
    }

    /// Why blocks are drawn, where they are.
    pub(crate) fn dependence(&self) -> Option<Dependence> {
        self.dependence
    }

    /// Whether blocks of rows are drawn, rather than single ones.
    pub(crate) fn in_blocks(&self) -> bool {
        self.block > 1
    }

    /// Sums for each unit that every row adds to.
    fn width(&self) -> usize {
        FIXED + self.half_widths.len()
    }

    pub(crate) fn units(&self) -> Units {
        let units = if self.in_blocks() { 2 * STRETCHES } else { self.units };
        Units {
            sums: vec![0.0; units * self.width()],
            nodes: vec![0.0; units * self.nodes.len()],
            sizes: vec![0.0; units * SIZES],
            stretch: BLOCK,
        }
    }

    /// How many rows fit before stretches must double in length; none where they never do.
    pub(crate) fn room(&self, units: &Units) -> Option<usize> {
        self.in_blocks().then(|| 2 * STRETCHES * units.stretch)
    }

    /// Doubles the length of stretches.
    pub(crate) fn double(&self, units: &mut Units) {
        let widths = [self.width(), self.nodes.len(), SIZES];
        for (table, width) in
            [&mut units.sums, &mut units.nodes, &mut units.sizes].into_iter().zip(widths)
        {
            for unit in 0..STRETCHES {
                for column in 0..width {
                    let at = 2 * unit * width + column;
                    table[unit * width + column] = table[at] + table[at + width];
                }
            }
            table[STRETCHES * width..].fill(0.0);
        }
        units.stretch *= 2;
    }

    /// Adds a block of rows, whose terms are those of a Gaussian.
    pub(crate) fn add(&self, units: &mut Units, block: &Block, terms: &Terms) {
        let (plan, width, nodes) = (self.plan(0), self.width(), self.nodes.len());
        let per_scale = 1.0 / self.scale;
        let (error, sigma) = (block.error, block.sigma);
        let plain = block.own.map_or(error, |own| own.error);
        let crps = block.own.map_or(&terms.crps[..], |own| own.crps);
        let nlpd = block.own.map_or(&terms.nlpd[..], |own| own.nlpd);
        for j in 0..error.len().min(BLOCK) {
            let weight = block.weight.map_or(1.0, |weight| weight[j]);
            // A row without weight does not count even where its terms are infinite.
            if weight == 0.0 {
                continue;
            }
            let unit = match self.in_blocks() {
                true => (block.first + j) / units.stretch,
                false => plan.unit_of(block.first + j),
            };
            let (z, own, size) = (terms.z[j], plain[j], plain[j].abs());
            let mut row = [0.0; FIXED];
            row[sums::WEIGHT] = 1.0;
            row[sums::ERROR] = own;
            row[sums::ABSOLUTE] = size;
            row[sums::SQUARED] = (own * per_scale) * (own * per_scale);
            row[sums::SIGMA] = sigma[j];
            row[sums::Z] = z;
            row[sums::Z_SQUARED] = z * z;
            row[sums::CRPS] = crps[j];
            row[sums::NLPD] = nlpd[j];
            row[sums::ORDERLESS] = terms.orderless[j];
            let (fixed, inside) = units.sums[unit * width..(unit + 1) * width].split_at_mut(FIXED);
            fixed.iter_mut().zip(row).for_each(|(sum, term)| *sum += weight * term);
            for (inside, q) in inside.iter_mut().zip(&self.half_widths) {
                *inside += if error[j].abs() <= q * sigma[j] { weight } else { 0.0 };
            }
            let node = usize::from(self.node_of[bin_of(terms.eta[j])]);
            // Beyond the last node nothing is kept.
            if node < nodes {
                units.nodes[unit * nodes + node] += weight;
            }
            let (bin, scaled) = (self.coarse.bin(size), self.coarse.scaled(size));
            let at = unit * SIZES + 3 * bin;
            if let Some([weights, sum, squares]) = units.sizes[at..].first_chunk_mut() {
                *weights += weight;
                *sum += weight * scaled;
                *squares += weight * (scaled * scaled);
            }
        }
    }

    pub(crate) fn merge(&self, units: &mut Units, other: &Units) {
        let add = |mine: &mut [f64], more: &[f64]| {
            mine.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        add(&mut units.sums, &other.sums);
        add(&mut units.nodes, &other.nodes);
        add(&mut units.sizes, &other.sizes);
    }

    /// The weight inside each central interval.
    pub(crate) fn inside(&self, units: &Units) -> Vec<f64> {
        let inside = |level: usize| {
            let all = units.sums.chunks_exact(self.width()).map(|unit| unit[FIXED + level]);
            all.sum()
        };
        (0..self.half_widths.len()).map(inside).collect()
    }

    /// Single rows are dealt as those of a sample are.
    fn plan(&self, rows: usize) -> Plan {
        Plan::dealt(rows, self.units, self.options.seed)
    }

    /// The intervals of the scores of all rows.
    pub(crate) fn intervals(
        &self,
        units: &Units,
        scores: &Scores,
        monitor: &dyn Monitor,
    ) -> Result<Intervals> {
        let plan = match self.in_blocks() {
            true => Plan::stretches(scores.rows, units.stretch, self.block, self.options.seed),
            false => self.plan(scores.rows),
        };
        let subject = Subject::of_units(
            self.unit_sums(units, &plan, scores),
            Nodes::at(self.nodes.to_vec()),
            scores,
        );
        let replicates = replicate(&plan, &[subject], &self.options, monitor)?;
        let replicates = replicates.into_iter().next().unwrap_or_default();
        let drawn = (self.block, self.dependence);
        Ok(Intervals::from_replicates(scores, &replicates, &plan, &self.options, drawn))
    }

    /// The table as resamples want it: with the CRPS of the best constant sigma, which is known only now, and the weight
    /// up to each node.
    fn unit_sums(&self, units: &Units, plan: &Plan, scores: &Scores) -> UnitSums {
        let (width, nodes) = (self.width(), self.nodes.len());
        let constant = scores.constant;
        let sums = units.sums.chunks_exact(width).take(plan.units);
        let of_constant = |sizes: &[f64]| match constant.sigma > 0.0 {
            true => self.coarse.crps(sizes, constant.sigma),
            false => 0.0,
        };
        // Coarse bins are off by about as much in each unit, and of all of them it is known.
        let found: Vec<f64> = units.sizes.chunks_exact(SIZES).map(of_constant).collect();
        let weight: f64 = sums.clone().map(|unit| unit[sums::WEIGHT]).sum();
        let all: f64 = found.iter().sum();
        let right = if all > 0.0 { constant.crps * (weight / all) } else { 1.0 };
        let unit = |((unit, nodes), found): ((&[f64], &[f64]), &f64)| {
            let mut sums = unit.to_vec();
            sums[sums::CONSTANT] = right * found;
            let mut below = 0.0;
            sums.extend(nodes.iter().map(|weight| {
                below += weight;
                below
            }));
            sums
        };
        let rows = sums.zip(units.nodes.chunks_exact(nodes)).zip(&found).map(unit);
        UnitSums::of_rows(rows, width + nodes, self.half_widths.len(), self.scale)
    }
}

/// Where the distribution of $\eta$ is looked at, at edges of bins: evenly over that of the first rows (one of some of the
/// places that a sample of them would be looked at), and on a grid that
/// serves those after them too, whatever their size.
fn nodes_for(first: &Sample, plan: &Plan, every: usize) -> Vec<f64> {
    // By the size of eta, the steps that are taken from there on, in bins of 1/1024.
    const STEPS: [(usize, usize); 9] = [
        (0, 1),
        (4, 2),
        (8, 4),
        (16, 8),
        (32, 16),
        (128, 64),
        (1024, 128),
        (2560, 256),
        (4096, 512),
    ];
    let mut nodes = vec![];
    let mut at = 0;
    while at <= 4096 {
        nodes.push(at as f64 / 1024.0);
        let step = STEPS.iter().rev().find(|(from, _)| at >= *from);
        at += step.map_or(1, |(_, step)| *step);
    }
    nodes.extend((3..=20).map(|doubling| 2f64.powi(doubling)));
    nodes.extend(nodes.clone().iter().map(|node| -node));
    let quantiles = Nodes::new(first, plan).eta;
    let some = quantiles.iter().step_by(every);
    nodes.extend(some.map(|&eta| eta_counts::begin_of(bin_of(eta).max(1))));
    nodes.sort_unstable_by(f64::total_cmp);
    nodes.dedup_by(|a, b| *a == *b);
    nodes
}
