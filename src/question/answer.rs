//! An answer: values for the fields of a question, and notes beside them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::Question;

/// What stands in the place of a secret value, whatever its type.
pub const REDACTED: &str = "(secret)";

/// The values of a question's fields, by field name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The chosen or typed value of each field. A field without a value is absent. Once the question is settled, a value of
    /// a secret field is the text `(secret)`.
    pub values: BTreeMap<String, Value>,
    /// Notes on fields, by field name. Once the question is settled, a note on a secret field is the text `(secret)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl Answer {
    /// Returns about how many bytes it takes in memory. An entry of a list takes more than its text: it may be as
    /// short as three bytes of JSON.
    pub fn bytes(&self) -> usize {
        let text = |text: &String| size_of::<String>() + text.len();
        let value = |value: &Value| match value {
            Value::Text(given) => given.len(),
            Value::Many(texts) => texts.iter().map(text).sum(),
            Value::Flag(_) | Value::Number(_) => 0,
        };
        let values = self.values.iter().map(|(name, given)| text(name) + size_of::<Value>() + value(given));
        let notes = self.notes.iter().map(|(name, note)| text(name) + text(note));
        values.chain(notes).sum()
    }

    /// Leaves out the values of secret fields and the notes on them, for an answer that others may complete.
    #[must_use]
    pub fn without_secrets(mut self, question: &Question) -> Self {
        for field in question.fields.iter().filter(|field| field.secret) {
            self.values.remove(&field.name);
            self.notes.remove(&field.name);
        }
        self
    }

    /// Replaces the values of secret fields and the notes on them by [`REDACTED`], for everyone but the asker. A note may
    /// say what the value is.
    #[must_use]
    pub fn redacted(mut self, question: &Question) -> Self {
        for field in question.fields.iter().filter(|field| field.secret) {
            if let Some(value) = self.values.get_mut(&field.name) {
                *value = Value::Text(REDACTED.to_owned());
            }
            if let Some(note) = self.notes.get_mut(&field.name) {
                REDACTED.clone_into(note);
            }
        }
        self
    }

    /// Returns the same answer in the one spelling that is compared: the chosen options in the order of their values,
    /// whole numbers without a fraction.
    pub fn canonical(mut self) -> Self {
        for value in self.values.values_mut() {
            match value {
                Value::Many(texts) => texts.sort_unstable(),
                Value::Number(number) => *number = canonical(number),
                Value::Text(_) | Value::Flag(_) => {}
            }
        }
        self
    }
}

fn canonical(number: &Number) -> Number {
    // Below this each integer has a binary fraction of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |value: &f64| value.fract() == 0.0 && value.abs() < EXACT;
    match number.as_f64().filter(whole) {
        // What has no fraction prints without one; a zero has no sign.
        Some(value) => {
            serde_json::from_str(&format!("{:.0}", value + 0.0)).unwrap_or_else(|_| number.clone())
        }
        None => number.clone(),
    }
}

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A text, or the value of the chosen option.
    Text(String),
    /// The values of the chosen options, and added free texts.
    Many(Vec<String>),
    /// True or false, or yes or no.
    Flag(bool),
    /// A number.
    Number(#[cfg_attr(feature = "schema", schemars(with = "f64"))] Number),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    #[test]
    fn values_of_secret_fields_and_notes_on_them_are_left_out_or_redacted() {
        let fields = json!([
            { "name": "s", "label": "S", "kind": "number", "secret": true },
            { "name": "t", "label": "T", "kind": "text", "secret": true },
            { "name": "u", "label": "U", "kind": "text" },
        ]);
        let question = Question::new(Origin::Kiro, "q", serde_json::from_value(fields).expect("fields"));
        let answer = json!({ "values": { "s": 7, "u": "a" }, "notes": { "s": "it is 7", "u": "b" } });
        let answer: Answer = serde_json::from_value(answer).expect("an answer");
        let written = |answer: Answer| serde_json::to_value(answer).expect("JSON");
        assert_eq!(
            written(answer.clone().redacted(&question)),
            json!({ "values": { "s": "(secret)", "u": "a" }, "notes": { "s": "(secret)", "u": "b" } })
        );
        assert_eq!(
            written(answer.without_secrets(&question)),
            json!({ "values": { "u": "a" }, "notes": { "u": "b" } })
        );
    }

    #[test]
    fn one_answer_has_one_canonical_spelling() {
        let spelled = |values: &str| {
            let answer: Answer =
                serde_json::from_str(&format!(r#"{{"values":{{"f":{values}}}}}"#)).expect(values);
            serde_json::to_string(&answer.canonical()).expect("JSON")
        };
        for (one, other) in [
            (r#"["b","a"]"#, r#"["a","b"]"#),
            ("-5.0", "-5"),
            ("5e2", "500"),
            ("-0.0", "0"),
            ("9007199254740993", "9007199254740993"),
        ] {
            assert_eq!(spelled(one), spelled(other), "{one} is {other}");
        }
        for (one, other) in [
            ("5", "5.5"),
            ("9007199254740993", "9007199254740995"),
            ("0.1", "0.2"),
            ("5", r#""5""#),
            (r#"["a"]"#, r#"["a","b"]"#),
        ] {
            assert_ne!(spelled(one), spelled(other), "{one} is not {other}");
        }
    }
}
