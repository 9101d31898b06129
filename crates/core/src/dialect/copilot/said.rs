//! What Copilot says and does, by the events of its sessions. The words of agents that it started itself are not told: they
//! go to Copilot, and to no person.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::doing::{ToolInput, title},
    limits,
    question::{Said, SaidCall},
};

/// The tool calls that the person asked for: they are no acts of the agent.
#[derive(Debug, Default)]
pub struct Voice {
    requested: VecDeque<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    agent_id: Option<String>,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageData {
    content: String,
    message_id: Option<String>,
    parent_tool_call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolData<'a> {
    tool_call_id: String,
    tool_name: Option<String>,
    mcp_server_name: Option<String>,
    mcp_tool_name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    success: Option<bool>,
}

impl Voice {
    /// Returns what Copilot says in an event of this session.
    pub fn said(&mut self, session: &str, event: &str) -> Option<Said<'static>> {
        // Most events are pieces of texts.
        let Event { kind, agent_id, data } = serde_json::from_str(event).ok()?;
        match &*kind {
            "assistant.message" if agent_id.is_none() => message(session, data.get()),
            "tool.user_requested" => {
                let ToolData { tool_call_id, .. } = serde_json::from_str(data.get()).ok()?;
                if tool_call_id.len() <= limits::CONTEXT_CALL_ID {
                    self.requested.push_back(tool_call_id);
                }
                if self.requested.len() > limits::CONTEXT_MESSAGES {
                    self.requested.pop_front();
                }
                None
            }
            "tool.execution_start" | "tool.execution_complete" => {
                let data: ToolData<'_> = serde_json::from_str(data.get()).ok()?;
                (!self.requested.contains(&data.tool_call_id)).then(|| call(session, data))
            }
            "user.message" => Some(Said::Pause(session.to_owned().into())),
            _ => None,
        }
    }
}

fn message(session: &str, data: &str) -> Option<Said<'static>> {
    let MessageData { content, message_id, parent_tool_call_id } = serde_json::from_str(data).ok()?;
    let is_said = parent_tool_call_id.is_none() && !content.trim().is_empty();
    is_said.then(|| Said::Words {
        session: session.to_owned().into(),
        message: message_id.map(Into::into),
        text: content.into(),
    })
}

fn call(session: &str, data: ToolData<'_>) -> Said<'static> {
    let status = match data.success {
        None => "in_progress",
        Some(true) => "completed",
        Some(false) => "failed",
    };
    let input = data.arguments.and_then(|it| serde_json::from_str::<ToolInput>(it.get()).ok());
    let named = data.tool_name.map(|tool| match (data.mcp_tool_name, data.mcp_server_name) {
        (Some(tool), Some(server)) => format!("{tool}, of the MCP server {server}"),
        _ => title(&tool, None, input.unwrap_or_default()),
    });
    Said::Call(SaidCall {
        session: session.to_owned().into(),
        id: data.tool_call_id.into(),
        title: named.map(Into::into),
        status: Some(status.into()),
        ..SaidCall::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// Returns what the events say, in words.
    fn told(events: &[(&str, Json)]) -> Vec<String> {
        let mut voice = Voice::default();
        let mut say = |(kind, data): &(&str, Json)| {
            let said = voice.said("s", &json!({ "id": "e", "type": kind, "data": data }).to_string())?;
            Some(match said {
                Said::Words { message, text, .. } => format!("{}: {text}", message.unwrap_or_default()),
                Said::Pause(_) => "pause".to_owned(),
                Said::Call(call) => {
                    let [title, status] = [call.title, call.status].map(Option::unwrap_or_default);
                    format!("{} {title} | {status}", call.id)
                }
            })
        };
        events.iter().filter_map(&mut say).collect()
    }

    #[test]
    fn messages_are_words_and_tools_are_calls() {
        let events = [
            ("user.message", json!({ "content": "my token is hunter2" })),
            ("assistant.message_delta", json!({ "messageId": "m", "deltaContent": "I" })),
            ("assistant.message", json!({ "messageId": "m", "content": "I look.", "toolRequests": [] })),
            ("assistant.message", json!({ "messageId": "n", "content": " " })),
            ("assistant.message", json!({ "messageId": "o", "content": "aside", "parentToolCallId": "t" })),
            ("assistant.reasoning", json!({ "content": "hm" })),
            (
                "tool.execution_start",
                json!({ "toolCallId": "a", "toolName": "bash", "arguments": { "command": "ls -l", "description": "d" } }),
            ),
            (
                "tool.execution_complete",
                json!({ "toolCallId": "a", "success": true, "result": { "content": "x" } }),
            ),
            (
                "tool.execution_start",
                json!({ "toolCallId": "b", "toolName": "view", "arguments": { "path": "/p/a.rs" } }),
            ),
            ("tool.execution_complete", json!({ "toolCallId": "b", "success": false, "error": {} })),
            (
                "tool.execution_start",
                json!({ "toolCallId": "c", "toolName": "db-query", "mcpServerName": "db", "mcpToolName": "query", "arguments": "x" }),
            ),
            (
                "tool.user_requested",
                json!({ "toolCallId": "d", "toolName": "bash", "arguments": { "command": "echo hunter2" } }),
            ),
            (
                "tool.execution_start",
                json!({ "toolCallId": "d", "toolName": "bash", "arguments": { "command": "echo hunter2" } }),
            ),
            ("tool.execution_start", json!(7)),
        ];
        assert_eq!(
            told(&events),
            [
                "pause",
                "m: I look.",
                "a ls -l | in_progress",
                "a  | completed",
                "b view /p/a.rs | in_progress",
                "b  | failed",
                "c query, of the MCP server db | in_progress",
            ]
        );
        let event = json!({ "type": "assistant.message", "agentId": "x", "data": { "content": "aside" } });
        assert_eq!(Voice::default().said("s", &event.to_string()), None);
    }

    #[test]
    fn a_flood_of_requests_takes_bounded_memory() {
        let requested = |id: String| ("tool.user_requested", json!({ "toolCallId": id }));
        let mut voice = Voice::default();
        for number in 0..1000 {
            let (kind, data) = requested(format!("c{number}{}", "x".repeat(number % 200)));
            voice.said("s", &json!({ "type": kind, "data": data }).to_string());
        }
        assert_eq!(voice.requested.len(), limits::CONTEXT_MESSAGES);
    }
}
