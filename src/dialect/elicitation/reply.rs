//! The reply of a client that shows a form, from JSON to an outcome.
//! How its content is read is left to `content.rs`.

use serde_json::{Map, Value as Json};

use super::{FormReply, content};
use crate::question::{Outcome, Question, Reason};

/// Reads the `result` of a form. Returns `None` for an unknown action.
pub fn read_reply(format: &FormReply, question: &Question, result: &[u8]) -> Option<Outcome> {
    let result: Map<String, Json> = serde_json::from_slice(result).ok()?;
    // Clients of the drafts write the result one level deeper.
    let result = result.get("action").and_then(Json::as_object).unwrap_or(&result);
    match result.get("action")?.as_str()? {
        "accept" => {
            let none = Map::new();
            let content = match result.get("content") {
                None | Some(Json::Null) => &none,
                Some(content) => content.as_object()?,
            };
            Some(Outcome::Answered(content::read_content(format, question, content)))
        }
        "decline" => Some(Outcome::Rejected(Reason::User)),
        "cancel" => Some(Outcome::Rejected(Reason::Cancelled)),
        _ => None,
    }
}
