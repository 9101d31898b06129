//! The hint in the chat, which says that a question waits that the client does not show, and which command answers it.
//! Keeps a hint until the agent has finished its message. Which questions get a hint is left to `announce.rs`.
//!
//! Source: `SessionUpdate` of the ACP schema, `agent_message_chunk` and `notice`. `messageId` keeps the hint apart from
//! the agent's own messages.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    limits,
    question::{Purpose, Question, Role, form::options_with_role},
    wire::{envelope::Message, line, method::SESSION_UPDATE, scan},
};

/// The hints that wait for the agent to finish a message.
#[derive(Debug, Default)]
pub(super) struct Hints(Vec<Hint>);

/// A hint about a question that does not block the agent, which may be in the middle of a message.
#[derive(Debug)]
struct Hint {
    /// The number of the question.
    number: u64,
    session: String,
    /// When the hint is sent if no message of the agent begins before that; `None` once the hint waits for the end of a
    /// message.
    due: Option<Duration>,
    /// The ID of the message whose chunks have arrived since then.
    message: Option<String>,
}

impl Hints {
    /// Returns whether a hint waits. Updates must then be intercepted.
    pub(super) fn wait(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns when the next hint is due, if one is.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.0.iter().filter_map(|hint| hint.due).min()
    }

    /// Adds the hint about the question with this number.
    pub(super) fn put(&mut self, number: u64, session: String, now: Duration) {
        let due = Some(now.saturating_add(limits::HINT));
        self.0.push(Hint { number, session, due, message: None });
    }

    /// Drops the hint of a question that is settled.
    pub(super) fn drop(&mut self, number: u64) {
        self.0.retain(|hint| hint.number != number);
    }

    /// Takes out the hints that may be sent before this update of the agent: those of its session, unless the update
    /// continues a message.
    pub(super) fn before(&mut self, update: &Message<'_>) -> Vec<u64> {
        let Some(session) = update.session() else { return Vec::new() };
        let chunk = update.param("update").and_then(message_of_chunk);
        self.take(|hint| {
            if hint.session != session {
                return false;
            }
            let continues = match (&hint.message, &chunk) {
                // The question may have come in the middle of this message.
                (None, Some(_)) => true,
                (Some(message), Some(chunk)) => message == chunk,
                (_, None) => false,
            };
            if continues {
                // The hint needs no deadline from now on: another update or the end of the turn follows the message.
                (hint.due, hint.message) = (None, chunk.clone());
            }
            !continues
        })
    }

    /// Takes out the hints of a session whose turn has ended.
    pub(super) fn at_end(&mut self, session: &str) -> Vec<u64> {
        self.take(|hint| hint.session == session)
    }

    /// Takes out the hints that are due.
    pub(super) fn due(&mut self, now: Duration) -> Vec<u64> {
        self.take(|hint| hint.due.is_some_and(|due| due <= now))
    }

    fn take(&mut self, holds: impl FnMut(&mut Hint) -> bool) -> Vec<u64> {
        self.0.extract_if(.., holds).map(|hint| hint.number).collect()
    }
}

/// Returns the line that says in the chat that a question waits. `id` is the question's ID where other responders find
/// it, and `number` is the question's number, which makes a message of its own.
pub(super) fn write(question: &Question, id: Option<&str>, as_notice: bool, number: u64) -> Bytes {
    let update = update(&text(question, id), as_notice, number);
    let session = question.session.as_deref().unwrap_or_default();
    line::notification(SESSION_UPDATE, &json!({ "sessionId": session, "update": update }))
}

/// Returns what a person is told whose answer came too late.
pub(super) fn too_late(question: &Question, why: &str) -> String {
    let asks = cut(&question.summary());
    format!("askbridge: your answer to “{asks}” came too late and was not used: {why}")
}

/// Returns the update that says this in the chat. `number` makes it a message of its own.
pub(super) fn update(text: &str, as_notice: bool, number: u64) -> Value {
    if as_notice { notice(text) } else { chunk(text, number) }
}

/// Returns the ID of the message that an update continues or begins, if the update is a chunk with such an ID.
fn message_of_chunk(update: &[u8]) -> Option<String> {
    let kind = scan::text(scan::member(update, "sessionUpdate")?)?;
    let message = scan::text(scan::member(update, "messageId")?)?;
    (kind == "agent_message_chunk" && message.len() <= limits::ID).then(|| message.into_owned())
}

/// Returns the hint, in one line. `id` is the question's ID where other responders find it.
fn text(question: &Question, id: Option<&str>) -> String {
    let asks = cut(&question.summary());
    match id {
        Some(id) if question.purpose == Purpose::Permission => {
            let commands = commands(question, id);
            format!(
                "askbridge: a permission waits: “{asks}”. Decide in a terminal: askbridge next shows it and asks you \
                 (or {commands})"
            )
        }
        Some(id) => format!(
            "askbridge: the question “{asks}” waits. Answer it in a terminal: askbridge answer {id} shows it \
             and asks you"
        ),
        None => {
            format!("askbridge: the question “{asks}” cannot be shown here. Reply in the chat instead.")
        }
    }
}

/// Returns the commands that decide a permission. Options of other kinds than the standard's can only be named.
fn commands(question: &Question, id: &str) -> String {
    let has = |role| options_with_role(question, role).next().is_some();
    let deny = format!("askbridge reject {id}");
    match has(Role::AllowOnce) {
        true => format!("askbridge allow {id}, {deny}"),
        false => format!("askbridge answer {id}, {deny}"),
    }
}

/// Returns a text on one line, and not longer than a line of a chat should be.
pub(super) fn cut(text: &str) -> String {
    let line: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(limits::HINT_TEXT) {
        Some((end, _)) => words[..end].trim_end().to_owned() + "…",
        None => words,
    }
}

fn notice(text: &str) -> Value {
    json!({ "sessionUpdate": "notice", "severity": "info", "title": text })
}

/// Returns the hint as a separate message. Clients that do not know `messageId` append it to the message before it,
/// where the blank lines set it apart.
fn chunk(text: &str, number: u64) -> Value {
    json!({
        "sessionUpdate": "agent_message_chunk",
        "messageId": format!("askbridge-hint-{number}"),
        "content": { "type": "text", "text": format!("\n\n{text}\n\n") },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        limits,
        question::{Origin, Question},
    };

    #[test]
    fn the_text_of_a_hint_is_one_short_line() {
        let message = format!("a\n\u{1b}[2J  b\t{}", "x".repeat(1000));
        let question = Question { message, ..Question::new(Origin::Elicitation, "q", Vec::new()) };
        let text = text(&question, Some("k3-1"));
        assert!(text.contains("“a [2J b xxx") && text.contains("x…”"), "{text}");
        assert!(!text.contains(char::is_control) && text.chars().count() < limits::HINT_TEXT + 200);
    }
}
