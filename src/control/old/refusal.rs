//! Why a submission came to nothing, and what is said to whoever comes too late.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{book::Book, view::Record};
use crate::{
    acp::Submission,
    question::{FieldError, Outcome, Reason},
};

/// Why a submission came to nothing.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Refusal {
    /// No question has this name.
    #[error("there is no such question")]
    NotFound,
    /// Several questions have a name that begins like this.
    #[error("the name is short for several questions: {}", .0.join(", "))]
    Ambiguous(Vec<String>),
    /// It is settled, and not in this way.
    #[error("the question is settled already, in another way")]
    Conflict(Arc<Record>),
    /// It is over, and was not answered.
    #[error("the question is over")]
    Gone(Arc<Record>),
    /// The answer does not fit it.
    #[error("the answer does not fit the question: {}", list(.0))]
    DoesNotFit(Vec<FieldError>),
    /// What was asked is no question.
    #[error("that cannot be asked: {0}")]
    BadQuestion(String),
    /// There is no deadline to extend.
    #[error("the question has no deadline")]
    NoDeadline,
    /// There were too many requests in this second, or too much waits for the agent.
    #[error("too many requests: try again later")]
    TooManyRequests,
    /// The bridge is gone, or nobody knows whether the agent got it.
    #[error("the bridge that asked is gone, or does not answer")]
    Unavailable,
}

/// What belongs to a refusal, for programs. Which of the members are there depends on its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Refusal"))]
pub struct Detail {
    /// Its stable name.
    pub name: String,
    /// What is wrong with the answer, by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The names that were meant, perhaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The question, as it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Record>,
}

impl Refusal {
    /// Returns its stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::NotFound => "not_found",
            Refusal::Ambiguous(_) => "ambiguous",
            Refusal::Conflict(_) => "conflict",
            Refusal::Gone(_) => "gone",
            Refusal::DoesNotFit(_) => "does_not_fit",
            Refusal::BadQuestion(_) => "bad_question",
            Refusal::NoDeadline => "no_deadline",
            Refusal::TooManyRequests => "too_many_requests",
            Refusal::Unavailable => "unavailable",
        }
    }

    /// Returns its code in JSON-RPC.
    pub fn code(&self) -> i32 {
        match self {
            Refusal::NotFound => 404,
            Refusal::Ambiguous(_) => 300,
            Refusal::Conflict(_) => 409,
            Refusal::Gone(_) => 410,
            Refusal::DoesNotFit(_) => 422,
            Refusal::BadQuestion(_) => 400,
            Refusal::NoDeadline => 412,
            Refusal::TooManyRequests => 429,
            Refusal::Unavailable => 503,
        }
    }

    /// Returns what belongs to it.
    pub fn detail(&self) -> Detail {
        let mut detail = Detail { name: self.name().to_owned(), ..Detail::default() };
        match self {
            Refusal::DoesNotFit(errors) => detail.errors.clone_from(errors),
            Refusal::BadQuestion(message) => {
                detail.errors = vec![FieldError { field: "question".to_owned(), message: message.clone() }];
            }
            Refusal::Ambiguous(ids) => detail.ids.clone_from(ids),
            Refusal::Conflict(view) | Refusal::Gone(view) => detail.question = Some((**view).clone()),
            Refusal::NotFound | Refusal::NoDeadline | Refusal::TooManyRequests | Refusal::Unavailable => {}
        }
        detail
    }

    /// Reads what [`Refusal::detail`] says.
    pub fn of(detail: Detail) -> Self {
        let Detail { name, errors, ids, question } = detail;
        match (&*name, question) {
            ("not_found", _) => Refusal::NotFound,
            ("ambiguous", _) => Refusal::Ambiguous(ids),
            ("conflict", Some(view)) => Refusal::Conflict(Arc::new(view)),
            ("gone", Some(view)) => Refusal::Gone(Arc::new(view)),
            ("does_not_fit", _) => Refusal::DoesNotFit(errors),
            ("bad_question", _) => {
                Refusal::BadQuestion(errors.into_iter().map(|error| error.message).collect())
            }
            ("no_deadline", _) => Refusal::NoDeadline,
            ("too_many_requests", _) => Refusal::TooManyRequests,
            _ => Refusal::Unavailable,
        }
    }
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Says what becomes of a submission to a question that is not open any more. The same once more is accepted.
pub(crate) fn over(book: &Book, id: &str, submission: &Submission) -> Result<(), Refusal> {
    // One that was open a moment ago, and is not remembered, may have been settled in any way.
    let view = book.find(id).ok_or(Refusal::Unavailable)?;
    let outcome = view.settlement.as_ref().map(|settlement| &settlement.outcome);
    match (outcome, submission) {
        (Some(Outcome::Answered(_)), Submission::Answer(answer)) => match book.was_answered_by(id, answer) {
            Some(true) => Ok(()),
            Some(false) => Err(Refusal::Conflict(Arc::clone(view))),
            None => Err(Refusal::Unavailable),
        },
        (Some(Outcome::Rejected(Reason::User)), Submission::Reject(_)) => Ok(()),
        (
            Some(
                Outcome::Answered(_)
                | Outcome::Failed
                | Outcome::Unknown(_)
                | Outcome::Rejected(Reason::User),
            ),
            _,
        ) => Err(Refusal::Conflict(Arc::clone(view))),
        (Some(Outcome::Rejected(_)), _) => Err(Refusal::Gone(Arc::clone(view))),
        (None, _) => Err(Refusal::Unavailable),
    }
}
