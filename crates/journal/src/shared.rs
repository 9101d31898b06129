//! What the journal's handle and its thread share: the options, a bounded queue of entries, and whether the file works.
//! An entry that does not fit into the queue is dropped and counted: no caller waits for room. A failing journal causes
//! one warning, not one for each question.

use std::{
    collections::VecDeque,
    fmt::{self, Display},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use askbridge_control::inbox::{
    CallbackNote, Home, Keeping, KeptBefore, KeptQuestions, LeftToClient, Life, Used, Using,
};
use askbridge_core::desk::{BridgeName, EarlierDecision, QuestionId, Record, Settlement, Timestamp};
use tokio::sync::oneshot;

use crate::limits;

/// The queue between the handle and the thread, and whether the file works.
#[derive(Debug, Default)]
pub(super) struct SharedJournal {
    pub(super) queue: Queue,
    pub(super) health: Health,
}

/// Returns the current time of day.
pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns whether a bridge lives, by its name and by where it runs, if that was noted. It may take some milliseconds.
pub type LifeLookup = Arc<dyn Fn(&BridgeName, Option<&Home>) -> Life + Send + Sync>;

/// The options of a journal.
#[derive(Clone)]
pub struct Options {
    /// The file. `None` if the environment names no folder of the user's state.
    pub file: Option<PathBuf>,
    /// Whether texts are kept: questions, answers, commands, remarks.
    pub texts: bool,
    /// Whether what led to a question is kept with it, where texts are.
    pub context: bool,
    /// How long settled questions are kept.
    pub keep: Duration,
    /// Size beyond which the oldest settled questions are removed, in bytes.
    pub size: u64,
    /// Where the bridges of this process run; `None` if that is not known.
    pub home: Option<Home>,
    /// Returns whether a bridge lives. The questions of a bridge that lives are not lost.
    pub life: LifeLookup,
    /// The name of another VFS for SQLite.
    #[cfg(test)]
    pub(super) vfs: Option<&'static str>,
    /// The most pages that the file may have, as on a small disk.
    #[cfg(test)]
    pub(super) pages: Option<u32>,
}

impl Options {
    /// Returns the defaults for a file. By default, nothing is removed, and every bridge counts as alive.
    pub fn new(file: Option<PathBuf>) -> Self {
        Options {
            file,
            texts: true,
            context: false,
            keep: Duration::MAX,
            size: u64::MAX,
            home: None,
            life: Arc::new(|_, _| Life::Lives),
            #[cfg(test)]
            vfs: None,
            #[cfg(test)]
            pages: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { file, texts, context, keep, size, home, .. } = self;
        formatter
            .debug_struct("Options")
            .field("file", file)
            .field("texts", texts)
            .field("context", context)
            .field("keep", keep)
            .field("size", size)
            .field("home", home)
            .finish_non_exhaustive()
    }
}

/// A message to the journal's thread, with the sender for its reply if a caller waits.
#[derive(Debug)]
pub(super) enum JournalEntry {
    Note(Arc<Record>),
    Accepting(Arc<Record>, Settlement, Option<oneshot::Sender<()>>),
    LeftToClient(LeftToClient),
    Refused(QuestionId),
    Waits(QuestionId),
    Begins(QuestionId, Option<oneshot::Sender<()>>),
    Settled(Arc<Record>, Option<oneshot::Sender<()>>),
    Earlier(Arc<Record>, oneshot::Sender<Option<EarlierDecision>>),
    Claim(QuestionId, QuestionId, oneshot::Sender<bool>),
    Resume(BridgeName, oneshot::Sender<KeptQuestions>),
    Keep(Box<Keeping>, oneshot::Sender<Option<KeptBefore>>),
    Use(Arc<Record>, Using, oneshot::Sender<Used>),
    Callback(CallbackNote),
    Flush(oneshot::Sender<()>),
}

impl JournalEntry {
    /// Returns about how many bytes it keeps in memory.
    fn bytes(&self) -> usize {
        let of = |record: &Record| limits::RECORD + record.question.weight(record.question.most_json());
        match self {
            // The settlement is counted, since it can be as large as an answer.
            JournalEntry::Note(record) | JournalEntry::Settled(record, _) => {
                of(record) + record.settlement.as_ref().map_or(0, |settlement| settlement.most_json())
            }
            JournalEntry::Accepting(record, decision, _) => of(record) + decision.most_json(),
            JournalEntry::Earlier(record, _) | JournalEntry::Use(record, ..) => of(record),
            JournalEntry::Keep(keeping, _) => of(&keeping.record),
            JournalEntry::LeftToClient(left) => limits::RECORD + left.project.len() + left.file.len(),
            JournalEntry::Refused(_)
            | JournalEntry::Waits(_)
            | JournalEntry::Begins(..)
            | JournalEntry::Claim(..)
            | JournalEntry::Resume(..)
            | JournalEntry::Callback(_)
            | JournalEntry::Flush(_) => limits::RECORD,
        }
    }

    /// Returns the entry for another try, after its caller has given up. An entry that only its caller needs is
    /// dropped.
    pub(super) fn without_caller(self) -> Option<Self> {
        match self {
            JournalEntry::Accepting(record, decision, _) => {
                Some(JournalEntry::Accepting(record, decision, None))
            }
            JournalEntry::Begins(id, _) => Some(JournalEntry::Begins(id, None)),
            JournalEntry::Settled(record, _) => Some(JournalEntry::Settled(record, None)),
            entry @ (JournalEntry::Note(_)
            | JournalEntry::LeftToClient(_)
            | JournalEntry::Refused(_)
            | JournalEntry::Waits(_)
            | JournalEntry::Callback(_)) => Some(entry),
            JournalEntry::Earlier(..)
            | JournalEntry::Claim(..)
            | JournalEntry::Resume(..)
            | JournalEntry::Keep(..)
            | JournalEntry::Use(..)
            | JournalEntry::Flush(_) => None,
        }
    }

    /// Returns whether the file lacks something if the entry is dropped. Otherwise its caller hears of it.
    fn is_written(&self) -> bool {
        !matches!(
            self,
            JournalEntry::Earlier(..)
                | JournalEntry::Claim(..)
                | JournalEntry::Resume(..)
                | JournalEntry::Keep(..)
                | JournalEntry::Use(..)
                | JournalEntry::Callback(_)
                | JournalEntry::Flush(_)
        )
    }
}

/// The next work of the thread.
#[derive(Debug)]
pub(super) enum QueueItem {
    /// Entries, in their order.
    Entries(Vec<JournalEntry>),
    /// The time until which the thread was to wait has come.
    Due,
    /// The queue has ended and is empty.
    Ended,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<(JournalEntry, usize)>,
    bytes: usize,
    missing: u64,
    has_ended: bool,
}

/// Number of entries at the end of the queue that are searched for an outdated note. A question that is answered at
/// once has few entries between its opening and its end.
const LOOKED_AT: usize = 8;

impl QueueState {
    /// Drops an earlier note of the same question that still waits, since the later note has all that it has. So a
    /// question that is answered at once is written once.
    fn drop_outdated(&mut self, entry: &JournalEntry) {
        let JournalEntry::Note(later) = entry else { return };
        let is_same = |known: &Record| known.id == later.id && known.opened_at == later.opened_at;
        let is_outdated =
            |(known, _): &(JournalEntry, usize)| matches!(known, JournalEntry::Note(known) if is_same(known));
        let first = self.entries.len().saturating_sub(LOOKED_AT);
        let found = self.entries.range(first..).position(is_outdated);
        if let Some((_, bytes)) = found.and_then(|place| self.entries.remove(first + place)) {
            self.bytes -= bytes;
        }
    }
}

/// The bounded queue of entries.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl Queue {
    /// Adds an entry. An entry that does not fit is dropped and counted, and its caller sees that the reply's sender
    /// was dropped.
    pub(super) fn push(&self, entry: JournalEntry) {
        let bytes = entry.bytes();
        let mut state = self.lock();
        state.drop_outdated(&entry);
        let fits =
            state.entries.len() < limits::ENTRIES && state.bytes.saturating_add(bytes) <= limits::BYTES;
        if fits && !state.has_ended {
            state.bytes += bytes;
            state.entries.push_back((entry, bytes));
        } else if entry.is_written() {
            state.missing = state.missing.saturating_add(1);
        }
        // The lock is released first, so that the thread does not wake up only to wait for it.
        drop(state);
        self.changed.notify_one();
    }

    /// Takes the next entries, or waits for one until this time.
    pub(super) fn take(&self, until: Instant) -> QueueItem {
        let mut state = self.lock();
        loop {
            if !state.entries.is_empty() {
                let (mut taken, mut size) = (Vec::new(), 0);
                while taken.len() < limits::BATCH
                    && size < limits::BATCH_BYTES
                    && let Some((entry, bytes)) = state.entries.pop_front()
                {
                    size += bytes;
                    taken.push(entry);
                }
                state.bytes -= size;
                return QueueItem::Entries(taken);
            }
            if state.has_ended {
                return QueueItem::Ended;
            }
            let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return QueueItem::Due;
            };
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts entries back that could not be written, before the others.
    pub(super) fn put_back(&self, entries: impl DoubleEndedIterator<Item = JournalEntry>) {
        let mut state = self.lock();
        for entry in entries.rev() {
            let bytes = entry.bytes();
            state.bytes += bytes;
            state.entries.push_front((entry, bytes));
        }
        // Entries that came meanwhile may have taken the room. The latest are dropped, since later entries build on
        // earlier ones.
        while state.entries.len() > limits::ENTRIES || state.bytes > limits::BYTES {
            let Some((entry, bytes)) = state.entries.pop_back() else { break };
            state.bytes -= bytes;
            state.missing += u64::from(entry.is_written());
        }
    }

    /// Waits until this time, or until the queue has ended. Returns whether it has.
    pub(super) fn rest(&self, until: Instant) -> bool {
        let mut state = self.lock();
        while !state.has_ended {
            let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return false;
            };
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// Returns how many entries were dropped since the last call.
    pub(super) fn take_missing(&self) -> u64 {
        std::mem::take(&mut self.lock().missing)
    }

    /// Counts entries that are missing.
    pub(super) fn add_missing(&self, count: u64) {
        let mut state = self.lock();
        state.missing = state.missing.saturating_add(count);
    }

    /// Ends the queue: the thread writes what is left.
    pub(super) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // No code panics while it holds the lock, so its data is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the journal works. While it fails, no caller waits for it.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    is_failing: bool,
    warned: Option<Instant>,
}

impl Health {
    /// Returns whether the last attempt failed, or took too long.
    pub(super) fn is_failing(&self) -> bool {
        self.lock().is_failing
    }

    /// Records that an attempt failed, or took too long. Returns whether this logged a warning.
    pub(super) fn failed(&self, why: &dyn Display) -> bool {
        let mut state = self.lock();
        let was_failing = std::mem::replace(&mut state.is_failing, true);
        let is_new = state.warned.is_none_or(|warned| warned.elapsed() >= limits::WARNING);
        let warns = is_new && !was_failing;
        if warns {
            state.warned = Some(Instant::now());
        }
        // A subscriber of the log may be slow, and callers check `is_failing` under this lock.
        drop(state);
        if warns {
            tracing::warn!("questions continue without the journal: {why}");
        } else {
            tracing::debug!("the journal cannot be written: {why}");
        }
        warns
    }

    /// Records that an attempt succeeded.
    pub(super) fn works(&self) {
        let was_failing = std::mem::take(&mut self.lock().is_failing);
        if was_failing {
            tracing::info!("the journal works again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HealthState> {
        // No code panics while it holds the lock, so its data is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{answered, open, question};

    fn taken(queue: &Queue) -> Vec<String> {
        let QueueItem::Entries(entries) = queue.take(Instant::now()) else { return Vec::new() };
        let short = |entry: &JournalEntry| match entry {
            JournalEntry::Note(record) => format!("{} {}", record.id, record.state.name()),
            JournalEntry::Earlier(record, _) => format!("earlier {}", record.id),
            other => format!("{other:?}"),
        };
        entries.iter().map(short).collect()
    }

    #[test]
    fn a_note_replaces_the_one_of_the_same_question_that_still_waits() {
        let queue = Queue::default();
        let (first, second) = (open("a-1", question("Why?")), open("a-2", question("Why?")));
        queue.push(JournalEntry::Note(Arc::clone(&first)));
        queue.push(JournalEntry::Earlier(Arc::clone(&first), oneshot::channel().0));
        queue.push(JournalEntry::Note(Arc::clone(&second)));
        queue.push(JournalEntry::Note(answered(&first, "x")));
        assert_eq!(taken(&queue), ["earlier a-1", "a-2 open", "a-1 settled"]);
        assert_eq!(queue.lock().bytes, 0);
        assert_eq!(queue.take_missing(), 0);
        // The same ID at another time is another question, and what is far away stays.
        let again = Arc::new(Record {
            opened_at: second.opened_at.after(std::time::Duration::from_secs(1)),
            ..Record::clone(&first)
        });
        queue.push(JournalEntry::Note(Arc::clone(&first)));
        queue.push(JournalEntry::Note(again));
        (0..LOOKED_AT)
            .for_each(|_| queue.push(JournalEntry::Earlier(Arc::clone(&second), oneshot::channel().0)));
        queue.push(JournalEntry::Note(answered(&first, "x")));
        let left = taken(&queue);
        assert_eq!(left.iter().filter(|entry| entry.starts_with("a-1")).count(), 3, "{left:?}");
    }
}
