//! How far what a model has learned reaches: sigma where there were hardly any rows.
//!
//! Between and beyond the rows that it was trained on a model says whatever its formula gives. A box
//! around each input does not tell where that is: a few far rows hold it open, and where inputs move
//! together most of it is empty. So some of the training rows are kept as landmarks, in inputs that
//! have been scaled and decorrelated. With $d$ the distance of a row to the [`NEAREST`]-th nearest
//! landmark and $r$ the distance that all but a few of the landmarks have to theirs, the support of
//! the row is $\min(1, r/d)$.
//!
//! The logarithm of sigma is then held within the range that the same model gives to the nearest
//! landmarks (a little wider, by [`SLACK`]), and the range closes on their mean as support runs out:
//!
//! $$m - s(m - \ell + \delta) \le \ln\sigma \le m + s(h - m + \delta)$$
//!
//! with $\ell$, $m$ and $h$ the least, the mean and the greatest log sigma of the nearest landmarks
//! and $s$ the support. And wherever it is, no sigma that depends on inputs exceeds the largest
//! training error, nor falls below what the smallest one that is not zero can tell.

mod nearest;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::nearest::Finder;
use crate::data::{Data, chosen_rows};
use crate::math::cholesky::Cholesky;

/// Landmarks at most: as many neighbours as rows of which hardly any are near would have among all.
const LANDMARKS: usize = 1000;
/// Rows that scales and correlations are taken from.
const LOOK_AT: usize = 5_000;
/// Neighbours that a row is compared with.
pub const NEAREST: usize = 8;
/// The share of landmarks whose distance to their own neighbours counts as usual.
const USUAL: f64 = 0.98;
/// A lower share, which a few far rows have no part in, and by how much what is usual may exceed it:
/// about what the tails of a Gaussian give, with one input and with several.
const COMMON: f64 = 0.9;
const STRETCH_OF_ONE: f64 = 4.0;
const STRETCH: f64 = 1.5;
/// How much the log of sigma may differ from those of the nearest landmarks.
pub const SLACK: f64 = 0.4;
/// Variances count this much beside one: inputs that are as good as equal are not told apart by
/// less than a thirtieth of their spread.
const STIFF: f64 = 1000.0;
/// The least distance that counts as usual, in standard deviations: inputs of a few values repeat.
const LEAST_REACH: f64 = 0.1;
/// With more inputs than this, correlations are left alone.
const DECORRELATED: usize = 60;
/// In standard deviations, as far as any distance need be.
pub const FARTHEST: f64 = 1e6;
/// Distances closer than this to one another, relative, are equal: rounding must not choose neighbours.
pub const TIED: f64 = 1e-9;

/// Where the rows were that a model was trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Support {
    /// The middle of each input.
    middle: Vec<f64>,
    /// One over its standard deviation; 0 for an input that does not count.
    per_deviation: Vec<f64>,
    /// Whether an input was missing in some training row; the middle stands for it then.
    missing: Vec<bool>,
    /// The triangle that decorrelates scaled inputs; empty where they are left as they are.
    triangle: Vec<Vec<f64>>,
    /// The landmarks in decorrelated inputs, one after the other.
    landmarks: Vec<f64>,
    /// The distance that is usual.
    reach: f64,
}

/// What is known about the surroundings of one row.
pub(super) struct Near<'a> {
    pub(super) support: f64,
    /// The nearest landmarks, and those as near as the last of them.
    places: &'a [u32],
    /// The row itself, decorrelated.
    at: &'a [f64],
}

/// Looks up the surroundings of rows.
pub(super) struct Surroundings<'a> {
    support: &'a Support,
    finder: Finder<'a>,
    places: Vec<u32>,
    at: Vec<f64>,
}

