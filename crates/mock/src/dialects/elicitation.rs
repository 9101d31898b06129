//! The response to the standard's form: the actions `accept`, `decline` and `cancel`, and the content.
//! Which properties a field has is left to the dialects that ask with forms.

use serde_json::{Map, Value};

use super::response::{NonAnswer, QuestionResponse};

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
