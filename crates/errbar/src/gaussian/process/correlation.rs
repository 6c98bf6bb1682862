//! The squared-exponential correlation $\exp(-\frac12 r^2)$ of scaled inputs, eight at a time.

use super::panels::{Lane, Panels, WIDTH, padded};
use crate::math::{Arithmetic, Kernel, dispatch, exp_kernel};

/// Inputs by column, each divided by its length scale, rows padded to whole panels.
#[derive(Clone, Debug)]
pub(super) struct Points {
    rows: usize,
    padded: usize,
    columns: Vec<f64>,
}

impl Points {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        let padded = padded(rows);
        Self { rows, padded, columns: vec![0.0; padded * columns] }
    }

    /// Row-major inputs, each column shifted and divided; a column of infinite length scale
    /// vanishes.
    pub(super) fn scaled(inputs: &[f64], low: &[f64], length: &[f64]) -> Self {
        let columns = low.len();
        let mut points = Self::zeros(inputs.len() / columns, columns);
        for (d, column) in points.columns.chunks_exact_mut(points.padded).enumerate() {
            if length[d].is_finite() {
                for (z, row) in column.iter_mut().zip(inputs.chunks_exact(columns)) {
                    *z = (row[d] - low[d]) / length[d];
                }
            }
        }
        points
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.columns.chunks_exact(self.padded)
    }

    pub(super) fn columns_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [f64]> {
        self.columns.chunks_exact_mut(self.padded)
    }

    /// These rows only.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let mut points = Self::zeros(rows.len(), self.columns().len());
        for (to, from) in points.columns_mut().zip(self.columns()) {
            to.iter_mut().zip(rows).for_each(|(z, &row)| *z = from[row]);
        }
        points
    }

    /// Every column of one panel of eight points, into `lanes`.
    fn panel(&self, panel: usize, lanes: &mut [Lane]) {
        for (lane, column) in lanes.iter_mut().zip(self.columns()) {
            lane.copy_from_slice(&column[panel * WIDTH..(panel + 1) * WIDTH]);
        }
    }
}

/// The upper triangle of the correlation matrix of the points; zero in the padding.
pub(super) fn correlation(points: &Points, out: &mut Panels) {
    let mut columns = vec![[0.0; WIDTH]; points.columns().len()];
    for (p, panel) in out.iter_mut().enumerate() {
        points.panel(p, &mut columns);
        let end = (p + 1) * WIDTH;
        dispatch(Correlate { points, columns: &columns, out: &mut panel[..end] });
        if end > points.rows {
            let used = WIDTH - (end - points.rows);
            panel[..end].iter_mut().for_each(|lane| lane[used..].fill(0.0));
            panel[points.rows..end].fill([0.0; WIDTH]);
        }
    }
}

/// The correlations of all `points` (rows) with a panel of eight `others` (columns).
pub(super) fn cross_correlation(points: &Points, others: &Points, panel: usize, out: &mut [Lane]) {
    let mut columns = vec![[0.0; WIDTH]; others.columns().len()];
    others.panel(panel, &mut columns);
    dispatch(Correlate { points, columns: &columns, out });
    out[points.rows..].fill([0.0; WIDTH]);
}

struct Correlate<'a> {
    points: &'a Points,
    columns: &'a [Lane],
    out: &'a mut [Lane],
}

impl Kernel for Correlate<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        self.out.fill([0.0; WIDTH]);
        for (rows, columns) in self.points.columns().zip(self.columns) {
            for (out, row) in self.out.iter_mut().zip(rows) {
                for c in 0..WIDTH {
                    let difference = row - columns[c];
                    out[c] = A::mul_add(difference, difference, out[c]);
                }
            }
        }
        for out in self.out {
            for x in out.iter_mut() {
                *x = exp_kernel::<A>(-0.5 * *x);
            }
        }
    }
}

/// Sums over a symmetric matrix $W = S - \alpha\alpha^T/v$ and the correlations R: writes
/// $\sum\_{ij} W\_{ij} R\_{ij} (z\_{id} - z\_{jd})^2$ for each column $d$, and returns
/// $\sum\_{ij} W\_{ij} R\_{ij}$.
pub(super) fn traces(
    points: &Points,
    r: &Panels,
    s: &Panels,
    alpha: &[f64],
    v: f64,
    out: &mut [f64],
) -> f64 {
    dispatch(Traces { points, r, s, alpha, v, out })
}

struct Traces<'a> {
    points: &'a Points,
    r: &'a Panels,
    s: &'a Panels,
    alpha: &'a [f64],
    v: f64,
    out: &'a mut [f64],
}

impl Kernel for Traces<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        self.out.fill(0.0);
        let mut total = 0.0;
        let mut weights = vec![[0.0; WIDTH]; self.r.rows()];
        for (p, (r, s)) in self.r.iter().zip(self.s.iter()).enumerate() {
            let row = p * WIDTH;
            let end = row + WIDTH;
            let mut scaled = [0.0; WIDTH];
            scaled.copy_from_slice(&self.alpha[row..end]);
            scaled.iter_mut().for_each(|alpha| *alpha /= self.v);
            let mut lanes = [0.0; WIDTH];
            let above = self.alpha.iter().zip(r).zip(s).take(end);
            for (k, (weight, ((alpha, r), s))) in weights.iter_mut().zip(above).enumerate() {
                // Off the diagonal tiles, only one half of the matrix is held.
                let twice = if k < row { 2.0 } else { 1.0 };
                for c in 0..WIDTH {
                    weight[c] = twice * A::mul_add(-alpha, scaled[c], s[c]) * r[c];
                    lanes[c] += weight[c];
                }
            }
            total += lanes.iter().sum::<f64>();
            for (out, column) in self.out.iter_mut().zip(self.points.columns()) {
                let mut here = [0.0; WIDTH];
                here.copy_from_slice(&column[row..end]);
                let mut lanes = [0.0; WIDTH];
                for (weight, z) in weights[..end].iter().zip(column) {
                    for c in 0..WIDTH {
                        let difference = z - here[c];
                        lanes[c] = A::mul_add(weight[c], difference * difference, lanes[c]);
                    }
                }
                *out += lanes.iter().sum::<f64>();
            }
        }
        total
    }
}
