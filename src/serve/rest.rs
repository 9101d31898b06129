//! Questions over REST: listing them, and answering, rejecting or extending one. Most paths and bodies are those of the
//! first generation. Asking a question is left to `ask`.

use std::{iter, num::NonZeroU64, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{app::App, ask, body, problem::Problem, window};
use crate::{
    control::{inbox::Inbox, traffic::PROTOCOL},
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Answer, Provenance, Responder, input::AnswerInput},
};

const ANSWER: &str = r#"{"answers":[["VALUE"]]} or {"values":{"FIELD":VALUE},"notes":{}}"#;
const REJECTION: &str = r#"nothing, or {"reason":"TEXT"}"#;
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

/// How a path names a question.
#[derive(Deserialize)]
struct QuestionPath {
    /// The session, under which the agent's own ID of the question is accepted as well.
    session: Option<String>,
    id: String,
}

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    let routes = Router::new()
        .route("/v1/questions", get(list).post(ask::ask))
        .route("/v1/sessions/{session}/questions", get(list_of_session));
    ["/v1/questions/{id}", "/v1/sessions/{session}/questions/{id}"].into_iter().fold(routes, |routes, one| {
        routes
            .route(one, get(show))
            .route(&format!("{one}/reply"), post(reply))
            .route(&format!("{one}/reject"), post(reject))
            .route(&format!("{one}/extend"), post(extend))
    })
}

async fn list<I: Inbox>(State(app): State<App<I>>) -> Response {
    listing(&app, |_| true)
}

async fn list_of_session<I: Inbox>(State(app): State<App<I>>, Path(session): Path<String>) -> Response {
    listing(&app, |record| record.question.session.as_ref() == Some(&session))
}

/// Returns a [`Listing`](crate::control::protocol::Listing), which is written as the client takes it.
fn listing<I: Inbox>(app: &App<I>, wanted: impl Fn(&Record) -> bool) -> Response {
    let (revision, open) = app.open();
    let ids = open.iter().filter(|record| wanted(record)).map(|record| record.id.clone()).collect();
    let head = format!(r#"{{"protocol":{PROTOCOL},"revision":{revision},"questions":"#);
    let pieces = iter::once(Bytes::from(head)).chain(app.array(ids, |record| record));
    window::json_of(window::body(pieces.chain([Bytes::from_static(b"}")])))
}

async fn show<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
) -> Result<Response, Problem> {
    Ok(window::json(find(&app, &name).await?))
}

async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let input: AnswerInput = body::read(&headers, body, ANSWER)?;
    let record = find(&app, &name).await?;
    let answer = input.read(&record.question).map_err(Refusal::DoesNotFit)?;
    submit_answer(&app, &record.id, answer).await?;
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
    submit_rejection(&app, &record.id, rejection.reason).await?;
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
    Ok(window::json(app.inbox.submit(&record.id, more, by()).await?))
}

/// Answers a question. When this returns, the agent has the answer on its stdin (I9).
pub(super) async fn submit_answer<I: Inbox>(
    app: &App<I>,
    id: &QuestionId,
    answer: Answer,
) -> Result<(), Problem> {
    app.inbox.submit(id, Submission::Answer(answer), by()).await?;
    Ok(())
}

/// Rejects a question. When this returns, the agent has that on its stdin (I9).
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

/// Finds a question. An open one goes before settled ones, and of these the last: an agent may use a name again.
async fn find<I: Inbox>(app: &App<I>, name: &QuestionPath) -> Result<Arc<Record>, Refusal> {
    let QuestionPath { session, id } = name;
    let Some(session) = session else { return app.look_up(id).await };
    let is_meant = |record: &&Arc<Record>| {
        record.question.session.as_ref() == Some(session)
            && (record.question.id == *id || record.id.to_string() == *id)
    };
    let (_, open) = app.open();
    let open: Vec<_> = open.iter().filter(is_meant).collect();
    match open[..] {
        [] => {
            let settled = app
                .inbox
                .store()
                .read(|_, snapshot| snapshot.settled().rfind(is_meant).map(|record| record.id.to_string()));
            // By the ID it is known whether the question was lost.
            let record = app.look_up(settled.as_ref().unwrap_or(id)).await?;
            Some(record).filter(|record| is_meant(&record)).ok_or(Refusal::NotFound)
        }
        [only] => Ok(Arc::clone(only)),
        _ => Err(Refusal::Ambiguous(open.iter().map(|record| record.id.clone()).collect())),
    }
}
