//! The lines of the client: responses, cancellations, prompts and new sessions.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use serde_json::json;

use super::{
    capabilities,
    core::Core,
    pending::{ClosingReason, OpenQuestion},
    route::ClientMethod,
    sessions::HeldPrompt,
};
use crate::{
    engine::{Action, Introductions, Line, Peer},
    limits,
    question::Reason,
    wire::{
        envelope::{Envelope, Message, is_json, peek, responds_to},
        id::RequestId,
        line, scan,
    },
};

impl Core {
    /// Handles an intercepted line of the client.
    pub(super) fn client_line(&mut self, line: &Line, now: Duration) {
        // However much of a prompt has come, only what it was judged by counts.
        let begins = !line.whole && self.begins_a_prompt(&line.bytes);
        let beginning = begins.then(|| Line { bytes: line.bytes.slice(..limits::STREAM), whole: false });
        let line = beginning.as_ref().unwrap_or(line);
        let Some(message) = line.message() else { return self.unclear(line, now) };
        let method = message.method.as_deref().and_then(|method| ClientMethod::of(|name| name == method));
        match (method, message.id) {
            // Agents may read such a line as a response, whatever other members it has.
            (_, Some(id)) if message.responds() && (method.is_none() || self.pending.knows(id)) => {
                self.client_response(id, &message, line, now);
            }
            (Some(ClientMethod::Initialize), Some(id)) => self.client_initialize(id, &message, line),
            (Some(ClientMethod::NewSession), Some(id)) => self.new_session(id, &message),
            (Some(ClientMethod::OpenSession), Some(id)) => self.open_session(id, &message, now),
            (Some(ClientMethod::Prompt), Some(id)) => self.prompt(id, &message, line, now),
            (Some(ClientMethod::CancelTurn), _) => self.cancel_turn(&message, now),
            (Some(ClientMethod::CloseSession), _) => self.close_session(&message, now),
            (Some(ClientMethod::CancelRequest), None) => self.client_cancels(&message),
            _ => self.base.actions.push(Action::Forward),
        }
    }

    /// Handles a line that is not a well-formed message. A response with a duplicate member still counts as a response,
    /// since the agent may accept it. Invalid JSON does not, since no agent can parse it.
    fn unclear(&mut self, line: &Line, now: Duration) {
        let id = match peek(&line.bytes) {
            _ if line.whole => is_json(&line.bytes).then(|| responds_to(&line.bytes)).flatten(),
            Envelope::Response(id) => Some(id),
            _ => None,
        };
        match id {
            Some(id) => self.client_response(id, &Message::default(), line, now),
            None => self.base.actions.push(Action::Forward),
        }
    }

    fn client_initialize(&mut self, id: &str, message: &Message<'_>, line: &Line) {
        let params = message.params.unwrap_or_default();
        self.client = message.params.map(capabilities::Client::read).unwrap_or_default();
        let client = Some(self.client.introduction(params));
        // The agent has not responded to this `initialize`. What it said in response to an earlier one no longer
        // counts.
        self.base.introduce(|said| *said = Introductions { client, agent: None });
        let advertises = self.config.advertise && line.whole;
        let advertised = if advertises { capabilities::advertise_to_agent(&line.bytes) } else { None };
        if id.len() <= limits::ID {
            self.initialize = Some(RequestId::new(id));
        }
        self.base.actions.push(match advertised {
            Some(bytes) => Action::Send(Peer::Agent, bytes.into()),
            None => Action::Forward,
        });
    }

    fn new_session(&mut self, id: &str, message: &Message<'_>) {
        if let Some(folder) = folder(message) {
            self.sessions.request(id, &folder);
        }
        self.base.actions.push(Action::Forward);
    }

    fn open_session(&mut self, id: &str, message: &Message<'_>, now: Duration) {
        if let Some(session) = message.session() {
            self.tool_calls.load(id, &session);
            // The agent says again what it said before.
            self.base.heard.forget(&session, now);
            if let Some(folder) = folder(message) {
                self.sessions.open(&session, &folder);
            }
        }
        self.base.actions.push(Action::Forward);
    }

