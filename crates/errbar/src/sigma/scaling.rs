//! Inputs brought to [-1, 1].

use serde::{Deserialize, Serialize};

use crate::checks::check_rows;
use crate::data::{Data, rows_of, rows_with_missing};
use crate::error::Result;

/// The range of each input column in the training data, mapped to [-1, 1].
///
/// Beyond the range it was trained on a model knows nothing: inputs are held at its ends there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    low: Vec<f64>,
    high: Vec<f64>,
    /// What stands for a missing value of each column: the median. Older versions had it only where some
    /// were missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<f64>>,
}

impl Scaling {
    /// In halves of a range, as far from its middle as any distance need be.
    pub const FARTHEST: f64 = 1e3;

    /// The ranges of row-major inputs.
    ///
    /// # Errors
    /// No rows, no columns, a length that is not a multiple of the columns, or a value that is not
    /// finite.
    pub fn of(inputs: &[f64], columns: usize) -> Result<Self> {
        rows_of(inputs, columns)?;
        Self::known_values(inputs, columns, None)
    }

    /// The ranges of data's inputs, of which some may be missing.
    pub(crate) fn of_data(data: &Data) -> Result<Self> {
        Self::known_values(data.inputs(), data.columns(), Some(data.missing()))
    }

    fn known_values(inputs: &[f64], columns: usize, missing: Option<&[f64]>) -> Result<Self> {
        check_rows(inputs.len() / columns)?;
        let (mut low, mut high) = (inputs[..columns].to_vec(), inputs[..columns].to_vec());
        for row in inputs.chunks_exact(columns) {
            for ((low, high), &x) in low.iter_mut().zip(&mut high).zip(row) {
                // The least and the most of two numbers is never NaN unless both are.
                *low = low.min(x);
                *high = high.max(x);
            }
        }
        // A column without any value is one that never varies.
        low.iter_mut().chain(&mut high).filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        Ok(Self { low, high, missing: missing.map(<[f64]>::to_vec) })
    }

    /// Stretched to hold more row-major inputs.
    pub(crate) fn stretch(&mut self, inputs: &[f64]) {
        for row in inputs.chunks_exact(self.columns()) {
            for ((low, high), &x) in self.low.iter_mut().zip(&mut self.high).zip(row) {
                // Missing values stretch nothing.
                *low = low.min(x);
                *high = high.max(x);
            }
        }
    }

    /// The number of rows of row-major inputs, which may have missing values where it is known what
    /// stands for them.
    pub(crate) fn rows_of(&self, inputs: &[f64]) -> Result<usize> {
        match self.missing {
            Some(_) => rows_with_missing(inputs, self.columns()),
            None => rows_of(inputs, self.columns()),
        }
    }

    /// A value of a column, or what stands for a missing one.
    fn known(&self, column: usize, x: f64) -> f64 {
        match &self.missing {
            Some(missing) if x.is_nan() => missing[column],
            _ => x,
        }
    }

    /// What stands for a missing value of each column, where that is known.
    #[must_use]
    pub fn missing(&self) -> Option<&[f64]> {
        self.missing.as_deref()
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.low.len()
    }

    /// The range of a column.
    #[must_use]
    pub fn range(&self, column: usize) -> (f64, f64) {
        (self.low[column], self.high[column])
    }

    /// The middle of the range of a column, and half its width; a half of zero is a column that never
    /// varied.
    #[must_use]
    pub fn middle_and_half(&self, column: usize) -> (f64, f64) {
        let (low, high) = self.range(column);
        // Halves first: the range itself may overflow.
        (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)
    }

