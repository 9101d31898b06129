//! Permissions of Cursor's `agent acp`, as several clients recorded them: a command stands between backticks in the
//! title, and as raw input only in the update before. Cursor asks for commands and MCP tools; the shape for a plan and
//! for an edit is made up of the same parts.

use serde_json::json;

use super::{
    MockPermission,
    parts::{Asked, announced, diff, option, text},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let path = permission.path();
    let (title, kind, input, content) = match permission.act {
        Act::Fetch => {
            let input = json!({ "url": scene::URL });
            let block = text(&format!("```json\n{input:#}\n```"));
            ("docs-fetch: fetch".to_owned(), "other", input, block)
        }
        Act::Command => (
            format!("`{}`", scene::COMMAND),
            "execute",
            json!({ "command": scene::COMMAND }),
            text(&format!("Not in allowlist: {}", scene::PROGRAM)),
        ),
        Act::Plan => ("Create Plan".to_owned(), "other", json!({}), text(scene::PLAN)),
        Act::Edit => (
            format!("Edit `{path}`"),
            "edit",
            json!({ "path": path }),
            diff(&path, scene::OLD_FILE, scene::NEW_FILE),
        ),
    };
    let id = permission.tool_call();
    let update = announced(json!({
        "toolCallId": id, "title": title, "kind": kind, "status": "pending", "rawInput": input,
    }));
    let params = json!({
        "sessionId": permission.session,
        "toolCall": {
            "toolCallId": id, "title": title, "kind": kind, "status": "pending", "content": [content],
        },
        "options": [
            option("allow-once", "Allow once", "allow_once"),
            option("allow-always", "Allow always", "allow_always"),
            option("reject-once", "Reject", "reject_once"),
        ],
    });
    Asked { updates: vec![update], params, title }
}
