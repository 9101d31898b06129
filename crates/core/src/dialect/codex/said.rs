//! What Codex says and does, by the notifications of its app-server.

use serde::Deserialize;

use crate::{
    question::{Said, SaidCall},
    wire::{
        envelope::{Envelope, Message, peek},
        scan::{self, member},
    },
};

const DELTA: &str = "item/agentMessage/delta";
const ITEM_STARTED: &str = "item/started";
const ITEM_COMPLETED: &str = "item/completed";
/// The turn ends, or another one begins.
const TURNS: [&str; 2] = ["turn/started", "turn/completed"];

/// An item that calls a tool, by the parts that say what it does.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Item {
    CommandExecution {
        id: String,
        command: String,
    },
    FileChange {
        id: String,
        #[serde(default)]
        changes: Vec<Change>,
    },
    McpToolCall {
        id: String,
        #[serde(default)]
        server: String,
        tool: String,
    },
    WebSearch {
        id: String,
        #[serde(default)]
        query: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Change {
    path: String,
}

/// Tells what Codex says in a line.
pub fn said(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
    if let Some(said) = read(line) {
        tell(said);
    }
}

/// Tells what Codex says in a line to a client that does not take messages piece by piece, but each when it is complete.
pub fn said_whole(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
    if let Some(said) = whole(line).or_else(|| read(line)) {
        tell(said);
    }
}

fn whole(line: &[u8]) -> Option<Said<'_>> {
    let Envelope::Call(method) = peek(line) else { return None };
    let message = Message::read_prefix(line).filter(|_| method.is(ITEM_COMPLETED))?;
    let item = message.param("item")?;
    let text = member(item, "text").filter(|_| has_type(item, "agentMessage"))?;
    let session = scan::text(message.param("threadId")?)?;
    Some(Said::Words { session, message: member(item, "id").and_then(scan::text), text: scan::text(text)? })
}

fn has_type(item: &[u8], kind: &str) -> bool {
    member(item, "type").and_then(scan::text).is_some_and(|it| it == kind)
}

fn read(line: &[u8]) -> Option<Said<'_>> {
    let Envelope::Call(method) = peek(line) else { return None };
    let matters = [DELTA, ITEM_STARTED, ITEM_COMPLETED].iter().chain(&TURNS).any(|known| method.is(known));
    let message = Message::read_prefix(line).filter(|_| matters)?;
    let session = scan::text(message.param("threadId")?)?;
    match message.method.as_deref()? {
        DELTA => {
            let text = scan::text(message.param("delta")?)?;
            Some(Said::Words { session, message: message.param("itemId").and_then(scan::text), text })
        }
        ITEM_STARTED | ITEM_COMPLETED => {
            let item = message.param("item")?;
            let (id, title, kind) = describe(serde_json::from_slice(item).ok()?)?;
            let status = match scan::text(member(item, "status")?)? {
                status if status == "inProgress" => "in_progress".into(),
                status => status,
            };
            Some(Said::Call(SaidCall {
                session,
                id: id.into(),
                title: Some(title.into()),
                kind: Some(kind.into()),
                status: Some(status),
                ..SaidCall::default()
            }))
        }
        _ => Some(Said::Pause(session)),
    }
}

