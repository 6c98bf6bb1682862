//! The curve that bends the law of held-out errors to their shape, as far as rows speak for it.
//!
//! A law of few parameters has the size, the place, the skew and the tails of the errors, but not their
//! every shape: two heaps, a flat top. At the value of the law that is $q$ in a Gaussian, the share $s$ of
//! the errors below tells where it should have been, $q + g(q) = \Phi^{-1}(s)$. Shares are noisy, and the
//! noise of neighbours goes together: of $n$ rows, with the density $\varphi$ of the Gaussian,
//! $\operatorname{cov}(g_i, g_j) = \frac{s_i (1 - s_j)}{n \varphi_i \varphi_j}$ for $s_i \le s_j$. Before rows speak, $g$ is a
//! smooth function about 0, a Gaussian process of the size and the smoothness under which what was found is
//! likeliest. What rows then say of it is a formula, and of few rows it is nothing.

use crate::law::{Base, Curve, Law};
use crate::math::cholesky::Cholesky;

/// Where the law may be bent, in values of a Gaussian.
const BENT: [f64; 25] = [
    -3.0, -2.5, -2.1, -1.8, -1.5, -1.25, -1.0, -0.8, -0.6, -0.45, -0.3, -0.15, 0.0, 0.15, 0.3,
    0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8, 2.1, 2.5, 3.0,
];
/// Further out it is moved as a whole; near enough to each other that straight lines have the variance of a
/// heavy tail.
const BEYOND: [f64; 14] =
    [3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0];
/// How far values may be moved, and at which distance they are moved differently: what is tried.
const SIZES: [f64; 6] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.5];
const LENGTHS: [f64; 3] = [0.4, 0.8, 1.6];
/// The variance of what is left of a value when it is told to a thousandth.
const ROUNDING: f64 = 1e-6;
/// So many rows must lie on either side of a value that is to be told from them.
const LEAST_BEYOND: f64 = 4.0;
/// A line of the curve rises at least by this share of what it would in the law.
const LEAST_RISE: f64 = 0.05;

/// The curve of a law bent to errors in units of sigma, whose weights add up to the number of rows that
/// they are worth; `None` where they speak for none.
pub(super) fn bend(law: &Law, z: &[f64], weight: &[f64]) -> Option<Curve> {
    let rows: f64 = weight.iter().sum();
    let mut sorted: Vec<(f64, f64)> = z.iter().copied().zip(weight.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    let sums: Vec<f64> = (sorted.iter())
        .map(|(_, weight)| {
            below += weight;
            below
        })
        .collect();
    // Errors at the very value count half.
    let share = |at: f64| {
        let ends =
            [sorted.partition_point(|(z, _)| *z < at), sorted.partition_point(|(z, _)| *z <= at)];
        let [below, up_to] = ends.map(|end| if end > 0 { sums[end - 1] } else { 0.0 });
        0.5 * (below + up_to) / rows
    };
    let shares = BENT.map(|q| (q, share(law.quantile_of_gaussian(q))));
    let told: Vec<(f64, f64)> =
        shares.into_iter().filter(|(_, s)| rows * s.min(1.0 - s) >= LEAST_BEYOND).collect();
    if told.len() < 3 {
        return None;
    }
    let n = told.len();
    let seen: Vec<f64> = told.iter().map(|(_, share)| Base::Normal.quantile(*share)).collect();
    let found: Vec<f64> = told.iter().zip(&seen).map(|((q, _), seen)| seen - q).collect();
    let density: Vec<f64> = seen.iter().map(|seen| Base::Normal.density(*seen)).collect();
    let noise = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        told[i].1 * (1.0 - told[j].1) / (rows * density[i] * density[j])
    };
    let alike = |a: f64, b: f64, length: f64| (-0.5 * ((a - b) / length).powi(2)).exp();
    let learn = |size: f64, length: f64| {
        let one =
            |i: usize, j: usize| size * size * alike(told[i].0, told[j].0, length) + noise(i, j);
        let matrix = (0..n * n).map(|at| one(at / n, at % n) / ROUNDING).collect();
        let factor = Cholesky::one_plus(n, matrix);
        let mut solved: Vec<f64> = found.iter().map(|found| found / ROUNDING).collect();
        factor.solve(&mut solved);
        let misfit: f64 = found.iter().zip(&solved).map(|(found, solved)| found * solved).sum();
        (0.5 * misfit + factor.half_log_determinant(), size, length, solved)
    };
    let (_, size, length, solved) = SIZES
        .iter()
        .flat_map(|size| LENGTHS.map(|length| learn(*size, length)))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    if size == 0.0 {
        return None;
    }
    let moved = |q: f64| -> f64 {
        let at = q.clamp(BENT[0], BENT[BENT.len() - 1]);
        let like = told.iter().map(|(other, _)| alike(*other, at, length));
        q + size * size * like.zip(&solved).map(|(like, solved)| like * solved).sum::<f64>()
    };
    let places: Vec<f64> = BEYOND.iter().rev().map(|q| -q).chain(BENT).chain(BEYOND).collect();
    let mut to: Vec<f64> = places.iter().map(|q| moved(*q)).collect();
    for k in 1..places.len() {
        to[k] = to[k].max(to[k - 1] + LEAST_RISE * (places[k] - places[k - 1]));
    }
    let values: Vec<f64> = places.iter().map(|q| law.quantile_of_gaussian(*q)).collect();
    Curve::new(&to, &values)
}
