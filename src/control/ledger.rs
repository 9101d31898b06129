//! The seam between a bridge's inbox and what keeps a durable record of its questions.
//! How and where that is kept is left to the implementation: the inbox knows no file.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use serde::Serialize;

use crate::{
    desk::{BridgeName, EarlierDecision, LostQuestion, QuestionId, Record, Submission, Timestamp},
    limits,
    question::Provenance,
};

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
    /// Notes a question as it is now: opened, changed, settled. Returns at once: the store calls it under its lock.
    fn note(&self, record: &Arc<Record>);

    /// Notes that so many questions ended of which nothing is known any more. Returns at once.
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
