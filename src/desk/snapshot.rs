//! The questions of one bridge or of many at one moment: those that are open, and those that were settled last.
//! Where the records come from is left to the rooms above. Open questions are bounded there, settled ones here.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use super::{Asker, BridgeName, Event, IdPrefix, QuestionId, Record, Refusal, Settlement, State, Submission};
use crate::{
    desk::refusal::late_verdict,
    limits,
    question::{Answer, Outcome},
};

/// Open questions and the last settled ones. Copies share the records.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The records with their sizes.
    open: BTreeMap<QuestionId, (Arc<Record>, usize)>,
    /// The oldest first, with their sizes.
    settled: VecDeque<(Arc<Record>, usize)>,
    settled_bytes: usize,
    open_bytes: usize,
}

impl Snapshot {
    /// Returns the open questions, oldest first. Those that are on their way are among them.
    pub fn open(&self) -> Vec<Arc<Record>> {
        let mut records: Vec<_> = self.open.values().map(|(record, _)| Arc::clone(record)).collect();
        records.sort_by(|one, other| one.age().cmp(&other.age()));
        records
    }

    /// Returns how many questions are open.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Returns the questions that were settled last, oldest first. Lost ones are among them.
    pub fn settled(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.settled.iter().map(|(record, _)| record)
    }

    /// Returns the question with this ID, open, settled or lost.
    pub fn get(&self, id: &QuestionId) -> Option<&Arc<Record>> {
        self.open.get(id).map(|(record, _)| record).or_else(|| self.settled().rev().find(|record| record.id == *id))
    }

    /// Finds the question that a person means: an open one, or where there is none, a settled one.
    ///
    /// # Errors
    /// `NotFound`; `Ambiguous` with the IDs of all that are meant; `Unavailable` for a lost one.
    pub fn find(&self, typed: &IdPrefix) -> Result<&Arc<Record>, Refusal> {
        let open = self.open.values().map(|(record, _)| record);
        let mut found: Vec<_> = open.filter(|record| typed.matches(&record.id)).collect();
        if found.is_empty() {
            found = self.settled().filter(|record| typed.matches(&record.id)).collect();
            let known = found.iter().any(|record| record.state != State::Lost);
            // What became of a settled question is known, whatever was lost beside it.
            found.retain(|record| !known || record.state != State::Lost);
        }
        match found[..] {
            [] => Err(Refusal::NotFound),
            [only] if only.state == State::Lost => Err(Refusal::Unavailable),
            [only] => Ok(only),
            ref several => Err(Refusal::Ambiguous(several.iter().map(|record| record.id.clone()).collect())),
        }
    }

    /// Returns the IDs of the open questions of a bridge.
    pub fn open_in(&self, bridge: &BridgeName) -> impl Iterator<Item = &QuestionId> {
        let first = QuestionId { bridge: bridge.clone(), asker: Asker::Agent, number: 0 };
        let from = self.open.range((Bound::Included(first), Bound::Unbounded));
        from.map(|(id, _)| id).take_while(move |id| id.bridge == *bridge)
    }

    /// Returns the IDs of the questions of a bridge that were lost.
    pub fn lost_in(&self, bridge: &BridgeName) -> impl Iterator<Item = &QuestionId> {
        let lost = self.settled().filter(|record| record.state == State::Lost).map(|record| &record.id);
        lost.filter(move |id| id.bridge == *bridge)
    }

    /// Returns how many bytes all records take as JSON.
    pub fn bytes(&self) -> usize {
        self.open_bytes + self.settled_bytes
    }

    /// Returns what a submission to a question that is over is told, by its record alone.
    ///
    /// # Errors
    /// `Conflict` and `Gone`; `Unavailable` where that is not known: the question is open or lost, or its answer had
    /// secrets, which are not in the record.
    pub fn judge_late(record: &Arc<Record>, submission: &Submission) -> Result<(), Refusal> {
        late_verdict(record, submission, |answer| is_same_answer(record, answer))
    }

    /// Takes over a question as it is now. Returns what happened, if anything did. A settled question stays as it is; a
    /// lost one that is found again is lost no longer.
    pub fn put(&mut self, record: Arc<Record>) -> Option<Event> {
        if let Some(index) = self.settled.iter().rposition(|(known, _)| known.id == record.id) {
            if self.settled.get(index).is_some_and(|(known, _)| known.state != State::Lost) {
                return None;
            }
            let (_, bytes) = self.settled.remove(index)?;
            self.settled_bytes -= bytes;
        }
        if !record.is_open() {
            return Some(self.settle(record));
        }
        let is_same = |(known, _): &(Arc<Record>, usize)| Arc::ptr_eq(known, &record) || **known == *record;
        if self.open.get(&record.id).is_some_and(is_same) {
            return None;
        }
        let bytes = record.size();
        self.open_bytes += bytes;
        match self.open.insert(record.id.clone(), (Arc::clone(&record), bytes)) {
            None => Some(Event::Opened(record)),
            Some((_, before)) => {
                self.open_bytes -= before;
                Some(Event::Changed(record))
            }
        }
    }

    /// Forgets an open question that is over, and of which its bridge remembers nothing. Returns whether it was there.
    pub fn forget(&mut self, id: &QuestionId) -> bool {
        let Some((_, bytes)) = self.open.remove(id) else { return false };
        self.open_bytes -= bytes;
        true
    }

    /// Records that a question's bridge disappeared. Followers are told this settlement; a responder is told that
    /// nothing is known.
    pub fn lose(&mut self, id: &QuestionId, told: Settlement) -> Option<Event> {
        let mut record = Record::clone(&self.open.get(id)?.0).settled(told);
        record.state = State::Lost;
        Some(self.settle(Arc::new(record)))
    }

    fn settle(&mut self, record: Arc<Record>) -> Event {
        self.forget(&record.id);
        let bytes = record.size();
        self.settled_bytes += bytes;
        self.settled.push_back((Arc::clone(&record), bytes));
        while (self.settled.len() > limits::REMEMBERED || self.settled_bytes > limits::REMEMBERED_BYTES)
            && self.settled.len() > 1
            && let Some((_, bytes)) = self.settled.pop_front()
        {
            self.settled_bytes -= bytes;
        }
        Event::Settled(record)
    }
}

/// Returns whether this is the answer that settled a question; `None` where secrets were left out of the record.
fn is_same_answer(record: &Record, answer: &Answer) -> Option<bool> {
    let Some(Outcome::Answered(given)) = record.settlement.as_ref().map(|settlement| &settlement.outcome)
    else {
        return Some(false);
    };
    let has_secrets = record.question.fields.iter().any(|field| field.secret);
    (!has_secrets).then(|| given.clone().canonical() == answer.clone().canonical())
}
