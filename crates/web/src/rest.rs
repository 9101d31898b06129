//! Questions over REST: listing, answering, rejecting and extending them, what led to each, and its images. Asking them, and waiting for one, is left to
//! `asking.rs`. Most paths and bodies are those of the first generation.

use std::{collections::BTreeMap, iter, num::NonZeroU64, sync::Arc, time::Duration};

use askbridge_control::{
    inbox::{Inbox, PROTOCOL},
    rpc::history::{HistoryListing, HistoryParams},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{
        Comment, Image, ImageFormat, Provenance, Responder,
        comments::{with_answer, with_reason},
        input::ReplyInput,
    },
};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::Response,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{
    app::App,
    approval, asking, body,
    find::{QuestionPath, find},
    problem::Problem,
    stream,
};
use crate::limits::REPLY_WINDOW;

const ANSWER: &str = r#"{"answers":[["VALUE"]]} or {"values":{"FIELD":VALUE},"notes":{}}"#;
const REJECTION: &str = r#"nothing, or {"reason":"TEXT"}"#;
const POSTPONEMENT: &str = r#"{"milliseconds":1800000}"#;
const EXTENSION: &str = r#"{"milliseconds":60000}"#;

/// A rejection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Rejection"))]
pub struct Rejection {
    /// The reason, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Comments on lines of the question, which stand below the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
}

/// More time for a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Extension"))]
pub struct Extension {
    /// How much later the deadline will be, in milliseconds.
    pub milliseconds: NonZeroU64,
}

/// How long a question is set aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Postponement"))]
pub struct Postponement {
    /// For how long from now, in milliseconds. 0 brings it back.
    pub milliseconds: u64,
}

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    let routes = Router::new()
        .route("/v1/questions", get(list).post(asking::ask))
        .route("/v1/history", get(history))
        .route("/v1/sessions/{session}/questions", get(list_of_session));
    ["/v1/questions/{id}", "/v1/sessions/{session}/questions/{id}"].into_iter().fold(routes, |routes, one| {
        routes
            .route(one, get(asking::show).delete(asking::withdraw))
            .route(&format!("{one}/context"), get(context))
            .route(&format!("{one}/images/{{number}}"), get(image))
            .route(&format!("{one}/reply"), post(reply))
            .route(&format!("{one}/reject"), post(reject))
            .route(&format!("{one}/extend"), post(extend))
            .route(&format!("{one}/later"), post(later))
            .route(&format!("{one}/consume"), post(approval::consume))
            .route(&format!("{one}/outcome"), post(approval::report))
    })
}

async fn list<I: Inbox>(State(app): State<App<I>>) -> Response {
    listing(&app, |_| true)
}

async fn list_of_session<I: Inbox>(State(app): State<App<I>>, Path(session): Path<String>) -> Response {
    listing(&app, |record| record.question.session.as_ref() == Some(&session))
}

/// Returns a [`Listing`](askbridge_control::rpc::protocol::Listing) that is serialized only as fast as the client reads it.
fn listing<I: Inbox>(app: &App<I>, wanted: impl Fn(&Record) -> bool) -> Response {
    let (revision, open) = app.open();
    let ids = open.iter().filter(|record| wanted(record)).map(|record| record.id.clone()).collect();
    // The JSON is written by hand: serializing a struct would take all records at once.
    let head = format!(r#"{{"protocol":{PROTOCOL},"revision":{revision},"questions":"#);
    let pieces = iter::once(Bytes::from(head)).chain(app.array(ids, |record| record));
    stream::json_of(stream::body(pieces.chain([Bytes::from_static(b"}")])))
}

/// Returns questions that are over, as `askbridge history` lists them.
async fn history<I: Inbox>(
    State(app): State<App<I>>,
    names: Result<Query<BTreeMap<String, String>>, QueryRejection>,
    params: Result<Query<HistoryParams>, QueryRejection>,
) -> Result<Response, Problem> {
    let bad = |detail: String| Problem::new(StatusCode::BAD_REQUEST, "bad_request", detail);
    let Query(names) = names.map_err(|error| bad(error.body_text()))?;
    // As in a body. A call of the control protocol may have members of a later version, and is not read so strictly.
    if let Some(unknown) = names.keys().find(|name| !HistoryParams::NAMES.contains(&name.as_str())) {
        let known = HistoryParams::NAMES.map(|name| format!("`{name}`")).join(", ");
        return Err(bad(format!("unknown parameter `{unknown}`, expected one of {known}")));
    }
    let Query(params) = params.map_err(|error| bad(error.body_text()))?;
    Ok(stream::json(HistoryListing::from(app.inbox.past(params.into()).await?)))
}

/// Returns what led to a question. It is empty if that is not known.
async fn context<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
) -> Result<Response, Problem> {
    let record = find(&app, &name).await?;
    Ok(stream::json(app.inbox.context(&record).await?))
}

