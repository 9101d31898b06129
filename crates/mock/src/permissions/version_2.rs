//! A permission in version 2 of the protocol: `title`, `description` and `subject` in the place of `toolCall`.
//! The words of each dialect are left to its own file.

use serde_json::{Map, Value, json};

use super::{MockPermission, request::PermissionRequest};
use crate::{MockDialect, behaviour::Act};

/// The command, which deletes files, and what it is for.
const COMMAND: &str = "rm -rf build";
const DESCRIPTION: &str = "Remove the build folder";

/// Returns the request of version 1 as one of version 2.
pub(super) fn request(permission: &MockPermission, mut request: PermissionRequest) -> PermissionRequest {
    let mut params = Map::new();
    params.insert("sessionId".to_owned(), json!(permission.session));
    params.insert("title".to_owned(), json!(request.title));
    if permission.act == Act::Command && !is_adapter(permission.dialect) {
        params.insert("description".to_owned(), json!(DESCRIPTION));
    }
    let tool_call = request.params["toolCall"].take();
    params.insert("subject".to_owned(), subject(permission, tool_call));
    params.insert("options".to_owned(), request.params["options"].take());
    request.params = Value::Object(params);
    for update in &mut request.updates {
        // Version 2 has one update, which begins a tool call and changes it.
        update["sessionUpdate"] = json!("tool_call_update");
        rewrite_diffs(update);
    }
    request
}

/// Returns what the permission is for. The two adapters with a released version 2 always name the tool call.
fn subject(permission: &MockPermission, mut tool_call: Value) -> Value {
    if permission.act == Act::Command && !is_adapter(permission.dialect) {
        return json!({
            "type": "command", "command": COMMAND, "cwd": permission.cwd,
            "toolCallId": permission.tool_call(),
        });
    }
    rewrite_diffs(&mut tool_call);
    json!({ "type": "tool_call", "toolCall": tool_call })
}

fn is_adapter(dialect: MockDialect) -> bool {
    matches!(dialect, MockDialect::Claude | MockDialect::Codex | MockDialect::CodexAsync)
}

/// Puts changes and a patch in the place of the two texts of each diff.
fn rewrite_diffs(tool_call: &mut Value) {
    let Some(blocks) = tool_call["content"].as_array_mut() else { return };
    for block in blocks.iter_mut().filter(|block| block["type"] == "diff") {
        let path = block["path"].as_str().unwrap_or_default();
        let patch = patch(
            path,
            block["oldText"].as_str().unwrap_or_default(),
            block["newText"].as_str().unwrap_or_default(),
        );
        *block = json!({
            "type": "diff",
            "changes": [{ "operation": "modify", "path": path, "fileType": "text" }],
            "patch": { "format": "git_patch", "text": patch },
        });
    }
}

/// Returns a patch that replaces every line.
fn patch(path: &str, old: &str, new: &str) -> String {
    let marked =
        |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    format!(
        "diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1,{} +1,{} @@\n{}{}",
        old.lines().count(),
        new.lines().count(),
        marked('-', old),
        marked('+', new)
    )
}
