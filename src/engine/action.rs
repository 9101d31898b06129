//! What a protocol takes in and what it decides, for the bridge that carries it out. Has no logic.

use bytes::Bytes;

use super::event::{Output, Peer};
use crate::wire::envelope::Message;

/// A line that was intercepted.
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

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The line goes on as it is, with what is still to come of it. Without this or the next, it is dropped.
    Forward,
    /// These bytes go on in the place of the line, or of its beginning, with what is still to come of it.
    ForwardAs(Bytes),
    /// This line of the bridge's own goes to this peer.
    Send(Peer, Bytes),
    /// This line is the agent's response to the question with this number, and delivers it.
    Respond(u64, Bytes),
    /// The question with this number is delivered once all that goes to the agent by now has been written.
    Deliver(u64),
    /// The shell is told.
    Tell(Output),
}