    /// Handles a prompt. While a question of the turn is open, the prompt is the user's answer, given in the chat.
    fn prompt(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let Some(session) = message.session() else { return self.base.actions.push(Action::Forward) };
        let session = session.into_owned();
        self.tool_calls.prompted(&session);
        // A chat message neither allows nor rejects a permission, and is not about a question that came between turns.
        let in_session = |open: &OpenQuestion| {
            open.question.blocking
                && open.in_turn
                && !open.is_permission()
                && open.question.session.as_deref() == Some(&*session)
        };
        let replied = self.reject_where(in_session, Reason::RepliedInChat, now);
        let id = RequestId::new(id);
        // A prompt also waits behind a held prompt of the session, so that prompts keep their order.
        if line.whole && self.turns.owes_response(&session) && (replied || self.turns.holds(&session)) {
            // This copies the line, since the line may share its memory with a whole read.
            let held = HeldPrompt { id, session, line: Bytes::copy_from_slice(&line.bytes) };
            if let Err(refused) = self.turns.hold(held) {
                self.turns.start(&refused.id, refused.session);
                self.base.actions.push(Action::Forward);
            }
            return;
        }
        self.turns.start(&id, session);
        self.base.actions.push(Action::Forward);
    }

    fn cancel_turn(&mut self, message: &Message<'_>, now: Duration) {
        // The agent gets the cancellation before the rejections, so that no rejection makes it continue the turn.
        self.base.actions.push(Action::Forward);
        if let Some(session) = message.session() {
            self.turn_cancelled(&session, now);
        }
    }

    /// Ends what a cancelled turn has begun. A question that was asked between turns is not about the turn that is
    /// cancelled; permissions end by the rules of the protocol.
    fn turn_cancelled(&mut self, session: &str, now: Duration) {
        let runs = self.turns.runs_in(session);
        self.turns.cancel_in(session);
        self.tool_calls.end_turn(session);
        self.leave_permissions(session, now);
        self.end_session(
            session,
            Reason::Cancelled,
            |open| open.in_turn || !runs || open.is_permission(),
            now,
        );
    }

    fn close_session(&mut self, message: &Message<'_>, now: Duration) {
        // The questions end before the request is forwarded, while the agent still has the session in which it asked.
        if let Some(session) = message.session() {
            self.end_session(&session, Reason::SessionClosed, |_| true, now);
            self.tool_calls.forget(&session);
            self.base.heard.forget(&session, now);
            self.turns.rest(&session);
        }
        self.base.actions.push(Action::Forward);
    }

    /// Leaves the open permissions of a cancelled turn to the client, which responds to them as cancelled by the rules
    /// of the protocol. After [`limits::CANCEL`] the bridge does it.
    fn leave_permissions(&mut self, session: &str, now: Duration) {
        let shown = |open: &OpenQuestion| {
            open.is_permission()
                && open.awaiting_response
                && open.question.session.as_deref() == Some(session)
        };
        for number in self.pending.numbers(shown) {
            self.leave_as_cancelled(number, now);
        }
    }

    pub(super) fn leave_as_cancelled(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.get_mut(number).filter(|open| open.closing.is_none()) else { return };
        open.closing = Some(ClosingReason::Cancelled);
        self.base.desk.close(number, now.saturating_add(limits::CANCEL));
    }

    fn end_session(
        &mut self,
        session: &str,
        reason: Reason,
        holds: impl Fn(&OpenQuestion) -> bool,
        now: Duration,
    ) {
        let ends = |open: &OpenQuestion| {
            let is_left = reason == Reason::Cancelled && open.closing == Some(ClosingReason::Cancelled);
            !is_left && holds(open) && open.question.session.as_deref() == Some(session)
        };
        self.reject_where(ends, reason, now);
        // The agent never got these prompts, so only the bridge can answer them.
        while let Some(held) = self.turns.release(session) {
            let cancelled = line::response(held.id.as_str(), &json!({"stopReason": "cancelled"}));
            self.base.actions.push(Action::Send(Peer::Client, cancelled));
        }
    }

    /// Handles a cancellation, which may be that of a turn. The agent never got a prompt that is held back, so the bridge
    /// answers for it.
    fn client_cancels(&mut self, message: &Message<'_>) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        // The agent decides what becomes of this turn, but what the client refuses now, it refuses because of that.
        if let Some(session) = id.and_then(|id| self.turns.session(id)).map(str::to_owned) {
            self.turns.cancel_in(&session);
        }
        self.base.actions.push(match id.and_then(|id| self.turns.cancel(id)) {
            Some(held) => {
                let error =
                    line::error(held.id.as_str(), line::REQUEST_CANCELLED, "the prompt was cancelled");
                Action::Send(Peer::Client, error)
            }
            None => Action::Forward,
        });
    }
}

/// Returns the folder that a session is opened in.
fn folder<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    scan::text(message.param("cwd")?)
}
