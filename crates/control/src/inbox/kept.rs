//! What an inbox says of questions that no connection holds, and the trait of those inboxes that keep them.

use std::{fmt, sync::Arc};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal},
    question::Question,
};
use futures::future::BoxFuture;
use thiserror::Error;
use tokio::time::Duration;

use super::ledger::AskedUnder;

/// Why a question is not kept, or its outcome not told.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NotKept {
    /// The inbox refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another question was asked under the same key.
    #[error("the key was used for another question, {0}: take a new key, or send the very same question")]
    KeyUsed(QuestionId),
    /// It is over.
    #[error("the question is over")]
    Over(Arc<Record>),
    /// The inbox ends. Its next process has the question.
    #[error("the inbox ends, and the question is kept: ask for it again")]
    Ends(Arc<Record>),
    /// The connection of its asker holds it.
    #[error("the connection that asked holds this question: its end withdraws the question")]
    Held,
    /// The journal does not keep it.
    #[error("nothing can be kept beyond this connection: {0}")]
    Unkept(String),
}

/// A question that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The question, which may be over if it was asked before.
    pub record: Arc<Record>,
    /// Whether it was asked just now, and not before under the same key.
    pub is_new: bool,
}

/// An inbox of questions that no connection holds.
pub trait Standing: fmt::Debug + Send + Sync {
    /// Returns whether the question is one of this inbox.
    fn has(&self, id: &QuestionId) -> bool;

    /// Asks a question that no connection holds, or finds the one that was asked under the same key. Ready once the question
    /// survives a power loss. It is asked even if the future is dropped.
    ///
    /// # Errors
    /// See [`NotKept`].
    fn ask(&self, question: Question, under: Option<AskedUnder>)
    -> BoxFuture<'static, Result<Kept, NotKept>>;

    /// Waits until a question is over, for this long at most, and returns it as it is then. That it is over is told only
    /// once the outcome survives a power loss.
    ///
    /// # Errors
    /// See [`NotKept`].
    fn outcome(&self, id: &QuestionId, within: Duration) -> BoxFuture<'static, Result<Arc<Record>, NotKept>>;

    /// Withdraws a question. To withdraw it again succeeds.
    ///
    /// # Errors
    /// `Over` if it was decided. See [`NotKept`] for others.
    fn withdraw(&self, id: &QuestionId) -> BoxFuture<'static, Result<(), NotKept>>;
}
