//! What an inbox offers, whether it is that of one bridge or of all the bridges of the machine.

use std::{
    future::{self, Future},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tokio::{sync::watch, time::sleep};

use crate::control::old::{
    book::Book,
    refusal::Refusal,
    view::{Record, Settlement},
};
use crate::{
    acp::Submission,
    limits,
    question::{Provenance, Question},
};

/// Where questions wait.
pub trait Source: Clone + Send + Sync + 'static {
    /// Returns where the latest state is, and where a change of it can be waited for. Whoever is slow misses what was
    /// between: there is one state, and none waits to be read.
    fn book(&self) -> watch::Receiver<Book>;

    /// Does something about an open question, by its whole name. When this returns `Ok` for an answer or a rejection,
    /// the agent that asked has it on its stdin, or the program that asked has been handed it, and whoever looks it up
    /// here finds it settled. The same once more is accepted, and does nothing.
    fn submit(
        &self,
        id: &str,
        submission: Submission,
        by: Provenance,
    ) -> impl Future<Output = Result<(), Refusal>> + Send;

    /// Asks a question that no agent asked, and waits for what becomes of it. If nobody waits any more, it is
    /// withdrawn.
    fn ask(&self, question: Question) -> impl Future<Output = Result<Settlement, Refusal>> + Send;

    /// Finds a question as [`Source::find`] does, and one that only its bridge remembers.
    fn look_up(&self, beginning: &str) -> impl Future<Output = Result<Arc<Record>, Refusal>> + Send {
        future::ready(self.find(beginning))
    }

    /// Waits until nobody asks here any more.
    fn ended(&self) -> impl Future<Output = ()> + Send {
        future::pending()
    }

    /// Waits for a while after a change, before the next is looked for. What is said at the end is not missed.
    fn calm(&self) -> impl Future<Output = ()> + Send {
        async {
            tokio::select! {
                () = sleep(limits::CALM) => {}
                () = self.ended() => {}
            }
        }
    }

    /// Says which bridges there are.
    fn status(&self) -> Vec<Status>;

    /// Says why there is no question whose name begins like this.
    fn missing(&self, _beginning: &str) -> Refusal {
        Refusal::NotFound
    }

    /// Returns the question whose name begins like this, open or settled.
    fn find(&self, beginning: &str) -> Result<Arc<Record>, Refusal> {
        let found = find(&self.book().borrow(), beginning);
        found.map_err(|refusal| match refusal {
            Refusal::NotFound => self.missing(beginning),
            refusal => refusal,
        })
    }
}

fn find(book: &Book, beginning: &str) -> Result<Arc<Record>, Refusal> {
    if let Some(view) = book.find(beginning) {
        return Ok(Arc::clone(view));
    }
    match book.complete(beginning)[..] {
        [] => Err(Refusal::NotFound),
        [only] => book.find(only).cloned().ok_or(Refusal::NotFound),
        ref several => Err(Refusal::Ambiguous(several.iter().map(|id| (*id).to_owned()).collect())),
    }
}

/// One bridge, and what runs behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "BridgeStatus"))]
pub struct Status {
    /// The name that the names of its questions begin with.
    pub bridge: String,
    /// The id of its process.
    pub pid: u32,
    /// The version of askbridge that it runs.
    pub version: String,
    /// The agent's command, or what else asks.
    pub agent: String,
    /// The folder that it was started in.
    pub folder: String,
    /// When it started, by RFC 3339.
    pub started_at: String,
    /// How many of its questions are open.
    pub open: usize,
}
