//! The native response, from an outcome to JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::meta::Meta,
    question::{Answer, Kind, Question, Reason, Value},
};

/// The `result` of `_sandboxagent/session/request_question`.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
#[schemars(title = "RequestQuestionResult")]
pub enum Response {
    /// Somebody answered.
    Answered {
        /// For each field in its order, the values of the chosen options, or what was typed.
        answers: Vec<Vec<String>>,
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Meta>,
    },
    /// Nobody will answer.
    Rejected {
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Meta>,
    },
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let answers = question
        .fields
        .iter()
        .map(|field| answer.values.get(&field.name).map(|value| texts(value, &field.kind)));
    let meta = Meta::of_notes(question, answer, |_| true);
    Response::Answered { answers: answers.map(Option::unwrap_or_default).collect(), meta }
}

/// Says a rejection, and why.
pub fn rejected(reason: Reason) -> Response {
    Response::Rejected { meta: Some(Meta::of_rejection(reason)) }
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
