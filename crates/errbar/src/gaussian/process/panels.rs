//! Cholesky factor, triangular solves and inverse of a symmetric matrix.
//!
//! A matrix is held as panels of eight columns, each panel contiguous: the product of two panels,
//! $A^TB$, then reads both from front to back and keeps its 8×8 result in registers. Everything here
//! is made of that product. Matrices are padded to a multiple of eight, with ones on the diagonal.

// Matrices are written with their indices, as in the formulas.
#![allow(clippy::needless_range_loop)]

use crate::math::{Arithmetic, Kernel, dispatch};

/// Columns in a panel.
pub(super) const WIDTH: usize = 8;

/// One row of a panel.
pub(super) type Lane = [f64; WIDTH];

/// Eight rows of a panel.
type Tile = [Lane; WIDTH];

/// A square matrix in panels; of a symmetric or upper triangular one, the part below the diagonal
/// tiles is not used.
#[derive(Clone, Debug)]
pub(super) struct Panels {
    rows: usize,
    data: Vec<Lane>,
}

/// `n`, rounded up to whole panels.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(WIDTH)
}

impl Panels {
    pub(super) fn zeros(n: usize) -> Self {
        let rows = padded(n);
        Self { rows, data: vec![[0.0; WIDTH]; rows * rows / WIDTH] }
    }

    /// Rows, padding included.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Lane]> {
        self.data.chunks_exact(self.rows)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [Lane]> {
        self.data.chunks_exact_mut(self.rows)
    }

    fn panel(&self, p: usize) -> &[Lane] {
        &self.data[p * self.rows..(p + 1) * self.rows]
    }

    /// The diagonal, padding included.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.rows).map(|i| self.data[i / WIDTH * self.rows + i][i % WIDTH])
    }
}

/// $U$ with $U^TU = s R + \operatorname{diag}(d)$, upper triangular.
///
/// Only the upper triangle of R is read. False when a pivot is not positive.
pub(super) fn factor(r: &Panels, s: f64, d: &[f64], u: &mut Panels) -> bool {
    dispatch(Factor { r, s, d, u })
}

/// $T = U^{-T}$, lower triangular; what lies above the diagonal tiles is not written.
pub(super) fn invert_factor(u: &Panels, t: &mut Panels) {
    dispatch(InvertFactor { u, t });
}

/// $T^TT = (U^TU)^{-1}$, of which the upper triangle is written.
pub(super) fn gram(t: &Panels, out: &mut Panels) {
    dispatch(Gram { t, out });
}

/// Replaces one panel of columns $b$ by $U^{-T}b$.
pub(super) fn forward(u: &Panels, b: &mut [Lane]) {
    dispatch(Forward { u, b, first: 0 });
}

/// Replaces $b$ by $U^{-T}b$.
pub(super) fn forward_vector(u: &Panels, b: &mut [f64]) {
    dispatch(ForwardVector { u, b });
}

/// Replaces $b$ by $U^{-1}b$.
pub(super) fn backward_vector(u: &Panels, b: &mut [f64]) {
    dispatch(BackwardVector { u, b });
}

/// $C - A^TB$
#[inline(always)]
fn minus_product<A: Arithmetic>(mut c: Tile, a: &[Lane], b: &[Lane]) -> Tile {
    for half in [0, WIDTH / 2] {
        let mut h = [[0.0; WIDTH]; WIDTH / 2];
        h.copy_from_slice(&c[half..half + WIDTH / 2]);
        for (a, b) in a.iter().zip(b) {
            for i in 0..WIDTH / 2 {
                for j in 0..WIDTH {
                    h[i][j] = A::mul_add(-a[half + i], b[j], h[i][j]);
                }
            }
        }
        c[half..half + WIDTH / 2].copy_from_slice(&h);
    }
    c
}

#[inline(always)]
fn tile_at(panel: &[Lane], row: usize) -> Tile {
    let mut tile = [[0.0; WIDTH]; WIDTH];
    tile.copy_from_slice(&panel[row..row + WIDTH]);
    tile
}

/// The Cholesky factor of a tile in place, its lower part zero; None when a pivot is not positive.
#[inline(always)]
fn factor_tile<A: Arithmetic>(c: &mut Tile) -> Option<()> {
    for r in 0..WIDTH {
        let pivot = c[r][r];
        // Also refuses NaN.
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return None;
        }
        let inverse = 1.0 / pivot.sqrt();
        for j in 0..WIDTH {
            c[r][j] = if j < r { 0.0 } else { c[r][j] * inverse };
        }
        for i in r + 1..WIDTH {
            for j in r + 1..WIDTH {
                c[i][j] = A::mul_add(-c[r][i], c[r][j], c[i][j]);
            }
        }
    }
    Some(())
}

#[inline(always)]
fn inverse_diagonal(u: &Tile) -> Lane {
    let mut inverse = [0.0; WIDTH];
    for i in 0..WIDTH {
        inverse[i] = 1.0 / u[i][i];
    }
    inverse
}

