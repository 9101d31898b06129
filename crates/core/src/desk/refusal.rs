//! Why a submission is refused: one table of names, codes and meanings for every interface. Statuses of HTTP and exit codes
//! are left to those who give them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{QuestionId, Record, State, Submission};
use crate::question::{Answer, FieldError, Outcome, Reason};

/// Why a submission, or a question of a program, is refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Refusal {
    /// No question has this ID.
    #[error("there is no such question")]
    NotFound,
    /// The ID is short for several questions.
    #[error("the ID is ambiguous: {}", list(.0, ", "))]
    Ambiguous(Vec<QuestionId>),
    /// The question is settled, and not in this way.
    #[error("the question is settled already, in another way")]
    Conflict(Arc<Record>),
    /// The question has changed, and the answer was given for an earlier text of it (I13).
    #[error("the question has changed since it was shown: look at it again")]
    Changed(Arc<Record>),
    /// The question is over, and was not answered.
    #[error("the question is over")]
    Gone(Arc<Record>),
    /// The answer does not fit the question.
    #[error("the answer does not fit the question: {}", list(.0, "; "))]
    DoesNotFit(Vec<FieldError>),
    /// The question that a program asks is malformed.
    #[error("the question cannot be asked: {0}")]
    BadQuestion(String),
    /// A limit on open questions is reached.
    #[error("{0}: settle some first")]
    Full(String),
    /// There is no deadline to extend.
    #[error("the question has no deadline")]
    NoDeadline,
    /// A process of the agent's own tree cannot settle or extend what its agent asked (I12).
    #[error("the agent that asked cannot answer itself: answer in a terminal that the agent did not start")]
    OwnAgent,
    /// The connection is read-only: `askbridge dial --read-only`.
    #[error("this connection is read-only")]
    ReadOnly,
    /// There is no connection to the question's machine: nothing was sent.
    #[error("the machine is not connected, and nothing was sent: {0}")]
    Unreached(String),
    /// There were too many requests in this second, or too many bytes wait for the agent or for readers of replies.
    #[error("too many requests: try again later")]
    TooManyRequests,
    /// The bridge is gone, or it is not known whether the asker got the answer.
    #[error("the bridge that asked is gone, or does not answer")]
    Unavailable,
    /// It was sent, and no verdict came: it is not known whether the asker got it.
    #[error("it is not known whether the agent got this: no word came back; the same may be sent again")]
    Unknown,
    /// The journal cannot be read: it is not known what was asked before, and how it ended.
    #[error("the history cannot be read: {0}")]
    HistoryUnavailable(String),
    /// Another question was asked under the same key.
    #[error("the key was used for another question, {0}: take a new key, or send the very same question")]
    KeyUsed(QuestionId),
    /// The connection of the asker holds the question.
    #[error("the connection that asked holds this question: its end withdraws the question")]
    Held,
    /// No question can be kept here.
    #[error("nothing can be kept beyond this connection: {0}")]
    NotKept(String),
    /// A bridge of another version refused it under this name.
    #[error("the bridge refused it as {0:?}, which this version does not know: it needs a newer askbridge")]
    Other(String),
}

/// A refusal in the control protocol. What HTTP and the commands make of it is theirs: a status, an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalKind {
    /// The stable name.
    pub name: &'static str,
    /// The code in JSON-RPC, which reserves those from -32768 to -32000. Each refusal has one of its own.
    pub code: i32,
    /// Its meaning, for documents.
    pub meaning: &'static str,
}

