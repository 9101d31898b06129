//! The promises to each responder: its verdict is true by what the agent has got (I4, I9), and an answer counts only for
//! the text that it was shown (I13).

use std::collections::BTreeMap;

use askbridge_core::{
    desk::{Refusal, Submission},
    engine::Peer,
    question::{Outcome, Reason},
    wire::envelope::Message,
};
use futures::FutureExt;
use serde_json::Value;

use super::{
    moves::{Caller, begun, is, wrong},
    world::World,
};

impl World<'_> {
    /// If a responder has its verdict, asserts that the verdict is true.
    pub(super) fn look(&mut self, place: usize) {
        let Some(told) = self.callers[place].waits.as_mut().now_or_never() else { return };
        let Caller { number, submission, saw, .. } = self.callers.swap_remove(place);
        self.journal.push(format!("  {number} {submission:?} is told {told:?}"));
        let heard = self.heard();
        let response = heard.get(&number);
        let is_true = match (&told, &submission) {
            // An approval reaches the agent only if what its responder was shown is what was open (I13).
            (Ok(_), Submission::Answer { answer, .. }) => {
                saw.is_some()
                    && saw.as_ref() == self.decided.get(&number)
                    && response.is_some_and(|response| is(&Outcome::Answered(answer.clone()), response))
            }
            (Err(Refusal::Changed(view)), Submission::Answer { .. }) => !submission.has_seen(view.edition),
            (Ok(_), Submission::Reject(_)) => {
                response.is_some_and(|response| is(&Outcome::Rejected(Reason::User), response))
            }
            (Ok(_), Submission::Extend(_)) => {
                let accepted = self.extensions_accepted.entry(number).or_default();
                *accepted += 1;
                self.extended.get(&number).is_some_and(|extended| *accepted <= *extended)
            }
            // It changes nothing for the agent.
            (Ok(_), Submission::Later(_)) => true,
            (Err(Refusal::Conflict(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                let same = match (outcome, &submission) {
                    (Outcome::Answered(given), Submission::Answer { answer, .. }) => given == answer,
                    (Outcome::Rejected(_), Submission::Reject(_)) => true,
                    _ => false,
                };
                let by_responder = !matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User);
                // The same answer to an earlier text is another one.
                (!same || !submission.has_seen(view.edition))
                    && by_responder
                    && response.is_some_and(|response| is(outcome, response))
            }
            (Err(Refusal::Gone(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User)
                    && self.bears_out(outcome, response)
            }
            (Err(Refusal::DoesNotFit(_)), Submission::Answer { answer, .. }) => *answer == wrong(),
            (Err(Refusal::NoDeadline), Submission::Extend(_)) => !self.timeout,
            (Err(Refusal::Unavailable), _) => self.may_be_lost(),
            _ => false,
        };
        *self.told.entry(told.as_ref().map_or_else(|refusal| refusal.kind().name, |_| "ok")).or_default() +=
            1;
        assert!(
            is_true,
            "{number} {submission:?} was told {told:?}; the agent has {response:?}: {}",
            self.shown()
        );
    }

    /// Returns whether the agent has got this outcome, or, if the outcome says that it may be lost, cannot get it.
    pub(super) fn bears_out(&self, outcome: &Outcome, response: Option<&Value>) -> bool {
        match (outcome, response) {
            (Outcome::Rejected(Reason::AgentGone), _) => self.may_be_lost(),
            (_, Some(response)) => is(outcome, response),
            (Outcome::Rejected(reason), None) => *reason != Reason::User && self.may_be_lost(),
            (_, None) => false,
        }
    }

    fn may_be_lost(&self) -> bool {
        !self.agent_lives || self.bridge.outbox(Peer::Agent).is_abandoned()
    }

    /// Returns the response that the agent has got to each question, and asserts that there is one at most.
    pub(super) fn heard(&self) -> BTreeMap<u64, Value> {
        let mut heard = BTreeMap::new();
        for line in self.pipe.got.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            let Some(message) = Message::read(line) else {
                assert_eq!(line.trim_ascii_end(), begun(), "a line in another: {}", self.shown());
                continue;
            };
            let (None, Some(id)) = (&message.method, message.id) else { continue };
            let before = heard.insert(id.parse().unwrap(), serde_json::from_slice(line).unwrap());
            assert!(before.is_none(), "two responses to {id}: {}", self.shown());
        }
        heard
    }
}
