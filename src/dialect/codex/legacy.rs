//! The approvals of the first version of the protocol: `applyPatchApproval` and `execCommandApproval`.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    decision::{Decision, approval},
    file_change,
    text::text,
};
use crate::{
    dialect::permission::{Described, command},
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
    #[serde(default)]
    file_changes: Json,
}

pub(super) fn read_command(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let subject = Subject {
        kind: Some("execute".to_owned()),
        command: Some(command(&read.command)?),
        folder: text(&read.cwd),
        description: text(&read.reason),
        ..Subject::default()
    };
    legacy(read, None, subject, fallback_id)
}

pub(super) fn read_patch(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let mut subject =
        Subject { kind: Some("edit".to_owned()), description: text(&read.reason), ..Subject::default() };
    for (path, change) in read.file_changes.as_object()? {
        let diff = ["content", "unified_diff"].into_iter().find_map(|member| change[member].as_str());
        file_change::add(&mut subject, path, change, diff.unwrap_or_default());
    }
    legacy(read, Some("Change files?".to_owned()), subject, fallback_id)
}

fn legacy(
    read: LegacyParams,
    title: Option<String>,
    subject: Subject,
    fallback_id: &str,
) -> Option<(Question, CodexReply)> {
    let decisions = vec![
        Decision::named("approved", "Allow once", Role::AllowOnce),
        Decision::named("approved_for_session", "Allow for the rest of this session", Role::AllowAlways),
        // A version that knows no such name takes what it cannot read for a denial.
        Decision::named("denied", "Deny, and let Codex go on without it", Role::RejectOnce),
        Decision::named("abort", "Deny, and stop the turn", Role::RejectOnce),
    ];
    let described = Described {
        session: read.conversation_id,
        tool_call: read.call_id,
        title,
        subject,
        ..Described::default()
    };
    approval(described, decisions, json!({ "decision": "abort" }), fallback_id)
}
