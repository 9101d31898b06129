//! What Claude Code says and does, by the lines of its output and of its transcript, which have the same messages. What
//! its subagents say is left out: they speak to Claude Code, not to its person.

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::{permission::read_subject, tool_call};
use crate::{
    question::{Said, SaidCall},
    wire::scan::text,
};

/// The lines that pass most often: pieces of messages that come as a whole afterwards.
const PIECE: &[u8] = br#"{"type":"stream_event""#;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: &'a RawValue,
    /// The session, as the output names it.
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    /// The session, as the transcript names it.
    #[serde(rename = "sessionId", borrow, default)]
    session: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    /// The call that the subagent of this message runs in.
    #[serde(default)]
    parent_tool_use_id: Option<Json>,
    #[serde(rename = "isSidechain", default)]
    is_sidechain: bool,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A part of a message.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Json,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

/// Tells what Claude Code says in a line.
pub fn said(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
    if line.starts_with(PIECE) {
        return;
    }
    let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { return };
    if line.is_sidechain || line.parent_tool_use_id.is_some() {
        return;
    }
    let is_own = match text(line.kind.get().as_bytes()).as_deref() {
        Some("assistant") => true,
        Some("user") => false,
        _ => return,
    };
    let session = line.session_id.or(line.session).and_then(|id| text(id.get().as_bytes()));
    let Some((session, content)) = session.zip(line.message.and_then(|message| message.content)) else {
        return;
    };
    // Each of these lines has whole messages.
    tell(Said::Pause(session.clone()));
    // What the person says is a text, or blocks that count for their results alone.
    for block in serde_json::from_str::<Vec<Block>>(content.get()).unwrap_or_default() {
        let session = session.clone();
        match block {
            Block::Text { text } if is_own => {
                tell(Said::Words { session: session.clone(), message: None, text: text.into() });
                tell(Said::Pause(session));
            }
            Block::ToolUse { id, name, input } if is_own => {
                let (title, kind) = describe(&name, &input);
                tell(Said::Call(SaidCall {
                    session,
                    id: id.into(),
                    begins: true,
                    title: Some(title.into()),
                    kind: kind.map(Into::into),
                    status: Some("in_progress".into()),
                }));
            }
            Block::ToolResult { tool_use_id, is_error } if !is_own => tell(Said::Call(SaidCall {
                session,
                id: tool_use_id.into(),
                status: Some(if is_error { "failed" } else { "completed" }.into()),
                ..SaidCall::default()
            })),
            _ => {}
        }
    }
}

/// Returns what a call does, in a few words, and the kind of its tool.
fn describe(tool: &str, input: &Json) -> (String, Option<String>) {
    let (known, _) = tool_call::known(tool);
    let (title, subject) = read_subject(known, input, "{}");
    let title = subject.command.clone().or(title).unwrap_or_else(|| tool.to_owned());
    (title, subject.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let mut told = Vec::new();
        said(line.as_bytes(), &mut |said| {
            told.push(match said {
                Said::Words { session, text, .. } => format!("{session}: {text}"),
                Said::Pause(_) => return,
                Said::Call(call) => {
                    let part =
                        |part: &Option<std::borrow::Cow<'_, str>>| part.as_deref().unwrap_or("-").to_owned();
                    let [title, kind, status] = [&call.title, &call.kind, &call.status].map(part);
                    format!("{} {title} ({kind}) {status}", call.id)
                }
            });
        });
        told.join("; ")
    }

    #[test]
    fn messages_and_calls_of_the_output_and_of_the_transcript_are_told() {
        let assistant = |more: &str, content: &str| {
            format!(r#"{{{more}"type":"assistant","message":{{"role":"assistant","content":{content}}}}}"#)
        };
        let of_output = r#""session_id":"s","parent_tool_use_id":null,"#;
        let of_transcript = r#""parentUuid":"u","isSidechain":false,"sessionId":"s","#;
        let call = |name: &str, input: &str| {
            format!(r#"[{{"type":"tool_use","id":"c","name":"{name}","input":{input}}}]"#)
        };
        for (line, expected) in [
            (assistant(of_output, r#"[{"type":"text","text":"Hi"}]"#), "s: Hi"),
            (assistant(of_transcript, r#"[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hi"}]"#), "s: Hi"),
            (assistant(of_output, &call("Bash", r#"{"command":"ls","description":"List"}"#)), "c ls (execute) in_progress"),
            (assistant(of_output, &call("run_shell_command", r#"{"command":"ls"}"#)), "c ls (execute) in_progress"),
            (assistant(of_output, &call("Read", r#"{"file_path":"/a"}"#)), "c Read /a (read) in_progress"),
            (assistant(of_output, &call("Read", "{}")), "c Read (read) in_progress"),
            (assistant(of_output, &call("mcp__db__query", "7")), "c query, of the MCP server db (other) in_progress"),
            (r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c"}]}}"#.to_owned(), "c - (-) completed"),
            (r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"no"}]}}"#.to_owned(), "c - (-) failed"),
            (r#"{"type":"user","session_id":"s","message":{"content":"Do it"}}"#.to_owned(), ""),
            (r#"{"type":"user","session_id":"s","message":{"content":[{"type":"text","text":"Do it"}]}}"#.to_owned(), ""),
            // A subagent speaks to Claude Code alone.
            (assistant(r#""session_id":"s","parent_tool_use_id":"p","#, r#"[{"type":"text","text":"Hi"}]"#), ""),
            (assistant(r#""isSidechain":true,"sessionId":"s","#, r#"[{"type":"text","text":"Hi"}]"#), ""),
            (assistant("", r#"[{"type":"text","text":"no session"}]"#), ""),
            (assistant(of_output, r#"[{"type":"text"}]"#), ""),
            (r#"{"type":"stream_event","session_id":"s","event":{"delta":{"text":"H"}}}"#.to_owned(), ""),
            (r#"{"type":"result","session_id":"s","result":"Hi"}"#.to_owned(), ""),
            ("{".to_owned(), ""),
        ] {
            assert_eq!(told(&line), expected, "{line}");
        }
    }
}
