//! Random lives of questions: a desk beside a model that knows nothing of its structure. After each step, the verdicts,
//! limits and deadlines of the desk, and the view of its followers, are compared with the model.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{
    Desk, Event, EventLog, Notice, Opening, QuestionId, Record, Snapshot, State, Submission, Ticket,
    TicketedSubmission,
    samples::{End, Life, ModelQuestion, ModelSubmission, Step, answer, desk, late, name, outcome, question},
};
use crate::{
    limits,
    question::{Outcome, Provenance, Reason},
};

pub(super) struct World {
    desk: Desk,
    now: Duration,
    asked: Vec<ModelQuestion>,
    tickets: u64,
    expected: BTreeMap<Ticket, &'static str>,
    heard: BTreeMap<Ticket, &'static str>,
    expected_warnings: Vec<u64>,
    replica: Snapshot,
    log: EventLog,
    follower: BTreeMap<QuestionId, Arc<Record>>,
    followed: u64,
}

impl World {
    pub(super) fn new() -> Self {
        World {
            desk: desk(),
            now: Duration::ZERO,
            asked: Vec::new(),
            tickets: 0,
            expected: BTreeMap::new(),
            heard: BTreeMap::new(),
            expected_warnings: Vec::new(),
            replica: Snapshot::default(),
            log: EventLog::default(),
            follower: BTreeMap::new(),
            followed: 0,
        }
    }

    /// Returns a number near the last one, which may belong to no question.
    fn pick(&self, place: u64) -> u64 {
        (self.asked.len() as u64 + 1).saturating_sub(place)
    }

