//! The response to a plain form of the standard, with every type of property. It is checked against the schema that was
//! sent, as the standard asks of agents. The actions are left to `elicitation.rs`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    elicitation::content,
    question::MockQuestion,
    response::{FieldAnswer, QuestionResponse},
};
use crate::message::OrderedMap;

/// What the reader needs of a form.
#[derive(Deserialize)]
struct Form {
    #[serde(rename = "requestedSchema")]
    schema: Schema,
}

#[derive(Deserialize)]
struct Schema {
    properties: OrderedMap,
    required: Vec<String>,
}

/// Reads the response. Content that the schema does not allow is not an answer.
pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result).or_else(|| wrapped(result))? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let Form { schema } = serde_json::from_str(question.request().ok()?.params.get()).ok()?;
    let Schema { properties: OrderedMap(properties), required } = schema;
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