/// An image by its number in its question, from 1.
#[derive(Deserialize)]
struct ImagePath {
    number: String,
}

/// Returns an image.
async fn image<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    Path(ImagePath { number }): Path<ImagePath>,
) -> Result<Response, Problem> {
    let record = find(&app, &name).await?;
    let number = number.parse().map_err(|_| Refusal::NotFound)?;
    // A format of another version may be anything.
    let is_known = |image: &&Image| !matches!(image.format, ImageFormat::Other(_));
    let known = record.image(number).filter(is_known).ok_or(Refusal::NotFound)?;
    let data = app.inbox.image(&record, number).await?;
    Ok(image_response(known, data))
}

fn image_response(image: &Image, data: Arc<Vec<u8>>) -> Response {
    let length = data.len();
    // The window is the room that a reply may take of a client that does not read.
    let windows = (0..length)
        .step_by(REPLY_WINDOW)
        .map(move |from| Bytes::copy_from_slice(&data[from..length.min(from + REPLY_WINDOW)]));
    let mut response = Response::new(stream::body(windows));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(image.format.name());
    headers.insert(CONTENT_TYPE, kind.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    response
}

async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let ReplyInput { seen, comments, answer } = body::read(&headers, body, ANSWER)?;
    let record = find(&app, &name).await?;
    let question = &record.question;
    let answer = answer.read(question).and_then(|answer| with_answer(question, answer, &comments));
    let answer = answer.map_err(Refusal::DoesNotFit)?;
    submit_answer(&app, &record.id, Submission::answer(answer, seen)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn reject<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let rejection: Rejection = body::read_if_any(&headers, body, REJECTION)?;
    let record = find(&app, &name).await?;
    let reason = with_reason(rejection.reason, &rejection.comments);
    submit_rejection(&app, &record.id, reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the question with its new deadline.
async fn extend<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let Extension { milliseconds } = body::read(&headers, body, EXTENSION)?;
    let record = find(&app, &name).await?;
    let more = Submission::Extend(Duration::from_millis(milliseconds.get()));
    Ok(stream::json(app.inbox.submit(&record.id, more, by()).await?))
}

/// Sets a question aside, and returns it.
async fn later<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let Postponement { milliseconds } = body::read(&headers, body, POSTPONEMENT)?;
    let record = find(&app, &name).await?;
    let aside = Submission::Later(Duration::from_millis(milliseconds));
    Ok(stream::json(app.inbox.submit(&record.id, aside, by()).await?))
}

/// Answers a question. When this returns, the agent has the answer on its stdin (I9).
pub(super) async fn submit_answer<I: Inbox>(
    app: &App<I>,
    id: &QuestionId,
    answer: Submission,
) -> Result<(), Problem> {
    app.inbox.submit(id, answer, by()).await?;
    Ok(())
}

/// Rejects a question. When this returns, the agent has the rejection on its stdin (I9).
pub(super) async fn submit_rejection<I: Inbox>(
    app: &App<I>,
    id: &QuestionId,
    reason: Option<String>,
) -> Result<(), Problem> {
    app.inbox.submit(id, Submission::Reject(reason), by()).await?;
    Ok(())
}

fn by() -> Provenance {
    Provenance { responder: Responder::Http, name: None }
}
