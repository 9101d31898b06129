//! Permissions of codex-acp 2.6.0. The change of a file stands only in the update that began its tool call.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, announced, option, text},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let id = permission.tool_call();
    let (updates, tool_call, title) = match permission.act {
        Act::Fetch => (Vec::new(), network(permission, &id), "Grant permissions?"),
        Act::Command => (vec![command_started(permission, &id)], command(permission, &id), "Run command?"),
        Act::Plan => (Vec::new(), plan(&id), "Implement this plan?"),
        Act::Edit => (vec![edit_started(permission, &id)], edit(permission, &id), "Make edits?"),
    };
    let params = json!({
        "sessionId": permission.session, "toolCall": tool_call, "options": options(permission.act),
    });
    Asked { updates, params, title: title.to_owned() }
}

fn network(permission: &MockPermission, id: &str) -> Value {
    json!({
        "toolCallId": id, "name": "request_permissions", "kind": "other", "status": "pending",
        "title": "Additional sandbox permissions",
        "rawInput": { "permissions": { "network": { "enabled": true } }, "cwd": permission.cwd },
        "content": [text("Enable network access")],
    })
}

fn command_started(permission: &MockPermission, id: &str) -> Value {
    announced(json!({
        "toolCallId": id, "name": "exec_command", "kind": "execute", "title": scene::COMMAND,
        "status": "in_progress", "content": [{ "type": "terminal", "terminalId": id }],
        "rawInput": { "command": scene::COMMAND, "cwd": permission.cwd },
        "_meta": { "terminal_info": { "cwd": permission.cwd, "terminal_id": id } },
    }))
}

fn command(permission: &MockPermission, id: &str) -> Value {
    json!({
        "toolCallId": id, "name": "exec_command", "title": scene::COMMAND,
        "rawInput": { "command": scene::COMMAND, "cwd": permission.cwd },
        "kind": "execute", "status": "pending",
    })
}

fn plan(id: &str) -> Value {
    json!({
        "toolCallId": id, "kind": "switch_mode", "status": "pending", "title": "Implement this plan?",
        "rawInput": { "plan": scene::PLAN },
    })
}

fn edit_started(permission: &MockPermission, id: &str) -> Value {
    announced(json!({
        "toolCallId": id, "kind": "edit", "title": "Editing files", "status": "in_progress",
        "content": [{
            "type": "diff", "oldText": scene::OLD_FILE, "newText": scene::NEW_FILE,
            "path": permission.path(), "_meta": { "kind": "update" },
        }],
    }))
}

fn edit(permission: &MockPermission, id: &str) -> Value {
    json!({
        "toolCallId": id, "title": "Edit files", "locations": [{ "path": permission.path() }],
        "kind": "edit", "status": "pending",
    })
}

fn options(act: Act) -> Vec<Value> {
    let different = "No, and tell Codex what to do differently";
    match act {
        Act::Fetch => vec![
            option("allow_permissions_turn", "Yes, grant these permissions for this turn", "allow_once"),
            option(
                "allow_permissions_turn_strict_auto_review",
                "Yes, grant for this turn with strict auto review",
                "allow_once",
            ),
            option(
                "allow_permissions_session",
                "Yes, grant these permissions for this session",
                "allow_always",
            ),
            option("reject_permissions", "No, continue without permissions", "reject_once"),
        ],
        Act::Command => {
            let start = format!("Yes, and don't ask again for commands that start with `{}`", scene::COMMAND);
            vec![
                option("allow_once", "Yes, proceed", "allow_once"),
                option("accept_execpolicy_amendment", &start, "allow_always"),
                option("cancel", different, "reject_once"),
            ]
        }
        Act::Plan => vec![
            option("implement_plan", "Yes, implement this plan", "allow_once"),
            option("revise_plan", different, "reject_once"),
        ],
        Act::Edit => vec![
            option("allow_once", "Yes, proceed", "allow_once"),
            option("allow_for_session", "Yes, and don't ask again for these files", "allow_always"),
            option("cancel", different, "reject_once"),
        ],
    }
}
