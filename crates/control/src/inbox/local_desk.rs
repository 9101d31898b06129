//! A desk in this process. Its questions belong to handles: those of programs that ask, and those of agents that do not
//! ask over ACP. The holder of a handle opens the question, and delivers the outcome to the asker.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use askbridge_core::{
    desk::{
        Desk, Notice, Opening, QuestionId, Record, Refusal, Settlement, Setup, Submission, Ticket,
        TicketedSubmission,
    },
    guard,
    question::{Context, Outcome, Provenance, Question, Reason},
};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, sleep_until},
};

use super::{
    handover::{Room, Verdict},
    store::Store,
};
use crate::limits;

/// A desk, and the handles of its questions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LocalDesk {
    shared: Arc<SharedDesk>,
}

#[derive(Debug)]
struct SharedDesk {
    store: Store,
    started: Instant,
    /// How long before that the clock of the desk started.
    passed: Duration,
    room: Room,
    state: Mutex<DeskState>,
    /// Wakes [`LocalDesk::run`] when a deadline may have come nearer.
    timers: Notify,
}

#[derive(Debug)]
pub(super) struct DeskState {
    pub(super) desk: Desk,
    /// What is done with a decision, by the numbers of the questions.
    pub(super) askers: BTreeMap<u64, Waiting>,
    /// The submissions that wait for their verdict, with the room that they take. [`limits::COMMANDS`] bounds their
    /// number.
    submissions: BTreeMap<Ticket, (oneshot::Sender<Verdict>, OwnedSemaphorePermit)>,
    /// The last ticket.
    last: u64,
    /// Whether the inbox has ended, so that no question opens.
    is_closed: bool,
    /// Takes the decisions about questions that are kept, which [`LocalDesk::written`] follows.
    decided: Option<mpsc::Sender<Arc<Record>>>,
}

/// What is done with the decision about a question.
#[derive(Debug)]
pub(super) enum Waiting {
    /// An asker waits for it.
    Asker {
        decided: oneshot::Sender<Settlement>,
        /// Whether the delivery is complete once the asker receives the settlement, with no later step that can fail.
        has_it_when_told: bool,
    },
    /// Nobody waits: it is written first, and counts as delivered then.
    Kept,
}

/// An open question, as its asker holds it. Dropping the handle withdraws the question.
#[derive(Debug)]
pub struct QuestionHandle {
    desk: LocalDesk,
    id: QuestionId,
    decided: oneshot::Receiver<Settlement>,
    is_over: bool,
}

impl LocalDesk {
    /// Returns a desk whose changes go to this store.
    pub(super) fn new(setup: Setup, store: Store) -> Self {
        Self::with(Desk::new(setup), Duration::ZERO, store, None)
    }

    /// Returns a desk whose clock started this long ago. It hands on what is decided about questions that are kept.
    pub(super) fn with(
        desk: Desk,
        passed: Duration,
        store: Store,
        decided: Option<mpsc::Sender<Arc<Record>>>,
    ) -> Self {
        let (askers, submissions) = (BTreeMap::new(), BTreeMap::new());
        let state = Mutex::new(DeskState { desk, askers, submissions, last: 0, is_closed: false, decided });
        LocalDesk {
            shared: Arc::new(SharedDesk {
                store,
                started: Instant::now(),
                passed,
                room: Room::default(),
                state,
                timers: Notify::new(),
            }),
        }
    }

    /// Opens a question. `elsewhere` says that the asker cannot show the question itself, so a responder must answer.
    /// The asker keeps `kept` bytes of its request in memory until the question is over.
    ///
    /// # Errors
    /// `BadQuestion` if the question is invalid, and `Full` at a limit.
    pub fn open(&self, question: Question, elsewhere: bool, kept: usize) -> Result<QuestionHandle, Refusal> {
        self.open_for(question, None, elsewhere, kept, false)
    }

    /// Opens a question as [`LocalDesk::open`] does, of which it is known what led to it.
    ///
    /// # Errors
    /// As those of [`LocalDesk::open`].
    pub fn open_after(
        &self,
        context: Option<Arc<Context>>,
        question: Question,
        elsewhere: bool,
        kept: usize,
    ) -> Result<QuestionHandle, Refusal> {
        self.open_for(question, context, elsewhere, kept, false)
    }

