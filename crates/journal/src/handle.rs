//! The handle by which the rest of the program uses the journal. It hands entries to the journal's thread, and waits
//! for a bounded time at most.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use askbridge_control::inbox::{
    AskedUnder, CallbackNote, HistoryFilter, Keeping, KeptBefore, KeptQuestions, Ledger, LeftToClient, Life,
    PastQuestion, Used, Using,
};
use askbridge_core::{
    desk::{
        BridgeName, EarlierDecision, IdPrefix, LostQuestion, QuestionId, Record, Refusal, Settlement, State,
        Submission,
    },
    question::{Outcome, Provenance, Reason},
};
use futures::{FutureExt, future::BoxFuture};
use tokio::{sync::oneshot, time::timeout};

use super::{
    History, JournalError, Options,
    shared::{JournalEntry, SharedJournal, now},
    writer,
};
use crate::limits;

/// The journal of this process. Cheap to clone; all clones are one journal. The first entry starts its thread and opens
/// its file. After the last clone is dropped, the thread writes the remaining entries and ends.
#[derive(Clone, Debug)]
pub struct Journal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<SharedJournal>,
    options: Options,
    has_begun: Mutex<bool>,
}

impl Journal {
    /// Returns a journal whose thread has not started and whose file is not open.
    pub fn new(options: Options) -> Self {
        let inner = Inner { shared: Arc::default(), options, has_begun: Mutex::new(false) };
        Journal { inner: Arc::new(inner) }
    }

    /// Returns whether the file cannot be written at present. Entries may then be lost with the process.
    pub fn is_failing(&self) -> bool {
        self.inner.shared.health.is_failing()
    }

    fn has_begun(&self) -> MutexGuard<'_, bool> {
        // No code panics while it holds the lock, so its data is consistent.
        self.inner.has_begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an entry to the thread, and starts the thread at the first entry.
    fn push(&self, entry: JournalEntry) {
        let Inner { shared, options, .. } = &*self.inner;
        shared.queue.push(entry);
        let mut has_begun = self.has_begun();
        if *has_begun {
            return;
        }
        let (of_thread, options) = (Arc::clone(shared), options.clone());
        let run = move || writer::run(&of_thread, &options);
        match thread::Builder::new().name("journal".to_owned()).spawn(run) {
            Ok(_) => *has_begun = true,
            // The next entry tries again.
            Err(error) => {
                shared.health.failed(&error);
            }
        }
    }

    /// Hands an entry to the thread, and returns the thread's reply, or `None` if the journal gives up. While the journal
    /// fails, no caller waits: it gets `None` at once, and only `unanswered` is queued.
    fn wait<T: Send + 'static>(
        &self,
        entry: impl FnOnce(oneshot::Sender<T>) -> JournalEntry,
        unanswered: Option<JournalEntry>,
    ) -> BoxFuture<'static, Option<T>> {
        if self.inner.shared.health.is_failing() {
            unanswered.into_iter().for_each(|entry| self.push(entry));
            return futures::future::ready(None).boxed();
        }
        let (reply, replied) = oneshot::channel();
        self.push(entry(reply));
        let shared = Arc::clone(&self.inner.shared);
        let waited = async move {
            match timeout(limits::LEDGER_WAIT, replied).await {
                Ok(replied) => replied.ok(),
                Err(_) => {
                    // From now on no caller waits, until a write succeeds again.
                    shared.health.failed(&"its file takes too long");
                    // This wakes the thread, which may wait for entries by now.
                    shared.queue.push(JournalEntry::Flush(oneshot::channel().0));
                    None
                }
            }
        };
        waited.boxed()
    }
}

/// Why nothing can be kept.
const FAILS: &str = "the journal cannot be written now";

fn lately_lost(options: &Options) -> Result<Vec<LostQuestion>, JournalError> {
    let Some(file) = &options.file else { return Ok(Vec::new()) };
    let Some(history) = History::open(file)? else { return Ok(Vec::new()) };
    Ok(history.lately_unsettled(now(), options)?.lost)
}

/// Returns the questions that `find` finds and that are settled or lost. Open ones are in an inbox.
fn over(
    options: &Options,
    find: impl Fn(&History, &dyn Fn(&BridgeName) -> Life) -> Result<Vec<PastQuestion>, JournalError>,
) -> Result<Vec<PastQuestion>, JournalError> {
    let Some(file) = &options.file else { return Ok(Vec::new()) };
    let Some(history) = History::open(file)? else { return Ok(Vec::new()) };
    let (mut found, _) = history.with_lives(options, |life| find(&history, life))?;
    found.retain(|past| past.seq.is_some() || past.record.state == State::Lost);
    Ok(found)
}

/// Reads the file on another thread than the one that writes, so that no entry waits for the read.
fn read<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, JournalError> + Send + 'static,
) -> BoxFuture<'static, Result<T, Refusal>> {
    let read = tokio::task::spawn_blocking(read);
    let waited = async move {
        let why = match timeout(limits::LEDGER_WAIT, read).await {
            Ok(Ok(Ok(found))) => return Ok(found),
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(failed)) => failed.to_string(),
            Err(_) => format!("the journal did not respond within {} s", limits::LEDGER_WAIT.as_secs()),
        };
        Err(Refusal::HistoryUnavailable(why))
    };
    waited.boxed()
}

impl Ledger for Journal {
    fn note(&self, record: &Arc<Record>) {
        self.push(JournalEntry::Note(Arc::clone(record)));
    }

    fn missing(&self, count: u64) {
        self.inner.shared.queue.add_missing(count);
    }

    fn left_to_client(&self, left: LeftToClient) {
        self.push(JournalEntry::LeftToClient(left));
    }

