//! The journal's thread. It writes the queued entries in one transaction, replies to the callers that wait for them,
//! and tries again with a back-off after an error.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge_control::inbox::{KeptBefore, KeptQuestions, Life, Used};
use askbridge_core::desk::{BridgeName, EarlierDecision, QuestionId, Record};
use askbridge_os::lock::LockFile;
use rusqlite::TransactionBehavior;
use tokio::sync::oneshot;

use super::{
    JournalError, Options, again, callbacks,
    connection::{self, WritingConnection},
    entries, prune,
    shared::{JournalEntry, QueueItem, SharedJournal, now},
    standing,
    stored::{self, StoredQuestion},
    used,
};
use crate::limits;

/// Runs until the queue has ended and all of its entries are written.
pub(super) fn run(shared: &Arc<SharedJournal>, options: &Options) {
    let mut writer = Writer { shared, options, file: None, lock: None };
    let mut back_off = limits::BACK_OFF;
    let mut pruning = Instant::now();
    loop {
        // Nobody waits while the journal fails, so that nothing may be in the queue by which it is tried again.
        let is_failing = shared.health.is_failing();
        let done = match shared.queue.take(if is_failing { Instant::now() } else { pruning }) {
            QueueItem::Entries(entries) => writer.write(entries),
            QueueItem::Due if is_failing => writer.write(vec![JournalEntry::Flush(oneshot::channel().0)]),
            QueueItem::Due => writer.prune().map(|more| {
                // `take` prefers entries, so they wait for one batch of pruning at most.
                pruning = Instant::now() + if more { Duration::ZERO } else { limits::PRUNE };
            }),
            QueueItem::Ended => return writer.end(),
        };
        match done {
            Ok(()) => back_off = limits::BACK_OFF,
            Err(error) => {
                shared.health.failed(&error);
                // Pruning may have caused the failure, and is not urgent.
                pruning = pruning.max(Instant::now() + limits::BACK_OFF_MOST);
                if shared.queue.rest(Instant::now() + back_off) {
                    writer.write_the_last();
                    return;
                }
                back_off = (2 * back_off).min(limits::BACK_OFF_MOST);
            }
        }
    }
}

struct Writer<'a> {
    shared: &'a SharedJournal,
    options: &'a Options,
    file: Option<WritingConnection>,
    lock: Option<LockFile>,
}

/// The earlier question whose decision is reused, and the question that reuses it.
type Claim = (QuestionId, QuestionId);

/// Where it is told whether a question was asked before.
type KeptReply = oneshot::Sender<Option<KeptBefore>>;

/// Replies that are given once the transaction is committed.
#[derive(Default)]
struct Replies {
    done: Vec<oneshot::Sender<()>>,
    earlier: Vec<(oneshot::Sender<Option<EarlierDecision>>, Option<EarlierDecision>)>,
    claims: Vec<(oneshot::Sender<bool>, Option<Claim>)>,
    resumed: Vec<(oneshot::Sender<KeptQuestions>, KeptQuestions)>,
    kept: Vec<(Arc<Record>, KeptReply, Option<KeptBefore>)>,
    used: Vec<(oneshot::Sender<Used>, Used)>,
}

