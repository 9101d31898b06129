//! Questions of programs on this machine: they live on a desk like those of an agent, and their answers are delivered
//! to the call that waits.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep_until},
};

use super::store::Store;
use crate::{
    desk::{Desk, Notice, Opening, Refusal, Settlement, Setup, Submission, Submitted, Ticket},
    question::{Outcome, Provenance, Question, Reason},
};

/// The desk of programs, and the calls that wait for its questions. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    started: Instant,
    state: Mutex<State>,
    /// Told when a deadline may have come nearer.
    timers: Notify,
}

#[derive(Debug)]
struct State {
    desk: Desk,
    /// The calls that wait, by the numbers of their questions.
    callers: BTreeMap<u64, oneshot::Sender<Settlement>>,
}

impl Programs {
    /// Returns a desk whose changes go to this store.
    pub(super) fn new(setup: Setup, store: Store) -> Self {
        let state = Mutex::new(State { desk: Desk::new(setup), callers: BTreeMap::new() });
        Programs { shared: Arc::new(Shared { store, started: Instant::now(), state, timers: Notify::new() }) }
    }

    /// Asks, and waits until the question is settled. Dropping the future withdraws it.
    pub(super) async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        question.check_limits().map_err(Refusal::BadQuestion)?;
        let (number, settled) = self.open(question)?;
        let withdrawal = Withdrawal { programs: self, number };
        let settled = settled.await.map_err(|_| Refusal::Unavailable);
        // It is settled: there is nothing to withdraw.
        std::mem::forget(withdrawal);
        settled
    }

    /// Submits to a question of a program.
    pub(super) fn submit(&self, number: u64, submission: Submission, by: Provenance) -> Result<(), Refusal> {
        const TICKET: Ticket = Ticket(0);
        self.change(|state, now| {
            let settles = state.desk.submit(Submitted { ticket: TICKET, number, submission, by }, now);
            if settles.is_some() {
                state.deliver(number);
            }
            let mut verdict = None;
            while let Some(notice) = state.desk.poll() {
                if let Notice::Verdict(TICKET, judged) = notice {
                    verdict = Some(judged);
                }
            }
            verdict.unwrap_or(Err(Refusal::Unavailable))
        })
    }

    /// Warns of deadlines and rejects what is over, until the future is dropped.
    pub(super) async fn run(&self) {
        loop {
            let due = self.lock().desk.next_deadline();
            // A deadline beyond what the clock can say never comes.
            let due = due.and_then(|due| self.shared.started.checked_add(due));
            tokio::select! {
                () = self.shared.timers.notified() => {}
                () = sleep_until(due.unwrap_or(self.shared.started)), if due.is_some() => {
                    self.change(|state, now| {
                        for number in state.desk.tick(now) {
                            state.end(number, Reason::Timeout, now);
                        }
                    });
                }
            }
        }
    }

    fn open(&self, mut question: Question) -> Result<(u64, oneshot::Receiver<Settlement>), Refusal> {
        question.shrink_to_fit();
        let question = Arc::new(question);
        self.change(|state, now| {
            let weight = state.desk.weigh(&question, 0);
            state.desk.check_room(question.session.as_deref(), weight)?;
            let timeout = question.timeout;
            let number = state.desk.open(Opening { question, weight, timeout, elsewhere: true }, now);
            let (caller, settled) = oneshot::channel();
            state.callers.insert(number, caller);
            Ok((number, settled))
        })
    }

    /// Changes the desk, and tells the store before anything else can look.
    fn change<T>(&self, change: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state, self.shared.started.elapsed());
        // The rest of the notices is for logs: commands that ask have none.
        while state.desk.poll().is_some() {}
        if let Some(changes) = state.desk.take_changes() {
            self.shared.store.apply(changes);
        }
        drop(state);
        self.shared.timers.notify_one();
        changed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds it can leave it half changed.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&mut self, number: u64, reason: Reason, now: Duration) {
        self.desk.end(number, Outcome::Rejected(reason), Provenance::bridge(), now);
        self.deliver(number);
    }

    /// Hands the settlement to the call that waits.
    fn deliver(&mut self, number: u64) {
        let settlement = self.desk.settlement(number).cloned();
        let told = match (self.callers.remove(&number), settlement) {
            (Some(caller), Some(settlement)) => caller.send(settlement).is_ok(),
            _ => false,
        };
        if told { self.desk.delivered(number) } else { self.desk.undeliverable(number) }
    }
}

/// Withdraws a question when the call that asked it goes away.
struct Withdrawal<'a> {
    programs: &'a Programs,
    number: u64,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.programs.change(|state, now| state.end(self.number, Reason::Withdrawn, now));
    }
}