impl RefusalKind {
    const NOT_FOUND: Self = Self::new("not_found", 404, "There is no such question.");
    const AMBIGUOUS: Self =
        Self::new("ambiguous", 300, "The ID is short for several questions, which are under `ids`.");
    const CONFLICT: Self = Self::new(
        "conflict",
        409,
        "The question is settled already, in another way, which is in `question`.",
    );
    const CHANGED: Self = Self::new(
        "changed",
        428,
        "The question changed after it was shown, and is open: its present text is in `question`.",
    );
    const GONE: Self = Self::new("gone", 410, "The question is over, and was not answered.");
    const DOES_NOT_FIT: Self =
        Self::new("does_not_fit", 422, "The answer does not fit the question: `errors` says why, by field.");
    const BAD_QUESTION: Self =
        Self::new("bad_question", 400, "The question cannot be asked: `errors` says why.");
    const TOO_MANY_QUESTIONS: Self =
        Self::new("too_many_questions", 507, "A limit on open questions is reached.");
    const NO_DEADLINE: Self = Self::new("no_deadline", 412, "The question has no deadline.");
    const OWN_AGENT: Self = Self::new(
        "own_agent",
        403,
        "The agent that asked cannot answer itself: a process that it started sent this.",
    );
    const READ_ONLY: Self = Self::new("read_only", 405, "The connection is read-only.");
    const UNREACHED: Self = Self::new(
        "unreached",
        504,
        "There is no connection to the question's machine: nothing was sent. `errors` says why.",
    );
    const TOO_MANY_REQUESTS: Self =
        Self::new("too_many_requests", 429, "Too many requests in a second, or too many bytes wait.");
    const UNAVAILABLE: Self =
        Self::new("unavailable", 503, "The bridge that asked is gone, or does not answer.");
    const UNKNOWN: Self = Self::new(
        "unknown",
        408,
        "It was sent, and no verdict came: it is not known whether the agent got it. The same may be sent again.",
    );
    const HISTORY_UNAVAILABLE: Self =
        Self::new("history_unavailable", 500, "The journal cannot be read: `errors` says why.");
    const KEY_USED: Self =
        Self::new("key_used", 425, "Another question was asked under the same key: its ID is under `ids`.");
    const HELD: Self = Self::new("held", 423, "The connection that asked holds the question.");
    const NOT_KEPT: Self =
        Self::new("not_kept", 501, "Nothing can be kept beyond the connection: `errors` says why.");
    const OTHER: Self = Self::new(
        "other",
        502,
        "A bridge of another version refused it: `name` is its own name for the reason.",
    );

    /// Every refusal.
    pub const ALL: [Self; 20] = [
        Self::NOT_FOUND,
        Self::AMBIGUOUS,
        Self::CONFLICT,
        Self::CHANGED,
        Self::GONE,
        Self::DOES_NOT_FIT,
        Self::BAD_QUESTION,
        Self::TOO_MANY_QUESTIONS,
        Self::NO_DEADLINE,
        Self::OWN_AGENT,
        Self::READ_ONLY,
        Self::UNREACHED,
        Self::TOO_MANY_REQUESTS,
        Self::UNAVAILABLE,
        Self::UNKNOWN,
        Self::HISTORY_UNAVAILABLE,
        Self::KEY_USED,
        Self::HELD,
        Self::NOT_KEPT,
        Self::OTHER,
    ];

    const fn new(name: &'static str, code: i32, meaning: &'static str) -> Self {
        RefusalKind { name, code, meaning }
    }
}

