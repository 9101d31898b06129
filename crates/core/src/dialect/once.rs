//! JSON with duplicate members. Agents and this program need not agree on which of two members with the same name
//! counts. So an object with duplicates is `null`, or, where no value may be lost, such a member is the list of its values.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value as Json};

/// Reads a JSON text, in which an object that has a member twice is `null`. `None` if it is no JSON.
pub(super) fn from_slice(json: &[u8]) -> Option<Json> {
    serde_json::from_slice(json).ok().map(|Read::<false>(json)| json)
}

/// Deserializes a member of a struct as [`from_slice`] does.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    Once::deserialize(deserializer).map(|Read(json)| json)
}

/// Deserializes a member of a struct whose own members may occur several times: each of these is the list of its values.
pub(super) fn deserialize_every<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    Every::deserialize(deserializer).map(|Read(json)| json)
}

/// Reads a JSON text as [`deserialize_every`] does.
pub(super) fn every(json: &[u8]) -> Option<Json> {
    serde_json::from_slice(json).ok().map(|Read::<true>(json)| json)
}

type Once = Read<false>;
type Every = Read<true>;

/// A JSON value, with `EVERY` value of a member that occurs several times.
struct Read<const EVERY: bool>(Json);

impl<'de, const EVERY: bool> Deserialize<'de> for Read<EVERY> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue::<EVERY>)
    }
}

struct AnyValue<const EVERY: bool>;

impl<'de, const EVERY: bool> Visitor<'de> for AnyValue<EVERY> {
    type Value = Read<EVERY>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Read(Json::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Read(flag.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Read(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Read(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Read(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Read(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Read(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Read::<EVERY>(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Read(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut object, mut others) = (Map::new(), BTreeMap::<String, Vec<Json>>::new());
        while let Some((name, Read::<EVERY>(value))) = members.next_entry::<String, _>()? {
            // After a duplicate, the rest of the object must still be read: serde would fail otherwise.
            if let Some(earlier) = object.insert(name.clone(), value) {
                others.entry(name).or_default().push(earlier);
            }
        }
        if !others.is_empty() && !EVERY {
            return Ok(Read(Json::Null));
        }
        for (name, earlier) in others {
            if let Some(last) = object.get_mut(&name) {
                *last = earlier.into_iter().chain([last.take()]).collect();
            }
        }
        Ok(Read(object.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_member_that_occurs_twice_no_value_is_lost() {
        for (text, is_once, values) in [
            (r#"{"a":1,"b":[2]}"#, true, json!({ "a": 1, "b": [2] })),
            (r#"{"a":1,"a":2,"a":[3],"b":4}"#, false, json!({ "a": [1, 2, [3]], "b": 4 })),
            (r#"{"a":null,"a":null}"#, false, json!({ "a": [null, null] })),
        ] {
            assert_eq!(every(text.as_bytes()), Some(values.clone()), "{text}");
            assert_eq!(
                from_slice(text.as_bytes()),
                Some(if is_once { values } else { Json::Null }),
                "{text}"
            );
        }
        let inner = r#"[{"a":{"b":1,"b":2}}]"#;
        assert_eq!(every(inner.as_bytes()), Some(json!([{ "a": { "b": [1, 2] } }])));
        assert_eq!(from_slice(inner.as_bytes()), Some(json!([{ "a": null }])));
    }
}
