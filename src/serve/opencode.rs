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
    response::Response,
    routing::{get, post},
};
use futures::{Stream, StreamExt, future, stream};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    app::App,
    body,
    feed::Item,
    labels,
    problem::Problem,
    rest,
    sse::{Message, respond},
    window,
};
use crate::{
    control::inbox::Inbox,
    desk::{self, QuestionId, Record, Refusal},
    limits,
    question::{Field, Kind, Question},
};

const ANSWER: &str = r#"{"answers":[["LABEL"]]}"#;

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new()
        .route("/question", get(list))
        .route("/question/{id}/reply", post(reply))
        .route("/question/{id}/reject", post(reject))
        .route("/event", get(events))
}

/// A question as opencode writes it.
#[derive(Serialize)]
struct Request<'a> {
    id: &'a QuestionId,
    #[serde(rename = "sessionID")]
    session: &'a str,
    questions: Vec<Info<'a>>,
}

#[derive(Serialize)]
struct Info<'a> {
    question: String,
    /// A very short label, for a tab or a chip.
    header: Cow<'a, str>,
    options: Vec<Choice<'a>>,
    multiple: bool,
    /// Whether a text may be typed instead. Clients take a missing member for true.
    custom: bool,
}

#[derive(Serialize)]
struct Choice<'a> {
    label: Cow<'a, str>,
    description: &'a str,
}

/// An answer. Other members mean nothing, as in opencode.
#[derive(Deserialize)]
struct Reply {
    answers: Vec<Vec<String>>,
}

impl<'a> Request<'a> {
    fn of(record: &'a Record) -> Self {
        let question = &record.question;
        let infos = question.fields.iter().enumerate();
        Request {
            id: &record.id,
            session: session(record),
            questions: infos.map(|(index, field)| Info::of(question, index == 0, field)).collect(),
        }
    }
}

impl<'a> Info<'a> {
    fn of(question: &'a Question, first: bool, field: &'a Field) -> Self {
        // There is no other place for the message of the form than before its first field.
        let message = Some(&question.message).filter(|message| first && **message != field.label);
        let texts = [message, Some(&field.label), field.help.as_ref()];
        let texts: Vec<_> =
            texts.into_iter().flatten().filter(|text| !text.is_empty()).map(|text| &**text).collect();
        let options = options(&field.kind);
        Info {
            question: texts.join("\n\n"),
            header: header(question, field),
            multiple: matches!(field.kind, Kind::Choices { .. }),
            custom: options.is_empty() || field.kind.takes_other(),
            options,
        }
    }
}

/// Characters of the longest header that is made up here: as many as opencode allows its own agents.
const HEADER: usize = 30;

/// Returns the header of a field, or else the beginning of its text. A name such as `q0` tells a person nothing.
fn header<'a>(question: &'a Question, field: &'a Field) -> Cow<'a, str> {
    let is_said = |text: &&String| !text.trim().is_empty();
    // The title of a form of several fields would be the same on each of its tabs.
    let title = question.title.as_ref().filter(|_| question.fields.len() == 1);
    if let Some(header) = [field.header.as_ref(), title].into_iter().flatten().find(is_said) {
        return header.into();
    }
    let text = [&field.label, &question.message].into_iter().find(is_said);
    text.map_or("Question".into(), |text| shortened(text.trim()))
}

/// Returns the first line of a text, cut behind a word if it is longer than a header.
fn shortened(text: &str) -> Cow<'_, str> {
    let line = text.lines().next().unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(HEADER) else { return line.into() };
    // One character less, for the ellipsis.
    let cut = line[..end].char_indices().next_back().map_or("", |(last, _)| &line[..last]);
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end()).into()
}

/// Returns what can be chosen. A reply has nothing but the label.
fn options(kind: &Kind) -> Vec<Choice<'_>> {
    let descriptions = kind.options().iter().map(|option| option.description.as_deref().unwrap_or_default());
    let choice = |(label, description)| Choice { label, description };
    labels::labels(kind).into_iter().zip(descriptions.chain(iter::repeat(""))).map(choice).collect()
}

/// Returns the session. Some dialects have none, and opencode's clients need one.
fn session(record: &Record) -> &str {
    record.question.session.as_deref().unwrap_or_default()
}

/// A question that is converted when it is written.
struct Data(Arc<Record>);

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Request::of(&self.0).serialize(serializer)
    }
}

async fn list<I: Inbox>(State(app): State<App<I>>) -> Response {
    let open = app.open().1.iter().map(|record| record.id.clone()).collect();
    window::json_of(window::body(app.array(open, Data)))
}

