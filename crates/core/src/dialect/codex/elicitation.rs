//! `mcpServer/elicitation/request`: the forms of MCP servers, and the approval of their tools, which comes as a form
//! without fields. A page to open is left to Codex' own dialog.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{
    CodexReply,
    approval::{DECLINE, Decision, approval, non_empty_text},
};
use crate::{
    dialect::{
        elicitation::request,
        permission::{PermissionDescription, said},
    },
    question::{Origin, Question, Role, Subject},
    wire::method::ELICITATION_CREATE,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    thread_id: Option<String>,
    server_name: Option<String>,
    mode: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(rename = "_meta", default)]
    meta: Json,
}

/// The mode of the forms that are read here. Codex has further modes.
const FORM: &str = "form";

/// Members of `_meta` that are read on their own. Codex' dialog shows `tool_params_display`, which repeats the parameters.
const OF_META: [&str; 5] =
    ["codex_approval_kind", "persist", "tool_description", "tool_params", "tool_params_display"];

/// The value of `_meta.codex_approval_kind` for the approval of a tool.
const TOOL_CALL: &str = "mcp_tool_call";

pub(super) fn read(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: ElicitationParams = serde_json::from_slice(params).ok()?;
    let is_tool = read.meta["codex_approval_kind"] == TOOL_CALL;
    if read.mode.as_deref().unwrap_or(FORM) != FORM && !is_tool {
        return None;
    }
    if is_tool {
        return consent(read, is_tool, fallback_id);
    }
    let (question, format) = request::read(ELICITATION_CREATE, params, fallback_id).ok()??;
    if format.consent {
        return consent(read, is_tool, fallback_id);
    }
    let title = read.server_name.map(|server| format!("The MCP server {server} asks"));
    let question = Question { session: read.thread_id, title, origin: Origin::Codex, ..question };
    Some((question, CodexReply::Form(format)))
}

/// Reads the approval of a tool, or a form without fields, to which consent is the only answer.
fn consent(read: ElicitationParams, is_tool: bool, fallback_id: &str) -> Option<(Question, CodexReply)> {
    let lasting = |scope: &str| is_tool && has_scope(&read.meta["persist"], scope);
    let accept = |value: &str, label: &str, role, meta: Json| {
        // For a tool, Codex reads the action and the scope. A server reads the content of its form, which is an empty
        // object if the form has no fields.
        let content = if is_tool { Json::Null } else { Json::Object(Map::new()) };
        let result = json!({ "action": "accept", "content": content, "_meta": meta });
        let is_lasting = role == Role::AllowAlways;
        let grants = is_lasting.then(|| "All further calls of this tool".to_owned()).into_iter().collect();
        Decision { value: value.to_owned(), label: label.to_owned(), role, grants, result }
    };
    let refuse = |action: &str, label: &str| Decision {
        value: action.to_owned(),
        label: label.to_owned(),
        role: Role::RejectOnce,
        grants: Vec::new(),
        result: json!({ "action": action, "content": null, "_meta": null }),
    };
    let mut decisions = vec![accept("accept", "Allow once", Role::AllowOnce, Json::Null)];
    if lasting("session") {
        let label = "Allow this tool for the rest of this session";
        decisions.push(accept("session", label, Role::AllowAlways, json!({ "persist": "session" })));
    }
    if lasting("always") {
        let label = "Allow this tool, and do not ask again";
        decisions.push(accept("always", label, Role::AllowAlways, json!({ "persist": "always" })));
    }
    decisions.push(refuse("decline", DECLINE));
    let server = read.server_name.map(|server| format!("The MCP server {server} asks."));
    let mut subject = Subject {
        kind: is_tool.then(|| "other".to_owned()),
        description: non_empty_text(&read.meta["tool_description"]).or(server),
        raw_input: Some(&read.meta["tool_params"]).filter(|it| !it.is_null()).map(Json::to_string),
        ..Subject::default()
    };
    let is_marked = said::add_unknown(&mut subject, read.meta.to_string().as_bytes(), &OF_META);
    let described = PermissionDescription {
        session: read.thread_id,
        title: Some(read.message).filter(|message| !message.is_empty()),
        subject,
        is_marked,
        ..PermissionDescription::default()
    };
    let cancelled = json!({ "action": "cancel", "content": null, "_meta": null });
    approval(described, decisions, cancelled, fallback_id)
}

/// Returns whether a tool may be allowed for this scope: the request names one, or several.
fn has_scope(persist: &Json, scope: &str) -> bool {
    persist == scope || persist.as_array().is_some_and(|scopes| scopes.iter().any(|it| it == scope))
}
