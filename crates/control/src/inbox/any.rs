//! An inbox of this process whose type does not matter: what is joined within a process is handed over so.

use std::{fmt, sync::Arc};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, QuestionId, Record, Refusal, Submission},
    question::{Context, Provenance},
};
use futures::future::{BoxFuture, FutureExt};

use super::{
    access::Inbox,
    past::{HistoryFilter, PastQuestions},
    report::MachineReport,
    status::BridgeStatus,
    store::Store,
};

/// An [`Inbox`] behind a pointer. Its methods are those of the inbox.
pub trait AnyInbox: fmt::Debug + Send + Sync {
    /// See [`Inbox::store`].
    fn store(&self) -> &Store;
    /// See [`Inbox::status`].
    fn status(&self) -> Vec<BridgeStatus>;
    /// See [`Inbox::report`].
    fn report(&self, known: Option<u64>) -> BoxFuture<'_, MachineReport>;
    /// See [`Inbox::submit`].
    fn submit<'a>(
        &'a self,
        id: &'a QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> BoxFuture<'a, Result<Arc<Record>, Refusal>>;
    /// See [`Inbox::look_up`].
    fn look_up<'a>(&'a self, typed: &'a IdPrefix) -> BoxFuture<'a, Result<Arc<Record>, Refusal>>;
    /// See [`Inbox::context`].
    fn context<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Arc<Context>, Refusal>>;
    /// See [`Inbox::image`].
    fn image<'a>(&'a self, record: &'a Record, number: usize)
    -> BoxFuture<'a, Result<Arc<Vec<u8>>, Refusal>>;
    /// See [`Inbox::settled`].
    fn settled(&self, limit: usize) -> BoxFuture<'_, Vec<Arc<Record>>>;
    /// See [`Inbox::lost`].
    fn lost(&self) -> BoxFuture<'_, Result<Vec<LostQuestion>, Refusal>>;
    /// See [`Inbox::past`].
    fn past(&self, filter: HistoryFilter) -> BoxFuture<'_, Result<PastQuestions, Refusal>>;
    /// See [`Inbox::watch`].
    fn watch(&self) -> BoxFuture<'_, ()>;
}

impl<I: Inbox + fmt::Debug> AnyInbox for I {
    fn store(&self) -> &Store {
        Inbox::store(self)
    }

    fn status(&self) -> Vec<BridgeStatus> {
        Inbox::status(self)
    }

    fn report(&self, known: Option<u64>) -> BoxFuture<'_, MachineReport> {
        Inbox::report(self, known).boxed()
    }

    fn submit<'a>(
        &'a self,
        id: &'a QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> BoxFuture<'a, Result<Arc<Record>, Refusal>> {
        Inbox::submit(self, id, submission, by).boxed()
    }

    fn look_up<'a>(&'a self, typed: &'a IdPrefix) -> BoxFuture<'a, Result<Arc<Record>, Refusal>> {
        Inbox::look_up(self, typed).boxed()
    }

    fn context<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<Arc<Context>, Refusal>> {
        Inbox::context(self, record).boxed()
    }

    fn image<'a>(
        &'a self,
        record: &'a Record,
        number: usize,
    ) -> BoxFuture<'a, Result<Arc<Vec<u8>>, Refusal>> {
        Inbox::image(self, record, number).boxed()
    }

    fn settled(&self, limit: usize) -> BoxFuture<'_, Vec<Arc<Record>>> {
        Inbox::settled(self, limit).boxed()
    }

    fn lost(&self) -> BoxFuture<'_, Result<Vec<LostQuestion>, Refusal>> {
        Inbox::lost(self).boxed()
    }

    fn past(&self, filter: HistoryFilter) -> BoxFuture<'_, Result<PastQuestions, Refusal>> {
        Inbox::past(self, filter).boxed()
    }

    fn watch(&self) -> BoxFuture<'_, ()> {
        Inbox::watch(self).boxed()
    }
}
