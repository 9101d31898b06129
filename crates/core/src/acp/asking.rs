//! Asks the client: chooses the way in which a question is shown, handles the client's response, and chooses the next
//! way when one fails. Lists the clients, by the name that they give themselves, that must not be asked by prompts. The
//! meaning of a reply is left to the dialects.

use std::time::Duration;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    amend::grants,
    config::{Presentation, Tier},
    core::Core,
    pending::{OpenQuestion, ResponseTarget},
};
use crate::{
    dialect::{
        Reply, ReplyFormat, ShownBy, elicitation,
        permission::{self, PromptStep, Protocol},
        sandboxagent,
    },
    engine::{Action, Line, Peer, UnansweredReason},
    question::{Answer, Outcome, Provenance, Question, Responder, check},
    wire::{
        envelope::Message,
        id::key,
        line,
        method::{ELICITATION_CREATE, REQUEST_PERMISSION, REQUEST_QUESTION},
        splice,
    },
};

impl Core {
    /// Returns whether the client can show the agent's own request unchanged.
    pub(super) fn shows(&self, shown_by: ShownBy) -> bool {
        match (shown_by, self.config.tier) {
            (ShownBy::All, _) => true,
            // A client that declared nothing is tried: if it does not know the request, it responds with an error, and
            // the next way follows.
            (ShownBy::Extension, None) => self.client.extension != Some(false),
            (ShownBy::Extension, Some(tier)) => tier == Tier::Extension,
            (ShownBy::Forms, None) => self.client.forms,
            (ShownBy::Forms, Some(tier)) => tier == Tier::Elicitation,
            (ShownBy::Kiro, None) => self.client.kiro,
            (ShownBy::Kiro, Some(_)) => false,
        }
    }

    /// Returns whether a request of the bridge's own, in this tier, is worth a try.
    fn takes(&self, tier: Tier) -> bool {
        match self.config.tier {
            // This holds even if the user forces the tier: such a client would answer for its user.
            _ if tier == Tier::Permission && self.labels_by_kind() => false,
            Some(only) => only == tier,
            None => match tier {
                Tier::Extension => self.client.extension == Some(true),
                Tier::Elicitation => self.client.forms,
                Tier::Permission => self.client.permissions,
                Tier::None => true,
            },
        }
    }

    /// Returns whether the client's permission prompts show the kinds of the options instead of their names.
    fn labels_by_kind(&self) -> bool {
        self.client.name.as_deref().is_some_and(labels_by_kind)
    }

    /// Returns the first way to ask the client.
    pub(super) fn first_presentation(
        &mut self,
        question: &Question,
        reply_format: &ReplyFormat,
    ) -> Presentation {
        if reply_format.shown_by().is_some_and(|clients| self.shows(clients)) {
            Presentation::Own
        } else {
            self.presentation_after(None, question, reply_format)
        }
    }

    fn presentation_after(
        &mut self,
        tried: Option<Tier>,
        question: &Question,
        reply_format: &ReplyFormat,
    ) -> Presentation {
        let next = |core: &Self, tier| tried < Some(tier) && core.takes(tier);
        // The agent's own request had this method already: repeating it gains nothing.
        let shown_by = reply_format.shown_by();
        if shown_by != Some(ShownBy::Extension) && next(self, Tier::Extension) {
            return Presentation::Extension;
        }
        if shown_by != Some(ShownBy::Forms)
            && next(self, Tier::Elicitation)
            && let Some(reply_format) = elicitation::form::reply_format(question)
        {
            return Presentation::Form(reply_format);
        }
        // `session/request_permission` requires a session ID.
        if next(self, Tier::Permission) && question.session.is_some() {
            return Presentation::Prompts(permission::PromptFlow::new(self.next_number()));
        }
        Presentation::None
    }

    /// Asks the client in the next way, because it could not show the question in this one, or its response is no
    /// answer.
    pub(super) fn move_on(&mut self, number: u64, why: UnansweredReason, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let (tried, question, reply_format) =
            (open.presentation.tier(), open.question.clone(), open.reply_format.clone());
        let kept = match &open.presentation {
            Presentation::Prompts(walk) => Some(walk.answer().clone()),
            _ => None,
        };
        self.unanswered(number, why, now);
        if let Some(kept) = kept {
            // Prompts are the last way to ask. What the client has chosen so far is kept for other responders.
            let left = if kept.values.is_empty() {
                UnansweredReason::NoWay
            } else {
                UnansweredReason::Elsewhere(kept)
            };
            return self.unanswered(number, left, now);
        }
        let presentation = self.presentation_after(tried, &question, &reply_format);
        if let Some(open) = self.pending.get_mut(number) {
            open.presentation = presentation;
        }
        self.show(number, now);
    }

    /// Sends the client the request that this question's presentation asks for.
    pub(super) fn show(&mut self, number: u64, now: Duration) {
        let id = self.config.common.name.as_ref().map(|_| self.base.desk.id(number).to_string());
        let Some(open) = self.pending.get_mut(number) else { return };
        match open.request(self.protocol, id.as_deref()) {
            Some(request) => {
                self.base.actions.push(Action::Send(Peer::Client, request));
                self.listen(number, now);
            }
            None => self.unanswered(number, UnansweredReason::NoWay, now),
        }
    }
}

