//! The standard's form: `elicitation/create`, its schema, and the actions `accept`, `decline` and `cancel`.
//! Which properties a field has is left to the dialects that ask with forms.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    field::{MockChoice, MockField},
    question::{MockQuestion, QuestionRequest},
    response::{NonAnswer, QuestionResponse},
};
use crate::mock::ordered_map::OrderedMap;

const METHOD: &str = "elicitation/create";

/// The parameters of `elicitation/create`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ElicitationForm<'a> {
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
    properties: OrderedMap,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
}

impl<'a> ElicitationForm<'a> {
    /// Returns a form with these properties, whose message is the questions.
    pub(super) fn new(question: &'a MockQuestion, properties: Vec<(String, Value)>) -> Self {
        let requested_schema =
            Schema { kind: "object", properties: OrderedMap(properties), required: Vec::new() };
        Self {
            mode: "form",
            session_id: &question.session,
            tool_call_id: None,
            message: message(&question.fields()),
            requested_schema,
            meta: None,
        }
    }

    /// Makes these properties required.
    pub(super) fn requiring(mut self, required: Vec<String>) -> Self {
        self.requested_schema.required = required;
        self
    }

    /// Returns the request that asks with this form.
    pub(super) fn request(&self) -> io::Result<QuestionRequest> {
        QuestionRequest::new(METHOD, self)
    }
}

/// Returns the questions, one a line.
fn message(fields: &[MockField]) -> String {
    fields.iter().map(|field| field.question.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns the property of a field; `spelled` gives the schema of a choice.
pub(super) fn property(field: &MockField, spelled: impl Fn(&MockChoice) -> Value) -> Value {
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

/// Returns the schema of a choice whose constant is its label.
pub(super) fn by_label(choice: &MockChoice) -> Value {
    json!({ "const": choice.label, "title": choice.label, "description": choice.description })
}

/// Returns the accepted content, or the response that stands in its place. Returns `None` if the result is not
/// valid for a form.
pub(super) fn content(result: &str) -> Option<Result<Map<String, Value>, QuestionResponse>> {
    let mut result: Value = serde_json::from_str(result).ok()?;
    match result["action"].as_str()? {
        "accept" => match result["content"].take() {
            Value::Object(content) => Some(Ok(content)),
            Value::Null => Some(Ok(Map::new())),
            _ => None,
        },
        "decline" => Some(Err(QuestionResponse::Unanswered(NonAnswer::Declined, None))),
        "cancel" => Some(Err(QuestionResponse::Unanswered(NonAnswer::Cancelled, None))),
        _ => None,
    }
}

/// Returns the values of a property: an empty list if it is absent, `None` if it has the wrong type.
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

/// Returns the text of a companion property, `Some(None)` if it is absent or empty, `None` if it has the wrong type.
pub(super) fn text(content: &Map<String, Value>, key: &str) -> Option<Option<String>> {
    let text = values(content, key, false)?.pop();
    Some(text.filter(|text| !text.is_empty()))
}
