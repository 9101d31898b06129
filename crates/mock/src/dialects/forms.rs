//! The responses to forms, `elicitation/create`: the actions, the content, and the properties that each agent gives its
//! fields. The responses to extensions and permission requests are left to `extensions.rs`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    field::MockField,
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};
use crate::message::OrderedMap;

/// Returns the accepted content, or the response if the form was not accepted. Returns `None` if the result is not
/// valid for a form.
fn content(result: &str) -> Option<Result<Map<String, Value>, QuestionResponse>> {
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
fn values(content: &Map<String, Value>, key: &str, multiple: bool) -> Option<Vec<String>> {
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
fn text(content: &Map<String, Value>, key: &str) -> Option<Option<String>> {
    let text = values(content, key, false)?.pop();
    Some(text.filter(|text| !text.is_empty()))
}

/// Reads the response to Claude's form: `question_N` for the choices, and `question_N_custom` for a free text. No
/// property is required, so an empty answer is valid.
pub(super) fn read_claude(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let values = values(&content, &question_key(at), field.multiple)?;
        Some(claude_answer(field, values, text(&content, &custom_key(at))?))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

/// Puts a free text where Claude does: one more value of a multiple choice, the answer itself if no option was
/// chosen, or a note on the option.
fn claude_answer(field: &MockField, mut values: Vec<String>, custom: Option<String>) -> FieldAnswer {
    if field.multiple {
        values.extend(custom);
        return FieldAnswer::new(field, values.iter().map(|value| quoted(value)).collect(), None);
    }
    match custom {
        Some(custom) if values.is_empty() => FieldAnswer::new(field, vec![custom], None),
        note => FieldAnswer::new(field, values, note),
    }
}

/// Quotes a value that contains the separator: Claude joins the values to one text.
fn quoted(value: &str) -> String {
    if value.contains(", ") || value.contains('"') {
        Value::from(value).to_string()
    } else {
        value.to_owned()
    }
}

fn question_key(at: usize) -> String {
    format!("question_{at}")
}

fn custom_key(at: usize) -> String {
    format!("question_{at}_custom")
}

/// Reads the response to Codex' form: titles are the questions, descriptions the headers, and each field has a note.
pub(super) fn read_codex(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    codex_answers(question, result, field_id)
}

/// Reads the response to the form that stays open while Codex works on.
pub(super) fn read_codex_async(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    codex_answers(question, result, question_id)
}

/// Returns the key of the field at this place.
type Key = fn(usize, &MockField) -> String;

fn field_id(_: usize, field: &MockField) -> String {
    field.id.to_owned()
}

fn question_id(at: usize, _: &MockField) -> String {
    question_key(at)
}

fn note_key(key: &str) -> String {
    format!("{key}_note")
}

fn codex_answers(question: &MockQuestion, result: &str, key: Key) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let key = key(at, field);
        let values = values(&content, &key, field.multiple)?;
        let answer = FieldAnswer::new(field, values, text(&content, &note_key(&key))?);
        // The value is never a free text: Codex has the note for that.
        Some(FieldAnswer { written: false, ..answer })
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

/// Reads the response to Kimi's form: `q0`, `q1` and so on, all of them required. Kimi drops values that are not
/// labels.
pub(super) fn read_kimi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &numbered_key(at), field.multiple)?;
        values.retain(|value| field.choices.iter().any(|choice| choice.label == value));
        Some(FieldAnswer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

fn numbered_key(at: usize) -> String {
    format!("q{at}")
}

/// Reads the response to the form of oh-my-pi, which has a second property for a free text.
pub(super) fn read_oh_my_pi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &numbered_key(at), field.multiple)?;
        let other = text(&content, &other_key(at))?;
        // A single choice has one answer, and oh-my-pi prefers the free text.
        if !field.multiple && other.is_some() {
            values.clear();
        }
        values.extend(other);
        Some(FieldAnswer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

/// Reads the response to the form of Devin, which takes a free text as the value.
pub(super) fn read_devin(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        Some(FieldAnswer::new(field, values(&content, &numbered_key(at), field.multiple)?, None))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

fn other_key(at: usize) -> String {
    format!("q{at}__other")
}

/// The members of a form that its reader needs.
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

/// Reads the response to a plain form with every type of property. As the standard asks of agents, the content is
/// checked against the schema that was sent. Content that the schema does not allow is not an answer.
pub(super) fn read_schema(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
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

/// Returns whether a text satisfies a property's length and options. Formats and patterns are not checked.
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
