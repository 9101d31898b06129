//! The trait `Inbox`: what responders can do with the questions of one bridge, or of all bridges of the machine.

use std::{
    future::{self, Future},
    sync::Arc,
    time::{Duration, SystemTime},
};

use askbridge_core::{
    desk::{
        IdPrefix, LostQuestion, QuestionId, Record, Refusal, Settlement, Snapshot, Submission, Timestamp,
    },
    question::{Context, Provenance, Question},
};
use askbridge_os::processes::AgentTree;

use super::{
    kept::{NO_STANDING, Standing},
    past::{HistoryFilter, PastQuestions},
    report::{MachineListing, MachineReport},
    status::BridgeStatus,
    store::Store,
};

/// Where questions wait for responders. Cheap to clone.
pub trait Inbox: Clone + Send + Sync + 'static {
    /// Returns the questions that wait and those that were settled last, to read and to follow.
    fn store(&self) -> &Store;

    /// Submits to a question by its full ID. Returns the question after the submission.
    ///
    /// When this returns `Ok` for an answer or a rejection, the asker has it (I9): it was written to the agent's stdin,
    /// or handed to the program that asked. The store shows the question as settled then. Submitting the same decision
    /// again succeeds, and does nothing.
    fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> impl Future<Output = Result<Arc<Record>, Refusal>> + Send;

    /// Asks a question that no agent asked, and waits until it is settled. Dropping the future withdraws it.
    fn ask(&self, question: Question) -> impl Future<Output = Result<Settlement, Refusal>> + Send;

    /// Returns the inbox for questions that no connection holds.
    ///
    /// # Errors
    /// Why there is none here.
    fn standing(&self) -> Result<Arc<dyn Standing>, &str> {
        Err(NO_STANDING)
    }

    /// Waits until lists have what the asker of a question that no connection holds is about to be told.
    fn keep_up(&self, told: &Record) -> impl Future<Output = ()> + Send {
        let _ = told;
        future::ready(())
    }

    /// Returns the bridges that are known, oldest first.
    fn status(&self) -> Vec<BridgeStatus>;

    /// Returns the time by the clock of the question's bridge, which stands still while the machine sleeps. A bridge that
    /// does not tell its time is timed by ours.
    fn now(&self, record: &Record) -> Timestamp {
        let statuses = self.status();
        let bridge = statuses.iter().find(|status| status.bridge == record.bridge);
        bridge.and_then(BridgeStatus::now).unwrap_or_else(|| SystemTime::now().into())
    }

    /// Returns how long a question has waited, by that clock.
    fn age(&self, record: &Record) -> Duration {
        self.now(record).since(record.opened_at)
    }

    /// Returns how the machine of these questions is connected. If the caller knows the report of this revision, it
    /// waits for the next one.
    fn report(&self, known: Option<u64>) -> impl Future<Output = MachineReport> + Send {
        async move {
            match known {
                None => MachineReport::here(),
                Some(_) => future::pending().await,
            }
        }
    }

    /// Returns the other machines, and how each is connected. If the caller knows the listing of this revision, it
    /// waits for the next one.
    fn machine_list(&self, known: Option<u64>) -> impl Future<Output = MachineListing> + Send {
        async move {
            match known {
                None => MachineListing::default(),
                Some(_) => future::pending().await,
            }
        }
    }

    /// Finds a question that the store knows, open or settled.
    ///
    /// # Errors
    /// `NotFound` and `Ambiguous`. `Unavailable` if the question's bridge disappeared, or if a bridge that may have the
    /// question could not be asked.
    fn find(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        self.store().read(|_, snapshot| snapshot.find(typed).cloned())
    }

    /// Finds a question as [`Inbox::find`] does. Also asks the bridges for a question that only they remember, and the
    /// ledger for one that is over and that no bridge remembers.
    fn look_up(&self, typed: &IdPrefix) -> impl Future<Output = Result<Arc<Record>, Refusal>> + Send {
        future::ready(self.find(typed))
    }

    /// Returns what led to a question: the last words and tool calls of its agent before it asked. It is empty if that is
    /// not known, or not any more.
    ///
    /// # Errors
    /// `Unavailable` if the process that has the question cannot be asked.
    fn context(&self, record: &Record) -> impl Future<Output = Result<Arc<Context>, Refusal>> + Send {
        future::ready(Ok(record.context.clone().unwrap_or_default()))
    }

    /// Returns the data of an image of a question. The images are numbered from 1.
    ///
    /// # Errors
    /// `NotFound` if there is no such image, or not any more: an image is kept until its question is over. `Unavailable`
    /// if the process that has the question cannot be asked.
    fn image(
        &self,
        record: &Record,
        number: usize,
    ) -> impl Future<Output = Result<Arc<Vec<u8>>, Refusal>> + Send {
        let data = record.image(number).and_then(|image| image.data.get());
        future::ready(data.ok_or(Refusal::NotFound))
    }

    /// Returns the questions that were settled last and are still remembered, latest first: at most `limit`, and
    /// no more bytes than one inbox remembers.
    fn settled(&self, limit: usize) -> impl Future<Output = Vec<Arc<Record>>> + Send {
        let settled = |snapshot: &Snapshot| snapshot.settled().rev().take(limit).cloned().collect();
        future::ready(self.store().read(|_, snapshot| settled(snapshot)))
    }

    /// Returns the questions that were lost with their bridges, the latest first: those that a person may still resume.
    /// There are at most as many as one inbox remembers of settled questions.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn lost(&self) -> impl Future<Output = Result<Vec<LostQuestion>, Refusal>> + Send {
        future::ready(Ok(Vec::new()))
    }

    /// Returns settled and lost questions from the ledger, the latest first, and no more bytes than one inbox
    /// remembers.
    /// `limit` is their maximum number.
    ///
    /// # Errors
    /// `HistoryUnavailable` if the ledger cannot be read.
    fn past(&self, filter: HistoryFilter) -> impl Future<Output = Result<PastQuestions, Refusal>> + Send {
        let _ = filter;
        future::ready(Ok(PastQuestions::default()))
    }

    /// Returns the agent's own processes, which may not settle its questions over a socket. `None` if there are none,
    /// or if they are not known.
    fn agent_tree(&self) -> Option<AgentTree> {
        None
    }

    /// Records that a person is looking at the questions now. The record expires after [`crate::limits::PRESENCE`].
    fn watch(&self) -> impl Future<Output = ()> + Send {
        future::ready(())
    }

    /// Waits until the ledger has every submission that was accepted, so that its responders can be notified. A server
    /// that stops calls this before it writes its last replies. It takes no longer than
    /// [`crate::limits::LEDGER_WAIT`].
    fn kept(&self) -> impl Future<Output = ()> + Send {
        future::ready(())
    }

    /// Waits until the inbox has ended: no more questions open in it.
    fn ended(&self) -> impl Future<Output = ()> + Send {
        future::pending()
    }
}
