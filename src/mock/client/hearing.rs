//! What the peer says to the client: updates, requests, cancellations, and lines that nobody can understand.
//! What is asked waits here until `conversation.rs` has it answered.

use std::io::Write;

use serde::Deserialize;
use serde_json::Value;

use super::{
    asked::Asked,
    conversation::{Conversation, Response},
    error::ClientError,
    permission,
};
use crate::{
    cli::Tier,
    mock::message::{self, Id, Message, Params, RpcError},
};

impl<W: Write> Conversation<W> {
    /// Handles a line of the peer, unless it is a response.
    pub(super) fn handle(&mut self, line: &[u8]) -> Result<Option<Response>, ClientError> {
        if self.settings.wire {
            self.screen.wire(&format!("{} → client", self.settings.peer), line)?;
        }
        match Message::read(line) {
            Ok(Message::Response { id, outcome }) => return Ok(Some((id.number(), outcome))),
            Ok(Message::Notification { method, params }) => match method.as_str() {
                "session/update" => self.show_update(&params)?,
                "$/cancel_request" => self.forget_question(&params)?,
                _ => {}
            },
            Ok(Message::Request { id, method, params }) => {
                match Asked::read(self.settings.tier, &id, &method, &params) {
                    Some(Ok(asked)) => self.hear(asked)?,
                    Some(Err(error)) => {
                        self.complain(format!("{method}: {}", error.message))?;
                        self.send(&message::refusal(&id, &error)?)?;
                    }
                    None => self.hear_unknown(&id, &method)?,
                }
            }
            Err((_, error)) => self.complain(format!("a line that is no message: {}", error.message))?,
        }
        Ok(None)
    }

    /// What the peer should not have said. The turn goes on.
    fn complain(&mut self, what: String) -> Result<(), ClientError> {
        self.screen.say("", &what)?;
        self.wrong.get_or_insert(what);
        Ok(())
    }

    /// A client that approves of everything answers at once; others do when it is its turn.
    fn hear(&mut self, asked: Asked) -> Result<(), ClientError> {
        if self.settings.tier != Tier::Approve {
            self.waiting.push_back(asked);
            return Ok(());
        }
        let title = asked.form.fields.first().map(|field| field.question.as_str()).unwrap_or_default();
        let (what, result) = match asked.first_allowed() {
            Some(option) => ("Approved", permission::selected(option)),
            None => ("Nothing to approve", permission::cancelled()),
        };
        self.screen.say("", &format!("{what}: {title}"))?;
        self.settle(message::response(&asked.id, result)?)
    }

    fn hear_unknown(&mut self, id: &Id, method: &str) -> Result<(), ClientError> {
        if self.settings.tier == Tier::Silent {
            return Ok(self.screen.say("", &format!("{method} is not known here: no reply."))?);
        }
        let error = RpcError::method_not_found(method);
        self.screen.say("", &format!("{method} is not known here: error {}.", error.code))?;
        self.settle(message::refusal(id, &error)?)
    }

    fn show_update(&mut self, params: &Params) -> Result<(), ClientError> {
        let Ok(SessionUpdate { update }) = params.read() else { return Ok(()) };
        if update.kind == "agent_message_chunk" {
            self.screen
                .say_piece(update.message_id.as_deref(), update.content["text"].as_str().unwrap_or("…"))?;
        }
        Ok(())
    }

    /// The agent took a question back, or somebody else has answered it.
    fn forget_question(&mut self, params: &Params) -> Result<(), ClientError> {
        let Ok(CancelRequest { request_id }) = params.read() else { return Ok(()) };
        let asking = self.asking.take_if(|asking| asking.asked.id == request_id).map(|asking| asking.asked);
        let waiting = self.waiting.iter().position(|asked| asked.id == request_id);
        let waiting = waiting.and_then(|at| self.waiting.remove(at));
        let Some(asked) = asking.or(waiting) else { return Ok(()) };
        self.screen.say("", "The question was taken back, or answered elsewhere.")?;
        let line = match asked.cancelled() {
            Ok(result) => message::response(&asked.id, result)?,
            Err(error) => message::refusal(&asked.id, &error)?,
        };
        self.settle(line)
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