impl Refusal {
    /// Returns the form that the control protocol gives it.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Refusal::NotFound => RefusalKind::NOT_FOUND,
            Refusal::Ambiguous(_) => RefusalKind::AMBIGUOUS,
            Refusal::Conflict(_) => RefusalKind::CONFLICT,
            Refusal::Changed(_) => RefusalKind::CHANGED,
            Refusal::Gone(_) => RefusalKind::GONE,
            Refusal::DoesNotFit(_) => RefusalKind::DOES_NOT_FIT,
            Refusal::BadQuestion(_) => RefusalKind::BAD_QUESTION,
            Refusal::Full(_) => RefusalKind::TOO_MANY_QUESTIONS,
            Refusal::NoDeadline => RefusalKind::NO_DEADLINE,
            Refusal::OwnAgent => RefusalKind::OWN_AGENT,
            Refusal::ReadOnly => RefusalKind::READ_ONLY,
            Refusal::Unreached(_) => RefusalKind::UNREACHED,
            Refusal::TooManyRequests => RefusalKind::TOO_MANY_REQUESTS,
            Refusal::Unavailable => RefusalKind::UNAVAILABLE,
            Refusal::Unknown => RefusalKind::UNKNOWN,
            Refusal::HistoryUnavailable(_) => RefusalKind::HISTORY_UNAVAILABLE,
            Refusal::KeyUsed(_) => RefusalKind::KEY_USED,
            Refusal::Held => RefusalKind::HELD,
            Refusal::NotKept(_) => RefusalKind::NOT_KEPT,
            Refusal::Other(_) => RefusalKind::OTHER,
        }
    }

    /// Returns the details, for programs.
    pub fn detail(&self) -> Detail {
        let mut detail = Detail { name: self.kind().name.to_owned(), ..Detail::default() };
        let about = |what: &str, message: &String| {
            vec![FieldError { field: what.to_owned(), message: message.clone() }]
        };
        match self {
            Refusal::DoesNotFit(errors) => detail.errors.clone_from(errors),
            Refusal::BadQuestion(message) | Refusal::Full(message) => {
                detail.errors = about("question", message)
            }
            Refusal::Ambiguous(ids) => detail.ids.clone_from(ids),
            Refusal::KeyUsed(id) => detail.ids = vec![id.clone()],
            Refusal::Conflict(record) | Refusal::Changed(record) | Refusal::Gone(record) => {
                detail.question = Some(Arc::clone(record));
            }
            Refusal::Unreached(why) => detail.errors = about("machine", why),
            Refusal::HistoryUnavailable(why) | Refusal::NotKept(why) => detail.errors = about("journal", why),
            Refusal::Other(name) => detail.name.clone_from(name),
            Refusal::NotFound
            | Refusal::NoDeadline
            | Refusal::OwnAgent
            | Refusal::ReadOnly
            | Refusal::Held
            | Refusal::TooManyRequests
            | Refusal::Unavailable
            | Refusal::Unknown => {}
        }
        detail
    }
}

/// The details of a refusal. Its name says which members it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Refusal"))]
pub struct Detail {
    /// The stable name of the refusal.
    pub name: String,
    /// The errors in the answer or the question, by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The IDs that the ambiguous one may stand for, or that of the question that was asked under the same key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub ids: Vec<QuestionId>,
    /// The question, with its settlement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Arc<Record>>,
}

impl From<Detail> for Refusal {
    /// Reads the details of a refusal. A refusal that lacks the question it concerns is read as `Unavailable`.
    fn from(detail: Detail) -> Self {
        let Detail { name, errors, mut ids, question } = detail;
        let messages = |errors: Vec<FieldError>| errors.into_iter().map(|error| error.message).collect();
        match (&*name, question) {
            ("not_found", _) => Refusal::NotFound,
            ("ambiguous", _) => Refusal::Ambiguous(ids),
            ("conflict", Some(record)) => Refusal::Conflict(record),
            ("changed", Some(record)) => Refusal::Changed(record),
            ("gone", Some(record)) => Refusal::Gone(record),
            ("does_not_fit", _) => Refusal::DoesNotFit(errors),
            ("bad_question", _) => Refusal::BadQuestion(messages(errors)),
            ("too_many_questions", _) => Refusal::Full(messages(errors)),
            ("no_deadline", _) => Refusal::NoDeadline,
            ("own_agent", _) => Refusal::OwnAgent,
            ("read_only", _) => Refusal::ReadOnly,
            ("unreached", _) => Refusal::Unreached(messages(errors)),
            ("too_many_requests", _) => Refusal::TooManyRequests,
            ("unknown", _) => Refusal::Unknown,
            ("history_unavailable", _) => Refusal::HistoryUnavailable(messages(errors)),
            ("key_used", _) if !ids.is_empty() => Refusal::KeyUsed(ids.swap_remove(0)),
            ("held", _) => Refusal::Held,
            ("not_kept", _) => Refusal::NotKept(messages(errors)),
            ("conflict" | "changed" | "gone" | "unavailable", _) => Refusal::Unavailable,
            _ => Refusal::Other(name),
        }
    }
}

