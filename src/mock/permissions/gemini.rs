//! Permissions of Gemini CLI and of Qwen Code 0.24.4, which grew from it. No update precedes them; only Qwen has the
//! raw input.

use serde_json::{Value, json};

use super::{
    MockPermission,
    parts::{Asked, diff, option, text},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let path = permission.path();
    let (title, kind, content) = match permission.act {
        Act::Fetch => {
            let prompt = format!("{} {}", scene::PURPOSE, scene::URL);
            (format!("Processing URLs and instructions from prompt: \"{prompt}\""), "fetch", None)
        }
        Act::Command => {
            let place = format!("[current working directory {}] ({})", permission.cwd, scene::DESCRIPTION);
            (scene::COMMAND.to_owned(), "execute", Some(text(&place)))
        }
        // The plan itself stands only in that file.
        Act::Plan => {
            (format!("Requesting plan approval for: {}/.gemini/plans/port.md", permission.cwd), "other", None)
        }
        Act::Edit => {
            let mut change = diff(&path, scene::OLD_FILE, scene::NEW_FILE);
            change["_meta"] = json!({ "kind": "modify" });
            (edit_title(), "edit", Some(change))
        }
    };
    let always = option("proceed_always", "Allow for this session", "allow_always");
    let lasting = if permission.act == Act::Plan { None } else { Some(always) };
    let params = json!({
        "sessionId": permission.session,
        "options": lasting.into_iter().chain(basic()).collect::<Vec<_>>(),
        "toolCall": {
            "toolCallId": permission.tool_call(), "status": "pending", "title": title,
            "content": Vec::from_iter(content), "locations": locations(permission), "kind": kind,
        },
    });
    Asked { updates: Vec::new(), params, title }
}

pub(super) fn ask_qwen(permission: &MockPermission) -> Asked {
    let path = permission.path();
    let (tool, title, kind, content, input) = match permission.act {
        Act::Fetch => (
            "web_fetch",
            format!(
                "Fetching content from {} and processing with prompt: \"{}\"",
                scene::URL,
                scene::PURPOSE
            ),
            "fetch",
            None,
            json!({ "url": scene::URL, "prompt": scene::PURPOSE }),
        ),
        Act::Command => (
            "run_shell_command",
            format!("{} ({})", scene::COMMAND, scene::DESCRIPTION),
            "execute",
            None,
            json!({ "command": scene::COMMAND, "is_background": false, "description": scene::DESCRIPTION }),
        ),
        Act::Plan => (
            "exit_plan_mode",
            "Plan:".to_owned(),
            "switch_mode",
            Some(text(scene::PLAN)),
            json!({ "plan": scene::PLAN }),
        ),
        Act::Edit => (
            "edit",
            edit_title(),
            "edit",
            Some(diff(&path, scene::OLD_FILE, scene::NEW_FILE)),
            json!({ "file_path": path, "old_string": scene::OLD_LINE, "new_string": scene::NEW_LINE }),
        ),
    };
    let params = json!({
        "sessionId": permission.session, "options": qwen_options(permission.act),
        "toolCall": {
            "toolCallId": permission.tool_call(), "status": "pending", "title": title,
            "content": Vec::from_iter(content), "locations": locations(permission), "kind": kind,
            "rawInput": input, "_meta": { "toolName": tool },
        },
    });
    Asked { updates: Vec::new(), params, title }
}

fn edit_title() -> String {
    format!("{}: {} => {}", scene::FILE, scene::OLD_LINE, scene::NEW_LINE)
}

fn locations(permission: &MockPermission) -> Value {
    if permission.act == Act::Edit { json!([{ "path": permission.path() }]) } else { json!([]) }
}

fn basic() -> [Value; 2] {
    [option("proceed_once", "Allow", "allow_once"), option("cancel", "Reject", "reject_once")]
}

fn qwen_options(act: Act) -> Vec<Value> {
    let lasting = |of: &str| {
        let scopes = [("proceed_always_project", "in project"), ("proceed_always_user", "for user")];
        scopes.map(|(id, scope)| option(id, &format!("Always Allow {scope}{of}"), "allow_always"))
    };
    match act {
        Act::Fetch => lasting("").into_iter().chain(basic()).collect(),
        Act::Command => lasting(&format!(": {}", scene::PROGRAM)).into_iter().chain(basic()).collect(),
        Act::Plan => vec![
            option("restore_previous", "Yes, restore previous mode (default)", "allow_once"),
            option("proceed_always", "Yes, and auto-accept edits", "allow_always"),
            option("proceed_once", "Yes, and manually approve edits", "allow_once"),
            option("cancel", "No, keep planning (esc)", "reject_once"),
        ],
        Act::Edit => {
            let all = option("proceed_always", "Allow All Edits", "allow_always");
            [all].into_iter().chain(basic()).collect()
        }
    }
}
