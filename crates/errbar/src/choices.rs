//! Options: choices by their names, which are those of the saved form, so that there is one list of
//! them; and methods that set one each.

use serde::de::value::{Error as Plain, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};

use crate::error::{Error, Result};

/// The choice of this name; `what` is what is chosen.
pub(crate) fn by_name<T: for<'a> Deserialize<'a>>(what: &'static str, name: &str) -> Result<T> {
    let text: StrDeserializer<'_, Plain> = name.into_deserializer();
    T::deserialize(text).map_err(|_| unknown::<T>(what, name))
}

/// The refusal of a name, with those there are.
fn unknown<T: for<'a> Deserialize<'a>>(what: &'static str, name: &str) -> Error {
    Error::UnknownName { what, name: name.into(), known: names::<T>().join(", ") }
}

/// The names of all variants of an enum, in their order.
pub(crate) fn names<T: for<'a> Deserialize<'a>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It learns the names from the question and never answers.
    let _ = T::deserialize(Listener(&mut names));
    names
}

struct Listener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Plain;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> std::result::Result<V::Value, Plain> {
        *self.0 = variants;
        Err(Plain::custom("only listening"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> std::result::Result<V::Value, Plain> {
        Err(Plain::custom("not an enum"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Methods that set one option each, so that options can be added without breaking anybody.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            #[doc = concat!("The same with another `", stringify!($name), "`.")]
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name;
                self
            }
        )*
    };
}
pub(crate) use setters;

#[cfg(test)]
mod tests {
    use crate::fit::Kind;
    use crate::loss::LossKind;
    use crate::score::Beta;

    #[test]
    fn kinds_by_name() {
        for kind in [Kind::Auto, Kind::Constant, Kind::Polynomial, Kind::Smooth, Kind::Network] {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let wrong = "gp".parse::<Kind>().unwrap_err().to_string();
        assert!(wrong.starts_with("model is \"gp\": give one of auto, constant, "), "{wrong}");
    }

    #[test]
    fn losses_and_betas_by_name() {
        let beta = Beta::Fixed(0.25);
        assert_eq!("0.25".parse(), Ok(beta));
        assert_eq!("printed".parse(), Ok(Beta::AsPrinted));
        assert_eq!(LossKind::named("ar", beta), Ok(LossKind::Ar(beta)));
        assert_eq!(LossKind::named("nlpd", beta), Ok(LossKind::Nlpd));
        assert_eq!(
            LossKind::named("mse", beta).unwrap_err().to_string(),
            "loss is \"mse\": give one of ar, crps, nlpd"
        );
        assert_eq!(
            "half".parse::<Beta>().unwrap_err().to_string(),
            "beta is \"half\": give one of heuristic, printed, a number from 0 to 1"
        );
        assert!("1.5".parse::<Beta>().is_err() && "NaN".parse::<Beta>().is_err());
    }
}