async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<bool>, Problem> {
    let reply: Reply = body::read(&headers, body, ANSWER)?;
    let record = app.look_up(&id).await?;
    let answer = labels::answer(&record.question, reply.answers).map_err(Refusal::DoesNotFit)?;
    rest::submit_answer(&app, &record.id, answer).await?;
    Ok(Json(true))
}

async fn reject<I: Inbox>(State(app): State<App<I>>, Path(id): Path<String>) -> Result<Json<bool>, Problem> {
    rest::submit_rejection(&app, &app.look_up(&id).await?.id, None).await?;
    Ok(Json(true))
}

async fn events<I: Inbox>(State(app): State<App<I>>) -> Result<Response, Problem> {
    let connected = message("connected", "server.connected", Map::<String, Value>::new());
    let items = app.feeds.open(app.inbox.store(), None)?;
    let store = app.inbox.store().clone();
    let mut shown = Shown::default();
    let events = items.flat_map(move |item| {
        let find = |id: &QuestionId| store.read(|_, snapshot| snapshot.get(id).cloned());
        stream::iter(shown.messages(item, find))
    });
    Ok(respond(stream::once(future::ready(connected)).chain(with_heartbeats(events))))
}

/// Bytes of the longest session that is remembered of a question that is shown.
const SESSION: usize = 256;

/// The questions that a client shows, by what it was told, with their sessions.
#[derive(Default)]
struct Shown(BTreeMap<QuestionId, String>);

impl Shown {
    /// Returns what to tell the client. After a gap, that is also the end of each question that ended in it: not every
    /// client lists the questions again when it reconnects. `find` knows the questions that ended last.
    fn messages(&mut self, item: Item, find: impl Fn(&QuestionId) -> Option<Arc<Record>>) -> Vec<Message> {
        match item {
            Item::Open(record) => vec![self.asked(&record.id.to_string(), record)],
            Item::Event { place, event: desk::Event::Settled(record) } => {
                self.0.remove(&record.id);
                vec![resolved(&place, &record)]
            }
            Item::Event { place, event } => vec![self.asked(&place, Arc::clone(event.record()))],
            Item::Snapshot { place, open, .. } => {
                let open: BTreeSet<_> = open.iter().collect();
                let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
                    mem::take(&mut self.0).into_iter().partition(|(id, _)| open.contains(id));
                self.0 = kept;
                let end = |(id, session): (QuestionId, String)| {
                    let place = format!("{place}-{id}");
                    match find(&id).filter(|record| !record.is_open()) {
                        Some(record) => resolved(&place, &record),
                        None => ended(&place, &id, &session, None),
                    }
                };
                gone.into_iter().map(end).collect()
            }
        }
    }

    fn asked(&mut self, name: &str, record: Arc<Record>) -> Message {
        // A longer one is left out, so that what a stream holds is bounded (I6).
        let session = Some(session(&record)).filter(|session| session.len() <= SESSION);
        self.0.insert(record.id.clone(), session.unwrap_or_default().to_owned());
        message(name, "question.asked", Data(record))
    }
}

fn resolved(name: &str, record: &Record) -> Message {
    ended(name, &record.id, session(record), labels::chosen(record))
}

fn ended(name: &str, id: &QuestionId, session: &str, answers: Option<Vec<Vec<String>>>) -> Message {
    let mut properties = json!({ "sessionID": session, "requestID": id });
    match answers {
        Some(answers) => {
            properties["answers"] = answers.into();
            message(name, "question.replied", properties)
        }
        None => message(name, "question.rejected", properties),
    }
}

/// Adds heartbeats for opencode's clients, which do not get to see a comment.
fn with_heartbeats(events: impl Stream<Item = Message> + Send) -> impl Stream<Item = Message> + Send {
    let mut beats = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold((Box::pin(events), beats, 0_u64), async |(mut events, mut beats, count)| {
        tokio::select! {
            biased;
            event = events.next() => Some((event?, (events, beats, count))),
            _ = beats.tick() => {
                let beat = message(&format!("heartbeat-{count}"), "server.heartbeat", Map::<String, Value>::new());
                Some((beat, (events, beats, count + 1)))
            }
        }
    })
}

/// An event as opencode writes it.
#[derive(Serialize)]
struct Envelope<T> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    properties: T,
}

