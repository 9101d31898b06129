//! The client's responses to what it was asked: which of them are a person's answer, and what becomes of the others. A
//! client that refuses faster than a person can read, responds with an error, or with a result of no known meaning, has
//! not answered (I14). The next way to ask it is left to `asking.rs`.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{json, value::RawValue};

use super::{
    amend::grants,
    config::Presentation,
    core::Core,
    hint,
    pending::{ClosingReason, LateNote, OpenQuestion, ResponseTarget},
};
use crate::{
    dialect::{Reply, ReplyMeta, ShownBy, elicitation, permission::PromptStep, sandboxagent},
    engine::{Action, Line, Peer, UnansweredReason},
    question::{Answer, Field, Kind, Origin, Outcome, Provenance, Question, Reason, Responder, check},
    wire::{envelope::Message, id::key, line, method::SESSION_UPDATE, scan, splice},
};

/// The meaning of a response to one of the bridge's own requests.
enum ResponseMeaning {
    /// The question is settled.
    Settled(Outcome),
    /// The next prompt is to be shown.
    Next,
    /// The client leaves the question to other responders: it is not asked again.
    Elsewhere(Answer),
    /// The client did not answer: it is asked in another way.
    Not(UnansweredReason),
}

impl Core {
    /// Handles a response of the client that may belong to a question.
    pub(super) fn client_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let number = match self.pending.responded(id) {
            ResponseTarget::Question(number) => number,
            ResponseTarget::Late(note) => return self.too_late(&note, message),
            ResponseTarget::Nothing => return,
            ResponseTarget::Unknown => {
                self.unread_response(id, message);
                return self.base.actions.push(Action::Forward);
            }
        };
        let Some(open) = self.pending.get(number) else { return };
        let own = matches!(open.presentation, Presentation::Own);
        let response = Response { id, message, line };
        if message.failed() {
            self.failed(number, &response, now);
        } else if own && !line.whole {
            // The rest of a long line can only be forwarded.
            self.pass_on(number, Outcome::Failed, None, &response, now);
        } else if own && open.is_permission() {
            self.permission_response(number, &response, now);
        } else if own {
            self.own_response(number, &response, now);
        } else {
            self.translated_response(number, &response, now);
        }
    }

    /// Tells a person whose answer came too late. A client that only ends its request says nothing of this kind.
    fn too_late(&mut self, note: &LateNote, message: &Message<'_>) {
        if message.failed() || !message.result.is_some_and(chooses) {
            return;
        }
        let update = hint::update(&note.text, self.takes_notices(), note.number);
        let params = json!({ "sessionId": note.session, "update": update });
        self.base.actions.push(Action::Send(Peer::Client, line::notification(SESSION_UPDATE, &params)));
    }

    /// Handles an error: the client cannot show the question, or does not want to.
    fn failed(&mut self, number: u64, response: &Response<'_>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let code = response.message.error_code().unwrap_or_default();
        match open.closing {
            Some(ClosingReason::Withdrawn) if code == line::REQUEST_CANCELLED && response.line.whole => {
                self.pass_on(number, Outcome::Failed, None, response, now);
            }
            Some(ClosingReason::Withdrawn) => self.withdrawn(number, now),
            _ if open.is_permission() => {
                let why = UnansweredReason::Refused(code);
                self.undecided(number, why, Outcome::Failed, response, now);
            }
            _ => self.refused(number, code, now),
        }
    }

    /// Moves on, since the client cannot show the question. A method that the client does not know is not tried again.
    fn refused(&mut self, number: u64, code: i32, now: Duration) {
        if code == line::METHOD_NOT_FOUND
            && let Some(open) = self.pending.get(number)
        {
            match (&open.presentation, open.reply_format.shown_by()) {
                (Presentation::Own, Some(ShownBy::Forms)) | (Presentation::Form(_), _) => {
                    self.client.forms = false;
                }
                (Presentation::Own, Some(ShownBy::Kiro)) => self.client.kiro = false,
                (Presentation::Own, Some(ShownBy::Extension)) | (Presentation::Extension, _) => {
                    self.client.extension = false;
                }
                (Presentation::Own, Some(ShownBy::All)) | (Presentation::Prompts(_), _) => {
                    self.client.permissions = false;
                }
                (Presentation::Own, None) | (Presentation::None, _) => {}
            }
        }
        self.move_on(number, UnansweredReason::Refused(code), now);
    }

    /// Handles the result for a permission. The decision goes to the agent unchanged, even if the client decided by
    /// itself: a person has set it up to do so.
    fn permission_response(&mut self, number: u64, response: &Response<'_>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let result = response.message.result.unwrap_or_default();
        let reaction = self.reaction(open, now).filter(|_| !ReplyMeta::has_reason(result));
        let reply = open.reply_format.read_reply(&open.question, result);
        // A person cannot have read what changed just before. This was given for the earlier text (I13).
        if let Reply::Canonical(Outcome::Answered(answer)) = &reply
            && open.closing.is_none()
            && open.is_unread(now)
            && grants(&open.question, answer)
        {
            return self.ask_again(number, now);
        }
        match (reply, reaction) {
            // Nobody cancelled the turn: clients without a person or a setting say this.
            (Reply::Canonical(outcome @ Outcome::Rejected(_)), Some(reaction)) => {
                let why = UnansweredReason::ByItself(reaction);
                self.undecided(number, why, outcome, response, now);
            }
            (Reply::Canonical(outcome) | Reply::Translated(outcome, _), reaction) => {
                let reaction = reaction.filter(|_| outcome != Outcome::Failed);
                self.pass_on(number, outcome, reaction, response, now);
            }
            (Reply::Unknown, _) => {
                let why = UnansweredReason::NotUnderstood;
                self.undecided(number, why, Outcome::Failed, response, now);
            }
        }
    }

    /// Leaves a permission that the client did not decide to other responders. If there are none, nothing but the
    /// client's response can end it: `outcome` is what that response amounts to.
    fn undecided(
        &mut self,
        number: u64,
        why: UnansweredReason,
        outcome: Outcome,
        response: &Response<'_>,
        now: Duration,
    ) {
        let Some(open) = self.pending.get(number) else { return };
        match open.closing {
            Some(ClosingReason::Withdrawn) => self.withdrawn(number, now),
            Some(ClosingReason::Cancelled) => self.reject(number, Reason::Cancelled, now),
            None if self.config.common.name.is_some() => {
                self.unanswered(number, why, now);
                self.unanswered(number, UnansweredReason::NoWay, now);
            }
            None => {
                let reaction = self.reaction(open, now).filter(|_| outcome != Outcome::Failed);
                self.pass_on(number, outcome, reaction, response, now);
            }
        }
    }

    /// Returns how fast the client reacts, if a person cannot be that fast. In a turn that was cancelled, a person has
    /// decided before.
    fn reaction(&self, open: &OpenQuestion, now: Duration) -> Option<Duration> {
        open.reaction(now).filter(|_| !self.is_cancelled(&open.question))
    }

    /// Handles the result for a question that the client was shown in the agent's own request.
    fn own_response(&mut self, number: u64, response: &Response<'_>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let result = response.message.result.unwrap_or_default();
        let (outcome, translated) = match open.reply_format.read_reply(&open.question, result) {
            Reply::Canonical(outcome) => (outcome, None),
            Reply::Translated(outcome, result) => (outcome, Some(result)),
            Reply::Unknown => return self.no_answer(number, UnansweredReason::NotUnderstood, now),
        };
        let reaction = self.reaction(open, now).filter(|_| says_nothing(open, &outcome, result));
        if let Some(reaction) = reaction {
            return self.left_by_itself(number, reaction, now);
        }
        if is_empty(&outcome)
            && let Err(missing) = check(&open.question, &Answer::default())
        {
            return self.no_answer(number, UnansweredReason::DoesNotFit(missing), now);
        }
        match translated {
            // The agent may compare IDs as text, so the response repeats its spelling.
            Some(result) => {
                let line = line::response(open.id.as_str(), &result);
                self.deliver(number, Action::Send(Peer::Agent, line), outcome, None, now);
            }
            None => self.pass_on(number, outcome, None, response, now),
        }
    }

    /// Handles the result of one of the bridge's own requests.
    fn translated_response(&mut self, number: u64, response: &Response<'_>, now: Duration) {
        // This takes a number even if no prompt follows, since `open` borrows the core from here on.
        let next = self.next_number();
        let Some(open) = self.pending.get_mut(number) else { return };
        let result = response.message.result.filter(|_| response.line.whole);
        let meaning = match result {
            Some(result) => open.read(result, next),
            None => ResponseMeaning::Not(UnansweredReason::NotUnderstood),
        };
        match meaning {
            ResponseMeaning::Settled(outcome) => {
                let says_nothing = says_nothing(open, &outcome, result.unwrap_or_default());
                let open = self.pending.get(number);
                let reaction = open.and_then(|open| self.reaction(open, now)).filter(|_| says_nothing);
                match reaction {
                    Some(reaction) => self.left_by_itself(number, reaction, now),
                    None => {
                        let by = self.by_client();
                        self.settle(number, outcome, by, now);
                    }
                }
            }
            // After a withdrawal only a complete answer counts: the client is not asked again.
            _ if open.is_withdrawn() => self.withdrawn(number, now),
            ResponseMeaning::Next => self.show(number, now),
            ResponseMeaning::Elsewhere(kept) => {
                self.unanswered(number, UnansweredReason::Elsewhere(kept), now)
            }
            ResponseMeaning::Not(why) => self.move_on(number, why, now),
        }
    }

    /// Moves on, since the client's result is no answer.
    fn no_answer(&mut self, number: u64, why: UnansweredReason, now: Duration) {
        match self.pending.get(number) {
            Some(open) if open.is_withdrawn() => self.withdrawn(number, now),
            _ => self.move_on(number, why, now),
        }
    }

    /// Leaves a question that the client refused by itself to other responders. It would refuse the next request, too.
    fn left_by_itself(&mut self, number: u64, reaction: Duration, now: Duration) {
        let kept = match self.pending.get(number).map(|open| &open.presentation) {
            Some(Presentation::Prompts(walk)) => walk.answer().clone(),
            _ => Answer::default(),
        };
        self.unanswered(number, UnansweredReason::ByItself(reaction), now);
        self.unanswered(number, UnansweredReason::Elsewhere(kept), now);
    }

    /// Forwards the client's response, which ends the question.
    fn pass_on(
        &mut self,
        number: u64,
        outcome: Outcome,
        reaction: Option<Duration>,
        response: &Response<'_>,
        now: Duration,
    ) {
        let Some(open) = self.pending.get(number) else { return };
        let action = open.forward(response);
        self.deliver(number, action, outcome, reaction, now);
    }

    /// Carries out an action that gives the agent the client's decision, and settles the question.
    fn deliver(
        &mut self,
        number: u64,
        action: Action,
        outcome: Outcome,
        reaction: Option<Duration>,
        now: Duration,
    ) {
        self.base.actions.extend([action, Action::Deliver(number)]);
        let by = self.by_client();
        self.settled(number, outcome, by, reaction, now);
    }

    fn by_client(&self) -> Provenance {
        Provenance { responder: Responder::Client, name: self.client.name.clone() }
    }
}

