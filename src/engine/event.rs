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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    Opened(Arc<Question>),
    /// The client was asked, and the question stays open: for another way to ask the client, or for others.
    Unanswered(Arc<Question>, Unanswered),
    /// A question was settled.
    Settled(Box<Settled>),
    /// The bridge ends as soon as the client has read what is for it.
    Finish,
    /// The bridge ends at once.
    Abandon,
}

/// Why the client did not answer a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Unanswered {
    /// The person wants to answer elsewhere. What was answered before is kept.
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
    /// The question.
    pub question: Arc<Question>,
    /// What became of it.
    pub outcome: Outcome,
    /// Who settled it.
    pub by: Provenance,
    /// How long it was open.
    pub after: Duration,
}
