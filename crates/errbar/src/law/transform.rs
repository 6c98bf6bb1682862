//! Scales on which errors are more alike: what is positive and varies by factors has even errors on the
//! scale of its logarithm.

use serde::{Deserialize, Serialize};

use super::Bounds;
use crate::choices::by_name;
use crate::error::{Error, Result};

/// The scale that forecasts and observations are brought to before errors are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Transform {
    /// The user's own.
    #[default]
    None,
    /// Square roots: of counts and amounts, which may be zero.
    Sqrt,
    /// Logarithms: of what is positive and varies by factors.
    Log,
}

impl Transform {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sqrt => "sqrt",
            Self::Log => "log",
        }
    }

    /// The value on this scale; NaN for one that has no place on it.
    #[must_use]
    pub fn forward(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Sqrt => value.sqrt(),
            Self::Log if value > 0.0 => value.ln(),
            Self::Log => f64::NAN,
        }
    }

    /// Values on this scale.
    ///
    /// # Errors
    /// One that has no place on it; `what` they are is said.
    pub fn all(self, what: &'static str, values: &[f64]) -> Result<Vec<f64>> {
        let scaled: Vec<f64> = values.iter().map(|value| self.forward(*value)).collect();
        match scaled.iter().zip(values).position(|(scaled, x)| scaled.is_nan() && !x.is_nan()) {
            None => Ok(scaled),
            Some(index) => {
                Err(Error::NoPlaceOnScale { what, index, value: values[index], scale: self.name() })
            }
        }
    }

    /// The user's value of one on this scale: the least there is for what lies below it.
    #[must_use]
    pub fn back(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Sqrt if value <= 0.0 => 0.0,
            Self::Sqrt => value * value,
            Self::Log => value.exp(),
        }
    }

    /// The bounds of observations on this scale: there is nothing below a root of zero.
    #[must_use]
    pub fn bounds(self, bounds: Bounds) -> Bounds {
        let least = if self == Self::Sqrt { 0.0 } else { f64::NEG_INFINITY };
        let of = |bound: f64, none: f64| match self.forward(bound) {
            x if x.is_nan() || bound == none => none,
            x => x,
        };
        let (lower, upper) =
            (of(bounds.lower(), f64::NEG_INFINITY), of(bounds.upper(), f64::INFINITY));
        Bounds { lower: lower.max(least), upper }
    }
}

impl std::str::FromStr for Transform {
    type Err = Error;

    /// By its [`Transform::name`].
    fn from_str(name: &str) -> Result<Self> {
        by_name("transform", name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for transform in [Transform::None, Transform::Sqrt, Transform::Log] {
            for value in [1e-300, 0.3, 1.0, 17.0, 1e300] {
                let again = transform.back(transform.forward(value));
                assert!((again / value - 1.0).abs() < 1e-12, "{transform:?} {value}");
            }
            assert_eq!(transform.name().parse::<Transform>().unwrap(), transform);
        }
        assert!(Transform::Log.all("forecast", &[1.0, 0.0]).is_err());
        assert!(Transform::Sqrt.all("forecast", &[0.0, -1.0]).is_err());
        assert!(Transform::Sqrt.all("forecast", &[0.0, f64::NAN]).unwrap()[1].is_nan());
        let rain = Transform::Sqrt.bounds(Bounds::new(Some(0.0), Some(9.0)).unwrap());
        assert_eq!((rain.lower(), rain.upper()), (0.0, 3.0));
        assert_eq!(Transform::Sqrt.bounds(Bounds::default()).lower(), 0.0);
        assert!(Transform::Log.bounds(Bounds::new(Some(0.0), None).unwrap()).are_none());
    }
}
