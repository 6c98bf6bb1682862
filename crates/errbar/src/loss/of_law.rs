//! The Accuracy-Reliability cost of one law in units of sigma, around every error.
//!
//! In units of sigma the law is the same for all rows, and so its CRPS $C$ and its Gaussian quantile $q$ are
//! functions of one number, $z = \varepsilon/\sigma$. Some of them, those of Student's t, are slow: both are
//! read off a table, from which the slopes come as well.

use super::{Loss, mean_curvature};
use crate::checks::{check_length, check_sigma};
use crate::error::Result;
use crate::law::{AccuracyReliability, Law};
use crate::score::Beta;

pub(super) struct OfLaw<'a> {
    cost: AccuracyReliability<'a>,
    table: Table,
    /// The expected curvature of CRPS in units of sigma.
    bend: f64,
    /// Of each row, at the last sigma.
    at: Vec<Entry>,
    crps: Vec<f64>,
    quantile: Vec<f64>,
}

impl<'a> OfLaw<'a> {
    pub(super) fn new(
        error: &'a [f64],
        weight: Option<&'a [f64]>,
        beta: Beta,
        law: &Law,
    ) -> Result<Self> {
        let rows = error.len();
        Ok(Self {
            cost: AccuracyReliability::new(error, weight, beta)?,
            table: Table::of(law),
            bend: Table::bend(law),
            at: vec![Entry::default(); rows],
            crps: vec![0.0; rows],
            quantile: vec![0.0; rows],
        })
    }

    fn evaluate(&mut self, sigma: &[f64], mut gradient: Option<&mut [f64]>) -> Result<f64> {
        check_length("sigma", sigma.len(), "error", self.rows())?;
        check_sigma(sigma)?;
        for (row, &sigma) in sigma.iter().enumerate() {
            let at = self.table.at(self.cost.error()[row] / sigma);
            self.crps[row] = sigma * at.crps;
            self.quantile[row] = at.quantile;
            self.at[row] = at;
        }
        let Self { cost, at, crps, quantile, .. } = self;
        let ar = cost.combine(crps, quantile, |row, by_crps, by_quantile| {
            let Some(gradient) = &mut gradient else { return };
            let Entry { z, crps, crps_slope, quantile_slope, .. } = at[row];
            gradient[row] =
                by_crps * (crps - z * crps_slope) - by_quantile * z * quantile_slope / sigma[row];
        });
        Ok(ar.value)
    }
}

impl Loss for OfLaw<'_> {
    fn rows(&self) -> usize {
        self.cost.error().len()
    }

    fn rank_roughly(&mut self) {
        self.cost.rank_roughly();
    }

    fn value(&mut self, sigma: &[f64]) -> Result<f64> {
        self.evaluate(sigma, None)
    }

    fn value_and_gradient(&mut self, sigma: &[f64], gradient: &mut [f64]) -> Result<f64> {
        check_length("gradient", gradient.len(), "error", self.rows())?;
        self.evaluate(sigma, Some(gradient))
    }

    /// As for the Gaussian, with $J = 2\int z^2 f(z)^2 \, dz$ of the law's density.
    fn curvature(&mut self, sigma: &[f64], curvature: &mut [f64]) -> Result<()> {
        check_length("sigma", sigma.len(), "error", self.rows())?;
        check_length("curvature", curvature.len(), "error", self.rows())?;
        check_sigma(sigma)?;
        let (split, (total, weight)) = (self.cost.split(), self.cost.weights());
        for (row, (out, sigma)) in curvature.iter_mut().zip(sigma).enumerate() {
            let share = weight.map_or(1.0, |weight| weight[row]) / total;
            *out = share * mean_curvature(split, self.bend, *sigma);
        }
        Ok(())
    }
}

/// What the cost needs of the law at a scaled error.
#[derive(Clone, Copy, Default)]
struct Entry {
    z: f64,
    crps: f64,
    crps_slope: f64,
    quantile: f64,
    quantile_slope: f64,
}

/// [`Entry`] at equal steps of $t = \operatorname{arsinh} z$, with cubics between them.
struct Table {
    /// $C$, $q$ and their slopes in $t$.
    knots: Vec<[[f64; 2]; 2]>,
}

/// The largest $t$, which is that of about 4e9, and the steps up to it.
const REACH: f64 = 22.8;
const STEPS: usize = 800;

impl Table {
    fn of(law: &Law) -> Self {
        let knot = |i: usize| {
            let z = Self::t(i).sinh();
            let by_t = z.hypot(1.0);
            let quantile = law.gaussian_quantile_of(z);
            let slope = (law.log_density(z) - Law::normal(0.0, 1.0).log_density(quantile)).exp();
            [[law.crps(z), (law.cdf(z) - law.exceed(z)) * by_t], [quantile, slope * by_t]]
        };
        Self { knots: (0..=2 * STEPS).map(knot).collect() }
    }

    /// $2\int z^2 f(z)^2 \, dz$ over the steps of the table.
    fn bend(law: &Law) -> f64 {
        let at = |i: usize| {
            let z = Self::t(i).sinh();
            let density = law.density(z);
            (z * density) * (z * density) * z.hypot(1.0)
        };
        2.0 * REACH / STEPS as f64 * (0..=2 * STEPS).map(at).sum::<f64>()
    }

    fn t(i: usize) -> f64 {
        REACH * (i as f64 / STEPS as f64 - 1.0)
    }

    fn at(&self, z: f64) -> Entry {
        let z = z.clamp(-3e9, 3e9);
        let step = REACH / STEPS as f64;
        let place = (z.asinh() + REACH) / step;
        let i = (place as usize).min(2 * STEPS - 1);
        let (u, by_t) = (place - i as f64, z.hypot(1.0));
        let cubic = |of: usize| {
            let ([a, da], [b, db]) = (self.knots[i][of], self.knots[i + 1][of]);
            let (da, db) = (da * step, db * step);
            let (second, third) = (3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db);
            let value = a + u * (da + u * (second + u * third));
            let slope = da + u * (2.0 * second + 3.0 * u * third);
            (value, slope / step / by_t)
        };
        let ((crps, crps_slope), (quantile, quantile_slope)) = (cubic(0), cubic(1));
        Entry { z, crps, crps_slope, quantile, quantile_slope }
    }
}
