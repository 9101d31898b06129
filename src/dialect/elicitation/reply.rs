//! What a client says to a form, from JSON to an outcome.

use serde_json::{Map, Value as Json};

use super::{Words, content};
use crate::question::{Outcome, Question, Reason};

/// Reads the `result` of a form. `None` for an action that is not known.
pub fn read(words: &Words, question: &Question, result: &[u8]) -> Option<Outcome> {
    let result: Map<String, Json> = serde_json::from_slice(result).ok()?;
    // Clients of the drafts nest it.
    let result = result.get("action").and_then(Json::as_object).unwrap_or(&result);
    match result.get("action")?.as_str()? {
        "accept" => {
            let none = Map::new();
            let content = match result.get("content") {
                None | Some(Json::Null) => &none,
                Some(content) => content.as_object()?,
            };
            Some(Outcome::Answered(content::read(words, question, content)))
        }
        "decline" => Some(Outcome::Rejected(Reason::User)),
        "cancel" => Some(Outcome::Rejected(Reason::Cancelled)),
        _ => None,
    }
}
