//! The data sets: a sigma of the inputs, and errors of a known law in units of it.

use std::f64::consts::PI;

use errbar::law::Base;
use rand::RngExt;
use rand_distr::Open01;
use rand_pcg::Pcg64;

use super::truth::Truth;

/// A set of errors whose law is known; each has mean 0 and the standard deviation sigma(x).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkewedSet {
    /// The Gaussian, where nothing but sigma is to be learned.
    Normal,
    /// Halves of a Gaussian, one three times as long as the other.
    TwoPieceNormal,
    /// The same with a sigma of two inputs.
    TwoInputs,
    /// Halves of a Laplace law, one three times as long as the other.
    AsymmetricLaplace,
    /// Student's t with 4 degrees of freedom.
    T,
    /// Halves of Student's t with 6 degrees of freedom, one twice as long as the other.
    TwoPieceT,
    /// A log-normal law, whose logarithm has a standard deviation of 0.5.
    LogNormal,
    /// The exponential law.
    Exponential,
    /// Nine in ten of a narrow Gaussian, the others of one that is wide and elsewhere.
    Mixture,
    /// Halves of a Gaussian: from one end of the input to the other their ratio goes from a third to 3.
    Turning,
}

/// Rows drawn from a set.
pub(crate) struct Errors {
    /// Inputs, row by row.
    pub(crate) x: Vec<f64>,
    /// Errors.
    pub(crate) error: Vec<f64>,
}

impl SkewedSet {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 10] = [
        Self::Normal,
        Self::TwoPieceNormal,
        Self::TwoInputs,
        Self::AsymmetricLaplace,
        Self::T,
        Self::TwoPieceT,
        Self::LogNormal,
        Self::Exponential,
        Self::Mixture,
        Self::Turning,
    ];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::TwoPieceNormal => "two-piece normal",
            Self::TwoInputs => "two-piece normal, 2 inputs",
            Self::AsymmetricLaplace => "asymmetric Laplace",
            Self::T => "t",
            Self::TwoPieceT => "two-piece t",
            Self::LogNormal => "log-normal",
            Self::Exponential => "exponential",
            Self::Mixture => "two Gaussians",
            Self::Turning => "skew that turns",
        }
    }

    /// The number of inputs, each uniform between 0 and 1.
    #[must_use]
    pub fn columns(self) -> usize {
        if self == Self::TwoInputs { 2 } else { 1 }
    }

    /// The true sigma at a row of inputs: that of the paper's data set Y, which a second input brings to
    /// a constant.
    #[must_use]
    pub fn sigma(self, x: &[f64]) -> f64 {
        let wave = (2.0 * PI * x[0]).sin();
        x.get(1).map_or(wave, |share| share * wave).exp() / 3.0
    }

    /// The law of errors in units of sigma, at a row of inputs.
    pub(crate) fn truth(self, x: &[f64]) -> Truth {
        match self {
            Self::Normal => Truth::two_piece(Base::Normal, 1.0),
            Self::TwoPieceNormal | Self::TwoInputs => Truth::two_piece(Base::Normal, 3.0),
            Self::AsymmetricLaplace => Truth::two_piece(Base::Laplace, 3.0),
            Self::T => Truth::two_piece(Base::StudentT { nu: 4.0 }, 1.0),
            Self::TwoPieceT => Truth::two_piece(Base::StudentT { nu: 6.0 }, 2.0),
            Self::LogNormal => Truth::log_normal(0.5),
            Self::Exponential => Truth::exponential(),
            Self::Mixture => Truth::mixture(),
            Self::Turning => Truth::two_piece(Base::Normal, 3f64.powf(2.0 * x[0] - 1.0)),
        }
    }

    /// Draws rows.
    pub(crate) fn draw(self, rows: usize, rng: &mut Pcg64) -> Errors {
        self.rows(rows, rng, |_, uniform| uniform)
    }

    /// Draws rows whose errors have, of so many equal shares of the probability, one each: every part of
    /// the law speaks as often as it should, and means over rows vary less.
    pub(crate) fn draw_evenly(self, rows: usize, rng: &mut Pcg64) -> Errors {
        self.rows(rows, rng, |row, uniform| (row as f64 + uniform) / rows as f64)
    }

    fn rows(self, rows: usize, rng: &mut Pcg64, place: impl Fn(usize, f64) -> f64) -> Errors {
        let x: Vec<f64> = (0..rows * self.columns()).map(|_| rng.random_range(0.0..1.0)).collect();
        let each = x.chunks_exact(self.columns()).enumerate();
        let error = each
            .map(|(row, x)| self.sigma(x) * self.truth(x).draw(place(row, rng.sample(Open01))))
            .collect();
        Errors { x, error }
    }

    /// The random stream of one run, as [`DataSet::stream`](crate::DataSet::stream) makes them; none is
    /// one of the paper's.
    pub(crate) fn stream(self, seed: u64, run: u64) -> Pcg64 {
        let set = 101 + Self::ALL.iter().position(|set| *set == self).unwrap_or(0) as u128;
        Pcg64::new(u128::from(seed) << 64 | u128::from(run), set << 64 | u128::from(run))
    }
}
