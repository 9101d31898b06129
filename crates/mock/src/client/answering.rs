//! Handles the peer's messages in a conversation: updates, requests, cancellations and invalid lines. Asks for the
//! fields of a question one by one, and sends the answer.
//! The meaning of a typed line is left to `form.rs`, and the choice of when to ask to `conversation.rs`.

use std::{
    io::{self, IsTerminal, Write},
    time::Instant,
};

use askbridge_os::{keyboard, limits};
use serde::Deserialize;
use serde_json::Value;

use super::{
    answers::{Draft, HeldRefusal, NextInput},
    conversation::{Conversation, OwnResponse},
    error::ClientError,
    form::TypedLine,
    manner::{Manner, MannerReply},
    permission,
    request::AgentRequest,
};
use crate::{
    ClientKind, ConsentReply, PermissionAnswer,
    message::{self, Id, Params, RpcError, RpcMessage},
};

impl<W: Write> Conversation<W> {
    /// Sends the person's response to a request. A refusal waits until a person can have read the request.
    fn decide(&mut self, request: AgentRequest, result: &Value) -> Result<(), ClientError> {
        let line = message::response(&request.id, result)?;
        let until = request.arrived + self.settings.reaction;
        if request.is_refused_by(result) && Instant::now() < until {
            self.held.push(HeldRefusal { until, request, line });
            return Ok(());
        }
        self.settle(line)
    }

    /// Sends the refusals that are due. Returns whether there were any.
    pub(super) fn give_refusals(&mut self) -> Result<bool, ClientError> {
        let now = Instant::now();
        let due: Vec<_> = self.held.extract_if(.., |held| held.until <= now).collect();
        let any = !due.is_empty();
        due.into_iter().try_for_each(|held| self.settle(held.line))?;
        Ok(any)
    }

    /// Sends the response to a request.
    pub(super) fn settle(&mut self, line: Vec<u8>) -> Result<(), ClientError> {
        self.caught_up = false;
        self.send(&line)
    }

    /// Shows the message of the form and asks for its fields. A form without fields is accepted at once.
    pub(super) fn begin(&mut self, request: AgentRequest) -> Result<(), ClientError> {
        if let Some(message) = &request.form.message {
            self.screen.say("form", message)?;
        }
        if request.form.fields.is_empty() {
            return self.settle(message::response(&request.id, request.result(&[]))?);
        }
        self.draft = Some(Draft::new(request));
        self.ask()
    }

    /// Asks for the fields, until a person must type one or all are answered.
    fn ask(&mut self) -> Result<(), ClientError> {
        while let Some(draft) = &mut self.draft {
            let (at, count) = (draft.answers.len(), draft.request.form.fields.len());
            let field = &draft.request.form.fields[at];
            if draft.shown == at {
                draft.shown += 1;
                self.screen.ask(field, (at + 1, count))?;
            }
            let next = self.answers.next(&draft.request, field);
            if next == NextInput::AskPerson && draft.consent.is_none() {
                let asks = self.settings.consent.zip(draft.request.permission());
                draft.consent = asks.and_then(|(ask, params)| ask(params));
            }
            for line in draft.consent.iter().flat_map(|consent| consent.above()) {
                self.screen.say("", &line)?;
            }
            if next == NextInput::AskPerson {
                // What was typed before the prompt can be read was meant for something else.
                keyboard::forget(if draft.consent.is_some() { limits::QUIET } else { limits::BURST });
            }
            self.screen.ask_typing(&draft.hint())?;
            let line = match next {
                NextInput::AskPerson => {
                    self.process.ask_keyboard();
                    return Ok(());
                }
                NextInput::Reject => None,
                NextInput::Type(line) => Some(line),
            };
            self.screen.typed(line.as_deref().unwrap_or("(rejected)"), false)?;
            if let Some(why) = self.take(line)? {
                return Err(ClientError::DoesNotFit(why));
            }
        }
        Ok(())
    }

    /// Repeats the input line if something else was shown after it.
    pub(super) fn ask_typing_again(&mut self) -> Result<(), ClientError> {
        match &self.draft {
            Some(draft) if !self.screen.is_typing() => Ok(self.screen.ask_typing(&draft.hint())?),
            _ => Ok(()),
        }
    }

    /// Takes a typed line, or `None` for the end of stdin, and asks for the next field.
    pub(super) fn take_typed(&mut self, line: Option<String>) -> Result<(), ClientError> {
        let shown = line.is_some() && io::stdin().is_terminal();
        self.screen.typed(line.as_deref().unwrap_or("(end of input)"), shown)?;
        if line.is_none() && self.draft.is_some() {
            self.screen.say("", "stdin has ended: the question is rejected.")?;
        }
        match (line, self.draft.as_mut().and_then(|draft| draft.consent.as_mut())) {
            (Some(line), Some(consent)) => {
                let consented = consent.typed(&line);
                self.consented(consented)?;
            }
            (line, _) => {
                if let Some(why) = self.take(line)? {
                    self.screen.say("", &why)?;
                }
            }
        }
        self.ask()
    }

