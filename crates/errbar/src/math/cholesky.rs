//! Cholesky factors of matrices that are one plus a sum of squares, and triangular solves.
//!
//! Where many rows are to be solved for, they are taken in groups of [`GROUP`], side by side, which
//! keeps a sum for each of them in registers.

use rayon::prelude::*;

use super::dispatch::{Arithmetic, Kernel, dispatch};
use super::linear::{axpy, dot};

/// Rows in a group.
pub(crate) const GROUP: usize = 32;

/// One value for each row of a group.
pub(crate) type Group = [f64; GROUP];

/// Solves with a lower triangle, given row by row up to the diagonal, for all rows of a group at
/// once. Vectors stand in columns.
pub(crate) fn solve_lower_group<'a>(triangle: impl Iterator<Item = &'a [f64]>, b: &mut [Group]) {
    dispatch(SolveLower { triangle, b });
}

struct SolveLower<'a, T> {
    triangle: T,
    b: &'a mut [Group],
}

impl<'t, T: Iterator<Item = &'t [f64]>> Kernel for SolveLower<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (j, row) in self.triangle.enumerate() {
            let (above, here) = self.b.split_at_mut(j);
            let mut sum = here[0];
            for (factor, known) in row.iter().zip(above.iter()) {
                for c in 0..GROUP {
                    sum[c] = A::mul_add(-factor, known[c], sum[c]);
                }
            }
            let inverse = 1.0 / row[j];
            for c in 0..GROUP {
                here[0][c] = sum[c] * inverse;
            }
        }
    }
}

/// A sum of weighted squares of many vectors, to which blocks of them are added in order: the sum does
/// not depend on the number of threads.
pub(crate) struct Squares {
    size: usize,
    /// Full rows of whole groups; what lies right of the diagonal's group is not used.
    rows: Vec<Group>,
    /// Vectors that wait to be added together, and their weights.
    waiting: (Vec<f64>, Vec<Group>),
}

/// So many vectors are added together.
const AT_ONCE: usize = 64;

impl Squares {
    pub(crate) fn new(size: usize) -> Self {
        let rows = vec![[0.0; GROUP]; size * size.div_ceil(GROUP)];
        Self { size, rows, waiting: Default::default() }
    }

    /// Groups in a vector.
    pub(crate) fn width(&self) -> usize {
        self.size.div_ceil(GROUP)
    }

    /// Adds the squares of vectors, each padded to whole groups, times their weights.
    pub(crate) fn add(&mut self, weights: &[f64], vectors: &[Group]) {
        let width = self.width();
        if width == 0 {
            return;
        }
        self.rows.par_chunks_exact_mut(width).enumerate().for_each(|(k, row)| {
            dispatch(AddSquares { k, weights, vectors, row });
        });
    }

    /// Adds the squares of vectors that lie one after the other, on this thread.
    pub(crate) fn add_rows(&mut self, weights: &[f64], vectors: &[f64]) {
        for (weight, vector) in weights.iter().zip(vectors.chunks_exact(self.size.max(1))) {
            self.wait(*weight, vector);
        }
    }

    /// Adds the square of a vector, on this thread: some time before the sum is asked for.
    pub(crate) fn wait(&mut self, weight: f64, vector: &[f64]) {
        let (weights, vectors) = &mut self.waiting;
        weights.push(weight);
        let from = vectors.len();
        vectors.resize(from + self.size.div_ceil(GROUP), [0.0; GROUP]);
        vectors[from..].as_flattened_mut()[..self.size].copy_from_slice(vector);
        if self.waiting.0.len() == AT_ONCE {
            self.settle();
        }
    }

    /// Adds what waits.
    pub(crate) fn settle(&mut self) {
        let (mut weights, mut vectors) = std::mem::take(&mut self.waiting);
        let width = self.width();
        for (k, row) in self.rows.chunks_exact_mut(width.max(1)).enumerate() {
            dispatch(AddSquares { k, weights: &weights, vectors: &vectors, row });
        }
        weights.clear();
        vectors.clear();
        self.waiting = (weights, vectors);
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, mut other: Self) {
        other.settle();
        self.add_all(&other);
    }

    /// Adds another sum, for which nothing waits.
    pub(crate) fn add_all(&mut self, other: &Self) {
        debug_assert!(other.waiting.0.is_empty());
        let pairs = self.rows.as_flattened_mut().iter_mut().zip(other.rows.as_flattened());
        pairs.for_each(|(sum, other)| *sum += other);
    }

