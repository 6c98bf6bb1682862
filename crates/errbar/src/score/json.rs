//! Numbers that may be infinite, in JSON, which has no word for it: written as the string "inf",
//! "-inf" or "NaN".

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(f64);

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        number.0
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Finite(f64),
            Named(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Finite(value) => Ok(Self(value)),
            Written::Named(name) => name
                .parse()
                .map(Self)
                .map_err(|_| de::Error::invalid_value(de::Unexpected::Str(&name), &"a number")),
        }
    }
}

/// For `#[serde(with = "number")]` on a number that may be infinite.
pub(crate) mod number {
    use super::{Deserialize, Deserializer, Number, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Number(*value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Number::deserialize(deserializer).map(f64::from)
    }
}

/// For `#[serde(deserialize_with = "json::exactly::<_, _, N>")]`: N values and no other number of
/// them, since counts from elsewhere must fit these bins.
pub(crate) fn exactly<'de, T: Deserialize<'de>, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let values = Vec::<T>::deserialize(deserializer)?;
    match values.len() {
        length if length == N => Ok(values),
        length => Err(de::Error::invalid_length(length, &"one value per bin")),
    }
}
