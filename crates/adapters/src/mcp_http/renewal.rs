//! How the session of the revisions before 2026-07-28 begins, how a new one replaces one that the server has ended, and
//! how it ends. The host does not see that: it initialized once.

use std::collections::VecDeque;

use axum::http::{HeaderMap, HeaderValue};

use super::{
    call::{Action, Call, CallId, Sends},
    exchange::{Exchange, Outgoing, Role, Wait},
    message::{self, Kind},
    refusal::{self, Refusal},
    relay::Relay,
    session::{Phase, Session},
};
use crate::limits::mcp_http as limits;

impl Relay {
    /// Begins the session that the host asks for. One that was there before ends.
    pub(super) fn initialize(&mut self, out: Outgoing) {
        self.end_session();
        self.session = Session {
            phase: Phase::Opening,
            number: self.session.number + 1,
            initialize: Some(out.clone()),
            ..Session::default()
        };
        self.send(Role::Initialize, out);
    }

    /// Takes the response to an `initialize`.
    pub(super) fn begun(&mut self, call: CallId, response: &[u8], role: Role) {
        let head = self.calls.get(&call).and_then(|exchange| exchange.head.clone());
        let Some(revision) = message::agreed_revision(response) else {
            match role {
                // The host gets the error, and may try again.
                Role::Initialize => self.session.phase = Phase::Fresh,
                _ => self.renewal_failed(&Refusal::Declined),
            }
            return;
        };
        self.session.phase = Phase::Open;
        self.session.failures = 0;
        self.session.id = head.and_then(|head| head.session);
        self.session.revision = HeaderValue::from_str(&revision).ok();
        if role == Role::Renewal
            && let Some(initialized) = self.session.initialized.clone()
        {
            self.confirm(initialized);
        }
    }

    /// Passes on that the session may be used.
    pub(super) fn initialized(&mut self, out: Outgoing) {
        self.session.initialized = Some(out.clone());
        if self.session.phase == Phase::Open {
            self.confirm(out);
        }
    }

    fn confirm(&mut self, out: Outgoing) {
        self.session.phase = Phase::Confirming;
        self.send(Role::Initialized, out);
        let call = self.calls.last_key_value().map(|(call, _)| *call);
        if let Some(call) = call {
            self.wake(call, Wait::GoOn, limits::CONFIRM);
        }
    }

    /// Goes on once the server knows that the session may be used, or does not say so in time.
    pub(super) fn confirmed(&mut self, session: u32) {
        if self.session.phase == Phase::Confirming && self.session.number == session {
            self.session.phase = Phase::Open;
            self.listen();
            self.pump();
        }
    }

    /// The server has ended the session with this number. A new one is begun, unless that was done already.
    pub(super) fn session_ended(&mut self, number: u32) {
        if number != self.session.number || !self.session.has_begun() {
            return;
        }
        tracing::info!("the server ended the session: a new one begins");
        self.abandon();
        match self.session.renewals < limits::RENEWALS {
            true => self.renew(),
            false => self.renewal_failed(&Refusal::SessionLostAgain),
        }
    }

