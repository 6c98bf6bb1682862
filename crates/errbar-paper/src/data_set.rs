//! The paper's data sets, with the mean and the sigma they were made from.

use std::f64::consts::PI;

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// A data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataSet {
    /// Goldberg et al. (1998): sigma grows along a line.
    G,
    /// Yuan and Wahba (2004): sigma is the exponential of a sine.
    Y,
    /// Williams (1996): sigma goes down to 0.01.
    W,
    /// Five inputs, after Genz (1984), with a mean of zero.
    FiveD,
}

/// Rows drawn from a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// Inputs, row by row.
    pub x: Vec<f64>,
    /// Observations.
    pub y: Vec<f64>,
}

/// Quartiles that the paper's Table 1 prints for one method.
pub type PaperRow = [f64; 3];

impl DataSet {
    /// The data sets of Table 1.
    pub const ONE_DIMENSIONAL: [Self; 3] = [Self::G, Self::Y, Self::W];

    /// The name in the paper.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::G => "G",
            Self::Y => "Y",
            Self::W => "W",
            Self::FiveD => "5D",
        }
    }

    /// The number of inputs.
    #[must_use]
    pub fn columns(self) -> usize {
        if self == Self::FiveD { 5 } else { 1 }
    }

    /// Inputs are uniform between zero and this.
    #[must_use]
    pub fn range(self) -> f64 {
        if self == Self::W { PI } else { 1.0 }
    }

    /// The true mean at a row of inputs.
    #[must_use]
    pub fn mean(self, x: &[f64]) -> f64 {
        match self {
            Self::G => 2.0 * (2.0 * PI * x[0]).sin(),
            Self::Y => {
                2.0 * ((-30.0 * (x[0] - 0.25).powi(2)).exp() + (PI * x[0] * x[0]).sin()) - 2.0
            }
            Self::W => (2.5 * x[0]).sin() * (1.5 * x[0]).sin(),
            Self::FiveD => 0.0,
        }
    }

    /// The true sigma at a row of inputs.
    #[must_use]
    pub fn sigma(self, x: &[f64]) -> f64 {
        match self {
            Self::G => 0.5 * x[0] + 0.5,
            Self::Y => (2.0 * PI * x[0]).sin().exp() / 3.0,
            Self::W => 0.01 + 0.25 * (1.0 - (2.5 * x[0]).sin()).powi(2),
            Self::FiveD => 0.45 * ((PI + 5.0 * x.iter().sum::<f64>()).cos() + 1.2),
        }
    }

    /// Draws rows.
    #[must_use]
    pub fn draw(self, rows: usize, rng: &mut Pcg64) -> Draw {
        let x: Vec<f64> =
            (0..rows * self.columns()).map(|_| rng.random_range(0.0..self.range())).collect();
        let y = x
            .chunks_exact(self.columns())
            .map(|x| self.mean(x) + self.sigma(x) * rng.sample::<f64, _>(StandardNormal))
            .collect();
        Draw { x, y }
    }

    /// The random stream of one run: it depends on the seed, the data set and the run alone, so that
    /// results do not depend on the order of runs or on threads.
    #[must_use]
    pub fn stream(self, seed: u64, run: u64) -> Pcg64 {
        let set = match self {
            Self::G => 1u64,
            Self::Y => 2,
            Self::W => 3,
            Self::FiveD => 4,
        };
        // The halves of the state and of the stream number: no two runs share both.
        Pcg64::new(
            u128::from(seed) << 64 | u128::from(run),
            u128::from(set) << 64 | u128::from(run),
        )
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Means over fine grids, against integrals worked out by hand or with another program.
    #[test]
    fn sigmas_have_the_ranges_the_paper_gives() {
        let over = |set: DataSet| {
            let n = 100_000;
            let at = |i: usize| set.sigma(&[set.range() * (i as f64 + 0.5) / n as f64]);
            let values: Vec<f64> = (0..n).map(at).collect();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            (low, high, values.iter().sum::<f64>() / n as f64)
        };
        let near = |got: (f64, f64, f64), want: (f64, f64, f64)| {
            assert!((got.0 - want.0).abs() < 1e-4 && (got.1 - want.1).abs() < 1e-4, "{got:?}");
            assert!((got.2 - want.2).abs() < 1e-4, "{got:?}");
        };
        near(over(DataSet::G), (0.5, 1.0, 0.75));
        // I_0(1) = 1.2660658778 is the mean of exp(sin).
        near(over(DataSet::Y), ((-1f64).exp() / 3.0, 1f64.exp() / 3.0, 1.266_065_877_8 / 3.0));
        // The mean of (1 - sin 2.5x)² over [0, pi] is 3/2 - 4/(5 pi).
        near(over(DataSet::W), (0.01, 1.01, 0.01 + 0.25 * (1.5 - 4.0 / (5.0 * PI))));
        let mut rng = Pcg64::seed_from_u64(1);
        let draw = DataSet::FiveD.draw(20_000, &mut rng);
        let sigma: Vec<f64> = draw.x.chunks_exact(5).map(|x| DataSet::FiveD.sigma(x)).collect();
        assert!(sigma.iter().all(|s| (0.09..=0.99).contains(s)));
    }

    #[test]
    fn draws_have_the_mean_and_sigma_they_are_made_from() {
        for set in [DataSet::G, DataSet::Y, DataSet::W, DataSet::FiveD] {
            let draw = set.draw(40_000, &mut set.stream(7, 3));
            let z: Vec<f64> = draw
                .x
                .chunks_exact(set.columns())
                .zip(&draw.y)
                .map(|(x, y)| (y - set.mean(x)) / set.sigma(x))
                .collect();
            let mean = z.iter().sum::<f64>() / z.len() as f64;
            let square = z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
            // Four standard errors.
            assert!(mean.abs() < 4.0 / 200.0 && (square - 1.0).abs() < 4.0 * 2f64.sqrt() / 200.0);
        }
    }

    #[test]
    fn streams_differ_by_seed_set_and_run() {
        let first = |set: DataSet, seed, run| set.draw(1, &mut set.stream(seed, run)).x[0];
        let a = first(DataSet::G, 0, 0);
        assert_eq!(a, first(DataSet::G, 0, 0));
        for other in [(DataSet::Y, 0, 0), (DataSet::G, 1, 0), (DataSet::G, 0, 1)] {
            assert_ne!(a, first(other.0, other.1, other.2));
        }
    }
}
