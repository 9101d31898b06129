//! The changes of an inbox as server-sent events: first those that a client missed, then each change as it happens.

use std::{borrow::Cow, sync::Arc};

use askbridge_control::inbox::{Inbox, PROTOCOL};
use askbridge_core::{
    desk::{Event, QuestionId, Record},
    question::Outcome,
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName},
    response::Response,
    routing::get,
};
use futures::StreamExt;
use serde::{Deserialize, Serialize, Serializer};

use super::{
    app::{App, FeedItem},
    labels,
    problem::Problem,
    stream::{self, SseMessage},
};

/// The data of `question.requested`, `question.changed` and `question.resolved`: a summary and the whole question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionEvent"))]
pub struct QuestionEvent<'a> {
    /// The agent's own ID of the question.
    pub question_id: Cow<'a, str>,
    /// The text of the question.
    pub prompt: Cow<'a, str>,
    /// The labels of the options of the first field.
    pub options: Vec<Cow<'a, str>>,
    /// The chosen labels and typed texts in the order of the fields, separated by commas; null without an answer.
    pub response: Option<String>,
    /// Whether the question is open, and how it ended otherwise.
    pub status: Status,
    /// The whole question.
    pub question: Cow<'a, Record>,
}

/// The data of `snapshot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionSnapshot"))]
pub struct Snapshot {
    /// The version of the control protocol.
    pub protocol: u32,
    /// The revision of the state.
    pub revision: u64,
    /// The IDs of all open questions, oldest first. No others are open.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub open: Arc<[QuestionId]>,
}

/// The status of a question, by the names of the first generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionStatus"))]
pub enum Status {
    /// It is open.
    Requested,
    /// It was answered.
    Answered,
    /// It ended without an answer.
    Rejected,
}

impl<'a> QuestionEvent<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let question = &record.question;
        // `options` is only a summary; `question` has the options of all fields.
        let choice = question.fields.first().filter(|field| !field.kind.options().is_empty());
        QuestionEvent {
            question_id: (&*question.id).into(),
            prompt: question.heading().into(),
            options: choice.map(|field| labels::labels(&field.kind)).unwrap_or_default(),
            response: labels::chosen(record).map(|fields| fields.concat().join(", ")),
            status: match record.settlement.as_ref().map(|settlement| &settlement.outcome) {
                None => Status::Requested,
                Some(Outcome::Answered(_)) => Status::Answered,
                Some(Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_)) => Status::Rejected,
            },
            question: Cow::Borrowed(record),
        }
    }
}

/// The data of an event. The question is not copied until the event is written.
struct EventData(Arc<Record>);

impl Serialize for EventData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        QuestionEvent::of(&self.0).serialize(serializer)
    }
}

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new().route("/v1/events", get(events))
}

async fn events<I: Inbox>(State(app): State<App<I>>, headers: HeaderMap) -> Result<Response, Problem> {
    let last = headers.get(HeaderName::from_static("last-event-id")).and_then(|last| last.to_str().ok());
    Ok(stream::respond(app.feeds.open(app.inbox.store(), last)?.map(message)))
}

/// Converts an item of a feed. The events of open questions have no ID: a client that is disconnected before the end of
/// the snapshot must get a new snapshot.
fn message(item: FeedItem) -> SseMessage {
    match item {
        FeedItem::Open(record) => SseMessage::new(EventData(record)).event("question.requested"),
        FeedItem::Snapshot { place, revision, open } => {
            SseMessage::new(Snapshot { protocol: PROTOCOL, revision, open }).id(&place).event("snapshot")
        }
        FeedItem::Event { place, event } => {
            let name = match &event {
                Event::Opened(_) => "question.requested",
                Event::Changed(_) => "question.changed",
                Event::Settled(_) => "question.resolved",
            };
            SseMessage::new(EventData(Arc::clone(event.record()))).id(&place).event(name)
        }
    }
}