impl OpenQuestion {
    /// Returns the request of the bridge's own by which the client is asked now, if there is one. From now on the
    /// client's response is awaited. `id` is the question's ID where other responders find it.
    fn request(&mut self, protocol: Protocol, id: Option<&str>) -> Option<Bytes> {
        self.awaiting_response = false;
        let question = &self.question;
        let (method, params) = match &self.presentation {
            Presentation::Own | Presentation::None => return None,
            Presentation::Extension => (REQUEST_QUESTION, sandboxagent::ask::write(question)),
            Presentation::Form(reply_format) => {
                (ELICITATION_CREATE, elicitation::form::write(question, reply_format))
            }
            Presentation::Prompts(walk) => (REQUEST_PERMISSION, walk.prompt(question, protocol, id)?),
        };
        self.awaiting_response = true;
        Some(line::request(self.shown_as.as_str(), method, &params))
    }
}

/// The meaning of a response to one of the bridge's own requests.
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
    /// Handles a response of the client that may belong to a question.
    pub(super) fn client_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let number = match self.pending.responded(id) {
            ResponseTarget::Question(number) => number,
            ResponseTarget::Nothing => return,
            ResponseTarget::Unknown => return self.base.actions.push(Action::Forward),
        };
        let Some(open) = self.pending.get(number) else { return };
        let (own, withdrawn) = (matches!(open.presentation, Presentation::Own), open.is_withdrawn());
        // The response to a permission is always forwarded, errors included: no other way to ask is tried.
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
                    self.client.extension = Some(false);
                }
                (Presentation::Own, Some(ShownBy::All)) | (Presentation::Prompts(_), _) => {
                    self.client.permissions = false;
                }
                (Presentation::Own, None) | (Presentation::None, _) => {}
            }
        }
        self.move_on(number, UnansweredReason::Refused(code), now);
    }

    /// Handles the client's response to the agent's own request: forwards it unchanged, unless the agent needs it
    /// translated.
    fn own_response(&mut self, number: u64, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let reply = match message.result {
            Some(result) if line.whole && !message.failed() => {
                open.reply_format.read_reply(&open.question, result)
            }
            _ => Reply::Unknown,
        };
        // A person cannot have read what changed just before. This was given for the earlier text (I13).
        if let Reply::Canonical(Outcome::Answered(answer)) = &reply
            && open.is_permission()
            && open.closing.is_none()
            && open.is_unread(now)
            && grants(&open.question, answer)
        {
            return self.ask_again(number, now);
        }
        let (action, outcome) = match reply {
            Reply::Canonical(outcome) => (open.forward(id, message, line), outcome),
            Reply::Unknown => (open.forward(id, message, line), Outcome::Failed),
            Reply::Translated(outcome, result) => {
                // The agent may compare IDs as text, so the response repeats its spelling.
                (Action::Send(Peer::Agent, line::response(open.id.as_str(), &result)), outcome)
            }
        };
        self.base.actions.extend([action, Action::Deliver(number)]);
        self.settled_by_client(number, outcome, now);
    }

    /// Passes the client's error on: every agent understands a JSON-RPC error.
    fn failed(&mut self, number: u64, message: &Message<'_>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let failure = line::failure(open.id.as_str(), message.error.unwrap_or_default());
        self.base.actions.extend([Action::Send(Peer::Agent, failure), Action::Deliver(number)]);
        self.settled_by_client(number, Outcome::Failed, now);
    }

    fn translated_response(&mut self, number: u64, message: &Message<'_>, line: &Line, now: Duration) {
        // This takes a number even if no prompt follows, since `open` borrows the core from here on.
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
            // The stale response cleared the flag, but the current prompt is still unanswered.
            ResponseMeaning::Stale => open.awaiting_response = true,
            // After a withdrawal only a complete answer counts: the client is not asked again.
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
    /// Returns the action that forwards the client's response, with the ID of the agent's request: the agent would
    /// ignore any other ID.
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
            Presentation::Extension => match sandboxagent::reply::read(result, question) {
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

/// Returns whether an error means that the client cannot show such a question.
fn is_refusal(code: i32) -> bool {
    code == line::METHOD_NOT_FOUND || code == line::INVALID_PARAMS
}

/// Clients that label the options of a permission request by their kind, and not by their name: their user cannot tell
/// the option behind a button, and would answer a prompt by chance. Each entry names the version of the client's source
/// in which this was seen.
///
/// - CodeCompanion.nvim, `interactions/chat/acp/request_permission.lua` at f1afd025 (2026-08-08): one label and one key
///   for each kind, and the last option of a kind has the key. Older versions open a dialog whose default is the second
///   option.
const LABEL_BY_KIND: [&str; 1] = ["CodeCompanion.nvim"];

/// Returns whether this client shows the kinds of options instead of their names.
pub(super) fn labels_by_kind(name: &str) -> bool {
    LABEL_BY_KIND.contains(&name)
}