impl Support {
    /// Of data's rows, and which of them are the landmarks.
    pub(super) fn of(data: &Data, seed: u64) -> (Self, Vec<usize>) {
        let (rows, columns) = (data.rows(), data.columns());
        let looked_at = chosen_rows(rows, rows.min(LOOK_AT), seed ^ 0x5099);
        let row = |i: usize| &data.inputs()[i * columns..(i + 1) * columns];
        let (mut middle, mut per_deviation) = (vec![0.0; columns], vec![0.0; columns]);
        for column in 0..columns {
            let values = looked_at.iter().map(|&i| row(i)[column]);
            let mut values: Vec<f64> = values.filter(|x| !x.is_nan()).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            if values.is_empty() {
                continue;
            }
            middle[column] = at(0.5);
            per_deviation[column] = match deviation(&values, at(0.01), at(0.99)) {
                deviation if deviation > 0.0 => (1.0 / deviation).min(f64::MAX),
                _ => 0.0,
            };
        }
        let missing: Vec<bool> = (0..columns)
            .map(|c| data.inputs().iter().skip(c).step_by(columns).any(|x| x.is_nan()))
            .collect();
        let mut support = Self {
            middle,
            per_deviation,
            missing,
            triangle: Vec::new(),
            landmarks: Vec::new(),
            reach: 0.0,
        };
        if columns <= DECORRELATED {
            // A few far rows must not decide what goes together.
            let near = looked_at.iter().flat_map(|&i| support.scaled(row(i)));
            let near: Vec<f64> = near.map(|z| z.clamp(-4.0, 4.0)).collect();
            let weights = vec![STIFF / looked_at.len() as f64; looked_at.len()];
            let factor = Cholesky::one_plus_squares(columns, &weights, &near);
            let unit = STIFF.sqrt();
            support.triangle = factor.triangle();
            support.triangle.iter_mut().flatten().for_each(|x| *x /= unit);
        }
        let step = looked_at.len().div_ceil(LANDMARKS).max(1);
        let chosen: Vec<usize> = looked_at.iter().copied().step_by(step).collect();
        support.landmarks = chosen.iter().flat_map(|&i| support.decorrelated(row(i))).collect();
        let mut usual: Vec<f64> = (0..support.len())
            .into_par_iter()
            .map(|own| support.distance(&support.squares(support.landmark(own)), Some(own)))
            .collect();
        usual.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (usual.len() as f64 * share) as usize;
            usual.get(place.min(usual.len().saturating_sub(1))).copied().unwrap_or(0.0)
        };
        // Far rows among the last of them must not stretch what is usual.
        let stretch = if columns == 1 { STRETCH_OF_ONE } else { STRETCH };
        support.reach = at(USUAL).min(stretch * at(COMMON)).max(LEAST_REACH);
        (support, chosen)
    }

    /// The number of landmarks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.landmarks.len() / self.columns().max(1)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.landmarks.is_empty()
    }

    /// The number of input columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.middle.len()
    }

    /// The middle of each input, which stands for a missing value.
    #[must_use]
    pub fn middle(&self) -> &[f64] {
        &self.middle
    }

    /// One over the standard deviation of each input; 0 for one that does not count.
    #[must_use]
    pub fn per_deviation(&self) -> &[f64] {
        &self.per_deviation
    }

    /// Whether each input was missing in some training row: a missing value is no support otherwise.
    #[must_use]
    pub fn missing(&self) -> &[bool] {
        &self.missing
    }

    /// The lower triangle whose inverse decorrelates scaled inputs, row by row up to the diagonal;
    /// empty where they are left as they are.
    #[must_use]
    pub fn triangle(&self) -> &[Vec<f64>] {
        &self.triangle
    }

    /// The landmarks in decorrelated inputs, one after the other.
    #[must_use]
    pub fn landmarks(&self) -> &[f64] {
        &self.landmarks
    }

    /// The distance to the last of the nearest landmarks that is usual.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    fn landmark(&self, place: usize) -> &[f64] {
        &self.landmarks[place * self.columns()..(place + 1) * self.columns()]
    }

    fn scaled<'r>(&'r self, row: &'r [f64]) -> impl Iterator<Item = f64> + 'r {
        let one = |(x, (middle, per)): (&f64, (&f64, &f64))| match x.is_nan() || *per == 0.0 {
            true => 0.0,
            false => ((x - middle) * per).clamp(-FARTHEST, FARTHEST),
        };
        row.iter().zip(self.middle.iter().zip(&self.per_deviation)).map(one)
    }

    fn decorrelated(&self, row: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        self.decorrelate(row, &mut out);
        out
    }

    fn decorrelate(&self, row: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.scaled(row));
        for (i, factor) in self.triangle.iter().enumerate() {
            let known: f64 = factor[..i].iter().zip(&*out).map(|(f, z)| f * z).sum();
            out[i] = (out[i] - known) / factor[i];
        }
    }

    /// The squared distance to each landmark.
    fn squares(&self, at: &[f64]) -> Vec<f64> {
        let columns = self.columns().max(1);
        let square =
            |there: &[f64]| -> f64 { at.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum() };
        self.landmarks.chunks_exact(columns).map(square).collect()
    }

    /// The distance to the last of the nearest landmarks, one of which may be the row itself.
    fn distance(&self, squares: &[f64], own: Option<usize>) -> f64 {
        let mut others: Vec<f64> = squares.to_vec();
        if let Some(own) = own.filter(|_| others.len() > 1) {
            others.swap_remove(own);
        }
        let place = NEAREST.min(others.len()).saturating_sub(1);
        match others.is_empty() {
            true => 0.0,
            false => others.select_nth_unstable_by(place, f64::total_cmp).1.sqrt(),
        }
    }

    /// For rows one after the other, on one thread.
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        let finder = Finder::new(&self.landmarks, self.columns());
        Surroundings { support: self, finder, places: Vec::new(), at: Vec::new() }
    }

    /// Which input takes a row from its neighbours: the one that is farthest from what the others
    /// would have it be.
    pub(super) fn farthest(&self, row: &[f64], near: &Near) -> Option<usize> {
        let unknown = |(x, missing): (&f64, &bool)| x.is_nan() && !missing;
        if let Some(column) = row.iter().zip(&self.missing).position(unknown) {
            return Some(column);
        }
        // With P = (L Lᵀ)⁻¹ the deviation of one input given the others is (P d)ᵢ / √Pᵢᵢ for d = L apart.
        let columns = self.columns();
        // Decorrelated, the row minus the mean of its neighbours.
        let mut deviation = near.at.to_vec();
        let share = 1.0 / near.places.len().max(1) as f64;
        for &place in near.places {
            let there = self.landmark(place as usize);
            deviation.iter_mut().zip(there).for_each(|(at, there)| *at -= share * there);
        }
        let mut own = vec![1.0; columns];
        if !self.triangle.is_empty() {
            let factor = Cholesky::from_triangle(&self.triangle);
            for (column, own) in own.iter_mut().enumerate() {
                let mut unit = vec![0.0; columns];
                unit[column] = 1.0;
                factor.solve_lower(&mut unit);
                *own = unit.iter().map(|x| x * x).sum::<f64>().sqrt();
            }
            // Lᵀ x = apart
            for i in (0..columns).rev() {
                deviation[i] /= self.triangle[i][i];
                let there = deviation[i];
                for (j, factor) in self.triangle[i][..i].iter().enumerate() {
                    deviation[j] -= factor * there;
                }
            }
        }
        let size = |column: usize| (deviation[column] / own[column]).abs();
        (0..columns)
            .filter(|&column| self.per_deviation[column] > 0.0)
            .max_by(|&a, &b| size(a).total_cmp(&size(b)))
    }

    pub(super) fn check(&self, columns: usize) -> std::result::Result<(), &'static str> {
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let lengths = [self.middle.len(), self.per_deviation.len(), self.missing.len()];
        let whole = lengths.iter().all(|length| *length == columns)
            && !self.landmarks.is_empty()
            && self.landmarks.len().is_multiple_of(columns)
            && (self.triangle.is_empty() || self.triangle.len() == columns)
            && self.triangle.iter().enumerate().all(|(i, row)| {
                row.len() == i + 1
                    && finite(row)
                    && row[i] >= 1e-6
                    && row.iter().all(|x| x.abs() <= 1e3)
            });
        let good = finite(&self.middle)
            && self.per_deviation.iter().all(|x| *x >= 0.0 && x.is_finite())
            && self.landmarks.iter().all(|x| x.abs() <= 1e100)
            && self.reach > 0.0
            && self.reach.is_finite();
        match whole && good {
            true => Ok(()),
            false => Err("the landmarks of its training rows do not fit its inputs"),
        }
    }
}

