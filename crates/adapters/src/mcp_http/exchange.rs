//! What the relay remembers of a call, and what the head and the body of a refused response mean.

use std::time::Duration;

use askbridge_core::wire::{envelope::Message, id::RequestId};
use bytes::Bytes;

use super::{
    call::Head,
    message::{self, Parsed},
};

/// JSON-RPC: there is no such method.
const METHOD_NOT_FOUND: i32 = -32601;
/// Characters of a refused response's body that the host is shown.
const SHOWN: usize = 300;

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Requests of the host.
    Request,
    /// The host's request that begins a session.
    Initialize,
    /// The same again, for a new session after the server ended one.
    Renewal,
    /// The notification that a session may be used.
    Initialized,
    /// Any other notification, or a response of the host.
    Control,
    /// The stream of the server's own messages.
    Listen,
    /// The end of the session.
    End,
}

/// Why the relay waits with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The call is made then: its stream is resumed, or what failed is tried again.
    Start,
    /// The call is broken off then, if it has not ended by itself.
    Finish,
    /// What waits for the call goes on then.
    GoOn,
}

/// Requests of the host on their way to the server.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) line: Bytes,
    pub(super) parsed: Parsed,
    /// In how many sessions it was sent that had ended.
    pub(super) tries: u32,
}

/// A call, from its beginning to its end.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) role: Role,
    /// What was sent; empty without a message.
    pub(super) out: Option<Outgoing>,
    /// The number of the session that it belongs to.
    pub(super) session: u32,
    /// Whether it was sent with the ID of the session.
    pub(super) names_session: bool,
    /// The requests that have no response yet.
    pub(super) open: Vec<RequestId>,
    /// Whether the whole message was written.
    pub(super) is_sent: bool,
    /// The host does not want the response any more.
    pub(super) is_cancelled: bool,
    /// The host's notification of that, which follows once the request was sent.
    pub(super) cancellation: Option<Bytes>,
    pub(super) head: Option<Head>,
    /// The body of a refused response.
    pub(super) body: Bytes,
    /// Whether the response had something other than messages in it.
    pub(super) is_garbled: bool,
    /// The ID of the last event of its stream.
    pub(super) cursor: Option<Vec<u8>>,
    /// The pause before another connection that the server asked for.
    pub(super) retry: Option<Duration>,
    /// Whether this is a stream that was resumed.
    pub(super) is_resumed: bool,
    /// How many attempts to resume it failed in a row.
    pub(super) failures: u32,
    pub(super) wait: Option<Wait>,
}

impl Exchange {
    pub(super) fn new(role: Role, out: Option<Outgoing>, session: u32) -> Self {
        let open = match out.as_ref().map(|out| &out.parsed.kind) {
            Some(message::Kind::Requests(ids)) => ids.clone(),
            _ => Vec::new(),
        };
        Exchange {
            role,
            out,
            session,
            names_session: false,
            open,
            is_sent: false,
            is_cancelled: false,
            cancellation: None,
            head: None,
            body: Bytes::new(),
            is_garbled: false,
            cursor: None,
            retry: None,
            is_resumed: false,
            failures: 0,
            wait: None,
        }
    }

    /// Returns the revision without sessions that its message names.
    pub(super) fn revision(&self) -> Option<&str> {
        self.out.as_ref()?.parsed.revision.as_deref()
    }

    /// Returns how many bytes it holds.
    pub(super) fn held(&self) -> usize {
        self.out.as_ref().map_or(0, |out| out.line.len()) + self.body.len()
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.head.as_ref().map(|head| head.status)
    }

    /// Returns whether the server takes the message.
    pub(super) fn is_accepted(&self) -> bool {
        self.status().is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns whether the response is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        self.is_accepted() && self.head.as_ref().is_some_and(|head| head.is_stream)
    }

    /// Returns whether its stream can be resumed after its last event.
    pub(super) fn is_resumable(&self) -> bool {
        self.revision().is_none() && self.cursor.is_some() && (self.is_resumed || self.is_stream())
    }

    /// Returns whether the response says that the server has ended the session.
    pub(super) fn ended_session(&self) -> bool {
        let is_of_the_call = || {
            let message =
                Message::read(&self.body).filter(|message| message.error_code() == Some(METHOD_NOT_FOUND));
            let id = message.and_then(|message| message.id);
            id.is_some_and(|id| self.open.iter().any(|open| open.is(id)))
        };
        match self.status() {
            _ if !self.names_session => false,
            // A server without the method says so by the same status.
            Some(404) => !is_of_the_call(),
            // Against the specification, servers that were started again reply so, as those that follow the examples of
            // the SDK for TypeScript.
            Some(400) => {
                let message = Message::read(&self.body);
                let stray = message.filter(|message| message.id.is_none_or(|id| id == "null"));
                let error = stray.and_then(|message| message.error);
                error.is_some_and(|error| {
                    String::from_utf8_lossy(error).to_ascii_lowercase().contains("session")
                })
            }
            _ => false,
        }
    }

    /// Returns the text of a refused response, if it has one for people. Text that contains a secret is left out.
    pub(super) fn body_text(&self, secrets: &[String]) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok()?.trim();
        let is_markup = text.starts_with('<');
        let is_secret = secrets.iter().any(|secret| !secret.is_empty() && text.contains(&**secret));
        if text.is_empty() || is_markup || is_secret {
            return None;
        }
        let plain = text.chars().map(|char| if char.is_control() { ' ' } else { char });
        Some(plain.take(SHOWN).collect())
    }
}
