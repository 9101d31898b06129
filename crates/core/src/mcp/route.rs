//! Which lines the core intercepts. All others pass without being parsed.

use memchr::memmem;

use super::{capabilities::OF_REQUEST, core::Core};
use crate::{
    engine::Peer,
    limits,
    wire::{
        envelope::{Envelope, peek},
        frame::Verdict,
        method::{
            ELICITATION_CREATE, INITIALIZE, MCP_CALLS, MCP_CANCELLED, MCP_DISCOVER, MCP_ELICITATION_COMPLETE,
            MCP_PROGRESS,
        },
        scan::{self, Text},
    },
};

/// Texts of which a response that asks for something has one, near its beginning. Some servers write the kind of a result
/// behind what it asks.
const ASKING: [&[u8]; 3] = [b"input_required", b"inputRequests", b"-32042"];

impl Core {
    /// Returns the action for a line of this peer, or for the beginning of a long one.
    pub(super) fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        let intercepts = match (peek(line), from) {
            (Envelope::Call(method), Peer::Client) => return self.judge_of_host(method, line),
            (Envelope::Call(method), Peer::Agent) => return self.judge_of_server(method, line),
            // It may be a call that needs a permission as well.
            (Envelope::Response(_), Peer::Client) if !self.config.gated.is_empty() => true,
            (Envelope::Response(id), Peer::Client) => self.pending.awaits(id),
            (Envelope::Response(id), Peer::Agent) => return self.judge_response(id, line),
            // A batch may have a call that needs a permission.
            (Envelope::Batch, Peer::Client) => !self.config.gated.is_empty(),
            (Envelope::Batch | Envelope::Opaque, _) => false,
            // The rest of an unfinished line may decide, so the line is held until it arrives.
            (Envelope::Undecided, _) => !line.ends_with(b"\n"),
        };
        intercept_if(intercepts)
    }

    fn judge_of_host(&self, method: Text<'_>, line: &[u8]) -> Verdict {
        let is_known =
            [INITIALIZE, MCP_CANCELLED, MCP_DISCOVER].iter().chain(&MCP_CALLS).any(|known| method.is(known));
        // A server may take another member for the method than the first one.
        if is_known || !self.config.gated.is_empty() {
            return Verdict::Intercept;
        }
        if !self.asks_inbox() {
            return Verdict::ForwardAlike(method.end_in(line));
        }
        // What a server lists may depend on what the host declares with its request.
        intercept_if(may_still_have(line, &[OF_REQUEST.as_bytes()]))
    }

    fn judge_of_server(&self, method: Text<'_>, line: &[u8]) -> Verdict {
        // Progress is the bulk of what a server says unasked.
        if method.is(MCP_PROGRESS) {
            return match self.pending.len() {
                0 => Verdict::ForwardAlike(method.end_in(line)),
                _ => Verdict::Intercept,
            };
        }
        let asks = [ELICITATION_CREATE, MCP_CANCELLED, MCP_ELICITATION_COMPLETE];
        if asks.iter().any(|known| method.is(known)) {
            return Verdict::Intercept;
        }
        if self.pending.settled.is_empty() {
            return Verdict::ForwardAlike(method.end_in(line));
        }
        // A request may reuse the ID of a settled question. The next response with that ID is then a response to this
        // request.
        intercept_if(match scan::member(line, "id") {
            Some(id) => std::str::from_utf8(id).is_ok_and(|id| self.pending.settled.knows(id)),
            None => !line.ends_with(b"\n"),
        })
    }

    fn judge_response(&self, id: &str, line: &[u8]) -> Verdict {
        if self.initialize.as_ref().is_some_and(|own| own.is(id)) {
            return Verdict::Intercept;
        }
        let Some(call) = self.calls.worked_on(id).and_then(|number| self.calls.get(number)) else {
            return Verdict::Forward;
        };
        let keeps_id = call.host.as_ref().is_some_and(|host| host.is(id));
        if !keeps_id || (self.asks_inbox() && may_still_have(line, &ASKING)) {
            return Verdict::Intercept;
        }
        // That the call is over is all that is to be known.
        Verdict::InterceptBeginning
    }
}

fn intercept_if(intercepts: bool) -> Verdict {
    if intercepts { Verdict::Intercept } else { Verdict::Forward }
}

/// Returns whether the beginning of a line has one of these texts, or may have it once more of the line has come.
fn may_still_have(line: &[u8], texts: &[&[u8]]) -> bool {
    let searched = &line[..line.len().min(limits::INPUT_REQUIRED)];
    let is_short = searched.len() < limits::INPUT_REQUIRED && !line.ends_with(b"\n");
    is_short || texts.iter().any(|text| memmem::find(searched, text).is_some())
}
