//! What happened to questions, with a number for each event, so that a follower that was away hears what it missed.

use std::{collections::VecDeque, sync::Arc};

use super::Record;
use crate::limits;

/// One thing that happened to a question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// It opened.
    Opened(Arc<Record>),
    /// It is open, and something else about it changed: its state, its deadline, or what was kept.
    Changed(Arc<Record>),
    /// It was settled, or lost.
    Settled(Arc<Record>),
}

impl Event {
    /// Returns the question as it was then.
    pub fn record(&self) -> &Arc<Record> {
        let (Event::Opened(record) | Event::Changed(record) | Event::Settled(record)) = self;
        record
    }
}

/// The last events, oldest first. Of a question that is over, only its end is kept.
#[derive(Debug, Default)]
pub struct EventLog {
    /// The number of the next event: the revision of the state.
    next: u64,
    /// The number of the first event that is not forgotten.
    first: u64,
    entries: VecDeque<Entry>,
    /// The sizes of all of them.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    bytes: usize,
    event: Event,
}

impl EventLog {
    /// Returns the number of the next event. It grows with each change.
    pub fn revision(&self) -> u64 {
        self.next
    }

    /// Records an event.
    pub fn push(&mut self, event: Event) {
        // A follower that was away needs the last that is known of a question.
        if !matches!(event, Event::Opened(_)) {
            self.supersede(&event);
        }
        let bytes = event.record().size();
        self.bytes += bytes;
        self.entries.push_back(Entry { number: self.next, bytes, event });
        self.next += 1;
        while (self.entries.len() > limits::EVENTS || self.bytes > limits::EVENTS_BYTES)
            && self.entries.len() > 1
            && let Some(forgotten) = self.entries.pop_front()
        {
            self.bytes -= forgotten.bytes;
            self.first = forgotten.number + 1;
        }
    }

    /// Forgets all events, because something happened that none of them says: every follower gets a snapshot.
    pub fn start_over(&mut self) {
        self.entries.clear();
        self.bytes = 0;
        self.next += 1;
        self.first = self.next;
    }

    /// Returns the events from this number on, oldest first; `None` where some of them are forgotten, or the number
    /// is not one of this log's.
    pub fn since(&self, next: u64) -> Option<Vec<(u64, Event)>> {
        if next < self.first || next > self.next {
            return None;
        }
        let from = self.entries.partition_point(|known| known.number < next);
        Some(self.entries.range(from..).map(|known| (known.number, known.event.clone())).collect())
    }

    /// Forgets what an event makes out of date.
    fn supersede(&mut self, event: &Event) {
        let is_over = matches!(event, Event::Settled(_));
        self.entries.retain(|known| {
            known.event.record().id != event.record().id
                || (!is_over && matches!(known.event, Event::Opened(_)))
        });
        self.bytes = self.entries.iter().map(|known| known.bytes).sum();
    }
}
