//! The lines of the server: what it asks, what it takes back, and the responses to the calls of the host.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;

use super::{capabilities, core::Core};
use crate::{
    dialect::mcp::errand::elicitation_id,
    engine::{Action, Introduction, Line, Peer},
    wire::{
        envelope::Message,
        id::RequestId,
        line,
        method::{ELICITATION_CREATE, MCP_CANCELLED, MCP_ELICITATION_COMPLETE, MCP_PROGRESS},
        scan::member,
        splice,
    },
};

/// The code of an error that refuses the version of a request.
const UNSUPPORTED_VERSION: i32 = -32022;

impl Core {
    /// Handles an intercepted line of the server.
    pub(super) fn server_line(&mut self, line: &Line, now: Duration) {
        let Some(message) = line.message() else { return self.base.actions.push(Action::Forward) };
        match (message.method.as_deref(), message.id) {
            (Some(ELICITATION_CREATE), Some(id)) if line.whole => self.asks(id, &message, now),
            (Some(MCP_CANCELLED), None) => self.server_cancels(&message, now),
            (Some(MCP_ELICITATION_COMPLETE), None) => {
                self.base.actions.push(Action::Forward);
                let page = message.params.and_then(elicitation_id);
                page.inspect(|page| self.page_is_done(page, now));
            }
            (Some(MCP_PROGRESS), None) => {
                self.progress.heard(message.params.unwrap_or_default());
                self.base.actions.push(Action::Forward);
            }
            (Some(_), id) => {
                // A request that is no question may take the ID of a settled one.
                id.inspect(|id| self.pending.settled.forget(id));
                self.base.actions.push(Action::Forward);
            }
            (None, Some(id)) if message.responds() => self.server_response(id, &message, line, now),
            _ => self.base.actions.push(Action::Forward),
        }
    }

    fn server_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        if self.initialize.as_ref().is_some_and(|own| own.is(id)) {
            self.initialize = None;
            self.initialized(message);
            return self.base.actions.push(Action::Forward);
        }
        let Some(number) = self.calls.worked_on(id) else { return self.base.actions.push(Action::Forward) };
        if !(line.whole && self.needs_something(number, message, line, now)) {
            self.finish(number, line);
        }
    }

    fn initialized(&mut self, message: &Message<'_>) {
        self.is_stateless = message.error_code() == Some(UNSUPPORTED_VERSION);
        let info = message.result.and_then(|result| member(result, "serverInfo"));
        let name = capabilities::name(info).map(Cow::into_owned);
        let server = self.config.server.clone().or_else(|| name.clone());
        self.server = server.as_deref().map(Into::into);
        self.base.introduce(|said| {
            said.agent = Some(Introduction { name, protocol: 1, promises: Vec::new() });
        });
    }

    /// Passes the response to a call on to the host, or keeps it until the host calls again.
    fn finish(&mut self, number: u64, line: &Line) {
        let Some(call) = self.calls.get(number) else { return };
        match call.host.clone() {
            Some(host) => {
                let keeps_id = call.server.as_ref().is_some_and(|server| server.is(host.as_str()));
                let forward = if keeps_id { Action::Forward } else { renamed(line, &host) };
                self.base.actions.push(forward);
                self.calls.remove(number);
                self.call_is_over(number);
            }
            None => {
                let whole = line.whole.then(|| Bytes::copy_from_slice(&line.bytes));
                // A host that calls again is told so; one that does not has forgotten the call.
                if !whole.is_some_and(|whole| self.calls.keep(number, whole)) {
                    self.calls.keep(number, too_long("null"));
                }
            }
        }
    }

    /// Reports that a call is over which questions may have been asked for.
    fn call_is_over(&mut self, number: u64) {
        for question in self.pending.numbers(|open| open.calls == [number]) {
            self.base.desk.turn_over(question);
        }
        self.base.tell();
    }

    /// Handles the withdrawal of a question. No response follows it.
    fn server_cancels(&mut self, message: &Message<'_>, now: Duration) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        let Some(number) = id.and_then(|id| self.pending.number(id)) else {
            return self.base.actions.push(Action::Forward);
        };
        // A host that was not asked does not know the request.
        if self.pending.get(number).is_some_and(|open| open.host_asked.is_some()) {
            self.base.actions.push(Action::Forward);
        }
        self.withdrawn(number, now);
    }
}

/// Returns the action that gives a response the ID under which the host awaits it.
pub(super) fn renamed(line: &Line, host: &RequestId) -> Action {
    match splice::replace_member(&line.bytes, "id", host.as_str()) {
        Some(bytes) => Action::ForwardAs(bytes.into()),
        // The ID is behind the part that can be held. The rest of the line is dropped.
        None => Action::Send(Peer::Client, too_long(host.as_str())),
    }
}

fn too_long(id: &str) -> Bytes {
    let why = "the response is too long to be passed on behind the answer to a question: its ID comes last";
    line::error(id, line::INTERNAL_ERROR, why)
}
