//! What happens in an inbox, as server-sent events: those that were missed first, then each as it happens.

use std::{borrow::Cow, collections::VecDeque, convert::Infallible, sync::Arc};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use futures::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
};

use super::{
    http::App,
    labels,
    metrics::Metrics,
    problem::Problem,
    ring::{Change, News, Ring},
};
use crate::{
    control::old::{Book, Record, Source},
    limits,
    machine::discovery,
    question::Outcome,
};

/// The data of `question.requested`, `question.changed` and `question.resolved`: that of the first generation, and
/// the whole question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "QuestionEvent"))]
pub struct QuestionEvent<'a> {
    /// The agent's name for the question.
    pub question_id: Cow<'a, str>,
    /// What is asked.
    pub prompt: Cow<'a, str>,
    /// What can be chosen in the first field.
    pub options: Vec<Cow<'a, str>>,
    /// What was chosen or typed, in the order of the fields, separated by commas.
    pub response: Option<String>,
    /// What became of it.
    pub status: Status,
    /// The whole question.
    pub question: Cow<'a, Record>,
}

/// The data of `snapshot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "QuestionSnapshot"))]
pub struct Snapshot<'a> {
    /// The names of all the questions that are open, oldest first. No others are.
    pub open: Vec<Cow<'a, str>>,
}

/// What became of a question, in the words of the first generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionStatus"))]
pub enum Status {
    /// It is open.
    Requested,
    /// Somebody answered.
    Answered,
    /// Nobody will.
    Rejected,
}

impl<'a> QuestionEvent<'a> {
    fn of(view: &'a Record) -> Self {
        let question = &view.question;
        let choice = question.fields.first().filter(|field| !field.kind.options().is_empty());
        QuestionEvent {
            question_id: (&*question.id).into(),
            prompt: question.heading().into(),
            options: choice.map(|field| labels::labels(&field.kind)).unwrap_or_default(),
            response: labels::chosen(view).map(|fields| fields.concat().join(", ")),
            status: match view.settlement.as_ref().map(|settlement| &settlement.outcome) {
                None => Status::Requested,
                Some(Outcome::Answered(_)) => Status::Answered,
                Some(Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_)) => Status::Rejected,
            },
            question: Cow::Borrowed(view),
        }
    }
}

/// Where to hear what happens. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Events {
    ring: watch::Receiver<Ring>,
    /// Tells the numbers of this server from those of the one before.
    epoch: Arc<str>,
    subscribers: Arc<Semaphore>,
}

/// One thing to tell.
#[derive(Debug)]
pub(super) enum Told {
    /// This happened; the text names it among all that happens.
    Change(String, Change),
    /// This is open.
    Open(Arc<Record>),
    /// These are all that are open; from here on, what happens.
    Snapshot(String, Vec<Arc<Record>>),
}

impl Events {
    /// Begins to follow an inbox, by a task that ends when nobody listens any more. When it is ended before, so are the
    /// streams of all who listen.
    pub(super) fn start<S: Source>(source: &S, metrics: Arc<Metrics>) -> (Self, JoinHandle<()>) {
        let mut book = source.book();
        let (sender, ring) = watch::channel(Ring::new(&book.borrow_and_update()));
        let follows = tokio::spawn(follow(source.clone(), book, sender, metrics));
        let subscribers = Arc::new(Semaphore::new(limits::SUBSCRIBERS));
        (Events { ring, epoch: discovery::name().into(), subscribers }, follows)
    }

    /// Returns what happens behind the event of this name; first of all what is open, where it is not known which
    /// that is.
    pub(super) fn after(&self, last: Option<&str>) -> Result<impl Stream<Item = Told> + use<>, Problem> {
        let permit = Arc::clone(&self.subscribers).try_acquire_owned().map_err(|_| {
            let detail = format!("{} others listen already, which is the most", limits::SUBSCRIBERS);
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_subscribers", detail)
        })?;
        // An event is named by what comes next.
        let next = last.and_then(|last| last.strip_prefix(&*self.epoch)?.strip_prefix('-')?.parse().ok());
        let reader = Reader {
            ring: self.ring.clone(),
            epoch: Arc::clone(&self.epoch),
            next: next.unwrap_or(u64::MAX),
            waiting: VecDeque::new(),
            _permit: permit,
        };
        Ok(stream::unfold(reader, Reader::next))
    }
}

