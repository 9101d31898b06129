//! How a question ends: who is told, and in what order.

use std::{sync::Arc, time::Duration};

use super::{
    bridge::Bridge,
    event::{Action, Opened, Peer, Settled},
    pending::Open,
};
use crate::{
    question::{Outcome, Provenance, Reason},
    wire::{id::RequestId, line},
};

impl Bridge {
    /// Tells the agent, in its own words, and takes the question back from a client that still shows it.
    pub(super) fn settle(&mut self, id: &RequestId, outcome: Outcome, by: Provenance, now: Duration) {
        let Some(open) = self.pending.get(id.as_str()) else { return };
        let result = match &outcome {
            Outcome::Answered(answer) => open.words.write_answer(open.question(), answer),
            Outcome::Rejected(reason) => open.words.write_rejection(*reason),
            Outcome::Failed | Outcome::Unknown(_) => return,
        };
        self.actions.push(Action::Send(Peer::Agent, line::response(id.as_str(), &result)));
        if open.owes {
            self.actions.push(Action::Send(Peer::Client, line::cancel_request(open.shown_as.as_str())));
        }
        self.settled(id.as_str(), outcome, by, now);
    }

    /// Rejects the open questions that this holds for, oldest first. Says whether there were any.
    pub(super) fn reject_where(
        &mut self,
        holds: impl FnMut(&Open) -> bool,
        reason: Reason,
        now: Duration,
    ) -> bool {
        let ids = self.pending.ids(holds);
        for id in &ids {
            self.reject(id.as_str(), reason, now);
        }
        !ids.is_empty()
    }

    /// Rejects all open questions, and those that are still to come.
    pub(super) fn close(&mut self, reason: Reason, now: Duration) {
        if self.closed.is_none() || reason == Reason::AgentGone {
            self.closed = Some(reason);
        }
        self.turns.clear_held();
        self.reject_where(|_| true, reason, now);
    }

    /// Ends what has reached its deadline, and warns of what soon will.
    pub(super) fn expire(&mut self, now: Duration) {
        for id in self.pending.ids(|open| open.warning.is_some_and(|warning| warning <= now)) {
            if let Some(open) = self.pending.get_mut(id.as_str()) {
                open.warning = None;
                self.actions.push(Action::Warned(Arc::clone(&open.opened)));
            }
        }
        for id in self.pending.ids(|open| open.deadline.is_some_and(|deadline| deadline <= now)) {
            self.reject(id.as_str(), Reason::Timeout, now);
        }
    }

    fn reject(&mut self, id: &str, reason: Reason, now: Duration) {
        let Some(open) = self.pending.get(id) else { return };
        if reason == Reason::Timeout && open.withdrawn {
            // The agent took it back, and the client did not answer that.
            return self.withdrawn(id, now);
        }
        if reason != Reason::AgentGone {
            let rejected = line::response(open.id.as_str(), &open.words.write_rejection(reason));
            self.actions.push(Action::Send(Peer::Agent, rejected));
        }
        if open.owes && !open.withdrawn && !matches!(reason, Reason::AgentGone | Reason::ClientGone) {
            self.actions.push(Action::Send(Peer::Client, line::cancel_request(open.shown_as.as_str())));
        }
        self.settled(id, Outcome::Rejected(reason), Provenance::bridge(), now);
    }

    /// Tells the agent that the question which it took back is over.
    pub(super) fn withdrawn(&mut self, id: &str, now: Duration) {
        let cancelled = line::error(id, line::REQUEST_CANCELLED, "the question was withdrawn");
        self.actions.push(Action::Send(Peer::Agent, cancelled));
        self.settled(id, Outcome::Rejected(Reason::Withdrawn), Provenance::bridge(), now);
    }

    /// Records that a question is settled.
    pub(super) fn settled(&mut self, id: &str, outcome: Outcome, by: Provenance, now: Duration) {
        let Some(open) = self.pending.settle(id) else { return };
        let outcome = if open.withdrawn { Outcome::Rejected(Reason::Withdrawn) } else { outcome };
        let Opened { number, question, since, .. } = &*open.opened;
        let (question, after) = (Arc::clone(question), now.saturating_sub(*since));
        let settled = Settled { number: *number, question, outcome, by, after, remark: open.remark };
        self.actions.push(Action::Settled(Box::new(settled)));
    }
}
