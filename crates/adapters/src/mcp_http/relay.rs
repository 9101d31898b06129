//! The relay: lines of the host become calls, and messages of responses become lines. It decides everything, and does no
//! I/O: events go in, actions come out.
//! How a session begins, ends and is renewed is in `renewal.rs`, how a call ends in `endings.rs`, and the streams that
//! continue in `streams.rs`.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::Arc,
    time::Duration,
};

use askbridge_core::wire::{envelope::Message, id::RequestId, line};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;

use super::{
    address::ServerAddress,
    call::{Action, Call, CallId, Event, Sends},
    exchange::{Exchange, Outgoing, Role, Wait},
    message::{self, Kind, Parsed},
    metadata::{self, Tools},
    refusal::{self, Refusal},
    session::{Phase, Session},
};
use crate::limits::mcp_http as limits;

/// The state of the conversation between one host and one server.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) server: ServerAddress,
    /// The values of the headers, which no text may show.
    pub(super) secrets: Vec<String>,
    pub(super) session: Session,
    pub(super) calls: BTreeMap<CallId, Exchange>,
    /// What the host wrote while the session could not be used.
    pub(super) queue: VecDeque<Outgoing>,
    /// Requests that wait because too many others have no response yet.
    pub(super) waiting: VecDeque<Outgoing>,
    /// Requests of the server without a response of the host, with the session in which each was asked.
    pub(super) asked: BTreeMap<Arc<str>, (RequestId, u32)>,
    tools: Tools,
    /// The revision without sessions that the host spoke last.
    revision: Option<String>,
    /// Whether the host has closed its end.
    pub(super) is_host_gone: bool,
    last: u64,
    actions: Vec<Action>,
}

impl Relay {
    pub(super) fn new(server: ServerAddress, secrets: Vec<String>) -> Self {
        Relay {
            server,
            secrets,
            session: Session::default(),
            calls: BTreeMap::new(),
            queue: VecDeque::new(),
            waiting: VecDeque::new(),
            asked: BTreeMap::new(),
            tools: Tools::default(),
            revision: None,
            is_host_gone: false,
            last: 0,
            actions: Vec::new(),
        }
    }

