//! The permissions of opencode's API: lists them, and allows or rejects one.
//! The JSON of a permission is left to `permission_json.rs`, the events to `routes.rs`.
//!
//! opencode knows three replies, but an ACP agent may offer any options. A reply selects the only option with its role.
//! If no option or several options have this role, the reply is refused, so that nothing is allowed by mistake (I12).

use std::sync::Arc;

use askbridge_control::inbox::Inbox;
use askbridge_core::{
    desk::{Record, Refusal, Submission},
    question::{Answer, FieldError, FieldOption, Outcome, Question, Role, Value},
};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    permission_json::{LegacyPermissionData, PermissionData, options, with_role},
    question::{self, message},
    shown::ShownId,
};
use crate::{app::App, body, problem::Problem, rest, stream::SseMessage};

const REPLY: &str = r#"{"reply":"once"}, {"reply":"always"} or {"reply":"reject","message":"TEXT"}"#;
const RESPONSE: &str = r#"{"response":"once"}, {"response":"always"} or {"response":"reject"}"#;

/// opencode's replies to a permission.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PermissionReply {
    Once,
    Always,
    Reject,
}

/// A reply. Other members are ignored, as in opencode.
#[derive(Deserialize)]
struct ReplyBody {
    reply: PermissionReply,
    /// The reason of a rejection. Ignored with any other reply.
    message: Option<String>,
}

/// A reply of the first API.
#[derive(Deserialize)]
struct LegacyReplyBody {
    response: PermissionReply,
}

/// The parameters of a path of the first API.
#[derive(Deserialize)]
pub(super) struct PermissionPath {
    session: String,
    id: String,
}

/// Lists the open permissions.
pub(super) async fn list<I: Inbox>(State(app): State<App<I>>) -> Response {
    question::list_records(&app, true, PermissionData)
}

/// Allows or rejects a permission.
pub(super) async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<bool>, Problem> {
    let ReplyBody { reply, message } = body::read(&headers, body, REPLY)?;
    let (record, seen) = question::find(&app, &id, true).await?;
    submit(&app, &record, seen, reply, message).await
}

/// Allows or rejects a permission by the path of the first API.
pub(super) async fn respond<I: Inbox>(
    State(app): State<App<I>>,
    Path(PermissionPath { session, id }): Path<PermissionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<bool>, Problem> {
    let LegacyReplyBody { response } = body::read(&headers, body, RESPONSE)?;
    let (record, seen) = question::find(&app, &id, true).await?;
    // The path names both, and a client must not answer a permission that it did not mean.
    if question::session(&record) != session {
        return Err(Refusal::NotFound.into());
    }
    submit(&app, &record, seen, response, None).await
}

async fn submit<I: Inbox>(
    app: &App<I>,
    record: &Record,
    seen: u32,
    choice: PermissionReply,
    message: Option<String>,
) -> Result<Json<bool>, Problem> {
    let role = match choice {
        PermissionReply::Once => Role::AllowOnce,
        PermissionReply::Always => Role::AllowAlways,
        // The inbox chooses the refusing option for a rejection, which can also carry a reason.
        PermissionReply::Reject => {
            let reason = message.filter(|message| !message.is_empty());
            rest::submit_rejection(app, &record.id, reason).await?;
            return Ok(Json(true));
        }
    };
    rest::submit_answer(app, &record.id, Submission::answer(allowing(record, role)?, seen)).await?;
    Ok(Json(true))
}

/// Returns the answer that selects the only option with this role.
fn allowing(record: &Record, role: Role) -> Result<Answer, Refusal> {
    let question = &*record.question;
    let said = if role == Role::AllowAlways { "always" } else { "once" };
    let refused = |message| Err(Refusal::DoesNotFit(vec![FieldError { field: "reply".to_owned(), message }]));
    match with_role(question, role)[..] {
        [only] => Ok(choosing(question, only)),
        [] => refused(format!(
            "{said:?} is not possible: the agent offers no option that allows it {said}, but {}",
            labels(options(question))
        )),
        ref several => refused(format!(
            "{said:?} is ambiguous: the agent offers {}; choose one with POST /v1/questions/{}/reply",
            labels(several.iter().copied()),
            record.id
        )),
    }
}

fn choosing(question: &Question, option: &FieldOption) -> Answer {
    let value = Value::Text(option.value.clone());
    let values = question.fields.first().map(|field| (field.name.clone(), value)).into_iter().collect();
    Answer { values, ..Answer::default() }
}

fn labels<'a>(options: impl IntoIterator<Item = &'a FieldOption>) -> String {
    let labels = options.into_iter().map(|option| format!("{:?}", option.label));
    labels.collect::<Vec<_>>().join(", ")
}

/// Returns the events of an open permission: one for clients of the current API, and one for those of the first API.
pub(super) fn asked(name: &str, record: &Arc<Record>) -> [SseMessage; 2] {
    let updated = LegacyPermissionData(Arc::clone(record));
    [
        message(name, "permission.asked", PermissionData(Arc::clone(record))),
        message(&format!("{name}-updated"), "permission.updated", updated),
    ]
}

/// Returns the event of a permission that ended. `record` has its outcome, if that is known. opencode has no event for
/// a permission that ended without an answer: its event says `reject`, because it was not allowed.
pub(super) fn ended(name: &str, id: &ShownId, session: &str, record: Option<&Record>) -> SseMessage {
    let reply = record.map_or(PermissionReply::Reject, said);
    // The last two members repeat the ID and the reply by their names in the first API.
    let properties = json!({
        "sessionID": session, "requestID": id, "reply": reply, "permissionID": id, "response": reply,
    });
    message(name, "permission.replied", properties)
}

/// Returns the outcome of a permission as one of opencode's replies.
fn said(record: &Record) -> PermissionReply {
    let outcome = record.settlement.as_ref().map(|settlement| &settlement.outcome);
    let Some(Outcome::Answered(answer)) = outcome else { return PermissionReply::Reject };
    let chosen = answer.values.values().find_map(|value| match value {
        Value::Text(value) => options(&record.question).iter().find(|option| option.value == *value),
        _ => None,
    });
    match chosen.and_then(|option| option.role.as_deref()) {
        Some(Role::AllowAlways) => PermissionReply::Always,
        // Another version may have more roles that allow, such as one for the session.
        Some(role) if role.name().starts_with("allow") => PermissionReply::Once,
        _ => PermissionReply::Reject,
    }
}
