//! What an inbox says of questions that no connection holds, and the trait of those inboxes that keep them.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Report, Timestamp},
    question::Question,
};
use futures::future::BoxFuture;
use thiserror::Error;
use tokio::time::Duration;

use super::ledger::AskedUnder;

/// Why an inbox keeps no question that no connection holds.
pub(crate) const NO_STANDING: &str = "only `askbridge inbox` keeps questions, and this is another process";

/// Why a question is not kept, or its outcome not told.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NotKept {
    /// The inbox refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Its outcome cannot be sent to its callback.
    #[error("callback: {0}")]
    Callback(String),
    /// The inbox ends. Its next process has the question.
    #[error("the inbox ends, and the question is kept: ask for it again")]
    Ends(Arc<Record>),
}

/// Why an approval is not used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NotUsed {
    /// The question is not there, or cannot be read or written.
    #[error(transparent)]
    NotKept(#[from] NotKept),
    /// Nothing was allowed.
    #[error("nothing was allowed: {0}")]
    NotAllowed(&'static str),
    /// What is to be done is not what was decided.
    #[error("another action was decided: its digest is {0}")]
    Stale(String),
    /// It ended before it was taken.
    #[error("the approval ended at {0}: ask again")]
    Expired(Timestamp),
    /// It was taken before.
    #[error("the approval was spent at {0}: ask again")]
    Spent(Timestamp),
    /// Something else was reported before.
    #[error("another outcome was reported before: {}", .0.status)]
    Reported(Report),
}

impl From<Refusal> for NotUsed {
    fn from(refusal: Refusal) -> Self {
        NotKept::from(refusal).into()
    }
}

impl From<NotKept> for Refusal {
    fn from(error: NotKept) -> Self {
        match error {
            NotKept::Refused(refusal) => refusal,
            NotKept::Callback(why) => Refusal::BadQuestion(format!("callback: {why}")),
            NotKept::Ends(_) => Refusal::Unavailable,
        }
    }
}

/// What sends the outcomes of questions that no connection holds.
pub trait CallbackSender: fmt::Debug + Send + Sync {
    /// Checks that an outcome can be sent to this address.
    ///
    /// # Errors
    /// Why it cannot.
    fn check(&self, url: &str) -> Result<(), String>;

    /// A question opens whose outcome is to be sent to this address.
    fn opens(&self, record: &Record, url: String);

    /// A question is over, which survives a power loss.
    fn over(&self, record: &Record);
}

/// Sends nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoCallbacks;

impl CallbackSender for NoCallbacks {
    fn check(&self, _: &str) -> Result<(), String> {
        Err("this program sends none".to_owned())
    }

    fn opens(&self, _: &Record, _: String) {}

    fn over(&self, _: &Record) {}
}

/// What keeps questions that no connection holds, for an inbox that need not have them itself. Cheap to clone; all clones
/// are one.
#[derive(Clone, Debug, Default)]
pub struct KeptBy(Arc<OnceLock<Result<Arc<dyn Standing>, String>>>);

impl KeptBy {
    /// Records what keeps them, or why nothing does. Later calls have no effect.
    pub fn set(&self, standing: Result<Arc<dyn Standing>, String>) {
        self.0.get_or_init(|| standing);
    }

    pub(super) fn get(&self) -> Result<Arc<dyn Standing>, &str> {
        match self.0.get() {
            Some(Ok(standing)) => Ok(Arc::clone(standing)),
            Some(Err(why)) => Err(why),
            None => Err(NO_STANDING),
        }
    }
}

/// A question that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The question, which may be over if it was asked before.
    pub record: Arc<Record>,
    /// Whether it was asked just now, and not before under the same key.
    pub is_new: bool,
}

/// How an approval is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Consuming {
    /// The question.
    pub id: QuestionId,
    /// The digest of what the program is about to do.
    pub digest: String,
    /// What recognizes the same program when it asks again.
    pub key: Option<String>,
}

/// An inbox of questions that no connection holds.
pub trait Standing: fmt::Debug + Send + Sync {
    /// Returns the ID that a question of this inbox with this number has.
    fn id(&self, number: u64) -> QuestionId;

    /// Returns whether the question is one of this inbox.
    fn has(&self, id: &QuestionId) -> bool;

    /// Asks a question that no connection holds, or finds the one that was asked under the same key. Ready once the question
    /// survives a power loss. It is asked even if the future is dropped. Its outcome is sent to the callback, if there is one.
    ///
    /// # Errors
    /// See [`NotKept`].
    fn ask(
        &self,
        question: Question,
        under: Option<AskedUnder>,
        callback: Option<String>,
    ) -> BoxFuture<'static, Result<Kept, NotKept>>;

    /// Waits until a question is over, for this long at most, and returns it as it is then. That it is over is told only
    /// once the outcome survives a power loss.
    ///
    /// # Errors
    /// See [`NotKept`].
    fn outcome(&self, id: &QuestionId, within: Duration) -> BoxFuture<'static, Result<Arc<Record>, NotKept>>;

    /// Withdraws a question. To withdraw it again succeeds.
    ///
    /// # Errors
    /// `Conflict` if it was decided. See [`NotKept`] for others.
    fn withdraw(&self, id: &QuestionId) -> BoxFuture<'static, Result<(), NotKept>>;

    /// Takes the approval of an action, which is spent then. The same key again succeeds again. Ready once that survives a
    /// power loss.
    ///
    /// # Errors
    /// See [`NotUsed`].
    fn consume(&self, consuming: Consuming) -> BoxFuture<'static, Result<Arc<Record>, NotUsed>>;

    /// Records what came of an approval. The same report again succeeds.
    ///
    /// # Errors
    /// See [`NotUsed`].
    fn report(&self, id: &QuestionId, report: Report) -> BoxFuture<'static, Result<(), NotUsed>>;
}
