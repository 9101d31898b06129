//! Handles the peer's messages: updates, requests, cancellations and invalid lines.
//! Answering the requests is left to `conversation.rs`.

use std::io::Write;

use serde::Deserialize;
use serde_json::Value;

use super::{
    conversation::{Conversation, OwnResponse},
    error::ClientError,
    permission,
    request::AgentRequest,
};
use crate::mock::{
    ClientKind, PermissionAnswer,
    message::{self, Id, Params, RpcError, RpcMessage},
};

impl<W: Write> Conversation<W> {
    /// Handles a line of the peer. Returns it if it is a response.
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
            Ok(RpcMessage::Request { id, method, params }) => {
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
            Err((_, error)) => self.complain(format!("an invalid line: {}", error.message))?,
        }
        Ok(None)
    }

    /// Shows and keeps a mistake of the peer. The turn goes on.
    fn complain(&mut self, what: String) -> Result<(), ClientError> {
        self.screen.say("", &what)?;
        self.violation.get_or_insert(what);
        Ok(())
    }

    /// Queues a request; an approving client answers it at once, and one with an answer to permissions those.
    fn take_request(&mut self, request: AgentRequest) -> Result<(), ClientError> {
        if let Some(answer) = self.settings.permission.clone()
            && request.asks_permission()
        {
            return self.answer_permission(&request, &answer);
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
        request: &AgentRequest,
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
        self.settle(message::response(&request.id, result)?)
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
        let Some(request) = current.or(waiting) else { return Ok(()) };
        self.screen.say("", "The question was withdrawn, or answered elsewhere.")?;
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
