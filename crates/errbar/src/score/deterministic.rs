//! Scores of the forecast alone, which know nothing of sigma.

use super::block::{BLOCK, mean_blocks, weighted_sum};
use super::sample::{Errors, Sample};

/// The mean absolute error, $\overline{|\varepsilon|}$.
#[must_use]
pub fn mean_absolute_error(sample: &Sample) -> f64 {
    sample.errors().mean_absolute()
}

/// The absolute error of every row, in order.
#[must_use]
pub fn each_absolute_error(sample: &Sample) -> Vec<f64> {
    sample.error().iter().map(|e| e.abs()).collect()
}

/// The mean squared error, $\overline{\varepsilon^2}$ (infinite when it is beyond 1.8e308).
#[must_use]
pub fn mean_squared_error(sample: &Sample) -> f64 {
    mean_of(sample.errors(), sample.error(), |e| e * e)
}

/// The root mean squared error, also where the squares themselves overflow or vanish.
#[must_use]
pub fn root_mean_squared_error(sample: &Sample) -> f64 {
    root_mean_square(sample.errors(), sample.error())
}

/// The mean error: above zero when observations lie above forecasts.
#[must_use]
pub fn bias(sample: &Sample) -> f64 {
    mean_of(sample.errors(), sample.error(), |e| e)
}

/// The mean sigma: how wide the forecasts are, whatever happened.
#[must_use]
pub fn mean_sigma(sample: &Sample) -> f64 {
    mean_of(sample.errors(), sample.sigma(), |s| s)
}

/// The root mean square of sigma, which a calibrated forecast shares with its errors.
#[must_use]
pub fn root_mean_square_sigma(sample: &Sample) -> f64 {
    root_mean_square(sample.errors(), sample.sigma())
}

/// The mean of $z = \varepsilon/\sigma$: 0 when the forecast has no bias.
#[must_use]
pub fn mean_z(sample: &Sample) -> f64 {
    mean_of(sample.errors(), &each_z(sample), |z| z)
}

/// The root mean square of $z = \varepsilon/\sigma$: 1 when sigma has the right size on the whole.
#[must_use]
pub fn root_mean_square_z(sample: &Sample) -> f64 {
    root_mean_square(sample.errors(), &each_z(sample))
}

fn each_z(sample: &Sample) -> Vec<f64> {
    sample.error().iter().zip(sample.sigma()).map(|(e, s)| e / s).collect()
}

fn root_mean_square(errors: &Errors, values: &[f64]) -> f64 {
    let plain = mean_of(errors, values, |v| v * v);
    if plain.is_finite() && plain > f64::MIN_POSITIVE / f64::EPSILON {
        return plain.sqrt();
    }
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 || largest == f64::INFINITY {
        return largest;
    }
    largest * mean_of(errors, values, |v| (v / largest) * (v / largest)).sqrt()
}

/// The weighted mean of a function of one column.
pub(crate) fn mean_of(errors: &Errors, values: &[f64], f: impl Fn(f64) -> f64 + Sync) -> f64 {
    let weight = errors.weight.as_deref();
    mean_blocks(values.len(), errors.total, |rows, part| {
        let mut buffer = [0.0; BLOCK];
        let terms = &mut buffer[..rows.len()];
        for (term, &value) in terms.iter_mut().zip(&values[rows.clone()]) {
            *term = part * f(value);
        }
        weighted_sum(terms, weight.map(|w| &w[rows]))
    })
}