/// $U^{-T}C$ for tiles.
#[inline(always)]
fn forward_tile<A: Arithmetic>(u: &Tile, inverse: &Lane, mut c: Tile) -> Tile {
    for r in 0..WIDTH {
        for j in 0..WIDTH {
            c[r][j] *= inverse[r];
        }
        for i in r + 1..WIDTH {
            for j in 0..WIDTH {
                c[i][j] = A::mul_add(-u[r][i], c[r][j], c[i][j]);
            }
        }
    }
    c
}

struct Factor<'a> {
    r: &'a Panels,
    s: f64,
    d: &'a [f64],
    u: &'a mut Panels,
}

impl Kernel for Factor<'_> {
    type Output = bool;
    /// Row of tiles by row of tiles, each from all the rows above it.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> bool {
        let rows = self.u.rows;
        let scaled = |mut tile: Tile| {
            tile.iter_mut().flatten().for_each(|x| *x *= self.s);
            tile
        };
        for block in 0..rows / WIDTH {
            let row = block * WIDTH;
            let (left, right) = self.u.data.split_at_mut((block + 1) * rows);
            let (above, here) = left[block * rows..].split_at_mut(row);
            let mut corner = scaled(tile_at(self.r.panel(block), row));
            for i in 0..WIDTH {
                corner[i][i] += self.d[row + i];
            }
            let mut corner = minus_product::<A>(corner, above, above);
            if factor_tile::<A>(&mut corner).is_none() {
                return false;
            }
            here[..WIDTH].copy_from_slice(&corner);
            let inverse = inverse_diagonal(&corner);
            for (panel, source) in right.chunks_exact_mut(rows).zip(self.r.iter().skip(block + 1)) {
                let (panel_above, here) = panel.split_at_mut(row);
                let c = minus_product::<A>(scaled(tile_at(source, row)), above, panel_above);
                here[..WIDTH].copy_from_slice(&forward_tile::<A>(&corner, &inverse, c));
            }
        }
        true
    }
}

struct Forward<'a> {
    u: &'a Panels,
    b: &'a mut [Lane],
    /// The first row of tiles that is not zero.
    first: usize,
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let top = self.first * WIDTH;
        for (block, panel) in self.u.iter().enumerate().skip(self.first) {
            let row = block * WIDTH;
            let (done, here) = self.b.split_at_mut(row);
            let c = minus_product::<A>(tile_at(here, 0), &panel[top..row], &done[top..]);
            let corner = tile_at(panel, row);
            let c = forward_tile::<A>(&corner, &inverse_diagonal(&corner), c);
            here[..WIDTH].copy_from_slice(&c);
        }
    }
}

struct InvertFactor<'a> {
    u: &'a Panels,
    t: &'a mut Panels,
}

impl Kernel for InvertFactor<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (first, b) in self.t.iter_mut().enumerate() {
            b[first * WIDTH..].fill([0.0; WIDTH]);
            for i in 0..WIDTH {
                b[first * WIDTH + i][i] = 1.0;
            }
            Forward { u: self.u, b, first }.run::<A>();
        }
    }
}

struct Gram<'a> {
    t: &'a Panels,
    out: &'a mut Panels,
}

impl Kernel for Gram<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (j, (right, out)) in self.t.iter().zip(self.out.iter_mut()).enumerate() {
            let row = j * WIDTH;
            for (i, left) in self.t.iter().enumerate().take(j + 1) {
                let tile = [[0.0; WIDTH]; WIDTH];
                let mut tile = minus_product::<A>(tile, &left[row..], &right[row..]);
                tile.iter_mut().flatten().for_each(|x| *x = -*x);
                out[i * WIDTH..(i + 1) * WIDTH].copy_from_slice(&tile);
            }
        }
    }
}

struct ForwardVector<'a> {
    u: &'a Panels,
    b: &'a mut [f64],
}

impl Kernel for ForwardVector<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (block, panel) in self.u.iter().enumerate() {
            let row = block * WIDTH;
            let (done, here) = self.b.split_at_mut(row);
            let mut c = [0.0; WIDTH];
            c.copy_from_slice(&here[..WIDTH]);
            for (u, x) in panel.iter().zip(done.iter()) {
                for i in 0..WIDTH {
                    c[i] = A::mul_add(-u[i], *x, c[i]);
                }
            }
            for r in 0..WIDTH {
                let u = panel[row + r];
                c[r] /= u[r];
                for i in r + 1..WIDTH {
                    c[i] = A::mul_add(-u[i], c[r], c[i]);
                }
            }
            here[..WIDTH].copy_from_slice(&c);
        }
    }
}

struct BackwardVector<'a> {
    u: &'a Panels,
    b: &'a mut [f64],
}

impl Kernel for BackwardVector<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for block in (0..self.u.rows / WIDTH).rev() {
            let panel = self.u.panel(block);
            let row = block * WIDTH;
            let (above, here) = self.b.split_at_mut(row);
            for r in (0..WIDTH).rev() {
                let u = panel[row + r];
                let mut c = here[r];
                for i in r + 1..WIDTH {
                    c = A::mul_add(-u[i], here[i], c);
                }
                here[r] = c / u[r];
            }
            let mut x = [0.0; WIDTH];
            x.copy_from_slice(&here[..WIDTH]);
            for (b, u) in above.iter_mut().zip(panel) {
                for i in 0..WIDTH {
                    *b = A::mul_add(-u[i], x[i], *b);
                }
            }
        }
    }
}
