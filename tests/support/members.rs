//! The members of an object as a full parser sees them, in their order and their spelling.
//! The property tests and the fuzz targets share it.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object, in their order: what the key means, if it is Unicode, and the value as it is spelled.
pub(crate) struct Members<'a>(pub(crate) Vec<(Option<String>, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push((string(key.get()), value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

impl<'a> Members<'a> {
    /// Reads a whole object.
    pub(crate) fn of(document: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(document).ok()
    }

    /// Returns the values that stand under this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key.as_deref() == Some(name)).map(|(_, value)| *value)
    }
}

/// Returns what a string means, as it is spelled; `None` where that is no Unicode.
pub(crate) fn string(spelled: &str) -> Option<String> {
    serde_json::from_str(spelled).ok()
}
