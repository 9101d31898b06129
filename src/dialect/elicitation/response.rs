//! The result of a form, from an outcome to JSON.

use serde::Serialize;
use serde_json::Value as Json;

use super::{Words, content};
use crate::{
    dialect::{entries::Entries, meta::Meta},
    question::{Answer, Question, Reason},
};

/// The `result` of a form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// As it is now.
    Flat(Body),
    /// As it was under some former names.
    Nested {
        /// The same, one level deeper.
        action: Body,
    },
}

/// What became of the form.
#[derive(Debug, Serialize)]
pub struct Body {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Entries<Json>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

/// Says an answer.
pub fn answered(words: &Words, question: &Question, answer: &Answer) -> Response {
    let (content, unsaid) = content::write(words, question, answer);
    let meta = Meta::of_notes(question, answer, |place| unsaid.contains(&place));
    response(words, Body { action: "accept", content: Some(content), meta })
}

/// Says a rejection. Only a person declines; whatever else ends the question cancels it.
pub fn rejected(words: &Words, reason: Reason) -> Response {
    let action = if reason == Reason::User { "decline" } else { "cancel" };
    response(words, Body { action, content: None, meta: Some(Meta::of_rejection(reason)) })
}

fn response(words: &Words, body: Body) -> Response {
    if words.nested { Response::Nested { action: body } } else { Response::Flat(body) }
}
