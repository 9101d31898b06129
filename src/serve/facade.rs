//! The part of opencode's HTTP API that its clients answer questions by, so that those made for it can answer here.
//!
//! Source: `@opencode-ai/sdk` 1.19.3, `v2/gen`: `GET /question`, `POST /question/{requestID}/reply` and `…/reject`, and
//! the `question.*` events on `GET /event`. That a session runs in some folder is not asked for: `directory` is ignored.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::{IntoResponse, Response, sse::Event},
    routing::{get, post},
};
use futures::{StreamExt, future, stream};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    body,
    chosen::chosen,
    events::{Told, respond},
    http::App,
    problem::Problem,
    rest,
    ring::Change,
};
use crate::{
    dialect::sandboxagent::request::{NO, YES},
    inbox::{Source, View, input::AnswerInput},
    question::{Field, Kind, Question},
};

/// Returns the routes.
pub(super) fn routes<S: Source>() -> Router<App<S>> {
    Router::new()
        .route("/question", get(list))
        .route("/question/{id}/reply", post(reply))
        .route("/question/{id}/reject", post(reject))
        .route("/event", get(events))
}

/// A question as opencode says it.
#[derive(Serialize)]
struct Request<'a> {
    id: &'a str,
    #[serde(rename = "sessionID")]
    session: &'a str,
    questions: Vec<Info<'a>>,
}

#[derive(Serialize)]
struct Info<'a> {
    question: String,
    header: &'a str,
    options: Vec<Choice<'a>>,
    multiple: bool,
    /// Whether a text may be typed instead; where it is left out, clients take it that one may.
    custom: bool,
}

#[derive(Serialize)]
struct Choice<'a> {
    label: &'a str,
    description: &'a str,
}

impl<'a> Request<'a> {
    fn of(view: &'a View) -> Self {
        let question = &view.question;
        let infos = question.fields.iter().enumerate();
        Request {
            id: &view.id,
            session: session(view),
            questions: infos.map(|(index, field)| Info::of(question, index == 0, field)).collect(),
        }
    }
}

impl<'a> Info<'a> {
    fn of(question: &'a Question, first: bool, field: &'a Field) -> Self {
        // There is no place for what the form as a whole asks, but before its first field.
        let message = Some(&question.message).filter(|message| first && **message != field.label);
        let texts = [message, Some(&field.label), field.help.as_ref()];
        let texts: Vec<_> =
            texts.into_iter().flatten().filter(|text| !text.is_empty()).map(|text| &**text).collect();
        let options = options(&field.kind);
        Info {
            question: texts.join("\n\n"),
            header: field.header.as_ref().or(question.title.as_ref()).unwrap_or(&field.name),
            multiple: matches!(field.kind, Kind::Choices { .. }),
            custom: options.is_empty() || field.kind.takes_other(),
            options,
        }
    }
}

fn options(kind: &Kind) -> Vec<Choice<'_>> {
    let plain = |label| Choice { label, description: "" };
    match kind {
        Kind::Boolean { .. } => vec![plain(YES), plain(NO)],
        Kind::Confirm { yes, no } => vec![plain(yes), plain(no)],
        kind => kind
            .options()
            .iter()
            .map(|option| Choice {
                label: &option.label,
                description: option.description.as_deref().unwrap_or_default(),
            })
            .collect(),
    }
}

/// Some dialects tell no session, and opencode's clients need one.
fn session(view: &View) -> &str {
    view.question.session.as_deref().unwrap_or_default()
}

async fn list<S: Source>(State(app): State<App<S>>) -> Response {
    let (_, open) = app.open();
    Json(open.iter().map(|view| Request::of(view)).collect::<Vec<_>>()).into_response()
}

async fn reply<S: Source>(
    State(app): State<App<S>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<bool>, Problem> {
    let input: AnswerInput = body::read(&headers, &body, rest::ANSWER)?;
    rest::submit_answer(&app, &*app.find(&id)?, input).await?;
    Ok(Json(true))
}

async fn reject<S: Source>(State(app): State<App<S>>, Path(id): Path<String>) -> Result<Json<bool>, Problem> {
    rest::submit_rejection(&app, &*app.find(&id)?, None).await?;
    Ok(Json(true))
}

async fn events<S: Source>(State(app): State<App<S>>) -> Result<Response, Problem> {
    let connected = stream::once(future::ready(message("connected", "server.connected", &json!({}))));
    let events = connected.chain(app.events.after(None)?.map(event));
    Ok(respond(events.filter_map(future::ready)))
}

fn event(told: Told) -> Option<Event> {
    match told {
        Told::Open(view) => message(&view.id, "question.asked", &Request::of(&view)),
        Told::Change(name, Change::Requested(view) | Change::Changed(view)) => {
            message(&name, "question.asked", &Request::of(&view))
        }
        Told::Change(name, Change::Resolved(view)) => {
            let (session, request) = (session(&view), &view.id);
            match chosen(&view) {
                Some(answers) => {
                    let properties =
                        json!({ "sessionID": session, "requestID": request, "answers": answers });
                    message(&name, "question.replied", &properties)
                }
                None => {
                    let properties = json!({ "sessionID": session, "requestID": request });
                    message(&name, "question.rejected", &properties)
                }
            }
        }
        Told::Snapshot(..) => None,
    }
}

fn message(id: &str, kind: &str, properties: &impl Serialize) -> Option<Event> {
    let properties = serde_json::to_value(properties).unwrap_or(Value::Null);
    Event::default()
        .json_data(json!({ "id": format!("evt_{id}"), "type": kind, "properties": properties }))
        .ok()
}
