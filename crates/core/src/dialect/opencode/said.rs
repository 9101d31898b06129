//! What opencode says and does, by the events about its messages and their parts. A message has the role of who wrote it,
//! and its parts have none: only those of messages that are known to be the agent's are its words.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::request::Happened;
use crate::{
    dialect::doing::{ToolInput, title},
    limits,
    question::{Said, SaidCall},
};

/// The messages of the agent, and the parts of them that were told.
#[derive(Debug, Default)]
pub struct Voice {
    messages: Known,
    told: Known,
}

/// The last IDs of a kind.
#[derive(Debug, Default)]
struct Known(VecDeque<String>);

impl Known {
    fn has(&self, id: &str) -> bool {
        self.0.iter().any(|known| known == id)
    }

    fn add(&mut self, id: &str) {
        if id.len() > limits::CONTEXT_CALL_ID || self.has(id) {
            return;
        }
        if self.0.len() >= limits::CONTEXT_MESSAGES {
            self.0.pop_front();
        }
        self.0.push_back(id.to_owned());
    }
}

#[derive(Deserialize)]
struct MessageUpdated<'a> {
    #[serde(borrow)]
    info: MessageInfo<'a>,
}

#[derive(Deserialize)]
struct MessageInfo<'a> {
    #[serde(borrow)]
    id: std::borrow::Cow<'a, str>,
    role: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