fn message(id: &str, kind: &'static str, properties: impl Serialize + Send + 'static) -> Message {
    Message::new(Envelope { id: format!("evt_{id}"), kind, properties })
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;
    use crate::{
        desk::{Event, Settlement, Timestamp},
        question::{Answer, Field, Kind, Origin, Outcome, Provenance, Reason},
    };

    fn record(number: u64, outcome: Option<Outcome>) -> Arc<Record> {
        let mut question =
            Question::new(Origin::Kiro, "q", vec![Field::at(0, "Why?".to_owned(), None, Kind::free_text())]);
        question.session = Some("s".to_owned());
        let record = Record::new(id(number), Arc::new(question), Timestamp::default());
        let settled = |outcome| Settlement::new(outcome, Provenance::bridge(), Timestamp::default());
        Arc::new(match outcome {
            Some(outcome) => record.settled(settled(outcome)),
            None => record,
        })
    }

    fn id(number: u64) -> QuestionId {
        format!("b-{number}").parse().unwrap()
    }

    fn happened(event: Event) -> Item {
        Item::Event { place: "e-1".to_owned(), event }
    }

    fn snapshot(open: &[u64]) -> Item {
        Item::Snapshot { place: "e-1".to_owned(), revision: 1, open: open.iter().copied().map(id).collect() }
    }

    /// Returns the data of these events, without their IDs.
    async fn sent(messages: Vec<Message>) -> Vec<Value> {
        let body = respond(stream::iter(messages)).into_body();
        let text = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| {
            let mut event: Value = serde_json::from_str(data).unwrap();
            event.as_object_mut().unwrap().remove("id").unwrap();
            event
        })
        .collect()
    }

    #[test]
    fn a_header_is_short_and_never_the_name_of_a_field() {
        let field = |label: &str, header: Option<&str>| {
            Field::at(0, label.to_owned(), header.map(str::to_owned), Kind::free_text())
        };
        let told = |label: &str, given: Option<&str>, title: Option<&str>, message: &str, count: usize| {
            let fields = vec![field(label, given); count];
            let mut question = Question::new(Origin::Kiro, "q", fields);
            (question.title, question.message) = (title.map(str::to_owned), message.to_owned());
            header(&question, &question.fields[0]).into_owned()
        };
        assert_eq!(told("Why?", Some("Reason"), Some("Title"), "", 1), "Reason");
        assert_eq!(told("Why?", None, Some("Title"), "", 1), "Title");
        assert_eq!(told("Why?", None, Some("Title"), "", 2), "Why?", "each tab has a header of its own");
        assert_eq!(told("", Some(" "), None, "Why\nnot?", 1), "Why");
        assert_eq!(told("", None, None, "", 1), "Question");
        let long = "Which database should the payments service use?";
        assert_eq!(told(long, None, None, "", 1), "Which database should the…");
        assert_eq!(told(&"ü".repeat(31), None, None, "", 1), format!("{}…", "ü".repeat(29)));
        assert_eq!(told(&"ü".repeat(30), None, None, "", 1), "ü".repeat(30));
    }

    #[tokio::test]
    async fn questions_that_ended_in_a_gap_are_told() {
        let mut shown = Shown::default();
        let answer = Answer {
            values: [("q0".to_owned(), crate::question::Value::Text("so".to_owned()))].into(),
            ..Answer::default()
        };
        let answered = record(4, Some(Outcome::Answered(answer)));
        let find = |asked: &QuestionId| (*asked == id(4)).then(|| Arc::clone(&answered));
        let mut messages = |item| shown.messages(item, find);
        assert!(messages(snapshot(&[])).is_empty(), "nothing is shown yet");
        assert_eq!(messages(Item::Open(record(1, None))).len(), 1);
        for number in 2..=5 {
            assert_eq!(messages(happened(Event::Opened(record(number, None)))).len(), 1);
        }
        let rejected = Outcome::Rejected(Reason::Withdrawn);
        assert_eq!(messages(happened(Event::Settled(record(2, Some(rejected))))).len(), 1);
        // One is open still, one has opened, and the others went. How one of them ended is known.
        assert_eq!(messages(Item::Open(record(5, None))).len(), 1);
        assert_eq!(messages(Item::Open(record(6, None))).len(), 1);
        let gone = messages(snapshot(&[5, 6]));
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
        let gone = messages(snapshot(&[]));
        assert_eq!(sent(gone).await.len(), 2, "once each");
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_heartbeats_while_nothing_happens() {
        let start = Instant::now();
        let second = std::time::Duration::from_secs(1);
        // The clock is paused until all tasks wait for it.
        let after = async |seconds: u32| {
            interval_at(start + second * seconds, second).tick().await;
        };
        let events = stream::iter([5, 27]).then(async |seconds| {
            after(seconds).await;
            message("e", "question.rejected", json!({}))
        });
        let ended = stream::once(after(28)).filter_map(async |()| None);
        let told = with_heartbeats(events.chain(ended));
        let told: Vec<_> = told.map(|event| (event, start.elapsed().as_secs())).collect().await;
        let (events, times): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        assert_eq!(times, [5, 10, 20, 27]);
        let beat = json!({ "type": "server.heartbeat", "properties": {} });
        assert_eq!(sent(events).await[1..3], [beat.clone(), beat]);
        assert_eq!(start.elapsed().as_secs(), 28, "it ends with the events");
    }
}
