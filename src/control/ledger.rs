//! The seam between a bridge's inbox and what keeps a durable record of its questions.
//! How and where that is kept is left to the implementation: the inbox knows no file.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use crate::{
    desk::{Earlier, LostQuestion, QuestionId, Record, Submission},
    limits,
    question::Provenance,
};

/// A durable record of questions. Each future is ready within [`crate::limits::journal::WAIT`], whatever happens to the
/// file: a ledger that fails costs its entries, never a question. Calls for one question come in their order.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Notes a question as it is now: opened, changed, settled. Returns at once.
    fn note(&self, record: &Arc<Record>);

    /// Notes a submission that is about to be given to the asker. Ready once a killed process would not lose it.
    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        by: &Provenance,
    ) -> BoxFuture<'static, ()>;

    /// Notes that the submission was refused: it was not accepted.
    fn refused(&self, id: &QuestionId);

    /// Notes a settlement. Ready once a power loss would not lose it, or when the ledger gave up.
    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, ()>;

    /// Ready once all that was noted is written, or when the ledger gave up. What ends waits for it.
    fn flush(&self) -> BoxFuture<'static, ()>;

    /// Returns what is known of the same question from before.
    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<Earlier>>;

    /// Returns the questions that were lost with their bridges, oldest first: those that a person may still go on with.
    fn lost(&self) -> BoxFuture<'static, Vec<LostQuestion>>;

    /// Takes the undelivered answer of an earlier question for this one: true for exactly one caller, durably.
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
