//! Permissions of opencode 1.18.33, whose tool call is announced before its input is known.
//! It has no permission for a plan, which is asked for in the shape of a tool without a kind.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, diff, option},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let path = permission.path();
    let id = permission.tool_call();
    let (tool, kind, title, input, metadata) = match permission.act {
        Act::Fetch => {
            let page = json!({ "url": scene::URL, "format": "markdown" });
            ("webfetch", "fetch", scene::URL.to_owned(), page.clone(), page)
        }
        Act::Command => (
            "bash",
            "execute",
            "bash".to_owned(),
            json!({ "command": scene::COMMAND, "description": scene::DESCRIPTION }),
            json!({ "command": scene::COMMAND }),
        ),
        Act::Plan => {
            ("plan_exit", "other", "plan_exit".to_owned(), json!({}), json!({ "plan": scene::PLAN }))
        }
        Act::Edit => (
            "edit",
            "edit",
            path.clone(),
            json!({ "filePath": path, "oldString": scene::OLD_LINE, "newString": scene::NEW_LINE }),
            json!({ "filepath": path, "diff": patch(&path) }),
        ),
    };
    let locations = if permission.act == Act::Edit { json!([{ "path": path }]) } else { json!([]) };
    let pending = announced(json!({
        "toolCallId": id, "title": tool, "kind": kind, "status": "pending", "locations": [], "rawInput": {},
    }));
    let running = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress", "kind": kind,
        "title": tool, "locations": locations, "rawInput": input,
    });
    let mut tool_call = json!({
        "toolCallId": id, "title": title, "kind": kind, "status": "pending", "locations": locations,
        "rawInput": metadata,
    });
    if permission.act == Act::Edit {
        tool_call["content"] = json!([diff(&path, scene::OLD_FILE, scene::NEW_FILE)]);
    }
    let params = json!({ "sessionId": permission.session, "toolCall": tool_call, "options": options() });
    Asked { updates: vec![pending, running], params, title }
}

fn patch(path: &str) -> String {
    format!(
        "Index: {path}\n===================================================================\n--- {path}\n\
         +++ {path}\n@@ -1,3 +1,3 @@\n fn main() {{\n-{}\n+{}\n }}\n",
        scene::OLD_LINE,
        scene::NEW_LINE
    )
}

fn options() -> [Value; 3] {
    [
        option("once", "Allow once", "allow_once"),
        option("always", "Always allow", "allow_always"),
        option("reject", "Reject", "reject_once"),
    ]
}
