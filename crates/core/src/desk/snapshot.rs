//! The questions of one bridge or of many at one moment: those that are open, and those that were settled last.
//! Where the records come from is left to the rooms above. Open questions are bounded there, settled ones here.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use super::{
    Asker, BridgeName, Event, IdPrefix, QuestionId, Record, Refusal, Settlement, State, Submission,
    refusal::late_verdict, settled::is_same_answer,
};
use crate::limits;

/// Open questions and the last settled ones. Copies share the records.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The records of the open questions, with their sizes.
    open: BTreeMap<QuestionId, (Arc<Record>, usize)>,
    /// The settled questions, oldest first, with their sizes.
    settled: VecDeque<(Arc<Record>, usize)>,
    settled_bytes: usize,
    open_bytes: usize,
}

impl Snapshot {
    /// Returns the open questions, oldest first, including those whose outcome is being delivered.
    pub fn open(&self) -> Vec<Arc<Record>> {
        let mut records: Vec<_> = self.open.values().map(|(record, _)| Arc::clone(record)).collect();
        // The map is in the order of IDs, whose random names say nothing about the age.
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
        self.open
            .get(id)
            .map(|(record, _)| record)
            .or_else(|| self.settled().rev().find(|record| record.id == *id))
    }

    /// Finds the question of a typed reference: an open one, or else a settled one.
    ///
    /// # Errors
    /// `NotFound`; `Ambiguous` with the IDs of all that match; `Unavailable` for a lost one.
    pub fn find(&self, typed: &IdPrefix) -> Result<&Arc<Record>, Refusal> {
        let open = self.open.values().map(|(record, _)| record);
        let mut found: Vec<_> = open.filter(|record| typed.matches(&record.id)).collect();
        if found.is_empty() {
            found = self.settled().filter(|record| typed.matches(&record.id)).collect();
            let known = found.iter().any(|record| record.state != State::Lost);
            // A settled question is preferred to lost ones, since its outcome is known.
            found.retain(|record| !known || record.state != State::Lost);
        }
        IdPrefix::prefer_own(&mut found, |record| &record.id);
        match found[..] {
            [] => Err(Refusal::NotFound),
            [only] if only.state == State::Lost => Err(Refusal::Unavailable),
            [only] => Ok(only),
            ref several => Err(Refusal::Ambiguous(several.iter().map(|record| record.id.clone()).collect())),
        }
    }

    /// Returns the IDs of the open questions of a bridge.
    pub fn open_in(&self, bridge: &BridgeName) -> impl Iterator<Item = &QuestionId> {
        // No ID of the bridge sorts before this one: `Agent` is the first asker, and numbers begin at 1.
        let first = QuestionId { bridge: bridge.clone(), asker: Asker::Agent, number: 0 };
        let from = self.open.range((Bound::Included(first), Bound::Unbounded));
        from.map(|(id, _)| id).take_while(move |id| id.bridge == *bridge)
    }

    /// Returns the IDs of all open questions.
    pub fn open_ids(&self) -> impl Iterator<Item = &QuestionId> {
        self.open.keys()
    }

    /// Returns the IDs of the questions that were lost.
    pub fn lost_ids(&self) -> impl Iterator<Item = &QuestionId> {
        self.settled().filter(|record| record.state == State::Lost).map(|record| &record.id)
    }

    /// Returns how many bytes all records take as JSON.
    pub fn bytes(&self) -> usize {
        self.open_bytes + self.settled_bytes
    }

    /// Returns the verdict on a submission to a question that is over, by its record alone.
    ///
    /// # Errors
    /// `Conflict` and `Gone`; `Unavailable` where that is not known: the question is open or lost, or its answer had
    /// secrets, which are not in the record.
    pub fn judge_late(record: &Arc<Record>, submission: &Submission) -> Result<(), Refusal> {
        late_verdict(record, submission, |answer| is_same_answer(record, answer))
    }

    /// Stores the current state of a question. Returns the event, if anything changed. A settled question stays
    /// unchanged. A lost question that is found again is not lost any more.
    pub fn put(&mut self, record: Arc<Record>) -> Option<Event> {
        let bytes = record.size();
        self.put_sized(record, bytes)
    }

