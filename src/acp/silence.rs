//! Since when the client has said nothing about the questions that it was asked.

use std::{collections::BTreeSet, time::Duration};

use crate::limits;

/// When the client will have been silent for too long, with the number of the question.
#[derive(Debug, Default)]
pub(super) struct Silence(BTreeSet<(Duration, u64)>);

impl Silence {
    /// Returns when the next question has waited too long.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.0.first().map(|(due, _)| *due)
    }

    /// The client is silent about this question from now on. Returns when that is too long.
    pub(super) fn begin(&mut self, number: u64, now: Duration) -> Duration {
        let due = now.saturating_add(limits::SILENCE);
        self.0.insert((due, number));
        due
    }

    /// The silence that is too long at this time is over.
    pub(super) fn end(&mut self, number: u64, due: Option<Duration>) {
        if let Some(due) = due {
            self.0.remove(&(due, number));
        }
    }

    /// Takes out a question that the client has said nothing about for too long.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<u64> {
        let first = *self.0.first().filter(|(due, _)| *due <= now)?;
        self.0.remove(&first);
        Some(first.1)
    }
}
