//! The part of opencode's HTTP API that its clients answer questions by, so that those made for it can answer here.
//!
//! Source: `@opencode-ai/sdk` 1.19.3, `v2/gen`: `GET /question`, `POST /question/{requestID}/reply` and `…/reject`, and
//! the `question.*` events on `GET /event`. That a session runs in some folder is not asked for: `directory` is ignored.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    iter, mem,
    sync::Arc,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::{IntoResponse, Response, sse::Event},
    routing::{get, post},
};
use futures::{Stream, StreamExt, future, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    body,
    events::{Told, respond},
    http::App,
    labels,
    problem::Problem,
    rest,
    ring::Change,
};
use crate::{
    control::old::{Record, Refusal, Source},
    limits,
    question::{Field, Kind, Question},
};

const ANSWER: &str = r#"{"answers":[["LABEL"]]}"#;

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
    label: Cow<'a, str>,
    description: &'a str,
}

/// What is sent as an answer. What else is in it means nothing, as to opencode.
#[derive(Deserialize)]
struct Reply {
    answers: Vec<Vec<String>>,
}

impl<'a> Request<'a> {
    fn of(view: &'a Record) -> Self {
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

/// What is chosen comes back by its label alone.
fn options(kind: &Kind) -> Vec<Choice<'_>> {
    let descriptions = kind.options().iter().map(|option| option.description.as_deref().unwrap_or_default());
    let choice = |(label, description)| Choice { label, description };
    labels::labels(kind).into_iter().zip(descriptions.chain(iter::repeat(""))).map(choice).collect()
}

/// Some dialects tell no session, and opencode's clients need one.
fn session(view: &Record) -> &str {
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
    let reply: Reply = body::read(&headers, &body, ANSWER)?;
    let view = app.look_up(&id).await?;
    let answer = labels::answer(&view.question, reply.answers).map_err(Refusal::DoesNotFit)?;
    rest::submit_answer(&app, &view, answer).await?;
    Ok(Json(true))
}

async fn reject<S: Source>(State(app): State<App<S>>, Path(id): Path<String>) -> Result<Json<bool>, Problem> {
    rest::submit_rejection(&app, &*app.look_up(&id).await?, None).await?;
    Ok(Json(true))
}

async fn events<S: Source>(State(app): State<App<S>>) -> Result<Response, Problem> {
    let connected = stream::once(future::ready(message("connected", "server.connected", &json!({}))));
    let told = app.events.after(None)?;
    let mut shown = Shown::default();
    let events = told.flat_map(move |told| {
        let what_became = |id: &str| app.find(id).ok();
        stream::iter(shown.hear(told, what_became))
    });
    let events = connected.chain(with_heartbeats(events));
    Ok(respond(events.filter_map(future::ready)))
}

/// What a client shows, by what it was told.
#[derive(Default)]
struct Shown(BTreeMap<String, Arc<Record>>);

impl Shown {
    /// Returns what to tell of it. After a gap, that is also the end of each question that ended in it: not every client
    /// lists the questions again when it connects again. `what_became` knows those that ended last.
    fn hear(&mut self, told: Told, what_became: impl Fn(&str) -> Option<Arc<Record>>) -> Vec<Option<Event>> {
        match told {
            Told::Open(view) => {
                let message = asked(&view.id, &view);
                self.0.insert(view.id.clone(), view);
                vec![message]
            }
            Told::Change(name, Change::Requested(view) | Change::Changed(view)) => {
                let message = asked(&name, &view);
                self.0.insert(view.id.clone(), view);
                vec![message]
            }
            Told::Change(name, Change::Resolved(view)) => {
                self.0.remove(&view.id);
                vec![resolved(&name, &view)]
            }
            Told::Snapshot(name, open) => {
                let open: BTreeSet<_> = open.iter().map(|view| &view.id).collect();
                let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
                    mem::take(&mut self.0).into_iter().partition(|(id, _)| open.contains(id));
                self.0 = kept;
                gone.into_iter()
                    .map(|(id, view)| resolved(&format!("{name}-{id}"), &what_became(&id).unwrap_or(view)))
                    .collect()
            }
        }
    }
}

fn asked(name: &str, view: &Record) -> Option<Event> {
    message(name, "question.asked", &Request::of(view))
}

fn resolved(name: &str, view: &Record) -> Option<Event> {
    let mut properties = json!({ "sessionID": session(view), "requestID": view.id });
    match labels::chosen(view) {
        Some(answers) => {
            properties["answers"] = answers.into();
            message(name, "question.replied", &properties)
        }
        None => message(name, "question.rejected", &properties),
    }
}

/// Adds what tells opencode's clients that somebody is there, which a comment does not: they do not get to see it.
fn with_heartbeats(
    events: impl Stream<Item = Option<Event>> + Send,
) -> impl Stream<Item = Option<Event>> + Send {
    let mut beats = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold((Box::pin(events), beats, 0_u64), async |(mut events, mut beats, count)| {
        tokio::select! {
            biased;
            event = events.next() => Some((event?, (events, beats, count))),
            _ = beats.tick() => {
                let beat = message(&format!("heartbeat-{count}"), "server.heartbeat", &json!({}));
                Some((beat, (events, beats, count + 1)))
            }
        }
    })
}

fn message(id: &str, kind: &str, properties: &impl Serialize) -> Option<Event> {
    let properties = serde_json::to_value(properties).unwrap_or(Value::Null);
    Event::default()
        .json_data(json!({ "id": format!("evt_{id}"), "type": kind, "properties": properties }))
        .ok()
}

#[cfg(test)]
mod tests {
    use axum::{body::to_bytes, response::Sse};
    use futures::StreamExt;

