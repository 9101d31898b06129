//! The request that asks for a permission: a template of its dialect, in the version of the protocol that the client
//! speaks. The response is left to `request.rs`.

use std::io;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::request::{MockPermission, PermissionRequest};
use crate::{MockDialect, behaviour::Act, template::fill};

/// The requests of a dialect, in version 1 of the protocol.
#[derive(Deserialize)]
struct Requests {
    fetch: PermissionRequest,
    command: PermissionRequest,
    plan: PermissionRequest,
    edit: PermissionRequest,
}

impl MockPermission {
    /// Returns the request, in the version of the protocol that the client speaks.
    pub(crate) fn request(&self) -> io::Result<PermissionRequest> {
        let (path, call) = (self.path(), self.tool_call());
        let values = [("session", &*self.session), ("cwd", &*self.cwd), ("path", &*path), ("call", &*call)];
        let requests: Requests = serde_json::from_str(&fill(self.dialect.spec().permissions, &values))?;
        let request = match self.act {
            Act::Fetch => requests.fetch,
            Act::Command => requests.command,
            Act::Plan => requests.plan,
            Act::Edit => requests.edit,
        };
        Ok(if self.version_2 { in_version_2(self, request) } else { request })
    }
}

/// The command, which deletes files, and what it is for.
const COMMAND: &str = "rm -rf build";
const DESCRIPTION: &str = "Remove the build folder";

/// Returns the request of version 1 as one of version 2.
fn in_version_2(permission: &MockPermission, mut request: PermissionRequest) -> PermissionRequest {
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
        // In version 2, the same update begins and changes a tool call.
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

/// Replaces the two texts of each diff with changes and a patch, as version 2 has them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permissions::request::FILE;

    #[test]
    fn every_dialect_has_a_template_for_every_act() {
        for dialect in MockDialect::ALL {
            for (act, version_2) in [
                (Act::Fetch, false),
                (Act::Command, false),
                (Act::Plan, false),
                (Act::Edit, false),
                (Act::Edit, true),
            ] {
                let permission = MockPermission {
                    session: "s\"1".to_owned(),
                    cwd: "/a \"b\"/".to_owned(),
                    number: 7,
                    dialect,
                    act,
                    version_2,
                    together: false,
                };
                let request = permission.request().expect("a template");
                let texts = format!("{request:?}");
                assert!(!texts.contains("{{") && texts.contains("7"), "{dialect:?} {act:?}: {texts}");
                assert_eq!(request.params["sessionId"], "s\"1", "{dialect:?} {act:?}");
                assert!(request.params["options"].as_array().is_some_and(|options| options.len() > 1));
                assert!(act != Act::Edit || texts.contains(FILE), "{dialect:?}: {texts}");
            }
        }
    }
}