    fn has_entries(&self) -> bool {
        *self.has_begun()
    }

    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        by: &Provenance,
    ) -> BoxFuture<'static, ()> {
        let (outcome, remark) = match submission {
            Submission::Answer { answer, .. } => (Outcome::Answered(answer.clone()), None),
            Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark.clone()),
            // More time is no decision, and neither is to set it aside: they are not journaled.
            Submission::Extend(_) | Submission::Later(_) => return futures::future::ready(()).boxed(),
        };
        let decision = Settlement { remark, ..Settlement::new(outcome, by.clone(), now()) };
        let entry = |reply| JournalEntry::Accepting(Arc::clone(record), decision.clone(), reply);
        self.wait(|reply| entry(Some(reply)), Some(entry(None))).map(|_| ()).boxed()
    }

    fn refused(&self, id: &QuestionId) {
        self.push(JournalEntry::Refused(id.clone()));
    }

    fn waits(&self, id: &QuestionId) {
        self.push(JournalEntry::Waits(id.clone()));
    }

    fn begins(&self, id: &QuestionId) -> BoxFuture<'static, ()> {
        let entry = |reply| JournalEntry::Begins(id.clone(), reply);
        self.wait(|reply| entry(Some(reply)), Some(entry(None))).map(|_| ()).boxed()
    }

    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, bool> {
        let entry = |reply| JournalEntry::Settled(Arc::clone(record), reply);
        self.wait(|reply| entry(Some(reply)), Some(entry(None))).map(|done| done.is_some()).boxed()
    }

    fn resume(&self, new: &BridgeName) -> BoxFuture<'static, Result<KeptQuestions, String>> {
        if !self.inner.options.texts {
            let why = "the settings let the journal keep no texts (`journal.texts`)";
            return futures::future::ready(Err(why.to_owned())).boxed();
        }
        let resumed = self.wait(|reply| JournalEntry::Resume(new.clone(), reply), None);
        resumed.map(|resumed| resumed.ok_or_else(|| FAILS.to_owned())).boxed()
    }

    fn asked_before(&self, under: AskedUnder) -> BoxFuture<'static, Result<Option<KeptBefore>, Refusal>> {
        let options = self.inner.options.clone();
        read(move || {
            let Some(file) = &options.file else { return Ok(None) };
            History::open(file)?.map_or(Ok(None), |history| history.asked_before(&under))
        })
    }

    fn keep(&self, keeping: Keeping) -> BoxFuture<'static, Result<Option<KeptBefore>, String>> {
        let kept = self.wait(|reply| JournalEntry::Keep(Box::new(keeping), reply), None);
        kept.map(|kept| kept.ok_or_else(|| FAILS.to_owned())).boxed()
    }

    fn make_use(&self, record: &Arc<Record>, using: Using) -> BoxFuture<'static, Result<Used, String>> {
        let record = Arc::clone(record);
        let before = self.wait(|reply| JournalEntry::Use(record, using, reply), None);
        before.map(|before| before.ok_or_else(|| FAILS.to_owned())).boxed()
    }

    fn used(&self, record: &Arc<Record>) -> BoxFuture<'static, Result<Used, Refusal>> {
        let (options, record) = (self.inner.options.clone(), Arc::clone(record));
        read(move || {
            let Some(file) = &options.file else { return Ok(Used::default()) };
            History::open(file)?.map_or_else(|| Ok(Used::default()), |history| history.used(&record))
        })
    }

    fn note_callback(&self, note: CallbackNote) {
        self.push(JournalEntry::Callback(note));
    }

    fn flush(&self) -> BoxFuture<'static, bool> {
        // Without an entry the thread never started, and there is nothing to write.
        if !*self.has_begun() {
            return futures::future::ready(true).boxed();
        }
        self.wait(JournalEntry::Flush, None).map(|written| written.is_some()).boxed()
    }

    fn lost(&self) -> BoxFuture<'static, Result<Vec<LostQuestion>, Refusal>> {
        let options = self.inner.options.clone();
        read(move || lately_lost(&options))
    }

    fn past(&self, filter: HistoryFilter) -> BoxFuture<'static, Result<Vec<PastQuestion>, Refusal>> {
        let options = self.inner.options.clone();
        let ended = move |history: &History, life: &dyn Fn(&BridgeName) -> Life| {
            history.list_of(&filter, |bridge| life(bridge) == Life::Ended)
        };
        read(move || over(&options, ended))
    }

    fn recall(&self, id: QuestionId) -> BoxFuture<'static, Result<Option<Record>, Refusal>> {
        let options = self.inner.options.clone();
        read(move || {
            let found = over(&options, |history, _| history.find(&IdPrefix::from(&id)))?;
            Ok(found.into_iter().map(|past| past.record).find(|record| record.id == id))
        })
    }

    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>> {
        self.wait(|reply| JournalEntry::Earlier(Arc::clone(record), reply), None).map(Option::flatten).boxed()
    }

    fn claim(&self, earlier: &QuestionId, by: &QuestionId) -> BoxFuture<'static, bool> {
        let claimed = self.wait(|reply| JournalEntry::Claim(earlier.clone(), by.clone(), reply), None);
        claimed.map(Option::unwrap_or_default).boxed()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.queue.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[tokio::test]
    async fn a_journal_that_does_not_respond_in_time_is_not_an_empty_one() {
        let (go, goes) = sync_channel::<()>(1);
        let unread = read(move || Ok(goes.recv().ok())).await;
        let why = "the journal did not respond within 1 s".to_owned();
        assert_eq!(unread, Err(Refusal::HistoryUnavailable(why)));
        drop(go);
    }
}
