//! The questions of an inbox as responders see them, and the only way to follow their changes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use askbridge_core::{
    desk::{
        self, BridgeName, Changes, EarlierDecision, Event, EventLog, QuestionId, Record, Settlement, Snapshot,
    },
    guard,
    question::{Guarding, Outcome, Provenance, Purpose, Question, Risk},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{ledger::Ledger, real_files::RealFiles};
use crate::limits;

/// A snapshot and the log of what changed in it. Cheap to clone; all clones are one store.
///
/// The lock is held for as long as it takes to copy references. The thread that forwards ordinary traffic never takes
/// it: it hands its changes over by a [`super::handover::Port`] (I7).
#[derive(Clone, Debug)]
pub struct Store {
    state: Arc<Mutex<StoreState>>,
    progress: Arc<watch::Sender<Progress>>,
}

#[derive(Debug, Default)]
struct StoreState {
    snapshot: Snapshot,
    log: EventLog,
    /// How open questions ended when they were asked before. Only the inbox knows that, not the desks.
    recalled: BTreeMap<QuestionId, Box<EarlierDecision>>,
    /// The lowest risk from which on the user wants a second step.
    guarding: Option<Guarding>,
    /// Receives every change. A follower that falls behind receives only the latest state.
    ledger: Option<Arc<dyn Ledger>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Progress {
    revision: u64,
    ended: bool,
}

/// A batch of changes for one follower.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// The whole state: the questions that are open at this revision, oldest first, and no others.
    Snapshot {
        /// The revision of the state.
        revision: u64,
        /// The open questions.
        open: Vec<Arc<Record>>,
    },
    /// The events since the batch before, oldest first, each with its number.
    Events {
        /// The revision behind the last event.
        revision: u64,
        /// The events. Each number is below the revision.
        events: Vec<(u64, Event)>,
    },
}

impl Batch {
    /// Returns the revision of the state behind the batch.
    pub fn revision(&self) -> u64 {
        let (Batch::Snapshot { revision, .. } | Batch::Events { revision, .. }) = self;
        *revision
    }
}

impl Default for Store {
    fn default() -> Self {
        Store { state: Arc::default(), progress: Arc::new(watch::Sender::new(Progress::default())) }
    }
}

impl Store {
    /// Reads the state at one revision.
    pub fn read<T>(&self, read: impl FnOnce(u64, &Snapshot) -> T) -> T {
        let state = self.lock();
        read(state.log.revision(), &state.snapshot)
    }

    /// Notes each change in this ledger from now on.
    pub(super) fn keep_in(&self, ledger: Option<Arc<dyn Ledger>>) {
        self.lock().ledger = ledger;
    }

    /// Decides what it takes to allow a permission.
    pub(super) fn guard_as(&self, wanted: Guarding) {
        self.lock().guarding = Some(wanted);
    }

    /// Returns whether this question takes a second step only because the user wants it. A dangerous one always does.
    fn is_confirmed(&self, question: &Question) -> bool {
        let (guarding, risk) = (self.lock().guarding, question.risk());
        let is_wanted = guarding.is_some_and(|wanted| risk.degree() >= wanted.confirm.degree());
        is_wanted && question.purpose == Purpose::Permission && !risk.is_dangerous()
    }

    /// Returns the question with what only its host knows: where the links that it names lead, and whether the user
    /// wants a second step. `None` if there is nothing to add. This looks at the file system.
    pub(super) fn look(&self, question: &Question) -> Option<Question> {
        let led = guard::look(question, &RealFiles);
        let looks_act = self.lock().guarding.is_some_and(|wanted| wanted.looks != Risk::Plain);
        let raised = if looks_act { guard::as_acting(led.as_ref().unwrap_or(question)) } else { None };
        let led = raised.or(led);
        if !self.is_confirmed(led.as_ref().unwrap_or(question)) {
            return led;
        }
        let mut question = led.unwrap_or_else(|| question.clone());
        question.confirm = true;
        Some(question)
    }

    /// Returns the ledger, if there is one.
    pub(super) fn ledger(&self) -> Option<Arc<dyn Ledger>> {
        self.lock().ledger.clone()
    }

