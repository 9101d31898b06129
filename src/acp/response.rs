//! What the client's response to a question leads to.
//! What a reply means is left to the dialects.

use std::time::Duration;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    core::Core,
    pending::{OpenQuestion, ResponseTarget},
    presentation::Presentation,
};
use crate::{
    dialect::{Reply, ReplyFormat, elicitation, permission::PromptStep, sandboxagent},
    engine::{Action, Line, Peer, UnansweredReason},
    question::{Answer, Outcome, Provenance, Question, Responder, check},
    wire::{envelope::Message, id::key, line, splice},
};

/// What a response to a request of the bridge's own means.
enum ResponseMeaning {
    /// The question is settled.
    Settled(Outcome),
    /// The next prompt is to be shown.
    Next,
    /// It belongs to an earlier prompt.
    Stale,
    /// The client leaves the question to other responders: it is not asked again.
    Elsewhere(Answer),
    /// The client did not answer: it is asked in another way.
    Not(UnansweredReason),
}

impl Core {
    /// Handles a response of the client that may be to a question.
    pub(super) fn client_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let number = match self.pending.responded(id) {
            ResponseTarget::Question(number) => number,
            ResponseTarget::Nothing => return,
            ResponseTarget::Unknown => return self.base.actions.push(Action::Forward),
        };
        let Some(open) = self.pending.get(number) else { return };
        let (own, withdrawn) = (matches!(open.presentation, Presentation::Own), open.is_withdrawn());
        // Of a permission, the agent gets the client's own words, whatever they are.
        let cannot = message.error_code().filter(|_| line.whole && !open.is_permission());
        let cannot = cannot.filter(|code| is_refusal(*code));
        match cannot {
            Some(_) if withdrawn => self.withdrawn(number, now),
            Some(code) => self.refused(number, code, now),
            None if own => self.own_response(number, id, message, line, now),
            None if message.failed() && line.whole => self.failed(number, message, now),
            None => self.translated_response(number, message, line, now),
        }
    }

    /// The client cannot show it. A client that does not know a method at all is not asked by it again.
    fn refused(&mut self, number: u64, code: i32, now: Duration) {
        if code == line::METHOD_NOT_FOUND
            && let Some(open) = self.pending.get(number)
        {
            match (&open.presentation, &open.reply_format) {
                (Presentation::Own, ReplyFormat::Elicitation(_)) | (Presentation::Form(_), _) => {
                    self.client.forms = false;
                }
                (Presentation::Own, ReplyFormat::Kiro(_)) => self.client.kiro = false,
                (Presentation::Own | Presentation::Native, _) => self.client.native = Some(false),
                (Presentation::Prompts(_), _) => self.client.permissions = false,
                (Presentation::None, _) => {}
            }
        }
        self.move_on(number, UnansweredReason::Refused(code), now);
    }

    /// The client got the agent's own request: its response goes on as it is, unless it needs translating.
    fn own_response(&mut self, number: u64, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let reply = match message.result {
            Some(result) if line.whole && !message.failed() => {
                open.reply_format.read_reply(&open.question, result)
            }
            _ => Reply::Unknown,
        };
        let (action, outcome) = match reply {
            Reply::Canonical(outcome) => (open.forward(id, message, line), outcome),
            Reply::Unknown => (open.forward(id, message, line), Outcome::Failed),
            Reply::Translated(outcome, result) => {
                // In the agent's own spelling of the id.
                (Action::Send(Peer::Agent, line::response(open.id.as_str(), &result)), outcome)
            }
        };
        self.base.actions.extend([action, Action::Deliver(number)]);
        self.settled_by_client(number, outcome, now);
    }

    /// The client failed, which every agent understands.
    fn failed(&mut self, number: u64, message: &Message<'_>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let failure = line::failure(open.id.as_str(), message.error.unwrap_or_default());
        self.base.actions.extend([Action::Send(Peer::Agent, failure), Action::Deliver(number)]);
        self.settled_by_client(number, Outcome::Failed, now);
    }

    fn translated_response(&mut self, number: u64, message: &Message<'_>, line: &Line, now: Duration) {
        let next = self.next_number();
        let Some(open) = self.pending.get_mut(number) else { return };
        let meaning = match message.result {
            Some(result) if line.whole => open.read(result, next),
            _ => ResponseMeaning::Not(UnansweredReason::NotUnderstood),
        };
        let withdrawn = open.is_withdrawn();
        match meaning {
            ResponseMeaning::Settled(outcome) => {
                let by = self.by_client();
                self.settle(number, outcome, by, now);
            }
            ResponseMeaning::Stale => open.awaiting_response = true,
            _ if withdrawn => self.withdrawn(number, now),
            ResponseMeaning::Next => self.show(number, now),
            ResponseMeaning::Elsewhere(kept) => {
                self.unanswered(number, UnansweredReason::Elsewhere(kept), now)
            }
            ResponseMeaning::Not(why) => self.move_on(number, why, now),
        }
    }

    fn settled_by_client(&mut self, number: u64, outcome: Outcome, now: Duration) {
        let by = self.by_client();
        self.settled(number, outcome, by, now);
    }

    fn by_client(&self) -> Provenance {
        Provenance { responder: Responder::Client, name: self.client.name.clone() }
    }
}

