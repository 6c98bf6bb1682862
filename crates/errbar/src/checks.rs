//! What is asked of every table of numbers, at the border.

use crate::error::{Error, Result};
use crate::math::{Arithmetic, Kernel, dispatch};

/// The largest number of rows in one sample: twice a rank must fit 32 bits.
pub(crate) const MAX_ROWS: usize = (u32::MAX / 2) as usize;

pub(crate) fn check_rows(rows: usize) -> Result<()> {
    match rows {
        0 => Err(Error::Empty),
        rows if rows > MAX_ROWS => Err(Error::TooManyRows { rows, limit: MAX_ROWS }),
        _ => Ok(()),
    }
}

pub(crate) fn check_length(
    what: &'static str,
    length: usize,
    other: &'static str,
    expected: usize,
) -> Result<()> {
    if length == expected {
        Ok(())
    } else {
        Err(Error::LengthMismatch { what, length, other, expected })
    }
}

pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
    match first_not_finite(values) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite { what, index, value: values[index] }),
    }
}

/// Looks at everything first without leaving early, which vectorises; searches only on failure.
pub(crate) fn first_not_finite(values: &[f64]) -> Option<usize> {
    if dispatch(BitRange { values, mask: i64::MAX }).1 < INFINITE_BITS {
        None
    } else {
        values.iter().position(|x| !x.is_finite())
    }
}

pub(crate) fn check_sigma(sigma: &[f64]) -> Result<()> {
    let (smallest, largest) = dispatch(BitRange { values: sigma, mask: -1 });
    if smallest > 0 && largest < INFINITE_BITS {
        return Ok(());
    }
    check_finite("sigma", sigma)?;
    match sigma.iter().position(|&s| s <= 0.0) {
        Some(index) => Err(Error::SigmaNotPositive { index, value: sigma[index] }),
        None => Ok(()),
    }
}

/// The bits of infinity; as integers, the bits of all finite positive numbers lie between 0 and this.
const INFINITE_BITS: i64 = f64::INFINITY.to_bits() as i64;

/// The smallest and the largest of the values' masked bits, as integers.
struct BitRange<'a> {
    values: &'a [f64],
    mask: i64,
}

impl Kernel for BitRange<'_> {
    type Output = (i64, i64);
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> (i64, i64) {
        let (mut smallest, mut largest) = (i64::MAX, i64::MIN);
        for value in self.values {
            let bits = value.to_bits() as i64 & self.mask;
            smallest = smallest.min(bits);
            largest = largest.max(bits);
        }
        (smallest, largest)
    }
}

/// Observation minus forecast, row by row.
///
/// # Errors
/// No rows, different lengths, a value that is not finite, or a difference that overflows.
pub fn errors_of(observation: &[f64], forecast: &[f64]) -> Result<Vec<f64>> {
    check_rows(observation.len())?;
    check_length("forecast", forecast.len(), "observation", observation.len())?;
    check_finite("observation", observation)?;
    check_finite("forecast", forecast)?;
    let error: Vec<f64> = observation.iter().zip(forecast).map(|(y, mu)| y - mu).collect();
    match first_not_finite(&error) {
        None => Ok(error),
        Some(index) => {
            let (observation, forecast) = (observation[index], forecast[index]);
            Err(Error::ErrorOverflow { index, observation, forecast })
        }
    }
}
