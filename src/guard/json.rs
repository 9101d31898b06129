//! JSON with every member that it has, also those whose name it has twice: agents and this program need not agree on which
//! of the two counts.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A JSON value.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    /// `null`, `false`, an empty text, list or object: it says nothing.
    Nothing,
    /// `true` or a number.
    Scalar,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text. `None` where it is no JSON, as after a cut.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(if flag { Json::Scalar } else { Json::Nothing })
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(if text.is_empty() { Json::Nothing } else { Json::Text(text.to_owned()) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(if list.is_empty() { Json::Nothing } else { Json::List(list) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            object.push((name, members.next_value()?));
        }
        Ok(if object.is_empty() { Json::Nothing } else { Json::Object(object) })
    }
}
