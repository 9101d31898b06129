//! What a person has sent and can still take back: how long each submission waits, and which are due.
//! Pure: the time is an argument. Carrying it out is left to `rpc/deferrals.rs` for connections, and to the full-screen
//! terminal for itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use askbridge_core::desk::{QuestionId, Record, State, Submission, Timestamp};

use crate::limits;

/// Returns how long a submission to this question may wait, of the time that its sender has to take it back: never so
/// long that the agent's deadline passes. Zero if waiting makes no sense, as the question is over, or has changed since
/// its responder saw it. `now` is the time by the clock of the question's bridge.
pub fn window(undo: Duration, submission: &Submission, record: &Record, now: Timestamp) -> Duration {
    let is_taken = !record.is_open() || record.state == State::Delivering;
    // More time is no decision.
    if is_taken || !submission.settles() || !submission.has_seen(record.edition) {
        return Duration::ZERO;
    }
    let left = record.deadline.map_or(Duration::MAX, |deadline| deadline.since(now));
    undo.min(left.saturating_sub(limits::BEFORE_DEADLINE))
}

/// Whose submission it is, and to which question. A sender has one submission to a question at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeferralKey {
    /// The question.
    pub id: QuestionId,
    /// The connection that sent it, or 0 where there is only one sender.
    pub sender: u64,
}

