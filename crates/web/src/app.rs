//! The state that all handlers share: the inbox, the counters, and the feeds of events of the inbox. A feed produces
//! one event at a time, as fast as its client reads. While a client does not read, its feed holds only the IDs of
//! questions, and looks up each question when it is written (I6).
//! The format of an event is left to `events.rs` and `opencode`.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

use askbridge_control::inbox::{Batch, Follower, Inbox, Store};
use askbridge_core::desk::{Event, IdPrefix, QuestionId, Record, Refusal, State};
use axum::{body::Bytes, http::StatusCode};
use futures::{Stream, stream};
use serde::Serialize;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    metrics::Metrics,
    problem::Problem,
    stream::{Windows, array},
};
use crate::limits;

/// The state of the server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct App<I> {
    pub(super) inbox: I,
    pub(super) feeds: Feeds,
    pub(super) metrics: Arc<Metrics>,
    /// The places of requests that wait for an outcome.
    pub(super) waiting: Arc<Semaphore>,
}

impl<I: Inbox> App<I> {
    /// Takes a place for a request that waits for an outcome, until the place is dropped.
    pub(super) fn wait(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let full = |_| {
            let why = format!("{} requests wait for an outcome already, which is the limit", limits::WAITING);
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_waiting", why)
        };
        Arc::clone(&self.waiting).try_acquire_owned().map_err(full)
    }

    /// Returns the open questions, oldest first, and their revision.
    pub(super) fn open(&self) -> (u64, Vec<Arc<Record>>) {
        self.inbox.store().read(|revision, snapshot| (revision, snapshot.open()))
    }

    /// Returns the pieces of a JSON array of these questions, each converted by `write`. Only their IDs are held until
    /// then: a question that is settled before it is written is left out.
    pub(super) fn array<T: Serialize + Send + 'static>(
        &self,
        ids: Vec<QuestionId>,
        write: impl Fn(Arc<Record>) -> T + Send + 'static,
    ) -> impl Iterator<Item = Bytes> + Send + 'static {
        let store = self.inbox.store().clone();
        let records = ids.into_iter().filter_map(move |id| {
            store.read(|_, snapshot| snapshot.get(&id).cloned()).filter(|record| record.is_open())
        });
        array(records.map(move |record| Windows::new(write(record))))
    }

    /// Returns the question with this ID, even if only its bridge or the journal still remembers it.
    pub(super) async fn look_up(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let known = self.find(id);
        let (Err(Refusal::NotFound | Refusal::Unavailable), Ok(id)) = (&known, id.parse::<QuestionId>())
        else {
            return known;
        };
        match self.inbox.look_up(&IdPrefix::from(&id)).await {
            Ok(record) if record.id == id => Ok(record),
            // The ID is the beginning of others.
            Ok(_) | Err(Refusal::Ambiguous(_)) => known,
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the question with this ID. Over HTTP, a prefix of an ID is not enough: a client answers the very
    /// question that it has read.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let id: QuestionId = id.parse().map_err(|_| Refusal::NotFound)?;
        match self.inbox.store().read(|_, snapshot| snapshot.get(&id).cloned()) {
            Some(record) if record.state == State::Lost => Err(Refusal::Unavailable),
            Some(record) => Ok(record),
            // The inbox knows whether the question may belong to a bridge that could not be reached.
            None => match self.inbox.find(&IdPrefix::from(&id)) {
                Err(Refusal::Unavailable) => Err(Refusal::Unavailable),
                _ => Err(Refusal::NotFound),
            },
        }
    }
}

/// Hands out feeds, up to a limit.
#[derive(Clone, Debug)]
pub(super) struct Feeds {
    /// Distinguishes the revisions of this server from those of an earlier server.
    epoch: Arc<str>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

/// One item of a feed.
#[derive(Debug)]
pub(super) enum FeedItem {
    /// A question that is open when the feed starts, or after a gap.
    Open(Arc<Record>),
    /// The end of the open questions: no others are open.
    Snapshot {
        /// The place to continue from.
        place: String,
        /// The revision of the state.
        revision: u64,
        /// The open questions at this revision, oldest first.
        open: Arc<[QuestionId]>,
    },
    /// Something happened.
    Event {
        /// The place to continue from.
        place: String,
        /// The event.
        event: Event,
    },
}

impl Feeds {
    /// Creates the feeds. They end when the server stops.
    pub(super) fn new(epoch: &str, stop: CancellationToken) -> Self {
        Feeds { epoch: epoch.into(), places: Arc::new(Semaphore::new(limits::SUBSCRIBERS)), stop }
    }

