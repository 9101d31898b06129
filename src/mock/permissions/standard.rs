//! Permissions in the plain shape of the standard, for agents whose own shape is not known.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, diff, option, text},
    scene,
};
use crate::mock::behaviour::Act;

/// The spelling of the options.
#[derive(Clone, Copy, Debug)]
pub(super) enum Options {
    /// As in the examples of the standard.
    Hyphenated,
    /// oh-my-pi's four.
    Underscored,
}

/// Asks with the whole tool call, which an update has announced.
pub(super) fn ask(permission: &MockPermission, options: Options) -> Asked {
    let (title, fields) = tool_call(permission);
    let params = json!({
        "sessionId": permission.session, "toolCall": fields, "options": spelled(options, permission.act),
    });
    Asked { updates: vec![announced(fields)], params, title }
}

/// Asks with the ID of the tool call alone: what it does stands only in the update that announced it.
pub(super) fn ask_by_id(permission: &MockPermission) -> Asked {
    let mut asked = ask(permission, Options::Hyphenated);
    asked.params["toolCall"] = json!({ "toolCallId": permission.tool_call() });
    asked
}

fn tool_call(permission: &MockPermission) -> (String, Value) {
    let path = permission.path();
    let (title, kind, input, content, locations) = match permission.act {
        Act::Fetch => (
            format!("Fetch {}", scene::URL),
            "fetch",
            json!({ "url": scene::URL }),
            text(scene::PURPOSE),
            json!([]),
        ),
        Act::Command => (
            scene::COMMAND.to_owned(),
            "execute",
            json!({ "command": scene::COMMAND, "cwd": permission.cwd }),
            text(scene::DESCRIPTION),
            json!([]),
        ),
        Act::Plan => (
            "Carry out this plan?".to_owned(),
            "switch_mode",
            json!({ "plan": scene::PLAN }),
            text(scene::PLAN),
            json!([]),
        ),
        Act::Edit => (
            format!("Edit {}", scene::FILE),
            "edit",
            json!({ "path": path }),
            diff(&path, scene::OLD_FILE, scene::NEW_FILE),
            json!([{ "path": path, "line": scene::LINE }]),
        ),
    };
    let fields = json!({
        "toolCallId": permission.tool_call(), "title": title, "kind": kind, "status": "pending",
        "content": [content], "locations": locations, "rawInput": input,
    });
    (title, fields)
}

fn spelled(options: Options, act: Act) -> Vec<Value> {
    match (options, act) {
        (Options::Hyphenated, Act::Plan) => vec![
            option("allow-once", "Yes", "allow_once"),
            option("reject-once", "No, keep planning", "reject_once"),
        ],
        (Options::Hyphenated, _) => vec![
            option("allow-once", "Allow once", "allow_once"),
            option("allow-always", "Allow always", "allow_always"),
            option("reject-once", "Reject", "reject_once"),
        ],
        (Options::Underscored, _) => vec![
            option("allow_once", "Allow once", "allow_once"),
            option("allow_always", "Always allow", "allow_always"),
            option("reject_once", "Reject", "reject_once"),
            option("reject_always", "Always reject", "reject_always"),
        ],
    }
}
