//! The nearest landmarks of many rows, fast.
//!
//! Distances to all landmarks are computed in single precision, side by side. They say which few landmarks can
//! be among the nearest at all; those are then compared in double precision, so that the answer is exact.

use super::{NEAREST, TIED};
use crate::math::{Arithmetic, Kernel, dispatch};

/// Landmarks side by side; the least of each lane is known.
const LANES: usize = 32;
type Lanes = [f32; LANES];

/// Landmarks laid out for search.
pub(super) struct Finder<'a> {
    landmarks: &'a [f64],
    columns: usize,
    count: usize,
    /// For each group of landmarks its columns; what is over in the last group is infinitely far.
    groups: Vec<Lanes>,
    /// The largest coordinate of any landmark.
    largest: f64,
    /// Of the row that is asked for, to each landmark.
    squares: Vec<Lanes>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(landmarks: &'a [f64], columns: usize) -> Self {
        let count = landmarks.len() / columns.max(1);
        let groups = count.div_ceil(LANES);
        let mut lanes = vec![[f32::INFINITY; LANES]; groups * columns];
        for (place, landmark) in landmarks.chunks_exact(columns.max(1)).enumerate() {
            for (column, x) in landmark.iter().enumerate() {
                lanes[place / LANES * columns + column][place % LANES] = *x as f32;
            }
        }
        Self {
            landmarks,
            columns,
            count,
            groups: lanes,
            largest: landmarks.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
            squares: vec![[0.0; LANES]; groups],
        }
    }

    /// The distance to the last of the nearest landmarks, and the places of those, and of others just as near,
    /// in order.
    pub(super) fn nearest(&mut self, at: &[f64], places: &mut Vec<u32>) -> f64 {
        places.clear();
        let wanted = NEAREST.min(self.count);
        if wanted == 0 {
            return 0.0;
        }
        let single: Vec<f32> = at.iter().map(|x| *x as f32).collect();
        let Self { groups, squares, columns, .. } = self;
        let mut least = dispatch(Squares { at: &single, groups, columns: *columns, squares });
        // Every lane has one as near as its least: the last wanted of these cannot be nearer than the last of all.
        let bound = f64::from(*least.select_nth_unstable_by(wanted - 1, f32::total_cmp).1);
        // What single precision may be off by.
        let size = at.iter().fold(self.largest, |most, x| most.max(x.abs()));
        let off = 4e-7 * size * (self.columns as f64).sqrt();
        let bound = (bound.sqrt() * (1.0 + 1e-5) + off).powi(2);
        match bound.is_finite() {
            true => {
                let bound = bound as f32 * (1.0 + 1e-6);
                dispatch(Within { squares: &self.squares, bound, places });
            }
            false => places.extend(0..self.count as u32),
        }
        let square = |place: &u32| -> f64 {
            let there = &self.landmarks[*place as usize * self.columns..][..self.columns];
            at.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let exact: Vec<f64> = places.iter().map(square).collect();
        let mut sorted = exact.clone();
        let last = sorted.select_nth_unstable_by(wanted - 1, f64::total_cmp).1.sqrt();
        let limit = last * last * (1.0 + TIED);
        let mut exact = exact.into_iter();
        places.retain(|_| exact.next().is_some_and(|square| square <= limit));
        last
    }
}

/// The squared distances to all landmarks, and the least of each lane.
struct Squares<'a> {
    at: &'a [f32],
    groups: &'a [Lanes],
    columns: usize,
    squares: &'a mut [Lanes],
}

impl Kernel for Squares<'_> {
    type Output = Lanes;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Lanes {
        let mut least = [f32::INFINITY; LANES];
        for (out, group) in self.squares.iter_mut().zip(self.groups.chunks_exact(self.columns)) {
            let mut sum = [0.0f32; LANES];
            for (x, there) in self.at.iter().zip(group) {
                for lane in 0..LANES {
                    let apart = there[lane] - x;
                    sum[lane] += apart * apart;
                }
            }
            for lane in 0..LANES {
                least[lane] = if sum[lane] < least[lane] { sum[lane] } else { least[lane] };
            }
            *out = sum;
        }
        least
    }
}

/// The places of squared distances up to a bound.
struct Within<'a> {
    squares: &'a [Lanes],
    bound: f32,
    places: &'a mut Vec<u32>,
}

impl Kernel for Within<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (group, squares) in self.squares.iter().enumerate() {
            let mut some = false;
            for square in squares {
                some |= *square <= self.bound;
            }
            if some {
                // Without a branch for each lane: hardly any are near.
                let near = |(lane, square): (usize, &f32)| u32::from(*square <= self.bound) << lane;
                let mut near: u32 =
                    squares.iter().enumerate().map(near).fold(0, |all, one| all | one);
                while near != 0 {
                    self.places.push((group * LANES) as u32 + near.trailing_zeros());
                    near &= near - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Against the distances to all of them.
    #[test]
    fn the_nearest_are_the_nearest() {
        let mut random = Pcg64::seed_from_u64(4);
        for (count, columns, size) in [
            (1, 1, 1.0),
            (7, 2, 1.0),
            (8, 1, 1e-9),
            (33, 3, 1e6),
            (1000, 10, 2.0),
            (500, 70, 1e150),
        ] {
            let mut point = |grid: bool| -> f64 {
                let x: f64 = random.random_range(-1.0..1.0);
                size * if grid { (4.0 * x).round() } else { x }
            };
            for grid in [false, true] {
                let landmarks: Vec<f64> = (0..count * columns).map(|_| point(grid)).collect();
                let mut finder = Finder::new(&landmarks, columns);
                let mut places = Vec::new();
                for far in [1.0, 1.0, 30.0, 1e6] {
                    let at: Vec<f64> = (0..columns).map(|_| far * point(grid)).collect();
                    let square = |there: &[f64]| -> f64 {
                        at.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum()
                    };
                    let squares: Vec<f64> = landmarks.chunks(columns).map(square).collect();
                    let mut sorted = squares.clone();
                    sorted.sort_by(f64::total_cmp);
                    let last = sorted[NEAREST.min(count) - 1].sqrt();
                    assert_eq!(finder.nearest(&at, &mut places), last, "{count} {columns} {far}");
                    let limit = last * last * (1.0 + TIED);
                    let expected: Vec<u32> =
                        (0..count as u32).filter(|i| squares[*i as usize] <= limit).collect();
                    assert_eq!(places, expected);
                }
            }
        }
    }
}
