//! A turn of the mock agent, from the prompt to its end, and the questions in it.
//! The shape of a question is left to `dialects`.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use serde::{Deserialize, Serialize};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    MockDialect,
    agent::{MockAgent, RequestFailure, complain},
    behaviour::{Behaviour, End},
    dialects::{MockQuestion, SEVERAL},
    message::{CANCELLED, INVALID_REQUEST, Id, Params, RpcError, read_param},
    session::{SessionUpdate, Turn, Update},
};

/// The most chunks of a streamed message.
const CHUNKS: usize = 3;

impl<W: Write> MockAgent<W> {
    /// Starts a turn, and ends it at once if it waits for nothing. Returns how the process ends, if the prompt ends it.
    pub(super) fn prompt(&mut self, id: &Id, params: &Params) -> Result<Option<End>, RequestFailure> {
        let Prompt { session_id: name, prompt } = params.read()?;
        let session = self.sessions.get_open(&name)?;
        if session.turn.is_some() {
            let error = format!("a turn is running already in {name}");
            return Err(RpcError::new(INVALID_REQUEST, error).into());
        }
        let text = text_of(&prompt)?;
        session.entitle(&text);
        self.messages += 1;
        for block in prompt {
            let message = format!("message-{}", self.messages);
            session.remember(Update { kind: "user_message_chunk", message, content: block });
        }
        let behaviour = Behaviour::of(&text);
        // `later` asks after the end of the turn, which `forever` would prevent.
        let forever = behaviour.forever && !behaviour.later;
        session.turn =
            Some(Turn { prompt: id.clone(), waits_for: BTreeSet::new(), forever, cancelled: false });
        Ok(self.act(&name, &behaviour, &text)?)
    }

    fn act(&mut self, session: &str, behaviour: &Behaviour, text: &str) -> io::Result<Option<End>> {
        self.outlives_stdin |= behaviour.outlive;
        if behaviour.stderr {
            complain("a line on stderr, as the prompt asked for");
        }
        if let Some(updates) = behaviour.flood {
            self.flood(session, updates)?;
        }
        if behaviour.is_echo() {
            self.stream(session, text)?;
        } else if behaviour.question {
            self.stream(session, "I have a question.")?;
        } else if !behaviour.acts.is_empty() {
            self.stream(session, "I need your permission.")?;
        } else {
            self.stream(session, "I do as I am told.")?;
        }
        if behaviour.later {
            self.end_turn(session)?;
        }
        if behaviour.question {
            self.ask(session, behaviour)?;
        }
        self.ask_permissions(session, behaviour)?;
        if behaviour.end.is_none() {
            self.end_turn(session)?;
        }
        Ok(behaviour.end)
    }

    /// Reports the response to a question, and ends the turn if it was the last one that the turn waited for.
    pub(super) fn answered(
        &mut self,
        id: u64,
        question: &MockQuestion,
        outcome: Result<&RawValue, &RpcError>,
    ) -> io::Result<()> {
        // A closed session gets no more updates.
        if self.sessions.get_open(&question.session).is_err() {
            return Ok(());
        }
        let response = question.read_response(outcome);
        if let Some(update) = question.conclusion(&response) {
            self.update(&question.session, &update)?;
        }
        self.say(&question.session, &question.report(&response))?;
        let fallback = question.fallback(&response).map(|question| self.put(question)).transpose()?;
        if let Some(turn) = self.sessions.turn_of(&question.session) {
            turn.waits_for.remove(&id);
            turn.waits_for.extend(fallback);
        }
        self.end_turn(&question.session)
    }

    /// Marks the turn as cancelled, and ends it unless it waits for its questions.
    pub(super) fn cancel_turn(&mut self, session: &str) -> io::Result<()> {
        self.withdraw_on_cancel(session)?;
        self.leave_permissions_on_cancel(session);
        let waits = self.waits_when_cancelled();
        if let Some(turn) = self.sessions.turn_of(session) {
            turn.cancelled = true;
            if !waits {
                // The protocol obliges the client to answer pending permissions as cancelled, so the turn waits for
                // these.
                turn.waits_for.retain(|id| self.permissions.contains_key(id));
            }
        }
        self.end_turn(session)
    }

    /// Returns whether a cancelled turn waits for the responses to its questions.
    ///
    /// A client that advertised the native dialect rejects the questions of a cancelled turn, and ACP obliges every
    /// client to answer a pending permission request as cancelled.
    fn waits_when_cancelled(&self) -> bool {
        match self.capabilities.effective_dialect(self.dialect) {
            MockDialect::Sandboxagent => self.capabilities.native,
            MockDialect::KimiPermission | MockDialect::Qwen | MockDialect::Pi => true,
            _ => false,
        }
    }

    /// Withdraws the questions of a cancelled or closed session, if the dialect's real agent does so.
    pub(super) fn withdraw_on_cancel(&mut self, session: &str) -> io::Result<()> {
        match self.dialect {
            MockDialect::Claude | MockDialect::Codex | MockDialect::CodexAsync => self.withdraw(session),
            _ => Ok(()),
        }
    }

    /// Withdraws the questions for which the turn waits, so that it waits for none.
    fn withdraw(&mut self, session: &str) -> io::Result<()> {
        let Some(turn) = self.sessions.turn_of(session) else { return Ok(()) };
        for question in std::mem::take(&mut turn.waits_for) {
            self.output.notify("$/cancel_request", json!({ "requestId": question }))?;
            self.questions.remove(&question);
            self.permissions.remove(&question);
            self.withdrawn.insert(question);
        }
        Ok(())
    }