/// A response of the client.
struct Response<'a> {
    /// Its ID.
    id: &'a str,
    message: &'a Message<'a>,
    line: &'a Line,
}

impl Response<'_> {
    /// Returns the response without its `method`, under this ID. `None` if it has no method.
    fn without_method(&self, id: &str) -> Option<Bytes> {
        let message = self.message;
        message.method.as_ref().filter(|_| self.line.whole)?;
        match message.result.filter(|_| !message.failed()) {
            Some(result) => Some(line::response(id, &serde_json::from_slice::<&RawValue>(result).ok()?)),
            None => Some(line::failure(id, message.error?)),
        }
    }
}

impl OpenQuestion {
    /// Returns the action that forwards the client's response, with the ID of the agent's request: the agent would
    /// ignore any other ID.
    fn forward(&self, response: &Response<'_>) -> Action {
        let id = self.id.as_str();
        // An agent that reads the method first would take the line for a request, and have no response.
        if let Some(plain) = response.without_method(id) {
            return Action::ForwardAs(plain);
        }
        if key(response.id) == key(id) {
            return Action::Forward;
        }
        let renamed = splice::replace_member(&response.line.bytes, "id", id);
        renamed.map_or(Action::Forward, |bytes| Action::ForwardAs(Bytes::from(bytes)))
    }