    /// Stores a question as [`Snapshot::put`] does, with the known size of its record as JSON.
    pub fn put_sized(&mut self, record: Arc<Record>, bytes: usize) -> Option<Event> {
        if let Some(index) = self.settled.iter().rposition(|(known, _)| known.id == record.id) {
            // In the inbox of a machine, the reply to a submission may settle a question before older changes of it
            // have arrived.
            if self.settled.get(index).is_some_and(|(known, _)| known.state != State::Lost) {
                return None;
            }
            let (_, bytes) = self.settled.remove(index)?;
            self.settled_bytes -= bytes;
        }
        if !record.is_open() {
            return Some(self.settle(record, bytes));
        }
        let is_same = |(known, _): &(Arc<Record>, usize)| Arc::ptr_eq(known, &record) || **known == *record;
        if self.open.get(&record.id).is_some_and(is_same) {
            return None;
        }
        self.open_bytes += bytes;
        match self.open.insert(record.id.clone(), (Arc::clone(&record), bytes)) {
            None => Some(Event::Opened(record)),
            Some((_, before)) => {
                self.open_bytes -= before;
                Some(Event::Changed(record))
            }
        }
    }

    /// Forgets a question that ended and that its bridge has forgotten. Returns whether it was there.
    pub fn forget(&mut self, id: &QuestionId) -> bool {
        let Some((_, bytes)) = self.open.remove(id) else { return false };
        self.open_bytes -= bytes;
        true
    }

    /// Records that a question's bridge disappeared. Followers get this settlement; a responder learns that the outcome
    /// is unknown.
    pub fn lose(&mut self, id: &QuestionId, told: Settlement) -> Option<Event> {
        let mut record = Record::clone(&self.open.get(id)?.0).settled(told);
        record.state = State::Lost;
        let bytes = record.size();
        Some(self.settle(Arc::new(record), bytes))
    }