impl Writer<'_> {
    /// Writes entries. On an error, the entries are put back into the queue, and their callers stop waiting.
    fn write(&mut self, entries: Vec<JournalEntry>) -> Result<(), JournalError> {
        let missing = self.shared.queue.take_missing();
        // The lock is taken out of `self`, since the guard borrows the lock while `commit` borrows `self`.
        let lock = self.take_lock();
        // Where the file system has no such locks, SQLite's own suffice.
        let held = lock.as_ref().and_then(|lock| lock.hold().ok());
        let (done, entries, replies) = self.commit(entries, missing);
        // Other processes wait for the lock, and the rest of this function needs none.
        drop(held);
        self.lock = lock;
        match done {
            Ok(dropped) => {
                self.shared.queue.add_missing(dropped);
                self.shared.health.works();
                self.reply(replies);
                Ok(())
            }
            Err(error) => {
                self.shared.queue.add_missing(missing);
                // The failure is recorded before the replies are dropped, so that a caller that stops waiting does not
                // wait again.
                self.shared.health.failed(&error);
                self.shared.queue.put_back(entries.into_iter());
                drop(replies);
                // A new connection may help against any other error.
                if !error.is_busy() {
                    self.file = None;
                }
                Err(error)
            }
        }
    }

    /// Writes the last gap, if entries are missing.
    fn end(&mut self) {
        let missing = self.shared.queue.take_missing();
        // The count was only read here: `write` takes it.
        self.shared.queue.add_missing(missing);
        if missing > 0
            && let Err(error) = self.write(Vec::new())
        {
            tracing::debug!("{missing} entries are missing in the journal: {error}");
        }
    }

    /// Tries once more to write what is queued, and logs how many entries are lost with the process.
    fn write_the_last(&mut self) {
        while let QueueItem::Entries(entries) = self.shared.queue.take(Instant::now()) {
            let count = entries.len();
            if let Err(error) = self.write(entries) {
                tracing::debug!("{count} entries or more are missing in the journal: {error}");
                return;
            }
        }
    }

    /// Removes one batch of old rows. Returns whether there may be more.
    fn prune(&mut self) -> Result<bool, JournalError> {
        let options = self.options;
        let lock = self.take_lock();
        let held = lock.as_ref().and_then(|lock| lock.hold().ok());
        let pruned = self.open().and_then(|writing| {
            // After a power loss, the same rows are pruned again.
            writing.sync(false)?;
            prune::some(&mut writing.connection, options, now())
        });
        drop(held);
        self.lock = lock;
        pruned
    }

    /// Writes entries in one transaction. Returns the number of entries that cannot be written at all, or the error;
    /// the entries for another try; and the replies to send.
    fn commit(
        &mut self,
        entries: Vec<JournalEntry>,
        missing: u64,
    ) -> (Result<u64, JournalError>, Vec<JournalEntry>, Replies) {
        let mut replies = Replies::default();
        let mut kept = Vec::with_capacity(entries.len());
        let mut entries = entries.into_iter();
        let options = self.options;
        let done = self.open().and_then(|writing| {
            // These entries promise to survive a power loss; the others only a kill of the process.
            let is_full = |entry: &JournalEntry| {
                matches!(
                    entry,
                    JournalEntry::Settled(_, Some(_))
                        | JournalEntry::Begins(..)
                        | JournalEntry::Claim(..)
                        | JournalEntry::Resume(..)
                        | JournalEntry::Keep(..)
                        | JournalEntry::Use(..)
                        | JournalEntry::Flush(_)
                )
            };
            let is_full = entries.as_slice().iter().any(is_full);
            writing.sync(is_full)?;
            let mut dropped = 0;
            // `Immediate`, since SQLite does not wait for the write lock in a transaction that has read before.
            let mut transaction =
                writing.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if missing > 0 {
                entries::gap(&transaction, missing, now())?;
            }
            if is_full {
                entries::touch(&transaction)?;
            }
            for entry in entries.by_ref() {
                // Each entry has its own savepoint, so that an entry that fails does not roll back the others.
                let part = transaction.savepoint()?;
                let applied = apply(&part, &entry, options);
                match applied {
                    Ok(applied) => {
                        part.commit()?;
                        replies.add(entry, applied, &mut kept);
                    }
                    Err(error) if error.is_of_entry() => {
                        // Dropping a savepoint rolls it back, and keeps the entries before it.
                        drop(part);
                        tracing::warn!("a question is missing in the journal: {error}");
                        dropped += 1;
                    }
                    Err(error) => {
                        drop(part);
                        kept.extend(entry.without_caller());
                        return Err(error);
                    }
                }
            }
            transaction.commit()?;
            Ok(dropped)
        });
        kept.extend(entries.filter_map(JournalEntry::without_caller));
        (done, kept, replies)
    }

    /// Sends the replies. A claim whose caller no longer waits is reverted, and so is a question that was to be kept.
    fn reply(&mut self, replies: Replies) {
        for reply in replies.done {
            // The caller may no longer wait; ignore the send error, here and below.
            reply.send(()).unwrap_or_default();
        }
        for (reply, earlier) in replies.earlier {
            reply.send(earlier).unwrap_or_default();
        }
        for (reply, questions) in replies.resumed {
            drop(reply.send(questions));
        }
        for (reply, before) in replies.used {
            drop(reply.send(before));
        }
        for (record, reply, before) in replies.kept {
            let is_new = before.is_none();
            if reply.send(before).is_err()
                && is_new
                && let Some(writing) = &self.file
                && let Err(error) = standing::forget(&writing.connection, &record)
            {
                tracing::debug!("the question {} stays, though its asker was refused: {error}", record.id);
            }
        }
        for (reply, claimed) in replies.claims {
            if reply.send(claimed.is_some()).is_err()
                && let Some((earlier, by)) = claimed
                && let Some(writing) = &self.file
                && let Err(error) = again::unclaim(&writing.connection, (&earlier, &by))
            {
                tracing::debug!("the answer to {earlier} stays claimed by {by}: {error}");
            }
        }
    }

    /// Returns the lock of the file. It is opened at the first call, for which the folder may have to be created.
    fn take_lock(&mut self) -> Option<LockFile> {
        let path = self.options.file.as_deref()?;
        #[cfg(test)]
        if self.options.vfs.is_some() {
            return None;
        }
        self.lock.take().or_else(|| {
            // If the folder cannot be created, opening the file reports the error.
            connection::create_folder(path).ok()?;
            connection::lock_file(path).ok()
        })
    }

    fn open(&mut self) -> Result<&mut WritingConnection, JournalError> {
        // A file that was moved away would still accept entries, and nobody would find them.
        let writing = match self.file.take().filter(WritingConnection::is_in_place) {
            Some(writing) => writing,
            None => {
                let path = self.options.file.as_deref().ok_or(JournalError::NoFolder)?;
                open(path, self.options)?
            }
        };
        Ok(self.file.insert(writing))
    }
}

#[cfg(not(test))]
fn open(path: &std::path::Path, _: &Options) -> Result<WritingConnection, JournalError> {
    WritingConnection::open(path)
}