    /// Says that lines that came at once answer nothing, and asks again.
    pub(super) fn refuse_paste(&mut self, count: usize) -> Result<(), ClientError> {
        // The terminal has shown the lines.
        self.screen.typed("", true)?;
        let why = format!("Nothing of it was taken: {count} lines came at once, and this takes one line.");
        self.screen.say("", &why)?;
        self.ask()
    }

    /// Carries out the person's decision on a permission.
    fn consented(&mut self, consented: ConsentReply) -> Result<(), ClientError> {
        let values = match consented {
            ConsentReply::Say(lines) => {
                return Ok(lines.iter().try_for_each(|line| self.screen.say("", line))?);
            }
            ConsentReply::Option(option) => vec![option],
            ConsentReply::Denied => Vec::new(),
        };
        let Some(draft) = self.draft.take() else { return Ok(()) };
        let result = draft.request.result(&[values]);
        self.decide(draft.request, &result)
    }

    /// Takes a line as the answer to the current field; `None` rejects the question. Returns the reason if the line
    /// does not fit.
    fn take(&mut self, line: Option<String>) -> Result<Option<String>, ClientError> {
        let Some(mut draft) = self.draft.take() else { return Ok(None) };
        let fields = &draft.request.form.fields;
        let count = fields.len();
        let typed = match line {
            Some(line) => fields[draft.answers.len()].typed(&line),
            None => Ok(TypedLine::Skip),
        };
        match typed {
            Ok(TypedLine::Values(values)) => draft.answers.push(values),
            Ok(TypedLine::Nothing) if count > 1 && fields[draft.answers.len()].required => {
                self.draft = Some(draft);
                return Ok(Some("an answer is required here; skip rejects the question".to_owned()));
            }
            Ok(TypedLine::Nothing) if count > 1 => draft.answers.push(Vec::new()),
            Ok(TypedLine::Nothing | TypedLine::Skip) => draft.answers = vec![Vec::new(); count],
            Err(why) => {
                self.draft = Some(draft);
                return Ok(Some(why));
            }
        }
        if draft.answers.len() < count {
            self.draft = Some(draft);
            return Ok(None);
        }
        let result = draft.request.result(&draft.answers);
        self.decide(draft.request, &result)?;
        Ok(None)
    }
}

impl<W: Write> Conversation<W> {
    /// Handles a line of the peer. Returns the response if the line is one.
    pub(super) fn handle(&mut self, line: &[u8]) -> Result<Option<OwnResponse>, ClientError> {
        if self.settings.wire {
            self.screen.wire(&format!("{} → client", self.settings.peer), line)?;
        }
        match RpcMessage::read(line) {
            Ok(RpcMessage::Response { id, outcome }) => return Ok(Some((id.number(), outcome))),
            Ok(RpcMessage::Notification { method, params }) => match method.as_str() {
                "session/update" => self.show_update(&params)?,
                "$/cancel_request" => self.drop_question(&params)?,
                _ => {}
            },
            Ok(RpcMessage::Request { id, method, params }) if !self.mind(&id, &method, &params)? => {
                match AgentRequest::read(self.settings.kind, &id, &method, &params) {
                    Some(Ok(mut request)) => {
                        request.describe(&self.tool_calls);
                        self.take_request(request)?;
                    }
                    Some(Err(error)) => {
                        self.complain(format!("{method}: {}", error.message))?;
                        self.send(&message::refusal(&id, &error)?)?;
                    }
                    None => self.refuse_unknown(&id, &method)?,
                }
            }
            Ok(RpcMessage::Request { .. }) => {}
            Err((_, error)) => self.complain(format!("an invalid line: {}", error.message))?,
        }
        Ok(None)
    }

    /// Replies to a request in the client's manner. Returns whether that was all: otherwise the person is asked.
    fn mind(&mut self, id: &Id, method: &str, params: &Params) -> Result<bool, ClientError> {
        let Some(manner) = self.settings.manner else { return Ok(false) };
        if manner == Manner::OneIdOnce {
            if self.taken_ids.contains(id) {
                return Err(ClientError::SameId(id.text().to_owned()));
            }
            self.taken_ids.push(id.clone());
        }
        let said = match manner.reply(method, &params.read().unwrap_or_default()) {
            MannerReply::AskPerson => return Ok(false),
            MannerReply::Nothing => "no reply".to_owned(),
            MannerReply::Result(result) => {
                self.settle(message::response(id, &result)?)?;
                result.to_string()
            }
            MannerReply::Error(error) => {
                self.settle(message::refusal(id, &error)?)?;
                format!("error {}", error.code)
            }
        };
        self.screen.say("", &format!("{method}, by itself: {said}"))?;
        Ok(true)
    }

