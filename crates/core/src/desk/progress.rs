//! The progress of an open question: its deadline, the warning before it and more time; when it is set aside, and back;
//! changes of its text; and the delivery of its outcome, which arrives, is lost, or is overtaken by an outcome that the asker
//! already had. Ending a question at its deadline is left to the asker, settling it by a submission to `state.rs`.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Notice, Record, Refusal, Settlement, Submission,
    state::{Desk, Entry, Stage},
};
use crate::{
    limits,
    question::{Answer, Outcome, Provenance, Question, Reason},
};

impl Desk {
    /// Returns when [`Desk::tick`] is due, if it is.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Warns of questions whose time is nearly over, and returns those whose time is over, oldest first. The asker
    /// ends them.
    #[must_use]
    pub fn tick(&mut self, now: Duration) -> Vec<u64> {
        // This is a set, since the warning and the deadline of one question may be due at once.
        let due: BTreeSet<u64> =
            self.timers.iter().take_while(|(due, _)| *due <= now).map(|(_, number)| *number).collect();
        for number in &due {
            let later = self.open.get(number).and_then(|entry| entry.later);
            if later.is_some_and(|due| due <= now) {
                self.set_later(*number, None);
            }
            let warned =
                self.open.get(number).is_some_and(|entry| entry.warning.is_some_and(|due| due <= now));
            if warned {
                let deadline = self.open.get(number).and_then(|entry| entry.deadline);
                // A warning that stays would be due at once again, and the caller would never rest.
                self.set_timers(*number, deadline, None);
                // What ends soon is looked at now.
                self.set_later(*number, None);
                self.change(*number, |record| record.expiring = true);
                self.notices.extend(self.get(*number).cloned().map(Notice::Warned));
            }
        }
        let is_over = |number: &u64| {
            self.open.get(number).is_some_and(|entry| entry.deadline.is_some_and(|due| due <= now))
        };
        due.into_iter().filter(is_over).collect()
    }

    pub(super) fn extend(&mut self, number: u64, time: Duration) -> Result<(), Refusal> {
        let deadline = self.open.get(&number).and_then(|entry| entry.deadline).ok_or(Refusal::NoDeadline)?;
        // The time counts from the deadline and not from now, so that an extension never shortens the time that is
        // left.
        let deadline = deadline.saturating_add(time.min(limits::WAIT));
        self.set_deadline(number, Some(deadline));
        self.change(number, |record| record.expiring = false);
        self.notices.extend(self.get(number).cloned().map(|record| Notice::Extended(record, deadline)));
        Ok(())
    }

    /// Replaces the timeout of the questions that opened at the time `since` or later. `before` is the timeout that
    /// they opened with, and `after` is the one that should have applied. A question whose deadline was extended keeps
    /// it.
    pub fn change_timeout(&mut self, before: Option<Duration>, after: Option<Duration>, since: Duration) {
        let shorter = |own: Option<Duration>, other| [own, other].into_iter().flatten().min();
        let changes: Vec<_> = self
            .open
            .iter()
            .filter(|(_, entry)| entry.since >= since && matches!(entry.stage, Stage::Open))
            .filter_map(|(number, entry)| {
                let own = entry.record.question.timeout;
                let at = |timeout| shorter(own, timeout).map(|timeout| entry.since.saturating_add(timeout));
                let (held, wanted) = (at(before), at(after));
                // A responder has extended any deadline that is not the one from the opening.
                (entry.deadline == held && held != wanted).then_some((*number, wanted))
            })
            .collect();
        for (number, deadline) in changes {
            self.set_deadline(number, deadline);
            self.change(number, |record| record.expiring = false);
        }
    }

    /// Sets the deadline, and a warning for when four fifths of the time are over.
    pub(super) fn set_deadline(&mut self, number: u64, deadline: Option<Duration>) {
        let Some(entry) = self.open.get(&number) else { return };
        let since = entry.since;
        let warning = deadline.map(|deadline| {
            let time = deadline.saturating_sub(since);
            since.saturating_add(time - time / 5)
        });
        self.set_timers(number, deadline, warning);
        let told = deadline.map(|deadline| self.at(deadline));
        self.change(number, |record| record.deadline = told);
        // An earlier deadline brings it back earlier.
        let later = self.open.get(&number).and_then(|entry| entry.later);
        let latest = deadline.map(|deadline| deadline.saturating_sub(limits::ASIDE_MARGIN));
        if let (Some(later), Some(latest)) = (later, latest)
            && latest < later
        {
            self.set_later(number, Some(latest));
        }
    }

