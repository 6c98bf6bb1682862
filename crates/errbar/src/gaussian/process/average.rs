//! An average over hyperparameters nearly as likely as the likeliest ones.
//!
//! Few rows tell the signal variance and the length scale only roughly, and the likeliest ones
//! forecast worse than an average in which each counts by its likelihood and prior. Nine are enough:
//! the log of the likelihood is nearly a parabola, and 0 and ±√3 standard deviations along each of two
//! axes are the points of Gauss and Hermite's rule.

use super::search::length_prior;
use super::{Conditioned, GaussianProcess};

/// More rows know their hyperparameters well enough.
const MOST_ROWS: usize = 500;

/// The change of the logs over which the curvature is taken.
const STEP: f64 = 0.1;

/// Where the curvature is less, the likelihood has no peak to average over.
const FLAT: f64 = 1e-3;

/// In Gauss and Hermite's rule the points at the sides have a quarter of the weight of the middle, where
/// the normal density is `exp(-1.5)` of that in the middle.
const SIDE: f64 = 1.120_422_267_584_516_1;

impl GaussianProcess {
    /// Averaged over the signal variance and the one length scale, the noise as it is. With many rows,
    /// and where the likelihood has no peak, it stays the same.
    pub(crate) fn averaged(mut self) -> Self {
        if self.rows() > MOST_ROWS {
            return self;
        }
        let Some((peak, _)) = self.near(0.0, 0.0) else { return self };
        let Some((signal, (with, length))) = self.axes(peak) else { return self };
        // Points, and by how much their weights are more than the density there.
        let rule = [(0.0, 1.0), (-3_f64.sqrt(), SIDE), (3_f64.sqrt(), SIDE)];
        for ((i, by_i), (j, by_j)) in rule.iter().flat_map(|i| rule.map(|j| (i, j))).skip(1) {
            let Some((log, set)) = self.near(i * signal + j * with, j * length) else { continue };
            let weight = by_i * by_j * (log - peak).exp();
            if weight.is_normal() {
                self.sets.push(Conditioned { weight, ..set });
            }
        }
        self
    }

    /// One standard deviation along two axes on which the logs of signal variance and length scale vary
    /// independently: the first alone, and the second with what the first is there.
    fn axes(&self, peak: f64) -> Option<(f64, (f64, f64))> {
        let log = |signal: f64, length: f64| Some(self.near(signal * STEP, length * STEP)?.0);
        let along = |signal: f64, length: f64| {
            let sides = log(signal, length)? + log(-signal, -length)?;
            Some((2.0 * peak - sides) / (STEP * STEP))
        };
        let (signal, length) = (along(1.0, 0.0)?, along(0.0, 1.0)?);
        let both = 0.25 * (along(1.0, 1.0)? - along(1.0, -1.0)?);
        let left = length - both * both / signal;
        let deviation = 1.0 / left.sqrt();
        (signal > FLAT && left > FLAT)
            .then(|| (1.0 / signal.sqrt(), (-both / signal * deviation, deviation)))
    }

    /// The process with signal variance and length scales changed by these logs, and the log of its
    /// likelihood and prior.
    fn near(&self, signal: f64, length: f64) -> Option<(f64, Conditioned)> {
        let mut near = self.hyperparameters.clone();
        near.signal_variance *= signal.exp();
        near.length_scales.iter_mut().for_each(|scale| *scale *= length.exp());
        let (low, high) = (self.data.low(), self.data.high());
        let ranges = high.iter().zip(&low).map(|(high, low)| high - low);
        // Constant inputs have no range.
        let mut relative = near.length_scales.iter().zip(ranges).filter(|(_, range)| *range > 0.0);
        let (scale, range) = relative.next()?;
        let (prior, _) = length_prior((scale / range).ln(), self.data.columns);
        near.check(self.data.columns).ok()?;
        let (set, log) = Conditioned::new(&self.data, &near).ok()?;
        Some((log - prior, set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::process::{NoiseScale, Options};

    fn likeliest() -> GaussianProcess {
        let x: Vec<f64> = (0..30).map(|i| i as f64 / 30.0).collect();
        let y: Vec<f64> = x.iter().map(|x| (5.0 * x).sin() + 0.3 * (1e3 * x).sin()).collect();
        let options = Options { length_prior: true, ..Default::default() };
        let noise = NoiseScale::AsGiven;
        GaussianProcess::fit_with_noise(&x, 1, &y, &[0.05; 30], noise, &options).unwrap()
    }

    /// Against sums over a fine grid. The rule is exact for a parabola; the likelihood is not quite one.
    #[test]
    fn nine_are_as_good_as_many() {
        let process = likeliest();
        let mut many = GaussianProcess { sets: Vec::new(), ..process.clone() };
        for (i, j) in (-20..=40).flat_map(|i| (-16..=16).map(move |j| (i, j))) {
            let (log, set) = process.near(0.1 * f64::from(i), 0.1 * f64::from(j)).unwrap();
            let weight = (log - process.near(0.0, 0.0).unwrap().0).exp();
            many.sets.push(Conditioned { weight, ..set });
        }
        let nine = process.clone().averaged();
        assert_eq!(nine.sets.len(), 9);
        let x: Vec<f64> = (-5..=35).map(|i| f64::from(i) / 30.0).collect();
        let [one, nine, many] =
            [&process, &nine, &many].map(|process| process.predict(&x).unwrap());
        let apart =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum() };
        assert!(apart(&nine.mean, &many.mean) < 0.3 * apart(&one.mean, &many.mean));
        let (nine, one, many) = (nine.latent_variance, one.latent_variance, many.latent_variance);
        assert!(apart(&nine, &many) < 0.3 * apart(&one, &many));
    }

    #[test]
    fn saved_and_read() {
        let process = likeliest().averaged();
        let saved = serde_json::to_value(&process).unwrap();
        let read: GaussianProcess = serde_json::from_value(saved.clone()).unwrap();
        assert_eq!(read.predict(&[0.3, 2.0]).unwrap(), process.predict(&[0.3, 2.0]).unwrap());
        assert_eq!(read.leave_one_out(), process.leave_one_out());
        let refused = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
            let mut saved = saved.clone();
            change(saved["others"].as_array_mut().unwrap());
            assert!(serde_json::from_value::<GaussianProcess>(saved).is_err());
        };
        refused(&|others| others[0]["weight"] = (-1.0).into());
        refused(&|others| others[3]["signal_variance"] = (-1.0).into());
        refused(&|others| others[3]["length_scales"] = vec![1.0, 1.0].into());
        refused(&|others| others.push(others[0].clone()));
    }
}
