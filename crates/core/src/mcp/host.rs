//! The lines of the host: what it declares, its calls, what it takes back, and its responses.

use std::time::Duration;

use bytes::Bytes;

use super::{
    asking::progress_token,
    calls::Call,
    capabilities::{self, Shown},
    core::Core,
    request::Request,
};
use crate::{
    engine::{Action, Introductions, Line, Peer},
    limits,
    wire::{
        envelope::{Envelope, Message, is_json, peek},
        id::RequestId,
        line,
        method::{INITIALIZE, MCP_CALLS, MCP_CANCELLED, MCP_DISCOVER, TOOLS_CALL},
        scan::member,
        splice,
    },
};

impl Core {
    /// Handles an intercepted line of the host.
    pub(super) fn host_line(&mut self, line: &Line, now: Duration) {
        match peek(&line.bytes) {
            // Invalid JSON is no response: the server cannot parse it.
            Envelope::Response(id) if !line.whole || is_json(&line.bytes) => {
                let id = id.to_owned();
                return match self.may_call(line) {
                    true => self.refuse_unread("null"),
                    false => self.host_response(&id, line, now),
                };
            }
            Envelope::Batch => return self.refuse_unread("null"),
            _ => {}
        }
        if self.config.gated.is_empty()
            && let Some(call) = Request::read(line).filter(Request::is_ordinary)
        {
            return self.host_calls(&call, line, now);
        }
        let Some(message) = line.message() else { return self.unclear(line) };
        match (message.method.as_deref(), message.id) {
            (Some(INITIALIZE), Some(id)) => self.host_initializes(id, &message, line),
            (Some(MCP_DISCOVER), Some(id)) if self.refuses_discovery() => {
                let why = "Method not found: askbridge leaves out the versions in which few servers can ask";
                let refused = line::error(id, line::METHOD_NOT_FOUND, why);
                self.base.actions.push(Action::Send(Peer::Client, refused));
            }
            (Some(TOOLS_CALL), None) if !self.config.gated.is_empty() => self.refuse_unread("null"),
            (Some(MCP_CANCELLED), None) => self.host_cancels(&message, line, now),
            (Some(method), Some(id)) if MCP_CALLS.contains(&method) => {
                let params = message.params.unwrap_or_default();
                self.host_calls(&Request { method, id, params, meta: member(params, "_meta") }, line, now);
            }
            _ => {
                let completed = self.completed(line);
                self.base.actions.push(completed.map_or(Action::Forward, Action::ForwardAs));
            }
        }
    }

    /// Handles a line that is no well-formed message. A server may accept it, so it may not call a tool that needs a
    /// permission.
    fn unclear(&mut self, line: &Line) {
        if self.config.gated.is_empty() || !is_json(&line.bytes) {
            return self.base.actions.push(Action::Forward);
        }
        self.refuse_unread("null");
    }

    /// Returns whether a response has a method as well, by which a server may take it for a call that needs a permission.
    fn may_call(&self, line: &Line) -> bool {
        !self.config.gated.is_empty()
            && line.whole
            && line.message().is_none_or(|message| message.method.is_some())
    }

    /// Refuses a message that may have a call which needs a permission, and that a server and the bridge may read
    /// differently.
    fn refuse_unread(&mut self, id: &str) {
        let why = "askbridge: the user wants to allow calls of tools, and this message cannot be shown: send each call as \
                   one message, without members of the same name";
        self.base.actions.push(Action::Send(Peer::Client, line::error(id, line::INVALID_REQUEST, why)));
    }

    fn host_initializes(&mut self, id: &str, message: &Message<'_>, line: &Line) {
        let params = message.params.unwrap_or_default();
        self.host = Shown::of_handshake(params);
        let client = Some(capabilities::introduction(member(params, "clientInfo"), self.host));
        self.base.introduce(|said| *said = Introductions { client, agent: None });
        if id.len() <= limits::ID {
            self.initialize = Some(RequestId::new(id));
        }
        let completes = self.asks_inbox() && line.whole;
        let completed = if completes { capabilities::complete_handshake(&line.bytes) } else { None };
        self.base.actions.push(completed.map_or(Action::Forward, |bytes| Action::ForwardAs(bytes.into())));
    }

