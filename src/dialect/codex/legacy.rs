//! The approvals of the first version of the protocol: `applyPatchApproval` and `execCommandApproval`.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    decision::{CANCEL, DECLINE, Decision, approval},
    file_change, shell,
    text::non_empty_text,
};
use crate::{
    dialect::{once, permission::PermissionDescription},
    question::{Question, Role, Subject},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyParams {
    conversation_id: Option<String>,
    call_id: Option<String>,
    #[serde(default)]
    command: Json,
    #[serde(default)]
    cwd: Json,
    #[serde(default)]
    reason: Json,
    #[serde(default, deserialize_with = "once::deserialize")]
    file_changes: Json,
    #[serde(default)]
    grant_root: Json,
}

pub(super) fn read_legacy_command(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let subject = Subject {
        kind: Some("execute".to_owned()),
        command: Some(shell::command(&read.command)?),
        folder: non_empty_text(&read.cwd),
        description: non_empty_text(&read.reason),
        ..Subject::default()
    };
    let described = PermissionDescription { subject, ..PermissionDescription::default() };
    legacy(read, described, "Allow for the rest of this session".to_owned(), fallback_id)
}

pub(super) fn read_legacy_patch(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let root = non_empty_text(&read.grant_root);
    let mut subject = Subject {
        kind: Some(file_change::EDIT.to_owned()),
        description: non_empty_text(&read.reason),
        locations: root.iter().cloned().collect(),
        ..Subject::default()
    };
    let mut are_known = true;
    for (path, change) in read.file_changes.as_object()? {
        let diff = ["content", "unified_diff"].into_iter().find_map(|member| change[member].as_str());
        are_known &= file_change::add(&mut subject, path, change, diff);
    }
    let title = Some(file_change::TITLE.to_owned());
    let is_marked = root.is_some() || !are_known;
    let described = PermissionDescription { title, subject, is_marked, ..PermissionDescription::default() };
    legacy(read, described, file_change::for_session(root.as_deref()), fallback_id)
}

fn legacy(
    read: LegacyParams,
    described: PermissionDescription,
    for_session: String,
    fallback_id: &str,
) -> Option<(Question, CodexReply)> {
    let decisions = vec![
        Decision::named("approved", "Allow once", Role::AllowOnce),
        Decision::named("approved_for_session", for_session, Role::AllowAlways),
        // A version that knows no such name takes what it cannot read for a denial.
        Decision::named("denied", DECLINE, Role::RejectOnce),
        Decision::named("abort", CANCEL, Role::RejectOnce),
    ];
    let described =
        PermissionDescription { session: read.conversation_id, tool_call: read.call_id, ..described };
    approval(described, decisions, json!({ "decision": "abort" }), fallback_id)
}
