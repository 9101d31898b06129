//! What questions and permissions have in common in opencode's API: how one is found, how all are listed, and the
//! envelope of an event.

use std::sync::Arc;

use axum::response::Response;
use serde::Serialize;

use crate::{
    control::inbox::Inbox,
    desk::{Record, Refusal},
    question::Purpose,
    serve::{app::App, sse::SseMessage, window},
};

/// Returns whether a question belongs to the permission API. The question API has all others.
pub(super) fn is_permission(record: &Record) -> bool {
    record.question.purpose == Purpose::Permission
}

/// Returns the session. Some dialects have none, and opencode's clients need one.
pub(super) fn session(record: &Record) -> &str {
    record.question.session.as_deref().unwrap_or_default()
}

/// Returns the question or permission with this ID, open or settled.
pub(super) async fn find<I: Inbox>(app: &App<I>, id: &str, permission: bool) -> Result<Arc<Record>, Refusal> {
    let record = app.look_up(id).await?;
    Some(record).filter(|record| is_permission(record) == permission).ok_or(Refusal::NotFound)
}

/// Returns the open questions or permissions, each written as `write` says.
pub(super) fn list_records<I: Inbox, T: Serialize + Send + 'static>(
    app: &App<I>,
    permissions: bool,
    write: impl Fn(Arc<Record>) -> T + Send + 'static,
) -> Response {
    let (_, open) = app.open();
    let wanted = open.iter().filter(|record| is_permission(record) == permissions);
    let ids = wanted.map(|record| record.id.clone()).collect();
    window::json_of(window::body(app.array(ids, write)))
}

/// An event as opencode writes it.
#[derive(Serialize)]
struct Envelope<T> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    properties: T,
}

/// Returns an event. The ID is unique within a stream.
pub(super) fn message(
    id: &str,
    kind: &'static str,
    properties: impl Serialize + Send + 'static,
) -> SseMessage {
    SseMessage::new(Envelope { id: format!("evt_{id}"), kind, properties })
}
