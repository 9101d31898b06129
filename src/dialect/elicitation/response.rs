//! The result of a form, from an outcome to JSON.
//! How the content is written is left to `content.rs`.

use serde::Serialize;
use serde_json::Value as Json;

use super::{FormReply, content};
use crate::{
    dialect::{agent_dialect::Rejection, entries::Entries, meta::ReplyMeta},
    question::{Answer, Question, Reason},
};

/// The `form_result` of a form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FormResult {
    /// As the standard has it.
    Flat(FormResultBody),
    /// As it was under some of the legacy method names.
    Nested {
        /// The result, one level deeper.
        action: FormResultBody,
    },
}

/// The action that ended the form, and its content.
#[derive(Debug, Serialize)]
pub struct FormResultBody {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Entries<Json>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ReplyMeta>,
}

/// Writes an answer as a result.
pub fn write_answer(format: &FormReply, question: &Question, answer: &Answer) -> FormResult {
    let (content, left_over) = content::write_content(format, question, answer);
    let meta = ReplyMeta::of_notes(question, answer, |place| left_over.contains(&place));
    form_result(format, FormResultBody { action: "accept", content: Some(content), meta })
}

/// Writes a rejection as a result. Only the user declines a form; every other reason cancels it.
pub fn write_rejection(format: &FormReply, rejection: Rejection<'_>) -> FormResult {
    let action = if rejection.reason == Reason::User { "decline" } else { "cancel" };
    form_result(
        format,
        FormResultBody { action, content: None, meta: Some(ReplyMeta::of_rejection(rejection)) },
    )
}

fn form_result(format: &FormReply, body: FormResultBody) -> FormResult {
    if format.nested { FormResult::Nested { action: body } } else { FormResult::Flat(body) }
}
