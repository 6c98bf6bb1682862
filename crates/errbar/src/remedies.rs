//! What would make error bars better, and by how much: judged on rows that were left out, not guessed.
//!
//! A remedy has a few numbers to be learned: a factor, a bias. Learned from all rows and judged by the same, each would
//! look good. So rows are judged by what the others say (five parts in turn), or, where the question is whether to
//! follow what has been observed, by what the rows before them say.

use std::borrow::Cow;

use crate::data::{Data, LEAST_ROWS, Split};
use crate::error::Result;
use crate::fit::Worth;
use crate::law::judge::{self, ErrorLaws};
use crate::law::{Bounds, ErrorLaw};
use crate::mean::bias;
use crate::means::Mean;
use crate::monitor::Monitor;
use crate::score::Sample;

/// Parts of the rows that are left out in turn.
const PARTS: usize = 5;
/// Parts in time, each corrected by the one before.
const STEPS: usize = 20;
/// More rows do not tell much more about a bias, and take long.
const MOST_ROWS: usize = 10_000;
/// Inputs that a bias is learned from, at most.
const MOST_INPUTS: usize = 8;

/// Something to do about error bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Multiply every sigma by one factor.
    Rescale,
    /// Make sigma vary more, or less: $\sigma' = a \sigma^b$.
    Stretch,
    /// Learn the bias from forecast and inputs, move forecasts by it, and rescale sigma.
    Debias,
    /// Correct each stretch of rows by the mean and the size of the errors in the stretch before.
    Follow,
}

/// Error bars and what is known beside them.
#[derive(Debug, Clone)]
pub struct Judged<'a> {
    /// Errors and sigmas, in the order of time where there is one.
    pub sample: &'a Sample<'a>,
    /// The laws of the errors; none where all are Gaussian.
    pub laws: Option<ErrorLaws<'a>>,
    /// What was forecast.
    pub forecast: &'a [f64],
    /// What a bias may depend on, column by column.
    pub inputs: Vec<&'a [f64]>,
    /// Whether the rows are in the order of time.
    pub in_time_order: bool,
}

/// The share by which the mean CRPS would fall on rows left out; none of rows too few to tell.
///
/// ```
/// use errbar::remedies::{Judged, Remedy, worth};
/// use errbar::score::Sample;
///
/// // Errors of 1 and -1 in turn, a sigma of 3: that of Gaussian errors as large would be 1.
/// let error: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
/// let sample = Sample::new(&error, &[3.0; 200])?;
/// let judged = Judged { sample: &sample, laws: None, forecast: &[0.0; 200], inputs: vec![], in_time_order: false };
/// let found = worth(Remedy::Rescale, &judged, &errbar::Silent)?.unwrap();
/// // CRPS(1; 3) = 0.8328 and CRPS(1; 1) = 0.6024.
/// assert!((found.gain - (1.0 - 0.602_441 / 0.832_847)).abs() < 1e-4, "{found:?}");
/// # Ok::<(), errbar::Error>(())
/// ```
///
/// # Errors
/// Columns of different lengths, or a monitor that asked to stop.
pub fn worth(remedy: Remedy, judged: &Judged, monitor: &dyn Monitor) -> Result<Option<Worth>> {
    let rows = Rows::of(judged)?;
    let n = rows.error.len();
    if n < LEAST_ROWS {
        return Ok(None);
    }
    let better = match remedy {
        Remedy::Rescale => rows.with_sigma(rows.rescaled()),
        Remedy::Stretch => rows.with_sigma(rows.stretched()),
        Remedy::Follow => rows.followed(),
        Remedy::Debias => {
            let moved = rows.moved(&rows.bias(judged, monitor)?);
            let sigma = moved.rescaled();
            moved.with_sigma(sigma)
        }
    };
    let (before, after) = (rows.crps()?, better.crps()?);
    let gain: Vec<f64> = before.iter().zip(&after).map(|(before, after)| before - after).collect();
    let weight = rows.weight.as_deref();
    let all = Mean::of(&before, weight).zip(Mean::of(&gain, weight));
    Ok(all.filter(|(whole, gain)| whole.value > 0.0 && gain.value.is_finite()).map(
        |(whole, gain)| Worth::new(gain.value / whole.value, gain.standard_error / whole.value),
    ))
}

/// Some of the rows, evenly chosen.
#[derive(Clone)]
struct Rows<'a> {
    /// Which of all.
    at: Cow<'a, [usize]>,
    error: Vec<f64>,
    sigma: Vec<f64>,
    weight: Option<Vec<f64>>,
    /// Empty where all are Gaussian.
    laws: Cow<'a, [ErrorLaw]>,
    bounds: Vec<Bounds>,
}

