//! What the client's response to a question leads to.
//! What a reply means is left to the dialects.

use std::{sync::Arc, time::Duration};

use super::{
    bridge::Bridge,
    event::{Action, Line, Peer, Unanswered},
    pending::{Awaited, Open},
    presentation::Way,
};
use crate::{
    dialect::{Reply, ReplyFormat, elicitation, permission::PromptStep, sandboxagent},
    question::{Answer, Outcome, Provenance, Question, Responder, check},
    wire::{envelope::Message, id::RequestId, line},
};

/// What a response to one of our own requests means.
enum Meaning {
    /// The question is settled.
    Settled(Outcome),
    /// The next prompt is to be shown.
    Next,
    /// It belongs to an earlier prompt.
    Stale,
    /// The client did not answer: nobody asks it again.
    Elsewhere(Answer),
    /// The client did not answer: it is asked in another way.
    Not(Unanswered),
}

impl Bridge {
    /// Handles a response of the client that may be to a question.
    pub(super) fn client_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let open = match self.pending.responded(id) {
            Awaited::By(open) => open,
            Awaited::ByNobody => return,
            Awaited::NotHere => return self.actions.push(Action::Forward),
        };
        let (id, own, withdrawn) = (open.id.clone(), matches!(open.way, Way::Own), open.withdrawn);
        let cannot = message.error_code().filter(|_| line.whole).filter(|code| is_refusal(*code));
        match cannot {
            Some(_) if withdrawn => self.withdrawn(id.as_str(), now),
            Some(code) => self.refused(&id, code),
            None if own => self.own_response(&id, message, line, now),
            None if message.failed() && line.whole => self.failed(&id, message, now),
            None => self.translated_response(&id, message, line, now),
        }
    }

    /// The client cannot show it. What it does not know at all, it is not asked again.
    fn refused(&mut self, id: &RequestId, code: i32) {
        if code == line::METHOD_NOT_FOUND
            && let Some(open) = self.pending.get(id.as_str())
        {
            match (&open.way, &open.words) {
                (Way::Own, ReplyFormat::Elicitation(_)) | (Way::Form(_), _) => self.client.forms = false,
                (Way::Own, ReplyFormat::Kiro(_)) => self.client.kiro = false,
                (Way::Own | Way::Native, _) => self.client.native = Some(false),
                (Way::Prompts(_), _) => self.client.permissions = false,
                (Way::None, _) => {}
            }
        }
        self.move_on(id, Unanswered::Refused(code));
    }

    /// The client got the agent's own line: its response goes on as it is, unless it needs translating.
    fn own_response(&mut self, id: &RequestId, message: &Message<'_>, line: &Line, now: Duration) {
        let Some(open) = self.pending.get(id.as_str()) else { return };
        let reply = match message.result {
            Some(result) if line.whole && !message.failed() => open.words.read_reply(open.question(), result),
            _ => Reply::Unknown,
        };
        let (action, outcome) = match reply {
            Reply::Canonical(outcome) => (Action::Forward, outcome),
            Reply::Unknown => (Action::Forward, Outcome::Failed),
            Reply::Translated(outcome, result) => {
                // In the agent's own spelling of the id.
                (Action::Send(Peer::Agent, line::response(id.as_str(), &result)), outcome)
            }
        };
        self.actions.push(action);
        self.settled_by_client(id, outcome, now);
    }

    /// The client failed, which every agent understands.
    fn failed(&mut self, id: &RequestId, message: &Message<'_>, now: Duration) {
        let error = message.error.unwrap_or_default();
        self.actions.push(Action::Send(Peer::Agent, line::failure(id.as_str(), error)));
        self.settled_by_client(id, Outcome::Failed, now);
    }

    fn translated_response(&mut self, id: &RequestId, message: &Message<'_>, line: &Line, now: Duration) {
        let number = self.next_number();
        let Some(open) = self.pending.get_mut(id.as_str()) else { return };
        let meaning = match message.result {
            Some(result) if line.whole => open.read(result, number),
            _ => Meaning::Not(Unanswered::NotUnderstood),
        };
        let withdrawn = open.withdrawn;
        match meaning {
            Meaning::Settled(outcome) => {
                let by = self.by_client();
                self.settle(id, outcome, by, now);
            }
            Meaning::Stale => open.owes = true,
            _ if withdrawn => self.withdrawn(id.as_str(), now),
            Meaning::Next => self.show(id),
            Meaning::Elsewhere(kept) => {
                let opened = Arc::clone(&open.opened);
                self.actions.push(Action::Unanswered(opened, Unanswered::Elsewhere(kept)));
            }
            Meaning::Not(why) => self.move_on(id, why),
        }
    }

    fn settled_by_client(&mut self, id: &RequestId, outcome: Outcome, now: Duration) {
        let by = self.by_client();
        self.settled(id.as_str(), outcome, by, now);
    }

    fn by_client(&self) -> Provenance {
        Provenance { responder: Responder::Client, name: self.client.name.clone() }
    }
}

impl Open {
    /// Reads the result of one of our own requests. `number` is that of the next prompt.
    fn read(&mut self, result: &[u8], number: u64) -> Meaning {
        let question = &self.opened.question;
        let outcome = match &mut self.way {
            Way::Native => match sandboxagent::reply::read(result, question) {
                Reply::Canonical(outcome) | Reply::Translated(outcome, _) => Some(outcome),
                Reply::Unknown => None,
            },
            Way::Form(words) => elicitation::reply::read(words, question, result),
            Way::Prompts(walk) => match walk.handle_reply(question, result, number) {
                PromptStep::Next => return Meaning::Next,
                PromptStep::Stale => return Meaning::Stale,
                PromptStep::Elsewhere => return Meaning::Elsewhere(walk.answer().clone()),
                PromptStep::Answered(answer) => Some(Outcome::Answered(answer)),
                PromptStep::Rejected(reason) => Some(Outcome::Rejected(reason)),
                PromptStep::Unknown => None,
            },
            Way::Own | Way::None => None,
        };
        outcome.map_or(Meaning::Not(Unanswered::NotUnderstood), |outcome| fitting(question, outcome))
    }
}

/// An answer that does not fit is none: the agent is told what was chosen, or nothing.
fn fitting(question: &Question, outcome: Outcome) -> Meaning {
    match &outcome {
        Outcome::Answered(answer) => match check(question, answer) {
            Ok(()) => Meaning::Settled(outcome),
            Err(errors) => Meaning::Not(Unanswered::DoesNotFit(errors)),
        },
        Outcome::Rejected(_) => Meaning::Settled(outcome),
        Outcome::Failed | Outcome::Unknown(_) => Meaning::Not(Unanswered::NotUnderstood),
    }
}

/// Says whether an error means that the client cannot show such a question.
fn is_refusal(code: i32) -> bool {
    code == line::METHOD_NOT_FOUND || code == line::INVALID_PARAMS
}