/// Returns the ID of a call, what it does, and the kind of its tool as ACP names it.
fn describe(item: Item) -> Option<(String, String, &'static str)> {
    match item {
        Item::CommandExecution { id, command } => Some((id, command, "execute")),
        Item::FileChange { id, changes } => {
            let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
            let title = if paths.is_empty() {
                "Change files".to_owned()
            } else {
                format!("Change {}", paths.join(", "))
            };
            Some((id, title, "edit"))
        }
        Item::McpToolCall { id, server, tool } if server.is_empty() => Some((id, tool, "other")),
        Item::McpToolCall { id, server, tool } => {
            Some((id, format!("{tool}, of the MCP server {server}"), "other"))
        }
        Item::WebSearch { id, query } => Some((id, format!("Search the web for {query}"), "fetch")),
        Item::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a line says, in words.
    fn told(line: &str) -> String {
        in_words(read(line.as_bytes()))
    }

    fn in_words(said: Option<Said<'_>>) -> String {
        match said {
            Some(Said::Words { session, message, text }) => format!("{session} {message:?} {text}"),
            Some(Said::Pause(session)) => format!("{session} pauses"),
            Some(Said::Call(call)) => {
                let part =
                    |part: &Option<std::borrow::Cow<'_, str>>| part.as_deref().unwrap_or("-").to_owned();
                let [title, kind, status] = [&call.title, &call.kind, &call.status].map(part);
                format!("{} {} {title} {kind} {status}", call.session, call.id)
            }
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn complete_messages_are_words_to_who_takes_no_pieces() {
        for (item, expected) in [
            (r#"{"type":"agentMessage","id":"i","text":"a \"b\""}"#, r#"t Some("i") a "b""#),
            (r#"{"type":"userMessage","id":"i","text":"token hunter2"}"#, "nothing"),
            (r#"{"type":"reasoning","id":"i","text":"hm"}"#, "nothing"),
            (r#"{"type":"commandExecution","id":"c","command":"ls","status":"completed"}"#, "nothing"),
        ] {
            let line = format!(r#"{{"method":"item/completed","params":{{"threadId":"t","item":{item}}}}}"#);
            assert_eq!(in_words(whole(line.as_bytes())), expected, "{item}");
        }
        let mut all = Vec::new();
        let call = r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"commandExecution","id":"c","command":"ls","status":"completed"}}}"#;
        said_whole(call.as_bytes(), &mut |said| all.push(in_words(Some(said))));
        assert_eq!(all, ["t c ls execute completed"]);
    }

    #[test]
    fn deltas_are_words_and_items_are_calls() {
        let item = |method: &str, item: &str| {
            format!(r#"{{"method":"{method}","params":{{"threadId":"t","item":{item}}}}}"#)
        };
        for (line, expected) in [
            (
                r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"i","delta":"hi"}}"#
                    .to_owned(),
                r#"t Some("i") hi"#,
            ),
            (
                r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","delta":"hi"}}"#.to_owned(),
                "t None hi",
            ),
            (r#"{"method":"turn/completed","params":{"threadId":"t"}}"#.to_owned(), "t pauses"),
            (
                r#"{"method":"item/reasoning/textDelta","params":{"threadId":"t","delta":"hm"}}"#.to_owned(),
                "nothing",
            ),
            (
                item(
                    "item/started",
                    r#"{"type":"commandExecution","id":"c","command":"ls -l","status":"inProgress"}"#,
                ),
                "t c ls -l execute in_progress",
            ),
            (
                item(
                    "item/completed",
                    r#"{"type":"commandExecution","id":"c","command":"ls","status":"declined","exitCode":1}"#,
                ),
                "t c ls execute declined",
            ),
            (
                item(
                    "item/started",
                    r#"{"type":"fileChange","id":"f","changes":[{"path":"/a"},{"path":"/b"}],"status":"inProgress"}"#,
                ),
                "t f Change /a, /b edit in_progress",
            ),
            (
                item("item/started", r#"{"type":"fileChange","id":"f","changes":[],"status":"inProgress"}"#),
                "t f Change files edit in_progress",
            ),
            (
                item(
                    "item/started",
                    r#"{"type":"mcpToolCall","id":"m","server":"db","tool":"query","status":"inProgress"}"#,
                ),
                "t m query, of the MCP server db other in_progress",
            ),
            (item("item/completed", r#"{"type":"agentMessage","id":"i","text":"hi"}"#), "nothing"),
            (item("item/started", r#"{"type":"commandExecution","id":7}"#), "nothing"),
            ("{".to_owned(), "nothing"),
        ] {
            assert_eq!(told(&line), expected, "{line}");
        }
    }
}
