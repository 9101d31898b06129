//! The trait `Ledger`, through which an inbox keeps a durable record of its questions, and the types that say where a
//! recorded bridge runs: a command in another environment may see neither the bridge's socket nor its process. How and
//! where the record is kept is left to the implementation (`journal`); `machine` finds out whether a bridge lives.

use std::{fmt, path::PathBuf, sync::Arc};

use askbridge_core::{
    desk::{
        AfterCallback, BridgeName, EarlierDecision, IdPrefix, LostQuestion, QuestionId, Record, Refusal,
        Report, Submission, Timestamp, Use,
    },
    question::{Provenance, Question},
};
use futures::{FutureExt, future::BoxFuture};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::past::{HistoryFilter, PastQuestion};
use crate::limits;

/// Notes that a project's settings file leaves the permissions of a bridge to the client. No inbox has these
/// permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftToClient {
    /// The bridge.
    pub bridge: BridgeName,
    /// The folder that it was started in.
    pub project: String,
    /// The settings file.
    pub file: String,
    /// When the bridge started.
    pub at: Timestamp,
}

/// The questions that an earlier process kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptQuestions {
    /// The name of their inbox, which outlives its process.
    pub bridge: BridgeName,
    /// The last number that the inbox gave to a question.
    pub last: u64,
    /// Those that are open, oldest first.
    pub questions: Vec<Record>,
    /// The callbacks of those that are open, and of those whose outcome has not arrived.
    pub callbacks: Vec<KeptCallback>,
}

/// The callback of a question that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCallback {
    /// The question.
    pub id: QuestionId,
    /// When it opened.
    pub opened_at: Timestamp,
    /// Where the outcome is sent.
    pub url: String,
    /// How often it was sent in vain.
    pub attempts: u32,
    /// When it is sent next, if it was sent before.
    pub due: Option<Timestamp>,
    /// When the question was over. `None` while it is open.
    pub ended_at: Option<Timestamp>,
}

/// What became of a callback that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackNote {
    /// The question.
    pub id: QuestionId,
    /// When it opened.
    pub opened_at: Timestamp,
    /// What became of it.
    pub after: AfterCallback,
}

/// A question that no connection holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Keeping {
    /// The question as it opens.
    pub record: Arc<Record>,
    /// What recognizes it when it is asked again.
    pub asked_under: Option<AskedUnder>,
    /// Where its outcome is sent.
    pub callback: Option<String>,
}

/// What recognizes a question that is asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedUnder {
    /// The key that its asker chose.
    pub key: String,
    /// A digest of all that was asked.
    pub digest: Vec<u8>,
}

impl AskedUnder {
    /// Returns what recognizes this question by this key.
    ///
    /// # Errors
    /// Why the text is no key.
    pub fn new(key: &str, question: &Question) -> Result<Self, &'static str> {
        Self::check(key)?;
        // Its members are strings, numbers and lists, so that this cannot fail.
        let asked = serde_json::to_vec(question).unwrap_or_default();
        Ok(AskedUnder { key: key.to_owned(), digest: Sha256::digest(asked).to_vec() })
    }

    /// Checks that a text is a key.
    ///
    /// # Errors
    /// Why it is none.
    pub fn check(key: &str) -> Result<(), &'static str> {
        match key.len() {
            0 => Err("the key is empty"),
            // A NUL marks the keys that an inbox makes up.
            1..=limits::KEY if key.chars().any(char::is_control) => Err("the key has control characters"),
            1..=limits::KEY => Ok(()),
            _ => Err("the key is longer than 255 bytes"),
        }
    }
}

/// The question that was asked under a key before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBefore {
    /// Its ID.
    pub id: QuestionId,
    /// Whether all that was asked is the same.
    pub is_same: bool,
}