    /// Keeps responders from settling a question that the asker is about to end, at this time at the latest.
    /// Submissions wait until then. What responders see does not change.
    pub fn close(&mut self, number: u64, until: Duration) {
        let Some(entry) = self.open.get_mut(&number) else { return };
        if matches!(entry.stage, Stage::Open) {
            entry.stage = Stage::Closing;
            // This does not call `set_deadline`: the record keeps the deadline that responders see.
            self.set_timers(number, Some(until), None);
        }
    }

    /// Sets an open question aside for this time: it is back before its deadline comes near. Zero brings it back.
    pub fn set_aside(&mut self, number: u64, time: Duration, now: Duration) {
        let Some(entry) = self.open.get(&number) else { return };
        let wanted = now.saturating_add(time.min(limits::ASIDE));
        let latest = entry.deadline.map(|deadline| {
            let left = deadline.saturating_sub(now);
            deadline.saturating_sub(limits::ASIDE_MARGIN.min(left / 2))
        });
        let until = latest.map_or(wanted, |latest| latest.min(wanted));
        self.set_later(number, Some(until).filter(|until| *until > now));
    }

    /// Replaces the time until which a question is set aside.
    pub(super) fn set_later(&mut self, number: u64, later: Option<Duration>) {
        let Some(entry) = self.open.get(&number).filter(|entry| entry.later != later) else { return };
        let (deadline, warning) = (entry.deadline, entry.warning);
        self.set_all_timers(number, deadline, warning, later);
        let told = later.map(|later| self.at(later));
        self.change(number, |record| record.later = told);
    }

    pub(super) fn set_timers(&mut self, number: u64, deadline: Option<Duration>, warning: Option<Duration>) {
        let later = self.open.get(&number).and_then(|entry| entry.later);
        self.set_all_timers(number, deadline, warning, later);
    }

    fn set_all_timers(
        &mut self,
        number: u64,
        deadline: Option<Duration>,
        warning: Option<Duration>,
        later: Option<Duration>,
    ) {
        let Some(entry) = self.open.get_mut(&number) else { return };
        // Several of them may be due at the same time, and then share one entry. So the old entries are
        // removed before any new one is set.
        for due in [entry.deadline, entry.warning, entry.later].into_iter().flatten() {
            self.timers.remove(&(due, number));
        }
        (entry.deadline, entry.warning, entry.later) = (deadline, warning, later);
        self.timers.extend([deadline, warning, later].into_iter().flatten().map(|due| (due, number)));
    }
}

impl Desk {
    /// Replaces the text of an open question, since what it is about has changed. `weight` is what the new text counts
    /// for. From now on, answers to an earlier text are refused (I13). A question whose outcome is being delivered keeps
    /// the text that was decided on.
    ///
    /// # Errors
    /// `Full`: there is no room for the new text. The question is unchanged.
    pub fn amend(&mut self, number: u64, question: Arc<Question>, weight: usize) -> Result<(), Refusal> {
        let room = self.room();
        let Some(entry) = self.open.get_mut(&number) else { return Ok(()) };
        if matches!(entry.stage, Stage::Delivering { .. }) {
            return Ok(());
        }
        let weight = weight + entry.record.kept.as_ref().map_or(0, Answer::bytes);
        if weight > room + entry.weight {
            return Err(Refusal::Full(format!(
                "too many bytes of open questions; the maximum is {}",
                limits::OPEN_BYTES
            )));
        }
        self.weight = self.weight - entry.weight + weight;
        entry.weight = weight;
        let question = self.keep_images(number, question);
        self.change(number, |record| {
            record.question = question;
            record.edition = record.edition.saturating_add(1);
        });
        // It was set aside for what it said before.
        self.set_later(number, None);
        self.notices.extend(self.get(number).cloned().map(Notice::Changed));
        Ok(())
    }

    /// Records that the turn in which an open question was asked is over.
    pub fn turn_over(&mut self, number: u64) {
        let is_news =
            |entry: &Entry| !matches!(entry.stage, Stage::Delivering { .. }) && !entry.record.turn_over;
        if self.open.get(&number).is_some_and(|entry| is_news(entry)) {
            self.change(number, |record| record.turn_over = true);
            self.notices.extend(self.get(number).cloned().map(Notice::TurnOver));
        }
    }
}

