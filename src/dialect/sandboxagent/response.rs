//! The native response, from an outcome to JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::question::{Answer, Kind, Question, Reason, Value};

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

/// The `_meta` of the response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The bridge's own additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub askbridge: Option<Additions>,
}

/// What the bridge adds to the extension.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Additions {
    /// Why it was rejected: `user`, `cancelled`, `withdrawn`, `timeout`, `replied_in_chat`, `client_gone`,
    /// `session_closed` or `shutdown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was remarked beside the answers, keyed by the field's place: `"0"` is the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let answers = question
        .fields
        .iter()
        .map(|field| answer.values.get(&field.name).map(|value| texts(value, &field.kind)));
    let notes = question.fields.iter().enumerate().filter_map(|(index, field)| {
        answer.notes.get(&field.name).map(|note| (index.to_string(), note.clone()))
    });
    let additions = Additions { reason: None, notes: notes.collect() };
    let meta = (additions != Additions::default()).then_some(Meta { askbridge: Some(additions) });
    Response::Answered { answers: answers.map(Option::unwrap_or_default).collect(), meta }
}

/// Says a rejection, and why.
pub fn rejected(reason: Reason) -> Response {
    let additions = Additions { reason: Some(reason.name().to_owned()), ..Additions::default() };
    Response::Rejected { meta: Some(Meta { askbridge: Some(additions) }) }
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