struct PartUpdated<'a> {
    #[serde(borrow)]
    part: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    id: String,
    #[serde(rename = "sessionID")]
    session: String,
    #[serde(rename = "messageID")]
    message: String,
    #[serde(flatten)]
    kind: PartKind,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum PartKind {
    Text {
        text: String,
        #[serde(default)]
        synthetic: bool,
        time: Option<PartTime>,
    },
    Tool {
        #[serde(rename = "callID")]
        call: String,
        tool: String,
        state: Box<State>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct PartTime {
    end: Option<f64>,
}

#[derive(Deserialize)]
struct State {
    status: String,
    title: Option<String>,
    #[serde(default)]
    input: ToolInput,
}

impl Voice {
    /// Tells what opencode says in an event. A text is told once it is complete: until then each event has all of it.
    pub fn said(&mut self, event: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let Some(Happened { kind, properties: Some(properties), .. }) = Happened::read(event) else { return };
        match &*kind {
            "message.updated" => {
                let updated = serde_json::from_str::<MessageUpdated<'_>>(properties.get());
                if let Ok(MessageUpdated { info }) = updated
                    && info.role == "assistant"
                {
                    self.messages.add(&info.id);
                }
            }
            "message.part.updated" => {
                let part = serde_json::from_str::<PartUpdated<'_>>(properties.get());
                // A part of a kind that is not known here is no reason to say nothing of the next one.
                if let Some(part) = part.ok().and_then(|it| serde_json::from_str(it.part.get()).ok()) {
                    self.part(part, tell);
                }
            }
            _ => {}
        }
    }

    fn part(&mut self, Part { id, session, message, kind }: Part, tell: &mut dyn FnMut(Said<'_>)) {
        match kind {
            PartKind::Text { text, synthetic: false, time: Some(PartTime { end: Some(_) }) }
                if self.messages.has(&message) && !self.told.has(&id) =>
            {
                self.told.add(&id);
                tell(Said::Words { session: session.into(), message: Some(id.into()), text: text.into() });
            }
            // The dialog itself is no act that led to it.
            PartKind::Tool { tool, .. } if tool == "question" => {}
            PartKind::Tool { call, tool, state } => {
                let State { status, title: named, input } = *state;
                let status = match &*status {
                    "running" => "in_progress",
                    "error" => "failed",
                    status => status,
                };
                tell(Said::Call(SaidCall {
                    session: session.into(),
                    id: call.into(),
                    status: Some(status.into()),
                    kind: Some(kind_of(&tool).into()),
                    title: Some(title(&tool, named, input).into()),
                    ..SaidCall::default()
                }));
            }
            _ => {}
        }
    }
}

/// Returns the kind of a tool as ACP names it.
fn kind_of(tool: &str) -> &'static str {
    match tool {
        "bash" => "execute",
        "edit" | "write" | "patch" | "multiedit" | "apply_patch" => "edit",
        "read" => "read",
        "grep" | "glob" | "list" | "codesearch" => "search",
        "webfetch" | "websearch" => "fetch",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// Returns what the events say, in words.
    fn told(events: &[Json]) -> Vec<String> {
        let (mut voice, mut told) = (Voice::default(), Vec::new());
        for event in events {
            voice.said(event.to_string().as_bytes(), &mut |said| {
                told.push(match said {
                    Said::Words { session, text, .. } => format!("{session}: {text}"),
                    Said::Pause(session) => format!("{session} pauses"),
                    Said::Call(call) => {
                        let part =
                            |part: Option<std::borrow::Cow<'_, str>>| part.unwrap_or_default().into_owned();
                        let [title, kind, status] = [call.title, call.kind, call.status].map(part);
                        format!("{} {} {title} | {kind} {status}", call.session, call.id)
                    }
                });
            });
        }
        told
    }

    fn message(id: &str, role: &str) -> Json {
        json!({ "type": "message.updated", "properties": { "sessionID": "s", "info": { "id": id, "role": role } } })
    }

    fn part(message: &str, members: Json) -> Json {
        let mut part = json!({ "id": "p", "sessionID": "s", "messageID": message });
        part.as_object_mut().expect("an object").extend(members.as_object().cloned().unwrap_or_default());
        json!({ "type": "message.part.updated", "properties": { "sessionID": "s", "part": part, "time": 1 } })
    }

    fn text(id: &str, message: &str, text: &str, time: Json) -> Json {
        part(message, json!({ "id": id, "type": "text", "text": text, "time": time }))
    }

    fn tool(tool: &str, state: Json) -> Json {
        part("m", json!({ "type": "tool", "callID": "c", "tool": tool, "state": state }))
    }

    #[test]
    fn only_complete_texts_of_the_agent_are_its_words() {
        let (begun, done) = (json!({ "start": 1 }), json!({ "start": 1, "end": 2 }));
        let mut synthetic = text("p4", "m", "a reminder", done.clone());
        synthetic["properties"]["part"]["synthetic"] = true.into();
        let events = [
            text("p0", "m", "of a message that nobody knows", done.clone()),
            message("u", "user"),
            text("p1", "u", "my token is hunter2", done.clone()),
            message("m", "assistant"),
            text("p2", "m", "I lo", begun),
            text("p2", "m", "I look.", done.clone()),
            text("p2", "m", "I look.", done.clone()),
            synthetic,
            part("m", json!({ "type": "reasoning", "text": "hm", "time": done })),
            part("m", json!({ "type": "later", "text": 7 })),
            json!({ "type": "message.part.delta", "properties": { "sessionID": "s", "delta": "x" } }),
            json!({ "directory": "/p", "payload": text("p3", "m", "So:", done) }),
        ];
        assert_eq!(told(&events), ["s: I look.", "s: So:"]);
    }

    #[test]
    fn tools_are_calls() {
        for (event, expected) in [
            (
                tool("bash", json!({ "status": "pending", "input": {}, "raw": "" })),
                "s c bash | execute pending",
            ),
            (
                tool(
                    "bash",
                    json!({ "status": "running", "input": { "command": "ls -l", "description": "lists" } }),
                ),
                "s c ls -l | execute in_progress",
            ),
            (
                tool(
                    "read",
                    json!({ "status": "completed", "title": "src/a.rs", "output": "x", "input": { "filePath": "/p/src/a.rs" } }),
                ),
                "s c read src/a.rs | read completed",
            ),
            (
                tool("grep", json!({ "status": "error", "error": "x", "input": { "pattern": "fn" } })),
                "s c grep fn | search failed",
            ),
            (
                tool("db_query", json!({ "status": "running", "input": { "a": 1 } })),
                "s c db_query | other in_progress",
            ),
        ] {
            assert_eq!(told(std::slice::from_ref(&event)), [expected], "{event}");
        }
        assert_eq!(told(&[tool("question", json!({ "status": "running", "input": {} }))]), [""; 0]);
        assert_eq!(told(&[json!(7), tool("bash", json!(7))]), [""; 0]);
    }

    #[test]
    fn a_flood_of_messages_takes_bounded_memory() {
        let mut voice = Voice::default();
        for number in 0..1000 {
            let (id, long) = (format!("m{number}"), "x".repeat(1000));
            for id in [&id, &long] {
                voice.said(message(id, "assistant").to_string().as_bytes(), &mut |_| {});
            }
        }
        assert_eq!(voice.messages.0.len(), limits::CONTEXT_MESSAGES);
        assert!(voice.messages.has("m999") && !voice.messages.has("m0"));
    }
}