    /// Opens a feed that continues after the place `last`, the client's `Last-Event-ID`. Without a place, or if the
    /// place is not known any more, the feed starts with the open questions.
    pub(super) fn open(
        &self,
        store: &Store,
        last: Option<&str>,
    ) -> Result<impl Stream<Item = FeedItem> + use<>, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let detail =
                format!("there are {} streams of events already, which is the limit", limits::SUBSCRIBERS);
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_subscribers", detail)
        })?;
        // A `Last-Event-ID` from an earlier server has another epoch, so its revision is not one of this server's.
        let revision = last.and_then(|last| last.strip_prefix(&*self.epoch)?.strip_prefix('-')?.parse().ok());
        let follower = revision.map_or_else(|| store.follow(), |revision| store.follow_from(revision));
        let feed = Feed {
            store: store.clone(),
            follower,
            pending: Pending::Nothing,
            epoch: Arc::clone(&self.epoch),
            stop: self.stop.clone(),
            _place: place,
        };
        Ok(stream::unfold(feed, async |mut feed| Some((feed.next().await?, feed))))
    }
}

/// A follower, and the events of its last batch that the client has not read yet.
struct Feed {
    store: Store,
    follower: Follower,
    pending: Pending,
    epoch: Arc<str>,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

enum Pending {
    Nothing,
    Snapshot { revision: u64, open: Arc<[QuestionId]>, told: usize },
    Events(VecDeque<(u64, WeakEvent)>),
}

impl Feed {
    async fn next(&mut self) -> Option<FeedItem> {
        loop {
            if let Some(item) = self.next_pending() {
                return Some(item);
            }
            self.pending = match self.next_batch().await? {
                Batch::Snapshot { revision, open } => {
                    let open = open.iter().map(|record| record.id.clone()).collect();
                    Pending::Snapshot { revision, open, told: 0 }
                }
                Batch::Events { events, .. } => {
                    let weak = |(number, event): (u64, Event)| (number, WeakEvent::new(&event));
                    // A client that does not read must not keep settled questions in memory.
                    Pending::Events(events.into_iter().map(weak).collect())
                }
            };
        }
    }

    /// Waits for the next batch. When the server stops, the last changes are still returned.
    async fn next_batch(&mut self) -> Option<Batch> {
        tokio::select! {
            // A batch that is ready is returned even if the server stops at the same moment.
            biased;
            batch = self.follower.next() => batch,
            () = self.stop.cancelled() => {
                // A follower delays a batch by up to DEBOUNCE.
                timeout(2 * limits::DEBOUNCE, self.follower.next()).await.ok().flatten()
            }
        }
    }

    fn next_pending(&mut self) -> Option<FeedItem> {
        match &mut self.pending {
            Pending::Nothing => None,
            Pending::Snapshot { revision, open, told } => {
                while let Some(id) = open.get(*told) {
                    *told += 1;
                    // A question that was settled meanwhile is skipped; the events after the snapshot report its end.
                    let record = self.store.read(|_, snapshot| snapshot.get(id).cloned());
                    if let Some(record) = record.filter(|record| record.is_open()) {
                        return Some(FeedItem::Open(record));
                    }
                }
                let (revision, open) = (*revision, Arc::clone(open));
                self.pending = Pending::Nothing;
                Some(FeedItem::Snapshot { place: self.place(revision), revision, open })
            }
            Pending::Events(events) => {
                let (number, weak) = events.pop_front()?;
                match weak.upgrade() {
                    // A place is the number of the next event, the one to continue with.
                    Some(event) => Some(FeedItem::Event { place: self.place(number + 1), event }),
                    None => {
                        // The record was replaced or forgotten while the client did not read. The store decides whether
                        // the feed continues with events or with a new snapshot.
                        self.follower = self.store.follow_from(number);
                        self.pending = Pending::Nothing;
                        None
                    }
                }
            }
        }
    }

    fn place(&self, revision: u64) -> String {
        format!("{}-{revision}", self.epoch)
    }
}

/// An event that does not keep its record in memory.
struct WeakEvent {
    record: Weak<Record>,
    restore: fn(Arc<Record>) -> Event,
}

impl WeakEvent {
    fn new(event: &Event) -> Self {
        let restore = match event {
            Event::Opened(_) => Event::Opened,
            Event::Changed(_) => Event::Changed,
            Event::Settled(_) => Event::Settled,
        };
        WeakEvent { record: Arc::downgrade(event.record()), restore }
    }

