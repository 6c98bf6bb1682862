//! The few operations on vectors and symmetric matrices that minimisers need.
//!
//! Sums run over fixed lanes, so that their bits are the same at every vector width.

use super::dispatch::{Arithmetic, Kernel, dispatch};

/// Independent running sums of a dot product.
const LANES: usize = 16;

/// The dot product of two vectors of equal length.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    dispatch(Dot { a, b })
}

/// y += a x
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    dispatch(Axpy { a, x, y });
}

/// out = M v for a symmetric matrix M, row by row.
pub(crate) fn symmetric_times(matrix: &[f64], vector: &[f64], out: &mut [f64]) {
    dispatch(SymmetricTimes { matrix, vector, out });
}

/// M += a u uᵀ + b (u vᵀ + v uᵀ) for a symmetric matrix M.
pub(crate) fn symmetric_rank_two(matrix: &mut [f64], a: f64, u: &[f64], b: f64, v: &[f64]) {
    dispatch(SymmetricRankTwo { matrix, a, u, b, v });
}

#[inline(always)]
fn dot_kernel<A: Arithmetic>(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_full, a_rest) = a.as_chunks::<LANES>();
    let (b_full, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_full.iter().zip(b_full) {
        for l in 0..LANES {
            lanes[l] = A::mul_add(a[l], b[l], lanes[l]);
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane = A::mul_add(*a, *b, *lane);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
        width /= 2;
    }
    lanes[0]
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel for Dot<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        dot_kernel::<A>(self.a, self.b)
    }
}

struct Axpy<'a> {
    a: f64,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Kernel for Axpy<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (y, x) in self.y.iter_mut().zip(self.x) {
            *y = A::mul_add(self.a, *x, *y);
        }
    }
}

struct SymmetricTimes<'a> {
    matrix: &'a [f64],
    vector: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for SymmetricTimes<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.vector.len();
        if n == 0 {
            return;
        }
        for (out, row) in self.out.iter_mut().zip(self.matrix.chunks_exact(n)) {
            *out = dot_kernel::<A>(row, self.vector);
        }
    }
}

struct SymmetricRankTwo<'a> {
    matrix: &'a mut [f64],
    a: f64,
    u: &'a [f64],
    b: f64,
    v: &'a [f64],
}

impl Kernel for SymmetricRankTwo<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.u.len();
        if n == 0 {
            return;
        }
        for ((row, ui), vi) in self.matrix.chunks_exact_mut(n).zip(self.u).zip(self.v) {
            // a u_i u_j + b (u_i v_j + v_i u_j)
            let (with_u, with_v) = (A::mul_add(self.a, *ui, self.b * vi), self.b * ui);
            for ((m, uj), vj) in row.iter_mut().zip(self.u).zip(self.v) {
                *m += A::mul_add(with_u, *uj, with_v * vj);
            }
        }
    }
}
