//! One request of an app server, and the stage that it is in. What leads from one stage to the next is left to
//! `requests.rs`.

use std::time::Duration;

use serde_json::{Value as Json, value::RawValue};

use super::{
    effect::{Effect, Effects},
    message::{self, RequestPlace},
};
use crate::{
    desk::Settlement,
    dialect::{Rejection, codex::CodexReply},
    limits,
    question::{Answer, Outcome, Provenance, Question, Reason, Responder},
};

/// The name that people know.
pub(super) const NAME: &str = "Codex";

#[derive(Debug)]
pub(super) struct CodexRequest {
    /// The ID, as it stands on this connection.
    pub id: Json,
    pub method: String,
    pub place: RequestPlace,
    pub question: Box<Question>,
    pub reply: CodexReply,
    pub stage: RequestStage,
}

#[derive(Debug)]
pub(super) enum RequestStage {
    Open,
    /// The response was sent. The server has not said yet that the request is over.
    Sent {
        until: Duration,
        result: Box<RawValue>,
    },
    /// It is over, and it is not known how yet.
    Ended(EndedRequest),
    /// The connection is over. What was decided since waits for the next one.
    Lost {
        until: Duration,
        decided: Option<Box<RawValue>>,
    },
    /// It is left to Codex' own dialog.
    Left,
}

/// A request that is over. What is not known of its end by then is assumed.
#[derive(Debug)]
pub(super) struct EndedRequest {
    pub until: Duration,
    /// The response that was sent before.
    pub sent: Option<Box<RawValue>>,
    /// Whether it is looked up in the thread's record.
    pub is_looked_up: bool,
    /// Whether its turn was interrupted.
    pub is_interrupted: bool,
}

impl EndedRequest {
    /// Returns what is assumed of the end of this question.
    pub(super) fn assumed(&self, key: u64) -> Effect {
        match (self.is_interrupted, &self.sent) {
            (true, _) => Effect::End(key, Outcome::Rejected(Reason::Cancelled), Provenance::bridge()),
            // The record would have it by now, if it were that one.
            (false, Some(_)) => Effect::Undeliverable(key),
            // What the answer was is not known.
            (false, None) => Effect::End(key, Outcome::Answered(Answer::default()), dialog()),
        }
    }
}

/// Returns the person, at a dialog of Codex' own.
pub(super) fn dialog() -> Provenance {
    Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) }
}

impl CodexRequest {
    pub(super) fn send(&mut self, result: Box<RawValue>, now: Duration, effects: &mut Effects) {
        effects.push_back(Effect::Send(message::response(&self.id.to_string(), &result)));
        self.stage = RequestStage::Sent { until: now.saturating_add(limits::ATTACH_ANSWER), result };
    }

    /// Returns the result for what was decided. `None` for an end that no person decided.
    pub(super) fn result(&self, settlement: &Settlement) -> Option<Box<RawValue>> {
        match &settlement.outcome {
            Outcome::Answered(answer) => Some(self.reply.write_answer(&self.question, answer)),
            Outcome::Rejected(Reason::User | Reason::Policy) => {
                // A rule refuses in the person's place.
                let rejection = Rejection { reason: Reason::User, remark: settlement.remark.as_deref() };
                Some(self.reply.write_rejection(&self.question, rejection))
            }
            _ => None,
        }
    }

    /// Returns whether the answer to it stands in the thread's record: that has what the tools of the model returned.
    pub(super) fn is_recorded(&self) -> bool {
        matches!(self.reply, CodexReply::UserInput) && self.place.item_id.is_some()
    }

    /// Returns whether it is over, and nothing more will be known of its end than what is said next.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, RequestStage::Ended(EndedRequest { is_looked_up: false, .. }))
    }

    /// Returns whether its question is open on the desk, or on its way.
    pub(super) fn is_on_desk(&self) -> bool {
        !matches!(self.stage, RequestStage::Left)
    }

    pub(super) fn due(&self) -> Option<Duration> {
        match self.stage {
            RequestStage::Sent { until, .. }
            | RequestStage::Lost { until, .. }
            | RequestStage::Ended(EndedRequest { until, .. }) => Some(until),
            RequestStage::Open | RequestStage::Left => None,
        }
    }
}