    /// One value of a column, scaled and held inside [-1, 1]; 0 for a column that never varied.
    #[must_use]
    pub fn scaled(&self, column: usize, x: f64) -> f64 {
        let (middle, half) = self.middle_and_half(column);
        let x = self.known(column, x);
        if half > 0.0 { ((x - middle) / half).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// One value of a column, scaled; beyond [-1, 1] outside the range.
    pub(crate) fn unclamped(&self, column: usize, x: f64) -> f64 {
        let (middle, half) = self.middle_and_half(column);
        let (x, far) = (self.known(column, x), Self::FARTHEST);
        if half > 0.0 { ((x - middle) / half).clamp(-far, far) } else { 0.0 }
    }

    /// The column in which a row lies farthest outside its range, in halves of it.
    pub(crate) fn beyond(&self, row: &[f64]) -> Option<usize> {
        let far = |(column, &x): (usize, &f64)| {
            let (low, high) = self.range(column);
            let (middle, half) = self.middle_and_half(column);
            (x < low || x > high).then(|| (column, ((x - middle) / half).abs()))
        };
        let outside = row.iter().enumerate().filter_map(far);
        outside.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(column, _)| column)
    }

    /// A column that never varied, and has another value in this row.
    pub(crate) fn unlike(&self, row: &[f64]) -> Option<usize> {
        let other = |(column, x): (usize, &f64)| {
            let (low, high) = self.range(column);
            low == high && (*x < low || *x > high)
        };
        row.iter().enumerate().find(|&value| other(value)).map(|(column, _)| column)
    }

    /// Whether a scaling that was read can be used.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        let ordered =
            |(low, high): (&f64, &f64)| low.is_finite() && high.is_finite() && low <= high;
        let whole = !self.low.is_empty() && self.low.len() == self.high.len();
        if !(whole && self.low.iter().zip(&self.high).all(ordered)) {
            return Err("the ranges of its inputs are not in order");
        }
        let fits = |missing: &Vec<f64>| {
            missing.len() == self.low.len() && missing.iter().all(|x| x.is_finite())
        };
        match self.missing.as_ref().is_none_or(fits) {
            true => Ok(()),
            false => Err("what stands for missing inputs does not fit them"),
        }
    }

    /// Row-major inputs, scaled.
    ///
    /// # Errors
    /// As [`Scaling::columns_of`].
    pub(crate) fn rows_scaled(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        self.rows_of(inputs)?;
        let columns = self.columns();
        Ok(inputs.iter().enumerate().map(|(at, x)| self.scaled(at % columns, *x)).collect())
    }

    /// Row-major inputs as scaled columns, one after the other.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub(crate) fn columns_of(&self, inputs: &[f64]) -> Result<Vec<f64>> {
        let columns = self.columns();
        let rows = self.rows_of(inputs)?;
        let mut out = vec![0.0; inputs.len()];
        for (i, row) in inputs.chunks_exact(columns).enumerate() {
            for (c, &x) in row.iter().enumerate() {
                out[c * rows + i] = self.scaled(c, x);
            }
        }
        Ok(out)
    }
}

/// Inputs and errors that have been checked and scaled: what every model is fitted to.
pub(super) struct Prepared {
    pub(super) scaling: Scaling,
    /// Scaled inputs, column after column.
    pub(super) columns: Vec<f64>,
    pub(super) error: Vec<f64>,
    /// The unit that each row's error is to be counted in, in the scale of these errors.
    pub(super) local: Option<Vec<f64>>,
    /// The errors are these times the unit.
    pub(super) unit: f64,
}

impl Prepared {
    pub(super) fn new(data: &Data, own_scale: bool) -> Result<Self> {
        let scaling = Scaling::of_data(data)?;
        let (error, unit) = match own_scale {
            true => in_own_scale(data.error(), data.weight()),
            false => (data.error().to_vec(), 1.0),
        };
        let local = data.unit().map(|local| local_in_scale(local, unit));
        Ok(Self { columns: scaling.columns_of(data.inputs())?, scaling, error, local, unit })
    }
}

/// Units of rows in another unit, rounded like [errors](in_own_scale).
pub(super) fn local_in_scale(local: &[f64], unit: f64) -> Vec<f64> {
    local.iter().map(|u| f64::from((u / unit) as f32)).collect()
}

/// Errors each in a unit of its own, if there is one.
pub(super) fn in_local_units(error: Vec<f64>, unit: Option<&[f64]>) -> Vec<f64> {
    match unit {
        None => error,
        Some(unit) => error.iter().zip(unit).map(|(error, unit)| error / unit).collect(),
    }
}

/// Errors in units of their own mean absolute value, and that unit.
///
/// They are rounded to 30 bits. Otherwise the last bit, which other units of the observation change,
/// could send a search that stops early on another path, and millimetres would give another answer
/// than kilometres.
pub(crate) fn in_own_scale(error: &[f64], weight: Option<&[f64]>) -> (Vec<f64>, f64) {
    let unit = match weight {
        None => error.iter().map(|e| e.abs() / error.len() as f64).sum::<f64>(),
        Some(weight) => {
            let largest = weight.iter().copied().fold(0.0, f64::max);
            let total: f64 = weight.iter().map(|w| w / largest).sum();
            error.iter().zip(weight).map(|(e, w)| e.abs() * (w / largest / total)).sum()
        }
    };
    if unit == 0.0 {
        return (error.to_vec(), 1.0);
    }
    let round = |e: &f64| {
        const LAST_BITS: u64 = (1 << 22) - 1;
        f64::from_bits(((e / unit).to_bits() + (1 << 21)) & !LAST_BITS)
    };
    (error.iter().map(round).collect(), unit)
}