/// Opens the file as a test's options say: by another VFS, or with a limited size.
#[cfg(test)]
fn open(path: &std::path::Path, options: &Options) -> Result<WritingConnection, JournalError> {
    let writing = match &options.vfs {
        Some(vfs) => WritingConnection::open_with(path, vfs)?,
        None => WritingConnection::open(path)?,
    };
    if let Some(pages) = options.pages {
        writing.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(writing)
}

/// The result of writing an entry.
enum AppliedEntry {
    Done,
    Earlier(Option<EarlierDecision>),
    Claimed(bool),
    Resumed(KeptQuestions),
    Kept(Option<KeptBefore>),
    Used(Used),
}

fn apply(
    connection: &rusqlite::Connection,
    entry: &JournalEntry,
    options: &Options,
) -> Result<AppliedEntry, JournalError> {
    let stored = |record: &Record| {
        let stored = StoredQuestion::new(record, options.texts)?;
        let context = record.context.as_deref().filter(|_| options.context && options.texts);
        match context {
            Some(context) => stored.after(context),
            None => Ok(stored),
        }
    };
    // A bridge that cannot be seen from here counts as dead, such as one in a container that was restarted.
    let lives = |bridge: &BridgeName| entries::bridge_life(connection, options, bridge) == Life::Lives;
    match entry {
        JournalEntry::Note(record) | JournalEntry::Settled(record, _) => {
            if let Some(home) = options.home.as_ref().filter(|_| record.is_open()) {
                entries::note_home(connection, &record.bridge, home)?;
            }
            entries::note(connection, &stored(record)?)?;
        }
        JournalEntry::Accepting(record, decision, _) => {
            let decision = stored::settlement(decision.clone(), &record.question, options.texts);
            entries::accept(connection, &stored(record)?, &decision)?;
        }
        JournalEntry::LeftToClient(left) => entries::left_to_client(connection, left)?,
        JournalEntry::Refused(id) => entries::refuse(connection, id)?,
        JournalEntry::Waits(id) => entries::waits(connection, id, true)?,
        JournalEntry::Begins(id, _) => entries::waits(connection, id, false)?,
        JournalEntry::Earlier(record, _) => {
            let earlier = again::earlier(connection, &stored(record)?, &lives, now())?;
            return Ok(AppliedEntry::Earlier(earlier));
        }
        // The caller of the claim has given up, so another question may claim the answer.
        JournalEntry::Claim(_, _, reply) if reply.is_closed() => return Ok(AppliedEntry::Claimed(false)),
        JournalEntry::Claim(earlier, by, _) => {
            let claimed = again::claim(connection, (earlier, by), &lives, now())?;
            return Ok(AppliedEntry::Claimed(claimed));
        }
        JournalEntry::Resume(new, _) => {
            return Ok(AppliedEntry::Resumed(standing::resume(connection, options, new)?));
        }
        JournalEntry::Keep(keeping, _) => {
            let before = standing::keep(connection, keeping, &stored(&keeping.record)?)?;
            return Ok(AppliedEntry::Kept(before));
        }
        JournalEntry::Use(record, using, _) => {
            return Ok(AppliedEntry::Used(used::make_use(connection, record, using)?));
        }
        JournalEntry::Callback(note) => callbacks::note(connection, note)?,
        JournalEntry::Flush(_) => {}
    }
    Ok(AppliedEntry::Done)
}

impl Replies {
    /// Takes what is to be replied, and keeps the rest of the entry, should the commit fail.
    fn add(&mut self, entry: JournalEntry, applied: AppliedEntry, kept: &mut Vec<JournalEntry>) {
        match (entry, applied) {
            (JournalEntry::Earlier(_, reply), AppliedEntry::Earlier(earlier)) => {
                self.earlier.push((reply, earlier))
            }
            (JournalEntry::Claim(earlier, by, reply), AppliedEntry::Claimed(is_claimed)) => {
                self.claims.push((reply, is_claimed.then_some((earlier, by))));
            }
            (JournalEntry::Resume(_, reply), AppliedEntry::Resumed(questions)) => {
                self.resumed.push((reply, questions));
            }
            (JournalEntry::Keep(keeping, reply), AppliedEntry::Kept(before)) => {
                self.kept.push((keeping.record, reply, before));
            }
            // Whoever no longer waits may ask again, under the same key.
            (JournalEntry::Use(_, _, reply), AppliedEntry::Used(before)) => self.used.push((reply, before)),
            (JournalEntry::Accepting(record, decision, reply), _) => {
                self.done.extend(reply);
                kept.push(JournalEntry::Accepting(record, decision, None));
            }
            (JournalEntry::Begins(id, reply), _) => {
                self.done.extend(reply);
                kept.push(JournalEntry::Begins(id, None));
            }
            (JournalEntry::Settled(record, reply), _) => {
                self.done.extend(reply);
                kept.push(JournalEntry::Settled(record, None));
            }
            (JournalEntry::Flush(reply), _) => self.done.push(reply),
            (entry, _) => kept.extend(entry.without_caller()),
        }
    }
}
