//! The format of the response to each request of Codex: from an outcome to a `result`, and back.

use serde_json::{Map, Value as Json, json, value::RawValue};

use super::user_input;
use crate::{
    dialect::{
        agent_dialect::Rejection,
        elicitation::{FormReply, reply},
        values,
    },
    question::{Answer, Outcome, Question, Reason, Value},
};

/// The format of a response.
#[derive(Clone, Debug)]
pub enum CodexReply {
    /// The answers to the model's questions.
    UserInput,
    /// One of the decisions that the approval offers.
    Decision {
        /// The `result` for each option, by its value. As JSON text, since parsed JSON can take many times as much memory.
        results: Vec<(String, Box<RawValue>)>,
        /// The option that refuses.
        reject: Option<String>,
        /// The `result` for every end that the person did not choose.
        cancelled: Box<RawValue>,
    },
    /// The content of an MCP server's form.
    Form(FormReply),
}

impl CodexReply {
    /// Returns how many bytes of the request it holds.
    pub fn bytes(&self) -> usize {
        match self {
            CodexReply::UserInput => 0,
            CodexReply::Decision { results, cancelled, .. } => {
                let results = results.iter().map(|(value, result)| value.len() + result.get().len());
                results.sum::<usize>() + cancelled.get().len()
            }
            CodexReply::Form(format) => format.bytes(),
        }
    }

    /// Writes an answer that fits the question, as a `result`.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            CodexReply::UserInput => user_input::write_answer(question, answer),
            CodexReply::Decision { results, cancelled, .. } => {
                let chosen = question.fields.first().and_then(|field| answer.values.get(&field.name));
                let result = match chosen {
                    Some(Value::Text(chosen)) => find(results, chosen),
                    _ => None,
                };
                result.unwrap_or(cancelled).to_owned()
            }
            CodexReply::Form(format) => {
                let (content, _) = reply::write_content(format, question, answer);
                values::json(&json!({ "action": "accept", "content": content, "_meta": null }))
            }
        }
    }

    /// Writes a rejection as a `result`. Only the person refuses; every other reason cancels.
    pub fn write_rejection(&self, question: &Question, rejection: Rejection<'_>) -> Box<RawValue> {
        let is_refused = rejection.reason == Reason::User;
        match self {
            CodexReply::UserInput => user_input::write_rejection(question, rejection),
            CodexReply::Decision { results, reject, cancelled } => {
                let refused = reject.as_deref().filter(|_| is_refused);
                refused.and_then(|reject| find(results, reject)).unwrap_or(cancelled).to_owned()
            }
            CodexReply::Form(_) => {
                let action = if is_refused { "decline" } else { "cancel" };
                values::json(&json!({ "action": action, "content": null, "_meta": null }))
            }
        }
    }

    /// Reads the `result` of another client. Returns `None` if it has no known meaning.
    pub fn read(&self, question: &Question, result: &[u8]) -> Option<Outcome> {
        match self {
            CodexReply::UserInput => user_input::read_reply(question, result),
            CodexReply::Decision { results, cancelled, .. } => {
                let result: Json = serde_json::from_slice(result).ok()?;
                let field = question.fields.first()?;
                // Options come first: the result of one may be the same as `cancelled`.
                let chosen = results.iter().find(|(_, known)| is_same(known, &result));
                match chosen {
                    Some((value, _)) => Some(Outcome::Answered(Answer::text(&field.name, value))),
                    None if is_same(cancelled, &result) => Some(Outcome::Rejected(Reason::Cancelled)),
                    None => None,
                }
            }
            CodexReply::Form(format) => reply::read_reply(format, question, result),
        }
    }
}

fn find<'a>(results: &'a [(String, Box<RawValue>)], value: &str) -> Option<&'a RawValue> {
    results.iter().find(|(known, _)| known == value).map(|(_, result)| &**result)
}

/// Returns whether two results are equal. A null member equals a missing one.
fn is_same(known: &RawValue, other: &Json) -> bool {
    let Ok(known) = serde_json::from_str::<Json>(known.get()) else { return false };
    let said = |json: &Json| {
        let members = json.as_object()?.iter().filter(|(_, value)| !value.is_null());
        Some(members.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
    };
    said(&known) == said(other)
}
