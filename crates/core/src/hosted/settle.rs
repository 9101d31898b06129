//! The end of a question: which peer is notified, and in which order. Whether a submission may end it is left to the
//! desk.

use std::time::Duration;

use super::{
    core::Core,
    protocol::{HostProtocol, Place},
};
use crate::{
    desk::{Submission, TicketedSubmission},
    dialect::Rejection,
    engine::{Action, Line, Peer},
    question::{Outcome, Provenance, Purpose, Question, Reason, Responder},
};

impl<S: HostProtocol> Core<S> {
    /// Hands in what a responder other than the host submits.
    pub(super) fn submitted(&mut self, submitted: TicketedSubmission, now: Duration) {
        let number = submitted.number;
        // The desk consumes the submission, and an outcome has no remark.
        let remark = match &submitted.submission {
            Submission::Reject(remark) => remark.clone(),
            _ => None,
        };
        if let Some(outcome) = self.base.desk.submit(submitted, now) {
            self.respond(number, &outcome, remark.as_deref());
        }
        self.base.tell();
    }

    /// The host has responded: its line is forwarded to the agent unchanged.
    pub(super) fn answered_by_host(&mut self, number: u64, line: &Line, now: Duration) {
        self.base.actions.extend([Action::Forward, Action::Deliver(number)]);
        let Some(open) = self.pending.close(number) else { return };
        let read = || self.protocol.read_response(&open.reply, &open.question, &line.bytes);
        // A response that is too long to hold cannot be read: only its beginning is here.
        let outcome = if line.whole { read() } else { None };
        let by = Provenance { responder: Responder::Client, name: self.host() };
        // The host has settled the question, even with a response that the bridge cannot read.
        self.base.desk.end(number, outcome.unwrap_or(Outcome::Failed), by, now);
        self.base.tell();
    }

    /// Returns the name by which the host introduced itself.
    fn host(&self) -> Option<String> {
        self.base.introductions().client.as_ref()?.name.clone()
    }

    /// Handles the end of the agent's request with this id, if no response that the bridge forwarded ended it.
    pub(super) fn over(&mut self, id: &str, now: Duration) {
        if let Some(number) = self.pending.number(id) {
            self.pending.close(number);
            self.end_undelivered(number, Outcome::Rejected(Reason::Withdrawn), now);
        }
    }

    /// Ends the permissions of a tool call, or of a turn, that is over. The agent does not wait for a response, so it gets
    /// none. It may still read the answer to a question, which says that its turn is over.
    pub(super) fn ended(&mut self, place: &Place, now: Duration) {
        for number in self.pending.numbers(|open| place.has(&open.question)) {
            let Some(open) = self.pending.get(number) else { continue };
            if open.question.purpose == Purpose::Permission {
                self.pending.close(number);
                self.end_undelivered(number, Outcome::Rejected(Reason::Over), now);
            } else if place.tool_call.is_none() && open.question.blocking {
                self.base.desk.turn_over(number);
            }
        }
        self.base.tell();
    }

    /// Leaves a question to the host alone.
    pub(super) fn abandon(&mut self, number: u64, now: Duration) {
        self.pending.close(number);
        self.end_undelivered(number, Outcome::Failed, now);
    }

    /// Rejects all open questions, and those that are still to come.
    pub(super) fn close(&mut self, reason: Reason, now: Duration) {
        // The first reason counts, unless the agent is gone: then no response can be sent.
        if self.closed.is_none() || reason == Reason::AgentGone {
            self.closed = Some(reason);
        }
        for number in self.pending.all() {
            self.reject(number, reason, now);
        }
    }

    /// Ends the questions that have reached their deadline, and warns of those that soon will.
    pub(super) fn expire(&mut self, now: Duration) {
        let over = self.base.desk.tick(now);
        self.base.tell();
        for number in over {
            self.reject(number, Reason::Timeout, now);
        }
    }

    fn reject(&mut self, number: u64, reason: Reason, now: Duration) {
        let outcome = Outcome::Rejected(reason);
        if reason == Reason::AgentGone {
            // No agent is left that could receive the outcome.
            self.pending.close(number);
            return self.end_undelivered(number, outcome, now);
        }
        self.respond(number, &outcome, None);
        self.base.desk.end(number, outcome, Provenance::bridge(), now);
        self.base.tell();
    }

    /// Rejects a request that arrives after the bridge has stopped asking questions.
    pub(super) fn refuse(
        &mut self,
        id: &str,
        reply: &S::Reply,
        question: &Question,
        asked: &Question,
        reason: Reason,
    ) {
        let result = self.protocol.write_rejection(reply, question, reason.into());
        self.base.actions.push(Action::Send(Peer::Agent, self.protocol.response(id, &result)));
        self.responded(id, asked, reason != Reason::ClientGone);
    }

    /// Sends the agent its response, and takes the request back from the host, which still shows it.
    fn respond(&mut self, number: u64, outcome: &Outcome, remark: Option<&str>) {
        let Some(open) = self.pending.close(number) else { return };
        let result = match outcome {
            Outcome::Answered(answer) => self.protocol.write_answer(&open.reply, &open.question, answer),
            Outcome::Rejected(reason) => {
                let rejection = Rejection { reason: *reason, remark };
                self.protocol.write_rejection(&open.reply, &open.question, rejection)
            }
            // The host's own response is forwarded instead.
            Outcome::Failed | Outcome::Unknown(_) => return,
        };
        let is_host_there = *outcome != Outcome::Rejected(Reason::ClientGone);
        let response = self.protocol.response(open.id.as_str(), &result);
        self.base.actions.push(Action::Respond(number, response));
        self.responded(open.id.as_str(), open.asked(), is_host_there);
    }

    /// Takes note of a request that has its response, and takes it back from a host that still shows it.
    fn responded(&mut self, id: &str, question: &Question, is_host_there: bool) {
        self.pending.remember(id, question);
        if is_host_there {
            self.take_back(id);
        }
    }

    /// Tells the host that a request is over.
    pub(super) fn take_back(&mut self, id: &str) {
        let cancel = self.protocol.cancel(id);
        self.base.actions.extend(cancel.map(|line| Action::Send(Peer::Client, line)));
    }

    /// Ends a question to which the bridge writes no response.
    fn end_undelivered(&mut self, number: u64, outcome: Outcome, now: Duration) {
        self.base.desk.end(number, outcome, Provenance::bridge(), now);
        self.base.desk.delivered(number);
        self.base.tell();
    }
}
