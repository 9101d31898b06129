//! The choice of one machine: a connection to the process that holds several is that of one of them from its first call on,
//! under the names that are used on that machine.

use std::{io, sync::Arc};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, MachineName, QuestionId, Record, Refusal, Settlement, Submission},
    question::{Context, Provenance, Question},
};
use futures::future::BoxFuture;
use jsonrpsee::types::Request;
use serde::Deserialize;

use super::{
    method,
    methods::Methods,
    session::{Incoming, Replies, accepted, refusal},
};
use crate::inbox::{
    AnyInbox, BridgeStatus, HistoryFilter, Inbox, PastQuestions, Store, report::MachineReport,
};

/// The machines of a process, one of which a connection selects.
pub trait SelectMachine: Send + Sync {
    /// Returns the questions of this machine, with the IDs that they have there. `None` if the process does not hold it.
    fn select<'a>(&'a self, name: &'a MachineName) -> BoxFuture<'a, Option<Arc<dyn AnyInbox>>>;
}

#[derive(Deserialize)]
struct SelectParams {
    name: MachineName,
}

/// Returns the machine that the first request of a connection selects, if it does.
pub(super) fn selected(request: &Incoming) -> Option<MachineName> {
    let call: Request<'_> = serde_json::from_str(&request.text).ok()?;
    let params = call.params.filter(|_| call.method == method::SELECT)?;
    serde_json::from_str::<SelectParams>(params.get()).ok().map(|SelectParams { name }| name)
}

/// Replies to the request that selects a machine, and returns the methods of the connection from then on.
pub(super) async fn select(
    machines: &dyn SelectMachine,
    name: &MachineName,
    all: Methods,
    request: &Incoming,
    replies: &mut impl Replies,
) -> io::Result<Methods> {
    match machines.select(name).await {
        Some(machine) => {
            replies.send(accepted(&request.text)).await?;
            Ok(all.over(OneMachine(machine)))
        }
        None => {
            replies.send(refusal(&request.text, Refusal::NotFound)).await?;
            Ok(all)
        }
    }
}

/// The inbox of the machine that was selected.
#[derive(Clone, Debug)]
struct OneMachine(Arc<dyn AnyInbox>);

impl Inbox for OneMachine {
    fn store(&self) -> &Store {
        self.0.store()
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        self.0.submit(id, submission, by).await
    }

    async fn ask(&self, _: Question) -> Result<Settlement, Refusal> {
        Err(Refusal::Unavailable)
    }

    fn status(&self) -> Vec<BridgeStatus> {
        self.0.status()
    }

    async fn report(&self, known: Option<u64>) -> MachineReport {
        self.0.report(known).await
    }

    async fn look_up(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        self.0.look_up(typed).await
    }

    async fn context(&self, record: &Record) -> Result<Arc<Context>, Refusal> {
        self.0.context(record).await
    }

    async fn image(&self, record: &Record, number: usize) -> Result<Arc<Vec<u8>>, Refusal> {
        self.0.image(record, number).await
    }

    async fn settled(&self, limit: usize) -> Vec<Arc<Record>> {
        self.0.settled(limit).await
    }

    async fn lost(&self) -> Result<Vec<LostQuestion>, Refusal> {
        self.0.lost().await
    }

    async fn past(&self, filter: HistoryFilter) -> Result<PastQuestions, Refusal> {
        self.0.past(filter).await
    }

    async fn watch(&self) {
        self.0.watch().await;
    }
}