    /// One plus the sum, factored.
    pub(crate) fn one_plus_factored(mut self) -> Cholesky {
        self.settle();
        let mut matrix = Cholesky::new(self.size);
        let width = self.width();
        for (k, out) in matrix.rows.chunks_exact_mut(self.size.max(1)).enumerate() {
            let row = self.rows[k * width..(k + 1) * width].as_flattened();
            out[..=k].iter_mut().zip(row).for_each(|(out, sum)| *out += sum);
        }
        matrix.factor();
        matrix
    }
}

/// One row of [`Squares`].
struct AddSquares<'a> {
    k: usize,
    weights: &'a [f64],
    vectors: &'a [Group],
    row: &'a mut [Group],
}

impl Kernel for AddSquares<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (width, at) = (self.row.len(), (self.k / GROUP, self.k % GROUP));
        for (g, out) in self.row.iter_mut().enumerate().take(at.0 + 1) {
            let mut sum = *out;
            for (weight, vector) in self.weights.iter().zip(self.vectors.chunks_exact(width)) {
                let factor = weight * vector[at.0][at.1];
                let other = &vector[g];
                for c in 0..GROUP {
                    sum[c] = A::mul_add(factor, other[c], sum[c]);
                }
            }
            *out = sum;
        }
    }
}

/// A symmetric positive definite matrix, one plus a sum of squares, and its triangular factor.
pub(crate) struct Cholesky {
    size: usize,
    /// The lower triangle, row by row in full rows.
    rows: Vec<f64>,
}

impl Cholesky {
    pub(crate) fn new(size: usize) -> Self {
        let mut matrix = Self { size, rows: vec![0.0; size * size] };
        matrix.reset();
        matrix
    }

    /// One plus a matrix whose lower triangle is given in full rows; factored.
    pub(crate) fn one_plus(size: usize, mut rows: Vec<f64>) -> Self {
        (0..size).for_each(|i| rows[i * size + i] += 1.0);
        let mut matrix = Self { size, rows };
        matrix.factor();
        matrix
    }

    fn reset(&mut self) {
        self.rows.fill(0.0);
        (0..self.size).for_each(|i| self.rows[i * self.size + i] = 1.0);
    }

    /// One plus the sum of the squares of vectors, one after the other, times their weights; factored.
    pub(crate) fn one_plus_squares(size: usize, weights: &[f64], vectors: &[f64]) -> Self {
        // Small matrices are done before groups of their rows are.
        if size < 2 * GROUP {
            let mut matrix = Self::new(size);
            for (weight, vector) in weights.iter().zip(vectors.chunks_exact(size.max(1))) {
                matrix.add(*weight, vector);
            }
            matrix.factor();
            return matrix;
        }
        let mut squares = Squares::new(size);
        let width = squares.width();
        let mut groups = vec![[0.0; GROUP]; AT_ONCE * width];
        for (weights, vectors) in weights.chunks(AT_ONCE).zip(vectors.chunks(AT_ONCE * size)) {
            for (group, vector) in groups.chunks_exact_mut(width).zip(vectors.chunks_exact(size)) {
                group.as_flattened_mut()[..size].copy_from_slice(vector);
            }
            squares.add(weights, &groups[..weights.len() * width]);
        }
        squares.one_plus_factored()
    }

    /// Adds `c` times the square of a vector.
    fn add(&mut self, c: f64, vector: &[f64]) {
        for (k, row) in self.rows.chunks_exact_mut(self.size).enumerate() {
            axpy(c * vector[k], &vector[..=k], &mut row[..=k]);
        }
    }

    pub(crate) fn factor(&mut self) {
        let n = self.size;
        for i in 0..n {
            let (above, rest) = self.rows.split_at_mut(i * n);
            let own = &mut rest[..n];
            for j in 0..i {
                let other = &above[j * n..j * n + n];
                own[j] = (own[j] - dot(&own[..j], &other[..j])) / other[j];
            }
            // One plus a sum of squares has no pivot below one: only rounding makes it seem so.
            own[i] = (own[i] - dot(&own[..i], &own[..i])).max(1.0).sqrt();
        }
    }

    /// Half the logarithm of the determinant.
    pub(crate) fn half_log_determinant(&self) -> f64 {
        (0..self.size).map(|i| self.rows[i * self.size + i].ln()).sum()
    }

