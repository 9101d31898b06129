//! The end of a question: which peer is notified, and in which order; what a person is told whose answer comes after it.
//! Whether a submission may end it is left to the desk.

use std::time::Duration;

use super::{
    amend::grants,
    core::Core,
    hint,
    pending::{ClosingReason, LateNote, OpenQuestion},
};
use crate::{
    desk::{Submission, TicketedSubmission},
    dialect::Rejection,
    engine::{Action, Peer},
    question::{Outcome, Provenance, Purpose, Question, Reason},
    wire::line,
};

impl Core {
    /// Hands the desk the submission of a responder other than the client, and carries out its decision.
    pub(super) fn submitted(&mut self, submitted: TicketedSubmission, now: Duration) {
        let number = submitted.number;
        let remark = match &submitted.submission {
            Submission::Reject(remark) => remark.clone(),
            _ => None,
        };
        if let Some(outcome) = self.base.desk.submit(submitted, now) {
            self.respond(number, &outcome, remark.as_deref());
            if let Some(open) = self.pending.settle(number) {
                self.say_no_more(number, open.silent_at);
                self.expect_late(&open, &outcome);
            }
        }
        self.base.tell();
    }

    /// Settles a question, and sends the agent the outcome in the format that it expects.
    pub(super) fn settle(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        self.respond(number, &outcome, None);
        self.settled(number, outcome, by, None, now);
    }

    /// Sends the agent its response, and cancels the request of a client that still shows the question.
    fn respond(&mut self, number: u64, outcome: &Outcome, remark: Option<&str>) {
        let Some(open) = self.pending.get(number) else { return };
        let result = match outcome {
            Outcome::Answered(answer) => open.reply_format.write_answer(&open.question, answer),
            Outcome::Rejected(reason) => {
                open.reply_format.write_rejection(Rejection { reason: *reason, remark })
            }
            // The client's own response is forwarded instead.
            Outcome::Failed | Outcome::Unknown(_) => return,
        };
        self.base.actions.push(Action::Respond(number, line::response(open.id.as_str(), &result)));
        self.base.actions.extend(open.cancel());
    }

    /// Rejects the open questions that satisfy `holds`, oldest first. Returns whether there were any.
    pub(super) fn reject_where(
        &mut self,
        holds: impl FnMut(&OpenQuestion) -> bool,
        reason: Reason,
        now: Duration,
    ) -> bool {
        let numbers = self.pending.numbers(holds);
        for number in &numbers {
            self.reject(*number, reason, now);
        }
        !numbers.is_empty()
    }

    /// Rejects all open questions, and those that are still to come.
    pub(super) fn close(&mut self, reason: Reason, now: Duration) {
        // The first reason stays, except that nothing can be sent once the agent is gone.
        if self.closed.is_none() || reason == Reason::AgentGone {
            self.closed = Some(reason);
        }
        self.turns.clear_held();
        self.reject_where(|_| true, reason, now);
    }

    /// Rejects the questions whose deadline has passed, and warns of those whose deadline is near.
    pub(super) fn expire(&mut self, now: Duration) {
        let over = self.base.desk.tick(now);
        self.base.tell();
        for number in over {
            self.reject(number, Reason::Timeout, now);
        }
    }

    pub(super) fn reject(&mut self, number: u64, reason: Reason, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let reason = match (reason, open.closing) {
            // The agent withdrew the question, and the client did not respond in time.
            (Reason::Timeout, Some(ClosingReason::Withdrawn)) => return self.withdrawn(number, now),
            (Reason::Timeout, Some(ClosingReason::Cancelled)) => Reason::Cancelled,
            _ => reason,
        };
        let is_agent_gone = reason == Reason::AgentGone;
        if !is_agent_gone {
            let rejected =
                line::response(open.id.as_str(), &open.reply_format.write_rejection(reason.into()));
            self.base.actions.push(Action::Send(Peer::Agent, rejected));
            self.base.actions.push(Action::Deliver(number));
        }
        if !open.is_withdrawn() && !is_agent_gone && reason != Reason::ClientGone {
            self.base.actions.extend(open.cancel());
        }
        self.settled(number, Outcome::Rejected(reason), Provenance::bridge(), None, now);
        if is_agent_gone {
            // There is nothing to deliver, and no agent to deliver it to.
            self.base.desk.delivered(number);
            self.base.tell();
        }
    }

    /// Sends the agent the error that ends a question which it withdrew.
    pub(super) fn withdrawn(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let cancelled = line::error(open.id.as_str(), line::REQUEST_CANCELLED, "the question was withdrawn");
        self.base.actions.push(Action::Send(Peer::Agent, cancelled));
        self.base.actions.push(Action::Deliver(number));
        self.settled(number, Outcome::Rejected(Reason::Withdrawn), Provenance::bridge(), None, now);
    }

    /// Records the outcome of a question, which is about to be delivered. `reaction` is how fast the client decided, if
    /// a person cannot be that fast.
    pub(super) fn settled(
        &mut self,
        number: u64,
        outcome: Outcome,
        by: Provenance,
        reaction: Option<Duration>,
        now: Duration,
    ) {
        let Some(open) = self.pending.settle(number) else { return };
        self.say_no_more(number, open.silent_at);
        self.expect_late(&open, &outcome);
        // The withdrawal came first, even if the client answered afterwards and the agent gets that response.
        let outcome = if open.is_withdrawn() { Outcome::Rejected(Reason::Withdrawn) } else { outcome };
        self.base.desk.end_within(number, outcome, by, reaction, now);
        self.base.tell();
    }

    /// Prepares for a client that shows a settled question further on: most do not know `$/cancel_request`. Its person must
    /// not believe that the answer counted.
    fn expect_late(&mut self, open: &OpenQuestion, outcome: &Outcome) {
        let asked = open.asked.as_ref().filter(|_| open.awaiting_response && self.config.chat_hint);
        let (Some(asked), Some(session)) = (asked, &open.question.session) else { return };
        let Some(why) = settled_by(&open.question, outcome) else { return };
        let text = hint::too_late(&open.question, why);
        self.pending.note(&asked.id, LateNote { session: session.clone(), text, number: open.number });
    }
}

/// Returns what became of a question while its client showed it. `None` if the client's person ended it, or if nobody can
/// be told.
fn settled_by(question: &Question, outcome: &Outcome) -> Option<&'static str> {
    let is_permission = question.purpose == Purpose::Permission;
    Some(match outcome {
        Outcome::Answered(_) if !is_permission => "it was answered elsewhere before",
        Outcome::Answered(answer) if grants(question, answer) => "it was allowed elsewhere before",
        Outcome::Answered(_) | Outcome::Rejected(Reason::User | Reason::Policy) => {
            "it was rejected elsewhere before"
        }
        Outcome::Rejected(Reason::Timeout) => "its time was over",
        Outcome::Rejected(Reason::Withdrawn | Reason::Over) => "the agent does not wait for it any more",
        Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_) => return None,
    })
}

impl OpenQuestion {
    /// Returns the action that cancels the request of a client that still shows the question.
    fn cancel(&self) -> Option<Action> {
        let asked = self.asked.as_ref().filter(|_| self.awaiting_response)?;
        Some(Action::Send(Peer::Client, line::cancel_request(asked.id.as_str())))
    }
}
