//! The kinds of agents that the inbox attaches to by itself.

use serde_json::{Value, json};

use super::value::{Setting, list, quoted, text, typed_list};

/// Kinds of agents that run in terminals. Empty attaches to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached(pub Vec<&'static str>);

/// The kinds that can be attached to.
const KINDS: [&str; 3] = ["codex", "opencode", "copilot"];

impl Attached {
    /// Returns whether agents of this kind are attached to.
    pub fn has(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }
}

impl Setting for Attached {
    fn read(value: &Value) -> Result<Self, String> {
        if let Some(all) = value.as_bool() {
            return Ok(Attached(if all { KINDS.to_vec() } else { Vec::new() }));
        }
        let kind = |value: &Value| {
            let name = text(value, "the name of an agent")?;
            let known = KINDS.into_iter().find(|kind| *kind == name);
            known.ok_or_else(|| format!("{} is not one of {}", quoted(value), Value::from(KINDS.to_vec())))
        };
        list(value, "true, false, or a list of agents such as [\"codex\"]", kind).map(Attached)
    }

    fn to_value(&self) -> Value {
        if self.0.is_empty() { Value::Bool(false) } else { json!(self.0) }
    }

    fn typed(text: &str) -> Value {
        match bool::typed(text) {
            Value::Bool(all) => Value::Bool(all),
            _ => typed_list(text),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "boolean" },
            { "type": "array", "items": { "enum": KINDS }, "uniqueItems": true },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        Attached::read(&Attached::typed(text)).map(|attached| attached.to_value())
    }

    #[test]
    fn all_kinds_or_some_or_none_are_attached_to() {
        assert_eq!(read("true"), Ok(json!(KINDS)));
        assert_eq!(read("off"), Ok(json!(false)));
        assert_eq!(read("codex"), Ok(json!(["codex"])));
        assert!(read("emacs").is_err_and(|error| error.contains("codex")));
        assert!(Attached::read(&json!(5)).is_err_and(|error| error.contains("a list of agents")));
    }
}