/// Returns the verdict on a submission to a question that is over. A repetition of the decision that settled the
/// question is accepted. `is_same` compares an answer with the one that settled the question; it returns `None` if that
/// cannot be known.
pub(super) fn late_verdict(
    record: &Arc<Record>,
    submission: &Submission,
    is_same: impl FnOnce(&Answer) -> Option<bool>,
) -> Result<(), Refusal> {
    // The settlement of a lost record is for followers: how the question ended is unknown.
    let settlement = record.settlement.as_ref().filter(|_| record.state != State::Lost);
    match (settlement.map(|settlement| &settlement.outcome), submission) {
        // The same answer to an earlier text is another decision.
        (Some(Outcome::Answered(_)), Submission::Answer { .. }) if !submission.has_seen(record.edition) => {
            Err(Refusal::Conflict(Arc::clone(record)))
        }
        (Some(Outcome::Answered(_)), Submission::Answer { answer, .. }) => match is_same(answer) {
            Some(true) => Ok(()),
            Some(false) => Err(Refusal::Conflict(Arc::clone(record))),
            None => Err(Refusal::Unavailable),
        },
        // Two rejections agree, whatever their remarks say.
        (Some(Outcome::Rejected(Reason::User)), Submission::Reject(_)) => Ok(()),
        (Some(Outcome::Rejected(reason)), _) if *reason != Reason::User => {
            Err(Refusal::Gone(Arc::clone(record)))
        }
        (Some(_), _) => Err(Refusal::Conflict(Arc::clone(record))),
        (None, _) => Err(Refusal::Unavailable),
    }
}

fn list(items: &[impl ToString], separator: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::desk::{Timestamp, samples::question};

    #[test]
    fn each_refusal_is_read_from_its_details() {
        let id: QuestionId = "b-1".parse().expect("an ID");
        let record = Arc::new(Record::new(id.clone(), question("Why?", None), Timestamp::default()));
        let error = FieldError { field: "f".to_owned(), message: "is required".to_owned() };
        let all = [
            Refusal::NotFound,
            Refusal::Ambiguous(vec![id.clone()]),
            Refusal::Conflict(Arc::clone(&record)),
            Refusal::Changed(Arc::clone(&record)),
            Refusal::Gone(record),
            Refusal::DoesNotFit(vec![error]),
            Refusal::BadQuestion("why not".to_owned()),
            Refusal::Full("too many".to_owned()),
            Refusal::NoDeadline,
            Refusal::OwnAgent,
            Refusal::ReadOnly,
            Refusal::Unreached("no route".to_owned()),
            Refusal::TooManyRequests,
            Refusal::Unavailable,
            Refusal::Unknown,
            Refusal::HistoryUnavailable("locked".to_owned()),
            Refusal::KeyUsed(id),
            Refusal::Held,
            Refusal::NotKept("no journal".to_owned()),
            Refusal::Other("of_next_year".to_owned()),
        ];
        assert_eq!(all.each_ref().map(Refusal::kind), RefusalKind::ALL);
        for refusal in all {
            let json = serde_json::to_value(refusal.detail()).expect("JSON");
            let detail: Detail = serde_json::from_value(json).expect("details");
            assert_eq!(Refusal::from(detail), refusal);
        }
    }

    #[test]
    fn a_refusal_without_its_record_is_unavailable() {
        for json in [
            json!({ "name": "unavailable", "why": 1 }),
            json!({ "name": "conflict" }),
            json!({ "name": "changed" }),
            json!({ "name": "gone", "errors": [] }),
        ] {
            let detail: Detail = serde_json::from_value(json).expect("details");
            assert_eq!(Refusal::from(detail), Refusal::Unavailable);
        }
    }
}
