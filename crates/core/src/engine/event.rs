//! The vocabulary of the bridge: events go in beside bytes, outputs come out for the shell; a protocol takes
//! intercepted lines, and decides on actions that the bridge carries out. Has no logic.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    desk::{Notice, QuestionId, Record, TicketedSubmission},
    question::{Answer, FieldError},
    wire::envelope::Message,
};

/// One of the two peers of the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The IDE side, on the bridge's stdin and stdout. Under a conductor, the conductor.
    Client,
    /// The child process.
    Agent,
}

impl Peer {
    /// Both of them.
    pub const ALL: [Peer; 2] = [Peer::Client, Peer::Agent];

    /// Returns the peer on the other side.
    #[must_use]
    pub fn other(self) -> Peer {
        match self {
            Peer::Client => Peer::Agent,
            Peer::Agent => Peer::Client,
        }
    }
}

/// An event beside bytes that arrive, leave, or cannot leave.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent's process ended.
    AgentExited {
        /// Whether its process group still has a process.
        group: bool,
    },
    /// The last process of the agent's process group ended.
    GroupEnded,
    /// A signal asked the bridge to end.
    Signal,
    /// A responder other than the client hands in an answer, a rejection or an extension.
    Submitted(TicketedSubmission),
    /// The ledger has recorded that the delivery of this question's outcome begins, as [`Output::Begins`] requested.
    Begins(u64),
    /// The settings changed: how long a question may stay open.
    Timeout {
        /// The timeout of questions that open from now on; `None` keeps them open.
        timeout: Option<Duration>,
        /// When the change was made. It also applies to questions that have opened since then.
        since: Duration,
    },
    /// The time that [`super::Bridge::next_deadline`] returned has come.
    Tick,
}

/// The outputs of a bridge to its shell, in the order in which things happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// This many more bytes are in the outbox of this peer.
    Queued(Peer, usize),
    /// A line of this peer was intercepted, or the beginning of one that is not held. For logs.
    Intercepted(Peer, Bytes),
    /// The agent's stdin is to be closed behind its outbox. The client is read no more.
    EndAgentInput,
    /// The bridge's stdout is to be closed behind the client's outbox.
    EndClientOutput,
    /// SIGTERM to the agent's process group.
    Terminate,
    /// SIGKILL to the agent's process group.
    Kill,
    /// The client did not answer, and the question stays open: for another way to ask the client, or for other
    /// responders.
    Unanswered(Arc<Record>, UnansweredReason),
    /// Something happened to a question, or a submission was judged.
    Notice(Notice),
    /// A responder's outcome of this question cannot be delivered yet, and nothing of it was written.
    Waits(QuestionId),
    /// A response that waited can be delivered, as soon as [`Event::Begins`] reports that the ledger has noted it.
    Begins(QuestionId),
    /// A line of the conductor could not be passed on, for this reason.
    Refused(&'static str),
    /// The peer that should be a conductor began as a client does.
    NoConductor,
    /// The bridge ends as soon as the client's outbox is idle.
    Finish,
    /// The bridge ends at once.
    Abandon,
}

/// Why the client did not answer a question.
#[derive(Clone, Debug, PartialEq)]
pub enum UnansweredReason {
    /// Other responders are to answer: the person wants to do it elsewhere, or the client failed half-way. What was
    /// answered before is kept.
    Elsewhere(Answer),
    /// Its answer does not fit the question.
    DoesNotFit(Vec<FieldError>),
    /// Its answer has no known meaning.
    NotUnderstood,
    /// It cannot show the question, by an error with this code; 0 if the error has none.
    Refused(i32),
    /// It refused this long after it was asked, which is faster than a person can read.
    ByItself(Duration),
    /// There is no way to show the question to this client.
    NoWay,
    /// It was asked, and has said nothing for [`crate::limits::SILENCE`]. Its response still counts.
    Silent,
}

/// A line that was intercepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes, terminator included where there is one.
    pub bytes: Bytes,
    /// Whether this is all of it. Of a line that is too long to hold, or that need not be held, it is the beginning.
    pub whole: bool,
}

impl Line {
    /// Reads the line, or as much as there is of it.
    pub fn message(&self) -> Option<Message<'_>> {
        if self.whole { Message::read(&self.bytes) } else { Message::read_prefix(&self.bytes) }
    }
}

/// An action of a protocol. The bridge carries actions out in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Forwards the line unchanged, and the rest of a long line as it arrives. Without this action or
    /// [`Action::ForwardAs`], the line is dropped.
    Forward,
    /// Forwards these bytes in the place of the line, or of its beginning, and the rest of a long line as it arrives.
    ForwardAs(Bytes),
    /// Sends this line of the bridge's own to this peer.
    Send(Peer, Bytes),
    /// Sends the agent this response to the question with this number. Its last byte delivers the outcome.
    Respond(u64, Bytes),
    /// Marks the outcome of the question with this number as delivered once all bytes that are queued for the agent by
    /// now have been written.
    Deliver(u64),
    /// Notifies the shell.
    Tell(Output),
}
