//! The response to a question, independent of the dialect, and the sentence that reports it.
//! Reading it is left to the dialects.

use super::field::MockField;
use crate::message::RpcError;

/// The response to a question.
#[derive(Debug, PartialEq)]
pub(crate) enum QuestionResponse {
    /// An answer for each field.
    Answered(Vec<FieldAnswer>),
    /// No answer, in one of the dialect's ways, with the reason if the client gave one.
    Unanswered(NonAnswer, Option<String>),
    /// A JSON-RPC error.
    Failed(RpcError),
    /// A result that the dialect does not have, as raw JSON.
    Garbled(String),
}

/// The way in which a client did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonAnswer {
    Rejected,
    Declined,
    Cancelled,
    Skipped,
    Dismissed,
    InChat,
}

/// The answer to one field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldAnswer {
    pub(super) header: String,
    pub(super) values: Vec<String>,
    pub(super) note: Option<String>,
    /// Whether it is a free text instead of a choice.
    pub(super) written: bool,
}

impl FieldAnswer {
    /// Returns the answer to this field; it counts as a free text if none of its values is a choice.
    pub(super) fn new(field: &MockField, values: Vec<String>, note: Option<String>) -> Self {
        let written = !values.is_empty() && !values.iter().any(|value| field.has(value));
        Self { header: field.header.to_owned(), values, note, written }
    }
}

impl QuestionResponse {
    /// Returns whether it has no value and no note. An error is not empty.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Answered(answers) => {
                answers.iter().all(|answer| answer.values.is_empty() && answer.note.is_none())
            }
            Self::Unanswered(..) => true,
            Self::Failed(_) | Self::Garbled(_) => false,
        }
    }

    /// Returns the sentence that reports it.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Answered(answers) => match answers.as_slice() {
                [answer] if answer.written => format!("You wrote: {}", said(answer)),
                [answer] => format!("You chose: {}", said(answer)),
                _ => {
                    let said = answers.iter().map(|answer| format!("{}: {}", answer.header, said(answer)));
                    format!("You answered: {}", said.collect::<Vec<_>>().join("; "))
                }
            },
            Self::Unanswered(how, reason) => {
                let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!("The question was {}{reason}", how.word())
            }
            Self::Failed(error) => format!("The question failed: {error}"),
            Self::Garbled(result) => format!("The answer was not understood: {result}"),
        }
    }
}

impl NonAnswer {
    /// Returns the participle that reports it.
    fn word(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Dismissed => "dismissed",
            Self::InChat => "taken to the chat",
        }
    }
}

fn said(answer: &FieldAnswer) -> String {
    let values = if answer.values.is_empty() { "nothing".to_owned() } else { answer.values.join(", ") };
    match &answer.note {
        Some(note) => format!("{values} (note: {note})"),
        None => values,
    }
}