    fn open_for(
        &self,
        question: Question,
        context: Option<Arc<Context>>,
        elsewhere: bool,
        kept: usize,
        has_it_when_told: bool,
    ) -> Result<QuestionHandle, Refusal> {
        question.check_limits().map_err(Refusal::BadQuestion)?;
        let question = self.complete(question);
        let (told, decided) = oneshot::channel();
        let id = self.change(|state, now| {
            if state.is_closed {
                return Err(Refusal::Unavailable);
            }
            let weight = state.desk.weigh(&question, 0) + kept;
            state.desk.check_room(question.session.as_deref(), weight)?;
            let timeout = question.timeout;
            let number = state.desk.open(Opening { question, weight, timeout, elsewhere, context }, now);
            state.askers.insert(number, Waiting::Asker { decided: told, has_it_when_told });
            Ok::<_, Refusal>(state.desk.id(number))
        })?;
        Ok(QuestionHandle { desk: self.clone(), id, decided, is_over: false })
    }

    /// Decides the risk of a question. The desk must not be locked, since this looks at the file system.
    pub(super) fn complete(&self, mut question: Question) -> Arc<Question> {
        self.lock().desk.fit_images(&mut question);
        guard::assess(&mut question);
        let mut question = self.shared.store.look(&question).unwrap_or(question);
        question.shrink_to_fit();
        Arc::new(question)
    }