    /// Solves with the lower triangle alone: the squared length of the result is the variance in the
    /// direction of `b`.
    pub(crate) fn solve_lower(&self, b: &mut [f64]) {
        for (i, row) in self.rows.chunks_exact(self.size).enumerate() {
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
    }

    pub(crate) fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// Solves with the transpose of the lower triangle.
    pub(crate) fn solve_upper(&self, b: &mut [f64]) {
        for i in (0..self.size).rev() {
            let row = &self.rows[i * self.size..(i + 1) * self.size];
            b[i] /= row[i];
            let there = b[i];
            axpy(-there, &row[..i], &mut b[..i]);
        }
    }

    /// The factor, row by row up to the diagonal.
    pub(crate) fn triangle(&self) -> Vec<Vec<f64>> {
        let row = |(i, row): (usize, &[f64])| row[..=i].to_vec();
        self.rows.chunks_exact(self.size).enumerate().map(row).collect()
    }

    pub(crate) fn from_triangle(triangle: &[Vec<f64>]) -> Self {
        let size = triangle.len();
        let mut rows = vec![0.0; size * size];
        for (out, row) in rows.chunks_exact_mut(size.max(1)).zip(triangle) {
            out[..row.len()].copy_from_slice(row);
        }
        Self { size, rows }
    }
}

/// The inverse of a lower triangle, in full rows.
pub(crate) fn inverse(triangle: &[Vec<f64>]) -> Vec<f64> {
    let (size, factor) = (triangle.len(), Cholesky::from_triangle(triangle));
    let mut out = vec![0.0; size * size];
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        factor.solve_lower(&mut unit);
        unit.iter().enumerate().for_each(|(row, x)| out[row * size + column] = *x);
    }
    out
}

/// What the solution of a lower triangle can reach at most, entry by entry, when no right-hand side exceeds
/// these; `None` for a triangle whose solutions say nothing, or leave the range of doubles.
///
/// A factor of a covariance makes small numbers of small ones. Only one that was tampered with has
/// solutions beyond [`LARGEST`], and no sum made of smaller ones overflows or is NaN.
pub(crate) fn largest_solution(triangle: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let held = |x: &f64| x.abs() <= LARGEST;
    if !triangle.iter().flatten().chain(right).all(held) {
        return None;
    }
    // A bound that takes no longer than to read the triangle, and is far more than enough for most.
    let bound = bound_of_solution(triangle, right);
    if bound.iter().all(|x| *x <= LARGEST.cbrt()) {
        return Some(bound);
    }
    let inverse = inverse(triangle);
    let reach = |row: &[f64]| row.iter().zip(right).map(|(a, b)| a.abs() * b).sum::<f64>();
    let all: Vec<f64> = inverse.chunks_exact(triangle.len().max(1)).map(reach).collect();
    all.iter().all(held).then_some(all)
}

/// $M^{-1} r \ge |T^{-1}| r$, with $M$ the triangle $T$ with positive numbers on its diagonal and negative ones, as
/// large as they were, off it.
fn bound_of_solution(triangle: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut bound: Vec<f64> = Vec::with_capacity(right.len());
    for (row, right) in triangle.iter().zip(right) {
        let others: f64 = row.iter().zip(&bound).map(|(t, y)| t.abs() * y).sum();
        let diagonal = row.get(bound.len()).map_or(0.0, |t| t.abs());
        bound.push((right.abs() + others) / diagonal);
    }
    bound
}

/// Far beyond any number in a fit, and its fourth power is still one.
pub(crate) const LARGEST: f64 = 1e60;

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Solutions are within what is said, and what is said is exact where a bound would say too much.
    #[test]
    fn solutions_reach_no_farther_than_said() {
        let mut rng = Pcg64::seed_from_u64(4);
        for size in [1, 5, 40, 120] {
            let one = |i: usize, j: usize, x: f64| if i == j { 0.5 + x.abs() } else { x };
            let triangle: Vec<Vec<f64>> = (0..size)
                .map(|i| (0..=i).map(|j| one(i, j, rng.random_range(-1.0..1.0))).collect())
                .collect();
            let right: Vec<f64> = (0..size).map(|_| rng.random_range(0.0..3.0)).collect();
            let said = largest_solution(&triangle, &right).unwrap();
            let inverse = inverse(&triangle);
            let is_exact = bound_of_solution(&triangle, &right).iter().any(|x| *x > 1e20);
            assert_eq!(is_exact, size == 120);
            for (row, said) in inverse.chunks_exact(size).zip(&said) {
                let most: f64 = row.iter().zip(&right).map(|(a, b)| a.abs() * b).sum();
                assert!(*said >= most * (1.0 - 1e-12), "{said} {most}");
                assert!(!is_exact || *said == most);
            }
        }
        assert!(largest_solution(&[vec![1e-61]], &[1.0]).is_none());
        assert!(largest_solution(&[vec![0.0]], &[1.0]).is_none());
        assert!(largest_solution(&[vec![f64::NAN]], &[1.0]).is_none());
    }
}
