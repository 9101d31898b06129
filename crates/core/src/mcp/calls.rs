//! The calls of the host that a server may need a person for, by the IDs under which the host and the server know each.
//! Usually that is one ID. A call that is sent again has a new ID at the server, and keeps the ID at the host.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde_json::value::RawValue;

use super::capabilities::Shown;
use crate::{
    dialect::mcp::{InputRequired, UrlsRequired},
    limits,
    question::Question,
    wire::{
        envelope::Message,
        id::{RequestId, key},
        scan::member,
    },
};

/// One call of the host.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The ID under which the host awaits the response. `None` while the host was told that input is needed, and has not
    /// called again yet.
    pub host: Option<RequestId>,
    /// The ID under which the server works on it. `None` while the server waits for the call to come again, or for the
    /// person to allow it.
    pub server: Option<RequestId>,
    /// The request, unless it is too long to be sent again.
    pub line: Option<Bytes>,
    /// The token with which the host wants to know how far the call has come, as JSON.
    pub token: Option<String>,
    /// The elicitations that the host shows itself.
    pub shown: Shown,
    /// What the server needs before the call can go on.
    pub errand: Option<Errand>,
    /// What the host was told that the server needs, until the host calls again.
    pub handed: Option<Arc<InputRequired>>,
    /// The number of the question that asks for it, or for the permission to call.
    pub question: Option<u64>,
    /// What was said to the question, until the server has responded to it.
    pub said: Option<Said>,
    /// The server's response, which waits until the host calls again.
    pub response: Option<Bytes>,
}

impl Call {
    /// Returns whether this call is of the same tool, prompt or resource, with the same arguments.
    fn has_target(&self, method: &str, params: &[u8]) -> bool {
        let Some(own) = self.line.as_deref().and_then(Message::read) else { return false };
        let is_same = |name| own.param(name) == member(params, name);
        own.method.as_deref() == Some(method)
            && ["name", "arguments", "uri", "taskId"].into_iter().all(is_same)
    }

    /// Returns how many bytes of lines, and of what the host was told, it holds.
    fn bytes(&self) -> usize {
        let lines = [&self.line, &self.response].into_iter().flatten().map(Bytes::len).sum::<usize>();
        lines + self.handed.as_ref().map_or(0, |handed| handed.bytes())
    }
}

/// What a server needs before a call can go on.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// Input.
    Input(Arc<InputRequired>),
    /// Pages that are opened. The line is the server's response.
    Pages(Arc<UrlsRequired>, Bytes),
}

/// What was said to the question of a call.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub question: Arc<Question>,
    /// The result of each elicitation, by its key.
    pub results: Vec<(String, Box<RawValue>)>,
    /// Whether the call was sent from the start again, since it had waited for too long.
    pub is_restarted: bool,
}

/// The calls that run, or that a person is asked for.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: BTreeMap<u64, Call>,
    /// The numbers of the calls, by the canonical form of their ID at the host.
    of_host: BTreeMap<Arc<str>, u64>,
    /// The same at the server.
    of_server: BTreeMap<Arc<str>, u64>,
    /// The bytes that they hold.
    bytes: usize,
    last: u64,
}

impl Calls {
    /// Adds a call that the host has sent, under a number of its own.
    pub(super) fn push(&mut self, mut call: Call) -> u64 {
        // Of two calls with the same ID, the responses cannot be told apart.
        for number in [self.of_host(&call.host), self.of_server(&call.server)].into_iter().flatten() {
            self.remove(number);
        }
        // There are fewer open questions than calls.
        while self.calls.len() >= limits::CALLS {
            let oldest = self.iter().find(|(_, call)| call.question.is_none()).map(|(number, _)| number);
            let Some(oldest) = oldest else { break };
            self.remove(oldest);
        }
        let room = limits::CALLS_BYTES - self.bytes;
        call.line = call.line.filter(|line| line.len() <= room);
        self.bytes += call.bytes();
        self.last += 1;
        let number = self.last;
        let (host, server) = (call.host.take(), call.server.take());
        self.calls.insert(number, call);
        self.set_host(number, host);
        self.set_server(number, server);
        number
    }

    fn of_host(&self, id: &Option<RequestId>) -> Option<u64> {
        self.of_host.get(&*id.as_ref()?.key()).copied()
    }

    fn of_server(&self, id: &Option<RequestId>) -> Option<u64> {
        self.of_server.get(&*id.as_ref()?.key()).copied()
    }

    /// Returns the number of the call that the host awaits under this ID.
    pub(super) fn awaited_by_host(&self, id: &str) -> Option<u64> {
        if self.of_host.is_empty() { None } else { self.of_host.get(&*key(id)).copied() }
    }

