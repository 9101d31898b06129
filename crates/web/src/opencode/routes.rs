//! The paths of opencode's API, and its event stream, which reports the changes of questions and permissions.
//! Listing and answering them, and the JSON of each event, is left to `question.rs` and `permission.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use askbridge_control::inbox::Inbox;
use askbridge_core::desk::{self, QuestionId, Record};
use axum::{
    Router,
    extract::State,
    response::Response,
    routing::{get, post},
};
use futures::{Stream, StreamExt, future, stream};
use serde_json::{Map, Value};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    permission,
    question::{self, is_permission, message, session},
    shown::ShownId,
};
use crate::{
    app::{App, FeedItem},
    limits,
    problem::Problem,
    stream::{SseMessage, respond},
};

/// Returns the routes.
pub(crate) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new()
        .route("/question", get(question::list))
        .route("/question/{id}/reply", post(question::reply))
        .route("/question/{id}/reject", post(question::reject))
        .route("/permission", get(permission::list))
        .route("/permission/{id}/reply", post(permission::reply))
        // Deprecated in the API, but the only path of older clients.
        .route("/session/{session}/permissions/{id}", post(permission::respond))
        .route("/event", get(events))
}

/// Sends events until the client disconnects.
pub(super) async fn events<I: Inbox>(State(app): State<App<I>>) -> Result<Response, Problem> {
    let connected = message("connected", "server.connected", Map::<String, Value>::new());
    // These events have no SSE ID, so a client that reconnects cannot name a place to continue from.
    let items = app.feeds.open(app.inbox.store(), None)?;
    let store = app.inbox.store().clone();
    let mut shown = ShownQuestions::default();
    let events = items.flat_map(move |item| {
        let find = |id: &QuestionId| store.read(|_, snapshot| snapshot.get(id).cloned());
        stream::iter(shown.messages(item, find))
    });
    Ok(respond(stream::once(future::ready(connected)).chain(with_heartbeats(events))))
}

/// Bytes of the longest session ID that is remembered for a question that a client shows.
const SESSION: usize = 256;

/// What must be known of a question or permission that a client shows, to report its end.
struct QuestionSummary {
    id: ShownId,
    session: String,
    permission: bool,
}

impl QuestionSummary {
    fn of(record: &Record) -> Self {
        // A longer ID is left out, so that the memory of a stream is bounded (I6).
        let session = Some(session(record)).filter(|session| session.len() <= SESSION);
        QuestionSummary {
            id: ShownId::of(record),
            session: session.unwrap_or_default().to_owned(),
            permission: is_permission(record),
        }
    }

    /// Returns the event of its end. `record` has its outcome, if that is known.
    fn ended(&self, name: &str, record: Option<&Record>) -> SseMessage {
        let ended = if self.permission { permission::ended } else { question::ended };
        ended(name, &self.id, &self.session, record)
    }
}

/// The questions and permissions that a client shows, according to the events that it was sent.
#[derive(Default)]
struct ShownQuestions(BTreeMap<QuestionId, QuestionSummary>);

impl ShownQuestions {
    /// Returns the events to send. After a gap, they include the end of each question that ended in the gap: not every
    /// client lists the questions again when it reconnects. `find` returns questions that ended recently.
    fn messages(
        &mut self,
        item: FeedItem,
        find: impl Fn(&QuestionId) -> Option<Arc<Record>>,
    ) -> Vec<SseMessage> {
        match item {
            FeedItem::Open(record) => self.asked(&record.id.to_string(), record),
            FeedItem::Event { place, event: desk::Event::Settled(record) } => {
                let brief = self.0.remove(&record.id).unwrap_or_else(|| QuestionSummary::of(&record));
                vec![brief.ended(&place, Some(&record))]
            }
            FeedItem::Event { place, event } => self.asked(&place, Arc::clone(event.record())),
            FeedItem::Snapshot { place, open, .. } => {
                let open: BTreeSet<_> = open.iter().collect();
                let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
                    mem::take(&mut self.0).into_iter().partition(|(id, _)| open.contains(id));
                self.0 = kept;
                let end = |(id, brief): (QuestionId, QuestionSummary)| {
                    let record = find(&id).filter(|record| !record.is_open());
                    brief.ended(&format!("{place}-{id}"), record.as_deref())
                };
                gone.into_iter().map(end).collect()
            }
        }
    }

    /// Returns the events of an open question. If the client shows an earlier text of it, that one ends first.
    fn asked(&mut self, name: &str, record: Arc<Record>) -> Vec<SseMessage> {
        let earlier = self.0.insert(record.id.clone(), QuestionSummary::of(&record));
        let earlier = earlier.filter(|brief| brief.id.edition != record.edition);
        let mut messages: Vec<_> =
            earlier.map(|brief| brief.ended(&format!("{name}-earlier"), None)).into_iter().collect();
        if is_permission(&record) {
            messages.extend(permission::asked(name, &record));
        } else {
            messages.push(question::asked(name, record));
        }
        messages
    }
}