    fn asked(&mut self, number: u64) -> Option<&mut ModelQuestion> {
        self.asked.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn weight(&self) -> usize {
        self.asked.iter().filter(|asked| !asked.is_over()).map(|asked| asked.weight + asked.kept).sum()
    }

    pub(super) fn play(&mut self, step: &Step) {
        match *step {
            Step::Open { session, weight, timeout } => {
                self.open(["", "one", "two"][session], weight, timeout);
            }
            Step::Submit(place, given) => self.submit(self.pick(place), given),
            Step::End(place, end) => self.end(self.pick(place), end),
            Step::Close(place, time) => self.close(self.pick(place), time),
            Step::Leave(place, length) => self.leave(self.pick(place), length),
            Step::Delivered(place) => self.delivered(self.pick(place)),
            Step::Undeliverable(place) => self.undeliverable(self.pick(place)),
            Step::Overtaken(place, end) => self.overtaken(self.pick(place), end),
            Step::Wait(time) => self.wait(time),
            Step::Take => self.take(),
            Step::Follow => self.follow(),
            Step::Burst(is_seen) => self.burst(is_seen),
        }
        self.check();
    }

    fn open(&mut self, session: &str, weight: usize, timeout: Option<Duration>) {
        let open = || self.asked.iter().filter(|asked| !asked.is_over());
        let in_session = open().filter(|asked| asked.session == session).count();
        let fits = in_session < limits::OPEN_PER_SESSION
            && open().count() < limits::OPEN
            && self.weight() + weight <= limits::OPEN_BYTES;
        let named = Some(session).filter(|session| !session.is_empty());
        assert_eq!(self.desk.check_room(named, weight).is_ok(), fits);
        if !fits {
            return;
        }
        let question = question("Why?", named);
        let number =
            self.desk.open(Opening { question, weight, timeout, elsewhere: false, context: None }, self.now);
        let mut asked = ModelQuestion {
            life: Life::Open,
            session: session.to_owned(),
            weight,
            kept: 0,
            since: self.now,
            deadline: None,
            warning: None,
            later: None,
            parked: Vec::new(),
        };
        if let Some(timeout) = timeout {
            asked.set_deadline(self.now + timeout);
        }
        self.asked.push(asked);
        assert_eq!(number, self.asked.len() as u64);
    }

    fn submit(&mut self, number: u64, given: ModelSubmission) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let submission = match given {
            ModelSubmission::Answer(text, secret) => Submission::answer(answer(text, secret), None),
            ModelSubmission::Reject => Submission::Reject(None),
            ModelSubmission::Extend(time) => Submission::Extend(time),
            ModelSubmission::Later(time) => Submission::Later(time),
        };
        let now = self.now;
        let is_remembered = self.desk.memory.iter().any(|(known, _)| known == number);
        let submitted = TicketedSubmission { ticket, number, submission, by: Provenance::bridge() };
        let settled = self.desk.submit(submitted, self.now).is_some();
        let mut settles = None;
        let told = match self.asked(number) {
            None => Some("not_found"),
            Some(ModelQuestion { life: Life::Over(end), .. }) if is_remembered => Some(late(*end, given)),
            Some(ModelQuestion { life: Life::Over(_), .. }) => Some("unavailable"),
            Some(asked @ ModelQuestion { life: Life::Open, .. }) => match (given, asked.deadline) {
                (ModelSubmission::Answer(text, _), _) if text.len() > 3 => Some("does_not_fit"),
                (ModelSubmission::Answer(text, secret), _) => {
                    settles = Some(End::Answered(text, secret));
                    None
                }
                (ModelSubmission::Reject, _) => {
                    settles = Some(End::ByUser);
                    None
                }
                (ModelSubmission::Later(time), deadline) => {
                    let left = deadline.map(|deadline| deadline.saturating_sub(now));
                    let early = left.map(|left| left - (left / 2).min(limits::ASIDE_MARGIN));
                    let aside = early.map_or(time, |early| early.min(time));
                    asked.later = (!aside.is_zero()).then(|| now + aside);
                    Some("ok")
                }
                (ModelSubmission::Extend(_), None) => Some("no_deadline"),
                (ModelSubmission::Extend(time), Some(deadline)) => {
                    asked.set_deadline(deadline + time);
                    Some("ok")
                }
            },
            Some(asked) => {
                asked.parked.push((ticket, given));
                None
            }
        };
        self.expected.extend(told.map(|told| (ticket, told)));
        assert_eq!(settled, settles.is_some());
        if let Some((asked, end)) = self.asked(number).zip(settles) {
            asked.end(Life::Delivering(end, Some(ticket)));
        }
    }

    fn end(&mut self, number: u64, end: End) {
        self.desk.end(number, outcome(end), Provenance::bridge(), self.now);
        let Some(asked) = self.asked(number) else { return };
        if !matches!(asked.life, Life::Open | Life::Closing) {
            return;
        }
        asked.end(Life::Delivering(end, None));
    }

    fn close(&mut self, number: u64, time: Duration) {
        let until = self.now + time;
        self.desk.close(number, until);
        let Some(asked) = self.asked(number).filter(|asked| asked.life == Life::Open) else { return };
        asked.life = Life::Closing;
        (asked.deadline, asked.warning) = (Some(until), None);
    }

    fn leave(&mut self, number: u64, length: usize) {
        let kept = answer(&"x".repeat(length), None);
        let fits = kept.bytes() <= limits::OPEN_BYTES - self.weight();
        self.desk.leave(number, Some(answer(&"x".repeat(length), Some("hidden"))));
        let Some(asked) = self.asked(number).filter(|asked| !asked.is_over()) else { return };
        if fits {
            asked.kept = kept.bytes();
        }
        let shown = self.desk.get(number).and_then(|record| record.kept.as_ref());
        assert!(shown.is_none_or(|kept| !kept.values.contains_key("s")));
        assert!(!fits || shown == Some(&kept));
    }

    fn delivered(&mut self, number: u64) {
        self.desk.delivered(number);
        if let Some(Life::Delivering(end, winner)) = self.asked(number).map(|asked| asked.life) {
            self.expected.extend(winner.map(|ticket| (ticket, "ok")));
            self.over(number, end);
        }
    }

