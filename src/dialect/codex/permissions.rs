//! `item/permissions/requestApproval`: the approval of permissions that the sandbox does not have.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    decision::{Decision, approval},
    text::non_empty_text,
};
use crate::{
    dialect::permission::PermissionDescription,
    question::{Question, Role, Subject},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionsParams {
    thread_id: Option<String>,
    item_id: Option<String>,
    #[serde(default)]
    reason: Json,
    #[serde(default)]
    cwd: Json,
    permissions: Json,
}

pub(super) fn read_permissions(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: PermissionsParams = serde_json::from_slice(params).ok()?;
    let mut granted = read.permissions.as_object()?.clone();
    // What is granted has no members that are null.
    granted.retain(|_, permission| !permission.is_null());
    if granted.is_empty() {
        return None;
    }
    let grant = |value: &str, label: &str, role, scope: &str| Decision {
        value: value.to_owned(),
        label: label.to_owned(),
        role,
        result: json!({ "permissions": granted, "scope": scope, "strictAutoReview": false }),
    };
    let refused = json!({ "permissions": {}, "scope": "turn", "strictAutoReview": false });
    let decisions = vec![
        grant("turn", "Grant these permissions for this turn", Role::AllowOnce, "turn"),
        grant(
            "session",
            "Grant these permissions for the rest of this session",
            Role::AllowAlways,
            "session",
        ),
        Decision {
            value: "refuse".to_owned(),
            label: "Deny, and let Codex go on without them".to_owned(),
            role: Role::RejectOnce,
            result: refused.clone(),
        },
    ];
    let described = PermissionDescription {
        session: read.thread_id,
        tool_call: read.item_id,
        title: Some("Grant permissions?".to_owned()),
        subject: Subject {
            kind: Some("other".to_owned()),
            description: non_empty_text(&read.reason),
            folder: non_empty_text(&read.cwd),
            content: Some(permission_lines(&read.permissions)),
            raw_input: Some(read.permissions.to_string()),
            ..Subject::default()
        },
        // They are beyond what the sandbox allows.
        is_marked: true,
        ..PermissionDescription::default()
    };
    approval(described, decisions, refused, fallback_id)
}

/// Returns a line for each permission that is asked for.
pub(super) fn permission_lines(permissions: &Json) -> String {
    let mut lines = Vec::new();
    match permissions["network"]["enabled"].as_bool().or(permissions["network"].as_bool()) {
        Some(true) => lines.push("Network: yes".to_owned()),
        Some(false) => lines.push("Network: no".to_owned()),
        None => {}
    }
    let files = match &permissions["fileSystem"] {
        Json::Null => &permissions["file_system"],
        files => files,
    };
    for (member, verb) in [("read", "Read"), ("write", "Write")] {
        let paths = files[member].as_array().into_iter().flatten().filter_map(Json::as_str);
        lines.extend(paths.map(|path| format!("{verb}: {path}")));
    }
    for entry in files["entries"].as_array().into_iter().flatten() {
        let access = entry["access"].as_str().unwrap_or("use");
        let path =
            ["/path/path", "/path/pattern", "/path"].into_iter().find_map(|at| entry.pointer(at)?.as_str());
        let path = path.map_or_else(|| entry["path"].to_string(), str::to_owned);
        lines.push(format!("{access}: {path}"));
    }
    match lines.is_empty() {
        true => permissions.to_string(),
        false => lines.join("\n"),
    }
}