    /// Takes what happened, and returns what is to be done.
    pub(super) fn take(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Line(line) => self.line(line),
            Event::LongLine(beginning) => self.long_line(&beginning),
            Event::HostGone => self.host_gone(),
            Event::Sent(call) => self.sent(call),
            Event::Head(call, head) => self.head(call, head),
            Event::Message(call, bytes) => self.message(call, bytes),
            Event::Cursor(call, cursor) => self.cursor(call, cursor),
            Event::Ended(call, end) => self.ended(call, end),
            Event::Woken(call) => self.woken(call),
        }
        if self.is_host_gone {
            self.wind_up();
        }
        mem::take(&mut self.actions)
    }

    /// Returns whether no further line of the host should be read now.
    pub(super) fn is_full(&self) -> bool {
        let held = |outgoing: &VecDeque<Outgoing>| outgoing.iter().map(|out| out.line.len()).sum::<usize>();
        let of_calls: usize = self.calls.values().map(Exchange::held).sum();
        let others = self.calls.values().filter(|call| call.role == Role::Control).count();
        others >= limits::OTHERS || of_calls + held(&self.queue) + held(&self.waiting) > limits::HELD
    }

    /// Returns whether all is done: the host is gone, and the session has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_host_gone && self.calls.is_empty()
    }

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    pub(super) fn wake(&mut self, call: CallId, wait: Wait, time: Duration) {
        if let Some(exchange) = self.calls.get_mut(&call) {
            exchange.wait = Some(wait);
            self.act(Action::Wake(call, time));
        }
    }

    /// Tells the host that its requests have no response, and why.
    pub(super) fn refuse(&mut self, ids: &[RequestId], why: &Refusal) {
        for id in ids {
            let line = why.line(id, &self.server);
            self.act(Action::Tell(line));
        }
    }

    /// Reads a line of the host.
    fn line(&mut self, line: Bytes) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match Parsed::read(&line) {
            Some(parsed) => {
                self.queue.push_back(Outgoing { line, parsed, tries: 0 });
                self.pump();
            }
            None => self.act(Action::Tell(refusal::not_a_message())),
        }
    }

    /// Replies to the beginning of a line that is too long to be held.
    fn long_line(&mut self, beginning: &[u8]) {
        let Some(message) = Message::read_prefix(beginning) else { return };
        let Some(id) = message.id.map(RequestId::new) else {
            tracing::warn!("a notification was too long to be sent");
            return;
        };
        let refused = refusal::too_long(&id);
        if message.method.is_some() {
            self.act(Action::Tell(refused));
        } else if let Some(parsed) = Parsed::read(&refused) {
            // The server waits for a response.
            self.queue.push_back(Outgoing { line: refused, parsed, tries: 0 });
            self.pump();
        }
    }

    /// Sends what waits, as far as the session allows.
    pub(super) fn pump(&mut self) {
        while self.session.is_free()
            && let Some(out) = self.queue.pop_front()
        {
            self.dispatch(out);
        }
    }

    fn dispatch(&mut self, out: Outgoing) {
        if out.parsed.revision.is_some() {
            self.revision.clone_from(&out.parsed.revision);
        }
        let is_stateless = out.parsed.revision.is_some();
        let is_lost = self.session.phase == Phase::Lost && !is_stateless;
        match &out.parsed.kind {
            Kind::Requests(_) if out.parsed.initializes => self.initialize(out),
            Kind::Requests(_) if is_lost => {
                self.queue.push_front(out);
                self.renew();
            }
            Kind::Requests(_) => self.request(out),
            Kind::Initialized if self.session.has_begun() => self.initialized(out),
            Kind::Cancelled(id) => {
                let id = id.clone();
                self.cancel(&id, out);
            }
            Kind::Responses(ids) => {
                let of_ended = |id: &RequestId| {
                    self.asked.get(&id.key()).is_some_and(|(_, session)| *session != self.session.number)
                };
                let is_late = ids.iter().any(of_ended);
                let keys: Vec<_> = ids.iter().map(RequestId::key).collect();
                keys.iter().for_each(|key| drop(self.asked.remove(key)));
                match is_late || is_lost {
                    true => tracing::debug!("a response to a request of an ended session is not sent"),
                    false => self.send(Role::Control, out),
                }
            }
            Kind::Initialized | Kind::Notification if is_lost => {
                tracing::debug!("a notification is not sent: there is no session");
            }
            Kind::Initialized | Kind::Notification => self.send(Role::Control, out),
        }
    }

    /// Sends requests, or lets them wait.
    fn request(&mut self, out: Outgoing) {
        let running = self.calls.values().filter(|call| call.role == Role::Request).count();
        if running < limits::CALLS {
            self.send(Role::Request, out);
        } else if self.waiting.len() < limits::WAITING {
            self.waiting.push_back(out);
        } else if let Kind::Requests(ids) = out.parsed.kind {
            self.refuse(&ids, &Refusal::TooMany);
        }
    }

    /// Sends a message.
    pub(super) fn send(&mut self, role: Role, out: Outgoing) {
        let mut headers = HeaderMap::new();
        let names_session = match &out.parsed.revision {
            Some(revision) => {
                self.stateless(&mut headers, revision, &out.line);
                false
            }
            None if role == Role::Initialize || role == Role::Renewal => false,
            None if self.session.has_begun() => self.session.add(&mut headers),
            None => {
                if let Some(revision) = &self.revision {
                    self.stateless(&mut headers, revision, &out.line);
                }
                false
            }
        };
        let line = out.line.clone();
        let mut exchange = Exchange::new(role, Some(out), self.session.number);
        exchange.names_session = names_session;
        let call = self.add(exchange);
        self.act(Action::Start(call, Call { sends: Sends::Message(line), headers }));
        if role == Role::Control {
            self.wake(call, Wait::Finish, limits::CONTROL);
        }
    }

    /// Adds the headers of a revision without sessions.
    fn stateless(&self, headers: &mut HeaderMap, revision: &str, line: &[u8]) {
        if let Ok(value) = HeaderValue::from_str(revision) {
            headers.insert(HeaderName::from_static("mcp-protocol-version"), value);
        }
        metadata::add(headers, line, &self.tools);
    }

    pub(super) fn add(&mut self, exchange: Exchange) -> CallId {
        self.last += 1;
        let call = CallId(self.last);
        self.calls.insert(call, exchange);
        call
    }

    /// Passes on that the host does not want a response any more. Without sessions, that is said by closing the call.
    fn cancel(&mut self, id: &RequestId, out: Outgoing) {
        let is_it = |other: &Outgoing| match &other.parsed.kind {
            Kind::Requests(ids) => ids.len() == 1 && ids.iter().all(|other| other.is(id.as_str())),
            _ => false,
        };
        let unsent = self.queue.len() + self.waiting.len();
        self.queue.retain(|other| !is_it(other));
        self.waiting.retain(|other| !is_it(other));
        if self.queue.len() + self.waiting.len() < unsent {
            return;
        }
        let found = self.calls.iter_mut().find(|(_, call)| call.open.iter().any(|open| open.is(id.as_str())));
        match found.map(|(call, exchange)| (*call, exchange)) {
            Some((call, exchange)) if exchange.revision().is_some() => {
                exchange.is_cancelled = true;
                self.act(Action::Drop(call));
                self.remove(call);
            }
            Some((call, exchange)) => {
                exchange.is_cancelled = true;
                match exchange.is_sent {
                    true => self.send(Role::Control, out),
                    false => exchange.cancellation = Some(out.line),
                }
                self.wake(call, Wait::Finish, limits::CANCELLED);
            }
            None if self.session.has_begun() && self.session.phase != Phase::Lost => {
                self.send(Role::Control, out);
            }
            None => tracing::debug!("a cancellation is not sent: there is no such request"),
        }
    }

    pub(super) fn sent(&mut self, call: CallId) {
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        exchange.is_sent = true;
        let cancellation = exchange.cancellation.take();
        if let Some(line) = cancellation
            && let Some(parsed) = Parsed::read(&line)
        {
            self.send(Role::Control, Outgoing { line, parsed, tries: 0 });
        }
    }

    /// Takes a message of a response.
    fn message(&mut self, call: CallId, bytes: Bytes) {
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        if !exchange.is_accepted() {
            exchange.body = bytes;
            return;
        }
        match Parsed::read(&bytes).map(|parsed| parsed.kind) {
            None => {
                exchange.is_garbled = true;
                tracing::debug!("a response had something other than a message in it");
            }
            Some(Kind::Responses(ids)) => self.response(call, &ids, bytes),
            Some(Kind::Requests(ids)) => {
                self.ask(ids);
                self.act(Action::Tell(message::one_line(bytes)));
            }
            Some(_) => self.act(Action::Tell(message::one_line(bytes))),
        }
    }

    /// Remembers requests of the server.
    fn ask(&mut self, ids: Vec<RequestId>) {
        let session = self.session.number;
        if self.asked.len() + ids.len() > limits::ASKED {
            self.asked.retain(|_, (_, asked_in)| *asked_in == session);
        }
        for id in ids.into_iter().filter(|id| id.as_str().len() <= limits::ID) {
            if self.asked.len() < limits::ASKED {
                self.asked.insert(id.key(), (id, session));
            }
        }
    }

    /// Passes on a response, if a request waits for it: each gets one.
    fn response(&mut self, call: CallId, ids: &[RequestId], bytes: Bytes) {
        let (mut is_awaited, mut done) = (false, Vec::new());
        let mut role = Role::Request;
        // The host knows nothing of an `initialize` of ours, and may use its ID again.
        let is_own = |role: Role| role == Role::Renewal;
        let on_own = self.calls.get(&call).is_some_and(|exchange| is_own(exchange.role));
        for (number, exchange) in self.calls.iter_mut().filter(|(_, call)| is_own(call.role) == on_own) {
            let before = exchange.open.len();
            exchange.open.retain(|open| !ids.iter().any(|id| open.is(id.as_str())));
            if exchange.open.len() < before {
                is_awaited = true;
                role = exchange.role;
                let lists = exchange.revision().is_some() && exchange.lists_tools();
                if lists {
                    self.tools.learn(&bytes);
                }
                if exchange.open.is_empty() {
                    done.push(*number);
                }
            }
        }
        if !is_awaited {
            tracing::debug!("a response that nothing waits for is not passed on");
            return;
        }
        match role {
            Role::Initialize | Role::Renewal => self.begun(call, &bytes, role),
            _ => self.session.renewals = 0,
        }
        if role != Role::Renewal {
            self.act(Action::Tell(message::one_line(bytes)));
        }
        for call in done {
            // The connection can be used again if the response ends by itself.
            self.wake(call, Wait::Finish, limits::LINGER);
        }
        self.pump();
    }

    /// Forgets a call, and sends a request that waited for its end.
    pub(super) fn remove(&mut self, call: CallId) -> Option<Exchange> {
        let removed = self.calls.remove(&call)?;
        if removed.role == Role::Request
            && self.session.is_free()
            && let Some(next) = self.waiting.pop_front()
        {
            self.dispatch(next);
        }
        Some(removed)
    }

    /// Passes on the error of a refused response as the response to each of its requests.
    pub(super) fn fail(&mut self, ids: &[RequestId], error: &[u8]) {
        for id in ids {
            self.act(Action::Tell(line::failure(id.as_str(), error)));
        }
    }
}