    fn undeliverable(&mut self, number: u64) {
        self.desk.undeliverable(number);
        if let Some(Life::Delivering(end, winner)) = self.asked(number).map(|asked| asked.life) {
            self.expected.extend(winner.map(|ticket| (ticket, "unavailable")));
            if matches!(end, End::Gone(_)) {
                return self.over(number, end);
            }
            let parked = self.asked(number).map(|asked| std::mem::take(&mut asked.parked));
            self.expected.extend(parked.into_iter().flatten().map(|(ticket, _)| (ticket, "unavailable")));
            self.over(number, End::Gone(Reason::AgentGone));
        }
    }

    fn overtaken(&mut self, number: u64, end: End) {
        self.desk.overtaken(number, outcome(end), Provenance::bridge(), self.now);
        let Some(asked) = self.asked(number).filter(|asked| !asked.is_over()) else { return };
        (asked.deadline, asked.warning, asked.later) = (None, None, None);
        if let Life::Delivering(before, Some(ticket)) = asked.life {
            let given = match before {
                End::Answered(text, secret) => ModelSubmission::Answer(text, secret),
                _ => ModelSubmission::Reject,
            };
            self.expected.insert(ticket, late(end, given));
        }
        self.over(number, end);
    }

    fn over(&mut self, number: u64, end: End) {
        let Some(asked) = self.asked(number) else { return };
        asked.life = Life::Over(end);
        let parked = std::mem::take(&mut asked.parked);
        self.expected.extend(parked.into_iter().map(|(ticket, given)| (ticket, late(end, given))));
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        let now = self.now;
        let mut over = Vec::new();
        for (number, asked) in (1..).zip(&mut self.asked) {
            asked.later.take_if(|due| *due <= now);
            if asked.warning.take_if(|due| *due <= now).is_some() {
                asked.later = None;
                self.expected_warnings.push(number);
            }
            if asked.deadline.is_some_and(|due| due <= now) {
                over.push(number);
            }
        }
        assert_eq!(self.desk.tick(now), over);
        over.into_iter().for_each(|number| self.end(number, End::Gone(Reason::Timeout)));
    }

    fn burst(&mut self, is_seen: bool) {
        let first = self.asked.len() + 1;
        for number in 0..limits::REMEMBERED + 9 {
            self.open(&format!("burst {first} {number}"), 1, None);
        }
        if is_seen {
            self.take();
        }
        for number in first..=self.asked.len() {
            self.end(number as u64, End::Answered("a", None));
            self.delivered(number as u64);
        }
    }

    fn take(&mut self) {
        let changes = self.desk.take_changes().unwrap_or_default();
        for record in changes.questions {
            if let Some(event) = self.replica.put(record) {
                self.log.push(event);
            }
        }
        if changes.gone.iter().filter(|id| self.replica.forget(id)).count() > 0 {
            self.log.start_over();
        }
        assert!(!self.desk.has_changes());
        let open: Vec<_> = self.desk.open.values().map(|entry| Arc::clone(&entry.record)).collect();
        assert_eq!(self.replica.open_count(), open.len());
        assert!(open.iter().all(|record| self.replica.get(&record.id) == Some(record)));
        let settled: Vec<_> = self.replica.settled().collect();
        let remembered: Vec<_> = self.desk.memory.iter().map(|(_, record)| record).collect();
        assert!(settled.ends_with(&remembered), "the replica knows what the desk remembers");
        for record in settled {
            let Life::Over(end) = self.asked[record.id.number as usize - 1].life else {
                panic!("shown as settled before it was delivered: {record:?}");
            };
            let shown = record.settlement.as_ref().map(|settlement| settlement.outcome.clone());
            let told = match outcome(end) {
                Outcome::Answered(answer) => Outcome::Answered(answer.redacted(&record.question)),
                outcome => outcome,
            };
            assert_eq!((record.state, shown), (State::Settled, Some(told)));
        }
    }