    /// Shows a protocol violation of the peer. The turn continues, but the conversation fails at its end.
    fn complain(&mut self, what: String) -> Result<(), ClientError> {
        self.screen.say("", &what)?;
        self.violation.get_or_insert(what);
        Ok(())
    }

    /// Queues a request. A client with a prepared answer to permissions answers permission requests at once, and an
    /// approving client answers every request at once.
    fn take_request(&mut self, request: AgentRequest) -> Result<(), ClientError> {
        if let Some(answer) = self.settings.permission.clone()
            && request.asks_permission()
        {
            return self.answer_permission(request, &answer);
        }
        if self.settings.kind != ClientKind::Approve {
            self.waiting.push_back(request);
            return Ok(());
        }
        let title = request.form.fields.first().map(|field| field.question.as_str()).unwrap_or_default();
        let (what, result) = match request.first_allowed() {
            Some(option) => ("Approved", permission::selected(option)),
            None => ("Nothing to approve", permission::cancelled()),
        };
        self.screen.say("", &format!("{what}: {title}"))?;
        self.settle(message::response(&request.id, result)?)
    }

    /// Gives the prepared answer to a permission.
    fn answer_permission(
        &mut self,
        request: AgentRequest,
        answer: &PermissionAnswer,
    ) -> Result<(), ClientError> {
        if let Some(field) = request.form.fields.first() {
            self.screen.ask(field, (1, 1))?;
        }
        let option = match answer {
            PermissionAnswer::Ignore => return Ok(self.screen.say("you", "(no reply)")?),
            PermissionAnswer::Cancel => None,
            other => Some(request.offered(other).ok_or_else(|| ClientError::NotOffered(not_offered(other)))?),
        };
        self.screen.say("you", option.unwrap_or("(cancelled)"))?;
        let result = option.map_or_else(permission::cancelled, permission::selected);
        self.decide(request, &result)
    }

    /// Answers a request whose method this kind of client does not know.
    fn refuse_unknown(&mut self, id: &Id, method: &str) -> Result<(), ClientError> {
        if self.settings.kind == ClientKind::Silent {
            return Ok(self.screen.say("", &format!("{method} is not known here: no reply."))?);
        }
        let error = RpcError::method_not_found(method);
        self.screen.say("", &format!("{method} is not known here: error {}.", error.code))?;
        self.settle(message::refusal(id, &error)?)
    }

    fn show_update(&mut self, params: &Params) -> Result<(), ClientError> {
        let Ok(SessionUpdate { update }) = params.read() else { return Ok(()) };
        if update.kind.starts_with("tool_call") {
            self.tool_calls.update(params.read().unwrap_or_default());
        }
        if update.kind == "agent_message_chunk" {
            self.screen
                .say_chunk(update.message_id.as_deref(), update.content["text"].as_str().unwrap_or("…"))?;
        }
        Ok(())
    }

    /// Drops a question that the agent withdrew or that was answered elsewhere.
    fn drop_question(&mut self, params: &Params) -> Result<(), ClientError> {
        let Ok(CancelRequest { request_id }) = params.read() else { return Ok(()) };
        let current = self.draft.take_if(|draft| draft.request.id == request_id).map(|draft| draft.request);
        let waiting = self.waiting.iter().position(|request| request.id == request_id);
        let waiting = waiting.and_then(|at| self.waiting.remove(at));
        let held = self.held.iter().position(|held| held.request.id == request_id);
        let held = held.map(|at| self.held.remove(at).request);
        let Some(request) = current.or(waiting).or(held) else { return Ok(()) };
        self.screen.say("", "The question was withdrawn, or answered elsewhere.")?;
        // A request needs a response even if it was cancelled.
        let line = match request.cancelled() {
            Ok(result) => message::response(&request.id, result)?,
            Err(error) => message::refusal(&request.id, &error)?,
        };
        self.settle(line)
    }
}

fn not_offered(answer: &PermissionAnswer) -> String {
    match answer {
        PermissionAnswer::Option(id) => format!("there is no option “{id}”"),
        PermissionAnswer::Allow => "there is no option that allows once".to_owned(),
        PermissionAnswer::Always => "there is no option that allows always".to_owned(),
        _ => "there is no option that rejects".to_owned(),
    }
}

#[derive(Deserialize)]
struct SessionUpdate {
    update: Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(rename = "sessionUpdate")]
    kind: String,
    message_id: Option<String>,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Id,
}
