//! Announces a question that waits, beside asking the client: by a hint in the chat, and by a report once the client
//! has been silent for too long.

use std::time::Duration;

use super::{core::Core, hint};
use crate::{
    dialect::permission::Protocol,
    engine::{Action, Peer, UnansweredReason},
    wire::envelope::Message,
};

impl Core {
    /// Sends the chat hint, at most once, that this question waits for other responders. If the question does not block
    /// the agent, the hint waits until the agent has finished its current message.
    pub(super) fn hint(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.get_mut(number) else { return };
        if !self.config.chat_hint || std::mem::replace(&mut open.hinted, true) {
            return;
        }
        match &open.question.session {
            Some(session) if !open.question.blocking => self.hints.put(number, session.clone(), now),
            Some(_) => self.send_hints(vec![number]),
            None => {}
        }
    }

    /// Sends the hints that may go before this update of the agent. Must be called before the update is forwarded.
    pub(super) fn hint_before(&mut self, update: &Message<'_>) {
        let hints = self.hints.before(update);
        self.send_hints(hints);
    }

    /// Sends the hints of a session whose turn has ended.
    pub(super) fn hint_at_end(&mut self, session: &str) {
        let hints = self.hints.at_end(session);
        self.send_hints(hints);
    }

    /// Sends the hints that are due, and reports the questions that the client has been silent about for too long.
    pub(super) fn announce_due(&mut self, now: Duration) {
        let hints = self.hints.due(now);
        self.send_hints(hints);
        while let Some(number) = self.silence.take_due(now) {
            let Some(open) = self.pending.get_mut(number) else { continue };
            open.silent_at = None;
            if open.awaiting_response && open.closing.is_none() {
                let is_permission = open.is_permission();
                self.unanswered(number, UnansweredReason::Silent, now);
                // The client shows the permission, maybe out of sight. A hint only helps if other responders can decide
                // it.
                if is_permission && self.config.common.name.is_some() {
                    self.hint(number, now);
                }
            }
        }
    }

    fn send_hints(&mut self, numbers: Vec<u64>) {
        let as_notice = self.takes_notices();
        for number in numbers {
            let id = self.config.common.name.as_ref().map(|_| self.base.desk.id(number).to_string());
            if let Some(open) = self.pending.get(number) {
                let line = hint::write(&open.question, id.as_deref(), as_notice, number);
                self.base.actions.push(Action::Send(Peer::Client, line));
            }
        }
    }

    /// Returns whether the client takes notices. In version 2 of ACP, every client does.
    pub(super) fn takes_notices(&self) -> bool {
        self.client.notices || self.protocol == Protocol::V2
    }

    /// Starts the client's silence about a question that it was asked.
    pub(super) fn listen(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.get_mut(number) else { return };
        self.silence.end(number, open.silent_at);
        open.silent_at = Some(self.silence.begin(number, now));
    }

    /// Drops the hint and the silence deadline of a settled question.
    pub(super) fn say_no_more(&mut self, number: u64, silent_at: Option<Duration>) {
        self.hints.drop(number);
        self.silence.end(number, silent_at);
    }
}