    /// Asks a program's question, and waits until it is settled. Dropping the future withdraws the question. The
    /// responder gets its verdict at once, without waiting until the program polls the future.
    pub(super) async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        let mut asked = self.open_for(question, None, true, 0, true)?;
        Ok(asked.decided().await)
    }

    /// Settles the questions whose askers wait, since the inbox ends, and opens no others. Their askers are told.
    pub(super) fn close(&self) {
        self.change(|state, now| {
            state.is_closed = true;
            let is_told = |waiting: &Waiting| matches!(waiting, Waiting::Asker { .. });
            let told: Vec<_> = state
                .askers
                .iter()
                .filter(|(_, waiting)| is_told(waiting))
                .map(|(number, _)| *number)
                .collect();
            for number in told {
                let ended = Outcome::Rejected(Reason::Shutdown);
                state.desk.end(number, ended, Provenance::bridge(), now);
                state.decide(number);
            }
        });
    }

    /// Submits to a question, and waits for the verdict: for an answer or a rejection, until the asker has it.
    pub(super) async fn submit(&self, number: u64, submission: Submission, by: Provenance) -> Verdict {
        let room = self.shared.room.take(&submission)?;
        let (told, verdict) = oneshot::channel();
        self.change(|state, now| {
            if state.submissions.len() >= limits::COMMANDS {
                return Err(Refusal::TooManyRequests);
            }
            state.last += 1;
            let ticket = Ticket(state.last);
            state.submissions.insert(ticket, (told, room));
            if state.desk.submit(TicketedSubmission { ticket, number, submission, by }, now).is_some() {
                state.decide(number);
            }
            Ok(())
        })?;
        // The desk is gone without a verdict, so the asker may or may not have the submission.
        verdict.await.unwrap_or(Err(Refusal::Unavailable))
    }

    /// Warns before deadlines and rejects expired questions, until the future is dropped.
    pub(super) async fn run(&self) {
        loop {
            let due = self.lock().desk.next_deadline();
            // A deadline that overflows the clock never comes.
            let due = due.map(|due| due.saturating_sub(self.shared.passed));
            let due = due.and_then(|due| self.shared.started.checked_add(due));
            tokio::select! {
                () = self.shared.timers.notified() => {}
                // `select!` evaluates the expression even if there is no deadline, hence the unused default.
                () = sleep_until(due.unwrap_or(self.shared.started)), if due.is_some() => {
                    self.change(|state, now| {
                        for number in state.desk.tick(now) {
                            let late = Outcome::Rejected(Reason::Timeout);
                            state.desk.end(number, late, Provenance::bridge(), now);
                            state.decide(number);
                        }
                    });
                }
            }
        }
    }

    /// Changes the desk. The store gets the change before a responder gets its verdict (I9).
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut DeskState, Duration) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state, self.now());
        if let Some(changes) = state.desk.take_changes() {
            self.shared.store.apply(changes);
        }
        while let Some(notice) = state.desk.poll() {
            // The other notices are for a bridge's log, and the askers of a local desk have none.
            if let Notice::Verdict(ticket, verdict) = notice
                && let Some((told, _room)) = state.submissions.remove(&ticket)
            {
                // The responder no longer waits; ignore the send error.
                told.send(verdict).unwrap_or_default();
            }
        }
        // The lock is released before the task in `run` wakes, since that task takes the lock first.
        drop(state);
        self.shared.timers.notify_one();
        changed
    }

    /// Returns the time of the desk's clock.
    pub(super) fn now(&self) -> Duration {
        self.shared.passed + self.shared.started.elapsed()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, DeskState> {
        // No code panics while it holds the lock, so its data is consistent.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeskState {
    /// Hands the decision to the asker. If the asker is gone, its handle has already ended the question.
    pub(super) fn decide(&mut self, number: u64) {
        let settlement = self.desk.settlement(number).cloned();
        let Some((waiting, settlement)) = self.askers.remove(&number).zip(settlement) else { return };
        match waiting {
            Waiting::Asker { decided, has_it_when_told: true } => match decided.send(settlement) {
                Ok(()) => self.desk.delivered(number),
                Err(_) => self.desk.undeliverable(number),
            },
            // The holder of the handle calls `delivered` or `undeliverable`. If it is gone, it has done so.
            Waiting::Asker { decided, .. } => drop(decided.send(settlement)),
            Waiting::Kept => {
                let Some((decided, record)) = self.decided.as_ref().zip(self.desk.get(number)) else {
                    return;
                };
                // The receiver ends with the process.
                drop(decided.try_send(Arc::new((**record).clone().settled(settlement))));
            }
        }
    }
}

impl QuestionHandle {
    /// Returns its ID.
    pub fn id(&self) -> &QuestionId {
        &self.id
    }

    /// Waits until a responder's answer or rejection was accepted, or the time is over. The caller must then take the
    /// outcome to the asker. Cancel safe. Once it has returned, further calls are pending forever.
    pub async fn decided(&mut self) -> Settlement {
        if !self.decided.is_terminated()
            && let Ok(settlement) = (&mut self.decided).await
        {
            return settlement;
        }
        std::future::pending().await
    }

    /// Replaces the text of the question, since what it is about has changed. The asker keeps `kept` bytes beside it.
    ///
    /// # Errors
    /// `Unavailable` if a decision about the earlier text is on its way, and `Full` at a limit. The text then stays.
    pub fn amend(&self, question: Question, kept: usize) -> Result<(), Refusal> {
        let question = self.desk.complete(question);
        let number = self.id.number;
        self.desk.change(|state, _| {
            if !state.askers.contains_key(&number) {
                return Err(Refusal::Unavailable);
            }
            let weight = state.desk.weigh(&question, 0) + kept;
            state.desk.amend(number, question, weight)
        })
    }

    /// Records that the asker received the outcome, and notifies the responder.
    pub fn delivered(mut self) {
        self.finish(|state, number, _| state.desk.delivered(number));
    }

    /// Records that the outcome cannot reach the asker, and notifies the responder of the failure.
    pub fn undeliverable(mut self) {
        self.finish(|state, number, _| state.desk.undeliverable(number));
    }

    /// Settles the question by an outcome at the asker itself: the user answered there, or the asker withdrew it. The
    /// outcome replaces a decision that is being delivered, and that decision's responder is notified.
    pub fn end(mut self, outcome: Outcome, by: Provenance) {
        self.finish(|state, number, now| state.desk.overtaken(number, outcome, by, now));
    }

    fn finish(&mut self, finish: impl FnOnce(&mut DeskState, u64, Duration)) {
        self.is_over = true;
        let number = self.id.number;
        self.desk.change(|state, now| {
            state.askers.remove(&number);
            finish(state, number, now);
        });
    }
}

impl Drop for QuestionHandle {
    fn drop(&mut self) {
        if !self.is_over {
            let withdrawn = Outcome::Rejected(Reason::Withdrawn);
            self.finish(|state, number, now| {
                // `end` changes nothing if a decision is being delivered already. Either way the outcome no longer
                // reaches the asker, so `undeliverable` settles the question.
                state.desk.end(number, withdrawn, Provenance::bridge(), now);
                state.desk.undeliverable(number);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;

    use askbridge_core::{
        desk::{Asker, Record, State, Timestamp},
        question::{Answer, Responder, Value},
    };
    use futures::FutureExt;

    use super::*;
    use crate::{
        limits,
        rpc::played::{question, soon},
    };

    fn desk() -> (LocalDesk, Store) {
        let store = Store::default();
        let setup = Setup {
            bridge: "b".parse().expect("a name"),
            asker: Asker::Agent,
            started: Timestamp::default(),
            key: 1,
        };
        (LocalDesk::new(setup, store.clone()), store)
    }

    fn text(text: &str) -> Answer {
        let values = [("q0".to_owned(), Value::Text(text.to_owned()))].into();
        Answer { values, ..Answer::default() }
    }

    fn submit(desk: &LocalDesk, given: &str) -> impl Future<Output = Verdict> + use<> {
        let (desk, submission) = (desk.clone(), Submission::answer(text(given), None));
        async move { desk.submit(1, submission, Provenance::bridge()).await }
    }

    fn record(store: &Store, asked: &QuestionId) -> Arc<Record> {
        store.read(|_, snapshot| snapshot.get(asked).cloned()).expect("a question")
    }

    fn dialog() -> Provenance {
        Provenance { responder: Responder::Dialog, name: None }
    }

    #[tokio::test]
    async fn a_text_is_replaced_until_a_decision_about_it_is_on_its_way() {
        let (desk, store) = desk();
        let mut asked = desk.open(question("Which?"), true, 0).expect("room");
        asked.amend(question("Which one?"), 5).expect("it is open");
        let shown = record(&store, asked.id());
        assert_eq!((&*shown.question.fields[0].label, shown.edition), ("Which one?", 1));
        let early = soon(submit(&desk, "a")).await;
        assert!(matches!(early, Err(Refusal::Changed(_))), "{early:?}");
        let present = Submission::answer(text("a"), 1);
        let submitter = desk.clone();
        let verdict = tokio::spawn(async move { submitter.submit(1, present, Provenance::bridge()).await });
        soon(asked.decided()).await;
        assert_eq!(asked.amend(question("Why?"), 5), Err(Refusal::Unavailable));
        assert_eq!(record(&store, asked.id()).edition, 1);
        asked.end(Outcome::Failed, Provenance::bridge());
        soon(verdict).await.expect("a verdict").expect_err("the answer was for the earlier text");
    }

    #[tokio::test]
    async fn a_desk_that_closes_tells_its_askers_and_takes_no_more() {
        let (desk, store) = desk();
        let (told, other) = (desk.ask(question("Why?")), desk.ask(question("How?")));
        tokio::pin!(told, other);
        assert!(told.as_mut().now_or_never().is_none() && other.as_mut().now_or_never().is_none());
        submit(&desk, "a").await.expect("an answer");
        desk.close();
        desk.close();
        assert_eq!(
            soon(told).await.expect("room").outcome,
            Outcome::Answered(text("a")),
            "it was decided before"
        );
        let settlement = soon(other).await.expect("room");
        assert_eq!(settlement.outcome, Outcome::Rejected(Reason::Shutdown));
        assert_eq!(store.read(|_, snapshot| snapshot.open_count()), 0);
        assert_eq!(desk.ask(question("Where?")).await, Err(Refusal::Unavailable));
    }

    #[tokio::test]
    async fn a_responder_is_told_once_the_agent_has_the_answer() {
        let (desk, store) = desk();
        let mut asked = desk.open(question("Why?"), false, 0).expect("room");
        let id = asked.id().clone();
        assert!(asked.decided().now_or_never().is_none());
        let verdict = tokio::spawn(submit(&desk, "a"));
        assert_eq!(soon(asked.decided()).await.outcome, Outcome::Answered(text("a")));
        assert!(!verdict.is_finished());
        assert_eq!(record(&store, &id).state, State::Delivering);
        asked.delivered();
        assert_eq!(soon(verdict).await.expect("a verdict"), Ok(()));
        assert_eq!(record(&store, &id).state, State::Settled);
    }

    #[tokio::test]
    async fn an_answer_that_cannot_reach_the_agent_is_refused() {
        let (desk, _) = desk();
        let mut asked = desk.open(question("Why?"), false, 0).expect("room");
        let verdict = tokio::spawn(submit(&desk, "a"));
        soon(asked.decided()).await;
        asked.undeliverable();
        assert_eq!(soon(verdict).await.expect("a verdict"), Err(Refusal::Unavailable));
    }

    #[tokio::test]
    async fn an_answer_at_the_agent_overtakes_one_on_its_way() {
        for (given, expected) in [("a", "ok"), ("b", "conflict")] {
            let (desk, store) = desk();
            let mut asked = desk.open(question("Why?"), false, 0).expect("room");
            let id = asked.id().clone();
            let verdict = tokio::spawn(submit(&desk, given));
            soon(asked.decided()).await;
            asked.end(Outcome::Answered(text("a")), dialog());
            let verdict = soon(verdict).await.expect("a verdict");
            assert_eq!(verdict.map_or_else(|refusal| refusal.kind().name, |()| "ok"), expected);
            let settlement = record(&store, &id).settlement.clone().expect("it is settled");
            assert_eq!((settlement.outcome, settlement.by), (Outcome::Answered(text("a")), dialog()));
        }
    }

    #[tokio::test]
    async fn what_is_answered_at_the_agent_is_settled_without_a_submission() {
        let (desk, store) = desk();
        let asked = desk.open(question("Why?"), false, 0).expect("room");
        let id = asked.id().clone();
        asked.end(Outcome::Rejected(Reason::User), dialog());
        assert_eq!(record(&store, &id).settlement.as_ref().expect("it is settled").by, dialog());
        let late = soon(submit(&desk, "a")).await;
        assert!(matches!(late, Err(Refusal::Conflict(_))), "{late:?}");
    }

    #[tokio::test]
    async fn a_question_that_is_dropped_is_withdrawn() {
        for decides in [false, true] {
            let (desk, store) = desk();
            let mut asked = desk.open(question("Why?"), false, 0).expect("room");
            let id = asked.id().clone();
            let verdict = tokio::spawn(submit(&desk, "a"));
            if decides {
                soon(asked.decided()).await;
            }
            drop(asked);
            let reason = if decides { Reason::AgentGone } else { Reason::Withdrawn };
            let verdict = soon(verdict).await.expect("a verdict");
            let settlement = record(&store, &id).settlement.clone().expect("it is settled");
            assert_eq!(settlement.outcome, Outcome::Rejected(reason));
            match decides {
                true => assert_eq!(verdict, Err(Refusal::Unavailable)),
                false => assert!(matches!(verdict, Err(Refusal::Gone(_))), "{verdict:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_the_asker_keeps_counts_as_the_question_does() {
        let (desk, _) = desk();
        let first = desk.open(question("Why?"), false, limits::OPEN_BYTES / 2).expect("room");
        let full = desk.open(question("Why?"), false, limits::OPEN_BYTES / 2).map(|_| ());
        assert!(matches!(full, Err(Refusal::Full(_))), "{full:?}");
        let second = desk.open(question("Why?"), false, 0);
        assert!(second.is_ok(), "{second:?}");
        drop(first);
        assert!(desk.open(question("Why?"), false, limits::OPEN_BYTES / 2).is_ok(), "there is room again");
    }

    #[tokio::test]
    async fn submissions_that_wait_are_bounded() {
        let (desk, _) = desk();
        let mut asked = desk.open(question("Why?"), false, 0).expect("room");
        let waiting: Vec<_> = (0..limits::COMMANDS).map(|_| tokio::spawn(submit(&desk, "a"))).collect();
        soon(asked.decided()).await;
        for _ in 0..limits::COMMANDS {
            tokio::task::yield_now().await;
        }
        assert_eq!(soon(submit(&desk, "a")).await, Err(Refusal::TooManyRequests));
        asked.delivered();
        for verdict in waiting {
            assert_eq!(soon(verdict).await.expect("a verdict"), Ok(()));
        }
        // Two of them have room, and a third has not.
        let reason = "x".repeat(limits::WAITING_BYTES / 2 - limits::SUBMISSION);
        let mut asked = desk.open(question("Why?"), false, 0).expect("room");
        let number = asked.id().number;
        let reject = || {
            let (desk, submission) = (desk.clone(), Submission::Reject(Some(reason.clone())));
            async move { desk.submit(number, submission, Provenance::bridge()).await }
        };
        let waiting: Vec<_> = (0..2).map(|_| tokio::spawn(reject())).collect();
        soon(asked.decided()).await;
        tokio::task::yield_now().await;
        assert_eq!(soon(reject()).await, Err(Refusal::TooManyRequests));
        asked.delivered();
        for verdict in waiting {
            assert_eq!(soon(verdict).await.expect("a verdict"), Ok(()));
        }
    }
}