    fn settle(&mut self, record: Arc<Record>, bytes: usize) -> Event {
        self.forget(&record.id);
        self.settled_bytes += bytes;
        self.settled.push_back((Arc::clone(&record), bytes));
        while (self.settled.len() > limits::REMEMBERED || self.settled_bytes > limits::REMEMBERED_BYTES)
            // The last one stays even if it alone is too large, so that its end can be looked up.
            && self.settled.len() > 1
            && let Some((_, bytes)) = self.settled.pop_front()
        {
            self.settled_bytes -= bytes;
        }
        Event::Settled(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::{
            Timestamp,
            samples::{answer, answered, name, question},
        },
        limits,
        question::{Outcome, Provenance, Reason},
    };

    fn record(id: &str) -> Record {
        Record::new(id.parse().expect("an ID"), question("Why?", None), Timestamp::default())
    }

    fn settlement(outcome: Outcome) -> Settlement {
        Settlement::new(outcome, Provenance::bridge(), Timestamp::default())
    }

    fn settled(id: &str) -> Record {
        record(id).settled(settlement(Outcome::Rejected(Reason::User)))
    }

    fn find(snapshot: &Snapshot, typed: &str) -> String {
        match snapshot.find(&typed.parse().expect("an ID")) {
            Ok(record) => record.id.to_string(),
            Err(Refusal::Ambiguous(ids)) => {
                ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
            }
            Err(refusal) => refusal.kind().name.to_owned(),
        }
    }

    #[test]
    fn open_questions_are_found_before_settled_ones_and_lost_ones_are_not_known() {
        let mut snapshot = Snapshot::default();
        for record in [record("ab-1"), record("ac-1"), record("ac-2"), settled("ad-1"), settled("ad-2")] {
            snapshot.put(Arc::new(record));
        }
        for (typed, found) in [
            ("ab", "ab-1"),
            ("ab-1", "ab-1"),
            ("a-2", "ac-2"),
            ("a-1", "ab-1 or ac-1"),
            ("ac", "ac-1 or ac-2"),
            ("ad-1", "ad-1"),
            ("ad", "ad-1 or ad-2"),
            ("ad-3", "not_found"),
            ("ab-p1", "not_found"),
        ] {
            assert_eq!(find(&snapshot, typed), found, "{typed}");
        }
        let told = settlement(Outcome::Rejected(Reason::AgentGone));
        let lost = "ac-2".parse().expect("an ID");
        assert!(matches!(snapshot.lose(&lost, told.clone()), Some(Event::Settled(_))));
        assert_eq!(snapshot.lose(&lost, told), None);
        assert_eq!((find(&snapshot, "ac-2"), find(&snapshot, "a-2")), ("unavailable".into(), "ad-2".into()));
        let record = snapshot.get(&lost).expect("a record");
        assert_eq!(Snapshot::judge_late(record, &answered("a")), Err(Refusal::Unavailable));
        let bridge = "ac".parse().expect("a name");
        assert_eq!(snapshot.lost_ids().collect::<Vec<_>>(), [&lost]);
        assert_eq!(snapshot.open_in(&bridge).count(), 1);
    }

    #[test]
    fn a_settled_question_stays_settled_and_a_lost_one_may_be_found_again() {
        let mut snapshot = Snapshot::default();
        let open = Arc::new(record("b-1"));
        assert!(matches!(snapshot.put(Arc::clone(&open)), Some(Event::Opened(_))));
        assert_eq!(snapshot.put(Arc::clone(&open)), None);
        let mut changed = Record::clone(&open);
        changed.expiring = true;
        assert!(matches!(snapshot.put(Arc::new(changed)), Some(Event::Changed(_))));
        snapshot.lose(&open.id, settlement(Outcome::Rejected(Reason::AgentGone)));
        assert!(matches!(snapshot.put(Arc::clone(&open)), Some(Event::Opened(_))));
        assert_eq!((snapshot.open_count(), snapshot.settled().count()), (1, 0));
        assert_eq!(snapshot.bytes(), open.size());
        assert!(matches!(snapshot.put(Arc::new(settled("b-1"))), Some(Event::Settled(_))));
        assert_eq!(snapshot.put(Arc::clone(&open)), None);
        assert_eq!(snapshot.put(Arc::new(settled("b-1"))), None);
        assert_eq!((snapshot.open_count(), snapshot.bytes()), (0, settled("b-1").size()));
        assert!(!snapshot.forget(&open.id), "a settled question is not open");
    }

    #[test]
    fn a_late_submission_is_judged_by_the_record_alone() {
        let mut plain = record("b-1");
        let mut without_secret = crate::question::Question::clone(&plain.question);
        without_secret.fields.retain(|field| !field.secret);
        plain.question = Arc::new(without_secret);
        let plain = Arc::new(plain.settled(settlement(Outcome::Answered(answer("a", None)))));
        let secret = Arc::new(record("b-2").settled(settlement(Outcome::Answered(answer("a", Some("x"))))));
        let rejected = Arc::new(settled("b-3"));
        let expired = settlement(Outcome::Rejected(Reason::Timeout));
        let expired = Arc::new(record("b-4").settled(expired));
        let of_next_year = settlement(Outcome::Unknown(serde_json::Map::new()));
        let of_next_year = Arc::new(record("b-5").settled(of_next_year));
        for (record, submission, verdict) in [
            (&plain, answered("a"), "ok"),
            (&plain, answered("b"), "conflict"),
            (&plain, Submission::Reject(None), "conflict"),
            (&secret, answered("a"), "unavailable"),
            (&rejected, Submission::Reject(Some("no".to_owned())), "ok"),
            (&rejected, answered("a"), "conflict"),
            (&expired, answered("a"), "gone"),
            (&expired, Submission::Reject(None), "gone"),
            (&of_next_year, answered("a"), "conflict"),
            (&Arc::new(self::record("b-6")), answered("a"), "unavailable"),
        ] {
            assert_eq!(name(&Snapshot::judge_late(record, &submission)), verdict, "{}", record.id);
        }
    }

    #[test]
    fn the_last_settled_questions_are_kept_within_the_limits() {
        let mut snapshot = Snapshot::default();
        for number in 1..=limits::REMEMBERED + 5 {
            snapshot.put(Arc::new(settled(&format!("b-{number}"))));
        }
        assert_eq!(snapshot.settled().count(), limits::REMEMBERED);
        assert_eq!(snapshot.settled().next().map(|record| record.id.number), Some(6));
        let mut big = settled("b-1000");
        big.question = question(&"x".repeat(limits::REMEMBERED_BYTES), None);
        let big = Arc::new(big);
        snapshot.put(Arc::clone(&big));
        assert_eq!((snapshot.settled().count(), snapshot.bytes()), (1, big.size()));
    }
}