    use crate::serve::opencode::*;
    use crate::{
        control::old::Settlement,
        question::{Answer, Field, Kind, Origin, Outcome, Provenance, Reason},
    };

    fn view(number: u64, outcome: Option<Outcome>) -> Arc<Record> {
        let mut question =
            Question::new(Origin::Kiro, "q", vec![Field::at(0, "Why?".to_owned(), None, Kind::free_text())]);
        question.session = Some("s".to_owned());
        let settlement = outcome.map(|outcome| Settlement {
            outcome,
            by: Provenance::bridge(),
            at: String::new(),
            remark: None,
        });
        let view =
            json!({ "id": format!("b-{number}"), "bridge": "b", "question": question, "openedAt": "" });
        Arc::new(Record { settlement, ..serde_json::from_value(view).unwrap() })
    }

    /// Returns what is sent, event by event, without the names.
    async fn sent(events: Vec<Option<Event>>) -> Vec<Value> {
        let events = events.into_iter().flatten().map(Ok::<_, axum::Error>);
        let body = Sse::new(stream::iter(events)).into_response().into_body();
        let text = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| {
            let mut event: Value = serde_json::from_str(data).unwrap();
            event.as_object_mut().unwrap().remove("id").unwrap();
            event
        })
        .collect()
    }

    #[tokio::test]
    async fn what_ended_in_a_gap_is_told() {
        let mut shown = Shown::default();
        let answer = Answer {
            values: [("q0".to_owned(), crate::question::Value::Text("so".to_owned()))].into(),
            ..Answer::default()
        };
        let answered = view(4, Some(Outcome::Answered(answer)));
        let what_became = |id: &str| (id == "b-4").then(|| Arc::clone(&answered));
        let mut hear = |told| shown.hear(told, what_became);
        let name = || "e-1".to_owned();
        assert!(hear(Told::Snapshot(name(), Vec::new())).is_empty(), "nothing is shown yet");
        assert_eq!(hear(Told::Open(view(1, None))).len(), 1);
        for number in 2..=5 {
            assert_eq!(hear(Told::Change(name(), Change::Requested(view(number, None)))).len(), 1);
        }
        let rejected = Outcome::Rejected(Reason::Withdrawn);
        assert_eq!(hear(Told::Change(name(), Change::Resolved(view(2, Some(rejected))))).len(), 1);
        // One is open still, one has opened, and the others went: what became of one of them is known.
        assert_eq!(hear(Told::Open(view(5, None))).len(), 1);
        assert_eq!(hear(Told::Open(view(6, None))).len(), 1);
        let gone = hear(Told::Snapshot(name(), vec![view(5, None), view(6, None)]));
        let over = |kind: &str, properties: Value| json!({ "type": kind, "properties": properties });
        assert_eq!(
            sent(gone).await,
            [
                over("question.rejected", json!({ "sessionID": "s", "requestID": "b-1" })),
                over("question.rejected", json!({ "sessionID": "s", "requestID": "b-3" })),
                over(
                    "question.replied",
                    json!({ "sessionID": "s", "requestID": "b-4", "answers": [["so"]] })
                ),
            ]
        );
        let gone = hear(Told::Snapshot(name(), Vec::new()));
        assert_eq!(sent(gone).await.len(), 2, "once each");
    }

    #[tokio::test(start_paused = true)]
    async fn a_heart_beats_while_nothing_happens() {
        let start = Instant::now();
        let second = std::time::Duration::from_secs(1);
        // The clock stands still until all wait for it.
        let after = async |seconds: u32| {
            interval_at(start + second * seconds, second).tick().await;
        };
        let events = stream::iter([5, 27]).then(async |seconds| {
            after(seconds).await;
            message("e", "question.rejected", &json!({}))
        });
        let ended = stream::once(after(28)).filter_map(async |()| None);
        let told = with_heartbeats(events.chain(ended));
        let told: Vec<_> = told.map(|event| (event, start.elapsed().as_secs())).collect().await;
        let (events, times): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        assert_eq!(times, [5, 10, 20, 27]);
        let beat = json!({ "type": "server.heartbeat", "properties": {} });
        assert_eq!(sent(events).await[1..3], [beat.clone(), beat]);
        assert_eq!(start.elapsed().as_secs(), 28, "it ends with what it tells of");
    }
}
