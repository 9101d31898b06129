//! The output of a desk: notices to its shell, and the changed questions for its followers. The event log numbers the
//! events of questions, so that a follower that was away receives what it missed. The input is in `input.rs`.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::{QuestionId, Record, Refusal, Settlement, Ticket};
use crate::limits;

/// One thing that happened to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It opened.
    Opened(Arc<Record>),
    /// It is open, and something else about it changed: its state, its deadline, or its kept values.
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
    /// The sum of their sizes.
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
        let bytes = event.record().size();
        self.push_sized(event, bytes);
    }

    /// Records an event, if the size of its record as JSON is known.
    pub fn push_sized(&mut self, event: Event, bytes: usize) {
        // A follower that was away needs only the last state of a question.
        if !matches!(event, Event::Opened(_)) {
            self.supersede(&event);
        }
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

    /// Forgets all events, because of a change that no event describes: every follower gets a snapshot.
    pub fn start_over(&mut self) {
        self.entries.clear();
        self.bytes = 0;
        self.next += 1;
        // The number that is skipped belongs to no event. So a follower without a backlog gets a snapshot as well.
        self.first = self.next;
    }

    /// Returns the events from this number on, oldest first; `None` if some of them are forgotten, or the number
    /// is not one of this log's.
    pub fn since(&self, next: u64) -> Option<Vec<(u64, Event)>> {
        if next < self.first || next > self.next {
            return None;
        }
        let from = self.entries.partition_point(|known| known.number < next);
        Some(self.entries.range(from..).map(|known| (known.number, known.event.clone())).collect())
    }

    /// Removes the events that this one makes obsolete.
    fn supersede(&mut self, event: &Event) {
        let is_over = matches!(event, Event::Settled(_));
        self.entries.retain(|known| {
            // Until the question is over, `Opened` stays: by it, a follower knows a new question.
            known.event.record().id != event.record().id
                || (!is_over && matches!(known.event, Event::Opened(_)))
        });
        self.bytes = self.entries.iter().map(|known| known.bytes).sum();
    }
}

/// A notice for the shell, in the order in which things happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A question opened.
    Opened(Arc<Record>),
    /// What a question shows has changed.
    Changed(Arc<Record>),
    /// The turn in which a question was asked is over, and the question is still open.
    TurnOver(Arc<Record>),
    /// Four fifths of a question's time are over.
    Warned(Arc<Record>),
    /// A question has another deadline, as a duration since the start.
    Extended(Arc<Record>, Duration),
    /// The outcome of a question is decided, and is being delivered to the asker: this is for logs, not for responders
    /// (I9).
    Decided {
        /// The question, as it was when it was open.
        record: Arc<Record>,
        /// The settlement, with the values of secret fields.
        settlement: Box<Settlement>,
        /// How long it was open.
        after: Duration,
    },
    /// The verdict about a submission.
    Verdict(Ticket, Result<(), Refusal>),
}

/// The current state of the questions that changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The questions that opened, changed or were settled.
    pub questions: Vec<Arc<Record>>,
    /// Questions that ended and that the desk has forgotten.
    pub gone: Vec<QuestionId>,
    /// How many questions opened, ended and were forgotten since the last changes. No follower saw them.
    pub missed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::{Settlement, Timestamp, samples::question},
        limits,
        question::{Outcome, Provenance, Reason},
    };

    fn record(number: u64, label: &str) -> Arc<Record> {
        let id = format!("b-{number}").parse().expect("an ID");
        Arc::new(Record::new(id, question(label, None), Timestamp::default()))
    }

    fn settled(number: u64) -> Event {
        let outcome = Outcome::Rejected(Reason::User);
        let settlement = Settlement::new(outcome, Provenance::bridge(), Timestamp::default());
        Event::Settled(Arc::new(Record::clone(&record(number, "Why?")).settled(settlement)))
    }

    fn opened(number: u64) -> Event {
        Event::Opened(record(number, "Why?"))
    }

    /// Writes events in short: `3+1` is number 3, which opened question 1; `~` changed it, `-` settled it.
    fn short(events: Option<Vec<(u64, Event)>>) -> Option<String> {
        let sign = |event: &Event| match event {
            Event::Opened(_) => '+',
            Event::Changed(_) => '~',
            Event::Settled(_) => '-',
        };
        let one =
            |(number, event): (u64, Event)| format!("{number}{}{}", sign(&event), event.record().id.number);
        events.map(|events| events.into_iter().map(one).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_later_event_replaces_those_that_it_makes_out_of_date() {
        let mut log = EventLog::default();
        assert_eq!((log.revision(), short(log.since(0))), (0, Some(String::new())));
        for event in [opened(1), opened(2), Event::Changed(record(1, "a")), Event::Changed(record(1, "b"))] {
            log.push(event);
        }
        assert_eq!(short(log.since(0)).as_deref(), Some("0+1 1+2 3~1"));
        log.push(settled(1));
        assert_eq!(short(log.since(0)).as_deref(), Some("1+2 4-1"));
        assert_eq!(short(log.since(2)).as_deref(), Some("4-1"));
        assert_eq!((log.revision(), short(log.since(5)).as_deref()), (5, Some("")));
        assert_eq!(short(log.since(6)), None, "that number is not given yet");
    }

    #[test]
    fn a_question_that_is_found_again_opens_after_it_was_settled() {
        let mut log = EventLog::default();
        [opened(1), settled(1), opened(1)].into_iter().for_each(|event| log.push(event));
        assert_eq!(short(log.since(0)).as_deref(), Some("1-1 2+1"));
        log.push(settled(1));
        assert_eq!(short(log.since(0)).as_deref(), Some("3-1"));
    }

    #[test]
    fn a_follower_that_was_away_for_too_long_starts_over() {
        let mut log = EventLog::default();
        (0..=limits::EVENTS as u64).for_each(|number| log.push(opened(number)));
        assert_eq!(short(log.since(0)), None);
        assert!(short(log.since(1)).is_some_and(|events| events.starts_with("1+1 2+2 ")));
        let before = log.revision();
        log.start_over();
        assert_eq!((short(log.since(before)), short(log.since(before + 1))), (None, Some(String::new())));
    }

    #[test]
    fn the_log_holds_so_many_bytes_and_always_the_last_event() {
        let mut log = EventLog::default();
        let long = "x".repeat(limits::EVENTS_BYTES / 10);
        for number in 0..12 {
            log.push(Event::Opened(record(number, &long)));
            let bytes: usize = log.entries.iter().map(|entry| entry.event.record().size()).sum();
            assert!(log.bytes == bytes && bytes <= limits::EVENTS_BYTES, "{bytes} bytes after {number}");
        }
        assert_eq!(log.entries.len(), 9);
        log.push(Event::Opened(record(12, &"x".repeat(2 * limits::EVENTS_BYTES))));
        assert_eq!(short(log.since(12)).as_deref(), Some("12+12"));
        assert_eq!(short(log.since(11)), None);
    }
}
