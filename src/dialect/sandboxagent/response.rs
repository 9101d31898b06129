//! The native response, from an outcome to JSON.
//! Reading what a client replies is left to `reply.rs`.

use serde::{Deserialize, Serialize};

use crate::{
    dialect::{agent_dialect::Rejection, meta::ReplyMeta},
    question::{Answer, Kind, Question, Value},
};

/// The `result` of `_sandboxagent/session/request_question`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(title = "RequestQuestionResult"))]
pub enum ExtensionResult {
    /// There is an answer.
    Answered {
        /// For each field in its order, the values of the chosen options, or what was typed.
        answers: Vec<Vec<String>>,
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<ReplyMeta>,
    },
    /// There will be no answer.
    Rejected {
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<ReplyMeta>,
    },
}

/// Writes an answer as a result.
pub fn write_answer(question: &Question, answer: &Answer) -> ExtensionResult {
    let answers = question
        .fields
        .iter()
        .map(|field| answer.values.get(&field.name).map(|value| texts(value, &field.kind)));
    let meta = ReplyMeta::of_notes(question, answer, |_| true);
    ExtensionResult::Answered { answers: answers.map(Option::unwrap_or_default).collect(), meta }
}

/// Writes a rejection and its reason as a result.
pub fn write_rejection(rejection: Rejection<'_>) -> ExtensionResult {
    ExtensionResult::Rejected { meta: Some(ReplyMeta::of_rejection(rejection)) }
}

fn texts(value: &Value, kind: &Kind) -> Vec<String> {
    match (value, kind) {
        (Value::Text(text), _) => vec![text.clone()],
        (Value::Many(texts), _) => texts.clone(),
        (Value::Flag(true), Kind::Confirm { yes, .. }) => vec![yes.clone()],
        (Value::Flag(false), Kind::Confirm { no, .. }) => vec![no.clone()],
        (Value::Flag(flag), _) => vec![flag.to_string()],
        (Value::Number(number), _) => vec![number.to_string()],
    }
}