/// The submissions that wait. Each leaves once: it is taken back, or it is due.
#[derive(Debug)]
pub struct Waiting<T> {
    submissions: BTreeMap<DeferralKey, (Instant, T)>,
    by_time: BTreeSet<(Instant, DeferralKey)>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting { submissions: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

impl<T> Waiting<T> {
    /// Lets a submission wait until this time. Returns the one whose place it takes: what a sender says last counts.
    pub fn defer(&mut self, key: DeferralKey, submission: T, until: Instant) -> Option<T> {
        let replaced = self.take_back(&key);
        self.by_time.insert((until, key.clone()));
        self.submissions.insert(key, (until, submission));
        replaced
    }

    /// Takes a submission back, unless it is on its way already.
    pub fn take_back(&mut self, key: &DeferralKey) -> Option<T> {
        let (until, submission) = self.submissions.remove(key)?;
        self.by_time.remove(&(until, key.clone()));
        Some(submission)
    }

    /// Returns the submissions that are together with others, of one sender.
    pub fn together(&self, sender: u64, is_with: impl Fn(&T) -> bool) -> Vec<DeferralKey> {
        let all = self.submissions.iter().filter(|(key, (_, it))| key.sender == sender && is_with(it));
        all.map(|(key, _)| key.clone()).collect()
    }

    /// Makes these submissions due at one time: the earliest of theirs and of this one, which is returned.
    pub fn join(&mut self, keys: &[DeferralKey], until: Instant) -> Instant {
        let dues = keys.iter().filter_map(|key| self.submissions.get(key)).map(|(due, _)| *due);
        let until = dues.chain([until]).min().unwrap_or(until);
        for key in keys {
            self.hasten_one(key, |_| until);
        }
        until
    }

    /// Makes the submissions to this question due earlier, each as `until` says. None becomes due later.
    pub fn hasten(&mut self, id: &QuestionId, until: impl Fn(&T) -> Instant) {
        let [first, last] = [0, u64::MAX].map(|sender| DeferralKey { id: id.clone(), sender });
        let keys: Vec<_> = self.submissions.range(first..=last).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.hasten_one(&key, &until);
        }
    }

    /// Makes all submissions of a sender that is gone due now, since nobody can take them back; `None` means every sender.
    pub fn release(&mut self, sender: Option<u64>, now: Instant) {
        let is_meant = |key: &&DeferralKey| sender.is_none_or(|sender| key.sender == sender);
        let keys: Vec<_> = self.submissions.keys().filter(is_meant).cloned().collect();
        for key in keys {
            self.hasten_one(&key, |_| now);
        }
    }

    fn hasten_one(&mut self, key: &DeferralKey, until: impl Fn(&T) -> Instant) {
        let Some((due, submission)) = self.submissions.get_mut(key) else { return };
        let sooner = until(submission).min(*due);
        self.by_time.remove(&(*due, key.clone()));
        self.by_time.insert((sooner, key.clone()));
        *due = sooner;
    }

    /// Returns when the next one is due.
    pub fn next(&self) -> Option<Instant> {
        self.by_time.first().map(|(due, _)| *due)
    }

    /// Returns those that are due, the earliest first.
    pub fn due(&mut self, now: Instant) -> Vec<(DeferralKey, T)> {
        let mut due = Vec::new();
        while let Some((_, key)) = self.by_time.first().filter(|(until, _)| *until <= now).cloned() {
            let submission = self.take_back(&key);
            due.extend(submission.map(|submission| (key, submission)));
        }
        due
    }

    /// Returns the questions that submissions wait for, in their order.
    pub fn questions(&self) -> impl Iterator<Item = &QuestionId> {
        self.submissions.keys().map(|key| &key.id)
    }

    /// Returns whether none waits.
    pub fn is_empty(&self) -> bool {
        self.submissions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{
        desk::Settlement,
        question::{Answer, Outcome, Provenance, Reason},
    };

    use super::*;
    use crate::rpc::played::question;

    fn record() -> Record {
        Record::new("b-1".parse().expect("an ID"), Arc::new(question("Why?")), Timestamp::default())
    }

    #[test]
    fn a_submission_waits_until_shortly_before_the_deadline() {
        let now = Timestamp::default().after(Duration::from_secs(1000));
        let (open, late) = (record(), limits::BEFORE_DEADLINE);
        let due_in = |left: Duration| Record { deadline: Some(now.after(left)), ..record() };
        let over = record().settled(Settlement::new(
            Outcome::Rejected(Reason::Withdrawn),
            Provenance::bridge(),
            now,
        ));
        let [ms_500, s_3, s_10] = [500, 3000, 10_000].map(Duration::from_millis);
        let answer = |seen: Option<u32>| Submission::answer(Answer::default(), seen);
        let changed = Record { edition: 1, ..record() };
        let delivering = Record { state: State::Delivering, ..record() };
        for (name, undo, submission, record, expected) in [
            ("no deadline", s_3, answer(Some(0)), &open, s_3),
            ("the longest", s_10, answer(Some(0)), &open, s_10),
            ("switched off", Duration::ZERO, answer(Some(0)), &open, Duration::ZERO),
            ("far away", s_3, answer(Some(0)), &due_in(Duration::from_secs(3600)), s_3),
            ("near", s_3, answer(Some(0)), &due_in(late + ms_500), ms_500),
            ("just too near", s_3, answer(Some(0)), &due_in(late), Duration::ZERO),
            ("passed", s_3, answer(Some(0)), &due_in(Duration::ZERO), Duration::ZERO),
            ("over", s_3, answer(Some(0)), &over, Duration::ZERO),
            ("another answer is on its way", s_3, answer(Some(0)), &delivering, Duration::ZERO),
            ("changed", s_3, answer(Some(0)), &changed, Duration::ZERO),
            ("changed, and not seen", s_3, answer(None), &changed, Duration::ZERO),
            ("changed, and seen", s_3, answer(Some(1)), &changed, s_3),
            ("more time", s_3, Submission::Extend(s_10), &open, Duration::ZERO),
            ("a rejection is right whatever was shown", s_3, Submission::Reject(None), &changed, s_3),
        ] {
            assert_eq!(window(undo, &submission, record, now), expected, "{name}");
        }
    }

    /// What happens, at a number of milliseconds, and what leaves by it.
    enum Step {
        Defer(&'static str, u64),
        TakeBack(&'static str),
        Hasten(u64, u64),
        Release(Option<u64>),
        Join(&'static [&'static str], u64),
        Due,
    }

    /// `7@2` is a submission of the connection 2 to question 7.
    fn key(text: &str) -> DeferralKey {
        let (id, sender) = text.split_once('@').expect("a question and a sender");
        let id = format!("b-{id}").parse().expect("an ID");
        DeferralKey { id, sender: sender.parse().expect("a number") }
    }

    fn name(key: &DeferralKey) -> String {
        format!("{}@{}", key.id.number, key.sender)
    }

    /// Plays the steps, and returns what left, step by step.
    fn play(steps: &[(u64, Step)]) -> Vec<String> {
        let start = Instant::now();
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let mut waiting = Waiting::default();
        let mut left = Vec::new();
        for (time, step) in steps {
            left.push(match step {
                Step::Defer(which, until) => {
                    waiting.defer(key(which), name(&key(which)), at(*until)).unwrap_or_default()
                }
                Step::TakeBack(which) => waiting.take_back(&key(which)).unwrap_or_default(),
                Step::Hasten(question, until) => {
                    waiting.hasten(&key(&format!("{question}@0")).id, |_| at(*until));
                    String::new()
                }
                Step::Join(keys, until) => {
                    let keys: Vec<_> = keys.iter().map(|which| key(which)).collect();
                    let until = waiting.join(&keys, at(*until));
                    format!("{}", until.duration_since(start).as_millis())
                }
                Step::Release(sender) => {
                    waiting.release(*sender, at(*time));
                    String::new()
                }
                Step::Due => {
                    let due: Vec<_> = waiting.due(at(*time)).iter().map(|(key, _)| name(key)).collect();
                    assert!(waiting.next().is_none_or(|next| next > at(*time)));
                    assert_eq!(waiting.is_empty(), waiting.next().is_none());
                    due.join(" ")
                }
            });
        }
        left
    }

    #[test]
    fn each_submission_leaves_once() {
        use Step::{Defer, Due, TakeBack};
        for (what, steps, expected) in [
            (
                "in time",
                vec![(0, Defer("1@1", 30)), (29, Due), (30, Due), (31, Due)],
                vec!["", "", "1@1", ""],
            ),
            (
                "taken back",
                vec![(0, Defer("1@1", 30)), (29, TakeBack("1@1")), (30, Due)],
                vec!["", "1@1", ""],
            ),
            ("too late", vec![(0, Defer("1@1", 30)), (30, Due), (30, TakeBack("1@1"))], vec!["", "1@1", ""]),
            (
                "by nobody else",
                vec![(0, Defer("1@1", 30)), (1, TakeBack("1@2")), (1, TakeBack("2@1")), (30, Due)],
                vec!["", "", "", "1@1"],
            ),
            (
                "what is said last counts",
                vec![(0, Defer("1@1", 30)), (9, Defer("1@1", 39)), (30, Due), (39, Due)],
                vec!["", "1@1", "", "1@1"],
            ),
            (
                "several, each in its time",
                vec![
                    (0, Defer("2@1", 30)),
                    (1, Defer("1@1", 20)),
                    (2, Defer("1@2", 25)),
                    (25, Due),
                    (30, Due),
                ],
                vec!["", "", "", "1@1 1@2", "2@1"],
            ),
        ] {
            assert_eq!(play(&steps), expected, "{what}");
        }
    }

    #[test]
    fn deadlines_and_ends_hasten_what_waits() {
        use Step::{Defer, Due, Hasten, Join, Release, TakeBack};
        for (what, steps, expected) in [
            (
                "a deadline that comes nearer, for all of the question, and one that goes away",
                vec![
                    (0, Defer("1@1", 30)),
                    (0, Defer("1@2", 5)),
                    (0, Defer("2@1", 30)),
                    (1, Hasten(1, 10)),
                    (2, Hasten(1, 90)),
                    (9, Due),
                    (10, Due),
                    (30, Due),
                ],
                vec!["", "", "", "", "", "1@2", "1@1", "2@1"],
            ),
            (
                "a connection ends",
                vec![
                    (0, Defer("1@1", 30)),
                    (0, Defer("1@2", 30)),
                    (0, Defer("2@1", 30)),
                    (1, Release(Some(1))),
                    (1, Due),
                    (2, Release(Some(1))),
                    (2, Due),
                    (2, TakeBack("1@1")),
                    (30, Due),
                ],
                vec!["", "", "", "", "1@1 2@1", "", "", "", "1@2"],
            ),
            (
                "what is sent together leaves with the first of it",
                vec![
                    (0, Defer("1@1", 30)),
                    (0, Defer("2@1", 20)),
                    (0, Defer("3@1", 30)),
                    (1, Join(&["1@1", "2@1", "4@1"], 25)),
                    (20, Due),
                    (21, Join(&["3@1"], 25)),
                    (25, Due),
                ],
                vec!["", "", "", "20", "1@1 2@1", "25", "3@1"],
            ),
            (
                "the server ends",
                vec![(0, Defer("1@1", 30)), (0, Defer("1@2", 30)), (1, Release(None)), (1, Due)],
                vec!["", "", "", "1@1 1@2"],
            ),
        ] {
            assert_eq!(play(&steps), expected, "{what}");
        }
    }
}