    /// Takes over the changes of a desk. The desk decides; the store only shows, and its records are replaced, never
    /// changed. So a reader keeps a consistent record without the lock.
    pub fn apply(&self, changes: Changes) {
        // All changes are one edit, so that followers see all of them or none.
        self.edit(|editor| {
            for record in changes.questions {
                editor.put(record);
            }
            // The desk had too many changes to keep each one, so the outcomes of these questions are unknown.
            for id in changes.gone {
                editor.forget(&id);
            }
            if let Some(ledger) = editor.state.ledger.as_deref().filter(|_| changes.missed > 0) {
                ledger.missing(changes.missed);
            }
        });
    }

    /// Adds an earlier decision to an open question. Responders see the decision until the question is forgotten.
    pub fn recall(&self, id: &QuestionId, earlier: EarlierDecision) {
        self.edit(|editor| {
            // The question may have been settled while the ledger searched.
            let known = editor.snapshot().get(id).filter(|record| record.is_open()).cloned();
            if let Some(record) = known {
                editor.state.recalled.insert(id.clone(), Box::new(earlier));
                editor.put(record);
            }
        });
    }

    /// Changes the state. Followers are woken once.
    pub fn edit<T>(&self, edit: impl FnOnce(&mut Editor<'_>) -> T) -> T {
        let mut state = self.lock();
        let done = edit(&mut Editor { state: &mut state });
        let revision = state.log.revision();
        // The revision is sent under the lock, so that revisions reach followers in their order.
        self.progress.send_if_modified(|progress| {
            let changed = progress.revision != revision;
            progress.revision = revision;
            changed
        });
        done
    }

    /// Follows the changes. The first batch is a snapshot of the current state.
    pub fn follow(&self) -> Follower {
        self.follower(None, limits::DEBOUNCE)
    }

    /// Follows the changes for another store of this process. Who waits for an answer waits for each store on its way, so
    /// that the debounce is left to those who follow the last one.
    pub(crate) fn follow_within(&self) -> Follower {
        self.follower(None, limits::HAND_OVER)
    }

    /// Follows the changes from this revision on, or from a snapshot if the log no longer reaches back to it.
    pub fn follow_from(&self, revision: u64) -> Follower {
        self.follower(Some(revision), limits::DEBOUNCE)
    }

    /// Returns whether the store has ended: nothing changes in it any more.
    pub fn has_ended(&self) -> bool {
        self.progress.borrow().ended
    }

    /// Waits until the store has ended.
    pub async fn ended(&self) {
        // This store holds the sender, so that the wait cannot fail.
        drop(self.progress.subscribe().wait_for(|progress| progress.ended).await);
    }

    /// Ends the store: followers get what is left, and then end.
    pub fn end(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
    }

    fn follower(&self, next: Option<u64>, pause: Duration) -> Follower {
        Follower {
            store: self.clone(),
            progress: self.progress.subscribe(),
            next,
            is_first: true,
            pause,
            rests_until: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        // No code panics while it holds the lock, so its data is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state, while it is changed.
#[derive(Debug)]
pub struct Editor<'a> {
    state: &'a mut StoreState,
}

impl Editor<'_> {
    /// Returns the current state.
    pub fn snapshot(&self) -> &Snapshot {
        &self.state.snapshot
    }

    /// Stores the current state of a question.
    pub fn put(&mut self, record: Arc<Record>) {
        let size = record.size();
        self.put_sized(record, size);
    }

    /// Stores the current state of a question whose JSON has this length.
    pub fn put_sized(&mut self, record: Arc<Record>, size: usize) {
        let (record, size) = self.with_earlier(record, size);
        // The bounds count memory, and short options take more memory than JSON.
        let size = record.question.weight(size);
        // The ledger gets the event before the log: a follower that reads the journal finds at least what it has seen.
        if let Some(event) = self.state.snapshot.put_sized(record, size) {
            if let Some(ledger) = self.state.ledger.as_deref().filter(|_| is_noted(&event)) {
                ledger.note(event.record());
            }
            self.state.log.push_sized(event, size);
        }
    }

    fn with_earlier(&mut self, record: Arc<Record>, size: usize) -> (Arc<Record>, usize) {
        // The desk does not know earlier decisions, so each new record of it lacks them.
        let recalled = &mut self.state.recalled;
        let earlier = match record.is_open() {
            true => recalled.get(&record.id).cloned(),
            false => recalled.remove(&record.id),
        };
        let Some(earlier) = earlier else { return (record, size) };
        let record = Record { earlier: Some(earlier), ..Record::clone(&record) };
        let size = record.size();
        (Arc::new(record), size)
    }

    /// Forgets a question that ended with an unknown outcome. Followers get a snapshot.
    pub fn forget(&mut self, id: &QuestionId) {
        self.state.recalled.remove(id);
        let known = self.state.snapshot.get(id).cloned();
        if self.state.snapshot.forget(id) {
            self.state.log.start_over();
            if let Some((ledger, record)) = self.state.ledger.as_deref().zip(known) {
                ledger.note(&Arc::new(ended(&record)));
            }
        }
    }

    /// Settles an open question as lost, since its outcome is not known.
    pub fn lose_one(&mut self, id: &QuestionId, told: &Settlement) {
        let event = self.state.snapshot.lose(id, told.clone());
        event.into_iter().for_each(|event| self.state.log.push(event));
    }

    /// Records that the bridges of all these questions disappeared.
    pub fn lose(&mut self, has: impl Fn(&BridgeName) -> bool, told: &Settlement) {
        let ids: Vec<_> = self.state.snapshot.open_ids().filter(|id| has(&id.bridge)).cloned().collect();
        for id in ids {
            self.lose_one(&id, told);
        }
    }
}

/// Returns whether the ledger must note an event. The start of a delivery is none: `Ledger::accepting` noted a
/// submitted decision before, and a client's own answer is noted once it is settled.
fn is_noted(event: &Event) -> bool {
    !matches!(event, Event::Changed(record) if record.state == desk::State::Delivering)
}

/// Returns a question that ended with an unknown outcome.
fn ended(record: &Record) -> Record {
    let unknown = [("status".to_owned(), "unknown".into())].into_iter().collect();
    let at = SystemTime::now().into();
    record.clone().settled(Settlement::new(Outcome::Unknown(unknown), Provenance::bridge(), at))
}

/// A cursor over what changes in a store.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    progress: watch::Receiver<Progress>,
    /// The revision up to which it has read; `None` before its first snapshot.
    next: Option<u64>,
    is_first: bool,
    /// The debounce.
    pause: Duration,
    rests_until: Option<Instant>,
}

impl Follower {
    /// Waits for the next batch. The first comes at once, and others after a debounce, so that many changes are one
    /// batch. A follower that falls behind the log gets a snapshot. Returns `None` once the store has ended and every
    /// change was returned. Cancel safe.
    pub async fn next(&mut self) -> Option<Batch> {
        loop {
            let progress = *self.progress.borrow_and_update();
            if self.is_first && self.next.is_none() || self.next != Some(progress.revision) {
                self.debounce(progress.ended).await;
                self.is_first = false;
                self.rests_until = Some(Instant::now() + self.pause);
                return Some(self.take());
            }
            if progress.ended {
                return None;
            }
            self.progress.changed().await.ok()?;
        }
    }

    /// Waits for the debounce, or until the store ends, so that the last changes are not missed.
    async fn debounce(&mut self, mut ended: bool) {
        let Some(until) = self.rests_until else { return };
        while !ended {
            tokio::select! {
                () = sleep_until(until) => return,
                changed = self.progress.changed() => {
                    ended = changed.is_err() || self.progress.borrow_and_update().ended;
                }
            }
        }
    }

    fn take(&mut self) -> Batch {
        let state = self.store.lock();
        let revision = state.log.revision();
        let events = self.next.and_then(|next| state.log.since(next));
        self.next = Some(revision);
        match events {
            Some(events) => Batch::Events { revision, events },
            None => Batch::Snapshot { revision, open: state.snapshot.open() },
        }
    }
}

/// Waits until the condition holds, for this long at most. Returns whether it holds.
pub async fn wait_until(store: &Store, within: Duration, holds: impl Fn(&Snapshot) -> bool) -> bool {
    let mut progress = store.progress.subscribe();
    let waited = async {
        while !store.read(|_, snapshot| holds(snapshot)) {
            if progress.changed().await.is_err() {
                return;
            }
        }
    };
    drop(tokio::time::timeout(within, waited).await);
    store.read(|_, snapshot| holds(snapshot))
}
