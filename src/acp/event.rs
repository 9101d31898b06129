//! All that can happen, and all that can be done about it.
//! Has no logic.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    question::{Answer, FieldError, Outcome, Provenance, Question},
    wire::envelope::Message,
};

/// One of the two that the bridge stands between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The IDE side, on our stdin and stdout.
    Client,
    /// The child process.
    Agent,
}

/// A line that [`super::Bridge::judge`] wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes, terminator included where there is one.
    pub bytes: Bytes,
    /// Whether this is all of it. Of a line that is too long to hold, it is the beginning.
    pub whole: bool,
}

impl Line {
    /// Reads the line, or as much as there is of it.
    pub fn message(&self) -> Option<Message<'_>> {
        if self.whole { Message::read(&self.bytes) } else { Message::read_prefix(&self.bytes) }
    }
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A wanted line came from this peer.
    Line(Peer, Line),
    /// Our stdin ended: the client is gone.
    ClientEnded,
    /// Our stdout broke: the client reads no more.
    ClientBroke,
    /// The agent's output ended, or nobody is left who could write to it.
    AgentOutputEnded,
    /// The agent's process ended. `group` says whether others of its process group are still there.
    AgentExited {
        /// Whether somebody of its group is left.
        group: bool,
    },
    /// The last of the agent's process group ended.
    GroupEnded,
    /// SIGTERM, SIGINT or SIGHUP came.
    Signal,
    /// A responder other than the client has something to say about a question.
    Submitted(Submitted),
    /// The deadline has come.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The line of this event goes on as it is, with what is still to come of it. Without this it is dropped.
    Forward,
    /// This line of our own goes to this peer.
    Send(Peer, Bytes),
    /// The agent's stdin is closed behind what still goes to it, and the client is read no more.
    EndAgentInput,
    /// Our stdout is closed behind what still goes to it.
    EndClientOutput,
    /// SIGTERM to the agent's process group.
    Terminate,
    /// SIGKILL to the agent's process group.
    Kill,
    /// A question opened.
    Opened(Arc<Opened>),
    /// The client was asked, and the question stays open: for another way to ask the client, or for others.
    Unanswered(Arc<Opened>, Unanswered),
    /// Four fifths of the time that a question has are over.
    Warned(Arc<Opened>),
    /// A question has another deadline.
    Extended(Arc<Opened>, Duration),
    /// What becomes of a submission. What it makes us say to the agent stands before it.
    Judged(Ticket, Result<(), Refused>),
    /// A question was settled.
    Settled(Box<Settled>),
    /// The bridge ends as soon as the client has read what is for it.
    Finish,
    /// The bridge ends at once.
    Abandon,
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Its number: no other question of the bridge has it.
    pub number: u64,
    /// What is asked.
    pub question: Arc<Question>,
    /// When it was asked.
    pub since: Duration,
    /// When it ends by itself, as it was when it opened.
    pub deadline: Option<Duration>,
    /// Whether there is no way to show it to the client. [`Unanswered::NoWay`] says so as well.
    pub elsewhere: bool,
}

impl Opened {
    /// Returns the name by which others know the question of this bridge.
    pub fn name(&self, bridge: &str) -> String {
        name(bridge, self.number)
    }
}

/// Returns the name by which others know the question of this bridge that has this number.
pub fn name(bridge: &str, number: u64) -> String {
    format!("{bridge}-{number}")
}

/// Names a submission, for its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What a responder other than the client says.
#[derive(Clone, Debug, PartialEq)]
pub struct Submitted {
    /// Names it in its verdict.
    pub ticket: Ticket,
    /// The number of the question.
    pub number: u64,
    /// What is to be done.
    pub submission: Submission,
    /// Who says it.
    pub by: Provenance,
}

/// What can be done about an open question.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// Answer it.
    Answer(Answer),
    /// Reject it, and say why in the person's own words.
    Reject(Option<String>),
    /// Give it this much more time.
    Extend(Duration),
}

/// Why a submission came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such question, or not any more.
    NotOpen,
    /// It does not fit the question.
    DoesNotFit(Vec<FieldError>),
    /// The question waits as long as it takes.
    NoDeadline,
}

/// Why the client did not answer a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Unanswered {
    /// Others are to answer: the person wants to do it elsewhere, or the client failed half-way. What was answered
    /// before is kept.
    Elsewhere(Answer),
    /// What it said does not fit the question.
    DoesNotFit(Vec<FieldError>),
    /// What it said is not known to mean anything.
    NotUnderstood,
    /// It cannot show it: the error's code.
    Refused(i32),
    /// There is no way to show it to this client.
    NoWay,
}

/// A question that is no longer open.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Its number.
    pub number: u64,
    /// The question.
    pub question: Arc<Question>,
    /// What became of it.
    pub outcome: Outcome,
    /// Who settled it.
    pub by: Provenance,
    /// How long it was open.
    pub after: Duration,
    /// Why it was rejected, in the words of who did.
    pub remark: Option<String>,
}
