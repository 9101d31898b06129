//! What every handler knows: the inbox, the feeds of what happens in it, and the counters.

use std::sync::Arc;

use axum::body::Bytes;
use serde::Serialize;

use super::{
    feed::Feeds,
    metrics::Metrics,
    window::{Windows, array},
};
use crate::{
    control::inbox::Inbox,
    desk::{IdPrefix, QuestionId, Record, Refusal, State},
};

/// The state of the server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct App<I> {
    pub(super) inbox: I,
    pub(super) feeds: Feeds,
    pub(super) metrics: Arc<Metrics>,
}

impl<I: Inbox> App<I> {
    /// Returns the open questions, oldest first, and their revision.
    pub(super) fn open(&self) -> (u64, Vec<Arc<Record>>) {
        self.inbox.store().read(|revision, snapshot| (revision, snapshot.open()))
    }

    /// Returns the pieces of a JSON array of these questions, each written as `write` says. Only their IDs are held
    /// until then: a question that is settled before it is written is left out.
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

    /// Returns the question with this ID, also where only its bridge remembers it.
    pub(super) async fn look_up(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let known = self.find(id);
        let (Err(Refusal::NotFound), Ok(id)) = (&known, id.parse::<QuestionId>()) else { return known };
        let found = self.inbox.look_up(&IdPrefix::from(&id)).await;
        found.ok().filter(|record| record.id == id).map_or(known, Ok)
    }

    /// Returns the question with this ID. Over HTTP the beginning of an ID is not enough: what is answered is what was
    /// read.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let id: QuestionId = id.parse().map_err(|_| Refusal::NotFound)?;
        match self.inbox.store().read(|_, snapshot| snapshot.get(&id).cloned()) {
            Some(record) if record.state == State::Lost => Err(Refusal::Unavailable),
            Some(record) => Ok(record),
            // The inbox says whether it may be in a bridge that could not be asked.
            None => match self.inbox.find(&IdPrefix::from(&id)) {
                Err(Refusal::Unavailable) => Err(Refusal::Unavailable),
                _ => Err(Refusal::NotFound),
            },
        }
    }
}