async fn follow<S: Source>(
    source: S,
    mut book: watch::Receiver<Book>,
    ring: watch::Sender<Ring>,
    metrics: Arc<Metrics>,
) {
    loop {
        tokio::select! {
            changed = book.changed() => if changed.is_err() { return },
            () = ring.closed() => return,
        }
        // A copy, so that the bridge never waits for us to compare (I7).
        let latest = book.borrow_and_update().clone();
        let mut settled = Vec::new();
        ring.send_if_modified(|ring| {
            let before = ring.next();
            settled = ring.follow(&latest);
            ring.next() != before
        });
        settled.iter().for_each(|view| metrics.settled(view));
        drop((latest, settled));
        source.calm().await;
    }
}

/// Somebody who listens.
struct Reader {
    ring: watch::Receiver<Ring>,
    epoch: Arc<str>,
    /// The first change that it has not heard of.
    next: u64,
    waiting: VecDeque<Told>,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    async fn next(mut self) -> Option<(Told, Self)> {
        loop {
            if let Some(told) = self.waiting.pop_front() {
                return Some((told, self));
            }
            self.look();
            if self.waiting.is_empty() {
                self.ring.changed().await.ok()?;
            }
        }
    }

    fn look(&mut self) {
        let ring = self.ring.borrow_and_update();
        let name = |number: u64| format!("{}-{number}", self.epoch);
        match ring.since(self.next) {
            News::Since(changes) => {
                let changes =
                    changes.into_iter().map(|(number, change)| Told::Change(name(number + 1), change));
                self.waiting.extend(changes);
            }
            News::Open(open) => {
                self.waiting.extend(open.iter().map(|view| Told::Open(Arc::clone(view))));
                self.waiting.push_back(Told::Snapshot(name(ring.next()), open));
            }
        }
        self.next = ring.next();
    }
}

/// Returns the routes.
pub(super) fn routes<S: Source>() -> Router<App<S>> {
    Router::new().route("/v1/events", get(events))
}

async fn events<S: Source>(State(app): State<App<S>>, headers: HeaderMap) -> Result<Response, Problem> {
    let last = headers.get(HeaderName::from_static("last-event-id")).and_then(|last| last.to_str().ok());
    Ok(respond(app.events.after(last)?.filter_map(async |told| event(told))))
}

/// Sends events, and a comment now and then while there are none.
pub(super) fn respond(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let keep_alive = KeepAlive::new().interval(limits::KEEP_ALIVE);
    Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive).into_response()
}

/// What is open is told without a name: whoever is cut off before the end of the snapshot gets another one.
fn event(told: Told) -> Option<Event> {
    let (event, name, view) = match &told {
        Told::Open(view) => ("question.requested", None, view),
        Told::Change(name, Change::Requested(view)) => ("question.requested", Some(name), view),
        Told::Change(name, Change::Changed(view)) => ("question.changed", Some(name), view),
        Told::Change(name, Change::Resolved(view)) => ("question.resolved", Some(name), view),
        Told::Snapshot(name, open) => {
            let open = open.iter().map(|view| (&*view.id).into()).collect();
            return Event::default().event("snapshot").id(name).json_data(Snapshot { open }).ok();
        }
    };
    let event = Event::default().event(event).json_data(QuestionEvent::of(view)).ok()?;
    Some(match name {
        Some(name) => event.id(name),
        None => event,
    })
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::Pin};

    use axum::body::HttpBody;
    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_listens_is_told_now_and_then_that_it_is_heard() {
        let start = Instant::now();
        let mut body = respond(stream::pending()).into_body();
        for times in 1..=3 {
            let comment = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            let comment = timeout(limits::WAIT, comment).await.unwrap().unwrap().unwrap();
            assert_eq!(comment.into_data().unwrap(), ":\n\n");
            assert_eq!(start.elapsed(), limits::KEEP_ALIVE * times);
        }
    }
}
