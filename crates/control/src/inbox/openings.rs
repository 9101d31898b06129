//! A cursor over the questions that open in a store, for those who look at each question once, or once in each edition.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use askbridge_core::desk::{Event, QuestionId, Record, Snapshot};

use super::store::{Batch, Follower, Store};

/// A cursor over the questions that open in a store.
#[derive(Debug)]
pub struct Openings {
    store: Store,
    follower: Follower,
    /// The open questions that were returned before, with their editions, to leave them out when a snapshot lists them
    /// again.
    known: BTreeMap<QuestionId, u32>,
    with_changes: bool,
}

impl Openings {
    /// Follows the questions that open in a store, and begins with those that are open.
    pub fn of(store: &Store) -> Self {
        Openings {
            follower: store.follow(),
            store: store.clone(),
            known: BTreeMap::new(),
            with_changes: false,
        }
    }

    /// Follows the questions that open, as [`Openings::of`] does. A question whose text changes is returned again.
    pub fn with_changes(store: &Store) -> Self {
        Openings { with_changes: true, ..Openings::of(store) }
    }

    /// Waits for the next batch, and returns the current state of the questions that opened in it and are still open.
    /// The first call returns the questions that are open already. The list may be empty. Returns `None` once the store
    /// has ended.
    pub async fn next(&mut self) -> Option<Vec<Arc<Record>>> {
        let opened: BTreeSet<_> = match self.follower.next().await? {
            Batch::Snapshot { open, .. } => {
                let is_new = |record: &&Arc<Record>| match self.known.get(&record.id) {
                    Some(edition) => self.with_changes && *edition != record.edition,
                    None => true,
                };
                let opened = open.iter().filter(is_new).map(|record| record.id.clone()).collect();
                self.known = open.iter().map(|record| (record.id.clone(), record.edition)).collect();
                opened
            }
            // A question that opened and changed within the batch is listed once.
            Batch::Events { events, .. } => {
                events.into_iter().filter_map(|(_, event)| self.take(&event)).collect::<BTreeSet<_>>()
            }
        };
        // A question is often settled within its batch, since a program answers it at once.
        let still_open =
            |id: &QuestionId, now: &Snapshot| now.get(id).filter(|record| record.is_open()).cloned();
        Some(self.store.read(|_, now| opened.iter().filter_map(|id| still_open(id, now)).collect()))
    }

    fn take(&mut self, event: &Event) -> Option<QuestionId> {
        let record = event.record();
        if !record.is_open() {
            self.known.remove(&record.id);
            return None;
        }
        let is_new = match (event, self.known.get(&record.id)) {
            (_, Some(edition)) => self.with_changes && *edition != record.edition,
            (Event::Opened(_), None) => true,
            (_, None) => return None,
        };
        self.known.insert(record.id.clone(), record.edition);
        is_new.then(|| record.id.clone())
    }
}
