//! The input of a desk: its setup, questions that open, and the submissions of responders, each with the ticket of its
//! verdict. Has no logic. The output is in `event.rs`.

use std::{sync::Arc, time::Duration};

use super::{Asker, BridgeName, Timestamp};
use crate::{
    limits,
    question::{Answer, Context, Provenance, Question},
};

/// The setup of a desk.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The bridge that the desk belongs to.
    pub bridge: BridgeName,
    /// The asker whose questions the desk manages.
    pub asker: Asker,
    /// The time of day at which the desk's clock starts. All other times are durations since that moment.
    pub started: Timestamp,
    /// A random number that never leaves the process. It keys the digest by which answers with secrets are compared.
    pub key: u64,
}

/// How many questions a desk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The number of questions.
    pub open: usize,
    /// The number of questions of one session, and of those without one.
    pub open_per_session: usize,
    /// The bytes of all questions.
    pub bytes: usize,
}

impl Default for Room {
    /// Returns the room of an asker that waits for its questions.
    fn default() -> Self {
        Room { open: limits::OPEN, open_per_session: limits::OPEN_PER_SESSION, bytes: limits::OPEN_BYTES }
    }
}

/// A question that opens.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The question.
    pub question: Arc<Question>,
    /// How many bytes it counts for: see [`super::Desk::weigh`].
    pub weight: usize,
    /// How long it may stay open.
    pub timeout: Option<Duration>,
    /// Whether the client cannot show it.
    pub elsewhere: bool,
    /// What led to it, if that is known.
    pub context: Option<Arc<Context>>,
}

/// The actions of a responder on an open question.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// Answer it.
    Answer {
        /// The answer.
        answer: Answer,
        /// The [edition](super::Record::edition) of the question that its responder saw. `None` if that is not known:
        /// it then counts for the first edition only (I13).
        seen: Option<u32>,
    },
    /// Reject it, with the person's reason where there is one.
    Reject(Option<String>),
    /// Give it this much more time.
    Extend(Duration),
    /// Set it aside for this long; zero brings it back. Nobody but the responders hears of it.
    Later(Duration),
}

impl Submission {
    /// Returns an answer whose responder saw this edition of the question.
    pub fn answer(answer: Answer, seen: impl Into<Option<u32>>) -> Self {
        Submission::Answer { answer, seen: seen.into() }
    }

    /// Returns whether its responder saw this edition of the question. A rejection is right whatever was shown, and so
    /// is more time.
    pub fn has_seen(&self, edition: u32) -> bool {
        match self {
            Submission::Answer { seen, .. } => seen.unwrap_or_default() == edition,
            Submission::Reject(_) | Submission::Extend(_) | Submission::Later(_) => true,
        }
    }

    /// Returns whether it settles the question.
    pub fn settles(&self) -> bool {
        !matches!(self, Submission::Extend(_) | Submission::Later(_))
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Submission::Answer { answer, .. } => answer.bytes(),
            Submission::Reject(remark) => remark.as_ref().map_or(0, String::len),
            Submission::Extend(_) | Submission::Later(_) => 0,
        }
    }
}

/// Names a submission until its verdict. The caller of the desk chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A submission together with its ticket, its question and its responder.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketedSubmission {
    /// Names the submission in its verdict.
    pub ticket: Ticket,
    /// The number of the question.
    pub number: u64,
    /// The action.
    pub submission: Submission,
    /// Which responder hands it in.
    pub by: Provenance,
}