    /// Returns a request whose capabilities are completed, if it declares any.
    fn completed(&self, line: &Line) -> Option<Bytes> {
        let completes = self.asks_inbox() && line.whole;
        (if completes { capabilities::complete_request(&line.bytes) } else { None }).map(Bytes::from)
    }

    fn host_calls(&mut self, request: &Request<'_>, line: &Line, now: Duration) {
        let Request { method, id, params, meta } = *request;
        let completed = if request.is_ordinary() { None } else { self.completed(line) };
        let known = || Bytes::copy_from_slice(completed.as_ref().unwrap_or(&line.bytes));
        let keeps = line.whole && (self.asks_inbox() || !self.config.gated.is_empty());
        let known_as = Some(RequestId::new(id));
        let call = Call {
            host: known_as.clone(),
            server: known_as,
            line: keeps.then(known),
            token: progress_token(meta),
            shown: Shown::of_request(meta).unwrap_or(self.host),
            ..Call::default()
        };
        let forward = completed.map_or(Action::Forward, Action::ForwardAs);
        self.introduced(meta, call.shown);
        if id.len() <= limits::ID {
            self.forget_call(id, now);
            if let Some(number) = self.calls.continued(method, params) {
                return self.calls_again(number, call, params, forward, now);
            }
        }
        if method == TOOLS_CALL && self.is_gated(params, line.whole) {
            return self.ask_to_call(call, params, line.whole, now);
        }
        if id.len() <= limits::ID {
            self.calls.push(call);
        }
        self.base.actions.push(forward);
    }

    /// Takes note of how the host introduces itself, where it does so with each request.
    fn introduced(&mut self, meta: Option<&[u8]>, shown: Shown) {
        const INFO: &str = "io.modelcontextprotocol/clientInfo";
        if self.base.introductions().client.is_some() {
            return;
        }
        let info = meta.and_then(|meta| member(meta, INFO));
        if info.is_some() {
            let client = Some(capabilities::introduction(info, shown));
            self.base.introduce(|said| said.client = client);
        }
    }

    /// Ends a question about an earlier call whose ID the host uses again.
    fn forget_call(&mut self, id: &str, now: Duration) {
        let number = self.calls.awaited_by_host(id);
        if let Some(question) = number.and_then(|number| self.calls.get(number)?.question) {
            self.given_up(question, now);
        }
        number.inspect(|number| drop(self.calls.remove(*number)));
    }

    /// Handles the end of a call by the host: its limit of time is over, or its user stopped it.
    fn host_cancels(&mut self, message: &Message<'_>, line: &Line, now: Duration) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        let Some(number) = id.and_then(|id| self.calls.awaited_by_host(id)) else {
            return self.base.actions.push(Action::Forward);
        };
        let Some(call) = self.calls.remove(number) else { return };
        // The server knows a call that was sent again by another ID, and a call that waits not at all.
        if let Some(server) = &call.server {
            let same = call.host.as_ref().is_some_and(|host| host.is(server.as_str()));
            let renamed = if same { None } else { renamed(&line.bytes, server) };
            self.base.actions.push(renamed.map_or(Action::Forward, Action::ForwardAs));
        }
        if let Some(question) = call.question {
            self.given_up(question, now);
        }
        self.give_up_for(number, now);
    }

    /// Ends the questions that were asked for a call which the host ended, unless another call may need them.
    fn give_up_for(&mut self, call: u64, now: Duration) {
        for question in self.pending.numbers(|open| open.calls.contains(&call)) {
            let Some(open) = self.pending.get_mut(question) else { continue };
            open.calls.retain(|other| *other != call);
            if open.calls.is_empty() {
                self.given_up(question, now);
            }
        }
    }
}

/// Returns a notification about another request.
fn renamed(line: &[u8], id: &RequestId) -> Option<Bytes> {
    let params = splice::replace_member(member(line, "params")?, "requestId", id.as_str())?;
    splice::replace_member(line, "params", &String::from_utf8_lossy(&params)).map(Bytes::from)
}