/// Returns the client's response without its `method`. `None` if it has no method.
fn plain_response(id: &str, message: &Message<'_>) -> Option<Bytes> {
    message.method.as_ref()?;
    match message.result.filter(|_| !message.failed()) {
        Some(result) => Some(line::response(id, &serde_json::from_slice::<&RawValue>(result).ok()?)),
        None => Some(line::failure(id, message.error?)),
    }
}

impl OpenQuestion {
    /// Returns what forwards the client's response. Under another id than the agent's, it would be lost there.
    fn forward(&self, id: &str, message: &Message<'_>, line: &Line) -> Action {
        // An agent that reads the method first would take the line for a request, and have no response.
        if let Some(plain) = plain_response(self.id.as_str(), message).filter(|_| line.whole) {
            return Action::ForwardAs(plain);
        }
        if key(id) == key(self.id.as_str()) {
            return Action::Forward;
        }
        let renamed = splice::replace_member(&line.bytes, "id", self.id.as_str());
        renamed.map_or(Action::Forward, |bytes| Action::ForwardAs(Bytes::from(bytes)))
    }

    /// Reads the result of a request of the bridge's own. `next` is the number of the next prompt.
    fn read(&mut self, result: &[u8], next: u64) -> ResponseMeaning {
        let question = &self.question;
        let outcome = match &mut self.presentation {
            Presentation::Native => match sandboxagent::reply::read(result, question) {
                Reply::Canonical(outcome) | Reply::Translated(outcome, _) => Some(outcome),
                Reply::Unknown => None,
            },
            Presentation::Form(reply_format) => {
                elicitation::reply::read_reply(reply_format, question, result)
            }
            Presentation::Prompts(walk) => match walk.handle_reply(question, result, next) {
                PromptStep::Next => return ResponseMeaning::Next,
                PromptStep::Stale => return ResponseMeaning::Stale,
                PromptStep::Elsewhere => return ResponseMeaning::Elsewhere(walk.answer().clone()),
                PromptStep::Answered(answer) => Some(Outcome::Answered(answer)),
                PromptStep::Rejected(reason) => Some(Outcome::Rejected(reason)),
                PromptStep::Unknown => None,
            },
            Presentation::Own | Presentation::None => None,
        };
        outcome.map_or(ResponseMeaning::Not(UnansweredReason::NotUnderstood), |outcome| {
            fitting(question, outcome)
        })
    }
}

/// An answer that does not fit is no answer: the agent is told what was chosen, or nothing.
fn fitting(question: &Question, outcome: Outcome) -> ResponseMeaning {
    match &outcome {
        Outcome::Answered(answer) => match check(question, answer) {
            Ok(()) => ResponseMeaning::Settled(outcome),
            Err(errors) => ResponseMeaning::Not(UnansweredReason::DoesNotFit(errors)),
        },
        Outcome::Rejected(_) => ResponseMeaning::Settled(outcome),
        Outcome::Failed | Outcome::Unknown(_) => ResponseMeaning::Not(UnansweredReason::NotUnderstood),
    }
}

/// Returns whether an error means that the client cannot show such a question.
fn is_refusal(code: i32) -> bool {
    code == line::METHOD_NOT_FOUND || code == line::INVALID_PARAMS
}
