//! The report as a caller sees it.

mod hostile; // names, values and lengths that break things
mod markup; // what a page is made of, checked from outside
mod places; // leads, hours, maps, outliers
mod series; // what a table with times shows beyond others
mod words; // headline, advice, numbers in tables

use errbar_report::report::{Column, Subject};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// A forecast whose errors grow with its input, and the sigma that somebody gave to them.
pub(crate) struct Example {
    pub(crate) x: Vec<f64>,
    pub(crate) forecast: Vec<f64>,
    pub(crate) observation: Vec<f64>,
    pub(crate) sigma: Vec<f64>,
}

impl Example {
    /// With sigma `factor` times what it should be.
    pub(crate) fn new(rows: usize, factor: f64) -> Self {
        let mut random = Pcg64::seed_from_u64(5);
        let x: Vec<f64> = (0..rows).map(|i| (i as f64 * 0.618_034).fract()).collect();
        let forecast: Vec<f64> = x.iter().map(|x| 10.0 * (3.0 * x).sin()).collect();
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let observation =
            x.iter().zip(&forecast).map(|(x, mu)| mu + (0.5 + x) * normal()).collect();
        let sigma = x.iter().map(|x| factor * (0.5 + x)).collect();
        Self { x, forecast, observation, sigma }
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            observation: Column { name: "y", values: &self.observation },
            forecast: Column { name: "mu", values: &self.forecast },
            sigma: &self.sigma,
            inputs: vec![Column { name: "x", values: &self.x }],
            ..Subject::default()
        }
    }
}
