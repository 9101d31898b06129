//! The desk: every open question of one asker, and the changes to it. Writing and sending an outcome, and calling the
//! desk's functions in time, is left to the asker. Deadlines, and the delivery of an outcome, are in `progress.rs`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use super::{
    Changes, Notice, Opening, QuestionId, Record, Refusal, Room, Settlement, Setup, State, Submission,
    Ticket, TicketedSubmission, Timestamp, settled::SettledQuestions,
};
use crate::{
    limits,
    question::{Answer, Outcome, Provenance, Question, Reason, check_shape},
};

/// The open questions of one asker, and the last that were settled.
///
/// The asker opens a question, and carries out what a submission or an end decides: it formats the outcome and sends
/// it. Until the asker reports that the outcome arrived ([`Desk::delivered`]) or cannot arrive
/// ([`Desk::undeliverable`]), the question is `delivering`, and counts towards the limits. Time is what has passed
/// since [`Setup::started`], and never goes back.
///
/// A desk holds at most as many questions and bytes as its [`Room`], if its caller asks
/// [`Desk::check_room`] before each; and remembers as many settled ones as [`limits::REMEMBERED`] and
/// [`limits::REMEMBERED_BYTES`] allow. The caller bounds the submissions that wait for their verdict, and polls the
/// notices after each call.
#[derive(Debug)]
pub struct Desk {
    setup: Setup,
    most: Room,
    last: u64,
    /// Boxed, since the nodes of a map are half empty and would waste the space of large values.
    pub(super) open: BTreeMap<u64, Box<Entry>>,
    /// The bytes of all questions in `open`.
    pub(super) weight: usize,
    /// When the next warning or deadline of each question is due.
    pub(super) timers: BTreeSet<(Duration, u64)>,
    pub(super) memory: SettledQuestions,
    pub(super) images: BTreeMap<u64, Vec<Arc<Vec<u8>>>>,
    /// The questions that changed since the last [`Desk::take_changes`]. Each is in `open`, `memory` or `shown`, which
    /// bounds their number.
    pub(super) changed: BTreeSet<u64>,
    /// The questions that followers believe to be open: those that were open at the last [`Desk::take_changes`].
    pub(super) shown: BTreeSet<u64>,
    /// How many questions opened, ended and were forgotten since the last [`Desk::take_changes`].
    pub(super) missed: u64,
    pub(super) notices: VecDeque<Notice>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) record: Arc<Record>,
    pub(super) since: Duration,
    /// The bytes that it counts for, including the answers that the client left.
    pub(super) weight: usize,
    pub(super) deadline: Option<Duration>,
    /// When four fifths of its time are over; `None` once the warning was given.
    pub(super) warning: Option<Duration>,
    /// Until when it is set aside.
    pub(super) later: Option<Duration>,
    pub(super) stage: Stage,
    /// Submissions that came while the question was closing or being delivered. They are judged once it is settled.
    pub(super) parked: Vec<(Ticket, Submission)>,
}

#[derive(Debug)]
pub(super) enum Stage {
    Open,
    /// The asker is about to end the question: responders come too late, but the client may still answer.
    Closing,
    /// Decided, and being delivered to the asker. `winner` is the ticket of the submission that decided it, if one did.
    Delivering {
        settlement: Box<Settlement>,
        winner: Option<Ticket>,
    },
}

impl Desk {
    /// Returns a desk without questions.
    pub fn new(setup: Setup) -> Self {
        Self::with_room(setup, Room::default())
    }

    /// Returns a desk without questions that holds so many.
    pub fn with_room(setup: Setup, most: Room) -> Self {
        Desk {
            memory: SettledQuestions::new(setup.key),
            setup,
            most,
            last: 0,
            open: BTreeMap::new(),
            images: BTreeMap::new(),
            weight: 0,
            timers: BTreeSet::new(),
            changed: BTreeSet::new(),
            shown: BTreeSet::new(),
            missed: 0,
            notices: VecDeque::new(),
        }
    }

