//! What rows say about the step they want, as whole numbers: sums are exact, whatever their order.

use serde::{Deserialize, Serialize};

use crate::math::{Arithmetic, Kernel, dispatch};

/// Slope and curvature of the cost in each row, in fixed point: the slope in the upper half of a word, the
/// curvature, which is not negative, in the lower. Both fit their halves even when all rows are summed.
pub(crate) struct Slopes {
    words: Vec<i64>,
    scale: Scale,
}

/// Slope and curvature of the cost: of a row, or of the rows of a leaf together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) gradient: f64,
    pub(crate) curvature: f64,
}

/// How large slopes are together, of all rows that are summed: it decides what a word stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Size {
    /// Of the absolute values.
    pub(crate) gradients: f64,
    pub(crate) curvatures: f64,
    pub(crate) rows: u64,
    /// Those that count.
    pub(crate) counted: u64,
}

/// What words stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    by_gradient: f64,
    by_curvature: f64,
    /// What one stands for.
    one: (f64, f64),
    /// The mean curvature of a row that counts.
    mean_curvature: f64,
}

impl Size {
    pub(crate) fn of(gradient: &[f64], curvature: &[f64]) -> Self {
        let sum = |values: &[f64]| values.iter().map(|x| x.abs()).sum::<f64>();
        Self {
            gradients: sum(gradient),
            curvatures: sum(curvature),
            rows: gradient.len() as u64,
            counted: curvature.iter().filter(|c| **c > 0.0).count() as u64,
        }
    }
}

impl Size {
    /// Of both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            gradients: self.gradients + other.gradients,
            curvatures: self.curvatures + other.curvatures,
            rows: self.rows + other.rows,
            counted: self.counted + other.counted,
        }
    }

    /// With slopes half as large again.
    pub(crate) fn and_a_half(self) -> Self {
        Self { gradients: 1.5 * self.gradients, curvatures: 1.5 * self.curvatures, ..self }
    }
}

impl Scale {
    /// Whether slopes of this size can be summed, and are not much smaller than they might be.
    pub(crate) fn has_room_for(&self, size: Size) -> bool {
        let fits = |per: f64, total: f64, most: f64| {
            let sum = per * total + size.rows as f64;
            (per > 0.0 || total == 0.0) && sum <= most && sum >= 0.1 * most
        };
        fits(self.by_gradient, size.gradients, f64::from(i32::MAX))
            && fits(self.by_curvature, size.curvatures, f64::from(u32::MAX))
    }

    /// In which all rows of this size can be summed.
    pub(crate) fn of(size: Size) -> Self {
        // Every row may be rounded up by one half.
        let room = size.rows as f64;
        let per = |total: f64, most: f64| if total > 0.0 { (most - room) / total } else { 0.0 };
        let (by_gradient, by_curvature) =
            (per(size.gradients, f64::from(i32::MAX)), per(size.curvatures, f64::from(u32::MAX)));
        let one = |per: f64| if per > 0.0 { 1.0 / per } else { 0.0 };
        Self {
            by_gradient,
            by_curvature,
            one: (one(by_gradient), one(by_curvature)),
            mean_curvature: size.curvatures / size.counted.max(1) as f64,
        }
    }

    /// What a sum of words stands for.
    #[inline]
    pub(super) fn read(&self, word: i64) -> Pair {
        let lower = word & i64::from(u32::MAX);
        Pair {
            gradient: ((word - lower) >> 32) as f64 * self.one.0,
            curvature: lower as f64 * self.one.1,
        }
    }

    pub(super) fn mean_curvature(&self) -> f64 {
        self.mean_curvature
    }
}

impl Slopes {
    /// None for any of so many rows.
    pub(crate) fn none(rows: usize) -> Self {
        Self { words: vec![0; rows], scale: Scale::default() }
    }

    /// Takes those of some rows, which are given beside them.
    pub(crate) fn set(&mut self, rows: &[u32], gradient: &[f64], curvature: &[f64]) {
        self.set_in(Scale::of(Size::of(gradient, curvature)), rows, gradient, curvature);
    }

    /// The same in a scale that other rows share.
    pub(crate) fn set_in(
        &mut self,
        scale: Scale,
        rows: &[u32],
        gradient: &[f64],
        curvature: &[f64],
    ) {
        let Scale { by_gradient, by_curvature, .. } = scale;
        let mut words = [0; BLOCK];
        let slopes = gradient.chunks(BLOCK).zip(curvature.chunks(BLOCK));
        for (rows, (gradient, curvature)) in rows.chunks(BLOCK).zip(slopes) {
            let words = &mut words[..rows.len()];
            dispatch(Join { gradient, by_gradient, curvature, by_curvature, words });
            for (&row, word) in rows.iter().zip(words) {
                self.words[row as usize] = *word;
            }
        }
        self.scale = scale;
    }

    /// What words stand for.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    /// The word of a row.
    #[inline]
    pub(super) fn word(&self, row: u32) -> i64 {
        self.words[row as usize]
    }
}

/// Slopes and curvatures as words.
struct Join<'a> {
    gradient: &'a [f64],
    by_gradient: f64,
    curvature: &'a [f64],
    by_curvature: f64,
    words: &'a mut [i64],
}

impl Kernel for Join<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        // Adding it rounds to a whole number and leaves that in the low bits: a cast that vectorises.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let whole = |x: f64| (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i64;
        let pairs = self.gradient.iter().zip(self.curvature);
        for (word, (gradient, curvature)) in self.words.iter_mut().zip(pairs) {
            let upper = whole(gradient * self.by_gradient);
            *word = (upper << 32).wrapping_add(whole(curvature * self.by_curvature));
        }
    }
}

/// Rows that are joined at a time.
const BLOCK: usize = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_the_rows(rows in prop::collection::vec((-1e3..1e3_f64, 0.0..1e-2_f64), 1..300)) {
            let (gradient, curvature): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            let places: Vec<u32> = (0..rows.len() as u32).collect();
            let mut slopes = Slopes::none(rows.len());
            slopes.set(&places, &gradient, &curvature);
            let sum = slopes.scale().read(places.iter().map(|row| slopes.word(*row)).sum());
            let size = |of: &[f64]| of.iter().map(|x| x.abs()).sum::<f64>();
            let half_a_step = |of: &[f64], most: f64| 0.51 * size(of) * rows.len() as f64 / most;
            let exact = |of: &[f64]| of.iter().sum::<f64>();
            let off = (sum.gradient - exact(&gradient)).abs();
            prop_assert!(off <= half_a_step(&gradient, 2147483647.0) + 1e-12);
            let off = (sum.curvature - exact(&curvature)).abs();
            prop_assert!(off <= half_a_step(&curvature, 4294967295.0) + 1e-15);
        }
    }
}
