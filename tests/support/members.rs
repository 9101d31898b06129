//! The members of an object as a full parser reads them, in their order and spelling.
//! The property tests and the fuzz targets share it.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object, in their order: the unescaped key, if it is Unicode, and the raw value.
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
    /// Reads an object.
    pub(crate) fn of(document: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(document).ok()
    }

    /// Returns the raw values of all members with this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key.as_deref() == Some(name)).map(|(_, value)| *value)
    }
}

/// Unescapes a JSON string. Returns `None` if it is not Unicode.
pub(crate) fn string(spelled: &str) -> Option<String> {
    serde_json::from_str(spelled).ok()
}
