//! Models as they are read.
//!
//! The kind of a model comes first, and the rest is then read into that kind as it comes. What serde derives for an
//! enum with a tag, and for a flattened one, copies everything first, once for each model that holds another.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::Model;
use super::constant::Constant;
use super::network::Network;
use super::polynomial::Polynomial;
use super::smooth::Smooth;
use super::stack::Stack;
use super::supported::{Backing, Supported};
use super::trees::Trees;

const KIND: &str = "kind";
const BACKING: &str = "backing";
const KINDS: &[&str] = &["constant", "polynomial", "smooth", "network", "trees", "stack"];

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader { backing: None })
    }
}

impl<'de> Deserialize<'de> for Supported {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut backing = None;
        let model = deserializer.deserialize_map(Reader { backing: Some(&mut backing) })?;
        Ok(Self::held_by(model, backing))
    }
}

/// Reads a model, and what holds it where there is a place for that.
struct Reader<'a> {
    backing: Option<&'a mut Option<Backing>>,
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Model;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a model of sigma")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Model, A::Error> {
        let Some(first) = map.next_key::<String>()? else { return Err(Error::missing_field(KIND)) };
        if first == KIND {
            let kind = map.next_value::<String>()?;
            return of_kind(&kind, Fields { map, backing: self.backing });
        }
        // Somebody else has written it, in another order.
        let mut all = Map::new();
        all.insert(first, map.next_value()?);
        while let Some((key, value)) = map.next_entry()? {
            all.insert(key, value);
        }
        let Some(Value::String(kind)) = all.remove(KIND) else {
            return Err(Error::missing_field(KIND));
        };
        let rest = Value::Object(all);
        let map = rest.deserialize_map(Again { kind, backing: self.backing });
        map.map_err(Error::custom)
    }
}

/// Reads the fields of a kind that is known.
struct Again<'a> {
    kind: String,
    backing: Option<&'a mut Option<Backing>>,
}

impl<'de> Visitor<'de> for Again<'_> {
    type Value = Model;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the fields of a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Model, A::Error> {
        of_kind(&self.kind, Fields { map, backing: self.backing })
    }
}

/// What is read is checked before it is a model.
fn of_kind<'de, A: MapAccess<'de>>(kind: &str, fields: Fields<'_, A>) -> Result<Model, A::Error> {
    let fields = MapAccessDeserializer::new(fields);
    let model = match kind {
        "constant" => Model::Constant(Constant::deserialize(fields)?),
        "polynomial" => Model::Polynomial(Polynomial::deserialize(fields)?),
        "smooth" => Model::Smooth(Smooth::deserialize(fields)?),
        "network" => Model::Network(Network::deserialize(fields)?),
        "trees" => Model::Trees(Trees::deserialize(fields)?),
        "stack" => Model::Stack(Stack::deserialize(fields)?),
        other => return Err(Error::unknown_variant(other, KINDS)),
    };
    model.check().map_err(Error::custom)?;
    Ok(model)
}

/// The fields of a model, without what holds it.
struct Fields<'a, A> {
    map: A,
    backing: Option<&'a mut Option<Backing>>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match &mut self.backing {
                Some(backing) if key == BACKING => **backing = self.map.next_value()?,
                _ => return seed.deserialize(key.into_deserializer()).map(Some),
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANT: &str = r#"{"kind":"constant","sigma":0.25,"columns":2}"#;

    /// However the fields are ordered, and whatever else is among them.
    #[test]
    fn models_are_read_in_any_order() {
        let model: Model = serde_json::from_str(CONSTANT).unwrap();
        let backing = r#""backing":null"#;
        for text in [
            CONSTANT.to_string(),
            r#"{"columns":2,"other":[1,{"kind":3}],"kind":"constant","sigma":0.25}"#.into(),
            format!("{{{backing},{}", &CONSTANT[1..]),
            CONSTANT.replace(",\"columns", &format!(",{backing},\"columns")),
        ] {
            assert_eq!(serde_json::from_str::<Model>(&text).unwrap(), model, "{text}");
            let held: Supported = serde_json::from_str(&text).unwrap();
            assert_eq!(held, Supported::from(model.clone()), "{text}");
        }
        let stack = format!(
            r#"{{"members":[{{"model":{CONSTANT},"share":0.5}},{{"share":0.5,"model":{CONSTANT}}}],"kind":"stack"}}"#
        );
        let stack: Model = serde_json::from_str(&stack).unwrap();
        let again: Model = serde_json::from_str(&serde_json::to_string(&stack).unwrap()).unwrap();
        assert_eq!((stack.name(), &again), ("stack", &stack));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for (text, says) in [
            ("{}", "missing field `kind`"),
            (r#"{"sigma":1.0,"columns":1}"#, "missing field `kind`"),
            (r#"{"kind":"oracle","sigma":1.0}"#, "unknown variant `oracle`"),
            (r#"{"kind":"constant","sigma":-1.0,"columns":1}"#, ""),
            (r#"{"columns":1,"kind":"constant","sigma":-1.0}"#, ""),
            (r#"{"kind":"constant","sigma":1.0}"#, "missing field `columns`"),
            (r#"{"kind":1}"#, "invalid type"),
            ("[]", "a model of sigma"),
        ] {
            let refused = serde_json::from_str::<Supported>(text).unwrap_err().to_string();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
