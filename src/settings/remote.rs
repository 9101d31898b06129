//! The kinds of values that name something on another machine.

use serde_json::{Value, json};

use super::value::{Setting, quoted, text};

/// Characters of the longest topic that ntfy accepts.
const TOPIC: usize = 64;

impl Setting for String {
    fn read(value: &Value) -> Result<Self, String> {
        text(value, "a text").map(str::to_owned)
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}

/// An address on the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(pub String);

impl Setting for Url {
    fn read(value: &Value) -> Result<Self, String> {
        let said = value.as_str().filter(|text| {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
            host.is_some_and(|host| !host.is_empty()) && text.chars().all(|c| c.is_ascii_graphic())
        });
        said.map(|text| Url(text.to_owned())).ok_or_else(|| {
            format!("{} is not an address that begins with https:// or http://", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "uri", "pattern": "^https?://" })
    }
}

/// The topic of an ntfy server. Every program that knows it can read what is sent there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic(pub String);

impl Setting for Topic {
    fn read(value: &Value) -> Result<Self, String> {
        let allowed = |text: &&str| {
            (1..=TOPIC).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        value.as_str().filter(allowed).map(|text| Topic(text.to_owned())).ok_or_else(|| {
            format!("{} is not a topic: up to {TOPIC} letters, digits, - and _", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{TOPIC}}}$") })
    }
}