impl Desk {
    /// Records that the asker has received the outcome of a question. Responders are notified from now on (I9).
    pub fn delivered(&mut self, number: u64) {
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        let Stage::Delivering { settlement, winner } = stage else { return };
        // The settlement precedes the verdict, so that a responder whose answer is accepted finds the question settled.
        self.settle(number, record, weight, *settlement);
        if let Some(ticket) = winner {
            self.tell(ticket, Ok(()));
        }
        self.judge_parked(number, &parked);
    }

    /// Records that the asker is gone before the outcome of a question has verifiably reached it. A decision of the
    /// client or of a responder counts as lost: the settlement says that the agent is gone. Responders that wait for a
    /// verdict learn that the result is unknown.
    pub fn undeliverable(&mut self, number: u64) {
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        let Stage::Delivering { mut settlement, winner } = stage else { return };
        let was_decided = match &settlement.outcome {
            Outcome::Rejected(reason) => *reason == Reason::User,
            _ => true,
        };
        if was_decided {
            // The remark explained the lost decision, so it is removed too.
            let gone = Outcome::Rejected(Reason::AgentGone);
            *settlement = Settlement::new(gone, Provenance::bridge(), settlement.at);
        }
        self.settle(number, record, weight, *settlement);
        if let Some(ticket) = winner {
            self.tell(ticket, Err(Refusal::Unavailable));
        }
        if was_decided {
            // The outcome may have arrived after all, and these submissions may agree with it.
            parked.into_iter().for_each(|(ticket, _)| self.tell(ticket, Err(Refusal::Unavailable)));
        } else {
            self.judge_parked(number, &parked);
        }
    }

    /// Settles a question by an outcome that the asker already had, such as an answer in the agent's own dialog. An
    /// outcome that was being delivered came too late: its submission gets the verdict of a late one.
    pub fn overtaken(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        let edition = self.get(number).map(|record| record.edition);
        // `end` changes nothing if another outcome is being delivered.
        self.end(number, outcome.clone(), by.clone(), now);
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        self.settle(number, record, weight, Settlement::new(outcome, by, self.at(now)));
        if let Stage::Delivering { winner: Some(ticket), settlement } = stage {
            let late = match settlement.outcome {
                Outcome::Answered(answer) => Submission::answer(answer, edition),
                _ => Submission::Reject(settlement.remark),
            };
            self.judge(ticket, number, &late);
        }
        self.judge_parked(number, &parked);
    }

    fn take_delivering(&mut self, number: u64) -> Option<Entry> {
        let Stage::Delivering { .. } = self.open.get(&number)?.stage else { return None };
        let entry = self.open.remove(&number)?;
        self.weight -= entry.weight;
        self.images.remove(&number);
        self.changed.insert(number);
        Some(*entry)
    }