impl Rows<'_> {
    fn of(judged: &Judged) -> Result<Rows<'static>> {
        let sample = judged.sample;
        let step = sample.len().div_ceil(MOST_ROWS).max(1);
        let at: Vec<usize> = (0..sample.len()).step_by(step).collect();
        let pick = |values: &[f64]| -> Vec<f64> { at.iter().map(|&row| values[row]).collect() };
        let own = |laws: &ErrorLaws| -> (Vec<ErrorLaw>, Vec<Bounds>) {
            let one = |&row: &usize| Some((laws.get(row)?.clone(), laws.bounds(row)));
            at.iter().filter_map(one).unzip()
        };
        let (laws, bounds) = judged.laws.as_ref().map(own).unwrap_or_default();
        Ok(Rows {
            error: pick(sample.error()),
            sigma: pick(sample.sigma()),
            weight: sample.weight().map(pick),
            laws: Cow::Owned(laws),
            bounds,
            at: Cow::Owned(at),
        })
    }

    /// With other sigmas.
    fn with_sigma(&self, sigma: Vec<f64>) -> Self {
        Self { sigma, ..self.clone() }
    }

    /// With every forecast moved.
    fn moved(&self, bias: &[f64]) -> Self {
        let error = bias::without(&self.error, bias);
        let bounds = self.bounds.iter().zip(bias).map(|(bounds, bias)| bounds.around(*bias));
        Self { error, bounds: bounds.collect(), ..self.clone() }
    }

    fn sample(&self) -> Result<Sample<'_>> {
        Sample::new(&self.error, &self.sigma)?.maybe_weighted(self.weight.as_deref())
    }

    fn own(&self) -> Option<ErrorLaws<'_>> {
        (self.laws.len() == self.error.len())
            .then(|| ErrorLaws::new(&self.laws).within(Some(&self.bounds)))
    }

    /// CRPS of each row.
    fn crps(&self) -> Result<Vec<f64>> {
        let sample = self.sample()?;
        match self.own() {
            Some(laws) => Ok(judge::scores(&sample, laws)?.0),
            None => Ok(crate::score::crps::each(&sample)),
        }
    }

    /// Errors over sigma, each as improbable as by its law.
    fn z(&self) -> Vec<f64> {
        let equal = self
            .sample()
            .ok()
            .zip(self.own())
            .and_then(|(sample, laws)| judge::as_gaussian(&sample, laws).ok());
        let error = equal.as_deref().unwrap_or(&self.error);
        error.iter().zip(&self.sigma).map(|(error, sigma)| error / sigma).collect()
    }

    fn weight(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |weight| weight[row])
    }

    /// The root mean square of some errors over sigma, 1 where there is none.
    fn size(&self, z: &[f64], rows: impl Iterator<Item = usize> + Clone) -> f64 {
        let total: f64 = rows.clone().map(|row| self.weight(row)).sum();
        let squares: f64 = rows.map(|row| self.weight(row) / total * z[row] * z[row]).sum();
        let size = squares.sqrt();
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }

    /// Each part with the factor that the others ask for.
    fn rescaled(&self) -> Vec<f64> {
        let z = self.z();
        in_turn(z.len(), |others, part| {
            let factor = self.size(&z, others.iter().copied());
            part.map(|row| legal(self.sigma[row] * factor)).collect()
        })
    }

    /// Each part with the factor and the power that the others ask for: those of the greatest likelihood of Gaussian
    /// errors, found by Newton's method.
    fn stretched(&self) -> Vec<f64> {
        let z = self.z();
        let log: Vec<f64> = self.sigma.iter().map(|sigma| sigma.ln()).collect();
        in_turn(z.len(), |others, part| {
            let total: f64 = others.iter().map(|&row| self.weight(row)).sum();
            let middle: f64 = others.iter().map(|&row| self.weight(row) / total * log[row]).sum();
            let spread = others.iter().map(|&row| (log[row] - middle).abs()).fold(0.0, f64::max);
            // ln σ' = ln σ + a + b (ln σ - middle)
            let (mut a, mut b) = (self.size(&z, others.iter().copied()).ln(), 0.0);
            for _ in 0..50 {
                let mut slope = [0.0; 2];
                let mut bend = [0.0; 3];
                for &row in others {
                    let x = log[row] - middle;
                    let weight = self.weight(row) / total;
                    let square = weight * (z[row] * (-(a + b * x)).exp()).powi(2);
                    slope[0] += weight - square;
                    slope[1] += (weight - square) * x;
                    bend[0] += 2.0 * square;
                    bend[1] += 2.0 * square * x;
                    bend[2] += 2.0 * square * x * x;
                }
                let determinant = bend[0] * bend[2] - bend[1] * bend[1];
                let step = match determinant > 1e-12 * bend[0] * bend[2] {
                    true => [
                        (slope[0] * bend[2] - slope[1] * bend[1]) / determinant,
                        (slope[1] * bend[0] - slope[0] * bend[1]) / determinant,
                    ],
                    false => [slope[0] / bend[0], 0.0],
                };
                if !(step[0].is_finite() && step[1].is_finite()) {
                    break;
                }
                // No step so long that the exponential leaves its range.
                let longest = step[0].abs() + spread * step[1].abs();
                let share = (1.0 / longest.max(1e-300)).min(1.0);
                (a, b) = (a - share * step[0], b - share * step[1]);
                if longest < 1e-10 {
                    break;
                }
            }
            let new = |row: usize| legal((log[row] + a + b * (log[row] - middle)).exp());
            part.map(new).collect()
        })
    }

    /// Each stretch moved and rescaled by what the one before would have needed.
    fn followed(&self) -> Self {
        let n = self.error.len();
        let ends: Vec<usize> = (0..=STEPS).map(|step| step * n / STEPS).collect();
        let mut bias = vec![0.0; n];
        for pair in ends.windows(3) {
            let before = pair[0]..pair[1];
            let total: f64 = before.clone().map(|row| self.weight(row)).sum();
            let mean: f64 = before.map(|row| self.weight(row) / total * self.error[row]).sum();
            let mean = if mean.is_finite() { mean } else { 0.0 };
            bias[pair[1]..pair[2]].fill(mean);
        }
        let moved = self.moved(&bias);
        let z = moved.z();
        let mut sigma = self.sigma.clone();
        for pair in ends.windows(3) {
            let factor = self.size(&z, pair[0]..pair[1]);
            sigma[pair[1]..pair[2]].iter_mut().for_each(|sigma| *sigma = legal(*sigma * factor));
        }
        moved.with_sigma(sigma)
    }

    /// The bias of each row from rows without it.
    fn bias(&self, judged: &Judged, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        let columns: Vec<&[f64]> = std::iter::once(judged.forecast)
            .chain(judged.inputs.iter().copied().take(MOST_INPUTS))
            .filter(|column| column.len() == judged.sample.len())
            .collect();
        let table: Vec<f64> =
            self.at.iter().flat_map(|&row| columns.iter().map(move |column| column[row])).collect();
        let data = Data::with_missing(&table, columns.len(), &self.error)?
            .maybe_weighted(self.weight.as_deref())?;
        let split = if judged.in_time_order { Split::InOrder } else { Split::Random };
        Ok(bias::fit(&data, split, 0, monitor)?.held_out)
    }
}

