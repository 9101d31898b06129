//! Which lines the core intercepts. All others pass without being parsed.

use super::{core::Core, unread};
use crate::{
    dialect,
    engine::Peer,
    limits,
    wire::{
        envelope::{Envelope, Message, peek, responds_to},
        frame::Verdict,
        method::{
            CANCEL_REQUEST, INITIALIZE, SESSION_CANCEL, SESSION_CLOSE, SESSION_DELETE, SESSION_FORK,
            SESSION_LOAD, SESSION_NEW, SESSION_PROMPT, SESSION_RESUME, SESSION_UPDATE,
        },
        scan::{self, Text},
    },
};

impl Core {
    /// Returns the action for a line of this peer, or for the beginning of a long one.
    pub(super) fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        let intercepts = match (peek(line), from) {
            (Envelope::Call(method), Peer::Client) => {
                let is_known = ClientMethod::of(|name| method.is(name)).is_some();
                if !is_known && self.pending.is_empty() {
                    // While no question is pending, a line that begins alike cannot be a response to one either.
                    return Verdict::ForwardAlike(method.end_in(line));
                }
                if self.begins_a_prompt(line) {
                    return Verdict::InterceptBeginning;
                }
                is_known || self.call_may_respond(line)
            }
            (Envelope::Call(method), Peer::Agent) => return self.judge_of_agent(method, line),
            (Envelope::Response(id), Peer::Client) => {
                self.pending.knows(id) || self.unread.knows(id) || self.knows_last_id(line)
            }
            (Envelope::Response(id), Peer::Agent) => {
                self.turns.is_running(id)
                    || self.initialize.as_ref().is_some_and(|own| own.is(id))
                    || self.sessions.awaits(id)
                    || self.tool_calls.awaits(id)
            }
            (Envelope::Batch | Envelope::Opaque, _) => false,
            // The rest of an unfinished line may decide, so the line is held until it arrives.
            (Envelope::Undecided, _) => !line.ends_with(b"\n"),
        };
        if intercepts { Verdict::Intercept } else { Verdict::Forward }
    }

    /// Returns whether the beginning of a long line is that of a prompt with all that a turn needs. Then the prompt, which
    /// may have images, streams through. While a question is open, a prompt may have to wait until that is settled, and
    /// is read as a whole.
    pub(super) fn begins_a_prompt(&self, line: &[u8]) -> bool {
        let Some(beginning) = line.get(..limits::STREAM).filter(|_| self.pending.is_empty()) else {
            return false;
        };
        matches!(peek(beginning), Envelope::Call(method) if method.is(SESSION_PROMPT))
            && Message::read_prefix(beginning).is_some_and(|message| {
                let session = message.id.and_then(|_| message.session());
                session.is_some_and(|session| !self.turns.holds(&session))
            })
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

    /// Returns whether a call of the client may also be a response to a question, by a result or an error behind its
    /// method.
    fn call_may_respond(&self, line: &[u8]) -> bool {
        match responds_to(line) {
            Some(id) => self.pending.knows(id),
            // The rest of an unfinished line may decide, so the line is held until it arrives.
            None => !line.ends_with(b"\n"),
        }
    }

    fn judge_of_agent(&self, method: Text<'_>, line: &[u8]) -> Verdict {
        // Updates are the bulk of all traffic, and never requests.
        if method.is(SESSION_UPDATE) {
            return if self.hints.wait() {
                Verdict::Intercept
            } else {
                self.tool_calls.judge(line, || self.pending.waits_for_call())
            };
        }
        if dialect::may_ask(&method) {
            return Verdict::InterceptQuestion;
        }
        if method.is(CANCEL_REQUEST) || unread::seems_to_ask(|ending| method.ends_with(ending)) {
            return Verdict::Intercept;
        }
        if !self.pending.has_settled() {
            return Verdict::ForwardAlike(method.end_in(line));
        }
        // A request may reuse the ID of a settled question. The next response with that ID is then a response to this
        // request.
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
    /// The names of the methods. A method that is not in this table is forwarded.
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

    /// Returns the method whose name satisfies `is`.
    pub(super) fn of(is: impl Fn(&str) -> bool) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| is(name)).map(|(_, method)| *method)
    }
}