    /// Leaves the session as it is, and prepares for the next one.
    fn abandon(&mut self) {
        self.session.number += 1;
        (self.session.id, self.session.revision) = (None, None);
        self.session.phase = Phase::Lost;
        let listening = self.calls.iter().find(|(_, call)| call.role == Role::Listen).map(|(call, _)| *call);
        if let Some(call) = listening {
            self.act(Action::Drop(call));
            self.calls.remove(&call);
        }
        // What the server asked in the session has nobody who waits for it any more. The entries stay, so that a late
        // response does not pass for one to a request of the new session.
        let ended = self.session.number - 1;
        let asked = self.asked.values().filter(|(_, session)| *session == ended);
        let asked: Vec<_> = asked.map(|(id, _)| refusal::cancelled(id.as_str())).collect();
        asked.into_iter().for_each(|line| self.act(Action::Tell(line)));
        // Streams that wait to be resumed cannot be.
        let paused: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| call.role == Role::Request && call.wait == Some(Wait::Start))
            .map(|(call, _)| *call)
            .collect();
        for call in paused {
            if let Some(exchange) = self.calls.remove(&call)
                && !exchange.is_cancelled
            {
                self.refuse(&exchange.open, &Refusal::SessionLost);
            }
        }
        let mut queue = std::mem::take(&mut self.waiting);
        queue.append(&mut self.queue);
        self.queue = queue;
    }

    /// Begins a new session by the host's own `initialize`.
    pub(super) fn renew(&mut self) {
        let Some(initialize) = self.session.initialize.clone() else {
            self.session.phase = Phase::Fresh;
            return;
        };
        self.session.phase = Phase::Opening;
        self.session.renewals += 1;
        self.send(Role::Renewal, initialize);
    }

    /// No new session could be begun: what waits for one is refused, and it is tried again later.
    pub(super) fn renewal_failed(&mut self, why: &Refusal) {
        tracing::warn!("{}", why.text(&self.server));
        self.session.phase = Phase::Lost;
        self.session.failures += 1;
        let why = Refusal::NoSession(Box::new(why.clone()));
        let (stateless, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(|out| out.parsed.revision.is_some());
        self.queue = stateless;
        for out in others {
            if let Kind::Requests(ids) = &out.parsed.kind {
                self.refuse(ids, &why);
            }
        }
        if !self.is_host_gone {
            let call = self.add(Exchange::new(Role::Renewal, None, self.session.number));
            self.wake(call, Wait::Start, limits::back_off(self.session.failures));
        }
    }

    /// Tries again to begin a session, unless a request of the host has done so since.
    pub(super) fn renew_again(&mut self, call: CallId) {
        self.calls.remove(&call);
        if self.session.phase == Phase::Lost && !self.is_host_gone {
            // A session that was lost again and again gets another chance.
            self.session.renewals = 0;
            self.renew();
        }
    }

    pub(super) fn host_gone(&mut self) {
        if std::mem::replace(&mut self.is_host_gone, true) {
            // It was told to end at once.
            let requests: Vec<_> =
                self.calls.iter().filter(|(_, call)| call.role != Role::End).map(|(call, _)| *call).collect();
            requests.into_iter().for_each(|call| self.break_off(call));
            self.queue.clear();
            self.waiting.clear();
            return;
        }
        let call = self.add(Exchange::new(Role::End, None, self.session.number));
        self.wake(call, Wait::Start, limits::LAST_RESPONSES);
    }

    /// Ends the session once the last responses have arrived, or are late.
    pub(super) fn wind_up(&mut self) {
        let is_waiting = self.calls.values().any(|call| {
            matches!(call.role, Role::Request | Role::Control | Role::Initialized | Role::Initialize)
                || (call.role == Role::Renewal && call.wait.is_none())
        });
        let pending =
            self.calls.iter().find(|(_, call)| call.role == Role::End && call.wait == Some(Wait::Start));
        if let Some(call) = pending.map(|(call, _)| *call)
            && !is_waiting
            && self.queue.is_empty()
        {
            self.end(call);
        }
    }

    /// Ends the session, and breaks off all other calls.
    pub(super) fn end(&mut self, call: CallId) {
        let others: Vec<_> = self.calls.keys().copied().filter(|other| *other != call).collect();
        others.into_iter().for_each(|other| self.break_off(other));
        self.queue.clear();
        self.waiting.clear();
        let mut headers = HeaderMap::new();
        if self.session.is_free() && self.session.add(&mut headers) {
            self.act(Action::Start(call, Call { sends: Sends::End, headers }));
            self.wake(call, Wait::Finish, limits::END);
        } else {
            self.calls.remove(&call);
        }
    }

    fn break_off(&mut self, call: CallId) {
        self.act(Action::Drop(call));
        self.calls.remove(&call);
    }

    /// Ends a session that the host replaces by another.
    fn end_session(&mut self) {
        let mut headers = HeaderMap::new();
        if !self.session.has_begun() {
            return;
        }
        let has_id = self.session.is_free() && self.session.add(&mut headers);
        self.abandon();
        if has_id {
            let call = self.add(Exchange::new(Role::Control, None, self.session.number));
            self.act(Action::Start(call, Call { sends: Sends::End, headers }));
            self.wake(call, Wait::Finish, limits::END);
        }
    }
}