    fn upgrade(&self) -> Option<Event> {
        self.record.upgrade().map(self.restore)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use askbridge_core::{
        desk::{Settlement, Timestamp},
        question::{Origin, Outcome, Provenance, Question, Reason},
    };
    use futures::{FutureExt, StreamExt};

    use super::*;
    use crate::limits;

    fn record(number: u64, text: &str) -> Arc<Record> {
        let mut question = Question::new(Origin::Kiro, "q", Vec::new());
        question.message = text.to_owned();
        let id = format!("b-{number}").parse().unwrap();
        Arc::new(Record::new(id, Arc::new(question), Timestamp::default()))
    }

    fn settled(record: &Record) -> Arc<Record> {
        let outcome = Outcome::Rejected(Reason::Withdrawn);
        let settlement = Settlement::new(outcome, Provenance::bridge(), Timestamp::default());
        Arc::new(record.clone().settled(settlement))
    }

    fn put(store: &Store, record: &Arc<Record>) {
        store.edit(|editor| editor.put(Arc::clone(record)));
    }

    fn open(store: &Store, last: Option<&str>) -> impl Stream<Item = FeedItem> + use<> {
        Feeds::new("e", CancellationToken::new()).open(store, last).unwrap()
    }

    fn short(item: FeedItem) -> String {
        match item {
            FeedItem::Open(record) => format!("open {}", record.id.number),
            FeedItem::Snapshot { place, open, .. } => format!("snapshot of {} {place}", open.len()),
            FeedItem::Event { place, event } => match event {
                Event::Opened(record) => format!("opened {} {place}", record.id.number),
                Event::Changed(record) => format!("changed {} {place}", record.id.number),
                Event::Settled(record) => format!("settled {} {place}", record.id.number),
            },
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_begins_with_the_open_questions() {
        let store = Store::default();
        put(&store, &record(1, ""));
        let mut feed = pin!(open(&store, None).map(short));
        assert_eq!(feed.next().await.unwrap(), "open 1");
        assert_eq!(feed.next().await.unwrap(), "snapshot of 1 e-1");
        put(&store, &record(2, ""));
        assert_eq!(feed.next().await.unwrap(), "opened 2 e-2");
        put(&store, &settled(&record(1, "")));
        assert_eq!(feed.next().await.unwrap(), "settled 1 e-3");
        store.end();
        assert_eq!(feed.next().await, None);
        let mut later = pin!(open(&store, Some("e-2")).map(short));
        assert_eq!(later.next().await.unwrap(), "settled 1 e-3");
        assert_eq!(later.next().await, None);
        for unknown in ["e-9", "f-2", "e2", "e-", ""] {
            let mut feed = pin!(open(&store, Some(unknown)).map(short));
            assert_eq!(feed.next().await.unwrap(), "open 2", "after {unknown:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_settled_before_it_is_told_is_not_told_as_open() {
        let store = Store::default();
        (1..=3).for_each(|number| put(&store, &record(number, "")));
        let mut feed = pin!(open(&store, None).map(short));
        assert_eq!(feed.next().await.unwrap(), "open 1");
        put(&store, &settled(&record(2, "")));
        assert_eq!(feed.next().await.unwrap(), "open 3");
        assert_eq!(feed.next().await.unwrap(), "snapshot of 3 e-3");
        assert_eq!(feed.next().await.unwrap(), "settled 2 e-4");
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_that_is_not_read_holds_no_question() {
        let store = Store::default();
        let mut feed = pin!(open(&store, None).map(short));
        assert_eq!(feed.next().await.unwrap(), "snapshot of 0 e-0");
        let questions: Vec<_> = (1..=3).map(|number| record(number, "")).collect();
        questions.iter().for_each(|record| put(&store, record));
        assert_eq!(feed.next().await.unwrap(), "opened 1 e-1");
        put(&store, &settled(&questions[1]));
        // The store, and this test: the feed is where questions 2 and 3 are still to be told.
        assert_eq!(Arc::strong_count(&questions[1]), 1);
        drop(questions);
        assert_eq!(feed.next().await.unwrap(), "opened 3 e-3", "of question 2 its end is enough");
        assert_eq!(feed.next().await.unwrap(), "settled 2 e-4");
        let large = "x".repeat(limits::EVENTS_BYTES / 2);
        (4..=9).for_each(|number| put(&store, &record(number, &large)));
        assert_eq!(feed.next().await.unwrap(), "open 1", "too much was missed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_tells_what_happened_last_when_the_server_stops() {
        let store = Store::default();
        let stop = CancellationToken::new();
        let mut feed = pin!(Feeds::new("e", stop.clone()).open(&store, None).unwrap().map(short));
        assert_eq!(feed.next().await.unwrap(), "snapshot of 0 e-0");
        put(&store, &record(1, ""));
        stop.cancel();
        assert_eq!(feed.next().await.unwrap(), "opened 1 e-1");
        assert_eq!(feed.next().await, None);
    }

    #[tokio::test]
    async fn there_are_so_many_feeds_and_no_more() {
        let feeds = Feeds::new("e", CancellationToken::new());
        let store = Store::default();
        let open: Vec<_> =
            (0..limits::SUBSCRIBERS).map(|_| Box::pin(feeds.open(&store, None).unwrap())).collect();
        let refused = feeds.open(&store, None).err().unwrap();
        assert_eq!((refused.status, &*refused.more.name), (503, "too_many_subscribers"));
        drop(open);
        assert!(feeds.open(&store, None).is_ok_and(|feed| Box::pin(feed).next().now_or_never().is_some()));
    }
}
