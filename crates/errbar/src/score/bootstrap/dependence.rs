//! Do neighbouring rows have errors in common? Then they are fewer than they seem.

use serde::{Deserialize, Serialize};

use crate::score::sample::Sample;

/// Rows that are not independent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// The correlation of neighbouring rows: that of $z = \varepsilon/\sigma$ or of its size,
    /// whichever is larger.
    pub autocorrelation: f64,
    /// Whether it is the errors' sizes that go together, rather than the errors.
    pub of_sizes: bool,
    /// A block for [`Options::block`](super::Options::block): twice the number of rows after which the correlation
    /// is below 0.1, and at most a tenth of the rows.
    pub block: usize,
}

/// Whether neighbouring rows are correlated, by more than 0.1 and by more than chance (three
/// standard errors, $3/\sqrt n$); none where they look independent.
///
/// Looks at the first million rows, in the order given, and at $|z|$ up to 10.
#[must_use]
pub fn dependence(sample: &Sample) -> Option<Dependence> {
    const LOOK_AT: usize = 1 << 20;
    const FEWEST: usize = 20;
    let rows = sample.len().min(LOOK_AT);
    if rows < FEWEST {
        return None;
    }
    let z: Vec<f64> = sample.error()[..rows]
        .iter()
        .zip(sample.sigma())
        .map(|(error, sigma)| (error / sigma).clamp(-10.0, 10.0))
        .collect();
    let sizes: Vec<f64> = z.iter().map(|z| z.abs()).collect();
    let least = (3.0 / (rows as f64).sqrt()).max(0.1);
    let of = |values: Vec<f64>| {
        let centred = centred(values)?;
        let autocorrelation = correlation(&centred, 1);
        (autocorrelation > least).then(|| (autocorrelation, forgotten_after(&centred)))
    };
    let (plain, sizes) = (of(z), of(sizes));
    let (one, two) = (plain.unwrap_or_default(), sizes.unwrap_or_default());
    let (autocorrelation, of_sizes) = if one.0 >= two.0 { (one.0, false) } else { (two.0, true) };
    let block = (2 * one.1.max(two.1)).min(sample.len() / 10).max(2);
    (plain.is_some() || sizes.is_some()).then_some(Dependence { autocorrelation, of_sizes, block })
}

/// Values minus their mean over their standard deviation; none when all are equal.
fn centred(mut values: Vec<f64>) -> Option<Vec<f64>> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    let per_deviation = 1.0 / variance.sqrt();
    values.iter_mut().for_each(|v| *v = (*v - mean) * per_deviation);
    (variance > 0.0 && per_deviation.is_finite()).then_some(values)
}

/// The correlation of values `lag` rows apart.
fn correlation(centred: &[f64], lag: usize) -> f64 {
    let pairs = centred.iter().zip(&centred[lag..]);
    pairs.map(|(a, b)| a * b).sum::<f64>() / centred.len() as f64
}

/// The lag at which the correlation falls below 0.1, among lags that grow by a quarter.
fn forgotten_after(centred: &[f64]) -> usize {
    let mut lag = 1;
    while lag < centred.len() / 4 && correlation(centred, lag) >= 0.1 {
        lag = (lag + 1).max(lag * 5 / 4);
    }
    lag
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    fn series(rows: usize, memory: f64, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        let (mut last, fresh) = (0.0, (1.0 - memory * memory).sqrt());
        let step = |_| {
            let noise: f64 = StandardNormal.sample(&mut random);
            last = memory * last + fresh * noise;
            last
        };
        (0..rows).map(step).collect()
    }

    /// An autoregressive series has correlation $\phi^k$ at lag k: 0.8 falls below 0.1 at 11.
    #[test]
    fn memory_is_seen_and_measured() {
        let error = series(5000, 0.8, 1);
        let sigma = vec![1.0; 5000];
        let found = dependence(&Sample::new(&error, &sigma).unwrap()).unwrap();
        // The standard error of the correlation is sqrt((1 - phi²)/n), 0.0085.
        assert!((found.autocorrelation - 0.8).abs() < 0.04, "{found:?}");
        assert!(!found.of_sizes && (16..=32).contains(&found.block), "{found:?}");
    }

    #[test]
    fn independent_rows_are_left_alone() {
        for seed in 0..20 {
            let error = series(400, 0.0, seed);
            assert_eq!(dependence(&Sample::new(&error, &[1.0; 400]).unwrap()), None, "{seed}");
        }
    }

    #[test]
    fn sizes_alone_can_go_together() {
        let (size, sign) = (series(4000, 0.95, 3), series(4000, 0.0, 4));
        let error: Vec<f64> = size.iter().zip(&sign).map(|(a, b)| a.exp() * b).collect();
        let found = dependence(&Sample::new(&error, &[1.0; 4000]).unwrap()).unwrap();
        assert!(found.of_sizes && found.block > 10, "{found:?}");
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let sigma = [1.0; 50];
        assert_eq!(dependence(&Sample::new(&[0.0; 50], &sigma).unwrap()), None);
        assert_eq!(dependence(&Sample::new(&[1.0], &[1.0]).unwrap()), None);
    }
}