    /// Returns the number of the call that the server works on under this ID.
    pub(super) fn worked_on(&self, id: &str) -> Option<u64> {
        if self.of_server.is_empty() { None } else { self.of_server.get(&*key(id)).copied() }
    }

    pub(super) fn get(&self, number: u64) -> Option<&Call> {
        self.calls.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Call> {
        self.calls.get_mut(&number)
    }

    /// Returns the number of the call that goes on with these `params`: the host was told that it needs input. Another tool, or
    /// other arguments, are another call, whatever state they come with. Without a state, calls of one kind look alike, and
    /// one that nobody has answered comes first.
    pub(super) fn continued(&self, method: &str, params: &[u8]) -> Option<u64> {
        let is_next = |call: &Call| {
            let is_handed = call.handed.as_ref().is_some_and(|handed| handed.is_continued_by(params));
            is_handed && call.has_target(method, params)
        };
        let all = || self.iter().filter(|(_, call)| is_next(call));
        let open = all().find(|(_, call)| call.question.is_some());
        open.or_else(|| all().next()).map(|(number, _)| number)
    }

    /// Returns the calls with their numbers, oldest first.
    fn iter(&self) -> impl Iterator<Item = (u64, &Call)> {
        self.calls.iter().map(|(number, call)| (*number, call))
    }

    /// Changes the ID under which the host awaits the response.
    pub(super) fn set_host(&mut self, number: u64, id: Option<RequestId>) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        if let Some(before) = std::mem::replace(&mut call.host, id.clone()) {
            self.of_host.remove(&*before.key());
        }
        if let Some(id) = id {
            self.of_host.insert(id.key(), number);
        }
    }

    /// Changes the ID under which the server works on the call.
    pub(super) fn set_server(&mut self, number: u64, id: Option<RequestId>) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        if let Some(before) = std::mem::replace(&mut call.server, id.clone()) {
            self.of_server.remove(&*before.key());
        }
        if let Some(id) = id {
            self.of_server.insert(id.key(), number);
        }
    }

    /// Changes a call, unless it would hold more than there is room for. Returns whether it was changed.
    fn change(&mut self, number: u64, bytes: usize, change: impl FnOnce(&mut Call)) -> bool {
        let Some(call) = self.calls.get_mut(&number) else { return false };
        if bytes > limits::CALLS_BYTES - self.bytes {
            return false;
        }
        self.bytes -= call.bytes();
        change(call);
        self.bytes += call.bytes();
        true
    }

    /// Keeps the server's response to a call until the host calls again. Returns whether there is room for it.
    pub(super) fn keep(&mut self, number: u64, response: Bytes) -> bool {
        self.set_server(number, None);
        self.change(number, response.len(), |call| call.response = Some(response))
    }

    /// Takes out the response that waits.
    pub(super) fn take_response(&mut self, number: u64) -> Option<Bytes> {
        let mut taken = None;
        self.change(number, 0, |call| taken = call.response.take());
        taken
    }

    /// Records that the host is told what the server needs, which ends its call. Returns whether there is room for it.
    pub(super) fn hand(&mut self, number: u64, input: Arc<InputRequired>) -> bool {
        let is_handed = self.change(number, input.bytes(), |call| {
            call.errand = Some(Errand::Input(Arc::clone(&input)));
            call.handed = Some(input);
        });
        if is_handed {
            self.set_host(number, None);
            self.set_server(number, None);
        }
        is_handed
    }

    /// Takes out what the host was told.
    pub(super) fn take_handed(&mut self, number: u64) -> Option<Arc<InputRequired>> {
        let mut taken = None;
        self.change(number, 0, |call| taken = call.handed.take());
        taken
    }

    /// Replaces the request of a call by the one with which the host goes on. Returns whether it can be sent again later.
    pub(super) fn replace(&mut self, number: u64, again: Call) -> bool {
        let (line, token) = (again.line, again.token);
        self.change(number, 0, |call| (call.line, call.token) = (None, token));
        self.set_host(number, again.host);
        let Some(line) = line else { return false };
        self.change(number, line.len(), |call| call.line = Some(line))
    }

    /// Takes a call out.
    pub(super) fn remove(&mut self, number: u64) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        self.bytes -= call.bytes();
        for (ids, id) in [(&mut self.of_host, &call.host), (&mut self.of_server, &call.server)] {
            if let Some(id) = id {
                ids.remove(&*id.key());
            }
        }
        Some(call)
    }

    /// Returns the numbers of the calls that the server works on.
    pub(super) fn running(&self) -> Vec<u64> {
        self.of_server.values().copied().collect()
    }
}
