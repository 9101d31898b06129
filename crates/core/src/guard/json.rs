//! JSON as the guard reads it: the members of an object keep their order, and one that occurs twice keeps both values. What
//! a value says is decided here, what a member means in `members`.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A JSON value.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Flag(bool),
    Number { is_zero: bool },
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Texts that mean `false`, in lower case, with letters and digits only.
const OFF: [&str; 9] = ["0", "disable", "disabled", "false", "never", "no", "none", "null", "off"];

/// Texts that mean `true`.
const ON: [&str; 8] = ["1", "always", "enable", "enabled", "on", "required", "true", "yes"];

impl Json {
    /// Reads a text. `None` if it is no JSON, as after a cut.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Reads an object, a list or another such text in a text: agents encode the input of a tool as JSON more than once.
    pub(super) fn within(text: &str) -> Option<Self> {
        text.trim_start().starts_with(['{', '[', '"']).then(|| Self::read(text)).flatten()
    }

    /// Returns whether it is `null`, or has nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Json::Null => true,
            Json::Flag(_) | Json::Number { .. } => false,
            Json::Text(text) => text.is_empty(),
            Json::List(items) => items.is_empty(),
            Json::Object(members) => members.is_empty(),
        }
    }

    /// Returns whether it says no: `false`, zero, a word for it, or nothing but such values.
    pub(super) fn is_off(&self) -> bool {
        let is_no = |value: &Json| value.is_empty() || value.is_off();
        match self {
            Json::Null => false,
            Json::Flag(flag) => !flag,
            Json::Number { is_zero } => *is_zero,
            Json::Text(text) => OFF.contains(&&*letters(text)),
            Json::List(items) => !items.is_empty() && items.iter().all(is_no),
            Json::Object(members) => !members.is_empty() && members.iter().all(|(_, value)| is_no(value)),
        }
    }

    /// Returns whether it says yes: `true`, a number, or a word for it.
    pub(super) fn is_on(&self) -> bool {
        match self {
            Json::Flag(flag) => *flag,
            Json::Number { is_zero } => !is_zero,
            Json::Text(text) => ON.contains(&&*letters(text)),
            Json::Null | Json::List(_) | Json::Object(_) => false,
        }
    }

    /// Returns whether it only counts, chooses or marks: it is a flag, a number, or a list of these.
    pub(super) fn is_count(&self) -> bool {
        match self {
            Json::Null | Json::Flag(_) | Json::Number { .. } => true,
            Json::Text(text) => {
                text.is_empty() || text.parse::<f64>().is_ok() || self.is_on() || self.is_off()
            }
            Json::List(items) => items.iter().all(Json::is_count),
            Json::Object(members) => members.is_empty(),
        }
    }

    /// Returns whether it is a text, or a list of texts and what only counts.
    pub(super) fn is_words(&self) -> bool {
        match self {
            Json::Text(_) => true,
            Json::List(items) => items.iter().all(Json::is_words),
            other => other.is_count(),
        }
    }
}

/// Returns the letters and digits of a text, in lower case.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number { is_zero: number == 0 })
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number { is_zero: number == 0 })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number { is_zero: number == 0.0 })
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        // A list keeps both values of a name that occurs twice, unlike a map.
        let mut object = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            object.push((name, members.next_value()?));
        }
        Ok(Json::Object(object))
    }
}