    /// Follows the event log from where the last call ended.
    fn follow(&mut self) {
        match self.log.since(self.followed) {
            None => {
                let open = self.replica.open().into_iter();
                self.follower = open.map(|record| (record.id.clone(), record)).collect();
            }
            Some(events) => {
                for (number, event) in events {
                    assert!((self.followed..self.log.revision()).contains(&number));
                    let record = Arc::clone(event.record());
                    match event {
                        Event::Settled(_) => drop(self.follower.remove(&record.id)),
                        _ => drop(self.follower.insert(record.id.clone(), record)),
                    }
                }
            }
        }
        self.followed = self.log.revision();
        let mut followed: Vec<_> = self.follower.values().cloned().collect();
        followed.sort_by(|one, other| one.age().cmp(&other.age()));
        assert_eq!(followed, self.replica.open());
    }

    fn check(&mut self) {
        let mut warnings = Vec::new();
        while let Some(notice) = self.desk.poll() {
            match notice {
                Notice::Verdict(ticket, verdict) => {
                    let before = self.heard.insert(ticket, name(&verdict));
                    assert_eq!(before, None, "a second verdict for {ticket:?}");
                }
                Notice::Warned(record) => warnings.push(record.id.number),
                Notice::Opened(record)
                | Notice::Changed(record)
                | Notice::TurnOver(record)
                | Notice::Extended(record, _)
                | Notice::Decided { record, .. } => {
                    assert!(record.is_open());
                }
            }
        }
        assert_eq!(self.heard, self.expected);
        assert_eq!(warnings, std::mem::take(&mut self.expected_warnings));
        assert_eq!(self.desk.len(), self.asked.iter().filter(|asked| !asked.is_over()).count());
        assert_eq!(self.desk.weight, self.weight());
        assert!(self.desk.weight <= limits::OPEN_BYTES);
        assert!(self.desk.memory.iter().count() <= limits::REMEMBERED);
        let timers = self.asked.iter().flat_map(|asked| [asked.deadline, asked.warning, asked.later]);
        assert_eq!(self.desk.next_deadline(), timers.flatten().min());
        for (number, asked) in (1..).zip(&self.asked) {
            let record = self.desk.get(number).filter(|record| record.settlement.is_none());
            let state = match asked.life {
                Life::Open | Life::Closing => Some(State::Open),
                Life::Delivering(..) => Some(State::Delivering),
                Life::Over(_) => None,
            };
            assert_eq!(record.map(|record| record.state), state);
            let later = record.and_then(|record| record.later);
            assert_eq!(later.is_some(), asked.later.is_some());
        }
    }

    /// Ends everything, so that each submission has its verdict.
    pub(super) fn finish(&mut self, arrives: bool) {
        for number in 1..=self.asked.len() as u64 {
            self.end(number, End::Gone(Reason::Shutdown));
            if arrives { self.delivered(number) } else { self.undeliverable(number) }
        }
        self.check();
        self.take();
        self.follow();
        assert_eq!(self.heard.len() as u64, self.tickets, "each submission has its verdict");
        assert_eq!((self.desk.weight, self.desk.len(), self.follower.len()), (0, 0, 0));
        assert!(self.desk.timers.is_empty() && self.desk.changed.is_empty() && self.desk.shown.is_empty());
        assert_eq!(self.replica.bytes(), self.replica.settled().map(|record| record.size()).sum::<usize>());
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::World;
    use crate::desk::samples::any_step;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 60,
            ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
        })]

        #[test]
        fn every_submission_gets_one_verdict_and_followers_see_what_the_desk_has(
            steps in prop::collection::vec(any_step(), 1..120), arrives in any::<bool>(),
        ) {
            let mut world = World::new();
            steps.iter().for_each(|step| world.play(step));
            world.finish(arrives);
        }
    }
}
