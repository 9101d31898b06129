//! What came back for a question, as every dialect can have it, and the sentence that says so.
//! Reading it is left to the dialects.

use super::field::Field;
use crate::mock::message::RpcError;

/// What came back for a question.
#[derive(Debug, PartialEq)]
pub(in crate::mock) enum Heard {
    /// An answer for each field.
    Answered(Vec<Answer>),
    /// No answer, in one of the ways that the dialect has, with the reason if one was given.
    Unanswered(How, Option<String>),
    Failed(RpcError),
    /// A result that the dialect does not have.
    Garbled(String),
}

/// How a question was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mock) enum How {
    Rejected,
    Declined,
    Cancelled,
    Skipped,
    Dismissed,
    InChat,
}

/// The answer to one field.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::mock) struct Answer {
    pub(super) header: String,
    pub(super) values: Vec<String>,
    pub(super) note: Option<String>,
    /// Whether it is a text of the person's own, and no choice.
    pub(super) written: bool,
}

impl Answer {
    /// An answer is the person's own text as far as no choice was taken.
    pub(super) fn new(field: &Field, values: Vec<String>, note: Option<String>) -> Self {
        let written = !values.is_empty() && !values.iter().any(|value| field.has(value));
        Self { header: field.header.to_owned(), values, note, written }
    }
}

impl Heard {
    pub(super) fn garbled(result: &str) -> Self {
        Self::Garbled(result.to_owned())
    }

    /// Whether nobody chose or wrote anything.
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Self::Answered(answers) => {
                answers.iter().all(|answer| answer.values.is_empty() && answer.note.is_none())
            }
            Self::Unanswered(..) => true,
            Self::Failed(_) | Self::Garbled(_) => false,
        }
    }

    /// Says in a sentence what came back.
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

impl How {
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

fn said(answer: &Answer) -> String {
    let values = if answer.values.is_empty() { "nothing".to_owned() } else { answer.values.join(", ") };
    match &answer.note {
        Some(note) => format!("{values} (note: {note})"),
        None => values,
    }
}
