//! Which lines the core intercepts. All others pass without being parsed.

use super::core::Core;
use crate::{
    dialect::{self, permission},
    engine::{Gist, Line, Peer, Unread},
    limits,
    wire::{
        envelope::{Envelope, first_id, only_responds_to, peek, responds_to},
        frame::Verdict,
        id::key,
        method::{
            CANCEL_REQUEST, INITIALIZE, REQUEST_PERMISSION, SESSION_CANCEL, SESSION_CLOSE, SESSION_DELETE,
            SESSION_FORK, SESSION_LOAD, SESSION_NEW, SESSION_PROMPT, SESSION_RESUME, SESSION_UPDATE,
        },
        scan::{self, Text},
    },
};

impl Core {
    /// Returns what becomes of a line of this peer, or of the beginning of a long one. `unread` says whether there are lines
    /// that are still to be read: each of them may have a request that this one responds to, or the id of this request.
    pub(super) fn judge(&self, from: Peer, line: &[u8], unread: bool) -> Verdict {
        let intercepts = match (peek(line), from) {
            (Envelope::Call(method), Peer::Client) => {
                let is_known = ClientMethod::of(|name| method.is(name)).is_some();
                if !is_known && !unread && self.pending.is_empty() {
                    return Verdict::ForwardAlike(method.end_in(line));
                }
                is_known || self.call_may_respond(line, unread)
            }
            (Envelope::Call(method), Peer::Agent) => return self.judge_of_agent(method, line, unread),
            (Envelope::Response(_), _) if unread => true,
            (Envelope::Response(id), Peer::Client) => self.pending.knows(id) || self.knows_last_id(line),
            (Envelope::Response(id), Peer::Agent) => {
                self.turns.is_running(id)
                    || self.initialize.as_ref().is_some_and(|own| own.is(id))
                    || self.sessions.awaits(id)
            }
            (Envelope::Batch | Envelope::Opaque, _) => false,
            // The end of the line may tell.
            (Envelope::Undecided, _) => !line.ends_with(b"\n"),
        };
        if intercepts { Verdict::Intercept } else { Verdict::Forward }
    }

    /// Returns whether a response that has several ids ends with one that is known: most agents take the last.
    ///
    /// Only short lines are searched: they are judged as a whole however their bytes arrive, and a long line may have
    /// begun to leave before its last id comes.
    fn knows_last_id(&self, line: &[u8]) -> bool {
        !self.pending.is_empty()
            && line.len() < limits::STREAM
            && responds_to(line).is_some_and(|id| self.pending.knows(id))
    }

    /// Returns whether a call of the client may also be a response to a question, by a result or an error behind its method.
    fn call_may_respond(&self, line: &[u8], unread: bool) -> bool {
        match responds_to(line) {
            Some(id) => unread || self.pending.knows(id),
            // The end of the line may tell.
            None => !line.ends_with(b"\n"),
        }
    }

    /// Returns what an intercepted line is if it goes on as it is, whatever it and those before it turn out to mean: a
    /// prompt, a permission, the client's response to one, what the agent says of a tool call, and the end of a turn.
    pub(super) fn surely_forwards(&self, from: Peer, line: &Line, unread: &Unread) -> Option<Gist> {
        if !line.whole {
            return None;
        }
        let only_responds = |id| only_responds_to(&line.bytes) == Some(id);
        let goes_on = match (from, peek(&line.bytes)) {
            (Peer::Client, Envelope::Response(id)) => {
                let request = key(id);
                let awaited = match unread.about(&request) {
                    Some(gist) => matches!(gist, Gist::Request(_)),
                    None => self.pending.shows_permission(id),
                };
                return (awaited && only_responds(id)).then(|| Gist::Response(request.into()));
            }
            (Peer::Agent, Envelope::Call(method)) if method.is(REQUEST_PERMISSION) => {
                // A request that has two ids is read as no message, and goes on.
                let request = first_id(&line.bytes).map(key)?;
                let is_new = self.pending.number(&request).is_none() && !self.pending.is_awaited(&request);
                let goes_on = self.closed.is_none() && is_new && permission::is_no_question(&line.bytes);
                return goes_on.then(|| Gist::Request(request.into()));
            }
            (Peer::Client, Envelope::Call(method)) => {
                method.is(SESSION_PROMPT)
                    && !self.pending.waits_for_chat()
                    && !self.turns.holds_any()
                    && responds_to(&line.bytes).is_none()
            }
            (Peer::Agent, Envelope::Call(method)) => method.is(SESSION_UPDATE) && !self.hints.wait(),
            (Peer::Agent, Envelope::Response(id)) => {
                self.initialize.is_none()
                    && !self.hints.wait()
                    && !self.turns.holds_any()
                    && only_responds(id)
            }
            _ => false,
        };
        goes_on.then_some(Gist::Other)
    }

    fn judge_of_agent(&self, method: Text<'_>, line: &[u8], unread: bool) -> Verdict {
        // The bulk of all traffic, and never a request.
        if method.is(SESSION_UPDATE) {
            return if self.hints.wait() { Verdict::Intercept } else { self.tool_calls.judge(line) };
        }
        if unread || method.is(CANCEL_REQUEST) || dialect::may_ask(&method) {
            return Verdict::Intercept;
        }
        if !self.pending.has_settled() {
            return Verdict::ForwardAlike(method.end_in(line));
        }
        // A request that takes the id of a settled question makes the next response with it a new one.
        let intercepts = match scan::member(line, "id") {
            Some(id) => std::str::from_utf8(id).is_ok_and(|id| self.pending.is_settled(id)),
            None => !line.ends_with(b"\n"),
        };
        if intercepts { Verdict::Intercept } else { Verdict::Forward }
    }
}

/// A method of the client that the core intercepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientMethod {
    Initialize,
    NewSession,
    OpenSession,
    Prompt,
    CancelTurn,
    CloseSession,
    CancelRequest,
}

impl ClientMethod {
    /// The one place in which the names stand: what is not in it is forwarded.
    const NAMES: [(&'static str, ClientMethod); 10] = [
        (INITIALIZE, ClientMethod::Initialize),
        (SESSION_NEW, ClientMethod::NewSession),
        (SESSION_FORK, ClientMethod::NewSession),
        (SESSION_LOAD, ClientMethod::OpenSession),
        (SESSION_RESUME, ClientMethod::OpenSession),
        (SESSION_PROMPT, ClientMethod::Prompt),
        (SESSION_CANCEL, ClientMethod::CancelTurn),
        (SESSION_CLOSE, ClientMethod::CloseSession),
        (SESSION_DELETE, ClientMethod::CloseSession),
        (CANCEL_REQUEST, ClientMethod::CancelRequest),
    ];

    /// Returns the method whose name this holds for.
    pub(super) fn of(is: impl Fn(&str) -> bool) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| is(name)).map(|(_, method)| *method)
    }
}