/// Adds heartbeats for opencode's clients, whose parser drops SSE comments.
fn with_heartbeats(events: impl Stream<Item = SseMessage> + Send) -> impl Stream<Item = SseMessage> + Send {
    let mut beats = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
    // The default would send all heartbeats that were missed while the client did not read.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold((Box::pin(events), beats, 0_u64), async |(mut events, mut beats, count)| {
        tokio::select! {
            // An event that is ready makes the heartbeat before it unnecessary.
            biased;
            event = events.next() => Some((event?, (events, beats, count))),
            _ = beats.tick() => {
                let beat = message(&format!("heartbeat-{count}"), "server.heartbeat", Map::<String, Value>::new());
                Some((beat, (events, beats, count + 1)))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use askbridge_core::{
        desk::{Event, Settlement, Timestamp},
        question::{Answer, Field, Kind, Origin, Outcome, Provenance, Purpose, Question, Reason},
    };
    use axum::body::to_bytes;
    use serde_json::json;

    use super::*;

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

    fn happened(event: Event) -> FeedItem {
        FeedItem::Event { place: "e-1".to_owned(), event }
    }

    fn snapshot(open: &[u64]) -> FeedItem {
        FeedItem::Snapshot {
            place: "e-1".to_owned(),
            revision: 1,
            open: open.iter().copied().map(id).collect(),
        }
    }

    /// Returns the data of these events, without their IDs.
    async fn sent(messages: Vec<SseMessage>) -> Vec<Value> {
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

    #[tokio::test]
    async fn questions_that_ended_in_a_gap_are_told() {
        let mut shown = ShownQuestions::default();
        let answer = Answer {
            values: [("q0".to_owned(), askbridge_core::question::Value::Text("so".to_owned()))].into(),
            ..Answer::default()
        };
        let answered = record(4, Some(Outcome::Answered(answer)));
        let find = |asked: &QuestionId| (*asked == id(4)).then(|| Arc::clone(&answered));
        let mut messages = |item| shown.messages(item, find);
        assert!(messages(snapshot(&[])).is_empty(), "nothing is shown yet");
        assert_eq!(messages(FeedItem::Open(record(1, None))).len(), 1);
        for number in 2..=5 {
            assert_eq!(messages(happened(Event::Opened(record(number, None)))).len(), 1);
        }
        let rejected = Outcome::Rejected(Reason::Withdrawn);
        assert_eq!(messages(happened(Event::Settled(record(2, Some(rejected))))).len(), 1);
        // One is open still, one has opened, and the others went. How one of them ended is known.
        assert_eq!(messages(FeedItem::Open(record(5, None))).len(), 1);
        assert_eq!(messages(FeedItem::Open(record(6, None))).len(), 1);
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

    #[tokio::test]
    async fn permissions_that_ended_in_a_gap_are_told() {
        let permission = |number, outcome| {
            let mut record = Arc::unwrap_or_clone(record(number, outcome));
            let question = Question { purpose: Purpose::Permission, ..(*record.question).clone() };
            record.question = Arc::new(question);
            Arc::new(record)
        };
        let mut shown = ShownQuestions::default();
        let withdrawn = permission(2, Some(Outcome::Rejected(Reason::Withdrawn)));
        let find = |asked: &QuestionId| (*asked == id(2)).then(|| Arc::clone(&withdrawn));
        for number in 1..=2 {
            let asked = shown.messages(happened(Event::Opened(permission(number, None))), find);
            assert_eq!(asked.len(), 2, "for clients of either API");
        }
        let over = |id: &str| {
            let properties = json!({
                "sessionID": "s", "requestID": id, "reply": "reject", "permissionID": id, "response": "reject",
            });
            json!({ "type": "permission.replied", "properties": properties })
        };
        let gone = shown.messages(snapshot(&[]), find);
        assert_eq!(sent(gone).await, [over("b-1"), over("b-2")]);
    }

    #[tokio::test]
    async fn an_earlier_text_ends_before_the_present_one_is_shown() {
        let permission = |edition: u32| {
            let mut record = Arc::unwrap_or_clone(record(1, None));
            let question = Question { purpose: Purpose::Permission, ..(*record.question).clone() };
            (record.question, record.edition) = (Arc::new(question), edition);
            Arc::new(record)
        };
        let mut shown = ShownQuestions::default();
        let settled = |edition| {
            let outcome = Outcome::Rejected(Reason::Withdrawn);
            let settlement = Settlement::new(outcome, Provenance::bridge(), Timestamp::default());
            Event::Settled(Arc::new(Arc::unwrap_or_clone(permission(edition)).settled(settlement)))
        };
        let told = [
            FeedItem::Open(permission(0)),
            happened(Event::Changed(permission(1))),
            happened(Event::Changed(permission(1))),
            // After a gap.
            FeedItem::Open(permission(3)),
            happened(settled(4)),
            // Of a question that this client was not shown.
            happened(settled(4)),
        ];
        let said = told.map(|item| shown.messages(item, |_| None));
        let mut lines = Vec::new();
        for messages in said {
            let of = |event: &Value| {
                let properties = &event["properties"];
                let id = properties.get("id").unwrap_or(&properties["requestID"]);
                format!("{} {}", event["type"].as_str().unwrap(), id.as_str().unwrap())
            };
            lines.push(sent(messages).await.iter().map(of).collect::<Vec<_>>().join(", "));
        }
        let asked = |id: &str| format!("permission.asked {id}, permission.updated {id}");
        assert_eq!(
            lines,
            [
                asked("b-1"),
                format!("permission.replied b-1, {}", asked("b-1~1")),
                asked("b-1~1"),
                format!("permission.replied b-1~1, {}", asked("b-1~3")),
                "permission.replied b-1~3".to_owned(),
                "permission.replied b-1~4".to_owned(),
            ]
        );
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
