//! Reads the requests of the agent as questions, with what is known of the agent and of its tool calls. Remembers those
//! that seem to ask a person and cannot be read: they are forwarded unchanged, and if the client has no answer either, the
//! chat says what was asked. Nobody answers them by a guess, which the agent could read as anything. Hands what the agent
//! says in an update to what is heard of it.

use std::time::Duration;

use serde_json::json;

use super::{
    core::Core,
    hint,
    tool_calls::CallUpdate,
    unread::{self, UnreadRequest},
};
use crate::{
    dialect::{
        self, AgentQuestion, ReplyFormat, elicitation,
        permission::{self, PermissionReply},
    },
    engine::{Action, Line, Peer},
    limits,
    question::Question,
    wire::{envelope::Message, id::RequestId, line, method::SESSION_UPDATE, scan},
};

impl Core {
    /// Reads a request as a question, with what is known of its agent and of its tool call.
    pub(super) fn read(
        &self,
        method: &str,
        params: &[u8],
        fallback_id: &str,
    ) -> Result<Option<AgentQuestion>, String> {
        let Some(mut asked) = dialect::read(method, params, fallback_id)? else { return Ok(None) };
        if self.takes_own_text && matches!(asked.reply_format, ReplyFormat::Elicitation(_)) {
            elicitation::request::take_own_text(&mut asked.question);
        }
        // Its options look like answers, but its tool call may be about an act.
        let is_of_one_kind = asked.reply_format == ReplyFormat::Permission(PermissionReply::OneKind);
        if is_of_one_kind && self.is_about_an_act(&asked.question) {
            let read = permission::read_as_permission(params, fallback_id);
            return Ok(read.map(|(question, reply)| AgentQuestion {
                question,
                reply_format: ReplyFormat::Permission(reply),
            }));
        }
        Ok(Some(asked))
    }

    /// Returns whether an earlier update of a question's tool call is about an act.
    fn is_about_an_act(&self, question: &Question) -> bool {
        let call = question.session.as_deref().zip(question.tool_call.as_deref());
        call.is_some_and(|(session, id)| self.tool_calls.updates(session, id).any(permission::acts))
    }

    /// Remembers a request that is forwarded to the client, if it seems to ask a person.
    pub(super) fn note_unread(&mut self, method: &str, id: &str, params: &[u8]) {
        self.unread.take(id);
        if !method.contains('/')
            || !unread::seems_to_ask(|ending| method.ends_with(ending))
            || id.len() > limits::ID
        {
            return;
        }
        let session = scan::member(params, "sessionId").and_then(scan::text).map(|id| id.into_owned());
        let session = session.or_else(|| self.turns.only_session().map(str::to_owned));
        let Some((session, asks)) = session.zip(unread::text(params)) else { return };
        if session.len() <= limits::SESSION {
            self.unread.put(UnreadRequest { id: RequestId::new(id), session, asks: hint::cut(&asks) });
        }
    }

    /// Hears what the agent says in an update that was intercepted.
    pub(super) fn hear(&mut self, line: &Line, update: Option<&CallUpdate<'_>>, now: Duration) {
        match update {
            // The copy of a short line is cheaper than what it says, which may never be asked for.
            Some(update) if !line.whole || line.bytes.len() > limits::HEARD_TAIL => {
                if let Some(said) = update.said() {
                    self.base.heard.call(&said, now);
                }
            }
            _ if line.whole => self.base.heard.hear(&line.bytes, now),
            _ => {}
        }
    }

    /// Says in the chat what was asked, if the client's response to such a request is none.
    pub(super) fn unread_response(&mut self, id: &str, message: &Message<'_>) {
        let Some(UnreadRequest { session, asks, .. }) = self.unread.take(id) else { return };
        let is_none =
            message.failed() || message.result.is_some_and(|result| matches!(result, b"null" | b"{}"));
        if !is_none || !self.config.chat_hint {
            return;
        }
        let text = format!(
            "askbridge: the agent asked “{asks}” in a way that neither this client nor askbridge knows: nobody could \
             answer. Reply in the chat instead."
        );
        let number = self.next_number();
        let update = hint::update(&text, self.takes_notices(), number);
        let line = line::notification(SESSION_UPDATE, &json!({ "sessionId": session, "update": update }));
        self.base.actions.push(Action::Send(Peer::Client, line));
    }
}