    /// Returns how many questions are open or on their way.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns whether no question is open or on its way.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the sum of the bytes that all questions count for, open or on their way.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the time of day at which the clock of this desk started.
    pub fn started(&self) -> Timestamp {
        self.setup.started
    }

    /// Returns the number that the next question gets.
    pub fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Returns the ID of the question with this number.
    pub fn id(&self, number: u64) -> QuestionId {
        QuestionId { bridge: self.setup.bridge.clone(), asker: self.setup.asker, number }
    }

    /// Returns the record of a question that is open or on its way.
    pub fn get(&self, number: u64) -> Option<&Arc<Record>> {
        self.open.get(&number).map(|entry| &entry.record)
    }

    /// Returns the settlement of a question whose outcome is being delivered. It contains the values of secret fields.
    pub fn settlement(&self, number: u64) -> Option<&Settlement> {
        match &self.open.get(&number)?.stage {
            Stage::Delivering { settlement, .. } => Some(&**settlement),
            Stage::Open | Stage::Closing => None,
        }
    }

    /// Returns whether the outcome that is being delivered was submitted by a responder.
    pub fn is_submitted(&self, number: u64) -> bool {
        let stage = self.open.get(&number).map(|entry| &entry.stage);
        matches!(stage, Some(Stage::Delivering { winner: Some(_), .. }))
    }

    /// Returns how many bytes a question counts for: its size in memory or in a listing, whichever is more. `bytes` is
    /// the length of the JSON that it was read from.
    pub fn weigh(&self, question: &Question, bytes: usize) -> usize {
        question.weight(bytes).max(limits::RECORD + question.most_json())
    }

    /// Checks whether one more question of this session and weight may open. Questions without a session share one
    /// limit, as if it were a session.
    ///
    /// # Errors
    /// `Full`, which names the limit.
    pub fn check_room(&self, session: Option<&str>, weight: usize) -> Result<(), Refusal> {
        let entries = self.open.values().map(|entry| &**entry);
        let of_session = |entry: &&Entry| entry.record.question.session.as_deref() == session;
        let full = |what: &str, most: usize| Err(Refusal::Full(format!("{what}; the maximum is {most}")));
        if entries.filter(of_session).count() >= self.most.open_per_session {
            return full("too many open questions in the session", self.most.open_per_session);
        }
        if self.open.len() >= self.most.open {
            return full("too many open questions", self.most.open);
        }
        if weight > self.room() {
            return full("too many bytes of open questions", self.most.bytes);
        }
        Ok(())
    }

    /// Opens a question, and returns its number. The caller has checked that there is room ([`Desk::check_room`]).
    pub fn open(&mut self, opening: Opening, now: Duration) -> u64 {
        let number = self.next_number();
        self.reopen(number, opening, now);
        number
    }

    /// Opens a question again under the number and since the time that it had on an earlier desk of the same bridge. The
    /// numbers of later questions are higher.
    pub fn reopen(&mut self, number: u64, opening: Opening, since: Duration) {
        let Opening { question, weight, timeout, elsewhere, context } = opening;
        self.last = self.last.max(number);
        let context = context.and_then(|context| self.fitting(context));
        let question = self.keep_images(number, question);
        let record = Record::new(self.id(number), question, self.at(since)).after(context);
        let entry = Entry {
            record: Arc::new(Record { elsewhere, ..record }),
            since,
            weight,
            deadline: None,
            warning: None,
            later: None,
            stage: Stage::Open,
            parked: Vec::new(),
        };
        self.open.insert(number, Box::new(entry));
        self.weight += weight;
        self.set_deadline(number, timeout.map(|timeout| since.saturating_add(timeout)));
        if let Some(record) = self.get(number).cloned() {
            self.notices.push_back(Notice::Opened(record));
        }
    }

