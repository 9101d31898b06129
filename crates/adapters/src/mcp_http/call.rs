//! What passes between the relay, which decides and does no I/O, and the calls over HTTP, which decide nothing.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;

/// The number of a call. A stream that is resumed keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallId(pub(super) u64);

/// What a call sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// A message.
    Message(Bytes),
    /// Nothing: it listens to a stream of the server's.
    Listen,
    /// The end of the session.
    End,
}

/// A call over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) sends: Sends,
    /// The headers of this call, beside those that each call has.
    pub(super) headers: HeaderMap,
}

/// What the relay wants done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Start a call. One of the same number has ended.
    Start(CallId, Call),
    /// Break the call off at once. It is not heard of again.
    Drop(CallId),
    /// Report the call after this time by [`Event::Woken`].
    Wake(CallId, Duration),
    /// Write a line to the host.
    Tell(Bytes),
}

/// What happens to the relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The host wrote a line.
    Line(Bytes),
    /// The host's line was longer than what is held; this is how it began.
    LongLine(Bytes),
    /// The host has closed its end.
    HostGone,
    /// All of a call's message was written.
    Sent(CallId),
    /// The head of a response.
    Head(CallId, Head),
    /// A message of a response: its body, or the data of an event.
    Message(CallId, Bytes),
    /// What a stream says about its continuation.
    Cursor(CallId, Cursor),
    /// The response has ended, or there is none.
    Ended(CallId, End),
    /// The time is over that [`Action::Wake`] asked for.
    Woken(CallId),
}

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The session that the server has begun.
    pub(super) session: Option<HeaderValue>,
    /// Whether the body is a stream of events.
    pub(super) is_stream: bool,
}

/// What a stream says about its continuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The ID of the last event. An empty one takes an earlier one back.
    pub(super) id: Option<Vec<u8>>,
    /// The pause before another connection.
    pub(super) retry: Option<Duration>,
}

/// How a response ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Complete,
    /// A message in it was longer than what is held.
    TooLong,
    /// There was no connection, for this reason: the server has not seen the message.
    Unreached(String),
    /// The connection broke, for this reason: the server may have seen the message.
    Broken(String),
    /// The server wants the message sent to this address, which is at another origin, or cannot be read.
    Elsewhere(Option<String>),
}