    /// Answers a prompt that the client cancelled by its ID, and withdraws the questions of its turn.
    pub(super) fn cancel_prompt(&mut self, prompt: &Id) -> io::Result<()> {
        let Some(turn) = self.sessions.take_turn_of_prompt(prompt) else { return Ok(()) };
        for question in turn.waits_for {
            self.output.notify("$/cancel_request", json!({ "requestId": question }))?;
        }
        self.output.refuse(prompt, &RpcError::new(CANCELLED, "request cancelled"))
    }

    /// Ends the turn of the session, unless it waits for a question or a cancellation.
    pub(super) fn end_turn(&mut self, session: &str) -> io::Result<()> {
        let Ok(session) = self.sessions.get(session) else { return Ok(()) };
        let ended =
            session.turn.take_if(|turn| turn.waits_for.is_empty() && (turn.cancelled || !turn.forever));
        let Some(turn) = ended else { return Ok(()) };
        let reason = if turn.cancelled { "cancelled" } else { "end_turn" };
        self.output.respond(&turn.prompt, json!({ "stopReason": reason }))
    }

    fn ask(&mut self, session: &str, behaviour: &Behaviour) -> io::Result<()> {
        if let Some(obstacle) = self.capabilities.obstacle(self.dialect, behaviour.shape) {
            return self.say(session, obstacle);
        }
        let first = self.asked;
        let count = if behaviour.several { SEVERAL } else { 1 };
        for place in 1..=count {
            let id = self.put(MockQuestion {
                session: session.to_owned(),
                number: self.asked + 1,
                dialect: self.capabilities.effective_dialect(self.dialect),
                shape: behaviour.shape,
                place: behaviour.several.then_some(place),
            })?;
            if let Some(turn) = self.sessions.turn_of(session) {
                turn.waits_for.insert(id);
            }
        }
        if self.dialect == MockDialect::CodexAsync {
            self.say(session, "I go on working while you answer.")?;
        }
        match (behaviour.withdraw, self.dialect) {
            (false, _) => Ok(()),
            // Codex withdraws an asynchronous question at the end of the turn, and waits for no response.
            (true, MockDialect::CodexAsync) => self.withdraw(session),
            (true, _) => (first..self.asked)
                .try_for_each(|id| self.output.notify("$/cancel_request", json!({ "requestId": id }))),
        }
    }

    /// Sends the request that asks the question, and returns the ID of the request.
    fn put(&mut self, question: MockQuestion) -> io::Result<u64> {
        // Clients find the session of Cursor's question by the tool call of this update.
        if let Some(update) = question.announcement() {
            self.update(&question.session, &update)?;
        }
        let id = self.asked;
        self.asked += 1;
        let request = question.request()?;
        self.output.request(id, request.method, request.params)?;
        self.questions.insert(id, question);
        Ok(id)
    }

    /// Sends an update that is not part of the session's history.
    pub(super) fn update(&mut self, session: &str, update: &Value) -> io::Result<()> {
        self.output.notify("session/update", json!({ "sessionId": session, "update": update }))
    }

    /// Sends a message in one chunk.
    pub(super) fn say(&mut self, session: &str, text: &str) -> io::Result<()> {
        self.say_in_chunks(session, std::iter::once(text))
    }

    /// Sends a message in a few chunks, as a model does.
    fn stream(&mut self, session: &str, text: &str) -> io::Result<()> {
        self.say_in_chunks(session, chunks(text))
    }

    fn say_in_chunks<'a>(&mut self, name: &str, texts: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let Ok(session) = self.sessions.get_open(name) else { return Ok(()) };
        self.messages += 1;
        for text in texts {
            let update = agent_said(self.messages, text)?;
            self.output.notify("session/update", SessionUpdate { session_id: name, update: &update })?;
            session.remember(update);
        }
        Ok(())
    }

    /// Sends many chunks that are not part of the session's history.
    fn flood(&mut self, session: &str, updates: u32) -> io::Result<()> {
        self.messages += 1;
        for n in 1..=updates {
            let update = agent_said(self.messages, &format!("update {n}\n"))?;
            self.output.notify("session/update", SessionUpdate { session_id: session, update: &update })?;
        }
        Ok(())
    }
}

fn agent_said(message: u64, text: &str) -> io::Result<Update> {
    let content = to_raw_value(&Text { kind: "text", text })?;
    Ok(Update { kind: "agent_message_chunk", message: format!("message-{message}"), content })
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// Splits a text at spaces into a few chunks.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let least = text.len().div_ceil(CHUNKS);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let spaces = rest.match_indices(' ').map(|(at, _)| at + 1);
        let cut = spaces.into_iter().find(|&end| end >= least).unwrap_or(rest.len());
        let (chunk, tail) = rest.split_at(cut);
        rest = tail;
        Some(chunk)
    })
}

/// Returns the text of a prompt, with the type in brackets for a block that is not text.
fn text_of(prompt: &[Box<RawValue>]) -> Result<String, RpcError> {
    let mut text = String::new();
    for block in prompt {
        let block: Block = read_param(block.get())?;
        if !text.is_empty() {
            text.push('\n');
        }
        match block.text {
            Some(block) => text.push_str(&block),
            None => text.push_str(&format!("[{}]", block.kind)),
        }
    }
    Ok(text)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    session_id: String,
    prompt: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn chunks_are_few_and_add_up_to_the_text() {
        for text in
            ["", " ", "word", "two words", "a b c d e f g h i j k l", "süß und 日本 語", "  two  spaces  "]
        {
            let cut: Vec<&str> = chunks(text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.len() <= super::CHUNKS && cut.iter().all(|chunk| !chunk.is_empty()), "{cut:?}");
        }
        assert_eq!(chunks("I have a question.").collect::<Vec<_>>(), ["I have ", "a question."]);
    }
}
