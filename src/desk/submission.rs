//! What a responder submits to a question, and the ticket by which its verdict is told.

use std::time::Duration;

use crate::question::{Answer, Provenance};

/// What a responder can do about an open question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Submission {
    /// Answer it.
    Answer(Answer),
    /// Reject it, with the person's reason where there is one.
    Reject(Option<String>),
    /// Give it this much more time.
    Extend(Duration),
}

impl Submission {
    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Submission::Answer(answer) => answer.bytes(),
            Submission::Reject(remark) => remark.as_ref().map_or(0, String::len),
            Submission::Extend(_) => 0,
        }
    }
}

/// Names a submission until its verdict. The caller of the desk chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A submission, as a responder hands it in.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketedSubmission {
    /// Names the submission in its verdict.
    pub ticket: Ticket,
    /// The number of the question.
    pub number: u64,
    /// What is to be done.
    pub submission: Submission,
    /// Which responder hands it in.
    pub by: Provenance,
}
