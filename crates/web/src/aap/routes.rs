//! The paths of the protocol.

use std::{sync::Arc, time::Duration};

use askbridge_control::inbox::{AskedUnder, Consuming, Inbox, Kept, NotKept, NotUsed, Standing, asked};
use askbridge_core::desk::{QuestionId, Record, Refusal};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;

use super::wire;
use crate::{
    app::App,
    approval::read_report,
    asking::{duration, key, standing},
    body,
    problem::Problem,
    stream,
};

/// An error, in the shape of the protocol.
struct Refused(StatusCode, &'static str, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Refused(status, code, message) = self;
        let kind = match status {
            StatusCode::CONFLICT => "conflict",
            StatusCode::NOT_FOUND => "not_found",
            status if status.is_server_error() => "unavailable",
            _ => "invalid_request",
        };
        let error = json!({ "error": { "type": kind, "code": code, "message": message } });
        (status, stream::json(error)).into_response()
    }
}

/// Returns the routes.
pub(crate) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new()
        .route("/aap/v1/requests", post(create))
        .route("/aap/v1/requests/{id}", get(show).delete(cancel))
        .route("/aap/v1/requests/{id}/consume", post(consume))
        .route("/aap/v1/requests/{id}/outcome", post(report))
}

async fn create<I: Inbox>(
    State(app): State<App<I>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refused> {
    let key = needed_key(&headers)?;
    body::check_json(&headers)?;
    let bad = |why| Refused(StatusCode::BAD_REQUEST, "invalid_request", why);
    let text = str::from_utf8(&body).map_err(|error| bad(error.to_string()))?;
    let question = wire::read(text).map_err(bad)?;
    let digest = question.action.as_ref().map(|action| action.digest.clone().into_bytes());
    // No header has a NUL: no key of REST is one of these.
    let under = AskedUnder { key: format!("\u{0}aap {key}"), digest: digest.unwrap_or_default() };
    let Kept { record, is_new } = standing(&app)?.ask(question, Some(under), None).await?;
    app.inbox.keep_up(&record).await;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, written(&record)?).into_response())
}

/// How long to wait for a decision.
#[derive(Debug, Default, Deserialize)]
struct ShowParams {
    wait: Option<String>,
}

async fn show<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    Query(ShowParams { wait }): Query<ShowParams>,
) -> Result<Response, Refused> {
    let wrong =
        || Refused(StatusCode::BAD_REQUEST, "invalid_request", "wait: not a time such as `25s`".to_owned());
    let within = wait.map_or(Ok(Duration::ZERO), |wait| duration(&wait).ok_or_else(wrong))?;
    let (_, id) = found(&app, &id)?;
    let _place = if within.is_zero() { None } else { Some(app.wait()?) };
    written(&*asked::outcome(&app.inbox, &id, within).await?)
}

async fn cancel<I: Inbox>(State(app): State<App<I>>, Path(id): Path<String>) -> Result<Response, Refused> {
    let (_, id) = found(&app, &id)?;
    asked::withdraw(&app.inbox, &id).await?;
    written(&*asked::outcome(&app.inbox, &id, Duration::ZERO).await?)
}

async fn consume<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let key = needed_key(&headers)?;
    let (standing, id) = found(&app, &id)?;
    let record = asked::outcome(&app.inbox, &id, Duration::ZERO).await?;
    let grant = record.settlement.as_deref().and_then(|settlement| settlement.grant.as_deref());
    let not_approved = || Refused(StatusCode::CONFLICT, "not_approved", "nothing was approved".to_owned());
    let digest = grant.ok_or_else(not_approved)?.digest.clone();
    written(&*standing.consume(Consuming { id, digest, key: Some(key) }).await?)
}

async fn report<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refused> {
    let report = read_report(&headers, body)?;
    let (standing, id) = found(&app, &id)?;
    let record = asked::outcome(&app.inbox, &id, Duration::ZERO).await?;
    if record.used.as_ref().is_none_or(|used| used.consumed_at.is_none()) {
        return Err(Refused(
            StatusCode::CONFLICT,
            "not_consumed",
            "the approval was not consumed".to_owned(),
        ));
    }
    standing.report(&id, report).await?;
    written(&*asked::outcome(&app.inbox, &id, Duration::ZERO).await?)
}

fn needed_key(headers: &HeaderMap) -> Result<String, Refused> {
    let missing = || {
        Refused(StatusCode::BAD_REQUEST, "missing_idempotency_key", "Idempotency-Key is missing".to_owned())
    };
    key(headers)?.ok_or_else(missing)
}

/// Returns the inbox that keeps questions, and the ID of the question that a UUID stands for.
fn found<I: Inbox>(app: &App<I>, uuid: &str) -> Result<(Arc<dyn Standing>, QuestionId), Refused> {
    let standing = standing(app)?;
    let id = wire::number(uuid).map(|number| standing.id(number));
    let id = id.filter(|id| wire::uuid(id.bridge.as_str(), id.number) == *uuid).ok_or_else(unknown)?;
    Ok((standing, id))
}

fn unknown() -> Refused {
    Refused(StatusCode::NOT_FOUND, "not_found", "there is no such request".to_owned())
}

fn written(record: &Record) -> Result<Response, Refused> {
    wire::request(record).map(stream::json).ok_or_else(unknown)
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = if status.is_client_error() { "invalid_request" } else { "unavailable" };
        Refused(status, code, problem.detail)
    }
}

impl From<NotKept> for Refused {
    fn from(error: NotKept) -> Self {
        match error {
            NotKept::Refused(Refusal::NotFound) => unknown(),
            NotKept::Refused(Refusal::KeyUsed(_)) => {
                Refused(StatusCode::CONFLICT, "idempotency_conflict", error.to_string())
            }
            NotKept::Refused(Refusal::Conflict(_)) => {
                Refused(StatusCode::CONFLICT, "already_terminal", "the request is decided".to_owned())
            }
            error => Problem::from(error).into(),
        }
    }
}

impl From<NotUsed> for Refused {
    fn from(error: NotUsed) -> Self {
        let why = error.to_string();
        match error {
            NotUsed::NotKept(error) => error.into(),
            NotUsed::NotAllowed(_) | NotUsed::Stale(_) => Refused(StatusCode::CONFLICT, "not_approved", why),
            NotUsed::Expired(_) => Refused(StatusCode::CONFLICT, "approval_expired", why),
            NotUsed::Spent(_) => Refused(StatusCode::CONFLICT, "already_consumed", why),
            NotUsed::Reported(_) => Refused(StatusCode::CONFLICT, "outcome_conflict", why),
        }
    }
}
