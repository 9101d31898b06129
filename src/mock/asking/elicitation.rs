//! A form as the standard has it: `elicitation/create`, its schema, and `accept`, `decline`, `cancel`.
//! Which properties stand for a field is left to the dialects that ask with forms.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    field::{Choice, Field},
    heard::{Heard, How},
    question::{Question, Request},
};
use crate::mock::ordered::Ordered;

const METHOD: &str = "elicitation/create";

/// The parameters of the request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Form<'a> {
    mode: &'static str,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    pub(super) message: String,
    requested_schema: Schema,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Value>,
}

#[derive(Serialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Ordered,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
}

impl<'a> Form<'a> {
    pub(super) fn new(question: &'a Question, properties: Vec<(String, Value)>) -> Self {
        let requested_schema =
            Schema { kind: "object", properties: Ordered(properties), required: Vec::new() };
        Self {
            mode: "form",
            session_id: &question.session,
            tool_call_id: None,
            message: message(&question.fields()),
            requested_schema,
            meta: None,
        }
    }

    pub(super) fn requiring(mut self, required: Vec<String>) -> Self {
        self.requested_schema.required = required;
        self
    }

    pub(super) fn request(&self) -> io::Result<Request> {
        Request::new(METHOD, self)
    }
}

/// The questions themselves, one a line.
fn message(fields: &[Field]) -> String {
    fields.iter().map(|field| field.question.as_str()).collect::<Vec<_>>().join("\n")
}

/// The property of a field, with its choices spelled like this.
pub(super) fn property(field: &Field, spelled: impl Fn(&Choice) -> Value) -> Value {
    let choices: Vec<Value> = field.choices.iter().map(spelled).collect();
    let mut property = json!({ "title": field.header, "description": field.question });
    match (choices.is_empty(), field.multiple) {
        (true, _) => property["type"] = json!("string"),
        (false, false) => {
            property["type"] = json!("string");
            property["oneOf"] = json!(choices);
        }
        (false, true) => {
            property["type"] = json!("array");
            property["items"] = json!({ "anyOf": choices });
        }
    }
    property
}

/// A choice that is named by its label.
pub(super) fn by_label(choice: &Choice) -> Value {
    json!({ "const": choice.label, "title": choice.label, "description": choice.description })
}

/// The content that was accepted, or what came in its place; `None` is what no form is answered with.
pub(super) fn content(result: &str) -> Option<Result<Map<String, Value>, Heard>> {
    let mut result: Value = serde_json::from_str(result).ok()?;
    match result["action"].as_str()? {
        "accept" => match result["content"].take() {
            Value::Object(content) => Some(Ok(content)),
            Value::Null => Some(Ok(Map::new())),
            _ => None,
        },
        "decline" => Some(Err(Heard::Unanswered(How::Declined, None))),
        "cancel" => Some(Err(Heard::Unanswered(How::Cancelled, None))),
        _ => None,
    }
}

/// The values of a property: none where it is left out, and `None` where it has the wrong type.
pub(super) fn values(content: &Map<String, Value>, key: &str, multiple: bool) -> Option<Vec<String>> {
    match content.get(key) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(value)) if !multiple => Some(vec![value.clone()]),
        Some(Value::Array(values)) if multiple => {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }
        Some(_) => None,
    }
}

/// The text of a companion, if there is one in it.
pub(super) fn text(content: &Map<String, Value>, key: &str) -> Option<Option<String>> {
    let text = values(content, key, false)?.pop();
    Some(text.filter(|text| !text.is_empty()))
}
