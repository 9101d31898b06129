//! JSON without duplicate members. Agents and this program need not agree on which of two members with the same name
//! counts, so an object with duplicates is read as `null`.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value as Json};

/// Reads a JSON text, in which an object that has a member twice is `null`. `None` if it is no JSON.
pub(super) fn from_slice(json: &[u8]) -> Option<Json> {
    serde_json::from_slice(json).ok().map(|Once(json)| json)
}

/// Deserializes a member of a struct as [`from_slice`] does.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    Once::deserialize(deserializer).map(|Once(json)| json)
}

struct Once(Json);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Once;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once(Json::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Once, E> {
        Ok(Once(flag.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Once, E> {
        Ok(Once(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Once, E> {
        Ok(Once(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Once, E> {
        Ok(Once(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Once, E> {
        Ok(Once(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Once, E> {
        Ok(Once(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Once, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Once(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Once, A::Error> {
        let (mut object, mut is_once) = (Map::new(), true);
        while let Some((name, Once(value))) = members.next_entry()? {
            // After a duplicate, the rest of the object must still be read: serde would fail otherwise.
            is_once &= object.insert(name, value).is_none();
        }
        Ok(Once(if is_once { object.into() } else { Json::Null }))
    }
}
