//! How a call ends: with its responses, refused, broken off, or with the session. Each request of the host gets one
//! response, whatever happens.

use askbridge_core::wire::envelope::Message;

use super::{
    call::{Action, CallId, End, Head},
    exchange::{Exchange, Role, Wait},
    message::{self, Kind, Parsed},
    refusal::Refusal,
    relay::Relay,
    session::Phase,
};
use crate::limits::mcp_http as limits;

impl Relay {
    /// Takes the head of a response.
    pub(super) fn head(&mut self, call: CallId, head: Head) {
        self.sent(call);
        let Some(exchange) = self.calls.get_mut(&call) else { return };
        exchange.head = Some(head);
        let (role, session) = (exchange.role, exchange.session);
        if exchange.is_accepted() {
            exchange.failures = 0;
            if role == Role::Initialized {
                self.confirmed(session);
            }
        }
    }

    /// Takes the end of a call.
    pub(super) fn ended(&mut self, call: CallId, end: End) {
        let Some(exchange) = self.remove(call) else { return };
        match exchange.role {
            Role::Request => self.request_ended(call, exchange, end),
            Role::Initialize => {
                if self.session.number == exchange.session && !exchange.open.is_empty() {
                    self.session.phase = Phase::Fresh;
                }
                self.conclude(&exchange, end);
                self.pump();
            }
            Role::Renewal => {
                let is_awaited = self.session.number == exchange.session && !exchange.open.is_empty();
                if is_awaited {
                    let why = self.why(&exchange, end);
                    self.renewal_failed(&why);
                }
            }
            Role::Initialized => self.confirmation_ended(&exchange, end),
            Role::Control => self.control_ended(exchange, end),
            Role::Listen => self.listening_ended(call, exchange, end),
            Role::End => {}
        }
    }

    fn request_ended(&mut self, call: CallId, exchange: Exchange, end: End) {
        if exchange.open.is_empty() || exchange.is_cancelled {
            return;
        }
        if exchange.ended_session() {
            let session = exchange.session;
            match exchange.out {
                _ if exchange.is_resumed => self.refuse(&exchange.open, &Refusal::SessionLost),
                Some(mut out) if out.tries < limits::RENEWALS => {
                    // The server has not taken it, so it is sent again, before what the host wrote after it.
                    out.tries += 1;
                    let place = self.queue.iter().take_while(|other| other.tries > 0).count();
                    self.queue.insert(place, out);
                }
                _ => self.refuse(&exchange.open, &Refusal::SessionLostAgain),
            }
            self.session_ended(session);
            self.pump();
        } else if exchange.is_resumable() && exchange.session == self.session.number && end != End::TooLong {
            self.resume(call, exchange, end);
        } else if exchange.is_resumable() && exchange.session != self.session.number {
            self.refuse(&exchange.open, &Refusal::SessionLost);
        } else {
            self.conclude(&exchange, end);
        }
    }

    /// Gives the requests of a call that has ended their responses.
    pub(super) fn conclude(&mut self, exchange: &Exchange, end: End) {
        if exchange.status().is_some_and(|status| status >= 300) {
            let responds = Parsed::read(&exchange.body).is_some_and(|parsed| match parsed.kind {
                Kind::Responses(ids) => {
                    exchange.open.iter().all(|open| ids.iter().any(|id| open.is(id.as_str())))
                }
                _ => false,
            });
            if responds {
                let line = message::one_line(exchange.body.clone());
                return self.act(Action::Tell(line));
            }
            if let Some(error) = message::stray_error(&exchange.body) {
                return self.fail(&exchange.open, error);
            }
        }
        let why = self.why(exchange, end);
        self.refuse(&exchange.open, &why);
    }

    /// Returns why a call that has ended has no response.
    fn why(&self, exchange: &Exchange, end: End) -> Refusal {
        match (exchange.status(), end) {
            (Some(status), End::Complete | End::TooLong) if status >= 300 => {
                Refusal::Status(status, exchange.body_text(&self.secrets))
            }
            (Some(_), End::Complete) if exchange.is_garbled => Refusal::NotJson,
            (Some(_), End::Complete) => Refusal::Unanswered,
            (_, end) => Refusal::Ended(end),
        }
    }

    fn confirmation_ended(&mut self, exchange: &Exchange, end: End) {
        if exchange.ended_session() {
            return self.session_ended(exchange.session);
        }
        if !exchange.is_accepted() {
            let why = self.why(exchange, end);
            tracing::warn!(
                "the server was not told that the session may be used: {}",
                why.text(&self.server)
            );
        }
        self.confirmed(exchange.session);
    }

    fn control_ended(&mut self, exchange: Exchange, end: End) {
        if exchange.ended_session() {
            let session = exchange.session;
            // A response to a request of the session, or a cancellation in it, has no meaning in another.
            if let Some(mut out) = exchange.out
                && out.parsed.kind == Kind::Notification
                && out.tries < limits::RENEWALS
            {
                out.tries += 1;
                self.queue.push_back(out);
            }
            self.session_ended(session);
            self.pump();
        } else if !exchange.is_accepted() {
            self.undelivered(exchange, end);
        }
    }

    /// A notification or a response did not arrive. If the server was not reached at all, it is tried again.
    fn undelivered(&mut self, mut exchange: Exchange, end: End) {
        let is_of_session = exchange.session == self.session.number;
        if matches!(end, End::Unreached(_))
            && is_of_session
            && exchange.failures < limits::ATTEMPTS
            && exchange.out.is_some()
        {
            exchange.failures += 1;
            exchange.head = None;
            let time = limits::back_off(exchange.failures);
            let call = self.add(exchange);
            return self.wake(call, Wait::Start, time);
        }
        let why = self.why(&exchange, end);
        let what = exchange.out.as_ref().map_or("the end of a session", |out| match out.parsed.kind {
            Kind::Responses(_) => "a response of the host",
            _ => "a notification of the host",
        });
        tracing::warn!("{what} did not arrive: {}", why.text(&self.server));
    }
}

impl Exchange {
    /// Returns whether it is a request for the list of tools.
    pub(super) fn lists_tools(&self) -> bool {
        let message = self.out.as_ref().and_then(|out| Message::read(&out.line));
        message.and_then(|message| message.method).as_deref() == Some("tools/list")
    }
}
