//! The Reliability Score: do the scaled errors have the distribution they claim?

use super::accuracy_reliability::{AccuracyReliability, Split};
use super::sample::Sample;
use crate::error::{Error, Result};
use crate::math::{erfcinv, erfinv};
use std::f64::consts::{PI, SQRT_2};

/// $1/\sqrt{2\pi}$ as a pair of doubles: the constant of RS, which reports keep and costs leave out.
pub(crate) const CONSTANT: (f64, f64) = (0.398_942_280_401_432_7, -2.492_327_202_277_73e-17);

/// The Reliability Score of a sample (the paper's Eq. RS),
///
/// $$\mathrm{RS} = \int\_{-\infty}^{\infty}\big[\Phi(\eta) - C(\eta)\big]^2 d\eta
/// = \sum\_i \frac{w\_i}{W}\Big[\eta\_i\Big(\operatorname{erf}\eta\_i + 1 - \frac{W\_i + W\_{i-1}}{W}\Big)
/// + \frac{e^{-\eta\_i^2}}{\sqrt\pi}\Big] - \frac1{\sqrt{2\pi}},$$
///
/// with $\eta\_i = \varepsilon\_i/(\sqrt2\sigma\_i)$ in rising order, $\Phi(\eta) = (\operatorname{erf}\eta + 1)/2$,
/// $C$ their empirical distribution and $W\_i$ the running weight ($2i - 1$ over $N$ without
/// weights). Equal $\eta$ share their mean rank.
///
/// 0 is perfect and out of reach: no sample of N errors goes below [`rs_min`], and a calibrated
/// one has [`rs_expected`] on average. It is the Cramér (energy) distance of the scaled errors from
/// $\mathcal N(0, \tfrac12)$.
#[must_use]
pub fn reliability(sample: &Sample) -> f64 {
    AccuracyReliability::with(sample.errors().borrow(), Split::new(0.0))
        .evaluate(sample.sigma(), None)
        .rs
}

/// The derivative of RS with respect to each sigma,
///
/// $$\frac{\partial\mathrm{RS}}{\partial\sigma\_i} =
/// \frac{w\_i}{W} \frac{\eta\_i}{\sigma\_i}\Big[\frac{W\_i + W\_{i-1}}{W} - \operatorname{erf}\eta\_i - 1\Big].$$
#[must_use]
pub fn gradient(sample: &Sample) -> Vec<f64> {
    let mut gradient = vec![0.0; sample.len()];
    AccuracyReliability::with(sample.errors().borrow(), Split::new(0.0))
        .evaluate(sample.sigma(), Some(&mut gradient));
    gradient
}

/// The RS that a calibrated forecast has on average, $1/(\sqrt{2\pi} N)$: what chance alone gives.
#[must_use]
pub fn rs_expected(effective_rows: f64) -> f64 {
    CONSTANT.0 / effective_rows
}

/// The least RS that N errors can have,
///
/// $$\mathrm{RS}\_{\min}(N) = \frac1{\sqrt\pi N}\sum\_{i=1}^N
/// \exp\Big(-\big[\operatorname{erf}^{-1}\big(\tfrac{2i-1}N - 1\big)\big]^2\Big) - \frac1{\sqrt{2\pi}}.$$
///
/// The sum is the midpoint rule for $\int\_0^1 h(u) du = 1/\sqrt{2\pi}$ with
/// $h = e^{-m^2}/\sqrt\pi$, $m = \operatorname{erf}^{-1}(2u - 1)$, so $\mathrm{RS}\_{\min}$ is the rule's
/// error. That error is added up cell by cell from terms that are all positive
/// ($-h^{\prime\prime} = 2\sqrt\pi e^{m^2}$), in place of the difference of two nearly equal numbers, and far
/// from the ends by the Euler-Maclaurin formula. So it is right to about 14 digits for every N, in a
/// time that does not grow with N. `rs_min(0)` is 0.
#[must_use]
pub fn rs_min(n: usize) -> f64 {
    /// Cells at each end that are integrated one by one.
    const CELLS: usize = 16;
    match n {
        0 => return 0.0,
        // One cell, which is both ends: exactly (sqrt 2 - 1) / sqrt(2 pi).
        1 => return (SQRT_2 - 1.0) * CONSTANT.0,
        _ => {}
    }
    let width = 1.0 / n as f64;
    let half = n / 2;
    let one_end = (1..half.min(CELLS)).fold(first_cell(width), |sum, i| sum + cell_error(width, i));
    if half > CELLS {
        2.0 * one_end + interior_error(width, CELLS)
    } else if n % 2 == 1 {
        2.0 * one_end + middle_cell_error(width)
    } else {
        2.0 * one_end
    }
}

/// [`rs_min`] without the constant: the form that enters beta, about 0.4 for large N.
#[must_use]
pub fn rs_min_without_constant(n: usize) -> f64 {
    rs_min(n) + CONSTANT.0
}

