//! The submissions of all connections of a server that their senders can still take back, and the task that submits each
//! once it is due. How long one waits is left to `inbox/deferral.rs`, the methods to `deferred.rs`.

use std::{
    collections::HashMap,
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::Provenance,
};
use futures::{StreamExt, stream::FuturesUnordered};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    inbox::{
        Batch, Inbox,
        deferral::{DeferralKey, Waiting, window},
    },
    limits,
};

/// What became of a submission: the question after it, or `None` if it was taken back.
pub type Verdict = Result<Option<Arc<Record>>, Refusal>;

/// The submissions of a server that wait. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub struct Deferrals(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    undo: Duration,
    state: Mutex<State>,
    changed: Notify,
    /// Room for submissions until their verdicts.
    room: Arc<Semaphore>,
    senders: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    waiting: Waiting<Deferred>,
    /// Whether the server ends: nothing waits any more.
    is_over: bool,
}

/// A submission that waits.
#[derive(Debug)]
struct Deferred {
    submission: Submission,
    by: Provenance,
    /// The name of what it is sent together with.
    together: Option<Arc<str>>,
    verdict: oneshot::Sender<Verdict>,
    room: OwnedSemaphorePermit,
}

impl Deferrals {
    /// Lets each submission wait for this time, in which its sender can take it back.
    pub fn new(undo: Duration) -> Self {
        let room = Arc::new(Semaphore::new(limits::DEFERRED_BYTES));
        let (state, changed, senders) = (Mutex::default(), Notify::new(), AtomicU64::new(0));
        Deferrals(Arc::new(Shared { undo, state, changed, room, senders }))
    }

    /// Submits to this inbox what is due. Does not return.
    pub async fn run(&self, inbox: &impl Inbox) {
        let mut follower = inbox.store().follow();
        let mut submitting = FuturesUnordered::new();
        loop {
            let next = self.lock().waiting.next();
            tokio::select! {
                () = self.0.changed.notified() => {}
                () = until(next) => {}
                batch = follower.next(), if next.is_some() => self.look(inbox, batch.as_ref()),
                Some(()) = submitting.next() => {}
            }
            for (key, deferred) in self.lock().waiting.due(now()) {
                submitting.push(submit(inbox, key.id, deferred));
            }
        }
    }

    /// Submits everything at once, since the server ends. Returns when the askers have it, or after a short time.
    pub async fn flush(&self) {
        self.end();
        // Each submission gives its room back with its verdict.
        let all = u32::try_from(limits::DEFERRED_BYTES).unwrap_or(u32::MAX);
        drop(timeout(limits::LAST_SUBMISSIONS, self.0.room.acquire_many(all)).await);
    }

    fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.waiting.release(None, now());
        self.0.changed.notify_one();
    }

    /// Returns a sender of submissions.
    pub fn sender(&self) -> Sender {
        let number = self.0.senders.fetch_add(1, Ordering::Relaxed);
        Sender {
            deferrals: self.clone(),
            number,
            verdicts: Mutex::default(),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Hastens what waits for questions that have changed: a question may be over, or have another deadline. `None` means
    /// that nothing changes any more.
    fn look(&self, inbox: &impl Inbox, batch: Option<&Batch>) {
        let mut state = self.lock();
        let changed: Vec<_> = match batch {
            None => return state.waiting.release(None, now()),
            Some(Batch::Snapshot { .. }) => state.waiting.questions().cloned().collect(),
            Some(Batch::Events { events, .. }) => {
                events.iter().map(|(_, event)| event.record().id.clone()).collect()
            }
        };
        for id in changed {
            let record = inbox.store().read(|_, snapshot| snapshot.get(&id).cloned());
            let left = |deferred: &Deferred| match &record {
                Some(record) => window(self.0.undo, &deferred.submission, record, inbox.now(record)),
                None => Duration::ZERO,
            };
            state.waiting.hasten(&id, |deferred| now() + left(deferred));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, so its data is consistent.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

async fn until(due: Option<std::time::Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => pending().await,
    }
}

async fn submit(inbox: &impl Inbox, id: QuestionId, deferred: Deferred) {
    let Deferred { submission, by, verdict, room, .. } = deferred;
    let submitted = inbox.submit(&id, submission, by).await;
    // The sender may be gone.
    drop(verdict.send(submitted.map(Some)));
    drop(room);
}

/// One connection that sends submissions. When it ends, nobody can take them back, so they are submitted at once.
#[derive(Debug)]
pub struct Sender {
    deferrals: Deferrals,
    number: u64,
    /// The verdicts that nobody has asked for.
    verdicts: Mutex<HashMap<QuestionId, oneshot::Receiver<Verdict>>>,
    is_gone: AtomicBool,
}

impl Sender {
    /// Lets a submission wait, and returns for how long.
    ///
    /// # Errors
    /// The submission, if it does not wait: the sender submits it.
    pub fn defer(
        &self,
        inbox: &impl Inbox,
        record: &Record,
        submission: Submission,
        by: Provenance,
    ) -> Result<Duration, Submission> {
        self.defer_together(inbox, record, submission, by, None)
    }

    /// Lets a submission wait together with those of the same name: they are due at one time, the earliest of theirs, and
    /// are taken back together.
    ///
    /// # Errors
    /// As [`Sender::defer`].
    pub fn defer_together(
        &self,
        inbox: &impl Inbox,
        record: &Record,
        submission: Submission,
        by: Provenance,
        together: Option<Arc<str>>,
    ) -> Result<Duration, Submission> {
        let Deferrals(shared) = &self.deferrals;
        let time = window(shared.undo, &submission, record, inbox.now(record));
        let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = u32::try_from(submission.bytes().max(limits::DEFERRED)).unwrap_or(u32::MAX);
        let has_room = !time.is_zero() && verdicts.len() < limits::DEFERRED_VERDICTS;
        let room = has_room.then(|| Arc::clone(&shared.room).try_acquire_many_owned(bytes).ok()).flatten();
        let mut state = self.deferrals.lock();
        // Both are looked at under the lock under which they are set: what waits is released only once.
        let (Some(room), false, false) = (room, state.is_over, self.is_gone.load(Ordering::Relaxed)) else {
            return Err(submission);
        };
        let (verdict, receiver) = oneshot::channel();
        verdicts.insert(record.id.clone(), receiver);
        let begun = now();
        let others = self.others(&state, together.as_ref());
        let until = state.waiting.join(&others, begun + time);
        let deferred = Deferred { submission, by, together, verdict, room };
        let replaced = state.waiting.defer(self.key(&record.id), deferred, until);
        replaced.into_iter().for_each(Deferred::end);
        drop(state);
        shared.changed.notify_one();
        Ok(until.saturating_duration_since(begun))
    }

    /// Takes a submission back, and those that it is sent together with. Returns whether it was still waiting.
    pub fn take_back(&self, id: &QuestionId) -> bool {
        let mut state = self.deferrals.lock();
        let Some(taken) = state.waiting.take_back(&self.key(id)) else { return false };
        let others = self.others(&state, taken.together.as_ref());
        let others: Vec<_> = others.iter().filter_map(|key| state.waiting.take_back(key)).collect();
        drop(state);
        [taken].into_iter().chain(others).for_each(Deferred::end);
        true
    }

    /// Returns what waits under this name.
    fn others(&self, state: &State, together: Option<&Arc<str>>) -> Vec<DeferralKey> {
        let Some(name) = together else { return Vec::new() };
        state.waiting.together(self.number, |deferred| deferred.together.as_ref() == Some(name))
    }

    /// Returns the verdict about a submission, to wait for. There is only one to get.
    pub fn verdict(&self, id: &QuestionId) -> Option<oneshot::Receiver<Verdict>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Ends the sender: what waits is submitted at once.
    pub(super) fn leave(&self) {
        let mut state = self.deferrals.lock();
        if !self.is_gone.swap(true, Ordering::Relaxed) {
            state.waiting.release(Some(self.number), now());
            drop(state);
            self.deferrals.0.changed.notify_one();
        }
    }

    fn key(&self, id: &QuestionId) -> DeferralKey {
        DeferralKey { id: id.clone(), sender: self.number }
    }
}

impl Deferred {
    /// Says that it was taken back.
    fn end(self) {
        drop(self.verdict.send(Ok(None)));
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::{
        desk::IdPrefix,
        question::{Answer, Outcome, Responder, Value},
    };
    use futures::{FutureExt, pin_mut};

    use super::*;
    use crate::{
        inbox::BridgeInbox,
        rpc::played::{PlayedBridge, question},
    };

    const UNDO: Duration = Duration::from_secs(3);

    fn by() -> Provenance {
        Provenance { responder: Responder::Page, name: None }
    }

    fn answer(text: &str) -> Answer {
        let mut answer = Answer::default();
        answer.values.insert("q0".to_owned(), Value::Text(text.to_owned()));
        answer
    }

    struct World {
        bridge: PlayedBridge,
        deferrals: Deferrals,
        id: QuestionId,
        number: u64,
        _folder: tempfile::TempDir,
    }

    impl World {
        async fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut bridge = PlayedBridge::start(folder.path(), "b");
            let number = bridge.open("Why?").await;
            let id = format!("b-{number}").parse().unwrap();
            World { bridge, deferrals: Deferrals::new(UNDO), id, number, _folder: folder }
        }

        fn record(&self) -> Arc<Record> {
            self.bridge.inbox.find(&IdPrefix::from(&self.id)).unwrap()
        }

        /// Lets an answer wait, and returns for how long.
        fn defers(&self, sender: &Sender, text: &str) -> Duration {
            let submission = Submission::answer(answer(text), 0);
            sender.defer(&self.bridge.inbox, &self.record(), submission, by()).unwrap_or_default()
        }

        fn run(&self) -> impl Future<Output = ()> + use<> {
            let (deferrals, inbox): (_, BridgeInbox) = (self.deferrals.clone(), self.bridge.inbox.clone());
            async move { deferrals.run(&inbox).await }
        }
    }

    async fn verdict(sender: &Sender, id: &QuestionId) -> Verdict {
        sender.verdict(id).expect("a verdict").await.expect("a server that runs")
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_is_submitted_in_its_time_or_taken_back() {
        let mut world = World::new().await;
        let running = tokio::spawn(world.run());
        let sender = world.deferrals.sender();
        assert_eq!(world.defers(&sender, "first"), UNDO);
        assert!(sender.take_back(&world.id) && !sender.take_back(&world.id));
        assert_eq!(verdict(&sender, &world.id).await, Ok(None));
        assert!(sender.verdict(&world.id).is_none(), "there is one verdict");
        let begun = Instant::now();
        assert_eq!(world.defers(&sender, "second"), UNDO);
        let submitted = world.bridge.submitted().await;
        assert_eq!(begun.elapsed().as_secs(), 3);
        assert!(!sender.take_back(&world.id), "it is on its way");
        world.bridge.carry_out(submitted).await;
        let record = verdict(&sender, &world.id).await.unwrap().unwrap();
        assert_eq!(record.settlement.as_ref().unwrap().outcome, Outcome::Answered(answer("second")));
        running.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_sent_together_waits_and_is_taken_back_as_one() {
        let mut world = World::new().await;
        let running = tokio::spawn(world.run());
        let (sender, other) = (world.deferrals.sender(), world.deferrals.sender());
        let number = world.bridge.open("And this?").await;
        let second: QuestionId = format!("b-{number}").parse().unwrap();
        let defers = |id: &QuestionId, sender: &Sender| {
            let record = world.bridge.inbox.find(&IdPrefix::from(id)).unwrap();
            let name = Some("all of it".into());
            sender.defer_together(&world.bridge.inbox, &record, Submission::Reject(None), by(), name).unwrap()
        };
        assert_eq!(defers(&world.id, &sender), UNDO);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(defers(&second, &sender), Duration::from_secs(2), "they are due at one time");
        assert_eq!(defers(&second, &other), UNDO, "another sender has names of its own");
        assert!(sender.take_back(&second));
        for id in [&world.id, &second] {
            assert_eq!(verdict(&sender, id).await, Ok(None));
            assert!(!sender.take_back(id));
        }
        assert!(other.take_back(&second));
        defers(&world.id, &sender);
        defers(&second, &sender);
        for _ in 0..2 {
            let submitted = world.bridge.submitted().await;
            world.bridge.carry_out(submitted).await;
        }
        for id in [&world.id, &second] {
            assert!(verdict(&sender, id).await.unwrap().is_some());
        }
        running.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_connection_and_of_the_server_submits_at_once() {
        for is_server in [false, true] {
            let mut world = World::new().await;
            let running = tokio::spawn(world.run());
            let (sender, other) = (world.deferrals.sender(), world.deferrals.sender());
            let begun = Instant::now();
            assert_eq!(world.defers(&sender, "mine"), UNDO);
            assert_eq!(world.defers(&other, "another's"), UNDO);
            let flush = world.deferrals.flush();
            pin_mut!(flush);
            match is_server {
                true => assert_eq!(flush.as_mut().now_or_never(), None),
                false => sender.leave(),
            }
            let submitted = world.bridge.submitted().await;
            assert!(begun.elapsed() < Duration::from_millis(100), "server: {is_server}");
            assert_eq!(submitted.submission, Submission::answer(answer("mine"), 0));
            world.bridge.carry_out(submitted).await;
            if is_server {
                let other = world.bridge.submitted().await;
                world.bridge.carry_out(other).await;
                flush.await;
                assert_eq!(begun.elapsed().as_millis() / 100, 0);
            }
            assert!(verdict(&sender, &world.id).await.is_ok_and(|record| record.is_some()));
            // Nothing waits after the end.
            let second = world.bridge.open("And now?").await;
            world.id = format!("b-{second}").parse().unwrap();
            assert_eq!(world.defers(&sender, "late"), Duration::ZERO);
            running.abort();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_changes_meanwhile_ends_the_wait() {
        for is_settled in [false, true] {
            let mut world = World::new().await;
            let running = tokio::spawn(world.run());
            let sender = world.deferrals.sender();
            assert_eq!(world.defers(&sender, "mine"), UNDO);
            let begun = Instant::now();
            match is_settled {
                true => {
                    let outcome = Outcome::Answered(answer("another's"));
                    world.bridge.settle(world.number, outcome, Provenance::bridge()).await;
                }
                false => world.bridge.amend(world.number, question("Why not?")).await,
            }
            let mut waits = sender.verdict(&world.id).unwrap();
            // Where the desk has to refuse it, the test plays the desk.
            let refused = tokio::select! {
                verdict = &mut waits => verdict.unwrap(),
                () = world.bridge.obey() => waits.await.unwrap(),
            };
            assert!(begun.elapsed() < Duration::from_millis(100), "settled: {is_settled}");
            match (is_settled, refused.unwrap_err()) {
                (true, Refusal::Conflict(record)) => {
                    assert_eq!(record.settlement.as_ref().unwrap().by, Provenance::bridge())
                }
                (false, Refusal::Changed(record)) => assert!(record.is_open()),
                (_, other) => panic!("{other:?}"),
            }
            running.abort();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn beyond_the_bounds_nothing_waits() {
        let world = World::new().await;
        let sender = world.deferrals.sender();
        let senders: Vec<_> = (0..10_000).map(|_| world.deferrals.sender()).collect();
        assert!(senders.iter().all(|sender| world.defers(sender, "x") == UNDO));
        let long = "x".repeat(limits::DEFERRED_BYTES / 2);
        assert_eq!(world.defers(&sender, &long), Duration::ZERO, "there is no room");
        drop(senders.iter().map(|sender| sender.take_back(&world.id)).collect::<Vec<_>>());
        assert_eq!(world.defers(&sender, &long), UNDO, "what is taken back makes room");
        assert!(sender.take_back(&world.id));
        drop(sender.verdict(&world.id));
        // A client that asks for no verdict.
        for number in 0..limits::DEFERRED_VERDICTS as u64 {
            let id: QuestionId = format!("b-{}", 100 + number).parse().unwrap();
            let record = Record { id, ..Record::clone(&world.record()) };
            let time = sender.defer(&world.bridge.inbox, &record, Submission::Reject(None), by());
            assert_eq!(time, Ok(UNDO));
        }
        assert_eq!(world.defers(&sender, "x"), Duration::ZERO);
    }
}
