//! Permissions of Grok Build, as clients recorded them. The first option has the kind `allow_once` and allows
//! everything from now on.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, option},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let path = permission.path();
    let (title, kind, input) = match permission.act {
        Act::Fetch => {
            (format!("Fetch `{}`", scene::URL), "fetch", json!({ "variant": "WebFetch", "url": scene::URL }))
        }
        Act::Command => (
            format!("Execute `{}`", scene::COMMAND),
            "execute",
            json!({
                "variant": "Bash", "command": scene::COMMAND, "description": scene::DESCRIPTION,
            }),
        ),
        Act::Plan => (
            "Exit plan mode".to_owned(),
            "switch_mode",
            json!({ "variant": "ExitPlanMode", "plan": scene::PLAN }),
        ),
        Act::Edit => (
            format!("Write `{path}`"),
            "edit",
            json!({ "variant": "Write", "file_path": path, "content": scene::NEW_FILE }),
        ),
    };
    let fields = json!({
        "toolCallId": permission.tool_call(), "title": title, "kind": kind, "status": "pending",
        "rawInput": input,
    });
    let params = json!({
        "sessionId": permission.session, "toolCall": fields, "options": options(permission.act),
    });
    Asked { updates: vec![announced(fields)], params, title }
}

fn options(act: Act) -> Vec<Value> {
    let everything = "Yes, and don't ask again for anything (always-approve mode)";
    let mut options = vec![option("enable-always-approve", everything, "allow_once")];
    if act == Act::Command {
        let name = format!("Always allow: {}", scene::COMMAND);
        options.push(option("allow-always-command", &name, "allow_always"));
    }
    options.push(option("allow-once", "Yes, proceed", "allow_once"));
    options.push(option("reject-once", "No, and tell Grok what to do differently", "reject_once"));
    if act == Act::Command {
        let name = format!("Never allow: {}", scene::COMMAND);
        options.push(option("reject-always-command", &name, "reject_always"));
    }
    options
}
