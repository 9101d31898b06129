//! Sends what the person decides in the full-screen inbox: after a while, in which they can take it back, or at once. How
//! long it waits is left to `inbox/deferral.rs` of the control protocol, what the screen says of it to `state.rs`.

use std::sync::Arc;

use askbridge_control::{
    inbox::Inbox as _,
    join::{JoinedInbox, discovery::DiscoveryError},
    rpc::deferrals::{Deferrals, Sender},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Provenance, Responder},
};
use tokio::task::JoinSet;

use super::event::TuiEvent;
use crate::command::converse;

/// Follows the questions, and sends what is due.
pub(super) async fn follow(joined: &JoinedInbox, deferrals: &Deferrals) -> Result<(), DiscoveryError> {
    tokio::select! {
        followed = joined.follow() => followed,
        () = deferrals.run(joined) => Ok(()),
    }
}

/// Sends what waits, since the screen is gone on which the person could take it back. `following` is what follows the
/// questions.
pub(super) async fn leave(following: impl Future, deferrals: &Deferrals) {
    tokio::select! {
        _ = following => {}
        () = deferrals.flush() => {}
    }
}

/// The result of a submission; `None` if it was taken back.
type SubmissionResult = (QuestionId, Result<Option<Arc<Record>>, Refusal>);

/// What was sent, and has no result yet.
pub(super) struct Submissions<'a> {
    joined: &'a JoinedInbox,
    sender: Sender,
    /// How often several were sent as one.
    groups: u64,
    results: JoinSet<SubmissionResult>,
}

impl<'a> Submissions<'a> {
    /// Sends to these questions. `deferrals` has what waits.
    pub(super) fn new(joined: &'a JoinedInbox, deferrals: &Deferrals) -> Self {
        Submissions { joined, sender: deferrals.sender(), groups: 0, results: JoinSet::new() }
    }

    /// Sends submissions that are one to the person, and returns those that wait.
    pub(super) fn send_together(&mut self, submissions: Vec<(QuestionId, Submission)>) -> Vec<QuestionId> {
        self.groups += 1;
        let name: Arc<str> = self.groups.to_string().into();
        let mut waiting = Vec::new();
        for (id, submission) in submissions {
            if self.send(id.clone(), submission, Some(Arc::clone(&name))) {
                waiting.push(id);
            }
        }
        waiting
    }

    /// Sends a submission, alone or together with those of the same name, and returns whether it waits.
    pub(super) fn send(
        &mut self,
        id: QuestionId,
        submission: Submission,
        together: Option<Arc<str>>,
    ) -> bool {
        let by = Provenance { responder: Responder::Terminal, ..converse::by() };
        let record = self.joined.store().read(|_, snapshot| snapshot.get(&id).cloned());
        let deferred = match &record {
            Some(record) => {
                let by = by.clone();
                self.sender.defer_together(self.joined, record, submission, by, together).map(drop)
            }
            None => Err(submission),
        };
        match deferred {
            Ok(()) => {
                let verdict = self.sender.verdict(&id);
                self.results.spawn(async move {
                    let verdict = match verdict {
                        Some(verdict) => verdict.await.unwrap_or(Err(Refusal::Unknown)),
                        None => Err(Refusal::Unknown),
                    };
                    (id, verdict)
                });
                true
            }
            Err(submission) => {
                let joined = self.joined.clone();
                self.results.spawn(async move {
                    let result = joined.submit(&id, submission, by).await;
                    (id, result.map(Some))
                });
                false
            }
        }
    }

    /// Takes a submission back, with those that were sent together with it, if it still waits. The results say so.
    pub(super) fn take_back(&self, id: &QuestionId) {
        self.sender.take_back(id);
    }

    /// Returns the event of the next result, or `None` if there is none to wait for. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<TuiEvent> {
        let (id, result) = self.results.join_next().await?.ok()?;
        Some(match result.transpose() {
            Some(result) => TuiEvent::Submitted(id, result),
            None => TuiEvent::TakenBack(id),
        })
    }
}