/// What a program does with an approval.
#[derive(Clone, Debug, PartialEq)]
pub enum Using {
    /// It takes the approval, which is spent then. The key, if there is one, recognizes the same program again.
    Consume {
        /// When it takes the approval.
        at: Timestamp,
        /// The key.
        key: Option<String>,
    },
    /// It reports what came of it, at this time.
    Report(Report, Timestamp),
}

/// What is known of the use of an approval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// What everybody may know.
    pub used: Use,
    /// The key under which the approval was taken.
    pub key: Option<String>,
}

/// A durable record of questions. Each future is ready within [`crate::limits::LEDGER_WAIT`], whatever happens to the
/// file: a ledger that fails costs its entries, never a question. Calls for one question come in their order.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Records the current state of a question: opened, changed or settled. Must not block: the store holds its lock.
    fn note(&self, record: &Arc<Record>);

    /// Counts questions that ended and were forgotten before they could be recorded. Must not block.
    fn missing(&self, count: u64);

    /// Notes that the permissions of a bridge are left to the client. Returns at once.
    fn left_to_client(&self, left: LeftToClient);

    /// Returns whether anything was noted. A shutdown then has to wait until it is written.
    fn has_entries(&self) -> bool;

    /// Notes a submission that is about to be given to the asker. From then on, it may have arrived. Ready once the
    /// entry survives a kill of the process.
    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        by: &Provenance,
    ) -> BoxFuture<'static, ()>;

    /// Notes that the submission of [`Ledger::accepting`] was refused.
    fn refused(&self, id: &QuestionId);

    /// Notes that the outcome waits, and that nothing of it was written to the asker. Returns at once.
    fn waits(&self, id: &QuestionId);

    /// Notes that the delivery of an outcome that waited begins. From then on, it may have arrived. Ready once the
    /// entry survives a kill of the process and a power loss.
    fn begins(&self, id: &QuestionId) -> BoxFuture<'static, ()>;

    /// Notes a settlement. Ready once the entry survives a power loss, or when the ledger gave up. Returns whether it
    /// survives.
    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, bool>;

    /// Returns the questions that an earlier process kept for askers whose connections do not hold them. `new` becomes the
    /// name of their inbox if it has none yet.
    ///
    /// # Errors
    /// Why the ledger keeps no questions.
    fn resume(&self, new: &BridgeName) -> BoxFuture<'static, Result<KeptQuestions, String>> {
        let _ = new;
        futures::future::ready(Err("this ledger keeps no questions".to_owned())).boxed()
    }

    /// Returns the question that was asked under this key, if there is one.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn asked_before(&self, under: AskedUnder) -> BoxFuture<'static, Result<Option<KeptBefore>, Refusal>> {
        let _ = under;
        futures::future::ready(Ok(None)).boxed()
    }

    /// Writes a question that no connection holds, so that it survives a power loss. If one was asked under the same key,
    /// nothing is written, and that one is returned.
    ///
    /// # Errors
    /// Why the ledger cannot keep it.
    fn keep(&self, keeping: Keeping) -> BoxFuture<'static, Result<Option<KeptBefore>, String>> {
        let _ = keeping;
        futures::future::ready(Err("this ledger keeps no questions".to_owned())).boxed()
    }

    /// Writes what a program does with an approval, unless it did the same before, and returns what was known before. Ready
    /// once it survives a power loss.
    ///
    /// # Errors
    /// Why the ledger cannot write it. It may be written nevertheless.
    fn make_use(&self, record: &Arc<Record>, using: Using) -> BoxFuture<'static, Result<Used, String>> {
        let _ = (record, using);
        futures::future::ready(Err("this ledger keeps no questions".to_owned())).boxed()
    }

    /// Returns what is known of the use of an approval.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn used(&self, record: &Arc<Record>) -> BoxFuture<'static, Result<Used, Refusal>> {
        let _ = record;
        futures::future::ready(Ok(Used::default())).boxed()
    }

    /// Notes what became of a callback. Returns at once. A callback whose entry is lost is sent again.
    fn note_callback(&self, note: CallbackNote) {
        let _ = note;
    }

    /// Ready once all earlier entries are written, or when the ledger gave up. A process awaits it before it ends. Returns
    /// whether they are written.
    fn flush(&self) -> BoxFuture<'static, bool>;

    /// Returns the decision of an earlier question that was the same as this one, if there is any.
    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>>;

    /// Returns the questions that were lost with their bridges, oldest first, for as long as a person may still want to
    /// continue with them.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn lost(&self) -> BoxFuture<'static, Result<Vec<LostQuestion>, Refusal>>;

    /// Returns the questions of the past that are over, the latest first: those that were settled, and those that were
    /// lost with their bridges.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn past(&self, filter: HistoryFilter) -> BoxFuture<'static, Result<Vec<PastQuestion>, Refusal>> {
        let _ = filter;
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    /// Returns the question with this ID, if it is over.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn recall(&self, id: QuestionId) -> BoxFuture<'static, Result<Option<Record>, Refusal>> {
        let _ = id;
        futures::future::ready(Ok(None)).boxed()
    }

    /// Claims the answer of the `earlier` question for the question `by`. Exactly one caller gets `true`, and the claim
    /// is durable.
    fn claim(&self, earlier: &QuestionId, by: &QuestionId) -> BoxFuture<'static, bool>;
}

