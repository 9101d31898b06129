//! A plain form of the standard, with every type of property, and the same form under its first method name.
//! It checks the content against the schema, as the standard asks of agents. The form itself is left to
//! `elicitation.rs`.

use std::io;

use serde_json::{Map, Value, json};

use super::{
    elicitation::{ElicitationForm, content, property},
    field::MockChoice,
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, QuestionResponse},
};
use crate::mock::behaviour::Shape;

const HISTORIC: &str = "session/elicitation";

pub(super) fn ask(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let (properties, required) = properties(question);
    let mut form = ElicitationForm::new(question, properties).requiring(required);
    if question.shape == Shape::Fields {
        form.message = "Please fill in this form.".to_owned();
    }
    form.request()
}

pub(super) fn ask_historic(question: &MockQuestion) -> io::Result<QuestionRequest> {
    Ok(QuestionRequest { method: HISTORIC, ..ask(question)? })
}

/// Returns the properties, and the names of the required ones.
fn properties(question: &MockQuestion) -> (Vec<(String, Value)>, Vec<String>) {
    if question.shape == Shape::Fields {
        let required = ["name", "port", "debug", "database"].map(str::to_owned).to_vec();
        return (every_type().map(|(key, property)| (key.to_owned(), property)).to_vec(), required);
    }
    let fields = question.fields();
    let properties = fields.iter().map(|field| (field.id.to_owned(), property(field, by_value)));
    (properties.collect(), fields.iter().map(|field| field.id.to_owned()).collect())
}

fn by_value(choice: &MockChoice) -> Value {
    json!({ "const": choice.value, "title": choice.label, "description": choice.description })
}

/// Returns a property of every type. They are not in alphabetical order, so that a client that sorts them is noticed.
fn every_type() -> [(&'static str, Value); 9] {
    [
        (
            "name",
            json!({ "type": "string", "title": "Name", "description": "What is it called?",
                    "minLength": 2, "maxLength": 40, "pattern": "^[a-z-]+$", "default": "my-app" }),
        ),
        ("email", json!({ "type": "string", "title": "E-mail", "format": "email" })),
        (
            "port",
            json!({ "type": "integer", "title": "Port", "minimum": 1, "maximum": 65535, "default": 8080 }),
        ),
        ("ratio", json!({ "type": "number", "title": "Ratio", "minimum": 0, "maximum": 1, "default": 0.5 })),
        ("debug", json!({ "type": "boolean", "title": "Debug", "default": false })),
        (
            "colour",
            json!({ "type": "string", "title": "Colour", "enum": ["red", "green"], "default": "green" }),
        ),
        (
            "database",
            json!({ "type": "string", "title": "Database", "oneOf": [
                { "const": "pg", "title": "Postgres", "description": "Relational" },
                { "const": "lite", "title": "SQLite", "description": "Embedded" } ] }),
        ),
        (
            "tags",
            json!({ "type": "array", "title": "Tags", "items": { "type": "string", "enum": ["new", "old"] },
                    "default": ["new"] }),
        ),
        (
            "features",
            json!({ "type": "array", "title": "Features", "minItems": 1, "maxItems": 2,
                    "items": { "anyOf": [
                        { "const": "auth", "title": "Auth" },
                        { "const": "search", "title": "Search" },
                        { "const": "billing", "title": "Billing" } ] } }),
        ),
    ]
}

/// Reads the response. Content that the schema does not allow is not an answer.
pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result).or_else(|| wrapped(result))? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let (properties, required) = properties(question);
    let known = content.keys().all(|name| properties.iter().any(|(key, _)| key == name));
    let complete = required.iter().all(|name| content.contains_key(name));
    let answers = properties.iter().map(|(key, property)| {
        let value = content.get(key);
        let fits = value.is_none_or(|value| fits(property, value));
        let values = match value {
            None => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(shown).collect(),
            Some(value) => vec![shown(value)],
        };
        let header = property["title"].as_str().unwrap_or(key).to_owned();
        let written = property["oneOf"].is_null() && property["type"] == "string";
        fits.then_some(FieldAnswer { header, values, note: None, written })
    });
    let answers: Vec<FieldAnswer> = answers.collect::<Option<_>>()?;
    (known && complete).then_some(QuestionResponse::Answered(answers))
}

/// Reads the action of early clients of `session/elicitation`, which wrapped it in a second `action`.
fn wrapped(result: &str) -> Option<Result<Map<String, Value>, QuestionResponse>> {
    let result: Value = serde_json::from_str(result).ok()?;
    content(&result["action"].to_string())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn fits(property: &Value, value: &Value) -> bool {
    match property["type"].as_str() {
        Some("string") => value.as_str().is_some_and(|text| text_fits(property, text)),
        Some("integer") => is_within(property, value) && (value.is_i64() || value.is_u64()),
        Some("number") => is_within(property, value),
        Some("boolean") => value.is_boolean(),
        _ => value.as_array().is_some_and(|values| {
            let items = &property["items"];
            let count = values.len() as u64;
            property["minItems"].as_u64().is_none_or(|least| least <= count)
                && property["maxItems"].as_u64().is_none_or(|most| count <= most)
                && values.iter().all(|value| value.as_str().is_some_and(|text| text_fits(items, text)))
        }),
    }
}

/// Returns whether a text fits. Formats and patterns are not checked.
fn text_fits(property: &Value, text: &str) -> bool {
    let length = text.chars().count() as u64;
    let is_option = |options: &Value| {
        options
            .as_array()
            .is_none_or(|options| options.iter().any(|option| option == text || option["const"] == text))
    };
    property["minLength"].as_u64().is_none_or(|least| least <= length)
        && property["maxLength"].as_u64().is_none_or(|most| length <= most)
        && ["enum", "oneOf", "anyOf"].iter().all(|name| is_option(&property[*name]))
}

fn is_within(property: &Value, value: &Value) -> bool {
    let Some(value) = value.as_f64() else { return false };
    property["minimum"].as_f64().is_none_or(|least| least <= value)
        && property["maximum"].as_f64().is_none_or(|most| value <= most)
}
