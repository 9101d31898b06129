//! Which lines the engine wants to see. All others pass without being parsed.

use super::{bridge::Bridge, event::Peer};
use crate::{
    dialect,
    wire::{
        envelope::{Envelope, peek},
        frame::Verdict,
        method::CURSOR_PREFIX,
        scan::{self, Text},
    },
};

impl Bridge {
    /// Says whether a line, or the beginning of a long one, is wanted from this peer.
    pub fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        let wanted = match (peek(line), from) {
            (Envelope::Call(method), Peer::Client) => wanted_of_client(method),
            (Envelope::Call(method), Peer::Agent) => self.wanted_of_agent(method, line),
            (Envelope::Response(id), Peer::Client) => self.pending.knows(id),
            (Envelope::Response(id), Peer::Agent) => {
                self.turns.is_running(id) || self.initialize.as_ref().is_some_and(|own| own.is(id))
            }
            (Envelope::Batch | Envelope::Opaque, _) => false,
            // The end of the line may tell.
            (Envelope::Undecided, _) => !line.ends_with(b"\n"),
        };
        if wanted { Verdict::Wanted } else { Verdict::Ordinary }
    }

    fn wanted_of_agent(&self, method: Text<'_>, line: &[u8]) -> bool {
        // The bulk of all traffic, and never a request.
        if method.is("session/update") {
            return self.tool_calls.wants(line);
        }
        if method.is("$/cancel_request") || dialect::may_ask(&method) {
            return true;
        }
        if method.begins(CURSOR_PREFIX) && !self.tool_calls.are_followed() {
            return true;
        }
        if !self.pending.remembers() {
            return false;
        }
        // A request that takes the id of a settled question makes the next response with it a new one.
        match scan::member(line, "id") {
            Some(id) => std::str::from_utf8(id).is_ok_and(|id| self.pending.is_settled(id)),
            None => !line.ends_with(b"\n"),
        }
    }
}

fn wanted_of_client(method: Text<'_>) -> bool {
    const WANTED: [&str; 6] = [
        "initialize",
        "session/prompt",
        "session/cancel",
        "session/close",
        "session/delete",
        "$/cancel_request",
    ];
    WANTED.iter().any(|wanted| method.is(wanted))
}
