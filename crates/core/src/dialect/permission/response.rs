//! The result of a permission request, from an outcome to JSON and back, and its format ([`PermissionReply`]). Reading
//! the request is left to `request.rs`.
//!
//! Source: `RequestPermissionResponse` of the ACP schema, and Qwen's `answers` beside it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    dialect::{
        agent_dialect::{Rejection, Reply, ReplyMeta},
        values::{self, Entries},
    },
    question::{Answer, Outcome, Question, Reason, Value},
};

/// The `result` of a permission request.
#[derive(Debug, Serialize)]
pub struct PermissionResult {
    outcome: PermissionOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Entries<String>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ReplyMeta>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(super) enum PermissionOutcome {
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

/// Reads the outcome in a client's `result`. Returns `None` if the result has another shape.
pub(super) fn read_outcome(result: &[u8]) -> Option<PermissionOutcome> {
    #[derive(Deserialize)]
    struct ChosenOption<'a> {
        #[serde(borrow)]
        outcome: &'a RawValue,
    }

    // serde would also read each of the two objects from a list of its members.
    let is_object = |json: &[u8]| json.starts_with(b"{");
    let ChosenOption { outcome } = serde_json::from_slice(is_object(result).then_some(result)?).ok()?;
    serde_json::from_str(Some(outcome.get()).filter(|outcome| is_object(outcome.as_bytes()))?).ok()
}

/// Writes an answer as a result.
pub fn write_answer(format: &PermissionReply, question: &Question, answer: &Answer) -> PermissionResult {
    let meta = ReplyMeta::of_notes(question, answer, |_| true);
    match format {
        PermissionReply::Option { .. } | PermissionReply::OneKind | PermissionReply::Grant { .. } => {
            let chosen = question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
                Value::Text(option) => Some(PermissionOutcome::Selected { option_id: option.clone() }),
                _ => None,
            });
            // Without an option, nothing is allowed (I12).
            PermissionResult { outcome: chosen.unwrap_or(PermissionOutcome::Cancelled), answers: None, meta }
        }
        PermissionReply::Answers { submit, .. } => {
            let answers = question.fields.iter().enumerate().filter_map(|(index, field)| {
                Some((index.to_string(), text(answer.values.get(&field.name)?)))
            });
            PermissionResult {
                outcome: PermissionOutcome::Selected { option_id: submit.clone() },
                answers: Some(Entries(answers.collect())),
                meta,
            }
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Many(texts) => values::join(texts),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Null => String::new(),
    }
}

/// Reads a client's choice for a permission. The client's result is forwarded unchanged, even with an unknown option.
pub fn read_reply(format: &PermissionReply, question: &Question, result: &[u8]) -> Reply {
    // Only these requests reach clients unchanged; the others are translated, so no client replies in their format.
    if !matches!(format, PermissionReply::Grant { .. }) {
        return Reply::Unknown;
    }
    let Some(outcome) = read_outcome(result) else { return Reply::Unknown };
    let field = question.fields.first();
    match (outcome, field) {
        (PermissionOutcome::Cancelled, _) => Reply::Canonical(Outcome::Rejected(Reason::Cancelled)),
        (PermissionOutcome::Selected { option_id }, Some(field))
            if field.kind.options().iter().any(|option| option.value == option_id) =>
        {
            Reply::Canonical(Outcome::Answered(Answer::text(&field.name, option_id)))
        }
        // The agent judges an option that it did not offer.
        (PermissionOutcome::Selected { .. }, _) => Reply::Canonical(Outcome::Failed),
    }
}

/// Writes a rejection as a result. Only the user chooses the option that skips the question or refuses the permission;
/// every other reason cancels the request.
pub fn write_rejection(format: &PermissionReply, rejection: Rejection<'_>) -> PermissionResult {
    let option = match format {
        PermissionReply::Option { skip: option }
        | PermissionReply::Answers { cancel: option, .. }
        | PermissionReply::Grant { reject: option } => option.as_ref(),
        PermissionReply::OneKind => None,
    };
    let outcome = match option {
        Some(option_id) if rejection.reason == Reason::User => {
            PermissionOutcome::Selected { option_id: option_id.clone() }
        }
        _ => PermissionOutcome::Cancelled,
    };
    PermissionResult { outcome, answers: None, meta: Some(ReplyMeta::of_rejection(rejection)) }
}

/// The reply format of a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionReply {
    /// The chosen option is the answer: Kimi and pi-acp.
    Option {
        /// The option that skips the question.
        skip: Option<String>,
    },
    /// The chosen option is the answer, and none of them is a refusal: they have one kind.
    OneKind,
    /// One option submits the answers, which are in another member: Qwen.
    Answers {
        /// The option that submits the answers.
        submit: String,
        /// The option that skips the question.
        cancel: Option<String>,
    },
    /// The chosen option grants or refuses a permission.
    Grant {
        /// The option that refuses it.
        reject: Option<String>,
    },
}