    fn settle(&mut self, number: u64, record: Arc<Record>, weight: usize, settlement: Settlement) {
        for forgotten in self.memory.remember(number, record, weight, settlement) {
            // No follower saw this question open, so none waits for its end. The desk only counts it.
            if !self.shown.contains(&forgotten) && self.changed.remove(&forgotten) {
                self.missed += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::desk::{
        Opening, Submission,
        samples::{answer, answered, desk, open, question, submit, verdicts},
    };

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_warning_comes_at_four_fifths_and_once() {
        let mut desk = desk();
        let number = open(&mut desk, Some(10 * SECOND));
        assert_eq!(desk.next_deadline(), Some(8 * SECOND));
        assert!(desk.tick(8 * SECOND - Duration::from_nanos(1)).is_empty());
        assert!(!desk.get(number).is_some_and(|record| record.expiring));
        assert!(desk.tick(8 * SECOND).is_empty());
        assert!(desk.get(number).is_some_and(|record| record.expiring));
        let warned = std::iter::from_fn(|| desk.poll()).filter(|notice| matches!(notice, Notice::Warned(_)));
        assert_eq!(warned.count(), 1);
        assert!(desk.tick(9 * SECOND).is_empty() && desk.poll().is_none());
        assert_eq!(desk.tick(10 * SECOND), [number]);
    }

    #[test]
    fn a_deadline_that_equals_its_warning_is_one_timer_and_both_count() {
        for timeout in [0, 1, 4] {
            let mut desk = desk();
            let timeout = Duration::from_nanos(timeout);
            let number = open(&mut desk, Some(timeout));
            assert_eq!(desk.timers.len(), 1, "{timeout:?}");
            assert_eq!(desk.tick(timeout), [number]);
            assert!(desk.get(number).is_some_and(|record| record.expiring));
            assert_eq!(desk.next_deadline(), Some(timeout), "the deadline is due until the question ends");
            assert!(submit(&mut desk, 1, number, answered("a")));
            assert_eq!(desk.next_deadline(), None);
        }
    }

    #[test]
    fn more_time_moves_deadline_and_warning_and_is_told_at_once() {
        let mut desk = desk();
        let number = open(&mut desk, Some(10 * SECOND));
        let shown = |desk: &Desk| {
            let record = desk.get(number).expect("an open question");
            (record.deadline.map(|deadline| deadline.since(record.opened_at)), record.expiring)
        };
        assert_eq!(shown(&desk), (Some(10 * SECOND), false));
        assert!(desk.tick(8 * SECOND).is_empty());
        assert_eq!(shown(&desk), (Some(10 * SECOND), true));
        submit(&mut desk, 1, number, Submission::Extend(10 * SECOND));
        assert_eq!((shown(&desk), desk.next_deadline()), ((Some(20 * SECOND), false), Some(16 * SECOND)));
        for ticket in 2..400 {
            submit(&mut desk, ticket, number, Submission::Extend(Duration::MAX));
        }
        assert!(verdicts(&mut desk).iter().all(|verdict| verdict.ends_with(" ok")));
        assert_eq!(desk.timers.len(), 2);
    }

    #[test]
    fn what_is_set_aside_comes_back_at_its_time_or_before_its_deadline() {
        const MINUTE: Duration = Duration::from_secs(60);
        for (what, deadline, aside, back) in [
            ("at its time", None, 30, Some(30)),
            ("far from the deadline", Some(100), 30, Some(30)),
            ("ten minutes before the deadline", Some(60), 90, Some(48)),
            ("before the warning", Some(200), 190, Some(160)),
            ("after half of a short time", Some(6), 30, Some(3)),
            ("never aside", None, 0, None),
            ("within a year", None, u64::MAX / 60, Some(366 * 24 * 60)),
        ] {
            let mut desk = desk();
            let number = open(&mut desk, deadline.map(|minutes: u32| MINUTE * minutes));
            assert!(!submit(&mut desk, 1, number, Submission::Later(Duration::from_secs(aside * 60))));
            assert_eq!(verdicts(&mut desk), ["1 ok"], "{what}");
            let later = |desk: &Desk| desk.get(number).and_then(|record| record.later).is_some();
            assert_eq!(later(&desk), back.is_some(), "{what}");
            let Some(back) = back.map(|minutes| Duration::from_secs(minutes * 60)) else { continue };
            assert!(desk.tick(back - SECOND).is_empty() && later(&desk), "{what}");
            desk.take_changes();
            assert!(desk.tick(back).is_empty() && !later(&desk), "{what}");
            assert!(desk.has_changes(), "{what}: followers see that it is back");
        }
    }

    #[test]
    fn what_is_set_aside_can_be_answered_and_is_back_when_it_changes_or_is_wanted() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        let aside = |desk: &mut Desk, ticket, minutes: u64| {
            submit(desk, ticket, number, Submission::Later(Duration::from_secs(minutes * 60)));
            desk.get(number).and_then(|record| record.later).is_some()
        };
        assert!(aside(&mut desk, 1, 30) && !aside(&mut desk, 2, 0) && aside(&mut desk, 3, 30));
        assert!(desk.amend(number, question("And now?", None), 1).is_ok());
        assert_eq!((desk.get(number).and_then(|record| record.later), desk.timers.len()), (None, 0));
        assert!(aside(&mut desk, 4, 30));
        let answer = Submission::answer(answer("a", None), 1);
        assert!(submit(&mut desk, 5, number, answer), "it can be answered all the time");
        desk.delivered(number);
        assert_eq!((desk.timers.len(), desk.len()), (0, 0));
        assert!(desk.memory.iter().all(|(_, record)| record.later.is_none()));
    }

    #[test]
    fn another_timeout_counts_for_questions_that_opened_since_it_was_set() {
        let mut desk = desk();
        let mut opened = |now: u64, own: Option<Duration>| {
            let mut question = Question::clone(&question("Why?", None));
            question.timeout = own;
            let timeout = [own, Some(10 * SECOND)].into_iter().flatten().min();
            let opening =
                Opening { question: Arc::new(question), weight: 1, timeout, elsewhere: false, context: None };
            desk.open(opening, Duration::from_secs(now))
        };
        let (earlier, later, own, extended) =
            (opened(1, None), opened(2, None), opened(2, Some(4 * SECOND)), opened(3, None));
        submit(&mut desk, 1, extended, Submission::Extend(SECOND));
        desk.change_timeout(Some(10 * SECOND), Some(60 * SECOND), 2 * SECOND);
        let deadlines = |desk: &Desk| {
            let deadline = |number| desk.open.get(&number).and_then(|entry| entry.deadline);
            [earlier, later, own, extended].map(|number| deadline(number).map(|due| due.as_secs()))
        };
        assert_eq!(deadlines(&desk), [Some(11), Some(62), Some(6), Some(14)]);
        let told = desk.get(later).and_then(|record| Some(record.deadline?.since(record.opened_at)));
        assert_eq!(told, Some(60 * SECOND), "responders see it");
        desk.change_timeout(Some(60 * SECOND), None, Duration::ZERO);
        assert_eq!(deadlines(&desk), [Some(11), None, Some(4 + 2), Some(14)]);
        desk.change_timeout(None, Some(SECOND), Duration::ZERO);
        assert_eq!(deadlines(&desk), [Some(11), Some(3), Some(3), Some(14)]);
        assert_eq!(desk.tick(4 * SECOND), [later, own], "a time that is over ends them at once");
        desk.close(later, 20 * SECOND);
        desk.change_timeout(Some(SECOND), None, Duration::ZERO);
        assert_eq!(deadlines(&desk)[1], Some(20), "it is ending");
    }

    #[test]
    fn an_answer_counts_for_the_text_that_its_responder_saw() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        let amend = |desk: &mut Desk, weight| desk.amend(number, question("Why not?", None), weight);
        let seen = |edition| Submission::answer(answer("a", None), edition);
        assert_eq!(amend(&mut desk, 30), Ok(()));
        assert_eq!((desk.weight, desk.get(number).map(|record| record.edition)), (30, Some(1)));
        for (ticket, edition) in [(1, None), (2, Some(0)), (3, Some(2))] {
            assert!(!submit(&mut desk, ticket, number, seen(edition)));
        }
        assert_eq!(verdicts(&mut desk), ["1 changed", "2 changed", "3 changed"]);
        let full = amend(&mut desk, limits::OPEN_BYTES + 1);
        assert!(full.is_err() && desk.weight == 30, "what does not fit changes nothing");
        assert!(submit(&mut desk, 4, number, seen(Some(1))));
        assert_eq!(amend(&mut desk, 50), Ok(()));
        desk.turn_over(number);
        let record = desk.get(number).expect("a question");
        assert!(record.edition == 1 && !record.turn_over, "the text that was decided on stays");
        desk.delivered(number);
        for (ticket, edition) in [(5, Some(1)), (6, Some(0)), (7, None)] {
            submit(&mut desk, ticket, number, seen(edition));
        }
        assert_eq!(verdicts(&mut desk), ["4 ok", "5 ok", "6 conflict", "7 conflict"]);
        let again = open(&mut desk, None);
        assert_eq!(desk.amend(again, question("Why not?", None), 10), Ok(()));
        assert!(
            submit(&mut desk, 8, again, Submission::Reject(None)),
            "a rejection is right whatever was shown"
        );
    }

    #[test]
    fn a_question_without_a_deadline_cannot_be_extended() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        submit(&mut desk, 1, number, Submission::Extend(SECOND));
        assert_eq!((verdicts(&mut desk), desk.next_deadline()), (vec!["1 no_deadline".to_owned()], None));
    }

    #[test]
    fn closing_replaces_deadline_and_warning() {
        for until in [Duration::ZERO, 8 * SECOND, 10 * SECOND, 20 * SECOND] {
            let mut desk = desk();
            let number = open(&mut desk, Some(10 * SECOND));
            desk.close(number, until);
            desk.close(number, 30 * SECOND);
            assert_eq!((desk.next_deadline(), desk.timers.len()), (Some(until), 1), "{until:?}");
            assert_eq!(desk.tick(until), [number]);
        }
    }
}
