//! Streams that continue: the response to a request whose connection broke, and the stream of the server's own messages.
//! Both go on after the last event that arrived, if the server gave it an ID.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::{
    call::{Action, Call, CallId, Cursor, End, Sends},
    exchange::{Exchange, Outgoing, Role, Wait},
    refusal::Refusal,
    relay::Relay,
};
use crate::limits::mcp_http as limits;

impl Relay {
    /// Remembers how a stream continues.
    pub(super) fn cursor(&mut self, call: CallId, cursor: Cursor) {
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        if let Some(id) = cursor.id {
            exchange.cursor = (!id.is_empty()).then_some(id);
        }
        if let Some(retry) = cursor.retry {
            exchange.retry = Some(retry.min(limits::RETRY_MOST));
        }
    }

    /// Opens the stream of the server's own messages.
    pub(super) fn listen(&mut self) {
        if self.is_host_gone || self.calls.values().any(|call| call.role == Role::Listen) {
            return;
        }
        let call = self.add(Exchange::new(Role::Listen, None, self.session.number));
        self.start_stream(call);
    }

    /// Opens a stream, or the rest of one.
    fn start_stream(&mut self, call: CallId) {
        let mut headers = HeaderMap::new();
        let names_session = self.session.add(&mut headers);
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        exchange.names_session = names_session;
        let after = exchange.cursor.as_deref().and_then(|id| HeaderValue::from_bytes(id).ok());
        if let Some(after) = after {
            headers.insert(HeaderName::from_static("last-event-id"), after);
        }
        (exchange.head, exchange.wait) = (None, None);
        self.act(Action::Start(call, Call { sends: Sends::Listen, headers }));
    }

    /// Resumes the response to a request after a pause.
    pub(super) fn resume(&mut self, call: CallId, mut exchange: Exchange, end: End) {
        let is_refused = exchange.status().is_some_and(|status| (300..500).contains(&status));
        let has_failed = exchange.is_resumed && !exchange.is_accepted();
        if has_failed && (is_refused || exchange.failures >= limits::ATTEMPTS) {
            let why = match end {
                _ if is_refused => Refusal::Unanswered,
                // The request itself has reached the server.
                End::Unreached(why) => Refusal::Ended(End::Broken(why)),
                end => Refusal::Ended(end),
            };
            return self.refuse(&exchange.open, &why);
        }
        exchange.failures += u32::from(has_failed);
        exchange.is_resumed = true;
        let time = pause(&exchange);
        self.calls.insert(call, exchange);
        self.wake(call, Wait::Start, time);
    }

    /// Opens the stream of the server's own messages again, unless the server has none.
    pub(super) fn listening_ended(&mut self, call: CallId, mut exchange: Exchange, end: End) {
        if exchange.session != self.session.number || self.is_host_gone {
            return;
        }
        if exchange.ended_session() {
            return self.session_ended(exchange.session);
        }
        let is_temporary = match exchange.status() {
            None => matches!(end, End::Unreached(_) | End::Broken(_)),
            Some(200..=299) => exchange.is_stream(),
            Some(status) => status == 429 || status >= 500,
        };
        if !is_temporary {
            tracing::debug!(status = exchange.status(), "the server has no stream of its own messages");
            return;
        }
        exchange.failures += u32::from(!exchange.is_accepted());
        let time = pause(&exchange);
        self.calls.insert(call, exchange);
        self.wake(call, Wait::Start, time);
    }

    /// Does what was to be done after a pause.
    pub(super) fn woken(&mut self, call: CallId) {
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        match (exchange.wait.take(), exchange.role) {
            (Some(Wait::Start), Role::Request | Role::Listen) => self.start_stream(call),
            (Some(Wait::Start), Role::Renewal) => self.renew_again(call),
            (Some(Wait::Start), Role::Control) => {
                if let Some(exchange) = self.calls.remove(&call)
                    && let Some(out) = exchange.out
                {
                    self.send_again(out, exchange.failures);
                }
            }
            (Some(Wait::Start), Role::End) => self.end(call),
            (Some(Wait::Finish), _) => {
                self.act(Action::Drop(call));
                if let Some(exchange) = self.remove(call)
                    && !exchange.is_cancelled
                {
                    self.refuse(&exchange.open, &Refusal::Unanswered);
                }
            }
            (Some(Wait::GoOn), _) => {
                let session = exchange.session;
                self.confirmed(session);
            }
            (Some(Wait::Start), Role::Initialize | Role::Initialized) | (None, _) => {}
        }
    }

    /// Sends a notification or a response once more.
    fn send_again(&mut self, out: Outgoing, failures: u32) {
        self.send(Role::Control, out);
        if let Some(mut exchange) = self.calls.last_entry() {
            exchange.get_mut().failures = failures;
        }
    }
}

/// Returns the pause before a stream is opened again: what the server asked for, and more after each failure.
fn pause(exchange: &Exchange) -> Duration {
    let asked = exchange.retry.unwrap_or(limits::RETRY).max(limits::RETRY_LEAST);
    if exchange.failures == 0 { asked } else { asked.max(limits::back_off(exchange.failures)) }
}
