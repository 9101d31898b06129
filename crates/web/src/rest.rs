//! Questions over REST: listing, asking, answering, rejecting and extending them. `POST /v1/questions` waits until its
//! question is settled. Most paths and bodies are those of the first generation.
//! Holding an asked question, and withdrawing it when its request is dropped, is left to the inbox.

use std::{collections::BTreeMap, iter, num::NonZeroU64, sync::Arc, time::Duration};

use askbridge_control::{
    inbox::{Inbox, PROTOCOL},
    rpc::history::{HistoryListing, HistoryParams},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Field, Origin, Provenance, Question, Responder, input::ReplyInput},
};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{app::App, body, problem::Problem, stream};

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

/// The parameters of a path of one question.
#[derive(Deserialize)]
struct QuestionPath {
    /// The session, under which the agent's own ID of the question is accepted as well.
    session: Option<String>,
    id: String,
}

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    let routes = Router::new()
        .route("/v1/questions", get(list).post(ask))
        .route("/v1/history", get(history))
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

async fn show<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
) -> Result<Response, Problem> {
    Ok(stream::json(find(&app, &name).await?))
}

async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let ReplyInput { seen, answer } = body::read(&headers, body, ANSWER)?;
    let record = find(&app, &name).await?;
    let answer = answer.read(&record.question).map_err(Refusal::DoesNotFit)?;
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
    Ok(stream::json(app.inbox.submit(&record.id, more, by()).await?))
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

/// Finds a question. Prefers an open question to settled ones, and the latest of these: an agent may reuse an ID.
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
            // The look-up also tells whether the question was lost, which the snapshot's record alone does not.
            let record = app.look_up(settled.as_ref().unwrap_or(id)).await?;
            Some(record).filter(|record| is_meant(&record)).ok_or(Refusal::NotFound)
        }
        [only] => Ok(Arc::clone(only)),
        // Two agents may use the same IDs for a session and a question.
        _ => Err(Refusal::Ambiguous(open.iter().map(|record| record.id.clone()).collect())),
    }
}

const QUESTION: &str = r#"{"message":"TEXT","fields":[{"name":"NAME","label":"TEXT","kind":"text"}]}"#;

/// The default ID of a question, which `askbridge ask` uses too.
const UNNAMED: &str = "ask";

/// A question to ask: the members of a question that its asker chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "NewQuestion"))]
pub struct NewQuestion {
    /// The session that the question belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The asker's own ID of the question; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// The name of the program that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the program works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The subject of the question, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The question that the form as a whole asks. Empty if the labels of the fields say it all.
    #[serde(default)]
    pub message: String,
    /// The fields to fill in; at least one.
    pub fields: Vec<Field>,
    /// The label of the button that sends the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// How long to wait for an answer, in milliseconds. By default, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl From<NewQuestion> for Question {
    fn from(new: NewQuestion) -> Self {
        let id = new.question_id.as_deref().unwrap_or(UNNAMED);
        Question {
            session: new.session_id.filter(|session| !session.is_empty()),
            agent: new.agent.map(Into::into),
            project: new.project.map(Into::into),
            title: new.title,
            message: new.message,
            submit: new.submit,
            dangerous: new.dangerous,
            timeout: new.timeout_ms.map(Duration::from_millis),
            ..Question::new(Origin::Program, id, new.fields)
        }
    }
}

/// Asks a question, and returns how it was settled. hyper drops this future, or the body that has taken it over, when the
/// client disconnects, which withdraws the question.
pub(super) async fn ask<I: Inbox>(
    State(app): State<App<I>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let question: NewQuestion = body::read(&headers, body, QUESTION)?;
    let asking = async move { app.inbox.ask(question.into()).await.map(stream::json) };
    Ok(stream::when_ready(asking).await?)
}
