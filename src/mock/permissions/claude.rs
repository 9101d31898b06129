//! Permissions of claude-agent-acp 0.100.0: the whole tool call, after an update with the same.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, diff, option, text},
    scene,
};
use crate::mock::behaviour::Act;

/// A tool call in Claude's words.
struct ToolCall {
    name: &'static str,
    title: String,
    kind: &'static str,
    input: Value,
    content: Value,
}

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let call = tool_call(permission);
    let mut fields = json!({
        "toolCallId": permission.tool_call(), "name": call.name, "status": "pending",
        "rawInput": call.input, "title": call.title, "kind": call.kind, "content": [call.content],
    });
    if permission.act == Act::Edit {
        fields["locations"] = json!([{ "path": permission.path() }]);
    }
    let mut update = announced(fields.clone());
    update["_meta"] = json!({ "claudeCode": { "toolName": call.name } });
    let title = if permission.act == Act::Plan { "Ready to code?".to_owned() } else { call.title };
    let params =
        json!({ "toolCall": fields, "options": options(permission.act), "sessionId": permission.session });
    Asked { updates: vec![update], params, title }
}

fn tool_call(permission: &MockPermission) -> ToolCall {
    match permission.act {
        Act::Fetch => ToolCall {
            name: "WebFetch",
            title: format!("Fetch {}", scene::URL),
            kind: "fetch",
            input: json!({ "url": scene::URL, "prompt": scene::PURPOSE }),
            content: text(scene::PURPOSE),
        },
        Act::Command => ToolCall {
            name: "Bash",
            title: scene::COMMAND.to_owned(),
            kind: "execute",
            input: json!({ "command": scene::COMMAND, "description": scene::DESCRIPTION }),
            content: text(scene::DESCRIPTION),
        },
        Act::Plan => ToolCall {
            name: "ExitPlanMode",
            title: "Approve Plan".to_owned(),
            kind: "switch_mode",
            input: json!({ "plan": scene::PLAN }),
            content: text(scene::PLAN),
        },
        Act::Edit => ToolCall {
            name: "Edit",
            title: format!("Edit {}", scene::FILE),
            kind: "edit",
            input: json!({
                "file_path": permission.path(), "old_string": scene::OLD_LINE, "new_string": scene::NEW_LINE,
            }),
            content: diff(&permission.path(), scene::OLD_LINE, scene::NEW_LINE),
        },
    }
}

fn options(act: Act) -> Vec<Value> {
    let always = |name: &str| option("allow-with-updates", name, "allow_always");
    let once = option("allow-once", "Yes", "allow_once");
    let reject = option("reject", "No", "reject_once");
    match act {
        Act::Fetch => {
            let name = format!("Yes, and don't ask again for {}", scene::HOST);
            vec![once, always(&name), reject]
        }
        // Claude Code withholds the lasting option from commands that delete.
        Act::Command => vec![once, reject],
        Act::Plan => vec![
            option("exit-plan-default", "Yes, manually approve edits", "allow_once"),
            option("exit-plan-clear-auto", "Yes, clear context and use auto mode", "allow_always"),
            option("exit-plan-auto", "Yes, and use auto mode", "allow_always"),
            option("exit-plan-bypass", "Yes, and bypass permissions", "allow_always"),
            option("reject", "No, keep planning", "reject_once"),
        ],
        Act::Edit => vec![once, always("Yes, allow all edits during this session"), reject],
    }
}