/// The sigma that makes the RS term of an error least when the error has rank `rank` (from 1) of
/// `n`: $\operatorname{erf}(\varepsilon/\sqrt2\sigma) = (2i-1)/n - 1$ (the paper's Eq. optimal_eta).
///
/// `None` when no sigma does: the error's sign is not that of the right side, and the term only
/// falls as sigma grows.
///
/// # Errors
/// A rank that is not in 1..=n, or an error that is not finite.
pub fn sigma_min(error: f64, rank: usize, n: usize) -> Result<Option<f64>> {
    if rank == 0 || rank > n {
        return Err(Error::RankOutOfRange { rank, n });
    }
    if !error.is_finite() {
        return Err(Error::NotFinite { what: "error", index: 0, value: error });
    }
    // 2i - 1 - n is exact; the division rounds once.
    let side = (2.0 * rank as f64 - 1.0 - n as f64) / n as f64;
    let sigma = error / (SQRT_2 * erfinv(side));
    Ok((sigma > 0.0 && sigma.is_finite()).then_some(sigma))
}

/// The midpoint rule's error in the first cell, $[0, w]$. Its kernel integral from the left end,
/// $\int\_0^d v^2\sqrt\pi e^{m^2}dv$ with $d = w/2$, has a logarithmic end, which $v = d s^4$ smooths.
fn first_cell(width: f64) -> f64 {
    let d = 0.5 * width;
    let left = gauss_legendre(&SIXTEEN, |s| {
        let v = d * s.powi(4);
        0.5 * v * v * minus_second_derivative(v) * 4.0 * s.powi(3)
    });
    let right = gauss_legendre(&SIXTEEN, |t| {
        let gap = d * (1.0 - t);
        0.5 * gap * gap * minus_second_derivative(d + d * t)
    });
    (left + right) * d
}

/// The midpoint rule's error in cell i (from 0) by its Peano kernel,
/// $\int\_0^d \tfrac12(d-t)^2 [-h^{\prime\prime}(u+t) - h^{\prime\prime}(u-t)] dt$ with $d = w/2$.
fn cell_error(width: f64, i: usize) -> f64 {
    let d = 0.5 * width;
    let u = (i as f64 + 0.5) * width;
    gauss_legendre(&EIGHT, |t| {
        let t = d * t;
        let gap = d - t;
        0.5 * gap * gap * (minus_second_derivative(u + t) + minus_second_derivative(u - t))
    }) * d
}

/// [`cell_error`] of the cell around 1/2, whose two halves mirror each other.
fn middle_cell_error(width: f64) -> f64 {
    let d = 0.5 * width;
    gauss_legendre(&EIGHT, |t| {
        let t = d * t;
        let gap = d - t;
        gap * gap * minus_second_derivative(0.5 - t)
    }) * d
}

/// $-h^{\prime\prime}(u) = 2\sqrt\pi e^{m^2}$ for u up to 1/2.
fn minus_second_derivative(u: f64) -> f64 {
    let m = erfcinv(2.0 * u);
    2.0 * PI.sqrt() * (m * m).exp()
}

/// The midpoint rule's error in all cells but `cells` at each end, by the Euler-Maclaurin formula
///
/// $$\sum\_j \frac{B\_{2j}(\tfrac12)}{(2j)!} w^{2j} \big[h^{(2j-1)}\big].$$
///
/// With $E = \sqrt\pi e^{m^2}$, $h^{(k)} = -2E^{k-1}P\_k(m)$, where $P\_1 = m$ and
/// $P\_{k+1} = 2(k-1) m P\_k + P\_k^\prime$; odd orders are odd in m. For 16 cells the first term left out
/// is below 1e-16 of the whole.
fn interior_error(width: f64, cells: usize) -> f64 {
    let m = erfcinv(2.0 * cells as f64 * width);
    let step = width * PI.sqrt() * (m * m).exp(); // w E, at most about 1 / cells
    let (x, step2) = (m * m, step * step);
    // B/(2j)! and P/m in powers of m², for orders 1, 3, 5, 7 and 9.
    let third = 7.0 / 5760.0 * 2.0;
    let fifth = -31.0 / 967_680.0 * (28.0 + x * 48.0);
    let seventh = 127.0 / 154_828_800.0 * (1016.0 + x * (5216.0 + x * 3840.0));
    let ninth =
        -73.0 / 3_503_554_560.0 * (69_904.0 + x * (716_928.0 + x * (1_421_568.0 + x * 645_120.0)));
    let series =
        -1.0 / 24.0 + step2 * (third + step2 * (fifth + step2 * (seventh + step2 * ninth)));
    -4.0 * m * width * width * series
}

/// $\int\_0^1 f$ by Gauss-Legendre points.
fn gauss_legendre(nodes: &[(f64, f64)], f: impl Fn(f64) -> f64) -> f64 {
    nodes.iter().map(|&(x, w)| 0.5 * w * (f(0.5 - 0.5 * x) + f(0.5 + 0.5 * x))).sum()
}

/// The positive ones of 8 points on [-1, 1], with their weights.
const EIGHT: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// The positive ones of 16.
const SIXTEEN: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_58),
    (0.458_016_777_657_227_37, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_8, 0.149_595_988_816_576_74),
    (0.755_404_408_355_003, 0.124_628_971_255_533_88),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_79),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_894),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_096),
];
