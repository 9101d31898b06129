//! Questions over REST: what is open, and one answer or rejection for each. The first generation's paths and bodies.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{body, http::App, problem::Problem};
use crate::{
    acp::Submission,
    control::old::{Record, Refusal, Source},
    question::{Answer, Provenance, Responder, input::AnswerInput},
};

const ANSWER: &str = r#"{"answers":[["VALUE"]]} or {"values":{"FIELD":VALUE},"notes":{}}"#;
const REJECTION: &str = r#"nothing, or {"reason":"TEXT"}"#;

/// A rejection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Rejection"))]
pub struct Rejection {
    /// Why, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which question is meant.
enum Name {
    /// By its name in the inbox.
    Inbox(String),
    /// By its session, and the agent's name for it or that in the inbox.
    Session(String, String),
}

/// Returns the routes.
pub(super) fn routes<S: Source>() -> Router<App<S>> {
    let one = "/v1/questions/{id}";
    let of_session = "/v1/sessions/{session}/questions";
    let one_of_session = "/v1/sessions/{session}/questions/{id}";
    Router::new()
        .route("/v1/questions", get(list))
        .route(of_session, get(list_of_session))
        .route(one, get(show))
        .route(&format!("{one}/reply"), post(reply))
        .route(&format!("{one}/reject"), post(reject))
        .route(one_of_session, get(show_of_session))
        .route(&format!("{one_of_session}/reply"), post(reply_of_session))
        .route(&format!("{one_of_session}/reject"), post(reject_of_session))
}

/// What is open: a [`crate::control::old::rpc::Listing`] that copies no question.
#[derive(Serialize)]
struct Listing<'a> {
    revision: u64,
    questions: Vec<&'a Record>,
}

async fn list<S: Source>(State(app): State<App<S>>) -> Response {
    listing(&app, |_| true)
}

async fn list_of_session<S: Source>(State(app): State<App<S>>, Path(session): Path<String>) -> Response {
    listing(&app, |view| view.question.session.as_ref() == Some(&session))
}

fn listing<S: Source>(app: &App<S>, wanted: impl Fn(&Record) -> bool) -> Response {
    let (revision, open) = app.open();
    let questions = open.iter().map(|view| &**view).filter(|view| wanted(view)).collect();
    Json(Listing { revision, questions }).into_response()
}

async fn show<S: Source>(State(app): State<App<S>>, Path(id): Path<String>) -> Result<Response, Problem> {
    Ok(Json(&*find(&app, &Name::Inbox(id)).await?).into_response())
}

async fn show_of_session<S: Source>(
    State(app): State<App<S>>,
    Path((session, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    Ok(Json(&*find(&app, &Name::Session(session, id)).await?).into_response())
}

async fn reply<S: Source>(
    State(app): State<App<S>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    answer(&app, &Name::Inbox(id), &headers, &body).await
}

async fn reply_of_session<S: Source>(
    State(app): State<App<S>>,
    Path((session, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    answer(&app, &Name::Session(session, id), &headers, &body).await
}

async fn reject<S: Source>(
    State(app): State<App<S>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    refuse(&app, &Name::Inbox(id), &headers, &body).await
}

async fn reject_of_session<S: Source>(
    State(app): State<App<S>>,
    Path((session, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    refuse(&app, &Name::Session(session, id), &headers, &body).await
}

async fn answer<S: Source>(
    app: &App<S>,
    name: &Name,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<StatusCode, Problem> {
    let input: AnswerInput = body::read(headers, body, ANSWER)?;
    let view = find(app, name).await?;
    let answer = input.read(&view.question).map_err(Refusal::DoesNotFit)?;
    submit_answer(app, &view, answer).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Answers a question. When this returns, the agent has the answer on its stdin (I9).
pub(super) async fn submit_answer<S: Source>(
    app: &App<S>,
    view: &Record,
    answer: Answer,
) -> Result<(), Problem> {
    Ok(app.source.submit(&view.id, Submission::Answer(answer), by()).await?)
}

async fn refuse<S: Source>(
    app: &App<S>,
    name: &Name,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<StatusCode, Problem> {
    let rejection: Rejection = body::read_if_any(headers, body, REJECTION)?;
    let view = find(app, name).await?;
    submit_rejection(app, &view, rejection.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Rejects a question. When this returns, the agent has that on its stdin (I9).
pub(super) async fn submit_rejection<S: Source>(
    app: &App<S>,
    view: &Record,
    reason: Option<String>,
) -> Result<(), Problem> {
    Ok(app.source.submit(&view.id, Submission::Reject(reason), by()).await?)
}

fn by() -> Provenance {
    Provenance { responder: Responder::Http, name: None }
}

/// Returns the question that is meant. One that is open goes before those that were settled, and of these the last:
/// an agent may use a name again.
async fn find<S: Source>(app: &App<S>, name: &Name) -> Result<Arc<Record>, Refusal> {
    let (session, id) = match name {
        Name::Inbox(id) => return app.look_up(id).await,
        Name::Session(session, id) => (session, id),
    };
    let is_meant = |view: &&Arc<Record>| {
        view.question.session.as_ref() == Some(session) && (view.question.id == *id || view.id == *id)
    };
    let (_, open) = app.open();
    let open: Vec<_> = open.iter().filter(is_meant).collect();
    match open[..] {
        [] => {
            let name = app.source.book().borrow().settled().rfind(is_meant).map(|view| view.id.clone());
            // By its name, it is known whether anything is known of it.
            let view = app.look_up(name.as_ref().unwrap_or(id)).await?;
            if is_meant(&&view) { Ok(view) } else { Err(app.source.missing(id)) }
        }
        [only] => Ok(Arc::clone(only)),
        _ => Err(Refusal::Ambiguous(open.iter().map(|view| view.id.clone()).collect())),
    }
}