    /// Reads the result of a request of the bridge's own. `next` is the number of the next prompt.
    fn read(&mut self, result: &[u8], next: u64) -> ResponseMeaning {
        let question = &self.question;
        let outcome = match &mut self.presentation {
            Presentation::Extension => match sandboxagent::reply::read(result, question) {
                Reply::Canonical(outcome) | Reply::Translated(outcome, _) => Some(outcome),
                Reply::Unknown => None,
            },
            Presentation::Form(reply_format) => {
                elicitation::reply::read_reply(reply_format, question, result)
            }
            Presentation::Prompts(walk) => match walk.handle_reply(question, result, next) {
                PromptStep::Next => return ResponseMeaning::Next,
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

/// Returns the meaning of an outcome. An answer that does not fit the question is no answer: the agent only gets values
/// that it can accept.
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

/// Returns whether a result has something that a person chose, in any way in which clients are asked.
fn chooses(result: &[u8]) -> bool {
    let is = |json, name, value: &str| {
        scan::member(json, name).and_then(scan::text).is_some_and(|text| text == value)
    };
    is(result, "action", "accept")
        || is(result, "status", "answered")
        || scan::member(result, "outcome").is_some_and(|outcome| is(outcome, "outcome", "selected"))
}

/// Returns whether nothing was chosen.
fn is_empty(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Answered(answer) if *answer == Answer::default())
}

/// Returns whether a question is a form without fields, which asks for consent.
fn is_consent(question: &Question) -> bool {
    let is_confirm = |field: &Field| matches!(field.kind, Kind::Confirm { .. });
    question.origin == Origin::Elicitation && question.fields.iter().all(is_confirm)
}

/// Returns whether the client refused, or accepted without a choice: if a person cannot be that fast, it did so by itself.
/// Another bridge, which says why it rejects, has judged this itself.
fn says_nothing(open: &OpenQuestion, outcome: &Outcome, result: &[u8]) -> bool {
    let says_nothing = match outcome {
        Outcome::Rejected(_) => true,
        // Whoever chooses "Done" has seen the prompt.
        Outcome::Answered(_) if matches!(open.presentation, Presentation::Prompts(_)) => is_empty(outcome),
        // Whoever accepts a form without fields has said no more than yes.
        Outcome::Answered(answer) => answer.is_blank() || is_consent(&open.question),
        Outcome::Failed | Outcome::Unknown(_) => false,
    };
    let has_fields = matches!(outcome, Outcome::Rejected(_)) || !open.question.fields.is_empty();
    says_nothing && has_fields && !ReplyMeta::has_reason(result)
}
