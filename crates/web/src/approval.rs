//! What a program does with an approval over REST: it takes the approval, once, and reports what came of it.

use std::sync::Arc;

use askbridge_control::inbox::{Consuming, Inbox, NotUsed, Standing};
use askbridge_core::desk::{Record, Report, ReportStatus, Timestamp};
use axum::{
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    app::App,
    asking::key,
    body,
    find::{QuestionPath, find},
    problem::Problem,
    stream,
};
use crate::limits;

const CONSUMPTION: &str = r#"{"digest":"sha256:…"}"#;
const REPORT: &str = r#"{"status":"succeeded"} or {"status":"failed","note":"TEXT"}"#;

/// A program that is about to do what was allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Consumption"))]
pub struct Consumption {
    /// The digest of what the program is about to do.
    pub digest: String,
}

/// An approval that is spent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "Consumed"))]
pub struct Consumed {
    /// The digest of what was allowed.
    pub digest: String,
    /// When it was spent, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub consumed_at: Timestamp,
    /// The arguments, where the person changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

/// Takes an approval.
pub(super) async fn consume<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let Consumption { digest } = body::read(&headers, body, CONSUMPTION)?;
    let key = key(&headers)?;
    let record = find(&app, &name).await?;
    let standing = kept(&app, &record)?;
    let record = standing.consume(Consuming { id: record.id.clone(), digest, key }).await?;
    let grant = record.settlement.as_deref().and_then(|settlement| settlement.grant.as_deref());
    let consumed_at = record.used.as_deref().and_then(|used| used.consumed_at);
    let (grant, consumed_at) = grant.zip(consumed_at).ok_or_else(held)?;
    let (digest, arguments) = (grant.digest.clone(), grant.arguments.clone());
    Ok(stream::json(Consumed { digest, consumed_at, arguments }))
}

/// Takes what came of an approval.
pub(super) async fn report<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let report = read_report(&headers, body)?;
    let record = find(&app, &name).await?;
    let standing = kept(&app, &record)?;
    standing.report(&record.id, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads what came of an approval.
pub(super) fn read_report(headers: &HeaderMap, body: Bytes) -> Result<Report, Problem> {
    let report: Report = body::read(headers, body, REPORT)?;
    let bad = |why: String| Problem::new(StatusCode::BAD_REQUEST, "bad_request", why);
    if !matches!(report.status, ReportStatus::Succeeded | ReportStatus::Failed) {
        return Err(bad(format!("status={}: neither `succeeded` nor `failed`", report.status)));
    }
    if report.note.as_ref().is_some_and(|note| note.len() > limits::REPORT) {
        return Err(bad(format!("note: longer than {} bytes", limits::REPORT)));
    }
    Ok(report)
}

/// Returns the inbox that keeps this question.
fn kept<I: Inbox>(app: &App<I>, record: &Record) -> Result<Arc<dyn Standing>, Problem> {
    app.inbox.standing().ok().filter(|standing| standing.has(&record.id)).ok_or_else(held)
}

/// The error of a question that its connection holds.
fn held() -> Problem {
    let why = "a connection held this question, and the journal has no approval of it to spend: ask with `\"wait\": false` or an Idempotency-Key";
    Problem::new(StatusCode::CONFLICT, "held", why)
}

impl From<NotUsed> for Problem {
    fn from(error: NotUsed) -> Self {
        let why = error.to_string();
        let name = match error {
            NotUsed::NotKept(error) => return error.into(),
            NotUsed::NotAllowed(_) => "not_allowed",
            NotUsed::Stale(_) => "stale",
            NotUsed::Expired(_) => "expired",
            NotUsed::Spent(_) => "spent",
            NotUsed::Reported(_) => "reported",
        };
        Problem::new(StatusCode::CONFLICT, name, why)
    }
}