/// Returns the last of these questions, latest first, within the bounds on the settled questions of one inbox.
pub(crate) fn latest_lost(mut lost: Vec<LostQuestion>) -> Vec<LostQuestion> {
    lost.reverse();
    lost.truncate(limits::REMEMBERED);
    let mut bytes = 0;
    lost.retain(|lost| {
        bytes += lost.size();
        bytes <= limits::REMEMBERED_BYTES
    });
    lost
}

/// Returns the first of these questions, within the size bound on the settled questions of one inbox.
pub(crate) fn latest_past(mut past: Vec<PastQuestion>) -> Vec<PastQuestion> {
    let mut bytes = 0;
    past.retain(|past| {
        bytes += past.record.size();
        bytes <= limits::REMEMBERED_BYTES
    });
    past
}

/// Returns the question of a complete ID that no inbox remembers, if the ledger has it and it is over. `refusal` says
/// what the inboxes replied, and is returned where the ledger does not know better.
pub(crate) async fn recall(
    ledger: Option<&Arc<dyn Ledger>>,
    typed: &IdPrefix,
    refusal: Refusal,
) -> Result<Arc<Record>, Refusal> {
    let is_missing = matches!(refusal, Refusal::NotFound | Refusal::Unavailable);
    let (true, Some(ledger), Ok(id)) = (is_missing, ledger, typed.to_string().parse()) else {
        return Err(refusal);
    };
    match ledger.recall(id).await {
        Ok(Some(record)) => Ok(Arc::new(record)),
        // That there is no such question can only be said once the ledger was read.
        Err(unread) if refusal == Refusal::NotFound => Err(unread),
        _ => Err(refusal),
    }
}

/// Where a bridge runs: the folder of its socket, and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The folder of its socket.
    pub folder: PathBuf,
    /// The ID of its process.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine started, or 0 if that is not known. It tells apart
    /// two processes that had the same ID one after the other.
    pub started: u64,
    /// The inode of the PID namespace in which the ID names the process, or 0 if that is not known.
    pub namespace: u64,
}

/// Whether a bridge lives, as far as that can be seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It listens, or its process runs.
    Lives,
    /// Its process has ended.
    Ended,
    /// It may run where neither its socket nor its process can be seen, such as in a container.
    Unseen,
}

/// A bridge that has open questions according to a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingBridge {
    /// Its name.
    pub bridge: BridgeName,
    /// Whether the bridge is alive. If that cannot be seen from here, it may have ended.
    pub life: Life,
    /// Where it runs, if that was noted.
    pub home: Option<Home>,
    /// Whether no process has its questions now: the next inbox opens them again.
    pub kept: bool,
    /// The number of its open questions.
    pub questions: usize,
}
