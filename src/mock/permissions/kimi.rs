//! Permissions of kimi-code 2.1.0: the name of a tool and a sentence. The input stands only in the update that began
//! the tool call.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, diff, option, text},
    scene,
};
use crate::mock::behaviour::Act;

/// A tool call in Kimi's words.
struct ToolCall {
    name: &'static str,
    kind: &'static str,
    action: String,
    input: Value,
    /// The block before the sentence.
    shown: Option<Value>,
}

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let call = tool_call(permission);
    let id = permission.tool_call();
    let arguments = text(&call.input.to_string());
    let mut started = json!({
        "toolCallId": id, "title": call.action, "kind": call.kind, "status": "in_progress",
        "rawInput": call.input,
    });
    if permission.act == Act::Edit {
        started["locations"] = json!([{ "path": permission.path() }]);
    }
    let blocks = call.shown.clone().into_iter().chain([arguments]);
    started["content"] = blocks.collect();
    let sentence = text(&format!("Requesting approval to {}", call.action));
    let content: Vec<Value> = call.shown.into_iter().chain([sentence]).collect();
    let params = json!({
        "sessionId": permission.session, "options": options(permission.act),
        "toolCall": { "toolCallId": id, "title": call.name, "content": content },
    });
    Asked { updates: vec![announced(started)], params, title: format!("Approve {}?", call.name) }
}

fn tool_call(permission: &MockPermission) -> ToolCall {
    let path = permission.path();
    match permission.act {
        Act::Fetch => ToolCall {
            name: "WebFetch",
            kind: "fetch",
            action: format!("Fetching: {}", scene::URL),
            input: json!({ "url": scene::URL }),
            shown: None,
        },
        Act::Command => ToolCall {
            name: "Bash",
            kind: "execute",
            action: format!("Running: {}", scene::COMMAND),
            input: json!({ "command": scene::COMMAND, "description": scene::DESCRIPTION }),
            shown: None,
        },
        Act::Plan => ToolCall {
            name: "ExitPlanMode",
            kind: "other",
            action: "Presenting plan and exiting plan mode".to_owned(),
            input: json!({}),
            shown: Some(text(&format!("Plan saved to: {}/plan.md\n\n{}", permission.cwd, scene::PLAN))),
        },
        Act::Edit => ToolCall {
            name: "Edit",
            kind: "edit",
            action: format!("Editing {path}"),
            input: json!({ "path": path, "old_string": scene::OLD_LINE, "new_string": scene::NEW_LINE }),
            shown: Some(diff(&path, scene::OLD_LINE, scene::NEW_LINE)),
        },
    }
}

fn options(act: Act) -> Vec<Value> {
    if act == Act::Plan {
        return vec![
            option("plan_approve", "Approve", "allow_once"),
            option("plan_revise", "Revise", "reject_once"),
            option("plan_reject_and_exit", "Reject and Exit", "reject_once"),
        ];
    }
    vec![
        option("approve_once", "Approve once", "allow_once"),
        option("approve_always", "Approve for this session", "allow_always"),
        option("reject", "Reject", "reject_once"),
    ]
}