/// A sigma that is one.
fn legal(sigma: f64) -> f64 {
    sigma.clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// Each of some parts of consecutive rows, from all others.
fn in_turn(rows: usize, of: impl Fn(&[usize], std::ops::Range<usize>) -> Vec<f64>) -> Vec<f64> {
    let mut out = Vec::with_capacity(rows);
    for part in 0..PARTS {
        let held = part * rows / PARTS..(part + 1) * rows / PARTS;
        let others: Vec<usize> = (0..rows).filter(|row| !held.contains(row)).collect();
        out.extend(of(&others, held));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    /// Errors of a Gaussian with these deviations, by the inverse of its distribution at evenly spread places.
    fn errors(sigma: &[f64]) -> Vec<f64> {
        let law = crate::law::Law::normal(0.0, 1.0);
        let place = |row: usize| (0.5 + row as f64 * 0.618_033_988_749_894_9).fract();
        sigma
            .iter()
            .enumerate()
            .map(|(row, sigma)| sigma * law.quantile(place(row).clamp(1e-6, 1.0 - 1e-6)))
            .collect()
    }

    fn gain(remedy: Remedy, error: &[f64], sigma: &[f64], forecast: &[f64]) -> Worth {
        let sample = Sample::new(error, sigma).unwrap();
        let judged =
            Judged { sample: &sample, laws: None, forecast, inputs: vec![], in_time_order: true };
        worth(remedy, &judged, &Silent).unwrap().unwrap()
    }

    /// The mean CRPS of a Gaussian of deviation s where σ is said: s (√2 √(1 + r²) - r) / √π with r = σ / s,
    /// from the energy form E|X - Y| - E|X - X'| / 2.
    fn expected(s: f64, sigma: f64) -> f64 {
        ((2.0 * (s * s + sigma * sigma)).sqrt() - sigma) / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn gains_are_those_of_the_mathematics() {
        let n = 4_000;
        // A factor.
        let error = errors(&vec![1.0; n]);
        let found = gain(Remedy::Rescale, &error, &vec![2.5; n], &vec![0.0; n]);
        let truth = 1.0 - expected(1.0, 1.0) / expected(1.0, 2.5);
        assert!((found.gain - truth).abs() < 0.01, "{found:?} {truth}");
        // Nothing to gain.
        let found = gain(Remedy::Rescale, &error, &vec![1.0; n], &vec![0.0; n]);
        assert!(found.gain.abs() < 1e-3 && !found.pays(), "{found:?}");
        // A sigma that varies too little: the truth is its square.
        let sigma: Vec<f64> = (0..n).map(|row| (0.3 + (row % 7) as f64 / 3.0).sqrt()).collect();
        let error = errors(&sigma.iter().map(|s| s * s).collect::<Vec<_>>());
        let of =
            |of: &dyn Fn(f64) -> f64| sigma.iter().map(|s| expected(s * s, of(*s))).sum::<f64>();
        let found = gain(Remedy::Stretch, &error, &sigma, &vec![0.0; n]);
        let truth = 1.0 - of(&|s| s * s) / of(&|s| s);
        assert!((found.gain - truth).abs() < 0.005, "{found:?} {truth}");
    }

    /// A bias of half the forecast, and one that appears in the middle.
    #[test]
    fn biases_are_learned_from_other_rows() {
        let n = 3_000;
        let forecast: Vec<f64> =
            (0..n).map(|row| ((row * 37 % 101) as f64 - 50.0) / 10.0).collect();
        let noise = errors(&vec![1.0; n]);
        let error: Vec<f64> = noise.iter().zip(&forecast).map(|(e, f)| e - 0.5 * f).collect();
        let crps = |e: &[f64], s: f64| {
            let sigmas = vec![s; e.len()];
            crate::score::crps::mean(&Sample::new(e, &sigmas).unwrap())
        };
        let found = gain(Remedy::Debias, &error, &vec![1.0; n], &forecast);
        let truth = 1.0 - crps(&noise, 1.0) / crps(&error, 1.0);
        assert!((found.gain - truth).abs() < 0.02, "{found:?} {truth}");
        let found = gain(Remedy::Debias, &noise, &vec![1.0; n], &forecast);
        assert!(found.gain < 0.002 && !found.pays(), "{found:?}");
        // From the middle on 3 too low: only the stretch in which it begins is lost.
        let shifted: Vec<f64> = noise
            .iter()
            .enumerate()
            .map(|(row, e)| e + if row < n / 2 { 0.0 } else { 3.0 })
            .collect();
        let found = gain(Remedy::Follow, &shifted, &vec![1.0; n], &forecast);
        let best = 1.0 - crps(&noise, 1.0) / crps(&shifted, 1.0);
        assert!(found.gain > 0.6 * best && found.gain < best, "{found:?} {best}");
    }

    #[test]
    fn sizes_and_few_rows_do_no_harm() {
        let sample = Sample::new(&[1.0; 3], &[1.0; 3]).unwrap();
        let judged = Judged {
            sample: &sample,
            laws: None,
            forecast: &[0.0; 3],
            inputs: vec![],
            in_time_order: false,
        };
        assert_eq!(worth(Remedy::Rescale, &judged, &Silent).unwrap(), None);
        for size in [1e-300, 1.0, 1e150, 1e300] {
            let error: Vec<f64> =
                (0..100).map(|i| if i == 7 { size } else { f64::from(i % 3) - 1.0 }).collect();
            let sigma: Vec<f64> =
                (0..100).map(|i| if i == 9 { size } else { 1.0 + f64::from(i % 2) }).collect();
            for remedy in [Remedy::Rescale, Remedy::Stretch, Remedy::Follow, Remedy::Debias] {
                let sample = Sample::new(&error, &sigma).unwrap();
                let judged =
                    Judged { sample: &sample, laws: None, forecast: &error, ..judged.clone() };
                let found = worth(remedy, &judged, &Silent).unwrap();
                assert!(found.is_none_or(|w| w.gain.is_finite()), "{remedy:?} {size}: {found:?}");
            }
        }
    }
}