impl Surroundings<'_> {
    pub(super) fn near(&mut self, row: &[f64]) -> Near<'_> {
        let Self { support, finder, places, at } = self;
        support.decorrelate(row, at);
        let distance = finder.nearest(at, places);
        let unknown = row.iter().zip(&support.missing).any(|(x, missing)| x.is_nan() && !missing);
        let support = match unknown {
            true => 0.0,
            false if distance > support.reach => support.reach / distance,
            false => 1.0,
        };
        Near { support, places, at }
    }
}

impl Near<'_> {
    /// Between what log sigma may lie here, after those at the landmarks.
    pub(super) fn range(&self, logs: &[f64]) -> (f64, f64) {
        let near = || self.places.iter().map(|&place| logs[place as usize]);
        let mean = near().sum::<f64>() / self.places.len().max(1) as f64;
        let low = near().fold(f64::INFINITY, f64::min).min(mean);
        let high = near().fold(f64::NEG_INFINITY, f64::max).max(mean);
        let s = self.support;
        (mean - s * (mean - low + SLACK), mean + s * (high - mean + SLACK))
    }
}

/// The standard deviation that the middle of the values speaks of, or that of all where most are the
/// same.
fn deviation(sorted: &[f64], low: f64, high: f64) -> f64 {
    // From the 1st to the 99th hundredth a Gaussian has 4.65 standard deviations.
    let wide = high / 4.65 - low / 4.65;
    if wide > 0.0 {
        return wide;
    }
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let half = 0.5 * most - 0.5 * least;
    if half == 0.0 {
        return 0.0;
    }
    let share = 1.0 / sorted.len() as f64;
    let scaled = |x: &f64| (x - least) / half;
    let mean: f64 = sorted.iter().map(|x| share * scaled(x)).sum();
    let variance: f64 = sorted.iter().map(|x| share * (scaled(x) - mean).powi(2)).sum();
    half * variance.sqrt()
}
