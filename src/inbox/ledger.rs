//! The trait between an inbox and what keeps a durable record of its questions, and where a bridge runs as such a
//! record has it: a command in another environment may see neither a bridge's socket nor its process. How and where the
//! record is kept is left to the implementation (`journal`); `machine` finds out whether a bridge lives.

use std::{fmt, path::PathBuf, sync::Arc};

use askbridge_core::{
    desk::{BridgeName, EarlierDecision, LostQuestion, QuestionId, Record, Submission, Timestamp},
    question::Provenance,
};
use futures::{FutureExt, future::BoxFuture};
use serde::Serialize;

use super::past::{HistoryFilter, PastQuestion};
use crate::limits;

/// The permissions of a bridge that the file of its project left to the client: they are in no inbox, and this says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftToClient {
    /// The bridge.
    pub bridge: BridgeName,
    /// The folder that it was started in.
    pub project: String,
    /// The file that did so.
    pub file: String,
    /// When the bridge started.
    pub at: Timestamp,
}

/// A durable record of questions. Each future is ready within [`crate::limits::journal::WAIT`], whatever happens to the
/// file: a ledger that fails costs its entries, never a question. Calls for one question come in their order.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Records the current state of a question: opened, changed or settled. Must not block: the store holds its lock.
    fn note(&self, record: &Arc<Record>);

    /// Counts questions that ended and were forgotten before they could be recorded. Must not block.
    fn missing(&self, count: u64);

    /// Notes that the permissions of a bridge are left to the client. Returns at once.
    fn left_to_client(&self, left: LeftToClient);

    /// Returns whether anything was noted, so that an end has to wait until it is written.
    fn has_entries(&self) -> bool;

    /// Notes a submission that is about to be given to the asker, and may have arrived from then on. Ready once a killed
    /// process would not lose it.
    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        by: &Provenance,
    ) -> BoxFuture<'static, ()>;

    /// Notes that the submission was refused: it was not accepted.
    fn refused(&self, id: &QuestionId);

    /// Notes that what was submitted waits, and that nothing of it was given to the asker. Returns at once.
    fn waits(&self, id: &QuestionId);

    /// Notes that the delivery of what waited begins: it may have arrived from then on. Ready once neither a killed process
    /// nor a power loss would lose that.
    fn begins(&self, id: &QuestionId) -> BoxFuture<'static, ()>;

    /// Notes a settlement. Ready once a power loss would not lose it, or when the ledger gave up.
    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, ()>;

    /// Ready once all that was noted is written, or when the ledger gave up. What ends waits for it.
    fn flush(&self) -> BoxFuture<'static, ()>;

    /// Returns what is known of the same question from before.
    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>>;

    /// Returns the questions that were lost with their bridges, oldest first: those that a person may still go on with.
    fn lost(&self) -> BoxFuture<'static, Vec<LostQuestion>>;

    /// Returns the questions of the past that are over, the latest first: those that were settled, and those that were
    /// lost with their bridges. A ledger that is not read has none.
    fn past(&self, filter: HistoryFilter) -> BoxFuture<'static, Vec<PastQuestion>> {
        let _ = filter;
        futures::future::ready(Vec::new()).boxed()
    }

    /// Takes the answer of an earlier question that waited for this one: true for exactly one caller, durably.
    fn claim(&self, earlier: &QuestionId, by: &QuestionId) -> BoxFuture<'static, bool>;
}

/// Returns the last of these questions, latest first: no more of them than one inbox remembers of settled ones.
pub fn latest_lost(mut lost: Vec<LostQuestion>) -> Vec<LostQuestion> {
    lost.reverse();
    lost.truncate(limits::REMEMBERED);
    let mut bytes = 0;
    lost.retain(|lost| {
        bytes += lost.size();
        bytes <= limits::REMEMBERED_BYTES
    });
    lost
}

/// Returns the first of these questions: no more of them than one inbox remembers of settled ones.
pub fn latest_past(mut past: Vec<PastQuestion>) -> Vec<PastQuestion> {
    let mut bytes = 0;
    past.retain(|past| {
        bytes += past.record.size();
        bytes <= limits::REMEMBERED_BYTES
    });
    past
}

/// Where a bridge runs: the folder of its socket, and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The folder of its socket.
    pub folder: PathBuf,
    /// The ID of its process.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine started; 0 where that is not known. Together with its
    /// ID, it names one process: IDs are used again.
    pub started: u64,
    /// The inode of its PID namespace: in another one, the ID means another process. 0 where that is not known.
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

/// A bridge that has open questions, by a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingBridge {
    /// Its name.
    pub bridge: BridgeName,
    /// Whether the bridge is alive. If that cannot be seen from here, it may have ended.
    pub life: Life,
    /// Where it runs, if that was noted.
    pub home: Option<Home>,
    /// The number of its open questions.
    pub questions: usize,
}