    /// Records that the client leaves the question to other responders, and the part that it answered. Values of secret
    /// fields are left out. If there is no room for the answer, an earlier one stays.
    pub fn leave(&mut self, number: u64, kept: Option<Answer>) {
        let room = self.room();
        let Some(entry) = self.open.get_mut(&number) else { return };
        let kept = kept.map(|answer| answer.without_secrets(&entry.record.question));
        let kept = kept.filter(|answer| !answer.values.is_empty() && answer.bytes() <= room);
        if let Some(answer) = &kept {
            let before = entry.record.kept.as_ref().map_or(0, Answer::bytes);
            entry.weight = entry.weight - before + answer.bytes();
            self.weight = self.weight - before + answer.bytes();
        } else if entry.record.elsewhere {
            // Nothing that followers see has changed.
            return;
        }
        self.change(number, |record| {
            record.elsewhere = true;
            record.kept = kept.or(record.kept.take());
        });
    }

    /// Judges a submission. Returns the outcome that the asker has to deliver now, if it settled the question.
    ///
    /// Each submission gets one verdict ([`Notice::Verdict`]). The submission that settles the question gets its
    /// verdict with [`Desk::delivered`] or [`Desk::undeliverable`], and so do the submissions that arrive meanwhile.
    ///
    /// The values are checked here, except against patterns, which can take long. A thread that may block calls
    /// [`crate::question::check()`] before.
    #[must_use]
    pub fn submit(&mut self, submitted: TicketedSubmission, now: Duration) -> Option<Outcome> {
        let TicketedSubmission { ticket, number, submission, by } = submitted;
        let Some(entry) = self.open.get_mut(&number) else {
            self.judge(ticket, number, &submission);
            return None;
        };
        if !matches!(entry.stage, Stage::Open) {
            // The delivery may still fail, or the asker may report another outcome. Only then is the verdict on this
            // submission known.
            entry.parked.push((ticket, submission));
            return None;
        }
        if !submission.has_seen(entry.record.edition) {
            let changed = Err(Refusal::Changed(Arc::clone(&entry.record)));
            self.tell(ticket, changed);
            return None;
        }
        let (outcome, remark) = match submission {
            Submission::Answer { answer, .. } => match check_shape(&entry.record.question, &answer) {
                Ok(()) => (Outcome::Answered(answer), None),
                Err(errors) => {
                    self.tell(ticket, Err(Refusal::DoesNotFit(errors)));
                    return None;
                }
            },
            Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark),
            Submission::Extend(time) => {
                let extended = self.extend(number, time);
                self.tell(ticket, extended);
                return None;
            }
            Submission::Later(time) => {
                self.set_aside(number, time, now);
                self.tell(ticket, Ok(()));
                return None;
            }
        };
        let settlement = Settlement { remark, ..Settlement::new(outcome.clone(), by, self.at(now)) };
        self.deliver(number, settlement, Some(ticket), now);
        Some(outcome)
    }

    /// Settles a question by what happened on the asker's side, such as the client's own answer. The asker delivers the
    /// outcome. A question whose outcome is being delivered already stays unchanged.
    pub fn end(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        self.end_within(number, outcome, by, None, now);
    }

    /// Settles a question as [`Desk::end`] does, by a client that decided within this time by itself.
    pub fn end_within(
        &mut self,
        number: u64,
        outcome: Outcome,
        by: Provenance,
        reaction: Option<Duration>,
        now: Duration,
    ) {
        let reaction_ms = reaction.map(|time| u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        let settlement = Settlement { reaction_ms, ..Settlement::new(outcome, by, self.at(now)) };
        self.deliver(number, settlement, None, now);
    }

    /// Returns the next notice for the shell.
    pub fn poll(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Returns the changes since the last call, for followers. They are bounded however long ago that was: each
    /// question is in them once, in its last state.
    pub fn take_changes(&mut self) -> Option<Changes> {
        if self.changed.is_empty() {
            return None;
        }
        let mut changed = std::mem::take(&mut self.changed);
        let mut changes = Changes { missed: std::mem::take(&mut self.missed), ..Changes::default() };
        // The questions come in the order in which they were settled, which is not that of their numbers.
        for (number, record) in self.memory.iter() {
            if changed.remove(&number) {
                self.shown.remove(&number);
                changes.questions.push(Arc::clone(record));
            }
        }
        for number in changed {
            if let Some(entry) = self.open.get(&number) {
                self.shown.insert(number);
                changes.questions.push(Arc::clone(&entry.record));
            } else if self.shown.remove(&number) {
                // The desk has forgotten the question, but followers still show it as open.
                changes.gone.push(self.id(number));
            }
        }
        Some(changes)
    }

    /// Returns whether there is something for [`Desk::take_changes`] to return.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Returns how many more bytes may be open.
    pub(super) fn room(&self) -> usize {
        self.most.bytes.saturating_sub(self.weight)
    }

    pub(super) fn at(&self, time: Duration) -> Timestamp {
        self.setup.started.after(time)
    }

    fn deliver(&mut self, number: u64, settlement: Settlement, winner: Option<Ticket>, now: Duration) {
        let Some(entry) = self.open.get_mut(&number) else { return };
        if matches!(entry.stage, Stage::Delivering { .. }) {
            // The first decision wins.
            return;
        }
        let after = now.saturating_sub(entry.since);
        let settlement = Box::new(settlement.for_program(&entry.record.question));
        self.notices.push_back(Notice::Decided {
            record: Arc::clone(&entry.record),
            settlement: settlement.clone(),
            after,
        });
        entry.stage = Stage::Delivering { settlement, winner };
        // Only the timers are removed: the record keeps its deadline.
        self.set_later(number, None);
        self.set_timers(number, None, None);
        self.change(number, |record| record.state = State::Delivering);
    }

    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut Record)) {
        let Some(entry) = self.open.get_mut(&number) else { return };
        // Followers may hold the old record, which must not change under them.
        change(Arc::make_mut(&mut entry.record));
        self.changed.insert(number);
    }

    pub(super) fn judge_parked(&mut self, number: u64, parked: &[(Ticket, Submission)]) {
        for (ticket, submission) in parked {
            self.judge(*ticket, number, submission);
        }
    }

    /// Judges a submission to a question that is over.
    pub(super) fn judge(&mut self, ticket: Ticket, number: u64, submission: &Submission) {
        // A question that once existed is never `NotFound`, even if it is forgotten.
        let verdict = match (1..=self.last).contains(&number) {
            true => self.memory.judge(number, submission),
            false => Err(Refusal::NotFound),
        };
        self.tell(ticket, verdict);
    }

    pub(super) fn tell(&mut self, ticket: Ticket, verdict: Result<(), Refusal>) {
        self.notices.push_back(Notice::Verdict(ticket, verdict));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::samples::{answer, answered, desk, open, question, submit, verdicts},
        limits,
    };

    fn gone() -> Outcome {
        Outcome::Rejected(Reason::Cancelled)
    }

    #[test]
    fn the_first_valid_submission_wins_and_the_others_are_told_how_it_was_settled() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        assert!(!submit(&mut desk, 1, number, answered("long")));
        assert!(submit(&mut desk, 2, number, answered("a")));
        assert!(!submit(&mut desk, 3, number, answered("a")));
        assert!(!submit(&mut desk, 4, number, answered("b")));
        assert!(!submit(&mut desk, 5, number, Submission::Reject(None)));
        assert_eq!(verdicts(&mut desk), ["1 does_not_fit"], "the others wait for the delivery (I9)");
        desk.delivered(number);
        assert_eq!(verdicts(&mut desk), ["2 ok", "3 ok", "4 conflict", "5 conflict"]);
        assert!(!submit(&mut desk, 6, number, answered("a")) && !submit(&mut desk, 7, 0, answered("a")));
        assert!(!submit(&mut desk, 8, number + 1, answered("a")));
        assert_eq!(verdicts(&mut desk), ["6 ok", "7 not_found", "8 not_found"]);
    }

    #[test]
    fn a_question_of_an_earlier_desk_keeps_its_number_and_its_times() {
        let mut desk = desk();
        let opening = |timeout| Opening {
            question: question("q", None),
            weight: 10,
            timeout,
            elsewhere: true,
            context: None,
        };
        let (opened, timeout) = (Duration::from_secs(5), Duration::from_secs(60));
        desk.reopen(7, opening(Some(timeout)), opened);
        desk.reopen(3, opening(None), Duration::ZERO);
        let record = desk.get(7).expect("a question");
        assert_eq!((record.opened_at, record.deadline), (desk.at(opened), Some(desk.at(opened + timeout))));
        assert_eq!(desk.open(opening(None), timeout), 8);
        assert_eq!(desk.tick(opened + timeout), [7], "a deadline that passed meanwhile is over");
        assert!(submit(&mut desk, 1, 3, answered("a")));
    }

    #[test]
    fn a_question_on_its_way_counts_and_is_not_shown_as_settled() {
        let mut desk = desk();
        let number = open(&mut desk, Some(Duration::from_secs(5)));
        assert!(submit(&mut desk, 1, number, answered("a")));
        let shown = desk.take_changes().expect("a change").questions;
        assert_eq!((shown[0].state, &shown[0].settlement), (State::Delivering, &None));
        assert_eq!((desk.len(), desk.weight, desk.next_deadline()), (1, 10, None));
        desk.delivered(number);
        let shown = desk.take_changes().expect("a change").questions;
        assert!(shown[0].state == State::Settled && shown[0].settlement.is_some());
        assert_eq!((desk.len(), desk.weight, desk.has_changes()), (0, 0, false));
    }

    #[test]
    fn an_outcome_that_cannot_arrive_is_lost_for_its_responder() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        assert!(submit(&mut desk, 1, number, answered("a")));
        submit(&mut desk, 2, number, answered("a"));
        desk.undeliverable(number);
        assert_eq!(verdicts(&mut desk), ["1 unavailable", "2 unavailable"]);
        let shown = desk.take_changes().expect("a change").questions;
        let outcome = shown[0].settlement.as_ref().map(|settlement| &settlement.outcome);
        assert_eq!(outcome, Some(&Outcome::Rejected(Reason::AgentGone)));
        // A question that ended by itself keeps its outcome.
        let number = open(&mut desk, None);
        desk.end(number, gone(), Provenance::bridge(), Duration::ZERO);
        desk.undeliverable(number);
        let shown = desk.take_changes().expect("a change").questions;
        assert_eq!(shown[0].settlement.as_ref().map(|settlement| &settlement.outcome), Some(&gone()));
    }

    #[test]
    fn a_question_that_is_closing_is_ended_by_its_asker_alone() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        desk.take_changes();
        desk.close(number, Duration::from_secs(2));
        assert!(!desk.has_changes(), "responders see no difference");
        assert!(!submit(&mut desk, 1, number, answered("a")));
        assert_eq!(desk.tick(Duration::from_secs(2)), [number]);
        desk.end(number, Outcome::Rejected(Reason::Withdrawn), Provenance::bridge(), Duration::ZERO);
        desk.delivered(number);
        assert_eq!(verdicts(&mut desk), ["1 gone"]);
    }

    #[test]
    fn answers_with_secrets_are_compared_as_a_whole_and_secrets_are_not_kept() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        let secret = |text| Submission::answer(answer("a", Some(text)), None);
        assert!(submit(&mut desk, 1, number, secret("x")));
        desk.delivered(number);
        submit(&mut desk, 2, number, secret("x"));
        submit(&mut desk, 3, number, secret("y"));
        assert_eq!(verdicts(&mut desk), ["1 ok", "2 ok", "3 conflict"]);
        let shown = desk.take_changes().expect("a change").questions;
        let settlement = shown[0].settlement.as_ref().expect("a settlement");
        assert_eq!(settlement.outcome, Outcome::Answered(answer("a", Some("(secret)"))));
    }

    #[test]
    fn the_limits_are_named_and_settled_questions_give_room() {
        let mut desk = desk();
        let mut fill = |session: &str, weight: usize| {
            let number = desk.next_number();
            desk.check_room(Some(session), weight).map_err(|refusal| refusal.to_string())?;
            let opening = Opening {
                question: question("Why?", Some(session)),
                weight,
                timeout: None,
                elsewhere: false,
                context: None,
            };
            assert_eq!(desk.open(opening, Duration::ZERO), number);
            Ok::<_, String>(number)
        };
        for _ in 0..limits::OPEN_PER_SESSION {
            fill("one", 1).expect("room");
        }
        let in_session = "too many open questions in the session; the maximum is 64: settle some first";
        assert_eq!(fill("one", 1), Err(in_session.to_owned()));
        for session in 0..limits::OPEN - limits::OPEN_PER_SESSION {
            fill(&session.to_string(), 1).expect("room");
        }
        assert_eq!(
            fill("x", 1).unwrap_err(),
            "too many open questions; the maximum is 1024: settle some first"
        );
        desk.end(1, gone(), Provenance::bridge(), Duration::ZERO);
        assert!(desk.check_room(Some("one"), 1).is_err(), "it counts until it is delivered");
        desk.delivered(1);
        let rest = limits::OPEN_BYTES - desk.weight;
        assert!(desk.check_room(Some("one"), rest).is_ok());
        let refusal = desk.check_room(Some("one"), rest + 1).expect_err("too many bytes");
        assert!(refusal.to_string().starts_with("too many bytes of open questions; the maximum is 4194304"));
    }

    #[test]
    fn changes_hold_settled_questions_first_in_the_order_in_which_they_were_settled() {
        let mut desk = desk();
        let numbers: Vec<_> = (0..4).map(|_| open(&mut desk, None)).collect();
        for number in [numbers[2], numbers[0]] {
            desk.end(number, gone(), Provenance::bridge(), Duration::ZERO);
            desk.delivered(number);
        }
        let changes = desk.take_changes().expect("changes");
        let told: Vec<_> = changes.questions.iter().map(|record| record.id.number).collect();
        assert_eq!((told, changes.gone), (vec![3, 1, 2, 4], Vec::new()));
        assert_eq!(desk.take_changes(), None);
    }

    #[test]
    fn forgotten_questions_are_gone_for_those_that_saw_them_open_only() {
        let mut desk = desk();
        let end = |desk: &mut Desk, number| {
            desk.end(number, gone(), Provenance::bridge(), Duration::ZERO);
            desk.delivered(number);
        };
        let seen = open(&mut desk, None);
        desk.take_changes();
        end(&mut desk, seen);
        for _ in 0..2 * limits::REMEMBERED {
            let number = open(&mut desk, None);
            end(&mut desk, number);
        }
        assert!(desk.changed.len() <= limits::REMEMBERED + 1);
        let changes = desk.take_changes().expect("changes");
        assert_eq!((changes.questions.len(), changes.gone), (limits::REMEMBERED, vec![desk.id(seen)]));
        assert_eq!(changes.missed, limits::REMEMBERED as u64, "those are counted that nobody saw");
        submit(&mut desk, 1, seen, answered("a"));
        assert_eq!(verdicts(&mut desk).last().map(String::as_str), Some("1 unavailable"));
    }

    #[test]
    fn a_left_answer_has_no_secrets_and_is_kept_only_where_there_is_room() {
        let mut desk = desk();
        let number = open(&mut desk, None);
        desk.leave(number, Some(answer("a", Some("x"))));
        let kept = |desk: &Desk| desk.get(number).and_then(|record| record.kept.clone());
        assert_eq!(kept(&desk), Some(answer("a", None)));
        desk.leave(number, Some(answer(&"x".repeat(limits::OPEN_BYTES), None)));
        desk.leave(number, Some(Answer::default()));
        assert_eq!(kept(&desk), Some(answer("a", None)), "what does not fit, or is empty, replaces nothing");
        assert_eq!(desk.weight, 10 + answer("a", None).bytes());
    }
}
